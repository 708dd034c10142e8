#!/usr/bin/perl

# A worker asks another one that is stopped, late, out of descriptors, busy, or
# behind a connection that fails.  The answer comes in time, says who is missing
# and why, and all are asked again afterwards.
#
# Not here: workers that end (fleet/worker.t); many questions
# (fleet/questions.t); many workers, and the size of their answers
# (fleet/workers.t); processes that are no workers (fleet/strangers.t).
#
# JPP_SOAK=1 does it more often, and asserts times.

use JppTest;
use JppFleet qw( asker clients_of_one fleet grow held is_well measured missing
                 rests_at status );
use JppNginx qw( profile );

my $soak = $ENV{JPP_SOAK} ? 10 : 1;

my $heap = '/debug/pprof/heap';

# seconds of a question
my $timeout = 1;
my $timeouts = "jemalloc_pprof_timeout ${timeout}s;";
my $late = qr/no answer within $timeout\.0 s \(jemalloc_pprof_timeout\): (?#
    )it is stopped, by a signal or a debugger \(state T[^()]*\)/;

# what asks a worker several times, and how often
my %questions = ('locations' => 2, 'locations?seconds=1' => 3, 'memory' => 2,
                 'memory?format=top' => 3, 'memory?detail=smaps' => 3,
                 'status' => 2);


test 'one that is stopped', 'fake' => sub {
    my $nginx = fleet($timeouts, workers => 3, fake => '');
    my ($asker, $client, $other) = clients_of_one($nginx, 2);
    my ($victim) = grep { $_ != $asker } $nginx->worker_pids;
    my $number = { map { $_->[1] => $_->[0] } numbered($nginx) }->{$victim};

    my @times;

    is($client->get($heap)->{status}, 200, 'before');
    $nginx->signal('STOP', $victim);

    # seconds of $timeout each

    for my $round (1 .. ($soak == 1 ? 2 : 8)) {
        my $start = time();

        $client->send_request($heap);

        my $n = 0;

        $n++ while $n < 50 && $other->get('/fine')->{status} == 200
                   && !$client->hears(0);

        cmp_ok($n, '>=', 5, 'the worker that asks serves others meanwhile');

        my $answer = $client->response;
        my $time = time() - $start;

        # on a busy machine another worker may be late, too

        redo if partly($answer) eq '1/3';

        push @times, $time;
        cmp_ok($time, '>', $timeout - 0.1, 'no answer before the deadline');
        is($answer->{status}, 200, 'an answer');
        is(partly($answer), '2/3', 'of two workers');
        like(missing($answer, 'stopped')->{$victim}, qr/\A$late\z/,
             'which says why the third is missing');
    }

    measured(sprintf 'stopped: %d rounds; the longest %.2f s, %+.2f s of the '
                     . 'deadline', scalar @times, max(@times),
                     max(@times) - $timeout);
    cmp_ok(max(@times), '<', $timeout + 0.5, 'soon after the deadline')
        if $soak > 1;

    for (sort keys %questions) {
        my $start = time();
        my $answer = $client->get("/debug/pprof/$_");

        measured(sprintf 'stopped: %s: %.2f s', $_, time() - $start);
        redo if $answer->{status} == 504;

        is($answer->{status}, 200, "$_: an answer");
    }

    like(once_like($client, "$heap?format=top&cols=1000",
                   qr{^workers 2/3\n}m)->{body},
         qr{^workers 2/3\nworker $number pid $victim is missing: no answer }m,
         'top says so as well');

    my $strict = once_like($client, "$heap?strict=1", qr/^only 2 /m);

    is_answer($strict, 503,
              'only 2 of 3 workers answered, and strict=1 requires all: the '
              . 'error log and the comments of the profile without strict=1 '
              . 'say why', 'strict: no profile');

    for my $who ("pid-$victim", $number) {
        my $alone = $client->get("$heap?worker=$who");

        is_answer($alone, 504, qr/\Ano worker answered in time: worker (?#
                  )$number \(pid $victim\), $late\n\z/, "$who: 504");
    }

    is($client->get("$heap?worker=pid-$asker")->{status}, 200,
       'the others can be asked');

    $nginx->signal('CONT', $victim);
    is_well($nginx, 'continued');
};


# The answer to PATH, once it is like PATTERN: on a busy machine a worker that
# runs may be late as well.

sub once_like($client, $path, $pattern) {
    my $answer;

    wait_until(sub {
        $answer = $client->get($path);

        return "$answer->{head}\n$answer->{body}" =~ $pattern;
    });

    return $answer;
}


# Index and pid of each worker.

sub numbered($nginx) {
    return map { [ /(\d+).*?(\d+)/s ] }
           status($nginx)->{text} =~ /("worker": \d+,\s+"pid": \d+)/g;
}


# Workers that do not answer do not keep the others from being asked.

test 'several that are stopped', 'fake' => sub {
    my $nginx = fleet($timeouts, workers => 4, fake => '');
    my ($asker, $client, @others) = asker($nginx);

    is(partly($client->get($heap)), '4/4', 'before');

    for my $n (2, 3) {
        my @victims = @others[0 .. $n - 1];
        my $expected = 4 - $n . '/4';

        $nginx->signal('STOP', $_) for @victims;

        my ($answer, $time, $start);

        # on a busy machine another worker may be late, too

        wait_until(sub {
            $start = time();
            $answer = $client->get($heap);
            $time = time() - $start;

            return partly($answer) eq $expected;
        });

        is($answer->{status}, 200, "$n: an answer") or diag($answer->{body});
        cmp_ok($time, '>', $timeout - 0.1, "$n: no earlier than its deadline");
        cmp_ok($time, '<', $timeout + 0.5, "$n: and not much later")
            if $soak > 1;
        is(partly($answer), $expected, "$n: of all that run");

        my $why = missing($answer, $n);

        is_deeply([ sort keys %$why ], [ sort @victims ],
                  "$n: those that are stopped are missing");
        like($why->{$_}, qr/\A$late\z/, "$n: the reason") for @victims;

        my $status;

        wait_until(sub {
            $start = time();
            $status = status($client);

            return "@{ $status->{counts} }" eq '4 ' . (4 - $n);
        });

        cmp_ok(time() - $start, '<', $timeout + 0.5, "$n: status in time")
            if $soak > 1;
        is("@{ $status->{counts} }", '4 ' . (4 - $n), "$n: status counts them")
            or diag($status->{text});
        is(scalar(grep { /\A$late\z/ } @{ $status->{why} }), $n,
           "$n: and has the reason");

        $nginx->signal('CONT', $_) for @victims;
        is_well($nginx, "$n continued");
    }
};


# The lock is the first word of the zone, which is the largest memory that the
# workers share; who has it writes its pid there.  A worker that runs has no
# lock for long, and one that is stopped keeps none from the others.

test 'one that is stopped with the lock', 'fake' => sub {
    # each answer waits this long for the stopped worker: on a busy machine,
    # the other one needs some of it for its own

    my $nginx = fleet('jemalloc_pprof_timeout 5s;', workers => 2, fake => '');
    my ($asker, $client, $victim) = asker($nginx);

    $nginx->signal('STOP', $victim);
    wait_until(sub { slurp("/proc/$victim/stat") =~ /\) T / });

    open my $memory, '+<:raw', "/proc/$victim/mem" or die "its memory: $!";

    my $lock = sub {
        sysseek $memory, zone($victim), 0;
        syswrite($memory, pack 'Q', $_[0]) == 8 or die "the lock: $!";
    };

    # it is needed for the list, notes and findings, and to count requests

    for my $resource (qw( heap status memory metrics )) {
        $lock->($victim);
        is($client->get("/debug/pprof/$resource")->{status}, 200,
           "$resource: an answer");
    }

    $lock->(0);
    $nginx->signal('CONT', $victim);
    is_well($nginx, 'it continued');
};


sub zone($pid) {
    my ($size, $address) = (0);

    no warnings 'portable';

    for (split /\n/, slurp("/proc/$pid/maps")) {
        my ($from, $to) = /^(\w+)-(\w+) rw-s /
            or next;

        ($size, $address) = (hex($to) - hex $from, hex $from)
            if hex($to) - hex $from > $size;
    }

    return $address;
}


# When it continues, all its timers fire at once: no step may run before its
# collection.

test 'one that is stopped while it asks', 'fake' => sub {
    my $nginx = fleet($timeouts, workers => 2, fake => '');
    my ($asker, $client, $other) = asker($nginx);

    $nginx->signal('STOP', $other);

    for my $path ('/debug/pprof/status', $heap) {
        my $n = rests_at($nginx, $asker, 1);
        my $from = () = $nginx->dump_log;

        # a question is a socket; to itself it is a pair of them, and its own
        # dump has come back once it is held and the pair is closed; status asks
        # for the table of pools, too, which is held, and two sockets stay

        my $has_counted = 0;

        my $has_asked = $path eq $heap
            ? sub { grep({ "@$_" eq "$asker ends" } $nginx->dump_log($from))
                    && threads($asker) == 1 && held($asker) == 1
                    && descriptors($asker) <= $n + 2 }
            : sub { my $more = descriptors($asker) - $n;

                    $has_counted = $more == 2 && threads($asker) == 1
                                   && held($asker) == 1
                                   ? $has_counted + 1 : 0;

                    return $has_counted > 3 };

        $client->send_request($path);
        ok(wait_until($has_asked), "$path: it has asked");
        $nginx->signal('STOP', $asker);
        sleep 1.5 * $timeout;
        $nginx->signal('CONT', $asker);

        my $answer = $client->response;

        is($answer->{status}, 200, "$path: an answer");

        if ($path eq $heap) {
            is(partly($answer), '1/2', 'of one worker');

        } else {
            like($answer->{body}, qr/"asked": 2,\s+"answered": 1,/,
                 'of one worker');
            like($answer->{body}, qr/"missing": \[\s*\{[^]]*"pid": $other,/,
                 'the other one is missing');
        }
    }

    $nginx->signal('CONT', $other);
    ok(wait_until(sub { partly($client->get($heap)) eq '2/2' }),
       'both answer again');
};


# A stopped worker that continues does not answer what it was asked meanwhile:
# nobody waits for those answers any more.

# What asks more than once has one deadline: its questions wait together.

test 'several questions of one request', 'fake' => sub {
    my $nginx = fleet('', workers => 2, fake => '');
    my ($asker, $client, $victim) = asker($nginx);

    for (sort keys %questions) {
        $nginx->signal('STOP', $victim);
        $client->send_request("/debug/pprof/$_");

        ok(wait_until(sub { questions($victim) == $questions{$_} }),
           "$_: $questions{$_} at once");
        ok(!$client->hears(0), "$_: none is answered yet");

        kill 'CONT', $victim;
        is($client->response->{status}, 200, "$_: all are");
        ok(wait_until(sub { questions($victim) == 0 }), "$_: none is left");
    }

    is_well($nginx, 'together');
};


# How many questions wait at the socket of PID.

sub questions($pid) {
    return sockets($pid) - 1;
}


# The client's next request is answered on the same connection, whatever its
# last one heard of the worker.

test 'one that ends while it is asked', 'fake' => sub {
    my $nginx = fleet('', workers => 2, fake => '');
    my ($asker, $client) = clients_of_one($nginx, 1);

    for my $path (sort keys %questions) {
        for my $strict ('', 'strict=1') {
            my $way = join $path =~ /\?/ ? '&' : '?',
                           $path, grep { length } $strict;

            my ($victim) = grep { $_ != $asker } $nginx->worker_pids;

            $nginx->signal('STOP', $victim);
            $client->send_request("/debug/pprof/$way");
            ok(wait_until(sub { questions($victim) > 0 }), "$way: asked");
            $nginx->signal('KILL', $victim);

            my $answer = $client->response;

            is_answer($answer, $strict ? 503 : 200,
                      $strict ? qr/\Aonly 1 of 2 workers answered, /
                      : qr/it exited before it answered/, "$way: its status");
            is($client->get('/fine')->{status}, 200,
               "$way: the connection is kept");

            ok(wait_until(sub {
                status($client)->{text} =~ /"answered": 2,/
                && !grep { $_ == $victim } $nginx->worker_pids;
            }), "$way: another worker");
        }
    }

    is_well($nginx, 'ends');
    $nginx->stop(alerts => qr/exited on signal 9/);
};


test 'no stale dump', 'fake' => sub {
    my $nginx = fleet('', workers => 2, fake => '');
    my @dumps = map { grow($nginx, $_) } 1 .. 6;
    my ($asker, $client, $victim) = asker($nginx);

    for my $n (1 .. 6) {
        my $before = $client->get("$heap?format=folded&worker=pid-$victim");

        is($before->{status}, 200, 'before');
        $nginx->signal('STOP', $victim);

        # a client that leaves ends its question

        for (1 .. 3) {
            my $gone = $nginx->asking("$heap?worker=pid-$victim");

            $gone->hears(0.05);
            $gone->break_off;
        }

        $nginx->fake("dump $dumps[$n - 1]\n");
        $nginx->signal('CONT', $victim);

        my $answer = $client->get("$heap?format=folded&worker=pid-$victim");
        my $bytes = 0;

        # of the worker, and of what it inherited

        $bytes += $_ for $answer->{body} =~ /jpp_fake_alpha (\d+)$/mg;
        is($bytes, (1 + $n) * 16777216, 'the answer is a new dump');
    }

    $nginx->fake('');
    is_well($nginx, 'stale questions');
};


# PID, which has N clients, has FREE descriptors as CODE runs.  It uses little
# CPU time meanwhile, and in the quarter of a second after that: a loop would
# use all of it.

sub with_few($nginx, $pid, $n, $free, $code) {
    rests_at($nginx, $pid, $n);

    my $was = limit($pid, 'nofile', lowest($free, $pid));
    my $before = cpu_time($pid);

    $code->();

    my $cpu = cpu_time($pid);

    sleep 0.25;
    cmp_ok($cpu - $before, '<', 0.5, "$free free: no loop in the request");
    cmp_ok(cpu_time($pid) - $cpu, '<', 0.1, "$free free: or after it");
    limit($pid, 'nofile', $was);
}


# An answer is complete, or a refusal with a reason.

sub is_whole_or_none($answer, $what) {
    like($answer->{status}, qr/^(?:200|50[034])$/, "$what: $answer->{status}");

    if ($answer->{status} != 200) {
        # files that other suites send as the same user count as well

        like($answer->{body},
             qr/descriptor|worker_rlimit_nofile|within|Too many references/,
             "$what: the reason");
        return;
    }

    my $profile = profile($answer);

    missing($answer, $what);
    ok(grep({ m{/nginx$} } @{ $profile->{strings} }), "$what: its mappings");
    ok(grep({ /^ngx_/ } @{ $profile->{strings} }), "$what: its names");
}


test 'few descriptors in the worker that asks', 'jemalloc' => sub {
    my $nginx = fleet($timeouts, workers => 2);
    my ($asker, $client, $other) = asker($nginx);

    for my $free (0 .. 6) {
        for my $query ('', "?worker=pid-$other", "?worker=self") {
            with_few($nginx, $asker, 1, $free, sub {
                is_whole_or_none($client->get("$heap$query"),
                                 "$free free$query");
            });

            my $answer = once_like($client, "$heap$query",
                                   qr{^jemalloc-pprof-workers: (\d)/\1\r$}mi);

            is($answer->{status}, 200, 'enough again');
            like(partly($answer), qr{^(\d)/\1$}, 'all answered');
        }
    }

    undef $client;
    is_well($nginx, 'few descriptors');
};


test 'few descriptors in the worker that is asked', 'jemalloc' => sub {
    my $nginx = fleet($timeouts, workers => 2);
    my ($asker, $client, $other) = asker($nginx);
    my %statuses;

    for my $free (0 .. 4) {
        for my $query ('', "?worker=pid-$other") {
            with_few($nginx, $other, 0, $free, sub {
                my $answer = $client->get("$heap$query");

                is_whole_or_none($answer, "$free free$query");
                $statuses{ $query ? $answer->{status} : partly($answer) }++;
            });

            # until it has taken the question that it could not take in time

            ok(wait_until(sub {
                my $answer = $client->get("$heap$query");

                return $answer->{status} == 200
                       && partly($answer) =~ m{^(\d)/\1$};
            }), 'enough again');
        }
    }

    ok($statuses{200} && $statuses{504} && $statuses{503},
       'enough descriptors, none to accept with, none for the file');
    ok($statuses{'1/2'} && $statuses{'2/2'},
       'answers of one worker, and of both');

    undef $client;
    is_well($nginx, 'few descriptors');
};


# A failed connection says nothing about the worker, which is asked again the
# next time.

test 'connections that cannot be made', 'fake' => sub {
    my $port = free_port();
    my $nginx = fleet('', workers => 3, fake => '', http => <<"EOF");
    server {
        listen 127.0.0.1:$port;
        location / { jemalloc_pprof; $timeouts }
    }
EOF
    my ($asker, $client) = clients_of_one($nginx, 1);

    for my $fault ([ 12, 'Cannot allocate memory' ],
                   [ 13, 'Permission denied' ],
                   [ 23, 'Too many open files in system' ])
    {
        my ($errno, $words) = @$fault;

        $nginx->fake("connect $errno\n");

        my $answer = $client->get($heap);

        is($answer->{status}, 200, $words);
        is(partly($answer), '1/3', 'of the worker itself');
        is(scalar(grep { /is missing: cannot query it: \Q$words\E$/ }
                  @{ profile($answer)->{comments} }), 2, 'the reason');

        $nginx->fake('');
        is(partly($client->get("$heap?strict=1")), '3/3', 'all answer again');
    }

    # the asker waits for a worker that accepts nothing, but not for ever

    $nginx->fake("connect 11\n");

    $client->send_request($heap);
    ok(!$client->hears(0.2), 'no answer while workers accept nothing');
    $nginx->fake('');
    is(partly($client->response), '3/3', 'then they are asked again');

    $nginx->fake("connect 11\n");

    my $answer = JppClient->new(port => $port)->get('/heap');

    is((grep { /is missing: it accepted no connection within / }
        @{ profile($answer)->{comments} }), 2,
       'the answer names those that never accept');
    $nginx->fake('');
    is(partly($client->get($heap)), '3/3', 'all answer again');
};


# A worker that cannot accept does not try all the time.

test 'connections that cannot be taken', 'fake' => sub {
    my $nginx = fleet($timeouts, workers => 2, fake => '');
    my ($asker, $client, $other) = asker($nginx);

    for my $errno (12, 23, 24, 105) {
        $nginx->fake("accept $errno\n");

        my $cpu = cpu_time($other);

        is(partly($client->get($heap)), '1/2', "errno $errno: it is late");
        cmp_ok(cpu_time($other) - $cpu, '<', 0.3, 'no loop');

        $nginx->fake('');
        ok(wait_until(sub { partly($client->get($heap)) eq '2/2' }),
           'both answer again');
    }
};


# jemalloc makes its statistics wait for a dump; the event loop does not wait.

test 'statistics during a dump', 'fake' => sub {
    my $nginx = fleet('', workers => 1, fake => '');
    my $client = $nginx->client;
    my $path = '/debug/pprof/status';

    like($client->get($path)->{body}, qr/"stats": \{/, 'at rest');

    $nginx->fake("hold 1\n");

    my $other = $nginx->asking($heap);

    ok($nginx->wait_dumping($nginx->worker), 'a dump');
    like($client->get($path)->{body}, qr/"stats": null/,
         'no statistics meanwhile');
    $nginx->fake('');
    is($other->response->{status}, 200, 'the dump');
    ok(wait_until(sub { $client->get($path)->{body} =~ /"stats": \{/ }),
       'at rest again');
};

#!/usr/bin/perl

# Questions among workers: many of them, some that are never read, and some that
# a reset, a reload or control overtakes.  No answer is wrong without saying so,
# and no other worker pays for one that hangs.
#
# JPP_SOAK=1 does it with 64 workers, 200 clients and 400 questions.
#
# Not here: one worker that asks one other (fleet/peer.t); the memory of answers
# (fleet/workers.t); processes that are no workers (fleet/strangers.t).

use JppTest;
use JppFleet qw( asker clients_of_one fleet held is_well missing rests_at
                 status );
use JppNginx qw( profile );

my $soak = $ENV{JPP_SOAK};

my $heap = '/debug/pprof/heap';
my $control = '/debug/pprof/control';


# Stopped workers leave more questions unread than the asker may have
# descriptors, and it still asks the others.

test 'questions that nobody reads', 'fake' => sub {
    my $nginx = fleet('jemalloc_pprof_timeout 100ms;', workers => 5,
                      fake => '');
    my ($asker, $client, @victims) = (asker($nginx))[0 .. 4];
    my ($n, $limit) = $soak ? (400, 1024) : (50, 100);

    limit($asker, 'nofile', $limit);

    # on a busy machine a worker may be late

    ok(wait_until(sub { partly($client->get($heap)) eq '5/5' }), 'before');

    $nginx->signal('STOP', $_) for @victims;

    $client->get($heap) for 1 .. $n;

    my $answer;

    ok(wait_until(sub {
        $answer = $client->get($heap);

        return $answer->{status} == 200 && partly($answer) eq '2/5';
    }), @victims * $n . ' questions unread: two of five answer');

    my $why = missing($answer, 'unread');

    like($why->{$_}, qr/: it is stopped, by a signal or a debugger /,
         'the answer says that the others are stopped')
        for @victims;

    $nginx->signal('CONT', $_) for @victims;
    is_well($nginx, 'unread');
};


# A worker accepts sixteen askers at a time; the others wait for their turn.

test 'more askers than a worker accepts', 'fake' => sub {
    my ($n, $n_clients) = $soak ? (64, 200) : (24, 96);
    my $nginx = fleet('', workers => $n, fake => '');

    $nginx->fake("hang 0.05\n");

    my @clients = map { $nginx->client } 1 .. $n_clients;

    is_deeply(asked_by_all("$heap?worker=7&strict=1", @clients),
              { '200 1/1' => $n_clients }, 'one worker is asked by all');

    $nginx->fake('') if $soak;

    is_deeply(asked_by_all("$heap?strict=1", @clients),
              { "200 $n/$n" => $n_clients }, 'all are asked by all');

    undef @clients;
    $nginx->fake('');
    is_well($nginx, 'crowd');
};


# What CLIENTS hear that ask for PATH at once.  A client that has to come back,
# since the worker that serves it has enough to do, comes back.

sub asked_by_all($path, @clients) {
    my %answers;

    while (@clients) {
        my @again;

        $_->send_request($path) for @clients;

        for my $client (@clients) {
            my $answer = $client->response;

            if ($answer->{status} == 429) {
                push @again, $client;

            } else {
                $answers{ join ' ', $answer->{status}, partly($answer) }++;
            }
        }

        @clients = @again;
    }

    return \%answers;
}


# All that ask before a dump begins get that one.

test 'one dump for all who wait', 'fake' => sub {
    my $n = 8;
    my $nginx = fleet('', workers => $n, fake => '');
    my ($victim) = $nginx->worker_pids;
    my $from = () = $nginx->dump_log;

    $nginx->fake("hold 1\n");

    # clients of different workers, so that each asks a question of its own

    my %clients;

    while (keys %clients < $n) {
        my $client = $nginx->client;

        $clients{ $client->get('/pid')->{body} } //= $client;
    }

    delete $clients{$victim};

    my ($first, @others) = values %clients;

    $first->send_request("$heap?worker=pid-$victim");
    $nginx->wait_dumping($victim);

    my $before = sockets_of($victim);

    $_->send_request("$heap?worker=pid-$victim") for @others;
    ok(wait_until(sub { sockets_of($victim) == $before + @others }),
       'the others wait');

    $nginx->fake('');
    is(scalar(grep { $_->response->{status} == 200 } $first, @others), $n - 1,
       'all are answered');

    my @begun = grep { $_->[0] == $victim && $_->[1] eq 'begins' }
                $nginx->dump_log($from);

    is(scalar @begun, 2, 'with the dump that had begun, and one more');
    is_well($nginx, 'shared');
};


# A question is a socket more.

sub sockets_of($pid) {
    return scalar grep { /^socket:/ }
           map { readlink($_) // '' } glob "/proc/$pid/fd/*";
}


# Samples that a reset forgets were not freed, and what is allocated while none
# are taken is not sampled later: a difference must not say so.

test 'samples that are forgotten in between', 'jemalloc' => sub {
    my $nginx = fleet('', workers => 2);
    my $why = 'its samples cannot be compared: in the meantime they were '
              . 'reset, or active, sampler or lg_sample was changed';

    my ($asker, %asked);

    ($asker, @asked{'', '&strict=1'}) = clients_of_one($nginx, 2);

    for my $change ('reset=1', 'lg_sample=13', 'active=off active=on') {
        rests_at($nginx, $asker, 2);
        ask_and_pause($asker, map { [ $asked{$_}, "$heap?seconds=4$_" ] }
                                  sort keys %asked);

        for my $form (split ' ', $change) {
            my $done = $nginx->get($control, body => "$form&worker=0");

            is($done->{status}, 200, $form);
        }

        my $answer = $asked{''}->response;

        is($answer->{status}, 200, "$change: there is a difference");
        is(partly($answer), '1/2', "$change: of one worker");
        is_deeply([ values %{ missing($answer, $change) } ], [ $why ],
                  "$change: the reason for the other");

        my $strict = $asked{'&strict=1'}->response;

        is($strict->{status}, 503, "$change: strict: no difference");
    }

    rests_at($nginx, $asker, 2);
    ask_and_pause($asker, [ $asked{''}, "$heap?seconds=4&format=top" ]);
    is($nginx->get($control, body => 'reset=1')->{status}, 200,
       'a reset of all');

    my $answer = $asked{''}->response;

    is_answer($answer, 503, qr/\Ano worker answered both times: worker 0 (?#
              )\(pid \d+\), \Q$why\E: try again\n\z/,
              'a reset of all: no difference');

    # without their baselines they still have profiles

    is(partly($nginx->get("$heap?strict=1")), '2/2', 'profiles of both');
};


# Each CLIENT asks for its PATH; waits until ASKER has the first dumps of two
# workers, which some may share, and has had nothing to do for a while.

sub ask_and_pause($asker, @questions) {
    my $n = held($asker);
    my $n_idle = 0;

    $_->[0]->send_request($_->[1]) for @questions;

    ok(wait_until(sub {
        my $is_idle = held($asker) >= $n + 2 && threads($asker) == 1;

        $n_idle = $is_idle ? $n_idle + 1 : 0;

        return $n_idle == 10;
    }), 'the first dumps were taken');
}


# The old worker of an index answers, or the new one; one that is asked as it
# exits says so.

test 'an index during reloads', 'fake' => sub {
    my $nginx = fleet('', workers => 8, fake => '');
    my $going = qr/\A(?:it exited before it answered|it no longer listens,|(?#
        )this worker is (?:being started|shutting down):)/;
    my %answers;

    for my $reload (1 .. 8) {
        $nginx->signal('HUP');

        for (1 .. 250) {
            my $answer = $nginx->get("$heap?worker=7&format=folded");

            $answers{ $answer->{status} == 200 ? 'answers'
                      : $answer->{status} == 503 && $answer->{body} =~ $going
                      ? 'exits' : "$answer->{status} $answer->{body}" }++;
        }
    }

    cmp_ok($answers{answers}, '>', 1000, 'eight reloads: it answers');
    delete @answers{qw( answers exits )};
    is_deeply(\%answers, {}, 'and is never reported as unknown');
    is($nginx->get("$heap?worker=8")->{status}, 404, 'a ninth is unknown');

    wait_until(sub { $nginx->worker_pids == 8 });
    is_well($nginx, 'reloaded');
};


test 'an index of a killed worker', 'fake' => sub {
    my $nginx = fleet('', workers => 2, fake => '');
    my ($asker, $client) = clients_of_one($nginx, 1);
    my %answers;

    # a stopped master starts no other worker

    for (1 .. 3) {
        my ($victim) = grep { $_ != $asker } $nginx->worker_pids;
        my ($index) = status($client)->{text}
                      =~ /"worker": (\d+),\s+"pid": $victim\b/;

        $nginx->signal('STOP');
        $nginx->signal('KILL', $victim);
        wait_until(sub { !sockets($victim) });

        for (1, 2) {
            my $answer = $client->get("$heap?worker=$index");

            $answers{"$answer->{status} $answer->{body}"}++;
            is($answer->{headers}{'retry-after'}, 1, 'a time to come back')
                if $answer->{body} =~ /started/;
        }

        $nginx->signal('CONT');
        ok($nginx->replaced($victim), 'another worker');
    }

    is_deeply(\%answers, {
        "503 it no longer listens, so it has exited\n" => 3,
        "503 this worker is being started: try again in a second\n" => 3,
    }, 'the index is known, and its worker is not there');

    $nginx->stop(alerts => qr/exited on signal 9|was locked by/);
};


# A client that knows of a change gets no answer that was collected before it.

test 'what was collected before a change', 'fake' => sub {
    my $nginx = fleet('jemalloc_pprof_timeout 2s;', workers => 2, fake => '');
    my ($asker, @clients) = clients_of_one($nginx, 3);
    my ($victim) = grep { $_ != $asker } $nginx->worker_pids;

    $nginx->signal('STOP', $victim);

    $clients[0]->send_request('/debug/pprof/status');
    ok(!$clients[0]->hears(0.1), 'a status of both is under way');

    my $done = $clients[1]->get("$control?worker=pid-$asker",
                                body => 'active=off');

    like($done->{body}, qr/"after": \{[^}]*"active": false/, 'one is changed');

    like($clients[2]->get('/debug/pprof/status')->{body}, qr/"active": false/,
         'a later status has the change');
    $clients[0]->response;

    is($clients[2]->get("$heap?worker=self")->{status}, 403, 'no samples');

    # the same for a profile, in the other direction

    $clients[0]->send_request($heap);
    ok(!$clients[0]->hears(0.1), 'a profile of both is under way');
    $clients[1]->get("$control?worker=pid-$asker", body => 'active=on');
    is($clients[2]->get($heap)->{status}, 200, 'there are samples again');
    $clients[0]->response;

    $nginx->signal('CONT', $victim);
};


# An asker with few descriptors: what its answer contains is right, or the
# answer says what is missing.

test 'files that are lost on the way', 'jemalloc' => sub {
    my $nginx = fleet('', workers => 2);
    my ($asker, $client, $other) = asker($nginx);
    my $path = "$heap?worker=pid-$other&strict=1";
    my ($n, %words);

    ok(grep({ $_ eq 'master' } @{ profile($client->get($path))->{strings} }),
       'what the other inherited is reported as inherited');

    $n = rests_at($nginx, $asker, 1);

    for my $free (0 .. 5) {
        rests_at($nginx, $asker, 1, $n);

        my $was = limit($asker, 'nofile', lowest($free, $asker));
        my $answer = $client->get($path);

        limit($asker, 'nofile', $was);

        if ($answer->{status} == 200) {
            is(scalar(grep { $_ eq 'master' }
                      @{ profile($answer)->{strings} }), 1,
               "$free: it is reported as inherited");
            $words{200}++;
            next;
        }

        is($answer->{status}, 503, "$free: no answer");
        $words{ $answer->{body} =~ s/:.*//sr }++;
    }

    is_deeply(\%words, {
        'cannot create a socket to query it (raise worker_rlimit_nofile)' => 1,
        'the files of its answer were lost' => 2,
        200 => 3,
    }, 'no socket, no descriptors for the files, and enough');

    is_well($nginx, 'lost');
};


# The fix fits the cause, and an unknown cause has none.

test 'no socket for a question', 'fake' => sub {
    my $nginx = fleet('', workers => 2, fake => '');
    my ($asker, $client, $other) = asker($nginx);
    my $forbidden = ' (a seccomp filter, or RestrictAddressFamilies without '
                    . 'AF_UNIX, forbids it)';

    for my $fault ([ 24, ' (raise worker_rlimit_nofile)',
                     'Too many open files' ],
                   [ 1, $forbidden, 'Operation not permitted' ],
                   [ 97, $forbidden,
                     'Address family not supported by protocol' ],
                   [ 12, '', 'Cannot allocate memory' ])
    {
        my ($errno, $fix, $words) = @$fault;

        $nginx->fake("socket $errno\n");

        is(missing($client->get($heap), $words)->{$other},
           "cannot create a socket to query it$fix: $words", $words);
    }

    $nginx->fake('');
    is_well($nginx, 'no socket');
};


# What workers inherited is larger than the limit of now: it counts as their
# own, which a comment says, and which is an error with strict=1.

test 'a baseline without room', 'fake' => sub {
    my $nginx = fleet('jemalloc_pprof_max_size 100k;', workers => 2,
                      fake => "large 1\n");

    $nginx->fake('');

    my $answer = $nginx->get($heap);

    is($answer->{status}, 200, 'a profile');
    is(partly($answer), '2/2', 'of both');

    my @left_out = grep { /^left out the baseline of / }
                   @{ profile($answer)->{comments} };

    is(scalar @left_out, 2, 'without two baselines');
    like($_, qr/^left out the baseline of worker \d pid \d+: the dump has (?#
         )\d+ bytes and 102400 are allowed: /, 'the reason') for @left_out;

    my $strict = $nginx->get("$heap?strict=1");

    is_answer($strict, 503,
              'strict=1 refuses: the baseline of 2 of 2 workers is missing, '
              . 'so inherited memory would count as their own; without '
              . 'strict=1, a comment of the profile gives the reason',
              'strict: no profile');

    # a baseline that did not fit takes no room

    is($nginx->get("$heap?format=folded&worker=0&seconds=1")->{status}, 200,
       'a difference needs none');
    is_well($nginx, 'no room');
};


# A worker that cannot start a thread has no profile, and is counted.

test 'a worker without a thread', 'fake' => sub {
    my $nginx = fleet('', workers => 2, fake => "eventfd 24\n");
    my $why = 'it cannot start a background thread: the error log says why';

    $nginx->fake('');

    like($nginx->error_log, qr/eventfd\(\) failed, this worker will serve no (?#
         )profiles \(24: /, 'the log has it');

    my $status = status($nginx);

    is("@{ $status->{counts} }", '2 2', 'both have a status');

    my $answer = $nginx->get("$heap?strict=1");

    is_answer($answer, 503,
              qr/\Ano worker answered: worker 0 \(pid \d+\), \Q$why/,
              'no profile');

    # the next one has a thread

    my ($victim) = $nginx->worker_pids;

    $nginx->signal('KILL', $victim);
    ok($nginx->replaced($victim), 'another worker');

    # the worker that serves the request needs a thread, too

    ok(wait_until(sub {
        $answer = $nginx->get($heap);

        return $answer->{status} == 200;
    }), 'one of two answers');
    is(partly($answer), '1/2', 'of two');
    is_deeply([ values %{ missing($answer, 'threadless') } ], [ $why ],
              'the reason for the other');
    $nginx->stop(alerts => qr/exited on signal 9|was locked by/);
};


sub has_last_pid { -w '/proc/sys/kernel/ns_last_pid' }


# Another user's process has the pid and the name of a killed worker.

test 'a pid that is another process by now', 'fake', 'root',
     \&has_last_pid => sub {
    my $nginx = fleet('', workers => 2, fake => '');
    my ($asker, $client, $victim) = asker($nginx);
    my ($name) = sockets($victim);

    $nginx->signal('KILL', $victim);
    ok($nginx->replaced($victim), 'another worker');

    my ($pid, $pipe) = impostor($victim, $name);

    SKIP: {
        skip 'another process got the pid', 1 unless $pid;

        ok(wait_until(sub { sockets($victim) }),
           'another process has its name');

        my @answers = map { $client->get("$heap?worker=all") } 1 .. 3;

        is(partly($answers[-1]), '2/2', 'it is not counted for long');
        is($client->get("$heap?strict=1")->{status}, 200, 'even with strict=1');

        kill 'KILL', $pid;
        waitpid $pid, 0;
    }

    is_well($nginx, 'reused');
    $nginx->stop(alerts => qr/exited on signal 9|was locked by/);
};


# A process of another user with the pid PID that listens by NAME.

sub impostor($pid, $name) {
    require Socket;

    for (1 .. 20) {
        return if -e "/proc/$pid";

        spew_pid($pid - 1);

        my $child = fork;

        if ($child == 0) {
            POSIX::_exit(1) unless $$ == $pid;

            $( = $) = 1;
            $< = $> = 1;
            socket(my $s, Socket::AF_UNIX(), Socket::SOCK_SEQPACKET(), 0);
            bind($s, pack 'Sxa*', Socket::AF_UNIX(), $name);
            listen($s, 5);
            alarm 60;
            accept(my $client, $s);
            sleep 60;
            POSIX::_exit(0);
        }

        return $child if $child == $pid;
        waitpid $child, 0;
    }

    return;
}


# Not in one step, as spew() does: this file cannot be replaced.

sub spew_pid {
    open my $fh, '>', '/proc/sys/kernel/ns_last_pid' or die "ns_last_pid: $!";
    print $fh shift;
    close $fh;
}

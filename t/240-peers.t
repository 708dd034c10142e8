#!/usr/bin/perl

# All workers in one answer, while some of them are killed, stopped, told to
# end, replaced, or short of descriptors, and while others try to take part.
# Whatever happens: an answer in time that says who is missing, nothing that is
# left of the dead, and all of them again afterwards.
#
# JPP_SOAK=1 does it ten times as often.

use strict;
use warnings;

use File::Basename;
use Test::More;
use Time::HiRes qw(sleep time);

use lib dirname(__FILE__) . '/lib';

use JppNginx qw( wait_until slurp spew
                 descriptors threads memory limit dumps sockets cpu_time lowest
                 profile partly );
use JppRun qw( subtests );

my $soak = $ENV{JPP_SOAK} ? 10 : 1;

# what hangs ends
alarm 600 * $soak;

my $heap = '/debug/pprof/heap';

# seconds: of a question, and what may be added by the report
my $timeout = 2;
my $more = 0.5;

my $server = <<"EOF";
        location /debug/pprof/ {
            jemalloc_pprof control=on;
            jemalloc_pprof_timeout ${timeout}s;
        }
        location = /pid { return 200 \$pid; }
        location /file { root .; }
EOF

subtests(
    'workers that are killed' => [ \&killed, 'fake' ],
    'one that is stopped' => [ \&stopped, 'fake' ],
    'those that are told to end' => [ \&ends, 'fake' ],
    'strangers' => [ \&strangers, 'fake', 'root', 'setpriv' ],
    'strangers that flood' => [ \&flooded, 'fake', 'root',
                                'setpriv' ],
    'few descriptors of the one who asks' => [ \&few_asking, 'jemalloc' ],
    'few descriptors of the one who is asked'
        => [ \&few_asked, 'jemalloc' ],
    'numbers of workers' => [ \&numbers, 'fake' ],
    'a number that changes' => [ \&changing, 'fake' ],
    'workers that exit' => [ \&exiting, 'fake' ],
    'what is wanted' => [ \&wanted, 'fake' ],
    'many that ask the same' => [ \&same, 'fake' ],
    'a difference' => [ \&difference, 'fake' ],
    'no dump of before' => [ \&fresh, 'fake' ],
);


# What was measured: of a soak run it is told.

sub measured { return $soak > 1 ? diag(@_) : note(@_) }


sub most { return (sort { $a <=> $b } @_)[-1] }


sub start {
    return JppNginx->start(server => $server, @_);
}


# A client of one worker for as long as it lives, and who that is.

sub client_of_one {
    my ($nginx) = @_;
    my $client = $nginx->client;

    return ($client, $client->get('/pid')->{body});
}


# The workers as status tells them.

sub status {
    my ($nginx) = @_;
    my $text = $nginx->get('/debug/pprof/status')->{body};
    my ($there, $missing) = $text =~ /^(.*?)"missing": (\[.*\])/s;

    return { text => $text,
             pids => [ sort { $a <=> $b } $there =~ /"pid": (\d+)/g ],
             rates => [ $there =~ /"lg_sample": (\d+)/g ],
             active => [ $there =~ /"active": (true|false)/g ],
             missing => [ $missing =~ /"pid": (\d+)/g ] };
}


# Within five seconds the workers there are know of nobody else, hold nothing of
# anybody, and all of them answer.

sub is_well {
    my ($nginx, $what, @dead) = @_;
    my ($status, @pids);

    # only what is wrong is told

    my $is_well = wait_until(sub {
        @pids = $nginx->worker_pids;
        $status = status($nginx);

        return @pids == $nginx->{workers}
               && "@pids" eq "@{ $status->{pids} }"
               && !@{ $status->{missing} }
               && !grep { dumps($_) != 1 || threads($_) != 1 } @pids;
    }, 5);

    ok($is_well, "$what: the living, and nothing of the dead")
        or diag("workers: @pids\ndumps: @{[ map { dumps($_) } @pids ]}\n"
                . $status->{text});

    ok(wait_until(sub { !sockets(@dead) }, 5), "$what: no socket of the dead")
        or diag(sockets(@dead));

    my $answer = $nginx->get($heap);

    is($answer->{status}, 200, "$what: an answer");
    is(partly($answer), "$nginx->{workers}/$nginx->{workers}",
       "$what: of all of them");
}


# An answer of fewer workers says so, by number and name; the missing.

sub missing {
    my ($answer, $what) = @_;
    my ($n, $of) = split m{/}, partly($answer);
    my $profile = profile($answer);

    my %why = map { /^worker \d+ pid (\d+) is missing: (.+)$/ ? ($1, $2) : () }
              @{ $profile->{comments} };

    is($of - $n, scalar keys %why, "$what: as many as are missing are named")
        or diag(partly($answer), map { "\n$_" } @{ $profile->{comments} });

    ok(grep({ $_ eq "workers $n/$of" } @{ $profile->{comments} }),
       "$what: and how many answered");
    is(scalar(grep { $why{$_} } keys %{ $profile->{labels}{pid} }), 0,
       "$what: and nothing is told of those");

    return \%why;
}


# A dump that is larger than what was inherited, by N more allocations.

sub grow {
    my ($nginx, $n) = @_;
    my $dump = $nginx->get("$heap?format=jemalloc&worker=self")->{body};
    my $count = 1 + $n;
    my $bytes = $count * 16777216;

    $dump =~ s/\b1: 16777216\b/$count: $bytes/g;

    return spew("$nginx->{prefix}/dump.$n", $dump);
}


sub killed {
    my $nginx = start(workers => 3, fake => '');
    my $dump = grow($nginx, 1);
    my (@dead, @times, $n_named, $n_left);

    $n_named = $n_left = 0;
    $nginx->fake("hang 0.15\ndump $dump\n");

    for my $round (1 .. 20 * $soak) {
        my ($client, $asker) = client_of_one($nginx);
        my @others = grep { $_ != $asker } $nginx->worker_pids;
        my $victim = $round % 5 ? $others[rand @others] : $asker;
        my $start = time();

        $client->send_request($heap);
        sleep rand 0.35;
        $nginx->signal('KILL', $victim);
        push @dead, $victim;

        my $answer = $client->response;
        my $time = time() - $start;

        push @times, $time;
        cmp_ok($time, '<', $timeout + $more, "$round: in time");

        if ($victim == $asker) {
            $n_left++ if $answer->{status} == 0;

        } else {
            is($answer->{status}, 200, "$round: an answer")
                or diag($answer->{body});

            my $why = missing($answer, $round);

            $n_named++ if $why->{$victim};
            like($_, qr/^it (?:ended, or was|does not listen)/,
                 "$round: why it is missing") for values %$why;
        }

        ok(wait_until(sub {
            my @pids = $nginx->worker_pids;

            return @pids == 3 && !grep { $_ == $victim } @pids;
        }), "$round: another worker");
    }

    cmp_ok($n_named, '>', 0, 'some were killed in the middle');
    cmp_ok($n_left, '>', 0, 'and some of those who asked');
    measured(sprintf 'killed: %d rounds, %d in the middle, %d of those who '
                     . 'asked; the longest %.2f s, %+.2f s of the deadline',
                     scalar @times, $n_named, $n_left, most(@times),
                     most(@times) - $timeout);

    $nginx->fake('');
    is_well($nginx, 'killed', @dead);
    $nginx->stop(alerts => qr/exited on signal 9|was locked by/);
}


sub stopped {
    my $nginx = start(workers => 3, fake => '');
    my ($client, $asker) = client_of_one($nginx);
    my ($other) = client_of_one($nginx);
    my ($victim) = grep { $_ != $asker && $_ != $other->get('/pid')->{body} }
                   $nginx->worker_pids;
    my $number = { map { $_->[1] => $_->[0] } numbered($nginx) }->{$victim};

    my @times;

    is($client->get($heap)->{status}, 200, 'before');
    $nginx->signal('STOP', $victim);

    # seconds of $timeout each

    for my $round (1 .. ($soak == 1 ? 2 : 8)) {
        my $start = time();

        $client->send_request($heap);

        my $n = grep { $other->get('/fine')->{status} == 200
                       && !$client->hears(0) } 1 .. 50;

        is($n, 50, 'all else is served meanwhile');

        my $answer = $client->response;
        my $time = time() - $start;

        push @times, $time;
        cmp_ok($time, '>', $timeout - 0.1, 'an answer, no earlier');
        cmp_ok($time, '<', $timeout + $more, 'and no later');
        is($answer->{status}, 200, 'than its deadline');
        is(partly($answer), '2/3', 'of two');
        is(missing($answer, 'stopped')->{$victim},
           'no answer within 2000 ms (jemalloc_pprof_timeout)',
           'and why not of the third');
    }

    measured(sprintf 'stopped: %d rounds; the longest %.2f s, %+.2f s of the '
                     . 'deadline', scalar @times, most(@times),
                     most(@times) - $timeout);

    like($client->get("$heap?format=top")->{body},
         qr{^workers 2/3\nworker $number pid $victim is missing: no answer }m,
         'top says so as well');

    my $strict = $client->get("$heap?strict=1");

    is($strict->{status}, 503, 'strict: nothing');
    is($strict->{body}, 'only 2 of 3 workers answered, and strict=1 wants all: '
                        . 'the error log and the comments of the profile '
                        . "without strict=1 say why\n", 'and why');

    for my $who ("pid-$victim", $number) {
        my $alone = $client->get("$heap?worker=$who");

        is($alone->{status}, 504, "$who: too late");
        is($alone->{body}, "no worker answered in time: worker $number (pid "
                           . "$victim), no answer within 2000 ms "
                           . "(jemalloc_pprof_timeout)\n", 'and why');
    }

    is($client->get("$heap?worker=pid-$asker")->{status}, 200,
       'the others are asked as ever');

    $nginx->signal('CONT', $victim);
    is_well($nginx, 'goes on');
    $nginx->stop;
}


# Index and pid of each worker.

sub numbered {
    my ($nginx) = @_;

    return map { [ /(\d+).*?(\d+)/s ] }
           status($nginx)->{text} =~ /("worker": \d+,\s+"pid": \d+)/g;
}


# What a stopped worker is asked it is not told after it went on: the answers
# to questions that nobody waits for any more go nowhere.

sub fresh {
    my $nginx = start(workers => 2, fake => '');
    my @dumps = map { grow($nginx, $_) } 1 .. 6;
    my ($client, $asker) = client_of_one($nginx);
    my ($victim) = grep { $_ != $asker } $nginx->worker_pids;

    for my $n (1 .. 6) {
        my $before = $client->get("$heap?format=folded&worker=pid-$victim");

        is($before->{status}, 200, 'before');
        $nginx->signal('STOP', $victim);

        # who leaves does not wait for the deadline

        for (1 .. 3) {
            my $gone = $nginx->client;

            $gone->send_request("$heap?worker=pid-$victim");
            $gone->hears(0.05);
            $gone->break_off;
        }

        $nginx->fake("dump $dumps[$n - 1]\n");
        $nginx->signal('CONT', $victim);

        my $answer = $client->get("$heap?format=folded&worker=pid-$victim");
        my $bytes = 0;

        # of the worker, and of what it inherited

        $bytes += $_ for $answer->{body} =~ /jpp_fake_alpha (\d+)$/mg;
        is($bytes, (1 + $n) * 16777216, 'of what is now');
    }

    $nginx->fake('');
    is_well($nginx, 'questions that nobody waits for');
    $nginx->stop;
}


# How long a worker takes to end in the middle of something, beside one of an
# nginx without the module.

sub ends {
    my (%stock, %ends);

    for my $signal ('QUIT', 'TERM', 'HUP') {
        $stock{$signal} = most(times_to_end($signal, 0, 'nothing', 3 * $soak));
    }

    for my $what ('a question', 'a dump', 'a difference') {
        for my $signal ('QUIT', 'TERM', 'HUP') {
            my $most = most(times_to_end($signal, 1, $what, 5 * $soak));

            $ends{$signal} = most($most, $ends{$signal} // 0);

            cmp_ok($most, '<', $stock{$signal} + 1,
                   sprintf '%s and %s: %.2f s, without the module %.2f s',
                   $what, $signal, $most, $stock{$signal});
        }
    }

    my @longest = map { sprintf '%s %.2f s (%.2f s)', $_, $ends{$_},
                                $stock{$_} } sort keys %stock;

    measured("ends: @{[ 45 * $soak ]} rounds; the longest (without the "
             . 'module): ' . join ', ', @longest);
}


sub times_to_end {
    my ($signal, $with, $what, $n) = @_;
    my $nginx = JppNginx->start(module => $with, workers => 2, fake => '',
        server => $with ? $server : 'location = /pid { return 200 $pid; }');

    my @times = map { time_to_end($nginx, $signal, $what) } 1 .. $n;

    $nginx->stop;

    return @times;
}


sub time_to_end {
    my ($nginx, $signal, $what) = @_;
    my ($client, $asker) = client_of_one($nginx);
    my ($asked) = grep { $_ != $asker } $nginx->worker_pids;

    if ($what eq 'a difference') {
        $client->send_request("$heap?seconds=60");
        wait_until(sub { dumps($asker) > 1 && threads($asked) == 1 });

    } elsif ($what ne 'nothing') {
        $nginx->fake("hang 5\n");
        $client->send_request("$heap?worker=pid-$asked");
        wait_until(sub { threads($asked) == 2 });

        # once it is in it: those that come dump in no time

        sleep 0.05;
        $nginx->fake('');
    }

    my @ends = $signal eq 'HUP' ? ($asker, $asked)
             : $what eq 'a dump' ? $asked : $asker;
    my $start = time();

    $nginx->signal($signal, $signal eq 'HUP' ? $nginx->{pid} : $ends[0]);

    wait_until(sub { !grep { !JppNginx::is_gone($_) } @ends }, 20);

    my $time = time() - $start;

    # each has another, or the next round would have nobody

    wait_until(sub {
        my @pids = $nginx->worker_pids;

        return @pids == 2 && !grep { my $pid = $_; grep { $_ == $pid } @ends }
                             @pids;
    });
    $nginx->get('/pid');

    return $time;
}


# What a process that is none of the workers can do: as UID it connects to
# their sockets, says something and waits for an answer, a thousand times; and
# it listens by a name that looks like theirs.  It prints what it was told.

sub stranger {
    return <<'EOF';
    use Socket;

    my ($n, @names) = @ARGV;
    my ($n_told, $n_bytes, @all) = (0, 0);

    $SIG{PIPE} = 'IGNORE';

    socket(my $own, AF_UNIX, SOCK_SEQPACKET, 0) or die "socket: $!";
    bind($own, pack 'Sxa*', AF_UNIX, $names[0] =~ s/\w+$/0123456789abcdef/r)
        or die "bind: $!";
    listen($own, 5);

    for my $i (1 .. $n) {
        for my $name (@names) {
            socket(my $s, AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0)
                or die "socket: $!";
            connect($s, pack 'Sxa*', AF_UNIX, $name) or next;
            send($s, pack("C", $i % 256) x ($i % 300), 0);
            push @all, $s;
        }
    }

    $_->blocking(1) for @all;

    for my $s (@all) {
        my $length = '';

        setsockopt($s, SOL_SOCKET, SO_RCVTIMEO, pack 'l!l!', 5, 0);
        defined recv($s, my $data, 65536, 0) or next;
        $n_told++ if length $data;
    }

    print scalar(@all), " $n_told\n";
EOF
}


sub strangers {
    my $nginx = start(workers => 2, fake => '');
    my @pids = $nginx->worker_pids;
    my @names = sockets(@pids);
    my ($uid, $gid) = (getpwnam 'nobody')[2, 3];
    my $file = spew("$nginx->{prefix}/stranger", "use IO::Handle;\n" . stranger());

    $gid = getgrnam('nogroup') // $gid;
    is(scalar @names, 2, 'the names of both');

    for my $who ([ 1, 1 ], [ $uid, $gid ]) {
        my ($as, $group) = @$who;
        my $command = "setpriv --reuid $as --regid $group --clear-groups "
                      . "prlimit --nofile=4096 perl $file 500 @names";

        open my $pipe, '-|', $command or die "$command: $!";

        # while they try

        my $n = grep { my $answer = $nginx->get($heap);
                       $answer->{status} == 200 && partly($answer) eq '2/2'
                     } 1 .. 5;
        my ($n_connected, $n_told) = split ' ', <$pipe> // '';

        ok(close $pipe, 'the stranger ends');
        is($n, 5, "uid $as: profiles of both meanwhile");
        cmp_ok($n_connected // 0, '>', 100, 'many connections were made');
        is($n_told, 0, 'and nothing was told to any of them');
        is_well($nginx, "uid $as");
    }

    is_deeply([ $nginx->worker_pids ], \@pids, 'the workers live');
    $nginx->stop;
}


# Two strangers connect as fast as they can, and keep what they get.

sub flooded {
    my $nginx = start(workers => 2, fake => '');
    my @names = sockets($nginx->worker_pids);
    my $file = spew("$nginx->{prefix}/flood", <<'EOF');
        use Socket;
        use Time::HiRes qw(time);

        my ($seconds, @names) = @ARGV;
        my ($n, $end, @all) = (0, time() + $seconds);

        while (time() < $end) {
            for my $name (@names) {
                socket(my $s, AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0)
                    or die "socket: $!";
                $n++ if connect($s, pack 'Sxa*', AF_UNIX, $name);
                push @all, $s;
            }

            @all = () if @all > 1000;
        }

        print "$n\n";
EOF

    my $command = 'setpriv --reuid 1 --regid 1 --clear-groups '
                  . "prlimit --nofile=4096 perl $file 3 @names";
    my @pipes = map { open my $pipe, '-|', $command or die "$command: $!";
                      $pipe } 1, 2;
    my $end = time() + 2.5;
    my %seen;

    while (time() < $end) {
        my $answer = $nginx->get($heap);

        $seen{"$answer->{status} " . partly($answer)}++;
        sleep 0.01;
    }

    is_deeply([ keys %seen ], [ '200 2/2' ], 'all workers in every answer')
        or diag(explain \%seen);

    for my $pipe (@pipes) {
        cmp_ok(<$pipe> // 0, '>', 1000, 'many connections were made');
        ok(close $pipe, 'the stranger ends');
    }

    is_well($nginx, 'flooded');
    $nginx->stop;
}


# PID has FREE descriptors as CODE runs; the CPU time it took, and that which
# it takes in the second after that.

sub with_few {
    my ($pid, $free, $code) = @_;
    my $was = limit($pid, 'nofile', lowest($free, $pid));
    my $cpu = cpu_time($pid);

    $code->();
    sleep 1;
    cmp_ok(cpu_time($pid) - $cpu, '<', 0.5, "$free free: no loop");
    limit($pid, 'nofile', $was);
}


# Whatever came is whole, or a refusal with a reason.

sub is_whole_or_none {
    my ($answer, $what) = @_;

    like($answer->{status}, qr/^(?:200|50[034])$/, "$what: $answer->{status}");

    if ($answer->{status} != 200) {
        like($answer->{body}, qr/descriptor|worker_rlimit_nofile|within 2000/,
             "$what: why");
        return;
    }

    my $profile = profile($answer);

    missing($answer, $what);
    ok(grep({ m{/nginx$} } @{ $profile->{strings} }), "$what: its mappings");
    ok(grep({ /^ngx_/ } @{ $profile->{strings} }), "$what: its names");
}


sub few_asking {
    my $nginx = start(workers => 2);
    my ($client, $asker) = client_of_one($nginx);
    my ($other) = grep { $_ != $asker } $nginx->worker_pids;

    for my $free (0 .. 6) {
        for my $query ('', "?worker=pid-$other", "?worker=self") {
            with_few($asker, $free, sub {
                is_whole_or_none($client->get("$heap$query"),
                                 "$free free$query");
            });

            my $answer = $client->get("$heap$query");

            is($answer->{status}, 200, 'enough again');
            like(partly($answer), qr{^(\d)/\1$}, 'of all');
        }
    }

    undef $client;
    is_well($nginx, 'few descriptors');
    $nginx->stop;
}


sub few_asked {
    my $nginx = start(workers => 2);
    my ($client, $asker) = client_of_one($nginx);
    my ($other) = grep { $_ != $asker } $nginx->worker_pids;
    my %statuses;

    for my $free (0 .. 4) {
        for my $query ('', "?worker=pid-$other") {
            with_few($other, $free, sub {
                my $answer = $client->get("$heap$query");

                is_whole_or_none($answer, "$free free$query");
                $statuses{ $query ? $answer->{status} : partly($answer) }++;
            });

            # the one whose question it could not take in time

            ok(wait_until(sub {
                my $answer = $client->get("$heap$query");

                return $answer->{status} == 200
                       && partly($answer) =~ m{^(\d)/\1$};
            }, 5), 'enough again');
        }
    }

    ok($statuses{200} && $statuses{504} && $statuses{503},
       'enough, none to accept by, none for the file');
    ok($statuses{'1/2'} && $statuses{'2/2'}, 'in part, or in full');

    undef $client;
    is_well($nginx, 'few descriptors');
    $nginx->stop;
}


sub numbers {
    for my $n (1, 2, 8, 64) {
        my $nginx = start(workers => $n, fake => '');

        is_well($nginx, "$n workers");

        my $labels = profile($nginx->get($heap))->{labels};

        is_deeply([ keys %{ $labels->{generation} } ],
                  [ $ENV{TEST_NGINX_USE_HUP} ? 2 : 1 ], 'of one generation');
        $nginx->stop;
    }

    my $nginx = start(master => 0, fake => '');

    for my $who ('', '?worker=all', '?worker=0', '?worker=self') {
        my $answer = $nginx->get("$heap$who");

        is($answer->{status}, 200, "without a master: $who");
        is(partly($answer), '1/1', 'one of one');
    }

    $nginx->stop;
}


sub changing {
    my $nginx = start(workers => 1, fake => '');
    my $master = $nginx->{pid};
    my $n_rounds = 10 * $soak;
    my $n_descriptors = () = descriptors($master);
    my (@dead, @memory);

    for my $round (1 .. $n_rounds) {
        for my $n (8, 1) {
            push @dead, $nginx->worker_pids;
            $nginx->reload(workers => $n);
            is_well($nginx, "$round: $n", @dead);
        }

        # the first fifth takes what is taken once

        push @memory, memory($master, 'VmRSS') if $round >= $n_rounds / 5;
    }

    ok(wait_until(sub { descriptors($master) <= $n_descriptors }, 5),
       "the master's descriptors are no more than before");

    # of few rounds it is still what is taken once

    cmp_ok($memory[-1] - $memory[0], '<=', $soak == 1 ? 2 ** 20 : 2 ** 18,
           'and its memory does not grow');
    diag("RSS of the master: $memory[0] $memory[-1]");

    $nginx->stop;
}


# A reader of one worker of the generation before, which stays for that.

sub exiting {
    my $nginx = start(workers => 2, fake => '');

    spew("$nginx->{prefix}/file", 'x' x 20e6);

    is($nginx->get("$heap?worker=exiting")->{status}, 404, 'nobody exits');

    my $slow = $nginx->client(window => 4096);

    $slow->send_request('/file');
    ok($slow->hears(30), 'a slow reader');

    my @before = $nginx->worker_pids;

    $nginx->reload(is_kept => 1);

    ok(wait_until(sub { $nginx->worker_pids == 3 }), 'one of the old is left');

    my ($old) = grep { my $pid = $_; grep { $_ == $pid } @before }
                $nginx->worker_pids;

    my $dump = grow($nginx, 1);

    $nginx->fake("dump $dump\n");

    for my $who ('exiting', "pid-$old") {
        my $answer = $nginx->get("$heap?worker=$who");

        is($answer->{status}, 200, "$who: an answer");
        is(partly($answer), '1/1', "$who: of one");
        is_deeply([ keys %{ profile($answer)->{labels}{pid} } ], [ $old ],
                  "$who: of that");
    }

    my $all = $nginx->get($heap);
    my $labels = profile($all)->{labels};
    my $generation = $ENV{TEST_NGINX_USE_HUP} ? 2 : 1;

    is(partly($all), '3/3', 'it is one of all');
    is_deeply([ sort { $a <=> $b } keys %{ $labels->{pid} } ],
              [ $nginx->worker_pids ], 'with its pid');
    is_deeply([ sort { $a <=> $b } keys %{ $labels->{generation} } ],
              [ $generation, $generation + 1 ], 'and its generation');
    like($nginx->get('/debug/pprof/status')->{body},
         qr/"pid": $old,\s+"generation": $generation,\s+"exiting": true/,
         'status says that it exits');

    $slow->break_off;
    ok(wait_until(sub { JppNginx::is_gone($old) }), 'it ends');
    $nginx->fake('');
    is_well($nginx, 'afterwards', @before);

    my $none = $nginx->get("$heap?worker=pid-$old");

    is($none->{status}, 404, 'and is not found');
    is($none->{body}, 'there is no such worker: status lists those that there '
                      . "are\n", 'which is said');
    $nginx->stop;
}


# A rate and a switch are those of workers that come later, too.

sub wanted {
    my $nginx = start(workers => 3, fake => '');
    my (@times, @later);

    for my $round (1 .. 10 * $soak) {
        my $rate = 10 + $round % 15;
        my $active = $round % 2 ? 'off' : 'on';
        my @before = $nginx->worker_pids;

        my $answer = $nginx->get(
            "/debug/pprof/control?lg_sample=$rate&active=$active",
            method => 'POST', body => '');

        is($answer->{status}, 200, "$round: it is done");
        push @times, is_wanted($nginx, $rate, $active,
                               "$round: by those there are");

        if ($round % 2) {
            $nginx->reload;

        } else {
            $nginx->signal('KILL', $before[$round % 3]);
            wait_until(sub {
                my @pids = $nginx->worker_pids;

                return @pids == 3
                       && !grep { $_ == $before[$round % 3] } @pids;
            });
        }

        push @later, is_wanted($nginx, $rate, $active,
                               "$round: and by others");
    }

    measured(sprintf 'wanted: %d rounds; the longest until it is so %.3f s, '
                     . 'and of others %.3f s', scalar @times, most(@times),
                     most(@later));

    $nginx->stop(alerts => qr/exited on signal 9|was locked by/);
}


# How long it takes until it is so.

sub is_wanted {
    my ($nginx, $rate, $active, $what) = @_;
    my $start = time();
    my $status;

    my $expected = $active eq 'on' ? 'true' : 'false';

    ok(wait_until(sub {
        $status = status($nginx);

        return @{ $status->{rates} } == 3
               && !grep({ $_ != $rate } @{ $status->{rates} })
               && !grep({ $_ ne $expected } @{ $status->{active} });
    }, 1), $what) or diag("wanted: $rate $active\n$status->{text}");

    return time() - $start;
}


# A worker takes one dump after the other: in the time of five there were no
# more than five.

sub same {
    my $hang = 0.3;
    my $nginx = start(workers => 2, fake => '');

    is($nginx->get($heap)->{status}, 200, 'before');
    $nginx->fake("hang $hang\n");

    for (1, 2) {
        my @clients = map { $nginx->client } 1 .. 20;
        my $start = time();

        $_->send_request($heap) for @clients;

        my @answers = map { $_->response } @clients;

        is(scalar(grep { $_->{status} == 200 && partly($_) eq '2/2' } @answers),
           20, 'all are answered, by all');
        cmp_ok(time() - $start, '<', 20 / 2 * $hang,
               'with fewer dumps than half of them');
    }

    $nginx->fake('');
    is_well($nginx, 'the same');
    $nginx->stop;
}


# Of those that were there all the time.

sub difference {
    my $nginx = start(workers => 3, fake => '');
    my $dump = grow($nginx, 1);

    for (1, 2) {
        my ($client, $asker) = client_of_one($nginx);
        my ($victim) = grep { $_ != $asker } $nginx->worker_pids;

        $nginx->fake('');
        $client->send_request("$heap?seconds=1");
        wait_until(sub { dumps($asker) >= 4 && threads($asker) == 1 });
        $nginx->signal('KILL', $victim);

        my ($new) = wait_until(sub {
            my @pids = $nginx->worker_pids;

            return @pids == 3 && !grep({ $_ == $victim } @pids) && $pids[-1];
        });

        $nginx->fake("dump $dump\n");

        my $answer = $client->response;
        my $profile = profile($answer);
        my %why = map { /^worker \d pid (\d+) is missing: (.*)/ ? ($1, $2) : () }
                  @{ $profile->{comments} };

        is($answer->{status}, 200, 'an answer');
        is(partly($answer), '2/4', 'of those that were there');
        is_deeply(\%why, { $victim => 'it ended in the meantime',
                           $new => 'it came in the meantime' },
                  'and the others by name');
        is_deeply([ sort keys %{ $profile->{labels}{pid} } ],
                  [ sort grep { $_ != $new } $nginx->worker_pids ],
                  'of whom nothing is told');
    }

    $nginx->fake('');
    is_well($nginx, 'a difference');
    $nginx->stop(alerts => qr/exited on signal 9|was locked by/);
}

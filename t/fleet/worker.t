#!/usr/bin/perl

# A worker ends, by a signal or by a crash, whatever it is doing: as soon as it
# would without the module; its clients hear why, another one takes its place,
# and nothing is left of it.  Also a worker without a master, and processes of
# nginx that are no workers.
#
# Not here: workers that are stopped, or short of descriptors (fleet/peer.t);
# the end by a reload (fleet/reload.t); faults inside a worker (nginx/faults.t).
#
# JPP_SOAK=1 does it ten times as often, and compares times.

use JppTest;
use JppFleet qw( asker connections fleet grow held is_well measured
                 missing wait_for );

my $soak = $ENV{JPP_SOAK} ? 10 : 1;

my $heap = '/debug/pprof/heap';

# seconds: of a question, which a busy machine has to keep where times are not
# compared, and what may be added by the report
my $timeout = $soak == 1 ? 40 : 2;
my $more = 0.5;

my $timeouts = "jemalloc_pprof_timeout ${timeout}s;";

# milliseconds that a job may still take in a worker that ends, and three times
# that for all that a worker does
my $grace = 300;
my $most_waited = 3 * $grace;

my $shutting_down = 'this worker is shutting down: ask again, another one will '
                    . "answer\n";


# A held dump would end with the test, and a pause after a minute: a worker that
# waited for either would not be gone.  Its log has how long it means to wait; a
# soak run compares times with an nginx without the module, whose connections
# are in the same state.

test 'the end of one', 'fake' => sub {
    my %states = (
        'a dump hangs' => [ "hold 1\n", $heap, 1 ],
        'a job is paused' => [ '', "$heap?seconds=60", 1 ],
        'jobs are queued' => [ "hold 1\n", $heap, 5 ],
        'a parser is slow' => [ "large 20\n", "$heap?format=jemalloc", 1 ],
    );

    for my $name (sort keys %states) {
        for my $signal ('QUIT', 'TERM') {
            my @how = ($signal, "$name and $signal", @{ $states{$name} });

            time_to_end(1, @how), next if $soak == 1;

            compare($name, map {
                my $with = $_;
                (sort { $a <=> $b } map { time_to_end($with, @how) } 1 .. 3)[1]
            } 1, 0);
        }
    }
};


# Seconds until a worker ended, with the module and without.

sub compare($what, $with, $without) {
    cmp_ok($with, '<', $without + 1,
           sprintf '%s: %.2f s, without the module %.2f s', $what, $with,
           $without);
}


sub time_to_end($with, $signal, $what, $keys, $path, $n) {
    my $is_slow = $what =~ /slow/;

    my $nginx = JppNginx->start(
        module => $with, fake => '', level => 'debug',
        server => ($with ? 'location /debug/pprof/ { jemalloc_pprof; }' : '')
                  . 'location /file { root .; }');
    my $pid = $nginx->worker;

    # now, since the master dumps when it starts

    $nginx->fake($keys);

    spew("$nginx->{prefix}/file", 'x' x 20e6);

    my @clients = map { $nginx->client(window => $is_slow ? 4096 : 0) }
                  1 .. $n;

    if ($with) {
        $_->send_request($path) for @clients;

    } elsif ($is_slow) {
        $_->send_request("/file") for @clients;

    } else {
        $_->get('/fine') for @clients;
    }

    # all requests have been read

    wait_until(sub { connections($nginx) == $n });

    ok($is_slow ? $clients[0]->hears(30)
       : !$with || wait_until(sub { held($pid) > 0 }), "$what: it has begun");

    my $start = time();

    $nginx->signal($signal);

    # QUIT waits for a parser: here half a second

    if ($is_slow && $signal eq 'QUIT') {
        sleep 0.5;
        $_->break_off for @clients;
    }

    ok(wait_until(sub { is_gone($pid) }), "$what: the worker ends");

    my $time = time() - $start;

    # a slow parser may take as long as it likes

    has_waited($nginx, $pid, $what) unless $is_slow;
    $nginx->stop(is_told => 1);

    return $time;
}


# How long PID has waited in its event loop, once it knew that it had to end:
# nginx's debug log has what each wait was to be, at most, and was.  A machine
# that is slow makes none of them longer than it was to be.

sub has_waited($nginx, $pid, $what) {
    my ($is_ending, $at_most, $sum) = (0, 0, 0);

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    for (grep { / $pid#/ } split /\n/, $nginx->error_log) {
        $is_ending ||= /: (?:gracefully shutting down|exiting)$/;
        next unless $is_ending;

        # without a timer it is as long as it takes

        $at_most = $1 < 0 ? 9 ** 9 : $1 if /: epoll timer: (-?\d+)$/;
        $sum += $1 < $at_most ? $1 : $at_most if /: timer delta: (\d+)$/;
    }

    ok($is_ending, "$what: it knows that it has to end");
    cmp_ok($sum, '<=', $most_waited, "$what: and waits no longer than that");
}


test 'what clients hear at the end', 'fake' => sub {
    for my $state ([ "hold 1\n", $heap, 5 ], [ '', "$heap?seconds=60", 5 ]) {
        my ($keys, $path, $n) = @$state;
        my $nginx = JppNginx->start(fake => '');
        my $pid = $nginx->worker;

        # now, since the master dumps when it starts

        $nginx->fake($keys);

        my @clients = $nginx->clients($n, $path);

        ok(wait_until(sub { connections($nginx) == $n && held($pid) > 0 }),
           "$path: all wait");

        # a later client is answered later

        is($nginx->get('/fine')->{status}, 200, 'all were read');
        $nginx->signal('QUIT');

        for my $client (@clients) {
            my $answer = $client->response;

            is($answer->{status}, 503, "$path: 503 at the end");
            is($answer->{body}, $shutting_down, 'its sentence');
        }

        $nginx->stop(is_told => 1);
    }
};


# The same while another worker takes part.

test 'the end of one of two', 'fake' => sub {
    my %most;

    for my $signal ('QUIT', 'TERM', 'HUP') {
        my $stock = $soak == 1 ? undef
                  : max(times_to_end($signal, 0, 'nothing', 3 * $soak));

        for my $what ('a question', 'a dump', 'a difference') {
            my $n = $soak == 1 ? 2 : 5 * $soak;
            my $most = max(times_to_end($signal, 1, $what, $n));

            $most{$signal} = max($most, $most{$signal} // 0);
            compare("$what and $signal", $most, $stock) if defined $stock;
        }
    }

    measured('ends of two: the longest '
             . join ', ', map { sprintf '%s %.2f s', $_, $most{$_} }
                          sort keys %most);
};


sub times_to_end($signal, $with, $what, $n) {
    my @how = (workers => 2, fake => '', level => 'debug');
    my $nginx = $with ? fleet($timeouts, @how)
              : JppNginx->start(@how, module => 0, server => <<'EOF');
        location = /pid { return 200 $pid; }
EOF

    my @times = map { time_to_end_of_two($nginx, $signal, $what) } 1 .. $n;

    $nginx->stop;

    return @times;
}


sub time_to_end_of_two($nginx, $signal, $what) {
    my ($asker, $client, $asked) = asker($nginx);

    if ($what eq 'a difference') {
        $client->send_request("$heap?seconds=60");
        wait_until(sub { dumps($asker) > 1 && threads($asked) == 1 });

    } elsif ($what ne 'nothing') {
        $nginx->fake("hang 60\n");
        $client->send_request("$heap?worker=pid-$asked");

        # new workers dump without a delay

        $nginx->wait_dumping($asked);
        $nginx->fake('');
    }

    my @ends = $signal eq 'HUP' ? ($asker, $asked)
             : $what eq 'a dump' ? $asked : $asker;
    my $start = time();

    $nginx->signal($signal, $signal eq 'HUP' ? $nginx->{pid} : $ends[0]);

    ok(wait_until(sub { !grep { !is_gone($_) } @ends }),
       "$what and $signal: the workers end");

    my $time = time() - $start;

    has_waited($nginx, $_, "$what and $signal") for @ends;

    # each is replaced, or the next round would have no worker

    $nginx->replaced(@ends);
    $nginx->get('/pid');

    return $time;
}


test 'one that is killed', 'fake' => sub {
    my $nginx = JppNginx->start(fake => '');

    for my $state ([ '', $heap ], [ "hang 5\n", $heap ],
                   [ '', "$heap?seconds=60" ])
    {
        my ($keys, $path) = @$state;
        my $pid = $nginx->worker;
        my $client = $nginx->client;

        $nginx->fake($keys);
        $client->send_request($path);
        wait_until(sub { held($pid) > 0 || $client->hears(0) });

        $nginx->signal('KILL', $pid);
        ok(wait_until(sub { ($nginx->worker // $pid) != $pid }),
           'there is a new worker');

        $nginx->fake('');
        is($nginx->get($heap)->{status}, 200, 'which serves profiles');
    }

    $nginx->stop(alerts => qr/exited on signal 9/);
};


# Workers are killed at random moments of a dump of 0.15 s, and every fourth
# time certainly in the middle of one.

test 'those that are killed as all are asked', 'fake' => sub {
    my $nginx = fleet($timeouts, workers => 3, fake => '');
    my $dump = grow($nginx, 1);
    my (@dead, @times, $n_named, $n_left);

    $n_named = $n_left = 0;

    for my $round (1 .. 20 * $soak) {
        my ($asker, $client, @others) = asker($nginx);
        my $victim = $round % 5 ? $others[rand @others] : $asker;
        my $is_held = $round % 4 == 0 || $round % 5 == 0;
        my $start = time();

        $nginx->fake(($is_held ? "hold 1\n" : "hang 0.15\n") . "dump $dump\n");
        $client->send_request($heap);
        $is_held ? $nginx->wait_dumping($victim) : sleep rand 0.35;
        $nginx->signal('KILL', $victim);
        push @dead, $victim;

        # new workers dump without a delay

        $nginx->fake("dump $dump\n") if $is_held;

        my $answer = $client->response;

        push @times, time() - $start;

        if ($victim == $asker) {
            is($answer->{status}, 0, "$round: no answer from the asker");
            $n_left++;

        } else {
            is($answer->{status}, 200, "$round: an answer")
                or diag($answer->{body});

            my $why = missing($answer, $round);

            $n_named++ if $why->{$victim};

            # its end is noticed before the timeout

            like($_, qr/^it (?:exited|no longer listens)/,
                 "$round: the reason") for values %$why;
        }

        ok($nginx->replaced($victim), "$round: another worker");
    }

    cmp_ok($n_named, '>', 0, 'some were killed in the middle of a dump');
    cmp_ok($n_left, '>', 0, 'and some as they asked');
    measured(sprintf 'killed: %d rounds, %d in the middle of a dump, %d as '
                     . 'they asked; the longest %.2f s',
                     scalar @times, $n_named, $n_left, max(@times));
    cmp_ok(max(@times), '<', $timeout + $more, 'all in time') if $soak > 1;

    $nginx->fake('');
    is_well($nginx, 'killed', @dead);
    $nginx->stop(alerts => qr/exited on signal 9|was locked by/);
};


test 'without a master', 'fake' => sub {
    for my $signal ('QUIT', 'TERM') {
        my $nginx = JppNginx->start(fake => '', master => 0);

        is($nginx->get("$heap?worker=all")->{status}, 200, 'a profile');

        my $client = $nginx->asking("$heap?seconds=60");

        ok(wait_for($nginx->worker, 1, 0), 'a job is paused');
        $nginx->signal($signal);
        ok(wait_until(sub { is_gone($nginx->{pid}) }),
           "$signal: it ends");
        $nginx->stop(is_told => 1);
    }
};


# They have the same descriptors as without the module.

test 'helpers of the cache', 'jemalloc' => sub {
    my %seen;

    for my $with (0, 1) {
        my $nginx = JppNginx->start(
            module => $with,
            http => 'proxy_cache_path cache keys_zone=zone:1m;');

        $nginx->get($heap) for 1 .. 3;

        for my $what ('cache manager', 'cache loader') {
            my ($pid) = wait_until(sub {
                my @pids = grep {
                    title($_) =~ /^nginx: $what process/
                } children($nginx->{pid});

                return @pids ? $pids[-1] : 0;
            });

            ok($pid, "a $what") or next;
            is(threads($pid), 1, "$what: one thread");

            push @{ $seen{$what} }, scalar grep {
                (readlink("/proc/$pid/fd/$_") // '') =~ /eventfd/
            } descriptors($pid);
        }

        $nginx->stop;
    }

    is($seen{$_}[1], $seen{$_}[0], "$_: no eventfd from the module")
        for sort keys %seen;
};

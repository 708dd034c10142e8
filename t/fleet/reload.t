#!/usr/bin/perl

# Reloads and upgrades, one at a time: old workers finish what they can and say
# so, new ones know the settings, and the master keeps nothing, and unloads the
# module where a configuration has none.
#
# Not here: reloads faster than workers come and go (fleet/reloads.t); signals
# to workers (fleet/worker.t); what is inherited from which configuration
# (nginx/origin.t).
#
# JPP_SOAK=1 does it ten times as often.

use JppTest;
use JppFleet qw( clients_of_one fleet grow held is_well measured missing
                 status wait_for );
use JppNginx qw( profile );

my $soak = $ENV{JPP_SOAK} ? 10 : 1;

my $heap = '/debug/pprof/heap';

my $shutting_down = 'this worker is shutting down: ask again, another one will '
                    . "answer\n";


# The old worker ends, the new one serves.

test 'a reload', 'fake' => sub {
    my $nginx = JppNginx->start(fake => '');

    for my $state ([ '', "$heap?seconds=60", 503 ],
                   [ "hang 60\n", $heap, 503 ],
                   [ "hang 0.3\n", $heap, 200 ],
                   [ "large 20\n", "$heap?format=jemalloc", 200 ])
    {
        my ($keys, $path, $status) = @$state;
        my $answer = over_a_reload($nginx, $keys, $path);

        # a busy machine may be slower with the rest of a short dump than a
        # worker waits for that as it exits

        for (1 .. 9) {
            last if $answer->{status} == $status || $keys !~ /hang 0\.3/;
            $answer = over_a_reload($nginx, $keys, $path);
        }

        is($answer->{status}, $status, "the old one's answer: $status");
    }
};


# The answer of the old worker, asked for PATH before the reload.

sub over_a_reload($nginx, $keys, $path) {
    my $pid = $nginx->worker;
    my $client = $nginx->client(window => 4096);

    $nginx->fake($keys);
    $client->send_request($path);

    # once the old worker is in its dump; the master, which dumps what it leaves
    # to the new ones, dumps without a delay

    ok($keys =~ /large/ ? $client->hears(30)
       : $keys =~ /hang/ ? $nginx->wait_dumping($pid)
       : wait_for($pid, 1, 0), "$path: it has begun");
    $nginx->fake('');
    $nginx->reload(is_kept => 1);
    isnt($nginx->worker, $pid, "$path: a new worker");

    is($nginx->get($heap)->{status}, 200, 'it serves profiles');

    my $answer = $client->response;

    is($answer->{body}, $shutting_down, 'the old one has the reason')
        if $answer->{status} == 503;
    ok(wait_until(sub { is_gone($pid) }), 'the old one ends');

    return $answer;
}


# The master unloads the module, with all that it holds, and loads it again.

test 'a reload without the module', 'fake', 'loaded' => sub {
    my $nginx = JppNginx->start(fake => '', level => 'notice');
    my $master = $nginx->{pid};
    my $n = () = descriptors($master);

    for my $round (1 .. 3) {
        $nginx->reload(module => 0);
        unlike(slurp("/proc/$master/maps"), qr/jemalloc_pprof_module/,
               "$round: it is unloaded");
        is($nginx->get($heap)->{status}, 404, 'no profile');
        ok(wait_until(sub { descriptors($master) <= $n }),
           'no descriptor is left');

        $nginx->reload(module => 1);
        is($nginx->get($heap)->{status}, 200, 'loaded again');
        ok(wait_until(sub { descriptors($master) <= $n }),
           'with as many descriptors as before');
    }
};


test 'a number of workers that changes', 'fake' => sub {
    my $nginx = fleet('', workers => 1, fake => '');
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

        # what is allocated once is there after a fifth

        push @memory, memory($master, 'VmRSS') if $round >= $n_rounds / 5;
    }

    ok(wait_until(sub { descriptors($master) <= $n_descriptors }),
       "the master's descriptors are no more than before");

    # after few rounds, what is allocated once may still grow

    cmp_ok($memory[-1] - $memory[0], '<=', $soak == 1 ? 2 ** 20 : 2 ** 18,
           'and its memory does not grow');
    diag("RSS of the master: $memory[0] $memory[-1]");
};


# A client that reads slowly, and the old one of two workers that stays for it.

sub left_by_a_reload($nginx) {
    my %is_old = map { $_ => 1 } $nginx->worker_pids;

    spew("$nginx->{prefix}/file", 'x' x 20e6);

    my ($slow) = $nginx->clients(1, '/file', window => 4096);

    ok($slow->hears(30), 'a slow parser');
    $nginx->reload(is_kept => 1);
    ok(wait_until(sub { $nginx->worker_pids == 3 }), 'one of the old is left');

    return ($slow, grep { $is_old{$_} } $nginx->worker_pids);
}


test 'workers that exit', 'fake' => sub {
    my $nginx = fleet('', workers => 2, fake => '');

    is($nginx->get("$heap?worker=exiting")->{status}, 404, 'no worker exits');

    my @before = $nginx->worker_pids;
    my ($slow, $old) = left_by_a_reload($nginx);
    my $dump = grow($nginx, 1);

    $nginx->fake("dump $dump\n");

    for my $who ('exiting', "pid-$old") {
        my $answer = $nginx->get("$heap?worker=$who");

        is($answer->{status}, 200, "$who: an answer");
        is(partly($answer), '1/1', "$who: of one worker");
        is_deeply([ keys %{ profile($answer)->{labels}{pid} } ], [ $old ],
                  "$who: the old one");
    }

    my $all = $nginx->get($heap);
    my $labels = profile($all)->{labels};
    my $generation = $ENV{TEST_NGINX_USE_HUP} ? 2 : 1;

    is(partly($all), '3/3', 'a profile of all has it');
    is_deeply([ sort { $a <=> $b } keys %{ $labels->{pid} } ],
              [ $nginx->worker_pids ], 'with its pid');
    is_deeply([ sort { $a <=> $b } keys %{ $labels->{generation} } ],
              [ $generation, $generation + 1 ], 'and its generation');
    like($nginx->get('/debug/pprof/status')->{body},
         qr/"pid": $old,\s+"generation": $generation,\s+"exiting": true/,
         'status says that it exits');

    $slow->break_off;
    ok(wait_until(sub { is_gone($old) }), 'it ends');
    $nginx->fake('');
    is_well($nginx, 'afterwards', @before);

    is_answer($nginx->get("$heap?worker=pid-$old"), 404,
              'no such worker: status lists all workers', 'and is unknown');
};


# A worker that had the first dump of a difference ends before the second.

test 'a difference, and a worker that ended', 'fake' => sub {
    my $nginx = fleet('', workers => 2, fake => '');
    my ($slow, $old) = left_by_a_reload($nginx);
    my ($asker, @clients) = clients_of_one($nginx, 2);

    # each difference has a dump of all three workers

    for my $i (0, 1) {
        my $from = () = $nginx->dump_log;

        $clients[$i]->send_request("$heap?seconds=8" . ('', '&strict=1')[$i]);
        ok(wait_until(sub {
            my %ended = map { $_->[0] => 1 } grep { $_->[1] eq 'ends' }
                        $nginx->dump_log($from);

            return keys %ended == 3 && held($asker) >= 3 * ($i + 1)
                   && threads($asker) == 1;
        }), 'the first dumps are there');
    }

    $slow->break_off;
    ok(wait_until(sub { is_gone($old) }), 'it ends');
    ok(!grep({ $_->hears(0) } @clients), 'while both differences wait');

    my ($answer, $strict) = map { $_->response } @clients;

    is($answer->{status}, 200, 'an answer') or diag($answer->{body});
    is(partly($answer), '2/3', 'of two of three');
    is_deeply(missing($answer, 'ended'),
              { $old => 'it exited in the meantime' }, 'the reason');
    is($strict->{status}, 503, 'strict: no difference');
    ok($strict->{body} =~ /^only 2 of 3 workers answered, and strict=1 /,
       'strict: the reason');

    is_well($nginx, 'ended');
};


# Workers that start later have the rate and the switch of all.

test 'settings outlive workers', 'fake' => sub {
    my $nginx = fleet('', workers => 3, fake => '');
    my (@times, @later);

    for my $round (1 .. 10 * $soak) {
        my $rate = 10 + $round % 15;
        my $active = $round % 2 ? 'off' : 'on';
        my @before = $nginx->worker_pids;

        my $answer = $nginx->get(
            "/debug/pprof/control?lg_sample=$rate&active=$active",
            method => 'POST', body => '');

        is($answer->{status}, 200, "$round: a change");
        push @times, is_set($nginx, $rate, $active,
                            "$round: all workers have it");

        if ($round % 2) {
            $nginx->reload;

        } else {
            $nginx->signal('KILL', $before[$round % 3]);
            $nginx->replaced($before[$round % 3]);
        }

        push @later, is_set($nginx, $rate, $active,
                            "$round: new workers have it");
    }

    cmp_ok(max(@times, @later), '<', 1, 'all within a second') if $soak > 1;
    measured(sprintf 'settings: %d rounds; the longest until all have them '
                     . '%.3f s, and new workers %.3f s', scalar @times,
                     max(@times), max(@later));

    $nginx->stop(alerts => qr/exited on signal 9|was locked by/);
};


# How long it takes until all workers have the settings.

sub is_set($nginx, $rate, $active, $what) {
    my $start = time();
    my $status;

    my $expected = $active eq 'on' ? 'true' : 'false';

    ok(wait_until(sub {
        $status = status($nginx);

        return @{ $status->{rates} } == 3
               && !grep({ $_ != $rate } @{ $status->{rates} })
               && !grep({ $_ ne $expected } @{ $status->{active} });
    }), $what) or diag("not $rate $active:\n$status->{text}");

    return time() - $start;
}


test 'a binary upgrade', 'jemalloc' => sub {
    for my $main ('env LD_PRELOAD; env MALLOC_CONF;', '') {
        my $nginx = JppNginx->start(main => $main, daemon => 1);
        my $old = $nginx->{pid};

        is($nginx->get($heap)->{status}, 200, 'before');
        $nginx->signal('USR2');

        my $file = "$nginx->{prefix}/logs/nginx.pid";
        my $new = wait_until(sub {
            my $pid = -e "$file.oldbin" && -e $file ? slurp($file) + 0 : 0;

            return $pid != $old && $pid;
        });

        ok($new, 'a new master') or return $nginx->stop;

        wait_until(sub { $nginx->worker_pids($new) > 0 });
        $nginx->signal('QUIT');
        ok(wait_until(sub { is_gone($old) }), 'the old one ends');

        $nginx->{pid} = $new;
        wait_until(sub { $nginx->get('/fine')->{status} == 200 });

        my $answer = $nginx->get($heap);

        if ($main) {
            is($answer->{status}, 200, 'with env there are profiles');

        } elsif (is_linked()) {
            is_answer($answer, 403,
                      qr/^the profiling of jemalloc \S+ is off: /,
                      'without env jemalloc has no options');

        } else {
            is_answer($answer, 501,
                      qr/^the malloc of this nginx is not jemalloc's: /,
                      'without env there is no jemalloc');
        }

        like($answer->{body},
             qr/^ +env LD_PRELOAD; env MALLOC_CONF;$/m, 'and has the fix')
            unless $main;

        $nginx->stop;
    }
};

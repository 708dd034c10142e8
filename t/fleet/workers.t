#!/usr/bin/perl

# All workers together: their number, how many are asked at a time, how many of
# their dumps fit, and differences between workers that come and go.
#
# Not here: a worker that does not answer (fleet/peer.t) or ends
# (fleet/worker.t).

use JppTest;
use JppFleet qw( clients_of_one fleet grow is_well missing status );
use JppNginx qw( profile );

my $heap = '/debug/pprof/heap';


test 'numbers of workers', 'fake' => sub {
    for my $n (1, 2, 8, 64) {
        my $nginx = fleet('', workers => $n, fake => '');

        is_well($nginx, "$n workers");

        my $labels = profile($nginx->get($heap))->{labels};

        is_deeply([ keys %{ $labels->{generation} } ],
                  [ $ENV{TEST_NGINX_USE_HUP} ? 2 : 1 ], 'of one generation');
        $nginx->stop;
    }

    my $nginx = fleet('', master => 0, fake => '');

    for my $who ('', '?worker=all', '?worker=0', '?worker=self') {
        my $answer = $nginx->get("$heap$who");

        is($answer->{status}, 200, "without a master: $who");
        is(partly($answer), '1/1', 'one of one');
    }
};


# Around a reload, old and new workers are there at the same time.

test 'many workers, before and after a reload', 'fake', 'memory' => sub {
    my $port = free_port();
    my $n = 140;
    my $nginx = fleet('', workers => $n, fake => '',
                      http => "server { listen 127.0.0.1:$port reuseport; "
                              . 'location / { jemalloc_pprof; } }');

    $nginx->reload;
    is($nginx->worker_pids, $n, 'as many as before');

    # memory that was inherited belongs to no worker

    my $dump = $nginx->get("$heap?format=jemalloc&worker=self")->{body};

    $dump =~ s/\b1: 16777216\b/2: 33554432/g;
    $nginx->fake('dump ' . spew("$nginx->{prefix}/dump", $dump) . "\n");

    my $answer = $nginx->get($heap);

    is($answer->{status}, 200, 'an answer') or diag($answer->{body});
    is(partly($answer), "$n/$n", 'of all workers');
    is_deeply([ sort { $a <=> $b } keys %{ profile($answer)->{labels}{pid} } ],
              [ $nginx->worker_pids ], 'each with its pid');

    my $status = status($nginx->client);

    is("@{ $status->{counts} }", "$n $n", 'status: all workers');
    is_deeply([ sort { $a <=> $b } @{ $status->{pids} } ],
              [ $nginx->worker_pids ], 'status: each with its pid');

    # with reuseport each has a socket, and the kernel chooses one

    my %selves;

    for (1 .. 300) {
        my $self = JppClient->new(port => $port)->get('/heap?worker=self',
                                                           close => 1);

        $selves{ "$self->{status} " . partly($self) }++;
    }

    is_deeply(\%selves, { '200 1/1' => 300 }, 'worker=self works in each');

    unlike($nginx->error_log, qr/table of workers is full/,
           'the table has room for all of them');
};


# A worker asks two workers at a time, however many requests it serves.

test 'no more than two questions at a time', 'fake' => sub {
    my $nginx = fleet('', workers => 6, fake => '');
    my @selectors = ((map { "?worker=$_" } 0 .. 5), '', '?worker=self');
    my ($asker, @clients) = clients_of_one($nginx, scalar @selectors);
    my ($n, $most) = (0, 0);

    is($clients[0]->get($heap)->{status}, 200, 'before');
    $nginx->fake("hang 0.1\n");

    my $before = () = $nginx->dump_log;

    for my $i (0 .. $#clients) {
        $clients[$i]->send_request("$heap$selectors[$i]");
    }

    my @answers = map { $_->response } @clients;

    for ($nginx->dump_log($before)) {
        $n += $_->[1] eq 'begins' ? 1 : -1;
        $most = max($most, $n);
    }

    is($n, 0, 'each dump that begins ends');
    is($most, 2, 'two dumps at a time, and never more');

    for my $i (0 .. $#answers) {
        is($answers[$i]{status}, 200, "an answer to $selectors[$i]")
            or diag($answers[$i]{body});
        like(partly($answers[$i]), qr{^(\d)/\1$}, 'of all that were asked');
    }

    $nginx->fake('');
    is_well($nginx, 'two at a time');
};


# The answer has as many dumps as fit; it names the other workers, and none
# ends.

test 'dumps that do not fit', 'fake' => sub {
    my $nginx = fleet('jemalloc_pprof_max_size 1200k;', workers => 6,
                      fake => '');
    my @pids = $nginx->worker_pids;
    my $total = 4 * 1200 * 1024;
    my ($asker, $client) = clients_of_one($nginx, 1);

    $nginx->fake("large 1\n");

    for my $round (1 .. 3) {
        my $answer = $client->get($heap);
        my ($n) = partly($answer) =~ m{^(\d)/6$};

        is($answer->{status}, 200, "$round: an answer")
            or diag($answer->{body});
        cmp_ok($n // 0, '>=', 3, "$round: of some workers");
        cmp_ok(($n // 6) * 1e6, '<', $total, "$round: no more than fit");

        my $why = missing($answer, $round);

        like($why->{$_}, qr/exceeds the memory .*: raise jemalloc_pprof_max_/,
             "$round: the reason for the others") for keys %$why;
    }

    ok($client->get("$heap?format=top&cols=1000")->{body}
       =~ /^worker \d+ pid \d+ is missing: .*exceeds the memory /m,
       'top says so as well');
    is($client->get("$heap?strict=1")->{status}, 503, 'strict: no profile');
    is($client->get("$heap?worker=$_")->{status}, 200,
       "worker $_ alone fits")
        for 0 .. 5;

    my $difference = $client->get("$heap?seconds=1");

    is($difference->{status}, 200, 'a difference')
        or diag($difference->{body});

    my $why = missing($difference, 'a difference');

    like($why->{$_}, qr/exceeds the memory|did not answer the first time/,
         'a difference: the reason') for keys %$why;

    is_deeply([ $nginx->worker_pids ], \@pids, 'no worker ended');
    $nginx->fake('');
    is_well($nginx, 'too many');
};


# A difference needs twice as many dumps as a profile, and each comes with the
# baseline, which is the same for all.

test 'a difference of dumps that just fit', 'fake' => sub {
    for ([ '1200k', '' ], [ '1500k', "large 1\n" ]) {
        my ($max_size, $inherited) = @$_;
        my $nginx = fleet("jemalloc_pprof_max_size $max_size;", workers => 4,
                          fake => $inherited);
        my $total = 4 * 1024 * $max_size =~ s/k//r;

        $nginx->fake("large 1\n");

        my @sizes = map {
            length $nginx->get("$heap?format=jemalloc&worker=$_")->{body}
        } 0 .. 3;
        my $size = $sizes[0] + $sizes[1] + $sizes[2] + $sizes[3];

        cmp_ok($size, '>', 0.6 * $total, "$max_size: large dumps");
        cmp_ok($size, '<', 0.95 * $total, "$max_size: which just fit");

        for my $query ('', '?seconds=1', '?seconds=1&strict=1') {
            my $answer = $nginx->get("$heap$query");

            is($answer->{status}, 200, "$query: an answer")
                or diag($answer->{body});
            is(partly($answer), '4/4', "$query: of all workers");
        }

        $nginx->fake('');
        is_well($nginx, 'just fit');
        $nginx->stop;
    }
};


# A difference is of the workers that were there all the time.

test 'a difference', 'fake' => sub {
    my $nginx = fleet('', workers => 3, fake => '');
    my $dump = grow($nginx, 1);

    for (1, 2) {
        my ($asker, $client) = clients_of_one($nginx, 1);
        my @before = $nginx->worker_pids;
        my ($victim) = grep { $_ != $asker } @before;

        $nginx->fake('');
        $client->send_request("$heap?seconds=5");
        ok(wait_until(sub { dumps($asker) >= 4 && threads($asker) == 1 }),
           'the first were taken');
        $nginx->signal('KILL', $victim);

        my ($new) = wait_until(sub {
            my @pids = $nginx->worker_pids;

            return @pids == 3 && !grep({ $_ == $victim } @pids)
                   && $nginx->worker;
        });

        $nginx->fake("dump $dump\n");

        my $answer = $client->response;
        my $profile = profile($answer);
        my %why = map {
            /^worker \d pid (\d+) is missing: (.*)/ ? ($1, $2) : ()
        } @{ $profile->{comments} };

        is($answer->{status}, 200, 'an answer');
        is(partly($answer), '2/4', 'of those that were there');
        is_deeply(\%why, { $victim => 'it exited in the meantime',
                           $new => 'it was started in the meantime' },
                  'it names the others');
        is_deeply([ sort keys %{ $profile->{labels}{pid} } ],
                  [ sort grep { $_ != $new } $nginx->worker_pids ],
                  'and has no samples of theirs');
    }

    $nginx->fake('');
    is_well($nginx, 'a difference');
    $nginx->stop(alerts => qr/exited on signal 9|was locked by/);
};

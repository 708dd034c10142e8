#!/usr/bin/perl

# The resource pools of workers that have no client, that have no connection
# left, and that have been walked through very often.
#
# Not here: what a walk finds (pools/pools.t), or meets (pools/ends.t,
# pools/slices.t).
#
# JPP_SOAK=1 has ten thousand walks.

use JppTest;

my $pools = '/debug/pprof/pools';
my $walks = $ENV{JPP_SOAK} ? 10_000 : 500;

my $slow = <<'CONF';
    location = /slow { limit_rate 1; return 200 "0123456789abcdef\n"; }
    location /debug/pprof/ { jemalloc_pprof; }
CONF


# What PID holds, by frames, and its total.

sub held($client, $pid, $type = undef) {
    my $query = "worker=pid-$pid&type=" . ($type // 'inuse_space');
    my $answer = $client->get("$pools?format=folded&$query");
    my %held;

    is($answer->{status}, 200, "pools of $pid") or diag($answer->{body});
    $answer->{body} =~ s/^(.*) (\d+)$/$held{$1} += $2/gem;

    return \%held;
}


sub total($client, $pid) {
    my $top = $client->get("$pools?format=top&cols=1000&worker=pid-$pid")
              ->{body};

    return $top =~ /^total (\d+) bytes in 1 worker/m ? $1 : undef;
}


test 'no connection is used', 'jemalloc' => sub {
    my $nginx = JppNginx->start(workers => 2, conf => 'prof:false');
    my $client = $nginx->client;
    my ($pid) = $nginx->workers_of($client);
    my $held = held($client, $pid);

    is(join(' ', grep { /^(?:http|upstream|stream|mail|connection of)/ }
                 keys %$held), '', 'nobody is there');
    is(sum0(values %$held), total($client, $pid), 'all, to the byte');

    for my $by (qw( request connection )) {
        my $list = $client->get("/debug/pprof/requests?by=$by"
                                . "&worker=pid-$pid&format=json");

        is_deeply(decode_json($list->{body})->{rows}, [],
                  "requests, by $by: none");
        like($client->get("/debug/pprof/requests?by=$by&worker=pid-$pid")
             ->{body}, qr{^workers 1/1$}m, 'says so in a table');
    }
};


# A worker that has no connection left cannot ask itself, and says so.  Others
# wait until one of its clients leaves.

test 'all connections are used', 'jemalloc' => sub {
    my $nginx = JppNginx->start(workers => 2, conf => 'prof:false',
                                connections => 64, server => $slow);
    my $client = $nginx->client;
    my ($other, $pid) = $nginx->workers_of($client);
    my @clients;

    $nginx->signal('STOP', $other);

    # nginx closes those that wait for a request when it needs one

    $client->write("GET $pools?worker=pid-$pid HTTP/1.1\r\n"
                   . "Host: localhost\r\n");

    ok(wait_until(sub {
        my $slow = $nginx->asking('/slow');

        $slow->read_some(0.1);
        push @clients, $slow;

        return $nginx->error_log =~ /alert.* worker_connections are not/;
    }), 'there is none left');

    push @{ $client->{methods} }, 'GET';
    $client->write("\r\n");

    my $answer = $client->response;

    is_answer($answer, 503,
              'no free connection to query it (raise worker_connections)',
              'it cannot ask');

    # none of the clients that come now gets to the worker that is full

    kill 'CONT', $other;
    $nginx->signal('STOP', $pid);

    my $asking = $nginx->client;

    is(join(' ', ($nginx->workers_of($asking))[1]), $other, 'another worker');
    kill 'CONT', $pid;

    $asking->send_request("$pools?format=folded&worker=pid-$pid");
    $asking->read_some(1);
    is($asking->{buffer}, '', 'waits for an answer');

    splice @clients, 0, 8;
    $answer = $asking->response;

    is($answer->{status}, 200, 'which comes when some clients have left')
        or diag($answer->{body});

    my ($bytes) = $answer->{body}
                  =~ m{;location /slow;request;pool blocks (\d+)$}m;

    cmp_ok($bytes // 0, '>=', 40 * 4096, 'with what the others hold');

    # until all eight have left

    ok(wait_until(sub {
        my $now = $asking->get("$pools?format=folded&worker=pid-$pid")->{body};

        return sum0($now =~ / (\d+)$/mg) == total($asking, $pid);
    }), 'to the byte');

    undef @clients;
    $nginx->stop(alerts => qr/worker_connections are not enough/);
};


# One worker is walked through and does nothing else: it takes nothing from
# malloc(), and gives back what it maps.
#
# The other one makes profiles of that, for which it has a thread each time.
# glibc keeps the stack of one that has ended, and what it takes from malloc()
# for its variables: for two of them, if one has not quite ended as the next
# begins.

test 'many walks', 'jemalloc' => sub {
    my $nginx = JppNginx->start(workers => 2, conf => 'prof:false',
                                level => 'error', http => 'access_log off;');
    my $client = $nginx->client;
    my @pids = $nginx->workers_of($client);
    my @measures;

    for my $n ($walks / 10, $walks) {
        my $n_wrong = 0;

        for (1 .. $n) {
            my $answer = $client->get("$pools?format=folded"
                                      . "&worker=pid-$pids[0]");

            $n_wrong++ if $answer->{status} != 200;
        }

        is($n_wrong, 0, "$n walks");
        push @measures, [ map { measure($client, $_) } @pids ];
    }

    my ($before, $after) = map { $_->[0] } @measures;

    # what an answer was made in goes after it; the first measure may have it

    wait_until(sub {
        $after = measure($client, $pids[0]);

        return $after->{mappings} <= $before->{mappings}
               && $after->{anonymous} - $before->{anonymous} <= 16;
    }, 5);

    is($after->{total}, $before->{total}, 'not a byte from malloc()');
    cmp_ok($after->{mappings}, '<=', $before->{mappings},
           'no mapping is left');
    cmp_ok($after->{anonymous} - $before->{anonymous}, '<=', 16,
           'nor any page: kB');

    cmp_ok($measures[1][1]{total} - $measures[0][1]{total}, '<=', 2048,
           'of whoever asked, a thread or two');
};


# What jemalloc counts, and the kernel; of a worker that does nothing.

sub measure($client, $pid) {
    my $smaps = slurp("/proc/$pid/smaps");

    return { total => total($client, $pid), mappings => mappings($pid),
             anonymous => sum0($smaps =~ /^Anonymous: +(\d+)/mg) };
}

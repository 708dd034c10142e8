#!/usr/bin/perl

# The resource pools while workers end: those of a former configuration, which
# live until their last client has left, and those that are killed.
#
# Not here: what a walk finds (pools/pools.t).

use JppTest;

my $pools = '/debug/pprof/pools';

my $server = <<'EOF';
    location = /slow { limit_rate 1; return 200 "0123456789abcdef\n"; }
    location /debug/pprof/ { jemalloc_pprof; }
EOF


test 'a worker of a former configuration', 'jemalloc' => sub {
    my $nginx = JppNginx->start(server => $server);
    my $client = JppClient->new(port => $nginx->{port});

    is($nginx->get("$pools?worker=exiting")->{status}, 404, 'there is none');

    $client->send_request('/slow');
    ok(wait_until(sub { $client->read_some(0.1); length $client->{buffer} }),
       'a client begins to read');

    $nginx->reload(is_kept => 1, server => $server =~ s/slow/other/r);

    my $old = $nginx->get("$pools?format=folded&worker=exiting");

    is($old->{status}, 200, 'the old one answers');
    is($old->{headers}{'jemalloc-pprof-workers'}, '1/1', 'alone');
    like($old->{body}, qr{;location /slow;request;pool blocks [1-9]},
         'and has the client');

    my $all = $nginx->get("$pools?format=folded");

    is($all->{headers}{'jemalloc-pprof-workers'}, '2/2', 'both answer');
    like($all->{body}, qr{;location /slow;request;}, 'as well');

    my $new = $nginx->get("$pools?format=folded&worker=0");

    unlike($new->{body}, qr{/slow}, 'the new one has not');
};


# An answer, or a sentence; and whoever comes after them answers.

test 'workers that are killed', 'jemalloc' => sub {
    my $nginx = JppNginx->start(workers => 2, server => $server);
    my @clients = map { JppClient->new(port => $nginx->{port}) } 1 .. 60;
    my %statuses;

    $_->get('/fine') for @clients;

    for my $round (1 .. 10) {
        my @asking = $nginx->clients(3, "$pools?format=folded", close => 1);

        my $killed = ($nginx->worker_pids)[$round % 2];

        kill 'KILL', $killed;
        $statuses{ $_->response->{status} }++ for @asking;

        # it may be listed for a while

        $nginx->replaced($killed);
    }

    # 0: the one that was asked was killed

    is(join(' ', grep { !/^(?:0|200|503|504)$/ } keys %statuses), '',
       'no odd status') or diag(explain(\%statuses));

    my $answer;

    ok(wait_until(sub {
        $answer = $nginx->get("$pools?format=folded");
        ($answer->{headers}{'jemalloc-pprof-workers'} // '') eq '2/2';
    }), 'all answer again');
    like($answer->{body}, qr/^connection slots;free [1-9]/m, 'with pools');

    $nginx->stop(alerts => qr/exited on signal 9/);
};


# Equal questions share a walk, others wait their turn; clients may leave.

test 'many that ask', 'jemalloc' => sub {
    my $nginx = JppNginx->start(server => $server);
    my @asking = $nginx->clients(20, "$pools?format=folded", close => 1);
    splice @asking, 0, 10;

    my @answers = map { $_->response } @asking;

    is(scalar(grep { $_->{status} == 200 } @answers), 10, 'all are answered');
    is($nginx->get($pools)->{status}, 200, 'and the next');
};

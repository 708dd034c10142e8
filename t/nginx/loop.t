#!/usr/bin/perl

# What answers about memory leaves to the event loop: nothing that the kernel
# takes its time for, and nothing that waits for a dump or a report.  And who
# looks at the memory of all, unasked.
#
# Not here: what the answers say (nginx/metrics.t, nginx/memory.t,
# page/console.t), what findings say (nginx/findings.t), how long any of it
# takes (bench/metrics).

use JppTest;

my @pages = map { "/debug/pprof/$_" } '', 'status', 'memory', 'metrics';


# What a page is written from is read in the thread, and so is what the kernel
# says of the worker that is asked: the worker serves.

for (
    [ 'a kernel that is slow', '/proc/meminfo', grep { !/status/ } @pages ],
    [ 'a worker that is slow to count itself', '/proc/self/fd', @pages ],
) {
    my ($what, $file, @slow) = @$_;

    test $what, 'fake' => sub { is_slow($file, @slow) };
}


sub is_slow($file, @slow) {
    my $nginx = JppNginx->start(fake => '');

    for my $page (@slow) {
        my ($one, $other) = map { $nginx->client } 1 .. 2;

        $nginx->fake("wait $file\n");
        $one->send_request($page);

        ok(wait_until(sub { threads($nginx->worker) > 1 }), "$page waits");
        is($other->get('/fine')->{body}, "fine\n", 'while others are served');

        $nginx->fake('');

        my $answer = $one->response;

        is($answer->{status}, 200, 'it is answered in the end');
        like($answer->{body}, qr/^nginx_worker_open_fds\{worker="0"\} \d+$/m,
             'with what was counted')
            if $page =~ /metrics/;
    }
}


# One worker looks at all every five seconds.

test 'a look at all', 'fake' => sub {
    my $nginx = JppNginx->start(fake => "wait /proc/meminfo\n");

    ok(wait_until(sub { threads($nginx->worker) > 1 }), 'it looks');
    is($nginx->get('/fine')->{body}, "fine\n", 'and serves');

    $nginx->fake('');

    ok(wait_until(sub { threads($nginx->worker) == 1 }), 'it has looked');

    # and exits while it looks

    $nginx->fake("wait /proc/meminfo\n");

    ok(wait_until(sub { threads($nginx->worker) > 1 }, 30), 'it looks again');
};


test 'a dump that hangs', 'fake' => sub {
    my $nginx = JppNginx->start(fake => '');
    my $client = $nginx->client;
    my $pid = $nginx->worker;

    $nginx->fake("hold 1\n");
    $client->send_request('/debug/pprof/heap');
    $nginx->wait_dumping($pid);

    is($nginx->get($_)->{status}, 200, "$_ does not wait for it") for @pages;

    $nginx->fake('');
    is($client->response->{status}, 200, 'the dump is answered');
};


# A page is written without one, too.  RLIMIT_NPROC holds for users other than
# root.

test 'no thread', sub { $> == 0 } => sub {
    my $nginx = JppNginx->start;
    my $pid = $nginx->worker;
    my $was = limit($pid, 'nproc', 0);

    for my $page (@pages) {
        my $answer = $nginx->get($page);

        is($answer->{status}, 200, "$page without a thread");
    }

    is($nginx->get('/debug/pprof/heap')->{status}, 503, 'but no profile');

    limit($pid, 'nproc', $was);
};


test 'a client that leaves', 'fake' => sub {
    my $nginx = JppNginx->start(fake => '');
    my $pid = $nginx->worker;

    for my $page (grep { !/status/ } @pages) {
        my $client = $nginx->client;

        $nginx->fake("wait /proc/meminfo\n");
        $client->send_request($page);

        ok(wait_until(sub { threads($pid) > 1 }), "$page is written");

        $client->leave;
        is($nginx->get('/fine')->{body}, "fine\n", 'its client has left');
        $nginx->fake('');

        ok(wait_until(sub { threads($pid) == 1 }), 'the thread ends');
        is($nginx->get($page)->{status}, 200, 'the next one is answered');
    }

    is($nginx->worker, $pid, 'the worker lives');
};


# The next in line sees that a worker was killed, and who takes its place looks
# from then on.

test 'who looks is killed' => sub {
    my $nginx = JppNginx->start(workers => 2);
    my ($first) = grep { $_->{worker} == 0 } workers($nginx);

    # nobody asks: a question would clear the row, too

    kill 'KILL', $first->{pid};

    ok(wait_until(sub {
        return $nginx->error_log =~ /finding oom-kill: /;
    }, 30), 'it is logged');

    my ($next) = grep { $_->{worker} == 0 } workers($nginx);

    isnt($next->{pid}, $first->{pid}, 'another one is there');

    kill 'KILL', $next->{pid};

    ok(wait_until(sub {
        my $memory = $nginx->json('/debug/pprof/memory');

        return $memory->{unclean_exits} == 2;
    }, 30), 'it is counted');

    $nginx->stop(alerts => qr/exited on signal 9/);
};


sub workers($nginx) {
    return @{ $nginx->json('/debug/pprof/memory')
              ->{workers} };
}

#!/usr/bin/perl

# The history of workers: how much memory each held since it started, through
# reloads and kills, and that it costs no worker its exit.
#
# Not here: how points merge (t/unit), what findings make of them
# (nginx/findings.t).

use JppTest;

my $mib = 1024 * 1024;


sub workers($nginx) {
    return $nginx->json('/debug/pprof/memory')->{workers};
}


test 'points' => sub {
    my $nginx = JppNginx->start(workers => 2);
    my @workers = @{ workers($nginx) };

    for my $worker (@workers) {
        my $history = $worker->{history};
        my ($allocated, $rss) = @{ $history->{points}[0] // [ 0, 0 ] };

        is($history->{interval}, 5, 'seconds of a point');
        cmp_ok(scalar @{ $history->{points} }, '>=', 1, 'the first is there');
        cmp_ok($rss, '>', $mib, 'with what the kernel counts');
        cmp_ok($allocated, '>', 100000, 'and what jemalloc does')
            if has_jemalloc();
    }

    my $n = @{ $workers[0]{history}{points} };

    ok(wait_until(sub {
        @{ workers($nginx)->[0]{history}{points} } > $n;
    }, 30), 'another one follows');

    # of its successor, which begins anew

    my ($pid) = map { $_->{pid} } @workers;

    kill 'KILL', $pid;

    ok(wait_until(sub {
        my @now = sort { $a->{worker} <=> $b->{worker} } @{ workers($nginx) };
        my ($new, $old) = map { $_->{history} } @now;

        # both have a point more every five seconds

        return @now == 2 && $now[0]{pid} != $pid && defined $new
               && @{ $new->{points} } < @{ $old->{points} };
    }), 'who takes the place of a killed worker has a history of its own');

    $nginx->stop(alerts => qr/exited on signal 9/);
};


test 'a single process' => sub {
    my $nginx = JppNginx->start(master => 0);

    ok(scalar @{ workers($nginx)->[0]{history}{points} }, 'its first point');
};


# A timer that is not cancelable would keep it for ever: each sets the next.

test 'a worker that exits' => sub {
    my $nginx = JppNginx->start;
    my ($pid) = $nginx->worker_pids;

    $nginx->reload;

    ok(wait_until(sub { !kill 0, $pid }), 'a worker exits');
    is(scalar @{ workers($nginx) }, 1, 'one is left');
};


# Neither a timer nor a zone.

test 'nothing is served' => sub {
    my $nginx = JppNginx->start(server => 'location /here { return 204; }');
    my ($pid) = $nginx->worker_pids;
    my $before = 0;

    # it has begun to wait

    wait_until(sub {
        my $last = $before;

        sleep 1;
        $before = switches($pid);

        return $before == $last;
    });

    sleep 6;

    is(switches($pid), $before, 'a worker without a location sleeps');
};


sub switches($pid) {
    return (slurp("/proc/$pid/status")
            =~ /^voluntary_ctxt_switches:\s+(\d+)/m)[0];
}


test 'no jemalloc', sub { !is_linked() } => sub {
    my $nginx = JppNginx->start(preload => [], conf => '');
    my ($allocated, $rss) = @{ workers($nginx)->[0]{history}{points}[0] };

    is($allocated, undef, 'what is not known is null');
    cmp_ok($rss, '>', $mib, 'what the kernel counts is there');
};

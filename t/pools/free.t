#!/usr/bin/perl

# A walk through the pools of a worker with many slots for connections, few of
# which are used, and by connections without a descriptor: timers of Lua that
# run.  Whether a slot is free is no reason to look at all others.
#
# Not here: how long a slice is (bench/pools.sh).

use JppTest;

my $timers = 200;


# Each slice looks at sixteen things at least, however slow the machine is.

test 'timers of Lua', 'jemalloc', 'lua' => sub {
    my $nginx = JppNginx->start(
        connections => 200_000, main => lua_modules(),
        server => 'location /debug/pprof/ { jemalloc_pprof; }',
        http => <<"CONF");
lua_max_running_timers 512;
lua_max_pending_timers 512;
init_worker_by_lua_block {
    for i = 1, $timers do
        ngx.timer.at(0, function ()
            while not ngx.worker.exiting() do ngx.sleep(0.3) end
        end)
    end
}
CONF
    my ($seen, $slices);

    ok(wait_until(sub {
        my $top = $nginx->get('/debug/pprof/pools?format=top&cols=1000')
                  ->{body};

        ($seen, $slices) =
            $top =~ /(\d+) connections, seen in (\d+) slices/;

        return ($seen // 0) >= $timers;
    }), 'its connections are seen');

    cmp_ok($slices, '<', $timers / 2, 'in few slices');
};

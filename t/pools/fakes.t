#!/usr/bin/perl

# Fake connections: without a descriptor, for code that runs for nobody's
# request.  Modules leave some behind whose pool is gone, as Lua does in
# init_worker.  No walk follows those; a timer that runs is seen; and what was
# left out is said.
#
# Not here: modules that give theirs back (pools/modules.t).

use JppTest;
use JppPools qw( below held sums );

my $rounds = $ENV{JPP_SOAK} ? 2000 : 20;

# all that walks
my @walks = map { "/debug/pprof/$_" } qw(
    pools?format=top requests?by=connection requests?by=request
    locations memory?format=top memory?detail=ledger
);

my $lua = lua_modules();
my $lua_pools = 'connection of ngx_http_lua_module;pool blocks';
my $fakes = modules("$build/t/ngx_http_fakes_module.so");

# a request that is never answered
my $deaf = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 512)
    or die "listen: $!";
my $deaf_port = $deaf->sockport;


# Asks all that walks, and returns what a profile of pools says.  What was freed
# is junk, where jemalloc is there to do that.

sub start {
    return JppNginx->start(conf => 'prof:false,junk:true', level => 'error',
                           @_);
}


sub walk($nginx) {
    my %statuses;

    for (1 .. $rounds) {
        $statuses{"$_: " . $nginx->get($_)->{status}}++ for @walks;
    }

    is_deeply(\%statuses, { map { ("$_: 200" => $rounds) } @walks },
              'all that walks answers');
}


sub left_out($nginx, $n) {
    my $said = "connections left out: $n.  They have no descriptor, and no "
               . 'timer proves that their memory is still there '
               . '(init_worker_by_lua leaves one behind in each worker)';

    like($nginx->get('/debug/pprof/pools?format=top&cols=1000')->{body},
         qr/^\Q$said\E$/m,
         "$n were left out, says a profile");
    like($nginx->get('/debug/pprof/requests?by=connection&cols=1000')->{body},
         qr/^\Q$said\E$/m, 'and a table of connections');
    like($nginx->get('/debug/pprof/requests?format=json')->{body},
         qr/"unproven": $n,/, 'and JSON');
}


sub ends($nginx, $pids) {
    is(join(' ', $nginx->worker_pids), $pids, 'nobody has ended');
    is($nginx->alerts, 0, 'no alerts');
    $nginx->stop;
}


test 'a module that leaves them behind', sub { $fakes ne '' } => sub {
    my $nginx = start(main => $fakes, http => 'fakes;');
    my $pids = join ' ', $nginx->worker_pids;

    walk($nginx);
    left_out($nginx, 11);

    my $held = held($nginx);

    # three pools of 128, 128 and 1024 bytes; in the first two log and request
    # are too large for the pool

    is(below($held, 'connection of ngx_http_fakes_module;pool blocks'),
       128 + 128 + 1024, 'those that a timer proves are there');

    if (has_jemalloc()) {
        my ($sum, $total) = sums($nginx);

        is($sum, $total, 'all, to the byte');
    }

    ends($nginx, $pids);
};


# Nothing takes the memory that was freed.

test 'Lua in init_worker, and nothing else', 'lua' => sub {
    my $nginx = start(main => $lua, http => 'init_worker_by_lua_block { }');
    my $pids = join ' ', $nginx->worker_pids;

    walk($nginx);
    left_out($nginx, 1);
    ends($nginx, $pids);
};


# UDP's is counted with the timer, and not again.

test 'a socket with the pool of its timer', 'lua' => sub {
    my $deaf = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Proto => 'udp')
        or die "socket: $!";
    my $port = $deaf->sockport;

    my $nginx = start(main => $lua, http => <<"EOF");
        init_worker_by_lua_block {
            ngx.timer.at(0, function()
                local socket = ngx.socket.udp()
                socket:settimeout(100)
                socket:setpeername("127.0.0.1", $port)
                repeat socket:receive() until ngx.worker.exiting()
            end)
        }
EOF

    my $pids = join ' ', $nginx->worker_pids;

    ok(wait_until(sub { below(held($nginx), $lua_pools) != 0 }),
       'a timer that waits is there');

    my @rows = $nginx->get('/debug/pprof/requests?by=connection&cols=1000')
               ->{body} =~ /^.*connection of .*ngx_http_lua_module/mg;

    is(scalar @rows, 1, 'once');

    ends($nginx, $pids);
};


# A timer that sleeps, one that waits for a socket, and one after the other that
# ends; and requests meanwhile, which have timers of their own.

test 'Lua in init_worker', 'lua' => sub {
    my $nginx = start(
        main => $lua,
        http => <<"EOF",
            lua_max_running_timers 64;
            init_worker_by_lua_block {
                -- a worker does not exit while a timer runs
                ngx.timer.at(0, function()
                    repeat ngx.sleep(0.1) until ngx.worker.exiting()
                end)
                ngx.timer.at(0, function()
                    local socket = ngx.socket.tcp()
                    socket:settimeout(100)
                    socket:connect("127.0.0.1", $deaf_port)
                    repeat socket:receive() until ngx.worker.exiting()
                end)
                ngx.timer.every(0.001, function() ngx.sleep(0.001) end)
            }
EOF
        server => <<'EOF');
            location = /timer {
                content_by_lua_block {
                    ngx.timer.at(0, function() ngx.sleep(0.01) end)
                    ngx.say("fine")
                }
            }
            location /debug/pprof/ { jemalloc_pprof; }
EOF

    my $pids = join ' ', $nginx->worker_pids;
    ok(wait_until(sub { below(held($nginx), $lua_pools) >= 256 }),
       'timers that wait are there');

    my %statuses;

    for (1 .. $rounds) {
        $statuses{$nginx->get('/timer')->{status}}++;
        $nginx->get($_) for @walks[ rand @walks ];
    }

    is_deeply(\%statuses, { 200 => $rounds }, 'requests have timers, too');

    walk($nginx);

    # a timer that ends just now is not proven, either

    ok(wait_until(sub {
        $nginx->get('/debug/pprof/pools?format=top&cols=1000')->{body}
            =~ /^connections left out: 1\./m
    }), 'what init_worker has left behind was left out');

    ends($nginx, $pids);
};

#!/usr/bin/perl

# The heap of LuaJIT in a worker: what was planted is found under its path, to
# the byte of what LuaJIT counts; the copy of the worker that is walked ends
# with it, and where there can be no copy, the response says why.
#
# Not here: sizes and names of objects (t/unit/jpp_lua_test.c), copies by
# themselves (t/unit/jpp_copy_test.c).

use JppTest;

my $pprof = 'location /debug/pprof/ { jemalloc_pprof; }';

my $planted = <<'CONF';
lua_package_path "$prefix/?.lua;;";
init_by_lua_block {
    collectgarbage('stop')

    local cache = {}
    package.loaded['session.cache'] = { strings = cache }
    for i = 1, 20000 do
        cache[i] = ('%06d'):format(i) .. ('x'):rep(200)
    end

    local seen = {}
    package.loaded.app = { get = function () return seen end, fns = {} }
    for i = 1, 2000 do seen['k' .. i] = { i } end
    for i = 1, 1000 do
        local own = {}
        package.loaded.app.fns[i] = function () return own end
    end

    local ffi = require 'ffi'
    package.loaded.app.cdata = {}
    for i = 1, 1000 do
        package.loaded.app.cdata[i] = ffi.new('char[?]', 500)
    end
}
CONF

my $server = <<"CONF";
$pprof
location = /count { content_by_lua_block {
    ngx.say(collectgarbage('count') * 1024)
} }
location = /hold { content_by_lua_block {
    local held = {}
    for i = 1, 3000 do held[i] = { i, name = i } end
    ngx.say('held') ngx.flush(true)
    ngx.sleep(600)
    ngx.say(#held)
} }
CONF


# Not sampled: in the master, jemalloc would unwind Lua's stacks itself.

sub start(%how) {
    return JppNginx->start(main => lua_modules(), http => $planted,
                           server => $server, conf => '', %how);
}


# Bytes by path, the type last; or objects.

sub heap($nginx, $type = 'inuse_space') {
    my $answer = $nginx->get("/debug/pprof/lua?format=folded&type=$type");

    is($answer->{status}, 200, 'the heap');

    return map { /^(.*) (-?\d+)$/ ? ($1 => $2) : () }
           split /\n/, $answer->{body};
}


sub lua_of($nginx) {
    return $nginx->json('/debug/pprof/status')->{workers}[0]{lua};
}


test 'what was planted', 'lua' => sub {
    my $nginx = start();
    my %heap = heap($nginx);
    my $lua = lua_of($nginx);

    is($lua->{layout}, 'learned', 'the layout');
    is($lua->{reason}, undef, 'without a reason');
    is($lua->{stream}, undef, 'there is none of stream');
    is($lua->{locations_without_code_cache}, 0, 'all code is kept');
    is(sum(values %heap), $lua->{http}, 'the sum is what LuaJIT counts');

    my $count = $nginx->get('/count')->{body};

    cmp_ok(abs($count - $lua->{http}), '<', 65536,
           "as it says itself: $count");

    my %least = (
        '["session.cache"];.strings;strings' => 20000 * 225,
        '.app;.get;^seen;[*];tables' => 2000 * 64,
        '.app;.fns;[*];functions' => 1000 * 48,
        '.app;.fns;[*];^own;tables' => 1000 * 64,
        '.app;.cdata;cdata' => 1000 * 500,
    );

    for (sort keys %least) {
        my $has = $heap{"http;package.loaded;$_"} // 0;

        ok($has >= $least{$_} && $has < 1.5 * $least{$_}, "$_ has $has");
    }

    my ($first) = sort { $heap{$b} <=> $heap{$a} } keys %heap;

    is($first, 'http;package.loaded;["session.cache"];.strings;strings',
       'the largest');
    cmp_ok($heap{'http;(VM);state'}, '<', 0.1 * $lua->{http},
           'little is the VM itself');

    my %objects = heap($nginx, 'inuse_objects');

    is($objects{$first}, 20000, 'so many strings');

    my $metrics = $nginx->get('/debug/pprof/metrics')->{body};

    like($metrics, qr/^nginx_worker_lua_bytes\{worker="0",vm="http"\} \d{7}$/m,
         'metrics have it');
    unlike($metrics, qr/vm="stream"/, 'and no other VM');

    my $memory = $nginx->json('/debug/pprof/memory');

    is($memory->{workers}[0]{lua}{layout}, 'learned', 'memory has it, too');

    like($nginx->get('/debug/pprof/memory?format=top&cols=200')->{body},
         qr/not malloc's: LuaJIT's VMs have \d\.\d MiB$/m, 'the ledger');

    # all formats

    my $top = $nginx->get('/debug/pprof/lua?format=top&cols=200')->{body};

    like($top, qr/strings +http; package.loaded; \["session.cache"\]; (?#
                  )\.strings$/m, 'a table for a terminal');
    like($top, qr/^the heap of LuaJIT: \d+ bytes in 1 VM, 99\.\d+ % of them (?#
                  )in \d+ objects that were found$/m, 'what was found');
    like($top, qr/^walked in a copy of the worker within [\d.]+ m?s; the (?#
                  )worker stood still for [\d.]+ \wm?s to be copied$/m, 'how');

    like(contract($nginx->get('/debug/pprof/lua')->{body}),
         qr/\btype\b.*\bstrings\b/s, 'a profile with types as labels');
    like($nginx->get('/debug/pprof/lua?format=svg')->{body},
         qr/session\.cache/, 'a picture');
    is($nginx->get('/debug/pprof/lua?format=html')->{status}, 200, 'a page');

    # it has neither owners of another kind, nor what was inherited

    is_answer($nginx->get('/debug/pprof/lua?by=location'), 400,
              qr/leave by out/, 'no location');
    is_answer($nginx->get('/debug/pprof/lua?origin=worker'), 400,
              qr/leave it out/, 'no origin');
};


test 'a coroutine of a request', 'lua' => sub {
    my $nginx = start();
    my $client = $nginx->client;

    $client->send_request('/hold');
    ok(wait_until(sub {
        my %heap = heap($nginx);
        my ($held) = grep { /^http;registry;.*;\(stack\);.*tables$/ }
                     keys %heap;

        return $held && $heap{$held} >= 3000 * 64;
    }), 'what it holds is in its stack');
};


test 'several workers, and a difference', 'lua' => sub {
    my $nginx = start(workers => 2);
    my $answer = $nginx->get('/debug/pprof/lua?format=top');

    is(partly($answer), '2/2', 'both answer');
    like($answer->{body}, qr/bytes in 2 VMs/, 'and have a VM each');

    $answer = $nginx->get('/debug/pprof/lua?worker=0&strict=1&format=top');
    is(partly($answer), '1/1', 'one of them');

    $answer = $nginx->get('/debug/pprof/lua?seconds=1&format=folded');
    is($answer->{status}, 200, 'a difference');
    unlike($answer->{body}, qr/session/, 'has nothing that stays');
};


# A copy is stopped, so that it lives as long as the test needs.

sub copy_of($pid, $code) {
    for (1 .. 200) {
        $code->();

        for (1 .. 200) {
            my ($copy) = children($pid);

            if ($copy && kill 'STOP', $copy) {
                return $copy if wait_until(sub {
                    (eval { slurp("/proc/$copy/stat") } // ') Z') =~ /\) [TtZ]/
                }) && -e "/proc/$copy/maps" && is_alive($copy);
            }

            sleep 0.001;
        }
    }

    die "no copy was seen\n";
}


test 'a copy that lives', 'lua' => sub {
    my $nginx = start();
    my ($pid) = $nginx->worker_pids;
    my $client = $nginx->client;
    my $copy = copy_of($pid, sub {
        $client = $nginx->client;
        $client->send_request('/debug/pprof/lua');
    });

    is($nginx->get('/fine')->{body}, "fine\n", 'the worker goes on');
    is_answer($nginx->get('/debug/pprof/lua?max_stop=51'), 429,
              qr/the heap of LuaJIT is being walked in this worker: try again/,
              'one at a time');
    like(slurp("/proc/$copy/status"), qr/^SigBlk:\tfffffffe7ffbfeff$/m,
         'it has all signals blocked');

    kill 'KILL', $copy;

    my $answer = $client->response;

    is($answer->{status}, 503, 'it is killed');
    like($answer->{body}, qr/the child process failed at .*: it was killed: (?#
         )the machine or the cgroup has too little memory/, 'which is said');
    is($nginx->get('/debug/pprof/lua')->{status}, 200, 'the next one is not');

    $copy = copy_of($pid, sub {
        $client = $nginx->client;
        $client->send_request('/debug/pprof/lua');
    });

    kill 'KILL', $pid;

    ok(wait_until(sub { !is_alive($copy) }), 'a copy ends with its worker');
    ok(wait_until(sub { (($nginx->worker_pids)[0] // $pid) != $pid }),
       'another worker');
    is(lua_of($nginx)->{layout}, 'learned', 'knows the layout');

    $nginx->stop(alerts => qr/worker process \d+ exited on signal 9/);
};


test 'no copy', 'lua' => sub {
    my $nginx = start();
    my ($pid) = $nginx->worker_pids;

    SKIP: {
        skip 'root has no limit', 1 if !is_root();

        my $was = limit($pid, 'nproc', 0);

        is_answer($nginx->get('/debug/pprof/lua'), 503,
                  qr/cannot copy this process, because it may have no more (?#
                     )processes \(raise pids\.max, TasksMax= or RLIMIT_NPROC\)/,
                  'no process more');
        is($nginx->get('/fine')->{body}, "fine\n", 'the worker goes on');
        limit($pid, 'nproc', $was);
    }

    $nginx->get('/debug/pprof/status');
    is_answer($nginx->get('/debug/pprof/lua?max_stop=0'), 400,
              qr/max_stop must be a whole number of milliseconds/,
              'a stop of nothing');
    is($nginx->get('/debug/pprof/lua')->{status}, 200, 'all is well again');
};


test 'a large worker', 'lua' => sub {
    my $nginx = start(http => 'init_by_lua_block { kept = {} '
                              . 'for i = 1, 300 do '
                              . 'kept[i] = ("x"):rep(400000 + i) end }');

    is_answer($nginx->get('/debug/pprof/lua?max_stop=1ms'), 400,
              qr/to copy this worker, which has 1\d\d\.\d MiB of anonymous (?#
                 )memory, stops it for about \d+ ms, and max_stop allows 1: (?#
                 )allow more with max_stop=\d+/, 'stops for longer');

    my %heap = heap($nginx);

    cmp_ok($heap{'http;_G;.kept;[*];strings'}
           // $heap{'http;_G;.kept;[1];strings'} // 0, '>=', 400000,
           'and is walked');
};


test 'no Lua' => sub {
    my $nginx = JppNginx->start(server => $pprof);
    my $lua = lua_of($nginx);

    is($lua->{layout}, undef, 'nothing is learned');
    is($lua->{reason}, 'nginx has no Lua module', 'and why');
    is($lua->{http}, undef, 'no VM');
    is_answer($nginx->get('/debug/pprof/lua'), 501,
              qr/the heap of LuaJIT cannot be read: nginx has no Lua module/,
              'nothing to walk');
    is($nginx->ask('HEAD', '/debug/pprof/lua')->{status}, 501,
       'nor for HEAD');
};


test 'a VM for each request', 'lua' => sub {
    my $nginx = start(
        level => 'warn', server => "$pprof\n"
        . 'location = /a { lua_code_cache off; content_by_lua_block {'
        . ' ngx.say(1) } }' . "\n"
        . 'location = /b { lua_code_cache off; content_by_lua_block {'
        . ' ngx.say(2) } }');

    is($nginx->get('/a')->{body}, "1\n", 'a request');
    is(lua_of($nginx)->{locations_without_code_cache}, 2,
       'two locations are told');
    $nginx->stop(alerts => qr/lua_code_cache is off/);
};


# The VM of a configuration that has gone is not read any more.

test 'reloads', 'lua' => sub {
    my $nginx = start();

    for (1 .. 3) {
        $nginx->reload;

        my %heap = heap($nginx);

        cmp_ok($heap{'http;package.loaded;["session.cache"];.strings;strings'}
               // 0, '>=', 20000 * 225, "the heap after reload $_");
    }
};


test 'a single process', 'lua' => sub {
    my $nginx = start(master => 0);
    my %heap = heap($nginx);

    is(sum(values %heap), lua_of($nginx)->{http}, 'has a heap, too');
};

#!/usr/bin/perl

# memory: the numbers of all workers and of the kernel, as JSON; and findings,
# each in an nginx that has something of the kind.
#
# Not here: the numbers at which each rule begins to hold (t/unit), metrics
# (nginx/metrics.t).

use JppTest;

my $tree = 'location /debug/pprof/ { jemalloc_pprof control=on; }';

# Debian's modules; elsewhere these subtests are left out
my $load_lua = lua_modules();
my $has_lua = sub { $load_lua ne '' && !is_linked() };

my $mib = 1024 * 1024;


sub ask($nginx) { return $nginx->json('/debug/pprof/memory') }


# The finding ID, or undef.

sub finding($nginx, $id) {
    return (grep { $_->{id} eq $id } @{ ask($nginx)->{findings} })[0];
}


test 'the answer' => sub {
    my $nginx = JppNginx->start(workers => 2, server => $tree);
    my $answer = $nginx->get('/debug/pprof/memory');

    is($answer->{status}, 200, 'memory');
    is($answer->{headers}{'content-type'}, 'application/json', 'its type');

    my $memory = decode_json($answer->{body});
    my @workers = @{ $memory->{workers} };

    is_deeply([ map { $_->{worker} } @workers ], [ 0, 1 ], 'two workers');
    is_deeply([ grep { $_->{id} !~ /^(?:stalls|pressure)$/ }
                @{ $memory->{findings} } ], [],
              'with nothing to say about them, but for a busy machine');
    is_deeply($memory->{missing}, [], 'none is missing');

    my ($total) = slurp('/proc/meminfo') =~ /^MemTotal:\s+(\d+) kB/m;

    is($memory->{system}{total}, $total * 1024, 'the machine');

    for my $worker (@workers) {
        my $jemalloc = $worker->{jemalloc};

        cmp_ok($jemalloc->{allocated}, '<=', $jemalloc->{active}, 'allocated');
        cmp_ok($jemalloc->{active}, '<=', $jemalloc->{resident}, 'active');
        cmp_ok($worker->{process}{rss_anon}, '<=', $worker->{process}{rss},
               'anonymous');
        cmp_ok($worker->{nginx}{connections_used}, '<',
               $worker->{nginx}{connections}, 'connections');
    }

    my @anon = map { $_->{process}{rss_anon} } @workers;

    is($memory->{total}{rss_anon}, $anon[0] + $anon[1],
       'what is of each is added up');
    cmp_ok($memory->{total}{rss_file_once}, '<',
           $workers[0]{process}{rss_file} + $workers[1]{process}{rss_file},
           'what they share is not');

    is_deeply([ map { $_->{name} } @{ $memory->{zones} } ],
              [ 'jemalloc_pprof', 'jemalloc_pprof_snapshots' ], 'the zones');

    # either the cgroup or the reason

    isnt(defined $memory->{cgroup},
         defined $memory->{unavailable}{cgroup}, 'the cgroup');

    is(scalar @{ $nginx->json('/debug/pprof/memory?worker=1')->{workers} }, 1,
       'one worker alone');
};


test 'a worker that was killed' => sub {
    my $nginx = JppNginx->start(server => $tree);
    my ($pid) = $nginx->worker_pids;

    is(finding($nginx, 'oom-kill'), undef, 'all is well');

    kill 'KILL', $pid;

    ok(wait_until(sub {
        my @pids = $nginx->worker_pids;

        return @pids == 1 && $pids[0] != $pid
               && defined finding($nginx, 'oom-kill');
    }), 'a worker has vanished');

    my $finding = finding($nginx, 'oom-kill');

    ok($finding->{critical}, 'which is critical');
    like($finding->{because},
         qr/^at 20\S+Z worker \d \(pid $pid\b.*; since nginx started, 1 of/,
         'one');
    like($finding->{since}, qr/^20\S+Z$/, 'since when');
    is($finding->{severity}, 'Critical', 'how severe it is');
    is($finding->{acknowledged}, undef, 'nobody knows it');
    like($finding->{fix}, qr/exited on signal 9/, 'where to look');

    $nginx->stop(alerts => qr/exited on signal 9/);
};


# Eight pages; each key takes some of them.

test 'a zone that is full' => sub {
    my $nginx = JppNginx->start(
        http => 'limit_req_zone $arg_key zone=keys:32k rate=1000r/s;',
        server => "$tree location /key { limit_req zone=keys burst=1000;
                                         empty_gif; }");

    is(finding($nginx, 'zone-full'), undef, 'an empty zone');

    my $client = $nginx->client;

    $client->get("/key?key=$_" . 'x' x 60) for 1 .. 300;

    my $finding = finding($nginx, 'zone-full');

    like($finding->{because} // 'none',
         qr/^zone keys has [\d.]+ K?i?B of 32\.0 KiB left in whole pages/,
         'a full one');

    my ($zone) = grep { $_->{name} eq 'keys' } @{ ask($nginx)->{zones} };
    my ($slot) = grep { $_->{used} > 10 } @{ $zone->{slots} };

    is_deeply([ map { $_->{size} } @{ $zone->{slots} } ],
              [ map { 8 << $_ } keys @{ $zone->{slots} } ], 'its slots');
    cmp_ok($slot->{failures}, '>', 0, 'that of the keys has refused some');
    cmp_ok($slot->{used}, '<=', $slot->{total}, 'and has places for the rest');
    is(sum(map { $_->{used} * $_->{size} } @{ $zone->{slots} }),
       $zone->{used_in_slots}, 'all slots have what the zone has');
    is(sum(map { $_->{failures} } @{ $zone->{slots} }), $zone->{failures},
       'and what it refused');
    like($nginx->get('/debug/pprof/memory?format=top&cols=1000')->{body},
         qr/^32\.0 KiB +[\d.]+ KiB +$zone->{failures}  keys .*(?#
           )\b$slot->{used} of $slot->{total} x $slot->{size} B/m,
         'and as a table');
};


# A request's body of 100 MiB, which is freed; and a purge that returns as much
# as the finding says, but for a fifth.

test 'memory that jemalloc keeps', 'jemalloc' => sub {
    my $nginx = JppNginx->start(
        conf => 'prof:true,lg_prof_sample:19,dirty_decay_ms:-1,'
                . 'muzzy_decay_ms:0',
        server => "$tree location /body {
                       client_max_body_size 200m;
                       client_body_buffer_size 128m;
                       proxy_pass http://127.0.0.1:1; }");
    my ($pid) = $nginx->worker_pids;

    is(finding($nginx, 'retained'), undef, 'nothing is kept');

    $nginx->get('/body', body => 'x' x (100 * $mib));

    ok(wait_until(sub { defined finding($nginx, 'retained') }, 20),
       'what a request had is kept');

    my $finding = finding($nginx, 'retained') // { because => '' };

    like($finding->{because},
         qr/^[\d.]+ MiB of [\d.]+ MiB are free: a purge returns at most /,
         'it says how much');

    my ($says) = $finding->{because} =~ /^([\d.]+) MiB/;
    my $before = rss_anon($pid);

    is($nginx->get('/debug/pprof/control', body => 'purge=1')->{status}, 200,
       'a purge');

    ok(wait_until(sub {
        abs(($before - rss_anon($pid)) / $mib - $says) < $says / 5;
    }), "returns about $says MiB")
        or diag('it was ' . ($before - rss_anon($pid)) / $mib);

    is(finding($nginx, 'retained'), undef, 'nothing is kept any more');

    $nginx->stop(alerts => qr/connect\(\) failed/);
};


sub rss_anon($pid) {
    my ($kb) = slurp("/proc/$pid/status") =~ /^RssAnon:\s+(\d+) kB/m;

    return $kb * 1024;
}


# A table of 100 MB: LuaJIT maps its memory itself.

test 'memory of Lua', 'jemalloc', $has_lua => sub {
    my $nginx = JppNginx->start(
        main => $load_lua,
        conf => 'prof:true,prof_active:false',
        server => "$tree location /grow { content_by_lua_block {
            leak = {}
            for i = 1, 100 do
                leak[i] = string.rep(tostring(i), 512 * 1024)
            end
            ngx.say(#leak) } }");

    is(finding($nginx, 'outside'), undef, 'nothing of the kind');
    is($nginx->get('/grow')->{body}, "100\n", 'a table grows');

    my $finding = finding($nginx, 'outside');

    if (ok(defined $finding, 'which is found')) {
        like($finding->{because}, qr/^[\d.]+ MiB of 1\d\d\.\d MiB are (?#
                                    )LuaJIT's heap, most of it in worker 0 /,
             'how much it is, and what holds it');
        is($finding->{owner}, "LuaJIT's heap", 'by its name');
        like($finding->{fix}, qr/^lua\?format=top/, 'how to see it in Lua');
    }
};


# A computation of more than a second.

test 'an event loop that is kept', $has_lua => sub {
    my $nginx = JppNginx->start(
        main => $load_lua,
        server => "$tree location /work { content_by_lua_block {
            local start = os.clock()
            while os.clock() - start < 1.3 do end
            ngx.say('done') } }");

    unlike((finding($nginx, 'stalls') // {})->{because} // '',
           qr{^location /work }, 'nothing keeps it');
    is($nginx->get('/work')->{body}, "done\n", 'a computation');

    my $loop = ask($nginx)->{workers}[0]{nginx}{loop};

    cmp_ok($loop->{last_minute_max_ms}, '>=', 1000, 'it took a second');
    cmp_ok($loop->{last_minute_slow_ms}, '>=', $loop->{last_minute_max_ms},
           'of the last minute');

    like(finding($nginx, 'stalls')->{because} // 'none',
         qr{^location /work of \S+ \S+ \(nginx\.conf:\d+\) kept worker 0 (?#
           )\(pid \d+\) for [\d.]+ s, computing in }, 'which is found');
};


test 'no jemalloc', sub { !is_linked() } => sub {
    my $nginx = JppNginx->start(preload => [], conf => '', server => $tree);
    my $memory = ask($nginx);

    is($memory->{workers}[0]{jemalloc}, undef, 'nothing of jemalloc');
    cmp_ok($memory->{workers}[0]{process}{rss_anon}, '>', 0,
           'but of the process');
    is($memory->{total}{allocated}, undef, 'no sum of nothing');
};


# Resources, and a command that shows processes of others, too.

test 'what fixes name', 'jemalloc' => sub {
    my $nginx = JppNginx->start(server => $tree);
    my $code = slurp("$root/src/core/diagnosis/jpp_findings.c")
               =~ s/"\n\s+"//gr;
    my @resources = $code =~ /\b((?:heap|memory|pools|requests)\?[\w=&-]+)/g;
    my ($ps) = $code =~ /\((ps [^()]+)\)/;
    my ($pid) = $nginx->worker_pids;

    cmp_ok(scalar @resources, '>=', 4, scalar @resources . ' resources');

    for my $resource (@resources) {
        $resource =~ s/worker=(?:pid-)?$/worker=pid-$pid/;
        $resource =~ s/worker=exiting/worker=self/;
        $resource =~ s/seconds=\d+/seconds=1/;

        is($nginx->get("/debug/pprof/$resource")->{status}, 200, $resource);
    }

    like(`$ps`, qr/^\S+ +$pid .* worker process$/m, "$ps lists a worker");
};


# Each finding has a section with its threshold, its evidence and a fix, and a
# unit.

test 'the documentation' => sub {
    my $docs = slurp("$root/docs/findings.md");
    my $code = slurp("$root/src/core/fleet/jpp_fleet.h");

    my @ids = $code =~ /^    X\(JPP_FINDING_\w+, "([a-z-]+)"\)/mg;
    my @documented = $docs =~ /^## ([a-z-]+)$/mg;

    cmp_ok(scalar @ids, '>=', 12, scalar @ids . ' findings');
    is_deeply(\@documented, \@ids, 'are all there, in their order');

    my $units = join '', map { slurp($_) }
                             glob("$root/t/unit/jpp_finding*_test.c");

    for my $id (@ids) {
        my $name = uc($id) =~ tr/-/_/r;

        like($units, qr/\bJPP_FINDING_$name\b|"$id"/, "$id has a unit");

        my ($section) = $docs =~ /^## $id\n(.*?)(?=^## |\z)/ms;

        like(join(' ', ($section // '') =~ /^- \*\*(\w+)\*\*: /mg),
             qr/^Threshold Evidence Fix(?: Example)?$/, "the section of $id");
    }
};

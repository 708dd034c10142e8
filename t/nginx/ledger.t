#!/usr/bin/perl

# memory, on request: the ledger of each worker, whose rows are all of its
# memory; the same as a table; smaps_rollup; arenas.  The examples are those of
# docs/memory.md.
#
# Not here: the arithmetic of rows (t/unit), findings and the rest of memory
# (nginx/memory.t), how near the rows come in seven states (bench/ledger.pl).

use JppTest;

my $tree = 'location /debug/pprof/ { jemalloc_pprof control=on; }';
my $memory = '/debug/pprof/memory';

# Debian's modules; elsewhere these subtests are left out
my $load_lua = lua_modules();
my $has_lua = sub { $load_lua ne '' && !is_linked() };

my $mib = 1024 * 1024;


sub ask($nginx, $args) {
    return $nginx->json("$memory?$args");
}


# The ledger of the first worker.

sub first($nginx, $args = undef) {
    return ask($nginx, 'detail=ledger&' . ($args // ''))->{workers}[0]{ledger};
}


# The row of WHAT with NAME in LEDGER.

sub row($ledger, $what, $name = undef) {
    return (grep { $_->{what} eq $what && ($_->{name} // '') =~ ($name // qr//)
            } @{ $ledger->{rows} })[0] // { bytes => 0, how => 'none' };
}


# The location of an example of the documentation, and the row that it says is
# the one that tells.  Nobody listens where it passes requests to.

sub example($name) {
    my $docs = slurp("$root/docs/memory.md");
    my ($text) = $docs =~ /^### \Q$name\E\n(.*?)^##/ms
        or die "docs/memory.md has no example \"$name\"\n";
    my (undef, $conf) = $text =~ /^( *)(location .*?^\1\}\n)/ms;
    my ($what) = $text =~ /^\|[^|]+\|[^|]+\| (?:exact|bound) \| (.*) \|$/m;

    return ($conf =~ s/:8081;/:1;/r, $what);
}


test 'a ledger' => sub {
    my $nginx = JppNginx->start(workers => 2, server => $tree);
    my $all = ask($nginx, 'detail=ledger');
    my @ledgers = map { $_->{ledger} } @{ $all->{workers} };

    for my $ledger (@ledgers) {
        is(sum0(map { $_->{bytes} } @{ $ledger->{rows} }), $ledger->{pss},
           'the rows are all of Pss');
        is(sum0(map { $_->{anonymous} ? $_->{bytes} : 0 }
                @{ $ledger->{rows} }), $ledger->{anonymous},
           'those that are anonymous are all of that');
        cmp_ok(row($ledger, 'unknown')->{bytes}, '<', $ledger->{pss} / 50,
               'hardly anything is unknown');
        is($ledger->{mappings_without_pages}, 0, 'all pages are known');
        is((grep { $_->{how} !~ /^(?:exact|bound|estimate)$/ }
            @{ $ledger->{rows} }), 0, 'how well each is known');

        for my $what ('connection slots', 'configuration',
                      "this module's maps")
        {
            cmp_ok(row($ledger, $what)->{bytes}, '>', 0, $what);
        }

        cmp_ok(row($ledger, 'file', qr/nginx$/)->{bytes}, '>', 0, 'nginx');
        cmp_ok(row($ledger, 'file', qr/libc\.so\.6$/)->{bytes}, '>', 0,
               'the C library');
        cmp_ok(row($ledger, 'zone', qr/^jemalloc_pprof$/)->{bytes}, '>', 0,
               'the zone of the module');
        cmp_ok($ledger->{beside}{sockets}, '>', 1, 'sockets are counted');
    }

    my $total = $all->{total}{ledger};

    is($total->{workers}, 2, 'their sum');
    is($total->{pss}, $ledgers[0]{pss} + $ledgers[1]{pss}, 'is of both');
    is(sum0(map { $_->{bytes} } @{ $total->{rows} }), $total->{pss},
       'and its rows are all of it');
    is_deeply($all->{unavailable}{'ledger'}, undef, 'nothing is missing');

    # less what the ledger takes while it is made; others share libraries

    ok(wait_until(sub {
        my $worker = ask($nginx, 'detail=ledger')->{workers}[0];
        my ($kb) = slurp("/proc/$worker->{pid}/smaps_rollup")
                   =~ /^Pss:\s+(\d+) kB/m;
        my $own = row($worker->{ledger}, "this module's maps")->{bytes};

        return abs($worker->{ledger}{pss} - $own - 1024 * $kb) < 1.5 * $mib;
    }), 'the kernel says the same');
};


# In blocks that are found: what of them is in memory is a part of what jemalloc
# has set aside, and is exact while two processes share the rest.

test 'where jemalloc keeps its metadata', 'jemalloc' => sub {
    my $nginx = JppNginx->start(server => $tree);
    my ($worker, $row);

    ok(wait_until(sub {
        $worker = ask($nginx, 'detail=ledger')->{workers}[0];
        $row = row($worker->{ledger}, "jemalloc's metadata");
        return $row->{how} eq 'exact';
    }), 'it is found, and exact');

    cmp_ok($row->{bytes}, '>', 100_000, 'it is there');
    cmp_ok($row->{bytes}, '<', $worker->{jemalloc}{metadata},
           'less than jemalloc has set aside');
};


# A ledger reads smaps, which has more than 100 kB; memory alone does not.

test 'what was asked for, and no more' => sub {
    my $nginx = JppNginx->start(server => $tree);
    my $pid = $nginx->worker;
    my $plain = ask($nginx, '');

    ok(!exists $plain->{workers}[0]{ledger}, 'no ledger unless asked for');
    ok(!exists $plain->{total}{ledger}, 'nor a sum');

    # the worker may look at all meanwhile, every five seconds

    my $read = sub($args) {
        my $before = chars_read($pid);

        ask($nginx, $args);

        return chars_read($pid) - $before;
    };

    cmp_ok(min(map { $read->('') } 1 .. 3), '<', 40_000, 'memory reads little');
    cmp_ok($read->('detail=ledger'), '>', 40_000, 'a ledger more');

    my $some = ask($nginx, 'fields=zones,findings');

    is_deeply([ sort grep { ref $some->{$_} } keys %$some ],
              [ qw(findings verdict zones) ], 'the fields asked for');

    for my $bad ([ 'detail=x', 'detail must be ledger, smaps or arenas' ],
                 [ 'format=x', 'format must be json or top' ],
                 [ 'format=top&detail=smaps',
                   'format=top shows the ledger only: leave format out for '
                   . 'detail=smaps and detail=arenas, which are JSON' ])
    {
        is_answer($nginx->get("$memory?$bad->[0]"), 400, $bad->[1], $bad->[0]);
    }
};


sub chars_read($pid) {
    return slurp("/proc/$pid/io") =~ /^rchar: (\d+)/m ? $1 : 0;
}


# An upload that has hardly begun has set aside 8 MiB, and touched no more than
# came.

test 'a buffer that is not touched' => sub {
    my ($conf, $what) = example('Slow uploads');
    my $nginx = JppNginx->start(server => "$tree $conf");
    my @clients = map { $nginx->upload('/up', 8 * $mib, 'x' x 20_000) } 1 .. 4;

    my $row;

    ok(wait_until(sub {
        $row = row(first($nginx), $what);
        return ($row->{held} // 0) > 32 * $mib;
    }), 'four uploads have set aside 32 MiB');

    cmp_ok($row->{bytes}, '<', $mib, 'and touched little of that');
    cmp_ok($row->{bytes}, '>', 80_000, 'but what came');
    is($row->{how}, 'exact', 'which is exact');
};


# A table of 60 MB: LuaJIT maps its memory itself.

test 'memory of Lua', 'jemalloc', $has_lua => sub {
    my ($conf, $what) = example('A table in Lua');
    my $nginx = JppNginx->start(
        main => $load_lua, conf => 'prof:true,prof_active:false',
        server => "$tree $conf");
    my $before = row(first($nginx), $what)->{bytes};

    is($nginx->get('/grow')->{body}, "60\n", 'a table grows');

    my $ledger = first($nginx);
    my $row = row($ledger, $what);

    cmp_ok($row->{bytes} - $before, '>', 60 * $mib, 'its row has it');
    is($row->{how}, 'exact', 'which is exact');
    is($ledger->{rows}[0]{what}, $what, 'and is the first');
    cmp_ok(row($ledger, 'code made at run time')->{bytes}, '>', 0,
           'code of LuaJIT');
};


# A row has the pages that somebody has touched.

test 'a zone' => sub {
    my ($conf, $what) = example('A zone that fills');
    my $nginx = JppNginx->start(
        http => 'limit_req_zone $arg_key zone=keys:16m rate=1000r/s;
                 limit_req_zone $arg_key zone=other:16m rate=1000r/s;',
        server => "$tree $conf");
    my $before = row(first($nginx), 'zone', qr/^keys$/)->{bytes};

    is($what, 'zone keys', 'as in the documentation');

    my $client = $nginx->client;

    $client->get("/key?key=$_" . 'x' x 900) for 1 .. 1500;

    my $ledger = first($nginx);

    cmp_ok(row($ledger, 'zone', qr/^keys$/)->{bytes} - $before, '>', $mib,
           'a zone fills');
    cmp_ok(row($ledger, 'zone', qr/^other$/)->{bytes}, '<', $mib / 2,
           'another does not');
};


test 'what a burst leaves', 'jemalloc' => sub {
    my ($conf, $what) = example('Freed memory after a burst');
    my $nginx = JppNginx->start(
        conf => 'prof:true,lg_prof_sample:19,dirty_decay_ms:-1,'
                . 'muzzy_decay_ms:0',
        server => "$tree $conf");

    $nginx->get('/body', body => 'x' x (60 * $mib));

    my ($ledger, $row);

    ok(wait_until(sub {
        $ledger = first($nginx);
        $row = row($ledger, $what);
        return $row->{bytes} > 55 * $mib;
    }), 'what a request had is dirty pages');

    is($ledger->{rows}[0]{what}, $what, 'which are the first');
    cmp_ok($row->{least} // $row->{bytes}, '>', 50 * $mib,
           'at least so much is certain');
    cmp_ok(row($ledger, 'requests')->{bytes}, '<', $mib,
           'no request has it any more');

    $nginx->stop(alerts => qr/connect\(\) failed/);
};


test 'a table' => sub {
    my $nginx = JppNginx->start(workers => 2, server => $tree);
    my $answer = $nginx->get("$memory?format=top&cols=1000");

    is($answer->{status}, 200, 'a table');
    like($answer->{headers}{'content-type'}, qr{^text/plain}, 'its type');
    like($answer->{body}, qr/\AHealthy: .*\n\nmemory of \S+ at \S+Z\n/,
         'how it is, of what, and when');
    like($answer->{body}, qr/^worker +pid .* connections\n0 .*\n1 /m,
         'two workers');
    like($answer->{body},
         qr/^the ledger of 2 workers: .* of Pss, which counts a (?#
         )page shared by four processes as a quarter in each$/m,
         'their ledger');
    like($answer->{body}, qr/^ *bytes +% +set aside +known +what$/m,
         'its columns');
    like($answer->{body},
         qr/^[ ]*[\d.]+[ ][KM]iB[ ]+[\d.]+[ ]+[\d.]+[ ][KM]iB[ ]+
            (?:exact|bound|estimate)[ ]+connection[ ]slots$/mx,
         'a row');
    like($answer->{body}, qr/^in the kernel, in addition: page tables /m,
         'and what is in no row');
    like($answer->{body}, qr{^workers 2/2$}m, 'all of them');
};


# The text of the kernel.

test 'smaps_rollup' => sub {
    my $nginx = JppNginx->start(workers => 2, server => $tree);
    my $workers = ask($nginx, 'detail=smaps')->{workers};

    is(scalar @$workers, 2, 'of two workers');

    for my $worker (@$workers) {
        my $text = slurp("/proc/$worker->{pid}/smaps_rollup");

        is($worker->{smaps} =~ s/ +\d+ kB/ N kB/gr,
           $text =~ s/ +\d+ kB/ N kB/gr, 'the lines of the kernel');
        cmp_ok(abs(kb($worker->{smaps}, 'Rss') - kb($text, 'Rss')), '<',
               3 * 1024, 'its Rss');
    }
};


sub kb($text, $field) {
    return $text =~ /^$field:\s+(\d+) kB$/m ? $1 : -1;
}


test 'arenas', 'jemalloc' => sub {
    my $nginx = JppNginx->start(workers => 2, server => $tree);
    my $worker = ask($nginx, 'detail=arenas&worker=1')->{workers}[0];
    my $all = decode_json($worker->{arenas})->{jemalloc};
    my @arenas = map { $all->{'stats.arenas'}{$_} }
                 grep { /^\d+$/ } keys %{ $all->{'stats.arenas'} };

    is($worker->{worker}, 1, 'of one worker');
    cmp_ok(scalar @arenas, '>=', 1, 'its arenas');
    cmp_ok(abs(sum0(map { $_->{small}{allocated} } @arenas)
               - $worker->{jemalloc}{small}), '<', 64 * 1024,
           'have all that is allocated');
    cmp_ok(abs(sum0(map { counted($_->{bins}, $all->{arenas}{bin}, 'curregs') }
                    @arenas) - $worker->{jemalloc}{small}), '<', 64 * 1024,
           'and so have the bins');
    cmp_ok(abs(sum0(map { counted($_->{lextents}, $all->{arenas}{lextent},
                                  'curlextents') } @arenas)
               - $worker->{jemalloc}{large}), '<', $mib, 'and the large ones');

    my $answer = $nginx->get("$memory?detail=arenas");

    is_answer($answer, 400,
              qr/^detail=arenas is for one worker: choose it with worker=0 (?#
                 )or worker=pid-\d+$/, 'not of two workers');
};


# The bytes of so many of each size.

sub counted($rows, $sizes, $what) {
    return sum0(map { $rows->[$_]{$what} * $sizes->[$_]{size} } 0 .. $#$rows);
}


# What jemalloc writes with this option is no JSON.

test 'arenas with an odd option', 'jemalloc' => sub {
    my $nginx = JppNginx->start(server => $tree,
        conf => 'prof:true,prof_active:false,prof_prefix:/tmp/a"b');
    my $arenas = ask($nginx, 'detail=arenas')->{workers}[0]{arenas};

    like($arenas, qr{"prof_prefix":\s*"/tmp/a"b"}, 'it is passed on as it is');
};


# Its page tables are read if somebody says so.

test 'a large worker', $has_lua, \&has_room => sub {
    my $nginx = JppNginx->start(
        main => $load_lua,
        server => "$tree location /grow { content_by_lua_block {
            local ffi = require 'ffi'
            ffi.cdef 'void *mmap(void *, size_t, int, int, int, long);'
            local populated = 0x8022
            ffi.C.mmap(nil, 1100 * 1024 * 1024, 3, populated, -1, 0)
            ngx.say('grown') } }");

    is($nginx->get('/grow')->{body}, "grown\n", 'a worker above 1 GiB');

    for my $detail ('ledger', 'smaps') {
        is_answer($nginx->get("$memory?detail=$detail"), 400,
                  qr/^worker 0 \(pid \d+\) has 1\.1 GiB of anonymous (?#
                     )memory: reading its page tables takes some \d+ ms, (?#
                     )and may stop it for that time; add force=1 to read (?#
                     )them$/,
                  "$detail is refused");
    }

    is_answer($nginx->get("$memory?format=top&cols=1000"), 200,
              qr/^no ledger: worker 0 .*; add force=1 to read /m, 'a table');

    is(ask($nginx, '')->{total}{ledger}, undef, 'memory is as always');

    cmp_ok(row(first($nginx, 'force=1'),
               "anonymous maps that are not malloc's")->{bytes}, '>',
           1100 * $mib, 'with force=1 there is one');
    cmp_ok(kb(ask($nginx, 'detail=smaps&force=1')->{workers}[0]{smaps},
              'Anonymous'), '>', 1100 * 1024, 'and the text of the kernel');
};


sub has_room {
    return slurp('/proc/meminfo') =~ /^MemAvailable:\s+(\d+) kB/m
           && $1 > 3 * 1024 * 1024;
}


test 'a worker that hangs' => sub {
    my $nginx = JppNginx->start(workers => 2,
        server => "jemalloc_pprof_timeout 2s; $tree");
    my (undef, $other) = $nginx->worker_pids;

    # one that has not begun yet is not missing

    ok(wait_until(sub { @{ ask($nginx, '')->{workers} } == 2 }),
       'two workers');

    $nginx->signal('STOP', $other);

    my $all = ask($nginx, 'detail=ledger');

    is(scalar @{ $all->{workers} }, 1, 'one of them');
    ok(defined $all->{workers}[0]{ledger}, 'with its ledger');
    is(scalar @{ $all->{missing} }, 1, 'one is missing');

    kill 'CONT', $other;
};


# Nothing of the kernel is there.

test 'no /proc', \&is_root => sub {
    my $nginx = JppNginx->start(run => mounted('-t tmpfs none /proc'),
                                server => $tree);
    my $pid = $nginx->worker;

    for my $detail ([ 'ledger', 'smaps' ], [ 'smaps', 'smaps_rollup' ]) {
        my $all = ask($nginx, "detail=$detail->[0]");

        is($all->{workers}[0]{$detail->[0]}, undef, "no $detail->[0]");
        like($all->{unavailable}{"$detail->[0] of pid $pid"} // 'nothing',
             qr{^/proc/self/$detail->[1] cannot be \w+: No such file or (?#
                )directory$}, 'and why');
    }

    like($nginx->get("$memory?format=top&cols=1000")->{body},
         qr{^the ledger of pid $pid is missing: /proc/self/smaps cannot}m,
         'a table says so, too');
};


# hidepid, and of the rest only processes: no meminfo, no pressure, no limits of
# the kernel.  Nobody is taken for gone.

my $hiding = mounted('-t proc -o hidepid=2,subset=pid none /proc 2>/dev/null');

test 'a /proc that hides', sub {
    is_root() && system(@$hiding, qw( test ! -e /proc/meminfo )) == 0
} => sub {
    my $nginx = JppNginx->start(workers => 2, run => $hiding, server => $tree);

    # two looks of the worker that leads

    my $all;

    ok(wait_until(sub {
        $all = ask($nginx, 'detail=ledger');
        return @{ $all->{workers}[0]{history}{points} } > 2;
    }, 30), 'workers see each other, or not');

    is($all->{answered}, 2, 'both answer');
    is($all->{unclean_exits}, 0, 'none is taken for gone');
    is($all->{system}{total}, undef, 'nothing of the machine');
    is($all->{system}{pressure}{some}{total_us}, undef, 'nor of its pressure');
    cmp_ok($all->{workers}[1]{process}{rss}, '>', 0, 'but of each process');
    is(sum0(map { $_->{bytes} } @{ $all->{workers}[1]{ledger}{rows} }),
       $all->{workers}[1]{ledger}{pss}, 'and its ledger');
    is($nginx->get('/debug/pprof/metrics')->{status}, 200, 'metrics');
};


test 'no jemalloc', sub { !is_linked() } => sub {
    my $nginx = JppNginx->start(preload => [], conf => '', server => $tree);
    my $ledger = first($nginx);

    is(sum0(map { $_->{bytes} } @{ $ledger->{rows} }), $ledger->{pss},
       'the rows are all of Pss');
    is(row($ledger, "malloc's own, and what is in no pool")->{how}, 'estimate',
       'what malloc does not count is an estimate');
    cmp_ok(row($ledger, 'connection slots')->{bytes}, '>', 0,
           'but nginx knows its own');

    my $all = ask($nginx, 'detail=arenas');

    is($all->{workers}[0]{arenas}, undef, 'there are no arenas');
    like((values %{ $all->{unavailable} })[0] // '',
         qr/^there is no jemalloc that counts by arena$|cgroup/, 'and why');
};

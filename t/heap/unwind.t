#!/usr/bin/perl

# Who walks the stacks of jemalloc's samples: the module's unwinder, in every
# worker, and jemalloc's own where that is switched off, or the module is gone.
# LuaJIT ends workers under the one, and not under the other.
#
# Not here: the hook by itself (t/unit/jpp_hook_test.c), and what it costs
# (bench/sampling.sh).
#
# JPP_SOAK=1 asks a hundred thousand times.

use JppTest;
use JppNginx qw( profile );
use JppSites qw( $hot );

my $is_long = $ENV{JPP_SOAK};

# as often as may be
my $conf = 'prof:true,prof_active:true,lg_prof_sample:10';


sub start(%how) {
    return JppNginx->start(conf => $conf, %how);
}


# What the status says of the stacks of each worker.

sub unwinders($nginx) {
    my $status = $nginx->json('/debug/pprof/status');

    return map { $_->{unwinder} } @{ $status->{workers} };
}


test 'used by all workers', 'jemalloc' => sub {
    my $nginx = start(workers => 2);

    $nginx->get('/fine') for 1 .. 200;

    my @unwinders = unwinders($nginx);

    is(scalar @unwinders, 2, 'two workers');

    for (@unwinders) {
        is($_->{name}, 'module', 'the module walks');
        is($_->{reason}, undef, 'for no other reason');
        cmp_ok($_->{stacks}, '>', 0, "$_->{stacks} stacks");
        is($_->{truncated}, 0, 'all of them whole');
    }

    my $answer = $nginx->get('/debug/pprof/heap');
    my $profile = profile($answer);

    is(partly($answer), '2/2', 'a profile of both');
    is(scalar(grep { /^stacks unwound by the module in 2 of 2 workers: (?#
                     )\d+, 0 of them truncated$/ } @{ $profile->{comments} }),
       1, 'that says who walked');

    # the allocator's frames are left out as they were

    my ($folded) = $nginx->get('/debug/pprof/heap?format=folded')->{body};

    like($folded, qr/^[^;]+;[^;]+;.* \d+$/m, 'from the start of nginx');
    unlike($folded, qr/libjemalloc|prof_backtrace/, 'to who allocated');
};


test 'switched off', 'jemalloc' => sub {
    my $nginx = start(http => 'jemalloc_pprof_unwind off;');
    my ($unwinder) = unwinders($nginx);

    is_deeply($unwinder, {
        name => 'jemalloc', stacks => undef, truncated => undef,
        reason => 'the configuration has jemalloc_pprof_unwind off',
    }, 'jemalloc walks, and status says why');

    my $profile = profile($nginx->get('/debug/pprof/heap'));

    is(scalar(grep { /^stacks unwound/ } @{ $profile->{comments} }), 0,
       'no word of it in profiles');
    unlike($nginx->error_log, qr/LuaJIT/, 'nor of LuaJIT, which is not there');

    $nginx->reload(http => 'jemalloc_pprof_unwind on;');
    is((unwinders($nginx))[0]{name}, 'module', 'a reload switches it on');

    $nginx->reload(http => 'jemalloc_pprof_unwind off;');
    is((unwinders($nginx))[0]{name}, 'jemalloc', 'and off');

    $nginx->reload(http => '');
    is((unwinders($nginx))[0]{name}, 'module', 'and it is on by itself');
};


test 'a value that is none', 'jemalloc' => sub {
    my $nginx = start();

    spew("$nginx->{prefix}/nginx.conf",
         slurp("$nginx->{prefix}/nginx.conf")
         =~ s/^http \{/http {\njemalloc_pprof_unwind perhaps;/mr);
    $nginx->signal('HUP');

    ok(wait_until(sub {
        $nginx->error_log =~ /invalid value "perhaps" in (?#
            )"jemalloc_pprof_unwind" directive, it must be "on" or "off"/
    }), 'is refused');
    is((unwinders($nginx))[0]{name}, 'module', 'and changes nothing');

    $nginx->stop(alerts => qr/\[emerg\].*invalid value "perhaps"/);
};


test 'LuaJIT, with the hook', 'jemalloc', 'lua' => sub {
    my $n = $is_long ? 100_000 : 500;
    my $nginx = start(main => lua_modules(), server => $hot);
    my $client = $nginx->client;
    my $n_bad = 0;

    for (1 .. $n) {
        $n_bad++ if $client->get('/hot')->{status} != 200;
        $client = $nginx->client if $_ % 1000 == 0;
    }

    is($n_bad, 0, "$n requests, and none fails");
    is($nginx->client->get('/hot?keep=1')->{status}, 200, 'some memory stays');

    my ($unwinder) = unwinders($nginx);

    cmp_ok($unwinder->{truncated}, '>', 0,
           "$unwinder->{truncated} of $unwinder->{stacks} are truncated");

    my $answer = $nginx->get('/debug/pprof/heap');
    my $profile = profile($answer);
    my $folded = $nginx->get('/debug/pprof/heap?format=folded')->{body};

    ok((grep { $_ eq '[cut: JIT code]' } @{ $profile->{strings} }),
       'the profile says where');
    like($folded, qr/^\[cut: JIT code\][; ]/m, 'as the outermost frame');
    unlike($folded, qr/;\[cut/, 'and nowhere else');

    my $text = $nginx->get('/debug/pprof/heap?format=text')->{body};

    like($text, qr/ 0x101$/m, 'the text form keeps its form');
};


# The test of the test.

test 'LuaJIT, without it', 'jemalloc', 'lua' => sub {
    my $nginx = start(main => lua_modules(), server => $hot,
                      http => 'jemalloc_pprof_unwind off;');
    my $status = $nginx->json('/debug/pprof/status');
    my ($problem) = grep { $_->{id} eq 'lua-abort' }
                    @{ $status->{workers}[0]{problems} };

    like($problem->{fix} // 'none', qr/^    jemalloc_pprof_unwind on;$/m,
         'status has the problem, and the fix');
    like($nginx->error_log, qr/\[error\] .*sampling can abort (?#
         )workers running LuaJIT/,
         'and the log, where every error_log shows it');

    # libgcc aborts, or where it samples itself, waits for its own lock forever

    my $n = 0;
    my $ended = qr/exited on signal [69]/;

    while ($n++ < 50 && $nginx->error_log !~ $ended) {
        my $answer = eval {
            $nginx->client(patience => 5)->get('/hot?keep=1', close => 1)
        };

        next if !$answer || $answer->{status} != 0
                || wait_until(sub { $nginx->error_log =~ $ended }, 1);

        kill 'KILL', $nginx->worker_pids;
    }

    ok(wait_until(sub { $nginx->error_log =~ $ended }),
       "a worker aborts or hangs after $n requests");

    # one that takes its place is no new generation

    ok(wait_until(sub { eval { $nginx->get('/fine')->{status} == 200 } }),
       'another takes its place');

    # the fix

    $nginx->reload(http => '');

    is(scalar(grep { $nginx->get('/hot?keep=1')->{status} != 200 } 1 .. 50), 0,
       'none does once the hook is on');

    # a worker that is aborted may be looking at the others in its thread

    $nginx->stop(alerts => qr/$ended|zone "\w+" was locked by/);
};


# Under load, in every generation.

test 'a reload, one after the other', 'jemalloc' => sub {
    my $nginx = start(workers => 2);
    my $n = $is_long ? 100 : 10;
    my ($n_bad, $n_asked, $n_own) = (0, 0, 0);

    for (1 .. $n) {
        $nginx->reload;

        for (1 .. 20) {
            $n_asked++;
            $n_bad++ if $nginx->get('/fine')->{status} != 200;
        }

        $n_own += grep { $_->{name} eq 'module' } unwinders($nginx);
    }

    is($n_bad, 0, "$n_asked requests during $n reloads, and none fails");
    is($n_own, 2 * $n, 'both workers of each generation have the hook');
};


# Workers of then have no hook, and those of before give it back.

test 'the module is removed', 'jemalloc', 'loaded' => sub {
    my $nginx = start();

    $nginx->get('/fine') for 1 .. 20;
    $nginx->reload(module => 0, server => '');

    is(scalar(grep { $nginx->get('/fine')->{status} != 200 } 1 .. 100), 0,
       'requests, without the module');
    unlike(slurp('/proc/' . $nginx->worker . '/maps'), qr/jemalloc_pprof/,
           'which is not loaded any more');

    $nginx->reload(module => 1, server => undef);

    is((unwinders($nginx))[0]{name}, 'module', 'it is back, and walks');
    is(scalar(grep { $nginx->get('/fine')->{status} != 200 } 1 .. 100), 0,
       'requests, with it');
};


test 'threads of nginx', 'jemalloc' => sub {
    my $nginx = start(http => 'aio threads;');

    spew("$nginx->{prefix}/html/large", 'x' x 3_000_000);

    my @bodies = map { $nginx->get('/large')->{body} } 1 .. 20;

    is(scalar(grep { length == 3_000_000 } @bodies), 20,
       'files that threads read');
    is((unwinders($nginx))[0]{truncated}, 0, 'stacks are whole');
};

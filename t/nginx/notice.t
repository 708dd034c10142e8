# What takes an nginx of its own: each state that its jemalloc can be in, as the
# log, "nginx -t" and every resource report it; and the directives that matter
# only when something goes wrong.

use JppTest;
use JppNginx qw( profile );
use JppProfile qw( totals );

my $jemalloc = $ENV{TEST_NGINX_LD_PRELOAD};
my $tree = 'location /p/ { jemalloc_pprof; }';

# The fixes, in one line as they stand in the log.

my $restart = 'Save the evidence, which is lost when the workers exit: | curl '
              . q{-o memory.txt 'http://127.0.0.1:8081/debug/pprof/memory?}
              . q{format=top' | }
              . 'Then run systemctl restart nginx: a reload is not enough.';
my $upgrade = 'For binary upgrades, add to nginx.conf, outside of all blocks: '
              . '| env LD_PRELOAD; env MALLOC_CONF;';
my $variable = 'Environment=MALLOC_CONF='
               . 'prof:true,prof_active:true,lg_prof_sample:19';
my $preload = 'systemctl edit nginx, and add: | [Service] | '
              . 'Environment=LD_PRELOAD=libjemalloc.so.2 | '
              . "$variable | $restart | $upgrade";
my $sampler = 'Without a restart: POST sampler=on to control, or set in the '
              . 'http block, and reload: | jemalloc_pprof_source sampler; | ';
my $append = 'Run systemctl edit nginx, and append to the line '
             . 'Environment=MALLOC_CONF= | ,';

# States without a profile, as several nginx are in them: the status, the id of
# the problem where it has another name, what is said, and the fix.

my %no_jemalloc = (
    state => 'no-jemalloc', status => 501,
    says => qr/the malloc of this nginx is not jemalloc's: it comes from (?#
               )[^ ]*(?:libc\.so\.6|jpp_fake\.so), which does not record (?#
               )where memory was allocated/,
    fix => "${sampler}Or run apt-get install libjemalloc2 and $preload");

my %off = (
    state => 'off', status => 403, problem => 'prof-off',
    says => qr/the profiling of jemalloc [\d.]+ is off: opt\.prof is (?#
               )false, and jemalloc reads its options once, before main\(\)/,
    fix => "${sampler}Or run systemctl edit nginx, and add: | [Service] | "
           . "$variable | $restart | $upgrade");

my %thread_name = (
    state => 'refused', status => 501, problem => 'thread-name',
    says => qr/jemalloc 5\.3\.0 cannot be dumped safely with (?#
               )prof_sys_thread_name:true: before 5\.3\.1 that option races (?#
               )with a dump and can crash the process/,
    fix => 'Upgrade to jemalloc 5.3.1 or later, or switch the option off. | '
           . "${append}prof_sys_thread_name:false | $restart");

# a jemalloc that is linked is always there

my $static = !loaded() && 'jemalloc is linked';

# An error unless another level is given.

my @fatal = (
    { %no_jemalloc, name => 'no jemalloc',
      how => { preload => [] }, skip => $static },
    { %no_jemalloc, name => 'no jemalloc, and no options for one',
      how => { preload => [], conf => '' }, skip => $static, level => 'warn' },
    { %no_jemalloc,
      name => 'no jemalloc, and options for a build with a prefix',
      how => { preload => [], conf => '',
               env => { _RJEM_MALLOC_CONF => 'narenas:1,prof:true' } },
      skip => $static },
    { %no_jemalloc, name => 'a jemalloc that is not the malloc',
      how => { preload => [ 'libc.so.6', $jemalloc // () ] } },
    { %no_jemalloc, name => 'a malloc without a mallctl',
      how => { fake => "symbol none\n" } },
    { name => 'built without profiling', how => { fake => "config.prof 0\n" },
      state => 'no-prof', status => 501,
      says => qr/jemalloc 5\.3\.0 was built without profiling: profiling (?#
                 )needs a build with --enable-prof: Debian's libjemalloc2 (?#
                 )is built so on amd64 and i386, packages of other (?#
                 )distributions may not be/,
      fix => $sampler . 'Or install such a build, or build jemalloc with '
             . "./configure --enable-prof. | Run $preload" },
    { %off, name => 'prof:false', how => { conf => 'prof:false' },
      level => 'warn' },
    { %off, name => 'prof:false, and jemalloc_pprof_active on',
      how => { conf => 'prof:false', http => 'jemalloc_pprof_active on;' } },
    { %off, name => 'opt.prof 0', how => { fake => "opt.prof 0\n" } },
    { %off, name => 'opt.prof 0 of a build with a prefix',
      how => { fake => "symbol _rjem_mallctl\nopt.prof 0\n" },
      fix => $off{fix} =~ s/\bMALLOC_CONF/_RJEM_MALLOC_CONF/gr },
    { %off, name => 'opt.prof 0, and prof_sys_thread_name',
      how => { fake => "opt.prof_sys_thread_name 1\nopt.prof 0\n" } },
    { %thread_name, name => 'prof_sys_thread_name before 5.3.1',
      how => { fake => "prof.lg_sample 16\nopt.prof_sys_thread_name 1\n" } },
    { name => 'prof_active:false',
      how => { conf => options('lg_prof_sample:16', 'prof_active:false') },
      state => 'inactive', status => 403, level => 'warn',
      says => qr/profiling is not active: prof\.active is false, so (?#
                 )jemalloc takes no samples/,
      fix => 'Without a restart: POST active=on to control, or add to the '
             . 'http block, and reload: | jemalloc_pprof_active on; | '
             . "From the start: ${append}prof_active:true | $restart" },
);

# States with profiles, at a rate that is no problem by itself.

my @ready = (
    { name => 'ready', options => [], problems => [] },

    { name => 'prof_thread_active_init',
      options => [ 'prof_thread_active_init:false' ],
      problems => [ 'unsampled' ], level => 'error',
      says => 'profiles stay empty with prof_thread_active_init:false' },

    { name => 'lg_prof_interval', options => [ 'lg_prof_interval:40' ],
      problems => [ 'interval' ],
      says => 'lg_prof_interval makes workers write dump files as they serve',
    },

    { name => 'prof_gdump', options => [ 'prof_gdump:true' ],
      problems => [ 'gdump' ],
      says => 'prof_gdump makes workers write dump files as they grow' },

    { name => 'prof_final', options => [ 'prof_final:true' ],
      problems => [ 'final' ],
      says => 'prof_final makes every worker write a dump file when it exits' },

    { name => 'prof_leak_error',
      keys => "opt.prof_leak_error 1\nprof.lg_sample 16\n",
      problems => [ 'leak-error' ],
      says => 'prof_leak_error can make a worker exit with status 1' },

    { name => 'prof_accum', options => [ 'prof_accum:true',
                                         'lg_prof_sample:12' ],
      problems => [ 'accum', 'fine' ],
      rate => '4.0 KiB makes workers larger and slower',
      says => 'prof_accum keeps every stack forever',
      also => \&accum },

    { name => 'the rate of the fixes', options => [ 'lg_prof_sample:19' ],
      problems => [], rate => '512.0 KiB' },

    { name => 'a coarse rate', options => [ 'lg_prof_sample:21' ],
      problems => [ 'coarse' ],
      rate => '2.0 MiB is too coarse for nginx' },

    { name => 'a fine rate', options => [ 'lg_prof_sample:9' ],
      problems => [ 'fine' ],
      rate => '512 B makes workers larger and slower' },

    { name => 'several', options => [ 'prof_accum:true', 'prof_final:true' ],
      problems => [ 'final', 'accum' ],
      says => 'prof_final makes every worker write a dump file when it exits; '
              . 'prof_accum keeps every stack forever' },

    { name => 'prof_sys_thread_name of 5.3.1',
      keys => "opt.prof_sys_thread_name 1\nversion 5.3.1-0-g0\n"
              . "prof.lg_sample 16\n",
      problems => [] },
    { name => 'threads that are not counted', problems => [],
      keys => "thread.allocated -\nprof.lg_sample 16\n",
      # an nginx under a sanitizer has a malloc() of its own
      skip => !has_jemalloc() && 'no jemalloc' },
);


for my $case (@fatal) { test $case->{name} => sub { fatal($case) } }

for my $case (@ready) { test "ready: $case->{name}" => sub { ready($case) } }


# By the jemalloc that is here.

test 'prof_sys_thread_name', 'jemalloc' => sub {
    my ($version) = JppNginx->start->get('/debug/pprof/status')->{body}
                    =~ /"jemalloc": "([\d.]+)/;

    if (eval "v$version ge v5.3.1") {
        ready({ options => [ 'prof_sys_thread_name:true' ], problems => [] });
    } else {
        fatal({ %thread_name, how => {
                    conf => options('lg_prof_sample:16',
                                    'prof_sys_thread_name:true') } });
    }
};


# The lines that the module wrote as it started; a busy machine has others.

sub notices($nginx) {
    return grep { /\[(?:notice|warn|error)\] .*?: jemalloc_pprof: (?#
                  )(?!finding |the event loop stood still)/ }
                split /^/m, $nginx->error_log;
}


sub fatal($case) {
    plan skip_all => $case->{skip} if $case->{skip};

    my $like = qr/$case->{says}\. \Q$case->{fix}\E/;

    is_quiet_test(%{ $case->{how} });

    my $level = $case->{level} // 'error';
    my $nginx = JppNginx->start(%{ $case->{how} }, server => $tree);

    starts($nginx, qr/\[$level\] \d+#\d+: jemalloc_pprof: $like$/);

    my $c = $nginx->client;

    for my $what (qw( heap allocs heap?format=top heap?format=jemalloc
                      heap?seconds=1 heap?seconds=5&format=top pprof/heap ))
    {
        my $answer = $c->ask('GET', "/p/$what");

        is($answer->{status}, $case->{status}, "$what is refused");
        like(in_a_line($answer->{body}),
             qr/\A$case->{says}\. \| \Q$case->{fix}\E \| \z/,
             'the answer has the reason and the fix');
        is($answer->{headers}{'x-go-pprof'}, '1', 'pprof shows it');
        is($answer->{headers}{'content-type'}, 'text/plain; charset=utf-8',
           'as text');
        ok(!exists $answer->{headers}{'content-disposition'},
           'a browser shows it, too');
    }

    my $answer = $c->ask('HEAD', '/p/heap');
    is($answer->{status}, $case->{status}, 'HEAD is refused');

    my $problem = others($c, $case->{state});

    is_deeply([ map { $_->{id} } @$problem ],
              [ $case->{problem} // $case->{state} ],
              'status reports the problem');
    ok($problem->[0]{fatal}, 'as fatal');
    like(in_a_line("$problem->[0]{what}: $problem->[0]{why}. "
                   . $problem->[0]{fix}), qr/\A$like\z/,
         'in the same words');
}


# An error_log without a level, and one start and one reload.

test 'the log of a distribution' => sub {
    for (
        [ 'profiling is wanted and off', 1,
          fake => "opt.prof 0\n" ],
        [ 'profiling is not wanted', 0, conf => 'prof:false' ],
        [ 'profiling works', 0 ],
    ) {
        my ($name, $n, %how) = @$_;
        my $nginx = JppNginx->start(%how, server => $tree, workers => 4,
                                    main => 'error_log logs/default.log;');
        my $lines = sub {
            return scalar grep { !/: jemalloc_pprof: finding pressure/ }
                   split /^/m, slurp("$nginx->{prefix}/logs/default.log");
        };

        ok(defined $nginx->{pid}, "$name: nginx starts") or next;
        is($lines->(), $n, "$name: lines at the start");

        is($nginx->get('/p/heap')->{status}, 403, "$name: no profile")
            if $n;

        $nginx->reload;

        is($lines->(), 2 * $n, "$name: as many for a reload");
        $nginx->stop;
        is($lines->(), 2 * $n, "$name: and none at the end");
    }
};


# As the log has it.

sub in_a_line {
    return $_[0] =~ s/\n */ | /gr;
}


sub ready($case) {
    plan skip_all => $case->{skip} if $case->{skip};

    my %how = defined $case->{keys}
              ? (fake => $case->{keys})
              : (conf => options('lg_prof_sample:16', @{ $case->{options} }));

    is_quiet_test(%how);

    my $level = $case->{level}
                // (@{ $case->{problems} } ? 'warn' : 'notice');
    my $rate = $case->{rate} // '64.0 KiB';
    my $says = defined $case->{says} ? "; $case->{says}" : '';

    my $nginx = JppNginx->start(%how, server => $tree);

    starts($nginx, qr/\[$level\] \d+#\d+: jemalloc_pprof: jemalloc [\d.]+, (?#
                       )profiling ready, one sample every \Q$rate$says\E$/);

    my $c = $nginx->client;
    my $answer = $c->ask('GET', '/p/heap');

    is($answer->{status}, 200, 'heap');
    is($c->ask($_->[0], "/p/$_->[1]")->{status}, 200, "@$_")
        for [ 'GET', 'allocs' ], [ 'HEAD', 'heap' ];
    like(contract($answer->{body}), qr/^types: /, 'keeps the contract');

    is_deeply([ map { $_->{id} } @{ others($c, 'ready') } ],
              $case->{problems},
              'status reports the problems');

    $case->{also}->($c) if $case->{also};
}


# One notice for each start, and each reload.

sub starts($nginx, $like) {
    my @notices = notices($nginx);

    is(scalar @notices, 1, 'one notice');
    like($notices[0] // '', $like, 'it names the state');

    # as nginx does with its own warnings
    my $said = ($notices[0] // '') =~ /(\[(?:warn|error)\]) .*?: (.*)/
               ? "nginx: $1 $2\n" : '';

    is($nginx->said, $said,
       'stderr has a warning too, and no notice');

    $nginx->reload;

    @notices = notices($nginx);

    is(scalar @notices, 2, 'one more notice');
    like($notices[1] // '', $like, 'it names the same state');
}


sub is_quiet_test(%how) {
    my $test = JppNginx->run([ '-t' ], %how, server => $tree);

    is($test->{status}, 0, 'nginx -t');
    like($test->said, qr/\Anginx: .* syntax is ok\nnginx: .* successful\n\z/,
         'says only that the test is successful');

    $test = JppNginx->run([ '-t', '-q' ], %how, server => $tree);

    is($test->{status} . $test->said, '0', 'with -q it says nothing');
    is($test->error_log, '', 'the log stays empty');
}


# The resources that need no profiler work in any state.  Returns the problems
# in status, once it is proven that the console shows them, too.

sub others($c, $state) {
    my $answer = $c->ask('GET', '/p/symbol');

    is_answer($answer, 200, 'num_symbols: 1', 'symbol');

    $answer = $c->ask('GET', '/p/cmdline');

    is_answer($answer, 200, qr/\0-c\0nginx\.conf\z/, 'cmdline');

    my $status = $c->ask('GET', '/p/status');
    my $json = decode_json($status->{body});
    my $worker = $json->{workers}[0];

    is($status->{status}, 200, 'status');
    is($worker->{state}, $state, 'reports the state');
    is($worker->{last_error}, undef, 'which is no error of this worker')
        if $state ne 'ready';
    is($worker->{generation}, 2, 'after a reload');
    is($worker->{active} ? 1 : 0, $state eq 'ready' || $state eq 'refused'
                                  ? 1 : 0, 'reports whether it is active');

    $answer = $c->ask('GET', '/p/');

    my $page = $answer->{body} =~ s/&#39;/'/gr;

    is($answer->{status}, 200, 'the console');
    like($page, qr{data-l="samples">$state<}, 'shows the state');
    is(() = $page =~ /<div class="card(?: critical)?">/g,
       scalar @{ $worker->{problems} },
       'and as many problems');

    for (@{ $worker->{problems} }) {
        my $kind = $_->{fatal} ? 'No profile' : 'Warning';

        like($page, qr{>$kind: \Q$_->{what}\E</h3>\n<p>Because (?#
                       )\Q$_->{why}\E\.</p>\n<pre>\Q$_->{fix}\E</pre>},
             "$_->{id} with why and fix");
    }

    return $worker->{problems};
}


sub accum($c) {
    my $heap = profile($c->ask('GET', '/p/heap'));
    my $allocs = profile($c->ask('GET', '/p/allocs'));

    my $types = [qw( alloc_objects/count alloc_space/bytes
                     inuse_objects/count inuse_space/bytes )];

    is_deeply($heap->{types}, $types, 'heap has four types');
    is($heap->{default}, 'inuse_space', 'and opens with what is in use');

    is_deeply($allocs->{types}, $types, 'allocs has four types');
    is($allocs->{default}, 'alloc_space', 'and opens with what was allocated');

    my @sums = totals($allocs);

    cmp_ok($sums[1], '>', $sums[3], 'more was allocated than is left');

    my $top = $c->ask('GET', '/p/allocs?format=top&cols=1000')->{body};
    like($top, qr/\Aalloc_space: /, 'so does its table');

    $top = $c->ask('GET', '/p/allocs?format=top&cols=1000&type=inuse_objects')
              ->{body};
    like($top, qr/\Ainuse_objects: /, 'type= chooses another');
}


test 'no notice where nothing is served' => sub {
    my $nginx = JppNginx->start(server => 'jemalloc_pprof_timeout 1s;');
    is(scalar notices($nginx), 0, 'no notice');
    is($nginx->get('/debug/pprof/heap')->{status}, 404, 'no profile');
};


# An allocator whose dumps are all the same, and known: jpp_fake.c.

test 'the tool makes the same of format=jemalloc' => sub {
    my $nginx = JppNginx->start(fake => "prof.lg_sample 12\n", server => $tree);

    my $c = $nginx->client;
    my $dump = $c->ask('GET', '/p/heap?format=jemalloc')->{body};
    my $heap = profile($c->ask('GET', '/p/heap'));

    like($dump, qr{\Aheap_v2/4096\n  t\*: 6: 234881024 \[0: 0\]\n},
         'the dump as it was written');

    my $file = spew("$nginx->{prefix}/three.heap", $dump);
    my $by_tool = profile({ body => scalar `'$build/jemalloc-pprof' '$file'` });

    is_deeply([ totals($heap) ], [ 6, 234881024 ], 'the totals of the report');

    for ('types', 'default', 'period', 'functions', 'locations lines') {
        is_deeply($by_tool->{$_}, $heap->{$_}, "the tool's $_ are the same");
    }

    is_deeply([ map { $_->{values} } @{ $by_tool->{samples} } ],
              [ map { $_->{values} } @{ $heap->{samples} } ], 'and samples');

    is_deeply([ sort keys %{ $heap->{functions} } ],
              [ qw( _start jpp_fake_alpha jpp_fake_beta jpp_fake_gamma
                    jpp_fake_root ) ], 'with the names that are in it');
};


# Four workers have one and the same dump, as they had when they started: all of
# it is the master's, and counts once.

test 'inherited memory counts once' => sub {
    my $nginx = JppNginx->start(fake => "prof.lg_sample 12\n", workers => 4,
                                server => $tree);
    $nginx->settled(4, '/p/status');

    for (
        [ 'heap', 'master', 6, 234881024 ],
        [ 'heap?origin=master', 'master', 6, 234881024 ],
        [ 'heap?worker=2', 'master', 6, 234881024 ],
        [ 'heap?origin=worker', '', 0, 0 ],
        [ 'allocs?worker=1&origin=worker', '', 0, 0 ],
    ) {
        my ($what, $origins, @totals) = @$_;
        my $profile = profile($nginx->get("/p/$what"));

        my %origins = map { $_->{labels}{origin} => 1 }
                      @{ $profile->{samples} // [] };

        is_deeply([ totals($profile) ], \@totals, "$what: the totals");
        is(join(' ', sort keys %origins), $origins, "$what: their origin");
    }

    # once a worker's dump has more than the first one, the rest is its own

    $nginx->fake("prof.lg_sample 12\nlarge 1\n");

    my $profile = profile($nginx->get('/p/heap'));

    my %pids = map { $_->{labels}{pid} => 1 }
               grep { $_->{labels}{origin} eq 'worker' }
                    @{ $profile->{samples} };

    is(scalar keys %pids, 4, 'then each worker has samples');
};


test 'jemalloc_pprof_timeout' => sub {
    my $t = 'jemalloc_pprof_timeout';

    my $nginx = JppNginx->start(
        fake => "hang 1\n", http => "$t 110ms;",
        server => "$tree location /q/ { jemalloc_pprof; $t 120ms; }",
    );

    for (['/p/heap', 110], ['/q/heap', 120]) {
        my ($uri, $ms) = @$_;
        my $answer = $nginx->get($uri);

        is_answer($answer, 504, qr/\Ano worker answered in time: worker 0 (?#
                  )\(pid \d+\), no answer within $ms\.0 ms (?#
                  )\(jemalloc_pprof_timeout\): its background thread is (?#
                  )still busy\n\z/, $uri);
        is($answer->{headers}{'x-go-pprof'}, '1', 'for pprof to show');
    }
};


# 1 is EPERM: what a seccomp filter says to memfd_create().

test 'jemalloc_pprof_temp_path' => sub {
    my $dir = tempdir(CLEANUP => 1);

    chmod 0777, $dir;

    for (
        [ '', 503, qr/\Amemfd_create is forbidden to nginx: set (?#
                      )jemalloc_pprof_temp_path to a directory for its (?#
                      )dumps\n\z/ ],
        [ 'jemalloc_pprof_temp_path temp;', 200, qr/\A\x1f\x8b/ ],
        [ "jemalloc_pprof_temp_path $dir;", 200, qr/\A\x1f\x8b/ ],
        [ 'jemalloc_pprof_temp_path nowhere;', 503,
          qr{\Acannot put the dump into /.*/nowhere: No such file or (?#
             )directory\n\z} ],
    ) {
        my ($directive, $status, $like) = @$_;
        my $nginx = JppNginx->start(fake => "memfd 1\n", http => $directive,
                                    server => $tree);

        my $answer = $nginx->get('/p/heap');

        is_answer($answer, $status, $like, $directive || 'no directory');
        like(contract($answer->{body}), qr/^types: /, 'keeps the contract')
            if $status == 200;
        is_deeply([ glob "$nginx->{prefix}/temp/#* $nginx->{prefix}/temp/*" ],
                  [ map { "$nginx->{prefix}/temp/$_" }
                    sort qw( client_body proxy fastcgi uwsgi scgi ) ],
                  'no file is left');
    }
};

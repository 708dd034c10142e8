#!/usr/bin/perl

# Heap profiles by the module's sampler: with any malloc(), from one request to
# the next, in all workers and those that come later; switched on and off while
# requests, reloads and kills go on.
#
# Not here: the sampler by itself (t/unit/jpp_sampler_*_test.c), and what it
# costs (bench/sampling.sh).
#
# JPP_SOAK=1 switches a thousand times, reloads a hundred and kills fifty.

use JppTest;
use JppNginx qw( profile );
use JppSites qw( $hot );

my $is_long = $ENV{JPP_SOAK};

my $tree = '/debug/pprof';
my $server = 'location /debug/pprof/ { jemalloc_pprof control=on; }';


# Of libc's malloc(), unless PRELOAD says otherwise.

sub start(%how) {
    return JppNginx->start(preload => [], conf => 'prof:false', workers => 2,
                           server => $server, %how);
}


sub with_profiler {
    return (preload => [ preloads() ],
            conf => 'prof:true,prof_active:true,lg_prof_sample:15', @_);
}


sub control($nginx, $form, $query = undef) {
    my $answer = $nginx->ask('POST', "$tree/control" . ($query // ''),
                                     \$form);

    die "$form: $answer->{status} $answer->{body}" if $answer->{status} != 200;

    return @{ decode_json($answer->{body})->{workers} };
}


sub workers($nginx) {
    return @{ $nginx->json("$tree/status")->{workers} };
}


# One field of all workers, "a.b" for one that lies deeper.

sub told($nginx, $field) {
    return join ' ', map {
        my $value = $_;
        $value = defined $value ? $value->{$_} : undef for split /\./, $field;
        $value // 'null'
    } workers($nginx);
}


# A leak begins: connections that say nothing, and those of before do not count.

sub hold($nginx, $n) {
    return map {
        my $client = $nginx->client;
        $client->get('/fine');
        $client
    } 1 .. $n;
}


test 'any malloc', sub { !is_linked() } => sub {
    my $nginx = start();
    my $answer = $nginx->get("$tree/heap");

    is_answer($answer, 501,
              qr/^Without a restart: POST sampler=on to control/m,
              'there is no profile');

    my @before = hold($nginx, 5);
    my @done = control($nginx, 'sampler=on&lg_sample=10');

    for (@done) {
        is($_->{error}, undef, "worker $_->{worker}");
        is_deeply($_->{before}, { source => undef, lg_sample => undef,
                                  active => JSON::PP::false },
                  'nothing before');
        is_deeply($_->{after}, { source => 'sampler', lg_sample => 10,
                                 active => JSON::PP::true },
                  'the sampler after');
    }

    is(told($nginx, 'source'), 'sampler sampler', 'status has it');
    is(told($nginx, 'in_step'), '1 1', 'as it is wanted');
    is(join(' ', map { scalar @{ $_->{problems} } } workers($nginx)), '0 0',
       'and nothing is wrong');

    my @held = hold($nginx, 30);

    $answer = $nginx->get("$tree/heap");
    is(partly($answer), '2/2', 'a profile of both workers');

    my $profile = profile($answer);
    my ($source) = grep { /^source: / } @{ $profile->{comments} };

    like($source, qr/^source: the module's sampler in 2 of 2 workers, on in (?#
                    )all of them since \d{4}-\d\d-\d\dT[\d:]+Z: earlier (?#
                    )allocations are missing$/, 'that says so');
    ok(!(grep { $_ eq 'master' } @{ $profile->{strings} }),
       'nothing is inherited');

    my $top = $nginx->get("$tree/heap?format=top&cols=1000")->{body};

    like($top, qr/one every 1\.0 KiB/, 'at its rate');

    my $folded = $nginx->get("$tree/heap?format=folded")->{body};
    my $bytes = 0;

    $bytes += $1 while $folded =~ /;ngx_http_jpp_process_events;.* (\d+)$/mg;
    cmp_ok($bytes, '>', 8 * 1024, 'what is held is there, with its stack');
    unlike($folded, qr/\b(?:jpp_|malloc\b)/, 'and nothing of the sampler');

    like($nginx->get("$tree/heap?format=text")->{body},
         qr/\Aheap profile: .*\@ heap_v2\/1$/m, 'as text');
    like($nginx->get("$tree/heap?format=jemalloc&worker=0")->{body},
         qr{\Aheap_v2/1024\n.*^MAPPED_LIBRARIES:$}ms, 'as a dump');
    like($nginx->get("$tree/allocs?format=top&cols=1000")->{body},
         qr/\Aalloc_space: /, 'what was ever allocated, since then');

    # new workers have it as well

    $nginx->reload;
    is(told($nginx, 'sampler.lg_sample'), '10 10', 'a reload keeps it');
    is(partly($nginx->get("$tree/heap")), '2/2', 'and profiles');

    control($nginx, 'sampler=off');
    is(told($nginx, 'source'), 'null null', 'off');
    is($nginx->get("$tree/heap")->{status}, 501, 'no profile');

    $nginx->reload;
    is(told($nginx, 'source'), 'null null', 'off in new workers');
};


test 'by a directive' => sub {
    my $nginx = start(http => "jemalloc_pprof_source sampler;\n"
                              . 'jemalloc_pprof_sample 1k;');

    is(told($nginx, 'sampler.lg_sample'), '10 10', 'from the start');
    like($nginx->error_log, qr/\[notice\] .*jemalloc_pprof: the module's (?#
                              )sampler ready, one sample every 1\.0 KiB$/m,
         'the log says so');
    is(partly($nginx->get("$tree/heap")), '2/2', 'there are profiles');

    $nginx->reload(http => 'jemalloc_pprof_source sampler;');
    is(told($nginx, 'sampler.lg_sample'), '12 12', 'its own rate');

    # control comes first

    control($nginx, 'sampler=off');
    $nginx->reload;
    is(told($nginx, 'source'), 'null null', 'control comes first');

    control($nginx, 'sampler=on&lg_sample=14');
    $nginx->reload(http => 'jemalloc_pprof_source jemalloc;');
    is(told($nginx, 'sampler.lg_sample'), '14 14', 'either way');

    spew("$nginx->{prefix}/nginx.conf",
         slurp("$nginx->{prefix}/nginx.conf")
         =~ s/jemalloc_pprof_source jemalloc/jemalloc_pprof_source perl/r);
    $nginx->signal('HUP');
    ok(wait_until(sub { $nginx->error_log =~ /invalid value "perl" in / }),
       'another source is refused');

    $nginx->stop(alerts => qr/\[emerg\].*invalid value "perl"/);
};


test 'one worker of two', sub { !is_linked() } => sub {
    my $nginx = start();

    my ($done) = control($nginx, 'sampler=on&worker=1');

    is($done->{after}{source}, 'sampler', 'in one worker');
    is(told($nginx, 'source'), 'null sampler', 'and in no other');

    my $answer = $nginx->get("$tree/heap");

    is(partly($answer), '1/2', 'which has no profile');
    ok((grep { /^worker 0 pid \d+ is missing: the malloc of this nginx/ }
        @{ profile($answer)->{comments} }), 'the other says why');

    control($nginx, 'lg_sample=11&worker=1');
    is(told($nginx, 'sampler.lg_sample'), 'null 11', 'its rate');

    # samples are forgotten

    my @held = hold($nginx, 20);
    control($nginx, 'reset=1&worker=1');
    my ($live) = map { $_->{sampler}{live} } (workers($nginx))[1];
    cmp_ok($live, '<', 5, "a reset forgets: $live are live");

    $nginx->reload;
    is(told($nginx, 'source'), 'null null', 'and new workers have none of it');
};


# The bytes of the heap by QUERY.

sub held_of($nginx, $query) {
    my $answer = $nginx->get("$tree/heap?format=folded&$query");

    die "$query: $answer->{status} $answer->{body}"
        if $answer->{status} != 200;

    my $sum = 0;

    $sum += $1 while $answer->{body} =~ / (\d+)$/mg;

    return $sum;
}


# What connections hold is old at some time, and what requests take never is.

test 'ages' => sub {
    my $nginx = start(workers => 1);

    control($nginx, 'sampler=on&lg_sample=10');

    my @old = hold($nginx, 30);

    ok(wait_until(sub {
        $nginx->get('/fine') for 1 .. 20;
        held_of($nginx, 'age=3s') > 8 * 1024
    }), 'what is held has an age');

    my @new = hold($nginx, 30);
    my ($old, $all) = map { held_of($nginx, $_) } 'age=3s', 'ages=1';

    cmp_ok($all, '>', $old, "young memory is left out: $old of $all bytes");
    is(held_of($nginx, 'age=1d'), 0, 'and nothing is a day old');

    my $profile = profile($nginx->get("$tree/heap?ages=1"));
    my %keys = map { $_ => 1 } @{ $profile->{strings} };

    ok($keys{age_seconds} && $keys{quarter}, 'labels of a profile');

    my $dump = $nginx->get("$tree/heap?format=jemalloc&ages=1")->{body};

    like($dump, qr/^  t65536: 0: 0 \[0: 0\] ages$/m, 'a dump with ages');
    unlike($nginx->get("$tree/heap?format=jemalloc")->{body}, qr/ ages$/m,
           'and one without');
    like($nginx->get("$tree/heap?format=text&age=1s")->{body},
         qr/\Aheap profile: /, 'as text');

    my $top = "$tree/heap?format=top&cols=1000";

    like($nginx->get("$top&ages=1")->{body}, qr/  median age  function$/m,
         'a column of the table');
    unlike($nginx->get($top)->{body}, qr/median|leak\?/,
           'which others do not have');

    # a reset forgets

    control($nginx, 'reset=1');
    is(held_of($nginx, 'age=1m'), 0, 'nothing is old after a reset');

    for ([ 'heap?age=5', qr/^age must be a time such as 90s, 15m/ ],
         [ 'heap?ages=2', qr/^ages must be 0 or 1$/ ],
         [ 'heap?age=1m&seconds=5', qr/^age and ages are about live heap/ ],
         [ 'pools?ages=1',
           qr/ask for the resource heap, without seconds, at and base$/ ])
    {
        is_answer($nginx->get("$tree/$_->[0]"), 400, $_->[1], $_->[0]);
    }
};


# Connections that nobody closes, beside requests that come and go.

test 'a leak' => sub {
    my $nginx = start(workers => 1);
    my @held;

    control($nginx, 'sampler=on&lg_sample=10');

    ok(wait_until(sub {
        push @held, hold($nginx, 4) if @held < 1500;
        $nginx->get('/fine') for 1 .. 20;
        sleep 0.2;

        return $nginx->get("$tree/heap?format=top&ages=1&cols=1000")->{body}
               =~ /^leak\? \S+ holds \S+ KiB of \S+ KiB allocated; left (?#
                 )from each quarter of the recording: (?#
                 )(?:\S+ \w+, ){3}\S+ \w+$/m
    }, 300), 'a function is suspected');
};


test 'ages are of the sampler', 'jemalloc' => sub {
    my $nginx = start(with_profiler());
    my $why = qr/the samples of jemalloc's profiler have no age, which age= (?#
                )and ages=1 ask for: POST sampler=on to control, so that the (?#
                )module's sampler is the source$/;

    is_answer($nginx->get("$tree/heap?ages=1&worker=0"), 400, qr/^$why/,
              'not of jemalloc');
    is_answer($nginx->get("$tree/heap?age=1s"), 400,
              qr/^no worker answered: worker \d .*$why/, 'nor of all workers');

    control($nginx, 'sampler=on&worker=1');

    my $answer = $nginx->get("$tree/heap?ages=1");

    is(partly($answer), '1/2', 'one of two has the sampler');
    ok((grep { /is missing: $why/ } @{ profile($answer)->{comments} }),
       'the other says why not');
    is(partly($nginx->get("$tree/heap")), '2/2', 'without ages both answer');
};


# A difference over a change is none.

test 'over a change' => sub {
    my $nginx = start(workers => 1);

    control($nginx, 'sampler=on');

    my $client = $nginx->asking("$tree/heap?seconds=2");

    sleep 0.5;
    control($nginx, 'sampler=on&lg_sample=10');

    my $answer = $client->response;

    isnt($answer->{status}, 200, 'a difference over a new rate is refused');
    is($nginx->get("$tree/heap?seconds=1")->{status}, 200, 'one of one rate');
};


# The change waits in the background thread as it begins, and behind it the dump
# of a question that came while the sampler was on.

test 'off before the dump', 'fake' => sub {
    my $off = "config.prof 0\n";
    my $nginx = JppNginx->start(fake => $off, server => $server);
    my $why = 'the sampler was switched off before its samples were read: (?#
              )POST sampler=on to control, and ask again';

    for my $path ("$tree/heap", "$tree/locations?cols=1000") {
        my ($changes, $asks) = map { $nginx->client } 1 .. 2;

        control($nginx, 'sampler=on');
        $nginx->fake("${off}wait /proc/self/maps\n");

        $changes->send_request("$tree/control", body => 'sampler=off');
        come($nginx);
        $asks->send_request($path);
        come($nginx);

        $nginx->fake($off);

        my $answer = $asks->response;

        is($changes->response->{status}, 200, 'it is switched off');
        is_answer($answer, $path =~ /heap/ ? 503 : 200, qr/$why/, $path);
    }
};


# What was sent has reached the background thread's queue: a question passes
# through the event loop a few times.

sub come($nginx) {
    $nginx->get('/fine') for 1 .. 20;
}


test 'with jemalloc', 'jemalloc' => sub {
    my $nginx = start(with_profiler());

    is(told($nginx, 'source'), 'jemalloc jemalloc', 'jemalloc is the source');

    my ($before) = grep { /^source/ }
                   @{ profile($nginx->get("$tree/heap"))->{comments} };

    is($before, undef, 'and profiles say nothing');

    control($nginx, 'sampler=on');
    is(told($nginx, 'source'), 'sampler sampler', 'the sampler is');
    is(join(' ', map { $_->{problems}[0]{id} } workers($nginx)), 'both both',
       'two that sample are a problem');

    my $profile = profile($nginx->get("$tree/heap"));

    ok((grep { /^source: the module's sampler in 2 of 2/ }
        @{ $profile->{comments} }), 'profiles are by the sampler');
    ok(!(grep { $_ eq 'master' } @{ $profile->{strings} }),
       'without what was inherited');

    control($nginx, 'active=off');
    is(join(' ', map { scalar @{ $_->{problems} } } workers($nginx)), '0 0',
       'the fix');
    is($nginx->get("$tree/heap")->{status}, 200, 'profiles all the same');

    control($nginx, 'active=on&sampler=off');
    is(told($nginx, 'source'), 'jemalloc jemalloc', 'and back');

    $profile = profile($nginx->get("$tree/heap"));
    ok((grep { $_ eq 'master' } @{ $profile->{strings} }),
       'what was inherited is known again');

    $nginx->stop;

    # without a profiler

    $nginx = start(with_profiler(conf => 'prof:false'));
    control($nginx, 'sampler=on');
    is(partly($nginx->get("$tree/heap")), '2/2', 'prof:false does as well');
    like(told($nginx, 'state'), qr/^off off$/, 'and stays what it is');
};


test 'the rate is that of the source', 'jemalloc' => sub {
    my $nginx = start(with_profiler());

    control($nginx, 'sampler=on&lg_sample=10');
    is(told($nginx, 'sampler.lg_sample'), '10 10', 'that of the sampler');
    is(told($nginx, 'lg_sample'), '15 15', "and jemalloc's as it was");

    control($nginx, 'lg_sample=13');
    is(told($nginx, 'sampler.lg_sample'), '13 13', 'while it is on');
    is(told($nginx, 'lg_sample'), '15 15', 'only');

    control($nginx, 'sampler=off&lg_sample=16');
    is(told($nginx, 'lg_sample'), '16 16', "jemalloc's once it is off");

    $nginx->reload;
    is(told($nginx, 'lg_sample'), '16 16', 'in new workers, too');

    # on again, in workers that were there and in those that come

    control($nginx, 'sampler=on');
    is(told($nginx, 'sampler.lg_sample'), '13 13', 'the rate it had');
    is(told($nginx, 'in_step'), '1 1', 'as it is wanted');
    $nginx->reload;
    is(told($nginx, 'sampler.lg_sample'), '13 13', 'in new workers, too');
    is(told($nginx, 'in_step'), '1 1', 'as it is wanted');
};


# Everything at once: requests in a process of their own do not fail.

test 'off and on, reloads, kills' => sub {
    my ($n, $n_reloads, $n_kills) = $is_long ? (1000, 100, 50) : (30, 4, 3);
    my $nginx = start();
    my $load = load($nginx);

    for my $i (1 .. $n) {
        control($nginx, $i % 2 ? 'sampler=on&lg_sample=10' : 'sampler=off');

        $nginx->reload if $i % int($n / $n_reloads) == 0;
    }

    my ($n_asked, $n_failed) = $load->();

    is($n_failed, 0, "$n_asked requests, $n changes, $n_reloads reloads");

    control($nginx, 'sampler=off');

    # one worker before, on and off

    my $worker = $nginx->worker;
    my $before = protections($worker);

    control($nginx, 'sampler=on');
    control($nginx, 'sampler=off');
    is(protections($worker), $before, 'as they were before');

    # a worker that is killed takes nothing with it

    control($nginx, 'sampler=on&lg_sample=10');

    for (1 .. $n_kills) {
        my $pid = $nginx->worker;

        $nginx->signal('KILL', $pid);
        $nginx->replaced($pid);
    }

    $n_failed = grep { $nginx->get('/fine')->{status} != 200 } 1 .. 100;
    is($n_failed, 0, "requests, after $n_kills kills");
    ok(wait_until(sub { told($nginx, 'source') eq 'sampler sampler' }),
       'those that came have the sampler');

    $nginx->stop(alerts => qr/exited on signal 9/);
};


# A process that asks until it is told to stop: how often, and how many failed.

sub load($nginx) {
    my $enough = "$nginx->{prefix}/enough";
    my $result = "$nginx->{prefix}/result";
    my $pid = fork() // die "fork: $!";

    if ($pid == 0) {
        my ($n, $n_failed) = (0, 0);

        until (-e $enough) {
            $n++;
            $n_failed++ if $nginx->get('/fine')->{status} != 200;
        }

        spew($result, "$n $n_failed");
        POSIX::_exit(0);
    }

    return sub {
        spew($enough, '');
        waitpid $pid, 0;

        return split ' ', slurp($result);
    };
}


# How the files of a process are mapped.

sub protections($pid) {
    return join '', grep { m{ /.*\.so|nginx$} }
                    split /^/m, slurp("/proc/$pid/maps");
}


test 'LuaJIT', 'lua' => sub {
    my $n = $is_long ? 100_000 : 500;
    my $nginx = start(main => lua_modules(), server => $hot, workers => 1);
    my $n_bad = 0;

    control($nginx, 'sampler=on&lg_sample=10');

    my $client = $nginx->client;

    for (1 .. $n) {
        $n_bad++ if $client->get('/hot')->{status} != 200;
        $client = $nginx->client if $_ % 1000 == 0;
    }

    is($n_bad, 0, "$n requests, and none fails");

    # by functions of the Lua module: FFI finds malloc() past all tables

    my $answer = $nginx->get("$tree/allocs?format=folded&type=alloc_space");

    like($answer->{body}, qr/^\[cut: JIT code\][; ]/m,
         'stacks are cut where it compiled');
    profile($nginx->get("$tree/heap"));
};

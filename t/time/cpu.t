#!/usr/bin/perl

# The resource profile: what it says of workers that burn CPU time and of
# workers that wait, in all forms; parameters; workers that are missing, or end
# meanwhile; clients that leave; many at once; and what forbids it.
#
# Not here: what a window holds, which is that of t/unit/jpp_cpu_test.c; what
# happens in a storm (time/cpu-storm.t).

use JppTest;
use JppNginx qw( left_over );
use JppProfile qw( read_profile );

my $list = '/debug/pprof/profile';

# a regular expression that takes 10 ms to fail
my $slow = '/slow?x=' . 'a' x 27 . 'b';

my $server = <<'END';
location /debug/pprof/ { jemalloc_pprof; }
location /short/ { jemalloc_pprof; jemalloc_pprof_max_seconds 1s; }
location /late/ { jemalloc_pprof; jemalloc_pprof_timeout 500ms; }
location /slow { return 200 "slow $slow\n"; }
END

my $http = 'jemalloc_pprof_stall off;
            map $arg_x $slow { "~^(a|aa)+$" yes; default no; }';

test 'an idle worker', 'root', 'strace' => \&idle;


sub start {
    return JppNginx->start(workers => 2, server => $server, http => $http,
                           @_);
}


# Runs CODE while N processes ask NGINX for PATH, one request after the other.

sub under_load($nginx, $path, $n, $code) {
    my $load = busy($n, sub { $nginx->get($path) });

    return $code->();
}


# The answers to PATHS, for which NGINX is asked at the same time.

sub at_once($nginx, @paths) {
    my @clients = map { $nginx->asking($_) } @paths;

    return map { $_->response } @clients;
}


# The parts of an answer in pprof's format, which has to keep the contract.

sub profile($answer) {
    my $text = checked($answer->{body}, '--print');

    like($text, qr/^types: /, 'the profile keeps the contract');

    return read_profile($text);
}


sub is_at_rest($nginx) {
    my %left;

    wait_until(sub {
        %left = map { $_ => left_over($_) } $nginx->worker_pids;
        return !grep { length } values %left;
    });

    is(join('', values %left), '', 'nothing is left: handler, timer, thread');
}


test 'a profile' => sub {
    my $nginx = start();

    my $answer = under_load($nginx, $slow, 2, sub {
        return $nginx->get("$list?seconds=2&frequency=200");
    });

    is($answer->{status}, 200, 'a profile');
    is($answer->{headers}{'jemalloc-pprof-workers'}, '2/2', 'of all workers');
    like($answer->{headers}{'content-disposition'}, qr/nginx-profile-.*pb\.gz/,
         'its name');

    my $profile = profile($answer);

    is("@{ $profile->{types} }", 'samples/count cpu/nanoseconds', 'its types');
    is($profile->{default}, 'cpu', 'its default');
    like($profile->{text}, qr{^period: 5000000 cpu/nanoseconds$}m,
         'its period');
    ok($profile->{duration} > 1e9 && $profile->{duration} < 20e9,
       'its duration, from its first sample on') or diag($profile->{duration});

    my @samples = @{ $profile->{samples} // [] };
    my $nanos = 0;

    $nanos += $_->{values}[1] for @samples;

    ok($nanos > 0.1e9, 'it has CPU time');
    is(scalar(grep { !defined $_->{labels}{worker} || !$_->{labels}{pid}
                     || !$_->{labels}{generation} || !$_->{labels}{thread} }
                   @samples), 0, 'labels: who, and which thread');
    is(scalar(grep { defined $_->{labels}{origin} } @samples), 0,
       'and no origin');

    like($profile->{text}, qr/"\w*pcre\w*"/, 'the regular expression');
    like($profile->{text}, qr/200 samples a second of each thread, for \d/,
         'how often');
    like($profile->{text}, qr{workers 2/2}, 'how many workers');

    is_at_rest($nginx);
};


test 'forms' => sub {
    my $nginx = start();

    my @paths = map { "$list?seconds=1&format=$_" } qw( top folded svg html );
    my %answers;

    @answers{qw( top folded svg html )} = under_load($nginx, $slow, 2, sub {
        return at_once($nginx, @paths);
    });

    is($answers{$_}{status}, 200, $_) for sort keys %answers;

    like($answers{top}{body}, qr/\Acpu: [\d.]+ m?s in \d+ stacks, estimated /,
         'top: what is counted is time');
    like($answers{top}{body}, qr/ m?s +[\d.]+% .*pcre/, 'by function');
    like($answers{folded}{body}, qr/^\S.*pcre.* \d+$/m, 'folded: stacks');
    like($answers{svg}{body}, qr/<svg .*pcre/s, 'svg: a picture');
    like($answers{html}{body}, qr/<html/, 'html: a page');

    is_answer($nginx->get("$list?format=text"), 400, 'format=text has '
              . 'heap profiles only: choose another format', 'text');
    is_answer($nginx->get("$list?origin=worker"), 400, 'origin is about '
              . 'memory: a profile of cpu has none: leave it out', 'origin');
};


test 'parameters' => sub {
    my $nginx = start();

    is_answer($nginx->get("$list?$_->[0]"), 400, $_->[1], $_->[0]) for (
        [ 'frequency=0', 'frequency must be a whole number of samples a second '
          . 'from 1 to 1000' ],
        [ 'seconds=301', 'seconds must be a whole number from 1 to 300' ],
        [ 'mode=x', 'mode must be cpu or wall' ],
        [ 'type=inuse_space', 'type must be wall, cpu or samples' ],
    );

    is_answer($nginx->get('/short/profile?seconds=2'), 400,
              'seconds must be a whole number from 1 to 1', 'the maximum');
    is_answer($nginx->get("$list?seconds=1&type=wall"), 400,
              'wall is not in this profile: ask for mode=wall', 'type=wall');

    my $answer = $nginx->get('/short/profile?frequency=1000');

    is($answer->{status}, 200, 'without seconds');
    cmp_ok(profile($answer)->{duration}, '<', 20e9,
           'the default is not above the maximum');

    $answer = $nginx->get($list, method => 'HEAD');

    is($answer->{status}, 200, 'HEAD, which does not wait');
    is_at_rest($nginx);
};


# Workers that wait for events are idle.

test 'wall clock' => sub {
    my $nginx = start(main => 'thread_pool default threads=3;',
                      server => $server . <<'END');
location /aio/ { aio threads; }
END

    my $answer = $nginx->get("$list?seconds=1&mode=wall");
    my $profile = profile($answer);

    is("@{ $profile->{types} }", 'samples/count wall/nanoseconds', 'its types');
    is($profile->{default}, 'wall', 'its default');
    my ($idle) = $profile->{text} =~ /idle ([\d.]+) %: event loops that waited/;

    cmp_ok($idle // 0, '>', 0, 'idle workers are idle')
        or diag($profile->{text});

    ($answer, my $threads) = under_load($nginx, $slow, 4, sub {
        return at_once($nginx, "$list?seconds=1&mode=wall&frequency=200",
                       "$list?seconds=1&format=top&cols=1000");
    });

    $profile = profile($answer);

    ok((grep { ($_->{labels}{state} // '') eq 'cpu' }
             @{ $profile->{samples} // [] }), 'those that work are not');
    like($profile->{text}, qr/"\w*pcre\w*"/, 'at what, is said');

    # threads of a pool block all signals, and any thread does as it starts

    my ($deaf) = $threads->{body}
                 =~ /^(\d+) of \d+ threads take no signal \(they block/m;

    cmp_ok($deaf // 0, '>=', 6, 'threads of a pool')
        or diag($threads->{body});

    unlike($nginx->error_log, qr/Interrupted system call/, 'no EINTR');

    is($nginx->get('/debug/pprof/heap?mode=wall&frequency=7&seconds=1')
             ->{status} =~ /200|403|501/, 1, 'a heap has no mode');
};


test 'selections' => sub {
    my $nginx = start();
    my (undef, $second) = $nginx->worker_pids;

    my @paths = ("$list?seconds=1&worker=1",
                 '/debug/pprof/worker/0/profile?seconds=1',
                 "$list?seconds=1&worker=pid-$second",
                 "$list?seconds=1&worker=self");

    for my $answer (at_once($nginx, @paths)) {
        my $path = shift @paths;

        is($answer->{status}, 200, $path);
        is($answer->{headers}{'jemalloc-pprof-workers'}, '1/1', 'of one');
    }

    is($nginx->get("$list?seconds=1&worker=7")->{status}, 404, 'no worker');
};


test 'a worker that is stopped' => sub {
    my $nginx = start();
    my $client = $nginx->client;
    my ($other) = $nginx->workers_of($client);

    $nginx->signal('STOP', $other);

    my $answer = $client->get('/late/profile?seconds=1&format=top&cols=1000');

    is($answer->{status}, 200, 'the other one answers');
    is($answer->{headers}{'jemalloc-pprof-workers'}, '1/2', 'alone');
    like($answer->{body},
         qr/pid $other is missing: no answer within 500\.0 ms /,
         'who is missing, and why');

    $answer = $client->get('/late/profile?seconds=1&strict=1');

    is_answer($answer, 503, qr/^only 1 of 2 workers answered, and strict=1 /,
              'strict');

    $nginx->signal('CONT', $other);
    is_at_rest($nginx);
};


test 'a worker that is killed' => sub {
    my $nginx = start();
    my $client = $nginx->client;
    my ($other) = $nginx->workers_of($client);

    $client->send_request("$list?seconds=3&format=top&cols=1000");
    wait_until(sub { left_over($other) }) or die 'no window';
    kill 'KILL', $other;

    my $answer = $client->response;

    is_answer($answer, 200, qr/pid $other is missing: it exited before it /,
              'the other one answers');

    $nginx->stop(alerts => qr/exited on signal 9/);
};


# The workers that end give what they have.

test 'a reload' => sub {
    my $nginx = start();
    my $client = $nginx->client;
    my @old = $nginx->worker_pids;

    $client->send_request("$list?seconds=60&format=top&cols=1000");
    wait_until(sub { left_over($old[0]) && left_over($old[1]) })
        or die 'no window';

    $nginx->signal('HUP');

    my $answer = $client->response;

    is_answer($answer, 200, qr/^2 of 2 workers ended early, the first after /m,
              'workers that end answer first');
    like($answer->{body}, qr/ s: (?:it|the worker that asked) shuts\s+down$/m,
         'and why');

    $nginx->replaced(@old);

    is_at_rest($nginx);
};


# No wait for events ends early, which strace would show: one that is met by a
# signal as it begins, begins again, and rt_sigreturn returns its number.

sub idle {
    my $nginx = start();
    my ($pid) = $nginx->worker_pids;
    my $log = "$nginx->{prefix}/strace";
    my $strace = fork() // die "fork: $!";

    if ($strace == 0) {
        exec 'strace', '-qq', '-o', $log, '-p', $pid, '-e',
             'trace=epoll_wait,epoll_pwait,epoll_pwait2,rt_sigreturn'
            or POSIX::_exit(127);
    }

    # being traced ends the wait that it is in

    ok(wait_until(sub { -e $log && slurp($log) =~ /\n/ }),
       'a worker is traced');

    my @answers = at_once($nginx, "$list?seconds=2&frequency=1000",
                          "$list?seconds=2&frequency=1000&mode=wall");

    is($_->{status}, 200, 'a profile') for @answers;

    my (undef, @calls) = slurp($log) =~ /^(epoll_.*)/mg;
    my @ended = slurp($log) =~ /^(rt_sigreturn.*)/mg;

    ok(@calls > 1, 'it has waited');
    is(join("\n", grep { /EINTR/ } @ended), '', 'and was not interrupted');
    cmp_ok(scalar(grep { /EINTR/ } @calls), '<', 20,
           'nor sent a signal, of thousands, but for one that came too late');

    # a worker ignores this one, and strace shows it, if it comes while it waits

    my $end = length slurp($log);

    ok(wait_until(sub {
        $nginx->signal('HUP', $pid);
        sleep 0.05;
        return substr(slurp($log), $end) =~ /^rt_sigreturn.*EINTR/m;
    }), 'as it is by a signal');

    kill 'TERM', $strace;
    waitpid $strace, 0;
}


# The worker that serves PATH quits once there is a window, and the other one
# gets SIGNAL, if any: it answers first, for ANSWERED.  The answer, and the pid
# of the other.

sub quits($path, $answered, $signal = undef) {
    my $nginx = start();
    my $client = $nginx->client;
    my ($other, $self) = $nginx->workers_of($client);

    $client->send_request("$path?seconds=100&format=top&cols=1000");
    wait_until(sub { left_over($self) && left_over($other) })
        or die 'no window';

    $nginx->signal($signal, $other) if $signal;
    $nginx->signal('QUIT', $self);

    my $answer = $client->response;

    is($answer->{status}, 200, 'it answers first');
    is($answer->{headers}{'jemalloc-pprof-workers'}, $answered,
       "for $answered");

    return ($answer, $other);
}


# It gives what it has, and what the others have by then.

test 'the worker that serves quits' => sub {
    my ($answer) = quits($list, '2/2');

    like($answer->{body}, qr/^2 of 2 workers ended early, the first after /m,
         'with what they had so far');
    like($answer->{body}, qr/ s: (?:it|the worker that asked) shuts\s+down$/m,
         'and why');
};


# One that is stopped does not hold it up for longer than it may.

test 'it quits, and another is stopped' => sub {
    my ($answer, $other) = quits('/late/profile', '1/2', 'STOP');

    like($answer->{body},
         qr/pid $other is missing: no answer within 500\.0 ms /,
         'who is missing, and why');

    kill 'CONT', $other;
};


test 'a client that leaves' => sub {
    my $nginx = start();
    my @pids = $nginx->worker_pids;
    my $client = $nginx->asking("$list?seconds=60");

    wait_until(sub { left_over($pids[0]) && left_over($pids[1]) })
        or die 'no window';

    $client->leave;

    is_at_rest($nginx);
};


test 'many at once' => sub {
    my $nginx = start(connections => 1024);

    my @clients = map {
        my $client = $nginx->client;
        my ($mode, $frequency) = ($_ % 5 ? 'cpu' : 'wall', 1 + 9 * $_);

        $client->send_request("$list?seconds=2&mode=$mode"
                              . "&frequency=$frequency&format=top&cols=1000");
        $client;
    } 1 .. 100;

    my $fine = $nginx->get('/fine');

    is($fine->{status}, 200, 'others are answered meanwhile');
    is($nginx->get('/debug/pprof/status')->{status}, 200, 'and asked');

    my %n;

    for my $client (@clients) {
        my $answer = $client->response;

        $n{$answer->{status}}++;
        $n{wrong}++ if $answer->{status} == 429
            && $answer->{body} !~ /\Athis worker has too many requests for /
            && $answer->{body} !~ / profiles of its CPU are being taken /;
    }

    ok(($n{200} // 0) >= 32, 'a hundred at once: many are answered');
    is(($n{200} // 0) + ($n{429} // 0), 100, 'the others with 429')
        or diag(explain(\%n));
    is($n{wrong} // 0, 0, 'and a sentence');

    is_at_rest($nginx);
};


test 'with a heap', 'jemalloc' => sub {
    my $nginx = start();
    my @clients = map { $nginx->client } 1 .. 3;

    $clients[0]->send_request("$list?seconds=2&frequency=1000");
    $clients[1]->send_request('/debug/pprof/heap?seconds=1');
    $clients[2]->send_request('/debug/pprof/pools');

    is($_->response->{status}, 200, 'an answer') for @clients;
};


sub with_profiler($words) {
    my $profiler = "$build/t/jpp_profiler.so";

    die "no $profiler: ./dev test makes it\n" unless -e $profiler;

    return start(preload => [ $profiler, preloads() ],
                 env => { JPP_PROFILER => $words });
}


test 'another profiler' => sub {
    my $nginx = with_profiler('handler');

    my $sentence = qr{^(?:no\ worker\ answered:\ worker\ \d+\ \(pid\ \d+\),\ )?
                      SIGPROF\ belongs\ to\ \S+/jpp_profiler\.so:\ switch\ that
                      \ profiler\ off\ \(google_perftools_profiles,\ for\ one\),
                      \ and\ start\ this\ process\ again$}x;

    is_answer($nginx->get("$list?seconds=1"), 409, $sentence, 'a profile');
    is_answer($nginx->get("$list?seconds=1&mode=wall&worker=0"), 409,
              $sentence, 'of one worker');
    is($nginx->get($list, method => 'HEAD')->{status}, 409, 'HEAD');
};


test 'no timers' => sub {
    my $nginx = with_profiler('timers');

    is_answer($nginx->get("$list?seconds=1&worker=0"), 503, 'timer_create is '
              . 'forbidden here: allow it in the filter of system calls '
              . '(SystemCallFilter= of systemd, seccomp of a container), or '
              . 'use mode=wall, which needs no timers', 'CPU time');

    is($nginx->get("$list?seconds=1&mode=wall")->{status}, 200, 'wall clock');
    is_at_rest($nginx);
};


test 'no room for timers', 'root' => sub {
    my $nginx = start();

    limit($_, 'sigpending', '0') for $nginx->worker_pids;

    is_answer($nginx->get("$list?seconds=1&worker=0"), 503,
              'the kernel has no room for another timer of this user: raise '
              . 'RLIMIT_SIGPENDING (LimitSIGPENDING= in a unit of systemd)',
              'CPU time');
    is_at_rest($nginx);
};


test 'go tool pprof', 'go' => sub {
    my $nginx = start();
    my $url = "http://127.0.0.1:$nginx->{port}$list?seconds=1";

    my $top = under_load($nginx, $slow, 2, sub {
        return scalar `HOME=/nonexistent go tool pprof -top '$url' 2>&1`;
    });

    like($top, qr/^Type: cpu$/m, 'pprof reads it as Go\'s');
    like($top, qr/^Duration: \d/m, 'its duration');
    like($top, qr/s +[\d.]+% .*pcre/, 'its functions');
};


# By its own path it gets the form that it reads, and asks for the names.

test 'jeprof', 'jeprof' => sub {
    my $nginx = start();
    my $url = "http://127.0.0.1:$nginx->{port}/debug/pprof/pprof/profile";

    my $top = under_load($nginx, $slow, 2, sub {
        local $ENV{HOME} = $nginx->{prefix};

        return scalar `jeprof --text --seconds=1 '$url' 2>&1`;
    });

    like($top, qr/^Total: [1-9]\d* samples$/m, 'jeprof reads it');
    like($top, qr/^ +\d+ +[\d.]+% .*pcre/m, 'its functions');

    my $answer = $nginx->get("$url?seconds=1&worker=self" =~ s{^.*?//[^/]*}{}r);

    is($answer->{status}, 200, 'of one worker');
    like($answer->{head}, qr/filename="\S+\.prof"/, 'its name');

    for my $path ('heap', 'pools', 'stalls') {
        is($nginx->get("/debug/pprof/pprof/$path?format=binary")->{body},
           'format=binary has cpu profiles only: choose another format'
           . "\n", "no $path");
    }

    is_answer($nginx->get("/debug/pprof/pprof/profile?seconds=1&mode=wall"),
              400, 'format=binary has cpu profiles only: choose another '
              . 'format', 'no wall clock');

    is_at_rest($nginx);
};

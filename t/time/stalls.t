#!/usr/bin/perl

# Stalls under an nginx: what blocks a worker is found while it does, with its
# stack and its location, whoever is asked; and it is kept when the worker is
# gone.
#
# Not here: the watcher by itself (t/unit/jpp_watch_test.c); the table and the
# words (t/unit/jpp_stalls_test.c); crowds, reloads and kills
# (time/stalls-storm.t); what docs/stalls.md shows (meta/shown.t).

use JppTest;
use JppStalls qw( hold log_lines release stalling stalls );

my $stalls = '/debug/pprof/stalls';
my $dir = File::Temp->newdir;

# what is shown of a worker that stands still, by what it does
my %found = (
    read => qr/;Perl_pp_open;.*;[^;]*open[^;]* \d+$/,
    compute => qr/;Perl_runops_standard(?:;Perl_\S+)? \d+$/,
    kernel => qr/;ngx_http_lua_run_thread;.*;posix_spawn;\S+ \d+$/,
    sleep => qr/;Perl_pp_sselect;select \d+$/,
);


# Seen from another worker while it lasts, and afterwards.

test 'a worker that stands still', 'scripts' => sub {
    my $nginx = stalling(stall => '250ms', workers => 2);

    for my $how (qw( read compute kernel )) {
        my $client = hold($nginx, $how);
        my ($comments, $stacks) = stalls($nginx);

        like($comments->[0],
             qr{^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\ worker\ [01]\ pid\ \d+
                \ generation\ 1:\ \d+\ ms\ so\ far,\ (?:computing|blocked),
                \ in\ location\ "/$how/"\ of\ server\ "www\.example\.com"
                \ \(nginx\.conf:\d+\),\ connection\ \*\d+$}x,
             "$how: who and what, while it lasts");

        ok(scalar(grep { /$found{$how}/ } @$stacks), "$how: and where")
            or diag(explain($stacks));

        is(release($nginx, $client, $how)->{status}, 200, "$how: it goes on");

        ($comments) = stalls($nginx);
        unlike($comments->[0], qr/so far/, "$how: and is over");
    }

    # the time that all took is that of the stalls

    my ($comments, $stacks) = stalls($nginx);
    my ($ms, $nanos) = (0, 0);

    $ms += $_ for map { /: (\d+) ms/ } @$comments;
    $nanos += $_ for map { / (\d+)$/ } @$stacks;

    is($nanos, $ms * 1000000, 'the sum of the profile is that of the list');
};


# A sleep ends when it should, and calls are not cut short: a signal would do
# both.

test 'it is not disturbed', 'scripts' => sub {
    my $nginx = stalling(stall => '10ms', workers => 2);

    is($nginx->get('/sleep/')->{body}, "slept\n", 'a sleep') for 1 .. 3;

    my $sleeps = sleeps($nginx);
    my (undef, $stacks) = stalls($nginx);

    is(scalar(grep { /: (?:29[0-9]|[3-9]\d\d|\d{4,}) ms, blocked/ }
              @$sleeps), 3, 'lasts as long as it should')
        or diag(explain($sleeps));
    ok(scalar(grep { /$found{sleep}/ } @$stacks), 'and is one stack')
        or diag(explain($stacks));

    my $client = hold($nginx, 'read');

    is(release($nginx, $client, 'read')->{body}, "read a line\n", 'a read');
};


test 'it is killed', 'scripts' => sub {
    my $nginx = stalling(stall => '250ms', workers => 2);
    my $client = hold($nginx, 'read');
    my ($comments) = stalls($nginx);
    my ($pid) = $comments->[0] =~ /pid (\d+)/;

    $nginx->signal('KILL', $pid);
    wait_until(sub { !-e "/proc/$pid" });

    ($comments, my $stacks) = stalls($nginx);

    like($comments->[0],
         qr{pid\ $pid\ .*:\ \d+\ ms\ at\ least,\ until\ the\ worker\ ended,
            \ blocked,\ in\ location\ "/read/"}x, 'what is known is kept');
    ok(scalar(grep { /$found{read}/ } @$stacks), 'with names')
        or diag(explain($stacks));

    $nginx->stop(alerts => qr/worker process $pid exited on signal 9/);
};


test 'workers of former configurations', 'scripts' => sub {
    my $nginx = stalling();

    $nginx->get('/sleep/');
    my $before = sleeps($nginx);
    my ($pid) = $before->[0] =~ /pid (\d+)/;

    $nginx->reload;
    ok(wait_until(sub { !-e "/proc/$pid" }), 'the worker is gone');

    is_deeply(sleeps($nginx), $before, 'and what it said is not');
    ok(scalar(grep { /$found{sleep}/ } @{ (stalls($nginx))[1] }),
       'nor are the names');

    $nginx->get('/sleep/');

    my $all = sleeps($nginx);

    is(scalar @$all, @$before + 1, 'the next one is added');

    is_deeply(sleeps($nginx, 'worker=exiting'), $before,
              'worker=exiting: those before');
    is_deeply(sleeps($nginx, "worker=pid-$pid"), $before,
              'worker=pid: its own');
    is_deeply(sleeps($nginx, 'worker=self'), [ $all->[0] ],
              "worker=self: one's own");
    is_deeply(sleeps($nginx, 'worker=0'), $all,
              'an index: all that had it');
};


# Those that were asked for, once they are over; a busy machine has others.

sub sleeps($nginx, $query = undef) {
    return wait_until(sub {
        my ($comments) = stalls($nginx, $query);
        my @sleeps = grep { m{"/sleep/"} } @$comments;

        return (grep { / so far, / } @sleeps) ? 0 : \@sleeps;
    });
}


# Meanwhile nginx has the location with the longest prefix, which is not it; and
# a server without a name is known by its place in the configuration.

test 'a location is chosen' => sub {
    my $nginx = JppNginx->start(level => 'notice', server => <<'SERVER');
location /debug/pprof/ { jemalloc_pprof; }
location / { return 200 "root\n"; }
location ~ "(a+)+[b-d]" { return 200 "found\n"; }
SERVER
    my $choosing = qr{, while choosing a location: a regular expression of a (?#
                     )"location ~" of server "_ \S+/nginx\.conf:\d+"};
    my $found;

    ok(wait_until(sub {
        is($nginx->get('/' . ('a' x 20 . '!') x 10)->{body}, "root\n",
           'an answer');

        ($found) = grep { /$choosing/ } @{ (stalls($nginx))[0] };
    }), 'a regular expression of a location');
    unlike($found // '', qr{location "/"}, 'not of the one that it ends in');

    my $by = $nginx->get("$stalls?format=folded&by=location")->{body};

    like($by, qr{^server _ \S+/nginx\.conf:\d+;location \(choosing (?#
                )a location\);.*;ngx_http_core_find_config_phase;}m,
         'by location');
};


test 'the error log', 'scripts' => sub {
    my $nginx = stalling(stall => '10ms', workers => 2);
    my $client = hold($nginx, 'read');

    release($nginx, $client, 'read');

    my ($line) = grep { m{"/read/"} } log_lines($nginx);

    like($line,
         qr{^jemalloc_pprof:\ the\ event\ loop\ stood\ still\ for\ \d+\ ms,
            \ blocked\ in\ \w*open\w*\ \(libc\.so\.6\),\ called\ by\ PerlIO\w+
            \ \(libperl\.so\S+\),\ in\ location\ "/read/"\ of
            \ server\ "www\.example\.com"\ \(nginx\.conf:\d+\),
            \ connection\ \*\d+}x,
         'a line with all there is to say');

    # a minute may begin between them

    $nginx->get('/sleep/') for 1 .. 12;

    my @lines = log_lines($nginx);

    cmp_ok(scalar @lines, '<=', 10, 'at most five in a minute')
        or diag(explain(\@lines));
};


# Something that takes the signal before nginx starts, as a profiler does.

test 'a SIGPROF of somebody else', 'scripts' => sub {
    my $source = spew("$dir/taken.c", <<'C');
#include <signal.h>
static void taken(int signo) { (void) signo; }
static void __attribute__((constructor)) take(void) { signal(SIGPROF, taken); }
C

    system("cc -shared -fPIC -o $dir/taken.so $source") == 0
        or return plan(skip_all => 'there is no compiler');

    my $nginx = stalling(workers => 2,
                         preload => [ preloads(), "$dir/taken.so" ]);

    like($nginx->error_log,
         qr{\[warn\].*\ jemalloc_pprof:\ stalls\ in\ which\ this\ worker
            \ computes\ have\ no\ stack:\ SIGPROF\ belongs\ to\ \S+/taken\.so}x,
         'the log says so');

    my $status = $nginx->json('/debug/pprof/status');
    my ($worker) = @{ $status->{workers} };

    is($worker->{stall_ms}, 100, 'the status: it looks');
    is(scalar(grep { $_->{id} eq 'sigprof' } @{ $worker->{problems} }), 1,
       'and has a problem');

    my $client = $nginx->asking("/compute/?$nginx->{prefix}/go");

    ok(wait_until(sub {
        my ($comments) = stalls($nginx);

        return @$comments
               && $comments->[0] =~ /so far, computing, without a stack/;
    }), 'time and duration, without a stack');
    is(release($nginx, $client, 'compute')->{status}, 200, 'it goes on');

    my (undef, $stacks) = stalls($nginx);
    like($stacks->[0],
         qr/^\[no stack: another profiler uses SIGPROF\] \d+$/,
         'and one frame that says why');

    $client = hold($nginx, 'read');
    release($nginx, $client, 'read');
    (undef, $stacks) = stalls($nginx);
    ok(scalar(grep { /$found{read}/ } @$stacks), 'what blocks has its stack')
        or diag(explain($stacks));
};


# The request of a stream is on the stack, too.

test 'HTTP/2', 'scripts', 'curl' => sub {
    my $port = free_port();
    my $nginx = stalling(servers => <<"CONF");
server {
    listen 127.0.0.1:$port http2;
    server_name h2.example;
    location /h2/ {
        perl 'sub {
            select undef, undef, undef, 0.3;
            \$_[0]->send_http_header;
        }';
    }
}
CONF

    system("curl -s --http2-prior-knowledge -o /dev/null "
           . "http://127.0.0.1:$port/h2/");

    my ($comments) = stalls($nginx);

    like((grep { /h2/ } @$comments)[0],
         qr{in location "/h2/" of server "h2\.example"},
         'the location of a stream');
};


test 'forms', 'scripts' => sub {
    my $nginx = stalling();

    my $empty = $nginx->get($stalls);

    is($empty->{status}, 200, 'none is a profile');
    is(checked($empty->{body}), '', 'that keeps the contract');

    $nginx->get('/sleep/');

    my $answer = $nginx->get($stalls);

    is(checked($answer->{body}), '', 'the contract');
    like($answer->{headers}{'content-disposition'},
         qr/"nginx-stalls-.*\.pb\.gz"/, 'a name to save it under');

    my $printed = checked($answer->{body}, '--print');

    like($printed, qr/stalls\/count.*delay\/nanoseconds/s, 'its types')
        or diag($printed);

    for my $label ('server', 'location', 'worker', 'pid', 'generation') {
        like($printed, qr/\b$label\b/, "label $label");
    }

    is($nginx->get("$stalls?format=$_")->{status}, 200, $_)
        for qw( folded top html svg );

    for my $format (qw( text jemalloc )) {
        is_answer($nginx->get("$stalls?format=$format"), 400,
                  qr/choose another format/, "$format is for heaps");
    }

    like($nginx->get("$stalls?format=top&cols=1000&type=stalls")->{body},
         qr/^stalls: 1 /, 'type=stalls');
    is($nginx->get("$stalls?type=inuse_space")->{status}, 400,
       'a type of others');

    # a window has what begins in it

    my $window = $nginx->get("$stalls?format=top&cols=1000&seconds=1")->{body};

    unlike($window, qr{/sleep/}, 'seconds: nothing from before');
    like($window, qr/^stalls are recorded from 100 ms on$/m, 'but the rest');

    for ([ '', qr/^duration: 0$/m ],
         [ '?seconds=1', qr/^duration: [1-9]\d{8,}$/m ])
    {
        my ($query, $duration) = @$_;

        my $window = $nginx->get("$stalls$query")->{body};

        is(checked($window), '', 'the contract');
        like(checked($window, '--print'), $duration, "its duration: $query");
    }

    # of a worker that there is not, and never was

    for my $query ('worker=1', 'worker=pid-1', 'worker=1&seconds=1') {
        is_answer($nginx->get("$stalls?$query"), 404,
                  'no such worker: status lists all workers', "$query: 404");
    }
};


# A thread watches where a location serves the module, and where it is not off.

test 'by default' => sub {
    my $nginx = JppNginx->start(level => 'notice');

    is(watched_by($nginx->worker_pids, 1), 1, 'a thread watches');
    like($nginx->get("$stalls?format=top&cols=1000")->{body},
         qr/^stalls are recorded from 100 ms on$/m, 'from 100 ms on');
    unlike($nginx->get('/debug/pprof/profile?seconds=1&format=top')->{body},
           qr/take no signal/, 'profiles of CPU time have no word of it');

    $nginx->stop;

    $nginx = JppNginx->start(server => '');
    is(threads($nginx->worker_pids), 1, 'no location, no thread');
    is(watchers($nginx->worker_pids), 0, 'nobody watches');
};


# A thread has its name a moment after it has started.

sub watched_by($pid, $n) {
    wait_until(sub { watchers($pid) == $n });

    return watchers($pid);
}


# Nobody watches, and the answer says so; what was recorded stays.

test 'off', 'scripts' => sub {
    my $nginx = stalling(stall => 'off');
    my ($pid) = $nginx->worker_pids;

    is(watchers($pid), 0, 'no thread');
    like($nginx->get("$stalls?format=top&cols=1000")->{body},
         qr/^stalls are not recorded: POST stall=100ms to control$/m,
         'which is said, with the fix');

    $nginx->get('/sleep/');
    is_deeply(sleeps($nginx), [], 'nothing is recorded');

    $nginx->get('/debug/pprof/control', body => 'stall=100ms');
    is(watched_by($pid, 1), 1, 'switched on: a thread');

    $nginx->get('/sleep/');
    is(scalar @{ sleeps($nginx) }, 1, 'and a stall');

    $nginx->get('/debug/pprof/control', body => 'stall=off');
    is(watchers($pid), 0, 'switched off: none');

    $nginx->get('/sleep/');
    is(scalar @{ sleeps($nginx) }, 1, 'what was recorded stays');

    $nginx->reload;
    is(watchers($nginx->worker_pids), 0, 'off after a reload, too');
    is(scalar @{ sleeps($nginx) }, 1, 'and it stays');
};


# Without a master, and without scripts.

test 'a single process', 'loaded' => sub {
    my $nginx = JppNginx->start(master => 0,
                                http => 'jemalloc_pprof_stall 10ms;',
                                server => <<'SERVER');
location /debug/pprof/ { jemalloc_pprof; }
location /regex/ {
    if ($arg_q ~ "^(a+)+$") { return 200 "yes\n"; }
    return 200 "no\n";
}
SERVER

    ok(wait_until(sub {
        $nginx->get('/regex/?q=' . 'a' x 20 . '!');

        my ($comments) = stalls($nginx);

        return grep { m{ms, computing, in location "/regex/"} } @$comments;
    }), 'a regular expression that backtracks');

    ok(scalar(grep { /;ngx_regex_exec;pcre2_match_8;/ }
              @{ (stalls($nginx))[1] }), 'is found');
};


test 'bad values', 'loaded' => sub {
    my $range = qr/"jemalloc_pprof_stall" must be from 10ms to 60s, as in "100/;

    for my $value (qw( 0 0ms x 1ms 9ms 61s 1h -1 ), '""') {
        like(configured("jemalloc_pprof_stall $value;"), $range, $value);
    }

    like(configured('jemalloc_pprof_stall 1s; jemalloc_pprof_stall off;'),
         qr/"jemalloc_pprof_stall" directive is duplicate/, 'twice');

    for my $value (qw( off 10ms 60s 1m )) {
        like(configured("jemalloc_pprof_stall $value;"), qr/ successful$/m,
             $value);
    }

    like(configured('jemalloc_pprof_stall 1s;', ''),
         qr/"jemalloc_pprof_stall" has no effect, because no location has/,
         'without a location');
};


# Its clock stands still where stalls are measured.

test 'timer_resolution', 'loaded' => sub {
    my $why = qr/stalls of this worker are not recorded: timer_resolution (?#
                )stops nginx's clock: remove it, or set (?#
                )"jemalloc_pprof_stall off"/;

    for (['jemalloc_pprof_stall 100ms;', 'warn'], [ '', 'notice' ]) {
        my ($http, $level) = @$_;
        my $nginx = JppNginx->start(main => 'timer_resolution 100ms;',
                                    level => 'notice', http => $http,
                                    server => <<'SERVER');
location /debug/pprof/ { jemalloc_pprof control=on; }
SERVER

        like($nginx->error_log, qr/\[$level\].* $why/, "a $level: $http");
        is(watchers($nginx->worker_pids), 0, 'nobody looks');

        my $answer = $nginx->get('/debug/pprof/control', body => 'stall=50ms');

        like($answer->{body}, qr/"error": "timer_resolution stops nginx's /,
             'control says so, too');
        is(watchers($nginx->worker_pids), 0, 'and nobody looks');

        $nginx->stop;
    }
};


# What nginx -t says.

sub configured($http, $server = undef) {
    $server //= 'location /debug/pprof/ { jemalloc_pprof; }';

    my $loads = join '', map { "load_module $_;\n" } loaded();

    mkdir "$dir/logs";
    spew("$dir/nginx.conf", "${loads}pid nginx.pid;\nevents { }\n"
         . "http { $http server { listen 127.0.0.1:1; $server } }\n");

    return `@{[ binary() ]} -t -p $dir/ -c nginx.conf 2>&1`;
}

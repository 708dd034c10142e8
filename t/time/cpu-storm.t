#!/usr/bin/perl

# Profiles of CPU time and of the wall clock a thousand times a second, from
# several clients at once, while TLS connections begin, scripts run, libraries
# come and go, the heap is sampled, workers are killed and the configuration is
# reloaded: nobody crashes, no event loop is interrupted in its wait, nothing is
# logged that should not be, and nothing remains.
#
# JPP_SOAK=1 does it for a minute.
#
# Not here: single profiles (time/cpu.t); what a window holds
# (t/unit/jpp_cpu_test.c).

use JppTest;
use JppNginx qw( left_over );

my $seconds = $ENV{JPP_SOAK} ? 60 : 5;

my $list = '/debug/pprof/profile';

my $lua = <<'LUA';
init_by_lua_block {
    ffi = require "ffi"
    ffi.cdef "void *dlopen(const char *, int); int dlclose(void *);"
}
LUA

my $scripts = <<'LUA';
location /lua/ {
    content_by_lua_block {
        local s = ""
        for i = 1, 20000 do s = (s .. i):sub(-100) end
        ngx.say(s)
    }
}
location /library/ {
    content_by_lua_block {
        local library = ffi.C.dlopen("libresolv.so.2", 2)
        if library == nil then return ngx.exit(500) end
        ffi.C.dlclose(library)
        ngx.say("closed")
    }
}
LUA


test 'all at once', 'openssl' => sub {
    my $port = free_port();
    my $nginx = start($port);
    my @paths = ('/slow?x=' . 'a' x 20 . 'b', '/text/', '/fine',
                 lua_modules() ne '' ? qw( /lua/ /library/ ) : ());

    my $i = 0;
    my @children = (
        busy(2, sub { $nginx->get($paths[($_[0] + $i++) % @paths]) }),
        busy(1, sub {
            system("openssl s_time -connect 127.0.0.1:$port -new -time 2 "
                   . '-www / >/dev/null 2>&1');
        }),
        (map { my $mode = $_; busy(1, sub { profile($nginx, $mode, $i++) }) }
             qw( cpu wall )),
        busy(1, sub { $nginx->get('/debug/pprof/heap'); sleep 0.1 }));

    $nginx->storm($seconds, 0.6);
    undef @children;

    # the last reload may be under way

    my $answer;

    ok(wait_until(sub {
        return 0 if $nginx->worker_pids != 4;

        $answer = $nginx->get("$list?seconds=1&frequency=1000");

        return ($answer->{headers}{'jemalloc-pprof-workers'} // '') eq '4/4';
    }), 'afterwards all workers have a profile');

    is(checked($answer->{body}), '', 'one that keeps the contract');

    my @log = split /\n/, slurp("$nginx->{prefix}/logs/access.log");

    for my $mode (qw( cpu wall )) {
        ok((grep { m{/profile\?mode=$mode\S* HTTP/1\.\d" 200 } } @log),
           "there were profiles in the storm: $mode");
    }

    ok((grep { m{"GET / HTTP/1\.\d" 200 } } @log), 'and TLS connections');

    ok(wait_until(sub { !grep { left_over($_) } $nginx->worker_pids }),
       'nothing is left: handler, timer, thread');

    unlike($nginx->error_log, qr/Interrupted system call/, 'no EINTR');

    $nginx->stop(alerts => qr/exited on signal 9/);
};


sub start($port) {
    my $has_lua = lua_modules() ne '';
    my $certificate = certificate();

    return JppNginx->start(workers => 4, connections => 1024,
        conf => 'prof:true,prof_active:true,lg_prof_sample:10',
        main => lua_modules(),
        http => ($has_lua ? $lua : '') . <<"CONF", server => <<'SERVER'
jemalloc_pprof_stall off;
map \$arg_x \$slow { "~^(a|aa)+\$" yes; default no; }
server {
    listen 127.0.0.1:$port ssl;
    $certificate
    location / { return 200 "tls\\n"; }
}
CONF
location /debug/pprof/ { jemalloc_pprof; }
location /slow { return 200 "slow $slow\n"; }
location /text/ {
    gzip on;
    gzip_types text/plain;
    gzip_min_length 1;
    gzip_comp_level 9;
    return 200 "a text that is compressed, for what it is worth\n";
}
SERVER
        . ($has_lua ? $scripts : ''));
}


sub profile($nginx, $mode, $i) {
    my $format = (qw( pprof top html svg folded ))[$i % 5];

    $nginx->get("$list?mode=$mode&seconds=1&frequency=1000&format=$format");
}

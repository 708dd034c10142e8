#!/usr/bin/perl

# Libraries that workers open and close, and that are replaced on disk between
# two loads: profiles of any kind hold them no longer than they need.
#
# Not here: such libraries by themselves (t/unit/jpp_sampler_plugins_test.c); a
# storm of them (510).

use strict;
use warnings;

use File::Basename;
use Test::More;
use Time::HiRes qw( sleep );

use lib dirname(__FILE__) . '/lib';

use JppNginx qw( slurp spew wait_until );
use JppRun qw( lua_modules preloads subtests );

# what hangs ends
alarm 300;

my $tree = '/debug/pprof';
my $library = slurp(dirname(__FILE__) . '/../build/t/jpp_plugin.so');
my $has_lua = sub { lua_modules() ne '' };

my $lua = <<'LUA';
init_by_lua_block {
    ffi = require "ffi"
    ffi.cdef [[
        void *dlopen(const char *, int);
        void *dlsym(void *, const char *);
        int dlclose(void *);
        typedef const char *(*version_t)(void);
    ]]
}
LUA

my $server = <<'LUA';
location /debug/pprof/ { jemalloc_pprof control=on; }
location /version/ {
    content_by_lua_block {
        local plugin = ffi.C.dlopen(ngx.config.prefix() .. "plugin.so", 1)
        local version = ffi.cast("version_t",
                                 ffi.C.dlsym(plugin, "jpp_plugin_version"))

        ngx.say(ffi.string(version()))

        -- closed by the second request
        if ngx.var.arg_keep then kept = plugin else ffi.C.dlclose(plugin) end
        if kept and not ngx.var.arg_keep then
            ffi.C.dlclose(kept)
            kept = nil
        end
    }
}
LUA

subtests(
    'nothing is sampled' => [ \&idle, $has_lua ],
    'a profile of CPU time' => [ \&cpu, $has_lua ],
    'the sampler' => [ \&sampler, $has_lua ],
    "jemalloc's samples" => [ \&hook, $has_lua, 'jemalloc' ],
    'stalls' => [ \&stalls, $has_lua ],
);


sub start {
    my (%how) = @_;
    my $http = delete $how{http} // '';

    return JppNginx->start(main => lua_modules(), http => "$lua$http",
                           server => $server, preload => [],
                           conf => 'prof:false', %how);
}


# As a package does it: the file has another name at first.

sub replace {
    my ($nginx, $version) = @_;
    my $file = "$nginx->{prefix}/plugin.so";

    spew("$file.new", $library =~ s/version 1/version $version/r);
    rename "$file.new", $file or die "rename: $!";
}


sub version {
    my ($nginx, $args) = @_;

    return $nginx->get('/version/' . ($args // ''))->{body} =~ /(\d)/ ? $1
                                                                      : 'none';
}


# The library is open for longer than a second, in which the worker looks for
# new ones, then closed, and replaced by VERSION: as soon as nobody holds the
# old one the new one is there.

sub follows {
    my ($nginx, $version, $what) = @_;

    version($nginx, '?keep=1');
    sleep 1.5;
    version($nginx);
    replace($nginx, $version);

    ok(wait_until(sub { version($nginx) eq $version }), $what);
}


sub idle {
    my $nginx = start();

    replace($nginx, 1);
    is(version($nginx), 1, 'the first');
    replace($nginx, 2);
    is(version($nginx), 2, 'the second');
    $nginx->stop;
}


# It is open while the profile begins, and closed while it lasts.

sub cpu {
    my $nginx = start();
    my $client = $nginx->client;

    replace($nginx, 1);
    is(version($nginx, '?keep=1'), 1, 'the first');
    $client->send_request("$tree/profile?seconds=2");
    sleep 0.5;
    is(version($nginx), 1, 'closed');
    replace($nginx, 2);
    is(version($nginx), 1, 'while it is sampled, it stays');
    is($client->response->{status}, 200, 'a profile');
    ok(wait_until(sub { version($nginx) eq 2 }), 'and is replaced afterwards');
    follows($nginx, 3, 'as always');
    $nginx->stop;
}


sub sampler {
    my $nginx = start();
    my $client = $nginx->client;

    replace($nginx, 1);
    is(version($nginx, '?keep=1'), 1, 'the first');

    for my $version (2, 3) {
        $client->ask('POST', "$tree/control", \'sampler=on');
        version($nginx);
        replace($nginx, $version);
        is(version($nginx), $version - 1, 'while it is on, it stays');
        is($nginx->get("$tree/heap")->{status}, 200, 'a profile');
        $client->ask('POST', "$tree/control", \'sampler=off');
        ok(wait_until(sub { version($nginx) eq $version }),
           'and is replaced once it is off');
        version($nginx, '?keep=1');
    }

    $nginx->stop;
}


# As long as the worker lives.

sub hook {
    my $nginx = start(preload => [ preloads() ],
                      conf => 'prof:true,lg_prof_sample:10');

    replace($nginx, 1);
    is(version($nginx), 1, 'the first');
    follows($nginx, $_, "version $_") for 2 .. 4;
    is($nginx->get("$tree/heap")->{status}, 200, 'a profile');
    $nginx->stop;
}


sub stalls {
    my $nginx = start(http => 'jemalloc_pprof_stall 10ms;');

    replace($nginx, 1);
    is(version($nginx), 1, 'the first');
    follows($nginx, $_, "version $_") for 2 .. 4;
    is($nginx->get("$tree/stalls")->{status}, 200, 'what is seen');
    $nginx->stop;
}

#!/usr/bin/perl

# The module in a suite of Test::Nginx, as its users write them: a block for
# each use that README.md shows.
#
# Not here: all that a resource answers (the suites of each).

use JppRun qw( $build free_port );

# each has its own place, and a port of the loopback alone

BEGIN {
    $ENV{TEST_NGINX_SERVROOT} = "$build/servroot-$$";
    $ENV{TEST_NGINX_SERVER_PORT} //= free_port();
    $ENV{TEST_NGINX_TIMEOUT} //= 30;
    $ENV{MALLOC_CONF} = 'prof:true,prof_active:true,lg_prof_sample:12';
}

# after the END below, which ends nginx by the file with its pid

END {
    local $?;

    system('rm', '-rf', $ENV{TEST_NGINX_SERVROOT});
}

use Test::Nginx::Socket 'no_plan';

BEGIN {
    my $port = $Test::Nginx::Util::ServerPortForClient;
    my $check = \&Test::Nginx::Util::test_config_version;

    $Test::Nginx::Util::ServerPort = "127.0.0.1:$port";

    # with a reload it asks the server for its version, by the bare port

    no warnings qw( redefine prototype );

    *Test::Nginx::Util::test_config_version = sub {
        local $Test::Nginx::Util::ServerPort = $port;
        return $check->(@_);
    };
}

add_block_preprocessor(sub {
    my ($block) = @_;

    $block->set_value('no_error_log', "[alert]\n[crit]\n[emerg]")
        if !defined $block->must_die;
    $block->set_value(config => 'location /debug/pprof/ { jemalloc_pprof; }')
        if !defined $block->config;
});

no_root_location();
run_tests();

__DATA__

=== a heap for a terminal
--- config
location /debug/pprof/heap { jemalloc_pprof; }
--- request
GET /debug/pprof/heap?format=top
--- response_headers
Content-Type: text/plain; charset=utf-8
Cache-Control: no-store
--- response_body_like: ^inuse_space: [\d.]+ [KM]?i?B in \d+ stacks

=== a heap for pprof
--- config
location /debug/pprof/heap { jemalloc_pprof; }
--- request
GET /debug/pprof/heap
--- response_headers
Content-Type: application/octet-stream
--- response_body_like eval
qr/\A\x1f\x8b/

=== a tree: its root
--- request
GET /debug/pprof/
--- more_headers
Accept: text/plain
--- response_body_like: ^(?:Healthy|Warning):

=== the pools
--- request
GET /debug/pprof/pools?format=folded
--- response_body_like: http;server localhost;location /debug/pprof/;

=== the state of all workers
--- request
GET /debug/pprof/status
--- response_headers
Content-Type: application/json
--- response_body_like: "answered": 1

=== one worker, by its index
--- request
GET /debug/pprof/worker/0/status
--- response_body_like: "worker": 0,

=== a worker that is not there
--- request
GET /debug/pprof/heap?worker=7
--- error_code: 404
--- response_body
no such worker: status lists all workers

=== a parameter with a bad value
--- request
GET /debug/pprof/heap?format=xml
--- error_code: 400
--- response_body_like: ^format must be pprof,

=== control is off
--- request
POST /debug/pprof/control
purge=1
--- error_code: 403
--- response_body_like: control=on

=== control
--- config
location /debug/pprof/ { jemalloc_pprof control=on; }
--- request
POST /debug/pprof/control
purge=1
--- response_body_like: "purged":

=== two requests on one connection
--- pipelined_requests eval
[ 'GET /debug/pprof/cmdline', 'GET /debug/pprof/memory?format=top' ]
--- response_body_like eval
[ qr/nginx/, qr/^workers 1\/1/m ]

=== a name of no resource
--- config
location /a/ { jemalloc_pprof profiles; }
--- must_die
--- error_log
unknown resource "profiles": use one of heap

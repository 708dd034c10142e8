#!/usr/bin/perl

# Clients whose requests are streams of one connection, or encrypted: answered,
# broken off, reset.
#
# Not here: what is the same in HTTP/1.1 (fleet/client.t).

use JppTest;
use JppFleet qw( held is_at_rest );

my $heap = '/debug/pprof/heap';
my $n_streams = 8;


test 'HTTP/2', 'fake', 'curl' => sub {
    my $port = free_port();
    my $nginx = JppNginx->start(fake => "hang 0.05\n", http => <<"EOF");
    server {
        listen 127.0.0.1:$port http2;
        location = /fine { return 200 "fine\\n"; }
        location /debug/pprof/ { jemalloc_pprof; }
    }
EOF
    my $url = "http://127.0.0.1:$port$heap";
    my $curl = "curl -s --http2-prior-knowledge -m 30 -o $nginx->{prefix}/out "
               . "-w '%{http_code} %{http_version} %{size_download}\\n'";

    like(`$curl '$url?format=folded'`, qr/^200 2 [1-9]\d+$/, 'one');
    like(slurp("$nginx->{prefix}/out"), qr/;jpp_fake_beta 67108864$/m, 'whole');
    like(`$curl '$url?seconds=1'`, qr/^200 2 [1-9]\d+$/, 'a difference');
    like(`$curl -X DELETE '$url'`, qr/^405 2 /, 'an error');
    like(`$curl -d 0x1+0x2 '$url/../symbol'`, qr/^200 2 /, 'a body');

    # the whole of a large one, and one that is broken off

    $nginx->fake("large 20\n");

    my ($size) = `$curl '$url?format=jemalloc'` =~ /^200 2 (\d+)$/;

    cmp_ok($size // 0, '>', 20e6, 'a large one');

    system "curl -s --http2-prior-knowledge --limit-rate 1M -m 0.5 "
           . "-o /dev/null '$url?format=jemalloc'" for 1 .. 3;
    system "curl -s --http2-prior-knowledge -m 0.3 -o /dev/null "
           . "'$url?seconds=30'" for 1 .. 3;

    is_at_rest($nginx->worker, 'broken off');
};


# Streams that are reset while their connection stays.

test 'streams that are reset', 'fake' => sub {
    my $port = free_port();
    my $nginx = JppNginx->start(fake => '', http => <<"EOF");
    server {
        listen 127.0.0.1:$port http2;
        location /debug/pprof/ { jemalloc_pprof; }
    }
EOF
    my $pid = $nginx->worker;
    my $client = JppClient->http2('', port => $port);
    my $stream = 1;


    for my $state ([ '', "$heap?seconds=60" ], [ "hang 0.5\n", $heap ]) {
        my ($keys, $path) = @$state;

        $nginx->fake($keys);

        for (1 .. 5) {
            my @streams = map { $stream + 2 * $_ } 0 .. $n_streams - 1;

            $stream = $streams[-1] + 2;

            $client->send_stream($_, $path) for @streams;
            wait_until(sub { held($pid) > 0 });
            $client->write(JppClient::frame(3, 0, $_, pack 'N', 8))
                for @streams;
            is_at_rest($pid, "$path, reset");
        }
    }

    $nginx->fake('');
    $client->send_stream($stream, "$heap?format=folded");
    ok(wait_until(sub {
        $client->read_some(0.1);
        $client->{buffer} =~ /;jpp_fake_beta 67108864\n/;
    }), 'the next stream of that connection is answered');
};


test 'TLS', 'fake', 'curl', 'openssl' => sub {
    my $port = free_port();
    my $certificate = certificate();
    my $nginx = JppNginx->start(fake => "hang 0.05\n", http => <<"EOF");
    server {
        listen 127.0.0.1:$port ssl http2;
        $certificate
        location /debug/pprof/ { jemalloc_pprof; }
    }
EOF
    my $url = "https://127.0.0.1:$port$heap";
    my $curl = "curl -s -k -m 30 -o $nginx->{prefix}/out "
               . "-w '%{http_code} %{http_version} %{size_download}\\n'";

    # one connection may have as many jobs as many connections

    my @urls = map { "-o /dev/null '$url'" } 1 .. 20;
    my @statuses = `$curl --http2 -Z --parallel-max 20 @urls 2>/dev/null`
                   =~ /^(\d+) 2 /mg;

    is(scalar @statuses, 20, 'twenty streams are answered');
    is(scalar(grep { $_ != 200 } @statuses), 0, 'with 200');

    $nginx->fake("large 5\n");

    for my $option ('--http1.1', '--http2') {
        my ($version) = $option =~ /([\d.]+)$/;

        like(`$curl $option '$url?format=jemalloc'`,
             qr/^200 $version 5\d{6}$/, "$option: all of it");
        like(`$curl $option '$url?seconds=1'`, qr/^200 $version /,
             "$option: a difference");

        system "curl -s -k $option --limit-rate 500k -m 0.5 -o /dev/null "
               . "'$url?format=jemalloc'";
        system "curl -s -k $option -m 0.3 -o /dev/null '$url?seconds=30'";
        is_at_rest($nginx->worker, "$option: broken off");
    }
};

#!/usr/bin/perl

# An nginx that lacks whatever it may lack: TLS, HTTP/2, upstreams of any sort,
# regular expressions, rewriting, gzip, threads, stream and mail.  ./dev matrix
# builds one; with any other nginx the same has to work.
#
# Not here: what the others have (the others of t/nginx).

use JppTest;

my $at = '/debug/pprof';

# what it was built without, where it is the one of ./dev matrix
my @without = qw( pcre http_rewrite_module http_proxy_module
                  http_fastcgi_module http_uwsgi_module http_scgi_module
                  http_grpc_module http_memcached_module http_gzip_module
                  http_upstream_hash_module http_upstream_ip_hash_module
                  http_upstream_least_conn_module
                  http_upstream_random_module
                  http_upstream_keepalive_module
                  http_upstream_zone_module );


sub version { scalar `@{[ binary() ]} -V 2>&1` }
sub is_bare { version() =~ /--without-http_proxy_module/ }


test 'what it lacks', \&is_bare => sub {
    my $version = version();

    like($version, qr/--without-$_\b/, "no $_") for @without;
    unlike($version, qr/--with-\S*(?:ssl|v2|v3|stream|mail|threads)/,
           'no TLS, HTTP/2, stream, mail or threads');
};


sub start {
    my $nginx = JppNginx->start(bare => 1, server => <<'CONF', @_);
    location /slow/ { root html; limit_rate 1000; }
    location /debug/pprof/ { jemalloc_pprof control=on clients=on; }
CONF

    spew("$nginx->{prefix}/html/slow/file", 'x' x 100_000);

    return $nginx;
}


test 'every resource' => sub {
    my $nginx = start();
    my $heap = has_jemalloc() ? 200 : 503;

    is($nginx->get("$at/$_->[0]")->{status}, $_->[1], $_->[0])
        for [ '', 200 ], [ 'heap', $heap ], [ 'heap?format=top', $heap ],
            [ 'allocs', $heap ], [ 'cmdline', 200 ], [ 'status', 200 ],
            [ 'memory', 200 ], [ 'metrics', 200 ], [ 'symbol', 200 ],
            [ 'pools', 200 ], [ 'pools?format=html', 200 ],
            [ 'pools?format=svg', 200 ], [ 'requests', 200 ],
            [ 'nothing', 404 ];
};


test 'pools', 'jemalloc' => sub {
    my $nginx = start(conf => 'prof:false');
    my @clients = $nginx->slow(5, '/slow/file');
    my ($folded, $total);

    # two answers: the second may have a thread more

    for (1 .. 5) {
        my $top = $nginx->get("$at/pools?format=top&cols=1000")->{body};

        $folded = $nginx->get("$at/pools?format=folded")->{body};
        ($total) = $top =~ /^total (\d+) bytes in 1 worker\b/m;

        last if sum0($folded =~ / (\d+)$/mg) == $total;
    }

    is(sum0($folded =~ / (\d+)$/mg), $total, 'all, to the byte');

    my ($bytes) = $folded =~ m{;location /slow/;request;pool blocks (\d+)$}m;

    cmp_ok($bytes // 0, '>=', 5 * 4096, 'the requests');
    unlike($folded, qr/upstream|stream;|mail;|http2|http3/,
           'nothing that is not there');

    is(checked($nginx->get("$at/pools")->{body}, '--pools'), '',
       'the contract');
};


test 'requests' => sub {
    my $nginx = start();
    my @clients = $nginx->slow(5, '/slow/file');

    for my $by (qw( request connection )) {
        my $list = $nginx->get("$at/requests?format=json&by=$by&clients=on");
        my $rows = decode_json($list->{body})->{rows};

        cmp_ok(scalar @$rows, '>', 0, "by $by");
        cmp_ok($rows->[0]{bytes}, '>=', 4096, 'the largest');
    }

    for my $by (qw( location server )) {
        my $list = $nginx->get("$at/locations?format=json&by=$by");
        my $rows = decode_json($list->{body})->{rows};

        cmp_ok(scalar @$rows, '>', 0, "by $by");
        cmp_ok(max(map { $_->{held}{bytes} } @$rows), '>=', 4096,
               'the largest');
    }

    is_deeply([ map { $_->{upstream} }
                @{ $nginx->json("$at/locations?format=json&by=upstream")
                   ->{rows} } ], [ '(none)' ], 'no upstream');
};

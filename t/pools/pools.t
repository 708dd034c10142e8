#!/usr/bin/perl

# The resource pools on an nginx with connections in every state: whose memory
# it is, of which use, and that its sum is all there is, to the byte.
#
# Not here: a table into a profile (t/unit/jpp_pools_test.c); workers that are
# missing or late, which is the same for all kinds of question (t/fleet);
# ends, reloads and limits (pools/ends.t).

use JppTest;
use JppPools qw( below held sums );

my $pools = '/debug/pprof/pools';
my $sessions = modules(qw( ngx_stream_module ngx_mail_module ));
my $all = 'prof:true,prof_active:true,lg_prof_sample:0';

# memory whose size everybody knows
my $k = 1024;


sub has_sessions {
    return is_loaded() && $sessions ne '';
}


sub is_loaded { preloads() && !is_linked() }


# The sum has to be the total that jemalloc counts, and the profile to keep the
# contract.

sub is_exact($nginx, $name) {
    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my ($sum, $total, $held, $top) = sums($nginx);

    is($sum, $total, "$name: all, to the byte") or diag(explain($held), $top);
    unlike($top, qr/pools exceed the total/, "$name: and no more");

    is(checked($nginx->get($pools)->{body}, '--pools'), '',
       "$name: the contract");
}


sub comments($nginx) {
    my $top = $nginx->get("$pools?format=top&cols=1000")->{body};

    return $top =~ s/\A.*?\n\n(?=counted)//sr;
}


# What reads a request on each connection and answers by its path: "hold"
# nothing, "big" more than anybody reads, "ok" a word, others 101.

sub serve($client) {
    while (defined(my $line = <$client>)) {
        while (defined(my $header = <$client>)) {
            last if $header =~ /^\r?$/;
        }

        if ($line =~ m{/hold}) {
            sleep 120;

        } elsif ($line =~ m{/big}) {
            print $client "HTTP/1.1 200 OK\r\n"
                          . "Content-Length: 1000000000\r\n\r\n";
            print $client 'x' x 65536 or last for 1 .. 10000;

        } elsif ($line =~ m{/ok}) {
            print $client "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

        } else {
            print $client "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n"
                          . "Connection: upgrade\r\n\r\n";
        }

        $client->flush;
    }
}


# What the first answer takes, a thread for example, is not taken again.

sub start(%how) {
    my $nginx = JppNginx->start(conf => $all, %how);

    $nginx->get($pools);

    return $nginx;
}


# What is held, once PATTERN has BYTES; or at the end of patience.

sub held_with($nginx, $pattern, $is_enough) {
    my $held;

    wait_until(sub {
        $held = held($nginx);
        $is_enough->(below($held, $pattern));
    }) or diag(explain($held));

    return $held;
}


test 'nobody is there', 'jemalloc' => sub {
    my $nginx = start();
    my $held = held($nginx);

    is_exact($nginx, 'nobody');
    is($held->{'connection slots;in use'}
       + $held->{'connection slots;free'} > 256 * 400, 1, 'slots');
    cmp_ok($held->{'configuration;pool blocks'}, '>=', 16 * $k,
           'the configuration');
    cmp_ok($held->{'outside pools;inherited'}, '>', 0, 'the rest');
    is(below($held, 'http;'),
       below($held, 'http;server _ .*nginx.conf:\d+;'),
       'one client, of a server that is named by its place');

    # jemalloc itself, with every allocation sampled

    my $heap = $nginx->get('/debug/pprof/heap?format=jemalloc&worker=self');
    my ($bytes) = $heap->{body} =~ /^ *t\*: \d+: (\d+)/m;

    # but for a little that this module does with sampling off; 5.3.1 samples a
    # large one as the size class that it would have had in 5.3.0

    my $sum = sum0(values %$held);
    my $left = $sum - $bytes;
    my $is_exact = $nginx->get('/debug/pprof/status')->{body}
                   =~ /"jemalloc": "5\.(?:[0-2]\.|3\.0)/;

    ok($left >= ($is_exact ? 0 : -0.05 * $sum) && $left < 4096,
       "what jemalloc has sampled, but $left");
};


test 'clients that are idle', 'jemalloc' => sub {
    my $nginx = start(http => 'server_names_hash_bucket_size 128;');
    my $empty = held($nginx);
    my @clients = $nginx->clients(20, '/fine');

    $_->response for @clients;

    my $held = held($nginx);

    is_exact($nginx, '20 idle');

    my $grown = below($held, 'http;') - below($empty, 'http;');

    is($grown, 20 * 512, 'of 512 bytes each');
    is(below($held, 'http;server [^;]*;client connection;pool blocks')
       - below($empty, 'http;server [^;]*;client connection;pool blocks'),
       20 * 512, 'as client connections');

    # and what a client sends in pieces

    my ($half) = $nginx->clients(1, '/fine', headers => "X: \r\n");

    $half->response;
    $half->write("GET /fine HTTP/1.1\r\nHost: lo");
    ok(wait_until(sub {
        below(held($nginx), '.*;client header buffers')
            > below($held, '.*;client header buffers');
    }), 'the buffer of a header');
};


test 'downloads that are slow', 'jemalloc' => sub {
    my $port = backend(\&serve);
    my $nginx = start(server => <<"EOF");
    proxy_max_temp_file_size 0;
    location /slow/ {
        proxy_pass http://127.0.0.1:$port/big/;
        proxy_buffers 16 64k;
        proxy_busy_buffers_size 128k;
    }
    location /debug/pprof/ { jemalloc_pprof; }
EOF
    my @clients = $nginx->clients(5, '/slow/', window => 4096);
    my $at = 'http;server [^;]*;location /slow/;request;';
    my $upstream = "http;server [^;]*;location /slow/;upstream "
                   . "127.0.0.1:$port;";
    my $held = held_with($nginx, "${upstream}large;upstream buffers",
                         sub { $_[0] >= 5 * 16 * 64 * $k });

    is_exact($nginx, '5 downloads');
    is(below($held, "${upstream}large;upstream buffers"),
       5 * 16 * 64 * $k, 'the buffers');
    is(below($held, "${upstream}large;upstream header buffer"),
       5 * 4 * $k, 'those of headers');
    is(below($held, "${at}pool blocks") % 4096, 0, 'the requests');
    is(below($held, "${upstream}pool blocks"), 5 * 128, 'the upstreams');
    is(below($held, "${at}large;other"), 0, 'all of it has a name');

    # of a single worker, as all formats have it

    my $top = $nginx->get("$pools?format=top&cols=1000&worker=0")->{body};

    like($top, qr{location /slow/}, 'a table');
    is($nginx->get("$pools?format=jemalloc&worker=0")->{status}, 400,
       'no dump of jemalloc');

    my $change = $nginx->get("$pools?format=folded&seconds=1");

    is($change->{status}, 200, 'a difference');
    unlike($change->{body}, qr{upstream buffers},
           'where nothing has changed');
};


test 'bodies that are not whole', 'jemalloc' => sub {
    my $port = backend(\&serve);
    my $nginx = start(server => <<"EOF");
    location /up/ {
        client_body_buffer_size 64k;
        proxy_pass http://127.0.0.1:$port/hold;
    }
    location /debug/pprof/ { jemalloc_pprof; }
EOF
    my @clients = map { JppClient->new(port => $nginx->{port}) } 1 .. 3;

    $_->write("POST /up/ HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n"
              . 'x' x 1000) for @clients;

    my $at = 'http;server [^;]*;location /up/;request;large;request body';
    my $held = held_with($nginx, $at, sub { $_[0] > 0 });

    is_exact($nginx, '3 uploads');
    cmp_ok(below($held, $at), '>=', 3 * 59000, 'the buffers of bodies');
    is(below($held, $at) % 3, 0, 'which are equal');

    $_->write('x' x 59000) for @clients;

    $held = held_with($nginx,
                      'http;server [^;]*;location /up/;upstream .*blocks',
                      sub { $_[0] == 3 * 128 });
    is_exact($nginx, 'and sent on');
};


# Those of auth_request wait, mirrors do not, and both have their upstreams.

test 'subrequests, in the background too', 'jemalloc' => sub {
    my $port = backend(\&serve);
    my $nginx = start(server => <<"EOF");
    location /page/ {
        ssi on;
        ssi_types text/plain;
        root html;
    }
    location /part/ { proxy_pass http://127.0.0.1:$port/hold; }
    location /twice/ {
        mirror /mirror/;
        return 200 "fine\\n";
    }
    location /copied/ {
        mirror /mirror/;
        proxy_pass http://127.0.0.1:$port/hold;
    }
    location /mirror/ {
        internal;
        proxy_pass http://127.0.0.1:$port/hold;
    }
    location /debug/pprof/ { jemalloc_pprof; }
EOF
    spew("$nginx->{prefix}/html/page/a",
         '<!--# include virtual="/part/b" -->');

    my @clients = $nginx->clients(4, '/page/a');
    my $held = held_with($nginx,
                         'http;server [^;]*;location /part/;upstream .*blocks',
                         sub { $_[0] == 4 * 128 });

    is_exact($nginx, '4 pages with parts');
    cmp_ok(below($held, 'http;server [^;]*;location /page/;request;'), '>=',
           4 * 4096, 'a part shares the pool of its page');

    push @clients, $nginx->clients(2, '/copied/');

    my $upstreams = 'http;server [^;]*;location /(?:copied|mirror)/;.*blocks';

    $held = held_with($nginx, $upstreams, sub { $_[0] >= 2 * (4096 + 256) });

    is_exact($nginx, 'two mirrors');
    is(below($held, 'connection of'), 0, 'all of it has an owner');
};


test 'connections that were upgraded', 'jemalloc' => sub {
    my $port = backend(\&serve);
    my $nginx = start(server => <<"EOF");
    location /ws/ {
        proxy_pass http://127.0.0.1:$port/ws;
        proxy_http_version 1.1;
        proxy_set_header Upgrade \$http_upgrade;
        proxy_set_header Connection upgrade;
        proxy_buffer_size 8k;
    }
    location /debug/pprof/ { jemalloc_pprof; }
EOF
    my @clients = $nginx->clients(10, '/ws/',
                          headers => "Upgrade: x\r\nConnection: upgrade\r\n");

    ok(wait_until(sub { $_->read_some(0.1); $_->{buffer} =~ /^HTTP.* 101 / }),
       'upgraded') for @clients;
    $_->write("a message") for @clients;

    my $at = 'http;server [^;]*;location /ws/;';
    my $held = held_with($nginx, "$at.*;upstream buffers",
                         sub { $_[0] == 10 * 8192 });

    is_exact($nginx, '10 sockets');
    is(below($held, "$at.*;upstream buffers"), 10 * 8192, 'to the upstream');
    is(below($held, "$at.*;upstream header buffer"), 10 * 8192, 'and back');

    undef @clients;

    my $rest = held_with($nginx, $at, sub { $_[0] == 0 });

    is_exact($nginx, 'all have left');
};


test 'upstreams that are kept alive', 'jemalloc' => sub {
    my $port = backend(\&serve);
    my $nginx = start(http => <<"EOF", server => <<'EOF');
    upstream others { server 127.0.0.1:$port; keepalive 8; }
EOF
    location /ok {
        proxy_pass http://others;
        proxy_http_version 1.1;
        proxy_set_header Connection "";
    }
    location /debug/pprof/ { jemalloc_pprof; }
EOF
    my @clients = $nginx->clients(6, '/ok');

    $_->response for @clients;

    my $held = held($nginx);

    is_exact($nginx, 'kept alive');
    like($held->{'upstream others;keepalive;pool blocks'} // 0,
         qr/^(?:128|256|384|512|640|768)$/, 'connections of the upstream');
    is(below($held, 'connection of'), 0, 'and no others');
};


test 'streams of HTTP/2', 'jemalloc' => sub {
    my $port = free_port();
    my $backend = backend(\&serve);
    my $nginx = start(http => <<"EOF");
    server {
        listen 127.0.0.1:$port http2;
        server_name two.example;
        proxy_max_temp_file_size 0;
        location /slow { proxy_pass http://127.0.0.1:$backend/big; }
        location /fine { return 200 "fine\\n"; }
    }
EOF
    # no window: nothing is sent

    my $client = JppClient->http2(pack('nN', 4, 0), port => $port);

    $client->send_stream(2 * $_ + 1, '/slow') for 0 .. 7;

    my $at = 'http;server two.example;location /slow;';
    my $held = held_with($nginx, "${at}upstream [^;]*;large;upstream buffers",
                         sub { $_[0] >= 8 * 8 * 4096 });

    is_exact($nginx, '8 streams');
    cmp_ok(below($held, "${at}request;pool blocks"), '>=', 8 * 4096,
           'a request each');
    is(below($held, "${at}upstream [^;]*;pool blocks"), 8 * 128,
       'with an upstream');
    cmp_ok(below($held, 'http;server two.example;http2 connection;'), '>=',
           4096, 'the connection');
    cmp_ok(below($held, 'http;server two.example;http2 stream headers;'),
           '>=', 8 * 1024, 'headers');

    # all are reset, and it is idle

    $client->write(JppClient::frame(3, 0, 2 * $_ + 1, pack 'N', 8)) for 0 .. 7;

    $held = held_with($nginx, 'http;server two.example;location',
                      sub { $_[0] == 0 });
    is_exact($nginx, 'an idle one');
    cmp_ok(below($held, 'http;server two.example;http2 connection;'), '>', 0,
           'is there');
};


test 'TLS', 'jemalloc', 'openssl' => sub {
    my $port = free_port();
    my $certificate = certificate();
    my $nginx = start(http => <<"EOF");
    server {
        listen 127.0.0.1:$port ssl;
        server_name tls.example;
        $certificate
        location = /fine { return 200 "fine\\n"; }
        location = /slow { limit_rate 1; return 200 "0123456789abcdef\\n"; }
    }
EOF
    my @clients = map {
        open my $client, '|-', "openssl s_client -quiet -no_ign_eof "
                               . "-connect 127.0.0.1:$port >/dev/null 2>&1"
            or die "openssl: $!";
        $client->autoflush;
        print $client "GET /fine HTTP/1.1\r\nHost: a\r\n\r\n";
        $client;
    } 1 .. 3;

    my $at = 'http;server tls.example;client connection;';
    my $held = held_with($nginx, "${at}pool blocks",
                         sub { $_[0] == 3 * 2 * 512 });

    is_exact($nginx, '3 of TLS');
    cmp_ok($held->{'outside pools;since start'}, '>', 3 * 9000,
           'what OpenSSL has is in no pool');
    like(comments($nginx), qr/TLS/, 'and a comment says so');

    # the slow one has a buffer

    print { $clients[0] } "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n";

    $held = held_with($nginx, "${at}large;tls buffer",
                      sub { $_[0] >= 16 * $k });
    is_exact($nginx, 'one is slow');

    close $_ for @clients;
};


test 'sessions of stream and mail', 'jemalloc', \&has_sessions => sub {
    my ($tcp, $smtp) = (free_port(), free_port());
    my $port = backend(\&serve);
    my $nginx = start(main => <<"EOF");
${sessions}stream {
    server { listen 127.0.0.1:$tcp; proxy_pass 127.0.0.1:$port; }
}
mail {
    auth_http 127.0.0.1:$port/hold;
    server { listen 127.0.0.1:$smtp; protocol smtp; server_name a; }
}
EOF
    my $stream = "stream;server 127.0.0.1:$tcp;session;";
    my $mail = "mail;server 127.0.0.1:$smtp;session;";

    # A session has blocks of 256 bytes, and takes one more when its first
    # bytes go on: with the answer back, all have had theirs, and are equal.

    my @clients = said($tcp);
    my $one = held($nginx);

    is(below($one, "${stream}pool blocks") % 256, 0, 'blocks of stream');
    cmp_ok(below($one, "${stream}large;session buffers"), '>=', 2 * 16 * $k,
           'and its buffers');
    is(below($one, "${stream}large;other"), 0, 'all of them have a name');

    push @clients, said($tcp) for 1 .. 3;

    my $held = held($nginx);

    is(below($held, "$stream$_"), 4 * below($one, "$stream$_"),
       "4 sessions of stream: $_")
        for 'pool blocks', 'large;session buffers';

    push @clients, map { JppClient->new(port => $smtp) } 1 .. 3;
    $_->write("EHLO a\r\n") for @clients[4 .. 6];

    $held = held_with($nginx, $mail, sub { $_[0] >= 3 * 512 });

    is_exact($nginx, 'sessions');
    is(below($held, "${mail}pool blocks") % 256, 0, 'blocks of mail');
    is(below($held, 'connection of'), 0, 'their peers are theirs');
};


# A session of stream that has had an answer.

sub said($port) {
    my $client = JppClient->new(port => $port);

    is($client->get('/ok')->{body}, 'ok', 'an answer');

    return $client;
}


test 'a context of a module', 'jemalloc' => sub {
    my $nginx = start(server => <<'EOF');
    location /gzip/ {
        gzip on;
        gzip_types *;
        root html;
        limit_rate 1;
    }
    location /debug/pprof/ { jemalloc_pprof; }
EOF
    spew("$nginx->{prefix}/html/gzip/a",
         join '', map { rand() . "\n" } 1 .. 200_000);

    my ($client) = $nginx->clients(1, '/gzip/a', window => 4096,
                           headers => "Accept-Encoding: gzip\r\n");

    my $at = 'http;server [^;]*;location /gzip/;request;large;module '
             . 'ngx_http_gzip_filter_module';
    my $held = held_with($nginx, $at, sub { $_[0] > 200 * $k });

    is_exact($nginx, 'gzip');
};


test 'what is in no pool', 'jemalloc' => sub {
    my $nginx = start(server => <<'EOF');
    open_file_cache max=100 inactive=60s;
    location /files/ { root html; }
    location /debug/pprof/ { jemalloc_pprof; }
EOF
    for (1 .. 30) {
        spew("$nginx->{prefix}/html/files/$_", "a file\n");
        $nginx->get("/files/$_");
    }

    my $held = held($nginx);

    is_exact($nginx, '30 files');
    cmp_ok(below($held, 'open file cache'), '>=', 30 * 128, 'are known');

    my $top = $nginx->get("$pools?format=top&cols=1000&type=inuse_objects")
              ->{body};

    like($top, qr/^ +30 .*open file cache/m, 'all of them')
        or diag($top);
};


# Servers without a name are known by their place; names may be anything that
# the configuration takes, and there may be more of them than anybody reads.

test 'names that are missing, long or odd', 'jemalloc' => sub {
    my $port = free_port();
    my $long = '/' . 'long' x 500;
    my $many = join '', map { "location /many/$_ { limit_rate 1;"
                              . " return 200 '0123456789abcdef'; }\n" }
                        1 .. 2500;
    my $nginx = start(http => <<"EOF");
    large_client_header_buffers 4 16k;
    server {
        listen 127.0.0.1:$port;
        server_name "o\xff\xfed\\e[1m";
        location $long { limit_rate 1; return 200 "0123456789abcdef"; }
        location "/a b;c" { limit_rate 1; return 200 "0123456789abcdef"; }
        location ~ ^/(re|gex) { limit_rate 1; return 200 "0123456789abcdef"; }
        $many
    }
EOF
    my @clients = map { $nginx->clients(1, $_, port => $port) }
                      $long, '/a%20b%3bc', '/re', map { "/many/$_" } 1 .. 40;
    my $held = held_with($nginx, '.*location /many/40;request',
                         sub { $_[0] > 0 });

    is_exact($nginx, 'odd names');

    for my $name ($long, '\^/\(re\|gex\)', '/a b.c') {
        my @at = grep { /location $name;request/ } keys %$held;

        is(scalar @at, 1, 'location ' . substr $name, 0, 20);
    }

    my $top = $nginx->get("$pools?format=top&cols=1000")->{body};

    unlike($top, qr/[^\n\x20-\x7e\x80-\xff]/, 'no control bytes');
    like($nginx->get("$pools?format=folded")->{body}, qr/^http;server o/m,
         'the server');
};


test 'a profiler that is off', 'jemalloc' => sub {
    for my $conf ('prof:false', 'prof:true,prof_active:false') {
        my $nginx = start(conf => $conf);
        my $held = held($nginx);

        is_exact($nginx, $conf);
        is($nginx->get("$pools?strict=1")->{status}, 200, 'strictly');
        is($nginx->ask('HEAD', $pools)->{status}, 200, 'HEAD');
        isnt($nginx->get('/debug/pprof/heap')->{status}, 200, 'but no heap');
        $nginx->stop;
    }
};


# Without jemalloc there is no total, and sizes are those of that malloc.

test 'another malloc', \&is_loaded => sub {
    my $nginx = start(preload => []);
    my $held = held($nginx);

    is(below($held, 'outside'), 0, 'nothing outside');
    cmp_ok($held->{'configuration;pool blocks'}, '>=', 16 * $k, 'but pools');

    my $comments = comments($nginx);

    like($comments, qr/libc/, 'a comment names the allocator');
    unlike($comments, qr/^total/m, 'and no total');
};


test 'a single process', 'jemalloc' => sub {
    my $nginx = start(master => 0);
    my $held = held($nginx);

    is_exact($nginx, 'a single process');

    # it serves nothing after a reload, and must not end

    $nginx->signal('HUP');
    wait_until(sub { $nginx->error_log =~ /reconfiguring/ });

    ok(kill(0, $nginx->{pid}), 'it lives');
    $nginx->signal('TERM');
    $nginx->stop(is_told => 1);
};


test 'all connections are used', 'jemalloc' => sub {
    my $nginx = start();

    # some of the 256 are taken: what listens, a channel, our own

    my @clients = $nginx->clients(200, '/fine');

    $_->response for @clients;

    my $held = held($nginx);

    is_exact($nginx, '200 of 256');
    cmp_ok($held->{'connection slots;in use'}, '>', 200 * 432, 'slots in use');
};

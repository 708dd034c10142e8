#!/usr/bin/perl

# The first line: faults planted as an operator meets them, each found by the
# verdict of status, the first line of memory?format=top, and that of the root,
# which is text for a client that does not ask for HTML.
#
# Not here: the sentence for each finding (t/unit/jpp_verdict_test.c), the page
# (page/console.t).

use JppTest;
use JppRun qw( certificate );
use JppStalls qw( hold release stalling );

my $tree = 'location /debug/pprof/ { jemalloc_pprof control=on; }';
my $accept = "Accept: */*\r\n";

# of the server's or location's block
my $at = qr/\(nginx\.conf:\d+\)/;

my @backends;


# An nginx whose memory is looked at.

sub start(%how) {
    my $nginx = JppNginx->start(%how, http => 'jemalloc_pprof_stall off; '
                                              . ($how{http} // ''));

    $nginx->{may_stall} = 1;

    return $nginx;
}


sub verdict($nginx) {
    return $nginx->{may_stall} ? $nginx->calm : $nginx->verdict;
}


# All first lines of NGINX are like LINE, and the text fits a terminal.

sub is_first($nginx, $line, $owner) {
    my $verdict = verdict($nginx);
    my $text = "$verdict->{severity}: $verdict->{text}.";

    like($text, qr/^$line/, 'status');
    is($verdict->{owner}, $owner, 'the owner');

    my $memory = $nginx->get('/debug/pprof/memory?format=top&cols=1000')
              ->{body};

    like($memory, qr/^$line/, 'memory');

    my $root = $nginx->get('/debug/pprof/', headers => $accept);

    like($root->{headers}{'content-type'}, qr{^text/plain}, 'the root is text');

    like($root->{body} =~ s/\n(?!\n)/ /gr, qr/^$line/, 'the root');

    my $page = $nginx->get('/debug/pprof/',
                           headers => "Accept: text/html\r\n")->{body};

    my %text = (amp => '&', lt => '<', gt => '>', quot => '"');

    $page =~ s/.*<p id="verdict"[^>]*>//s;
    like($page =~ s/&(?:#(\d+)|(amp|lt|gt|quot));/$1 ? chr $1 : $text{$2}/ger,
         qr/^$line/, 'the page');

    my $body = $root->{body};

    utf8::decode($body);

    my @long = grep { length > 80 } split /\n/, $body;

    is_deeply(\@long, [], 'in lines of 80 columns');
}


test 'nothing is wrong', 'jemalloc' => sub {
    my $nginx = start(workers => 2, server => $tree);

    is_first($nginx, qr/Healthy: 2 workers hold [\d.]+ MiB/,
             verdict($nginx)->{owner});

    my $root = $nginx->get('/debug/pprof/', headers => $accept)->{body};

    like($root, qr{^ +bytes +% +largest owners.*\n *[\d.]+ [KM]iB +\d+  \S}m,
         'owners of a few KiB are shown as such');
    like($root, qr/^  memory\?format=top +every byte/m, 'what to ask next');
    like($root, qr/^2 of 2 workers answered; nginx /m, 'who answered');
};


# A server that answers each connection with REPLY, and holds it; its port.

sub holding($reply) {
    return backend(sub($client) {
        sysread $client, my $request, 65536 if length $reply > 16;
        syswrite $client, $reply;
        sleep 250;
    });
}


# A server of names that has an address for each, for an hour; its port.

sub name_server {
    my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1',
                                       Proto => 'udp') or die "udp: $!";

    push @backends, busy(1, sub {
        $socket->recv(my $query, 512);
        my ($id, $question) = unpack 'a2 x10 a*', $query;

        $socket->send($id . pack('n5', 0x8180, 1, 1, 0, 0) . $question
                      . pack('n3 N n C4', 0xc00c, 1, 1, 3600, 4, 127, 0, 0, 1))
            if $question =~ /\x00\x00\x01\x00\x01\z/;
    });

    return $socket->sockport;
}


# Files of HTML: a page of parts, and a part of 5 MB.

sub pages($nginx) {
    spew("$nginx->{prefix}/html/part.html",
         join '', map { sprintf "line %08x%08x\n", rand 1 << 32, rand 1 << 32 }
                  1 .. 220_000);
    spew("$nginx->{prefix}/html/page.html",
         '<!--#include virtual="/inner/part.html"-->' x 8);
}


# N requests in pieces of 100, each for PATH with a number.

sub many($nginx, $n, $path, $end = '') {
    my $client = $nginx->client;

    for (1 .. $n / 100) {
        my $base = $_ * 100;

        $client->write(join '', map {
            "GET $path" . ($base + $_) . "$end HTTP/1.1\r\nHost: www\r\n\r\n"
        } 1 .. 100);
        $client->answer('GET') for 1 .. 100;
    }

    return ();
}


# What holds most: its configuration, who comes, and once OWNER is the owner or
# the load is there, the first line, and the owner if it is always the same.

my @most = (
    { name => 'proxy buffers, and clients that read slowly',
      server => <<'END',
proxy_max_temp_file_size 0;
location /file { root html; }
location /export/ {
    proxy_pass http://127.0.0.1:$server_port/file;
    proxy_buffer_size 64k;
    proxy_buffers 64 64k;
    proxy_busy_buffers_size 128k;
}
END
      load => sub($nginx) {
          spew("$nginx->{prefix}/html/file", 'x' x (8 << 20));
          $nginx->clients(12, '/export/x', window => 4096);
      },
      until => qr/12 requests/,
      line => qr/Healthy: 1 worker holds [\d.]+ MiB[,;] .* upstream buffers (?#
                 )of location \/export\/ of www \(proxy_buffers 64 64k; (?#
                 )12 requests of [34]\.\d MiB/,
      owner => 'upstream buffers of location /export/ of www' },
    { name => 'uploads in memory',
      server => <<'END',
client_max_body_size 8m;
location /upload {
    client_body_buffer_size 2m;
    proxy_pass http://127.0.0.1:1;
}
END
      load => sub($nginx) {
          map { upload($nginx, 'www', '/upload') } 1 .. 10;
      },
      until => qr/10 requests/,
      line => qr/Healthy: .* request bodies of location \/upload of www (?#
                 )\(client_body_buffer_size; 10 requests/,
      owner => 'request bodies of location /upload of www' },
    { name => 'headers of 1 MB',
      server => 'client_header_timeout 60s; large_client_header_buffers 4 1m;',
      load => sub($nginx) {
          my @clients = map { $nginx->client } 1 .. 20;

          $_->write("GET / HTTP/1.1\r\nHost: www\r\nX-A: " . 'x' x 500_000)
              for @clients;
          @clients;
      },
      until => qr/header/,
      line => qr/Healthy: .* client header buffers of .*(?#
                 )large_client_header_buffers/ },
    { name => 'a zone',
      http => 'limit_req_zone $arg_key zone=perclient:8m rate=1r/m;',
      server => 'location /key {
                     limit_req zone=perclient burst=1000 nodelay;
                     empty_gif;
                 }',
      load => sub($nginx) { many($nginx, 9000, '/key?key=', 'x' x 200) },
      line => qr/Healthy: .* of it zone perclient/, owner => 'zone perclient' },
    { name => 'a zone that is full',
      http => 'limit_req_zone $arg_key zone=keys:32k rate=1000r/s;',
      server => 'location /key { limit_req zone=keys burst=1000; empty_gif; }',
      load => sub($nginx) { many($nginx, 300, '/key?key=', 'x' x 60) },
      line => qr/Warning: zone keys has .* left in whole pages, and refused (?#
                 )\d+ allocations/, owner => 'zone keys' },
    { name => 'a configuration of 30 MB', workers => 2,
      http => large_map(20000),
      line => qr/Healthy: .* of it the configuration of generation LAST/,
      owner => 'the configuration of generation LAST' },
    # each reload adds 8 MB, in which the workers are alike
    { name => 'a configuration that grows',
      load => sub($nginx) {
          $nginx->reload(http => 'jemalloc_pprof_stall off; '
                                 . large_map(10_000 * $_)) for 1 .. 3;
      },
      line => qr/\w+: .* the configuration of generation LAST/,
      owner => 'the configuration of generation LAST' },
    { name => 'keys of a cache',
      http => 'proxy_cache_path cache keys_zone=pages:8m;',
      server => <<'END',
location /page {
    proxy_pass http://127.0.0.1:$server_port/fine;
    proxy_cache pages;
    proxy_cache_key $request_uri;
    proxy_cache_valid 10m;
}
END
      load => sub($nginx) { many($nginx, 6000, '/page?') },
      line => qr/Healthy: .* of it zone pages/, owner => 'zone pages' },
    # a buffer in each direction
    { name => 'connections that were upgraded',
      backend => "HTTP/1.1 101 Switching Protocols\r\n"
                 . "Upgrade: x\r\nConnection: upgrade\r\n\r\n",
      server => <<'END',
location /ws/ {
    proxy_pass http://BACKEND/ws;
    proxy_http_version 1.1;
    proxy_set_header Upgrade $http_upgrade;
    proxy_set_header Connection upgrade;
    proxy_buffer_size 256k;
    proxy_buffers 8 64k;
    proxy_busy_buffers_size 256k;
}
END
      load => sub($nginx) {
          $nginx->clients(30, '/ws/', window => 4096, headers =>
                          "Upgrade: x\r\nConnection: upgrade\r\n");
      },
      until => qr{30 requests of 5\d\d\.},
      line => qr/Healthy: .* requests of location \/ws\/ of www (?#
                 )\(30 requests of 5\d\d\.\d KiB each; nginx\.conf:\d+\)/,
      owner => 'requests of location /ws/ of www' },
    # the backend says hello in HTTP/2, and no more
    { name => 'gRPC', backend => "\0\0\0\4\0\0\0\0\0",
      server => 'location /rpc.Service/ { grpc_buffer_size 512k;
                                          grpc_pass BACKEND; }',
      load => sub($nginx) {
          $nginx->clients(20, '/rpc.Service/Call', window => 4096);
      },
      until => qr{/rpc\.Service/},
      line => qr/Healthy: .* upstream header buffers of location (?#
                 )\/rpc\.Service\/ of www (?#
                 )\(grpc_buffer_size 512k; 20 requests/,
      owner => 'upstream header buffers of location /rpc.Service/ of www' },
    # the rest of a body never comes
    { name => 'gzip, and a backend that is slow',
      backend => "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
                 . "Content-Length: 1000000\r\n\r\n" . 'x' x 2000,
      server => <<'END',
location /text {
    proxy_pass http://BACKEND;
    proxy_http_version 1.1;
    gzip on;
    proxy_buffering off;
    gzip_proxied any;
}
END
      load => sub($nginx) {
          $nginx->clients(20, '/text', window => 4096,
                          headers => "Accept-Encoding: gzip\r\n");
      },
      until => qr/gzip/,
      line => qr/Healthy: .* ngx_http_gzip_filter_module for requests of (?#
                 )location \/text of www \(gzip_window, gzip_hash, (?#
                 )gzip_buffers; 20 requests/,
      owner => 'allocations by ngx_http_gzip_filter_module for requests of '
               . 'location /text of www' },
    # what subrequests hold is in the pool of the page
    { name => 'parts of a page',
      server => <<'END',
location /page.html { types { text/html html; } root html; ssi on; }
location /inner/ {
    proxy_pass http://127.0.0.1:$server_port/part.html;
    proxy_buffers 16 64k;
    proxy_max_temp_file_size 0;
}
location /part.html { root html; }
END
      load => sub($nginx) {
          pages($nginx);
          $nginx->clients(10, '/page.html', window => 4096);
      },
      until => qr/upstream buffers/,
      line => qr/Healthy: .* upstream buffers of location (?#
                 )\/(?:inner\/|page\.html) of www \(\S*_buffers/ },
    # jemalloc 5.3.1 leaves sampled objects out of what is allocated
    { name => 'substitutions in large bodies', conf => 'prof:true',
      server => <<'END',
location /part.html {
    types { text/html html; }
    root html;
    sub_filter line LINE;
    sub_filter_once off;
    output_buffers 2 512k;
}
END
      load => sub($nginx) {
          pages($nginx);
          $nginx->clients(20, '/part.html', window => 4096);
      },
      until => qr{/part\.html},
      line => qr/Healthy: .* of location \/part\.html of www / },
    { name => 'connections that there may be', connections => 60_000,
      line => qr/Healthy: .* connection slots \(worker_connections\)/,
      owner => 'connection slots' },
    { name => 'names that are resolved', backend => \&name_server,
      server => 'resolver BACKEND ipv6=off;
                 location /by { proxy_pass http://$arg_name.example:1; }',
      load => sub($nginx) {
          many($nginx, 5000, '/by?name=n', '.' . join '.', ('x' x 60) x 3);
      },
      line => qr/Healthy: .* of it the resolver's cache/,
      owner => "the resolver's cache" },
);

for my $case (@most) {
    test $case->{name}, 'jemalloc' => sub { is_most(%$case) };
}


sub is_most(%how) {
    my ($load, $until, $backend) = @how{qw( load until backend )};
    my $server = "$tree server_name www; " . ($how{server} // '');

    $backend = '127.0.0.1:' . (ref $backend ? $backend->() : holding($backend))
        if defined $backend;

    my $nginx = start(%how, server => $server =~ s/BACKEND/$backend/r);
    my @clients = $load ? $load->($nginx) : ();

    ok(wait_until(sub {
        my $verdict = verdict($nginx);

        return $verdict->{text} =~ $until
               || ($verdict->{owner} // '') =~ $until;
    }), 'the load is there') if $until;

    my $last = $nginx->json('/debug/pprof/status')->{workers}[0]{generation};

    is_first($nginx, $how{line} =~ s/LAST/$last/r,
             ($how{owner} // verdict($nginx)->{owner}) =~ s/LAST/$last/r);
}


test 'a stopped worker', 'jemalloc' => sub {
    my $nginx = JppNginx->start(
        workers => 2,
        server => 'location /debug/pprof/ { jemalloc_pprof;
                                            jemalloc_pprof_timeout 1s; }');
    my $client = $nginx->client;
    my ($pid) = $nginx->workers_of($client);

    $nginx->signal('STOP', $pid);

    my $verdict = decode_json($client->get('/debug/pprof/status')->{body})
                  ->{verdict};

    is($verdict->{severity}, 'Critical', 'a worker is stopped');
    like($verdict->{text}, qr/^worker \d \(pid $pid\) did not answer: /,
         'which one');

    my $root = $client->get('/debug/pprof/', headers => $accept)->{body};

    like($root, qr/^Critical: worker \d \(pid $pid\) did not answer: /,
         'the root');

    kill 'CONT', $pid;
};


# A location that takes long, and then one that does not come back: the open of
# a pipe waits for who writes, as that of a file for its disk.

test 'Perl that sleeps', 'jemalloc', 'scripts' => sub {
    my $nginx = stalling(workers => 2, stall => '250ms',
                         servers => 'jemalloc_pprof_timeout 1s;');

    $nginx->get('/api/x') for 1 .. 2;

    is_first($nginx, qr/Warning: location \/api\/ of www\.example\.com $at (?#
                        )kept worker \d \(pid \d+\) for [\d.]+ m?s, (?#
                        )blocked in .*select .*, called by Perl_pp_sselect (?#
                        ).*; \d+ stalls in the last minute took (?#
                        )(?:1\.[2-9]|[2-9]\.|\d\d)/,
             'location /api/ of www.example.com');

    my $client = hold($nginx, 'read');

    ok(wait_until(sub {
        $nginx->get('/debug/pprof/status')->{body} =~ / has kept it /
    }), 'stuck, as status says');

    is_first($nginx, qr/Critical: worker \d \(pid \d+\) did not answer: (?#
                        ).*; location \/read\/ of www\.example\.com $at has (?#
                        )kept it for [\d.]+ m?s, blocked in \w*open\w*/,
             'location /read/ of www.example.com');

    like(release($nginx, $client, 'read')->{body}, qr/^read a line/,
         'it goes on');
};


# The name of the location is not what takes the time: nginx tries it, and finds
# another.

test 'a regular expression of a location', 'jemalloc' => sub {
    my $nginx = JppNginx->start(server => <<"END");
            $tree
            server_name www;
            location / { return 200 "root\\n"; }
            location ~ "(a+)+[b-d]" { return 200 "found\\n"; }
END
    backtracks($nginx, '/');

    is_first($nginx, qr/Warning: a regular expression of a "location ~" of (?#
                        )www $at kept worker 0 \(pid \d+\) for [\d.]+ m?s, (?#
                        )computing in .*pcre/,
             'a regular expression of a "location ~" of www');
};


test 'a regular expression in a location', 'jemalloc' => sub {
    my $nginx = JppNginx->start(server => <<"END");
            $tree
            server_name www;
            location /search/ {
                if (\$arg_q ~ "(a+)+[b-d]") { return 403; }
                return 200 "found\\n";
            }
END
    backtracks($nginx, '/search/?q=');

    is_first($nginx, qr/Warning: location \/search\/ of www $at (?#
                        )kept worker 0 \(pid \d+\) for [\d.]+ m?s, (?#
                        )computing in .*pcre/,
             'location /search/ of www');
};


# Twice half a second and more, on any machine.

sub backtracks($nginx, $path) {
    ok(wait_until(sub {
        $nginx->get($path . ('a' x 20 . '!') x 10);

        my $verdict = $nginx->verdict;

        return $verdict->{id} eq 'stalls'
               && $verdict->{text} =~ / computing in /;
    }), 'it takes a second');
}


# It grows by steps: made at once, the stall would be what comes first.

test 'a table of Lua', 'jemalloc', 'lua' => sub {
    my $nginx = start(
        workers => 1, main => lua_modules(),
        server => "$tree location = /grow {
                       content_by_lua_block {
                           kept = kept or {}
                           for i = 1, 20000 do
                               kept[#kept + 1] = { i }
                           end
                           ngx.say(#kept)
                       } }");

    my $grown = grep { $nginx->get('/grow')->{status} == 200 } 1 .. 70;

    is($grown, 70, 'a table grows');

    is_first($nginx, qr/Warning: [\d.]+ MiB of [\d.]+ MiB are LuaJIT's (?#
                        )heap, most of it in worker 0 \(pid \d+\)/,
             "LuaJIT's heap");
};


my $stream = modules('ngx_stream_module');

test 'sessions of TCP', 'jemalloc', sub { $stream ne '' } => sub {
    my $port = holding('hello');
    my $tcp = free_port();
    my $nginx = start(server => $tree, main => <<"END");
$stream
stream {
    server {
        listen 127.0.0.1:$tcp;
        proxy_pass 127.0.0.1:$port;
        proxy_buffer_size 256k;
    }
}
END
    my @clients = map {
        IO::Socket::INET->new(PeerAddr => "127.0.0.1:$tcp")
    } 1 .. 30;

    sysread $_, my $hello, 5 for @clients;

    is_first($nginx, qr/Healthy: .* session buffers of stream server (?#
                        )127\.0\.0\.1:$tcp \(proxy_buffer_size; 30 sessions/,
             "session buffers of stream server 127.0.0.1:$tcp");
};


# A backend that answers none before all have come, which go on with the TLS
# session of the first.  What newer releases of OpenSSL allocate outside of
# pools for a connection is more than its buffers are.

sub has_small_tls {
    return `@{[ binary() ]} -V 2>&1` =~ /OpenSSL 3\.0/ && has_jemalloc();
}


test 'idle connections to a backend', \&has_small_tls => sub {
    my $port = free_port();
    my $tls = certificate();
    my $backend = JppNginx->start(http => <<"END");
server {
    listen 127.0.0.1:$port ssl;
    $tls
    location / { return 200; }
}
END
    my $nginx = start(http => <<"END", server => <<"END2");
upstream shop {
    server 127.0.0.1:$port;
    keepalive 300;
}
END
            $tree
            server_name www;
            location / {
                proxy_pass https://shop;
                proxy_ssl_protocols TLSv1.2;
                proxy_http_version 1.1;
                proxy_set_header Connection "";
            }
END2
    my @workers = $backend->worker_pids;

    is($nginx->get('/')->{status}, 200, 'a session');
    $backend->signal('STOP', $_) for @workers;

    my @clients = $nginx->clients(100, '/');

    ok(wait_until(sub {
        $nginx->get('/debug/pprof/pools?format=top')->{body}
            =~ /^2\d\d connections, seen/m;
    }), 'all have come');

    $backend->signal('CONT', $_) for @workers;
    $_->response for @clients;

    ok(wait_until(sub { (verdict($nginx)->{owner} // '') =~ /upstream/ }),
       'all are idle');

    is_first($nginx, qr/Healthy: .* TLS buffers of upstream shop (?#
                        )\(keepalive; \d+ idle connections of 16\./,
             'TLS buffers of upstream shop');
};


# It is malloc's, of no pool: of which location, samples say.

test 'what Perl keeps', 'jemalloc', 'perl' => sub {
    my $nginx = start(
        main => modules('ngx_http_perl_module'),
        server => <<"END");
            $tree
            server_name www;
            location /session {
                perl 'sub {
                    push \@main::kept, "x" x 500000;
                    \$_[0]->send_http_header;
                }';
            }
END
    my $client = $nginx->client;

    $client->get('/session') for 1 .. 40;

    is_first($nginx, qr/Healthy: .* (?:of it|for) malloc memory of (?#
                        )location \/session of www \(in no pool, by samples; (?#
                        )see heap\?by=location&format=top; nginx\.conf:\d+\)/,
             'malloc memory of location /session of www');
};


my $njs = modules('ngx_http_js_module');

# Each request keeps what it has made until its timer is over.

test 'njs that keeps arrays', 'jemalloc', sub { $njs ne '' } => sub {
    my $js = tempdir('jpp-js-XXXXXX', TMPDIR => 1, CLEANUP => 1);

    chmod 0755, $js;
    spew("$js/app.js", <<'END');
function keep(r) {
    var kept = [];

    for (var i = 0; i < 40; i++) {
        kept.push('x'.repeat(50000) + i);
    }

    setTimeout(function() { r.return(200, kept.length + ''); }, 60000);
}

export default { keep };
END
    my $nginx = start(
        main => $njs,
        http => "js_path $js; js_import app from app.js;",
        server => "$tree server_name www;
                   location /shop/ { js_content app.keep; }");
    my @clients = $nginx->clients(20, '/shop/');

    ok(wait_until(sub { (verdict($nginx)->{owner} // '') =~ /malloc memory/ }),
       'all wait');

    is_first($nginx, qr/Healthy: .* (?:of it|for) malloc memory of (?#
                        )location \/shop\/ of www \(in no pool, by samples; (?#
                        )see heap\?by=location&format=top; nginx\.conf:\d+\)/,
             'malloc memory of location /shop/ of www');
};


# Right to left, controls, and pictures: cut in the middle, and escaped.

test 'names of 4 KB', 'jemalloc' => sub {
    my $name = '/' . "\xd7\x90\xf0\x9f\x98\x80\e[31m" x 300 . '/end';
    my $nginx = start(server => <<"END");
            $tree
            server_name w\xc3\xa4w;
            client_max_body_size 8m;
            location "$name" {
                client_body_buffer_size 2m;
                proxy_pass http://127.0.0.1:1;
            }
END
    my $uri = $name =~ s/([^\/\w])/sprintf '%%%02x', ord $1/ger;
    my @clients = map { upload($nginx, 'localhost', $uri) } 1 .. 10;

    ok(wait_until(sub { (verdict($nginx)->{owner} // '') =~ /request bodies/ }),
       'all are read');

    my $owner = verdict($nginx)->{owner};

    unlike($owner, qr/[\x00-\x1f]/, 'without controls');
    cmp_ok(length $owner, '<', 400, 'it is cut');
    like($owner, qr/\.\.\..*\/end of w.{1,8}w$/, 'in the middle');

    for my $accept ('*/*', 'text/html') {
        my $page = $nginx->get('/debug/pprof/',
                               headers => "Accept: $accept\r\n")->{body};

        unlike($page, qr/[\x00-\x08\x0b-\x1f]/, "$accept: no controls");
        like($page, qr/\/end of w/, "$accept: its end");
    }
};


# A zone, and the file that has its location.

test 'names of a zone and of a file', 'jemalloc' => sub {
    my $zone = "\xd7\x90\xf0\x9f\x98\x80\e[31m\xe2\x80\xae" x 250 . 'end';
    my $conf = tempdir('jpp-conf-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    my $file = "$conf/" . "\xd7\x90\xf0\x9f\x98\x80\e[31m" x 20 . 'end.conf';

    chmod 0755, $conf;
    spew($file, <<"END");
location /key { limit_req "zone=$zone" burst=1000; empty_gif; }

location /body { client_body_buffer_size 2m; proxy_pass http://127.0.0.1:1; }
END

    my $nginx = start(
        http => qq(limit_req_zone \$arg_key "zone=$zone:32k" rate=1000r/s;),
        server => qq($tree server_name www; client_max_body_size 8m;
                     include "$file";));
    my @clients = map { upload($nginx, 'localhost', '/body') } 1 .. 10;

    ok(wait_until(sub { (verdict($nginx)->{owner} // '') =~ /request bodies/ }),
       'all are read');
    like(verdict($nginx)->{place}, qr/^[^\x00-\x1f]{1,120}\.\.\.(?#
                                      )[^\x00-\x1f]*end\.conf:3$/,
         'the file, cut in the middle');

    $_->leave for @clients;
    many($nginx, 300, '/key?key=', 'x' x 60);
    ok(wait_until(sub { verdict($nginx)->{id} eq 'zone-full' }), 'it is full');
    is_first($nginx, qr/Warning: zone \S.*\.\.\..*end has .* left in whole (?#
                        )pages/, verdict($nginx)->{owner});
    unlike($nginx->get("/debug/pprof/$_")->{body}, qr/[\x00-\x08\x0b-\x1f]/,
           "$_: no controls") for 'memory?format=top', 'metrics', 'status';
};


# Ten kinds of load: nothing is wrong, whoever holds most.

test 'load without a fault', 'jemalloc' => sub {
    my $nginx = start(
        workers => 2,
        http => 'limit_req_zone $uri zone=fair:1m rate=10000r/s;',
        server => <<"END");
            $tree
            location /files/ { alias html/; }
            location /gzip/ { alias html/; gzip on; gzip_types *; }
            location /proxied { proxy_pass http://127.0.0.1:\$server_port/fine;
                                proxy_http_version 1.1;
                                proxy_set_header Connection ""; }
            location /limited { limit_req zone=fair burst=1000; empty_gif; }
            location /moved { return 301 /fine; }
            location /upload { client_body_buffer_size 16k;
                               proxy_pass http://127.0.0.1:1; }
            location /auth { satisfy any; deny all; }
END
    spew("$nginx->{prefix}/html/page.html", 'a page ' x 1000);

    my %loads = (
        'a small answer' => [ '/fine' ],
        'a file' => [ '/files/page.html' ],
        'a part of one' => [ '/files/page.html',
                             headers => "Range: bytes=1-9\r\n" ],
        'compression' => [ '/gzip/page.html',
                           headers => "Accept-Encoding: gzip\r\n" ],
        'a proxy' => [ '/proxied' ],
        'a limit' => [ '/limited' ],
        'a redirect' => [ '/moved' ],
        'no such file' => [ '/files/nothing' ],
        'a body' => [ '/upload', body => 'x' x 9_000 ],
        'no access' => [ '/auth' ],
    );

    for my $what (sort keys %loads) {
        my @clients = map { $nginx->client } 1 .. 8;

        for my $client (@clients) {
            $client->get(@{ $loads{$what} }) for 1 .. 25;
        }

        my $verdict = verdict($nginx);

        is($verdict->{id}, 'healthy', $what)
            or diag($verdict->{text});
    }

    $nginx->stop(alerts => qr/connect\(\) failed/);
};


# The line of the block that somebody has to change: in an included file, of a
# named location, and of a location with an "if", which has no name; and none
# where two blocks have the same names.

test 'lines of the configuration', 'jemalloc' => sub {
    my $prefix = tempdir('jpp-places-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    my $port = free_port();
    my $body = 'client_body_buffer_size 2m; proxy_pass http://127.0.0.1:1;';
    my $sites = <<"END";
location /upload {
    $body
}
location /if {
    $body
    if (\$args) {
        proxy_pass http://127.0.0.1:1;
    }
}
location /named {
    try_files /none \@named;
}
location \@named { $body }
location ~ ^/regex {
    location ~ inner { $body }
}
END

    mkdir "$prefix/sites";
    spew("$prefix/sites/www", $sites);

    my $nginx = start(
        prefix => $prefix, port => $port,
        server => "$tree server_name www localhost; include sites/*;",
        http => 'client_max_body_size 8m;' . join '', map {
            "server { listen 127.0.0.1:$port; server_name twice $_;\n"
            . "location /twice { $body } }\n"
        } qw( one two ));
    my @clients = (
        (map { upload($nginx, 'www', '/upload') } 1 .. 3),
        upload($nginx, 'www', '/if?yes'), upload($nginx, 'www', '/named'),
        upload($nginx, 'www', '/regex/inner'),
        upload($nginx, 'one', '/twice'), upload($nginx, 'two', '/twice'));
    my %line = (
        '/upload' => 'sites/www:1', '/if' => 'sites/www:4',
        '@named' => 'sites/www:13', inner => 'sites/www:15',
        '/twice' => 'several blocks');

    ok(wait_until(sub { keys %{ lines_of($nginx) } == keys %line }),
       'all have come');
    is_deeply(lines_of($nginx), \%line, 'pools');

    is_first($nginx, qr/Healthy: .* request bodies of location \/upload (?#
                        )of www \(client_body_buffer_size; 3 requests (?#
                        ).* each; sites\/www:1\)/,
             'request bodies of location /upload of www');

    # a finding about a worker has it, too; the newest generation's is said

    spew("$prefix/sites/www", "# moved\n$sites");
    $nginx->reload(is_kept => 1);
    push @clients, upload($nginx, 'www', '/upload');

    ok(wait_until(sub { (verdict($nginx)->{place} // '') eq 'sites/www:2' }),
       'where it is now');
    unlike($nginx->get('/debug/pprof/pools?format=top&cols=1000')->{body},
           qr{/upload; request \(}, 'two lines, so none');
};


# A client of SERVER that posts to PATH, all but the end.

sub upload($nginx, $server, $path) {
    return $nginx->upload($path, 2_000_000, 'x' x 100_000, $server);
}


# The line of each location that holds large bodies.

sub lines_of($nginx) {
    my $top = $nginx->get('/debug/pprof/pools?format=top&cols=1000')->{body};

    return { $top =~ /request body .*; location (\S+); request \((.*)\)$/mg };
}


test 'which clients get text' => sub {
    my $nginx = JppNginx->start(workers => 1, server => $tree);

    my %type = (
        '' => 'text/html',
        "Accept: */*\r\n" => 'text/plain',
        "Accept: text/plain\r\n" => 'text/plain',
        "accept: TEXT/HTML;q=0.9, */*\r\n" => 'text/html',
        "Accept: application/xhtml+xml,text/html\r\n" => 'text/html',
        "Accept:\r\n" => 'text/plain',
    );

    for my $headers (sort keys %type) {
        my $answer = $nginx->get('/debug/pprof/', headers => $headers);

        like($answer->{headers}{'content-type'}, qr/^\Q$type{$headers}\E/,
             'with ' . ($headers =~ s/\s+$//r || 'no Accept'));
    }

    like($nginx->get('/debug/pprof/', headers => $accept, method => 'HEAD')
               ->{headers}{'content-type'}, qr{^text/plain}, 'HEAD');
};

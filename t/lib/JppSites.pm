package JppSites;

# The servers that docs/cpu.md, docs/owners.md and docs/pools.md speak of: each
# in the state that its section shows, with the clients and the load that keep
# it there until what is returned beside it is gone.

use JppPerl;

use Exporter qw( import );

use JppClient;
use JppNginx qw( free_port spew wait_until );
use JppRun qw( busy certificate lua_modules modules );

our @EXPORT_OK = qw( searching compressing shaking_hands looping crowded leaking
                     packing three_servers reporting large_buffers slow_uploads
                     idle_tls streams huge_configuration many_connections
                     leak $hot );

# memory of code that LuaJIT compiles: kept, and freed
our $hot = <<'END';
location /debug/pprof/ { jemalloc_pprof control=on; }

location = /hot {
    content_by_lua_block {
        local n = 0

        for i = 1, 300 do
            ngx.header["X-A"] = "value " .. i
            n = n + #(ngx.var.uri .. ngx.var.request_id)
        end

        -- each declaration takes a place in a table of LuaJIT's

        if ngx.var.arg_keep then
            local ffi = require "ffi"

            ffi.cdef "void *malloc(size_t);"

            for i = 1, 300 do
                ffi.C.malloc(1024)
            end
        end

        ngx.say(n)
    }
}
END

my $owners = <<'END';
jemalloc_pprof_source sampler;
jemalloc_pprof_owners on;
END

my $report = <<'CONF';
location /report/ {
    content_by_lua_block {
        local report = ""
        for i = 1, 3000 do
            report = report .. i .. ", "
        end
        ngx.say(report)
    }
}
CONF

# a list that is worth compressing
my @list = map { qq({"id": $_, "name": "number $_", "square": )
                 . $_ * $_ . "}\n" } 1 .. 20000;


# An nginx with more in its server, CONF, and SAMPLING; the rest of HOW is that
# of JppNginx.

sub site(%how) {
    my $conf = delete $how{conf} // '';

    return JppNginx->start(workers => 2,
                           conf => delete $how{sampling} // 'prof:false',
                           server => <<"CONF", %how);
server_name www.example.com;
location /debug/pprof/ { jemalloc_pprof; }
$conf
CONF
}


# The same with owners, and without jemalloc.

sub owned(%how) {
    return site(preload => [], %how, http => $owners . ($how{http} // ''));
}


# A server with TLS, by its name.

sub tls($name) {
    my $port = free_port();

    return ($port, "server { listen 127.0.0.1:$port ssl; server_name $name;\n"
                   . certificate() . 'location / { return 200 "ok\n"; } }');
}


# SERVER, while N clients ask it for each of PATHS in turn.

sub asked($server, $n, @paths) {
    return ($server, busy($n, sub {
        $server->get($_, headers => "Accept-Encoding: gzip\r\n") for @paths;
    }));
}


sub handshakes($port) {
    return busy(2, sub {
        system("openssl s_time -connect 127.0.0.1:$port -new -time 5 -www / "
               . '>/dev/null 2>&1');
    });
}


sub searching {
    return asked(site(conf => <<'CONF'), 3, '/search/?q=' . 'a' x 16 . '!');
location /search/ {
    if ($arg_q ~ "^(a+)+[b-d]") { return 403; }
    return 200 "found\n";
}
CONF
}


sub compressing {
    my $server = site(conf => <<'CONF');
location /api/ {
    root html;
    gzip on;
    gzip_types application/json;
    gzip_comp_level 9;
    default_type application/json;
}
CONF

    spew("$server->{prefix}/html/api/list", @list);

    return asked($server, 3, '/api/list');
}


sub shaking_hands {
    my ($port, $http) = tls('tls.example.com');

    return (site(http => $http), handshakes($port));
}


sub looping {
    return asked(site(main => lua_modules(), conf => $report), 3, '/report/');
}


# Ten locations, one of which has large buffers.

sub crowded { large_buffers(preload => [], http => $owners) }


# Three locations with a script, one of which keeps what it has made.

sub leaking {
    return asked(owned(main => modules('ngx_http_perl_module'),
                       conf => <<'CONF'), 2, '/a/', '/b/', '/session/');
location /a/ { perl 'sub { $_[0]->send_http_header; }'; }
location /b/ { perl 'sub { $_[0]->send_http_header; }'; }
location /session/ {
    perl 'sub {
        push @main::sessions, "x" x 20000;
        $_[0]->send_http_header;
    }';
}
CONF
}


# Ten locations that compress the same, one of them at level 9.

sub packing {
    my $gzip = 'alias html/list; gzip on; gzip_types *;';
    my $server = owned(conf => join '', map {
        my $level = $_ eq 'api' ? 9 : 1;

        "location = /$_/list { $gzip gzip_comp_level $level; }\n"
    } 'a' .. 'i', 'api');

    spew("$server->{prefix}/html/list", @list);

    return asked($server, 3, map { "/$_/list" } 'a' .. 'i', 'api');
}


# Three servers with TLS: new connections come to one of them, and to the
# others requests on connections that are kept.

sub three_servers {
    my ($shop, $api, $img) = map { [ tls("$_.example.com") ] }
                                 qw( shop api img );
    my $server = owned(http => join '', map { $_->[1] } $shop, $api, $img);

    my $kept = busy(1, sub {
        my @urls = map { ("https://127.0.0.1:$_->[0]/") x 50 } $shop, $img;

        system("curl -sk --noproxy '*' -m 20 @urls >/dev/null 2>&1");
    });

    return ($server, handshakes($api->[0]), $kept);
}


# A location in Lua among others.

sub reporting {
    return asked(owned(main => lua_modules(), conf => <<"CONF"), 3,
location /a/ { return 200 "ok\\n"; }
location /b/ { return 200 "ok\\n"; }
$report
CONF
                 '/a/', '/b/', '/report/');
}


# Until the bytes below the frames HTTP are at least BYTES.

sub wait_held($server, $http, $bytes) {
    wait_until(sub {
        my $text = $server->get('/debug/pprof/pools?format=folded')->{body};
        my $sum = 0;

        $sum += $1 while $text =~ /^http;server \Q$http\E.* (\d+)$/mg;

        return $sum >= $bytes;
    }) or die "$http does not hold $bytes bytes\n";
}


# Ten locations, one of which has large buffers; HOW is that of JppNginx.

sub large_buffers(%how) {
    my $port = free_port();
    my $locations = join '', map { "location /$_/ { proxy_pass "
                                   . "http://127.0.0.1:$port/files/; }\n" }
                                 'a' .. 'i';

    my $server = site(port => $port, %how, conf => <<"CONF");
$locations
location /files/ { root html; }
location /video/ {
    proxy_pass http://127.0.0.1:$port/files/;
    proxy_buffers 64 64k;
    proxy_max_temp_file_size 0;
}
CONF

    spew("$server->{prefix}/html/files/big.bin", 'x' x (24 << 20));

    my @clients = ($server->slow(20, '/video/big.bin'),
                   map { $server->slow(1, "/$_/big.bin") } 'a' .. 'i');

    wait_held($server, 'www.example.com;location /video/;', 20 * 64 * 65536);

    return ($server, @clients);
}


sub slow_uploads(%how) {
    my $server = site(%how, conf => <<'CONF');
location /upload/ {
    client_body_buffer_size 1m;
    client_max_body_size 0;
    proxy_pass http://127.0.0.1:1;
}
CONF

    my @clients = map { $server->client } 1 .. 20;

    $_->write("POST /upload/ HTTP/1.1\r\nHost: a\r\n"
              . "Content-Length: 1048576\r\n\r\nx") for @clients;
    wait_held($server, 'www.example.com;location /upload/;', 20 << 20);

    return ($server, @clients);
}


sub idle_tls {
    my ($port, $http) = tls('tls.example.com');
    my $server = site(http => $http);

    my @clients = map {
        open my $client, '|-', 'openssl s_client -quiet -connect '
                               . "127.0.0.1:$port >/dev/null 2>&1"
            or die "openssl: $!\n";

        $client->autoflush;
        print $client "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
        $client;
    } 1 .. 20;

    wait_held($server, 'tls.example.com;client connection;', 20 * 1024);

    return ($server, @clients);
}


# One connection with 64 streams, of which nothing is read: without a window.

sub streams(%how) {
    my ($port, $files) = (free_port(), free_port());

    my $server = site(port => $files, %how,
                      http => ($how{http} // '') . <<"CONF", conf => <<'CONF');
server {
    listen 127.0.0.1:$port http2;
    server_name two.example.com;
    http2_max_concurrent_streams 128;
    location /slow/ {
        proxy_pass http://127.0.0.1:$files/files/;
        proxy_buffers 16 8k;
        proxy_max_temp_file_size 0;
    }
}
CONF
location /files/ { root html; }
CONF

    spew("$server->{prefix}/html/files/x", 'x' x (8 << 20));

    my $client = JppClient->http2(pack('nN', 4, 0), port => $port);

    $client->send_stream(2 * $_ + 1, '/slow/x') for 0 .. 63;
    wait_held($server, 'two.example.com;location /slow/;', 64 * 16 * 8192);

    return ($server, $client, $port);
}


sub huge_configuration {
    my $map = join '', map { "key-number-$_ value-number-$_;\n" } 1 .. 20000;

    return site(http => "map_hash_max_size 65536;\n"
                        . "map \$uri \$huge {\n$map}\n");
}


sub many_connections { site(connections => 50000) }


# A balancer that keeps five connections, with many requests on each, and says
# whose they are, which realip writes into the pool of the connection.

sub leak {
    my $server = site(
        sampling => 'prof:true,lg_prof_sample:12', conf => <<'CONF');
set_real_ip_from 127.0.0.1;
real_ip_header X-Forwarded-For;
CONF

    my @clients = map { $server->client } 1 .. 5;

    for my $client (@clients) {
        $client->get('/fine', headers => "X-Forwarded-For: 192.0.2.1\r\n")
            for 1 .. 10000;
    }

    return ($server, @clients);
}


1;

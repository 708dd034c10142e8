package JppPlaces;

# The servers that docs/pools.md speaks of: each in the state that its section
# shows, with the clients that keep it there.

use JppPerl;

use Exporter qw( import );

use JppClient;
use JppNginx qw( free_port spew wait_until );
use JppSites qw( site tls_site );

our @EXPORT_OK = qw( large_buffers slow_uploads idle_tls streams
                     huge_configuration many_connections leak );

my $pools = '/debug/pprof/pools?format=folded';


# Until the bytes below PATH are at least BYTES.

sub wait_held($server, $path, $bytes) {
    wait_until(sub {
        my $text = $server->get($pools)->{body};
        my $sum = 0;

        $sum += $1 while $text =~ /^\Q$path\E.* (\d+)$/mg;

        return $sum >= $bytes;
    }) or die "$path does not hold $bytes bytes\n";
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

    my @clients = map { slow($server, "/$_/big.bin") } ('video') x 20,
                                                        'a' .. 'i';

    wait_held($server, 'http;server www.example.com;location /video/;',
            20 * 64 * 65536);

    return ($server, @clients);
}


sub slow($server, $path) {
    my $client = $server->client(window => 4096);

    $client->send_request($path);
    $client->read_some(30, 1);

    return $client;
}


sub slow_uploads {
    my $server = site(conf => <<'CONF');
location /upload/ {
    client_body_buffer_size 1m;
    client_max_body_size 0;
    proxy_pass http://127.0.0.1:1;
}
CONF

    my @clients = map {
        my $client = $server->client;

        $client->write("POST /upload/ HTTP/1.1\r\nHost: a\r\n"
                       . "Content-Length: 1048576\r\n\r\nx");
        $client;
    } 1 .. 20;

    wait_held($server, 'http;server www.example.com;location /upload/;',
            20 << 20);

    return ($server, @clients);
}


sub idle_tls {
    my ($server, $port) = tls_site();

    my @clients = map {
        open my $client, '|-', 'openssl s_client -quiet -connect '
                               . "127.0.0.1:$port >/dev/null 2>&1"
            or die "openssl: $!\n";

        $client->autoflush;
        print $client "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
        $client;
    } 1 .. 20;

    wait_held($server, 'http;server tls.example.com;client connection;',
            20 * 1024);

    return ($server, @clients);
}


# One connection with 64 streams, of which nothing is read.

sub streams {
    my ($port, $files) = (free_port(), free_port());

    my $server = site(port => $files, http => <<"CONF", conf => <<'CONF');
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

    my $client = JppClient->new(port => $port);

    # SETTINGS with a window of nothing, then GET http://h/slow/x, each with the
    # length, the type, the flags and the stream of a frame before it

    my $get = "\x82\x86\x04\x07/slow/x\x01\x01h";

    $client->write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
                   . pack('xnCCNnN', 6, 4, 0, 0, 4, 0));
    $client->write(pack('xnCCN', length $get, 1, 5, 2 * $_ + 1) . $get)
        for 0 .. 63;

    wait_held($server, 'http;server two.example.com;location /slow/;',
            64 * 16 * 8192);

    return ($server, $client);
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
        for (1 .. 10000) {
            $client->send_request('/fine',
                                  headers => "X-Forwarded-For: 192.0.2.1\r\n");
            $client->response;
        }
    }

    return ($server, @clients);
}


1;

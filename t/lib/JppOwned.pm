package JppOwned;

# The servers that docs/owners.md speaks of: each has samples with owners, and
# is under the load that its section shows, until what is returned beside it is
# gone.

use JppPerl;

use Exporter qw( import );
use File::Temp qw( tempdir );

use JppBusy;
use JppNginx qw( free_port spew );
use JppPlaces qw( large_buffers );
use JppRun qw( lua_modules );

our @EXPORT_OK = qw( has_perl crowded leaking packing three_servers reporting );

my $perl = '/usr/lib/nginx/modules/ngx_http_perl_module.so';

my $owners = <<'END';
jemalloc_pprof_source sampler;
jemalloc_pprof_owners on;
END


sub has_perl { -e $perl }


# An nginx with more in its server; HOW is that of JppNginx.

sub server(%how) {
    return JppNginx->start(workers => 2, preload => [], conf => 'prof:false',
                           %how, http => $owners . ($how{http} // ''),
                           server => <<"CONF");
server_name www.example.com;
location /debug/pprof/ { jemalloc_pprof; }
$how{server}
CONF
}


# Requests for each of PATHS in turn, from N clients.

sub load($server, $n, @paths) {
    return JppBusy::load($n, sub {
        eval {
            $server->get($_, headers => "Accept-Encoding: gzip\r\n")
                for @paths;
        };
    });
}


# Ten locations, one of which has large buffers.

sub crowded { large_buffers(preload => [], http => $owners) }


# Three locations with a script, one of which keeps what it has made.

sub leaking {
    my $server = server(main => "load_module $perl;", server => <<'CONF');
location /a/ { perl 'sub { $_[0]->send_http_header; }'; }
location /b/ { perl 'sub { $_[0]->send_http_header; }'; }
location /session/ {
    perl 'sub {
        push @main::sessions, "x" x 20000;
        $_[0]->send_http_header;
    }';
}
CONF

    return ($server, load($server, 2, '/a/', '/b/', '/session/'));
}


# Ten locations that compress the same, one of them at level 9.

sub packing {
    my $gzip = 'alias html/list; gzip on; gzip_types *;';
    my $server = server(server => join '', map {
        my $level = $_ eq 'api' ? 9 : 1;

        "location = /$_/list { $gzip gzip_comp_level $level; }\n"
    } 'a' .. 'i', 'api');

    spew("$server->{prefix}/html/list",
         map { qq({"id": $_, "name": "number $_", "square": )
               . $_ * $_ . "}\n" } 1 .. 20000);

    return ($server, load($server, 3, map { "/$_/list" } 'a' .. 'i', 'api'));
}


# Three servers with TLS: new connections come to one of them, and to the
# others requests on connections that are kept.

sub three_servers {
    my @ports = map { free_port() } 1 .. 3;
    my $dir = tempdir('jpp-owned-XXXXXX', TMPDIR => 1, CLEANUP => 1);

    system('openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj '
           . "/CN=example.com -keyout $dir/key -out $dir/cert 2>/dev/null")
        and die "openssl has made no certificate\n";

    my @names = qw( shop.example.com api.example.com img.example.com );
    my $server = server(server => '', http => join '', map { <<"CONF" } 0 .. 2);
server {
    listen 127.0.0.1:$ports[$_] ssl;
    server_name $names[$_];
    ssl_certificate $dir/cert;
    ssl_certificate_key $dir/key;
    location / { return 200 "ok\\n"; }
}
CONF

    my $new = JppBusy::load(2, sub {
        system("openssl s_time -connect 127.0.0.1:$ports[1] -new -time 5 "
               . '-www / >/dev/null 2>&1');
    });

    my $kept = JppBusy::load(1, sub {
        my @urls = map { ("https://127.0.0.1:$ports[$_]/") x 50 } 0, 2;

        system("curl -sk --noproxy '*' -m 20 @urls >/dev/null 2>&1");
    });

    return ($server, $new, $kept);
}


# A location in Lua among others.

sub reporting {
    my $server = server(main => lua_modules(), server => <<'CONF');
location /a/ { return 200 "ok\n"; }
location /b/ { return 200 "ok\n"; }
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

    return ($server, load($server, 3, '/a/', '/b/', '/report/'));
}


1;

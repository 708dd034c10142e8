package JppSites;

# The sites that the worked examples of docs/ are about: an nginx with what a
# test adds, or with TLS.

use JppPerl;

use Exporter qw( import );
use File::Temp qw( tempdir );

use JppNginx qw( free_port );

our @EXPORT_OK = qw( site tls_site );


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


# The same with tls.example.com beside it: it and its port.

sub tls_site {
    my $port = free_port();
    my $dir = tempdir('jpp-sites-XXXXXX', TMPDIR => 1, CLEANUP => 1);

    system('openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj '
           . "/CN=tls.example.com -keyout $dir/key -out $dir/cert 2>/dev/null")
        and die "openssl has made no certificate\n";

    return (site(http => <<"CONF"), $port);
server {
    listen 127.0.0.1:$port ssl;
    server_name tls.example.com;
    ssl_certificate $dir/cert;
    ssl_certificate_key $dir/key;
    location / { return 200; }
}
CONF
}


1;

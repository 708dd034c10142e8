#!/usr/bin/perl

# ./dev bench pools coverage: of what load adds to a worker, how much does the
# resource pools say whose it is?
#
#     idle    1,000 connections that wait for their next request
#     slow    100 proxied downloads that are not read, with 16 buffers of 64k
#     http2   200 connections by TLS, with 5 such downloads each
#
# The growth is that of all frames, which are all that the event loop holds, to
# the byte.  What waits for a request has a server, but no location.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../t/lib";

use File::Temp qw( tempdir );
use IO::Socket::SSL;
use List::Util qw( sum0 );
use Test::More;
use Time::HiRes qw( sleep time );

use JppNginx qw( free_port spew );

# what hangs ends
alarm 600;

# how much of the growth is asked to have a server, and a location
my @states = (
    [ idle => \&idle, server => 95 ],
    [ slow => \&slow, location => 99 ],
    [ http2 => \&http2, location => 98 ],
);

my %place = (server => qr/^http;server [^;]+;/,
             location => qr/^http;server [^;]+;location [^;]+;/);

my $backend = backend();

for my $state (@states) {
    my ($name, $load, $what, $asked) = @$state;
    my $nginx = server();

    # the first question has a worker touch what it needs for it

    held($nginx) for 1 .. 2;

    my %before = held($nginx);
    my @clients = $load->($nginx);
    my %after = settled($nginx);

    show($name, \%before, \%after, $what, $asked);

    undef @clients;
    $nginx->stop;
}

$backend->stop;
done_testing();


# A file of which nobody reads much.

sub backend {
    my $dir = tempdir(CLEANUP => 1);

    open my $fh, '>', "$dir/large" or die "$dir/large: $!\n";
    truncate $fh, 16 << 20;
    chmod 0755, $dir;

    return JppNginx->start(module => 0, connections => 4096, preload => [],
                           server => "root $dir; sendfile on;");
}


sub server {
    my $key = tempdir(CLEANUP => 1) . '/key';
    my $port = free_port();

    system("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1"
           . " -nodes -subj /CN=localhost -keyout $key -out $key.crt"
           . ' 2>/dev/null') == 0 or die "openssl: $?\n";

    my $nginx = JppNginx->start(
        connections => 4096, conf => 'prof:false', level => 'warn',
        http => 'keepalive_timeout 600s;',
        server => <<"CONF");
server_name www.example.com;
listen 127.0.0.1:$port ssl http2;
ssl_certificate $key.crt;
ssl_certificate_key $key;
location /debug/pprof/ { jemalloc_pprof; }
location /large {
    proxy_buffers 16 64k;
    proxy_buffer_size 64k;
    proxy_busy_buffers_size 128k;
    proxy_max_temp_file_size 0;
    proxy_pass http://127.0.0.1:$backend->{port};
}
CONF

    $nginx->{tls} = $port;

    return $nginx;
}


# Bytes by frames.  Slots are there, used or not.

sub held {
    my ($nginx) = @_;
    my $answer = $nginx->get('/debug/pprof/pools?format=folded');

    die "no pools: $answer->{body}\n" if $answer->{status} != 200;

    my %held;

    while ($answer->{body} =~ /^(.*) (\d+)$/mg) {
        my ($frames, $bytes) = ($1, $2);

        $frames =~ s/^connection slots\K.*//;
        $held{$frames} += $bytes;
    }

    return %held;
}


# The same once it does not change.

sub settled {
    my ($nginx) = @_;
    my ($last, $sum, %held) = (-1, 0);
    my $until = time + 60;

    while ($sum != $last && time < $until) {
        sleep 1;
        %held = held($nginx);
        ($last, $sum) = ($sum, sum0(values %held));
    }

    return %held;
}


sub show {
    my ($name, $before, $after, $what, $asked) = @_;
    my %grown = map { $_ => $after->{$_} - ($before->{$_} // 0) } keys %$after;
    my $all = sum0(values %$after) - sum0(values %$before);

    my %of = map {
        my $place = $place{$_};

        $_ => 100 * sum0(map { /$place/ ? $grown{$_} : 0 } keys %grown) / $all
    } keys %place;

    printf "coverage, %s: of %d bytes more %.2f %% have a server, %.2f %% a"
           . " location; asked: a %s for %d %%\n", $name, $all, $of{server},
           $of{location}, $what, $asked;

    my ($rest) = grep { !/$place{server}/ }
                 sort { $grown{$b} <=> $grown{$a} } keys %grown;

    printf "    most of the others: %s, %d\n", $rest, $grown{$rest};
}


sub idle {
    my ($nginx) = @_;

    return map {
        my $client = $nginx->client;

        $client->get('/fine')->{status} == 200 or die "no answer\n";
        $client;
    } 1 .. 1000;
}


sub slow {
    my ($nginx) = @_;

    return map {
        my $client = $nginx->client(window => 4096);

        $client->send_request('/large');
        $client;
    } 1 .. 100;
}


# The preface, SETTINGS with a window of nothing, and requests for
# http://h/large: the length, the type, the flags and the stream of a frame come
# before it.

sub http2 {
    my ($nginx) = @_;
    my $get = "\x82\x86\x04\x06/large\x01\x01h";

    return map {
        my $client = IO::Socket::SSL->new(
            PeerAddr => '127.0.0.1', PeerPort => $nginx->{tls},
            SSL_verify_mode => SSL_VERIFY_NONE, SSL_alpn_protocols => [ 'h2' ])
            or die "no TLS: $SSL_ERROR\n";

        print $client "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
              pack('xnCCNnN', 6, 4, 0, 0, 4, 0),
              map { pack('xnCCN', length $get, 1, 5, 2 * $_ + 1) . $get }
              0 .. 4;
        $client;
    } 1 .. 200;
}

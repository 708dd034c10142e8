#!/usr/bin/perl

# Clients that keep a connection each, or make a new one for each request, by
# plain HTTP or TLS; to loopback addresses only.
#
#     jpp_clients.pl hold N URL
#     jpp_clients.pl each N URL
#
# hold opens N connections, gets one answer on each and keeps them open.  It
# prints "held" then, and ends when its standard input does.
#
# each opens N connections, one after the other, for one request each.  It
# resumes no session: with TLS each is a full handshake.
#
# jpp_load has no TLS.  The exit status is 0, or another with a sentence, within
# ten minutes.

use strict;
use warnings;

use IO::Socket::INET;
use IO::Socket::SSL;

@ARGV == 3 or die "usage: jpp_clients.pl hold|each N URL\n";

my ($how, $n, $url) = @ARGV;

my %ways = (hold => \&hold, each => \&one_by_one);
my $way = $ways{$how} or die "jpp_clients: neither hold nor each: $how\n";

$n =~ /^[1-9][0-9]{0,5}$/ or die "jpp_clients: not a number: $n\n";

my ($scheme, $addr, $port, $path)
    = $url =~ m{^(https?)://(127(?:\.[0-9]+){3}):([0-9]+)(/\S*)$}
    or die "jpp_clients: not a URL of a loopback address: $url\n";

# one context for all: each would read the certificate store anew

my $context = IO::Socket::SSL::SSL_Context->new(
    SSL_verify_mode => SSL_VERIFY_NONE)
    or die "jpp_clients: no TLS: $SSL_ERROR\n";

local $SIG{ALRM} = sub { die "jpp_clients: not done within ten minutes\n" };
alarm 600;

$way->();


sub hold {
    my @held = map { asked('keep-alive') } 1 .. $n;

    $| = 1;
    print "held\n";

    1 while <STDIN>;

    # what nginx closed meanwhile was not measured

    for (@held) {
        $_->blocking(0);
        my $n = sysread $_, my $byte, 1;
        die "jpp_clients: a connection was closed\n" if defined $n && $n == 0;
    }
}


sub one_by_one {
    asked('close')->close for 1 .. $n;
}


# A connection with one request that was answered.

sub asked {
    my ($connection) = @_;

    my $socket = IO::Socket::INET->new(PeerAddr => $addr, PeerPort => $port)
        or die "jpp_clients: no connection to $addr:$port: $@\n";

    if ($scheme eq 'https') {
        IO::Socket::SSL->start_SSL($socket, SSL_reuse_ctx => $context)
            or die "jpp_clients: no handshake: $SSL_ERROR\n";
    }

    print $socket "GET $path HTTP/1.1\r\nHost: $addr\r\n"
        . "Connection: $connection\r\n\r\n";

    my $answer = '';

    until ($answer =~ /\r\n\r\n/) {
        sysread $socket, $answer, 16384, length $answer
            or die "jpp_clients: no answer: $answer\n";
    }

    my ($head, $body) = split /\r\n\r\n/, $answer, 2;

    $head =~ m{^HTTP/1\.1 200 } or die "jpp_clients: $head\n";

    my ($len) = $head =~ /^Content-Length: ([0-9]+)\r?$/m
        or die "jpp_clients: no length: $head\n";

    while (length $body < $len) {
        sysread $socket, $body, 16384, length $body
            or die "jpp_clients: the answer is cut\n";
    }

    return $socket;
}

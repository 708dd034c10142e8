#!/usr/bin/perl

# ./dev bench console: how long the console takes beside status, and what it
# weighs, with 8 and with 64 workers.
#
#     first    from the request to the first byte, the median of many, in
#              milliseconds; both are asked in turns, on one connection
#     page     KiB as it is, and compressed with gzip -9
#
# Workers of a minute have a short history.  t/unit/jpp_console_test.c bounds
# the page of workers that have lived long, and restlessly.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../t/lib";

use Compress::Zlib;
use JppNginx;
use Test::More;
use Time::HiRes qw( time );

# workers, requests, and what is asked: KiB of the compressed page
my @goals = ( [ 8, 400, 24 ], [ 64, 100, 90 ] );

print "workers    status     first    memory    (<= status + 2 ms)",
      "      page   gzip-ed\n";

measure(@$_) for @goals;

done_testing();


sub measure {
    my ($workers, $n, $weight) = @_;

    my $nginx = JppNginx->start(workers => $workers, connections => 512,
        conf => 'prof:true,prof_active:true,lg_prof_sample:19',
        server => 'location /debug/pprof/ { jemalloc_pprof control=on; }');
    my $client = $nginx->client;
    my %took;

    $nginx->get('/debug/pprof/status') until $nginx->get('/debug/pprof/')
        ->{body} =~ /, $workers of $workers workers answered/;

    for (1 .. $n) {
        for my $what ('status', '', 'memory') {
            push @{ $took{$what} }, first($client, "/debug/pprof/$what");
        }
    }

    my $page = $client->get('/debug/pprof/')->{body};
    my ($script) = $page =~ m{<script>(.*)</script>}s;

    printf "%7d %9.2f %9.2f %9.2f %29.1f %9.1f (%d)\n", $workers,
           (map { median(@{ $took{$_} }) } 'status', '', 'memory'),
           length($page) / 1024, packed($page), $weight;
    printf "its script: %.1f KiB, %.1f gzip-ed (6)\n", length($script) / 1024,
           packed($script) if $workers == 8;

    $client->leave;
    $nginx->stop;
}


# Milliseconds until the first byte; the rest is read, too.

sub first {
    my ($client, $path) = @_;
    my $begun = time;

    $client->send_request($path);
    $client->hears(60);

    my $took = 1000 * (time - $begun);

    $client->response;

    return $took;
}


sub median {
    my @sorted = sort { $a <=> $b } @_;

    return $sorted[$#sorted / 2];
}


sub packed {
    my ($text) = @_;
    my $deflate = deflateInit(-Level => 9, -WindowBits => 31);
    my ($first) = $deflate->deflate($text);
    my ($rest) = $deflate->flush;

    return length("$first$rest") / 1024;
}

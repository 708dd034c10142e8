package JppPools;

# What the suites of pools share: the profile as bytes by frames, and frames of
# HTTP/2.

use strict;
use warnings;

use Exporter 'import';

our @EXPORT_OK = qw( held http2_frame );

my $pools = '/debug/pprof/pools';


# What is held, by the frames, root first.

sub held {
    my ($nginx, $query) = @_;

    $query = $query ? "&$query" : '';

    my $answer = $nginx->get("$pools?format=folded$query");

    die "$answer->{status}: $answer->{body}" if $answer->{status} != 200;

    my %held;

    # what was inherited has lines of its own

    $answer->{body} =~ s/^(.*) (\d+)$/$held{$1} += $2/gem;

    return \%held;
}


# Length, type, flags, stream (RFC 9113).

sub http2_frame {
    my ($type, $flags, $stream, $payload) = @_;
    my $n = length $payload;

    return pack('CnCCNa*', $n >> 16, $n & 0xffff, $type, $flags, $stream,
                $payload);
}


1;

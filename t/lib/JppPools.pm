package JppPools;

# What the suites of pools share: the profile as bytes by frames.

use JppPerl;

use Exporter 'import';
use List::Util qw(sum0);

our @EXPORT_OK = qw( below held sums );

my $pools = '/debug/pprof/pools';


# What is held, by the frames, root first.

sub held($nginx, $query = undef) {
    $query = $query ? "&$query" : '';

    my $answer = $nginx->get("$pools?format=folded$query");

    die "$answer->{status}: $answer->{body}" if $answer->{status} != 200;

    my %held;

    # what was inherited has lines of its own

    $answer->{body} =~ s/^(.*) (\d+)$/$held{$1} += $2/gem;

    return \%held;
}


# The bytes of HELD below the frames that PATTERN matches from the root on.

sub below($held, $pattern) {
    return sum0(map { $held->{$_} } grep { /^$pattern/ } keys %$held);
}


# The sum of what one worker holds, and the total that jemalloc counts: of two
# answers, of which the second may have something of its own.  Then both, by
# frames and as a table.

sub sums($nginx) {
    my ($held, $total, $top);

    for (1 .. 5) {
        $held = held($nginx);
        $top = $nginx->get("$pools?format=top&cols=1000")->{body};
        ($total) = $top =~ /^total (\d+) bytes in 1 worker/m;

        last if sum0(values %$held) == $total;
    }

    return (sum0(values %$held), $total, $held, $top);
}


1;

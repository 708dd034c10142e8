package JppDump;

# Dumps written by hand, whose reports are known: the program is mapped at
# 0x400000, and libc, from its offset 0x1000 on, at 0x7f0000200000.  With a
# period of 1 nothing is scaled.

use JppPerl;
no warnings 'portable';

use Exporter qw(import);
use IO::Compress::Gzip ();

our @EXPORT_OK = qw( counts dump_of gzipped maps megabytes stack );


my $maps = <<'END';
00400000-00500000 r-xp 00000000 08:01 11 /usr/sbin/jpp-no-prog
7f0000000000-7f0000100000 r-xp 00002000 08:01 12 /jpp-no/libjemalloc.so.2
7f0000200000-7f0000300000 r-xp 00001000 08:01 13 /jpp-no/libc.so.6
END

sub maps {
    return "\nMAPPED_LIBRARIES:\n" . join '', @_ ? @_ : $maps;
}


# "objects: bytes [objects: bytes]"

sub counts {
    return sprintf '%s: %s [%s: %s]', (@_, 0, 0)[0 .. 3];
}


# A stack with its totals; the frames are return addresses, leaf first.

sub stack($counts, @frames) {
    return join('', '@', map { sprintf ' 0x%x', $_ } @frames)
           . "\n  t*: $counts\n  t0: $counts\n";
}


# N MB of TEXT.  As constants, perl would keep them all the time, and each
# fork() would copy them.

sub megabytes($n, $text) {
    return $text x (($n << 20) / length $text);
}


sub gzipped($data) {
    IO::Compress::Gzip::gzip(\$data, \my $gz) or die 'gzip';

    return $gz;
}


# period, head, stacks and maps, each with a default.

sub dump_of(%part) {
    return 'heap_v2/' . ($part{period} // 1) . "\n"
           . ($part{head} // "  t*: 1: 100 [0: 0]\n  t0: 1: 100 [0: 0]\n")
           . ($part{stacks}
              // stack(counts(1, 100), 0x400201, 0x400301, 0x7f0000200301))
           . ($part{maps} // maps());
}


1;

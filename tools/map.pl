#!/usr/bin/perl

# Writes the parts of documents that repeat the sources, between two comments:
# in docs/files.md a table of the files of src/ for each room, with the first
# sentence of each header; in docs/jemalloc-pprof.1 the formats.
#
#     perl tools/map.pl FILE [OUT]
#
# OUT is FILE by default; - is the standard output.

use FindBin;
use lib "$FindBin::RealBin/../t/lib";

use JppPerl;
use JppRun qw( slurp );

# where a part begins, and what it consists of; it ends at a similar comment

my %parts = ('<!-- the map' => \&map_of_rooms, '.\" the formats' => \&formats);

my ($file, $out) = @ARGV;
my $text = slurp($file);
my $n = 0;

for my $begin (keys %parts) {
    my $end = $begin =~ s/the/end of the/r;

    $n += $text =~ s/^\Q$begin\E: [^\n]*\n\K.*?^(?=\Q$end\E)/
                     $parts{$begin}->()/msex;
}

die "$file: no map\n" if !$n;

$out //= $file;

open my $fh, $out eq '-' ? '>&STDOUT' : ">$out" or die "$out: $!\n";
print $fh $text;


sub map_of_rooms {
    my (%files, $map);

    for (glob 'src/*.[ch] src/*/*.[ch] src/*/*/*.[ch]') {
        my ($room, $name) = m{^(.*)/(.*)\.[ch]$};

        $files{$room}{$name} = 1;
    }

    for my $room (sort keys %files) {
        $map .= "\n| `$room` | |\n|---|---|\n";

        for my $name (sort keys %{ $files{$room} }) {
            my $file = "$room/$name";

            $map .= "| `$name` | "
                    . sentence(-e "$file.h" ? "$file.h" : "$file.c") . " |\n";
        }
    }

    return "$map\n";
}


# The formats, as items of a list.

sub formats {
    my $rows = slurp('src/core/output/jpp_formats.c');
    my @items = $rows =~ /\{ \.name = "(\w+)", \.about = "(.*?)",/g
        or die "no formats\n";

    return join '', map { ".It Cm $items[$_]\n$items[$_ + 1]\n" }
                    grep { $_ % 2 == 0 } 0 .. $#items;
}


# The first of the comment that FILE opens with.

sub sentence($file) {
    my ($comment) = slurp($file) =~ m{\A\n/\*\s(.*?)\*/}s
        or die "$file: does not open with a comment\n";

    $comment =~ s/^ \* ?//mg;

    my ($sentence) = $comment =~ /\A(.*?\.)(?:\s|\z)/s
        or die "$file: its comment has no sentence\n";

    return $sentence =~ s/\s+/ /gr =~ s/\.\z//r;
}


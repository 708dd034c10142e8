#!/usr/bin/perl

# Where is what: a table of the files of src/ for each room, which says of each
# what the first sentence of its header says.
#
#     perl tools/map.pl FILE [OUT]
#
# Writes FILE with new tables, which stand between two comments, to OUT, or in
# its place; - is the standard output.

use strict;
use warnings;

my ($begin, $end) = ("<!-- the map: ./dev map writes it -->\n",
                     "<!-- end of the map -->\n");

my ($file, $out) = @ARGV;
my $text = slurp($file);

$text =~ s/^\Q$begin\E.*^\Q$end\E/$begin . map_of_rooms() . $end/mse
    or die "$file: no map\n";

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


# The first of the comment that FILE opens with.

sub sentence {
    my ($file) = @_;
    my ($comment) = slurp($file) =~ m{\A\n/\*\s(.*?)\*/}s
        or die "$file: does not open with a comment\n";

    $comment =~ s/^ \* ?//mg;

    my ($sentence) = $comment =~ /\A(.*?\.)(?:\s|\z)/s
        or die "$file: its comment has no sentence\n";

    return $sentence =~ s/\s+/ /gr =~ s/\.\z//r;
}


sub slurp {
    my ($file) = @_;

    open my $fh, '<', $file or die "$file: $!\n";

    return join '', <$fh>;
}

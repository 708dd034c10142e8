#!/usr/bin/perl

# How large the house is: for each room of src/ its lines of code, without
# blanks and comments, its files and functions; the lines of t/ and tools/; how
# many headers have a single user besides their own source, and how many sources
# are short.
#
#     perl tools/count.pl [-v]
#
# With -v these headers and sources are named.

use strict;
use warnings;

# a source that is shorter than this: lines of code
my $short = 60;

my $verbose = @ARGV && $ARGV[0] eq '-v';

my (%code, %room, %users, %includes);

for my $file (glob 'src/*.[ch] src/*/*.[ch] src/*/*/*.[ch]') {
    my $text = code($file);
    my ($room) = $file =~ m{^(.*)/};

    $code{$file} = () = $text =~ /\S.*\n/g;
    $room{$room}{lines} += $code{$file};
    $room{$room}{$file =~ /\.c$/ ? 'c' : 'h'}++;
    $room{$room}{functions} += () = $text =~ /^\{\n/mg;
}

for my $file (keys %code, glob '*.c') {
    my ($own) = $file =~ m{([^/]*)\.c$};

    for my $header (code($file) =~ /^#include [<"]([^>"]+)[>"]/mg) {
        $users{$header}++ if !defined $own || $header ne "$own.h";
    }
}

my @single = grep { my ($name) = m{([^/]*\.h)$};
                    $name && ($users{$name} // 0) < 2 } sort keys %code;
my @short = grep { /\.c$/ && $code{$_} < $short } sort keys %code;

my %sum;

printf "%-24s %6s %4s %4s %9s\n", qw( room lines .c .h functions );

for my $room (sort { $room{$b}{lines} <=> $room{$a}{lines} } keys %room) {
    my @row = map { $room{$room}{$_} // 0 } qw( lines c h functions );

    printf "%-24s %6d %4d %4d %9d\n", $room, @row;
    $sum{$_} += shift @row for qw( lines c h functions );
}

printf "%-24s %6d %4d %4d %9d\n\n", 'src',
       @sum{qw( lines c h functions )};

printf "%d lines in tests (t/) and tools/, without t/data\n", sum_of_tests();
list('headers with a single user', @single);
list("sources below $short lines", @short);


# Lines of what git has there; of Perl and shell without their comments, too.

sub sum_of_tests {
    my $sum = 0;

    for my $file (grep { -T } grep { !m{^t/(?:data/(?!make)|fuzz/corpus)} }
                  split /\n/, `git ls-files t tools`)
    {
        my $text = $file =~ /\.(?:[ch]|cc)$/
                   ? code($file)
                   : do { local (@ARGV, $/) = $file; <> =~ s/^\s*#.*$//mgr };

        $sum += () = $text =~ /\S.*\n/g;
    }

    return $sum;
}


sub list {
    my ($what, @files) = @_;

    print scalar @files, " $what\n";
    print "    $_\n" for $verbose ? @files : ();
}


# FILE without its comments; what looks like one in a string is none.

sub code {
    my ($file) = @_;

    open my $fh, '<', $file or die "$file: $!\n";
    local $/;

    return <$fh> =~ s{("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\])+')|/\*.*?\*/}
                     {$1 // ''}gser;
}

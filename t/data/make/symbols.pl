#!/usr/bin/perl

# Makes the table of functions that belongs to a dump: of each object that its
# stacks go through, the executable segment and the functions they hit.
#
#     symbols.pl NAME.heap >NAME.symbols
#
# It reads the files at the paths that the dump maps, so it has to run where and
# when that was taken.  Tests make objects from the table (t/lib/JppRecorded.pm)
# and expect these names, whatever the machine has by then.
#
#     /usr/lib/x86_64-linux-gnu/libcrypto.so.3 c5000 c5000 27c67d
#     20a090 3b T CRYPTO_zalloc
#     23f8c0 2b -
#
# The first line is an object: its path, and address, offset and size of the
# segment.  Those below are functions: start, size, and nm's letter and name,
# or a dash where only .eh_frame knows the function.  All numbers are in hex.

use strict;
use warnings;
no warnings 'portable';

my (%object, %hit);

read_dump($ARGV[0] // die "usage: symbols.pl NAME.heap >NAME.symbols\n");
print map { table($_) } sort keys %hit;


# Which addresses of which objects the stacks have.

sub read_dump {
    my ($dump) = @_;
    my (@maps, %address);

    open my $fh, '<', $dump or die "$dump: $!\n";

    while (<$fh>) {
        $address{hex $_}++ for /^@/ ? /0x([0-9a-f]+)/g : ();
        push @maps, [ hex $1, hex $2, hex $3, $4 ]
            if m{^([0-9a-f]+)-([0-9a-f]+)\ r-xp\ ([0-9a-f]+)\ \S+\ \d+\s+
                 (/\S+)$}x && -e $4;
    }

    for my $address (keys %address) {
        for my $map (@maps) {
            my ($start, $end, $offset, $path) = @$map;

            next if $address < $start || $address >= $end;

            $object{$path} //= object($path);

            # a return address: its call is before it

            my ($vaddr, $at) = @{ $object{$path}{segment} };
            $hit{$path}{$address - 1 - $start + $offset - $at + $vaddr}++;
        }
    }
}


# Its executable segment, functions with names, and functions.

sub object {
    my ($path) = @_;

    my ($segment) = map { [ map { hex } (split)[2, 1, 4] ] }
                    grep { /^ +LOAD .* R E / } `readelf -lW $path`;
    my ($id) = `readelf -nW $path` =~ /Build ID: (\S+)/;
    my $debug = '/usr/lib/debug/.build-id/' . ($id =~ s{^..}{$&/}r) . '.debug';
    my $symbols = -e $debug ? $debug : "-D $path";

    my @named = grep { $_->[2] =~ /[TtWwiI]/ }
                map { [ (map { hex } (split)[0, 1]), (split)[2, 3] ] }
                grep { /^\S+ \S+ \w \S+$/ }
                `nm -S --defined-only --without-symbol-versions $symbols`;
    my @bare = map { /pc=(\S+)\.\.(\S+)/
                     ? [ hex $1, hex($2) - hex $1, '-' ] : () }
               `readelf -wF $path`;

    return { segment => $segment, named => \@named, bare => \@bare };
}


sub table {
    my ($path) = @_;
    my $object = $object{$path};
    my %lines;

    for my $address (keys %{ $hit{$path} }) {
        my @covers = grep { @$_ }
                     map { [ grep { $address >= $_->[0]
                                    && $address < $_->[0] + $_->[1] } @$_ ] }
                     @{$object}{qw( named bare )};

        $lines{sprintf '%x %x ', @$_[0, 1]}{join ' ', @$_[2 .. $#$_]}++
            for @{ $covers[0] // [] };
    }

    return sprintf("%s %x %x %x\n", $path, @{ $object->{segment} }),
           map { my $at = $_; map { "$at$_\n" } sort keys %{ $lines{$_} } }
           sort { hex((split / /, $a)[0]) <=> hex((split / /, $b)[0]) }
           keys %lines;
}

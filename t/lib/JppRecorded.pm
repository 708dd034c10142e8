package JppRecorded;

# Recorded dumps of t/data with their names, whatever this machine has now.  A
# dump says where objects were mapped, not what is in them, so the machine's own
# files would name it as they are after the latest update.  The objects here
# are made from the table beside a dump (see t/data/make/symbols.pl); they have
# the functions that it hits and nothing else.
#
#     my ($dump) = recorded($dir, 'nginx-530');     # $dir/nginx-530.heap
#
# Dumps that are compared are asked for together: they map the same objects.

use JppPerl;

use Exporter qw( import );
use File::Basename;
use File::Path qw( make_path );

use JppRun qw( $root slurp spew );

our @EXPORT_OK = qw( recorded );

# a segment and a section have headers of 56 and 64 bytes
my ($load, $section) = ('L L Q6', 'L L Q4 L L Q Q');


# Copies in DIR of the dumps NAMES, which map the objects below DIR/objects.

sub recorded($dir, @names) {
    make_objects("$dir/objects", @names);

    return map {
        spew("$dir/$_.heap",
             slurp("$root/t/data/$_.heap")
             =~ s{^([0-9a-f]+-.* )(/.*)}{$1$dir/objects$2}gmr);
    } @names;
}


# One of each object, with the functions of all tables.

sub make_objects($objects, @names) {
    my (%functions, $object);

    for (map { split /\n/, slurp("$root/t/data/$_.symbols") } @names) {
        $object = $_, next if m{^/};
        $functions{$object}{$_} = 1;
    }

    for $object (keys %functions) {
        my ($path, @segment) = split / /, $object;

        make_path(dirname("$objects$path"));
        spew("$objects$path", object([ map { hex } @segment ],
                                     sort keys %{ $functions{$object} }));
    }
}


# An ELF file whose SEGMENT is empty, and behind it what tells its FUNCTIONS.

sub object($segment, @functions) {
    my ($vaddr, $offset, $size) = @$segment;

    my $strings = "\0.eh_frame\0";
    my $symbols = "\0" x 24;

    # a common entry whose functions have plain addresses

    my $eh_frame = pack 'L L C x C C C x3', 12, 0, 1, 1, 0x78, 16;

    for (@functions) {
        my ($start, $length, $letter, $name) = split / /;

        if ($letter eq '-') {
            $eh_frame .= pack 'L L Q Q', 20, length($eh_frame) + 4,
                              hex $start, hex $length;
            next;
        }

        # local, global or weak, as nm tells it

        my $binding = $letter eq 't' ? 0 : $letter =~ /[TI]/ ? 1 : 2;

        $symbols .= pack 'L C C S Q Q', length $strings, $binding << 4 | 2, 0,
                         1, hex $start, hex $length;
        $strings .= "$name\0";
    }

    my $at = $offset + $size + 7 & ~7;
    my ($body, $headers) = ('', "\0" x 64);

    for ([ 1, 1, 0, 0, $eh_frame ], [ 0, 2, 3, 24, $symbols ],
         [ 0, 3, 0, 0, $strings ]) {
        my ($name, $type, $link, $entry, $bytes) = @$_;

        $headers .= pack $section, $name, $type, 0, 0, $at + length $body,
                         length $bytes, $link, 0, 8, $entry;
        $body .= $bytes . "\0" x (-length($bytes) % 8);
    }

    # a shared object of x86-64: a segment, four sections, the last has names

    my $file = pack 'a4 C C C x9 S S L Q Q Q L S6', "\x7fELF", 2, 1, 1, 3, 62,
                    1, 0, 64, $at + length $body, 0, 64, 56, 1, 64, 4, 3;

    $file .= pack $load, 1, 5, $offset, $vaddr, $vaddr, $size, $size, 4096;

    return pack("a$at", $file) . $body . $headers;
}


1;

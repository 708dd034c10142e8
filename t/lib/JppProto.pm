package JppProto;

# Writes profile.proto, as little of it as tests of parsers need.

use JppPerl;

use Exporter qw(import);

our @EXPORT_OK = qw( varint field number proto );


sub varint($n) {
    my $bytes = '';

    use integer;

    for (1 .. 10) {
        my $byte = $n & 0x7f;
        $n = ($n >> 7) & ((1 << 57) - 1);
        $bytes .= chr($byte | ($n != 0 ? 0x80 : 0));
        last if $n == 0;
    }

    return $bytes;
}


sub field($number, $value) {
    return varint($number << 3 | 2) . varint(length $value) . $value;
}


sub number($number, $value) {
    return varint($number << 3) . varint($value);
}


# A profile: TYPES (name unit ...), SAMPLES ([stack of function ids], [values],
# key of a label, value ...), FILES, NAMES of functions from 1 on, each alone or
# with the number of its file, and more FIELDS.

sub proto(%how) {
    my @strings = ('');
    my $bytes = '';

    my $string = sub { push @strings, $_[0]; $#strings };

    for (my $i = 0; $i < @{ $how{types} }; $i += 2) {
        $bytes .= field(1, number(1, $string->($how{types}[$i]))
                           . number(2, $string->($how{types}[$i + 1])));
    }

    for (@{ $how{samples} // [] }) {
        my ($stack, $values, @labels) = @$_;
        my $sample = field(1, join '', map { varint($_) } @$stack)
                     . field(2, join '', map { varint($_) } @$values);

        while (my ($key, $value) = splice @labels, 0, 2) {
            $sample .= field(3, number(1, $string->($key))
                                . number(2, $string->($value)));
        }

        $bytes .= field(2, $sample);
    }

    my @files = @{ $how{files} // [$how{file} // '/bin/prog'] };

    $bytes .= field(3, number(1, $_) . number(5, $string->($files[$_ - 1])))
        for 1 .. @files;

    for my $id (1 .. @{ $how{names} // [] }) {
        my $name = $how{names}[$id - 1];
        my $file = 1;

        ($name, $file) = @$name if ref $name;

        $bytes .= field(4, number(1, $id) . number(2, $file)
                           . number(3, 4096 * $id)
                           . (defined $name ? field(4, number(1, $id)) : ''));
        $bytes .= field(5, number(1, $id) . number(2, $string->($name)))
            if defined $name;
    }

    $bytes .= $how{fields}->($string) if $how{fields};

    return $bytes . join '', map { field(6, $_) } @strings;
}

1;

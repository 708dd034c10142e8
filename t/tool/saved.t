#!/usr/bin/perl

# The tool reads saved profiles (heap.pb.gz) as it reads dumps: every format
# shows what it shows for the dump, differences and sums are those of the dumps,
# and each fault of a file has a sentence.

use JppTest;
use IO::Uncompress::Gunzip ();
use JppProfile qw( read_profile );
use JppProto qw( field number proto varint );
use JppTool qw( $dir gives keeps_contract refuses run );

my @real = map { "$root/t/data/nginx-$_.heap" } 530, 531;
my @saved = map { "$dir/$_.pb.gz" } 530, 531;


sub shown { run('--any-kernel', @_)->{out} }


# Lines of a table or of stacks, those of one stack added up, without what names
# the input, and without errors, whose last digit rests on counts of samples.

sub lines_of($text) {
    my %sum;

    for (split /\n/, $text =~ s/[\d.]+ %(?=  \S|$)/error/mgr) {
        my ($stack, $n) = /^(\S.*;.*) (-?\d+)$/ or $sum{$_} = 1;

        $sum{$stack} += $n if defined $stack;
    }

    return { map { $_ => $sum{$_} }
             grep { $sum{$_} != 0 && !/^(?:dump|jemalloc-pprof) / }
             keys %sum };
}


sub is_alike($name, $how, $saved, $real) {
    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my ($is, $was) = map { lines_of(shown(@$how, @$_)) } $saved, $real;

    cmp_ok(scalar keys %$was, '>', 5, "$name: lines");
    is_deeply($is, $was, $name);
}


run('--any-kernel', '-o', $saved[$_], $real[$_]) for 0, 1;


test 'as its dump' => sub {
    is_alike("@$_", $_, [ $saved[0] ], [ $real[0] ])
        for [ '--format=folded' ], [ '--format=folded', '--callers=1' ],
            [ '--format=folded', '--type=inuse_objects' ], [ '--format=top' ];

    my ($is, $was) = map { total(shown('--format=text', $_)) } $saved[0],
                                                               $real[0];

    like($is, qr/^heap profile: [1-9]\d*: [1-9]\d* /, 'a text of its sums');
    unlike($is, qr{heap_v2/1024}, 'which no reader scales again');
    like($was, qr{heap_v2/1024}, 'as it does those of a dump');

    keeps_contract('again a profile', shown($saved[0]));
    like(shown('--format=svg', $saved[0]), qr/ngx_output_chain/, 'svg');
    like(shown('--format=html', $saved[0]), qr/<html/, 'html');

    spew("$dir/plain.pb", gunzipped(slurp($saved[0])));
    is(shown('--format=folded', "$dir/plain.pb"),
       shown('--format=folded', $saved[0]), 'not packed');
};


test 'several' => sub {
    is_alike('are added up', [ '--format=folded' ], \@saved, \@real);
    is_alike('are subtracted', [ '--format=folded' ],
             [ "--base=$saved[0]", $saved[1] ],
             [ "--base=$real[0]", $real[1] ]);
    is(shown('--format=folded', "--base=$saved[0]", $saved[0]), '',
       'and one from itself is nothing');
    like(shown('--format=html', "--base=$saved[0]", $saved[1]), qr/<html/,
         'a page of both');

    my $sum = read_profile(checked(shown('--format=pprof', @saved), '--print'));

    is_deeply([ sort keys %{ $sum->{labels}{file} } ], \@saved,
              'each has its label');

    for ([ $saved[0], $real[0] ], [ $real[0], $saved[0] ],
         [ "--base=$real[0]", $saved[0] ])
    {
        refuses("no sum of both kinds: @$_", 1,
                qr/: a dump and a saved profile have no stacks in common: /,
                '--any-kernel', '--format=folded', @$_);
    }
};


# A small one, and how each part of it may be wrong.

my @types = qw( inuse_objects count inuse_space bytes );
my $period = sub($string) { number(12, 1) };

sub small(%how) {
    return proto(types => \@types, fields => $period, names => [ 'a', 'b' ],
                 samples => [ [ [ 2, 1 ], [ 1, 100 ] ] ], %how);
}


sub reads($name, $want, $bytes, @options) {
    local $Test::Builder::Level = $Test::Builder::Level + 1;

    gives($name, $want, '--format=folded', @options,
          spew("$dir/small.pb", $bytes));
}


sub faulty($name, $sentence, $bytes) {
    local $Test::Builder::Level = $Test::Builder::Level + 1;

    refuses($name, 1, qr{^\Q$dir\E/small\.pb: $sentence}, '--format=folded',
            spew("$dir/small.pb", $bytes));
}


test 'labels, comments and odd stacks' => sub {
    reads('names alone', "a;b 100\n", small());
    reads('owners', "server s;location /l;a;b 100\n",
          small(samples => [ [ [ 2, 1 ], [ 1, 100 ], server => 's',
                               location => '/l' ] ]), '--by=location');
    reads('no stack', "(no stack) 100\n",
          small(samples => [ [ [], [ 1, 100 ] ] ]));
    reads('no name', "0x1fff 100\n",
          small(names => [ 'a', undef ], samples => [ [ [ 2 ], [ 1, 100 ] ] ],
                ) =~ s/\x18\x80\x40/\x18\xff\x3f/r);
    reads('the lowest number', "a;b -9223372036854775807\n",
          small(samples => [ [ [ 2, 1 ], [ -1 << 63, -1 << 63 ] ] ]));
    reads('calls that were inlined', "outer;inner;a 100\n", small(
        samples => [ [ [ 1, 4 ], [ 1, 100 ] ] ], names => [ 'a', 'x', 'x' ],
        fields => sub($string) {
            number(12, 1)
            . field(4, number(1, 4) . field(4, number(1, 4))
                       . field(4, number(1, 5)))
            . field(5, number(1, 4) . number(2, $string->('inner')))
            . field(5, number(1, 5) . number(2, $string->('outer')));
        }));

    like(shown('--format=top', spew("$dir/said.pb", small(
             fields => sub($string) {
                 number(12, 1)
                 . field(13, varint($string->('worker 3 is missing'))) }))),
         qr/^worker 3 is missing$/m, 'comments stay');
    is(() = shown('--format=top', $saved[0]) =~ /^lg_sample 10$/mg, 1,
       'and are not repeated');
};


test 'faults' => sub {
    my $gz = slurp($saved[0]);
    my $good = gunzipped($gz);

    faulty("cut at $_", '(?:the profile was cut, or is none: a field does not '
           . 'end where it should|the profile is damaged|not a profile of )',
           substr $good, 0, $_) for 5, 100, 5000, length($good) - 1;
    faulty('cut while packed', 'gzip: the compressed data is incomplete',
           substr $gz, 0, length($gz) / 2);
    faulty('damaged while packed', 'gzip: ',
           substr($gz, 0, 3000) . 'x' x 40 . substr $gz, 3040);
    faulty('no period', 'not a profile of jemalloc',
           small(fields => sub($string) { '' }));
    faulty('another period', 'not a profile of jemalloc',
           small(fields => sub($string) { number(12, 3) }));
    faulty('another type', 'a profile of cpu \(nanoseconds\), and not of a '
           . 'heap: go tool pprof reads it as it is',
           small(types => [ qw( inuse_objects count cpu nanoseconds ) ]));
    faulty('another unit', 'a profile of inuse_space \(kilobytes\)',
           small(types => [ qw( inuse_objects count inuse_space kilobytes ) ]));
    faulty('more types than there are', 'a profile of inuse_space \(bytes\)',
           small(types => [ ('inuse_space', 'bytes') x 5 ]));
    faulty('too few values', 'the profile is damaged: a sample has 1 values of '
           . '2', small(samples => [ [ [ 1 ], [ 1 ] ] ]));

    for ([ 'a string', 'string 99 of \d+', 5, 3, 2, 99 ],
         [ 'a string below 0', 'string 18446744073709551615 of', 5, 3, 2, -1 ],
         [ 'a number that is another', 'function 9 of 2', 5, 9, 2, 1 ],
         [ 'the place of a mapping', 'mapping 7 of 1', 4, 3, 2, 7 ])
    {
        my ($name, $what, $field, $id, $number, $value) = @$_;

        faulty($name, "the profile is damaged: it refers to $what", small(
            samples => [ [ [ $field == 4 ? 3 : 1 ], [ 1, 100 ] ] ],
            fields => sub($string) {
                number(12, 1)
                . field($field, number(1, $id) . number($number, $value))
                . ($field == 5
                   ? field(4, number(1, 3) . field(4, number(1, 3))) : '');
            }));
    }

    faulty('a location', 'the profile is damaged: it refers to location 7 of 2',
           small(samples => [ [ [ 7 ], [ 1, 100 ] ] ]));
    faulty('location 0', 'the profile is damaged: it refers to location 0 of 2',
           small(samples => [ [ [ 0 ], [ 1, 100 ] ] ]));
    faulty('a stack without an end', 'a stack has more than 4096 frames',
           small(samples => [ [ [ (1) x 4097 ], [ 1, 100 ] ] ]));
    faulty('too large', 'a profile of more than 256 MiB',
           "\n\4\x08" . "\0" x (256 << 20));
    unlink "$dir/small.pb";

    refuses('unchanged, it is no dump', 1,
            qr/: a saved profile, not a dump: choose another format$/,
            '--format=jemalloc', $saved[0]);
};


sub total($text) { $text =~ s/\n.*//sr }


sub gunzipped($packed) {
    IO::Uncompress::Gunzip::gunzip(\$packed, \my $bytes) or die;

    return $bytes;
}

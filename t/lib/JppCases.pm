package JppCases;

# Dumps that users may give the tool, as text, with what it has to print: a
# string or pattern is its output (folded stacks), [ LINE, SENTENCE ] a refusal.

use JppPerl;
no warnings 'portable';

use Exporter qw(import);
use IO::Compress::Gzip ();
use IO::Uncompress::Gunzip ();
use JppDump qw( counts dump_of maps megabytes stack );
use JppTool qw( $dir $root $tool gives keeps_contract refuses
                run slurp spew start );
use Test::More;

our @EXPORT_OK = qw( check_cases );


my $file = "$dir/case.heap";
my $folded = "libc.so.6+0x1300;jpp-no-prog+0x300;jpp-no-prog+0x200";
my $max = 9223372036854775807;
my $limits = slurp("$root/src/core/base/jpp_limits.h");
my ($max_frames) = $limits =~ /JPP_MAX_FRAMES\s+(\d+)/;
my ($max_maps) = $limits =~ /JPP_MAX_MAPS\s+(\d+)/;

# sentences that several cases share

my $cut = 'the dump was cut';
my $no_section = "$cut: it has no MAPPED_LIBRARIES section at its end";
my $no_totals = 'a stack is not followed by its totals';
my $no_address = 'a stack contains something that is not an address';
my $too_deep = qr/a stack has more .*frames/;
my $no_map = 'not a line of a maps section';
my $cr_lf = 'the lines end in CR LF: the dump was copied in text mode, copy '
    . 'it in binary mode';
my $no_period = 'heap_v2/ is not followed by a sampling period, which is '
    . 'a power of two';

my $not_ours = 'not a heap dump of jemalloc: it does not start with heap_v2/';

my @header = (
    'a thread with a name' => dump_of(
        head => "  t*: 1: 1 [0: 0]\n  t0: 1: 1 [0: 0] nginx\n"),
        "$folded 100\n",
    'a name of blanks, brackets and more' => dump_of(
        head => "  t*: 1: 1 [0: 0]\n  t0: 1: 1 [0: 0]  a : b [1: 2] @ 0x1 \n"),
        "$folded 100\n",
    'a name with a NUL and a byte that is not text' => dump_of(
        head => "  t*: 1: 1 [0: 0]\n  t0: 1: 1 [0: 0] a\0b\xff\n"),
        "$folded 100\n",
    'a thread twice' => dump_of(
        head => "  t*: 1: 1 [0: 0]\n" . "  t0: 1: 1 [0: 0]\n" x 2),
        "$folded 100\n",
    'ten thousand threads' => dump_of(
        head => join '', "  t*: 1: 1 [0: 0]\n",
                         map { "  t$_: 1: 1 [0: 0] n$_\n" } 1 .. 10_000),
        "$folded 100\n",
    'no threads' => dump_of(head => "  t*: 1: 1 [0: 0]\n"), "$folded 100\n",
    'no totals' => dump_of(head => ''), [ 2, 'the header has no totals' ],
    'half a thread' => dump_of(head => "  t*: 1: 1 [0: 0]\n  t0: 1: 1\n"),
        [ 3, 'not the totals of a thread' ],
    'period 0' => dump_of(period => 0),
        [ 1, $no_period ],
    'no period' => dump_of(period => ''),
        [ 1, $no_period ],
    'a period of 2^62' => dump_of(period => 1 << 62), qr/^\Q$folded\E \d+$/,
    'a period of 2^63' => dump_of(period => '9223372036854775808'),
        [ 1, $no_period ],
    'a period that is a word' => dump_of(period => 'x'),
        [ 1, $no_period ],
    'CR LF' => dump_of() =~ s/\n/\r\n/gr, [ 1, $cr_lf ],
    'CR LF in the first line' => dump_of() =~ s/\n/\r\n/r,
        [ 1, $cr_lf ],
);

my @stacks = (
    'no stacks' => dump_of(stacks => ''), '',
    'no frames' => dump_of(stacks => stack(counts(1, 8))), "[no stack] 8\n",
    'a frame that is nowhere' =>
        dump_of(stacks => stack(counts(1, 8), 0x30000001)), "0x30000000 8\n",
    'frame 0' => dump_of(stacks => stack(counts(1, 8), 0)), qr/^0x[0-9a-f]+ 8$/,
    'the last address' =>
        dump_of(stacks => stack(counts(1, 8), 0xffffffffffffffff)),
        "0xfffffffffffffffe 8\n",
    'an address of 17 digits' => dump_of(
        stacks => "@ 0x10000000000000000\n  t*: 1: 1 [0: 0]\n"),
        [ 4, $no_address ],
    'capital digits' => dump_of(
        stacks => "@ 0x7F0000200301\n  t*: 1: 1 [0: 0]\n"),
        [ 4, $no_address ],
    '300 frames' => dump_of(
        stacks => stack(counts(1, 8), map { 0x400001 + $_ } 1 .. 300)),
        qr/^(?:jpp-no-prog\+0x[0-9a-f]+[; ]){300}8\n$/,
    'as many frames as may be' => dump_of(
        stacks => stack(counts(1, 8), map { 0x400001 + $_ } 1 .. $max_frames)),
        qr/^(?:jpp-no-prog\+0x[0-9a-f]+[; ])+8\n$/,
    'and one more' => dump_of(
        stacks => stack(counts(1, 8),
                        map { 0x400001 + $_ } 0 .. $max_frames)),
        [ 4, $too_deep ],
    'frames of the allocator lead' => dump_of(
        stacks => stack(counts(1, 8), 0x7f0000000101, 0x400201)),
        "jpp-no-prog+0x200 8\n",
    'nothing but the allocator' => dump_of(
        stacks => stack(counts(1, 8), 0x7f0000000101, 0x7f0000000201)),
        "libjemalloc.so.2+0x2200 8\n",
    'the same stack twice' => dump_of(
        stacks => stack(counts(1, 8), 0x400201) x 2), "jpp-no-prog+0x200 16\n",
    'no totals' => dump_of(stacks => "@ 0x400201\n"), [ 5, $no_totals ],
    'no totals, and a stack' => dump_of(
        stacks => "@ 0x400201\n" . stack(counts(1, 8), 0x400201)),
        [ 5, $no_totals ],
    'a thread before the totals' => dump_of(
        stacks => "@ 0x400201\n  t0: 1: 1 [0: 0]\n"), [ 5, $no_totals ],
    'half a thread' => dump_of(
        stacks => "@ 0x400201\n  t*: 1: 1 [0: 0]\n  t: 1: 1 [0: 0]\n"),
        [ 6, 'not the totals of a thread' ],
    'no at' => dump_of(stacks => " 0x400201\n  t*: 1: 1 [0: 0]\n"),
        [ 4, 'not the totals of a thread' ],
    'a word' => dump_of(stacks => "stack\n"),
        [ 4, 'neither a stack nor the maps section' ],
    'a NUL' => dump_of(stacks => "@ 0x400201\0\n  t*: 1: 1 [0: 0]\n"),
        [ 4, $no_address ],
    'a NUL in the totals' => dump_of(stacks => "@\n  t*: 1: 1\0 [0: 0]\n"),
        [ 5, $no_totals ],
    'CR LF' => dump_of(stacks => "@ 0x400201\r\n  t*: 1: 1 [0: 0]\r\n"),
        [ 4, $no_address ],
    '64 MB of frames' => sub { dump_of(
        stacks => '@' . megabytes(64, ' 0x400201') . "\n  t*: 1: 1 [0: 0]\n") },
        [ 4, $too_deep ],
    '64 MB of a word' => sub { dump_of(stacks => megabytes(64, 'x') . "\n") },
        [ 4, 'neither a stack nor the maps section' ],
);

my @counts = (
    '2^63 - 1' => counts(1, $max), $max,
    '2^63' => counts(1, '9223372036854775808'), $max,
    '2^64 - 1' => counts(1, '18446744073709551615'), $max,
    '2^64 - 1 objects, too' => counts(('18446744073709551615') x 4), $max,
    '2^64' => counts(1, '18446744073709551616'), undef,
    '2^64 objects' => counts('18446744073709551616', 1), undef,
    '2^64 ever' => counts(1, 1, 1, '18446744073709551616'), undef,
    '25 digits' => counts(1, '1' x 25), undef,
    'a sign' => counts(1, -1), undef,
    'nothing' => '', undef,
    'a blank' => '1:  1 [0: 0]', undef,
    'no brackets' => '1: 1', undef,
    'no second bracket' => '1: 1 [0: 0', undef,
    'more' => '1: 1 [0: 0] x', undef,
);

my $line = '00400000-00500000 r-xp 00000000 08:01 11';

my @maps = (
    'none' => dump_of(maps => ''), [ 6, $no_section ],
    'a blank line only' => dump_of(maps => "\n"), [ 7, $no_section ],
    'empty' => dump_of(maps => "\nMAPPED_LIBRARIES:\n"),
        [ 9, 'the maps section is empty: the dump was cut' ],
    'two' => dump_of(maps => maps() x 2),
        [ 7, 'a second MAPPED_LIBRARIES section: two dumps in one file' ],
    'two dumps' => dump_of() x 2,
        [ 7, 'a second MAPPED_LIBRARIES section: two dumps in one file' ],
    'a line that is none' => dump_of(maps => maps("$line /a\n", "x\n")),
        [ 10, $no_map ],
    'a last line without its end' => dump_of() =~ s/\n\z//r,
        [ 11, "$cut: its last line has no newline" ],
    'a NUL in a path' => dump_of(maps => maps("$line /a\0b\n")),
        [ 9, $no_map ],
    'an overlap' => dump_of(maps => maps("$line /a\n" x 2)),
        [ 10, 'this mapping overlaps the previous one, or is out of order' ],
    'deleted' => dump_of(maps => maps("$line /usr/sbin/a (deleted)\n")),
        '0x7f0000200300;a+0x300;a+0x200 100' . "\n",
    'blanks in a path' => dump_of(maps => maps("$line /usr/my dir/a  b\n")),
        '0x7f0000200300;a  b+0x300;a  b+0x200 100' . "\n",
    'a newline in a path' => dump_of(maps => maps("$line /usr/a\\012b\n")),
        qr/^0x7f0000200300;a(?:\?|\\012)b\+0x300;a(?:\?|\\012)b\+0x200 100$/,
    'a semicolon in a path' => dump_of(maps => maps("$line /usr/a;b\n")),
        '0x7f0000200300;a:b+0x300;a:b+0x200 100' . "\n",
    'vdso' => dump_of(maps => maps("$line [vdso]\n")),
        qr/^0x7f0000200300;\[vdso\]\+0x300;\[vdso\]\+0x200 100$/,
    'no path' => dump_of(maps => maps("$line\n")),
        qr/^0x7f0000200300;[^;]*\+0x300;[^;]*\+0x200 100$/,
    'a long path' => dump_of(maps => maps("$line /" . 'x' x 16383 . "\n")),
        qr/^0x7f0000200300;x+\+0x300;x+\+0x200 100$/,
    'too long a path' => dump_of(maps => maps("$line /" . 'x' x 16384 . "\n")),
        [ 9, $no_map ],
    '10,000' => sub { dump_of(maps => many_maps(10_000)) }, qr/^0x7f/,
    'as many as may be' => sub { dump_of(maps => many_maps($max_maps)) },
        qr/^0x7f/,
    'and one more' => sub { dump_of(maps => many_maps($max_maps + 1)) },
        [ $max_maps + 9, qr/more .*mappings/ ],
);

my @foreign = (
    'nothing' => '', [ 1, 'the dump is empty' ],
    'a newline' => "\n", [ 1, $not_ours ],
    'NULs' => "\0" x 4096, [ 1, $not_ours ],
    'a word' => 'heap', [ 1, "$cut in its first line" ],
    'half the first line' => 'heap_v2', [ 1, "$cut in its first line" ],
    'the first line' => "heap_v2/1\n", [ 1, $no_section ],
    'HTML' => "<html>\n", [ 1, qr/not a heap dump/ ],
    'an error of nginx' => "404 Not Found\n", [ 1, $not_ours ],
    'heap_v1' => "heap_v1/1: 1 [0: 0] @ heap_v1/524288\n",
        [ 1, qr/a heap_v1 dump of jemalloc 3, / ],
    'heap_v3' => dump_of() =~ s/heap_v2/heap_v3/r, [ 1, $not_ours ],
    'gperftools' => "heap profile:      1:      100 [     1:      100] @ "
                    . "heapprofile\n", [ 1, qr/a heap profile of gperftools/ ],
    'gperftools v2' => "heap profile: 1: 100 [1: 100] @ heap_v2/524288\n",
        [ 1, qr/a heap profile in the legacy text form/ ],
    'Go' => "heap profile: 1: 100 [1: 100] @ heap/1048576\n",
        [ 1, qr/a heap profile of Go/ ],
    'jeprof --raw' => "--- symbol\nbinary=/usr/sbin/nginx\n",
        [ 1, qr/a profile with symbols made by jeprof/ ],
    'ELF' => sub { slurp($tool) }, [ 1, 'an ELF file, not a heap dump' ],
    'a maps section' => maps(), [ 1, $not_ours ],
    'UTF-16' => join('', map { "$_\0" } split //, dump_of()), [ 1, $not_ours ],
    'a mark of UTF-8' => "\xef\xbb\xbf" . dump_of(), [ 1, $not_ours ],
    'random' => do { srand 1; join '', map { chr rand 256 } 1 .. 10_000 },
        [ 1, $not_ours ],
);


sub check_cases {
    subtest 'headers' => sub { check_table(@header) };
    subtest 'stacks' => sub { check_table(@stacks) };
    subtest 'counts' => \&check_counts;
    subtest 'maps' => sub { check_table(@maps) };
    subtest 'files of other kinds' => sub { check_table(@foreign) };
    subtest 'gzip' => \&check_gzip;
    subtest 'a bomb' => \&check_bomb;
    subtest 'cuts' => \&check_cuts;
    subtest 'noise' => \&check_noise;

    unlink $file;
}


# Mappings of one page each, with a page between.

sub many_maps($n) {
    return maps(map { sprintf "%x-%x r-xp 00000000 08:01 %d /l%d\n",
                              0x1000000 + 2 * 4096 * $_,
                              0x1000000 + 2 * 4096 * $_ + 4096, $_, $_ }
                1 .. $n);
}


sub check_table {
    while (my ($name, $text, $want) = splice @_, 0, 3) {

        spew($file, ref $text ? $text->() : $text);
        check($name, $want);
    }
}


# The tool makes WANT of the file, in every format, or refuses it.

sub check($name, $want) {
    local $Test::Builder::Level = $Test::Builder::Level + 1;

    if (ref $want eq 'ARRAY') {
        my ($number, $sentence) = @$want;
        my $place = $number ? ":$number" : '';

        $sentence = "\Q$sentence\E\$" unless ref $sentence;
        refuses($name, 1, qr/^\Q$file\E$place: $sentence/, '--symbolize=0',
                $file);
        return;
    }

    gives($name, $want, '--format=folded', '--symbolize=0', $file);

    # 60 us for each mapping whose file is not there

    return if -s $file > 2_000_000;

    keeps_contract("$name: contract", run('--symbolize=0', $file)->{out});
}


sub check_counts {
    my @cases = @counts;

    while (my ($name, $counts, $value) = splice @cases, 0, 3) {
        spew($file, dump_of(stacks => stack($counts, 0x400201)));

        check($name, defined $value ? "jpp-no-prog+0x200 $value\n"
                                    : [ 5, $no_totals ]);
    }

    # freed allocations are in a dump only with prof_accum

    spew($file, dump_of(period => 524288,
                        stacks => stack(counts(0, 0, 7, 7340032), 0x400201)));

    check('nothing left of a stack', '');
    gives('ever allocated', qr/^jpp-no-prog\+0x200 84888\d\d$/,
          '--format=folded', '--type=alloc_space', $file);

    # objects without bytes, and bytes without objects, count as nothing

    for my $odd (counts(1, 0), counts(0, 1), counts(0, 0)) {
        spew($file, dump_of(period => 524288,
                            stacks => stack($odd, 0x400201)));
        check("$odd", '');
    }

    # a sum stays at the end of its range

    spew($file, dump_of(stacks => stack(counts(1, $max), 0x400201) x 3));
    check('a sum that is too large', "jpp-no-prog+0x200 $max\n");
    gives('top of it', qr/^inuse_space: 8\.0 EiB in 1 stack/, '--format=top',
          $file);
}


sub check_gzip {
    my $dump = slurp("$root/t/data/accum-530.heap");
    my @args = ('--any-kernel', '--format=text');

    my $gz = gzipped($dump);

    spew($file, $dump);
    my $want = run(@args, $file)->{out};

    spew($file, $gz);
    gives('a dump', $want, @args, $file);
    gives('on stdin', $want, { stdin => $file }, @args, '-');

    # several gzip members are one file

    my $head = gzipped(substr($dump, 0, 1000));
    my $tail = gzipped(substr($dump, 1000));

    spew($file, $head, $tail);
    gives('two members', $want, @args, $file);
    gives('unpacked by format=jemalloc', $dump, '--any-kernel',
          '--format=jemalloc', $file);

    # a line number counts the lines of the dump

    my $bad = gzipped(dump_of(stacks => "stack\n"));
    spew($file, $bad);
    check('a bad dump', [ 4, 'neither a stack nor the maps section' ]);
    refuses('a bad dump, by format=jemalloc', 1, qr/:4: neither a stack/,
            '--format=jemalloc', $file);

    my $ends = 'gzip: the compressed data is incomplete';
    my $damaged = qr/gzip: the compressed data is damaged/;

    for my $len (3, 9, 10, 11, 100, length($gz) / 2, length($gz) - 8,
                 length($gz) - 1) {

        spew($file, substr $gz, 0, $len);
        check("cut at $len", [ 0, $ends ]);
    }

    spew($file, substr $gz, 0, 2);
    check('cut at 2', [ 1, $not_ours ]);

    spew($file, $gz, "garbage\n");
    check('garbage behind it', [ 0, $damaged ]);

    for my $at (12, length($gz) / 2, length($gz) - 6, length($gz) - 2) {
        my $copy = $gz;

        substr($copy, $at, 1) ^= "\x55";
        spew($file, $copy);
        check("damaged at $at", [ 0, qr/gzip: / ]);
    }

    my $nothing = gzipped('');
    spew($file, $nothing);
    check('nothing', [ 1, 'the dump is empty' ]);

    my $twice = gzipped($gz);
    spew($file, $twice);
    check('twice', [ 1, $not_ours ]);
}


# 200 KB that become 200 MB: refused for what they are, and with little memory
# for their size.

sub check_bomb {
    spew($file, gzipped(megabytes(1, "\0")) x 200);
    check('with enough memory', [ 1, $not_ours ]);

    my $limited = sub { exec 'sh', '-c', 'ulimit -v 200000; exec "$@"', 'sh',
                        $tool, @_ };

    SKIP: {
        skip 'the tool was built to need much memory', 1
            if !run({ before => sub { $limited->('--version') } })->{out};

        refuses('with little memory', 1, "$file: the report needs more memory "
                . 'than it may take', { before => sub { $limited->($file) } });
    }
}


sub gzipped($data) {
    IO::Compress::Gzip::gzip(\$data, \my $gz) or die 'gzip';

    return $gz;
}


# No part of a real dump passes for a whole one.

sub check_cuts {
    my $dump = slurp("$root/t/data/threads-530.heap");
    my ($tail) = slurp('/proc/self/maps') =~ /\s(\[\S+\])\n\z/;
    my $maps = index $dump, "MAPPED_LIBRARIES:\n";

    # with the last line that this kernel lists

    $dump =~ s/\[vsyscall\]\n\z/$tail\n/ if defined $tail;

    my @ends = map { $_, $_ + 1 } line_ends($dump);
    my (@good, @refused, @odd);

    for my $end (grep { $_ < length $dump } @ends) {
        spew($file, substr $dump, 0, $end);

        my $result = run('--format=folded', $file);

        if ($result->{exit} == 0) {
            push @good, $end;

        } elsif ($result->{exit} == 1 && $result->{out} eq ''
                 && $result->{err} =~ /\Ajemalloc-pprof:\ \Q$file\E(?::\d+)?:
                                       \ .*(?:cut|the\ dump\ is\ empty).*\n\z/x)
        {
            push @refused, $end;

        } else {
            push @odd, "$end: $result->{err}";
        }
    }

    cmp_ok(scalar @refused, '>', 100, 'cut dumps are refused');
    is(scalar @odd, 0, 'with a sentence that says so') or diag($odd[0]);

    @good = grep { $_ < $maps } @good if !defined $tail;
    is("@good", '', 'every cut is found');

    spew($file, $dump);
    check('the whole dump', qr/./);

    # the listing of another kernel may end anywhere

    spew($file, substr $dump, 0, (line_ends($dump))[-3]);
    gives('--any-kernel takes a shorter listing', qr/./, '--any-kernel',
          '--format=folded', $file);
}


sub line_ends($text) {
    my @ends;

    push @ends, pos $text while $text =~ /\n/g;

    return @ends;
}


# Bytes of a real dump are replaced, removed and doubled: the tool neither dies
# nor hangs, and what it writes is a profile.

sub check_noise {
    my $dump = slurp("$root/t/data/threads-530.heap");
    my (@odd, %n);

    srand 20;

    for my $round (1 .. 150) {
        my $copy = $dump;

        for (1 .. 1 + int rand 3) {
            my $at = int rand length $copy;

            substr($copy, $at, int rand 3) = ('', "\n", ' ', '0', "\0", "\xff",
                substr $copy, int rand length $copy, int rand 90)[rand 7];
        }

        spew($file, $copy);

        my $result = run('--any-kernel', '--symbolize=0', $file);

        $n{$result->{exit}}++;

        if ($result->{exit} == 0 && $result->{err} eq '') {
            keeps_contract("round $round", $result->{out}) if $round % 10 == 0;
            next;
        }

        push @odd, "$round: $result->{exit} $result->{signal} $result->{err}"
            if $result->{exit} != 1 || $result->{out} ne ''
               || $result->{err} !~ /\Ajemalloc-pprof: \Q$file\E[: ].*\n\z/;
    }

    is("@odd", '', 'a profile, or a refusal with a sentence');
    cmp_ok($n{1}, '>', 20, 'some are refused');
    note("profiles: ", $n{0} // 0);
}


1;

package JppCases;

# Dumps that users may give the tool, as text, with what it has to print: a
# string or pattern is its output (folded stacks), [ LINE, SENTENCE ] a refusal.
# Those that are small, and text, are rows of t/unit/jpp_heap_test.c.

use JppPerl;

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
my ($max_frames) = slurp("$root/src/core/base/jpp_limits.h")
                   =~ /JPP_MAX_FRAMES\s+(\d+)/;

# sentences that several cases share

my $too_deep = qr/a stack has more .*frames/;
my $neither = 'neither a stack nor the maps section';
my $not_ours = 'not a heap dump of jemalloc: it does not start with heap_v2/';

my $line = '00400000-00500000 r-xp 00000000 08:01 11';

my @dumps = (
    'ten thousand threads' => dump_of(
        head => join '', "  t*: 1: 1 [0: 0]\n",
                         map { "  t$_: 1: 1 [0: 0] n$_\n" } 1 .. 10_000),
        "$folded 100\n",
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
    '64 MB of frames' => sub { dump_of(
        stacks => '@' . megabytes(64, ' 0x400201') . "\n  t*: 1: 1 [0: 0]\n") },
        [ 4, $too_deep ],
    '64 MB of a word' => sub { dump_of(stacks => megabytes(64, 'x') . "\n") },
        [ 4, $neither ],
    'a sum that is too large' => dump_of(
        stacks => stack(counts(1, $max), 0x400201) x 3),
        "jpp-no-prog+0x200 $max\n",
    'a long path' => dump_of(maps => maps("$line /" . 'x' x 16383 . "\n")),
        qr/^0x7f0000200300;x+\+0x300;x+\+0x200 100$/,
    'too long a path' => dump_of(maps => maps("$line /" . 'x' x 16384 . "\n")),
        [ 9, 'not a line of a maps section' ],
    '10,000 mappings' => sub { dump_of(maps => many_maps(10_000)) }, qr/^0x7f/,
    'a program' => sub { slurp($tool) },
        [ 1, 'an ELF file, not a heap dump' ],
    'UTF-16' => join('', map { "$_\0" } split //, dump_of()), [ 1, $not_ours ],
    'random' => do { srand 1; join '', map { chr rand 256 } 1 .. 10_000 },
        [ 1, $not_ours ],
);


sub check_cases {
    subtest 'dumps that are large or odd' => \&check_table;
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
    while (my ($name, $text, $want) = splice @dumps, 0, 3) {

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
    check('a bad dump', [ 4, $neither ]);
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

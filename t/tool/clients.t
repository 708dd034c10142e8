#!/usr/bin/perl

# Real clients read our output: google/pprof every profile and every text,
# jeprof every text.  Their totals, ours, and those that jeprof finds in
# jemalloc's own dump agree within one unit for each stack.

use JppTest;
use JppDump qw( counts dump_of stack );

my $tool = "$build/jemalloc-pprof";
my $dir = tempdir(CLEANUP => 1);

$ENV{PPROF_TMPDIR} = $dir;
$ENV{PPROF_BINARY_PATH} = $dir;

plan skip_all => "no $tool: ./dev build makes it" unless -x $tool;

for my $client ('go version', 'jeprof --version') {
    BAIL_OUT("$client: not there") if !defined printed("$client 2>/dev/null");
}

my @dumps = map { m{([^/]+)\.heap$} } glob 't/data/*.heap';

cmp_ok(scalar @dumps, '>=', 8, 'dumps');

for my $name (@dumps) {
    subtest $name => sub { check($name) };
}


sub check($name) {
    my $dump = "t/data/$name.heap";
    my $stacks = () = slurp($dump) =~ /^@/mg;

    # ours

    run("$tool --symbolize=0 -o $dir/p.pb.gz $dump", 'a profile');
    run("$tool --format=text -o $dir/p.text $dump", 'a text');
    run("$build/t/jpp_contract --heap $dir/p.pb.gz", 'the contract holds');

    my @of_profile = totals("$dir/p.pb.gz");
    my @of_text = totals("$dir/p.text");

    # jeprof shows the type that comes last

    near($of_text[-2], $of_profile[-2], $stacks, 'objects of the text');
    near($of_text[-1], $of_profile[-1], $stacks, 'bytes of the text');

    # jeprof on what jemalloc wrote, and on our text

    # (jeprof counts a stack without frames as the one before it)

    for my $file ($name eq 'hand' ? () : ($dump, "$dir/p.text")) {
        my $which = $file eq $dump ? 'the dump' : 'our text';

        near(jeprof_total($file, '--inuse_objects'), $of_profile[-2], $stacks,
             "objects as jeprof reads $which");
        near(jeprof_total($file, '--inuse_space'), $of_profile[-1], $stacks,
             "bytes as jeprof reads $which");

        next if @of_profile < 4;

        near(jeprof_total($file, '--alloc_objects'), $of_profile[0], $stacks,
             "allocated objects as jeprof reads $which");
        near(jeprof_total($file, '--alloc_space'), $of_profile[1], $stacks,
             "allocated bytes as jeprof reads $which");
    }

    # the other commands of pprof, with names

    run("$tool -o $dir/s.pb.gz $dump", 'a profile with names');
    run("$build/t/jpp_contract --heap $dir/s.pb.gz", 'the contract holds');

    for my $file ("$dir/s.pb.gz", "$dir/p.text") {
        my $top = printed("go tool pprof -symbolize=none -top $file 2>&1");

        like($top, qr/flat%.*\n.*%/, "-top of $file");
    }

    # and formats that have no client

    my %like = (jemalloc => qr/\A\Q@{[ slurp($dump) ]}\E\z/,
                folded => qr/\A(?:\S.* \d+\n)+\z/,
                top => qr/\Ainuse_space: .* in \d+ stack/);

    for my $format (sort keys %like) {
        for my $symbolize (0, 1) {
            my $out = printed("$tool --format=$format --symbolize=$symbolize "
                              . $dump);

            ok($out =~ $like{$format}, "$format, symbolize=$symbolize");
        }
    }
}


# Stacks whose last frame says why they end there: every client reads them, in
# a dump as jemalloc writes it, in our text and in a profile, and no byte is
# lost.  (The names are those of a profile: jeprof knows only the number.)

test 'stacks that are cut' => sub {

    # what is cut, by frame: docs/reading-a-heap.md

    my %cuts = (
        0x101 => '[cut: JIT code]',
        0x102 => '[cut: no call-frame information]',
        0x103 => '[cut: unknown call-frame information]',
        0x104 => '[cut: outside the stack]',
    );

    my $dump = spew("$dir/cut.heap", dump_of(
        head => '  t*: ' . counts(5, 1500) . "\n  t0: " . counts(5, 1500)
                . "\n",
        stacks => join '',
                  stack(counts(1, 500), 0x401234, 0x405678),
                  map { stack(counts(1, $_ - 1), 0x401234, $_) }
                  sort keys %cuts));

    # 500, and 256 + 257 + 258 + 259

    my $total = 1530;

    run("$tool --format=$_ -o $dir/cut.$_ $dump", $_) for 'pprof', 'text';
    run("$build/t/jpp_contract --heap $dir/cut.pprof", 'the contract holds');

    for my $file ($dump, "$dir/cut.text") {
        my $text = printed("jeprof --text --show_bytes --inuse_space /bin/true "
                           . "$file 2>/dev/null") // '';

        like($text, qr/^Total: $total B$/m, "jeprof reads $file as a whole");
        like($text, qr/^ *$total 100\.0% .* 0x0+401234$/m,
             'with the other frames');
    }

    is((totals("$dir/cut.$_"))[-1], $total, "pprof reads $_ as a whole")
        for 'pprof', 'text';

    my $traces = printed("go tool pprof -symbolize=none -traces "
                         . "$dir/cut.pprof 2>&1");

    for my $frame (sort keys %cuts) {
        like($traces, qr/^ +@{[ $frame - 1 ]}B .*\n +\Q$cuts{$frame}\E$/m,
             $cuts{$frame});
    }
};


# A dump minus itself is nothing, for us and for pprof.

test 'a difference' => sub {
    my $dump = 't/data/nginx-530.heap';
    my $other = 't/data/nginx-160k.heap';

    run("$tool --symbolize=0 -o $dir/a.pb.gz $dump", 'one');
    run("$tool --symbolize=0 -o $dir/b.pb.gz $other", 'another');
    run("$tool --symbolize=0 --base=$dump -o $dir/ab.pb.gz $other",
        'their difference');
    run("$tool --symbolize=0 --format=text --base=$dump -o $dir/ab.text "
        . $other, 'as text');
    run("$build/t/jpp_contract --heap $dir/ab.pb.gz", 'the contract holds');

    for my $option ('-base', '-diff_base') {
        my $top = printed("go tool pprof -symbolize=none -top $option "
                         . "$dir/a.pb.gz $dir/a.pb.gz 2>&1");

        like($top, qr/accounting for 0|of 0 total/, "$option of itself");

        $top = printed("go tool pprof -symbolize=none -top $option "
                      . "$dir/a.pb.gz $dir/b.pb.gz 2>&1");
        like($top, qr/flat%.*\n.*%/, "$option of another");
    }

    my @a = totals("$dir/a.pb.gz");
    my @b = totals("$dir/b.pb.gz");
    my @ab = totals("$dir/ab.pb.gz");
    my @text = totals("$dir/ab.text");

    is($ab[$_], $b[$_] - $a[$_], "value $_ of the difference") for 0, 1;

    # bytes without objects are written as bytes of one object

    near($text[0], $ab[0], scalar(() = slurp("$dir/ab.text") =~ /@/g),
         'objects of its text');
    is($text[1], $ab[1], 'bytes of its text');
};


# The sums of the values of a file as pprof reads it.

sub totals($file) {
    my @sums;

    my $raw = printed("go tool pprof -symbolize=none -raw $file 2>/dev/null");

    my ($samples) = $raw =~ /^Samples:\n(.*?)^Locations/ms
        or return fail("-raw of $file");

    for my $line (split /\n/, $samples) {
        my ($values) = $line =~ /^([-\s\d]+):/ or next;
        my @values = split ' ', $values;

        $sums[$_] += $values[$_] for 0 .. $#values;
    }

    return @sums ? @sums : (0, 0);
}


sub jeprof_total($file, $option) {
    my $text = printed("jeprof --text --show_bytes $option /bin/true $file "
                      . '2>/dev/null');

    return $text =~ /^Total: (-?[\d.]+)/m ? $1 : undef;
}


sub near($got, $expected, $stacks, $what) {
    ok(defined $got && abs($got - $expected) <= $stacks,
       sprintf '%s: %s, %s', $what, $got // 'none', $expected);
}


sub run($command, $what) {
    is(system("$command >$dir/out 2>&1"), 0, $what) or diag(slurp("$dir/out"));
}

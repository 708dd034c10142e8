#!/usr/bin/perl

# Stacks whose last frame says why they end there: every client reads them, in
# a dump as jemalloc writes it, in our text and in a profile, and no byte is
# lost.  (The names are those of a profile: jeprof knows only the number.)

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

# what is cut, by frame: docs/reading-a-heap.md

my %cuts = (
    0x101 => '[cut: JIT code]',
    0x102 => '[cut: no call-frame information]',
    0x103 => '[cut: unknown call-frame information]',
    0x104 => '[cut: outside the stack]',
);

my $dump = spew("$dir/cut.heap", dump_of(
    head => '  t*: ' . counts(5, 1500) . "\n  t0: " . counts(5, 1500) . "\n",
    stacks => join '',
              stack(counts(1, 500), 0x401234, 0x405678),
              map { stack(counts(1, $_ - 1), 0x401234, $_) } sort keys %cuts));

# 500, and 256 + 257 + 258 + 259

my $total = 1530;

for my $format ('pprof', 'text') {
    is(system("$tool --format=$format -o $dir/p.$format $dump"), 0, $format);
}

is(system("$build/t/jpp_contract --heap $dir/p.pprof >/dev/null"), 0,
   'the contract holds');

for my $file ($dump, "$dir/p.text") {
    my $text = printed("jeprof --text --show_bytes --inuse_space /bin/true "
                      . "$file 2>/dev/null") // '';

    like($text, qr/^Total: $total B$/m, "jeprof reads $file as a whole");
    like($text, qr/^ *$total 100\.0% .* 0x0+401234$/m, 'with the other frames');
}

for my $file ("$dir/p.pprof", "$dir/p.text") {
    my $raw = printed("go tool pprof -symbolize=none -raw $file 2>&1") // '';
    my $sum = 0;

    $sum += $1 while $raw =~ /^ +\d+ +(\d+):/mg;
    is($sum, $total, "pprof reads $file as a whole");
}

my $traces = printed("go tool pprof -symbolize=none -traces $dir/p.pprof 2>&1");

for my $frame (sort keys %cuts) {
    like($traces, qr/^ +@{[ $frame - 1 ]}B .*\n +\Q$cuts{$frame}\E$/m,
         $cuts{$frame});
}


#!/usr/bin/perl

# A program whose live heap is known, under a real jemalloc: what the profile
# says against what is true.  At lg 0 every allocation is a sample and nothing
# is estimated; at lg 19 an estimate of one run is off by some 4 %, and the
# average of thirty by less than 3 %.

use JppTest;

my $build = $ENV{JPP_BUILD} // 'build';
my $tool = "$build/jemalloc-pprof";
my $program = "$build/t/liveset";
my $dir = tempdir(CLEANUP => 1);

# found by the loader, which takes the one of the program's architecture
my $library = 'libjemalloc.so.2';

plan skip_all => "no $program: ./dev test makes it" unless -x $program;
plan skip_all => "no $library" if `LD_PRELOAD=$library true 2>&1` ne '';

for my $kind ('preloaded', 'static') {
    subtest "lg 0, $kind" => sub {
        my ($truth, $seen) = measure(1, 0, 1, $kind);

        for my $site (sort keys %$truth) {
            is($seen->{$site} // 0, $truth->{$site}, "$site, to the byte");
        }
    };
}

subtest 'lg 19' => sub {
    my @errors;

    for my $seed (1 .. 30) {
        my ($truth, $seen) = measure($seed, 19, 100);
        my $is = sum(map { $seen->{$_} // 0 } keys %$truth);
        my $should = sum(values %$truth);

        push @errors, $is / $should - 1;
    }

    my $average = 100 * sum(@errors) / @errors;

    cmp_ok(abs($average), '<', 3,
           sprintf 'thirty runs are off by %.2f %% on average', $average);
};


# The bytes of every site, by the program and by the profile: the leaves named
# after the sites are in the program's symbol table.

sub measure($seed, $lg, $percent, $kind = undef) {
    my (%truth, %seen);

    my $how = "MALLOC_CONF=prof:true,prof_active:true,lg_prof_sample:$lg ";
    $how .= ($kind // '') eq 'static' ? "$program-static"
                                      : "LD_PRELOAD=$library $program";

    my $out = `$how $seed $dir/dump $percent`;

    is($?, 0, "the program runs (seed $seed)") or return ({}, {});

    while ($out =~ /^(site_\w+) \d+ (\d+)$/mg) {
        $truth{$1} = $2;
    }

    my $folded = `$tool --format=folded --type=inuse_space $dir/dump`;

    is($?, 0, 'and its dump is read');

    while ($folded =~ /^(.*) (\d+)$/mg) {
        my ($stack, $bytes) = ($1, $2);

        # nothing of the allocator is left behind the site

        $seen{$1} += $bytes if $stack =~ /;(site_\w+)$/;
    }

    return (\%truth, \%seen);
}

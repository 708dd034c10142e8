#!/bin/sh

# What the module's sampler costs, in instructions: a malloc() with its free(),
# and a sample with its end.  For what it costs an nginx see sampling.sh.
#
# Each figure is a long run under valgrind less a short one.  JPP_BUILD is
# another build than build/; what is preloaded is JEMALLOC, none by default.
# ./dev bench sampler calls it.

set -eu

cd "$(dirname "$0")/.."

build=${JPP_BUILD:-build}
out=$build/bench/sampler.callgrind
short=2000
long=22000


# counted WAY N: total is what the program took.  Where its stack lies, and so
# what it costs to look up, depends on the size of its environment.

counted()
{
    rm -f "$out"

    env -i LD_PRELOAD="${JEMALLOC-}" valgrind --tool=callgrind -q \
        --callgrind-out-file="$out" "$build/bench/jpp_sampler_bench" "$1" "$2"

    total=$(sed -n 's/^summary: \([0-9]*\)$/\1/p' "$out" | grep .)
}


# each WAY: per block

each()
{
    counted "$1" $short
    less=$total
    counted "$1" $long
    each=$(((total - less) * 10 / (long - short)))
}


# row TEXT WITHOUT WITH

row()
{
    each "$2"
    without=$each
    each "$3"
    with=$each

    echo "$1 $without $with" | awk -F '|' '{
        split($2, n, " ")
        printf("%-44s %9.1f %9.1f %9.1f\n", $1, n[1] / 10, n[2] / 10,
               (n[2] - n[1]) / 10) }'
}


make -s -f tools/core.mk OUT="$build" "$build/bench/jpp_sampler_bench"

printf '%-44s %9s %9s %9s\n' "instructions" off on difference
row "malloc() and free(), not sampled|" off on
row "the same, sampled, from one stack|" large same
row "the same, sampled, from a thousand stacks|" turns varied

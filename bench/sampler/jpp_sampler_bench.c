
/*
 * What the sampler costs a call of malloc() and free(), and a sample, in
 * instructions: to be run under callgrind by bench/sampler.sh.
 *
 *     jpp_sampler_bench WAY N
 *
 * N blocks are allocated and freed one after the other, twenty functions deep:
 *
 *     off       64 bytes, without the sampler
 *     on        64 bytes, so few that none is sampled
 *     same      16 KiB, from one stack, so large that each is sampled
 *     varied    16 KiB, from a thousand stacks in turns
 *     large, turns: the last two without the sampler
 */


#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jpp_sampler.h"


#define JPP_BENCH_DEPTH   18
#define JPP_BENCH_STACKS  1000
#define JPP_BENCH_SMALL   64
#define JPP_BENCH_LARGE   (16 * 1024)


typedef struct {
    const char   *name;
    uint32_t      lg;              /* 0: off */
    size_t        size;
    unsigned      stacks;
} jpp_bench_way_t;


static void jpp_bench_turn(unsigned turns, unsigned depth, size_t size);


static const jpp_bench_way_t  jpp_bench_ways[] = {
    { "off",    0,                  JPP_BENCH_SMALL, 1 },
    { "on",     JPP_SAMPLER_LG_MAX, JPP_BENCH_SMALL, 1 },
    { "large",  0,                  JPP_BENCH_LARGE, 1 },
    { "same",   JPP_SAMPLER_LG_MIN, JPP_BENCH_LARGE, 1 },
    { "turns",  0,                  JPP_BENCH_LARGE, JPP_BENCH_STACKS },
    { "varied", JPP_SAMPLER_LG_MIN, JPP_BENCH_LARGE, JPP_BENCH_STACKS }
};


static __attribute__((noinline)) void
jpp_bench_left(unsigned turns, unsigned depth, size_t size)
{
    jpp_bench_turn(turns, depth, size);
    __asm__ volatile ("" : : : "memory");
}


static __attribute__((noinline)) void
jpp_bench_right(unsigned turns, unsigned depth, size_t size)
{
    jpp_bench_turn(turns, depth, size);
    __asm__ volatile ("" : : : "memory");
}


static __attribute__((noinline)) void
jpp_bench_turn(unsigned turns, unsigned depth, size_t size)
{
    void  *p;

    if (depth == 0) {
        p = malloc(size);
        __asm__ volatile ("" : "+r" (p) : : "memory");
        free(p);

    } else if (turns % 2 == 0) {
        jpp_bench_left(turns / 2, depth - 1, size);

    } else {
        jpp_bench_right(turns / 2, depth - 1, size);
    }

    __asm__ volatile ("" : : : "memory");
}


int
main(int argc, char **argv)
{
    size_t                  i, n, ways;
    jpp_err_t               err = { 0 };
    const jpp_bench_way_t  *way;

    ways = sizeof(jpp_bench_ways) / sizeof(jpp_bench_ways[0]);

    for (i = 0; argc == 3 && i < ways; i++) {
        way = &jpp_bench_ways[i];

        if (strcmp(argv[1], way->name) != 0) {
            continue;
        }

        if (way->lg != 0 && jpp_sampler_on(way->lg, &err) != JPP_OK) {
            fprintf(stderr, "jpp_sampler_bench: %s\n", err.text);
            return 1;
        }

        n = strtoul(argv[2], NULL, 10);

        for (i = 0; i < n; i++) {
            jpp_bench_turn((unsigned) (i % way->stacks), JPP_BENCH_DEPTH / 2,
                           way->size);
        }

        return 0;
    }

    fprintf(stderr, "usage: jpp_sampler_bench WAY N\n");

    return 1;
}

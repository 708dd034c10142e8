
/*
 * Times of a bench, in nanoseconds, and their median.
 */


#ifndef _JPP_BENCH_CLOCK_H_INCLUDED_
#define _JPP_BENCH_CLOCK_H_INCLUDED_


#include <stdint.h>
#include <stdlib.h>
#include <time.h>


static inline uint64_t
jpp_bench_now(void)
{
    struct timespec  ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);

    return (uint64_t) ts.tv_sec * 1000000000 + (uint64_t) ts.tv_nsec;
}


static inline int
jpp_bench_order(const void *one, const void *two)
{
    const uint64_t *a = one;
    const uint64_t *b = two;

    return *a < *b ? -1 : *a > *b;
}


/* Of N TIMES, which it sorts. */
static inline uint64_t
jpp_bench_median(uint64_t *times, size_t n)
{
    qsort(times, n, sizeof(uint64_t), jpp_bench_order);

    return times[n / 2];
}


#endif /* _JPP_BENCH_CLOCK_H_INCLUDED_ */


/* Latencies by buckets, which take no more memory for more of them. */


#include "jpp_load.h"

#include <time.h>


void
jpp_load_record(jpp_load_t *load, uint64_t ns)
{
    unsigned  shift;

    shift = 63 - (unsigned) __builtin_clzll(ns | JPP_LOAD_STEPS)
            - JPP_LOAD_BITS;

    load->buckets[shift * JPP_LOAD_STEPS + (ns >> shift)]++;

    if (ns > load->max) {
        load->max = ns;
    }
}


double
jpp_load_percentile(const jpp_load_t *load, double part)
{
    size_t    i;
    double    rank;
    uint64_t  low, seen, step;

    rank = part * (double) load->good;
    seen = 0;

    for (i = 0; i < JPP_LOAD_BUCKETS; i++) {
        seen += load->buckets[i];

        if (seen > 0 && (double) seen >= rank) {
            break;
        }
    }

    if (i == JPP_LOAD_BUCKETS) {
        return 0;
    }

    step = i < 2 * JPP_LOAD_STEPS ? 0 : i / JPP_LOAD_STEPS - 1;
    low = (i - step * JPP_LOAD_STEPS) << step;
    low += ((uint64_t) 1 << step) / 2;

    return (double) (low < load->max ? low : load->max) / 1000;
}


uint64_t
jpp_load_now(void)
{
    struct timespec  now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);

    return (uint64_t) now.tv_sec * JPP_LOAD_SECOND + (uint64_t) now.tv_nsec;
}

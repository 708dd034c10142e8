
/* qsort_r() */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stdlib.h>
#include <string.h>

#include "jpp_maker.h"


static int jpp_make_cmp_address(const void *a, const void *b);
static int jpp_make_cmp_stack(const void *a, const void *b, void *ctx);


void
jpp_make_order(jpp_maker_t *maker)
{
    size_t       i, n;
    uint32_t    *rank, *frames;
    jpp_vec_t   *ranks;
    jpp_site_t  *sites;

    sites = jpp_vec_items(maker->sites, jpp_site_t);
    n = jpp_vec_count(maker->sites, jpp_site_t);

    ranks = jpp_vec_create(&maker->arena);

    if (ranks == NULL
        || jpp_make_push(maker, ranks, n * sizeof(uint32_t)) == NULL)
    {
        maker->failed = true;
        return;
    }

    rank = jpp_vec_items(ranks, uint32_t);

    /* len and text stay as they are; the old number is kept behind them */

    for (i = 0; i < n; i++) {
        sites[i].len |= (uint32_t) i << 5;
    }

    qsort(sites, n, sizeof(jpp_site_t), jpp_make_cmp_address);

    for (i = 0; i < n; i++) {
        rank[sites[i].len >> 5] = (uint32_t) i;
        sites[i].len &= 31;
    }

    frames = jpp_vec_items(maker->frames, uint32_t);
    n = jpp_vec_count(maker->frames, uint32_t);

    for (i = 0; i < n; i++) {
        frames[i] = rank[frames[i]];
    }

    qsort_r(maker->made->data, maker->options.stacks, sizeof(jpp_made_t),
            jpp_make_cmp_stack, frames);
}


static int
jpp_make_cmp_address(const void *a, const void *b)
{
    const jpp_site_t  *x, *y;

    x = a;
    y = b;

    return memcmp(&x->address, &y->address, sizeof(uint64_t));
}


static int
jpp_make_cmp_stack(const void *a, const void *b, void *ctx)
{
    uint32_t           i, *frames;
    const uint32_t    *f, *g;
    const jpp_made_t  *x, *y;

    frames = ctx;

    x = a;
    y = b;
    f = &frames[x->frames];
    g = &frames[y->frames];

    for (i = 0; i < x->n && i < y->n; i++) {
        if (f[i] != g[i]) {
            return f[i] < g[i] ? -1 : 1;
        }
    }

    return (x->n > y->n) - (x->n < y->n);
}

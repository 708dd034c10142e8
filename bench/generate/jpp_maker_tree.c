
#include <math.h>

#include "jpp_maker.h"


static void jpp_make_branch(jpp_maker_t *maker, uint32_t level, uint32_t n);
static uint32_t jpp_make_fan_out(jpp_maker_t *maker, uint32_t level,
    uint32_t n);
static uint32_t jpp_make_callee(jpp_maker_t *maker, uint32_t site);
static void jpp_make_stack(jpp_maker_t *maker, uint32_t level);
static void jpp_make_frames(jpp_maker_t *maker, uint32_t level);
static void jpp_make_counts(jpp_maker_t *maker, jpp_made_t *made,
    uint32_t leaf);


/* Two thirds of the stacks begin in main(), the others in a thread. */

void
jpp_make_tree(jpp_maker_t *maker)
{
    uint32_t  i, n, roots;

    roots = maker->options.depth < 16 ? 1 : JPP_ROOT_SITES / 2;

    n = (maker->options.depth - roots - JPP_JEMALLOC_FRAMES) * 3 / 4;
    maker->split = roots + (n < 2 ? 2 : n);

    for (i = 0; i < roots; i++) {
        maker->path[i] = JPP_JEMALLOC_SITES + i;
    }

    n = (maker->options.stacks + 1) * 2 / 3;

    jpp_make_branch(maker, roots, n);

    for (i = 0; i < roots; i++) {
        maker->path[i] += JPP_ROOT_SITES / 2;
    }

    jpp_make_branch(maker, roots, maker->options.stacks - n);
}


/* N stacks that share the first LEVEL frames of the path */

static void
jpp_make_branch(jpp_maker_t *maker, uint32_t level, uint32_t n)
{
    uint32_t  i, k, site, share;

    if (n == 0 || maker->failed) {
        return;
    }

    if (n == 1) {
        jpp_make_stack(maker, level);
        return;
    }

    k = jpp_make_fan_out(maker, level, n);
    site = jpp_make_callee(maker, maker->path[level - 1]);

    for (i = 0; i < k; i++) {

        maker->path[level] = JPP_JEMALLOC_SITES + (site + i) % maker->n_sites;

        /* at least one for every call site, and more for some */

        share = n;

        if (i < k - 1) {
            share = 1 + (n - (k - i)) / (k - i);
            share = 1 + jpp_make_random(maker, 2 * share - 1);

            if (share > n - (k - 1 - i)) {
                share = n - (k - 1 - i);
            }
        }

        n -= share;

        jpp_make_branch(maker, level + 1, share);
    }
}


/*
 * So many that N stacks are apart from each other when the split level is
 * reached: the logarithm of the fan-out is, on average, the levels' share of
 * the logarithm of N.
 */

static uint32_t
jpp_make_fan_out(jpp_maker_t *maker, uint32_t level, uint32_t n)
{
    double    share;
    uint32_t  k;

    k = n;

    if (level + 1 < maker->split) {
        share = log(n) / (maker->split - level);
        share *= jpp_make_random(maker, 2001) / 1000.0;

        k = (uint32_t) (exp(share) + jpp_make_random(maker, 1000) / 1000.0);
    }

    k = k > n ? n : k;

    return k > maker->n_sites ? maker->n_sites : k;
}


/*
 * A call site leads to one function, mostly.  Some functions are called from
 * many places: the number is the product of two, so that small ones are more
 * frequent.
 */

static uint32_t
jpp_make_callee(jpp_maker_t *maker, uint32_t site)
{
    uint64_t  call, function;

    call = site * 64ULL;

    if (jpp_make_random(maker, 10) == 0) {
        call += jpp_make_random(maker, 8);
    }

    call = jpp_make_mix(call + maker->options.seed);

    function = (call >> 32) * (call & 0xffffffff) >> 32;
    function = function * (maker->n_sites / JPP_FUNCTION_SITES + 1) >> 32;

    return (uint32_t) function * JPP_FUNCTION_SITES
           + jpp_make_random(maker, JPP_FUNCTION_SITES);
}


/*
 * The rest of the way of the stack whose first LEVEL frames are set: wherever
 * it leads, and in the end one of the program's own ways to its allocator.
 */

static void
jpp_make_stack(jpp_maker_t *maker, uint32_t level)
{
    uint32_t  site, depth, spread, wrapper, left;

    spread = maker->options.depth / 4;

    depth = maker->options.depth - spread
            + jpp_make_random(maker, spread + 1)
            + jpp_make_random(maker, spread + 1) - JPP_JEMALLOC_FRAMES;

    /* some of them are much more usual than others */

    wrapper = 1 + jpp_make_random(maker, 2 + maker->n_sites / 64);
    wrapper = jpp_make_random(maker, wrapper);

    for ( /* void */ ; level < depth; level++) {
        left = depth - level;

        site = left > JPP_WRAPPER
               ? jpp_make_callee(maker, maker->path[level - 1])
               : (uint32_t) jpp_make_mix(wrapper * JPP_WRAPPER + left);

        maker->path[level] = JPP_JEMALLOC_SITES + site % maker->n_sites;
    }

    jpp_make_frames(maker, level);
}


/* The stack of the first LEVEL frames of the path, with jemalloc's. */

static void
jpp_make_frames(jpp_maker_t *maker, uint32_t level)
{
    uint32_t     i, way, leaf, *frames;
    jpp_made_t  *made;

    leaf = maker->path[level - 1];

    /* malloc, calloc, realloc, aligned: three or four frames */

    way = (uint32_t) jpp_make_mix(leaf) % 4;

    made = jpp_make_push(maker, maker->made, sizeof(jpp_made_t));
    frames = jpp_make_push(maker, maker->frames,
                           (level + JPP_JEMALLOC_FRAMES - (way == 0))
                           * sizeof(uint32_t));

    if (made == NULL || frames == NULL) {
        return;
    }

    made->n = level + JPP_JEMALLOC_FRAMES - (way == 0);
    made->frames = (uint32_t) (frames
                               - jpp_vec_items(maker->frames, uint32_t));

    *frames++ = 0;
    *frames++ = 1 + way / 2;

    if (way != 0) {
        *frames++ = 4 + way;
    }

    *frames++ = 8 + way;

    for (i = level; i > 0; i--) {
        *frames++ = maker->path[i - 1];
    }

    jpp_make_counts(maker, made, leaf);
}


/*
 * A call site mostly allocates one size: one of jemalloc's classes, of which
 * there are four to each power of two.
 */

static void
jpp_make_counts(jpp_maker_t *maker, jpp_made_t *made, uint32_t leaf)
{
    uint64_t  h;

    h = jpp_make_mix(leaf + 77);

    if (jpp_make_random(maker, 4) == 0) {
        h += jpp_make_random(maker, 8);
    }

    made->size = (uint32_t) (5 + (h & 3)) << (2 + (h >> 2) % 13);
    made->objects = 1;

    if (jpp_make_random(maker, 2) == 0) {
        made->objects += jpp_make_random(maker,
                                         2u << jpp_make_random(maker, 9));
    }

    if (maker->options.has_accum) {
        made->accum = made->objects * (1 + jpp_make_random(maker, 500));

        if (jpp_make_random(maker, 3) == 0) {
            made->objects = 0;
        }
    }
}


/*
 * The generator, and its command line:
 *
 *     jpp_generate -n 100000 -d 28 -o big.heap
 *
 * jpp_bench.c includes this file as a part of itself and has its own main().
 */


/* qsort_r() */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jpp_generate.h"


#define JPP_PAGE_SIZE       4096
#define JPP_MEGABYTE        (1024 * 1024)

/* more than JPP_GENERATE_DEPTH_MAX and a quarter */
#define JPP_PATH_MAX        256

/* addresses in jemalloc, and the frames of it that lead a stack */
#define JPP_JEMALLOC_SITES  16
#define JPP_JEMALLOC_FRAMES 4

#define JPP_ROOT_SITES      8

/* call sites of a function */
#define JPP_FUNCTION_SITES  8

/* frames of a way to the allocator */
#define JPP_WRAPPER         3

/* " 0x" and 16 digits */
#define JPP_ADDRESS_TEXT    19


typedef struct {
    char        path[64];
    uint64_t    start;          /* of the first of its mappings */
    uint64_t    text;           /* bytes that are executable */
    uint32_t    inode;
    bool        is_jemalloc;
} jpp_lib_t;


/* an address as the dump writes it, and how many there are before it */
typedef struct {
    uint64_t    address;
    uint32_t    len;
    char        text[JPP_ADDRESS_TEXT + 1];
} jpp_site_t;


typedef struct {
    uint32_t    frames;         /* where they begin */
    uint32_t    n;
    uint32_t    objects;
    uint32_t    accum;          /* objects ever allocated */
    uint32_t    size;           /* of one object */
} jpp_made_t;


typedef struct {
    jpp_generate_t          options;
    jpp_sink_t             *sink;
    jpp_arena_t             arena;
    uint64_t                random;
    bool                    failed;

    jpp_vec_t              *libs;       /* jpp_lib_t, by address */
    jpp_vec_t              *sites;      /* jpp_site_t, see jpp_make_sites() */
    uint32_t                n_sites;
    uint32_t                split;      /* no two stacks share more frames */

    uint32_t                path[JPP_PATH_MAX];   /* sites, outermost first */
    jpp_vec_t              *frames;     /* uint32_t, leaf first */
    jpp_vec_t              *made;       /* jpp_made_t */
} jpp_maker_t;


static bool jpp_make(jpp_maker_t *maker);
static void jpp_make_libs(jpp_maker_t *maker);
static void jpp_make_lib(jpp_maker_t *maker, const char *path,
    uint64_t *address, uint64_t text);
static void jpp_make_sites(jpp_maker_t *maker);
static void jpp_make_site(jpp_maker_t *maker, uint64_t address);
static void jpp_make_tree(jpp_maker_t *maker);
static void jpp_make_branch(jpp_maker_t *maker, uint32_t level, uint32_t n);
static uint32_t jpp_make_fan_out(jpp_maker_t *maker, uint32_t level,
    uint32_t n);
static uint32_t jpp_make_callee(jpp_maker_t *maker, uint32_t site);
static void jpp_make_stack(jpp_maker_t *maker, uint32_t level);
static void jpp_make_frames(jpp_maker_t *maker, uint32_t level);
static void jpp_make_counts(jpp_maker_t *maker, jpp_made_t *made,
    uint32_t leaf);
static void jpp_make_order(jpp_maker_t *maker);
static int jpp_make_cmp_address(const void *a, const void *b);
static int jpp_make_cmp_stack(const void *a, const void *b, void *ctx);
static void jpp_write_header(jpp_maker_t *maker);
static void jpp_write_stack(jpp_maker_t *maker, const jpp_made_t *made);
static void jpp_write_counts(jpp_maker_t *maker, uint64_t objects,
    uint64_t bytes, uint64_t accum, uint64_t accum_bytes);
static void jpp_write_maps(jpp_maker_t *maker);
static void jpp_write_lib(jpp_maker_t *maker, const jpp_lib_t *lib);
static void jpp_write_map(jpp_maker_t *maker, uint64_t start, uint64_t size,
    const char *perms, uint64_t offset, uint32_t inode, const char *path);
static void *jpp_make_push(jpp_maker_t *maker, jpp_vec_t *vec, size_t size);
static uint64_t jpp_make_mix(uint64_t x);
static uint32_t jpp_make_random(jpp_maker_t *maker, uint32_t n);


/* the program and its libraries, in the order of their addresses */

static const struct {
    const char  *path;
    uint32_t     text;          /* KiB */
} jpp_lib_names[] = {
    { "/srv/bench/bin/server",               4096 },
    { "/srv/bench/lib/libstdc++.so.6.0.30",  1028 },
    { "/srv/bench/lib/libm.so.6",            464 },
    { "/srv/bench/lib/libc.so.6",            1368 },
    { "/srv/bench/lib/libcrypto.so.3",       2548 },
    { "/srv/bench/lib/libssl.so.3",          372 },
    { "/srv/bench/lib/libjemalloc.so.2",     664 },
    { "/srv/bench/lib/libgcc_s.so.1",        92 },
    { "/srv/bench/lib/libz.so.1.2.13",       76 },
    { "/srv/bench/lib/libpcre2-8.so.0.11.2", 428 },
    { "/srv/bench/lib/ld-linux-x86-64.so.2", 152 },
};

#define JPP_N_LIBS  (sizeof(jpp_lib_names) / sizeof(jpp_lib_names[0]))


void
jpp_generate_init(jpp_generate_t *options)
{
    memset(options, 0, sizeof(jpp_generate_t));

    options->seed = 1;
    options->stacks = 10000;
    options->depth = 28;
    options->threads = 4;
    options->mappings = 100;
    options->period = 524288;
}


bool
jpp_generate(const jpp_generate_t *options, jpp_sink_t *sink)
{
    bool         made;
    jpp_maker_t  maker;

    memset(&maker, 0, sizeof(jpp_maker_t));

    maker.options = *options;
    maker.sink = sink;
    maker.random = options->seed;

    if (options->addresses == 0) {

        /* 800 at 388 stacks of a real nginx, 60,000 at a million */

        maker.options.addresses =
                              (uint32_t) (30 * pow(options->stacks, 0.55));
    }

    jpp_arena_init(&maker.arena, (size_t) 8 << 30);

    made = jpp_make(&maker);

    jpp_arena_destroy(&maker.arena);

    return made;
}


static bool
jpp_make(jpp_maker_t *maker)
{
    size_t       i;
    jpp_made_t  *made;

    maker->libs = jpp_vec_create(&maker->arena);
    maker->sites = jpp_vec_create(&maker->arena);
    maker->frames = jpp_vec_create(&maker->arena);
    maker->made = jpp_vec_create(&maker->arena);

    if (maker->made == NULL) {
        return false;
    }

    jpp_make_libs(maker);
    jpp_make_sites(maker);
    jpp_make_tree(maker);

    if (maker->failed) {
        return false;
    }

    if (!maker->options.is_unsorted) {
        jpp_make_order(maker);
    }

    jpp_write_header(maker);

    made = jpp_vec_items(maker->made, jpp_made_t);

    for (i = 0; i < maker->options.stacks; i++) {
        jpp_write_stack(maker, &made[i]);
    }

    jpp_sink_str(maker->sink, "\nMAPPED_LIBRARIES:\n");
    jpp_write_maps(maker);

    return !maker->failed;
}


/*
 * Half of the lines that are asked for beyond the usual ones are libraries,
 * five lines each; the others are anonymous, see jpp_write_maps().
 */

static void
jpp_make_libs(jpp_maker_t *maker)
{
    char      path[64];
    size_t    i;
    uint64_t  address, text;
    uint32_t  n, n_plugins;

    address = maker->options.is_non_pie ? 0x400000 : 0x55d5c0a00000;

    /* the program grows with the number of its call sites */

    text = (uint64_t) jpp_lib_names[0].text * 1024;
    text += (uint64_t) maker->options.addresses * 32;

    jpp_make_lib(maker, jpp_lib_names[0].path, &address, text);

    address = 0x7f33d9800000;

    n = 10 + 5 * JPP_N_LIBS;
    n_plugins = maker->options.mappings > n
                ? (maker->options.mappings - n) / 10 : 0;

    for (n = 0; n < n_plugins; n++) {
        (void) snprintf(path, sizeof(path), "/srv/bench/plugins/mod_%05u.so",
                        n);
        jpp_make_lib(maker, path, &address, 64 * 1024);
    }

    for (i = 1; i < JPP_N_LIBS; i++) {
        jpp_make_lib(maker, jpp_lib_names[i].path, &address,
                     (uint64_t) jpp_lib_names[i].text * 1024);
    }
}


static void
jpp_make_lib(jpp_maker_t *maker, const char *path, uint64_t *address,
    uint64_t text)
{
    jpp_lib_t  *lib;

    lib = jpp_make_push(maker, maker->libs, sizeof(jpp_lib_t));
    if (lib == NULL) {
        return;
    }

    (void) snprintf(lib->path, sizeof(lib->path), "%s", path);

    lib->start = *address;
    lib->text = (text + JPP_PAGE_SIZE - 1) / JPP_PAGE_SIZE * JPP_PAGE_SIZE;
    lib->inode = 332383 + jpp_make_random(maker, 1000);
    lib->is_jemalloc = strstr(path, "libjemalloc") != NULL;

    /* what is not executable takes less than the code and ten pages */

    *address += 2 * lib->text + JPP_PAGE_SIZE * (16 + jpp_make_random(maker,
                                                                      64));
}


/*
 * First JPP_JEMALLOC_SITES of jemalloc, then the program's, spread over all
 * code; the roots of the stacks are the first of these.
 */

static void
jpp_make_sites(jpp_maker_t *maker)
{
    size_t      i, k, n, n_libs;
    uint64_t    all, step, text;
    jpp_lib_t  *libs;

    libs = jpp_vec_items(maker->libs, jpp_lib_t);
    n_libs = jpp_vec_count(maker->libs, jpp_lib_t);
    all = 0;

    for (i = 0; i < n_libs; i++) {

        if (!libs[i].is_jemalloc) {
            all += libs[i].text;
            continue;
        }

        for (k = 0; k < JPP_JEMALLOC_SITES; k++) {
            jpp_make_site(maker, libs[i].start + libs[i].text / 4 + k * 2741);
        }
    }

    for (i = 0; i < n_libs; i++) {

        if (libs[i].is_jemalloc) {
            continue;
        }

        text = libs[i].text;
        n = (size_t) (text * maker->options.addresses / all) + 1;
        step = text / n;

        for (k = 0; k < n; k++) {
            jpp_make_site(maker, libs[i].start + text / 4 / JPP_PAGE_SIZE
                                                 * JPP_PAGE_SIZE
                                 + k * step + 1
                                 + jpp_make_random(maker,
                                                   (uint32_t) step - 1));
        }
    }

    maker->n_sites = (uint32_t) jpp_vec_count(maker->sites, jpp_site_t)
                     - JPP_JEMALLOC_SITES;
}


static void
jpp_make_site(jpp_maker_t *maker, uint64_t address)
{
    jpp_site_t  *site;

    site = jpp_make_push(maker, maker->sites, sizeof(jpp_site_t));
    if (site == NULL) {
        return;
    }

    site->address = address;
    site->len = (uint32_t) snprintf(site->text, sizeof(site->text),
                                    " 0x%llx", (unsigned long long) address);
}


/* Two thirds of the stacks begin in main(), the others in a thread. */

static void
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


/*
 * The sites' numbers become their ranks, so that numbers compare as the bytes
 * of the addresses do.
 */

static void
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


/* The totals of the header need not be right, and are not in real dumps. */

static void
jpp_write_header(jpp_maker_t *maker)
{
    uint32_t           i, n;
    uint64_t           objects, bytes, accum, accum_bytes;
    const jpp_made_t  *made;

    made = jpp_vec_items(maker->made, jpp_made_t);
    objects = bytes = accum = accum_bytes = 0;

    for (i = 0; i < maker->options.stacks; i++) {
        objects += made[i].objects;
        bytes += (uint64_t) made[i].objects * made[i].size;
        accum += made[i].accum;
        accum_bytes += (uint64_t) made[i].accum * made[i].size;
    }

    jpp_sink_printf(maker->sink, "heap_v2/%u\n  t*: ",
                    maker->options.period);
    jpp_write_counts(maker, objects, bytes, accum, accum_bytes);

    n = maker->options.threads;

    for (i = 0; i < n; i++) {
        jpp_sink_printf(maker->sink, "  t%u: ", i);
        jpp_write_counts(maker, objects / n, bytes / n, accum / n,
                         accum_bytes / n);
    }
}


static void
jpp_write_stack(jpp_maker_t *maker, const jpp_made_t *made)
{
    uint8_t         *p;
    uint32_t         i, n, objects, accum, one, accum_one, uid;
    jpp_site_t      *sites, *site;
    const uint32_t  *frames;

    sites = jpp_vec_items(maker->sites, jpp_site_t);
    frames = &jpp_vec_items(maker->frames, uint32_t)[made->frames];

    p = jpp_sink_reserve(maker->sink, 2 + made->n * (JPP_ADDRESS_TEXT + 1));
    if (p == NULL) {
        return;
    }

    *p++ = '@';

    for (i = 0; i < made->n; i++) {
        site = &sites[frames[i]];
        memcpy(p, site->text, sizeof(site->text));
        p += site->len;
    }

    *p++ = '\n';
    maker->sink->pos = p;

    objects = made->objects;
    accum = made->accum;

    jpp_sink_str(maker->sink, "  t*: ");
    jpp_write_counts(maker, objects, (uint64_t) objects * made->size,
                     accum, (uint64_t) accum * made->size);

    uid = jpp_make_random(maker, maker->options.threads);
    n = 1 + jpp_make_random(maker, maker->options.threads);

    /* every thread has something of it */

    for (i = 0; i < n && (objects | accum) != 0; i++, uid++) {

        one = i == n - 1 ? objects : (objects + 1) / 2;
        accum_one = i == n - 1 ? accum : (accum + 1) / 2;

        objects -= one;
        accum -= accum_one;

        jpp_sink_write(maker->sink, "  t", 3);
        jpp_sink_u64(maker->sink, uid % maker->options.threads);
        jpp_sink_write(maker->sink, ": ", 2);
        jpp_write_counts(maker, one, (uint64_t) one * made->size,
                         accum_one, (uint64_t) accum_one * made->size);
    }
}


static void
jpp_write_counts(jpp_maker_t *maker, uint64_t objects, uint64_t bytes,
    uint64_t accum, uint64_t accum_bytes)
{
    jpp_sink_u64(maker->sink, objects);
    jpp_sink_write(maker->sink, ": ", 2);
    jpp_sink_u64(maker->sink, bytes);
    jpp_sink_write(maker->sink, " [", 2);
    jpp_sink_u64(maker->sink, accum);
    jpp_sink_write(maker->sink, ": ", 2);
    jpp_sink_u64(maker->sink, accum_bytes);
    jpp_sink_write(maker->sink, "]\n", 2);
}


static void
jpp_write_maps(jpp_maker_t *maker)
{
    size_t            i, n, n_lines;
    uint64_t          address;
    const jpp_lib_t  *libs;

    libs = jpp_vec_items(maker->libs, jpp_lib_t);
    n = jpp_vec_count(maker->libs, jpp_lib_t);

    jpp_write_lib(maker, &libs[0]);

    /* the allocator's regions, and the stacks of threads with a guard page */

    address = 0x7d0000000000;

    for (n_lines = 5 * n + 7; n_lines < maker->options.mappings;
         n_lines += 2)
    {
        jpp_write_map(maker, address, JPP_PAGE_SIZE, "---p", 0, 0, "");
        jpp_write_map(maker, address + JPP_PAGE_SIZE, 8 * JPP_MEGABYTE, "rw-p",
                      0, 0, "");
        address += 8 * JPP_MEGABYTE + JPP_PAGE_SIZE
                   * (1 + jpp_make_random(maker, 512));
    }

    address = 0x7f33d7600000;

    jpp_write_map(maker, address, 6 * JPP_MEGABYTE, "rw-p", 0, 0, "");
    jpp_write_map(maker, address + 7 * JPP_MEGABYTE, 5 * JPP_MEGABYTE, "rw-p",
                  0, 0, "");

    for (i = 1; i < n; i++) {
        jpp_write_lib(maker, &libs[i]);
    }

    address = 0x7ffd0d559000;

    jpp_write_map(maker, address, 132 * 1024, "rw-p", 0, 0, "[stack]");
    address += JPP_MEGABYTE;
    jpp_write_map(maker, address, 4 * JPP_PAGE_SIZE, "r--p", 0, 0, "[vvar]");
    address += 4 * JPP_PAGE_SIZE;
    jpp_write_map(maker, address, 2 * JPP_PAGE_SIZE, "r-xp", 0, 0, "[vdso]");

    jpp_write_map(maker, 0xffffffffff600000, JPP_PAGE_SIZE, "--xp", 0, 0,
                  "[vsyscall]");
}


/* headers, code, constants, relocated constants, data */

static void
jpp_write_lib(jpp_maker_t *maker, const jpp_lib_t *lib)
{
    uint64_t  at, code;

    code = lib->text / 4 / JPP_PAGE_SIZE * JPP_PAGE_SIZE;
    at = lib->start;

    if (code != 0) {
        jpp_write_map(maker, at, code, "r--p", 0, lib->inode, lib->path);
    }

    at += code;
    jpp_write_map(maker, at, lib->text, "r-xp", code, lib->inode, lib->path);

    at += lib->text;
    jpp_write_map(maker, at, 4 * JPP_PAGE_SIZE, "r--p", at - lib->start,
                  lib->inode, lib->path);

    at += 4 * JPP_PAGE_SIZE;
    jpp_write_map(maker, at, 2 * JPP_PAGE_SIZE, "r--p", at - lib->start,
                  lib->inode, lib->path);

    at += 2 * JPP_PAGE_SIZE;
    jpp_write_map(maker, at, JPP_PAGE_SIZE, "rw-p", at - lib->start,
                  lib->inode, lib->path);
}


static void
jpp_write_map(jpp_maker_t *maker, uint64_t start, uint64_t size,
    const char *perms, uint64_t offset, uint32_t inode, const char *path)
{
    int   len;
    char  line[256];

    /* the kernel pads the path to column 73 */

    len = snprintf(line, sizeof(line), "%08llx-%08llx %s %08llx %s %u ",
                   (unsigned long long) start,
                   (unsigned long long) (start + size), perms,
                   (unsigned long long) offset, inode ? "fe:00" : "00:00",
                   inode);

    if (path[0] != '\0') {
        len += snprintf(line + len, sizeof(line) - (size_t) len, "%*s%s",
                        len < 73 ? 73 - len : 0, "", path);
    }

    line[len++] = '\n';

    jpp_sink_write(maker->sink, line, (size_t) len);
}


static void *
jpp_make_push(jpp_maker_t *maker, jpp_vec_t *vec, size_t size)
{
    void  *p;

    p = jpp_vec_push(vec, size);

    if (p == NULL) {
        maker->failed = true;
    }

    return p;
}


/* splitmix64 */

static uint64_t
jpp_make_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ x >> 27) * 0x94d049bb133111ebULL;

    return x ^ x >> 31;
}


/* 0 to N - 1 */

static uint32_t
jpp_make_random(jpp_maker_t *maker, uint32_t n)
{
    maker->random += 0x9e3779b97f4a7c15ULL;

    return (uint32_t) ((jpp_make_mix(maker->random) >> 32) * n >> 32);
}


#ifndef JPP_GENERATE_AS_PART


static bool jpp_generate_options(jpp_generate_t *options, const char **file,
    int argc, char **argv);
static int jpp_generate_to_file(void *ctx, const uint8_t *data, size_t len);


static const char  jpp_generate_usage[] =
    "usage: jpp_generate [options] > dump\n"
    "  -n stacks     100 to 4000000 (10000)\n"
    "  -d depth      mean frames of a stack, 8 to 100 (28)\n"
    "  -a addresses  distinct ones (grows with the stacks)\n"
    "  -t threads    thread lines of a stack are 1 to so many (4)\n"
    "  -m mappings   lines of the maps section, at least (100)\n"
    "  -p period     of the sampling (524288)\n"
    "  -s seed       another seed makes another dump (1)\n"
    "  -A            as with prof_accum:true\n"
    "  -x            a program that is not position independent\n"
    "  -u            stacks not in jemalloc's order\n"
    "  -o file       instead of standard output\n";


int
main(int argc, char **argv)
{
    FILE            *out;
    const char      *file;
    jpp_sink_t       sink;
    jpp_generate_t   options;

    static uint8_t  buffer[JPP_SINK_BUFFER];

    file = NULL;
    out = stdout;

    jpp_generate_init(&options);

    if (!jpp_generate_options(&options, &file, argc, argv)) {
        (void) fputs(jpp_generate_usage, stderr);
        return 2;
    }

    if (file != NULL) {
        out = fopen(file, "w");
    }

    if (out == NULL) {
        perror(file);
        return 1;
    }

    jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_generate_to_file, out);

    if (!jpp_generate(&options, &sink)) {
        (void) fputs("jpp_generate: no memory\n", stderr);
        return 1;
    }

    if (jpp_sink_flush(&sink) != 0 || fclose(out) != 0) {
        (void) fputs("jpp_generate: the dump cannot be written\n", stderr);
        return 1;
    }

    return 0;
}


static bool
jpp_generate_options(jpp_generate_t *options, const char **file, int argc,
    char **argv)
{
    int       c;
    char     *end;
    size_t    i;
    uint64_t  n;

    const struct {
        char       key;
        uint32_t   min;
        uint32_t   max;
        uint32_t  *value;
    } numbers[] = {
        { 'n', JPP_GENERATE_STACKS_MIN, JPP_GENERATE_STACKS_MAX,
          &options->stacks },
        { 'd', JPP_GENERATE_DEPTH_MIN, JPP_GENERATE_DEPTH_MAX,
          &options->depth },
        { 'a', JPP_GENERATE_ADDRESSES_MIN, JPP_GENERATE_ADDRESSES_MAX,
          &options->addresses },
        { 't', 1, JPP_GENERATE_THREADS_MAX, &options->threads },
        { 'm', 0, JPP_GENERATE_MAPPINGS_MAX, &options->mappings },
        { 'p', 1, UINT32_MAX, &options->period },
        { 's', 0, UINT32_MAX, &options->seed }
    };

    while ((c = getopt(argc, argv, "n:d:a:t:m:p:s:o:Axu")) != -1) {

        options->has_accum |= (c == 'A');
        options->is_non_pie |= (c == 'x');
        options->is_unsorted |= (c == 'u');

        if (c == '?') {
            return false;
        }

        if (c == 'o') {
            *file = optarg;
        }

        for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {

            if (c != numbers[i].key) {
                continue;
            }

            n = strtoull(optarg, &end, 10);

            if (end == optarg || *end != '\0' || n < numbers[i].min
                || n > numbers[i].max)
            {
                return false;
            }

            *numbers[i].value = (uint32_t) n;
        }
    }

    return optind == argc;
}


static int
jpp_generate_to_file(void *ctx, const uint8_t *data, size_t len)
{
    return fwrite(data, 1, len, ctx) == len ? 0 : EIO;
}


#endif

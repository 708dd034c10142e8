
/*
 * What the sampler keeps, without a sampler: the draws, the table of what is
 * live, and the sites.
 */


#include "jpp_test.h"

#include <math.h>

#include "jpp_samples.h"


#define JPP_DRAWS     200000
#define JPP_THREADS   4
#define JPP_ROUNDS    200000
#define JPP_HELD      512


static jpp_live_t   jpp_live;
static jpp_sites_t  jpp_sites;


static void *
jpp_pages(size_t size)
{
    void  *p;

    p = mmap(NULL, size, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1,
             0);

    return p != MAP_FAILED ? p : NULL;
}


/*
 * Of an exponential distribution the mean is its standard deviation, and the
 * share below x * mean is 1 - exp(-x).  A draw below m is one that an object of
 * m bytes is sampled by.
 */

static void
jpp_test_draw(uint32_t lg)
{
    int       i, j;
    double    mean, sum, worst, share;
    int64_t   draw, lowest;
    uint64_t  state;
    unsigned  below[4];

    static const double  points[4] = { 0.01, 0.1, 1, 4 };

    state = lg;
    mean = (double) ((uint64_t) 1 << lg);
    sum = 0;
    lowest = 0;
    memset(below, 0, sizeof(below));

    for (i = 0; i < JPP_DRAWS; i++) {
        draw = jpp_draw(&state, lg);
        sum += (double) draw;
        lowest = draw < lowest ? draw : lowest;

        for (j = 0; j < 4; j++) {
            below[j] += (double) draw < ceil(points[j] * mean);
        }
    }

    worst = 0;

    for (j = 0; j < 4; j++) {
        share = -expm1(-ceil(points[j] * mean) / mean);
        worst = fmax(worst, fabs((double) below[j] / JPP_DRAWS - share)
                            / sqrt(share * (1 - share) / JPP_DRAWS));
    }

    /* integers are half a byte below what they stand for */

    sum = (sum / JPP_DRAWS + 0.5) / mean - 1;

    jpp_ok(fabs(sum) < 3 / sqrt(JPP_DRAWS) && worst < 3.5 && lowest == 0,
           "draws at lg %u: the mean is off by %.4f, shares by %.1f standard "
           "errors", lg, sum, worst);
}


JPP_TEST(jpp_test_live)
{
    uint32_t  place;
    uint64_t  object;

    jpp_live_init(&jpp_live, jpp_pages(JPP_LIVE_MEMORY));

    jpp_ok(!jpp_live_may_have(&jpp_live, 0x1000), "an empty table has nothing");
    jpp_ok(!jpp_live_take(&jpp_live, 0, &object)
           && !jpp_live_take(&jpp_live, 1, &object),
           "what marks a place is no address");

    jpp_ok(jpp_live_add(&jpp_live, 0x1000, jpp_live_object(7, 100)), "add");
    jpp_ok(jpp_live_may_have(&jpp_live, 0x1000), "it may be there");
    jpp_ok(!jpp_live_take(&jpp_live, 0x1010, &object), "another is not");
    jpp_ok(jpp_live_take(&jpp_live, 0x1000, &object), "take");
    jpp_ok(jpp_live_site(object) == 7 && jpp_live_size(object) == 100,
           "its site, and its size");
    jpp_ok(!jpp_live_may_have(&jpp_live, 0x1000)
           && !jpp_live_take(&jpp_live, 0x1000, &object), "it is gone");

    place = jpp_live_add(&jpp_live, 0x2000, jpp_live_object(1, 10));
    jpp_ok(place != 0
           && jpp_live_add(&jpp_live, 0x2000, jpp_live_object(2, 20)) == place,
           "again, in the same place");
    jpp_is_i64(jpp_live.n, 1, "one that was freed unseen is replaced");
    jpp_ok(jpp_live_take(&jpp_live, 0x2000, &object)
           && jpp_live_site(object) == 2
           && !jpp_live_may_have(&jpp_live, 0x2000), "by the later one");

    object = jpp_live_object(0xffffff, UINT64_MAX);
    jpp_ok(jpp_live_site(object) == 0xffffff
           && jpp_live_size(object) == JPP_LIVE_SIZE_MAX,
           "the largest site, and a size that is cut");
}


static void
jpp_test_visit(jpp_site_t *site, void *data)
{
    size_t  *n = data;

    (void) site;

    (*n)++;
}


static void
jpp_test_sum(uint64_t object, uint32_t birth, void *data)
{
    uint64_t *sum = data;

    (void) birth;

    sum[0]++;
    sum[1] += jpp_live_size(object);
}


/* STEP: of the addresses.  One of the golden ratio's is the worst for what the
   filter multiplies by. */

static void
jpp_test_full(uintptr_t step)
{
    uint64_t   object, sum[2];
    unsigned   i, added, taken;

    jpp_live_clear(&jpp_live);
    added = 0;
    taken = 0;

    for (i = 0; i < JPP_LIVE_MAX + 100; i++) {
        added += jpp_live_add(&jpp_live, 0x555500000000 + i * step,
                              jpp_live_object(i & 0xffffff, i)) != 0;
    }

    jpp_is_u64(added, JPP_LIVE_MAX, "as many as it takes, in steps of %zu",
               (size_t) step);
    jpp_is_u64(jpp_live.n_dropped, 100, "the others are counted");

    sum[0] = 0;
    sum[1] = 0;
    jpp_live_walk(&jpp_live, jpp_test_sum, sum);
    jpp_ok(sum[0] == JPP_LIVE_MAX
           && sum[1] == (uint64_t) JPP_LIVE_MAX * (JPP_LIVE_MAX - 1) / 2,
           "a walk finds each once");

    for (i = 0; i < JPP_LIVE_MAX; i++) {
        taken += jpp_live_take(&jpp_live, 0x555500000000 + i * step, &object)
                 && jpp_live_size(object) == i;
    }

    jpp_is_u64(taken, JPP_LIVE_MAX, "each is found");
    jpp_is_i64(jpp_live.n, 0, "the table is empty");
    jpp_ok(jpp_live_bytes(&jpp_live) <= sizeof(jpp_live) + JPP_LIVE_MEMORY,
           "its memory is bounded");

    for (i = 0, taken = 0; i < 1 << 16; i++) {
        taken += jpp_live.filter[i] != 0;
    }

    jpp_is_u64(taken, 0, "so is the filter");
}


/* None has 192 objects of a hash; then it only becomes less sharp. */

JPP_TEST(jpp_test_saturated)
{
    uint64_t   object, hash;
    unsigned   i, n, taken;
    uintptr_t  address;

    static uintptr_t  same[300];

    jpp_live_clear(&jpp_live);
    hash = jpp_live_hash(0x1000) >> 48;

    for (n = 0, address = 0x1000; n < 300; address += 16) {
        if (jpp_live_hash(address) >> 48 == hash) {
            same[n++] = address;
        }
    }

    for (i = 0; i < n; i++) {
        jpp_live_add(&jpp_live, same[i], jpp_live_object(1, i));
    }

    for (i = 0, taken = 0; i < n; i++) {
        taken += jpp_live_may_have(&jpp_live, same[i])
                 && jpp_live_take(&jpp_live, same[i], &object);
    }

    jpp_is_u64(taken, n, "300 addresses of a hash are all found");
    jpp_is_u64(jpp_live.filter[hash], 192, "of which the filter lost count");

    jpp_live_clear(&jpp_live);
    jpp_ok(!jpp_live_may_have(&jpp_live, same[0]), "until it is cleared");
}


/* Each has addresses of its own, as threads do. */

static void *
jpp_test_thread(void *data)
{
    uintptr_t  base = (uintptr_t) data;

    long       wrong;
    uint64_t   object, random;
    unsigned   i, k;

    uintptr_t  held[JPP_HELD] = { 0 };

    random = base;
    wrong = 0;

    for (i = 0; i < JPP_ROUNDS; i++) {
        k = (unsigned) jpp_draw(&random, 20) % JPP_HELD;

        if (held[k] != 0) {
            wrong += !jpp_live_take(&jpp_live, base + k * 64, &object)
                     || jpp_live_size(object) != held[k];
            held[k] = 0;

        } else {
            held[k] = i + 1;
            wrong += !jpp_live_add(&jpp_live, base + k * 64,
                                   jpp_live_object(1, held[k]));
        }
    }

    for (k = 0; k < JPP_HELD; k++) {
        if (held[k] != 0) {
            wrong += !jpp_live_take(&jpp_live, base + k * 64, &object);
        }
    }

    return (void *) wrong;
}


JPP_TEST(jpp_test_threads)
{
    int         i;
    long        wrong;
    void       *result;
    uint64_t    sum[2];
    pthread_t   threads[JPP_THREADS];

    wrong = 0;

    for (i = 0; i < JPP_THREADS; i++) {
        pthread_create(&threads[i], NULL, jpp_test_thread,
                       (void *) ((uintptr_t) (i + 1) << 40));
    }

    for (i = 0; i < 20; i++) {
        jpp_live_walk(&jpp_live, jpp_test_sum, sum);
    }

    for (i = 0; i < JPP_THREADS; i++) {
        pthread_join(threads[i], &result);
        wrong += (long) result;
    }

    jpp_is_i64(wrong, 0, "%d threads find what each has added", JPP_THREADS);
    jpp_is_i64(jpp_live.n, 0, "and leave nothing");
}


JPP_TEST(jpp_test_classes)
{
    double    ratio;
    uint16_t  last;
    uint64_t  size, first;

    last = 0;
    first = 1;
    ratio = 1;

    for (size = 1; size < 1 << 20; size++) {
        if (jpp_sites_class(size) != last) {
            last = jpp_sites_class(size);
            first = size;
        }

        ratio = fmax(ratio, (double) size / (double) first);
    }

    jpp_ok(ratio <= 1.25, "sizes of a class differ by %.3f", ratio);
    jpp_is_u64(jpp_sites_class(UINT64_MAX), jpp_sites_class(1 << 29),
               "large ones are one class");
    jpp_ok(jpp_sites_class(0) != jpp_sites_class(1), "none, and one byte");
}


/* The site of an object of SIZE bytes for OWNER. */

static uint32_t
jpp_add(const uintptr_t *pcs, uint32_t n, uint64_t size, uint16_t owner)
{
    jpp_site_key_t  key;

    key.kind = jpp_sites_class(size);
    key.owner = owner;

    return jpp_sites_add(&jpp_sites, pcs, n, &key);
}


JPP_TEST(jpp_test_sites)
{
    uint32_t    one, site;
    uint64_t    i;
    jpp_site_t *at;
    uintptr_t   pcs[200];

    for (i = 0; i < 200; i++) {
        pcs[i] = 0x7f0000000000 + i * 4096;
    }

    jpp_sites_init(&jpp_sites, jpp_pages(JPP_SITES_MEMORY), JPP_SITES_WORDS);

    one = jpp_add(pcs, 20, 100, 0);
    jpp_ok(one != 0, "a site");
    jpp_is_u64(jpp_add(pcs, 20, 101, 0), one, "the same");
    jpp_ok(jpp_add(pcs, 20, 200, 0) != one, "another size");
    jpp_ok(jpp_add(pcs, 19, 100, 0) != one, "a shorter stack");

    jpp_ok(jpp_add(pcs, 20, 100, 7) != one
           && jpp_add(pcs, 20, 100, 7) == jpp_add(pcs, 20, 100, 7),
           "another owner");

    pcs[19]++;
    jpp_ok(jpp_add(pcs, 20, 100, 0) != one, "another stack");
    jpp_is_u64(jpp_sites.n, 5, "five in all");

    i = 0;
    jpp_sites_walk(&jpp_sites, jpp_test_visit, &i);
    jpp_is_u64(i, 5, "each is visited once");

    site = jpp_add(pcs, 200, 100, 0);
    at = jpp_sites_at(&jpp_sites, site);
    jpp_is_u64(at->n, JPP_SITES_DEPTH, "a stack that is too deep is cut");
    jpp_is_u64(at->pcs[JPP_SITES_DEPTH - 1], pcs[JPP_SITES_DEPTH - 1],
               "at its outer end");

    jpp_sites_count(&jpp_sites, site, 1, 100);
    jpp_sites_count(&jpp_sites, site, 1, 104);
    jpp_ok(at->allocated == 2 && at->allocated_bytes == 204, "counts");
    jpp_ok(jpp_sites_uncount(&jpp_sites, site, 104)
           && at->allocated == 1 && at->allocated_bytes == 100,
           "one is taken back");
    jpp_sites_clear(&jpp_sites);
    jpp_ok(!jpp_sites_uncount(&jpp_sites, site, 100), "but none of nothing");
    jpp_ok(at->allocated == 0 && at->allocated_bytes == 0, "until cleared");
    jpp_is_u64(jpp_add(pcs, 200, 100, 0), site, "the site remains");

    for (i = 0; jpp_add(pcs, 100, 1, 7) != 0; i++) {
        pcs[0]++;
    }

    jpp_ok(i > 9000 && jpp_sites.n_dropped == 0,
           "%u of an owner fit in, and no more", (unsigned) i);

    for ( /* void */ ; jpp_add(pcs, 100, 1, 0) != 0; i++) {
        pcs[0]++;
    }

    jpp_ok(i > 13000, "%u stacks of 100 frames fit in", (unsigned) i);
    jpp_is_u64(jpp_sites.n_dropped, 1, "the next is counted as dropped");
    jpp_is_u64(jpp_add(pcs, 200, 100, 0), 0, "and so is any other");
    jpp_ok(jpp_sites_bytes(&jpp_sites)
           <= sizeof(jpp_sites) + JPP_SITES_MEMORY, "memory is bounded");
}


/* A sample of one time on is none of the next: each has a number of its own. */

JPP_TEST(jpp_test_generations)
{
    uint32_t        on, off, site;
    uintptr_t       pc = 0x400201;
    jpp_site_key_t  key = { 0, 0 };

    if (!jpp_samples_prepare()) {
        jpp_ok(true, "no samples on this machine");
        return;
    }

    jpp_samples_start(19, 1);
    on = jpp_samples.generation;

    /* the sites lie behind the pages that a clear gives back */

    site = jpp_sites_add(&jpp_samples.sites, &pc, 1, &key);
    jpp_samples_stop();
    jpp_ok(jpp_sites_add(&jpp_samples.sites, &pc, 1, &key) == site,
           "a site is known after a stop");

    off = jpp_samples.generation;
    jpp_samples_start(19, 1);

    jpp_ok((on & 1) == 1 && off == on + 1, "odd is on");
    jpp_is_u64(jpp_samples.generation, off + 1, "on again");
    jpp_samples_stop();
}


int
main(void)
{
    uint32_t  lg;

    jpp_draw_init();

    for (lg = 8; lg <= JPP_DRAW_LG_MAX; lg += 4) {
        jpp_test_draw(lg);
    }

    jpp_tests_all();
    jpp_test_full(16);
    jpp_test_full(1008);
    jpp_test_full(4096);
    return jpp_done();
}

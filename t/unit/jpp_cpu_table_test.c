
/*
 * What a window sees: which stacks are the same and which are not, what no
 * longer fits, and many threads at once.
 */


#include "jpp_test.h"
#include "jpp_cpu_sampler.h"


#define JPP_TABLE_THREADS  4
#define JPP_TABLE_STACKS   500
#define JPP_TABLE_ROUNDS   200


static jpp_cpu_window_t  *window;


static jpp_cpu_sample_t
jpp_sample(uintptr_t pc, uint32_t n)
{
    uint32_t          i;
    jpp_cpu_sample_t  sample = { 0 };

    sample.count = 1;
    sample.nanos = 10;
    sample.n = n;

    for (i = 0; i < n; i++) {
        sample.pcs[i] = pc + i * 0x10;
    }

    return sample;
}


static void
jpp_empty(void)
{
    memset(window, 0, sizeof(*window));
    jpp_sites_init(&window->sites, window->memory, JPP_CPU_WORDS);
}


/* The site of SAMPLE. */

static const jpp_site_t *
jpp_at(const jpp_cpu_sample_t *sample)
{
    return jpp_sites_at(&window->sites,
                        jpp_sites_add(&window->sites, sample->pcs, sample->n,
                                      &sample->key));
}


typedef struct {
    uint64_t  sum;
    uint64_t  wrong;
} jpp_sum_t;


/* Of all sites. */

static void
jpp_sum(jpp_site_t *site, void *data)
{
    jpp_sum_t *sum = data;

    sum->sum += site->allocated;
    sum->wrong += site->allocated != JPP_TABLE_THREADS * JPP_TABLE_ROUNDS;
}


JPP_TEST(jpp_test_same)
{
    size_t            i;
    jpp_cpu_sample_t  samples[6];

    jpp_empty();

    for (i = 0; i < 6; i++) {
        samples[i] = jpp_sample(0x1000, 3);
    }

    samples[1].pcs[2]++;
    samples[2].n = 2;
    samples[3].key.kind = jpp_cpu_kind(0, JPP_CPU_BLOCKED);
    samples[4].key.kind = jpp_cpu_kind(1, JPP_CPU_RUNS);

    for (i = 0; i < 6; i++) {
        jpp_cpu_window_add(window, &samples[i]);
    }

    samples[5].count = 30;
    samples[5].nanos = 300;
    jpp_cpu_window_add(window, &samples[5]);

    jpp_is_u64(window->sites.n, 5, "frames, depth, state and name tell apart");
    jpp_is_u64(jpp_at(&samples[0])->allocated, 32,
               "what is the same is added up");
    jpp_is_u64(jpp_at(&samples[0])->allocated_bytes, 320, "with its time");
    jpp_is_u64(window->dropped, 0, "nothing was dropped");
}


/* Stacks of N frames until three do not fit; returns how many did. */

static uint32_t
jpp_fill(uint32_t n)
{
    uint32_t          i;
    jpp_cpu_sample_t  sample;

    jpp_empty();

    for (i = 0; window->dropped == 0; i++) {
        sample = jpp_sample(0x100000 + (uintptr_t) i * 0x100000, n);
        jpp_cpu_window_add(window, &sample);
    }

    for (n = 0; n < 2; n++) {
        sample.pcs[0]++;
        jpp_cpu_window_add(window, &sample);
    }

    return i - 1;
}


JPP_TEST(jpp_test_full)
{
    uint32_t          n;
    jpp_cpu_sample_t  sample;

    n = jpp_fill(32);

    jpp_ok(n >= 16000 && window->sites.n == n, "%u stacks fit", n);
    jpp_is_u64(window->dropped, 3, "what is new then is dropped");
    jpp_is_u64(window->dropped_nanos, 30, "with its time");

    sample = jpp_sample(0x100000, 32);
    jpp_cpu_window_add(window, &sample);

    jpp_is_u64(jpp_at(&sample)->allocated, 2, "what is known is not");
}


JPP_TEST(jpp_test_frames)
{
    uint32_t          n;
    jpp_cpu_sample_t  sample;

    n = jpp_fill(JPP_SITES_DEPTH);

    jpp_ok(n >= 5000 && window->sites.n == n, "%u deep stacks fit", n);
    jpp_is_u64(window->dropped, 3, "and no more");

    sample = jpp_sample(0x100000 + (uintptr_t) (n - 2) * 0x100000,
                        JPP_SITES_DEPTH);

    jpp_is_mem(jpp_at(&sample)->pcs, sample.pcs,
               JPP_SITES_DEPTH * sizeof(uintptr_t), "frames as they were");
    jpp_is_u64(window->sites.n, n, "it was there");
}


static void *
jpp_test_thread(void *data)
{
    uint32_t          i, round;
    jpp_cpu_sample_t  sample;

    (void) data;

    for (round = 0; round < JPP_TABLE_ROUNDS; round++) {
        for (i = 0; i < JPP_TABLE_STACKS; i++) {
            sample = jpp_sample(0x100000 + (uintptr_t) i * 0x1000, 5);
            jpp_cpu_window_add(window, &sample);
        }
    }

    return NULL;
}


JPP_TEST(jpp_test_threads)
{
    uint32_t   i;
    jpp_sum_t  sum = { 0, 0 };
    pthread_t  threads[JPP_TABLE_THREADS];

    jpp_empty();

    for (i = 0; i < JPP_TABLE_THREADS; i++) {
        (void) pthread_create(&threads[i], NULL, jpp_test_thread, NULL);
    }

    for (i = 0; i < JPP_TABLE_THREADS; i++) {
        (void) pthread_join(threads[i], NULL);
    }

    jpp_sites_walk(&window->sites, jpp_sum, &sum);

    jpp_is_u64(sum.sum, JPP_TABLE_THREADS * JPP_TABLE_ROUNDS
                        * JPP_TABLE_STACKS, "no sample is lost");
    jpp_is_u64(sum.wrong, 0, "and no stack has two sites");
    jpp_is_u64(window->dropped, 0, "nor is one dropped");
}


int
main(void)
{
    window = malloc(sizeof(jpp_cpu_window_t));

    if (window == NULL) {
        return 1;
    }

    jpp_tests_all();

    free(window);

    return jpp_done();
}


/*
 * The table of stacks: what is the same, what is not, what no longer fits, and
 * many threads at once.
 */


#include <pthread.h>
#include <stdlib.h>

#include "jpp_cpu_sampler.h"
#include "jpp_test.h"


#define JPP_TABLE_THREADS  4
#define JPP_TABLE_STACKS   500
#define JPP_TABLE_ROUNDS   200


static jpp_cpu_table_t  *table;


static jpp_cpu_sample_t
jpp_sample(uintptr_t pc, uint32_t n)
{
    uint32_t          i;
    jpp_cpu_sample_t  sample;

    memset(&sample, 0, sizeof(sample));

    sample.count = 1;
    sample.nanos = 10;
    sample.n = n;

    for (i = 0; i < n; i++) {
        sample.pcs[i] = pc + i * 0x10;
    }

    return sample;
}


/* Of all sites that are needed. */

static uint64_t
jpp_sum(void)
{
    uint32_t  i;
    uint64_t  sum;

    for (i = 0, sum = 0; i < table->n_sites; i++) {
        sum += table->sites[i].count;
    }

    return sum;
}


JPP_TEST(jpp_test_same)
{
    size_t            i;
    jpp_cpu_sample_t  samples[6];

    memset(table, 0, sizeof(*table));

    for (i = 0; i < 6; i++) {
        samples[i] = jpp_sample(0x1000, 3);
    }

    samples[1].pcs[2]++;
    samples[2].n = 2;
    samples[3].state = JPP_CPU_BLOCKED;
    samples[4].name = 1;

    for (i = 0; i < 6; i++) {
        jpp_cpu_table_add(table, &samples[i]);
    }

    samples[5].count = 30;
    samples[5].nanos = 300;
    jpp_cpu_table_add(table, &samples[5]);

    jpp_is_u64(table->n_sites, 5, "frames, depth, state and name tell apart");
    jpp_is_u64(table->sites[0].count, 32, "what is the same is added up");
    jpp_is_u64(table->sites[0].nanos, 320, "with its time");
    jpp_is_u64(table->dropped, 0, "nothing was dropped");
}


JPP_TEST(jpp_test_full)
{
    uint32_t          i;
    jpp_cpu_sample_t  sample;

    memset(table, 0, sizeof(*table));

    for (i = 0; i < JPP_CPU_SITES + 3; i++) {
        sample = jpp_sample(0x100000 + (uintptr_t) i * 0x1000, 2);
        jpp_cpu_table_add(table, &sample);
    }

    jpp_is_u64(table->n_sites, JPP_CPU_SITES, "the table is full");
    jpp_is_u64(table->dropped, 3, "what is new then is dropped");
    jpp_is_u64(table->dropped_nanos, 30, "with its time");

    sample = jpp_sample(0x100000, 2);
    jpp_cpu_table_add(table, &sample);

    jpp_is_u64(table->sites[0].count, 2, "what is known is not");
}


JPP_TEST(jpp_test_frames)
{
    uint32_t          i, n;
    jpp_cpu_sample_t  sample;

    memset(table, 0, sizeof(*table));

    n = JPP_CPU_FRAMES / JPP_CPU_DEPTH;

    for (i = 0; i < n + 1; i++) {
        sample = jpp_sample(0x100000 + (uintptr_t) i * 0x100000,
                            JPP_CPU_DEPTH);
        jpp_cpu_table_add(table, &sample);
    }

    jpp_is_u64(table->n_sites, n, "%u deep stacks fit", n);
    jpp_is_u64(table->dropped, 1, "and one more does not");
    jpp_is_mem(&table->frames[(n - 2) * JPP_CPU_DEPTH],
               jpp_sample(0x100000 + (uintptr_t) (n - 2) * 0x100000,
                          JPP_CPU_DEPTH).pcs,
               JPP_CPU_DEPTH * sizeof(uintptr_t), "frames as they were");
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
            jpp_cpu_table_add(table, &sample);
        }
    }

    return NULL;
}


JPP_TEST(jpp_test_threads)
{
    uint32_t   i, wrong;
    pthread_t  threads[JPP_TABLE_THREADS];

    memset(table, 0, sizeof(*table));

    for (i = 0; i < JPP_TABLE_THREADS; i++) {
        (void) pthread_create(&threads[i], NULL, jpp_test_thread, NULL);
    }

    for (i = 0; i < JPP_TABLE_THREADS; i++) {
        (void) pthread_join(threads[i], NULL);
    }

    for (i = 0, wrong = 0; i < table->n_sites; i++) {
        wrong += table->sites[i].count != 0
                 && table->sites[i].count != JPP_TABLE_THREADS
                                             * JPP_TABLE_ROUNDS;
    }

    jpp_is_u64(jpp_sum(), JPP_TABLE_THREADS * JPP_TABLE_ROUNDS
                          * JPP_TABLE_STACKS, "no sample is lost");
    jpp_is_u64(wrong, 0, "and no stack has two sites");
    jpp_is_u64(table->dropped, 0, "nor is one dropped");
}


int
main(void)
{
    table = malloc(sizeof(jpp_cpu_table_t));

    if (table == NULL) {
        return 1;
    }

    jpp_tests_all();

    free(table);

    return jpp_done();
}


/*
 * A table of threads that is full: what has no place is counted, and places
 * come free as their threads are gone.
 */


#include "jpp_test.h"
#include "jpp_cpu_sampler.h"


/* no thread has such a number */
#define JPP_GONE  0x70000000


int
main(void)
{
    uint32_t            i;
    jpp_cpu_threads_t  *threads;

    threads = calloc(1, sizeof(jpp_cpu_threads_t));

    if (threads == NULL) {
        return 1;
    }

    jpp_cpu_threads_init(threads);

    for (i = 0; i < JPP_CPU_THREADS; i++) {
        threads->threads[i].tid = JPP_GONE + (pid_t) i;
    }

    threads->n = JPP_CPU_THREADS;

    jpp_ok(jpp_cpu_threads_scan(threads, false),
           "a look at the threads of this process");
    jpp_is_u64(threads->seen.threads, 1, "there is one");
    jpp_is_u64(threads->seen.beyond, 1, "and no place for it");

    jpp_ok(jpp_cpu_threads_scan(threads, false), "another look");
    jpp_is_u64(threads->seen.threads, 1, "it is still there");
    jpp_is_u64(threads->seen.beyond, 0,
               "and has the place of one that is gone");

    jpp_cpu_threads_clear(threads);
    free(threads);

    return jpp_done();
}

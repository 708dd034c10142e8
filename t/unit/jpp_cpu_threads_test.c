
/*
 * A table of threads that is full: what has no place is counted, and places
 * come free as their threads are gone.  And why the kernel gives no timer.
 */


#include "jpp_test.h"

#include "jpp_cpu_sampler.h"


/* no thread has such a number */
#define JPP_GONE  0x70000000


/* why there is no timer */
static int  jpp_refused;


/* In place of libc's. */

int
timer_create(clockid_t clock, struct sigevent *event, timer_t *timer)
{
    (void) clock;
    (void) event;
    (void) timer;

    errno = jpp_refused;

    return -1;
}


static void *
jpp_thread(void *data)
{
    (void) pause();

    return data;
}


/* The name of the other thread where N are known. */

static uint8_t
jpp_thread_named(jpp_cpu_threads_t *threads, uint32_t n)
{
    uint8_t            name;
    jpp_cpu_thread_t  *thread;

    jpp_cpu_threads_init(threads);
    threads->seen.n_names = n;

    (void) jpp_cpu_threads_scan(threads, false);

    name = 0;

    jpp_each(thread, threads->threads, threads->n) {
        name |= thread->name;
    }

    return name;
}


int
main(void)
{
    uint32_t            i;
    pthread_t           id;
    rlim_t              limit;
    jpp_err_t           err;
    jpp_cpu_threads_t  *threads;

    static const struct {
        int          error;
        uint32_t     deaf;
        const char  *why;
    } rows[] = {
        { EINVAL, 0, "cannot create a timer: Invalid argument" },
        { ESRCH, 0, "cannot create a timer: No such process" },
        { EAGAIN, 1, "raise RLIMIT_SIGPENDING" },
        { EPERM, 1, "timer_create is forbidden here: allow it" }
    };

    threads = calloc(1, sizeof(jpp_cpu_threads_t));

    if (threads == NULL) {
        return 1;
    }

    jpp_cpu_threads_init(threads);

    for (i = 0; i < JPP_CPU_THREADS; i++) {
        threads->threads[i].tid = JPP_GONE + (pid_t) i;
    }

    for (i = 0; i < 4; i++) {
        jpp_refused = rows[i].error;
        threads->n = 1;
        jpp_cpu_threads_arm(threads, 1000000 + i);
        jpp_is_u64(threads->seen.deaf, rows[i].deaf, "is it deaf or gone?");

        jpp_ok(jpp_cpu_threads_check(JPP_MODE_CPU, &err) != JPP_OK
               && strstr(err.text, rows[i].why) != NULL, "%s", err.text);
    }

    threads->n = JPP_CPU_THREADS;
    threads->threads[0].is_deaf = true;
    threads->seen.deaf = 1;

    jpp_ok(jpp_cpu_threads_scan(threads, false),
           "a look at the threads of this process");
    jpp_is_u64(threads->seen.threads, 1, "there is one");
    jpp_is_u64(threads->seen.beyond, 1, "and no place for it");
    jpp_is_u64(threads->seen.deaf, 0, "nor was who is gone");

    jpp_ok(jpp_cpu_threads_scan(threads, false), "another look");
    jpp_is_u64(threads->seen.threads, 1, "it is still there");
    jpp_is_u64(threads->seen.beyond, 0,
               "and has the place of one that is gone");

    limit = jpp_test_rlimit(RLIMIT_NOFILE, 0);
    jpp_ok(!jpp_cpu_threads_scan(threads, false), "none without a descriptor");
    (void) jpp_test_rlimit(RLIMIT_NOFILE, limit);

    (void) pthread_create(&id, NULL, jpp_thread, NULL);

    jpp_is_u64(jpp_thread_named(threads, 5), 5, "a name has the next place");
    jpp_is_u64(jpp_thread_named(threads, JPP_CPU_NAMES - 1), JPP_CPU_NAMES - 1,
               "the last place");
    jpp_is_str(threads->seen.names[JPP_CPU_NAMES - 1], "(others)",
               "is for all others");
    jpp_is_u64(jpp_thread_named(threads, JPP_CPU_NAMES), JPP_CPU_NAMES - 1,
               "that come later, too");

    jpp_cpu_threads_clear(threads);
    free(threads);

    return jpp_done();
}


/*
 * Whoever opens windows, asks about them and closes them, does not wait for the
 * sampler, however long that takes to look at the threads of a process: here it
 * is held up in the middle of it.  What was said meanwhile is done later.
 */


#include "jpp_test_cpu.h"


typedef int (*jpp_settime_pt)(timer_t timer, int flags,
    const struct itimerspec *value, struct itimerspec *old);


static volatile bool       jpp_is_held;    /* as soon as a timer is set */
static volatile bool       jpp_is_inside;
static volatile bool       jpp_is_dumped;
static jpp_cpu_window_t   *jpp_windows[4];


/* What the sampler does once for each thread. */

int
timer_settime(timer_t timer, int flags, const struct itimerspec *value,
    struct itimerspec *old)
{
    void            *found;
    jpp_settime_pt   real;

    while (jpp_is_held) {
        jpp_is_inside = true;
        (void) usleep(1000);
    }

    found = dlsym(RTLD_NEXT, "timer_settime");
    memcpy(&real, &found, sizeof(real));

    return real(timer, flags, value, old);
}


static bool
jpp_is(const volatile bool *what)
{
    unsigned  i;

    for (i = 0; i < 30000 && !*what; i++) {
        (void) usleep(1000);
    }

    return *what;
}


static void *
jpp_dumps(void *data)
{
    int        fd;
    jpp_err_t  err = { 0 };

    fd = memfd_create("window", 0);

    jpp_is_dumped = jpp_cpu_dump(data, NULL, fd, &err) == JPP_OK
                    && lseek(fd, 0, SEEK_END) > 0;

    (void) close(fd);

    return NULL;
}


static void
jpp_test_held_up(void)
{
    unsigned           i, n;
    jpp_err_t          err;
    pthread_t          thread;
    jpp_cpu_window_t  *window;

    n = 0;
    jpp_is_held = true;

    for (i = 0; i < 4; i++) {
        jpp_windows[i] = jpp_cpu_open(i % 2 ? JPP_MODE_WALL : JPP_MODE_CPU,
                                      99, &err);
        jpp_ok(jpp_windows[i] != NULL, "window %u", i);

        jpp_ok(jpp_is(&jpp_is_inside), "the sampler is at work");
    }

    jpp_is_u64(jpp_cpu_check(&err), JPP_OK, "who asks meanwhile is answered");
    jpp_ok(jpp_cpu_is_on(), "and that there are windows");

    /* one that has begun, and one that has not */

    jpp_cpu_close(jpp_windows[0]);
    jpp_cpu_close(jpp_windows[1]);

    /* as many as there may be, again and again, leave room */

    for (i = 0; i < 10 * JPP_CPU_WINDOWS; i++) {
        window = jpp_cpu_open(JPP_MODE_CPU, 1000, &err);
        n += window != NULL;
        jpp_cpu_close(window);
    }

    jpp_is_u64(n, 10 * JPP_CPU_WINDOWS, "nobody is refused for others that "
               "have left");

    (void) pthread_create(&thread, NULL, jpp_dumps, jpp_windows[2]);

    jpp_ok(jpp_is(&jpp_is_dumped), "one that has not begun is over at once");
    (void) pthread_join(thread, NULL);

    jpp_is_held = false;

    jpp_ok(jpp_cpu_is_on(), "the last one is open");
}


static void
jpp_test_after(void)
{
    jpp_err_t  err;

    jpp_cpu_close(jpp_windows[2]);
    jpp_cpu_close(jpp_windows[3]);

    jpp_ok(!jpp_cpu_is_on(), "none is");

    /* while the sampler may be about to end */

    jpp_windows[0] = jpp_cpu_open(JPP_MODE_CPU, 99, &err);
    jpp_is_dumped = false;

    (void) jpp_dumps(jpp_windows[0]);
    jpp_ok(jpp_is_dumped, "the next one is as good");

    jpp_cpu_close(jpp_windows[0]);
    jpp_cpu_exit();
    jpp_cpu_exit();

    jpp_ok(!jpp_cpu_is_on(), "the end, twice");
}


int
main(void)
{
    if (jpp_cpu_is_here(60)) {
        jpp_test_held_up();
        jpp_test_after();
    }

    return jpp_done();
}

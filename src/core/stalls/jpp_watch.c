
/* pthread_setname_np() */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "jpp_source.h"
#include "jpp_thread.h"
#include "jpp_watch.h"
#include "jpp_watch_maps.h"
#include "jpp_watch_take.h"


#define JPP_WATCH_STACK  (256 * 1024)


typedef enum {
    JPP_WATCH_LOOKS = 0,
    JPP_WATCH_SUSPECTS,        /* it did not wait when it was last looked at */
    JPP_WATCH_ASKS,            /* a signal is on its way */
    JPP_WATCH_HAS              /* its stack, or none to be had */
} jpp_watch_stage_t;


typedef struct {
    jpp_watch_loop_t    loop;
    bool                is_on;

    pthread_t           thread;
    pthread_mutex_t     mutex;         /* of all that follows */
    pthread_cond_t      wake;
    bool                is_leaving;

    uint64_t            iteration;     /* when it last looked */
    jpp_watch_stage_t   stage;
    bool                is_late;       /* the stall is over, but not closed */
    uint64_t            waited;        /* for the signal, ms */
    uint64_t            id;            /* the caller's, of the stall */
    jpp_stall_t         stall;
} jpp_watch_t;


static jpp_watch_t  jpp_watch;


static void
jpp_watch_store(jpp_watch_t *watch)
{
    watch->loop.store(&watch->stall, &watch->id);
}


/* the moment at which an iteration of AGE would be too long */

static uint64_t
jpp_watch_next(const jpp_watch_t *watch, uint64_t age)
{
    return age < watch->loop.threshold ? watch->loop.threshold - age : 1;
}


/*
 * jpp_watch_over() closes what is open; it may be just about to.  If not, the
 * clocks of the loop differ; or there is no stack yet, and the loop had only
 * been waiting until it got the CPU.
 */

static uint64_t
jpp_watch_passed(jpp_watch_t *watch)
{
    if (watch->stage > JPP_WATCH_SUSPECTS && !watch->is_late) {
        watch->is_late = true;
        return watch->loop.threshold;
    }

    if (watch->stage == JPP_WATCH_HAS) {
        watch->stall.state = JPP_STALL_OVER;
        jpp_watch_store(watch);
    }

    watch->is_late = false;
    watch->stage = JPP_WATCH_LOOKS;

    return jpp_watch_next(watch, watch->loop.age());
}


static void
jpp_watch_begin(jpp_watch_t *watch, uint64_t age)
{
    struct timespec  now;

    (void) clock_gettime(CLOCK_REALTIME, &now);

    watch->id = 0;
    watch->stall = watch->loop.who;
    watch->stall.kind = JPP_STALL_SHORT;
    watch->stall.state = JPP_STALL_LASTS;
    watch->stall.nanos = age * 1000000;
    watch->stall.time_nanos = (int64_t) now.tv_sec * 1000000000
                              + now.tv_nsec - (int64_t) watch->stall.nanos;
}


static uint64_t
jpp_watch_has(jpp_watch_t *watch, jpp_stall_kind_t kind)
{
    watch->stage = JPP_WATCH_HAS;
    watch->stall.kind = kind;

    jpp_watch_maps(&watch->stall);
    jpp_watch_store(watch);

    return watch->loop.threshold;
}


/* Who shares a listening socket wakes up for others, and waits on. */

static uint64_t
jpp_watch_blocked(jpp_watch_t *watch)
{
    if (jpp_watch_take_was_idle(&watch->stall)) {
        watch->stage = JPP_WATCH_LOOKS;
        return watch->loop.threshold;
    }

    return jpp_watch_has(watch, JPP_STALL_WAITED);
}


static uint64_t
jpp_watch_ask(jpp_watch_t *watch)
{
    watch->stall.depth = 0;

    if (!jpp_watch_take_ask(watch->iteration)) {
        return jpp_watch_has(watch, JPP_STALL_FOREIGN);
    }

    watch->stage = JPP_WATCH_ASKS;
    watch->waited = 1;

    return watch->waited;
}


/* Its stack, at once if it is blocked. */

static uint64_t
jpp_watch_take(jpp_watch_t *watch)
{
    switch (jpp_watch_take_blocked(watch->iteration, &watch->stall)) {

    case JPP_BLOCKED_WAITS:
        return jpp_watch_blocked(watch);

    case JPP_BLOCKED_UNKNOWN:
        return jpp_watch_has(watch, JPP_STALL_BLIND);

    case JPP_BLOCKED_RUNS:
        break;
    }

    return jpp_watch_ask(watch);
}


/* The answer comes when the thread gets the CPU; or it is blocked by now. */

static uint64_t
jpp_watch_asks(jpp_watch_t *watch)
{
    if (jpp_watch_take_answer(watch->iteration, &watch->stall)) {

        if (jpp_watch_take_is_woken(&watch->stall)) {
            watch->stage = JPP_WATCH_LOOKS;
            return watch->loop.threshold;
        }

        return jpp_watch_has(watch, JPP_STALL_RAN);
    }

    if (jpp_watch_take_blocked(watch->iteration, &watch->stall)
        == JPP_BLOCKED_WAITS)
    {
        return jpp_watch_blocked(watch);
    }

    if (jpp_watch_take_is_cancelled()) {
        return jpp_watch_ask(watch);
    }

    if (watch->waited < watch->loop.threshold) {
        watch->waited *= 2;
    }

    return watch->waited;
}


/*
 * Look once; returns when to look again, ms.
 *
 * An iteration is suspect if the loop does not wait.  It may have waited a
 * moment ago, though, and has not looked at its clock since; so the next look
 * decides, in the same iteration, and in the end the stack.
 */

static uint64_t
jpp_watch_look(jpp_watch_t *watch)
{
    uint64_t  age, iteration;

    iteration = watch->loop.iteration();

    if (iteration != watch->iteration) {
        watch->iteration = iteration;
        return jpp_watch_passed(watch);
    }

    switch (watch->stage) {

    case JPP_WATCH_LOOKS:
    case JPP_WATCH_SUSPECTS:

        if (jpp_watch_take_is_idle()) {
            watch->stage = JPP_WATCH_LOOKS;
            return watch->loop.threshold;
        }

        age = watch->loop.age();

        if (watch->stage == JPP_WATCH_LOOKS || age < watch->loop.threshold) {
            watch->stage = JPP_WATCH_SUSPECTS;
            return jpp_watch_next(watch, age);
        }

        jpp_watch_begin(watch, age);

        return jpp_watch_take(watch);

    case JPP_WATCH_ASKS:
        return jpp_watch_asks(watch);

    case JPP_WATCH_HAS:
        break;
    }

    /* if its process is killed, this is how long it took at least */

    watch->stall.nanos = watch->loop.age() * 1000000;
    jpp_watch_store(watch);

    return watch->loop.threshold;
}


static void
jpp_watch_deadline(struct timespec *deadline, uint64_t ms)
{
    (void) clock_gettime(CLOCK_MONOTONIC, deadline);

    deadline->tv_sec += (time_t) (ms / 1000);
    deadline->tv_nsec += (long) (ms % 1000) * 1000000;

    if (deadline->tv_nsec >= 1000000000) {
        deadline->tv_nsec -= 1000000000;
        deadline->tv_sec++;
    }
}


static void *
jpp_watch_main(void *data)
{
    jpp_watch_t *watch = data;

    uint64_t         ms;
    struct timespec  deadline;

    (void) pthread_setname_np(pthread_self(), "jpp-watch");
    (void) jpp_source_sample_thread(JPP_SOURCE_BY_NONE);
    jpp_thread_leave_files();
    jpp_watch_take_begin();

    (void) pthread_mutex_lock(&watch->mutex);

    while (!watch->is_leaving) {
        ms = jpp_watch_look(watch);

        jpp_watch_deadline(&deadline, ms);

        (void) pthread_cond_timedwait(&watch->wake, &watch->mutex, &deadline);
    }

    (void) pthread_mutex_unlock(&watch->mutex);

    jpp_watch_take_end();

    return NULL;
}


static jpp_code_t
jpp_watch_thread(jpp_watch_t *watch, jpp_err_t *err)
{
    int                 rc;
    unsigned            was_sampled;
    sigset_t            set, old;
    pthread_attr_t      attr;
    pthread_condattr_t  clock;

    (void) pthread_mutex_init(&watch->mutex, NULL);

    (void) pthread_condattr_init(&clock);
    (void) pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    (void) pthread_cond_init(&watch->wake, &clock);
    (void) pthread_condattr_destroy(&clock);

    (void) pthread_attr_init(&attr);
    (void) pthread_attr_setstacksize(&attr, JPP_WATCH_STACK);

    /* signals belong to the loop; faults must not be blocked */

    (void) sigfillset(&set);
    (void) sigdelset(&set, SIGILL);
    (void) sigdelset(&set, SIGFPE);
    (void) sigdelset(&set, SIGSEGV);
    (void) sigdelset(&set, SIGBUS);

    /* libc takes a little of a thread's memory from malloc() */

    was_sampled = jpp_source_sample_thread(JPP_SOURCE_BY_NONE);
    (void) pthread_sigmask(SIG_SETMASK, &set, &old);

    rc = pthread_create(&watch->thread, &attr, jpp_watch_main, watch);

    (void) pthread_sigmask(SIG_SETMASK, &old, NULL);
    (void) jpp_source_sample_thread(was_sampled);

    (void) pthread_attr_destroy(&attr);

    return rc == 0 ? JPP_OK
                   : jpp_err_sys(err, rc, "cannot create a thread");
}


jpp_code_t
jpp_watch_start(const jpp_watch_loop_t *loop, jpp_err_t *err)
{
    jpp_err_t     failed;
    jpp_code_t    rc;
    jpp_watch_t  *watch;

    watch = &jpp_watch;

    memset(watch, 0, sizeof(jpp_watch_t));

    watch->loop = *loop;

    rc = jpp_watch_take_init(&watch->loop, err);

    if (jpp_watch_thread(watch, &failed) == JPP_OK) {
        watch->is_on = true;
        return rc;
    }

    *err = failed;
    jpp_watch_take_exit();

    return failed.code;
}


void
jpp_watch_stop(void)
{
    jpp_watch_t  *watch;

    watch = &jpp_watch;

    if (!watch->is_on) {
        return;
    }

    watch->is_on = false;

    (void) pthread_mutex_lock(&watch->mutex);
    watch->is_leaving = true;
    (void) pthread_cond_signal(&watch->wake);
    (void) pthread_mutex_unlock(&watch->mutex);

    (void) pthread_join(watch->thread, NULL);

    jpp_watch_take_exit();
}


void
jpp_watch_over(uint64_t ms, jpp_stall_t *stall)
{
    jpp_watch_t  *watch;

    watch = &jpp_watch;

    (void) pthread_mutex_lock(&watch->mutex);

    if (watch->stage <= JPP_WATCH_SUSPECTS) {
        jpp_watch_begin(watch, ms);

    } else if (watch->stage == JPP_WATCH_ASKS) {
        if (jpp_watch_take_answer(watch->iteration, &watch->stall)) {
            (void) jpp_watch_has(watch, JPP_STALL_RAN);
        }
    }

    watch->stall.nanos = ms * 1000000;
    watch->stall.state = JPP_STALL_OVER;
    jpp_watch_store(watch);

    *stall = watch->stall;

    watch->is_late = false;
    watch->stage = JPP_WATCH_LOOKS;

    (void) pthread_mutex_unlock(&watch->mutex);
}

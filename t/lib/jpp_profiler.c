
/*
 * What may be in a process besides us, to be preloaded: another profiler, and
 * kernels that refuse.  JPP_PROFILER is a list of words:
 *
 *     handler    SIGPROF has a handler
 *     timers     timer_create() fails with EPERM
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>


typedef int (*jpp_timer_create_pt)(clockid_t clock, struct sigevent *event,
    timer_t *timer);


static int  jpp_profiler_refuses;


static void
jpp_profiler_handler(int signo)
{
    (void) signo;
}


static int
jpp_profiler_does(const char *word)
{
    const char  *words;

    words = getenv("JPP_PROFILER");

    return words != NULL && strstr(words, word) != NULL;
}


/* nginx gives its workers an environment of their own */

static void __attribute__((constructor))
jpp_profiler_start(void)
{
    struct sigaction  action;

    jpp_profiler_refuses = jpp_profiler_does("timers");

    if (jpp_profiler_does("handler")) {
        memset(&action, 0, sizeof(action));
        action.sa_handler = jpp_profiler_handler;
        (void) sigaction(SIGPROF, &action, NULL);
    }
}


int
timer_create(clockid_t clock, struct sigevent *event, timer_t *timer)
{
    void                 *found;
    jpp_timer_create_pt   real;

    if (jpp_profiler_refuses) {
        errno = EPERM;
        return -1;
    }

    found = dlsym(RTLD_NEXT, "timer_create");
    memcpy(&real, &found, sizeof(real));

    return real(clock, event, timer);
}

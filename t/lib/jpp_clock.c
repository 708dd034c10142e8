
/*
 * A clock that goes faster: for a program that it is loaded into, JPP_CLOCK
 * seconds pass in one, from its start on; what it waits for comes as much
 * sooner.
 */


#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>


static long             speed = 1;
static struct timespec  begun[2];


__attribute__((constructor)) static void
jpp_clock_init(void)
{
    const char  *value;

    value = getenv("JPP_CLOCK");
    speed = value != NULL && atol(value) > 0 ? atol(value) : 1;

    (void) syscall(SYS_clock_gettime, CLOCK_REALTIME, &begun[0]);
    (void) syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &begun[1]);
}


int
clock_gettime(clockid_t clock, struct timespec *now)
{
    int               rc;
    long              nanos;
    struct timespec  *from;

    rc = (int) syscall(SYS_clock_gettime, clock, now);

    if (rc == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC
                    || clock == CLOCK_MONOTONIC_COARSE))
    {
        from = &begun[clock != CLOCK_REALTIME];
        nanos = ((now->tv_sec - from->tv_sec) * 1000000000
                 + now->tv_nsec - from->tv_nsec) * speed + from->tv_nsec;

        now->tv_sec = from->tv_sec + nanos / 1000000000;
        now->tv_nsec = nanos % 1000000000;
    }

    return rc;
}


int
gettimeofday(struct timeval *now, void *zone)
{
    struct timespec  ts;

    (void) zone;
    (void) clock_gettime(CLOCK_REALTIME, &ts);

    now->tv_sec = ts.tv_sec;
    now->tv_usec = ts.tv_nsec / 1000;

    return 0;
}


time_t
time(time_t *now)
{
    struct timespec  ts;

    (void) clock_gettime(CLOCK_REALTIME, &ts);

    if (now != NULL) {
        *now = ts.tv_sec;
    }

    return ts.tv_sec;
}


int
epoll_wait(int epoll, struct epoll_event *events, int n, int timeout)
{
    return (int) syscall(SYS_epoll_pwait, epoll, events, n,
                         timeout > 0 ? (timeout + speed - 1) / speed : timeout,
                         NULL, 8);
}

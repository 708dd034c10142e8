
/*
 * The time in nanoseconds, from the monotonic clock or from the wall clock.
 *
 * [signal] Any thread.
 */


#ifndef _JPP_CLOCK_H_INCLUDED_
#define _JPP_CLOCK_H_INCLUDED_


#include <stdint.h>
#include <time.h>


static inline uint64_t
jpp_clock_nanos(clockid_t clock)
{
    struct timespec  now;

    (void) clock_gettime(clock, &now);

    return (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec;
}


/* For durations. */
static inline uint64_t
jpp_clock(void)
{
    return jpp_clock_nanos(CLOCK_MONOTONIC);
}


/* Since the epoch. */
static inline int64_t
jpp_clock_wall(void)
{
    return (int64_t) jpp_clock_nanos(CLOCK_REALTIME);
}


#endif /* _JPP_CLOCK_H_INCLUDED_ */


/*
 * What tests of profiles of CPU time begin with.
 */


#ifndef _JPP_TEST_CPU_H_INCLUDED_
#define _JPP_TEST_CPU_H_INCLUDED_


#include "jpp_cpu.h"
#include "jpp_test.h"


/* a sanitizer puts functions of its own between a sleep and its caller */
#if defined(__SANITIZE_ADDRESS__)
#define JPP_HAS_SLEEPERS  0
#elif defined(__has_feature)
#define JPP_HAS_SLEEPERS  !__has_feature(address_sanitizer)
#else
#define JPP_HAS_SLEEPERS  1
#endif


/* NANOS of CPU time in the caller, whose code FACTOR makes another one. */

static volatile unsigned long  jpp_work;

static inline __attribute__((always_inline)) void
jpp_burn_as(uint64_t nanos, unsigned factor)
{
    unsigned  i;
    uint64_t  end;

    end = jpp_clock_nanos(CLOCK_THREAD_CPUTIME_ID) + nanos;

    while (jpp_clock_nanos(CLOCK_THREAD_CPUTIME_ID) < end) {
        for (i = 0; i < 10000; i++) {
            jpp_work += factor * i;
        }
    }
}


/* A window that has begun. */

static inline jpp_cpu_window_t *
jpp_opened(jpp_mode_t mode, uint32_t frequency)
{
    jpp_err_t          err = { 0 };
    jpp_cpu_window_t  *window;

    window = jpp_cpu_open(mode, frequency, &err);

    if (window == NULL) {
        jpp_ok(false, "a window: %s", err.text);
        exit(1);
    }

    jpp_wait_while(jpp_atomic_get(&window->opened) == 0);

    return window;
}


/* Is there an unwinder?  A test that hangs for SECONDS has failed. */

static inline bool
jpp_cpu_is_here(unsigned seconds)
{
    jpp_err_t  err;

    (void) alarm(seconds);

    if (jpp_cpu_check(&err) == JPP_ERR_ABSENT) {
        return !jpp_ok(true, "no unwinder: %s", err.text);
    }

    return true;
}


#endif /* _JPP_TEST_CPU_H_INCLUDED_ */

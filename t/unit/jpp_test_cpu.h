
/*
 * What tests of profiles of CPU time begin with.
 */


#ifndef _JPP_TEST_CPU_H_INCLUDED_
#define _JPP_TEST_CPU_H_INCLUDED_


#include "jpp_cpu.h"
#include "jpp_test.h"


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

    while (__atomic_load_n(&window->opened, __ATOMIC_ACQUIRE) == 0) {
        (void) usleep(100);
    }

    return window;
}


#endif /* _JPP_TEST_CPU_H_INCLUDED_ */


/*
 * Samples CPU and wall-clock time of this process's threads: one sampler serves
 * any number of windows.
 *
 * A window is a stretch of time in which somebody wants samples.  The sampler
 * runs while there is one, at the highest frequency that any of them asks for;
 * each window gets all samples of its mode, and each sample is worth the time
 * that it stands for, so that sums are right at any frequency.
 *
 * JPP_MODE_CPU: a timer on each thread's CPU time interrupts it.
 * JPP_MODE_WALL: a thread of our own looks at each thread as often.  One that
 * runs is interrupted; one that sleeps is left asleep, and its stack is walked
 * from here; one that waits for work is counted as idle.
 *
 * jpp_cpu_open() and jpp_cpu_exit() are for the main thread; a window, from
 * then on, for one thread at a time.  All but jpp_cpu_dump() and _exit() is for
 * event loops: however many threads there are, it does not wait.  The memory of
 * a window is mapped, nothing comes from malloc() except what libc takes for a
 * thread.
 */


#ifndef _JPP_CPU_H_INCLUDED_
#define _JPP_CPU_H_INCLUDED_


#include "jpp_cpu_sampler.h"


/*
 * Can there be windows at all?  JPP_ERR_TAKEN: SIGPROF belongs to somebody
 * else; JPP_ERR_ABSENT: there is no unwinder for this machine.
 */
jpp_code_t jpp_cpu_check(jpp_err_t *err);

/*
 * Open a window of MODE at FREQUENCY a second; it begins as soon as the
 * sampler's thread has seen which threads there are.  NULL: ERR says why, as
 * jpp_cpu_check() does, or that the kernel refuses something; JPP_ERR_BUSY:
 * there are JPP_CPU_WINDOWS.
 */
jpp_cpu_window_t *jpp_cpu_open(jpp_mode_t mode, uint32_t frequency,
    jpp_err_t *err);

/*
 * End WINDOW, and write what it has seen to FD, in the grammar of
 * jpp_times.c.  WHY_EARLY: why it was not as long as it should have
 * been, or NULL.  Any thread.
 */
jpp_code_t jpp_cpu_dump(jpp_cpu_window_t *window, const char *why_early,
    int fd, jpp_err_t *err);

/* Forget WINDOW; if it has not ended, it does soon.  NULL is allowed. */
void jpp_cpu_close(jpp_cpu_window_t *window);

/* Is there a window? */
bool jpp_cpu_is_on(void);

/* The process ends: all windows do, and the signal is released; it waits. */
void jpp_cpu_exit(void);


#endif /* _JPP_CPU_H_INCLUDED_ */

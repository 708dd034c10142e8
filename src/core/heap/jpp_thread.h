
/*
 * Threads of our own.  They block all signals but those of faults and of
 * profilers, which they take if the thread that starts them does.  What libc
 * allocates for them is not sampled.
 *
 * No state; any thread.
 */


#ifndef _JPP_THREAD_H_INCLUDED_
#define _JPP_THREAD_H_INCLUDED_


#include "jpp_core.h"

#include <pthread.h>


/*
 * Run MAIN with DATA in a thread with a stack of SIZE bytes.  Returns 0, or an
 * errno.  MAIN gives it a name first, so that people know whose it is, as
 * jpp_thread_name() does.  THREAD becomes what to join it by; NULL: nobody
 * does.
 */
int jpp_thread_start(size_t size, void *(*main)(void *data), void *data,
    pthread_t *thread);
void jpp_thread_name(void);

/*
 * The caller uses no descriptor of the process from now on: it has a table of
 * its own.  While threads share one, the kernel counts references in every call
 * of each, which takes 1 % of nginx's CPU time.
 */
void jpp_thread_leave_files(void);


#endif /* _JPP_THREAD_H_INCLUDED_ */

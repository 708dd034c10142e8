
/*
 * Measures the duration of each iteration of the event loop.
 *
 * nginx calls process_events once an iteration, through a table, and reads the
 * clock as soon as epoll_wait() returns.  A wrapper around that call looks how
 * late it is: what lies between was spent on events, timers and posted events.
 * The clock is the kernel's coarse one, as nginx's, which advances by ticks
 * (4 ms, as a rule): a single figure may be off by that much, sums are not.  It
 * is not even read if the CPU's counter proves that no millisecond has passed
 * since the last iteration.
 *
 * For the event loop.
 */


#ifndef _NGX_HTTP_JPP_LOOP_H_INCLUDED_
#define _NGX_HTTP_JPP_LOOP_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include "jpp_worker.h"


/* of this worker; all zeros with timer_resolution, which stops nginx's clock */
extern jpp_loop_t  ngx_http_jpp_loop;
extern jpp_recent_t  ngx_http_jpp_recent;


typedef void (*ngx_http_jpp_late_pt)(ngx_msec_t ms);


/* Begin to count, once per worker; and stop, before the module is gone. */
void ngx_http_jpp_loop_init(ngx_cycle_t *cycle);
void ngx_http_jpp_loop_exit(void);

/*
 * Call LATE at the end of each iteration of at least MS; NULL: no longer.
 * NGX_DECLINED: nothing is measured.
 */
ngx_int_t ngx_http_jpp_loop_watch(ngx_msec_t ms, ngx_http_jpp_late_pt late);

/*
 * Call THEN at the end of an iteration in which ngx_http_jpp_loop_
 * look() was called, which is for handlers, too.
 */
void ngx_http_jpp_loop_ends(void (*then)(void));
void ngx_http_jpp_loop_look(void);

/*
 * For any thread, and handlers: a number that is the same only within an
 * iteration; for how many ms this one lasts, if it waits no longer; and the
 * function of nginx that waits.
 */
uint64_t ngx_http_jpp_loop_iteration(void);
uint64_t ngx_http_jpp_loop_age(void);
uintptr_t ngx_http_jpp_loop_waits(void);

/* The address on the stack where an iteration begins; 0: none has ended. */
uintptr_t ngx_http_jpp_loop_frame(void);


#endif /* _NGX_HTTP_JPP_LOOP_H_INCLUDED_ */


/*
 * The background thread of a worker: tasks are run one after the other, each
 * in a thread of its own that ends with it.  Knows nothing of HTTP.
 *
 * All functions are for the event loop.  A thread runs with all signals
 * blocked and with the allocations of its own not sampled.
 */


#ifndef _NGX_HTTP_JEMALLOC_PPROF_THREAD_H_INCLUDED_
#define _NGX_HTTP_JEMALLOC_PPROF_THREAD_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


typedef struct ngx_http_jemalloc_pprof_task_s
    ngx_http_jemalloc_pprof_task_t;

typedef void (*ngx_http_jemalloc_pprof_task_pt)(
    ngx_http_jemalloc_pprof_task_t *task);


struct ngx_http_jemalloc_pprof_task_s {
    ngx_queue_t                       queue;
    ngx_http_jemalloc_pprof_task_pt   work;    /* in the thread: no nginx */
    ngx_http_jemalloc_pprof_task_pt   done;    /* in the event loop */
};


/* Once per worker. */
ngx_int_t ngx_http_jemalloc_pprof_thread_init(ngx_cycle_t *cycle);

/*
 * Have TASK run when those before it have; it belongs to the thread until its
 * done function is called.  NGX_ERROR: there is no thread to be had.
 */
ngx_int_t ngx_http_jemalloc_pprof_thread_post(
    ngx_http_jemalloc_pprof_task_t *task);

/* Does nothing run? */
ngx_uint_t ngx_http_jemalloc_pprof_thread_is_idle(void);

/* Does TASK, which was posted and is not done, run already? */
ngx_uint_t ngx_http_jemalloc_pprof_thread_has_begun(
    const ngx_http_jemalloc_pprof_task_t *task);

/* Take TASK back from the queue; 0: it runs already. */
ngx_uint_t ngx_http_jemalloc_pprof_thread_cancel(
    ngx_http_jemalloc_pprof_task_t *task);

/* The worker exits: give a running task a moment to end. */
void ngx_http_jemalloc_pprof_thread_exit(ngx_cycle_t *cycle);


#endif /* _NGX_HTTP_JEMALLOC_PPROF_THREAD_H_INCLUDED_ */

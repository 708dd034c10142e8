
/*
 * A worker's background thread: runs queued tasks one at a time, starting a
 * thread for each.  Tasks that take milliseconds have a queue of their own, so
 * that they do not wait for the others.  Knows nothing about HTTP.
 *
 * All functions are for the event loop.  A thread runs with signals blocked,
 * and jemalloc does not sample its allocations.
 */


#ifndef _NGX_HTTP_JPP_THREAD_H_INCLUDED_
#define _NGX_HTTP_JPP_THREAD_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


typedef struct ngx_http_jpp_task_s  ngx_http_jpp_task_t;

typedef void (*ngx_http_jpp_task_pt)(ngx_http_jpp_task_t *task);


struct ngx_http_jpp_task_s {
    ngx_queue_t            queue;
    ngx_http_jpp_task_pt   work;         /* in the thread: no nginx */
    ngx_http_jpp_task_pt   done;         /* in the event loop */
    unsigned               is_brief:1;   /* some milliseconds, without */
                                         /*   malloc; it may lock the */
                                         /*   registry */
};


/* Once per worker. */
ngx_int_t ngx_http_jpp_thread_init(ngx_cycle_t *cycle);

/*
 * Run TASK after those before it; the thread owns it until its done function is
 * called.  NGX_ERROR: no thread can be started, or TASK is a brief one of a
 * single process, whose next reload may unmap the registry.  A brief one has
 * done its work in place then; the caller does what follows it.
 */
ngx_int_t ngx_http_jpp_thread_post(ngx_http_jpp_task_t *task);

/* Is no task running that may hold jemalloc's locks? */
ngx_uint_t ngx_http_jpp_thread_is_idle(void);

/* Is TASK, which was posted and is not done, running already? */
ngx_uint_t ngx_http_jpp_thread_has_begun(const ngx_http_jpp_task_t *task);

/* Take TASK out of the queue that it is in; 0: it is running already. */
ngx_uint_t ngx_http_jpp_thread_cancel(ngx_http_jpp_task_t *task);

/* The worker exits: give a running task a moment to finish. */
void ngx_http_jpp_thread_exit(ngx_cycle_t *cycle);


#endif /* _NGX_HTTP_JPP_THREAD_H_INCLUDED_ */


/*
 * Work that has to be done on the event loop, because it reads what nginx
 * changes there, a slice at a time: one task after the other, each slice in an
 * event of its own, which is never inside another handler.  Between two slices
 * nginx handles whatever else there is.
 *
 * All functions are for the event loop.
 */


#ifndef _NGX_HTTP_JPP_SLICES_H_INCLUDED_
#define _NGX_HTTP_JPP_SLICES_H_INCLUDED_


#include "ngx_http_jpp_thread.h"


/*
 * Call TASK's slice, after those of the tasks before it, until it no longer
 * returns NGX_AGAIN, and then its done function.
 */
void ngx_http_jpp_slices_post(ngx_http_jpp_task_t *task);

/* Has TASK, which was posted and is not done, had a slice already? */
ngx_uint_t ngx_http_jpp_slices_has_begun(const ngx_http_jpp_task_t *task);

/* TASK, which was posted and is not done, gets no more slices. */
void ngx_http_jpp_slices_cancel(ngx_http_jpp_task_t *task);


#endif /* _NGX_HTTP_JPP_SLICES_H_INCLUDED_ */

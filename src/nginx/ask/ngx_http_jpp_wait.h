
/*
 * Some seconds that pass before the work of an answer begins.  They end early
 * when nginx does.  From the beginning of the wait to the end of the work nginx
 * stays, since a timer that is not cancelable runs.
 *
 * All functions are for the event loop.
 */


#ifndef _NGX_HTTP_JPP_WAIT_H_INCLUDED_
#define _NGX_HTTP_JPP_WAIT_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


typedef struct ngx_http_jpp_wait_s  ngx_http_jpp_wait_t;


/* zeroed, it does not wait */
struct ngx_http_jpp_wait_s {
    ngx_event_t   timer;
    ngx_msec_t    deadline;
    ngx_uint_t    is_waiting;

    /* WHY_EARLY is NULL, or why it was not as long as it should have been */
    void        (*over)(ngx_http_jpp_wait_t *wait, const char *why_early);
};


/* Call WAIT's function over, which is set, in DELAY ms. */
void ngx_http_jpp_wait(ngx_http_jpp_wait_t *wait, ngx_msec_t delay);

/* End WAIT now, if it is one; WHY_EARLY is a string that stays. */
void ngx_http_jpp_wait_over(ngx_http_jpp_wait_t *wait, const char *why_early);

/* The work is done, or will not be.  Allowed at any time. */
void ngx_http_jpp_wait_end(ngx_http_jpp_wait_t *wait);


#endif /* _NGX_HTTP_JPP_WAIT_H_INCLUDED_ */

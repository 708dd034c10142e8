
#include "ngx_http_jpp_self.h"
#include "ngx_http_jpp_wait.h"


/* how often it looks whether nginx exits, ms */
#define NGX_HTTP_JPP_TICK  100


static void ngx_http_jpp_wait_tick(ngx_event_t *ev);


void
ngx_http_jpp_wait(ngx_http_jpp_wait_t *wait, ngx_msec_t delay)
{
    wait->timer.handler = ngx_http_jpp_wait_tick;
    wait->timer.data = &ngx_http_jpp_no_connection;
    wait->timer.log = ngx_cycle->log;

    wait->deadline = ngx_current_msec + delay;
    wait->is_waiting = 1;

    ngx_add_timer(&wait->timer, NGX_HTTP_JPP_TICK);
}


/* Afterwards what WAIT belongs to may be freed. */

static void
ngx_http_jpp_wait_tick(ngx_event_t *ev)
{
    const char           *why_early;
    ngx_msec_int_t        left;
    ngx_http_jpp_wait_t  *wait;

    wait = ngx_queue_data(ev, ngx_http_jpp_wait_t, timer);

    left = (ngx_msec_int_t) (wait->deadline - ngx_current_msec);
    why_early = NULL;

    if (left > 0 && (ngx_exiting || ngx_quit || ngx_terminate)) {
        why_early = "it shuts down";
        left = 0;
    }

    ngx_add_timer(ev, left > 0 && left < NGX_HTTP_JPP_TICK
                      ? (ngx_msec_t) left : NGX_HTTP_JPP_TICK);

    if (left <= 0) {
        ngx_http_jpp_wait_over(wait, why_early);
    }
}


void
ngx_http_jpp_wait_over(ngx_http_jpp_wait_t *wait, const char *why_early)
{
    if (wait->is_waiting) {
        wait->is_waiting = 0;
        wait->over(wait, why_early);
    }
}


void
ngx_http_jpp_wait_end(ngx_http_jpp_wait_t *wait)
{
    wait->is_waiting = 0;

    if (wait->timer.timer_set) {
        ngx_del_timer(&wait->timer);
    }
}

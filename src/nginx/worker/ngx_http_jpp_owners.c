
/*
 * Tells jpp_owners.h which server and location a connection is served for.
 *
 * A request's location is known from the rewrite phase on, of which there is
 * one for each location that it comes through, and to the log phase.  What is
 * sampled before waits for that, and has its address's default server in the
 * meantime.
 */


#include "ngx_http_jpp_serving.h"
#include "ngx_http_jpp_worker.h"

#include "jpp_owners.h"


/* samples that are settled after an iteration */
#define NGX_HTTP_JPP_SETTLED  256


static ngx_connection_t  *ngx_http_jpp_owners_connections;


static const jpp_owners_server_t  ngx_http_jpp_owners_server = {
    ngx_http_jpp_serving_served,
    ngx_http_jpp_serving_meanwhile,
    ngx_http_jpp_loop_look
};


/* That of all streams of HTTP/2. */

static ngx_connection_t *
ngx_http_jpp_owners_connection(const ngx_http_request_t *r)
{
#if (NGX_HTTP_V2)
    if (r->stream != NULL) {
        return r->stream->connection->connection;
    }
#endif

    return r->connection;
}


static void
ngx_http_jpp_owners_set(ngx_http_request_t *r)
{
    uint32_t            index;
    uintptr_t           which, waits;
    ngx_connection_t   *c;

    c = ngx_http_jpp_owners_connection(r);
    index = c - ngx_http_jpp_owners_connections;

    if (jpp_owners_slot_at(index)->waiting == 0) {
        return;
    }

    which = c == r->connection ? JPP_SERVING_NEXT : (uintptr_t) r->connection;
    waits = 0;

    jpp_owners_set(jpp_owners_slot(index, c->number), which,
                   ngx_http_jpp_serving_request(r, &waits));
}


/* What waits for the connection of R is R's: it came before its location. */

static ngx_int_t
ngx_http_jpp_owners_logged(ngx_http_request_t *r)
{
    ngx_connection_t   *c;
    jpp_owners_slot_t  *slot;

    c = r->connection;

#if (NGX_HTTP_V2)
    if (r->stream != NULL) {
        ngx_http_jpp_owners_set(r);
        return NGX_OK;
    }
#endif

    slot = jpp_owners_slot_at(c - ngx_http_jpp_owners_connections);

    if (slot->waiting != 0
        && !jpp_owners_is_last(slot, c->number, ngx_http_jpp_serving_known(r)))
    {
        ngx_http_jpp_owners_set(r);
    }

    return NGX_OK;
}


ngx_int_t
ngx_http_jpp_owners_phases(ngx_conf_t *cf)
{
    ngx_http_handler_pt        *logged;
    ngx_http_core_main_conf_t  *cmcf;

    cmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);

    logged = ngx_array_push(&cmcf->phases[NGX_HTTP_LOG_PHASE].handlers);

    if (logged == NULL) {
        return NGX_ERROR;
    }

    *logged = ngx_http_jpp_owners_logged;

    return NGX_OK;
}


/* What is more than that comes after the next iteration. */

void
ngx_http_jpp_owners_settle(void)
{
    if (jpp_owners_is_due()) {
        jpp_owners_settle(NGX_HTTP_JPP_SETTLED);
    }

    if (jpp_owners_is_due()) {
        ngx_http_jpp_loop_look();
    }
}


jpp_code_t
ngx_http_jpp_owners_start(ngx_cycle_t *cycle, int owners, jpp_err_t *err)
{
    jpp_serving_t  serving;

    jpp_owners_stop();
    ngx_http_jpp_self.has_owners = false;

    if (owners == 0) {
        return JPP_OK;
    }

    if (cycle->connections == NULL) {
        return jpp_err_set(err, JPP_ERR_SYS,
                           "samples have no owners after a reload of a single "
                           "process (master_process off): restart nginx");
    }

    if (ngx_http_jpp_serving_init(cycle) != NGX_OK) {
        goto failed;
    }

    ngx_memzero(&serving, sizeof(jpp_serving_t));

    serving.ranges[0].start = (uintptr_t) cycle->connections;
    serving.ranges[0].size = sizeof(ngx_connection_t);
    serving.ranges[1].start = (uintptr_t) cycle->read_events;
    serving.ranges[1].size = sizeof(ngx_event_t);
    serving.ranges[2].start = (uintptr_t) cycle->write_events;
    serving.ranges[2].size = sizeof(ngx_event_t);
    serving.n = cycle->connection_n;
    serving.number = ngx_http_jpp_serving_number;

    jpp_serving_init(&serving);

    ngx_http_jpp_owners_connections = cycle->connections;

    if (jpp_owners_start(&serving, &ngx_http_jpp_owners_server)) {
        ngx_http_jpp_self.has_owners = true;
        ngx_http_jpp_self.is_hooked = jpp_hook_read() == JPP_HOOK_ON;
        return JPP_OK;
    }

failed:

    return jpp_err_set(err, JPP_ERR_MEMORY,
                       "there is no memory for the owners of samples");
}


uint32_t
ngx_http_jpp_owners_begin(ngx_http_request_t *r)
{
    ngx_connection_t  *c;

    c = ngx_http_jpp_owners_connection(r);

    return jpp_owners_tell(c - ngx_http_jpp_owners_connections);
}


void
ngx_http_jpp_owners_end(uint32_t before)
{
    (void) jpp_owners_tell(before);
}

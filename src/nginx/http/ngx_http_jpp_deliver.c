
#include "ngx_http_jpp_ask.h"
#include "ngx_http_jpp_deliver.h"
#include "ngx_http_jpp_refuse.h"


/* A body that is being sent. */
typedef struct {
    jpp_arena_t    arena;
    size_t         len;
} ngx_http_jpp_body_t;


static void ngx_http_jpp_deliver_free(void *data);


ngx_int_t
ngx_http_jpp_deliver(ngx_http_request_t *r, const ngx_http_jpp_answer_t *answer,
    jpp_arena_t *arena, u_char *data, size_t len)
{
    ngx_pool_cleanup_t       *cln;
    ngx_http_jpp_body_t      *body;
    ngx_http_jpp_loc_conf_t  *conf;

    conf = ngx_http_get_module_loc_conf(r, ngx_http_jemalloc_pprof_module);

    cln = ngx_pool_cleanup_add(r->pool, sizeof(ngx_http_jpp_body_t));
    if (cln == NULL) {
        jpp_arena_destroy(arena);
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    /*
     * Pages are small, and are sent while profiles are refused; a difference
     * that was begun is completed.
     */

    if (ngx_http_jpp_budget_hold(len, conf->max_size,
                                 answer->workers == NULL || answer->is_begun)
        != NGX_OK)
    {
        jpp_arena_destroy(arena);
        return ngx_http_jpp_refuse_full(r);
    }

    body = cln->data;
    body->arena = *arena;
    body->len = len;

    jpp_arena_init(arena, 0);

    cln->handler = ngx_http_jpp_deliver_free;

    return ngx_http_jpp_send_body(r, answer, data, len);
}


static void
ngx_http_jpp_deliver_free(void *data)
{
    ngx_http_jpp_body_t *body = data;

    ngx_http_jpp_budget_release(body->len);
    jpp_arena_destroy(&body->arena);
}


#include "ngx_http_jpp_collections.h"
#include "ngx_http_jpp_self.h"


/* how old a collection may be for a request that comes later, ms */
#define NGX_HTTP_JPP_FRESH          1000

/* the same where the answer is about the time that follows, ms */
#define NGX_HTTP_JPP_AT_THE_TIME    100


ngx_queue_t  ngx_http_jpp_collections = {
    &ngx_http_jpp_collections, &ngx_http_jpp_collections
};


ngx_http_jpp_collection_t *
ngx_http_jpp_collections_shared(const ngx_http_jpp_inquiry_t *inquiry)
{
    ngx_uint_t                  n_changes;
    ngx_queue_t                *q;
    ngx_http_jpp_collection_t  *co;

    n_changes = ngx_http_jpp_registry_changes(ngx_http_jpp_self.zone);

    for (q = ngx_queue_head(&ngx_http_jpp_collections);
         q != ngx_queue_sentinel(&ngx_http_jpp_collections);
         q = ngx_queue_next(q))
    {
        co = ngx_queue_data(q, ngx_http_jpp_collection_t, queue);

        if (!co->is_complete
            && !co->kind->is_change
            && co->n_changes == n_changes
            && ngx_current_msec - co->started
               < (inquiry->wait + inquiry->delay != 0
                  ? NGX_HTTP_JPP_AT_THE_TIME
                  : NGX_HTTP_JPP_FRESH)
            && ngx_http_jpp_inquiry_is_same(&co->inquiry, inquiry))
        {
            return co;
        }
    }

    return NULL;
}


ngx_http_jpp_collection_t *
ngx_http_jpp_collections_next(ngx_uint_t is_done)
{
    ngx_queue_t                *q;
    ngx_http_jpp_collection_t  *co;

    for (q = ngx_queue_head(&ngx_http_jpp_collections);
         q != ngx_queue_sentinel(&ngx_http_jpp_collections);
         q = ngx_queue_next(q))
    {
        co = ngx_queue_data(q, ngx_http_jpp_collection_t, queue);

        if (!co->is_complete
            && (is_done ? co->n_done == co->n
                        : co->n_next < co->n
                          && ngx_current_msec - co->started
                             >= co->inquiry.delay
                          && ngx_http_jpp_share_has_room(&co->inquiry)))
        {
            return co;
        }
    }

    return NULL;
}

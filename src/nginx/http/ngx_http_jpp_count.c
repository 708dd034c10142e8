
#include "ngx_http_jpp_count.h"
#include "ngx_http_jpp_self.h"


typedef struct {
    ngx_http_request_t             *request;
    const ngx_http_jpp_resource_t  *resource;
} ngx_http_jpp_count_t;


static void ngx_http_jpp_count_end(void *data);


ngx_int_t
ngx_http_jpp_count(ngx_http_request_t *r,
    const ngx_http_jpp_resource_t *resource)
{
    ngx_http_cleanup_t    *cln;
    ngx_http_jpp_count_t  *count;

    cln = ngx_http_cleanup_add(r, sizeof(ngx_http_jpp_count_t));
    if (cln == NULL) {
        return NGX_ERROR;
    }

    count = cln->data;
    count->request = r;
    count->resource = resource;

    cln->handler = ngx_http_jpp_count_end;

    return NGX_OK;
}


/* no status: the client left before the answer */

static void
ngx_http_jpp_count_end(void *data)
{
    ngx_http_jpp_count_t *count = data;

    ngx_uint_t       status;
    const char      *name;
    ngx_shm_zone_t  *zone;

    status = count->request->headers_out.status;
    zone = ngx_http_jpp_self.zone;

    /* of a single process, after a reload without a location that serves */

    if (zone == NULL) {
        return;
    }

    name = count->resource == NULL ? "none"
           : count->resource->name.len != 0
             ? (char *) count->resource->name.data : "console";

    jpp_notes_requested(ngx_http_jpp_registry_lock(zone), name,
                        status != 0 ? status
                                    : NGX_HTTP_CLIENT_CLOSED_REQUEST);
    ngx_http_jpp_registry_unlock(zone);
}

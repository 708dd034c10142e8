
/*
 * The owners of serving.h: each is named when a sample needs it, and then known
 * by what it is in the configuration.
 *
 * [signal] All but the first.
 */


#ifndef _NGX_HTTP_JPP_SERVING_NAMES_H_INCLUDED_
#define _NGX_HTTP_JPP_SERVING_NAMES_H_INCLUDED_


#include "ngx_http_jpp.h"

#include "jpp_owner_labels.h"


/* Learn the servers and listening sockets of CYCLE; NGX_ERROR: no memory. */
ngx_int_t ngx_http_jpp_serving_names(ngx_cycle_t *cycle,
    ngx_http_core_main_conf_t *cmcf);

/* The server that has CTX, which may be anything; NULL: none. */
ngx_http_core_srv_conf_t *ngx_http_jpp_serving_name_find(const void *ctx);

/* What CSCF serves without a location. */
uint32_t ngx_http_jpp_serving_name_server(const ngx_http_core_srv_conf_t *cscf);

/* The location of R, by USCF if that is not NULL, which becomes BY. */
uint32_t ngx_http_jpp_serving_name_another(const ngx_http_request_t *r,
    ngx_http_jpp_by_t *by, const ngx_http_upstream_srv_conf_t *uscf);

/* The sessions of stream or mail at LS. */
uint32_t ngx_http_jpp_serving_name_session(const ngx_listening_t *ls);


/* The location of R, which JLCF is of; by USCF, if that is not NULL. */
static ngx_inline uint32_t
ngx_http_jpp_serving_name_location(const ngx_http_request_t *r,
    ngx_http_jpp_loc_conf_t *jlcf, const ngx_http_upstream_srv_conf_t *uscf)
{
    uint32_t            owner;
    ngx_http_jpp_by_t  *by;

    by = &jlcf->owners[uscf != NULL];
    owner = __atomic_load_n(&by->owner, __ATOMIC_RELAXED);

    return owner != JPP_OWNER_NONE && by->upstream == uscf
           ? owner
           : ngx_http_jpp_serving_name_another(r, by, uscf);
}


#endif /* _NGX_HTTP_JPP_SERVING_NAMES_H_INCLUDED_ */


/*
 * Scans sessions of stream and mail, whether these modules are built in,
 * loaded, or absent.
 */


#include "ngx_http_jpp_pools_walk.h"

#include "jpp_images.h"

#include <ngx_mail.h>
#include <ngx_stream.h>

#include <dlfcn.h>


typedef struct {
    jpp_pools_kind_t   kind;
    const char        *symbol;         /* what accepts its connections */

    /* Mark the buffers of DATA, which is in scope; its peer, or NULL. */
    ngx_connection_t  *(*buffers)(ngx_http_jpp_walk_t *walk,
                                  const ngx_connection_t *c, void *data);

    /* what another connection with its pool has; or NULL */
    ngx_http_jpp_sharing_pt
                       sharing;
} ngx_http_jpp_sessions_t;


static ngx_connection_t *
ngx_http_jpp_sessions_stream(ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *c, void *data)
{
    ngx_stream_session_t *s = data;

    ngx_stream_upstream_t  *u;

    if (!ngx_http_jpp_scope_has(walk, s, sizeof(ngx_stream_session_t))
        || s->signature != NGX_STREAM_MODULE || s->connection != c
        || !ngx_http_jpp_scope_has(walk, s->upstream,
                                   sizeof(ngx_stream_upstream_t)))
    {
        return NULL;
    }

    u = s->upstream;

    ngx_http_jpp_scope_mark(walk, s, JPP_POOLS_SESSION);
    ngx_http_jpp_scope_mark(walk, u, JPP_POOLS_SESSION);
    ngx_http_jpp_scope_mark(walk, u->upstream_buf.start, JPP_POOLS_SESSION);
    ngx_http_jpp_scope_mark(walk, u->downstream_buf.start, JPP_POOLS_SESSION);
    return u->peer.connection;
}


static ngx_connection_t *
ngx_http_jpp_sessions_mail(ngx_http_jpp_walk_t *walk, const ngx_connection_t *c,
    void *data)
{
    ngx_mail_session_t *s = data;

    if (!ngx_http_jpp_scope_has(walk, s, sizeof(ngx_mail_session_t))
        || s->signature != NGX_MAIL_MODULE || s->connection != c)
    {
        return NULL;
    }

    ngx_http_jpp_scope_mark(walk, s, JPP_POOLS_SESSION);

    if (ngx_http_jpp_scope_has(walk, s->buffer, sizeof(ngx_buf_t))) {
        ngx_http_jpp_scope_mark(walk, s->buffer->start, JPP_POOLS_SESSION);
    }

    if (!ngx_http_jpp_scope_has(walk, s->proxy, sizeof(ngx_mail_proxy_ctx_t))) {
        return NULL;
    }

    if (ngx_http_jpp_scope_has(walk, s->proxy->buffer, sizeof(ngx_buf_t))) {
        ngx_http_jpp_scope_mark(walk, s->proxy->buffer->start,
                                JPP_POOLS_SESSION);
    }

    return s->proxy->upstream.connection;
}


static const ngx_module_t  *ngx_http_jpp_auth_http;


/*
 * What auth_http asks with has a pool of its own, and is the first in it.  The
 * session does not forget it when the answer is there; but until then there is
 * the connection, which it refers to, and no proxy yet.
 */

static void
ngx_http_jpp_sessions_auth(ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *accepted, const ngx_connection_t *c, uint32_t owner)
{
    ngx_uint_t              index;
    ngx_pool_t             *pool;
    ngx_mail_session_t     *s;
    ngx_peer_connection_t  *peer;

    s = accepted->data;

    /*
     * With NGX_DEBUG_PALLOC nothing lies behind its pool, so that pool cannot
     * be found: the cycle, which is the first in its own, shows that.
     */

    if (ngx_http_jpp_auth_http == NULL || c->data != s
        || (const u_char *) walk->cycle
           != (const u_char *) walk->cycle->pool + sizeof(ngx_pool_t))
    {
        return;
    }

    index = ngx_http_jpp_auth_http->ctx_index;

    ngx_http_jpp_scope_open(walk, accepted->pool);
    ngx_http_jpp_count_larges(walk, accepted->pool);

    if (!ngx_http_jpp_scope_has(walk, s, sizeof(ngx_mail_session_t))
        || s->signature != NGX_MAIL_MODULE || s->connection != accepted
        || s->proxy != NULL
        || !ngx_http_jpp_scope_has(walk, s->ctx, (index + 1) * sizeof(void *))
        || s->ctx[index] == NULL)
    {
        return;
    }

    /* it begins with two buffers, and then the peer */

    peer = (ngx_peer_connection_t *) ((ngx_buf_t **) s->ctx[index] + 2);
    pool = (ngx_pool_t *) ((u_char *) s->ctx[index] - sizeof(ngx_pool_t));

    if (peer->connection == c
        && ngx_http_jpp_pool_has(pool, peer, sizeof(ngx_peer_connection_t)))
    {
        /* the session's own were counted with it */

        ngx_http_jpp_scope_open(walk, pool);
        ngx_http_jpp_count_pool(walk, pool, owner);
        ngx_http_jpp_count_flush(walk);
    }
}


static const ngx_http_jpp_sessions_t  ngx_http_jpp_sessions[] = {
    { JPP_POOLS_STREAM, "ngx_stream_init_connection",
      ngx_http_jpp_sessions_stream, NULL },

    { JPP_POOLS_MAIL, "ngx_mail_init_connection",
      ngx_http_jpp_sessions_mail, ngx_http_jpp_sessions_auth }
};

#define NGX_HTTP_JPP_SESSIONS                                                 \
    (sizeof(ngx_http_jpp_sessions) / sizeof(ngx_http_jpp_sessions_t))

/* their addresses, or NULL */
static void  *ngx_http_jpp_accepting[NGX_HTTP_JPP_SESSIONS];


/* for one that is missing dlsym() would keep memory */

static void *
ngx_http_jpp_sessions_symbol(const char *name)
{
    return jpp_images_has(name) ? dlsym(RTLD_DEFAULT, name) : NULL;
}


/* By name: a module may be loaded after this one. */

void
ngx_http_jpp_sessions_init(void)
{
    ngx_uint_t  i;

    for (i = 0; i < NGX_HTTP_JPP_SESSIONS; i++) {
        ngx_http_jpp_accepting[i] =
            ngx_http_jpp_sessions_symbol(ngx_http_jpp_sessions[i].symbol);
    }

    ngx_http_jpp_auth_http =
        ngx_http_jpp_sessions_symbol("ngx_mail_auth_http_module");
}


ngx_uint_t
ngx_http_jpp_sessions_connection(ngx_http_jpp_walk_t *walk, ngx_connection_t *c)
{
    uint32_t                        owner;
    ngx_uint_t                      i;
    ngx_connection_t               *pc;
    const ngx_http_jpp_sessions_t  *sessions;

    for (i = 0; i < NGX_HTTP_JPP_SESSIONS; i++) {
        if (ngx_http_jpp_accepting[i] != NULL
            && (void *) c->listening->handler == ngx_http_jpp_accepting[i])
        {
            break;
        }
    }

    if (i == NGX_HTTP_JPP_SESSIONS) {
        return 0;
    }

    sessions = &ngx_http_jpp_sessions[i];

    ngx_http_jpp_scope_open(walk, c->pool);

    owner = jpp_pools_owner(&walk->table, sessions->kind, 0, 0,
                            ngx_http_jpp_name_address(walk, c->listening));

    ngx_http_jpp_unit_begin(walk, owner, 0);
    ngx_http_jpp_others_client(walk, c, c->log, c->pool, owner,
                               sessions->sharing);

    ngx_http_jpp_count_pool(walk, c->pool, owner);
    ngx_http_jpp_buffers_connection(walk, c, NULL);

    pc = sessions->buffers(walk, c, c->data);

    /* the peer has the session's pool */

    if (pc != NULL
        && ngx_http_jpp_walk_slot(walk, pc) != NGX_ERROR
        && pc->pool == c->pool)
    {
        (void) ngx_http_jpp_others_count(walk, pc);
        ngx_http_jpp_buffers_peer(walk, pc);
    }

    ngx_http_jpp_count_flush(walk);
    ngx_http_jpp_unit_end(walk, 0, c, NULL);

    return 1;
}


#include "ngx_http_jpp_serving_http2.h"
#include "ngx_http_jpp_serving_pool.h"

#if (NGX_HTTP_V2)

#include <ngx_http_v2_module.h>

#include "jpp_frame.h"
#include "jpp_owners.h"
#include "jpp_serving.h"

/* a module may be loaded by an nginx that was built without */
#pragma weak ngx_http_v2_module


/* of the pool of HTTP/2's: each has connections of seven streams */
#define NGX_HTTP_JPP_FAKES  64


static const ngx_connection_t *ngx_http_jpp_serving_words(
    const ngx_connection_t *c, const ngx_http_v2_connection_t *h2c,
    const uintptr_t *words, uint32_t n, ngx_uint_t *is_reading);
static const ngx_connection_t *ngx_http_jpp_serving_fake(
    const ngx_connection_t *c, const ngx_http_v2_connection_t *h2c,
    const void *p);


ngx_http_log_ctx_t *
ngx_http_jpp_serving_http2(const ngx_connection_t *c, const uintptr_t *words,
    uint32_t n, uintptr_t *waits)
{
    ngx_uint_t                       is_reading;
    const ngx_connection_t          *fc;
    const ngx_http_v2_stream_t      *stream;
    const ngx_http_v2_connection_t  *h2c;

    h2c = c->data;
    *waits = h2c->processing == 0 ? JPP_SERVING_FIRST : 0;

    /* without a stream nginx may be freeing the pool, which it forgets last */

    if (words == NULL || h2c->processing == 0 || h2c->pool == NULL) {
        return NULL;
    }

    fc = ngx_http_jpp_serving_words(c, h2c, words, n, &is_reading);

    /* headers, or a body, that are parsed: nginx forgets a stream that ends */

    stream = is_reading ? h2c->state.stream : NULL;

    if (stream != NULL && stream->connection == h2c) {
        fc = stream->request->connection;
    }

    return fc != NULL ? fc->log->data : NULL;
}


/* The first that WORDS name; NULL: none. */

static const ngx_connection_t *
ngx_http_jpp_serving_words(const ngx_connection_t *c,
    const ngx_http_v2_connection_t *h2c, const uintptr_t *words, uint32_t n,
    ngx_uint_t *is_reading)
{
    uint32_t                 i;
    uintptr_t                word, low, high;
    const ngx_pool_t        *block;
    const ngx_connection_t  *fc, *first;

    low = UINTPTR_MAX;
    high = 0;
    first = NULL;
    *is_reading = 0;

    for (block = h2c->pool, i = 0;
         block != NULL && i < NGX_HTTP_JPP_FAKES;
         block = block->d.next, i++)
    {
        low = ngx_min(low, (uintptr_t) block);
        high = ngx_max(high, (uintptr_t) block->d.last);
    }

    for (i = 0; i < n && i < JPP_SERVING_WORDS; i++) {
        word = jpp_frame_word((uintptr_t) &words[i]);

        if (word == (uintptr_t) c->read) {
            *is_reading = 1;
        }

        if (first == NULL && word - low < high - low
            && word % sizeof(void *) == 0)
        {
            fc = (const ngx_connection_t *) word;
            first = ngx_http_jpp_serving_fake(c, h2c, fc);
        }
    }

    return first;
}


/*
 * P if it is the connection of a stream, which begins as a copy of C; NULL: it
 * is something else, or waits to be used again.
 */

static const ngx_connection_t *
ngx_http_jpp_serving_fake(const ngx_connection_t *c,
    const ngx_http_v2_connection_t *h2c, const void *p)
{
    const ngx_pool_t          *pool;
    const ngx_connection_t    *fc;
    const ngx_http_log_ctx_t  *ctx;

    fc = p;
    pool = h2c->pool;

    if (!ngx_http_jpp_serving_has(pool, fc, sizeof(ngx_connection_t))
        || fc->fd != c->fd
        || fc->listening != c->listening
        || fc->number != c->number
        || !ngx_http_jpp_serving_has(pool, fc->log, sizeof(ngx_log_t)))
    {
        return NULL;
    }

    ctx = fc->log->data;

    return ngx_http_jpp_serving_has(pool, ctx, sizeof(ngx_http_log_ctx_t))
           && ctx->connection == fc
           && (ctx->request != NULL || fc->data == h2c->http_connection)
           ? fc : NULL;
}


ngx_uint_t
ngx_http_jpp_serving_http2_is(const ngx_connection_t *c)
{
    return &ngx_http_v2_module != NULL
           && ngx_http_jpp_serving_holds(c->pool, c->data,
                                         sizeof(ngx_http_v2_connection_t))
           && ((ngx_http_v2_connection_t *) c->data)->connection == c;
}


const void *
ngx_http_jpp_serving_http2_data(const void *data)
{
    return ((const ngx_http_v2_connection_t *) data)->http_connection;
}

#else

ngx_http_log_ctx_t *
ngx_http_jpp_serving_http2(const ngx_connection_t *c, const uintptr_t *words,
    uint32_t n, uintptr_t *waits)
{
    (void) c;
    (void) words;
    (void) n;
    (void) waits;

    return NULL;
}


ngx_uint_t
ngx_http_jpp_serving_http2_is(const ngx_connection_t *c)
{
    (void) c;

    return 0;
}


const void *
ngx_http_jpp_serving_http2_data(const void *data)
{
    (void) data;

    return NULL;
}

#endif

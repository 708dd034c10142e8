
/*
 * The resource symbol: pprof's protocol for names.  GET asks whether names are
 * available; POST, or GET with a query, sends addresses.
 */


#include "ngx_http_jpp_resources.h"


/* Addresses. */
typedef struct {
    char    *text;
    size_t   len;
} ngx_http_jpp_lookup_t;


static ngx_int_t
ngx_http_jpp_symbol_refuse(ngx_http_request_t *r)
{
    return ngx_http_jpp_refuse(r, NGX_HTTP_JPP_LARGE_BODY,
                               (ngx_uint_t) NGX_HTTP_JPP_MAX_BODY);
}


static ngx_int_t
ngx_http_jpp_symbol_start(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question)
{
    ngx_buf_t     b;
    ngx_chain_t   query, *in;

    in = NULL;

    if (r->method == NGX_HTTP_POST) {
        in = r->request_body->bufs;

    } else if (r->args.len != 0) {
        ngx_memzero(&b, sizeof(ngx_buf_t));

        b.pos = r->args.data;
        b.last = r->args.data + r->args.len;
        b.memory = 1;

        query.buf = &b;
        query.next = NULL;
        in = &query;
    }

    return ngx_http_jpp_body_len(in) > NGX_HTTP_JPP_MAX_BODY
           ? ngx_http_jpp_symbol_refuse(r)
           : ngx_http_jpp_job(r, question, &ngx_http_jpp_symbol, in);
}


static ngx_int_t
ngx_http_jpp_symbol_read(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question)
{
    if (r->method != NGX_HTTP_POST) {
        return ngx_http_jpp_symbol_start(r, question);
    }

    return r->headers_in.content_length_n > NGX_HTTP_JPP_MAX_BODY
           ? ngx_http_jpp_symbol_refuse(r)
           : ngx_http_jpp_body_read(r, question, ngx_http_jpp_symbol_start);
}


/* DATA: the addresses, or NULL. */

static ngx_int_t
ngx_http_jpp_symbol_init(ngx_http_jpp_job_t *job, void *data)
{
    ngx_http_jpp_lookup_t *lookup = job->state;

    lookup->len = ngx_http_jpp_body_len(data);
    lookup->text = jpp_arena_alloc(&job->arena, lookup->len + 1);

    return lookup->text != NULL
           ? ngx_http_jpp_body_copy((u_char *) lookup->text, data) : NGX_ERROR;
}


static jpp_code_t
ngx_http_jpp_symbol_write(ngx_http_jpp_job_t *job, jpp_sink_t *sink)
{
    ngx_http_jpp_lookup_t *lookup = job->state;

    jpp_vec_t   *maps;
    jpp_code_t   rc;

    maps = jpp_vec_create(&job->arena);
    if (maps == NULL) {
        return jpp_err_memory(&job->err);
    }

    rc = jpp_proc_maps(maps, &job->err);

    return rc != JPP_OK
           ? rc : jpp_lookup(&job->arena, &ngx_http_jpp_self.symbols,
                             (char *) maps->data, maps->len, lookup->text,
                             lookup->len, sink, &job->err);
}


const ngx_http_jpp_handler_t  ngx_http_jpp_symbol = {
    .start = ngx_http_jpp_symbol_read,
    .answer.type = "text/plain",
    .size = sizeof(ngx_http_jpp_lookup_t),
    .init = ngx_http_jpp_symbol_init,
    .ask = ngx_http_jpp_job_run,
    .write = ngx_http_jpp_symbol_write
};

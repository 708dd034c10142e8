
/*
 * Sends responses: headers and bodies.
 *
 * Every answer of the module leaves through here, so that all of them carry
 * the same headers, and none is compressed again or cut into ranges.  All
 * functions that send return what a content handler returns.  Bodies that
 * count as memory are sent by job, and refusals by refuse.
 */


#include "ngx_http_jpp_http.h"


/* of the machine's name, in a file name */
#define NGX_HTTP_JPP_HOST_LEN  64


const ngx_http_jpp_answer_t  ngx_http_jpp_text = {
    .type = "text/plain"
};


ngx_int_t
ngx_http_jpp_send_see_other(ngx_http_request_t *r, const u_char *address,
    size_t len)
{
    u_char  *value;

    value = ngx_pnalloc(r->pool, len + 1);
    if (value == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    *ngx_cpymem(value, address, len) = '\0';

    if (ngx_http_jpp_add_header(r, "Location", (char *) value) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_http_jpp_send(r, NGX_HTTP_SEE_OTHER, &ngx_http_jpp_text, NULL,
                             0);
}


/*
 * nginx sends the headers in its list; filters read and change fields beside
 * the list.  These are in the fields only.  No filter encodes an answer that
 * has a Content-Encoding: not gzip, nor brotli or zstd, which check nothing
 * else. And "expires" finds a Cache-Control and an Expires to overwrite.
 */

static ngx_int_t
ngx_http_jpp_filter_fields(ngx_http_request_t *r)
{
    ngx_table_elt_t  *h;
#if (nginx_version < 1023000)
    ngx_table_elt_t  **cc;
#endif

    h = ngx_pcalloc(r->pool, 3 * sizeof(ngx_table_elt_t));
    if (h == NULL) {
        return NGX_ERROR;
    }

    ngx_str_set(&h[0].value, "identity");
    ngx_str_set(&h[1].value, "no-store");

    r->headers_out.content_encoding = &h[0];
    r->headers_out.expires = &h[2];

#if (nginx_version >= 1023000)

    r->headers_out.cache_control = &h[1];

#else

    if (ngx_array_init(&r->headers_out.cache_control, r->pool, 1,
                       sizeof(ngx_table_elt_t *))
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    cc = ngx_array_push(&r->headers_out.cache_control);
    if (cc == NULL) {
        return NGX_ERROR;
    }

    *cc = &h[1];

#endif

    return NGX_OK;
}


/*
 * What a browser shows does what its policy says, is part of no other site's
 * page, and says nothing of its address to another one.  Without a referrer for
 * its own site, a form would come from nowhere (Origin: null).
 */

static ngx_int_t
ngx_http_jpp_send_headers(ngx_http_request_t *r, ngx_uint_t status,
    const ngx_http_jpp_answer_t *answer, off_t len)
{
    const char  *site;

    r->headers_out.status = status;
    r->headers_out.content_length_n = len;

    r->headers_out.content_type.len = ngx_strlen(answer->type);
    r->headers_out.content_type.data = (u_char *) answer->type;
    r->headers_out.content_type_len = r->headers_out.content_type.len;
    r->headers_out.content_type_lowcase = NULL;

    if (ngx_strncmp(answer->type, "text/", 5) == 0) {
        ngx_str_set(&r->headers_out.charset, "utf-8");
    }

    /* a profile is never "not modified", and has no ranges */

    r->disable_not_modified = 1;
    r->allow_ranges = 0;

    if (ngx_http_jpp_filter_fields(r) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    site = answer->policy != NULL ? "same-origin" : NULL;

    const char *const  (*header)[2];
    const char *const  headers[][2] = {
        { "X-Content-Type-Options", "nosniff" },
        { "Cache-Control", "no-store" },
        { "Jemalloc-Pprof-Workers", answer->workers },
        { "Content-Security-Policy", answer->policy },
        { "Cross-Origin-Resource-Policy", site },
        { "Cross-Origin-Opener-Policy", site },
        { "Referrer-Policy", site },
        { "Content-Disposition", answer->disposition }
    };

    jpp_each_of(header, headers) {
        if (ngx_http_jpp_add_header(r, (*header)[0], (*header)[1]) != NGX_OK) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }
    }

    return ngx_http_send_header(r);
}


ngx_int_t
ngx_http_jpp_profile_headers(ngx_http_request_t *r,
    ngx_http_jpp_answer_t *answer, const ngx_http_jpp_question_t *question,
    int64_t time_nanos)
{
    u_char               c, *p;
    ngx_tm_t             tm;
    ngx_uint_t           i, n;
    const jpp_format_t  *format;

    if (question->resource->evidence.parser == NULL) {
        return NGX_OK;
    }

    format = jpp_format_of(&question->args);

    answer->type = format->type;
    answer->policy = format->policy;

    if (format->suffix == NULL) {
        return NGX_OK;
    }

    p = ngx_pnalloc(r->pool, 128 + NGX_HTTP_JPP_HOST_LEN);
    if (p == NULL) {
        return NGX_ERROR;
    }

    answer->disposition = (char *) p;

    /* what has a policy is a page or a picture, which is shown */

    p = ngx_sprintf(p, "%s; filename=\"nginx-%V-",
                    format->policy != NULL ? "inline" : "attachment",
                    &question->resource->name);

    /* the machine's name may hold anything, and must not end the string */

    n = ngx_min(ngx_cycle->hostname.len, NGX_HTTP_JPP_HOST_LEN);

    for (i = 0; i < n; i++) {
        c = ngx_cycle->hostname.data[i];
        *p++ = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z')
               || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' ? c : '_';
    }

    ngx_gmtime((time_t) (time_nanos / 1000000000), &tm);

    (void) ngx_sprintf(p, "-%4d%02d%02dT%02d%02d%02dZ.%s\"%Z",
                       tm.ngx_tm_year, tm.ngx_tm_mon, tm.ngx_tm_mday,
                       tm.ngx_tm_hour, tm.ngx_tm_min, tm.ngx_tm_sec,
                       format->suffix);

    return NGX_OK;
}


ngx_int_t
ngx_http_jpp_send(ngx_http_request_t *r, ngx_uint_t status,
    const ngx_http_jpp_answer_t *answer, u_char *data, size_t len)
{
    ngx_int_t    rc;
    ngx_buf_t   *b;
    ngx_chain_t  out;

    rc = ngx_http_jpp_send_headers(r, status, answer, len);

    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
        return rc;
    }

    b = ngx_calloc_buf(r->pool);
    if (b == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    b->pos = data;
    b->last = data + len;
    b->memory = len != 0;
    b->last_buf = 1;
    b->last_in_chain = 1;

    out.buf = b;
    out.next = NULL;

    return ngx_http_output_filter(r, &out);
}


ngx_int_t
ngx_http_jpp_add_header(ngx_http_request_t *r, const char *key,
    const char *value)
{
    ngx_table_elt_t  *h;

    if (value == NULL) {
        return NGX_OK;
    }

    h = ngx_list_push(&r->headers_out.headers);
    if (h == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(h, sizeof(ngx_table_elt_t));

    h->hash = 1;
    h->key.len = ngx_strlen(key);
    h->key.data = (u_char *) key;
    h->value.len = ngx_strlen(value);
    h->value.data = (u_char *) value;

    return NGX_OK;
}

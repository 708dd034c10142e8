
/*
 * Reads the body of a request, from memory or from a temporary file.
 */


#include "ngx_http_jpp_http.h"


/* Who reads a body. */
typedef struct {
    ngx_http_jpp_question_t   question;
    ngx_http_jpp_answer_pt    answer;
} ngx_http_jpp_body_reader_t;


off_t
ngx_http_jpp_body_len(const ngx_chain_t *in)
{
    off_t  len;

    for (len = 0; in != NULL; in = in->next) {
        len += ngx_buf_size(in->buf);
    }

    return len;
}


/* A body larger than client_body_buffer_size is in a temporary file. */

ngx_int_t
ngx_http_jpp_body_copy(u_char *to, const ngx_chain_t *in)
{
    ssize_t     n;
    ngx_buf_t  *b;

    for ( /* void */ ; in != NULL; in = in->next) {

        b = in->buf;

        if (b->in_file) {
            n = ngx_read_file(b->file, to, b->file_last - b->file_pos,
                              b->file_pos);

            if (n != b->file_last - b->file_pos) {
                return NGX_ERROR;
            }

            to += n;

        } else {
            to = ngx_cpymem(to, b->pos, b->last - b->pos);
        }
    }

    return NGX_OK;
}


static void
ngx_http_jpp_body_has_come(ngx_http_request_t *r)
{
    ngx_http_jpp_body_reader_t  *reader;

    reader = ngx_http_get_module_ctx(r, ngx_http_jemalloc_pprof_module);

    ngx_http_finalize_request(r, reader->answer(r, &reader->question));
}


ngx_int_t
ngx_http_jpp_body_read(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question, ngx_http_jpp_answer_pt answer)
{
    ngx_int_t                    rc;
    ngx_http_jpp_body_reader_t  *reader;

    reader = ngx_palloc(r->pool, sizeof(ngx_http_jpp_body_reader_t));
    if (reader == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    reader->question = *question;
    reader->answer = answer;

    ngx_http_set_ctx(r, reader, ngx_http_jemalloc_pprof_module);

    rc = ngx_http_read_client_request_body(r, ngx_http_jpp_body_has_come);

    return rc >= NGX_HTTP_SPECIAL_RESPONSE ? rc : NGX_DONE;
}


#include "ngx_http_jpp_body.h"


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

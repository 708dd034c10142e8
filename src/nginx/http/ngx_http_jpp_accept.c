
#include "ngx_http_jpp_accept.h"

#include "jpp_query.h"


/* by the first Accept header: builds without headers do not keep it */

ngx_uint_t
ngx_http_jpp_prefers(ngx_http_request_t *r, const char *type, const char *other)
{
    ngx_uint_t        i;
    const char       *accept;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *header;

    for (part = &r->headers_in.headers.part; part != NULL; part = part->next) {
        header = part->elts;

        for (i = 0; i < part->nelts; i++) {

            if (header[i].key.len == sizeof("Accept") - 1
                && ngx_strncasecmp(header[i].key.data, (u_char *) "accept",
                                   sizeof("accept") - 1)
                   == 0)
            {
                accept = (const char *) header[i].value.data;

                return jpp_accept(accept, header[i].value.len, type)
                       > jpp_accept(accept, header[i].value.len, other);
            }
        }
    }

    return 0;
}

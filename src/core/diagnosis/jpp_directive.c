
/*
 * The directives that bound the memory of requests and connections, by class of
 * memory.
 */


#include "jpp_diagnosis.h"


/* any kind */
#define JPP_DIRECTIVE_ANY  JPP_POOLS_KINDS


typedef struct {
    jpp_pools_kind_t     kind;
    jpp_pools_class_t    class;
    const char          *module;       /* a word of its name; NULL: any */
    const char          *names;        /* behind a prefix, if "_..." */
} jpp_directive_row_t;


/* the first row that fits counts */

static const jpp_directive_row_t  jpp_directive_rows[] = {

    { JPP_POOLS_REQUEST, JPP_POOLS_BLOCKS, NULL, "request_pool_size" },
    { JPP_POOLS_CLIENT_CONNECTION, JPP_POOLS_BLOCKS, NULL,
      "connection_pool_size" },
    { JPP_POOLS_CLOSING, JPP_POOLS_BLOCKS, NULL, "connection_pool_size" },
    { JPP_POOLS_HTTP2, JPP_POOLS_BLOCKS, NULL,
      "http2_max_concurrent_streams, http2_pool_size" },
    { JPP_POOLS_HTTP3, JPP_POOLS_BLOCKS, NULL, "connection_pool_size" },

    { JPP_POOLS_REQUEST, JPP_POOLS_HEADERS, NULL,
      "large_client_header_buffers" },
    { JPP_DIRECTIVE_ANY, JPP_POOLS_HEADERS, NULL,
      "client_header_buffer_size, large_client_header_buffers" },
    { JPP_DIRECTIVE_ANY, JPP_POOLS_BODY, NULL, "client_body_buffer_size" },
    { JPP_DIRECTIVE_ANY, JPP_POOLS_UPSTREAM_HEADER, NULL, "_buffer_size" },
    { JPP_DIRECTIVE_ANY, JPP_POOLS_UPSTREAM_BUFFERS, NULL, "_buffers" },
    { JPP_DIRECTIVE_ANY, JPP_POOLS_OUTPUT, NULL, "output_buffers" },
    { JPP_DIRECTIVE_ANY, JPP_POOLS_TLS, NULL, "ssl_buffer_size" },
    { JPP_DIRECTIVE_ANY, JPP_POOLS_HTTP2_BUFFERS, NULL,
      "http2_streams_index_size" },

    { JPP_POOLS_STREAM, JPP_POOLS_SESSION, NULL, "proxy_buffer_size" },
    { JPP_POOLS_MAIL, JPP_POOLS_SESSION, NULL, "proxy_buffer" },

    { JPP_DIRECTIVE_ANY, JPP_POOLS_MODULE, "gzip",
      "gzip_window, gzip_hash, gzip_buffers" },
    { JPP_DIRECTIVE_ANY, JPP_POOLS_MODULE, "gunzip", "gunzip_buffers" },
    { JPP_DIRECTIVE_ANY, JPP_POOLS_MODULE, "brotli",
      "brotli_window, brotli_buffers" },
    { JPP_DIRECTIVE_ANY, JPP_POOLS_MODULE, "image", "image_filter_buffer" },
    { JPP_DIRECTIVE_ANY, JPP_POOLS_MODULE, "ssi", "ssi_value_length" },
    { JPP_DIRECTIVE_ANY, JPP_POOLS_MODULE, "mp4",
      "mp4_buffer_size, mp4_max_buffer_size" },
    { JPP_DIRECTIVE_ANY, JPP_POOLS_MODULE, "copy", "output_buffers" },
    { JPP_DIRECTIVE_ANY, JPP_POOLS_MODULE, "postpone",
      "subrequest_output_buffer_size" }
};


const char *
jpp_directive(const jpp_directive_of_t *of, char text[JPP_DIRECTIVE_TEXT])
{
    const jpp_directive_row_t  *row;

    text[0] = '\0';

    jpp_each_of(row, jpp_directive_rows) {
        if (row->class != of->class
            || (row->kind != JPP_DIRECTIVE_ANY && row->kind != of->kind)
            || (row->module != NULL
                && !jpp_scan_has_word(of->module.data, of->module.len, "_ ",
                                      row->module)))
        {
            continue;
        }

        if (row->names[0] == '_') {
            jpp_text_add(text, JPP_DIRECTIVE_TEXT, "%.*s",
                         (int) jpp_smaller(of->prefix.len, 32),
                         of->prefix.data);
            jpp_text_add(text, JPP_DIRECTIVE_TEXT, "%s",
                         text[0] != '\0' ? "" : "*");
        }

        jpp_text_add(text, JPP_DIRECTIVE_TEXT, "%s", row->names);

        break;
    }

    return text;
}


const char *
jpp_directive_value(uint64_t number, uint64_t size,
    char text[JPP_DIRECTIVE_TEXT])
{
    const char  *unit;

    text[0] = '\0';

    if (size == 0) {
        return text;
    }

    unit = "";

    if (size % (1024 * 1024) == 0) {
        unit = "m";
        size /= 1024 * 1024;

    } else if (size % 1024 == 0) {
        unit = "k";
        size /= 1024;
    }

    if (number != 0) {
        jpp_text_add(text, JPP_DIRECTIVE_TEXT, "%" PRIu64 " ", number);
    }

    jpp_text_add(text, JPP_DIRECTIVE_TEXT, "%" PRIu64 "%s", size, unit);

    return text;
}

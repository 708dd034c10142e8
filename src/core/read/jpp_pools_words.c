
#include "jpp_pools_words.h"


/* root first */

const jpp_pools_frames_t  jpp_pools_owners[JPP_POOLS_KINDS] = {

    [JPP_POOLS_CLIENT_CONNECTION] = {
        { { "http", 0 }, { "server ", JPP_POOLS_SERVERS },
          { "client connection", 0 } }, true },

    [JPP_POOLS_CLOSING] = {
        { { "http", 0 }, { "server ", JPP_POOLS_SERVERS },
          { "closing connection", 0 } }, true },

    [JPP_POOLS_HTTP2] = {
        { { "http", 0 }, { "server ", JPP_POOLS_SERVERS },
          { "http2 connection", 0 } }, true },

    [JPP_POOLS_HTTP2_HEADERS] = {
        { { "http", 0 }, { "server ", JPP_POOLS_SERVERS },
          { "http2 stream headers", 0 } }, true },

    [JPP_POOLS_HTTP3] = {
        { { "http", 0 }, { "server ", JPP_POOLS_SERVERS },
          { "http3 connection", 0 } }, true },

    [JPP_POOLS_REQUEST] = {
        { { "http", 0 }, { "server ", JPP_POOLS_SERVERS },
          { "location ", JPP_POOLS_LOCATIONS }, { "request", 0 } }, true },

    [JPP_POOLS_UPSTREAM] = {
        { { "http", 0 }, { "server ", JPP_POOLS_SERVERS },
          { "location ", JPP_POOLS_LOCATIONS },
          { "upstream ", JPP_POOLS_THIRDS } }, true },

    [JPP_POOLS_KEEPALIVE] = {
        { { "upstream ", JPP_POOLS_THIRDS }, { "keepalive", 0 } }, true },

    [JPP_POOLS_STREAM] = {
        { { "stream", 0 }, { "server ", JPP_POOLS_THIRDS },
          { "session", 0 } }, true },

    [JPP_POOLS_MAIL] = {
        { { "mail", 0 }, { "server ", JPP_POOLS_THIRDS },
          { "session", 0 } }, true },

    [JPP_POOLS_MODULE_CONNECTION] = {
        { { "connection of ", JPP_POOLS_THIRDS } }, true },

    [JPP_POOLS_CONFIGURATION] = { { { "configuration", 0 } }, false },

    [JPP_POOLS_SLOTS_USED] = {
        { { "connection slots", 0 }, { "in use", 0 } }, false },

    [JPP_POOLS_SLOTS_FREE] = {
        { { "connection slots", 0 }, { "free", 0 } }, false },

    [JPP_POOLS_OPEN_FILES] = { { { "open file cache", 0 } }, false },

    [JPP_POOLS_RESOLVER] = { { { "resolver", 0 } }, false }
};


const char *const  jpp_pools_classes[JPP_POOLS_CLASSES] = {
    [JPP_POOLS_ITSELF] = NULL,
    [JPP_POOLS_BLOCKS] = "pool blocks",
    [JPP_POOLS_HEADERS] = "client header buffers",
    [JPP_POOLS_BODY] = "request body",
    [JPP_POOLS_UPSTREAM_HEADER] = "upstream header buffer",
    [JPP_POOLS_UPSTREAM_BUFFERS] = "upstream buffers",
    [JPP_POOLS_OUTPUT] = "output buffers",
    [JPP_POOLS_TLS] = "tls buffer",
    [JPP_POOLS_HTTP2_BUFFERS] = "http2",
    [JPP_POOLS_SESSION] = "session buffers",
    [JPP_POOLS_MODULE] = "module ",
    [JPP_POOLS_OTHER] = "other"
};


const char *const  jpp_pools_reasons[] = {
    [JPP_POOLS_WHOLE] = "nothing",
    [JPP_POOLS_NO_MEMORY] = "no memory was left for what it found"
};


const char *const  jpp_pools_parts[] = { "pool blocks", "large", NULL };


/* The last frame that is no name. */

const char *
jpp_pools_kind_name(jpp_pools_kind_t kind)
{
    size_t                    i;
    const char               *name;
    const jpp_pools_part_t   *parts;

    parts = jpp_pools_owners[kind].parts;
    name = parts[0].text;

    for (i = 0; i < JPP_POOLS_FRAMES && parts[i].text != NULL; i++) {
        name = parts[i].text;
    }

    return name;
}


#include "jpp_ledger_words.h"


const char *const  jpp_ledger_kinds[JPP_LEDGER_KINDS] = {
    [JPP_LEDGER_REQUESTS] = "requests",
    [JPP_LEDGER_CONNECTIONS] = "client connections",
    [JPP_LEDGER_HTTP2] = "http2 and http3 connections",
    [JPP_LEDGER_UPSTREAMS] = "upstreams",
    [JPP_LEDGER_SESSIONS] = "stream and mail sessions",
    [JPP_LEDGER_MODULES] = "connections of modules",
    [JPP_LEDGER_CONFIGURATION] = "configuration",
    [JPP_LEDGER_SLOTS] = "connection slots",
    [JPP_LEDGER_CACHES] = "open file cache and resolver",
    [JPP_LEDGER_INHERITED] = "outside pools, inherited",
    [JPP_LEDGER_SINCE] = "outside pools, since start",
    [JPP_LEDGER_SAMPLED] = "jemalloc's profiler",
    [JPP_LEDGER_TCACHE] = "thread caches",
    [JPP_LEDGER_FRAGMENTATION] = "fragmentation",
    [JPP_LEDGER_DIRTY] = "dirty pages",
    [JPP_LEDGER_MUZZY] = "muzzy pages",
    [JPP_LEDGER_METADATA] = "jemalloc's metadata",
    [JPP_LEDGER_INTERNAL] = "jemalloc's own allocations",
    [JPP_LEDGER_MALLOC] = "malloc's own, and what is in no pool",
    [JPP_LEDGER_OWN] = "this module's maps",
    [JPP_LEDGER_MAPS] = "anonymous maps that are not malloc's",
    [JPP_LEDGER_CODE] = "code made at run time",
    [JPP_LEDGER_STACKS] = "stacks",
    [JPP_LEDGER_KERNEL] = "maps of the kernel",
    [JPP_LEDGER_FILE] = "file",
    [JPP_LEDGER_ZONE] = "zone",
    [JPP_LEDGER_SHARED] = "shared memory that is no zone",
    [JPP_LEDGER_UNKNOWN] = "unknown"
};


const char *const  jpp_ledger_hows[JPP_LEDGER_HOWS] = {
    [JPP_LEDGER_EXACT] = "exact",
    [JPP_LEDGER_BOUND] = "bound",
    [JPP_LEDGER_ESTIMATE] = "estimate"
};


static const jpp_ledger_kind_t  jpp_ledger_owners[JPP_POOLS_KINDS] = {
    [JPP_POOLS_CLIENT_CONNECTION] = JPP_LEDGER_CONNECTIONS,
    [JPP_POOLS_CLOSING] = JPP_LEDGER_CONNECTIONS,
    [JPP_POOLS_HTTP2] = JPP_LEDGER_HTTP2,
    [JPP_POOLS_HTTP2_HEADERS] = JPP_LEDGER_HTTP2,
    [JPP_POOLS_HTTP3] = JPP_LEDGER_HTTP2,
    [JPP_POOLS_REQUEST] = JPP_LEDGER_REQUESTS,
    [JPP_POOLS_UPSTREAM] = JPP_LEDGER_UPSTREAMS,
    [JPP_POOLS_KEEPALIVE] = JPP_LEDGER_UPSTREAMS,
    [JPP_POOLS_STREAM] = JPP_LEDGER_SESSIONS,
    [JPP_POOLS_MAIL] = JPP_LEDGER_SESSIONS,
    [JPP_POOLS_MODULE_CONNECTION] = JPP_LEDGER_MODULES,
    [JPP_POOLS_CONFIGURATION] = JPP_LEDGER_CONFIGURATION,
    [JPP_POOLS_SLOTS_USED] = JPP_LEDGER_SLOTS,
    [JPP_POOLS_SLOTS_FREE] = JPP_LEDGER_SLOTS,
    [JPP_POOLS_OPEN_FILES] = JPP_LEDGER_CACHES,
    [JPP_POOLS_RESOLVER] = JPP_LEDGER_CACHES
};


jpp_ledger_kind_t
jpp_ledger_of(jpp_pools_kind_t kind)
{
    return jpp_ledger_owners[kind];
}


bool
jpp_ledger_kind_is_anonymous(jpp_ledger_kind_t kind)
{
    return kind <= JPP_LEDGER_STACKS || kind == JPP_LEDGER_UNKNOWN;
}


#include "ngx_http_jpp_resources.h"


#define NGX_HTTP_JPP_NAMES  256


/* in the order of their resources */

const jpp_console_link_t  ngx_http_jpp_links[] = {

    { "heap",
      "The memory in use in all workers, by the functions that allocated "
      "it; for pprof, Parca, Pyroscope and other readers of "
      "profile.proto.",
      "go tool pprof \"${URL}heap\"", false, false },

    { "heap?format=top",
      "The heap as a table for a terminal.", NULL, false, false },

    { "heap?format=html",
      "Flame graphs, tables and differences, as a page that can be saved "
      "and shared.",
      "curl -o heap.html \"${URL}heap?format=html\"", false, false },

    { "heap?format=svg",
      "A flame graph as a picture.",
      "curl -o heap.svg \"${URL}heap?format=svg\"", false, false },

    { "heap?format=folded",
      "One line per stack, for other tools (flamegraph.pl, speedscope).",
      "curl -o heap.folded \"${URL}heap?format=folded\"", false,
      false },

    { "heap?debug=1",
      "The text that pprof and jeprof both read.",
      "curl -o heap.text \"${URL}heap?debug=1\"", false, false },

    { "heap?seconds=30",
      "Memory allocated and freed within the next 30 seconds. The answer takes "
      "that long.",
      "go tool pprof \"${URL}heap?seconds=30\"", false, false },

    { "heap?format=jemalloc&worker=self",
      "One worker's dump as jemalloc wrote it. Choose the worker by its index, "
      "by pid-1234, or as self (the worker that answers).",
      "curl -o heap.dump \"${URL}heap?format=jemalloc&worker=self\"", false,
      false },

    { "allocs",
      "The samples of heap. With prof_accum:true, all allocations come first, "
      "including freed ones.",
      "go tool pprof \"${URL}allocs\"", false, false },

    { "pools?format=top",
      "The memory in use by server, location, connection and so on: to the "
      "byte, and without a profiler.", NULL, false, false },

    { "pools",
      "The pools as a profile.",
      "go tool pprof \"${URL}pools\"", false, false },

    { "profile?seconds=10&format=html",
      "The workers' CPU time by function in the next 10 seconds, as flame "
      "graphs. The response takes that long.",
      "go tool pprof \"${URL}profile?seconds=10\"", false, false },

    { "profile?seconds=10&mode=wall&format=html",
      "Wall-clock time by function, which shows what blocks the event loop.",
      "curl \"${URL}profile?seconds=10&mode=wall&format=top\"", false, false },

    { "lua?format=top",
      "The heap of LuaJIT by the path that holds it: which table, which "
      "upvalue.", NULL, false, true },

    { "lua",
      "The heap of LuaJIT as a profile.",
      "go tool pprof \"${URL}lua\"", false, true },

    { "locations",
      "The cost of each location: the memory it holds, and its sampled "
      "allocations by function.", NULL, false, false },

    { "locations?seconds=5",
      "Each location's memory, and its CPU time in the next 5 seconds.",
      NULL, false, false },

    { "requests",
      "The requests that hold the most memory now, with the directive that "
      "bounds what they hold.", NULL, false, false },

    { "requests?by=connection",
      "The connections that hold the most memory now.", NULL, false, false },

    { "stalls?format=top",
      "Code that blocked an event loop for 100 ms or longer: the last 64 "
      "stalls.", NULL, false, false },

    { "stalls",
      "The stalls as a profile.",
      "go tool pprof \"${URL}stalls\"", false, false },

    { "events",
      "What happened to this nginx: reloads, crashes, findings, stalls, "
      "changes.", NULL, false, false },

    { "grown",
      "Whose memory grows, how fast, and when the limit is reached.",
      NULL, false, false },

    { "snapshots",
      "The heap and the pools of moments when memory was short or has grown; "
      "heap?at=last and pools?base=-1h read them.",
      "curl -d snapshot=1 \"${URL}control\"", false, false },

    { "bundle",
      "One file for a ticket: status, memory, metrics, events, profiles with "
      "names and the last snapshots, without addresses of clients.",
      "curl -OJ \"${URL}bundle\"", false, false },

    { "symbol",
      "The names of addresses, which pprof requests by itself.",
      "curl -d 0x55d0c0de1234 \"${URL}symbol\"", false, false },

    { "cmdline",
      "The command line of nginx, which pprof requests by itself.",
      "curl -s \"${URL}cmdline\" | tr '\\0' ' '", false, false },

    { "status",
      "This page for programs: JSON.", NULL, false, false },

    { "memory",
      "The memory of all workers as jemalloc, the kernel and the cgroup count "
      "it, and the findings: JSON.", NULL, false, false },

    { "memory?format=top",
      "Why is RSS high? Attributes every byte of the workers to an owner.",
      NULL, false, false },

    { "metrics",
      "The memory of all workers, of the cgroup, of the machine and of the "
      "shared zones, for Prometheus.", NULL, false, false },

    { "control",
      "Changes how the chosen workers sample; refused unless this location has "
      "control=on. It takes active=on or off, lg_sample=10 to 24, reset=1, "
      "purge=1, and acknowledge= with the id of a finding. Settings for all "
      "workers also apply to workers that start later. A finer rate shows more "
      "and costs more: set it for an hour, then go back. jemalloc forgets its "
      "samples at each change.",
      "curl -d lg_sample=14 \"${URL}control\"\n"
      "curl -d lg_sample=19 \"${URL}control\"", true, false },

    { NULL, NULL, NULL, false, false }
};


static const ngx_http_jpp_resource_t  ngx_http_jpp_rows[] = {

    { ngx_string("heap"), NGX_HTTP_JPP_READ,
      .handler = &ngx_http_jpp_profile,
      .evidence = { JPP_MESSAGE_DUMP, &jpp_parser_heap, NULL, NULL } },

    { ngx_string("allocs"), NGX_HTTP_JPP_READ,
      .handler = &ngx_http_jpp_profile,
      .evidence = { JPP_MESSAGE_DUMP, &jpp_parser_heap, "alloc_space", NULL } },

    { ngx_string("pools"), NGX_HTTP_JPP_READ,
      .handler = &ngx_http_jpp_profile,
      .evidence = { JPP_MESSAGE_POOLS, &jpp_parser_pools, NULL, NULL } },

    { ngx_string("profile"), NGX_HTTP_JPP_READ,
      .handler = &ngx_http_jpp_profile,
      .evidence = { JPP_MESSAGE_TIMES, &jpp_parser_cpu, NULL,
                    &jpp_parser_wall } },

    { ngx_string("lua"), NGX_HTTP_JPP_READ,
      .handler = &ngx_http_jpp_profile,
      .evidence = { JPP_MESSAGE_LUA, &jpp_parser_lua, NULL, NULL } },

    { ngx_string("locations"), NGX_HTTP_JPP_READ,
      .handler = &ngx_http_jpp_locations },

    { ngx_string("requests"), NGX_HTTP_JPP_READ,
      .handler = &ngx_http_jpp_requests },

    /* nobody is asked: they lie in shared memory */

    { ngx_string("stalls"), NGX_HTTP_JPP_READ,
      .handler = &ngx_http_jpp_stalls,
      .evidence = { JPP_MESSAGE_TYPES, &jpp_parser_stalls, NULL, NULL } },

    { ngx_string("events"), NGX_HTTP_JPP_READ,
      .handler = &ngx_http_jpp_events },

    { ngx_string("grown"), NGX_HTTP_JPP_READ,
      .handler = &ngx_http_jpp_grown },

    { ngx_string("snapshots"), NGX_HTTP_JPP_READ,
      .handler = &ngx_http_jpp_snapshots },

    { ngx_string("bundle"), NGX_HTTP_JPP_READ,
      .handler = &ngx_http_jpp_bundle },

    { ngx_string("symbol"), NGX_HTTP_JPP_READ|NGX_HTTP_POST,
      .handler = &ngx_http_jpp_symbol },

    { ngx_string("cmdline"), NGX_HTTP_JPP_READ,
      .handler = &ngx_http_jpp_cmdline },

    { ngx_string("status"), NGX_HTTP_JPP_READ,
      .handler = &ngx_http_jpp_status },

    { ngx_string("memory"), NGX_HTTP_JPP_READ,
      .handler = &ngx_http_jpp_memory },

    { ngx_string("metrics"), NGX_HTTP_JPP_READ,
      .handler = &ngx_http_jpp_metrics },

    { ngx_string("control"), NGX_HTTP_POST, .handler = &ngx_http_jpp_control },

    { ngx_null_string, 0, .handler = NULL }
};


const ngx_http_jpp_resource_t *
ngx_http_jpp_resource(const ngx_str_t *name)
{
    const ngx_http_jpp_resource_t  *resource;

    for (resource = ngx_http_jpp_rows; resource->handler != NULL; resource++) {
        if (resource->name.len == name->len
            && ngx_strncmp(resource->name.data, name->data, name->len) == 0)
        {
            return resource;
        }
    }

    return NULL;
}


const ngx_str_t *
ngx_http_jpp_resource_names(void)
{
    u_char                         *p, *last;
    const char                     *before;
    const ngx_http_jpp_resource_t  *resource;

    static u_char     text[NGX_HTTP_JPP_NAMES];
    static ngx_str_t  names;

    p = text;
    last = text + NGX_HTTP_JPP_NAMES;

    for (resource = ngx_http_jpp_rows; resource->handler != NULL; resource++) {
        before = p == text ? "" : resource[1].handler != NULL ? ", " : " and ";
        p = ngx_slprintf(p, last, "%s%V", before, &resource->name);
    }

    names.data = text;
    names.len = p - text;

    return &names;
}


/*
 * Hints for the symbolizer: the functions that nginx's own tables name.
 */


#include "ngx_http_jpp_worker.h"


/* of this stack: main() and what leads from there to init_process */
#define NGX_HTTP_JPP_CALLERS    32


/* the address of a function, or 0 */
#define ngx_http_jpp_code(function)  ((uintptr_t) (function))


typedef struct {
    jpp_arena_t  *arena;
    jpp_vec_t    *hints;       /* jpp_hint_t */
    const char   *owner;       /* of what is added; NULL: unknown */
} ngx_http_jpp_gather_t;


/*
 * What nginx's own tables say about its functions.
 *
 * A stripped nginx has names for exported functions only, but most static ones
 * are in some table: a module's directives, its context, the phases, the
 * variables.  All tables are reached from ngx_cycle, by symbols that every
 * build of nginx has.
 *
 * The names, in the words of nginx:
 *
 *     ngx_http_ssl_module merge_srv_conf     in the context of a module
 *     epoll process_events                   in that of an event module
 *     directive http                         what a directive calls
 *     variable $request_id get               a variable's handlers
 *     phase content handler 2                handlers of a phase, as they run
 *     content handler                        of a location
 *     upstream init                          how peers are chosen, and begun
 *     first header filter                    of the chain
 *
 * followed by the function's module in parentheses, unless the name contains
 * it, and by the module's file (jpp_loaded.c).
 */


/* modules that may not have been built, and whose headers are not here */
#define NGX_HTTP_JPP_MAIL       0x4C49414D    /* "MAIL" */
#define NGX_HTTP_JPP_STREAM     0x4d525453    /* "STRM" */


/* Pointers to functions that follow each other in the context of a module. */
typedef struct {
    ngx_uint_t   type;       /* of the module; 0: in the module itself */
    size_t       offset;     /* of the first */
    const char  *names[11];  /* NULL ends them */
} ngx_http_jpp_slots_t;


/*
 * ngx_mail_module_t begins with a protocol; ngx_stream_module_t is as it is
 * since 1.11.2.
 */

static const ngx_http_jpp_slots_t  ngx_http_jpp_slots[] = {

    { 0, offsetof(ngx_module_t, init_master),
      { "init_master", "init_module", "init_process", "init_thread",
        "exit_thread", "exit_process", "exit_master" } },

    { NGX_CORE_MODULE, offsetof(ngx_core_module_t, create_conf),
      { "create_conf", "init_conf" } },

    { NGX_EVENT_MODULE, offsetof(ngx_event_module_t, create_conf),
      { "create_conf", "init_conf" } },

    { NGX_EVENT_MODULE, offsetof(ngx_event_module_t, actions),
      { "add", "del", "enable", "disable", "add_conn", "del_conn", "notify",
        "process_events", "init", "done" } },

    { NGX_HTTP_MODULE, 0,
      { "preconfiguration", "postconfiguration", "create_main_conf",
        "init_main_conf", "create_srv_conf", "merge_srv_conf",
        "create_loc_conf", "merge_loc_conf" } },

    { NGX_HTTP_JPP_MAIL, sizeof(void *),
      { "create_main_conf", "init_main_conf", "create_srv_conf",
        "merge_srv_conf" } },

    { NGX_HTTP_JPP_STREAM, 0,
      { "preconfiguration", "postconfiguration", "create_main_conf",
        "init_main_conf", "create_srv_conf", "merge_srv_conf" } }
};


static const char *const  ngx_http_jpp_phases[NGX_HTTP_LOG_PHASE + 1] = {
    "post read", "server rewrite", "find config", "rewrite", "post rewrite",
    "preaccess", "access", "post access", "precontent", "content", "log"
};


/*
 * Add the function at ADDRESS, unless that is 0, with a name of FMT.  Without
 * memory it has none.
 */

static void
ngx_http_jpp_hint(ngx_http_jpp_gather_t *gather, uintptr_t address,
    const char *fmt, ...)
{
    char        *copy;
    u_char       name[JPP_HINT_NAME], *end;
    va_list      args;
    jpp_hint_t  *hint;

    if (address == 0
        || jpp_vec_count(gather->hints, jpp_hint_t) == JPP_MAX_HINTS)
    {
        return;
    }

    va_start(args, fmt);
    end = ngx_vslprintf(name, name + JPP_HINT_NAME, fmt, args);
    va_end(args);

    copy = jpp_arena_strndup(gather->arena, (char *) name, end - name);
    hint = copy != NULL ? jpp_vec_push(gather->hints, sizeof(jpp_hint_t))
                        : NULL;

    if (hint != NULL) {
        hint->address = address;
        hint->owner = gather->owner;
        hint->name = copy;
    }
}


static void
ngx_http_jpp_functions_slots(ngx_http_jpp_gather_t *gather, const char *name,
    const void *table, ngx_uint_t type)
{
    uintptr_t      address;
    const u_char  *p;
    const char *const           *member;
    const ngx_http_jpp_slots_t  *slots;

    jpp_each_of(slots, ngx_http_jpp_slots) {

        if (slots->type != type) {
            continue;
        }

        p = (const u_char *) table + slots->offset;

        for (member = slots->names; *member != NULL; member++) {
            ngx_memcpy(&address, p, sizeof(uintptr_t));
            p += sizeof(uintptr_t);

            ngx_http_jpp_hint(gather, address, "%s %s", name, *member);
        }
    }
}


static void
ngx_http_jpp_functions_module(ngx_http_jpp_gather_t *gather,
    ngx_module_t *module)
{
    const char          *name;
    ngx_command_t       *cmd;
    ngx_event_module_t  *event;

    gather->owner = module->name;

    ngx_http_jpp_functions_slots(gather, module->name, module, 0);

    if (module->ctx != NULL) {
        name = module->name;

        if (module->type == NGX_EVENT_MODULE) {
            event = module->ctx;
            name = event->name != NULL ? (char *) event->name->data : name;
        }

        ngx_http_jpp_functions_slots(gather, name, module->ctx, module->type);
    }

    for (cmd = module->commands; cmd != NULL && cmd->name.len != 0; cmd++) {
        ngx_http_jpp_hint(gather, ngx_http_jpp_code(cmd->set),
                          "directive %V", &cmd->name);
    }
}


static void
ngx_http_jpp_functions_variable(ngx_http_jpp_gather_t *gather,
    ngx_http_variable_t *v)
{
    ngx_http_jpp_hint(gather, ngx_http_jpp_code(v->get_handler),
                      "variable $%V get", &v->name);
    ngx_http_jpp_hint(gather, ngx_http_jpp_code(v->set_handler),
                      "variable $%V set", &v->name);
}


static void
ngx_http_jpp_functions_http(ngx_http_jpp_gather_t *gather,
    ngx_http_core_main_conf_t *cmcf)
{
    ngx_uint_t                i, k, n;
    ngx_hash_t               *hash;
    ngx_hash_elt_t           *elt;
    ngx_http_handler_pt      *handlers;
    ngx_http_variable_t      *v;
    ngx_http_jpp_loc_conf_t  *jlcf;

    for (i = 0; i <= NGX_HTTP_LOG_PHASE; i++) {
        handlers = cmcf->phases[i].handlers.elts;
        n = cmcf->phases[i].handlers.nelts;

        /* they run in the order opposite to that of the array */

        for (k = 0; k < n; k++) {
            ngx_http_jpp_hint(gather, ngx_http_jpp_code(handlers[n - 1 - k]),
                "phase %s handler %ui", ngx_http_jpp_phases[i], k + 1);
        }
    }

    ngx_http_jpp_hint(gather, ngx_http_jpp_code(ngx_http_top_header_filter),
                      "first header filter");
    ngx_http_jpp_hint(gather, ngx_http_jpp_code(ngx_http_top_body_filter),
                      "first body filter");
    ngx_http_jpp_hint(gather,
                      ngx_http_jpp_code(ngx_http_top_request_body_filter),
                      "first request body filter");

    /* Indexed variables are in an array, the others in a hash. */

    ngx_http_jpp_each(v, &cmcf->variables) {
        ngx_http_jpp_functions_variable(gather, v);
    }

    hash = &cmcf->variables_hash;

    for (i = 0; i < hash->size; i++) {

        for (elt = hash->buckets[i]; elt != NULL && elt->value != NULL;
             elt = (ngx_hash_elt_t *) ngx_align_ptr(&elt->name[0] + elt->len,
                                                    sizeof(void *)))
        {
            ngx_http_jpp_functions_variable(gather, elt->value);
        }
    }

    for (jlcf = ngx_http_jpp_main_conf((ngx_cycle_t *) ngx_cycle)->locations;
         jlcf != NULL;
         jlcf = jlcf->next)
    {
        ngx_http_jpp_hint(gather, ngx_http_jpp_code(jlcf->clcf->handler),
                          "content handler");
    }
}


/*
 * Mappings come from the system, builds from memory, names from
 * nginx's tables, and from what already runs:
 *
 *     listening handler                      of a socket
 *     worker process cycle                   what a worker runs in
 */


/* The index of START among the N STARTS, the innermost first; or N. */

static ngx_uint_t
ngx_http_jpp_hints_caller(const uintptr_t *starts, ngx_uint_t n,
    uintptr_t start)
{
    ngx_uint_t  i;

    for (i = 0; i < n && starts[i] != start; i++) {
        /* void */
    }

    return i;
}


/*
 * This runs in init_process, which is called on the way from
 * ngx_spawn_process() to a worker's loop: the functions between them on the
 * stack are in every stack of the profile, and in no table.  A compiler may
 * have merged two of them.  Without an unwinder these hints are missing.
 */

static void
ngx_http_jpp_hints_callers(ngx_http_jpp_gather_t *gather)
{
    uintptr_t   pcs[NGX_HTTP_JPP_CALLERS], starts[NGX_HTTP_JPP_CALLERS];
    ngx_uint_t  i, n, init, spawn, master;

    n = jpp_backtrace(pcs, NGX_HTTP_JPP_CALLERS);

    for (i = 0; i < n; i++) {
        starts[i] = jpp_backtrace_function(pcs[i] - 1);
    }

    init = ngx_http_jpp_hints_caller(starts, n, ngx_http_jpp_code(
               ngx_http_jemalloc_pprof_module.init_process));
    spawn = ngx_http_jpp_hints_caller(starts, n,
                                      ngx_http_jpp_code(ngx_spawn_process));
    master = ngx_http_jpp_hints_caller(starts, n,
                                  ngx_http_jpp_code(ngx_master_process_cycle));

    if (spawn == n || init >= spawn) {
        return;
    }

    if (spawn - init > 1) {
        ngx_http_jpp_hint(gather, starts[spawn - 1], "worker process cycle");
    }

    if (spawn - init == 3) {
        ngx_http_jpp_hint(gather, starts[init + 1], "worker process init");
    }

    if (master != n && master - spawn == 2) {
        ngx_http_jpp_hint(gather, starts[spawn + 1], "start worker processes");
    }
}


void
ngx_http_jpp_hints(jpp_symbols_t *symbols)
{
    jpp_vec_t                      *maps, *images;
    ngx_uint_t                      i;
    jpp_arena_t                     arena;
    ngx_cycle_t                    *cycle;
    ngx_listening_t                *ls;
    ngx_http_jpp_gather_t           gather;
    ngx_http_core_main_conf_t      *cmcf;
    ngx_http_upstream_srv_conf_t  **uscf;
    ngx_http_upstream_main_conf_t  *umcf;

    jpp_arena_init(&arena, JPP_PROC_ARENA);

    maps = jpp_vec_create(&arena);
    images = jpp_vec_create(&arena);

    ngx_memzero(&gather, sizeof(ngx_http_jpp_gather_t));

    gather.arena = &arena;
    gather.hints = jpp_vec_create(&arena);

    if (maps != NULL
        && images != NULL
        && gather.hints != NULL
        && jpp_images_read(images)
        && jpp_proc_maps(maps, NULL) == JPP_OK)
    {
        /*
         * Add every function that a table of this cycle points to.
         *
         * The best name of a function comes first.
         */

        cycle = (ngx_cycle_t *) ngx_cycle;

        for (i = 0; cycle->modules[i] != NULL; i++) {
            ngx_http_jpp_functions_module(&gather, cycle->modules[i]);
        }

        gather.owner = NULL;

        cmcf = ngx_http_cycle_get_module_main_conf(cycle, ngx_http_core_module);

        ngx_http_jpp_functions_http(&gather, cmcf);

        umcf = ngx_http_cycle_get_module_main_conf(cycle,
                                                   ngx_http_upstream_module);
        ngx_http_jpp_each(uscf, &umcf->upstreams) {
            ngx_http_jpp_hint(&gather,
                              ngx_http_jpp_code((*uscf)->peer.init_upstream),
                              "upstream init");
            ngx_http_jpp_hint(&gather, ngx_http_jpp_code((*uscf)->peer.init),
                              "upstream init peer");
        }

        /* what these are in is clear */

        gather.owner = "nginx";

        ngx_http_jpp_each(ls, &ngx_cycle->listening) {
            ngx_http_jpp_hint(&gather, ngx_http_jpp_code(ls->handler),
                              "listening handler");
            ngx_http_jpp_hint(&gather, ngx_http_jpp_code(ls->log.handler),
                              "listening log handler");

            if (ls->connection != NULL && ls->connection->read != NULL) {
                ngx_http_jpp_hint(&gather,
                    ngx_http_jpp_code(ls->connection->read->handler),
                    "listening read handler");
            }
        }

        ngx_http_jpp_hints_callers(&gather);

        jpp_loaded_init(&symbols->loaded, maps, images, gather.hints,
                        "nginx table");
    }

    jpp_arena_destroy(&arena);
}

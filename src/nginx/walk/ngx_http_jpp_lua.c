
#include "ngx_http_jpp_lua.h"

#include "jpp_lua.h"


/* of a main configuration: where a VM is looked for */
#define NGX_HTTP_JPP_LUA_WORDS  16

/* CPU seconds of a copy, and how often its end is looked for, ms */
#define NGX_HTTP_JPP_LUA_CPU    60
#define NGX_HTTP_JPP_LUA_LOOK   50

/*
 * The kernel copies the page tables of a GiB within 30 to 40 ms on a virtual
 * machine.  A full collection while the copy lives writes to all objects, of
 * which both then have one; and the walk needs an eighth of that, and a little.
 */
#define NGX_HTTP_JPP_LUA_STOP   40
#define NGX_HTTP_JPP_LUA_ROOM   (16 * 1024 * 1024)


/* A walk: what the copy needs, and what tells its end. */
typedef struct {
    jpp_copy_t     copy;
    uint64_t           begun;
    int                fd;
    uint8_t            buffer[JPP_SINK_BUFFER];
} ngx_http_jpp_lua_walk_t;


/* Modules that have a VM, and those that have their configurations. */

static const struct {
    const char  *name;
    const char  *core;
} ngx_http_jpp_lua_modules[JPP_LUA_VMS] = {
    { "ngx_http_lua_module", "ngx_http_module" },
    { "ngx_stream_lua_module", "ngx_stream_module" }
};


static struct {
    jpp_lua_layout_t   layout;
    uintptr_t          vms[JPP_LUA_VMS];       /* 0: none */
    jpp_lua_known_t    known;
} ngx_http_jpp_lua;

static ngx_uint_t  ngx_http_jpp_lua_is_walked;


static const ngx_module_t *
ngx_http_jpp_lua_module(const ngx_cycle_t *cycle, const char *name)
{
    ngx_uint_t  i;

    for (i = 0; cycle->modules[i] != NULL; i++) {
        if (ngx_strcmp(cycle->modules[i]->name, name) == 0) {
            return cycle->modules[i];
        }
    }

    return NULL;
}


/*
 * The VM of module I; 0: it is in none of the first words of its main
 * configuration.  A block's context begins with the main configurations, of
 * http and of stream.
 */

static uintptr_t
ngx_http_jpp_lua_vm(const ngx_cycle_t *cycle, ngx_uint_t i,
    const jpp_peek_t *peek)
{
    void               ***ctx;
    uintptr_t             words[NGX_HTTP_JPP_LUA_WORDS];
    ngx_uint_t            k;
    const ngx_module_t   *module, *core;

    module = ngx_http_jpp_lua_module(cycle, ngx_http_jpp_lua_modules[i].name);
    core = ngx_http_jpp_lua_module(cycle, ngx_http_jpp_lua_modules[i].core);

    if (module == NULL || core == NULL) {
        return 0;
    }

    ctx = (void ***) cycle->conf_ctx[core->index];

    if (ctx == NULL
        || !jpp_peek(peek, (uintptr_t) ctx[0][module->ctx_index], words,
                     sizeof(words)))
    {
        return 0;
    }

    for (k = 0; k < NGX_HTTP_JPP_LUA_WORDS; k++) {
        if (jpp_lua_is_vm(&ngx_http_jpp_lua.layout, peek, words[k])) {
            return words[k];
        }
    }

    return 0;
}


/* How many locations have lua_code_cache off, by the place of its flag. */

static ngx_uint_t
ngx_http_jpp_lua_uncached(const ngx_cycle_t *cycle)
{
    void                     **loc_conf;
    ngx_flag_t                *flag;
    ngx_uint_t                 n;
    const ngx_module_t        *module;
    const ngx_command_t       *cmd;
    ngx_http_jpp_loc_conf_t   *conf;
    ngx_http_jpp_main_conf_t  *jmcf;

    module = ngx_http_jpp_lua_module(cycle, ngx_http_jpp_lua_modules[0].name);
    jmcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_jemalloc_pprof_module);

    cmd = module != NULL ? module->commands : NULL;

    while (cmd != NULL && cmd->name.len != 0
           && ngx_strcmp(cmd->name.data, "lua_code_cache") != 0)
    {
        cmd++;
    }

    if (cmd == NULL || cmd->name.len == 0
        || cmd->conf != NGX_HTTP_LOC_CONF_OFFSET)
    {
        return 0;
    }

    for (n = 0, conf = jmcf->locations; conf != NULL; conf = conf->next) {
        loc_conf = conf->clcf->loc_conf;

        if (loc_conf != NULL && !conf->clcf->noname) {
            flag = (ngx_flag_t *) ((u_char *) loc_conf[module->ctx_index]
                                   + cmd->offset);
            n += *flag == 0;
        }
    }

    return n;
}


static void
ngx_http_jpp_lua_find(const ngx_cycle_t *cycle, jpp_err_t *err)
{
    ngx_uint_t  i, n;
    jpp_peek_t  peek;

    if (!jpp_peek_open(&peek)) {
        (void) jpp_err_set(err, JPP_ERR_FULL, "nginx has no free descriptor to "
                           "look for its VMs");
        return;
    }

    for (i = 0, n = 0; i < JPP_LUA_VMS; i++) {
        ngx_http_jpp_lua.vms[i] = ngx_http_jpp_lua_vm(cycle, i, &peek);
        n += ngx_http_jpp_lua.vms[i] != 0;
    }

    jpp_peek_close(&peek);

    if (n == 0) {
        (void) jpp_err_set(err, JPP_ERR_ABSENT, "the Lua module's "
                           "configuration has no VM that is to be found");
    }
}


void
ngx_http_jpp_lua_configured(ngx_cycle_t *cycle)
{
    jpp_err_t         err;
    jpp_lua_known_t  *known;

    known = &ngx_http_jpp_lua.known;

    ngx_memzero(&ngx_http_jpp_lua, sizeof(ngx_http_jpp_lua));
    ngx_memzero(&err, sizeof(jpp_err_t));

    if (ngx_http_jpp_lua_module(cycle, ngx_http_jpp_lua_modules[0].name) == NULL
        && ngx_http_jpp_lua_module(cycle, ngx_http_jpp_lua_modules[1].name)
           == NULL)
    {
        (void) jpp_err_set(&err, JPP_ERR_ABSENT, "nginx has no Lua module");

    } else if (jpp_lua_learn(&ngx_http_jpp_lua.layout, &err) == JPP_OK) {
        known->uncached = ngx_http_jpp_lua_uncached(cycle);
        ngx_http_jpp_lua_find(cycle, &err);
    }

    (void) ngx_cpystrn((u_char *) known->why, (u_char *) err.text, JPP_LUA_WHY);
}


void
ngx_http_jpp_lua_describe(jpp_lua_known_t *lua)
{
    ngx_uint_t  i;

    *lua = ngx_http_jpp_lua.known;

    for (i = 0; i < JPP_LUA_VMS; i++) {
        lua->bytes[i] = ngx_http_jpp_lua.vms[i] != 0
                        ? jpp_lua_total(&ngx_http_jpp_lua.layout,
                                        ngx_http_jpp_lua.vms[i])
                        : JPP_NONE;
    }
}


jpp_code_t
ngx_http_jpp_lua_check(const jpp_worker_t *worker, jpp_err_t *err)
{
    const jpp_lua_known_t  *known;

    known = &ngx_http_jpp_lua.known;

    return known->why[0] == '\0'
           ? JPP_OK : jpp_err_set(err, JPP_ERR_ABSENT, "the heap of LuaJIT "
                                  "cannot be read: %s", known->why);
}


/* Is there room for a copy, and time to make it? */

static jpp_code_t
ngx_http_jpp_lua_may(uint64_t total, uint32_t max_stop, jpp_err_t *err)
{
    uint64_t      stop, left, needed;
    jpp_usage_t   usage;
    jpp_cgroup_t  cgroup;
    jpp_system_t  system;

    jpp_usage_memory(&usage, "/proc/self/status");

    stop = (jpp_known(usage.rss_anon) >> 10) * NGX_HTTP_JPP_LUA_STOP >> 20;

    if (stop > max_stop) {
        return jpp_err_set(err, JPP_ERR_ARG, "to copy this worker, which has "
                           "%s of anonymous memory, stops it for about %"
                           PRIu64 " ms, and max_stop allows %" PRIu32 ": allow "
                           "more with max_stop=%" PRIu64,
                           jpp_bytes(usage.rss_anon), stop, max_stop,
                           stop + stop / 4 + 1);
    }

    left = jpp_cgroup_read(&cgroup, "", NULL) == JPP_OK
           ? jpp_cgroup_left(&cgroup) : JPP_NONE;

    jpp_system_read(&system, "");
    left = jpp_smaller(left, system.available);

    needed = total + total / 8 + NGX_HTTP_JPP_LUA_ROOM;

    return left >= needed
           ? JPP_OK
           : jpp_err_set(err, JPP_ERR_MEMORY, "a copy of LuaJIT's heap may "
                         "need %s if a collection runs meanwhile, and the "
                         "cgroup or the machine has %s left",
                         jpp_bytes(needed), jpp_bytes(left));
}


/* In the copy: the walk, without a lock or malloc(). */

static jpp_code_t
ngx_http_jpp_lua_child(void *data, jpp_copy_page_t *page)
{
    ngx_http_jpp_lua_walk_t *walk = data;

    jpp_code_t   rc;
    jpp_sink_t   sink;
    ngx_uint_t   i;

    jpp_sink_init(&sink, walk->buffer, JPP_SINK_BUFFER, jpp_write, &walk->fd);
    jpp_sink_str(&sink, JPP_LUA_HEAD);

    for (i = 0, rc = JPP_OK; i < JPP_LUA_VMS && rc == JPP_OK; i++) {
        if (ngx_http_jpp_lua.vms[i] != 0) {
            rc = jpp_lua_walk(&ngx_http_jpp_lua.layout, ngx_http_jpp_lua.vms[i],
                              jpp_lua_vm_names[i], &sink, page);
        }
    }

    return rc == JPP_OK && jpp_sink_flush(&sink) != 0
           ? jpp_err_set(&page->err, JPP_ERR_WRITE, "the walk through the heap "
                         "of LuaJIT could not write what it found (errno %d)",
                         sink.error)
           : rc;
}


ngx_int_t
ngx_http_jpp_lua_slice(ngx_http_jpp_reply_t *reply)
{
    uint64_t                  total;
    jpp_err_t                *err;
    ngx_uint_t                i, is_busy;
    ngx_http_jpp_lua_walk_t  *walk;

    err = &reply->reply.err;

    is_busy = ngx_http_jpp_lua_is_walked;
    total = 0;

    for (i = 0; i < JPP_LUA_VMS; i++) {
        if (ngx_http_jpp_lua.vms[i] != 0) {
            is_busy |= !jpp_lua_is_idle(ngx_http_jpp_lua.vms[i]);
            total += jpp_lua_total(&ngx_http_jpp_lua.layout,
                                   ngx_http_jpp_lua.vms[i]);
        }
    }

    if (is_busy) {
        (void) jpp_err_set(err, JPP_ERR_BUSY, "the heap of LuaJIT is being "
                           "walked in this worker: try again");
        return NGX_ERROR;
    }

    if (ngx_http_jpp_lua_may(total, reply->question.lua.max_stop, err)
        != JPP_OK)
    {
        return NGX_ERROR;
    }

    walk = jpp_arena_object(sizeof(ngx_http_jpp_lua_walk_t));

    if (walk == NULL) {
        (void) jpp_err_memory(err);
        return NGX_ERROR;
    }

    reply->state = walk;
    ngx_http_jpp_lua_is_walked = 1;

    walk->fd = reply->file.fd;
    walk->begun = jpp_clock();

    return jpp_copy_open(&walk->copy, ngx_http_jpp_lua_child, walk,
                             NGX_HTTP_JPP_LUA_CPU, err)
           == JPP_OK ? NGX_OK : NGX_ERROR;
}


/* The file goes on where the copy, which has the same descriptor, has ended. */

void
ngx_http_jpp_lua_work(ngx_http_jpp_reply_t *reply)
{
    jpp_err_t                *err;
    jpp_code_t                rc;
    jpp_sink_t                sink;
    ngx_http_jpp_lua_walk_t  *walk;

    walk = reply->state;
    err = &reply->reply.err;

    do {
        rc = jpp_copy_wait(&walk->copy, NGX_HTTP_JPP_LUA_LOOK, err);
    } while (rc == JPP_ERR_LATE && !ngx_terminate);

    if (rc == JPP_ERR_LATE) {
        (void) jpp_err_set(err, JPP_ERR_GONE, "it shuts down");
    }

    if (rc != JPP_OK) {
        return;
    }

    jpp_sink_init(&sink, walk->buffer, JPP_SINK_BUFFER, jpp_write, &walk->fd);
    jpp_sink_printf(&sink, "end %" PRIu64 " %" PRIu64 "\n",
                    walk->copy.stop, jpp_clock() - walk->begun);

    if (jpp_sink_flush(&sink) != 0) {
        (void) jpp_write_failed(err, sink.error, "the heap of LuaJIT");
    }
}


void
ngx_http_jpp_lua_release(ngx_http_jpp_reply_t *reply)
{
    ngx_http_jpp_lua_walk_t  *walk;

    walk = reply->state;

    if (walk != NULL) {
        jpp_copy_close(&walk->copy);
        jpp_arena_object_destroy(walk);

        reply->state = NULL;
        ngx_http_jpp_lua_is_walked = 0;
    }
}

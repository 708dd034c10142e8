
/*
 * The stalls of this worker: watches its event loop, stores stalls in the
 * registry, and logs a line for each.
 *
 * For the event loop.  Off, it costs nothing.
 */


#include "ngx_http_jpp_pools.h"
#include "ngx_http_jpp_worker.h"

#include "jpp_watch.h"


/* of a request, as far as it is looked at */
#define NGX_HTTP_JPP_PREFIX  offsetof(ngx_http_request_t, header_in)

/* no process has anything below, or at more than 47 bits */
#define NGX_HTTP_JPP_LOW     0x10000u
#define NGX_HTTP_JPP_BITS    47


static jpp_stall_table_t  *ngx_http_jpp_stall_table;
static const ngx_http_core_main_conf_t  *ngx_http_jpp_stall_cmcf;

/* of the phases of a request: where its location is chosen */
static ngx_int_t  ngx_http_jpp_stall_chooses;


/*
 * A single process shares its stalls with nobody, and the next reload may unmap
 * the registry before it says so, while the watcher's thread writes.
 */

static jpp_stall_table_t *
ngx_http_jpp_stall_place(void)
{
    static jpp_stall_table_t  *own;

    if (ngx_process != NGX_PROCESS_SINGLE) {
        return &ngx_http_jpp_self.zone->stalls;
    }

    if (own == NULL) {
        own = jpp_arena_object(sizeof(jpp_stall_table_t));
    }

    return own;
}


static void
ngx_http_jpp_stall_store(const jpp_stall_t *stall, uint64_t *id)
{
    jpp_stall_table_put(ngx_http_jpp_stall_table, stall, id);
}


void
ngx_http_jpp_stall_late(ngx_msec_t ms)
{
    char         served[JPP_STALL_TEXT];
    u_char       others[64], *last;
    uint64_t     silent;
    jpp_stall_t  stall;

    jpp_watch_over(ms, &stall);

    if (!jpp_stall_table_may_log(ngx_http_jpp_stall_table,
                                 stall.time_nanos / 1000000000 / 60, &silent))
    {
        return;
    }

    last = others;

    if (silent != 0) {
        last = ngx_snprintf(others, sizeof(others),
                            "; %uL more since the last line", silent);
    }

    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                  "jemalloc_pprof: the event loop stood still for %uL ms, "
                  "%s%s%*s",
                  stall.nanos / 1000000,
                  stall.where,
                  jpp_stall_served(&stall, served),
                  (size_t) (last - others), others);
}


static void
ngx_http_jpp_stall_name(const jpp_peek_t *peek, const ngx_str_t *name,
    char to[JPP_STALL_NAME])
{
    size_t  len;

    len = ngx_min(name->len, JPP_STALL_NAME - 1);

    if (!jpp_peek(peek, (uintptr_t) name->data, to, len)) {
        len = 0;
    }

    to[len] = '\0';
}


/* The end of a long path says more than its beginning. */

static void
ngx_http_jpp_stall_at(const jpp_peek_t *peek, uintptr_t conf,
    char to[JPP_STALL_NAME])
{
    u_char                  *last;
    ngx_str_t                file;
    ngx_http_jpp_loc_conf_t  jlcf;

    if (!jpp_peek(peek, conf, &jlcf, sizeof(ngx_http_jpp_loc_conf_t))) {
        return;
    }

    file.len = ngx_min(jlcf.file.len, JPP_STALL_NAME - NGX_INT32_LEN - 2);
    file.data = jlcf.file.data + (jlcf.file.len - file.len);

    ngx_http_jpp_stall_name(peek, &file, to);

    last = (u_char *) to + ngx_strlen(to);
    last = ngx_slprintf(last, (u_char *) to + JPP_STALL_NAME - 1, ":%ui",
                        jlcf.line);
    *last = '\0';
}


static ngx_uint_t
ngx_http_jpp_stall_is_server(uintptr_t cscf)
{
    ngx_http_core_srv_conf_t  **server;

    ngx_http_jpp_each(server, &ngx_http_jpp_stall_cmcf->servers) {
        if ((uintptr_t) *server == cscf) {
            return 1;
        }
    }

    return 0;
}


/*
 * [signal] Is WORD, which may be anything, a request's address?  If so, STALL
 * has its server, its location and its connection.  Afterwards it is too late
 * to ask: a request that kept the loop is finalized, as a rule, before the
 * iteration ends.
 *
 * All memory is read with care, by PEEK, because the word may be anything.
 * That it is a request is certain once its configuration is a server's.
 */

static bool
ngx_http_jpp_stall_serves(const jpp_peek_t *peek, uintptr_t word,
    jpp_stall_t *stall)
{
    void                     **loc_conf;
    u_char                     text[JPP_POOLS_NAME];
    uintptr_t                  cscf, clcf, jlcf;
    ngx_int_t                  phase;
    ngx_str_t                  name;
    ngx_http_request_t         r;
    ngx_http_core_srv_conf_t  *server;

    if (word % sizeof(void *) != 0 || word < NGX_HTTP_JPP_LOW
        || word >> (NGX_HTTP_JPP_BITS - 1) > 1
        || !jpp_peek(peek, word, &r, NGX_HTTP_JPP_PREFIX)
        || r.signature != NGX_HTTP_MODULE || r.pool == NULL
        || !jpp_peek(peek,
                     (uintptr_t) &r.srv_conf[ngx_http_core_module.ctx_index],
                     &cscf, sizeof(uintptr_t))
        || !ngx_http_jpp_stall_is_server(cscf))
    {
        return false;
    }

    server = (ngx_http_core_srv_conf_t *) cscf;
    name = ngx_http_jpp_server_text(server, text);
    ngx_http_jpp_stall_name(peek, &name, stall->server);

    loc_conf = r.loc_conf;

    /* meanwhile a request has the location with the longest prefix */

    if (jpp_peek(peek, word + offsetof(ngx_http_request_t, phase_handler),
                 &phase, sizeof(ngx_int_t))
        && phase == ngx_http_jpp_stall_chooses)
    {
        ngx_str_set(&name, JPP_STALL_CHOOSING);
        ngx_http_jpp_stall_name(peek, &name, stall->location);
        loc_conf = server->ctx->loc_conf;

    } else if (jpp_peek(peek,
                 (uintptr_t) &r.loc_conf[ngx_http_core_module.ctx_index],
                 &clcf, sizeof(uintptr_t))
        && jpp_peek(peek,
                    clcf + offsetof(ngx_http_core_loc_conf_t, name), &name,
                    sizeof(ngx_str_t)))
    {
        ngx_http_jpp_stall_name(peek, &name, stall->location);
    }

    if (jpp_peek(peek, (uintptr_t)
                 &loc_conf[ngx_http_jemalloc_pprof_module.ctx_index],
                 &jlcf, sizeof(uintptr_t)))
    {
        ngx_http_jpp_stall_at(peek, jlcf, stall->place);
    }

    if (!jpp_peek(peek, (uintptr_t) r.connection
                        + offsetof(ngx_connection_t, number),
                  &stall->connection, sizeof(ngx_atomic_uint_t)))
    {
        stall->connection = 0;
    }

    return true;
}


/* JPP_ERR_TAKEN: it watches, but SIGPROF is somebody else's. */

static jpp_code_t
ngx_http_jpp_stall_watch(ngx_msec_t threshold, jpp_err_t *err)
{
    jpp_code_t            rc;
    jpp_watch_loop_t      loop;
    ngx_http_jpp_self_t  *self;

    self = &ngx_http_jpp_self;

    if (ngx_http_jpp_loop_watch(threshold) != NGX_OK) {
        return jpp_err_set(err, JPP_ERR_SYS,
                           "timer_resolution stops nginx's clock: remove it, "
                           "or set \"jemalloc_pprof_stall off\"");
    }

    ngx_memzero(&loop, sizeof(jpp_watch_loop_t));

    loop.threshold = threshold;
    loop.iteration = ngx_http_jpp_loop_iteration;
    loop.age = ngx_http_jpp_loop_age;
    loop.waits = ngx_http_jpp_loop_waits();
    loop.serves = ngx_http_jpp_stall_serves;
    loop.store = ngx_http_jpp_stall_store;
    loop.who.pid = ngx_pid;
    loop.who.index = ngx_worker;
    loop.who.generation = self->generation;
    loop.who.started = self->row.started;

    rc = jpp_watch_start(&loop, err);

    if (rc == JPP_OK || rc == JPP_ERR_TAKEN) {
        self->stalling.threshold = threshold;
        self->stalling.is_foreign = rc == JPP_ERR_TAKEN;

    } else {
        (void) ngx_http_jpp_loop_watch(0);
    }

    return rc;
}


void
ngx_http_jpp_stall_stop(void)
{
    if (ngx_http_jpp_self.stalling.threshold != 0) {
        ngx_memzero(&ngx_http_jpp_self.stalling, sizeof(jpp_stalling_t));

        (void) ngx_http_jpp_loop_watch(0);

        jpp_watch_stop();
    }

    /* a reload without it frees the zone */

    ngx_http_jpp_stall_table = NULL;
}


jpp_code_t
ngx_http_jpp_stall_start(ngx_cycle_t *cycle, int ms, jpp_err_t *err)
{
    ngx_int_t                        i;
    jpp_code_t                       rc;
    ngx_uint_t                       level;
    const ngx_http_phase_handler_t  *ph;

    ngx_http_jpp_stall_stop();

    ngx_http_jpp_stall_table = ngx_http_jpp_stall_place();

    if (ms == 0) {
        return JPP_OK;
    }

    if (ngx_http_jpp_stall_table == NULL) {
        rc = jpp_err_set(err, JPP_ERR_MEMORY, "there is no memory for them");

    } else {
        ngx_http_jpp_stall_cmcf =
            ngx_http_cycle_get_module_main_conf(cycle, ngx_http_core_module);

        ph = ngx_http_jpp_stall_cmcf->phase_engine.handlers;

        for (i = 0; ph[i].checker != ngx_http_core_find_config_phase; i++) {
            /* void */
        }

        ngx_http_jpp_stall_chooses = i;

        rc = ngx_http_jpp_stall_watch(ms > 0 ? ms : NGX_HTTP_JPP_STALL, err);
    }

    if (rc == JPP_OK) {
        return JPP_OK;
    }

    /* who has not asked for it is not warned */

    level = ms > 0 ? NGX_LOG_WARN : NGX_LOG_NOTICE;

    ngx_log_error(level, cycle->log, 0, "jemalloc_pprof: stalls %s: %s",
                  rc == JPP_ERR_TAKEN
                  ? "in which this worker computes have no stack"
                  : "of this worker are not recorded",
                  err->text);

    if (rc == JPP_ERR_TAKEN) {
        err->code = JPP_OK;
    }

    return err->code;
}


ngx_uint_t
ngx_http_jpp_stall_list(int64_t since, jpp_stall_t stalls[JPP_STALLS])
{
    ngx_uint_t     i, n;
    jpp_process_t  process;

    if (ngx_http_jpp_stall_table == NULL) {
        return 0;
    }

    n = jpp_stall_table_list(ngx_http_jpp_stall_table, since, stalls);

    /* a process that was killed in a stall has not closed it */

    for (i = 0; i < n; i++) {
        if (stalls[i].state == JPP_STALL_LASTS
            && (!jpp_process_read(stalls[i].pid, &process)
                || process.started != stalls[i].started))
        {
            stalls[i].state = JPP_STALL_DIED;
        }
    }

    return n;
}


#include "ngx_http_jpp_pools.h"
#include "ngx_http_jpp_thread.h"
#include "ngx_http_jpp_worker.h"

#include "jpp_cpu.h"
#include "jpp_owners.h"

#include <dlfcn.h>
#include <sys/random.h>


/* how often a worker without a row tries to get one, ms */
#define NGX_HTTP_JPP_REJOIN    1000

/* how often to look for libraries that were loaded meanwhile, ms */
#define NGX_HTTP_JPP_REFRESH   1000


static ngx_event_t  ngx_http_jpp_rejoin;
static ngx_event_t  ngx_http_jpp_refresh;

static ngx_int_t  (*ngx_http_jpp_single_next)(ngx_cycle_t *cycle,
    ngx_msec_t timer, ngx_uint_t flags);

/* compared only */
static const ngx_cycle_t  *ngx_http_jpp_single_cycle;


/*
 * The code must stay mapped while a thread of the module runs, which may be
 * longer than nginx keeps the module open; and in a single process for good.
 * Not in the master: a module that is loaded again must find its variables as
 * they are in the file.
 */

static void
ngx_http_jpp_worker_pin_module(void)
{
    Dl_info   info;
    unsigned  was_sampled;

    was_sampled = jpp_source_sample_thread(JPP_SOURCE_BY_NONE);

    if (dladdr(&ngx_http_jemalloc_pprof_module, &info) != 0) {

        /* NULL where the module is linked into nginx */

        (void) dlopen(info.dli_fname, RTLD_NOW|RTLD_NOLOAD|RTLD_NODELETE);
    }

    (void) jpp_source_sample_thread(was_sampled);
}


/* Look for stalls and owners in CYCLE, as CONTROL or the default has it. */

static void
ngx_http_jpp_worker_watch(ngx_cycle_t *cycle, const jpp_control_t *control)
{
    jpp_err_t  err;

    (void) ngx_http_jpp_stall_start(cycle, control->stall, &err);

    if (ngx_http_jpp_owners_start(cycle, control->owners, &err) != JPP_OK
        && control->owners == 1)
    {
        ngx_log_error(NGX_LOG_WARN, cycle->log, 0, "jemalloc_pprof: %s",
                      err.text);
    }
}


/* Apply the settings that every worker should have. */

static void
ngx_http_jpp_worker_apply_wanted(ngx_cycle_t *cycle)
{
    jpp_err_t             err;
    jpp_control_t         control;
    jpp_control_result_t  result;

    ngx_http_jpp_worker_wanted(cycle, &control);
    ngx_http_jpp_worker_watch(cycle, &control);

    if (jpp_control_check(&control, &err) != JPP_OK) {
        return;
    }

    /* a state that forbids it was logged at the start, and is a problem */

    if (jpp_source_control(&control, &result, &err) != JPP_OK
        && err.code != JPP_ERR_STATE)
    {
        ngx_log_error(NGX_LOG_WARN, cycle->log, 0,
                      "jemalloc_pprof: could not apply the requested settings "
                      "to this worker: %s", err.text);

        jpp_status_failed(&ngx_http_jpp_self.last_error, ngx_time(), err.text);
    }

    ngx_http_jpp_worker_changed(&result);
}


static void
ngx_http_jpp_worker_rejoin(ngx_event_t *ev)
{
    if (ngx_http_jpp_self.zone == NULL) {
        return;
    }

    if (ngx_http_jpp_registry_join(ngx_http_jpp_self.zone,
                                   &ngx_http_jpp_self.row)
        != NGX_OK)
    {
        ngx_add_timer(ev, NGX_HTTP_JPP_REJOIN);
        return;
    }

    /* it has missed the changes that were made meanwhile */

    ngx_http_jpp_worker_apply_wanted((ngx_cycle_t *) ngx_cycle);
}


static void
ngx_http_jpp_worker_join(ngx_cycle_t *cycle)
{
    uint64_t             key;
    ngx_http_jpp_row_t  *row;

    row = &ngx_http_jpp_self.row;

    /* not a secret: it tells apart two workers that had the same pid */

    if (getrandom(&key, sizeof(uint64_t), GRND_NONBLOCK) != sizeof(uint64_t)) {
        key = (uint64_t) ngx_random() << 32 | ngx_random();
    }

    (void) ngx_hex_dump(row->key, (u_char *) &key, sizeof(uint64_t));

    row->can_listen = ngx_http_jpp_answerer_listen(cycle, row->key) == NGX_OK;

    if (ngx_http_jpp_registry_join(ngx_http_jpp_self.zone, row) == NGX_OK) {
        return;
    }

    ngx_log_error(NGX_LOG_WARN, cycle->log, 0,
                  "jemalloc_pprof: the table of workers is full: profiles will "
                  "lack this worker until others have exited");

    ngx_http_jpp_timer_init(&ngx_http_jpp_rejoin, ngx_http_jpp_worker_rejoin);
    ngx_http_jpp_rejoin.cancelable = 1;

    ngx_add_timer(&ngx_http_jpp_rejoin, NGX_HTTP_JPP_REJOIN);
}


/* Without it, a listing that is cut between two lines is not noticed. */

static void
ngx_http_jpp_worker_tail(ngx_http_jpp_self_t *self)
{
    jpp_vec_t   *maps;
    const char  *tail;
    jpp_arena_t  arena;

    jpp_arena_init(&arena, JPP_PROC_ARENA);

    maps = jpp_vec_create(&arena);

    if (maps != NULL && jpp_proc_maps(maps, NULL) == JPP_OK) {
        tail = jpp_proc_tail((char *) maps->data, maps->len, &arena);

        if (tail != NULL && ngx_strlen(tail) < sizeof(self->tail)) {
            (void) ngx_cpystrn((u_char *) self->tail, (u_char *) tail,
                               sizeof(self->tail));
        }
    }

    jpp_arena_destroy(&arena);
}


static ngx_int_t
ngx_http_jpp_single_process(ngx_cycle_t *cycle, ngx_msec_t timer,
    ngx_uint_t flags)
{
    if (cycle != ngx_http_jpp_single_cycle) {
        ngx_http_jpp_single_cycle = cycle;

        if (ngx_http_jpp_main_conf(cycle) == NULL) {
            ngx_http_jpp_worker_let_go();
        }
    }

    return ngx_http_jpp_single_next(cycle, timer, flags);
}


void
ngx_http_jpp_worker_init(ngx_cycle_t *cycle)
{
    jpp_process_t         process;
    ngx_http_jpp_self_t  *self;

    self = &ngx_http_jpp_self;

    /* nginx keeps it without a NUL */

    (void) ngx_snprintf((u_char *) self->host, sizeof(self->host) - 1,
                        "%V", &cycle->hostname);

    self->started = ngx_time();
    ngx_http_jpp_worker_tail(self);

    jpp_symbols_init(&self->symbols, JPP_SYMBOLS_CAP);
    ngx_http_jpp_hints(&self->symbols);

    ngx_http_jpp_worker_pin_module();
    ngx_http_jpp_pools_init(cycle);

    self->row.who.pid = ngx_pid;
    self->row.who.index = ngx_worker;
    self->row.who.generation = self->generation;

    self->row.started = jpp_process_read(ngx_pid, &process) ? process.started
                                                            : 0;

    /* without a thread, which was logged, it serves what needs none */

    (void) ngx_http_jpp_thread_init(cycle);

    ngx_http_jpp_loop_init(cycle);

    /*
     * A single process (master_process off), whose configurations come and go.
     *
     * nginx calls a module that is loaded. A reload without it unmaps its
     * zones, and calls nothing of it; but its timers, its hooks and the
     * connections that are left go on in the same process. Whether it is still
     * loaded is looked up where the event loop begins its first iteration with
     * the new configuration, before any of these can run. Whoever waits for
     * events comes first: after ngx_http_jpp_loop_init(). The code stays mapped
     * in any case.
     *
     * Other processes end with their configuration: nothing is done in them.
     */

    if (ngx_process == NGX_PROCESS_SINGLE) {
        ngx_http_jpp_single_cycle = cycle;

        ngx_http_jpp_single_next = ngx_event_actions.process_events;
        ngx_event_actions.process_events = ngx_http_jpp_single_process;
    }

    ngx_http_jpp_worker_join(cycle);

    /* in this order: from here on, changes reach this worker, too */

    ngx_http_jpp_worker_apply_wanted(cycle);
}


void
ngx_http_jpp_worker_exit(ngx_cycle_t *cycle)
{
    if (ngx_http_jpp_self.started != 0 && ngx_http_jpp_self.zone != NULL) {
        ngx_http_jpp_registry_clear(ngx_http_jpp_self.zone,
                                    &ngx_http_jpp_self.row, 0);
    }

    ngx_http_jpp_stall_stop();
    ngx_http_jpp_loop_exit();

    jpp_cpu_exit();

    ngx_http_jpp_thread_exit(cycle);
}


void
ngx_http_jpp_worker_let_go(void)
{
    jpp_err_t             err;
    ngx_http_jpp_self_t  *self;

    self = &ngx_http_jpp_self;

    self->zone = NULL;
    self->snapshots = NULL;
    jpp_memfd_close(&self->baseline);

    /* a master has nothing else */

    if (self->row.who.pid == 0) {
        return;
    }

    ngx_http_jpp_stall_stop();
    jpp_owners_stop();

    if (jpp_sampler_off(&err) != JPP_OK) {
        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                      "jemalloc_pprof: the sampler is off, but each malloc() "
                      "still passes through it: %s", err.text);
    }

    jpp_hook_reset();
}


/*
 * Mapping seals it; all parsers share the pages.  jemalloc ignores a full disk,
 * and every worker would hold half a dump for nothing.
 */

static jpp_code_t
ngx_http_jpp_baseline_dump(jpp_memfd_t *baseline, jpp_err_t *err)
{
    jpp_code_t  rc;

    rc = jpp_memfd_open(baseline, ngx_http_jpp_self.directory, err);

    if (rc == JPP_OK) {
        rc = jpp_jemalloc_dump(baseline->fd, err);
    }

    if (rc == JPP_OK) {
        rc = jpp_memfd_map(baseline, NGX_MAX_SIZE_T_VALUE, err);
    }

    if (rc == JPP_OK
        && !jpp_heap_is_whole(baseline->data, baseline->len))
    {
        rc = jpp_err_set(err, JPP_ERR_CUT,
                         "the dump is incomplete: it needs two free "
                         "descriptors, /proc, and room where it is written");
    }

    return rc;
}


/* A configuration without the module does not call it. */

static void
ngx_http_jpp_baseline_drop(void *data)
{
    if (ngx_http_jpp_self.generation == (ngx_uint_t) data) {
        jpp_memfd_close(&ngx_http_jpp_self.baseline);
    }
}


/*
 * What workers inherit: the master takes a dump before it forks them, and each
 * worker keeps it as long as it still has those samples.
 *
 * In the master, because a worker allocates before a module can take a dump:
 * its connections and events, for example.  A single process is started once,
 * and what it has at a reload is its own.
 */

static void
ngx_http_jpp_baseline_take(ngx_cycle_t *cycle)
{
    jpp_err_t             err;
    jpp_jemalloc_t        jemalloc;
    ngx_pool_cleanup_t   *cln;
    ngx_http_jpp_self_t  *self;

    self = &ngx_http_jpp_self;

    if (ngx_process == NGX_PROCESS_SINGLE && self->row.who.pid != 0) {
        return;
    }

    jpp_memfd_close(&self->baseline);
    jpp_jemalloc_read(&jemalloc);

    if (jemalloc.state != JPP_JEMALLOC_READY) {
        return;
    }

    cln = ngx_pool_cleanup_add(cycle->pool, 0);
    if (cln == NULL) {
        return;
    }

    cln->handler = ngx_http_jpp_baseline_drop;
    cln->data = (void *) self->generation;

    if (ngx_http_jpp_baseline_dump(&self->baseline, &err) != JPP_OK) {
        jpp_memfd_close(&self->baseline);

        ngx_log_error(NGX_LOG_WARN, cycle->log, 0,
                      "jemalloc_pprof: memory inherited from the master will "
                      "be reported as the workers' own: %s", err.text);
    }
}


/* After a reload a single process goes on, in the new generation. */

void
ngx_http_jpp_worker_configured(ngx_cycle_t *cycle)
{
    jpp_control_t         control;
    ngx_http_jpp_self_t  *self;

    self = &ngx_http_jpp_self;

    if (ngx_process == NGX_PROCESS_SINGLE && self->row.who.pid != 0) {
        self->row.who.generation = self->generation;

        (void) ngx_http_jpp_registry_join(self->zone, &self->row);

        ngx_http_jpp_worker_wanted(cycle, &control);
        ngx_http_jpp_worker_watch(cycle, &control);
    }

    ngx_http_jpp_baseline_take(cycle);
}


static void
ngx_http_jpp_worker_default(int *value, ngx_int_t conf)
{
    if (*value == -1) {
        *value = conf;
    }
}


/* What control has set in all workers comes before the configuration. */

void
ngx_http_jpp_worker_wanted(ngx_cycle_t *cycle, jpp_control_t *control)
{
    ngx_http_jpp_main_conf_t  *jmcf;

    jmcf = ngx_http_jpp_main_conf(cycle);

    jpp_control_init(control);

    if (jmcf == NULL || ngx_http_jpp_self.zone == NULL) {
        return;
    }

    jpp_settings_get(&ngx_http_jpp_self.zone->settings, control);

    ngx_http_jpp_worker_default(&control->active, jmcf->active);
    ngx_http_jpp_worker_default(&control->lg_sample, jmcf->lg_sample);
    ngx_http_jpp_worker_default(&control->sampler, jmcf->sampler);
    ngx_http_jpp_worker_default(&control->sampler_lg, jmcf->sampler_lg);
    ngx_http_jpp_worker_default(&control->sampler_lg, JPP_SAMPLER_LG_DEFAULT);
    ngx_http_jpp_worker_default(&control->stall, jmcf->stall);
    ngx_http_jpp_worker_default(&control->owners, jmcf->owners);
}


/*
 * A reset of jemalloc forgets the inherited samples, too.  The sampler has
 * none: that of the master is never switched on.
 */

void
ngx_http_jpp_worker_changed(const jpp_control_result_t *result)
{
    if (result->is_reset) {
        jpp_memfd_close(&ngx_http_jpp_self.baseline);
    }

    if (result->is_other) {
        ngx_http_jpp_self.n_resets++;
    }

    jpp_coverage_changed(&ngx_http_jpp_self.coverage, result, ngx_time());
    ngx_http_jpp_unwind_watch();
}


void
ngx_http_jpp_unwind_init(ngx_cycle_t *cycle)
{
    unsigned        was_sampled;
    jpp_jemalloc_t  jemalloc;

    jpp_jemalloc_read(&jemalloc);

    /* pinning allocates */

    was_sampled = jpp_source_sample_thread(JPP_SOURCE_BY_NONE);

    (void) jpp_backtrace_start();

    if (ngx_http_jpp_main_conf(cycle)->unwind && jemalloc.hook == JPP_HOOK_OFF)
    {
        (void) jpp_hook_set();
    }

    (void) jpp_source_sample_thread(was_sampled);

    ngx_http_jpp_unwind_watch();
}


static void
ngx_http_jpp_unwind_refresh(ngx_event_t *ev)
{
    unsigned   was_sampled;
    jpp_err_t  err;

    was_sampled = jpp_source_sample_thread(JPP_SOURCE_BY_NONE);

    jpp_backtrace_refresh();

    if (jpp_sampler_rescan(&err) != JPP_OK) {
        ngx_log_error(NGX_LOG_WARN, ev->log, 0,
                      "jemalloc_pprof: libraries loaded since the sampler was "
                      "switched on are not sampled: %s", err.text);

        jpp_status_failed(&ngx_http_jpp_self.last_error, ngx_time(), err.text);
    }

    (void) jpp_source_sample_thread(was_sampled);

    ngx_http_jpp_unwind_watch();
}


void
ngx_http_jpp_unwind_watch(void)
{
    ngx_event_t  *ev;

    ev = &ngx_http_jpp_refresh;

    if (ev->timer_set
        || !(jpp_sampler_is_on() || jpp_hook_read() == JPP_HOOK_ON
             || ngx_http_jpp_self.stalling.threshold != 0 || jpp_cpu_is_on()))
    {
        return;
    }

    ngx_http_jpp_timer_init(ev, ngx_http_jpp_unwind_refresh);
    ev->cancelable = 1;

    ngx_add_timer(ev, NGX_HTTP_JPP_REFRESH);
}

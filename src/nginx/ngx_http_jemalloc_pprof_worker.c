
/*
 * What this worker is: its start, its end, and what it says of itself.
 */


#include "ngx_http_jemalloc_pprof_asked.h"
#include "ngx_http_jemalloc_pprof_thread.h"

#include "jpp_proc.h"

#include <dlfcn.h>
#include <sys/random.h>


/* for a look at the mappings of this process */
#define NGX_HTTP_JEMALLOC_PPROF_MAPS_CAP  (64 * 1024 * 1024)

/* how often a worker that found no row looks for one, ms */
#define NGX_HTTP_JEMALLOC_PPROF_REJOIN    1000


static void ngx_http_jemalloc_pprof_worker_stay(void);
static void ngx_http_jemalloc_pprof_worker_join(ngx_cycle_t *cycle);
static void ngx_http_jemalloc_pprof_worker_rejoin(ngx_event_t *ev);
static void ngx_http_jemalloc_pprof_worker_disown(void *data);
static void ngx_http_jemalloc_pprof_worker_obey(ngx_cycle_t *cycle);
static const char *ngx_http_jemalloc_pprof_worker_tail(char *buffer,
    size_t size);


ngx_http_jemalloc_pprof_worker_t  ngx_http_jemalloc_pprof_worker = {
    .baseline = { .fd = -1 }
};

ngx_connection_t  ngx_http_jemalloc_pprof_no_connection = {
    .fd = (ngx_socket_t) -1
};

static ngx_event_t  ngx_http_jemalloc_pprof_rejoin;


void
ngx_http_jemalloc_pprof_worker_init(ngx_cycle_t *cycle)
{
    static char                        tail[64];
    ngx_http_jemalloc_pprof_worker_t  *worker;

    worker = &ngx_http_jemalloc_pprof_worker;

    /* nginx keeps it without a NUL */

    (void) ngx_snprintf((u_char *) worker->host, sizeof(worker->host) - 1,
                        "%V", &cycle->hostname);

    worker->started = ngx_time();
    worker->tail = ngx_http_jemalloc_pprof_worker_tail(tail, sizeof(tail));

    jpp_symbols_init(&worker->symbols, JPP_SYMBOLS_CAP);

    ngx_http_jemalloc_pprof_worker_stay();

    worker->row.pid = ngx_pid;
    worker->row.index = ngx_worker;
    worker->row.generation = worker->generation;

    /* a worker that cannot answer has said so, and serves all else */

    if (ngx_http_jemalloc_pprof_thread_init(cycle) == NGX_OK) {
        ngx_http_jemalloc_pprof_worker_join(cycle);

        /* in this order: what is wanted from here on is asked of us, too */

        ngx_http_jemalloc_pprof_worker_obey(cycle);
    }
}


void
ngx_http_jemalloc_pprof_worker_exit(ngx_cycle_t *cycle)
{
    if (ngx_http_jemalloc_pprof_worker.started != 0
        && ngx_http_jemalloc_pprof_worker.zone != NULL)
    {
        ngx_http_jemalloc_pprof_table_leave(
            ngx_http_jemalloc_pprof_worker.zone);
    }

    ngx_http_jemalloc_pprof_thread_exit(cycle);
}


/*
 * The code must stay while a thread of the module runs, which may be longer
 * than nginx has the module open.  Not so in the master, where a module that
 * is loaded anew must find its variables as they were in the file.
 */

static void
ngx_http_jemalloc_pprof_worker_stay(void)
{
    bool     was_sampled;
    Dl_info  info;

    was_sampled = jpp_jemalloc_sample_thread(false);

    if (dladdr(&ngx_http_jemalloc_pprof_module, &info) != 0) {

        /* none of the program itself, where the module is linked into it */

        (void) dlopen(info.dli_fname, RTLD_NOW|RTLD_NOLOAD|RTLD_NODELETE);
    }

    (void) jpp_jemalloc_sample_thread(was_sampled);
}


static void
ngx_http_jemalloc_pprof_worker_join(ngx_cycle_t *cycle)
{
    uint64_t                        key;
    ngx_http_jemalloc_pprof_row_t  *row;

    row = &ngx_http_jemalloc_pprof_worker.row;

    /* not a secret: it keeps two that have one pid apart, after another */

    if (getrandom(&key, sizeof(uint64_t), GRND_NONBLOCK) != sizeof(uint64_t)) {
        key = (uint64_t) ngx_random() << 32 | ngx_random();
    }

    (void) ngx_hex_dump(row->key, (u_char *) &key, sizeof(uint64_t));

    row->can_listen = ngx_http_jemalloc_pprof_asked_listen(cycle, row->key)
                      == NGX_OK;

    if (ngx_http_jemalloc_pprof_table_join(ngx_http_jemalloc_pprof_worker.zone,
                                           row)
        == NGX_OK)
    {
        return;
    }

    ngx_log_error(NGX_LOG_WARN, cycle->log, 0,
                  "jemalloc_pprof: the table has no row left for this worker: "
                  "profiles will be without it until others have ended");

    ngx_http_jemalloc_pprof_rejoin.handler =
                                        ngx_http_jemalloc_pprof_worker_rejoin;
    ngx_http_jemalloc_pprof_rejoin.data =
                                       &ngx_http_jemalloc_pprof_no_connection;
    ngx_http_jemalloc_pprof_rejoin.log = cycle->log;
    ngx_http_jemalloc_pprof_rejoin.cancelable = 1;

    ngx_add_timer(&ngx_http_jemalloc_pprof_rejoin,
                  NGX_HTTP_JEMALLOC_PPROF_REJOIN);
}


static void
ngx_http_jemalloc_pprof_worker_rejoin(ngx_event_t *ev)
{
    if (ngx_http_jemalloc_pprof_table_join(ngx_http_jemalloc_pprof_worker.zone,
                                         &ngx_http_jemalloc_pprof_worker.row)
        != NGX_OK)
    {
        ngx_add_timer(ev, NGX_HTTP_JEMALLOC_PPROF_REJOIN);
        return;
    }

    /* it was not asked for what others were asked meanwhile */

    ngx_http_jemalloc_pprof_worker_obey((ngx_cycle_t *) ngx_cycle);
}


/*
 * In the master, because a worker allocates before a module can look: its
 * connections and events, for example.  A single process is started once, and
 * what it has at a reload is its own.
 */

void
ngx_http_jemalloc_pprof_worker_inherit(ngx_cycle_t *cycle)
{
    jpp_err_t                          err;
    jpp_code_t                         rc;
    jpp_jemalloc_t                     jemalloc;
    struct sigaction                   ignore, old;
    ngx_pool_cleanup_t                *cln;
    ngx_http_jemalloc_pprof_worker_t  *worker;

    worker = &ngx_http_jemalloc_pprof_worker;

    if (ngx_process == NGX_PROCESS_SINGLE && worker->row.pid != 0) {
        worker->row.generation = worker->generation;

        (void) ngx_http_jemalloc_pprof_table_join(worker->zone, &worker->row);

        return;
    }

    jpp_memfd_close(&worker->baseline);
    jpp_jemalloc_read(&jemalloc);

    if (jemalloc.state != JPP_JEMALLOC_READY) {
        return;
    }

    cln = ngx_pool_cleanup_add(cycle->pool, 0);
    if (cln == NULL) {
        return;
    }

    cln->handler = ngx_http_jemalloc_pprof_worker_disown;
    cln->data = (void *) worker->generation;

    /* a limit of file size would end nginx here */

    ngx_memzero(&ignore, sizeof(struct sigaction));
    ignore.sa_handler = SIG_IGN;

    (void) sigaction(SIGXFSZ, &ignore, &old);

    rc = jpp_memfd_open(&worker->baseline, worker->directory, &err);

    if (rc == JPP_OK) {
        rc = jpp_jemalloc_dump(worker->baseline.fd, &err);
    }

    (void) sigaction(SIGXFSZ, &old, NULL);

    /* to be sealed; the pages are the same for whoever reads it */

    if (rc == JPP_OK) {
        rc = jpp_memfd_map(&worker->baseline, NGX_MAX_SIZE_T_VALUE, &err);
    }

    if (rc != JPP_OK) {
        jpp_memfd_close(&worker->baseline);

        ngx_log_error(NGX_LOG_WARN, cycle->log, 0,
                      "jemalloc_pprof: what workers inherit will be told as "
                      "their own: %s", err.text);
    }
}


/* A configuration that loads the module no more says nothing to it. */

static void
ngx_http_jemalloc_pprof_worker_disown(void *data)
{
    if (ngx_http_jemalloc_pprof_worker.generation == (ngx_uint_t) data) {
        jpp_memfd_close(&ngx_http_jemalloc_pprof_worker.baseline);
    }
}


/* What was asked of all workers is before what is configured. */

void
ngx_http_jemalloc_pprof_worker_wanted(ngx_cycle_t *cycle,
    jpp_control_t *control)
{
    ngx_http_jemalloc_pprof_wanted_t      wanted;
    ngx_http_jemalloc_pprof_main_conf_t  *jmcf;

    jmcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_jemalloc_pprof_module);

    jpp_control_init(control);

    if (jmcf == NULL || ngx_http_jemalloc_pprof_worker.zone == NULL) {
        return;
    }

    ngx_http_jemalloc_pprof_table_wanted(ngx_http_jemalloc_pprof_worker.zone,
                                         &wanted);

    control->active = wanted.active != NGX_CONF_UNSET ? wanted.active
                                                      : jmcf->active;
    control->lg_sample = wanted.lg_sample != NGX_CONF_UNSET ? wanted.lg_sample
                                                            : jmcf->lg_sample;
}


/* Make this worker what is wanted of every one. */

static void
ngx_http_jemalloc_pprof_worker_obey(ngx_cycle_t *cycle)
{
    jpp_err_t             err;
    jpp_control_t         control;
    jpp_control_result_t  result;

    ngx_http_jemalloc_pprof_worker_wanted(cycle, &control);

    if (jpp_control_check(&control, &err) != JPP_OK) {
        return;
    }

    if (jpp_jemalloc_control(&control, &result, &err) != JPP_OK) {
        ngx_log_error(NGX_LOG_WARN, cycle->log, 0,
                      "jemalloc_pprof: this worker is not as it is wanted: %s",
                      err.text);

        jpp_status_failed(&ngx_http_jemalloc_pprof_worker.last_error,
                          ngx_time(), err.text);
    }

    ngx_http_jemalloc_pprof_worker_changed(&control, &result);
}


/* Where the samples were forgotten, those that were inherited were too. */

void
ngx_http_jemalloc_pprof_worker_changed(const jpp_control_t *control,
    const jpp_control_result_t *result)
{
    if (control->reset || result->after.lg_sample != result->before.lg_sample)
    {
        jpp_memfd_close(&ngx_http_jemalloc_pprof_worker.baseline);
    }
}


void
ngx_http_jemalloc_pprof_describe(jpp_worker_t *worker)
{
    ngx_memzero(worker, sizeof(jpp_worker_t));

    worker->index = ngx_worker;
    worker->pid = ngx_pid;
    worker->generation = ngx_http_jemalloc_pprof_worker.generation;
    worker->is_exiting = ngx_exiting != 0;
    worker->started = ngx_http_jemalloc_pprof_worker.started;
    worker->last_error = ngx_http_jemalloc_pprof_worker.last_error;

    jpp_jemalloc_read(&worker->jemalloc);
}


void
ngx_http_jemalloc_pprof_fleet(jpp_fleet_t *fleet, const jpp_worker_t *workers,
    ngx_uint_t n, ngx_uint_t n_asked)
{
    ngx_memzero(fleet, sizeof(jpp_fleet_t));

    fleet->nginx = NGINX_VERSION;
    fleet->host = ngx_http_jemalloc_pprof_worker.host;
    fleet->n_asked = n_asked;
    fleet->workers = workers;
    fleet->n = n;
}


static const char *
ngx_http_jemalloc_pprof_worker_tail(char *buffer, size_t size)
{
    jpp_vec_t    *maps;
    const char   *tail;
    jpp_arena_t   arena;

    jpp_arena_init(&arena, NGX_HTTP_JEMALLOC_PPROF_MAPS_CAP);

    maps = jpp_vec_create(&arena);
    tail = NULL;

    /* without it only the check for a listing cut between two lines is lost */

    if (maps != NULL && jpp_proc_maps(maps, NULL) == JPP_OK) {
        tail = jpp_proc_tail((char *) maps->data, maps->len, &arena);
    }

    if (tail != NULL && ngx_strlen(tail) < size) {
        (void) ngx_cpystrn((u_char *) buffer, (u_char *) tail, size);
        tail = buffer;

    } else {
        tail = NULL;
    }

    jpp_arena_destroy(&arena);

    return tail;
}

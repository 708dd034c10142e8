
/*
 * What this worker is: its start, its end, and what it says of itself.
 */


#include "ngx_http_jemalloc_pprof_asked.h"
#include "ngx_http_jemalloc_pprof_thread.h"

#include "jpp_proc.h"

#include <sys/random.h>


/* for a look at the mappings of this process */
#define NGX_HTTP_JEMALLOC_PPROF_MAPS_CAP  (64 * 1024 * 1024)


static void ngx_http_jemalloc_pprof_worker_join(ngx_cycle_t *cycle);
static void ngx_http_jemalloc_pprof_worker_obey(ngx_cycle_t *cycle);
static const char *ngx_http_jemalloc_pprof_worker_tail(char *buffer,
    size_t size);


ngx_http_jemalloc_pprof_worker_t  ngx_http_jemalloc_pprof_worker = {
    .baseline = { .fd = -1 }
};

ngx_connection_t  ngx_http_jemalloc_pprof_no_connection = {
    .fd = (ngx_socket_t) -1
};


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
    if (ngx_http_jemalloc_pprof_worker.started != 0) {
        ngx_http_jemalloc_pprof_table_leave(
            ngx_http_jemalloc_pprof_worker.zone);
    }

    ngx_http_jemalloc_pprof_thread_exit(cycle);
}


static void
ngx_http_jemalloc_pprof_worker_join(ngx_cycle_t *cycle)
{
    uint64_t                           key;
    ngx_http_jemalloc_pprof_row_t      row;
    ngx_http_jemalloc_pprof_worker_t  *worker;

    worker = &ngx_http_jemalloc_pprof_worker;

    ngx_memzero(&row, sizeof(ngx_http_jemalloc_pprof_row_t));

    row.pid = ngx_pid;
    row.index = ngx_worker;
    row.generation = worker->generation;

    /* not a secret: it keeps two that have one pid apart, after another */

    if (getrandom(&key, sizeof(uint64_t), GRND_NONBLOCK) != sizeof(uint64_t)) {
        key = (uint64_t) ngx_random() << 32 | ngx_random();
    }

    (void) ngx_hex_dump(row.key, (u_char *) &key, sizeof(uint64_t));

    row.can_listen = ngx_http_jemalloc_pprof_asked_listen(cycle, row.key)
                     == NGX_OK;

    if (ngx_http_jemalloc_pprof_table_join(worker->zone, &row) != NGX_OK) {
        ngx_log_error(NGX_LOG_WARN, cycle->log, 0,
                      "jemalloc_pprof: the table has no row left for this "
                      "worker: profiles will be without it");
    }
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
    ngx_http_jemalloc_pprof_worker_t  *worker;

    worker = &ngx_http_jemalloc_pprof_worker;

    if (ngx_process == NGX_PROCESS_SINGLE && worker->baseline.fd != -1) {
        return;
    }

    jpp_memfd_close(&worker->baseline);
    jpp_jemalloc_read(&jemalloc);

    if (jemalloc.state != JPP_JEMALLOC_READY) {
        return;
    }

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


/* What was asked of all workers is before what is configured. */

void
ngx_http_jemalloc_pprof_worker_wanted(ngx_cycle_t *cycle,
    jpp_control_t *control)
{
    ngx_http_jemalloc_pprof_wanted_t      wanted;
    ngx_http_jemalloc_pprof_main_conf_t  *jmcf;

    jmcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_jemalloc_pprof_module);

    ngx_http_jemalloc_pprof_table_wanted(ngx_http_jemalloc_pprof_worker.zone,
                                         &wanted);

    jpp_control_init(control);

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

    jpp_jemalloc_read(&worker->jemalloc);
    worker->has_stats = jpp_jemalloc_stats(&worker->stats);
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

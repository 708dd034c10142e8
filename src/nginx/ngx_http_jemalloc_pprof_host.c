
/*
 * What this worker knows of itself, and the resources that tell it: status,
 * console, cmdline.  They are answered at once, in the event loop.
 */


#include "ngx_http_jemalloc_pprof_send.h"
#include "ngx_http_jemalloc_pprof_thread.h"

#include "jpp_console.h"
#include "jpp_proc.h"


/* a page of so many workers as there can be, and the buffer before it */
#define NGX_HTTP_JEMALLOC_PPROF_PAGE_CAP  (1024 * 1024)

#define NGX_HTTP_JEMALLOC_PPROF_PAGE_BUFFER  4096

/* for a look at the mappings of this process */
#define NGX_HTTP_JEMALLOC_PPROF_MAPS_CAP  (64 * 1024 * 1024)


typedef void (*ngx_http_jemalloc_pprof_page_pt)(const jpp_fleet_t *fleet,
    jpp_sink_t *sink);


static ngx_int_t ngx_http_jemalloc_pprof_page(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_answer_t *answer,
    ngx_http_jemalloc_pprof_page_pt write);
static void ngx_http_jemalloc_pprof_arguments(const jpp_fleet_t *fleet,
    jpp_sink_t *sink);
static const char *ngx_http_jemalloc_pprof_tail(char *buffer, size_t size);


ngx_http_jemalloc_pprof_worker_t  ngx_http_jemalloc_pprof_worker;


ngx_int_t
ngx_http_jemalloc_pprof_status(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question)
{
    ngx_http_jemalloc_pprof_answer_t  answer = {
        .type = "application/json"
    };

    return ngx_http_jemalloc_pprof_page(r, &answer, jpp_status_json);
}


ngx_int_t
ngx_http_jemalloc_pprof_console(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question)
{
    ngx_http_jemalloc_pprof_answer_t  answer = {
        .type = "text/html",
        .policy = jpp_console_policy
    };

    return ngx_http_jemalloc_pprof_page(r, &answer, jpp_console_html);
}


ngx_int_t
ngx_http_jemalloc_pprof_cmdline(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question)
{
    ngx_http_jemalloc_pprof_answer_t  answer = {
        .type = "text/plain"
    };

    return ngx_http_jemalloc_pprof_page(r, &answer,
                                        ngx_http_jemalloc_pprof_arguments);
}


static ngx_int_t
ngx_http_jemalloc_pprof_page(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_answer_t *answer,
    ngx_http_jemalloc_pprof_page_pt write)
{
    uint8_t       *buffer;
    jpp_vec_t     *page;
    jpp_sink_t     sink;
    jpp_arena_t    arena;
    jpp_fleet_t    fleet;
    jpp_worker_t   worker;

    if (r->method == NGX_HTTP_HEAD) {
        return ngx_http_jemalloc_pprof_send_head(r, answer);
    }

    jpp_arena_init(&arena, NGX_HTTP_JEMALLOC_PPROF_PAGE_CAP);

    buffer = jpp_arena_alloc(&arena, NGX_HTTP_JEMALLOC_PPROF_PAGE_BUFFER);
    page = jpp_vec_create(&arena);

    if (buffer == NULL || page == NULL) {
        jpp_arena_destroy(&arena);
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    jpp_sink_init(&sink, buffer, NGX_HTTP_JEMALLOC_PPROF_PAGE_BUFFER,
                  jpp_sink_to_vec, page);

    ngx_http_jemalloc_pprof_describe(&worker);
    ngx_http_jemalloc_pprof_fleet(&fleet, &worker, 1, 1);

    write(&fleet, &sink);

    if (jpp_sink_flush(&sink) != 0) {
        jpp_arena_destroy(&arena);
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_http_jemalloc_pprof_send_body(r, answer, &arena, page->data,
                                             page->len);
}


static void
ngx_http_jemalloc_pprof_arguments(const jpp_fleet_t *fleet, jpp_sink_t *sink)
{
    ngx_int_t  i;

    /* what this nginx was started with: the title of a process is not that */

    for (i = 0; i < ngx_argc; i++) {

        if (i != 0) {
            jpp_sink_char(sink, '\0');
        }

        jpp_sink_str(sink, ngx_argv[i]);
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
    fleet->nginx = NGINX_VERSION;
    fleet->host = ngx_http_jemalloc_pprof_worker.host;
    fleet->n_asked = n_asked;
    fleet->workers = workers;
    fleet->n = n;
}


ngx_int_t
ngx_http_jemalloc_pprof_worker_init(ngx_cycle_t *cycle)
{
    static char                        tail[64];
    ngx_http_jemalloc_pprof_worker_t  *worker;

    worker = &ngx_http_jemalloc_pprof_worker;

    /* nginx keeps it without a NUL */

    (void) ngx_snprintf((u_char *) worker->host, sizeof(worker->host) - 1,
                        "%V", &cycle->hostname);

    worker->started = ngx_time();
    worker->tail = ngx_http_jemalloc_pprof_tail(tail, sizeof(tail));

    jpp_symbols_init(&worker->symbols, JPP_SYMBOLS_CAP);

    return ngx_http_jemalloc_pprof_thread_init(cycle);
}


void
ngx_http_jemalloc_pprof_worker_exit(ngx_cycle_t *cycle)
{
    ngx_http_jemalloc_pprof_thread_exit(cycle);
}


static const char *
ngx_http_jemalloc_pprof_tail(char *buffer, size_t size)
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

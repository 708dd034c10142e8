
/*
 * What the files of the adapter share: the configuration, what a request asks
 * for, and the facts of this worker.
 *
 * The way of a request, by file:
 *
 *     request    from URI, method and query to a question, or a refusal
 *     resources  what is served: the table of them
 *     host       the name that a request is addressed to
 *     heap       dumps and their report       | each is a job
 *     symbol     addresses in, names out      |
 *     status     console and cmdline, too     |
 *     control    changes to the profiler      |
 *     page       what workers answer, as a page
 *     job        the work of one request, step by step: it outlives the request
 *                when the client leaves, and ends when nginx ends
 *     collect    what the chosen workers answer to one question
 *     part       what one of them has to do with it, and what came back
 *     peers      a question to one worker
 *     asked      the questions of others to this one
 *     wire       the sockets between them
 *     table      the workers there are, in shared memory
 *     memory     how much all of that may take
 *     thread     the one background thread of a worker
 *     worker     what this one is, its start and its end
 *     send       headers and bodies
 *     refuse     every way in which a request is not answered
 *
 * Files of the adapter never parse, encode or unwind: that is the core's.
 */


#ifndef _NGX_HTTP_JEMALLOC_PPROF_H_INCLUDED_
#define _NGX_HTTP_JEMALLOC_PPROF_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "ngx_http_jemalloc_pprof_table.h"

#include "jpp_args.h"
#include "jpp_memfd.h"
#include "jpp_control.h"
#include "jpp_status.h"
#include "jpp_symbolize.h"


/* requests in work in one worker: beyond these they are told to come back */
#define NGX_HTTP_JEMALLOC_PPROF_MAX_JOBS    32

/* bytes of addresses that may be asked for at once: about 55,000 */
#define NGX_HTTP_JEMALLOC_PPROF_MAX_BODY    (1024 * 1024)


typedef struct {
    ngx_str_t    temp_path;        /* where dumps go if memory may not */
    ngx_shm_zone_t
                *zone;             /* NULL: no location serves anything */
    ngx_flag_t   active;           /* what workers are set to as they start */
    ngx_int_t    lg_sample;
} ngx_http_jemalloc_pprof_main_conf_t;


typedef struct {
    ngx_array_t  names;            /* ngx_http_server_name_t */
} ngx_http_jemalloc_pprof_srv_conf_t;


typedef struct ngx_http_jemalloc_pprof_resource_s
    ngx_http_jemalloc_pprof_resource_t;


typedef struct {
    const ngx_http_jemalloc_pprof_resource_t
                *resource;         /* NULL: the rest of the URI names it */
    ngx_str_t    name;             /* of the location, before that rest */
    ngx_flag_t   is_on;
    ngx_flag_t   is_named;         /* the resource is served under any URI */
    jpp_worker_kind_t
                 worker;           /* who is asked where nothing is said */
    ngx_flag_t   symbolize;
    ngx_flag_t   control;          /* may be changed from here */

    ngx_msec_t   timeout;
    time_t       max_seconds;
    size_t       max_size;
    ngx_int_t    gzip_level;
} ngx_http_jemalloc_pprof_loc_conf_t;


typedef struct {
    const ngx_http_jemalloc_pprof_resource_t
                *resource;
    jpp_args_t   args;
} ngx_http_jemalloc_pprof_question_t;


/* What one worker process knows of itself. */
typedef struct {
    char             host[NGX_MAXHOSTNAMELEN];
    const char      *directory;    /* for dumps, or NULL */
    ngx_shm_zone_t  *zone;         /* the table of workers */
    ngx_http_jemalloc_pprof_row_t
                     row;          /* this one's, in the table or not */
    ngx_uint_t       generation;
    time_t           started;
    jpp_memfd_t      baseline;     /* what was inherited; fd -1: unknown */
    const char      *tail;         /* see jpp_maps_read() */
    jpp_symbols_t    symbols;      /* used in the background thread only */
    jpp_failure_t    last_error;   /* used in the event loop only */
} ngx_http_jemalloc_pprof_worker_t;


extern ngx_module_t  ngx_http_jemalloc_pprof_module;

extern ngx_http_jemalloc_pprof_worker_t  ngx_http_jemalloc_pprof_worker;

/* debug builds of nginx read an fd out of what a timer's data points to */
extern ngx_connection_t  ngx_http_jemalloc_pprof_no_connection;


/* request */

/* The content handler. */
ngx_int_t ngx_http_jemalloc_pprof_handler(ngx_http_request_t *r);


/* worker */

/* Fill WORKER, but for its stats, with what this worker is now. */
void ngx_http_jemalloc_pprof_describe(jpp_worker_t *worker);

/* Fill FLEET with the N WORKERS that answered, of N_ASKED; none is missing. */
void ngx_http_jemalloc_pprof_fleet(jpp_fleet_t *fleet,
    const jpp_worker_t *workers, ngx_uint_t n, ngx_uint_t n_asked);

/* In the master: keep what the workers of this configuration will inherit. */
void ngx_http_jemalloc_pprof_worker_inherit(ngx_cycle_t *cycle);

/* Make this process a worker that can answer, and be found by others. */
void ngx_http_jemalloc_pprof_worker_init(ngx_cycle_t *cycle);
void ngx_http_jemalloc_pprof_worker_exit(ngx_cycle_t *cycle);

/* Fill CONTROL with what is wanted of every worker. */
void ngx_http_jemalloc_pprof_worker_wanted(ngx_cycle_t *cycle,
    jpp_control_t *control);

/* CONTROL was done here, with RESULT. */
void ngx_http_jemalloc_pprof_worker_changed(const jpp_control_t *control,
    const jpp_control_result_t *result);


#endif /* _NGX_HTTP_JEMALLOC_PPROF_H_INCLUDED_ */

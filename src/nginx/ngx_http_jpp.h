
/*
 * Declarations for all files of the adapter: the configuration, and a request's
 * parsed parameters.
 *
 * Files of the adapter never parse, encode or unwind: the core does.
 */


#ifndef _NGX_HTTP_JPP_H_INCLUDED_
#define _NGX_HTTP_JPP_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "jpp_answers.h"
#include "jpp_recorded.h"


/* requests at work in one worker: any more are answered with 429 */
#define NGX_HTTP_JPP_MAX_JOBS    32

/* bytes of addresses that may be asked for at once: about 55,000 */
#define NGX_HTTP_JPP_MAX_BODY    (1024 * 1024)

/* the methods of a resource that only reads */
#define NGX_HTTP_JPP_READ        (NGX_HTTP_GET|NGX_HTTP_HEAD)


/* jpp_each() over an array of nginx's, or a part of a list. */
#define ngx_http_jpp_each(item, array)                                        \
    jpp_each(item, (__typeof__(item)) (array)->elts, (array)->nelts)

/* The same over a queue, which the member queue of each is in. */
#define ngx_http_jpp_each_queued(item, head)                                  \
    for (item = ngx_queue_data(ngx_queue_head(head), __typeof__(*item),       \
                               queue);                                        \
         &item->queue != ngx_queue_sentinel(head);                            \
         item = ngx_queue_data(ngx_queue_next(&item->queue),                  \
                               __typeof__(*item), queue))


typedef struct ngx_http_jpp_loc_conf_s  ngx_http_jpp_loc_conf_t;


/* The directive jemalloc_pprof_snapshots. */
typedef struct {
    ngx_flag_t   is_on;            /* UNSET: as if it were on */
    ngx_shm_zone_t
                *shm;
    size_t       zone;             /* bytes */
    ngx_str_t    path;             /* of files; no data: none are written */
    ngx_uint_t   limit;            /* per cent */
    ngx_uint_t   growth;           /* per cent */
    ngx_uint_t   keep;
    size_t       size;             /* bytes of files */
} ngx_http_jpp_snapshots_conf_t;


typedef struct {
    ngx_str_t    temp_path;        /* where dumps go if memory may not */
    ngx_shm_zone_t
                *zone;             /* NULL: no location serves profiles */
    ngx_flag_t   active;           /* the setting that workers start with */
    ngx_int_t    lg_sample;
    ngx_flag_t   unwind;           /* by the module, where it can */
    ngx_flag_t   owners;           /* of samples; NGX_CONF_UNSET: nobody */
    ngx_int_t    stall;            /*   has asked; ms, 0: off, UNSET */
    ngx_uint_t   source;           /* jpp_source_t */
    ngx_int_t    sampler;          /* 1; NGX_CONF_UNSET: off */
    ngx_int_t    sampler_lg;
    ngx_http_jpp_snapshots_conf_t
                 snapshots;
    ngx_http_jpp_loc_conf_t
                *locations;        /* and servers: all of them */
} ngx_http_jpp_main_conf_t;


typedef struct {
    ngx_array_t  names;            /* ngx_http_server_name_t */
    uint32_t     owner;            /* who has no location; 0: not known yet */
} ngx_http_jpp_srv_conf_t;


typedef struct ngx_http_jpp_resource_s  ngx_http_jpp_resource_t;
typedef struct ngx_http_jpp_handler_s   ngx_http_jpp_handler_t;


/* Whom samples belong to. */
typedef struct {
    const ngx_http_upstream_srv_conf_t
                *upstream;
    uint32_t     owner;            /* 0: not known yet */
} ngx_http_jpp_by_t;


struct ngx_http_jpp_loc_conf_s {
    ngx_http_jpp_loc_conf_t
                *next;
    const ngx_http_core_loc_conf_t
                *clcf;             /* of the same location */

    const ngx_http_jpp_resource_t
                *resource;         /* NULL: the rest of the URI names it */
    ngx_str_t    name;             /* of the location, before that rest */
    ngx_flag_t   is_on;
    ngx_flag_t   is_named;         /* the resource is served under any URI */
    ngx_flag_t   worker;           /* jpp_worker_kind_t: of worker= */
    ngx_flag_t   symbolize;
    ngx_flag_t   control;          /* control is allowed here */
    ngx_flag_t   clients;          /* clients may be shown here */

    ngx_msec_t   timeout;
    time_t       max_seconds;
    size_t       max_size;
    ngx_int_t    gzip_level;

    ngx_flag_t   is_server;        /* no location, but all of a server */
    ngx_str_t    file;             /* where its block begins */
    ngx_uint_t   line;
    ngx_http_jpp_by_t
                 owners[2];        /* of samples: without an upstream, */
                                   /*   and with the last one */
};


typedef struct {
    const ngx_http_jpp_resource_t
                *resource;
    const ngx_http_jpp_loc_conf_t
                *conf;             /* of the location that serves it */
    jpp_args_t   args;
    uint64_t     at;               /* the snapshot that it is about; 0: now */
    uint64_t     base;             /* and the one to compare it with; 0: none */
} ngx_http_jpp_question_t;


/* Answer R; returns what a content handler returns. */
typedef ngx_int_t (*ngx_http_jpp_answer_pt)(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question);


/* What a profile is made from; no parser: it is none. */
typedef struct {
    jpp_message_type_t                  type;      /* what workers are asked */
    const jpp_parser_t                 *parser;    /* of their answers */
    const char                         *prefers;   /* see jpp_report.h */
    const jpp_parser_t                 *wall;      /* with mode=wall; NULL: */
                                                   /*   there is no mode */
} ngx_http_jpp_evidence_t;


struct ngx_http_jpp_resource_s {
    ngx_str_t                           name;
    ngx_uint_t                          methods;
    const ngx_http_jpp_handler_t       *handler;
    ngx_http_jpp_evidence_t             evidence;
};


extern ngx_module_t  ngx_http_jemalloc_pprof_module;


#endif /* _NGX_HTTP_JPP_H_INCLUDED_ */

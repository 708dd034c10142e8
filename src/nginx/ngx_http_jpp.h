
/*
 * What the files of the adapter share: the configuration, and what a request
 * asks for.
 *
 * The configuration, by file:
 *
 *     directives  a table of them, and what their values may be
 *     location    the one that makes a location serve
 *     conf        defaults, and what is inherited
 *     notice      a line of the log that says what this gives
 *
 * The path of a request:
 *
 *     request    from URI, method and query to a question, or a refusal
 *     resources  what is served: the table of them
 *     count      how often each was requested
 *     host       the name that a request is addressed to
 *     site       the site of the page that sends it
 *     profile    evidence and its report      | each is a job
 *     symbol     addresses in, names out      |
 *     status     and cmdline                  |
 *     memory     what the kernel and jemalloc count, and findings
 *     metrics    the same for Prometheus      |
 *     locations  what each location costs     |
 *     locations_list  its answers as a list
 *     requests   the largest requests         |
 *     stalls     what kept the event loop     |
 *     control    changes to the profiler      |
 *     console    the page for people          |
 *     accept     which type its client prefers
 *     body       the body of a request, in memory or in a file
 *     page       what workers answer, as a page
 *     report     what workers answer, as a profile
 *     labels     of its samples
 *     job        the work of one request, step by step: it outlives the request
 *                when the client leaves, and ends when nginx ends
 *     deliver    a body that counts in the budget
 *     send       headers, bodies
 *     refuse     errors: a row for each
 *
 * The path of a question among workers:
 *
 *     kinds      the kinds of question, a row each
 *     reply      what is answered, while it is worked on
 *     collect    what the chosen workers answer to one question
 *     collections  all of those, and which one is looked for
 *     choose     which workers these are
 *     share      one worker's share of it
 *     asker      a question to one worker
 *     socket     one message at a time, with files
 *     answerer   questions from other workers
 *     service    the work that answers them
 *     wait       the seconds before it, for some kinds
 *     thread     its one background thread
 *     slices     the same in slices on the event loop
 *     registry   all workers, in shared memory
 *     budget     how much memory dumps and answers may use
 *
 * This worker:
 *
 *     self       what it is, and what it reports about itself
 *     pools      a walk through its pools, in slices: see src/walk
 *     baseline   what it inherited from the master
 *     cpu        a window on what its threads do
 *     hints      what it knows about its own code
 *     functions  what the tables of nginx say about that
 *     figures    what it knows about its memory at small cost
 *     variables  the same for configurations
 *     history    its memory over time, in shared memory
 *     ledger     whose its memory is
 *     loop       how long its event loop keeps everybody waiting
 *     stall      iterations of it that last long
 *     stall_serving  which request they serve
 *     telemetry  the configuration, the shared zones, the kernel
 *     zones      how full the shared zones are
 *     unwind     who walks its stacks
 *     owners     whom its samples belong to
 *     serving    whom a connection is served for
 *     serving_http2  the streams of one
 *     serving_names  as the configuration calls them
 *     serving_pool   memory that is there at any moment
 *     worker     its start and its end
 *     single     a process that outlives its configuration
 *
 * Files of the adapter never parse, encode or unwind: the core does.
 */


#ifndef _NGX_HTTP_JPP_H_INCLUDED_
#define _NGX_HTTP_JPP_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "jpp_args.h"
#include "jpp_console.h"
#include "jpp_message.h"
#include "jpp_readers.h"


/* requests at work in one worker: any more are answered with 429 */
#define NGX_HTTP_JPP_MAX_JOBS    32

/* bytes of addresses that may be asked for at once: about 55,000 */
#define NGX_HTTP_JPP_MAX_BODY    (1024 * 1024)

/* the methods of a resource that only reads */
#define NGX_HTTP_JPP_READ        (NGX_HTTP_GET|NGX_HTTP_HEAD)


typedef struct {
    ngx_str_t    temp_path;        /* where dumps go if memory may not */
    ngx_shm_zone_t
                *zone;             /* NULL: no location serves profiles */
    ngx_flag_t   active;           /* the setting that workers start with */
    ngx_int_t    lg_sample;
    ngx_flag_t   unwind;           /* by the module, where it can */
    ngx_flag_t   owners;           /* samples have them */
    ngx_uint_t   source;           /* jpp_source_t */
    ngx_msec_t   stall;            /* 0: stalls are not looked for */
    ngx_shm_zone_t
                *stalls;           /* NULL: the same */
    ngx_int_t    sampler;          /* 1; NGX_CONF_UNSET: off */
    ngx_int_t    sampler_lg;
} ngx_http_jpp_main_conf_t;


typedef struct {
    ngx_array_t  names;            /* ngx_http_server_name_t */
    uint32_t     owner;            /* who has no location; 0: not known yet */
} ngx_http_jpp_srv_conf_t;


typedef struct ngx_http_jpp_resource_s
    ngx_http_jpp_resource_t;


/* Whom samples belong to. */
typedef struct {
    const ngx_http_upstream_srv_conf_t
                *upstream;
    uint32_t     owner;            /* 0: not known yet */
} ngx_http_jpp_by_t;


typedef struct {
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
    ngx_http_jpp_by_t
                 owners[2];        /* of samples: without an upstream, */
                                   /*   and with the last one */
} ngx_http_jpp_loc_conf_t;


typedef struct {
    const ngx_http_jpp_resource_t
                *resource;
    jpp_args_t   args;
} ngx_http_jpp_question_t;


/* Answer R; returns what a content handler returns. */
typedef ngx_int_t (*ngx_http_jpp_answer_pt)(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question);


/* What a profile is made from. */
typedef struct {
    jpp_message_kind_t                  kind;      /* what workers are asked */
    const jpp_reader_t                 *reader;    /* of their answers */
    const char                         *prefers;   /* see jpp_capture.h */
    const jpp_reader_t                 *wall;      /* with mode=wall; NULL: */
                                                   /*   there is no mode */
} ngx_http_jpp_evidence_t;


struct ngx_http_jpp_resource_s {
    ngx_str_t                           name;
    ngx_uint_t                          methods;
    ngx_str_t                           allow;        /* the same, for 405 */
    ngx_http_jpp_answer_pt              answer;
    ngx_uint_t                          is_change;    /* not only read */
    const jpp_console_link_t           *links;        /* for the console */
    const ngx_http_jpp_evidence_t
                                       *evidence;     /* NULL: no profile */
    const jpp_words_t                  *formats;      /* NULL: a profile's */
};


extern ngx_module_t  ngx_http_jemalloc_pprof_module;


#endif /* _NGX_HTTP_JPP_H_INCLUDED_ */

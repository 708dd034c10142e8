
/*
 * This worker process's identity, and its report about itself.
 *
 * For the event loop; only the background thread uses symbols.
 */


#ifndef _NGX_HTTP_JPP_SELF_H_INCLUDED_
#define _NGX_HTTP_JPP_SELF_H_INCLUDED_


#include "ngx_http_jpp.h"
#include "ngx_http_jpp_zone.h"



typedef struct {
    char             host[NGX_MAXHOSTNAMELEN];
    const char      *directory;    /* for dumps, or NULL */
    ngx_http_jpp_zone_t
                    *zone;         /* NULL: no location serves */
    jpp_snapshots_t *snapshots;    /* NULL: none are taken */
    ngx_http_jpp_row_t
                     row;          /* its own, in the registry or not */
    ngx_uint_t       generation;
    time_t           started;
    uint64_t         inherited;    /* allocated then; JPP_NONE: unknown */
    jpp_memfd_t      baseline;     /* what was inherited; fd -1: unknown */
    uint64_t         oom_kills;    /* of the cgroup, when nginx started */
    uint64_t         n_resets;     /* see jpp_message_reply_t */
    jpp_coverage_t   coverage;     /* of jemalloc's samples */
    char             tail[64];     /* see jpp_maps_read(); "": unknown */
    jpp_symbols_t    symbols;
    char             unnamed[JPP_UNNAMED_TEXT];   /* of its last report */
    jpp_stalling_t   stalling;     /* how it looks for stalls */
    bool             has_owners;   /* its samples do */
    bool             is_hooked;    /* jemalloc's, too */
    jpp_failure_t    last_error;
} ngx_http_jpp_self_t;


extern ngx_http_jpp_self_t  ngx_http_jpp_self;

/* Set what EV, a timer, calls; and stop it, if it is set. */
void ngx_http_jpp_timer_init(ngx_event_t *ev, ngx_event_handler_pt handler);
void ngx_http_jpp_timer_stop(ngx_event_t *ev);


/*
 * The configuration of http in CYCLE; NULL: it has none, or does not load the
 * module, whose place may be another's.
 */
ngx_http_jpp_main_conf_t *ngx_http_jpp_main_conf(const ngx_cycle_t *cycle);

/*
 * Fill WORKER, which begins with zeros, with the present state of this worker;
 * its stats and its activity stay as they are.
 */
void ngx_http_jpp_describe(jpp_worker_t *worker);


#endif /* _NGX_HTTP_JPP_SELF_H_INCLUDED_ */


/*
 * Starts and ends this worker, applies its settings, and watches its event
 * loop, stalls and sample owners.
 *
 * For the event loop, unless a function says more.
 */


#ifndef _NGX_HTTP_JPP_WORKER_H_INCLUDED_
#define _NGX_HTTP_JPP_WORKER_H_INCLUDED_


#include "ngx_http_jpp_ask.h"
#include "ngx_http_jpp_self.h"


/* Make this process a worker that answers, and that others find. */
void ngx_http_jpp_worker_init(ngx_cycle_t *cycle);
void ngx_http_jpp_worker_exit(ngx_cycle_t *cycle);

/*
 * In the master, or a single process: CYCLE is the new configuration.  Its
 * workers inherit a baseline; without it, which is logged, inherited memory
 * counts as their own.
 */
void ngx_http_jpp_worker_configured(ngx_cycle_t *cycle);

/*
 * The same where the new configuration has no location that serves, or not even
 * the module: let go of the zones, and give back what was replaced.
 */
void ngx_http_jpp_worker_let_go(void);

/* Fill CONTROL with the settings that every worker should have. */
void ngx_http_jpp_worker_wanted(ngx_cycle_t *cycle, jpp_control_t *control);

/* In a worker: a change was made, with RESULT. */
void ngx_http_jpp_worker_changed(const jpp_control_result_t *result);

/*
 * Who walks the stacks of this process: the module's unwinder, where jemalloc
 * allows it and the configuration does not forbid it.  As the process starts,
 * learn its code, and give jemalloc the unwinder; and see what is loaded from
 * now on, while anything here samples (idempotent).
 */
void ngx_http_jpp_unwind_init(ngx_cycle_t *cycle);
void ngx_http_jpp_unwind_watch(void);

/*
 * Fill SYMBOLS with what this process knows about its own code.  Called once in
 * each worker, as it starts.  A failure costs names, or the proof that they are
 * right, and nothing else.
 */
void ngx_http_jpp_hints(jpp_symbols_t *symbols);

/*
 * What this worker answers to questions about its memory that cost more than a
 * status: its ledger, smaps_rollup, and its allocator's arenas
 * (ngx_http_jpp_ask.h).
 */
ngx_int_t ngx_http_jpp_ledger_slice(ngx_http_jpp_reply_t *reply);
void ngx_http_jpp_ledger_work(ngx_http_jpp_reply_t *reply);
void ngx_http_jpp_ledger_smaps(ngx_http_jpp_reply_t *reply);
void ngx_http_jpp_ledger_arenas(ngx_http_jpp_reply_t *reply);


/* ngx_http_jpp_dispatch.c */

typedef ngx_int_t (*ngx_http_jpp_process_pt)(ngx_cycle_t *cycle,
    ngx_msec_t timer, ngx_uint_t flags);

/* nginx's own: what waits for events */
extern ngx_http_jpp_process_pt  ngx_http_jpp_process;

/* The same, which tells whose events are while anything is sampled. */
ngx_int_t ngx_http_jpp_dispatch(ngx_cycle_t *cycle, ngx_msec_t timer,
    ngx_uint_t flags);


/* ngx_http_jpp_loop.c */

/* of this worker; all zeros with timer_resolution, which stops nginx's clock */
extern jpp_loop_t  ngx_http_jpp_loop;
extern jpp_recent_t  ngx_http_jpp_recent;


/* Be called for events, once per worker, and count them; and stop, before the
   module is gone. */
void ngx_http_jpp_loop_init(ngx_cycle_t *cycle);
void ngx_http_jpp_loop_exit(void);

/*
 * An iteration of at least MS is a stall from now on; 0: none is.
 * NGX_DECLINED: nothing is measured.
 */
ngx_int_t ngx_http_jpp_loop_watch(ngx_msec_t ms);

/* [signal] Owners may have to be settled at the end of this iteration. */
void ngx_http_jpp_loop_look(void);

/*
 * For any thread, and handlers: a number that is the same only within an
 * iteration; for how many ms this one lasts, if it waits no longer; and the
 * function of nginx that waits.
 */
uint64_t ngx_http_jpp_loop_iteration(void);
uint64_t ngx_http_jpp_loop_age(void);
uintptr_t ngx_http_jpp_loop_waits(void);


/* ngx_http_jpp_owners.c */

/* Take part in the phases of requests; NGX_ERROR: no memory. */
ngx_int_t ngx_http_jpp_owners_phases(ngx_conf_t *cf);

/*
 * Samples of this worker belong from now on to whom the connections of CYCLE
 * serve, or, with OWNERS 0, to nobody; -1: nobody has asked, so they do.  ERR
 * says why they cannot.
 */
jpp_code_t ngx_http_jpp_owners_start(ngx_cycle_t *cycle, int owners,
    jpp_err_t *err);

/* At the end of an iteration that has to be looked at: settle samples whose
   owner was not known. */
void ngx_http_jpp_owners_settle(void);

/*
 * What comes until the end is for R, whatever called for it.  The end has what
 * the beginning returns; R may be gone by then.
 */
uint32_t ngx_http_jpp_owners_begin(ngx_http_request_t *r);
void ngx_http_jpp_owners_end(uint32_t before);


/* ngx_http_jpp_stall.c */

/* milliseconds */
#define NGX_HTTP_JPP_STALL  100


/*
 * Watch this process as CYCLE has it, and no longer as before, for stalls of MS
 * or more; 0: do not; -1: nobody has asked, so those of NGX_HTTP_JPP_STALL.  A
 * failure is logged, and ERR says why.
 */
jpp_code_t ngx_http_jpp_stall_start(ngx_cycle_t *cycle, int ms, jpp_err_t *err);
void ngx_http_jpp_stall_stop(void);

/* An iteration that has taken MS ends, which is a stall. */
void ngx_http_jpp_stall_late(ngx_msec_t ms);

/*
 * Copy the stalls of the fleet that lasted at SINCE (nanoseconds since the
 * epoch) or later to STALLS, the newest first; returns their number.  Also for
 * the background thread.
 */
ngx_uint_t ngx_http_jpp_stall_list(int64_t since,
    jpp_stall_t stalls[JPP_STALLS]);


/*
 * Telemetry: everything known about this nginx's memory, from the workers, the
 * configuration, the shared zones, and the kernel.
 *
 * It is put together in two places.  What lies in nginx, and is little, is
 * taken on the event loop; what grows with the workers, and what the kernel may
 * take its time for, is added in the background thread.
 *
 * This worker's own part is known at small cost: for variables, for whoever
 * asks for its status, and over time.  Every few seconds it writes down in
 * shared memory what it holds.  One worker, the first of the newest
 * configuration, then looks at what all have written, and logs findings as they
 * rise: nobody needs to ask for them.  The timer is cancelable: no worker waits
 * for it.
 */

typedef struct {
    jpp_telemetry_t   all;         /* of what follows */
    jpp_fleet_t       fleet;
    jpp_worker_t     *workers;     /* of the fleet */
    jpp_history_t    *histories;   /* of each of them */
    jpp_control_t     wanted;
    jpp_finding_t     findings[JPP_FINDINGS];
    jpp_verdict_t     verdict;
    char              unnamed[JPP_UNNAMED_TEXT];
    jpp_system_t      system;
    jpp_cgroup_t      cgroup;
    jpp_event_t      *marks;
    jpp_snapshot_t   *snapshots;
    jpp_err_t         err;
    ngx_http_jpp_zone_t
                     *zone;        /* this worker may forget its own */
} ngx_http_jpp_telemetry_t;


/* In the master, once: what the kernel has counted before nginx. */
void ngx_http_jpp_telemetry_start(void);

/*
 * On the event loop: what nginx knows, in ARENA; no worker yet.  NULL: no
 * memory, or no registry any more.
 */
ngx_http_jpp_telemetry_t *ngx_http_jpp_telemetry(jpp_arena_t *arena);

/*
 * In the thread: add what CO collected, what about twenty small files of the
 * kernel say, and who holds memory, by the tables of POOLS, or NULL.
 * NGX_ERROR: no memory in ARENA.
 */
ngx_int_t ngx_http_jpp_telemetry_collected(ngx_http_jpp_telemetry_t *telemetry,
    const ngx_http_jpp_collection_t *co,
    const ngx_http_jpp_collection_t *pools, jpp_arena_t *arena);


/* how long dumps of this worker took */
extern jpp_loop_t  ngx_http_jpp_dumps;


/*
 * Fill in WORKER's stats, connections, event loop and VMs.  There are no stats
 * while a task runs in the thread: they would wait for the end of a dump.
 */
void ngx_http_jpp_figures_read(jpp_worker_t *worker);

/*
 * This worker as it was AGE ms ago at most, without what takes more than a
 * small file of the kernel; its stats may be those of an earlier time.
 */
const jpp_worker_t *ngx_http_jpp_figures(ngx_msec_t age);


/*
 * Write the first point, and go on; for each row of this worker.  Nothing in a
 * process that is not a worker yet.
 */
void ngx_http_jpp_history_init(ngx_cycle_t *cycle);


/* ngx_http_jpp_archive.c */

typedef struct ngx_http_jpp_archive_s  ngx_http_jpp_archive_t;
typedef struct ngx_http_jpp_member_s   ngx_http_jpp_member_t;


/* A tar that is being written, at one moment. */
struct ngx_http_jpp_archive_s {
    ngx_http_jpp_telemetry_t  *telemetry;
    jpp_events_t              *events;
    int64_t                    time;       /* seconds since the epoch */
    size_t                     left;       /* bytes that members may have */
    jpp_sink_t                *sink;       /* of the tar */
    uint8_t                   *buffer;
    jpp_arena_t               *arena;
    jpp_err_t                 *err;
};


struct ngx_http_jpp_member_s {
    const char                *name;       /* NULL ends a table */
    const char                *about;
    jpp_code_t               (*write)(ngx_http_jpp_archive_t *archive,
                                  const ngx_http_jpp_member_t *member,
                                  jpp_sink_t *sink);
    ngx_uint_t                 is_text;    /* else JSON */
    ngx_uint_t                 is_recorded;    /* in snapshots, too */

    /* of a profile */
    const jpp_parser_t        *parser;
    const char                *format;
    ngx_uint_t                 question;
};


/* what workers' status, and shared memory, have to say */
extern const ngx_http_jpp_member_t  ngx_http_jpp_archive_members[];


/*
 * On the event loop: initialize the caller's ARCHIVE, whose sink it sets
 * itself.  NGX_ERROR: ARENA has no memory.
 */
ngx_int_t ngx_http_jpp_archive_init(ngx_http_jpp_archive_t *archive,
    ngx_http_jpp_telemetry_t *telemetry, jpp_arena_t *arena, jpp_err_t *err);

/* In the thread: add MEMBER; JPP_ERR_LIMIT: it is larger than what is left. */
jpp_code_t ngx_http_jpp_archive_add(ngx_http_jpp_archive_t *archive,
    const ngx_http_jpp_member_t *member);


/* ngx_http_jpp_snapshot.c */

/* In the master: take snapshots as JMCF has it; a single process takes none. */
void ngx_http_jpp_snapshot_configured(ngx_cycle_t *cycle,
    const ngx_http_jpp_main_conf_t *jmcf);

/* In a worker: look from now on whether one is due. */
void ngx_http_jpp_snapshot_init(ngx_cycle_t *cycle);

/* Have one taken within a second; an error: none are taken. */
jpp_code_t ngx_http_jpp_snapshot_want(jpp_err_t *err);

/* None are taken: ERR says why. */
jpp_code_t ngx_http_jpp_snapshot_none(jpp_err_t *err);


#endif /* _NGX_HTTP_JPP_WORKER_H_INCLUDED_ */

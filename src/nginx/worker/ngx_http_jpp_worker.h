
/*
 * The start and the end of this worker, its settings, and its executable code.
 */


#ifndef _NGX_HTTP_JPP_WORKER_H_INCLUDED_
#define _NGX_HTTP_JPP_WORKER_H_INCLUDED_


#include "ngx_http_jpp_type.h"

#include "jpp_control.h"
#include "jpp_jemalloc.h"
#include "jpp_symbolize.h"


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
 * learn its code, and give jemalloc the unwinder; see what is loaded from now
 * on, while anything here samples (idempotent); and give jemalloc its own back.
 */
void ngx_http_jpp_unwind_init(ngx_cycle_t *cycle);
void ngx_http_jpp_unwind_watch(void);
void ngx_http_jpp_unwind_exit(void);

/*
 * Fill SYMBOLS with what this process knows about its own code.  Called once in
 * each worker, as it starts.  A failure costs names, or the proof that they are
 * right, and nothing else.
 */
void ngx_http_jpp_hints(jpp_symbols_t *symbols);

/*
 * What this worker answers to questions about its memory that cost more than a
 * status: its ledger, smaps_rollup, and its allocator's arenas
 * (ngx_http_jpp_type.h).
 */
ngx_int_t ngx_http_jpp_ledger_slice(ngx_http_jpp_reply_t *reply);
void ngx_http_jpp_ledger_work(ngx_http_jpp_reply_t *reply);
void ngx_http_jpp_ledger_smaps(ngx_http_jpp_reply_t *reply);
void ngx_http_jpp_ledger_arenas(ngx_http_jpp_reply_t *reply);


#endif /* _NGX_HTTP_JPP_WORKER_H_INCLUDED_ */


/*
 * The requests and connections that hold the most memory now: units from the
 * pool tables of all asked workers, merged, sorted and limited, as a table for
 * a terminal or as JSON.
 *
 *     jpp_requests_check(), jpp_requests_init();
 *     for each worker: jpp_requests_add() its table, or jpp_requests_missing()
 *     jpp_requests_write()
 *
 * A row is a single request or connection.  A worker sends the largest it has,
 * so the result is exact if it was asked for as many as are shown.
 *
 * One thread at a time; memory from the arena.  The bytes of the tables must
 * live as long.
 */


#ifndef _JPP_REQUESTS_H_INCLUDED_
#define _JPP_REQUESTS_H_INCLUDED_


#include "jpp_diagnosis.h"


typedef struct {
    jpp_identity_t     who;
    jpp_pools_t        table;
} jpp_requests_worker_t;


typedef struct {
    jpp_arena_t       *arena;
    const jpp_args_t  *args;           /* by, top, format */
    bool               has_clients;    /* they are shown */
    jpp_vec_t         *workers;        /* jpp_requests_worker_t */
    jpp_vec_t         *missing;        /* jpp_missing_t */
} jpp_requests_t;


/* JPP_ERR_ARG: ARGS ask for sums, which locations and pools have. */
jpp_code_t jpp_requests_check(const jpp_args_t *args, jpp_err_t *err);

/* Initialize the caller's REQUESTS; ARGS were checked.  False: no memory. */
bool jpp_requests_init(jpp_requests_t *requests, jpp_arena_t *arena,
    const jpp_args_t *args);

/*
 * Add the LEN bytes of a table at DATA, which is the answer of the worker WHO.
 * If it is none, the worker is missing.  False: no memory.
 */
bool jpp_requests_add(jpp_requests_t *requests, const jpp_identity_t *who,
    const char *data, size_t len);

/* The worker WHO did not answer; WHY is copied.  False: no memory. */
bool jpp_requests_missing(jpp_requests_t *requests, const jpp_identity_t *who,
    const char *why);


/* Append REQUESTS to SINK, which the caller flushes.  False: no memory. */
bool jpp_requests_write(const jpp_requests_t *requests, jpp_sink_t *sink);


#endif /* _JPP_REQUESTS_H_INCLUDED_ */

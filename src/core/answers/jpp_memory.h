
/*
 * The resource memory as JSON: the memory of all workers, of their cgroup, of
 * the machine and of the shared zones, with the findings; on request also
 * ledgers, smaps_rollup, or the arenas of one worker.
 *
 * A value that a kernel or a version of jemalloc lacks is null, and what could
 * not be read at all is null with its reason in "unavailable".
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_MEMORY_H_INCLUDED_
#define _JPP_MEMORY_H_INCLUDED_


#include "jpp_fleet.h"
#include "jpp_ledger.h"


/* What a worker answered to the question for details, or why it did not. */
typedef struct {
    jpp_identity_t                who;
    const char                   *data;    /* NULL: */
    size_t                        len;
    const char                   *why;
} jpp_memory_answer_t;


typedef struct {
    const jpp_telemetry_t        *telemetry;
    const jpp_args_t             *args;    /* format, fields */
    jpp_arena_t                  *arena;

    jpp_detail_t                  detail;  /* what was asked for besides */
    const jpp_memory_answer_t    *answers;
    size_t                        n_answers;
    const char                   *refused; /* why that was not asked for, */
                                           /*   though it belongs here */
} jpp_memory_t;


/* the words of the parameter "format": json and top */
extern const jpp_words_t  jpp_memory_words;


/*
 * What ARGS ask for besides what memory always has: a table has the ledger,
 * unless they say otherwise.
 */
jpp_detail_t jpp_memory_detail(const jpp_args_t *args);

/* Can that be written in the form that ARGS ask for?  ERR says why not. */
jpp_code_t jpp_memory_check(const jpp_args_t *args, jpp_err_t *err);

/* Append MEMORY to SINK, which the caller flushes.  False: no memory. */
bool jpp_memory_write(const jpp_memory_t *memory, jpp_sink_t *sink);


#endif /* _JPP_MEMORY_H_INCLUDED_ */

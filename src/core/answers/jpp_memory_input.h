
/*
 * What the resource memory is written from.
 *
 * The values belong to the caller.
 */


#ifndef _JPP_MEMORY_INPUT_H_INCLUDED_
#define _JPP_MEMORY_INPUT_H_INCLUDED_


#include "jpp_args.h"
#include "jpp_telemetry.h"


/* What a worker answered to the question for details, or why it did not. */
typedef struct {
    jpp_identity_t                who;
    const char                   *data;    /* NULL: */
    size_t                        len;
    const char                   *why;
} jpp_memory_answer_t;


typedef struct {
    const jpp_telemetry_t        *telemetry;
    int64_t                       seconds; /* since the epoch */
    const jpp_args_t             *args;    /* format, fields */
    jpp_arena_t                  *arena;

    jpp_detail_t                  detail;  /* what was asked for besides */
    const jpp_memory_answer_t    *answers;
    size_t                        n_answers;
    const char                   *refused; /* why that was not asked for, */
                                           /*   though it belongs here */
} jpp_memory_t;


#endif /* _JPP_MEMORY_INPUT_H_INCLUDED_ */

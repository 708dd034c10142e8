
/*
 * Sums the samples of a profile by owner (jpp_roots.c), each with its largest
 * functions: a table in front of the table of functions.
 *
 * Memory from the profile's arena; one thread at a time.
 */


#ifndef _JPP_OWNED_H_INCLUDED_
#define _JPP_OWNED_H_INCLUDED_


#include "jpp_view.h"


/* What a function has of a row itself. */
typedef struct {
    uint32_t               row;        /* from 1, in order of appearance */
    uint32_t               function;   /* id; 0: a stack without a frame */
    int64_t                value;
} jpp_owned_function_t;


typedef struct {
    uint32_t               names[JPP_ROOTS];   /* string ids; 0: not asked */
                                               /*   for */
    jpp_sum_t              sum;
    size_t                 first;      /* of owned->functions, its largest */
    size_t                 n;          /*   first */
} jpp_owned_row_t;


typedef struct {
    jpp_profile_t         *profile;
    jpp_sums_t             sums;
    bool                   shows[JPP_ROOTS];
    jpp_vec_t             *rows;       /* jpp_owned_row_t, the largest first */
    jpp_vec_t             *functions;  /* jpp_owned_function_t */
    jpp_sum_t              total;

    /* while it is filled */

    const uint8_t         *passing;
    uint32_t              *sets;       /* rows by label set, from 1 */
    jpp_index_t            row_index;
    jpp_index_t            function_index;
} jpp_owned_t;


/*
 * Fill the caller's OWNED from VIEW, whose profile has counts: by what by= says
 * or else by all there is.  False: no memory.
 */
bool jpp_owned_init(jpp_owned_t *owned, const jpp_view_t *view);

/* Append the table of its largest rows to SINK. */
void jpp_owned_write(const jpp_owned_t *owned, const jpp_view_t *view,
    jpp_sink_t *sink);


#endif /* _JPP_OWNED_H_INCLUDED_ */


/*
 * The rows of a list of requests, for its two forms.
 */


#ifndef _JPP_REQUESTS_ROWS_H_INCLUDED_
#define _JPP_REQUESTS_ROWS_H_INCLUDED_


#include "jpp_requests.h"


/* What holds most of a row. */
typedef struct {
    jpp_pools_kind_t               kind;
    jpp_pools_class_t              class;
    jpp_str_t                      module;
    uint64_t                       bytes;
} jpp_requests_most_t;


/* Names have any bytes; those that a row does not have are "". */
typedef struct {
    const jpp_requests_worker_t   *worker;
    const jpp_pools_unit_t        *unit;
    jpp_pools_kind_t               kind;
    jpp_str_t                      server;
    jpp_str_t                      location;
    jpp_str_t                      third;      /* upstream, address, module */
    jpp_requests_most_t            most;
} jpp_requests_row_t;


typedef struct {
    jpp_vec_t                     *rows;       /* jpp_requests_row_t, the */
                                               /*   largest first */
    size_t                         n_shown;    /* of them */
    uint64_t                       n;          /* how many there are: units */
                                               /*   that were not sent, too */
    uint64_t                       bytes;      /* of all of them */
    uint64_t                       bytes_shown;
} jpp_requests_rows_t;


/* Initialize the caller's ROWS of REQUESTS.  False: no memory. */
bool jpp_requests_rows(jpp_requests_rows_t *rows,
    const jpp_requests_t *requests);


#endif /* _JPP_REQUESTS_ROWS_H_INCLUDED_ */

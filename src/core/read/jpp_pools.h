
/*
 * The types, columns, words and comments of a profile of pools.
 *
 * Nothing in it is sampled: the memory that nginx holds, by its own units, to
 * the byte.  inuse_space is what the allocator has set aside, and unused_space
 * what of it has never been handed out.  What is in no pool is there by
 * difference, so that the sum is all that the worker's event loop holds, where
 * the allocator counts that.
 *
 * jpp_pools_read() reads a table into it (jpp_parsers.h).
 */


#ifndef _JPP_POOLS_H_INCLUDED_
#define _JPP_POOLS_H_INCLUDED_


#include "jpp_pools_table.h"


/* the synthetic mapping of all frames */
#define JPP_POOLS_MAPPING  "[nginx]"


enum {
    JPP_POOLS_INUSE_OBJECTS = 0,
    JPP_POOLS_INUSE_SPACE,
    JPP_POOLS_UNUSED_SPACE,
    JPP_POOLS_TYPES
};


/* What the tables of a profile say of themselves, added up: its facts. */
typedef struct {
    uint32_t             n;            /* tables */
    uint32_t             n_totals;     /* with a total */
    uint32_t             n_partial;
    uint32_t             n_short;      /* whose total is below their sum */
    jpp_pools_reason_t   reason;       /* of the last that is partial */
    bool                 is_estimate;
    bool                 has_scripts;
    uint64_t             total;        /* by the allocator, where it counts */
    uint64_t             outside;      /* of that, in no pool */
    uint64_t             since_start;
    uint64_t             n_connections;
    uint64_t             n_tls;
    uint64_t             n_missed;
    uint64_t             n_unproven;
    uint64_t             n_slices;
    uint64_t             nanos;
    uint64_t             longest_nanos;
    char                 allocator[JPP_POOLS_ALLOCATOR];   /* of the last */
} jpp_pools_sums_t;


extern const jpp_value_type_t  jpp_pools_types[JPP_POOLS_TYPES];

/* By jpp_pools_class_t; NULL for JPP_POOLS_ITSELF. */
extern const char *const  jpp_pools_classes[JPP_POOLS_CLASSES];

/* By jpp_pools_reason_t: why a walk ended early. */
extern const char *const  jpp_pools_reasons[JPP_POOLS_REASONS];

/* the first frame of what memory is held for; those before it say by whom */
extern const char *const  jpp_pools_parts[];


/* Add what TABLE says of itself to SUMS. */
void jpp_pools_add_up(jpp_pools_sums_t *sums, const jpp_pools_t *table);

/* Append comments on the total, the allocator and the walks. */
void jpp_pools_describe(jpp_profile_t *profile);

/* What an owner of KIND is: "request", "http2 connection". */
const char *jpp_pools_kind_name(jpp_pools_kind_t kind);


#endif /* _JPP_POOLS_H_INCLUDED_ */


/*
 * The table of parsers of captures, a row for each grammar.
 *
 * A report uses a capture only through its row.  A new kind of capture is a
 * row and a parser.
 */


#ifndef _JPP_PARSERS_H_INCLUDED_
#define _JPP_PARSERS_H_INCLUDED_


#include "jpp_heap.h"
#include "jpp_pools_table.h"
#include "jpp_stall.h"
#include "jpp_times.h"


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

/* the synthetic mapping of all frames */
#define JPP_POOLS_MAPPING  "[nginx]"

/* the label of a block of the configuration: "nginx.conf:41" */
#define JPP_POOLS_PLACE_KEY  "place"


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


typedef struct {
    const char              *name;
    const jpp_value_type_t  *values;
    uint32_t                 n_values;
    const jpp_words_t       *types;    /* their names, and the default one */
    const char              *absent;   /* why an optional type is missing */
    const char              *period_type;
    const char              *period_unit;
    int64_t                  period;       /* 0: a capture says it */
    size_t                   facts_size;   /* of profile->facts */

    /*
     * Names of frames, NULL at the end: those above the first of them in a
     * stack are a place that holds something, not functions that call each
     * other, and the leaf is what it holds.  NULL: there are none.
     */
    const char *const       *parts;

    bool                     has_origins;      /* what was inherited counts */
    bool                     is_own_baseline;  /* a capture says what its */
                                               /*   process inherited: it is */
                                               /*   its own baseline */

    /*
     * Open the LEN bytes at DATA as the caller's DUMP; the mappings go to
     * PROFILE.  TAIL is that of jpp_maps_read().
     */
    jpp_code_t             (*open)(jpp_dump_t *dump, jpp_profile_t *profile,
                                   const char *data, size_t len,
                                   const char *tail, jpp_err_t *err);

    /* Add the samples of DUMP to PROFILE. */
    jpp_code_t             (*read)(jpp_profile_t *profile,
                                   const jpp_dump_t *dump,
                                   const jpp_read_options_t *options,
                                   jpp_err_t *err);

    /* Append comments on how the samples were taken. */
    void                   (*describe)(jpp_profile_t *profile);
} jpp_parser_t;


/* jemalloc's heap dumps */
extern const jpp_parser_t  jpp_parser_heap;

/* tables of what a walk through nginx's pools found */
extern const jpp_parser_t  jpp_parser_pools;

/* iterations of an event loop that took long */
extern const jpp_parser_t  jpp_parser_stalls;

/* stacks with their CPU time, with the time that passed */
extern const jpp_parser_t  jpp_parser_cpu;
extern const jpp_parser_t  jpp_parser_wall;

/* Initialize the caller's PROFILE for PARSER; false: no memory. */
bool jpp_parser_init(const jpp_parser_t *parser, jpp_profile_t *profile,
    jpp_arena_t *arena);

/*
 * Open the LEN bytes at DATA, written by jpp_pools_write(), as the caller's
 * DUMP.  TAIL is ignored.
 */
jpp_code_t jpp_pools_open(jpp_dump_t *dump, jpp_profile_t *profile,
    const char *data, size_t len, const char *tail, jpp_err_t *err);

/*
 * Add what DUMP holds to PROFILE; with options->columns, what of it the process
 * had when it started: a table is its own baseline.
 */
jpp_code_t jpp_pools_read(jpp_profile_t *profile, const jpp_dump_t *dump,
    const jpp_read_options_t *options, jpp_err_t *err);

enum {
    JPP_STALLS_COUNT = 0,
    JPP_STALLS_DELAY,
    JPP_STALLS_TYPES
};


extern const jpp_value_type_t  jpp_stalls_types[JPP_STALLS_TYPES];


/* for jpp_parser_t */
jpp_code_t jpp_stalls_open(jpp_dump_t *dump, jpp_profile_t *profile,
    const char *data, size_t len, const char *tail, jpp_err_t *err);
jpp_code_t jpp_stalls_read(jpp_profile_t *profile, const jpp_dump_t *dump,
    const jpp_read_options_t *options, jpp_err_t *err);
void jpp_stalls_describe(jpp_profile_t *profile);


#endif /* _JPP_PARSERS_H_INCLUDED_ */


/*
 * The parsers of captures: one table, a row for each grammar.
 *
 * A report uses a capture only through its row.  A new kind of capture is a
 * row and a parser.
 */


#ifndef _JPP_PARSERS_H_INCLUDED_
#define _JPP_PARSERS_H_INCLUDED_


#include "jpp_heap.h"
#include "jpp_pools.h"
#include "jpp_stall.h"
#include "jpp_times.h"


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


/*
 * Three measures of each location, side by side: the memory in its pools, its
 * sampled memory by function, and its CPU time.
 *
 *     jpp_locations_init()
 *     of the pools: jpp_locations_pools() for each worker
 *     of each profile: jpp_locations_take(), as a report's
 *     of a measure that there is not: jpp_locations_absent()
 *     jpp_locations_close(), then jpp_locations_write()
 *
 * A row is a server and location; with by=server and by=upstream, what that
 * says.  Names of all measures are text that owners have (jpp_owner_names.h),
 * so that equal ones meet.
 *
 * One thread at a time; memory from the arena, and everything is copied.
 */


#ifndef _JPP_LOCATIONS_H_INCLUDED_
#define _JPP_LOCATIONS_H_INCLUDED_


#include "jpp_fleet.h"
#include "jpp_view.h"


/* of a cell: what has most of it */
#define JPP_LOCATIONS_MOST  3


typedef enum {
    JPP_LOCATIONS_HELD = 0,        /* bytes of pools: exact */
    JPP_LOCATIONS_SAMPLED,         /* bytes of the heap: estimates */
    JPP_LOCATIONS_CPU,             /* nanoseconds */
    JPP_LOCATIONS_MEASURES
} jpp_locations_measure_t;


/* A function, or what pools hold something for. */
typedef struct {
    uint32_t              row;         /* from 1, in order of appearance */
    uint32_t              measure;
    uint32_t              name;        /* id of a string */
    int64_t               value;
} jpp_locations_part_t;


typedef struct {
    int64_t               value;
    double                variance;
    size_t                first;       /* of locations->parts, its largest */
    size_t                n;           /*   first */
} jpp_locations_cell_t;


typedef struct {
    uint32_t              names[JPP_ROOTS];    /* ids of strings; 0: not */
                                               /*   asked for */
    uint64_t              n_requests;
    jpp_locations_cell_t  cells[JPP_LOCATIONS_MEASURES];
    double                share;       /* the greatest of its cells' */
} jpp_locations_row_t;


/* What is said of a measure. */
typedef struct {
    bool                  is_there;
    int64_t               value;       /* of all rows */
    double                variance;
    int64_t               nobody;      /* HELD: what belongs to no server */
    const char           *why;         /* it is not there: a sentence, */
    const char           *fix;         /*   and what to do; or "" */
    jpp_vec_t            *notes;       /* const char * */
} jpp_locations_about_t;


typedef struct {
    jpp_arena_t            *arena;
    const jpp_args_t       *args;      /* by, top, format, seconds */
    const bool             *shows;     /* by root */
    jpp_profile_t           strings;   /* has nothing else */
    jpp_vec_t              *rows;      /* jpp_locations_row_t */
    jpp_vec_t              *parts;     /* jpp_locations_part_t */
    jpp_index_t             row_index;
    jpp_index_t             part_index;
    jpp_locations_about_t   about[JPP_LOCATIONS_MEASURES];
    bool                    failed;    /* no memory */
} jpp_locations_t;


/* Do ARGS make sense here? */
jpp_code_t jpp_locations_check(const jpp_args_t *args, jpp_err_t *err);

/* Initialize the caller's LOCATIONS; ARGS were checked, and say by what. */
void jpp_locations_init(jpp_locations_t *locations, jpp_arena_t *arena,
    const jpp_args_t *args);

/* The profile of VIEW, which has counts, is MEASURE's. */
void jpp_locations_take(jpp_locations_t *locations,
    jpp_locations_measure_t measure, const jpp_view_t *view);

/*
 * Add the answer of the worker WHO, LEN bytes at DATA.  If that is no table of
 * pools, or DATA is NULL, the worker is missing, because of WHY.
 */
void jpp_locations_pools(jpp_locations_t *locations, const jpp_identity_t *who,
    const char *data, size_t len, const char *why);

/* There is no MEASURE, because of WHY; FIX is what to do, or "". */
void jpp_locations_absent(jpp_locations_t *locations,
    jpp_locations_measure_t measure, const char *why, const char *fix);

/* Append a sentence about MEASURE. */
void jpp_locations_note(jpp_locations_t *locations,
    jpp_locations_measure_t measure, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Sort; false: memory was out somewhere. */
bool jpp_locations_close(jpp_locations_t *locations);


/*
 * Append LOCATIONS, which are closed, to SINK, which the caller flushes.
 * False: no memory.
 */
bool jpp_locations_write(const jpp_locations_t *locations, jpp_sink_t *sink);


#endif /* _JPP_LOCATIONS_H_INCLUDED_ */

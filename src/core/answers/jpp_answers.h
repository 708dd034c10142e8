
/*
 * What nginx answers about itself: the state of its profiling, its memory and
 * what of it has grown, its largest requests, its locations, and the console.
 */


#ifndef _JPP_ANSWERS_H_INCLUDED_
#define _JPP_ANSWERS_H_INCLUDED_


#include "jpp_control.h"
#include "jpp_diagnosis.h"
#include "jpp_ledger.h"
#include "jpp_view.h"


/*
 * The profiling state of each worker, as a log line, as JSON, and as comments
 * of a profile.
 *
 * Pure functions of the caller's values; any thread.
 */

/*
 * Of the N WORKERS, those of former generations are exiting, whether they have
 * heard of it or not: an index is of one that is not.
 */
void jpp_status_former(jpp_worker_t *workers, size_t n);

/* By jpp_jemalloc_state_t: no-jemalloc no-prof off refused inactive ready. */
extern const char *const  jpp_status_words[];

/* Fill FAILURE with the time SECONDS and TEXT, which is cut if too long. */
void jpp_status_failed(jpp_failure_t *failure, int64_t seconds,
    const char *text);

/*
 * Write one line for a log, without a newline, to the SIZE > 0 bytes at TEXT,
 * cut if they are too few: the state and, unless ready, the reason and the fix;
 * or the harm that options do.
 */
void jpp_status_notice(const jpp_worker_t *worker, char *text, size_t size);

/*
 * Are the settings of WORKER those WANTED for all workers?  1, 0; -1: none
 * are.
 */
int jpp_status_in_step(const jpp_worker_t *worker, const jpp_control_t *wanted);

/* Write LUA as a member of the object that is open. */
void jpp_status_lua(jpp_json_t *json, const jpp_lua_known_t *lua);

/*
 * Write the status resource to SINK, which the caller flushes.  It is ASCII:
 * other bytes become question marks.
 */
void jpp_status_json(const jpp_fleet_t *fleet, jpp_sink_t *sink);

/*
 * Append the comments of a profile of FLEET's workers, one fact each: versions,
 * which workers, and, of memory, how much jemalloc has given them.  What is
 * allocated is a sum; what is resident is that of the largest worker, since
 * they share pages.
 */
void jpp_status_comments(const jpp_fleet_t *fleet, jpp_profile_t *profile);


/*
 * The resource grown: which owners of memory have grown, how fast, and when the
 * limit will be reached, as tables for a terminal or as JSON.
 *
 * A pure function of the caller's values; any thread.
 */

/*
 * Append what TELEMETRY says, of which this needs held, cgroup, now and the
 * snapshots alone, as ARGS ask.  False: no memory in ARENA.
 */
bool jpp_grown_write(const jpp_telemetry_t *telemetry, const jpp_args_t *args,
    jpp_arena_t *arena, jpp_sink_t *sink);


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


/*
 * The console: one HTML page with the verdict, the findings and their fixes,
 * the workers, and links to the resources.  The page is complete without its
 * script, which refreshes it, fetches the profiles, and submits its forms in
 * place (src/web/console.js).
 *
 * It fetches nothing from outside, and every text that is not the module's own
 * is escaped.
 *
 * A pure function of the caller's values; any thread.
 */

/*
 * What a form of the console has changed, as the query of the page that the
 * browser is sent back to: three numbers, and the form's own query.
 *
 *     ok=8&of=8&bytes=1048576&purge=1
 *
 * A query can be written by anybody, so it has words of a table and numbers,
 * and nothing else of it is shown.
 */

typedef struct {
    jpp_control_t   control;
    uint64_t        done;          /* workers that made the change */
    uint64_t        asked;
    uint64_t        purged;        /* bytes; JPP_NONE: unknown */
} jpp_outcome_t;


/* Fill OUTCOME with what CONTROL has changed in the N WORKERS asked. */
void jpp_outcome_fill(jpp_outcome_t *outcome, const jpp_control_t *control,
    const jpp_controlled_t *workers, size_t n);

/* Write OUTCOME as a query, without the question mark, to SINK. */
void jpp_outcome_query(const jpp_outcome_t *outcome, jpp_sink_t *sink);

/*
 * Fill OUTCOME from the LEN bytes of a query at TEXT, which may be NULL; false:
 * it is none of jpp_outcome_query().
 */
bool jpp_outcome_read(jpp_outcome_t *outcome, const char *text, size_t len);

/*
 * Write it as a sentence to SINK: "8 of 8 workers: sampling is on." It is
 * printable ASCII without characters of markup.
 */
void jpp_outcome_text(const jpp_outcome_t *outcome, jpp_sink_t *sink);


/* A resource, or one way to request it. */
typedef struct {
    const char    *address;        /* "heap?format=top"; NULL ends the list */
    const char    *text;           /* what it is */
    const char    *command;        /* to be copied; NULL: curl alone */
    bool           is_post;        /* POST only: not a link */
    bool           is_of_lua;      /* shown where a worker has a VM */
} jpp_console_link_t;


typedef struct {
    const jpp_telemetry_t      *telemetry;
    const jpp_console_link_t   *links;
    const jpp_outcome_t        *outcome;       /* of a form; or NULL */
    bool                        has_control;   /* forms are answered here */
} jpp_console_t;


/*
 * What the answer must say in Content-Security-Policy: forms are sent only
 * where control is on.
 */
extern const char  jpp_console_policy[];
extern const char  jpp_console_policy_control[];

/*
 * Write the page of CONSOLE to SINK, which the caller flushes.  Its links are
 * relative to its own address, so that has to end in a slash.  It is ASCII, but
 * for names from the configuration: other bytes become question marks.
 */
void jpp_console_html(const jpp_console_t *console, jpp_sink_t *sink);

/*
 * Write its text for a terminal of COLS columns to SINK: the verdict, the
 * largest owners, and what to ask next; false: no memory in ARENA.
 */
bool jpp_front_text(const jpp_console_t *console, jpp_arena_t *arena,
    uint32_t cols, jpp_sink_t *sink);


/*
 * For the functions above, and for tests.
 */

#define JPP_CONSOLE_NUMBER  32


/* Do LINKS have the resource of ADDRESS, in whatever form? */
bool jpp_console_serves(const jpp_console_link_t *links, const char *address);

/* Write the number N as "14,004" to TEXT; returns TEXT. */
const char *jpp_console_number(uint64_t n, char text[JPP_CONSOLE_NUMBER]);

/* Write milliseconds as "1.3 s" to TEXT; returns TEXT. */
const char *jpp_console_ms(uint64_t ms, char text[JPP_UNITS_TEXT]);

/* Both for one use, as jpp_bytes(). */
#define jpp_console_digits(n)                                                  \
    jpp_console_number(n, (char[JPP_CONSOLE_NUMBER]) { 0 })
#define jpp_console_took(ms)                                                  \
    jpp_console_ms(ms, (char[JPP_UNITS_TEXT]) { 0 })

/* How bad an iteration of MS milliseconds is. */
jpp_severity_t jpp_console_slow(uint64_t ms);

/* the class of an element, by severity */
extern const char *const  jpp_console_classes[];

/* Append the section of the workers to SINK. */
void jpp_console_workers(const jpp_console_t *console, jpp_sink_t *sink);


/* Append memory over time: as a section; or HISTORY as a small picture. */
void jpp_console_time(const jpp_console_t *console, jpp_sink_t *sink);
void jpp_console_spark(const jpp_history_t *history, jpp_sink_t *sink);

/* The most that any worker of FLEET held, ever: the scale of the small ones. */
uint64_t jpp_console_most(const jpp_fleet_t *fleet);

/* Append the picture of WORKER to SINK, if it has a history. */
void jpp_console_trend(const jpp_worker_t *worker, uint64_t scale,
    jpp_sink_t *sink);


#endif /* _JPP_ANSWERS_H_INCLUDED_ */

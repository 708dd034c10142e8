
/*
 * The parameters of a query string, or of the tool's command line.
 *
 * One table lists the keys and the values that each allows.  A known key with
 * another value is an error that lists what is allowed; it never becomes a
 * silent default, and the error never quotes the value.  A query may have
 * unknown keys, which are ignored.  If a key is repeated, its first value
 * counts, and the others are ignored.
 *
 * The words of "format" and "type" belong to the tables of formats and of
 * parsers; the caller passes them.
 *
 * No allocation; any thread.
 */


#ifndef _JPP_ARGS_H_INCLUDED_
#define _JPP_ARGS_H_INCLUDED_


#include "jpp_core.h"


/* Which memory: what workers allocated, or what they inherited. */
typedef enum {
    JPP_ORIGIN_ALL = 0,
    JPP_ORIGIN_WORKER,
    JPP_ORIGIN_MASTER
} jpp_origin_t;


/* The column that a table is sorted by. */
typedef enum {
    JPP_SORT_FLAT = 0,
    JPP_SORT_CUM
} jpp_sort_by_t;


/* What a list of memory holders has a row for; a heap's roots are servers, or
   these and locations. */
typedef enum {
    JPP_BY_REQUEST = 0,
    JPP_BY_CONNECTION,
    JPP_BY_LOCATION,
    JPP_BY_SERVER,
    JPP_BY_UPSTREAM
} jpp_by_t;


/* What is asked for besides what memory has without it. */
typedef enum {
    JPP_DETAIL_LEDGER = 0,
    JPP_DETAIL_SMAPS,
    JPP_DETAIL_ARENAS,
    JPP_DETAIL_NONE
} jpp_detail_t;


/* The parts of memory: bits of a set. */
typedef enum {
    JPP_FIELD_FINDINGS = 0,
    JPP_FIELD_TOTAL,
    JPP_FIELD_WORKERS,
    JPP_FIELD_MISSING,
    JPP_FIELD_CGROUP,
    JPP_FIELD_SYSTEM,
    JPP_FIELD_ZONES,
    JPP_FIELD_UNAVAILABLE
} jpp_field_t;


/* Which time: a thread's on a CPU, or the time that passes. */
typedef enum {
    JPP_MODE_CPU = 0,
    JPP_MODE_WALL,
    JPP_MODES
} jpp_mode_t;


/* Which workers; the number is in args.worker. */
typedef enum {
    JPP_WORKER_ALL = 0,
    JPP_WORKER_SELF,           /* the one that answers */
    JPP_WORKER_EXITING,        /* of former configurations */
    JPP_WORKER_INDEX,          /* "3" */
    JPP_WORKER_PID             /* "pid-4711" */
} jpp_worker_kind_t;


typedef struct {
    jpp_worker_kind_t  kind;
    uint64_t           number;     /* the index or pid; else 0 */
} jpp_selector_t;


/* Which moment of the past. */
typedef enum {
    JPP_MOMENT_NONE = 0,
    JPP_MOMENT_LAST,           /* "last" */
    JPP_MOMENT_ID,             /* "7" */
    JPP_MOMENT_AGO,            /* "-1h", in seconds */
    JPP_MOMENT_TIME,           /* "2026-11-23T10:00Z", since the epoch */
    JPP_MOMENT_GENERATION      /* "generation-3" */
} jpp_moment_kind_t;


typedef struct {
    jpp_moment_kind_t  kind;
    int64_t            value;
} jpp_moment_t;


/*
 * The keys; a value is the index of a word of the key's list, or the number
 * itself where the key takes one: plain digits, no more than ten.
 */
typedef enum {                 /* values, the default first */
    JPP_ARG_FORMAT = 0,        /* index into the words of formats */
    JPP_ARG_DEBUG,             /* 0, 1: format=text, where no format is set */
    JPP_ARG_TYPE,              /* index into the words of types */
    JPP_ARG_SYMBOLIZE,         /* 1, 0 */
    JPP_ARG_GC,                /* 0, 1: no effect, for clients of Go */
    JPP_ARG_SECONDS,           /* 0: not set; 1..max_seconds */
    JPP_ARG_WORKER,            /* jpp_worker_kind_t: all */
    JPP_ARG_STRICT,            /* 0, 1 */
    JPP_ARG_ORIGIN,            /* jpp_origin_t: all */
    JPP_ARG_SORT,              /* jpp_sort_by_t: flat */
    JPP_ARG_N,                 /* rows of a table: 50; 1..JPP_MAX_ROWS */
    JPP_ARG_CALLERS,           /* 1, 0; see jpp_view.h */
    JPP_ARG_TOP,               /* rows of a list: 20; 1..JPP_MAX_ROWS */
    JPP_ARG_BY,                /* jpp_by_t: request */
    JPP_ARG_CLIENTS,           /* 0, 1: show them */
    JPP_ARG_OWNERS,            /* 0, 1: labels of samples */
    JPP_ARG_WIDTH,             /* of a picture, pixels: 1200; */
                               /*   JPP_MIN_WIDTH..JPP_MAX_WIDTH */
    JPP_ARG_COLS,              /* of a terminal, for tables: 80; */
                               /*   JPP_MIN_COLS..JPP_MAX_COLS */
    JPP_ARG_INVERT,            /* 0, 1: a picture from the leaf on */
    JPP_ARG_DETAIL,            /* jpp_detail_t: none */
    JPP_ARG_FIELDS,            /* bits by jpp_field_t: all */
    JPP_ARG_FORCE,             /* 0, 1: whatever it costs */
    JPP_ARG_FREQUENCY,         /* samples a second: 99; 1..JPP_MAX_FREQUENCY */
    JPP_ARG_MODE,              /* jpp_mode_t: cpu */
    JPP_ARG_SINCE,             /* seconds ago: 0, not set */
    JPP_ARG_AT,                /* args.at says which moment; not set: now */
    JPP_ARG_BASE,              /* args.base: what is subtracted; none */
    JPP_ARG_AGE,               /* seconds: 0, not set */
    JPP_ARG_AGES,              /* 0, 1: labels of live samples */
    JPP_ARG_MAX_STOP,          /* ms: 50; 1..JPP_MAX_STOP */
    JPP_ARGS
} jpp_arg_t;


/* The words of a table, whose rows have each as a pointer somewhere. */
typedef struct {
    const void    *first;      /* where the first row has it */
    size_t         stride;     /* from one row to the next */
    uint32_t       n;          /* rows; a word that is NULL ends them, too */
    uint32_t       value;      /* the default */
} jpp_words_t;


/* Word I of WORDS; NULL: no more. */
const char *jpp_word(const jpp_words_t *words, uint32_t i);

/* *I is the one that is the LEN bytes at DATA; false: none is. */
bool jpp_words_find(const jpp_words_t *words, const char *data, size_t len,
    uint32_t *i);

/* The N words of the array of strings LIST. */
#define JPP_WORD_LIST(list, n, value)  { list, sizeof(const char *), n, value }


/* "top", the default, and "json": the forms of an answer that is no profile */
extern const jpp_words_t  jpp_words_top;


typedef struct {
    uint32_t       values[JPP_ARGS];
    bool           is_set[JPP_ARGS];
    jpp_moment_t   at;
    jpp_moment_t   base;
    uint64_t       worker;     /* JPP_WORKER_INDEX: 0.., _PID: 1..; else 0 */
    uint32_t       max_seconds;    /* JPP_MAX_SECONDS, unless the caller */
                                   /*   sets it */
    jpp_words_t    formats;
    jpp_words_t    types;
} jpp_args_t;


/*
 * Initialize the caller's ARGS with the defaults, and with the words that
 * FORMATS and TYPES allow.
 */
void jpp_args_init(jpp_args_t *args, const jpp_words_t *formats,
    const jpp_words_t *types);

/* Do ARGS ask for a table for a terminal? */
bool jpp_args_is_top(const jpp_args_t *args);

/* Do they ask how old live samples are? */
static inline bool
jpp_args_has_ages(const jpp_args_t *args)
{
    return args->values[JPP_ARG_AGES] != 0 || args->values[JPP_ARG_AGE] != 0;
}

/* Do they ask for whom samples belong to? */
static inline bool
jpp_args_has_owners(const jpp_args_t *args)
{
    return args->values[JPP_ARG_OWNERS] != 0 || args->is_set[JPP_ARG_BY];
}

/*
 * Set the key that is the LEN bytes at KEY to the VALUE_LEN bytes at VALUE; an
 * unknown one is JPP_OK.
 */
jpp_code_t jpp_args_set(jpp_args_t *args, const char *key, size_t len,
    const char *value, size_t value_len, jpp_err_t *err);

/* Set ARGS from the LEN bytes of a query string ("a=1&b=2") at QUERY. */
jpp_code_t jpp_args_query(jpp_args_t *args, const char *query, size_t len,
    jpp_err_t *err);

/* The requested workers. */
jpp_selector_t jpp_args_selector(const jpp_args_t *args);


/*
 * The pairs of a query string, or of a form's body:
 *
 *     query := [ pair *( "&" pair ) ]
 *     pair  := key [ "=" value ]
 *
 * Keys and values are percent-encoded, and a plus sign is a blank.
 *
 *     rc = jpp_query_init(&query, text, len, err);
 *
 *     while (rc == JPP_OK && jpp_query_next(&query)) {
 *         rc = use(query.key, query.key_len, query.value, query.value_len);
 *     }
 *
 * No allocation; any thread.
 */

/* The last pair read, decoded, without a NUL at the end. */
typedef struct {
    char           key[JPP_MAX_VALUE];
    size_t         key_len;
    char           value[JPP_MAX_VALUE];
    size_t         value_len;

    bool           has_unread;     /* pairs were skipped */

    const char    *pos;
    const char    *end;
} jpp_query_t;


/*
 * Initialize the caller's QUERY with the LEN bytes at TEXT, which must stay;
 * TEXT may be NULL if LEN is 0.  More than JPP_MAX_QUERY bytes are
 * JPP_ERR_ARG.
 */
jpp_code_t jpp_query_init(jpp_query_t *query, const char *text, size_t len,
    jpp_err_t *err);

/*
 * Read the next pair; false at the end.  A pair whose key cannot be decoded or
 * is too long is skipped (has_unread); such a value becomes empty.  So no
 * caller may use an empty key, or allow an empty value.
 */
bool jpp_query_next(jpp_query_t *query);

/* Set *NUMBER to the LEN bytes at VALUE: one to ten digits, nothing else. */
bool jpp_query_number(const char *value, size_t len, uint32_t *number);


/*
 * The Accept header of a request (RFC 9110, 12.5.1): which types a client
 * takes, and how much it likes them.
 *
 * How much the LEN bytes at ACCEPT like TYPE, such as "text/html": 0 (not at
 * all) to 1000.  The entry that fits best counts: the type itself, "text/" and
 * an asterisk, or two asterisks; of equal ones, the highest.  An entry whose
 * quality is not a number counts as 0.
 */
unsigned jpp_accept(const char *accept, size_t len, const char *type);


#endif /* _JPP_ARGS_H_INCLUDED_ */

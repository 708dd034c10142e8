
/*
 * Parameters in: what a query string, or the options of the tool, ask for.
 *
 * One table says which keys there are and which values each allows.  A known
 * key with another value is an error that lists what is allowed, never a
 * silent default, and never quotes the value.  Unknown keys are ignored in a
 * query.  Where a key is repeated its first value counts.
 *
 * No allocation; any thread.
 */


#ifndef _JPP_ARGS_H_INCLUDED_
#define _JPP_ARGS_H_INCLUDED_


#include <stdbool.h>

#include "jpp_err.h"


typedef enum {
    JPP_FORMAT_PPROF = 0,
    JPP_FORMAT_TEXT,
    JPP_FORMAT_FOLDED,
    JPP_FORMAT_TOP
} jpp_format_t;


/* The keys; every value is the index of a word of the key's list. */
typedef enum {
    JPP_ARG_FORMAT = 0,    /* jpp_format_t */
    JPP_ARG_DEBUG,         /* 1 is format=text, where no format is given */
    JPP_ARG_TYPE,          /* index of jpp_heap_types */
    JPP_ARG_SYMBOLIZE,     /* 0, 1 */
    JPP_ARG_GC,            /* accepted for the clients of Go, no effect */
    JPP_ARGS
} jpp_arg_t;


typedef struct {
    uint32_t     values[JPP_ARGS];
    bool         is_set[JPP_ARGS];
} jpp_args_t;


/* Initialize the caller's ARGS with the defaults. */
void jpp_args_init(jpp_args_t *args);

/*
 * Set the key that is the LEN bytes at KEY to the VALUE_LEN bytes at VALUE.
 * *IS_KNOWN says whether there is such a key; JPP_OK where there is not.
 */
jpp_code_t jpp_args_set(jpp_args_t *args, const char *key, size_t len,
    const char *value, size_t value_len, bool *is_known, jpp_err_t *err);

/* Set ARGS from the LEN bytes of a query string ("a=1&b=2") at QUERY. */
jpp_code_t jpp_args_query(jpp_args_t *args, const char *query, size_t len,
    jpp_err_t *err);

/* The format asked for, in whichever way. */
jpp_format_t jpp_args_format(const jpp_args_t *args);


#endif /* _JPP_ARGS_H_INCLUDED_ */

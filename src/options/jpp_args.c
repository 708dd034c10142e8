
#include <inttypes.h>
#include <string.h>

#include "jpp_args.h"
#include "jpp_query.h"


#define JPP_ARG_WORDS  5


typedef enum {
    JPP_ARG_IS_WORD = 0,                /* one of words */
    JPP_ARG_IS_SECONDS,                 /* 1..max_seconds */
    JPP_ARG_IS_WORKER                   /* one of words, a number, or a pid */
} jpp_arg_kind_t;


typedef struct {
    const char       *key;
    jpp_arg_kind_t    kind;
    const char       *words[JPP_ARG_WORDS];
    uint32_t          value;            /* the default */
    const char       *allowed;          /* of seconds: max_seconds follows */
} jpp_arg_row_t;


static bool jpp_args_value(jpp_args_t *args, const jpp_arg_row_t *row,
    const char *value, size_t len, uint32_t *number);
static bool jpp_args_word(const jpp_arg_row_t *row, const char *value,
    size_t len, uint32_t *number);
static bool jpp_args_worker(jpp_args_t *args, const char *value, size_t len,
    uint32_t *kind);


static const jpp_arg_row_t  jpp_arg_rows[JPP_ARGS] = {
    { "format",    JPP_ARG_IS_WORD,
      { "pprof", "text", "folded", "top", "jemalloc" }, JPP_FORMAT_PPROF,
      "format must be pprof, text, jemalloc, folded or top" },

    { "debug",     JPP_ARG_IS_WORD, { "0", "1" }, 0,
      "debug must be 0 (pprof) or 1 (text)" },

    { "type",      JPP_ARG_IS_WORD,
      { "alloc_objects", "alloc_space", "inuse_objects", "inuse_space" }, 3,
      "type must be inuse_space, inuse_objects, alloc_space or "
      "alloc_objects" },

    { "symbolize", JPP_ARG_IS_WORD, { "0", "1" }, 1,
      "symbolize must be 0 or 1" },

    { "gc",        JPP_ARG_IS_WORD, { "0", "1" }, 0,
      "gc must be 0 or 1 (and has no effect here)" },

    { "seconds",   JPP_ARG_IS_SECONDS, { NULL }, 0,
      "seconds must be a whole number from 1 to" },

    { "worker",    JPP_ARG_IS_WORKER, { "all", "self", "exiting" },
      JPP_WORKER_ALL,
      "worker must be all, self, exiting, an index such as 0, or pid- and a "
      "process id" },

    { "strict",    JPP_ARG_IS_WORD, { "0", "1" }, 0,
      "strict must be 0 or 1" },

    { "origin",    JPP_ARG_IS_WORD, { "all", "worker", "master" },
      JPP_ORIGIN_ALL, "origin must be all, worker or master" }
};


void
jpp_args_init(jpp_args_t *args)
{
    size_t  i;

    for (i = 0; i < JPP_ARGS; i++) {
        args->values[i] = jpp_arg_rows[i].value;
        args->is_set[i] = false;
    }

    args->worker = 0;
    args->max_seconds = JPP_MAX_SECONDS;
}


jpp_code_t
jpp_args_set(jpp_args_t *args, const char *key, size_t len, const char *value,
    size_t value_len, bool *is_known, jpp_err_t *err)
{
    size_t                i;
    const jpp_arg_row_t  *row;

    *is_known = false;

    for (i = 0; i < JPP_ARGS; i++) {
        row = &jpp_arg_rows[i];

        if (strlen(row->key) != len || memcmp(row->key, key, len) != 0) {
            continue;
        }

        *is_known = true;

        if (args->is_set[i]) {
            return JPP_OK;
        }

        if (jpp_args_value(args, row, value, value_len, &args->values[i])) {
            args->is_set[i] = true;
            return JPP_OK;
        }

        if (row->kind == JPP_ARG_IS_SECONDS) {
            return jpp_err_set(err, JPP_ERR_ARG, "%s %" PRIu32, row->allowed,
                               args->max_seconds);
        }

        return jpp_err_set(err, JPP_ERR_ARG, "%s", row->allowed);
    }

    return JPP_OK;
}


/* Sets *NUMBER when the value is one that ROW allows, and only then. */

static bool
jpp_args_value(jpp_args_t *args, const jpp_arg_row_t *row, const char *value,
    size_t len, uint32_t *number)
{
    uint32_t  n;

    switch (row->kind) {

    case JPP_ARG_IS_SECONDS:
        if (!jpp_query_number(value, len, &n) || n < 1
            || n > args->max_seconds)
        {
            return false;
        }

        *number = n;
        return true;

    case JPP_ARG_IS_WORKER:
        return jpp_args_word(row, value, len, number)
               || jpp_args_worker(args, value, len, number);

    default: /* JPP_ARG_IS_WORD */
        return jpp_args_word(row, value, len, number);
    }
}


static bool
jpp_args_word(const jpp_arg_row_t *row, const char *value, size_t len,
    uint32_t *number)
{
    uint32_t  i;

    for (i = 0; i < JPP_ARG_WORDS && row->words[i] != NULL; i++) {

        if (strlen(row->words[i]) == len
            && memcmp(row->words[i], value, len) == 0)
        {
            *number = i;
            return true;
        }
    }

    return false;
}


/* A worker by number: "3", "pid-4711". */

static bool
jpp_args_worker(jpp_args_t *args, const char *value, size_t len,
    uint32_t *kind)
{
    size_t    prefix;
    uint32_t  n;

    prefix = sizeof("pid-") - 1;

    if (len < prefix || memcmp(value, "pid-", prefix) != 0) {
        prefix = 0;
    }

    if (!jpp_query_number(value + prefix, len - prefix, &n)
        || (prefix != 0 && n == 0))
    {
        return false;
    }

    *kind = prefix != 0 ? JPP_WORKER_PID : JPP_WORKER_INDEX;
    args->worker = n;

    return true;
}


jpp_code_t
jpp_args_query(jpp_args_t *args, const char *query, size_t len,
    jpp_err_t *err)
{
    bool          is_known;
    jpp_code_t    rc;
    jpp_query_t   pairs;

    rc = jpp_query_init(&pairs, query, len, err);

    while (rc == JPP_OK && jpp_query_next(&pairs)) {
        rc = jpp_args_set(args, pairs.key, pairs.key_len, pairs.value,
                          pairs.value_len, &is_known, err);
    }

    return rc;
}


jpp_selector_t
jpp_args_selector(const jpp_args_t *args)
{
    jpp_selector_t  selector;

    selector.kind = (jpp_worker_kind_t) args->values[JPP_ARG_WORKER];
    selector.number = selector.kind == JPP_WORKER_INDEX
                      || selector.kind == JPP_WORKER_PID ? args->worker : 0;

    return selector;
}


jpp_format_t
jpp_args_format(const jpp_args_t *args)
{
    if (!args->is_set[JPP_ARG_FORMAT] && args->values[JPP_ARG_DEBUG] == 1) {
        return JPP_FORMAT_TEXT;
    }

    return (jpp_format_t) args->values[JPP_ARG_FORMAT];
}


/*
 *     query := [ pair *( "&" pair ) ]
 *     pair  := key [ "=" value ]
 *
 * Keys and values are percent-encoded, and a plus sign is a blank.
 */


#include <inttypes.h>
#include <string.h>

#include "jpp_args.h"
#include "jpp_limits.h"


#define JPP_ARG_WORDS  5

/* digits of the largest index or pid */
#define JPP_ARG_DIGITS  (sizeof("4294967295") - 1)


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
static bool jpp_args_digits(const char *value, size_t len, uint32_t *number);
static bool jpp_args_decode(const char *from, size_t len,
    char to[JPP_MAX_VALUE], size_t *to_len);
static int jpp_args_hex(char c);


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
        if (!jpp_args_digits(value, len, &n) || n < 1
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

    if (!jpp_args_digits(value + prefix, len - prefix, &n)
        || (prefix != 0 && n == 0))
    {
        return false;
    }

    *kind = prefix != 0 ? JPP_WORKER_PID : JPP_WORKER_INDEX;
    args->worker = n;

    return true;
}


static bool
jpp_args_digits(const char *value, size_t len, uint32_t *number)
{
    size_t    i;
    uint64_t  n;

    if (len == 0 || len > JPP_ARG_DIGITS) {
        return false;
    }

    n = 0;

    for (i = 0; i < len; i++) {

        if (value[i] < '0' || value[i] > '9') {
            return false;
        }

        n = n * 10 + (uint64_t) (value[i] - '0');
    }

    *number = (uint32_t) n;

    return n <= UINT32_MAX;
}


jpp_code_t
jpp_args_query(jpp_args_t *args, const char *query, size_t len,
    jpp_err_t *err)
{
    char         key[JPP_MAX_VALUE], value[JPP_MAX_VALUE];
    bool         is_known;
    size_t       key_len, value_len;
    jpp_code_t   rc;
    const char  *p, *end, *pair_end, *equals;

    if (len > JPP_MAX_QUERY) {
        return jpp_err_set(err, JPP_ERR_ARG,
                           "the query is longer than %d bytes", JPP_MAX_QUERY);
    }

    /* of no bytes there may be no address */

    if (len == 0) {
        return JPP_OK;
    }

    end = query + len;

    for (p = query; p < end; p = pair_end + 1) {

        pair_end = memchr(p, '&', (size_t) (end - p));

        if (pair_end == NULL) {
            pair_end = end;
        }

        equals = memchr(p, '=', (size_t) (pair_end - p));

        /* what cannot be a key of ours is unknown, and ignored */

        if (!jpp_args_decode(p, (size_t) ((equals != NULL ? equals : pair_end)
                                          - p),
                             key, &key_len))
        {
            continue;
        }

        value_len = 0;

        /* what cannot be a value becomes one that no list has */

        if (equals != NULL
            && !jpp_args_decode(equals + 1, (size_t) (pair_end - equals - 1),
                                value, &value_len))
        {
            value_len = 0;
        }

        rc = jpp_args_set(args, key, key_len, value, value_len, &is_known,
                          err);
        if (rc != JPP_OK) {
            return rc;
        }
    }

    return JPP_OK;
}


jpp_format_t
jpp_args_format(const jpp_args_t *args)
{
    if (!args->is_set[JPP_ARG_FORMAT] && args->values[JPP_ARG_DEBUG] == 1) {
        return JPP_FORMAT_TEXT;
    }

    return (jpp_format_t) args->values[JPP_ARG_FORMAT];
}


static bool
jpp_args_decode(const char *from, size_t len, char to[JPP_MAX_VALUE],
    size_t *to_len)
{
    int     high, low;
    size_t  i, n;

    for (i = 0, n = 0; i < len; i++, n++) {

        if (n == JPP_MAX_VALUE) {
            return false;
        }

        if (from[i] != '%') {
            to[n] = from[i] == '+' ? ' ' : from[i];
            continue;
        }

        if (len - i < 3) {
            return false;
        }

        high = jpp_args_hex(from[i + 1]);
        low = jpp_args_hex(from[i + 2]);

        if (high < 0 || low < 0) {
            return false;
        }

        to[n] = (char) (high << 4 | low);
        i += 2;
    }

    *to_len = n;

    return true;
}


static int
jpp_args_hex(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }

    c = (char) (c | 0x20);

    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

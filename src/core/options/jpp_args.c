
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "jpp_args.h"
#include "jpp_query.h"


#define JPP_ARG_WORDS  10


typedef enum {
    JPP_ARG_IS_WORD = 0,                /* one of words */
    JPP_ARG_IS_SET,                     /* some of words, with commas between */
    JPP_ARG_IS_FORMAT,                  /* one of the formats' words */
    JPP_ARG_IS_TYPE,                    /* one of the types' words */
    JPP_ARG_IS_SECONDS,                 /* 1..max_seconds */
    JPP_ARG_IS_ROWS,                    /* 1..JPP_MAX_ROWS */
    JPP_ARG_IS_WIDTH,                   /* JPP_MIN_WIDTH..JPP_MAX_WIDTH */
    JPP_ARG_IS_FREQUENCY,               /* 1..JPP_MAX_FREQUENCY */
    JPP_ARG_IS_WORKER                   /* one of words, a number, or a pid */
} jpp_arg_kind_t;


typedef struct {
    const char       *key;
    jpp_arg_kind_t    kind;
    const char       *words[JPP_ARG_WORDS];
    uint32_t          value;            /* the default */
    const char       *allowed;          /* of numbers: the limit follows; */
                                        /*   NULL: the words say it */
} jpp_arg_row_t;


static const jpp_arg_row_t  jpp_arg_rows[JPP_ARGS] = {
    { "format",    JPP_ARG_IS_FORMAT, { NULL }, 0, NULL },

    { "debug",     JPP_ARG_IS_WORD, { "0", "1" }, 0,
      "debug must be 0 (pprof) or 1 (text)" },

    { "type",      JPP_ARG_IS_TYPE, { NULL }, 0, NULL },

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
      JPP_ORIGIN_ALL, "origin must be all, worker or master" },

    { "sort",      JPP_ARG_IS_WORD, { "flat", "cum" }, JPP_SORT_FLAT,
      "sort must be flat or cum" },

    { "n",         JPP_ARG_IS_ROWS, { NULL }, 50,
      "n must be a whole number from 1 to" },

    { "callers",   JPP_ARG_IS_WORD, { "0", "1" }, 1,
      "callers must be 0 or 1" },

    { "top",       JPP_ARG_IS_ROWS, { NULL }, 20,
      "top must be a whole number from 1 to" },

    { "by",        JPP_ARG_IS_WORD,
      { "request", "connection", "location", "server", "upstream" },
      JPP_BY_REQUEST,
      "by must be request, connection, location, server or upstream" },

    { "clients",   JPP_ARG_IS_WORD, { "off", "on" }, 0,
      "clients must be on or off" },

    { "owners",    JPP_ARG_IS_WORD, { "0", "1" }, 0,
      "owners must be 0 or 1" },

    { "width",     JPP_ARG_IS_WIDTH, { NULL }, 1200,
      "width must be a whole number of pixels from" },

    { "invert",    JPP_ARG_IS_WORD, { "0", "1" }, 0,
      "invert must be 0 or 1" },

    { "detail",    JPP_ARG_IS_WORD, { "ledger", "smaps", "arenas" },
      JPP_DETAIL_NONE, "detail must be ledger, smaps or arenas" },

    { "fields",    JPP_ARG_IS_SET,
      { "findings", "total", "workers", "missing", "cgroup", "system",
        "zones", "unavailable" }, UINT32_MAX,
      "fields must be some of findings, total, workers, missing, cgroup, "
      "system, zones and unavailable, with commas between" },

    { "force",     JPP_ARG_IS_WORD, { "0", "1" }, 0,
      "force must be 0 or 1" },

    { "frequency", JPP_ARG_IS_FREQUENCY, { NULL }, 99,
      "frequency must be a whole number of samples a second from 1 to" },

    { "mode",      JPP_ARG_IS_WORD, { "cpu", "wall" }, JPP_MODE_CPU,
      "mode must be cpu or wall" }
};


void
jpp_args_init(jpp_args_t *args, const jpp_words_t *formats,
    const jpp_words_t *types)
{
    size_t  i;

    for (i = 0; i < JPP_ARGS; i++) {
        args->values[i] = jpp_arg_rows[i].value;
        args->is_set[i] = false;
    }

    args->values[JPP_ARG_FORMAT] = formats->value;
    args->values[JPP_ARG_TYPE] = types->value;

    args->worker = 0;
    args->max_seconds = JPP_MAX_SECONDS;
    args->formats = *formats;
    args->types = *types;
}


static bool
jpp_args_number(const char *value, size_t len, uint32_t least, uint32_t most,
    uint32_t *number)
{
    uint32_t  n;

    if (!jpp_query_number(value, len, &n) || n < least || n > most) {
        return false;
    }

    *number = n;

    return true;
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


static bool
jpp_args_given(const jpp_words_t *words, const char *value, size_t len,
    uint32_t *number)
{
    uint32_t     i;
    const char  *word;

    for (i = 0; (word = words->word(words->ctx, i)) != NULL; i++) {

        if (strlen(word) == len && memcmp(word, value, len) == 0) {
            *number = i;
            return true;
        }
    }

    return false;
}


/* A bit for each word, the first the lowest. */

static bool
jpp_args_set_of(const jpp_arg_row_t *row, const char *value, size_t len,
    uint32_t *number)
{
    size_t       n;
    uint32_t     bit, bits;
    const char  *comma;

    bits = 0;

    for ( ;; ) {
        comma = memchr(value, ',', len);
        n = comma != NULL ? (size_t) (comma - value) : len;

        if (!jpp_args_word(row, value, n, &bit)) {
            return false;
        }

        bits |= (uint32_t) 1 << bit;

        if (comma == NULL) {
            *number = bits;
            return true;
        }

        value += n + 1;
        len -= n + 1;
    }
}


/* Sets *NUMBER only if ROW allows the value. */

static bool
jpp_args_value(jpp_args_t *args, const jpp_arg_row_t *row, const char *value,
    size_t len, uint32_t *number)
{
    switch (row->kind) {

    case JPP_ARG_IS_SECONDS:
        return jpp_args_number(value, len, 1, args->max_seconds, number);

    case JPP_ARG_IS_ROWS:
        return jpp_args_number(value, len, 1, JPP_MAX_ROWS, number);

    case JPP_ARG_IS_FREQUENCY:
        return jpp_args_number(value, len, 1, JPP_MAX_FREQUENCY, number);

    case JPP_ARG_IS_WIDTH:
        return jpp_args_number(value, len, JPP_MIN_WIDTH, JPP_MAX_WIDTH,
                               number);

    case JPP_ARG_IS_WORKER:
        return jpp_args_word(row, value, len, number)
               || jpp_args_worker(args, value, len, number);

    case JPP_ARG_IS_FORMAT:
        return jpp_args_given(&args->formats, value, len, number);

    case JPP_ARG_IS_TYPE:
        return jpp_args_given(&args->types, value, len, number);

    case JPP_ARG_IS_SET:
        return jpp_args_set_of(row, value, len, number);

    case JPP_ARG_IS_WORD:
        break;
    }

    return jpp_args_word(row, value, len, number);
}


/* "KEY must be a, b or c" */

static jpp_code_t
jpp_args_list(const char *key, const jpp_words_t *words, bool is_reversed,
    jpp_err_t *err)
{
    char         text[JPP_ERR_TEXT];
    size_t       len;
    uint32_t     i, n;
    const char  *before;

    for (n = 0; words->word(words->ctx, n) != NULL; n++) {
        /* void */
    }

    text[0] = '\0';

    for (i = 0, len = 0; i < n && len < sizeof(text); i++) {

        before = i == 0 ? "" : (i + 1 < n ? ", " : " or ");

        len += (size_t) snprintf(text + len, sizeof(text) - len, "%s%s",
                                 before,
                                 words->word(words->ctx,
                                             is_reversed ? n - 1 - i : i));
    }

    return jpp_err_set(err, JPP_ERR_ARG, "%s must be %s", key, text);
}


static jpp_code_t
jpp_args_refuse(const jpp_args_t *args, const jpp_arg_row_t *row,
    jpp_err_t *err)
{
    switch (row->kind) {

    case JPP_ARG_IS_FORMAT:
        return jpp_args_list(row->key, &args->formats, false, err);

    case JPP_ARG_IS_TYPE:

        /* the default is the last, and people read the first */

        return jpp_args_list(row->key, &args->types, true, err);

    case JPP_ARG_IS_SECONDS:
        return jpp_err_set(err, JPP_ERR_ARG, "%s %" PRIu32, row->allowed,
                           args->max_seconds);

    case JPP_ARG_IS_ROWS:
        return jpp_err_set(err, JPP_ERR_ARG, "%s %d", row->allowed,
                           JPP_MAX_ROWS);

    case JPP_ARG_IS_FREQUENCY:
        return jpp_err_set(err, JPP_ERR_ARG, "%s %d", row->allowed,
                           JPP_MAX_FREQUENCY);

    case JPP_ARG_IS_WIDTH:
        return jpp_err_set(err, JPP_ERR_ARG, "%s %d to %d", row->allowed,
                           JPP_MIN_WIDTH, JPP_MAX_WIDTH);

    case JPP_ARG_IS_WORD:
    case JPP_ARG_IS_SET:
    case JPP_ARG_IS_WORKER:
        break;
    }

    return jpp_err_set(err, JPP_ERR_ARG, "%s", row->allowed);
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

        return jpp_args_refuse(args, row, err);
    }

    return JPP_OK;
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


#include "jpp_args.h"


#define JPP_ARG_WORDS  10


typedef enum {
    JPP_ARG_IS_WORD = 0,                /* one of words */
    JPP_ARG_IS_SET,                     /* some of words, with commas between */
    JPP_ARG_IS_FORMAT,                  /* one of the formats' words */
    JPP_ARG_IS_TYPE,                    /* one of the types' words */
    JPP_ARG_IS_AGO,                     /* "90s", "15m", "2h", "7d" */
    JPP_ARG_IS_MOMENT,                  /* jpp_moment_t */
    JPP_ARG_IS_WORKER                   /* one of words, a number, or a pid */
} jpp_arg_kind_t;


typedef struct {
    const char       *key;
    jpp_arg_kind_t    kind;
    uint32_t          value;            /* the default */
    const char       *words[JPP_ARG_WORDS];
    uint32_t          least;
    uint32_t          most;             /* 0: max_seconds */
    const char       *what;             /* a number: " of pixels", or ""; */
                                        /*   NULL: it is none */
    const char       *allowed;          /* NULL: words or numbers say it */
    bool              has_ms;           /* "ms" may follow the number */
} jpp_arg_row_t;


static const jpp_arg_row_t  jpp_arg_rows[JPP_ARGS] = {
    { .key = "format", .kind = JPP_ARG_IS_FORMAT },

    { .key = "debug", .words = { "0", "1" },
      .allowed = "debug must be 0 (pprof) or 1 (text)" },

    { .key = "type", .kind = JPP_ARG_IS_TYPE },

    { .key = "symbolize", .words = { "0", "1" }, .value = 1 },

    { .key = "gc", .words = { "0", "1" },
      .allowed = "gc must be 0 or 1 (and has no effect here)" },

    { .key = "seconds", .least = 1, .what = "" },

    { .key = "worker", .kind = JPP_ARG_IS_WORKER,
      .words = { "all", "self", "exiting" }, .value = JPP_WORKER_ALL,
      .allowed = "worker must be all, self, exiting, an index such as 0, or "
                 "pid- and a process id" },

    { .key = "strict", .words = { "0", "1" } },

    { .key = "origin", .words = { "all", "worker", "master" },
      .value = JPP_ORIGIN_ALL },

    { .key = "sort", .words = { "flat", "cum" }, .value = JPP_SORT_FLAT },

    { .key = "n", .value = 50,
      .least = 1, .most = JPP_MAX_ROWS, .what = "" },

    { .key = "callers", .words = { "0", "1" }, .value = 1 },

    { .key = "top", .value = 20,
      .least = 1, .most = JPP_MAX_ROWS, .what = "" },

    { .key = "by", .value = JPP_BY_REQUEST,
      .words = { "request", "connection", "location", "server", "upstream" },
      .allowed = "by must be location, server or upstream; or, for requests, "
                 "request or connection" },

    { .key = "clients", .words = { "off", "on" },
      .allowed = "clients must be on or off" },

    { .key = "owners", .words = { "0", "1" } },

    { .key = "width", .value = 1200,
      .least = JPP_MIN_WIDTH, .most = JPP_MAX_WIDTH, .what = " of pixels" },

    { .key = "cols", .value = 80,
      .least = JPP_MIN_COLS, .most = JPP_MAX_COLS, .what = " of columns" },

    { .key = "invert", .words = { "0", "1" } },

    { .key = "detail", .words = { "ledger", "smaps", "arenas" },
      .value = JPP_DETAIL_NONE },

    { .key = "fields", .kind = JPP_ARG_IS_SET, .value = UINT32_MAX,
      .words = { "findings", "total", "workers", "missing", "cgroup", "system",
                 "zones", "unavailable" },
      .allowed = "fields must be some of findings, total, workers, missing, "
                 "cgroup, system, zones and unavailable, with commas between" },

    { .key = "force", .words = { "0", "1" } },

    { .key = "frequency", .value = 99,
      .least = 1, .most = JPP_MAX_FREQUENCY,
      .what = " of samples a second" },

    { .key = "mode", .words = { "cpu", "wall" }, .value = JPP_MODE_CPU },

    { .key = "since", .kind = JPP_ARG_IS_AGO,
      .allowed = "since must be a time such as 90s, 15m, 2h or 7d" },

    { .key = "at", .kind = JPP_ARG_IS_MOMENT,
      .allowed = "at must be the id of a snapshot, last, a time such as -1h or "
                 "2026-11-23T10:00Z, or a generation such as generation-3" },

    { .key = "base", .kind = JPP_ARG_IS_MOMENT,
      .allowed = "base must be the id of a snapshot, last, a time such as -1h "
                 "or 2026-11-23T10:00Z, or a generation such as generation-3" },

    { .key = "age", .kind = JPP_ARG_IS_AGO,
      .allowed = "age must be a time such as 90s, 15m, 2h or 7d" },

    { .key = "ages", .words = { "0", "1" } },

    { .key = "max_stop", .value = 50,
      .least = 1, .most = JPP_MAX_STOP, .what = " of milliseconds",
      .has_ms = true }
};


const char *
jpp_word(const jpp_words_t *words, uint32_t i)
{
    return i < words->n
           ? *(const char *const *) ((const char *) words->first
                                     + i * words->stride)
           : NULL;
}


bool
jpp_words_find(const jpp_words_t *words, const char *data, size_t len,
    uint32_t *i)
{
    uint32_t     k;
    const char  *word;

    for (k = 0; (word = jpp_word(words, k)) != NULL; k++) {

        if (strlen(word) == len && memcmp(word, data, len) == 0) {
            *i = k;
            return true;
        }
    }

    return false;
}


static const char *const  jpp_words_forms[] = { "top", "json" };

const jpp_words_t  jpp_words_top = JPP_WORD_LIST(jpp_words_forms, 2, 0);


bool
jpp_args_is_top(const jpp_args_t *args)
{
    return strcmp(jpp_word(&args->formats, args->values[JPP_ARG_FORMAT]), "top")
           == 0;
}


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

    args->at.kind = JPP_MOMENT_NONE;
    args->base.kind = JPP_MOMENT_NONE;
    args->worker = 0;
    args->max_seconds = JPP_MAX_SECONDS;
    args->formats = *formats;
    args->types = *types;
}


static uint32_t
jpp_args_most(const jpp_args_t *args, const jpp_arg_row_t *row)
{
    return row->most != 0 ? row->most : args->max_seconds;
}


/* The words of ROW, which are the caller's or its own. */

static jpp_words_t
jpp_args_words(const jpp_args_t *args, const jpp_arg_row_t *row)
{
    const jpp_words_t  words = JPP_WORD_LIST(row->words, JPP_ARG_WORDS,
                                             row->value);

    if (row->kind == JPP_ARG_IS_FORMAT) {
        return args->formats;
    }

    return row->kind == JPP_ARG_IS_TYPE ? args->types : words;
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


/* A number of seconds, minutes, hours or days. */

static bool
jpp_args_ago(const char *value, size_t len, uint32_t *number)
{
    uint32_t     n;
    const char  *unit;

    static const char      units[] = "smhd";
    static const uint32_t  seconds[] = { 1, 60, 3600, 86400 };

    unit = len != 0 ? memchr(units, value[len - 1], sizeof(units) - 1) : NULL;

    if (unit == NULL || !jpp_query_number(value, len - 1, &n)
        || n == 0 || n > UINT32_MAX / 86400)
    {
        return false;
    }

    *number = n * seconds[unit - units];

    return true;
}


/* "2026-11-23T10:00Z", or with seconds; false: it is none. */

static bool
jpp_args_time(const char *value, size_t len, int64_t *time)
{
    char         text[sizeof("2026-11-23T10:00:00Z")];
    time_t       seconds;
    struct tm    tm, back;
    const char  *end;

    if (len >= sizeof(text)) {
        return false;
    }

    memcpy(text, value, len);
    text[len] = '\0';

    memset(&tm, 0, sizeof(struct tm));

    end = strptime(text, "%Y-%m-%dT%H:%M", &tm);

    if (end != NULL && *end == ':') {
        end = strptime(end, ":%S", &tm);
    }

    if (end == NULL || strcmp(end, "Z") != 0) {
        return false;
    }

    /* a day that its month does not have would be one of the next */

    back = tm;
    seconds = timegm(&back);
    *time = seconds;

    return back.tm_mday == tm.tm_mday && back.tm_sec == tm.tm_sec;
}


/* A moment: "last", "7", "-1h", "2026-11-23T10:00Z", "generation-3". */

static bool
jpp_args_moment(jpp_moment_t *moment, const char *value, size_t len)
{
    size_t    prefix;
    uint32_t  n;

    prefix = sizeof("generation-") - 1;

    if (len == 4 && memcmp(value, "last", 4) == 0) {
        *moment = (jpp_moment_t) { JPP_MOMENT_LAST, 0 };
        return true;
    }

    if (jpp_query_number(value, len, &n) && n != 0) {
        *moment = (jpp_moment_t) { JPP_MOMENT_ID, n };
        return true;
    }

    if (len > prefix && memcmp(value, "generation-", prefix) == 0) {
        *moment = (jpp_moment_t) { JPP_MOMENT_GENERATION, 0 };

        if (!jpp_query_number(value + prefix, len - prefix, &n)) {
            return false;
        }

        moment->value = n;
        return n != 0;
    }

    if (len > 1 && value[0] == '-' && jpp_args_ago(value + 1, len - 1, &n)) {
        *moment = (jpp_moment_t) { JPP_MOMENT_AGO, n };
        return true;
    }

    moment->kind = JPP_MOMENT_TIME;

    return jpp_args_time(value, len, &moment->value);
}


/* A bit for each word, the first the lowest. */

static bool
jpp_args_set_of(const jpp_words_t *words, const char *value, size_t len,
    uint32_t *number)
{
    size_t       n;
    uint32_t     bit, bits;
    const char  *comma;

    bits = 0;

    for ( ;; ) {
        comma = memchr(value, ',', len);
        n = comma != NULL ? (size_t) (comma - value) : len;

        if (!jpp_words_find(words, value, n, &bit)) {
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
    uint32_t     n;
    jpp_words_t  words;

    if (row->what != NULL) {

        if (row->has_ms && len > 2 && memcmp(value + len - 2, "ms", 2) == 0) {
            len -= 2;
        }

        if (!jpp_query_number(value, len, &n) || n < row->least
            || n > jpp_args_most(args, row))
        {
            return false;
        }

        *number = n;
        return true;
    }

    if (row->kind == JPP_ARG_IS_AGO) {
        return jpp_args_ago(value, len, number);
    }

    if (row->kind == JPP_ARG_IS_MOMENT) {
        return jpp_args_moment(row == &jpp_arg_rows[JPP_ARG_AT] ? &args->at
                                                                : &args->base,
                               value, len);
    }

    words = jpp_args_words(args, row);

    if (row->kind == JPP_ARG_IS_SET) {
        return jpp_args_set_of(&words, value, len, number);
    }

    return jpp_words_find(&words, value, len, number)
           || (row->kind == JPP_ARG_IS_WORKER
               && jpp_args_worker(args, value, len, number));
}


/* "KEY must be a, b or c" */

static jpp_code_t
jpp_args_list(const char *key, const jpp_words_t *words, bool is_reversed,
    jpp_err_t *err)
{
    char         text[JPP_ERR_TEXT], *p, *end;
    uint32_t     i, n;
    const char  *before;

    for (n = 0; jpp_word(words, n) != NULL; n++) {
        /* void */
    }

    text[0] = '\0';
    end = text + sizeof(text);

    for (i = 0, p = text; i < n && p < end; i++) {

        before = i == 0 ? "" : (i + 1 < n ? ", " : " or ");

        p += snprintf(p, (size_t) (end - p), "%s%s", before,
                      jpp_word(words, is_reversed ? n - 1 - i : i));
    }

    return jpp_err_set(err, JPP_ERR_ARG, "%s must be %s", key, text);
}


static jpp_code_t
jpp_args_refuse(const jpp_args_t *args, const jpp_arg_row_t *row,
    jpp_err_t *err)
{
    jpp_words_t  words;

    if (row->what != NULL) {
        return jpp_err_set(err, JPP_ERR_ARG, "%s must be a whole number%s from "
                           "%" PRIu32 " to %" PRIu32, row->key, row->what,
                           row->least, jpp_args_most(args, row));
    }

    if (row->allowed != NULL) {
        return jpp_err_set(err, JPP_ERR_ARG, "%s", row->allowed);
    }

    words = jpp_args_words(args, row);

    /* the default type is the last, and people read the first */

    return jpp_args_list(row->key, &words, row->kind == JPP_ARG_IS_TYPE, err);
}


jpp_code_t
jpp_args_set(jpp_args_t *args, const char *key, size_t len, const char *value,
    size_t value_len, jpp_err_t *err)
{
    uint32_t  i;

    static const jpp_words_t  keys = {
        &jpp_arg_rows[0].key, sizeof(jpp_arg_row_t), JPP_ARGS, 0
    };

    if (!jpp_words_find(&keys, key, len, &i) || args->is_set[i]) {
        return JPP_OK;
    }

    args->is_set[i] = jpp_args_value(args, &jpp_arg_rows[i], value, value_len,
                                     &args->values[i]);

    return args->is_set[i] ? JPP_OK
                           : jpp_args_refuse(args, &jpp_arg_rows[i], err);
}


jpp_code_t
jpp_args_query(jpp_args_t *args, const char *query, size_t len,
    jpp_err_t *err)
{
    jpp_code_t    rc;
    jpp_query_t   pairs;

    rc = jpp_query_init(&pairs, query, len, err);

    while (rc == JPP_OK && jpp_query_next(&pairs)) {
        rc = jpp_args_set(args, pairs.key, pairs.key_len, pairs.value,
                          pairs.value_len, err);
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

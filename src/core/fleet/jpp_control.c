
#include "jpp_control.h"
#include "jpp_fleet.h"


typedef enum {
    JPP_CONTROL_ACTIVE = 0,
    JPP_CONTROL_SAMPLER,
    JPP_CONTROL_LG_SAMPLE,
    JPP_CONTROL_STALL,
    JPP_CONTROL_OWNERS,
    JPP_CONTROL_RESET,
    JPP_CONTROL_PURGE,
    JPP_CONTROL_ACKNOWLEDGE,
    JPP_CONTROL_SNAPSHOT,
    JPP_CONTROLS
} jpp_control_key_t;


typedef struct {
    const char    *key;
    size_t         offset;         /* of an int of jpp_control_t */
    int            none;           /* its value: no change */
    const char *const  *words;     /* for 0, 1 ..., up to NULL; or NULL */
    uint32_t       min;            /* of a number; max 0: it is none */
    uint32_t       max;
    bool           is_time;        /* a number of ms, with a unit */
    const char    *allowed;
} jpp_control_row_t;


static const char *const  jpp_control_switch[] = { "off", "on", NULL };
static const char *const  jpp_control_stop[] = { "off", NULL };


static const jpp_control_row_t  jpp_control_rows[JPP_CONTROLS] = {
    [JPP_CONTROL_ACTIVE] =
        { "active", offsetof(jpp_control_t, active), -1,
          jpp_control_switch, 0, 0, false, "active must be on or off" },

    [JPP_CONTROL_SAMPLER] =
        { "sampler", offsetof(jpp_control_t, sampler), -1,
          jpp_control_switch, 0, 0, false, "sampler must be on or off" },

    [JPP_CONTROL_LG_SAMPLE] =
        { "lg_sample", offsetof(jpp_control_t, lg_sample), -1,
          NULL, JPP_JEMALLOC_LG_MIN, JPP_JEMALLOC_LG_MAX, false,
          "lg_sample must be a whole number from 10 to 24: below 10 too many "
          "small objects take 16 KiB each, above 24 next to nothing is "
          "sampled" },

    [JPP_CONTROL_STALL] =
        { "stall", offsetof(jpp_control_t, stall), -1,
          jpp_control_stop, JPP_CONTROL_MIN_STALL, JPP_CONTROL_MAX_STALL, true,
          "stall must be off, or a time from 10ms to 60s, as in stall=100ms" },

    [JPP_CONTROL_OWNERS] =
        { "owners", offsetof(jpp_control_t, owners), -1,
          jpp_control_switch, 0, 0, false, "owners must be on or off" },

    [JPP_CONTROL_RESET] =
        { "reset", offsetof(jpp_control_t, reset), 0,
          NULL, 1, 1, false, "reset must be 1" },

    [JPP_CONTROL_PURGE] =
        { "purge", offsetof(jpp_control_t, purge), 0,
          NULL, 1, 1, false, "purge must be 1" },

    [JPP_CONTROL_ACKNOWLEDGE] =
        { "acknowledge", offsetof(jpp_control_t, acknowledge), -1,
          jpp_finding_ids, 0, 0, false,
          "acknowledge must be the id of a finding, as status lists them" },

    [JPP_CONTROL_SNAPSHOT] =
        { "snapshot", offsetof(jpp_control_t, snapshot), 0,
          NULL, 1, 1, false, "snapshot must be 1" }
};


/* Keys of jpp_args.h that are for control, too; numbered behind the rows. */

static const char *const  jpp_control_args[] = { "worker", "strict" };

#define JPP_CONTROL_KEYS                                                      \
    (JPP_CONTROLS + sizeof(jpp_control_args) / sizeof(jpp_control_args[0]))


const char  jpp_control_keys[] =
    "active, sampler, lg_sample, stall, owners, reset, purge, acknowledge, "
    "snapshot, worker and strict";


static int *
jpp_control_field(jpp_control_t *control, const jpp_control_row_t *row)
{
    return (int *) (void *) ((char *) control + row->offset);
}


void
jpp_control_init(jpp_control_t *control)
{
    size_t  i;

    control->sampler_lg = -1;

    for (i = 0; i < JPP_CONTROLS; i++) {
        *jpp_control_field(control, &jpp_control_rows[i]) =
            jpp_control_rows[i].none;
    }
}


static bool
jpp_control_is(const char *text, const char *value, size_t len)
{
    return strlen(text) == len && memcmp(text, value, len) == 0;
}


static const char *
jpp_control_name(size_t key)
{
    return key < JPP_CONTROLS ? jpp_control_rows[key].key
                              : jpp_control_args[key - JPP_CONTROLS];
}


static jpp_code_t
jpp_control_unknown(jpp_err_t *err)
{
    return jpp_err_set(err, JPP_ERR_ARG,
                       "unknown key: control takes %s", jpp_control_keys);
}


/* "100ms", "2s"; false or 0: not a time */

static bool
jpp_control_time(const char *value, size_t len, uint32_t *ms)
{
    bool      is_time;
    size_t    digits;
    uint32_t  unit;

    digits = 0;

    while (digits < len && value[digits] >= '0' && value[digits] <= '9') {
        digits++;
    }

    unit = jpp_control_is("ms", value + digits, len - digits) ? 1
           : jpp_control_is("s", value + digits, len - digits) ? 1000 : 0;

    is_time = jpp_query_number(value, digits, ms)
              && *ms <= JPP_CONTROL_MAX_STALL;
    *ms *= unit;

    return is_time;
}


/* -1: not one that ROW allows */

static int
jpp_control_value(const jpp_control_row_t *row, const jpp_query_t *pair)
{
    int       i;
    bool      is_number;
    uint32_t  n;

    for (i = 0; row->words != NULL && row->words[i] != NULL; i++) {
        if (jpp_control_is(row->words[i], pair->value, pair->value_len)) {
            return i;
        }
    }

    n = 0;

    is_number = row->max != 0
                && (row->is_time ? jpp_control_time : jpp_query_number)
                       (pair->value, pair->value_len, &n);

    return is_number && n >= row->min && n <= row->max ? (int) n : -1;
}


static jpp_code_t
jpp_control_set(jpp_control_t *control, jpp_args_t *args,
    const jpp_query_t *pair, uint32_t *seen, jpp_err_t *err)
{
    int                      *field, value;
    size_t                    key;
    const jpp_control_row_t  *row;

    /* "&&", and a form that ends in "&" */

    if (pair->key_len == 0 && pair->value_len == 0) {
        return JPP_OK;
    }

    for (key = 0;
         key < JPP_CONTROL_KEYS
         && !jpp_control_is(jpp_control_name(key), pair->key, pair->key_len);
         key++)
    {
        /* void */
    }

    if (key == JPP_CONTROL_KEYS) {
        return jpp_control_unknown(err);
    }

    if (*seen & 1U << key) {
        return jpp_err_set(err, JPP_ERR_ARG, "%s is given twice: give it once",
                           jpp_control_name(key));
    }

    *seen |= 1U << key;

    if (key >= JPP_CONTROLS) {
        return jpp_args_set(args, pair->key, pair->key_len, pair->value,
                            pair->value_len, err);
    }

    row = &jpp_control_rows[key];
    field = jpp_control_field(control, row);

    if (*field != row->none) {
        return JPP_OK;
    }

    value = jpp_control_value(row, pair);

    if (value == -1) {
        return jpp_err_set(err, JPP_ERR_ARG, "%s", row->allowed);
    }

    *field = value;

    return JPP_OK;
}


jpp_code_t
jpp_control_query(jpp_control_t *control, jpp_args_t *args,
    const char *text, size_t len, jpp_err_t *err)
{
    uint32_t      seen;
    jpp_code_t    rc;
    jpp_query_t   query;

    seen = 0;
    rc = jpp_query_init(&query, text, len, err);

    while (rc == JPP_OK && jpp_query_next(&query)) {
        rc = jpp_control_set(control, args, &query, &seen, err);
    }

    if (rc == JPP_OK && query.has_unread) {
        rc = jpp_control_unknown(err);
    }

    return rc;
}


jpp_code_t
jpp_control_check(const jpp_control_t *control, jpp_err_t *err)
{
    size_t         i;
    unsigned       n;
    jpp_control_t  copy;

    copy = *control;
    n = 0;

    for (i = 0; i < JPP_CONTROL_ACKNOWLEDGE && n == 0; i++) {
        n += *jpp_control_field(&copy, &jpp_control_rows[i])
             != jpp_control_rows[i].none;
    }

    n += control->acknowledge != -1;
    n += control->snapshot != 0;

    if (n == 1) {
        return JPP_OK;
    }

    if (n != 0) {
        return jpp_err_set(err, JPP_ERR_ARG, "acknowledge is about a finding, "
                           "snapshot about nginx, and the rest about workers: "
                           "send a request for each");
    }

    return jpp_err_set(err, JPP_ERR_ARG,
                       "nothing to change: send active=on, active=off, "
                       "sampler=on, sampler=off, lg_sample= and a number from "
                       "%d to %d, stall= and a time, stall=off, owners=on, "
                       "owners=off, reset=1, purge=1, or several of them "
                       "joined by &; or acknowledge= and the id of a finding; "
                       "or snapshot=1",
                       JPP_JEMALLOC_LG_MIN, JPP_JEMALLOC_LG_MAX);
}


const char *
jpp_control_text(const jpp_control_t *control, char text[JPP_CONTROL_TEXT])
{
    int                       value, i;
    jpp_control_t             copy;
    const jpp_control_row_t  *row;

    copy = *control;
    text[0] = '\0';

    jpp_each(row, jpp_control_rows, JPP_CONTROLS) {
        value = *jpp_control_field(&copy, row);

        if (value == row->none) {
            continue;
        }

        for (i = 0; row->words != NULL && row->words[i] != NULL && i < value;
             i++)
        {
            /* void */
        }

        jpp_text_add(text, JPP_CONTROL_TEXT, "%s%s=",
                     text[0] != '\0' ? "&" : "", row->key);

        if (row->words != NULL && row->words[i] != NULL) {
            jpp_text_add(text, JPP_CONTROL_TEXT, "%s", row->words[i]);

        } else {
            jpp_text_add(text, JPP_CONTROL_TEXT, "%d%s", value,
                         row->is_time ? "ms" : "");
        }
    }

    return text;
}


void
jpp_control_preview(const jpp_control_t *control, jpp_worker_t *worker)
{
    jpp_jemalloc_t  *jemalloc;

    jemalloc = &worker->jemalloc;

    if (control->sampler != -1) {
        worker->sampler.is_on = control->sampler == 1;
    }

    if (control->sampler_lg != -1) {
        worker->sampler.lg_sample = (uint32_t) control->sampler_lg;
    }

    /* a profiler that is not there, or says no, will not be changed either */

    if (jemalloc->state < JPP_JEMALLOC_INACTIVE) {
        return;
    }

    if (control->active != -1) {
        jemalloc->active = control->active;
        jemalloc->state = control->active ? JPP_JEMALLOC_READY
                                          : JPP_JEMALLOC_INACTIVE;
    }

    if (control->lg_sample != -1) {
        jemalloc->lg_sample = control->lg_sample;
    }
}


/* a process without a source has no rate */

static void
jpp_control_json_state(jpp_json_t *json, const char *key,
    const jpp_control_state_t *state)
{
    jpp_json_open(json, key, '{');

    jpp_json_str(json, "source", jpp_source_name(state->source));
    jpp_json_bool(json, "active", state->active);

    jpp_json_known(json, "lg_sample", state->source != JPP_SOURCE_NONE
                                      ? state->lg_sample : JPP_NONE);
    jpp_json_close(json, '}');
}


void
jpp_control_json(const jpp_controlled_t *workers, size_t n, jpp_sink_t *sink)
{
    size_t                       n_answered;
    jpp_json_t                   json;
    const jpp_controlled_t      *worker;
    const jpp_control_result_t  *result;

    n_answered = 0;

    jpp_each(worker, workers, n) {
        n_answered += worker->error == NULL;
    }

    jpp_json_init(&json, sink);

    jpp_json_open(&json, NULL, '{');

    jpp_json_u64(&json, "asked", n);
    jpp_json_u64(&json, "answered", n_answered);

    jpp_json_open(&json, "workers", '[');

    jpp_each(worker, workers, n) {
        result = &worker->result;

        jpp_json_open(&json, NULL, '{');

        jpp_json_identity(&json, &worker->who);

        jpp_control_json_state(&json, "before", &result->before);
        jpp_control_json_state(&json, "after", &result->after);

        jpp_json_known(&json, "purged", result->purged);
        jpp_json_known(&json, "stall_ms", worker->stall != 0 ? worker->stall
                                                             : JPP_NONE);
        jpp_json_bool(&json, "owners", worker->has_owners);
        jpp_json_str(&json, "error", worker->error);

        jpp_json_close(&json, '}');
    }

    jpp_json_close(&json, ']');
    jpp_json_close(&json, '}');
}


/* of a word: the value and one, 0 for none; above it the change's number */
#define JPP_SETTINGS_BITS  20
#define JPP_SETTINGS_MASK  ((1ul << JPP_SETTINGS_BITS) - 1)


_Static_assert(JPP_CONTROL_MAX_STALL + 1 <= JPP_SETTINGS_MASK,
               "a setting fits into its bits");


/* The rows before reset are settings, and so is what has no key. */

static int *
jpp_settings_value(jpp_control_t *control, size_t i)
{
    return i < JPP_CONTROL_RESET
           ? jpp_control_field(control, &jpp_control_rows[i])
           : &control->sampler_lg;
}


void
jpp_settings_get(const jpp_settings_t *settings, jpp_control_t *control)
{
    size_t         i;
    unsigned long  word;

    for (i = 0; i < JPP_SETTINGS; i++) {
        word = jpp_atomic_get(&settings->words[i]);

        *jpp_settings_value(control, i) = (int) (word & JPP_SETTINGS_MASK) - 1;
    }
}


void
jpp_settings_set(jpp_settings_t *settings, const jpp_control_t *control,
    jpp_settings_change_t *change)
{
    int             value;
    size_t          i;
    unsigned long   number;
    jpp_control_t   copy;

    copy = *control;
    number = __atomic_add_fetch(&settings->n_changes, 1, __ATOMIC_RELAXED);

    memset(change, 0, sizeof(jpp_settings_change_t));

    for (i = 0; i < JPP_SETTINGS; i++) {
        value = *jpp_settings_value(&copy, i);

        if (value != -1) {
            change->is[i] = number << JPP_SETTINGS_BITS
                            | (unsigned long) (value + 1);
            change->was[i] = __atomic_exchange_n(&settings->words[i],
                                                 change->is[i],
                                                 __ATOMIC_ACQ_REL);
        }
    }
}


/* A word that CHANGE has not set may be 0, and then stays so. */

void
jpp_settings_take_back(jpp_settings_t *settings,
    const jpp_settings_change_t *change)
{
    size_t         i;
    unsigned long  is;

    for (i = 0; i < JPP_SETTINGS; i++) {
        is = change->is[i];

        (void) jpp_atomic_cmp_set(&settings->words[i], &is, change->was[i]);
    }
}

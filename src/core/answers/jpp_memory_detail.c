
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "jpp_arenas.h"
#include "jpp_memory_detail.h"
#include "jpp_memory_ledger.h"


#define JPP_MEMORY_KEY  64


static const char *const  jpp_memory_details[] = {
    [JPP_DETAIL_LEDGER] = "ledger",
    [JPP_DETAIL_SMAPS] = "smaps",
    [JPP_DETAIL_ARENAS] = "arenas"
};


#define JPP_MEMORY_NAME(name, ctl)  #name,

static const char *const  jpp_memory_smaps_names[] = {
    JPP_USAGE_SMAPS(JPP_MEMORY_NAME)
};

static const char *const  jpp_memory_arena_names[] = {
    JPP_ARENAS_ARENA(JPP_MEMORY_NAME)
};

static const char *const  jpp_memory_bin_names[] = {
    JPP_ARENAS_BIN(JPP_MEMORY_NAME)
};

static const char *const  jpp_memory_large_names[] = {
    JPP_ARENAS_LARGE(JPP_MEMORY_NAME)
};

#define JPP_MEMORY_NAMES(names)  names, sizeof(names) / sizeof((names)[0])


static const jpp_memory_answer_t *
jpp_memory_answer(const jpp_memory_t *memory, const jpp_identity_t *who)
{
    size_t  i;

    for (i = 0; i < memory->n_answers; i++) {

        if (memory->answers[i].who.pid == who->pid
            && memory->answers[i].who.generation == who->generation)
        {
            return &memory->answers[i];
        }
    }

    return NULL;
}


static bool
jpp_memory_smaps(jpp_usage_smaps_t *smaps, const jpp_memory_answer_t *answer,
    jpp_err_t *err)
{
    if (!jpp_memory_has_data(answer, err)) {
        return false;
    }

    if (answer->len != sizeof(jpp_usage_smaps_t)) {
        (void) jpp_err_set(err, JPP_ERR_INPUT,
                           "what it sent is no smaps_rollup, or one of another "
                           "version of this module");
        return false;
    }

    memcpy(smaps, answer->data, sizeof(jpp_usage_smaps_t));

    return true;
}


static void
jpp_memory_number(jpp_json_t *json, const char *key, uint64_t value)
{
    if (value == JPP_NONE) {
        jpp_json_null(json, key);

    } else {
        jpp_json_u64(json, key, value);
    }
}


static void
jpp_memory_smaps_json(jpp_json_t *json, const jpp_memory_answer_t *answer)
{
    size_t              i;
    jpp_err_t           err;
    const uint64_t     *values;
    jpp_usage_smaps_t   smaps;

    if (!jpp_memory_smaps(&smaps, answer, &err)) {
        jpp_json_null(json, "smaps");
        return;
    }

    values = (const uint64_t *) (const void *) &smaps;

    jpp_json_open(json, "smaps", '{');

    for (i = 0; i < sizeof(smaps) / sizeof(uint64_t); i++) {
        jpp_memory_number(json, jpp_memory_smaps_names[i], values[i]);
    }

    jpp_json_close(json, '}');
}


static bool
jpp_memory_arenas(jpp_arenas_t *arenas, const jpp_memory_answer_t *answer,
    jpp_err_t *err)
{
    return jpp_memory_has_data(answer, err)
           && jpp_arenas_load(arenas, answer->data, answer->len, err)
              == JPP_OK;
}


static void
jpp_memory_table(jpp_json_t *json, const char *key, const uint64_t *values,
    size_t n, const char *const *names, size_t n_names)
{
    size_t  i, k;

    jpp_json_open(json, key, '[');

    for (i = 0; i < n; i++) {
        jpp_json_open(json, NULL, '{');

        for (k = 0; k < n_names; k++) {
            jpp_memory_number(json, names[k], values[i * n_names + k]);
        }

        jpp_json_close(json, '}');
    }

    jpp_json_close(json, ']');
}


static void
jpp_memory_arenas_json(jpp_json_t *json, const jpp_memory_answer_t *answer)
{
    jpp_err_t     err;
    jpp_arenas_t  arenas;

    if (!jpp_memory_arenas(&arenas, answer, &err)) {
        jpp_json_null(json, "arenas");
        return;
    }

    jpp_json_open(json, "arenas", '{');

    jpp_memory_table(json, "arenas", (const void *) arenas.arenas,
                     arenas.n_arenas,
                     JPP_MEMORY_NAMES(jpp_memory_arena_names));
    jpp_memory_table(json, "bins", (const void *) arenas.bins, arenas.n_bins,
                     JPP_MEMORY_NAMES(jpp_memory_bin_names));
    jpp_memory_table(json, "larges", (const void *) arenas.larges,
                     arenas.n_larges,
                     JPP_MEMORY_NAMES(jpp_memory_large_names));

    jpp_json_close(json, '}');
}


void
jpp_memory_detail_json(jpp_json_t *json, const jpp_memory_t *memory,
    const jpp_identity_t *who)
{
    jpp_memory_answer_t         none;
    const jpp_memory_answer_t  *answer;

    memset(&none, 0, sizeof(jpp_memory_answer_t));

    answer = jpp_memory_answer(memory, who);

    if (answer == NULL) {
        answer = &none;
    }

    switch (memory->detail) {

    case JPP_DETAIL_LEDGER:
        jpp_memory_ledger_json(json, answer);
        return;

    case JPP_DETAIL_SMAPS:
        jpp_memory_smaps_json(json, answer);
        return;

    case JPP_DETAIL_ARENAS:
        jpp_memory_arenas_json(json, answer);
        return;

    case JPP_DETAIL_NONE:
        return;
    }
}


void
jpp_memory_detail_why(jpp_json_t *json, const jpp_memory_t *memory)
{
    bool                        has;
    char                        key[JPP_MEMORY_KEY];
    size_t                      i;
    jpp_err_t                   err;
    jpp_arenas_t                arenas;
    jpp_ledger_read_t           ledger;
    jpp_usage_smaps_t           smaps;
    const jpp_memory_answer_t  *answer;

    if (memory->detail == JPP_DETAIL_NONE) {
        return;
    }

    if (memory->refused != NULL) {
        jpp_json_str(json, jpp_memory_details[memory->detail],
                     memory->refused);
        return;
    }

    for (i = 0; i < memory->n_answers; i++) {
        answer = &memory->answers[i];

        has = memory->detail == JPP_DETAIL_LEDGER
              ? jpp_memory_ledger_of(&ledger, answer, &err)
              : memory->detail == JPP_DETAIL_SMAPS
                ? jpp_memory_smaps(&smaps, answer, &err)
                : jpp_memory_arenas(&arenas, answer, &err);

        if (has && (memory->detail != JPP_DETAIL_LEDGER
                    || ledger.facts.why[0] == '\0'))
        {
            continue;
        }

        (void) snprintf(key, sizeof(key), "%s%s of pid %" PRId64,
                        jpp_memory_details[memory->detail],
                        has ? ".pages" : "", answer->who.pid);

        jpp_json_str(json, key, has ? ledger.facts.why : err.text);
    }
}

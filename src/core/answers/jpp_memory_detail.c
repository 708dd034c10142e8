
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "jpp_memory_detail.h"
#include "jpp_memory_ledger.h"


#define JPP_MEMORY_KEY  64


static const char *const  jpp_memory_details[] = {
    [JPP_DETAIL_LEDGER] = "ledger",
    [JPP_DETAIL_SMAPS] = "smaps",
    [JPP_DETAIL_ARENAS] = "arenas"
};


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


/* What the kernel or jemalloc wrote, as it is. */

static void
jpp_memory_text_json(jpp_json_t *json, const char *key,
    const jpp_memory_answer_t *answer)
{
    if (answer->data == NULL) {
        jpp_json_null(json, key);

    } else {
        jpp_json_bytes(json, key, answer->data, answer->len);
    }
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
    case JPP_DETAIL_ARENAS:
        jpp_memory_text_json(json, jpp_memory_details[memory->detail], answer);
        return;

    case JPP_DETAIL_NONE:
        return;
    }
}


void
jpp_memory_detail_why(jpp_json_t *json, const jpp_memory_t *memory)
{
    bool                        has, is_ledger;
    char                        key[JPP_MEMORY_KEY];
    size_t                      i;
    jpp_err_t                   err;
    jpp_ledger_read_t           ledger;
    const jpp_memory_answer_t  *answer;

    if (memory->detail == JPP_DETAIL_NONE) {
        return;
    }

    if (memory->refused != NULL) {
        jpp_json_str(json, jpp_memory_details[memory->detail],
                     memory->refused);
        return;
    }

    is_ledger = memory->detail == JPP_DETAIL_LEDGER;

    for (i = 0; i < memory->n_answers; i++) {
        answer = &memory->answers[i];

        has = is_ledger ? jpp_memory_ledger_of(&ledger, answer, &err)
                        : jpp_memory_has_data(answer, &err);

        if (has && (!is_ledger || ledger.facts.why[0] == '\0')) {
            continue;
        }

        (void) snprintf(key, sizeof(key), "%s%s of pid %" PRId64,
                        jpp_memory_details[memory->detail],
                        has ? ".pages" : "", answer->who.pid);

        jpp_json_str(json, key, has ? ledger.facts.why : err.text);
    }
}


/* Any bytes as what a worker answers to a question for details. */

#include "jpp_arena.h"
#include "jpp_fuzz.h"
#include "jpp_memory.h"
#include "jpp_memory_detail.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t              buffer[512];
    uint64_t            *copy;
    jpp_json_t           json;
    jpp_sink_t           sink;
    jpp_arena_t          arena;
    jpp_memory_t         memory = { .n_answers = 1 };
    jpp_memory_answer_t  answer = { .len = size };

    jpp_arena_init(&arena, JPP_FUZZ_MEMORY);

    /* the file of an answer is aligned to a page */

    copy = jpp_arena_alloc(&arena, size + 1);
    memcpy(copy, data, size);

    answer.data = (const char *) copy;
    memory.answers = &answer;
    memory.arena = &arena;

    for (memory.detail = JPP_DETAIL_LEDGER;
         memory.detail != JPP_DETAIL_NONE;
         memory.detail++)
    {
        jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_fuzz_discard,
                      NULL);
        jpp_json_init(&json, &sink);

        jpp_memory_detail_json(&json, &memory, &answer.who);
        jpp_memory_detail_why(&json, &memory);
    }

    jpp_arena_destroy(&arena);

    return 0;
}


/* Any bytes as what a worker answers to a question for details. */

#include "jpp_answers.h"
#include "jpp_fuzz.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t              buffer[512];
    uint64_t            *copy;
    jpp_args_t           args;
    jpp_sink_t           sink;
    jpp_arena_t          arena;
    jpp_worker_t         worker = { .started = 0 };
    jpp_fleet_t          fleet = { .workers = &worker, .n = 1 };
    jpp_telemetry_t      telemetry = { .fleet = &fleet };
    jpp_memory_t         memory = { .telemetry = &telemetry, .n_answers = 1 };
    jpp_memory_answer_t  answer = { .len = size };

    jpp_arena_init(&arena, JPP_FUZZ_MEMORY);
    jpp_args_init(&args, &jpp_memory_words, &jpp_memory_words);

    args.values[JPP_ARG_FIELDS] = 1u << JPP_FIELD_TOTAL
                                  | 1u << JPP_FIELD_WORKERS
                                  | 1u << JPP_FIELD_UNAVAILABLE;

    /* the file of an answer is aligned to a page */

    copy = jpp_arena_alloc(&arena, size + 1);
    memcpy(copy, data, size);

    answer.data = (const char *) copy;
    memory.answers = &answer;
    memory.arena = &arena;
    memory.args = &args;

    for (memory.detail = JPP_DETAIL_LEDGER;
         memory.detail != JPP_DETAIL_NONE;
         memory.detail++)
    {
        jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_fuzz_discard, NULL);

        (void) jpp_memory_write(&memory, &sink);
    }

    jpp_arena_destroy(&arena);

    return 0;
}


/*
 * Any bytes as the tables of two workers that were asked for their largest
 * requests.  The last byte says what the list is by, and its form.
 */

#include "jpp_answers.h"
#include "jpp_fuzz.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char              query[64];
    uint8_t           last;
    jpp_args_t        args;
    jpp_arena_t       arena;
    jpp_words_t       none = jpp_words_top;
    jpp_requests_t    requests;
    jpp_identity_t    who = { 0, 1, 1 };

    last = size != 0 ? data[--size] : 0;

    (void) snprintf(query, sizeof(query), "by=%s&top=%u%s",
                    last & 0x20 ? "connection" : "request", 1 + last % 4,
                    last & 0x80 ? "&format=json" : "");

    jpp_args_init(&args, &jpp_words_top, &none);
    jpp_arena_init(&arena, JPP_FUZZ_MEMORY);

    if (jpp_args_query(&args, query, strlen(query), NULL) != JPP_OK
        || !jpp_requests_init(&requests, &arena, &args))
    {
        abort();
    }

    requests.has_clients = last & 0x40;

    if (jpp_requests_add(&requests, &who, (const char *) data, size)
        && jpp_requests_add(&requests, &who, (const char *) data, size))
    {
        (void) jpp_requests_write(&requests, jpp_fuzz_sink());
    }

    jpp_arena_destroy(&arena);
    return 0;
}

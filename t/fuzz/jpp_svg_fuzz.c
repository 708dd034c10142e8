
#include "jpp_fuzz.h"
#include "jpp_report.h"


/* Lines are names of functions, the root first; nothing of them is markup. */

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t          len;
    uint8_t        *pos;
    int64_t         values[JPP_HEAP_COLUMNS] = { 0 };
    jpp_args_t      args;
    jpp_view_t      view = { 0 };
    jpp_sink_t      sink;
    jpp_arena_t     arena;
    jpp_profile_t   profile;

    static uint8_t  buffer[1 << 20];

    jpp_arena_init(&arena, 64 << 20);
    jpp_parser_init(&jpp_parser_heap, &profile, &arena);
    jpp_profile_count(&profile);
    jpp_args_init(&args, &jpp_format_words, jpp_parser_heap.types);

    values[JPP_HEAP_INUSE_SPACE] = 1000;

    for ( /* void */ ; size != 0 && profile.n_samples < 64; data += len) {

        /* a line is a byte at least: a frame has a name */

        for (len = 1; len < size && data[len] != '\n'; len++) { /* void */ }

        pos = jpp_profile_begin(&profile, 0, 1);
        pos = jpp_profile_push(pos, jpp_profile_frame(&profile, 0,
                                                      (const char *) data,
                                                      len));
        jpp_profile_end(&profile, pos);
        (void) jpp_profile_commit(&profile, NULL, values);
        size -= len;
    }

    view.profile = &profile;
    view.args = &args;
    view.title = "";
    jpp_sink_init(&sink, buffer, sizeof(buffer) - 1, NULL, NULL);

    if (!jpp_svg_write(&view, &sink)) {
        abort();
    }

    *sink.pos = '\0';

    if (strstr((char *) buffer, "<script") != NULL
        || strchr((char *) buffer, 0x1b) != NULL)
    {
        abort();
    }

    jpp_arena_destroy(&arena);

    return 0;
}

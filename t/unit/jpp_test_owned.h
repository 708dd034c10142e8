
/*
 * For tests of owners: a heap whose samples have labels, and what formats make
 * of it.
 */


#ifndef _JPP_TEST_OWNED_H_INCLUDED_
#define _JPP_TEST_OWNED_H_INCLUDED_


#include "jpp_test_dump.h"


/* bytes of a long name: those of a word of a configuration */
#define JPP_OWNED_LONG  4095


typedef struct {
    const char   *server;      /* NULL: no label */
    const char   *location;
    const char   *upstream;
    const char   *stack;       /* leaf first, by blanks */
    int64_t       bytes;
    int64_t       seen;
} jpp_owned_stack_t;


static inline void
jpp_owned_push(jpp_profile_t *profile, const jpp_owned_stack_t *from)
{
    uint32_t     set;
    jpp_label_t  labels[3] = { 0 };

    labels[0].key = "server";
    labels[0].str = from->server != NULL ? from->server : "";
    labels[1].key = "location";
    labels[1].str = from->location != NULL ? from->location : "";
    labels[2].key = "upstream";
    labels[2].str = from->upstream != NULL ? from->upstream : "";

    (void) jpp_profile_labels(profile, 0, 0, labels, 3, &set);
    jpp_test_stack(profile, set, from->stack);
}


/* The PROFILE of what is FROM, IN an arena, as new; at first it is zeroed. */
static inline void
jpp_owned_fill(jpp_profile_t *profile, jpp_arena_t *in,
    const jpp_owned_stack_t *from)
{
    int64_t  values[JPP_HEAP_COLUMNS] = { 0 };

    jpp_arena_fresh(in, JPP_TEST_CAP);
    (void) jpp_parser_init(&jpp_parser_heap, profile, in);
    (void) jpp_profile_count(profile);

    profile->period = 16384;
    profile->time_nanos = 1;

    for ( /* void */ ; from->stack != NULL; from++) {

        jpp_owned_push(profile, from);

        values[JPP_HEAP_INUSE_OBJECTS] = from->seen;
        values[JPP_HEAP_INUSE_SPACE] = from->bytes;
        values[JPP_HEAP_INUSE_SAMPLES] = from->seen;
        values[JPP_HEAP_INUSE_DOUBT] = from->seen * JPP_DOUBT_ONE;

        (void) jpp_profile_commit(profile, NULL, values);
        profile->n_seen[1] += (uint64_t) from->seen;
    }
}


/*
 * PROFILE in the format of the query, as a report has it; NULL: the writer has
 * failed.  *LEN may be NULL.
 */
static inline const char *
jpp_owned_text(jpp_profile_t *profile, const char *query, size_t *len)
{
    jpp_view_t             view = { 0 };
    jpp_sink_t             sink;
    jpp_report_options_t   options;
    const jpp_format_t    *format;

    options = jpp_test_options(query);
    format = jpp_format_of(&options.args);

    view.profile = profile;
    view.args = &options.args;
    view.title = "title";
    view.level = 1;

    if (options.args.is_set[JPP_ARG_BY] && !format->has_owners
        && !jpp_roots_add(profile, (jpp_by_t)
                          options.args.values[JPP_ARG_BY]))
    {
        return NULL;
    }

    jpp_test_sink(&sink, profile->arena);

    if (!format->write(&view, &sink) || jpp_sink_flush(&sink) != 0) {
        return NULL;
    }

    if (len != NULL) {
        *len = sink.total;
    }

    return jpp_test_text(&sink);
}


#endif /* _JPP_TEST_OWNED_H_INCLUDED_ */


#include "jpp_test_dump.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"


typedef struct {
    const char   *stack;       /* leaf first, by blanks */
    int64_t       objects;
    int64_t       bytes;
    int64_t       seen;
    int64_t       doubt;       /* per cent of one */
} jpp_top_stack_t;


static const jpp_top_stack_t  stacks[] = {
    { "ngx_alloc ngx_palloc handler main", 10, 10240, 10, 0 },
    { "ngx_alloc ngx_create_pool accept main", 1, 4096, 1, 0 },
    { "handler main", 4, 1024, 1, 100 },
    { "strdup", 1, 16, 1, 0 },
    { NULL, 0, 0, 0, 0 }
};


typedef struct {
    const char              *name;
    const char              *args;
    const jpp_top_stack_t   *stacks;
    bool                     is_difference;
} jpp_top_case_t;


static const jpp_top_stack_t  changes[] = {
    { "a main", 0, -1, 0, 0 },
    { "b main", 1024, 1048576, 4, 400 },
    { "c main", -2, -300, -1, -50 },
    { "d main", 1, -20, 1, 0 },
    { "e main", 0, 40, 0, 0 },
    { NULL, 0, 0, 0, 0 }
};


static const jpp_top_case_t  cases[] = {
    { "callers, by flat", "", stacks, false },
    { "callers, by cum", "sort=cum&callers=1", stacks, false },
    { "all frames, two rows", "callers=0&n=2", stacks, false },
    { "one row less than there are", "n=3", stacks, false },
    { "objects", "type=inuse_objects&n=1", stacks, false },
    { "a difference", "", changes, true }
};


static jpp_profile_t  profile;


void
jpp_before_each(void)
{
    jpp_parser_init(&jpp_parser_heap, &profile, &arena);
}


static void
jpp_top_fill(const jpp_top_stack_t *from)
{
    int64_t  values[JPP_HEAP_COLUMNS] = { 0 };

    if (profile.n_samples == 0) {
        (void) jpp_profile_count(&profile);
        profile.period = 16384;
    }

    for ( /* void */ ; from->stack != NULL; from++) {
        jpp_test_stack(&profile, 0, from->stack);

        values[JPP_HEAP_INUSE_OBJECTS] = from->objects;
        values[JPP_HEAP_INUSE_SPACE] = from->bytes;
        values[JPP_HEAP_INUSE_SAMPLES] = from->seen;
        values[JPP_HEAP_INUSE_DOUBT] = from->doubt * JPP_DOUBT_ONE / 100;

        (void) jpp_profile_commit(&profile, NULL, values);
        profile.n_seen[1] += (uint64_t) from->seen;
    }
}


static const char *
jpp_top_text(bool (*write)(const jpp_view_t *view, jpp_sink_t *sink),
    const char *args)
{
    jpp_view_t             view = { 0 };
    jpp_sink_t             sink;
    jpp_report_options_t   options;

    options = jpp_test_options(args);

    view.profile = &profile;
    view.args = &options.args;

    if (profile.default_type == 0 || options.args.is_set[JPP_ARG_TYPE]) {
        profile.default_type = options.args.values[JPP_ARG_TYPE];
    }

    jpp_test_sink(&sink, profile.arena);
    jpp_ok(write(&view, &sink), "written");

    return jpp_test_text(&sink);
}


JPP_TEST(jpp_functions_test_cases)
{
    size_t  i;

    for (i = 0; i < jpp_nelts(cases); i++) {
        jpp_test_begin();
        jpp_top_fill(cases[i].stacks);
        profile.is_difference = cases[i].is_difference;

        jpp_shows(jpp_top_text(jpp_functions_write, cases[i].args),
                  "%s: top", cases[i].name);
        jpp_shows(jpp_top_text(jpp_folded_write, cases[i].args),
                  "%s: folded", cases[i].name);
    }
}


/* Nothing has no table. */

JPP_TEST(jpp_functions_test_empty)
{
    static const jpp_value_type_t  types[] = {
        { "stalls", "count", false, 0, 0 },
        { "delay", "nanoseconds", false, 0, 0 }
    };

    (void) jpp_profile_init(&profile, &arena, types, 2);
    profile.period_unit = "nanoseconds";
    (void) jpp_profile_count(&profile);

    profile.default_type = 1;

    jpp_is_str(jpp_top_text(jpp_functions_write, ""), "delay: 0 ns in 0 "
               "stacks, estimated from 0 samples\n", "a line, and no head");
}


/* Time is shown as such, and what allocates takes its own. */

JPP_TEST(jpp_functions_test_time)
{
    size_t  i;

    static const jpp_value_type_t  types[] = {
        { "samples", "count", false, 0, 0 },
        { "cpu", "nanoseconds", false, 0, 0 }
    };

    static const struct {
        const char  *stack;
        int64_t      values[4];            /* and samples, and their doubt */
    } rows[] = {
        { "malloc handler main", { 90, 900000000, 90, 90 * JPP_DOUBT_ONE } },
        { "epoll_wait main", { 10, 100000000, 10, 10 * JPP_DOUBT_ONE } }
    };

    (void) jpp_profile_init(&profile, &arena, types, 2);
    (void) jpp_profile_count(&profile);

    profile.default_type = 1;
    profile.period_type = "cpu";
    profile.period_unit = "nanoseconds";
    profile.period = 10000000;
    profile.n_seen[0] = 100;

    for (i = 0; i < jpp_nelts(rows); i++) {
        jpp_test_stack(&profile, 0, rows[i].stack);
        (void) jpp_profile_commit(&profile, NULL, rows[i].values);
    }

    jpp_shows(jpp_top_text(jpp_functions_write, ""), "a profile of time");

    jpp_is_str(jpp_top_text(jpp_folded_write, "callers=1"),
               "main;handler;malloc 900000000\nmain;epoll_wait 100000000\n",
               "which has no callers to blame");
}


/* As many rows as requested, and fifty by default. */

JPP_TEST(jpp_functions_test_many)
{
    char              name[16];
    size_t            i, k, n;
    const char       *p;
    jpp_top_stack_t   one[2] = { { name, 1, 1, 1, 0 }, { NULL, 0, 0, 0, 0 } };

    static const struct {
        const char  *args;
        size_t       n;
        const char  *more;
    } rows[] = {
        { "", 50, "\n951 more functions\n" },
        { "n=1", 1, "\n1000 more functions\n" },
        { "n=1000", 1000, "\n1 more function\n" }
    };

    for (i = 0; i < 1001; i++) {
        jpp_print(name, "f%zu", i);
        one[0].bytes = (int64_t) i + 1;
        jpp_top_fill(one);
    }

    for (i = 0; i < jpp_nelts(rows); i++) {
        p = jpp_top_text(jpp_functions_write, rows[i].args);

        jpp_has(p, rows[i].more, "\"%s\"", rows[i].args);

        for (n = 0, k = 0; p[k] != '\0'; k++) {
            n += p[k] == '\n';
        }

        jpp_is_u64(n, rows[i].n + 3, "its lines");
    }
}


/* Whichever allocation fails, false is the result. */

JPP_TEST(jpp_functions_test_memory)
{
    size_t      i;
    jpp_view_t  view = { 0 };
    jpp_sink_t  sink;
    jpp_args_t  args;

    static bool (*const writers[])(const jpp_view_t *, jpp_sink_t *) = {
        jpp_functions_write, jpp_folded_write
    };

    jpp_top_fill(stacks);

    view.profile = &profile;
    view.args = &args;

    jpp_args_init(&args, &jpp_format_words, jpp_parser_heap.types);
    args.is_set[JPP_ARG_CALLERS] = true;

    for (i = 0; i < jpp_nelts(writers); i++) {
        jpp_denies(&arena, jpp_test_sink(&sink, &arena), 1,
                   jpp_done_code(writers[i](&view, &sink) && sink.error == 0));
    }
}

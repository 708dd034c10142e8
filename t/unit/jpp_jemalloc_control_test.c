
/*
 * Changes: what was set, what was refused, what was forgotten and given back.
 * See jpp_test_jemalloc.h.
 */

#define JPP_PROGRAM  "jpp_jemalloc_control_test"

#include "jpp_control.h"
#include "jpp_test_jemalloc.h"


/* what is freed before a purge, and stays with jemalloc until then */
#define JPP_FREED         (64 << 20)
#define JPP_KEEP          "dirty_decay_ms:-1,muzzy_decay_ms:-1"


static jpp_code_t
jpp_part_apply(const char *text, jpp_control_result_t *result, jpp_err_t *err)
{
    jpp_code_t      rc;
    jpp_args_t      args;
    jpp_control_t   control;

    memset(result, 0x55, sizeof(jpp_control_result_t));

    jpp_args_init(&args, &jpp_format_words, jpp_parser_heap.types);
    jpp_control_init(&control);

    rc = jpp_control_query(&control, &args, text, strlen(text), err);

    return rc == JPP_OK ? jpp_source_control(&control, result, err) : rc;
}


/* What a change does, "CODE, BEFORE, AFTER, RESIDENT to RESIDENT: WHY". */

static void
jpp_part_tell(const char *text)
{
    jpp_err_t             err;
    jpp_code_t            rc;
    jpp_stats_t           before, after;
    jpp_control_result_t  result;

    (void) jpp_stats_read(&before);
    rc = jpp_part_apply(text, &result, &err);

    printf("%d", rc);

    if (result.before.source == JPP_SOURCE_JEMALLOC) {
        printf(", %s %u, %s %u",
               result.before.active ? "on" : "off", result.before.lg_sample,
               result.after.active ? "on" : "off", result.after.lg_sample);

    } else {
        printf(", none");
    }

    if (rc == JPP_OK && strstr(text, "purge=1") != NULL
        && jpp_stats_read(&after))
    {
        printf(", %" PRIu64 " to %" PRIu64, before.resident, after.resident);
    }

    printf("%s%s\n", rc != JPP_OK ? ": " : "", rc != JPP_OK ? err.text : "");
}


static void *
jpp_part_control_thread(void *data)
{
    const char  **text = data;

    jpp_part_tell(*text);

    return NULL;
}


/* As in a worker: in a thread that is not the first. */

static void
jpp_part_control(void)
{
    pthread_t  thread;

    pthread_create(&thread, NULL, jpp_part_control_thread, &jpp_argument);
    pthread_join(thread, NULL);
}


static void
jpp_part_forget(void)
{
    jpp_err_t             err;
    jpp_control_result_t  result;

    jpp_part_hold();

    if (jpp_part_apply(jpp_argument, &result, &err) == JPP_OK) {
        jpp_part_capture("");
    }

    printf("\n");
}


static void
jpp_part_purge(void)
{
    size_t  i;

    static void  *blocks[JPP_FREED / JPP_BLOCK];

    for (i = 0; i < JPP_FREED / JPP_BLOCK; i++) {
        blocks[i] = malloc(JPP_BLOCK);
        memset(blocks[i], 1, JPP_BLOCK);
    }

    for (i = 0; i < JPP_FREED / JPP_BLOCK; i++) {
        free(blocks[i]);
    }

    jpp_part_tell(jpp_argument);
}


static const jpp_part_t  jpp_parts[] = {
    { "state",    jpp_part_state },
    { "control",  jpp_part_control },
    { "forget",   jpp_part_forget },
    { "purge",    jpp_part_purge }
};


static void
jpp_tests(void)
{
    size_t     i;
    jpp_run_t  run = { jpp_fake_so, NULL, NULL, "control", NULL };

    static const struct {
        const char    *fake;
        const char    *control;
    } cases[] = {
        { "", "" }, { "", "active=off" }, { "prof.active 0\n", "active=on" },
        { "", "active=on" }, { "", "lg_sample=14" }, { "", "lg_sample=19" },
        { "", "reset=1" }, { "", "reset=1&lg_sample=12&active=off" },
        { "", "purge=1" }, { "", "purge=1&active=off&lg_sample=24" },

        /* without statistics, and without a profiler */

        { "stats.resident -\n", "purge=1" }, { "config.prof 0\n", "purge=1" },
        { "opt.prof 0\n", "purge=1" },
        { "opt.prof_sys_thread_name 1\n", "purge=1" },

        /* the present rate is not set again */

        { "refuse prof.reset\n", "lg_sample=19" },

        /* the first that fails is the last */

        { "refuse prof.reset\n", "lg_sample=14&active=off&purge=1" },
        { "refuse prof.reset\n", "reset=1" },
        { "refuse prof.active\n", "lg_sample=14&active=off&purge=1" },
        { "refuse arena.4096.purge\n", "lg_sample=14&active=off&purge=1" },

        /* without a dump there is no change */

        { "opt.prof 0\n", "active=on&purge=1" },
        { "opt.prof 0\n", "active=off" },
        { "config.prof 0\n", "lg_sample=14" },
        { "opt.prof_sys_thread_name 1\n", "reset=1" },
        { "symbol none\n", "active=on&purge=1" }
    };

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        run.fake = cases[i].fake;
        run.argument = cases[i].control;
        jpp_note("\"%s\", %s: %s", cases[i].fake, cases[i].control,
                 jpp_run(&run));
    }

    jpp_shows_notes("changes of a fake, and what they say");
}


static void
jpp_test_real_forget(void)
{
    size_t       i;
    long long    bytes;
    const char  *got;
    jpp_run_t    run = { JPP_REAL, JPP_CONF, NULL, "forget", NULL };

    static const struct {
        const char    *control;
        bool           is_kept;
    } cases[] = {
        { "active=off", true },
        { "lg_sample=12", true },
        { "purge=1", true },
        { "reset=1", false },
        { "reset=1&lg_sample=12", false },
        { "lg_sample=13", false }
    };

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        run.argument = cases[i].control;
        got = jpp_run(&run);
        bytes = 0;

        jpp_ok(sscanf(got, "read 0: %*d samples of %lld bytes", &bytes) == 1,
               "a dump after %s: %s", cases[i].control, got);
        jpp_ok(cases[i].is_kept ? bytes >= JPP_HELD : bytes < JPP_HELD / 2,
               "what was held before is %s",
               cases[i].is_kept ? "still there" : "forgotten");
    }
}


static void
jpp_test_real_purge(void)
{
    size_t       i;
    long long    before, after;
    const char  *got, *stats;
    jpp_run_t    run = { JPP_REAL, NULL, NULL, "purge", "purge=1" };

    /* a purge needs no profiler */

    static const char  *confs[] = { JPP_KEEP, "prof:true," JPP_KEEP };

    for (i = 0; i < sizeof(confs) / sizeof(confs[0]); i++) {
        run.conf = confs[i];
        got = jpp_run(&run);

        stats = strrchr(got, ',');
        before = after = 0;

        jpp_ok(got[0] == '0' && stats != NULL
               && sscanf(stats, ", %lld to %lld", &before, &after) == 2,
               "a real purge: %s", got);
        jpp_ok(before > JPP_FREED && after < before - JPP_FREED * 3LL / 4,
               "takes most of what was freed");
    }
}


static void
jpp_tests_real(void)
{
    static const jpp_run_t  runs[] = {
        { JPP_REAL, "prof:true", NULL, "control", "active=off" },
        { JPP_REAL, "prof:true,prof_active:false", NULL, "control",
          "active=on" },
        { JPP_REAL, "prof:true,prof_active:false", NULL, "control",
          "active=on&lg_sample=10" },
        { JPP_REAL, "prof:true", NULL, "control", "lg_sample=14" },
        { JPP_REAL, "prof:true", NULL, "control", "lg_sample=24&active=off" },
        { JPP_REAL, "prof:true,lg_prof_sample:14", NULL, "control",
          "lg_sample=14" },
        { JPP_REAL, "prof:true,lg_prof_sample:14", NULL, "control", "reset=1" },
        { JPP_REAL, "prof:true,lg_prof_sample:14", NULL, "control",
          "reset=1&lg_sample=14" },
        { JPP_REAL, NULL, NULL, "control", "active=on" }
    };

    jpp_shows_runs(runs, sizeof(runs) / sizeof(runs[0]), "real changes");
    jpp_test_real_forget();
    jpp_test_real_purge();
}


JPP_TESTS_OF(jpp_parts, jpp_tests, jpp_tests_real)

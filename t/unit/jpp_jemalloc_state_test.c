
/*
 * What jemalloc is there, what it is set to, what it says of itself and of its
 * threads.  See jpp_test_jemalloc.h.
 */

#define JPP_PROGRAM  "jpp_jemalloc_state_test"

#include "jpp_control.h"
#include "jpp_test_jemalloc.h"


/* without two options that came later */
#define JPP_FAKE_521                                                          \
    "version 5.2.1-0-gea6b3e97\n"                                             \
    "opt.prof_sys_thread_name -\nopt.prof_leak_error -\n"


typedef struct {
    const char    *text;             /* options of the fake, or MALLOC_CONF */
    const char    *state;            /* what the part "state" prints of it */
} jpp_case_t;


static void
jpp_part_change(void)
{
    jpp_print(jpp_fake_file, "%s", getenv("JPP_FAKE"));

    jpp_part_state();
    jpp_run_fake("prof.lg_sample 14\nprof.gdump 1\nversion 9.9.9\n"
                 "opt.prof_accum 1\nopt.prof_sys_thread_name 1\n");
    jpp_part_state();
    jpp_run_fake("prof.lg_sample 14\nprof.active 0\n");
    jpp_part_state();
}


static void
jpp_part_stats(void)
{
    jpp_stats_t  stats;

    if (!jpp_stats_read(&stats)) {
        printf("none\n");
        return;
    }

    printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
           " %" PRIu64 "\n",
           stats.allocated, stats.active, stats.metadata, stats.resident,
           stats.mapped, stats.retained);
}


/* one allocation more, large enough to have pages of its own */

static void
jpp_part_details(void)
{
    jpp_stats_t      stats, after;
    void *volatile   p;      /* a compiler may leave malloc() out */

    p = NULL;

    if (!jpp_stats_read(&stats) || stats.dirty == JPP_NONE
        || (p = malloc(1 << 20)) == NULL || !jpp_stats_read(&after))
    {
        printf("unknown\n");
        return;
    }

    printf("%s\n",
           after.large_mallocs == stats.large_mallocs + 1
           && after.large_frees == stats.large_frees
           && after.large >= stats.large + (1 << 20)
           && after.small != JPP_NONE && after.small_mallocs > 0
           && after.small_frees <= after.small_mallocs
           && after.muzzy % 4096 == 0 && after.dirty % 4096 == 0
           && after.dirty_purged != JPP_NONE && after.tcache != JPP_NONE
           && after.arenas >= 1 && after.arenas != JPP_NONE
           && after.threads == 0
           && after.thread_runs == 0
           ? "whole" : "wrong");

    free(p);
}


static void
jpp_part_report(void)
{
    jpp_err_t     err;
    jpp_vec_t    *out;
    const char   *text;
    jpp_arena_t   arena;

    jpp_arena_init(&arena, (size_t) 16 << 20);
    out = jpp_vec_create(&arena);

    if (jpp_stats_report(out, &err) != JPP_OK) {
        printf("none\n");

    } else {
        text = jpp_arena_strndup(&arena, (const char *) out->data, out->len);

        printf("%s\n", text[0] == '{' && strstr(text, "\"jemalloc\":") != NULL
                       && strstr(text, "\"stats.arenas\":") != NULL
                       ? "whole" : "wrong");
    }

    jpp_arena_destroy(&arena);
}


static void *
jpp_part_thread_other(void *data)
{
    bool  *was = data;

    *was = jpp_jemalloc_sample_thread(true);

    return NULL;
}


static void
jpp_part_thread(void)
{
    bool       was[4], another;
    pthread_t  thread;

    was[0] = jpp_jemalloc_sample_thread(false);

    pthread_create(&thread, NULL, jpp_part_thread_other, &another);
    pthread_join(thread, NULL);

    was[1] = jpp_jemalloc_sample_thread(false);
    was[2] = jpp_jemalloc_sample_thread(true);
    was[3] = jpp_jemalloc_sample_thread(true);

    printf("was %d %d %d %d, another %d\n", was[0], was[1], was[2], was[3],
           another);
}


static const jpp_part_t  jpp_parts[] = {
    { "state",   jpp_part_state },
    { "change",  jpp_part_change },
    { "stats",   jpp_part_stats },
    { "details", jpp_part_details },
    { "report",  jpp_part_report },
    { "thread",  jpp_part_thread }
};


static void
jpp_test_absent(void)
{
    jpp_err_t             err;
    jpp_control_t         control;
    jpp_stats_t           stats;
    jpp_control_result_t  result;

    jpp_jemalloc_read(&jemalloc);

    jpp_is_u64(jemalloc.state, JPP_JEMALLOC_ABSENT, "no jemalloc");
    jpp_is_str(jemalloc.allocator, JPP_IS_SANITIZED ? JPP_PROGRAM : "libc.so.6",
               "the library that malloc comes from");
    jpp_is_str(jemalloc.variable, "MALLOC_CONF", "the variable");
    jpp_is_str(jemalloc.version, "", "no version");

    jpp_ok(!jpp_stats_read(&stats), "no statistics");
    jpp_ok(jpp_jemalloc_sample_thread(false), "no thread is not sampled");

    jpp_is_u64(jpp_jemalloc_dump(1, &err), JPP_ERR_STATE, "no dump");
    jpp_is_str(err.text, "cannot dump", "by its code alone");

    jpp_control_init(&control);
    control.purge = true;
    memset(&result, 0x55, sizeof(result));

    jpp_is_u64(jpp_source_control(&control, &result, &err),
               JPP_ERR_STATE, "no purge");
    jpp_is_str(err.text, "the memory was not purged", "what was not done");
    jpp_ok(result.after.source == JPP_SOURCE_NONE && result.purged == JPP_NONE
           && result.after.lg_sample == 0, "the result is filled");
    jpp_is_u64(jpp_source_control(&control, &result, NULL),
               JPP_ERR_STATE, "an error without a place for it");
}


static void
jpp_test_fake_states(void)
{
    size_t     i;
    jpp_run_t  run = { jpp_fake_so, NULL, NULL, "state", "" };

    static const char  *states[] = {
        "", "prof.active 0\n", "opt.prof 0\n", "config.prof 0\n",
        "config.prof 0\nopt.prof 1\nprof.active 1\n", "config.prof -\n",
        "prof.lg_sample 12\n",

        /* what does harm */

        "opt.prof_accum 1\n", "opt.prof_final 1\n",
        "opt.prof_thread_active_init 1\n", "opt.prof_thread_active_init 0\n",
        "opt.prof_leak_error 1\n", "prof.gdump 1\n", "opt.lg_prof_interval 0\n",
        "opt.lg_prof_interval 30\n",

        /* names of threads */

        "opt.prof_sys_thread_name 1\n",
        "opt.prof_sys_thread_name 1\nprof.active 0\n",
        "opt.prof_sys_thread_name 1\nversion 5.3.0-170-gabcdef\n",
        "opt.prof_sys_thread_name 1\nversion 5.3.1-0-gabcdef\n",
        "opt.prof_sys_thread_name 1\nversion 6.0.0\n",
        "opt.prof_sys_thread_name 1\nversion unknown\n",
        "opt.prof_sys_thread_name 1\nversion -\n",

        /* 5.2.1 */

        JPP_FAKE_521,
        "version 0123456789012345678901234567890123456789\n",

        /* of another width than is known */

        "narrow opt.prof\n", "narrow prof.lg_sample\n",

        /* other builds */

        "symbol je_mallctl\n", "symbol _rjem_mallctl\n",
        "symbol _rjem_mallctl\nopt.prof 0\n"
    };

    static const jpp_case_t  cases[] = {
        /* of another allocator; and malloc() is in the fake, or is not */

        { "symbol none\n",
          JPP_IS_SANITIZED ? "absent  MALLOC_CONF lg 0 " JPP_PROGRAM
                           : "absent  MALLOC_CONF lg 0 jpp_fake.so" },
        { "thread.allocated -\n",
          JPP_IS_SANITIZED ? "absent  MALLOC_CONF lg 0 " JPP_PROGRAM
                           : "ready 5.3.0 MALLOC_CONF lg 19 active" }
    };

    for (i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        run.fake = states[i];
        jpp_note("%s is %s", states[i], jpp_run(&run));
    }

    jpp_shows_notes("a fake, and its state");

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        run.fake = cases[i].text;
        jpp_is_str(jpp_run(&run), cases[i].state, "a fake's state, case %zu",
                   i);
    }
}


static void
jpp_test_requested(void)
{
    size_t  i;

    static const struct {
        const char    *variable;
        const char    *conf;
    } cases[] = {
        { "MALLOC_CONF", "" }, { "MALLOC_CONF", "prof:true" },
        { "MALLOC_CONF", "prof:false" },
        { "MALLOC_CONF", "prof_active:true,lg_prof_sample:14" },
        { "MALLOC_CONF", "narenas:1,prof:true,lg_prof_sample:14" },
        { "MALLOC_CONF", ",,prof:true," },
        { "MALLOC_CONF", "prof:true,prof:false" },
        { "MALLOC_CONF", "prof:false,prof:true" },
        { "MALLOC_CONF", "xprof:true" }, { "_RJEM_MALLOC_CONF", "prof:true" },
        { "JE_MALLOC_CONF", "prof:true" }, { "OTHER_MALLOC_CONF", "prof:true" }
    };

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        unsetenv("MALLOC_CONF");
        setenv(cases[i].variable, cases[i].conf, 1);
        jpp_note("%s=%s: %s", cases[i].variable, cases[i].conf,
                 jpp_jemalloc_is_requested() ? "yes" : "no");
        unsetenv(cases[i].variable);
    }

    jpp_shows_notes("is a profiler asked for");
    jpp_ok(!jpp_jemalloc_is_requested(), "no variable");
}


static void
jpp_tests(void)
{
    /* what is missing, cannot be refreshed, or changes while it is there */

    static const jpp_run_t  runs[] = {
        { jpp_fake_so, NULL, "prof.active 0\n", "change", "" },
        { jpp_fake_so, NULL, "", "stats", "" },
        { jpp_fake_so, NULL, "stats.retained -\n", "stats", "" },
        { jpp_fake_so, NULL, "epoch -\n", "stats", "" },
        { jpp_fake_so, NULL, "", "details", "" },
        { jpp_fake_so, NULL, "", "report", "" },
        { jpp_fake_so, NULL, "", "thread", "" },
        { jpp_fake_so, NULL, "opt.prof 0\n", "thread", "" }
    };

    jpp_test_absent();
    jpp_test_fake_states();
    jpp_shows_runs(runs, sizeof(runs) / sizeof(runs[0]), "what a fake says");
    jpp_test_requested();
}


static void
jpp_test_real_states(void)
{
    char         both[sizeof(jpp_fake_so) + sizeof(JPP_REAL)];
    size_t       i;
    const char  *got, *rest;
    jpp_run_t    run = { JPP_REAL, NULL, NULL, "state", "" };

    static const char  *confs[] = {
        NULL, "prof:false", "prof:true", "prof:true,lg_prof_sample:12",
        "prof:true,prof_active:false",
        "prof:true,prof_thread_active_init:false",
        "prof:true,prof_prefix:,prof_accum:true",
        "prof:true,prof_prefix:,lg_prof_interval:40",
        "prof:true,prof_prefix:,prof_gdump:true",
        "prof:true,prof_prefix:,prof_final:true"
    };

    /* the version is between the two */

    for (i = 0; i < sizeof(confs) / sizeof(confs[0]); i++) {
        run.conf = confs[i];
        got = jpp_run(&run);
        rest = strstr(got, " MALLOC_CONF");
        jpp_note("%s: %.*s%s", confs[i] != NULL ? confs[i] : "nothing",
                 (int) strcspn(got, " "), got, rest != NULL ? rest : "");
    }

    jpp_shows_notes("a real jemalloc");

    run.conf = NULL;
    run.part = "stats";
    got = jpp_run(&run);
    jpp_ok(got[0] >= '1' && got[0] <= '9', "statistics: %s", got);

    run.part = "details";
    jpp_is_str(jpp_run(&run), "whole", "their details");

    run.part = "report";
    jpp_is_str(jpp_run(&run), "whole", "and their report");

    /* malloc() is another library's than this report */

    jpp_print(both, "%s:" JPP_REAL, jpp_fake_so);
    run.preload = both;
    run.fake = "";
    jpp_is_str(jpp_run(&run), "none", "no report of another jemalloc");

    run.preload = JPP_REAL;
    run.fake = NULL;

    run.conf = "prof:true";
    run.part = "thread";
    jpp_is_str(jpp_run(&run), "was 1 0 0 1, another 1", "sampling by thread");
}


static void
jpp_test_real_names(void)
{
    bool         is_old;
    char         version[32];
    unsigned     major, minor, bugfix;
    const char  *got;
    jpp_run_t    run = { JPP_REAL, "prof:true,prof_sys_thread_name:true", NULL,
                         "state", "" };

    got = jpp_run(&run);

    is_old = sscanf(got, "%*s %31s", version) == 1
             && sscanf(version, "%u.%u.%u", &major, &minor, &bugfix) == 3
             && (major < 5 || (major == 5 && minor < 3)
                 || (major == 5 && minor == 3 && bugfix < 1));

    jpp_ok(strncmp(got, is_old ? "refused " : "ready ", 6) == 0,
           "prof_sys_thread_name:true: %s", got);
}


static void
jpp_tests_real(void)
{
    jpp_test_real_states();
    jpp_test_real_names();
}


JPP_TESTS_OF(jpp_parts, jpp_tests, jpp_tests_real)

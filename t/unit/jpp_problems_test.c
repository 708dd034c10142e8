
#include "jpp_problems.h"
#include "jpp_test_fleet.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"


typedef struct {
    const char            *id;
    jpp_jemalloc_state_t   state;
    size_t                 option;     /* offset of the bool, 0: none */
    uint32_t               lg_sample;
} jpp_problem_case_t;


#define jpp_option(name)  offsetof(jpp_jemalloc_t, name)


static const jpp_problem_case_t  cases[] = {
    { "no-jemalloc", JPP_JEMALLOC_ABSENT, 0, 19 },
    { "no-prof", JPP_JEMALLOC_NO_PROF, 0, 19 },
    { "prof-off", JPP_JEMALLOC_OFF, 0, 19 },
    { "thread-name", JPP_JEMALLOC_REFUSED, 0, 19 },
    { "inactive", JPP_JEMALLOC_INACTIVE, 0, 19 },
    { "lua-abort", JPP_JEMALLOC_READY, jpp_option(has_luajit), 19 },
    { "unsampled", JPP_JEMALLOC_READY, jpp_option(unsampled), 19 },
    { "interval", JPP_JEMALLOC_READY, jpp_option(interval), 19 },
    { "gdump", JPP_JEMALLOC_READY, jpp_option(gdump), 19 },
    { "final", JPP_JEMALLOC_READY, jpp_option(final), 19 },
    { "leak-error", JPP_JEMALLOC_READY, jpp_option(leak_error), 19 },
    { "accum", JPP_JEMALLOC_READY, jpp_option(accum), 19 },
    { "coarse", JPP_JEMALLOC_READY, 0, 21 },
    { "fine", JPP_JEMALLOC_READY, 0, 14 }
};


static jpp_worker_t  worker;


static void
jpp_problem_shows(const jpp_problem_t *problem, const char *what)
{
    char  text[2048];

    (void) snprintf(text, sizeof(text), "%s\n%s\n%s", problem->what,
                    problem->why, problem->fix);
    jpp_shows(text, "%s", what);
}


/* "WHAT: WHY. FIX" reads as sentences; nothing is cut, nothing unexpanded. */

static unsigned
jpp_problem_misshapen(const jpp_problem_t *problem)
{
    char         text[1280];
    size_t       len;
    const char  *c;

    (void) snprintf(text, sizeof(text), "%s: %s. %s", problem->what,
                    problem->why, problem->fix);

    for (c = text; *c != '\0'; c++) {
        if (*c == '%' || *c >= 0x7f
            || (*c < 0x20 && (*c != '\n'
                              || c < text + strlen(problem->what)
                                     + strlen(problem->why) + 4)))
        {
            jpp_diag("%s: byte 0x%02x in %s", problem->id, *c, text);
            return 1;
        }
    }

    len = strlen(problem->fix);

    if (strlen(problem->what) >= sizeof(problem->what) - 1
        || strlen(problem->why) >= sizeof(problem->why) - 1
        || len >= sizeof(problem->fix) - 1
        || strchr(".:", problem->what[strlen(problem->what) - 1]) != NULL
        || strchr(".:", problem->why[strlen(problem->why) - 1]) != NULL
        || strchr(".;", problem->fix[len - 1]) == NULL)
    {
        jpp_diag("%s: %s", problem->id, text);
        return 1;
    }

    return 0;
}


JPP_TEST(jpp_test_rows)
{
    size_t                     n;
    jpp_problem_t              p[JPP_MAX_PROBLEMS];
    const jpp_problem_case_t  *c;

    for (c = cases; c < cases + sizeof(cases) / sizeof(cases[0]); c++) {

        worker = jpp_fleet_worker(0, c->state);
        worker.jemalloc.lg_sample = c->lg_sample;

        if (c->option != 0) {
            *((char *) &worker.jemalloc + c->option) = true;
        }

        memset(p, 0xff, sizeof(p));
        n = jpp_problems(&worker, p);

        jpp_is_u64(n, 1, "%s alone", c->id);
        jpp_is_str(p[0].id, c->id, "its id");
        jpp_is_u64(p[0].is_fatal, c->state != JPP_JEMALLOC_READY, "fatal");
        jpp_problem_shows(&p[0], c->id);
        jpp_is_u64(jpp_problem_misshapen(&p[0]), 0, "its form");
    }
}


/* Every text fits, even with the longest values. */

JPP_TEST(jpp_test_form)
{
    size_t         i, n;
    unsigned       state, misshapen;
    uint32_t       lg;
    jpp_problem_t  p[JPP_MAX_PROBLEMS];

    static const uint32_t  rates[] = { 0, 14, 15, 20, 21, 63, UINT32_MAX };

    misshapen = 0;

    for (state = 0; state <= JPP_JEMALLOC_READY; state++) {
        for (lg = 0; lg < sizeof(rates) / sizeof(rates[0]); lg++) {

            worker = jpp_fleet_worker(0, (jpp_jemalloc_state_t) state);

            memset(worker.jemalloc.allocator, 'a', 63);
            memset(worker.jemalloc.version, '9', 31);
            worker.jemalloc.variable = "_RJEM_MALLOC_CONF";
            worker.jemalloc.lg_sample = rates[lg];
            worker.jemalloc.interval = worker.jemalloc.gdump = true;
            worker.jemalloc.final = worker.jemalloc.leak_error = true;
            worker.jemalloc.accum = worker.jemalloc.unsampled = true;

            n = jpp_problems(&worker, p);

            for (i = 0; i < n; i++) {
                misshapen += jpp_problem_misshapen(&p[i]);
            }
        }
    }

    jpp_is_u64(misshapen, 0, "texts of full length are whole");
}


JPP_TEST(jpp_test_order)
{
    size_t         i, n;
    unsigned       wrong;
    jpp_problem_t  p[JPP_MAX_PROBLEMS];

    static const char  *ids[] = { "inactive", "unsampled", "interval", "gdump",
                                  "final", "leak-error", "accum", "coarse" };

    worker = jpp_fleet_evil(0, JPP_JEMALLOC_INACTIVE);
    worker.jemalloc.lg_sample = 24;

    n = jpp_problems(&worker, p);
    jpp_is_u64(n, 8, "all at once");

    wrong = 0;

    for (i = 0; i < n && i < 8; i++) {
        wrong += strcmp(p[i].id, ids[i]) != 0 || p[i].is_fatal != (i == 0);
    }

    jpp_is_u64(wrong, 0, "the fatal one first, and one only");
}


JPP_TEST(jpp_test_explain)
{
    jpp_err_t  err;

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_OFF);

    (void) jpp_err_set(&err, JPP_ERR_STATE, "active was not set");
    jpp_problems_explain(&worker, &err);

    jpp_shows(err.text, "a state");
    jpp_is_u64(err.code, JPP_ERR_STATE, "its code stays");

    (void) jpp_err_set(&err, JPP_ERR_JEMALLOC, "jemalloc says no");
    jpp_problems_explain(&worker, &err);
    jpp_is_str(err.text, "jemalloc says no", "what is no state stays");

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    worker.jemalloc.accum = true;

    (void) jpp_err_set(&err, JPP_ERR_STATE, "it was so");
    jpp_problems_explain(&worker, &err);
    jpp_is_str(err.text, "it was so", "a warning is no reason");
}


/* LuaJIT without the hook, for every reason why there is none; and with it. */

JPP_TEST(jpp_test_hooks)
{
    size_t         i;
    jpp_problem_t  p[JPP_MAX_PROBLEMS];

    static const jpp_hook_t  hooks[] = {
        JPP_HOOK_OFF, JPP_HOOK_MACHINE, JPP_HOOK_ABSENT
    };

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_INACTIVE);
    worker.jemalloc.has_luajit = true;

    for (i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
        worker.jemalloc.hook = hooks[i];

        jpp_is_u64(jpp_problems(&worker, p), 2, "once it is active");
        jpp_is_str(p[1].id, "lua-abort", "LuaJIT ends workers");
        jpp_problem_shows(&p[1], "no hook, and why");
    }

    worker.jemalloc.hook = JPP_HOOK_ON;
    jpp_is_u64(jpp_problems(&worker, p), 1, "not under the hook");
    jpp_ok(jpp_problems_hook(JPP_HOOK_ON) == NULL, "for which there is no why");

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_OFF);
    worker.jemalloc.has_luajit = true;
    jpp_is_u64(jpp_problems(&worker, p), 1, "nor without a profiler");
}


/* With the sampler nothing about jemalloc is fatal. */

JPP_TEST(jpp_test_sampler)
{
    unsigned       state;
    jpp_problem_t  p[JPP_MAX_PROBLEMS];

    for (state = 0; state < JPP_JEMALLOC_READY; state++) {
        worker = jpp_fleet_worker(0, (jpp_jemalloc_state_t) state);
        worker.sampler.is_on = true;

        jpp_is_u64(jpp_problems(&worker, p), 0, "state %u is no problem",
                   state);
    }

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    worker.sampler.is_on = true;
    jpp_is_u64(jpp_problems(&worker, p), 1, "but two that sample are");
    jpp_is_str(p[0].id, "both", "which is told");
    jpp_ok(!p[0].is_fatal, "and not fatal");

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_ABSENT);
    worker.sampler.is_on = true;
    worker.sampler.dropped_live = UINT64_MAX - 1;
    worker.sampler.dropped_sites = 1;
    worker.sampler.lg_sample = 14;
    jpp_is_u64(jpp_problems(&worker, p), 1, "and samples that were dropped");
    jpp_has(p[0].fix, "lg_sample=16 to control", "a coarser rate than it has");
    worker.sampler.lg_sample = 23;
    (void) jpp_problems(&worker, p);
    jpp_has(p[0].fix, "lg_sample=24 to control", "or the coarsest");
    jpp_is_str(p[0].id, "sampler-drops", "which is told");
    jpp_has(p[0].why, "full: 18446744073709551615 samples are",
            "with how many: %s", p[0].why);
    jpp_is_u64(jpp_problem_misshapen(&p[0]), 0, "its form");

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    worker.sampler.slots = 1;
    jpp_is_u64(jpp_problems(&worker, p), 1, "and slots that stay");
    jpp_is_str(p[0].id, "sampler-kept", "which is told");
    jpp_is_u64(jpp_problem_misshapen(&p[0]), 0, "its form");

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    worker.coverage = (jpp_coverage_t) { 1795233720, 1795233660, 1 };
    jpp_is_u64(jpp_problems(&worker, p), 1, "and a time without samples");
    jpp_is_str(p[0].id, "gap", "which is told");
    jpp_ok(!p[0].is_fatal, "and not fatal");
    jpp_shows(p[0].why, "with its time");
    jpp_has(p[0].fix, "POST reset=1 to control", "the fix");
    jpp_is_u64(jpp_problem_misshapen(&p[0]), 0, "its form");

    worker.sampler.is_on = true;
    worker.jemalloc.active = false;
    jpp_is_u64(jpp_problems(&worker, p), 0, "but not of the sampler");

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    worker.stalling.is_foreign = true;
    jpp_is_u64(jpp_problems(&worker, p), 1, "and a signal of somebody else");
    jpp_is_str(p[0].id, "sigprof", "which is told");
    jpp_is_u64(jpp_problem_misshapen(&p[0]), 0, "its form");
}


/* with opt.prof false no other option has an effect, and no rate is known */

JPP_TEST(jpp_test_silent)
{
    unsigned       state;
    jpp_problem_t  p[JPP_MAX_PROBLEMS];

    for (state = 0; state <= JPP_JEMALLOC_OFF; state++) {
        worker = jpp_fleet_evil(0, (jpp_jemalloc_state_t) state);
        worker.jemalloc.lg_sample = 0;

        jpp_is_u64(jpp_problems(&worker, p), 1,
                   "state %u has one problem", state);
        jpp_ok(p[0].is_fatal, "a fatal one");
    }

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    jpp_is_u64(jpp_problems(&worker, p), 0, "ready: none");

    worker.jemalloc.lg_sample = 15;
    jpp_is_u64(jpp_problems(&worker, p), 0, "15 is not too fine");

    worker.jemalloc.lg_sample = 20;
    jpp_is_u64(jpp_problems(&worker, p), 0, "20 is not too coarse");
}


JPP_TEST(jpp_test_names)
{
    jpp_problem_t  p[JPP_MAX_PROBLEMS];

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_ABSENT);
    worker.jemalloc.allocator[0] = '\0';

    (void) jpp_problems(&worker, p);
    jpp_has(p[0].why, "it comes from another library,", "an unknown allocator");
    jpp_has(p[0].fix, "Environment=MALLOC_CONF=prof:true",
            "a variable that is not known");

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_OFF);
    worker.jemalloc.variable = "_RJEM_MALLOC_CONF";

    (void) jpp_problems(&worker, p);
    jpp_has(p[0].fix, "Environment=_RJEM_MALLOC_CONF=prof:true",
            "another variable");
    jpp_has(p[0].fix, "env _RJEM_MALLOC_CONF;", "twice");
}


JPP_TEST(jpp_test_evil)
{
    char            variable[5000];
    size_t          i, n;
    unsigned        state, wrong;
    const char     *c;
    jpp_problem_t   p[JPP_MAX_PROBLEMS];

    memset(variable, '\n', sizeof(variable));
    variable[sizeof(variable) - 1] = '\0';

    wrong = 0;

    for (state = 0; state <= JPP_JEMALLOC_READY; state++) {

        worker = jpp_fleet_evil(0, (jpp_jemalloc_state_t) state);
        worker.jemalloc.variable = variable;
        n = jpp_problems(&worker, p);

        for (i = 0; i < n; i++) {
            wrong += strlen(p[i].fix) != sizeof(p[i].fix) - 1;

            for (c = p[i].what; *c != '\0'; c++) {
                wrong += *c < 0x20 || *c >= 0x7f;
            }

            for (c = p[i].why; *c != '\0'; c++) {
                wrong += *c < 0x20 || *c >= 0x7f;
            }
        }
    }

    jpp_is_u64(wrong, 0, "values too long are cut, their bytes are printable");

    worker = jpp_fleet_evil(0, JPP_JEMALLOC_ABSENT);
    (void) jpp_problems(&worker, p);
    jpp_has(p[0].why, JPP_FLEET_ASCII "???????????%s%n<<<",
            "no byte but those is lost");
}


JPP_TEST(jpp_test_numbers)
{
    char  text[JPP_UNITS_TEXT];

    jpp_is_str(jpp_problems_rate(0, text), "1 B", "lg_sample 0");
    jpp_is_str(jpp_problems_rate(14, text), "16.0 KiB", "14");
    jpp_is_str(jpp_problems_rate(63, text), "8.0 EiB", "63");
    jpp_is_str(jpp_problems_rate(64, text), "8.0 EiB", "64, which is none");
}

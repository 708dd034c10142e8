
#include "jpp_diagnosis.h"
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


/* "WHAT: WHY. FIX" reads as sentences; nothing is cut, nothing unexpanded. */

static unsigned
jpp_problem_misshapen(const jpp_problem_t *problem)
{
    char         text[1280];
    size_t       len;
    const char  *c;

    jpp_print(text, "%s: %s. %s", problem->what, problem->why, problem->fix);

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


/* All problems of the worker, which are well-formed. */

static void
jpp_problems_note(const char *what)
{
    size_t         i, n;
    jpp_problem_t  p[JPP_MAX_PROBLEMS];

    n = jpp_problems(&worker, p);
    jpp_note("%s: %zu", what, n);

    for (i = 0; i < n; i++) {
        jpp_note("%s%s: %s: %s", p[i].id, p[i].is_fatal ? ", fatal" : "",
                 p[i].what, p[i].why);
        jpp_note_lines(p[i].fix);
        jpp_is_u64(jpp_problem_misshapen(&p[i]), 0, "%s: its form", p[i].id);
    }
}


JPP_TEST(jpp_test_rows)
{
    const jpp_problem_case_t  *c;

    for (c = cases; c < cases + sizeof(cases) / sizeof(cases[0]); c++) {

        worker = jpp_fleet_worker(0, c->state);
        worker.jemalloc.lg_sample = c->lg_sample;

        if (c->option != 0) {
            *((char *) &worker.jemalloc + c->option) = true;
        }

        jpp_problems_note(c->id);
    }

    jpp_shows_notes("each alone");
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
    jpp_problem_t  p[JPP_MAX_PROBLEMS];

    worker = jpp_fleet_evil(0, JPP_JEMALLOC_INACTIVE);
    worker.jemalloc.lg_sample = 24;

    n = jpp_problems(&worker, p);

    for (i = 0; i < n; i++) {
        jpp_note_of("problem", p[i], id, is_fatal);
    }

    jpp_shows_notes("all at once: the fatal one first, and one only");
}


JPP_TEST(jpp_test_explain)
{
    jpp_err_t  err;

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_OFF);

    (void) jpp_err_set(&err, JPP_ERR_STATE, "active was not set");
    jpp_problems_explain(&worker, &err);

    jpp_note_of("a state, whose code stays", err, code, text);

    (void) jpp_err_set(&err, JPP_ERR_JEMALLOC, "jemalloc says no");
    jpp_problems_explain(&worker, &err);
    jpp_note_of("what is no state stays", err, text);

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    worker.jemalloc.accum = true;

    (void) jpp_err_set(&err, JPP_ERR_STATE, "it was so");
    jpp_problems_explain(&worker, &err);
    jpp_note_of("a warning is no reason", err, text);
    jpp_shows_notes("errors, and why");
}


/* LuaJIT without the hook, for every reason why there is none; and with it. */

JPP_TEST(jpp_test_hooks)
{
    size_t  i;

    static const jpp_hook_t  hooks[] = {
        JPP_HOOK_OFF, JPP_HOOK_MACHINE, JPP_HOOK_ABSENT, JPP_HOOK_ON
    };

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_INACTIVE);
    worker.jemalloc.has_luajit = true;

    for (i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
        worker.jemalloc.hook = hooks[i];
        jpp_problems_note("LuaJIT ends workers once it is active");
    }

    jpp_ok(jpp_problem_hooks[JPP_HOOK_ON] == NULL, "the hook has no why");

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_OFF);
    worker.jemalloc.has_luajit = true;
    jpp_problems_note("nor without a profiler");
    jpp_shows_notes("hooks: none, and why; and with it");
}


/* With the sampler nothing about jemalloc is fatal. */

JPP_TEST(jpp_test_sampler)
{
    unsigned  state;

    for (state = 0; state < JPP_JEMALLOC_READY; state++) {
        worker = jpp_fleet_worker(0, (jpp_jemalloc_state_t) state);
        worker.sampler.is_on = true;
        jpp_problems_note("no state is one");
    }

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    worker.sampler.is_on = true;
    jpp_problems_note("but two that sample");

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_ABSENT);
    worker.sampler.is_on = true;
    worker.sampler.dropped_live = UINT64_MAX - 1;
    worker.sampler.dropped_sites = 1;
    worker.sampler.lg_sample = 14;
    jpp_problems_note("samples that were dropped, and a coarser rate");
    worker.sampler.lg_sample = 23;
    jpp_problems_note("or the coarsest");

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    worker.sampler.slots = 1;
    jpp_problems_note("slots that stay");

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    worker.coverage = (jpp_coverage_t) { 1795233720, 1795233660, 1 };
    jpp_problems_note("a time without samples");

    worker.sampler.is_on = true;
    worker.jemalloc.active = false;
    jpp_problems_note("but not of the sampler");

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    worker.stalling.is_foreign = true;
    jpp_problems_note("a signal of somebody else");
    jpp_shows_notes("with the sampler");
}


/* with opt.prof false no other option has an effect, and no rate is known */

JPP_TEST(jpp_test_silent)
{
    unsigned       state;
    jpp_problem_t  p[JPP_MAX_PROBLEMS];

    for (state = 0; state <= JPP_JEMALLOC_OFF; state++) {
        worker = jpp_fleet_evil(0, (jpp_jemalloc_state_t) state);
        worker.jemalloc.lg_sample = 0;

        jpp_ok(jpp_problems(&worker, p) == 1 && p[0].is_fatal,
               "state %u has one problem, a fatal one", state);
    }

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    jpp_problems_note("ready");

    worker.jemalloc.lg_sample = 15;
    jpp_problems_note("15 is not too fine");

    worker.jemalloc.lg_sample = 20;
    jpp_problems_note("20 is not too coarse");
}


JPP_TEST(jpp_test_names)
{
    worker = jpp_fleet_worker(0, JPP_JEMALLOC_ABSENT);
    worker.jemalloc.allocator[0] = '\0';
    jpp_problems_note("an unknown allocator, whose variable is not known");

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_OFF);
    worker.jemalloc.variable = "_RJEM_MALLOC_CONF";
    jpp_problems_note("another variable");
    jpp_shows_notes("names, and rates that are right");
}


JPP_TEST(jpp_test_evil)
{
    char            variable[5000], text[2048];
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

            jpp_print(text, "%s%s", p[i].what, p[i].why);

            for (c = text; *c != '\0'; c++) {
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
    jpp_is_str(jpp_rate(0), "1 B", "lg_sample 0");
    jpp_is_str(jpp_rate(14), "16.0 KiB", "14");
    jpp_is_str(jpp_rate(63), "8.0 EiB", "63");
    jpp_is_str(jpp_rate(64), "8.0 EiB", "64, which is none");
}

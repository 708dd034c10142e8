
/*
 * Which source answers, whose rate is changed, and what is forgotten: with
 * libc's malloc(), and with a jemalloc that profiles.  See jpp_test_jemalloc.h.
 */

#define JPP_PROGRAM  "jpp_source_test"

#include "jpp_control.h"
#include "jpp_source.h"
#include "jpp_test_jemalloc.h"


/* of jemalloc's samples, by the number of the change */

static int64_t         jpp_part_now;
static jpp_coverage_t  jpp_part_coverage;


static void
jpp_part_change(const char *form)
{
    jpp_err_t             err;
    jpp_args_t            args;
    jpp_code_t            rc;
    jpp_control_t         control;
    jpp_control_result_t  result;

    jpp_jemalloc_read(&jemalloc);
    jpp_args_init(&args, &jpp_format_words, jpp_parser_heap.types);
    jpp_control_init(&control);
    (void) jpp_control_query(&control, &args, form, strlen(form), NULL);

    rc = jpp_source_control(&control, &result, &err);

    printf("%c %u/%c %u%s%s", "-js"[result.before.source],
           result.before.lg_sample, "-js"[result.after.source],
           result.after.lg_sample, result.is_reset ? " reset" : "",
           result.is_other ? " other" : "");

    jpp_coverage_changed(&jpp_part_coverage, &result, ++jpp_part_now);

    if (jpp_coverage_has_gap(&jpp_part_coverage)) {
        printf(" gap");
    }

    if (rc != JPP_OK) {
        printf(" error %d", rc);
    }

    printf("; ");
}


/* The first line of it. */

static void
jpp_part_dump(void)
{
    jpp_err_t             err;
    jpp_memfd_t           memfd;
    jpp_sampler_state_t   sampler;

    jpp_part_hold();

    if (jpp_memfd_open(&memfd, NULL, &err) != JPP_OK
        || jpp_source_dump(memfd.fd, NULL, &sampler, &err) != JPP_OK
        || jpp_memfd_map(&memfd, 16 << 20, &err) != JPP_OK)
    {
        printf("no dump\n");
        return;
    }

    printf("%.*s\n", (int) strcspn(memfd.data, "\n"), memfd.data);
}


/* ARGUMENT: forms, with blanks between. */

static void
jpp_part_changes(void)
{
    char  forms[256], *form, *next;

    jpp_print(forms, "%s", jpp_argument);

    for (form = strtok_r(forms, " ", &next); form != NULL;
         form = strtok_r(NULL, " ", &next))
    {
        jpp_part_change(form);
    }

    jpp_part_dump();
}


static const jpp_part_t  jpp_parts[] = {
    { "state",    jpp_part_state },
    { "changes",  jpp_part_changes }
};


static void
jpp_changes(jpp_run_t *run, const char *forms, const char *what)
{
    run->argument = forms;
    jpp_shows(jpp_run(run), "%s", what);
}


static void
jpp_tests(void)
{
    jpp_run_t  run = { NULL, NULL, NULL, "changes", NULL };

    jpp_is_str(jpp_source_name(JPP_SOURCE_SAMPLER), "sampler", "a name");
    jpp_ok(jpp_source_name(JPP_SOURCE_NONE) == NULL, "none");

    if (JPP_IS_SANITIZED) {
        jpp_ok(true, "changes # SKIP not under a sanitizer");
        return;
    }

    jpp_changes(&run, "sampler=on sampler=on sampler=on&lg_sample=14 reset=1 "
                "sampler=off",
                "with libc's malloc(): on, again, a rate, a reset, off");
    jpp_changes(&run, "sampler=on&lg_sample=10", "on, and a dump");
    jpp_changes(&run, "active=on sampler=on&active=on",
                "what only jemalloc can");
}


static void
jpp_tests_real(void)
{
    jpp_run_t  run = { JPP_REAL, "prof:true,lg_prof_sample:15,prof_prefix:",
                       NULL, "changes", NULL };

    jpp_changes(&run, "lg_sample=16 sampler=on lg_sample=13 reset=1 "
                "sampler=off&lg_sample=17",
                "a rate is that of the source then, and so is a reset");
    jpp_changes(&run, "sampler=on active=off sampler=off",
                "active is jemalloc's");
    jpp_changes(&run, "active=on active=off active=off active=on reset=1",
                "samples from before and after it was off are others");
    jpp_changes(&run, "sampler=on active=off sampler=off&active=on",
                "beside the sampler, too");
}


JPP_TESTS_OF(jpp_parts, jpp_tests, jpp_tests_real)


#include "jpp_console.h"
#include "jpp_test_fleet.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"


static jpp_output_t          jpp_output;
static jpp_outcome_t         jpp_outcome;
static bool                  jpp_outcome_is_text;


static void
jpp_outcome_write(const jpp_fleet_t *fleet, jpp_sink_t *sink)
{
    (void) fleet;

    if (jpp_outcome_is_text) {
        jpp_outcome_text(&jpp_outcome, sink);

    } else {
        jpp_outcome_query(&jpp_outcome, sink);
    }
}


static const char *
jpp_outcome_said(bool is_text)
{
    jpp_fleet_t  fleet = jpp_fleet_of(0, NULL, 0);

    jpp_outcome_is_text = is_text;
    (void) jpp_output_fill(&jpp_output, jpp_outcome_write, &fleet, 0);

    return jpp_output.text;
}


/* What workers answer becomes numbers, and these come back as they were. */

JPP_TEST(jpp_test_fill)
{
    size_t            i;
    jpp_control_t     control;
    jpp_outcome_t     was;
    jpp_controlled_t  workers[3];

    memset(workers, 0, sizeof(workers));

    for (i = 0; i < 3; i++) {
        workers[i].result.has_stats = true;
        workers[i].result.held_before = 5 << 20;
        workers[i].result.held_after = 4 << 20;
    }

    workers[1].error = "it ended";
    workers[2].result.held_after = 6 << 20;

    jpp_control_init(&control);
    control.purge = true;

    jpp_outcome_fill(&jpp_outcome, &control, workers, 3);
    jpp_shows(jpp_outcome_said(false), "a purge");
    jpp_shows(jpp_outcome_said(true), "in words");

    jpp_ok(jpp_outcome_read(&jpp_outcome, "acknowledged=0&done=9", 21),
           "a finding");
    jpp_shows(jpp_outcome_said(true), "in words");
    jpp_ok(!jpp_outcome_read(&jpp_outcome, "acknowledged=17", 15),
           "one that there is not");

    jpp_outcome_fill(&jpp_outcome, &control, workers, 3);
    was = jpp_outcome;
    jpp_ok(jpp_outcome_read(&jpp_outcome, jpp_outcome_said(false),
                            strlen(jpp_outcome_said(false))), "read again");
    jpp_ok(memcmp(&was, &jpp_outcome, sizeof(was)) == 0, "the same");

    workers[0].result.has_stats = workers[2].result.has_stats = false;
    jpp_outcome_fill(&jpp_outcome, &control, workers, 3);
    jpp_shows(jpp_outcome_said(true), "how much is not known");

    control.purge = false;
    control.active = 0;
    control.sampler = 1;
    control.lg_sample = 14;
    control.reset = true;
    workers[1].error = NULL;
    jpp_outcome_fill(&jpp_outcome, &control, workers, 1);
    jpp_shows(jpp_outcome_said(false), "all the others");
    jpp_shows(jpp_outcome_said(true), "in words");

    jpp_control_init(&control);
    control.stall = 250;
    control.owners = 1;
    jpp_outcome_fill(&jpp_outcome, &control, workers, 1);
    jpp_shows(jpp_outcome_said(false), "of the event loop");
    jpp_shows(jpp_outcome_said(true), "in words");

    control.stall = control.owners = 0;
    jpp_outcome_fill(&jpp_outcome, &control, workers, 1);
    jpp_shows(jpp_outcome_said(true), "off");
}


JPP_TEST(jpp_test_read)
{
    static const char  query[] = "worker=1&active=1&done=8&asked=8&x=%zz";
    static const char  least[] = "lg_sample=10&purge=1&purged="
                                 "100000000000000000&done=1&asked=1";

    jpp_ok(jpp_outcome_read(&jpp_outcome, query, strlen(query)), "a query");
    jpp_shows(jpp_outcome_said(true), "others are passed over");
    jpp_ok(!jpp_outcome_read(&jpp_outcome, NULL, 0), "no query");

    jpp_ok(jpp_outcome_read(&jpp_outcome, least, strlen(least)), "its bounds");
    jpp_is_str(jpp_outcome_said(false), least, "are numbers, too");
}


/* Anybody may write a query: no text of it is shown. */

JPP_TEST(jpp_test_garbage)
{
    size_t  i;
    char    large[20000];

    static const char  *bad[] = {
        "", "&", "done=1", "asked=1", "done=2&asked=1", "done=x&asked=1",
        "done=-1&asked=1", "done=1&asked=<b>", "done=&asked=1",
        "done=1&asked=4294967296", "done=1&asked=1e3",
        "done=99999999999999999999&asked=1"
    };

    static const char  odd[] = "done=1&asked=1&active=2&sampler=<b>&"
                               "lg_sample=9&reset=0&purge=0&"
                               "purged=9999999999999999999&active=<i>";

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        jpp_ok(!jpp_outcome_read(&jpp_outcome, bad[i], strlen(bad[i])),
               "\"%s\"", bad[i]);
    }

    jpp_ok(jpp_outcome_read(&jpp_outcome, odd, strlen(odd)), "odd values");
    jpp_shows(jpp_outcome_said(true), "say nothing");

    memset(large, 'a', sizeof(large));
    jpp_ok(!jpp_outcome_read(&jpp_outcome, large, sizeof(large)), "a long one");
}

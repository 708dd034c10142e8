
#include "jpp_answers.h"
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

    static const char  finding[] = "ok=0&of=0&bytes=0&acknowledge=limit-near";
    static const char  snapshot[] = "ok=0&of=0&bytes=0&snapshot=1";

    memset(workers, 0, sizeof(workers));

    for (i = 0; i < 3; i++) {
        workers[i].result.purged = 1 << 20;
    }

    workers[1].error = "it ended";
    workers[2].result.purged = 0;

    jpp_control_init(&control);
    control.purge = true;

    jpp_outcome_fill(&jpp_outcome, &control, workers, 3);
    jpp_shows(jpp_outcome_said(false), "a purge");
    jpp_shows(jpp_outcome_said(true), "in words");

    jpp_ok(jpp_outcome_read(&jpp_outcome, finding, strlen(finding)),
           "a finding");
    jpp_shows(jpp_outcome_said(true), "in words");

    jpp_ok(jpp_outcome_read(&jpp_outcome, snapshot, strlen(snapshot)),
           "a snapshot");
    jpp_shows(jpp_outcome_said(true), "in words");

    jpp_outcome_fill(&jpp_outcome, &control, workers, 3);
    was = jpp_outcome;
    jpp_ok(jpp_outcome_read(&jpp_outcome, jpp_outcome_said(false),
                            strlen(jpp_outcome_said(false))), "read again");
    jpp_ok(memcmp(&was, &jpp_outcome, sizeof(was)) == 0, "the same");

    workers[0].result.purged = workers[2].result.purged = JPP_NONE;
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
    static const char  query[] = "ok=8&of=8&bytes=0&active=on";
    static const char  most[] = "ok=1&of=1&bytes=18446744073709551615&active="
                                "off&sampler=off&lg_sample=10&stall=60000ms&"
                                "owners=off&reset=1&purge=1";

    jpp_ok(jpp_outcome_read(&jpp_outcome, query, strlen(query)), "a query");
    jpp_shows(jpp_outcome_said(true), "of one change");
    jpp_ok(!jpp_outcome_read(&jpp_outcome, query, strlen(query) - 1),
           "half a word");
    jpp_ok(!jpp_outcome_read(&jpp_outcome, NULL, 0), "no query");

    jpp_ok(jpp_outcome_read(&jpp_outcome, most, strlen(most)), "all changes");
    jpp_is_str(jpp_outcome_said(false), most, "come back");
}


/* Anybody may write a query: no text of it is shown. */

JPP_TEST(jpp_test_garbage)
{
    size_t  i;
    char    large[20000];

    static const char  *bad[] = {
        "", "&", "ok=1", "of=1", "ok=2&of=1&bytes=0&", "ok=x&of=1&bytes=0&",
        "ok=-1&of=1&bytes=0&", "ok=1&of=<b>&bytes=0&", "ok=&of=1&bytes=0&",
        "ok=1&of=18446744073709551616&bytes=0&", "ok=1&of=1e3&bytes=0&",
        "ok=1&of=1&bytes=0&active=2", "ok=1&of=1&bytes=0&sampler=<b>",
        "ok=1&of=1&bytes=0&lg_sample=9", "ok=1&of=1&bytes=0&x=1",
        "ok=1&of=1&bytes=0&reset=0", "ok=1&of=1&bytes=0&acknowledge=<i>"
    };

    static const char  odd[] = "ok=1&of=1&bytes=0&worker=0&strict=1";

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        jpp_ok(!jpp_outcome_read(&jpp_outcome, bad[i], strlen(bad[i])),
               "\"%s\"", bad[i]);
    }

    jpp_ok(jpp_outcome_read(&jpp_outcome, odd, strlen(odd)), "no change");
    jpp_shows(jpp_outcome_said(true), "says nothing");

    memset(large, 'a', sizeof(large));
    jpp_ok(!jpp_outcome_read(&jpp_outcome, large, sizeof(large)), "a long one");
}

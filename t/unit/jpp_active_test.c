
/* Which findings are said, and when; and what workers write down. */


#include "jpp_notes.h"
#include "jpp_test_fleet.h"
#include "jpp_test_main.h"


static jpp_active_t  jpp_active[JPP_FINDINGS];
static jpp_finding_t   jpp_found[JPP_FINDINGS];
static jpp_notes_t     jpp_notes;
static jpp_events_t    jpp_events;


static jpp_telemetry_t  telemetry;


/* how many of what holds NOW are said */

static size_t
jpp_active_test_at(int64_t now, bool has_swap, bool has_peak)
{
    size_t  n;

    n = 0;

    if (has_swap) {
        jpp_finding_of(JPP_FINDING_SWAP, &jpp_found[n]);
        (void) jpp_finding_because(&jpp_found[n++], "swap %d", (int) now);
    }

    if (has_peak) {
        jpp_finding_of(JPP_FINDING_PEAK, &jpp_found[n]);
        (void) jpp_finding_because(&jpp_found[n++], "peak %d", (int) now);
    }

    return jpp_active_update(jpp_active, jpp_found, n, now, &jpp_events);
}


JPP_TEST(jpp_active_test_rise)
{
    memset(jpp_active, 0, sizeof(jpp_active));

    jpp_is_u64(jpp_active_test_at(1000, false, false), 0, "nothing holds");
    jpp_is_u64(jpp_active_findings(jpp_active, jpp_found), 0, "or stands");

    jpp_is_u64(jpp_active_test_at(1005, true, false), 1, "it rises");
    jpp_is_str(jpp_found[0].id, "swap", "which is said");
    jpp_is_str(jpp_found[0].because, "swap 1005", "with its numbers");

    jpp_is_u64(jpp_active_test_at(1010, true, false), 0, "once");
    jpp_is_u64(jpp_active_test_at(1069, false, false), 0, "it is gone");
    jpp_is_u64(jpp_active_findings(jpp_active, jpp_found), 1,
               "but stands for a minute");
    jpp_is_str(jpp_found[0].because, "swap 1010", "as it was last seen");

    jpp_is_u64(jpp_active_test_at(1069, true, false), 0,
               "nothing is said if it comes back");

    (void) jpp_active_test_at(1129, false, false);
    jpp_is_u64(jpp_active_findings(jpp_active, jpp_found), 0,
               "after a minute it is over");

    jpp_is_u64(jpp_active_test_at(1200, true, false), 0,
               "a rise soon after is not said again");
    jpp_is_u64(jpp_active_findings(jpp_active, jpp_found), 1,
               "though it stands");

    (void) jpp_active_test_at(1300, false, false);
    jpp_is_u64(jpp_active_test_at(1604, true, false), 0,
               "nor ten minutes later, less a second");
    (void) jpp_active_test_at(1704, false, false);
    jpp_is_u64(jpp_active_test_at(1705, true, false), 1, "but then it is");
}


/* set back by an hour, or on by one */

JPP_TEST(jpp_active_test_clock)
{
    memset(jpp_active, 0, sizeof(jpp_active));

    (void) jpp_active_test_at(10000, true, false);

    jpp_is_u64(jpp_active_test_at(6400, false, false), 0, "an hour back");
    jpp_is_u64(jpp_active_findings(jpp_active, jpp_found), 1, "it stands");

    (void) jpp_active_test_at(6460, false, false);
    jpp_is_u64(jpp_active_findings(jpp_active, jpp_found), 0, "for a minute");

    jpp_is_u64(jpp_active_test_at(6999, true, false), 0,
               "a rise is not said again");
    (void) jpp_active_test_at(7100, false, false);
    jpp_is_u64(jpp_active_test_at(7101, true, false), 1,
               "but for ten minutes only");

    jpp_is_u64(jpp_active_test_at(10701, true, false), 0,
               "an hour on, what stands is not said again");
}


/* by somebody who was killed as he wrote over something shorter */

JPP_TEST(jpp_active_test_torn)
{
    memset(jpp_active, 0, sizeof(jpp_active));

    (void) jpp_active_test_at(1000, true, false);

    memset(&jpp_active[JPP_FINDING_SWAP].finding, 'x', sizeof(jpp_finding_t));

    (void) jpp_active_findings(jpp_active, jpp_found);

    jpp_is_u64(strlen(jpp_found[0].owner), sizeof(jpp_found[0].owner) - 1,
               "the owner ends all the same");
    jpp_is_u64(strlen(jpp_found[0].because), sizeof(jpp_found[0].because) - 1,
               "and the numbers");
    jpp_is_u64(strlen(jpp_found[0].fix), sizeof(jpp_found[0].fix) - 1,
               "and the fix");
    jpp_is_u64(strlen(jpp_found[0].link), sizeof(jpp_found[0].link) - 1,
               "and the link");
    jpp_is_str(jpp_found[0].id, "swap", "no pointer of his is used");
}


JPP_TEST(jpp_active_test_order)
{
    memset(jpp_active, 0, sizeof(jpp_active));

    (void) jpp_active_test_at(1000, true, false);

    jpp_is_u64(jpp_active_test_at(1005, true, true), 1, "a second one");
    jpp_is_str(jpp_found[0].id, "peak", "is said alone");

    jpp_is_u64(jpp_active_findings(jpp_active, jpp_found), 2, "both stand");
    jpp_is_str(jpp_found[0].id, "swap", "in the order of the table");
    jpp_is_str(jpp_found[0].fix != NULL ? jpp_found[1].because : "",
               "peak 1005", "each with its own numbers");
}


JPP_TEST(jpp_active_test_notes)
{
    jpp_note_t    *note;
    jpp_worker_t   worker;

    memset(&jpp_notes, 0xee, sizeof(jpp_notes));
    memset(&telemetry, 0xee, sizeof(telemetry));
    jpp_notes_init(&jpp_notes);

    note = &jpp_notes.notes[JPP_NOTES - 1];
    jpp_note_clear(note);

    jpp_is_i64(note->worker.started, 0, "a new note is empty");

    jpp_notes_facts(&jpp_notes, &telemetry);
    jpp_is_u64(telemetry.unclean_exits, 0, "nobody has vanished");
    jpp_is_i64(telemetry.vanished.who.pid, 0, "so there is no last one");

    worker = jpp_fleet_worker(3, JPP_JEMALLOC_READY);
    jpp_notes_vanished(&jpp_notes, &worker.who, note, 100);
    jpp_is_u64(jpp_notes.vanished.rss, JPP_NONE, "one that wrote nothing");

    worker.activity.usage.rss = 300;
    jpp_note_write(note, &worker, 0);
    worker.activity.usage.rss = 200;
    jpp_note_write(note, &worker, 5);

    jpp_is_u64(note->history.n, 2, "two points");
    jpp_is_u64(note->history.points[0].allocated, worker.stats.allocated,
               "what is allocated");
    jpp_is_u64(note->history.points[0].rss, 300, "and resident");
    jpp_ok(note->worker.jemalloc.variable == NULL
           && note->worker.history == NULL, "no pointer is shared");

    worker.has_stats = false;
    jpp_note_write(note, &worker, 10);
    jpp_is_u64(note->history.points[2].allocated, JPP_NONE,
               "what is not known");

    jpp_notes_vanished(&jpp_notes, &worker.who, note, 200);
    jpp_notes_facts(&jpp_notes, &telemetry);

    jpp_is_u64(telemetry.unclean_exits, 2, "two have vanished");
    jpp_is_u64(telemetry.vanished.who.index, 3, "the last one is named");
    jpp_is_u64(telemetry.vanished.rss, 200, "with what it had");
    jpp_is_i64(telemetry.vanished.at, 200, "and when");

    /* the kernel's count goes up, or it is read again */

    jpp_notes_killed(&jpp_notes, 2, 300);
    jpp_notes_killed(&jpp_notes, 2, 400);
    jpp_notes_facts(&jpp_notes, &telemetry);
    jpp_is_u64(telemetry.killed.n, 2, "two were killed");
    jpp_is_i64(telemetry.killed.at, 300, "when that was seen first");

    jpp_notes_killed(&jpp_notes, 2, 150);
    jpp_notes_facts(&jpp_notes, &telemetry);
    jpp_is_i64(telemetry.killed.at, 150, "a clock that goes back");
    jpp_is_i64(telemetry.vanished.at, 150, "takes both along");
}


/* Two acknowledge it at once; it falls, rises, and happens once more. */

JPP_TEST(jpp_active_test_acknowledged)
{
    jpp_finding_t  finding;

    jpp_notes_init(&jpp_notes);
    memcpy(jpp_active, jpp_notes.active, sizeof(jpp_active));

    jpp_ok(!jpp_active_acknowledge(jpp_active, JPP_FINDING_SWAP, 900, &finding),
           "nothing stands");

    (void) jpp_active_test_at(1000, true, true);

    jpp_ok(jpp_active_acknowledge(jpp_active, JPP_FINDING_SWAP, 1002, &finding),
           "acknowledged");
    jpp_is_str(finding.id, "swap", "which one");
    jpp_is_i64(finding.since, 1000, "it stands since then");
    jpp_is_i64(finding.acknowledged, 1002, "and is acknowledged since then");

    jpp_ok(jpp_active_acknowledge(jpp_active, JPP_FINDING_SWAP, 1004, &finding),
           "by another one, too");
    jpp_is_i64(finding.acknowledged, 1002, "who reads who was first");

    (void) jpp_active_test_at(1005, true, true);
    jpp_is_u64(jpp_active_findings(jpp_active, jpp_found), 2, "both stand");
    jpp_is_i64(jpp_found[0].acknowledged, 1002, "one is acknowledged");
    jpp_is_i64(jpp_found[1].acknowledged, 0, "the other one is not");

    memcpy(jpp_notes.active, jpp_active, sizeof(jpp_active));
    jpp_notes_facts(&jpp_notes, &telemetry);
    jpp_is_i64(telemetry.standing[JPP_FINDING_SWAP].since, 1000,
               "facts have since when");
    jpp_is_i64(telemetry.standing[JPP_FINDING_SWAP].acknowledged, 1002,
               "and when it was acknowledged");

    (void) jpp_active_test_at(1065, false, false);
    jpp_ok(!jpp_active_acknowledge(jpp_active, JPP_FINDING_SWAP, 1066,
                                   &finding), "it fell meanwhile");

    (void) jpp_active_test_at(1070, true, false);
    (void) jpp_active_findings(jpp_active, jpp_found);
    jpp_is_i64(jpp_found[0].acknowledged, 0, "it rises as a new one");

    /* an event */

    (void) jpp_active_acknowledge(jpp_active, JPP_FINDING_SWAP, 1080, &finding);

    jpp_found[0].at = 1080;
    (void) jpp_active_update(jpp_active, jpp_found, 1, 1085, &jpp_events);
    (void) jpp_active_findings(jpp_active, jpp_found);
    jpp_is_i64(jpp_found[0].acknowledged, 1080, "the one that was known");

    jpp_found[0].at = 1081;
    (void) jpp_active_update(jpp_active, jpp_found, 1, 1090, &jpp_events);
    (void) jpp_active_findings(jpp_active, jpp_found);
    jpp_is_i64(jpp_found[0].acknowledged, 0, "and one after it");
}


JPP_TEST(jpp_active_test_inherited)
{
    jpp_notes_init(&jpp_notes);

    jpp_notes_inherited(&jpp_notes, 1, 100);
    jpp_notes_facts(&jpp_notes, &telemetry);
    jpp_is_u64(telemetry.inherited, 100, "the first configuration");
    jpp_is_u64(telemetry.inherited_before, JPP_NONE, "has none before it");

    jpp_notes_inherited(&jpp_notes, 1, 90);
    jpp_notes_inherited(&jpp_notes, 1, 110);
    jpp_notes_inherited(&jpp_notes, 2, 200);
    jpp_notes_inherited(&jpp_notes, 1, 10);
    jpp_notes_facts(&jpp_notes, &telemetry);
    jpp_is_u64(telemetry.inherited, 200, "the next one");
    jpp_is_u64(telemetry.inherited_before, 90, "and the least before it");

    jpp_notes_inherited(&jpp_notes, 4, 300);
    jpp_notes_facts(&jpp_notes, &telemetry);
    jpp_is_u64(telemetry.inherited_before, 200, "not all have workers");
}


/* The rate is that between the last two looks. */

JPP_TEST(jpp_active_test_counted)
{
    jpp_notes_init(&jpp_notes);
    jpp_notes_facts(&jpp_notes, &telemetry);
    jpp_is_u64(telemetry.requests, JPP_NONE, "nobody has looked");

    jpp_notes_counted(&jpp_notes, 1000, 10000);
    jpp_notes_facts(&jpp_notes, &telemetry);
    jpp_is_u64(telemetry.requests, JPP_NONE, "once is no rate");

    jpp_notes_counted(&jpp_notes, 1500, 15000);
    jpp_notes_counted(&jpp_notes, 1600, 15000);
    jpp_notes_facts(&jpp_notes, &telemetry);
    jpp_is_u64(telemetry.requests, 1000, "a hundred a second");

    jpp_notes_counted(&jpp_notes, 1400, 20000);
    jpp_notes_facts(&jpp_notes, &telemetry);
    jpp_is_u64(telemetry.requests, 0, "a counter that falls");
}


JPP_TEST(jpp_active_test_requested)
{
    char      name[] = "a";
    unsigned  i;

    jpp_notes_init(&jpp_notes);

    jpp_notes_requested(&jpp_notes, "heap", 200);
    jpp_notes_requested(&jpp_notes, "status", 599);
    jpp_notes_requested(&jpp_notes, "heap", 204);
    jpp_notes_requested(&jpp_notes, "heap", 499);
    jpp_notes_requested(&jpp_notes, "heap", 0);
    jpp_notes_requested(&jpp_notes, "heap", 600);
    jpp_notes_facts(&jpp_notes, &telemetry);

    jpp_is_str(telemetry.requested[0].name, "heap", "a resource");
    jpp_is_u64(telemetry.requested[0].answers[0], 2, "that was served twice");
    jpp_is_u64(telemetry.requested[0].answers[2], 1, "and refused once");
    jpp_is_u64(telemetry.requested[1].answers[3], 1, "another one");
    jpp_is_str(telemetry.requested[2].name, "", "and no more");

    jpp_notes.notes[0].worker.started = 7;

    for (i = 0; i < 2 * JPP_RESOURCES; i++) {
        name[0] = (char) ('0' + i);
        jpp_notes_requested(&jpp_notes, name, 200);
    }

    jpp_is_str(jpp_notes.requested[JPP_RESOURCES - 1].name, "E", "the last");
    jpp_is_i64(jpp_notes.notes[0].worker.started, 7, "nothing is behind it");
}


/* Which findings are said, and when; and what workers write down. */


#include "jpp_diagnosis.h"
#include "jpp_test_fleet.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"


static jpp_finding_t  jpp_found[JPP_FINDINGS];
static jpp_notes_t    notes;


static jpp_telemetry_t  telemetry;


static void
jpp_active_test_stand(void)
{
    size_t  i, n;

    n = jpp_active_findings(&notes, jpp_found);

    for (i = 0; i < n; i++) {
        jpp_note_of("stands", jpp_found[i], id, because, since, acknowledged);
    }
}


/* What is said of what holds NOW, and stands then. */

static void
jpp_active_test_at(int64_t now, bool has_swap, bool has_peak, const char *what)
{
    size_t  i, n;

    jpp_note("at %d: %s", (int) now, what);
    n = 0;

    if (has_swap) {
        jpp_finding_of(JPP_FINDING_SWAP, &jpp_found[n]);
        (void) jpp_finding_because(&jpp_found[n++], "swap %d", (int) now);
    }

    if (has_peak) {
        jpp_finding_of(JPP_FINDING_PEAK, &jpp_found[n]);
        (void) jpp_finding_because(&jpp_found[n++], "peak %d", (int) now);
    }

    n = jpp_active_update(&notes, jpp_found, n, now);

    for (i = 0; i < n; i++) {
        jpp_note_of("is said", jpp_found[i], id, because, fix);
    }

    jpp_active_test_stand();
}


/* What the notes are as facts. */

static void
jpp_active_test_facts(const char *what)
{
    memset(&telemetry, 0xee, sizeof(telemetry));
    jpp_notes_facts(&notes, &telemetry);
    jpp_note_of(what, telemetry.noted, unclean_exits, vanished.who.index,
                vanished.who.pid, vanished.rss, vanished.at, killed.n,
                killed.at, inherited, inherited_before, requests,
                standing[JPP_FINDING_SWAP].since,
                standing[JPP_FINDING_SWAP].acknowledged);
}


void
jpp_before_each(void)
{
    jpp_notes_init(&notes);
}


JPP_TEST(jpp_active_test_rise)
{
    size_t  i, n;

    static jpp_event_t  events[JPP_EVENTS];

    jpp_active_test_at(1000, false, false, "nothing holds, or stands");
    jpp_active_test_at(1005, true, false, "it rises");
    jpp_active_test_at(1010, true, false, "it is said once");
    jpp_active_test_at(1069, false, false, "it is gone, but stands a minute");
    jpp_active_test_at(1069, true, false, "it comes back");
    jpp_active_test_at(1129, false, false, "after a minute it is over");
    jpp_active_test_at(1200, true, false, "a rise soon after is not said");
    jpp_active_test_at(1300, false, false, "it is over");
    jpp_active_test_at(1604, true, false, "nor ten minutes, less a second");
    jpp_active_test_at(1704, false, false, "it is over");
    jpp_active_test_at(1705, true, false, "but then it is");

    n = jpp_events_list(&notes.events, events);

    for (i = 0; i < n; i++) {
        jpp_note_of("event", events[i], time, text);
    }

    jpp_shows_notes("what rises");
}


/* set back by an hour, or on by one */

JPP_TEST(jpp_active_test_clock)
{
    jpp_active_test_at(10000, true, false, "it rises");
    jpp_active_test_at(6400, false, false, "an hour back it stands");
    jpp_active_test_at(6460, false, false, "for a minute");
    jpp_active_test_at(6999, true, false, "a rise is not said again");
    jpp_active_test_at(7100, false, false, "it is over");
    jpp_active_test_at(7101, true, false, "but for ten minutes only");
    jpp_active_test_at(10701, true, false, "an hour on, what stands is not");
    jpp_shows_notes("a clock that is set");
}


/* by somebody who was killed as he wrote over something shorter */

JPP_TEST(jpp_active_test_torn)
{
    jpp_active_test_at(1000, true, false, "it rises");

    memset(&notes.active[JPP_FINDING_SWAP].finding, 'x', sizeof(jpp_finding_t));

    (void) jpp_active_findings(&notes, jpp_found);

    jpp_note("owner %zu, numbers %zu, fix %zu, link %zu",
             strlen(jpp_found[0].owner), strlen(jpp_found[0].because),
             strlen(jpp_found[0].fix), strlen(jpp_found[0].link));
    jpp_shows_notes("texts end all the same");
    jpp_is_str(jpp_found[0].id, "swap", "no pointer of his is used");
}


JPP_TEST(jpp_active_test_order)
{
    jpp_active_test_at(1000, true, false, "one");
    jpp_active_test_at(1005, true, true, "a second one is said alone");
    jpp_shows_notes("both stand, in the order of the table");
}


JPP_TEST(jpp_active_test_notes)
{
    jpp_note_t    *note;
    jpp_worker_t   worker;

    memset(&notes, 0xee, sizeof(notes));
    jpp_notes_init(&notes);

    note = &notes.notes[JPP_NOTES - 1];
    jpp_note_clear(note);

    jpp_is_i64(note->worker.started, 0, "a new note is empty");

    jpp_active_test_facts("nobody has vanished");

    worker = jpp_fleet_worker(3, JPP_JEMALLOC_READY);
    jpp_notes_vanished(&notes, &worker.who, note, 100);
    jpp_is_u64(notes.noted.vanished.rss, JPP_NONE, "one that wrote nothing");

    worker.activity.usage.rss = 300;
    jpp_note_write(note, &worker, 0);
    worker.activity.usage.rss = 200;
    jpp_note_write(note, &worker, 5);

    jpp_ok(note->worker.jemalloc.variable == NULL
           && note->worker.history == NULL, "no pointer is shared");

    worker.has_stats = false;
    jpp_note_write(note, &worker, 10);
    jpp_note_of("points", note->history, n, allocated[0], rss[0], rss[1],
                allocated[2]);

    jpp_notes_vanished(&notes, &worker.who, note, 200);
    jpp_active_test_facts("two have vanished");

    /* the kernel's count goes up, or it is read again */

    jpp_notes_killed(&notes, 2, 300);
    jpp_notes_killed(&notes, 2, 400);
    jpp_active_test_facts("two were killed, when that was seen first");

    jpp_notes_killed(&notes, 2, 150);
    jpp_active_test_facts("a clock that goes back takes both along");
    jpp_shows_notes("what workers write down");
}


static void
jpp_active_test_acknowledge(int64_t now)
{
    jpp_finding_t  finding;

    if (jpp_active_acknowledge(&notes, JPP_FINDING_SWAP, now, &finding)) {
        jpp_note_of("acknowledged", finding, id, since, acknowledged);

    } else {
        jpp_note("nothing stands");
    }
}


/* Two acknowledge it at once; it falls, rises, and happens once more. */

JPP_TEST(jpp_active_test_acknowledged)
{
    jpp_active_test_acknowledge(900);
    jpp_active_test_at(1000, true, true, "two rise");
    jpp_active_test_acknowledge(1002);
    jpp_active_test_acknowledge(1004);
    jpp_active_test_at(1005, true, true, "one is acknowledged since the first");

    jpp_active_test_facts("facts have since when");

    jpp_active_test_at(1065, false, false, "it falls meanwhile");
    jpp_active_test_acknowledge(1066);
    jpp_active_test_at(1070, true, false, "it rises as a new one");

    /* an event */

    jpp_active_test_acknowledge(1080);

    jpp_found[0].at = 1080;
    (void) jpp_active_update(&notes, jpp_found, 1, 1085);
    jpp_active_test_stand();

    jpp_found[0].at = 1081;
    (void) jpp_active_update(&notes, jpp_found, 1, 1090);
    jpp_active_test_stand();
    jpp_shows_notes("acknowledged; of two events the one that was known");
}


JPP_TEST(jpp_active_test_inherited)
{
    jpp_notes_inherited(&notes, 1, 100);
    jpp_active_test_facts("the first configuration has none before it");

    jpp_notes_inherited(&notes, 1, 90);
    jpp_notes_inherited(&notes, 1, 110);
    jpp_notes_inherited(&notes, 2, 200);
    jpp_notes_inherited(&notes, 1, 10);
    jpp_active_test_facts("the next one, and the least before it");

    jpp_notes_inherited(&notes, 4, 300);
    jpp_active_test_facts("not all have workers");
    jpp_shows_notes("what is inherited");
}


/* The rate is that between the last two looks. */

JPP_TEST(jpp_active_test_counted)
{
    jpp_active_test_facts("nobody has looked");

    jpp_notes_counted(&notes, 1000, 10000);
    jpp_active_test_facts("once is no rate");

    jpp_notes_counted(&notes, 1500, 15000);
    jpp_notes_counted(&notes, 1600, 15000);
    jpp_active_test_facts("a hundred a second");

    jpp_notes_counted(&notes, 1400, 20000);
    jpp_active_test_facts("a counter that falls");
    jpp_shows_notes("requests");
}


JPP_TEST(jpp_active_test_requested)
{
    char      name[] = "a";
    unsigned  i;

    jpp_notes_requested(&notes, "heap", 200);
    jpp_notes_requested(&notes, "status", 599);
    jpp_notes_requested(&notes, "heap", 204);
    jpp_notes_requested(&notes, "heap", 499);
    jpp_notes_requested(&notes, "heap", 0);
    jpp_notes_requested(&notes, "heap", 600);
    jpp_notes_facts(&notes, &telemetry);

    for (i = 0; i < 3; i++) {
        jpp_note_of("resource", telemetry.noted.requested[i], name, answers[0],
                    answers[1], answers[2], answers[3]);
    }

    jpp_shows_notes("served twice and refused once, another one, and no more");

    notes.notes[0].worker.started = 7;

    for (i = 0; i < 2 * JPP_RESOURCES; i++) {
        name[0] = (char) ('0' + i);
        jpp_notes_requested(&notes, name, 200);
    }

    jpp_is_str(notes.noted.requested[JPP_RESOURCES - 1].name, "E", "the last");
    jpp_is_i64(notes.notes[0].worker.started, 7, "nothing is behind it");
}


/* The ring of events, and the list that is made of it and of stalls. */


#include "jpp_control.h"
#include "jpp_diagnosis.h"
#include "jpp_test_arena.h"
#include "jpp_test_fleet.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"
#include "jpp_timeline.h"


static jpp_events_t  jpp_events;
static jpp_event_t   jpp_list[JPP_EVENTS];
static jpp_notes_t   jpp_noted_down;

static const jpp_identity_t  jpp_who = { 1, 4712, 3 };


static void
jpp_events_test_fill(unsigned n)
{
    unsigned  i;

    memset(&jpp_events, 0, sizeof(jpp_events_t));

    for (i = 0; i < n; i++) {
        jpp_events_add(&jpp_events, JPP_EVENT_RELOAD, 1000 + i,
                       i % 2 == 0 ? &jpp_who : NULL, "event %u", i);
    }
}


/* Its ends, for none, some, all and more than all. */

JPP_TEST(jpp_events_test_ring)
{
    size_t  i, n;

    static const unsigned  fills[] = { 0, 3, JPP_EVENTS, JPP_EVENTS + 2 };

    for (i = 0; i < 4; i++) {
        jpp_events_test_fill(fills[i]);
        n = jpp_events_list(&jpp_events, jpp_list);
        jpp_note("of %u: %zu", fills[i], n);
        jpp_note_of("counted", jpp_events, counts[JPP_EVENT_RELOAD]);

        if (n != 0) {
            jpp_note_of("the newest", jpp_list[0], time, who.pid, text);
            jpp_note_of("the next", jpp_list[1], time, who.pid, text);
            jpp_note_of("the oldest", jpp_list[n - 1], time, who.pid, text);
        }
    }

    jpp_shows_notes("events, the newest first");
}


/* by a worker that was killed at any byte of an event */

JPP_TEST(jpp_events_test_torn)
{
    size_t            i, wrong;
    uint8_t          *byte;
    jpp_event_slot_t  slot;

    jpp_events_test_fill(2);
    slot = jpp_events.slots[1];

    for (i = 0, wrong = 0; i < offsetof(jpp_event_t, text) + 8; i++) {
        byte = (uint8_t *) &jpp_events.slots[1].event + i;
        *byte ^= 0x55;

        wrong += jpp_events_list(&jpp_events, jpp_list) != 1
                 || strcmp(jpp_list[0].text, "event 0") != 0;

        jpp_events.slots[1] = slot;
    }

    jpp_is_u64(wrong, 0, "half an event is none, whichever byte differs");

    jpp_events.slots[1].sum++;
    jpp_is_u64(jpp_events_list(&jpp_events, jpp_list), 1, "nor another sum");

    slot.event.type = JPP_EVENT_TYPES;
    slot.sum = jpp_hash_bytes(&slot.event, sizeof(jpp_event_t));
    jpp_events.slots[1] = slot;
    jpp_is_u64(jpp_events_list(&jpp_events, jpp_list), 1, "nor a type of none");
}


JPP_TEST(jpp_events_test_long)
{
    memset(&jpp_events, 0, sizeof(jpp_events_t));

    jpp_events_add(&jpp_events, JPP_EVENT_START, 1, NULL, "%0300d", 7);
    (void) jpp_events_list(&jpp_events, jpp_list);
    jpp_is_u64(strlen(jpp_list[0].text), JPP_EVENT_TEXT - 1,
               "a long text is truncated");
}


/* Shows events of notes, the newest first. */

static void
jpp_events_test_shows(const char *name)
{
    size_t  i, n;

    n = jpp_events_list(&jpp_noted_down.events, jpp_list);

    for (i = 0; i < n; i++) {
        jpp_note("%s: %s", jpp_event_types[jpp_list[i].type], jpp_list[i].text);
    }

    jpp_shows_notes("%s", name);
}


JPP_TEST(jpp_events_test_sources)
{
    jpp_note_t    *note;
    jpp_cgroup_t   cgroup = { 0 };
    jpp_identity_t who;

    jpp_notes_init(&jpp_noted_down);

    note = &jpp_noted_down.notes[0];
    jpp_note_clear(note);

    for (who = jpp_who, who.generation = 1; who.generation < 3;
         who.generation++)
    {
        jpp_notes_started(&jpp_noted_down, &who, 1000);
        jpp_notes_started(&jpp_noted_down, &who, 1000);
    }

    who.generation = 1;
    jpp_notes_started(&jpp_noted_down, &who, 1001);

    jpp_events_test_shows("the first worker of each generation");

    jpp_notes_init(&jpp_noted_down);
    jpp_notes_ended(&jpp_noted_down, &jpp_who, 1000);
    jpp_notes_vanished(&jpp_noted_down, &jpp_who, note, 1000);
    note->worker.started = 900;
    note->worker.activity.usage.rss = 300 * 1024 * 1024;
    jpp_notes_vanished(&jpp_noted_down, &jpp_who, note, 1000);
    jpp_notes_vanished(&jpp_noted_down, &jpp_who, note, 800);
    jpp_notes_killed(&jpp_noted_down, 2, 1000);
    jpp_notes_killed(&jpp_noted_down, 2, 1000);
    jpp_notes_killed(&jpp_noted_down, 3, 1000);

    jpp_events_test_shows("the ends of workers");

    /* the tightest of all levels counts */

    jpp_notes_init(&jpp_noted_down);
    jpp_notes_limit(&jpp_noted_down, NULL, 1000);
    cgroup.n_levels = 2;
    cgroup.levels[0].limit = JPP_NONE;
    cgroup.levels[1].limit = 1024 * 1024;
    jpp_notes_limit(&jpp_noted_down, &cgroup, 1000);
    jpp_notes_limit(&jpp_noted_down, &cgroup, 1000);
    cgroup.levels[0].limit = 512 * 1024;
    jpp_notes_limit(&jpp_noted_down, &cgroup, 1000);
    cgroup.levels[0].limit = cgroup.levels[1].limit = JPP_NONE;
    jpp_notes_limit(&jpp_noted_down, &cgroup, 1000);
    jpp_notes_limit(&jpp_noted_down, NULL, 1000);

    jpp_events_test_shows("the limit, where it has changed");
}


JPP_TEST(jpp_events_test_control)
{
    char           text[JPP_CONTROL_TEXT];
    jpp_args_t     args;
    unsigned       i;
    jpp_control_t  control;

    static const char *const  queries[] = {
        "active=off", "sampler=on&lg_sample=14", "stall=off", "stall=250ms",
        "owners=on&reset=1&purge=1", "acknowledge=oom-kill", ""
    };

    for (i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
        jpp_control_init(&control);
        memset(&args, 0, sizeof(jpp_args_t));

        (void) jpp_control_query(&control, &args, queries[i],
                                 strlen(queries[i]), &err);

        jpp_is_str(jpp_control_text(&control, text), queries[i],
                   "a change as a query");
    }
}


static jpp_args_t    jpp_args;
static size_t        jpp_n_stalls;
static bool          jpp_is_done;
static jpp_output_t  jpp_output;


static void
jpp_events_test_writer(const jpp_fleet_t *fleet, jpp_sink_t *sink)
{
    static jpp_stall_t  stalls[2];

    (void) fleet;

    stalls[0].time_nanos = 1001500000000;
    stalls[0].nanos = 300000000;
    stalls[0].pid = 4711;
    strcpy(stalls[0].where, "blocked in f");
    strcpy(stalls[0].location, "/slow");
    strcpy(stalls[0].server, "www");
    stalls[1].time_nanos = 900000000000;

    jpp_is_done = jpp_timeline_write(&jpp_events, stalls, jpp_n_stalls,
                                     &jpp_args, &arena, sink);
}


static const char *
jpp_events_test_write(unsigned form, unsigned top, size_t n_stalls)
{
    jpp_n_stalls = n_stalls;

    jpp_args_init(&jpp_args, &jpp_words_top, &jpp_words_top);

    jpp_args.values[JPP_ARG_FORMAT] = form;
    jpp_args.values[JPP_ARG_TOP] = top;
    jpp_args.values[JPP_ARG_COLS] = 200;

    (void) jpp_output_fill(&jpp_output, jpp_events_test_writer, NULL, 0);

    return jpp_output.text;
}


JPP_TEST(jpp_events_test_list)
{
    jpp_events_test_fill(2);

    jpp_note("%s", jpp_events_test_write(0, 20, 2));
    jpp_shows_notes("a table, with stalls at their places");

    jpp_shows(jpp_events_test_write(0, 1, 2), "one row, of four");

    jpp_shows(jpp_events_test_write(1, 20, 1), "counts as JSON, and events");

    jpp_events_test_fill(0);
    jpp_is_str(jpp_events_test_write(0, 20, 0), "no events yet\n", "none");

    jpp_events_test_fill(JPP_EVENTS);
    jpp_args.values[JPP_ARG_TOP] = JPP_EVENTS;
    jpp_args.values[JPP_ARG_FORMAT] = 0;
    jpp_output_fails(&jpp_output, jpp_events_test_writer, NULL);

    jpp_denies(&arena, jpp_test_anew(), 100,
               ((void) jpp_output_fill(&jpp_output, jpp_events_test_writer,
                                       NULL, 0), jpp_done_code(jpp_is_done)));
}

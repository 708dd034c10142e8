
#include <stdio.h>
#include <string.h>

#include "jpp_notes.h"


void
jpp_notes_init(jpp_notes_t *notes)
{
    memset(notes, 0, offsetof(jpp_notes_t, notes));

    notes->inherited[0].bytes = JPP_NONE;
    notes->inherited[1].bytes = JPP_NONE;
}


void
jpp_note_clear(jpp_note_t *note)
{
    note->worker.started = 0;

    jpp_history_init(&note->history);
}


void
jpp_note_write(jpp_note_t *note, const jpp_worker_t *worker, uint64_t seconds)
{
    jpp_worker_t         copy;
    jpp_history_point_t  point;

    point.allocated = worker->has_stats ? worker->stats.allocated : JPP_NONE;
    point.rss = worker->activity.usage.rss;

    jpp_history_add(&note->history, seconds, &point);

    /* whoever is killed meanwhile must not leave a pointer */

    copy = *worker;
    copy.jemalloc.variable = NULL;
    copy.history = NULL;

    note->worker = copy;
}


void
jpp_notes_vanished(jpp_notes_t *notes, const jpp_identity_t *who,
    const jpp_note_t *note)
{
    notes->n_vanished++;

    notes->vanished.who = *who;
    notes->vanished.rss = note->worker.started != 0
                          ? note->worker.activity.usage.rss : JPP_NONE;
}


void
jpp_notes_inherited(jpp_notes_t *notes, uint64_t generation, uint64_t bytes)
{
    jpp_inherited_t  *inherited;

    inherited = notes->inherited;

    if (generation > inherited[0].generation) {
        inherited[1] = inherited[0];
        inherited[0].generation = generation;
        inherited[0].bytes = bytes;

    } else if (generation == inherited[0].generation
               && bytes < inherited[0].bytes)
    {
        inherited[0].bytes = bytes;
    }
}


/* those that there is no place for are not counted: there are not so many */

void
jpp_notes_requested(jpp_notes_t *notes, const char *name, unsigned status)
{
    size_t            i;
    jpp_requested_t  *requested;

    if (status < 200 || status > 599) {
        return;
    }

    for (i = 0; i < JPP_RESOURCES; i++) {
        requested = &notes->requested[i];

        if (requested->name[0] == '\0') {
            (void) snprintf(requested->name, JPP_RESOURCE, "%s", name);
        }

        if (strcmp(requested->name, name) == 0) {
            requested->answers[status / 100 - 2]++;
            return;
        }
    }
}


void
jpp_notes_facts(const jpp_notes_t *notes, jpp_telemetry_t *telemetry)
{
    telemetry->unclean_exits = notes->n_vanished;
    telemetry->vanished = notes->vanished;
    telemetry->standing = jpp_standing_bits(notes->standing);
    telemetry->inherited = notes->inherited[0].bytes;
    telemetry->inherited_before = notes->inherited[1].bytes;

    memcpy(telemetry->requested, notes->requested, sizeof(notes->requested));
}

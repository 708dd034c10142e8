
#include "jpp_notes.h"


size_t
jpp_active_update(jpp_active_t active[JPP_FINDINGS],
    jpp_finding_t findings[JPP_FINDINGS], size_t n, int64_t now)
{
    size_t         i, n_said;
    jpp_active_t  *s;

    for (i = 0; i < JPP_FINDINGS; i++) {
        s = &active[i];
        s->holds = 0;

        /* the clock may have been set back */

        s->since = s->since < now ? s->since : now;
        s->seen = s->seen < now ? s->seen : now;
        s->said = s->said < now ? s->said : now;
    }

    for (i = 0, n_said = 0; i < n; i++) {
        s = &active[findings[i].number];
        s->holds = 1;

        memcpy(s->because, findings[i].because, sizeof(s->because));

        if (s->since == 0) {
            s->since = now;

            if (s->said == 0 || now - s->said >= JPP_ACTIVE_REPEAT) {
                s->said = now;
                findings[n_said++] = findings[i];
            }
        }

        s->seen = now;
    }

    for (i = 0; i < JPP_FINDINGS; i++) {
        s = &active[i];

        if (s->since != 0 && now - s->seen >= JPP_ACTIVE_OVER) {
            s->since = 0;
        }
    }

    return n_said;
}


uint32_t
jpp_active_bits(const jpp_active_t active[JPP_FINDINGS])
{
    uint32_t  bits;
    unsigned  i;

    for (i = 0, bits = 0; i < JPP_FINDINGS; i++) {
        bits |= (uint32_t) active[i].holds << i;
    }

    return bits;
}


size_t
jpp_active_findings(const jpp_active_t active[JPP_FINDINGS],
    jpp_finding_t findings[JPP_FINDINGS])
{
    size_t    n;
    unsigned  i;

    for (i = 0, n = 0; i < JPP_FINDINGS; i++) {

        if (active[i].since != 0) {
            jpp_finding_of(i, &findings[n]);
            memcpy(findings[n].because, active[i].because,
                   sizeof(findings[n].because));

            /* whoever wrote it may have been killed meanwhile */

            findings[n++].because[sizeof(findings[0].because) - 1] = '\0';
        }
    }

    return n;
}


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
    telemetry->active = jpp_active_bits(notes->active);
    telemetry->inherited = notes->inherited[0].bytes;
    telemetry->inherited_before = notes->inherited[1].bytes;

    memcpy(telemetry->requested, notes->requested, sizeof(notes->requested));
}

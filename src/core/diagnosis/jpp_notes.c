
#include "jpp_notes.h"


/* The clock may have been set back. */

static void
jpp_active_clock(int64_t *time, int64_t now)
{
    *time = *time < now ? *time : now;
}


/* Whoever wrote it may have been killed meanwhile: every text gets an end. */

static void
jpp_active_finding(const jpp_active_t *active, jpp_finding_id_t id,
    jpp_finding_t *finding)
{
    *finding = active->finding;

    jpp_finding_named(id, finding);

    finding->owner[sizeof(finding->owner) - 1] = '\0';
    finding->place[sizeof(finding->place) - 1] = '\0';
    finding->because[sizeof(finding->because) - 1] = '\0';
    finding->fix[sizeof(finding->fix) - 1] = '\0';
    finding->link[sizeof(finding->link) - 1] = '\0';

    finding->since = active->since;
    finding->acknowledged = active->acknowledged;
}


size_t
jpp_active_update(jpp_active_t active[JPP_FINDINGS],
    jpp_finding_t findings[JPP_FINDINGS], size_t n, int64_t now,
    jpp_events_t *events)
{
    size_t         i, n_said;
    jpp_active_t  *s;

    for (i = 0; i < JPP_FINDINGS; i++) {
        s = &active[i];
        s->holds = 0;

        jpp_active_clock(&s->since, now);
        jpp_active_clock(&s->seen, now);
        jpp_active_clock(&s->said, now);
        jpp_active_clock(&s->acknowledged, now);
    }

    for (i = 0, n_said = 0; i < n; i++) {
        s = &active[findings[i].number];
        s->holds = 1;

        /* what happened once more is news */

        if (s->acknowledged < findings[i].at) {
            s->acknowledged = 0;
        }

        /* no pointer is shared: each process has its own */

        s->finding = findings[i];
        s->finding.id = s->finding.what = NULL;

        if (s->since == 0) {
            s->since = now;

            jpp_events_add(events, JPP_EVENT_FINDING, now, NULL, "%s: %s",
                           findings[i].id, findings[i].because);

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
            jpp_events_add(events, JPP_EVENT_OVER, now, NULL, "%s, after "
                           "%" PRId64 " s", jpp_finding_ids[i],
                           s->seen - s->since);

            s->since = 0;
            s->acknowledged = 0;
        }
    }

    return n_said;
}


bool
jpp_active_acknowledge(jpp_active_t active[JPP_FINDINGS],
    jpp_finding_id_t id, int64_t now, jpp_finding_t *finding)
{
    jpp_active_t  *s;

    s = &active[id];

    if (s->since == 0) {
        return false;
    }

    /* whoever comes second reads when the first one did */

    if (s->acknowledged == 0) {
        s->acknowledged = now;
    }

    jpp_active_finding(s, id, finding);

    return true;
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
            jpp_active_finding(&active[i], i, &findings[n++]);
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
    notes->counted.rate = JPP_NONE;
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
jpp_notes_started(jpp_notes_t *notes, const jpp_identity_t *who, int64_t now)
{
    if (who->generation <= notes->newest) {
        return;
    }

    if (notes->newest == 0) {
        jpp_events_add(&notes->events, JPP_EVENT_START, now, NULL,
                       "nginx, or another build of this module, has "
                       "started");

    } else {
        jpp_events_add(&notes->events, JPP_EVENT_RELOAD, now, NULL,
                       "generation %" PRIu64 " of the configuration",
                       who->generation);
    }

    notes->newest = who->generation;
}


void
jpp_notes_ended(jpp_notes_t *notes, const jpp_identity_t *who, int64_t now)
{
    jpp_events_add(&notes->events, JPP_EVENT_ENDED, now, who,
                   "the last worker of generation %" PRIu64 " has exited",
                   who->generation);
}


void
jpp_notes_limit(jpp_notes_t *notes, const jpp_cgroup_t *cgroup, int64_t now)
{
    size_t    i;
    uint64_t  limit;

    if (cgroup == NULL) {
        return;
    }

    /* JPP_NONE is the largest number */

    for (i = 0, limit = JPP_NONE; i < cgroup->n_levels; i++) {
        limit = jpp_smaller(limit, cgroup->levels[i].limit);
    }

    if (notes->limit != 0 && notes->limit != limit) {
        jpp_events_add(&notes->events, JPP_EVENT_LIMIT, now, NULL,
                       "the memory limit is %s, and was %s",
                       limit != JPP_NONE ? jpp_bytes(limit) : "off",
                       notes->limit != JPP_NONE ? jpp_bytes(notes->limit)
                                                : "off");
    }

    notes->limit = limit;
}


void
jpp_notes_vanished(jpp_notes_t *notes, const jpp_identity_t *who,
    const jpp_note_t *note, int64_t now)
{
    notes->n_vanished++;

    notes->vanished.at = now;
    notes->vanished.who = *who;
    notes->vanished.rss = note->worker.started != 0
                          ? note->worker.activity.usage.rss : JPP_NONE;

    if (notes->vanished.rss == JPP_NONE) {
        jpp_events_add(&notes->events, JPP_EVENT_CRASH, now, who,
                       "the worker crashed or was killed");
        return;
    }

    jpp_events_add(&notes->events, JPP_EVENT_CRASH, now, who,
                   "the worker crashed or was killed, after %" PRId64 " s and "
                   "with an RSS of %s",
                   now > note->worker.started ? now - note->worker.started : 0,
                   jpp_bytes(notes->vanished.rss));
}


void
jpp_notes_killed(jpp_notes_t *notes, uint64_t kills, int64_t now)
{
    jpp_active_clock(&notes->killed.at, now);
    jpp_active_clock(&notes->vanished.at, now);

    if (kills > notes->killed.n) {
        jpp_events_add(&notes->events, JPP_EVENT_KILL, now, NULL, "the kernel "
                       "has killed %" PRIu64 " process%s of the cgroup: memory "
                       "ran out", kills - notes->killed.n,
                       kills - notes->killed.n == 1 ? "" : "es");

        notes->killed.n = kills;
        notes->killed.at = now;
    }
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
jpp_notes_counted(jpp_notes_t *notes, uint64_t total, uint64_t now)
{
    jpp_counted_t  *last;

    last = &notes->counted;

    if (now > last->at) {
        last->rate = last->at == 0 ? JPP_NONE
                     : jpp_less(total, last->total) * 10000 / (now - last->at);
        last->total = total;
        last->at = now;
    }
}


void
jpp_notes_facts(const jpp_notes_t *notes, jpp_telemetry_t *telemetry)
{
    size_t  i;

    for (i = 0; i < JPP_FINDINGS; i++) {
        telemetry->standing[i].since = notes->active[i].since;
        telemetry->standing[i].acknowledged = notes->active[i].acknowledged;
    }

    telemetry->unclean_exits = notes->n_vanished;
    telemetry->vanished = notes->vanished;
    telemetry->killed = notes->killed;
    telemetry->active = jpp_active_bits(notes->active);
    telemetry->inherited = notes->inherited[0].bytes;
    telemetry->inherited_before = notes->inherited[1].bytes;
    telemetry->requests = notes->counted.rate;

    memcpy(telemetry->events, notes->events.counts,
           sizeof(notes->events.counts));
    memcpy(telemetry->requested, notes->requested, sizeof(notes->requested));
}

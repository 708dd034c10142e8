
/*
 * Shared notes of the workers: their states and histories, and the findings
 * about all of them.
 */


#include "jpp_diagnosis.h"


/* The clock may have been set back. */

static void
jpp_active_clock(int64_t *time, int64_t now)
{
    *time = *time < now ? *time : now;
}


/* Whoever wrote it may have been killed meanwhile: every text gets an end. */

static void
jpp_active_finding(const jpp_notes_t *notes, jpp_finding_id_t id,
    jpp_finding_t *finding)
{
    *finding = notes->active[id].finding;

    jpp_finding_named(id, finding);

    finding->owner[sizeof(finding->owner) - 1] = '\0';
    finding->place[sizeof(finding->place) - 1] = '\0';
    finding->because[sizeof(finding->because) - 1] = '\0';
    finding->fix[sizeof(finding->fix) - 1] = '\0';
    finding->link[sizeof(finding->link) - 1] = '\0';

    finding->since = notes->noted.standing[id].since;
    finding->acknowledged = notes->noted.standing[id].acknowledged;
}


size_t
jpp_active_update(jpp_notes_t *notes, jpp_finding_t findings[JPP_FINDINGS],
    size_t n, int64_t now)
{
    size_t           i, n_said;
    jpp_active_t    *active;
    jpp_standing_t  *standing;

    for (i = 0; i < JPP_FINDINGS; i++) {
        standing = &notes->noted.standing[i];
        standing->holds = false;

        jpp_active_clock(&standing->since, now);
        jpp_active_clock(&standing->acknowledged, now);
        jpp_active_clock(&notes->active[i].seen, now);
        jpp_active_clock(&notes->active[i].said, now);
    }

    for (i = 0, n_said = 0; i < n; i++) {
        active = &notes->active[findings[i].number];
        standing = &notes->noted.standing[findings[i].number];
        standing->holds = true;

        /* what happened once more is news */

        if (standing->acknowledged < findings[i].at) {
            standing->acknowledged = 0;
        }

        /* no pointer is shared: each process has its own */

        active->seen = now;
        active->finding = findings[i];
        active->finding.id = active->finding.what = NULL;

        if (standing->since == 0) {
            standing->since = now;

            jpp_events_add(&notes->events, JPP_EVENT_FINDING, now, NULL,
                           "%s: %s", findings[i].id, findings[i].because);

            if (active->said == 0 || now - active->said >= JPP_ACTIVE_REPEAT) {
                active->said = now;
                findings[n_said++] = findings[i];
            }
        }
    }

    for (i = 0; i < JPP_FINDINGS; i++) {
        active = &notes->active[i];
        standing = &notes->noted.standing[i];

        if (standing->since != 0 && now - active->seen >= JPP_ACTIVE_OVER) {
            jpp_events_add(&notes->events, JPP_EVENT_OVER, now, NULL,
                           "%s, after %" PRId64 " s", jpp_finding_ids[i],
                           active->seen - standing->since);

            standing->since = 0;
            standing->acknowledged = 0;
        }
    }

    return n_said;
}


bool
jpp_active_acknowledge(jpp_notes_t *notes, jpp_finding_id_t id, int64_t now,
    jpp_finding_t *finding)
{
    jpp_standing_t  *standing;

    standing = &notes->noted.standing[id];

    if (standing->since == 0) {
        return false;
    }

    /* whoever comes second reads when the first one did */

    if (standing->acknowledged == 0) {
        standing->acknowledged = now;
    }

    jpp_active_finding(notes, id, finding);

    return true;
}


size_t
jpp_active_findings(const jpp_notes_t *notes,
    jpp_finding_t findings[JPP_FINDINGS])
{
    size_t    n;
    unsigned  i;

    for (i = 0, n = 0; i < JPP_FINDINGS; i++) {
        if (notes->noted.standing[i].since != 0) {
            jpp_active_finding(notes, i, &findings[n++]);
        }
    }

    return n;
}


void
jpp_notes_init(jpp_notes_t *notes)
{
    memset(notes, 0, offsetof(jpp_notes_t, notes));

    notes->noted.inherited = JPP_NONE;
    notes->noted.inherited_before = JPP_NONE;
    notes->noted.requests = JPP_NONE;
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
    jpp_worker_t  copy;

    jpp_history_add(&note->history, seconds,
                    worker->has_stats ? worker->stats.allocated : JPP_NONE,
                    worker->activity.usage.rss);

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
    uint64_t  rss;

    rss = note->worker.started != 0 ? note->worker.activity.usage.rss
                                    : JPP_NONE;

    notes->noted.unclean_exits++;
    notes->noted.vanished = (jpp_vanished_t) { *who, rss, now };

    if (rss == JPP_NONE) {
        jpp_events_add(&notes->events, JPP_EVENT_CRASH, now, who,
                       "the worker crashed or was killed");
        return;
    }

    jpp_events_add(&notes->events, JPP_EVENT_CRASH, now, who,
                   "the worker crashed or was killed, after %" PRId64 " s and "
                   "with an RSS of %s",
                   now > note->worker.started ? now - note->worker.started : 0,
                   jpp_bytes(rss));
}


void
jpp_notes_killed(jpp_notes_t *notes, uint64_t kills, int64_t now)
{
    uint64_t  n;

    jpp_active_clock(&notes->noted.killed.at, now);
    jpp_active_clock(&notes->noted.vanished.at, now);

    n = jpp_less(kills, notes->noted.killed.n);

    if (n != 0) {
        jpp_events_add(&notes->events, JPP_EVENT_KILL, now, NULL, "the kernel "
                       "has killed %" PRIu64 " process%s of the cgroup: memory "
                       "ran out", n, n == 1 ? "" : "es");

        notes->noted.killed = (jpp_killed_t) { kills, now };
    }
}


void
jpp_notes_inherited(jpp_notes_t *notes, uint64_t generation, uint64_t bytes)
{
    if (generation > notes->heir) {
        notes->noted.inherited_before = notes->noted.inherited;
        notes->noted.inherited = bytes;
        notes->heir = generation;

    } else if (generation == notes->heir) {
        notes->noted.inherited = jpp_smaller(notes->noted.inherited, bytes);
    }
}


/* those that there is no place for are not counted: there are not so many */

void
jpp_notes_requested(jpp_notes_t *notes, const char *name, unsigned status)
{
    jpp_requested_t  *requested;

    if (status < 200 || status > 599) {
        return;
    }

    jpp_each(requested, notes->noted.requested, JPP_RESOURCES) {
        if (requested->name[0] == '\0') {
            jpp_print(requested->name, "%s", name);
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
    if (now > notes->counted_at) {
        notes->noted.requests = notes->counted_at == 0 ? JPP_NONE
                                : jpp_less(total, notes->counted) * 10000
                                  / (now - notes->counted_at);
        notes->counted = total;
        notes->counted_at = now;
    }
}


uint64_t
jpp_notes_held(jpp_notes_t *notes, const jpp_telemetry_t *telemetry,
    uint64_t now)
{
    uint64_t             allocated, total;
    const jpp_holder_t  *holder;
    const jpp_worker_t  *worker;

    if (telemetry->n_holders != 0) {
        jpp_held_begin(&notes->held);
    }

    jpp_each(holder, telemetry->holders, telemetry->n_holders) {
        jpp_held_see(&notes->held, holder->lasting, holder->place,
                     holder->bytes);
    }

    allocated = JPP_NONE;

    jpp_each(worker, telemetry->fleet->workers, telemetry->fleet->n) {
        if (worker->has_stats) {
            jpp_add_known(&allocated, worker->stats.allocated);
        }
    }

    total = jpp_verdict_total(telemetry);
    jpp_held_add(&notes->held, now, allocated, total);

    return total;
}


void
jpp_notes_facts(const jpp_notes_t *notes, jpp_telemetry_t *telemetry)
{
    telemetry->noted = notes->noted;
    telemetry->held = notes->held;

    memcpy(telemetry->events, notes->events.counts,
           sizeof(notes->events.counts));
}

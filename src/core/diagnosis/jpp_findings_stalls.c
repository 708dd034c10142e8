
/*
 * Event loops that stand still: whose, and by the records of their stalls,
 * which location did what.
 */


#include "jpp_findings.h"


/* milliseconds of a minute */
#define JPP_FINDING_STALLED  1000

/* "worker 4294967295 (pid 4294967295)" */
#define JPP_FINDING_WORKER   48


/* the stalls of one location, or in one function */
typedef struct {
    const jpp_stall_t  *longest;   /* NULL: there are none */
    uint64_t            n;
    uint64_t            nanos;     /* of all of them */
} jpp_culprit_t;


static const char  jpp_stalls_unwatched[] =
    "While a handler computes or waits for a disk, no other client of its "
    "worker is served. With jemalloc_pprof_stall 100ms, this sentence, the "
    "error log and the resource stalls say where.";


static bool
jpp_culprit_is_same(const jpp_stall_t *one, const jpp_stall_t *other)
{
    if (one->location[0] == '\0' && other->location[0] == '\0') {
        return strcmp(one->where, other->where) == 0;
    }

    return strcmp(one->location, other->location) == 0
           && strcmp(one->server, other->server) == 0;
}


/* Who kept the worker PID for longest, of all its stalls. */

static void
jpp_culprit(const jpp_telemetry_t *telemetry, int64_t pid,
    jpp_culprit_t *culprit)
{
    size_t              i, k;
    jpp_culprit_t       one;
    const jpp_stall_t  *stall, *other;

    *culprit = (jpp_culprit_t) { NULL, 0, 0 };

    for (i = 0; i < telemetry->n_stalls; i++) {
        stall = &telemetry->stalls[i];

        if (stall->pid != pid) {
            continue;
        }

        one = (jpp_culprit_t) { stall, 0, 0 };

        for (k = i; k < telemetry->n_stalls; k++) {
            other = &telemetry->stalls[k];

            if (other->pid != pid || !jpp_culprit_is_same(stall, other)) {
                continue;
            }

            one.n++;
            one.nanos += other->nanos;

            if (other->nanos > one.longest->nanos) {
                one.longest = other;
            }
        }

        if (one.nanos > culprit->nanos) {
            *culprit = one;
        }
    }
}


const char *
jpp_finding_stall(const jpp_stall_t *stall, const char *worker,
    char text[JPP_FINDING_STALL])
{
    bool  lasts;
    char  owner[JPP_STALL_OWNER], time[JPP_UNITS_TEXT];

    lasts = stall->state == JPP_STALL_LASTS;

    (void) jpp_units_time(stall->nanos, time);

    if (jpp_stall_owner(stall, owner)[0] != '\0') {
        (void) snprintf(text, JPP_FINDING_STALL, "%s %s %s for %s, %.200s",
                        owner, lasts ? "has kept" : "kept", worker, time,
                        stall->where);

    } else {
        (void) snprintf(text, JPP_FINDING_STALL, "%s %s still for %s, %.200s",
                        worker, lasts ? "has stood" : "stood", time,
                        stall->where);
    }

    return text;
}


/* of the worker where it is most */

bool
jpp_finding_stalls(const jpp_telemetry_t *telemetry, jpp_finding_t *finding)
{
    char                 who[JPP_FINDING_WORKER], all[JPP_UNITS_TEXT];
    char                 text[JPP_FINDING_STALL];
    size_t               i;
    uint64_t             most;
    jpp_culprit_t        culprit;
    const jpp_minute_t  *minute;
    const jpp_worker_t  *worker, *where;

    where = NULL;
    most = 0;

    for (i = 0; i < telemetry->fleet->n; i++) {
        worker = &telemetry->fleet->workers[i];
        minute = &worker->activity.minute;

        if (minute->slow > most
            && jpp_finding_above(finding, minute->slow, 100,
                                 JPP_FINDING_STALLED))
        {
            most = minute->slow;
            where = worker;
        }
    }

    if (where == NULL) {
        return false;
    }

    if (where->stalling.threshold == 0) {
        finding->fix = jpp_stalls_unwatched;
    }

    (void) snprintf(who, sizeof(who), "worker %" PRIu32 " (pid %" PRId64 ")",
                    where->who.index, where->who.pid);

    jpp_culprit(telemetry, where->who.pid, &culprit);

    if (culprit.longest == NULL || culprit.nanos / 1000000 < most / 2) {
        return jpp_finding_because(finding, "in the last minute, iterations of "
                   "more than %d ms kept the event loop of %s for %" PRIu64
                   " ms; the longest took %" PRIu64 " ms", JPP_RECENT_SLOW,
                   who, most, where->activity.minute.longest);
    }

    (void) jpp_stall_owner(culprit.longest, finding->owner);
    (void) jpp_finding_stall(culprit.longest, who, text);

    if (culprit.n == 1) {
        return jpp_finding_because(finding, "%s", text);
    }

    return jpp_finding_because(finding, "%s; %" PRIu64 " stalls in the last "
                               "minute took %s", text, culprit.n,
                               jpp_units_time(culprit.nanos, all));
}


/*
 * Findings about stalled event loops: the workers and, from recorded stalls,
 * the location and the function.
 */


#include "jpp_diagnosis.h"


/* milliseconds of a minute */
#define JPP_FINDING_STALLED  1000


/* the stalls of one location, or in one function */
typedef struct {
    const jpp_stall_t  *longest;   /* NULL: there are none */
    uint64_t            n;
    uint64_t            nanos;     /* of all of them */
} jpp_culprit_t;


static bool
jpp_culprit_is_same(const jpp_stall_t *one, const jpp_stall_t *other)
{
    if (one->location[0] == '\0' && other->location[0] == '\0') {
        return strcmp(one->where, other->where) == 0;
    }

    return strcmp(one->location, other->location) == 0
           && strcmp(one->server, other->server) == 0;
}


/* Who kept workers for longest, of all their stalls. */

static void
jpp_culprit(const jpp_telemetry_t *telemetry, jpp_culprit_t *culprit)
{
    jpp_culprit_t       one;
    const jpp_stall_t  *stall, *other;

    *culprit = (jpp_culprit_t) { NULL, 0, 0 };

    jpp_each(stall, telemetry->stalls, telemetry->n_stalls) {
        one = (jpp_culprit_t) { stall, 0, 0 };

        jpp_each(other, telemetry->stalls, telemetry->n_stalls) {
            if (!jpp_culprit_is_same(stall, other)) {
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
    bool         lasts;
    char         owner[JPP_STALL_OWNER];
    const char  *place;

    lasts = stall->state == JPP_STALL_LASTS;
    place = stall->place;

    if (jpp_stall_owner(stall, owner)[0] != '\0') {
        (void) snprintf(text, JPP_FINDING_STALL, "%s%s%s%s %s %s for %s, "
                        "%.200s", owner, place[0] != '\0' ? " (" : "", place,
                        place[0] != '\0' ? ")" : "",
                        lasts ? "has kept" : "kept", worker,
                        jpp_duration(stall->nanos), stall->where);

    } else {
        (void) snprintf(text, JPP_FINDING_STALL, "%s %s still for %s, %.200s",
                        worker, lasts ? "has stood" : "stood",
                        jpp_duration(stall->nanos), stall->where);
    }

    jpp_ascii_clean(text);

    return text;
}


/* of all workers, and the one where it took longest */

bool
jpp_finding_stalls(const jpp_telemetry_t *telemetry, jpp_finding_t *finding)
{
    char                 text[JPP_FINDING_STALL], owner[JPP_STALL_OWNER];
    uint64_t             sum;
    jpp_culprit_t        culprit;
    jpp_identity_t       who;
    const jpp_worker_t  *worker, *where;

    where = NULL;
    sum = 0;

    jpp_each(worker, telemetry->fleet->workers, telemetry->fleet->n) {
        sum += worker->activity.minute.slow;

        if (where == NULL
            || worker->activity.minute.longest > where->activity.minute.longest)
        {
            where = worker;
        }
    }

    if (where == NULL
        || !jpp_finding_above(finding, sum, 100, JPP_FINDING_STALLED))
    {
        return false;
    }

    if (where->stalling.threshold == 0) {
        jpp_print(finding->fix, "While a handler computes or waits for a disk, "
                  "no other client of its worker is served. POST stall=100ms "
                  "to control: this sentence, the error log and the resource "
                  "stalls then say where.");
        jpp_print(finding->link, "profile?mode=wall&seconds=10&format=top");
    }

    jpp_culprit(telemetry, &culprit);

    if (culprit.longest == NULL || culprit.nanos / 1000000 < sum / 2) {
        return jpp_finding_because(finding, "in the last minute, iterations "
                   "longer than %d ms blocked event loops for %s; the longest "
                   "took %s, in %s", JPP_RECENT_SLOW,
                   jpp_duration(sum * 1000000),
                   jpp_duration(where->activity.minute.longest * 1000000),
                   jpp_worker_name(&where->who));
    }

    jpp_print(finding->owner, "%s", jpp_stall_owner(culprit.longest, owner));
    jpp_print(finding->place, "%s", culprit.longest->place);
    jpp_ascii_clean(finding->place);

    who.index = culprit.longest->index;
    who.pid = culprit.longest->pid;

    (void) jpp_finding_stall(culprit.longest, jpp_worker_name(&who), text);

    if (culprit.n == 1) {
        return jpp_finding_because(finding, "%s", text);
    }

    return jpp_finding_because(finding, "%s; %" PRIu64 " stalls in the last "
                               "minute took %s", text, culprit.n,
                               jpp_duration(culprit.nanos));
}

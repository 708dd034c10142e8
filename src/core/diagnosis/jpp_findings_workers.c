
#include <inttypes.h>

#include "jpp_findings_workers.h"
#include "jpp_jemalloc.h"


/* milliseconds of a minute */
#define JPP_FINDING_STALLED  1000


/* the sums that several rules start from; what is not known adds nothing */

typedef struct {
    uint64_t  allocated;
    uint64_t  active;
    uint64_t  resident;
    uint64_t  freed;               /* by the program, and still resident */
    uint64_t  exiting;             /* resident in exiting workers */
    uint32_t  n_exiting;
} jpp_finding_sums_t;


static void
jpp_finding_sums(const jpp_telemetry_t *telemetry, jpp_finding_sums_t *sums)
{
    size_t               i;
    const jpp_stats_t   *stats;
    const jpp_worker_t  *worker;

    *sums = (jpp_finding_sums_t) { 0 };

    for (i = 0; i < telemetry->fleet->n; i++) {
        worker = &telemetry->fleet->workers[i];
        stats = &worker->stats;

        if (!worker->has_stats) {
            continue;
        }

        sums->allocated += stats->allocated;
        sums->active += stats->active;
        sums->resident += stats->resident;
        sums->freed += stats->dirty != JPP_NONE ? stats->dirty : 0;
        sums->freed += stats->muzzy != JPP_NONE ? stats->muzzy : 0;

        if (worker->is_exiting) {
            sums->exiting += stats->resident;
            sums->n_exiting++;
        }
    }
}


bool
jpp_finding_old_workers(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding)
{
    char                old[JPP_UNITS_TEXT], all[JPP_UNITS_TEXT];
    jpp_finding_sums_t  sums;

    jpp_finding_sums(telemetry, &sums);

    if (!jpp_finding_above(finding, sums.exiting, 100, JPP_FINDING_FLOOR)
        || !jpp_finding_above(finding, sums.exiting, 30, sums.resident))
    {
        return false;
    }

    return jpp_finding_because(finding, "%" PRIu32 " that are exiting hold %s "
               "of %s", sums.n_exiting, jpp_units_bytes(sums.exiting, old),
               jpp_units_bytes(sums.resident, all));
}


/* Where nobody counts what is allocated, the kernel counts its pages. */

static uint64_t
jpp_finding_held(const jpp_worker_t *worker)
{
    if (worker->jemalloc.state == JPP_JEMALLOC_ABSENT) {
        return worker->activity.usage.rss_anon;
    }

    return worker->has_stats ? worker->stats.allocated : JPP_NONE;
}


/*
 * By counting: there are few workers.  JPP_NONE: there is no other.  Of an even
 * number it is the upper one in the middle.
 */

static uint64_t
jpp_finding_median(const jpp_fleet_t *fleet, size_t but)
{
    size_t    i, k, n, below, equal;
    uint64_t  held, other;

    for (i = 0, n = 0; i < fleet->n; i++) {
        n += i != but && jpp_finding_held(&fleet->workers[i]) != JPP_NONE;
    }

    for (i = 0; i < fleet->n; i++) {
        held = jpp_finding_held(&fleet->workers[i]);

        if (i == but || held == JPP_NONE) {
            continue;
        }

        for (k = 0, below = 0, equal = 0; k < fleet->n; k++) {
            other = jpp_finding_held(&fleet->workers[k]);

            below += k != but && other < held;
            equal += k != but && other == held;
        }

        if (below <= n / 2 && n / 2 < below + equal) {
            return held;
        }
    }

    return JPP_NONE;
}


bool
jpp_finding_odd_worker(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding)
{
    char                  its[JPP_UNITS_TEXT], others[JPP_UNITS_TEXT];
    size_t                i, largest;
    uint64_t              held, most, median;
    const jpp_fleet_t    *fleet;

    fleet = telemetry->fleet;
    largest = fleet->n;
    most = 0;

    for (i = 0; i < fleet->n; i++) {
        held = jpp_finding_held(&fleet->workers[i]);

        if (held != JPP_NONE && held > most) {
            largest = i;
            most = held;
        }
    }

    if (largest == fleet->n) {
        return false;
    }

    median = jpp_finding_median(fleet, largest);

    if (median == JPP_NONE
        || !jpp_finding_above(finding, most, 300, median)
        || !jpp_finding_above(finding, most, 100, JPP_FINDING_FLOOR))
    {
        return false;
    }

    return jpp_finding_because(finding, "worker %" PRIu32 " (pid %" PRId64
               ") holds %s, half of the others at most %s",
               fleet->workers[largest].who.index,
               fleet->workers[largest].who.pid, jpp_units_bytes(most, its),
               jpp_units_bytes(median, others));
}


/* of the worker where it is most */

bool
jpp_finding_outside(const jpp_telemetry_t *telemetry, jpp_finding_t *finding)
{
    char                 outside[JPP_UNITS_TEXT], anon[JPP_UNITS_TEXT];
    char                 mappers[JPP_MAPPERS_TEXT];
    size_t               i;
    uint64_t             bytes, most;
    const jpp_fleet_t   *fleet;
    const jpp_worker_t  *worker, *where;

    fleet = telemetry->fleet;
    where = NULL;
    most = 0;

    for (i = 0; i < fleet->n; i++) {
        worker = &fleet->workers[i];
        bytes = worker->activity.usage.rss_anon;

        if (!worker->has_stats || bytes == JPP_NONE
            || bytes <= worker->stats.resident)
        {
            continue;
        }

        bytes -= worker->stats.resident;

        if (bytes > most
            && jpp_finding_above(finding, bytes, 100, JPP_FINDING_FLOOR)
            && jpp_finding_above(finding, bytes, 25,
                                 worker->activity.usage.rss_anon))
        {
            most = bytes;
            where = worker;
        }
    }

    if (where == NULL) {
        return false;
    }

    (void) jpp_mappers_text(where->jemalloc.mappers, mappers);

    return jpp_finding_because(finding, "in worker %" PRIu32 " (pid %" PRId64
                  ") %s of %s of anonymous memory%s%s", where->who.index,
                  where->who.pid, jpp_units_bytes(most, outside),
                  jpp_units_bytes(where->activity.usage.rss_anon, anon),
                  mappers[0] != '\0' ? "; " : "", mappers);
}


/* resident counts pages that were never touched; dirty and muzzy ones were */

bool
jpp_finding_retained(const jpp_telemetry_t *telemetry, jpp_finding_t *finding)
{
    char                freed[JPP_UNITS_TEXT], all[JPP_UNITS_TEXT];
    jpp_finding_sums_t  sums;

    jpp_finding_sums(telemetry, &sums);

    if (!jpp_finding_above(finding, sums.freed, 100, JPP_FINDING_FLOOR)
        || !jpp_finding_above(finding, sums.freed, 50, sums.resident))
    {
        return false;
    }

    return jpp_finding_because(finding, "%s of %s are free: a purge returns "
               "about that much", jpp_units_bytes(sums.freed, freed),
               jpp_units_bytes(sums.resident, all));
}


bool
jpp_finding_fragmented(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding)
{
    char                active[JPP_UNITS_TEXT], allocated[JPP_UNITS_TEXT];
    uint64_t            idle;
    jpp_finding_sums_t  sums;

    jpp_finding_sums(telemetry, &sums);

    idle = jpp_less(sums.active, sums.allocated);

    if (!jpp_finding_above(finding, idle, 100, JPP_FINDING_FLOOR)
        || !jpp_finding_above(finding, idle, 40, sums.allocated))
    {
        return false;
    }

    return jpp_finding_because(finding, "%s of pages for %s",
               jpp_units_bytes(sums.active, active),
               jpp_units_bytes(sums.allocated, allocated));
}


/* of the worker where the difference is largest */

bool
jpp_finding_peak(const jpp_telemetry_t *telemetry, jpp_finding_t *finding)
{
    char                 peak[JPP_UNITS_TEXT], now[JPP_UNITS_TEXT];
    size_t               i;
    uint64_t             more, most;
    const jpp_fleet_t   *fleet;
    const jpp_usage_t   *usage;
    const jpp_worker_t  *where;

    fleet = telemetry->fleet;
    where = NULL;
    most = 0;

    for (i = 0; i < fleet->n; i++) {
        usage = &fleet->workers[i].activity.usage;

        if (usage->peak == JPP_NONE || usage->rss == JPP_NONE
            || usage->peak <= usage->rss + most)
        {
            continue;
        }

        more = usage->peak - usage->rss;

        if (jpp_finding_above(finding, more, 100, JPP_FINDING_FLOOR)
            && jpp_finding_above(finding, more, 50, usage->rss))
        {
            most = more;
            where = &fleet->workers[i];
        }
    }

    if (where == NULL) {
        return false;
    }

    usage = &where->activity.usage;

    return jpp_finding_because(finding, "worker %" PRIu32 " (pid %" PRId64
               ") had %s at most, and has %s now", where->who.index,
               where->who.pid, jpp_units_bytes(usage->peak, peak),
               jpp_units_bytes(usage->rss, now));
}


/* of the worker where it is most */

bool
jpp_finding_stalls(const jpp_telemetry_t *telemetry, jpp_finding_t *finding)
{
    size_t               i;
    uint64_t             most;
    const jpp_fleet_t   *fleet;
    const jpp_minute_t  *minute;
    const jpp_worker_t  *where;

    fleet = telemetry->fleet;
    where = NULL;
    most = 0;

    for (i = 0; i < fleet->n; i++) {
        minute = &fleet->workers[i].activity.minute;

        if (minute->slow > most
            && jpp_finding_above(finding, minute->slow, 100,
                                 JPP_FINDING_STALLED))
        {
            most = minute->slow;
            where = &fleet->workers[i];
        }
    }

    return where != NULL
           && jpp_finding_because(finding, "in the last minute, iterations of "
                  "more than %d ms kept the event loop of worker %" PRIu32
                  " (pid %" PRId64 ") for %" PRIu64 " ms; the longest took %"
                  PRIu64 " ms", JPP_RECENT_SLOW, where->who.index,
                  where->who.pid, most, where->activity.minute.longest);
}

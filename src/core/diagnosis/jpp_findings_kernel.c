
#include <inttypes.h>
#include <stdio.h>

#include "jpp_findings_kernel.h"
#include "jpp_utf8.h"


/* the bytes of a zone's name that are shown */
#define JPP_FINDING_NAME  32

#define JPP_FINDING_LAST  96


/*
 * Inactive pages of files count as usage, but go as soon as memory is needed,
 * at every level.
 */

bool
jpp_finding_limit_near(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding)
{
    char                       left[JPP_UNITS_TEXT], limit[JPP_UNITS_TEXT];
    uint64_t                   room;
    const jpp_cgroup_t        *cgroup;
    const jpp_cgroup_level_t  *level;

    cgroup = telemetry->cgroup;

    if (cgroup == NULL || cgroup->binding == cgroup->n_levels) {
        return false;
    }

    level = &cgroup->levels[cgroup->binding];
    room = cgroup->headroom;

    if (cgroup->stat.inactive_file != JPP_NONE) {
        room += cgroup->stat.inactive_file;
    }

    if (!jpp_finding_below(finding, room, 10, level->limit)
        && (!jpp_finding_below(finding, room, 100, JPP_FINDING_FLOOR)
            || level->limit < 8 * JPP_FINDING_FLOOR))
    {
        return false;
    }

    return jpp_finding_because(finding, "%s of %s are left%s",
               jpp_units_bytes(room, left),
               jpp_units_bytes(level->limit, limit),
               cgroup->binding == 0 ? "" : ", by the limit of a cgroup above "
                                           "its own");
}


/* " (the last: worker 1, pid 4711, with 300.0 MiB)" */

static const char *
jpp_finding_last(const jpp_vanished_t *vanished, char text[JPP_FINDING_LAST])
{
    char  rss[JPP_UNITS_TEXT];

    text[0] = '\0';

    if (vanished->who.pid == 0) {
        return text;
    }

    if (vanished->rss == JPP_NONE) {
        (void) snprintf(text, JPP_FINDING_LAST, " (the last: worker %" PRIu32
                        ", pid %" PRId64 ")", vanished->who.index,
                        vanished->who.pid);

    } else {
        (void) snprintf(text, JPP_FINDING_LAST, " (the last: worker %" PRIu32
                        ", pid %" PRId64 ", with an RSS of %s)",
                        vanished->who.index, vanished->who.pid,
                        jpp_units_bytes(vanished->rss, rss));
    }

    return text;
}


bool
jpp_finding_oom_kill(const jpp_telemetry_t *telemetry, jpp_finding_t *finding)
{
    char                 last[JPP_FINDING_LAST];
    uint64_t             kills;
    const jpp_cgroup_t  *cgroup;

    cgroup = telemetry->cgroup;
    kills = 0;

    if (cgroup != NULL && cgroup->events.oom_kill != JPP_NONE
        && telemetry->oom_kills != JPP_NONE
        && cgroup->events.oom_kill > telemetry->oom_kills)
    {
        kills = cgroup->events.oom_kill - telemetry->oom_kills;
    }

    if (kills == 0 && telemetry->unclean_exits == 0) {
        return false;
    }

    return jpp_finding_because(finding, "since nginx started, %" PRIu64
               " of its workers ended without saying so%s, and the kernel has "
               "killed %" PRIu64 " of the processes of its cgroup for want of "
               "memory", telemetry->unclean_exits,
               jpp_finding_last(&telemetry->vanished, last), kills);
}


bool
jpp_finding_pressure(const jpp_telemetry_t *telemetry, jpp_finding_t *finding)
{
    uint64_t     avg;
    const char  *where;

    avg = telemetry->system->pressure.some.avg60;
    where = "the machine";

    if (telemetry->cgroup != NULL
        && telemetry->cgroup->pressure.some.avg60 != JPP_NONE)
    {
        avg = telemetry->cgroup->pressure.some.avg60;
        where = "the cgroup";
    }

    if (avg == JPP_NONE || !jpp_finding_above(finding, avg, 10, 10000)) {
        return false;
    }

    return jpp_finding_because(finding, "in the last minute some task of %s "
               "waited for memory %" PRIu64 ".%02" PRIu64 " %% of the time",
               where, avg / 100, avg % 100);
}


bool
jpp_finding_swap(const jpp_telemetry_t *telemetry, jpp_finding_t *finding)
{
    char                 text[JPP_UNITS_TEXT];
    size_t               i;
    uint64_t             swap;
    const jpp_fleet_t   *fleet;

    fleet = telemetry->fleet;

    for (i = 0, swap = 0; i < fleet->n; i++) {
        if (fleet->workers[i].activity.usage.swap != JPP_NONE) {
            swap += fleet->workers[i].activity.usage.swap;
        }
    }

    return jpp_finding_above(finding, swap, 100, 16 * JPP_FINDING_MIB)
           && jpp_finding_because(finding, "%s, over all workers",
                                  jpp_units_bytes(swap, text));
}


/*
 * Which process has huge pages only smaps says, which would stop it; the cgroup
 * says how many all of its processes have.  That is about the workers where
 * they are most of it.
 */

bool
jpp_finding_thp(const jpp_telemetry_t *telemetry, jpp_finding_t *finding)
{
    char                 huge[JPP_UNITS_TEXT], all[JPP_UNITS_TEXT];
    char                 used[JPP_UNITS_TEXT];
    size_t               i;
    uint64_t             anon, allocated, huge_bytes, more;
    const jpp_cgroup_t  *cgroup;
    const jpp_worker_t  *worker;

    cgroup = telemetry->cgroup;

    if (cgroup == NULL || cgroup->stat.anon_thp == JPP_NONE
        || cgroup->stat.anon == JPP_NONE)
    {
        return false;
    }

    for (i = 0, anon = 0, allocated = 0; i < telemetry->fleet->n; i++) {
        worker = &telemetry->fleet->workers[i];

        if (worker->has_stats
            && worker->activity.usage.rss_anon != JPP_NONE)
        {
            anon += worker->activity.usage.rss_anon;
            allocated += worker->stats.allocated;
        }
    }

    huge_bytes = cgroup->stat.anon_thp;
    more = jpp_less(anon, allocated);

    if (!jpp_finding_above(finding, huge_bytes, 100, JPP_FINDING_FLOOR)
        || !jpp_finding_above(finding, huge_bytes, 50, anon)
        || !jpp_finding_above(finding, more, 40, allocated)
        || cgroup->stat.anon / 2 > anon)
    {
        return false;
    }

    return jpp_finding_because(finding, "%s of huge pages in the cgroup, and "
               "%s of anonymous memory in the workers, for %s that are "
               "allocated", jpp_units_bytes(huge_bytes, huge),
               jpp_units_bytes(anon, all), jpp_units_bytes(allocated, used));
}


/* of several the one with most failures, else the fullest */

bool
jpp_finding_zone_full(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding)
{
    int                len;
    char               name[JPP_UTF8_ESCAPED(JPP_FINDING_NAME)];
    char               size[JPP_UNITS_TEXT], left[JPP_UNITS_TEXT];
    size_t             i;
    const jpp_zone_t  *zone, *full;

    full = NULL;

    for (i = 0; i < telemetry->n_zones; i++) {
        zone = &telemetry->zones[i];

        if ((zone->failures != 0
             || jpp_finding_below(finding, zone->free, 5, zone->size))
            && (full == NULL || zone->failures > full->failures))
        {
            full = zone;
        }
    }

    if (full == NULL) {
        return false;
    }

    len = (int) jpp_utf8_escape(name, full->name,
                                full->name_len < JPP_FINDING_NAME
                                ? full->name_len : JPP_FINDING_NAME);

    return jpp_finding_because(finding, "zone %.*s has %s of %s left in whole "
               "pages, and refused %" PRIu64 " allocations", len, name,
               jpp_units_bytes(full->free, left),
               jpp_units_bytes(full->size, size), full->failures);
}

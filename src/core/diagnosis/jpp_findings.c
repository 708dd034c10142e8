
/*
 * Findings about nginx's memory: a sentence, the numbers behind it, and the
 * fix.
 */


#include "jpp_diagnosis.h"
#include "jpp_view.h"

#include <math.h>


/* the characters of a zone's name that are shown */
#define JPP_FINDING_NAME  40

/* seconds that an event is a finding for; and those before it, and after it,
   whose snapshots are of it */
#define JPP_FINDING_NEWS    3600
#define JPP_FINDING_BEFORE  600
#define JPP_FINDING_AFTER   10


/*
 * Limits, pressure and shared memory.  Each rule says whether it holds; if so,
 * FINDING has the numbers.
 */


/*
 * Inactive pages of files count as usage, but go as soon as memory is needed,
 * at every level.
 */

static bool
jpp_finding_limit_near(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding)
{
    char                       rate[JPP_GROWS_TEXT + 64], when[JPP_GROWS_TEXT];
    int64_t                    per_hour, window;
    uint64_t                   room;
    const jpp_cgroup_t        *cgroup;
    const jpp_cgroup_level_t  *level;

    cgroup = telemetry->cgroup;

    room = jpp_cgroup_left(cgroup);

    if (room == JPP_NONE) {
        return false;
    }

    level = &cgroup->levels[cgroup->binding];

    if (!jpp_finding_below(finding, room, 10, level->limit)
        && (!jpp_finding_below(finding, room, 100, JPP_FINDING_FLOOR)
            || level->limit < 8 * JPP_FINDING_FLOOR))
    {
        return false;
    }

    (void) jpp_finding_about(finding, level->usage, 0);

    rate[0] = '\0';
    per_hour = jpp_finding_rate(&telemetry->held, &window);

    if (per_hour >= (int64_t) JPP_FINDING_MIB) {
        jpp_print(rate, "; nginx grows by %s an hour%s",
                  jpp_bytes((uint64_t) per_hour),
                  jpp_finding_when(cgroup, (uint64_t) per_hour, when));
    }

    return jpp_finding_because(finding, "%s of %s are left%s%s",
               jpp_bytes(room), jpp_bytes(level->limit),
               cgroup->binding == 0 ? "" : ", under the limit of a parent "
                                           "cgroup", rate);
}


uint64_t
jpp_finding_kills(const jpp_telemetry_t *telemetry)
{
    const jpp_cgroup_t  *cgroup;

    cgroup = telemetry->cgroup;

    if (cgroup == NULL || cgroup->events.oom_kill == JPP_NONE
        || telemetry->oom_kills == JPP_NONE)
    {
        return 0;
    }

    return jpp_less(cgroup->events.oom_kill, telemetry->oom_kills);
}


/* An event, which is news for an hour. */

static bool
jpp_finding_oom_kill(const jpp_telemetry_t *telemetry, jpp_finding_t *finding)
{
    char                   last[112];
    int64_t                killed;
    uint64_t               kills;
    const jpp_vanished_t  *vanished;

    kills = jpp_finding_kills(telemetry);
    vanished = &telemetry->noted.vanished;

    /* what is not written down yet is a few seconds old */

    killed = kills > telemetry->noted.killed.n ? telemetry->now
                                         : telemetry->noted.killed.at;

    finding->at = killed > vanished->at ? killed : vanished->at;

    if (finding->at == 0
        || telemetry->now - finding->at >= JPP_FINDING_NEWS)
    {
        return false;
    }

    jpp_print(last, "worker %" PRIu32 " (pid %" PRId64 "%s%s) crashed or was "
              "killed", vanished->who.index, vanished->who.pid,
              vanished->rss != JPP_NONE ? ", with an RSS of " : "",
              vanished->rss != JPP_NONE ? jpp_bytes(vanished->rss) : "");

    return jpp_finding_because(finding, "at %s %s; since nginx started, "
               "%" PRIu64 " of its workers crashed or were killed, and the "
               "kernel has killed %" PRIu64 " of the processes of its cgroup "
               "because memory ran out", jpp_date(finding->at),
               vanished->at >= killed
               ? last : "the kernel killed a process of its cgroup",
               telemetry->noted.unclean_exits, kills)
           && jpp_finding_shown(finding,
                  jpp_snapshots_most(telemetry->snapshots,
                                     telemetry->n_snapshots,
                                     finding->at - JPP_FINDING_BEFORE,
                                     finding->at + JPP_FINDING_AFTER));
}


static bool
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

    return avg != JPP_NONE && jpp_finding_above(finding, avg, 10, 10000)
           && jpp_finding_because(finding, "in the last minute some task of "
                  "%s waited for memory %" PRIu64 ".%02" PRIu64 " %% of the "
                  "time", where, avg / 100, avg % 100);
}


static bool
jpp_finding_swap(const jpp_telemetry_t *telemetry, jpp_finding_t *finding)
{
    uint64_t             swap;
    const jpp_worker_t  *worker;

    swap = 0;

    jpp_each(worker, telemetry->fleet->workers, telemetry->fleet->n) {
        jpp_add_known(&swap, worker->activity.usage.swap);
    }

    return jpp_finding_above(finding, swap, 100, 16 * JPP_FINDING_MIB)
           && jpp_finding_because(finding, "%s, over all workers",
                                  jpp_bytes(swap));
}


/*
 * Which process has huge pages only smaps says, which would stop it; the cgroup
 * says how many all of its processes have.  That is about the workers where
 * they are most of it.
 */

static bool
jpp_finding_thp(const jpp_telemetry_t *telemetry, jpp_finding_t *finding)
{
    uint64_t             anon, allocated, huge_bytes;
    const jpp_cgroup_t  *cgroup;
    const jpp_worker_t  *worker;

    cgroup = telemetry->cgroup;

    if (cgroup == NULL || cgroup->stat.anon_thp == JPP_NONE) {
        return false;
    }

    anon = allocated = 0;

    jpp_each(worker, telemetry->fleet->workers, telemetry->fleet->n) {
        if (worker->has_stats
            && worker->activity.usage.rss_anon != JPP_NONE)
        {
            anon += worker->activity.usage.rss_anon;
            allocated += worker->stats.allocated;
        }
    }

    huge_bytes = cgroup->stat.anon_thp;

    return jpp_finding_above(finding, huge_bytes, 100, JPP_FINDING_FLOOR)
           && jpp_finding_above(finding, huge_bytes, 50, anon)
           && jpp_finding_above(finding, jpp_less(anon, allocated), 40,
                                allocated)
           && cgroup->stat.anon / 2 <= anon
           && jpp_finding_because(finding, "the cgroup uses %s of huge "
                  "pages, and the workers %s of anonymous memory, but only %s "
                  "are allocated", jpp_bytes(huge_bytes), jpp_bytes(anon),
                  jpp_bytes(allocated));
}


/* of several the one with most failures, else the fullest */

static bool
jpp_finding_zone_full(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding)
{
    int                len;
    char               name[JPP_UTF8_SHORT(JPP_FINDING_NAME)];
    const jpp_zone_t  *zone, *full;

    full = NULL;

    jpp_each(zone, telemetry->zones, telemetry->n_zones) {
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

    len = (int) jpp_utf8_short(name, full->name, full->name_len,
                               JPP_FINDING_NAME);

    jpp_print(finding->owner, "zone %.*s", len, name);

    return jpp_finding_because(finding, "zone %.*s has %s of %s left in whole "
               "pages, and refused %" PRIu64 " allocations", len, name,
               jpp_bytes(full->free), jpp_bytes(full->size), full->failures);
}


/*
 * What workers hold, and how busy they are.
 */


/* the sums that several rules start from; what is not known adds nothing */

typedef struct {
    uint64_t  allocated;
    uint64_t  active;
    uint64_t  freed;               /* by the program, and still resident */
    uint64_t  exiting;             /* of exiting workers alone */
    uint32_t  n_exiting;
    bool      is_background;       /* threads of jemalloc purge a worker */
} jpp_finding_sums_t;


/*
 * A page that workers share comes back when the last of them has ended, or has
 * freed it: it counts for none of them.
 */

static void
jpp_finding_sums(const jpp_telemetry_t *telemetry, jpp_finding_sums_t *sums)
{
    uint64_t             own, freed;
    const jpp_stats_t   *stats;
    const jpp_worker_t  *worker;

    *sums = (jpp_finding_sums_t) { 0 };

    jpp_each(worker, telemetry->fleet->workers, telemetry->fleet->n) {
        stats = &worker->stats;
        own = jpp_worker_own(worker);

        if (worker->is_exiting && own != JPP_NONE) {
            sums->exiting += own;
            sums->n_exiting++;
        }

        if (!worker->has_stats) {
            continue;
        }

        freed = jpp_known(stats->dirty) + jpp_known(stats->muzzy);

        sums->allocated += stats->allocated;
        sums->active += stats->active;
        sums->freed += jpp_smaller(freed, own);
        sums->is_background |= jpp_known(stats->threads) != 0;
    }
}


static bool
jpp_finding_old_workers(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding)
{
    uint64_t            total;
    jpp_finding_sums_t  sums;

    jpp_finding_sums(telemetry, &sums);

    total = jpp_fleet_anon(telemetry->fleet);

    if (telemetry->shutdown_timeout != 0) {
        jpp_print(finding->fix, "Old workers exit when their last "
                  "connection ends. worker_shutdown_timeout limits only "
                  "workers that were started with it (now %" PRIu64 " s).",
                  telemetry->shutdown_timeout);
    }

    return jpp_finding_above(finding, sums.exiting, 100, JPP_FINDING_FLOOR)
           && jpp_finding_above(finding, sums.exiting, 30, total)
           && jpp_finding_because(finding, "%" PRIu32 " exiting worker%s %s of "
                  "%s", sums.n_exiting,
                  sums.n_exiting == 1 ? " holds" : "s hold",
                  jpp_bytes(sums.exiting), jpp_bytes(total));
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
jpp_finding_median(const jpp_fleet_t *fleet, const jpp_worker_t *but)
{
    size_t               n, below, equal;
    uint64_t             held, other;
    const jpp_worker_t  *worker, *another;

    jpp_each(worker, fleet->workers, fleet->n) {
        held = jpp_finding_held(worker);

        if (worker == but) {
            continue;
        }

        n = below = equal = 0;

        jpp_each(another, fleet->workers, fleet->n) {
            other = another != but ? jpp_finding_held(another) : JPP_NONE;

            n += other != JPP_NONE;
            below += other < held;
            equal += other == held;
        }

        if (below <= n / 2 && n / 2 < below + equal) {
            return held;
        }
    }

    return JPP_NONE;
}


static bool
jpp_finding_odd_worker(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding)
{
    uint64_t             held, most, median;
    const jpp_fleet_t   *fleet;
    const jpp_worker_t  *worker, *largest;

    fleet = telemetry->fleet;
    largest = fleet->workers;
    most = 0;

    jpp_each(worker, fleet->workers, fleet->n) {
        held = jpp_known(jpp_finding_held(worker));

        if (held > most) {
            largest = worker;
            most = held;
        }
    }

    /* that of no other worker is JPP_NONE */

    median = jpp_finding_median(fleet, largest);

    return median != JPP_NONE
           && jpp_finding_above(finding, most, 300, median)
           && jpp_finding_above(finding, most, 100, JPP_FINDING_FLOOR)
           && jpp_finding_about(finding, most, largest->who.pid)
           && jpp_finding_because(finding, "%s holds %s, the others' median is "
                  "%s", jpp_worker_name(&largest->who), jpp_bytes(most),
                  jpp_bytes(median));
}


/* of all workers, and where it is most */

static bool
jpp_finding_outside(const jpp_telemetry_t *telemetry, jpp_finding_t *finding)
{
    bool                 is_lua;
    char                 mappers[JPP_MAPPERS_TEXT];
    uint64_t             bytes, most, sum, all;
    const jpp_worker_t  *worker, *where;

    where = NULL;
    most = sum = 0;

    jpp_each(worker, telemetry->fleet->workers, telemetry->fleet->n) {
        bytes = jpp_worker_outside(worker);
        sum += bytes;

        if (bytes > most) {
            most = bytes;
            where = worker;
        }
    }

    all = jpp_fleet_anon(telemetry->fleet);

    if (where == NULL
        || !jpp_finding_above(finding, sum, 100, JPP_FINDING_FLOOR)
        || !jpp_finding_above(finding, sum, 25, all))
    {
        return false;
    }

    is_lua = where->jemalloc.mappers == 1 << JPP_MAPPER_LUAJIT;

    /* what Lua has is in no sample of the heap */

    if (is_lua) {
        jpp_print(finding->owner, "LuaJIT's heap");
        jpp_print(finding->fix, "lua?format=top shows which table, upvalue or "
                  "coroutine holds it: look for unbounded caches. "
                  "profile?seconds=10&by=location&format=top says which "
                  "locations run Lua.");
    }

    (void) jpp_mappers_text(where->jemalloc.mappers, mappers);

    return jpp_finding_because(finding, "%s of %s %s, most of it in %s%s%s",
                  jpp_bytes(sum), jpp_bytes(all),
                  is_lua ? "are LuaJIT's heap" : "are not malloc's",
                  jpp_worker_name(&where->who),
                  !is_lua && mappers[0] != '\0' ? "; " : "",
                  is_lua ? "" : mappers);
}


/* resident counts pages that were never touched; dirty and muzzy ones were */

static bool
jpp_finding_retained(const jpp_telemetry_t *telemetry, jpp_finding_t *finding)
{
    uint64_t            total;
    jpp_finding_sums_t  sums;

    jpp_finding_sums(telemetry, &sums);

    total = jpp_fleet_anon(telemetry->fleet);

    if (sums.is_background) {
        jpp_print(finding->fix, "POST purge=1 to control returns this memory "
                  "to the kernel. background_thread is on, and also returns it "
                  "after dirty_decay_ms: a smaller value in MALLOC_CONF "
                  "shortens the wait. Before a restart, save the evidence: "
                  "pools?format=top and heap.");
    }

    return jpp_finding_above(finding, sums.freed, 100, JPP_FINDING_FLOOR)
           && jpp_finding_above(finding, sums.freed, 50, total)
           && jpp_finding_because(finding, "%s of %s are free: a purge returns "
                  "at most that much", jpp_bytes(sums.freed), jpp_bytes(total));
}


static bool
jpp_finding_fragmented(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding)
{
    uint64_t            idle;
    jpp_finding_sums_t  sums;

    jpp_finding_sums(telemetry, &sums);

    idle = jpp_less(sums.active, sums.allocated);

    return jpp_finding_above(finding, idle, 100, JPP_FINDING_FLOOR)
           && jpp_finding_above(finding, idle, 40, sums.allocated)
           && jpp_finding_because(finding, "pages of %s hold %s of allocations",
                  jpp_bytes(sums.active), jpp_bytes(sums.allocated));
}


/* The snapshot of WHERE's life that has half of what it held MORE, or more. */

static const jpp_snapshot_t *
jpp_finding_height(const jpp_telemetry_t *telemetry, const jpp_worker_t *where,
    uint64_t more)
{
    const jpp_snapshot_t  *most;

    most = jpp_snapshots_most(telemetry->snapshots, telemetry->n_snapshots,
                              where->started, telemetry->now);

    return most != NULL
           && most->held >= jpp_fleet_held(telemetry->fleet) + more / 2
           ? most : NULL;
}


/* of the worker where the difference is largest */

static bool
jpp_finding_peak(const jpp_telemetry_t *telemetry, jpp_finding_t *finding)
{
    uint64_t             more, most;
    const jpp_usage_t   *usage;
    const jpp_worker_t  *worker, *where;

    where = NULL;
    most = 0;

    jpp_each(worker, telemetry->fleet->workers, telemetry->fleet->n) {
        usage = &worker->activity.usage;
        more = jpp_less(jpp_known(usage->peak), usage->rss);

        if (more > most
            && jpp_finding_above(finding, more, 100, JPP_FINDING_FLOOR)
            && jpp_finding_above(finding, more, 50, usage->rss))
        {
            most = more;
            where = worker;
        }
    }

    if (where == NULL) {
        return false;
    }

    usage = &where->activity.usage;

    return jpp_finding_because(finding, "%s: peak RSS %s, now %s",
               jpp_worker_name(&where->who), jpp_bytes(usage->peak),
               jpp_bytes(usage->rss))
           && jpp_finding_shown(finding,
                                jpp_finding_height(telemetry, where, most));
}


/*
 * As jpp_error.c has it, but from the estimates alone: not all profiles have
 * counts.  Objects of the size s are seen with p = 1 - exp(-s/period), so that
 * n p of n were.
 */

static double
jpp_finding_variance(const jpp_profile_t *profile, int64_t objects,
    int64_t bytes)
{
    double  p;

    p = -expm1(-(double) bytes / fmax((double) objects, 1)
               / (double) profile->period);

    return jpp_error_of_value((double) bytes, (double) objects * p,
                              (double) objects * p * (1 - p));
}


typedef struct {
    bool          is_critical;
    bool        (*check)(const jpp_telemetry_t *telemetry,
                         jpp_finding_t *finding);
    const char   *what;
    const char   *fix;             /* or the rule writes one */
    const char   *link;            /* one that ends in "=" takes the worker */
} jpp_finding_row_t;


/* a reload ends what would be looked at, and so does a restart */

#define JPP_FINDING_SAVE_BEFORE(what)                                         \
    "Before a " what ", save the evidence: pools?format=top and heap. "

#define JPP_FINDING_SAVE  JPP_FINDING_SAVE_BEFORE("reload")


static const jpp_finding_row_t  jpp_finding_rows[JPP_FINDINGS] = {

    [JPP_FINDING_LIMIT_NEAR] = {
        true, jpp_finding_limit_near,
        "nginx is close to its memory limit",
        "Raise the limit (MemoryMax= of the systemd unit, or the container's), "
        "or find what holds the memory: pools shows it by location, heap by "
        "function.",
        "memory?format=top" },

    [JPP_FINDING_OOM_KILL] = {
        true, jpp_finding_oom_kill,
        "processes were killed, or crashed",
        "The error log says \"exited on signal 9\" for workers that were "
        "killed; the kernel's log (dmesg) gives the reason. The finding lasts "
        "an hour.",
        "" },

    [JPP_FINDING_STALLS] = {
        false, jpp_finding_stalls,
        "an event loop is blocked",
        "While a handler computes or waits for a disk, no other client of its "
        "worker is served. stalls?format=top has the stacks, by location. Move "
        "long work into a thread, into another process, or to a call that does "
        "not block.",
        "stalls?format=top" },

    [JPP_FINDING_GROWS] = {
        false, jpp_finding_grows,
        "memory grows all the time",
        "While memory grows, heap?seconds=300 shows which functions hold more. "
        "If heap shows less growth, the rest does not come from malloc: "
        "memory?format=top shows the rest.",
        "heap?seconds=300&format=top&worker=" },

    [JPP_FINDING_RELOAD_LEAK] = {
        false, jpp_finding_reload_leak,
        "workers start with more memory than before the reload",
        "Either the configuration has grown, or the master keeps memory of "
        "former configurations. heap?origin=master shows what workers inherit, "
        "by function. A restart frees this memory: save the profile first.",
        "heap?origin=master&format=top" },

    [JPP_FINDING_PRESSURE] = {
        false, jpp_finding_pressure,
        "processes wait for memory",
        "The processes of this machine, or of this container, need more memory "
        "than it has: find the largest (ps aux --sort=-rss), or add memory.",
        "" },

    [JPP_FINDING_SWAP] = {
        false, jpp_finding_swap,
        "memory of workers was swapped out",
        "Requests that touch swapped memory wait for the disk. Add memory, or "
        "keep nginx from being swapped out (MemorySwapMax=0 of the systemd "
        "unit).",
        "" },

    [JPP_FINDING_ZONE_FULL] = {
        false, jpp_finding_zone_full,
        "a zone of shared memory is full",
        "Enlarge the zone in its directive: the size follows the zone's name. "
        JPP_FINDING_SAVE "A zone of another size starts empty.",
        "memory?fields=zones" },

    [JPP_FINDING_OLD_WORKERS] = {
        false, jpp_finding_old_workers,
        "workers of former configurations hold much of the memory",
        "Old workers exit when their last connection ends. To limit the wait "
        "of workers that start from now on, add outside of all blocks: "
        "worker_shutdown_timeout 10m;",
        "requests?worker=exiting" },

    [JPP_FINDING_ODD_WORKER] = {
        false, jpp_finding_odd_worker,
        "one worker holds much more than the others",
        "Compare what its pools and its requests hold with another worker's. "
        "A connection stays with its worker until it is closed.",
        "pools?format=top&worker=" },

    [JPP_FINDING_OUTSIDE] = {
        false, jpp_finding_outside,
        "much of the memory does not come from malloc",
        "Python, Go and Java map memory themselves: use their own statistics. "
        "memory?format=top lists every other mapping, by name if it has one.",
        "memory?format=top" },

    [JPP_FINDING_RETAINED] = {
        false, jpp_finding_retained,
        "jemalloc keeps much memory that was freed",
        "POST purge=1 to control returns this memory to the kernel. To make "
        "jemalloc return freed memory by itself, add "
        "background_thread:true,dirty_decay_ms:5000 to MALLOC_CONF. "
        JPP_FINDING_SAVE_BEFORE("restart") "Then restart nginx.",
        "memory?format=top" },

    [JPP_FINDING_FRAGMENTED] = {
        false, jpp_finding_fragmented,
        "allocations use only a part of their pages",
        "A burst that has ended leaves pages with few allocations; a fine "
        "sampling rate does the same, as jemalloc gives each sampled object a "
        "page. " JPP_FINDING_SAVE "Then run nginx -s reload.",
        "memory?format=top" },

    [JPP_FINDING_THP] = {
        false, jpp_finding_thp,
        "huge pages waste memory",
        "The kernel backs 2 MiB where a few KiB are in use. For jemalloc alone "
        "add thp:never to MALLOC_CONF; for all processes: "
        "echo madvise >/sys/kernel/mm/transparent_hugepage/enabled. "
        JPP_FINDING_SAVE_BEFORE("restart") "Then restart nginx.",
        "" },

    [JPP_FINDING_PEAK] = {
        false, jpp_finding_peak,
        "the memory was much larger before: a peak has passed",
        "A monitor may have shown the peak, but that memory is free again. "
        "metrics keeps the peak as nginx_worker_peak_resident_memory_bytes.",
        "metrics" },

    [JPP_FINDING_FEW_SAMPLES] = {
        false, jpp_finding_few_samples,
        "the profile rests on few samples",
        "The figures may be far off, and no finer rate exists. pools needs no "
        "samples.",
        "pools?format=top" },

    [JPP_FINDING_EXPLAINS] = {
        false, jpp_finding_explains,
        "the profile lacks much of the allocated memory",
        "The profile lacks allocations made while sampling was off, or before "
        "a reset. " JPP_FINDING_SAVE "Then nginx -s reload starts workers that "
        "sample from their start. A fine rate also takes memory itself, which "
        "pools does not count.",
        "pools?format=top" }
};


/* What lies behind FINDING, if it holds: its link, and who explains it. */

static void
jpp_finding_fill(const jpp_telemetry_t *telemetry, jpp_finding_t *finding)
{
    char                   pid[32] = "";
    const char            *link;
    const jpp_holder_t    *holder;
    const jpp_standing_t  *standing;

    link = jpp_finding_rows[finding->number].link;
    standing = &telemetry->noted.standing[finding->number];

    if (finding->pid != 0 && link[0] != '\0'
        && link[strlen(link) - 1] == '=')
    {
        jpp_print(pid, "pid-%" PRId64, finding->pid);
    }

    if (finding->link[0] == '\0') {
        jpp_print(finding->link, "%s%s", link, pid);
    }

    holder = jpp_finding_holder(telemetry, finding);

    if (holder != NULL && finding->owner[0] == '\0') {
        jpp_print(finding->owner, "%s", holder->who);
        jpp_print(finding->place, "%s", holder->place);
    }

    finding->since = standing->since != 0 ? standing->since : telemetry->now;

    if (standing->acknowledged >= finding->at) {
        finding->acknowledged = standing->acknowledged;
    }
}


const jpp_holder_t *
jpp_finding_holder(const jpp_telemetry_t *telemetry,
    const jpp_finding_t *finding)
{
    uint64_t             bytes;
    const jpp_holder_t  *holder;

    if (finding->bytes == 0) {
        return NULL;
    }

    jpp_each(holder, telemetry->holders, telemetry->n_holders) {
        bytes = finding->pid == 0 ? holder->bytes
                : holder->worker.pid == finding->pid ? holder->worker_bytes : 0;

        if (bytes >= finding->bytes / 2) {
            return holder;
        }
    }

    return NULL;
}


static size_t
jpp_findings_check(const jpp_telemetry_t *telemetry, unsigned i, unsigned end,
    jpp_finding_t *findings)
{
    size_t  n;

    for (n = 0; i < end; i++) {
        jpp_finding_of(i, &findings[n]);
        findings[n].stands = telemetry->noted.standing[i].holds;

        if (jpp_finding_rows[i].check(telemetry, &findings[n])) {
            jpp_finding_fill(telemetry, &findings[n++]);
        }
    }

    return n;
}


size_t
jpp_findings(const jpp_telemetry_t *telemetry,
    jpp_finding_t findings[JPP_FINDINGS])
{
    return jpp_findings_check(telemetry, 0, JPP_FINDING_FEW_SAMPLES, findings);
}


size_t
jpp_findings_profile(const jpp_fleet_t *fleet, const jpp_profile_t *profile,
    bool is_whole, jpp_finding_t findings[JPP_FINDINGS_PROFILE])
{
    double           variance;
    int64_t          sum, bytes;
    uint32_t         i;
    jpp_profiled_t   profiled;
    jpp_telemetry_t  telemetry;

    memset(&telemetry, 0, sizeof(jpp_telemetry_t));

    profiled.samples =
        profile->n_seen[jpp_parser_heap.values[JPP_HEAP_INUSE_SPACE].count];
    profiled.is_whole = is_whole && !profile->is_difference;

    sum = 0;
    variance = 0;

    jpp_profile_each(i, profile) {
        bytes = jpp_profile_value(profile->columns[JPP_HEAP_INUSE_SPACE], i);

        sum = jpp_add_i64(sum, bytes);
        variance += jpp_finding_variance(profile,
            jpp_profile_value(profile->columns[JPP_HEAP_INUSE_OBJECTS], i),
            bytes);
    }

    profiled.bytes = sum > 0 ? (uint64_t) sum : 0;
    profiled.error = sum > 0 ? jpp_error_percent(variance, sum) : 100;

    telemetry.fleet = fleet;
    telemetry.profile = &profiled;

    return jpp_findings_check(&telemetry, JPP_FINDING_FEW_SAMPLES,
                              JPP_FINDINGS, findings);
}


void
jpp_finding_of(jpp_finding_id_t id, jpp_finding_t *finding)
{
    memset(finding, 0, sizeof(jpp_finding_t));

    jpp_finding_named(id, finding);
    jpp_print(finding->fix, "%s", jpp_finding_rows[id].fix);
}


void
jpp_finding_named(jpp_finding_id_t id, jpp_finding_t *finding)
{
    const jpp_finding_row_t  *row;

    row = &jpp_finding_rows[id];

    finding->number = id;
    finding->id = jpp_finding_ids[id];
    finding->is_critical = row->is_critical;
    finding->what = row->what;
}

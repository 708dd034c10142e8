
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "jpp_status_comments.h"
#include "jpp_worker.h"
#include "jpp_units.h"
#include "jpp_version.h"


/* the longest has the error of a missing worker */
#define JPP_STATUS_FACT    (JPP_ERR_TEXT + 128)

/* " in worker 4294967295 pid -9223372036854775808, the largest" */
#define JPP_STATUS_WHERE   64

/* comments besides those of the versions of jemalloc and of the missing */
#define JPP_STATUS_FACTS   12


/* The comments so far; facts is NULL once memory was missing. */
typedef struct {
    jpp_arena_t   *arena;
    const char   **facts;
    size_t         n;
} jpp_facts_t;


static void
jpp_facts_add(jpp_facts_t *facts, const char *fmt, ...)
{
    char     text[JPP_STATUS_FACT];
    va_list  args;

    if (facts->facts == NULL) {
        return;
    }

    va_start(args, fmt);
    (void) vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);

    facts->facts[facts->n] = jpp_arena_strndup(facts->arena, text,
                                               strlen(text));

    if (facts->facts[facts->n++] == NULL) {
        facts->facts = NULL;
    }
}


/* workers of two binaries, during an upgrade, may have two versions */

static void
jpp_facts_jemalloc(jpp_facts_t *facts, const jpp_fleet_t *fleet)
{
    size_t               i, k;
    const jpp_worker_t  *workers;

    workers = fleet->workers;

    for (i = 0; i < fleet->n; i++) {

        for (k = 0; k < i; k++) {
            if (strcmp(workers[k].jemalloc.version,
                       workers[i].jemalloc.version) == 0)
            {
                break;
            }
        }

        if (k == i && workers[i].jemalloc.version[0] != '\0') {
            jpp_facts_add(facts, "jemalloc %s", workers[i].jemalloc.version);
        }
    }
}


/* What was there before it was switched on is not seen. */

static void
jpp_facts_sampler(jpp_facts_t *facts, const jpp_fleet_t *fleet)
{
    char                        text[JPP_STATUS_TIME];
    size_t                      i, n;
    int64_t                     since;
    uint64_t                    dropped;
    const jpp_sampler_state_t  *sampler;

    n = 0;
    since = 0;
    dropped = 0;

    for (i = 0; i < fleet->n; i++) {
        sampler = &fleet->workers[i].sampler;

        if (!sampler->is_on) {
            continue;
        }

        since = since > sampler->since ? since : sampler->since;
        dropped += sampler->dropped_live + sampler->dropped_sites;
        n++;
    }

    if (n == 0) {
        return;
    }

    jpp_facts_add(facts, "source: the module's sampler in %zu of %zu workers, "
                  "on in all of them since %s: what was allocated before is "
                  "not in it", n, fleet->n, jpp_status_time(since, text));

    if (dropped != 0) {
        jpp_facts_add(facts, "the sampler dropped %" PRIu64 " samples, so "
                      "there is more than this: sample coarser", dropped);
    }
}


/*
 * Of jemalloc's samples, in workers that HAS_GAP is for: of many, the times in
 * which those of one of them at least were not complete.
 */

static void
jpp_facts_coverage(jpp_facts_t *facts, const jpp_fleet_t *fleet, bool has_gap)
{
    char                   since[JPP_STATUS_TIME], gap[JPP_COVERAGE_TEXT];
    size_t                 i, n;
    jpp_coverage_t         sum;
    const jpp_worker_t    *worker;
    const jpp_coverage_t  *coverage;

    memset(&sum, 0, sizeof(jpp_coverage_t));

    for (i = 0, n = 0; i < fleet->n; i++) {
        worker = &fleet->workers[i];
        coverage = &worker->coverage;

        if (worker->sampler.is_on || coverage->since == 0
            || jpp_worker_has_gap(worker) != has_gap)
        {
            continue;
        }

        if (n++ == 0) {
            sum = *coverage;
            continue;
        }

        sum.since = sum.since > coverage->since ? sum.since : coverage->since;
        sum.off = sum.off < coverage->off ? sum.off : coverage->off;
        sum.n_off = sum.n_off > coverage->n_off ? sum.n_off : coverage->n_off;
    }

    if (n == 0) {
        return;
    }

    (void) jpp_status_time(sum.since, since);

    if (has_gap) {
        jpp_facts_add(facts, "samples complete since %s: jemalloc's sampling "
                      "was off %s in %zu of %zu workers, and memory allocated "
                      "while it was off is missing", since,
                      jpp_coverage_gap(&sum, gap), n, fleet->n);

    } else {
        jpp_facts_add(facts, "samples complete since %s: jemalloc began to "
                      "sample then, or forgot its samples, in %zu of %zu "
                      "workers, and memory allocated before is missing", since,
                      n, fleet->n);
    }
}


/* Since the workers started, whatever of it is in the profile. */

static void
jpp_facts_stacks(jpp_facts_t *facts, const jpp_fleet_t *fleet)
{
    size_t                 i, n;
    uint64_t               walked, cut;
    const jpp_jemalloc_t  *jemalloc;

    n = 0;
    walked = 0;
    cut = 0;

    for (i = 0; i < fleet->n; i++) {
        jemalloc = &fleet->workers[i].jemalloc;

        if (jemalloc->hook == JPP_HOOK_ON || fleet->workers[i].sampler.is_on) {
            walked += jemalloc->stacks.n;
            cut += jemalloc->stacks.n_cut;
            n++;
        }
    }

    if (n != 0) {
        jpp_facts_add(facts, "stacks walked by the module in %zu of %zu "
                      "workers: %" PRIu64 ", of which %" PRIu64 " were cut",
                      n, fleet->n, walked, cut);
    }
}


static void
jpp_facts_sum(jpp_facts_t *facts, const char *what, uint64_t bytes, size_t n)
{
    char  text[JPP_UNITS_TEXT];

    (void) jpp_units_bytes(bytes, text);

    if (n == 1) {
        jpp_facts_add(facts, "jemalloc stats.%s %" PRIu64 " bytes (%s)",
                      what, bytes, text);

    } else {
        jpp_facts_add(facts, "jemalloc stats.%s %" PRIu64 " bytes (%s), the "
                      "sum of %zu workers, each with what it inherited",
                      what, bytes, text, n);
    }
}


static void
jpp_facts_resident(jpp_facts_t *facts, const jpp_worker_t *worker, size_t n)
{
    char  text[JPP_UNITS_TEXT], where[JPP_STATUS_WHERE];

    where[0] = '\0';

    if (n != 1) {
        (void) snprintf(where, sizeof(where), " in worker %" PRIu32 " pid %"
                        PRId64 ", the largest", worker->who.index,
                        worker->who.pid);
    }

    jpp_facts_add(facts, "jemalloc stats.resident at most %" PRIu64 " bytes "
                  "(%s)%s: shared pages and pages never touched count",
                  worker->stats.resident,
                  jpp_units_bytes(worker->stats.resident, text), where);
}


/*
 * A sum that lacks a worker would be wrong, so it is left out.  Resident memory
 * is not added up: after a fork workers share most pages, jemalloc counts each
 * in all of them, and it counts pages that were never touched.
 */

static void
jpp_facts_stats(jpp_facts_t *facts, const jpp_fleet_t *fleet)
{
    size_t               i;
    uint64_t             allocated, active;
    const jpp_worker_t  *worker, *largest;

    allocated = 0;
    active = 0;
    largest = NULL;

    for (i = 0; i < fleet->n; i++) {
        worker = &fleet->workers[i];

        if (!worker->has_stats) {
            return;
        }

        allocated += worker->stats.allocated;
        active += worker->stats.active;

        if (largest == NULL
            || worker->stats.resident > largest->stats.resident)
        {
            largest = worker;
        }
    }

    if (largest != NULL) {
        jpp_facts_sum(facts, "allocated", allocated, fleet->n);
        jpp_facts_sum(facts, "active", active, fleet->n);
        jpp_facts_resident(facts, largest, fleet->n);
    }
}


/* without the cures, which memory has */

static void
jpp_facts_findings(jpp_facts_t *facts, const jpp_fleet_t *fleet)
{
    size_t                i;
    const jpp_finding_t  *finding;

    for (i = 0; i < fleet->n_findings; i++) {
        finding = &fleet->findings[i];

        jpp_facts_add(facts, "finding %s: %s: %s", finding->id, finding->what,
                      finding->because);
    }
}


const char *const *
jpp_status_comments(const jpp_fleet_t *fleet, jpp_arena_t *arena)
{
    size_t                i;
    jpp_facts_t           facts;
    const jpp_worker_t   *worker;
    const jpp_missing_t  *missing;

    facts.arena = arena;
    facts.n = 0;
    facts.facts = jpp_arena_alloc(arena, (JPP_STATUS_FACTS + fleet->n
                                          + fleet->n_missing
                                          + fleet->n_findings + 1)
                                         * sizeof(char *));

    jpp_facts_add(&facts, "nginx %s", fleet->nginx);
    jpp_facts_add(&facts, "jemalloc_pprof module %s", JPP_VERSION);

    if (!fleet->is_of_time) {
        jpp_facts_jemalloc(&facts, fleet);
    }

    jpp_facts_add(&facts, "workers %zu/%" PRIu32, fleet->n, fleet->n_asked);

    if (fleet->n == 1) {
        worker = &fleet->workers[0];

        jpp_facts_add(&facts, "worker %" PRIu32 " pid %" PRId64,
                      worker->who.index, worker->who.pid);
    }

    for (i = 0; i < fleet->n_missing; i++) {
        missing = &fleet->missing[i];

        jpp_facts_add(&facts, "worker %" PRIu32 " pid %" PRId64 " is missing: "
                      "%s", missing->who.index, missing->who.pid, missing->why);
    }

    if (fleet->is_sampled) {
        jpp_facts_sampler(&facts, fleet);
        jpp_facts_coverage(&facts, fleet, true);
        jpp_facts_coverage(&facts, fleet, false);
    }

    if (!fleet->is_of_time) {
        jpp_facts_stacks(&facts, fleet);
        jpp_facts_stats(&facts, fleet);
        jpp_facts_findings(&facts, fleet);
    }

    return facts.facts;
}

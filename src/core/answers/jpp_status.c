
/*
 * The profiling state of each worker, as a log line, as JSON, and as comments
 * of a profile.
 */


#include "jpp_answers.h"


/* what, why and fix of a problem */
#define JPP_STATUS_LINE    sizeof(jpp_problem_t)

/* ", the sum of 18446744073709551615 workers; inherited memory counts ... " */
#define JPP_STATUS_WHERE   80


/*
 * What a sample costs with its free, ns: fixed figures, of one machine (./dev
 * bench sampling: 1,000 and 8,000 instructions, and jemalloc's are cold).  To
 * measure it would cost more than it does.
 */

#define JPP_SAMPLING_SAMPLER_NS  500
#define JPP_SAMPLING_HOOK_NS     5000


/* null: complete since nginx was started, or not sampled */

static void
jpp_sampling_coverage(jpp_json_t *json, const jpp_worker_t *worker)
{
    int64_t  since;

    since = jpp_worker_is_sampled(worker) ? jpp_worker_complete_since(worker)
                                          : 0;

    jpp_json_time(json, "complete_since", since);

    if (since == 0 || !jpp_worker_has_gap(worker)) {
        jpp_json_null(json, "gap");
        return;
    }

    jpp_json_open(json, "gap", '{');

    jpp_json_str(json, "from", jpp_date(worker->coverage.off));
    jpp_json_str(json, "to", jpp_date(since));
    jpp_json_u64(json, "times", worker->coverage.n_off);

    jpp_json_close(json, '}');
}


/* null: it is off */

static void
jpp_sampling_sampler(jpp_json_t *json, const jpp_sampler_state_t *sampler)
{
    if (!sampler->is_on) {
        jpp_json_null(json, "sampler");
        return;
    }

    jpp_json_open(json, "sampler", '{');

    jpp_json_u64(json, "lg_sample", sampler->lg_sample);
    jpp_json_str(json, "since", jpp_date(sampler->since));
    jpp_json_numbers(json,
        { "samples", sampler->samples }, { "live", sampler->live },
        { "live_max", sampler->live_max }, { "sites", sampler->sites },
        { "dropped", sampler->dropped_live + sampler->dropped_sites },
        { "truncated", sampler->cut }, { "bytes_max", sampler->bytes_max },
        { "slots", sampler->slots }, { "objects", sampler->objects },
        { "foreign", sampler->foreign }, { "lost", sampler->lost });

    jpp_json_close(json, '}');
}


/* null: jemalloc does not count its samples */

static void
jpp_sampling_cost(jpp_json_t *json, const jpp_worker_t *worker)
{
    uint64_t  n, each;

    n = 0;
    each = 0;

    if (worker->sampler.is_on) {
        n = worker->sampler.samples;
        each = JPP_SAMPLING_SAMPLER_NS;

    } else if (worker->jemalloc.hook == JPP_HOOK_ON) {
        n = worker->jemalloc.stacks.n;
        each = JPP_SAMPLING_HOOK_NS;
    }

    jpp_json_object(json, "cost",
        { "cpu_ms", each != 0 ? n * each / 1000000 : JPP_NONE },
        { "assumed_ns", each != 0 ? each : JPP_NONE },
        { "bytes", worker->sampler.is_on ? worker->sampler.bytes : JPP_NONE });
}


/* null: nothing is sampled; and jemalloc does not count stacks */

static void
jpp_sampling_unwinder(jpp_json_t *json, const jpp_worker_t *worker)
{
    bool        is_ours;
    jpp_hook_t  hook;

    hook = worker->jemalloc.hook;
    is_ours = worker->sampler.is_on || hook == JPP_HOOK_ON;

    jpp_json_open(json, "unwinder", '{');

    jpp_json_str(json, "name", is_ours ? "module"
                               : hook == JPP_HOOK_NONE ? NULL : "jemalloc");
    jpp_json_str(json, "reason", is_ours ? NULL : jpp_problem_hooks[hook]);

    jpp_json_numbers(json,
        { "stacks", is_ours ? worker->jemalloc.stacks.n : JPP_NONE },
        { "truncated", is_ours ? worker->jemalloc.stacks.n_cut : JPP_NONE });

    jpp_json_close(json, '}');
}


const char *const  jpp_status_words[] = {
    [JPP_JEMALLOC_ABSENT] = "no-jemalloc",
    [JPP_JEMALLOC_NO_PROF] = "no-prof",
    [JPP_JEMALLOC_OFF] = "off",
    [JPP_JEMALLOC_REFUSED] = "refused",
    [JPP_JEMALLOC_INACTIVE] = "inactive",
    [JPP_JEMALLOC_READY] = "ready"
};


/* The master tells them a little after the new ones have started. */

void
jpp_status_former(jpp_worker_t *workers, size_t n)
{
    uint64_t       newest;
    jpp_worker_t  *worker;

    newest = 0;

    jpp_each(worker, workers, n) {
        if (!worker->is_exiting) {
            newest = jpp_larger(worker->who.generation, newest);
        }
    }

    jpp_each(worker, workers, n) {
        worker->is_exiting |= worker->who.generation < newest;
    }
}


/* joins the lines of a fix by " | ", without their indentation */

static size_t
jpp_status_append(char *text, size_t size, size_t len, const char *s)
{
    const char  *p, *insert;

    for (p = s; *p != '\0' && len < size - 1; p++) {

        if (*p == '\n') {
            p += strspn(p + 1, " ");

            for (insert = " | "; *insert != '\0' && len < size - 1; insert++) {
                text[len++] = *insert;
            }

            continue;
        }

        text[len++] = jpp_ascii(*p);
    }

    text[len] = '\0';

    return len;
}


void
jpp_status_failed(jpp_failure_t *failure, int64_t seconds, const char *text)
{
    failure->time = seconds;

    (void) jpp_status_append(failure->text, sizeof(failure->text), 0, text);
}


void
jpp_status_notice(const jpp_worker_t *worker, char *text, size_t size)
{
    bool            is_on;
    char            line[JPP_STATUS_LINE];
    size_t          i, n, len, of_rate;
    jpp_problem_t   problems[JPP_MAX_PROBLEMS];

    n = jpp_problems(worker, problems);

    if (n != 0 && problems[0].is_fatal) {
        jpp_print(line, "%s: %s. %s", problems[0].what, problems[0].why,
                  problems[0].fix);
        (void) jpp_status_append(text, size, 0, line);

        return;
    }

    is_on = worker->sampler.is_on;

    /* The one that says how often jemalloc takes samples, or N. */

    for (of_rate = 0; of_rate < n; of_rate++) {
        if (strcmp(problems[of_rate].id, "coarse") == 0
            || strcmp(problems[of_rate].id, "fine") == 0)
        {
            break;
        }
    }

    jpp_print(line, "%s%s%s ready, %s%s",
              is_on ? "the module's sampler" : "jemalloc ",
              is_on ? "" : worker->jemalloc.version,
              is_on ? "" : ", profiling",
              of_rate != n ? "" : "one sample every ",
              of_rate != n ? problems[of_rate].what
                           : jpp_rate(jpp_worker_lg_sample(worker)));

    len = jpp_status_append(text, size, 0, line);

    for (i = 0; i < n; i++) {

        if (i != of_rate) {
            len = jpp_status_append(text, size, len, "; ");
            len = jpp_status_append(text, size, len, problems[i].what);
        }
    }
}


/* null: not there, or unknown */

static void
jpp_status_json_jemalloc(jpp_json_t *json, const jpp_jemalloc_t *jemalloc)
{
    bool         is_jemalloc;
    const char  *file;

    is_jemalloc = jemalloc->state != JPP_JEMALLOC_ABSENT;
    file = jemalloc->allocator[0] != '\0' ? jemalloc->allocator : NULL;

    jpp_json_str(json, "jemalloc", is_jemalloc ? jemalloc->version : NULL);
    jpp_json_str(json, "allocator", is_jemalloc ? "jemalloc" : file);
    jpp_json_str(json, "state", jpp_status_words[jemalloc->state]);
    jpp_json_bool(json, "active", jemalloc->active);

    jpp_json_known(json, "lg_sample", jemalloc->state > JPP_JEMALLOC_OFF
                                      ? jemalloc->lg_sample : JPP_NONE);
    jpp_json_bool(json, "prof_accum", jemalloc->accum);
}


void
jpp_status_lua(jpp_json_t *json, const jpp_lua_known_t *lua)
{
    jpp_json_open(json, "lua", '{');

    jpp_json_str(json, "layout", lua->why[0] == '\0' ? "learned" : NULL);
    jpp_json_filled(json, "reason", lua->why);
    jpp_json_numbers(json,
        { "http", lua->bytes[0] }, { "stream", lua->bytes[1] },
        { "locations_without_code_cache", lua->uncached });

    jpp_json_close(json, '}');
}


int
jpp_status_in_step(const jpp_worker_t *worker, const jpp_control_t *wanted)
{
    const jpp_jemalloc_t       *jemalloc;
    const jpp_sampler_state_t  *sampler;

    if (wanted == NULL
        || (wanted->active == -1 && wanted->lg_sample == -1
            && wanted->sampler == -1 && wanted->stall == -1
            && wanted->owners == -1))
    {
        return -1;
    }

    jemalloc = &worker->jemalloc;
    sampler = &worker->sampler;

    if ((wanted->sampler != -1 && sampler->is_on != (wanted->sampler == 1))
        || (wanted->sampler == 1
            && sampler->lg_sample != (uint32_t) wanted->sampler_lg)
        || (wanted->stall != -1
            && worker->stalling.threshold != (uint64_t) wanted->stall)
        || (wanted->owners != -1
            && worker->has_owners != (wanted->owners == 1)))
    {
        return 0;
    }

    if (wanted->active == -1 && wanted->lg_sample == -1) {
        return 1;
    }

    return jemalloc->state > JPP_JEMALLOC_OFF
           && (wanted->active == -1
               || jemalloc->active == (wanted->active == 1))
           && (wanted->lg_sample == -1
               || jemalloc->lg_sample == (uint32_t) wanted->lg_sample);
}


static void
jpp_status_json_worker(jpp_json_t *json, const jpp_worker_t *worker,
    const jpp_control_t *wanted)
{
    int                   in_step;
    size_t                i, n;
    jpp_problem_t         problems[JPP_MAX_PROBLEMS];
    const jpp_stats_t    *stats;
    const jpp_failure_t  *failure;

    jpp_json_open(json, NULL, '{');

    jpp_json_identity(json, &worker->who);
    jpp_json_bool(json, "exiting", worker->is_exiting);
    jpp_json_str(json, "started", jpp_date(worker->started));

    jpp_json_known(json, "stall_ms", worker->stalling.threshold != 0
                                     ? worker->stalling.threshold : JPP_NONE);
    jpp_json_bool(json, "owners", worker->has_owners);

    jpp_status_json_jemalloc(json, &worker->jemalloc);

    /* null: neither source */

    jpp_json_str(json, "source",
                 jpp_source_name(jpp_source(&worker->jemalloc,
                                            &worker->sampler)));
    jpp_sampling_coverage(json, worker);
    jpp_sampling_sampler(json, &worker->sampler);
    jpp_sampling_cost(json, worker);
    jpp_sampling_unwinder(json, worker);

    jpp_status_lua(json, &worker->lua);

    /* null: no settings for all workers */

    in_step = jpp_status_in_step(worker, wanted);

    if (in_step == -1) {
        jpp_json_null(json, "in_step");

    } else {
        jpp_json_bool(json, "in_step", in_step == 1);
    }

    if (!worker->has_stats) {
        jpp_json_null(json, "stats");

    } else {
        stats = &worker->stats;

        jpp_json_object(json, "stats",
            { "allocated", stats->allocated }, { "active", stats->active },
            { "metadata", stats->metadata }, { "resident", stats->resident },
            { "mapped", stats->mapped }, { "retained", stats->retained });
    }

    n = jpp_problems(worker, problems);

    jpp_json_open(json, "problems", '[');

    for (i = 0; i < n; i++) {
        jpp_json_open(json, NULL, '{');
        jpp_json_str(json, "id", problems[i].id);
        jpp_json_bool(json, "fatal", problems[i].is_fatal);
        jpp_json_str(json, "what", problems[i].what);
        jpp_json_str(json, "why", problems[i].why);
        jpp_json_str(json, "fix", problems[i].fix);
        jpp_json_close(json, '}');
    }

    jpp_json_close(json, ']');

    failure = &worker->last_error;

    if (failure->text[0] == '\0') {
        jpp_json_null(json, "last_error");

    } else {
        jpp_json_open(json, "last_error", '{');
        jpp_json_str(json, "time", jpp_date(failure->time));
        jpp_json_str(json, "text", failure->text);
        jpp_json_close(json, '}');
    }

    jpp_json_close(json, '}');
}


void
jpp_status_json(const jpp_fleet_t *fleet, jpp_sink_t *sink)
{
    size_t      i;
    jpp_json_t  json;

    jpp_json_init(&json, sink);

    jpp_json_open(&json, NULL, '{');

    jpp_json_str(&json, "module", JPP_VERSION);
    jpp_json_str(&json, "nginx", fleet->nginx);
    jpp_json_str(&json, "host", fleet->host);
    jpp_json_numbers(&json, { "asked", fleet->n_asked },
                     { "answered", fleet->n });
    jpp_json_str(&json, "unnamed", fleet->unnamed);

    jpp_verdict_json(&json, fleet->verdict);
    jpp_findings_json(&json, fleet->findings, fleet->n_findings);

    jpp_json_open(&json, "workers", '[');

    for (i = 0; i < fleet->n; i++) {
        jpp_status_json_worker(&json, &fleet->workers[i], fleet->wanted);
    }

    jpp_json_close(&json, ']');

    jpp_missing_json(&json, fleet->missing, fleet->n_missing);

    jpp_json_close(&json, '}');
}


/*
 * The comments of a profile.
 */


/* workers of two binaries, during an upgrade, may have two versions */

static void
jpp_facts_jemalloc(jpp_profile_t *profile, const jpp_fleet_t *fleet)
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
            jpp_profile_comment(profile, "jemalloc %s",
                                workers[i].jemalloc.version);
        }
    }
}


/* What was there before it was switched on is not seen. */

static void
jpp_facts_sampler(jpp_profile_t *profile, const jpp_fleet_t *fleet)
{
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

    jpp_profile_comment(profile, "source: the module's sampler in %zu of %zu "
                        "workers, on in all of them since %s: earlier "
                        "allocations are missing", n, fleet->n,
                        jpp_date(since));

    if (dropped != 0) {
        jpp_profile_comment(profile, "the sampler dropped %" PRIu64 " samples, "
                            "so values are too small: sample coarser",
                            dropped);
    }
}


/*
 * Of jemalloc's samples, in workers that HAS_GAP is for: of many, the times in
 * which those of one of them at least were not complete.
 */

static void
jpp_facts_coverage(jpp_profile_t *profile, const jpp_fleet_t *fleet,
    bool has_gap)
{
    char                   gap[JPP_COVERAGE_TEXT];
    size_t                 n = 0;
    jpp_coverage_t         sum = { 0 };
    const jpp_worker_t    *worker;
    const jpp_coverage_t  *coverage;

    jpp_each(worker, fleet->workers, fleet->n) {
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

    if (has_gap) {
        jpp_profile_comment(profile, "samples complete since %s: jemalloc's "
                            "sampling was off %s in %zu of %zu workers, and "
                            "memory allocated while it was off is missing",
                            jpp_date(sum.since), jpp_coverage_gap(&sum, gap),
                            n, fleet->n);

    } else {
        jpp_profile_comment(profile, "samples complete since %s: jemalloc "
                            "began to sample then, or forgot its samples, in "
                            "%zu of %zu workers, and memory allocated before "
                            "is missing", jpp_date(sum.since), n, fleet->n);
    }
}


/* Since the workers started, whatever of it is in the profile. */

static void
jpp_facts_stacks(jpp_profile_t *profile, const jpp_fleet_t *fleet)
{
    size_t               n = 0;
    uint64_t             walked = 0, cut = 0;
    const jpp_worker_t  *worker;

    jpp_each(worker, fleet->workers, fleet->n) {
        if (worker->jemalloc.hook == JPP_HOOK_ON || worker->sampler.is_on) {
            walked += worker->jemalloc.stacks.n;
            cut += worker->jemalloc.stacks.n_cut;
            n++;
        }
    }

    if (n != 0) {
        jpp_profile_comment(profile, "stacks unwound by the module in %zu of "
                            "%zu workers: %" PRIu64 ", %" PRIu64 " of them "
                            "truncated", n, fleet->n, walked, cut);
    }
}


/*
 * A sum that lacks a worker would be wrong, so it is left out.  Resident memory
 * is not added up: after a fork workers share most pages, jemalloc counts each
 * in all of them, and it counts pages that were never touched.
 */

static void
jpp_facts_stats(jpp_profile_t *profile, const jpp_fleet_t *fleet)
{
    char                 sum[JPP_STATUS_WHERE], where[JPP_STATUS_WHERE];
    uint64_t             allocated, active;
    const jpp_worker_t  *worker, *largest;

    allocated = 0;
    active = 0;
    largest = NULL;

    jpp_each(worker, fleet->workers, fleet->n) {
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
        sum[0] = '\0';
        where[0] = '\0';

        if (fleet->n != 1) {
            jpp_print(sum, ", the sum of %zu workers; inherited memory "
                      "counts in each", fleet->n);
            jpp_print(where, " in worker %" PRIu32 " pid %" PRId64
                      ", the largest", largest->who.index, largest->who.pid);
        }

        jpp_profile_comment(profile, "jemalloc stats.allocated %" PRIu64
                            " bytes (%s)%s", allocated, jpp_bytes(allocated),
                            sum);
        jpp_profile_comment(profile, "jemalloc stats.active %" PRIu64
                            " bytes (%s)%s", active, jpp_bytes(active), sum);
        jpp_profile_comment(profile, "jemalloc stats.resident at most %" PRIu64
                            " bytes (%s)%s: this includes shared and "
                            "untouched pages", largest->stats.resident,
                            jpp_bytes(largest->stats.resident), where);
    }
}


void
jpp_status_comments(const jpp_fleet_t *fleet, jpp_profile_t *profile)
{
    const jpp_worker_t   *worker;
    const jpp_missing_t  *missing;
    const jpp_finding_t  *finding;

    jpp_profile_comment(profile, "nginx %s", fleet->nginx);
    jpp_profile_comment(profile, "jemalloc_pprof module %s", JPP_VERSION);

    if (!fleet->is_of_time) {
        jpp_facts_jemalloc(profile, fleet);
    }

    jpp_profile_comment(profile, "workers %zu/%" PRIu32, fleet->n,
                        fleet->n_asked);

    if (fleet->n == 1) {
        worker = &fleet->workers[0];

        jpp_profile_comment(profile, "worker %" PRIu32 " pid %" PRId64,
                            worker->who.index, worker->who.pid);
    }

    jpp_each(missing, fleet->missing, fleet->n_missing) {
        jpp_profile_comment(profile, "worker %" PRIu32 " pid %" PRId64
                            " is missing: %s", missing->who.index,
                            missing->who.pid, missing->why);
    }

    if (fleet->is_sampled) {
        jpp_facts_sampler(profile, fleet);
        jpp_facts_coverage(profile, fleet, true);
        jpp_facts_coverage(profile, fleet, false);
    }

    if (!fleet->is_of_time) {
        jpp_facts_stacks(profile, fleet);
        jpp_facts_stats(profile, fleet);

        /* without the fixes, which memory has */

        jpp_each(finding, fleet->findings, fleet->n_findings) {
            jpp_profile_comment(profile, "finding %s: %s: %s", finding->id,
                                finding->what, finding->because);
        }
    }
}


#include <string.h>

#include "jpp_ascii.h"
#include "jpp_json.h"
#include "jpp_problems.h"
#include "jpp_status.h"
#include "jpp_version.h"
#include "jpp_worker.h"


/*
 * Who samples the heap of a worker, at which rate, and what that costs: the
 * middle of what jpp_status.h writes of it.
 *
 * Pure functions of the caller's values; any thread.
 */


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
    char     text[JPP_STATUS_TIME];
    int64_t  since;

    since = jpp_worker_is_sampled(worker) ? jpp_worker_complete_since(worker)
                                          : 0;

    jpp_json_str(json, "complete_since",
                 since != 0 ? jpp_status_time(since, text) : NULL);

    if (since == 0 || !jpp_worker_has_gap(worker)) {
        jpp_json_null(json, "gap");
        return;
    }

    jpp_json_open(json, "gap", '{');

    jpp_json_str(json, "from", jpp_status_time(worker->coverage.off, text));
    jpp_json_str(json, "to", jpp_status_time(since, text));
    jpp_json_u64(json, "times", worker->coverage.n_off);

    jpp_json_close(json, '}');
}


static void
jpp_sampling_sampler(jpp_json_t *json, const jpp_sampler_state_t *sampler)
{
    char  since[JPP_STATUS_TIME];

    jpp_json_open(json, "sampler", '{');

    jpp_json_u64(json, "lg_sample", sampler->lg_sample);
    jpp_json_str(json, "since", jpp_status_time(sampler->since, since));
    jpp_json_u64(json, "samples", sampler->samples);
    jpp_json_u64(json, "live", sampler->live);
    jpp_json_u64(json, "live_max", sampler->live_max);
    jpp_json_u64(json, "sites", sampler->sites);
    jpp_json_u64(json, "dropped",
                 sampler->dropped_live + sampler->dropped_sites);
    jpp_json_u64(json, "cut", sampler->cut);
    jpp_json_u64(json, "bytes_max", sampler->bytes_max);
    jpp_json_u64(json, "slots", sampler->slots);
    jpp_json_u64(json, "objects", sampler->objects);
    jpp_json_u64(json, "foreign", sampler->foreign);
    jpp_json_u64(json, "lost", sampler->lost);

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

    jpp_json_open(json, "cost", '{');

    if (each != 0) {
        jpp_json_u64(json, "cpu_ms", n * each / 1000000);
        jpp_json_u64(json, "assumed_ns", each);

    } else {
        jpp_json_null(json, "cpu_ms");
        jpp_json_null(json, "assumed_ns");
    }

    if (worker->sampler.is_on) {
        jpp_json_u64(json, "bytes", worker->sampler.bytes);

    } else {
        jpp_json_null(json, "bytes");
    }

    jpp_json_close(json, '}');
}


/* null: neither source, and a sampler that is off */

static void
jpp_sampling_source(jpp_json_t *json, const jpp_worker_t *worker)
{
    jpp_json_str(json, "source",
                 jpp_source_name(jpp_source(&worker->jemalloc,
                                            &worker->sampler)));

    jpp_sampling_coverage(json, worker);

    if (worker->sampler.is_on) {
        jpp_sampling_sampler(json, &worker->sampler);

    } else {
        jpp_json_null(json, "sampler");
    }

    jpp_sampling_cost(json, worker);
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
    jpp_json_str(json, "reason", is_ours ? NULL : jpp_problems_hook(hook));

    if (is_ours) {
        jpp_json_u64(json, "stacks", worker->jemalloc.stacks.n);
        jpp_json_u64(json, "cut", worker->jemalloc.stacks.n_cut);

    } else {
        jpp_json_null(json, "stacks");
        jpp_json_null(json, "cut");
    }

    jpp_json_close(json, '}');
}


/* Add the members to the object of WORKER, which is open. */

static void
jpp_status_sampling(jpp_json_t *json, const jpp_worker_t *worker)
{
    jpp_sampling_source(json, worker);
    jpp_sampling_unwinder(json, worker);
}


static const char  *jpp_status_words[] = {
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
    size_t    i;
    uint64_t  newest;

    for (i = 0, newest = 0; i < n; i++) {
        if (!workers[i].is_exiting && workers[i].who.generation > newest) {
            newest = workers[i].who.generation;
        }
    }

    for (i = 0; i < n; i++) {
        workers[i].is_exiting |= workers[i].who.generation < newest;
    }
}


const char *
jpp_status_word(jpp_jemalloc_state_t state)
{
    return state <= JPP_JEMALLOC_READY ? jpp_status_words[state] : "unknown";
}


/* joins the lines of a cure by " | ", without their indentation */

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


/* The one that says how often samples are taken, or N. */

static size_t
jpp_status_of_rate(const jpp_problem_t *problems, size_t n)
{
    size_t  i;

    for (i = 0; i < n; i++) {
        if (strcmp(problems[i].id, "coarse") == 0
            || strcmp(problems[i].id, "fine") == 0)
        {
            break;
        }
    }

    return i;
}


void
jpp_status_notice(const jpp_worker_t *worker, char *text, size_t size)
{
    char            rate[JPP_UNITS_TEXT];
    size_t          i, n, len, of_rate;
    uint32_t        lg_sample;
    jpp_problem_t   problems[JPP_MAX_PROBLEMS];

    if (size == 0) {
        return;
    }

    n = jpp_problems(worker, problems);

    if (n != 0 && problems[0].is_fatal) {
        len = jpp_status_append(text, size, 0, problems[0].what);
        len = jpp_status_append(text, size, len, ": ");
        len = jpp_status_append(text, size, len, problems[0].why);
        len = jpp_status_append(text, size, len, ". ");
        (void) jpp_status_append(text, size, len, problems[0].cure);

        return;
    }

    len = 0;

    if (worker->sampler.is_on) {
        len = jpp_status_append(text, size, len, "the module's sampler");
        lg_sample = worker->sampler.lg_sample;

    } else {
        len = jpp_status_append(text, size, len, "jemalloc ");
        len = jpp_status_append(text, size, len, worker->jemalloc.version);
        len = jpp_status_append(text, size, len, ", profiling");
        lg_sample = worker->jemalloc.lg_sample;
    }

    of_rate = jpp_status_of_rate(problems, n);

    if (of_rate != n) {
        len = jpp_status_append(text, size, len, " ready, ");
        len = jpp_status_append(text, size, len, problems[of_rate].what);

    } else {
        len = jpp_status_append(text, size, len, " ready, one sample every ");
        len = jpp_status_append(text, size, len,
                                jpp_problems_rate(lg_sample, rate));
    }

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
    jpp_json_str(json, "state", jpp_status_word(jemalloc->state));
    jpp_json_bool(json, "active", jemalloc->active);

    if (jemalloc->state > JPP_JEMALLOC_OFF) {
        jpp_json_u64(json, "lg_sample", jemalloc->lg_sample);

    } else {
        jpp_json_null(json, "lg_sample");
    }

    jpp_json_bool(json, "prof_accum", jemalloc->accum);
}


/* null: no settings for all workers */

static void
jpp_status_json_in_step(jpp_json_t *json, const jpp_worker_t *worker,
    const jpp_control_t *wanted)
{
    int  in_step;

    in_step = jpp_status_in_step(worker, wanted);

    if (in_step == -1) {
        jpp_json_null(json, "in_step");

    } else {
        jpp_json_bool(json, "in_step", in_step == 1);
    }
}


static void
jpp_status_json_stats(jpp_json_t *json, const jpp_stats_t *stats)
{
    jpp_json_open(json, "stats", '{');

    jpp_json_u64(json, "allocated", stats->allocated);
    jpp_json_u64(json, "active", stats->active);
    jpp_json_u64(json, "metadata", stats->metadata);
    jpp_json_u64(json, "resident", stats->resident);
    jpp_json_u64(json, "mapped", stats->mapped);
    jpp_json_u64(json, "retained", stats->retained);

    jpp_json_close(json, '}');
}


static void
jpp_status_json_problems(jpp_json_t *json, const jpp_worker_t *worker)
{
    size_t          i, n;
    jpp_problem_t   problems[JPP_MAX_PROBLEMS];

    n = jpp_problems(worker, problems);

    jpp_json_open(json, "problems", '[');

    for (i = 0; i < n; i++) {
        jpp_json_open(json, NULL, '{');
        jpp_json_str(json, "id", problems[i].id);
        jpp_json_bool(json, "fatal", problems[i].is_fatal);
        jpp_json_str(json, "what", problems[i].what);
        jpp_json_str(json, "why", problems[i].why);
        jpp_json_str(json, "cure", problems[i].cure);
        jpp_json_close(json, '}');
    }

    jpp_json_close(json, ']');
}


static void
jpp_status_json_failure(jpp_json_t *json, const jpp_failure_t *failure)
{
    char  time[JPP_STATUS_TIME];

    if (failure->text[0] == '\0') {
        jpp_json_null(json, "last_error");
        return;
    }

    jpp_json_open(json, "last_error", '{');
    jpp_json_str(json, "time", jpp_status_time(failure->time, time));
    jpp_json_str(json, "text", failure->text);
    jpp_json_close(json, '}');
}


static void
jpp_status_json_worker(jpp_json_t *json, const jpp_worker_t *worker,
    const jpp_control_t *wanted)
{
    char  started[JPP_STATUS_TIME];

    jpp_json_open(json, NULL, '{');

    jpp_json_identity(json, &worker->who);
    jpp_json_bool(json, "exiting", worker->is_exiting);
    jpp_json_str(json, "started", jpp_status_time(worker->started, started));

    if (worker->stalling.threshold != 0) {
        jpp_json_u64(json, "stall_ms", worker->stalling.threshold);

    } else {
        jpp_json_null(json, "stall_ms");
    }

    jpp_status_json_jemalloc(json, &worker->jemalloc);
    jpp_status_sampling(json, worker);
    jpp_status_json_in_step(json, worker, wanted);

    if (worker->has_stats) {
        jpp_status_json_stats(json, &worker->stats);

    } else {
        jpp_json_null(json, "stats");
    }

    jpp_status_json_problems(json, worker);
    jpp_status_json_failure(json, &worker->last_error);

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
    jpp_json_u64(&json, "asked", fleet->n_asked);
    jpp_json_u64(&json, "answered", fleet->n);
    jpp_json_str(&json, "unnamed", fleet->unnamed);

    jpp_findings_json(&json, fleet->findings, fleet->n_findings);

    jpp_json_open(&json, "workers", '[');

    for (i = 0; i < fleet->n; i++) {
        jpp_status_json_worker(&json, &fleet->workers[i], fleet->wanted);
    }

    jpp_json_close(&json, ']');

    jpp_missing_json(&json, fleet->missing, fleet->n_missing);

    jpp_json_close(&json, '}');
}


int
jpp_status_in_step(const jpp_worker_t *worker, const jpp_control_t *wanted)
{
    const jpp_jemalloc_t       *jemalloc;
    const jpp_sampler_state_t  *sampler;

    if (wanted == NULL
        || (wanted->active == -1 && wanted->lg_sample == -1
            && wanted->sampler == -1))
    {
        return -1;
    }

    jemalloc = &worker->jemalloc;
    sampler = &worker->sampler;

    if ((wanted->sampler != -1 && sampler->is_on != (wanted->sampler == 1))
        || (wanted->sampler == 1
            && sampler->lg_sample != (uint32_t) wanted->sampler_lg))
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


#include "jpp_problems.h"
#include "jpp_status_sampling.h"
#include "jpp_status_time.h"


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


void
jpp_status_sampling(jpp_json_t *json, const jpp_worker_t *worker)
{
    jpp_sampling_source(json, worker);
    jpp_sampling_unwinder(json, worker);
}


#include "jpp_problems.h"
#include "jpp_status_sampling.h"
#include "jpp_status_time.h"


/*
 * About what a sample costs, ns, with its free (./dev bench sampling: 1,000 and
 * 8,000 instructions, and jemalloc's are cold).
 */

#define JPP_SAMPLING_SAMPLER_NS  500
#define JPP_SAMPLING_HOOK_NS     5000


static void jpp_sampling_source(jpp_json_t *json, const jpp_worker_t *worker);
static void jpp_sampling_sampler(jpp_json_t *json,
    const jpp_sampler_state_t *sampler);
static void jpp_sampling_cost(jpp_json_t *json, const jpp_worker_t *worker);
static void jpp_sampling_unwinder(jpp_json_t *json,
    const jpp_worker_t *worker);


void
jpp_status_sampling(jpp_json_t *json, const jpp_worker_t *worker)
{
    jpp_sampling_source(json, worker);
    jpp_sampling_unwinder(json, worker);
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


/* null: neither source, and a sampler that is off */

static void
jpp_sampling_source(jpp_json_t *json, const jpp_worker_t *worker)
{
    jpp_json_str(json, "source",
                 jpp_source_name(jpp_source(&worker->jemalloc,
                                            &worker->sampler)));

    if (worker->sampler.is_on) {
        jpp_sampling_sampler(json, &worker->sampler);

    } else {
        jpp_json_null(json, "sampler");
    }

    jpp_sampling_cost(json, worker);
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
    uint64_t  cpu, bytes;
    bool      has_cpu;

    cpu = 0;
    bytes = 0;
    has_cpu = true;

    if (worker->sampler.is_on) {
        cpu = worker->sampler.samples * JPP_SAMPLING_SAMPLER_NS / 1000000;
        bytes = worker->sampler.bytes;

    } else if (worker->jemalloc.hook == JPP_HOOK_ON) {
        cpu = worker->jemalloc.stacks.n * JPP_SAMPLING_HOOK_NS / 1000000;

    } else {
        has_cpu = false;
    }

    jpp_json_open(json, "cost", '{');

    if (has_cpu) {
        jpp_json_u64(json, "cpu_ms", cpu);

    } else {
        jpp_json_null(json, "cpu_ms");
    }

    if (worker->sampler.is_on) {
        jpp_json_u64(json, "bytes", bytes);

    } else {
        jpp_json_null(json, "bytes");
    }

    jpp_json_close(json, '}');
}

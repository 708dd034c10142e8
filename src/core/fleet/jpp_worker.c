
#include "jpp_worker.h"


void
jpp_json_time(jpp_json_t *json, const char *key, int64_t seconds)
{
    jpp_json_str(json, key, seconds != 0 ? jpp_date(seconds) : NULL);
}


void
jpp_json_filled(jpp_json_t *json, const char *key, const char *text)
{
    jpp_json_str(json, key, text[0] != '\0' ? text : NULL);
}


const char *
jpp_identity_text(const jpp_identity_t *identity, char text[JPP_WORKER_NAME])
{
    (void) snprintf(text, JPP_WORKER_NAME, "worker %" PRIu32 " (pid %" PRId64
                    ")", identity->index, identity->pid);

    return text;
}


void
jpp_json_identity(jpp_json_t *json, const jpp_identity_t *identity)
{
    jpp_json_u64(json, "worker", identity->index);
    jpp_json_i64(json, "pid", identity->pid);
    jpp_json_u64(json, "generation", identity->generation);
}


const char *const  jpp_lua_vm_names[JPP_LUA_VMS] = { "http", "stream" };


/*
 * Where all samples are forgotten, none is left from before.  A clock that was
 * set back makes no gap shorter than nothing.
 */

void
jpp_coverage_changed(jpp_coverage_t *coverage,
    const jpp_control_result_t *result, int64_t now)
{
    bool  was_active;

    was_active = result->was_active;

    if (result->is_reset) {
        memset(coverage, 0, sizeof(jpp_coverage_t));
        was_active = false;
    }

    if (result->is_active && !was_active) {
        coverage->since = now > coverage->off ? now : coverage->off;

    } else if (was_active && !result->is_active && coverage->n_off++ == 0) {
        coverage->off = now;
    }
}


const char *
jpp_coverage_gap(const jpp_coverage_t *coverage, char text[JPP_COVERAGE_TEXT])
{
    const char  *from, *to;

    from = jpp_date(coverage->off);
    to = jpp_date(coverage->since);

    if (coverage->n_off == 1) {
        (void) snprintf(text, JPP_COVERAGE_TEXT, "from %s to %s", from, to);

    } else {
        (void) snprintf(text, JPP_COVERAGE_TEXT, "%" PRIu64 " times between "
                        "%s and %s", coverage->n_off, from, to);
    }

    return text;
}


const uint64_t  jpp_loop_bounds[JPP_LOOP_BOUNDS] = {
    1, 5, 10, 25, 50, 100, 250, 500, 1000, 5000
};


void
jpp_loop_add(jpp_loop_t *loop, uint64_t ms)
{
    unsigned  i;

    /* nearly always the first */

    for (i = 0; i < JPP_LOOP_BOUNDS && ms > jpp_loop_bounds[i]; i++) {
        /* void */
    }

    loop->counts[i]++;
    loop->sum += ms;
    loop->max = jpp_larger(loop->max, ms);
}


uint64_t
jpp_loop_count(const jpp_loop_t *loop)
{
    unsigned  i;
    uint64_t  count;

    for (i = 0, count = 0; i <= JPP_LOOP_BOUNDS; i++) {
        count += loop->counts[i];
    }

    return count;
}


uint64_t
jpp_loop_quantile(const jpp_loop_t *loop, uint64_t per_mille)
{
    unsigned  i;
    uint64_t  count, so_far;

    count = jpp_loop_count(loop);

    for (i = 0, so_far = 0; i < JPP_LOOP_BOUNDS; i++) {
        so_far += loop->counts[i];

        if (so_far >= count - count * (1000 - per_mille) / 1000) {
            return jpp_loop_bounds[i] < loop->max ? jpp_loop_bounds[i]
                                                  : loop->max;
        }
    }

    return loop->max;
}


void
jpp_recent_add(jpp_recent_t *recent, uint64_t now, uint64_t ms)
{
    uint64_t       number;
    jpp_minute_t  *took;

    number = now / JPP_RECENT_STEP + 1;
    took = &recent->took[number % JPP_RECENT_STEPS];

    if (recent->numbers[number % JPP_RECENT_STEPS] != number) {
        recent->numbers[number % JPP_RECENT_STEPS] = number;
        *took = (jpp_minute_t) { 0, 0 };
    }

    took->longest = jpp_larger(took->longest, ms);
    took->slow += ms > JPP_RECENT_SLOW ? ms : 0;
}


void
jpp_recent_read(const jpp_recent_t *recent, uint64_t now, jpp_minute_t *minute)
{
    unsigned  i;
    uint64_t  number;

    memset(minute, 0, sizeof(jpp_minute_t));

    number = now / JPP_RECENT_STEP + 1;

    for (i = 0; i < JPP_RECENT_STEPS; i++) {

        /* what was not overwritten may be of long ago */

        if (recent->numbers[i] <= number
            && recent->numbers[i] + JPP_RECENT_STEPS > number)
        {
            minute->longest = jpp_larger(minute->longest,
                                         recent->took[i].longest);
            minute->slow += recent->took[i].slow;
        }
    }
}


uint64_t
jpp_worker_own(const jpp_worker_t *worker)
{
    const jpp_usage_t  *usage;

    usage = &worker->activity.usage;

    /* no process has none, and JPP_NONE is above all */

    return usage->private == 0 || usage->rss_anon == JPP_NONE
           ? usage->rss_anon
           : jpp_smaller(usage->private, usage->rss_anon);
}


uint64_t
jpp_worker_outside(const jpp_worker_t *worker)
{
    uint64_t  own, outside;

    own = jpp_worker_own(worker);

    if (!worker->has_stats || own == JPP_NONE) {
        return 0;
    }

    outside = jpp_less(worker->activity.usage.rss_anon,
                       worker->stats.resident + worker->sampler.bytes);

    return outside < own ? outside : own;
}

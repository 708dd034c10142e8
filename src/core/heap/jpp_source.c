
#include "jpp_owner_names.h"
#include "jpp_source.h"


jpp_source_t
jpp_source(const jpp_jemalloc_t *jemalloc, const jpp_sampler_state_t *sampler)
{
    if (sampler->is_on) {
        return JPP_SOURCE_SAMPLER;
    }

    return jemalloc->state > JPP_JEMALLOC_OFF ? JPP_SOURCE_JEMALLOC
                                              : JPP_SOURCE_NONE;
}


const char *
jpp_source_name(jpp_source_t source)
{
    static const char  *const names[JPP_SOURCES] = {
        [JPP_SOURCE_JEMALLOC] = "jemalloc",
        [JPP_SOURCE_SAMPLER] = "sampler"
    };

    return names[source];
}


jpp_code_t
jpp_source_dump(int fd, const jpp_ages_t *ages, jpp_sampler_state_t *sampler,
    jpp_err_t *err)
{
    jpp_code_t  rc;

    jpp_sampler_state(sampler);

    if (sampler->is_on) {
        return jpp_sampler_dump(fd, ages, sampler, err);
    }

    if (ages != NULL && (ages->are_told || ages->least != 0)) {
        return jpp_err_set(err, JPP_ERR_ARG,
                           "the samples of jemalloc's profiler have no age, "
                           "which age= and ages=1 ask for: POST sampler=on to "
                           "control, so that the module's sampler is the "
                           "source");
    }

    rc = jpp_jemalloc_dump(fd, err);

    return rc == JPP_OK ? jpp_owner_append(fd, err) : rc;
}


static bool
jpp_source_will_sample(const jpp_control_t *control, bool is_on)
{
    return control->sampler == 1 || (control->sampler == -1 && is_on);
}


void
jpp_source_rates(jpp_control_t *control, bool is_on)
{
    if (jpp_source_will_sample(control, is_on) && control->sampler_lg == -1) {
        control->sampler_lg = control->lg_sample;
        control->lg_sample = -1;
    }
}


/* CONTROL, whose rates are told apart, becomes what is left for jemalloc. */

static jpp_code_t
jpp_source_switch(jpp_control_t *control, const jpp_sampler_state_t *was,
    jpp_err_t *err)
{
    int         lg;
    jpp_code_t  rc;

    rc = JPP_OK;

    if (jpp_source_will_sample(control, was->is_on)) {

        lg = control->sampler_lg;

        if (lg == -1) {
            lg = was->is_on ? (int) was->lg_sample : JPP_SAMPLER_LG_DEFAULT;
        }

        if (control->reset) {
            rc = jpp_sampler_off(err);
        }

        if (rc == JPP_OK) {
            rc = jpp_sampler_on((uint32_t) lg, err);
        }

        control->reset = 0;

    } else if (control->sampler == 0) {
        rc = jpp_sampler_off(err);
    }

    return rc;
}


static void
jpp_source_read(jpp_control_state_t *state, jpp_jemalloc_t *jemalloc,
    jpp_sampler_state_t *sampler)
{
    jpp_jemalloc_read(jemalloc);
    jpp_sampler_state(sampler);

    state->source = jpp_source(jemalloc, sampler);
    state->active = sampler->is_on || jemalloc->active;
    state->lg_sample = sampler->is_on ? sampler->lg_sample
                                      : jemalloc->lg_sample;
}


jpp_code_t
jpp_source_control(const jpp_control_t *control,
    jpp_control_result_t *result, jpp_err_t *err)
{
    jpp_code_t            rc;
    jpp_control_t         rest;
    jpp_jemalloc_t        jemalloc;
    jpp_sampler_state_t   was, is;

    memset(result, 0, sizeof(jpp_control_result_t));

    jpp_source_read(&result->before, &jemalloc, &was);

    result->purged = JPP_NONE;
    result->was_active = jemalloc.active;

    rest = *control;
    jpp_source_rates(&rest, was.is_on);
    rc = jpp_source_switch(&rest, &was, err);

    if (rc == JPP_OK) {
        rc = jpp_jemalloc_control(&rest, &result->is_reset, err);
    }

    jpp_source_read(&result->after, &jemalloc, &is);

    result->is_active = jemalloc.active;

    /* by what is shown: jemalloc's sampling counts where it is the source */

    result->is_other = result->is_reset
                       || was.is_on != is.is_on
                       || result->before.active != result->after.active
                       || (is.is_on && (was.lg_sample != is.lg_sample
                                        || control->reset));

    return rc;
}


unsigned
jpp_source_sample_thread(unsigned set)
{
    bool  by_jemalloc, by_sampler;

    by_jemalloc = jpp_jemalloc_sample_thread(set & JPP_SOURCE_BY_JEMALLOC);
    by_sampler = jpp_sampler_sample_thread(set & JPP_SOURCE_BY_SAMPLER);

    return (by_jemalloc ? JPP_SOURCE_BY_JEMALLOC : 0)
           | (by_sampler ? JPP_SOURCE_BY_SAMPLER : 0);
}

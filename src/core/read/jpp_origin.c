
/*
 * Separates the memory that a worker inherited from the memory that it
 * allocated itself.
 */


#include "jpp_parsers.h"


bool
jpp_origin_init(jpp_origin_split_t *split, jpp_profile_t *profile)
{
    split->profile = profile;

    return jpp_profile_count(profile)
           && jpp_profile_columns(profile, split->baseline, 0);
}


jpp_code_t
jpp_origin_check(const jpp_dump_t *baseline, const jpp_dump_t *dump,
    jpp_err_t *err)
{
    /* a new period means a reset, which forgets what was inherited */

    if (baseline->period != dump->period) {
        return jpp_err_line(err, JPP_ERR_INPUT, 1,
                            "its sampling period is not the dump's: profiling "
                            "was reset in between");
    }

    return JPP_OK;
}


/* Was anything of sample I inherited?  Takes it, and the baseline, away. */

static bool
jpp_origin_inherited(jpp_origin_split_t *split, uint32_t i,
    int64_t values[JPP_MAX_COLUMNS])
{
    bool            any;
    int64_t         now, baseline;
    uint32_t        t;
    jpp_vec_t      *column;
    jpp_profile_t  *profile;

    profile = split->profile;
    any = false;

    for (t = 0; t < profile->n_columns; t++) {

        column = profile->columns[t];
        now = jpp_profile_value(column, i);
        baseline = jpp_profile_value(split->baseline[t], i);

        values[t] = now < baseline ? now : baseline;

        if (baseline != 0) {
            jpp_vec_items(split->baseline[t], int64_t)[i] = 0;
        }

        if (values[t] != 0) {
            jpp_vec_items(column, int64_t)[i] -= values[t];
            any = true;
        }
    }

    return any;
}


/* Raises what the stack of sample I has under SET to VALUES. */

static bool
jpp_origin_give(jpp_profile_t *profile, uint32_t i, uint32_t set,
    int64_t values[JPP_MAX_COLUMNS])
{
    int64_t        has;
    uint8_t       *pos;
    uint32_t       t, id;
    jpp_sample_t   sample;

    jpp_profile_sample(profile, i, &sample);

    /* no frame takes less than a byte */

    pos = jpp_profile_begin(profile, set, (uint32_t) sample.stack_len);
    if (pos == NULL) {
        return false;
    }

    /* which may have moved the stacks */

    jpp_profile_sample(profile, i, &sample);

    memcpy(pos, sample.stack, sample.stack_len);
    jpp_profile_end(profile, pos + sample.stack_len);

    id = jpp_profile_find(profile);

    for (t = 0; id != 0 && t < profile->n_columns; t++) {
        has = jpp_profile_value(profile->columns[t], id - 1);
        values[t] = values[t] > has ? values[t] - has : 0;
    }

    return jpp_profile_commit(profile, NULL, values);
}


bool
jpp_origin_take(jpp_origin_split_t *split, uint32_t from, uint32_t set)
{
    int64_t   values[JPP_MAX_COLUMNS];
    uint32_t  i, n;

    /* the group's are appended */

    n = split->profile->n_samples;

    for (i = from; i < n; i++) {

        if (jpp_origin_inherited(split, i, values)
            && !jpp_origin_give(split->profile, i, set, values))
        {
            return false;
        }
    }

    return true;
}


void
jpp_origin_keep(jpp_profile_t *profile, jpp_origin_t origin)
{
    bool           is_inherited;
    int64_t        sum;
    uint32_t       i, k, t;
    jpp_vec_t     *column;
    jpp_sample_t   sample;

    for (i = 0; origin != JPP_ORIGIN_ALL && i < profile->n_samples; i++) {

        jpp_profile_sample(profile, i, &sample);

        is_inherited = (sample.labels->part & JPP_ORIGIN_GROUP) != 0;

        if (is_inherited == (origin == JPP_ORIGIN_MASTER)) {
            continue;
        }

        /* writers leave out a sample of zeros */

        for (t = 0; t < profile->n_columns; t++) {
            if (i < jpp_vec_count(profile->columns[t], int64_t)) {
                jpp_vec_items(profile->columns[t], int64_t)[i] = 0;
            }
        }
    }

    /* in a difference nothing is inherited, and both dumps count */

    if (profile->is_difference && origin != JPP_ORIGIN_MASTER) {
        return;
    }

    for (i = 0; i < profile->n_counts; i++) {
        column = profile->columns[jpp_profile_seen(profile, i)];

        sum = 0;

        jpp_profile_each(k, profile) {
            sum = jpp_add_i64(sum, jpp_profile_value(column, k));
        }

        profile->n_seen[i] = (uint64_t) sum;
    }
}

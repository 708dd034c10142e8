
/*
 * How old live memory is, by function: the median age, and which functions are
 * suspected of a leak.
 *
 * The labels of samples (jpp_ages.h) say how old they are, and in which quarter
 * of the recording they were allocated.  What comes and goes is young: little
 * of it is left from the first quarters.  What is allocated once and kept is
 * all from the quarter that it was allocated in.  What leaks is left from each
 * quarter alike; from the last one there may be more, which will still go.  So
 * a function is suspected if each quarter has at least half of what the largest
 * of the first three has, and if enough samples say so.
 *
 * That is no proof.  A cache that still fills, and memory that lives longer
 * than three quarters of the recording, look alike: a longer recording tells.
 */


#include "jpp_view.h"


/* samples of each quarter: of fewer, chance makes one twice another */
#define JPP_AGED_SAMPLES  8

/* how many suspects are named */
#define JPP_AGED_NAMED    5


bool
jpp_aged_init(jpp_aged_t *aged, const jpp_view_t *view, size_t n)
{
    size_t  size;

    memset(aged, 0, sizeof(jpp_aged_t));

    if (!jpp_args_has_ages(view->args)) {
        return true;
    }

    size = (n + 1) * sizeof(jpp_aged_row_t);

    aged->profile = view->profile;
    aged->rows = jpp_arena_alloc(view->profile->arena, size);

    if (aged->rows != NULL) {
        memset(aged->rows, 0, size);
    }

    return aged->rows != NULL;
}


/* The number that the label KEY of sample I has; 0: there is none. */

static int64_t
jpp_aged_label(const jpp_profile_t *profile, uint32_t i, const char *key)
{
    jpp_sample_t                sample;
    const jpp_profile_label_t  *label;

    jpp_profile_sample(profile, i, &sample);

    jpp_each(label, sample.labels->labels, sample.labels->n) {
        if (strcmp(jpp_profile_str(profile, label->key).data, key) == 0) {
            return label->num;
        }
    }

    return 0;
}


void
jpp_aged_add(jpp_aged_t *aged, size_t row, uint32_t i)
{
    int64_t               age, quarter, value;
    uint32_t              type, power, seen;
    jpp_aged_row_t       *to;
    const jpp_profile_t  *profile;

    if (aged->rows == NULL) {
        return;
    }

    profile = aged->profile;
    type = profile->default_type;
    to = &aged->rows[row];

    if (type >= JPP_HEAP_INUSE_OBJECTS) {
        value = jpp_profile_value(profile->columns[type
                                                   - JPP_HEAP_INUSE_OBJECTS],
                                  i);
        to->allocated = jpp_add_i64(to->allocated, value);
    }

    age = jpp_aged_label(profile, i, JPP_AGE_KEY);
    quarter = jpp_aged_label(profile, i, JPP_QUARTER_KEY);

    /* those of a saved profile may be any numbers */

    if (age <= 0 || quarter < 1 || quarter > JPP_AGE_QUARTERS) {
        return;
    }

    quarter--;

    power = (63 - (uint32_t) __builtin_clzll((uint64_t) age)) / 2;
    power = (uint32_t) jpp_smaller(power, JPP_AGE_POWERS - 1);
    seen = jpp_profile_seen(profile, profile->types[type].count);

    value = jpp_profile_value(profile->columns[type], i);

    aged->is_known |= value != 0;
    to->live = jpp_add_i64(to->live, value);
    to->ages[power] = jpp_add_i64(to->ages[power], value);
    to->quarters[quarter] = jpp_add_i64(to->quarters[quarter], value);
    to->seen[quarter] =
                  jpp_add_i64(to->seen[quarter],
                              jpp_profile_value(profile->columns[seen], i));
}


void
jpp_aged_cell(const jpp_aged_t *aged, size_t row, jpp_table_t *table)
{
    int64_t                younger;
    uint32_t               i;
    const jpp_aged_row_t  *from;

    if (aged->rows == NULL) {
        return;
    }

    from = &aged->rows[row];

    if (from->live <= 0) {
        jpp_table_cell(table, "-");
        return;
    }

    younger = from->ages[0];

    for (i = 0;
         younger < from->live / 2 + from->live % 2 && i < JPP_AGE_POWERS - 1;
         i++)
    {
        younger = jpp_add_i64(younger, from->ages[i + 1]);
    }

    if (i == 0) {
        jpp_table_cell(table, "<4 s");

    } else {
        jpp_table_cell(table, ">%s", jpp_span((uint64_t) 1 << i * 2));
    }
}


static bool
jpp_aged_is_suspect(const jpp_aged_row_t *row)
{
    int      i;
    int64_t  largest;

    largest = 0;

    for (i = 0; i < JPP_AGE_QUARTERS - 1; i++) {
        largest = row->quarters[i] > largest ? row->quarters[i] : largest;
    }

    for (i = 0; i < JPP_AGE_QUARTERS; i++) {
        if (row->quarters[i] < largest / 2 + largest % 2
            || row->seen[i] < JPP_AGED_SAMPLES)
        {
            return false;
        }
    }

    return true;
}


bool
jpp_aged_suspect(const jpp_aged_t *aged, size_t row, size_t n, const char *name,
    jpp_sink_t *sink)
{
    int                    i;
    const jpp_aged_row_t  *from;

    from = &aged->rows[row];

    if (!jpp_aged_is_suspect(from)) {
        return false;
    }

    if (n >= JPP_AGED_NAMED) {
        return true;
    }

    jpp_sink_printf(sink, "leak? %s holds %s of %s allocated; left from each "
                    "quarter of the recording:", name,
                    jpp_figure(aged->profile, from->live),
                    jpp_figure(aged->profile, from->allocated));

    for (i = 0; i < JPP_AGE_QUARTERS; i++) {
        jpp_sink_printf(sink, "%s %s", i == 0 ? "" : ",",
                        jpp_figure(aged->profile, from->quarters[i]));
    }

    jpp_sink_char(sink, '\n');

    return true;
}


void
jpp_aged_rest(size_t n, jpp_sink_t *sink)
{
    if (n == 0) {
        jpp_sink_str(sink, "leak? no function is suspected: none holds about "
                           "as much from each quarter of the recording\n");
    }

    jpp_figures_more(jpp_less(n, JPP_AGED_NAMED), "suspect", sink);
}

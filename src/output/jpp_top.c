
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "jpp_intern.h"
#include "jpp_sort.h"
#include "jpp_top.h"


#define JPP_TOP_VALUE  24

/* below this many samples the heading says how far off the figures may be */
#define JPP_TOP_FEW    400


typedef struct {
    int64_t     flat;
    int64_t     cum;
    uint32_t    function;      /* id */
    uint32_t    seen;          /* the last sample counted in cum, from 1 */
} jpp_top_row_t;


typedef struct {
    int64_t     total;
    uint64_t    n_stacks;
} jpp_top_sum_t;


static void jpp_top_add(const jpp_profile_t *profile, uint32_t type,
    uint32_t i, jpp_top_row_t *rows, jpp_top_sum_t *sum);
static void jpp_top_heading(const jpp_profile_t *profile, uint32_t type,
    const jpp_top_sum_t *sum, jpp_sink_t *sink);
static void jpp_top_row(const jpp_profile_t *profile, uint32_t type,
    const jpp_top_row_t *row, int64_t total, jpp_sink_t *sink);
static void jpp_top_comments(const jpp_profile_t *profile, jpp_sink_t *sink);
static const char *jpp_top_value(const jpp_profile_t *profile, uint32_t type,
    int64_t value, char text[JPP_TOP_VALUE]);
static const char *jpp_top_bytes(int64_t value, char text[JPP_TOP_VALUE]);
static double jpp_top_percent(int64_t value, int64_t total);
static int jpp_top_compare(const void *a, const void *b, void *ctx);


bool
jpp_top_write(const jpp_view_t *view, jpp_sink_t *sink)
{
    size_t                n, shown;
    uint32_t              i, type;
    jpp_top_row_t        *rows;
    jpp_top_sum_t         sum = { 0 };
    const jpp_profile_t  *profile;

    profile = view->profile;
    type = profile->default_type;

    n = jpp_vec_count(profile->functions, jpp_function_t);

    rows = jpp_arena_alloc(profile->arena, (n + 1) * sizeof(jpp_top_row_t));
    if (rows == NULL) {
        return false;
    }

    for (i = 0; i < n; i++) {
        rows[i].function = i + 1;
    }

    for (i = 0; i < profile->n_samples; i++) {
        jpp_top_add(profile, type, i, rows, &sum);
    }

    jpp_sort(rows, n, sizeof(jpp_top_row_t), jpp_top_compare, NULL);

    jpp_top_heading(profile, type, &sum, sink);

    while (n > 0 && rows[n - 1].cum == 0 && rows[n - 1].flat == 0) {
        n--;
    }

    shown = n < JPP_TOP_ROWS ? n : JPP_TOP_ROWS;

    for (i = 0; i < shown; i++) {
        jpp_top_row(profile, type, &rows[i], sum.total, sink);
    }

    if (shown < n) {
        jpp_sink_printf(sink, "%zu more functions\n", n - shown);
    }

    jpp_top_comments(profile, sink);

    return true;
}


static void
jpp_top_add(const jpp_profile_t *profile, uint32_t type, uint32_t i,
    jpp_top_row_t *rows, jpp_top_sum_t *sum)
{
    bool                   is_leaf;
    int64_t                value;
    uint32_t               id;
    jpp_sample_t           sample;
    jpp_top_row_t         *row;
    const uint8_t         *p, *end;
    const jpp_location_t  *location;

    jpp_profile_sample(profile, i, &sample);

    value = sample.values[type];

    if (value == 0) {
        return;
    }

    sum->total = jpp_add_i64(sum->total, value);
    sum->n_stacks++;

    end = sample.stack + sample.stack_len;

    for (p = sample.stack; p < end; /* void */ ) {

        is_leaf = (p == sample.stack);

        p = jpp_stack_next(p, &id);
        location = jpp_profile_location_at(profile, id);
        row = &rows[location->function - 1];

        if (is_leaf) {
            row->flat = jpp_add_i64(row->flat, value);
        }

        /* a function that recurs in the stack counts once */

        if (row->seen != i + 1) {
            row->seen = i + 1;
            row->cum = jpp_add_i64(row->cum, value);
        }
    }
}


static void
jpp_top_heading(const jpp_profile_t *profile, uint32_t type,
    const jpp_top_sum_t *sum, jpp_sink_t *sink)
{
    char      text[JPP_TOP_VALUE];
    uint64_t  n;

    jpp_sink_printf(sink, "%s%s: %s in %" PRIu64 " stacks",
                    profile->types[type].type,
                    profile->is_difference ? " (difference)" : "",
                    jpp_top_value(profile, type, sum->total, text),
                    sum->n_stacks);

    /* n samples of a Poisson process: their deviation is sqrt(n) */

    n = profile->n_seen[profile->types[type].count];

    jpp_sink_printf(sink, ", estimated from %" PRIu64 " samples", n);

    if (profile->period > 1 && !profile->has_periods) {
        jpp_sink_printf(sink, ", one every %s",
                        jpp_top_bytes(profile->period, text));
    }

    if (profile->period > 1 && n > 0 && n < JPP_TOP_FEW) {
        jpp_sink_printf(sink, " (so few may be off by %.0f%%)",
                        100 / sqrt((double) n));
    }

    jpp_sink_printf(sink, "\n%11s %6s %11s %6s  %s\n",
                    "flat", "flat%", "cum", "cum%", "function");
}


static void
jpp_top_row(const jpp_profile_t *profile, uint32_t type,
    const jpp_top_row_t *row, int64_t total, jpp_sink_t *sink)
{
    char                   flat[JPP_TOP_VALUE], cum[JPP_TOP_VALUE];
    jpp_str_t              name;
    const jpp_function_t  *function;

    jpp_sink_printf(sink, "%11s %5.1f%% %11s %5.1f%%  ",
                    jpp_top_value(profile, type, row->flat, flat),
                    jpp_top_percent(row->flat, total),
                    jpp_top_value(profile, type, row->cum, cum),
                    jpp_top_percent(row->cum, total));

    function = jpp_profile_function_at(profile, row->function);
    name = jpp_profile_str(profile, function->name);

    jpp_sink_write(sink, name.data, name.len);
    jpp_sink_char(sink, '\n');
}


static void
jpp_top_comments(const jpp_profile_t *profile, jpp_sink_t *sink)
{
    size_t           i, n;
    jpp_str_t        comment;
    const uint32_t  *comments;

    comments = jpp_vec_items(profile->comments, uint32_t);
    n = jpp_vec_count(profile->comments, uint32_t);

    if (n != 0) {
        jpp_sink_char(sink, '\n');
    }

    for (i = 0; i < n; i++) {
        comment = jpp_profile_str(profile, comments[i]);

        jpp_sink_write(sink, comment.data, comment.len);
        jpp_sink_char(sink, '\n');
    }
}


static const char *
jpp_top_value(const jpp_profile_t *profile, uint32_t type, int64_t value,
    char text[JPP_TOP_VALUE])
{
    if (strcmp(profile->types[type].unit, "bytes") == 0) {
        return jpp_top_bytes(value, text);
    }

    (void) snprintf(text, JPP_TOP_VALUE, "%" PRId64, value);

    return text;
}


static const char *
jpp_top_bytes(int64_t value, char text[JPP_TOP_VALUE])
{
    double              scaled;
    const char *const  *unit;

    static const char  *units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB",
                                    NULL };

    scaled = (double) value;

    if (fabs(scaled) < 1024) {
        (void) snprintf(text, JPP_TOP_VALUE, "%.0f B", scaled);
        return text;
    }

    for (unit = units, scaled /= 1024;
         fabs(scaled) >= 1024 && unit[1] != NULL;
         unit++)
    {
        scaled /= 1024;
    }

    (void) snprintf(text, JPP_TOP_VALUE, "%.*f %s", fabs(scaled) < 10 ? 2 : 1,
                    scaled, *unit);

    return text;
}


static double
jpp_top_percent(int64_t value, int64_t total)
{
    return total != 0 ? 100 * (double) value / (double) total : 0;
}


static int
jpp_top_compare(const void *a, const void *b, void *ctx)
{
    int64_t               m, n;
    const jpp_top_row_t  *x, *y;

    (void) ctx;

    x = a;
    y = b;

    /* what shrank by much in a difference is as interesting as what grew */

    m = x->flat < 0 ? -x->flat : x->flat;
    n = y->flat < 0 ? -y->flat : y->flat;

    if (m != n) {
        return m > n ? -1 : 1;
    }

    m = x->cum < 0 ? -x->cum : x->cum;
    n = y->cum < 0 ? -y->cum : y->cum;

    if (m != n) {
        return m > n ? -1 : 1;
    }

    return x->function < y->function ? -1 : 1;
}


/*
 * Writes one value of a profile as a table of functions: flat and cumulative
 * sums, number of objects, mean size, and error; sorted by size.
 *
 * A heading says what the figures rest on; the comments of the profile, such
 * as which workers are missing, follow.
 *
 * With owners=1 or by=, a table of whom the samples belong to (jpp_owned.c)
 * comes first.
 *
 * With ages=1 or age=, rows have a median age, and the functions that are
 * suspected of a leak (jpp_aged.c) follow.
 *
 * Unless callers=0 is set, functions that only pass memory on (jpp_wrappers.c)
 * are passed over: the rows are the functions that hold it.
 */


#include "jpp_view.h"


/* the least that a function is worth */
#define JPP_TOP_FUNCTION  32


typedef struct {
    jpp_sum_t  sums[2];   /* by jpp_sort_by_t: flat and cum */
    uint32_t   function;  /* id */
    uint32_t   last;      /* the last sample counted in cum, from 1 */
    bool       is_seen;   /* some sample was, which has a value */
} jpp_functions_row_t;


typedef struct {
    const jpp_profile_t  *profile;
    const uint8_t        *passing;
    jpp_sums_t            sums;
    jpp_aged_t            aged;       /* a row for each function */
    jpp_sort_by_t         sort;

    jpp_functions_row_t  *rows;
    size_t                n;
    jpp_sum_t             total;
    uint64_t              n_stacks;
    bool                  is_passed;  /* some function was */
} jpp_functions_t;


static bool
jpp_functions_init(jpp_functions_t *top, const jpp_view_t *view)
{
    uint32_t              i;
    const jpp_profile_t  *profile;

    memset(top, 0, sizeof(jpp_functions_t));

    profile = view->profile;

    top->profile = profile;
    jpp_sums_init(&top->sums, profile);

    top->sort = (jpp_sort_by_t) view->args->values[JPP_ARG_SORT];
    top->n = jpp_vec_count(profile->functions, jpp_function_t);

    top->rows = jpp_arena_alloc(profile->arena,
                                (top->n + 1) * sizeof(jpp_functions_row_t));
    top->passing = jpp_wrappers_table(profile,
                                      view->args->values[JPP_ARG_CALLERS] == 0);

    if (top->rows == NULL || top->passing == NULL
        || !jpp_aged_init(&top->aged, view, top->n))
    {
        return false;
    }

    for (i = 0; i < top->n; i++) {
        top->rows[i].function = i + 1;
    }

    return true;
}


static void
jpp_functions_sample(jpp_functions_t *top, uint32_t i)
{
    bool                  is_shown;
    uint32_t              id;
    jpp_sum_t             sum;
    jpp_sample_t          sample;
    jpp_functions_row_t  *row;
    const uint8_t        *p, *next, *leaf, *end;
    const jpp_profile_t  *profile;

    profile = top->profile;

    is_shown = jpp_sums_sample(&top->sums, i, &sum);

    /* what was allocated, and is not live, counts beside ages */

    if (!is_shown && top->aged.rows == NULL) {
        return;
    }

    jpp_profile_sample(profile, i, &sample);

    jpp_sum_add(&top->total, &sum);
    top->n_stacks += is_shown;

    end = sample.stack + sample.stack_len;
    leaf = jpp_wrappers_skip(profile, top->passing, sample.stack, end);
    top->is_passed |= leaf != sample.stack;

    for (p = leaf; p < end; p = next) {

        next = jpp_stack_next(p, &id);
        row = &top->rows[jpp_profile_location_at(profile, id)->function - 1];

        if (p == leaf) {
            jpp_sum_add(&row->sums[JPP_SORT_FLAT], &sum);
        }

        if (top->sort == JPP_SORT_FLAT ? p == leaf : row->last != i + 1) {
            jpp_aged_add(&top->aged, row->function - 1, i);
        }

        /* a function that recurs in the stack counts once */

        if (row->last != i + 1) {
            row->last = i + 1;
            row->is_seen |= is_shown;
            jpp_sum_add(&row->sums[JPP_SORT_CUM], &sum);
        }
    }
}


static int
jpp_functions_compare(const void *a, const void *b, void *ctx)
{
    int                         order;
    jpp_functions_t            *top;
    jpp_sort_by_t               sort;
    const jpp_functions_row_t  *x = a, *y = b;

    top = ctx;

    /* functions without samples come last */

    order = jpp_sort_order(y->is_seen, x->is_seen);
    sort = top->sort;

    if (order == 0) {
        order = jpp_sums_compare(x->sums[sort].value, y->sums[sort].value);
    }

    if (order == 0) {
        sort = sort == JPP_SORT_FLAT ? JPP_SORT_CUM : JPP_SORT_FLAT;
        order = jpp_sums_compare(x->sums[sort].value, y->sums[sort].value);
    }

    return order != 0 ? order : jpp_sort_order(x->function, y->function);
}


static void
jpp_functions_heading(const jpp_functions_t *top, jpp_sink_t *sink)
{
    double                   percent;
    uint64_t                 n;
    const jpp_profile_t     *profile;
    const jpp_value_type_t  *type;

    profile = top->profile;
    type = &profile->types[top->sums.type];

    n = profile->n_seen[type->count];

    jpp_sink_printf(sink, "%s%s: %s in %" PRIu64 " stack%s", type->type,
                    profile->is_difference ? " (difference)" : "",
                    jpp_figure(profile, top->total.value),
                    top->n_stacks, top->n_stacks == 1 ? "" : "s");

    /* what was counted rests on no samples */

    if (n != 0 || top->n_stacks == 0) {
        jpp_sink_printf(sink, ", estimated from %" PRIu64 " sample%s", n,
                        n == 1 ? "" : "s");
    }

    if (profile->period > 1 && !profile->has_periods) {
        jpp_sink_printf(sink, ", one every %s",
                        jpp_figure_of(profile->period_unit, profile->period));
    }

    if (top->total.value != 0) {
        percent = jpp_error_percent(top->total.variance, top->total.value);

        jpp_sink_printf(sink, ", %s%s", jpp_error(percent),
                        profile->is_difference && percent >= JPP_ERROR_EXACT
                        ? " at least" : "");
    }

    jpp_sink_char(sink, '\n');
}


static void
jpp_functions_rows(jpp_functions_t *top, const jpp_view_t *view,
    jpp_sink_t *sink)
{
    size_t                      n = 0, shown;
    jpp_table_t                 table;
    const jpp_functions_row_t  *row;

    jpp_each(row, top->rows, top->n) {
        n += row->is_seen;
    }

    /* the first line says that there is nothing */

    if (n == 0) {
        return;
    }

    shown = jpp_smaller(n, view->args->values[JPP_ARG_N]);

    jpp_table_init(&table, top->profile->arena,
                   view->args->values[JPP_ARG_COLS]);
    jpp_table_column(&table, "flat", top->sort == JPP_SORT_CUM, 0);
    jpp_table_column(&table, "flat%", 4, 0);
    jpp_table_column(&table, "cum", top->sort == JPP_SORT_FLAT, 0);
    jpp_table_column(&table, "cum%", 3, 0);
    jpp_sums_columns(&top->sums, &table);

    if (top->aged.rows != NULL) {
        jpp_table_column(&table, "median age", 1, 0);
    }

    jpp_table_column(&table, "function", 0, JPP_TOP_FUNCTION);

    jpp_each(row, top->rows, shown) {
        jpp_figures_cells(top->profile, row->sums[JPP_SORT_FLAT].value,
                          top->total.value, &table);
        jpp_figures_cells(top->profile, row->sums[JPP_SORT_CUM].value,
                          top->total.value, &table);

        /* objects, mean and error are of the column that rows are sorted by */

        jpp_sums_cells(&top->sums, &row->sums[top->sort], &table);
        jpp_aged_cell(&top->aged, row->function - 1, &table);
        jpp_table_cell(&table, "%s",
                       jpp_profile_function_name(top->profile,
                                                 row->function).data);
    }

    jpp_table_write(&table, sink);
    jpp_figures_more(n - shown, "function", sink);

    if (top->is_passed) {
        jpp_sink_str(sink, "allocation wrappers (pools, strdup, operator new) "
                           "are skipped: callers=0 shows them\n");
    }
}


/* By flat only: a function whose callees leak is none that does. */

static void
jpp_functions_suspects(const jpp_functions_t *top, const jpp_view_t *view,
    jpp_sink_t *sink)
{
    size_t                      n;
    const jpp_functions_row_t  *row;

    if (view->args->values[JPP_ARG_AGES] == 0
        || view->args->values[JPP_ARG_AGE] != 0
        || top->sort != JPP_SORT_FLAT || !top->aged.is_known)
    {
        return;
    }

    n = 0;
    jpp_sink_char(sink, '\n');

    jpp_each(row, top->rows, top->n) {
        n += jpp_aged_suspect(&top->aged, row->function - 1, n,
                              jpp_profile_function_name(top->profile,
                                                        row->function).data,
                              sink);
    }

    jpp_aged_rest(n, sink);
}


bool
jpp_functions_write(const jpp_view_t *view, jpp_sink_t *sink)
{
    uint32_t         i;
    jpp_functions_t  top;
    jpp_owned_t      owned;

    if (!jpp_functions_init(&top, view)) {
        return false;
    }

    jpp_profile_each(i, top.profile) {
        jpp_functions_sample(&top, i);
    }

    jpp_sort(top.rows, top.n, sizeof(jpp_functions_row_t),
             jpp_functions_compare, &top);

    jpp_functions_heading(&top, sink);

    if (jpp_args_has_owners(view->args)) {

        if (!jpp_owned_init(&owned, view)) {
            return false;
        }

        jpp_owned_write(&owned, view, sink);
        jpp_sink_char(sink, '\n');
    }

    jpp_functions_rows(&top, view, sink);
    jpp_functions_suspects(&top, view, sink);
    jpp_figures_comments(top.profile, sink);

    return true;
}

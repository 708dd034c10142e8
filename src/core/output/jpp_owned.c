
/* Sums the samples of a profile by owner, each with its largest functions. */


#include "jpp_view.h"


/* An upstream is shown if there is any. */

static void
jpp_owned_shows(jpp_owned_t *owned, const jpp_view_t *view)
{
    const jpp_label_set_t   *set;

    memcpy(owned->shows, jpp_roots_by[view->args->is_set[JPP_ARG_BY]
                                      ? view->args->values[JPP_ARG_BY]
                                      : JPP_BY_LOCATION],
           sizeof(owned->shows));

    if (view->args->is_set[JPP_ARG_BY]) {
        return;
    }

    jpp_vec_each(set, view->profile->label_sets) {
        owned->shows[JPP_ROOT_UPSTREAM] |=
            jpp_profile_labelled(view->profile, set,
                                 jpp_root_keys[JPP_ROOT_UPSTREAM]) != 0;
    }
}


/* The row with the names of SET, from 1; 0: no memory. */

static uint32_t
jpp_owned_row(jpp_owned_t *owned, uint32_t set)
{
    uint32_t          root;
    jpp_str_t         name;
    jpp_owned_row_t   row;

    memset(&row, 0, sizeof(jpp_owned_row_t));

    for (root = 0; root < JPP_ROOTS; root++) {

        if (!owned->shows[root]) {
            continue;
        }

        name = jpp_roots_name(owned->profile, set, (jpp_root_t) root);
        row.names[root] = jpp_profile_string(owned->profile, name.data,
                                             name.len);
        if (row.names[root] == 0) {
            return 0;
        }
    }

    return jpp_index_intern(&owned->row_index, owned->rows, &row,
                            sizeof(jpp_owned_row_t), sizeof(row.names));
}


/* Adds VALUE to what FUNCTION has of ROW. */

static bool
jpp_owned_function(jpp_owned_t *owned, uint32_t row, uint32_t function,
    int64_t value)
{
    uint32_t               id;
    jpp_owned_function_t  *one, key = { row, function, 0 };

    id = jpp_index_intern(&owned->function_index, owned->functions, &key,
                          sizeof(jpp_owned_function_t),
                          offsetof(jpp_owned_function_t, value));
    if (id == 0) {
        return false;
    }

    one = &jpp_vec_items(owned->functions, jpp_owned_function_t)[id - 1];
    one->value = jpp_add_i64(one->value, value);

    return true;
}


/* The innermost function that does more than pass memory on. */

static uint32_t
jpp_owned_leaf(const jpp_owned_t *owned, const jpp_sample_t *sample)
{
    uint32_t  id;

    if (sample->stack_len == 0) {
        return 0;
    }

    (void) jpp_stack_next(jpp_wrappers_skip(owned->profile, owned->passing,
                                            sample->stack,
                                            sample->stack + sample->stack_len),
                          &id);

    return jpp_profile_location_at(owned->profile, id)->function;
}


static bool
jpp_owned_sample(jpp_owned_t *owned, uint32_t i, const jpp_sum_t *sum)
{
    uint32_t              set, row;
    jpp_sample_t          sample;
    const jpp_profile_t  *profile;

    profile = owned->profile;

    jpp_profile_sample(profile, i, &sample);

    set = (uint32_t) (sample.labels
                      - jpp_vec_items(profile->label_sets, jpp_label_set_t));
    row = owned->sets[set];

    if (row == 0) {
        row = jpp_owned_row(owned, set);
        owned->sets[set] = row;
    }

    if (row == 0) {
        return false;
    }

    jpp_sum_add(&jpp_vec_items(owned->rows, jpp_owned_row_t)[row - 1].sum,
                sum);
    jpp_sum_add(&owned->total, sum);

    return jpp_owned_function(owned, row, jpp_owned_leaf(owned, &sample),
                              sum->value);
}


static int
jpp_owned_compare_functions(const void *a, const void *b, void *ctx)
{
    int                          order;
    const jpp_owned_function_t  *x = a, *y = b;

    (void) ctx;

    order = jpp_sort_order(x->row, y->row);
    order = order != 0 ? order : jpp_sums_compare(x->value, y->value);

    return order != 0 ? order : jpp_sort_order(x->function, y->function);
}


static int
jpp_owned_compare_rows(const void *a, const void *b, void *ctx)
{
    int                     order;
    const jpp_owned_row_t  *x = a, *y = b;

    (void) ctx;

    order = jpp_sums_compare(x->sum.value, y->sum.value);

    return order != 0 ? order : jpp_sort_order(x->first, y->first);
}


/* The functions of a row lie together, and say which row while rows move. */

static void
jpp_owned_sort(jpp_owned_t *owned)
{
    size_t                 i, n;
    jpp_owned_row_t       *rows, *row;
    jpp_owned_function_t  *functions;

    rows = jpp_vec_items(owned->rows, jpp_owned_row_t);
    functions = jpp_vec_items(owned->functions, jpp_owned_function_t);
    n = jpp_vec_count(owned->functions, jpp_owned_function_t);

    jpp_sort(functions, n, sizeof(jpp_owned_function_t),
             jpp_owned_compare_functions, NULL);

    for (i = n; i-- > 0; /* void */ ) {
        row = &rows[functions[i].row - 1];
        row->first = i;
        row->n++;
    }

    jpp_sort(rows, jpp_vec_count(owned->rows, jpp_owned_row_t),
             sizeof(jpp_owned_row_t), jpp_owned_compare_rows, NULL);
}


bool
jpp_owned_init(jpp_owned_t *owned, const jpp_view_t *view)
{
    size_t        n_sets;
    uint32_t      i;
    jpp_sum_t     sum;
    jpp_arena_t  *arena;

    memset(owned, 0, sizeof(jpp_owned_t));

    arena = view->profile->arena;
    n_sets = jpp_vec_count(view->profile->label_sets, jpp_label_set_t);

    owned->profile = view->profile;
    owned->rows = jpp_vec_create(arena);
    owned->functions = jpp_vec_create(arena);

    jpp_sums_init(&owned->sums, view->profile);
    jpp_owned_shows(owned, view);

    owned->sets = jpp_arena_alloc(arena, n_sets * sizeof(uint32_t));
    owned->passing = jpp_wrappers_table(view->profile,
                                        view->args->values[JPP_ARG_CALLERS]
                                        == 0);

    jpp_index_init(&owned->row_index, arena);
    jpp_index_init(&owned->function_index, arena);

    if (owned->rows == NULL || owned->functions == NULL
        || owned->sets == NULL || owned->passing == NULL)
    {
        return false;
    }

    jpp_profile_each(i, view->profile) {
        if (jpp_sums_sample(&owned->sums, i, &sum)
            && !jpp_owned_sample(owned, i, &sum))
        {
            return false;
        }
    }

    jpp_owned_sort(owned);

    return true;
}


static void
jpp_owned_cells(const jpp_owned_t *owned, const jpp_owned_row_t *row,
    jpp_table_t *table)
{
    uint32_t                     root;
    const jpp_owned_function_t  *most;

    jpp_figures_cells(owned->profile, row->sum.value, owned->total.value,
                      table);
    jpp_sums_cells(&owned->sums, &row->sum, table);

    for (root = 0; root < JPP_ROOTS; root++) {
        if (owned->shows[root]) {
            jpp_table_cell(table, "%s",
                           jpp_profile_str(owned->profile,
                                           row->names[root]).data);
        }
    }

    most = &jpp_vec_items(owned->functions, jpp_owned_function_t)[row->first];

    if (most->function == 0) {
        jpp_table_cell(table, "-");

    } else {
        jpp_table_cell(table, "%s: %s", jpp_figure(owned->profile, most->value),
                       jpp_profile_function_name(owned->profile,
                                                 most->function).data);
    }
}


void
jpp_owned_write(const jpp_owned_t *owned, const jpp_view_t *view,
    jpp_sink_t *sink)
{
    size_t                  n, shown;
    uint32_t                root;
    jpp_table_t             table;
    const jpp_owned_row_t  *row;

    n = jpp_vec_count(owned->rows, jpp_owned_row_t);
    shown = jpp_smaller(n, view->args->values[JPP_ARG_N]);

    jpp_table_init(&table, owned->profile->arena,
                   view->args->values[JPP_ARG_COLS]);

    jpp_table_column(&table, owned->profile->types[owned->sums.type].type, 0,
                     0);
    jpp_table_column(&table, "%", 1, 0);
    jpp_sums_columns(&owned->sums, &table);

    for (root = 0; root < JPP_ROOTS; root++) {
        if (owned->shows[root]) {
            jpp_table_column(&table, jpp_root_keys[root], 0, JPP_TABLE_NAME);
        }
    }

    jpp_table_column(&table, "mostly", 1, 2 * JPP_TABLE_NAME);

    jpp_each(row, jpp_vec_items(owned->rows, jpp_owned_row_t), shown) {
        jpp_owned_cells(owned, row, &table);
    }

    jpp_table_write(&table, sink);
    jpp_figures_more(n - shown, "owner", sink);
}

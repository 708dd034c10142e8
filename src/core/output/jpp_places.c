
/*
 * Writes a profile of places as a table for a terminal: a place's values of all
 * types, its largest class, and its path from the root; sorted by the selected
 * type.
 *
 * A place is a stack without what it is held for; jpp_parsers.h says which
 * frames begin that.
 */


#include "jpp_view.h"


#define JPP_PLACES_TWO  UINT32_MAX


/* a place, or what a place holds of one class, by its frames, leaf first */
typedef struct {
    const uint8_t         *stack;
    size_t                 len;
    int64_t                values[JPP_MAX_TYPES];
    uint32_t               place;      /* id; of a place: what it holds most */
    uint32_t               label;      /* string id: where it is configured; */
                                       /*   0: unknown */
} jpp_places_row_t;


typedef struct {
    jpp_vec_t             *rows;       /* jpp_places_row_t */
    jpp_index_t            index;
} jpp_places_rows_t;


typedef struct {
    const jpp_profile_t   *profile;
    uint32_t               type;
    uint8_t               *is_part;    /* by location */
    jpp_places_rows_t      places;
    jpp_places_rows_t      held;
    int64_t                total;
} jpp_places_t;


#define jpp_places_row_at(set, id)                                            \
    (&jpp_vec_items((set)->rows, jpp_places_row_t)[(id) - 1])


static bool
jpp_places_init(jpp_places_t *places, const jpp_view_t *view)
{
    size_t        n;
    uint32_t      id, i;
    jpp_str_t     name;
    jpp_arena_t  *arena;

    memset(places, 0, sizeof(jpp_places_t));

    places->profile = view->profile;
    places->type = view->profile->default_type;

    arena = view->profile->arena;
    n = jpp_vec_count(view->profile->locations, jpp_location_t);

    places->is_part = jpp_arena_alloc(arena, n + 1);
    places->places.rows = jpp_vec_create(arena);
    places->held.rows = jpp_vec_create(arena);

    jpp_index_init(&places->places.index, arena);
    jpp_index_init(&places->held.index, arena);

    if (places->is_part == NULL || places->places.rows == NULL
        || places->held.rows == NULL)
    {
        return false;
    }

    for (id = 1; id <= n; id++) {
        name = jpp_profile_location_name(places->profile, id);

        for (i = 0; view->parts[i] != NULL; i++) {
            places->is_part[id] |= strcmp(name.data, view->parts[i]) == 0;
        }
    }

    return true;
}


/* Where the place of SAMPLE begins: behind what it is held for. */

static const uint8_t *
jpp_places_place(const jpp_places_t *places, const jpp_sample_t *sample)
{
    uint32_t        id;
    const uint8_t  *p, *end, *place;

    place = sample->stack;
    end = sample->stack + sample->stack_len;

    for (p = sample->stack; p < end; /* void */ ) {
        p = jpp_stack_next(p, &id);

        if (places->is_part[id] && p < end) {
            place = p;
        }
    }

    return place;
}


/* The id of the row with these frames, 0: no memory. */

static uint32_t
jpp_places_row(jpp_places_rows_t *rows, const uint8_t *stack, size_t len)
{
    uint32_t           id, hash, pos;
    jpp_places_row_t  *row;

    hash = jpp_hash_bytes(stack, len);
    pos = hash;

    while ((id = jpp_index_next(&rows->index, hash, &pos)) != 0) {

        row = jpp_places_row_at(rows, id);

        if (row->len == len && memcmp(row->stack, stack, len) == 0) {
            return id;
        }
    }

    row = jpp_vec_push(rows->rows, sizeof(jpp_places_row_t));
    id = (uint32_t) jpp_vec_count(rows->rows, jpp_places_row_t);

    if (row == NULL || !jpp_index_add(&rows->index, hash, id)) {
        return 0;
    }

    row->stack = stack;
    row->len = len;

    return id;
}


static void
jpp_places_add(jpp_places_row_t *row, const jpp_sample_t *sample,
    uint32_t n_types)
{
    uint32_t  t;

    for (t = 0; t < n_types; t++) {
        row->values[t] = jpp_add_i64(row->values[t], sample->values[t]);
    }
}


static bool
jpp_places_read(jpp_places_t *places)
{
    uint32_t               i, place, held, label;
    jpp_sample_t           sample;
    const uint8_t         *stack;
    jpp_places_row_t      *row;
    const jpp_profile_t   *profile;

    profile = places->profile;

    jpp_profile_each(i, profile) {

        jpp_profile_sample(profile, i, &sample);

        if (sample.values[places->type] == 0) {
            continue;
        }

        stack = jpp_places_place(places, &sample);

        place = jpp_places_row(&places->places, stack,
                               (size_t) (sample.stack + sample.stack_len
                                         - stack));
        held = jpp_places_row(&places->held, sample.stack, sample.stack_len);

        if (place == 0 || held == 0) {
            return false;
        }

        row = jpp_places_row_at(&places->places, place);
        jpp_places_add(row, &sample, profile->n_types);

        /* two generations may have two */

        label = jpp_profile_labelled(profile, sample.labels,
                                     JPP_POOLS_PLACE_KEY);
        row->label = row->label == 0 || row->label == label ? label
                                                            : JPP_PLACES_TWO;

        row = jpp_places_row_at(&places->held, held);
        row->place = place;
        jpp_places_add(row, &sample, profile->n_types);

        places->total = jpp_add_i64(places->total, sample.values[places->type]);
    }

    return true;
}


/* Finds what each place holds most of. */

static void
jpp_places_most(jpp_places_t *places)
{
    size_t             n;
    uint32_t           id, t;
    jpp_places_row_t  *held, *place, *most;

    t = places->type;
    n = jpp_vec_count(places->held.rows, jpp_places_row_t);

    for (id = 1; id <= n; id++) {
        held = jpp_places_row_at(&places->held, id);
        place = jpp_places_row_at(&places->places, held->place);
        most = place->place != 0
               ? jpp_places_row_at(&places->held, place->place) : NULL;

        if (most == NULL
            || jpp_sums_compare(held->values[t], most->values[t]) < 0)
        {
            place->place = id;
        }
    }
}


/* What shrank by much in a difference is as interesting as what grew. */

static int
jpp_places_compare(const void *a, const void *b, void *ctx)
{
    int                      order;
    const jpp_places_t      *places;
    const jpp_places_row_t  *x = a, *y = b;

    places = ctx;

    order = jpp_sums_compare(x->values[places->type], y->values[places->type]);

    /* of equal ones the one that was found first */

    return order != 0 ? order : jpp_sort_order((uintptr_t) x->stack,
                                               (uintptr_t) y->stack);
}


static void
jpp_places_cells(const jpp_places_t *places, const jpp_places_row_t *row,
    jpp_table_t *table)
{
    uint32_t                 t, id, n, ids[JPP_MAX_FRAMES];
    const char              *where, *mostly;
    const jpp_profile_t     *profile;
    const jpp_places_row_t  *most;

    profile = places->profile;
    most = jpp_places_row_at(&places->held, row->place);

    jpp_figures_cells(profile, row->values[places->type], places->total, table);

    for (t = 0; t < profile->n_types; t++) {
        if (t != places->type) {
            jpp_table_cell(table, "%s", jpp_figure_of(profile->types[t].unit,
                                                      row->values[t]));
        }
    }

    /* a place that is the whole stack holds nothing but itself */

    mostly = "-";

    if (most->len != row->len) {
        (void) jpp_stack_next(most->stack, &id);
        mostly = jpp_profile_location_name(profile, id).data;
    }

    jpp_table_cell(table, "%s", mostly);

    /* root first */

    where = "";

    for (n = jpp_stack_ids(row->stack, row->len, ids);
         n-- > 0 && where != NULL;
         /* void */ )
    {
        where = jpp_arena_printf(profile->arena, "%s%s%s", where,
                                 jpp_profile_location_name(profile,
                                                           ids[n]).data,
                                 n != 0 ? "; " : "");
    }

    table->failed |= where == NULL;

    if (row->label != 0 && row->label != JPP_PLACES_TWO) {
        jpp_table_cell(table, "%s (%s)", where,
                       jpp_profile_str(profile, row->label).data);

    } else {
        jpp_table_cell(table, "%s", where);
    }
}


static void
jpp_places_table(const jpp_places_t *places, size_t n, const jpp_view_t *view,
    jpp_sink_t *sink)
{
    size_t                  i;
    uint32_t                t;
    jpp_table_t             table;
    const jpp_profile_t    *profile;

    profile = places->profile;

    jpp_table_init(&table, profile->arena, view->args->values[JPP_ARG_COLS]);
    jpp_table_column(&table, profile->types[places->type].type, 0, 0);
    jpp_table_column(&table, "%", 1, 0);

    for (t = 0; t < profile->n_types; t++) {
        if (t != places->type) {
            jpp_table_column(&table, profile->types[t].type, 3 + t, 0);
        }
    }

    jpp_table_column(&table, "mostly", 2, JPP_TABLE_NAME);
    jpp_table_column(&table, "where", 0, 3 * JPP_TABLE_NAME);

    for (i = 0; i < n; i++) {
        jpp_places_cells(places, jpp_places_row_at(&places->places, i + 1),
                         &table);
    }

    jpp_table_write(&table, sink);
}


bool
jpp_places_write(const jpp_view_t *view, jpp_sink_t *sink)
{
    size_t         n, shown;
    jpp_places_t   places;

    if (!jpp_places_init(&places, view) || !jpp_places_read(&places)) {
        return false;
    }

    jpp_places_most(&places);

    n = jpp_vec_count(places.places.rows, jpp_places_row_t);
    shown = jpp_smaller(n, view->args->values[JPP_ARG_N]);

    jpp_sort(jpp_vec_items(places.places.rows, jpp_places_row_t), n,
             sizeof(jpp_places_row_t), jpp_places_compare, &places);

    jpp_sink_printf(sink, "%s%s: %s in %zu place%s\n",
                    places.profile->types[places.type].type,
                    places.profile->is_difference ? " (difference)" : "",
                    jpp_figure(places.profile, places.total),
                    n, n == 1 ? "" : "s");

    jpp_places_table(&places, shown, view, sink);
    jpp_figures_more(n - shown, "place", sink);
    jpp_figures_comments(places.profile, sink);

    return true;
}

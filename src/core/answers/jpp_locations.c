
/*
 * Three measures of each location, side by side: the memory in its pools, its
 * sampled memory by function, and its CPU time.
 */


#include "jpp_answers.h"

#include <math.h>


#define JPP_LOCATIONS_CLASS  320


/* the comments of a profile that matter here: what they begin with */

static const char *const  jpp_locations_said[] = {
    "workers ", "worker ", "source: ", "samples complete since ",
    "samples with an owner", "no sample has an owner", NULL
};


/* as samples have it, so that both meet */

static const jpp_str_t  jpp_locations_none = { "(no location)", 13 };
static const jpp_str_t  jpp_locations_session = { "(session)", 9 };
static const jpp_str_t  jpp_locations_no_server = { "(no server)", 11 };


jpp_code_t
jpp_locations_check(const jpp_args_t *args, jpp_err_t *err)
{
    if (args->is_set[JPP_ARG_BY]
        && !jpp_roots_allow((jpp_by_t) args->values[JPP_ARG_BY]))
    {
        return jpp_err_set(err, JPP_ERR_ARG, "the resource locations accepts "
                           "by=location, by=server or by=upstream; use "
                           "by=request and by=connection with the resource "
                           "requests");
    }

    return JPP_OK;
}


void
jpp_locations_init(jpp_locations_t *locations, jpp_arena_t *arena,
    const jpp_args_t *args)
{
    uint32_t  i;

    memset(locations, 0, sizeof(jpp_locations_t));

    locations->arena = arena;
    locations->args = args;
    locations->shows = jpp_roots_by[args->values[JPP_ARG_BY]];
    locations->rows = jpp_vec_create(arena);
    locations->parts = jpp_vec_create(arena);

    locations->failed = !jpp_profile_init(&locations->strings, arena, NULL, 0)
                        || locations->rows == NULL || locations->parts == NULL;

    jpp_index_init(&locations->row_index, arena);
    jpp_index_init(&locations->part_index, arena);

    for (i = 0; i < JPP_LOCATIONS_MEASURES; i++) {
        locations->about[i].why = "";
        locations->about[i].fix = "";
        locations->about[i].notes = jpp_vec_create(arena);
        locations->failed |= locations->about[i].notes == NULL;
    }
}


void
jpp_locations_absent(jpp_locations_t *locations,
    jpp_locations_measure_t measure, const char *why, const char *fix)
{
    jpp_locations_about_t  *about;

    about = &locations->about[measure];

    about->why = jpp_arena_strndup(locations->arena, why, strlen(why));
    about->fix = jpp_arena_strndup(locations->arena, fix, strlen(fix));

    locations->failed |= about->why == NULL || about->fix == NULL;
}


void
jpp_locations_note(jpp_locations_t *locations,
    jpp_locations_measure_t measure, const char *fmt, ...)
{
    va_list       args;
    const char  **note;

    note = !locations->failed
           ? jpp_vec_push(locations->about[measure].notes, sizeof(char *))
           : NULL;

    if (note == NULL) {
        locations->failed = true;
        return;
    }

    va_start(args, fmt);
    *note = jpp_arena_vprintf(locations->arena, fmt, args);
    va_end(args);

    locations->failed |= *note == NULL;
}


/* The row with NAMES, from 1; 0: no memory. */

static uint32_t
jpp_locations_row(jpp_locations_t *locations, const jpp_str_t names[JPP_ROOTS])
{
    uint32_t              i, id;
    jpp_locations_row_t   row;

    memset(&row, 0, sizeof(jpp_locations_row_t));

    for (i = 0; i < JPP_ROOTS; i++) {
        if (locations->shows[i]) {
            row.names[i] = jpp_profile_string(&locations->strings,
                                              names[i].data, names[i].len);
            locations->failed |= row.names[i] == 0;
        }
    }

    id = locations->failed ? 0
         : jpp_index_intern(&locations->row_index, locations->rows, &row,
                            sizeof(jpp_locations_row_t), sizeof(row.names));

    locations->failed |= id == 0;

    return id;
}


static jpp_locations_row_t *
jpp_locations_row_at(const jpp_locations_t *locations, uint32_t row)
{
    return &jpp_vec_items(locations->rows, jpp_locations_row_t)[row - 1];
}


static void
jpp_locations_add(jpp_locations_t *locations, uint32_t row,
    jpp_locations_measure_t measure, int64_t value, double variance)
{
    jpp_locations_cell_t   *cell;
    jpp_locations_about_t  *about;

    cell = &jpp_locations_row_at(locations, row)->cells[measure];
    about = &locations->about[measure];

    cell->value = jpp_add_i64(cell->value, value);
    cell->variance += variance;
    about->value = jpp_add_i64(about->value, value);
    about->variance += variance;
}


/* What MEASURE has of ROW as NAME grows by VALUE. */

static void
jpp_locations_part(jpp_locations_t *locations, uint32_t row,
    jpp_locations_measure_t measure, jpp_str_t name, int64_t value)
{
    uint32_t               id;
    jpp_locations_part_t  *one, part = { row, measure, 0, 0 };

    part.name = jpp_profile_string(&locations->strings, name.data, name.len);

    id = part.name == 0 ? 0
         : jpp_index_intern(&locations->part_index, locations->parts, &part,
                            sizeof(jpp_locations_part_t),
                            3 * sizeof(uint32_t));
    if (id == 0) {
        locations->failed = true;
        return;
    }

    one = &jpp_vec_items(locations->parts, jpp_locations_part_t)[id - 1];
    one->value = jpp_add_i64(one->value, value);
}


void
jpp_locations_take(jpp_locations_t *locations,
    jpp_locations_measure_t measure, const jpp_view_t *view)
{
    size_t                       i, k;
    uint32_t                     row;
    jpp_str_t                    names[JPP_ROOTS], name;
    const char                  *comment;
    jpp_owned_t                  owned;
    const jpp_profile_t         *profile;
    const jpp_owned_row_t       *from;
    const jpp_owned_function_t  *functions;

    if (locations->failed || !jpp_owned_init(&owned, view)) {
        locations->failed = true;
        return;
    }

    locations->about[measure].is_there = true;

    profile = view->profile;

    jpp_vec_each(from, owned.rows) {

        for (k = 0; k < JPP_ROOTS; k++) {
            names[k] = jpp_profile_str(profile, from->names[k]);
        }

        row = jpp_locations_row(locations, names);
        if (row == 0) {
            return;
        }

        jpp_locations_add(locations, row, measure, from->sum.value,
                          from->sum.variance);

        functions = &jpp_vec_items(owned.functions,
                                   jpp_owned_function_t)[from->first];

        for (k = 0; k < from->n && k < JPP_LOCATIONS_MOST; k++) {

            if (functions[k].function == 0) {
                continue;
            }

            name = jpp_profile_function_name(profile, functions[k].function);
            jpp_locations_part(locations, row, measure, name,
                               functions[k].value);
        }
    }

    for (i = 0; (comment = jpp_profile_comment_at(profile, i)) != NULL; i++) {

        for (k = 0; jpp_locations_said[k] != NULL; k++) {

            if (strncmp(comment, jpp_locations_said[k],
                        strlen(jpp_locations_said[k]))
                == 0)
            {
                jpp_locations_note(locations, measure, "%s", comment);
            }
        }
    }
}


static jpp_str_t
jpp_locations_text(char text[JPP_OWNER_NAME], jpp_str_t name)
{
    name.len = jpp_owner_text(text, name.data, name.len);
    name.data = text;

    return name;
}


/* The row of OWNER, from 1; 0: it belongs to no server, or no memory. */

static uint32_t
jpp_locations_of(jpp_locations_t *locations, const jpp_pools_t *table,
    const jpp_pools_owner_t *owner)
{
    char              texts[JPP_ROOTS][JPP_OWNER_NAME];
    uint32_t          i, row;
    jpp_str_t         names[JPP_ROOTS];
    jpp_pools_sort_t  third;

    if (owner->kind >= JPP_POOLS_CONFIGURATION) {
        return 0;
    }

    third = jpp_pools_thirds[owner->kind];

    names[JPP_ROOT_SERVER] = jpp_pools_str(table, third == JPP_POOLS_ADDRESS
                                                  ? owner->third
                                                  : owner->server);
    names[JPP_ROOT_LOCATION] = jpp_pools_str(table, owner->location);
    names[JPP_ROOT_UPSTREAM] = jpp_pools_str(table,
                                             third == JPP_POOLS_UPSTREAM_NAME
                                             ? owner->third : 0);

    if (names[JPP_ROOT_LOCATION].len == 0) {
        names[JPP_ROOT_LOCATION] = third == JPP_POOLS_ADDRESS
                                   ? jpp_locations_session
                                   : jpp_locations_none;
    }

    if (names[JPP_ROOT_SERVER].len == 0) {
        names[JPP_ROOT_SERVER] = jpp_locations_no_server;
    }

    for (i = 0; i < JPP_ROOTS; i++) {
        names[i] = names[i].len != 0
                   ? jpp_locations_text(texts[i], names[i])
                   : jpp_roots_none[i];
    }

    row = jpp_locations_row(locations, names);

    /* the upstream of a request, where rows are upstreams, is its own kind */

    if (row != 0
        && (uint8_t) (locations->shows[JPP_ROOT_UPSTREAM]
                      ? JPP_POOLS_UPSTREAM : JPP_POOLS_REQUEST)
           == owner->kind)
    {
        jpp_locations_row_at(locations, row)->n_requests += owner->n_units;
    }

    return row;
}


static void
jpp_locations_held(jpp_locations_t *locations, const jpp_pools_t *table,
    const jpp_pools_row_t *held, uint32_t row)
{
    char                    text[JPP_LOCATIONS_CLASS], module[JPP_OWNER_NAME];
    int64_t                 bytes;
    jpp_str_t               name;
    const char             *class;
    jpp_locations_about_t  *about;

    bytes = (int64_t) held->bytes;

    if (row == 0) {
        about = &locations->about[JPP_LOCATIONS_HELD];
        about->nobody = jpp_add_i64(about->nobody, bytes);
        return;
    }

    jpp_locations_add(locations, row, JPP_LOCATIONS_HELD, bytes, 0);

    /* "upstream buffers"; of a module, its name behind that */

    class = jpp_pools_classes[held->class];
    name = jpp_locations_text(module, jpp_pools_str(table, held->module));

    name.len = (size_t) snprintf(text, JPP_LOCATIONS_CLASS, "%s%s",
                                 class != NULL ? class : "-", name.data);
    name.data = text;

    jpp_locations_part(locations, row, JPP_LOCATIONS_HELD, name, bytes);
}


void
jpp_locations_pools(jpp_locations_t *locations, const jpp_identity_t *who,
    const char *data, size_t len, const char *why)
{
    size_t                    i, n;
    uint32_t                 *owners;
    jpp_err_t                 err;
    jpp_code_t                rc;
    jpp_pools_t               table;
    const jpp_pools_row_t    *held;

    rc = JPP_ERR_INPUT;

    if (data != NULL) {
        rc = jpp_pools_load(&table, locations->arena, data, len, &err);
        why = err.text;
    }

    if (rc != JPP_OK) {
        locations->failed |= rc == JPP_ERR_MEMORY;
        jpp_locations_note(locations, JPP_LOCATIONS_HELD, "worker %" PRIu32
                           " pid %" PRId64 " is missing: %s", who->index,
                           who->pid, why);
        return;
    }

    locations->about[JPP_LOCATIONS_HELD].is_there = true;

    n = jpp_vec_count(table.owners, jpp_pools_owner_t);
    owners = jpp_arena_alloc(locations->arena, (n + 1) * sizeof(uint32_t));

    if (owners == NULL) {
        locations->failed = true;
        return;
    }

    for (i = 1; i <= n; i++) {
        owners[i] = jpp_locations_of(locations, &table,
                                     jpp_pools_owner_at(&table, (uint32_t) i));
    }

    jpp_vec_each(held, table.rows) {
        if (!held->is_inherited) {
            jpp_locations_held(locations, &table, held, owners[held->owner]);
        }
    }

    if (table.facts.is_partial) {
        jpp_locations_note(locations, JPP_LOCATIONS_HELD, "worker %" PRIu32
                           " pid %" PRId64 " is partial, " JPP_POOLS_CUT_TEXT,
                           who->index, who->pid, table.facts.n_missed);
    }
}


static const char *
jpp_locations_str(const jpp_locations_t *locations, uint32_t id)
{
    return jpp_profile_str(&locations->strings, id).data;
}


static int
jpp_locations_compare_parts(const void *a, const void *b, void *ctx)
{
    int                          order;
    const jpp_locations_t       *locations = ctx;
    const jpp_locations_part_t  *x = a, *y = b;

    order = jpp_sort_order(x->row, y->row);
    order = order != 0 ? order : jpp_sort_order(x->measure, y->measure);
    order = order != 0 ? order : jpp_sort_order_i64(y->value, x->value);

    return order != 0 ? order : strcmp(jpp_locations_str(locations, x->name),
                                       jpp_locations_str(locations, y->name));
}


/* What nobody knows the owner of names no culprit. */

static bool
jpp_locations_is_unknown(const jpp_locations_t *locations,
    const jpp_locations_row_t *row)
{
    return strcmp(jpp_locations_str(locations, row->names[JPP_ROOT_SERVER]),
                  jpp_roots_none[JPP_ROOT_SERVER].data)
           == 0;
}


static int
jpp_locations_compare_rows(const void *a, const void *b, void *ctx)
{
    int                         order;
    uint32_t                    i;
    const jpp_locations_t      *locations = ctx;
    const jpp_locations_row_t  *x = a, *y = b;

    order = jpp_sort_order(jpp_locations_is_unknown(locations, x),
                           jpp_locations_is_unknown(locations, y));

    if (order == 0) {
        order = (x->share < y->share) - (x->share > y->share);
    }

    for (i = 0; i < JPP_ROOTS && order == 0; i++) {
        order = strcmp(jpp_locations_str(locations, x->names[i]),
                       jpp_locations_str(locations, y->names[i]));
    }

    return order;
}


/* Parts say which row they are of while rows move. */

bool
jpp_locations_close(jpp_locations_t *locations)
{
    size_t                 i, n;
    double                 all;
    uint32_t               k;
    jpp_locations_row_t   *rows;
    jpp_locations_cell_t  *cell;
    jpp_locations_part_t  *parts;

    if (locations->failed) {
        return false;
    }

    rows = jpp_vec_items(locations->rows, jpp_locations_row_t);
    parts = jpp_vec_items(locations->parts, jpp_locations_part_t);
    n = jpp_vec_count(locations->parts, jpp_locations_part_t);

    jpp_sort(parts, n, sizeof(jpp_locations_part_t),
             jpp_locations_compare_parts, locations);

    for (i = n; i-- > 0; /* void */ ) {
        cell = &rows[parts[i].row - 1].cells[parts[i].measure];
        cell->first = i;
        cell->n++;
    }

    n = jpp_vec_count(locations->rows, jpp_locations_row_t);

    for (i = 0; i < n; i++) {
        /*
         * What stands out by any measure comes first: of all that pools hold,
         * so that where requests hold next to nothing the one that asks does
         * not; and of samples as much as is sure, so that one sample does not.
         */

        for (k = 0; k < JPP_LOCATIONS_MEASURES; k++) {
            all = (double) locations->about[k].value
                  + (double) locations->about[k].nobody;

            /* of nothing it is no number, which is less than any */

            rows[i].share = fmax(rows[i].share,
                                 ((double) rows[i].cells[k].value
                                  - sqrt(rows[i].cells[k].variance)) / all);
        }
    }

    jpp_sort(rows, n, sizeof(jpp_locations_row_t),
             jpp_locations_compare_rows, locations);

    return true;
}

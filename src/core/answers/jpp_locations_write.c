
/*
 * Writes a list of locations as a table or as JSON, one row each.
 */


#include "jpp_answers.h"


/* what a measure is called, in what, and how its values are shown */
typedef struct {
    const char   *key;             /* of JSON */
    const char   *unit;
    const char   *name;            /* of notes, and the heading */
    const char   *mostly;          /* the heading of its largest part */
    bool          is_estimate;
} jpp_locations_column_t;


static const jpp_locations_column_t
    jpp_locations_columns[JPP_LOCATIONS_MEASURES] =
{
    [JPP_LOCATIONS_HELD] =
        { "held", "bytes", "held", "held mostly", false },
    [JPP_LOCATIONS_SAMPLED] =
        { "sampled", "bytes", "sampled", "sampled mostly", true },
    [JPP_LOCATIONS_CPU] =
        { "cpu", "nanoseconds", "CPU", "CPU mostly", true }
};


/* what to ask next; of all that begin with the address of the tree */

static const char  jpp_locations_more[] =
    "\nsingle requests:  requests?top=5\n"
    "every pool:       pools?format=top\n"
    "by function:      heap?by=location&format=html\n"
    "CPU by function:  profile?seconds=10&by=location&format=html\n";


/*
 * A list of locations as JSON.
 */


static void
jpp_locations_json_error(double variance, int64_t value, jpp_json_t *json)
{
    jpp_json_i64(json, "error_percent",
                 (int64_t) (jpp_error_percent(variance, value) + 0.5));
}


static void
jpp_locations_json_about(const jpp_locations_t *locations, uint32_t measure,
    jpp_json_t *json)
{
    const char                  **note;
    const jpp_locations_about_t  *about;

    about = &locations->about[measure];

    jpp_json_open(json, jpp_locations_columns[measure].key, '{');

    if (about->is_there) {
        jpp_json_i64(json, jpp_locations_columns[measure].unit, about->value);
        jpp_locations_json_error(about->variance, about->value, json);

    } else {
        jpp_json_null(json, jpp_locations_columns[measure].unit);
        jpp_json_null(json, "error_percent");
    }

    if (measure == JPP_LOCATIONS_HELD) {
        jpp_json_i64(json, "of_no_server", about->nobody);
    }

    jpp_json_str(json, "why", about->why[0] != '\0' ? about->why : NULL);
    jpp_json_str(json, "fix", about->fix[0] != '\0' ? about->fix : NULL);

    jpp_json_open(json, "notes", '[');

    jpp_vec_each(note, about->notes) {
        jpp_json_str(json, NULL, *note);
    }

    jpp_json_close(json, ']');
    jpp_json_close(json, '}');
}


static void
jpp_locations_json_cell(const jpp_locations_t *locations,
    const jpp_locations_cell_t *cell, uint32_t measure, jpp_json_t *json)
{
    jpp_str_t                    name;
    const jpp_locations_part_t  *part, *parts;

    parts = &jpp_vec_items(locations->parts,
                           jpp_locations_part_t)[cell->first];

    jpp_json_open(json, jpp_locations_columns[measure].key, '{');
    jpp_json_i64(json, jpp_locations_columns[measure].unit, cell->value);
    jpp_locations_json_error(cell->variance, cell->value, json);

    jpp_json_open(json, "mostly", '[');

    jpp_each(part, parts, jpp_smaller(cell->n, JPP_LOCATIONS_MOST)) {
        name = jpp_profile_str(&locations->strings, part->name);

        jpp_json_open(json, NULL, '{');
        jpp_json_utf8(json, "name", name.data, name.len);
        jpp_json_i64(json, jpp_locations_columns[measure].unit, part->value);
        jpp_json_close(json, '}');
    }

    jpp_json_close(json, ']');
    jpp_json_close(json, '}');
}


static void
jpp_locations_json_row(const jpp_locations_t *locations,
    const jpp_locations_row_t *row, jpp_json_t *json)
{
    uint32_t   i;
    jpp_str_t  name;

    jpp_json_open(json, NULL, '{');

    for (i = 0; i < JPP_ROOTS; i++) {
        if (locations->shows[i]) {
            name = jpp_profile_str(&locations->strings, row->names[i]);
            jpp_json_utf8(json, jpp_root_keys[i], name.data, name.len);

        } else {
            jpp_json_null(json, jpp_root_keys[i]);
        }
    }

    jpp_json_u64(json, "requests", row->n_requests);

    for (i = 0; i < JPP_LOCATIONS_MEASURES; i++) {

        if (!locations->about[i].is_there) {
            jpp_json_null(json, jpp_locations_columns[i].key);
            continue;
        }

        jpp_locations_json_cell(locations, &row->cells[i], i, json);
    }

    jpp_json_close(json, '}');
}


static void
jpp_locations_as_json(const jpp_locations_t *locations, size_t shown,
    jpp_sink_t *sink)
{
    uint32_t                    k;
    jpp_json_t                  json;
    const jpp_locations_row_t  *row;

    jpp_json_init(&json, sink);
    jpp_json_open(&json, NULL, '{');

    jpp_json_str(&json, "module", JPP_VERSION);
    jpp_json_u64(&json, "count",
                 jpp_vec_count(locations->rows, jpp_locations_row_t));

    for (k = 0; k < JPP_LOCATIONS_MEASURES; k++) {
        jpp_locations_json_about(locations, k, &json);
    }

    jpp_json_open(&json, "rows", '[');

    jpp_each(row, jpp_vec_items(locations->rows, jpp_locations_row_t), shown) {
        jpp_locations_json_row(locations, row, &json);
    }

    jpp_json_close(&json, ']');
    jpp_json_close(&json, '}');
}


/*
 * A list of locations as a table for a terminal.
 */


static void
jpp_locations_heading(const jpp_locations_t *locations, size_t n,
    jpp_sink_t *sink)
{
    uint32_t                        i;
    const jpp_locations_about_t    *about;
    const jpp_locations_column_t   *column;

    jpp_sink_printf(sink, "%zu row%s", n, n == 1 ? "" : "s");

    for (i = 0; i < JPP_LOCATIONS_MEASURES; i++) {
        about = &locations->about[i];
        column = &jpp_locations_columns[i];

        if (about->is_there) {
            jpp_sink_printf(sink, "%s %s %s", i == 0 ? ":" : ",",
                            column->name,
                            jpp_figure_of(column->unit, about->value));
        }

        if (about->is_there && column->is_estimate && about->value != 0) {
            jpp_sink_printf(sink, " (%s)",
                            jpp_error(jpp_error_percent(about->variance,
                                                        about->value)));
        }
    }

    jpp_sink_char(sink, '\n');
}


static void
jpp_locations_cells(const jpp_locations_t *locations,
    const jpp_locations_row_t *row, jpp_table_t *table)
{
    uint32_t                        i;
    const jpp_locations_cell_t     *cell;
    const jpp_locations_part_t     *most;
    const jpp_locations_column_t   *column;

    jpp_table_cell(table, "%" PRIu64, row->n_requests);

    for (i = 0; i < JPP_LOCATIONS_MEASURES; i++) {
        cell = &row->cells[i];
        column = &jpp_locations_columns[i];

        if (!locations->about[i].is_there) {
            continue;
        }

        jpp_table_cell(table, "%s", cell->value != 0
                                    ? jpp_figure_of(column->unit, cell->value)
                                    : "-");

        if (column->is_estimate) {
            jpp_error_cell(cell->variance, cell->value, table);
        }
    }

    for (i = 0; i < JPP_ROOTS; i++) {
        if (locations->shows[i]) {
            jpp_table_cell(table, "%s",
                           jpp_profile_str(&locations->strings,
                                           row->names[i]).data);
        }
    }

    for (i = 0; i < JPP_LOCATIONS_MEASURES; i++) {
        if (!locations->about[i].is_there) {
            continue;
        }

        if (row->cells[i].n == 0) {
            jpp_table_cell(table, "-");
            continue;
        }

        most = &jpp_vec_items(locations->parts,
                              jpp_locations_part_t)[row->cells[i].first];

        jpp_table_cell(table, "%s: %s",
                       jpp_figure_of(jpp_locations_columns[i].unit,
                                     most->value),
                       jpp_profile_str(&locations->strings, most->name).data);
    }
}


static void
jpp_locations_table(const jpp_locations_t *locations, size_t shown,
    jpp_sink_t *sink)
{
    uint32_t                        k;
    jpp_table_t                     table;
    const jpp_locations_row_t      *row;
    const jpp_locations_column_t   *column;

    jpp_table_init(&table, locations->arena,
                   locations->args->values[JPP_ARG_COLS]);

    jpp_table_column(&table, "requests", 6, 0);

    for (k = 0; k < JPP_LOCATIONS_MEASURES; k++) {
        column = &jpp_locations_columns[k];

        if (!locations->about[k].is_there) {
            continue;
        }

        jpp_table_column(&table, column->name, k, 0);

        if (column->is_estimate) {
            jpp_table_column(&table, "error", 5, 0);
        }
    }

    for (k = 0; k < JPP_ROOTS; k++) {
        if (locations->shows[k]) {
            jpp_table_column(&table, jpp_root_keys[k], 0, JPP_TABLE_NAME);
        }
    }

    for (k = 0; k < JPP_LOCATIONS_MEASURES; k++) {
        if (locations->about[k].is_there) {
            jpp_table_column(&table, jpp_locations_columns[k].mostly, 2 + k,
                             2 * JPP_TABLE_NAME);
        }
    }

    jpp_each(row, jpp_vec_items(locations->rows, jpp_locations_row_t), shown) {
        jpp_locations_cells(locations, row, &table);
    }

    jpp_table_write(&table, sink);
}


static void
jpp_locations_notes(const jpp_locations_t *locations, jpp_sink_t *sink)
{
    uint32_t                      i;
    const char                   *name, **note;
    const jpp_locations_about_t  *about;

    jpp_sink_char(sink, '\n');

    for (i = 0; i < JPP_LOCATIONS_MEASURES; i++) {
        about = &locations->about[i];
        name = jpp_locations_columns[i].name;

        if (about->why[0] != '\0') {
            jpp_sink_printf(sink, "%s: not known: ", name);
            jpp_sink_str(sink, about->why);
            jpp_sink_str(sink, about->fix[0] != '\0' ? ". " : "");
            jpp_sink_str(sink, about->fix);
            jpp_sink_char(sink, '\n');
        }

        jpp_vec_each(note, about->notes) {
            jpp_sink_printf(sink, "%s: ", name);
            jpp_sink_str(sink, *note);
            jpp_sink_char(sink, '\n');
        }

        if (about->nobody != 0) {
            jpp_sink_printf(sink, "%s: %s more belong to no server: "
                            "configuration, connection slots, caches\n", name,
                            jpp_change(about->nobody));
        }
    }

    jpp_sink_str(sink, jpp_locations_more);
}


bool
jpp_locations_write(const jpp_locations_t *locations, jpp_sink_t *sink)
{
    size_t      n, top;
    jpp_wrap_t  wrap;

    n = jpp_vec_count(locations->rows, jpp_locations_row_t);
    top = jpp_smaller(n, locations->args->values[JPP_ARG_TOP]);

    if (!jpp_args_is_top(locations->args)) {
        jpp_locations_as_json(locations, top, sink);
        return true;
    }

    jpp_wrap_open(&wrap, locations->args->values[JPP_ARG_COLS], sink);
    jpp_locations_heading(locations, n, &wrap.sink);
    jpp_locations_table(locations, top, &wrap.sink);

    if (top < n) {
        jpp_sink_printf(&wrap.sink, "rows left out: %zu; raise top (at most "
                        "%d)\n", n - top, JPP_MAX_ROWS);
    }

    jpp_locations_notes(locations, &wrap.sink);

    return jpp_wrap_close(&wrap);
}

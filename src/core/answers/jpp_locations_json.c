
#include "jpp_error.h"
#include "jpp_json.h"
#include "jpp_locations_json.h"
#include "jpp_version.h"


static const char *const  jpp_locations_measures[JPP_LOCATIONS_MEASURES] = {
    [JPP_LOCATIONS_HELD] = "held",
    [JPP_LOCATIONS_SAMPLED] = "sampled",
    [JPP_LOCATIONS_CPU] = "cpu"
};


static const char *const  jpp_locations_units[JPP_LOCATIONS_MEASURES] = {
    [JPP_LOCATIONS_HELD] = "bytes",
    [JPP_LOCATIONS_SAMPLED] = "bytes",
    [JPP_LOCATIONS_CPU] = "nanoseconds"
};


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
    size_t                        i, n;
    const char                  **notes;
    const jpp_locations_about_t  *about;

    about = &locations->about[measure];
    notes = jpp_vec_items(about->notes, const char *);
    n = jpp_vec_count(about->notes, const char *);

    jpp_json_open(json, jpp_locations_measures[measure], '{');

    if (about->is_there) {
        jpp_json_i64(json, jpp_locations_units[measure], about->value);
        jpp_locations_json_error(about->variance, about->value, json);

    } else {
        jpp_json_null(json, jpp_locations_units[measure]);
        jpp_json_null(json, "error_percent");
    }

    if (measure == JPP_LOCATIONS_HELD) {
        jpp_json_i64(json, "of_no_server", about->nobody);
    }

    jpp_json_str(json, "why", about->why[0] != '\0' ? about->why : NULL);
    jpp_json_str(json, "cure", about->cure[0] != '\0' ? about->cure : NULL);

    jpp_json_open(json, "notes", '[');

    for (i = 0; i < n; i++) {
        jpp_json_str(json, NULL, notes[i]);
    }

    jpp_json_close(json, ']');
    jpp_json_close(json, '}');
}


static void
jpp_locations_json_cell(const jpp_locations_t *locations,
    const jpp_locations_cell_t *cell, uint32_t measure, jpp_json_t *json)
{
    size_t                       i;
    const jpp_locations_part_t  *parts;

    parts = &jpp_vec_items(locations->parts,
                           jpp_locations_part_t)[cell->first];

    jpp_json_open(json, jpp_locations_measures[measure], '{');
    jpp_json_i64(json, jpp_locations_units[measure], cell->value);
    jpp_locations_json_error(cell->variance, cell->value, json);

    jpp_json_open(json, "mostly", '[');

    for (i = 0; i < cell->n && i < JPP_LOCATIONS_MOST; i++) {
        jpp_json_open(json, NULL, '{');
        jpp_json_utf8(json, "name", parts[i].name.data, parts[i].name.len);
        jpp_json_i64(json, jpp_locations_units[measure], parts[i].value);
        jpp_json_close(json, '}');
    }

    jpp_json_close(json, ']');
    jpp_json_close(json, '}');
}


static void
jpp_locations_json_row(const jpp_locations_t *locations,
    const jpp_locations_row_t *row, jpp_json_t *json)
{
    uint32_t  i;

    jpp_json_open(json, NULL, '{');

    for (i = 0; i < JPP_ROOTS; i++) {
        if (locations->shows[i]) {
            jpp_json_utf8(json, jpp_root_keys[i], row->names[i].data,
                          row->names[i].len);

        } else {
            jpp_json_null(json, jpp_root_keys[i]);
        }
    }

    jpp_json_u64(json, "requests", row->n_requests);

    for (i = 0; i < JPP_LOCATIONS_MEASURES; i++) {

        if (!locations->about[i].is_there) {
            jpp_json_null(json, jpp_locations_measures[i]);
            continue;
        }

        jpp_locations_json_cell(locations, &row->cells[i], i, json);
    }

    jpp_json_close(json, '}');
}


bool
jpp_locations_as_json(const jpp_locations_t *locations, jpp_sink_t *sink)
{
    size_t                      i, n, top;
    uint32_t                    k;
    jpp_json_t                  json;
    const jpp_locations_row_t  *rows;

    rows = jpp_vec_items(locations->rows, jpp_locations_row_t);
    n = jpp_vec_count(locations->rows, jpp_locations_row_t);
    top = locations->args->values[JPP_ARG_TOP];

    jpp_json_init(&json, sink);
    jpp_json_open(&json, NULL, '{');

    jpp_json_str(&json, "module", JPP_VERSION);
    jpp_json_u64(&json, "count", n);

    for (k = 0; k < JPP_LOCATIONS_MEASURES; k++) {
        jpp_locations_json_about(locations, k, &json);
    }

    jpp_json_open(&json, "rows", '[');

    for (i = 0; i < n && i < top; i++) {
        jpp_locations_json_row(locations, &rows[i], &json);
    }

    jpp_json_close(&json, ']');
    jpp_json_close(&json, '}');

    return true;
}

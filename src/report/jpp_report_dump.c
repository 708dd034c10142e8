
#include "jpp_allocator.h"
#include "jpp_report_dump.h"


static jpp_code_t jpp_report_allocator(jpp_profile_t *profile,
    jpp_symbols_t *symbols, const char *data, size_t len, jpp_vec_t *ranges,
    jpp_err_t *err);


jpp_code_t
jpp_report_dump(jpp_profile_t *profile, jpp_symbols_t *symbols,
    jpp_heap_options_t *options, const char *data, size_t len, jpp_err_t *err)
{
    jpp_vec_t   *ranges;
    jpp_code_t   rc;

    ranges = jpp_vec_create(profile->arena);
    if (ranges == NULL) {
        return jpp_err_memory(err);
    }

    rc = jpp_report_allocator(profile, symbols, data, len, ranges, err);
    if (rc != JPP_OK) {
        return rc;
    }

    options->allocator = jpp_vec_items(ranges, jpp_range_t);
    options->n_allocator = jpp_vec_count(ranges, jpp_range_t);

    return jpp_heap_read(profile, options, data, len, err);
}


/*
 * Where no mapping is a libjemalloc, the allocator is in the main program: its
 * symbol table tells where.  What is wrong with the dump is not said here.
 */

static jpp_code_t
jpp_report_allocator(jpp_profile_t *profile, jpp_symbols_t *symbols,
    const char *data, size_t len, jpp_vec_t *ranges, jpp_err_t *err)
{
    jpp_vec_t             *maps;
    jpp_code_t             rc;
    const char            *text;
    jpp_map_t             *map, *end;
    const jpp_mapping_t   *mapping;

    text = len != 0 && data[len - 1] == '\n' ? jpp_heap_maps(data, len) : NULL;

    maps = jpp_vec_create(profile->arena);
    if (maps == NULL) {
        return jpp_err_memory(err);
    }

    if (text == NULL) {
        return JPP_OK;
    }

    rc = jpp_maps_read(profile, text, (size_t) (data + len - text), NULL,
                       maps, err);

    if (rc != JPP_OK) {
        return err->line != 0 ? JPP_OK : rc;
    }

    if (maps->len == 0) {
        return JPP_OK;
    }

    map = jpp_vec_items(maps, jpp_map_t);
    end = map + jpp_vec_count(maps, jpp_map_t);

    for ( /* void */ ; map < end; map++) {
        if (map->is_allocator) {
            return JPP_OK;
        }
    }

    /* the main program is the file that lies lowest */

    for (map = jpp_vec_items(maps, jpp_map_t); map < end; map++) {
        mapping = jpp_profile_mapping_at(profile, map->mapping);

        if (mapping->path[0] == '/') {
            return jpp_symbolize_ranges(symbols, profile, map->mapping,
                                        jpp_allocator_is_function, ranges,
                                        err);
        }
    }

    return JPP_OK;
}

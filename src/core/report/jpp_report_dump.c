
#include "jpp_report_dump.h"


jpp_code_t
jpp_report_dump(jpp_profile_t *profile, jpp_symbols_t *symbols,
    const jpp_reader_t *reader, const jpp_dump_t *dump,
    jpp_read_options_t *options, jpp_err_t *err)
{
    jpp_vec_t   *ranges;
    jpp_code_t   rc;

    ranges = jpp_vec_create(profile->arena);
    if (ranges == NULL) {
        return jpp_err_memory(err);
    }

    if (dump->program != 0) {
        rc = jpp_symbolize_ranges(symbols, profile, dump->program,
                                  reader->is_allocator, ranges, err);
        if (rc != JPP_OK) {
            return rc;
        }
    }

    options->allocator = jpp_vec_items(ranges, jpp_range_t);
    options->n_allocator = jpp_vec_count(ranges, jpp_range_t);

    return reader->read(profile, dump, options, err);
}

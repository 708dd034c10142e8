
/*
 * A heap profile in the legacy text form, which google/pprof and jeprof both
 * read: one line per stack, return addresses, and the executable mappings.
 *
 * The readers scale.  So a profile with raw counts is written with its period;
 * estimates (of a difference, or a sum) are written with a period of 1, which
 * no reader scales.  The form cannot hold some negative values; these become
 * 0.
 */


#include "jpp_heap.h"
#include "jpp_intern.h"
#include "jpp_view.h"


static void
jpp_text_sample(const jpp_profile_t *profile, uint32_t i, jpp_sample_t *sample)
{
    int64_t  *alloc, *inuse;

    jpp_profile_sample(profile, i, sample);

    alloc = &sample->values[JPP_HEAP_ALLOC_OBJECTS];
    inuse = &sample->values[JPP_HEAP_INUSE_OBJECTS];

    if (alloc[0] < 0 || alloc[1] < 0) {
        alloc[0] = 0;
        alloc[1] = 0;
    }

    /* google/pprof refuses bytes without objects: count one */

    if (alloc[0] == 0 && alloc[1] != 0) {
        alloc[0] = 1;
    }

    if (inuse[0] == 0 && inuse[1] != 0) {
        inuse[0] = inuse[1] > 0 ? 1 : -1;
    }
}


static void
jpp_text_counts(jpp_sink_t *sink, const int64_t *values)
{
    jpp_sink_i64(sink, values[JPP_HEAP_INUSE_OBJECTS]);
    jpp_sink_str(sink, ": ");
    jpp_sink_i64(sink, values[JPP_HEAP_INUSE_SPACE]);
    jpp_sink_str(sink, " [");
    jpp_sink_i64(sink, values[JPP_HEAP_ALLOC_OBJECTS]);
    jpp_sink_str(sink, ": ");
    jpp_sink_i64(sink, values[JPP_HEAP_ALLOC_SPACE]);
    jpp_sink_char(sink, ']');
}


static void
jpp_text_stack(const jpp_profile_t *profile, jpp_sink_t *sink,
    const jpp_sample_t *sample)
{
    uint32_t              id;
    const uint8_t        *p, *end;
    const jpp_location_t *location;

    end = sample->stack + sample->stack_len;

    for (p = sample->stack; p < end; /* void */ ) {
        p = jpp_stack_next(p, &id);

        location = jpp_profile_location_at(profile, id);

        /* the readers take the 1 off again */

        jpp_sink_str(sink, " 0x");
        jpp_sink_hex(sink, location->address + 1);
    }
}


bool
jpp_text_write(const jpp_view_t *view, jpp_sink_t *sink)
{
    int64_t               totals[JPP_HEAP_TYPES] = { 0 };
    uint32_t              i, t;
    jpp_sample_t          sample;
    const jpp_profile_t  *profile;

    profile = view->profile;

    for (i = 0; i < profile->n_samples; i++) {
        jpp_text_sample(profile, i, &sample);

        for (t = 0; t < JPP_HEAP_TYPES; t++) {
            totals[t] = jpp_add_i64(totals[t], sample.values[t]);
        }
    }

    /* readers of the header accept no sign */

    for (t = 0; t < JPP_HEAP_TYPES; t++) {
        totals[t] = totals[t] > 0 ? totals[t] : 0;
    }

    jpp_sink_str(sink, "heap profile: ");
    jpp_text_counts(sink, totals);
    jpp_sink_str(sink, " @ heap_v2/");
    jpp_sink_i64(sink, view->is_raw ? profile->period : 1);
    jpp_sink_char(sink, '\n');

    for (i = 0; i < profile->n_samples; i++) {
        jpp_text_sample(profile, i, &sample);

        if (jpp_sample_is_zero(&sample)) {
            continue;
        }

        jpp_text_counts(sink, sample.values);
        jpp_sink_str(sink, " @");
        jpp_text_stack(profile, sink, &sample);
        jpp_sink_char(sink, '\n');
    }

    jpp_sink_str(sink, "\nMAPPED_LIBRARIES:\n");
    jpp_text_mappings(profile, sink);

    return true;
}


void
jpp_text_mappings(const jpp_profile_t *profile, jpp_sink_t *sink)
{
    uint32_t              i, n;
    jpp_str_t             file;
    const jpp_mapping_t  *m;

    n = (uint32_t) jpp_vec_count(profile->mappings, jpp_mapping_t);

    for (i = 1; i <= n; i++) {
        m = jpp_profile_mapping_at(profile, i);

        jpp_sink_hex(sink, m->start);
        jpp_sink_char(sink, '-');
        jpp_sink_hex(sink, m->limit);
        jpp_sink_printf(sink, " r-xp %08jx %02x:%02x %ju ",
                        (uintmax_t) m->offset,
                        (unsigned) (m->device >> 32),
                        (unsigned) (m->device & 0xffffffff),
                        (uintmax_t) m->inode);

        file = jpp_profile_str(profile, m->file);
        jpp_sink_write(sink, file.data, file.len);
        jpp_sink_char(sink, '\n');
    }
}

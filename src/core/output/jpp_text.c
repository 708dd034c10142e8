
/*
 * Writes a profile in the legacy formats that google/pprof and jeprof both
 * read: return addresses, and the executable mappings as text.  These formats
 * have no labels and no comments.
 *
 * A heap is text, one line per stack.  The parsers scale.  So a profile with
 * raw counts is written with its period; estimates (of a difference, or a sum)
 * are written with a period of 1, which no parser scales.  The form cannot hold
 * some negative values; these become 0.
 *
 * CPU time has the binary form of gperftools, words of 8 bytes as the machine
 * has them:
 *
 *     file   := 0 3 0 period 0 stack* 0 1 0 maps
 *     stack  := samples n address{n}
 *
 * The period is microseconds; addresses are leaf first.
 */


#include "jpp_view.h"


#define JPP_BINARY_MICRO  1000


/* Append the mappings of PROFILE to SINK, as lines of /proc/PID/maps. */

static void
jpp_text_mappings(const jpp_profile_t *profile, jpp_sink_t *sink)
{
    jpp_str_t             file;
    const jpp_mapping_t  *m;

    jpp_vec_each(m, profile->mappings) {
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


bool
jpp_text_write(const jpp_view_t *view, jpp_sink_t *sink)
{
    int64_t               totals[JPP_HEAP_TYPES] = { 0 };
    uint32_t              i, k, n, t, ids[JPP_MAX_FRAMES];
    jpp_sample_t          sample;
    const jpp_profile_t  *profile;

    profile = view->profile;

    jpp_profile_each(i, profile) {
        jpp_text_sample(profile, i, &sample);

        for (t = 0; t < JPP_HEAP_TYPES; t++) {
            totals[t] = jpp_add_i64(totals[t], sample.values[t]);
        }
    }

    /* parsers of the header accept no sign */

    for (t = 0; t < JPP_HEAP_TYPES; t++) {
        totals[t] = totals[t] > 0 ? totals[t] : 0;
    }

    jpp_sink_str(sink, "heap profile: ");
    jpp_text_counts(sink, totals);
    jpp_sink_str(sink, " @ heap_v2/");
    jpp_sink_i64(sink, view->is_raw ? profile->period : 1);
    jpp_sink_char(sink, '\n');

    jpp_profile_each(i, profile) {
        jpp_text_sample(profile, i, &sample);

        if (jpp_sample_is_zero(&sample)) {
            continue;
        }

        jpp_text_counts(sink, sample.values);
        jpp_sink_str(sink, " @");
        n = jpp_stack_ids(sample.stack, sample.stack_len, ids);

        /* the parsers take the 1 off again */

        for (k = 0; k < n; k++) {
            jpp_sink_str(sink, " 0x");
            jpp_sink_hex(sink, jpp_profile_location_at(profile,
                                                       ids[k])->address + 1);
        }
        jpp_sink_char(sink, '\n');
    }

    jpp_sink_str(sink, "\nMAPPED_LIBRARIES:\n");
    jpp_text_mappings(profile, sink);

    return true;
}


static void
jpp_binary_word(jpp_sink_t *sink, uint64_t word)
{
    jpp_sink_write(sink, &word, sizeof(uint64_t));
}


bool
jpp_binary_write(const jpp_view_t *view, jpp_sink_t *sink)
{
    uint32_t              i, k, n, ids[JPP_MAX_FRAMES];
    jpp_sample_t          sample;
    const jpp_profile_t  *profile = view->profile;

    const uint64_t  head[] = {
        0, 3, 0, (uint64_t) profile->period / JPP_BINARY_MICRO, 0
    };

    static const uint64_t  end[] = { 0, 1, 0 };

    jpp_sink_write(sink, head, sizeof(head));

    jpp_profile_each(i, profile) {
        jpp_profile_sample(profile, i, &sample);
        n = jpp_stack_ids(sample.stack, sample.stack_len, ids);

        /* parsers take a stack without an address for the end */

        if (n == 0 || sample.values[JPP_TIMES_SAMPLES] <= 0) {
            continue;
        }

        jpp_binary_word(sink, (uint64_t) sample.values[JPP_TIMES_SAMPLES]);
        jpp_binary_word(sink, n);

        /* they take the 1 off again */

        for (k = 0; k < n; k++) {
            jpp_binary_word(sink, jpp_profile_location_at(profile,
                                                          ids[k])->address + 1);
        }
    }

    jpp_sink_write(sink, end, sizeof(end));
    jpp_text_mappings(profile, sink);

    return true;
}

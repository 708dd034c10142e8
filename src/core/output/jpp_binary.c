
/*
 * A profile of CPU time in the legacy binary form of gperftools, which jeprof
 * and google/pprof both read: words of 8 bytes as the machine has them, then
 * the executable mappings as text.
 *
 *     file   := 0 3 0 period 0 stack* 0 1 0 maps
 *     stack  := samples n address{n}
 *
 * The period is microseconds; addresses are those of returns, leaf first.  The
 * form has no labels and no comments.
 */


#include "jpp_intern.h"
#include "jpp_times.h"
#include "jpp_view.h"


#define JPP_BINARY_MICRO  1000


static void
jpp_binary_word(jpp_sink_t *sink, uint64_t word)
{
    jpp_sink_write(sink, &word, sizeof(uint64_t));
}


/* Readers take a stack whose first address is 0, or missing, for the end. */

static void
jpp_binary_stack(const jpp_profile_t *profile, jpp_sink_t *sink,
    const jpp_sample_t *sample)
{
    uint32_t        id, n;
    const uint8_t  *p, *end;

    end = sample->stack + sample->stack_len;

    for (p = sample->stack, n = 0; p < end; n++) {
        p = jpp_stack_next(p, &id);
    }

    if (n == 0 || sample->values[JPP_TIMES_SAMPLES] <= 0) {
        return;
    }

    jpp_binary_word(sink, (uint64_t) sample->values[JPP_TIMES_SAMPLES]);
    jpp_binary_word(sink, n);

    for (p = sample->stack; p < end; /* void */ ) {
        p = jpp_stack_next(p, &id);

        /* the readers take the 1 off again */

        jpp_binary_word(sink, jpp_profile_location_at(profile, id)->address
                              + 1);
    }
}


bool
jpp_binary_write(const jpp_view_t *view, jpp_sink_t *sink)
{
    uint32_t              i;
    jpp_sample_t          sample;
    const jpp_profile_t  *profile;

    profile = view->profile;

    jpp_binary_word(sink, 0);
    jpp_binary_word(sink, 3);
    jpp_binary_word(sink, 0);
    jpp_binary_word(sink, (uint64_t) profile->period / JPP_BINARY_MICRO);
    jpp_binary_word(sink, 0);

    for (i = 0; i < profile->n_samples; i++) {
        jpp_profile_sample(profile, i, &sample);
        jpp_binary_stack(profile, sink, &sample);
    }

    jpp_binary_word(sink, 0);
    jpp_binary_word(sink, 1);
    jpp_binary_word(sink, 0);

    jpp_text_mappings(profile, sink);

    return true;
}

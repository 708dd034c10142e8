
/*
 * Writes one value of a profile as folded stacks: "root;...;leaf value" lines,
 * for flame graph tools, speedscope and the Firefox profiler.
 *
 * With callers=1, functions that only pass memory on (jpp_wrappers.c) are left
 * out.  A semicolon in a name becomes a colon.  A sample without a stack is
 * "[no stack]".  Samples whose value is 0 are left out; in a difference a
 * value may be negative.
 */


#include "jpp_view.h"


static void
jpp_folded_stack(const jpp_profile_t *profile, jpp_sink_t *sink,
    const uint8_t *p, const uint8_t *end)
{
    size_t     i;
    uint32_t   n, ids[JPP_MAX_FRAMES];
    jpp_str_t  name;

    n = jpp_stack_ids(p, (size_t) (end - p), ids);

    if (n == 0) {
        jpp_sink_str(sink, "[no stack]");
        return;
    }

    while (n-- > 0) {
        name = jpp_profile_location_name(profile, ids[n]);

        for (i = 0; i < name.len; i++) {
            jpp_sink_char(sink, name.data[i] == ';' ? ':' : name.data[i]);
        }

        if (n != 0) {
            jpp_sink_char(sink, ';');
        }
    }
}


bool
jpp_folded_write(const jpp_view_t *view, jpp_sink_t *sink)
{
    uint32_t              i, type;
    jpp_sample_t          sample;
    const uint8_t        *stack, *end, *wrappers;
    const jpp_args_t     *args;
    const jpp_profile_t  *profile;

    args = view->args;
    profile = view->profile;
    type = profile->default_type;

    /* a flame graph has room for all */

    wrappers = jpp_wrappers_table(profile,
                                  !args->is_set[JPP_ARG_CALLERS]
                                  || args->values[JPP_ARG_CALLERS] == 0);

    if (wrappers == NULL) {
        return false;
    }

    jpp_profile_each(i, profile) {

        jpp_profile_sample(profile, i, &sample);

        if (sample.values[type] == 0) {
            continue;
        }

        end = sample.stack + sample.stack_len;
        stack = jpp_wrappers_skip(profile, wrappers, sample.stack, end);

        jpp_folded_stack(profile, sink, stack, end);

        jpp_sink_char(sink, ' ');
        jpp_sink_i64(sink, sample.values[type]);
        jpp_sink_char(sink, '\n');
    }

    return true;
}

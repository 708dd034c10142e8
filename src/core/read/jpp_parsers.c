
#include "jpp_parsers.h"


/* The names of the N types at VALUES, as the words of the parameter "type". */
#define JPP_PARSER_WORDS(values, n, value)                                    \
    &(const jpp_words_t) {                                                    \
        &(values)[0].type, sizeof(jpp_value_type_t), n, value }


const jpp_parser_t  jpp_parser_heap = {
    .name = "heap",
    .values = jpp_heap_types,
    .n_values = JPP_HEAP_TYPES,
    .types = JPP_PARSER_WORDS(jpp_heap_types, JPP_HEAP_TYPES,
                              JPP_HEAP_INUSE_SPACE),
    .absent = "jemalloc counts what was ever allocated only with "
              "prof_accum:true; the module's sampler always does: POST "
              "sampler=on to control",
    .period_type = "space",
    .period_unit = "bytes",
    .facts_size = sizeof(jpp_heap_facts_t),
    .has_origins = true,
    .open = jpp_heap_open,
    .read = jpp_heap_read,
    .describe = jpp_heap_describe
};


const jpp_parser_t  jpp_parser_pools = {
    .name = "pools",
    .values = jpp_pools_types,
    .n_values = JPP_POOLS_TYPES,
    .types = JPP_PARSER_WORDS(jpp_pools_types, JPP_POOLS_TYPES,
                              JPP_POOLS_INUSE_SPACE),
    .absent = "it has only what is in use",
    .period_type = "space",
    .period_unit = "bytes",
    .period = 1,
    .facts_size = sizeof(jpp_pools_sums_t),
    .parts = jpp_pools_parts,
    .has_origins = true,
    .is_own_baseline = true,
    .open = jpp_pools_open,
    .read = jpp_pools_read,
    .describe = jpp_pools_describe
};


const jpp_parser_t  jpp_parser_stalls = {
    .name = "stalls",
    .values = jpp_stalls_types,
    .n_values = JPP_STALLS_TYPES,
    .types = JPP_PARSER_WORDS(jpp_stalls_types, JPP_STALLS_TYPES,
                              JPP_STALLS_DELAY),
    .absent = "it has only what is shown",
    .period_type = "stalls",
    .period_unit = "count",
    .period = 1,
    .open = jpp_stalls_open,
    .read = jpp_stalls_read,
    .describe = jpp_stalls_describe
};


const jpp_parser_t  jpp_parser_cpu = {
    .name = "cpu",
    .values = jpp_times_types[JPP_MODE_CPU],
    .n_values = JPP_TIMES_TYPES,
    .types = JPP_PARSER_WORDS(jpp_times_types[JPP_MODE_CPU], JPP_TIMES_TYPES,
                              JPP_TIMES_NANOS),
    .absent = "ask for mode=wall",
    .period_type = "cpu",
    .period_unit = "nanoseconds",
    .facts_size = sizeof(jpp_times_sums_t),
    .open = jpp_times_open,
    .read = jpp_times_read,
    .describe = jpp_times_describe
};


const jpp_parser_t  jpp_parser_wall = {
    .name = "wall",
    .values = jpp_times_types[JPP_MODE_WALL],
    .n_values = JPP_TIMES_TYPES,
    .types = JPP_PARSER_WORDS(jpp_times_types[JPP_MODE_WALL], JPP_TIMES_TYPES,
                              JPP_TIMES_NANOS),
    .absent = "ask for mode=cpu",
    .period_type = "wall",
    .period_unit = "nanoseconds",
    .facts_size = sizeof(jpp_times_sums_t),
    .open = jpp_times_open,
    .read = jpp_times_read,
    .describe = jpp_times_describe
};


bool
jpp_parser_init(const jpp_parser_t *parser, jpp_profile_t *profile,
    jpp_arena_t *arena)
{
    if (!jpp_profile_init(profile, arena, parser->values, parser->n_values)) {
        return false;
    }

    profile->default_type = parser->types->value;
    profile->period_type = parser->period_type;
    profile->period_unit = parser->period_unit;
    profile->period = parser->period;
    profile->facts = jpp_arena_alloc(arena, parser->facts_size);

    return profile->facts != NULL;
}


#include "jpp_heap_file.h"
#include "jpp_readers.h"


#define JPP_READER_WORDS(reader, value)                                       \
    &(const jpp_words_t) { jpp_reader_word, &(reader), value }


/* The names of a reader's types as the words of the parameter "type". */

static const char *
jpp_reader_word(const void *ctx, uint32_t i)
{
    const jpp_reader_t *reader = ctx;

    return i < reader->n_values ? reader->values[i].type : NULL;
}


const jpp_reader_t  jpp_reader_heap = {
    .name = "heap",
    .values = jpp_heap_types,
    .n_values = JPP_HEAP_TYPES,
    .types = JPP_READER_WORDS(jpp_reader_heap, JPP_HEAP_INUSE_SPACE),
    .absent = "jemalloc counts what was ever allocated only with "
              "prof_accum:true",
    .period_type = "space",
    .period_unit = "bytes",
    .facts_size = sizeof(jpp_heap_facts_t),
    .has_origins = true,
    .open = jpp_heap_open,
    .read = jpp_heap_read,
    .describe = jpp_heap_describe
};


const jpp_reader_t  jpp_reader_pools = {
    .name = "pools",
    .values = jpp_pools_types,
    .n_values = JPP_POOLS_TYPES,
    .types = JPP_READER_WORDS(jpp_reader_pools, JPP_POOLS_INUSE_SPACE),
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


const jpp_reader_t  jpp_reader_stalls = {
    .name = "stalls",
    .values = jpp_stalls_types,
    .n_values = JPP_STALLS_TYPES,
    .types = JPP_READER_WORDS(jpp_reader_stalls, JPP_STALLS_DELAY),
    .absent = "it has only what is shown",
    .period_type = "stalls",
    .period_unit = "count",
    .period = 1,
    .open = jpp_stalls_open,
    .read = jpp_stalls_read,
    .describe = jpp_stalls_describe
};


const jpp_reader_t  jpp_reader_cpu = {
    .name = "cpu",
    .values = jpp_times_types[JPP_MODE_CPU],
    .n_values = JPP_TIMES_TYPES,
    .types = JPP_READER_WORDS(jpp_reader_cpu, JPP_TIMES_NANOS),
    .absent = "ask for mode=wall",
    .period_type = "cpu",
    .period_unit = "nanoseconds",
    .facts_size = sizeof(jpp_times_sums_t),
    .open = jpp_times_open,
    .read = jpp_times_read,
    .describe = jpp_times_describe
};


const jpp_reader_t  jpp_reader_wall = {
    .name = "wall",
    .values = jpp_times_types[JPP_MODE_WALL],
    .n_values = JPP_TIMES_TYPES,
    .types = JPP_READER_WORDS(jpp_reader_wall, JPP_TIMES_NANOS),
    .absent = "ask for mode=cpu",
    .period_type = "wall",
    .period_unit = "nanoseconds",
    .facts_size = sizeof(jpp_times_sums_t),
    .open = jpp_times_open,
    .read = jpp_times_read,
    .describe = jpp_times_describe
};


bool
jpp_reader_init(const jpp_reader_t *reader, jpp_profile_t *profile,
    jpp_arena_t *arena)
{
    if (!jpp_profile_init(profile, arena, reader->values, reader->n_values)) {
        return false;
    }

    profile->default_type = reader->types->value;
    profile->period_type = reader->period_type;
    profile->period_unit = reader->period_unit;
    profile->period = reader->period;
    profile->facts = jpp_arena_alloc(arena, reader->facts_size);

    return profile->facts != NULL;
}

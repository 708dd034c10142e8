
#include "jpp_allocator.h"
#include "jpp_heap.h"
#include "jpp_heap_file.h"
#include "jpp_pools_words.h"
#include "jpp_readers.h"


const jpp_reader_t  jpp_reader_heap = {
    .name = "heap",
    .types = &jpp_heap_words,
    .absent = "jemalloc counts what was ever allocated only with "
              "prof_accum:true",
    .has_origins = true,
    .is_allocator = jpp_allocator_is_function,
    .init = jpp_heap_init,
    .open = jpp_heap_open,
    .read = jpp_heap_read,
    .describe = jpp_heap_describe
};


const jpp_reader_t  jpp_reader_pools = {
    .name = "pools",
    .types = &jpp_pools_words,
    .absent = "it has only what is in use",
    .parts = jpp_pools_parts,
    .has_origins = true,
    .is_own_baseline = true,
    .is_allocator = jpp_allocator_is_function,
    .init = jpp_pools_profile,
    .open = jpp_pools_open,
    .read = jpp_pools_read,
    .describe = jpp_pools_describe
};


const jpp_reader_t  jpp_reader_stalls = {
    .name = "stalls",
    .types = &jpp_stalls_words,
    .absent = "it has only what is shown",
    .is_allocator = jpp_allocator_is_function,
    .init = jpp_stalls_init,
    .open = jpp_stalls_open,
    .read = jpp_stalls_read,
    .describe = jpp_stalls_describe
};


const jpp_reader_t  jpp_reader_cpu = {
    .name = "cpu",
    .types = &jpp_times_cpu_words,
    .absent = "ask for mode=wall",
    .is_allocator = jpp_allocator_is_function,
    .init = jpp_times_cpu_profile,
    .open = jpp_times_open,
    .read = jpp_times_read,
    .describe = jpp_times_describe
};


const jpp_reader_t  jpp_reader_wall = {
    .name = "wall",
    .types = &jpp_times_wall_words,
    .absent = "ask for mode=cpu",
    .is_allocator = jpp_allocator_is_function,
    .init = jpp_times_wall_profile,
    .open = jpp_times_open,
    .read = jpp_times_read,
    .describe = jpp_times_describe
};

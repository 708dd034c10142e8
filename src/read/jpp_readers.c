
#include "jpp_allocator.h"
#include "jpp_heap.h"
#include "jpp_heap_file.h"
#include "jpp_heap_stacks.h"
#include "jpp_pools_stacks.h"
#include "jpp_pools_words.h"
#include "jpp_readers.h"
#include "jpp_stalls.h"


const jpp_reader_t  jpp_reader_heap = {
    .name = "heap",
    .types = &jpp_heap_words,
    .absent = "jemalloc counts what was ever allocated only with "
              "prof_accum:true",
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

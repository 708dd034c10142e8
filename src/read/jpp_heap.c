
#include "jpp_heap.h"
#include "jpp_intern.h"


static const char *jpp_heap_word(const void *ctx, uint32_t i);


const jpp_value_type_t  jpp_heap_types[JPP_HEAP_TYPES] = {
    { "alloc_objects", "count", true,  0, JPP_HEAP_ALLOC_OBJECTS },
    { "alloc_space",   "bytes", true,  0, JPP_HEAP_ALLOC_OBJECTS },
    { "inuse_objects", "count", false, 1, JPP_HEAP_INUSE_OBJECTS },
    { "inuse_space",   "bytes", false, 1, JPP_HEAP_INUSE_OBJECTS }
};


const jpp_words_t  jpp_heap_words = {
    jpp_heap_word, NULL, JPP_HEAP_INUSE_SPACE
};


static const char *
jpp_heap_word(const void *ctx, uint32_t i)
{
    (void) ctx;

    return i < JPP_HEAP_TYPES ? jpp_heap_types[i].type : NULL;
}


bool
jpp_heap_init(jpp_profile_t *profile, jpp_arena_t *arena)
{
    if (!jpp_profile_init(profile, arena, jpp_heap_types, JPP_HEAP_TYPES)) {
        return false;
    }

    profile->default_type = JPP_HEAP_INUSE_SPACE;
    profile->period_type = "space";
    profile->period_unit = "bytes";

    return true;
}


bool
jpp_heap_describe(jpp_profile_t *profile)
{
    bool  is_done;

    is_done = profile->has_periods
              ? jpp_profile_comment(profile, "dumps of different sampling "
                                    "periods: each was scaled by its own")
              : jpp_profile_comment(profile, "lg_sample %d",
                                    __builtin_ctzll((uint64_t)
                                                    profile->period));

    if (is_done && profile->columns[JPP_HEAP_ALLOC_OBJECTS]->len != 0) {
        is_done = jpp_profile_comment(profile, "prof_accum true");
    }

    return is_done;
}

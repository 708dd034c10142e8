
/*
 * jemalloc's heap dumps (heap_v2, 5.2.1 to 5.3.1) into a profile.
 *
 * The dump is read as it lies in memory, its maps section first.  Counts are
 * scaled to what the sampling stands for, per stack and per pair (see
 * jpp_scale.h), unless a reader further on is to do that.  The allocator's own
 * frames, which lead every stack, are left out; a stack of nothing else keeps
 * its outermost frame.
 *
 * A dump that jemalloc could not write to its end is refused, although
 * jemalloc said that all was well: the maps section has to be there, the last
 * byte has to be a newline, and every stack must have its totals.
 *
 * Pure functions; memory from the profile's arena.
 */


#ifndef _JPP_HEAP_H_INCLUDED_
#define _JPP_HEAP_H_INCLUDED_


#include "jpp_args.h"
#include "jpp_maps.h"


enum {
    JPP_HEAP_ALLOC_OBJECTS = 0,
    JPP_HEAP_ALLOC_SPACE,
    JPP_HEAP_INUSE_OBJECTS,
    JPP_HEAP_INUSE_SPACE,
    JPP_HEAP_TYPES,

    /* columns of what was counted before it was scaled, see jpp_origin.h */

    JPP_HEAP_ALLOC_SAMPLES = JPP_HEAP_TYPES,
    JPP_HEAP_INUSE_SAMPLES,
    JPP_HEAP_COLUMNS
};

/* the value types of a heap profile; the alloc pair is optional */
extern const jpp_value_type_t  jpp_heap_types[JPP_HEAP_TYPES];

/* their names as the words of the parameter "type" */
extern const jpp_words_t       jpp_heap_words;


typedef struct {
    uint32_t              labels;       /* label set of the samples */
    bool                  is_base;      /* to be subtracted */
    bool                  is_raw;       /* not to be scaled */
    bool                  is_baseline;  /* of the dump read before it */
    const char           *tail;         /* see jpp_maps_read() */
    const jpp_range_t    *allocator;    /* see jpp_addresses.h */
    size_t                n_allocator;
} jpp_heap_options_t;


/* Initialize the caller's PROFILE for heaps. */
bool jpp_heap_init(jpp_profile_t *profile, jpp_arena_t *arena);

/*
 * The first line of the maps section of the LEN bytes of dump at DATA, or
 * NULL.  For a look at the mappings before the dump is read.
 */
const char *jpp_heap_maps(const char *data, size_t len);

/* Add the LEN bytes of dump at DATA to PROFILE. */
jpp_code_t jpp_heap_read(jpp_profile_t *profile,
    const jpp_heap_options_t *options, const char *data, size_t len,
    jpp_err_t *err);


#endif /* _JPP_HEAP_H_INCLUDED_ */

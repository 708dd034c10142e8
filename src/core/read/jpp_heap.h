
/*
 * The types, columns and comments of a heap profile.
 *
 * jpp_heap_file.h opens a dump of jemalloc, jpp_heap_stacks.h reads it.
 */


#ifndef _JPP_HEAP_H_INCLUDED_
#define _JPP_HEAP_H_INCLUDED_


#include "jpp_profile.h"


enum {
    JPP_HEAP_ALLOC_OBJECTS = 0,
    JPP_HEAP_ALLOC_SPACE,
    JPP_HEAP_INUSE_OBJECTS,
    JPP_HEAP_INUSE_SPACE,
    JPP_HEAP_TYPES,

    /* columns of the samples, and of their doubt */

    JPP_HEAP_ALLOC_SAMPLES = JPP_HEAP_TYPES,
    JPP_HEAP_ALLOC_DOUBT,
    JPP_HEAP_INUSE_SAMPLES,
    JPP_HEAP_INUSE_DOUBT,
    JPP_HEAP_COLUMNS
};

/* the value types of a heap profile; the alloc pair is optional */
extern const jpp_value_type_t  jpp_heap_types[JPP_HEAP_TYPES];


/* Samples that have an owner: the facts of a heap profile. */
typedef struct {
    uint64_t   live;
    uint64_t   allocated;          /* ever */
    bool       is_asked;           /* for owners */
} jpp_heap_facts_t;


/* Count what was seen for a stack, which HAS_OWNER, for the comments; those
   are about owners if these were asked for. */
void jpp_heap_count(jpp_profile_t *profile, const uint64_t counts[4],
    bool is_asked, bool has_owner);

/* Comments on the rate, and on what was counted; false: no memory. */
bool jpp_heap_describe(jpp_profile_t *profile);


#endif /* _JPP_HEAP_H_INCLUDED_ */

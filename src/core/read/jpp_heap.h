
/*
 * The types, columns and comments of a heap profile, and what its sampled
 * counts stand for.
 *
 * jpp_heap_file.h opens a dump of jemalloc, jpp_heap_read() reads it.
 */


#ifndef _JPP_HEAP_H_INCLUDED_
#define _JPP_HEAP_H_INCLUDED_


#include "jpp_dump.h"


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


/* Add the samples of DUMP, which jpp_heap_open() opened, to PROFILE. */
jpp_code_t jpp_heap_read(jpp_profile_t *profile, const jpp_dump_t *dump,
    const jpp_read_options_t *options, jpp_err_t *err);

/* Append comments on the rate, and on what was counted. */
void jpp_heap_describe(jpp_profile_t *profile);


/*
 * What OBJECTS with BYTES in all stand for if one byte in PERIOD was sampled:
 * VALUES[0] objects and VALUES[1] bytes, INT64_MAX at most.  Returns their
 * doubt (see jpp_profile.h).
 */
int64_t jpp_scale(uint64_t period, uint64_t objects, uint64_t bytes,
    int64_t values[2]);


/* pairs of counts to remember */
#define JPP_SCALES_BITS  10
#define JPP_SCALES       (1 << JPP_SCALES_BITS)


/* What pairs were scaled to; stacks have many pairs in common. */
typedef struct {
    uint64_t      period;

    struct {
        uint64_t  objects;
        uint64_t  bytes;
        int64_t   values[2];
        int64_t   doubt;
    } known[JPP_SCALES];
} jpp_scales_t;


/*
 * The same for the pair COUNTS, remembered in the caller's SCALES, which
 * starts as zeros with its period set.
 */
static inline int64_t
jpp_scale_known(jpp_scales_t *scales, const uint64_t counts[2],
    int64_t values[2])
{
    uint64_t  i;

    i = ((counts[0] ^ counts[1] << 16) * 0x9e3779b97f4a7c15ULL)
        >> (64 - JPP_SCALES_BITS);

    /* the table starts with zeros, and so does the scale */

    if (scales->known[i].objects != counts[0]
        || scales->known[i].bytes != counts[1])
    {
        scales->known[i].doubt = jpp_scale(scales->period, counts[0],
                                           counts[1],
                                           scales->known[i].values);
        scales->known[i].objects = counts[0];
        scales->known[i].bytes = counts[1];
    }

    values[0] = scales->known[i].values[0];
    values[1] = scales->known[i].values[1];

    return scales->known[i].doubt;
}


#endif /* _JPP_HEAP_H_INCLUDED_ */


/*
 * The columns of a heap profile, and the scaling of its sampled counts.
 */


#ifndef _JPP_HEAP_H_INCLUDED_
#define _JPP_HEAP_H_INCLUDED_


#include "jpp_dump.h"
#include "jpp_owner_labels.h"


/*
 * A heap dump taken apart: its first line, its mappings, its header.
 *
 * A dump that jemalloc could not finish is refused, although jemalloc reported
 * success: it must have a maps section, and end in a newline.
 *
 * Nothing here checks for the end of the text at each byte of a line of counts:
 * what follows the stacks ends every number and every line.
 *
 * A dump of the module's sampler has owners, whom samples belong to, in the
 * place of threads:
 *
 *     thread := "  t" owner ": " counts " owner" TAB names NL
 *
 * in the header, one for each, numbered from 0.  In one of jemalloc the owner
 * is a frame, JPP_OWNER_FRAME and more, behind the outermost of a stack; behind
 * the mappings come
 *
 *     owners := "OWNERS:" NL ( names NL )*
 *
 * numbered likewise.  Other dumps have none; what comes in another order, or
 * past the bound, is none either.
 *
 * One of the sampler may have ages, too: jpp_ages.h.
 *
 * Pure functions; memory from the profile's arena.
 */

/* what separates the names of a dump by jemalloc */
#define JPP_HEAP_OWNERS  "OWNERS:\n"

extern const jpp_parser_t  jpp_parser_heap;

/*
 * Are the LEN bytes at DATA a dump with all its parts?  This checks its ends
 * only: the writer may call it at once, and a parser finds out the rest.
 */
bool jpp_heap_is_whole(const char *data, size_t len);


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


/*
 * A capture while it is read: what all grammars share.
 *
 * Opening it finds its parts and reads its mappings; reading it adds its
 * samples.  In between the caller finds out which addresses belong to the
 * allocator.
 */


#ifndef _JPP_DUMP_H_INCLUDED_
#define _JPP_DUMP_H_INCLUDED_


#include "jpp_maps.h"


typedef struct {
    const char           *data;         /* all of it */
    size_t                len;
    const char           *samples;      /* the part with the samples */
    const char           *end;          /*   and its end */
    uint64_t              period;
    jpp_vec_t            *maps;         /* jpp_map_t */
    void                 *opened;       /* the parser's: what it made of it */
    uint32_t              program;      /* the mapping whose functions say */
                                        /*   where the allocator lies, or 0 */
} jpp_dump_t;


typedef struct {
    uint32_t              labels;       /* label set of the samples */
    bool                  is_base;      /* to be subtracted */
    bool                  is_raw;       /* counts stay as they were sampled, */
                                        /*   and no two stacks are added up */
    bool                  is_baseline;  /* what was inherited, to columns, */
    const jpp_dump_t     *baseline_of;  /*   by this dump: its samples meet */
                                        /*   those, and have their owners */
    bool                  has_owners;   /* as labels: jpp_roots.h */
    jpp_vec_t *const     *columns;      /* NULL: the profile's */
    const jpp_range_t    *allocator;    /* see jpp_addresses.h */
    size_t                n_allocator;
} jpp_read_options_t;


/* Initialize the caller's DUMP of the LEN bytes at DATA. */

static inline void
jpp_dump_init(jpp_dump_t *dump, const char *data, size_t len)
{
    memset(dump, 0, sizeof(jpp_dump_t));

    dump->data = data;
    dump->len = len;
    dump->period = 1;
}


/* The number of the line that P in DUMP is in.  Slow: for errors. */
static inline uint64_t
jpp_dump_line(const jpp_dump_t *dump, const char *p)
{
    uint64_t     n;
    const char  *from;

    n = 1;

    for (from = dump->data; from < p; from++, n++) {

        from = memchr(from, '\n', (size_t) (p - from));

        if (from == NULL) {
            break;
        }
    }

    return n;
}


#endif /* _JPP_DUMP_H_INCLUDED_ */

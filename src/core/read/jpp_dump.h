
/*
 * A capture while it is read: what all grammars share.
 *
 * Opening it finds its parts and reads its mappings; reading it adds its
 * samples.  In between the caller finds out which addresses belong to the
 * allocator.
 */


#ifndef _JPP_DUMP_H_INCLUDED_
#define _JPP_DUMP_H_INCLUDED_


#include "jpp_core.h"
#include "jpp_profile.h"


/*
 * The maps section of a dump: /proc/<pid>/maps as it was when the dump was
 * taken.  Its executable mappings become mappings of the profile, the main
 * program's first.  A table by address tells the parser of the stacks which
 * mapping an address belongs to.
 *
 * Captures that loaded one object at different places share its mapping:
 * addresses are moved to where the first capture had it.
 *
 * A pure function of the text; memory from the profile's arena.
 */

/* [start, end) of run-time addresses */
typedef struct {
    uint64_t    start;
    uint64_t    end;
} jpp_range_t;


typedef struct {
    uint64_t    start;
    uint64_t    limit;
    uint64_t    shift;             /* add it for the profile's address */
    uint32_t    mapping;           /* id in the profile */
    bool        is_allocator;      /* this is a libjemalloc */
} jpp_map_t;


/*
 * Read the LEN bytes at TEXT, which end in a newline.  Executable mappings go
 * to PROFILE and, by address, to MAPS (jpp_map_t).  The line of an error is
 * counted from TEXT.
 *
 * A section that was cut between two lines still parses.  TAIL, if the caller
 * knows it, is the name of the last mapping that the kernel lists
 * ("[vsyscall]"): a listing that ends otherwise is JPP_ERR_CUT.  A list with
 * only executable mappings was not written by a kernel and needs no tail.
 * TAIL may be NULL.
 */
jpp_code_t jpp_maps_read(jpp_profile_t *profile, const char *text, size_t len,
    const char *tail, jpp_vec_t *maps, jpp_err_t *err);

/* The element of MAPS that holds ADDRESS, or NULL. */
const jpp_map_t *jpp_maps_find(const jpp_vec_t *maps, uint64_t address);


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


/*
 * What belongs to jemalloc: its library by the file's name, and where it is
 * linked into a program, its functions by theirs.
 *
 * The names only decide which addresses are left out at the leaf of a stack,
 * up to the first of another function.  Pure functions.
 */

/* Is the file at PATH a libjemalloc? */
bool jpp_allocator_is_library(const char *path);

/* Is NAME, as the linker knows it, a function of jemalloc? */
bool jpp_allocator_is_function(const char *name);


#endif /* _JPP_DUMP_H_INCLUDED_ */

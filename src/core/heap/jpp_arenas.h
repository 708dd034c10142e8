
/*
 * What jemalloc counts by arena and by size: the arenas that exist, the sizes
 * that small allocations are rounded to (bins), and those of large ones
 * (extents).  All by mallctl() and numbers: malloc_stats_print() would take
 * memory from the heap that is measured.
 *
 * Numbers are rows of uint64_t, JPP_NONE for what a version lacks, as bytes:
 * they travel to whoever asked.
 *
 * Threads as in jpp_stats.h.
 */


#ifndef _JPP_ARENAS_H_INCLUDED_
#define _JPP_ARENAS_H_INCLUDED_


#include "jpp_arena.h"
#include "jpp_err.h"
#include "jpp_units.h"


/* X(name, ctl): the rest of "stats.arenas.N." */

#define JPP_ARENAS_ARENA(X)                                                   \
    X(number, NULL)                                                           \
    X(threads, "nthreads")                                                    \
    X(small, "small.allocated")                                               \
    X(large, "large.allocated")                                               \
    X(active, "pactive")                                                      \
    X(dirty, "pdirty")                                                        \
    X(muzzy, "pmuzzy")                                                        \
    X(mapped, "mapped")                                                       \
    X(retained, "retained")                                                   \
    X(base, "base")                                                           \
    X(internal, "internal")                                                   \
    X(tcache, "tcache_bytes")                                                 \
    X(resident, "resident")

/* X(name, ctl): of all arenas, the rest of "stats.arenas.4096.bins.N." */

#define JPP_ARENAS_BIN(X)                                                     \
    X(size, NULL)                                                             \
    X(regions_per_slab, NULL)                                                 \
    X(slab_size, NULL)                                                        \
    X(regions, "curregs")                                                     \
    X(slabs, "curslabs")                                                      \
    X(slabs_nonfull, "nonfull_slabs")                                         \
    X(mallocs, "nmalloc")                                                     \
    X(frees, "ndalloc")

/* of "stats.arenas.4096.lextents.N." */

#define JPP_ARENAS_LARGE(X)                                                   \
    X(size, NULL)                                                             \
    X(allocations, "curlextents")                                             \
    X(mallocs, "nmalloc")                                                     \
    X(frees, "ndalloc")


#define JPP_ARENAS_FIELD(name, ctl)  uint64_t  name;

typedef struct {
    JPP_ARENAS_ARENA(JPP_ARENAS_FIELD)
} jpp_arenas_arena_t;


typedef struct {
    JPP_ARENAS_BIN(JPP_ARENAS_FIELD)
} jpp_arenas_bin_t;


typedef struct {
    JPP_ARENAS_LARGE(JPP_ARENAS_FIELD)
} jpp_arenas_large_t;


typedef struct {
    uint64_t                    n_arenas;
    uint64_t                    n_bins;
    uint64_t                    n_larges;
    const jpp_arenas_arena_t   *arenas;
    const jpp_arenas_bin_t     *bins;      /* those in use */
    const jpp_arenas_large_t   *larges;    /* those in use */
} jpp_arenas_t;


/*
 * Append what jemalloc counts now to OUT, as bytes; JPP_ERR_STATE: there is no
 * jemalloc that does.
 */
jpp_code_t jpp_arenas_read(jpp_vec_t *out, jpp_err_t *err);

/*
 * Fill ARENAS from the LEN bytes at DATA, aligned to 8, which stay; ERR says
 * what is wrong with them.
 */
jpp_code_t jpp_arenas_load(jpp_arenas_t *arenas, const char *data, size_t len,
    jpp_err_t *err);


#endif /* _JPP_ARENAS_H_INCLUDED_ */

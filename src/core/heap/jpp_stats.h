
/*
 * jemalloc's counters: bytes allocated, held and retained, and operations so
 * far.  jemalloc(3) explains each name.
 *
 * Any thread, as soon as jpp_jemalloc_read() has been called once.  A dump in
 * progress delays the caller until it has ended: jemalloc locks.
 */


#ifndef _JPP_STATS_H_INCLUDED_
#define _JPP_STATS_H_INCLUDED_


#include "jpp_core.h"


/*
 * The mallctl of this process and the report of the same jemalloc, the owner of
 * both functions: looked up under the names of the usual builds, and used only
 * if malloc() is proven to be the same library's.  What its values mean is in
 * jpp_jemalloc.h and jpp_stats.h; their files, and the sampler, use this.
 *
 * Threads as in jpp_jemalloc.h.
 */

/*
 * Look mallctl up; false: malloc() has none.  *VARIABLE is set in any case: the
 * name of the variable that this build reads its options from.
 */
bool jpp_mallctl_find(const char **variable);

/* Write the name of the file that has malloc() to TEXT, of SIZE bytes. */
void jpp_mallctl_allocator(char *text, size_t size);

/* The variables of the builds, by NUMBER from 0; NULL after the last. */
const char *jpp_mallctl_variable(uint32_t number);

/*
 * mallctl(NAME) with widths: 0, or an errno.  EINVAL also if the value has
 * another width than OLD_SIZE, ENOENT if there is no mallctl.
 */
int jpp_mallctl_call(const char *name, void *old, size_t old_size, void *new,
    size_t new_size);

/*
 * malloc_stats_print() as JSON, in pieces of text that WRITE is called with;
 * false: there is none.
 */
bool jpp_mallctl_print(void (*write)(void *ctx, const char *text), void *ctx);

/* Is NAME a boolean that is true? */
bool jpp_mallctl_is_true(const char *name);


/* Read NAME to the SIZE bytes at VALUE; false: it cannot be read so. */

static inline bool
jpp_mallctl_get(const char *name, void *value, size_t size)
{
    return jpp_mallctl_call(name, value, size, NULL, 0) == 0;
}


/*
 * X(name, ctl, width), one uint64_t each.  PAGES are converted to bytes;
 * 4096 is MALLCTL_ARENAS_ALL of jemalloc.h, since 5.0.
 */

/* without one of these there are no statistics */
#define JPP_STATS_SUMS(X)                                                     \
    X(allocated, "stats.allocated", SIZE)                                     \
    X(active, "stats.active", SIZE)                                           \
    X(metadata, "stats.metadata", SIZE)                                       \
    X(resident, "stats.resident", SIZE)                                       \
    X(mapped, "stats.mapped", SIZE)                                           \
    X(retained, "stats.retained", SIZE)

/* what a version lacks is JPP_NONE */
#define JPP_STATS_DETAILS(X)                                                  \
    X(dirty, "stats.arenas.4096.pdirty", PAGES)                               \
    X(muzzy, "stats.arenas.4096.pmuzzy", PAGES)                               \
    X(tcache, "stats.arenas.4096.tcache_bytes", SIZE)                         \
    X(small, "stats.arenas.4096.small.allocated", SIZE)                       \
    X(large, "stats.arenas.4096.large.allocated", SIZE)                       \
    X(small_mallocs, "stats.arenas.4096.small.nmalloc", SIZE)                 \
    X(large_mallocs, "stats.arenas.4096.large.nmalloc", SIZE)                 \
    X(small_frees, "stats.arenas.4096.small.ndalloc", SIZE)                   \
    X(large_frees, "stats.arenas.4096.large.ndalloc", SIZE)                   \
    X(dirty_purged, "stats.arenas.4096.dirty_purged", PAGES)                  \
    X(muzzy_purged, "stats.arenas.4096.muzzy_purged", PAGES)                  \
    X(arenas, "arenas.narenas", UNSIGNED)                                     \
    X(threads, "stats.background_thread.num_threads", SIZE)                   \
    X(thread_runs, "stats.background_thread.num_runs", SIZE)

#define JPP_STATS_FIELD(name, ctl, width)  uint64_t  name;

typedef struct {
    JPP_STATS_SUMS(JPP_STATS_FIELD)
    JPP_STATS_DETAILS(JPP_STATS_FIELD)
} jpp_stats_t;


/* Fill STATS; false without a jemalloc, or if it has no statistics. */
bool jpp_stats_read(jpp_stats_t *stats);

/*
 * The bytes that the calling thread has allocated and not freed, whoever did
 * so; false without a jemalloc that counts them.  Not what a profiler or the
 * allocator takes for itself.
 */
bool jpp_stats_thread(uint64_t *bytes);

/* What of "allocated" jemalloc has taken for itself; 0: it does not say. */
uint64_t jpp_stats_internal(void);

/*
 * Append jemalloc's own report to OUT, as it is: its options, arenas and sizes,
 * in JSON, unless a long or odd option breaks that.  jemalloc takes a buffer of
 * 64 KiB from its first arena meanwhile; this takes nothing from malloc().
 * JPP_ERR_STATE: there is no report.
 */
jpp_code_t jpp_stats_report(jpp_vec_t *out, jpp_err_t *err);

/* X + Y, JPP_NONE if either is. */
static inline uint64_t
jpp_stats_add(uint64_t x, uint64_t y)
{
    return x == JPP_NONE || y == JPP_NONE ? JPP_NONE : x + y;
}


#endif /* _JPP_STATS_H_INCLUDED_ */

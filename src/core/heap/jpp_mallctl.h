
/*
 * The mallctl of this process and the report of the same jemalloc, the owner of
 * both functions: looked up under the names of the usual builds, and used only
 * if malloc() is proven to be the same library's.  What its values mean is in
 * jpp_jemalloc.h and jpp_stats.h; their files, and the sampler, use this.
 *
 * Threads as in jpp_jemalloc.h.
 */


#ifndef _JPP_MALLCTL_H_INCLUDED_
#define _JPP_MALLCTL_H_INCLUDED_


#include "jpp_core.h"


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


#endif /* _JPP_MALLCTL_H_INCLUDED_ */

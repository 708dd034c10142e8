
/*
 * Sorts in place.  For large arrays libc's qsort() calls malloc(), whose heap
 * is being measured.
 */


#ifndef _JPP_SORT_H_INCLUDED_
#define _JPP_SORT_H_INCLUDED_


#include "jpp_config.h"


/* < 0, 0, > 0: A belongs before, beside or after B. */
typedef int (*jpp_sort_cmp_pt)(const void *a, const void *b, void *ctx);

/*
 * Sort N elements of SIZE bytes at BASE.  The order of equal ones is
 * undefined.
 */
void jpp_sort(void *base, size_t n, size_t size, jpp_sort_cmp_pt cmp,
    void *ctx);


/* For comparisons: the smaller of two numbers is the first. */
static inline int
jpp_sort_order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}


static inline int
jpp_sort_order_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}


#endif /* _JPP_SORT_H_INCLUDED_ */

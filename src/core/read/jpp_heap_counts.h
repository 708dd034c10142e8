
/*
 * The lines of counts in a heap dump.
 *
 * Nothing here checks for the end of the text at each byte: what follows the
 * stacks ends every number and every line.  Pure functions.
 */


#ifndef _JPP_HEAP_COUNTS_H_INCLUDED_
#define _JPP_HEAP_COUNTS_H_INCLUDED_


#include <stdint.h>


#define JPP_HEAP_TOTALS  "  t*: "


/*
 * The objects and bytes that are live, and those ever allocated, of the line
 * of totals at P.  Returns where they end, or NULL.
 */
const char *jpp_heap_totals(const char *p, const char *end,
    uint64_t counts[4]);

/*
 * The lines of threads at P, behind the line of TOTALS, have the right form.
 * Returns where they end; NULL: *BAD has not.
 */
const char *jpp_heap_threads(const char *p, const char *end,
    const char *totals, const char **bad);

/* Where the counts of the line of a thread at P begin, or NULL. */
const char *jpp_heap_thread(const char *p, const char *end);

/* The counts at P.  Returns where they end, or NULL. */
const char *jpp_heap_counts(const char *p, uint64_t counts[4]);


#endif /* _JPP_HEAP_COUNTS_H_INCLUDED_ */

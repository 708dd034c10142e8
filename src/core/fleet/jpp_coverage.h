
/*
 * Since when jemalloc's samples of a worker are complete, and when it took none
 * before that.  jemalloc sees a sampled object freed even while its sampling is
 * off, but what is allocated then is never sampled.
 *
 * The sampler of the module needs no such thing: it forgets its samples when it
 * is switched off.
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_COVERAGE_H_INCLUDED_
#define _JPP_COVERAGE_H_INCLUDED_


#include "jpp_jemalloc.h"


/* of the words of a gap */
#define JPP_COVERAGE_TEXT  96


/* Times are seconds since the epoch. */
typedef struct {
    int64_t    since;      /* what is allocated since then is sampled; */
                           /*   0: what the process ever allocated */
    int64_t    off;        /* sampling was first switched off, while there */
                           /*   were samples from before; 0: never */
    uint64_t   n_off;      /* how often it was */
} jpp_coverage_t;


/* RESULT, of a change that was made at NOW, may make samples incomplete. */
void jpp_coverage_changed(jpp_coverage_t *coverage,
    const jpp_control_result_t *result, int64_t now);

/* Is memory missing that was allocated while sampling was off? */
static inline bool
jpp_coverage_has_gap(const jpp_coverage_t *coverage)
{
    return coverage->n_off != 0 && coverage->since >= coverage->off;
}


/*
 * Write when sampling was off, "from ... to ...", to TEXT; returns TEXT.
 * There is a gap.
 */
const char *jpp_coverage_gap(const jpp_coverage_t *coverage,
    char text[JPP_COVERAGE_TEXT]);


#endif /* _JPP_COVERAGE_H_INCLUDED_ */

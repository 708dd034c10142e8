
/*
 * What a form of the console has changed, as the query of the page that the
 * browser is sent back to:
 *
 *     active=1&done=8&asked=8
 *
 * A query can be written by anybody, so it has words of a table and numbers,
 * and nothing else of it is shown.
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_OUTCOME_H_INCLUDED_
#define _JPP_OUTCOME_H_INCLUDED_


#include "jpp_control.h"


/* JPP_NONE: not changed, or not known */
typedef struct {
    uint64_t   active;             /* 0, 1 */
    uint64_t   sampler;            /* 0, 1 */
    uint64_t   lg_sample;
    uint64_t   reset;              /* 1 */
    uint64_t   purge;              /* 1 */
    uint64_t   purged;             /* bytes */
    uint64_t   done;               /* workers that made the change */
    uint64_t   asked;
} jpp_outcome_t;


/* Fill OUTCOME with what CONTROL has changed in the N WORKERS asked. */
void jpp_outcome_fill(jpp_outcome_t *outcome, const jpp_control_t *control,
    const jpp_controlled_t *workers, size_t n);

/* Write OUTCOME as a query, without the question mark, to SINK. */
void jpp_outcome_query(const jpp_outcome_t *outcome, jpp_sink_t *sink);

/*
 * Fill OUTCOME from the LEN bytes of a query at TEXT, which may be NULL; false:
 * it tells of no change.  What has no meaning is left out.
 */
bool jpp_outcome_read(jpp_outcome_t *outcome, const char *text, size_t len);

/*
 * Write it as a sentence to SINK: "8 of 8 workers: sampling is on." It is
 * printable ASCII without characters of markup.
 */
void jpp_outcome_text(const jpp_outcome_t *outcome, jpp_sink_t *sink);


#endif /* _JPP_OUTCOME_H_INCLUDED_ */

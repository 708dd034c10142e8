
/*
 * How much memory a worker held, over its whole life: a fixed number of points.
 * When they are used up, pairs of them become one, and a point stands for twice
 * the time.  A point has the most that was seen in its time, since that is what
 * limits are about; the last one is still growing.
 *
 * Values of the caller, without pointers, so that they may lie in shared
 * memory; any thread.
 */


#ifndef _JPP_HISTORY_H_INCLUDED_
#define _JPP_HISTORY_H_INCLUDED_


#include "jpp_json.h"
#include "jpp_units.h"


#define JPP_HISTORY_POINTS    120

/* seconds of a point, in the beginning */
#define JPP_HISTORY_INTERVAL  5


/* JPP_NONE: unknown */
typedef struct {
    uint64_t               allocated;      /* and not freed */
    uint64_t               rss;
} jpp_history_point_t;


typedef struct {
    uint64_t               interval;       /* seconds of a point */
    uint64_t               n;
    jpp_history_point_t    points[JPP_HISTORY_POINTS];
} jpp_history_t;


/* Initialize HISTORY: no point. */
void jpp_history_init(jpp_history_t *history);

/*
 * Add POINT, seen SECONDS after the beginning.  Time in which nothing was
 * added gets the same; time does not go back.
 */
void jpp_history_add(jpp_history_t *history, uint64_t seconds,
    const jpp_history_point_t *point);

/* Write HISTORY as a member of the object that is open; NULL: null. */
void jpp_history_json(jpp_json_t *json, const jpp_history_t *history);


#endif /* _JPP_HISTORY_H_INCLUDED_ */


/*
 * Memory histories: a worker's, and nginx's with its largest owners.
 *
 * A history has a fixed number of points.  When they are used up, pairs of them
 * become one, and a point stands for twice the time.  A point has the most that
 * was seen in its time, since that is what limits are about; the last one is
 * still growing.
 *
 * Values without pointers, so that they may lie in shared memory, whose lock
 * the writer holds.
 */


#ifndef _JPP_HISTORY_H_INCLUDED_
#define _JPP_HISTORY_H_INCLUDED_


#include "jpp_core.h"


#define JPP_HISTORY_POINTS    120

/* seconds of a point, in the beginning */
#define JPP_HISTORY_INTERVAL  5


/* JPP_NONE: unknown */
typedef struct {
    uint64_t             interval;     /* seconds of a point */
    uint64_t             n;
    uint64_t             allocated[JPP_HISTORY_POINTS];    /* and not freed */
    uint64_t             rss[JPP_HISTORY_POINTS];
} jpp_history_t;


/* Initialize HISTORY: no point. */
void jpp_history_init(jpp_history_t *history);

/*
 * Add what was seen SECONDS after the beginning.  Time in which nothing was
 * added gets the same; time does not go back.
 */
void jpp_history_add(jpp_history_t *history, uint64_t seconds,
    uint64_t allocated, uint64_t rss);

/* Write HISTORY as a member of the object that is open; NULL: null. */
void jpp_history_json(jpp_json_t *json, const jpp_history_t *history);

/*
 * The slope of the least squares through N of VALUES, all known, in bytes a
 * point; *ERROR, unless it is NULL, is its standard error.
 */
double jpp_history_slope(const uint64_t *values, size_t n, double *error);


/* points that a rate needs */
#define JPP_GROWN_POINTS  6

/* How an owner, or a worker, has changed. */
typedef struct {
    const char          *who;          /* NULL: all of nginx */
    const char          *place;
    uint64_t             then;         /* bytes */
    uint64_t             now;
    size_t               n;            /* points that are known */
    double               per_hour;
    double               error;        /* of that: its standard error */
    bool                 is_rising;    /* it is believed to go on */
} jpp_grown_t;


/*
 * Fill GROWN with how VALUES have changed from the point FROM of HISTORY to
 * END; false: the last of them is not known.  A rise goes through all of the
 * time, in both halves of it, by more than the points scatter, and beyond what
 * there was in as much time before: what comes and goes comes back to where it
 * was.
 */
bool jpp_history_change(const jpp_history_t *history, const uint64_t *values,
    size_t from, size_t end, jpp_grown_t *grown);


/* owners that are told apart, and bytes of their names */
#define JPP_HELD_OWNERS  24
#define JPP_HELD_NAME    256
#define JPP_HELD_PLACE   192


typedef struct {
    char                 who[JPP_HELD_NAME];   /* "location /a of www"; "": */
                                               /*   nobody */
    char                 place[JPP_HELD_PLACE];    /* "nginx.conf:41"; "" */
    uint64_t             last;                 /* bytes, as last seen */
    uint64_t             bytes[JPP_HISTORY_POINTS];    /* JPP_NONE: unknown */
} jpp_held_owner_t;


/* Begins with zeros. */
typedef struct {
    uint64_t             begun;        /* in ms */
    uint64_t             seconds;      /* of it, as of the last point */
    jpp_history_t        all;          /* its RSS is anonymous memory */
    jpp_held_owner_t     owners[JPP_HELD_OWNERS + 1];  /* the last: others */
} jpp_held_t;


/*
 * The owners of memory were looked at: begin, and say what each holds, the
 * largest first.  One that is not told apart yet takes the place of the one
 * that held least, if that was less than half as much.
 */
void jpp_held_begin(jpp_held_t *held);
void jpp_held_see(jpp_held_t *held, const char *who, const char *place,
    uint64_t bytes);

/*
 * At the time NOW, in ms, all have ALLOCATED and RSS, and each owner what it
 * had when they were last looked at.
 */
void jpp_held_add(jpp_held_t *held, uint64_t now, uint64_t allocated,
    uint64_t rss);

/*
 * The point that HELD's present rise begins with: the last one before which
 * there was more.
 */
size_t jpp_held_rise(const jpp_held_t *held);


/*
 * Fill GROWN with the owners from the point FROM on, which there is, those that
 * grew most first, and ALL with all of nginx.  Returns the number of owners.
 */
size_t jpp_held_grown(const jpp_held_t *held, size_t from, jpp_grown_t *all,
    jpp_grown_t grown[JPP_HELD_OWNERS + 1]);


#endif /* _JPP_HISTORY_H_INCLUDED_ */

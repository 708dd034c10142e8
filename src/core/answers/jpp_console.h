
/*
 * The console: one page for people, with a verdict on the memory, what there is
 * to do about it, the workers, and links to the resources.  It is complete
 * without its script, which refreshes it, fetches what costs a profile, and has
 * the forms answered in place (src/web/console.js).
 *
 * It fetches nothing from outside, and every text that is not the module's own
 * is escaped.
 *
 * A pure function of the caller's values; any thread.
 */


#ifndef _JPP_CONSOLE_H_INCLUDED_
#define _JPP_CONSOLE_H_INCLUDED_


#include "jpp_outcome.h"
#include "jpp_telemetry.h"


/* A resource, or one way to request it. */
typedef struct {
    const char    *address;        /* "heap?format=top"; NULL ends the list */
    const char    *text;           /* what it is */
    const char    *command;        /* to be copied */
    bool           is_post;        /* POST only: not a link */
} jpp_console_link_t;


typedef struct {
    const jpp_telemetry_t      *telemetry;
    const jpp_console_link_t   *links;
    const jpp_outcome_t        *outcome;       /* of a form; or NULL */
    bool                        has_control;   /* forms are answered here */
    int64_t                     now;           /* seconds since the epoch */
} jpp_console_t;


/*
 * What the answer must say in Content-Security-Policy: forms are sent only
 * where control is on.
 */
extern const char  jpp_console_policy[];
extern const char  jpp_console_policy_control[];

/*
 * Write the page of CONSOLE to SINK, which the caller flushes.  Its links are
 * relative to its own address, so that has to end in a slash.  It is ASCII, but
 * for names from the configuration: other bytes become question marks.
 */
void jpp_console_html(const jpp_console_t *console, jpp_sink_t *sink);


/*
 * For the functions above, and for tests.
 */

#define JPP_CONSOLE_AGE  32


/* Append the string S as printable ASCII, newlines and escaped markup. */
void jpp_console_text(jpp_sink_t *sink, const char *s);

/* Append BYTES with a unit, or "-" for JPP_NONE. */
void jpp_console_bytes(jpp_sink_t *sink, uint64_t bytes);

/*
 * Append how much USED is of ALL as a meter with the LABEL: red from nine
 * tenths on, yellow from eight.
 */
void jpp_console_meter(jpp_sink_t *sink, uint64_t used, uint64_t all,
    const char *label);

/* Does LINKS have the resource NAME, in whatever form? */
bool jpp_console_serves(const jpp_console_link_t *links, const char *name);

/* Write how long FROM is before TO, "2 h 13 min", to TEXT; returns TEXT. */
const char *jpp_console_age(int64_t from, int64_t to,
    char text[JPP_CONSOLE_AGE]);

/* Append the section of the workers to SINK. */
void jpp_console_workers(const jpp_console_t *console, jpp_sink_t *sink);

/* Append that of their memory over time, if a worker has a history. */
void jpp_console_time(const jpp_console_t *console, jpp_sink_t *sink);

/* The most that any worker of FLEET held, ever: the scale of the small ones. */
uint64_t jpp_console_most(const jpp_fleet_t *fleet);

/* Append the picture of WORKER to SINK, if it has a history. */
void jpp_console_trend(const jpp_worker_t *worker, uint64_t scale,
    jpp_sink_t *sink);


#endif /* _JPP_CONSOLE_H_INCLUDED_ */


/*
 * The console: one HTML page with the verdict, the findings and their fixes,
 * the workers, and links to the resources.  The page is complete without its
 * script, which refreshes it, fetches the profiles, and submits its forms in
 * place (src/web/console.js).
 *
 * It fetches nothing from outside, and every text that is not the module's own
 * is escaped.
 *
 * A pure function of the caller's values; any thread.
 */


#ifndef _JPP_CONSOLE_H_INCLUDED_
#define _JPP_CONSOLE_H_INCLUDED_


#include "jpp_control.h"
#include "jpp_fleet.h"


/*
 * What a form of the console has changed, as the query of the page that the
 * browser is sent back to: three numbers, and the form's own query.
 *
 *     ok=8&of=8&bytes=1048576&purge=1
 *
 * A query can be written by anybody, so it has words of a table and numbers,
 * and nothing else of it is shown.
 */

typedef struct {
    jpp_control_t   control;
    uint64_t        done;          /* workers that made the change */
    uint64_t        asked;
    uint64_t        purged;        /* bytes; JPP_NONE: unknown */
} jpp_outcome_t;


/* Fill OUTCOME with what CONTROL has changed in the N WORKERS asked. */
void jpp_outcome_fill(jpp_outcome_t *outcome, const jpp_control_t *control,
    const jpp_controlled_t *workers, size_t n);

/* Write OUTCOME as a query, without the question mark, to SINK. */
void jpp_outcome_query(const jpp_outcome_t *outcome, jpp_sink_t *sink);

/*
 * Fill OUTCOME from the LEN bytes of a query at TEXT, which may be NULL; false:
 * it is none of jpp_outcome_query().
 */
bool jpp_outcome_read(jpp_outcome_t *outcome, const char *text, size_t len);

/*
 * Write it as a sentence to SINK: "8 of 8 workers: sampling is on." It is
 * printable ASCII without characters of markup.
 */
void jpp_outcome_text(const jpp_outcome_t *outcome, jpp_sink_t *sink);


/* A resource, or one way to request it. */
typedef struct {
    const char    *address;        /* "heap?format=top"; NULL ends the list */
    const char    *text;           /* what it is */
    const char    *command;        /* to be copied; NULL: curl alone */
    bool           is_post;        /* POST only: not a link */
} jpp_console_link_t;


typedef struct {
    const jpp_telemetry_t      *telemetry;
    const jpp_console_link_t   *links;
    const jpp_outcome_t        *outcome;       /* of a form; or NULL */
    bool                        has_control;   /* forms are answered here */
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
 * Write its text for a terminal of COLS columns to SINK: the verdict, the
 * largest owners, and what to ask next; false: no memory in ARENA.
 */
bool jpp_front_text(const jpp_console_t *console, jpp_arena_t *arena,
    uint32_t cols, jpp_sink_t *sink);


/*
 * For the functions above, and for tests.
 */

#define JPP_CONSOLE_NUMBER  32


/* Do LINKS have the resource of ADDRESS, in whatever form? */
bool jpp_console_serves(const jpp_console_link_t *links, const char *address);

/* Write the number N as "14,004" to TEXT; returns TEXT. */
const char *jpp_console_number(uint64_t n, char text[JPP_CONSOLE_NUMBER]);

/* Write milliseconds as "1.3 s" to TEXT; returns TEXT. */
const char *jpp_console_ms(uint64_t ms, char text[JPP_UNITS_TEXT]);

/* Both for one use, as jpp_bytes(). */
#define jpp_console_digits(n)                                                  \
    jpp_console_number(n, (char[JPP_CONSOLE_NUMBER]) { 0 })
#define jpp_console_took(ms)                                                  \
    jpp_console_ms(ms, (char[JPP_UNITS_TEXT]) { 0 })

/* How bad an iteration of MS milliseconds is. */
jpp_severity_t jpp_console_slow(uint64_t ms);

/* the class of an element, by severity */
extern const char *const  jpp_console_classes[];

/* Append the section of the workers to SINK. */
void jpp_console_workers(const jpp_console_t *console, jpp_sink_t *sink);


/* Append memory over time: as a section; or HISTORY as a small picture. */
void jpp_console_time(const jpp_console_t *console, jpp_sink_t *sink);
void jpp_console_spark(const jpp_history_t *history, jpp_sink_t *sink);

/* The most that any worker of FLEET held, ever: the scale of the small ones. */
uint64_t jpp_console_most(const jpp_fleet_t *fleet);

/* Append the picture of WORKER to SINK, if it has a history. */
void jpp_console_trend(const jpp_worker_t *worker, uint64_t scale,
    jpp_sink_t *sink);


#endif /* _JPP_CONSOLE_H_INCLUDED_ */

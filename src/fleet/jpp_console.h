
/*
 * The console: one page for people, with a verdict on the memory, the workers,
 * their state, what is wrong and its cure, and links to the resources.  It has
 * no script, fetches nothing from outside, and escapes every text that is not
 * the module's own.
 *
 * A pure function of the caller's values; any thread.
 */


#ifndef _JPP_CONSOLE_H_INCLUDED_
#define _JPP_CONSOLE_H_INCLUDED_


#include "jpp_telemetry.h"


/* A resource, or one way to request it. */
typedef struct {
    const char    *address;        /* "heap?format=top"; NULL ends the list */
    const char    *text;           /* what it is */
    const char    *command;        /* to be copied */
    bool           is_post;        /* POST only: not a link */
} jpp_console_link_t;


/* What the answer must say in Content-Security-Policy. */
extern const char  jpp_console_policy[];

/*
 * Write the page for TELEMETRY with LINKS, which the caller flushes.  Its links
 * are relative to its own address, so that has to end in a slash.  It is ASCII:
 * other bytes become question marks.
 */
void jpp_console_html(const jpp_telemetry_t *telemetry,
    const jpp_console_link_t *links, jpp_sink_t *sink);


#endif /* _JPP_CONSOLE_H_INCLUDED_ */

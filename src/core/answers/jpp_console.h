
/*
 * The console: one page for people, with a verdict on the memory, what there is
 * to do about it, the workers, and links to the resources.  It is complete
 * without its script, which refreshes it, fetches what costs a profile, and has
 * the forms answered in place (src/web/console.js).
 *
 * It fetches nothing from outside, and every text that is not the module's own
 * is escaped.  jpp_console_workers.h has the table of workers,
 * jpp_console_acts.h the forms.
 *
 * A pure function of the caller's values; any thread.
 */


#ifndef _JPP_CONSOLE_H_INCLUDED_
#define _JPP_CONSOLE_H_INCLUDED_


#include "jpp_console_parts.h"


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


#endif /* _JPP_CONSOLE_H_INCLUDED_ */


/*
 * A profile as a page: flame graphs, tables and differences in a browser,
 * without a server.
 *
 *     head | title | base64 of the pprof form | the same of the base | script
 *
 * The page is src/web/page.html with its style and its script, made into
 * string literals by tools/page.sh.  Nothing else of a profile gets into it:
 * no name ever becomes HTML.  Whoever has the page has the profile.
 */


#ifndef _JPP_HTML_H_INCLUDED_
#define _JPP_HTML_H_INCLUDED_


#include "jpp_view.h"


/*
 * What an answer with the page has as its Content-Security-Policy: the page's
 * own script and style run, by their hashes, and nothing else does.  The page
 * says so as well, for those who save it.
 */
extern const char  jpp_html_policy[];


/* Append the page with the profile of VIEW, and its base, to SINK. */
bool jpp_html_write(const jpp_view_t *view, jpp_sink_t *sink);


#endif /* _JPP_HTML_H_INCLUDED_ */

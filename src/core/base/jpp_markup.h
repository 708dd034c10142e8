
/*
 * Foreign text in HTML and XML.
 *
 * Names of functions come from files that anybody may have written.  Here they
 * become text and nothing else, in an element or in a quoted attribute.
 */


#ifndef _JPP_MARKUP_H_INCLUDED_
#define _JPP_MARKUP_H_INCLUDED_


#include "jpp_sink.h"


/*
 * Append the LEN bytes of UTF-8 at TEXT, with the characters of markup escaped
 * and control characters as question marks.
 */
void jpp_markup_text(jpp_sink_t *sink, const char *text, size_t len);

/* If C is a character of markup, append it escaped; false: it is none. */
bool jpp_markup_escape(jpp_sink_t *sink, char c);


#endif /* _JPP_MARKUP_H_INCLUDED_ */

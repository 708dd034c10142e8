
/*
 * The Accept header of a request (RFC 9110, 12.5.1): which types a client
 * takes, and how much it likes them.
 *
 * Pure functions; any thread.
 */


#ifndef _JPP_ACCEPT_H_INCLUDED_
#define _JPP_ACCEPT_H_INCLUDED_


#include <stddef.h>


/*
 * How much the LEN bytes at ACCEPT like TYPE, such as "text/html": 0 (not at
 * all) to 1000.  The entry that fits best counts: the type itself, "text/" and
 * an asterisk, or two asterisks; of equal ones, the highest.  An entry whose
 * quality is not a number counts as 0.
 */
unsigned jpp_accept(const char *accept, size_t len, const char *type);


#endif /* _JPP_ACCEPT_H_INCLUDED_ */

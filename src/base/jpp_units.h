
/*
 * Sizes for people: "16.0 KiB", one way everywhere.
 *
 * Below 1024 they are exact ("512 B"); above, they have one decimal, rounded
 * to the nearest.  No doubles, whose point depends on the locale.  Pure
 * functions.
 */


#ifndef _JPP_UNITS_H_INCLUDED_
#define _JPP_UNITS_H_INCLUDED_


#include <stdint.h>


#define JPP_UNITS_TEXT  16

/* there is no such number: a kernel or a library lacks it */
#define JPP_NONE        UINT64_MAX


/* Write BYTES to TEXT, which is the result. */
const char *jpp_units_bytes(uint64_t bytes, char text[JPP_UNITS_TEXT]);

/* The same with a sign, for changes. */
const char *jpp_units_change(int64_t bytes, char text[JPP_UNITS_TEXT]);


#endif /* _JPP_UNITS_H_INCLUDED_ */


/*
 * Formats sizes, times and dates for people: "16.0 KiB", "83.0 ms".
 *
 * Below 1024 bytes and 1000 ns they are exact ("512 B", "7 ns"); above, they
 * have one decimal, rounded to the nearest.  The largest unit of time is the
 * second.  No doubles, whose point depends on the locale.  Pure functions.
 */


#ifndef _JPP_UNITS_H_INCLUDED_
#define _JPP_UNITS_H_INCLUDED_


#include "jpp_config.h"


#define JPP_UNITS_TEXT  16

/* there is no such number: a kernel or a library lacks it */
#define JPP_NONE        UINT64_MAX


/* Write BYTES to TEXT, which is the result; "-" where they are JPP_NONE. */
const char *jpp_units_bytes(uint64_t bytes, char text[JPP_UNITS_TEXT]);

/* The same of nanoseconds. */
const char *jpp_units_time(uint64_t ns, char text[JPP_UNITS_TEXT]);

/* Both with a sign, for changes. */
const char *jpp_units_change(int64_t bytes, char text[JPP_UNITS_TEXT]);
const char *jpp_units_time_change(int64_t ns, char text[JPP_UNITS_TEXT]);


#define JPP_UNITS_DATE  32

/*
 * For those who parse what people read, too: SECONDS since the epoch as
 * "2026-11-21T04:02:00Z".
 */
const char *jpp_units_date(int64_t seconds, char text[JPP_UNITS_DATE]);

/*
 * Texts for one use, such as an argument of printf(): they live as long as the
 * block around.
 */
#define jpp_bytes(n)     jpp_units_bytes(n, (char[JPP_UNITS_TEXT]) { 0 })
#define jpp_change(n)    jpp_units_change(n, (char[JPP_UNITS_TEXT]) { 0 })
#define jpp_duration(n)  jpp_units_time(n, (char[JPP_UNITS_TEXT]) { 0 })
#define jpp_date(n)      jpp_units_date(n, (char[JPP_UNITS_DATE]) { 0 })

/* The bytes between two samples, 2^LG. */
#define jpp_rate(lg)     jpp_bytes((uint64_t) 1 << jpp_smaller(lg, 63))


/*
 * Append formatted text to the string at TEXT, which has room for SIZE bytes;
 * what is too long is cut.
 */
void jpp_text_add(char *text, size_t size, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));


/* X - Y, or 0. */
static inline uint64_t
jpp_less(uint64_t x, uint64_t y)
{
    return x > y ? x - y : 0;
}


/* VALUE, or 0 where it is JPP_NONE. */
static inline uint64_t
jpp_known(uint64_t value)
{
    return value != JPP_NONE ? value : 0;
}


/* Add VALUE to *SUM; what is not known adds nothing. */
static inline void
jpp_add_known(uint64_t *sum, uint64_t value)
{
    if (value != JPP_NONE) {
        *sum = *sum == JPP_NONE ? value : *sum + value;
    }
}


/* The smaller one, and the larger one. */
static inline uint64_t
jpp_smaller(uint64_t x, uint64_t y)
{
    return x < y ? x : y;
}


static inline uint64_t
jpp_larger(uint64_t x, uint64_t y)
{
    return x > y ? x : y;
}


#endif /* _JPP_UNITS_H_INCLUDED_ */

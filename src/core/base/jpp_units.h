
/*
 * Formats sizes, times and dates for people: "16.0 KiB", "83.0 ms".
 *
 * Below 1024 bytes and 1000 ns they are exact ("512 B", "7 ns"); above, they
 * have one decimal, rounded to the nearest.  The largest unit of a time is the
 * second; a span has two units, from seconds to days.  No doubles, whose point
 * depends on the locale.  Pure functions.
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

/* The same of SECONDS, by two units: "2 h 13 min", "40 s". */
const char *jpp_units_span(uint64_t seconds, char text[JPP_UNITS_TEXT]);

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
#define jpp_span(n)      jpp_units_span(n, (char[JPP_UNITS_TEXT]) { 0 })
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


/*
 * Reads numbers, and the lines of maps, from text.
 *
 * The functions return where the number ends, or NULL if no number is there or
 * it does not fit into 64 bits.  They take no end: the text must be followed
 * by a byte that is not a digit, such as the newline that every parser checks
 * for before it starts.
 */

/* Numbers without digits, or with many. */

static inline const char *
jpp_scan_dec_slow(const char *p, uint64_t *n)
{
    uint64_t     value;
    unsigned     digit;
    const char  *start;

    value = 0;

    for (start = p; (digit = (unsigned) (*p - '0')) <= 9; p++) {

        if (__builtin_mul_overflow(value, 10, &value)
            || __builtin_add_overflow(value, digit, &value))
        {
            return NULL;
        }
    }

    *n = value;

    return p == start ? NULL : p;
}


static inline const char *
jpp_scan_dec(const char *p, uint64_t *n)
{
    uint64_t     value;
    unsigned     digit;
    const char  *start;

    value = 0;

    for (start = p; (digit = (unsigned) (*p - '0')) <= 9; p++) {
        value = value * 10 + digit;
    }

    /* 19 digits always fit */

    if ((size_t) (p - start - 1) >= 19) {
        return jpp_scan_dec_slow(start, n);
    }

    *n = value;

    return p;
}


/* lower case only, as the kernel and jemalloc write it */

static inline const char *
jpp_scan_hex(const char *p, uint64_t *n)
{
    uint64_t     value;
    unsigned     digit;
    const char  *start;

    value = 0;

    for (start = p; /* void */ ; p++) {

        digit = (unsigned) (*p - '0');

        if (digit > 9) {
            digit = (unsigned) (*p - 'a');

            if (digit > 5) {
                break;
            }

            digit += 10;
        }

        if (value >> 60 != 0) {
            return NULL;
        }

        value = value << 4 | digit;
    }

    *n = value;

    return p == start ? NULL : p;
}


/* The value of a hexadecimal digit of either case; -1: not a digit. */
static inline int
jpp_scan_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }

    c = (char) (c | 0x20);

    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}


/*
 * The end of the NUL-terminated LITERAL at P, or NULL if P does not have it.
 */
static inline const char *
jpp_scan_text(const char *p, const char *end, const char *literal)
{
    size_t  len;

    len = strlen(literal);

    if ((size_t) (end - p) < len || memcmp(p, literal, len) != 0) {
        return NULL;
    }

    return p + len;
}


/* Is WORD one of the parts that any of COMMAS divides the LEN bytes at P in? */
bool jpp_scan_has_word(const char *p, size_t len, const char *commas,
    const char *word);


/*
 * Numbers of a line, as FORMAT has them: 'd' is a decimal one and 'x' a
 * hexadecimal one, the next of NUMBERS each; any other byte is itself.  Returns
 * where they end, or NULL.
 */
const char *jpp_scan_numbers(const char *p, const char *format,
    uint64_t *numbers);


/* The unsigned number at P of SIZE bytes: 1, 2, 4 or 8. */
uint64_t jpp_scan_member(const void *p, size_t size);


/* A line of /proc/PID/maps, but for the path. */
typedef struct {
    uint64_t    start;
    uint64_t    limit;             /* above start */
    uint64_t    offset;
    uint64_t    device;
    uint64_t    inode;             /* 0: of no file */
    bool        is_readable;
    bool        is_writable;
    bool        is_executable;
    bool        is_shared;
} jpp_scan_mapping_t;


/*
 * Read M from P, where a newline or NUL follows.  Returns where the path
 * begins, or that end; NULL: it is not such a line.
 */
const char *jpp_scan_mapping(const char *p, jpp_scan_mapping_t *m);


#endif /* _JPP_UNITS_H_INCLUDED_ */

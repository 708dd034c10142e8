
/*
 * Reads numbers, and the lines of maps, from text.
 *
 * The functions return where the number ends, or NULL if no number is there or
 * it does not fit into 64 bits.  They take no end: the text must be followed
 * by a byte that is not a digit, such as the newline that every parser checks
 * for before it starts.
 */


#ifndef _JPP_SCAN_H_INCLUDED_
#define _JPP_SCAN_H_INCLUDED_


#include "jpp_config.h"


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


#endif /* _JPP_SCAN_H_INCLUDED_ */


/*
 * Converts names with arbitrary bytes to printable text.
 *
 * Configurations, clients and symbol tables bring names that are no UTF-8, have
 * control bytes, or characters that turn the direction of a line, so that it
 * reads as something else.  Pure functions.
 */


#ifndef _JPP_UTF8_H_INCLUDED_
#define _JPP_UTF8_H_INCLUDED_


#include "jpp_config.h"


/*
 * Text that is safe to show anywhere: printable ASCII.  Other bytes become
 * question marks, because names and paths are hostile input, and logs,
 * terminals and HTTP headers interpret different bytes.
 */

static inline char
jpp_ascii(char c)
{
    return c >= 0x20 && c < 0x7f ? c : '?';
}


/* All of the string TEXT, in place. */
static inline void
jpp_ascii_clean(char *text)
{
    for ( /* void */ ; *text != '\0'; text++) {
        *text = jpp_ascii(*text);
    }
}


/* The name of the file at PATH, without its folders. */
static inline const char *
jpp_path_name(const char *path)
{
    const char  *slash;

    slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}


/* the most that escaping makes of LEN bytes */
#define JPP_UTF8_ESCAPED(len)  (4 * (len))


/*
 * The length of the UTF-8 character at P, which has LEN > 0 bytes; 0: there is
 * none, or it is a control byte.
 */
size_t jpp_utf8_len(const uint8_t *p, size_t len);

/* The number of the character of N bytes at P. */
uint32_t jpp_utf8_code(const uint8_t *p, size_t n);

/*
 * Write the LEN bytes at DATA to TO; those of what is not UTF-8, of control
 * characters and of characters that cannot be seen become "\x1b", and so does
 * the backslash of a "\x", so that two names never become the same.  Returns
 * the length, which is JPP_UTF8_ESCAPED(LEN) at most.
 */
size_t jpp_utf8_escape(char *to, const char *data, size_t len);

/* the most that shortening to N columns makes */
#define JPP_UTF8_SHORT(n)  (4 * (n) + 4)

/*
 * Write the LEN bytes at DATA to TO as above; of what is wider than MAX columns
 * (4 at least) the middle becomes "...".  Returns the length, which is below
 * JPP_UTF8_SHORT(MAX).
 */
size_t jpp_utf8_short(char *to, const char *data, size_t len, size_t max);

/*
 * The LEN bytes of TEXT are escaped already: the same; how many columns of a
 * terminal they take; and how many of them fit into MAX columns.
 */
size_t jpp_utf8_shorter(char *to, const char *text, size_t len, size_t max);
size_t jpp_utf8_width(const char *text, size_t len);
size_t jpp_utf8_fits(const char *text, size_t len, size_t max);


#endif /* _JPP_UTF8_H_INCLUDED_ */

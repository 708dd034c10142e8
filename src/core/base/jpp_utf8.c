
#include "jpp_utf8.h"


/*
 * The table of well-formed sequences (Unicode, table 3-7): first byte, range of
 * the second; the others are 80..BF.
 */

size_t
jpp_utf8_len(const uint8_t *p, size_t len)
{
    size_t  i, k;

    static const struct {
        uint8_t  first, last, low, high, n;
    } rows[] = {
        { 0x20, 0x7e, 0x00, 0x00, 1 },
        { 0xc2, 0xdf, 0x80, 0xbf, 2 },
        { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
        { 0xe1, 0xec, 0x80, 0xbf, 3 },
        { 0xed, 0xed, 0x80, 0x9f, 3 },
        { 0xee, 0xef, 0x80, 0xbf, 3 },
        { 0xf0, 0xf0, 0x90, 0xbf, 4 },
        { 0xf1, 0xf3, 0x80, 0xbf, 4 },
        { 0xf4, 0xf4, 0x80, 0x8f, 4 }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {

        if (p[0] < rows[i].first || p[0] > rows[i].last) {
            continue;
        }

        if (rows[i].n > len
            || (rows[i].n > 1 && (p[1] < rows[i].low || p[1] > rows[i].high)))
        {
            return 0;
        }

        for (k = 2; k < rows[i].n; k++) {
            if (p[k] < 0x80 || p[k] > 0xbf) {
                return 0;
            }
        }

        return rows[i].n;
    }

    return 0;
}


uint32_t
jpp_utf8_code(const uint8_t *p, size_t n)
{
    size_t    i;
    uint32_t  code;

    code = n == 1 ? p[0] : p[0] & (0x7fu >> n);

    for (i = 1; i < n; i++) {
        code = code << 6 | (p[i] & 0x3f);
    }

    return code;
}


/* characters; the last row ends with 0 */
typedef struct {
    uint32_t  first;
    uint32_t  last;
} jpp_utf8_range_t;


/*
 * Controls (C1), spaces without a width, marks and embeddings of direction,
 * ends of lines and paragraphs, the byte order mark, tags.
 */

static const jpp_utf8_range_t  jpp_utf8_unseen[] = {
    { 0x80, 0x9f },
    { 0xad, 0xad },
    { 0x61c, 0x61c },
    { 0x180e, 0x180e },
    { 0x200b, 0x200f },
    { 0x2028, 0x202e },
    { 0x2060, 0x206f },
    { 0xfe00, 0xfe0f },
    { 0xfeff, 0xfeff },
    { 0xe0000, 0xe0fff },
    { 0, 0 }
};


/*
 * Two columns in a terminal: East Asian scripts and emoji (Unicode's wide and
 * full width).  Marks that combine count as one, so nothing is wider than this.
 */

static const jpp_utf8_range_t  jpp_utf8_wide[] = {
    { 0x1100, 0x115f },
    { 0x231a, 0x232a },
    { 0x23e9, 0x23f3 },
    { 0x25fd, 0x27bf },
    { 0x2b1b, 0x2b55 },
    { 0x2e80, 0xa4cf },
    { 0xa960, 0xa97f },
    { 0xac00, 0xd7a3 },
    { 0xf900, 0xfaff },
    { 0xfe10, 0xfe6f },
    { 0xff00, 0xff60 },
    { 0xffe0, 0xffe6 },
    { 0x16fe0, 0x1b2ff },
    { 0x1f000, 0x1faff },
    { 0x20000, 0x3fffd },
    { 0, 0 }
};


/* Is the character of N bytes at P in one of the ranges from RANGE on? */

static bool
jpp_utf8_is_in(const jpp_utf8_range_t *range, const uint8_t *p, size_t n)
{
    uint32_t  code;

    code = jpp_utf8_code(p, n);

    for ( /* void */ ; range->last != 0; range++) {
        if (code >= range->first && code <= range->last) {
            return true;
        }
    }

    return false;
}


/*
 * Write what is at P to TO, which may be NULL, and advance it: a character, or
 * a byte, which is escaped unless this is text already; add its width to
 * *COLUMNS.  Returns how many bytes of P that was.
 */

static size_t
jpp_utf8_piece(char **to, const uint8_t *p, const uint8_t *end, bool is_text,
    size_t *columns)
{
    size_t  n;

    static const char  hex[] = "0123456789abcdef";

    n = jpp_utf8_len(p, (size_t) (end - p));

    /* what is written like an escape is escaped itself */

    if (n != 0
        && (is_text
            || (!jpp_utf8_is_in(jpp_utf8_unseen, p, n)
                && !(p[0] == '\\' && end - p > 1 && p[1] == 'x'))))
    {
        *columns += jpp_utf8_is_in(jpp_utf8_wide, p, n) ? 2 : 1;

        if (to != NULL) {
            memcpy(*to, p, n);
            *to += n;
        }

        return n;
    }

    *columns += 4;

    if (to != NULL) {
        *(*to)++ = '\\';
        *(*to)++ = 'x';
        *(*to)++ = hex[*p >> 4];
        *(*to)++ = hex[*p & 15];
    }

    return 1;
}


/* Write LEN bytes at DATA to TO, and advance it; returns their width. */

static size_t
jpp_utf8_put(char **to, const char *data, size_t len, bool is_text)
{
    size_t          columns;
    const uint8_t  *p, *end;

    p = (const uint8_t *) data;
    end = p + len;
    columns = 0;

    while (p < end) {
        p += jpp_utf8_piece(to, p, end, is_text, &columns);
    }

    return columns;
}


size_t
jpp_utf8_escape(char *to, const char *data, size_t len)
{
    char  *from;

    from = to;
    (void) jpp_utf8_put(&to, data, len, false);

    return (size_t) (to - from);
}


size_t
jpp_utf8_width(const char *text, size_t len)
{
    return jpp_utf8_put(NULL, text, len, true);
}


/* How many bytes at DATA fit into MAX columns. */

static size_t
jpp_utf8_head(const char *data, size_t len, size_t max, bool is_text)
{
    size_t          n, columns;
    const uint8_t  *p, *end;

    p = (const uint8_t *) data;
    end = p + len;
    columns = 0;

    for ( /* void */ ; p < end; p += n) {
        n = jpp_utf8_piece(NULL, p, end, is_text, &columns);

        if (columns > max) {
            break;
        }
    }

    return (size_t) (p - (const uint8_t *) data);
}


size_t
jpp_utf8_fits(const char *text, size_t len, size_t max)
{
    return jpp_utf8_head(text, len, max, true);
}


/* The end of a name tells more than its middle. */

static size_t
jpp_utf8_cut(char *to, const char *data, size_t len, size_t max, bool is_text)
{
    char    *from;
    size_t   head, width, columns;

    from = to;
    width = jpp_utf8_put(NULL, data, len, is_text);

    if (width > max) {
        head = jpp_utf8_head(data, len, (max - 3) / 2, is_text);
        columns = jpp_utf8_put(&to, data, head, is_text);
        max -= columns + 3;
        width -= columns;

        memcpy(to, "...", 3);
        to += 3;

        while (width > max) {
            columns = 0;
            head += jpp_utf8_piece(NULL, (const uint8_t *) data + head,
                                   (const uint8_t *) data + len, is_text,
                                   &columns);
            width -= columns;
        }

        data += head;
        len -= head;
    }

    (void) jpp_utf8_put(&to, data, len, is_text);

    return (size_t) (to - from);
}


size_t
jpp_utf8_short(char *to, const char *data, size_t len, size_t max)
{
    return jpp_utf8_cut(to, data, len, max, false);
}


size_t
jpp_utf8_shorter(char *to, const char *text, size_t len, size_t max)
{
    return jpp_utf8_cut(to, text, len, max, true);
}

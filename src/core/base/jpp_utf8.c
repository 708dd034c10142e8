
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


/*
 * Not controls (C1), spaces without a width, marks and embeddings of direction,
 * ends of lines and paragraphs, the byte order mark, tags.
 */

static bool
jpp_utf8_is_seen(const uint8_t *p, size_t n)
{
    size_t    i;
    uint32_t  code;

    static const struct {
        uint32_t  first, last;
    } unseen[] = {
        { 0x80, 0x9f },
        { 0xad, 0xad },
        { 0x61c, 0x61c },
        { 0x180e, 0x180e },
        { 0x200b, 0x200f },
        { 0x2028, 0x202e },
        { 0x2060, 0x206f },
        { 0xfe00, 0xfe0f },
        { 0xfeff, 0xfeff },
        { 0xe0000, 0xe0fff }
    };

    code = jpp_utf8_code(p, n);

    for (i = 0; i < sizeof(unseen) / sizeof(unseen[0]); i++) {
        if (code >= unseen[i].first && code <= unseen[i].last) {
            return false;
        }
    }

    return true;
}


/* What is written like an escape is escaped itself. */

static bool
jpp_utf8_is_escape(const uint8_t *p, const uint8_t *end)
{
    return p[0] == '\\' && end - p > 1 && p[1] == 'x';
}


/*
 * Write what is at P, a character or a byte that is escaped, to TO, which may
 * be NULL; *COLUMNS is its width.  Returns how many bytes of P that was.
 */

static size_t
jpp_utf8_piece(char *to, const uint8_t *p, const uint8_t *end, size_t *columns)
{
    size_t  n;

    static const char  hex[] = "0123456789abcdef";

    n = jpp_utf8_len(p, (size_t) (end - p));

    if (n != 0 && jpp_utf8_is_seen(p, n) && !jpp_utf8_is_escape(p, end)) {
        *columns = 1;

        if (to != NULL) {
            memcpy(to, p, n);
        }

        return n;
    }

    *columns = 4;

    if (to != NULL) {
        *to++ = '\\';
        *to++ = 'x';
        *to++ = hex[*p >> 4];
        *to++ = hex[*p & 15];
    }

    return 1;
}


size_t
jpp_utf8_escape(char *to, const char *data, size_t len)
{
    char           *from;
    size_t          n, columns;
    const uint8_t  *p, *end;

    from = to;
    p = (const uint8_t *) data;

    for (end = p + len; p < end; p += n) {
        n = jpp_utf8_piece(to, p, end, &columns);
        to += columns == 1 ? n : columns;
    }

    return (size_t) (to - from);
}


size_t
jpp_utf8_short(char *to, const char *data, size_t len, size_t max)
{
    size_t          n, width, columns, head;
    const uint8_t  *p, *start, *end;

    start = (const uint8_t *) data;
    end = start + len;

    for (p = start, width = 0; p < end; p += n) {
        n = jpp_utf8_piece(NULL, p, end, &columns);
        width += columns;
    }

    if (width <= max) {
        return jpp_utf8_escape(to, data, len);
    }

    /* the end of a name tells more than its middle */

    for (p = start, head = 0; /* void */ ; p += n) {
        n = jpp_utf8_piece(NULL, p, end, &columns);

        if (head + columns > (max - 3) / 2) {
            break;
        }

        head += columns;
        width -= columns;
    }

    len = jpp_utf8_escape(to, data, (size_t) (p - start));

    memcpy(to + len, "...", 3);
    len += 3;

    while (width > max - 3 - head) {
        p += jpp_utf8_piece(NULL, p, end, &columns);
        width -= columns;
    }

    return len + jpp_utf8_escape(to + len, (const char *) p,
                                 (size_t) (end - p));
}

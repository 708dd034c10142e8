
/* Splits a query string, or a form's body, into pairs. */


#include "jpp_args.h"


/* digits of the largest number of 32 bits */
#define JPP_QUERY_DIGITS  (sizeof("4294967295") - 1)


jpp_code_t
jpp_query_init(jpp_query_t *query, const char *text, size_t len,
    jpp_err_t *err)
{
    query->has_unread = false;
    query->pos = NULL;
    query->end = NULL;

    if (len > JPP_MAX_QUERY) {
        return jpp_err_set(err, JPP_ERR_ARG,
                           "the query is longer than %d bytes", JPP_MAX_QUERY);
    }

    if (len != 0) {
        query->pos = text;
        query->end = text + len;
    }

    return JPP_OK;
}


static bool
jpp_query_decode(const char *from, size_t len, char to[JPP_MAX_VALUE],
    size_t *to_len)
{
    int     high, low;
    size_t  i, n;

    for (i = 0, n = 0; i < len; i++, n++) {

        if (n == JPP_MAX_VALUE) {
            return false;
        }

        if (from[i] != '%') {
            to[n] = from[i] == '+' ? ' ' : from[i];
            continue;
        }

        if (len - i < 3) {
            return false;
        }

        high = jpp_scan_digit(from[i + 1]);
        low = jpp_scan_digit(from[i + 2]);

        if (high < 0 || low < 0) {
            return false;
        }

        to[n] = (char) (high << 4 | low);
        i += 2;
    }

    *to_len = n;

    return true;
}


bool
jpp_query_next(jpp_query_t *query)
{
    const char  *pair, *end, *equals, *key_end;

    while (query->pos < query->end) {

        pair = query->pos;
        end = memchr(pair, '&', (size_t) (query->end - pair));

        /* no address lies past the end */

        query->pos = end != NULL ? end + 1 : query->end;

        if (end == NULL) {
            end = query->end;
        }

        equals = memchr(pair, '=', (size_t) (end - pair));
        key_end = equals != NULL ? equals : end;

        if (!jpp_query_decode(pair, (size_t) (key_end - pair), query->key,
                              &query->key_len))
        {
            query->has_unread = true;
            continue;
        }

        if (equals == NULL
            || !jpp_query_decode(equals + 1, (size_t) (end - equals - 1),
                                 query->value, &query->value_len))
        {
            query->value_len = 0;
        }

        return true;
    }

    return false;
}


bool
jpp_query_number(const char *value, size_t len, uint32_t *number)
{
    size_t    i;
    uint64_t  n;

    if (len == 0 || len > JPP_QUERY_DIGITS) {
        return false;
    }

    n = 0;

    for (i = 0; i < len; i++) {

        if (value[i] < '0' || value[i] > '9') {
            return false;
        }

        n = n * 10 + (uint64_t) (value[i] - '0');
    }

    *number = (uint32_t) n;

    return n <= UINT32_MAX;
}


/*
 *     accept := entry ("," entry)*
 *     entry  := type "/" subtype (";" name "=" value)*       blanks anywhere
 *
 * Of the parameters only q matters, which is 0 to 1 with three decimals.
 */


typedef struct {
    const char  *p;
    const char  *end;
} jpp_accept_text_t;


/* a quality is one of up to 1000 */
#define JPP_ACCEPT_BITS  10


/* what stands before AT, without blanks around it; TEXT is the rest */

static jpp_accept_text_t
jpp_accept_cut(jpp_accept_text_t *text, char at)
{
    const char         *p;
    jpp_accept_text_t   piece;

    p = memchr(text->p, at, (size_t) (text->end - text->p));

    piece.p = text->p;
    piece.end = p != NULL ? p : text->end;

    text->p = p != NULL ? p + 1 : text->end;

    while (piece.p < piece.end && (*piece.p == ' ' || *piece.p == '\t')) {
        piece.p++;
    }

    while (piece.end > piece.p
           && (piece.end[-1] == ' ' || piece.end[-1] == '\t'))
    {
        piece.end--;
    }

    return piece;
}


/* 0: not; the higher the better */

static unsigned
jpp_accept_fits(jpp_accept_text_t range, const char *type)
{
    size_t  len, group;

    len = (size_t) (range.end - range.p);
    group = strcspn(type, "/") + 1;

    if (len == strlen(type) && strncasecmp(range.p, type, len) == 0) {
        return 3;
    }

    if (len == group + 1 && range.p[group] == '*'
        && strncasecmp(range.p, type, group) == 0)
    {
        return 2;
    }

    return len == 3 && memcmp(range.p, "*/*", 3) == 0;
}


static unsigned
jpp_accept_number(jpp_accept_text_t text)
{
    unsigned     quality, weight;
    const char  *p;

    p = text.p;

    if (p == text.end || (*p != '0' && *p != '1')) {
        return 0;
    }

    quality = *p++ == '1' ? 1000 : 0;

    if (p < text.end && *p++ != '.') {
        return 0;
    }

    for (weight = 100; p < text.end && weight > 0; p++, weight /= 10) {

        if (*p < '0' || *p > '9') {
            return 0;
        }

        quality += (unsigned) (*p - '0') * weight;
    }

    return quality <= 1000 && p == text.end ? quality : 0;
}


static unsigned
jpp_accept_quality(jpp_accept_text_t parameters)
{
    jpp_accept_text_t  value, name;

    while (parameters.p < parameters.end) {
        value = jpp_accept_cut(&parameters, ';');
        name = jpp_accept_cut(&value, '=');

        if (name.end - name.p == 1 && (*name.p | 0x20) == 'q') {
            return jpp_accept_number(jpp_accept_cut(&value, ';'));
        }
    }

    return 1000;
}


/* The quality of the range that fits best, and of two alike the better one. */

unsigned
jpp_accept(const char *accept, size_t len, const char *type)
{
    unsigned           fits, quality, best;
    jpp_accept_text_t  text, entry, range;

    text.p = accept;
    text.end = accept + len;

    best = 0;

    while (text.p < text.end) {
        entry = jpp_accept_cut(&text, ',');
        range = jpp_accept_cut(&entry, ';');

        fits = jpp_accept_fits(range, type);
        quality = jpp_accept_quality(entry);

        if (fits != 0) {
            best = (unsigned) jpp_larger(best, fits << JPP_ACCEPT_BITS
                                               | quality);
        }
    }

    return best & ((1u << JPP_ACCEPT_BITS) - 1);
}

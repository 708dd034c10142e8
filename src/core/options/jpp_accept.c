
/*
 *     accept := entry ("," entry)*
 *     entry  := type "/" subtype (";" name "=" value)*       blanks anywhere
 *
 * Of the parameters only q matters, which is 0 to 1 with three decimals.
 */


#include <string.h>
#include <strings.h>

#include "jpp_accept.h"


typedef struct {
    const char  *p;
    const char  *end;
} jpp_accept_text_t;


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


unsigned
jpp_accept(const char *accept, size_t len, const char *type)
{
    unsigned           fits, best, quality, q;
    jpp_accept_text_t  text, entry, range;

    text.p = accept;
    text.end = accept + len;

    best = 0;
    quality = 0;

    while (text.p < text.end) {
        entry = jpp_accept_cut(&text, ',');
        range = jpp_accept_cut(&entry, ';');

        fits = jpp_accept_fits(range, type);
        q = jpp_accept_quality(entry);

        if (fits > best || (fits == best && fits != 0 && q > quality)) {
            best = fits;
            quality = q;
        }
    }

    return quality;
}


/* An answer of HTTP/1: where it ends, and whether it is 2xx. */


#include "jpp_load.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>


static jpp_load_step_t jpp_load_head(jpp_load_connection_t *c);
static jpp_load_step_t jpp_load_body(jpp_load_connection_t *c, const char *p,
    size_t len);
static jpp_load_step_t jpp_load_chunked(jpp_load_connection_t *c,
    const char *p, size_t len);


jpp_load_step_t
jpp_load_answer(jpp_load_connection_t *c, const char *p, size_t len)
{
    char             *end;
    size_t            n, before;
    jpp_load_step_t   step;

    if (c->state == JPP_LOAD_IN_BODY) {
        return jpp_load_body(c, p, len);
    }

    n = sizeof(c->head) - c->head_len;
    n = len < n ? len : n;
    before = c->head_len;

    memcpy(c->head + c->head_len, p, n);
    c->head_len += n;

    end = memmem(c->head, c->head_len, "\r\n\r\n", 4);

    if (end == NULL) {
        return c->head_len == sizeof(c->head) ? JPP_LOAD_BAD : JPP_LOAD_MORE;
    }

    c->head_len = (size_t) (end + 4 - c->head);
    end[2] = '\0';

    step = jpp_load_head(c);

    if (step != JPP_LOAD_MORE) {
        return step;
    }

    c->state = JPP_LOAD_IN_BODY;
    n = c->head_len - before;

    return jpp_load_body(c, p + n, len - n);
}


/* The head ends with the line end of its last line, and a zero. */

static jpp_load_step_t
jpp_load_head(jpp_load_connection_t *c)
{
    int          minor, status;
    char        *end;
    const char  *p, *value;

    if (sscanf(c->head, "HTTP/1.%1d %3d", &minor, &status) != 2
        || status < 200)
    {
        return JPP_LOAD_BAD;
    }

    c->is_good = (status / 100 == 2);
    c->closes = (minor == 0);
    c->length = JPP_LOAD_UNTIL_CLOSE;
    c->left = 0;
    c->is_trailer = false;
    c->is_size = true;
    c->line_len = 0;
    c->size = 0;

    for (p = strchr(c->head, '\n') + 1; *p != '\0'; p = strchr(p, '\n') + 1) {

        value = p + strcspn(p, ":\n");

        if (*value != ':') {
            return JPP_LOAD_BAD;
        }

        value++;
        value += strspn(value, " \t");

        if (strncasecmp(p, "Content-Length:", 15) == 0) {
            c->length = JPP_LOAD_LENGTH;
            c->left = strtoull(value, &end, 10);

            if (end == value) {
                return JPP_LOAD_BAD;
            }

        } else if (strncasecmp(p, "Transfer-Encoding: chunked", 26) == 0) {
            c->length = JPP_LOAD_CHUNKED;

        } else if (strncasecmp(p, "Connection:", 11) == 0) {
            c->closes = (strncasecmp(value, "close", 5) == 0);
        }
    }

    return (status == 204 || status == 304) ? JPP_LOAD_DONE : JPP_LOAD_MORE;
}


static jpp_load_step_t
jpp_load_body(jpp_load_connection_t *c, const char *p, size_t len)
{
    switch (c->length) {

    case JPP_LOAD_LENGTH:
        if (len > c->left) {
            return JPP_LOAD_BAD;
        }

        c->left -= len;
        return c->left == 0 ? JPP_LOAD_DONE : JPP_LOAD_MORE;

    case JPP_LOAD_CHUNKED:
        return jpp_load_chunked(c, p, len);

    case JPP_LOAD_UNTIL_CLOSE:
        break;
    }

    return JPP_LOAD_MORE;
}


/* Lines, and what the size in a line says: so many bytes and CRLF follow. */

static jpp_load_step_t
jpp_load_chunked(jpp_load_connection_t *c, const char *p, size_t len)
{
    size_t             n;
    const char        *last, *digit;
    static const char  digits[] = "0123456789abcdef";

    for (last = p + len; p < last; p += n) {

        if (c->left > 0) {
            n = (size_t) (last - p);
            n = n < c->left ? n : (size_t) c->left;
            c->left -= n;
            continue;
        }

        n = 1;

        if (*p != '\n') {
            c->line_len += (*p != '\r');
            digit = memchr(digits, tolower((unsigned char) *p), 16);
            c->is_size = (c->is_size && digit != NULL);

            if (c->is_size) {
                c->size = c->size * 16 + (uint64_t) (digit - digits);
            }

            if (c->size >> 40) {
                return JPP_LOAD_BAD;
            }

            continue;
        }

        if (c->is_trailer) {
            if (c->line_len == 0) {
                return JPP_LOAD_DONE;
            }

        } else if (c->line_len == 0) {
            return JPP_LOAD_BAD;

        } else if (c->size > 0) {
            c->left = c->size + 2;
            c->size = 0;
            c->is_size = true;

        } else {
            c->is_trailer = true;
        }

        c->line_len = 0;
    }

    return JPP_LOAD_MORE;
}

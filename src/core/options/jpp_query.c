
#include "jpp_query.h"


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

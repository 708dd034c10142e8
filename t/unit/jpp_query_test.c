
#include "jpp_test_main.h"
#include "jpp_args.h"
#include "jpp_test_golden.h"


/* The pairs as "[key|value][key|value]". */

static const char *
jpp_query_text(const char *text, size_t len)
{
    char         *copy;
    size_t        n;
    jpp_err_t     err;
    jpp_query_t   query;

    static char  out[4096];

    /* with nothing behind it, so that a sanitizer sees a read beyond its end */

    copy = malloc(len != 0 ? len : 1);

    if (len != 0) {
        memcpy(copy, text, len);
    }

    n = 0;
    out[0] = '\0';

    if (jpp_query_init(&query, text != NULL ? copy : NULL, len, &err)
        != JPP_OK)
    {
        free(copy);
        return err.text[0] != '\0' ? "refused" : "refused silently";
    }

    while (jpp_query_next(&query)) {
        n += (size_t) snprintf(out + n, sizeof(out) - n, "[%.*s|%.*s]",
                               (int) query.key_len, query.key,
                               (int) query.value_len, query.value);
    }

    free(copy);

    return out;
}


JPP_TEST(jpp_test_pairs)
{
    size_t       i;
    jpp_err_t    err;
    jpp_query_t  query;

    static const char  *rows[] = {
        "", "a=1", "a=1&b=2", "a", "a=", "a=1=2", "&", "=", "&&a=1&&",
        "a+b=c+d", "%61%3d=%26%3D", "a%=1&b=2", "%zz=1&%6=1&%6",
        "a=%&b=%6&c=%6g&d=%g6&e=5", "a=%7a%7A%4F", "a=\xff%ff", "a=%0a%01%40"
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_note("\"%s\" is \"%s\"", rows[i],
                 jpp_query_text(rows[i], strlen(rows[i])));
    }

    jpp_shows_notes("queries, and their pairs");

    jpp_is_str(jpp_query_text("a=1&b=2", 5), "[a|1][b|]", "it ends there");
    jpp_query_init(&query, "a=%61", 4, &err);
    jpp_ok(jpp_query_next(&query) && query.value_len == 0,
           "in what is encoded too");
    jpp_ok(!query.has_unread, "every pair was read");
    jpp_query_init(&query, "a=1&%zz=1", 9, &err);
    jpp_ok(jpp_query_next(&query) && !query.has_unread
           && !jpp_query_next(&query) && query.has_unread,
           "the query knows that it has skipped a pair");
    jpp_is_str(jpp_query_text(NULL, 0), "", "no bytes, and no address");
}


JPP_TEST(jpp_test_limits)
{
    char         *text;
    jpp_err_t     err;
    jpp_query_t   query;

    text = malloc(JPP_MAX_QUERY + 1);
    memset(text, 'a', JPP_MAX_QUERY + 1);
    text[JPP_MAX_VALUE] = '=';

    jpp_is_u64(jpp_query_init(&query, text, JPP_MAX_VALUE * 2 + 1, &err),
               JPP_OK, "a key and a value");
    jpp_ok(jpp_query_next(&query) && query.key_len == JPP_MAX_VALUE
           && query.value_len == JPP_MAX_VALUE && !jpp_query_next(&query),
           "as long as both may be, and no other pair");

    jpp_query_init(&query, text, JPP_MAX_VALUE * 2 + 2, &err);
    jpp_ok(jpp_query_next(&query) && query.value_len == 0,
           "one byte more is an empty value");

    text[JPP_MAX_VALUE] = 'a';
    text[JPP_MAX_VALUE + 1] = '=';
    jpp_query_init(&query, text, JPP_MAX_VALUE * 2, &err);
    jpp_ok(!jpp_query_next(&query), "one byte more is no key");

    jpp_is_u64(jpp_query_init(&query, text, JPP_MAX_QUERY, &err), JPP_OK,
               "as long as a query may be");
    jpp_is_u64(jpp_query_init(&query, text, JPP_MAX_QUERY + 1, &err),
               JPP_ERR_ARG, "one byte more");
    jpp_is_str(err.text, "the query is longer than 16384 bytes", "why");
    jpp_ok(!jpp_query_next(&query), "it has no pairs");

    free(text);
}


JPP_TEST(jpp_test_numbers)
{
    bool      is_number;
    size_t    i;
    uint32_t  n;

    /* -1: none */

    static const char  *rows[] = {
        "0", "7", "014", "0000000030", "4294967295", "4294967296",
        "9999999999", "00000000001", "", "-1", "+1", " 1", "1 ", "0x1", "1e0",
        "1.0", "/", ":", "\xd9\xa5"
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        n = 0;
        is_number = jpp_query_number(rows[i], strlen(rows[i]), &n);
        jpp_note("\"%s\": %" PRId64, rows[i], is_number ? (int64_t) n : -1);
    }

    jpp_shows_notes("numbers");

    jpp_ok(!jpp_query_number("1\0", 2, &n), "a NUL is no digit");
    jpp_ok(jpp_query_number("123", 2, &n) && n == 12, "it ends there");
}

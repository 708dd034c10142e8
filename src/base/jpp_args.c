
/*
 *     query := [ pair *( "&" pair ) ]
 *     pair  := key [ "=" value ]
 *
 * Keys and values are percent-encoded, and a plus sign is a blank.
 */


#include <string.h>

#include "jpp_args.h"
#include "jpp_limits.h"


#define JPP_ARG_WORDS  5


typedef struct {
    const char  *key;
    const char  *words[JPP_ARG_WORDS];
    uint32_t     value;                 /* the default */
    const char  *allowed;
} jpp_arg_row_t;


static bool jpp_args_decode(const char *from, size_t len,
    char to[JPP_MAX_VALUE], size_t *to_len);
static int jpp_args_hex(char c);


static const jpp_arg_row_t  jpp_arg_rows[JPP_ARGS] = {
    { "format",    { "pprof", "text", "folded", "top" }, JPP_FORMAT_PPROF,
      "format must be pprof, text, folded or top" },

    { "debug",     { "0", "1" }, 0,
      "debug must be 0 (pprof) or 1 (text)" },

    { "type",      { "alloc_objects", "alloc_space", "inuse_objects",
                     "inuse_space" }, 3,
      "type must be inuse_space, inuse_objects, alloc_space or "
      "alloc_objects" },

    { "symbolize", { "0", "1" }, 1,
      "symbolize must be 0 or 1" },

    { "gc",        { "0", "1" }, 0,
      "gc must be 0 or 1 (and has no effect here)" }
};


void
jpp_args_init(jpp_args_t *args)
{
    size_t  i;

    for (i = 0; i < JPP_ARGS; i++) {
        args->values[i] = jpp_arg_rows[i].value;
        args->is_set[i] = false;
    }
}


jpp_code_t
jpp_args_set(jpp_args_t *args, const char *key, size_t len, const char *value,
    size_t value_len, bool *is_known, jpp_err_t *err)
{
    size_t                i, k;
    const jpp_arg_row_t  *row;

    *is_known = false;

    for (i = 0; i < JPP_ARGS; i++) {
        row = &jpp_arg_rows[i];

        if (strlen(row->key) != len || memcmp(row->key, key, len) != 0) {
            continue;
        }

        *is_known = true;

        if (args->is_set[i]) {
            return JPP_OK;
        }

        for (k = 0; k < JPP_ARG_WORDS && row->words[k] != NULL; k++) {

            if (strlen(row->words[k]) == value_len
                && memcmp(row->words[k], value, value_len) == 0)
            {
                args->values[i] = (uint32_t) k;
                args->is_set[i] = true;
                return JPP_OK;
            }
        }

        return jpp_err_set(err, JPP_ERR_ARG, "%s", row->allowed);
    }

    return JPP_OK;
}


jpp_code_t
jpp_args_query(jpp_args_t *args, const char *query, size_t len,
    jpp_err_t *err)
{
    char         key[JPP_MAX_VALUE], value[JPP_MAX_VALUE];
    bool         is_known;
    size_t       key_len, value_len;
    jpp_code_t   rc;
    const char  *p, *end, *pair_end, *equals;

    if (len > JPP_MAX_QUERY) {
        return jpp_err_set(err, JPP_ERR_ARG,
                           "the query is longer than %d bytes", JPP_MAX_QUERY);
    }

    end = query + len;

    for (p = query; p < end; p = pair_end + 1) {

        pair_end = memchr(p, '&', (size_t) (end - p));

        if (pair_end == NULL) {
            pair_end = end;
        }

        equals = memchr(p, '=', (size_t) (pair_end - p));

        /* what cannot be a key of ours is unknown, and ignored */

        if (!jpp_args_decode(p, (size_t) ((equals != NULL ? equals : pair_end)
                                          - p),
                             key, &key_len))
        {
            continue;
        }

        value_len = 0;

        /* what cannot be a value becomes one that no list has */

        if (equals != NULL
            && !jpp_args_decode(equals + 1, (size_t) (pair_end - equals - 1),
                                value, &value_len))
        {
            value_len = 0;
        }

        rc = jpp_args_set(args, key, key_len, value, value_len, &is_known,
                          err);
        if (rc != JPP_OK) {
            return rc;
        }
    }

    return JPP_OK;
}


jpp_format_t
jpp_args_format(const jpp_args_t *args)
{
    if (!args->is_set[JPP_ARG_FORMAT] && args->values[JPP_ARG_DEBUG] == 1) {
        return JPP_FORMAT_TEXT;
    }

    return (jpp_format_t) args->values[JPP_ARG_FORMAT];
}


static bool
jpp_args_decode(const char *from, size_t len, char to[JPP_MAX_VALUE],
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

        high = jpp_args_hex(from[i + 1]);
        low = jpp_args_hex(from[i + 2]);

        if (high < 0 || low < 0) {
            return false;
        }

        to[n] = (char) (high << 4 | low);
        i += 2;
    }

    *to_len = n;

    return true;
}


static int
jpp_args_hex(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }

    c = (char) (c | 0x20);

    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

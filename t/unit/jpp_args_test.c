
#include <stdlib.h>

#include "jpp_args.h"
#include "jpp_limits.h"
#include "jpp_test.h"


typedef struct {
    const char     *query;
    jpp_format_t    format;
    uint32_t        type;
    uint32_t        symbolize;
} jpp_args_good_t;


static const jpp_args_good_t  good[] = {
    { "", JPP_FORMAT_PPROF, 3, 1 },
    { "format=pprof", JPP_FORMAT_PPROF, 3, 1 },
    { "format=text", JPP_FORMAT_TEXT, 3, 1 },
    { "format=folded&type=inuse_objects", JPP_FORMAT_FOLDED, 2, 1 },
    { "type=alloc_space&format=top&symbolize=0", JPP_FORMAT_TOP, 1, 0 },
    { "type=alloc_objects", JPP_FORMAT_PPROF, 0, 1 },
    { "debug=1", JPP_FORMAT_TEXT, 3, 1 },
    { "debug=0", JPP_FORMAT_PPROF, 3, 1 },
    { "debug=1&format=top", JPP_FORMAT_TOP, 3, 1 },
    { "format=pprof&debug=1", JPP_FORMAT_PPROF, 3, 1 },
    { "gc=1&debug=0", JPP_FORMAT_PPROF, 3, 1 },
    { "format=top&format=text", JPP_FORMAT_TOP, 3, 1 },
    { "format=top&format=nonsense", JPP_FORMAT_TOP, 3, 1 },
    { "unknown=1&format=top&another", JPP_FORMAT_TOP, 3, 1 },
    { "&&&format=top&&", JPP_FORMAT_TOP, 3, 1 },
    { "=top&=&format=top", JPP_FORMAT_TOP, 3, 1 },
    { "%66orm%61t=t%6fp", JPP_FORMAT_TOP, 3, 1 },
    { "%66orm%61t=t%6Fp", JPP_FORMAT_TOP, 3, 1 },
    { "%zz=1&format%=1&format%6=1&format=top", JPP_FORMAT_TOP, 3, 1 },
    { "Format=text&FORMAT=text", JPP_FORMAT_PPROF, 3, 1 },
    { "forma=text&formats=text", JPP_FORMAT_PPROF, 3, 1 }
};


static const char  *bad[] = {
    "format", "format=", "format=TOP", "format=top ", "format=+top",
    "format=top%00", "format=%74%6", "format=%", "format=%zz", "format=pb",
    "format==top", "type=", "type=space", "type=inuse_space;", "debug=2",
    "debug=-1", "debug=01", "debug=1e0", "debug=0x1", "debug= 1",
    "symbolize=yes", "symbolize=2", "symbolize=\xff", "gc=2",
    "a=b&format=svg", "format=svg&format=top"
};


int
main(void)
{
    char        *query;
    bool         is_known;
    size_t       i;
    jpp_err_t    err;
    jpp_args_t   args;
    jpp_code_t   rc;

    for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {

        jpp_args_init(&args);
        rc = jpp_args_query(&args, good[i].query, strlen(good[i].query), &err);

        jpp_is_u64(rc, JPP_OK, "\"%s\"", good[i].query);
        jpp_is_u64(jpp_args_format(&args), good[i].format, "its format");
        jpp_is_u64(args.values[JPP_ARG_TYPE], good[i].type, "its type");
        jpp_is_u64(args.values[JPP_ARG_SYMBOLIZE], good[i].symbolize,
                   "its symbolize");
    }

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {

        jpp_args_init(&args);
        rc = jpp_args_query(&args, bad[i], strlen(bad[i]), &err);

        jpp_is_u64(rc, JPP_ERR_ARG, "bad %zu", i);
        jpp_ok(strstr(err.text, " must be ") != NULL, "%s", err.text);
    }

    query = malloc(JPP_MAX_QUERY + 1);
    memset(query, 'a', JPP_MAX_QUERY + 1);

    jpp_args_init(&args);
    jpp_is_u64(jpp_args_query(&args, query, JPP_MAX_QUERY, &err), JPP_OK,
               "an unknown key, as long as a query may be");
    jpp_is_u64(jpp_args_query(&args, query, JPP_MAX_QUERY + 1, &err),
               JPP_ERR_ARG, "one byte more: %s", err.text);

    memcpy(query, "format=", 7);
    jpp_is_u64(jpp_args_query(&args, query, 7 + JPP_MAX_VALUE, &err),
               JPP_ERR_ARG, "a value as long as values may be");
    jpp_is_u64(jpp_args_query(&args, query, 8 + JPP_MAX_VALUE, &err),
               JPP_ERR_ARG, "one byte more");
    jpp_is_u64(jpp_args_query(&args, query, JPP_MAX_QUERY, &err),
               JPP_ERR_ARG, "and much more");
    free(query);

    jpp_args_init(&args);
    rc = jpp_args_set(&args, "color", 5, "red", 3, &is_known, &err);
    jpp_ok(rc == JPP_OK && !is_known, "an unknown key is told");
    rc = jpp_args_set(&args, "type", 4, "inuse_objects", 13, &is_known, &err);
    jpp_ok(rc == JPP_OK && is_known, "a known key is told");
    rc = jpp_args_set(&args, "debug", 5, "7", 1, &is_known, NULL);
    jpp_ok(rc == JPP_ERR_ARG && is_known, "nobody need hear why");

    return jpp_done();
}

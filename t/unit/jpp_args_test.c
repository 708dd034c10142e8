
#include "jpp_test_main.h"
#include "jpp_report.h"
#include "jpp_limits.h"
#include "jpp_test_golden.h"


typedef struct {
    const char     *query;
    const char     *format;
    uint32_t        type;
    uint32_t        symbolize;
} jpp_args_good_t;


static const jpp_args_good_t  good[] = {
    { "", "pprof", 3, 1 },
    { "format=pprof", "pprof", 3, 1 },
    { "format=text", "text", 3, 1 },
    { "format=folded&type=inuse_objects", "folded", 2, 1 },
    { "type=alloc_space&format=top&symbolize=0", "top", 1, 0 },
    { "type=alloc_objects", "pprof", 0, 1 },
    { "debug=1", "text", 3, 1 },
    { "debug=0", "pprof", 3, 1 },
    { "debug=1&format=top", "top", 3, 1 },
    { "format=pprof&debug=1", "pprof", 3, 1 },
    { "gc=1&debug=0", "pprof", 3, 1 },
    { "format=top&format=text", "top", 3, 1 },
    { "format=top&format=nonsense", "top", 3, 1 },
    { "unknown=1&format=top&another", "top", 3, 1 },
    { "&&&format=top&&", "top", 3, 1 },
    { "=top&=&format=top", "top", 3, 1 },
    { "%66orm%61t=t%6fp", "top", 3, 1 },
    { "%66orm%61t=t%6Fp", "top", 3, 1 },
    { "%zz=1&format%=1&format%6=1&format=top", "top", 3, 1 },
    { "Format=text&FORMAT=text", "pprof", 3, 1 },
    { "forma=text&formats=text", "pprof", 3, 1 },
    { "format=jemalloc&debug=1", "jemalloc", 3, 1 }
};


static const struct {
    jpp_arg_t       key;
    const char     *query;
    uint32_t        value;
    uint64_t        worker;
} numbers[] = {
    { JPP_ARG_SECONDS, "", 0, 0 },
    { JPP_ARG_SECONDS, "seconds=1", 1, 0 },
    { JPP_ARG_SECONDS, "seconds=300", 300, 0 },
    { JPP_ARG_SECONDS, "seconds=0000000030", 30, 0 },
    { JPP_ARG_SECONDS, "seconds=%330", 30, 0 },
    { JPP_ARG_SECONDS, "seconds=5&seconds=7", 5, 0 },
    { JPP_ARG_SECONDS, "seconds=5&seconds=x", 5, 0 },
    { JPP_ARG_SECONDS, "seconds=5&seconds", 5, 0 },
    { JPP_ARG_WORKER, "", JPP_WORKER_ALL, 0 },
    { JPP_ARG_WORKER, "worker=all", JPP_WORKER_ALL, 0 },
    { JPP_ARG_WORKER, "worker=self", JPP_WORKER_SELF, 0 },
    { JPP_ARG_WORKER, "worker=exiting", JPP_WORKER_EXITING, 0 },
    { JPP_ARG_WORKER, "worker=0", JPP_WORKER_INDEX, 0 },
    { JPP_ARG_WORKER, "worker=3", JPP_WORKER_INDEX, 3 },
    { JPP_ARG_WORKER, "worker=4294967295", JPP_WORKER_INDEX, 4294967295 },
    { JPP_ARG_WORKER, "worker=pid-1", JPP_WORKER_PID, 1 },
    { JPP_ARG_WORKER, "worker=pid%2d4711", JPP_WORKER_PID, 4711 },
    { JPP_ARG_WORKER, "worker=pid-4294967295", JPP_WORKER_PID, 4294967295 },
    { JPP_ARG_WORKER, "worker=pid-7&worker=3", JPP_WORKER_PID, 7 },
    { JPP_ARG_WORKER, "worker=pid-7&worker=%", JPP_WORKER_PID, 7 },
    { JPP_ARG_WORKER, "worker=self&worker=3", JPP_WORKER_SELF, 0 },
    { JPP_ARG_STRICT, "", 0, 0 },
    { JPP_ARG_STRICT, "strict=0", 0, 0 },
    { JPP_ARG_STRICT, "strict=1", 1, 0 },
    { JPP_ARG_ORIGIN, "", JPP_ORIGIN_ALL, 0 },
    { JPP_ARG_ORIGIN, "origin=all", JPP_ORIGIN_ALL, 0 },
    { JPP_ARG_ORIGIN, "origin=worker", JPP_ORIGIN_WORKER, 0 },
    { JPP_ARG_ORIGIN, "origin=master", JPP_ORIGIN_MASTER, 0 },
    { JPP_ARG_ORIGIN, "origin=master&origin=worker", JPP_ORIGIN_MASTER, 0 },
    { JPP_ARG_N, "", 50, 0 },
    { JPP_ARG_N, "n=1", 1, 0 },
    { JPP_ARG_N, "n=1000", 1000, 0 },
    { JPP_ARG_N, "n=3&n=0", 3, 0 },
    { JPP_ARG_SORT, "", JPP_SORT_FLAT, 0 },
    { JPP_ARG_SORT, "sort=flat", JPP_SORT_FLAT, 0 },
    { JPP_ARG_SORT, "sort=cum", JPP_SORT_CUM, 0 },
    { JPP_ARG_CALLERS, "", 1, 0 },
    { JPP_ARG_CALLERS, "callers=0", 0, 0 },
    { JPP_ARG_CALLERS, "callers=1", 1, 0 },
    { JPP_ARG_TOP, "", 20, 0 },
    { JPP_ARG_TOP, "top=1", 1, 0 },
    { JPP_ARG_TOP, "top=1000", 1000, 0 },
    { JPP_ARG_COLS, "", 80, 0 },
    { JPP_ARG_COLS, "cols=20", 20, 0 },
    { JPP_ARG_COLS, "cols=1000", 1000, 0 },
    { JPP_ARG_WIDTH, "", 1200, 0 },
    { JPP_ARG_WIDTH, "width=300", 300, 0 },
    { JPP_ARG_WIDTH, "width=8000", 8000, 0 },
    { JPP_ARG_FREQUENCY, "", 99, 0 },
    { JPP_ARG_FREQUENCY, "frequency=1", 1, 0 },
    { JPP_ARG_FREQUENCY, "frequency=1000", 1000, 0 },
    { JPP_ARG_MODE, "", JPP_MODE_CPU, 0 },
    { JPP_ARG_MODE, "mode=cpu", JPP_MODE_CPU, 0 },
    { JPP_ARG_MODE, "mode=wall", JPP_MODE_WALL, 0 },
    { JPP_ARG_BY, "", JPP_BY_REQUEST, 0 },
    { JPP_ARG_BY, "by=request", JPP_BY_REQUEST, 0 },
    { JPP_ARG_BY, "by=connection", JPP_BY_CONNECTION, 0 },
    { JPP_ARG_BY, "by=location", JPP_BY_LOCATION, 0 },
    { JPP_ARG_BY, "by=server", JPP_BY_SERVER, 0 },
    { JPP_ARG_BY, "by=upstream", JPP_BY_UPSTREAM, 0 },
    { JPP_ARG_DETAIL, "", JPP_DETAIL_NONE, 0 },
    { JPP_ARG_DETAIL, "detail=ledger", JPP_DETAIL_LEDGER, 0 },
    { JPP_ARG_DETAIL, "detail=smaps", JPP_DETAIL_SMAPS, 0 },
    { JPP_ARG_DETAIL, "detail=arenas", JPP_DETAIL_ARENAS, 0 },
    { JPP_ARG_FIELDS, "", UINT32_MAX, 0 },
    { JPP_ARG_FIELDS, "fields=findings", 1 << JPP_FIELD_FINDINGS, 0 },
    { JPP_ARG_FIELDS, "fields=unavailable,findings,findings",
      1 << JPP_FIELD_UNAVAILABLE | 1 << JPP_FIELD_FINDINGS, 0 },
    { JPP_ARG_FIELDS, "fields=workers%2Czones",
      1 << JPP_FIELD_WORKERS | 1 << JPP_FIELD_ZONES, 0 },
    { JPP_ARG_FORCE, "", 0, 0 },
    { JPP_ARG_FORCE, "force=0", 0, 0 },
    { JPP_ARG_FORCE, "force=1", 1, 0 },
    { JPP_ARG_CLIENTS, "", 0, 0 },
    { JPP_ARG_CLIENTS, "clients=off", 0, 0 },
    { JPP_ARG_CLIENTS, "clients=on", 1, 0 },
    { JPP_ARG_INVERT, "", 0, 0 },
    { JPP_ARG_INVERT, "invert=1", 1, 0 }
};


/* What is not a value of its key: the golden file has why. */

static const char  *bad[] = {
    "format", "format=", "format=TOP", "format=top ", "format=+top",
    "format=top%00", "format=%74%6", "format=%", "format=%zz", "format=pb",
    "format==top", "type=", "type=space", "type=inuse_space;", "debug=2",
    "debug=-1", "debug=01", "debug=1e0", "debug=0x1", "debug= 1",
    "symbolize=yes", "symbolize=2", "symbolize=\xff", "gc=2", "a=b&format=png",
    "format=png&format=top", "seconds=0", "seconds=301", "seconds=+5",
    "seconds=%2B5", "seconds=-1", "seconds=0x5", "seconds=5s", "seconds=%205",
    "seconds=5%20", "seconds=5.0", "seconds=5e0", "seconds=", "seconds",
    "seconds=%00", "seconds=5%00", "seconds=5%", "seconds=5%3",
    "seconds=\xd9\xa5", "seconds=00000000005", "seconds=4294967297",
    "seconds=9999999999", "seconds=18446744073709551617",
    "seconds=x&seconds=5", "worker=", "worker", "worker=ALL", "worker=alls",
    "worker=al", "worker=all%00", "worker=-1", "worker=+1", "worker=1,2",
    "worker=0x1", "worker=4294967296", "worker=99999999999999999999",
    "worker=pid", "worker=pid-", "worker=pid-0", "worker=pid--1",
    "worker=pid-x", "worker=pid-4294967296", "worker=PID-1", "worker=pid-1%",
    "worker=../../etc", "strict=on", "strict", "origin=workers", "origin=self",
    "origin", "n=0", "n=1001", "n=-1", "n=1e2", "n=", "n=99999999999",
    "sort=Cum", "sort", "callers=2", "callers=no", "top=0", "top=1001",
    "top=1e9", "top=1000000000", "top=-5", "top=", "cols=0", "cols=19",
    "cols=1001", "cols=100000", "cols=x", "cols=", "width=0", "width=299",
    "width=8001", "width=99999", "width=1e3", "width=", "frequency=0",
    "frequency=1001", "frequency=x", "frequency=-1", "frequency=", "mode=x",
    "mode=", "by=x", "by=", "by=Request", "detail=none", "detail=", "fields=",
    "fields=workers,", "fields=,workers", "fields=workers,,zones",
    "fields=worker", "fields=workers zones", "force=yes", "clients=1",
    "clients", "invert=yes"
};


JPP_TEST(jpp_args_test)
{
    char        *query;
    size_t       i;
    jpp_err_t    err;
    jpp_args_t   args, before;
    jpp_code_t   rc;

    for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {

        jpp_report_args_init(&args);
        rc = jpp_args_query(&args, good[i].query, strlen(good[i].query), &err);

        jpp_is_u64(rc, JPP_OK, "\"%s\"", good[i].query);
        jpp_is_str(jpp_format_of(&args)->name, good[i].format, "its format");
        jpp_is_u64(args.values[JPP_ARG_TYPE], good[i].type, "its type");
        jpp_is_u64(args.values[JPP_ARG_SYMBOLIZE], good[i].symbolize,
                   "its symbolize");
    }

    for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {

        jpp_report_args_init(&args);
        args.max_seconds = 300;
        rc = jpp_args_query(&args, numbers[i].query, strlen(numbers[i].query),
                            &err);

        jpp_is_u64(rc, JPP_OK, "\"%s\"", numbers[i].query);
        jpp_is_u64(args.values[numbers[i].key], numbers[i].value, "its value");
        jpp_is_u64(args.worker, numbers[i].worker, "its worker");
        jpp_is_u64(args.is_set[numbers[i].key], numbers[i].query[0] != '\0',
                   "is it set");
    }

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {

        jpp_report_args_init(&args);
        args.max_seconds = 300;
        before = args;
        rc = jpp_args_query(&args, bad[i], strlen(bad[i]), &err);

        jpp_ok(rc == JPP_ERR_ARG && memcmp(&args, &before, sizeof(args)) == 0,
               "\"%s\" is refused, and nothing is set", bad[i]);
        jpp_note("%s: %s", bad[i], err.text);
    }

    jpp_shows_notes("what is refused, and why");

    query = malloc(JPP_MAX_QUERY + 1);
    memset(query, 'a', JPP_MAX_QUERY + 1);

    jpp_report_args_init(&args);
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

    jpp_report_args_init(&args);
    rc = jpp_args_set(&args, "color", 5, "red", 3, &err);
    jpp_ok(rc == JPP_OK, "an unknown key is ignored");
    rc = jpp_args_set(&args, "type", 4, "inuse_objects", 13, &err);
    jpp_ok(rc == JPP_OK && args.is_set[JPP_ARG_TYPE], "a known key is set");
    rc = jpp_args_set(&args, "debug", 5, "7", 1, NULL);
    jpp_ok(rc == JPP_ERR_ARG, "an error without a place for it");

    jpp_report_args_init(&args);
    jpp_is_u64(args.max_seconds, JPP_MAX_SECONDS, "seconds, unless bounded");


    /* what the path says comes before the query, and counts */

    jpp_report_args_init(&args);
    rc = jpp_args_set(&args, "worker", 6, "pid-9", 5, &err);
    jpp_ok(rc == JPP_OK, "a worker by the path");
    rc = jpp_args_query(&args, "worker=self", 11, &err);
    jpp_ok(rc == JPP_OK && args.values[JPP_ARG_WORKER] == JPP_WORKER_PID
           && args.worker == 9, "and another by the query");

    jpp_ok(jpp_args_selector(&args).kind == JPP_WORKER_PID
           && jpp_args_selector(&args).number == 9, "a selector of a process");
    args.values[JPP_ARG_WORKER] = JPP_WORKER_INDEX;
    jpp_is_u64(jpp_args_selector(&args).number, 9, "of an index");
    args.values[JPP_ARG_WORKER] = JPP_WORKER_EXITING;
    jpp_is_u64(jpp_args_selector(&args).number, 0, "others have no number");

    /* the value ends where its length says */

    jpp_report_args_init(&args);
    rc = jpp_args_set(&args, "worker", 6, "pid-12", 5, &err);
    jpp_ok(rc == JPP_OK && args.worker == 1, "a part of a text");
    rc = jpp_args_set(&args, "seconds", 7, "600", 1, &err);
    jpp_ok(rc == JPP_OK && args.values[JPP_ARG_SECONDS] == 6, "another");
}

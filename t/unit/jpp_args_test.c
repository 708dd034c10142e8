
#include "jpp_test_main.h"
#include "jpp_report.h"
#include "jpp_test_golden.h"


/* Queries, and what they say: the golden file has it. */

static const char  *good[] = {
    "", "format=pprof", "format=text", "format=folded&type=inuse_objects",
    "type=alloc_space&format=top&symbolize=0", "type=alloc_objects", "debug=1",
    "debug=0", "debug=1&format=top", "format=pprof&debug=1", "gc=1&debug=0",
    "format=top&format=text", "format=top&format=nonsense",
    "unknown=1&format=top&another", "&&&format=top&&", "=top&=&format=top",
    "%66orm%61t=t%6fp", "%66orm%61t=t%6Fp",
    "%zz=1&format%=1&format%6=1&format=top", "Format=text&FORMAT=text",
    "forma=text&formats=text", "format=jemalloc&debug=1", "seconds=1",
    "seconds=300", "seconds=0000000030", "seconds=%330", "seconds=5&seconds=7",
    "seconds=5&seconds=x", "seconds=5&seconds", "worker=all", "worker=self",
    "worker=exiting", "worker=0", "worker=3", "worker=4294967295",
    "worker=pid-1", "worker=pid%2d4711", "worker=pid-4294967295",
    "worker=pid-7&worker=3", "worker=pid-7&worker=%", "worker=self&worker=3",
    "strict=0", "strict=1", "origin=all", "origin=worker", "origin=master",
    "origin=master&origin=worker", "n=1", "n=1000", "n=3&n=0", "sort=flat",
    "sort=cum", "callers=0", "callers=1", "top=1", "top=1000", "cols=20",
    "cols=1000", "width=300", "width=8000", "frequency=1", "frequency=1000",
    "mode=cpu", "mode=wall", "by=request", "by=connection", "by=location",
    "by=server", "by=upstream", "detail=ledger", "detail=smaps",
    "detail=arenas", "fields=findings", "fields=unavailable,findings,findings",
    "fields=workers%2Czones", "force=0", "force=1", "clients=off", "clients=on",
    "invert=1", "since=1s", "since=90m", "since=2h", "since=49710d",
    "age=1s", "age=10m", "age=49710d", "ages=0", "ages=1",
    "max_stop=1", "max_stop=10000", "max_stop=250ms"
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
    "cols=1001", "cols=100000", "cols=x", "cols=-80", "cols=1e2", "cols=",
    "width=0", "width=299", "width=8001", "width=99999", "width=1e3", "width=",
    "frequency=0", "frequency=1001", "frequency=x", "frequency=-1",
    "frequency=", "mode=x", "mode=", "since=", "since=5", "since=s",
    "since=0s", "since=1w", "since=-1s", "since=49711d", "since=1ss", "by=x",
    "by=", "by=Request", "detail=none", "detail=", "fields=",
    "fields=workers,", "fields=,workers", "fields=workers,,zones",
    "fields=worker", "fields=workers zones", "force=yes", "clients=1",
    "clients", "invert=yes", "invert=2", "origin=x", "sort=up", "callers=yes",
    "detail=x", "fields=x", "force=x", "since=4294967295d", "since=5sx",
    "worker=Self", "age=", "age=0s", "age=10", "age=10M", "age=-1m",
    "age=49711d", "ages=", "ages=2", "ages=yes",
    "max_stop=0", "max_stop=0ms", "max_stop=ms", "max_stop=5s",
    "max_stop=10001", "max_stop=10001ms", "max_stop=5msms", "max_stop=5 ms",
    "max_stop="
};


JPP_TEST(jpp_args_test)
{
    char        *query;
    size_t       i, k;
    jpp_err_t    err;
    jpp_args_t   args, before;
    jpp_code_t   rc;

    for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        jpp_args_init(&args, &jpp_format_words, jpp_parser_heap.types);
        args.max_seconds = 300;
        rc = jpp_args_query(&args, good[i], strlen(good[i]), &err);

        jpp_is_u64(rc, JPP_OK, "\"%s\"", good[i]);
        jpp_note("\"%s\": format %s, worker %" PRIu64, good[i],
                 jpp_format_of(&args)->name, args.worker);

        for (k = 0; k < JPP_ARGS; k++) {
            if (args.is_set[k] || i == 0) {
                jpp_note("    value %zu is %u", k, args.values[k]);
            }
        }
    }

    jpp_shows_notes("the values of keys by their numbers, the first without a "
                    "query");

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {

        jpp_args_init(&args, &jpp_format_words, jpp_parser_heap.types);
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

    jpp_args_init(&args, &jpp_format_words, jpp_parser_heap.types);
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

    jpp_args_init(&args, &jpp_format_words, jpp_parser_heap.types);
    rc = jpp_args_set(&args, "color", 5, "red", 3, &err);
    jpp_ok(rc == JPP_OK, "an unknown key is ignored");
    rc = jpp_args_set(&args, "type", 4, "inuse_objects", 13, &err);
    jpp_ok(rc == JPP_OK && args.is_set[JPP_ARG_TYPE], "a known key is set");
    rc = jpp_args_set(&args, "debug", 5, "7", 1, NULL);
    jpp_ok(rc == JPP_ERR_ARG, "an error without a place for it");

    jpp_args_init(&args, &jpp_format_words, jpp_parser_heap.types);
    jpp_is_u64(args.max_seconds, JPP_MAX_SECONDS, "seconds, unless bounded");


    /* what the path says comes before the query, and counts */

    jpp_args_init(&args, &jpp_format_words, jpp_parser_heap.types);
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

    jpp_args_init(&args, &jpp_format_words, jpp_parser_heap.types);
    rc = jpp_args_set(&args, "worker", 6, "pid-12", 5, &err);
    jpp_ok(rc == JPP_OK && args.worker == 1, "a part of a text");
    rc = jpp_args_set(&args, "seconds", 7, "600", 1, &err);
    jpp_ok(rc == JPP_OK && args.values[JPP_ARG_SECONDS] == 6, "another");
}

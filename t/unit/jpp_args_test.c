
#include "jpp_test_main.h"
#include "jpp_report.h"
#include "jpp_limits.h"


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


typedef struct {
    const char     *query;
    uint32_t        value;
    uint64_t        worker;
    const char     *why;           /* of what is bad; else NULL */
} jpp_args_number_t;


#define JPP_BAD_SECONDS  "seconds must be a whole number from 1 to 300"

static const jpp_args_number_t  seconds[] = {
    { "", 0, 0, NULL },
    { "seconds=1", 1, 0, NULL },
    { "seconds=300", 300, 0, NULL },
    { "seconds=0000000030", 30, 0, NULL },
    { "seconds=%330", 30, 0, NULL },
    { "seconds=5&seconds=7", 5, 0, NULL },
    { "seconds=5&seconds=x", 5, 0, NULL },
    { "seconds=5&seconds", 5, 0, NULL },
    { "seconds=0", 0, 0, JPP_BAD_SECONDS },
    { "seconds=301", 0, 0, JPP_BAD_SECONDS },
    { "seconds=+5", 0, 0, JPP_BAD_SECONDS },
    { "seconds=%2B5", 0, 0, JPP_BAD_SECONDS },
    { "seconds=-1", 0, 0, JPP_BAD_SECONDS },
    { "seconds=0x5", 0, 0, JPP_BAD_SECONDS },
    { "seconds=5s", 0, 0, JPP_BAD_SECONDS },
    { "seconds=%205", 0, 0, JPP_BAD_SECONDS },
    { "seconds=5%20", 0, 0, JPP_BAD_SECONDS },
    { "seconds=5.0", 0, 0, JPP_BAD_SECONDS },
    { "seconds=5e0", 0, 0, JPP_BAD_SECONDS },
    { "seconds=", 0, 0, JPP_BAD_SECONDS },
    { "seconds", 0, 0, JPP_BAD_SECONDS },
    { "seconds=%00", 0, 0, JPP_BAD_SECONDS },
    { "seconds=5%00", 0, 0, JPP_BAD_SECONDS },
    { "seconds=5%", 0, 0, JPP_BAD_SECONDS },
    { "seconds=5%3", 0, 0, JPP_BAD_SECONDS },
    { "seconds=\xd9\xa5", 0, 0, JPP_BAD_SECONDS },
    { "seconds=00000000005", 0, 0, JPP_BAD_SECONDS },
    { "seconds=4294967297", 0, 0, JPP_BAD_SECONDS },
    { "seconds=9999999999", 0, 0, JPP_BAD_SECONDS },
    { "seconds=18446744073709551617", 0, 0, JPP_BAD_SECONDS },
    { "seconds=x&seconds=5", 0, 0, JPP_BAD_SECONDS },
    { NULL, 0, 0, NULL }
};


#define JPP_BAD_WORKER                                                        \
    "worker must be all, self, exiting, an index such as 0, or pid- and a "   \
    "process id"

static const jpp_args_number_t  workers[] = {
    { "", JPP_WORKER_ALL, 0, NULL },
    { "worker=all", JPP_WORKER_ALL, 0, NULL },
    { "worker=self", JPP_WORKER_SELF, 0, NULL },
    { "worker=exiting", JPP_WORKER_EXITING, 0, NULL },
    { "worker=0", JPP_WORKER_INDEX, 0, NULL },
    { "worker=3", JPP_WORKER_INDEX, 3, NULL },
    { "worker=4294967295", JPP_WORKER_INDEX, 4294967295, NULL },
    { "worker=pid-1", JPP_WORKER_PID, 1, NULL },
    { "worker=pid%2d4711", JPP_WORKER_PID, 4711, NULL },
    { "worker=pid-4294967295", JPP_WORKER_PID, 4294967295, NULL },
    { "worker=pid-7&worker=3", JPP_WORKER_PID, 7, NULL },
    { "worker=pid-7&worker=%", JPP_WORKER_PID, 7, NULL },
    { "worker=self&worker=3", JPP_WORKER_SELF, 0, NULL },
    { "worker=", 0, 0, JPP_BAD_WORKER },
    { "worker", 0, 0, JPP_BAD_WORKER },
    { "worker=ALL", 0, 0, JPP_BAD_WORKER },
    { "worker=alls", 0, 0, JPP_BAD_WORKER },
    { "worker=al", 0, 0, JPP_BAD_WORKER },
    { "worker=all%00", 0, 0, JPP_BAD_WORKER },
    { "worker=-1", 0, 0, JPP_BAD_WORKER },
    { "worker=+1", 0, 0, JPP_BAD_WORKER },
    { "worker=1,2", 0, 0, JPP_BAD_WORKER },
    { "worker=0x1", 0, 0, JPP_BAD_WORKER },
    { "worker=4294967296", 0, 0, JPP_BAD_WORKER },
    { "worker=99999999999999999999", 0, 0, JPP_BAD_WORKER },
    { "worker=pid", 0, 0, JPP_BAD_WORKER },
    { "worker=pid-", 0, 0, JPP_BAD_WORKER },
    { "worker=pid-0", 0, 0, JPP_BAD_WORKER },
    { "worker=pid--1", 0, 0, JPP_BAD_WORKER },
    { "worker=pid-x", 0, 0, JPP_BAD_WORKER },
    { "worker=pid-4294967296", 0, 0, JPP_BAD_WORKER },
    { "worker=PID-1", 0, 0, JPP_BAD_WORKER },
    { "worker=pid-1%", 0, 0, JPP_BAD_WORKER },
    { "worker=../../etc", 0, 0, JPP_BAD_WORKER },
    { NULL, 0, 0, NULL }
};


static const jpp_args_number_t  stricts[] = {
    { "", 0, 0, NULL },
    { "strict=0", 0, 0, NULL },
    { "strict=1", 1, 0, NULL },
    { "strict=on", 0, 0, "strict must be 0 or 1" },
    { "strict", 0, 0, "strict must be 0 or 1" },
    { NULL, 0, 0, NULL }
};


static const jpp_args_number_t  origins[] = {
    { "", JPP_ORIGIN_ALL, 0, NULL },
    { "origin=all", JPP_ORIGIN_ALL, 0, NULL },
    { "origin=worker", JPP_ORIGIN_WORKER, 0, NULL },
    { "origin=master", JPP_ORIGIN_MASTER, 0, NULL },
    { "origin=master&origin=worker", JPP_ORIGIN_MASTER, 0, NULL },
    { "origin=workers", 0, 0, "origin must be all, worker or master" },
    { "origin=self", 0, 0, "origin must be all, worker or master" },
    { "origin", 0, 0, "origin must be all, worker or master" },
    { NULL, 0, 0, NULL }
};


#define JPP_BAD_ROWS  "n must be a whole number from 1 to 1000"

static const jpp_args_number_t  rows_of_a_table[] = {
    { "", 50, 0, NULL },
    { "n=1", 1, 0, NULL },
    { "n=1000", 1000, 0, NULL },
    { "n=3&n=0", 3, 0, NULL },
    { "n=0", 50, 0, JPP_BAD_ROWS },
    { "n=1001", 50, 0, JPP_BAD_ROWS },
    { "n=-1", 50, 0, JPP_BAD_ROWS },
    { "n=1e2", 50, 0, JPP_BAD_ROWS },
    { "n=", 50, 0, JPP_BAD_ROWS },
    { "n=99999999999", 50, 0, JPP_BAD_ROWS },
    { NULL, 0, 0, NULL }
};


static const jpp_args_number_t  sorts[] = {
    { "", JPP_SORT_FLAT, 0, NULL },
    { "sort=flat", JPP_SORT_FLAT, 0, NULL },
    { "sort=cum", JPP_SORT_CUM, 0, NULL },
    { "sort=Cum", 0, 0, "sort must be flat or cum" },
    { "sort", 0, 0, "sort must be flat or cum" },
    { NULL, 0, 0, NULL }
};


static const jpp_args_number_t  callers[] = {
    { "", 1, 0, NULL },
    { "callers=0", 0, 0, NULL },
    { "callers=1", 1, 0, NULL },
    { "callers=2", 1, 0, "callers must be 0 or 1" },
    { "callers=no", 1, 0, "callers must be 0 or 1" },
    { NULL, 0, 0, NULL }
};


#define JPP_BAD_TOP  "top must be a whole number from 1 to 1000"

static const jpp_args_number_t  tops[] = {
    { "", 20, 0, NULL },
    { "top=1", 1, 0, NULL },
    { "top=1000", 1000, 0, NULL },
    { "top=0", 20, 0, JPP_BAD_TOP },
    { "top=1001", 20, 0, JPP_BAD_TOP },
    { "top=1e9", 20, 0, JPP_BAD_TOP },
    { "top=1000000000", 20, 0, JPP_BAD_TOP },
    { "top=-5", 20, 0, JPP_BAD_TOP },
    { "top=", 20, 0, JPP_BAD_TOP },
    { NULL, 0, 0, NULL }
};


#define JPP_BAD_COLS                                                          \
    "cols must be a whole number of columns from 20 to 1000"

static const jpp_args_number_t  cols[] = {
    { "", 80, 0, NULL },
    { "cols=20", 20, 0, NULL },
    { "cols=1000", 1000, 0, NULL },
    { "cols=0", 80, 0, JPP_BAD_COLS },
    { "cols=19", 80, 0, JPP_BAD_COLS },
    { "cols=1001", 80, 0, JPP_BAD_COLS },
    { "cols=100000", 80, 0, JPP_BAD_COLS },
    { "cols=x", 80, 0, JPP_BAD_COLS },
    { "cols=", 80, 0, JPP_BAD_COLS },
    { NULL, 0, 0, NULL }
};


#define JPP_BAD_WIDTH                                                         \
    "width must be a whole number of pixels from 300 to 8000"

static const jpp_args_number_t  widths[] = {
    { "", 1200, 0, NULL },
    { "width=300", 300, 0, NULL },
    { "width=8000", 8000, 0, NULL },
    { "width=0", 1200, 0, JPP_BAD_WIDTH },
    { "width=299", 1200, 0, JPP_BAD_WIDTH },
    { "width=8001", 1200, 0, JPP_BAD_WIDTH },
    { "width=99999", 1200, 0, JPP_BAD_WIDTH },
    { "width=1e3", 1200, 0, JPP_BAD_WIDTH },
    { "width=", 1200, 0, JPP_BAD_WIDTH },
    { NULL, 0, 0, NULL }
};


#define JPP_BAD_FREQUENCY                                                     \
    "frequency must be a whole number of samples a second from 1 to 1000"

static const jpp_args_number_t  frequencies[] = {
    { "", 99, 0, NULL },
    { "frequency=1", 1, 0, NULL },
    { "frequency=1000", 1000, 0, NULL },
    { "frequency=0", 99, 0, JPP_BAD_FREQUENCY },
    { "frequency=1001", 99, 0, JPP_BAD_FREQUENCY },
    { "frequency=x", 99, 0, JPP_BAD_FREQUENCY },
    { "frequency=-1", 99, 0, JPP_BAD_FREQUENCY },
    { "frequency=", 99, 0, JPP_BAD_FREQUENCY },
    { NULL, 0, 0, NULL }
};


static const jpp_args_number_t  modes[] = {
    { "", JPP_MODE_CPU, 0, NULL },
    { "mode=cpu", JPP_MODE_CPU, 0, NULL },
    { "mode=wall", JPP_MODE_WALL, 0, NULL },
    { "mode=x", JPP_MODE_CPU, 0, "mode must be cpu or wall" },
    { "mode=", JPP_MODE_CPU, 0, "mode must be cpu or wall" },
    { NULL, 0, 0, NULL }
};


#define JPP_BAD_BY                                                            \
    "by must be location, server or upstream; or, of requests, request or "   \
    "connection"

static const jpp_args_number_t  bys[] = {
    { "", JPP_BY_REQUEST, 0, NULL },
    { "by=request", JPP_BY_REQUEST, 0, NULL },
    { "by=connection", JPP_BY_CONNECTION, 0, NULL },
    { "by=location", JPP_BY_LOCATION, 0, NULL },
    { "by=server", JPP_BY_SERVER, 0, NULL },
    { "by=upstream", JPP_BY_UPSTREAM, 0, NULL },
    { "by=x", JPP_BY_REQUEST, 0, JPP_BAD_BY },
    { "by=", JPP_BY_REQUEST, 0, JPP_BAD_BY },
    { "by=Request", JPP_BY_REQUEST, 0, JPP_BAD_BY },
    { NULL, 0, 0, NULL }
};


static const jpp_args_number_t  details[] = {
    { "", JPP_DETAIL_NONE, 0, NULL },
    { "detail=ledger", JPP_DETAIL_LEDGER, 0, NULL },
    { "detail=smaps", JPP_DETAIL_SMAPS, 0, NULL },
    { "detail=arenas", JPP_DETAIL_ARENAS, 0, NULL },
    { "detail=none", JPP_DETAIL_NONE, 0,
      "detail must be ledger, smaps or arenas" },
    { "detail=", JPP_DETAIL_NONE, 0,
      "detail must be ledger, smaps or arenas" },
    { NULL, 0, 0, NULL }
};


#define JPP_BAD_FIELDS                                                        \
    "fields must be some of findings, total, workers, missing, cgroup, "      \
    "system, zones and unavailable, with commas between"

static const jpp_args_number_t  fields[] = {
    { "", UINT32_MAX, 0, NULL },
    { "fields=findings", 1 << JPP_FIELD_FINDINGS, 0, NULL },
    { "fields=unavailable,findings,findings",
      1 << JPP_FIELD_UNAVAILABLE | 1 << JPP_FIELD_FINDINGS, 0, NULL },
    { "fields=workers%2Czones",
      1 << JPP_FIELD_WORKERS | 1 << JPP_FIELD_ZONES, 0, NULL },
    { "fields=", UINT32_MAX, 0, JPP_BAD_FIELDS },
    { "fields=workers,", UINT32_MAX, 0, JPP_BAD_FIELDS },
    { "fields=,workers", UINT32_MAX, 0, JPP_BAD_FIELDS },
    { "fields=workers,,zones", UINT32_MAX, 0, JPP_BAD_FIELDS },
    { "fields=worker", UINT32_MAX, 0, JPP_BAD_FIELDS },
    { "fields=workers zones", UINT32_MAX, 0, JPP_BAD_FIELDS },
    { NULL, 0, 0, NULL }
};


static const jpp_args_number_t  forces[] = {
    { "", 0, 0, NULL },
    { "force=0", 0, 0, NULL },
    { "force=1", 1, 0, NULL },
    { "force=yes", 0, 0, "force must be 0 or 1" },
    { NULL, 0, 0, NULL }
};


static const jpp_args_number_t  clients[] = {
    { "", 0, 0, NULL },
    { "clients=off", 0, 0, NULL },
    { "clients=on", 1, 0, NULL },
    { "clients=1", 0, 0, "clients must be on or off" },
    { "clients", 0, 0, "clients must be on or off" },
    { NULL, 0, 0, NULL }
};


static const jpp_args_number_t  inverts[] = {
    { "", 0, 0, NULL },
    { "invert=1", 1, 0, NULL },
    { "invert=yes", 0, 0, "invert must be 0 or 1" },
    { NULL, 0, 0, NULL }
};


static const char  *bad[] = {
    "format", "format=", "format=TOP", "format=top ", "format=+top",
    "format=top%00", "format=%74%6", "format=%", "format=%zz", "format=pb",
    "format==top", "type=", "type=space", "type=inuse_space;", "debug=2",
    "debug=-1", "debug=01", "debug=1e0", "debug=0x1", "debug= 1",
    "symbolize=yes", "symbolize=2", "symbolize=\xff", "gc=2",
    "a=b&format=png", "format=png&format=top"
};


/* Rows for the value of KEY, up to one without a query. */

static void
jpp_args_test_numbers(const jpp_args_number_t *row, jpp_arg_t key)
{
    bool        is_set;
    jpp_err_t   err;
    jpp_args_t  args;
    jpp_code_t  rc;

    for ( /* void */ ; row->query != NULL; row++) {

        jpp_report_args_init(&args);
        args.max_seconds = 300;
        memset(&err, 0, sizeof(jpp_err_t));

        rc = jpp_args_query(&args, row->query, strlen(row->query), &err);
        is_set = row->why == NULL && row->query[0] != '\0';

        jpp_is_u64(rc, row->why != NULL ? JPP_ERR_ARG : JPP_OK, "\"%s\"",
                   row->query);
        jpp_is_u64(args.values[key], row->value, "its value");
        jpp_is_u64(args.worker, row->worker, "its worker");
        jpp_is_u64(args.is_set[key], is_set, "is it set");
        jpp_is_str(err.text, row->why != NULL ? row->why : "", "its sentence");
    }
}


JPP_TEST(jpp_args_test)
{
    char        *query;
    bool         is_known;
    size_t       i;
    jpp_err_t    err;
    jpp_args_t   args;
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

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {

        jpp_report_args_init(&args);
        rc = jpp_args_query(&args, bad[i], strlen(bad[i]), &err);

        jpp_is_u64(rc, JPP_ERR_ARG, "bad %zu", i);
        jpp_has(err.text, " must be ", "%s", err.text);
    }

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
    rc = jpp_args_set(&args, "color", 5, "red", 3, &is_known, &err);
    jpp_ok(rc == JPP_OK && !is_known, "an unknown key is reported as unknown");
    rc = jpp_args_set(&args, "type", 4, "inuse_objects", 13, &is_known, &err);
    jpp_ok(rc == JPP_OK && is_known, "a known key as known");
    rc = jpp_args_set(&args, "debug", 5, "7", 1, &is_known, NULL);
    jpp_ok(rc == JPP_ERR_ARG && is_known, "an error without a place for it");

    jpp_report_args_init(&args);
    jpp_is_u64(args.max_seconds, JPP_MAX_SECONDS, "seconds, unless bounded");

    jpp_args_test_numbers(seconds, JPP_ARG_SECONDS);
    jpp_args_test_numbers(workers, JPP_ARG_WORKER);
    jpp_args_test_numbers(stricts, JPP_ARG_STRICT);
    jpp_args_test_numbers(origins, JPP_ARG_ORIGIN);
    jpp_args_test_numbers(rows_of_a_table, JPP_ARG_N);
    jpp_args_test_numbers(sorts, JPP_ARG_SORT);
    jpp_args_test_numbers(callers, JPP_ARG_CALLERS);
    jpp_args_test_numbers(tops, JPP_ARG_TOP);
    jpp_args_test_numbers(bys, JPP_ARG_BY);
    jpp_args_test_numbers(clients, JPP_ARG_CLIENTS);
    jpp_args_test_numbers(widths, JPP_ARG_WIDTH);
    jpp_args_test_numbers(cols, JPP_ARG_COLS);
    jpp_args_test_numbers(inverts, JPP_ARG_INVERT);
    jpp_args_test_numbers(details, JPP_ARG_DETAIL);
    jpp_args_test_numbers(fields, JPP_ARG_FIELDS);
    jpp_args_test_numbers(forces, JPP_ARG_FORCE);
    jpp_args_test_numbers(frequencies, JPP_ARG_FREQUENCY);
    jpp_args_test_numbers(modes, JPP_ARG_MODE);

    /* what the path says comes before the query, and counts */

    jpp_report_args_init(&args);
    rc = jpp_args_set(&args, "worker", 6, "pid-9", 5, &is_known, &err);
    jpp_ok(rc == JPP_OK && is_known, "a worker by the path");
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
    rc = jpp_args_set(&args, "worker", 6, "pid-12", 5, &is_known, &err);
    jpp_ok(rc == JPP_OK && args.worker == 1, "a part of a text");
    rc = jpp_args_set(&args, "seconds", 7, "600", 1, &is_known, &err);
    jpp_ok(rc == JPP_OK && args.values[JPP_ARG_SECONDS] == 6, "another");
}

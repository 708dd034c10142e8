
#include "jpp_control.h"
#include "jpp_fleet.h"
#include "jpp_report.h"
#include "jpp_test_fleet.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"


#define JPP_BAD_LG                                                            \
    "lg_sample must be a whole number from 10 to 24: below 10 too many "      \
    "small objects take 16 KiB each, above 24 next to nothing is sampled"


#define JPP_BAD_STALL                                                         \
    "stall must be off, or a time from 10ms to 60s, as in stall=100ms"

#define JPP_UNKNOWN                                                           \
    "unknown key: control takes active, sampler, lg_sample, stall, owners, "  \
    "reset, purge, acknowledge, worker and strict"

#define JPP_BAD_FINDING                                                       \
    "acknowledge must be the id of a finding, as status lists them"

#define JPP_TWICE(key)  key " is given twice: give it once"


static jpp_output_t      jpp_output;

/* what jpp_control_write() writes */
static jpp_controlled_t  jpp_workers[8];


static jpp_err_t      err;
static jpp_args_t     args;
static jpp_control_t  control;


JPP_TEST(jpp_test_good)
{
    size_t  i;

    static const struct {
        const char     *text;
        jpp_control_t   control;
    } rows[] = {
        { "", { -1, -1, false, false, -1, -1, -1, -1, -1 } },
        { "active=on", { 1, -1, false, false, -1, -1, -1, -1, -1 } },
        { "active=off", { 0, -1, false, false, -1, -1, -1, -1, -1 } },
        { "sampler=on", { -1, -1, false, false, 1, -1, -1, -1, -1 } },
        { "sampler=off&lg_sample=11",
          { -1, 11, false, false, 0, -1, -1, -1, -1 } },
        { "lg_sample=10", { -1, 10, false, false, -1, -1, -1, -1, -1 } },
        { "lg_sample=24", { -1, 24, false, false, -1, -1, -1, -1, -1 } },
        { "lg_sample=014", { -1, 14, false, false, -1, -1, -1, -1, -1 } },
        { "reset=1", { -1, -1, true, false, -1, -1, -1, -1, -1 } },
        { "purge=1", { -1, -1, false, true, -1, -1, -1, -1, -1 } },
        { "active=on&lg_sample=14&reset=1&purge=1",
          { 1, 14, true, true, -1, -1, -1, -1, -1 } },
        { "purge=1&reset=1&lg_sample=14&active=off",
          { 0, 14, true, true, -1, -1, -1, -1, -1 } },
        { "%61ctive=%6fn&lg%5Fsample=%31%34",
          { 1, 14, false, false, -1, -1, -1, -1, -1 } },
        { "&&=&active=on&", { 1, -1, false, false, -1, -1, -1, -1, -1 } },
        { "worker=all&strict=1&active=on",
          { 1, -1, false, false, -1, -1, -1, -1, -1 } },
        { "active=on&worker=pid-7",
          { 1, -1, false, false, -1, -1, -1, -1, -1 } },
        { "stall=off", { -1, -1, false, false, -1, -1, 0, -1, -1 } },
        { "stall=10ms", { -1, -1, false, false, -1, -1, 10, -1, -1 } },
        { "stall=60000ms", { -1, -1, false, false, -1, -1, 60000, -1, -1 } },
        { "stall=1s", { -1, -1, false, false, -1, -1, 1000, -1, -1 } },
        { "stall=60s&owners=off",
          { -1, -1, false, false, -1, -1, 60000, 0, -1 } },
        { "owners=on", { -1, -1, false, false, -1, -1, -1, 1, -1 } },
        { "acknowledge=limit-near",
          { -1, -1, false, false, -1, -1, -1, -1, 0 } },
        { "worker=2&acknowledge=swap",
          { -1, -1, false, false, -1, -1, -1, -1, JPP_FINDING_SWAP } }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_report_args_init(&args);
        jpp_control_init(&control);

        jpp_is_u64(jpp_control_query(&control, &args, rows[i].text,
                                     strlen(rows[i].text), &err),
                   JPP_OK, "\"%s\"", rows[i].text);
        jpp_is_i64(control.active, rows[i].control.active, "its active");
        jpp_is_i64(control.lg_sample, rows[i].control.lg_sample,
                   "its lg_sample");
        jpp_is_u64(control.reset, rows[i].control.reset, "its reset");
        jpp_is_u64(control.purge, rows[i].control.purge, "its purge");
        jpp_is_i64(control.stall, rows[i].control.stall, "its stall");
        jpp_is_i64(control.owners, rows[i].control.owners, "its owners");
    }

    jpp_is_u64(jpp_control_query(&control, &args, NULL, 0, &err), JPP_OK,
               "no text at all");
}


JPP_TEST(jpp_test_bad)
{
    char    long_text[16385];
    size_t  i;

    static const struct {
        const char  *text;
        const char  *why;
    } rows[] = {
        { "active=1", "active must be on or off" },
        { "active=0", "active must be on or off" },
        { "active=ON", "active must be on or off" },
        { "active=of", "active must be on or off" },
        { "active=on%00", "active must be on or off" },
        { "active=", "active must be on or off" },
        { "active", "active must be on or off" },
        { "active=%", "active must be on or off" },
        { "active=no&active=on", "active must be on or off" },
        { "active=off&active=on", JPP_TWICE("active") },
        { "lg_sample=12&purge=1&lg_sample=12", JPP_TWICE("lg_sample") },
        { "reset=1&reset=0", JPP_TWICE("reset") },
        { "purge=1&purge", JPP_TWICE("purge") },
        { "active=on&worker=0&worker=1", JPP_TWICE("worker") },
        { "strict=1&%73trict=1", JPP_TWICE("strict") },
        { "x", JPP_UNKNOWN },
        { "=x", JPP_UNKNOWN },
        { "active=on&x=y", JPP_UNKNOWN },
        { "Active=off", JPP_UNKNOWN },
        { "activ=off", JPP_UNKNOWN },
        { "actives=off", JPP_UNKNOWN },
        { "active%00=off", JPP_UNKNOWN },
        { "%zz=1", JPP_UNKNOWN },
        { "active=on&%zz=1", JPP_UNKNOWN },
        { "active%=off", JPP_UNKNOWN },
        { "format=top&active=on", JPP_UNKNOWN },
        { "worker=x", "worker must be all, self, exiting, an index such as 0, "
          "or pid- and a process id" },
        { "worker", "worker must be all, self, exiting, an index such as 0, "
          "or pid- and a process id" },
        { "strict=2", "strict must be 0 or 1" },
        { "lg_sample=9", JPP_BAD_LG },
        { "lg_sample=25", JPP_BAD_LG },
        { "lg_sample=0", JPP_BAD_LG },
        { "lg_sample=-1", JPP_BAD_LG },
        { "lg_sample=+14", JPP_BAD_LG },
        { "lg_sample=14.0", JPP_BAD_LG },
        { "lg_sample=0xe", JPP_BAD_LG },
        { "lg_sample=4294967310", JPP_BAD_LG },
        { "lg_sample=18446744073709551630", JPP_BAD_LG },
        { "lg_sample=on", JPP_BAD_LG },
        { "lg_sample=", JPP_BAD_LG },
        { "lg_sample", JPP_BAD_LG },
        { "reset=0", "reset must be 1" },
        { "reset=on", "reset must be 1" },
        { "reset", "reset must be 1" },
        { "stall=", JPP_BAD_STALL },
        { "stall", JPP_BAD_STALL },
        { "stall=on", JPP_BAD_STALL },
        { "stall=100", JPP_BAD_STALL },
        { "stall=ms", JPP_BAD_STALL },
        { "stall=9ms", JPP_BAD_STALL },
        { "stall=0s", JPP_BAD_STALL },
        { "stall=60001ms", JPP_BAD_STALL },
        { "stall=61s", JPP_BAD_STALL },
        { "stall=4294968s", JPP_BAD_STALL },
        { "stall=1m", JPP_BAD_STALL },
        { "stall=100msx", JPP_BAD_STALL },
        { "stall=-1s", JPP_BAD_STALL },
        { "stall=1s&stall=off", JPP_TWICE("stall") },
        { "owners=1", "owners must be on or off" },
        { "owners=", "owners must be on or off" },
        { "purge=2", "purge must be 1" },
        { "purge=true", "purge must be 1" },
        { "purge=", "purge must be 1" },
        { "acknowledge=", JPP_BAD_FINDING },
        { "acknowledge=0", JPP_BAD_FINDING },
        { "acknowledge=swa", JPP_BAD_FINDING },
        { "acknowledge=swapp", JPP_BAD_FINDING },
        { "active=on&reset=<script>", "reset must be 1" }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_report_args_init(&args);
        jpp_control_init(&control);

        jpp_is_u64(jpp_control_query(&control, &args, rows[i].text,
                                     strlen(rows[i].text), &err),
                   JPP_ERR_ARG, "\"%s\"", rows[i].text);
        jpp_is_str(err.text, rows[i].why, "why");
    }

    jpp_is_u64(jpp_control_query(&control, &args, "purge=2", 7, NULL),
               JPP_ERR_ARG, "an error without a place for it");

    memset(long_text, 'a', sizeof(long_text));
    jpp_report_args_init(&args);
    jpp_control_init(&control);
    jpp_is_u64(jpp_control_query(&control, &args, long_text, 16384, &err),
               JPP_ERR_ARG, "a key that is too long");
    jpp_is_str(err.text, JPP_UNKNOWN, "is unknown");
    memset(long_text, '&', sizeof(long_text));
    jpp_is_u64(jpp_control_query(&control, &args, long_text, 16384, &err),
               JPP_OK, "nothing, as long as a query may be");
    jpp_is_u64(jpp_control_query(&control, &args, long_text, 16385, &err),
               JPP_ERR_ARG, "one byte more");
}


/* A query, and then the form of the same request. */

JPP_TEST(jpp_test_twice)
{
    static const char  query[] = "active=off&reset=1&worker=2";
    static const char  form[] = "active=7&reset=7&lg_sample=11&worker=x"
                                "&strict=1";

    jpp_report_args_init(&args);
    jpp_control_init(&control);
    jpp_control_query(&control, &args, query, sizeof(query) - 1, &err);

    jpp_is_u64(jpp_control_query(&control, &args, form, sizeof(form) - 1,
                                 &err),
               JPP_OK, "the form is looked at for what the query left");
    jpp_ok(control.active == 0 && control.lg_sample == 11 && control.reset
           && !control.purge, "the first value counts");
    jpp_ok(args.values[JPP_ARG_WORKER] == JPP_WORKER_INDEX && args.worker == 2
           && args.values[JPP_ARG_STRICT] == 1, "of worker and strict, too");

    jpp_report_args_init(&args);
    jpp_control_init(&control);
    jpp_is_u64(jpp_control_query(&control, &args, "worker=pid-7", 12, &err),
               JPP_OK, "a worker in the form alone");
    jpp_ok(args.values[JPP_ARG_WORKER] == JPP_WORKER_PID && args.worker == 7,
           "is the one");
}


JPP_TEST(jpp_test_beside)
{
    size_t  i;

    static const char  *rows[] = {
        "active=on", "lg_sample=14", "reset=1", "purge=1", "sampler=off",
        "stall=off", "owners=on"
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_report_args_init(&args);
        jpp_control_init(&control);

        (void) jpp_control_query(&control, &args, "acknowledge=swap", 16, &err);
        (void) jpp_control_query(&control, &args, rows[i], strlen(rows[i]),
                                 &err);

        jpp_is_u64(jpp_control_check(&control, &err), JPP_ERR_ARG,
                   "acknowledge beside %s", rows[i]);
        jpp_is_str(err.text, "acknowledge is about a finding, and the rest "
                   "about workers: send two requests", "and why not");
    }
}


JPP_TEST(jpp_test_nothing)
{
    size_t  i;

    static const char  *something[] = {
        "active=on", "active=off", "lg_sample=14", "reset=1", "purge=1",
        "sampler=on", "sampler=off", "stall=off", "stall=1s", "owners=off",
        "acknowledge=limit-near"
    };

    jpp_report_args_init(&args);
    jpp_control_init(&control);
    jpp_is_u64(jpp_control_check(&control, &err), JPP_ERR_ARG, "nothing");
    jpp_is_str(err.text, "nothing to change: send active=on, active=off, "
               "sampler=on, sampler=off, lg_sample= and a number from 10 to "
               "24, stall= and a time, stall=off, owners=on, owners=off, "
               "reset=1, purge=1, or several of them joined by &; or "
               "acknowledge= and the id of a finding",
               "and what there is");

    for (i = 0; i < sizeof(something) / sizeof(something[0]); i++) {
        jpp_report_args_init(&args);
        jpp_control_init(&control);
        jpp_control_query(&control, &args, something[i], strlen(something[i]),
                          &err);
        jpp_is_u64(jpp_control_check(&control, &err), JPP_OK, "%s",
                   something[i]);
    }
}


JPP_TEST(jpp_test_preview)
{
    size_t        i;
    jpp_worker_t  worker;

    static const struct {
        const char            *text;
        jpp_jemalloc_state_t   before;
        jpp_jemalloc_state_t   after;
        uint32_t               lg_sample;
    } rows[] = {
        { "reset=1", JPP_JEMALLOC_READY, JPP_JEMALLOC_READY, 19 },
        { "reset=1", JPP_JEMALLOC_INACTIVE, JPP_JEMALLOC_INACTIVE, 19 },
        { "active=on", JPP_JEMALLOC_INACTIVE, JPP_JEMALLOC_READY, 19 },
        { "active=on", JPP_JEMALLOC_READY, JPP_JEMALLOC_READY, 19 },
        { "active=off", JPP_JEMALLOC_READY, JPP_JEMALLOC_INACTIVE, 19 },
        { "lg_sample=14", JPP_JEMALLOC_READY, JPP_JEMALLOC_READY, 14 },
        { "lg_sample=14", JPP_JEMALLOC_INACTIVE, JPP_JEMALLOC_INACTIVE, 14 },
        { "active=on&lg_sample=14", JPP_JEMALLOC_OFF, JPP_JEMALLOC_OFF, 19 },
        { "active=on", JPP_JEMALLOC_REFUSED, JPP_JEMALLOC_REFUSED, 19 },
        { "active=on", JPP_JEMALLOC_ABSENT, JPP_JEMALLOC_ABSENT, 19 }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        memset(&worker, 0, sizeof(jpp_worker_t));

        worker.jemalloc.state = rows[i].before;
        worker.jemalloc.active = rows[i].before == JPP_JEMALLOC_READY;
        worker.jemalloc.lg_sample = 19;

        jpp_report_args_init(&args);
        jpp_control_init(&control);
        (void) jpp_control_query(&control, &args, rows[i].text,
                                 strlen(rows[i].text), NULL);
        jpp_control_preview(&control, &worker);

        jpp_is_u64(worker.jemalloc.state, rows[i].after, "%s", rows[i].text);
        jpp_is_u64(worker.jemalloc.active, rows[i].after == JPP_JEMALLOC_READY,
                   "active");
        jpp_is_u64(worker.jemalloc.lg_sample, rows[i].lg_sample, "its rate");
        jpp_ok(!worker.sampler.is_on, "and no sampler");
    }

    control.sampler = 1;
    control.sampler_lg = 11;
    jpp_control_preview(&control, &worker);
    jpp_ok(worker.sampler.is_on, "the sampler, without a jemalloc");
    jpp_is_u64(worker.sampler.lg_sample, 11, "its rate");
}


static jpp_controlled_t
jpp_controlled(uint32_t index)
{
    jpp_controlled_t  worker;

    memset(&worker, 0, sizeof(worker));

    worker.who.index = index;
    worker.who.pid = 4711 + (int64_t) index;
    worker.who.generation = 2;
    worker.result.has_profiler = true;
    worker.result.before.active = true;
    worker.result.before.lg_sample = 19;
    worker.result.after.lg_sample = 14;
    worker.result.has_stats = true;
    worker.result.held_before = 4000000;
    worker.result.held_after = 3000000;
    worker.stall = index * 100;
    worker.has_owners = index != 0;

    return worker;
}


/* the shape that the helpers of jpp_test_fleet.h call */

static void
jpp_control_write(const jpp_fleet_t *fleet, jpp_sink_t *sink)
{
    jpp_control_json(jpp_workers, fleet->n, sink);
}


JPP_TEST(jpp_test_json)
{
    jpp_fleet_t  fleet = { .n = 2 };

    jpp_workers[0] = jpp_controlled(0);

    jpp_workers[1] = jpp_controlled(1);
    jpp_workers[1].error = "active was not set: no";
    jpp_workers[1].result.has_profiler = false;
    jpp_workers[1].result.has_stats = false;

    jpp_is_i64(jpp_output_fill(&jpp_output, jpp_control_write, &fleet, 0), 0,
               "it is written");
    jpp_is_golden(jpp_output.text, "control-two.json");

    jpp_workers[0].result.held_after = 4000001;
    fleet.n = 1;
    jpp_output_fill(&jpp_output, jpp_control_write, &fleet, 0);
    jpp_has(jpp_output.text, "\"purged\": 0,", "what has grown was not purged");

    /* without a profiler, the sampler was switched on */

    jpp_workers[0].result.has_profiler = false;
    jpp_workers[0].result.after.by_sampler = true;
    jpp_output_fill(&jpp_output, jpp_control_write, &fleet, 0);
    jpp_has(jpp_output.text, "\"before\": {\n        \"source\": null,\n       "
            " \"active\": true,\n        \"lg_sample\": null\n",
            "no source before");
    jpp_has(jpp_output.text, "\"after\": {\n        \"source\": \"sampler\",\n "
            "       \"active\": false,\n        \"lg_sample\": 14\n",
            "the sampler after");

    fleet.n = 1;
    jpp_output_fill(&jpp_output, jpp_control_write, &fleet, 0);
    jpp_ok(strncmp(jpp_output.text, "{\n  \"asked\": 1,\n  \"answered\": 1,\n",
                   32) == 0, "one alone");

    fleet.n = 0;
    jpp_output_fill(&jpp_output, jpp_control_write, &fleet, 0);
    jpp_is_str(jpp_output.text, "{\n  \"asked\": 0,\n  \"answered\": 0,\n"
               "  \"workers\": []\n}\n", "none");
}


JPP_TEST(jpp_test_json_evil)
{
    size_t       i;
    jpp_fleet_t  fleet = { .n = 1 };

    jpp_workers[0] = jpp_controlled(UINT32_MAX);
    jpp_workers[0].who.pid = INT64_MIN;
    jpp_workers[0].who.generation = UINT64_MAX;
    jpp_workers[0].error = JPP_FLEET_EVIL;
    jpp_workers[0].result.held_before = UINT64_MAX;
    jpp_workers[0].result.held_after = 0;

    jpp_output_fill(&jpp_output, jpp_control_write, &fleet, 0);

    for (i = 0; i < jpp_output.len; i++) {
        if ((jpp_output.text[i] < 0x20 && jpp_output.text[i] != '\n')
            || jpp_output.text[i] >= 0x7f)
        {
            break;
        }
    }

    jpp_is_u64(i, jpp_output.len, "it is ASCII");
    jpp_ok(strstr(jpp_output.text, "\"error\": \"\\\"'\\\\</pre>") != NULL
           && strstr(jpp_output.text, "\\u0001\\n\\u000d\\u0009???????%s%n")
              != NULL,
           "the sentence is quoted");
    jpp_ok(strstr(jpp_output.text, "\"purged\": 18446744073709551615,")
           != NULL && strstr(jpp_output.text, "\"pid\": -9223372036854775808")
                      != NULL,
           "and numbers are whole");
}


JPP_TEST(jpp_test_json_fails)
{
    size_t       i;
    jpp_fleet_t  fleet = { .n = 8 };

    for (i = 0; i < fleet.n; i++) {
        jpp_workers[i] = jpp_controlled((uint32_t) i);
    }

    jpp_output_fails(&jpp_output, jpp_control_write, &fleet);
}

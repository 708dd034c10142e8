
#include "jpp_control.h"
#include "jpp_report.h"
#include "jpp_test_fleet.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"


static jpp_output_t      jpp_output;

/* what jpp_control_write() writes */
static jpp_controlled_t  jpp_workers[8];


static jpp_err_t      err;
static jpp_args_t     args;
static jpp_control_t  control;


/* The form TEXT becomes the control. */

static jpp_code_t
jpp_control_of(const char *text)
{
    jpp_args_init(&args, &jpp_format_words, jpp_parser_heap.types);
    jpp_control_init(&control);

    return jpp_control_query(&control, &args, text, strlen(text), &err);
}


JPP_TEST(jpp_test_good)
{
    size_t  i;

    static const char  *rows[] = {
        "", "active=on", "active=off", "sampler=on", "sampler=off&lg_sample=11",
        "lg_sample=10", "lg_sample=24", "lg_sample=014", "reset=1", "purge=1",
        "active=on&lg_sample=14&reset=1&purge=1",
        "purge=1&reset=1&lg_sample=14&active=off",
        "%61ctive=%6fn&lg%5Fsample=%31%34", "&&=&active=on&",
        "worker=all&strict=1&active=on", "active=on&worker=pid-7", "stall=off",
        "stall=19ms", "stall=60000ms", "stall=1s", "stall=60s&owners=off",
        "owners=on", "acknowledge=limit-near", "worker=2&acknowledge=swap"
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_is_u64(jpp_control_of(rows[i]), JPP_OK, "\"%s\"", rows[i]);
        jpp_note("%s: active %d, lg_sample %d, reset %d, purge %d, sampler %d, "
                 "stall %d, owners %d, finding %d", rows[i], control.active,
                 control.lg_sample, control.reset, control.purge,
                 control.sampler, control.stall, control.owners,
                 control.acknowledge);
    }

    jpp_shows_notes("forms, and their controls: -1 is no change");

    jpp_is_u64(jpp_control_query(&control, &args, NULL, 0, &err), JPP_OK,
               "no text at all");
}


JPP_TEST(jpp_test_bad)
{
    char    long_text[16385];
    size_t  i;

    static const char  *rows[] = {
        "active=1", "active=0", "active=ON", "active=of", "active=on%00",
        "active=", "active", "active=%", "active=no&active=on",
        "active=off&active=on", "lg_sample=12&purge=1&lg_sample=12",
        "reset=1&reset=0", "purge=1&purge", "active=on&worker=0&worker=1",
        "strict=1&%73trict=1", "x", "=x", "active=on&x=y", "Active=off",
        "activ=off", "actives=off", "active%00=off", "%zz=1",
        "active=on&%zz=1", "active%=off", "format=top&active=on", "worker=x",
        "worker", "strict=2", "lg_sample=9", "lg_sample=25", "lg_sample=0",
        "lg_sample=-1", "lg_sample=+14", "lg_sample=14.0", "lg_sample=0xe",
        "lg_sample=4294967310", "lg_sample=18446744073709551630",
        "lg_sample=on", "lg_sample=", "lg_sample", "reset=0", "reset=on",
        "reset", "stall=", "stall", "stall=on", "stall=100", "stall=ms",
        "stall=9ms", "stall=0s", "stall=60001ms", "stall=61s",
        "stall=4294968s", "stall=1m", "stall=100msx", "stall=-1s",
        "stall=1s&stall=off", "owners=1", "owners=", "purge=2", "purge=true",
        "purge=", "acknowledge=", "acknowledge=0", "acknowledge=swa",
        "acknowledge=swapp", "active=on&reset=<script>", "active=yes",
        "active=off&lg-sample=14", "active=off&symbolize=0", "lg_sample=-12"
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_is_u64(jpp_control_of(rows[i]), JPP_ERR_ARG, "\"%s\"", rows[i]);
        jpp_note("%s: %s", rows[i], err.text);
    }

    jpp_shows_notes("forms that are refused, and why");

    jpp_is_u64(jpp_control_query(&control, &args, "purge=2", 7, NULL),
               JPP_ERR_ARG, "an error without a place for it");

    memset(long_text, 'a', sizeof(long_text));
    jpp_args_init(&args, &jpp_format_words, jpp_parser_heap.types);
    jpp_control_init(&control);
    jpp_is_u64(jpp_control_query(&control, &args, long_text, 16384, &err),
               JPP_ERR_ARG, "a key that is too long");
    jpp_has(err.text, "unknown key: control takes ", "is unknown");
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

    (void) jpp_control_of(query);

    jpp_is_u64(jpp_control_query(&control, &args, form, sizeof(form) - 1, &err),
               JPP_OK, "the form is looked at for what the query left");
    jpp_ok(control.active == 0 && control.lg_sample == 11 && control.reset
           && !control.purge, "the first value counts");
    jpp_ok(args.values[JPP_ARG_WORKER] == JPP_WORKER_INDEX && args.worker == 2
           && args.values[JPP_ARG_STRICT] == 1, "of worker and strict, too");

    jpp_is_u64(jpp_control_of("worker=pid-7"), JPP_OK,
               "a worker in the form alone");
    jpp_ok(args.values[JPP_ARG_WORKER] == JPP_WORKER_PID && args.worker == 7,
           "is the one");
}


JPP_TEST(jpp_test_beside)
{
    size_t  i;

    static const char  *rows[] = {
        "active=on", "lg_sample=14", "reset=1", "purge=1", "sampler=off",
        "stall=off", "owners=on", "snapshot=1"
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        (void) jpp_control_of("acknowledge=swap");
        (void) jpp_control_query(&control, &args, rows[i], strlen(rows[i]),
                                 &err);

        jpp_is_u64(jpp_control_check(&control, &err), JPP_ERR_ARG,
                   "acknowledge beside %s", rows[i]);
        jpp_is_str(err.text, "acknowledge is about a finding, snapshot about "
                   "nginx, and the rest about workers: send a request for "
                   "each", "and why not");
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

    (void) jpp_control_of("");
    jpp_is_u64(jpp_control_check(&control, &err), JPP_ERR_ARG, "nothing");
    jpp_shows(err.text, "nothing, and what there is");

    (void) jpp_control_of("worker=0&strict=1");
    jpp_is_u64(jpp_control_check(&control, &err), JPP_ERR_ARG, "nor for one");

    for (i = 0; i < sizeof(something) / sizeof(something[0]); i++) {
        (void) jpp_control_of(something[i]);
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
    } rows[] = {
        { "reset=1", JPP_JEMALLOC_READY }, { "reset=1", JPP_JEMALLOC_INACTIVE },
        { "active=on", JPP_JEMALLOC_INACTIVE },
        { "active=on", JPP_JEMALLOC_READY },
        { "active=off", JPP_JEMALLOC_READY },
        { "lg_sample=14", JPP_JEMALLOC_READY },
        { "lg_sample=14", JPP_JEMALLOC_INACTIVE },
        { "active=on&lg_sample=14", JPP_JEMALLOC_OFF },
        { "active=on", JPP_JEMALLOC_REFUSED },
        { "active=on", JPP_JEMALLOC_ABSENT }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        memset(&worker, 0, sizeof(jpp_worker_t));

        worker.jemalloc.state = rows[i].before;
        worker.jemalloc.active = rows[i].before == JPP_JEMALLOC_READY;
        worker.jemalloc.lg_sample = 19;

        (void) jpp_control_of(rows[i].text);
        jpp_control_preview(&control, &worker);

        jpp_note("%s, %s", rows[i].text, jpp_status_words[rows[i].before]);
        jpp_note_of("then", worker, jemalloc.state, jemalloc.active,
                    jemalloc.lg_sample, sampler.is_on);
    }

    jpp_shows_notes("what a control would do");

    control.sampler = 1;
    control.sampler_lg = 11;
    jpp_control_preview(&control, &worker);
    jpp_ok(worker.sampler.is_on, "the sampler, without a jemalloc");
    jpp_is_u64(worker.sampler.lg_sample, 11, "its rate");
}


static jpp_controlled_t
jpp_controlled(uint32_t index)
{
    jpp_controlled_t  worker = { 0 };

    worker.who.index = index;
    worker.who.pid = 4711 + (int64_t) index;
    worker.who.generation = 2;
    worker.result.before.source = JPP_SOURCE_JEMALLOC;
    worker.result.before.active = true;
    worker.result.before.lg_sample = 19;
    worker.result.after.source = JPP_SOURCE_JEMALLOC;
    worker.result.after.lg_sample = 14;
    worker.result.purged = 1000000;
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
    jpp_workers[1].result.before.source = JPP_SOURCE_NONE;
    jpp_workers[1].result.after.source = JPP_SOURCE_NONE;
    jpp_workers[1].result.purged = JPP_NONE;

    jpp_is_i64(jpp_output_fill(&jpp_output, jpp_control_write, &fleet, 0), 0,
               "it is written");
    jpp_shows(jpp_output.text, "two workers");

    jpp_workers[0].result.purged = 0;
    fleet.n = 1;
    jpp_output_fill(&jpp_output, jpp_control_write, &fleet, 0);
    jpp_shows(jpp_output.text, "one, what has grown was not purged");

    /* without a profiler, the sampler was switched on */

    jpp_workers[0].result.before.source = JPP_SOURCE_NONE;
    jpp_workers[0].result.after.source = JPP_SOURCE_SAMPLER;
    jpp_output_fill(&jpp_output, jpp_control_write, &fleet, 0);
    jpp_shows(jpp_output.text, "no source before, the sampler after");

    fleet.n = 0;
    jpp_output_fill(&jpp_output, jpp_control_write, &fleet, 0);
    jpp_shows(jpp_output.text, "none");
}


JPP_TEST(jpp_test_json_evil)
{
    size_t       i;
    jpp_fleet_t  fleet = { .n = 1 };

    jpp_workers[0] = jpp_controlled(UINT32_MAX);
    jpp_workers[0].who.pid = INT64_MIN;
    jpp_workers[0].who.generation = UINT64_MAX;
    jpp_workers[0].error = JPP_FLEET_EVIL;
    jpp_workers[0].result.purged = UINT64_MAX - 1;

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
    jpp_ok(strstr(jpp_output.text, "\"purged\": 18446744073709551614,")
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

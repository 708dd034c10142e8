
#include "jpp_test_main.h"
#include "jpp_profile.h"
#include "jpp_status.h"
#include "jpp_test_fleet.h"
#include "jpp_version.h"


/* as long as the sentence of an error may be */
#define JPP_TEN       "ten bytes "
#define JPP_HUNDRED                                                           \
    JPP_TEN JPP_TEN JPP_TEN JPP_TEN JPP_TEN JPP_TEN JPP_TEN JPP_TEN JPP_TEN   \
    JPP_TEN
#define JPP_LONG_WHY                                                          \
    JPP_HUNDRED JPP_HUNDRED JPP_HUNDRED JPP_HUNDRED JPP_HUNDRED JPP_TEN "."


/*
 * One line for each value, "workers.0.pid=4711"; strings and keys in quotes,
 * newlines as \n.
 */

#define JPP_STATUS_PERL                                                       \
    "sub p { my ($k, $v) = @_; "                                              \
    "if (ref $v eq q(HASH)) { p(qq($k.$_), $v->{$_}) for sort keys %$v } "    \
    "elsif (ref $v eq q(ARRAY)) { print qq($k=), scalar @$v, qq(\\n); "       \
    "p(qq($k.$_), $v->[$_]) for 0 .. $#$v } "                                 \
    "else { $v = JSON::PP->new->allow_nonref->ascii->encode($v); "            \
    "print qq($k=$v\\n) } } "                                                 \
    "p(q(), JSON::PP->new->utf8->decode($_)); print qq(whole\\n)"


static jpp_output_t  jpp_output, jpp_parsed;


/* Two of index 0 while a configuration is replaced. */

#define JPP_RESTART                                                           \
    "Save what the workers hold, which ends with them: | curl -o memory.txt " \
    "'http://127.0.0.1:8081/debug/pprof/memory?format=top' | Then run "       \
    "systemctl restart nginx: a reload is not enough."


JPP_TEST(jpp_test_former)
{
    size_t        i;
    jpp_worker_t  workers[4];

    for (i = 0; i < 4; i++) {
        workers[i] = jpp_fleet_worker((uint32_t) i % 2, JPP_JEMALLOC_READY);
        workers[i].who.generation = 7 + i / 2;
    }

    jpp_status_former(workers, 0);
    jpp_status_former(workers, 2);
    jpp_ok(!workers[0].is_exiting && !workers[1].is_exiting,
           "one generation: nobody is exiting");

    jpp_status_former(workers, 4);
    jpp_ok(workers[0].is_exiting && workers[1].is_exiting
           && !workers[2].is_exiting && !workers[3].is_exiting,
           "two: the former is");

    for (i = 0; i < 4; i++) {
        workers[i].is_exiting = i > 1;
    }

    jpp_status_former(workers, 4);
    jpp_ok(!workers[0].is_exiting && !workers[1].is_exiting
           && workers[2].is_exiting,
           "unless those of the later one are on their way out");
}


JPP_TEST(jpp_test_words)
{
    unsigned  i;

    static const char  *words[] = { "no-jemalloc", "no-prof", "off",
                                    "refused", "inactive", "ready",
                                    "unknown" };

    for (i = 0; i < 7; i++) {
        jpp_is_str(jpp_status_word((jpp_jemalloc_state_t) i), words[i],
                   "the word for %u", i);
    }
}


JPP_TEST(jpp_test_times)
{
    char    text[JPP_STATUS_TIME];
    size_t  i;

    static const struct {
        int64_t      seconds;
        const char  *text;
    } rows[] = {
        { 0, "1970-01-01T00:00:00Z" },
        { 951782399, "2000-02-28T23:59:59Z" },
        { 951782400, "2000-02-29T00:00:00Z" },
        { 1795233720, "2026-11-21T04:02:00Z" },
        { 253402300799, "9999-12-31T23:59:59Z" },
        { 253402300800, "9999-12-31T23:59:59Z" },
        { INT64_MAX, "9999-12-31T23:59:59Z" },
        { -1, "1970-01-01T00:00:00Z" },
        { INT64_MIN, "1970-01-01T00:00:00Z" },
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_is_str(jpp_status_time(rows[i].seconds, text), rows[i].text,
                   "%" PRId64 " seconds", rows[i].seconds);
    }
}


/* What is kept of a failure: printable, with an end, and the last one. */

JPP_TEST(jpp_test_failures)
{
    char            text[400];
    size_t          len;
    jpp_failure_t   failure;

    memset(&failure, 0x55, sizeof(failure));

    jpp_status_failed(&failure, 4711, JPP_FLEET_EVIL);
    jpp_is_i64(failure.time, 4711, "the time of a failure");
    jpp_is_str(failure.text, JPP_FLEET_ASCII "? | ?????????%s%n",
               "its text, cleaned");

    memset(text, 'x', sizeof(text));

    for (len = sizeof(failure.text) - 2; len <= sizeof(failure.text); len++) {
        text[len] = '\0';
        jpp_status_failed(&failure, 4712, text);
        text[len] = 'x';

        jpp_is_u64(strlen(failure.text),
                   len < sizeof(failure.text) ? len : len - 1,
                   "a text of %zu bytes", len);
    }

    jpp_is_i64(failure.time, 4712, "and the time of the last");
}


JPP_TEST(jpp_test_notices)
{
    char          text[2048];
    jpp_worker_t  worker;

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    jpp_status_notice(&worker, text, sizeof(text));
    jpp_is_str(text, "jemalloc 5.3.0, profiling ready, one sample every "
               "512.0 KiB", "ready");

    worker.jemalloc.accum = true;
    worker.jemalloc.lg_sample = 22;
    jpp_status_notice(&worker, text, sizeof(text));
    jpp_is_str(text, "jemalloc 5.3.0, profiling ready, one sample every "
               "4.0 MiB is too coarse for nginx; prof_accum keeps every stack "
               "forever", "and its harm, the rate once");

    worker.jemalloc.state = JPP_JEMALLOC_INACTIVE;
    jpp_status_notice(&worker, text, sizeof(text));
    jpp_is_str(text, "profiling is not active: prof.active is false, so "
               "jemalloc takes no samples. Without a restart: POST "
               "active=on to control, or add to the http block, and reload: "
               "| jemalloc_pprof_active on; | From the start: Run systemctl "
               "edit nginx, and append to the line Environment=MALLOC_CONF= | "
               ",prof_active:true | " JPP_RESTART, "inactive");

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_ABSENT);
    jpp_status_notice(&worker, text, sizeof(text));
    jpp_is_str(text, "the malloc of this nginx is not jemalloc's: it comes "
               "from libc.so.6, which does not record where memory was "
               "allocated. Without a restart: POST sampler=on to control, or "
               "set in the http block, and reload: | jemalloc_pprof_source "
               "sampler; | Or run apt-get install libjemalloc2 and systemctl "
               "edit nginx, and add: | [Service] | "
               "Environment=LD_PRELOAD=libjemalloc.so.2 | "
               "Environment=MALLOC_CONF=prof:true,prof_active:true,"
               "lg_prof_sample:19 | " JPP_RESTART " | For binary upgrades, add "
               "to nginx.conf, outside of all blocks: | env LD_PRELOAD; "
               "env MALLOC_CONF;", "no jemalloc");
}


/* Whatever the size: the beginning of the whole line, and not a byte behind. */

JPP_TEST(jpp_test_notice_sizes)
{
    char         *text, whole[2048];
    size_t        size, len;
    unsigned      state, wrong;
    const char   *c;
    jpp_worker_t  worker;

    for (state = 0; state <= JPP_JEMALLOC_READY; state++) {

        worker = jpp_fleet_evil(0, (jpp_jemalloc_state_t) state);
        jpp_status_notice(&worker, whole, sizeof(whole));

        wrong = 0;
        len = strlen(whole);

        for (c = whole; *c != '\0'; c++) {
            wrong += *c < 0x20 || *c >= 0x7f;
        }

        for (size = 1; size <= len + 2; size++) {
            text = malloc(size);
            jpp_status_notice(&worker, text, size);

            wrong += strlen(text) != (size <= len ? size - 1 : len)
                     || memcmp(text, whole, strlen(text)) != 0;
            free(text);
        }

        jpp_is_u64(wrong, 0, "state %u in 1 to %zu bytes", state, len + 2);
    }

    text = whole;
    *text = 'x';
    jpp_status_notice(&worker, text, 0);
    jpp_is_u64((uint64_t) *text, 'x', "an empty buffer is not written");
}


static bool
jpp_status_has(const char *line)
{
    char  text[1024];

    (void) snprintf(text, sizeof(text), "\n%s\n", line);

    return strstr(jpp_parsed.text, text) != NULL;
}


/* The JSON of FLEET in jpp_output, what perl reads of it in jpp_parsed. */

static void
jpp_status_parse(const jpp_fleet_t *fleet)
{
    int      fd;
    char     path[] = "/tmp/jpp_status.XXXXXX", command[2048];
    FILE    *perl;
    size_t   i, beyond;

    jpp_is_i64(jpp_output_fill(&jpp_output, jpp_status_json, fleet, 0), 0,
               "JSON of %zu bytes", jpp_output.len);

    for (i = 0, beyond = 0; i < jpp_output.len; i++) {
        beyond += (unsigned char) jpp_output.text[i] >= 0x7f;
    }

    jpp_is_u64(beyond, 0, "it is ASCII");

    fd = mkstemp(path);
    jpp_ok(fd != -1 && write(fd, jpp_output.text, jpp_output.len)
                       == (ssize_t) jpp_output.len, "%s", path);
    close(fd);

    (void) snprintf(command, sizeof(command),
                    "perl -MJSON::PP -0777 -ne '%s' %s", JPP_STATUS_PERL,
                    path);

    /* the newline before the first line makes each be between two */

    jpp_parsed.text[0] = '\n';
    jpp_parsed.len = 1;

    perl = popen(command, "r");
    if (perl != NULL) {
        jpp_parsed.len += fread(jpp_parsed.text + 1, 1, JPP_FLEET_TEXT - 2,
                                perl);
    }

    jpp_parsed.text[jpp_parsed.len] = '\0';

    jpp_ok(perl != NULL && pclose(perl) == 0, "perl reads it");
    jpp_ok(jpp_status_has("whole"), "to its end");

    unlink(path);
}


JPP_TEST(jpp_test_json)
{
    size_t         i;
    jpp_fleet_t    fleet;
    jpp_worker_t   workers[2];
    jpp_missing_t  missing;

    static const char  *lines[] = {
        ".module=\"" JPP_VERSION "\"", ".nginx=\"1.22.1\"", ".host=\"web1\"",
        ".asked=3", ".answered=2", ".workers=2",
        ".workers.0.worker=0", ".workers.0.pid=4711",
        ".workers.0.generation=2", ".workers.0.exiting=false",
        ".workers.0.started=\"2026-11-21T04:02:00Z\"",
        ".workers.0.stall_ms=100", ".workers.1.stall_ms=null",
        ".workers.0.jemalloc=\"5.3.0\"", ".workers.0.allocator=\"jemalloc\"",
        ".workers.0.state=\"ready\"", ".workers.0.active=true",
        ".workers.0.lg_sample=22", ".workers.0.prof_accum=true",
        ".workers.0.unwinder.name=\"module\"",
        ".workers.0.unwinder.reason=null", ".workers.0.unwinder.stacks=12345",
        ".workers.0.unwinder.truncated=67",
        ".workers.0.stats.allocated=12897484",
        ".workers.0.stats.active=14680064", ".workers.0.stats.metadata=3",
        ".workers.0.stats.resident=21076377",
        ".workers.0.stats.mapped=18446744073709551615",
        ".workers.0.stats.retained=0", ".workers.0.problems=2",
        ".workers.0.problems.0.id=\"accum\"",
        ".workers.0.problems.0.fatal=false",
        ".workers.0.problems.0.what=\"prof_accum keeps every stack forever\"",
        ".workers.0.problems.1.id=\"coarse\"",
        ".workers.1.worker=1", ".workers.1.pid=4712",
        ".workers.1.exiting=true", ".workers.1.jemalloc=null",
        ".workers.1.allocator=\"libc.so.6\"",
        ".workers.1.state=\"no-jemalloc\"", ".workers.1.active=false",
        ".workers.1.lg_sample=null", ".workers.1.prof_accum=false",
        ".workers.1.unwinder.name=null",
        ".workers.1.unwinder.reason=\"nothing is sampled\"",
        ".workers.1.unwinder.stacks=null", ".workers.1.unwinder.truncated=null",
        ".workers.0.source=\"jemalloc\"", ".workers.0.sampler=null",
        ".workers.0.cost.cpu_ms=61", ".workers.0.cost.assumed_ns=5000",
        ".workers.0.cost.bytes=null", ".workers.1.cost.assumed_ns=null",
        ".workers.1.source=null", ".workers.1.sampler=null",
        ".workers.1.cost.cpu_ms=null", ".workers.1.cost.bytes=null",
        ".workers.1.stats=null", ".workers.1.problems=1",
        ".workers.1.problems.0.id=\"no-jemalloc\"",
        ".workers.1.problems.0.fatal=true",
        ".workers.0.in_step=null", ".workers.1.in_step=null",
        ".workers.0.last_error=null",
        ".workers.1.last_error.time=\"2026-11-21T04:03:01Z\"",
        ".workers.1.last_error.text=\"the \\\"dump\\\" failed\"",
        ".unnamed=\"5 of 9 addresses have no name\"",
        ".missing=1", ".missing.0.worker=7", ".missing.0.pid=4718",
        ".missing.0.generation=1", ".missing.0.why=\"it ended\"",
    };

    workers[0] = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    workers[0].stalling.threshold = 100;
    workers[0].jemalloc.accum = true;
    workers[0].jemalloc.lg_sample = 22;
    workers[0].jemalloc.hook = JPP_HOOK_ON;
    workers[0].jemalloc.stacks.n = 12345;
    workers[0].jemalloc.stacks.n_cut = 67;
    workers[1] = jpp_fleet_worker(1, JPP_JEMALLOC_ABSENT);
    workers[1].is_exiting = true;
    jpp_status_failed(&workers[1].last_error, 1795233781,
                      "the \"dump\" failed");

    missing = (jpp_missing_t) {
        .who = { .index = 7, .pid = 4718, .generation = 1 }, .why = "it ended"
    };

    fleet = jpp_fleet_of(3, workers, 2);
    fleet.unnamed = "5 of 9 addresses have no name";
    fleet.missing = &missing;
    fleet.n_missing = 1;
    jpp_status_parse(&fleet);

    for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        jpp_ok(jpp_status_has(lines[i]), "%s", lines[i]);
    }

    jpp_ok(jpp_status_has(".workers.1.problems.0.why=\"it comes from "
                          "libc.so.6, which does not record where memory was "
                          "allocated\""), "why");
    jpp_has(jpp_parsed.text, "sampler;\\nOr run apt-get install libjemalloc2 "
            "and systemctl edit nginx, and add:\\n    [Service]\\n",
            "a fix of several lines");
    jpp_has(jpp_output.text, "\n      \"pid\": 4711,\n",
            "one value on a line, for people");
}


JPP_TEST(jpp_test_json_empty)
{
    jpp_fleet_t  fleet = jpp_fleet_of(4, NULL, 0);

    jpp_status_parse(&fleet);
    jpp_ok(jpp_status_has(".asked=4"), "asked");
    jpp_ok(jpp_status_has(".answered=0"), "answered");
    jpp_ok(jpp_status_has(".workers=0"), "no workers");
    jpp_ok(jpp_status_has(".missing=0"), "no worker is missing");
}


/* Does each worker have the settings of all? */

JPP_TEST(jpp_test_json_in_step)
{
    char            line[64];
    size_t          i, k;
    jpp_fleet_t     fleet;
    jpp_worker_t    workers[4];

    static const struct {
        jpp_control_t   wanted;
        const char     *in_step[4];
    } rows[] = {
        { { .active = -1, .lg_sample = -1, .sampler = -1, .stall = -1,
            .owners = -1 },
          { "null", "null", "null", "null" } },
        { { .active = 1, .lg_sample = -1, .sampler = -1, .stall = -1,
            .owners = -1 },
          { "true", "false", "true", "false" } },
        { { .active = 0, .lg_sample = -1, .sampler = -1, .stall = -1,
            .owners = -1 },
          { "false", "true", "false", "false" } },
        { { .active = -1, .lg_sample = 19, .sampler = -1, .stall = -1,
            .owners = -1 },
          { "true", "true", "false", "false" } },
        { { .active = 1, .lg_sample = 15, .sampler = -1, .stall = -1,
            .owners = -1 },
          { "false", "false", "true", "false" } },
        { { .active = 0, .lg_sample = 15, .sampler = -1, .stall = -1,
            .owners = -1 },
          { "false", "false", "false", "false" } },
        { { .active = -1, .lg_sample = -1, .sampler = 1, .sampler_lg = 12,
            .stall = -1, .owners = -1 },
          { "false", "false", "false", "true" } },
        { { .active = -1, .lg_sample = -1, .sampler = 1, .sampler_lg = 13,
            .stall = -1, .owners = -1 },
          { "false", "false", "false", "false" } },
        { { .active = -1, .lg_sample = -1, .sampler = 0, .stall = -1,
            .owners = -1 },
          { "true", "true", "true", "false" } },
        { { .active = -1, .lg_sample = -1, .sampler = -1, .stall = 100,
            .owners = -1 },
          { "true", "false", "false", "false" } },
        { { .active = -1, .lg_sample = -1, .sampler = -1, .stall = 0,
            .owners = 1 },
          { "false", "true", "false", "false" } },
        { { .active = -1, .lg_sample = -1, .sampler = -1, .stall = -1,
            .owners = 0 },
          { "true", "false", "true", "true" } }
    };

    workers[0] = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    workers[1] = jpp_fleet_worker(1, JPP_JEMALLOC_INACTIVE);
    workers[2] = jpp_fleet_worker(2, JPP_JEMALLOC_READY);
    workers[2].jemalloc.lg_sample = 15;
    workers[0].stalling.threshold = 100;
    workers[1].has_owners = true;
    workers[2].stalling.threshold = 250;

    /* a worker without a profiler is never in step, whatever its fields are */

    workers[3] = jpp_fleet_worker(3, JPP_JEMALLOC_OFF);
    workers[3].sampler.is_on = true;
    workers[3].sampler.lg_sample = 12;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        fleet = jpp_fleet_of(4, workers, 4);
        fleet.wanted = &rows[i].wanted;
        jpp_status_parse(&fleet);

        for (k = 0; k < 4; k++) {
            (void) snprintf(line, sizeof(line), ".workers.%zu.in_step=%s", k,
                            rows[i].in_step[k]);
            jpp_ok(jpp_status_has(line), "settings %zu: %s", i, line);
        }
    }
}


JPP_TEST(jpp_test_json_states)
{
    char           line[64];
    unsigned       i;
    jpp_fleet_t    fleet;
    jpp_worker_t   workers[JPP_JEMALLOC_READY + 1];

    for (i = 0; i <= JPP_JEMALLOC_READY; i++) {
        workers[i] = jpp_fleet_worker(i, (jpp_jemalloc_state_t) i);
    }

    workers[0].jemalloc.allocator[0] = '\0';

    fleet = jpp_fleet_of(6, workers, 6);
    jpp_status_parse(&fleet);

    for (i = 0; i <= JPP_JEMALLOC_READY; i++) {
        (void) snprintf(line, sizeof(line), ".workers.%u.state=\"%s\"", i,
                        jpp_status_word((jpp_jemalloc_state_t) i));
        jpp_ok(jpp_status_has(line), "%s", line);

        (void) snprintf(line, sizeof(line), ".workers.%u.lg_sample=%s", i,
                        i > JPP_JEMALLOC_OFF ? "19" : "null");
        jpp_ok(jpp_status_has(line), "%s", line);

        (void) snprintf(line, sizeof(line), ".workers.%u.problems=%d", i,
                        i != JPP_JEMALLOC_READY);
        jpp_ok(jpp_status_has(line), "%s", line);
    }

    jpp_ok(jpp_status_has(".workers.0.allocator=null"),
           "an unknown allocator");
}


JPP_TEST(jpp_test_json_sampler)
{
    size_t         i;
    char           text[256];
    jpp_fleet_t    fleet;
    jpp_worker_t   worker;

    static const char  *lines[] = {
        ".workers.0.state=\"no-jemalloc\"", ".workers.0.problems=0",
        ".workers.0.source=\"sampler\"", ".workers.0.sampler.lg_sample=12",
        ".workers.0.sampler.since=\"2026-11-21T04:02:00Z\"",
        ".workers.0.sampler.samples=4000000", ".workers.0.sampler.live=31",
        ".workers.0.sampler.live_max=65536", ".workers.0.sampler.sites=7",
        ".workers.0.sampler.dropped=0", ".workers.0.sampler.truncated=5",
        ".workers.0.sampler.bytes_max=99", ".workers.0.sampler.slots=25",
        ".workers.0.sampler.objects=8", ".workers.0.sampler.foreign=1",
        ".workers.0.sampler.lost=2", ".workers.0.cost.cpu_ms=2000",
        ".workers.0.cost.assumed_ns=500",
        ".workers.0.cost.bytes=88"
    };

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_ABSENT);
    worker.sampler = (jpp_sampler_state_t) {
        .is_on = true, .lg_sample = 12, .since = 1795233720,
        .samples = 4000000, .live = 31, .live_max = 65536, .sites = 7,
        .bytes = 88, .bytes_max = 99, .cut = 5, .slots = 25, .objects = 8,
        .foreign = 1, .lost = 2
    };

    fleet = jpp_fleet_of(1, &worker, 1);
    jpp_status_parse(&fleet);

    for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        jpp_ok(jpp_status_has(lines[i]), "%s", lines[i]);
    }

    jpp_status_notice(&worker, text, sizeof(text));
    jpp_is_str(text, "the module's sampler ready, one sample every 4.0 KiB",
               "the line of the log");
}


/* Since when samples are complete, and when there were none. */

JPP_TEST(jpp_test_json_coverage)
{
    jpp_fleet_t   fleet;
    jpp_worker_t  worker;

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    fleet = jpp_fleet_of(1, &worker, 1);

    jpp_status_parse(&fleet);
    jpp_ok(jpp_status_has(".workers.0.complete_since=null")
           && jpp_status_has(".workers.0.gap=null"), "from the start");

    worker.coverage.since = 1795233720;
    jpp_status_parse(&fleet);
    jpp_ok(jpp_status_has(".workers.0.complete_since="
                          "\"2026-11-21T04:02:00Z\"")
           && jpp_status_has(".workers.0.gap=null"), "since a reset");

    worker.coverage.off = 1795233660;
    worker.coverage.n_off = 2;
    jpp_status_parse(&fleet);
    jpp_ok(jpp_status_has(".workers.0.gap.from=\"2026-11-21T04:01:00Z\"")
           && jpp_status_has(".workers.0.gap.to=\"2026-11-21T04:02:00Z\"")
           && jpp_status_has(".workers.0.gap.times=2")
           && jpp_status_has(".workers.0.problems.0.id=\"gap\""),
           "with a gap, which is a problem");

    worker.jemalloc.state = JPP_JEMALLOC_INACTIVE;
    worker.coverage.since = 0;
    jpp_status_parse(&fleet);
    jpp_ok(jpp_status_has(".workers.0.complete_since=null")
           && jpp_status_has(".workers.0.gap=null"), "while it is off");

    worker.sampler.is_on = true;
    worker.sampler.since = 1795233781;
    jpp_status_parse(&fleet);
    jpp_ok(jpp_status_has(".workers.0.complete_since="
                          "\"2026-11-21T04:03:01Z\"")
           && jpp_status_has(".workers.0.gap=null"), "of the sampler");
}


JPP_TEST(jpp_test_json_evil)
{
    char           host[20000];
    unsigned       i;
    jpp_fleet_t    fleet;
    jpp_worker_t   workers[JPP_JEMALLOC_READY + 1];
    jpp_missing_t  missing = { .why = JPP_FLEET_EVIL };

    for (i = 0; i <= JPP_JEMALLOC_READY; i++) {
        workers[i] = jpp_fleet_evil(i, (jpp_jemalloc_state_t) i);
    }

    memset(host, '"', sizeof(host));
    host[sizeof(host) - 1] = '\0';

    fleet = jpp_fleet_of(UINT32_MAX, workers, 6);
    fleet.nginx = JPP_FLEET_EVIL;
    fleet.host = host;
    fleet.missing = &missing;
    fleet.n_missing = 1;
    jpp_status_parse(&fleet);

    jpp_ok(jpp_status_has(".nginx=\"\\\"'\\\\</pre><script>&amp;\\u0001\\n\\r"
                          "\\t???????%s%n\""), "the string comes back");
    jpp_ok(jpp_status_has(".workers.5.pid=-9223372036854775808"),
           "a number too");
    jpp_has(jpp_parsed.text, ".host=\"\\\"\\\"\\\"", "a long string");
    jpp_ok(jpp_status_has(".workers.5.last_error.time="
                          "\"1970-01-01T00:00:00Z\""), "a time");
    jpp_ok(jpp_status_has(".workers.5.last_error.text=\"\\\"'\\\\</pre>"
                          "<script>&amp;\\u0001\\n\\r\\t???????%s%n\""),
           "and the text of a failure");
}


JPP_TEST(jpp_test_json_fails)
{
    jpp_fleet_t   fleet;
    jpp_worker_t  worker;

    worker = jpp_fleet_evil(0, JPP_JEMALLOC_INACTIVE);
    fleet = jpp_fleet_of(1, &worker, 1);

    jpp_output_fails(&jpp_output, jpp_status_json, &fleet);
}


/* The comments on FLEET; NULL: memory was out. */

static const char *const *
jpp_status_said(const jpp_fleet_t *fleet, jpp_arena_t *arena)
{
    size_t          i, n;
    uint32_t       *ids;
    const char    **comments;
    jpp_profile_t   profile;

    static const jpp_value_type_t  types[] = { { "a", "b", false, 0, 0 } };

    if (!jpp_profile_init(&profile, arena, types, 1)) {
        return NULL;
    }

    jpp_status_comments(fleet, &profile);

    ids = jpp_vec_items(profile.comments, uint32_t);
    n = jpp_vec_count(profile.comments, uint32_t);
    comments = jpp_arena_alloc(arena, (n + 1) * sizeof(char *));

    for (i = 0; comments != NULL && i < n; i++) {
        comments[i] = jpp_profile_str(&profile, ids[i]).data;
    }

    return profile.is_mute ? NULL : comments;
}


static bool
jpp_status_is(const char *const *comments, const char *const *expected)
{
    if (comments == NULL) {
        return false;
    }

    for ( /* void */ ; *comments != NULL && *expected != NULL; comments++) {

        if (strcmp(*comments, *expected) != 0) {
            jpp_diag("got %s, expected %s", *comments, *expected);
            return false;
        }

        expected++;
    }

    return *comments == *expected;
}


JPP_TEST(jpp_test_comments)
{
    jpp_fleet_t           fleet;
    jpp_arena_t           arena;
    jpp_worker_t          worker;
    const char *const    *comments;

    static const char  *none[] = {
        "nginx 1.22.1", "jemalloc_pprof module " JPP_VERSION, "workers 0/4",
        NULL
    };

    static const char  *one[] = {
        "nginx 1.22.1", "jemalloc_pprof module " JPP_VERSION,
        "jemalloc 5.3.0", "workers 1/1", "worker 3 pid 4714",
        "jemalloc stats.allocated 12897484 bytes (12.3 MiB)",
        "jemalloc stats.active 14680064 bytes (14.0 MiB)",
        "jemalloc stats.resident at most 21076377 bytes (20.1 MiB): shared "
        "pages and pages never touched count", NULL
    };

    static const char  *time[] = {
        "nginx 1.22.1", "jemalloc_pprof module " JPP_VERSION, "workers 1/1",
        "worker 3 pid 4714", NULL
    };

    jpp_arena_init(&arena, 1 << 20);

    fleet = jpp_fleet_of(4, NULL, 0);
    comments = jpp_status_said(&fleet, &arena);
    jpp_ok(jpp_status_is(comments, none), "comments without a worker");

    worker = jpp_fleet_worker(3, JPP_JEMALLOC_READY);
    fleet = jpp_fleet_of(1, &worker, 1);
    comments = jpp_status_said(&fleet, &arena);
    jpp_ok(jpp_status_is(comments, one), "of one");

    fleet.is_of_time = true;
    comments = jpp_status_said(&fleet, &arena);
    jpp_ok(jpp_status_is(comments, time), "and of its time");
    fleet.is_of_time = false;

    worker.jemalloc.hook = JPP_HOOK_ON;
    worker.jemalloc.stacks.n = 12;
    worker.jemalloc.stacks.n_cut = 3;
    comments = jpp_status_said(&fleet, &arena);
    jpp_is_str(comments[5], "stacks unwound by the module in 1 of 1 workers: "
               "12, 3 of them truncated", "of one with the hook");

    worker.jemalloc.hook = JPP_HOOK_OFF;
    worker.sampler.is_on = true;
    worker.sampler.since = 1795233720;
    worker.sampler.dropped_sites = 4;
    worker.sampler.dropped_live = 5;
    fleet.is_sampled = true;
    comments = jpp_status_said(&fleet, &arena);
    jpp_is_str(comments[5], "source: the module's sampler in 1 of 1 workers, "
               "on in all of them since 2026-11-21T04:02:00Z: what was "
               "allocated before is not in it", "of one with the sampler");
    jpp_is_str(comments[6], "the sampler dropped 9 samples, so there is more "
               "than this: sample coarser", "and what it dropped");
    jpp_is_str(comments[7], "stacks unwound by the module in 1 of 1 workers: "
               "12, 3 of them truncated", "and walked");

    jpp_arena_destroy(&arena);
}


/* Since when samples are complete: of profiles that are made of them. */

JPP_TEST(jpp_test_comments_coverage)
{
    jpp_fleet_t           fleet;
    jpp_arena_t           arena;
    jpp_worker_t          workers[4];
    const char *const    *comments;

    jpp_arena_init(&arena, 1 << 20);

    workers[0] = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    workers[1] = jpp_fleet_worker(1, JPP_JEMALLOC_READY);
    workers[2] = jpp_fleet_worker(2, JPP_JEMALLOC_READY);
    workers[3] = jpp_fleet_worker(3, JPP_JEMALLOC_READY);
    workers[0].coverage.since = 1795233720;

    fleet = jpp_fleet_of(1, workers, 1);
    fleet.is_sampled = true;
    comments = jpp_status_said(&fleet, &arena);
    jpp_is_str(comments[5], "samples complete since 2026-11-21T04:02:00Z: "
               "jemalloc began to sample then, or forgot its samples, in 1 of "
               "1 workers, and memory allocated before is missing",
               "of one that began late");

    workers[0].coverage.off = 1795233660;
    workers[0].coverage.n_off = 1;
    comments = jpp_status_said(&fleet, &arena);
    jpp_is_str(comments[5], "samples complete since 2026-11-21T04:02:00Z: "
               "jemalloc's sampling was off from 2026-11-21T04:01:00Z to "
               "2026-11-21T04:02:00Z in 1 of 1 workers, and memory allocated "
               "while it was off is missing", "of one with a gap");
    jpp_ok(strncmp(comments[6], "jemalloc stats.allocated ", 25) == 0,
           "and no other");

    fleet.is_sampled = false;
    comments = jpp_status_said(&fleet, &arena);
    jpp_ok(strncmp(comments[5], "jemalloc stats.allocated ", 25) == 0,
           "not of what is not sampled");
    fleet.is_sampled = true;

    workers[0].sampler.is_on = true;
    comments = jpp_status_said(&fleet, &arena);
    jpp_ok(strncmp(comments[6], "stacks unwound", 14) == 0,
           "nor with the sampler, which says so itself");

    fleet.is_sampled = false;
    comments = jpp_status_said(&fleet, &arena);
    jpp_ok(strncmp(comments[5], "stacks unwound", 14) == 0,
           "though not of what is not sampled");
    workers[0].sampler.is_on = false;

    /* of several: a gap, another, none, and a reset */

    workers[1].coverage.since = 1795233719;
    workers[1].coverage.off = 1795233659;
    workers[1].coverage.n_off = 3;
    workers[3].coverage.since = 1795233780;

    fleet = jpp_fleet_of(4, workers, 4);
    fleet.is_sampled = true;
    comments = jpp_status_said(&fleet, &arena);
    jpp_is_str(comments[4], "samples complete since 2026-11-21T04:02:00Z: "
               "jemalloc's sampling was off 3 times between "
               "2026-11-21T04:00:59Z and 2026-11-21T04:02:00Z in 2 of 4 "
               "workers, and memory allocated while it was off is missing",
               "of several with gaps");
    jpp_is_str(comments[5], "samples complete since 2026-11-21T04:03:00Z: "
               "jemalloc began to sample then, or forgot its samples, in 1 of "
               "4 workers, and memory allocated before is missing",
               "and of one that forgot");

    jpp_arena_destroy(&arena);
}


JPP_TEST(jpp_test_comments_of_many)
{
    char                  nginx[3000];
    jpp_fleet_t           fleet;
    jpp_arena_t           arena;
    jpp_worker_t          workers[4];
    const char *const    *comments;

    static const jpp_missing_t  missing[] = {
        { .who = { .index = 3, .pid = 4711 }, .why = "it was killed" },
        { .who = { .index = UINT32_MAX, .pid = INT64_MIN },
          .why = JPP_LONG_WHY }
    };

    static const char  *many[] = {
        "nginx 1.22.1", "jemalloc_pprof module " JPP_VERSION,
        "jemalloc 5.3.0", "jemalloc 5.3.1", "workers 3/5",
        "worker 3 pid 4711 is missing: it was killed",
        "worker 4294967295 pid -9223372036854775808 is missing: "
        JPP_LONG_WHY,
        "jemalloc stats.allocated 38692452 bytes (36.9 MiB), the sum of 3 "
        "workers, each with what it inherited",
        "jemalloc stats.active 44040192 bytes (42.0 MiB), the sum of 3 "
        "workers, each with what it inherited",
        "jemalloc stats.resident at most 21076378 bytes (20.1 MiB) in worker 1 "
        "pid 4712, the largest: shared pages and pages never touched count",
        NULL
    };

    static const char  *without[] = {
        "nginx 1.22.1", "jemalloc_pprof module " JPP_VERSION,
        "jemalloc 5.3.0", "jemalloc 5.3.1", "workers 4/4", NULL
    };

    jpp_arena_init(&arena, 1 << 20);

    workers[0] = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    workers[1] = jpp_fleet_worker(1, JPP_JEMALLOC_READY);
    workers[2] = jpp_fleet_worker(2, JPP_JEMALLOC_READY);
    workers[3] = jpp_fleet_worker(3, JPP_JEMALLOC_ABSENT);
    strcpy(workers[1].jemalloc.version, "5.3.1");
    workers[1].stats.resident++;

    fleet = jpp_fleet_of(5, workers, 3);
    fleet.missing = missing;
    fleet.n_missing = 2;
    comments = jpp_status_said(&fleet, &arena);
    jpp_ok(jpp_status_is(comments, many), "of several");

    fleet = jpp_fleet_of(4, workers, 4);
    comments = jpp_status_said(&fleet, &arena);
    jpp_ok(jpp_status_is(comments, without), "no sum without one's part");

    memset(nginx, 'n', sizeof(nginx));
    nginx[sizeof(nginx) - 1] = '\0';
    fleet.nginx = nginx;
    comments = jpp_status_said(&fleet, &arena);
    jpp_is_u64(comments != NULL ? strlen(comments[0]) : 0, 1279,
               "a long one is cut");

    jpp_arena_destroy(&arena);
}


/* As many facts as there can be, and each request of memory denied. */

JPP_TEST(jpp_test_comments_memory)
{
    size_t         i, n;
    uint64_t       k, n_calls, wrong;
    jpp_fleet_t    fleet;
    jpp_arena_t    arena;
    jpp_worker_t   workers[40];
    jpp_missing_t  missing[40];
    const char *const  *comments;

    for (i = 0; i < 40; i++) {
        workers[i] = jpp_fleet_worker((uint32_t) i, JPP_JEMALLOC_READY);
        (void) snprintf(workers[i].jemalloc.version, 32, "5.3.%zu", i);

        missing[i] = (jpp_missing_t) { .who = { .pid = 4711 },
                                        .why = "it ended" };
    }

    fleet = jpp_fleet_of(80, workers, 40);
    fleet.missing = missing;
    fleet.n_missing = 40;

    jpp_arena_init(&arena, 1 << 20);
    comments = jpp_status_said(&fleet, &arena);

    for (n = 0; comments != NULL && comments[n] != NULL; n++) { /* void */ }

    jpp_is_u64(n, 86, "40 versions, and 40 that are missing");
    n_calls = arena.n_calls;
    jpp_ok(n_calls >= 86, "%" PRIu64 " requests of memory", n_calls);
    jpp_arena_destroy(&arena);

    for (k = 1, wrong = 0; k <= n_calls; k++) {
        jpp_arena_init(&arena, 1 << 20);
        arena.fail_at = k;
        wrong += jpp_status_said(&fleet, &arena) != NULL;
        jpp_arena_destroy(&arena);
    }

    jpp_is_u64(wrong, 0, "no comments without any of %" PRIu64 " requests",
               n_calls);
}

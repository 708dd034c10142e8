
#include "jpp_test_main.h"
#include "jpp_answers.h"
#include "jpp_control.h"
#include "jpp_test_arena.h"
#include "jpp_test_fleet.h"
#include "jpp_test_golden.h"


/* as long as the sentence of an error may be */
#define JPP_TEN       "ten bytes "
#define JPP_HUNDRED                                                           \
    JPP_TEN JPP_TEN JPP_TEN JPP_TEN JPP_TEN JPP_TEN JPP_TEN JPP_TEN JPP_TEN   \
    JPP_TEN
#define JPP_LONG_WHY                                                          \
    JPP_HUNDRED JPP_HUNDRED JPP_HUNDRED JPP_HUNDRED JPP_HUNDRED JPP_TEN "."


/*
 * One line for each value, "workers.0.pid=4711"; strings and keys in quotes,
 * newlines as \n; an empty one first, so that each is between two.
 */

#define JPP_STATUS_PERL                                                       \
    "sub p { my ($k, $v) = @_; "                                              \
    "if (ref $v eq q(HASH)) { p(qq($k.$_), $v->{$_}) for sort keys %$v } "    \
    "elsif (ref $v eq q(ARRAY)) { print qq($k=), scalar @$v, qq(\\n); "       \
    "p(qq($k.$_), $v->[$_]) for 0 .. $#$v } "                                 \
    "else { $v = JSON::PP->new->allow_nonref->ascii->encode($v); "            \
    "print qq($k=$v\\n) } } "                                                 \
    "print qq(\\n); "                                                         \
    "p(q(), JSON::PP->new->utf8->decode($_)); print qq(whole\\n)"


static jpp_output_t  jpp_output, jpp_parsed;


static jpp_fleet_t   fleet;
static jpp_worker_t  worker;


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

    for (i = 0; i < 6; i++) {
        jpp_note("%u: %s", i, jpp_status_words[i]);
    }

    jpp_shows_notes("words for states of jemalloc");
}


JPP_TEST(jpp_test_times)
{
    char    text[JPP_UNITS_DATE];
    size_t  i;

    static const int64_t  rows[] = {
        0, 951782399, 951782400, 1795233720, 253402300799, 253402300800,
        INT64_MAX, -1, INT64_MIN
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_note("%" PRId64 ": %s", rows[i], jpp_units_date(rows[i], text));
    }

    jpp_shows_notes("dates");
}


/* What is kept of a failure: printable, with an end, and the last one. */

JPP_TEST(jpp_test_failures)
{
    char            text[400];
    size_t          len;
    jpp_failure_t   failure;

    memset(&failure, 0x55, sizeof(failure));

    jpp_status_failed(&failure, 4711, JPP_FLEET_EVIL);
    jpp_note_of("its time, and its text, cleaned", failure, time, text);
    jpp_shows_notes("a failure");

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


static void
jpp_notice_shows(const char *what)
{
    char  text[2048];

    jpp_status_notice(&worker, text, sizeof(text));
    jpp_shows(text, "%s", what);
}


JPP_TEST(jpp_test_notices)
{
    worker = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    jpp_notice_shows("ready");

    worker.jemalloc.accum = true;
    worker.jemalloc.lg_sample = 22;
    jpp_notice_shows("and its harm, the rate once");

    worker.jemalloc.state = JPP_JEMALLOC_INACTIVE;
    jpp_notice_shows("inactive");

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_ABSENT);
    jpp_notice_shows("no jemalloc");
}


/* Whatever the size: the beginning of the whole line, and not a byte behind. */

JPP_TEST(jpp_test_notice_sizes)
{
    char        *text, whole[2048];
    size_t       size, len;
    unsigned     state, wrong;
    const char  *c;

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
}


static bool
jpp_status_has(const char *line)
{
    char  text[1024];

    jpp_print(text, "\n%s\n", line);

    return strstr(jpp_parsed.text, text) != NULL;
}


/* The JSON of FLEET in jpp_output, what perl reads of it in jpp_parsed. */

static void
jpp_status_parse(void)
{
    size_t  i, beyond;

    jpp_is_i64(jpp_output_fill(&jpp_output, jpp_status_json, &fleet, 0), 0,
               "JSON of %zu bytes", jpp_output.len);

    for (i = 0, beyond = 0; i < jpp_output.len; i++) {
        beyond += (unsigned char) jpp_output.text[i] >= 0x7f;
    }

    jpp_is_u64(beyond, 0, "it is ASCII");

    jpp_output_filter("perl -MJSON::PP -0777 -ne '" JPP_STATUS_PERL "'",
                      jpp_output.text, jpp_output.len, &jpp_parsed);
    jpp_ok(jpp_status_has("whole"), "to its end");
}


/* Notes the lines of what was read that have PART. */

static void
jpp_status_note(const char *part)
{
    int          len;
    const char  *line;

    for (line = jpp_parsed.text; *line != '\0'; line += len + 1) {
        len = (int) strcspn(line, "\n");

        if (memmem(line, (size_t) len, part, strlen(part)) != NULL) {
            jpp_note("%.*s", len, line);
        }
    }
}


/* JSON that is read is shown, from the version on. */

static void
jpp_status_shows(const char *what)
{
    const char  *text;

    jpp_status_parse();
    text = strstr(jpp_output.text, "\"nginx\"");
    jpp_shows(text, "%s", what);
}


JPP_TEST(jpp_test_json)
{
    jpp_worker_t   workers[2];
    jpp_missing_t  missing;

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
    jpp_status_shows("two of three");
    jpp_ok(jpp_status_has(".module=\"" JPP_VERSION "\""), "a version");
    jpp_has(jpp_parsed.text, "sampler;\\nOr run apt-get install libjemalloc2 "
            "and systemctl edit nginx, and add:\\n    [Service]\\n",
            "a fix of several lines");
}


JPP_TEST(jpp_test_json_empty)
{
    fleet = jpp_fleet_of(4, NULL, 0);
    jpp_status_shows("none of four");
}


/* Does each worker have the settings of all? */

JPP_TEST(jpp_test_json_in_step)
{
    size_t          i;
    jpp_args_t      args;
    jpp_worker_t    workers[4];
    jpp_control_t   wanted;

    static const char  *rows[] = {
        "", "active=on", "active=off", "lg_sample=19", "active=on&lg_sample=15",
        "active=off&lg_sample=15", "sampler=on", "sampler=on", "sampler=off",
        "stall=100ms", "stall=off&owners=on", "owners=off"
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
        fleet.wanted = &wanted;
        jpp_control_init(&wanted);
        jpp_is_u64(jpp_control_query(&wanted, &args, rows[i], strlen(rows[i]),
                                     &err),
                   JPP_OK, "%s", rows[i]);
        wanted.sampler_lg = i == 7 ? 13 : 12;
        jpp_status_parse();

        jpp_note("\"%s\"", rows[i]);
        jpp_status_note(".in_step=");
    }

    jpp_shows_notes("which workers are in step");
}


JPP_TEST(jpp_test_json_states)
{
    unsigned      i;
    jpp_worker_t  workers[JPP_JEMALLOC_READY + 1];

    for (i = 0; i <= JPP_JEMALLOC_READY; i++) {
        workers[i] = jpp_fleet_worker(i, (jpp_jemalloc_state_t) i);
    }

    workers[0].jemalloc.allocator[0] = '\0';

    fleet = jpp_fleet_of(6, workers, 6);
    jpp_status_parse();

    jpp_status_note(".state=");
    jpp_status_note(".lg_sample=");
    jpp_status_note(".problems=");
    jpp_status_note(".allocator=");
    jpp_shows_notes("states of workers");
}


JPP_TEST(jpp_test_json_sampler)
{
    worker = jpp_fleet_worker(0, JPP_JEMALLOC_ABSENT);
    worker.sampler = (jpp_sampler_state_t) {
        .is_on = true, .lg_sample = 12, .since = 1795233720,
        .samples = 4000000, .live = 31, .live_max = 65536, .sites = 7,
        .bytes = 88, .bytes_max = 99, .cut = 5, .slots = 25, .objects = 8,
        .foreign = 1, .lost = 2, .dropped_live = 4, .dropped_sites = 3
    };

    fleet = jpp_fleet_of(1, &worker, 1);
    jpp_status_shows("the module's sampler");

    jpp_notice_shows("the line of the log");
}


static void
jpp_status_covers(const char *what)
{
    jpp_status_parse();
    jpp_note("%s", what);
    jpp_status_note(".complete_since=");
    jpp_status_note(".gap");
    jpp_status_note(".problems");
}


/* Since when samples are complete, and when there were none. */

JPP_TEST(jpp_test_json_coverage)
{
    worker = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    fleet = jpp_fleet_of(1, &worker, 1);

    jpp_status_covers("from the start");

    worker.coverage.since = 1795233720;
    jpp_status_covers("since a reset");

    worker.coverage.off = 1795233660;
    worker.coverage.n_off = 2;
    jpp_status_covers("with a gap, which is a problem");

    worker.jemalloc.state = JPP_JEMALLOC_INACTIVE;
    worker.coverage.since = 0;
    jpp_status_covers("while it is off");

    worker.sampler.is_on = true;
    worker.sampler.since = 1795233781;
    jpp_status_covers("of the sampler");
    jpp_shows_notes("since when samples are complete");
}


JPP_TEST(jpp_test_json_evil)
{
    char           host[20000];
    unsigned       i;
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
    jpp_status_parse();

    jpp_status_note(".nginx=");
    jpp_status_note(".workers.5.pid=");
    jpp_status_note(".workers.5.last_error.");
    jpp_shows_notes("strings, numbers, a time and a failure come back");
    jpp_has(jpp_parsed.text, ".host=\"\\\"\\\"\\\"", "a long string");
}


JPP_TEST(jpp_test_json_fails)
{
    worker = jpp_fleet_evil(0, JPP_JEMALLOC_INACTIVE);
    fleet = jpp_fleet_of(1, &worker, 1);

    jpp_output_fails(&jpp_output, jpp_status_json, &fleet);
}


/* The comments on FLEET, each with its end of line; NULL: memory was out. */

static const char *
jpp_status_said(void)
{
    jpp_profile_t   profile;

    static const jpp_value_type_t  types[] = { { "a", "b", false, 0, 0 } };

    if (!jpp_profile_init(&profile, &arena, types, 1)) {
        return NULL;
    }

    jpp_status_comments(&fleet, &profile);

    return profile.is_mute ? NULL : jpp_comments_of(&profile);
}


/* They are shown behind the versions. */

static void
jpp_status_comment(const char *what)
{
    const char   *text;

    static const char  first[] =
        "nginx 1.22.1\njemalloc_pprof module " JPP_VERSION "\n";

    jpp_test_anew();
    text = jpp_status_said();

    if (jpp_ok(text != NULL && strncmp(text, first, sizeof(first) - 1) == 0,
               "the versions"))
    {
        jpp_shows(text + sizeof(first) - 1, "%s", what);
    }
}


JPP_TEST(jpp_test_comments)
{
    static const jpp_finding_t  finding = {
        .id = "churn", .what = "much is freed", .because = "12 MB a second"
    };

    fleet = jpp_fleet_of(4, NULL, 0);
    jpp_status_comment("comments without a worker");

    worker = jpp_fleet_worker(3, JPP_JEMALLOC_READY);
    fleet = jpp_fleet_of(1, &worker, 1);
    fleet.findings = &finding;
    fleet.n_findings = 1;
    jpp_status_comment("of one");

    fleet.is_of_time = true;
    jpp_status_comment("and of its time");
    fleet.is_of_time = false;

    worker.jemalloc.hook = JPP_HOOK_ON;
    worker.jemalloc.stacks.n = 12;
    worker.jemalloc.stacks.n_cut = 3;
    jpp_status_comment("of one with the hook");

    worker.jemalloc.hook = JPP_HOOK_OFF;
    worker.sampler.is_on = true;
    worker.sampler.since = 1795233720;
    worker.sampler.dropped_sites = 4;
    worker.sampler.dropped_live = 5;
    fleet.is_sampled = true;
    jpp_status_comment("of one with the sampler, which dropped some");
}


/* Since when samples are complete: of profiles that are made of them. */

JPP_TEST(jpp_test_comments_coverage)
{
    size_t        i;
    jpp_worker_t  workers[4];

    for (i = 0; i < 4; i++) {
        workers[i] = jpp_fleet_worker((uint32_t) i, JPP_JEMALLOC_READY);
    }

    workers[0].coverage.since = 1795233720;

    fleet = jpp_fleet_of(1, workers, 1);
    fleet.is_sampled = true;
    jpp_status_comment("of one that began late");

    workers[0].coverage.off = 1795233660;
    workers[0].coverage.n_off = 1;
    jpp_status_comment("of one with a gap, and no other");

    fleet.is_sampled = false;
    jpp_status_comment("not of what is not sampled");
    fleet.is_sampled = true;

    workers[0].sampler.is_on = true;
    jpp_status_comment("nor with the sampler, which says so itself");

    fleet.is_sampled = false;
    jpp_status_comment("though not of what is not sampled");
    workers[0].sampler.is_on = false;

    workers[1].coverage.since = 1795233719;
    workers[1].coverage.off = 1795233659;
    workers[1].coverage.n_off = 3;
    workers[3].coverage.since = 1795233780;

    fleet = jpp_fleet_of(4, workers, 4);
    fleet.is_sampled = true;
    jpp_status_comment("of several: a gap, another, none, and a reset");
}


JPP_TEST(jpp_test_comments_of_many)
{
    char           nginx[3000];
    jpp_worker_t   workers[4];
    const char    *text;

    static const jpp_missing_t  missing[] = {
        { .who = { .index = 3, .pid = 4711 }, .why = "it was killed" },
        { .who = { .index = UINT32_MAX, .pid = INT64_MIN },
          .why = JPP_LONG_WHY }
    };

    workers[0] = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    workers[1] = jpp_fleet_worker(1, JPP_JEMALLOC_READY);
    workers[2] = jpp_fleet_worker(2, JPP_JEMALLOC_READY);
    workers[3] = jpp_fleet_worker(3, JPP_JEMALLOC_ABSENT);
    strcpy(workers[1].jemalloc.version, "5.3.1");
    workers[1].stats.resident++;

    fleet = jpp_fleet_of(5, workers, 3);
    fleet.missing = missing;
    fleet.n_missing = 2;
    jpp_status_comment("of several");

    fleet = jpp_fleet_of(4, workers, 4);
    jpp_status_comment("no sum without one's part");

    memset(nginx, 'n', sizeof(nginx));
    nginx[sizeof(nginx) - 1] = '\0';
    fleet.nginx = nginx;

    text = jpp_status_said();
    jpp_is_u64(text != NULL ? strcspn(text, "\n") : 0, 1279,
               "a long one is cut");
}


/* As many facts as there can be, and each request of memory denied. */

JPP_TEST(jpp_test_comments_memory)
{
    size_t          i, n;
    jpp_worker_t    workers[40];
    jpp_missing_t   missing[40];
    const char     *text;

    for (i = 0; i < 40; i++) {
        workers[i] = jpp_fleet_worker((uint32_t) i, JPP_JEMALLOC_READY);
        (void) snprintf(workers[i].jemalloc.version, 32, "5.3.%zu", i);

        missing[i] = (jpp_missing_t) { .who = { .pid = (int64_t) i + 1 },
                                        .why = "it ended" };
    }

    fleet = jpp_fleet_of(80, workers, 40);
    fleet.missing = missing;
    fleet.n_missing = 40;

    text = jpp_status_said();

    for (n = 0; text != NULL && *text != '\0'; text++) {
        n += *text == '\n';
    }

    jpp_is_u64(n, 86, "40 versions, and 40 that are missing");
    jpp_denies(&arena, jpp_test_anew(), 85,
               jpp_done_code(jpp_status_said() != NULL));
}

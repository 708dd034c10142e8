
/*
 * Captures of stacks with their times: as every format, merged, subtracted, and
 * whatever else may be in their place.
 */


#include "jpp_test_dump.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"


#define JPP_TIMES_TEST_MAPS                                                   \
    "MAPPED_LIBRARIES:\n"                                                     \
    "00400000-00500000 r-xp 00000000 08:01 11 /usr/sbin/prog\n"               \
    "7f0000000000-7f0000100000 r-xp 00002000 08:01 12 /lib/libjemalloc.so.2\n"

#define JPP_TIMES_TEST_30  "shuts down, it shuts down, it "

#define JPP_TIMES_TEST_CPU                                                    \
    "jpp_times/1 cpu\n"                                                       \
    "frequency 100\n"                                                         \
    "highest 100\n"                                                           \
    "duration 3000000000\n"                                                   \
    "threads 2\n"                                                             \
    "labels 1\nthread=main\n"                                                 \
    "labels 1\nthread=other one\n"                                            \
    "@ 0 3 30000000 0x401000 0x402000\n"                                      \
    "@ 0 1 10000000 0x7f0000001000 0x402000\n"                                \
    "@ 1 2 20000000 0x105\n"                                                  \
    JPP_TIMES_TEST_MAPS


static const char *const  jpp_times_cpu[] = { JPP_TIMES_TEST_CPU };


static jpp_code_t    rc;
static jpp_vec_t    *out;


static jpp_code_t
jpp_times_report(const char *args, const char *const *texts, size_t n)
{
    jpp_test_anew();

    return jpp_test_report_of(&out, &jpp_parser_cpu, args, texts, n);
}


JPP_TEST(jpp_times_test_formats)
{
    size_t  i;

    static const char *const  args[] = {
        "format=folded", "format=folded&type=samples", "format=top&cols=80",
        "format=svg", "format=html"
    };

    static const char *const  has[] = { NULL, NULL, NULL, "60.0 ms", "<html" };

    for (i = 0; i < sizeof(args) / sizeof(args[0]); i++) {
        jpp_is_u64(jpp_times_report(args[i], jpp_times_cpu, 1),
                   JPP_OK, "%s: %s", args[i], err.text);

        if (has[i] == NULL) {
            jpp_shows((char *) out->data, "%s", args[i]);

        } else {
            jpp_has((char *) out->data, has[i], "has %s", has[i]);
        }
    }
}


JPP_TEST(jpp_times_test_contract)
{
    size_t       i;
    const char  *text;

    static const char *const  has[] = {
        "samples/count", "cpu/nanoseconds", "thread", "other one"
    };

    jpp_is_u64(jpp_times_report("", jpp_times_cpu, 1),
               JPP_OK, "pprof: %s", err.text);

    text = jpp_test_contract(out, 0);

    for (i = 0; i < sizeof(has) / sizeof(has[0]); i++) {
        jpp_has(text, has[i], "has %s", has[i]);
    }

    jpp_lacks(text, "wall", "and no wall");
}


static jpp_profile_t
jpp_times_profile_of(const char *text, bool is_wall)
{
    jpp_dump_t           dump;
    jpp_profile_t        profile;
    const jpp_parser_t  *parser;
    jpp_read_options_t   options = { 0 };

    memset(&err, 0, sizeof(err));

    parser = is_wall ? &jpp_parser_wall : &jpp_parser_cpu;

    jpp_test_anew();
    (void) jpp_parser_init(parser, &profile, &arena);

    rc = parser->open(&dump, &profile, text, strlen(text), NULL, &err);

    if (rc == JPP_OK) {
        rc = parser->read(&profile, &dump, &options, &err);
    }

    return profile;
}


JPP_TEST(jpp_times_test_depth)
{
    char    text[JPP_MAX_FRAMES * 6 + 1000], *p;
    size_t  i, n;

    for (n = JPP_MAX_FRAMES; n <= JPP_MAX_FRAMES + 1; n++) {
        p = stpcpy(text, "jpp_times/1 cpu\nfrequency 100\nlabels 0\n@ 0 1 1");

        for (i = 0; i < n; i++) {
            p = stpcpy(p, " 0x101");
        }

        (void) stpcpy(p, "\n" JPP_TIMES_TEST_MAPS);
        (void) jpp_times_profile_of(text, false);

        jpp_is_u64(rc, n == JPP_MAX_FRAMES ? JPP_OK : JPP_ERR_INPUT,
                   "%zu frames: %s", n, err.text);
    }
}


JPP_TEST(jpp_times_test_comments)
{
    char            text[1024];
    size_t          i;
    jpp_profile_t   profile;

    static const struct {
        bool         is_wall;
        const char  *facts;
    } rows[] = {
        { false, "frequency 99\nhighest 99\nduration 30000000000\n" },
        { false, "frequency 99\nhighest 999\nduration 1500000000\n" },
        { true, "duration 1000000000\nidle 815000000\n" },
        { true, "duration 1000000000\nwaits 4000000000\n" },
        { false, "duration 3200000000\nearly it shuts down\n" },
        { false, "duration 3200000000\nearly " JPP_TIMES_TEST_30
          JPP_TIMES_TEST_30 JPP_TIMES_TEST_30 JPP_TIMES_TEST_30
          JPP_TIMES_TEST_30 JPP_TIMES_TEST_30 "\n" },
        { false, "threads 33\ndeaf 32\n" },
        { false, "threads 1030\nbeyond 6\n" },
        { false, "dropped 12\ndropped_nanos 120000000\n" }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {

        jpp_print(text, "jpp_times/1 %s\n%s" JPP_TIMES_TEST_MAPS,
                  rows[i].is_wall ? "wall" : "cpu", rows[i].facts);

        profile = jpp_times_profile_of(text, rows[i].is_wall);

        jpp_is_u64(rc, JPP_OK, "facts %zu: %s", i, err.text);
        jpp_parser_cpu.describe(&profile);
        jpp_ok(!profile.is_mute, "described");

        jpp_shows(jpp_comments_of(&profile), "comments of facts %zu", i);
    }

    profile = jpp_times_profile_of(JPP_TIMES_TEST_CPU, false);
    jpp_parser_cpu.describe(&profile);

    jpp_note_of("its facts", profile, duration_nanos, period, period_type);
    jpp_shows_notes("a profile of CPU time");
}


/* The form that jeprof reads: words, and mappings. */

JPP_TEST(jpp_times_test_binary)
{
    size_t    i;
    uint64_t  word;

    static const char  text[] = "jpp_times/1 cpu\nfrequency 100\n"
        "highest 100\nduration 1000000000\nlabels 0\n"
        "@ 0 3 30000000 0x401000 0x402000\n"
        "@ 0 0 8796093022207 0x401000\n"
        "@ 0 8796093022207 10000000 0x7f0000001000\n" JPP_TIMES_TEST_MAPS;

    jpp_is_u64(jpp_times_report("format=binary",
                                (const char *const[]) { text }, 1),
               JPP_OK, "format=binary: %s", err.text);

    for (i = 0; i < 15; i++) {
        memcpy(&word, out->data + i * sizeof(uint64_t), sizeof(uint64_t));
        jpp_note("%#" PRIx64, word);
    }

    jpp_note_lines((char *) out->data + i * sizeof(uint64_t));
    jpp_shows_notes("words, and mappings");
}


/* Two workers: equal stacks of one add up, and facts do. */

JPP_TEST(jpp_times_test_merged)
{
    static const char  second[] =
        "jpp_times/1 cpu\nfrequency 100\nhighest 500\nduration 1000000000\n"
        "early it shuts down\nlabels 1\nthread=main\n"
        "@ 0 1 10000000 0x401000 0x402000\n" JPP_TIMES_TEST_MAPS;

    const char *const  texts[] = { jpp_times_cpu[0], second };

    jpp_is_u64(jpp_times_report("format=top&cols=80", texts, 2),
               JPP_OK, "two captures: %s", err.text);
    jpp_shows((char *) out->data, "two workers");
}


JPP_TEST(jpp_times_test_difference)
{
    jpp_capture_t         captures[2];
    jpp_report_options_t  options;

    captures[0] = jpp_test_capture(JPP_TIMES_TEST_CPU,
                                   strlen(JPP_TIMES_TEST_CPU));
    captures[1] = captures[0];
    captures[1].is_base = true;

    options = jpp_test_options("format=folded");
    options.parser = &jpp_parser_cpu;
    options.args.values[JPP_ARG_TYPE] = JPP_TIMES_NANOS;

    jpp_is_u64(jpp_test_report_into(&out, captures, 2, &options),
               JPP_OK, "less itself: %s", err.text);
    jpp_is_u64(out->len, 0, "nothing is left");
}


JPP_TEST(jpp_times_test_refused)
{
    size_t  i;

    static const char  *args[] = {
        "type=wall", "type=inuse_space", "format=text", "origin=worker"
    };

    for (i = 0; i < jpp_nelts(args); i++) {
        jpp_is_u64(jpp_times_report(args[i], jpp_times_cpu, 1), JPP_ERR_ARG,
                   "%s", args[i]);
        jpp_note("%s: %s", args[i], err.text);
    }

    jpp_shows_notes("what is refused");
}


JPP_TEST(jpp_times_test_bad)
{
    size_t  i;
    char    text[8192];

    static const char  *rows[] = {
        "jpp_times/1 wall\n", "jpp_times/1 cpux\n",
        "jpp_times/1 cpu\nfrequency x\n", "jpp_times/1 cpu\nunknown 3\n",
        "jpp_times/1 cpu\nidle 18446744073709551615\n", "jpp_times/1 cpu\n\n",
        "jpp_times/1 cpu\nlabels 11\n", "jpp_times/1 cpu\nlabels x\n",
        "jpp_times/1 cpu\nlabels 1\nthread\n",
        "jpp_times/1 cpu\nlabels 1\n=main\n",
        "jpp_times/1 cpu\nlabels 2\na=b\n",
        "jpp_times/1 cpu\nlabels 0\n@ 1 1 1 0x1\n",
        "jpp_times/1 cpu\nlabels 0\n@ 0 1\n",
        "jpp_times/1 cpu\nlabels 0\n@ 0 1 0x1\n",
        "jpp_times/1 cpu\nlabels 0\n@ 0 1 9223372036854775807 0x1\n",
        "jpp_times/1 cpu\nlabels 0\n@ 0 1 1\n",
        "jpp_times/1 cpu\nlabels 0\n@ 0 1 1 0x1 1\n",
        "jpp_times/1 cpu\nlabels 0\n@ 0 1 1 0x1\nidle 3\n"
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {

        jpp_print(text, "%s" JPP_TIMES_TEST_MAPS, rows[i]);
        (void) jpp_times_profile_of(text, false);

        jpp_is_u64(rc, JPP_ERR_INPUT, "bad capture %zu", i);
        jpp_note("%s: line %" PRIu64 ": %s", rows[i], err.line, err.text);
    }

    jpp_shows_notes("what is no capture");

    (void) jpp_times_profile_of("jpp_times/1 cpu\nlabels 0\n\n"
                                "MAPPED_LIBRARIES:\n"
                                "400000-500000 r-xp 0 08:01 5 /a\nnone\n",
                                false);
    jpp_is_u64(rc, JPP_ERR_INPUT, "a mapping that is none: %s", err.text);
    jpp_is_u64(err.line, 6, "its line of the capture");

    (void) jpp_times_profile_of("heap_v2/1024\n", false);
    jpp_is_u64(rc, JPP_ERR_INPUT, "a dump of a heap");
}


/* As many labels, and sets of them, as may be, and one more. */

JPP_TEST(jpp_times_test_limits)
{
    char      *text, *p;
    uint32_t   i, n;

    text = malloc(JPP_MAX_LABEL_SETS * 16 + 4096);

    for (n = JPP_MAX_LABELS; n <= JPP_MAX_LABELS + 1; n++) {
        p = text + sprintf(text, "jpp_times/1 cpu\nlabels %u\n", n);

        for (i = 0; i < n; i++) {
            p += sprintf(p, "label%u=%u\n", i, i);
        }

        strcpy(p, JPP_TIMES_TEST_MAPS);
        (void) jpp_times_profile_of(text, false);
        jpp_is_u64(rc, n == JPP_MAX_LABELS ? JPP_OK : JPP_ERR_INPUT,
                   "%u labels", n);
    }

    for (n = JPP_MAX_LABEL_SETS; n <= JPP_MAX_LABEL_SETS + 1; n++) {
        p = text + sprintf(text, "jpp_times/1 cpu\n");

        for (i = 0; i < n; i++) {
            p += sprintf(p, "labels 0\n");
        }

        strcpy(p, JPP_TIMES_TEST_MAPS);
        (void) jpp_times_profile_of(text, false);
        jpp_is_u64(rc, n == JPP_MAX_LABEL_SETS ? JPP_OK : JPP_ERR_INPUT,
                   "%u sets of them", n);
    }

    jpp_is_str(err.text, "too many sets of labels", "its sentence");
    jpp_is_u64(err.line, JPP_MAX_LABEL_SETS + 2, "its line");

    free(text);
}


/* Cut anywhere, it is an error or a shorter list of mappings. */

JPP_TEST(jpp_times_test_cut)
{
    char    text[sizeof(JPP_TIMES_TEST_CPU)];
    size_t  len, wrong;

    for (len = 0, wrong = 0; len < sizeof(text) - 1; len++) {

        memcpy(text, JPP_TIMES_TEST_CPU, len);
        text[len] = '\0';

        (void) jpp_times_profile_of(text, false);

        wrong += rc == JPP_OK && strstr(text, "MAPPED_LIBRARIES:\n") == NULL;
    }

    jpp_is_u64(wrong, 0, "a capture that is cut before its end is refused");
}


JPP_TEST(jpp_times_test_memory)
{
    jpp_denies(&arena, jpp_test_anew(), 20,
               jpp_written_code(jpp_test_report_of(&out, &jpp_parser_cpu,
                                                   "format=folded",
                                                   jpp_times_cpu, 1),
                                &err));
}


#include "jpp_test_main.h"
#include "jpp_test_dump.h"
#include "jpp_test_golden.h"


typedef struct {
    uint64_t     calls;
    uint64_t     fail_at;
    int          error;
} jpp_failing_t;


/* In what way a capture cannot be read. */
typedef enum {
    LAST_STACK = 0,                /* all others were read before */
    CUT,
    EMPTY,
    DEEP,
    GZIP,
    BADS
} jpp_report_bad_t;


static jpp_vec_t             *out;
static jpp_report_options_t   options;


static const char  *dumps[] = {
    "nginx-530", "nginx-531", "cxx-530", "accum-530", "threads-530",
    "lg0-530", "lg0-531", "static-530", "hand", NULL
};


static const char  *formats[] = { "text", "folded", "top", NULL };


/*
 * What the contract checker prints, having checked.  The build ids behind the
 * names of the mappings are left out: they are those of this machine's files.
 */

static char *
jpp_report_golden(void)
{
    char    *text, *from, *to, *quote;
    size_t   len;

    text = jpp_test_contract(out, JPP_CONTRACT_HEAP);
    from = strstr(text, "\nmappings:");

    for (to = from; from != NULL && *from != '\0'; /* void */ ) {
        len = strcspn(from + 1, "\n") + 1;
        quote = memrchr(from, '"', len);
        memmove(to, from, len);

        to += quote != NULL ? (size_t) (quote + 1 - from) : len;
        from += len;
    }

    if (to != NULL) {
        *to = '\0';
    }

    return text;
}


static jpp_capture_t
jpp_report_capture(const char *name)
{
    char              file[64];
    jpp_capture_t     capture = { 0 };
    jpp_test_file_t   dump;

    jpp_print(file, "%s.heap", name);
    dump = jpp_test_file(file);

    capture.data = dump.data;
    capture.len = dump.len;

    return capture;
}


/*
 * Every dump of t/data against its golden file beside it: what the contract
 * checker prints of the unsymbolized profile.
 */

JPP_TEST(jpp_report_test_golden)
{
    char            name[64];
    size_t          i;
    jpp_capture_t   capture;

    options = jpp_test_options("symbolize=0");

    for (i = 0; dumps[i] != NULL; i++) {
        capture = jpp_report_capture(dumps[i]);
        jpp_test_anew();

        jpp_reports(&capture, 1, JPP_OK, "%s: %s", dumps[i], err.text);

        jpp_print(name, "../%s.golden", dumps[i]);
        jpp_is_golden(jpp_report_golden(), name);
    }
}


/* The other formats of the dump written by hand, to the letter. */

JPP_TEST(jpp_report_test_formats)
{
    char            args[64], name[64];
    size_t          i;
    jpp_capture_t   capture;

    capture = jpp_report_capture("hand");

    for (i = 0; formats[i] != NULL; i++) {
        jpp_print(args, "symbolize=0&format=%s", formats[i]);
        jpp_print(name, "../hand.%s", formats[i]);

        options = jpp_test_options(args);
        jpp_test_anew();

        jpp_reports(&capture, 1, JPP_OK, "%s: %s", formats[i], err.text);
        jpp_is_golden((const char *) out->data, name);
    }
}


JPP_TEST(jpp_report_test_repeat)
{
    jpp_vec_t      *first, *second;
    jpp_capture_t   capture;

    options = jpp_test_options("");
    capture = jpp_report_capture("nginx-160k");

    jpp_test_report_into(&first, &capture, 1, &options);
    jpp_test_report_into(&second, &capture, 1, &options);
    jpp_test_same(first, second, "twice the same");
}


static jpp_code_t
jpp_report_denied(jpp_capture_t *captures, size_t n)
{
    return jpp_written_code(jpp_test_report_into(&out, captures, n,
                                                 &options), &err);
}


/* Every allocation of ours fails once; then the cap is met at many sizes. */

JPP_TEST(jpp_report_test_memory)
{
    size_t         cap, i, wrong;
    jpp_code_t     rc;
    jpp_capture_t  capture;

    static const char  *args[] = { "", "symbolize=0", "format=text",
                                   "format=folded", "format=top",
                                   "format=jemalloc", "format=html",
                                   "format=svg", NULL };

    capture = jpp_report_capture("accum-530");

    for (i = 0; args[i] != NULL; i++) {
        options = jpp_test_options(args[i]);
        jpp_denies(&arena, jpp_test_anew(), 20,
                   jpp_report_denied(&capture, 1));

        wrong = 0;

        for (cap = 0; cap < 1 << 20; cap += 4096) {
            jpp_arena_fresh(&arena, cap);

            rc = jpp_test_report_into(&out, &capture, 1, &options);

            wrong += (rc != JPP_OK && rc != JPP_ERR_MEMORY
                      && rc != JPP_ERR_WRITE);
            wrong += arena.peak > cap;
        }

        jpp_is_u64(wrong, 0, "and no cap is passed");
    }
}


static int
jpp_failing_write(void *ctx, const uint8_t *data, size_t len)
{
    jpp_failing_t  *failing;

    (void) data;
    (void) len;

    failing = ctx;

    return ++failing->calls == failing->fail_at ? failing->error : 0;
}


/* Every write fails once. */

JPP_TEST(jpp_report_test_writes)
{
    uint8_t        buffer[4096], large[JPP_SINK_BUFFER];
    size_t         i;
    uint64_t       n, wrong;
    jpp_code_t     rc;
    jpp_sink_t     sink;
    jpp_failing_t  failing;
    jpp_capture_t  capture;
    jpp_symbols_t  symbols;

    static const char  *args[] = { "", "format=text", "format=folded",
                                   "format=top", "format=jemalloc",
                                   "format=html", "format=svg", NULL };

    capture = jpp_report_capture("nginx-530");

    for (i = 0; args[i] != NULL; i++) {
        options = jpp_test_options(args[i]);
        wrong = 0;
        n = 0;

        do {
            n++;
            failing.calls = 0;
            failing.fail_at = n;
            failing.error = ENOSPC;

            jpp_test_anew();
            jpp_symbols_init(&symbols, JPP_SYMBOLS_CAP);
            jpp_sink_init(&sink, i == 0 ? large : buffer,
                          i == 0 ? sizeof(large) : sizeof(buffer),
                          jpp_failing_write, &failing);

            memset(&err, 0, sizeof(err));
            rc = jpp_report(&arena, &symbols, &capture, 1, &options, &sink,
                            &err);

            if (failing.calls >= n) {
                wrong += (rc != JPP_ERR_WRITE || err.sys_errno != ENOSPC
                          || failing.calls != n);
            }

            jpp_symbols_destroy(&symbols);

        } while (failing.calls >= n);

        jpp_is_u64(rc, JPP_OK, "\"%s\": %" PRIu64 " writes", args[i], n - 1);
        jpp_is_u64(wrong, 0, "each failed once, and was the last");
    }
}


JPP_TEST(jpp_report_test_gzip)
{
    int             level;
    jpp_vec_t      *plain, *packed;
    jpp_capture_t   capture;

    options = jpp_test_options("symbolize=0");
    capture = jpp_report_capture("nginx-530");

    jpp_test_report_into(&plain, &capture, 1, &options);

    packed = jpp_test_packed(&arena, capture.data, capture.len, 6);
    capture.data = (char *) packed->data;
    capture.len = packed->len;

    jpp_reports(&capture, 1, JPP_OK, "is read");
    jpp_test_same(out, plain, "as the plain one");

    capture.len /= 2;
    jpp_reports(&capture, 1, JPP_ERR_CUT, "half of it: %s", err.text);

    capture = jpp_report_capture("nginx-530");

    for (level = 1; level <= 9; level++) {
        options.level = level;
        jpp_reports(&capture, 1, JPP_OK, "level %d: %zu bytes", level,
                    out->len);
        jpp_is_u64(jpp_contract_check(out->data, out->len, JPP_CONTRACT_HEAP,
                                      stdout, NULL),
                   0, "and right");
    }
}


JPP_TEST(jpp_report_test_errors)
{
    size_t         i;
    jpp_label_t    labels[JPP_MAX_LABELS + 1] = { 0 };
    jpp_capture_t  captures[2], odd = { 0 };

    static const char  nothing_executable[] =
        JPP_TEST_HEAD("1")
        "@ 0x1\n  t*: 1: 2 [0: 0]\n"
        "\nMAPPED_LIBRARIES:\n00400000-00500000 rw-p 0 08:01 11 /prog\n";

    captures[0] = jpp_report_capture("cxx-530");
    captures[1] = captures[0];
    captures[1].len -= 1;

    options = jpp_test_options("");

    jpp_reports(captures, 2, JPP_ERR_CUT, "the second of two is cut");
    jpp_is_u64(err.capture, 1, "and said to be it");
    jpp_is_u64(out->len, 0, "nothing is written");

    options = jpp_test_options("type=alloc_space");
    jpp_reports(captures, 1, JPP_ERR_ARG, "%s", err.text);

    jpp_reports(captures, JPP_MAX_CAPTURES + 1, JPP_ERR_LIMIT, "%s", err.text);

    jpp_is_u64(jpp_report_check(&options, 0, &err), JPP_ERR_ARG, "no dump");
    jpp_is_u64(jpp_report_check(&options, JPP_MAX_CAPTURES, &err), JPP_OK,
               "as many captures as there may be");
    jpp_is_u64(jpp_report_check(&options, JPP_MAX_CAPTURES + 1, &err),
               JPP_ERR_LIMIT, "one more");

    jpp_reports(captures, 0, JPP_ERR_ARG, "%s", err.text);

    odd.data = nothing_executable;
    odd.len = sizeof(nothing_executable) - 1;
    jpp_reports(&odd, 1, JPP_ERR_ARG,
                "a dump that is read, but has not that type");

    for (i = 0; i <= JPP_MAX_LABELS; i++) {
        labels[i].key = &"abcdefghijk"[i];
        labels[i].str = "value";
    }

    options = jpp_test_options("");
    captures[0].labels = labels;
    captures[0].n_labels = JPP_MAX_LABELS;
    jpp_reports(captures, 1, JPP_OK, "as many labels as there may be");

    captures[0].n_labels = JPP_MAX_LABELS + 1;
    jpp_reports(captures, 1, JPP_OK, "of more, the first");
}


/* A dump minus itself is nothing; with labels, each is its own. */

JPP_TEST(jpp_report_test_difference)
{
    char           *text;
    jpp_capture_t   captures[2];

    static const jpp_label_t  one[] = { { "file", "a", 0, NULL } };
    static const jpp_label_t  two[] = { { "file", "b", 0, NULL },
                                        { "pid", NULL, 7, NULL } };

    captures[0] = jpp_report_capture("cxx-530");
    captures[1] = captures[0];
    captures[1].is_base = true;

    options = jpp_test_options("symbolize=0");
    options.duration_nanos = 5000;

    jpp_reports(captures, 2, JPP_OK, "a dump minus itself %s", err.text);
    text = jpp_report_golden();
    jpp_has(text, "samples:\nlocations", "has no samples");
    jpp_has(text, "5000", "and a duration");

    options = jpp_test_options("format=html");
    options.duration_nanos = 5000;
    jpp_reports(captures, 2, JPP_OK, "as a page: %s", err.text);
    jpp_has((char *) out->data, "\" id=\"profile\">", "the difference");
    jpp_has((char *) out->data, "\" id=\"base\">", "and what was before");

    captures[1].is_base = false;
    jpp_reports(captures, 2, JPP_OK, "two as a page: %s", err.text);
    jpp_lacks((char *) out->data, "\" id=\"base\">", "had nothing before");

    options = jpp_test_options("symbolize=0");

    captures[1].is_base = false;
    captures[0].labels = one;
    captures[0].n_labels = 1;
    captures[1].labels = two;
    captures[1].n_labels = 2;

    jpp_reports(captures, 2, JPP_OK, "two with labels %s", err.text);
    jpp_has(jpp_report_golden(), "file=\"a\"", "a label");
}


/* The dump as it is, once it is found to be whole. */

JPP_TEST(jpp_report_test_jemalloc)
{
    jpp_vec_t      *packed;
    jpp_capture_t   captures[2];

    captures[0] = jpp_report_capture("nginx-530");
    captures[1] = captures[0];

    /* which has no alloc_space */

    options = jpp_test_options("format=jemalloc&type=alloc_space");

    jpp_reports(captures, 1, JPP_OK, "a dump as it is");
    jpp_is_u64(out->len, captures[0].len, "its length");
    jpp_is_mem(out->data, captures[0].data, out->len, "its bytes");

    jpp_reports(captures, 2, JPP_ERR_ARG, "two dumps");
    jpp_shows(err.text, "two dumps are not one");
    jpp_is_u64(out->len, 0, "and nothing is written");
    jpp_is_u64(jpp_report_check(&options, 2, &err), JPP_ERR_ARG, "known ahead");
    jpp_is_u64(jpp_report_check(&options, 1, &err), JPP_OK, "as one is");

    captures[0].len--;
    jpp_reports(captures, 1, JPP_ERR_CUT, "%s", err.text);
    jpp_is_u64(out->len, 0, "nothing is written of it");

    packed = jpp_test_packed(&arena, captures[1].data, captures[1].len, 1);

    captures[0].data = (char *) packed->data;
    captures[0].len = packed->len;

    jpp_reports(captures, 1, JPP_OK, "is unpacked");
    jpp_is_u64(out->len, captures[1].len, "its length");
    jpp_is_mem(out->data, captures[1].data, out->len, "its bytes");
}


/* What a report is refused for, before there is a dump. */

JPP_TEST(jpp_report_test_check)
{
    size_t      i;
    jpp_code_t  rc;

    static const struct {
        const jpp_parser_t  *parser;
        const char          *query;
    } cases[] = {
        { &jpp_parser_heap, "by=server&origin=worker&owners=1" },
        { &jpp_parser_heap, "by=connection" },
        { &jpp_parser_heap, "format=jemalloc&owners=0" },
        { &jpp_parser_heap, "format=jemalloc&owners=1" },
        { &jpp_parser_heap, "format=jemalloc&by=server" },
        { &jpp_parser_heap, "format=jemalloc&origin=master" },
        { &jpp_parser_heap, "format=pprof&debug=1" },
        { &jpp_parser_heap, "format=svg&debug=1" },
        { &jpp_parser_cpu, "by=location&format=pprof" },
        { &jpp_parser_cpu, "format=jemalloc" },
        { &jpp_parser_cpu, "origin=worker" },
        { &jpp_parser_pools, "origin=all" },
        { &jpp_parser_pools, "by=location" }
    };

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        options = jpp_test_options(cases[i].query);
        options.parser = cases[i].parser;

        rc = jpp_report_check(&options, 1, &err);
        jpp_note("%s %s: %s", cases[i].parser->name, cases[i].query,
                 rc == JPP_OK ? "OK" : err.text);
    }

    jpp_shows_notes("checked");
}


/* A capture that shares nearly all of its stacks with "nginx-530". */

static jpp_capture_t
jpp_report_bad(jpp_report_bad_t kind)
{
    char           *maps, *last;
    size_t          i;
    jpp_capture_t   capture;

    static const char  section[] = "\nMAPPED_LIBRARIES:";

    capture = jpp_report_capture("nginx-530");

    maps = memmem(capture.data, capture.len, section, sizeof(section) - 1);
    last = memrchr(capture.data, '@', (size_t) (maps - capture.data));

    switch (kind) {
    case LAST_STACK:
        *last = 'x';
        break;

    case CUT:
        capture.len -= 1;
        break;

    case EMPTY:
        capture.len = 0;
        break;

    case DEEP:

        /* a file of tests has room behind it */

        last++;
        memmove(last + 4 * JPP_MAX_FRAMES, last,
                (size_t) (capture.data + capture.len - last));
        capture.len += 4 * JPP_MAX_FRAMES;

        for (i = 0; i < JPP_MAX_FRAMES; i++) {
            memcpy(last + 4 * i, " 0x1", 4);
        }

        break;

    case GZIP:
        memcpy((char *) (uintptr_t) capture.data, "\x1f\x8b\x08", 3);
        break;

    case BADS:
        break;
    }

    return capture;
}


/*
 * A report that leaves out a capture is the report of the others, to the byte,
 * whatever was wrong with it and wherever it stood.
 */

JPP_TEST(jpp_report_test_left_out)
{
    size_t             at, format;
    jpp_vec_t         *want;
    jpp_capture_t      captures[3], good[2];
    jpp_report_bad_t   kind;

    static const jpp_code_t   codes[BADS] = { JPP_ERR_INPUT, JPP_ERR_CUT,
                                              JPP_ERR_CUT, JPP_ERR_LIMIT,
                                              JPP_ERR_INPUT };
    static const char        *args[] = { "symbolize=0", "format=text",
                                         "format=folded&symbolize=0" };

    good[0] = jpp_report_capture("nginx-530");
    good[1] = jpp_report_capture("accum-530");

    for (kind = 0; kind < BADS; kind++) {
        for (at = 0; at < 3; at++) {
            captures[at] = jpp_report_bad(kind);
            captures[at == 0] = good[0];
            captures[at == 2 ? 1 : 2] = good[1];

            for (format = 0; format < 3; format++) {
                options = jpp_test_options(args[format]);
                jpp_test_anew();

                jpp_reports(captures, 3, codes[kind], "%d at %zu fails",
                            (int) kind, at);
                jpp_is_u64(err.capture, at, "there");

                options.leaves_out = true;
                captures[at].name = at == 2 ? "worker 7" : NULL;

                jpp_reports(captures, 3, JPP_OK, "but can be left out");

                jpp_ok(captures[at == 0].err.code == JPP_OK
                       && captures[at == 2 ? 1 : 2].err.code == JPP_OK
                       && captures[at].err.code == codes[kind]
                       && captures[at].err.capture == at,
                       "others are right, this is not, and says which");

                options.leaves_out = false;

                jpp_reports_to(&want, good, 2, JPP_OK, "the others alone");
                jpp_test_same(out, want, args[format]);
            }
        }
    }
}


/* Without DATA memory is out. */

static void
jpp_report_comments(void *data, jpp_profile_t *profile)
{
    const jpp_capture_t *captures = data;

    if (captures == NULL) {
        profile->arena->fail_at = profile->arena->n_calls + 1;
    }

    jpp_profile_comment(profile, "%s",
                        captures != NULL && captures[0].err.code != JPP_OK
                        && captures[1].err.code == JPP_OK
                        ? "without the first" : "not what was expected");
}


/* Who comments on the report knows what was left out of it. */

JPP_TEST(jpp_report_test_comments)
{
    jpp_capture_t  captures[2];

    captures[0] = jpp_report_bad(LAST_STACK);
    captures[1] = jpp_report_capture("nginx-530");

    options = jpp_test_options("symbolize=0&format=top");
    options.leaves_out = true;
    options.comments = jpp_report_comments;
    options.data = captures;

    jpp_reports(captures, 2, JPP_OK, "one bad capture of two");
    *(char *) jpp_vec_push(out, 1) = '\0';
    jpp_has((char *) out->data, "\nwithout the first\n",
            "the comment names it");

    options.data = NULL;

    jpp_reports(captures, 2, JPP_ERR_MEMORY, "no comments, no report");
}


/* What is wrong with one capture of a source is wrong with all of it. */

JPP_TEST(jpp_report_test_sources)
{
    size_t          i;
    jpp_vec_t      *want;
    jpp_capture_t   captures[5];

    memset(captures, 0, sizeof(captures));

    captures[0] = jpp_report_capture("threads-530");
    captures[1] = jpp_report_capture("accum-530");
    captures[2] = jpp_report_capture("nginx-530");
    captures[3] = jpp_report_bad(LAST_STACK);
    captures[4] = captures[1];

    captures[0].is_base = true;
    captures[2].is_base = true;

    captures[0].source = 1;
    captures[1].source = 1;
    captures[2].source = 2;
    captures[3].source = 2;

    options = jpp_test_options("format=text");

    options.leaves_out = false;
    jpp_reports_to(&want, captures, 2, JPP_OK, "a difference");

    options.leaves_out = true;
    jpp_reports(captures, 4, JPP_OK, "two differences, one of which is bad");
    jpp_test_same(out, want, "the report is the other difference");

    for (i = 0; i < 4; i++) {
        jpp_note_of("dump", captures[i].err, code, capture, text);
    }

    jpp_shows_notes("both of a source are bad, because of the last");

    /* a report of nothing; and captures without a source stand alone */

    jpp_reports(captures + 2, 2, JPP_ERR_INPUT, "nothing is left: %s",
                err.text);
    jpp_is_u64(err.capture, 1, "because of the second capture");
    jpp_is_u64(out->len, 0, "and nothing is written");

    captures[2].source = 0;
    captures[3].source = 0;
    captures[4].source = 0;

    jpp_reports(captures + 3, 2, JPP_OK, "two alone, a bad one and a good one");
    captures[4].is_base = false;
    options.leaves_out = false;
    jpp_reports_to(&want, captures + 4, 1, JPP_OK, "the good one");
    jpp_test_same(out, want, "as if it had been one, so not scaled");
}


/* Want of memory is not taken for an error of a capture. */

JPP_TEST(jpp_report_test_left_out_memory)
{
    jpp_capture_t  captures[3];

    captures[0] = jpp_report_capture("accum-530");
    captures[1] = jpp_report_bad(LAST_STACK);
    captures[2] = jpp_report_bad(GZIP);

    options = jpp_test_options("symbolize=0");
    options.leaves_out = true;

    jpp_denies(&arena, jpp_test_anew(), 100,
               jpp_report_denied(captures, 3));
    jpp_ok(captures[1].err.code == JPP_ERR_INPUT
           && captures[2].err.code == JPP_ERR_INPUT,
           "which are the errors of two captures");
}

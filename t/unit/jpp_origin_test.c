
/*
 * What is inherited and what is a worker's own, from dumps in shorthand to the
 * bytes of reports.
 *
 *     dump  := stack*
 *     stack := letter objects ":" bytes [ "/" objects ":" bytes ] " "
 *
 * A letter is a stack of one frame, which has an id in order of appearance; the
 * capital of it is the same stack with another frame of the allocator before.
 * Behind the slash is what ever was allocated.  "!" makes a dump that is cut,
 * and "~" one of another sampling period.
 */


#include "jpp_test_dump.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"

#include <ctype.h>


#define JPP_WORKERS  4
#define JPP_DUMP     8192


typedef struct {
    const char      *now;          /* NULL: no more */
    const char      *baseline;     /* NULL: none */
    uint32_t         group;
} jpp_origin_worker_t;


typedef struct {
    const char            *name;
    jpp_origin_worker_t    workers[JPP_WORKERS];
} jpp_origin_row_t;


/* Captures with all that they point to. */
typedef struct {
    char             text[2 * JPP_WORKERS][JPP_DUMP];
    char             names[JPP_WORKERS][16];
    jpp_label_t      labels[JPP_WORKERS][2];
    jpp_label_t      inherited[JPP_WORKERS][2];
    jpp_capture_t    captures[JPP_WORKERS];
    size_t           n;
} jpp_origin_fleet_t;


static const jpp_origin_row_t  rows[] = {
    { "all is as it was",
      { { "a3:300 b1:10 ", "a3:300 b1:10 ", 1 },
        { "a3:300 b1:10 ", "a3:300 b1:10 ", 1 } } },
    { "one has freed it, and another some of it",
      { { "b1:10 ", "a3:300 b1:10 ", 1 },
        { "a2:200 b1:10 ", "a3:300 b1:10 ", 1 } } },
    { "all have freed it",
      { { "b1:10 ", "a3:300 ", 1 }, { "b2:20 ", "a3:300 ", 1 } } },
    { "more in the same stack",
      { { "a5:500 ", "a3:300 ", 1 }, { "a4:400 b1:10 ", "a3:300 ", 1 } } },
    { "one that started later inherited more",
      { { "a5:500 ", "a3:300 ", 1 }, { "a5:500 ", "a5:500 ", 1 } } },
    { "two generations",
      { { "a3:300 ", "a3:300 ", 1 }, { "a4:400 ", "a3:300 ", 1 },
        { "a7:700 ", "a6:600 ", 2 } } },
    { "one without a baseline",
      { { "a3:300 ", "a3:300 ", 1 }, { "a3:300 ", NULL, 1 } } },
    { "none with a baseline",
      { { "a3:300 ", NULL, 1 }, { "a3:300 ", NULL, 1 } } },
    { "a baseline of no stacks", { { "a3:300 ", "", 1 } } },
    { "nothing now", { { "", "a3:300 ", 1 } } },
    { "each value by itself",
      { { "a1:1000 b5:500 ", "a4:400 b5:200 ", 1 },
        { "a3:100 ", "a4:400 ", 1 } } },
    { "what ever was allocated",
      { { "a1:100/9:900 c0:0/5:50 ", "a2:200/3:300 c0:0/5:50 ", 1 },
        { "a0:0/3:300 ", "a2:200/3:300 ", 1 } } },
    { "stacks of one dump that differ in the allocator alone",
      { { "a2:200 A2:200 ", "A3:300 ", 1 },
        { "A4:400 ", "a1:100 A1:100 ", 1 } } },
    { "another sampling period",
      { { "a3:300 ", "~a3:300 ", 1 }, { "a3:300 ", "a3:300 ", 1 } } }
};


static jpp_vec_t             *out;
static jpp_report_options_t   options;
static jpp_origin_fleet_t     fleet;


static size_t
jpp_origin_dump(char *to, const char *from)
{
    char  *p, *end;
    long   counts[4];

    p = to + sprintf(to, "heap_v2/%d\n  t*: 1: 2 [0: 0]\n  t0: 1: 2 [0: 0]\n",
                     *from == '~' ? 1024 : 1);

    from += *from == '~';

    while (isalpha((unsigned char) *from) && from[1] != '\0') {
        p += sprintf(p, "@ 0x7f0000000101%s 0x4001%x1\n",
                     isupper((unsigned char) *from) ? " 0x7f0000000201" : "",
                     (unsigned) tolower((unsigned char) *from) - 'a');

        memset(counts, 0, sizeof(counts));

        counts[0] = strtol(from + 1, &end, 10);
        counts[1] = strtol(end + 1, &end, 10);

        if (*end == '/') {
            counts[2] = strtol(end + 1, &end, 10);
            counts[3] = strtol(end + 1, &end, 10);
        }

        p += sprintf(p, "  t*: %ld: %ld [%ld: %ld]\n", counts[0], counts[1],
                     counts[2], counts[3]);

        from = end + 1;
    }

    p += sprintf(p, "%s%s", *from == 'x' ? "x\n" : "", JPP_TEST_MAPS);

    return (size_t) (p - to) - (*from == '!');
}


static void
jpp_origin_fleet(jpp_origin_fleet_t *to, const jpp_origin_worker_t *workers)
{
    size_t          i;
    jpp_capture_t  *capture;

    memset(to, 0, sizeof(jpp_origin_fleet_t));

    for (i = 0; i < JPP_WORKERS && workers[i].now != NULL; i++) {
        capture = &to->captures[i];

        snprintf(to->names[i], sizeof(to->names[i]), "worker %zu", i);

        to->labels[i][0].key = "worker";
        to->labels[i][0].str = to->names[i] + sizeof("worker");
        to->labels[i][1].key = "origin";
        to->labels[i][1].str = "worker";
        to->inherited[i][0].key = "generation";
        to->inherited[i][0].num = workers[i].group;
        to->inherited[i][1].key = "origin";
        to->inherited[i][1].str = "master";

        capture->name = to->names[i];
        capture->labels = to->labels[i];
        capture->n_labels = 2;
        capture->inherited_labels = to->inherited[i];
        capture->n_inherited_labels = 2;
        capture->group = workers[i].group;

        capture->data = to->text[2 * i];
        capture->len = jpp_origin_dump(to->text[2 * i], workers[i].now);

        if (workers[i].baseline != NULL) {
            capture->baseline = to->text[2 * i + 1];
            capture->baseline_len = jpp_origin_dump(to->text[2 * i + 1],
                                                    workers[i].baseline);
        }
    }

    to->n = i;
}


/* What the contract checker prints of the samples, having checked. */

static char *
jpp_origin_samples(void)
{
    char    *text, *from, *to;
    size_t   len;

    text = jpp_test_contract(out, JPP_CONTRACT_HEAP);
    from = strstr(text, "\nsamples:\n") + sizeof("\nsamples:\n") - 1;

    for (to = text; *from == ' '; /* void */ ) {
        from += strspn(from, " ");
        len = strcspn(from, "\n") + 1;
        memmove(to, from, len);
        to += len;
        from += len;
    }

    *to = '\0';

    return text;
}


/* They are shown. */

static void
jpp_origin_is(const char *args, const char *name)
{
    options = jpp_test_options(args);
    options.duration_nanos = 1;

    jpp_reports(fleet.captures, fleet.n, JPP_OK, "%s %s", name, err.text);
    jpp_shows(jpp_origin_samples(), "%s", name);
}


JPP_TEST(jpp_origin_test_rows)
{
    size_t                     i;

    for (i = 0; i < jpp_nelts(rows); i++) {
        jpp_origin_fleet(&fleet, rows[i].workers);
        jpp_origin_is("symbolize=0", rows[i].name);
        jpp_origin_is("symbolize=0&origin=all", "origin=all");
    }
}


/* Is TEXT in OUT, or, where that is gzip-ed, in its comments? */

static bool
jpp_origin_has(const char *text)
{
    bool         has;
    const char  *all;

    all = jpp_gzip_is(out->data, out->len) ? jpp_test_contract(out, 0)
                                           : (char *) out->data;
    has = strstr(all, text) != NULL;

    if (!has) {
        jpp_diag("%s", all);
    }

    return has;
}


JPP_TEST(jpp_origin_test_filters)
{
    static const jpp_origin_worker_t  workers[JPP_WORKERS] = {
        { "a5:500 ", "a3:300 ", 1 }, { "a3:300 b1:10 ", "a3:300 ", 1 },
        { "c1:1/2:2 ", NULL, 1 }
    };

    jpp_origin_fleet(&fleet, workers);

    jpp_origin_is("symbolize=0&origin=worker", "origin=worker");
    jpp_origin_is("symbolize=0&origin=master", "origin=master");

    fleet.captures[0].baseline = NULL;
    fleet.captures[1].baseline = NULL;

    jpp_origin_is("symbolize=0&origin=worker",
                  "origin=worker without baselines");
    jpp_origin_is("symbolize=0&origin=master",
                  "origin=master without baselines");

    options = jpp_test_options("origin=master&symbolize=0");
    jpp_reports(fleet.captures, fleet.n, JPP_OK, "what is inherited");
    jpp_ok(jpp_origin_has("origin=master: only memory inherited from the "
                          "master"), "the profile says so");

    options = jpp_test_options("origin=worker&symbolize=0");
    jpp_reports(fleet.captures, fleet.n, JPP_OK, "a worker's own");
    jpp_ok(jpp_origin_has("origin=worker: without memory inherited from the "
                          "master"), "and so");
}


/* Captures with baselines that are left out, and one left that has one. */

static void
jpp_origin_comments(void *data, jpp_profile_t *profile)
{
    jpp_profile_comment(profile, "%s", (const char *) data);
}


/* A bad baseline is ignored, to the byte; a comment says why. */

JPP_TEST(jpp_origin_test_bad)
{
    char                        comment[JPP_ERR_TEXT + 64];
    size_t                      i;
    jpp_vec_t                  *want;

    /* new mappings, locations and samples come before what is wrong */

    static const struct {
        const char  *baseline;
        const char  *why;
    } bads[] = {
        { "!", "the dump was cut: its last line has no newline" },
        { "z9:900 c2:200 x", "neither a stack nor the maps section" },
        { "~a3:300 ", "its sampling period is not the dump's: profiling was "
                      "reset in between" },
        { NULL, "the dump is empty" }
    };

    static const char  *args[] = { "symbolize=0", "format=text",
                                   "symbolize=0&format=folded",
                                   "symbolize=0&format=top" };

    static const jpp_origin_worker_t  workers[JPP_WORKERS] = {
        { "a5:500 b1:10 ", "a3:300 ", 1 }, { "a5:500 ", "", 1 },
        { "a3:300 b1:10 ", "a3:300 ", 1 }
    };

    for (i = 0; i < jpp_nelts(bads) * jpp_nelts(args); i++) {
        jpp_origin_fleet(&fleet, workers);
        options = jpp_test_options(args[i % jpp_nelts(args)]);
        jpp_test_anew();

        jpp_print(comment, "left out the baseline of %s: %s",
                  i % 2 != 0 ? "dump 2" : "worker 1",
                  bads[i / jpp_nelts(args)].why);

        fleet.captures[1].baseline = NULL;
        options.comments = jpp_origin_comments;
        options.data = comment;
        jpp_reports_to(&want, fleet.captures, fleet.n, JPP_OK, "no baseline");
        options.comments = NULL;

        fleet.captures[1].baseline = fleet.text[3];
        fleet.captures[1].baseline_len = 0;

        if (bads[i / jpp_nelts(args)].baseline != NULL) {
            fleet.captures[1].baseline_len =
                jpp_origin_dump(fleet.text[3],
                                bads[i / jpp_nelts(args)].baseline);
        }

        if (i % 2 != 0) {
            fleet.captures[1].name = NULL;
        }

        jpp_reports(fleet.captures, fleet.n, JPP_OK, "a bad one: %s", comment);
        jpp_test_same(out, want, args[i % jpp_nelts(args)]);

        options.leaves_out = true;
        jpp_reports(fleet.captures, fleet.n, JPP_OK,
                    "also where captures can be left out");
        jpp_test_same(out, want, "the same");
        jpp_is_u64(fleet.captures[1].err.code, JPP_OK, "the capture was not");
    }
}


JPP_TEST(jpp_origin_test_left_out)
{
    size_t                      at;
    jpp_vec_t                  *want;
    static jpp_origin_fleet_t   others;

    static const jpp_origin_worker_t  good[JPP_WORKERS] = {
        { "a5:500 b1:10 ", "a3:300 ", 1 }, { "a3:300 b1:10 ", "a3:300 ", 1 }
    };

    static const jpp_origin_worker_t  bad[2][JPP_WORKERS] = {
        { { "c2:20 x", "c2:20 ", 1 },
          { "a5:500 b1:10 ", "a3:300 ", 1 },
          { "a3:300 b1:10 ", "a3:300 ", 1 } },
        { { "a5:500 b1:10 ", "a3:300 ", 1 },
          { "a3:300 b1:10 ", "a3:300 ", 1 },
          { "!", "!", 1 } }
    };

    for (at = 0; at < 2; at++) {
        jpp_origin_fleet(&fleet, bad[at]);
        jpp_origin_fleet(&others, good);
        options = jpp_test_options("symbolize=0");
        jpp_test_anew();

        if (at == 0) {
            others.captures[0].labels = fleet.captures[1].labels;
            others.captures[1].labels = fleet.captures[2].labels;
        }

        options.leaves_out = true;
        jpp_reports(fleet.captures, fleet.n, JPP_OK,
                    "one bad capture of three");

        options.leaves_out = false;
        jpp_reports_to(&want, others.captures, others.n, JPP_OK, "the others");
        jpp_test_same(out, want, "are what is left");
        jpp_ok(fleet.captures[at * 2].err.code != JPP_OK, "and it is said");
    }
}


/* What changes is a worker's own doing, whatever baselines there are. */

JPP_TEST(jpp_origin_test_difference)
{
    static const jpp_origin_worker_t  workers[JPP_WORKERS] = {
        { "a5:500 b1:10 ", "a3:300 ", 1 }, { "a4:400 ", "a3:300 ", 1 },
        { "b2:20 ", "b2:20 ", 1 }
    };

    jpp_origin_fleet(&fleet, workers);
    fleet.captures[1].is_base = true;
    fleet.captures[1].labels = fleet.captures[0].labels;

    jpp_origin_is("symbolize=0", "a difference");
    jpp_origin_is("symbolize=0&origin=worker", "origin=worker");
    jpp_origin_is("symbolize=0&origin=master", "origin=master");
}


/* A sample of what is inherited counts once, as its memory does. */

JPP_TEST(jpp_origin_test_top)
{
    size_t                     i;

    static const jpp_origin_worker_t  workers[JPP_WORKERS] = {
        { "a5:500/9:900 ", "a3:300/4:400 ", 1 },
        { "a3:300/4:400 b1:10/1:10 ", "a3:300/4:400 ", 1 },
        { "a2:200/4:400 ", "a3:300/4:400 ", 1 }
    };

    static const char  *tops[] = {
        "format=top&symbolize=0", "format=top&symbolize=0&type=alloc_space",
        "format=top&symbolize=0&origin=worker",
        "format=top&symbolize=0&origin=master&type=alloc_space"
    };

    jpp_origin_fleet(&fleet, workers);

    for (i = 0; i < jpp_nelts(tops); i++) {
        options = jpp_test_options(tops[i]);

        jpp_reports(fleet.captures, fleet.n, JPP_OK, "%s", tops[i]);
        jpp_note("%s: %.*s", tops[i],
                 (int) strcspn((const char *) out->data, "\n"),
                 (const char *) out->data);
    }

    jpp_shows_notes("what is inherited counts once");

    /* all samples of both dumps of a difference, as without an origin */

    fleet.captures[1].is_base = true;
    options = jpp_test_options("format=top&symbolize=0&origin=worker");
    jpp_reports(fleet.captures, 2, JPP_OK, "less another worker");
    jpp_ok(jpp_origin_has(", estimated from 9 samples"), "a difference");
}


/* The text of one dump is as it was sampled; of an origin it cannot be. */

JPP_TEST(jpp_origin_test_text)
{
    jpp_vec_t                  *want;
    jpp_capture_t               capture;

    static const jpp_origin_worker_t  workers[JPP_WORKERS] = {
        { "~a5:500 A1:10 ", "~a3:300 ", 1 }
    };

    jpp_origin_fleet(&fleet, workers);
    capture = fleet.captures[0];
    capture.baseline = NULL;

    options = jpp_test_options("format=text");

    jpp_reports_to(&want, &capture, 1, JPP_OK, "without a baseline");
    jpp_reports(fleet.captures, 1, JPP_OK, "text of one dump");
    jpp_test_same(out, want, "as without a baseline");
    jpp_ok(jpp_origin_has("@ heap_v2/1024\n5: 500 [0: 0]"), "not scaled");

    options = jpp_test_options("format=text&origin=worker");
    jpp_reports(fleet.captures, 1, JPP_OK, "text of an origin");
    jpp_ok(jpp_origin_has("heap profile: 125: 3179 [0: 0] @ heap_v2/1\n"
                               "125: 3179 [0: 0] @ 0x400101\n"), "is scaled");
}


JPP_TEST(jpp_origin_test_jemalloc)
{
    static const jpp_origin_worker_t  workers[JPP_WORKERS] = {
        { "a5:500 ", "!", 1 }
    };

    jpp_origin_fleet(&fleet, workers);

    options = jpp_test_options("format=jemalloc");
    jpp_reports(fleet.captures, 1, JPP_OK, "a dump as it is");
    jpp_is_u64(out->len, fleet.captures[0].len, "its length");
    jpp_is_mem(out->data, fleet.captures[0].data, out->len, "its bytes");

    options = jpp_test_options("format=jemalloc&origin=worker");
    jpp_is_u64(jpp_report_check(&options, 1, &err), JPP_ERR_ARG,
               "has no origin: %s", err.text);
}


JPP_TEST(jpp_origin_test_labels)
{
    size_t                     i;
    jpp_label_t                labels[JPP_MAX_LABELS + 1] = { 0 };

    static const jpp_origin_worker_t  workers[JPP_WORKERS] = {
        { "a5:500 ", "a3:300 ", 1 }
    };

    for (i = 0; i <= JPP_MAX_LABELS; i++) {
        labels[i].key = &"abcdefghijk"[i];
        labels[i].str = "value";
    }

    jpp_origin_fleet(&fleet, workers);
    fleet.captures[0].inherited_labels = labels;
    options = jpp_test_options("symbolize=0");

    fleet.captures[0].n_inherited_labels = JPP_MAX_LABELS;
    jpp_reports(fleet.captures, 1, JPP_OK, "as many labels as there may be");

    fleet.captures[0].n_inherited_labels = JPP_MAX_LABELS + 1;
    jpp_reports(fleet.captures, 1, JPP_OK, "one more is not looked at");
}


/* The same numbers each time, 0 to N - 1. */

static uint32_t
jpp_origin_random(uint32_t n)
{
    static uint32_t  state = 1;

    state = state * 1664525 + 1013904223;

    return (state >> 16) % n;
}


/* Random fleets: the sum of a report by the definition, and twice the same. */

JPP_TEST(jpp_origin_test_sums)
{
    char                        shorts[2 * JPP_WORKERS][JPP_DUMP / 8], *p;
    char                       *text, *line;
    int64_t                     now, base, both, most, want[2], got[2], value;
    uint32_t                    round, s, w, counts[2][JPP_WORKERS][16];
    unsigned                    wrong;
    jpp_vec_t                  *again;
    jpp_origin_worker_t         workers[JPP_WORKERS];

    wrong = 0;
    options = jpp_test_options("symbolize=0");

    for (round = 0; round < 300; round++) {
        memset(want, 0, sizeof(want));

        for (w = 0; w < 2 * JPP_WORKERS; w++) {
            for (s = 0, p = shorts[w]; s < 16; s++) {
                counts[w / JPP_WORKERS][w % JPP_WORKERS][s] =
                                                        jpp_origin_random(4);
                p += sprintf(p, "%c%u:%u ", 'a' + s,
                             counts[w / JPP_WORKERS][w % JPP_WORKERS][s],
                             counts[w / JPP_WORKERS][w % JPP_WORKERS][s] * 7);
            }

            workers[w % JPP_WORKERS].now = shorts[w % JPP_WORKERS];
            workers[w % JPP_WORKERS].baseline =
                                         shorts[JPP_WORKERS + w % JPP_WORKERS];
            workers[w % JPP_WORKERS].group = 1;
        }

        for (s = 0; s < 16; s++) {
            for (w = 0, most = 0; w < JPP_WORKERS; w++) {
                now = counts[0][w][s];
                base = counts[1][w][s];
                both = now < base ? now : base;

                most = both > most ? both : most;
                want[0] += 7 * (now - both);
            }

            want[1] += 7 * most;
        }

        jpp_origin_fleet(&fleet, workers);
        jpp_test_anew();

        wrong += jpp_test_report_into(&out, fleet.captures, fleet.n,
                                      &options) != JPP_OK;
        wrong += jpp_test_report_into(&again, fleet.captures, fleet.n,
                                      &options) != JPP_OK;
        wrong += out->len != again->len
                 || memcmp(out->data, again->data, out->len) != 0;

        text = jpp_origin_samples();
        memset(got, 0, sizeof(got));

        for (line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
            value = strtoll(strchr(line, ' '), NULL, 10);
            p = strstr(line, "origin=\"");
            got[p[8] == 'm'] += value;
        }

        if (got[0] != want[0] || got[1] != want[1]) {
            jpp_diag("%" PRId64 " and %" PRId64 ", not %" PRId64 " and %"
                     PRId64, got[0], got[1], want[0], want[1]);
            wrong++;
        }
    }

    jpp_is_u64(wrong, 0, "%u random fleets", round);
}


/* Real dumps of many stacks: a worker that has done nothing since its start. */

JPP_TEST(jpp_origin_test_real)
{
    char             *alone, *split;
    size_t            i, k;
    jpp_capture_t     captures[8];
    jpp_test_file_t   file;

    static const char  *dumps[] = { "nginx-530.heap", "accum-530.heap",
                                    "cxx-530.heap" };

    options = jpp_test_options("symbolize=0");

    for (i = 0; i < jpp_nelts(dumps); i++) {
        file = jpp_test_file(dumps[i]);
        memset(captures, 0, sizeof(captures));
        jpp_test_anew();

        for (k = 0; k < jpp_nelts(captures); k++) {
            captures[k].data = file.data;
            captures[k].len = file.len;
            captures[k].baseline = file.data;
            captures[k].baseline_len = file.len;
        }

        jpp_reports(captures, jpp_nelts(captures), JPP_OK,
                    "%s, eight times with itself as baseline", dumps[i]);
        split = strdup(jpp_origin_samples());

        captures[0].baseline = NULL;
        jpp_reports(captures, 1, JPP_OK, "and alone");
        alone = jpp_origin_samples();

        jpp_ok(strlen(alone) > 100, "samples");
        jpp_ok(strcmp(alone, split) == 0, "are the same");

        free(split);
    }
}


JPP_TEST(jpp_origin_test_memory)
{
    size_t                      cap, wrong;
    jpp_vec_t                  *packed;
    jpp_code_t                  rc;
    jpp_arena_t                 keep;

    static const jpp_origin_worker_t  workers[JPP_WORKERS] = {
        { "a5:500/6:600 b1:10/1:10 ", "a3:300/3:300 ", 1 },
        { "a5:500/6:600 c1:10/1:10 ", "a3:300/3:300 d1:10/1:10 ", 2 },
        { "a5:500/6:600 b1:10/1:10 ", "z1:1/1:1 x", 1 }
    };

    jpp_origin_fleet(&fleet, workers);
    jpp_arena_init(&keep, 1 << 30);

    packed = jpp_test_packed(&keep, fleet.captures[1].baseline,
                           fleet.captures[1].baseline_len, 1);

    fleet.captures[1].baseline = (char *) packed->data;
    fleet.captures[1].baseline_len = packed->len;

    jpp_origin_is("symbolize=0", "is read");

    options = jpp_test_options("symbolize=0&origin=worker");

    jpp_denies(&arena, jpp_test_anew(), 100,
               jpp_written_code(jpp_test_report_into(&out, fleet.captures,
                                                     fleet.n,
                                                     &options), &err));

    for (cap = 0, wrong = 0; cap <= 16 << 20; cap += 32768) {
        jpp_arena_fresh(&arena, cap);
        rc = jpp_test_report_into(&out, fleet.captures, fleet.n, &options);

        wrong += (rc != JPP_OK && rc != JPP_ERR_MEMORY && rc != JPP_ERR_WRITE)
                 || arena.peak > cap;
    }

    jpp_is_u64(rc, JPP_OK, "it has room at last");
    jpp_is_u64(wrong, 0, "and no cap is passed");

    jpp_arena_destroy(&keep);
}


#include "jpp_parsers.h"
#include "jpp_test_dump.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"


#define JPP_STACK  "@ 0x7f0000000101 0x400201 0x7f0000200301\n"


typedef struct {
    const char   *name;
    const char   *text;
} jpp_heap_text_t;


static const jpp_heap_text_t  bad[] = {
    { "empty", "" },
    { "cut in the magic", "heap_v" },
    { "heap_v1", "heap_v1/524288\n" },
    { "Go", "heap profile: 1: 2 [3: 4] @ heap/1048576\n" },
    { "gperftools", "heap profile: 1: 2 [3: 4] @ heapprofile\n" },
    { "our own text", "heap profile: 1: 2 [3: 4] @ heap_v2/524288\n" },
    { "ELF", "\177ELF\2\1\1 and so on" },
    { "something", "something else" },

    { "no end of line", JPP_TEST_HEAD("1") "@" },
    { "no maps", JPP_TEST_HEAD("1") JPP_STACK "  t*: 1: 2 [0: 0]\n" },
    { "no period", "heap_v2/\n  t*: 0: 0 [0: 0]\n" JPP_TEST_MAPS },
    { "period 0", "heap_v2/0\n  t*: 0: 0 [0: 0]\n" JPP_TEST_MAPS },
    { "period of 3", "heap_v2/3\n  t*: 0: 0 [0: 0]\n" JPP_TEST_MAPS },
    { "period of 2^63", "heap_v2/9223372036854775808\n  t*: 0: 0 [0: 0]\n"
      JPP_TEST_MAPS },
    { "period of 2^64", "heap_v2/18446744073709551616\n  t*: 0: 0 [0: 0]\n"
      JPP_TEST_MAPS },
    { "CR LF", "heap_v2/1\r\n  t*: 0: 0 [0: 0]\r\n" JPP_TEST_MAPS },
    { "no totals", "heap_v2/1\n" JPP_TEST_MAPS },
    { "bad thread", "heap_v2/1\n  t*: 0: 0 [0: 0]\n  tx: 0: 0 [0: 0]\n"
      JPP_TEST_MAPS },
    { "bad thread counts", "heap_v2/1\n  t*: 0: 0 [0: 0]\n  t1: 0: 0 [0: 0\n"
      JPP_TEST_MAPS },

    { "stack without totals", JPP_TEST_HEAD("1") JPP_STACK JPP_STACK
      "  t*: 1: 2 [0: 0]\n" JPP_TEST_MAPS },
    { "last stack without totals", JPP_TEST_HEAD("1") JPP_STACK
      JPP_TEST_MAPS },
    { "count of 2^64", JPP_TEST_HEAD("1") JPP_STACK
      "  t*: 18446744073709551616: 2 [0: 0]\n" JPP_TEST_MAPS },
    { "negative count", JPP_TEST_HEAD("1") JPP_STACK "  t*: -1: 2 [0: 0]\n"
      JPP_TEST_MAPS },
    { "words behind the counts", JPP_TEST_HEAD("1") JPP_STACK
      "  t*: 1: 2 [0: 0] x\n" JPP_TEST_MAPS },
    { "bad line of a thread", JPP_TEST_HEAD("1") JPP_STACK
      "  t*: 1: 2 [0: 0]\n  t7: 1: 2\n" JPP_TEST_MAPS },
    { "not an address", JPP_TEST_HEAD("1") "@ 0x7f00000001g1 0x400201\n"
      "  t*: 1: 2 [0: 0]\n" JPP_TEST_MAPS },
    { "upper case", JPP_TEST_HEAD("1") "@ 0x7F0000000101\n"
      "  t*: 1: 2 [0: 0]\n" JPP_TEST_MAPS },
    { "no 0x", JPP_TEST_HEAD("1") "@ 7f0000000101\n" "  t*: 1: 2 [0: 0]\n"
      JPP_TEST_MAPS },
    { "17 digits", JPP_TEST_HEAD("1") "@ 0x10000000000000000\n"
      "  t*: 1: 2 [0: 0]\n" JPP_TEST_MAPS },
    { "a blank at the end", JPP_TEST_HEAD("1") "@ 0x400201 \n"
      "  t*: 1: 2 [0: 0]\n" JPP_TEST_MAPS },
    { "garbage between", JPP_TEST_HEAD("1") "hello\n" JPP_TEST_MAPS },
    { "a blank line between", JPP_TEST_HEAD("1") "\n" JPP_STACK
      "  t*: 1: 2 [0: 0]\n" JPP_TEST_MAPS },
    { "two maps sections", JPP_TEST_HEAD("1") JPP_STACK "  t*: 1: 2 [0: 0]\n"
      JPP_TEST_MAPS JPP_TEST_MAPS },
    { "two dumps", JPP_TEST_HEAD("1") JPP_TEST_MAPS JPP_TEST_HEAD( "1" )
      JPP_TEST_MAPS },
    { "maps without lines", JPP_TEST_HEAD("1") "\nMAPPED_LIBRARIES:\n" },
    { "maps cut in a line", JPP_TEST_HEAD("1") "\nMAPPED_LIBRARIES:\n"
      "00400000-00500000 r-xp 00000000 08:01\n" }
};


static const jpp_heap_text_t  good[] = {
    { "no stacks at all",
      "heap_v2/524288\n  t*: 0: 0 [0: 0]\n" JPP_TEST_MAPS },
    { "one stack", JPP_TEST_HEAD("1") JPP_STACK
      "  t*: 3: 4096 [0: 0]\n  t0: 3: 4096 [0: 0]\n" JPP_TEST_MAPS },
    { "without threads", JPP_TEST_HEAD("1") JPP_STACK "  t*: 3: 4096 [0: 0]\n"
      JPP_TEST_MAPS },
    { "a thread twice, names with blanks",
      "heap_v2/1\n  t*: 1: 2 [0: 0]\n  t0: 1: 2 [0: 0] one two\n"
      "  t0: 1: 2 [0: 0] \n" JPP_STACK "  t*: 3: 4096 [0: 0]\n"
      "  t0: 1: 2 [0: 0]\n  t0: 2: 4094 [0: 0]\n" JPP_TEST_MAPS },
    { "nothing left", JPP_TEST_HEAD("1") JPP_STACK "  t*: 0: 0 [5: 80]\n"
      JPP_TEST_MAPS },

    /* 1/(1 - exp(-24/524288)) = 21845.83 */

    { "scaled", JPP_TEST_HEAD("524288") JPP_STACK "  t*: 1: 24 [2: 48]\n"
      JPP_TEST_MAPS },
    { "objects without bytes", JPP_TEST_HEAD("524288") JPP_STACK
      "  t*: 7: 0 [0: 9]\n" JPP_TEST_MAPS },
    { "the largest counts", JPP_TEST_HEAD("524288") JPP_STACK
      "  t*: 18446744073709551615: 18446744073709551615 [1: "
      "18446744073709551615]\n" JPP_TEST_MAPS },
    { "no frames", JPP_TEST_HEAD("1") "@\n  t*: 1: 8 [0: 0]\n" JPP_TEST_MAPS },
    { "nothing but the allocator", JPP_TEST_HEAD("1")
      "@ 0x7f0000000101 0x7f0000000201\n  t*: 1: 8 [0: 0]\n" JPP_TEST_MAPS },
    { "the allocator further out stays", JPP_TEST_HEAD("1")
      "@ 0x7f0000000101 0x400201 0x7f0000000201\n  t*: 1: 8 [0: 0]\n"
      JPP_TEST_MAPS },
    { "addresses of all lengths", JPP_TEST_HEAD("1")
      "@ 0x0 0x1 0x12 0xffffffffffffffff 0x000000400201 0x400201\n"
      "  t*: 1: 8 [0: 0]\n" JPP_TEST_MAPS },
    { "the call is inside, the return address behind", JPP_TEST_HEAD("1")
      "@ 0x500000 0x400000\n  t*: 1: 8 [0: 0]\n" JPP_TEST_MAPS },
    { "a NUL in a thread's name", NULL }
};


static jpp_code_t     rc;
static jpp_profile_t  profile;


JPP_TEST(jpp_heap_test_bad)
{
    size_t  i;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {

        rc = jpp_test_read(&profile, bad[i].text, strlen(bad[i].text), NULL);

        jpp_is_u64(err.code, rc, "%s: code in err", bad[i].name);
        jpp_note_of(bad[i].name, err, code, line, text);
    }

    jpp_shows_notes("what is no dump");
}


static const char *
jpp_heap_stack_text(uint32_t i)
{
    char                  *p;
    uint32_t               id;
    jpp_sample_t           sample;
    const uint8_t         *pos, *end;
    const jpp_location_t  *location;

    static char  text[4096];

    jpp_profile_sample(&profile, i, &sample);

    end = sample.stack + sample.stack_len;
    text[0] = '\0';
    p = text;

    for (pos = sample.stack; pos < end; /* void */ ) {
        pos = jpp_stack_next(pos, &id);
        location = jpp_profile_location_at(&profile, id);

        p += sprintf(p, "%s%" PRIx64 "@%u", p == text ? "" : " ",
                     location->address, location->mapping);
    }

    return text;
}


/* What was read, as WHAT. */

static void
jpp_heap_note(const char *what)
{
    uint32_t      i;
    jpp_sample_t  sample;

    jpp_note_of(what, profile, n_samples, is_difference, has_periods);
    jpp_note("%zu mappings", jpp_vec_count(profile.mappings, jpp_mapping_t));

    for (i = 0; i < profile.n_samples; i++) {
        jpp_profile_sample(&profile, i, &sample);
        jpp_note("%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 " of [%s]",
                 sample.values[0], sample.values[1], sample.values[2],
                 sample.values[3], jpp_heap_stack_text(i));
    }
}


JPP_TEST(jpp_heap_test_good)
{
    size_t       i, len;
    const char  *text;

    static const char  nul[] =
        "heap_v2/1\n  t*: 1: 2 [0: 0]\n  t0: 1: 2 [0: 0] a\0b\n"
        JPP_STACK "  t*: 3: 4096 [0: 0]\n" JPP_TEST_MAPS;

    for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        text = good[i].text != NULL ? good[i].text : nul;
        len = good[i].text != NULL ? strlen(text) : sizeof(nul) - 1;

        jpp_is_u64(jpp_test_read(&profile, text, len, NULL),
                   JPP_OK, "%s: %s", good[i].name, err.text);
        jpp_heap_note(good[i].name);
    }

    jpp_shows_notes("dumps, and what they allocated and hold");
}


/* stacks of 300 frames, of as many as are allowed, and of one more */

JPP_TEST(jpp_heap_test_frames)
{
    char          *text, *p;
    size_t         i, k;
    jpp_sample_t   sample;

    static const size_t  depths[] = { 300, JPP_MAX_FRAMES, JPP_MAX_FRAMES + 1,
                                      4000000 };

    text = malloc(80 << 20);

    for (i = 0; i < 4; i++) {
        p = text + sprintf(text, "%s@", JPP_TEST_HEAD("1"));

        for (k = 0; k < depths[i]; k++) {
            p += sprintf(p, " 0x400%03zx", k % 4095 + 1);
        }

        p += sprintf(p, "\n  t*: 1: 8 [0: 0]\n%s", JPP_TEST_MAPS);

        rc = jpp_test_read(&profile, text, (size_t) (p - text), NULL);

        if (depths[i] <= JPP_MAX_FRAMES) {
            jpp_is_u64(rc, JPP_OK, "%zu frames", depths[i]);
            jpp_profile_sample(&profile, 0, &sample);

            for (k = 0, p = (char *) (uintptr_t) sample.stack;
                 p < (const char *) sample.stack + sample.stack_len;
                 k++)
            {
                uint32_t  id;

                p = (char *) (uintptr_t) jpp_stack_next((uint8_t *) p, &id);
            }

            jpp_is_u64(k, depths[i], "%zu frames are there", depths[i]);

        } else {
            jpp_is_u64(rc, JPP_ERR_LIMIT, "%zu frames: %s", depths[i],
                       err.text);
            jpp_is_u64(err.line, 4, "the line of it");
        }
    }

    free(text);
}


/* the allocator's frames count, too, however many of them come first */

JPP_TEST(jpp_heap_test_lead)
{
    char    *text, *p;
    size_t   i, k;

    static const struct {
        size_t      lead;
        size_t      callers;
        jpp_code_t  code;
    } stacks[] = {
        { JPP_MAX_FRAMES - 1, 1, JPP_OK },
        { JPP_MAX_FRAMES, 1, JPP_ERR_LIMIT },
        { JPP_MAX_FRAMES + 1, 4000000, JPP_ERR_LIMIT },
        { JPP_MAX_FRAMES + 1, 0, JPP_OK }
    };

    text = malloc(80 << 20);

    for (i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
        p = text + sprintf(text, "%s@", JPP_TEST_HEAD("1"));

        for (k = 0; k < stacks[i].lead; k++) {
            p += sprintf(p, " 0x7f0000000101");
        }

        for (k = 0; k < stacks[i].callers; k++) {
            p += sprintf(p, " 0x400%03zx", k % 4095 + 1);
        }

        p += sprintf(p, "\n  t*: 1: 8 [0: 0]\n%s", JPP_TEST_MAPS);

        rc = jpp_test_read(&profile, text, (size_t) (p - text), NULL);

        jpp_is_u64(rc, stacks[i].code, "%zu frames of the allocator, %zu of "
                   "callers", stacks[i].lead, stacks[i].callers);
    }

    free(text);
}


/* a stack that differs in the allocator's frames only; another layout */

JPP_TEST(jpp_heap_test_merge)
{
    jpp_read_options_t  options = { 0 };

    static const char  first[] = JPP_TEST_HEAD("1")
        "@ 0x7f0000000101 0x400201\n  t*: 1: 10 [0: 0]\n"
        "@ 0x7f0000000201 0x7f0000000301 0x400201\n  t*: 2: 20 [0: 0]\n"
        "@ 0x400201 0x7f0000200301\n  t*: 4: 40 [0: 0]\n" JPP_TEST_MAPS;

    /* the same libc elsewhere, and a stack that is new */

    static const char  second[] = JPP_TEST_HEAD("1")
        "@ 0x400201 0x7f1111200301\n  t*: 1: 10 [0: 0]\n"
        "@ 0x400301\n  t*: 1: 10 [0: 0]\n"
        "\nMAPPED_LIBRARIES:\n"
        "00400000-00500000 r-xp 00000000 08:01 11 /usr/sbin/prog\n"
        "7f1111200000-7f1111300000 r-xp 00001000 08:01 13 /lib/libc.so.6\n";

    jpp_is_u64(jpp_test_read(&profile, first, sizeof(first) - 1, NULL),
               JPP_OK, "the first dump: %s", err.text);

    jpp_heap_note("one stack but for the allocator");

    options.is_base = true;

    jpp_is_u64(jpp_test_add(&profile, &options, second, sizeof(second) - 1,
                            NULL),
               JPP_OK, "the second dump: %s", err.text);

    jpp_heap_note("one stack is new, no mapping, and one is below zero");

    options.is_base = false;

    jpp_is_u64(jpp_test_add(&profile, &options,
                            "heap_v2/2\n  t*: 0: 0 [0: 0]\n" JPP_TEST_MAPS,
                            strlen("heap_v2/2\n  t*: 0: 0 [0: 0]\n"
                                   JPP_TEST_MAPS), NULL),
               JPP_OK, "another period");
    jpp_heap_note("another period is remembered");
    jpp_shows_notes("dumps of another layout, subtracted");
}


/* A baseline meets its dump, though the program was replaced in between. */

JPP_TEST(jpp_heap_test_baseline)
{
    size_t              i;
    jpp_dump_t          dump, before;
    jpp_read_options_t  options = { 0 };
    jpp_origin_split_t  split;

    static const char  now[] = JPP_TEST_HEAD("1")
        "@ 0x400201\n  t*: 18446744073709551615: 10 [3: 30]\n"
        "\nMAPPED_LIBRARIES:\n"
        "00400000-00500000 r-xp 00000000 08:01 11 /usr/sbin/prog (deleted)\n";

    static const char  baseline[] = JPP_TEST_HEAD("1")
        "@ 0x400201\n  t*: 2: 20 [2: 20]\n" JPP_TEST_MAPS;

    static const char  other[] = JPP_TEST_HEAD("2")
        "@ 0x400201\n  t*: 2: 20 [2: 20]\n" JPP_TEST_MAPS;

    jpp_ok(jpp_parser_init(&jpp_parser_heap, &profile, &arena)
           && jpp_origin_init(&split, &profile), "a profile of origins");

    jpp_is_u64(jpp_parser_heap.open(&dump, &profile, now, sizeof(now) - 1,
                                    NULL, &err), JPP_OK, "a dump");
    jpp_is_u64(jpp_parser_heap.read(&profile, &dump, &options, &err), JPP_OK,
               "is read");

    jpp_is_u64(jpp_parser_heap.open(&before, &profile, other,
                                    sizeof(other) - 1, NULL, &err), JPP_OK,
               "a baseline of another period");
    jpp_is_u64(jpp_origin_check(&before, &dump, &err), JPP_ERR_INPUT,
               "is none");
    jpp_ok(err.line == 1 && strstr(err.text, "was reset") != NULL, "%s",
           err.text);

    options.columns = split.baseline;

    jpp_is_u64(jpp_parser_heap.open(&before, &profile, baseline,
                                    sizeof(baseline) - 1, NULL, &err), JPP_OK,
               "its baseline");
    jpp_is_u64(jpp_origin_check(&before, &dump, &err), JPP_OK, "is one");
    jpp_is_u64(jpp_parser_heap.read(&profile, &before, &options, &err), JPP_OK,
               "and is read");

    jpp_note_of("one stack, and the samples of the dump", profile, n_samples,
                n_seen[0]);

    for (i = 0; i < JPP_HEAP_COLUMNS; i++) {
        jpp_note("column %zu: %" PRId64 ", %" PRId64, i,
                 jpp_profile_value(profile.columns[i], 0),
                 jpp_profile_value(split.baseline[i], 0));
    }

    jpp_shows_notes("values of the dump, and of its baseline");
}


/* an allocator that is linked into the program */

JPP_TEST(jpp_heap_test_ranges)
{
    jpp_range_t         range = { 0x400100, 0x400200 };
    jpp_read_options_t  options = { 0 };

    static const char  text[] = JPP_TEST_HEAD("1")
        "@ 0x400101 0x400200 0x400201\n  t*: 1: 10 [0: 0]\n" JPP_TEST_MAPS;

    options.allocator = &range;
    options.n_allocator = 1;

    jpp_ok(jpp_parser_init(&jpp_parser_heap, &profile, &arena), "a profile");
    jpp_is_u64(jpp_test_add(&profile, &options, text, sizeof(text) - 1, NULL),
               JPP_OK, "a dump of a static allocator");
    jpp_is_str(jpp_heap_stack_text(0), "400200@1",
               "its frames are left out by address");
}


/* Where the allocator is to be looked for, and where the maps begin. */

JPP_TEST(jpp_heap_test_open)
{
    size_t      i;
    jpp_dump_t  dump;

    static const struct {
        const char  *maps;
        uint32_t     program;
    } rows[] = {
        { "MAPPED_LIBRARIES:\n"
          "00300000-00310000 r-xp 00000000 00:00 0 \n"
          "00400000-00500000 r-xp 00000000 08:01 11 /usr/sbin/prog\n"
          "00600000-00700000 r-xp 00000000 08:01 12 /lib/libc.so.6\n", 2 },
        { "\nMAPPED_LIBRARIES:\n"
          "00400000-00500000 r-xp 00000000 08:01 11 /usr/sbin/prog\n"
          "00600000-00700000 r-xp 00000000 08:01 12 /lib/libjemalloc.so.2\n",
          0 },
        { "\nMAPPED_LIBRARIES:\n"
          "00400000-00500000 r-xp 00000000 00:00 0 [vdso]\n", 0 }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char  text[1024];

        jpp_print(text, "heap_v2/1024\n  t*: 0: 0 [0: 0]\n%s", rows[i].maps);

        jpp_parser_init(&jpp_parser_heap, &profile, &arena);
        jpp_is_u64(jpp_parser_heap.open(&dump, &profile, text, strlen(text),
                                        NULL, &err), JPP_OK,
                   "a dump without stacks");
        jpp_is_u64(dump.period, 1024, "its period");
        jpp_ok(dump.samples <= dump.end && dump.end - dump.samples <= 1,
               "nothing to read");
        jpp_ok(dump.program == 0 || rows[i].program != 0, "a program, or none");

        if (rows[i].program != 0) {
            jpp_is_str(jpp_profile_mapping_at(&profile, dump.program)->path,
                       "/usr/sbin/prog", "the lowest file");
        }
    }
}


/*
 * A real dump of 160 kB, cut at every byte near its ends, and at every 13th of
 * the samples between, which are all alike.
 */

JPP_TEST(jpp_heap_test_cut)
{
    char             *copy;
    size_t            len, ends, cuts, accepted, wrong;
    jpp_test_file_t   file;

    file = jpp_test_file("nginx-160k.heap");
    ends = 10 << 10;
    cuts = 0;
    accepted = 0;
    wrong = 0;

    for (len = 0; len < file.len; len++) {

        if (len > ends && len < file.len - ends && len % 13 != 0) {
            continue;
        }

        cuts++;

        /* memory that ends where the dump ends, for the sanitizer */

        copy = malloc(len + 1);
        memcpy(copy, file.data, len);
        copy = realloc(copy, len + (len == 0));

        rc = jpp_test_read(&profile, copy, len, "[vsyscall]");

        if (rc == JPP_OK) {
            jpp_diag("accepted when cut at %zu", len);
            accepted++;
        }

        if (rc != JPP_OK && (err.text[0] == '\0' || err.code != rc)) {
            wrong++;
        }

        free(copy);
    }

    jpp_is_u64(accepted, 0, "%zu cuts, all refused", cuts);
    jpp_is_u64(wrong, 0, "each with a sentence");

    rc = jpp_test_read(&profile, file.data, file.len, "[vsyscall]");
    jpp_is_u64(rc, JPP_OK, "and the whole is read");
    jpp_ok(profile.n_samples > 100, "%u samples", profile.n_samples);

    jpp_ok(jpp_heap_is_whole(file.data, file.len), "which is whole");
    jpp_ok(!jpp_heap_is_whole(file.data, file.len - 1)
           && !jpp_heap_is_whole(file.data + 1, file.len - 1)
           && !jpp_heap_is_whole(file.data, 0)
           && !jpp_heap_is_whole("heap_v2/1\n", 10), "and no part of it is");
}

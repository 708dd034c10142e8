
#include "jpp_parsers.h"
#include "jpp_test_dump.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"


#define JPP_STACK  "@ 0x7f0000000101 0x400201 0x7f0000200301\n"

/* a dump of these stacks, and of one stack with these counts */
#define JPP_STACKS(stacks)  JPP_TEST_HEAD("1") stacks JPP_TEST_MAPS
#define JPP_COUNTS(counts)  JPP_STACKS(JPP_STACK "  t*: " counts "\n")

/* a dump without stacks, behind this first line */
#define JPP_FIRST(line)  line "\n  t*: 0: 0 [0: 0]\n" JPP_TEST_MAPS

#define JPP_MAX  "18446744073709551615"


typedef struct {
    const char   *name;
    const char   *text;
    size_t        len;             /* 0: up to the NUL */
} jpp_heap_text_t;


static const char  jpp_nul[] =
    "heap_v2/1\n  t*: 1: 2 [0: 0]\n  t0: 1: 2 [0: 0] a\0b\xff\n"
    JPP_STACK "  t*: 3: 4096 [0: 0]\n" JPP_TEST_MAPS;


static const jpp_heap_text_t  bad[] = {
    { "empty", "", 0 },
    { "a newline", "\n", 0 },
    { "NULs", "\0\0\0\0\0\0\0\0", 8 },
    { "cut in the magic", "heap_v", 0 },
    { "cut behind it", "heap_v2", 0 },
    { "the first line", "heap_v2/1\n", 0 },
    { "heap_v1", "heap_v1/524288\n", 0 },
    { "heap_v1 of jemalloc 3", "heap_v1/1: 1 [0: 0] @ heap_v1/524288\n", 0 },
    { "heap_v3", JPP_FIRST("heap_v3/1"), 0 },
    { "Go", "heap profile: 1: 2 [3: 4] @ heap/1048576\n", 0 },
    { "gperftools", "heap profile: 1: 2 [3: 4] @ heapprofile\n", 0 },
    { "our own text", "heap profile: 1: 2 [3: 4] @ heap_v2/524288\n", 0 },
    { "jeprof --raw", "--- symbol\nbinary=/usr/sbin/nginx\n", 0 },
    { "ELF", "\177ELF\2\1\1 and so on", 0 },
    { "HTML", "<html>\n", 0 },
    { "something", "something else", 0 },
    { "an error of nginx", "404 Not Found\n", 0 },
    { "a maps section", JPP_TEST_MAPS, 0 },
    { "UTF-16", "h\0e\0a\0p\0_\0v\0" "2\0/\0" "1\0\n", 20 },
    { "random bytes", "\x93\x1e\xfe\0\x7f\n\xc3", 7 },
    { "a mark of UTF-8", "\xef\xbb\xbf" JPP_FIRST("heap_v2/1"), 0 },

    { "no end of line", JPP_TEST_HEAD("1") "@", 0 },
    { "no maps", JPP_TEST_HEAD("1") JPP_STACK "  t*: 1: 2 [0: 0]\n", 0 },
    { "a blank line for maps", JPP_TEST_HEAD("1") JPP_STACK
      "  t*: 1: 2 [0: 0]\n\n", 0 },
    { "no period", JPP_FIRST("heap_v2/"), 0 },
    { "period 0", JPP_FIRST("heap_v2/0"), 0 },
    { "period of 3", JPP_FIRST("heap_v2/3"), 0 },
    { "a word as the period", JPP_FIRST("heap_v2/x"), 0 },
    { "period of 2^63", JPP_FIRST("heap_v2/9223372036854775808"), 0 },
    { "period of 2^64", JPP_FIRST("heap_v2/18446744073709551616"), 0 },
    { "CR LF", "heap_v2/1\r\n  t*: 0: 0 [0: 0]\r\n" JPP_TEST_MAPS, 0 },
    { "CR LF in the first line", JPP_FIRST("heap_v2/1\r"), 0 },
    { "no totals", "heap_v2/1\n" JPP_TEST_MAPS, 0 },
    { "bad thread", "heap_v2/1\n  t*: 0: 0 [0: 0]\n  tx: 0: 0 [0: 0]\n"
      JPP_TEST_MAPS, 0 },
    { "bad thread counts", "heap_v2/1\n  t*: 0: 0 [0: 0]\n  t1: 0: 0 [0: 0\n"
      JPP_TEST_MAPS, 0 },

    { "stack without totals", JPP_STACKS(JPP_STACK JPP_STACK
      "  t*: 1: 2 [0: 0]\n"), 0 },
    { "last stack without totals", JPP_STACKS(JPP_STACK), 0 },
    { "a thread before the totals", JPP_STACKS(JPP_STACK
      "  t0: 1: 1 [0: 0]\n"), 0 },
    { "bad line of a thread", JPP_COUNTS("1: 2 [0: 0]\n  t7: 1: 2"), 0 },
    { "a line of a thread without its number",
      JPP_COUNTS("1: 2 [0: 0]\n  t: 1: 1 [0: 0]"), 0 },
    { "count of 2^64", JPP_COUNTS("18446744073709551616: 2 [0: 0]"), 0 },
    { "bytes of 2^64", JPP_COUNTS("1: 18446744073709551616 [0: 0]"), 0 },
    { "2^64 ever", JPP_COUNTS("1: 1 [1: 18446744073709551616]"), 0 },
    { "25 digits", JPP_COUNTS("1: 1111111111111111111111111 [0: 0]"), 0 },
    { "negative count", JPP_COUNTS("-1: 2 [0: 0]"), 0 },
    { "negative bytes", JPP_COUNTS("1: -1 [0: 0]"), 0 },
    { "no counts", JPP_COUNTS(""), 0 },
    { "a blank more", JPP_COUNTS("1:  1 [0: 0]"), 0 },
    { "no brackets", JPP_COUNTS("1: 1"), 0 },
    { "no second bracket", JPP_COUNTS("1: 1 [0: 0"), 0 },
    { "words behind the counts", JPP_COUNTS("1: 2 [0: 0] x"), 0 },
    { "a NUL in the counts", JPP_TEST_HEAD("1") "@\n  t*: 1: 1\0 [0: 0]\n"
      JPP_TEST_MAPS, sizeof(JPP_STACKS("@\n  t*: 1: 1\0 [0: 0]\n")) - 1 },
    { "not an address", JPP_STACKS("@ 0x7f00000001g1 0x400201\n"
      "  t*: 1: 2 [0: 0]\n"), 0 },
    { "a NUL behind an address", JPP_STACKS("@ 0x400201\0\n"
      "  t*: 1: 1 [0: 0]\n"), sizeof(JPP_STACKS("@ 0x400201\0\n"
      "  t*: 1: 1 [0: 0]\n")) - 1 },
    { "CR LF behind it", JPP_STACKS("@ 0x400201\r\n  t*: 1: 1 [0: 0]\r\n"),
      0 },
    { "upper case", JPP_STACKS("@ 0x7F0000000101\n  t*: 1: 2 [0: 0]\n"), 0 },
    { "no 0x", JPP_STACKS("@ 7f0000000101\n  t*: 1: 2 [0: 0]\n"), 0 },
    { "0y", JPP_STACKS(JPP_STACK "  t*: 1: 2 [0: 0]\n"
                       "@ 0x400201 0y7f0000200301\n  t*: 1: 2 [0: 0]\n"), 0 },
    { "17 digits", JPP_STACKS("@ 0x10000000000000000\n  t*: 1: 2 [0: 0]\n"),
      0 },
    { "a blank at the end", JPP_STACKS("@ 0x400201 \n  t*: 1: 2 [0: 0]\n"),
      0 },
    { "no @", JPP_STACKS(" 0x400201\n  t*: 1: 1 [0: 0]\n"), 0 },
    { "garbage between", JPP_STACKS("hello\n"), 0 },
    { "a blank line between", JPP_STACKS("\n" JPP_STACK
      "  t*: 1: 2 [0: 0]\n"), 0 },
    { "two maps sections", JPP_COUNTS("1: 2 [0: 0]") JPP_TEST_MAPS, 0 },
    { "two dumps", JPP_STACKS("") JPP_STACKS(""), 0 },
    { "maps without lines", JPP_TEST_HEAD("1") "\nMAPPED_LIBRARIES:\n", 0 },
    { "maps cut in a line", JPP_TEST_HEAD("1") "\nMAPPED_LIBRARIES:\n"
      "00400000-00500000 r-xp 00000000 08:01\n", 0 },
    { "a NUL in a path", JPP_TEST_HEAD("1") "\nMAPPED_LIBRARIES:\n"
      "00400000-00500000 r-xp 00000000 08:01 11 /a\0b\n",
      sizeof(JPP_TEST_HEAD("1") "\nMAPPED_LIBRARIES:\n"
      "00400000-00500000 r-xp 00000000 08:01 11 /a\0b\n") - 1 }
};


static const jpp_heap_text_t  good[] = {
    { "no stacks at all", JPP_FIRST("heap_v2/524288"), 0 },
    { "one stack", JPP_COUNTS("3: 4096 [0: 0]\n  t0: 3: 4096 [0: 0]"), 0 },
    { "without threads", "heap_v2/1\n  t*: 1: 2 [0: 0]\n" JPP_STACK
      "  t*: 3: 4096 [0: 0]\n" JPP_TEST_MAPS, 0 },
    { "a thread twice, names with blanks",
      "heap_v2/1\n  t*: 1: 2 [0: 0]\n  t0: 1: 2 [0: 0] one two\n"
      "  t0: 1: 2 [0: 0] \n" JPP_STACK "  t*: 3: 4096 [0: 0]\n"
      "  t0: 1: 2 [0: 0]\n  t0: 2: 4094 [0: 0]\n" JPP_TEST_MAPS, 0 },
    { "a name of blanks, brackets and more",
      "heap_v2/1\n  t*: 1: 1 [0: 0]\n  t0: 1: 1 [0: 0]  a : b [1: 2] @ 0x1 \n"
      JPP_STACK "  t*: 1: 100 [0: 0]\n" JPP_TEST_MAPS, 0 },
    { "a NUL in a thread's name", jpp_nul, sizeof(jpp_nul) - 1 },
    { "a period of 2^62", JPP_TEST_HEAD("4611686018427387904") JPP_STACK
      "  t*: 1: 100 [0: 0]\n" JPP_TEST_MAPS, 0 },
    { "nothing left", JPP_COUNTS("0: 0 [5: 80]"), 0 },

    /* 1/(1 - exp(-24/524288)) = 21845.83 */

    { "scaled", JPP_TEST_HEAD("524288") JPP_STACK "  t*: 1: 24 [2: 48]\n"
      JPP_TEST_MAPS, 0 },
    { "nothing left, scaled", JPP_TEST_HEAD("524288") JPP_STACK
      "  t*: 0: 0 [7: 7340032]\n" JPP_TEST_MAPS, 0 },
    { "objects without bytes", JPP_TEST_HEAD("524288") JPP_STACK
      "  t*: 7: 0 [0: 9]\n" JPP_TEST_MAPS, 0 },
    { "bytes without objects", JPP_TEST_HEAD("524288") JPP_STACK
      "  t*: 0: 1 [0: 0]\n" JPP_TEST_MAPS, 0 },
    { "the largest counts", JPP_TEST_HEAD("524288") JPP_STACK
      "  t*: " JPP_MAX ": " JPP_MAX " [1: " JPP_MAX "]\n" JPP_TEST_MAPS, 0 },
    { "2^63 - 1", JPP_COUNTS("1: 9223372036854775807 [0: 0]"), 0 },
    { "2^63", JPP_COUNTS("1: 9223372036854775808 [0: 0]"), 0 },
    { "2^64 - 1", JPP_COUNTS("1: " JPP_MAX " [0: 0]"), 0 },
    { "2^64 - 1 of each",
      JPP_COUNTS(JPP_MAX ": " JPP_MAX " [" JPP_MAX ": " JPP_MAX "]"), 0 },
    { "no frames", JPP_STACKS("@\n  t*: 1: 8 [0: 0]\n"), 0 },
    { "a frame that is nowhere", JPP_STACKS("@ 0x30000001\n"
      "  t*: 1: 8 [0: 0]\n"), 0 },
    { "frame 0", JPP_STACKS("@ 0x0\n  t*: 1: 8 [0: 0]\n"), 0 },
    { "the last address", JPP_STACKS("@ 0xffffffffffffffff\n"
      "  t*: 1: 8 [0: 0]\n"), 0 },
    { "the same stack twice", JPP_STACKS("@ 0x400201\n  t*: 1: 8 [0: 0]\n"
      "@ 0x400201\n  t*: 1: 8 [0: 0]\n"), 0 },
    { "a sum that is too large", JPP_STACKS(
      "@ 0x400201\n  t*: 1: 9223372036854775807 [0: 0]\n"
      "@ 0x400201\n  t*: 1: 9223372036854775807 [0: 0]\n"
      "@ 0x400201\n  t*: 1: 9223372036854775807 [0: 0]\n"), 0 },
    { "nothing but the allocator",
      JPP_STACKS("@ 0x7f0000000101 0x7f0000000201\n  t*: 1: 8 [0: 0]\n"), 0 },
    { "the allocator further out stays",
      JPP_STACKS("@ 0x7f0000000101 0x400201 0x7f0000000201\n"
      "  t*: 1: 8 [0: 0]\n"), 0 },
    { "addresses of all lengths",
      JPP_STACKS("@ 0x0 0x1 0x12 0xffffffffffffffff 0x000000400201 0x400201\n"
      "  t*: 1: 8 [0: 0]\n"), 0 },
    { "the call is inside, the return address behind",
      JPP_STACKS("@ 0x500000 0x400000\n  t*: 1: 8 [0: 0]\n"), 0 },
    { "paths that are odd", JPP_TEST_HEAD("1") "@ 0x1001 0x2001 0x3001 0x4001 "
      "0x5001 0x6001\n  t*: 1: 8 [0: 0]\n\nMAPPED_LIBRARIES:\n"
      "1000-2000 r-xp 00000000 08:01 11 /usr/sbin/a (deleted)\n"
      "2000-3000 r-xp 00000000 08:01 12 /usr/my dir/a  b\n"
      "3000-4000 r-xp 00000000 08:01 13 /usr/a\\012b\n"
      "4000-5000 r-xp 00000000 08:01 14 /usr/a;b\n"
      "5000-6000 r-xp 00000000 00:00 0 [vdso]\n"
      "6000-7000 r-xp 00000000 00:00 0\n", 0 }
};


static jpp_code_t             rc;
static jpp_vec_t             *out;
static jpp_profile_t          profile;
static jpp_report_options_t   options;


static size_t
jpp_heap_len(const jpp_heap_text_t *row)
{
    return row->len != 0 ? row->len : strlen(row->text);
}


JPP_TEST(jpp_heap_test_bad)
{
    size_t  i;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {

        rc = jpp_test_read(&profile, bad[i].text, jpp_heap_len(&bad[i]), NULL);

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


/* The same as stacks, and as a profile, which keeps the contract. */

static void
jpp_heap_note_report(const jpp_heap_text_t *row)
{
    jpp_capture_t  capture = jpp_test_capture(row->text, jpp_heap_len(row));

    options = jpp_test_options("format=folded&symbolize=0");
    jpp_reports(&capture, 1, JPP_OK, "%s: stacks", row->name);
    jpp_note_lines((char *) out->data);

    options = jpp_test_options("symbolize=0");
    jpp_reports(&capture, 1, JPP_OK, "%s: a profile", row->name);
    (void) jpp_test_contract(out, JPP_CONTRACT_HEAP);
}


JPP_TEST(jpp_heap_test_good)
{
    size_t  i;

    for (i = 0; i < jpp_nelts(good); i++) {
        jpp_is_u64(jpp_test_read(&profile, good[i].text,
                                 jpp_heap_len(&good[i]), NULL),
                   JPP_OK, "%s: %s", good[i].name, err.text);
        jpp_heap_note(good[i].name);
        jpp_heap_note_report(&good[i]);
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


/* ten thousand threads, and 64 MB of a word for a stack */

JPP_TEST(jpp_heap_test_large)
{
    char    *text, *p;
    size_t   i;

    text = malloc(65 << 20);
    p = text + sprintf(text, "%s", JPP_TEST_HEAD("1"));

    for (i = 0; i < 10000; i++) {
        p += sprintf(p, "  t%zu: 1: 1 [0: 0] n%zu\n", i, i);
    }

    p += sprintf(p, "@ 0x400201\n  t*: 1: 8 [0: 0]\n%s", JPP_TEST_MAPS);
    jpp_is_u64(jpp_test_read(&profile, text, (size_t) (p - text), NULL), JPP_OK,
               "ten thousand threads");
    jpp_is_u64(profile.n_samples, 1, "are no stacks");

    p = text + sprintf(text, "%s", JPP_TEST_HEAD("1"));
    memset(p, 'x', 64 << 20);
    strcpy(p + (64 << 20), "\n" JPP_TEST_MAPS);
    jpp_is_u64(jpp_test_read(&profile, text, strlen(text), NULL), JPP_ERR_INPUT,
               "a word of 64 MB");
    jpp_is_u64(err.line, 4, "its line");
    jpp_has(err.text, "neither a stack nor the maps section", "the sentence");

    free(text);
}


/* The first or the last digits are those of others. */

static uint64_t
jpp_heap_test_address(size_t i)
{
    return 0x100000000000 + (i % 2 ? i * 8 : i << 16);
}


/* As many addresses as fill half of their table, twice; and one that begins as
   the first does. */

JPP_TEST(jpp_heap_test_many)
{
    char          *text, *p;
    size_t         i, wrong;
    uint32_t       ids[JPP_MAX_FRAMES];
    jpp_sample_t   sample;

    text = malloc(2 << 20);
    p = text + sprintf(text, "%s", JPP_TEST_HEAD("1"));

    for (i = 0; i < 16000; i++) {
        p += sprintf(p, "@ 0x7f0000200301 0x%" PRIx64
                     "\n  t*: 1: %zu [0: 0]\n",
                     jpp_heap_test_address(i % 8000), 1000 + i % 8000);
    }

    p += sprintf(p, "@ 0x7f0000200301 0x1000000000000\n  t*: 1: 7 [0: 0]\n%s",
                 JPP_TEST_MAPS);

    jpp_is_u64(jpp_test_read(&profile, text, (size_t) (p - text), NULL), JPP_OK,
               "8000 addresses");
    jpp_is_u64(profile.n_samples, 8001, "and one with a digit more");

    for (i = 0, wrong = 0; i < 8000; i++) {
        jpp_profile_sample(&profile, (uint32_t) i, &sample);

        wrong += jpp_stack_ids(sample.stack, sample.stack_len, ids) != 2
                 || jpp_profile_location_at(&profile, ids[1])->address + 1
                    != jpp_heap_test_address(i)
                 || sample.values[JPP_HEAP_INUSE_SPACE]
                    != 2 * (1000 + (int64_t) i);
    }

    jpp_is_u64(wrong, 0, "each is told apart");

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
    jpp_read_options_t  how = { 0 };

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

    how.is_base = true;

    jpp_is_u64(jpp_test_add(&profile, &how, second, sizeof(second) - 1,
                            NULL),
               JPP_OK, "the second dump: %s", err.text);

    jpp_heap_note("one stack is new, no mapping, and one is below zero");

    how.is_base = false;

    jpp_is_u64(jpp_test_add(&profile, &how,
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
    jpp_read_options_t  how = { 0 };
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
    jpp_is_u64(jpp_parser_heap.read(&profile, &dump, &how, &err), JPP_OK,
               "is read");

    jpp_is_u64(jpp_parser_heap.open(&before, &profile, other,
                                    sizeof(other) - 1, NULL, &err), JPP_OK,
               "a baseline of another period");
    jpp_is_u64(jpp_origin_check(&before, &dump, &err), JPP_ERR_INPUT,
               "is none");
    jpp_ok(err.line == 1 && strstr(err.text, "was reset") != NULL, "%s",
           err.text);

    how.columns = split.baseline;

    jpp_is_u64(jpp_parser_heap.open(&before, &profile, baseline,
                                    sizeof(baseline) - 1, NULL, &err), JPP_OK,
               "its baseline");
    jpp_is_u64(jpp_origin_check(&before, &dump, &err), JPP_OK, "is one");
    jpp_is_u64(jpp_parser_heap.read(&profile, &before, &how, &err), JPP_OK,
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
    jpp_read_options_t  how = { 0 };

    static const char  text[] = JPP_TEST_HEAD("1")
        "@ 0x400101 0x400200 0x400201\n  t*: 1: 10 [0: 0]\n" JPP_TEST_MAPS;

    how.allocator = &range;
    how.n_allocator = 1;

    jpp_ok(jpp_parser_init(&jpp_parser_heap, &profile, &arena), "a profile");
    jpp_is_u64(jpp_test_add(&profile, &how, text, sizeof(text) - 1, NULL),
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

        if (rc != JPP_OK
            && (strstr(err.text, len != 0 ? "cut" : "empty") == NULL
                || err.code != rc))
        {
            jpp_diag("cut at %zu: %s", len, err.text);
            wrong++;
        }

        free(copy);
    }

    jpp_is_u64(accepted, 0, "%zu cuts, all refused", cuts);
    jpp_is_u64(wrong, 0, "each with a sentence that says so");

    rc = jpp_test_read(&profile, file.data, file.len, "[vsyscall]");
    jpp_is_u64(rc, JPP_OK, "and the whole is read");
    jpp_ok(profile.n_samples > 100, "%u samples", profile.n_samples);

    jpp_ok(jpp_heap_is_whole(file.data, file.len), "which is whole");
    jpp_ok(!jpp_heap_is_whole(file.data, file.len - 1)
           && !jpp_heap_is_whole(file.data + 1, file.len - 1)
           && !jpp_heap_is_whole(file.data, 0)
           && !jpp_heap_is_whole("heap_v2/1\n", 10), "and no part of it is");
}

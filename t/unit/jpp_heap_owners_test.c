
/*
 * Dumps whose samples have owners: as labels, as frames, and those that only
 * look like it.
 */


#include "jpp_test_dump.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"


#define JPP_OWNED_HEAD                                                        \
    "heap_v2/1\n  t*: 6: 60 [0: 0]\n"                                         \
    "  t0: 1: 10 [0: 0] owner\t(unknown)\t(unknown)\n"                        \
    "  t1: 0: 0 [0: 0] owner\t(other servers)\t(other locations)\n"           \
    "  t2: 2: 20 [0: 0] owner\t(event loop)\t(event loop)\n"                  \
    "  t3: 0: 0 [0: 0] owner\t(other threads)\t(other threads)\n"             \
    "  t4: 3: 30 [0: 0] owner\ta.example\t~ ^/x y\n"

#define JPP_OWNED_STACK(n, owner)                                             \
    "@ 0x400201 0x400301\n  t*: 1: " n " [0: 0]\n"                            \
    "  t" owner ": 1: " n " [0: 0]\n"

#define JPP_OWNED                                                             \
    JPP_OWNED_HEAD                                                            \
    JPP_OWNED_STACK("10", "0") JPP_OWNED_STACK("20", "2")                     \
    JPP_OWNED_STACK("30", "4") JPP_OWNED_STACK("1", "4")                      \
    JPP_OWNED_STACK("2", "5")                                                 \
    JPP_TEST_MAPS


/* by jemalloc: a frame, and names behind the mappings */
#define JPP_OWNED_FRAME(n, frame)                                             \
    "@ 0x400201 0x400301" frame "\n  t*: 1: " n " [0: 0]\n"                   \
    "  t4: 1: " n " [0: 0]\n"

#define JPP_OWNED_FRAMES                                                      \
    JPP_TEST_HEAD("1")                                                        \
    JPP_OWNED_FRAME("10", " 0x2001") JPP_OWNED_FRAME("20", " 0x2002")         \
    JPP_OWNED_FRAME("30", "") JPP_OWNED_FRAME("40", " 0x2003")                \
    JPP_OWNED_FRAME("1", " 0x2002")                                           \
    JPP_TEST_MAPS


typedef struct {
    const char       *name;
    const char       *text;
    const char       *format;      /* and more of a query */
} jpp_owned_case_t;


static const jpp_owned_case_t  jpp_owned[] = {

    { "by location", JPP_OWNED, "format=folded&by=location" },

    { "by server", JPP_OWNED, "format=folded&by=server" },

    { "without", JPP_OWNED, "format=folded" },

    { "labels are no frames", JPP_OWNED, "format=folded&owners=1" },

    { "a dump without owners",
      JPP_TEST_HEAD("1") JPP_OWNED_STACK("10", "4") JPP_TEST_MAPS,
      "format=folded&by=location" },

    { "names of threads",
      "heap_v2/1\n  t*: 1: 2 [0: 0]\n  t0: 1: 2 [0: 0] owner of all\n"
      JPP_OWNED_STACK("10", "0") JPP_TEST_MAPS, "format=folded&by=location" },

    { "numbers in another order",
      "heap_v2/1\n  t*: 1: 2 [0: 0]\n"
      "  t1: 1: 2 [0: 0] owner\tone\tone\n"
      "  t0: 1: 2 [0: 0] owner\tnone\tnone\n"
      "  t7: 1: 2 [0: 0] owner\tseven\tseven\n"
      JPP_OWNED_STACK("10", "1") JPP_TEST_MAPS, "format=folded&by=server" },

    { "a line without a location",
      "heap_v2/1\n  t*: 1: 2 [0: 0]\n  t0: 1: 2 [0: 0] owner\tone\n"
      JPP_OWNED_STACK("10", "0") JPP_TEST_MAPS, "format=folded&by=server" },

    { "the number of no owner",
      JPP_OWNED_HEAD JPP_OWNED_STACK("10", "99999999999999999999")
      JPP_TEST_MAPS, "format=folded&by=server" },

    { "frames", JPP_OWNED_FRAMES "OWNERS:\n(unknown)\t(unknown)\n"
      "a.example\t/b/\tback\n", "format=folded&by=location" },

    { "threads of jemalloc's",
      JPP_TEST_HEAD("1") JPP_OWNED_STACK("10", "1")
      JPP_OWNED_FRAME("20", " 0x2002") JPP_TEST_MAPS
      "OWNERS:\n(unknown)\t(unknown)\na.example\t/b/\n",
      "format=folded&by=location" },

    { "an upstream", JPP_OWNED_FRAMES "OWNERS:\n(unknown)\t(unknown)\n"
      "a.example\t/b/\tback\n", "format=folded&by=upstream" },

    { "frames that nobody asks for", JPP_OWNED_FRAMES
      "OWNERS:\n(unknown)\t(unknown)\na.example\t/b/\n", "format=folded" },

    { "frames without names", JPP_OWNED_FRAMES, "format=folded&by=server" },

    { "a frame that is none's",
      JPP_TEST_HEAD("1") JPP_OWNED_FRAME("10", " 0x2001 0x400401")
      JPP_TEST_MAPS "OWNERS:\n(unknown)\t(unknown)\none\t/a\n",
      "format=folded&by=server" },

    { "the allocator's frames alone",
      JPP_TEST_HEAD("1") "@ 0x2001\n  t*: 1: 10 [0: 0]\n"
      "  t4: 1: 10 [0: 0]\n" JPP_TEST_MAPS "OWNERS:\none\t/a\n",
      "format=folded&by=server" },

    { "names that are cut",
      JPP_OWNED_FRAMES "OWNERS:\n(unknown)\t(unknown)\na.exam\n",
      "format=folded&by=server" },

    { "the table", JPP_OWNED, "format=top&by=location&sort=cum" },

    { "a table of none",
      JPP_TEST_HEAD("1") JPP_OWNED_STACK("10", "0") JPP_TEST_MAPS,
      "format=top&by=location" },

    { "a table of what was ever allocated",
      JPP_OWNED_HEAD "@ 0x400201 0x400301\n  t*: 1: 10 [3: 30]\n"
      "  t4: 1: 10 [3: 30]\n" JPP_TEST_MAPS,
      "format=top&by=location" },

    { "a table of nobody's interest", JPP_OWNED, "format=top" }
};


static jpp_vec_t      *out;
static jpp_profile_t   profile;


static void
jpp_test_owned(const jpp_owned_case_t *owned)
{
    jpp_code_t            rc;
    jpp_capture_t         capture;
    jpp_report_options_t  options;

    options = jpp_test_options(owned->format);
    jpp_test_anew();

    capture = jpp_test_capture(owned->text, strlen(owned->text));
    rc = jpp_test_report_into(&out, &capture, 1, &options);

    jpp_ok(rc == JPP_OK || rc == JPP_ERR_INPUT, "%s: read, or refused",
           owned->name);
    (void) jpp_vec_push(out, 1);
    jpp_shows(rc == JPP_OK ? (char *) out->data : err.text, "%s", owned->name);
}


/* The labels of two captures: each has its own, and its owners'. */

JPP_TEST(jpp_test_labels)
{
    uint32_t            i, k, n;
    jpp_label_t         label = { "worker", "3", 0, NULL };
    jpp_sample_t        sample;
    jpp_read_options_t  options = { 0 };

    (void) jpp_parser_init(&jpp_parser_heap, &profile, &arena);

    options.has_owners = true;

    jpp_ok(jpp_profile_labels(&profile, 0, 0, &label, 1, &options.labels)
           && jpp_test_add(&profile, &options, JPP_OWNED,
                           sizeof(JPP_OWNED) - 1, NULL) == JPP_OK,
           "a dump %s", err.text);

    jpp_is_u64(profile.n_samples, 3, "one for each owner");

    for (i = 0, n = 0; i < profile.n_samples; i++) {
        jpp_profile_sample(&profile, i, &sample);
        jpp_is_u64(sample.labels->n, 3, "three labels");

        for (k = 0; k < sample.labels->n; k++) {
            n += strcmp(jpp_profile_str(&profile,
                                        sample.labels->labels[k].str).data,
                        "~ ^/x y") == 0
                 && sample.values[JPP_HEAP_INUSE_SPACE] == 31;
        }
    }

    jpp_is_u64(n, 1, "a location has its bytes");
}


/* What workers inherit was there before owners were: it counts once. */

#define JPP_OWNED_OLD                                                         \
    "@ 0x400201 0x400301\n  t*: 1: 700 [0: 0]\n  t0: 1: 700 [0: 0]\n"

JPP_TEST(jpp_test_inherited)
{
    size_t                i;
    jpp_capture_t         captures[2] = { 0 };
    jpp_report_options_t  options;

    static const char  baseline[] =
        JPP_TEST_HEAD("1") JPP_OWNED_OLD JPP_TEST_MAPS;
    static const char  now[] =
        JPP_TEST_HEAD("1") JPP_OWNED_OLD JPP_OWNED_FRAME("20", " 0x2002")
        JPP_TEST_MAPS "OWNERS:\n(unknown)\t(unknown)\na.example\t/b/\n";

    static const jpp_label_t  labels[2] = {
        { "worker", "0", 0, NULL }, { "worker", "1", 0, NULL }
    };
    static const jpp_label_t  master = { "origin", "master", 0, NULL };

    options = jpp_test_options("format=folded&by=location");

    for (i = 0; i < 2; i++) {
        captures[i].data = now;
        captures[i].len = sizeof(now) - 1;
        captures[i].labels = &labels[i];
        captures[i].n_labels = 1;
        captures[i].baseline = baseline;
        captures[i].baseline_len = sizeof(baseline) - 1;
        captures[i].inherited_labels = &master;
        captures[i].n_inherited_labels = 1;
        captures[i].group = 1;
    }

    jpp_is_i64(jpp_test_report_into(&out, captures, 2, &options),
               JPP_OK, "two workers of one master");

    (void) jpp_vec_push(out, 1);
    jpp_shows((char *) out->data, "what they have from it is there once, what "
              "a location has, of each, and nothing is unknown");
}


/* No memory, at every call. */

JPP_TEST(jpp_test_memory)
{
    jpp_read_options_t  options = { 0 };

    options.has_owners = true;

    jpp_denies(&arena, jpp_test_anew(), 10,
               jpp_parser_init(&jpp_parser_heap, &profile, &arena)
               ? jpp_test_add(&profile, &options, JPP_OWNED,
                              sizeof(JPP_OWNED) - 1, NULL)
               : JPP_ERR_MEMORY);
}


JPP_TEST(jpp_heap_owners_test)
{
    size_t  i;

    for (i = 0; i < sizeof(jpp_owned) / sizeof(jpp_owned[0]); i++) {
        jpp_test_owned(&jpp_owned[i]);
    }
}


/*
 * Owners of a capture as labels, and in captures of times.
 */


#include "jpp_owner_labels.h"
#include "jpp_parsers.h"
#include "jpp_test_arena.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"


#define JPP_OWNERS_MAPS                                                       \
    "MAPPED_LIBRARIES:\n"                                                     \
    "00400000-00500000 r-xp 00000000 08:01 11 /usr/sbin/prog\n"


static jpp_profile_t  jpp_profile;


/* Notes the labels of SET. */

static void
jpp_labels_note(uint32_t set)
{
    uint32_t                i;
    const jpp_label_set_t  *labels;

    labels = &jpp_vec_items(jpp_profile.label_sets, jpp_label_set_t)[set];

    for (i = 0; i < labels->n; i++) {
        jpp_note("%s=%s",
                 jpp_profile_str(&jpp_profile, labels->labels[i].key).data,
                 jpp_profile_str(&jpp_profile, labels->labels[i].str).data);
    }

    jpp_shows_notes("%u labels", labels->n);
}


static bool
jpp_add(jpp_owner_labels_t **owners, const char *names)
{
    return jpp_owner_labels_add(owners, &arena, names,
                                names + strlen(names));
}


JPP_TEST(jpp_test_labels)
{
    uint32_t             i, set;
    jpp_label_t          state = { "state", "cpu", 0, NULL };
    jpp_owner_labels_t  *owners;

    owners = NULL;
    (void) jpp_parser_init(&jpp_parser_cpu, &jpp_profile, &arena);

    jpp_is_u64(jpp_owner_labels_count(owners), 0, "none");
    jpp_is_u64(jpp_owner_labels(owners, &jpp_profile, 3, 0), 0,
               "whose labels are those before");

    jpp_ok(jpp_add(&owners, "one\t/a") && jpp_add(&owners, "two\t/b\tback"),
           "two");
    jpp_ok(jpp_add(&owners, "three") && jpp_add(&owners, "\t\t\t\t")
           && jpp_add(&owners, ""), "and some that are none");
    jpp_is_u64(jpp_owner_labels_count(owners), 2, "are left out");

    jpp_labels_note(jpp_owner_labels(owners, &jpp_profile, 0, 0));
    jpp_labels_note(jpp_owner_labels(owners, &jpp_profile, 1, 0));
    jpp_is_u64(jpp_owner_labels(owners, &jpp_profile, 2, 0), 0,
               "one that is not there");

    (void) jpp_profile_labels(&jpp_profile, 0, 0, &state, 1, &set);
    jpp_labels_note(jpp_owner_labels(owners, &jpp_profile, 0, set));
    jpp_labels_note(jpp_owner_labels(owners, &jpp_profile, 0, 0));

    jpp_ok(jpp_add(&owners, "four\t/d\t\tnginx.conf:41"), "one at a place");
    jpp_labels_note(jpp_owner_labels(owners, &jpp_profile, 2, 0));

    for (i = 0; i < JPP_OWNERS_MAX + 10; i++) {
        (void) jpp_add(&owners, "many\t/c");
    }

    jpp_is_u64(jpp_owner_labels_count(owners), JPP_OWNERS_MAX, "a bound");
}


/* What is said of a capture whose stacks are TEXT. */

static const char *
jpp_read(const char *text, bool has_owners)
{
    jpp_dump_t          dump;
    jpp_code_t          rc;
    jpp_read_options_t  options = { 0 };
    static char         capture[2048];

    options.has_owners = options.says_owners = has_owners;

    (void) snprintf(capture, sizeof(capture), "jpp_times/1 cpu\nlabels 1\n"
                    "thread=main\n%s" JPP_OWNERS_MAPS, text);

    jpp_test_anew();
    (void) jpp_parser_init(&jpp_parser_cpu, &jpp_profile, &arena);

    rc = jpp_parser_cpu.open(&dump, &jpp_profile, capture, strlen(capture),
                             NULL, &err);
    if (rc == JPP_OK) {
        rc = jpp_parser_cpu.read(&jpp_profile, &dump, &options, &err);
    }

    return rc == JPP_OK ? "" : err.text;
}


static const char *
jpp_comment(void)
{
    jpp_parser_cpu.describe(&jpp_profile);

    return jpp_comments_of(&jpp_profile);
}


JPP_TEST(jpp_test_times)
{
    size_t  i;

    static const char  *bad[] = {
        "owner one\t/a\n@ 0.1 1 10 0x401000\n",
        "owner one\t/a\n@ 0. 1 10 0x401000\n",
        "owner one\n@ 0.0 1 10 0x401000\n", "@0 1 10 0x401000\n"
    };

    static const char  text[] =
        "owner one\t/a\nowner two\t/b\tback\n"
        "@ 0.1 3 30 0x401000\n@ 0 1 10 0x401000\n@ 0.0 2 20 0x401000\n";

    jpp_is_str(jpp_read(text, true), "", "a capture with owners");
    jpp_labels_note(2);
    jpp_shows(jpp_comment(), "owners, and how many samples have one");

    jpp_is_str(jpp_read(text, false), "", "nobody asks");
    jpp_is_u64(jpp_vec_count(jpp_profile.label_sets, jpp_label_set_t), 2,
               "they are left out");
    jpp_lacks(jpp_comment(), "owner", "and nothing is said");

    jpp_is_str(jpp_read("@ 0 1 10 0x401000\n", true), "", "without any");
    jpp_shows(jpp_comment(), "no owners");

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        jpp_note("%s: %s", bad[i], jpp_read(bad[i], true));
    }

    jpp_shows_notes("another owner, no number, no owner, no set");
}

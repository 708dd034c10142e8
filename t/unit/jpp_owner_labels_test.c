
/*
 * Owners of a capture as labels, and in captures of times.
 */


#include "jpp_owner_labels.h"
#include "jpp_parsers.h"
#include "jpp_profile.h"
#include "jpp_test.h"


#define JPP_OWNERS_MAPS                                                       \
    "MAPPED_LIBRARIES:\n"                                                     \
    "00400000-00500000 r-xp 00000000 08:01 11 /usr/sbin/prog\n"


static jpp_profile_t  jpp_profile;
static jpp_arena_t    jpp_arena;


/* The labels of SET, "key=value " each. */

static const char *
jpp_text(uint32_t set)
{
    size_t                  len;
    uint32_t                i;
    static char             text[512];
    const jpp_label_set_t  *labels;

    labels = &jpp_vec_items(jpp_profile.label_sets, jpp_label_set_t)[set];
    text[0] = '\0';

    for (i = 0, len = 0; i < labels->n; i++) {
        len += (size_t) snprintf(text + len, sizeof(text) - len, "%s=%s ",
                   jpp_profile_str(&jpp_profile, labels->labels[i].key).data,
                   jpp_profile_str(&jpp_profile, labels->labels[i].str).data);
    }

    return text;
}


static bool
jpp_add(jpp_owner_labels_t **owners, const char *names)
{
    return jpp_owner_labels_add(owners, &jpp_arena, names,
                                names + strlen(names));
}


static void
jpp_test_labels(void)
{
    uint32_t             i, set;
    jpp_label_t          state = { "state", "cpu", 0, NULL };
    jpp_owner_labels_t  *owners;

    owners = NULL;

    jpp_is_u64(jpp_owner_labels_count(owners), 0, "none");
    jpp_is_u64(jpp_owner_labels(owners, &jpp_profile, 3, 0), 0,
               "whose labels are those before");

    jpp_ok(jpp_add(&owners, "one\t/a") && jpp_add(&owners, "two\t/b\tback"),
           "two");
    jpp_ok(jpp_add(&owners, "three") && jpp_add(&owners, "\t\t\t")
           && jpp_add(&owners, ""), "and some that are none");
    jpp_is_u64(jpp_owner_labels_count(owners), 2, "are left out");

    jpp_is_str(jpp_text(jpp_owner_labels(owners, &jpp_profile, 0, 0)),
               "server=one location=/a ", "without an upstream");
    jpp_is_str(jpp_text(jpp_owner_labels(owners, &jpp_profile, 1, 0)),
               "server=two location=/b upstream=back ", "and with one");
    jpp_is_u64(jpp_owner_labels(owners, &jpp_profile, 2, 0), 0,
               "one that is not there");

    (void) jpp_profile_labels(&jpp_profile, 0, 0, &state, 1, &set);
    jpp_is_str(jpp_text(jpp_owner_labels(owners, &jpp_profile, 0, set)),
               "state=cpu server=one location=/a ", "behind others");
    jpp_is_str(jpp_text(jpp_owner_labels(owners, &jpp_profile, 0, 0)),
               "server=one location=/a ", "not for good");

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
    jpp_read_options_t  options;
    static char         capture[2048];
    static jpp_err_t    err;

    memset(&options, 0, sizeof(options));
    memset(&err, 0, sizeof(err));

    options.has_owners = has_owners;

    (void) snprintf(capture, sizeof(capture), "jpp_times/1 cpu\nlabels 1\n"
                    "thread=main\n%s" JPP_OWNERS_MAPS, text);

    jpp_arena_destroy(&jpp_arena);
    jpp_arena_init(&jpp_arena, (size_t) 1 << 30);
    (void) jpp_parser_init(&jpp_parser_cpu, &jpp_profile, &jpp_arena);

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
    size_t     n;
    uint32_t  *comments;

    jpp_parser_cpu.describe(&jpp_profile);

    n = jpp_vec_count(jpp_profile.comments, uint32_t);
    comments = jpp_vec_items(jpp_profile.comments, uint32_t);

    return jpp_profile_str(&jpp_profile, comments[n - 1]).data;
}


static void
jpp_test_times(void)
{
    static const char  text[] =
        "owner one\t/a\nowner two\t/b\tback\n"
        "@ 0.1 3 30 0x401000\n@ 0 1 10 0x401000\n@ 0.0 2 20 0x401000\n";

    jpp_is_str(jpp_read(text, true), "", "a capture with owners");
    jpp_is_str(jpp_text(2), "thread=main server=two location=/b "
                            "upstream=back ", "they have their names");
    jpp_is_str(jpp_comment(), "samples with an owner: 5 of 6", "and count");

    jpp_is_str(jpp_read(text, false), "", "nobody asks");
    jpp_is_u64(jpp_vec_count(jpp_profile.label_sets, jpp_label_set_t), 2,
               "they are left out");
    jpp_lacks(jpp_comment(), "owner", "and nothing is said");

    jpp_is_str(jpp_read("@ 0 1 10 0x401000\n", true), "", "without any");
    jpp_is_str(jpp_comment(), "no sample has an owner: those of workers do, "
                              "unless owners are off (POST owners=on to "
                              "control)", "that is said");

    jpp_is_str(jpp_read("owner one\t/a\n@ 0.1 1 10 0x401000\n", true),
               "a stack with labels that are not there", "another owner");
    jpp_is_str(jpp_read("owner one\t/a\n@ 0. 1 10 0x401000\n", true),
               "a stack with labels that are not there", "no number");
    jpp_is_str(jpp_read("owner one\n@ 0.0 1 10 0x401000\n", true),
               "a stack with labels that are not there", "no owner");
    jpp_is_str(jpp_read("@0 1 10 0x401000\n", true),
               "a stack without its numbers", "no set");
}


int
main(void)
{
    jpp_arena_init(&jpp_arena, (size_t) 1 << 30);
    (void) jpp_parser_init(&jpp_parser_cpu, &jpp_profile, &jpp_arena);

    jpp_test_labels();
    jpp_test_times();

    jpp_arena_destroy(&jpp_arena);

    return jpp_done();
}

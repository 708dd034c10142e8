
#include "jpp_profile.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"
#include "jpp_test_arena.h"


static const jpp_value_type_t  jpp_types[] = {
    { "alloc_objects", "count", true, 0, 0 },
    { "alloc_space", "bytes", true, 0, 0 },
    { "inuse_objects", "count", false, 1, 2 },
    { "inuse_space", "bytes", false, 1, 2 }
};


static jpp_profile_t  profile;


void
jpp_before_each(void)
{
    (void) jpp_profile_init(&profile, &arena, jpp_types, 4);
}


static uint32_t
jpp_string(const char *s)
{
    return jpp_profile_string(&profile, s, strlen(s));
}


static bool
jpp_stack(uint32_t set, const uint32_t *ids, uint32_t depth)
{
    uint8_t   *pos;
    uint32_t   i;

    pos = jpp_profile_begin(&profile, set, depth);
    if (pos == NULL) {
        return false;
    }

    for (i = 0; i < depth; i++) {
        pos = jpp_profile_push(pos, ids[i]);
    }

    jpp_profile_end(&profile, pos);

    return true;
}


/* A sample of the inuse pair. */

static bool
jpp_add(uint32_t set, const uint32_t *ids, uint32_t depth, int64_t objects,
    int64_t bytes)
{
    int64_t  values[JPP_MAX_TYPES] = { 0, 0, objects, bytes };

    return jpp_stack(set, ids, depth)
           && jpp_profile_commit(&profile, NULL, values);
}


/* Sample I, and whether it has the stack of DEPTH IDS. */

static bool
jpp_note_sample(uint32_t i, const uint32_t *ids, uint32_t depth)
{
    uint32_t        id, n, wrong;
    jpp_sample_t    sample;
    const uint8_t  *pos;

    jpp_profile_sample(&profile, i, &sample);
    jpp_note_of("sample", sample, labels->n, values[0], values[1], values[2],
                values[3]);
    jpp_note("it is%s zero", jpp_sample_is_zero(&sample) ? "" : " not");

    pos = sample.stack;

    for (n = 0, wrong = 0; pos < sample.stack + sample.stack_len; n++) {
        pos = jpp_stack_next(pos, &id);
        wrong += n >= depth || id != ids[n];
    }

    return wrong == 0 && n == depth && pos == sample.stack + sample.stack_len;
}


JPP_TEST(jpp_test_init)
{
    uint32_t  shown[JPP_MAX_TYPES];

    memset(&profile, 0xff, sizeof(jpp_profile_t));

    jpp_ok(jpp_profile_init(&profile, &arena, jpp_types, 4), "a profile");
    jpp_is_u64(profile.n_samples, 0, "without samples");
    jpp_is_str(jpp_profile_str(&profile, 0).data, "", "string 0 is empty");
    jpp_is_u64(jpp_vec_count(profile.mappings, jpp_mapping_t), 0,
               "without mappings");
    jpp_is_u64(jpp_profile_types(&profile, shown), 2, "types always shown");
    jpp_is_u64(jpp_vec_items(profile.label_sets, jpp_label_set_t)[0].n, 0,
               "label set 0 is empty");
}


JPP_TEST(jpp_test_strings)
{
    size_t     i;
    uint32_t   id;
    jpp_str_t  str;

    static const char  *strings[] = {
        "main", "a\tb\nc\033\177", "\303\251", "\342\202\254",
        "\360\237\230\200", "\303", "\342\202", "\342\202x", "\342(\254",
        "\377\376",

        /* the first and the last of each length, and what lies just beyond */

        "\x20\x7e", "\x1f\x7f", "\xc2\x80", "\xdf\xbf", "\xc1\xbf", "\xc2\x7f",
        "\xdf\xc0", "\xe0\xa0\x80", "\xe0\x9f\xbf", "\xed\x9f\xbf",
        "\xed\xa0\x80", "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80",
        "\xf0\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xe1\x80\x7f", "\xe1\x80\xc0", "\xe1\x80",
        "\xf1\x80\x80", "\300\200"
    };

    jpp_is_u64(jpp_profile_string(&profile, NULL, 0), 0, "no bytes");

    for (i = 0; i < jpp_nelts(strings); i++) {
        id = jpp_string(strings[i]);
        str = jpp_profile_str(&profile, id);

        jpp_ok(id != 0 && str.len == strlen(str.data), "string %zu", i);
        jpp_note("%s is %s", strings[i], str.data);
    }

    jpp_shows_notes("strings");

    id = jpp_profile_string(&profile, "a\0b", 3);
    jpp_is_str(jpp_profile_str(&profile, id).data, "a?b", "a NUL");

    jpp_is_u64(jpp_profile_string(&profile, "mainly", 4), 1,
               "a known string keeps its id");
    jpp_is_u64(jpp_string("\377\377"), jpp_string("??"),
               "so does what looks the same once it is clean");

    id = jpp_string("Main");
    jpp_is_u64(id, jpp_vec_count(profile.strings, jpp_str_t) - 1, "a new one");
}


JPP_TEST(jpp_test_comments)
{
    char         text[3000];
    const char  *said;

    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';

    jpp_profile_comment(&profile, "lg_sample %d", 19);
    jpp_profile_comment(&profile, "%s", text);
    jpp_profile_comment(&profile, "%s", "");
    jpp_ok(!profile.is_mute, "a comment, a long one, an empty one");

    said = jpp_comments_of(&profile);
    jpp_is_u64(jpp_vec_count(profile.comments, uint32_t), 2, "are two");
    jpp_ok(strncmp(said, "lg_sample 19\nxxx", 16) == 0, "the first");
    jpp_ok(strlen(said) < 14 + sizeof(text), "the second is cut");
}


/* Each line differs from the first in one respect. */

JPP_TEST(jpp_test_mappings)
{
    size_t          i;
    uint32_t        id;
    jpp_mapping_t  *m, mapping;

    static const struct {
        const char  *what;
        uint64_t     start, limit, offset, device, inode;
        const char  *path;
        bool         deleted;
    } rows[] = {
        { "itself", 0x1000, 0x3000, 0, 1, 7, "/bin/x", false },
        { "another place", 0x5000, 0x7000, 0, 1, 7, "/bin/x", false },
        { "its file deleted", 0x1000, 0x3000, 0, 1, 7, "/bin/x", true },
        { "another size", 0x1000, 0x4000, 0, 1, 7, "/bin/x", false },
        { "another offset", 0x1000, 0x3000, 0x1000, 1, 7, "/bin/x", false },
        { "another device", 0x1000, 0x3000, 0, 2, 7, "/bin/x", false },
        { "another inode", 0x1000, 0x3000, 0, 1, 8, "/bin/x", false },
        { "another path", 0x1000, 0x3000, 0, 1, 7, "/bin/y", false },
        { "no file", 0x1000, 0x3000, 0, 0, 0, "", false },
        { "no file at another place", 0x5000, 0x7000, 0, 0, 0, "", false }
    };

    for (i = 0; i < jpp_nelts(rows); i++) {
        mapping = (jpp_mapping_t) {
            .start = rows[i].start, .limit = rows[i].limit,
            .offset = rows[i].offset, .device = rows[i].device,
            .inode = rows[i].inode, .path = rows[i].path,
            .deleted = rows[i].deleted
        };

        id = jpp_profile_mapping(&profile, &mapping, "x");
        jpp_note("%s is mapping %u", rows[i].what, id);
        jpp_is_u64(jpp_profile_mapping(&profile, &mapping, "x"), id, "once");
    }

    m = jpp_profile_mapping_at(&profile, 1);
    jpp_note_of("the first place stays, and that its file was deleted", *m,
                path, start, deleted);
    jpp_note_of("shown as", jpp_profile_str(&profile, m->file), data);
    jpp_shows_notes("mappings, the first, and what differs in one respect");
}


JPP_TEST(jpp_test_keys)
{
    uint32_t  one, two;

    jpp_is_u64(jpp_profile_location(&profile, 1, 0x1000), 1, "a location");
    jpp_is_u64(jpp_profile_location(&profile, 1, 0x1001), 2, "another address");
    jpp_is_u64(jpp_profile_location(&profile, 2, 0x1000), 3, "another mapping");
    jpp_is_u64(jpp_profile_location(&profile, 0, UINT64_MAX), 4,
               "no mapping, the last address");
    jpp_is_u64(jpp_profile_location(&profile, 1, 0x1000), 1, "as before");
    jpp_is_u64(jpp_profile_location(&profile, 0, UINT64_MAX), 4, "as before");
    jpp_is_u64(jpp_profile_location_at(&profile, 3)->mapping, 2, "is kept");

    one = jpp_string("one");
    two = jpp_string("two");

    jpp_is_u64(jpp_profile_function(&profile, 1, one, 0), 1, "a function");
    jpp_is_u64(jpp_profile_function(&profile, 1, two, 0), 2, "another name");
    jpp_is_u64(jpp_profile_function(&profile, 2, one, 0), 3, "another mapping");
    jpp_is_u64(jpp_profile_function(&profile, 1, one, two), 1, "as before");
    jpp_is_u64(jpp_profile_function_at(&profile, 3)->name, one, "is kept");
}


JPP_TEST(jpp_test_labels)
{
    size_t            i, wrong;
    uint32_t          set, other;
    jpp_label_set_t  *sets;
    jpp_label_t       labels[JPP_MAX_LABELS + 1] = {
        { "worker", "0", 0, NULL },
        { "pid", NULL, 12, NULL },
        { "origin", "", 0, NULL },
        { "size", NULL, 0, "bytes" }
    };

    jpp_ok(jpp_profile_labels(&profile, 0, 0, NULL, 0, &set), "no labels");
    jpp_is_u64(set, 0, "are set 0");

    jpp_ok(jpp_profile_labels(&profile, 0, 0, labels, 4, &set), "labels");
    jpp_is_u64(set, 1, "are set 1");

    sets = jpp_vec_items(profile.label_sets, jpp_label_set_t);
    jpp_note_of("labels", sets[1], n, labels[1].num, labels[1].str);
    jpp_note("%s, in %s", jpp_profile_str(&profile, sets[1].labels[0].str).data,
             jpp_profile_str(&profile, sets[1].labels[2].unit).data);
    jpp_shows_notes("an empty string is no label, a number no string");

    jpp_profile_labels(&profile, 0, 0, labels, 4, &other);
    jpp_is_u64(other, set, "the same labels are the same set");

    labels[1].num = 13;
    jpp_profile_labels(&profile, 0, 0, labels, 4, &other);
    jpp_ok(other == 2, "others are another");

    jpp_ok(jpp_profile_labels(&profile, 0, 1, labels, 4, &other)
           && other == 3, "the same of a part");
    jpp_ok(jpp_profile_labels(&profile, 0, 2, labels, 4, &other)
           && other == 4, "of another part");
    jpp_ok(jpp_profile_labels(&profile, 0, 1ULL << 63 | 1, labels, 4, &other)
           && other == 5, "of one whose high bits differ");
    jpp_ok(jpp_profile_labels(&profile, 0, 2, labels, 4, &other)
           && other == 4, "each is kept once");

    sets = jpp_vec_items(profile.label_sets, jpp_label_set_t);
    jpp_ok(sets[5].part == (1ULL << 63 | 1) && sets[4].part == 2,
           "and knows its part");

    for (i = 0, wrong = 0; i < JPP_MAX_LABELS; i++) {
        labels[i].key = "k";
        labels[i].str = NULL;
        labels[i].num = (int64_t) i;
        wrong += !jpp_profile_labels(&profile, 0, 0, labels, i + 1, &set);
    }

    jpp_ok(jpp_profile_labels(&profile, 0, 0, labels, JPP_MAX_LABELS + 1,
                              &other)
           && other == set, "one more is not looked at");

    sets = jpp_vec_items(profile.label_sets, jpp_label_set_t);
    jpp_ok(wrong == 0 && sets[set].n == JPP_MAX_LABELS, "%d labels",
           JPP_MAX_LABELS);
}


/* As many sets as the owners of a fleet make: each is found again. */

JPP_TEST(jpp_test_label_sets)
{
    char         name[32];
    uint32_t     i, round, set;
    jpp_label_t  label = { 0 };

    label.key = "location";
    label.str = name;

    for (round = 0; round < 2; round++) {

        for (i = 0; i < 50000; i++) {
            jpp_print(name, "/%u/", (unsigned) i);

            if (!jpp_profile_labels(&profile, 0, 0, &label, 1, &set)
                || set != i + 1)
            {
                break;
            }
        }

        jpp_is_u64(i, 50000, "round %u", (unsigned) round);
    }

    jpp_ok(jpp_profile_labels(&profile, 0, 0, NULL, 0, &set) && set == 0,
           "no labels are the empty set");
    jpp_is_u64(jpp_vec_count(profile.label_sets, jpp_label_set_t), 50001,
               "and no set is there twice");
}


JPP_TEST(jpp_test_stacks)
{
    uint32_t  i, deep[JPP_MAX_FRAMES];

    static const uint32_t  ids[] = {
        1, 0x7f, 0x80, 0x3fff, 0x4000, 0x1fffff, 0x200000, 0xfffffff,
        0x10000000, UINT32_MAX
    };

    for (i = 0; i < JPP_MAX_FRAMES; i++) {
        deep[i] = UINT32_MAX - i;
    }

    jpp_ok(jpp_add(0, ids, jpp_nelts(ids), 1, 2), "ids of all sizes");
    jpp_ok(jpp_add(0, NULL, 0, 3, 4), "no frames");
    jpp_ok(jpp_add(0, deep, JPP_MAX_FRAMES, 5, 6), "a deep stack");
    jpp_is_u64(profile.n_samples, 3, "are three samples");

    jpp_ok(jpp_note_sample(0, ids, jpp_nelts(ids)), "ids come back");
    jpp_ok(jpp_note_sample(1, NULL, 0), "no frames");
    jpp_ok(jpp_note_sample(2, deep, JPP_MAX_FRAMES), "so do deep ones");
    jpp_shows_notes("stacks");
}


JPP_TEST(jpp_test_values)
{
    uint32_t     set;
    jpp_label_t  label = { "worker", "1", 0, NULL };

    static const uint32_t  ids[] = { 3, 2, 1, 1 };

    jpp_profile_labels(&profile, 0, 0, &label, 1, &set);

    jpp_add(0, ids, 3, 1, 100);
    jpp_add(set, ids, 3, 2, 200);
    jpp_add(0, ids, 2, 4, 400);
    jpp_add(0, ids, 4, 8, 800);
    jpp_add(0, ids + 1, 2, 16, 1600);
    jpp_is_u64(profile.n_samples, 5, "a sample per labels and stack");

    jpp_add(0, ids, 3, 5, 500);
    jpp_is_u64(profile.n_samples, 5, "a known stack is no new sample");

    jpp_ok(jpp_note_sample(0, ids, 3), "values are added");
    jpp_ok(jpp_note_sample(1, ids, 3), "with labels it is another");

    jpp_add(0, ids, 3, -6, -600);
    jpp_ok(jpp_note_sample(0, ids, 3), "subtracted, it is zero");

    jpp_add(0, ids, 3, -1, 1);
    jpp_ok(jpp_note_sample(0, ids, 3), "a value may be negative");
    jpp_shows_notes("values");

    jpp_is_u64(profile.columns[0]->size, 0, "a column of zeros has no memory");
}


/* Counts are columns behind the values, where somebody asked for them. */

JPP_TEST(jpp_test_counts)
{
    uint32_t  i, id;

    static const uint32_t  ids[] = { 1 };
    static const int64_t   values[8] = { 0, 0, 7, 700, 0, 0, 3, 5 };

    jpp_is_u64(profile.n_counts, 2, "the types have two counts");
    jpp_is_u64(profile.n_columns, 4, "which have no columns at first");
    jpp_ok(jpp_profile_count(&profile), "the counts are requested");
    jpp_is_u64(profile.n_columns, 8, "and have columns");

    for (i = 0; i < 4; i++) {
        (void) jpp_stack(0, ids, 1);
        jpp_ok(i < 2 ? jpp_profile_commit(&profile, NULL, values)
                     : jpp_profile_append(&profile, values), "a sample");
    }

    jpp_is_u64(profile.n_samples, 3, "what is appended is not added up");
    jpp_is_i64(jpp_profile_value(profile.columns[6], 0), 6, "counts are");
    jpp_is_i64(jpp_profile_value(profile.columns[7], 0), 10, "with doubts");
    jpp_is_i64(jpp_profile_value(profile.columns[6], 1), 3, "alone");
    jpp_is_i64(jpp_profile_value(profile.columns[3], 2), 700, "with values");

    (void) jpp_stack(0, ids, 1);
    id = jpp_profile_find(&profile);
    jpp_ok(id >= 1 && id <= 3, "the stack is found");
}


/* Values of a baseline lie beside the others; a stack is found as it is. */

JPP_TEST(jpp_test_baseline)
{
    uint32_t    i;
    jpp_vec_t  *baseline[4];

    static const uint32_t  ids[] = { 3, 2, 1 };
    static const int64_t   values[][4] = {
        { 0, 0, 2, 200 }, { 0, 0, 1, 100 }, { 0, 0, 1, 100 }
    };

    for (i = 0; i < 4; i++) {
        baseline[i] = jpp_vec_create(&arena);
    }

    jpp_add(0, ids, 3, 5, 500);

    for (i = 0; i < 3; i++) {
        (void) jpp_stack(0, ids, i == 1 ? 2 : 3);
        jpp_ok(jpp_profile_commit(&profile, baseline, values[i]),
               "to columns of the caller");
    }

    jpp_is_u64(profile.n_samples, 2, "a stack of the baseline is a sample");

    jpp_ok(jpp_note_sample(0, ids, 3), "what was there stays");
    jpp_ok(jpp_profile_value(baseline[2], 0) == 3
           && jpp_profile_value(baseline[3], 0) == 300,
           "the baseline is added up");

    jpp_ok(jpp_note_sample(1, ids, 2), "a sample of it alone is zero");
    jpp_shows_notes("samples beside a baseline");
    jpp_is_i64(jpp_profile_value(baseline[3], 1), 100, "the value beside it");
    jpp_is_i64(jpp_profile_value(baseline[3], 2), 0, "no value is zero");

    for (i = 1; i <= 3; i++) {
        (void) jpp_stack(0, ids, i);
        jpp_is_u64(jpp_profile_find(&profile), i == 1 ? 0 : i == 3 ? 1 : 2,
                   "%u frames", i);
    }
}


/* More than the first index holds; values only in every third sample. */

JPP_TEST(jpp_test_many)
{
    size_t        wrong;
    uint32_t      i, ids[3];
    jpp_sample_t  sample;

    enum { N = 100000 };

    for (i = 0, wrong = 0; i < 2 * N; i++) {
        ids[0] = i % N + 1;
        ids[1] = 7;
        ids[2] = i % N / 2 + 1;

        wrong += !jpp_add(0, ids, 3, i % 3 == 0, i);
    }

    jpp_is_u64(wrong, 0, "%d stacks, twice", N);
    jpp_is_u64(profile.n_samples, N, "are known the second time");

    for (i = 0, wrong = 0; i < N; i++) {
        jpp_profile_sample(&profile, i, &sample);
        wrong += sample.values[2] != (i % 3 == 0) + ((i + N) % 3 == 0);
        wrong += sample.values[3] != 2 * (int64_t) i + N;
        wrong += sample.values[1] != 0;
    }

    jpp_is_u64(wrong, 0, "and have their values");
}


JPP_TEST(jpp_test_types)
{
    int64_t       values[JPP_MAX_TYPES] = { 0, 5, 0, 0 };
    uint32_t      shown[JPP_MAX_TYPES];
    jpp_sample_t  sample;

    jpp_is_u64(jpp_profile_types(&profile, shown), 2, "two types");
    jpp_ok(shown[0] == 2 && shown[1] == 3, "the inuse types");

    (void) jpp_stack(0, (uint32_t[]) { 1 }, 1);
    jpp_profile_commit(&profile, NULL, values);

    jpp_profile_sample(&profile, 0, &sample);
    jpp_is_i64(sample.values[1], 5, "a value of an optional type");
    jpp_ok(jpp_profile_types(&profile, shown) > 2 && shown[0] < 2,
           "brings it in");

    jpp_profile_init(&profile, &arena, jpp_types, 2);
    jpp_is_u64(jpp_profile_types(&profile, shown), 0, "only optional types");
}


JPP_TEST(jpp_test_add_i64)
{
    jpp_is_i64(jpp_add_i64(2, -3), -1, "a sum");
    jpp_is_i64(jpp_add_i64(INT64_MAX, 0), INT64_MAX, "the largest");
    jpp_is_i64(jpp_add_i64(INT64_MAX, 1), INT64_MAX, "stays");
    jpp_is_i64(jpp_add_i64(1, INT64_MAX), INT64_MAX, "from both sides");
    jpp_is_i64(jpp_add_i64(-INT64_MAX, -2), -INT64_MAX, "so the smallest");
    jpp_is_i64(jpp_add_i64(INT64_MAX, INT64_MIN), -1, "unlike signs");
}


/* All ways to take memory; false at the first that fails. */

static bool
jpp_script(void)
{
    uint32_t       i, set, id, ids[2];
    jpp_mapping_t  mapping = {
        .start = 0x1000, .limit = 0x3000, .inode = 7, .path = "/bin/x"
    };
    jpp_label_t    labels[] = {
        { "worker", "0", 0, NULL }, { "size", NULL, 1, "bytes" }
    };

    if (!jpp_profile_init(&profile, &arena, jpp_types, 4)
        || !jpp_profile_labels(&profile, 0, 0, labels, 2, &set))
    {
        return false;
    }

    jpp_profile_comment(&profile, "%d", 1);

    if (profile.is_mute) {
        return false;
    }

    ids[0] = jpp_profile_mapping(&profile, &mapping, "x");
    ids[1] = jpp_string("name");

    if (ids[0] == 0 || ids[1] == 0
        || jpp_profile_function(&profile, ids[0], ids[1], 0) == 0)
    {
        return false;
    }

    for (i = 0; i < 3000; i++) {

        id = jpp_profile_location(&profile, ids[0], 0x1000 + i);

        if (id == 0 || !jpp_add(set, &id, 1, 1, i % 2)) {
            return false;
        }
    }

    return true;
}


JPP_TEST(jpp_test_fail_at)
{
    jpp_denies(&arena, jpp_test_anew(), 10,
               jpp_done_code(jpp_script()));
}


/*
 * A second parser: a report asks nothing of a capture but what its parser's row
 * says, so evidence that is no heap gets every format that is not a heap's.
 *
 *     capture := ( name ( ";" name )* " " number NL )*        root first
 */


#include "jpp_test_dump.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"


#define JPP_PARSER_NAMES  64


static const jpp_value_type_t  jpp_names_types[] = {
    { "held_bytes", "bytes", false, 0, 0 }
};


static jpp_vec_t    *out;


static const jpp_words_t  jpp_names_words = {
    &jpp_names_types[0].type, sizeof(jpp_value_type_t), 1, 0
};


static jpp_code_t
jpp_names_open(jpp_dump_t *dump, jpp_profile_t *profile, const char *data,
    size_t len, const char *tail, jpp_err_t *why)
{
    (void) profile;
    (void) tail;
    (void) why;

    dump->data = data;
    dump->len = len;
    dump->samples = data;
    dump->end = data + len;

    return JPP_OK;
}


static bool
jpp_names_stack(jpp_profile_t *profile, uint32_t labels, const char *p,
    const char *end)
{
    uint8_t     *pos;
    uint32_t     n, ids[JPP_PARSER_NAMES];
    const char  *name;

    for (n = 0, name = p; p <= end; p++) {

        if (p != end && *p != ';') {
            continue;
        }

        ids[n] = jpp_profile_frame(profile, 0, name, (size_t) (p - name));

        if (ids[n++] == 0) {
            return false;
        }

        name = p + 1;
    }

    pos = jpp_profile_begin(profile, labels, n);
    if (pos == NULL) {
        return false;
    }

    while (n > 0) {
        pos = jpp_profile_push(pos, ids[--n]);
    }

    jpp_profile_end(profile, pos);

    return true;
}


static jpp_code_t
jpp_names_read(jpp_profile_t *profile, const jpp_dump_t *dump,
    const jpp_read_options_t *options, jpp_err_t *why)
{
    int64_t      values[JPP_MAX_COLUMNS] = { 0 };
    const char  *p, *blank, *end;

    for (p = dump->samples; p < dump->end; p = end + 1) {

        blank = strchr(p, ' ');
        end = strchr(p, '\n');

        values[0] = strtoll(blank + 1, NULL, 10);

        if (options->is_base) {
            values[0] = -values[0];
            profile->is_difference = true;
        }

        if (!jpp_names_stack(profile, options->labels, p, blank)
            || !jpp_profile_commit(profile, NULL, values))
        {
            return jpp_err_memory(why);
        }
    }

    return JPP_OK;
}


static void
jpp_names_describe(jpp_profile_t *profile)
{
    jpp_profile_comment(profile, "counted, not sampled");
}


static const jpp_parser_t  jpp_parser_names = {
    .name = "names",
    .values = jpp_names_types,
    .types = &jpp_names_words,
    .absent = "it has no other",
    .period_type = "space",
    .period_unit = "bytes",
    .period = 1,
    .open = jpp_names_open,
    .read = jpp_names_read,
    .describe = jpp_names_describe
};


static jpp_code_t
jpp_parser_report(const char *args, const char *data)
{
    jpp_test_anew();

    return jpp_test_report_of(&out, &jpp_parser_names, args, &data, 1);
}


JPP_TEST(jpp_parser_test_formats)
{
    size_t  i;

    static const char  *args[] = {
        "format=folded", "format=folded&symbolize=0",
        "format=folded&type=held_bytes", "format=top&cols=80"
    };

    for (i = 0; i < jpp_nelts(args); i++) {
        jpp_is_u64(jpp_parser_report(args[i], "main;a 2048\nmain;b;a 10\n"),
                   JPP_OK, "%s: %s", args[i], err.text);
        jpp_shows((char *) out->data, "%s", args[i]);
    }
}


JPP_TEST(jpp_parser_test_contract)
{
    size_t       i;
    const char  *text;

    static const char  *args[] = { "", "symbolize=0" };

    for (i = 0; i < 2; i++) {
        jpp_is_u64(jpp_parser_report(args[i], "main;a 7\n"), JPP_OK,
                   "pprof, %s: %s", args[i], err.text);

        text = jpp_test_contract(out, 0);
        jpp_ok(strstr(text, "held_bytes/bytes") != NULL
               && strstr(text, "main") != NULL, "its type, its names");
    }
}


JPP_TEST(jpp_parser_test_heap_only)
{
    size_t  i;

    static const char  *args[] = { "format=text", "debug=1",
                                   "format=jemalloc" };

    for (i = 0; i < jpp_nelts(args); i++) {
        jpp_is_u64(jpp_parser_report(args[i], "a 1\n"), JPP_ERR_ARG,
                   "%s", args[i]);
        jpp_note("%s: %s", args[i], err.text);
    }

    jpp_shows_notes("formats of heaps alone");
}


/* Frames of one name are one location, also of two captures. */

JPP_TEST(jpp_parser_test_merge)
{
    jpp_capture_t         captures[2];
    jpp_report_options_t  options;

    options = jpp_test_options("format=folded");
    options.parser = &jpp_parser_names;
    options.args.types = jpp_names_words;
    options.args.values[JPP_ARG_TYPE] = 0;

    captures[0] = jpp_test_capture("main;a 5\nmain 1\n", 16);
    captures[1] = jpp_test_capture("main;a 3\nmain;c 1\n", 18);
    captures[1].is_base = true;

    jpp_is_u64(jpp_test_report_into(&out, captures, 2, &options),
               JPP_OK, "a difference: %s", err.text);
    jpp_is_str((char *) out->data, "main;a 2\nmain 1\nmain;c -1\n", "by names");
}


JPP_TEST(jpp_parser_test_memory)
{
    const char  *text = "main;a 7\n";

    jpp_denies(&arena, jpp_test_anew(), 20,
               jpp_written_code(jpp_test_report_of(&out, &jpp_parser_names, "",
                                                   &text, 1), &err));
}


static void
jpp_parser_test_shown(const char *name, const char *args, const char *prefers,
    const char *expected)
{
    jpp_capture_t         capture;
    jpp_test_file_t       file;
    jpp_report_options_t  options;

    options = jpp_test_options(args);
    options.prefers = prefers;

    file = jpp_test_file(name);

    capture = jpp_test_capture(file.data, file.len);

    jpp_test_anew();

    jpp_is_u64(jpp_test_report_into(&out, &capture, 1, &options),
               JPP_OK, "%s, %s: %s", name, args, err.text);
    jpp_ok(out->len > strlen(expected)
           && memcmp(out->data, expected, strlen(expected)) == 0,
           "prefers %s: shows %s", prefers != NULL ? prefers : "none",
           expected);
}


/* The type of a resource is shown where the profile has it. */

JPP_TEST(jpp_parser_test_prefers)
{
    jpp_parser_test_shown("accum-530.heap", "format=top", "alloc_space",
                          "alloc_space: ");
    jpp_parser_test_shown("accum-530.heap", "format=top", NULL,
                          "inuse_space: ");
    jpp_parser_test_shown("accum-530.heap", "format=top&type=inuse_objects",
                          "alloc_space", "inuse_objects: ");
    jpp_parser_test_shown("nginx-530.heap", "format=top", "alloc_space",
                          "inuse_space: ");
    jpp_parser_test_shown("nginx-530.heap", "format=top", "no such type",
                          "inuse_space: ");
}

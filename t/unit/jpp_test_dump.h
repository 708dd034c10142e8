
/*
 * For tests of the way from a dump to bytes: files of t/data, dumps written by
 * hand, and reports into memory.
 */


#ifndef _JPP_TEST_DUMP_H_INCLUDED_
#define _JPP_TEST_DUMP_H_INCLUDED_


#include "jpp_contract.h"
#include "jpp_report.h"
#include "jpp_test_arena.h"


/* a maps section that no kernel wrote, for dumps written by hand */
#define JPP_TEST_MAPS                                                         \
    "\nMAPPED_LIBRARIES:\n"                                                   \
    "00400000-00500000 r-xp 00000000 08:01 11 /usr/sbin/prog\n"               \
    "7f0000000000-7f0000100000 r-xp 00002000 08:01 12 /lib/libjemalloc.so.2\n"\
    "7f0000200000-7f0000300000 r-xp 00001000 08:01 13 /lib/libc.so.6\n"

/* a header with a sampling period */
#define JPP_TEST_HEAD(period)                                                 \
    "heap_v2/" period "\n  t*: 1: 2 [0: 0]\n  t0: 1: 2 [0: 0]\n"


/*
 * Is CODE the result of the report of N CAPTURES with a unit's own options,
 * into its out?
 */
#define jpp_reports(captures, n, code, ...)                                   \
    jpp_reports_to(&out, captures, n, code, __VA_ARGS__)

/* The same into TO. */
#define jpp_reports_to(to, captures, n, code, ...)                            \
    jpp_is_u64(jpp_test_report_into((to), (captures), (n), &options), (code), \
               __VA_ARGS__)


typedef struct {
    char         *data;
    size_t        len;
} jpp_test_file_t;


/* The file t/data/NAME, from the repository's root or below build/; with room
   behind it, and it stays. */
static inline jpp_test_file_t
jpp_test_file(const char *name)
{
    char              path[512];
    FILE             *f;
    const char       *root;
    jpp_test_file_t   file = { NULL, 0 };

    root = getenv("JPP_ROOT");

    jpp_print(path, "%s/t/data/%s", root != NULL ? root : ".", name);

    f = fopen(path, "rb");

    if (f == NULL) {
        printf("Bail out!  no %s: run from the root, or set JPP_ROOT\n", path);
        exit(1);
    }

    file.data = mmap(NULL, 16 << 20, PROT_READ|PROT_WRITE,
                     MAP_PRIVATE|MAP_ANONYMOUS|MAP_NORESERVE, -1, 0);
    file.len = fread(file.data, 1, 16 << 20, f);
    fclose(f);

    return file;
}


/* LEN bytes of dump at DATA into PROFILE; OPTIONS may be NULL. */
static inline jpp_code_t
jpp_test_add(jpp_profile_t *profile, const jpp_read_options_t *options,
    const char *data, size_t len, const char *tail)
{
    jpp_dump_t                       dump;
    jpp_code_t                       rc;
    static const jpp_read_options_t  defaults;

    rc = jpp_parser_heap.open(&dump, profile, data, len, tail, &err);

    return rc == JPP_OK
           ? jpp_parser_heap.read(profile, &dump,
                                  options != NULL ? options : &defaults, &err)
           : rc;
}


/* A profile of LEN bytes of dump at DATA, as in a test of its own. */
static inline jpp_code_t
jpp_test_read(jpp_profile_t *profile, const char *data, size_t len,
    const char *tail)
{
    jpp_test_anew();

    if (!jpp_parser_init(&jpp_parser_heap, profile, &arena)) {
        return jpp_err_memory(&err);
    }

    return jpp_test_add(profile, NULL, data, len, tail);
}


/* The report of CAPTURES in memory, as OUT. */
static inline jpp_code_t
jpp_test_report_into(jpp_vec_t **out, jpp_capture_t *captures, size_t n,
    const jpp_report_options_t *options)
{
    jpp_code_t      rc;
    jpp_sink_t      sink;
    jpp_symbols_t   symbols;

    static uint8_t  buffer[JPP_SINK_BUFFER];

    memset(&err, 0, sizeof(jpp_err_t));

    *out = jpp_vec_create(&arena);

    if (*out == NULL) {
        return jpp_err_memory(&err);
    }

    jpp_symbols_init(&symbols, JPP_SYMBOLS_CAP);
    jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_sink_to_vec, *out);

    rc = jpp_report(&arena, &symbols, captures, n, options, &sink, &err);

    jpp_symbols_destroy(&symbols);

    /* a NUL behind a text */

    if (rc == JPP_OK && jpp_vec_reserve(*out, 1) == NULL) {
        return jpp_err_memory(&err);
    }

    return rc;
}


/*
 * What the contract checker prints of the profile OUT, which keeps it; until
 * the next.
 */
static inline char *
jpp_test_contract(const jpp_vec_t *out, unsigned flags)
{
    FILE    *print;
    size_t   len;

    static char  *text;

    free(text);
    print = open_memstream(&text, &len);

    jpp_is_u64(jpp_contract_check(out->data, out->len, flags, stdout, print), 0,
               "the contract holds");
    fclose(print);

    return text;
}


/* Are the reports A and B the same? */
static inline void
jpp_test_same(const jpp_vec_t *a, const jpp_vec_t *b, const char *what)
{
    jpp_ok(a->len > 50, "%s: %zu bytes", what, a->len);
    jpp_is_u64(a->len, b->len, "the same length");
    jpp_is_mem(a->data, b->data, a->len < b->len ? a->len : b->len,
               "the same bytes");
}


/*
 * OPTIONS of a report by PARSER, with ARGS ("format=top&symbolize=0"), in lines
 * of any length.
 */
static inline jpp_code_t
jpp_test_query(jpp_report_options_t *options, const jpp_parser_t *parser,
    const char *args)
{
    jpp_report_options_init(options);

    options->parser = parser;
    options->time_nanos = 1;
    jpp_args_init(&options->args, &jpp_format_words, parser->types);
    options->args.values[JPP_ARG_COLS] = JPP_MAX_COLS;

    return jpp_args_query(&options->args, args, strlen(args), &err);
}


/* The same of a heap. */
static inline jpp_report_options_t
jpp_test_options(const char *args)
{
    jpp_report_options_t  options;

    if (jpp_test_query(&options, &jpp_parser_heap, args) != JPP_OK) {
        printf("Bail out!  %s: %s\n", args, err.text);
        exit(1);
    }

    return options;
}


/* A sample of PROFILE with the label SET: its STACK, leaf first, by blanks. */
static inline void
jpp_test_stack(jpp_profile_t *profile, uint32_t set, const char *stack)
{
    uint8_t     *pos;
    const char  *p, *end;

    pos = jpp_profile_begin(profile, set, 8);

    for (p = stack; *p != '\0'; p = *end == ' ' ? end + 1 : end) {
        end = p + strcspn(p, " ");
        pos = jpp_profile_push(pos, jpp_profile_frame(profile, 0, p,
                                                      (size_t) (end - p)));
    }

    jpp_profile_end(profile, pos);
}


static inline jpp_capture_t
jpp_test_capture(const char *data, size_t len)
{
    return (jpp_capture_t) { .data = data, .len = len };
}


/* The report of up to two TEXTS; see jpp_test_report_into(). */
static inline jpp_code_t
jpp_test_report_of(jpp_vec_t **out, const jpp_parser_t *parser,
    const char *args, const char *const *texts, size_t n)
{
    size_t                i;
    jpp_capture_t         captures[2];
    jpp_report_options_t  options;

    if (jpp_test_query(&options, parser, args) != JPP_OK) {
        return err.code;
    }

    for (i = 0; i < n; i++) {
        captures[i] = jpp_test_capture(texts[i], strlen(texts[i]));
    }

    return jpp_test_report_into(out, captures, n, &options);
}


#endif /* _JPP_TEST_DUMP_H_INCLUDED_ */

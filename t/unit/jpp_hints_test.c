
/*
 * Names by what a process knows about its own code, and the neighbours of
 * functions without one.
 */


#include "jpp_report.h"
#include "jpp_test_arena.h"
#include "jpp_test_elf.h"
#include "jpp_test_golden.h"

#include <sys/sysmacros.h>


/* where this process has the file, and where another one has */
#define JPP_TEST_HERE   0x7f1200001000ULL
#define JPP_TEST_THERE  0x7f3400001000ULL

/* as nm has them */
#define JPP_TEST_STATIC  "jt_static"
#define JPP_TEST_COLD    "jt_cold"


/* as which file this process has stripped.so */
static const char       *jpp_test_loaded = "stripped.so";

static struct stat       st;
static jpp_profile_t     profile;
static jpp_symbols_t     symbols;


/* In this file offsets are addresses. */

static uint64_t
jpp_test_here(const char *symbol)
{
    return JPP_TEST_HERE - 0x1000 + jpp_test_nm("full.so", symbol);
}


/* The line of the code of stripped.so, as the kernel would list it. */

static const char *
jpp_test_maps(uint64_t start)
{
    static char  text[PATH_MAX + 128];

    (void) snprintf(text, sizeof(text), "%" PRIx64 "-%" PRIx64 " r-xp 00001000"
                    " %02x:%02x %" PRIu64 " %s\n", start, start + 4096,
                    major(st.st_dev), minor(st.st_dev), (uint64_t) st.st_ino,
                    jpp_test_path(jpp_test_loaded));

    return text;
}


static void
jpp_hints_begin(const jpp_hint_t *hints, size_t n)
{
    jpp_vec_t  maps = { 0 }, given = { 0 };

    const jpp_vec_t  images = { 0 };

    static char  root[PATH_MAX];

    jpp_symbols_destroy(&symbols);
    jpp_test_anew();
    jpp_profile_of_space(&profile, &arena);
    jpp_symbols_init(&symbols, JPP_SYMBOLS_CAP);

    jpp_print(root, "%s/none", jpp_test_dir);
    symbols.debug_root = root;

    maps.data = (uint8_t *) (uintptr_t) jpp_test_maps(JPP_TEST_HERE);
    maps.len = strlen((char *) maps.data);
    given.data = (uint8_t *) (uintptr_t) hints;
    given.len = n * sizeof(jpp_hint_t);

    jpp_loaded_init(&symbols.loaded, &maps, &images, &given, "some table");
}


static const char *
jpp_test_string(uint32_t id)
{
    return jpp_profile_str(&profile, id).data;
}


static const jpp_function_t *
jpp_test_function(void)
{
    return jpp_profile_function_at(&profile, 1);
}


/*
 * What a location in SYMBOL is called in a new profile, whose mapping starts at
 * START and is of the file INODE.
 */

static const char *
jpp_test_name(uint64_t start, uint64_t inode, const char *symbol)
{
    jpp_mapping_t   mapping = { 0 };

    jpp_profile_of_space(&profile, &arena);

    mapping.start = start;
    mapping.limit = start + 4096;
    mapping.offset = 0x1000;
    mapping.device = (uint64_t) major(st.st_dev) << 32 | minor(st.st_dev);
    mapping.inode = inode;
    mapping.path = jpp_arena_strndup(&arena, jpp_test_path("stripped.so"),
                                     strlen(jpp_test_path("stripped.so")));

    (void) jpp_profile_location(&profile,
                                jpp_profile_mapping(&profile, &mapping,
                                                    mapping.path),
                                start - 0x1000 + 1
                                + jpp_test_nm("full.so", symbol));
    (void) jpp_symbolize(&symbols, &profile, JPP_SYMBOLIZE_NAMES, &err);

    return jpp_test_string(jpp_test_function()->name);
}


JPP_TEST(jpp_hints_test_names)
{
    jpp_hint_t  hints[] = {
        { jpp_test_here(JPP_TEST_STATIC), "directive one", "mod_a" },
        { jpp_test_here("jt_global"), "directive two", "mod_a" }
    };

    jpp_hints_begin(hints, 2);

    jpp_is_str(jpp_test_name(JPP_TEST_HERE, st.st_ino, JPP_TEST_STATIC),
               "directive one (stripped.so)", "a hint where no symbol is");
    jpp_is_str(jpp_test_string(jpp_test_function()->file), "some table",
               "is marked as one");
    jpp_ok(strstr(jpp_test_string(jpp_test_function()->system_name),
                  "/stripped.so+0x") == NULL
           && strncmp(jpp_test_string(jpp_test_function()->system_name),
                      "stripped.so+0x", 14)
              == 0,
           "and keeps the address: %s",
           jpp_test_string(jpp_test_function()->system_name));
    jpp_ok(!jpp_profile_mapping_at(&profile, 1)->has_functions,
           "the mapping has no symbols for that");

    jpp_is_str(jpp_test_name(JPP_TEST_HERE, st.st_ino, "jt_global"),
               "jt_global", "a symbol goes before");
    jpp_is_u64(jpp_test_function()->file, 0, "and is no hint");
    jpp_ok(jpp_profile_mapping_at(&profile, 1)->has_functions,
           "the mapping has symbols");

    (void) jpp_test_name(JPP_TEST_HERE, st.st_ino, JPP_TEST_COLD);
    jpp_is_str(jpp_test_string(jpp_test_function()->file),
               "between directive one (stripped.so) and jt_global",
               "a neighbour");
    jpp_is_u64(jpp_test_function()->name, jpp_test_function()->system_name,
               "is no name");

    /* the object is in the cache: the same without reading it */

    jpp_is_str(jpp_test_name(JPP_TEST_HERE, st.st_ino, JPP_TEST_STATIC),
               "directive one (stripped.so)", "again");
    jpp_is_u64(symbols.n_misses, 1, "files that were read");
}


/* A hint is for a place in a file, not for an address. */

JPP_TEST(jpp_hints_test_where)
{
    jpp_hint_t  hints[] = {
        { jpp_test_here(JPP_TEST_STATIC), "directive one", NULL },
        { jpp_test_here(JPP_TEST_COLD) + 1, "directive inside", NULL },
        { 0x1000, "directive nowhere", NULL }
    };

    jpp_hints_begin(hints, 3);

    jpp_is_u64(jpp_vec_count(symbols.loaded.hints.rows, jpp_hint_row_t), 2,
               "hints that are in a file");
    jpp_is_str(jpp_test_name(JPP_TEST_THERE, st.st_ino, JPP_TEST_STATIC),
               "directive one (stripped.so)",
               "another process has it elsewhere");

    (void) jpp_test_name(JPP_TEST_HERE, st.st_ino, JPP_TEST_COLD);
    jpp_is_u64(jpp_test_function()->name, jpp_test_function()->system_name,
               "not where no function starts");
    jpp_has(symbols.unnamed, "1 of 1 addresses", "it has none");

    jpp_hints_begin(hints, 3);

    (void) jpp_test_name(JPP_TEST_HERE, st.st_ino + 1, JPP_TEST_STATIC);
    jpp_is_u64(jpp_test_function()->name, jpp_test_function()->system_name,
               "not in another file");
}


JPP_TEST(jpp_hints_test_words)
{
    char      longest[JPP_HINT_NAME + 2];
    size_t    i;
    uint64_t  one, two, three;

    const char  *name, *at;

    one = jpp_test_here(JPP_TEST_STATIC);
    two = jpp_test_here(JPP_TEST_COLD);
    three = jpp_test_here("jt_global");

    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';

    {
        const struct {
            jpp_hint_t   hints[4];
            size_t       n;
            const char  *what;
        } rows[] = {
            { { { one, "a", "mod_a" }, { one, "b", "mod_a" } }, 2,
              "the first of two names" },
            { { { one, "a", "mod_a" }, { one, "a", "mod_b" } }, 2,
              "the same name twice" },
            { { { one, "a", "mod_a" }, { three, "b", "mod_a" },
                { two, "a", "mod_b" } }, 3, "another function has this name" },
            { { { one, "a", "mod_a" }, { one, "b", "mod_a" },
                { two, "a", "mod_b" } }, 3, "both" },
            { { { one, "a", NULL }, { two, "a", "mod_b" } }, 2,
              "a namesake, and no owner" },
            { { { one - 4, "x", "mod_a" }, { one, "a", NULL },
                { two, "y", "mod_a" } }, 3, "between functions of one owner" },
            { { { one - 4, "x", "mod_a" }, { one, "a", NULL },
                { two, "y", "mod_b" } }, 3, "between functions of two owners" },
            { { { one - 4, "x", "mod_a" }, { one - 4, "x", "mod_b" },
                { one, "a", NULL }, { two, "y", "mod_a" } }, 4,
              "a function of several tables has no name" },
            { { { one, "a", NULL }, { two, "y", "mod_a" },
                { three, "z", "mod_a" } }, 3,
              "before the functions of an owner" },
            { { { one, longest, NULL }, { one - 4, "x", "mod_long" },
                { two, "y", "mod_long" } }, 3, "a long name is cut" },
            { { { one, "a\n\033b", NULL } }, 1, "control bytes" }
        };

        for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
            jpp_hints_begin(rows[i].hints, rows[i].n);

            name = jpp_test_name(JPP_TEST_HERE, st.st_ino, JPP_TEST_STATIC);

            /* where the file has it depends on the compiler */

            at = strstr(name, "+0x");
            jpp_ok(at == NULL || strtoull(at + 3, NULL, 16)
                   == jpp_test_nm("full.so", JPP_TEST_STATIC), "%s", name);
            jpp_note("%s: %.*s", rows[i].what,
                     at != NULL ? (int) (at - name) : 1000, name);
        }

        jpp_shows_notes("what hints make of a name");
    }

    /* in nginx itself only what belongs to nobody that is known has a file */

    {
        const jpp_hint_t  hints[] = {
            { one, "phase access handler 1", NULL }, { two, "b", "mod_b" },
            { one, "a", "mod_a" }
        };

        jpp_test_loaded = "nginx";

        jpp_hints_begin(hints, 2);
        jpp_is_str(jpp_test_name(JPP_TEST_HERE, st.st_ino, JPP_TEST_STATIC),
                   "phase access handler 1 (nginx)", "of nobody, in nginx");

        jpp_hints_begin(&hints[2], 1);
        jpp_is_str(jpp_test_name(JPP_TEST_HERE, st.st_ino, JPP_TEST_STATIC),
                   "a", "of a module, in nginx");

        jpp_test_loaded = "stripped.so";
    }
}


/* pprof's symbol protocol has them, too. */

JPP_TEST(jpp_hints_test_lookup)
{
    char         text[32];
    jpp_sink_t   sink;
    const char  *maps;

    jpp_hint_t  hint = { jpp_test_here(JPP_TEST_STATIC), "directive one",
                         NULL };

    jpp_hints_begin(&hint, 1);

    jpp_test_sink(&sink, &arena);
    jpp_print(text, "0x%" PRIx64, jpp_test_here(JPP_TEST_STATIC) + 2);

    maps = jpp_test_maps(JPP_TEST_HERE);

    jpp_is_u64(jpp_lookup(&arena, &symbols, maps, strlen(maps), text,
                          strlen(text), &sink, &err),
               JPP_OK, "a lookup");
    jpp_has(jpp_test_text(&sink), " directive one (stripped.so)\n",
            "has the name");
}


static void
jpp_hints_test_near(const jpp_elf_function_t *functions, uint32_t n,
    uint32_t which)
{
    uint32_t             id;
    jpp_elf_t            elf = { 0 };
    jpp_names_t          names;
    jpp_mapping_t        mapping = { 0 };
    jpp_elf_segment_t    segment;

    jpp_hints_begin(NULL, 0);

    mapping.path = "/x/y";
    mapping.start = 0x1000;
    mapping.limit = 0x1000 + 300 * 16;
    mapping.offset = 0x1000;

    segment.vaddr = 0x1000;
    segment.offset = 0x1000;
    segment.size = 300 * 16;

    elf.functions = functions;
    elf.n_functions = n;
    elf.segments = &segment;
    elf.n_segments = 1;
    elf.names = "\0a\0b";
    elf.names_len = 5;
    elf.hinted = 5;

    (void) jpp_names_init(&names, &profile);
    (void) jpp_names_enter(&names,
                           jpp_profile_mapping(&profile, &mapping, "/x/y"),
                           &elf);

    id = jpp_names_function(&names, 0x1000 + which * 16 + 3);

    jpp_note("function %u of %u: \"%s\"", which, n,
             jpp_test_string(jpp_profile_function_at(&profile, id)->file));

    jpp_vec_release(names.functions);
}


/* Functions of 16 bytes at 0x1000, 0x1010 ...; the names are "", "a", "b". */

JPP_TEST(jpp_hints_test_neighbours)
{
    size_t               i;
    jpp_elf_function_t   functions[300];

    memset(functions, 0, sizeof(functions));

    for (i = 0; i < 300; i++) {
        functions[i].start = 0x1000 + i * 16;
        functions[i].entry = functions[i].start;
        functions[i].size = 16;
    }

    jpp_hints_test_near(functions, 3, 1);

    functions[0].name = 1;
    jpp_hints_test_near(functions, 3, 1);
    jpp_hints_test_near(functions, 300, 256);
    jpp_hints_test_near(functions, 300, 257);

    functions[299].name = 3;
    jpp_hints_test_near(functions, 300, 256);

    functions[0].name = 0;
    jpp_hints_test_near(functions, 300, 256);
    jpp_hints_test_near(functions, 300, 43);
    jpp_hints_test_near(functions, 300, 42);
    jpp_shows_notes("neighbours");
}


/*
 * Three files, of two devices: what lies between functions of one owner that
 * are in different files is nobody's.
 */

JPP_TEST(jpp_hints_test_files)
{
    size_t                 i, n;
    jpp_vec_t             *maps;
    jpp_hints_t            hints;
    const jpp_hint_row_t  *row;

    static const char  text[] =
        "10000-11000 r-xp 00000000 08:02 5 /c\n"
        "20000-21000 r-xp 00000000 08:01 6 /b\n"
        "30000-31000 r-xp 00001000 08:01 5 /a\n"
        "40000-41000 r-xp 00000000 00:00 0 \n";

    static const jpp_hint_t  given[] = {
        { 0x10010, "in c", "mod_a" },
        { 0x20010, "in b", "mod_a" },
        { 0x20020, "last of b", NULL },
        { 0x30020, "last of a", NULL },
        { 0x30010, "in a", "mod_a" },
        { 0x40010, "in no file", "mod_a" },
        { 0x50010, "nowhere", "mod_a" }
    };

    jpp_hints_begin(NULL, 0);

    maps = jpp_vec_create(&arena);
    (void) jpp_maps_read(&profile, text, strlen(text), NULL, maps, NULL);

    jpp_ok(jpp_hints_init(&hints, &arena, &profile, maps, given, 7), "hints");

    row = jpp_vec_items(hints.rows, jpp_hint_row_t);
    n = jpp_vec_count(hints.rows, jpp_hint_row_t);

    for (i = 0; i < n; i++) {
        jpp_note_of("hint", row[i], device, inode, offset, len);
        jpp_note("is %s", jpp_vec_items(hints.names, char) + row[i].name);
    }

    jpp_shows_notes("hints that are in files");
}


/* What a file takes of its hints: names of functions that have none. */

JPP_TEST(jpp_hints_test_apply)
{
    size_t               i;
    jpp_elf_t            elf = { 0 };
    jpp_vec_t           *maps;
    jpp_hints_t          hints;

    static const char  text[] = "10000-12000 r-xp 00001000 08:01 5 /a\n";

    static const jpp_hint_t  given[] = {
        { 0x10000, "one", "m" },
        { 0x10011, "inside of two", "m" },
        { 0x10020, "named", "m" },
        { 0x10030, "between", "m" },
        { 0x10040, "four", "n" },
        { 0x11000, "no segment", "m" }
    };

    /* the last is split by a symbol */

    jpp_elf_function_t  functions[] = {
        { .start = 0x1000, .entry = 0x1000, .size = 16 },
        { .start = 0x1010, .entry = 0x1010, .size = 16 },
        { .start = 0x1020, .entry = 0x1020, .size = 16, .name = 1 },
        { .start = 0x1040, .entry = 0x1040, .size = 8 },
        { .start = 0x1048, .entry = 0x1040, .size = 8 }
    };

    static const struct {
        size_t       n_functions;
        size_t       names_len;
        bool         is_done;
        const char  *what;
    } rows[] = {
        { 0, 3, true, "no function" },
        { 5, (size_t) UINT32_MAX - 47, true, "names of 4 GiB" },
        { 5, (size_t) UINT32_MAX - 48, false, "no memory for one byte less" }
    };

    jpp_elf_segment_t  segment = { 0x1000, 0x1000, 0x1000 };

    jpp_hints_begin(NULL, 0);

    maps = jpp_vec_create(&arena);
    (void) jpp_maps_read(&profile, text, strlen(text), NULL, maps, NULL);
    (void) jpp_hints_init(&hints, &arena, &profile, maps, given, 6);

    elf.functions = functions;
    elf.segments = &segment;
    elf.n_segments = 1;
    elf.names = "\0f";

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        elf.n_functions = (uint32_t) rows[i].n_functions;
        elf.names_len = rows[i].names_len;

        jpp_is_u64(jpp_hints_apply(&hints, (uint64_t) 8 << 32 | 1, 5, &elf,
                                   &arena),
                   rows[i].is_done, "%s", rows[i].what);
        jpp_is_u64(elf.names_len, rows[i].names_len, "leaves them");
    }

    elf.n_functions = 5;
    elf.names_len = 3;

    jpp_ok(jpp_hints_apply(&hints, (uint64_t) 8 << 32 | 1, 5, &elf, &arena),
           "two names");
    jpp_ok(elf.names_len == 12 && memcmp(elf.names, "\0f\0one\0four", 12) == 0,
           "are all that it takes");
    jpp_ok(functions[0].name == 3 && functions[1].name == 0
           && functions[2].name == 1, "a name for a function that had none");
    jpp_ok(functions[3].name == 7 && functions[4].name == 7,
           "and for each of its pieces");
}


JPP_TEST(jpp_hints_test_memory)
{
    jpp_elf_t      elf = { 0 };
    jpp_vec_t     *maps;
    jpp_hints_t    hints;
    jpp_arena_t    scratch = { 0 };

    jpp_hint_t  hint = { jpp_test_here(JPP_TEST_STATIC), "directive one",
                         NULL };

    jpp_elf_function_t  function = { 0x1000, 0x1000, 16, 0 };
    jpp_elf_segment_t   segment = { 0x1000, 0x1000, 16 };

    jpp_hints_begin(NULL, 0);

    maps = jpp_vec_create(&arena);
    (void) jpp_maps_read(&profile, jpp_test_maps(JPP_TEST_HERE),
                         strlen(jpp_test_maps(JPP_TEST_HERE)), NULL, maps,
                         NULL);

    jpp_denies(&scratch, jpp_arena_fresh(&scratch, JPP_TEST_CAP), 2,
               jpp_done_code(jpp_hints_init(&hints, &scratch, &profile, maps,
                                            &hint, 1)));

    /* what is given to a file takes memory, too */

    elf.functions = &function;
    elf.n_functions = 1;
    elf.segments = &segment;
    elf.n_segments = 1;
    elf.names = "";
    elf.names_len = 1;
    elf.hinted = 1;

    scratch.fail_at = scratch.n_calls + 1;

    jpp_ok(!jpp_hints_apply(&hints, jpp_profile_mapping_at(&profile, 1)
                                    ->device, st.st_ino, &elf, &scratch),
           "no memory for the names of a file");
    jpp_ok(jpp_hints_apply(&hints, 1, 1, &elf, &scratch),
           "a file without hints needs no memory");

    jpp_arena_destroy(&scratch);
}


int
main(void)
{
    if (!jpp_ok(jpp_test_make(), "files to read")) {
        return jpp_done();
    }

    (void) stat(jpp_test_path("stripped.so"), &st);

    jpp_tests_all();

    return jpp_done();
}

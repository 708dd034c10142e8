
#include "jpp_proc.h"
#include "jpp_symbolize.h"
#include "jpp_test_arena.h"
#include "jpp_test_elf.h"
#include "jpp_test_golden.h"

#include <sys/sysmacros.h>


#define JPP_TEST_START  0x7f1200000000ULL


/* What is changed of the mapping of a file before it is symbolized. */
typedef enum {
    SAME           = 0,
    OTHER_INODE    = 1,
    OTHER_DEVICE   = 2,
    OTHER_SIZE     = 4,
    DELETED        = 8,
    HAS_ID         = 16,           /* its build id is known */
    OTHER_ID       = 32            /* known, and not the file's */
} jpp_test_change_t;


static char             root[PATH_MAX];
static jpp_profile_t    profile;
static jpp_symbols_t    symbols;


void
jpp_before_each(void)
{
    jpp_profile_of_space(&profile, &arena);
    jpp_symbols_destroy(&symbols);
    jpp_symbols_init(&symbols, JPP_SYMBOLS_CAP);

    symbols.debug_root = root;
}


/* The mapping that the kernel would make of the code of the file NAME. */

static uint32_t
jpp_test_mapping(const char *name, uint32_t change)
{
    int            fd;
    char           text[JPP_BUILD_ID_TEXT];
    uint32_t       id;
    jpp_elf_t      elf;
    struct stat    st;
    jpp_arena_t    scratch;
    jpp_mapping_t  mapping = { 0 };

    jpp_arena_init(&scratch, JPP_TEST_CAP);

    fd = jpp_test_open(name);
    (void) fstat(fd, &st);
    (void) jpp_elf_read(&elf, &scratch, fd, -1, JPP_ELF_IDENTITY, NULL);
    (void) close(fd);

    mapping.start = JPP_TEST_START
                    + (jpp_vec_count(profile.mappings, jpp_mapping_t) << 24);
    mapping.offset = elf.segments[0].offset & ~4095ULL;
    mapping.limit = mapping.start
                    + ((elf.segments[0].offset + elf.segments[0].size + 4095)
                       & ~4095ULL)
                    - mapping.offset;
    mapping.inode = st.st_ino + ((change & OTHER_INODE) != 0);
    mapping.device = ((uint64_t) major(st.st_dev) << 32 | minor(st.st_dev))
                     + ((change & OTHER_DEVICE) != 0);
    mapping.path = jpp_arena_strndup(&arena, jpp_test_path(name),
                                     strlen(jpp_test_path(name)));
    mapping.deleted = (change & DELETED) != 0;

    if ((change & OTHER_SIZE) != 0) {
        mapping.limit += 4096;
    }

    if ((change & (HAS_ID|OTHER_ID)) != 0) {
        jpp_build_id_text(&elf.build_id, text);
        text[39] ^= (change & OTHER_ID) != 0;
        mapping.build_id = jpp_profile_string(&profile, text, 40);
    }

    id = jpp_profile_mapping(&profile, &mapping, jpp_test_path(name));

    jpp_arena_destroy(&scratch);

    return id;
}


/* A location at SYMBOL (of the file NAME) + OFFSET in MAPPING. */

static uint32_t
jpp_test_location(const char *name, uint32_t mapping, const char *symbol,
    uint64_t offset)
{
    const jpp_mapping_t  *m;

    m = jpp_profile_mapping_at(&profile, mapping);

    /* in these files offsets are addresses */

    return jpp_profile_location(&profile, mapping,
                                jpp_test_nm(name, symbol) + offset - m->offset
                                + m->start);
}


static const jpp_function_t *
jpp_test_function(uint32_t location)
{
    return jpp_profile_function_at(&profile,
                                   jpp_profile_location_at(&profile, location)
                                   ->function);
}


static const char *
jpp_test_name_of(uint32_t location)
{
    return jpp_profile_str(&profile, jpp_test_function(location)->name).data;
}


static const char *
jpp_test_system_name_of(uint32_t location)
{
    return jpp_profile_str(&profile,
                           jpp_test_function(location)->system_name).data;
}


JPP_TEST(jpp_symbolize_test_kinds)
{
    char             expected[128];
    uint32_t         i, so, bare, i386, vdso, anon, at[12];
    jpp_mapping_t    mapping = { 0 };

    so = jpp_test_mapping("full.so", SAME);
    bare = jpp_test_mapping("bare.so", SAME);
    i386 = jpp_test_mapping("i386.so", SAME);

    mapping.start = 0x7ffc00000000;
    mapping.limit = 0x7ffc00002000;
    mapping.path = "[vdso]";
    vdso = jpp_profile_mapping(&profile, &mapping, "[vdso]");

    mapping.start = 0x7f0000000000;
    mapping.limit = 0x7f0000002000;
    mapping.path = "";
    anon = jpp_profile_mapping(&profile, &mapping, "");

    /* out of order, as a dump has them */

    at[0] = jpp_profile_location(&profile, anon, 0x7f0000000123);
    at[1] = jpp_test_location("full.so", so, "jt_static", 0);
    at[2] = jpp_test_location("full.so", bare, "jt_static", 3);
    at[3] = jpp_profile_location(&profile, 0, 0x123456789abc);
    at[4] = jpp_test_location("full.so", so, "jt_static", 1);
    at[5] = jpp_profile_location(&profile, vdso, 0x7ffc00000a00);
    at[6] = jpp_test_location("full.so", bare, "jt_sizeless", 5);
    at[7] = jpp_test_location("full.so", so, "__jt_alias", 0);
    at[8] = jpp_test_location("full.so", bare, "jt_static", 1);
    at[9] = jpp_test_location("i386.so", i386, "jt_i386", 2);

    /* the last byte of the mapping is no code */

    at[10] = jpp_profile_location(&profile, so,
                                  jpp_profile_mapping_at(&profile, so)->limit
                                  - 1);

    jpp_is_u64(jpp_symbolize(&symbols, &profile, JPP_SYMBOLIZE_NAMES, &err),
               JPP_OK, "symbolize");

    for (i = 0; i < 10; i++) {
        if (strncmp(jpp_test_name_of(at[i]), "bare.so+0x", 10) != 0) {
            jpp_note("%u: %s, %s", i, jpp_test_name_of(at[i]),
                     jpp_test_system_name_of(at[i]));
        }
    }

    jpp_shows_notes("anonymous memory, a static, no mapping, a static, the "
                    "vdso, an alias, 32 bits");

    jpp_print(expected, "bare.so+0x%" PRIx64,
              jpp_test_nm("full.so", "jt_static"));
    jpp_is_str(jpp_test_name_of(at[2]), expected, "the start by .eh_frame");
    jpp_ok(jpp_test_function(at[2]) == jpp_test_function(at[8])
           && jpp_test_function(at[1]) == jpp_test_function(at[4]),
           "one function is one frame, with a name, too");

    jpp_print(expected, "bare.so+0x%" PRIx64,
              jpp_test_nm("full.so", "jt_sizeless") + 5);
    jpp_is_str(jpp_test_name_of(at[6]), expected, "no function is known");
    jpp_ok(strncmp(jpp_test_name_of(at[10]), "full.so+0x1", 11) == 0,
           "no segment is there: %s", jpp_test_name_of(at[10]));

    jpp_ok(jpp_profile_mapping_at(&profile, so)->has_functions
           && !jpp_profile_mapping_at(&profile, bare)->has_functions
           && !jpp_profile_mapping_at(&profile, vdso)->has_functions,
           "full.so has functions, bare.so and the vdso have none");
    jpp_is_u64(jpp_profile_str(&profile, jpp_profile_mapping_at(&profile, so)
                               ->build_id).len, 40, "build id");
    jpp_is_u64(profile.comments->len, 0, "comments");
}


JPP_TEST(jpp_symbolize_test_debug)
{
    uint32_t  so, at;

    jpp_print(root, "%s/debug", jpp_test_dir);

    so = jpp_test_mapping("stripped.so", SAME);
    at = jpp_test_location("full.so", so, "jt_static", 1);

    (void) jpp_symbolize(&symbols, &profile, JPP_SYMBOLIZE_NAMES, &err);
    jpp_is_str(jpp_test_name_of(at), "jt_static", "by the debug file");

    jpp_print(root, "%s/none", jpp_test_dir);
}


/* Without any file, and with no more than build ids. */

JPP_TEST(jpp_symbolize_test_addresses)
{
    char      expected[128];
    uint32_t  so, at[2];

    so = jpp_test_mapping("full.so", SAME);
    at[0] = jpp_test_location("full.so", so, "jt_static", 1);
    at[1] = jpp_profile_location(&profile, 0, 0x10);

    jpp_is_u64(jpp_symbolize(&symbols, &profile, JPP_SYMBOLIZE_ADDRESSES, &err),
               JPP_OK, "addresses");

    jpp_print(expected, "full.so+0x%" PRIx64,
              jpp_test_nm("full.so", "jt_static") + 1);
    jpp_is_str(jpp_test_name_of(at[0]), expected, "an offset");
    jpp_is_str(jpp_test_name_of(at[1]), "0x10", "an address");
    jpp_is_u64(jpp_profile_mapping_at(&profile, so)->build_id, 0, "no build"
               " id");

    jpp_is_u64(jpp_symbolize(&symbols, &profile, JPP_SYMBOLIZE_BUILD_IDS, &err),
               JPP_OK, "build ids");
    jpp_is_u64(jpp_profile_str(&profile, jpp_profile_mapping_at(&profile, so)
                               ->build_id).len, 40, "build id");
    jpp_ok(!jpp_profile_mapping_at(&profile, so)->has_functions, "and no"
           " functions");
}


JPP_TEST(jpp_symbolize_test_proof)
{
    size_t       i;
    uint32_t     location;
    const char  *name;

    static const struct {
        uint32_t     change;
        bool         has_name;
        const char  *comment;      /* a part of it; NULL: no comment */
    } rows[] = {
        { SAME,                         true,  NULL },
        { OTHER_SIZE,                   true,  NULL },
        { DELETED,                      true,  NULL },
        { OTHER_INODE,                  true,  "names may be wrong for /" },
        { OTHER_DEVICE,                 true,  "names may be wrong for /" },
        { OTHER_INODE|OTHER_SIZE,       false, "is not the one that was" },
        { OTHER_INODE|DELETED,          false, "was replaced after it was" },
        { HAS_ID,                       true,  NULL },
        { HAS_ID|OTHER_INODE,           true,  NULL },
        { HAS_ID|OTHER_SIZE|DELETED,    true,  NULL },
        { OTHER_ID,                     false, "has another build id (" },
        { OTHER_ID|DELETED,             false, "has another build id (" },
        { OTHER_ID|OTHER_INODE,         false, "has another build id (" }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_test_begin();

        location = jpp_test_location("full.so",
                                     jpp_test_mapping("full.so",
                                                      rows[i].change),
                                     "jt_static", 1);

        (void) jpp_symbolize(&symbols, &profile, JPP_SYMBOLIZE_NAMES, &err);

        name = jpp_test_name_of(location);

        jpp_ok((strcmp(name, "jt_static") == 0) == rows[i].has_name
               && jpp_profile_mapping_at(&profile, 1)->has_functions
                  == rows[i].has_name
               && (rows[i].comment != NULL
                   ? strstr(jpp_comments_of(&profile), rows[i].comment) != NULL
                   : profile.comments->len == 0),
               "row %zu: %s; %s", i, name, jpp_comments_of(&profile));
    }
}


JPP_TEST(jpp_symbolize_test_refused)
{
    int             rc;
    size_t          i;
    uint32_t        location, mapping;
    const char     *comment, *bad;
    jpp_mapping_t  *m;

    static const struct {
        const char  *command;      /* leaves "bad.so" */
        const char  *comment;
    } rows[] = {
        { "true", "bad.so: the file cannot be opened: No such file" },
        { "mkfifo bad.so", "it is not a regular file" },
        { "mkdir bad.so", "it is not a regular file" },
        { "ln -s full.so bad.so", "cannot be opened: Too many levels" },
        { "cp full.so bad.so && chmod 666 bad.so", "everybody may write" },
        { "cp full.so bad.so && chown 54321 bad.so", "belongs to user 54321" },
        { "cp full.so bad.so && truncate -s 1T bad.so", "larger than 4096" },
        { "cp full.so bad.so && truncate -s 4200 bad.so", "it is truncated" },
        { "cp full.so bad.so && truncate -s 9 bad.so", "not an ELF file" },
        { "cp full.so bad.so && truncate -s 0 bad.so", "not an ELF file" },
        { "cp a.c bad.so", "not an ELF file" },
        { "cp cxx.so bad.so", "is not the one that was loaded" },
        { "cp full.so bad.so && printf '\\267' |"
          " dd of=bad.so bs=1 seek=18 conv=notrunc status=none",
          "another machine" }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_test_begin();

        /* laid out as full.so, and no other file has this size */

        mapping = jpp_test_mapping("full.so", OTHER_INODE);
        bad = jpp_test_path("bad.so");
        m = jpp_profile_mapping_at(&profile, mapping);
        m->path = jpp_arena_strndup(&arena, bad, strlen(bad));
        m->file = jpp_profile_string(&profile, bad, strlen(bad));

        if (strstr(rows[i].comment, "is not the one") != NULL) {
            m->limit += 1 << 20;
        }

        location = jpp_test_location("full.so", mapping, "jt_static", 1);

        if (!jpp_test_sh("rm -rf bad.so && %s", rows[i].command)) {
            jpp_diag("not possible here: %s", rows[i].command);
            continue;
        }

        rc = (int) jpp_symbolize(&symbols, &profile, JPP_SYMBOLIZE_NAMES, &err);
        comment = jpp_comments_of(&profile);

        jpp_ok(rc == JPP_OK
               && strncmp(comment, "no names for /tmp/", 18) == 0
               && strstr(comment, rows[i].comment) != NULL
               && strncmp(jpp_test_name_of(location), "bad.so+0x1", 10) == 0
               && m->build_id == 0, "%s: %s", rows[i].command, comment);
    }

    (void) jpp_test_sh("rm -rf bad.so");
}


/* The mapping that this function is in. */

static uint32_t
jpp_test_self(void)
{
    jpp_vec_t  *text, *maps;

    text = jpp_vec_create(&arena);
    maps = jpp_vec_create(&arena);

    (void) jpp_proc_maps(text, &err);
    (void) jpp_maps_read(&profile, (char *) text->data, text->len, NULL, maps,
                         &err);

    return jpp_maps_find(maps, (uintptr_t) jpp_test_self)->mapping;
}


/* This very program, also when its file is gone. */

JPP_TEST(jpp_symbolize_test_self)
{
    int       status;
    pid_t     pid;
    char      path[PATH_MAX];
    uint32_t  location;

    location = jpp_profile_location(&profile, jpp_test_self(),
                                    (uint64_t) (uintptr_t) jpp_test_self + 1);

    (void) jpp_symbolize(&symbols, &profile, JPP_SYMBOLIZE_NAMES, &err);
    jpp_is_str(jpp_test_name_of(location), "jpp_test_self", "a function of"
               " this program");
    jpp_is_u64(profile.comments->len, 0, "comments");

    (void) jpp_test_sh("cp /proc/%d/exe ./gone", (int) getpid());
    jpp_print(path, "%s/gone", jpp_test_dir);

    pid = fork();

    if (pid == 0) {
        (void) execl(path, path, path, (char *) NULL);
        _exit(1);
    }

    (void) waitpid(pid, &status, 0);

    jpp_is_u64((uint64_t) status, 0, "a program whose file was replaced");
}


static int
jpp_symbolize_test_deleted(const char *path)
{
    uint32_t  mapping, location;

    /* another file takes the place, as in an upgrade */

    if (unlink(path) != 0 || symlink("/usr/bin/env", path) != 0) {
        return 2;
    }

    jpp_test_begin();

    mapping = jpp_test_self();
    location = jpp_profile_location(&profile, mapping,
                                    (uint64_t) (uintptr_t) jpp_test_self + 1);

    (void) jpp_symbolize(&symbols, &profile, JPP_SYMBOLIZE_NAMES, &err);

    if (!jpp_profile_mapping_at(&profile, mapping)->deleted
        || strcmp(jpp_test_name_of(location), "jpp_test_self") != 0
        || profile.comments->len != 0)
    {
        return 3;
    }

    return 0;
}


JPP_TEST(jpp_symbolize_test_cache)
{
    uint32_t  i, fds;

    static const char  *const names[] = { "full.so", "cxx.so", "stripped.so",
                                          "bare.so", "i386.so", NULL };

    for (i = 0; names[i] != NULL; i++) {
        (void) jpp_profile_location(&profile, jpp_test_mapping(names[i], SAME),
                                    JPP_TEST_START + (i << 24));
    }

    fds = jpp_test_fds();

    (void) jpp_symbolize(&symbols, &profile, JPP_SYMBOLIZE_NAMES, &err);

    /* full.so and stripped.so have one build id */

    jpp_note_of("first", symbols, n_misses, bytes);

    (void) jpp_symbolize(&symbols, &profile, JPP_SYMBOLIZE_NAMES, &err);
    jpp_note_of("second time", symbols, n_misses, bytes);

    symbols.cap = 2 * 4096;
    (void) jpp_symbolize(&symbols, &profile, JPP_SYMBOLIZE_NAMES, &err);
    jpp_note_of("a smaller cap", symbols, bytes);
    jpp_ok(symbols.objects != NULL && symbols.objects->next != NULL
           && symbols.objects->next->next == NULL, "two objects");

    symbols.cap = 4095;
    (void) jpp_symbolize(&symbols, &profile, JPP_SYMBOLIZE_NAMES, &err);
    jpp_symbols_destroy(&symbols);
    (void) jpp_symbolize(&symbols, &profile, JPP_SYMBOLIZE_NAMES, &err);
    jpp_note_of("none fits", symbols, bytes);
    jpp_shows_notes("the cache of objects");
    jpp_ok(symbols.objects == NULL, "no object is kept");
    jpp_ok(jpp_profile_mapping_at(&profile, 1)->build_id != 0, "and all is as"
           " it was");

    jpp_is_u64(jpp_test_fds(), fds, "descriptors open");
}


/* A profile with one location in the file NAME opens N files. */

static void
jpp_symbolize_test_opens(const char *name, uint32_t change, uint64_t n,
    const char *what)
{
    uint32_t     location;
    uint64_t     before;
    bool         is_named;

    jpp_profile_of_space(&profile, &arena);

    location = jpp_test_location(name, jpp_test_mapping(name, change),
                                 "jt_static", 1);
    before = symbols.n_opened;

    (void) jpp_symbolize(&symbols, &profile, JPP_SYMBOLIZE_NAMES, &err);

    jpp_is_u64(symbols.n_opened - before, n, "%s", what);

    is_named = (change & OTHER_ID) == 0 && strcmp(what, "another mode") != 0;

    jpp_ok((strcmp(jpp_test_name_of(location), "jt_static") == 0) == is_named,
           "and the names are right");
}


/* Whose build id is known and in the cache is not opened. */

JPP_TEST(jpp_symbolize_test_known)
{
    (void) jpp_test_sh("cp full.so old.so");

    jpp_symbolize_test_opens("old.so", SAME, 1, "a file is opened");
    jpp_symbolize_test_opens("old.so", SAME, 1, "to learn its build id");
    jpp_symbolize_test_opens("old.so", SAME | HAS_ID, 0, "which is enough");
    jpp_symbolize_test_opens("old.so", OTHER_INODE | HAS_ID, 0,
                             "whatever its inode is");
    jpp_symbolize_test_opens("old.so", OTHER_INODE, 1, "another inode");
    jpp_symbolize_test_opens("old.so", OTHER_DEVICE, 1, "another device");
    jpp_symbolize_test_opens("old.so", OTHER_ID, 1, "another build id");

    symbols.cap = 0;
    jpp_symbolize_test_opens("old.so", SAME | HAS_ID, 0, "for the last time");
    symbols.cap = JPP_SYMBOLS_CAP;
    jpp_symbolize_test_opens("old.so", SAME | HAS_ID, 1, "it is read again");
    jpp_symbolize_test_opens("old.so", SAME | HAS_ID, 0, "once");

    (void) jpp_test_sh("chmod o+w old.so");
    jpp_symbolize_test_opens("old.so", SAME, 1, "another mode");
    jpp_symbolize_test_opens("old.so", SAME | HAS_ID, 0, "of what was read");
}


static bool
jpp_symbolize_test_is_selected(const char *name)
{
    return strcmp(name, "jt_alias") == 0 || strcmp(name, "jt_outside") == 0
           || strcmp(name, "jt_inside") == 0;
}


JPP_TEST(jpp_symbolize_test_ranges)
{
    uint32_t        mapping;
    uint64_t        outside, alias, base;
    jpp_vec_t      *ranges;
    jpp_range_t    *range;

    ranges = jpp_vec_create(&arena);
    mapping = jpp_test_mapping("full.so", SAME);

    jpp_is_u64(jpp_symbolize_ranges(&symbols, &profile, mapping,
                                    jpp_symbolize_test_is_selected, ranges,
                                    &err), JPP_OK, "ranges");

    range = jpp_vec_items(ranges, jpp_range_t);

    outside = jpp_test_nm("full.so", "jt_outside");
    alias = jpp_test_nm("full.so", "__jt_alias");
    base = JPP_TEST_START
           - jpp_profile_mapping_at(&profile, mapping)->offset;

    /* outside, inside, outside again: neighbours are one */

    jpp_is_u64(jpp_vec_count(ranges, jpp_range_t), 2, "two ranges");
    jpp_is_u64(range[0].start, base + outside, "the first");
    jpp_is_u64(range[0].end, base + outside + 80, "its end");
    jpp_is_u64(range[1].start, base + alias, "the second");

    /* only a part of the code is mapped */

    mapping = jpp_test_mapping("cxx.so", OTHER_ID);
    jpp_is_u64(jpp_symbolize_ranges(&symbols, &profile, mapping,
                                    jpp_symbolize_test_is_selected, ranges,
                                    &err), JPP_OK, "a file that is not used");
    jpp_is_u64(jpp_vec_count(ranges, jpp_range_t), 2, "nothing added");

    jpp_profile_mapping_at(&profile, 1)->limit = base + outside + 8;
    ranges->len = 0;

    (void) jpp_symbolize_ranges(&symbols, &profile, 1,
                                jpp_symbolize_test_is_selected, ranges, &err);
    jpp_is_u64(jpp_vec_count(ranges, jpp_range_t), 1, "what is mapped");
    jpp_is_u64(jpp_vec_items(ranges, jpp_range_t)[0].end, base + outside + 8,
               "ends where the mapping ends");

    ranges = jpp_vec_create(&arena);
    arena.fail_at = arena.n_calls + 1;
    jpp_is_u64(jpp_symbolize_ranges(&symbols, &profile, 1,
                                    jpp_symbolize_test_is_selected, ranges,
                                    &err), JPP_ERR_MEMORY, "no memory");
}


JPP_TEST(jpp_symbolize_test_comments)
{
    char           path[64];
    uint32_t       i;
    jpp_mapping_t  mapping = { 0 };

    /* two mappings a file */

    for (i = 0; i < 120; i++) {
        jpp_print(path, "/nowhere/%u.so", i / 2);

        mapping.inode = 1 + i / 2;
        mapping.start = JPP_TEST_START + ((uint64_t) i << 20);
        mapping.limit = mapping.start + 4096;
        mapping.offset = (uint64_t) (i % 2) << 12;
        mapping.path = jpp_arena_strndup(&arena, path, strlen(path));

        (void) jpp_profile_location(&profile,
                                    jpp_profile_mapping(&profile, &mapping,
                                                        path),
                                    mapping.start);
    }

    (void) jpp_symbolize(&symbols, &profile, JPP_SYMBOLIZE_NAMES, &err);

    jpp_is_u64(jpp_vec_count(profile.comments, uint32_t), 33, "comments");
    jpp_is_str(jpp_profile_str(&profile, jpp_vec_items(profile.comments,
                                                       uint32_t)[31]).data,
               "no names for /nowhere/31.so: the file cannot be opened: No"
               " such file or directory", "the last of a file");
}


static void
jpp_symbolize_test_two(void)
{
    jpp_test_begin();

    (void) jpp_test_location("full.so", jpp_test_mapping("full.so", SAME),
                             "jt_static", 1);
    (void) jpp_test_location("full.so", jpp_test_mapping("cxx.so", OTHER_ID),
                             "jt_static", 2);
}


/* Every allocation of the profile's arena fails once; files are no matter. */

JPP_TEST(jpp_symbolize_test_memory)
{
    uint32_t  fds;

    fds = jpp_test_fds();
    jpp_denies(&arena, jpp_symbolize_test_two(), 10,
               jpp_symbolize(&symbols, &profile, JPP_SYMBOLIZE_NAMES, &err));
    jpp_is_u64(jpp_test_fds(), fds, "descriptors open");
}


JPP_TEST(jpp_symbolize_test_cxx)
{
    uint32_t  location;

    if (jpp_demangle_find() == NULL) {
        location = jpp_test_location("cxx.so", jpp_test_mapping("cxx.so", SAME),
                                     "_ZN2jt3BoxIiE5twiceEi", 1);

        (void) jpp_symbolize(&symbols, &profile, JPP_SYMBOLIZE_NAMES, &err);
        jpp_is_str(jpp_test_name_of(location), "_ZN2jt3BoxIiE5twiceEi",
                   "C++ without a C++ library");
    }

    if (dlopen("libstdc++.so.6", RTLD_NOW|RTLD_GLOBAL) == NULL) {
        jpp_diag("no libstdc++ here");
        return;
    }

    jpp_test_begin();

    location = jpp_test_location("cxx.so", jpp_test_mapping("cxx.so", SAME),
                                 "_ZN2jt3BoxIiE5twiceEi", 1);

    (void) jpp_symbolize(&symbols, &profile, JPP_SYMBOLIZE_NAMES, &err);
    jpp_is_str(jpp_test_name_of(location), "jt::Box<int>::twice(int)", "C++");
    jpp_is_str(jpp_test_system_name_of(location), "_ZN2jt3BoxIiE5twiceEi",
               "and as it is in the file");
}


JPP_TEST(jpp_symbolize_test_demangle)
{
    int              i;
    char             buf[4096], name[2048];
    double           ms;
    size_t           len;
    jpp_demangle_pt  demangle;

    static const char  *names[] = {
        "main", "_Z", "_ZZZZ", "", "_RNvCs1234_7mycrate3foo", "_Z1fv",
        "_Z1fv.cold", "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
        "_ZSt11make_sharedI3FooJRKiEESt10shared_ptrIT_EDpOT0_"
    };

    demangle = jpp_demangle_find();

    jpp_ok(!jpp_demangle(NULL, "_Z1fv", buf, sizeof(buf)), "no demangler");

    if (demangle == NULL) {
        return;
    }

    for (i = 0; i < (int) (sizeof(names) / sizeof(names[0])); i++) {
        jpp_note("%s: %s", names[i],
                 jpp_demangle(demangle, names[i], buf, sizeof(buf))
                 ? buf : "stays as it is");
    }

    jpp_shows_notes("names of C++");

    jpp_ok(!jpp_demangle(demangle, "_Z1fv", buf, 3), "a buffer too small");
    jpp_ok(jpp_demangle(demangle, "_Z1fv", buf, 4), "one that fits");

    /* every level is twice the one before */

    len = (size_t) sprintf(name, "_Z1f1AIiiES_IS0_S0_E");

    for (i = 1; i < 35; i++) {
        len += (size_t) sprintf(name + len, "S_IS%c_S%c_E",
                                "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i],
                                "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i]);
    }

    ms = jpp_test_ms();
    jpp_ok(!jpp_demangle(demangle, name, buf, sizeof(buf)),
           "%zu bytes that are 2^35 unfolded", len);
    jpp_ok(jpp_test_ms() - ms < 1000, "at once");

    /* seventeen references, none of which is S_ */

    len = (size_t) sprintf(name, "_Z1fN1a1bE");

    for (i = 0; i < 17; i++) {
        len += (size_t) sprintf(name + len, "S0_");
    }

    jpp_ok(!jpp_demangle(demangle, name, buf, sizeof(buf)),
           "a reference too many");
    name[len - 3] = '\0';
    jpp_ok(jpp_demangle(demangle, name, buf, sizeof(buf)), "and without it");

    /* as long as a name may be, and one byte more */

    memset(name, 'x', sizeof(name));
    memcpy(name, "_Z1017", 6);
    strcpy(name + 6 + 1017, "v");
    jpp_ok(jpp_demangle(demangle, name, buf, sizeof(buf)), "1024 bytes");
    memcpy(name, "_Z1018", 6);
    strcpy(name + 6 + 1018, "v");
    jpp_ok(!jpp_demangle(demangle, name, buf, sizeof(buf)), "a byte more");

    /* what looks like a pack is D and p */

    jpp_is_str(jpp_demangle(demangle, "_Z12appappappDapv", buf, sizeof(buf))
               ? buf : NULL, "appappappDap()", "letters of a name");
    jpp_ok(!jpp_demangle(demangle, "_Z9DpDpDp123v", buf, sizeof(buf)),
           "three packs are too many");

    len = (size_t) sprintf(name, "_Z%d", 1500);
    memset(name + len, 'a', 1500);
    memcpy(name + len + 1500, "v", 2);
    jpp_ok(!jpp_demangle(demangle, name, buf, sizeof(buf)), "a long name");
}


int
main(int argc, char **argv)
{
    uint32_t  fds;

    if (argc == 2) {
        return jpp_symbolize_test_deleted(argv[1]);
    }

    if (!jpp_ok(jpp_test_make(), "files to read")) {
        return jpp_done();
    }

    jpp_print(root, "%s/none", jpp_test_dir);
    fds = jpp_test_fds();

    jpp_tests_all();
    jpp_is_u64(jpp_test_fds(), fds, "descriptors open");

    return jpp_done();
}

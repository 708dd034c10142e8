
#include "jpp_test_dump.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"


typedef struct {
    const char   *name;
    const char   *text;
} jpp_maps_bad_t;


static jpp_vec_t     *maps;
static jpp_profile_t  profile;


static const jpp_maps_bad_t  bad[] = {
    { "empty", "" },
    { "a blank line", "\n" },
    { "no range", "1000 r-xp 0 0:0 0\n" },
    { "an empty range", "1000-1000 r-xp 0 0:0 0\n" },
    { "a range backwards", "2000-1000 r-xp 0 0:0 0\n" },
    { "a range of 68 bits", "1000-20000000000000000 r-xp 0 0:0 0\n" },
    { "whether it can be read", "1000-2000 wwxp 0 0:0 0\n" },
    { "or written", "1000-2000 rrxp 0 0:0 0\n" },
    { "or run", "1000-2000 rwwp 0 0:0 0\n" },
    { "or is shared", "1000-2000 rwx- 0 0:0 0\n" },
    { "more permissions", "1000-2000 rwxpp 0 0:0 0\n" },
    { "permissions cut", "1000-2000 r-\n" },
    { "no offset", "1000-2000 r-xp\n" },
    { "no device", "1000-2000 r-xp 0\n" },
    { "a large device", "1000-2000 r-xp 0 100000000:0 0\n" },
    { "a large minor", "1000-2000 r-xp 0 0:100000000 0\n" },
    { "no inode", "1000-2000 r-xp 0 08:01\n" },
    { "inode and more", "1000-2000 r-xp 0 08:01 12x\n" },
    { "the second line", "1000-2000 r-xp 0 08:01 12 /a\nx\n" },
    { "an overlap", "1000-3000 r-xp 0 08:01 12 /a\n"
      "2000-4000 r-xp 0 08:01 12 /a\n" },
    { "out of order", "8000-9000 r-xp 0 08:01 12 /a\n"
      "2000-4000 r-xp 0 08:01 12 /a\n" },
    { "CR LF", "1000-2000 r-xp 0 08:01 12\r\n" },
};


static jpp_code_t
jpp_maps_of(const char *text, size_t len, const char *tail)
{
    jpp_test_anew();
    (void) jpp_parser_init(&jpp_parser_heap, &profile, &arena);
    maps = jpp_vec_create(&arena);

    return jpp_maps_read(&profile, text, len, tail, maps, &err);
}


JPP_TEST(jpp_maps_test_bad)
{
    size_t       i;
    jpp_code_t   rc;

    static const char  nul[] = "1000-2000 r-xp 0 08:01 12 /a\0b\n";

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        rc = jpp_maps_of(bad[i].text, strlen(bad[i].text), NULL);

        jpp_ok(rc == JPP_ERR_INPUT || (rc == JPP_ERR_CUT && i == 0), "%s",
               bad[i].name);
        jpp_note("%s: line %" PRIu64 ": %s", bad[i].name, err.line, err.text);
    }

    jpp_shows_notes("what is no listing of mappings");

    jpp_is_u64(jpp_maps_of(nul, sizeof(nul) - 1, NULL), JPP_ERR_INPUT,
               "a NUL in a path");
}


JPP_TEST(jpp_maps_test_fields)
{
    uint32_t              i;
    const jpp_map_t      *map;
    const jpp_mapping_t  *m;

    static const char  text[] =
        "1000-3000 r-xp 00002000 fe:0a 332383         /usr/sbin/nginx\n"
        "4000-5000 rwxp 00000000 00:00 0 \n"
        "5000-6000 r-xp 00001000 08:01 7 /tmp/with two  blanks\n"
        "6000-7000 r-xp 00001000 08:01 8 /tmp/old.so (deleted)\n"
        "7000-8000 --xs 00001000 08:01 9 /tmp/a\\012b\\134c\n"
        "8000-9000 r-xp 00000000 00:00 0                          [vdso]\n"
        "9000-a000 r-xp 00000000 08:01 6 /usr/lib/libjemalloc.so.2\n"
        "a000-b000 r-xp 00000000 08:01 5 (deleted)\n"
        "b000-c000 r--p 00000000 08:01 4 /usr/lib/libc.so.6\n"
        "c000-d000 r-xp 00000000 08:01 3 /tmp/\xff\xc3\xa4\x01\n"
        "d000-e000 r-xp 00000000 ffffffff:ffffffff 2 /a\n"
        "e000-f000 r-xp 00000000 08:01 1 / (deleted)\n";

    jpp_is_u64(jpp_maps_of(text, sizeof(text) - 1, NULL), JPP_OK, "%s",
               err.text);
    jpp_is_u64(jpp_vec_count(profile.mappings, jpp_mapping_t), 11,
               "the executable ones");

    for (i = 1; i <= 11; i++) {
        m = jpp_profile_mapping_at(&profile, i);
        jpp_note("%" PRIx64 "-%" PRIx64 " at %" PRIx64 " of %" PRIx64 " %"
                 PRIu64 "%s, opened as \"%s\", shown as \"%s\"", m->start,
                 m->limit, m->offset, m->device, m->inode,
                 m->deleted ? ", deleted" : "", m->path,
                 jpp_profile_str(&profile, m->file).data);
    }

    jpp_shows_notes("mappings");

    jpp_ok(jpp_maps_find(maps, 0xfff) == NULL, "below all");
    jpp_ok(jpp_maps_find(maps, 0x3000) == NULL, "between");
    jpp_ok(jpp_maps_find(maps, 0xb000) == NULL, "not executable");
    jpp_ok(jpp_maps_find(maps, 0xf000) == NULL, "above all");

    map = jpp_maps_find(maps, 0x1000);
    jpp_ok(map != NULL && map->mapping == 1, "the first byte");
    map = jpp_maps_find(maps, 0x2fff);
    jpp_ok(map != NULL && map->mapping == 1, "the last byte");
    jpp_ok(map != NULL && !map->is_allocator, "no allocator");
    map = jpp_maps_find(maps, 0x9800);
    jpp_ok(map != NULL && map->is_allocator, "an allocator");
}


JPP_TEST(jpp_maps_test_functions)
{
    size_t  i;

    static const char  *names[] = {
        "je_mallocx", "imalloc_body", "malloc", "_Znwm", "malloc_usable",
        "ngx_alloc", "xje_malloc", ""
    };

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        jpp_ok(jpp_allocator_is_function(names[i]) == (i < 4),
               "the allocator's, or not: %s", names[i]);
    }
}


JPP_TEST(jpp_maps_test_main)
{
    const jpp_map_t  *map;

    /* code of a JIT lies below the program, whose code is in two places */

    static const char  text[] =
        "1000-2000 rwxp 00000000 00:00 0 \n"
        "3000-4000 r--p 00000000 08:01 7 /prog\n"
        "4000-5000 r-xp 00001000 08:01 7 /prog\n"
        "6000-7000 r-xp 00001000 08:01 8 /lib.so\n"
        "8000-9000 r-xp 00003000 08:01 7 /prog\n";

    jpp_is_u64(jpp_maps_of(text, sizeof(text) - 1, NULL), JPP_OK, "%s",
               err.text);

    map = jpp_maps_find(maps, 0x4000);
    jpp_is_u64(map->mapping, 1, "the main program is the first");
    map = jpp_maps_find(maps, 0x8000);
    jpp_is_u64(map->mapping, 2, "all of it");
    map = jpp_maps_find(maps, 0x1000);
    jpp_is_u64(map->mapping, 3, "then by address");
}


JPP_TEST(jpp_maps_test_tail)
{
    size_t  len;

    static const char  text[] =
        "4000-5000 r-xp 00001000 08:01 7 /prog\n"
        "5000-6000 rw-p 00002000 08:01 7 /prog\n"
        "7000-8000 rw-p 00000000 00:00 0          [stack]\n"
        "9000-a000 --xp 00000000 00:00 0          [vsyscall]\n";

    static const char  code[] =
        "4000-5000 r-xp 00001000 08:01 7 /prog\n";

    jpp_is_u64(jpp_maps_of(text, sizeof(text) - 1, "[vsyscall]"), JPP_OK,
               "a whole listing");

    len = (size_t) (strstr(text, "9000-") - text);

    jpp_is_u64(jpp_maps_of(text, len, "[vsyscall]"), JPP_ERR_TAIL,
               "a listing without its last line: %s", err.text);
    jpp_is_u64(err.line, 3, "the line of it");

    jpp_is_u64(jpp_maps_of(text, len, NULL), JPP_OK, "of an unknown kernel");

    jpp_is_u64(jpp_maps_of(code, strlen(code), "[vsyscall]"), JPP_OK,
               "not a listing of a kernel");
}


JPP_TEST(jpp_maps_test_path)
{
    size_t  i, n;
    char    text[JPP_MAX_PATH + 64];

    for (i = JPP_MAX_PATH; i <= JPP_MAX_PATH + 1; i++) {
        n = (size_t) sprintf(text, "1000-2000 r-xp 00000000 08:01 12 /");
        memset(text + n, 'x', i - 1);
        n += i - 1;
        text[n++] = '\n';

        jpp_is_u64(jpp_maps_of(text, n, NULL),
                   i == JPP_MAX_PATH ? JPP_OK : JPP_ERR_INPUT,
                   "a path of %zu bytes: %s", i, err.text);
    }
}


JPP_TEST(jpp_maps_test_many)
{
    char              *text, *p;
    size_t             i, k, wrong;
    const jpp_map_t   *map;

    static const size_t  counts[] = { 10000, JPP_MAX_MAPS, JPP_MAX_MAPS + 1 };

    text = malloc((JPP_MAX_MAPS + 1) * 80);

    for (i = 0; i < 3; i++) {

        for (p = text, k = 0; k < counts[i]; k++) {
            p += sprintf(p, "%zx000-%zx000 r-xp 00000000 08:01 %zu /m\n",
                         2 * k + 2, 2 * k + 3, k + 1);
        }

        if (counts[i] > JPP_MAX_MAPS) {
            jpp_is_u64(jpp_maps_of(text, (size_t) (p - text), NULL),
                       JPP_ERR_LIMIT, "%zu mappings: %s", counts[i], err.text);
            jpp_is_u64(err.line, JPP_MAX_MAPS + 1, "the line of it");
            continue;
        }

        jpp_is_u64(jpp_maps_of(text, (size_t) (p - text), NULL), JPP_OK,
                   "%zu mappings", counts[i]);

        for (wrong = 0, k = 0; k < counts[i]; k++) {
            map = jpp_maps_find(maps, ((2 * k + 2) << 12) + 0x800);
            wrong += map == NULL || map->mapping != k + 1
                     || jpp_maps_find(maps, (2 * k + 3) << 12) != NULL;
        }

        jpp_is_u64(wrong, 0, "each is found");
    }

    free(text);
}


#include "jpp_test_arena.h"
#include "jpp_proc.h"
#include "jpp_symbolize.h"
#include "jpp_test_elf.h"


/* What memory says of a file is what the file says. */

static void
jpp_loaded_test_images(void)
{
    int           fd;
    size_t        i, n, found;
    uint64_t      here, loads = 0;
    jpp_vec_t    *images;
    jpp_elf_t     elf;
    jpp_image_t  *image;

    jpp_test_anew();

    images = jpp_vec_create(&arena);

    jpp_ok(jpp_images_read(images), "what is loaded is read");

    fd = open("/proc/self/exe", O_RDONLY|O_CLOEXEC);
    (void) jpp_elf_read(&elf, &arena, fd, -1, JPP_ELF_IDENTITY, NULL);
    (void) close(fd);

    here = (uint64_t) (uintptr_t) jpp_loaded_test_images;
    image = jpp_vec_items(images, jpp_image_t);
    n = jpp_vec_count(images, jpp_image_t);
    found = 0;

    for (i = 0; i < n; i++) {
        if (image[i].build_id.len == elf.build_id.len
            && memcmp(image[i].build_id.data, elf.build_id.data,
                      elf.build_id.len)
               == 0)
        {
            found++;
            jpp_ok(image[i].address <= here
                   && here - image[i].address < 1 << 24,
                   "its address is in its code");
        }
    }

    jpp_is_u64(found, 1, "this program is among them once");
    jpp_ok(n > 2, "and its libraries: %zu", n);
    jpp_ok(jpp_images_is_new(&loads) && loads >= n,
           "as many were loaded so far");
}


/* Of an object with a hole: up to the last byte of each. */

JPP_TEST(jpp_loaded_test_segments)
{
    size_t                i;
    jpp_images_object_t   object = { 0 };

    static const struct {
        uintptr_t  address;
        int        segment;
    } rows[] = {
        { 0xfff, -1 }, { 0x1000, 0 }, { 0x1fff, 0 }, { 0x2000, -1 },
        { 0x3000, 1 }, { 0x3fff, 1 }, { 0x4000, -1 }
    };

    object.mapped.n = 2;
    object.mapped.segments[0] = (jpp_segment_t) { 0x1000, 0x2000, true, true };
    object.mapped.segments[1] = (jpp_segment_t) { 0x3000, 0x4000, true, true };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_ok(jpp_mapped_segment(&object.mapped, rows[i].address)
               == (rows[i].segment == -1
                   ? NULL : &object.mapped.segments[rows[i].segment]),
               "the segment of %#" PRIxPTR, rows[i].address);
    }
}


/* The linker says where data of a file end, and where all of it. */

JPP_TEST(jpp_loaded_test_zeroed)
{
    size_t      i, n, found, wrong;
    uint64_t    page, *pair;
    jpp_vec_t  *pairs;

    static char    zeroes[16 * 4096];
    extern char    edata, end;

    __asm__ volatile ("" : : "r" (zeroes) : "memory");

    page = (uint64_t) sysconf(_SC_PAGESIZE);

    pairs = jpp_vec_create(&arena);
    jpp_ok(jpp_images_zeroed(pairs), "what is loaded has zeroed data");

    pair = jpp_vec_items(pairs, uint64_t);
    n = jpp_vec_count(pairs, uint64_t);

    for (i = 0, found = 0, wrong = 0; i < n; i += 2) {
        found += pair[i] == ((uintptr_t) &edata + page - 1) / page * page
                 && pair[i + 1] == ((uintptr_t) &end + page - 1) / page * page;
        wrong += pair[i] >= pair[i + 1];
    }

    jpp_is_u64(found, 1, "this program's");
    jpp_ok(wrong == 0 && n < 2 * 64, "%zu of %zu are empty", wrong, n / 2);
}


/* An error of the linker is text that it keeps in memory from malloc. */

static void
jpp_loaded_test_symbols(void)
{
    size_t  i;

    static const char *const  there[] = { "malloc", "dl_iterate_phdr", "qsort",
                                          "stdout", "inflate" };
    static const char *const  missing[] = { "", "mallo", "mallocc", "malloc@",
                                            "jpp_loaded_test_symbols" };

    (void) dlerror();

    for (i = 0; i < sizeof(there) / sizeof(there[0]); i++) {
        jpp_ok(jpp_images_has(there[i]), "%s is found", there[i]);
    }

    for (i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
        jpp_ok(!jpp_images_has(missing[i]), "'%s' is not", missing[i]);
    }

    jpp_ok(dlerror() == NULL, "and that is no error of the linker");
}


JPP_TEST(jpp_loaded_test_notes)
{
    size_t           i;
    jpp_build_id_t   id;

    /* a property of 8 bytes, then the build id abcd */
    static const char  notes[] =
        "\4\0\0\0\10\0\0\0\5\0\0\0GNU\0........"
        "\4\0\0\0\4\0\0\0\3\0\0\0GNU\0abcd";

    /* a property of 4 bytes and 4 more */
    static const char  padded[] =
        "\4\0\0\0\4\0\0\0\5\0\0\0GNU\0........"
        "\4\0\0\0\4\0\0\0\3\0\0\0GNU\0abcd";

    static const struct {
        const char  *bytes;
        size_t       len;
        size_t       alignment;
        bool         is_found;
        const char  *what;
    } rows[] = {
        { notes,      44, 4, true,  "behind another note" },
        { notes,      44, 8, true,  "aligned to 8" },
        { notes,      44, 1, true,  "without an alignment" },
        { notes,      43, 4, false, "cut in its bytes" },
        { notes + 24, 20, 4, true,  "alone" },
        { padded,     44, 8, true,  "behind one that is filled up to 8" },
        { padded,     44, 4, false, "which other notes are not" },
        { notes + 24, 15, 4, false, "cut in its name" },
        { notes + 24, 11, 4, false, "cut in its header" },
        { notes,       0, 4, false, "no notes" },
        { "\4\0\0\0\0\0\0\0\3\0\0\0GNU\0", 16, 4, false, "an empty one" },
        { "\4\0\0\0\4\0\0\0\3\0\0\0GNX\0abcd", 20, 4, false, "another name" },
        { "\4\0\0\0\4\0\0\0\4\0\0\0GNU\0abcd", 20, 4, false, "another type" },
        { "\3\0\0\0\4\0\0\0\3\0\0\0GNU\0abcd", 20, 4, false, "a short name" },
        { "\377\377\377\377\4\0\0\0\3\0\0\0GNU\0abcd", 20, 4, false,
          "a name without end" },
        { "\4\0\0\0\377\377\377\377\3\0\0\0GNU\0abcd", 20, 4, false,
          "an id without end" }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        memset(&id, 0, sizeof(jpp_build_id_t));

        jpp_ok(jpp_build_id_note((const uint8_t *) rows[i].bytes, rows[i].len,
                               rows[i].alignment, &id)
               == rows[i].is_found
               && id.len == (rows[i].is_found ? 4 : 0)
               && memcmp(id.data, "abcd", id.len) == 0,
               "a build id: %s", rows[i].what);
    }

    /* the longest that is taken, and one more */

    for (i = JPP_BUILD_ID_MAX; i <= JPP_BUILD_ID_MAX + 1; i++) {
        uint8_t  longest[16 + JPP_BUILD_ID_MAX + 1];

        memset(longest, 'x', sizeof(longest));
        memcpy(longest, notes + 24, 16);
        longest[4] = (uint8_t) i;

        jpp_ok(jpp_build_id_note(longest, 16 + i, 4, &id)
               == (i == JPP_BUILD_ID_MAX), "one of %zu bytes", i);
    }
}


static bool
jpp_test_is_in(const jpp_image_t *image, const char *line)
{
    uint64_t  start, limit;

    return sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &limit) == 2
           && image->address >= start && image->address < limit;
}


/* The line of the C library's code, with a device that stat() never has. */

static bool
jpp_test_libc(char *text, size_t size, jpp_image_t *image)
{
    int         n;
    char       *line, *end;
    size_t      i;
    jpp_vec_t  *maps, *images;

    jpp_test_anew();

    maps = jpp_vec_create(&arena);
    images = jpp_vec_create(&arena);

    (void) jpp_images_read(images);
    (void) jpp_proc_maps(maps, NULL);
    (void) jpp_vec_push(maps, 1);

    line = strstr((char *) maps->data, "/libc.so.6");

    while (line > (char *) maps->data && line[-1] != '\n') {
        line--;
    }

    /* the first line of the file is its headers, its code is the next */

    while ((end = strchr(line, '\n')) != NULL
           && memmem(line, (size_t) (end - line), " r-xp ", 6) == NULL)
    {
        line = end + 1;
    }

    n = -1;

    for (i = 0; i < jpp_vec_count(images, jpp_image_t); i++) {
        *image = jpp_vec_items(images, jpp_image_t)[i];

        if (jpp_test_is_in(image, line)) {
            n = (int) (strstr(line, " r-xp ") - line) + 15;
            n = snprintf(text, size, "%.*sfe:99%.*s\n", n, line,
                         (int) (end - line) - n - 5, line + n + 5);
            break;
        }
    }

    return n > 0;
}


static void
jpp_test_loaded(jpp_loaded_t *loaded, const char *text,
    const jpp_image_t *image)
{
    const jpp_vec_t  maps = { .data = (uint8_t *) (uintptr_t) text,
                              .len = strlen(text) };
    const jpp_vec_t  images = { .data = (uint8_t *) (uintptr_t) image,
                                .len = sizeof(jpp_image_t) };
    const jpp_vec_t  hints = { 0 };

    jpp_loaded_init(loaded, &maps, &images, &hints, NULL);
}


/* Two reports of one location open OPENED files. */

static void
jpp_loaded_test_report(const char *text, const jpp_image_t *image,
    bool has_names, const char *comment, uint64_t opened, const char *what)
{
    uint32_t        i;
    jpp_vec_t      *maps;
    const char     *first;
    jpp_mapping_t  *mapping;
    jpp_profile_t   profile;
    jpp_symbols_t   symbols;

    jpp_test_anew();
    jpp_symbols_init(&symbols, JPP_SYMBOLS_CAP);

    if (image != NULL) {
        jpp_test_loaded(&symbols.loaded, text, image);
    }

    for (i = 0; i < 2; i++) {
        maps = jpp_vec_create(&arena);
        jpp_profile_of_space(&profile, &arena);
        (void) jpp_maps_read(&profile, text, strlen(text), NULL, maps, NULL);

        mapping = jpp_profile_mapping_at(&profile, 1);
        (void) jpp_profile_location(&profile, 1,
                                    (uint64_t) (uintptr_t) strtoull);

        jpp_is_u64(jpp_symbolize(&symbols, &profile, JPP_SYMBOLIZE_NAMES, NULL),
                   JPP_OK, "%s", what);

        first = jpp_comments_of(&profile);
        jpp_ok(comment == NULL ? *first == '\0'
               : strstr(first, comment) != NULL, "comment: %s", first);
        jpp_ok(mapping->has_functions == has_names, "names");
    }

    jpp_is_u64(symbols.n_opened, opened, "files opened in two reports");

    jpp_symbols_destroy(&symbols);
}


/* For build ids alone, no file is opened. */

static void
jpp_loaded_test_build_ids(const char *text, const jpp_image_t *image)
{
    char            id[JPP_BUILD_ID_TEXT];
    jpp_vec_t      *maps;
    jpp_profile_t   profile;
    jpp_symbols_t   symbols;

    jpp_test_anew();
    jpp_symbols_init(&symbols, JPP_SYMBOLS_CAP);
    jpp_test_loaded(&symbols.loaded, text, image);

    maps = jpp_vec_create(&arena);
    jpp_profile_of_space(&profile, &arena);
    (void) jpp_maps_read(&profile, text, strlen(text), NULL, maps, NULL);
    (void) jpp_symbolize(&symbols, &profile, JPP_SYMBOLIZE_BUILD_IDS, NULL);

    jpp_build_id_text(&image->build_id, id);
    jpp_is_str(jpp_profile_str(&profile, jpp_profile_mapping_at(&profile, 1)
                                         ->build_id).data,
               id, "the build id that was loaded");
    jpp_is_u64(symbols.n_opened, 0, "without a file");

    jpp_symbols_destroy(&symbols);
    jpp_is_str(jpp_loaded_build_id(&symbols.loaded,
                                   jpp_profile_mapping_at(&profile, 1)), "",
               "nothing is known after the end");
}


/* Text that cannot be read, and want of memory, leave nothing known. */

static void
jpp_loaded_test_memory(const char *text, const jpp_image_t *image)
{
    jpp_vec_t     *images;
    jpp_loaded_t   loaded = { 0 };

    jpp_test_loaded(&loaded, "no maps\n", image);
    jpp_ok(loaded.files == NULL, "text that is no listing");

    jpp_test_loaded(&loaded, text, image);
    jpp_is_u64(jpp_vec_count(loaded.files, jpp_loaded_file_t), 1, "one file");
    jpp_loaded_destroy(&loaded);
    jpp_is_u64(loaded.arena.mapped, 0, "all is given back");

    jpp_denies(&arena,
               jpp_test_anew();
               images = jpp_vec_create(&arena), 1,
               jpp_done_code(jpp_images_read(images)));
}


/*
 * On overlayfs and btrfs the kernel lists another device for a mapping than
 * stat() has for its file.
 */

JPP_TEST(jpp_loaded_test_device)
{
    char          text[4096];
    jpp_image_t   image, other;

    if (!jpp_ok(jpp_test_libc(text, sizeof(text), &image),
                "the C library, on another device"))
    {
        return;
    }

    other = image;
    other.build_id.data[0] ^= 1;

    jpp_loaded_test_report(text, NULL, true, "names may be wrong for", 2,
                           "nothing is known");
    jpp_loaded_test_report(text, &image, true, NULL, 1, "the build is known");
    jpp_loaded_test_report(text, &other, false, "has another build id", 2,
                           "another build was loaded");

    other = image;
    other.address = 16;

    jpp_loaded_test_report(text, &other, true, "names may be wrong for", 2,
                           "an image that lies in no mapping");

    jpp_loaded_test_build_ids(text, &image);
    jpp_loaded_test_memory(text, &image);
}


int
main(void)
{
    jpp_loaded_test_images();

    jpp_tests_all();

    jpp_loaded_test_symbols();

    return jpp_done();
}


/*
 * What the linker has loaded, for a linker whose objects are made up here: this
 * program wraps dl_iterate_phdr().
 */


#include "jpp_test_arena.h"
#include "jpp_test_main.h"

#include <link.h>
#include <sys/auxv.h>

#include "jpp_proc.h"


#define JPP_IMAGES_MAX      4
#define JPP_IMAGES_HEADERS  20
#define JPP_IMAGES_LONGEST  4096
#define JPP_PAGE            ((uint64_t) sysconf(_SC_PAGESIZE))


/* an object: its names are at its start, a note and its tables behind them */
typedef struct {
    char          strings[64];
    uint32_t      note[64];
    ElfW(Sym)     symbols[8];
    ElfW(Dyn)     dynamic[8];
    uint32_t      hashes[16];
    ElfW(Phdr)    headers[JPP_IMAGES_HEADERS];
} jpp_made_t;


static jpp_made_t           jpp_made[JPP_IMAGES_MAX];
static struct dl_phdr_info  jpp_infos[JPP_IMAGES_MAX];
static size_t               jpp_n;
static bool                 jpp_is_made;


typedef int (*jpp_visit_pt)(struct dl_phdr_info *info, size_t size,
    void *data);

int __real_dl_iterate_phdr(jpp_visit_pt visit, void *data);
int __wrap_dl_iterate_phdr(jpp_visit_pt visit, void *data);


int
__wrap_dl_iterate_phdr(jpp_visit_pt visit, void *data)
{
    int     rc;
    size_t  i;

    if (!jpp_is_made) {
        return __real_dl_iterate_phdr(visit, data);
    }

    for (i = 0, rc = 0; i < jpp_n && rc == 0; i++) {
        rc = visit(&jpp_infos[i], sizeof(struct dl_phdr_info), data);
    }

    return rc;
}


/* STATEMENT, for a linker that has what was made. */
#define JPP_MADE(statement)                                                   \
    jpp_is_made = true;                                                       \
    statement;                                                                \
    jpp_is_made = false


/* What is behind the last header of object I is none. */

static void
jpp_end(size_t i)
{
    ElfW(Phdr)  *header;

    header = &jpp_made[i].headers[jpp_infos[i].dlpi_phnum];

    header->p_type = PT_LOAD;
    header->p_flags = PF_R | PF_X;
    header->p_filesz = sizeof(jpp_made_t);
    header->p_memsz = 1024 * JPP_PAGE;
}


/* N objects without headers. */

static void
jpp_make(size_t n)
{
    size_t  i;

    memset(jpp_made, 0, sizeof(jpp_made));
    memset(jpp_infos, 0, sizeof(jpp_infos));
    jpp_n = n;

    for (i = 0; i < n; i++) {
        jpp_infos[i].dlpi_addr = (uintptr_t) &jpp_made[i];
        jpp_infos[i].dlpi_name = "";
        jpp_infos[i].dlpi_phdr = jpp_made[i].headers;
        jpp_infos[i].dlpi_adds = 7;
        jpp_end(i);
    }
}


/* One more header of object I, for SIZE bytes from the OFFSET of it on. */

static ElfW(Phdr) *
jpp_header(size_t i, uint32_t type, uint32_t flags, size_t offset, size_t size)
{
    ElfW(Phdr)  *header;

    header = &jpp_made[i].headers[jpp_infos[i].dlpi_phnum++];

    header->p_type = type;
    header->p_flags = flags;
    header->p_vaddr = offset;
    header->p_filesz = size;
    header->p_memsz = size;
    jpp_end(i);

    return header;
}


static uint32_t
jpp_hash(const char *name)
{
    uint32_t  hash;

    for (hash = 5381; *name != '\0'; name++) {
        hash = hash * 33 + (uint8_t) *name;
    }

    return hash;
}


/* Object I defines "one" and "two", and needs "three"; what has the hash of
   "four" is called "five". */

static void
jpp_make_symbols(size_t i)
{
    size_t       k;
    jpp_made_t  *made = &jpp_made[i];

    static const char *const  hashed[] = { "one", "two", "three", "four" };
    static const ElfW(Dyn)    dynamic[] = {
        { DT_SYMTAB, { offsetof(jpp_made_t, symbols) } },
        { DT_GNU_HASH, { offsetof(jpp_made_t, hashes) } },
        { DT_STRTAB, { 0 } },
        { DT_NULL, { 0 } },
    };

    memcpy(made->strings, "one\0two\0three\0five", 19);
    memcpy(made->dynamic, dynamic, sizeof(dynamic));
    made->dynamic[2].d_un.d_ptr = (uintptr_t) made->strings;

    /* two buckets, symbols from 2 on, a filter of one word */

    made->hashes[0] = 2;
    made->hashes[1] = 2;
    made->hashes[2] = 1;

    /* all are in both buckets; but for the last, its hash is even */

    made->hashes[6] = made->hashes[7] = 2;

    for (k = 0; k < 4; k++) {
        made->hashes[8 + k] = (jpp_hash(hashed[k]) & ~1u) + (k == 3);
        made->symbols[2 + k].st_name = (uint32_t) k * 4;
        made->symbols[2 + k].st_shndx = k == 2 ? SHN_UNDEF : 1;
    }

    made->symbols[5].st_name = 14;

    (void) jpp_header(i, PT_LOAD, PF_R, 0, sizeof(jpp_made_t));
    (void) jpp_header(i, PT_DYNAMIC, PF_R, offsetof(jpp_made_t, dynamic),
                      sizeof(dynamic));
}


static bool
jpp_made_has(const char *name)
{
    bool  has;

    JPP_MADE(has = jpp_images_has(name));

    return has;
}


JPP_TEST(jpp_images_test_symbols)
{
    jpp_make(3);
    jpp_ok(!jpp_made_has("one"), "nothing is defined");
    jpp_make_symbols(1);

    jpp_ok(jpp_made_has("one") && jpp_made_has("two"), "what is defined");
    jpp_ok(!jpp_made_has("three"), "what is needed is not");
    jpp_ok(!jpp_made_has("four") && !jpp_made_has("five"),
           "nor what has its hash only, or its name");
    jpp_ok(!jpp_made_has("six"), "nor what is nowhere");

    /* the second bucket has nothing; "one" has an odd hash, "two" an even */

    jpp_made[1].hashes[6 + jpp_hash("one") % 2] = 0;
    jpp_ok(!jpp_made_has("one"), "an empty bucket");
    jpp_made[1].hashes[6 + jpp_hash("one") % 2] = 3;
    jpp_ok(!jpp_made_has("one"), "one that begins behind it");

    jpp_made[1].hashes[6] = jpp_made[1].hashes[7] = 2;
    jpp_made[1].hashes[8] |= 1;
    jpp_ok(jpp_made_has("one") && !jpp_made_has("two"), "one that ends there");

    jpp_made[1].hashes[0] = 0;
    jpp_ok(!jpp_made_has("one"), "no buckets");
}


JPP_TEST(jpp_images_test_tables)
{
    size_t  i;

    for (i = 0; i < 3; i++) {
        jpp_make(2);
        jpp_make_symbols(1);
        jpp_made[1].dynamic[i].d_tag = DT_DEBUG;
        jpp_ok(!jpp_made_has("one"), "without table %zu", i);
    }

    jpp_make(2);
    jpp_make_symbols(1);
    jpp_made[1].dynamic[0].d_un.d_ptr += jpp_infos[1].dlpi_addr;
    jpp_ok(jpp_made_has("one"), "the linker has added the base");
}


/* A note of the type TYPE of NAME with LEN bytes; where the next is to be. */

static uint32_t *
jpp_note(uint32_t *note, uint32_t type, const char *name, uint32_t len)
{
    note[0] = 4;
    note[1] = len;
    note[2] = type;
    memcpy(&note[3], name, 4);
    memset(&note[4], 'i', len);

    return note + 4 + (len + 3) / 4;
}


/* How many images there are, the last of which is IMAGE. */

static size_t
jpp_made_images(jpp_image_t *image)
{
    bool         is_read;
    size_t       n;
    jpp_vec_t   *images;

    jpp_test_anew();
    images = jpp_vec_create(&arena);

    JPP_MADE(is_read = jpp_images_read(images));

    n = is_read ? jpp_vec_count(images, jpp_image_t) : 1000;

    if (n != 0 && is_read) {
        *image = jpp_vec_items(images, jpp_image_t)[n - 1];
    }

    return n;
}


JPP_TEST(jpp_images_test_ids)
{
    size_t        i;
    ElfW(Phdr)   *header;
    jpp_image_t   image;

    const size_t  at = offsetof(jpp_made_t, note);

    /* from, and so many bytes, of the segment that holds the 36 of the note */

    const struct {
        uint32_t   flags;
        size_t     from;
        size_t     size;
        bool       is_held;
    } segments[] = {
        { PF_R, at, 36, true }, { PF_R, at - 4, 40, true },
        { PF_R, at, 35, false }, { PF_R, at - 4, 39, false },
        { PF_R, at + 1, 100, false }, { PF_R, at - 8, 4, false },
        { PF_W, at, 36, false }, { 0, 0, 0, false }
    };

    for (i = 0; i < sizeof(segments) / sizeof(segments[0]); i++) {
        jpp_make(3);
        (void) jpp_note(jpp_made[1].note, NT_GNU_BUILD_ID, "GNU", 20);

        (void) jpp_header(1, PT_NOTE, PF_R | PF_X, at, 36);
        (void) jpp_header(1, PT_LOAD, segments[i].flags, segments[i].from,
                          segments[i].size);
        (void) jpp_header(1, PT_LOAD, PF_X, 8, 4);

        jpp_is_u64(jpp_made_images(&image), segments[i].is_held, "segment %zu",
                   i);
    }

    /* no code */

    jpp_make(1);
    (void) jpp_note(jpp_made[0].note, NT_GNU_BUILD_ID, "GNU", 20);
    (void) jpp_header(0, PT_LOAD, PF_R, 0, sizeof(jpp_made_t));
    (void) jpp_header(0, PT_NOTE, PF_R, at, 36);
    jpp_is_u64(jpp_made_images(&image), 0, "no code");

    header = jpp_header(0, PT_LOAD, PF_R | PF_X, 8, 4);
    jpp_is_u64(jpp_made_images(&image), 1, "code");
    jpp_is_u64(image.address, jpp_infos[0].dlpi_addr + 8, "its address");
    jpp_is_u64(image.build_id.len, 20, "its id");
    jpp_is_mem(image.build_id.data, "iiiiiiiiiiiiiiiiiiii", 20, "as it is");

    header->p_type = PT_NULL;
    jpp_is_u64(jpp_made_images(&image), 0, "which is loaded");
}


/* The notes of a segment. */

JPP_TEST(jpp_images_test_notes)
{
    uint8_t         bytes[256];
    uint32_t       *note, *next;
    jpp_build_id_t  id;

    note = jpp_made[0].note;
    memset(note, 0, sizeof(jpp_made[0].note));

    next = jpp_note(note, NT_GNU_ABI_TAG, "GNU", 16);
    next = jpp_note(next, NT_GNU_BUILD_ID, "Go\0", 5);
    next = jpp_note(next, NT_GNU_BUILD_ID, "GNU", 0);
    (void) jpp_note(next, NT_GNU_BUILD_ID, "GNU", 64);

    jpp_ok(jpp_build_id_note((uint8_t *) note, 152, 4, &id) && id.len == 64,
           "the fourth");
    jpp_ok(!jpp_build_id_note((uint8_t *) note, 151, 4, &id), "that is cut");
    jpp_ok(!jpp_build_id_note((uint8_t *) note, 72 + 11, 4, &id), "earlier");
    jpp_ok(!jpp_build_id_note((uint8_t *) note, 72 + 12, 4, &id), "its name");
    jpp_ok(!jpp_build_id_note((uint8_t *) note, 72, 4, &id), "the first three");
    jpp_ok(!jpp_build_id_note((uint8_t *) note, 0, 4, &id), "none");

    (void) jpp_note(note, NT_GNU_BUILD_ID, "GNU", 65);
    jpp_ok(!jpp_build_id_note((uint8_t *) note, 256, 4, &id), "a longer one");

    /* the second is where both are rounded, in a table of 8 */

    memset(note, 0, sizeof(jpp_made[0].note));
    (void) jpp_note(note, NT_GNU_ABI_TAG, "GNU", 4);
    (void) jpp_note(note + 6, NT_GNU_BUILD_ID, "GNU", 8);
    jpp_ok(jpp_build_id_note((uint8_t *) note, 48, 8, &id) && id.len == 8,
           "a table of 8");
    jpp_ok(!jpp_build_id_note((uint8_t *) note, 48, 16, &id), "of another");

    /* a length that no memory has */

    note[0] = UINT32_MAX;
    jpp_ok(!jpp_build_id_note((uint8_t *) note, 48, 4, &id), "its name's");
    note[0] = 4;
    note[1] = UINT32_MAX;
    jpp_ok(!jpp_build_id_note((uint8_t *) note, 48, 4, &id), "its own");

    /* the rest of a note is not there: nothing behind the end is read */

    memcpy(bytes, note, 20);
    memset(bytes + 20, 0xff, sizeof(bytes) - 20);
    ((uint32_t *) (void *) bytes)[1] = 2;
    jpp_ok(!jpp_build_id_note(bytes, 18, 4, &id), "padding that is cut");
}


JPP_TEST(jpp_images_test_zeroed)
{
    bool         is_read;
    uint64_t    *pair, base;
    jpp_vec_t   *pairs;

    jpp_make(3);

    /* of object 1: two pages and a bit; none, as it ends in the page; one */

    base = 16 * JPP_PAGE;
    jpp_infos[1].dlpi_addr = base;
    jpp_header(1, PT_LOAD, PF_R, 10, 20)->p_memsz = 2 * JPP_PAGE;
    jpp_header(1, PT_LOAD, PF_R, 10, 20)->p_memsz = JPP_PAGE - 10;
    jpp_header(1, PT_DYNAMIC, PF_R, 0, 0)->p_memsz = 4 * JPP_PAGE;
    jpp_header(1, PT_LOAD, PF_R, 4 * JPP_PAGE, JPP_PAGE)->p_memsz
        = 2 * JPP_PAGE;
    jpp_infos[2].dlpi_addr = 2 * base;
    jpp_header(2, PT_LOAD, PF_R, 0, 0)->p_memsz = 1;

    pairs = jpp_vec_create(&arena);

    JPP_MADE(is_read = jpp_images_zeroed(pairs));

    pair = jpp_vec_items(pairs, uint64_t);

    jpp_ok(is_read && jpp_vec_count(pairs, uint64_t) == 6, "three pairs");
    jpp_ok(pair[0] == base + JPP_PAGE && pair[1] == base + 3 * JPP_PAGE,
           "two pages");
    jpp_ok(pair[2] == base + 5 * JPP_PAGE && pair[3] == base + 6 * JPP_PAGE,
           "one");
    jpp_ok(pair[4] == 2 * base && pair[5] == 2 * base + JPP_PAGE,
           "another object's");

    pairs = jpp_vec_create(&arena);
    arena.fail_at = arena.n_calls + 1;
    jpp_is_made = true;
    is_read = jpp_images_zeroed(pairs);
    jpp_ok(!is_read, "no memory");
    arena.fail_at = arena.n_calls + 1;
    is_read = jpp_images_read(pairs);
    jpp_is_made = false;

    jpp_ok(is_read, "none is needed where there is no image");
}


JPP_TEST(jpp_images_test_read)
{
    bool         is_read;
    uint64_t     loads = 0;
    jpp_vec_t   *images;

    jpp_make(1);
    (void) jpp_note(jpp_made[0].note, NT_GNU_BUILD_ID, "GNU", 20);
    (void) jpp_header(0, PT_LOAD, PF_R | PF_X, 0, sizeof(jpp_made_t));
    (void) jpp_header(0, PT_NOTE, PF_R, offsetof(jpp_made_t, note), 36);

    images = jpp_vec_create(&arena);
    arena.fail_at = arena.n_calls + 1;

    jpp_is_made = true;
    is_read = jpp_images_read(images);
    jpp_ok(jpp_images_is_new(&loads) && loads == 7, "seven were loaded so far");
    jpp_ok(!jpp_images_is_new(&loads), "and no more since");
    jpp_n = 0;
    jpp_ok(!jpp_images_is_new(&loads), "or none");
    jpp_is_made = false;

    jpp_ok(!is_read, "no memory");
}


/* What was visited: the last object, and how many. */

static jpp_images_object_t  jpp_last;
static size_t               jpp_visits, jpp_enough;


static bool
jpp_visit(const jpp_images_object_t *object, void *data)
{
    jpp_ok(data == jpp_made, "with its data");
    jpp_last = *object;

    return ++jpp_visits != jpp_enough;
}


/* The addresses of the linker's own, which may be loaded. */

static size_t
jpp_made_pinned(size_t enough)
{
    jpp_visits = 0;
    jpp_enough = enough;

    JPP_MADE(jpp_images_pinned(jpp_visit, jpp_made));

    return jpp_visits;
}


static int
jpp_real(struct dl_phdr_info *info, size_t size, void *data)
{
    struct dl_phdr_info *libc = data;

    (void) size;

    if (strstr(info->dlpi_name, "libc.so") == NULL) {
        return 0;
    }

    *libc = *info;

    return 1;
}


JPP_TEST(jpp_images_test_pinned)
{
    size_t               i;
    struct dl_phdr_info  libc;

    static char  longest[JPP_IMAGES_LONGEST + 1];

    memset(longest, 'x', JPP_IMAGES_LONGEST - 1);

    jpp_make(4);

    for (i = 0; i < 4; i++) {
        (void) jpp_header(i, PT_LOAD, PF_X, 0x100 * (i + 1), 16);
    }

    jpp_is_u64(jpp_made_pinned(0), 4, "all");
    jpp_is_u64(jpp_last.base, jpp_infos[3].dlpi_addr, "the last is the last");
    jpp_is_u64(jpp_made_pinned(2), 2, "two are enough");

    /* one that has no code, or a name of no object */

    jpp_made[0].headers[0].p_flags = PF_R;
    jpp_infos[1].dlpi_name = "/no/such/object.so";
    jpp_is_u64(jpp_made_pinned(0), 2, "two of them");

    /* the program itself, by the address of its headers */

    jpp_infos[1].dlpi_phdr = (const void *) getauxval(AT_PHDR);
    jpp_infos[1].dlpi_phnum = (ElfW(Half)) getauxval(AT_PHNUM);
    jpp_infos[1].dlpi_name = longest;
    jpp_is_u64(jpp_made_pinned(0), 3, "the program, with the longest name");
    jpp_is_u64(jpp_made_pinned(1), 1, "is the first");
    jpp_is_u64(strlen(longest), JPP_IMAGES_LONGEST - 1, "its length");
    longest[JPP_IMAGES_LONGEST - 1] = 'x';
    jpp_is_u64(jpp_made_pinned(0), 2, "one that is longer is left out");

    /* the kernel's */

    jpp_infos[2].dlpi_name = "linux-vdso.so.1";
    jpp_is_u64(jpp_made_pinned(0), 1, "not at this address");
    jpp_infos[2].dlpi_addr = getauxval(AT_SYSINFO_EHDR);
    jpp_is_u64(jpp_made_pinned(0), 2, "but at its own");

    /* one that is loaded, here and elsewhere */

    if (dl_iterate_phdr(jpp_real, &libc) != 0) {
        jpp_make(1);
        jpp_infos[0] = libc;
        jpp_is_u64(jpp_made_pinned(0), 1, "the C library");
        jpp_is_str(jpp_last.name, libc.dlpi_name, "its name");
        jpp_infos[0].dlpi_addr += 4096;
        jpp_is_u64(jpp_made_pinned(0), 0, "is not elsewhere");
    }
}


JPP_TEST(jpp_images_test_segments)
{
    size_t      i;
    uintptr_t   base;

    const jpp_segment_t  *segments = jpp_last.mapped.segments;

    jpp_make(1);
    base = jpp_infos[0].dlpi_addr;

    (void) jpp_header(0, PT_NULL, PF_R | PF_X, 1, 1);
    jpp_header(0, PT_LOAD, PF_R, 0, 16)->p_memsz = 32;
    (void) jpp_header(0, PT_LOAD, PF_X, 64, 16);
    jpp_is_u64(jpp_made_pinned(0), 1, "two segments");
    jpp_ok(jpp_last.dynamic == 0 && jpp_last.mapped.frames == 0,
           "and no tables");

    (void) jpp_header(0, PT_GNU_EH_FRAME, PF_R, 80, 8);
    (void) jpp_header(0, PT_DYNAMIC, PF_R, 96, 8);
    jpp_is_u64(jpp_made_pinned(0), 1, "with tables");

    jpp_ok(jpp_last.base == base && jpp_last.dynamic == base + 96
           && jpp_last.mapped.frames == base + 80 && jpp_last.mapped.n == 2,
           "where they are");
    jpp_ok(segments[0].start == base && segments[0].end == base + 32
           && segments[0].is_readable && !segments[0].is_executable, "data");
    jpp_ok(segments[1].start == base + 64 && segments[1].end == base + 80
           && !segments[1].is_readable && segments[1].is_executable, "code");

    for (i = 2; i < JPP_MAPPED_SEGMENTS; i++) {
        jpp_is_u64(jpp_last.mapped.n, i, "%zu segments", i);
        jpp_infos[0].dlpi_phnum -= i == 2 ? 2 : 0;
        (void) jpp_header(0, PT_LOAD, PF_R, 100 + i, 1);
        (void) jpp_made_pinned(0);
    }

    jpp_is_u64(jpp_last.mapped.n, JPP_MAPPED_SEGMENTS, "as many as are kept");
    (void) jpp_header(0, PT_LOAD, PF_R, 100 + i, 1);
    (void) jpp_made_pinned(0);
    jpp_is_u64(jpp_last.mapped.n, JPP_MAPPED_SEGMENTS, "and no more");
}


JPP_TEST(jpp_images_test_unwind)
{
    static jpp_mapped_t  objects;

    jpp_make(3);
    (void) jpp_header(0, PT_LOAD, PF_R | PF_X, 8, 64);
    (void) jpp_header(2, PT_LOAD, PF_R | PF_X, 8, 64);

    jpp_is_made = true;
    jpp_images_unwind(&objects);
    jpp_images_unwind(&objects);
    jpp_is_made = false;

    jpp_is_u64(objects.n, 2, "each is added once");

    (void) jpp_header(1, PT_LOAD, PF_R | PF_X, 0, 64);
    objects.n = JPP_MAPPED_MAX;

    JPP_MADE(jpp_images_unwind(&objects));

    jpp_is_u64(objects.n, JPP_MAPPED_MAX, "until the table is full");
}


/*
 * Objects as no linker makes them: without call-frame information, with a
 * damaged or hostile one, with holes between their segments.  Every byte that
 * is read lies in the image, which ends before a page that cannot be read.
 */


#include "jpp_test_main.h"
#include "jpp_test_cfi.h"
#include "jpp_test_complete.h"
#include "jpp_test_golden.h"
#include "jpp_unwind_ends.h"


#if defined(__x86_64__)


#define JPP_PAGE   4096

/* where things are in the image: see jpp_test_cfi.h */
#define JPP_CIE    64
#define JPP_FDE    92


typedef struct {
    const char         *name;
    size_t              at;
    const uint8_t      *bytes;
    size_t              len;
} jpp_damage_t;


static const jpp_damage_t  jpp_damages[] = {
    { "nothing", 0, JPP_BYTES(1) },
    { "another version", 0, JPP_BYTES(2) },
    { "no pointer to .eh_frame", 1, JPP_BYTES(0xff) },
    { "an aligned pointer", 1, JPP_BYTES(0x50) },
    { "a count of eight bytes", 2, JPP_BYTES(0x04) },
    { "a table of another form", 3, JPP_BYTES(0x1b) },
    { ".eh_frame far above", 4, JPP_BYTES(0xff, 0xff, 0xff, 0x7f) },
    { ".eh_frame far below", 4, JPP_BYTES(0, 0, 0, 0x80) },
    { "no rows", 8, JPP_BYTES(0, 0, 0, 0) },
    { "too many rows", 8, JPP_BYTES(0xff, 0xff, 0xff, 0xff) },
    { "a row of a function above", 12, JPP_BYTES(0xff, 0xff, 0xff, 0x7f) },
    { "rows in no order", 12, JPP_BYTES(0, 0, 9, 0) },
    { "an entry far above", 16, JPP_BYTES(0xff, 0xff, 0xff, 0x7f) },
    { "an entry far below", 16, JPP_BYTES(0, 0, 0, 0x80) },
    { "an entry of two bytes", 16, JPP_BYTES(0xfe, 0x0f) },
    { "an entry without a length", JPP_FDE, JPP_BYTES(0, 0, 0, 0) },
    { "an entry of 64 bits", JPP_FDE, JPP_BYTES(0xff, 0xff, 0xff, 0xff) },
    { "an entry past the end", JPP_FDE, JPP_BYTES(0, 0x10, 0, 0) },
    { "an entry that is too short", JPP_FDE, JPP_BYTES(6, 0, 0, 0) },
    { "a CIE in place of a function", JPP_FDE + 4, JPP_BYTES(0, 0, 0, 0) },
    { "a CIE far below", JPP_FDE + 4, JPP_BYTES(0xff, 0xff, 0xff, 0xff) },
    { "a CIE that is no CIE", JPP_FDE + 4, JPP_BYTES(4, 0, 0, 0) },
    { "a function elsewhere", JPP_FDE + 8, JPP_BYTES(0, 0, 0, 0) },
    { "a function of no length", JPP_FDE + 12, JPP_BYTES(0, 0, 0, 0) },
    { "a function of 4 GB", JPP_FDE + 12, JPP_BYTES(0xff, 0xff, 0xff, 0xff) },
    { "items past the end", JPP_FDE + 16, JPP_BYTES(0xff, 0x7f) },
    { "items without an end", JPP_FDE + 16, JPP_BYTES(0xff, 0xff, 0xff, 0xff,
      0xff, 0xff, 0xff) },
    { "a CIE of DWARF 4", JPP_CIE + 8, JPP_BYTES(4) },
    { "an unknown augmentation", JPP_CIE + 10, JPP_BYTES('X') },
    { "the augmentation of old compilers", JPP_CIE + 9, JPP_BYTES('e', 'h') },
    { "an augmentation without an end", JPP_CIE + 9, JPP_BYTES('z', 'R', 'R',
      'R', 'R', 'R', 'R', 'R', 'R', 'R', 'R', 'R', 'R', 'R', 'R', 'R', 'R',
      'R', 'R', 'R') },
    { "augmentation data past the end", JPP_CIE + 15, JPP_BYTES(0x7f) },
    { "addresses of an unknown form", JPP_CIE + 16, JPP_BYTES(0x05) },
    { "addresses relative to data", JPP_CIE + 16, JPP_BYTES(0x3b) },
    { "another return address", JPP_CIE + 14, JPP_BYTES(15) },
    { "a CFA of a register that is none", JPP_CIE + 18, JPP_BYTES(99) },
};


static uintptr_t       jpp_words[8];
static jpp_unwinder_t  jpp_unwinder;


/* A walk into the first function of OBJECT, whose image is at IMAGE; the
   caller is the second. */

static void
jpp_walk(const jpp_mapped_object_t *object, const uint8_t *image,
    const char *name)
{
    uint32_t               n, m;
    uintptr_t              pcs[8], again[8];
    jpp_unwind_end_t       end, other;
    jpp_unwind_context_t   at = { 0 };

    const jpp_unwind_stack_t  stack = { (uintptr_t) jpp_words,
                                        (uintptr_t) (jpp_words + 8) };

    memset(&jpp_unwinder, 0, sizeof(jpp_unwinder));
    (void) jpp_mapped_add(&jpp_unwinder.mapped, object);

    memset(jpp_words, 0, sizeof(jpp_words));
    jpp_words[0] = (uintptr_t) image + 2 * JPP_CFI_CODE + 5;

    at.pc = (uintptr_t) image + JPP_CFI_CODE + 59;
    at.registers[JPP_CFI_RSP] = stack.low;
    at.known = 0xffff;

    n = jpp_unwind_walk(&jpp_unwinder, &at, &stack, pcs, 8, &end);
    m = jpp_test_complete(&jpp_unwinder, &at, &stack, again, 8, &other);

    jpp_ok(n == m && end == other && (n == 1 || pcs[1] == again[1]),
           "%s: both walks have %u frames", name, n);
    jpp_is_u64(n, end == JPP_UNWIND_OUTERMOST ? 2 : 1, "%s: %s", name,
               jpp_unwind_end_name(end));
    jpp_note("%s: %s", name, jpp_unwind_end_name(end));
}


static void
jpp_image(jpp_cfi_image_t *image)
{
    jpp_cfi_image(image);
    jpp_cfi_function(image, JPP_BYTES(0));
    jpp_cfi_function(image, JPP_BYTES(0x07, 16));
}


/* The image fills a page, before one that is not there. */

JPP_TEST(jpp_damaged)
{
    size_t                i;
    uint8_t              *page;
    jpp_cfi_image_t       image;
    jpp_mapped_object_t   object;
    const jpp_damage_t   *damage;

    page = mmap(NULL, 2 * JPP_PAGE, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS, -1,
                0);

    if (!jpp_ok(page != MAP_FAILED
                && mprotect(page, JPP_PAGE, PROT_READ|PROT_WRITE) == 0,
                "a page before a guard"))
    {
        return;
    }

    for (i = 0; i < sizeof(jpp_damages) / sizeof(jpp_damages[0]); i++) {
        damage = &jpp_damages[i];

        jpp_image(&image);
        memset(page, 0xff, JPP_PAGE);
        memcpy(page, image.data, image.n);
        memcpy(page + damage->at, damage->bytes, damage->len);
        jpp_cfi_object(page, JPP_PAGE, &object);

        jpp_walk(&object, page, damage->name);
    }

    jpp_shows_notes("where a walk ends in what is damaged");
}


/* Of what is loaded, the part that counts is missing. */

JPP_TEST(jpp_missing)
{
    uint32_t              i;
    jpp_mapped_object_t   object, whole;

    static jpp_cfi_image_t  image __attribute__((aligned(16)));

    jpp_image(&image);
    jpp_cfi_object(image.data, image.n, &whole);

    object = whole;
    object.frames = 0;
    jpp_walk(&object, image.data, "no .eh_frame_hdr");

    object = whole;
    object.frames = object.segments[0].end - 6;
    jpp_walk(&object, image.data, "one that is cut");

    object = whole;
    object.segments[0].is_readable = false;
    jpp_walk(&object, image.data, "one that cannot be read");

    object = whole;
    object.segments[1].end = object.segments[1].start;
    jpp_walk(&object, image.data, "an empty segment of code");

    object = whole;
    object.segments[1].is_executable = false;
    jpp_walk(&object, image.data, "no segment of code");

    /* code, a hole, code: the caller is in the hole, and then behind it */

    for (i = 0; i < 2; i++) {
        object = whole;
        object.segments[2] = object.segments[1];
        object.segments[1].end = object.segments[1].start + JPP_CFI_SIZE;
        object.segments[2].start = (uintptr_t) image.data
                                   + (2 + !i) * JPP_CFI_CODE;
        object.n = 3;

        memset(&jpp_unwinder, 0, sizeof(jpp_unwinder));
        (void) jpp_mapped_add(&jpp_unwinder.mapped, &object);

        jpp_is_u64(jpp_unwinder.mapped.n, 2, "two segments of code");
        jpp_ok((jpp_mapped_find(&jpp_unwinder.mapped, (uintptr_t) image.data
                                + 2 * JPP_CFI_CODE + 4) != NULL) == (i == 1),
               "an address in a hole belongs to nobody");
    }

    jpp_walk(&object, image.data, "a hole between, which hides nothing");
    jpp_shows_notes("where it ends when a part is missing");
}


#else


JPP_TEST_ONLY(!JPP_UNWIND_IS_HERE, "there is no unwinder for this machine")


#endif


/*
 * Functions by .eh_frame: sections written by hand, in every encoding, with
 * entries that are read and entries that are not.
 */


#include "jpp_test_arena.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"
#include "jpp_elf.h"


/* where the section and the code are */
#define JPP_SECTION  0x4000
#define JPP_CODE     0x1000

/* its encoding is that of pointers */
#define JPP_NO_R     0x00


static uint8_t   jpp_bytes[512];
static size_t    jpp_len, jpp_cie_at;
static uint32_t  jpp_address_size;
static char      jpp_found[256];


static void
jpp_put(uint64_t value, size_t size)
{
    memcpy(jpp_bytes + jpp_len, &value, size);
    jpp_len += size;
}


/* The entry from AT on ends here, padded to 4 bytes. */

static void
jpp_entry_end(size_t at)
{
    uint32_t  len;

    while (jpp_len % 4 != 0) {
        jpp_put(0, 1);
    }

    len = (uint32_t) (jpp_len - at - 4);
    memcpy(jpp_bytes + at, &len, 4);
}


/* A CIE with the LEN bytes of DATA for AUGMENTATION. */

static void
jpp_cie(uint8_t version, const char *augmentation, const void *data, size_t len)
{
    jpp_cie_at = jpp_len;

    jpp_put(0, 8);
    jpp_put(version, 1);

    memcpy(jpp_bytes + jpp_len, augmentation, strlen(augmentation) + 1);
    jpp_len += strlen(augmentation) + 1;

    /* alignments, of which the first has two bytes, and the return address */

    jpp_put(0x0081, 2);
    jpp_put(0x7f80, 2);
    jpp_put(version == 1 ? 0x90 : 0x0090, version == 1 ? 1 : 2);

    if (augmentation[0] == 'z') {
        jpp_put(len, 1);
        memcpy(jpp_bytes + jpp_len, data, len);
        jpp_len += len;
    }

    jpp_entry_end(jpp_cie_at);
}


static void
jpp_pointer(uint8_t encoding, uint64_t value)
{
    static const uint8_t  sizes[] = { 0, 0, 2, 4, 8, 0, 0, 0 };

    if ((encoding & 0xf0) == JPP_CFI_PCREL) {
        value -= JPP_SECTION + jpp_len;
    }

    jpp_put(value, (encoding & 7) == 0 ? jpp_address_size
                                       : sizes[encoding & 7]);
}


/* An FDE of the last CIE for SIZE bytes from START on. */

static void
jpp_fde(uint8_t encoding, uint64_t start, uint64_t size)
{
    size_t  at;

    at = jpp_len;
    jpp_put(0, 4);
    jpp_put(jpp_len - jpp_cie_at, 4);
    jpp_pointer(encoding, start);
    jpp_pointer(encoding & 0x0f, size);
    jpp_put(0, 1);
    jpp_entry_end(at);
}


static void
jpp_begin(void)
{
    jpp_len = 0;
    jpp_address_size = 8;
    memset(jpp_bytes, 0, sizeof(jpp_bytes));
}


/* The functions of the first LEN bytes: "1100+10 1200+8 ". */

static const char *
jpp_functions(size_t len)
{
    char              *p;
    uint8_t           *bytes;
    uint32_t           i;
    jpp_elf_t          elf = { 0 };
    jpp_elf_source_t   source = { 0 };

    static const jpp_elf_segment_t  segment = { JPP_CODE, 0, 0x1000 };

    /* where they end, the sanitizers look */

    bytes = malloc(len + 1);
    memcpy(bytes, jpp_bytes, len);

    jpp_test_anew();
    elf.segments = &segment;
    elf.n_segments = 1;

    source.symbols = jpp_vec_create(&arena);
    source.eh_frame = bytes;
    source.eh_frame_len = len;
    source.eh_frame_address = JPP_SECTION;
    source.address_size = jpp_address_size;

    p = jpp_found;
    *p = '\0';

    if (!jpp_elf_table(&elf, &arena, &source)) {
        strcpy(jpp_found, "no memory");
    }

    for (i = 0; i < elf.n_functions; i++) {
        p += sprintf(p, "%x+%x ", (unsigned) elf.functions[i].start,
                     (unsigned) elf.functions[i].size);
    }

    free(bytes);

    return jpp_found;
}


/* Those of one FDE, in an encoding of 4 bytes, whose CIE has this. */

static const char *
jpp_of_cie(uint8_t version, const char *augmentation, const void *data,
    size_t len)
{
    jpp_begin();
    jpp_cie(version, augmentation, data, len);
    jpp_fde(0x03, 0x1100, 0x10);

    return jpp_functions(jpp_len);
}


JPP_TEST(jpp_eh_frame_test_encodings)
{
    size_t    i;
    uint8_t   encoding;

    static const uint8_t  encodings[] = {
        0x00, 0x02, 0x03, 0x04, 0x0a, 0x0b, 0x0c, 0x10, 0x14, 0x1a, 0x1b, 0x1c
    };
    static const uint8_t  others[] = {
        0x01, 0x05, 0x06, 0x07, 0x09, 0x33, 0x3b, 0x93, 0xff
    };

    for (i = 0; i < sizeof(encodings); i++) {
        encoding = encodings[i];

        jpp_begin();
        jpp_cie(1, "zR", &encoding, 1);
        jpp_fde(encoding, 0x1100, 0x10);
        jpp_fde(encoding, 0x1200, 0x88);

        jpp_is_str(jpp_functions(jpp_len), "1100+10 1200+88 ",
                   "encoding 0x%02x", encoding);
    }

    for (i = 0; i < sizeof(others); i++) {
        jpp_is_str(jpp_of_cie(1, "zR", &others[i], 1), "", "encoding 0x%02x",
                   others[i]);
    }

    /* numbers with a sign, and sizes without one */

    jpp_begin();
    encoding = 0x0a;
    jpp_cie(1, "zR", &encoding, 1);
    jpp_fde(encoding, 0x1100, 0x8001);
    jpp_is_str(jpp_functions(jpp_len), "1100+f00 ", "to the segment's end");

    /* addresses of 32 bits */

    jpp_begin();
    jpp_address_size = 4;
    encoding = 0x1b;
    jpp_cie(1, "zR", &encoding, 1);
    jpp_fde(encoding, 0x1100, 0x10);
    jpp_cie(1, "", NULL, 0);
    jpp_fde(JPP_NO_R, 0x1200, 0x10);
    encoding = 0x0c;
    jpp_cie(1, "zR", &encoding, 1);
    jpp_fde(encoding, 0x700001300, 0x10);
    jpp_is_str(jpp_functions(jpp_len), "1100+10 1200+10 1300+10 ",
               "a file of 32 bits");
}


JPP_TEST(jpp_eh_frame_test_cies)
{
    size_t   i;
    uint8_t  version;

    static const struct {
        const char   *augmentation;
        const char   *data;
        size_t        len;
    } rows[] = {
        { "zPLR", "\x9b....\x1b\x03", 7 }, { "zPR", "\x00........\x03", 10 },
        { "zPLR", "\x9b....\x1b\x05", 7 }, { "zRS", "\x03", 1 },
        { "zBR", "\x03", 1 }, { "zGR", "\x03", 1 }, { "zXR", "\x03", 1 },
        { "R", "", 0 }, { "eh", "", 0 }, { "zSSSSSSSSSSSSSSR", "\x03", 1 },
        { "zSSSSSSSSSSSSSSSR", "\x03", 1 }, { "zP", "\x05", 1 }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_note("%s (%s)", rows[i].augmentation,
                 jpp_of_cie(1, rows[i].augmentation, rows[i].data,
                            rows[i].len));
    }

    for (version = 0; version < 6; version++) {
        jpp_note("version %u (%s)", version,
                 jpp_of_cie(version, "zR", "\x03", 1));
    }

    jpp_shows_notes("what CIEs may be");

    /* of two CIEs each FDE has its own */

    jpp_begin();
    jpp_cie(1, "zR", "\x05", 1);
    jpp_fde(0x03, 0x1100, 0x10);
    jpp_cie(1, "zR", "\x03", 1);
    jpp_fde(0x03, 0x1200, 0x10);
    jpp_cie(1, "zR", "\x04", 1);
    jpp_fde(0x04, 0x1300, 0x10);
    jpp_is_str(jpp_functions(jpp_len), "1200+10 1300+10 ", "three CIEs");
}


/* What is cut, or damaged, ends it: the entries before that are read. */

JPP_TEST(jpp_eh_frame_test_damage)
{
    size_t       first, second, third, len, wrong;
    uint32_t     word;
    const char  *expected;

    jpp_begin();
    jpp_cie(1, "zR", "\x03", 1);
    first = jpp_len;
    jpp_fde(0x03, 0x1100, 0x10);
    second = jpp_len;
    jpp_fde(0x03, 0x1200, 0);
    third = jpp_len;
    jpp_fde(0x03, 0x1300, 1);

    for (len = 1, wrong = 0; len <= jpp_len; len++) {
        expected = len < second ? "" : len < jpp_len ? "1100+10 "
                                                     : "1100+10 1300+1 ";
        wrong += strcmp(jpp_functions(len), expected) != 0;
    }

    jpp_is_u64(wrong, 0, "cut at each of %zu bytes", jpp_len);

    word = (uint32_t) (third + 5);
    memcpy(jpp_bytes + third + 4, &word, 4);
    jpp_is_str(jpp_functions(jpp_len), "1100+10 ", "a CIE before the section");
    word = (uint32_t) (third + 4 - first);
    memcpy(jpp_bytes + third + 4, &word, 4);
    jpp_is_str(jpp_functions(jpp_len), "1100+10 ", "an FDE is no CIE");
    word = (uint32_t) (third + 4);
    memcpy(jpp_bytes + third + 4, &word, 4);
    jpp_is_str(jpp_functions(jpp_len), "1100+10 1300+1 ", "the first CIE");

    word = JPP_CFI_EXTENDED;
    memcpy(jpp_bytes + second, &word, 4);
    jpp_is_str(jpp_functions(jpp_len), "1100+10 ", "a length of 64 bits");
    memset(jpp_bytes + second, 0, 4);
    jpp_is_str(jpp_functions(jpp_len), "1100+10 ", "the end");
}

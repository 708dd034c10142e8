
/*
 * Call-frame information by its three files, each operation by itself: numbers
 * (jpp_mapped), entries and the rules of a row (jpp_cfi), and the value of an
 * expression (jpp_frame).  What compilers write is read elsewhere: here is what
 * they may write, at its bounds.
 */


#include "jpp_test_golden.h"
#include "jpp_test_main.h"
#include "jpp_unwind_ends.h"


#define JPP_BYTES(...)  { __VA_ARGS__ }, sizeof((uint8_t[]) { __VA_ARGS__ })

#define JPP_TEST_BYTES  96

/* the depth of an expression's stack, and operations */
#define JPP_TEST_DEPTH  16
#define JPP_TEST_STEPS  64

#define JPP_TEST_START  0x1000


typedef enum {
    JPP_UINT,
    JPP_SINT,
    JPP_ULEB,
    JPP_SLEB,
    JPP_POINTER
} jpp_number_kind_t;


static uintptr_t  jpp_stack[4] = { 1, 0x1122334455667788, 3, 4 };


static const struct {
    const char        *name;
    jpp_number_kind_t  kind;
    uint32_t           size;                 /* or the encoding */
    uint8_t            bytes[JPP_TEST_BYTES];
    uint32_t           len;
} jpp_numbers[] = {
    { "one byte", JPP_UINT, 1, JPP_BYTES(0xff, 7) },
    { "two", JPP_UINT, 2, JPP_BYTES(0xfe, 0xff) },
    { "four", JPP_UINT, 4, JPP_BYTES(1, 2, 3, 0xf4, 5) },
    { "eight", JPP_UINT, 8, JPP_BYTES(1, 0, 0, 0, 0, 0, 0, 0x80) },
    { "none", JPP_UINT, 2, JPP_BYTES(1) },
    { "a signed byte", JPP_SINT, 1, JPP_BYTES(0xfe) },
    { "a signed two", JPP_SINT, 2, JPP_BYTES(0, 0x80) },
    { "a signed four", JPP_SINT, 4, JPP_BYTES(0xff, 0xff, 0xff, 0x7f) },
    { "a signed eight", JPP_SINT, 8, JPP_BYTES(0xff, 0xff, 0xff, 0xff, 0xff,
      0xff, 0xff, 0xff) },
    { "a LEB128 of one byte", JPP_ULEB, 0, JPP_BYTES(0x7f, 1) },
    { "of two", JPP_ULEB, 0, JPP_BYTES(0x80, 1) },
    { "of nine", JPP_ULEB, 0, JPP_BYTES(0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
      0xff, 0xff, 0x7f) },
    { "of ten", JPP_ULEB, 0, JPP_BYTES(0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
      0xff, 0xff, 0xff, 1) },
    { "of eleven", JPP_ULEB, 0, JPP_BYTES(0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
      0x80, 0x80, 0x80, 0x80, 1) },
    { "one that is cut", JPP_ULEB, 0, JPP_BYTES(0x80) },
    { "a signed LEB128", JPP_SLEB, 0, JPP_BYTES(0x3f) },
    { "below zero", JPP_SLEB, 0, JPP_BYTES(0x40) },
    { "of two bytes", JPP_SLEB, 0, JPP_BYTES(0x80, 0x7f) },
    { "of nine, below zero", JPP_SLEB, 0, JPP_BYTES(0x80, 0x80, 0x80, 0x80,
      0x80, 0x80, 0x80, 0x80, 0x40) },
    { "of ten, below zero", JPP_SLEB, 0, JPP_BYTES(0x80, 0x80, 0x80, 0x80,
      0x80, 0x80, 0x80, 0x80, 0x80, 0x7f) },
    { "a pointer", JPP_POINTER, JPP_CFI_ABSPTR, JPP_BYTES(1, 2, 3, 4, 5, 6, 7,
      8) },
    { "of four bytes", JPP_POINTER, JPP_CFI_UDATA4, JPP_BYTES(0xff, 0xff, 0xff,
      0xff) },
    { "of four that are signed", JPP_POINTER, JPP_CFI_SDATA4, JPP_BYTES(0xff,
      0xff, 0xff, 0xff) },
    { "of two", JPP_POINTER, 2, JPP_BYTES(1, 2, 3) },
    { "one as a LEB128", JPP_POINTER, 1, JPP_BYTES(5) },
    { "one by the data", JPP_POINTER, JPP_CFI_DATAREL | JPP_CFI_SDATA4,
      JPP_BYTES(1, 0, 0, 0) }
};


JPP_TEST(jpp_test_numbers)
{
    size_t           i;
    uint64_t         value;
    jpp_cfi_bytes_t  b = { 0 };

    for (i = 0; i < sizeof(jpp_numbers) / sizeof(jpp_numbers[0]); i++) {
        b.pos = jpp_numbers[i].bytes;
        b.end = b.pos + jpp_numbers[i].len;
        b.is_damaged = false;
        value = 0;

        switch (jpp_numbers[i].kind) {

        case JPP_UINT:
            value = jpp_cfi_uint(&b, jpp_numbers[i].size);
            break;

        case JPP_SINT:
            value = (uint64_t) jpp_cfi_sint(&b, jpp_numbers[i].size);
            break;

        case JPP_ULEB:
            value = jpp_cfi_uleb(&b);
            break;

        case JPP_SLEB:
            value = (uint64_t) jpp_cfi_sleb(&b);
            break;

        case JPP_POINTER:
            value = jpp_cfi_pointer(&b, (uint8_t) jpp_numbers[i].size);
            break;
        }

        jpp_note("%s: %" PRId64 ", %zu bytes are left%s", jpp_numbers[i].name,
                 (int64_t) value, (size_t) (b.end - b.pos),
                 b.is_damaged ? ", damaged" : "");
    }

    jpp_shows_notes("numbers");
}


JPP_TEST(jpp_test_places)
{
    uint8_t          bytes[4] = { 0xfc, 0xff, 0xff, 0xff };
    jpp_cfi_bytes_t  b = { bytes, bytes + 4, false, false };

    jpp_is_u64(jpp_cfi_pointer(&b, JPP_CFI_PCREL | JPP_CFI_SDATA4),
               (uintptr_t) bytes - 4, "a pointer from its own place");

    b.pos = bytes;
    jpp_ok(jpp_cfi_skip(&b, 4) == bytes && b.pos == b.end && !b.is_damaged,
           "all bytes are passed over");
    jpp_ok(jpp_cfi_skip(&b, 0) == b.end && !b.is_damaged, "and none");
    b.pos = bytes;
    jpp_ok(jpp_cfi_skip(&b, 5) == NULL && b.is_damaged && b.pos == b.end,
           "but no more than there are");
}


/*
 * Entries: a CIE behind its length and its number, and a function's behind its
 * length, in an object whose table has one row.
 */

#define JPP_TEST_CIE   16
#define JPP_ABSOLUTE   0, 0x10, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0
#define JPP_SHORT      0, 0x10, 0, 0, 0x40, 0, 0, 0

static const struct {
    const char  *name;
    uint8_t      cie[JPP_TEST_BYTES];
    uint32_t     cie_len;
    uint8_t      function[JPP_TEST_BYTES];
    uint32_t     len;
} jpp_entries[] = {
    { "version 1", JPP_BYTES(1, 0, 1, 0x78, 16, 0x0c, 7, 8),
      JPP_BYTES(JPP_ABSOLUTE, 0) },
    { "version 3", JPP_BYTES(3, 0, 1, 0x78, 0x90, 0, 0x0c, 7, 8),
      JPP_BYTES(JPP_ABSOLUTE) },
    { "version 2", JPP_BYTES(2, 0, 1, 0x78, 16), JPP_BYTES(JPP_ABSOLUTE) },
    { "version 4", JPP_BYTES(4, 0, 1, 0x78, 16), JPP_BYTES(JPP_ABSOLUTE) },
    { "an encoding", JPP_BYTES(1, 'z', 'R', 0, 1, 0x78, 16, 1, 3, 0),
      JPP_BYTES(JPP_SHORT, 2, 9, 9, 0, 0) },
    { "all letters", JPP_BYTES(1, 'z', 'P', 'L', 'R', 'S', 'B', 'G', 0, 1,
      0x78, 16, 7, 3, 1, 2, 3, 4, 0x1b, 3), JPP_BYTES(JPP_SHORT, 0) },
    { "another letter", JPP_BYTES(1, 'z', 'X', 0, 1, 0x78, 16, 0),
      JPP_BYTES(JPP_ABSOLUTE, 0) },
    { "no length of items", JPP_BYTES(1, 'R', 0, 1, 0x78, 16, 1, 3),
      JPP_BYTES(JPP_SHORT) },
    { "items past the end", JPP_BYTES(1, 'z', 0, 1, 0x78, 16, 1),
      JPP_BYTES(JPP_ABSOLUTE, 0) },
    { "too few items", JPP_BYTES(1, 'z', 'R', 0, 1, 0x78, 16, 0, 3),
      JPP_BYTES(JPP_ABSOLUTE, 0) },
    { "no return address", JPP_BYTES(1, 0, 1, 0x78), JPP_BYTES(JPP_ABSOLUTE) },
    { "a function that is cut", JPP_BYTES(1, 0, 1, 0x78, 16), JPP_BYTES(0,
      0x10, 0, 0, 0, 0, 0, 0, 1) },
    { "one of no length", JPP_BYTES(1, 'z', 'R', 0, 1, 0x78, 16, 1, 3),
      JPP_BYTES(0, 0x10, 0, 0, 0, 0, 0, 0, 0) },
    { "its items past the end", JPP_BYTES(1, 'z', 'R', 0, 1, 0x78, 16, 1, 3),
      JPP_BYTES(JPP_SHORT, 1) }
};


static uint32_t  jpp_image[64];


/* Another length of the CIE, another number than 0, another length of the
   function, a way back, and its place in the table; 0 where it is right. */

typedef struct {
    const char  *name;
    uint32_t     cie_len;
    uint32_t     cie_number;
    uint32_t     len;
    uint32_t     back;
    int32_t      place;
} jpp_damage_t;

static const jpp_damage_t  jpp_damages[] = {
    { "as they are", 0, 0, 0, 0, 0 },
    { "a CIE to the end", 236, 0, 0, 0, 0 },
    { "a CIE past it", 237, 0, 0, 0, 0 },
    { "a CIE of 64 bits", UINT32_MAX, 0, 0, 0, 0 },
    { "a CIE that is a function", 0, 1, 0, 0, 0 },
    { "a function past the end", 0, 0, 4096, 0, 0 },
    { "a CIE at the start", 0, 0, 0, UINT32_MAX, 0 },
    { "a CIE before the start", 0, 0, 0, 4096, 0 },
    { "a function at the end", 0, 0, 0, 0, sizeof(jpp_image) },
    { "a function behind it", 0, 0, 0, 0, 4096 },
    { "a function before the start", 0, 0, 0, 0, -4 }
};


static bool
jpp_entry(size_t i, const jpp_damage_t *damage, jpp_cfi_entry_t *entry)
{
    size_t             at;
    int32_t            row[2];
    uint32_t           words[2];
    uint8_t           *image = (uint8_t *) jpp_image;
    jpp_mapped_code_t  object = { 0 };

    memset(image, 0, sizeof(jpp_image));

    words[0] = damage->cie_len != 0 ? damage->cie_len
                                    : 4 + jpp_entries[i].cie_len;
    words[1] = damage->cie_number;
    memcpy(image + JPP_TEST_CIE, words, 8);
    memcpy(image + JPP_TEST_CIE + 8, jpp_entries[i].cie,
           jpp_entries[i].cie_len);

    at = JPP_TEST_CIE + 8 + jpp_entries[i].cie_len;
    words[0] = damage->len != 0 ? damage->len : 4 + jpp_entries[i].len;
    words[1] = damage->back != 0 ? damage->back
                                 : (uint32_t) (at + 4 - JPP_TEST_CIE);
    memcpy(image + at, words, 8);
    memcpy(image + at + 8, jpp_entries[i].function, jpp_entries[i].len);

    row[0] = 0;
    row[1] = damage->place != 0 ? damage->place : (int32_t) at;

    object.low = image;
    object.high = image + sizeof(jpp_image);
    object.base = (uintptr_t) image;
    object.table = (const uint8_t *) row;
    object.count = 1;

    return jpp_cfi_entry_row(&object, 0, entry);
}


JPP_TEST(jpp_test_entries)
{
    size_t           i;
    jpp_cfi_entry_t  entry;

    for (i = 0; i < sizeof(jpp_entries) / sizeof(jpp_entries[0]); i++) {

        if (!jpp_entry(i, &jpp_damages[0], &entry)) {
            jpp_note("%s: no entry", jpp_entries[i].name);
            continue;
        }

        jpp_note_of(jpp_entries[i].name, entry, start, end, code_align,
                    data_align, return_column, encoding, is_signal);
        jpp_note("instructions: %zu of the CIE, %zu of its own",
                 (size_t) (entry.initial.end - entry.initial.pos),
                 (size_t) (entry.own.end - entry.own.pos));
    }

    for (i = 0; i < sizeof(jpp_damages) / sizeof(jpp_damages[0]); i++) {
        jpp_note("%s: %s", jpp_damages[i].name,
                 jpp_entry(0, &jpp_damages[i], &entry) ? "read" : "no entry");
    }

    jpp_shows_notes("entries, whole and damaged");
}


/* Rows of a function at JPP_TEST_START, at the address AT behind that; the CIE
   says CFA = r7 + 8, the return address at CFA - 8, and register 3 at CFA. */

static const struct {
    const char    *name;
    uint8_t        bytes[JPP_TEST_BYTES];
    uint32_t       len;
    uint32_t       at;
} jpp_rows[] = {
    { "nothing", JPP_BYTES(0), 0 },
    { "an offset", JPP_BYTES(0x83, 2), 0 },
    { "one extended", JPP_BYTES(0x05, 16, 3), 0 },
    { "one above", JPP_BYTES(0x11, 3, 0x7f), 0 },
    { "one of gcc's", JPP_BYTES(0x2f, 3, 2), 0 },
    { "a value", JPP_BYTES(0x14, 3, 1), 0 },
    { "a value above", JPP_BYTES(0x15, 3, 0x7e), 0 },
    { "lost", JPP_BYTES(0x07, 3), 0 },
    { "the same", JPP_BYTES(0x08, 3), 0 },
    { "in a register", JPP_BYTES(0x09, 3, 12), 0 },
    { "restored", JPP_BYTES(0x07, 3, 0xc3), 0 },
    { "restored, extended", JPP_BYTES(0x07, 16, 0x06, 16), 0 },
    { "of a vector", JPP_BYTES(0x05, 17, 3, 0x06, 17, 0x07, 33), 0 },
    { "a CFA", JPP_BYTES(0x0c, 6, 16), 0 },
    { "a CFA below", JPP_BYTES(0x12, 6, 0x02), 0 },
    { "another register", JPP_BYTES(0x0d, 15), 0 },
    { "another offset", JPP_BYTES(0x0e, 0x80, 1), 0 },
    { "another one below", JPP_BYTES(0x13, 0x7d), 0 },
    { "a register after an expression", JPP_BYTES(0x0f, 1, 0x30, 0x0c, 6, 1), 0
      },
    { "arguments", JPP_BYTES(0x2e, 0x80, 1, 0x0e, 16), 0 },
    { "a row later", JPP_BYTES(0x42, 0x0e, 16), 3 },
    { "the row before", JPP_BYTES(0x42, 0x0e, 16), 4 },
    { "by a byte", JPP_BYTES(0x02, 0x80, 0x0e, 16), 256 },
    { "by two", JPP_BYTES(0x03, 0, 1, 0x0e, 16), 512 },
    { "by two, before", JPP_BYTES(0x03, 0, 1, 0x0e, 16), 511 },
    { "by four", JPP_BYTES(0x04, 0, 0, 1, 0, 0x0e, 16), 0x20000 },
    { "two steps", JPP_BYTES(0x41, 0x0e, 16, 0x41, 0x0e, 24), 3 },
    { "at an address", JPP_BYTES(0x01, 4, 0x10, 0, 0, 0x0e, 16), 4 },
    { "at an address, before", JPP_BYTES(0x01, 4, 0x10, 0, 0, 0x0e, 16), 3 },
    { "remembered four deep", JPP_BYTES(0x0a, 0x0e, 16, 0x0a, 0x0a, 0x0a, 0x0e,
      32, 0x0b, 0x0b, 0x0b), 0 }
};


static const struct {
    const char  *name;
    uint8_t      bytes[JPP_TEST_BYTES];
    uint32_t     len;
} jpp_no_rows[] = {
    { "a register after an expression", JPP_BYTES(0x0f, 1, 0x30, 0x0d, 6) },
    { "an offset after one", JPP_BYTES(0x0f, 1, 0x30, 0x0e, 6) },
    { "one below after one", JPP_BYTES(0x0f, 1, 0x30, 0x13, 6) },
    { "an expression that is cut", JPP_BYTES(0x0f, 2, 0x30) },
    { "a CFA by no register", JPP_BYTES(0x0c, 16, 8) },
    { "an instruction between the known ones", JPP_BYTES(0x17, 1) },
    { "one behind them", JPP_BYTES(0x30, 1) },
    { "five remembered", JPP_BYTES(0x0a, 0x0a, 0x0a, 0x0a, 0x0a) },
    { "one recalled too many", JPP_BYTES(0x0a, 0x0b, 0x0b) }
};


static bool
jpp_row(const uint8_t *bytes, uint32_t len, uint32_t at, jpp_cfi_row_t *row)
{
    jpp_cfi_entry_t  entry = { 0 };

    static const uint8_t  cie[] = { 0x0c, 7, 8, 0x90, 1, 0x83, 0, 0x3f };

    entry.start = JPP_TEST_START;
    entry.code_align = 2;
    entry.data_align = -8;
    entry.encoding = JPP_CFI_UDATA4;
    entry.initial.pos = cie;
    entry.initial.end = cie + sizeof(cie) - (bytes != NULL);
    entry.own.pos = bytes;
    entry.own.end = bytes != NULL ? bytes + len : NULL;

    return jpp_cfi_row_at(&entry, JPP_TEST_START + at, row);
}


JPP_TEST(jpp_test_rows)
{
    size_t         i;
    jpp_cfi_row_t  row;

    static const char  *hows[] = {
        [JPP_CFI_SAME] = "same", [JPP_CFI_UNDEFINED] = "lost",
        [JPP_CFI_AT] = "at", [JPP_CFI_IS] = "is", [JPP_CFI_REGISTER] = "in r"
    };

    for (i = 0; i < sizeof(jpp_rows) / sizeof(jpp_rows[0]); i++) {

        if (!jpp_ok(jpp_row(jpp_rows[i].bytes, jpp_rows[i].len,
                            jpp_rows[i].at, &row), "%s", jpp_rows[i].name))
        {
            continue;
        }

        jpp_note("%s: CFA%s r%d %+" PRId64 ", r3 %s %" PRId64 ", r16 %s %"
                 PRId64, jpp_rows[i].name,
                 row.is_cfa_expression ? " by an expression" : "",
                 (int) row.cfa_register, row.cfa_value, hows[row.how[3]],
                 row.values[3], hows[row.how[16]], row.values[16]);
    }

    jpp_shows_notes("rows: the CFA, and where registers are from there");

    for (i = 0; i < sizeof(jpp_no_rows) / sizeof(jpp_no_rows[0]); i++) {
        jpp_ok(!jpp_row(jpp_no_rows[i].bytes, jpp_no_rows[i].len, 0, &row),
               "%s: no row", jpp_no_rows[i].name);
    }

    jpp_ok(!jpp_row(NULL, 0, 0, &row), "nor of a CIE that is not known");
}


JPP_TEST(jpp_test_row_expressions)
{
    jpp_cfi_row_t  row;

    static const uint8_t  bytes[] = {
        0x0f, 1, 0x31, 0x10, 3, 1, 0x32, 0x16, 6, 1, 0x33
    };

    jpp_ok(jpp_row(bytes, sizeof(bytes), 0, &row) && row.is_cfa_expression
           && row.cfa_value == (int64_t) (uintptr_t) (bytes + 1),
           "a CFA by an expression");
    jpp_ok(row.how[3] == JPP_CFI_AT_EXPRESSION
           && row.values[3] == (int64_t) (uintptr_t) (bytes + 5),
           "a register where one says");
    jpp_ok(row.how[6] == JPP_CFI_IS_EXPRESSION
           && row.values[6] == (int64_t) (uintptr_t) (bytes + 9),
           "and one that is its value");
}


/* What endless instructions cost is bounded: as many as these, and no more. */

JPP_TEST(jpp_test_row_steps)
{
    jpp_cfi_row_t  row;

    static uint8_t  bytes[8192 - 3 + 1];

    jpp_ok(jpp_row(bytes, sizeof(bytes) - 1, 0, &row), "%zu instructions",
           sizeof(bytes) - 1);
    jpp_ok(!jpp_row(bytes, sizeof(bytes), 0, &row), "but not one more");
}


static const struct {
    const char        *name;
    uint8_t            bytes[JPP_TEST_BYTES];
    uint32_t           len;
} jpp_values[] = {
    { "the CFA", JPP_BYTES(0x96) },
    { "zero", JPP_BYTES(0x30) },
    { "31", JPP_BYTES(0x4f) },
    { "an address", JPP_BYTES(0x03, 1, 2, 3, 4, 5, 6, 7, 8) },
    { "1u", JPP_BYTES(0x08, 0xff) },
    { "1s", JPP_BYTES(0x09, 0xff) },
    { "2u", JPP_BYTES(0x0a, 0xff, 0xff) },
    { "2s", JPP_BYTES(0x0b, 0xfe, 0xff) },
    { "4u", JPP_BYTES(0x0c, 0xff, 0xff, 0xff, 0xff) },
    { "4s", JPP_BYTES(0x0d, 0xfd, 0xff, 0xff, 0xff) },
    { "8u", JPP_BYTES(0x0e, 1, 0, 0, 0, 0, 0, 0, 0x80) },
    { "8s", JPP_BYTES(0x0f, 2, 0, 0, 0, 0, 0, 0, 0x80) },
    { "u", JPP_BYTES(0x10, 0x80, 1) },
    { "s", JPP_BYTES(0x11, 0x7f) },
    { "a constant that is cut", JPP_BYTES(0x0a, 1) },
    { "twice", JPP_BYTES(0x33, 0x12, 0x22) },
    { "dropped", JPP_BYTES(0x33, 0x34, 0x13) },
    { "over", JPP_BYTES(0x35, 0x32, 0x14, 0x1c, 0x1c) },
    { "swapped", JPP_BYTES(0x35, 0x32, 0x16, 0x1c) },
    { "a word of the stack", JPP_BYTES(0x77, 8, 0x06) },
    { "its last", JPP_BYTES(0x77, 24, 0x06) },
    { "one behind it", JPP_BYTES(0x77, 25, 0x06) },
    { "one before it", JPP_BYTES(0x77, 0x7f, 0x06) },
    { "negative", JPP_BYTES(0x33, 0x1f) },
    { "not", JPP_BYTES(0x33, 0x20) },
    { "more", JPP_BYTES(0x33, 0x23, 0x80, 1) },
    { "and", JPP_BYTES(0x36, 0x33, 0x1a) },
    { "minus", JPP_BYTES(0x36, 0x33, 0x1c) },
    { "times", JPP_BYTES(0x36, 0x33, 0x1e) },
    { "or", JPP_BYTES(0x36, 0x33, 0x21) },
    { "plus", JPP_BYTES(0x36, 0x33, 0x22) },
    { "left", JPP_BYTES(0x33, 0x08, 63, 0x24) },
    { "left by 64", JPP_BYTES(0x33, 0x08, 64, 0x24) },
    { "right", JPP_BYTES(0x09, 0xff, 0x08, 63, 0x25) },
    { "right by 64", JPP_BYTES(0x33, 0x08, 64, 0x25) },
    { "right with its sign", JPP_BYTES(0x09, 0xf8, 0x31, 0x26) },
    { "by 64", JPP_BYTES(0x09, 0xf8, 0x08, 64, 0x26) },
    { "one but not both", JPP_BYTES(0x36, 0x33, 0x27) },
    { "equal", JPP_BYTES(0x33, 0x33, 0x29) },
    { "or not", JPP_BYTES(0x33, 0x34, 0x29) },
    { "at least", JPP_BYTES(0x33, 0x33, 0x2a) },
    { "at least, signed", JPP_BYTES(0x09, 0xff, 0x33, 0x2a) },
    { "above", JPP_BYTES(0x33, 0x09, 0xff, 0x2b) },
    { "not above", JPP_BYTES(0x33, 0x33, 0x2b) },
    { "at most", JPP_BYTES(0x33, 0x33, 0x2c) },
    { "at most, signed", JPP_BYTES(0x33, 0x09, 0xff, 0x2c) },
    { "below", JPP_BYTES(0x09, 0xff, 0x33, 0x2d) },
    { "not below", JPP_BYTES(0x33, 0x33, 0x2d) },
    { "different", JPP_BYTES(0x33, 0x34, 0x2e) },
    { "or the same", JPP_BYTES(0x33, 0x33, 0x2e) },
    { "a register", JPP_BYTES(0x73, 0x7f) },
    { "the first one", JPP_BYTES(0x70, 1) },
    { "one by its number", JPP_BYTES(0x92, 3, 1) },
    { "where it is", JPP_BYTES(0x80, 2) },
    { "a register that is not known", JPP_BYTES(0x74, 0) },
    { "one of a vector", JPP_BYTES(0x92, 17, 0) },
    { "the last with a letter", JPP_BYTES(0x8f, 0) },
    { "nothing below the CFA", JPP_BYTES(0x13, 0x13) },
    { "nothing to read by", JPP_BYTES(0x13, 0x06) },
    { "a division", JPP_BYTES(0x33, 0x31, 0x1b) },
    { "its rest", JPP_BYTES(0x33, 0x31, 0x1d) },
    { "a branch", JPP_BYTES(0x31, 0x28, 0, 0) },
    { "a jump", JPP_BYTES(0x2f, 0, 0) },
    { "before the first", JPP_BYTES(0x31, 0x31, 0x19) },
    { "a register of a piece", JPP_BYTES(0x50) },
    { "before the registers", JPP_BYTES(0x6f, 0) },
    { "behind them", JPP_BYTES(0x90, 1) }
};


static jpp_unwind_end_t
jpp_value(const uint8_t *bytes, uint32_t len, bool has_cfa, uintptr_t *value)
{
    uint8_t      text[1 + 2 * JPP_TEST_BYTES];
    jpp_frame_t  frame = { 0 };

    frame.at.pc = 4711;
    frame.at.registers[0] = 200;
    frame.at.registers[3] = 100;
    frame.at.registers[JPP_CFI_RSP] = (uintptr_t) jpp_stack;
    frame.at.known = 1 | 1 << 3 | 1 << JPP_CFI_RSP;
    frame.stack.low = (uintptr_t) jpp_stack;
    frame.stack.high = (uintptr_t) (jpp_stack + 4);

    text[0] = (uint8_t) len;
    memcpy(text + 1, bytes, len);

    return jpp_cfi_expr_value((int64_t) (uintptr_t) text, &frame, has_cfa,
                              5000, value);
}


JPP_TEST(jpp_test_values)
{
    size_t            i;
    uintptr_t         value;
    jpp_unwind_end_t  end;

    for (i = 0; i < sizeof(jpp_values) / sizeof(jpp_values[0]); i++) {
        end = jpp_value(jpp_values[i].bytes, jpp_values[i].len, true, &value);

        if (end == JPP_UNWIND_ON) {
            jpp_note("%s: %" PRId64, jpp_values[i].name, (int64_t) value);

        } else {
            jpp_note("%s: %s", jpp_values[i].name, jpp_unwind_end_name(end));
        }
    }

    jpp_shows_notes("expressions: their values, or why there is none");
}


JPP_TEST(jpp_test_value_bounds)
{
    uint32_t   i;
    uint8_t    bytes[JPP_TEST_BYTES];
    uintptr_t  value;

    memset(bytes, 0x31, sizeof(bytes));

    jpp_ok(jpp_value(bytes, JPP_TEST_DEPTH, false, &value) == JPP_UNWIND_ON
           && value == 1, "%u values", JPP_TEST_DEPTH);
    jpp_is_u64(jpp_value(bytes, JPP_TEST_DEPTH, true, &value), JPP_UNWIND_ODD,
               "not with the CFA");
    jpp_is_u64(jpp_value(bytes, 0, false, &value), JPP_UNWIND_ODD, "none");

    for (i = 0; i < JPP_TEST_STEPS; i++) {
        bytes[i + 1] = 0x96;
    }

    jpp_is_u64(jpp_value(bytes, JPP_TEST_STEPS, false, &value), JPP_UNWIND_ON,
               "%u operations", JPP_TEST_STEPS);
    jpp_is_u64(jpp_value(bytes, JPP_TEST_STEPS + 1, false, &value),
               JPP_UNWIND_ODD, "but not one more");
}


/*
 * Parses the entries of .eh_frame, in a file or in this process.  The grammar
 * (Linux Standard Base, "Exception Frames"; DWARF 5, 6.4.1):
 *
 *     section  := entry* [ u32 zero ]
 *     entry    := u32 length, body of so many bytes
 *     body     := u32 id, ( cie where id is 0 | fde else )
 *     cie      := u8 version, augmentation NUL,
 *                 uleb code_align, sleb data_align,
 *                 return register (u8 where version is 1, uleb where 3),
 *                 [ uleb length, item*  where augmentation starts with "z" ],
 *                 instructions
 *     item     := one per letter after the "z":
 *                 "R": u8 encoding (of the addresses in FDEs)
 *                 "L": u8 encoding (of a pointer to the LSDA)
 *                 "P": u8 encoding, pointer so encoded (personality routine)
 *                 "S", "B", "G": nothing
 *     fde      := start so encoded, size in the same format, ...
 *
 * The id of an FDE is the distance from the id itself back to its CIE.  Length
 * 0xffffffff would announce a length of 64 bits; nobody writes that here.
 */


#include "jpp_elf.h"


#define JPP_CFI_IS_LITTLE  (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)


const uint8_t *
jpp_cfi_skip(jpp_cfi_bytes_t *b, uint64_t n)
{
    const uint8_t  *start;

    if ((uint64_t) (b->end - b->pos) < n) {
        b->is_damaged = true;
        b->pos = b->end;
        return NULL;
    }

    start = b->pos;
    b->pos += n;

    return start;
}


/* The byte order is ours, see jpp_elf_read.c. */

uint64_t
jpp_cfi_uint(jpp_cfi_bytes_t *b, uint32_t size)
{
    uint32_t        i;
    uint64_t        value;
    const uint8_t  *p;

    value = 0;
    p = jpp_cfi_skip(b, size);

    for (i = 0; p != NULL && i < size; i++) {
        value |= (uint64_t) p[i] << 8 * (JPP_CFI_IS_LITTLE ? i : size - 1 - i);
    }

    return value;
}


int64_t
jpp_cfi_sint(jpp_cfi_bytes_t *b, uint32_t size)
{
    uint32_t  unused;

    unused = 64 - 8 * size;

    return (int64_t) (jpp_cfi_uint(b, size) << unused) >> unused;
}


uint64_t
jpp_cfi_leb(jpp_cfi_bytes_t *b, bool is_signed)
{
    uint8_t   byte;
    uint32_t  shift;
    uint64_t  value;

    value = 0;

    for (shift = 0; shift < 64; shift += 7) {

        byte = (uint8_t) jpp_cfi_uint(b, 1);
        value |= (uint64_t) (byte & 0x7f) << shift;

        if ((byte & 0x80) == 0) {

            if (is_signed && (byte & 0x40) != 0 && shift < 57) {
                value |= UINT64_MAX << (shift + 7);
            }

            return value;
        }
    }

    b->is_damaged = true;

    return 0;
}


uintptr_t
jpp_cfi_pointer(jpp_cfi_bytes_t *b, uint8_t encoding)
{
    uint32_t   size;
    uint64_t   value;
    uintptr_t  base;

    /* by the low bits of the format: pointer, LEB128 (not used), 2, 4, 8 */
    static const uint8_t  sizes[] = { 8, 0, 2, 4, 8, 0, 0, 0 };

    base = (uintptr_t) b->pos;
    size = b->is_short && (encoding & 7) == 0 ? 4 : sizes[encoding & 7];

    if (size == 0 || ((encoding & 0xf0) != 0
                      && (encoding & 0xf0) != JPP_CFI_PCREL))
    {
        b->is_damaged = true;
        return 0;
    }

    value = (encoding & JPP_CFI_SIGNED) != 0
            ? (uint64_t) jpp_cfi_sint(b, size) : jpp_cfi_uint(b, size);

    return (uintptr_t) ((encoding & 0xf0) == JPP_CFI_PCREL
                        ? base + value : value);
}


bool
jpp_cfi_read_body(jpp_cfi_bytes_t *section, jpp_cfi_bytes_t *body)
{
    uint64_t  len;

    *body = *section;

    len = jpp_cfi_uint(body, 4);

    if (body->is_damaged
        || len == 0
        || len == JPP_CFI_EXTENDED
        || len > (uint64_t) (body->end - body->pos))
    {
        return false;
    }

    body->end = body->pos + len;
    section->pos = body->end;

    return true;
}


static bool
jpp_cfi_augmentation(jpp_cfi_bytes_t *b, const char *letter,
    jpp_cfi_entry_t *entry)
{
    uint64_t         len;
    jpp_cfi_bytes_t  items;

    len = jpp_cfi_uleb(b);
    items = *b;
    (void) jpp_cfi_skip(b, len);
    items.end = b->pos;

    if (b->is_damaged) {
        return false;
    }

    for ( /* void */ ; *letter != '\0'; letter++) {

        switch (*letter) {

        case 'R':
            entry->encoding = (uint8_t) jpp_cfi_uint(&items, 1);
            break;

        case 'L':
            (void) jpp_cfi_uint(&items, 1);
            break;

        case 'P':

            /* only its size counts */

            (void) jpp_cfi_pointer(&items, (uint8_t) jpp_cfi_uint(&items, 1)
                                           & JPP_CFI_FORMAT);
            break;

        case 'S':
            entry->is_signal = true;
            break;

        case 'B':
        case 'G':
            break;

        default:
            return false;
        }
    }

    return !items.is_damaged;
}


bool
jpp_cfi_read_cie(jpp_cfi_bytes_t *section, jpp_cfi_entry_t *entry)
{
    uint8_t          version;
    uint32_t         i;
    const char      *letter;
    jpp_cfi_bytes_t  b;

    memset(entry, 0, sizeof(jpp_cfi_entry_t));

    if (!jpp_cfi_read_body(section, &b) || jpp_cfi_uint(&b, 4) != 0) {
        return false;
    }

    version = (uint8_t) jpp_cfi_uint(&b, 1);

    if (version != 1 && version != 3) {
        return false;
    }

    letter = (const char *) b.pos;

    for (i = 0; jpp_cfi_uint(&b, 1) != 0; i++) {
        if (i == JPP_CFI_AUGMENTATION) {
            return false;
        }
    }

    entry->code_align = jpp_cfi_uleb(&b);
    entry->data_align = jpp_cfi_sleb(&b);
    entry->return_column = version == 1 ? jpp_cfi_uint(&b, 1)
                                        : jpp_cfi_uleb(&b);
    entry->encoding = JPP_CFI_ABSPTR;

    if (b.is_damaged) {
        return false;
    }

    entry->is_augmented = *letter == 'z';

    if (entry->is_augmented ? !jpp_cfi_augmentation(&b, letter + 1, entry)
                            : *letter != '\0')
    {
        return false;
    }

    entry->initial = b;

    return true;
}


bool
jpp_cfi_read_fde(jpp_cfi_bytes_t *body, jpp_cfi_entry_t *entry)
{
    /* the size has the format of the start, and nothing is added to it */

    entry->start = jpp_cfi_pointer(body, entry->encoding);
    entry->end = entry->start
                 + jpp_cfi_pointer(body, entry->encoding & JPP_CFI_FORMAT
                                         & ~JPP_CFI_SIGNED);

    if (entry->is_augmented) {
        (void) jpp_cfi_skip(body, jpp_cfi_uleb(body));
    }

    entry->own = *body;

    return !body->is_damaged && entry->end > entry->start;
}

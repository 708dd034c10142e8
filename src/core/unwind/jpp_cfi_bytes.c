
#include <string.h>

#include "jpp_cfi_bytes.h"


uint64_t
jpp_cfi_uint(jpp_cfi_bytes_t *b, uint32_t size)
{
    uint16_t  u16;
    uint32_t  u32;
    uint64_t  u64;

    if ((size_t) (b->end - b->pos) < size) {
        b->is_damaged = true;
        b->pos = b->end;
        return 0;
    }

    switch (size) {

    case 1:
        u64 = *b->pos;
        break;

    case 2:
        memcpy(&u16, b->pos, 2);
        u64 = u16;
        break;

    case 4:
        memcpy(&u32, b->pos, 4);
        u64 = u32;
        break;

    default:
        memcpy(&u64, b->pos, 8);
        break;
    }

    b->pos += size;

    return u64;
}


int64_t
jpp_cfi_sint(jpp_cfi_bytes_t *b, uint32_t size)
{
    uint32_t  unused;

    unused = 64 - 8 * size;

    return (int64_t) (jpp_cfi_uint(b, size) << unused) >> unused;
}


static uint64_t
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


uint64_t
jpp_cfi_uleb(jpp_cfi_bytes_t *b)
{
    return jpp_cfi_leb(b, false);
}


int64_t
jpp_cfi_sleb(jpp_cfi_bytes_t *b)
{
    return (int64_t) jpp_cfi_leb(b, true);
}


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


uintptr_t
jpp_cfi_pointer(jpp_cfi_bytes_t *b, uint8_t encoding)
{
    uint32_t   size;
    uint64_t   value;
    uintptr_t  base;

    /* by the low bits of the format: pointer, LEB128 (not used), 2, 4, 8 */
    static const uint8_t  sizes[] = { 8, 0, 2, 4, 8, 0, 0, 0 };

    base = (uintptr_t) b->pos;
    size = sizes[encoding & 7];

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

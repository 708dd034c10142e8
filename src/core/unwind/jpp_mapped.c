
/*
 * The header of the table (Linux Standard Base, ".eh_frame_hdr"):
 *
 *     hdr    := u8 version 1, u8 encoding of the pointer, u8 of the count,
 *               u8 of the table, pointer to .eh_frame, count, pair*
 *     pair   := start, FDE: both i32, relative to hdr
 */


#include "jpp_mapped.h"


#define JPP_MAPPED_HEADER   4
#define JPP_MAPPED_PAIR     8

/* ret, and the prefixes that assembly gives it */
#define JPP_MAPPED_RET      0xc3
#define JPP_MAPPED_REP      0xf3
#define JPP_MAPPED_BND      0xf2


uint64_t
jpp_cfi_uint(jpp_cfi_bytes_t *b, uint32_t size)
{
    uint32_t  i;
    uint64_t  value;

    value = 0;

    if ((size_t) (b->end - b->pos) < size) {
        b->is_damaged = true;
        b->pos = b->end;
        return 0;
    }

    for (i = 0; i < size; i++) {
        value |= (uint64_t) *b->pos++ << 8 * i;
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


const jpp_segment_t *
jpp_mapped_segment(const jpp_mapped_object_t *object, uintptr_t address)
{
    uint32_t              i;
    const jpp_segment_t  *segment;

    for (i = 0; i < object->n; i++) {
        segment = &object->segments[i];

        if (address >= segment->start && address < segment->end) {
            return segment;
        }
    }

    return NULL;
}


static void
jpp_mapped_frames(jpp_mapped_code_t *code, const jpp_mapped_object_t *object)
{
    uint8_t               header[JPP_MAPPED_HEADER];
    uint32_t              i;
    uintptr_t             frames;
    jpp_cfi_bytes_t       b;
    const jpp_segment_t  *segment;

    code->table = NULL;
    code->count = 0;
    code->base = object->frames;
    code->low = NULL;
    code->high = NULL;

    segment = jpp_mapped_segment(object, object->frames);
    if (object->frames == 0 || segment == NULL || !segment->is_readable) {
        return;
    }

    b.pos = (const uint8_t *) object->frames;
    b.end = (const uint8_t *) segment->end;
    b.is_damaged = false;

    for (i = 0; i < JPP_MAPPED_HEADER; i++) {
        header[i] = (uint8_t) jpp_cfi_uint(&b, 1);
    }

    frames = jpp_cfi_pointer(&b, header[1]);
    code->count = jpp_cfi_uint(&b, 4);
    code->table = b.pos;
    segment = jpp_mapped_segment(object, frames);

    if (b.is_damaged
        || header[0] != 1
        || header[2] != JPP_CFI_UDATA4
        || header[3] != (JPP_CFI_DATAREL | JPP_CFI_SDATA4)
        || code->count > (uint64_t) (b.end - b.pos) / JPP_MAPPED_PAIR
        || segment == NULL
        || !segment->is_readable)
    {
        code->count = 0;
        return;
    }

    code->low = (const uint8_t *) segment->start;
    code->high = (const uint8_t *) segment->end;
}


bool
jpp_mapped_add(jpp_mapped_t *objects, const jpp_mapped_object_t *object)
{
    uint32_t              i, n;
    jpp_mapped_code_t     code;
    const jpp_segment_t  *segment;

    for (i = 0; i < object->n; i++) {
        segment = &object->segments[i];

        if (!segment->is_executable
            || segment->end <= segment->start
            || jpp_mapped_find(objects, segment->start) != NULL)
        {
            continue;
        }

        n = objects->n;

        if (n == JPP_MAPPED_MAX) {
            return false;
        }

        code.start = segment->start;
        code.end = segment->end;
        code.is_readable = segment->is_readable;
        jpp_mapped_frames(&code, object);

        objects->objects[n] = code;
        __atomic_store_n(&objects->n, n + 1, __ATOMIC_RELEASE);
    }

    return true;
}


/* There are tens of objects, and rules are cached: a search is rare. */

const jpp_mapped_code_t *
jpp_mapped_find(const jpp_mapped_t *objects, uintptr_t address)
{
    uint32_t                  i, n;
    const jpp_mapped_code_t  *object;

    n = __atomic_load_n(&objects->n, __ATOMIC_ACQUIRE);

    for (i = 0; i < n; i++) {
        object = &objects->objects[i];

        if (address - object->start < object->end - object->start) {
            return object;
        }
    }

    return NULL;
}


bool __attribute__((no_sanitize("address")))
jpp_mapped_returns(const jpp_mapped_code_t *code, uintptr_t address)
{
    const uint8_t  *p, *end;

    p = (const uint8_t *) address;
    end = (const uint8_t *) code->end;

    if (!code->is_readable) {
        return false;
    }

    if (end - p > 1 && (*p == JPP_MAPPED_REP || *p == JPP_MAPPED_BND)) {
        p++;
    }

    return *p == JPP_MAPPED_RET;
}

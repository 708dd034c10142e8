
/*
 * The table of loaded objects that can be unwound through.
 *
 * The header of the table (Linux Standard Base, ".eh_frame_hdr"):
 *
 *     hdr    := u8 version 1, u8 encoding of the pointer, u8 of the count,
 *               u8 of the table, pointer to .eh_frame, count, pair*
 *     pair   := start, FDE: both i32, relative to hdr
 */


#include "jpp_unwind.h"


#define JPP_MAPPED_HEADER   4
#define JPP_MAPPED_PAIR     8

/* ret, and the prefixes that assembly gives it */
#define JPP_MAPPED_RET      0xc3
#define JPP_MAPPED_REP      0xf3
#define JPP_MAPPED_BND      0xf2


const jpp_segment_t *
jpp_mapped_segment(const jpp_mapped_object_t *object, uintptr_t address)
{
    const jpp_segment_t  *segment;

    jpp_each(segment, object->segments, object->n) {
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

    memset(&b, 0, sizeof(jpp_cfi_bytes_t));

    b.pos = (const uint8_t *) object->frames;
    b.end = (const uint8_t *) segment->end;

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
    uint32_t              n;
    jpp_mapped_code_t     code;
    const jpp_segment_t  *segment;

    jpp_each(segment, object->segments, object->n) {

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
        jpp_atomic_set(&objects->n, n + 1);
    }

    return true;
}


/* There are tens of objects, and rules are cached: a search is rare. */

const jpp_mapped_code_t *
jpp_mapped_find(const jpp_mapped_t *objects, uintptr_t address)
{
    uint32_t                  n;
    const jpp_mapped_code_t  *object;

    n = jpp_atomic_get(&objects->n);

    jpp_each(object, objects->objects, n) {
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

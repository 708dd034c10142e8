
/*
 * An object with call-frame information written by hand: .eh_frame_hdr,
 * .eh_frame with a CIE and up to four functions.  Its code is nowhere: the
 * functions are at JPP_CFI_CODE, 2 * JPP_CFI_CODE, ... behind the image, and
 * JPP_CFI_SIZE long.
 */


#ifndef _JPP_TEST_CFI_H_INCLUDED_
#define _JPP_TEST_CFI_H_INCLUDED_


#include "jpp_unwind.h"


#define JPP_CFI_CODE    0x10000
#define JPP_CFI_SIZE    0x1000
#define JPP_CFI_FRAMES  64          /* where .eh_frame starts */

/* Bytes, and how many. */
#define JPP_BYTES(...)                                                        \
    (const uint8_t []) { __VA_ARGS__ },                                       \
    sizeof((const uint8_t []) { __VA_ARGS__ })


typedef struct {
    uint8_t    data[1024];
    size_t     n;
    uint32_t   functions;
    size_t     cie;
} jpp_cfi_image_t;


static inline void
jpp_cfi_put(jpp_cfi_image_t *image, size_t at, uint32_t value)
{
    memcpy(image->data + at, &value, 4);
}


/* An entry of LEN bytes, filled up with no-operations. */
static inline void
jpp_cfi_append(jpp_cfi_image_t *image, const uint8_t *bytes, size_t len)
{
    memset(image->data + image->n + 4, 0, len + 8);
    memcpy(image->data + image->n + 4, bytes, len);
    len = (len + 7) & ~(size_t) 3;
    jpp_cfi_put(image, image->n, (uint32_t) len);
    image->n += 4 + len;
}


static inline void
jpp_cfi_cie(jpp_cfi_image_t *image, bool is_signal)
{
    /* alignments 1 and -8; CFA = rsp + 8, the return address below it */

    static const uint8_t  plain[] = {
        0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1
    };
    static const uint8_t  of_signal[] = {
        0, 0, 0, 0, 1, 'z', 'R', 'S', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8,
        0x90, 1
    };

    image->cie = image->n;

    if (is_signal) {
        jpp_cfi_append(image, of_signal, sizeof(of_signal));

    } else {
        jpp_cfi_append(image, plain, sizeof(plain));
    }
}


static inline void
jpp_cfi_image(jpp_cfi_image_t *image)
{
    static const uint8_t  header[] = { 1, 0x1b, 0x03, 0x3b };

    memset(image, 0, sizeof(*image));
    memcpy(image->data, header, sizeof(header));
    jpp_cfi_put(image, 4, JPP_CFI_FRAMES - 4);
    image->n = JPP_CFI_FRAMES;
    jpp_cfi_cie(image, false);
}


/* A function with INSTRUCTIONS, of the last CIE. */
static inline void
jpp_cfi_function(jpp_cfi_image_t *image, const uint8_t *instructions,
    size_t len)
{
    size_t    fde;
    uint8_t   bytes[128];
    uint32_t  code;

    fde = image->n;
    code = (image->functions + 1) * JPP_CFI_CODE;

    memset(bytes, 0, 13);
    memcpy(bytes + 13, instructions, len);
    jpp_cfi_append(image, bytes, 13 + len);

    jpp_cfi_put(image, fde + 4, (uint32_t) (fde + 4 - image->cie));
    jpp_cfi_put(image, fde + 8, (uint32_t) (code - (fde + 8)));
    jpp_cfi_put(image, fde + 12, JPP_CFI_SIZE);

    jpp_cfi_put(image, 12 + 8 * image->functions, code);
    jpp_cfi_put(image, 16 + 8 * image->functions, (uint32_t) fde);
    jpp_cfi_put(image, 8, ++image->functions);
}


/* OBJECT becomes IMAGE's N bytes, and five functions' room of code. */
static inline void
jpp_cfi_object(const uint8_t *image, size_t n, jpp_mapped_object_t *object)
{
    memset(object, 0, sizeof(*object));

    object->n = 2;
    object->frames = (uintptr_t) image;
    object->segments[0].start = (uintptr_t) image;
    object->segments[0].end = (uintptr_t) image + n;
    object->segments[0].is_readable = true;
    object->segments[1].start = (uintptr_t) image + JPP_CFI_CODE;
    object->segments[1].end = (uintptr_t) image + 6 * JPP_CFI_CODE;
    object->segments[1].is_executable = true;
}


#endif /* _JPP_TEST_CFI_H_INCLUDED_ */


/*
 * Bounded reading of call-frame information that is mapped into this process:
 * numbers, LEB128 and encoded pointers.
 *
 * Reading past the end sets is_damaged and gives zeros, so one look at the end
 * of an entry is enough.  An address of the data is its place in memory.
 *
 * [signal] No state, no lock, no memory; any thread.
 */


#ifndef _JPP_CFI_BYTES_H_INCLUDED_
#define _JPP_CFI_BYTES_H_INCLUDED_


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>


/* how a pointer is stored: the format, and what is added to it */
#define JPP_CFI_ABSPTR   0x00
#define JPP_CFI_UDATA4   0x03
#define JPP_CFI_SDATA4   0x0b
#define JPP_CFI_FORMAT   0x0f
#define JPP_CFI_SIGNED   0x08
#define JPP_CFI_PCREL    0x10
#define JPP_CFI_DATAREL  0x30
#define JPP_CFI_OMIT     0xff


typedef struct {
    const uint8_t   *pos;
    const uint8_t   *end;
    bool             is_damaged;
} jpp_cfi_bytes_t;


/* [signal] The next SIZE bytes: 1, 2, 4 or 8. */
uint64_t jpp_cfi_uint(jpp_cfi_bytes_t *b, uint32_t size);
int64_t jpp_cfi_sint(jpp_cfi_bytes_t *b, uint32_t size);

/* [signal] The next LEB128; bits above 64 damage the reader. */
uint64_t jpp_cfi_uleb(jpp_cfi_bytes_t *b);
int64_t jpp_cfi_sleb(jpp_cfi_bytes_t *b);

/* [signal] Pass over N bytes; returns where they start, NULL where they end
   past the end. */
const uint8_t *jpp_cfi_skip(jpp_cfi_bytes_t *b, uint64_t n);

/*
 * [signal] The next pointer in ENCODING, absolute or relative to its own
 * place; any other encoding damages the reader.
 */
uintptr_t jpp_cfi_pointer(jpp_cfi_bytes_t *b, uint8_t encoding);


#endif /* _JPP_CFI_BYTES_H_INCLUDED_ */

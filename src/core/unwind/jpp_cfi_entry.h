
/*
 * The entry of .eh_frame that describes a function: found by .eh_frame_hdr,
 * and taken apart with the CIE it belongs to.
 *
 * Every byte is checked against the segment that holds the section: a hostile
 * one gives a wrong entry or none, and neither a loop nor a read outside.
 *
 * [signal] No state, no lock, no memory; any thread.
 */


#ifndef _JPP_CFI_ENTRY_H_INCLUDED_
#define _JPP_CFI_ENTRY_H_INCLUDED_


#include "jpp_cfi_bytes.h"
#include "jpp_mapped.h"


typedef struct {
    uintptr_t         start;          /* of the function */
    uintptr_t         end;
    uint64_t          code_align;
    int64_t           data_align;
    uint64_t          return_column;
    uint8_t           encoding;       /* of addresses */
    bool              is_augmented;   /* the FDE has a length of items */
    bool              is_signal;      /* a frame that a signal interrupted */
    jpp_cfi_bytes_t   initial;        /* instructions of the CIE */
    jpp_cfi_bytes_t   own;            /* and of the FDE */
} jpp_cfi_entry_t;


/* [signal] The entry for the code at ADDRESS of OBJECT; false: none. */
bool jpp_cfi_entry_find(const jpp_mapped_code_t *object, uintptr_t address,
    jpp_cfi_entry_t *entry);

/* [signal] The entry of row I of OBJECT's table, for I below its count. */
bool jpp_cfi_entry_row(const jpp_mapped_code_t *object, uint64_t i,
    jpp_cfi_entry_t *entry);


#endif /* _JPP_CFI_ENTRY_H_INCLUDED_ */

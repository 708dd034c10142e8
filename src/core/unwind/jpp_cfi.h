
/*
 * The entry of .eh_frame that describes a function: found by .eh_frame_hdr,
 * and taken apart with the CIE it belongs to.
 *
 * Every byte is checked against the segment that holds the section: a hostile
 * one gives a wrong entry or none, and neither a loop nor a read outside.
 *
 * [signal] No state, no lock, no memory; any thread.
 */


#ifndef _JPP_CFI_H_INCLUDED_
#define _JPP_CFI_H_INCLUDED_


#include "jpp_mapped.h"


/* [signal] The entry for the code at ADDRESS of OBJECT; false: none. */
bool jpp_cfi_entry_find(const jpp_mapped_code_t *object, uintptr_t address,
    jpp_cfi_entry_t *entry);

/* [signal] The entry of row I of OBJECT's table, for I below its count. */
bool jpp_cfi_entry_row(const jpp_mapped_code_t *object, uint64_t i,
    jpp_cfi_entry_t *entry);


/*
 * The rules that hold at one address of a function: call-frame instructions
 * (DWARF 5, 6.4.2) executed up to there.
 *
 * [signal] No state, no lock, no memory; any thread.  At most a kilobyte of
 * stack, and a bounded number of steps.
 */


/* columns of amd64: the registers by their DWARF numbers, the return address */
#define JPP_CFI_RBP       6
#define JPP_CFI_RSP       7
#define JPP_CFI_RETURN   16
#define JPP_CFI_COLUMNS  17


/* how the caller's value of a register is found */
typedef enum {
    JPP_CFI_SAME = 0,         /* it is still there */
    JPP_CFI_UNDEFINED,        /* it is lost */
    JPP_CFI_AT,               /* stored at CFA + value */
    JPP_CFI_IS,               /* it is CFA + value */
    JPP_CFI_REGISTER,         /* in register number value */
    JPP_CFI_AT_EXPRESSION,    /* stored where the expression says */
    JPP_CFI_IS_EXPRESSION     /* it is what the expression says */
} jpp_cfi_how_t;


/* VALUE of an expression is the address of its length, a LEB128 */
typedef struct {
    int64_t           values[JPP_CFI_COLUMNS];
    uint8_t           how[JPP_CFI_COLUMNS];     /* jpp_cfi_how_t */
    bool              is_cfa_expression;
    uint64_t          cfa_register;
    int64_t           cfa_value;                /* offset, or expression */
} jpp_cfi_row_t;


/*
 * [signal] ROW becomes what holds at ADDRESS, which lies in ENTRY.  False: the
 * instructions are damaged, not known, or too many.
 */
bool jpp_cfi_row_at(const jpp_cfi_entry_t *entry, uintptr_t address,
    jpp_cfi_row_t *row);

/* [signal] ROW becomes what holds at an instruction that returns. */
void jpp_cfi_row_return(jpp_cfi_row_t *row);


#endif /* _JPP_CFI_H_INCLUDED_ */


/*
 * Expressions of call-frame information (DWARF 5, 2.5): the arithmetic over
 * registers and the stack that a PLT, a signal's frame, a realigned stack and
 * some of libcrypto's assembly need.
 *
 * [signal] No state, no lock, no memory; any thread.  No jumps, so no loops.
 */


#ifndef _JPP_CFI_EXPR_H_INCLUDED_
#define _JPP_CFI_EXPR_H_INCLUDED_


#include "jpp_frame.h"


/*
 * [signal] The value of the expression whose length is at AT (its bytes were
 * checked when the row was made), over FRAME; it starts with CFA on its stack
 * where HAS_CFA.  JPP_UNWIND_ODD: an operation or a register that is not
 * known; JPP_UNWIND_STACK: it reads outside the stack.
 */
jpp_unwind_end_t jpp_cfi_expr_value(int64_t at, const jpp_frame_t *frame,
    bool has_cfa, uintptr_t cfa, uintptr_t *value);


#endif /* _JPP_CFI_EXPR_H_INCLUDED_ */


#include "jpp_cfi_expr.h"
#include "jpp_complete.h"


/*
 * At a return the frame is the return address, whatever is said of it: in
 * OpenSSL 3.0 that of x25519's functions is wrong.
 */

static jpp_unwind_end_t
jpp_complete_row(const jpp_mapped_t *objects, const jpp_unwind_context_t *at,
    jpp_cfi_row_t *row, bool *is_signal)
{
    uintptr_t                 address;
    jpp_cfi_entry_t           entry;
    const jpp_mapped_code_t  *code;

    address = at->pc - !at->is_exact;
    *is_signal = false;

    code = jpp_mapped_find(objects, address);
    if (code == NULL) {
        return JPP_UNWIND_OBJECT;
    }

    if (at->is_exact && jpp_mapped_returns(code, address)) {
        jpp_cfi_row_return(row);
        return JPP_UNWIND_ON;
    }

    if (!jpp_cfi_entry_find(code, address, &entry)) {
        return JPP_UNWIND_RULE;
    }

    *is_signal = entry.is_signal;

    if (entry.return_column != JPP_CFI_RETURN
        || !jpp_cfi_row_at(&entry, address, row))
    {
        return JPP_UNWIND_ODD;
    }

    return row->how[JPP_CFI_RETURN] == JPP_CFI_UNDEFINED
           ? JPP_UNWIND_OUTERMOST : JPP_UNWIND_ON;
}


/* It may lie anywhere, as in longjmp(): what is read by it is checked. */

static jpp_unwind_end_t
jpp_complete_cfa(const jpp_frame_t *frame, const jpp_cfi_row_t *row,
    uintptr_t *cfa)
{
    if (row->is_cfa_expression) {
        return jpp_cfi_expr_value(row->cfa_value, frame, false, 0, cfa);
    }

    if (!jpp_frame_has(frame, row->cfa_register)) {
        return JPP_UNWIND_ODD;
    }

    *cfa = frame->at.registers[row->cfa_register]
           + (uintptr_t) row->cfa_value;

    return JPP_UNWIND_ON;
}


static void
jpp_complete_same(const jpp_frame_t *frame, uint64_t n, uintptr_t *value,
    bool *is_known)
{
    if (jpp_frame_has(frame, n)) {
        *value = frame->at.registers[n];
        *is_known = true;
    }
}


/*
 * A place below rsp has been popped already, and the register has the value
 * again: epilogues do not always say so.  What lies outside the stack is not
 * known; most often nobody asks for it.
 */

static void
jpp_complete_load(const jpp_frame_t *frame, uint32_t column,
    uintptr_t address, uintptr_t *value, bool *is_known)
{
    uintptr_t  rsp;

    rsp = frame->at.registers[JPP_CFI_RSP];

    if (jpp_frame_holds(rsp, frame->stack.high, address)) {
        *value = jpp_frame_word(address);
        *is_known = true;

    } else if (address < rsp) {
        jpp_complete_same(frame, column, value, is_known);
    }
}


static jpp_unwind_end_t
jpp_complete_column(const jpp_frame_t *frame, const jpp_cfi_row_t *row,
    uint32_t column, uintptr_t cfa, uintptr_t *value, bool *is_known)
{
    int64_t           rule;
    uintptr_t         address;
    jpp_unwind_end_t  end;

    *value = 0;
    *is_known = false;
    rule = row->values[column];

    switch ((jpp_cfi_how_t) row->how[column]) {

    case JPP_CFI_SAME:
        jpp_complete_same(frame, column, value, is_known);
        return JPP_UNWIND_ON;

    case JPP_CFI_UNDEFINED:
        return JPP_UNWIND_ON;

    case JPP_CFI_AT:
        jpp_complete_load(frame, column, cfa + (uintptr_t) rule, value,
                          is_known);
        return JPP_UNWIND_ON;

    case JPP_CFI_IS:
        *value = cfa + (uintptr_t) rule;
        *is_known = true;
        return JPP_UNWIND_ON;

    case JPP_CFI_REGISTER:
        jpp_complete_same(frame, (uint64_t) rule, value, is_known);
        return JPP_UNWIND_ON;

    case JPP_CFI_AT_EXPRESSION:
        end = jpp_cfi_expr_value(rule, frame, true, cfa, &address);

        if (end == JPP_UNWIND_ON) {
            jpp_complete_load(frame, column, address, value, is_known);
        }

        return end;

    case JPP_CFI_IS_EXPRESSION:
        *is_known = true;
        return jpp_cfi_expr_value(rule, frame, true, cfa, value);
    }

    return JPP_UNWIND_ODD;
}


static jpp_unwind_end_t
jpp_complete_caller(const jpp_frame_t *frame, const jpp_cfi_row_t *row,
    uintptr_t cfa, jpp_frame_t *caller)
{
    bool              is_known;
    uint32_t          i;
    uintptr_t         value, rsp, low;
    jpp_unwind_end_t  end;

    caller->stack = frame->stack;
    caller->at.known = 0;

    for (i = 0; i < JPP_CFI_RETURN; i++) {
        end = jpp_complete_column(frame, row, i, cfa, &value, &is_known);

        if (end != JPP_UNWIND_ON) {
            return end;
        }

        caller->at.registers[i] = value;
        caller->at.known |= (uint32_t) is_known << i;
    }

    end = jpp_complete_column(frame, row, JPP_CFI_RETURN, cfa,
                              &caller->at.pc, &is_known);

    if (end != JPP_UNWIND_ON) {
        return end;
    }

    if (!is_known || !jpp_frame_has(caller, JPP_CFI_RSP)) {
        return JPP_UNWIND_STACK;
    }

    /*
     * Callers lie above, so that a walk ends; but longjmp() has its caller's
     * rsp before it jumps.
     */

    rsp = caller->at.registers[JPP_CFI_RSP];
    low = frame->at.registers[JPP_CFI_RSP] + !frame->at.is_exact;

    return rsp >= low && rsp <= frame->stack.high ? JPP_UNWIND_ON
                                                  : JPP_UNWIND_STACK;
}


jpp_unwind_end_t
jpp_complete_step(const jpp_mapped_t *objects, jpp_frame_t *frame)
{
    bool              is_signal;
    uintptr_t         cfa = 0;
    jpp_frame_t       caller;
    jpp_cfi_row_t     row;
    jpp_unwind_end_t  end;

    end = jpp_complete_row(objects, &frame->at, &row, &is_signal);

    if (end == JPP_UNWIND_ON) {
        end = jpp_complete_cfa(frame, &row, &cfa);
    }

    if (end == JPP_UNWIND_ON) {
        end = jpp_complete_caller(frame, &row, cfa, &caller);
    }

    if (end != JPP_UNWIND_ON) {
        return end;
    }

    if (caller.at.pc == 0) {
        return JPP_UNWIND_OUTERMOST;
    }

    /* what a signal interrupted may be any instruction */

    caller.at.is_exact = is_signal;
    *frame = caller;

    return JPP_UNWIND_ON;
}

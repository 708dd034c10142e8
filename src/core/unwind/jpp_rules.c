
#include "jpp_cfi_row.h"
#include "jpp_rules.h"


/* The caller's rsp is the CFA, and the return address lies below it. */

static uint32_t
jpp_rule_of(const jpp_cfi_row_t *row)
{
    int64_t  words, rbp;

    words = row->cfa_value / 8;
    rbp = row->values[JPP_CFI_RBP];

    if (row->cfa_register == JPP_CFI_RBP
        && row->cfa_value == 16
        && row->how[JPP_CFI_RBP] == JPP_CFI_AT
        && rbp == -16)
    {
        return jpp_rule_special(JPP_RULE_FRAME);
    }

    if (row->cfa_register != JPP_CFI_RSP
        || row->cfa_value % 8 != 0
        || words < 1
        || words > JPP_RULE_CFA_MAX)
    {
        return jpp_rule_special(JPP_RULE_COMPLETE);
    }

    if (row->how[JPP_CFI_RBP] == JPP_CFI_SAME) {
        return (uint32_t) words;
    }

    if (row->how[JPP_CFI_RBP] != JPP_CFI_AT
        || rbp % 8 != 0
        || rbp > -16
        || rbp <= -JPP_RULE_RBP_LOW)
    {
        return jpp_rule_special(JPP_RULE_COMPLETE);
    }

    /* what was stored below rsp is popped already */

    return (uint32_t) words
           | (rbp < -row->cfa_value
              ? 0 : (uint32_t) (rbp + JPP_RULE_RBP_LOW) / 8 << JPP_RULE_RBP);
}


uint32_t
jpp_rule_make(const jpp_mapped_code_t *object, uintptr_t address)
{
    jpp_cfi_row_t    row;
    jpp_cfi_entry_t  entry;

    if (!jpp_cfi_entry_find(object, address, &entry)) {
        return jpp_rule_special(JPP_RULE_NONE);
    }

    if (entry.return_column != JPP_CFI_RETURN
        || !jpp_cfi_row_at(&entry, address, &row))
    {
        return jpp_rule_special(JPP_RULE_ODD);
    }

    if (row.how[JPP_CFI_RETURN] == JPP_CFI_UNDEFINED) {
        return jpp_rule_special(JPP_RULE_OUTERMOST);
    }

    if (entry.is_signal
        || row.is_cfa_expression
        || row.how[JPP_CFI_RETURN] != JPP_CFI_AT
        || row.values[JPP_CFI_RETURN] != -8
        || row.how[JPP_CFI_RSP] != JPP_CFI_IS
        || row.values[JPP_CFI_RSP] != 0)
    {
        return jpp_rule_special(JPP_RULE_COMPLETE);
    }

    return jpp_rule_of(&row);
}

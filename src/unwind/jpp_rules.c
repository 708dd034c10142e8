
#include "jpp_cfi_row.h"
#include "jpp_rules.h"


static bool jpp_rule_is_plain(const jpp_cfi_entry_t *entry,
    const jpp_cfi_row_t *row);


uint32_t
jpp_rule_make(const jpp_mapped_code_t *object, uintptr_t address)
{
    uint32_t         rule;
    jpp_cfi_row_t    row;
    jpp_cfi_entry_t  entry;

    if (!jpp_cfi_entry_find(object, address, &entry)) {
        return JPP_RULE_NONE << JPP_RULE_KIND;
    }

    if (entry.return_column != JPP_CFI_RETURN
        || !jpp_cfi_row_at(&entry, address, &row))
    {
        return JPP_RULE_ODD << JPP_RULE_KIND;
    }

    if (row.how[JPP_CFI_RETURN] == JPP_CFI_UNDEFINED) {
        return JPP_RULE_OUTERMOST << JPP_RULE_KIND;
    }

    if (!jpp_rule_is_plain(&entry, &row)) {
        return JPP_RULE_COMPLETE << JPP_RULE_KIND;
    }

    rule = JPP_RULE_PLAIN << JPP_RULE_KIND;
    rule |= (uint32_t) (row.cfa_value / 8);
    rule |= (uint32_t) (row.cfa_register == JPP_CFI_RBP) << JPP_RULE_BASE;

    if (row.how[JPP_CFI_RBP] == JPP_CFI_AT) {
        rule |= (uint32_t) (-row.values[JPP_CFI_RBP] / 8) << JPP_RULE_RBP;
    }

    return rule;
}


static bool
jpp_rule_is_plain(const jpp_cfi_entry_t *entry, const jpp_cfi_row_t *row)
{
    int64_t  rbp;

    rbp = row->values[JPP_CFI_RBP];

    return !entry->is_signal
           && !row->is_cfa_expression
           && (row->cfa_register == JPP_CFI_RSP
               || row->cfa_register == JPP_CFI_RBP)
           && row->cfa_value > 0
           && row->cfa_value <= 8 * JPP_RULE_CFA_MAX
           && row->cfa_value % 8 == 0
           && row->how[JPP_CFI_RETURN] == JPP_CFI_AT
           && row->values[JPP_CFI_RETURN] == -8
           && row->how[JPP_CFI_RSP] == JPP_CFI_IS
           && row->values[JPP_CFI_RSP] == 0
           && (row->how[JPP_CFI_RBP] == JPP_CFI_SAME
               || (row->how[JPP_CFI_RBP] == JPP_CFI_AT
                   && rbp < 0
                   && rbp >= -8 * JPP_RULE_RBP_MAX
                   && rbp % 8 == 0));
}

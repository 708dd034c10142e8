
/* Finds and runs call-frame entries, parsed by src/core/elf/jpp_eh_frame.c. */


#include "jpp_unwind.h"


/* The start (COLUMN 0) or the FDE (1) of row I. */

static uintptr_t
jpp_cfi_row_number(const jpp_mapped_code_t *object, uint64_t i, uint32_t column)
{
    int32_t  number;

    memcpy(&number, object->table + 8 * i + 4 * column, 4);

    return object->base + (uintptr_t) (intptr_t) number;
}


bool
jpp_cfi_entry_find(const jpp_mapped_code_t *object, uintptr_t address,
    jpp_cfi_entry_t *entry)
{
    uint64_t  low, high, middle;

    /* the last row that starts at or before the address */

    low = 0;
    high = object->count;

    while (low < high) {
        middle = low + (high - low) / 2;

        if (jpp_cfi_row_number(object, middle, 0) <= address) {
            low = middle + 1;

        } else {
            high = middle;
        }
    }

    return low != 0
           && jpp_cfi_entry_row(object, low - 1, entry)
           && address >= entry->start
           && address < entry->end;
}


bool
jpp_cfi_entry_row(const jpp_mapped_code_t *object, uint64_t i,
    jpp_cfi_entry_t *entry)
{
    uint64_t         back;
    const uint8_t   *id;
    jpp_cfi_bytes_t  section, body;

    memset(&section, 0, sizeof(jpp_cfi_bytes_t));

    section.pos = (const uint8_t *) jpp_cfi_row_number(object, i, 1);
    section.end = object->high;

    if ((uintptr_t) section.pos < (uintptr_t) object->low
        || (uintptr_t) section.pos >= (uintptr_t) object->high
        || !jpp_cfi_read_body(&section, &body))
    {
        return false;
    }

    id = body.pos;
    back = jpp_cfi_uint(&body, 4);

    if (back == 0 || back > (uint64_t) (id - object->low)) {
        return false;
    }

    section.pos = id - back;

    return jpp_cfi_read_cie(&section, entry) && jpp_cfi_read_fde(&body, entry);
}


/* far above what compilers and assembly write: the tests read all of libc,
   libcrypto and nginx */
#define JPP_CFI_MAX_STEPS   8192
#define JPP_CFI_MAX_SAVED   4


/* instructions: those with an operand in the low six bits, and the others */
#define JPP_CFA_ADVANCE              0x40
#define JPP_CFA_OFFSET               0x80
#define JPP_CFA_RESTORE              0xc0
#define JPP_CFA_NOP                  0x00
#define JPP_CFA_SET_LOC              0x01
#define JPP_CFA_ADVANCE1             0x02
#define JPP_CFA_ADVANCE2             0x03
#define JPP_CFA_ADVANCE4             0x04
#define JPP_CFA_OFFSET_EXTENDED      0x05
#define JPP_CFA_RESTORE_EXTENDED     0x06
#define JPP_CFA_UNDEFINED            0x07
#define JPP_CFA_SAME                 0x08
#define JPP_CFA_REGISTER             0x09
#define JPP_CFA_REMEMBER             0x0a
#define JPP_CFA_RECALL               0x0b
#define JPP_CFA_DEF_CFA              0x0c
#define JPP_CFA_DEF_CFA_REGISTER     0x0d
#define JPP_CFA_DEF_CFA_OFFSET       0x0e
#define JPP_CFA_DEF_CFA_EXPRESSION   0x0f
#define JPP_CFA_EXPRESSION           0x10
#define JPP_CFA_OFFSET_SF            0x11
#define JPP_CFA_DEF_CFA_SF           0x12
#define JPP_CFA_DEF_CFA_OFFSET_SF    0x13
#define JPP_CFA_VAL_OFFSET           0x14
#define JPP_CFA_VAL_OFFSET_SF        0x15
#define JPP_CFA_VAL_EXPRESSION       0x16
#define JPP_CFA_GNU_ARGS_SIZE        0x2e
#define JPP_CFA_GNU_NEGATIVE_OFFSET  0x2f


/* what follows in an instruction, behind the number of a register */
typedef enum {
    JPP_CFI_UNKNOWN = 0,      /* there is no such instruction */
    JPP_CFI_NOTHING,
    JPP_CFI_ULEB,
    JPP_CFI_TIMES,            /* in units of the CIE, as the next two are */
    JPP_CFI_TIMES_SIGNED,
    JPP_CFI_TIMES_NEGATIVE,
    JPP_CFI_BLOCK             /* an expression */
} jpp_cfi_operand_t;


typedef struct {
    jpp_cfi_how_t            how;
    jpp_cfi_operand_t        operand;
} jpp_cfi_rule_t;


/* the instructions that begin with a column, and say how it is found */
static const jpp_cfi_rule_t  jpp_cfi_rules[] = {
    [JPP_CFA_OFFSET_EXTENDED] = { JPP_CFI_AT, JPP_CFI_TIMES },
    [JPP_CFA_RESTORE_EXTENDED] = { JPP_CFI_SAME, JPP_CFI_NOTHING },
    [JPP_CFA_UNDEFINED] = { JPP_CFI_UNDEFINED, JPP_CFI_NOTHING },
    [JPP_CFA_SAME] = { JPP_CFI_SAME, JPP_CFI_NOTHING },
    [JPP_CFA_REGISTER] = { JPP_CFI_REGISTER, JPP_CFI_ULEB },
    [JPP_CFA_EXPRESSION] = { JPP_CFI_AT_EXPRESSION, JPP_CFI_BLOCK },
    [JPP_CFA_OFFSET_SF] = { JPP_CFI_AT, JPP_CFI_TIMES_SIGNED },
    [JPP_CFA_VAL_OFFSET] = { JPP_CFI_IS, JPP_CFI_TIMES },
    [JPP_CFA_VAL_OFFSET_SF] = { JPP_CFI_IS, JPP_CFI_TIMES_SIGNED },
    [JPP_CFA_VAL_EXPRESSION] = { JPP_CFI_IS_EXPRESSION, JPP_CFI_BLOCK },
    [JPP_CFA_GNU_NEGATIVE_OFFSET] = { JPP_CFI_AT, JPP_CFI_TIMES_NEGATIVE }
};


typedef struct {
    const jpp_cfi_entry_t   *entry;
    uintptr_t                address;      /* the row that is asked for */
    uintptr_t                location;     /* where the rules hold from */
    jpp_cfi_bytes_t          b;
    uint32_t                 steps;
    uint32_t                 saved;
    bool                     is_past;      /* what follows holds later */
    jpp_cfi_row_t           *row;
    jpp_cfi_row_t            initial;      /* after the CIE */
    jpp_cfi_row_t            stack[JPP_CFI_MAX_SAVED];
} jpp_cfi_machine_t;


/* The row that is wanted is complete when the next one starts past it. */

static void
jpp_cfi_advance(jpp_cfi_machine_t *m, uint64_t delta)
{
    delta *= m->entry->code_align;

    m->is_past = delta > m->address - m->location;
    m->location += m->is_past ? 0 : delta;
}


/* without the overflow of a signed number, which foreign bytes can cause */

static int64_t
jpp_cfi_times(jpp_cfi_machine_t *m, uint64_t factor)
{
    return (int64_t) (factor * (uint64_t) m->entry->data_align);
}


static int64_t
jpp_cfi_operand(jpp_cfi_machine_t *m, jpp_cfi_operand_t kind)
{
    const uint8_t  *start;

    switch (kind) {

    case JPP_CFI_UNKNOWN:
    case JPP_CFI_NOTHING:
        break;

    case JPP_CFI_ULEB:
        return (int64_t) jpp_cfi_uleb(&m->b);

    case JPP_CFI_TIMES:
        return jpp_cfi_times(m, jpp_cfi_uleb(&m->b));

    case JPP_CFI_TIMES_NEGATIVE:
        return -jpp_cfi_times(m, jpp_cfi_uleb(&m->b) & INT64_MAX);

    case JPP_CFI_TIMES_SIGNED:
        return jpp_cfi_times(m, (uint64_t) jpp_cfi_sleb(&m->b));

    case JPP_CFI_BLOCK:
        start = m->b.pos;
        (void) jpp_cfi_skip(&m->b, jpp_cfi_uleb(&m->b));

        return (int64_t) (uintptr_t) start;
    }

    return 0;
}


/* Instructions of the location, of the whole row, and of the CFA. */

static bool
jpp_cfi_step_row(jpp_cfi_machine_t *m, uint8_t op)
{
    jpp_cfi_row_t *row = m->row;

    switch (op) {

    case JPP_CFA_NOP:
        return true;

    case JPP_CFA_SET_LOC:
        m->location = jpp_cfi_pointer(&m->b, m->entry->encoding);
        m->is_past = m->location > m->address;
        return true;

    case JPP_CFA_ADVANCE1:
    case JPP_CFA_ADVANCE2:
    case JPP_CFA_ADVANCE4:
        jpp_cfi_advance(m, jpp_cfi_uint(&m->b, 1u << (op - JPP_CFA_ADVANCE1)));
        return true;

    case JPP_CFA_REMEMBER:
        m->b.is_damaged |= m->saved == JPP_CFI_MAX_SAVED;

        if (!m->b.is_damaged) {
            m->stack[m->saved++] = *row;
        }

        return true;

    case JPP_CFA_RECALL:
        m->b.is_damaged |= m->saved == 0;

        if (!m->b.is_damaged) {
            *row = m->stack[--m->saved];
        }

        return true;

    case JPP_CFA_GNU_ARGS_SIZE:
        (void) jpp_cfi_uleb(&m->b);
        return true;

    case JPP_CFA_DEF_CFA:
    case JPP_CFA_DEF_CFA_SF:
        row->is_cfa_expression = false;
        row->cfa_register = jpp_cfi_uleb(&m->b);
        row->cfa_value = jpp_cfi_operand(m, op == JPP_CFA_DEF_CFA
                                            ? JPP_CFI_ULEB
                                            : JPP_CFI_TIMES_SIGNED);
        return true;

    case JPP_CFA_DEF_CFA_REGISTER:
        m->b.is_damaged |= row->is_cfa_expression;
        row->cfa_register = jpp_cfi_uleb(&m->b);
        return true;

    case JPP_CFA_DEF_CFA_OFFSET:
    case JPP_CFA_DEF_CFA_OFFSET_SF:
        m->b.is_damaged |= row->is_cfa_expression;
        row->cfa_value = jpp_cfi_operand(m, op == JPP_CFA_DEF_CFA_OFFSET
                                            ? JPP_CFI_ULEB
                                            : JPP_CFI_TIMES_SIGNED);
        return true;

    case JPP_CFA_DEF_CFA_EXPRESSION:
        row->is_cfa_expression = true;
        row->cfa_value = jpp_cfi_operand(m, JPP_CFI_BLOCK);
        return true;
    }

    return false;
}


/* Columns past the return address are of vectors: nothing is found by them. */

static void
jpp_cfi_step_column(jpp_cfi_machine_t *m, uint8_t op, uint64_t column)
{
    int64_t                value;
    const jpp_cfi_rule_t  *rule;

    rule = &jpp_cfi_rules[op];
    value = jpp_cfi_operand(m, rule->operand);

    if (column >= JPP_CFI_COLUMNS) {
        return;
    }

    if (op == JPP_CFA_RESTORE_EXTENDED) {
        m->row->how[column] = m->initial.how[column];
        m->row->values[column] = m->initial.values[column];

    } else {
        m->row->how[column] = (uint8_t) rule->how;
        m->row->values[column] = value;
    }
}


static bool
jpp_cfi_step(jpp_cfi_machine_t *m, uint8_t op)
{
    switch (op & 0xc0) {

    case JPP_CFA_ADVANCE:
        jpp_cfi_advance(m, op & 0x3f);
        return true;

    case JPP_CFA_OFFSET:
        jpp_cfi_step_column(m, JPP_CFA_OFFSET_EXTENDED, op & 0x3f);
        return true;

    case JPP_CFA_RESTORE:
        jpp_cfi_step_column(m, JPP_CFA_RESTORE_EXTENDED, op & 0x3f);
        return true;
    }

    if (jpp_cfi_step_row(m, op)) {
        return true;
    }

    if (op >= sizeof(jpp_cfi_rules) / sizeof(jpp_cfi_rules[0])
        || jpp_cfi_rules[op].operand == JPP_CFI_UNKNOWN)
    {
        return false;
    }

    jpp_cfi_step_column(m, op, jpp_cfi_uleb(&m->b));

    return true;
}


static bool
jpp_cfi_run(jpp_cfi_machine_t *m, const jpp_cfi_bytes_t *code)
{
    uint8_t  op;

    m->b = *code;

    while (m->b.pos != m->b.end && !m->is_past) {

        if (m->steps++ == JPP_CFI_MAX_STEPS) {
            return false;
        }

        op = (uint8_t) jpp_cfi_uint(&m->b, 1);

        if (!jpp_cfi_step(m, op) || m->b.is_damaged) {
            return false;
        }
    }

    return true;
}


bool
jpp_cfi_row_at(const jpp_cfi_entry_t *entry, uintptr_t address,
    jpp_cfi_row_t *row)
{
    jpp_cfi_machine_t  m;

    memset(row, 0, sizeof(jpp_cfi_row_t));

    /* the caller's rsp is the CFA, unless something else is said */

    row->how[JPP_CFI_RSP] = JPP_CFI_IS;
    row->how[JPP_CFI_RETURN] = JPP_CFI_UNDEFINED;
    row->cfa_register = JPP_CFI_COLUMNS;

    m.entry = entry;
    m.address = address;
    m.location = entry->start;
    m.steps = 0;
    m.saved = 0;
    m.is_past = false;
    m.row = row;
    m.initial = *row;

    if (!jpp_cfi_run(&m, &entry->initial)) {
        return false;
    }

    m.initial = *row;

    return jpp_cfi_run(&m, &entry->own)
           && (row->is_cfa_expression || row->cfa_register < JPP_CFI_RETURN);
}

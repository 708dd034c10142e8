
/* The grammar of entries: see src/core/elf/jpp_elf_table.c. */


#include <string.h>

#include "jpp_cfi_entry.h"


/* a length that announces one of 64 bits; nobody writes that here */
#define JPP_CFI_EXTENDED      0xffffffffu

/* "zPLRSBG" and then some */
#define JPP_CFI_AUGMENTATION  16


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


/* BODY becomes what follows the length of the entry AT. */

static bool
jpp_cfi_body(const jpp_mapped_code_t *object, const uint8_t *at,
    jpp_cfi_bytes_t *body)
{
    uint64_t  len;

    body->pos = at;
    body->end = object->high;
    body->is_damaged = false;

    len = jpp_cfi_uint(body, 4);

    if (body->is_damaged
        || len == 0
        || len == JPP_CFI_EXTENDED
        || len > (uint64_t) (body->end - body->pos))
    {
        return false;
    }

    body->end = body->pos + len;

    return true;
}


static bool
jpp_cfi_augmentation(jpp_cfi_bytes_t *b, const char *letter,
    jpp_cfi_entry_t *entry)
{
    uint64_t         len;
    jpp_cfi_bytes_t  items;

    len = jpp_cfi_uleb(b);
    items.pos = jpp_cfi_skip(b, len);
    items.end = b->pos;
    items.is_damaged = false;

    if (b->is_damaged) {
        return false;
    }

    for ( /* void */ ; *letter != '\0'; letter++) {

        switch (*letter) {

        case 'R':
            entry->encoding = (uint8_t) jpp_cfi_uint(&items, 1);
            break;

        case 'L':
            (void) jpp_cfi_uint(&items, 1);
            break;

        case 'P':

            /* only its size counts */

            (void) jpp_cfi_pointer(&items, (uint8_t) jpp_cfi_uint(&items, 1)
                                           & JPP_CFI_FORMAT);
            break;

        case 'S':
            entry->is_signal = true;
            break;

        case 'B':
        case 'G':
            break;

        default:
            return false;
        }
    }

    return !items.is_damaged;
}


static bool
jpp_cfi_cie(const jpp_mapped_code_t *object, const uint8_t *at,
    jpp_cfi_entry_t *entry)
{
    uint8_t          version;
    uint32_t         i;
    const char      *letter;
    jpp_cfi_bytes_t  b;

    memset(entry, 0, sizeof(jpp_cfi_entry_t));

    if (!jpp_cfi_body(object, at, &b) || jpp_cfi_uint(&b, 4) != 0) {
        return false;
    }

    version = (uint8_t) jpp_cfi_uint(&b, 1);

    if (version != 1 && version != 3) {
        return false;
    }

    letter = (const char *) b.pos;

    for (i = 0; jpp_cfi_uint(&b, 1) != 0; i++) {
        if (i == JPP_CFI_AUGMENTATION) {
            return false;
        }
    }

    entry->code_align = jpp_cfi_uleb(&b);
    entry->data_align = jpp_cfi_sleb(&b);
    entry->return_column = version == 1 ? jpp_cfi_uint(&b, 1)
                                        : jpp_cfi_uleb(&b);
    entry->encoding = JPP_CFI_ABSPTR;

    if (b.is_damaged) {
        return false;
    }

    if (*letter == 'z') {
        entry->is_augmented = true;

        if (!jpp_cfi_augmentation(&b, letter + 1, entry)) {
            return false;
        }

    } else if (*letter != '\0') {
        return false;
    }

    entry->initial = b;

    return true;
}


bool
jpp_cfi_entry_row(const jpp_mapped_code_t *object, uint64_t i,
    jpp_cfi_entry_t *entry)
{
    uint64_t         back;
    uintptr_t        at;
    const uint8_t   *id;
    jpp_cfi_bytes_t  body;

    at = jpp_cfi_row_number(object, i, 1);

    if (at < (uintptr_t) object->low
        || at >= (uintptr_t) object->high
        || !jpp_cfi_body(object, (const uint8_t *) at, &body))
    {
        return false;
    }

    id = body.pos;
    back = jpp_cfi_uint(&body, 4);

    if (back == 0
        || back > (uint64_t) (id - object->low)
        || !jpp_cfi_cie(object, id - back, entry))
    {
        return false;
    }

    /* the size has the format of the start, and nothing is added to it */

    entry->start = jpp_cfi_pointer(&body, entry->encoding);
    entry->end = entry->start
                 + jpp_cfi_pointer(&body, entry->encoding & JPP_CFI_FORMAT
                                          & ~JPP_CFI_SIGNED);

    if (entry->is_augmented) {
        (void) jpp_cfi_skip(&body, jpp_cfi_uleb(&body));
    }

    entry->own = body;

    return !body.is_damaged && entry->end > entry->start;
}

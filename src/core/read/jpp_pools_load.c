
#include <string.h>

#include "jpp_ascii.h"
#include "jpp_pools_fields.h"
#include "jpp_pools_load.h"


/* the bytes that are read */
typedef struct {
    const uint8_t     *pos;
    const uint8_t     *end;
    uint32_t           n_names;
    uint32_t           n_owners;
} jpp_pools_bytes_t;


static jpp_code_t
jpp_pools_head(jpp_pools_head_t *head, const char *data, size_t len,
    jpp_err_t *err)
{
    if (len == 0) {
        return jpp_err_set(err, JPP_ERR_CUT, "the table of pools is empty");
    }

    memset(head, 0, sizeof(jpp_pools_head_t));
    memcpy(head, data, len < sizeof(jpp_pools_head_t)
                       ? len : sizeof(jpp_pools_head_t));

    if (memcmp(head->magic, JPP_POOLS_MAGIC,
               len < sizeof(head->magic) ? len : sizeof(head->magic))
        != 0)
    {
        return jpp_err_set(err, JPP_ERR_INPUT, "not a table of pools, or one "
                           "of another version");
    }

    if (len < sizeof(jpp_pools_head_t) || len < head->len) {
        return jpp_err_set(err, JPP_ERR_CUT, "the table of pools was cut: "
                           "whoever wrote it did not finish");
    }

    if (len != head->len) {
        return jpp_err_set(err, JPP_ERR_INPUT, "not a table of pools: %zu "
                           "bytes follow its end", len - (size_t) head->len);
    }

    return JPP_OK;
}


static size_t
jpp_pools_left(const jpp_pools_bytes_t *bytes)
{
    return (size_t) (bytes->end - bytes->pos);
}


/* A member of 1, 2, 4 or 8 bytes. */

static uint64_t
jpp_pools_number(const uint8_t *p, size_t size)
{
    uint16_t  u16;
    uint32_t  u32;
    uint64_t  u64;

    switch (size) {

    case sizeof(uint64_t):
        memcpy(&u64, p, size);
        return u64;

    case sizeof(uint32_t):
        memcpy(&u32, p, size);
        return u32;

    case sizeof(uint16_t):
        memcpy(&u16, p, size);
        return u16;
    }

    return *p;
}


static bool
jpp_pools_is_valid(const jpp_pools_field_t *field,
    const jpp_pools_bytes_t *bytes)
{
    uint64_t  n;

    n = field->type != JPP_POOLS_IS_BYTES
        ? jpp_pools_number(bytes->pos, field->size) : 0;

    switch (field->type) {

    case JPP_POOLS_IS_NUMBER:
        return n <= field->limit;

    case JPP_POOLS_IS_NAME:
        return n <= bytes->n_names;

    case JPP_POOLS_IS_OWNER:
        return n != 0 && n <= bytes->n_owners;

    case JPP_POOLS_IS_BYTES:
        break;
    }

    return true;
}


static jpp_code_t
jpp_pools_get_record(const jpp_pools_record_t *record, void *to,
    jpp_pools_bytes_t *bytes)
{
    size_t                    i;
    const jpp_pools_field_t  *field;

    for (i = 0; i < record->n; i++) {

        field = &record->fields[i];

        if (jpp_pools_left(bytes) < field->size
            || !jpp_pools_is_valid(field, bytes))
        {
            return JPP_ERR_INPUT;
        }

        memcpy((char *) to + field->offset, bytes->pos, field->size);

        bytes->pos += field->size;
    }

    return JPP_OK;
}


static jpp_code_t
jpp_pools_get_names(jpp_pools_t *table, jpp_pools_bytes_t *bytes)
{
    uint32_t    i, len;
    jpp_str_t  *name;

    for (i = 0; i < bytes->n_names; i++) {

        if (jpp_pools_left(bytes) < sizeof(len)) {
            return JPP_ERR_INPUT;
        }

        memcpy(&len, bytes->pos, sizeof(len));

        if (len > JPP_POOLS_NAME
            || len > jpp_pools_left(bytes) - sizeof(len))
        {
            return JPP_ERR_INPUT;
        }

        name = jpp_vec_push(table->names, sizeof(jpp_str_t));
        if (name == NULL) {
            return JPP_ERR_MEMORY;
        }

        name->data = (const char *) bytes->pos + sizeof(len);
        name->len = len;

        bytes->pos += sizeof(len) + len;
    }

    return JPP_OK;
}


static jpp_code_t
jpp_pools_get_records(const jpp_pools_record_t *record, jpp_vec_t *to,
    uint32_t n, jpp_pools_bytes_t *bytes)
{
    void        *item;
    uint32_t     i;
    jpp_code_t   rc;

    for (i = 0; i < n; i++) {

        /* a number of records that is made up takes no memory */

        if (jpp_pools_left(bytes) < jpp_pools_record_len(record)) {
            return JPP_ERR_INPUT;
        }

        item = jpp_vec_push(to, record->size);
        if (item == NULL) {
            return JPP_ERR_MEMORY;
        }

        rc = jpp_pools_get_record(record, item, bytes);
        if (rc != JPP_OK) {
            return rc;
        }
    }

    return JPP_OK;
}


jpp_code_t
jpp_pools_load(jpp_pools_t *table, jpp_arena_t *arena, const char *data,
    size_t len, jpp_err_t *err)
{
    jpp_code_t          rc;
    jpp_pools_head_t    head;
    jpp_pools_bytes_t   bytes;

    rc = jpp_pools_head(&head, data, len, err);

    if (rc != JPP_OK) {
        return rc;
    }

    if (!jpp_pools_init(table, arena, JPP_POOLS_NO_UNITS, 0)) {
        return jpp_err_memory(err);
    }

    bytes.pos = (const uint8_t *) data + sizeof(jpp_pools_head_t);
    bytes.end = (const uint8_t *) data + len;
    bytes.n_names = head.names;
    bytes.n_owners = head.owners;

    rc = jpp_pools_get_record(&jpp_pools_facts_record, &table->facts, &bytes);

    if (rc == JPP_OK) {
        rc = jpp_pools_get_names(table, &bytes);
    }

    if (rc == JPP_OK) {
        rc = jpp_pools_get_records(&jpp_pools_owner_record, table->owners,
                                   head.owners, &bytes);
    }

    if (rc == JPP_OK) {
        rc = jpp_pools_get_records(&jpp_pools_row_record, table->rows,
                                   head.rows, &bytes);
    }

    if (rc == JPP_OK) {
        rc = jpp_pools_get_records(&jpp_pools_unit_record, table->units,
                                   head.units, &bytes);
    }

    if (rc == JPP_ERR_MEMORY) {
        return jpp_err_memory(err);
    }

    if (rc != JPP_OK || bytes.pos != bytes.end) {
        return jpp_err_set(err, JPP_ERR_INPUT, "not a table of pools: byte "
                           "%zu is not what it should be",
                           (size_t) (bytes.pos - (const uint8_t *) data));
    }

    table->facts.allocator[JPP_POOLS_ALLOCATOR - 1] = '\0';
    jpp_ascii_clean(table->facts.allocator);

    return JPP_OK;
}

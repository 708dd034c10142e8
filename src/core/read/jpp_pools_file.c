
/*
 * Packs a table of pools into bytes, and unpacks it.  The grammar:
 *
 *     file  := magic:8 length:8 names:4 owners:4 rows:4 units:4
 *              facts name* owner* row* unit*
 *     name  := length:4 bytes
 *
 * LENGTH counts all of it.  Facts, owners, rows and units are as in memory, on
 * the machine that both processes run on.
 */


#include "jpp_pools_table.h"


/* to be changed with the structures: the last byte is the version */
#define JPP_POOLS_MAGIC   "jpppool5"

#define JPP_POOLS_BUFFER  8192

/* lists of records: of owners, rows and units */
#define JPP_POOLS_LISTS   3


typedef struct {
    char               magic[8];
    uint64_t           len;
    uint32_t           names;
    uint32_t           n[JPP_POOLS_LISTS];     /* owners, rows, units */
} jpp_pools_head_t;


typedef enum {
    JPP_POOLS_IS_NUMBER = 0,           /* 0..limit */
    JPP_POOLS_IS_AMOUNTS,              /* numbers of 8 bytes, 0..INT64_MAX */
    JPP_POOLS_IS_NAME,                 /* an id, or 0 */
    JPP_POOLS_IS_OWNER,                /* an id */
    JPP_POOLS_IS_ANYONE                /* an id, or 0 */
} jpp_pools_type_t;


typedef struct {
    size_t             offset;
    size_t             size;
    jpp_pools_type_t   type;
    uint64_t           limit;
} jpp_pools_field_t;


/* a structure, and the fields of it that have bounds */
typedef struct {
    const jpp_pools_field_t   *fields;
    size_t                     n;
    size_t                     size;
    size_t                     list;   /* where a table has them */
} jpp_pools_record_t;


/* the bytes that are read */
typedef struct {
    const uint8_t     *pos;
    const uint8_t     *end;
    uint32_t           n_names;
    uint32_t           n_owners;
} jpp_pools_bytes_t;


_Static_assert(sizeof(jpp_pools_head_t) == 32, "the head has no gaps");


#define JPP_POOLS_FIELD(type, member, is, limit)                              \
    { offsetof(type, member), sizeof(((type *) 0)->member),                   \
      JPP_POOLS_IS_##is, limit }

/* all from FIRST to LAST; sums are signed in a profile */
#define JPP_POOLS_AMOUNTS(type, first, last)                                  \
    { offsetof(type, first),                                                  \
      offsetof(type, last) - offsetof(type, first) + sizeof(uint64_t),        \
      JPP_POOLS_IS_AMOUNTS, 0 }

#define JPP_POOLS_BOOL(type, member)  JPP_POOLS_FIELD(type, member, NUMBER, 1)

static const jpp_pools_field_t  jpp_pools_facts_fields[] = {
    JPP_POOLS_BOOL(jpp_pools_facts_t, is_partial),
    JPP_POOLS_BOOL(jpp_pools_facts_t, has_total),
    JPP_POOLS_BOOL(jpp_pools_facts_t, is_estimate),
    JPP_POOLS_BOOL(jpp_pools_facts_t, has_scripts),
    JPP_POOLS_FIELD(jpp_pools_facts_t, outside_owner, ANYONE, 0),
    JPP_POOLS_AMOUNTS(jpp_pools_facts_t, total, longest_nanos)
};


static const jpp_pools_field_t  jpp_pools_owner_fields[] = {
    JPP_POOLS_FIELD(jpp_pools_owner_t, kind, NUMBER, JPP_POOLS_KINDS - 1),
    JPP_POOLS_FIELD(jpp_pools_owner_t, server, NAME, 0),
    JPP_POOLS_FIELD(jpp_pools_owner_t, location, NAME, 0),
    JPP_POOLS_FIELD(jpp_pools_owner_t, third, NAME, 0),
    JPP_POOLS_AMOUNTS(jpp_pools_owner_t, n_units, n_units),
    JPP_POOLS_FIELD(jpp_pools_owner_t, file, NAME, 0)
};


static const jpp_pools_field_t  jpp_pools_row_fields[] = {
    JPP_POOLS_FIELD(jpp_pools_row_t, owner, OWNER, 0),
    JPP_POOLS_FIELD(jpp_pools_row_t, class, NUMBER, JPP_POOLS_CLASSES - 1),
    JPP_POOLS_BOOL(jpp_pools_row_t, is_inherited),
    JPP_POOLS_FIELD(jpp_pools_row_t, module, NAME, 0),
    JPP_POOLS_AMOUNTS(jpp_pools_row_t, objects, unused)
};


static const jpp_pools_field_t  jpp_pools_unit_fields[] = {
    JPP_POOLS_FIELD(jpp_pools_unit_t, owner, OWNER, 0),
    JPP_POOLS_FIELD(jpp_pools_unit_t, upstream, NAME, 0),
    JPP_POOLS_AMOUNTS(jpp_pools_unit_t, objects, unused),
    JPP_POOLS_FIELD(jpp_pools_unit_t, most_owner, OWNER, 0),
    JPP_POOLS_FIELD(jpp_pools_unit_t, most_class, NUMBER,
                    JPP_POOLS_CLASSES - 1),
    JPP_POOLS_FIELD(jpp_pools_unit_t, most_module, NAME, 0),
    JPP_POOLS_AMOUNTS(jpp_pools_unit_t, most_bytes, most_bytes),
    JPP_POOLS_FIELD(jpp_pools_unit_t, bound_module, NAME, 0),
    JPP_POOLS_AMOUNTS(jpp_pools_unit_t, bound_number, n_requests),
    JPP_POOLS_FIELD(jpp_pools_unit_t, state, NAME, 0),
    JPP_POOLS_FIELD(jpp_pools_unit_t, action, NAME, 0),
    JPP_POOLS_FIELD(jpp_pools_unit_t, protocol, NUMBER,
                    JPP_POOLS_PROTOCOLS - 1),
    JPP_POOLS_BOOL(jpp_pools_unit_t, is_tls),
    JPP_POOLS_FIELD(jpp_pools_unit_t, client_len, NUMBER, JPP_POOLS_CLIENT),
    JPP_POOLS_FIELD(jpp_pools_unit_t, uri_len, NUMBER, JPP_POOLS_URI)
};


#define JPP_POOLS_RECORD(part, list)                                          \
    { jpp_pools_##part##_fields, sizeof(jpp_pools_##part##_fields)            \
      / sizeof(jpp_pools_field_t), sizeof(jpp_pools_##part##_t),              \
      offsetof(jpp_pools_t, list) }

static const jpp_pools_record_t  jpp_pools_facts_record =
    JPP_POOLS_RECORD(facts, facts);

static const jpp_pools_record_t  jpp_pools_records[JPP_POOLS_LISTS] = {
    JPP_POOLS_RECORD(owner, owners),
    JPP_POOLS_RECORD(row, rows),
    JPP_POOLS_RECORD(unit, units)
};


static jpp_vec_t *
jpp_pools_list(const jpp_pools_t *table, size_t i)
{
    return *(jpp_vec_t *const *) (const void *)
           ((const char *) table + jpp_pools_records[i].list);
}


void
jpp_pools_write(const jpp_pools_t *table, jpp_sink_t *sink)
{
    uint32_t           i, len;
    const jpp_str_t   *names;
    const jpp_vec_t   *list;
    jpp_pools_head_t   head;

    names = jpp_vec_items(table->names, jpp_str_t);

    memcpy(head.magic, JPP_POOLS_MAGIC, sizeof(head.magic));

    head.names = (uint32_t) jpp_vec_count(table->names, jpp_str_t);
    head.len = sizeof(jpp_pools_head_t) + sizeof(jpp_pools_facts_t);

    for (i = 0; i < head.names; i++) {
        head.len += sizeof(len) + names[i].len;
    }

    for (i = 0; i < JPP_POOLS_LISTS; i++) {
        list = jpp_pools_list(table, i);
        head.n[i] = (uint32_t) (list->len / jpp_pools_records[i].size);
        head.len += list->len;
    }

    jpp_sink_write(sink, &head, sizeof(jpp_pools_head_t));
    jpp_sink_write(sink, &table->facts, sizeof(jpp_pools_facts_t));

    for (i = 0; i < head.names; i++) {
        len = (uint32_t) names[i].len;

        jpp_sink_write(sink, &len, sizeof(len));
        jpp_sink_write(sink, names[i].data, len);
    }

    for (i = 0; i < JPP_POOLS_LISTS; i++) {
        list = jpp_pools_list(table, i);
        jpp_sink_write(sink, list->data, list->len);
    }
}


jpp_code_t
jpp_pools_save(const jpp_pools_t *table, int fd, jpp_err_t *err)
{
    jpp_sink_t  sink;
    uint8_t     buffer[JPP_POOLS_BUFFER];

    jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_write, &fd);

    jpp_pools_write(table, &sink);

    return jpp_sink_flush(&sink) == 0
           ? JPP_OK
           : jpp_write_failed(err, sink.error, "its table of pools");
}


static jpp_code_t
jpp_pools_head(jpp_pools_head_t *head, const char *data, size_t len,
    jpp_err_t *err)
{
    if (len == 0) {
        return jpp_err_set(err, JPP_ERR_CUT, "the table of pools is empty");
    }

    memset(head, 0, sizeof(jpp_pools_head_t));
    memcpy(head, data, jpp_smaller(len, sizeof(jpp_pools_head_t)));

    if (memcmp(head->magic, JPP_POOLS_MAGIC, jpp_smaller(len, 8)) != 0) {
        return jpp_err_set(err, JPP_ERR_INPUT, "not a table of pools, or one "
                           "of another version");
    }

    if (len < jpp_larger(sizeof(jpp_pools_head_t), head->len)) {
        return jpp_err_set(err, JPP_ERR_CUT, "the table of pools was cut: "
                           "whoever wrote it did not finish");
    }

    if (len != head->len) {
        return jpp_err_set(err, JPP_ERR_INPUT, "not a table of pools: %zu "
                           "bytes follow its end", len - (size_t) head->len);
    }

    return JPP_OK;
}


/* Are the numbers of the record at P within their bounds? */

static bool
jpp_pools_is_valid(const jpp_pools_record_t *record, const uint8_t *p,
    const jpp_pools_bytes_t *bytes)
{
    size_t                    at, size;
    uint64_t                  n, limit;
    const jpp_pools_field_t  *field;

    jpp_each(field, record->fields, record->n) {
        size = jpp_smaller(field->size, sizeof(uint64_t));

        limit = field->type == JPP_POOLS_IS_NUMBER ? field->limit
                : field->type == JPP_POOLS_IS_AMOUNTS ? INT64_MAX
                : field->type == JPP_POOLS_IS_NAME ? bytes->n_names
                                                   : bytes->n_owners;

        for (at = 0; at < field->size; at += size) {
            n = jpp_scan_member(p + field->offset + at, size);

            if (n > limit || (n == 0 && field->type == JPP_POOLS_IS_OWNER)) {
                return false;
            }
        }
    }

    return true;
}


/* N records of the same kind to TO. */

static jpp_code_t
jpp_pools_get(const jpp_pools_record_t *record, uint32_t n, uint8_t *to,
    jpp_pools_bytes_t *bytes)
{
    for ( /* void */ ; n > 0; n--) {

        if (!jpp_pools_is_valid(record, bytes->pos, bytes)) {
            return JPP_ERR_INPUT;
        }

        memcpy(to, bytes->pos, record->size);

        to += record->size;
        bytes->pos += record->size;
    }

    return JPP_OK;
}


static jpp_code_t
jpp_pools_get_names(jpp_pools_t *table, jpp_pools_bytes_t *bytes)
{
    uint32_t    i, len;
    jpp_str_t  *name;

    for (i = 0; i < bytes->n_names; i++) {

        if ((size_t) (bytes->end - bytes->pos) < sizeof(len)) {
            return JPP_ERR_INPUT;
        }

        memcpy(&len, bytes->pos, sizeof(len));

        if (len > JPP_POOLS_NAME
            || len > (size_t) (bytes->end - bytes->pos) - sizeof(len))
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
jpp_pools_get_list(const jpp_pools_record_t *record, jpp_vec_t *to, uint32_t n,
    jpp_pools_bytes_t *bytes)
{
    uint8_t  *p;

    if (n == 0) {
        return JPP_OK;
    }

    /* a number of records that is made up takes no memory */

    if (n > (size_t) (bytes->end - bytes->pos) / record->size) {
        return JPP_ERR_INPUT;
    }

    p = jpp_vec_push(to, n * record->size);

    return p != NULL ? jpp_pools_get(record, n, p, bytes) : JPP_ERR_MEMORY;
}


jpp_code_t
jpp_pools_load(jpp_pools_t *table, jpp_arena_t *arena, const char *data,
    size_t len, jpp_err_t *err)
{
    size_t              i;
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
    bytes.n_owners = head.n[0];

    rc = (size_t) (bytes.end - bytes.pos) < sizeof(jpp_pools_facts_t)
         ? JPP_ERR_INPUT
         : jpp_pools_get(&jpp_pools_facts_record, 1, (uint8_t *) &table->facts,
                         &bytes);

    if (rc == JPP_OK) {
        rc = jpp_pools_get_names(table, &bytes);
    }

    for (i = 0; rc == JPP_OK && i < JPP_POOLS_LISTS; i++) {
        rc = jpp_pools_get_list(&jpp_pools_records[i], jpp_pools_list(table, i),
                                head.n[i], &bytes);
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

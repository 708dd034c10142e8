
#include <string.h>

#include "jpp_pools_fields.h"
#include "jpp_pools_file.h"
#include "jpp_write.h"


#define JPP_POOLS_BUFFER  8192


_Static_assert(sizeof(jpp_pools_head_t) == 32, "the head has no gaps");


static uint64_t
jpp_pools_file_len(const jpp_pools_t *table)
{
    size_t            i, n;
    uint64_t          len;
    const jpp_str_t  *names;

    names = jpp_vec_items(table->names, jpp_str_t);
    n = jpp_vec_count(table->names, jpp_str_t);

    len = sizeof(jpp_pools_head_t)
          + jpp_pools_record_len(&jpp_pools_facts_record);

    for (i = 0; i < n; i++) {
        len += 4 + names[i].len;
    }

    len += jpp_vec_count(table->owners, jpp_pools_owner_t)
           * jpp_pools_record_len(&jpp_pools_owner_record);
    len += jpp_vec_count(table->rows, jpp_pools_row_t)
           * jpp_pools_record_len(&jpp_pools_row_record);
    len += jpp_vec_count(table->units, jpp_pools_unit_t)
           * jpp_pools_record_len(&jpp_pools_unit_record);

    return len;
}


static void
jpp_pools_put_record(const jpp_pools_record_t *record, const void *from,
    jpp_sink_t *sink)
{
    size_t  i;

    for (i = 0; i < record->n; i++) {
        jpp_sink_write(sink, (const char *) from + record->fields[i].offset,
                       record->fields[i].size);
    }
}


static void
jpp_pools_put_records(const jpp_pools_record_t *record, const jpp_vec_t *from,
    jpp_sink_t *sink)
{
    size_t  i;

    for (i = 0; i < from->len; i += record->size) {
        jpp_pools_put_record(record, from->data + i, sink);
    }
}


void
jpp_pools_write(const jpp_pools_t *table, jpp_sink_t *sink)
{
    uint32_t           i, len;
    const jpp_str_t   *names;
    jpp_pools_head_t   head;

    memcpy(head.magic, JPP_POOLS_MAGIC, sizeof(head.magic));

    head.len = jpp_pools_file_len(table);
    head.names = (uint32_t) jpp_vec_count(table->names, jpp_str_t);
    head.owners = (uint32_t) jpp_vec_count(table->owners, jpp_pools_owner_t);
    head.rows = (uint32_t) jpp_vec_count(table->rows, jpp_pools_row_t);
    head.units = (uint32_t) jpp_vec_count(table->units, jpp_pools_unit_t);

    jpp_sink_write(sink, &head, sizeof(jpp_pools_head_t));

    jpp_pools_put_record(&jpp_pools_facts_record, &table->facts, sink);

    names = jpp_vec_items(table->names, jpp_str_t);

    for (i = 0; i < head.names; i++) {
        len = (uint32_t) names[i].len;

        jpp_sink_write(sink, &len, sizeof(len));
        jpp_sink_write(sink, names[i].data, len);
    }

    jpp_pools_put_records(&jpp_pools_owner_record, table->owners, sink);
    jpp_pools_put_records(&jpp_pools_row_record, table->rows, sink);
    jpp_pools_put_records(&jpp_pools_unit_record, table->units, sink);
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


#include <stddef.h>

#include "jpp_pools_fields.h"


#define JPP_POOLS_LENGTH(a)  (sizeof(a) / sizeof((a)[0]))

#define JPP_POOLS_FIELD(type, member, is, limit)                              \
    { offsetof(type, member), sizeof(((type *) 0)->member),                   \
      JPP_POOLS_IS_##is, limit }

/* sums are signed in a profile */
#define JPP_POOLS_AMOUNT(type, member)                                        \
    JPP_POOLS_FIELD(type, member, NUMBER, INT64_MAX)

#define JPP_POOLS_BOOL(type, member)  JPP_POOLS_FIELD(type, member, NUMBER, 1)

#define JPP_POOLS_RECORD(table, type)                                         \
    { table, JPP_POOLS_LENGTH(table), sizeof(type) }


static const jpp_pools_field_t  jpp_pools_facts_fields[] = {
    JPP_POOLS_FIELD(jpp_pools_facts_t, reason, NUMBER, JPP_POOLS_REASONS - 1),
    JPP_POOLS_BOOL(jpp_pools_facts_t, has_total),
    JPP_POOLS_BOOL(jpp_pools_facts_t, is_estimate),
    JPP_POOLS_BOOL(jpp_pools_facts_t, has_scripts),
    JPP_POOLS_AMOUNT(jpp_pools_facts_t, total),
    JPP_POOLS_AMOUNT(jpp_pools_facts_t, outside_inherited),
    JPP_POOLS_AMOUNT(jpp_pools_facts_t, n_connections),
    JPP_POOLS_AMOUNT(jpp_pools_facts_t, n_slots),
    JPP_POOLS_AMOUNT(jpp_pools_facts_t, n_tls),
    JPP_POOLS_AMOUNT(jpp_pools_facts_t, n_missed),
    JPP_POOLS_AMOUNT(jpp_pools_facts_t, n_unproven),
    JPP_POOLS_AMOUNT(jpp_pools_facts_t, n_slices),
    JPP_POOLS_AMOUNT(jpp_pools_facts_t, nanos),
    JPP_POOLS_AMOUNT(jpp_pools_facts_t, longest_nanos),
    JPP_POOLS_FIELD(jpp_pools_facts_t, allocator, BYTES, 0)
};


static const jpp_pools_field_t  jpp_pools_owner_fields[] = {
    JPP_POOLS_FIELD(jpp_pools_owner_t, kind, NUMBER, JPP_POOLS_KINDS - 1),
    JPP_POOLS_FIELD(jpp_pools_owner_t, server, NAME, 0),
    JPP_POOLS_FIELD(jpp_pools_owner_t, location, NAME, 0),
    JPP_POOLS_FIELD(jpp_pools_owner_t, third, NAME, 0),
    JPP_POOLS_AMOUNT(jpp_pools_owner_t, n_units)
};


static const jpp_pools_field_t  jpp_pools_row_fields[] = {
    JPP_POOLS_FIELD(jpp_pools_row_t, owner, OWNER, 0),
    JPP_POOLS_FIELD(jpp_pools_row_t, class, NUMBER, JPP_POOLS_CLASSES - 1),
    JPP_POOLS_BOOL(jpp_pools_row_t, is_inherited),
    JPP_POOLS_FIELD(jpp_pools_row_t, module, NAME, 0),
    JPP_POOLS_AMOUNT(jpp_pools_row_t, objects),
    JPP_POOLS_AMOUNT(jpp_pools_row_t, bytes),
    JPP_POOLS_AMOUNT(jpp_pools_row_t, unused)
};


static const jpp_pools_field_t  jpp_pools_unit_fields[] = {
    JPP_POOLS_FIELD(jpp_pools_unit_t, owner, OWNER, 0),
    JPP_POOLS_FIELD(jpp_pools_unit_t, upstream, NAME, 0),
    JPP_POOLS_AMOUNT(jpp_pools_unit_t, objects),
    JPP_POOLS_AMOUNT(jpp_pools_unit_t, bytes),
    JPP_POOLS_AMOUNT(jpp_pools_unit_t, unused),
    JPP_POOLS_FIELD(jpp_pools_unit_t, most_owner, OWNER, 0),
    JPP_POOLS_FIELD(jpp_pools_unit_t, most_class, NUMBER,
                    JPP_POOLS_CLASSES - 1),
    JPP_POOLS_FIELD(jpp_pools_unit_t, most_module, NAME, 0),
    JPP_POOLS_AMOUNT(jpp_pools_unit_t, most_bytes),
    JPP_POOLS_FIELD(jpp_pools_unit_t, bound_module, NAME, 0),
    JPP_POOLS_AMOUNT(jpp_pools_unit_t, bound_number),
    JPP_POOLS_AMOUNT(jpp_pools_unit_t, bound_size),
    JPP_POOLS_AMOUNT(jpp_pools_unit_t, sending),
    JPP_POOLS_AMOUNT(jpp_pools_unit_t, receiving),
    JPP_POOLS_AMOUNT(jpp_pools_unit_t, age_msec),
    JPP_POOLS_AMOUNT(jpp_pools_unit_t, n_requests),
    JPP_POOLS_FIELD(jpp_pools_unit_t, state, NAME, 0),
    JPP_POOLS_FIELD(jpp_pools_unit_t, action, NAME, 0),
    JPP_POOLS_FIELD(jpp_pools_unit_t, protocol, NUMBER,
                    JPP_POOLS_PROTOCOLS - 1),
    JPP_POOLS_BOOL(jpp_pools_unit_t, is_tls),
    JPP_POOLS_FIELD(jpp_pools_unit_t, client_len, NUMBER, JPP_POOLS_CLIENT),
    JPP_POOLS_FIELD(jpp_pools_unit_t, uri_len, NUMBER, JPP_POOLS_URI),
    JPP_POOLS_FIELD(jpp_pools_unit_t, client, BYTES, 0),
    JPP_POOLS_FIELD(jpp_pools_unit_t, uri, BYTES, 0)
};


const jpp_pools_record_t  jpp_pools_facts_record =
    JPP_POOLS_RECORD(jpp_pools_facts_fields, jpp_pools_facts_t);

const jpp_pools_record_t  jpp_pools_owner_record =
    JPP_POOLS_RECORD(jpp_pools_owner_fields, jpp_pools_owner_t);

const jpp_pools_record_t  jpp_pools_row_record =
    JPP_POOLS_RECORD(jpp_pools_row_fields, jpp_pools_row_t);

const jpp_pools_record_t  jpp_pools_unit_record =
    JPP_POOLS_RECORD(jpp_pools_unit_fields, jpp_pools_unit_t);

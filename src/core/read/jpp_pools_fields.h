
/*
 * What the bytes of a table of pools consist of: the grammar, and the fields
 * that a writer (jpp_pools_file.h) and a reader (jpp_pools_load.h) go through.
 *
 *     file  := magic:8 length:8 names:4 owners:4 rows:4 units:4
 *              facts name* owner* row* unit*
 *     name  := length:4 bytes
 *
 * Numbers are those of the machine, which both processes run on.  LENGTH counts
 * all of it.  Facts, owners, rows and units are their fields, in the order of
 * the tables, without gaps.
 */


#ifndef _JPP_POOLS_FIELDS_H_INCLUDED_
#define _JPP_POOLS_FIELDS_H_INCLUDED_


#include "jpp_pools_table.h"


/* to be changed with the tables: the last byte is the version */
#define JPP_POOLS_MAGIC  "jpppool2"


typedef struct {
    char               magic[8];
    uint64_t           len;
    uint32_t           names;
    uint32_t           owners;
    uint32_t           rows;
    uint32_t           units;
} jpp_pools_head_t;


typedef enum {
    JPP_POOLS_IS_NUMBER = 0,           /* 0..limit */
    JPP_POOLS_IS_NAME,                 /* an id, or 0 */
    JPP_POOLS_IS_OWNER,                /* an id */
    JPP_POOLS_IS_BYTES                 /* any */
} jpp_pools_type_t;


typedef struct {
    size_t             offset;
    size_t             size;
    jpp_pools_type_t   type;
    uint64_t           limit;
} jpp_pools_field_t;


/* a part of the file: records of the same fields */
typedef struct {
    const jpp_pools_field_t   *fields;
    size_t                     n;
    size_t                     size;   /* of a struct */
} jpp_pools_record_t;


extern const jpp_pools_record_t  jpp_pools_facts_record;
extern const jpp_pools_record_t  jpp_pools_owner_record;
extern const jpp_pools_record_t  jpp_pools_row_record;
extern const jpp_pools_record_t  jpp_pools_unit_record;


/* The bytes of a record in the file. */
static inline size_t
jpp_pools_record_len(const jpp_pools_record_t *record)
{
    size_t  i, len;

    for (i = 0, len = 0; i < record->n; i++) {
        len += record->fields[i].size;
    }

    return len;
}


#endif /* _JPP_POOLS_FIELDS_H_INCLUDED_ */

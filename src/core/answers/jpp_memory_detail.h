
/*
 * What memory has on request: ledgers, smaps_rollup, arenas.
 *
 * Threads and memory as in jpp_memory.h.
 */


#ifndef _JPP_MEMORY_DETAIL_H_INCLUDED_
#define _JPP_MEMORY_DETAIL_H_INCLUDED_


#include "jpp_json.h"
#include "jpp_memory_input.h"


/* Append what WHO answered, as a member that the detail names, or null. */
void jpp_memory_detail_json(jpp_json_t *json, const jpp_memory_t *memory,
    const jpp_identity_t *who);

/* Append why it is null, of whom it is. */
void jpp_memory_detail_why(jpp_json_t *json, const jpp_memory_t *memory);


#endif /* _JPP_MEMORY_DETAIL_H_INCLUDED_ */

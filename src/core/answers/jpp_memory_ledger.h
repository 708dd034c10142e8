
/*
 * The ledgers that workers answered with: each as JSON, and their sum.
 *
 * Threads and memory as in jpp_memory.h.
 */


#ifndef _JPP_MEMORY_LEDGER_H_INCLUDED_
#define _JPP_MEMORY_LEDGER_H_INCLUDED_


#include "jpp_json.h"
#include "jpp_ledger.h"
#include "jpp_memory_input.h"


/* Ledgers of workers, added up. */
typedef struct {
    jpp_ledger_t         ledger;       /* its rows */
    jpp_ledger_facts_t   facts;
    size_t               n;            /* workers */
} jpp_memory_ledger_t;


/* Has ANSWER any data?  If not, ERR says why. */
bool jpp_memory_has_data(const jpp_memory_answer_t *answer, jpp_err_t *err);

/* Load the ledger of ANSWER; false: it has none, and ERR says why. */
bool jpp_memory_ledger_of(jpp_ledger_read_t *ledger,
    const jpp_memory_answer_t *answer, jpp_err_t *err);

/* Fill SUM with the ledgers in MEMORY.  False: no memory. */
bool jpp_memory_ledger(jpp_memory_ledger_t *sum, const jpp_memory_t *memory);

/* Append the ledger of ANSWER, or null. */
void jpp_memory_ledger_json(jpp_json_t *json,
    const jpp_memory_answer_t *answer);

/* Append the sum, where MEMORY is to have ledgers.  False: no memory. */
bool jpp_memory_ledger_total(jpp_json_t *json, const jpp_memory_t *memory);


#endif /* _JPP_MEMORY_LEDGER_H_INCLUDED_ */

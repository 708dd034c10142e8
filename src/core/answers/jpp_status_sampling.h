
/*
 * Who samples the heap of a worker, at which rate, and what that costs: the
 * middle of what jpp_status.h writes of it.
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_STATUS_SAMPLING_H_INCLUDED_
#define _JPP_STATUS_SAMPLING_H_INCLUDED_


#include "jpp_json.h"
#include "jpp_worker.h"


/* Add the members to the object of WORKER, which is open. */
void jpp_status_sampling(jpp_json_t *json, const jpp_worker_t *worker);


#endif /* _JPP_STATUS_SAMPLING_H_INCLUDED_ */

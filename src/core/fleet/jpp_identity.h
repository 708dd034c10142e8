
/*
 * A worker's identity: the same three numbers wherever one is named.
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_IDENTITY_H_INCLUDED_
#define _JPP_IDENTITY_H_INCLUDED_


#include "jpp_json.h"


typedef struct {
    uint32_t   index;              /* nginx's number for it, from 0 */
    int64_t    pid;
    uint64_t   generation;         /* of the configuration, from 1 */
} jpp_identity_t;


/* Write the members worker, pid and generation of the object that is open. */
void jpp_json_identity(jpp_json_t *json, const jpp_identity_t *identity);


#endif /* _JPP_IDENTITY_H_INCLUDED_ */

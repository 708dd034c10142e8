
#include <string.h>

#include "jpp_pools_file.h"
#include "jpp_requests.h"
#include "jpp_roots.h"


jpp_code_t
jpp_requests_check(const jpp_args_t *args, jpp_err_t *err)
{
    if (jpp_roots_allow((jpp_by_t) args->values[JPP_ARG_BY])) {
        return jpp_err_set(err, JPP_ERR_ARG, "requests takes by=request and "
                           "by=connection: sums by location, server and "
                           "upstream are in locations and pools");
    }

    return JPP_OK;
}


jpp_pools_wants_t
jpp_requests_wants(jpp_by_t by)
{
    return by == JPP_BY_CONNECTION ? JPP_POOLS_CONNECTIONS
                                   : JPP_POOLS_REQUESTS;
}


bool
jpp_requests_init(jpp_requests_t *requests, jpp_arena_t *arena,
    const jpp_args_t *args)
{
    memset(requests, 0, sizeof(jpp_requests_t));

    requests->arena = arena;
    requests->args = args;
    requests->has_clients = args->values[JPP_ARG_CLIENTS] != 0;
    requests->workers = jpp_vec_create(arena);
    requests->missing = jpp_vec_create(arena);

    return requests->workers != NULL && requests->missing != NULL;
}


bool
jpp_requests_add(jpp_requests_t *requests, const jpp_identity_t *who,
    const char *data, size_t len)
{
    jpp_err_t               err;
    jpp_code_t              rc;
    jpp_pools_t             table;
    jpp_requests_worker_t  *worker;

    rc = jpp_pools_load(&table, requests->arena, data, len, &err);

    if (rc == JPP_ERR_MEMORY) {
        return false;
    }

    if (rc != JPP_OK) {
        return jpp_requests_missing(requests, who, err.text);
    }

    worker = jpp_vec_push(requests->workers, sizeof(jpp_requests_worker_t));

    if (worker == NULL) {
        return false;
    }

    worker->who = *who;
    worker->table = table;

    return true;
}


bool
jpp_requests_missing(jpp_requests_t *requests, const jpp_identity_t *who,
    const char *why)
{
    jpp_missing_t  *missing;

    missing = jpp_vec_push(requests->missing, sizeof(jpp_missing_t));

    if (missing == NULL) {
        return false;
    }

    missing->who = *who;
    missing->why = jpp_arena_strndup(requests->arena, why, strlen(why));

    return missing->why != NULL;
}

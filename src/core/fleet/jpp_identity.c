
#include "jpp_identity.h"


void
jpp_json_identity(jpp_json_t *json, const jpp_identity_t *identity)
{
    jpp_json_u64(json, "worker", identity->index);
    jpp_json_i64(json, "pid", identity->pid);
    jpp_json_u64(json, "generation", identity->generation);
}

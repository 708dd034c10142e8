
#include "jpp_backtrace.h"
#include "jpp_hook.h"
#include "jpp_mallctl.h"
#include "jpp_owner_labels.h"
#include "jpp_owners.h"
#include "jpp_unwind.h"


/* jemalloc's prof_backtrace_hook_t, in include/jemalloc/internal/prof_hook.h */
typedef void (*jpp_hook_pt)(void **pcs, unsigned *n, unsigned depth);


static const char  jpp_hook_name[] = "experimental.hooks.prof_backtrace";

static jpp_hook_pt  jpp_hook_before;


static bool
jpp_hook_get(jpp_hook_pt *hook)
{
    return jpp_mallctl_call(jpp_hook_name, hook, sizeof(jpp_hook_pt), NULL, 0)
           == 0;
}


/* DEPTH is 128, or opt.prof_bt_max of 5.3.1: from 1 on. */

static void
jpp_hook_walk(void **pcs, unsigned *n, unsigned depth)
{
    uint32_t   i, few, owner;
    uintptr_t  buffer[JPP_BACKTRACE_MIN];

    if (depth >= JPP_BACKTRACE_MIN) {
        *n = jpp_backtrace((uintptr_t *) pcs, depth);
        owner = jpp_owners_here();

        /* a walk leaves room for two */

        if (owner != JPP_OWNER_NONE && *n < depth) {
            pcs[(*n)++] = (void *) (uintptr_t) (JPP_OWNER_FRAME + owner);
        }

        return;
    }

    few = jpp_backtrace(buffer, JPP_BACKTRACE_MIN);

    for (i = 0; i < few && i < depth; i++) {
        pcs[i] = (void *) buffer[i];
    }

    *n = i;
}


jpp_hook_t
jpp_hook_set(void)
{
    jpp_hook_pt  hook;

    if (!jpp_hook_get(&hook) || hook == jpp_hook_walk
        || !jpp_backtrace_start())
    {
        return jpp_hook_read();
    }

    jpp_hook_before = hook;
    hook = jpp_hook_walk;

    (void) jpp_mallctl_call(jpp_hook_name, NULL, 0, &hook, sizeof(hook));

    return jpp_hook_read();
}


void
jpp_hook_reset(void)
{
    jpp_hook_pt  hook;

    if (jpp_hook_get(&hook) && hook == jpp_hook_walk) {
        (void) jpp_mallctl_call(jpp_hook_name, NULL, 0, &jpp_hook_before,
                                sizeof(jpp_hook_before));
    }
}


jpp_hook_t
jpp_hook_read(void)
{
    jpp_hook_pt  hook;

    if (!jpp_unwind_is_here()) {
        return JPP_HOOK_MACHINE;
    }

    if (!jpp_hook_get(&hook)) {
        return JPP_HOOK_ABSENT;
    }

    return hook == jpp_hook_walk ? JPP_HOOK_ON : JPP_HOOK_OFF;
}

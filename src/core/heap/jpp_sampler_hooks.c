
/* The types, and what the arguments are, as of hook.h in jemalloc's sources. */


#include <stddef.h>

#include "jpp_mallctl.h"
#include "jpp_sampler_hooks.h"
#include "jpp_samples.h"


#define JPP_HOOKS_CALLER  __builtin_return_address(0)


/* the calls that allocate, in jemalloc's order */
typedef enum {
    JPP_HOOKS_MALLOC = 0,
    JPP_HOOKS_POSIX_MEMALIGN,
    JPP_HOOKS_ALIGNED_ALLOC,
    JPP_HOOKS_CALLOC,
    JPP_HOOKS_MEMALIGN,
    JPP_HOOKS_VALLOC,
    JPP_HOOKS_MALLOCX,
    JPP_HOOKS_REALLOC,
    JPP_HOOKS_RALLOCX,
    JPP_HOOKS
} jpp_hooks_call_t;


typedef struct {
    void   (*allocated)(void *extra, int call, void *p, uintptr_t result,
                        uintptr_t *args);
    void   (*freed)(void *extra, int call, void *p, uintptr_t *args);
    void   (*resized)(void *extra, int call, void *p, size_t was, size_t size,
                      uintptr_t result, uintptr_t *args);
    void    *extra;
} jpp_hooks_t;


/* the argument that is the size; calloc() has two */
static const uint8_t  jpp_hooks_sizes[JPP_HOOKS] = {
    [JPP_HOOKS_MALLOC]         = 0,
    [JPP_HOOKS_POSIX_MEMALIGN] = 2,
    [JPP_HOOKS_ALIGNED_ALLOC]  = 1,
    [JPP_HOOKS_CALLOC]         = 1,
    [JPP_HOOKS_MEMALIGN]       = 1,
    [JPP_HOOKS_VALLOC]         = 0,
    [JPP_HOOKS_MALLOCX]        = 0,
    [JPP_HOOKS_REALLOC]        = 1,
    [JPP_HOOKS_RALLOCX]        = 1
};


static void  *jpp_hooks_handle;


static void
jpp_hooks_allocated(void *extra, int call, void *p, uintptr_t result,
    uintptr_t *args)
{
    uintptr_t  size;

    (void) extra;
    (void) result;

    if (p == NULL || (unsigned) call >= JPP_HOOKS) {
        return;
    }

    size = args[jpp_hooks_sizes[call]];

    if (call == JPP_HOOKS_CALLOC) {
        size *= args[0];
    }

    if (jpp_samples_is_due(size)) {
        jpp_samples_take(p, size, JPP_HOOKS_CALLER, NULL);
    }
}


static void
jpp_hooks_freed(void *extra, int call, void *p, uintptr_t *args)
{
    uint64_t  object;

    (void) extra;
    (void) call;
    (void) args;

    (void) jpp_samples_freed((uintptr_t) p, &object);
}


/* In its place: as if it had been freed, and allocated again. */

static void
jpp_hooks_resized(void *extra, int call, void *p, size_t was, size_t size,
    uintptr_t result, uintptr_t *args)
{
    uint64_t  object;

    (void) extra;
    (void) call;
    (void) was;
    (void) result;
    (void) args;

    (void) jpp_samples_freed((uintptr_t) p, &object);

    if (jpp_samples_is_due(size)) {
        jpp_samples_take(p, size, JPP_HOOKS_CALLER, NULL);
    }
}


bool
jpp_hooks_install(void)
{
    jpp_hooks_t  hooks;

    hooks.allocated = jpp_hooks_allocated;
    hooks.freed = jpp_hooks_freed;
    hooks.resized = jpp_hooks_resized;
    hooks.extra = NULL;

    return jpp_mallctl_call("experimental.hooks.install", &jpp_hooks_handle,
                            sizeof(void *), &hooks, sizeof(hooks))
           == 0;
}


bool
jpp_hooks_remove(void)
{
    return jpp_mallctl_call("experimental.hooks.remove", NULL, 0,
                            &jpp_hooks_handle, sizeof(void *))
           == 0;
}

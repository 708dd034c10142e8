
/* dlinfo() */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

#include "jpp_hold.h"


/* It may have been unloaded meanwhile, and loaded again elsewhere. */

void *
jpp_hold(const char *name, uintptr_t base)
{
    void             *handle;
    struct link_map  *map;

    handle = dlopen(name, RTLD_LAZY|RTLD_NOLOAD);

    if (handle != NULL
        && (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map->l_addr != base))
    {
        (void) dlclose(handle);
        return NULL;
    }

    return handle;
}


void
jpp_hold_end(void *handle)
{
    if (handle != NULL) {
        (void) dlclose(handle);
    }
}

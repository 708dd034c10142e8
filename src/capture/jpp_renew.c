
/* dlinfo() */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "jpp_hold.h"
#include "jpp_images.h"
#include "jpp_renew.h"


static bool jpp_renew_one(jpp_mapped_t *objects, void *handle, bool is_used);


bool
jpp_renew(jpp_mapped_t *objects, bool is_used)
{
    bool                      is_gone;
    uint32_t                  i;
    const jpp_mapped_code_t  *code;

    is_gone = false;

    for (i = 0; i < objects->n; i++) {
        code = &objects->objects[i];

        if (code->handle != NULL && !(is_used && code->stays)) {
            is_gone |= jpp_renew_one(objects, code->handle, is_used);
        }
    }

    return is_gone;
}


/* Where something was unloaded, the name may stand for another object. */

static bool
jpp_renew_one(jpp_mapped_t *objects, void *handle, bool is_used)
{
    char              name[JPP_IMAGES_NAME];
    void             *again;
    uint64_t          unloads;
    uintptr_t         base;
    struct link_map  *map;

    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0
        || strlen(map->l_name) >= JPP_IMAGES_NAME)
    {
        return false;
    }

    memcpy(name, map->l_name, strlen(map->l_name) + 1);
    base = map->l_addr;

    jpp_mapped_show(objects, handle, false);

    if (!jpp_mapped_is_left(objects)) {
        jpp_mapped_show(objects, handle, true);
        return false;
    }

    unloads = jpp_images_unloads();

    jpp_hold_end(handle);

    again = is_used ? jpp_hold(name, base) : NULL;

    if (again == handle && jpp_images_unloads() == unloads) {
        jpp_mapped_show(objects, handle, true);
        return false;
    }

    jpp_hold_end(again);
    jpp_mapped_forget(objects, handle);

    return true;
}


/* dladdr1(), RTLD_DEFAULT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <link.h>

#include "jpp_got_find.h"
#include "jpp_images.h"


typedef struct {
    const char   *name;
    uintptr_t     address;
} jpp_got_search_t;


static bool jpp_got_is_entry(uintptr_t address);
static bool jpp_got_defined(const jpp_images_object_t *object, void *data);


uintptr_t
jpp_got_find(const char *name)
{
    void              *symbol;
    jpp_got_search_t   search;

    symbol = dlsym(RTLD_DEFAULT, name);

    if (symbol == NULL || !jpp_got_is_entry((uintptr_t) symbol)) {
        return (uintptr_t) symbol;
    }

    search.name = name;
    search.address = 0;

    jpp_images_pinned(jpp_got_defined, &search);

    return search.address;
}


/*
 * A program at a fixed address that takes a function's address has it stand
 * for an entry of its own, which calls by the slot that is to be patched.
 */

static bool
jpp_got_is_entry(uintptr_t address)
{
#ifdef __GLIBC__

    void      *symbol;
    Dl_info    info;

    return dladdr1((void *) address, &info, &symbol, RTLD_DL_SYMENT) != 0
           && symbol != NULL
           && ((const ElfW(Sym) *) symbol)->st_shndx == SHN_UNDEF;

#else

    (void) address;

    return false;

#endif
}


bool
jpp_got_is_beside(uintptr_t one, uintptr_t other)
{
    Dl_info  ones, others;

    return dladdr((void *) one, &ones) != 0
           && dladdr((void *) other, &others) != 0
           && ones.dli_fbase == others.dli_fbase;
}


/* Objects come in the order in which the linker looks into them. */

static bool
jpp_got_defined(const jpp_images_object_t *object, void *data)
{
    jpp_got_search_t *search = data;

    void  *handle, *symbol;

    handle = object->name[0] != '\0'
             ? dlopen(object->name, RTLD_LAZY|RTLD_NOLOAD) : NULL;

    if (handle == NULL) {
        return true;
    }

    symbol = dlsym(handle, search->name);
    (void) dlclose(handle);

    if (symbol == NULL
        || jpp_mapped_segment(&object->mapped, (uintptr_t) symbol) == NULL
        || jpp_got_is_entry((uintptr_t) symbol))
    {
        return true;
    }

    search->address = (uintptr_t) symbol;

    return false;
}

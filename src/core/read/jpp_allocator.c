
/*
 * Recognizes jemalloc's frames: by the library's file name or, if jemalloc is
 * linked into a program, by function names.
 */


#include "jpp_dump.h"


#define JPP_ALLOCATOR_LIBRARY  "libjemalloc"


/* the private prefix, and that of tikv's builds, are jemalloc's alone */

static const char  *jpp_allocator_prefixes[] = {
    "je_", "_rjem_", "prof_backtrace", "prof_alloc_prep", "prof_malloc",
    "imalloc", "irealloc", "do_rallocx", "malloc_default", "fallback_impl",
    "_ZL7newImpl", "_Z7newImpl", "_ZL13fallback_impl", "_Z13fallback_impl",
    NULL
};


/* what programs call, operators new among them */

static const char  *jpp_allocator_names[] = {
    "malloc", "calloc", "realloc", "reallocarray", "memalign", "valloc",
    "pvalloc", "aligned_alloc", "posix_memalign", "mallocx", "rallocx",
    "xallocx", "smallocx", "_Znwm", "_Znam", "_ZnwmRKSt9nothrow_t",
    "_ZnamRKSt9nothrow_t", "_ZnwmSt11align_val_t", "_ZnamSt11align_val_t",
    "_ZnwmSt11align_val_tRKSt9nothrow_t",
    "_ZnamSt11align_val_tRKSt9nothrow_t",
    NULL
};


bool
jpp_allocator_is_library(const char *path)
{
    const char  *name;

    name = strrchr(path, '/');

    return name != NULL
           && strncmp(name + 1, JPP_ALLOCATOR_LIBRARY,
                      sizeof(JPP_ALLOCATOR_LIBRARY) - 1)
              == 0;
}


bool
jpp_allocator_is_function(const char *name)
{
    const char  **known;

    for (known = jpp_allocator_prefixes; *known != NULL; known++) {
        if (strncmp(name, *known, strlen(*known)) == 0) {
            return true;
        }
    }

    for (known = jpp_allocator_names; *known != NULL; known++) {
        if (strcmp(name, *known) == 0) {
            return true;
        }
    }

    return false;
}

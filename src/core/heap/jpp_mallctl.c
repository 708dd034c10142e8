
/*
 * Finds the process's mallctl() and malloc_stats_print() under the names of the
 * usual builds; uses them only if malloc() is proven to belong to the same
 * library.  The owner of both functions.
 */


#include "jpp_jemalloc.h"

#include <dlfcn.h>


#define JPP_MALLCTL_BUILDS                                                    \
    (sizeof(jpp_mallctl_builds) / sizeof(jpp_mallctl_builds[0]))


typedef int (*jpp_mallctl_pt)(const char *name, void *old, size_t *old_size,
    void *new, size_t new_size);

typedef void (*jpp_mallctl_print_pt)(void (*write)(void *ctx,
    const char *text), void *ctx, const char *options);


typedef struct {
    const char    *symbol;
    const char    *print;
    const char    *variable;
} jpp_mallctl_build_t;


/*
 * A build with a prefix puts it, in upper case, before the variable's name too
 * (JEMALLOC_CPREFIX in jemalloc.c).
 */

static const jpp_mallctl_build_t  jpp_mallctl_builds[] = {
    { "mallctl",        "malloc_stats_print",        "MALLOC_CONF" },
    { "je_mallctl",     "je_malloc_stats_print",     "JE_MALLOC_CONF" },
    { "_rjem_mallctl",  "_rjem_malloc_stats_print",  "_RJEM_MALLOC_CONF" }
};


static jpp_mallctl_pt        jpp_mallctl_function;
static jpp_mallctl_print_pt  jpp_mallctl_printer;


/* FUNCTION, if it is in the object that has SYMBOL; or NULL */

static void *
jpp_mallctl_same_object(void *symbol, const char *function)
{
    void  *found;

    found = dlsym(RTLD_DEFAULT, function);

    return found != NULL
           && jpp_images_is_beside((uintptr_t) found, (uintptr_t) symbol)
           ? found : NULL;
}


/*
 * A mallctl may belong to an allocator that a library was linked with for its
 * own use; then malloc() in this thread does not move its counter.
 */

static bool
jpp_mallctl_is_malloc(void *symbol)
{
    void      *block;
    uint64_t   before, after;

    if (jpp_mallctl_call("thread.allocated", &before, sizeof(before), NULL, 0)
        != 0)
    {
        /* built without statistics */

        return jpp_mallctl_same_object(symbol, "malloc") != NULL;
    }

    block = malloc(64);

    /* if the block is unused, a compiler leaves both calls out */

    __asm__ volatile ("" : "+r" (block) : : "memory");

    if (jpp_mallctl_call("thread.allocated", &after, sizeof(after), NULL, 0)
        != 0)
    {
        after = before;
    }

    free(block);

    return after > before;
}


bool
jpp_mallctl_find(const char **variable)
{
    void    *symbol, *print;
    size_t   i;

    *variable = jpp_mallctl_builds[0].variable;

    for (i = 0; i < JPP_MALLCTL_BUILDS; i++) {

        symbol = dlsym(RTLD_DEFAULT, jpp_mallctl_builds[i].symbol);

        if (symbol == NULL) {
            continue;
        }

        /* ISO C has no conversion from an object's address to a function's */

        memcpy(&jpp_mallctl_function, &symbol, sizeof(symbol));

        if (jpp_mallctl_is_malloc(symbol)) {
            *variable = jpp_mallctl_builds[i].variable;

            print = jpp_mallctl_same_object(symbol,
                                            jpp_mallctl_builds[i].print);
            memcpy(&jpp_mallctl_printer, &print, sizeof(print));

            return true;
        }
    }

    jpp_mallctl_function = NULL;
    jpp_mallctl_printer = NULL;

    return false;
}


void
jpp_mallctl_allocator(char *text, size_t size)
{
    void     *function;
    Dl_info   info;

    function = dlsym(RTLD_DEFAULT, "malloc");

    if (dladdr(function, &info) != 0) {
        (void) snprintf(text, size, "%s", jpp_path_name(info.dli_fname));
    }
}


const char *
jpp_mallctl_variable(uint32_t number)
{
    return number < JPP_MALLCTL_BUILDS ? jpp_mallctl_builds[number].variable
                                       : NULL;
}


int
jpp_mallctl_call(const char *name, void *old, size_t old_size, void *new,
    size_t new_size)
{
    int     rc;
    size_t  size;

    if (jpp_mallctl_function == NULL) {
        return ENOENT;
    }

    size = old_size;

    rc = jpp_mallctl_function(name, old, old != NULL ? &size : NULL, new,
                              new_size);

    return rc == 0 && size != old_size ? EINVAL : rc;
}


bool
jpp_mallctl_print(void (*write)(void *ctx, const char *text), void *ctx)
{
    if (jpp_mallctl_printer == NULL) {
        return false;
    }

    jpp_mallctl_printer(write, ctx, "J");

    return true;
}


bool
jpp_mallctl_is_true(const char *name)
{
    bool  value;

    return jpp_mallctl_get(name, &value, sizeof(value)) && value;
}

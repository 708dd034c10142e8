
/*
 * Describes a stall's place in a few words, at once, from the symbols that the
 * dynamic linker knows.  A report knows more.
 *
 * For a process about its own stalls; any thread, outside signals.
 */


#include "jpp_backtrace.h"
#include "jpp_cut.h"
#include "jpp_images.h"
#include "jpp_watch.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>


/* of a function, and of its object */
#define JPP_WHERE_NAME    160

#define JPP_WHERE_PATH    4096

/* the program headers lie in the first page of an object */
#define JPP_WHERE_HEADER  4096


static const char *const  jpp_where_kinds[JPP_STALL_KINDS] = {
    [JPP_STALL_RAN]     = "computing",
    [JPP_STALL_WAITED]  = "blocked",
    [JPP_STALL_SHORT]   = "too short for its stack to be taken",
    [JPP_STALL_FOREIGN] = "computing, without a stack, since another profiler "
                          "uses SIGPROF",
    [JPP_STALL_BLIND]   = "without a stack, since the kernel does not say "
                          "what a thread does"
};


/* The name of PC's function; returns its object, NULL: it is in none. */

static const void *
jpp_where_name(uint64_t pc, char name[JPP_WHERE_NAME])
{
    char               path[JPP_WHERE_PATH];
    void              *symbol;
    Dl_info            info;
    ssize_t            n;
    uintptr_t          address, start;
    const char        *file;

    address = (uintptr_t) pc - 1;
    symbol = NULL;

    if (jpp_cut_name(pc) != NULL
        || dladdr1((void *) address, &info, &symbol, RTLD_DL_SYMENT) == 0
        || info.dli_fname == NULL)
    {
        (void) snprintf(name, JPP_WHERE_NAME, "code of no file");
        return NULL;
    }

    file = info.dli_fname;

    /* the linker has a program's from argv[0], which may be a title by now */

    if ((uintptr_t) getauxval(AT_PHDR) - (uintptr_t) info.dli_fbase
        < JPP_WHERE_HEADER)
    {
        n = readlink("/proc/self/exe", path, sizeof(path) - 1);
        path[n > 0 ? n : 0] = '\0';
        file = path;
    }

    file = jpp_path_name(file);

    /* the nearest symbol is the function's only if it extends so far */

    if (symbol != NULL && info.dli_sname != NULL
        && address - (uintptr_t) info.dli_saddr
           < ((const ElfW(Sym) *) symbol)->st_size)
    {
        (void) snprintf(name, JPP_WHERE_NAME, "%.96s (%.56s)", info.dli_sname,
                        file);

    } else {

        /* as a report has it: all of a function is one name */

        start = jpp_backtrace_function(address);

        (void) snprintf(name, JPP_WHERE_NAME, "%.96s+0x%" PRIx64, file,
                        (uint64_t) (start != 0 ? start : address)
                        - (uintptr_t) info.dli_fbase);
    }

    return info.dli_fbase;
}


const char *
jpp_where(const jpp_stall_t *stall, char text[JPP_STALL_WHERE])
{
    char         name[JPP_WHERE_NAME], caller[JPP_WHERE_NAME];
    uint32_t     i;
    const void  *leaf, *object;

    if (stall->depth == 0) {
        (void) snprintf(text, JPP_STALL_WHERE, "%s",
                        jpp_where_kinds[stall->kind]);
        return text;
    }

    leaf = jpp_where_name(stall->pcs[0], name);
    object = NULL;

    /* who has called into that library, and not libc for the kernel */

    for (i = 1; i < stall->depth && object == NULL; i++) {
        object = jpp_where_name(stall->pcs[i], caller);

        if (object == leaf
            || jpp_images_is_beside((uintptr_t) object, (uintptr_t) getpid))
        {
            object = NULL;
        }
    }

    (void) snprintf(text, JPP_STALL_WHERE, "%s in %s%s%s",
                    jpp_where_kinds[stall->kind], name,
                    object != NULL ? ", called by " : "",
                    object != NULL ? caller : "");

    jpp_ascii_clean(text);

    return text;
}

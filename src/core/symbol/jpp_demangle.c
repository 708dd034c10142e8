
/* RTLD_DEFAULT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "jpp_demangle.h"


/* the demangler's stack grows with the name: about 64 bytes a byte */
#define JPP_DEMANGLE_MAX_NAME   1024

/*
 * What a name may unfold to.  A reference ("S1_", "T_") stands for an earlier
 * part of the name, which may hold references itself: with n of them a name
 * becomes up to 3^(n/3) times as long, 350 times for 16.  A pack expansion
 * ("Dp") repeats what follows it for every argument of the pack.
 */
#define JPP_DEMANGLE_MAX_COST   16
#define JPP_DEMANGLE_REFERENCE  1
#define JPP_DEMANGLE_PACK       8


jpp_demangle_pt
jpp_demangle_find(void)
{
    union {
        void             *address;
        jpp_demangle_pt   function;
    } symbol;

    symbol.address = dlsym(RTLD_DEFAULT, "__cxa_demangle");

    return symbol.function;
}


/*
 * Counts what looks like a reference or a pack, in identifiers as well: too
 * high is safe.
 */

static size_t
jpp_demangle_cost(const char *name)
{
    size_t       cost;
    const char  *p, *end;

    cost = 0;

    for (p = name; *p != '\0'; p++) {

        if (p[0] == 'D' && p[1] == 'p') {
            cost += JPP_DEMANGLE_PACK;
            continue;
        }

        if (*p != 'S' && *p != 'T') {
            continue;
        }

        end = p + 1 + strspn(p + 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");

        if (*end == '_') {
            cost += JPP_DEMANGLE_REFERENCE;
        }
    }

    return cost;
}


bool
jpp_demangle(jpp_demangle_pt demangle, const char *name, char *buf,
    size_t size)
{
    int      status;
    char    *text;
    bool     fits;
    size_t   len;

    if (demangle == NULL
        || name[0] != '_' || name[1] != 'Z'
        || strnlen(name, JPP_DEMANGLE_MAX_NAME + 1) > JPP_DEMANGLE_MAX_NAME
        || jpp_demangle_cost(name) > JPP_DEMANGLE_MAX_COST)
    {
        return false;
    }

    status = 0;
    text = demangle(name, NULL, NULL, &status);

    if (text == NULL) {
        return false;
    }

    len = strlen(text);
    fits = (status == 0 && len != 0 && len < size);

    if (fits) {
        memcpy(buf, text, len + 1);
    }

    free(text);

    return fits;
}

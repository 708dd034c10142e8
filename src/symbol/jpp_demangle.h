
/*
 * C++ names as people write them, by the demangler of whatever C++ library
 * the process has loaded; the owner of __cxa_demangle.
 *
 * It works in malloc and what it takes is given back.  A name is hostile
 * input, and one of 190 bytes can unfold to 9 MB and to twice as much with
 * every ten bytes more; so names are not only bounded in length but also in
 * what they can unfold to, and those beyond stay as they are.
 */


#ifndef _JPP_DEMANGLE_H_INCLUDED_
#define _JPP_DEMANGLE_H_INCLUDED_


#include <stdbool.h>
#include <stddef.h>


typedef char *(*jpp_demangle_pt)(const char *name, char *buf, size_t *len,
    int *status);


/* The demangler, or NULL where the process has none.  Slow: ask once. */
jpp_demangle_pt jpp_demangle_find(void);

/*
 * Write what NAME means to the SIZE bytes at BUF and return true; false where
 * DEMANGLE is NULL, or NAME is not mangled, or too much for it or for BUF.
 */
bool jpp_demangle(jpp_demangle_pt demangle, const char *name, char *buf,
    size_t size);


#endif /* _JPP_DEMANGLE_H_INCLUDED_ */


/*
 * C++ names as people write them, by the demangler of whatever C++ library
 * the process has loaded; the owner of __cxa_demangle.
 *
 * It uses malloc, and gives everything back.  A name is hostile input: one of
 * 190 bytes can unfold to 9 MB, and to twice as much with every ten bytes
 * more.  So the length of names is bounded, and what they can unfold to;
 * others stay mangled.
 */


#ifndef _JPP_DEMANGLE_H_INCLUDED_
#define _JPP_DEMANGLE_H_INCLUDED_


#include <stdbool.h>
#include <stddef.h>


typedef char *(*jpp_demangle_pt)(const char *name, char *buf, size_t *len,
    int *status);


/* The demangler, or NULL if the process has none.  Slow: call it once. */
jpp_demangle_pt jpp_demangle_find(void);

/*
 * Write the demangled NAME to the SIZE bytes at BUF; false if DEMANGLE is
 * NULL, NAME is not mangled, or the result exceeds the bounds or BUF.
 */
bool jpp_demangle(jpp_demangle_pt demangle, const char *name, char *buf,
    size_t size);


#endif /* _JPP_DEMANGLE_H_INCLUDED_ */

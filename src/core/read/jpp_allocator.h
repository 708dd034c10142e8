
/*
 * What belongs to jemalloc: its library by the file's name, and where it is
 * linked into a program, its functions by theirs.
 *
 * The names only decide which addresses are left out at the leaf of a stack,
 * up to the first of another function.  Pure functions.
 */


#ifndef _JPP_ALLOCATOR_H_INCLUDED_
#define _JPP_ALLOCATOR_H_INCLUDED_


#include "jpp_core.h"


/* Is the file at PATH a libjemalloc? */
bool jpp_allocator_is_library(const char *path);

/* Is NAME, as the linker knows it, a function of jemalloc? */
bool jpp_allocator_is_function(const char *name);


#endif /* _JPP_ALLOCATOR_H_INCLUDED_ */

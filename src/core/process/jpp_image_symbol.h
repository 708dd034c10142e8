
/*
 * Whether an object that is loaded defines a global symbol, by the tables that
 * the linker itself would search.
 *
 * dlsym() says the same, but for a symbol that is missing it takes memory from
 * malloc, for the text of its error.  No state; any thread.
 */


#ifndef _JPP_IMAGE_SYMBOL_H_INCLUDED_
#define _JPP_IMAGE_SYMBOL_H_INCLUDED_


#include <link.h>
#include <stdbool.h>
#include <stdint.h>


/*
 * Does the object at BASE, whose dynamic section is DYNAMIC, define NAME?  One
 * without DT_GNU_HASH defines nothing.
 */
bool jpp_image_symbol(uintptr_t base, const ElfW(Dyn) *dynamic,
    const char *name);


#endif /* _JPP_IMAGE_SYMBOL_H_INCLUDED_ */

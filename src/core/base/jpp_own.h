
/*
 * Which addresses this module has mapped for itself, so that whoever looks at
 * the mappings of the process can tell them from those of others: the kernel
 * makes one mapping of neighbours, and need not know names.
 *
 * Any thread; a child has what its parent had.
 */


#ifndef _JPP_OWN_H_INCLUDED_
#define _JPP_OWN_H_INCLUDED_


#include "jpp_config.h"


/* mappings at once; those past them are nobody's */
#define JPP_OWN_MAPPINGS  256


typedef struct {
    uintptr_t   start;
    size_t      size;
} jpp_own_t;


/* The SIZE bytes at P are mapped; those at P are unmapped now. */
void jpp_own_add(const void *p, size_t size);
void jpp_own_remove(const void *p);

/* Write what there is to LIST; how many. */
size_t jpp_own_list(jpp_own_t list[JPP_OWN_MAPPINGS]);


#endif /* _JPP_OWN_H_INCLUDED_ */

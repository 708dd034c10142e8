
/*
 * What a file is if it is not a heap_v2 dump: a sentence for its owner.
 */


#ifndef _JPP_UNREADABLE_H_INCLUDED_
#define _JPP_UNREADABLE_H_INCLUDED_


#include <stddef.h>


/* A sentence about the LEN bytes at DATA; static memory, never NULL. */
const char *jpp_unreadable_sentence(const char *data, size_t len);


#endif /* _JPP_UNREADABLE_H_INCLUDED_ */


/*
 * Memory that may not be there, read without a fault: a pipe takes it, and a
 * write() of what is not mapped fails.
 *
 * For those who follow pointers that they cannot trust, at a moment when nobody
 * keeps the memory from changing: the kernel copies what is there, or says that
 * it is not.  A read takes two system calls, and JPP_PEEK_MAX bytes at most,
 * which are less than a pipe holds and are taken out at once.  A page of a
 * stack is proven by one call and without a descriptor (jpp_stack.c), but that
 * reads nothing.
 *
 * One parser at a time.  Everything marked [signal] is safe in a handler: no
 * lock, no memory, errno untouched.
 */


#ifndef _JPP_PEEK_H_INCLUDED_
#define _JPP_PEEK_H_INCLUDED_


#include "jpp_core.h"


/* the most that can be read at once */
#define JPP_PEEK_MAX  4096


/* fd -1: closed */
typedef struct {
    int               fds[2];
} jpp_peek_t;


/* False: there are no descriptors. */
bool jpp_peek_open(jpp_peek_t *peek);
void jpp_peek_close(jpp_peek_t *peek);

/* [signal] Copy the SIZE bytes at ADDRESS to TO; false: they are not there. */
bool jpp_peek(const jpp_peek_t *peek, uintptr_t address, void *to, size_t size);


#endif /* _JPP_PEEK_H_INCLUDED_ */

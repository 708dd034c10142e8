
/* An arena that one test after the other works with. */


#ifndef _JPP_TEST_ARENA_H_INCLUDED_
#define _JPP_TEST_ARENA_H_INCLUDED_


#include "jpp_arena.h"


/* ARENA is as new, of at most CAP bytes: what was in it is gone. */
static inline void
jpp_arena_fresh(jpp_arena_t *arena, size_t cap)
{
    jpp_arena_destroy(arena);
    jpp_arena_init(arena, cap);
}


#endif /* _JPP_TEST_ARENA_H_INCLUDED_ */

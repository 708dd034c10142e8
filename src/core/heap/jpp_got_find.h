
/*
 * Where functions of this process are.
 *
 * No state; any thread, outside signals.
 */


#ifndef _JPP_GOT_FIND_H_INCLUDED_
#define _JPP_GOT_FIND_H_INCLUDED_


#include <stdbool.h>
#include <stdint.h>


/*
 * The address of the function NAME, as a call of it ends up: in the allocator,
 * where a program that is loaded at a fixed address has an entry of its own
 * for it.  0: there is none.
 */
uintptr_t jpp_got_find(const char *name);

/* Do both addresses lie in one loaded object? */
bool jpp_got_is_beside(uintptr_t one, uintptr_t other);


#endif /* _JPP_GOT_FIND_H_INCLUDED_ */

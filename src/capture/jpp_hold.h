
/*
 * Loaded objects that are not to be unmapped while somebody reads them: each is
 * opened once more, which dlclose() of others does not undo.
 *
 * So an object that others have closed meanwhile is unloaded, and its
 * destructors run, as it is let go here: whoever holds one for longer than a
 * moment lets go in the thread that objects expect it of, the main one.
 *
 * No state; outside signals.
 */


#ifndef _JPP_HOLD_H_INCLUDED_
#define _JPP_HOLD_H_INCLUDED_


#include <stdint.h>


/* Hold the object that is loaded at BASE as NAME; NULL: it is gone. */
void *jpp_hold(const char *name, uintptr_t base);

/* Let go of it; NULL is allowed. */
void jpp_hold_end(void *handle);


#endif /* _JPP_HOLD_H_INCLUDED_ */

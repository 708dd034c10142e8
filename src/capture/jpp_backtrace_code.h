
/*
 * The code that jpp_backtrace.h knows, which is the way to it: learned, held
 * while there are users, let go, and looked up.
 *
 * For any thread, outside signals and allocators; what is marked [signal] is
 * for handlers and malloc() itself, too.
 */


#ifndef _JPP_BACKTRACE_CODE_H_INCLUDED_
#define _JPP_BACKTRACE_CODE_H_INCLUDED_


#include "jpp_unwind.h"


/* for jpp_backtrace.c */
extern jpp_unwinder_t  jpp_backtrace_unwinder;


/* One user more, by jpp_backtrace_start(); is it the first ever? */
bool jpp_backtrace_use(void);

/* One user less; what only we hold goes at the next refresh. */
void jpp_backtrace_stop(void);

/*
 * In the main thread, from time to time: learn what was loaded since, and let
 * go of what others have closed (jpp_renew.h), or of everything if there is no
 * user.
 */
void jpp_backtrace_refresh(void);

/* Is there a user, or anything still to be let go? */
bool jpp_backtrace_is_used(void);

/* [signal] Where the function that ADDRESS lies in starts; 0: unknown. */
uintptr_t jpp_backtrace_function(uintptr_t address);

/* [signal] Copy the N bytes of code at ADDRESS; false: it is not known. */
bool jpp_backtrace_code(uintptr_t address, uint8_t *bytes, size_t n);


#endif /* _JPP_BACKTRACE_CODE_H_INCLUDED_ */


/*
 * Where a stall was, in a few words and at once: by what the dynamic linker
 * knows, which is what objects export.  A report knows more.
 *
 * For a process about its own stalls; any thread, outside signals.
 */


#ifndef _JPP_WHERE_H_INCLUDED_
#define _JPP_WHERE_H_INCLUDED_


#include "jpp_stall.h"


#define JPP_WHERE_TEXT  512


/*
 * "blocked in clock_nanosleep (libc.so.6), called by Perl_pp_sleep
 * (libperl.so)" or, without a stack, why; returns TEXT.
 */
const char *jpp_where(const jpp_stall_t *stall, char text[JPP_WHERE_TEXT]);


#endif /* _JPP_WHERE_H_INCLUDED_ */

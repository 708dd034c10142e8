
/*
 * Why a walk up a stack ended, in a few words: "JIT or unknown code".
 */


#ifndef _JPP_UNWIND_ENDS_H_INCLUDED_
#define _JPP_UNWIND_ENDS_H_INCLUDED_


#include "jpp_unwind.h"


static inline const char *
jpp_unwind_end_name(jpp_unwind_end_t end)
{
    static const char *const  names[JPP_UNWIND_ENDS] = {
        [JPP_UNWIND_ON]        = "going on",
        [JPP_UNWIND_OUTERMOST] = "outermost frame",
        [JPP_UNWIND_DEPTH]     = "too deep",
        [JPP_UNWIND_OBJECT]    = "JIT or unknown code",
        [JPP_UNWIND_RULE]      = "no call-frame information",
        [JPP_UNWIND_ODD]       = "unknown call-frame information",
        [JPP_UNWIND_STACK]     = "outside the stack",
        [JPP_UNWIND_ABSENT]    = "no unwinder for this machine"
    };

    return (unsigned) end < JPP_UNWIND_ENDS ? names[end] : "";
}


#endif /* _JPP_UNWIND_ENDS_H_INCLUDED_ */

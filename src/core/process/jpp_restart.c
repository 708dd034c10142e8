
/* the registers of an interrupted context */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include "jpp_backtrace.h"
#include "jpp_restart.h"


/* mov $number, %eax; syscall */
#define JPP_RESTART_MOV      0xb8
#define JPP_RESTART_SYSCALL  0x050f

#define JPP_RESTART_LEN      7
#define JPP_RESTART_BACK     2


#if defined(__x86_64__) && defined(__LP64__)


bool
jpp_restart(void *ucontext)
{
    uint8_t      code[JPP_RESTART_LEN];
    uint16_t     call;
    uint32_t     number;
    uintptr_t    pc;
    ucontext_t  *context = ucontext;

    if (context->uc_mcontext.gregs[REG_RAX] != -EINTR) {
        return false;
    }

    pc = (uintptr_t) context->uc_mcontext.gregs[REG_RIP];

    /* what it returned to may be code of anybody, or none */

    if (jpp_backtrace_function(pc - JPP_RESTART_LEN) == 0
        || jpp_backtrace_function(pc) == 0)
    {
        return false;
    }

    memcpy(code, (const void *) (pc - JPP_RESTART_LEN), JPP_RESTART_LEN);
    memcpy(&number, code + 1, sizeof(number));
    memcpy(&call, code + JPP_RESTART_LEN - JPP_RESTART_BACK, sizeof(call));

    if (code[0] != JPP_RESTART_MOV || call != JPP_RESTART_SYSCALL) {
        return false;
    }

    context->uc_mcontext.gregs[REG_RAX] = number;
    context->uc_mcontext.gregs[REG_RIP] -= JPP_RESTART_BACK;

    return true;
}


#else


bool
jpp_restart(void *ucontext)
{
    (void) ucontext;

    return false;
}


#endif

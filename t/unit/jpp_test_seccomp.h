
/*
 * For tests of what a kernel may refuse.
 *
 * To be included once.
 */


#ifndef _JPP_TEST_SECCOMP_H_INCLUDED_
#define _JPP_TEST_SECCOMP_H_INCLUDED_


#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>


/* mprotect() that makes anything writable is refused. */
#define jpp_refuse_writable()  jpp_refuse(SYS_mprotect, PROT_WRITE, EPERM)


/* CALL is refused from now on, in this process, if its third argument has any
   of BITS; of 0 always. */

static bool
jpp_refuse(uint32_t call, uint32_t bits, uint32_t error)
{
    struct sock_filter  code[] = {
        BPF_STMT(BPF_LD|BPF_W|BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP|BPF_JEQ|BPF_K, call, 0, 3),
        BPF_STMT(BPF_LD|BPF_W|BPF_ABS,
                 offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP|(bits != 0 ? BPF_JSET : BPF_JGE)|BPF_K, bits, 0, 1),
        BPF_STMT(BPF_RET|BPF_K, SECCOMP_RET_ERRNO|error),
        BPF_STMT(BPF_RET|BPF_K, SECCOMP_RET_ALLOW)
    };

    struct sock_fprog  program = { sizeof(code) / sizeof(code[0]), code };

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
           && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}


#endif /* _JPP_TEST_SECCOMP_H_INCLUDED_ */

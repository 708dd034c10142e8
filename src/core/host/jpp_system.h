
/*
 * The memory of the machine: what is left of it, whether tasks wait for it,
 * and how the kernel hands it out.
 *
 * Bytes; what a kernel does not have is JPP_NONE.  No allocation; any
 * thread.
 */


#ifndef _JPP_SYSTEM_H_INCLUDED_
#define _JPP_SYSTEM_H_INCLUDED_


#include "jpp_pressure.h"


#define JPP_SYSTEM_THP  16


typedef struct {
    uint64_t        total;
    uint64_t        available;
    uint64_t        swap_total;
    uint64_t        swap_free;
    uint64_t        commit_limit;
    uint64_t        committed;
    uint64_t        overcommit;                /* vm.overcommit_memory */
    char            thp[JPP_SYSTEM_THP];       /* always, madvise, never; "" */
    jpp_pressure_t  pressure;
} jpp_system_t;


/* Fill SYSTEM.  ROOT is what comes before /proc and /sys: "" but for tests. */
void jpp_system_read(jpp_system_t *system, const char *root);


#endif /* _JPP_SYSTEM_H_INCLUDED_ */


/*
 * The memory of the machine: what is left of it, whether tasks wait for it,
 * and how the kernel hands it out.  Pressure stall information is the share of
 * time in which some, or all, tasks waited for memory
 * (Documentation/accounting/psi.rst of the kernel); a cgroup has its own.
 *
 * Bytes; what a kernel does not have is JPP_NONE.  No allocation; any
 * thread.
 */


#ifndef _JPP_SYSTEM_H_INCLUDED_
#define _JPP_SYSTEM_H_INCLUDED_


#include "jpp_keys.h"


/* per cent of the last 10, 60 and 300 seconds times 100; microseconds so far */
typedef struct {
    uint64_t  avg10;
    uint64_t  avg60;
    uint64_t  avg300;
    uint64_t  total;
} jpp_pressure_line_t;


typedef struct {
    jpp_pressure_line_t  some;
    jpp_pressure_line_t  full;
} jpp_pressure_t;


/* Fill PRESSURE from LINES; what is not there is JPP_NONE. */
void jpp_pressure_lines(jpp_pressure_t *pressure, jpp_lines_t *lines);

/* The same from the file PATH; its errno, or 0. */
int jpp_pressure_read(jpp_pressure_t *pressure, const char *path);


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

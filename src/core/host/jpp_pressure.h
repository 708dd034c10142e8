
/*
 * Pressure stall information: the share of time in which some, or all, tasks
 * waited for memory (Documentation/accounting/psi.rst of the kernel).
 *
 * No allocation; any thread.
 */


#ifndef _JPP_PRESSURE_H_INCLUDED_
#define _JPP_PRESSURE_H_INCLUDED_


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


#endif /* _JPP_PRESSURE_H_INCLUDED_ */


/*
 * The stacks that were seen in one window of time, each once, with how often
 * and for how long: a table of a fixed size, whose untouched pages cost
 * nothing.
 *
 * [signal] Additions take no lock and no memory, and any thread may make them,
 * in a handler too.  What does not fit is dropped and counted.  Reading is for
 * one thread, and sees whatever is complete.
 */


#ifndef _JPP_CPU_TABLE_H_INCLUDED_
#define _JPP_CPU_TABLE_H_INCLUDED_


#include <stddef.h>
#include <stdint.h>


/* frames of a stack: of a deeper one, the outermost are left out */
#define JPP_CPU_DEPTH   128

#define JPP_CPU_SITES   16384
#define JPP_CPU_SLOTS   (2 * JPP_CPU_SITES)
#define JPP_CPU_FRAMES  (32 * JPP_CPU_SITES)


/* What a thread was doing. */
typedef enum {
    JPP_CPU_RUNS = 0,              /* on a CPU, or waiting for one */
    JPP_CPU_BLOCKED,               /* in a system call, or a page fault */
    JPP_CPU_STATES
} jpp_cpu_state_t;


typedef struct {
    uint64_t          count;
    uint64_t          nanos;
    uint32_t          n;           /* frames */
    uint8_t           state;       /* jpp_cpu_state_t */
    uint8_t           name;        /* whose: jpp_cpu_threads.h */
    uint16_t          owner;       /* and for whom: jpp_owners.h */
    uintptr_t         pcs[JPP_CPU_DEPTH];
} jpp_cpu_sample_t;


typedef struct {
    uint64_t          hash;
    uint64_t          count;       /* 0: a site that was filled in vain */
    uint64_t          nanos;
    uint32_t          frames;      /* the first */
    uint16_t          n;
    uint8_t           state;
    uint8_t           name;
    uint16_t          owner;
} jpp_cpu_site_t;


/* zeroed, it is empty; about 5 MB */
typedef struct {
    uint32_t          slots[JPP_CPU_SLOTS];    /* a site, from 1; 0: free */
    uint32_t          n_sites;
    uint32_t          n_frames;
    uint64_t          dropped;
    uint64_t          dropped_nanos;
    jpp_cpu_site_t    sites[JPP_CPU_SITES];
    uintptr_t         frames[JPP_CPU_FRAMES];
} jpp_cpu_table_t;


/* [signal] Add SAMPLE to TABLE. */
void jpp_cpu_table_add(jpp_cpu_table_t *table, const jpp_cpu_sample_t *sample);


#endif /* _JPP_CPU_TABLE_H_INCLUDED_ */

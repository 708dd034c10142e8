
/*
 * A window of jpp_cpu.h: what is seen in it, and that as a capture.  Whoever
 * opens one knows it by its pointer only.
 */


#ifndef _JPP_CPU_WINDOW_H_INCLUDED_
#define _JPP_CPU_WINDOW_H_INCLUDED_


#include "jpp_args.h"
#include "jpp_cpu_table.h"
#include "jpp_cpu_threads.h"


/* at a time */
#define JPP_CPU_WINDOWS  64


typedef struct jpp_cpu_window_s  jpp_cpu_window_t;


typedef struct {
    uint32_t          threads;     /* at its end */
    uint32_t          deaf;        /* of these */
    uint32_t          beyond;      /* of these: no place for them */
    char              names[JPP_CPU_NAMES][JPP_LOOK_NAME];
    uint32_t          n_names;
} jpp_cpu_seen_t;


/* what the caller wants, and what the sampler has made of that */
typedef enum {
    JPP_CPU_WANTED = 0,
    JPP_CPU_OPEN,                  /* or being opened */
    JPP_CPU_UNWANTED,              /* or being ended */
    JPP_CPU_OVER
} jpp_cpu_stage_t;


struct jpp_cpu_window_s {
    jpp_cpu_window_t   *next;      /* under jpp_cpu.c's lock, as the others */
    jpp_cpu_stage_t     stage;
    bool                is_left;   /* the caller has closed it */

    jpp_mode_t          mode;
    uint32_t            frequency; /* asked for */
    uint32_t            highest;   /* that it was sampled at */
    uint64_t            opened;    /* ns, CLOCK_MONOTONIC; 0: not yet */
    uint64_t            closed;
    uint32_t            scan;      /* the last before it was opened */
    uint64_t            used[JPP_CPU_THREADS];    /* by then, ns of CPU time, */
                                   /*   by those that it saw, as they lie */
    uint64_t            idle;      /* of the main thread, ns */
    uint64_t            waits;     /* of the others, ns */
    jpp_cpu_seen_t      seen;
    jpp_cpu_table_t     table;
};


/* A window of MODE at FREQUENCY a second; NULL: ERR is set. */
jpp_cpu_window_t *jpp_cpu_window_create(jpp_mode_t mode, uint32_t frequency,
    jpp_err_t *err);
void jpp_cpu_window_destroy(jpp_cpu_window_t *window);

/* Write WINDOW, which has ended, to FD. */
jpp_code_t jpp_cpu_window_write(const jpp_cpu_window_t *window,
    const char *why_early, int fd, jpp_err_t *err);


#endif /* _JPP_CPU_WINDOW_H_INCLUDED_ */


/*
 * Internals of jpp_cpu.h, shared by the files of src/core/cpu: the sampler, and
 * the threads with their timers.
 *
 *     jpp_cpu.c           the windows: who asks for one, and gets what it saw
 *     jpp_cpu_sampler.c   the handler of the signal, and the sampler's thread
 *     jpp_cpu_threads.c   the threads, and their timers
 *
 * There is one sampler in a process, because a signal comes without a pointer.
 * All of it belongs to its thread, except for the handler, which reads the list
 * of windows and takes what is owed to a thread.
 */


#ifndef _JPP_CPU_SAMPLER_H_INCLUDED_
#define _JPP_CPU_SAMPLER_H_INCLUDED_


#include "jpp_samples.h"


/* words of memory for what a window sees: some 16,000 stacks; untouched pages
   cost nothing */
#define JPP_CPU_WORDS   ((size_t) 1 << 20)


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
    jpp_site_key_t    key;         /* jpp_cpu_kind(), and for whom */
    uintptr_t         pcs[JPP_SITES_DEPTH];
} jpp_cpu_sample_t;


/* A thread with the name NAME of jpp_cpu_seen_t was in STATE. */
#define jpp_cpu_kind(name, state)                                             \
    ((uint16_t) ((name) * JPP_CPU_STATES + (state)))


/* windows at a time */
#define JPP_CPU_WINDOWS  64

#define JPP_CPU_THREADS  1024

/* distinct names of threads; the last one stands for all others */
#define JPP_CPU_NAMES    64


typedef struct {
    pid_t             tid;         /* 0: the place is free */
    uint32_t          seen;        /* the last scan that saw it */
    uint32_t          since;       /* and the first */
    uint8_t           name;        /* of jpp_cpu_seen_t */
    bool              is_main;
    bool              is_deaf;
    bool              is_suspect;  /* it was, at the last look */
    bool              has_timer;
    timer_t           timer;

    /* of its signals, which are for nobody once ROUND is another one */
    uint32_t          round;
    uint64_t          interval;    /* of the timer */
    uint64_t          set;         /* its CPU time when that was set */

    /* a handler's, too */
    uint32_t          ticked;      /* the round of its last tick, and 1 */
    uint64_t          sampled;     /* how much of its CPU time samples had */
    uint64_t          owed;        /* wall clock: ticks that the next one has */
    uint64_t          owed_nanos;
} jpp_cpu_thread_t;


/* what a window tells of threads: as they were at its end */
typedef struct {
    uint32_t          threads;     /* in the last scan */
    uint32_t          deaf;        /* of these */
    uint32_t          beyond;      /* of these: no place for them */
    char              names[JPP_CPU_NAMES][JPP_BLOCKED_NAME];
    uint32_t          n_names;
} jpp_cpu_seen_t;


/* zeroed until jpp_cpu_threads_init() */
typedef struct {
    uint32_t          round;       /* the last one */
    jpp_cpu_thread_t  threads[JPP_CPU_THREADS];
    uint32_t          n;           /* places in use lie below */
    uint32_t          scan;
    jpp_cpu_seen_t    seen;
} jpp_cpu_threads_t;


/* Does the kernel allow what MODE needs for the main thread? */
jpp_code_t jpp_cpu_threads_check(jpp_mode_t mode, jpp_err_t *err);

/* Initialize the caller's THREADS: nobody is known. */
void jpp_cpu_threads_init(jpp_cpu_threads_t *threads);

/* See who has come and gone; with IS_THOROUGH, ask again who is deaf.  False:
   without /proc those that are known stay. */
bool jpp_cpu_threads_scan(jpp_cpu_threads_t *threads, bool is_thorough);

/*
 * A timer for each thread that has none, and INTERVAL nanoseconds for all; 0:
 * no timers.
 */
void jpp_cpu_threads_arm(jpp_cpu_threads_t *threads, uint64_t interval);

/* Forget all; their timers are deleted. */
void jpp_cpu_threads_clear(jpp_cpu_threads_t *threads);


/* what a thread used from when it had used FROM until it had used TO, ns */
typedef struct {
    uint64_t          from;
    uint64_t          to;
} jpp_cpu_span_t;


/*
 * The number of THREADS' THREAD in signals for MODE; and [signal] the thread
 * that such a signal is for, and its MODE.  NULL: it was sent before the
 * thread's timer was set anew, or its place became another's.
 */
uint32_t jpp_cpu_timers_number(const jpp_cpu_threads_t *threads,
    const jpp_cpu_thread_t *thread, jpp_mode_t mode);
jpp_cpu_thread_t *jpp_cpu_timers_find(jpp_cpu_threads_t *threads,
    uint32_t number, jpp_mode_t *mode);

/*
 * [signal] In THREAD, which is that of SIGNAL, by its timer: SPAN becomes what
 * is in no sample yet.  False: nothing is, or the timer is being set anew.
 */
bool jpp_cpu_timers_tick(const jpp_cpu_threads_t *threads,
    jpp_cpu_thread_t *thread, const jpp_signal_t *signal,
    jpp_cpu_span_t *span);

/* [signal] The CPU time that thread TID has used; 0: it has ended. */
uint64_t jpp_cpu_timers_used(pid_t tid);


/* Whoever opens one knows it by its pointer only. */
typedef struct jpp_cpu_window_s  jpp_cpu_window_t;


/*
 * Where a window is on its way from the caller to the sampler's thread and
 * back; that thread has it from WANTED to OVER.
 */
typedef enum {
    JPP_CPU_WANTED = 0,
    JPP_CPU_OPEN,                  /* or being opened */
    JPP_CPU_UNWANTED,              /* or being ended */
    JPP_CPU_OVER
} jpp_cpu_stage_t;


struct jpp_cpu_window_s {
    /* under jpp_cpu.c's lock */
    jpp_cpu_window_t   *next;
    jpp_cpu_stage_t     stage;
    bool                is_left;   /* the caller has closed it */

    /* as the caller asks for it */
    jpp_mode_t          mode;
    uint32_t            frequency;

    /* of the thread that has it */
    uint32_t            highest;   /* frequency that it was sampled at */
    uint64_t            opened;    /* ns, CLOCK_MONOTONIC; 0: not yet */
    uint64_t            closed;
    uint32_t            scan;      /* the last before it was opened */
    uint64_t            used[JPP_CPU_THREADS];    /* by then, ns of CPU time, */
                                   /*   by those that it saw, as they lie */
    uint64_t            idle;      /* of the main thread, ns */
    uint64_t            waits;     /* of the others, ns */
    jpp_cpu_seen_t      seen;

    /* of all threads, in the handler too: what it saw, and had no room for */
    jpp_sites_t         sites;
    uint64_t            dropped;
    uint64_t            dropped_nanos;
    uint64_t            memory[JPP_CPU_WORDS];
};


/* [signal] Add SAMPLE to WINDOW. */
void jpp_cpu_window_add(jpp_cpu_window_t *window,
    const jpp_cpu_sample_t *sample);


#define JPP_CPU_NANOS  1000000000u


typedef struct {
    /* those that are open; the handler reads them */
    jpp_cpu_window_t    *windows[JPP_MODES][JPP_CPU_WINDOWS];

    uint32_t             frequency[JPP_MODES]; /* 0: no such window */

    pid_t                tid;                  /* of the sampler's thread */
    uint64_t             scanned;              /* when last, ns */
    uint64_t             ticked;
    jpp_cpu_threads_t    threads;
    jpp_cpu_sample_t     sample;               /* of its thread */
} jpp_cpu_sampler_t;


extern jpp_cpu_sampler_t  jpp_cpu_sampler;


/* [signal] For jpp_signal_claim(). */
void jpp_cpu_sampler_receive(const jpp_signal_t *signal);

/*
 * Open those of the N WINDOWS that are not open, and end the others, with all
 * that is due to them.
 */
void jpp_cpu_sampler_change(jpp_cpu_window_t *const *windows, uint32_t n);

/* Do what is due; returns when something is due again. */
uint64_t jpp_cpu_sampler_step(void);


#endif /* _JPP_CPU_SAMPLER_H_INCLUDED_ */


/*
 * The jemalloc of this process: its presence, the state of its profiler, heap
 * dumps, and settings that can change at run time.
 *
 * jpp_mallctl.c looks mallctl up by dlsym(), so nothing is linked.  Without it
 * every function here still works and says so.
 *
 * The lookup is done once per process, by jpp_jemalloc_read(), which the first
 * caller must finish before a second thread calls anything here.  After that
 * every function may be called in any thread.
 */


#ifndef _JPP_JEMALLOC_H_INCLUDED_
#define _JPP_JEMALLOC_H_INCLUDED_


#include "jpp_backtrace.h"


/*
 * The rates that may be set, as lg_sample.  A small object that is sampled
 * takes 16 KiB, so that lower ones make a process grow; higher ones sample
 * next to nothing.
 */
#define JPP_JEMALLOC_LG_MIN  10
#define JPP_JEMALLOC_LG_MAX  24


/* The first that holds. */
typedef enum {
    JPP_JEMALLOC_ABSENT = 0,   /* malloc is not a jemalloc's */
    JPP_JEMALLOC_NO_PROF,      /* built without --enable-prof */
    JPP_JEMALLOC_OFF,          /* opt.prof is false: for this process's life */
    JPP_JEMALLOC_REFUSED,      /* prof_sys_thread_name before 5.3.1 */
    JPP_JEMALLOC_INACTIVE,     /* prof.active is false */
    JPP_JEMALLOC_READY
} jpp_jemalloc_state_t;


/* Who walks the stacks of jemalloc's samples, and why. */
typedef enum {
    JPP_HOOK_NONE = 0,        /* nobody: opt.prof is false, or no jemalloc */
    JPP_HOOK_OFF,             /* jemalloc: the hook is not set */
    JPP_HOOK_ABSENT,          /* jemalloc: this version has no such hook */
    JPP_HOOK_MACHINE,         /* jemalloc: no unwinder for this machine */
    JPP_HOOK_ON               /* src/unwind */
} jpp_hook_t;


/* What may be loaded beside nginx and maps its memory itself. */
typedef enum {
    JPP_MAPPER_LUAJIT = 0,
    JPP_MAPPER_PYTHON,
    JPP_MAPPER_GO,
    JPP_MAPPER_JAVA,
    JPP_MAPPERS
} jpp_mapper_t;

/* " is loaded" and all of their names */
#define JPP_MAPPERS_TEXT   64


typedef struct {
    jpp_jemalloc_state_t   state;

    char                   allocator[64];  /* ABSENT: the file malloc is in, */
                                           /*   "" where that is unknown */
    char                   version[32];    /* "5.3.0", without the commit */
    const char            *variable;       /* "MALLOC_CONF", or what this */
                                           /*   build calls it */
    bool                   active;         /* prof.active */
    uint32_t               lg_sample;      /* prof.lg_sample */
    bool                   accum;          /* opt.prof_accum */
    bool                   unsampled;      /* !opt.prof_thread_active_init: */
                                           /*   no thread is sampled */
    jpp_hook_t             hook;           /* who walks stacks */
    jpp_backtrace_counts_t stacks;         /* that the module walked */
    bool                   has_luajit;     /* LuaJIT is loaded */
    uint32_t               mappers;        /* what is, that maps memory */
                                           /*   itself: jpp_mapper_t */

    /* options that do harm in a server */

    bool                   interval;       /* opt.lg_prof_interval >= 0 */
    bool                   gdump;          /* prof.gdump */
    bool                   final;          /* opt.prof_final */
    bool                   leak_error;     /* opt.prof_leak_error */
} jpp_jemalloc_t;


/* What to change. */
typedef struct {
    int                    active;         /* 0, 1; -1: keep */
    int                    lg_sample;      /* JPP_JEMALLOC_LG_MIN .. _MAX; */
                                           /*   -1: as it is */
    int                    reset;          /* 1: forget all samples; 0: no */
    int                    purge;          /* 1: give unused memory back */
    int                    sampler;        /* of the module: 0, 1; -1: keep */
    int                    sampler_lg;     /* its rate, where both sources */
                                           /*   have one; -1: lg_sample */
    int                    stall;          /* ms; 0: off; -1: keep */
    int                    owners;         /* of samples: 0, 1; -1: keep */
    int                    acknowledge;    /* a finding, by its number; -1 */
} jpp_control_t;


/* Fill the caller's JEMALLOC with the state as it is now. */
void jpp_jemalloc_read(jpp_jemalloc_t *jemalloc);

/* Will a sample end the process, where LuaJIT runs? */
bool jpp_jemalloc_will_abort(const jpp_jemalloc_t *jemalloc);

/*
 * Does the environment request a profiler, by prof:true in a variable that
 * jemalloc reads its options from?  Whether jemalloc has one does not matter.
 */
bool jpp_jemalloc_is_requested(void);

/*
 * Switch the sampling of the calling thread on or off, so that a profile does
 * not show the profiler's own work.  Returns how it was; true if that is
 * unknown.
 */
bool jpp_jemalloc_sample_thread(bool is_sampled);

/*
 * Write a heap dump to the file behind descriptor FD, which is truncated.
 * This needs /proc, and for a moment two more descriptors.
 *
 * If the state forbids a dump, this is JPP_ERR_STATE, and jpp_problems.h has
 * the sentence.  JPP_OK only says that jemalloc saw no failure: it overlooks
 * some, which the parser of the dump has to notice (jpp_heap.c).
 */
jpp_code_t jpp_jemalloc_dump(int fd, jpp_err_t *err);

/*
 * Do what CONTROL says, in this order: forget the samples and set the rate,
 * active, purge.  jemalloc forgets the samples whenever it sets a rate, so a
 * new rate implies that; the present rate changes nothing.  A purge takes as
 * long as the kernel needs to take the pages back: do not call it in an event
 * loop.
 *
 * Stops at the first step that fails, and ERR names it; JPP_ERR_STATE: the
 * state forbids it.  IS_RESET: the samples were forgotten.
 */
jpp_code_t jpp_jemalloc_control(const jpp_control_t *control, bool *is_reset,
    jpp_err_t *err);

/*
 * Set the hook, in a process whose profiler may be switched on; its main thread
 * is the one that calls this.  Returns what jpp_hook_read() does.
 */
jpp_hook_t jpp_hook_set(void);

/* Give the hook back to who had it, unless somebody else has it by now. */
void jpp_hook_reset(void);

/* Who has it now?  JPP_HOOK_NONE is the caller's to know. */
jpp_hook_t jpp_hook_read(void);

/* A bit for each that is loaded: looks at everything that is. */
uint32_t jpp_mappers_loaded(void);

/*
 * Write which of MAPPERS, a bit for each, are loaded: "LuaJIT and Go are
 * loaded"; "" for none.  Returns TEXT.
 */
const char *jpp_mappers_text(uint32_t mappers, char text[JPP_MAPPERS_TEXT]);


#endif /* _JPP_JEMALLOC_H_INCLUDED_ */


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


#include "jpp_proc.h"


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
    int                    snapshot;       /* take one; 0 */
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
 * If the state forbids a dump, this is JPP_ERR_STATE, and jpp_diagnosis.h has
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


/*
 * The mallctl of this process and the report of the same jemalloc, the owner of
 * both functions: looked up under the names of the usual builds, and used only
 * if malloc() is proven to be the same library's.  For the files of jemalloc's
 * state and counters, and the sampler.
 */

/*
 * Look mallctl up; false: malloc() has none.  *VARIABLE is set in any case: the
 * name of the variable that this build reads its options from.
 */
bool jpp_mallctl_find(const char **variable);

/* Write the name of the file that has malloc() to TEXT, of SIZE bytes. */
void jpp_mallctl_allocator(char *text, size_t size);

/* The variables of the builds, by NUMBER from 0; NULL after the last. */
const char *jpp_mallctl_variable(uint32_t number);

/*
 * mallctl(NAME) with widths: 0, or an errno.  EINVAL also if the value has
 * another width than OLD_SIZE, ENOENT if there is no mallctl.
 */
int jpp_mallctl_call(const char *name, void *old, size_t old_size, void *new,
    size_t new_size);

/*
 * malloc_stats_print() as JSON, in pieces of text that WRITE is called with;
 * false: there is none.
 */
bool jpp_mallctl_print(void (*write)(void *ctx, const char *text), void *ctx);

/* Is NAME a boolean that is true? */
bool jpp_mallctl_is_true(const char *name);


/* Read NAME to the SIZE bytes at VALUE; false: it cannot be read so. */

static inline bool
jpp_mallctl_get(const char *name, void *value, size_t size)
{
    return jpp_mallctl_call(name, value, size, NULL, 0) == 0;
}


/*
 * jemalloc's counters: bytes allocated, held and retained, and operations so
 * far.  jemalloc(3) explains each name.
 *
 * Any thread, as soon as jpp_jemalloc_read() has been called once.  A dump in
 * progress delays the caller until it has ended: jemalloc locks.
 */

/*
 * X(name, ctl, width), one uint64_t each.  PAGES are converted to bytes;
 * 4096 is MALLCTL_ARENAS_ALL of jemalloc.h, since 5.0.
 */

/* without one of these there are no statistics */
#define JPP_STATS_SUMS(X)                                                     \
    X(allocated, "stats.allocated", SIZE)                                     \
    X(active, "stats.active", SIZE)                                           \
    X(metadata, "stats.metadata", SIZE)                                       \
    X(resident, "stats.resident", SIZE)                                       \
    X(mapped, "stats.mapped", SIZE)                                           \
    X(retained, "stats.retained", SIZE)

/* what a version lacks is JPP_NONE */
#define JPP_STATS_DETAILS(X)                                                  \
    X(dirty, "stats.arenas.4096.pdirty", PAGES)                               \
    X(muzzy, "stats.arenas.4096.pmuzzy", PAGES)                               \
    X(tcache, "stats.arenas.4096.tcache_bytes", SIZE)                         \
    X(small, "stats.arenas.4096.small.allocated", SIZE)                       \
    X(large, "stats.arenas.4096.large.allocated", SIZE)                       \
    X(small_mallocs, "stats.arenas.4096.small.nmalloc", SIZE)                 \
    X(large_mallocs, "stats.arenas.4096.large.nmalloc", SIZE)                 \
    X(small_frees, "stats.arenas.4096.small.ndalloc", SIZE)                   \
    X(large_frees, "stats.arenas.4096.large.ndalloc", SIZE)                   \
    X(dirty_purged, "stats.arenas.4096.dirty_purged", PAGES)                  \
    X(muzzy_purged, "stats.arenas.4096.muzzy_purged", PAGES)                  \
    X(arenas, "arenas.narenas", UNSIGNED)                                     \
    X(threads, "stats.background_thread.num_threads", SIZE)                   \
    X(thread_runs, "stats.background_thread.num_runs", SIZE)

#define JPP_STATS_FIELD(name, ctl, width)  uint64_t  name;

typedef struct {
    JPP_STATS_SUMS(JPP_STATS_FIELD)
    JPP_STATS_DETAILS(JPP_STATS_FIELD)
} jpp_stats_t;


/* Fill STATS; false without a jemalloc, or if it has no statistics. */
bool jpp_stats_read(jpp_stats_t *stats);

/*
 * The bytes that the calling thread has allocated and not freed, whoever did
 * so; false without a jemalloc that counts them.  Not what a profiler or the
 * allocator takes for itself.
 */
bool jpp_stats_thread(uint64_t *bytes);

/* What of "allocated" jemalloc has taken for itself; 0: it does not say. */
uint64_t jpp_stats_internal(void);

/*
 * Append jemalloc's own report to OUT, as it is: its options, arenas and sizes,
 * in JSON, unless a long or odd option breaks that.  jemalloc takes a buffer of
 * 64 KiB from its first arena meanwhile; this takes nothing from malloc().
 * JPP_ERR_STATE: there is no report.
 */
jpp_code_t jpp_stats_report(jpp_vec_t *out, jpp_err_t *err);

/* X + Y, JPP_NONE if either is. */
static inline uint64_t
jpp_stats_add(uint64_t x, uint64_t y)
{
    return x == JPP_NONE || y == JPP_NONE ? JPP_NONE : x + y;
}


#endif /* _JPP_JEMALLOC_H_INCLUDED_ */


/*
 * The module's heap sampler: the stacks that hold live memory, and the bytes
 * that each has allocated since the sampler was switched on.  It works with any
 * malloc(), in a process that runs already, and costs nothing while it is off.
 *
 * On, it takes the place of malloc(), free(), operator new and their like in
 * the tables of addresses that loaded objects call them by (jpp_got.c); where
 * malloc() is linked into the program, whose calls go by no table, jemalloc's
 * own hooks take that part.  Of the bytes that a thread allocates, about one in
 * 2^LG takes a sample: the stack (jpp_backtrace.c), the address and the size,
 * kept until the address is freed (jpp_samples.h).
 *
 * What it does not see: memory that was allocated before it was switched on,
 * and calls of objects that were loaded since the last rescan.  An object that
 * is freed by such a call counts as live until the same address is freed or
 * sampled again.
 *
 * Samples may be taken in any thread, in a handler of a signal, in a destructor
 * and on both sides of a fork(): nothing there locks, waits or allocates.  A
 * forked process has its own sampler, with what its parent knew.
 *
 * The functions here are for any thread but no handler of a signal, and one of
 * them runs at a time: another waits for it, jpp_sampler_rescan() does not.
 * The module must not be unloaded after jpp_sampler_on(), not even when it is
 * off: a thread may be inside, and others may have kept our addresses.
 * jpp_sampler_on() itself pins every loaded object, and so this one.
 */


#ifndef _JPP_SAMPLER_H_INCLUDED_
#define _JPP_SAMPLER_H_INCLUDED_


#include "jpp_ages.h"
#include "jpp_proc.h"


/*
 * The tables of addresses that loaded objects call functions of others by
 * (global offset tables, and pointers in data): functions in them are replaced
 * by others, and put back.
 *
 * Patched are slots that hold the function.  What holds anything else is
 * somebody else's, and stays so, when patching and when restoring.
 *
 * A slot that is not bound yet may become either: an object that was opened
 * with RTLD_DEEPBIND calls libc's malloc() beside any other allocator, and must
 * not free by one what the other has allocated.  The linker decides: functions
 * that do nothing for a null pointer are called with one by such slots, which
 * binds them.  What is still not bound then is patched in objects whose other
 * slots hold our functions, and nobody else's.
 *
 * Slots in pages that are read-only (RELRO) are written after mprotect(), and
 * their pages get the protection back that they had.
 *
 * It takes effect as a whole or not at all: the pages are made writable first,
 * and nothing is written if one of them cannot be.  Each slot is written at
 * once, so other threads may call by it meanwhile.
 *
 * Objects are pinned, so a slot stays what it is.  One thread at a time,
 * outside signals; it needs /proc/self/maps.  amd64 only.
 */

/* slots of a process: about four for each object */
#define JPP_GOT_SLOTS  8192


typedef struct {
    const char                 *name;      /* as the linker knows it */
    uintptr_t                   real;      /* 0: it is left alone */
    uintptr_t                   hook;      /* takes its place */
    bool                        is_idle;   /* does nothing if called with 0s */
} jpp_got_function_t;


typedef struct {
    uintptr_t                  *at;
    uintptr_t                   was;
    const jpp_got_function_t   *function;
} jpp_got_slot_t;


typedef struct {
    uintptr_t                   start;
    int                         protection;
} jpp_got_page_t;


/* zeroed but for the first three, it has patched nothing; about 330 KB */
typedef struct {
    const jpp_got_function_t   *functions;
    uint32_t                    n_functions;
    uintptr_t                   except;    /* the object that this address */
                                           /*   lies in is left alone; 0 */
    uint32_t                    n_slots;
    uint32_t                    n_objects; /* that have slots */
    uint32_t                    n_foreign; /* slots with another's address */
    uint32_t                    n_pages;
    jpp_got_slot_t              slots[JPP_GOT_SLOTS];
    jpp_got_page_t              pages[JPP_GOT_SLOTS];
} jpp_got_t;


/*
 * Patch every object that is loaded; also again, for those that were loaded
 * since.  On failure no new slot is patched, and GOT has those from before; but
 * a page that cannot be made read-only again is found too late, so that GOT has
 * them all.
 */
jpp_code_t jpp_got_patch(jpp_got_t *got, jpp_err_t *err);

/*
 * Put back what the slots had, unless they hold somebody else's by now; GOT has
 * none then.  On failure all stay patched, with the same exception.
 */
jpp_code_t jpp_got_restore(jpp_got_t *got, jpp_err_t *err);

/* How many of the slots hold somebody else's address by now. */
uint32_t jpp_got_lost(const jpp_got_t *got);


/*
 * The places of one loaded object that hold addresses of functions: its
 * dynamic relocations, read from memory.
 *
 * What the object says of itself is checked against its segments: a damaged
 * one has fewer places, and no read goes outside.
 *
 * No state; any thread, and the object must stay loaded.  amd64 only: others
 * have none.
 */


typedef struct {
    uintptr_t            *at;          /* the place */
    const char           *name;        /* of the function */
    bool                  is_call;     /* of the table for calls */
    bool                  is_unbound;  /* which still leads to the linker */
    bool                  is_own;      /* the object has a function so named */
} jpp_got_reloc_t;


/* False: enough. */
typedef bool (*jpp_got_visit_pt)(const jpp_got_reloc_t *reloc, void *data);


/* Call VISIT with every place of OBJECT, until it returns false. */
void jpp_got_read(const jpp_images_object_t *object, jpp_got_visit_pt visit,
    void *data);


/*
 * The address of the function NAME, as a call of it ends up: in the allocator,
 * where a program that is loaded at a fixed address has an entry of its own
 * for it.  0: there is none.
 */
uintptr_t jpp_got_find(const char *name);


/* the rates, as lg of the mean number of bytes from one sample to the next */
#define JPP_SAMPLER_LG_MIN      8
#define JPP_SAMPLER_LG_MAX      24
#define JPP_SAMPLER_LG_DEFAULT  12


typedef struct {
    bool         is_on;
    bool         is_hooked;      /* by jemalloc's hooks, not by tables */
    uint32_t     lg_sample;      /* the rate, 0 before it was ever on */
    int64_t      since;          /* when it was switched on, seconds of the */
                                 /*   epoch */

    uint64_t     samples;        /* taken since then */
    uint64_t     live;           /* of those, not freed yet */
    uint64_t     live_max;       /* more of them are dropped */
    uint64_t     sites;          /* stacks, and sizes apart, ever sampled */
    uint64_t     bytes;          /* of memory that all this takes now */
    uint64_t     bytes_max;

    uint64_t     dropped_live;   /* samples that were dropped since then: */
    uint64_t     dropped_sites;  /*   too many live ones, too many stacks */
    uint64_t     cut;            /* stacks that were not walked to their end */

    uint32_t     slots;          /* places in tables that are ours: off, they */
                                 /*   could not be restored */
    uint32_t     objects;        /* loaded objects that have them */
    uint32_t     foreign;        /* places somebody else had before us */
    uint32_t     lost;           /* and took over from us since then */
} jpp_sampler_state_t;


/*
 * Switch it on at the rate LG.  What an earlier time knew is forgotten; being
 * on at this rate already, it goes on.
 *
 * All objects are patched or none: if the kernel refuses (seccomp, SELinux),
 * nothing has changed, and ERR says what was refused.  JPP_ERR_SYS: this, or it
 * cannot work in this process; JPP_ERR_ARG: LG is out of bounds.
 */
jpp_code_t jpp_sampler_on(uint32_t lg, jpp_err_t *err);

/*
 * Switch it off: every slot and every page gets back what it had, and the
 * samples are forgotten.  A slot that somebody else has taken over since then
 * is left to them (state's "lost"): they may call us, and are passed on.
 *
 * If the kernel refuses to have the slots written, ERR says so; no sample is
 * taken any more, and what calls us still is passed on at the cost of a jump.
 */
jpp_code_t jpp_sampler_off(jpp_err_t *err);

/*
 * Patch what was loaded since the last time, and look at the clock; to be
 * called every second.  Costs a fraction of a microsecond if nothing was
 * loaded, or if it is off.  A refusal is reported once for each change, and
 * leaves the new objects as they are.
 */
jpp_code_t jpp_sampler_rescan(jpp_err_t *err);

/*
 * Write the live samples and the counts since `on' to FD, from where its
 * offset is, as a dump that jpp_heap.c can read: heap_v2, with
 * MAPPED_LIBRARIES.  Its counts are those of the samples, grouped by stack and
 * size so that jpp_heap.h makes unbiased estimates of them.
 *
 * Samples know the second of their birth by the last rescan: ages are at most
 * too large by the time between two.  AGES, which may be NULL, says which are
 * left out, of what is live, and whether ages are told.
 *
 * Samples go on meanwhile: each is in it as a whole or not at all.
 * JPP_ERR_STATE: it is off; JPP_ERR_SYS: FD takes no more.  STATE, which may be
 * NULL, is what goes with the dump.
 */
jpp_code_t jpp_sampler_dump(int fd, const jpp_ages_t *ages,
    jpp_sampler_state_t *state, jpp_err_t *err);

/* Is it on?  Costs nothing, where the whole state counts slots and sites. */
bool jpp_sampler_is_on(void);

/*
 * Fill STATE, whose members belong to one moment, but for what it counts.  It
 * waits for no other function here: while one runs, STATE may be what it was
 * before that.
 */
void jpp_sampler_state(jpp_sampler_state_t *state);

/* The functions that are replaced while it is on; N becomes how many. */
const jpp_got_function_t *jpp_calls_functions(uint32_t *n);

/*
 * Sample the calling thread or do not, so that a profile does not show the
 * profiler's own work; what the thread frees is seen in any case.  Returns how
 * it was.  Allowed at any time.
 */
bool jpp_sampler_sample_thread(bool is_sampled);


#endif /* _JPP_SAMPLER_H_INCLUDED_ */

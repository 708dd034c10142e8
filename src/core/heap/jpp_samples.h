
/*
 * Samples of what is allocated: when one is due, where it was, what is live of
 * them.
 *
 * Whoever sees allocations reports each to jpp_samples_is_due(), those for
 * which that is true to jpp_samples_take(), and each object that is about to be
 * freed to jpp_samples_freed().  Between two samples that costs a few
 * instructions; a sample costs a walk of the stack.
 *
 * One per process.  Everything marked [signal] is for any thread, in a handler
 * and in a destructor, before, in and after a fork(), and at any time after
 * jpp_samples_prepare(), also when nothing is sampled.  The rest is for one
 * thread at a time.
 */


#ifndef _JPP_SAMPLES_H_INCLUDED_
#define _JPP_SAMPLES_H_INCLUDED_


#include <stdint.h>

#include "jpp_backtrace.h"
#include "jpp_owners_last.h"
#include "jpp_samples_live.h"
#include "jpp_samples_sites.h"


/*
 * How many bytes to let pass until the next sample: exponentially distributed,
 * so that each byte has the same chance, whatever came before it.
 *
 * In integers: malloc() leaves the state of floating point alone.  Everything
 * but jpp_draw_init() is [signal] and for any thread with a state of its own.
 */

/* the largest lg */
#define JPP_DRAW_LG_MAX  24


/* To be called once, before the first draw. */
void jpp_draw_init(void);

/* A draw with the mean 2^LG; advances STATE, which may start as anything. */
int64_t jpp_draw(uint64_t *state, uint32_t lg);


/*
 * Sites that samples come from again, found without a walk.
 *
 * Where a call returns to says how far above rsp its caller's return address
 * lies, in nearly all code.  So if the addresses of a stack that was walked
 * before all lie where they lay, seen from rsp, the stack is the same: by
 * induction from the first, each address is where its frame has it.  Comparing
 * takes a quarter of what a walk does.
 *
 * [signal] No lock, no memory; any thread.
 */

#define JPP_AGAIN_LG  10


/* sites by what their stacks begin with; zeroed, it knows none */
typedef struct {
    uint32_t    sites[1 << JPP_AGAIN_LG];
} jpp_again_t;


/* The site of KEY whose stack begins with FRAME; 0: it has to be walked. */
uint32_t jpp_again_find(const jpp_again_t *again, const jpp_sites_t *sites,
    const jpp_backtrace_frame_t *frame, const jpp_site_key_t *key);

/* SITE is what a walk from FRAME has led to. */
void jpp_again_learn(jpp_again_t *again, const jpp_sites_t *sites,
    const jpp_backtrace_frame_t *frame, uint32_t site);


/*
 * Room in a dlopen-ed module for variables of threads is scarce, but there is
 * some in glibc; musl has none, and no need: it never allocates them late.
 */

#ifdef __GLIBC__
#define JPP_SAMPLES_THREAD  __thread __attribute__((tls_model("initial-exec")))
#else
#define JPP_SAMPLES_THREAD  __thread
#endif


typedef struct {
    uint64_t       left;           /* bytes until the next sample */
    uint64_t       random;
    uint32_t       generation;     /* that both are of */
    bool           is_unsampled;
    bool           is_serving;     /* the thread of jpp_owners.h */
} jpp_samples_thread_t;


/*
 * [signal] Who knows whom a sample of the present call belongs to, in any
 * thread (jpp_owners.h).  HINTS are the stack's own: where to look first, from
 * FRAME on, an address in the caller's frame; zeroed at first.
 */
typedef jpp_samples_found_t (*jpp_samples_owners_pt)(jpp_site_hints_t *hints,
    uintptr_t frame);


typedef struct {
    jpp_live_t     live;
    jpp_sites_t    sites;
    jpp_again_t    again;
    uint64_t       n_cut;          /* stacks that were not walked to the end */
    uint32_t       generation;     /* counts starts and stops: odd is on */
    uint32_t       lg;
    uint64_t       seed;           /* of the next thread's numbers */

    jpp_samples_owners_pt
                   owners;         /* NULL: nobody knows */
} jpp_samples_t;


/* of this object alone, so that their addresses are not looked up */
extern JPP_SAMPLES_THREAD jpp_samples_thread_t  jpp_samples_thread
    __attribute__((visibility("hidden")));
extern jpp_samples_t                            jpp_samples
    __attribute__((visibility("hidden")));


/* Get the memory, which is done once; false: the kernel has none. */
bool jpp_samples_prepare(void);

/*
 * Sample one byte in 2^LG from now on, and forget what was before.  SEED is
 * where the numbers of all threads start from.
 */
void jpp_samples_start(uint32_t lg, uint64_t seed);

/* Sample no more, and forget. */
void jpp_samples_stop(void);

/*
 * [signal] SIZE bytes were allocated at P, which is NULL if they were not, by a
 * call that returns to CALLER; and jpp_samples_is_due() was true for it.  FRAME
 * is __builtin_frame_address(0) of a function that may have been called from
 * there directly, which saves a part of the walk, or NULL.
 */
void jpp_samples_take(void *p, size_t size, const void *caller,
    const void *frame);


/* SAMPLE is OWNER's, and is changed accordingly.  One that was freed meanwhile
   counts as allocated for him. */
void jpp_samples_give(jpp_sample_at_t *sample, uint32_t owner);


/* [signal] Count SIZE bytes, any number: is a sample due?  It stays due until
   it is taken. */
static inline bool
jpp_samples_is_due(uintptr_t size)
{
    if (__builtin_expect(__builtin_sub_overflow(jpp_samples_thread.left, size,
                                                &jpp_samples_thread.left), 0))
    {
        jpp_samples_thread.left = 0;
        return true;
    }

    return false;
}


/* [signal] May there be a sample at P? */
static inline bool
jpp_samples_may_have(uintptr_t p)
{
    return __builtin_expect(jpp_live_may_have(&jpp_samples.live, p), 0);
}


/* [signal] What is at P is about to be freed; OBJECT becomes its sample.
   False: it was not sampled. */
static inline bool
jpp_samples_freed(uintptr_t p, uint64_t *object)
{
    return jpp_samples_may_have(p)
           && jpp_live_take(&jpp_samples.live, p, object);
}


#endif /* _JPP_SAMPLES_H_INCLUDED_ */


/*
 * Allocation samples: when a sample is due, its stack, and whether its object
 * is live.
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


#include "jpp_ages.h"
#include "jpp_proc.h"


/* The objects that are live: jpp_samples_live.c. */

/* the table of 2^lg places begins at place 2^lg */
#define JPP_LIVE_LG_MIN    12
#define JPP_LIVE_LG_MAX    17
#define JPP_LIVE_WINDOW    16
#define JPP_LIVE_PLACES    ((2u << JPP_LIVE_LG_MAX) + JPP_LIVE_WINDOW)

/* how many it takes: half of the places, so that few windows are full */
#define JPP_LIVE_MAX       (1u << JPP_LIVE_LG_MAX)

/* bytes of memory that it works in: whole pages, which a clear gives back */
#define JPP_LIVE_PAGE      4096
#define JPP_LIVE_PLACE     (2 * sizeof(uint64_t) + sizeof(uint32_t))
#define JPP_LIVE_MEMORY                                                       \
    ((JPP_LIVE_PLACES * JPP_LIVE_PLACE + JPP_LIVE_PAGE - 1)                   \
     & ~((size_t) JPP_LIVE_PAGE - 1))

/* an object in a word: the size in 40 bits, larger ones cut; the site in 24 */
#define JPP_LIVE_SIZE      40
#define JPP_LIVE_SIZE_MAX  (((uint64_t) 1 << JPP_LIVE_SIZE) - 1)

#define jpp_live_site(object)  ((uint32_t) ((object) >> JPP_LIVE_SIZE))
#define jpp_live_size(object)  ((object) & JPP_LIVE_SIZE_MAX)


/* zeroed until jpp_live_init() */
typedef struct {
    uint8_t      filter[1 << 16];   /* how many of a hash; 192: or more */
    uint32_t     lg;                /* of the largest table in use */
    int64_t      n;                 /* less those that a clear overtook */
    uint64_t     n_dropped;
    uint32_t     now;               /* seconds of any clock, by the caller */
    uintptr_t   *addresses;         /* 0: free, 1: being filled */
    uint64_t    *objects;
    uint32_t    *births;            /* the second each was added in */
} jpp_live_t;


/* Called for each object. */
typedef void (*jpp_live_visit_pt)(uint64_t object, uint32_t birth, void *data);


/* LIVE is empty, and works in the JPP_LIVE_MEMORY bytes at MEMORY. */
void jpp_live_init(jpp_live_t *live, void *memory);

/*
 * Forget all objects.  One that another thread adds meanwhile may stay, in a
 * table that is otherwise as new.
 */
void jpp_live_clear(jpp_live_t *live);

/*
 * Add OBJECT at ADDRESS; one that is there already was freed unseen, and is
 * replaced.  Returns its place; 0: there is no room, and it was dropped.
 */
uint32_t jpp_live_add(jpp_live_t *live, uintptr_t address, uint64_t object);

/* Take out what is at ADDRESS, whatever the filter says; false: nothing. */
bool jpp_live_take(jpp_live_t *live, uintptr_t address, uint64_t *object);

/* If what is at ADDRESS, in PLACE, is still OBJECT, it becomes NOW. */
void jpp_live_replace(jpp_live_t *live, uint32_t place, uintptr_t address,
    uint64_t object, uint64_t now);

/* Call VISIT with every object. */
void jpp_live_walk(const jpp_live_t *live, jpp_live_visit_pt visit, void *data);

/* How many objects there are. */
uint64_t jpp_live_count(const jpp_live_t *live);

/* Bytes of memory that are in use, as far as pages go. */
size_t jpp_live_bytes(const jpp_live_t *live);


static inline uint64_t
jpp_live_object(uint32_t site, uint64_t size)
{
    return (uint64_t) site << JPP_LIVE_SIZE
           | (size < JPP_LIVE_SIZE_MAX ? size : JPP_LIVE_SIZE_MAX);
}


static inline uint64_t
jpp_live_hash(uintptr_t address)
{
    return (uint64_t) address * 0x9e3779b97f4a7c15u;
}


/* False: ADDRESS is certainly not in LIVE. */
static inline bool
jpp_live_may_have(const jpp_live_t *live, uintptr_t address)
{
    return jpp_atomic_get(&live->filter[jpp_live_hash(address) >> 48]) != 0;
}


/* Where they were allocated: jpp_samples_sites.c. */

#define JPP_SITES_HEADS   8192

/* words of memory, so that a site fits into 24 bits */
#define JPP_SITES_WORDS   ((size_t) 2 << 20)
#define JPP_SITES_MEMORY  (JPP_SITES_WORDS * sizeof(uint64_t))

/* frames of a stack */
#define JPP_SITES_DEPTH   128

#define JPP_SITES_UNKNOWN  0
#define JPP_SITES_VARIES   UINT64_MAX


/* what keeps samples of one stack apart */
typedef struct {
    uint16_t      kind;            /* a class of sizes; or a thread's name */
                                   /*   and state (jpp_cpu_sampler.h) */
    uint16_t      owner;           /* jpp_owners.h */
} jpp_site_key_t;


typedef struct {
    uint64_t      hash;
    uint32_t      next;            /* the next site of this hash, 0: none */
    uint32_t      n;               /* frames */
    jpp_site_key_t
                  key;
    uint32_t      given;           /* the site that its samples were given to */
                                   /*   last; 0: none */
    bool          is_next;         /* jpp_samples_owners_pt */
    uint64_t      reach;           /* bytes of stack that have the addresses, */
                                   /*   JPP_SITES_UNKNOWN, or _VARIES */

    uint64_t      allocated;       /* objects that were sampled, and bytes; */
    uint64_t      allocated_bytes; /*   or times, and ns: since cleared */
    uint64_t      live;            /* the same, of the dump being written */
    uint64_t      live_bytes;

    uintptr_t     pcs[];           /* innermost first; behind them the words */
                                   /*   of the stack where each lies */
} jpp_site_t;


/* zeroed until jpp_sites_init() */
typedef struct {
    uint32_t      heads[JPP_SITES_HEADS];
    uint32_t      used;            /* words of memory */
    uint32_t      n;
    uint64_t      n_dropped;
    uint64_t     *memory;
    uint32_t      words;           /* of it */
} jpp_sites_t;


/* Called for each site. */
typedef void (*jpp_sites_visit_pt)(jpp_site_t *site, void *data);


/* SITES is empty, and works in the WORDS zeroed words at MEMORY, of which there
   are JPP_SITES_WORDS at most. */
void jpp_sites_init(jpp_sites_t *sites, void *memory, size_t words);

/*
 * The site of KEY whose stack is the N addresses at PCS.  0: there is no room
 * for another, and the sample is dropped.  A quarter of the memory is for sites
 * without an owner: one that has none is worth a second try.
 */
uint32_t jpp_sites_add(jpp_sites_t *sites, const uintptr_t *pcs, uint32_t n,
    const jpp_site_key_t *key);

/* What jpp_sites_give() does for another owner than the last time. */
uint32_t jpp_sites_give_another(jpp_sites_t *sites, jpp_site_t *from,
    uint16_t owner);

/* Count N objects of SIZE bytes together as allocated at SITE. */
void jpp_sites_count(jpp_sites_t *sites, uint32_t site, uint64_t n,
    uint64_t size);

/* Take one back; false: nothing was counted since they were cleared. */
bool jpp_sites_uncount(jpp_sites_t *sites, uint32_t site, uint64_t size);

/* Call VISIT with every site. */
void jpp_sites_walk(jpp_sites_t *sites, jpp_sites_visit_pt visit, void *data);

/* Set what was allocated, and dropped, to zero. */
void jpp_sites_clear(jpp_sites_t *sites);

/* Bytes of memory that are in use. */
size_t jpp_sites_bytes(const jpp_sites_t *sites);

/* The class of SIZE. */
uint16_t jpp_sites_class(uint64_t size);


/* Where in the stack the N frames of SITE are, in words above rsp of the first
   one: room for as many. */
static inline uint32_t *
jpp_sites_words(jpp_site_t *site)
{
    return (uint32_t *) (void *) (site->pcs + site->n);
}


static inline jpp_site_t *
jpp_sites_at(const jpp_sites_t *sites, uint32_t site)
{
    return (jpp_site_t *) (void *) (sites->memory + site);
}


/* The site that is like FROM but OWNER's; 0: there is no room. */
static inline uint32_t
jpp_sites_give(jpp_sites_t *sites, jpp_site_t *from, uint16_t owner)
{
    uint32_t  given;

    given = jpp_atomic_get(&from->given);

    return given != 0 && jpp_sites_at(sites, given)->key.owner == owner
           ? given : jpp_sites_give_another(sites, from, owner);
}


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
 * Room in a dlopen-ed module for variables of threads is scarce, but there is
 * some in glibc; musl has none, and no need: it never allocates them late.
 */

#ifdef __GLIBC__
#define JPP_SAMPLES_THREAD  __thread __attribute__((tls_model("initial-exec")))
#else
#define JPP_SAMPLES_THREAD  __thread
#endif


/* callee-saved registers, which a function has pushed below its frame's base */
#define JPP_SAMPLES_SAVED  (5 * sizeof(uintptr_t))


typedef struct {
    uint64_t       left;           /* bytes until the next sample */
    uint64_t       random;
    uint32_t       generation;     /* that both are of */
    bool           is_unsampled;
    bool           is_serving;     /* the thread of jpp_owners.h */
} jpp_samples_thread_t;


/* a sample: where it is live, if it is (place 0: it never was) */
typedef struct {
    uintptr_t           address;
    uint64_t            object;
    uint32_t            place;
} jpp_sample_at_t;


/* whom a sample belongs to */
typedef struct {
    jpp_sample_at_t    *waits;     /* NULL; or it is to be kept here, because */
                                   /*   it will have another */
    uint32_t            owner;     /* 0: none */
} jpp_samples_found_t;


/* [signal] Who knows whom a sample of the present call belongs to, in any
   thread (jpp_owners.h), and keeps IS_NEXT for its stack; false at first. */
typedef jpp_samples_found_t (*jpp_samples_owners_pt)(bool *is_next);


/* repeat sites: jpp_samples.c */
#define JPP_REPEAT_LG  10


typedef struct {
    jpp_live_t     live;
    jpp_sites_t    sites;
    uint32_t       again[1 << JPP_REPEAT_LG];   /* sites, by the first frame */
    uint64_t       n_cut;          /* stacks that were not walked to the end */
    uint32_t       generation;     /* counts starts and stops: odd is on */
    uint32_t       lg;
    uint32_t       started;        /* by live.now */
    uint64_t       seed;           /* of the next thread's numbers */

    jpp_samples_owners_pt
                   owners;         /* NULL: nobody knows */
} jpp_samples_t;


/* of this object alone, so that their addresses are not looked up */
extern JPP_SAMPLES_THREAD jpp_samples_thread_t  jpp_samples_thread
    __attribute__((visibility("hidden")));
extern jpp_samples_t                            jpp_samples
    __attribute__((visibility("hidden")));


/* Write SAMPLES, with AGES as jpp_sampler_dump() has it, and the mappings of
   this process to FD. */
jpp_code_t jpp_samples_dump(jpp_samples_t *samples, int fd,
    const jpp_ages_t *ages, jpp_err_t *err);

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

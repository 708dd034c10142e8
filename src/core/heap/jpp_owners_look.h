
/*
 * What a stack says about whom its thread is busy for: the connection that its
 * words name (jpp_serving.h), and whom the server says that one is for.
 *
 * All but jpp_owners_look_start() and _base() is [signal], and for any thread
 * where it does not say otherwise.  One per process.
 */


#ifndef _JPP_OWNERS_LOOK_H_INCLUDED_
#define _JPP_OWNERS_LOOK_H_INCLUDED_


#include "jpp_serving.h"


#define JPP_OWNERS_UNTOLD  UINT32_MAX


/* What the server knows; all of it [signal]. */
typedef struct {
    /*
     * Whom the connection INDEX is served for: an owner, or JPP_OWNER_NONE.  If
     * it will have another, or one at all, WAITS becomes JPP_SERVING_NEXT or
     * _FIRST, or what the server calls that of several that it serves at once;
     * or JPP_SERVING_OTHERS.
     * WORDS, of which there are N, are those of the stack in which that is
     * asked, and tell these apart; or what the server has called one.
     */
    uint32_t        (*served)(uint32_t index, const uintptr_t *words,
                              uint32_t n, uintptr_t *waits);

    /* The owner of one that has none, in the meantime if it waits. */
    uint32_t        (*meanwhile)(uint32_t index);

    /* Something waits that jpp_owners_settle() has not seen. */
    void            (*due)(void);
} jpp_owners_server_t;


/* the words of a stack; and registers that a call would save below them, where
   they are not among them yet */
typedef struct {
    uintptr_t             address;
    uint32_t              n;
    uint32_t              n_saved;
    const uintptr_t      *saved;
} jpp_owners_words_t;


/* what names a connection, and what it is served for */
typedef struct {
    jpp_serving_one_t     one;
    uintptr_t             address;       /* of its outermost word; 0: there */
                                         /*   is none */
    uintptr_t             inner;         /* of its innermost that was seen, */
    uint32_t              inner_range;   /*   and whose record that is */
    uintptr_t             waits;
    uint32_t              owner;
    uint32_t              first;         /* a connection that is for nobody */
} jpp_owners_look_t;


typedef struct {
    jpp_serving_t         serving;
    jpp_owners_server_t   server;
    uintptr_t             high;          /* where the thread's stack ends, */
    uintptr_t             base;          /*   and where serving begins */
    uint32_t              told;          /* jpp_owners_tell() */
} jpp_owners_known_t;


extern jpp_owners_known_t  jpp_owners_known;


/* The calling thread serves, from about here on; both are copied. */
void jpp_owners_look_start(const jpp_serving_t *serving,
    const jpp_owners_server_t *server);

/* It serves from BASE on, an address of its stack; words further out may be
   left over from its start. */
void jpp_owners_base(uintptr_t base);

/*
 * The thread that serves is busy for the connection INDEX from now on, whatever
 * its stack says; with JPP_OWNERS_UNTOLD the stack says it again, as at first.
 * For those who go on with a connection without being called for it, when a
 * thread is done, say.  Returns what was told before.
 */
uint32_t jpp_owners_tell(uint32_t index);

/*
 * Whom this thread is busy for in this call, which cannot be changed
 * later.
 */
uint32_t jpp_owners_here(void) __attribute__((noinline));

/* Whom this thread, which a signal has interrupted, is busy for. */
uint32_t jpp_owners_interrupted(const void *ucontext);

/* STACK becomes the words from ADDRESS on; false: it is another stack. */
bool jpp_owners_stack(uintptr_t address, jpp_owners_words_t *stack);

/*
 * What STACK is for becomes LOOK: of the connections that have an owner, or
 * wait for one, the outermost if two of its words come before all of others;
 * or else that with the most words, and the outermost of several.  Where
 * the outermost of all accepts others, the newest.  If nobody has, the
 * outermost has what it has in the meantime.
 */
void jpp_owners_look(const jpp_owners_words_t *stack, jpp_owners_look_t *look);

/* The owner, in the meantime if LOOK waits. */
uint32_t jpp_owners_looked(const jpp_owners_look_t *look);


/* Whom the connection INDEX, which STACK names, is served for. */
static inline uint32_t
jpp_owners_served(uint32_t index, const jpp_owners_words_t *stack,
    uintptr_t *waits)
{
    return jpp_owners_known.server.served(index,
                                          (const uintptr_t *) stack->address,
                                          stack->n, waits);
}


#endif /* _JPP_OWNERS_LOOK_H_INCLUDED_ */

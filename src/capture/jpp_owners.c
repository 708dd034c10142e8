
#include "jpp_backtrace.h"
#include "jpp_frame.h"
#include "jpp_owner_labels.h"
#include "jpp_owners.h"
#include "jpp_owners_wait.h"
#include "jpp_unwind.h"


/* callee-saved registers, which unwinding finds below the frame's base */
#define JPP_OWNERS_SAVED   (5 * sizeof(uintptr_t))

/* bytes of the main stack: the least distance to what lies below it */
#define JPP_OWNERS_STACK   ((uintptr_t) 8 << 20)

/* of a hint: nobody was served by then */
#define JPP_OWNERS_EARLY   0x80000000u


/* the words of a stack */
typedef struct {
    uintptr_t             address;
    uint32_t              n;
} jpp_owners_words_t;


typedef struct {
    jpp_serving_t         serving;
    jpp_owners_server_t   server;
    uintptr_t             high;          /* where the thread's stack ends */
} jpp_owners_t;


static void jpp_owners_find(uint32_t *hint, jpp_samples_found_t *found)
    __attribute__((noinline));
static void jpp_owners_wait(const jpp_samples_found_t *found,
    const jpp_sample_at_t *sample);
static inline bool jpp_owners_again(uint32_t hint,
    const jpp_owners_words_t *stack, jpp_serving_one_t *one, uintptr_t *waits,
    jpp_samples_found_t *found);
static void jpp_owners_late(const jpp_serving_one_t *one, uintptr_t waits,
    jpp_samples_found_t *found);
static uint32_t jpp_owners_scan(const jpp_owners_words_t *words,
    const jpp_owners_words_t *stack, uint32_t *at, jpp_serving_one_t *one,
    uintptr_t *waits);
static inline bool jpp_owners_stack(uintptr_t address,
    jpp_owners_words_t *stack);
static inline uint32_t jpp_owners_served(uint32_t index,
    const jpp_owners_words_t *stack, uintptr_t *waits);
static void jpp_owners_settle_one(jpp_owners_waiting_t *waiting);


static const jpp_samples_owners_t  jpp_owners_asked = {
    jpp_owners_find, jpp_owners_wait
};


static jpp_owners_t  jpp_owners;


bool
jpp_owners_start(const jpp_serving_t *serving,
    const jpp_owners_server_t *server)
{
    jpp_owners_stop();

    if (!jpp_owners_wait_start(serving->n)) {
        return false;
    }

    jpp_owners.serving = *serving;
    jpp_owners.server = *server;
    jpp_owners.high = jpp_backtrace_high((uintptr_t) &serving);

    jpp_samples_thread.is_serving = true;
    jpp_samples.owners = &jpp_owners_asked;

    return true;
}


void
jpp_owners_stop(void)
{
    jpp_samples_thread.is_serving = false;
    jpp_samples.owners = NULL;

    jpp_owners_wait_stop();
}


/*
 * What the caller and those before it had in registers is on the stack by the
 * builtin, if it was not before.  The rest is that of whoever allocates.
 */

static void
jpp_owners_find(uint32_t *hint, jpp_samples_found_t *found)
{
    uintptr_t           waits = 0;
    jpp_serving_one_t   one;
    jpp_owners_words_t  stack;

    __builtin_unwind_init();

    if (!jpp_samples_thread.is_serving) {
        found->owner = JPP_OWNER_THREADS;
        return;
    }

    if (!jpp_owners_stack((uintptr_t) __builtin_frame_address(0)
                          - JPP_OWNERS_SAVED, &stack))
    {
        return;
    }

    if (!jpp_owners_again(*hint, &stack, &one, &waits, found)) {
        found->owner = jpp_owners_scan(&stack, &stack, hint, &one, &waits);
        *hint |= waits == JPP_SERVING_NEXT ? JPP_OWNERS_EARLY : 0;
    }

    if (waits != 0 && !jpp_owners_waits.is_busy) {
        jpp_owners_late(&one, waits, found);
    }
}


/*
 * The same stack has what it carries down at the same place, HINT.  Where a
 * connection that serves one at a time had nobody yet, it has none again, or
 * one that what waits will be given in any case.
 */

static inline bool
jpp_owners_again(uint32_t hint, const jpp_owners_words_t *stack,
    jpp_serving_one_t *one, uintptr_t *waits, jpp_samples_found_t *found)
{
    uint32_t  at;

    at = hint & ~JPP_OWNERS_EARLY;

    if (at == 0 || at > stack->n
        || !jpp_serving_is_again(&jpp_owners.serving,
                                 jpp_frame_word(stack->address
                                                + (at - 1)
                                                  * sizeof(uintptr_t)),
                                 one))
    {
        return false;
    }

    if ((hint & JPP_OWNERS_EARLY) != 0) {
        *waits = JPP_SERVING_NEXT;
        return true;
    }

    found->owner = jpp_owners_served(one->index, stack, waits);

    return found->owner != JPP_OWNER_NONE || *waits != 0;
}


/* The sample will have the next owner of the connection ONE, and has the last
   until then: on one that is kept alive that is the same, as a rule. */

static void
jpp_owners_late(const jpp_serving_one_t *one, uintptr_t waits,
    jpp_samples_found_t *found)
{
    jpp_owners_slot_t  *slot;

    jpp_owners_enter();

    slot = jpp_owners_slot(one->index, one->number);

    jpp_owners_leave();

    if (slot->last != JPP_OWNER_NONE && waits == JPP_SERVING_NEXT) {
        found->owner = slot->last;

    } else if (found->owner == JPP_OWNER_NONE) {
        found->owner = jpp_owners.server.meanwhile(one->index);
    }

    found->index = one->index;
    found->waits = waits;
}


/*
 * The first of WORDS, which belong to STACK, that names a connection with an
 * owner, or which waits for one: ONE, and *AT words were read for it.  An
 * upstream's may have none, and its client's is further out; the innermost has
 * what it has in the meantime if nobody is.
 */

static uint32_t
jpp_owners_scan(const jpp_owners_words_t *words,
    const jpp_owners_words_t *stack, uint32_t *at, jpp_serving_one_t *one,
    uintptr_t *waits)
{
    uint32_t  i, n, read, owner, first;

    n = words->n < JPP_SERVING_WORDS ? words->n : JPP_SERVING_WORDS;
    first = jpp_owners.serving.n;

    for (i = 0; i < n; i += read) {
        read = jpp_serving_find(&jpp_owners.serving,
                                words->address + i * sizeof(uintptr_t), n - i,
                                one);
        if (read == 0) {
            break;
        }

        *waits = 0;
        owner = jpp_owners_served(one->index, stack, waits);

        if (owner != JPP_OWNER_NONE || *waits != 0) {
            *at = i + read;

            return owner;
        }

        first = first != jpp_owners.serving.n ? first : one->index;
    }

    *at = 0;

    *waits = 0;

    return first != jpp_owners.serving.n ? jpp_owners.server.meanwhile(first)
                                         : JPP_OWNER_LOOP;
}


static inline bool
jpp_owners_stack(uintptr_t address, jpp_owners_words_t *stack)
{
    if (address >= jpp_owners.high
        || jpp_owners.high - address > JPP_OWNERS_STACK)
    {
        return false;
    }

    stack->address = address;
    stack->n = (uint32_t) ((jpp_owners.high - address) / sizeof(uintptr_t));

    return true;
}


static inline uint32_t
jpp_owners_served(uint32_t index, const jpp_owners_words_t *stack,
    uintptr_t *waits)
{
    return jpp_owners.server.served(index, (const uintptr_t *) stack->address,
                                    stack->n, waits);
}


static void
jpp_owners_wait(const jpp_samples_found_t *found,
    const jpp_sample_at_t *sample)
{
    bool  is_first;

    if (jpp_owners_waits.is_busy) {
        return;
    }

    jpp_owners_enter();

    is_first = jpp_owners_wait_add(found, sample);

    jpp_owners_leave();

    if (is_first) {
        jpp_owners.server.due();
    }
}


uint32_t
jpp_owners_here(void)
{
    uint32_t            at, owner;
    uintptr_t           waits;
    jpp_serving_one_t   one;
    jpp_owners_words_t  stack;

    __builtin_unwind_init();

    if (jpp_owners_waits.slots == NULL) {
        return JPP_OWNER_NONE;
    }

    if (!jpp_samples_thread.is_serving) {
        return JPP_OWNER_THREADS;
    }

    if (!jpp_owners_stack((uintptr_t) __builtin_frame_address(0)
                          - JPP_OWNERS_SAVED, &stack))
    {
        return JPP_OWNER_NONE;
    }

    owner = jpp_owners_scan(&stack, &stack, &at, &one, &waits);

    return owner == JPP_OWNER_NONE && waits != 0
           ? jpp_owners.server.meanwhile(one.index) : owner;
}


/* What lies below rsp may be left over from calls that have ended. */

uint32_t
jpp_owners_interrupted(const void *ucontext)
{
    uint32_t              at, owner;
    uintptr_t             waits;
    jpp_serving_one_t     one;
    jpp_owners_words_t    stack, registers;
    jpp_unwind_context_t  context;

    if (jpp_owners_waits.slots == NULL) {
        return JPP_OWNER_NONE;
    }

    if (!jpp_samples_thread.is_serving) {
        return JPP_OWNER_THREADS;
    }

    jpp_unwind_interrupted(&context, ucontext);

    if (!jpp_owners_stack(context.registers[JPP_CFI_RSP], &stack)) {
        return JPP_OWNER_NONE;
    }

    registers.address = (uintptr_t) context.registers;
    registers.n = JPP_FRAME_REGISTERS;

    owner = jpp_owners_scan(&registers, &stack, &at, &one, &waits);

    if (at == 0) {
        owner = jpp_owners_scan(&stack, &stack, &at, &one, &waits);
    }

    return owner == JPP_OWNER_NONE && waits != 0
           ? jpp_owners.server.meanwhile(one.index) : owner;
}


void
jpp_owners_set(uint32_t index, uint64_t number, uintptr_t which,
    uint32_t owner)
{
    if (index < jpp_owners_waits.n) {
        jpp_owners_enter();

        jpp_owners_give_all(jpp_owners_slot(index, number), which, owner);

        jpp_owners_leave();
    }
}


bool
jpp_owners_wanted(uint32_t index)
{
    return index < jpp_owners_waits.n
           && jpp_owners_waits.slots[index].waiting != 0;
}


bool
jpp_owners_is_due(void)
{
    return jpp_owners_waits.n_due != 0;
}


void
jpp_owners_settle(uint32_t n)
{
    jpp_owners_wait_t     *waits;
    jpp_owners_waiting_t  *waiting;

    waits = &jpp_owners_waits;
    jpp_owners_enter();

    if (waits->n_waited - waits->n_settled > JPP_OWNERS_WAITING) {
        waits->n_settled = waits->n_waited - JPP_OWNERS_WAITING;
    }

    for ( /* void */ ; n != 0 && waits->n_due != 0; n--, waits->n_settled++) {
        waiting = &waits->waiting[waits->n_settled % JPP_OWNERS_WAITING];

        if (waiting->state == JPP_OWNERS_DUE) {
            jpp_owners_settle_one(waiting);
        }
    }

    jpp_owners_leave();
}


/* Of a connection that has gone what it had stays. */

static void
jpp_owners_settle_one(jpp_owners_waiting_t *waiting)
{
    uint32_t            index, owner;
    uint64_t            number;
    uintptr_t           waits;
    jpp_owners_slot_t  *slot;

    index = waiting->index;
    slot = &jpp_owners_waits.slots[index];
    number = jpp_owners.serving.number(index);

    (void) jpp_owners_slot(index, number != 0 ? number : slot->number);

    if (waiting->state != JPP_OWNERS_DUE) {
        return;
    }

    waits = 0;
    owner = jpp_owners.server.served(index, &waiting->waits, 1, &waits);

    if (waits == 0 && owner != JPP_OWNER_NONE) {
        jpp_owners_give_all(slot, waiting->waits, owner);
        return;
    }

    if (owner == JPP_OWNER_NONE && waits != 0) {
        owner = jpp_owners.server.meanwhile(index);
    }

    jpp_owners_give(waiting,
                    slot->last != JPP_OWNER_NONE
                    && waiting->waits == JPP_SERVING_NEXT
                    ? waiting->owner : owner, JPP_OWNERS_SETTLED);
}

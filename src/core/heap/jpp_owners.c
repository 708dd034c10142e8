
#include "jpp_owner_labels.h"
#include "jpp_owners.h"


/*
 * Whom the thread that serves is busy for.
 *
 * The problem: a sample is taken deep in a library, where nothing says which
 * request is served.
 *
 * The method: whoever hands an event to its handler tells its connection
 * (jpp_owners_tell()), and the server says whom that is for; or that this will
 * be known later, and then the sample waits.  Two kinds of events name no
 * client: one that accepts, and one of something else, as a timer's, or the end
 * of a thread.  Handlers carry the connection that they serve down, so that
 * words of the stack point at its record (jpp_serving.c): it is the newest of
 * those that are named where others are accepted, and else the one that most
 * words name.  The rest is left over from earlier calls, in arrays that nobody
 * has written to.
 *
 * Why it is safe: words of this thread's own stack are read, and no word is
 * followed; one that names a record has its place in an array, whose number
 * says whether the record is in use.
 *
 * What bounds it: JPP_SERVING_WORDS words of the stack, from the handler on,
 * in which JPP_OWNERS_SEEN connections are told apart.
 *
 * Measured: of 559,000 samples under storms of connections none had a wrong
 * owner, with nginx 1.22.1 and 1.26.3, by gcc -O and -O2 and clang -O1 and -O3.
 * Owners cost a request for a static file 2.3 % of its instructions, sampled at
 * every 4 KiB, and a signal for CPU time 0.01 us.
 *
 * Tried instead: the words alone, the outermost before the others.  Compilers
 * decide what the event loop saves, and where it leaves words of events before:
 * of 120,000 samples under storms of connections none had a wrong owner with
 * nginx 1.22.1, but 100 to 400 with 1.26.3 by gcc -O2 or clang -O3.  And the
 * registers of the loop's frame, as the unwinder restores them: 12 frames with
 * all registers take 8.6 us, and a posted event is in none that outlives the
 * call.
 *
 * All but jpp_owners_start(), _stop() and _base() is [signal], and for any
 * thread where it does not say otherwise.
 */


/* connections that are told apart; others are left over from earlier calls */
#define JPP_OWNERS_SEEN    8

/* bytes of the main stack: the least distance to what lies below it */
#define JPP_OWNERS_STACK   ((uintptr_t) 8 << 20)


/* the words of a stack; and registers that a call would save below them, where
   they are not among them yet */
typedef struct {
    uintptr_t             address;
    uint32_t              n;
    uint32_t              n_saved;
    const uintptr_t      *saved;
} jpp_owners_words_t;


/* a connection, what it is served for, and how many words name it */
typedef struct {
    jpp_serving_one_t     one;
    uintptr_t             waits;
    uint32_t              owner;
    uint32_t              n;
} jpp_owners_look_t;


typedef struct {
    jpp_serving_t         serving;
    jpp_owners_server_t   server;
    uintptr_t             high;          /* where the thread's stack ends, */
    uintptr_t             base;          /*   and where serving begins */
    uint32_t              told;          /* jpp_owners_tell() */

    uint64_t              n_settled;
    uint32_t              turn;          /* of settling */
    bool                  is_due;
} jpp_owners_t;


static jpp_owners_t  jpp_owners;

/* what a function saves before it uses it: rbx, rbp, r12 to r15 */
static const uint8_t  jpp_owners_saved[] = { 3, JPP_CFI_RBP, 12, 13, 14, 15 };


void
jpp_owners_base(uintptr_t base)
{
    jpp_owners.base = base;
}


uint32_t
jpp_owners_tell(uint32_t index)
{
    uint32_t  before;

    before = jpp_owners.told;
    jpp_owners.told = index;

    return before;
}


/* Is somebody served by the one of LOOK, now or next? */

static bool
jpp_owners_is_served(jpp_owners_look_t *look, const jpp_owners_words_t *stack)
{
    look->waits = 0;
    look->owner = jpp_owners.server.served(look->one.index,
                                           (const uintptr_t *) stack->address,
                                           stack->n, &look->waits);

    return look->waits != JPP_SERVING_OTHERS
           && (look->owner != JPP_OWNER_NONE || look->waits != 0);
}


/* Of SEEN, where N are, there are more when the N_WORDS at ADDRESS are read. */

static uint32_t
jpp_owners_see(uintptr_t address, uint32_t n_words,
    jpp_owners_look_t seen[JPP_OWNERS_SEEN], uint32_t n)
{
    uint32_t           i, k;
    jpp_serving_one_t  one;

    for (i = n_words; i != 0; i--) {
        i = jpp_serving_find(&jpp_owners.serving, address, i, &one);
        if (i == 0) {
            break;
        }

        for (k = 0; k < n && seen[k].one.index != one.index; k++) {
            /* void */
        }

        if (k == JPP_OWNERS_SEEN) {
            continue;
        }

        if (k == n) {
            seen[n++] = (jpp_owners_look_t) { .one = one };
        }

        seen[k].n++;
    }

    return n;
}


/* Whom STACK, by its words, is for becomes LOOK; or it stays as it is. */

static void
jpp_owners_scan(const jpp_owners_words_t *stack, bool is_accepting,
    jpp_owners_look_t *look)
{
    uint32_t            k, n;
    jpp_owners_look_t  *one, *best, seen[JPP_OWNERS_SEEN];

    n = (uint32_t) (jpp_less(jpp_owners.base, stack->address)
                    / sizeof(uintptr_t));
    n = (uint32_t) jpp_smaller(n, stack->n);

    n = jpp_owners_see(stack->address, n, seen, 0);
    n = jpp_owners_see((uintptr_t) stack->saved, stack->n_saved, seen, n);
    best = NULL;

    for (k = 0; k < n; k++) {
        one = &seen[k];

        if (jpp_owners_is_served(one, stack)
            && (best == NULL
                || (is_accepting ? one->one.number > best->one.number
                                 : one->n > best->n)))
        {
            best = one;
        }
    }

    if (best != NULL) {
        *look = *best;
    }
}


static void
jpp_owners_look(const jpp_owners_words_t *stack, jpp_owners_look_t *look)
{
    bool      is_accepting;
    uint32_t  told;

    told = jpp_owners.told;
    is_accepting = false;

    look->owner = JPP_OWNER_LOOP;
    look->waits = 0;

    if (told < jpp_owners.serving.n) {
        look->one.index = told;
        look->one.number = jpp_owners.serving.number(told);

        if (look->one.number == 0 || jpp_owners_is_served(look, stack)) {
            return;
        }

        is_accepting = look->waits == JPP_SERVING_OTHERS;

        look->waits = 0;
        look->owner = jpp_owners.server.meanwhile(told);

        if (look->owner != JPP_OWNER_NONE && !is_accepting) {
            return;
        }
    }

    if (told != JPP_OWNERS_UNTOLD) {
        jpp_owners_scan(stack, is_accepting, look);
    }
}


/* In the meantime if LOOK waits. */

static uint32_t
jpp_owners_looked(const jpp_owners_look_t *look)
{
    return look->owner == JPP_OWNER_NONE && look->waits != 0
           ? jpp_owners.server.meanwhile(look->one.index) : look->owner;
}


/* STACK becomes the words from ADDRESS on.  False: they say nothing, since this
   is another thread, which has its owner, or another stack, which has none. */

static bool
jpp_owners_stack(uintptr_t address, jpp_owners_words_t *stack, uint32_t *owner)
{
    *owner = JPP_OWNER_NONE;

    if (jpp_owners_waits.slots == NULL) {
        return false;
    }

    if (!jpp_samples_thread.is_serving) {
        *owner = JPP_OWNER_THREADS;
        return false;
    }

    if (jpp_owners.high - address > JPP_OWNERS_STACK) {
        return false;
    }

    stack->address = address;
    stack->n = (uint32_t) ((jpp_owners.high - address) / sizeof(uintptr_t));
    stack->n_saved = 0;
    stack->saved = NULL;

    return true;
}


uint32_t
jpp_owners_here(void)
{
    uint32_t            owner;
    jpp_owners_look_t   look;
    jpp_owners_words_t  stack;

    __builtin_unwind_init();

    if (!jpp_owners_stack((uintptr_t) __builtin_frame_address(0)
                          - JPP_SAMPLES_SAVED, &stack, &owner))
    {
        return owner;
    }

    jpp_owners_look(&stack, &look);

    return jpp_owners_looked(&look);
}


/* What lies below rsp may be left over from calls that have ended.  A function
   that is about to begin, or about to return, has its connection in registers.
   */

uint32_t
jpp_owners_interrupted(const void *ucontext)
{
    uint32_t              i, owner;
    uintptr_t             saved[sizeof(jpp_owners_saved)];
    jpp_owners_look_t     look;
    jpp_owners_words_t    stack;
    jpp_unwind_context_t  context;

    jpp_unwind_interrupted(&context, ucontext);

    if (!jpp_owners_stack(context.registers[JPP_CFI_RSP], &stack, &owner)) {
        return owner;
    }

    for (i = 0; i < sizeof(jpp_owners_saved); i++) {
        saved[i] = context.registers[jpp_owners_saved[i]];
    }

    stack.n_saved = sizeof(jpp_owners_saved);
    stack.saved = saved;

    jpp_owners_look(&stack, &look);

    return jpp_owners_looked(&look);
}


/*
 * Samples that wait are kept in a ring, in which those of a connection are
 * linked.  An id counts from 1; its place is free again once the ring has come
 * round, so that nothing is ever taken out of it.
 */


/* a line of a cache, whose place is found by a shift */
typedef struct {
    jpp_sample_at_t       sample;
    uintptr_t             which;         /* of its connection */
    uint64_t              next;          /* as above */
    jpp_owners_slot_t    *slot;          /* the connection's */
} __attribute__((aligned(64))) jpp_owners_waiting_t;


typedef struct {
    jpp_owners_waiting_t  waiting[JPP_OWNERS_WAITING];
    uint64_t              n_waited;      /* ever */
    bool                  is_busy;       /* a handler of a signal keeps out */
} jpp_owners_kept_t;


/* bytes of N slots; no mapping has none */
#define jpp_owners_size(n)  (((size_t) (n) + ((n) == 0))                      \
                             * sizeof(jpp_owners_slot_t))

jpp_owners_wait_t         jpp_owners_waits;
jpp_owners_slot_t         jpp_owners_no_slot;

static jpp_owners_kept_t  jpp_owners_kept;


void
jpp_owners_another(jpp_owners_slot_t *slot, uint64_t number)
{
    if (slot->number != JPP_SERVING_NEW
        || slot->generation != jpp_samples.generation)
    {
        slot->generation = jpp_samples.generation;
        slot->waiting = 0;
        slot->last = JPP_OWNER_NONE;
        slot->is_mixed = false;
    }

    slot->number = number;
}


/* What is between these keeps handlers of signals out. */

static void
jpp_owners_enter(void)
{
    jpp_owners_kept.is_busy = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}


static void
jpp_owners_leave(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    jpp_owners_kept.is_busy = false;
}


/* The one that ID links to; NULL: none is left. */

static jpp_owners_waiting_t *
jpp_owners_waiting(uint64_t id)
{
    return id != 0 && jpp_owners_kept.n_waited - id < JPP_OWNERS_WAITING
           ? &jpp_owners_kept.waiting[(id - 1) % JPP_OWNERS_WAITING] : NULL;
}


/* All that waits for SLOT, for WHICH of it or just the next, is OWNER's, and
   waits no more. */

void
jpp_owners_set(jpp_owners_slot_t *slot, uintptr_t which, uint32_t owner)
{
    uint64_t              *at;
    jpp_owners_waiting_t  *waiting;

    if (jpp_owners_is_last(slot, slot->number, owner)) {
        return;
    }

    jpp_owners_enter();

    at = &slot->waiting;

    while ((waiting = jpp_owners_waiting(*at)) != NULL) {

        if (waiting->which != which && waiting->which > JPP_SERVING_FIRST) {
            at = &waiting->next;
            continue;
        }

        *at = waiting->next;

        jpp_samples_give(&waiting->sample, owner);
    }

    *at = 0;

    slot->last = (uint16_t) owner;
    slot->is_mixed = slot->waiting != 0;

    jpp_owners_leave();
}


/* Where a sample is to be kept that waits for WHICH of SLOT.  One that a
   handler keeps at the same moment may take its place. */

static jpp_sample_at_t *
jpp_owners_keep(jpp_owners_slot_t *slot, uintptr_t which)
{
    uint64_t               n;
    jpp_owners_waiting_t  *waiting;

    n = jpp_owners_kept.n_waited;
    waiting = &jpp_owners_kept.waiting[n % JPP_OWNERS_WAITING];

    waiting->which = which;
    waiting->slot = slot;
    waiting->next = slot->waiting;

    slot->waiting = n + 1;
    jpp_owners_kept.n_waited = n + 1;

    return &waiting->sample;
}


/* The sample will have the next owner of its connection, and has the last until
   then, or whoever is known. */

static void
jpp_owners_late(const jpp_owners_look_t *look, jpp_samples_found_t *found)
{
    jpp_owners_slot_t  *slot;

    jpp_owners_enter();

    slot = jpp_owners_slot(look->one.index, look->one.number);

    if (slot->last != JPP_OWNER_NONE && look->waits == JPP_SERVING_NEXT) {
        found->owner = slot->last;

    } else {
        found->owner = jpp_owners_looked(look);
        slot->is_mixed = true;

        if (!jpp_owners.is_due) {
            jpp_owners.is_due = true;
            jpp_owners.n_settled = jpp_owners_kept.n_waited;
            jpp_owners.server.due();
        }
    }

    found->waits = jpp_owners_keep(slot, look->waits);

    jpp_owners_leave();
}


/*
 * For jpp_samples.h.  Samples of a stack that were for the next of their
 * connection are so again, and most of small requests are done with by that.
 *
 * What the caller and those before it had in registers is on the stack by the
 * builtin, if it was not before.
 */

static jpp_samples_found_t
jpp_owners_find(bool *is_next)
{
    uint32_t             told;
    jpp_owners_slot_t   *slot;
    jpp_owners_look_t    look;
    jpp_owners_words_t   stack;
    jpp_samples_found_t  found = { NULL, JPP_OWNER_NONE };

    __builtin_unwind_init();

    if (!jpp_owners_stack((uintptr_t) __builtin_frame_address(0)
                          - JPP_SAMPLES_SAVED, &stack, &found.owner))
    {
        return found;
    }

    told = jpp_owners.told;
    slot = jpp_owners_slot_at(told);

    if (*is_next
        && slot->last != JPP_OWNER_NONE
        && slot->generation == jpp_samples.generation
        && slot->number == jpp_owners.serving.number(told)
        && !jpp_owners_kept.is_busy)
    {
        found.owner = slot->last;
        found.waits = jpp_owners_keep(slot, JPP_SERVING_NEXT);
        return found;
    }

    jpp_owners_look(&stack, &look);

    *is_next = look.waits == JPP_SERVING_NEXT;
    found.owner = look.owner;

    if (look.waits != 0 && !jpp_owners_kept.is_busy) {
        jpp_owners_late(&look, &found);
    }

    return found;
}


bool
jpp_owners_start(const jpp_serving_t *serving,
    const jpp_owners_server_t *server)
{
    void  *slots;

    jpp_owners_stop();

    slots = jpp_own_pages(jpp_owners_size(serving->n));

    if (slots == NULL) {
        return false;
    }

    jpp_owners_waits.n = serving->n;
    jpp_owners_waits.slots = slots;

    jpp_owners.serving = *serving;
    jpp_owners.server = *server;
    jpp_owners.high = jpp_backtrace_top((uintptr_t) &slots);
    jpp_owners.told = JPP_OWNERS_UNTOLD;

    jpp_samples_thread.is_serving = true;
    jpp_samples.owners = jpp_owners_find;

    return true;
}


void
jpp_owners_stop(void)
{
    jpp_samples_thread.is_serving = false;
    jpp_samples.owners = NULL;

    jpp_owners.n_settled = 0;
    jpp_owners.is_due = false;

    if (jpp_owners_waits.slots != NULL) {
        (void) munmap(jpp_owners_waits.slots,
                      jpp_owners_size(jpp_owners_waits.n));
    }

    jpp_owners_waits.slots = NULL;
    jpp_owners_waits.n = 0;
    jpp_owners_kept.n_waited = 0;
}


bool
jpp_owners_is_due(void)
{
    return jpp_owners.is_due;
}


/* Of a connection that has gone what it had stays. */

static void
jpp_owners_settle_slot(uint32_t index)
{
    bool                   is_known;
    uint32_t               owner;
    uint64_t               number, *at;
    uintptr_t              which, waits;
    jpp_owners_slot_t     *slot;
    jpp_owners_waiting_t  *waiting;

    slot = &jpp_owners_waits.slots[index];
    number = jpp_owners.serving.number(index);

    (void) jpp_owners_slot(index, number != 0 ? number : slot->number);

    at = &slot->waiting;
    owner = JPP_OWNER_NONE;
    which = 0;
    is_known = false;

    while ((waiting = jpp_owners_waiting(*at)) != NULL) {

        if (waiting->which != which) {
            which = waiting->which;
            waits = 0;
            owner = jpp_owners.server.served(index, &which, 1, &waits);
            is_known = owner != JPP_OWNER_NONE && waits == 0;

            if (owner == JPP_OWNER_NONE && waits != 0) {
                owner = jpp_owners.server.meanwhile(index);
            }
        }

        if (is_known) {
            slot->last = (uint16_t) owner;
            *at = waiting->next;

        } else {
            at = &waiting->next;
        }

        if (owner != JPP_OWNER_NONE
            && (is_known || which != JPP_SERVING_NEXT
                || slot->last == JPP_OWNER_NONE))
        {
            jpp_samples_give(&waiting->sample, owner);
        }
    }

    *at = 0;

    slot->is_mixed = slot->waiting != 0;
}


void
jpp_owners_settle(uint32_t n)
{
    jpp_owners_slot_t  *slot;
    jpp_owners_kept_t  *kept;

    kept = &jpp_owners_kept;
    jpp_owners_enter();

    jpp_owners.turn++;

    jpp_owners.n_settled = jpp_larger(jpp_owners.n_settled,
                                      jpp_less(kept->n_waited,
                                               JPP_OWNERS_WAITING));

    for ( /* void */ ; n != 0 && jpp_owners.n_settled != kept->n_waited; n--) {

        slot = kept->waiting[jpp_owners.n_settled++ % JPP_OWNERS_WAITING].slot;

        if (slot->settled != jpp_owners.turn) {
            slot->settled = jpp_owners.turn;
            jpp_owners_settle_slot((uint32_t) (slot - jpp_owners_waits.slots));
        }
    }

    jpp_owners.is_due = jpp_owners.n_settled != kept->n_waited;

    jpp_owners_leave();
}


void
jpp_owners_settle_all(void)
{
    jpp_owners.n_settled = 0;

    jpp_owners_settle(JPP_OWNERS_WAITING);
}

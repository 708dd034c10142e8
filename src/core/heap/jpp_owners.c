
#include "jpp_owner_labels.h"
#include "jpp_owners.h"


/*
 * What a stack says about whom its thread is busy for.
 *
 * The problem: a sample is taken deep in a library, where nothing says which
 * request is served; and while nothing is sampled, nothing may be noted.
 *
 * The method: handlers carry their connection down, so that words of the stack
 * point at its record (jpp_serving.c).  The words are read from the outermost
 * on, which the event loop's handler has saved for the event of this moment.
 * The connection counts that its first JPP_OWNERS_LEAD words name, before any
 * other's, or else the one that most words name: others are left over from
 * earlier calls, in arrays that nobody has written to.  Where the outermost one
 * accepts connections, the newest was accepted.  The server says whom the
 * connection is for; or that this will be known later, and then the sample
 * waits.
 *
 * Why it is safe: words of this thread's own stack are read, and no word is
 * followed; one that names a record has its place in an array, whose number
 * says whether the record is in use.
 *
 * What bounds it: the JPP_OWNERS_OUTER outermost words, then the others up to
 * JPP_SERVING_WORDS; JPP_OWNERS_SEEN connections are told apart.  Each stack
 * remembers two words that have to agree: most samples look at no others.
 *
 * Measured: of 141,000 samples under storms of connections none had a wrong
 * owner; with the outermost word alone 4 of 200,000 had, and without the LEAD
 * some 300 in five seconds, where a handshake has an array of 4 KiB.  Owners
 * cost a request for a static file 1.6 % of its instructions, sampled at every
 * 4 KiB, and a signal for CPU time 0.3 us.
 *
 * Tried instead: the registers of the event loop's frame, as the unwinder
 * restores them.  In 310,000 samples (nginx 1.22.1 of Debian, and by gcc -O2)
 * one always held the event's connection; that was the one served in 99 %, and
 * of 657 others all but one had just been accepted.  But 12 frames with all
 * registers take 8.6 us, where this takes 0.8; the words have to be searched
 * for what was accepted all the same; and an nginx built without --with-debug,
 * by gcc or clang, has a posted event in no register that outlives the call.
 *
 * All but jpp_owners_start(), _stop() and _base() is [signal], and for any
 * thread where it does not say otherwise.
 */


/* words of the JPP_SERVING_WORDS that are the outermost */
#define JPP_OWNERS_OUTER   256

/* so many words of the outermost connection, before any other's, decide: a
   handler saves the event and the connection that the loop calls it for, and in
   an array of 4 KiB next to them more words may be left over */
#define JPP_OWNERS_LEAD    2

/* connections that are told apart; others are left over from earlier calls */
#define JPP_OWNERS_SEEN    8

/* bytes of the main stack: the least distance to what lies below it */
#define JPP_OWNERS_STACK   ((uintptr_t) 8 << 20)

/* until jpp_owners_base(): who serves is called from about where who calls
   jpp_owners_start() is */
#define JPP_OWNERS_ABOVE   (256 * sizeof(uintptr_t))


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

    uint64_t              n_settled;
    uint32_t              turn;          /* of settling */
    bool                  is_due;
} jpp_owners_t;


/* a connection, and how many words name it; LEAD of them come before any word
   that names another one */
typedef struct {
    jpp_owners_look_t     look;
    uint32_t              n;
    uint32_t              lead;
} jpp_owners_seen_t;


static jpp_owners_t  jpp_owners;

/* what a function saves before it uses it: rbx, rbp, r12 to r15 */
static const uint8_t  jpp_owners_saved[] = { 3, JPP_CFI_RBP, 12, 13, 14, 15 };


void
jpp_owners_base(uintptr_t base)
{
    if (base < jpp_owners.high) {
        jpp_owners.base = base;
    }
}


uint32_t
jpp_owners_tell(uint32_t index)
{
    uint32_t  before;

    before = jpp_owners.told;
    jpp_owners.told = index;

    return before;
}


/* Whom the connection INDEX, which STACK names, is served for. */

static uint32_t
jpp_owners_served(uint32_t index, const jpp_owners_words_t *stack,
    uintptr_t *waits)
{
    return jpp_owners.server.served(index, (const uintptr_t *) stack->address,
                                    stack->n, waits);
}


/* No word of the stack names it. */

static void
jpp_owners_told(const jpp_owners_words_t *stack, jpp_owners_look_t *look)
{
    uint32_t  index;

    index = jpp_owners.told;

    look->one.index = index;
    look->one.number = jpp_owners.serving.number(index);
    look->address = 0;
    look->waits = 0;
    look->owner = jpp_owners_served(index, stack, &look->waits);

    if (look->owner == JPP_OWNER_NONE && look->waits == 0) {
        look->owner = jpp_owners.server.meanwhile(index);
    }
}


/* The outermost is the first of the N in SEEN. */

static uint32_t
jpp_owners_see(uintptr_t address, uint32_t n_words,
    jpp_owners_seen_t seen[JPP_OWNERS_SEEN], uint32_t n)
{
    uint32_t            i, k;
    jpp_serving_one_t   one;
    jpp_owners_look_t  *look;

    for (i = n_words; i != 0; i--) {
        i = jpp_serving_find(&jpp_owners.serving, address, i, &one);
        if (i == 0) {
            break;
        }

        for (k = 0; k < n && seen[k].look.one.index != one.index; k++) {
            /* void */
        }

        if (k == JPP_OWNERS_SEEN) {
            continue;
        }

        look = &seen[k].look;
        look->inner = address + (i - 1) * sizeof(uintptr_t);
        look->inner_range = one.range;

        if (k == n) {
            look->one = one;
            look->address = look->inner;
            seen[k].n = 0;
            seen[k].lead = 0;
            n++;
        }

        seen[k].n++;
        seen[k].lead += n == 1;
    }

    return n;
}


static const jpp_owners_seen_t *
jpp_owners_choose(jpp_owners_seen_t *seen, uint32_t n,
    const jpp_owners_words_t *stack, uint32_t *first)
{
    bool                      is_accepting, is_better;
    uint32_t                  k;
    jpp_owners_look_t        *look;
    const jpp_owners_seen_t  *chosen;

    is_accepting = false;
    chosen = NULL;

    for (k = 0; k < n; k++) {
        look = &seen[k].look;
        look->waits = 0;
        look->owner = jpp_owners_served(look->one.index, stack, &look->waits);
        look->first = *first;

        if (k == 0 && look->waits == JPP_SERVING_OTHERS) {
            is_accepting = true;
        }

        if (look->waits == JPP_SERVING_OTHERS
            || (look->owner == JPP_OWNER_NONE && look->waits == 0))
        {
            *first = *first != jpp_owners.serving.n ? *first : look->one.index;
            continue;
        }

        is_better = chosen == NULL
                    || (is_accepting
                        ? look->one.number > chosen->look.one.number
                        : seen[k].n > chosen->n);

        chosen = is_better ? &seen[k] : chosen;

        if (chosen->lead >= JPP_OWNERS_LEAD) {
            break;
        }
    }

    return chosen;
}


static bool
jpp_owners_scan(const jpp_owners_words_t *words,
    const jpp_owners_words_t *stack, jpp_owners_look_t *look)
{
    uint32_t                  n, first;
    jpp_owners_seen_t         seen[JPP_OWNERS_SEEN];
    const jpp_owners_seen_t  *chosen;

    first = look->first;
    n = jpp_owners_see(words->address, words->n, seen, 0);
    n = jpp_owners_see((uintptr_t) words->saved, words->n_saved, seen, n);
    chosen = jpp_owners_choose(seen, n, stack, &first);

    if (chosen != NULL) {
        *look = chosen->look;
        return true;
    }

    look->first = first;
    look->address = 0;
    look->waits = 0;
    look->owner = first != jpp_owners.serving.n
                  ? jpp_owners.server.meanwhile(first) : JPP_OWNER_LOOP;

    return false;
}


/*
 * Whom STACK is for becomes LOOK.  If nobody has an owner, the outermost has
 * what it has in the meantime.
 *
 * Further in than the outermost there may be more than the bound: functions
 * have large arrays between those that serve and what they do for that.
 * Registers are the innermost.
 */

static void
jpp_owners_look(const jpp_owners_words_t *stack, jpp_owners_look_t *look)
{
    uint32_t            n;
    jpp_owners_words_t  words;

    look->first = jpp_owners.serving.n;

    if (jpp_owners.told < jpp_owners.serving.n) {
        jpp_owners_told(stack, look);
        return;
    }

    n = stack->n;

    if (stack->address < jpp_owners.base) {
        n = (uint32_t) ((jpp_owners.base - stack->address) / sizeof(uintptr_t));
    }

    words.n = (uint32_t) jpp_smaller(n, JPP_OWNERS_OUTER);
    words.address = stack->address + (n - words.n) * sizeof(uintptr_t);
    words.n_saved = n <= JPP_OWNERS_OUTER ? stack->n_saved : 0;
    words.saved = stack->saved;

    if (jpp_owners_scan(&words, stack, look)) {
        return;
    }

    n -= words.n;

    words.n = (uint32_t) jpp_smaller(n, JPP_SERVING_WORDS - JPP_OWNERS_OUTER);
    words.address = stack->address;
    words.n_saved = stack->n_saved;

    (void) jpp_owners_scan(&words, stack, look);
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
   that is about to begin, or about to return, has its connection in registers,
   where more words of another may be left over in its caller's arrays. */

uint32_t
jpp_owners_interrupted(const void *ucontext)
{
    uint32_t              i, owner;
    uintptr_t             saved[sizeof(jpp_owners_saved)];
    jpp_owners_look_t     look;
    jpp_owners_words_t    stack, registers;
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

    if (look.address == 0 && jpp_owners.told == JPP_OWNERS_UNTOLD) {
        registers.address = (uintptr_t) context.registers;
        registers.n = JPP_FRAME_REGISTERS;
        registers.n_saved = 0;

        (void) jpp_owners_scan(&registers, &stack, &look);
    }

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


/*
 * The connection that a sample was last found to be for: if it is kept alive,
 * its next owner is that of the last time, as a rule, and most samples of small
 * requests are done with by that.
 *
 * The kind of a hint is the record that its word points at, from 1.  That of
 * the first is 0 where samples of the stack are not for the next of their
 * connection: somebody was served by then, or nobody knows.
 */


typedef struct {
    uintptr_t             words[JPP_SERVING_RANGES + 1];
                                         /* of its records; no word is like */
                                         /*   the first of these */
    uintptr_t             outermost;     /* the last word of the stack */
    const uint64_t       *number;
    const int            *open;
    jpp_owners_slot_t    *slot;          /* NULL: there is none */
    uint32_t              meanwhile;     /* whose samples are, until it has a */
                                         /*   last owner, or is settled */
} jpp_owners_last_t;


/* bytes of N slots; no mapping has none */
#define jpp_owners_size(n)  (((size_t) (n) + ((n) == 0))                      \
                             * sizeof(jpp_owners_slot_t))

jpp_owners_wait_t         jpp_owners_waits;
jpp_owners_slot_t         jpp_owners_no_slot;

static jpp_owners_kept_t  jpp_owners_kept;
static jpp_owners_last_t  jpp_owners_last;


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

        if (jpp_owners_last.slot == slot) {
            jpp_owners_last.slot = NULL;
        }
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


/* Both words have to agree. */

static bool
jpp_owners_again(const jpp_site_hints_t *hints, uintptr_t frame,
    const jpp_owners_words_t *stack, jpp_owners_look_t *look)
{
    uintptr_t             inner, open;
    jpp_serving_one_t     one;
    const jpp_serving_t  *serving;

    serving = &jpp_owners.serving;
    look->address = frame + hints->at[0] * sizeof(uintptr_t);
    inner = frame + hints->at[1] * sizeof(uintptr_t);

    if (hints->at[0] == 0
        || look->address - stack->address >= stack->n * sizeof(uintptr_t)
        || !jpp_serving_is(serving, jpp_frame_word(look->address), &look->one)
        || !jpp_serving_is(serving, jpp_frame_word(inner), &one)
        || one.index != look->one.index)
    {
        return false;
    }

    look->owner = JPP_OWNER_NONE;
    look->waits = JPP_SERVING_NEXT;

    open = serving->ranges[0].start
           + (uintptr_t) serving->ranges[0].size * look->one.index
           + serving->open_at;

    if (hints->kinds[0] != 0 && *(const int *) open != -1) {
        return true;
    }

    look->waits = 0;
    look->owner = jpp_owners_served(look->one.index, stack, &look->waits);

    return look->waits != JPP_SERVING_OTHERS
           && (look->owner != JPP_OWNER_NONE || look->waits != 0);
}


static void
jpp_owners_hints(const jpp_owners_look_t *look, uintptr_t frame,
    jpp_site_hints_t *hints)
{
    memset(hints, 0, sizeof(jpp_site_hints_t));

    if (look->inner > frame
        && look->address - frame <= UINT16_MAX * sizeof(uintptr_t))
    {
        hints->at[0] = (uint16_t) ((look->address - frame) / sizeof(uintptr_t));
        hints->at[1] = (uint16_t) ((look->inner - frame) / sizeof(uintptr_t));
        hints->kinds[1] = (uint8_t) (look->inner_range + 1);

        if (look->waits == JPP_SERVING_NEXT) {
            hints->kinds[0] = (uint8_t) (look->one.range + 1);
        }
    }
}


/* SLOT, which the connection INDEX has, is that of the last one.  A sample that
   is found by it has its owner, or MEANWHILE: there must be one. */

static void
jpp_owners_learn(uint32_t index, jpp_owners_slot_t *slot, uint32_t meanwhile)
{
    unsigned              i;
    uintptr_t             record;
    jpp_owners_last_t    *last;
    const jpp_serving_t  *serving;

    last = &jpp_owners_last;
    serving = &jpp_owners.serving;

    for (i = 0; i < JPP_SERVING_RANGES; i++) {
        last->words[i + 1] = serving->ranges[i].start
                             + (uintptr_t) serving->ranges[i].size * index;
    }

    record = last->words[1];

    last->number = (const uint64_t *) (record + serving->number_at);
    last->open = (const int *) (record + serving->open_at);
    last->slot = meanwhile != JPP_OWNER_NONE ? slot : NULL;
    last->meanwhile = meanwhile;
}


/* Where a sample is to be kept that waits for WHICH of SLOT.  One that a
   handler keeps at the same moment may take its place. */

static inline jpp_sample_at_t *
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

    jpp_owners_learn(look->one.index, slot, found->owner);
    jpp_owners_leave();
}


/*
 * What the caller and those before it had in registers is on the stack by the
 * builtin, if it was not before; but no hint, which counts from FRAME, says
 * where.  The rest is that of whoever allocates.
 */

static jpp_samples_found_t __attribute__((noinline))
jpp_owners_search(jpp_site_hints_t *hints, uintptr_t frame)
{
    jpp_owners_look_t    look;
    jpp_owners_words_t   stack;
    jpp_samples_found_t  found = { NULL, JPP_OWNER_NONE };

    __builtin_unwind_init();

    if (!jpp_owners_stack((uintptr_t) __builtin_frame_address(0)
                          - JPP_SAMPLES_SAVED, &stack, &found.owner))
    {
        return found;
    }

    if (!jpp_owners_again(hints, frame, &stack, &look)) {
        jpp_owners_look(&stack, &look);
        jpp_owners_hints(&look, frame, hints);
    }

    found.owner = look.owner;

    if (look.waits != 0 && !jpp_owners_kept.is_busy) {
        jpp_owners_late(&look, &found);
    }

    return found;
}


/*
 * For jpp_samples.h.  Is the sample whose stack has HINTS, from FRAME on, for
 * the next of the same connection as the last one?
 *
 * The same stack has what it carries down at the same places.  Where a
 * connection that serves one at a time had nobody yet, it has none again, or
 * one that what waits will be given in any case.
 */

static jpp_samples_found_t
jpp_owners_find(jpp_site_hints_t *hints, uintptr_t frame)
{
    uintptr_t                 outer, inner;
    jpp_samples_found_t       found;
    const jpp_owners_last_t  *last;

    last = &jpp_owners_last;
    outer = frame + hints->at[0] * sizeof(uintptr_t);
    inner = frame + hints->at[1] * sizeof(uintptr_t);

    if (last->outermost - outer > JPP_OWNERS_STACK
        || last->slot == NULL
        || jpp_frame_word(outer) != last->words[hints->kinds[0]]
        || jpp_frame_word(inner) != last->words[hints->kinds[1]]
        || *last->number != last->slot->number
        || last->slot->generation != jpp_samples.generation
        || *last->open == -1
        || jpp_owners_kept.is_busy)
    {
        return jpp_owners_search(hints, frame);
    }

    found.owner = last->slot->last != JPP_OWNER_NONE ? last->slot->last
                                                     : last->meanwhile;
    found.waits = jpp_owners_keep(last->slot, JPP_SERVING_NEXT);

    return found;
}


bool
jpp_owners_start(const jpp_serving_t *serving,
    const jpp_owners_server_t *server)
{
    void      *slots;
    uintptr_t  base;

    jpp_owners_stop();

    slots = jpp_own_pages(jpp_owners_size(serving->n));

    if (slots == NULL) {
        return false;
    }

    jpp_owners_waits.n = serving->n;
    jpp_owners_waits.slots = slots;

    jpp_owners.serving = *serving;
    jpp_owners.server = *server;
    jpp_owners.high = jpp_backtrace_top((uintptr_t) &base);
    jpp_owners.told = JPP_OWNERS_UNTOLD;

    if (jpp_owners.base == 0) {
        base = (uintptr_t) __builtin_frame_address(0) + JPP_OWNERS_ABOVE;
        jpp_owners.base = jpp_smaller(base, jpp_owners.high);
    }

    jpp_owners_last.words[0] = (uintptr_t) &jpp_owners_last + 1;
    jpp_owners_last.outermost = jpp_owners.high - sizeof(uintptr_t);

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

    jpp_owners_last.slot = NULL;

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

    if (jpp_owners_last.slot != NULL
        && jpp_owners_last.slot->last == JPP_OWNER_NONE)
    {
        jpp_owners_last.slot = NULL;
    }

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

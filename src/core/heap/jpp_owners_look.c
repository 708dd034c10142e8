
#include "jpp_backtrace.h"
#include "jpp_frame.h"
#include "jpp_owner_labels.h"
#include "jpp_owners_last.h"
#include "jpp_owners_look.h"
#include "jpp_owners_wait.h"
#include "jpp_unwind.h"


/* words of the JPP_SERVING_WORDS that are the outermost */
#define JPP_OWNERS_OUTER   256

/* so many words of the outermost connection, before any other's, decide: a
   handler saves the event and the connection that the loop calls it for, and in
   an array of 4 KiB next to them more words may be left over */
#define JPP_OWNERS_LEAD    2

/* connections that are told apart; others are left over from earlier calls */
#define JPP_OWNERS_SEEN    8

/* until jpp_owners_base(): who serves is called from about where who calls
   jpp_owners_start() is */
#define JPP_OWNERS_ABOVE   (256 * sizeof(uintptr_t))


/* a connection, and how many words name it; LEAD of them come before any word
   that names another one */
typedef struct {
    jpp_owners_look_t     look;
    uint32_t              n;
    uint32_t              lead;
} jpp_owners_seen_t;


jpp_owners_known_t  jpp_owners_known;

/* what a function saves before it uses it: rbx, rbp, r12 to r15 */
static const uint8_t  jpp_owners_saved[] = { 3, JPP_CFI_RBP, 12, 13, 14, 15 };


void
jpp_owners_look_start(const jpp_serving_t *serving,
    const jpp_owners_server_t *server)
{
    uintptr_t            base;
    jpp_owners_known_t  *known;

    known = &jpp_owners_known;

    known->serving = *serving;
    known->server = *server;
    known->high = jpp_backtrace_high((uintptr_t) &base);
    known->told = JPP_OWNERS_UNTOLD;

    if (known->base == 0) {
        base = (uintptr_t) __builtin_frame_address(0) + JPP_OWNERS_ABOVE;
        known->base = base < known->high ? base : known->high;
    }
}


void
jpp_owners_base(uintptr_t base)
{
    if (base < jpp_owners_known.high) {
        jpp_owners_known.base = base;
    }
}


uint32_t
jpp_owners_tell(uint32_t index)
{
    uint32_t  before;

    before = jpp_owners_known.told;
    jpp_owners_known.told = index;

    return before;
}


/* No word of the stack names it. */

static void
jpp_owners_told(const jpp_owners_words_t *stack, jpp_owners_look_t *look)
{
    uint32_t  index;

    index = jpp_owners_known.told;

    look->one.index = index;
    look->one.number = jpp_owners_known.serving.number(index);
    look->address = 0;
    look->waits = 0;
    look->owner = jpp_owners_served(index, stack, &look->waits);

    if (look->owner == JPP_OWNER_NONE && look->waits == 0) {
        look->owner = jpp_owners_known.server.meanwhile(index);
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
        i = jpp_serving_find(&jpp_owners_known.serving, address, i, &one);
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
            *first = *first != jpp_owners_known.serving.n ? *first
                                                          : look->one.index;
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
    look->owner = first != jpp_owners_known.serving.n
                  ? jpp_owners_known.server.meanwhile(first) : JPP_OWNER_LOOP;

    return false;
}


/* Further in than the outermost there may be more than the bound: functions
   have large arrays between those that serve and what they do for that.
   Registers are the innermost. */

void
jpp_owners_look(const jpp_owners_words_t *stack, jpp_owners_look_t *look)
{
    uint32_t            n;
    jpp_owners_words_t  words;

    look->first = jpp_owners_known.serving.n;

    if (jpp_owners_known.told < jpp_owners_known.serving.n) {
        jpp_owners_told(stack, look);
        return;
    }

    n = stack->n;

    if (stack->address < jpp_owners_known.base) {
        n = (uint32_t) ((jpp_owners_known.base - stack->address)
                        / sizeof(uintptr_t));
    }

    words.n = n < JPP_OWNERS_OUTER ? n : JPP_OWNERS_OUTER;
    words.address = stack->address + (n - words.n) * sizeof(uintptr_t);
    words.n_saved = n <= JPP_OWNERS_OUTER ? stack->n_saved : 0;
    words.saved = stack->saved;

    if (jpp_owners_scan(&words, stack, look)) {
        return;
    }

    n -= words.n;

    words.n = n < JPP_SERVING_WORDS - JPP_OWNERS_OUTER
              ? n : JPP_SERVING_WORDS - JPP_OWNERS_OUTER;
    words.address = stack->address;
    words.n_saved = stack->n_saved;

    (void) jpp_owners_scan(&words, stack, look);
}


uint32_t
jpp_owners_looked(const jpp_owners_look_t *look)
{
    return look->owner == JPP_OWNER_NONE && look->waits != 0
           ? jpp_owners_known.server.meanwhile(look->one.index) : look->owner;
}


bool
jpp_owners_stack(uintptr_t address, jpp_owners_words_t *stack)
{
    if (address >= jpp_owners_known.high
        || jpp_owners_known.high - address > JPP_OWNERS_STACK)
    {
        return false;
    }

    stack->address = address;
    stack->n = (uint32_t) ((jpp_owners_known.high - address)
                           / sizeof(uintptr_t));
    stack->n_saved = 0;
    stack->saved = NULL;

    return true;
}


uint32_t
jpp_owners_here(void)
{
    jpp_owners_look_t   look;
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

    jpp_owners_look(&stack, &look);

    return jpp_owners_looked(&look);
}


/* What lies below rsp may be left over from calls that have ended.  A function
   that is about to begin, or about to return, has its connection in registers,
   where more words of another may be left over in its caller's arrays. */

uint32_t
jpp_owners_interrupted(const void *ucontext)
{
    unsigned              i;
    uintptr_t             saved[sizeof(jpp_owners_saved)];
    jpp_owners_look_t     look;
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

    for (i = 0; i < sizeof(jpp_owners_saved); i++) {
        saved[i] = context.registers[jpp_owners_saved[i]];
    }

    stack.n_saved = sizeof(jpp_owners_saved);
    stack.saved = saved;

    jpp_owners_look(&stack, &look);

    if (look.address == 0 && jpp_owners_known.told == JPP_OWNERS_UNTOLD) {
        registers.address = (uintptr_t) context.registers;
        registers.n = JPP_FRAME_REGISTERS;
        registers.n_saved = 0;

        (void) jpp_owners_scan(&registers, &stack, &look);
    }

    return jpp_owners_looked(&look);
}

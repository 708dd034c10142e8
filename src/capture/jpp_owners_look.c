
#include "jpp_backtrace.h"
#include "jpp_frame.h"
#include "jpp_owner_labels.h"
#include "jpp_owners_look.h"
#include "jpp_owners_wait.h"
#include "jpp_unwind.h"


/* words of the JPP_SERVING_WORDS that are the outermost */
#define JPP_OWNERS_OUTER   512

/* until jpp_owners_base(): who serves is called from about where who calls
   jpp_owners_start() is */
#define JPP_OWNERS_ABOVE   (256 * sizeof(uintptr_t))


static bool jpp_owners_scan(const jpp_owners_words_t *words,
    const jpp_owners_words_t *stack, jpp_owners_look_t *look);
static bool jpp_owners_nobody(jpp_owners_look_t *look);


jpp_owners_known_t  jpp_owners_known;


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


/* Where there are more than the bound, functions have large arrays between
   those that serve and what they do for that. */

void
jpp_owners_look(const jpp_owners_words_t *stack, jpp_owners_look_t *look)
{
    jpp_owners_words_t  outer, inner;

    look->first = jpp_owners_known.serving.n;
    look->is_accepting = false;

    inner = outer = *stack;

    if (stack->address < jpp_owners_known.base) {
        outer.n = (uint32_t) ((jpp_owners_known.base - stack->address)
                              / sizeof(uintptr_t));
    }

    if (outer.n <= JPP_SERVING_WORDS) {
        (void) jpp_owners_scan(&outer, stack, look);
        return;
    }

    inner.n = JPP_SERVING_WORDS - JPP_OWNERS_OUTER;
    outer.address += (outer.n - JPP_OWNERS_OUTER) * sizeof(uintptr_t);
    outer.n = JPP_OWNERS_OUTER;

    if (!jpp_owners_scan(&outer, stack, look)) {
        (void) jpp_owners_scan(&inner, stack, look);
    }
}


static bool
jpp_owners_scan(const jpp_owners_words_t *words,
    const jpp_owners_words_t *stack, jpp_owners_look_t *look)
{
    bool               is_found;
    uint32_t           i, owner;
    uintptr_t          waits;
    jpp_serving_one_t  one;

    is_found = false;

    for (i = words->n; i != 0; i--) {
        i = jpp_serving_find(&jpp_owners_known.serving, words->address, i,
                             &one);
        if (i == 0) {
            break;
        }

        waits = 0;
        owner = jpp_owners_served(one.index, stack, &waits);

        if (waits == JPP_SERVING_OTHERS) {
            look->is_accepting = true;

        } else if ((owner != JPP_OWNER_NONE || waits != 0)
                   && (!is_found || one.number > look->one.number))
        {
            look->one = one;
            look->address = words->address + (i - 1) * sizeof(uintptr_t);
            look->owner = owner;
            look->waits = waits;
            is_found = true;
        }

        if (is_found && !look->is_accepting) {
            return true;
        }

        look->first = look->first != jpp_owners_known.serving.n
                      ? look->first : one.index;
    }

    return is_found || jpp_owners_nobody(look);
}


static bool
jpp_owners_nobody(jpp_owners_look_t *look)
{
    look->address = 0;
    look->waits = 0;
    look->owner = look->first != jpp_owners_known.serving.n
                  ? jpp_owners_known.server.meanwhile(look->first)
                  : JPP_OWNER_LOOP;

    return false;
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


/* What lies below rsp may be left over from calls that have ended. */

uint32_t
jpp_owners_interrupted(const void *ucontext)
{
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

    jpp_owners_look(&stack, &look);

    if (look.address == 0) {
        registers.address = (uintptr_t) context.registers;
        registers.n = JPP_FRAME_REGISTERS;

        (void) jpp_owners_scan(&registers, &stack, &look);
    }

    return jpp_owners_looked(&look);
}

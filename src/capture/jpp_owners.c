
#include <string.h>

#include "jpp_frame.h"
#include "jpp_owner_labels.h"
#include "jpp_owners.h"


/* a hint is a number of bytes from the frame, and in its last bits: nobody was
   served by then; and what kind of record the word there points at */
#define JPP_OWNERS_EARLY   1u
#define JPP_OWNERS_RANGE   6u
#define JPP_OWNERS_BITS    7u

#define jpp_owners_range(hint)  (((hint) & JPP_OWNERS_RANGE) >> 1)


/* the connection that a sample was last found to be for */
typedef struct {
    uintptr_t             words[JPP_SERVING_RANGES];
    const uint64_t       *number;
    const int            *open;
    jpp_owners_slot_t    *slot;
    uint32_t              index;
} jpp_owners_last_t;


typedef struct {
    uintptr_t             outermost;     /* the last word of the stack */
    jpp_owners_last_t     last;

    uint64_t              n_settled;
    uint32_t              turn;          /* of settling */
    bool                  is_due;
} jpp_owners_t;


static jpp_samples_found_t jpp_owners_find(uint32_t hints[2]);
static jpp_samples_found_t jpp_owners_find_out(uint32_t hints[2],
    uintptr_t frame) __attribute__((noinline));
static void jpp_owners_hints(const jpp_owners_look_t *look, uintptr_t frame,
    uint32_t hints[2]);
static bool jpp_owners_again(const uint32_t hints[2], uintptr_t frame,
    const jpp_owners_words_t *stack, jpp_owners_look_t *look);
static inline bool jpp_owners_is_open(const jpp_serving_one_t *one);
static void jpp_owners_late(const jpp_owners_look_t *look,
    jpp_samples_found_t *found);
static void jpp_owners_learn(const jpp_serving_one_t *one);
static void jpp_owners_settle_slot(uint32_t index);
static uint32_t jpp_owners_settle_which(uint32_t index, uintptr_t which,
    bool *is_known);


static jpp_owners_t       jpp_owners;
static jpp_owners_slot_t  jpp_owners_no_slot;
static int                jpp_owners_closed = -1;


bool
jpp_owners_start(const jpp_serving_t *serving,
    const jpp_owners_server_t *server)
{
    jpp_owners_stop();

    if (!jpp_owners_wait_start(serving->n)) {
        return false;
    }

    jpp_owners_look_start(serving, server);

    jpp_owners.outermost = jpp_owners_known.high - sizeof(uintptr_t);

    memset(jpp_owners.last.words, 0, sizeof(jpp_owners.last.words));
    jpp_owners.last.slot = &jpp_owners_no_slot;
    jpp_owners.last.number = &jpp_owners_no_slot.number;
    jpp_owners.last.open = &jpp_owners_closed;

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

    jpp_owners_wait_stop();
}


/*
 * The same stack has what it carries down at the same places.  Where a
 * connection that serves one at a time had nobody yet, it has none again, or
 * one that what waits will be given in any case.
 *
 * On a connection that is kept alive the next owner is that of the last time,
 * as a rule: most samples of small requests are done with here.
 */

static jpp_samples_found_t
jpp_owners_find(uint32_t hints[2])
{
    uintptr_t             frame, address, inner;
    jpp_owners_last_t    *last;
    jpp_samples_found_t   found;

    frame = (uintptr_t) __builtin_frame_address(0);
    address = frame + (hints[0] & ~JPP_OWNERS_BITS);
    inner = frame + (hints[1] & ~JPP_OWNERS_BITS);
    last = &jpp_owners.last;

    if ((hints[0] & JPP_OWNERS_EARLY) == 0
        || jpp_owners.outermost - address > JPP_OWNERS_STACK
        || jpp_frame_word(address) != last->words[jpp_owners_range(hints[0])]
        || jpp_frame_word(inner) != last->words[jpp_owners_range(hints[1])]
        || *last->number != last->slot->number
        || *last->open == -1
        || last->slot->generation != jpp_samples.generation
        || last->slot->last == JPP_OWNER_NONE
        || jpp_owners_waits.is_busy)
    {
        return jpp_owners_find_out(hints, frame);
    }

    found.owner = last->slot->last;
    found.waits = jpp_owners_keep(last->slot, last->index, JPP_SERVING_NEXT);

    return found;
}


/*
 * What the caller and those before it had in registers is on the stack by the
 * builtin, if it was not before; but no hint, which counts from FRAME, says
 * where.  The rest is that of whoever allocates.
 */

static jpp_samples_found_t
jpp_owners_find_out(uint32_t hints[2], uintptr_t frame)
{
    jpp_owners_look_t    look;
    jpp_owners_words_t   stack;
    jpp_samples_found_t  found = { NULL, JPP_OWNER_NONE };

    __builtin_unwind_init();

    if (!jpp_samples_thread.is_serving) {
        found.owner = JPP_OWNER_THREADS;
        return found;
    }

    if (!jpp_owners_stack((uintptr_t) __builtin_frame_address(0)
                          - JPP_OWNERS_SAVED, &stack))
    {
        return found;
    }

    if (!jpp_owners_again(hints, frame, &stack, &look)) {
        jpp_owners_look(&stack, &look);
        jpp_owners_hints(&look, frame, hints);
    }

    found.owner = look.owner;

    if (look.waits != 0 && !jpp_owners_waits.is_busy) {
        jpp_owners_late(&look, &found);
    }

    return found;
}


static void
jpp_owners_hints(const jpp_owners_look_t *look, uintptr_t frame,
    uint32_t hints[2])
{
    hints[0] = 0;

    if (look->address > frame && look->inner > frame) {
        hints[0] = (uint32_t) (look->address - frame) | look->one.range << 1
                   | (look->waits == JPP_SERVING_NEXT ? JPP_OWNERS_EARLY : 0);
        hints[1] = (uint32_t) (look->inner - frame) | look->inner_range << 1;
    }
}


/* Both words have to agree. */

static bool
jpp_owners_again(const uint32_t hints[2], uintptr_t frame,
    const jpp_owners_words_t *stack, jpp_owners_look_t *look)
{
    uintptr_t           inner;
    jpp_serving_one_t   one;

    look->address = frame + (hints[0] & ~JPP_OWNERS_BITS);
    inner = frame + (hints[1] & ~JPP_OWNERS_BITS);

    if (hints[0] == 0
        || look->address - stack->address >= stack->n * sizeof(uintptr_t)
        || !jpp_serving_is(&jpp_owners_known.serving,
                           jpp_frame_word(look->address), &look->one)
        || !jpp_serving_is(&jpp_owners_known.serving, jpp_frame_word(inner),
                           &one)
        || one.index != look->one.index)
    {
        return false;
    }

    look->owner = JPP_OWNER_NONE;
    look->waits = JPP_SERVING_NEXT;

    if ((hints[0] & JPP_OWNERS_EARLY) != 0
        && jpp_owners_is_open(&look->one))
    {
        return true;
    }

    look->waits = 0;
    look->owner = jpp_owners_served(look->one.index, stack, &look->waits);

    return look->waits != JPP_SERVING_OTHERS
           && (look->owner != JPP_OWNER_NONE || look->waits != 0);
}


static inline bool
jpp_owners_is_open(const jpp_serving_one_t *one)
{
    const jpp_serving_t  *serving;

    serving = &jpp_owners_known.serving;

    return *(const int *) (serving->ranges[0].start
                           + (uintptr_t) serving->ranges[0].size * one->index
                           + serving->open_at)
           != -1;
}


/* The sample will have the next owner of its connection, and has the last until
   then, or whoever is known. */

static void
jpp_owners_late(const jpp_owners_look_t *look, jpp_samples_found_t *found)
{
    jpp_owners_slot_t  *slot;

    jpp_owners_enter();

    slot = jpp_owners_slot(look->one.index, look->one.number);
    jpp_owners_learn(&look->one);

    if (slot->last != JPP_OWNER_NONE && look->waits == JPP_SERVING_NEXT) {
        found->owner = slot->last;

    } else {
        found->owner = jpp_owners_looked(look);
        slot->is_mixed = true;

        if (!jpp_owners.is_due) {
            jpp_owners.is_due = true;
            jpp_owners.n_settled = jpp_owners_waits.n_waited;
            jpp_owners_known.server.due();
        }
    }

    found->waits = jpp_owners_keep(slot, look->one.index, look->waits);

    jpp_owners_leave();
}


static void
jpp_owners_learn(const jpp_serving_one_t *one)
{
    unsigned              i;
    jpp_owners_last_t    *last;
    const jpp_serving_t  *serving;

    last = &jpp_owners.last;
    serving = &jpp_owners_known.serving;

    for (i = 0; i < JPP_SERVING_RANGES; i++) {
        last->words[i] = serving->ranges[i].start
                         + (uintptr_t) serving->ranges[i].size * one->index;
    }

    last->number = (const uint64_t *) (last->words[0] + serving->number_at);
    last->open = (const int *) (last->words[0] + serving->open_at);
    last->slot = &jpp_owners_waits.slots[one->index];
    last->index = one->index;
}


bool
jpp_owners_is_due(void)
{
    return jpp_owners.is_due;
}


void
jpp_owners_settle(uint32_t n)
{
    uint32_t            index;
    jpp_owners_wait_t  *waits;

    waits = &jpp_owners_waits;
    jpp_owners_enter();

    jpp_owners.turn++;

    if (waits->n_waited - jpp_owners.n_settled > JPP_OWNERS_WAITING) {
        jpp_owners.n_settled = waits->n_waited - JPP_OWNERS_WAITING;
    }

    for ( /* void */ ; n != 0 && jpp_owners.n_settled != waits->n_waited; n--)
    {
        index = waits->waiting[jpp_owners.n_settled++
                               % JPP_OWNERS_WAITING].index;

        if (waits->slots[index].settled != jpp_owners.turn) {
            waits->slots[index].settled = jpp_owners.turn;
            jpp_owners_settle_slot(index);
        }
    }

    jpp_owners.is_due = jpp_owners.n_settled != waits->n_waited;

    jpp_owners_leave();
}


void
jpp_owners_settle_all(void)
{
    jpp_owners.n_settled = 0;

    jpp_owners_settle(JPP_OWNERS_WAITING);
}


/* Of a connection that has gone what it had stays. */

static void
jpp_owners_settle_slot(uint32_t index)
{
    bool                   is_known;
    uint32_t               owner;
    uint64_t               number, *at;
    uintptr_t              which;
    jpp_owners_slot_t     *slot;
    jpp_owners_waiting_t  *waiting;

    slot = &jpp_owners_waits.slots[index];
    number = jpp_owners_known.serving.number(index);

    (void) jpp_owners_slot(index, number != 0 ? number : slot->number);

    at = &slot->waiting;
    owner = JPP_OWNER_NONE;
    which = 0;
    is_known = false;

    while ((waiting = jpp_owners_waiting(*at)) != NULL) {

        if (waiting->which != which) {
            which = waiting->which;
            owner = jpp_owners_settle_which(index, which, &is_known);
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


/* Whom WHICH of the connection INDEX is for: for good, or in the meantime. */

static uint32_t
jpp_owners_settle_which(uint32_t index, uintptr_t which, bool *is_known)
{
    uint32_t   owner;
    uintptr_t  waits;

    waits = 0;
    owner = jpp_owners_known.server.served(index, &which, 1, &waits);

    *is_known = owner != JPP_OWNER_NONE && waits == 0;

    return owner == JPP_OWNER_NONE && waits != 0
           ? jpp_owners_known.server.meanwhile(index) : owner;
}

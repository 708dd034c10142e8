
#include <string.h>

#include "jpp_frame.h"
#include "jpp_owner_labels.h"
#include "jpp_owners.h"
#include "jpp_owners_last.h"


typedef struct {
    uint64_t              n_settled;
    uint32_t              turn;          /* of settling */
    bool                  is_due;
} jpp_owners_t;


static jpp_owners_t  jpp_owners;


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


/* Both words have to agree. */

static bool
jpp_owners_again(const jpp_site_hints_t *hints, uintptr_t frame,
    const jpp_owners_words_t *stack, jpp_owners_look_t *look)
{
    uintptr_t           inner;
    jpp_serving_one_t   one;

    look->address = frame + hints->at[0] * sizeof(uintptr_t);
    inner = frame + hints->at[1] * sizeof(uintptr_t);

    if (hints->at[0] == 0
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

    if (hints->kinds[0] != 0 && jpp_owners_is_open(&look->one)) {
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
        hints->at[0] = (uint16_t) ((look->address - frame)
                                   / sizeof(uintptr_t));
        hints->at[1] = (uint16_t) ((look->inner - frame) / sizeof(uintptr_t));
        hints->kinds[1] = (uint8_t) (look->inner_range + 1);

        if (look->waits == JPP_SERVING_NEXT) {
            hints->kinds[0] = (uint8_t) (look->one.range + 1);
        }
    }
}


/* A sample that is found by the last one has its owner: there must be one. */

static void
jpp_owners_learn(uint32_t index, jpp_owners_slot_t *slot)
{
    if (slot->last != JPP_OWNER_NONE) {
        jpp_owners_last_learn(&jpp_owners_known.serving, index, slot);

    } else {
        jpp_owners_last_forget();
    }
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
            jpp_owners_known.server.due();
        }
    }

    found->waits = jpp_owners_keep(slot, look->waits);

    jpp_owners_learn(look->one.index, slot);
    jpp_owners_leave();
}


/*
 * What the caller and those before it had in registers is on the stack by the
 * builtin, if it was not before; but no hint, which counts from FRAME, says
 * where.  The rest is that of whoever allocates.
 */

static jpp_samples_found_t
jpp_owners_find(jpp_site_hints_t *hints, uintptr_t frame)
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

    if (look.waits != 0 && !jpp_owners_kept.is_busy) {
        jpp_owners_late(&look, &found);
    }

    return found;
}


bool
jpp_owners_start(const jpp_serving_t *serving,
    const jpp_owners_server_t *server)
{
    jpp_owners_stop();

    if (!jpp_owners_wait_start(serving->n)) {
        return false;
    }

    jpp_owners_look_start(serving, server);

    jpp_owners_last_clear(jpp_owners_known.high);

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

    jpp_owners_last_forget();
    jpp_owners_wait_stop();
}


bool
jpp_owners_is_due(void)
{
    return jpp_owners.is_due;
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


void
jpp_owners_settle(uint32_t n)
{
    jpp_owners_slot_t  *slot;
    jpp_owners_kept_t  *kept;

    kept = &jpp_owners_kept;
    jpp_owners_enter();

    jpp_owners.turn++;

    if (kept->n_waited - jpp_owners.n_settled > JPP_OWNERS_WAITING) {
        jpp_owners.n_settled = kept->n_waited - JPP_OWNERS_WAITING;
    }

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

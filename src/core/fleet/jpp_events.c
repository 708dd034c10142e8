
#include "jpp_events.h"


const char *const  jpp_event_types[JPP_EVENT_TYPES] = {
    JPP_EVENT_LIST(JPP_LIST_TEXT)
};


void
jpp_events_add(jpp_events_t *events, jpp_event_type_t type, int64_t now,
    const jpp_identity_t *who, const char *fmt, ...)
{
    va_list            args;
    jpp_event_t       *event;
    jpp_event_slot_t  *slot;

    slot = &events->slots[events->n % JPP_EVENTS];
    event = &slot->event;

    memset(slot, 0, sizeof(jpp_event_slot_t));

    event->time = now;
    event->type = type;

    if (who != NULL) {
        event->who = *who;
    }

    va_start(args, fmt);
    (void) vsnprintf(event->text, JPP_EVENT_TEXT, fmt, args);
    va_end(args);

    slot->sum = jpp_hash_bytes(event, sizeof(jpp_event_t));

    events->counts[type]++;
    events->n++;
}


size_t
jpp_events_list(const jpp_events_t *events, jpp_event_t list[JPP_EVENTS])
{
    size_t                   i, n;
    const jpp_event_slot_t  *slot;

    for (i = 1, n = 0; i <= JPP_EVENTS; i++) {
        slot = &events->slots[(events->n - i) % JPP_EVENTS];

        /* the sum is also of the padding; an empty slot has none */

        memcpy(&list[n], &slot->event, sizeof(jpp_event_t));

        if (slot->sum == jpp_hash_bytes(&list[n], sizeof(jpp_event_t))
            && list[n].type < JPP_EVENT_TYPES)
        {
            n++;
        }
    }

    return n;
}

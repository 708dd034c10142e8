
/*
 * When a snapshot is taken: at a kill, near the limit, when the limit will be
 * reached soon, when memory has grown, and a minute after a start or reload.
 */


#include "jpp_snapshots.h"


#define JPP_TRIGGER_MIB     ((uint64_t) 1024 * 1024)

/* ms between two snapshots: whatever happens, of a rise, and of slow growth */
#define JPP_TRIGGER_LEAST   5000
#define JPP_TRIGGER_NEAR    10000
#define JPP_TRIGGER_SLOW    60000

/* ms after which one is taken again while the limit is near */
#define JPP_TRIGGER_AGAIN   600000

/* per cent of the limit: what is news when it is near, and how far is away */
#define JPP_TRIGGER_STEP    5

/* ms until the limit is reached that are soon */
#define JPP_TRIGGER_SOON    30000

/* a snapshot may take as much, and must not be what the kernel kills for */
#define JPP_TRIGGER_ROOM    (8 * JPP_TRIGGER_MIB)

/* growth, and a rise, of less is none */
#define JPP_TRIGGER_FLOOR   (32 * JPP_TRIGGER_MIB)
#define JPP_TRIGGER_FLOOR_SOON                                                \
    (8 * JPP_TRIGGER_MIB)

/* ms after the start when workers are as they mostly are */
#define JPP_TRIGGER_BEGUN   60000


bool
jpp_trigger_is_due(jpp_trigger_t *trigger, uint64_t now)
{
    /* the time of a worker's event loop may be a little behind */

    if (trigger->looked != 0
        && jpp_less(now, trigger->looked) < JPP_TRIGGER_EVERY)
    {
        return false;
    }

    trigger->looked = now;

    return true;
}


static void
jpp_trigger_point(jpp_trigger_t *trigger, const jpp_trigger_look_t *look)
{
    memmove(trigger->points + 1, trigger->points,
            (JPP_TRIGGER_POINTS - 1) * sizeof(jpp_trigger_point_t));

    trigger->points[0] = (jpp_trigger_point_t) { look->now, look->usage };
}


/*
 * Milliseconds until the limit at the rate of the last seconds; JPP_NONE:
 * memory does not rise.
 */

static uint64_t
jpp_trigger_left(const jpp_trigger_t *trigger, const jpp_trigger_look_t *look)
{
    uint64_t                    more;
    const jpp_trigger_point_t  *point, *from;

    from = NULL;

    jpp_each(point, trigger->points, JPP_TRIGGER_POINTS) {
        if (point->at != 0 && point->usage != JPP_NONE) {
            from = point;
        }
    }

    if (from == NULL || look->usage == JPP_NONE || look->limit == JPP_NONE
        || look->now - from->at < 2 * JPP_TRIGGER_EVERY)
    {
        return JPP_NONE;
    }

    more = jpp_less(look->usage, from->usage);

    /* and it still rises: a step is none */

    if (more < jpp_smaller(JPP_TRIGGER_FLOOR_SOON, look->limit / 32)
        || more == 0
        || jpp_less(look->usage, trigger->points[1].usage)
           < more / JPP_TRIGGER_POINTS / 2)
    {
        return JPP_NONE;
    }

    return (uint64_t) ((double) jpp_less(look->limit, look->usage)
                       * (double) (look->now - from->at) / (double) more);
}


/* Is usage near the limit, and is that news? */

static bool
jpp_trigger_is_near(jpp_trigger_t *trigger, const jpp_trigger_look_t *look)
{
    uint64_t  hundredth;

    if (look->usage == JPP_NONE || look->limit == JPP_NONE) {
        return false;
    }

    hundredth = look->limit / 100;

    if (look->usage < hundredth * look->near) {
        if (look->usage < hundredth * (look->near - JPP_TRIGGER_STEP)) {
            trigger->crossed = 0;
        }

        return false;
    }

    if (trigger->taken != 0 && look->now - trigger->taken < JPP_TRIGGER_NEAR) {
        return false;
    }

    if (trigger->crossed != 0
        && look->usage < trigger->crossed + hundredth * JPP_TRIGGER_STEP
        && look->now - trigger->taken < JPP_TRIGGER_AGAIN)
    {
        return false;
    }

    trigger->crossed = look->usage;

    return true;
}


static bool
jpp_trigger_has_grown(const jpp_trigger_t *trigger,
    const jpp_trigger_look_t *look)
{
    return trigger->least != 0
           && look->held > trigger->least + trigger->least / 100 * look->growth
                           + JPP_TRIGGER_FLOOR
           && (trigger->taken == 0
               || look->now - trigger->taken >= JPP_TRIGGER_SLOW);
}


static jpp_snapshot_reason_t
jpp_trigger_reason(jpp_trigger_t *trigger, const jpp_trigger_look_t *look,
    char text[JPP_SNAPSHOT_TEXT])
{
    uint64_t  left;

    text[0] = '\0';

    if (trigger->is_wanted) {
        (void) snprintf(text, JPP_SNAPSHOT_TEXT, "control asked for it");
        return JPP_SNAPSHOT_MANUAL;
    }

    if (look->kills != JPP_NONE && trigger->kills != JPP_NONE
        && look->kills > trigger->kills)
    {
        (void) snprintf(text, JPP_SNAPSHOT_TEXT, "the kernel has killed %"
                        PRIu64 " process%s of the cgroup",
                        look->kills - trigger->kills,
                        look->kills - trigger->kills == 1 ? "" : "es");
        return JPP_SNAPSHOT_KILL;
    }

    if ((trigger->taken != 0
         && look->now - trigger->taken < JPP_TRIGGER_LEAST)
        || (look->usage != JPP_NONE && look->limit != JPP_NONE
            && jpp_less(look->limit, look->usage) < JPP_TRIGGER_ROOM))
    {
        return JPP_SNAPSHOT_NONE;
    }

    if (jpp_trigger_is_near(trigger, look)) {
        (void) snprintf(text, JPP_SNAPSHOT_TEXT, "usage is %" PRIu64 " %% of "
                        "%s", look->usage / (look->limit / 100 + 1),
                        jpp_bytes(look->limit));
        return JPP_SNAPSHOT_LIMIT;
    }

    left = jpp_trigger_left(trigger, look);

    if (left < JPP_TRIGGER_SOON) {
        (void) snprintf(text, JPP_SNAPSHOT_TEXT, "at this rate the limit of %s "
                        "is reached in %" PRIu64 " s", jpp_bytes(look->limit),
                        left / 1000);
        return JPP_SNAPSHOT_SOON;
    }

    if (jpp_trigger_has_grown(trigger, look)) {
        (void) snprintf(text, JPP_SNAPSHOT_TEXT, "the workers hold %s, and "
                        "held %s", jpp_bytes(look->held),
                        jpp_bytes(trigger->least));
        return JPP_SNAPSHOT_GROWTH;
    }

    if (!trigger->has_begun && look->now - trigger->began >= JPP_TRIGGER_BEGUN)
    {
        (void) snprintf(text, JPP_SNAPSHOT_TEXT,
                        "generation %" PRIu64 " has run for a minute",
                        look->generation);
        return JPP_SNAPSHOT_START;
    }

    return JPP_SNAPSHOT_NONE;
}


bool
jpp_trigger_look(jpp_trigger_t *trigger, const jpp_trigger_look_t *look,
    jpp_snapshot_t *about)
{
    bool                   is_of_rise;
    jpp_snapshot_reason_t  reason;

    memset(about, 0, sizeof(jpp_snapshot_t));

    if (trigger->generation != look->generation) {
        trigger->generation = look->generation;
        trigger->began = look->now;
        trigger->has_begun = false;
    }

    reason = jpp_trigger_reason(trigger, look, about->text);

    jpp_trigger_point(trigger, look);

    trigger->kills = look->kills;

    if (look->held < trigger->most / 5 * 4) {
        trigger->is_rising = false;
    }

    if (trigger->least == 0 || look->held < trigger->least) {
        trigger->least = look->held;
    }

    if (reason == JPP_SNAPSHOT_NONE) {
        return false;
    }

    is_of_rise = reason == JPP_SNAPSHOT_GROWTH || reason == JPP_SNAPSHOT_SOON
                 || reason == JPP_SNAPSHOT_LIMIT;

    if (!is_of_rise || !trigger->is_rising) {
        trigger->rise++;
        trigger->most = 0;
    }

    trigger->is_rising = is_of_rise;
    trigger->most = jpp_larger(trigger->most, look->held);
    trigger->least = look->held;
    trigger->taken = look->now;
    trigger->is_wanted = false;
    trigger->has_begun = true;

    about->reason = reason;
    about->rise = trigger->rise;
    about->generation = look->generation;
    about->held = look->held;
    about->usage = look->usage;
    about->limit = look->limit;

    return true;
}


/*
 * The last stalls of all workers, in a table in shared memory that outlives
 * them.
 */


#include "jpp_events.h"


void
jpp_stall_table_put(jpp_stall_table_t *table, const jpp_stall_t *stall,
    uint64_t *id)
{
    jpp_stall_slot_t  *slot;

    slot = &table->slots[*id % JPP_STALLS];

    if (*id == 0 || __atomic_load_n(&slot->id, __ATOMIC_ACQUIRE) != *id) {
        *id = __atomic_add_fetch(&table->n, 1, __ATOMIC_RELAXED);
        slot = &table->slots[*id % JPP_STALLS];
    }

    __atomic_store_n(&slot->id, 0, __ATOMIC_SEQ_CST);

    /* the sum is also of the padding */

    memcpy(&slot->stall, stall, sizeof(jpp_stall_t));
    slot->sum = jpp_hash_bytes(stall, sizeof(jpp_stall_t));

    __atomic_store_n(&slot->id, *id, __ATOMIC_SEQ_CST);
}


/* What is older is not copied: most of a table is. */

static bool
jpp_stall_table_get(const jpp_stall_slot_t *slot, uint64_t id, int64_t since,
    jpp_stall_t *stall)
{
    uint64_t  sum, end;

    end = (uint64_t) slot->stall.time_nanos + slot->stall.nanos;

    if (__atomic_load_n(&slot->id, __ATOMIC_SEQ_CST) != id
        || end < (uint64_t) since)
    {
        return false;
    }

    memcpy(stall, &slot->stall, sizeof(jpp_stall_t));
    sum = slot->sum;

    return sum == jpp_hash_bytes(stall, sizeof(jpp_stall_t))
           && __atomic_load_n(&slot->id, __ATOMIC_SEQ_CST) == id;
}


size_t
jpp_stall_table_list(const jpp_stall_table_t *table, int64_t since,
    jpp_stall_t stalls[JPP_STALLS])
{
    size_t    n;
    uint64_t  id, newest;

    newest = __atomic_load_n(&table->n, __ATOMIC_RELAXED);

    for (n = 0, id = newest; id != 0 && newest - id < JPP_STALLS; id--) {

        if (jpp_stall_table_get(&table->slots[id % JPP_STALLS], id, since,
                                &stalls[n]))
        {
            n++;
        }
    }

    return n;
}


bool
jpp_stall_table_may_log(jpp_stall_table_t *table, uint64_t minute,
    uint64_t *silent)
{
    if (__atomic_exchange_n(&table->minute, minute, __ATOMIC_RELAXED)
        != minute)
    {
        __atomic_store_n(&table->n_lines, 0, __ATOMIC_RELAXED);
    }

    if (__atomic_add_fetch(&table->n_lines, 1, __ATOMIC_RELAXED)
        <= JPP_STALL_LINES)
    {
        *silent = __atomic_exchange_n(&table->n_silent, 0, __ATOMIC_RELAXED);
        return true;
    }

    (void) __atomic_add_fetch(&table->n_silent, 1, __ATOMIC_RELAXED);

    return false;
}


static const char *const  jpp_stall_kinds[JPP_STALL_KINDS] = {
    [JPP_STALL_RAN]     = "computing",
    [JPP_STALL_WAITED]  = "blocked",
    [JPP_STALL_SHORT]   = "over before its stack was taken",
    [JPP_STALL_FOREIGN] = "computing, without a stack",
    [JPP_STALL_BLIND]   = "without a stack"
};


static const char *const  jpp_stall_states[JPP_STALL_STATES] = {
    [JPP_STALL_LASTS] = " so far",
    [JPP_STALL_OVER]  = "",
    [JPP_STALL_DIED]  = " at least, until the worker ended"
};


const char *
jpp_stall_served(const jpp_stall_t *stall, char text[JPP_STALL_TEXT])
{
    text[0] = '\0';

    if (strcmp(stall->location, JPP_STALL_CHOOSING) == 0) {
        jpp_text_add(text, JPP_STALL_TEXT, ", while choosing a location: a "
                     "regular expression of a \"location ~\"");

    } else if (stall->location[0] != '\0') {
        jpp_text_add(text, JPP_STALL_TEXT, ", in location \"%s\"",
                     stall->location);
    }

    if (stall->server[0] != '\0') {
        jpp_text_add(text, JPP_STALL_TEXT, "%s server \"%s\"",
                     text[0] != '\0' ? " of" : ", in", stall->server);
    }

    if (stall->place[0] != '\0') {
        jpp_text_add(text, JPP_STALL_TEXT, " (%s)", stall->place);
    }

    if (stall->connection != 0) {
        jpp_text_add(text, JPP_STALL_TEXT, ", connection *%" PRIu64,
                     stall->connection);
    }

    jpp_ascii_clean(text);

    return text;
}


const char *
jpp_stall_owner(const jpp_stall_t *stall, char text[JPP_STALL_OWNER])
{
    text[0] = '\0';

    if (strcmp(stall->location, JPP_STALL_CHOOSING) == 0) {
        jpp_text_add(text, JPP_STALL_OWNER, "a regular expression of a "
                     "\"location ~\" of %s", stall->server);

    } else if (stall->location[0] != '\0') {
        jpp_text_add(text, JPP_STALL_OWNER, "location %s%s%s", stall->location,
                     stall->server[0] != '\0' ? " of " : "", stall->server);

    } else if (stall->server[0] != '\0') {
        jpp_text_add(text, JPP_STALL_OWNER, "server %s", stall->server);
    }

    jpp_ascii_clean(text);

    return text;
}


void
jpp_stall_comments(const jpp_stall_t *stalls, size_t n, uint64_t threshold,
    jpp_profile_t *profile)
{
    char                served[JPP_STALL_TEXT];
    const jpp_stall_t  *stall;

    jpp_profile_comment(profile, "jemalloc_pprof module " JPP_VERSION);

    if (threshold != 0) {
        jpp_profile_comment(profile, "stalls are recorded from %" PRIu64
                            " ms on", threshold);

    } else {
        jpp_profile_comment(profile, "stalls are not recorded: POST "
                            "stall=100ms to control");
    }

    jpp_each(stall, stalls, n) {
        jpp_profile_comment(profile, "%s worker %" PRIu32 " pid %" PRId64
                            " generation %" PRIu64 ": %" PRIu64 " ms%s, %s"
                            "%.200s", jpp_date(stall->time_nanos / 1000000000),
                            stall->index, stall->pid, stall->generation,
                            stall->nanos / 1000000,
                            jpp_stall_states[stall->state],
                            jpp_stall_kinds[stall->kind],
                            jpp_stall_served(stall, served));
    }
}


#include "jpp_stall_table.h"
#include "jpp_worker.h"


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

    slot->stall = *stall;
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

    *stall = slot->stall;
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
jpp_stall_name(const char *name, char text[JPP_STALL_NAME])
{
    size_t  i;

    for (i = 0; i < JPP_STALL_NAME - 1 && name[i] != '\0'; i++) {
        text[i] = jpp_ascii(name[i]);
    }

    text[i] = '\0';

    return text;
}


const char *
jpp_stall_served(const jpp_stall_t *stall, char text[JPP_STALL_TEXT])
{
    char    name[JPP_STALL_NAME];
    size_t  n;

    text[0] = '\0';
    n = 0;

    if (strcmp(stall->location, JPP_STALL_CHOOSING) == 0) {
        n += (size_t) snprintf(text, JPP_STALL_TEXT, ", while choosing a "
                               "location: a regular expression of a "
                               "\"location ~\"");

    } else if (stall->location[0] != '\0') {
        n += (size_t) snprintf(text + n, JPP_STALL_TEXT - n,
                               ", in location \"%s\"",
                               jpp_stall_name(stall->location, name));
    }

    if (stall->server[0] != '\0') {
        n += (size_t) snprintf(text + n, JPP_STALL_TEXT - n,
                               "%s server \"%s\"", n != 0 ? " of" : ", in",
                               jpp_stall_name(stall->server, name));
    }

    if (stall->place[0] != '\0') {
        n += (size_t) snprintf(text + n, JPP_STALL_TEXT - n, " (%s)",
                               jpp_stall_name(stall->place, name));
    }

    if (stall->connection != 0) {
        (void) snprintf(text + n, JPP_STALL_TEXT - n,
                        ", connection *%" PRIu64, stall->connection);
    }

    return text;
}


const char *
jpp_stall_owner(const jpp_stall_t *stall, char text[JPP_STALL_OWNER])
{
    char  location[JPP_STALL_NAME], server[JPP_STALL_NAME];

    (void) jpp_stall_name(stall->location, location);
    (void) jpp_stall_name(stall->server, server);

    if (strcmp(location, JPP_STALL_CHOOSING) == 0) {
        (void) snprintf(text, JPP_STALL_OWNER, "a regular expression of a "
                        "\"location ~\" of %s", server);

        return text;
    }

    (void) snprintf(text, JPP_STALL_OWNER, "%s%s%s%s",
                    location[0] != '\0' ? "location " : "", location,
                    server[0] == '\0' ? ""
                    : location[0] != '\0' ? " of " : "server ", server);

    return text;
}


void
jpp_stall_comments(const jpp_stall_t *stalls, size_t n, uint64_t threshold,
    jpp_profile_t *profile)
{
    char    served[JPP_STALL_TEXT];
    size_t  i;

    jpp_profile_comment(profile, "jemalloc_pprof module " JPP_VERSION);

    if (threshold != 0) {
        jpp_profile_comment(profile, "stalls are recorded from %" PRIu64
                            " ms on", threshold);

    } else {
        jpp_profile_comment(profile, "stalls are not recorded: POST "
                            "stall=100ms to control");
    }

    for (i = 0; i < n; i++) {
        jpp_profile_comment(profile, "%s worker %" PRIu32 " pid %" PRId64
                            " generation %" PRIu64 ": %" PRIu64 " ms%s, %s"
                            "%.200s",
                            jpp_date(stalls[i].time_nanos / 1000000000),
                            stalls[i].index, stalls[i].pid,
                            stalls[i].generation, stalls[i].nanos / 1000000,
                            jpp_stall_states[stalls[i].state],
                            jpp_stall_kinds[stalls[i].kind],
                            jpp_stall_served(&stalls[i], served));
    }
}

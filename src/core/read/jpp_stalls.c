
/*
 * Parses stalls into a profile: number and duration of the stalls, by the stack
 * in which the event loop was found.
 *
 * A capture is an array of jpp_stall_t, of any processes: what it is labelled
 * with, its worker and what that served, is in it.
 */


#include "jpp_cut.h"
#include "jpp_parsers.h"


/* the longest index of a worker */
#define JPP_STALLS_INDEX  16


static const jpp_value_type_t  jpp_stalls_types[JPP_STALLS_TYPES] = {
    { "stalls", "count",       false, 0, JPP_STALLS_COUNT },
    { "delay",  "nanoseconds", false, 0, JPP_STALLS_COUNT }
};


/* in place of a stack that was not taken */

static const char *const  jpp_stalls_frames[JPP_STALL_KINDS] = {
    [JPP_STALL_RAN]     = "[no stack]",
    [JPP_STALL_WAITED]  = "[no stack]",
    [JPP_STALL_SHORT]   = "[no stack: it was over before it was taken]",
    [JPP_STALL_FOREIGN] = "[no stack: another profiler uses SIGPROF]",
    [JPP_STALL_BLIND]   = "[no stack: the kernel does not say]"
};


static bool
jpp_stalls_is_sound(const jpp_stall_t *stall)
{
    return stall->kind < JPP_STALL_KINDS
           && stall->state < JPP_STALL_STATES
           && stall->depth <= JPP_STALL_DEPTH
           && stall->nanos <= INT64_MAX
           && stall->generation <= INT64_MAX
           && memchr(stall->server, '\0', JPP_STALL_NAME) != NULL
           && memchr(stall->location, '\0', JPP_STALL_NAME) != NULL
           && memchr(stall->place, '\0', JPP_STALL_NAME) != NULL
           && memchr(stall->where, '\0', JPP_STALL_WHERE) != NULL
           && stall->maps_len <= JPP_STALL_MAPS
           && (stall->maps_len == 0
               || stall->maps[stall->maps_len - 1] == '\n');
}


static jpp_code_t
jpp_stalls_open(jpp_dump_t *dump, jpp_profile_t *profile, const char *data,
    size_t len, const char *tail, jpp_err_t *err)
{
    size_t              i, n;
    const jpp_stall_t  *stalls;

    (void) profile;
    (void) tail;

    jpp_dump_init(dump, data, len);

    if (len % sizeof(jpp_stall_t) != 0) {
        return jpp_err_set(err, JPP_ERR_CUT, "the table of stalls was cut");
    }

    stalls = (const void *) data;
    n = len / sizeof(jpp_stall_t);

    if (n > JPP_STALLS) {
        return jpp_err_set(err, JPP_ERR_LIMIT, "more than %d stalls",
                           JPP_STALLS);
    }

    for (i = 0; i < n; i++) {
        if (!jpp_stalls_is_sound(&stalls[i])) {
            return jpp_err_set(err, JPP_ERR_INPUT, "stall %zu of the table is "
                               "none", i + 1);
        }
    }

    return JPP_OK;
}


/* parsers make series of string labels: what is one is in the configuration */

static bool
jpp_stalls_labels(jpp_profile_t *profile, const jpp_stall_t *stall,
    uint32_t *set)
{
    char         index[JPP_STALLS_INDEX];
    size_t       n;
    jpp_label_t  labels[JPP_MAX_LABELS];

    memset(labels, 0, sizeof(labels));

    jpp_print(index, "%" PRIu32, stall->index);

    labels[0].key = "worker";
    labels[0].str = index;
    labels[1].key = "pid";
    labels[1].num = stall->pid;
    labels[2].key = "generation";
    labels[2].num = (int64_t) stall->generation;

    n = 3;

    if (stall->server[0] != '\0') {
        labels[n].key = "server";
        labels[n++].str = stall->server;
    }

    if (stall->location[0] != '\0') {
        labels[n].key = "location";
        labels[n++].str = stall->location;
    }

    return jpp_profile_labels(profile, 0, 0, labels, n, set);
}


static uint32_t
jpp_stalls_location(jpp_profile_t *profile, const jpp_vec_t *maps, uint64_t pc)
{
    const char       *cut;
    const jpp_map_t  *map;

    cut = jpp_cut_name(pc);

    if (cut != NULL) {
        return jpp_profile_frame(profile, 0, cut, strlen(cut));
    }

    map = jpp_maps_find(maps, --pc);

    return map != NULL
           ? jpp_profile_location(profile, map->mapping, pc + map->shift)
           : jpp_profile_location(profile, 0, pc);
}


static bool
jpp_stalls_stack(jpp_profile_t *profile, const jpp_stall_t *stall,
    const jpp_vec_t *maps, uint32_t set)
{
    int64_t      values[JPP_MAX_COLUMNS] = { 0 };
    uint32_t     i, n, ids[JPP_STALL_DEPTH];
    const char  *name;

    n = stall->depth;

    for (i = 0; i < n; i++) {
        ids[i] = jpp_stalls_location(profile, maps, stall->pcs[i]);
    }

    if (n == 0) {
        name = jpp_stalls_frames[stall->kind];
        ids[n++] = jpp_profile_frame(profile, 0, name, strlen(name));
    }

    if (!jpp_profile_stack(profile, set, ids, n)) {
        return false;
    }

    /* nothing is estimated: the columns of counts stay 0 */

    values[JPP_STALLS_COUNT] = 1;
    values[JPP_STALLS_DELAY] = (int64_t) stall->nanos;

    return jpp_profile_commit(profile, NULL, values);
}


static jpp_code_t
jpp_stalls_read(jpp_profile_t *profile, const jpp_dump_t *dump,
    const jpp_read_options_t *options, jpp_err_t *err)
{
    uint32_t            set;
    jpp_vec_t          *maps;
    jpp_code_t          rc;
    const jpp_stall_t  *stall, *end;

    (void) options;

    stall = (const void *) dump->data;
    end = stall + dump->len / sizeof(jpp_stall_t);

    for ( /* void */ ; stall < end; stall++) {

        maps = jpp_vec_create(profile->arena);

        if (maps == NULL || !jpp_stalls_labels(profile, stall, &set)) {
            return jpp_err_memory(err);
        }

        rc = stall->maps_len == 0
             ? JPP_OK : jpp_maps_read(profile, stall->maps, stall->maps_len,
                                      NULL, maps, err);
        if (rc != JPP_OK) {
            return rc;
        }

        if (!jpp_stalls_stack(profile, stall, maps, set)) {
            return jpp_err_memory(err);
        }

        jpp_vec_release(maps);
    }

    return JPP_OK;
}


static void
jpp_stalls_describe(jpp_profile_t *profile)
{
    jpp_profile_comment(profile, "stalls: iterations of event loops that took "
                        "too long, the last %d of all workers", JPP_STALLS);
}


const jpp_parser_t  jpp_parser_stalls = {
    .name = "stalls",
    .values = jpp_stalls_types,
    .types = JPP_PARSER_WORDS(jpp_stalls_types, JPP_STALLS_TYPES,
                              JPP_STALLS_DELAY),
    .absent = "it contains only delay and stalls",
    .period_type = "stalls",
    .period_unit = "count",
    .period = 1,
    .open = jpp_stalls_open,
    .read = jpp_stalls_read,
    .describe = jpp_stalls_describe
};

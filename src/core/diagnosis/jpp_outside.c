
/* Finds the owner of most memory outside of nginx's pools. */


#include "jpp_diagnosis.h"
#include "jpp_parsers.h"


/* the location of what connections have, in samples */
#define JPP_OUTSIDE_NOWHERE  "(no location)"


typedef struct {
    uint32_t         server;           /* strings of the profile */
    uint32_t         location;
    int64_t          bytes;
} jpp_outside_sum_t;


typedef struct {
    jpp_profile_t    profile;
    jpp_vec_t       *sums;             /* jpp_outside_sum_t */
    jpp_index_t      index;
} jpp_outside_sums_t;


static bool
jpp_outside_add(jpp_outside_sums_t *sums, jpp_str_t server, jpp_str_t location,
    int64_t bytes)
{
    uint32_t            id;
    jpp_outside_sum_t  *sum, one = { 0, 0, 0 };

    /* "(event loop)" and the like are no servers */

    if (server.len == 0 || server.data[0] == '(') {
        return true;
    }

    one.server = jpp_profile_string(&sums->profile, server.data, server.len);
    one.location = jpp_profile_string(&sums->profile, location.data,
                                      location.len);

    id = one.server == 0 || one.location == 0 ? 0
         : jpp_index_intern(&sums->index, sums->sums, &one,
                            sizeof(jpp_outside_sum_t), 2 * sizeof(uint32_t));

    if (id == 0) {
        return false;
    }

    sum = &jpp_vec_items(sums->sums, jpp_outside_sum_t)[id - 1];
    sum->bytes = jpp_add_i64(sum->bytes, bytes);

    return true;
}


/* What samples of the LEN bytes at DATA have. */

static bool
jpp_outside_sampled(jpp_outside_sums_t *sums, const char *data, size_t len)
{
    uint32_t             i, set;
    jpp_dump_t           dump;
    jpp_sample_t         sample;
    jpp_profile_t       *profile;
    jpp_read_options_t   options;

    memset(&options, 0, sizeof(jpp_read_options_t));

    options.has_owners = true;
    profile = &sums->profile;

    if (jpp_parser_heap.open(&dump, profile, data, len, NULL, NULL) != JPP_OK
        || jpp_parser_heap.read(profile, &dump, &options, NULL) != JPP_OK)
    {
        return false;
    }

    jpp_profile_each(i, profile) {
        jpp_profile_sample(profile, i, &sample);

        set = (uint32_t) (sample.labels - jpp_vec_items(profile->label_sets,
                                                        jpp_label_set_t));

        if (!jpp_outside_add(sums,
                             jpp_roots_name(profile, set, JPP_ROOT_SERVER),
                             jpp_roots_name(profile, set, JPP_ROOT_LOCATION),
                             sample.values[JPP_HEAP_INUSE_SPACE]))
        {
            return false;
        }
    }

    return true;
}


/* Take from that what pools hold. */

static bool
jpp_outside_held(jpp_outside_sums_t *sums, const jpp_pools_t *table)
{
    char                      server[JPP_OWNER_NAME];
    char                      location[JPP_OWNER_NAME];
    jpp_str_t                 name, of;
    const jpp_pools_row_t    *row;
    const jpp_pools_owner_t  *owner;

    jpp_vec_each(row, table->rows) {
        owner = jpp_pools_owner_at(table, row->owner);

        name = jpp_pools_str(table, owner->server);
        name.len = jpp_owner_text(server, name.data, name.len);
        name.data = server;

        of = (jpp_str_t) { JPP_OUTSIDE_NOWHERE,
                           sizeof(JPP_OUTSIDE_NOWHERE) - 1 };

        if (owner->location != 0) {
            of = jpp_pools_str(table, owner->location);
            of.len = jpp_owner_text(location, of.data, of.len);
            of.data = location;
        }

        if (!row->is_inherited
            && !jpp_outside_add(sums, name, of, -(int64_t) row->bytes))
        {
            return false;
        }
    }

    return true;
}


void
jpp_outside_find(jpp_outside_t *outside, const jpp_pools_t *table,
    jpp_arena_t *arena, const char *data, size_t len)
{
    bool                      is_short;
    uint64_t                  all;
    jpp_str_t                 name;
    jpp_outside_sums_t        sums;
    const jpp_outside_sum_t  *sum, *most, none = { 0, 0, 0 };

    memset(outside, 0, sizeof(jpp_outside_t));

    sums.sums = jpp_vec_create(arena);
    jpp_index_init(&sums.index, arena);

    if (sums.sums == NULL
        || !jpp_parser_init(&jpp_parser_heap, &sums.profile, arena)
        || !jpp_outside_sampled(&sums, data, len)
        || !jpp_outside_held(&sums, table))
    {
        return;
    }

    most = &none;

    jpp_vec_each(sum, sums.sums) {
        most = sum->bytes > most->bytes ? sum : most;
    }

    all = jpp_less(jpp_pools_outside(table, &is_short),
                   table->facts.outside_inherited);

    if (most == &none || (uint64_t) most->bytes < all / 2) {
        return;
    }

    /* an estimate may be more */

    outside->bytes = jpp_smaller((uint64_t) most->bytes, all);

    name = jpp_profile_str(&sums.profile, most->server);
    (void) snprintf(outside->server, JPP_OWNER_NAME, "%s", name.data);

    name = jpp_profile_str(&sums.profile, most->location);

    if (strcmp(name.data, JPP_OUTSIDE_NOWHERE) != 0) {
        (void) snprintf(outside->location, JPP_OWNER_NAME, "%s", name.data);
    }
}


/* Blocks of these names are where their owners' are. */

static void
jpp_outside_place(const jpp_outside_t *outside, jpp_pools_t *table)
{
    uint32_t      i, n, file;
    const char   *location;
    jpp_owner_t   owner;

    n = jpp_owner_names_count();
    location = outside->location[0] != '\0' ? outside->location
                                            : JPP_OUTSIDE_NOWHERE;

    for (i = JPP_OWNERS_FIXED; i < n; i++) {
        owner = jpp_owner_names(i);

        if (owner.line != 0
            && strcmp(owner.names[JPP_ROOT_SERVER], outside->server) == 0
            && strcmp(owner.names[JPP_ROOT_LOCATION], location) == 0)
        {
            file = owner.file.len == 0 ? 0
                   : jpp_pools_name(table, JPP_POOLS_FILE, owner.file.data,
                                    owner.file.data, owner.file.len);

            jpp_pools_place(table, table->facts.outside_owner, file,
                            owner.line);
        }
    }
}


void
jpp_outside_tell(const jpp_outside_t *outside, jpp_pools_t *table)
{
    uint32_t  server, location;

    if (outside->bytes == 0) {
        return;
    }

    server = jpp_pools_name(table, JPP_POOLS_SERVER, outside->server,
                            outside->server, strlen(outside->server));
    location = outside->location[0] == '\0' ? 0
               : jpp_pools_name(table, JPP_POOLS_LOCATION, outside->location,
                                outside->location, strlen(outside->location));

    table->facts.outside_bytes = outside->bytes;
    table->facts.outside_owner =
        jpp_pools_owner(table, location != 0 ? JPP_POOLS_REQUEST
                                             : JPP_POOLS_CLIENT_CONNECTION,
                        server, location, 0);

    jpp_outside_place(outside, table);
}

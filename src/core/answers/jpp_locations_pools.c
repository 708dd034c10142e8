
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "jpp_locations_pools.h"
#include "jpp_owner_names.h"
#include "jpp_pools_file.h"
#include "jpp_pools.h"


#define JPP_LOCATIONS_CLASS  320


/* what an owner of pools is called, by its kind */
typedef struct {
    bool          is_there;            /* it belongs to a server, or the like */
    bool          is_third;            /* which has the third name */
    bool          is_upstream;         /* the third name is that */
    const char   *location;            /* NULL: it has one */
} jpp_locations_kind_t;


/* as samples have it, so that both meet */

static const char  jpp_locations_none[] = "(no location)";
static const char  jpp_locations_session[] = "(session)";
static const char  jpp_locations_no_server[] = "(no server)";


static const jpp_locations_kind_t  jpp_locations_kinds[JPP_POOLS_KINDS] = {
    [JPP_POOLS_CLIENT_CONNECTION] =
        { true, false, false, jpp_locations_none },
    [JPP_POOLS_CLOSING] = { true, false, false, jpp_locations_none },
    [JPP_POOLS_HTTP2] = { true, false, false, jpp_locations_none },
    [JPP_POOLS_HTTP2_HEADERS] = { true, false, false, jpp_locations_none },
    [JPP_POOLS_HTTP3] = { true, false, false, jpp_locations_none },
    [JPP_POOLS_REQUEST] = { true, false, false, NULL },
    [JPP_POOLS_UPSTREAM] = { true, false, true, NULL },
    [JPP_POOLS_KEEPALIVE] = { true, false, true, jpp_locations_none },
    [JPP_POOLS_STREAM] = { true, true, false, jpp_locations_session },
    [JPP_POOLS_MAIL] = { true, true, false, jpp_locations_session },
    [JPP_POOLS_MODULE_CONNECTION] =
        { true, false, false, jpp_locations_none },
    [JPP_POOLS_CONFIGURATION] = { false, false, false, NULL },
    [JPP_POOLS_SLOTS_USED] = { false, false, false, NULL },
    [JPP_POOLS_SLOTS_FREE] = { false, false, false, NULL },
    [JPP_POOLS_OPEN_FILES] = { false, false, false, NULL },
    [JPP_POOLS_RESOLVER] = { false, false, false, NULL }
};


static jpp_str_t
jpp_locations_text(char text[JPP_OWNER_NAME], jpp_str_t name)
{
    name.len = jpp_owner_text(text, name.data, name.len);
    name.data = text;

    return name;
}


static jpp_locations_row_t *
jpp_locations_of(jpp_locations_t *locations, const jpp_pools_t *table,
    const jpp_pools_owner_t *owner)
{
    char                         texts[JPP_ROOTS][JPP_OWNER_NAME];
    uint32_t                     i;
    jpp_str_t                    names[JPP_ROOTS];
    const jpp_locations_kind_t  *kind;

    kind = &jpp_locations_kinds[owner->kind];

    names[JPP_ROOT_SERVER] = jpp_pools_str(table, kind->is_third
                                                  ? owner->third
                                                  : owner->server);
    names[JPP_ROOT_LOCATION] = jpp_pools_str(table, owner->location);
    names[JPP_ROOT_UPSTREAM] = jpp_pools_str(table, kind->is_upstream
                                                    ? owner->third : 0);

    if (kind->location != NULL) {
        names[JPP_ROOT_LOCATION].data = kind->location;
        names[JPP_ROOT_LOCATION].len = strlen(kind->location);
    }

    if (names[JPP_ROOT_SERVER].len == 0) {
        names[JPP_ROOT_SERVER].data = jpp_locations_no_server;
        names[JPP_ROOT_SERVER].len = sizeof(jpp_locations_no_server) - 1;
    }

    for (i = 0; i < JPP_ROOTS; i++) {
        names[i] = names[i].len != 0
                   ? jpp_locations_text(texts[i], names[i])
                   : jpp_roots_none((jpp_root_t) i);
    }

    return jpp_locations_row(locations, names);
}


static void
jpp_locations_owner(jpp_locations_t *locations, const jpp_pools_t *table,
    const jpp_pools_owner_t *owner)
{
    jpp_locations_row_t  *row;

    if (!jpp_locations_kinds[owner->kind].is_there) {
        return;
    }

    row = jpp_locations_of(locations, table, owner);

    /* the upstream of a request, where rows are upstreams, is its own kind */

    if (row != NULL
        && (uint8_t) (locations->shows[JPP_ROOT_UPSTREAM]
                      ? JPP_POOLS_UPSTREAM : JPP_POOLS_REQUEST)
           == owner->kind)
    {
        row->n_requests += owner->n_units;
    }
}


/* "upstream buffers"; of a module, its name behind that. */

static jpp_str_t
jpp_locations_class(char text[JPP_LOCATIONS_CLASS], const jpp_pools_t *table,
    const jpp_pools_row_t *held)
{
    char         module[JPP_OWNER_NAME];
    jpp_str_t    name;
    const char  *class;

    class = jpp_pools_classes[held->class];
    name = jpp_locations_text(module, jpp_pools_str(table, held->module));

    name.len = (size_t) snprintf(text, JPP_LOCATIONS_CLASS, "%s%s",
                                 class != NULL ? class : "-", name.data);
    name.data = text;

    return name;
}


static void
jpp_locations_held(jpp_locations_t *locations, const jpp_pools_t *table,
    const jpp_pools_row_t *held)
{
    char                      text[JPP_LOCATIONS_CLASS];
    int64_t                   bytes;
    jpp_locations_row_t      *row;
    const jpp_pools_owner_t  *owner;

    if (held->is_inherited) {
        return;
    }

    owner = jpp_pools_owner_at(table, held->owner);
    bytes = (int64_t) held->bytes;

    if (!jpp_locations_kinds[owner->kind].is_there) {
        jpp_locations_about_t  *about = &locations->about[JPP_LOCATIONS_HELD];

        about->nobody = jpp_add_i64(about->nobody, bytes);
        return;
    }

    row = jpp_locations_of(locations, table, owner);

    if (row != NULL) {
        jpp_locations_add(locations, row, JPP_LOCATIONS_HELD, bytes, 0);
        jpp_locations_part(locations, row, JPP_LOCATIONS_HELD,
                           jpp_locations_class(text, table, held), bytes);
    }
}


void
jpp_locations_pools(jpp_locations_t *locations, const jpp_identity_t *who,
    const char *data, size_t len, const char *why)
{
    size_t                    i, n;
    jpp_err_t                 err;
    jpp_code_t                rc;
    jpp_pools_t               table;
    const jpp_pools_row_t    *rows;

    rc = JPP_ERR_INPUT;

    if (data != NULL) {
        rc = jpp_pools_load(&table, locations->arena, data, len, &err);
        why = err.text;
    }

    if (rc != JPP_OK) {
        locations->failed |= rc == JPP_ERR_MEMORY;
        jpp_locations_note(locations, JPP_LOCATIONS_HELD, "worker %" PRIu32
                           " pid %" PRId64 " is missing: %s", who->index,
                           who->pid, why);
        return;
    }

    locations->about[JPP_LOCATIONS_HELD].is_there = true;

    n = jpp_vec_count(table.owners, jpp_pools_owner_t);

    for (i = 1; i <= n; i++) {
        jpp_locations_owner(locations, &table,
                            jpp_pools_owner_at(&table, (uint32_t) i));
    }

    rows = jpp_vec_items(table.rows, jpp_pools_row_t);
    n = jpp_vec_count(table.rows, jpp_pools_row_t);

    for (i = 0; i < n; i++) {
        jpp_locations_held(locations, &table, &rows[i]);
    }

    if (table.facts.reason != JPP_POOLS_WHOLE) {
        jpp_locations_note(locations, JPP_LOCATIONS_HELD, "worker %" PRIu32
                           " pid %" PRId64 " is partial, %" PRIu64
                           " connections were not seen: %s", who->index,
                           who->pid, table.facts.n_missed,
                           jpp_pools_reasons[table.facts.reason]);
    }
}

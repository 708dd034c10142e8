
/*
 * For tests of tables of pools: tables as a walk would fill them, and their
 * bytes.
 */


#ifndef _JPP_TEST_POOLS_H_INCLUDED_
#define _JPP_TEST_POOLS_H_INCLUDED_


#include "jpp_pools_table.h"
#include "jpp_test_arena.h"


/* The name of SORT that is the string TEXT; its address is the key. */
static inline uint32_t
jpp_test_name(jpp_pools_t *table, jpp_pools_sort_t sort, const char *text)
{
    return text == NULL ? 0 : jpp_pools_name(table, sort, text, text,
                                             strlen(text));
}


/* The owner of KIND with these names, which may be NULL. */
static inline uint32_t
jpp_test_owner(jpp_pools_t *table, jpp_pools_kind_t kind, const char *server,
    const char *location, const char *third)
{
    return jpp_pools_owner(table, kind,
                           jpp_test_name(table, JPP_POOLS_SERVER, server),
                           jpp_test_name(table, JPP_POOLS_LOCATION, location),
                           jpp_test_name(table, JPP_POOLS_UPSTREAM_NAME,
                                         third));
}


/* The same, with one block of BYTES. */
static inline uint32_t
jpp_test_holds(jpp_pools_t *table, jpp_pools_kind_t kind, const char *server,
    const char *location, const char *third, uint64_t bytes)
{
    uint32_t  id;

    id = jpp_test_owner(table, kind, server, location, third);
    (void) jpp_pools_add(table, id, JPP_POOLS_BLOCKS, 0, 1, bytes, 0);

    return id;
}


/* The block of the owner ID begins at LINE of FILE. */
static inline void
jpp_test_place(jpp_pools_t *table, uint32_t id, const char *file, uint32_t line)
{
    jpp_pools_place(table, id, jpp_test_name(table, JPP_POOLS_FILE, file),
                    line);
}


/*
 * A worker as small as can be: two requests, one of them proxied, their
 * connections, what was inherited, and memory in no pool.
 */
static inline bool
jpp_test_fill(jpp_pools_t *table)
{
    uint32_t            request, upstream, client, config;
    jpp_pools_unit_t   *unit;

    request = jpp_test_owner(table, JPP_POOLS_REQUEST, "a.example", "/big",
                             NULL);
    upstream = jpp_test_owner(table, JPP_POOLS_UPSTREAM, "a.example", "/big",
                              "backend");
    client = jpp_test_owner(table, JPP_POOLS_CLIENT_CONNECTION, "a.example",
                            NULL, NULL);

    if (upstream == 0) {
        return false;
    }

    jpp_pools_owner_at(table, upstream)->n_units++;

    jpp_pools_begin(table, request);

    if (!jpp_pools_add(table, request, JPP_POOLS_BLOCKS, 0, 2, 8192, 1000)
        || !jpp_pools_add(table, upstream, JPP_POOLS_UPSTREAM_BUFFERS, 0, 16,
                          1114112, 0)
        || !jpp_pools_add(table, upstream, JPP_POOLS_BLOCKS, 0, 1, 128, 8))
    {
        return false;
    }

    unit = jpp_pools_end(table);

    if (unit != NULL) {
        unit->bound_module = jpp_test_name(table, JPP_POOLS_WORD, "proxy");
        unit->bound_number = 16;
        unit->bound_size = 65536;
        unit->sending = 4000000;
        unit->age_msec = 12345;
        unit->state = jpp_test_name(table, JPP_POOLS_WORD, "writing request");
        unit->action = jpp_test_name(table, JPP_POOLS_WORD,
                                     "sending to client");
    }

    jpp_pools_begin(table, client);

    if (!jpp_pools_add(table, client, JPP_POOLS_BLOCKS, 0, 1, 512, 100)) {
        return false;
    }

    (void) jpp_pools_end(table);

    request = jpp_test_owner(table, JPP_POOLS_REQUEST, "a.example", "/", NULL);

    jpp_pools_begin(table, request);

    if (!jpp_pools_add(table, request, JPP_POOLS_BLOCKS, 0, 1, 4096, 2000)
        || !jpp_pools_add(table, request, JPP_POOLS_MODULE,
                          jpp_test_name(table, JPP_POOLS_MODULE_NAME,
                                        "gzip filter"), 1, 262144, 0))
    {
        return false;
    }

    (void) jpp_pools_end(table);

    config = jpp_test_owner(table, JPP_POOLS_CONFIGURATION, NULL, NULL, NULL);

    if (!jpp_pools_add(table, config, JPP_POOLS_BLOCKS, 0, 10, 163840, 4000)
        || !jpp_pools_add(table, config, JPP_POOLS_OTHER, 0, 3, 300000, 0)
        || !jpp_pools_add_inherited(table, config, JPP_POOLS_BLOCKS, 9,
                                    147456, 3000)
        || !jpp_pools_add_inherited(table, config, JPP_POOLS_OTHER, 2, 40000,
                                    0)
        || !jpp_pools_add(table, jpp_test_owner(table, JPP_POOLS_SLOTS_USED,
                                                NULL, NULL, NULL),
                          JPP_POOLS_ITSELF, 0, 3, 1344, 0))
    {
        return false;
    }

    table->facts.has_total = 1;
    table->facts.total = 3000000;
    table->facts.outside_inherited = 500000;
    table->facts.n_connections = 3;
    table->facts.n_slots = 512;
    table->facts.n_slices = 1;
    table->facts.nanos = 100000;
    table->facts.longest_nanos = 100000;
    table->facts.n_tls = 40;
    strcpy(table->facts.allocator, "jemalloc 5.3.0");

    return true;
}


/* The bytes of TABLE. */
static inline jpp_vec_t *
jpp_test_bytes(const jpp_pools_t *table)
{
    jpp_sink_t  sink;

    jpp_test_sink(&sink, &arena);
    jpp_pools_write(table, &sink);

    return jpp_sink_flush(&sink) == 0 ? sink.ctx : NULL;
}


#endif /* _JPP_TEST_POOLS_H_INCLUDED_ */

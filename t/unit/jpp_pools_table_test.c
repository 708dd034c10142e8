
/*
 * The table that a walk fills: names, owners, rows and units, their bounds, and
 * what it does without memory.
 */


#include "jpp_test_main.h"
#include "jpp_test_golden.h"
#include "jpp_test_pools.h"


static jpp_pools_t  table;


void
jpp_before_each(void)
{
    (void) jpp_pools_init(&table, &arena, JPP_POOLS_NO_UNITS, 0);
}


JPP_TEST(jpp_pools_test_names)
{
    char      longest[JPP_POOLS_NAME + 2];
    uint32_t  a = 0, b;

    jpp_is_u64(jpp_pools_find(&table, &a), 0, "a name that nobody added");

    a = jpp_pools_name(&table, JPP_POOLS_SERVER, &a, "same\0name", 9);
    b = jpp_pools_name(&table, JPP_POOLS_LOCATION, &b, "same\0name", 9);

    jpp_ok(a != 0 && a == b, "equal names have one id, whatever their key");
    jpp_is_u64(jpp_pools_find(&table, &b), b, "which is found by key");
    jpp_is_u64(jpp_pools_name(&table, JPP_POOLS_SERVER, &b, "other", 5), b,
               "a key has the name that it had first");
    jpp_is_u64(jpp_pools_str(&table, a).len, 9, "any byte is part of a name");
    jpp_is_u64(jpp_pools_str(&table, 0).len, 0, "no name has no bytes");

    memset(longest, 'x', sizeof(longest));

    a = jpp_pools_name(&table, JPP_POOLS_SERVER, longest, longest,
                       JPP_POOLS_NAME);
    b = jpp_pools_name(&table, JPP_POOLS_SERVER, longest + 1, longest,
                       JPP_POOLS_NAME + 1);

    jpp_is_u64(jpp_pools_str(&table, a).len, JPP_POOLS_NAME,
               "the longest name");
    jpp_is_u64(a, b, "a longer one is cut");
}


static const char *
jpp_pools_text(uint32_t name)
{
    return jpp_pools_str(&table, name).data;
}


static uint64_t
jpp_pools_bytes(void)
{
    size_t                  i;
    uint64_t                sum;
    const jpp_pools_row_t  *rows;

    rows = jpp_vec_items(table.rows, jpp_pools_row_t);

    for (i = 0, sum = 0; i < jpp_vec_count(table.rows, jpp_pools_row_t); i++) {
        sum += rows[i].bytes;
    }

    return sum;
}


/* 5,000 locations: what is past the limit has one name, and nothing is lost. */

JPP_TEST(jpp_pools_test_many_names)
{
    char      name[32];
    uint32_t  i, id, owner, rest, late;

    static char  keys[5000];

    for (i = 0; i < sizeof(keys); i++) {
        jpp_print(name, "/location/%u", i);

        id = jpp_pools_name(&table, JPP_POOLS_LOCATION, &keys[i], name,
                            strlen(name));
        owner = jpp_pools_owner(&table, JPP_POOLS_REQUEST, 0, id, 0);

        (void) jpp_pools_add(&table, owner, JPP_POOLS_BLOCKS, 0, 1, 10, 1);
    }

    rest = jpp_pools_find(&table, &keys[JPP_POOLS_NAMES]);

    late = jpp_pools_name(&table, JPP_POOLS_SERVER, &table, "late", 4);

    jpp_note("%s, %s, %s",
             jpp_pools_text(jpp_pools_find(&table, &keys[JPP_POOLS_NAMES - 1])),
             jpp_pools_text(rest), jpp_pools_text(late));
    jpp_note("%zu rows, of %" PRIu64 " bytes, partial %u",
             jpp_vec_count(table.rows, jpp_pools_row_t), jpp_pools_bytes(),
             table.facts.is_partial);
    jpp_shows_notes("the last name, and what the rest is called");
    jpp_is_u64(jpp_pools_find(&table, &keys[4999]), rest, "and all others");
}


JPP_TEST(jpp_pools_test_many_owners)
{
    uint32_t  i, k, id, names[200];

    static char  keys[200];

    for (i = 0; i < 200; i++) {
        names[i] = jpp_pools_name(&table, JPP_POOLS_LOCATION, &keys[i],
                                  (char *) &i, sizeof(i));
    }

    for (i = 0, id = 0; i < 200; i++) {
        for (k = 0; k < 200; k++) {
            id = jpp_pools_owner(&table, JPP_POOLS_UPSTREAM, names[0],
                                 names[i], names[k]);

            (void) jpp_pools_add(&table, id, JPP_POOLS_BLOCKS, 0, 1, 10, 1);
        }
    }

    jpp_note("%zu owners of %" PRIu64 " bytes, the last in %s with %s",
             jpp_vec_count(table.owners, jpp_pools_owner_t), jpp_pools_bytes(),
             jpp_pools_text(jpp_pools_owner_at(&table, id)->location),
             jpp_pools_text(jpp_pools_owner_at(&table, id)->third));
    jpp_shows_notes("one owner for those past the limit");
    jpp_is_u64(jpp_pools_owner(&table, JPP_POOLS_UPSTREAM, names[0], names[0],
                               names[0]), 1, "known ones are found all the "
               "same");
}


JPP_TEST(jpp_pools_test_many_rows)
{
    uint32_t  i, owner, n_wrong;

    owner = jpp_pools_owner(&table, JPP_POOLS_REQUEST, 0, 0, 0);
    n_wrong = 0;

    /* the table does not look at the id of a module */

    for (i = 1; i <= JPP_POOLS_ROWS + 100; i++) {
        n_wrong += !jpp_pools_add(&table, owner, JPP_POOLS_MODULE, i, 1, 10, 1);
    }

    jpp_is_u64(n_wrong, 0, "all are added");
    jpp_ok(!jpp_pools_add(&table, 0, JPP_POOLS_BLOCKS, 0, 1, 10, 1),
           "but for what has no owner");
    jpp_is_u64(jpp_vec_count(table.rows, jpp_pools_row_t), JPP_POOLS_ROWS + 1,
               "one row for those past the limit");
    jpp_note_of("with all their bytes",
                jpp_vec_items(table.rows, jpp_pools_row_t)[JPP_POOLS_ROWS],
                class, bytes);
    jpp_shows_notes("the row of the others");
}


/* The largest are kept, in whatever order they come. */

JPP_TEST(jpp_pools_test_units)
{
    size_t             i, k, n;
    uint32_t           owner, client, seed, n_kept, n_wrong;
    jpp_pools_unit_t  *unit, *units;

    (void) jpp_pools_init(&table, &arena, JPP_POOLS_REQUESTS, 7);

    owner = jpp_pools_owner(&table, JPP_POOLS_REQUEST, 0, 0, 0);
    client = jpp_pools_owner(&table, JPP_POOLS_CLIENT_CONNECTION, 0, 0, 0);
    seed = 1;
    n_kept = n_wrong = 0;

    for (i = 0; i < 1000; i++) {

        /* every residue of 1009 but 0, in disorder */

        seed = seed * 11 % 1009;

        jpp_pools_begin(&table, i % 2 ? owner : client);
        (void) jpp_pools_add(&table, i % 2 ? owner : client, JPP_POOLS_BLOCKS,
                             0, 1, i % 2 ? seed / 16 : 100000, 0);
        unit = jpp_pools_end(&table);

        if (unit != NULL) {
            n_kept++;
            unit->age_msec = unit->bytes;
        }

        units = jpp_vec_items(table.units, jpp_pools_unit_t);
        n = jpp_vec_count(table.units, jpp_pools_unit_t);

        for (k = 0; k < n; k++) {
            n_wrong += units[k].bytes < units[jpp_less(k, 1) / 2].bytes
                       || units[k].age_msec != units[k].bytes;
        }
    }

    jpp_ok(n == 7 && units[0].bytes == 62, "as many as were wanted, the "
           "largest: %" PRIu64, units[0].bytes);
    jpp_is_u64(n_wrong, 0, "always a heap; what was filled in stays with it");
    jpp_is_u64(n_kept, 26, "and was asked for, of 500");
    jpp_is_u64(jpp_pools_owner_at(&table, owner)->n_units, 500,
               "all are counted");

    jpp_ok(jpp_pools_end(&table) == NULL, "no unit ends twice");

    (void) jpp_pools_init(&table, &arena, JPP_POOLS_CONNECTIONS, 0);

    jpp_pools_begin(&table, jpp_pools_owner(&table, JPP_POOLS_STREAM, 0, 0, 0));
    jpp_ok(jpp_pools_end(&table) == NULL, "nobody wants any");

    (void) jpp_pools_init(&table, &arena, JPP_POOLS_CONNECTIONS,
                          JPP_MAX_ROWS + 1);
    jpp_is_u64(table.top, JPP_MAX_ROWS, "nobody gets more than the limit");
}


static void
jpp_pools_note(const jpp_pools_unit_t *unit, const char *what)
{
    jpp_note_of(what, *unit, bytes, unused, objects, most_owner, most_class,
                most_bytes, age_msec, bound_size);
}


JPP_TEST(jpp_pools_test_sums)
{
    uint32_t           i, request, upstream;
    jpp_pools_unit_t  *unit;

    (void) jpp_pools_init(&table, &arena, JPP_POOLS_REQUESTS, 20);

    request = jpp_test_owner(&table, JPP_POOLS_REQUEST, "s", "/", NULL);
    upstream = jpp_test_owner(&table, JPP_POOLS_UPSTREAM, "s", "/", "u");

    jpp_pools_begin(&table, request);
    (void) jpp_pools_add(&table, request, JPP_POOLS_BLOCKS, 0, 1, 100, 50);
    (void) jpp_pools_add(&table, upstream, JPP_POOLS_BLOCKS, 0, 1, 60, 5);
    (void) jpp_pools_add(&table, request, JPP_POOLS_HEADERS, 0, 1, 120, 0);
    (void) jpp_pools_add(&table, upstream, JPP_POOLS_BLOCKS, 0, 1, 60, 5);
    unit = jpp_pools_end(&table);

    jpp_pools_note(unit, "two of four allocations hold most");
    jpp_is_str(jpp_pools_str(&table, unit->upstream).data, "u", "the upstream");

    /* more classes than are told apart */

    jpp_pools_begin(&table, request);

    for (i = 1; i <= JPP_POOLS_SUMS + 5; i++) {
        (void) jpp_pools_add(&table, request, JPP_POOLS_MODULE, i, 1, 10, 0);
    }

    unit = jpp_pools_end(&table);

    jpp_pools_note(unit, "all bytes count, six of them as \"other\"");

    for (i = 0; i < 2; i++) {
        (void) jpp_pools_add(&table, request, JPP_POOLS_BODY, 0, 2, 90, 30);
    }

    jpp_note_of("a row", jpp_vec_items(table.rows, jpp_pools_row_t)[
                             jpp_vec_count(table.rows, jpp_pools_row_t) - 1],
                objects, bytes, unused);
    jpp_shows_notes("sums of units");
}


/* A unit that is too large to be filled at once, and others meanwhile. */

JPP_TEST(jpp_pools_test_parked)
{
    uint32_t           owner, other;
    jpp_pools_open_t   parked;
    jpp_pools_unit_t  *unit;

    (void) jpp_pools_init(&table, &arena, JPP_POOLS_REQUESTS, 1);

    owner = jpp_test_owner(&table, JPP_POOLS_REQUEST, "s", "/", NULL);
    other = jpp_test_owner(&table, JPP_POOLS_REQUEST, "s", "/other", NULL);

    jpp_pools_begin(&table, owner);
    (void) jpp_pools_add(&table, owner, JPP_POOLS_BODY, 0, 1, 100, 0);
    jpp_pools_park(&table, &parked);

    jpp_pools_note(&parked.unit, "parked");
    parked.unit.age_msec = 7;
    parked.unit.bound_size = 8;

    jpp_ok(jpp_pools_end(&table) == NULL, "it is not open any more");
    (void) jpp_pools_add(&table, owner, JPP_POOLS_BODY, 0, 1, 5, 0);

    jpp_pools_begin(&table, other);
    (void) jpp_pools_add(&table, other, JPP_POOLS_BLOCKS, 0, 1, 300, 0);
    jpp_ok(jpp_pools_end(&table) != NULL, "another is the largest so far");

    table.open = parked;
    (void) jpp_pools_add(&table, owner, JPP_POOLS_BODY, 0, 1, 400, 0);
    unit = jpp_pools_end(&table);

    jpp_pools_note(unit, "with the rest it is, and nothing of the others");

    /* which is that of something else, once that is what it has most of */

    table.open = parked;
    (void) jpp_pools_add(&table, owner, JPP_POOLS_OTHER, 0, 1, 900, 0);
    unit = jpp_pools_end(&table);

    jpp_pools_note(unit, "more of another, of which no bound is known");
    jpp_shows_notes("a unit that is parked");
}


/* A name that is missing is missing in a list only. */

static jpp_code_t
jpp_pools_test_denied(void)
{
    bool  is_filled;

    if (!jpp_pools_init(&table, &arena, JPP_POOLS_REQUESTS, 20)) {
        return JPP_ERR_MEMORY;
    }

    is_filled = jpp_test_fill(&table);

    return !is_filled && jpp_pools_bytes() > 2000000 ? JPP_ERR_ARG
           : jpp_done_code(!table.facts.is_partial);
}


/* Every allocation fails once: never a crash, and never unnoticed. */

JPP_TEST(jpp_pools_test_memory)
{
    jpp_denies(&arena, jpp_test_anew(), 10, jpp_pools_test_denied());

    arena.fail_at = arena.n_calls + 1;
    jpp_is_u64(jpp_test_name(&table, JPP_POOLS_SERVER, "new"), 0, "no name");
}

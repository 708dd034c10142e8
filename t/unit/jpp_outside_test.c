
/*
 * Who has memory outside of pools: samples of a dump, less what a table of
 * pools has.
 */


#include "jpp_diagnosis.h"
#include "jpp_test_dump.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"
#include "jpp_test_pools.h"


#define JPP_OUTSIDE_STACK(n, owner)                                           \
    "@ 0x400201 0x400301\n  t*: 1: " n " [0: 0]\n"                            \
    "  t" owner ": 1: " n " [0: 0]\n"

/* 900 of /big, in two upstreams; 400 of connections; 5000 of no server */
#define JPP_OUTSIDE_DUMP                                                      \
    "heap_v2/1\n  t*: 1: 1 [0: 0]\n"                                          \
    "  t0: 1: 1 [0: 0] owner\t(event loop)\t(event loop)\n"                   \
    "  t1: 1: 1 [0: 0] owner\ta.example\t/big\tone\n"                         \
    "  t2: 1: 1 [0: 0] owner\ta.example\t/big\n"                              \
    "  t3: 1: 1 [0: 0] owner\ta.example\t(no location)\n"                     \
    "  t4: 1: 1 [0: 0] owner\tb.example\t/big\n"                              \
    JPP_OUTSIDE_STACK("5000", "0") JPP_OUTSIDE_STACK("500", "1")              \
    JPP_OUTSIDE_STACK("400", "2") JPP_OUTSIDE_STACK("400", "3")               \
    JPP_OUTSIDE_STACK("300", "4")                                             \
    JPP_TEST_MAPS


static jpp_pools_t    jpp_table;
static jpp_outside_t  jpp_outside;
static uint64_t       jpp_outside_others;  /* bytes of connections in pools */


/* TOTAL bytes are in no pool, and N in one of this owner. */

static void
jpp_outside_test_find(uint64_t total, jpp_pools_kind_t kind,
    const char *location, uint64_t n, const char *dump)
{
    jpp_test_anew();
    (void) jpp_pools_init(&jpp_table, &arena, JPP_POOLS_NO_UNITS, 0);

    jpp_table.facts.total = total + n + jpp_outside_others + 7;
    jpp_table.facts.outside_inherited = 7;

    (void) jpp_test_holds(&jpp_table, kind, "a.example", location, NULL, n);
    (void) jpp_test_holds(&jpp_table, JPP_POOLS_CLIENT_CONNECTION, "a.example",
                          NULL, NULL, jpp_outside_others);

    jpp_outside_find(&jpp_outside, &jpp_table, &arena, dump, strlen(dump));
    jpp_outside_tell(&jpp_outside, &jpp_table);
}


/* Notes who has them. */

static void
jpp_outside_test_note(uint64_t total, jpp_pools_kind_t kind,
    const char *location, uint64_t n, const char *dump)
{
    char                      place[JPP_POOLS_PLACE];
    const jpp_pools_owner_t  *owner;

    jpp_outside_test_find(total, kind, location, n, dump);
    jpp_note("%" PRIu64 " found, %" PRIu64 " told", jpp_outside.bytes,
             jpp_table.facts.outside_bytes);

    if (jpp_table.facts.outside_owner != 0) {
        owner = jpp_pools_owner_at(&jpp_table, jpp_table.facts.outside_owner);
        jpp_note("    kind %u, %s \"%s\" (%s)", owner->kind,
                 jpp_pools_str(&jpp_table, owner->server).data,
                 jpp_pools_str(&jpp_table, owner->location).data,
                 jpp_pools_place_text(&jpp_table, owner, place));
    }
}


/* What samples have less what pools hold; never more than there is. */

JPP_TEST(jpp_outside_test_owner)
{
    jpp_outside_test_note(1000, JPP_POOLS_REQUEST, "/other", 10000,
                          JPP_OUTSIDE_DUMP);
    jpp_outside_test_note(1800, JPP_POOLS_REQUEST, "/other", 1,
                          JPP_OUTSIDE_DUMP);
    jpp_outside_test_note(800, JPP_POOLS_UPSTREAM, "/big", 50,
                          JPP_OUTSIDE_DUMP);
    jpp_outside_test_note(800, JPP_POOLS_REQUEST, "/big", 600,
                          JPP_OUTSIDE_DUMP);
    jpp_outside_test_note(600, JPP_POOLS_CLIENT_CONNECTION, NULL, 200,
                          JPP_OUTSIDE_DUMP);

    /* those of no location are told from those of the one before */

    jpp_outside_others = 300;
    jpp_outside_test_note(500, JPP_POOLS_REQUEST, "/big", 600,
                          JPP_OUTSIDE_DUMP);
    jpp_outside_others = 0;

    jpp_shows_notes("owners");
}


JPP_TEST(jpp_outside_test_nobody)
{
    jpp_outside_test_note(1802, JPP_POOLS_REQUEST, "/other", 1,
                          JPP_OUTSIDE_DUMP);
    jpp_outside_test_note(100, JPP_POOLS_REQUEST, "/other", 1,
                          JPP_TEST_HEAD("1") JPP_OUTSIDE_STACK("500", "1")
                          JPP_TEST_MAPS);
    jpp_outside_test_note(100, JPP_POOLS_REQUEST, "/other", 1, "heap_v2/1\n");

    /* pools hold it all */

    jpp_outside_test_note(100, JPP_POOLS_REQUEST, "/big", 10000,
                          JPP_TEST_HEAD("1") JPP_TEST_MAPS);
    jpp_shows_notes("nobody");
}


/* Without memory, nobody has anything. */

JPP_TEST(jpp_outside_test_memory)
{
    jpp_arena_t  small;

    jpp_arena_init(&small, JPP_TEST_CAP);
    jpp_outside_test_find(1000, JPP_POOLS_REQUEST, "/other", 1, "");

    jpp_denies(&small, jpp_arena_fresh(&small, JPP_TEST_CAP), 3,
               (jpp_outside_find(&jpp_outside, &jpp_table, &small,
                                 JPP_OUTSIDE_DUMP,
                                 sizeof(JPP_OUTSIDE_DUMP) - 1),
                jpp_done_code(jpp_outside.bytes != 0)));
    jpp_is_u64(jpp_outside.bytes, 900, "and then who has them is known");
    jpp_arena_destroy(&small);
}


/* LOCATION, by UPSTREAM, has a block at LINE of FILE. */

static void
jpp_outside_test_place(const char *location, const char *upstream,
    const char *file, uint32_t line)
{
    const jpp_owner_raw_t  raw[JPP_ROOTS] = {
        { "a.example", 9 }, { location, strlen(location) },
        { upstream, strlen(upstream) }
    };

    jpp_owner_place(jpp_owner_name(raw),
                    (jpp_owner_raw_t) { file, strlen(file) }, line);
}


/* Nobody is in the middle of a request: the names say where blocks are. */

JPP_TEST(jpp_outside_test_places)
{
    static const char  file[] = "nginx.conf";

    jpp_outside_test_place("/other", "", file, 7);
    jpp_outside_test_place("/big", "", file, 41);
    jpp_outside_test_place("/big", "one", file, 41);
    jpp_outside_test_place("(no location)", "", file, 30);

    jpp_outside_test_note(1000, JPP_POOLS_REQUEST, "/other", 10000,
                          JPP_OUTSIDE_DUMP);
    jpp_outside_test_note(800, JPP_POOLS_REQUEST, "/big", 600,
                          JPP_OUTSIDE_DUMP);

    /* nobody has a place, and two blocks of these names are no place */

    jpp_owner_place(JPP_OWNER_NONE, (jpp_owner_raw_t) { file, 10 }, 1);
    jpp_outside_test_place("/big", "one", "other.conf", 41);
    jpp_outside_test_note(1000, JPP_POOLS_REQUEST, "/other", 10000,
                          JPP_OUTSIDE_DUMP);
    jpp_outside_test_place("/big", "one", file, 41);
    jpp_outside_test_note(1000, JPP_POOLS_REQUEST, "/other", 10000,
                          JPP_OUTSIDE_DUMP);
    jpp_shows_notes("places");
}

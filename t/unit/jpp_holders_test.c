
/*
 * Who holds memory: how rows of pools, and what is in no pool, become holders.
 */


#include "jpp_diagnosis.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"
#include "jpp_test_pools.h"


#define JPP_MIB  (1024 * 1024ULL)


static jpp_pools_t          jpp_pools;
static jpp_holders_t        jpp_holders;
static jpp_worker_t         jpp_worker;
static const jpp_holder_t  *jpp_first;


void
jpp_before_each(void)
{
    (void) jpp_pools_init(&jpp_pools, &arena, JPP_POOLS_REQUESTS, 4);
    jpp_holders_init(&jpp_holders, &arena);

    memset(&jpp_worker, 0, sizeof(jpp_worker_t));
    jpp_worker.who.generation = 1;
    jpp_worker.activity.usage.rss_anon = JPP_NONE;
}


static void
jpp_holders_test_add(uint32_t owner, jpp_pools_class_t class,
    const char *module, uint64_t bytes)
{
    uint32_t  name;

    name = jpp_test_name(&jpp_pools, JPP_POOLS_MODULE_NAME, module);

    (void) jpp_pools_add(&jpp_pools, owner, class, name, 1, bytes, 0);
}


/* A request that holds one buffer of BYTES for an upstream. */

static void
jpp_holders_test_unit(const char *server, const char *location,
    const char *prefix, uint64_t number, uint64_t bytes)
{
    uint32_t           owner;
    jpp_pools_unit_t  *unit;

    owner = jpp_test_owner(&jpp_pools, JPP_POOLS_REQUEST, server, location,
                           NULL);

    jpp_pools_begin(&jpp_pools, owner);
    jpp_holders_test_add(owner, JPP_POOLS_UPSTREAM_BUFFERS, NULL, bytes);
    unit = jpp_pools_end(&jpp_pools);

    unit->bound_module = jpp_test_name(&jpp_pools, JPP_POOLS_WORD, prefix);
    unit->bound_number = number;
    unit->bound_size = 4096;
}


static void
jpp_holders_test_pools(void)
{
    jpp_holders_pools(&jpp_holders, &jpp_worker, &jpp_pools);
}


/* The holders are shown as WHAT, and all starts anew. */

static void
jpp_holders_test_end(const char *what)
{
    size_t  i, n;

    n = jpp_holders_close(&jpp_holders, &jpp_first);

    for (i = 0; i < n; i++) {
        jpp_note_of("holder", jpp_first[i], who, what, where, lasting, bound,
                    place, units, n_units, bytes, worker_bytes, worker.pid);
    }

    jpp_shows_notes("%s", what);
    jpp_test_begin();
}


/* What has three quarters names the holder; of two parts of one size, and of
   no class that has a name, neither does. */

JPP_TEST(jpp_holders_test_mostly)
{
    uint32_t  owner;

    owner = jpp_test_owner(&jpp_pools, JPP_POOLS_REQUEST, "a", "/75", NULL);
    jpp_holders_test_add(owner, JPP_POOLS_BODY, NULL, 7500);
    jpp_holders_test_add(owner, JPP_POOLS_TLS, NULL, 2500);

    owner = jpp_test_owner(&jpp_pools, JPP_POOLS_REQUEST, "a", "/74", NULL);
    jpp_holders_test_add(owner, JPP_POOLS_TLS, NULL, 2300);
    jpp_holders_test_add(owner, JPP_POOLS_BODY, NULL, 6600);

    owner = jpp_test_owner(&jpp_pools, JPP_POOLS_REQUEST, "b", "/75", NULL);
    jpp_holders_test_add(owner, JPP_POOLS_OTHER, "m", 100);

    jpp_holders_test_pools();
    jpp_holders_test_end("what has three quarters names the holder");
}


/* Parts of one class and module are one, of several workers as of one. */

JPP_TEST(jpp_holders_test_modules)
{
    unsigned  i;
    uint32_t  owner;

    owner = jpp_test_owner(&jpp_pools, JPP_POOLS_REQUEST, "a", "/one", NULL);
    jpp_holders_test_add(owner, JPP_POOLS_MODULE, "gzip", 5000);
    jpp_holders_test_add(owner, JPP_POOLS_MODULE, "gzap", 900);
    jpp_holders_test_add(owner, JPP_POOLS_MODULE, "gz", 1000);
    jpp_holders_test_add(owner, JPP_POOLS_BODY, "gzip", 100);

    owner = jpp_test_owner(&jpp_pools, JPP_POOLS_REQUEST, "a", "/two", NULL);
    jpp_holders_test_add(owner, JPP_POOLS_MODULE, "gzip", 3000);
    jpp_holders_test_add(owner, JPP_POOLS_MODULE, "gzap", 3000);

    for (i = 0; i < 3; i++) {
        jpp_holders_test_pools();
    }

    jpp_holders_test_end("no module has most, in three workers");

    owner = jpp_test_owner(&jpp_pools, JPP_POOLS_REQUEST, "a", "/one", NULL);
    jpp_holders_test_add(owner, JPP_POOLS_MODULE, "gzip", 4000);
    jpp_holders_test_pools();
    jpp_holders_test_end("a module alone");
}


/* The largest unit has the values, unless another class has most. */

JPP_TEST(jpp_holders_test_units)
{
    uint32_t  owner;

    jpp_holders_test_unit("a", "/", "fastcgi", 8, 40000);
    jpp_holders_test_unit("a", "/", "proxy", 9, 90000);
    jpp_holders_test_unit("a", "/", "scgi", 7, 80000);
    jpp_holders_test_unit("a", "/none", NULL, 0, 40000);

    owner = jpp_test_owner(&jpp_pools, JPP_POOLS_REQUEST, "a", "/blocks", NULL);
    jpp_pools_begin(&jpp_pools, owner);
    (void) jpp_pools_end(&jpp_pools);
    jpp_holders_test_add(owner, JPP_POOLS_BLOCKS, NULL, 30000);

    jpp_holders_test_pools();
    jpp_holders_test_end("the largest of three units has the values");

    jpp_holders_test_unit("a", "/", "proxy", 9, 1000);

    owner = jpp_test_owner(&jpp_pools, JPP_POOLS_REQUEST, "a", "/", NULL);
    jpp_holders_test_add(owner, JPP_POOLS_BODY, NULL, 30000);

    jpp_holders_test_pools();
    jpp_holders_test_end("unless another class has most");
}


/* Where a location is, in the newest configuration, if it is there once. */

JPP_TEST(jpp_holders_test_places)
{
    size_t    i;
    uint32_t  owner;

    static const struct {
        uint64_t     generation;
        const char  *file;
        uint32_t     line;
    } steps[] = {
        { 2, NULL, 0 }, { 2, "nginx.conf", 41 }, { 2, "nginx.conf", 41 },
        { 1, "nginx.conf", 7 }, { 3, "sites/a\x1b", 9 }, { 3, "sites/b", 9 },
        { 3, "sites/a\x1b", 9 }, { 4, "nginx.conf", JPP_POOLS_SEVERAL },
        { 4, "nginx.conf", 1 },
        { 5, "a/very/long/name/of/a/directory/and/then/a/file", 1 }
    };

    for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        (void) jpp_pools_init(&jpp_pools, &arena, JPP_POOLS_NO_UNITS, 0);

        owner = jpp_test_owner(&jpp_pools, JPP_POOLS_REQUEST, "a", "/", NULL);
        jpp_holders_test_add(owner, JPP_POOLS_BODY, NULL, 100);
        jpp_worker.who.generation = steps[i].generation;

        if (steps[i].line != 0) {
            jpp_test_place(&jpp_pools, owner, steps[i].file, steps[i].line);
        }

        jpp_holders_test_pools();
        (void) jpp_holders_close(&jpp_holders, &jpp_first);
        jpp_note("step %zu: \"%s\"", i, jpp_first[0].place);
        jpp_holders.list->len = 0;
    }

    /* two blocks of the same names in one table */

    (void) jpp_pools_init(&jpp_pools, &arena, JPP_POOLS_NO_UNITS, 0);
    owner = jpp_test_owner(&jpp_pools, JPP_POOLS_REQUEST, "a", "/", NULL);
    jpp_holders_test_add(owner, JPP_POOLS_BODY, NULL, 100);
    jpp_test_place(&jpp_pools, owner, "nginx.conf", 1);
    jpp_test_place(&jpp_pools, owner, "nginx.conf", 2);
    jpp_test_place(&jpp_pools, owner, "nginx.conf", 2);
    jpp_pools_place(&jpp_pools, 0, 1, 1);
    jpp_worker.who.generation = 6;
    jpp_holders_test_pools();
    jpp_holders_test_end("places, and of two blocks nobody knows which");
}


/* What each kind of owner is called; those of one size by their names. */

JPP_TEST(jpp_holders_test_kinds)
{
    size_t    i;
    uint32_t  owner;

    static const jpp_pools_kind_t  kinds[] = {
        JPP_POOLS_CLIENT_CONNECTION, JPP_POOLS_SLOTS_USED,
        JPP_POOLS_MODULE_CONNECTION, JPP_POOLS_KEEPALIVE, JPP_POOLS_UPSTREAM,
        JPP_POOLS_MAIL, JPP_POOLS_STREAM, JPP_POOLS_OPEN_FILES,
        JPP_POOLS_CONFIGURATION, JPP_POOLS_RESOLVER
    };

    for (i = sizeof(kinds) / sizeof(kinds[0]); i-- > 0; /* void */ ) {
        owner = jpp_test_owner(&jpp_pools, kinds[i], "s", "l", "t");
        jpp_pools_owner_at(&jpp_pools, owner)->n_units = 2;
        jpp_holders_test_add(owner, JPP_POOLS_ITSELF, NULL, 100);
    }

    jpp_holders_test_pools();
    jpp_holders_test_end("each kind of owner");
}


/* What was inherited counts once, and not more than there is. */

JPP_TEST(jpp_holders_test_inherited)
{
    uint32_t  owner;

    owner = jpp_test_owner(&jpp_pools, JPP_POOLS_OPEN_FILES, NULL, NULL, NULL);
    jpp_holders_test_add(owner, JPP_POOLS_ITSELF, NULL, 5000);
    (void) jpp_pools_add_inherited(&jpp_pools, owner, JPP_POOLS_ITSELF, 1, 3000,
                                   0);

    owner = jpp_test_owner(&jpp_pools, JPP_POOLS_RESOLVER, NULL, NULL, NULL);
    jpp_holders_test_add(owner, JPP_POOLS_ITSELF, NULL, 400);
    (void) jpp_pools_add_inherited(&jpp_pools, owner, JPP_POOLS_ITSELF, 1, 900,
                                   0);

    owner = jpp_test_owner(&jpp_pools, JPP_POOLS_KEEPALIVE, NULL, NULL, "up");
    jpp_holders_test_add(owner, JPP_POOLS_ITSELF, NULL, 300);
    (void) jpp_pools_add_inherited(&jpp_pools, owner, JPP_POOLS_ITSELF, 1, 200,
                                   0);

    jpp_holders_test_pools();
    jpp_worker.who.pid = 2;
    jpp_holders_test_pools();
    jpp_holders_test_end("once, and no more than there is; the first has as "
                         "much");
}


/* What has an owner by samples is the owner's, and not more than there is. */

JPP_TEST(jpp_holders_test_sampled)
{
    jpp_pools_facts_t  *facts;

    facts = &jpp_pools.facts;
    facts->has_total = 1;
    facts->total = 900;
    facts->outside_bytes = 600;
    facts->outside_owner = jpp_test_owner(&jpp_pools, JPP_POOLS_REQUEST, "a",
                                          "/", NULL);
    jpp_test_place(&jpp_pools, facts->outside_owner, "nginx.conf", 7);
    jpp_holders_test_pools();

    facts->outside_bytes = 1000;
    facts->outside_owner = jpp_test_owner(&jpp_pools,
                                          JPP_POOLS_CLIENT_CONNECTION, "a",
                                          NULL, NULL);
    jpp_holders_test_pools();
    jpp_holders_test_end("an owner by samples, of two workers");
}


JPP_TEST(jpp_holders_test_outside)
{
    static char  name[JPP_POOLS_NAME + 10];
    jpp_zone_t   zone = { 0 };

    jpp_pools.facts.total = 50 * JPP_MIB;
    jpp_pools.facts.outside_inherited = 20 * JPP_MIB;
    jpp_holders_test_pools();

    jpp_pools.facts.has_total = 1;
    jpp_holders_test_pools();
    jpp_pools.facts.outside_inherited = 60 * JPP_MIB;
    jpp_holders_test_pools();

    /* nothing is known of it */

    jpp_worker.stats.resident = 3 * JPP_MIB;
    jpp_holders_worker(&jpp_holders, &jpp_worker);
    jpp_worker.activity.usage.rss_anon = 10 * JPP_MIB;
    jpp_holders_worker(&jpp_holders, &jpp_worker);
    jpp_worker.has_stats = true;
    jpp_worker.activity.usage.rss_anon = JPP_NONE;
    jpp_holders_worker(&jpp_holders, &jpp_worker);

    jpp_worker.activity.usage.rss_anon = 10 * JPP_MIB;
    jpp_holders_worker(&jpp_holders, &jpp_worker);
    jpp_worker.jemalloc.mappers = 1 << JPP_MAPPER_LUAJIT;
    jpp_worker.activity.usage.rss_anon = 8 * JPP_MIB;
    jpp_holders_worker(&jpp_holders, &jpp_worker);
    jpp_worker.activity.usage.rss_anon = 3 * JPP_MIB;
    jpp_holders_worker(&jpp_holders, &jpp_worker);

    memset(name, 'z', sizeof(name));
    zone.name = name;
    zone.name_len = 3;
    zone.size = 2 * JPP_MIB;
    zone.free = JPP_MIB;
    jpp_holders_zone(&jpp_holders, &zone);

    /* as much of a name as a key has room for, and the profiler's own */

    zone.name_len = JPP_POOLS_NAME;
    zone.size++;
    jpp_holders_zone(&jpp_holders, &zone);
    zone.name_len++;
    zone.size++;
    jpp_holders_zone(&jpp_holders, &zone);
    zone.is_own = true;
    zone.name_len = 1;
    jpp_holders_zone(&jpp_holders, &zone);

    jpp_holders_test_end("outside of pools; both long names are one");
}


static jpp_code_t
jpp_holders_test_denied(void)
{
    jpp_holders_init(&jpp_holders, &arena);
    jpp_holders_test_pools();

    /* a second table is of no use then */

    if (jpp_holders.failed) {
        arena.fail_at = 0;
        jpp_holders_test_pools();
    }

    return jpp_done_code(jpp_holders_close(&jpp_holders, &jpp_first) != 0);
}


/* Without memory, at whatever moment, there are no holders. */

JPP_TEST(jpp_holders_test_memory)
{
    jpp_denies(&arena, jpp_test_begin();
               jpp_holders_test_unit("a", "/one", "proxy", 8, 40000);
               jpp_holders_test_unit("a", "/two", "proxy", 8, 40000),
               10, jpp_holders_test_denied());
}

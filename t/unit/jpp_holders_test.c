
/*
 * Who holds memory: how rows of pools, and what is in no pool, become holders.
 */


#include "jpp_holders.h"
#include "jpp_jemalloc.h"
#include "jpp_test_main.h"
#include "jpp_test_pools.h"


#define JPP_HOLDERS_CAP  (64 * 1024 * 1024)
#define JPP_MIB          (1024 * 1024ULL)


static jpp_arena_t          jpp_arena;
static jpp_pools_t          jpp_pools;
static jpp_holders_t        jpp_holders;
static jpp_worker_t         jpp_worker;
static const jpp_holder_t  *jpp_first;


static void
jpp_holders_test_begin(void)
{
    jpp_arena_init(&jpp_arena, JPP_HOLDERS_CAP);
    (void) jpp_pools_init(&jpp_pools, &jpp_arena, JPP_POOLS_REQUESTS, 4);
    jpp_holders_init(&jpp_holders, &jpp_arena);

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


/* Holder I is WHO, bounded by BOUND, and holds BYTES. */

static void
jpp_holders_test_is(size_t i, const char *who, const char *bound,
    uint64_t bytes)
{
    jpp_is_str(jpp_first[i].who, who, "holder %zu", i);
    jpp_is_str(jpp_first[i].bound, bound, "its directive");
    jpp_is_u64(jpp_first[i].bytes, bytes, "its bytes");
}


static void
jpp_holders_test_end(size_t n)
{
    jpp_first = NULL;
    jpp_is_u64(jpp_holders_close(&jpp_holders, &jpp_first), n, "holders");
}


/* What has three quarters names the holder; of two parts of one size, and of
   no class that has a name, neither does. */

JPP_TEST(jpp_holders_test_mostly)
{
    uint32_t  owner;

    jpp_holders_test_begin();

    owner = jpp_test_owner(&jpp_pools, JPP_POOLS_REQUEST, "a", "/75", NULL);
    jpp_holders_test_add(owner, JPP_POOLS_BODY, NULL, 7500);
    jpp_holders_test_add(owner, JPP_POOLS_TLS, NULL, 2500);

    owner = jpp_test_owner(&jpp_pools, JPP_POOLS_REQUEST, "a", "/74", NULL);
    jpp_holders_test_add(owner, JPP_POOLS_TLS, NULL, 2300);
    jpp_holders_test_add(owner, JPP_POOLS_BODY, NULL, 6600);

    owner = jpp_test_owner(&jpp_pools, JPP_POOLS_REQUEST, "a", "/other", NULL);
    jpp_holders_test_add(owner, JPP_POOLS_OTHER, "m", 100);

    jpp_holders_test_pools();
    jpp_holders_test_end(3);

    jpp_holders_test_is(0, "request bodies of location /75 of a",
                        "client_body_buffer_size", 10000);
    jpp_holders_test_is(1, "requests of location /74 of a", "", 8900);
    jpp_holders_test_is(2, "requests of location /other of a", "", 100);

    jpp_arena_destroy(&jpp_arena);
}


/* Parts of one class and module are one, of several workers as of one. */

JPP_TEST(jpp_holders_test_modules)
{
    unsigned  i;
    uint32_t  owner;

    jpp_holders_test_begin();

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

    jpp_holders_test_end(2);

    jpp_holders_test_is(0, "requests of location /one of a", "", 21000);
    jpp_holders_test_is(1, "requests of location /two of a", "", 18000);
    jpp_is_u64(jpp_first[0].worker_bytes, 7000, "the most of one worker");

    jpp_arena_destroy(&jpp_arena);
    jpp_holders_test_begin();

    owner = jpp_test_owner(&jpp_pools, JPP_POOLS_REQUEST, "a", "/one", NULL);
    jpp_holders_test_add(owner, JPP_POOLS_MODULE, "gzip", 4000);
    jpp_holders_test_pools();
    jpp_holders_test_end(1);

    jpp_holders_test_is(0, "allocations by gzip for requests of location "
                        "/one of a", "gzip_window, gzip_hash, gzip_buffers",
                        4000);

    jpp_arena_destroy(&jpp_arena);
}


/* The largest unit has the values, unless another class has most. */

JPP_TEST(jpp_holders_test_units)
{
    uint32_t  owner;

    jpp_holders_test_begin();

    jpp_holders_test_unit("a", "/", "fastcgi", 8, 40000);
    jpp_holders_test_unit("a", "/", "proxy", 9, 90000);
    jpp_holders_test_unit("a", "/", "scgi", 7, 80000);
    jpp_holders_test_unit("a", "/none", NULL, 0, 40000);

    owner = jpp_test_owner(&jpp_pools, JPP_POOLS_REQUEST, "a", "/blocks", NULL);
    jpp_pools_begin(&jpp_pools, owner);
    (void) jpp_pools_end(&jpp_pools);
    jpp_holders_test_add(owner, JPP_POOLS_BLOCKS, NULL, 30000);

    jpp_holders_test_pools();
    jpp_holders_test_end(3);

    jpp_holders_test_is(0, "upstream buffers of location / of a",
                        "proxy_buffers 9 4k", 210000);
    jpp_is_u64(jpp_first[0].n_units, 3, "requests");
    jpp_holders_test_is(1, "upstream buffers of location /none of a",
                        "*_buffers", 40000);
    jpp_holders_test_is(2, "pools of location /blocks of a",
                        "request_pool_size", 30000);

    jpp_arena_destroy(&jpp_arena);
    jpp_holders_test_begin();

    jpp_holders_test_unit("a", "/", "proxy", 9, 1000);

    owner = jpp_test_owner(&jpp_pools, JPP_POOLS_REQUEST, "a", "/", NULL);
    jpp_holders_test_add(owner, JPP_POOLS_BODY, NULL, 30000);

    jpp_holders_test_pools();
    jpp_holders_test_end(1);

    jpp_holders_test_is(0, "request bodies of location / of a",
                        "client_body_buffer_size", 31000);

    jpp_arena_destroy(&jpp_arena);
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
        const char  *place;
    } steps[] = {
        { 2, NULL, 0, "" },
        { 2, "nginx.conf", 41, "nginx.conf:41" },
        { 2, "nginx.conf", 41, "nginx.conf:41" },
        { 1, "nginx.conf", 7, "nginx.conf:41" },
        { 3, "sites/a\x1b", 9, "sites/a\\x1b:9" },
        { 3, "sites/b", 9, "" },
        { 3, "sites/a\x1b", 9, "" },
        { 4, "nginx.conf", JPP_POOLS_SEVERAL, "nginx.conf:4294967295" },
        { 4, "nginx.conf", 1, "" },
        { 5, "a/very/long/name/of/a/directory/and/then/a/file", 1,
          "a/very/long/name/o...ory/and/then/a/file:1" }
    };

    for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {

        if (i == 0) {
            jpp_holders_test_begin();
        }

        (void) jpp_pools_init(&jpp_pools, &jpp_arena, JPP_POOLS_NO_UNITS, 0);

        owner = jpp_test_owner(&jpp_pools, JPP_POOLS_REQUEST, "a", "/", NULL);
        jpp_holders_test_add(owner, JPP_POOLS_BODY, NULL, 100);
        jpp_worker.who.generation = steps[i].generation;

        if (steps[i].line != 0) {
            jpp_test_place(&jpp_pools, owner, steps[i].file, steps[i].line);
        }

        jpp_holders_test_pools();
        (void) jpp_holders_close(&jpp_holders, &jpp_first);
        jpp_is_str(jpp_first[0].place, steps[i].place, "step %zu", i);
        jpp_holders.list->len = 0;
    }

    /* two blocks of the same names in one table */

    (void) jpp_pools_init(&jpp_pools, &jpp_arena, JPP_POOLS_NO_UNITS, 0);
    owner = jpp_test_owner(&jpp_pools, JPP_POOLS_REQUEST, "a", "/", NULL);
    jpp_holders_test_add(owner, JPP_POOLS_BODY, NULL, 100);
    jpp_test_place(&jpp_pools, owner, "nginx.conf", 1);
    jpp_test_place(&jpp_pools, owner, "nginx.conf", 2);
    jpp_test_place(&jpp_pools, owner, "nginx.conf", 2);
    jpp_pools_place(&jpp_pools, 0, 1, 1);
    jpp_worker.who.generation = 6;
    jpp_holders_test_pools();
    (void) jpp_holders_close(&jpp_holders, &jpp_first);
    jpp_is_str(jpp_first[0].place, "", "nobody knows which");

    jpp_arena_destroy(&jpp_arena);
}


/* What each kind of owner is called; those of one size by their names. */

JPP_TEST(jpp_holders_test_kinds)
{
    size_t    i;
    uint32_t  owner;

    static const struct {
        jpp_pools_kind_t   kind;
        const char        *who;
        const char        *bound;
        uint64_t           n_units;
    } kinds[] = {
        { JPP_POOLS_CLIENT_CONNECTION, "client connections of server s", "",
          2 },
        { JPP_POOLS_SLOTS_USED, "connection slots", "worker_connections", 0 },
        { JPP_POOLS_MODULE_CONNECTION, "connections of module t", "", 2 },
        { JPP_POOLS_KEEPALIVE, "idle connections of upstream t", "keepalive",
          2 },
        { JPP_POOLS_UPSTREAM, "requests of location l of s", "", 0 },
        { JPP_POOLS_MAIL, "sessions of mail server t", "", 2 },
        { JPP_POOLS_STREAM, "sessions of stream server t", "", 2 },
        { JPP_POOLS_OPEN_FILES, "the cache of open files", "open_file_cache",
          0 },
        { JPP_POOLS_CONFIGURATION, "the configuration of generation 1", "", 0 },
        { JPP_POOLS_RESOLVER, "the resolver's cache", "", 0 }
    };

    jpp_holders_test_begin();

    for (i = sizeof(kinds) / sizeof(kinds[0]); i-- > 0; /* void */ ) {
        owner = jpp_test_owner(&jpp_pools, kinds[i].kind, "s", "l", "t");
        jpp_pools_owner_at(&jpp_pools, owner)->n_units = 2;
        jpp_holders_test_add(owner, JPP_POOLS_ITSELF, NULL, 100);
    }

    jpp_holders_test_pools();
    jpp_holders_test_end(sizeof(kinds) / sizeof(kinds[0]));

    for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        jpp_holders_test_is(i, kinds[i].who, kinds[i].bound, 100);
        jpp_is_u64(jpp_first[i].n_units, kinds[i].n_units, "its units");
    }

    jpp_arena_destroy(&jpp_arena);
}


/* What was inherited counts once, and not more than there is. */

JPP_TEST(jpp_holders_test_inherited)
{
    uint32_t  owner;

    jpp_holders_test_begin();

    owner = jpp_test_owner(&jpp_pools, JPP_POOLS_OPEN_FILES, NULL, NULL, NULL);
    jpp_holders_test_add(owner, JPP_POOLS_ITSELF, NULL, 5000);
    (void) jpp_pools_add_inherited(&jpp_pools, owner, JPP_POOLS_ITSELF, 1, 3000,
                                   0);

    owner = jpp_test_owner(&jpp_pools, JPP_POOLS_RESOLVER, NULL, NULL, NULL);
    jpp_holders_test_add(owner, JPP_POOLS_ITSELF, NULL, 400);
    (void) jpp_pools_add_inherited(&jpp_pools, owner, JPP_POOLS_ITSELF, 1, 900,
                                   0);

    jpp_holders_test_pools();
    jpp_worker.who.pid = 2;
    jpp_holders_test_pools();
    jpp_holders_test_end(2);

    jpp_holders_test_is(0, "the cache of open files", "open_file_cache",
                        2 * 2000 + 3000);
    jpp_is_u64((uint64_t) jpp_first[0].worker.pid, 0, "the first has as much");
    jpp_holders_test_is(1, "the resolver's cache", "", 400);

    jpp_arena_destroy(&jpp_arena);
}


JPP_TEST(jpp_holders_test_outside)
{
    static char  name[JPP_POOLS_NAME + 10];
    jpp_zone_t   zone;

    jpp_holders_test_begin();

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
    memset(&zone, 0, sizeof(jpp_zone_t));
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

    jpp_holders_test_end(5);

    jpp_holders_test_is(0, "malloc outside of nginx's pools",
                        "see heap?by=location&format=top", 30 * JPP_MIB);
    jpp_holders_test_is(1, "anonymous maps that are not malloc's", "",
                        7 * JPP_MIB);
    jpp_holders_test_is(2, "LuaJIT's heap", "", 5 * JPP_MIB);
    jpp_is_u64(jpp_first[3].bytes, JPP_MIB + 2, "both long names are one");
    jpp_holders_test_is(4, "zone zzz", "", JPP_MIB);

    jpp_arena_destroy(&jpp_arena);
}


/* Without memory, at whatever moment, there are no holders. */

JPP_TEST(jpp_holders_test_memory)
{
    uint64_t  n, start;

    for (n = 1; n < 1000; n++) {
        jpp_holders_test_begin();

        jpp_holders_test_unit("a", "/one", "proxy", 8, 40000);
        jpp_holders_test_unit("a", "/two", "proxy", 8, 40000);

        jpp_arena.fail_at = jpp_arena.n_calls + n;
        start = jpp_arena.fail_at;

        jpp_holders_init(&jpp_holders, &jpp_arena);
        jpp_holders_test_pools();
        jpp_first = NULL;

        if (jpp_arena.n_calls >= start) {
            jpp_ok(jpp_holders.failed, "allocation %" PRIu64, n);
        }

        jpp_arena.fail_at = jpp_holders.failed ? 0 : start;

        /* a second table is of no use then */

        if (jpp_holders.failed) {
            jpp_holders_test_pools();
        }

        if (jpp_holders_close(&jpp_holders, &jpp_first) != 0) {
            jpp_arena_destroy(&jpp_arena);
            break;
        }

        jpp_arena_destroy(&jpp_arena);
    }

    jpp_ok(n > 10 && n < 1000, "%" PRIu64 " of them", n);
}


/*
 * The bytes of a table: there and back, and whatever else may be in their
 * place.
 */


#include "jpp_test_golden.h"
#include "jpp_test_main.h"
#include "jpp_test_pools.h"


static jpp_pools_t  table, loaded;
static jpp_vec_t   *bytes;


void
jpp_before_each(void)
{
    (void) jpp_pools_init(&table, &arena, JPP_POOLS_REQUESTS, 20);
    jpp_ok(jpp_test_fill(&table), "a table");
    bytes = jpp_test_bytes(&table);
}


static bool
jpp_pools_same(const jpp_vec_t *a, const jpp_vec_t *b)
{
    return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}


/* Loads the LEN bytes at DATA; an error is noted. */

static jpp_code_t
jpp_pools_load_of(const void *data, size_t len, const char *what)
{
    jpp_code_t  rc;

    rc = jpp_pools_load(&loaded, &arena, data, len, &err);

    if (rc != JPP_OK) {
        jpp_note("%s: code %d, %s", what, rc, err.text);
    }

    return rc;
}


JPP_TEST(jpp_pools_test_back)
{
    char        longest[JPP_POOLS_NAME + 1];
    size_t      i, n, n_wrong;
    jpp_str_t   a, b;
    jpp_vec_t  *again;

    jpp_is_u64(jpp_pools_load(&loaded, &arena, (char *) bytes->data,
                              bytes->len, &err),
               JPP_OK, "it is loaded: %s", err.text);

    n = jpp_vec_count(table.names, jpp_str_t);
    n_wrong = jpp_vec_count(loaded.names, jpp_str_t) != n;

    for (i = 1; n_wrong == 0 && i <= n; i++) {
        a = jpp_pools_str(&table, (uint32_t) i);
        b = jpp_pools_str(&loaded, (uint32_t) i);

        n_wrong += a.len != b.len || memcmp(a.data, b.data, a.len) != 0;
    }

    jpp_is_u64(n_wrong, 0, "its names");
    jpp_ok(jpp_pools_same(table.owners, loaded.owners), "its owners");
    jpp_ok(jpp_pools_same(table.rows, loaded.rows), "its rows");
    jpp_ok(jpp_pools_same(table.units, loaded.units), "its units");
    jpp_ok(memcmp(&table.facts, &loaded.facts, sizeof(table.facts)) == 0,
           "its facts");

    again = jpp_test_bytes(&loaded);

    jpp_ok(jpp_pools_same(bytes, again), "the same bytes again");

    /* an empty table is one, too: a worker without a connection */

    (void) jpp_pools_init(&loaded, &arena, JPP_POOLS_NO_UNITS, 0);
    again = jpp_test_bytes(&loaded);

    jpp_is_u64(jpp_pools_load(&loaded, &arena, (char *) again->data,
                              again->len, &err),
               JPP_OK, "an empty table: %s", err.text);

    /* the longest name, one at the end, and one that goes on behind it */

    memset(longest, 'n', JPP_POOLS_NAME);
    longest[JPP_POOLS_NAME] = '\0';

    (void) jpp_test_name(&loaded, JPP_POOLS_LOCATION, longest);
    (void) jpp_test_name(&loaded, JPP_POOLS_SERVER, "a.example");
    again = jpp_test_bytes(&loaded);
    n = again->len - sizeof("a.example") + 1 - sizeof(uint32_t);

    for (i = 0; i < 2; i++) {
        again->data[n] += (uint8_t) i;
        jpp_is_u64(jpp_pools_load(&loaded, &arena, (char *) again->data,
                                  again->len, &err),
                   i == 0 ? JPP_OK : JPP_ERR_INPUT, "a name of %u bytes",
                   again->data[n]);
    }

    jpp_is_u64(strtoul(strstr(err.text, "byte ") + 5, NULL, 10), n,
               "where it begins");
}


/* A writer that was killed leaves any part of it. */

JPP_TEST(jpp_pools_test_cut)
{
    size_t  len, n_wrong;

    n_wrong = 0;

    for (len = 0; len < bytes->len; len++) {
        n_wrong += jpp_pools_load(&loaded, &arena, (char *) bytes->data, len,
                                  &err)
                   != JPP_ERR_CUT;
    }

    jpp_is_u64(n_wrong, 0, "every part of it is cut");
    (void) jpp_pools_load_of(bytes->data, bytes->len - 1, "all but a byte");
    (void) jpp_pools_load_of("", 0, "nothing at all");
    jpp_shows_notes("what was cut");
}


JPP_TEST(jpp_pools_test_other)
{
    char  copy[4096];

    memcpy(copy, bytes->data, bytes->len);
    copy[bytes->len] = '\0';

    (void) jpp_pools_load_of(copy, bytes->len + 1, "a byte more");
    copy[7]++;
    (void) jpp_pools_load_of(copy, bytes->len, "another version");
    (void) jpp_pools_load_of("heap_v2/524288\n", 15, "a dump of the heap");
    jpp_shows_notes("what is no table");
}


/* Each kind of field, out of bounds by one. */

JPP_TEST(jpp_pools_test_invalid)
{
    char               *copy;
    size_t              i;
    jpp_vec_t          *out;
    jpp_pools_t         bad;
    jpp_pools_row_t    *row;
    jpp_pools_unit_t   *unit;
    jpp_pools_owner_t  *owner;

    bad = table;

    owner = jpp_pools_owner_at(&bad, 1);
    row = jpp_vec_items(bad.rows, jpp_pools_row_t);
    unit = jpp_vec_items(bad.units, jpp_pools_unit_t);

#define JPP_BAD(field, value, what)                                           \
    do {                                                                      \
        __typeof__(field)  was = (field);                                     \
                                                                              \
        (field) = (__typeof__(field)) (value);                                \
        out = jpp_test_bytes(&bad);                                           \
        (field) = was;                                                        \
                                                                              \
        (void) jpp_pools_load_of(out->data, out->len, what);                  \
    } while (0)

    JPP_BAD(bad.facts.is_partial, 2, "is partial");
    JPP_BAD(bad.facts.has_total, 2, "a boolean");
    JPP_BAD(bad.facts.outside_owner, 1000, "an owner of facts");
    JPP_BAD(bad.facts.total, (uint64_t) INT64_MAX + 1, "an amount");
    JPP_BAD(bad.facts.longest_nanos, UINT64_MAX, "the last amount");
    JPP_BAD(owner->kind, JPP_POOLS_KINDS, "a kind");
    JPP_BAD(owner->server, jpp_vec_count(bad.names, jpp_str_t) + 1, "a name");
    JPP_BAD(row->owner, 0, "no owner");
    JPP_BAD(row->owner, jpp_vec_count(bad.owners, jpp_pools_owner_t) + 1,
            "an owner");
    JPP_BAD(row->class, JPP_POOLS_CLASSES, "a class");
    JPP_BAD(unit->protocol, JPP_POOLS_PROTOCOLS, "a protocol");
    JPP_BAD(unit->client_len, JPP_POOLS_CLIENT + 1, "a client's length");
    JPP_BAD(unit->uri_len, JPP_POOLS_URI + 1, "a URI's length");

    /* numbers of records that cannot be there take no memory */

    for (i = 0; i < 5; i++) {
        copy = jpp_arena_alloc(&arena, bytes->len);
        memcpy(copy, bytes->data, bytes->len);
        memset(copy + 16 + 4 * jpp_smaller(i, 3), i < 4 ? 0xff : 0, 4);

        (void) jpp_pools_load_of(copy, bytes->len,
                                 i < 4 ? "2^32 records" : "and no unit");
    }

    jpp_shows_notes("what is out of bounds by one");

    jpp_ok(arena.peak < 32 << 20, "%zu bytes mapped", arena.peak);
}


/* Each byte changed: whatever is loaded can be written again. */

JPP_TEST(jpp_pools_test_flipped)
{
    char         *copy;
    size_t        i;
    jpp_code_t    rc;
    unsigned      n_wrong, n_loaded;
    jpp_arena_t   part;

    copy = malloc(bytes->len);
    n_wrong = 0;
    n_loaded = 0;

    for (i = 0; i < bytes->len; i++) {
        memcpy(copy, bytes->data, bytes->len);
        copy[i] = (char) (copy[i] ^ 0x81);

        jpp_arena_init(&part, JPP_TEST_CAP);

        rc = jpp_pools_load(&loaded, &part, copy, bytes->len, &err);

        n_wrong += rc != JPP_OK && rc != JPP_ERR_INPUT && rc != JPP_ERR_CUT;
        n_loaded += rc == JPP_OK;

        if (rc == JPP_OK && jpp_test_bytes(&loaded) == NULL) {
            n_wrong++;
        }

        jpp_arena_destroy(&part);
    }

    free(copy);

    jpp_is_u64(n_wrong, 0, "no error but the two");
    jpp_ok(n_loaded != 0, "%u of %zu are tables still", n_loaded, bytes->len);
}


JPP_TEST(jpp_pools_test_save)
{
    int      fd;
    char     copy[4096];
    ssize_t  n;

    fd = memfd_create("jpp_pools", 0);

    jpp_is_u64(jpp_pools_save(&table, fd, &err), JPP_OK, "into a file");

    n = pread(fd, copy, sizeof(copy), 0);

    jpp_ok((size_t) n == bytes->len && memcmp(copy, bytes->data, (size_t) n)
           == 0, "which has the same bytes");
    close(fd);

    fd = open("/dev/full", O_WRONLY);

    jpp_is_u64(jpp_pools_save(&table, fd, &err), JPP_ERR_SYS,
               "into one without room");
    jpp_is_i64(err.sys_errno, ENOSPC, "%s", err.text);
    close(fd);
}


JPP_TEST(jpp_pools_test_memory)
{
    jpp_arena_t  part = { 0 };

    jpp_denies(&part, jpp_arena_fresh(&part, JPP_TEST_CAP), 5,
               jpp_pools_load(&loaded, &part, (char *) bytes->data, bytes->len,
                              &err));
    jpp_arena_destroy(&part);
}


/*
 * Whom samples belong to, in a process that serves connections of its own
 * making: samples are taken by hand, in functions that carry a connection.
 */


#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "jpp_backtrace.h"
#include "jpp_owner_names.h"
#include "jpp_owners.h"
#include "jpp_owners_wait.h"
#include "jpp_samples.h"
#include "jpp_samples_dump.h"
#include "jpp_test.h"


#if defined(__x86_64__) && defined(__LP64__)


#define JPP_SLOTS   100
#define JPP_SIZE    (1 << 20)


typedef struct {
    uint64_t   words[29];
} jpp_connection_t;


static jpp_connection_t  jpp_connections[JPP_SLOTS];
static uint64_t          jpp_numbers[JPP_SLOTS];
static char              jpp_memory[16384];

/* whom connections are served for: 0, nobody knows yet */
static uint32_t          jpp_owners_now[JPP_SLOTS];
static uint32_t          jpp_server;
static bool              jpp_is_upstream[JPP_SLOTS];

static unsigned          jpp_asked;
static unsigned          jpp_dues;


/* How many samples were allocated for OWNER, and the owner of the one at P;
   UINT32_MAX: there is none. */

typedef struct {
    uint32_t   owner;
    uint64_t   n;
} jpp_count_t;


static uint64_t
jpp_number(uint32_t index)
{
    return jpp_numbers[index];
}


static void
jpp_add_up(jpp_site_t *site, void *data)
{
    jpp_count_t *count = data;

    count->n += site->key.owner == count->owner ? site->allocated : 0;
}


static uint64_t
jpp_allocated(uint32_t owner)
{
    jpp_count_t  count = { owner, 0 };

    jpp_sites_walk(&jpp_samples.sites, jpp_add_up, &count);

    return count.n;
}


static uint32_t
jpp_owner_of(const void *p)
{
    uint64_t  object;

    if (!jpp_live_take(&jpp_samples.live, (uintptr_t) p, &object)) {
        return UINT32_MAX;
    }

    (void) jpp_live_add(&jpp_samples.live, (uintptr_t) p, object);

    return jpp_sites_at(&jpp_samples.sites, jpp_live_site(object))->key.owner;
}


static __attribute__((noinline)) void
jpp_take(void *p)
{
    jpp_samples_thread.left = -1;
    jpp_samples_take(p, JPP_SIZE, __builtin_return_address(0), NULL);
    __asm__ volatile ("" : : : "memory");
}


/* The connection INDEX, whose address is on the stack here only, and until the
   end. */

static __attribute__((noinline)) void
jpp_serve(unsigned index, void *p)
{
    jpp_connection_t  *volatile served;

    __asm__ volatile ("" : "+r" (index));
    served = &jpp_connections[index];

    jpp_take(p);
    __asm__ volatile ("" : : "r" (served) : "memory");
    served = NULL;
}


static __attribute__((noinline)) void
jpp_pass(unsigned client, unsigned upstream, void *p)
{
    jpp_connection_t  *volatile served;

    __asm__ volatile ("" : "+r" (client));
    served = &jpp_connections[client];

    jpp_serve(upstream, p);
    __asm__ volatile ("" : : "r" (served) : "memory");
    served = NULL;
}


static void *
jpp_thread(void *p)
{
    jpp_serve(1, p);

    return NULL;
}


/* The words are of the stack in which the connection was found. */

static uint32_t
jpp_served(uint32_t index, const uintptr_t *words, uint32_t n,
    uintptr_t *waits)
{
    jpp_asked += n == 1;

    if (n != 1 && (words == NULL || n < 10)) {
        jpp_ok(false, "a stack of %u words", n);
    }

    if (jpp_numbers[index] == 0 || jpp_is_upstream[index]) {
        return JPP_OWNER_NONE;
    }

    *waits = jpp_owners_now[index] == JPP_OWNER_NONE ? JPP_SERVING_NEXT : 0;

    return jpp_owners_now[index];
}


static uint32_t
jpp_meanwhile(uint32_t index)
{
    return jpp_is_upstream[index] ? (uint32_t) JPP_OWNER_NONE : jpp_server;
}


static uint32_t
jpp_name(const char *server, const char *location)
{
    jpp_owner_raw_t  raw[JPP_OWNER_PARTS] = {
        { server, strlen(server) }, { location, strlen(location) }, { "", 0 }
    };

    return jpp_owner_name(raw);
}


static void
jpp_test_names(void)
{
    char             name[300], text[JPP_OWNER_NAME];
    uint32_t         i, a, b;
    jpp_owner_raw_t  raw[JPP_OWNER_PARTS] = {
        { "one", 3 }, { "/a", 2 }, { "back", 4 }
    };

    jpp_is_u64(jpp_owner_names_count(), 0, "no names");

    a = jpp_name("one", "/a");
    b = jpp_name("one", "/b");

    jpp_ok(a >= JPP_OWNERS_FIXED && b == a + 1, "two owners");
    jpp_is_u64(jpp_name("one", "/a"), a, "the same");
    jpp_ok(jpp_name("/a", "one") != a, "the reverse");
    jpp_is_str(jpp_owner_names(b).names[JPP_OWNER_LOCATION], "/b", "its name");
    jpp_is_str(jpp_owner_names(JPP_OWNER_LOOP).names[JPP_OWNER_SERVER],
               "(event loop)", "nobody's");
    jpp_is_str(jpp_owner_names(5000).names[JPP_OWNER_SERVER], "(unknown)",
               "no number");

    i = jpp_owner_name(raw);
    jpp_ok(i != a, "an upstream makes another");
    jpp_is_str(jpp_owner_names(i).names[JPP_OWNER_UPSTREAM], "back",
               "its upstream");
    jpp_is_str(jpp_owner_names(a).names[JPP_OWNER_UPSTREAM], "",
               "which the other has not");

    i = jpp_name("a\tb\nc", "\x7f\x01");
    jpp_is_str(jpp_owner_names(i).names[JPP_OWNER_SERVER], "a\\x09b\\x0ac",
               "control bytes");
    jpp_is_str(jpp_owner_names(i).names[JPP_OWNER_LOCATION], "\\x7f\\x01",
               "and others");

    memset(name, 'x', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    i = jpp_name(name, "");
    jpp_is_u64(strlen(jpp_owner_names(i).names[JPP_OWNER_SERVER]),
               JPP_OWNER_NAME - 1, "a name that is too long");
    jpp_is_u64(jpp_name(name, ""), i, "is the same again");

    /* no part of an escape, or of a character, is left at the end */

    memset(name, '\x01', sizeof(name));
    jpp_is_u64(jpp_owner_text(text, name, sizeof(name)), 252, "escapes");
    jpp_is_str(text + 244, "\\x01\\x01", "that are whole");

    for (i = 0; i < sizeof(name) - 2; i += 2) {
        memcpy(name + i, "\xc3\xa9", 2);
    }

    jpp_is_u64(jpp_owner_text(text, name, sizeof(name)), 254, "characters");
}


static void
jpp_test_bound(void)
{
    char      name[32];
    uint32_t  i, n, first;

    first = jpp_name("many", "/0");

    for (i = 0, n = 0; i < 10000; i++) {
        (void) snprintf(name, sizeof(name), "/%u", i);
        n += jpp_name("many", name) == JPP_OWNER_OTHERS;
    }

    jpp_is_u64(jpp_owner_names_count(), JPP_OWNER_NAMES, "as many as fit in");
    jpp_ok(n > 8000, "%u are other ones", n);
    jpp_is_u64(jpp_name("many", "/0"), first, "what has a number keeps it");
}


static void
jpp_test_find(uint32_t a, uint32_t b)
{
    char       *p = jpp_memory;
    pthread_t   thread;

    jpp_take(p);
    jpp_is_u64(jpp_owner_of(p), JPP_OWNER_LOOP, "no connection");

    jpp_owners_now[3] = a;
    jpp_serve(3, ++p);
    jpp_is_u64(jpp_owner_of(p), a, "a connection with an owner");
    jpp_serve(3, ++p);
    jpp_is_u64(jpp_owner_of(p), a, "and again");

    jpp_owners_now[3] = b;
    jpp_serve(3, ++p);
    jpp_is_u64(jpp_owner_of(p), b, "with another");
    jpp_is_u64(jpp_owner_of(p - 1), a, "which the ones before keep");
    jpp_ok(!jpp_owners_is_due(), "none of them waits");

    /* an upstream's has none; a site knows where it has found one last */

    jpp_is_upstream[4] = true;
    jpp_pass(3, 5, ++p);
    jpp_pass(3, 4, ++p);
    jpp_is_u64(jpp_owner_of(p), b, "a client behind an upstream");
    jpp_serve(4, ++p);
    jpp_is_u64(jpp_owner_of(p), JPP_OWNER_NONE, "an upstream alone");

    jpp_numbers[3] = 0;
    jpp_serve(3, ++p);
    jpp_is_u64(jpp_owner_of(p), JPP_OWNER_LOOP, "a free connection");
    jpp_numbers[3] = 303;

    jpp_owners_now[3] = JPP_OWNER_NONE;
    jpp_owners_set(3, 303, JPP_SERVING_NEXT, a);
    jpp_serve(3, ++p);
    jpp_is_u64(jpp_owner_of(p), a, "it has what it has had last");
    jpp_owners_settle(1000);
    jpp_is_u64(jpp_owner_of(p), a, "and keeps that");
    jpp_numbers[3] = 403;
    jpp_serve(3, ++p);
    jpp_is_u64(jpp_owner_of(p), jpp_server, "but no other client does");

    pthread_create(&thread, NULL, jpp_thread, ++p);
    pthread_join(thread, NULL);
    jpp_is_u64(jpp_owner_of(p), JPP_OWNER_THREADS, "another thread");

    jpp_owners_set(JPP_SLOTS, 1, JPP_SERVING_NEXT, a);
}


static void
jpp_due(void)
{
    jpp_dues++;
}


static void
jpp_test_wait(uint32_t a, uint32_t b)
{
    char      *p = jpp_memory + 100;
    uint64_t   n, object;

    jpp_serve(7, p);
    jpp_serve(7, p + 1);
    jpp_serve(8, p + 2);

    /* freed before anybody knows */

    jpp_serve(7, p + 3);
    jpp_ok(jpp_live_take(&jpp_samples.live, (uintptr_t) (p + 3), &object),
           "one is freed");

    n = jpp_allocated(a);
    jpp_owners_set(7, 107, JPP_SERVING_NEXT, a);

    jpp_ok(jpp_owner_of(p) == a && jpp_owner_of(p + 1) == a,
           "what waits is given");
    jpp_is_u64(jpp_owner_of(p + 2), jpp_server, "but no other's");
    jpp_is_u64(jpp_owner_of(p + 3), UINT32_MAX, "nor what was freed");
    jpp_is_u64(jpp_allocated(a), n + 3, "which counts as allocated");

    jpp_owners_set(7, 107, JPP_SERVING_NEXT, b);
    jpp_is_u64(jpp_owner_of(p), a, "once");

    /* of one that was never served only its server is known */

    jpp_owners_settle(1000);
    jpp_asked = 0;
    jpp_dues = 0;
    jpp_ok(!jpp_owners_is_due(), "nothing is due");

    jpp_serve(10, p + 4);
    jpp_serve(11, p + 5);
    jpp_serve(10, p + 6);
    jpp_ok(jpp_owners_is_due() && jpp_dues != 0, "something is, as is said");
    jpp_is_u64(jpp_owner_of(p + 4), jpp_server, "the server's, until then");

    jpp_owners_settle(1);
    jpp_ok(jpp_asked == 1 && jpp_owners_is_due(), "one is asked for");
    jpp_is_u64(jpp_owner_of(p + 4), jpp_server, "in vain");

    jpp_owners_now[11] = b;
    jpp_owners_now[10] = b;
    jpp_owners_settle(2);
    jpp_ok(jpp_asked == 3 && !jpp_owners_is_due(), "and two");

    jpp_ok(jpp_owner_of(p + 5) == b && jpp_owner_of(p + 6) == b
           && jpp_owner_of(p + 4) == b,
           "who is known has them, and what was settled before");

    jpp_owners_set(10, 110, JPP_SERVING_NEXT, a);
    jpp_ok(jpp_owner_of(p + 4) == b, "for good");

    /* another client, before anything was known of the first */

    jpp_serve(12, p + 7);
    jpp_numbers[12] = 212;
    jpp_owners_settle(1000);
    jpp_owners_set(12, 212, JPP_SERVING_NEXT, a);
    jpp_is_u64(jpp_owner_of(p + 7), jpp_server,
               "a connection that has gone takes nothing from the next");
}


/* A connection that is sampled before it has a number. */

static void
jpp_test_new(uint32_t a, uint32_t b)
{
    char  *p = jpp_memory + 200;

    jpp_numbers[7] = JPP_SERVING_NEW;
    jpp_serve(7, p);
    jpp_numbers[7] = 307;
    jpp_serve(7, p + 1);

    jpp_owners_settle(1000);
    jpp_ok(jpp_owner_of(p) == jpp_server && jpp_owner_of(p + 1) == jpp_server,
           "a connection that gets its number is the same");

    jpp_owners_set(7, 307, JPP_SERVING_NEXT, a);
    jpp_ok(jpp_owner_of(p) == a && jpp_owner_of(p + 1) == a, "to the end");

    jpp_numbers[7] = JPP_SERVING_NEW;
    jpp_serve(7, p + 2);
    jpp_numbers[7] = 407;
    jpp_owners_set(7, 407, JPP_SERVING_NEXT, b);
    jpp_is_u64(jpp_owner_of(p + 2), b, "also without a settlement");
}


static void
jpp_test_many(uint32_t a)
{
    int       i, n;
    uint32_t  first, last;

    for (i = 0; i < JPP_OWNERS_WAITING + 1000; i++) {
        jpp_serve(9, jpp_memory + 1000 + i);
    }

    first = jpp_owner_of(jpp_memory + 1000);
    jpp_owners_set(9, 109, JPP_SERVING_NEXT, a);

    for (i = 0, n = 0; i < JPP_OWNERS_WAITING + 1000; i++) {
        n += jpp_owner_of(jpp_memory + 1000 + i) == a;
    }

    last = jpp_owner_of(jpp_memory + 1000 + i - 1);

    jpp_ok(first == jpp_server && n == JPP_OWNERS_WAITING && last == a,
           "%d wait", n);
}


static void
jpp_test_again(const jpp_serving_t *serving,
    const jpp_owners_server_t *server, uint32_t a)
{
    char       text[65536], path[] = "/tmp/jpp-owners-XXXXXX";
    int        fd;
    ssize_t    n;
    jpp_err_t  err = { 0 };

    jpp_serve(2, jpp_memory);

    jpp_samples_start(8, 2);
    jpp_owners_settle(JPP_OWNERS_WAITING);
    jpp_ok(!jpp_owners_is_due() && jpp_allocated(a) == 0
           && jpp_allocated(jpp_server) == 0,
           "a new start forgets what waited");

    jpp_owners_now[2] = a;
    jpp_serve(2, jpp_memory);

    fd = mkstemp(path);
    unlink(path);
    jpp_ok(jpp_samples_dump(&jpp_samples, fd, &err) == JPP_OK, "a dump %s",
           err.text);
    n = pread(fd, text, sizeof(text) - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    close(fd);

    jpp_ok(strstr(text, "\n  t5: 1: 1048576 [1: 1048576] owner\tone\t/a\n")
           != NULL, "names its owners");
    jpp_ok(strstr(text, "\n  t*: 1: 1048576 [1: 1048576]\n"
                        "  t5: 1: 1048576 [1: 1048576]\n") != NULL,
           "for each stack");

    jpp_owners_stop();
    jpp_serve(2, jpp_memory + 1);
    jpp_is_u64(jpp_owner_of(jpp_memory + 1), JPP_OWNER_NONE,
               "and nobody when it is over");
    jpp_owners_set(2, 102, JPP_SERVING_NEXT, a);

    jpp_ok(jpp_owners_start(serving, server), "another start");
    jpp_serve(2, jpp_memory + 2);
    jpp_is_u64(jpp_owner_of(jpp_memory + 2), a, "knows them again");
    jpp_owners_stop();
}


int
main(void)
{
    uint32_t       i, a, b;
    static jpp_serving_t  serving;      /* not on the stack: its words would
                                           name a connection */

    jpp_owners_server_t   server = { jpp_served, jpp_meanwhile, jpp_due };

    for (i = 0; i < JPP_SLOTS; i++) {
        jpp_numbers[i] = 100 + i;
    }

    serving.ranges[0].start = (uintptr_t) jpp_connections;
    serving.ranges[0].size = sizeof(jpp_connection_t);
    serving.n = JPP_SLOTS;
    serving.number = jpp_number;
    jpp_serving_init(&serving);

    jpp_test_names();

    a = jpp_name("one", "/a");
    b = jpp_name("one", "/b");
    jpp_server = jpp_name("one", "(no location)");

    if (!jpp_backtrace_start() || !jpp_samples_prepare()) {
        jpp_ok(false, "samples");
        return jpp_done();
    }

    jpp_samples_start(8, 1);
    jpp_ok(jpp_owners_start(&serving, &server), "it starts");

    jpp_test_find(a, b);
    jpp_test_wait(a, b);
    jpp_test_new(a, b);
    jpp_test_many(a);
    jpp_test_again(&serving, &server, a);
    jpp_test_bound();

    return jpp_done();
}


#else


int
main(void)
{
    jpp_ok(true, "owners # SKIP not on this machine");

    return jpp_done();
}


#endif

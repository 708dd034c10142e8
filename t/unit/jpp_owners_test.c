
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


static uint32_t
jpp_ask(uint32_t index, uint64_t number, void *data)
{
    if (jpp_numbers[index] != number) {
        return JPP_OWNER_NONE;
    }

    jpp_asked++;

    return index == 7 ? *(uint32_t *) data : (uint32_t) JPP_OWNER_NONE;
}


static void
jpp_test_names(void)
{
    char      name[300];
    uint32_t  i, a, b;

    jpp_is_u64(jpp_owner_names_count(), 0, "no names");

    a = jpp_owner_name("one", 3, "/a", 2);
    b = jpp_owner_name("one", 3, "/b", 2);

    jpp_ok(a >= JPP_OWNERS_FIXED && b == a + 1, "two pairs");
    jpp_is_u64(jpp_owner_name("one", 3, "/a", 2), a, "the same");
    jpp_ok(jpp_owner_name("/a", 2, "one", 3) != a, "the reverse");
    jpp_is_str(jpp_owner_names(b).location, "/b", "its name");
    jpp_is_str(jpp_owner_names(JPP_OWNER_LOOP).server, "(event loop)",
               "nobody's");
    jpp_is_str(jpp_owner_names(5000).server, "(unknown)", "no number");

    i = jpp_owner_name("a\tb\nc", 5, "\x7f\x01", 2);
    jpp_is_str(jpp_owner_names(i).server, "a?b?c", "control bytes");
    jpp_is_str(jpp_owner_names(i).location, "?" "?", "and others");

    memset(name, 'x', sizeof(name));
    i = jpp_owner_name(name, sizeof(name), "", 0);
    jpp_is_u64(strlen(jpp_owner_names(i).server), JPP_OWNER_NAME - 1,
               "a name that is too long");
}


static void
jpp_test_bound(void)
{
    int       len;
    char      name[32];
    uint32_t  i, n;

    for (i = 0, n = 0; i < 3000; i++) {
        len = snprintf(name, sizeof(name), "/%u", i);
        n += jpp_owner_name("many", 4, name, (size_t) len)
             == JPP_OWNER_OTHERS;
    }

    jpp_is_u64(jpp_owner_names_count(), JPP_OWNER_NAMES, "as many as fit in");
    jpp_ok(n > 1000, "%u are other ones", n);
}


static void
jpp_test_find(uint32_t a, uint32_t b)
{
    char       *p = jpp_memory;
    pthread_t   thread;

    jpp_take(p);
    jpp_is_u64(jpp_owner_of(p), JPP_OWNER_LOOP, "no connection");

    jpp_owners_set(3, 103, a);
    jpp_serve(3, ++p);
    jpp_is_u64(jpp_owner_of(p), a, "a connection with an owner");
    jpp_serve(3, ++p);
    jpp_is_u64(jpp_owner_of(p), a, "and again");

    jpp_owners_set(3, 103, b);
    jpp_serve(3, ++p);
    jpp_is_u64(jpp_owner_of(p), b, "with another");
    jpp_is_u64(jpp_owner_of(p - 1), a, "which the ones before keep");

    /* an upstream's has none */

    jpp_pass(3, 4, ++p);
    jpp_is_u64(jpp_owner_of(p), b, "a client behind an upstream");

    jpp_numbers[3] = 203;
    jpp_serve(3, ++p);
    jpp_is_u64(jpp_owner_of(p), JPP_OWNER_NONE, "another client");

    jpp_numbers[3] = 0;
    jpp_serve(3, ++p);
    jpp_is_u64(jpp_owner_of(p), JPP_OWNER_LOOP, "a free connection");
    jpp_numbers[3] = 303;

    jpp_owners_set(3, 303, a);
    jpp_is_u64(jpp_owners_clear(3, 303), a, "cleared, it returns its owner");
    jpp_is_u64(jpp_owners_clear(3, 303), JPP_OWNER_NONE, "once");
    jpp_serve(3, ++p);
    jpp_is_u64(jpp_owner_of(p), a, "which it has had last");
    jpp_owners_settle(1000, jpp_ask, &b);
    jpp_is_u64(jpp_owner_of(p), JPP_OWNER_NONE, "until it is settled");

    pthread_create(&thread, NULL, jpp_thread, ++p);
    pthread_join(thread, NULL);
    jpp_is_u64(jpp_owner_of(p), JPP_OWNER_THREADS, "another thread");

    jpp_owners_set(JPP_SLOTS, 1, a);
    (void) jpp_owners_clear(JPP_SLOTS, 1);
    jpp_is_u64(jpp_owners_get(JPP_SLOTS, 1), JPP_OWNER_NONE,
               "no such connection");
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
    jpp_owners_set(7, 107, a);

    jpp_ok(jpp_owner_of(p) == a && jpp_owner_of(p + 1) == a,
           "what waits is given");
    jpp_is_u64(jpp_owner_of(p + 2), JPP_OWNER_NONE, "but no other's");
    jpp_is_u64(jpp_owner_of(p + 3), UINT32_MAX, "nor what was freed");
    jpp_is_u64(jpp_allocated(a), n + 3, "which counts as allocated");

    jpp_owners_set(7, 107, b);
    jpp_is_u64(jpp_owner_of(p), a, "once");

    /* for the meantime */

    (void) jpp_owners_clear(7, 107);
    jpp_owners_settle(1000, jpp_ask, &b);
    jpp_asked = 0;
    jpp_dues = 0;
    jpp_ok(!jpp_owners_is_due(), "nothing is due");

    jpp_serve(7, p + 4);
    jpp_serve(8, p + 5);
    jpp_serve(7, p + 6);
    jpp_ok(jpp_owners_is_due() && jpp_dues != 0, "something is, as is said");

    jpp_owners_settle(2, jpp_ask, &b);
    jpp_ok(jpp_asked == 2 && jpp_owners_is_due(), "two are asked for");
    jpp_owners_settle(2, jpp_ask, &b);
    jpp_ok(jpp_asked == 3 && !jpp_owners_is_due(), "and one");

    jpp_ok(jpp_owner_of(p + 4) == b && jpp_owner_of(p + 6) == b
           && jpp_owner_of(p + 5) == JPP_OWNER_NONE,
           "who is known has them");

    jpp_owners_set(7, 107, a);
    jpp_ok(jpp_owner_of(p + 4) == a && jpp_owner_of(p + 6) == a,
           "until more is known");

    /* another client, before anything was known of the first */

    (void) jpp_owners_clear(7, 107);
    jpp_serve(7, p + 7);
    jpp_numbers[7] = 207;
    jpp_owners_settle(1000, jpp_ask, &b);
    jpp_owners_set(7, 207, a);
    jpp_is_u64(jpp_owner_of(p + 7), JPP_OWNER_NONE,
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

    jpp_owners_settle(1000, jpp_ask, &b);
    jpp_ok(jpp_owner_of(p) == b && jpp_owner_of(p + 1) == b,
           "a connection that gets its number is the same");

    jpp_owners_set(7, 307, a);
    jpp_ok(jpp_owner_of(p) == a && jpp_owner_of(p + 1) == a, "to the end");

    jpp_numbers[7] = JPP_SERVING_NEW;
    jpp_serve(7, p + 2);
    jpp_numbers[7] = 407;
    jpp_owners_set(7, 407, b);
    jpp_is_u64(jpp_owner_of(p + 2), b, "also without a settlement");
}


static void
jpp_test_many(uint32_t a)
{
    int       i, n;
    uint32_t  first, last;

    /* what does not wait any longer keeps no guess */

    jpp_owners_set(9, 109, a);
    (void) jpp_owners_clear(9, 109);

    for (i = 0; i < JPP_OWNERS_WAITING + 1000; i++) {
        jpp_serve(9, jpp_memory + 1000 + i);
    }

    first = jpp_owner_of(jpp_memory + 1000);
    jpp_owners_set(9, 109, a);

    for (i = 0, n = 0; i < JPP_OWNERS_WAITING + 1000; i++) {
        n += jpp_owner_of(jpp_memory + 1000 + i) == a;
    }

    last = jpp_owner_of(jpp_memory + 1000 + i - 1);

    jpp_ok(first == JPP_OWNER_NONE && n == JPP_OWNERS_WAITING && last == a,
           "%d wait", n);
}


static void
jpp_test_again(const jpp_serving_t *serving, uint32_t a)
{
    char       text[65536], path[] = "/tmp/jpp-owners-XXXXXX";
    int        fd;
    ssize_t    n;
    jpp_err_t  err = { 0 };

    jpp_owners_set(2, 102, a);
    jpp_owners_set(2, 102, a);
    (void) jpp_owners_clear(2, 102);
    jpp_serve(2, jpp_memory);

    jpp_samples_start(8, 2);
    jpp_serve(3, jpp_memory);
    jpp_owners_settle(JPP_OWNERS_WAITING, jpp_ask, &a);
    jpp_ok(!jpp_owners_is_due() && jpp_allocated(a) == 0
           && jpp_allocated(JPP_OWNER_NONE) == 1,
           "a new start forgets what waited");
    jpp_is_u64(jpp_owners_get(2, 102), JPP_OWNER_NONE,
               "a new start knows of nobody");

    jpp_owners_set(2, 102, a);
    jpp_serve(2, jpp_memory);

    fd = mkstemp(path);
    unlink(path);
    jpp_ok(jpp_samples_dump(&jpp_samples, fd, &err) == JPP_OK, "a dump %s",
           err.text);
    n = pread(fd, text, sizeof(text) - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    close(fd);

    jpp_ok(strstr(text, "\n  t4: 1: 1048576 [1: 1048576] owner\tone\t/a\n")
           != NULL, "names its owners");
    jpp_ok(strstr(text, "\n  t*: 1: 1048576 [1: 1048576]\n"
                        "  t4: 1: 1048576 [1: 1048576]\n") != NULL,
           "for each stack");

    jpp_owners_stop();
    jpp_serve(2, jpp_memory + 1);
    jpp_is_u64(jpp_owner_of(jpp_memory + 1), JPP_OWNER_NONE,
               "and nobody when it is over");
    jpp_owners_set(2, 102, a);
    (void) jpp_owners_clear(2, 102);

    jpp_ok(jpp_owners_start(serving, jpp_due)
           && jpp_owners_get(2, 102) == JPP_OWNER_NONE, "another start");
    jpp_owners_stop();
}


int
main(void)
{
    uint32_t       i, a, b;
    static jpp_serving_t  serving;      /* not on the stack: its words would
                                           name a connection */

    for (i = 0; i < JPP_SLOTS; i++) {
        jpp_numbers[i] = 100 + i;
    }

    serving.ranges[0].start = (uintptr_t) jpp_connections;
    serving.ranges[0].size = sizeof(jpp_connection_t);
    serving.n = JPP_SLOTS;
    serving.number = jpp_number;
    jpp_serving_init(&serving);

    jpp_test_names();

    a = jpp_owner_name("one", 3, "/a", 2);
    b = jpp_owner_name("one", 3, "/b", 2);

    if (!jpp_backtrace_start() || !jpp_samples_prepare()) {
        jpp_ok(false, "samples");
        return jpp_done();
    }

    jpp_samples_start(8, 1);
    jpp_ok(jpp_owners_start(&serving, jpp_due), "it starts");

    jpp_test_find(a, b);
    jpp_test_wait(a, b);
    jpp_test_new(a, b);
    jpp_test_many(a);
    jpp_test_again(&serving, a);
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


/*
 * Whom samples belong to, in a process that serves connections of its own
 * making: samples are taken by hand, while a connection is told.
 */


#include "jpp_test.h"
#include "jpp_owner_names.h"
#include "jpp_owners.h"


#if defined(__x86_64__) && defined(__LP64__)


#define JPP_SLOTS   100
#define JPP_WIDE    100000u

/* one that accepts others */
#define JPP_LISTENS  99
#define JPP_SIZE    (1 << 20)


typedef struct {
    uint64_t   words[17];
    uint64_t   number;
} jpp_connection_t;


static jpp_connection_t  jpp_connections[JPP_SLOTS], *jpp_wide;
static char              jpp_memory[16384];

/* whom connections are served for: 0, nobody knows yet */
static uint32_t          jpp_owners_now[JPP_SLOTS];
static uint32_t          jpp_server;
static bool              jpp_is_upstream[JPP_SLOTS];

/* what they wait for; and whom streams are served for */
static uintptr_t         jpp_which = JPP_SERVING_NEXT;
static uint32_t          jpp_streams[10];

static unsigned          jpp_asked;
static unsigned          jpp_dues;


/* How many samples were allocated for OWNER, and the owner of the one at P;
   UINT32_MAX: there is none. */

typedef struct {
    uint32_t   owner;
    uint64_t   n;
} jpp_count_t;


/* N CONNECTIONS are served, the numbers of which are known by NUMBER. */

static void
jpp_served_are(jpp_serving_t *serving, jpp_connection_t *connections,
    uint32_t n, uint64_t (*number)(uint32_t index))
{
    serving->ranges[0].start = (uintptr_t) connections;
    serving->ranges[0].size = sizeof(jpp_connection_t);
    serving->n = n;
    serving->number = number;
    jpp_serving_init(serving);
}


static uint64_t
jpp_number(uint32_t index)
{
    return jpp_connections[index].number;
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
jpp_is_for(const void *p, uint32_t owner, const char *what)
{
    jpp_is_u64(jpp_owner_of(p), owner, "%s", what);
}


static __attribute__((noinline)) void
jpp_take(void *p)
{
    jpp_samples_thread.left = -1;
    jpp_samples_take(p, JPP_SIZE, __builtin_return_address(0),
                     __builtin_frame_address(0));
    __asm__ volatile ("" : : : "memory");
}


static void
jpp_serve(unsigned index, void *p)
{
    (void) jpp_owners_tell(index);
    jpp_take(p);
    (void) jpp_owners_tell(JPP_OWNERS_UNTOLD);
}


/* As above: is that for OWNER? */

static void
jpp_serves(unsigned index, void *p, uint32_t owner, const char *what)
{
    jpp_serve(index, p);
    jpp_is_for(p, owner, what);
}


/* The same, in a frame whose first words name CLIENT; none does later. */

static __attribute__((noinline)) void
jpp_pass(unsigned client, unsigned index, void *p)
{
    jpp_connection_t  *volatile served[2];

    __asm__ volatile ("" : "+r" (client));
    served[0] = served[1] = &jpp_connections[client];

    jpp_owners_base((uintptr_t) __builtin_frame_address(0));
    jpp_serve(index, p);
    jpp_owners_base(0);

    __asm__ volatile ("" : : "r" (served) : "memory");
}


/* On a stack of its own. */

static ucontext_t  jpp_loop, jpp_coroutine;
static uint32_t    jpp_seen;


static void
jpp_on_its_own(void)
{
    jpp_serve(3, jpp_memory + 300);
    jpp_seen = jpp_owners_here();
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

    if (jpp_connections[index].number == 0 || jpp_is_upstream[index]) {
        return JPP_OWNER_NONE;
    }

    if (index == JPP_LISTENS) {
        *waits = JPP_SERVING_OTHERS;
        return JPP_OWNER_NONE;
    }

    if (n == 1 && words[0] < 10 && jpp_streams[words[0]] != JPP_OWNER_NONE) {
        return jpp_streams[words[0]];
    }

    *waits = jpp_owners_now[index] == JPP_OWNER_NONE ? jpp_which : 0;

    return jpp_owners_now[index];
}


static uint32_t
jpp_meanwhile(uint32_t index)
{
    return jpp_is_upstream[index] ? (uint32_t) JPP_OWNER_NONE : jpp_server;
}


/* The connection INDEX with NUMBER was served for OWNER. */

static void
jpp_set(uint32_t index, uint64_t number, uint32_t owner)
{
    jpp_owners_set(jpp_owners_slot(index, number), JPP_SERVING_NEXT, owner);
}


static uint32_t
jpp_name(const char *server, const char *location)
{
    jpp_owner_raw_t  raw[JPP_ROOTS] = {
        { server, strlen(server) }, { location, strlen(location) }, { "", 0 }
    };

    return jpp_owner_name(raw);
}


static void
jpp_test_find(uint32_t a, uint32_t b)
{
    char       *p = jpp_memory;
    pthread_t   thread;

    jpp_take(p);
    jpp_is_for(p, JPP_OWNER_LOOP, "no connection");

    jpp_owners_now[3] = a;
    jpp_serves(3, ++p, a, "a connection with an owner");
    jpp_serves(3, ++p, a, "and again");

    jpp_owners_now[3] = b;
    jpp_serves(3, ++p, b, "with another");
    jpp_is_for(p - 1, a, "which the ones before keep");
    jpp_ok(!jpp_owners_is_due(), "none of them waits");

    /* an upstream's has none */

    jpp_is_upstream[4] = true;
    jpp_pass(3, 4, ++p);
    jpp_is_for(p, b, "a client behind an upstream");
    jpp_serves(4, ++p, JPP_OWNER_NONE, "an upstream alone");

    jpp_connections[3].number = 0;
    jpp_serves(3, ++p, JPP_OWNER_LOOP, "a free connection");
    jpp_connections[3].number = 303;

    jpp_owners_now[3] = JPP_OWNER_NONE;
    jpp_set(3, 303, a);
    jpp_serves(3, ++p, a, "it has what it has had last");
    jpp_owners_settle(1000);
    jpp_is_for(p, a, "and keeps that");
    jpp_connections[3].number = 403;
    jpp_serves(3, ++p, jpp_server, "but no other client does");

    pthread_create(&thread, NULL, jpp_thread, ++p);
    pthread_join(thread, NULL);
    jpp_is_for(p, JPP_OWNER_THREADS, "another thread");

    jpp_ok(jpp_owners_slot_at(JPP_SLOTS)->waiting == 0, "no connection");
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
    jpp_set(7, 107, a);

    jpp_ok(jpp_owner_of(p) == a && jpp_owner_of(p + 1) == a,
           "what waits is given");
    jpp_is_for(p + 2, jpp_server, "but no other's");
    jpp_is_for(p + 3, UINT32_MAX, "nor what was freed");
    jpp_is_u64(jpp_allocated(a), n + 3, "which counts as allocated");

    jpp_set(7, 107, b);
    jpp_is_for(p, a, "once");

    /* of one that was never served only its server is known */

    jpp_owners_settle(1000);
    jpp_asked = 0;
    jpp_dues = 0;
    jpp_ok(!jpp_owners_is_due(), "nothing is due");

    jpp_serve(10, p + 4);
    jpp_serve(11, p + 5);
    jpp_serve(10, p + 6);
    jpp_ok(jpp_owners_is_due() && jpp_dues != 0, "something is, as is said");
    jpp_is_for(p + 4, jpp_server, "the server's, until then");

    jpp_owners_settle(1);
    jpp_ok(jpp_asked == 1 && jpp_owners_is_due(), "one is asked for");
    jpp_is_for(p + 4, jpp_server, "in vain");

    jpp_owners_now[11] = b;
    jpp_owners_now[10] = b;
    jpp_owners_settle(2);
    jpp_ok(jpp_asked == 3 && !jpp_owners_is_due(), "and two");

    jpp_ok(jpp_owner_of(p + 5) == b && jpp_owner_of(p + 6) == b
           && jpp_owner_of(p + 4) == b,
           "who is known has them, and what was settled before");

    jpp_set(10, 110, a);
    jpp_ok(jpp_owner_of(p + 4) == b, "for good");

    /* another client, before anything was known of the first */

    jpp_serve(12, p + 7);
    jpp_connections[12].number = 212;
    jpp_owners_settle(1000);
    jpp_set(12, 212, a);
    jpp_is_for(p + 7, jpp_server,
               "a connection that has gone takes nothing from the next");
}


/* A connection that is sampled before it has a number. */

static void
jpp_test_new(uint32_t a, uint32_t b)
{
    char  *p = jpp_memory + 200;

    jpp_connections[7].number = JPP_SERVING_NEW;
    jpp_serve(7, p);
    jpp_connections[7].number = 307;
    jpp_serve(7, p + 1);

    jpp_owners_settle(1000);
    jpp_ok(jpp_owner_of(p) == jpp_server && jpp_owner_of(p + 1) == jpp_server,
           "a connection that gets its number is the same");

    jpp_set(7, 307, a);
    jpp_ok(jpp_owner_of(p) == a && jpp_owner_of(p + 1) == a, "to the end");

    jpp_connections[7].number = JPP_SERVING_NEW;
    jpp_serve(7, p + 2);
    jpp_connections[7].number = 407;
    jpp_set(7, 407, b);
    jpp_is_for(p + 2, b, "also without a settlement");
}


/* Requests on a connection that is kept alive, each with samples before anybody
   knows whom it is for. */

static void
jpp_test_kept(uint32_t a, uint32_t b)
{
    int       i, n_a, n_b, n_settled;
    char     *p = jpp_memory + 400;
    uint64_t  object;

    jpp_owners_settle_all();
    jpp_set(20, 120, a);

    jpp_dues = 0;
    jpp_asked = 0;
    n_a = n_b = n_settled = 0;

    for (i = 0; i < 100; i++) {
        jpp_serve(20, p + 2 * i);
        jpp_serve(20, p + 2 * i + 1);
        n_a += jpp_owner_of(p + 2 * i) == (i % 10 == 1 ? b : a);

        jpp_set(20, 120, i % 10 == 0 ? b : a);
        n_b += jpp_owner_of(p + 2 * i + 1) == (i % 10 == 0 ? b : a);
    }

    jpp_ok(n_a == 100, "what comes has the last owner: %d of 100", n_a);
    jpp_ok(n_b == 100, "and then its own: %d of 100", n_b);
    jpp_ok(jpp_dues == 0 && jpp_asked == 0 && !jpp_owners_is_due(),
           "and nobody has to look at any");

    /* a report asks, while the request lasts */

    jpp_serve(20, p + 300);
    jpp_owners_now[20] = b;
    jpp_owners_settle_all();
    jpp_is_for(p + 300, b, "but for a report");
    jpp_owners_now[20] = JPP_OWNER_NONE;
    jpp_set(20, 120, b);

    /* another client in the same place takes nothing, and leaves nothing */

    jpp_serve(20, p + 301);
    jpp_connections[20].number = 220;
    jpp_serve(20, p + 302);
    jpp_ok(jpp_owner_of(p + 301) == b && jpp_owner_of(p + 302) == jpp_server,
           "another client");
    jpp_set(20, 220, a);
    jpp_ok(jpp_owner_of(p + 301) == b && jpp_owner_of(p + 302) == a,
           "has its own alone");

    /* of those that are named the newest was accepted */

    jpp_connections[22].number = 322;
    jpp_pass(22, JPP_LISTENS, p + 306);
    jpp_set(22, 322, a);
    jpp_is_for(p + 306, a, "the one that was accepted");

    /* what was freed, and is another's by now */

    jpp_serve(20, p + 303);
    (void) jpp_live_take(&jpp_samples.live, (uintptr_t) (p + 303), &object);
    jpp_serve(3, p + 303);
    n_settled = (int) jpp_owner_of(p + 303);
    jpp_set(20, 220, b);
    jpp_is_u64(jpp_owner_of(p + 303), (uint64_t) n_settled,
               "an address that is used again");
}


/* Several streams of a connection wait, each for its own owner. */

static void
jpp_test_streams(uint32_t a, uint32_t b)
{
    int    i;
    char  *p = jpp_memory + 350;

    static const uintptr_t  streams[] = { 5, 7, JPP_SERVING_FIRST, 5 };

    for (i = 0; i < 8; i++) {
        jpp_which = streams[i % 4];
        jpp_serve(23 + i / 4, p + i);
    }

    jpp_which = JPP_SERVING_NEXT;

    jpp_owners_set(jpp_owners_slot(23, 123), 7, b);
    jpp_ok(jpp_owner_of(p) == jpp_server && jpp_owner_of(p + 1) == b
           && jpp_owner_of(p + 2) == b && jpp_owner_of(p + 3) == jpp_server,
           "a stream has its own, and what waits for the first");
    jpp_owners_set(jpp_owners_slot(23, 123), 5, b);
    jpp_ok(jpp_owner_of(p) == b && jpp_owner_of(p + 3) == b, "so has another");

    jpp_streams[5] = a;
    jpp_connections[24].number = 0;
    jpp_owners_settle_all();
    jpp_connections[24].number = 124;
    jpp_is_for(p + 4, jpp_server, "a closed one has none");
    jpp_owners_settle_all();
    jpp_ok(jpp_owner_of(p + 4) == a && jpp_owner_of(p + 5) == jpp_server
           && jpp_owner_of(p + 7) == a, "but what is known when it is settled");
    jpp_owners_set(jpp_owners_slot(24, 124), 7, a);
    jpp_is_for(p + 5, a, "and the rest in the end");
    jpp_streams[5] = JPP_OWNER_NONE;
}


static void
jpp_test_coroutine(uint32_t a)
{
    void    *stack;
    size_t   size = 256 * 1024;

    stack = mmap(NULL, size, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS,
                 -1, 0);

    if (stack == MAP_FAILED) {
        jpp_ok(false, "a stack");
        return;
    }

    jpp_owners_now[3] = a;
    jpp_seen = UINT32_MAX;
    jpp_test_switch(&jpp_coroutine, &jpp_loop, stack, size, jpp_on_its_own);

    jpp_is_for(jpp_memory + 300, JPP_OWNER_NONE,
               "a coroutine with a stack of its own has no owner");
    jpp_is_u64(jpp_seen, JPP_OWNER_NONE, "nor is one found for jemalloc's");

    munmap(stack, size);
}


static void
jpp_test_many(uint32_t a)
{
    int                      i, n;
    uint32_t                 first, last;
    jpp_backtrace_counts_t   before, after;

    jpp_backtrace_count(&before);

    for (i = 0; i < JPP_OWNERS_WAITING + 1000; i++) {
        jpp_serve(9, jpp_memory + 1000 + i);
    }

    jpp_backtrace_count(&after);
#ifdef __OPTIMIZE__

    /* otherwise frames begin where a register says */

    jpp_ok(JPP_IS_SANITIZED || after.n - before.n < 10, "and %u walks",
           (unsigned) (after.n - before.n));

#endif

    first = jpp_owner_of(jpp_memory + 1000);
    jpp_set(9, 109, a);

    for (i = 0, n = 0; i < JPP_OWNERS_WAITING + 1000; i++) {
        n += jpp_owner_of(jpp_memory + 1000 + i) == a;
    }

    last = jpp_owner_of(jpp_memory + 1000 + i - 1);

    jpp_ok(first == jpp_server && n == JPP_OWNERS_WAITING && last == a,
           "%d wait", n);

    for (i = 0; i < 20; i++) {
        jpp_serve(41 + i / 2 % 2, jpp_memory + i);
    }

    jpp_set(41, 141, a);

    for (i = 0, n = 0; i < 20; i++) {
        n += jpp_owner_of(jpp_memory + i) == (i / 2 % 2 ? jpp_server : a);
    }

    jpp_is_i64(n, 20, "two connections in turn have their own");
}


static void
jpp_test_again(const jpp_serving_t *serving,
    const jpp_owners_server_t *server, uint32_t a)
{
    char         path[] = "/tmp/jpp-owners-XXXXXX";
    int          fd;
    ssize_t      n;
    jpp_err_t    err = { 0 };
    jpp_ages_t   ages = { 0 };
    static char  text[65536];

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
    jpp_ok(jpp_samples_dump(&jpp_samples, fd, &ages, &err) == JPP_OK,
           "a dump %s", err.text);
    n = pread(fd, text, sizeof(text) - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    close(fd);

    jpp_has(text, "\n  t5: 1: 1048576 [1: 1048576] owner\tone\t/a\n",
            "names its owners");
    jpp_has(text, "\n  t*: 1: 1048576 [1: 1048576]\n  t5: 1: 1048576 [1: "
            "1048576]\n", "for each stack");

    jpp_owners_stop();
    jpp_serve(2, jpp_memory + 1);
    jpp_is_for(jpp_memory + 1, JPP_OWNER_NONE, "and nobody when it is over");
    jpp_ok(jpp_owners_slot_at(2)->waiting == 0, "nothing waits");

    jpp_ok(jpp_owners_start(serving, server), "another start");
    jpp_serve(2, jpp_memory + 2);
    jpp_is_for(jpp_memory + 2, a, "knows them again");
    jpp_owners_stop();
}


/* As many connections as a large server has, which are all for one server and
   location. */

static uint64_t
jpp_wide_number(uint32_t index)
{
    return jpp_wide[index].number;
}


static uint32_t
jpp_wide_served(uint32_t index, const uintptr_t *words, uint32_t n,
    uintptr_t *waits)
{
    (void) index;
    (void) words;
    (void) n;

    *waits = JPP_SERVING_NEXT;

    return JPP_OWNER_NONE;
}


static uint32_t
jpp_wide_meanwhile(uint32_t index)
{
    jpp_ok(index < JPP_WIDE, "index %u is one", index);

    return jpp_server;
}


static void
jpp_test_wide(uint32_t a)
{
    char                   *p = jpp_memory + 900;
    size_t                  size = JPP_WIDE * sizeof(jpp_connection_t);
    uint32_t                i, last = JPP_WIDE - 1;
    static jpp_serving_t    serving;
    jpp_owners_server_t     server = { jpp_wide_served, jpp_wide_meanwhile,
                                       jpp_due };

    /* one more, which is none of them */

    jpp_wide = mmap(NULL, size + sizeof(jpp_connection_t),
                    PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0);

    if (jpp_wide == MAP_FAILED) {
        jpp_ok(false, "memory");
        return;
    }

    jpp_wide[1].number = 1;
    jpp_wide[last].number = 2;

    jpp_served_are(&serving, jpp_wide, JPP_WIDE, jpp_wide_number);

    jpp_ok(jpp_owners_start(&serving, &server), "%u connections", JPP_WIDE);

    for (i = 0; i < 10; i++) {
        jpp_serve(last, p + i);
        jpp_serve(1, p + 20 + i);
    }

    jpp_serve(JPP_WIDE, p + 40);
    jpp_owners_settle_all();
    jpp_set(last, 2, a);
    jpp_ok(jpp_owners_slot_at(JPP_WIDE)->waiting == 0, "no connection");

    jpp_ok(jpp_owner_of(p) == a && jpp_owner_of(p + 9) == a,
           "the last one has its own");
    jpp_ok(jpp_owner_of(p + 20) == jpp_server
           && jpp_owner_of(p + 29) == jpp_server, "and another one not");
    jpp_is_for(p + 40, JPP_OWNER_LOOP, "nor what is none");

    jpp_serve(last, p + 50);
    jpp_is_for(p + 50, a, "which it has again");

    jpp_owners_stop();
    munmap(jpp_wide, size + sizeof(jpp_connection_t));
}


int
main(void)
{
    uint32_t              i, a, b;
    jpp_serving_t         serving = { 0 };
    jpp_owners_server_t   server = { jpp_served, jpp_meanwhile, jpp_due };

    for (i = 0; i < JPP_SLOTS; i++) {
        jpp_connections[i].number = 100 + i;
    }

    jpp_served_are(&serving, jpp_connections, JPP_SLOTS, jpp_number);

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
    jpp_test_kept(a, b);
    jpp_test_streams(a, b);
    jpp_test_coroutine(a);
    jpp_test_many(a);
    jpp_test_again(&serving, &server, a);
    jpp_test_wide(a);

    return jpp_done();
}


#else


JPP_TEST_ONLY(true, "owners # SKIP not on this machine")


#endif


/*
 * Which connection is told, or named by the words of a stack: one that is
 * written by hand, word by word, and that a signal seems to have interrupted.
 */


#include "jpp_test_main.h"
#include "jpp_owner_labels.h"
#include "jpp_owners.h"


#if defined(__x86_64__) && defined(__LP64__)


/* connections: each of the first is served for its own owner */
#define JPP_SERVED    50

/* these are for nobody, from the second on with a server in the meantime; or
   they wait for their next; and the last accepts */
#define JPP_ABSENT    50
#define JPP_CLOSED    51
#define JPP_WAITS     60
#define JPP_LISTENS   79
#define JPP_SLOTS     80

#define JPP_OWNER     1000
#define JPP_MEANTIME  2000

#define JPP_WORDS     (2 * JPP_SERVING_WORDS)


typedef struct {
    uint64_t   first;
    uint64_t   number;
} jpp_connection_t;


static jpp_connection_t  jpp_connections[JPP_SLOTS];
static uintptr_t         jpp_layout[JPP_WORDS];     /* the outermost first */
static size_t            jpp_n;                     /* so many are served by */
static ucontext_t        jpp_context;


static uint64_t
jpp_number(uint32_t index)
{
    return jpp_connections[index].number;
}


static uint32_t
jpp_served(uint32_t index, const uintptr_t *words, uint32_t n,
    uintptr_t *waits)
{
    if (words == NULL || n < jpp_n) {
        jpp_ok(false, "a stack of %u words", n);
    }

    if (index < JPP_SERVED) {
        return JPP_OWNER + index;
    }

    if (index >= JPP_WAITS) {
        *waits = index == JPP_LISTENS ? JPP_SERVING_OTHERS : JPP_SERVING_NEXT;
    }

    return JPP_OWNER_NONE;
}


static uint32_t
jpp_meanwhile(uint32_t index)
{
    return index == JPP_ABSENT ? (uint32_t) JPP_OWNER_NONE
                               : JPP_MEANTIME + index;
}


static void
jpp_due(void)
{
}


/* Nothing is named, in N words. */

static void
jpp_clear(size_t n)
{
    memset(jpp_layout, 0, sizeof(jpp_layout));
    memset(&jpp_context, 0, sizeof(jpp_context));
    jpp_n = n;
}


/* N words name INDEX, the outermost of which is AT away from the base. */

static void
jpp_name(size_t at, unsigned index, size_t n)
{
    for ( /* void */ ; n != 0; n--) {
        jpp_layout[at++] = (uintptr_t) &jpp_connections[index];
    }
}


/* The same connections once each, from the base on; -1 ends. */

static void
jpp_names(const int *indexes)
{
    size_t  i;

    jpp_clear(100);

    for (i = 0; indexes[i] != -1; i++) {
        jpp_name(i, (unsigned) indexes[i], 1);
    }
}


static __attribute__((noinline)) uint32_t
jpp_scan(void)
{
    size_t              i;
    uint32_t            owner;
    volatile uintptr_t  words[JPP_WORDS];

    for (i = 0; i < JPP_WORDS; i++) {
        words[i] = 0;
    }

    for (i = 0; i < jpp_n; i++) {
        words[i] = jpp_layout[jpp_n - 1 - i];
    }

    jpp_owners_base((uintptr_t) &words[jpp_n]);
    jpp_context.uc_mcontext.gregs[REG_RSP] = (greg_t) &words[0];

    owner = jpp_owners_interrupted(&jpp_context);

    for (i = 0; i < JPP_WORDS; i++) {
        words[i] = 0;
    }

    return owner;
}


JPP_TEST(jpp_owners_scan_test_start)
{
    unsigned  i;

    static jpp_serving_t              serving;
    static const jpp_owners_server_t  server = { jpp_served, jpp_meanwhile,
                                                 jpp_due };

    jpp_clear(100);
    jpp_is_u64(jpp_scan(), JPP_OWNER_NONE, "nobody serves");

    for (i = 0; i < JPP_SLOTS; i++) {
        jpp_connections[i].number = 100 + i;
    }

    serving.ranges[0].start = (uintptr_t) jpp_connections;
    serving.ranges[0].size = sizeof(jpp_connection_t);
    serving.n = JPP_SLOTS;
    serving.number = jpp_number;
    jpp_serving_init(&serving);

    jpp_ok(jpp_owners_start(&serving, &server), "it starts");
    jpp_names((int[]) { 1, 1, -1 });
    jpp_is_u64(jpp_scan(), JPP_OWNER_LOOP, "nobody is told");
}


JPP_TEST(jpp_owners_scan_test_choice)
{
    size_t  i;

    static const struct {
        uint32_t     told;
        int          words[16];
        uint32_t     owner;
        const char  *name;
    } rows[] = {
        { 4, { 1, 1, -1 }, JPP_OWNER + 4, "who is told" },
        { 0, { 1, 1, -1 }, JPP_OWNER, "the first" },
        { 61, { 1, -1 }, JPP_MEANTIME + 61, "who waits" },
        { JPP_CLOSED, { 1, -1 }, JPP_MEANTIME + JPP_CLOSED, "who was" },
        { JPP_ABSENT, { 1, -1 }, JPP_OWNER + 1, "another, for nobody" },
        { JPP_ABSENT, { -1 }, JPP_OWNER_NONE, "and no other" },

        { JPP_OWNERS_ELSE, { 1, 2, 2, -1 }, JPP_OWNER + 2, "more words" },
        { JPP_OWNERS_ELSE, { 1, 2, 2, 1, -1 }, JPP_OWNER + 1, "as many" },
        { JPP_OWNERS_ELSE, { JPP_ABSENT, JPP_CLOSED, JPP_LISTENS, 61, -1 },
          JPP_MEANTIME + 61, "one that waits" },
        { JPP_OWNERS_ELSE, { JPP_CLOSED, -1 }, JPP_OWNER_LOOP, "nobody's" },
        { JPP_SLOTS, { 1, -1 }, JPP_OWNER + 1, "no connection" },
        { JPP_OWNERS_ELSE, { 1, 2, 3, 4, 5, 6, 7, 8, 8, -1 }, JPP_OWNER + 8,
          "the eighth" },
        { JPP_OWNERS_ELSE, { 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 7, -1 },
          JPP_OWNER + 7, "the ninth is left over" },

        { JPP_LISTENS, { 2, 1, 1, -1 }, JPP_OWNER + 2, "the newest" },
        { JPP_LISTENS, { 1, 1, 2, -1 }, JPP_OWNER + 2, "wherever it is" },
        { JPP_LISTENS, { -1 }, JPP_MEANTIME + JPP_LISTENS, "none yet" }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_names(rows[i].words);
        (void) jpp_owners_tell(rows[i].told);
        jpp_is_u64(jpp_scan(), rows[i].owner, "%s", rows[i].name);
        jpp_is_u64(jpp_owners_tell(JPP_OWNERS_ELSE), rows[i].told, "as told");
    }

    /* not where a record begins, and one that is free */

    jpp_names((int[]) { 1, -1 });
    jpp_layout[0]++;
    jpp_is_u64(jpp_scan(), JPP_OWNER_LOOP, "within a record");
    jpp_connections[1].number = 0;
    jpp_names((int[]) { 1, -1 });
    jpp_is_u64(jpp_scan(), JPP_OWNER_LOOP, "a free one");
    (void) jpp_owners_tell(1);
    jpp_names((int[]) { 2, 2, -1 });
    jpp_is_u64(jpp_scan(), JPP_OWNER_LOOP, "one without a number");
    (void) jpp_owners_tell(JPP_OWNERS_ELSE);
    jpp_connections[1].number = 101;
}


static void
jpp_register(int number, unsigned index)
{
    jpp_context.uc_mcontext.gregs[number] = index == 0 ? 0
                                    : (greg_t) &jpp_connections[index];
}


/* The outermost words are looked at, and registers that a call would save. */

JPP_TEST(jpp_owners_scan_test_words)
{
    size_t  i;

    static const int  saved[] = {
        REG_RBX, REG_RBP, REG_R12, REG_R13, REG_R14, REG_R15
    };

    jpp_clear(JPP_WORDS);
    jpp_name(JPP_SERVING_WORDS, 1, 1);
    jpp_is_u64(jpp_scan(), JPP_OWNER_LOOP, "beyond the bound");
    jpp_name(JPP_SERVING_WORDS - 1, 2, 1);
    jpp_is_u64(jpp_scan(), JPP_OWNER + 2, "the last word within");
    jpp_clear(1);
    jpp_name(0, 1, 1);
    jpp_name(1, 2, 9);
    jpp_is_u64(jpp_scan(), JPP_OWNER + 1, "one word");

    for (i = 0; i < sizeof(saved) / sizeof(saved[0]); i++) {
        jpp_clear(100);
        jpp_name(0, 1, 1);
        jpp_register(saved[i], 2);
        jpp_is_u64(jpp_scan(), JPP_OWNER + 1, "register %zu and a word", i);
        jpp_name(99, 2, 1);
        jpp_is_u64(jpp_scan(), JPP_OWNER + 2, "and one more");
        jpp_register(saved[i], 0);
        jpp_register(REG_RDI, 2);
        jpp_is_u64(jpp_scan(), JPP_OWNER + 1, "and no other register");
    }
}


static __attribute__((noinline)) uint32_t
jpp_here(void)
{
    uint32_t            owner;
    volatile uintptr_t  words[4];

    words[0] = words[1] = 0;
    words[2] = words[3] = (uintptr_t) &jpp_connections[5];

    jpp_owners_base((uintptr_t) &words[4]);
    owner = jpp_owners_here();
    words[2] = words[3] = 0;

    return owner;
}


JPP_TEST(jpp_owners_scan_test_stacks)
{
    void  *slots;

    jpp_clear(0);

    jpp_is_u64(jpp_here(), JPP_OWNER + 5, "in a call");
    jpp_context.uc_mcontext.gregs[REG_RSP] = (greg_t) UINTPTR_MAX - 7;
    jpp_is_u64(jpp_owners_interrupted(&jpp_context), JPP_OWNER_NONE,
               "a stack above");
    jpp_context.uc_mcontext.gregs[REG_RSP] = (greg_t) jpp_connections;
    jpp_is_u64(jpp_owners_interrupted(&jpp_context), JPP_OWNER_NONE,
               "and one far below");

    jpp_samples_thread.is_serving = false;
    jpp_is_u64(jpp_here(), JPP_OWNER_THREADS, "another thread");
    jpp_is_u64(jpp_scan(), JPP_OWNER_THREADS, "also when interrupted");

    jpp_samples_thread.is_serving = true;
    jpp_is_u64(jpp_here(), JPP_OWNER + 5, "the one that serves");
    slots = jpp_owners_waits.slots;
    jpp_owners_stop();
    jpp_ok(msync(slots, 1, MS_ASYNC) == -1, "no memory is left");
    jpp_is_u64(jpp_here(), JPP_OWNER_NONE, "when it is over");
}


#else


JPP_TEST(jpp_owners_scan_test)
{
    jpp_ok(true, "owners # SKIP not on this machine");
}


#endif

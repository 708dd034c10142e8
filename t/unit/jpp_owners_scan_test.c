
/*
 * Which connection the words of a stack name: a stack that is written by hand,
 * word by word, and that a signal seems to have interrupted.
 */


#include "jpp_test_golden.h"
#include "jpp_test_main.h"
#include "jpp_owner_labels.h"
#include "jpp_owners.h"


#if defined(__x86_64__) && defined(__LP64__)


/* what the scan tells apart, and how far it goes */
#define JPP_OUTER     256
#define JPP_INNER     (JPP_SERVING_WORDS - JPP_OUTER)

/* connections: each of the first is served for its own owner */
#define JPP_SERVED    50

/* these are for nobody, or wait for their next, and the last accepts */
#define JPP_NOBODY    60
#define JPP_LISTENS   79
#define JPP_SLOTS     80

#define JPP_OWNER     1000
#define JPP_MEANTIME  2000

#define JPP_WORDS     (2 * JPP_SERVING_WORDS)


typedef struct {
    uint64_t   first;
    uint64_t   number;
    int        is_open;
} jpp_connection_t;


static jpp_connection_t  jpp_connections[JPP_SLOTS];
static uintptr_t         jpp_layout[JPP_WORDS];     /* the outermost first */
static size_t            jpp_n;                     /* so many are served by */
static ucontext_t        jpp_context;
static jpp_site_hints_t  jpp_hints;
static unsigned          jpp_asked;


static uint64_t
jpp_number(uint32_t index)
{
    return jpp_connections[index].number;
}


static uint32_t
jpp_served(uint32_t index, const uintptr_t *words, uint32_t n,
    uintptr_t *waits)
{
    jpp_asked++;

    if (words == NULL || n < jpp_n) {
        jpp_ok(false, "a stack of %u words", n);
    }

    if (index < JPP_SERVED) {
        return JPP_OWNER + index;
    }

    if (index >= JPP_NOBODY) {
        *waits = index == JPP_LISTENS ? JPP_SERVING_OTHERS : JPP_SERVING_NEXT;
    }

    return JPP_OWNER_NONE;
}


static uint32_t
jpp_meanwhile(uint32_t index)
{
    return JPP_MEANTIME + index;
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

    jpp_clear(JPP_OUTER);

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

    jpp_clear(JPP_OUTER);
    jpp_is_u64(jpp_scan(), JPP_OWNER_NONE, "nobody serves");

    for (i = 0; i < JPP_SLOTS; i++) {
        jpp_connections[i].number = 100 + i;
    }

    serving.ranges[0].start = (uintptr_t) jpp_connections;
    serving.ranges[0].size = sizeof(jpp_connection_t);
    serving.n = JPP_SLOTS;
    serving.number = jpp_number;
    serving.number_at = offsetof(jpp_connection_t, number);
    serving.open_at = offsetof(jpp_connection_t, is_open);
    jpp_serving_init(&serving);

    jpp_ok(jpp_owners_start(&serving, &server), "it starts");
    jpp_is_u64(jpp_scan(), JPP_OWNER_LOOP, "no connection");
}


JPP_TEST(jpp_owners_scan_test_choice)
{
    size_t  i;

    static const struct {
        int          words[24];
        uint32_t     owner;
        const char  *name;
    } rows[] = {
        { { 1, -1 }, JPP_OWNER + 1, "one" },
        { { 1, 2, -1 }, JPP_OWNER + 1, "the outer of two" },
        { { 1, 2, 2, -1 }, JPP_OWNER + 2, "the one with more words" },
        { { 1, 1, 2, 2, 2, -1 }, JPP_OWNER + 1, "two that lead" },
        { { 1, 2, 1, 2, 2, -1 }, JPP_OWNER + 2, "one that leads" },
        { { 1, 2, 2, 1, -1 }, JPP_OWNER + 1, "as many words" },
        { { 1, 2, 3, 3, 2, -1 }, JPP_OWNER + 2, "as many words further in" },

        { { 1, 2, 3, 4, 5, 6, 7, 8, 8, -1 }, JPP_OWNER + 8, "the eighth" },
        { { 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 7, -1 }, JPP_OWNER + 7,
          "the ninth is left over" },

        { { JPP_LISTENS, 1, 2, -1 }, JPP_OWNER + 2, "the newest" },
        { { JPP_LISTENS, 2, 1, 1, -1 }, JPP_OWNER + 2, "wherever it is" },
        { { 1, JPP_LISTENS, 2, -1 }, JPP_OWNER + 1, "it is not accepted" },
        { { JPP_LISTENS, -1 }, JPP_MEANTIME + JPP_LISTENS, "none is" },

        { { 51, -1 }, JPP_MEANTIME + 51, "nobody's" },
        { { 51, 52, 52, -1 }, JPP_MEANTIME + 51, "the outer of these" },
        { { 51, 1, -1 }, JPP_OWNER + 1, "somebody's" },
        { { 51, 51, 1, 2, -1 }, JPP_OWNER + 1, "and not another's" },
        { { 61, -1 }, JPP_MEANTIME + 61, "one that waits" },
        { { 61, 1, -1 }, JPP_MEANTIME + 61, "is before others" },
        { { 0, -1 }, JPP_OWNER, "the first" }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_names(rows[i].words);
        jpp_is_u64(jpp_scan(), rows[i].owner, "%s", rows[i].name);
    }

    /* not where a record begins, and one that is free */

    jpp_names((int[]) { 1, -1 });
    jpp_layout[0]++;
    jpp_is_u64(jpp_scan(), JPP_OWNER_LOOP, "within a record");
    jpp_connections[1].number = 0;
    jpp_names((int[]) { 1, -1 });
    jpp_is_u64(jpp_scan(), JPP_OWNER_LOOP, "a free one");
    jpp_connections[1].number = 101;
}


static void
jpp_register(int number, unsigned index)
{
    jpp_context.uc_mcontext.gregs[number] = index == 0 ? 0
                                    : (greg_t) &jpp_connections[index];
}


#define JPP_N  (JPP_WORDS - 8)


/*
 * The outermost words are looked at first, and then the innermost.  Registers
 * that a call would save are the innermost words; the others count where there
 * is nothing else, and no word where somebody is told.
 */

JPP_TEST(jpp_owners_scan_test_words)
{
    size_t  i, k;

    static const struct {
        size_t       n;
        size_t       names[2][3];        /* words: where, whose and how many */
        uint32_t     owner;
        const char  *name;
        unsigned     saved, other;       /* whose registers are */
        uint32_t     told;
    } rows[] = {
        { JPP_N, { { JPP_OUTER - 1, 1, 1 }, { JPP_N - 5, 2, 5 } },
          JPP_OWNER + 1, .name = "the last of the outermost" },
        { JPP_N, { { JPP_OUTER, 1, 1 }, { JPP_N - 5, 2, 5 } },
          JPP_OWNER + 2, .name = "one word further in" },
        { JPP_N, { { JPP_N - JPP_INNER, 1, 1 } },
          JPP_OWNER + 1, .name = "the first of the innermost" },
        { JPP_N, { { JPP_N - JPP_INNER - 1, 1, 1 } },
          JPP_OWNER_LOOP, .name = "one word further out" },
        { JPP_N, { { JPP_N - 1, 1, 1 } }, JPP_OWNER + 1, .name = "the last" },

        /* between both there is nothing */

        { JPP_OUTER + 3, { { JPP_OUTER + 2, 1, 1 } },
          JPP_OWNER + 1, .name = "the last of a few more" },
        { JPP_OUTER + 3, { { JPP_OUTER + 2, 1, 1 }, { 0, 51, 1 } },
          JPP_OWNER + 1, .name = "with nobody's further out" },
        { JPP_OUTER + 3, { { JPP_OUTER + 2, 52, 1 }, { 0, 51, 1 } },
          JPP_MEANTIME + 51, .name = "of two such the outer" },
        { 1, { { 0, 1, 1 }, { 1, 2, 9 } }, JPP_OWNER + 1, .name = "one word" },

        { JPP_OUTER + 1, { { 0, 1, 1 } }, JPP_OWNER + 1, .saved = 2,
          .name = "in more words none is among the outermost" },
        { JPP_OUTER + 1, { { JPP_OUTER, 1, 1 } }, JPP_OWNER + 2, .saved = 2,
          .name = "but the innermost" },
        { JPP_OUTER, .owner = JPP_OWNER + 3, .other = 3, .name = "another" },
        { JPP_OUTER, { { 0, 51, 1 } }, JPP_OWNER + 3, .other = 3,
          .name = "beside nobody's" },
        { JPP_OUTER, { { 0, 1, 1 } }, JPP_OWNER + 1, .other = 3,
          .name = "but not beside a word" },
        { JPP_OUTER, .owner = JPP_MEANTIME + 52, .other = 3, .told = 52,
          .name = "nor if one was told" },

        { JPP_OUTER, { { 0, 1, 2 } }, JPP_OWNER + 4, .told = 4,
          .name = "who is told" },
        { JPP_OUTER, { { 0, 1, 2 } }, JPP_MEANTIME + 61, .told = 61,
          .name = "who waits" },
        { JPP_OUTER, { { 0, 1, 2 } }, JPP_MEANTIME + JPP_LISTENS,
          .told = JPP_LISTENS, .name = "the last" },
        { JPP_OUTER, { { 0, 1, 2 } }, JPP_OWNER + 1, .told = JPP_SLOTS,
          .name = "no connection" }
    };

    static const int  saved[] = {
        REG_RBX, REG_RBP, REG_R12, REG_R13, REG_R14, REG_R15
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_clear(rows[i].n);

        for (k = 0; k < 2; k++) {
            jpp_name(rows[i].names[k][0], (unsigned) rows[i].names[k][1],
                     rows[i].names[k][2]);
        }

        jpp_register(REG_RBX, rows[i].saved);
        jpp_register(REG_RBP, rows[i].saved);
        jpp_register(REG_RDI, rows[i].other);

        (void) jpp_owners_tell(rows[i].told != 0 ? rows[i].told
                                                 : JPP_OWNERS_UNTOLD);
        jpp_is_u64(jpp_scan(), rows[i].owner, "%s", rows[i].name);
    }

    jpp_is_u64(jpp_owners_tell(JPP_OWNERS_UNTOLD), JPP_SLOTS, "as before");

    for (i = 0; i < sizeof(saved) / sizeof(saved[0]); i++) {
        jpp_clear(JPP_OUTER);
        jpp_name(0, 1, 1);
        jpp_register(saved[i], 2);
        jpp_is_u64(jpp_scan(), JPP_OWNER + 1, "register %zu and a word", i);
        jpp_name(JPP_OUTER - 1, 2, 1);
        jpp_is_u64(jpp_scan(), JPP_OWNER + 2, "and one more");
    }
}


/* Notes what a sample has whose stack has the hints: INDEX is looked at, which
   lies in the word AT, and INNER further in. */

static __attribute__((noinline)) void
jpp_sample(unsigned index, unsigned inner, const char *what)
{
    size_t                i;
    volatile uintptr_t    words[JPP_OUTER];
    jpp_owners_slot_t    *slot = &jpp_owners_waits.slots[index];
    jpp_samples_found_t   found;

    for (i = 0; i < JPP_OUTER; i++) {
        words[i] = 0;
    }

    words[200] = (uintptr_t) &jpp_connections[index];
    words[100] = (uintptr_t) &jpp_connections[inner];

    jpp_owners_base((uintptr_t) &words[JPP_OUTER]);
    jpp_asked = 0;
    slot->is_mixed = false;

    found = jpp_samples.owners(&jpp_hints, (uintptr_t) &words[0]);
    words[200] = words[100] = 0;

    jpp_note("%s: %s %u, %s, %s; %u of %u, %u of %u", what,
             found.waits != NULL ? "waits" : "has", found.owner,
             jpp_asked == 0 ? "by hints" : jpp_asked == 1 ? "one" : "several",
             slot->is_mixed
             && slot->number == jpp_connections[index].number
             && slot->generation == jpp_samples.generation
             ? "learned" : "known",
             jpp_hints.at[0], jpp_hints.kinds[0], jpp_hints.at[1],
             jpp_hints.kinds[1]);
}


/* Two words of the last sample of the stack have to agree. */

JPP_TEST(jpp_owners_scan_test_hints)
{
    jpp_sample(61, 61, "the first sample");
    jpp_sample(61, 61, "another one");
    jpp_sample(61, 62, "another is further in");
    jpp_hints.at[1] = 100;
    jpp_sample(61, 61, "as at first");
    jpp_sample(62, 61, "or further out");
    jpp_sample(62, 62, "another connection");

    jpp_connections[62].number = 7;
    jpp_sample(62, 62, "of another client");
    jpp_connections[62].is_open = -1;
    jpp_sample(62, 62, "it was closed");
    jpp_connections[62].is_open = 0;
    jpp_samples.generation += 2;
    jpp_sample(62, 62, "all was forgotten");

    (void) jpp_owners_slot(63, 9);
    jpp_sample(62, 62, "another slot");
    jpp_connections[62].number = 8;
    (void) jpp_owners_slot(62, 8);
    jpp_sample(62, 62, "the same");
    jpp_owners_settle(0);
    jpp_sample(62, 62, "nobody was served");
    jpp_owners_waits.slots[62].last = 9;
    jpp_owners_settle(0);
    jpp_sample(62, 62, "somebody was");

    jpp_sample(51, 51, "nobody's");
    jpp_sample(JPP_LISTENS, JPP_LISTENS, "one that accepts");
    jpp_hints = (jpp_site_hints_t) { { 200, 100 }, { 1, 1 } };
    jpp_sample(1, 1, "where the last one waited");
    jpp_hints.at[0] = 0;
    jpp_sample(1, 1, "an owner");
    jpp_sample(1, 1, "and again");
    jpp_hints = (jpp_site_hints_t) { { 200, 100 }, { 0, 1 } };
    jpp_sample(61, 61, "but one that waits");

    (void) jpp_owners_tell(4);
    jpp_hints.at[0] = 0;
    jpp_sample(62, 62, "who is told is in no word");
    (void) jpp_owners_tell(JPP_OWNERS_UNTOLD);

    jpp_shows_notes("hints");
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

    jpp_clear(JPP_OUTER);
    jpp_name(0, 1, 1);
    jpp_n = 0;

    jpp_is_u64(jpp_here(), JPP_OWNER + 5, "in a call");
    jpp_owners_base(UINTPTR_MAX);
    jpp_is_u64(jpp_here(), JPP_OWNER + 5, "no base beyond the stack");

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

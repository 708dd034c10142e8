
/*
 * Words that name connections, and those that only look like it.
 */


#include "jpp_owners.h"
#include "jpp_test.h"


#define JPP_SLOTS  50


typedef struct {
    uint64_t   words[29];
} jpp_connection_t;

typedef struct {
    uint64_t   words[12];
} jpp_event_t;


static jpp_connection_t  jpp_connections[JPP_SLOTS];
static jpp_event_t       jpp_reads[JPP_SLOTS], jpp_writes[JPP_SLOTS];
static uint64_t          jpp_numbers[JPP_SLOTS];
static jpp_serving_t     jpp_serving;


static uint64_t
jpp_number(uint32_t index)
{
    jpp_ok(index < JPP_SLOTS, "index %u is one", index);

    return jpp_numbers[index];
}


/* WORD names INDEX; UINT32_MAX: nothing. */

static void
jpp_try(uintptr_t word, uint32_t index, const char *what)
{
    bool               is_found;
    jpp_serving_one_t  one = { 0, UINT32_MAX };

    is_found = jpp_serving_is(&jpp_serving, word, &one);

    if (index == UINT32_MAX) {
        jpp_ok(!is_found, "%s", what);
        return;
    }

    jpp_ok(is_found && one.index == index && one.number == jpp_numbers[index],
           "%s: index %u, number %u", what, one.index, (unsigned) one.number);
}


static void
jpp_test_words(void)
{
    uint32_t  none = UINT32_MAX;

    jpp_try((uintptr_t) &jpp_connections[0], 0, "the first connection");
    jpp_try((uintptr_t) &jpp_connections[JPP_SLOTS - 1], JPP_SLOTS - 1,
            "the last one");
    jpp_try((uintptr_t) &jpp_reads[7], 7, "a read event");
    jpp_try((uintptr_t) &jpp_writes[8], 8, "a write event");

    jpp_try((uintptr_t) &jpp_connections[JPP_SLOTS], none, "one past it");
    jpp_try((uintptr_t) &jpp_connections[0] - 1, none, "before the first");
    jpp_try((uintptr_t) &jpp_connections[7].words[1], none, "a part of one");
    jpp_try((uintptr_t) &jpp_reads[3] + 1, none, "off by one");
    jpp_try(0, none, "nothing");
    jpp_try(UINTPTR_MAX, none, "no address");

    jpp_numbers[9] = 0;
    jpp_try((uintptr_t) &jpp_connections[9], none, "a free one");
    jpp_numbers[9] = 109;
}


static jpp_serving_one_t  jpp_one;


/* In N words from WORDS on what is served stands behind FOUND; 0: nothing. */

static void
jpp_find(const uintptr_t *words, uint32_t n, uint32_t found, const char *what)
{
    jpp_is_u64(jpp_serving_find(&jpp_serving, (uintptr_t) words, n, &jpp_one),
               found, "%s", what);
}


static void
jpp_test_stacks(void)
{
    uintptr_t  words[JPP_SERVING_WORDS + 10] = { 0 };

    words[20] = (uintptr_t) &jpp_writes[3];
    words[30] = (uintptr_t) &jpp_connections[9];
    words[40] = (uintptr_t) &jpp_reads[9] + 8;
    jpp_numbers[9] = 0;

    jpp_find(words, 100, 21, "past a free one");
    jpp_is_u64(jpp_one.index, 3, "the next");

    jpp_numbers[9] = 110;

    jpp_find(words, 100, 31, "the outermost");
    jpp_is_u64(jpp_one.number, 110, "as it is by now");

    jpp_find(words, 30, 21, "not behind the end");
    jpp_find(words, 20, 0, "nor what is not there");
    jpp_find(words + 12, 9, 9, "from a place on");
    jpp_find(words, JPP_SERVING_WORDS + 10, 31, "as many words as the bound");

    words[20] = words[30] = 0;
    words[9] = (uintptr_t) &jpp_connections[1];

    jpp_find(words, JPP_SERVING_WORDS + 10, 0, "and none beyond it");
    jpp_find(words, JPP_SERVING_WORDS + 9, 10, "which is the last");
}


int
main(void)
{
    uint32_t           i;
    jpp_serving_t      none = { 0 };
    jpp_serving_one_t  one;

    for (i = 0; i < JPP_SLOTS; i++) {
        jpp_numbers[i] = 100 + i;
    }

    jpp_serving.ranges[0].start = (uintptr_t) jpp_connections;
    jpp_serving.ranges[0].size = sizeof(jpp_connection_t);
    jpp_serving.ranges[1].start = (uintptr_t) jpp_reads;
    jpp_serving.ranges[1].size = sizeof(jpp_event_t);
    jpp_serving.ranges[2].start = (uintptr_t) jpp_writes;
    jpp_serving.ranges[2].size = sizeof(jpp_event_t);
    jpp_serving.n = JPP_SLOTS;
    jpp_serving.number = jpp_number;
    jpp_serving_init(&jpp_serving);

    jpp_test_words();
    jpp_test_stacks();

    jpp_serving_init(&none);
    jpp_ok(!jpp_serving_is(&none, (uintptr_t) jpp_reads, &one)
           && !jpp_serving_is(&none, 0, &one)
           && !jpp_serving_is(&none, UINTPTR_MAX, &one), "no connections");

    return jpp_done();
}

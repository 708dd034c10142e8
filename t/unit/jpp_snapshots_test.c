
/*
 * Snapshots in a region of memory: what is kept, what a writer that is killed
 * leaves, which one a moment means, and the names of their files.
 */


#include "jpp_recorded.h"
#include "jpp_snapshots.h"
#include "jpp_test_arena.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"


#define JPP_REGION  (sizeof(jpp_snapshots_t) + 64 * JPP_SNAPSHOT_PAGE)


static union {
    jpp_snapshots_t  snapshots;
    uint8_t          bytes[JPP_REGION];
} jpp_region, jpp_copy;

static jpp_snapshot_t  jpp_list[JPP_SNAPSHOTS];
static uint8_t         jpp_data[64 * JPP_SNAPSHOT_PAGE];


static void
jpp_snapshots_fresh(uint32_t keep)
{
    memset(&jpp_region, 0, sizeof(jpp_region));
    jpp_snapshots_init(&jpp_region.snapshots, JPP_REGION);
    jpp_region.snapshots.keep = keep;
}


/* LEN bytes of a snapshot, different for each TIME. */

static void
jpp_snapshots_bytes(jpp_snapshot_t *about, int64_t time, size_t len,
    uint64_t rise, uint64_t held)
{
    size_t  i;

    memset(about, 0, sizeof(jpp_snapshot_t));

    for (i = 0; i < len; i++) {
        jpp_data[i] = (uint8_t) (i * 31 + (size_t) time);
    }

    about->time = time;
    about->reason = JPP_SNAPSHOT_LIMIT;
    about->len = len;
    about->sum = jpp_hash_bytes(jpp_data, len);
    about->rise = rise;
    about->held = held;
    about->generation = (uint64_t) time / 100 + 1;
}


static jpp_code_t
jpp_snapshots_put(int64_t time, size_t len, uint64_t rise, uint64_t held)
{
    jpp_code_t            rc;
    jpp_snapshot_t        about;
    jpp_snapshot_place_t  place;

    jpp_snapshots_bytes(&about, time, len, rise, held);

    rc = jpp_snapshots_begin(&jpp_region.snapshots, &about, &place, &err);

    if (rc == JPP_OK) {
        jpp_snapshots_write(&jpp_region.snapshots, &place, jpp_data, len);
        jpp_ok(jpp_snapshots_end(&jpp_region.snapshots, &place), "is listed");
    }

    return rc;
}


static bool
jpp_snapshots_can_read(const jpp_snapshot_t *about)
{
    static uint8_t  data[sizeof(jpp_data)];

    return jpp_snapshots_read(&jpp_region.snapshots, about, data);
}


/* "4 (rise 2, time 300)" of all that are kept; each can be read. */

static void
jpp_snapshots_show(const char *what)
{
    size_t  i, n, wrong;

    n = jpp_snapshots_list(&jpp_region.snapshots, jpp_list);

    for (i = 0, wrong = 0; i < n; i++) {
        jpp_note("%" PRIu64 ": time %" PRId64 ", rise %" PRIu64 ", held %"
                 PRIu64, jpp_list[i].id, jpp_list[i].time, jpp_list[i].rise,
                 jpp_list[i].held);
        wrong += !jpp_snapshots_can_read(&jpp_list[i]);
    }

    jpp_is_u64(wrong, 0, "%s: all can be read", what);
    jpp_shows_notes("%s", what);
}


JPP_TEST(jpp_snapshots_test_kept)
{
    int64_t  time;

    /* two rises, and what follows them */

    jpp_snapshots_fresh(6);

    for (time = 1; time <= 10; time++) {
        (void) jpp_snapshots_put(time, 5000, 1, 100 - (uint64_t) time);
    }

    jpp_snapshots_show("ten of one rise, the first the largest");
    jpp_is_u64(jpp_region.snapshots.counts[JPP_SNAPSHOT_LIMIT], 10,
               "all are counted");

    for (time = 20; time <= 30; time++) {
        (void) jpp_snapshots_put(time, 5000, 2, (uint64_t) time);
    }

    jpp_snapshots_show("then eleven of another, which grows");

    for (time = 100; time <= 900; time += 100) {
        (void) jpp_snapshots_put(time, 1, (uint64_t) time, 1);
    }

    jpp_snapshots_show("and nine by themselves");
}


/* However many there are, and however large. */

JPP_TEST(jpp_snapshots_test_many)
{
    size_t    n, wrong;
    int64_t   time;
    uint32_t  random;

    jpp_snapshots_fresh(12);

    for (time = 1, random = 1, wrong = 0; time <= 10000; time++) {
        random = random * 1103515245 + 12345;

        (void) jpp_snapshots_put(time, random >> 8 & 0x1ffff,
                                 (uint64_t) time / 100, random >> 4 & 0xff);

        n = jpp_snapshots_list(&jpp_region.snapshots, jpp_list);

        wrong += n == 0 || n > 12 || jpp_list[n - 1].time != time
                 || !jpp_snapshots_can_read(&jpp_list[0])
                 || !jpp_snapshots_can_read(&jpp_list[n - 1]);
    }

    jpp_is_u64(wrong, 0, "the newest is always there, and 12 are at most");
}


JPP_TEST(jpp_snapshots_test_large)
{
    jpp_snapshot_t        about;
    jpp_snapshot_place_t  place;

    jpp_snapshots_fresh(JPP_SNAPSHOTS);

    (void) jpp_snapshots_put(1, 1000, 1, 1);
    jpp_is_u64(jpp_snapshots_put(2, 64 * JPP_SNAPSHOT_PAGE, 1, 1), JPP_OK,
               "as large as all there is");
    jpp_snapshots_show("the others are gone");

    jpp_snapshots_bytes(&about, 3, 1, 1, 1);
    about.len = 64 * JPP_SNAPSHOT_PAGE + 1;

    jpp_is_u64(jpp_snapshots_begin(&jpp_region.snapshots, &about, &place, &err),
               JPP_ERR_LIMIT, "one byte more does not fit");
    jpp_note("%s", err.text);
    jpp_snapshots_show("which leaves what was there");
}


/* A writer may be killed between any two stores, and others go on. */

JPP_TEST(jpp_snapshots_test_killed)
{
    size_t                i, n, wrong;
    jpp_snapshot_t        about;
    jpp_snapshot_place_t  place, other;

    jpp_snapshots_fresh(4);

    (void) jpp_snapshots_put(1, 20000, 1, 1);
    (void) jpp_snapshots_put(2, 20000, 1, 1);

    /* without an end, at first it may still be at work */

    jpp_snapshots_bytes(&about, 10, 20000, 1, 1);
    (void) jpp_snapshots_begin(&jpp_region.snapshots, &about, &place, &err);

    jpp_snapshots_show("one that is being written");

    jpp_is_u64(jpp_snapshots_put(11, 20000, 2, 1), JPP_OK, "another");
    jpp_ok(jpp_snapshots_end(&jpp_region.snapshots, &place),
           "it has kept its room");
    n = jpp_snapshots_list(&jpp_region.snapshots, jpp_list);
    jpp_ok(!jpp_snapshots_can_read(&jpp_list[n - 2]),
           "whose bytes were never written");

    /* half an hour later it was killed */

    jpp_snapshots_bytes(&about, 20, 20000, 3, 1);
    (void) jpp_snapshots_begin(&jpp_region.snapshots, &about, &place, &err);
    (void) jpp_snapshots_put(2000, 20000, 4, 1);
    jpp_snapshots_bytes(&about, 2001, 20000, 3, 1);
    (void) jpp_snapshots_begin(&jpp_region.snapshots, &about, &other, &err);

    jpp_ok(!jpp_snapshots_end(&jpp_region.snapshots, &place),
           "its room was taken");

    /* any byte of the header of a slot may be half written */

    jpp_snapshots_fresh(4);
    (void) jpp_snapshots_put(1, 100, 1, 1);
    (void) jpp_snapshots_put(2, 100, 1, 1);

    jpp_copy = jpp_region;

    for (i = 0, wrong = 0; i < sizeof(jpp_snapshot_slot_t); i++) {

        /* between the sum and what it is of, there is nothing */

        if (i >= sizeof(uint32_t) && i < offsetof(jpp_snapshot_slot_t, about)) {
            continue;
        }

        ((uint8_t *) &jpp_region.snapshots.slots[0])[i] ^= 0x55;

        n = jpp_snapshots_list(&jpp_region.snapshots, jpp_list);
        wrong += n != 1 || jpp_list[0].id != 2;

        /* and the next one is stored */

        wrong += jpp_snapshots_put(3, 100, 1, 1) != JPP_OK;
        n = jpp_snapshots_list(&jpp_region.snapshots, jpp_list);
        wrong += jpp_list[n - 1].time != 3
                 || !jpp_snapshots_can_read(&jpp_list[n - 1]);

        jpp_region = jpp_copy;
    }

    jpp_is_u64(wrong, 0, "half a slot is none, and nothing is lost");
}


JPP_TEST(jpp_snapshots_test_find)
{
    size_t                 i, n;
    const jpp_snapshot_t  *found;

    static const jpp_moment_t  moments[] = {
        { JPP_MOMENT_LAST, 0 },
        { JPP_MOMENT_ID, 2 },
        { JPP_MOMENT_ID, 9 },
        { JPP_MOMENT_TIME, 250 },
        { JPP_MOMENT_TIME, 300 },
        { JPP_MOMENT_TIME, 99 },
        { JPP_MOMENT_TIME, 100000 },
        { JPP_MOMENT_AGO, 700 },
        { JPP_MOMENT_AGO, 1000 },
        { JPP_MOMENT_GENERATION, 2 },
        { JPP_MOMENT_GENERATION, 5 }
    };

    jpp_snapshots_fresh(8);

    jpp_ok(jpp_snapshots_find(jpp_list, 0, &moments[0], 1000, &err) == NULL,
           "there are none");
    jpp_note("%s", err.text);

    (void) jpp_snapshots_put(100, 1, 1, 1);
    (void) jpp_snapshots_put(150, 1, 1, 1);
    (void) jpp_snapshots_put(300, 1, 1, 1);

    n = jpp_snapshots_list(&jpp_region.snapshots, jpp_list);

    for (i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
        found = jpp_snapshots_find(jpp_list, n, &moments[i], 1000, &err);

        if (found != NULL) {
            jpp_note("kind %d, %" PRId64 ": %" PRIu64, (int) moments[i].kind,
                     moments[i].value, found->id);
        } else {
            jpp_note("kind %d, %" PRId64 ": %s", (int) moments[i].kind,
                     moments[i].value, err.text);
        }
    }

    jpp_shows_notes("which one");
}


JPP_TEST(jpp_snapshots_test_names)
{
    char            name[JPP_TAR_NAME];
    size_t          i;
    jpp_identity_t  who, read;

    static const char *const  others[] = {
        "", "heap", "heap/worker-", "heap/worker-1-pid-2-generation-3",
        "heap/worker-1-pid-2-generation-3.dump.gz",
        "heap/worker-01-pid-2-generation-3.dump",
        "heap/worker-1-pid-x-generation-3.dump",
        "pools/worker-1-pid-2-generation-3.dump",
        "heap/worker-99999999999-pid-2-generation-3.dump"
    };

    who = (jpp_identity_t) { 7, 4711, 3 };

    jpp_recorded_name(name, "heap", &who, "dump");
    jpp_is_str(name, "heap/worker-7-pid-4711-generation-3.dump", "a name");

    jpp_ok(jpp_recorded_named(name, "heap", &read, "dump")
           && read.index == 7 && read.pid == 4711 && read.generation == 3,
           "whose it is");
    jpp_ok(!jpp_recorded_named(name, "heap", &read, "reply"), "what it is");

    for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        jpp_ok(!jpp_recorded_named(others[i], "heap", &read, "dump"),
               "no name: \"%s\"", others[i]);
    }
}


JPP_TEST(jpp_snapshots_test_identity)
{
    char            text[256];
    size_t          i, n;
    jpp_identity_t  who = { 7, 4711, 3 };
    jpp_capture_t   capture;

    for (i = 0; i < 4; i++) {
        memset(&capture, 0, sizeof(jpp_capture_t));

        jpp_denies(&arena, jpp_arena_fresh(&arena, JPP_TEST_CAP), 0,
                   jpp_recorded_identify(&capture, &who,
                                         i / 2 == 0 ? &jpp_parser_heap
                                                    : &jpp_parser_stalls,
                                         i % 2 == 0 ? NULL : "a.tar", &arena)
                   ? JPP_OK : JPP_ERR_MEMORY);

        jpp_note("%s, group %u", capture.name, (unsigned) capture.group);

        for (n = 0; n < capture.n_labels + capture.n_inherited_labels; n++) {
            const jpp_label_t  *label;

            label = n < capture.n_labels
                    ? &capture.labels[n]
                    : &capture.inherited_labels[n - capture.n_labels];

            jpp_print(text, "%" PRId64, label->num);
            jpp_note("%s %s=%s", n < capture.n_labels ? "own" : "inherited",
                     label->key, label->str != NULL ? label->str : text);
        }
    }

    jpp_arena_destroy(&arena);
    jpp_shows_notes("labels of heaps and of times, of a server and of a file");
}

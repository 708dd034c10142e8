
/*
 * Archives: which worker a member belongs to, which baseline each worker has,
 * and memory that is denied.
 */


#include "jpp_archive.h"
#include "jpp_test_arena.h"
#include "jpp_test_fleet.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"


static jpp_arena_t    jpp_arena;
static jpp_arena_t    jpp_bytes_arena;
static jpp_archive_t  jpp_archive;


static void
jpp_archive_test_add(jpp_sink_t *sink, uint32_t index, uint64_t generation,
    const char *suffix, const void *data, size_t len)
{
    char            name[JPP_TAR_NAME];
    jpp_identity_t  who = { index, 100 + index, generation };

    jpp_recorded_name(name, "heap", &who, suffix);
    jpp_tar_add(sink, name, 1700000000, data, len);
}


/* The reply of a worker; short of SHORT bytes, as of another version. */

static void
jpp_archive_test_reply(jpp_sink_t *sink, uint32_t index, uint64_t generation,
    bool has_baseline, size_t less)
{
    jpp_message_reply_t   reply = { 0 };
    jpp_recorded_reply_t  packed = { 0 };

    reply.worker = jpp_fleet_worker(index, JPP_JEMALLOC_READY);
    reply.has_baseline = has_baseline;

    if (!has_baseline && less == 0) {
        (void) jpp_err_set(&reply.err, JPP_ERR_LATE, "it said nothing");
    }

    jpp_message_reply_pack(&reply, packed.message);
    jpp_archive_test_add(sink, index, generation, "reply", &packed,
                         sizeof(packed) - less);
}


/* Two generations; the second worker of each shares the first one's. */

static jpp_vec_t *
jpp_archive_test_bytes(bool has_dumps)
{
    uint32_t     i;
    jpp_vec_t   *out;
    jpp_gzip_t   gz;
    jpp_sink_t   sink;

    static uint8_t  buffer[JPP_SINK_BUFFER];

    jpp_arena_fresh(&jpp_bytes_arena, JPP_TEST_CAP);
    out = jpp_vec_create(&jpp_bytes_arena);

    jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_sink_to_vec, out);
    (void) jpp_gzip_open(&gz, &jpp_bytes_arena, 1, &sink);

    for (i = 0; i < 6; i++) {
        jpp_archive_test_reply(&gz.sink, i, 1 + i / 3,
                               has_dumps && i % 3 != 2, i == 5);

        if (has_dumps) {
            jpp_archive_test_add(&gz.sink, i, 1 + i / 3, "dump", "dump", 4);
        }

        if (has_dumps && i % 3 == 0) {
            jpp_archive_test_add(&gz.sink, i, 1 + i / 3, "baseline",
                                 i == 0 ? "one" : "other", i == 0 ? 3 : 5);
        }
    }

    jpp_tar_end(&gz.sink);
    (void) jpp_gzip_close(&gz);
    (void) jpp_sink_flush(&sink);

    return out;
}


static jpp_code_t
jpp_archive_test_read(const jpp_vec_t *bytes, jpp_vec_t **workers)
{
    jpp_code_t  rc;

    *workers = jpp_vec_create(&jpp_arena);

    if (*workers == NULL) {
        return JPP_ERR_MEMORY;
    }

    rc = jpp_archive_open(&jpp_archive, (const char *) bytes->data, bytes->len,
                          &jpp_arena, &err);

    return rc != JPP_OK ? rc
           : jpp_archive_workers(&jpp_archive, &jpp_parser_heap, *workers,
                                 &err);
}


JPP_TEST(jpp_archive_test_workers)
{
    jpp_vec_t                   *bytes, *workers;
    const jpp_archive_worker_t  *worker;

    bytes = jpp_archive_test_bytes(true);

    jpp_denies(&jpp_arena, jpp_arena_fresh(&jpp_arena, JPP_TEST_CAP), 2,
               jpp_archive_test_read(bytes, &workers));

    jpp_vec_each(worker, workers) {
        jpp_note("%s, group %zu, baseline %.*s",
                 jpp_worker_name(&worker->who), worker->group,
                 worker->baseline != NULL ? (int) worker->baseline->len : 4,
                 worker->baseline != NULL
                 ? (const char *) worker->baseline->data : "none");
    }

    jpp_shows_notes("two generations");

    bytes = jpp_archive_test_bytes(false);

    jpp_arena_fresh(&jpp_arena, JPP_TEST_CAP);
    jpp_is_u64(jpp_archive_test_read(bytes, &workers), JPP_ERR_ABSENT,
               "no dump");
    jpp_note("%s", err.text);
    jpp_shows_notes("nobody has answered");

    jpp_arena_destroy(&jpp_arena);
    jpp_arena_destroy(&jpp_bytes_arena);
}


/*
 * The seeds of fuzzers whose inputs are structures: what a parser refuses at
 * its first look leads a fuzzer nowhere.  With JPP_SEEDS=1 those that are made
 * here are written anew, which a change of a structure asks for.
 */


#include "jpp_ledger.h"
#include "jpp_proc.h"
#include "jpp_recorded.h"
#include "jpp_snapshots.h"
#include "jpp_test_dump.h"
#include "jpp_test_fleet.h"
#include "jpp_test_pools.h"


/* of a message, which its fuzzer makes itself */
#define JPP_HEAD  8

#define JPP_MAPS  "00400000-00500000 r-xp 00000000 08:01 11 /usr/sbin/prog\n"


typedef struct {
    const char   *name;          /* of the fuzzer, and of the seed */
    bool        (*accepts)(const char *data, size_t len);
    bool        (*make)(jpp_vec_t *out);     /* NULL: it is written by hand */
} jpp_seed_t;


/* Is what DATA has behind the head of BYTES, LEN long, the rest of them? */

static bool
jpp_seeds_message(uint8_t *bytes, size_t size, const char *data, size_t len)
{
    if (len != size - JPP_HEAD) {
        return false;
    }

    memcpy(bytes + JPP_HEAD, data, len);

    return true;
}


static bool
jpp_seeds_question(const char *data, size_t len)
{
    uint8_t                 bytes[JPP_MESSAGE_QUESTION];
    jpp_message_question_t  question = { 0 };

    jpp_message_question_pack(&question, bytes);

    return jpp_seeds_message(bytes, sizeof(bytes), data, len)
           && jpp_message_question_unpack(&question, bytes, sizeof(bytes))
           && question.type != JPP_MESSAGE_STATUS;
}


static bool
jpp_seeds_reply(const char *data, size_t len)
{
    uint8_t              bytes[JPP_MESSAGE_REPLY];
    jpp_message_reply_t  reply = { 0 };

    jpp_message_reply_pack(&reply, bytes);

    return jpp_seeds_message(bytes, sizeof(bytes), data, len)
           && jpp_message_reply_unpack(&reply, bytes, sizeof(bytes));
}


static bool
jpp_seeds_pools(const char *data, size_t len)
{
    jpp_pools_t  table;

    return jpp_pools_load(&table, &arena, data, len, &err) == JPP_OK;
}


static bool
jpp_seeds_requests(const char *data, size_t len)
{
    return len != 0 && jpp_seeds_pools(data, len - 1);
}


static bool
jpp_seeds_ledger(const char *data, size_t len)
{
    jpp_ledger_read_t  ledger;

    return jpp_ledger_load(&ledger, data, len, &err) == JPP_OK
           && ledger.n != 0;
}


static bool
jpp_seeds_stalls(const char *data, size_t len)
{
    jpp_dump_t     dump;
    jpp_profile_t  profile;

    return jpp_parser_init(&jpp_parser_stalls, &profile, &arena)
           && jpp_parser_stalls.open(&dump, &profile, data, len, NULL, &err)
              == JPP_OK
           && len != 0;
}


static bool
jpp_seeds_times(const char *data, size_t len)
{
    jpp_dump_t          dump;
    jpp_profile_t       profile;
    jpp_read_options_t  options = { 0 };

    return jpp_parser_init(&jpp_parser_cpu, &profile, &arena)
           && jpp_parser_cpu.open(&dump, &profile, data, len, NULL, &err)
              == JPP_OK
           && jpp_parser_cpu.read(&profile, &dump, &options, &err) == JPP_OK;
}


static bool
jpp_seeds_lua(const char *data, size_t len)
{
    jpp_dump_t          dump;
    jpp_profile_t       profile;
    jpp_read_options_t  options = { 0 };

    return jpp_parser_init(&jpp_parser_lua, &profile, &arena)
           && jpp_parser_lua.open(&dump, &profile, data, len, NULL, &err)
              == JPP_OK
           && jpp_parser_lua.read(&profile, &dump, &options, &err) == JPP_OK;
}


static bool
jpp_seeds_heap(const char *data, size_t len)
{
    jpp_profile_t  profile;

    return jpp_parser_init(&jpp_parser_heap, &profile, &arena)
           && jpp_test_add(&profile, NULL, data, len, NULL) == JPP_OK;
}


static bool
jpp_seeds_archive(const char *data, size_t len)
{
    size_t                       n;
    jpp_tar_t                    tar;
    jpp_message_reply_t          reply = { 0 };
    const jpp_recorded_reply_t  *packed;

    jpp_tar_init(&tar, (const uint8_t *) data, len);

    for (n = 0; jpp_tar_next(&tar, &err) == JPP_OK && tar.data != NULL; n++) {
        packed = (const void *) tar.data;

        if (tar.len == sizeof(*packed)
            && !jpp_message_reply_unpack(&reply, packed->message,
                                         JPP_MESSAGE_REPLY))
        {
            return false;
        }
    }

    return n == 4 && reply.has_baseline;
}


static void
jpp_seeds_add(jpp_vec_t *out, const void *data, size_t len)
{
    void  *to;

    to = len != 0 ? jpp_vec_push(out, len) : NULL;

    if (to != NULL) {
        memcpy(to, data, len);
    }
}


static bool
jpp_seeds_add_question(jpp_vec_t *out, const jpp_message_question_t *question)
{
    uint8_t  bytes[JPP_MESSAGE_QUESTION];

    jpp_message_question_pack(question, bytes);
    jpp_seeds_add(out, bytes + JPP_HEAD, sizeof(bytes) - JPP_HEAD);

    return true;
}


static bool
jpp_seeds_add_reply(jpp_vec_t *out, const jpp_message_reply_t *reply)
{
    uint8_t  bytes[JPP_MESSAGE_REPLY];

    jpp_message_reply_pack(reply, bytes);
    jpp_seeds_add(out, bytes + JPP_HEAD, sizeof(bytes) - JPP_HEAD);

    return true;
}


static bool
jpp_seeds_make_control(jpp_vec_t *out)
{
    jpp_message_question_t  question = { 0 };

    question.type = JPP_MESSAGE_CONTROL;
    question.control.active = 1;
    question.control.lg_sample = 14;
    question.control.sampler = -1;
    question.control.purge = true;

    return jpp_seeds_add_question(out, &question);
}


static bool
jpp_seeds_make_times(jpp_vec_t *out)
{
    jpp_message_question_t  question = { 0 };

    question.type = JPP_MESSAGE_TIMES;
    question.times.mode = JPP_MODE_WALL;
    question.times.frequency = 99;
    question.times.seconds = 30;

    return jpp_seeds_add_question(out, &question);
}


static bool
jpp_seeds_make_reply(jpp_vec_t *out)
{
    jpp_message_reply_t  reply = { 0 };

    reply.worker = jpp_fleet_worker(1, JPP_JEMALLOC_READY);
    reply.worker.activity.connections = 512;
    reply.worker.activity.connections_free = 499;
    reply.has_file = true;

    return jpp_seeds_add_reply(out, &reply);
}


static bool
jpp_seeds_make_failed(jpp_vec_t *out)
{
    jpp_message_reply_t  reply = { 0 };

    reply.worker = jpp_fleet_worker(0, JPP_JEMALLOC_ABSENT);
    strcpy(reply.worker.last_error.text, "the dump could not be written");
    (void) jpp_err_set(&reply.err, JPP_ERR_STATE, "there is no jemalloc");

    return jpp_seeds_add_reply(out, &reply);
}


static bool
jpp_seeds_make_pools(jpp_vec_t *out)
{
    jpp_vec_t    *bytes;
    jpp_pools_t   table;

    if (!jpp_pools_init(&table, &arena, JPP_POOLS_REQUESTS, 20)
        || !jpp_test_fill(&table))
    {
        return false;
    }

    bytes = jpp_test_bytes(&table);
    jpp_seeds_add(out, bytes->data, bytes->len);

    return true;
}


static bool
jpp_seeds_make_requests(jpp_vec_t *out)
{
    return jpp_seeds_make_pools(out) && (jpp_seeds_add(out, "\x82", 1), true);
}


static bool
jpp_seeds_make_ledger(jpp_vec_t *out)
{
    ssize_t              n;
    jpp_memfd_t          file;
    jpp_ledger_t         ledger;
    jpp_ledger_row_t    *row;
    jpp_ledger_facts_t   facts = { 0 };
    static uint8_t       bytes[8192];

    if (!jpp_ledger_init(&ledger, &arena, 4096, jpp_vec_create(&arena))) {
        return false;
    }

    row = jpp_ledger_row(&ledger, JPP_LEDGER_DIRTY, "", 0);
    row->bytes = 700;
    row->least = 600;
    row->most = 800;
    row->how = JPP_LEDGER_BOUND;

    row = jpp_ledger_row(&ledger, JPP_LEDGER_ZONE, "zone", 4);
    row->bytes = row->least = row->most = 300;

    facts.sums.pss = 1000;
    strcpy(facts.why, "no pages here");

    jpp_memfd_init(&file);

    n = jpp_memfd_open(&file, NULL, &err) == JPP_OK
        && jpp_ledger_save(&ledger, &facts, file.fd, &err) == JPP_OK
        ? pread(file.fd, bytes, sizeof(bytes), 0) : 0;

    jpp_memfd_close(&file);
    jpp_seeds_add(out, bytes, n > 0 ? (size_t) n : 0);

    return n > 0;
}


static bool
jpp_seeds_make_stalls(jpp_vec_t *out)
{
    jpp_stall_t  stall;

    stall = (jpp_stall_t) {
        .time_nanos = 1700000000000000000, .nanos = 312000000, .pid = 4711,
        .generation = 2, .kind = JPP_STALL_WAITED, .state = JPP_STALL_OVER,
        .depth = 3, .pcs = { 0x400101, 0x7f0000000021, 0x101 },
        .connection = 12, .server = "a.example", .location = "/x",
        .maps = JPP_MAPS, .maps_len = sizeof(JPP_MAPS) - 1
    };

    jpp_seeds_add(out, &stall, sizeof(stall));

    stall.kind = JPP_STALL_FOREIGN;
    stall.state = JPP_STALL_DIED;
    stall.depth = 0;
    stall.maps_len = 0;

    jpp_seeds_add(out, &stall, sizeof(stall));

    return true;
}


static bool
jpp_seeds_make_archive(jpp_vec_t *out)
{
    char                  name[JPP_TAR_NAME];
    size_t                i;
    jpp_sink_t            sink;
    jpp_message_reply_t   reply = { 0 };
    jpp_recorded_reply_t  packed = { 0 };

    static uint8_t      buffer[JPP_SINK_BUFFER];
    static const char   dump[] = JPP_TEST_HEAD("1") JPP_TEST_MAPS;

    reply.worker = jpp_fleet_worker(1, JPP_JEMALLOC_READY);
    reply.has_file = true;
    reply.has_baseline = true;

    jpp_message_reply_pack(&reply, packed.message);
    jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_sink_to_vec, out);

    jpp_recorded_name(name, "heap", &reply.worker.who, "reply");
    jpp_tar_add(&sink, name, 1700000000, &packed, sizeof(packed));

    for (i = 0; i < 2; i++) {
        jpp_recorded_name(name, "heap", &reply.worker.who,
                          i == 0 ? "dump" : "baseline");
        jpp_tar_add(&sink, name, 1700000000, dump, sizeof(dump) - 1);
    }

    jpp_tar_add(&sink, "memory.txt", 1700000000, "Healthy", 7);
    jpp_tar_end(&sink);

    return jpp_sink_flush(&sink) == 0;
}


static const jpp_seed_t  jpp_seeds[] = {
    { "jpp_message/control", jpp_seeds_question, jpp_seeds_make_control },
    { "jpp_message/times", jpp_seeds_question, jpp_seeds_make_times },
    { "jpp_message/reply", jpp_seeds_reply, jpp_seeds_make_reply },
    { "jpp_message/failed", jpp_seeds_reply, jpp_seeds_make_failed },
    { "jpp_pools/worker", jpp_seeds_pools, jpp_seeds_make_pools },
    { "jpp_pools/kinds", jpp_seeds_pools, NULL },
    { "jpp_pools/empty", jpp_seeds_pools, NULL },
    { "jpp_requests/worker", jpp_seeds_requests, jpp_seeds_make_requests },
    { "jpp_details/ledger", jpp_seeds_ledger, jpp_seeds_make_ledger },
    { "jpp_archive/worker", jpp_seeds_archive, jpp_seeds_make_archive },
    { "jpp_stalls/two", jpp_seeds_stalls, jpp_seeds_make_stalls },
    { "jpp_times/cpu", jpp_seeds_times, NULL },
    { "jpp_heap/ages", jpp_seeds_heap, NULL },
    { "jpp_lua/app", jpp_seeds_lua, NULL },
    { "jpp_heap/hand", jpp_seeds_heap, NULL },
    { "jpp_heap/owners", jpp_seeds_heap, NULL },
    { "jpp_heap/threads", jpp_seeds_heap, NULL }
};


static void
jpp_seeds_write(const jpp_seed_t *seed)
{
    char        path[256];
    FILE       *f;
    jpp_vec_t  *out;

    jpp_test_anew();
    out = jpp_vec_create(&arena);

    jpp_print(path, "t/fuzz/corpus/%s", seed->name);
    f = fopen(path, "wb");

    jpp_ok(f != NULL && seed->make(out)
           && fwrite(out->data, 1, out->len, f) == out->len
           && fclose(f) == 0, "%s is written", path);
}


int
main(void)
{
    char              path[256];
    size_t            i;
    jpp_test_file_t   file;

    for (i = 0; i < sizeof(jpp_seeds) / sizeof(jpp_seeds[0]); i++) {

        if (getenv("JPP_SEEDS") != NULL && jpp_seeds[i].make != NULL) {
            jpp_seeds_write(&jpp_seeds[i]);
        }

        jpp_print(path, "../fuzz/corpus/%s", jpp_seeds[i].name);
        file = jpp_test_file(path);

        jpp_test_anew();
        jpp_ok(jpp_seeds[i].accepts(file.data, file.len),
               "%s is read %s%s", jpp_seeds[i].name, err.text,
               jpp_seeds[i].make != NULL ? " (JPP_SEEDS=1 writes it anew)"
                                         : "");
    }

    return jpp_done();
}

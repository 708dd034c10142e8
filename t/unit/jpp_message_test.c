
#include "jpp_test_main.h"
#include "jpp_message.h"
#include "jpp_test_fleet.h"
#include "jpp_test_golden.h"


/* where the texts begin */
#define JPP_REPLY_TEXT       32
#define JPP_REPLY_ALLOCATOR  585
#define JPP_REPLY_VERSION    649
#define JPP_REPLY_VARIABLE   681
#define JPP_REPLY_LUA        1462
#define JPP_REPLY_FAILED     1662


static jpp_message_question_t
jpp_question(void)
{
    jpp_message_question_t  question = { 0 };

    question.type = JPP_MESSAGE_CONTROL;
    question.control.active = 1;
    question.control.lg_sample = 14;
    question.control.reset = true;
    question.control.purge = true;
    question.control.stall = 100;
    question.pools.wants = JPP_POOLS_REQUESTS;
    question.pools.top = 7;
    question.pools.has_clients = false;
    question.times.mode = JPP_MODE_CPU;
    question.times.frequency = 99;
    question.times.seconds = 30;
    question.lua.max_stop = 0;

    return question;
}


JPP_TEST(jpp_test_question)
{
    size_t                  i;
    uint8_t                 data[JPP_MESSAGE_QUESTION];
    jpp_message_question_t  in, out;

    static const jpp_control_t  controls[] = {
        { -1, -1, false, false, -1, -1, -1, -1, -1, 0 },
        { 0, -1, false, false, -1, -1, -1, -1, -1, 0 },
        { 1, -1, false, false, -1, -1, -1, -1, -1, 0 },
        { -1, 10, false, false, -1, -1, -1, -1, -1, 0 },
        { -1, 24, false, false, -1, -1, -1, -1, -1, 0 },
        { -1, -1, true, false, -1, -1, -1, -1, -1, 0 },
        { -1, -1, false, true, -1, -1, -1, -1, -1, 0 },
        { 1, 14, true, true, -1, -1, -1, -1, -1, 0 },
        { -1, -1, false, false, 0, -1, -1, -1, -1, 0 },
        { -1, 12, false, false, 1, -1, -1, -1, -1, 0 },
        { -1, -1, false, false, -1, -1, 0, -1, -1, 0 },
        { -1, -1, false, false, -1, -1, 10, 0, -1, 0 },
        { -1, -1, false, false, -1, -1, 60000, 1, -1, 0 }
    };

    for (i = 0; i < sizeof(controls) / sizeof(controls[0]); i++) {
        in.type = JPP_MESSAGE_CONTROL;
        in.control = controls[i];

        memset(&out, 0x55, sizeof(out));
        jpp_message_question_pack(&in, data);

        jpp_ok(jpp_message_question_unpack(&out, data, sizeof(data)),
               "question %zu", i);
        jpp_note_of("question", out, type, control.active, control.lg_sample,
                    control.reset, control.purge, control.sampler,
                    control.stall, control.owners);
    }

    jpp_shows_notes("questions come back");

    for (i = 0; i < 64; i++) {
        in = jpp_question();
        in.control.lg_sample = (int) i;
        jpp_message_question_pack(&in, data);

        jpp_ok(jpp_message_question_unpack(&out, data, sizeof(data))
               == (i >= 10 && i <= 24), "lg_sample %zu, or not", i);

        in = jpp_question();
        in.control.stall = (int) i;
        jpp_message_question_pack(&in, data);

        jpp_ok(jpp_message_question_unpack(&out, data, sizeof(data))
               == (i == 0 || i >= 10), "stall %zu, or not", i);
    }
}


/* What is no change asks for none, whatever stands there. */

JPP_TEST(jpp_test_question_empty)
{
    unsigned                type;
    uint8_t                 data[JPP_MESSAGE_QUESTION];
    jpp_message_question_t  in, out;

    for (type = JPP_MESSAGE_STATUS; type <= JPP_MESSAGE_DUMP; type++) {
        memset(&in, 0, sizeof(in));
        in.type = (jpp_message_type_t) type;
        in.control.purge = true;

        jpp_message_question_pack(&in, data);

        jpp_ok(jpp_message_question_unpack(&out, data, sizeof(data))
               && out.type == type, "a question of type %u", type);
        jpp_ok(out.control.active == -1 && out.control.lg_sample == -1
               && !out.control.reset && !out.control.purge
               && out.control.stall == -1 && out.control.owners == -1,
               "asks for no change");
    }
}


/* Who asks the same gets one answer: of a change everything counts. */

JPP_TEST(jpp_test_question_same)
{
    size_t                  i;
    uint8_t                 data[JPP_MESSAGE_QUESTION];
    jpp_message_question_t  a, b[14], out;

    static const jpp_message_type_t  types[] = {
        JPP_MESSAGE_CONTROL, JPP_MESSAGE_CONTROL, JPP_MESSAGE_CONTROL,
        JPP_MESSAGE_CONTROL, JPP_MESSAGE_CONTROL, JPP_MESSAGE_POOLS,
        JPP_MESSAGE_POOLS, JPP_MESSAGE_POOLS, JPP_MESSAGE_TIMES,
        JPP_MESSAGE_TIMES, JPP_MESSAGE_TIMES, JPP_MESSAGE_CONTROL,
        JPP_MESSAGE_CONTROL, JPP_MESSAGE_LUA
    };

    a = jpp_question();

    for (i = 0; i < 14; i++) {
        b[i] = jpp_question();
        b[i].type = types[i];
    }

    b[0].control.active = 0;
    b[1].control.lg_sample = 15;
    b[2].control.reset = false;
    b[3].control.purge = false;
    b[4].type = JPP_MESSAGE_DUMP;
    b[5].pools.top = 8;
    b[6].pools.wants = JPP_POOLS_CONNECTIONS;
    b[7].pools.has_clients = true;
    b[8].times.mode = JPP_MODE_WALL;
    b[9].times.frequency = 1000;
    b[10].times.seconds = 86400;
    b[11].control.stall = 0;
    b[12].control.owners = 1;
    b[13].lua.max_stop = 10000;

    for (i = 0; i < 14; i++) {
        a.type = types[i];
        jpp_ok(!jpp_message_question_is_same(&a, &b[i]), "another one %zu", i);
        jpp_ok(jpp_message_question_is_same(&b[i], &b[i]), "and the same");
    }

    a.type = JPP_MESSAGE_DUMP;
    a.control.purge = false;

    jpp_ok(jpp_message_question_is_same(&a, &b[4]),
           "what the type does not use makes no difference");

    a.ages.least = 600;
    jpp_ok(!jpp_message_question_is_same(&a, &b[4]), "an age does");
    a.ages.are_told = true;
    jpp_message_question_pack(&a, data);
    jpp_ok(jpp_message_question_unpack(&out, data, sizeof(data))
           && out.ages.least == 600 && out.ages.are_told, "and arrives");

    a.type = JPP_MESSAGE_STATUS;
    jpp_message_question_pack(&a, data);
    jpp_ok(jpp_message_question_unpack(&out, data, sizeof(data))
           && out.ages.least == 0 && !out.ages.are_told,
           "but for a dump alone");
}


static bool
jpp_question_is_valid(const jpp_message_question_t *question)
{
    const jpp_control_t  *control;

    control = &question->control;

    return (unsigned) question->type < JPP_MESSAGE_TYPES
           && control->active >= -1
           && control->active <= 1
           && (control->lg_sample == -1
               || (control->lg_sample >= 10 && control->lg_sample <= 24))
           && (control->reset == 0 || control->reset == 1)
           && (control->purge == 0 || control->purge == 1);
}


JPP_TEST(jpp_test_question_bytes)
{
    size_t                  i;
    unsigned                value, accepted, wrong;
    uint8_t                 data[JPP_MESSAGE_QUESTION], saved;
    jpp_message_question_t  question;

    question = jpp_question();
    jpp_message_question_pack(&question, data);
    accepted = 0;
    wrong = 0;

    for (i = 0; i < sizeof(data); i++) {
        saved = data[i];

        for (value = 0; value < 256; value++) {
            data[i] = (uint8_t) value;

            if (data[i] != saved
                && jpp_message_question_unpack(&question, data, sizeof(data)))
            {
                accepted++;
                wrong += !jpp_question_is_valid(&question) || i < 8;
            }
        }

        data[i] = saved;
    }

    /*
     * the other types, one of active, 14 rates, two booleans, one of the
     * sampler, 246 and 233 times of a stall, one of owners; of ages four times
     * 255 and a boolean; of pools two sorts of units, 255 and 3 numbers of
     * them, and a boolean; of times a mode, 255 and 3 frequencies, and 255, 255
     * and 1 numbers of seconds; of Lua 255 and 39 times of a stop
     */

    jpp_is_u64(accepted, JPP_MESSAGE_TYPES - 1 + 1 + 14 + 1 + 1 + 1
                         + 246 + 233 + 1
                         + 4 * 255 + 1
                         + 2 + 255 + 3 + 1
                         + 1 + 255 + 3 + 255 + 255 + 1 + 255 + 39,
               "one byte makes other valid questions of it");
    jpp_is_u64(wrong, 0, "and no invalid question is accepted");
}


/* REPLY through bytes, as OUT: is it valid? */

static bool
jpp_travels(const jpp_message_reply_t *reply, jpp_message_reply_t *out)
{
    uint8_t  data[JPP_MESSAGE_REPLY];

    jpp_message_reply_pack(reply, data);

    return jpp_message_reply_unpack(out, data, sizeof(data));
}


/* Every field has a value of its own, as wide as it may be. */

static void
jpp_reply(jpp_message_reply_t *reply)
{
    jpp_jemalloc_t  *jemalloc;

    memset(reply, 0, sizeof(jpp_message_reply_t));

    reply->err.code = JPP_ERR_CUT;
    reply->err.sys_errno = -1;
    reply->err.capture = SIZE_MAX - 7;
    reply->err.line = UINT64_MAX - 1;
    strcpy(reply->err.text, "the dump ends before its end");

    reply->worker.who.index = UINT32_MAX - 2;
    reply->worker.who.pid = INT64_MAX - 3;
    reply->worker.who.generation = UINT64_MAX - 4;
    reply->worker.is_exiting = true;
    reply->worker.started = INT64_MAX - 5;

    jemalloc = &reply->worker.jemalloc;

    jemalloc->state = JPP_JEMALLOC_INACTIVE;
    strcpy(jemalloc->allocator, "libc.so.6");
    strcpy(jemalloc->version, "5.3.0");
    jemalloc->variable = "JE_MALLOC_CONF";
    jemalloc->active = true;
    jemalloc->lg_sample = 63;
    jemalloc->accum = true;
    jemalloc->interval = true;
    jemalloc->gdump = true;
    jemalloc->final = true;
    jemalloc->leak_error = true;
    jemalloc->unsampled = true;

    reply->worker.coverage.since = INT64_MAX - 19;
    reply->worker.coverage.off = INT64_MAX - 20;
    reply->worker.coverage.n_off = UINT64_MAX - 21;

    reply->worker.has_stats = true;
    reply->worker.stats.allocated = UINT64_MAX - 10;
    reply->worker.stats.active = UINT64_MAX - 11;
    reply->worker.stats.metadata = UINT64_MAX - 12;
    reply->worker.stats.resident = UINT64_MAX - 13;
    reply->worker.stats.mapped = UINT64_MAX - 14;
    reply->worker.stats.retained = UINT64_MAX - 15;
    reply->worker.stats.thread_runs = JPP_NONE;
    reply->worker.activity.usage.peak_size = 0x123456789abcdef0;
    reply->worker.activity.usage.oom_score_adj = -1000;
    reply->worker.activity.connections_free = 7;
    reply->worker.activity.loop.max = UINT64_MAX - 8;

    reply->worker.last_error.time = INT64_MAX - 6;
    strcpy(reply->worker.last_error.text, "the dump could not be written");

    reply->worker.lua.bytes[1] = UINT64_MAX - 22;
    reply->worker.lua.uncached = 23;
    strcpy(reply->worker.lua.why, "nginx has no Lua module");

    reply->control.before.source = JPP_SOURCE_JEMALLOC;
    reply->control.before.active = true;
    reply->control.before.lg_sample = 62;
    reply->control.after.source = JPP_SOURCE_SAMPLER;
    reply->control.after.active = true;
    reply->control.after.lg_sample = 61;
    reply->control.purged = UINT64_MAX - 16;

    reply->time_nanos = INT64_MAX - 18;
    reply->has_baseline = true;
}


static bool
jpp_is_same(const jpp_message_reply_t *a, const jpp_message_reply_t *b)
{
    uint8_t  one[JPP_MESSAGE_REPLY], other[JPP_MESSAGE_REPLY];

    jpp_message_reply_pack(a, one);
    jpp_message_reply_pack(b, other);

    return memcmp(one, other, sizeof(one)) == 0;
}


JPP_TEST(jpp_test_reply)
{
    uint8_t              data[JPP_MESSAGE_REPLY + 1];
    jpp_message_reply_t  in, out;

    jpp_reply(&in);
    memset(&out, 0x55, sizeof(out));
    data[JPP_MESSAGE_REPLY] = 0x77;

    jpp_message_reply_pack(&in, data);
    jpp_is_u64(data[JPP_MESSAGE_REPLY], 0x77, "no byte more is written");

    jpp_ok(jpp_message_reply_unpack(&out, data, JPP_MESSAGE_REPLY), "a reply");
    jpp_ok(jpp_is_same(&in, &out), "is the same");
    jpp_note_of("err", out.err, code, sys_errno, capture, line, text);
    jpp_note_of("worker", out.worker, who.index, who.pid, who.generation,
                is_exiting, started, coverage.since, coverage.off,
                coverage.n_off, has_stats, last_error.time, last_error.text,
                lua.bytes[1], lua.uncached, lua.why);
    jpp_note_of("jemalloc", out.worker.jemalloc, state, allocator, version,
                variable, active, lg_sample, accum, interval, gdump, final,
                leak_error, unsampled);
    jpp_note_of("control", out.control, before.source, before.active,
                before.lg_sample, after.source, after.active, after.lg_sample,
                purged);
    jpp_note_of("reply", out, time_nanos, has_baseline, worker.stats.allocated,
                worker.stats.active, worker.stats.metadata,
                worker.stats.resident, worker.stats.mapped,
                worker.stats.retained, worker.stats.thread_runs);
    jpp_shows_notes("a reply comes back");

    memset(&in, 0, sizeof(in));
    jpp_ok(jpp_travels(&in, &out) && jpp_is_same(&in, &out),
           "a reply of zeros is one");
}


/* printable, and zeros behind it */

static bool
jpp_is_clean(const char *text, size_t size)
{
    size_t  i;

    for (i = 0; i < size && text[i] != '\0'; i++) {
        if (text[i] < 0x20 || text[i] >= 0x7f) {
            return false;
        }
    }

    if (i == size) {
        return false;
    }

    while (i < size && text[i] == '\0') {
        i++;
    }

    return i == size;
}


static bool
jpp_is_bool(const bool *value)
{
    return *(const uint8_t *) value <= 1;
}


static bool
jpp_reply_is_valid(const jpp_message_reply_t *reply)
{
    const jpp_jemalloc_t        *jemalloc;
    const jpp_control_result_t  *control;

    jemalloc = &reply->worker.jemalloc;
    control = &reply->control;

    return (unsigned) reply->err.code < JPP_CODES
           && reply->err.sys_errno >= -1
           && jpp_is_clean(reply->err.text, sizeof(reply->err.text))
           && reply->worker.who.pid >= 0
           && reply->worker.started >= 0
           && jpp_is_bool(&reply->worker.is_exiting)
           && (unsigned) jemalloc->state <= JPP_JEMALLOC_READY
           && jpp_is_clean(jemalloc->allocator, sizeof(jemalloc->allocator))
           && jpp_is_clean(jemalloc->version, sizeof(jemalloc->version))
           && strstr("MALLOC_CONF JE_MALLOC_CONF _RJEM_MALLOC_CONF",
                     jemalloc->variable)
              != NULL
           && jemalloc->lg_sample <= 63
           && jpp_is_bool(&jemalloc->active)
           && jpp_is_bool(&jemalloc->accum)
           && jpp_is_bool(&jemalloc->interval)
           && jpp_is_bool(&jemalloc->gdump)
           && jpp_is_bool(&jemalloc->final)
           && jpp_is_bool(&jemalloc->leak_error)
           && jpp_is_bool(&jemalloc->unsampled)
           && reply->worker.coverage.since >= 0
           && reply->worker.coverage.off >= 0
           && jpp_is_bool(&reply->worker.has_stats)
           && reply->worker.last_error.time >= 0
           && jpp_is_clean(reply->worker.last_error.text,
                           sizeof(reply->worker.last_error.text))
           && jpp_is_clean(reply->worker.lua.why,
                           sizeof(reply->worker.lua.why))
           && control->before.source < JPP_SOURCES
           && jpp_is_bool(&control->before.active)
           && control->before.lg_sample <= 63
           && jpp_is_bool(&control->after.active)
           && control->after.lg_sample <= 63
           && control->after.source < JPP_SOURCES
           && reply->time_nanos >= 0
           && jpp_is_bool(&reply->has_baseline);
}


JPP_TEST(jpp_test_reply_bytes)
{
    size_t               i;
    unsigned             value, accepted, last, wrong;
    uint8_t              data[JPP_MESSAGE_REPLY], again[JPP_MESSAGE_REPLY];
    uint8_t              saved;
    jpp_message_reply_t  reply, same;

    jpp_reply(&reply);
    jpp_message_reply_pack(&reply, data);
    accepted = 0;
    last = 0;
    wrong = 0;

    for (i = 0; i < sizeof(data); i++) {
        saved = data[i];

        for (value = 0; value < 256; value++) {
            data[i] = (uint8_t) value;

            if (data[i] == saved
                || !jpp_message_reply_unpack(&reply, data, sizeof(data)))
            {
                continue;
            }

            accepted++;
            last += i == sizeof(data) - 1;
            wrong += !jpp_reply_is_valid(&reply) || i < 8;

            jpp_message_reply_pack(&reply, again);
            wrong += !jpp_message_reply_unpack(&same, again, sizeof(again))
                     || !jpp_is_same(&reply, &same);
        }

        data[i] = saved;
    }

    jpp_ok(accepted > 200000, "%u other replies by one byte", accepted);
    jpp_is_u64(wrong, 0, "and no invalid reply is accepted");
    jpp_is_u64(last, 1, "the last byte is a boolean too");
}


/* The largest value of a field, and one more. */

JPP_TEST(jpp_test_reply_edges)
{
    size_t               i;
    jpp_message_reply_t  reply, out;

    static const struct {
        const char  *name;
        size_t       offset;
        uint32_t     max;
    } rows[] = {
        { "code", offsetof(jpp_message_reply_t, err.code), JPP_CODES - 1 },
        { "errno", offsetof(jpp_message_reply_t, err.sys_errno), INT32_MAX },
        { "state", offsetof(jpp_message_reply_t, worker.jemalloc.state),
          JPP_JEMALLOC_READY },
        { "lg_sample",
          offsetof(jpp_message_reply_t, worker.jemalloc.lg_sample), 63 },
        { "before", offsetof(jpp_message_reply_t, control.before.lg_sample),
          63 },
        { "after", offsetof(jpp_message_reply_t, control.after.lg_sample),
          63 }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_reply(&reply);

        memcpy((char *) &reply + rows[i].offset, &rows[i].max, 4);
        jpp_ok(jpp_travels(&reply, &out) && jpp_is_same(&reply, &out),
               "the largest %s", rows[i].name);

        memcpy((char *) &reply + rows[i].offset,
               &(uint32_t) { rows[i].max + 1 }, 4);
        jpp_ok(!jpp_travels(&reply, &out), "one more");
    }

    jpp_reply(&reply);
    reply.worker.who.pid = -1;
    jpp_ok(!jpp_travels(&reply, &out), "no process is negative");

    jpp_reply(&reply);
    reply.time_nanos = -1;
    jpp_ok(!jpp_travels(&reply, &out), "no time is");

    jpp_reply(&reply);
    reply.worker.last_error.time = -1;
    jpp_ok(!jpp_travels(&reply, &out), "no time of a failure is");
}


JPP_TEST(jpp_test_reply_texts)
{
    size_t               i;
    uint8_t              data[JPP_MESSAGE_REPLY];
    jpp_message_reply_t  reply, out;

    static const struct {
        const char  *name;
        size_t       start;
        size_t       size;
    } rows[] = {
        { "sentence", JPP_REPLY_TEXT, JPP_ERR_TEXT },
        { "allocator", JPP_REPLY_ALLOCATOR, 64 },
        { "lua", JPP_REPLY_LUA, JPP_LUA_WHY },
        { "failure", JPP_REPLY_FAILED, 256 },
        { "version", JPP_REPLY_VERSION, 32 }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_reply(&reply);
        jpp_message_reply_pack(&reply, data);

        memset(data + rows[i].start, 'x', rows[i].size);
        jpp_ok(!jpp_message_reply_unpack(&out, data, sizeof(data)),
               "a %s without an end", rows[i].name);

        data[rows[i].start + rows[i].size - 1] = '\0';
        jpp_ok(jpp_message_reply_unpack(&out, data, sizeof(data)),
               "one that ends at the last byte");
    }

    jpp_is_u64(strlen(out.worker.jemalloc.version), 31, "is that long");

    /* what is evil */

    memset(&reply, 0, sizeof(reply));
    strcpy(reply.err.text, JPP_FLEET_EVIL);
    strcpy(reply.worker.last_error.text, JPP_FLEET_EVIL);
    memset(reply.worker.jemalloc.version, '5', 32);

    jpp_message_reply_pack(&reply, data);
    memcpy(data + JPP_REPLY_ALLOCATOR, "a\nb\0secret", 10);
    jpp_ok(jpp_message_reply_unpack(&out, data, sizeof(data)), "evil texts");

    jpp_is_str(out.err.text, JPP_FLEET_ASCII "???????????%s%n", "are cleaned");
    jpp_is_str(out.worker.last_error.text, JPP_FLEET_ASCII "???????????%s%n",
               "of a failure, too");
    jpp_is_str(out.worker.jemalloc.allocator, "a?b", "each");
    jpp_is_mem(out.worker.jemalloc.allocator + 4, "\0\0\0\0\0\0", 6,
               "and nothing is behind the end");
    jpp_is_str(out.worker.jemalloc.version, "5555555555555555555555555555555",
               "what has no end is cut");
}


JPP_TEST(jpp_test_variables)
{
    size_t               i;
    uint8_t              data[JPP_MESSAGE_REPLY];
    jpp_message_reply_t  reply, out;

    static const struct {
        const char  *in;
        const char  *out;
    } rows[] = {
        { "MALLOC_CONF", "MALLOC_CONF" },
        { "JE_MALLOC_CONF", "JE_MALLOC_CONF" },
        { "_RJEM_MALLOC_CONF", "_RJEM_MALLOC_CONF" },
        { JPP_FLEET_EVIL, "MALLOC_CONF" },
        { NULL, "MALLOC_CONF" }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_reply(&reply);
        reply.worker.jemalloc.variable = rows[i].in;
        jpp_message_reply_pack(&reply, data);

        jpp_ok(jpp_message_reply_unpack(&out, data, sizeof(data)),
               "variable %zu", i);
        jpp_is_str(out.worker.jemalloc.variable, rows[i].out, "its name");
    }

    jpp_ok(jpp_mallctl_variable(3) == NULL, "the variables end there");

    data[JPP_REPLY_VARIABLE] = 3;
    jpp_ok(!jpp_message_reply_unpack(&out, data, sizeof(data)),
           "a variable that no build has");
}


/* Each in memory of its own, so that a sanitizer sees a read beyond its end. */

JPP_TEST(jpp_test_lengths)
{
    size_t                  len;
    uint8_t                 question_data[JPP_MESSAGE_QUESTION + 1] = { 0 };
    uint8_t                 reply_data[JPP_MESSAGE_REPLY + 1] = { 0 };
    uint8_t                *copy;
    unsigned                questions, replies;
    jpp_message_reply_t     reply;
    jpp_message_question_t  question;

    question = jpp_question();
    jpp_message_question_pack(&question, question_data);

    jpp_reply(&reply);
    jpp_message_reply_pack(&reply, reply_data);

    questions = 0;
    replies = 0;

    for (len = 0; len <= JPP_MESSAGE_REPLY + 1; len++) {
        copy = malloc(len != 0 ? len : 1);
        memcpy(copy, reply_data, len);
        replies += jpp_message_reply_unpack(&reply, copy, len);

        if (len <= JPP_MESSAGE_QUESTION + 1) {
            memcpy(copy, question_data, len);
        }

        questions += jpp_message_question_unpack(&question, copy, len);
        free(copy);
    }

    jpp_is_u64(questions, 1, "a question has one length");
    jpp_is_u64(replies, 1, "a reply has one length");

    jpp_ok(!jpp_message_question_unpack(&question, reply_data,
                                        JPP_MESSAGE_QUESTION),
           "the beginning of a reply is no question");
}


/*
 *     message := magic:4 version:4 field*
 *
 * The fields are those of the two lists below, in their order, as they are in
 * memory but without gaps.  A text has zeros from its end on.  The name of a
 * variable, a pointer in memory, is a number that says which.
 */


#include "jpp_control.h"
#include "jpp_message.h"


/* to be changed with the fields */
#define JPP_MESSAGE_VERSION         18

/* "jppQ", "jppR" */
#define JPP_MESSAGE_MAGIC_QUESTION  0x5170706a
#define JPP_MESSAGE_MAGIC_REPLY     0x5270706a

#define JPP_MESSAGE_HEAD            8

#define JPP_MESSAGE_LENGTH(table)   (sizeof(table) / sizeof((table)[0]))


/* jemalloc takes larger ones for this */
#define JPP_MESSAGE_MAX_LG          63


/*
 * The fields in order: type, member, largest value.  A change here needs
 * another JPP_MESSAGE_VERSION.
 */

#define JPP_MESSAGE_QUESTION_FIELDS(X)                                        \
    X(NUMBER, type, JPP_MESSAGE_TYPES - 1)                                    \
    X(INT, control.active, 1)                                                 \
    X(INT, control.lg_sample, JPP_JEMALLOC_LG_MAX)                            \
    X(INT, control.sampler, 1)                                                \
    X(INT, control.stall, JPP_CONTROL_MAX_STALL)                              \
    X(INT, control.owners, 1)                                                 \
    X(NUMBER, control.reset, 1)                                               \
    X(NUMBER, control.purge, 1)                                               \
                                                                              \
    X(NUMBER, ages.least, UINT32_MAX)                                         \
    X(NUMBER, ages.are_told, 1)                                               \
                                                                              \
    X(NUMBER, pools.wants, JPP_POOLS_WANTS - 1)                               \
    X(NUMBER, pools.top, JPP_MAX_ROWS)                                        \
    X(NUMBER, pools.has_clients, 1)                                           \
                                                                              \
    X(NUMBER, times.mode, JPP_MODES - 1)                                      \
    X(NUMBER, times.frequency, JPP_MAX_FREQUENCY)                             \
    X(NUMBER, times.seconds, JPP_MAX_SECONDS)                                 \
                                                                              \
    X(NUMBER, lua.max_stop, JPP_MAX_STOP)

#define JPP_MESSAGE_REPLY_FIELDS(X)                                           \
    X(NUMBER, err.code, JPP_CODES - 1)                                        \
    X(INT, err.sys_errno, INT32_MAX)                                          \
    X(ANY, err.capture, 0)                                                    \
    X(ANY, err.line, 0)                                                       \
    X(TEXT, err.text, 0)                                                      \
                                                                              \
    X(ANY, worker.who.index, 0)                                               \
    X(NUMBER, worker.who.pid, INT64_MAX)                                      \
    X(ANY, worker.who.generation, 0)                                          \
    X(NUMBER, worker.is_exiting, 1)                                           \
    X(NUMBER, worker.started, INT64_MAX)                                      \
    X(ANY, worker.inherited, 0)                                               \
                                                                              \
    X(NUMBER, worker.jemalloc.state, JPP_JEMALLOC_READY)                      \
    X(TEXT, worker.jemalloc.allocator, 0)                                     \
    X(TEXT, worker.jemalloc.version, 0)                                       \
    X(VARIABLE, worker.jemalloc.variable, 0)                                  \
    X(NUMBER, worker.jemalloc.active, 1)                                      \
    X(NUMBER, worker.jemalloc.lg_sample, JPP_MESSAGE_MAX_LG)                  \
    X(NUMBER, worker.jemalloc.accum, 1)                                       \
    X(NUMBER, worker.jemalloc.unsampled, 1)                                   \
    X(NUMBER, worker.jemalloc.hook, JPP_HOOK_ON)                              \
    X(ANY, worker.jemalloc.stacks, 0)                                         \
    X(NUMBER, worker.jemalloc.has_luajit, 1)                                  \
    X(ANY, worker.jemalloc.mappers, 0)                                        \
    X(NUMBER, worker.jemalloc.interval, 1)                                    \
    X(NUMBER, worker.jemalloc.gdump, 1)                                       \
    X(NUMBER, worker.jemalloc.final, 1)                                       \
    X(NUMBER, worker.jemalloc.leak_error, 1)                                  \
                                                                              \
    X(NUMBER, worker.coverage.since, INT64_MAX)                               \
    X(NUMBER, worker.coverage.off, INT64_MAX)                                 \
    X(ANY, worker.coverage.n_off, 0)                                          \
                                                                              \
    X(NUMBER, worker.sampler.is_on, 1)                                        \
    X(NUMBER, worker.sampler.is_hooked, 1)                                    \
    X(NUMBER, worker.sampler.lg_sample, JPP_MESSAGE_MAX_LG)                   \
    X(NUMBER, worker.sampler.since, INT64_MAX)                                \
    X(ANY, worker.sampler.samples, 0)                                         \
    X(ANY, worker.sampler.live, 0)                                            \
    X(ANY, worker.sampler.live_max, 0)                                        \
    X(ANY, worker.sampler.sites, 0)                                           \
    X(ANY, worker.sampler.bytes, 0)                                           \
    X(ANY, worker.sampler.bytes_max, 0)                                       \
    X(ANY, worker.sampler.dropped_live, 0)                                    \
    X(ANY, worker.sampler.dropped_sites, 0)                                   \
    X(ANY, worker.sampler.cut, 0)                                             \
    X(ANY, worker.sampler.slots, 0)                                           \
    X(ANY, worker.sampler.objects, 0)                                         \
    X(ANY, worker.sampler.foreign, 0)                                         \
    X(ANY, worker.sampler.lost, 0)                                            \
                                                                              \
    X(NUMBER, worker.has_stats, 1)                                            \
    X(ANY, worker.stats, 0)                                                   \
    X(ANY, worker.activity, 0)                                                \
                                                                              \
    X(ANY, worker.stalling.threshold, 0)                                      \
    X(NUMBER, worker.stalling.is_foreign, 1)                                  \
    X(NUMBER, worker.has_owners, 1)                                           \
                                                                              \
    X(ANY, worker.lua.bytes, 0)                                               \
    X(ANY, worker.lua.uncached, 0)                                            \
    X(TEXT, worker.lua.why, 0)                                                \
                                                                              \
    X(NUMBER, worker.last_error.time, INT64_MAX)                              \
    X(TEXT, worker.last_error.text, 0)                                        \
                                                                              \
    X(NUMBER, control.before.source, JPP_SOURCES - 1)                         \
    X(NUMBER, control.before.active, 1)                                       \
    X(NUMBER, control.before.lg_sample, JPP_MESSAGE_MAX_LG)                   \
    X(NUMBER, control.after.source, JPP_SOURCES - 1)                          \
    X(NUMBER, control.after.active, 1)                                        \
    X(NUMBER, control.after.lg_sample, JPP_MESSAGE_MAX_LG)                    \
    X(ANY, control.purged, 0)                                                 \
                                                                              \
    X(NUMBER, time_nanos, INT64_MAX)                                          \
    X(ANY, n_resets, 0)                                                       \
    X(NUMBER, has_file, 1)                                                    \
    X(NUMBER, has_baseline, 1)


typedef enum {
    JPP_MESSAGE_NUMBER = 0,        /* a bool, an enum, of any width: 0..max */
    JPP_MESSAGE_INT,               /* -1..max */
    JPP_MESSAGE_ANY,               /* numbers without a bound */
    JPP_MESSAGE_VARIABLE,          /* const char *: a name */
    JPP_MESSAGE_TEXT               /* char[] */
} jpp_message_value_t;


typedef struct {
    jpp_message_value_t  type;
    size_t               offset;
    size_t               width;
    uint64_t             max;
} jpp_message_field_t;


#define JPP_MESSAGE_WIDTH(message, member)                                    \
    sizeof(((jpp_message_##message##_t *) 0)->member)

#define JPP_MESSAGE_FIELD(message, type, member, max)                         \
    { JPP_MESSAGE_##type, offsetof(jpp_message_##message##_t, member),        \
      JPP_MESSAGE_WIDTH(message, member), max },

#define JPP_MESSAGE_ASK(type, member, max)                                    \
    JPP_MESSAGE_FIELD(question, type, member, max)
#define JPP_MESSAGE_ANSWER(type, member, max)                                 \
    JPP_MESSAGE_FIELD(reply, type, member, max)

#define JPP_MESSAGE_ADD_ASK(type, member, max)                                \
    + JPP_MESSAGE_WIDTH(question, member)
#define JPP_MESSAGE_ADD_ANSWER(type, member, max)                             \
    + JPP_MESSAGE_WIDTH(reply, member)

_Static_assert(JPP_MESSAGE_HEAD
               JPP_MESSAGE_QUESTION_FIELDS(JPP_MESSAGE_ADD_ASK)
               == JPP_MESSAGE_QUESTION, "the size of a question");
_Static_assert(JPP_MESSAGE_HEAD
               JPP_MESSAGE_REPLY_FIELDS(JPP_MESSAGE_ADD_ANSWER)
               == JPP_MESSAGE_REPLY, "the size of a reply");


static const jpp_message_field_t  jpp_message_question[] = {
    JPP_MESSAGE_QUESTION_FIELDS(JPP_MESSAGE_ASK)
};


static const jpp_message_field_t  jpp_message_reply[] = {
    JPP_MESSAGE_REPLY_FIELDS(JPP_MESSAGE_ANSWER)
};


/* The number of the variable NAME; of one that no build has it is 0. */

static uint64_t
jpp_message_variable(const char *name)
{
    uint32_t     i;
    const char  *known;

    for (i = 0; (known = jpp_mallctl_variable(i)) != NULL; i++) {
        if (name != NULL && strcmp(name, known) == 0) {
            return i;
        }
    }

    return 0;
}


static void
jpp_message_pack(const void *message, uint32_t magic,
    const jpp_message_field_t *fields, size_t n, uint8_t *data)
{
    size_t       i, len;
    uint64_t     variable;
    const char  *from, *name;

    memcpy(data, (uint32_t[]) { magic, JPP_MESSAGE_VERSION }, JPP_MESSAGE_HEAD);
    data += JPP_MESSAGE_HEAD;

    for (i = 0; i < n; data += fields[i++].width) {
        from = (const char *) message + fields[i].offset;

        if (fields[i].type == JPP_MESSAGE_TEXT) {
            len = strnlen(from, fields[i].width - 1);
            memcpy(data, from, len);
            memset(data + len, 0, fields[i].width - len);

        } else if (fields[i].type == JPP_MESSAGE_VARIABLE) {
            memcpy(&name, from, sizeof(name));
            variable = jpp_message_variable(name);
            memcpy(data, &variable, sizeof(variable));

        } else {
            memcpy(data, from, fields[i].width);
        }
    }
}


void
jpp_message_question_pack(const jpp_message_question_t *question,
    uint8_t data[JPP_MESSAGE_QUESTION])
{
    jpp_message_question_t  copy;

    copy = *question;

    if (copy.type != JPP_MESSAGE_CONTROL) {
        jpp_control_init(&copy.control);
    }

    if (copy.type != JPP_MESSAGE_DUMP) {
        memset(&copy.ages, 0, sizeof(jpp_ages_t));
    }

    if (copy.type != JPP_MESSAGE_POOLS) {
        memset(&copy.pools, 0, sizeof(jpp_message_pools_t));
    }

    if (copy.type != JPP_MESSAGE_TIMES) {
        memset(&copy.times, 0, sizeof(jpp_message_times_t));
    }

    if (copy.type != JPP_MESSAGE_LUA) {
        memset(&copy.lua, 0, sizeof(jpp_message_lua_t));
    }

    jpp_message_pack(&copy, JPP_MESSAGE_MAGIC_QUESTION, jpp_message_question,
                     JPP_MESSAGE_LENGTH(jpp_message_question), data);
}


void
jpp_message_reply_pack(const jpp_message_reply_t *reply,
    uint8_t data[JPP_MESSAGE_REPLY])
{
    jpp_message_pack(reply, JPP_MESSAGE_MAGIC_REPLY, jpp_message_reply,
                     JPP_MESSAGE_LENGTH(jpp_message_reply), data);
}


/* False: it is not valid. */

static bool
jpp_message_get(const jpp_message_field_t *field, const uint8_t *p, char *to)
{
    uint64_t     value;
    const char  *name;

    memcpy(to, p, field->width);

    if (field->type == JPP_MESSAGE_ANY) {
        return true;
    }

    if (field->type == JPP_MESSAGE_TEXT) {
        if (memchr(p, '\0', field->width) == NULL) {
            return false;
        }

        /* with zeros up to its end */

        (void) strncpy(to, (const char *) p, field->width);
        jpp_ascii_clean(to);

        return true;
    }

    value = jpp_scan_member(p, field->width);

    if (field->type == JPP_MESSAGE_VARIABLE) {
        name = jpp_mallctl_variable((uint32_t) jpp_smaller(value, UINT32_MAX));
        memcpy(to, &name, sizeof(name));

        return name != NULL;
    }

    return value <= field->max
           || (field->type == JPP_MESSAGE_INT && value == UINT32_MAX);
}


static bool
jpp_message_unpack(void *message, uint32_t magic,
    const jpp_message_field_t *fields, size_t n, const uint8_t *data)
{
    size_t  i;

    if (jpp_scan_member(data, 4) != magic
        || jpp_scan_member(data + 4, 4) != JPP_MESSAGE_VERSION)
    {
        return false;
    }

    data += JPP_MESSAGE_HEAD;

    for (i = 0; i < n; data += fields[i++].width) {
        if (!jpp_message_get(&fields[i], data,
                             (char *) message + fields[i].offset))
        {
            return false;
        }
    }

    return true;
}


bool
jpp_message_question_unpack(jpp_message_question_t *question,
    const uint8_t *data, size_t len)
{
    /* what does not travel */

    jpp_control_init(&question->control);

    return len == JPP_MESSAGE_QUESTION
           && jpp_message_unpack(question, JPP_MESSAGE_MAGIC_QUESTION,
                                 jpp_message_question,
                                 JPP_MESSAGE_LENGTH(jpp_message_question),
                                 data)
           && (question->control.lg_sample == -1
               || question->control.lg_sample >= JPP_JEMALLOC_LG_MIN)
           && (question->control.stall <= 0
               || question->control.stall >= JPP_CONTROL_MIN_STALL);
}


bool
jpp_message_reply_unpack(jpp_message_reply_t *reply, const uint8_t *data,
    size_t len)
{
    return len == JPP_MESSAGE_REPLY
           && jpp_message_unpack(reply, JPP_MESSAGE_MAGIC_REPLY,
                                 jpp_message_reply,
                                 JPP_MESSAGE_LENGTH(jpp_message_reply), data);
}


/*
 *     message := magic:4 version:4 field*
 *
 * The fields are those of the two lists below, in their order, without gaps.
 * Numbers and enums have fixed widths, least byte first; a boolean is a byte, 0
 * or 1; a text has all the bytes of its array, zeros from its end on.  The name
 * of a variable, a pointer in memory, is a byte that says which.
 */


#include "jpp_control.h"
#include "jpp_message.h"
#include "jpp_stats.h"


/* to be changed with the fields */
#define JPP_MESSAGE_VERSION         15

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
    X(U32, type, JPP_MESSAGE_TYPES - 1)                                       \
    X(INT, control.active, 1)                                                 \
    X(INT, control.lg_sample, JPP_JEMALLOC_LG_MAX)                            \
    X(INT, control.sampler, 1)                                                \
    X(INT, control.stall, JPP_CONTROL_MAX_STALL)                              \
    X(INT, control.owners, 1)                                                 \
    X(U32, control.reset, 1)                                                  \
    X(U32, control.purge, 1)                                                  \
                                                                              \
    X(U32, pools.wants, JPP_POOLS_WANTS - 1)                                  \
    X(U32, pools.top, JPP_MAX_ROWS)                                           \
    X(BOOL, pools.has_clients, 1)                                             \
                                                                              \
    X(U32, times.mode, JPP_MODES - 1)                                         \
    X(U32, times.frequency, JPP_MAX_FREQUENCY)                                \
    X(U32, times.seconds, JPP_MAX_SECONDS)

#define JPP_MESSAGE_REPLY_FIELDS(X)                                           \
    X(U32, err.code, JPP_CODES - 1)                                           \
    X(INT, err.sys_errno, INT32_MAX)                                          \
    X(SIZE, err.capture, SIZE_MAX)                                            \
    X(U64, err.line, UINT64_MAX)                                              \
    X(TEXT, err.text, JPP_ERR_TEXT)                                           \
                                                                              \
    X(U32, worker.who.index, UINT32_MAX)                                      \
    X(U64, worker.who.pid, INT64_MAX)                                         \
    X(U64, worker.who.generation, UINT64_MAX)                                 \
    X(BOOL, worker.is_exiting, 1)                                             \
    X(U64, worker.started, INT64_MAX)                                         \
    X(U64, worker.inherited, UINT64_MAX)                                      \
                                                                              \
    X(U32, worker.jemalloc.state, JPP_JEMALLOC_READY)                         \
    X(TEXT, worker.jemalloc.allocator,                                        \
      sizeof(((jpp_jemalloc_t *) 0)->allocator))                              \
    X(TEXT, worker.jemalloc.version, sizeof(((jpp_jemalloc_t *) 0)->version)) \
    X(VARIABLE, worker.jemalloc.variable, 0)                                  \
    X(BOOL, worker.jemalloc.active, 1)                                        \
    X(U32, worker.jemalloc.lg_sample, JPP_MESSAGE_MAX_LG)                     \
    X(BOOL, worker.jemalloc.accum, 1)                                         \
    X(BOOL, worker.jemalloc.unsampled, 1)                                     \
    X(U32, worker.jemalloc.hook, JPP_HOOK_ON)                                 \
    X(NUMBERS, worker.jemalloc.stacks, sizeof(jpp_backtrace_counts_t))        \
    X(BOOL, worker.jemalloc.has_luajit, 1)                                    \
    X(U32, worker.jemalloc.mappers, UINT32_MAX)                               \
    X(BOOL, worker.jemalloc.interval, 1)                                      \
    X(BOOL, worker.jemalloc.gdump, 1)                                         \
    X(BOOL, worker.jemalloc.final, 1)                                         \
    X(BOOL, worker.jemalloc.leak_error, 1)                                    \
                                                                              \
    X(U64, worker.coverage.since, INT64_MAX)                                  \
    X(U64, worker.coverage.off, INT64_MAX)                                    \
    X(U64, worker.coverage.n_off, UINT64_MAX)                                 \
                                                                              \
    X(BOOL, worker.sampler.is_on, 1)                                          \
    X(BOOL, worker.sampler.is_hooked, 1)                                      \
    X(U32, worker.sampler.lg_sample, JPP_MESSAGE_MAX_LG)                      \
    X(U64, worker.sampler.since, INT64_MAX)                                   \
    X(U64, worker.sampler.samples, UINT64_MAX)                                \
    X(U64, worker.sampler.live, UINT64_MAX)                                   \
    X(U64, worker.sampler.live_max, UINT64_MAX)                               \
    X(U64, worker.sampler.sites, UINT64_MAX)                                  \
    X(U64, worker.sampler.bytes, UINT64_MAX)                                  \
    X(U64, worker.sampler.bytes_max, UINT64_MAX)                              \
    X(U64, worker.sampler.dropped_live, UINT64_MAX)                           \
    X(U64, worker.sampler.dropped_sites, UINT64_MAX)                          \
    X(U64, worker.sampler.cut, UINT64_MAX)                                    \
    X(U32, worker.sampler.slots, UINT32_MAX)                                  \
    X(U32, worker.sampler.objects, UINT32_MAX)                                \
    X(U32, worker.sampler.foreign, UINT32_MAX)                                \
    X(U32, worker.sampler.lost, UINT32_MAX)                                   \
    X(U32, worker.sampler.kept, UINT32_MAX)                                   \
                                                                              \
    X(BOOL, worker.has_stats, 1)                                              \
    X(NUMBERS, worker.stats, sizeof(jpp_stats_t))                             \
    X(NUMBERS, worker.activity, sizeof(jpp_activity_t))                       \
                                                                              \
    X(U64, worker.stalling.threshold, UINT64_MAX)                             \
    X(BOOL, worker.stalling.is_foreign, 1)                                    \
    X(BOOL, worker.has_owners, 1)                                             \
                                                                              \
    X(U64, worker.last_error.time, INT64_MAX)                                 \
    X(TEXT, worker.last_error.text, sizeof(((jpp_failure_t *) 0)->text))      \
                                                                              \
    X(BOOL, control.has_profiler, 1)                                          \
    X(BOOL, control.before.by_sampler, 1)                                     \
    X(BOOL, control.before.active, 1)                                         \
    X(U32, control.before.lg_sample, JPP_MESSAGE_MAX_LG)                      \
    X(BOOL, control.after.by_sampler, 1)                                      \
    X(BOOL, control.after.active, 1)                                          \
    X(U32, control.after.lg_sample, JPP_MESSAGE_MAX_LG)                       \
    X(BOOL, control.has_stats, 1)                                             \
    X(U64, control.held_before, UINT64_MAX)                               \
    X(U64, control.held_after, UINT64_MAX)                                \
                                                                              \
    X(U64, time_nanos, INT64_MAX)                                             \
    X(U64, n_resets, UINT64_MAX)                                              \
    X(BOOL, has_file, 1)                                                      \
    X(BOOL, has_baseline, 1)


typedef enum {                     /* in memory, and its values */
    JPP_MESSAGE_BOOL = 0,          /* bool */
    JPP_MESSAGE_U32,               /* uint32_t, an enum: 0..max */
    JPP_MESSAGE_INT,               /* int: -1..max */
    JPP_MESSAGE_U64,               /* uint64_t, int64_t: 0..max */
    JPP_MESSAGE_SIZE,              /* size_t: 0..max */
    JPP_MESSAGE_VARIABLE,          /* const char *: a name */
    JPP_MESSAGE_TEXT,              /* char[max] */
    JPP_MESSAGE_NUMBERS            /* max bytes of nothing but uint64_t */
} jpp_message_value_t;


typedef struct {
    jpp_message_value_t  type;
    size_t               offset;
    size_t               width;    /* in a message */
    uint64_t             max;
} jpp_message_field_t;


_Static_assert(sizeof(jpp_stats_t) % sizeof(uint64_t) == 0
               && sizeof(jpp_activity_t) % sizeof(uint64_t) == 0,
               "they have nothing but numbers of 64 bits");
_Static_assert(sizeof(jpp_code_t) == sizeof(uint32_t),
               "an enum has the width of an unsigned");


/* bytes in a message, by type */

#define JPP_MESSAGE_WIDTH_BOOL(max)      1
#define JPP_MESSAGE_WIDTH_U32(max)       4
#define JPP_MESSAGE_WIDTH_INT(max)       4
#define JPP_MESSAGE_WIDTH_U64(max)       8
#define JPP_MESSAGE_WIDTH_SIZE(max)      8
#define JPP_MESSAGE_WIDTH_VARIABLE(max)  1
#define JPP_MESSAGE_WIDTH_TEXT(max)      (max)
#define JPP_MESSAGE_WIDTH_NUMBERS(max)   (max)

#define JPP_MESSAGE_ADD(type, member, max)                                    \
    + JPP_MESSAGE_WIDTH_##type(max)

#define JPP_MESSAGE_ASK(type, member, max)                                    \
    { JPP_MESSAGE_##type, offsetof(jpp_message_question_t, member),           \
      JPP_MESSAGE_WIDTH_##type(max), max },

#define JPP_MESSAGE_ANSWER(type, member, max)                                 \
    { JPP_MESSAGE_##type, offsetof(jpp_message_reply_t, member),              \
      JPP_MESSAGE_WIDTH_##type(max), max },

_Static_assert(JPP_MESSAGE_HEAD JPP_MESSAGE_QUESTION_FIELDS(JPP_MESSAGE_ADD)
               == JPP_MESSAGE_QUESTION, "the size of a question");
_Static_assert(JPP_MESSAGE_HEAD JPP_MESSAGE_REPLY_FIELDS(JPP_MESSAGE_ADD)
               == JPP_MESSAGE_REPLY, "the size of a reply");


static const jpp_message_field_t  jpp_message_question[] = {
    JPP_MESSAGE_QUESTION_FIELDS(JPP_MESSAGE_ASK)
};


static const jpp_message_field_t  jpp_message_reply[] = {
    JPP_MESSAGE_REPLY_FIELDS(JPP_MESSAGE_ANSWER)
};


static void
jpp_message_put(uint8_t *p, uint64_t value, size_t width)
{
    size_t  i;

    for (i = 0; i < width; i++) {
        p[i] = (uint8_t) (value >> 8 * i);
    }
}


static uint64_t
jpp_message_variable(const char *name)
{
    uint32_t     i;
    const char  *known;

    for (i = 0; name != NULL; i++) {
        known = jpp_mallctl_variable(i);

        if (known == NULL) {
            break;
        }

        if (strcmp(name, known) == 0) {
            return i;
        }
    }

    return 0;
}


static void
jpp_message_put_field(const jpp_message_field_t *field, const char *from,
    uint8_t *p)
{
    bool         is_true;
    size_t       i, size;
    uint32_t     u32;
    uint64_t     value;
    const char  *name;

    switch (field->type) {

    case JPP_MESSAGE_BOOL:
        memcpy(&is_true, from, sizeof(is_true));
        value = is_true;
        break;

    case JPP_MESSAGE_U32:
    case JPP_MESSAGE_INT:
        memcpy(&u32, from, sizeof(u32));
        value = u32;
        break;

    case JPP_MESSAGE_SIZE:
        memcpy(&size, from, sizeof(size));
        value = size;
        break;

    case JPP_MESSAGE_VARIABLE:
        memcpy(&name, from, sizeof(name));
        value = jpp_message_variable(name);
        break;

    case JPP_MESSAGE_TEXT:
        size = strnlen(from, field->width - 1);
        memcpy(p, from, size);
        memset(p + size, 0, field->width - size);
        return;

    case JPP_MESSAGE_U64:
    case JPP_MESSAGE_NUMBERS:
    default:
        for (i = 0; i < field->width; i += sizeof(value)) {
            memcpy(&value, from + i, sizeof(value));
            jpp_message_put(p + i, value, sizeof(value));
        }

        return;
    }

    jpp_message_put(p, value, field->width);
}


static void
jpp_message_pack(const void *message, uint32_t magic,
    const jpp_message_field_t *fields, size_t n, uint8_t *data)
{
    size_t    i;
    uint8_t  *p;

    jpp_message_put(data, magic, 4);
    jpp_message_put(data + 4, JPP_MESSAGE_VERSION, 4);

    p = data + JPP_MESSAGE_HEAD;

    for (i = 0; i < n; p += fields[i++].width) {
        jpp_message_put_field(&fields[i],
                              (const char *) message + fields[i].offset, p);
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

    if (copy.type != JPP_MESSAGE_POOLS) {
        memset(&copy.pools, 0, sizeof(jpp_message_pools_t));
    }

    if (copy.type != JPP_MESSAGE_TIMES) {
        memset(&copy.times, 0, sizeof(jpp_message_times_t));
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


static uint64_t
jpp_message_get(const uint8_t *p, size_t width)
{
    size_t    i;
    uint64_t  value;

    for (i = 0, value = 0; i < width; i++) {
        value |= (uint64_t) p[i] << 8 * i;
    }

    return value;
}


/* False: it is not valid. */

static bool
jpp_message_get_field(const jpp_message_field_t *field, const uint8_t *p,
    char *to)
{
    bool         is_true;
    size_t       i, size;
    uint32_t     u32;
    uint64_t     value;
    const char  *name;

    if (field->type == JPP_MESSAGE_TEXT) {
        if (memchr(p, '\0', field->width) == NULL) {
            return false;
        }

        for (i = 0; p[i] != '\0'; i++) {
            to[i] = jpp_ascii((char) p[i]);
        }

        memset(to + i, 0, field->width - i);

        return true;
    }

    if (field->type == JPP_MESSAGE_NUMBERS) {

        for (i = 0; i < field->width; i += sizeof(value)) {
            value = jpp_message_get(p + i, sizeof(value));
            memcpy(to + i, &value, sizeof(value));
        }

        return true;
    }

    value = jpp_message_get(p, field->width);

    if (field->type == JPP_MESSAGE_VARIABLE) {
        name = jpp_mallctl_variable((uint32_t) value);
        memcpy(to, &name, sizeof(name));
        return name != NULL;
    }

    /* UINT32_MAX: -1 */

    if (value > field->max
        && !(field->type == JPP_MESSAGE_INT && value == UINT32_MAX))
    {
        return false;
    }

    if (field->type == JPP_MESSAGE_BOOL) {
        is_true = value != 0;
        memcpy(to, &is_true, sizeof(is_true));

    } else if (field->type == JPP_MESSAGE_U64) {
        memcpy(to, &value, sizeof(value));

    } else if (field->type == JPP_MESSAGE_SIZE) {
        size = (size_t) value;
        memcpy(to, &size, sizeof(size));

    } else {
        u32 = (uint32_t) value;
        memcpy(to, &u32, sizeof(u32));
    }

    return true;
}


static bool
jpp_message_unpack(void *message, uint32_t magic,
    const jpp_message_field_t *fields, size_t n, const uint8_t *data)
{
    size_t          i;
    const uint8_t  *p;

    if (jpp_message_get(data, 4) != magic
        || jpp_message_get(data + 4, 4) != JPP_MESSAGE_VERSION)
    {
        return false;
    }

    p = data + JPP_MESSAGE_HEAD;

    for (i = 0; i < n; p += fields[i++].width) {

        if (!jpp_message_get_field(&fields[i], p,
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

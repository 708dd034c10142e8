
/*
 * The messages between workers: a question and a reply, packed in a fixed
 * number of bytes.  The adapter sends them.
 *
 * Both ends are processes of one machine, and mostly of one module; another
 * layout is another version, and is refused.  Unpacking checks only that every
 * value is valid for its type, and that strings end and are printable ASCII.
 * It does not check that values are true: the asker knows better which worker
 * it asks.
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_MESSAGE_H_INCLUDED_
#define _JPP_MESSAGE_H_INCLUDED_


#include "jpp_pools_table.h"
#include "jpp_worker.h"


/* Bytes in a message.  Another sum of its fields does not compile. */
#define JPP_MESSAGE_QUESTION  70
#define JPP_MESSAGE_REPLY     1962


/* What is asked for, besides the worker's state, which every reply has. */
typedef enum {
    JPP_MESSAGE_STATUS = 0,        /* nothing else */
    JPP_MESSAGE_DUMP,              /* a dump of its heap */
    JPP_MESSAGE_CONTROL,           /* a change */
    JPP_MESSAGE_POOLS,             /* a table of its pools */
    JPP_MESSAGE_LEDGER,            /* whose all its memory is */
    JPP_MESSAGE_SMAPS,             /* what its page tables say in all */
    JPP_MESSAGE_ARENAS,            /* its allocator, by arena and size */
    JPP_MESSAGE_TIMES,             /* samples of its time, for some seconds */
    JPP_MESSAGE_LUA,               /* the heap of LuaJIT, by its holders */
    JPP_MESSAGE_TYPES
} jpp_message_type_t;


/* Which requests or connections a table of pools shows one by one. */
typedef struct {
    jpp_pools_wants_t      wants;
    uint32_t               top;            /* how many: JPP_MAX_ROWS at most */
    bool                   has_clients;    /* with their addresses and URIs */
} jpp_message_pools_t;


/* Which time is sampled, how often a second, and for how long. */
typedef struct {
    jpp_mode_t             mode;
    uint32_t               frequency;      /* 1..JPP_MAX_FREQUENCY */
    uint32_t               seconds;        /* 1..JPP_MAX_SECONDS */
} jpp_message_times_t;


/* For how long a worker may stand still, in ms. */
typedef struct {
    uint32_t               max_stop;       /* 1..JPP_MAX_STOP */
} jpp_message_lua_t;


typedef struct {
    jpp_message_type_t     type;
    jpp_control_t          control;        /* of JPP_MESSAGE_CONTROL */
    jpp_ages_t             ages;           /* of JPP_MESSAGE_DUMP */
    jpp_message_pools_t    pools;          /* of JPP_MESSAGE_POOLS */
    jpp_message_times_t    times;          /* of JPP_MESSAGE_TIMES */
    jpp_message_lua_t      lua;            /* of JPP_MESSAGE_LUA */
} jpp_message_question_t;


typedef struct {
    jpp_err_t              err;            /* code JPP_OK: none */
    jpp_worker_t           worker;         /* index, pid and generation are */
                                           /*   what the worker says it is */
    jpp_control_result_t   control;        /* of JPP_MESSAGE_CONTROL */
    int64_t                time_nanos;     /* of the dump, since the epoch */
    uint64_t               n_resets;       /* how often its samples could not */
                                           /*   be compared with earlier ones */
                                           /*   any more */
    bool                   has_file;       /* a dump comes with the reply */
    bool                   has_baseline;   /* and one of what was inherited */
} jpp_message_reply_t;


/*
 * Pack QUESTION, REPLY into JPP_MESSAGE_QUESTION, JPP_MESSAGE_REPLY bytes at
 * DATA.  All of a reply is sent, so the caller zeroes it before filling it.  A
 * string without an end is cut, and a variable that jpp_mallctl_variable()
 * does not know becomes its first.
 */
void jpp_message_question_pack(const jpp_message_question_t *question,
    uint8_t data[JPP_MESSAGE_QUESTION]);
void jpp_message_reply_pack(const jpp_message_reply_t *reply,
    uint8_t data[JPP_MESSAGE_REPLY]);

/*
 * Fill the caller's QUESTION, REPLY from the LEN bytes at DATA.  False: DATA is
 * not valid, and neither is what was filled in.
 */
bool jpp_message_question_unpack(jpp_message_question_t *question,
    const uint8_t *data, size_t len);
bool jpp_message_reply_unpack(jpp_message_reply_t *reply, const uint8_t *data,
    size_t len);


/*
 * Do A and B ask the same?  As bytes they have no padding, and nothing that
 * their type does not use.
 */
static inline bool
jpp_message_question_is_same(const jpp_message_question_t *a,
    const jpp_message_question_t *b)
{
    uint8_t  one[JPP_MESSAGE_QUESTION], other[JPP_MESSAGE_QUESTION];

    jpp_message_question_pack(a, one);
    jpp_message_question_pack(b, other);

    return memcmp(one, other, JPP_MESSAGE_QUESTION) == 0;
}


#endif /* _JPP_MESSAGE_H_INCLUDED_ */

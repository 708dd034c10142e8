
/* What each test begins with: an arena that is empty, and no error. */


#ifndef _JPP_TEST_ARENA_H_INCLUDED_
#define _JPP_TEST_ARENA_H_INCLUDED_


#include "jpp_profile.h"
#include "jpp_test.h"


/* bytes that the arena may have */
#define JPP_TEST_CAP  ((size_t) 1 << 30)


/*
 * Behind the statement BEGIN, denies CALL the first block that it asks ARENA
 * for, then the second, and so on, LEAST at least: its code has to be
 * JPP_ERR_MEMORY each time, and JPP_OK when nothing is denied.
 */
#define jpp_denies(arena, begin, least, call)                                 \
    do {                                                                      \
        uint64_t    n_, wrong_;                                               \
        jpp_code_t  code_;                                                    \
                                                                              \
        for (n_ = 1, wrong_ = 0; /* void */ ; n_++) {                         \
            begin;                                                            \
            (arena)->fail_at = (arena)->n_calls + n_;                         \
            code_ = (call);                                                   \
                                                                              \
            if ((arena)->n_calls < (arena)->fail_at) {                        \
                break;                                                        \
            }                                                                 \
                                                                              \
            wrong_ += code_ != JPP_ERR_MEMORY;                                \
        }                                                                     \
                                                                              \
        (arena)->fail_at = 0;                                                 \
                                                                              \
        jpp_is_u64(code_, JPP_OK, "nothing is denied");                       \
        jpp_is_u64(wrong_, 0, "each of %" PRIu64 " blocks was missed", n_ - 1);\
        jpp_ok(n_ > (least), "and there were %d at least", (least));          \
    } while (0)


/* ARENA is as new, of at most CAP bytes: what was in it is gone. */
static inline void
jpp_arena_fresh(jpp_arena_t *arena, size_t cap)
{
    jpp_arena_destroy(arena);
    jpp_arena_init(arena, cap);
}


/* A profile of one value, in ARENA. */
static inline void
jpp_profile_of_space(jpp_profile_t *profile, jpp_arena_t *arena)
{
    static const jpp_value_type_t  type = { "space", "bytes", false, 0, 0 };

    (void) jpp_profile_init(profile, arena, &type, 1);
}


/* The comments of PROFILE, each with an end of line. */
static inline const char *
jpp_comments_of(const jpp_profile_t *profile)
{
    size_t     i, len;
    uint32_t  *ids;

    static char  text[256 * 1024];

    ids = jpp_vec_items(profile->comments, uint32_t);
    text[0] = '\0';

    for (i = 0, len = 0; i < jpp_vec_count(profile->comments, uint32_t); i++) {
        len += (size_t) snprintf(text + len, sizeof(text) - len, "%s\n",
                                 jpp_profile_str(profile, ids[i]).data);
    }

    return text;
}


/* The code of what returns whether it was DONE. */
static inline jpp_code_t
jpp_done_code(bool done)
{
    return done ? JPP_OK : JPP_ERR_MEMORY;
}


/* The same of RC where what is written lies in the arena, too; an ERR without a
   sentence is another error. */
static inline jpp_code_t
jpp_written_code(jpp_code_t rc, const jpp_err_t *err)
{
    if (rc != JPP_OK && err->text[0] == '\0') {
        return JPP_ERR_ARG;
    }

    return rc == JPP_ERR_WRITE && err->sys_errno == ENOMEM ? JPP_ERR_MEMORY
                                                           : rc;
}


/* SINK takes what is written into ARENA; one at a time. */
static inline void
jpp_test_sink(jpp_sink_t *sink, jpp_arena_t *arena)
{
    static uint8_t  buffer[JPP_SINK_BUFFER];

    jpp_sink_init(sink, buffer, sizeof(buffer), jpp_sink_to_vec,
                  jpp_vec_create(arena));

    sink->error = sink->ctx == NULL ? ENOMEM : 0;
}


/* All that it took, as a string; NULL: not all of it. */
static inline const char *
jpp_test_text(jpp_sink_t *sink)
{
    const jpp_vec_t  *out = sink->ctx;

    jpp_sink_char(sink, '\0');

    return jpp_sink_flush(sink) == 0 ? (const char *) out->data : NULL;
}


/* LEN bytes of DATA with gzip of LEVEL, in two pieces; NULL: they are not. */
static inline jpp_vec_t *
jpp_test_packed(jpp_arena_t *arena, const void *data, size_t len, int level)
{
    int         error;
    jpp_gzip_t  gz;
    jpp_sink_t  sink;

    jpp_test_sink(&sink, arena);

    if (!jpp_gzip_open(&gz, arena, level, &sink)) {
        return NULL;
    }

    jpp_sink_write(&gz.sink, data, len / 2);
    jpp_sink_write(&gz.sink, (const char *) data + len / 2, len - len / 2);

    error = jpp_gzip_close(&gz);

    return error == 0 && jpp_sink_flush(&sink) == 0 ? sink.ctx : NULL;
}


static jpp_err_t    err;
static jpp_arena_t  arena;


void
jpp_test_anew(void)
{
    jpp_arena_fresh(&arena, JPP_TEST_CAP);
    memset(&err, 0, sizeof(jpp_err_t));
}


#endif /* _JPP_TEST_ARENA_H_INCLUDED_ */

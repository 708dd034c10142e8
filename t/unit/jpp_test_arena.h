
/* An arena that one test after the other works with. */


#ifndef _JPP_TEST_ARENA_H_INCLUDED_
#define _JPP_TEST_ARENA_H_INCLUDED_


#include "jpp_arena.h"
#include "jpp_err.h"
#include "jpp_test.h"


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


#endif /* _JPP_TEST_ARENA_H_INCLUDED_ */

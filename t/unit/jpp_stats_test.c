
/*
 * The report of a jemalloc, of which this file has one, in pieces.
 *
 * Not here: what jemalloc counts (jpp_jemalloc_state_test.c), which has the
 * report of a real one, too.
 */


#include "jpp_jemalloc.h"
#include "jpp_test_arena.h"
#include "jpp_test_main.h"


#define JPP_CAP     ((size_t) 4 << 20)

#define JPP_PIECES  100000


static bool         jpp_has_report;
static size_t       jpp_n_numbers;


bool
jpp_mallctl_print(void (*write)(void *ctx, const char *text), void *ctx)
{
    unsigned  i;

    for (i = 0; jpp_has_report && i < JPP_PIECES; i++) {
        write(ctx, "{}\n");
    }

    return jpp_has_report;
}


int
jpp_mallctl_call(const char *name, void *old, size_t old_size, void *new,
    size_t new_size)
{
    size_t    i;
    uint64_t  value;

    static const char  *numbers[] = {
        "thread.allocated", "stats.arenas.4096.internal", "thread.deallocated"
    };

    (void) new;
    (void) new_size;

    for (i = 0; i < jpp_n_numbers; i++) {
        if (strcmp(name, numbers[i]) == 0 && old_size == sizeof(value)) {
            value = 100 - 30 * i;
            memcpy(old, &value, sizeof(value));
            return 0;
        }
    }

    return -1;
}


/* of a jemalloc that has some of the numbers */

JPP_TEST(jpp_stats_test_numbers)
{
    bool      is_known;
    uint64_t  bytes;

    for (jpp_n_numbers = 0; jpp_n_numbers <= 3; jpp_n_numbers++) {
        is_known = jpp_stats_thread(&bytes);

        jpp_ok(is_known == (jpp_n_numbers == 3) && (!is_known || bytes == 60),
               "this thread's bytes, with %zu numbers", jpp_n_numbers);
        jpp_is_u64(jpp_stats_internal(), jpp_n_numbers < 2 ? 0 : 70,
                   "and jemalloc's own");
    }

    jpp_n_numbers = 0;
}


static void
jpp_stats_begin(jpp_vec_t **out, size_t cap)
{
    jpp_arena_fresh(&arena, cap);
    *out = jpp_vec_create(&arena);
}


JPP_TEST(jpp_stats_test_report)
{
    size_t      i;
    jpp_vec_t  *out;

    jpp_stats_begin(&out, JPP_CAP);

    jpp_is_u64(jpp_stats_report(out, &err), JPP_ERR_STATE, "no report");
    jpp_is_str(err.text, "there is no jemalloc that counts by arena",
               "its sentence");
    jpp_is_u64(out->len, 0, "and nothing else");

    jpp_has_report = true;

    jpp_is_u64(jpp_stats_report(out, &err), JPP_OK, "a report");
    jpp_is_u64(out->len, 3 * JPP_PIECES, "all of it");

    for (i = 0; i < out->len && memcmp(out->data + i, "{}\n", 3) == 0; i += 3) {
        /* void */
    }

    jpp_is_u64(i, out->len, "as it is");
}


JPP_TEST(jpp_stats_test_memory)
{
    jpp_vec_t  *out;

    jpp_denies(&arena, jpp_stats_begin(&out, JPP_CAP), 1,
               jpp_stats_report(out, &err));

    /* more than the arena may have is none, rather than half of it */

    jpp_stats_begin(&out, 2 * JPP_PIECES);
    jpp_is_u64(jpp_stats_report(out, &err), JPP_ERR_MEMORY, "too large");
}

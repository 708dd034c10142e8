
/*
 * What jemalloc counts by arena, in a jemalloc of this file: its mallctl is the
 * table below.
 */


#include <errno.h>

#include "jpp_arenas.h"
#include "jpp_mallctl.h"
#include "jpp_test.h"


#define JPP_CAP        ((size_t) 4 << 20)

#define JPP_HEAD       32


/* Of everything else that counts it has 7. */

static const struct {
    const char  *name;
    size_t       size;         /* 0: there is no such name */
    uint64_t     value;
} jpp_numbers[] = {
    { "epoch", 8, 1 },
    { "arenas.page", 8, 4096 },
    { "arenas.narenas", 4, 4 },
    { "arenas.nbins", 4, 3 },
    { "arenas.nlextents", 4, 2 },
    { "arena.0.initialized", 1, 1 },
    { "arena.1.initialized", 1, 0 },
    { "arena.2.initialized", 1, 1 },
    { "arena.3.initialized", 0, 0 },
    { "arenas.bin.0.size", 8, 8 },
    { "arenas.bin.0.nregs", 4, 512 },
    { "arenas.bin.0.slab_size", 8, 4096 },
    { "arenas.bin.2.size", 8, 32 },
    { "arenas.bin.2.nregs", 4, 128 },
    { "arenas.bin.2.slab_size", 8, 4096 },
    { "arenas.lextent.0.size", 8, 16384 },
    { "stats.arenas.0.nthreads", 4, 3 },
    { "stats.arenas.0.small.allocated", 8, 100 },
    { "stats.arenas.0.pactive", 8, 10 },
    { "stats.arenas.0.pdirty", 8, 20 },
    { "stats.arenas.0.pmuzzy", 8, 30 },
    { "stats.arenas.2.pactive", 0, 0 },
    { "stats.arenas.2.pdirty", 0, 0 },
    { "stats.arenas.2.pmuzzy", 0, 0 },
    { "stats.arenas.4096.bins.0.curregs", 8, 40 },
    { "stats.arenas.4096.bins.0.curslabs", 8, 1 },
    { "stats.arenas.4096.bins.1.curslabs", 8, 0 },
    { "stats.arenas.4096.bins.2.curslabs", 8, 2 },
    { "stats.arenas.4096.lextents.0.curlextents", 8, 5 },
    { "stats.arenas.4096.lextents.1.curlextents", 8, 0 }
};


/* a name that this jemalloc lacks, and one that has another value */
static const char  *jpp_lacks, *jpp_other;
static uint64_t     jpp_other_value;

static jpp_arena_t  jpp_arena;
static jpp_err_t    jpp_err;


int
jpp_mallctl_call(const char *name, void *old, size_t old_size, void *new,
    size_t new_size)
{
    size_t    i, size;
    uint32_t  small;
    uint64_t  value;

    (void) new_size;

    size = 8;
    value = 7;

    for (i = 0; i < sizeof(jpp_numbers) / sizeof(jpp_numbers[0]); i++) {
        if (strcmp(jpp_numbers[i].name, name) == 0) {
            size = jpp_numbers[i].size;
            value = jpp_numbers[i].value;
        }
    }

    value = jpp_other != NULL && strcmp(name, jpp_other) == 0
            ? jpp_other_value : value;

    if (size == 0 || (jpp_lacks != NULL && strcmp(name, jpp_lacks) == 0)) {
        return ENOENT;
    }

    if (new != NULL) {
        return 0;
    }

    if (old_size != size) {
        return EINVAL;
    }

    small = (uint32_t) value;
    memcpy(old, size == 8 ? (const void *) &value : &small, size);

    return 0;
}


static jpp_code_t
jpp_read(jpp_vec_t **out)
{
    jpp_arena_init(&jpp_arena, JPP_CAP);
    *out = jpp_vec_create(&jpp_arena);

    return jpp_arenas_read(*out, &jpp_err);
}


static void
jpp_test_all(void)
{
    jpp_vec_t     *out;
    jpp_arenas_t   arenas;

    static const jpp_arenas_arena_t  rows[] = {
        { 0, 3, 100, 7, 40960, 81920, 122880, 7, 7, 7, 7, 7, 7 },
        { 2, 7, 7, 7, JPP_NONE, JPP_NONE, JPP_NONE, 7, 7, 7, 7, 7, 7 }
    };

    static const jpp_arenas_bin_t  bins[] = {
        { 8, 512, 4096, 40, 1, 7, 7, 7 },
        { 32, 128, 4096, 7, 2, 7, 7, 7 }
    };

    static const jpp_arenas_large_t  larges[] = {
        { 16384, 5, 7, 7 }
    };

    jpp_is_u64(jpp_read(&out), JPP_OK, "it is read");
    jpp_is_u64(out->len, JPP_HEAD + sizeof(rows) + sizeof(bins)
                         + sizeof(larges), "what is in use, and no more");
    jpp_is_u64(jpp_arenas_load(&arenas, (const char *) out->data, out->len,
                               &jpp_err), JPP_OK, "and loaded");

    jpp_ok(arenas.n_arenas == 2 && arenas.n_bins == 2 && arenas.n_larges == 1,
           "how many of each");
    jpp_is_mem(arenas.arenas, rows, sizeof(rows), "arenas");
    jpp_is_mem(arenas.bins, bins, sizeof(bins), "bins");
    jpp_is_mem(arenas.larges, larges, sizeof(larges), "and large ones");

    jpp_arena_destroy(&jpp_arena);
}


static void
jpp_test_others(void)
{
    jpp_vec_t     *out;
    jpp_arenas_t   arenas;

    jpp_lacks = "epoch";
    jpp_is_u64(jpp_read(&out), JPP_ERR_STATE, "no epoch");
    jpp_is_str(jpp_err.text, "there is no jemalloc that counts by arena",
               "its sentence");
    jpp_arena_destroy(&jpp_arena);

    jpp_lacks = "arenas.nbins";
    jpp_is_u64(jpp_read(&out), JPP_ERR_STATE, "no bins");
    jpp_arena_destroy(&jpp_arena);

    jpp_lacks = "arenas.page";
    jpp_is_u64(jpp_read(&out), JPP_OK, "no size of pages");
    (void) jpp_arenas_load(&arenas, (const char *) out->data, out->len, NULL);
    jpp_ok(arenas.n_arenas == 2 && arenas.arenas[0].active == 0,
           "and no bytes in them");
    jpp_arena_destroy(&jpp_arena);

    jpp_lacks = NULL;

    /* as many as are looked at */

    jpp_other = "arenas.nlextents";
    jpp_other_value = 100000;
    jpp_is_u64(jpp_read(&out), JPP_OK, "many sizes");
    jpp_is_u64(jpp_arenas_load(&arenas, (const char *) out->data, out->len,
                               &jpp_err), JPP_OK, "are loaded");
    jpp_is_u64(arenas.n_larges, 4096 - 1, "as many as are looked at");
    jpp_arena_destroy(&jpp_arena);
    jpp_other = NULL;
}


static void
jpp_test_memory(void)
{
    uint64_t    n;
    jpp_vec_t  *out;
    jpp_code_t  rc;

    for (n = 2; n < 1000; n++) {
        jpp_arena_init(&jpp_arena, JPP_CAP);
        jpp_arena.fail_at = n;
        out = jpp_vec_create(&jpp_arena);
        rc = jpp_arenas_read(out, &jpp_err);

        if (jpp_arena.n_calls < n) {
            jpp_is_u64(rc, JPP_OK, "after %u failures", (unsigned) n - 2);
            break;
        }

        jpp_is_u64(rc, JPP_ERR_MEMORY, "no memory");
        jpp_arena_destroy(&jpp_arena);
    }

    jpp_ok(n > 2 && n < 1000, "which there were");
    jpp_arena_destroy(&jpp_arena);

    /* a vector grows by steps: at each length there is one that has to */

    for (n = 0; n < 4096; n += 8) {
        jpp_arena_init(&jpp_arena, JPP_CAP);
        out = jpp_vec_create(&jpp_arena);
        (void) jpp_vec_push(out, n + 8);

        jpp_arena.fail_at = jpp_arena.n_calls + 1;
        rc = jpp_arenas_read(out, &jpp_err);

        if (rc != (jpp_arena.n_calls < jpp_arena.fail_at ? JPP_OK
                                                         : JPP_ERR_MEMORY))
        {
            jpp_ok(false, "unnoticed, behind %zu bytes", (size_t) n);
        }

        jpp_arena_destroy(&jpp_arena);
    }
}


static void
jpp_test_bad(void)
{
    size_t         i;
    uint64_t       words[128], was;
    jpp_vec_t     *out;
    jpp_arenas_t   arenas;

    (void) jpp_read(&out);
    memcpy(words, out->data, out->len);

    for (i = 0; i < out->len; i++) {
        if (jpp_arenas_load(&arenas, (const char *) words, i, &jpp_err)
            == JPP_OK)
        {
            jpp_ok(false, "%zu bytes are enough", i);
        }
    }

    jpp_is_str(jpp_err.text, "what it sent is no list of arenas, or one of "
               "another version of this module", "one that is cut");
    jpp_is_u64(jpp_arenas_load(&arenas, (const char *) words, out->len + 8,
                               &jpp_err), JPP_ERR_INPUT, "one that goes on");

    for (i = 0; i < 4; i++) {
        was = words[i];
        words[i]++;
        jpp_is_u64(jpp_arenas_load(&arenas, (const char *) words, out->len,
                                   &jpp_err), JPP_ERR_INPUT,
                   "another word %zu", i);

        /* so many that the size is the same again */

        words[i] = was + ((uint64_t) 1 << 61);
        jpp_is_u64(jpp_arenas_load(&arenas, (const char *) words, out->len,
                                   &jpp_err), JPP_ERR_INPUT,
                   "a word %zu that overflows", i);
        words[i] = was;
    }

    jpp_arena_destroy(&jpp_arena);
}


int
main(void)
{
    jpp_test_all();
    jpp_test_others();
    jpp_test_memory();
    jpp_test_bad();

    return jpp_done();
}


/*
 *     bytes := magic:8 n_arenas:8 n_bins:8 n_larges:8 arena* bin* large*
 */


#include <stdio.h>
#include <string.h>

#include "jpp_arenas.h"
#include "jpp_mallctl.h"


#define JPP_ARENAS_MAGIC  "jppArns1"

/* 4096 is MALLCTL_ARENAS_ALL of jemalloc.h, since 5.0 */
#define JPP_ARENAS_ALL    4096

/* arenas and sizes that are looked at */
#define JPP_ARENAS_MAX    4096

#define JPP_ARENAS_NAME   80

#define JPP_ARENAS_COUNT(rows)  (sizeof(rows) / sizeof((rows)[0]))


typedef struct {
    char       magic[8];
    uint64_t   n_arenas;
    uint64_t   n_bins;
    uint64_t   n_larges;
} jpp_arenas_head_t;


#define JPP_ARENAS_CTL(name, ctl)  ctl,

static const char *const  jpp_arenas_arena[] = {
    JPP_ARENAS_ARENA(JPP_ARENAS_CTL)
};

static const char *const  jpp_arenas_bin[] = {
    JPP_ARENAS_BIN(JPP_ARENAS_CTL)
};

static const char *const  jpp_arenas_large[] = {
    JPP_ARENAS_LARGE(JPP_ARENAS_CTL)
};


static uint32_t
jpp_arenas_count(const char *name)
{
    unsigned  n;

    if (jpp_mallctl_call(name, &n, sizeof(n), NULL, 0) != 0) {
        return 0;
    }

    return n < JPP_ARENAS_MAX ? n : JPP_ARENAS_MAX;
}


/* a number of 4 or of 8 bytes */

static uint64_t
jpp_arenas_get(const char *prefix, const char *name)
{
    char      ctl[2 * JPP_ARENAS_NAME];
    uint32_t  small;
    uint64_t  number;

    (void) snprintf(ctl, sizeof(ctl), "%s%s", prefix, name);

    if (jpp_mallctl_call(ctl, &number, sizeof(number), NULL, 0) == 0) {
        return number;
    }

    return jpp_mallctl_call(ctl, &small, sizeof(small), NULL, 0) == 0
           ? small : JPP_NONE;
}


static void
jpp_arenas_row(uint64_t *row, const char *const *ctls, size_t n,
    const char *prefix)
{
    size_t  i;

    for (i = 0; i < n; i++) {
        row[i] = ctls[i] != NULL ? jpp_arenas_get(prefix, ctls[i])
                                 : JPP_NONE;
    }
}


/* one that was never used has no numbers */

static bool
jpp_arenas_arenas(jpp_vec_t *out, uint64_t *n)
{
    bool                 is_used;
    char                 prefix[JPP_ARENAS_NAME];
    size_t               page;
    uint32_t             i, count;
    jpp_arenas_arena_t  *row;

    count = jpp_arenas_count("arenas.narenas");

    if (jpp_mallctl_call("arenas.page", &page, sizeof(page), NULL, 0) != 0) {
        page = 0;
    }

    for (i = 0; i < count; i++) {
        (void) snprintf(prefix, sizeof(prefix), "arena.%u.initialized", i);

        if (jpp_mallctl_call(prefix, &is_used, sizeof(is_used), NULL, 0) != 0
            || !is_used)
        {
            continue;
        }

        row = jpp_vec_push(out, sizeof(jpp_arenas_arena_t));

        if (row == NULL) {
            return false;
        }

        (void) snprintf(prefix, sizeof(prefix), "stats.arenas.%u.", i);

        jpp_arenas_row(&row->number, jpp_arenas_arena,
                       JPP_ARENAS_COUNT(jpp_arenas_arena), prefix);

        row->number = i;
        row->active *= row->active != JPP_NONE ? page : 1;
        row->dirty *= row->dirty != JPP_NONE ? page : 1;
        row->muzzy *= row->muzzy != JPP_NONE ? page : 1;

        ++*n;
    }

    return true;
}


static bool
jpp_arenas_bins(jpp_vec_t *out, uint64_t *n)
{
    char               prefix[JPP_ARENAS_NAME];
    uint32_t           i, count;
    jpp_arenas_bin_t  *row;

    count = jpp_arenas_count("arenas.nbins");

    for (i = 0; i < count; i++) {
        row = jpp_vec_push(out, sizeof(jpp_arenas_bin_t));

        if (row == NULL) {
            return false;
        }

        (void) snprintf(prefix, sizeof(prefix), "stats.arenas.%d.bins.%u.",
                        JPP_ARENAS_ALL, i);

        jpp_arenas_row(&row->size, jpp_arenas_bin,
                       JPP_ARENAS_COUNT(jpp_arenas_bin), prefix);

        (void) snprintf(prefix, sizeof(prefix), "arenas.bin.%u.", i);

        row->size = jpp_arenas_get(prefix, "size");
        row->regions_per_slab = jpp_arenas_get(prefix, "nregs");
        row->slab_size = jpp_arenas_get(prefix, "slab_size");

        if (row->slabs == 0) {
            out->len -= sizeof(jpp_arenas_bin_t);
            memset(row, 0, sizeof(jpp_arenas_bin_t));

        } else {
            ++*n;
        }
    }

    return true;
}


static bool
jpp_arenas_larges(jpp_vec_t *out, uint64_t *n)
{
    char                 prefix[JPP_ARENAS_NAME];
    uint32_t             i, count;
    jpp_arenas_large_t  *row;

    count = jpp_arenas_count("arenas.nlextents");

    for (i = 0; i < count; i++) {
        row = jpp_vec_push(out, sizeof(jpp_arenas_large_t));

        if (row == NULL) {
            return false;
        }

        (void) snprintf(prefix, sizeof(prefix), "stats.arenas.%d.lextents.%u.",
                        JPP_ARENAS_ALL, i);

        jpp_arenas_row(&row->size, jpp_arenas_large,
                       JPP_ARENAS_COUNT(jpp_arenas_large), prefix);

        (void) snprintf(prefix, sizeof(prefix), "arenas.lextent.%u.", i);

        row->size = jpp_arenas_get(prefix, "size");

        if (row->allocations == 0) {
            out->len -= sizeof(jpp_arenas_large_t);
            memset(row, 0, sizeof(jpp_arenas_large_t));

        } else {
            ++*n;
        }
    }

    return true;
}


jpp_code_t
jpp_arenas_read(jpp_vec_t *out, jpp_err_t *err)
{
    uint64_t            epoch;
    jpp_arenas_head_t   head;
    jpp_arenas_head_t  *to;

    epoch = 1;

    if (jpp_mallctl_call("epoch", NULL, 0, &epoch, sizeof(epoch)) != 0
        || jpp_arenas_count("arenas.nbins") == 0)
    {
        return jpp_err_set(err, JPP_ERR_STATE,
                           "there is no jemalloc that counts by arena");
    }

    memset(&head, 0, sizeof(jpp_arenas_head_t));
    memcpy(head.magic, JPP_ARENAS_MAGIC, sizeof(head.magic));

    if (jpp_vec_push(out, sizeof(jpp_arenas_head_t)) == NULL
        || !jpp_arenas_arenas(out, &head.n_arenas)
        || !jpp_arenas_bins(out, &head.n_bins)
        || !jpp_arenas_larges(out, &head.n_larges))
    {
        return jpp_err_memory(err);
    }

    to = jpp_vec_items(out, jpp_arenas_head_t);
    *to = head;

    return JPP_OK;
}


jpp_code_t
jpp_arenas_load(jpp_arenas_t *arenas, const char *data, size_t len,
    jpp_err_t *err)
{
    jpp_arenas_head_t  head;

    memset(arenas, 0, sizeof(jpp_arenas_t));

    if (len >= sizeof(jpp_arenas_head_t)) {
        memcpy(&head, data, sizeof(jpp_arenas_head_t));

    } else {
        memset(&head, 0, sizeof(jpp_arenas_head_t));
    }

    if (memcmp(head.magic, JPP_ARENAS_MAGIC, sizeof(head.magic)) != 0
        || head.n_arenas > JPP_ARENAS_MAX || head.n_bins > JPP_ARENAS_MAX
        || head.n_larges > JPP_ARENAS_MAX
        || len != sizeof(jpp_arenas_head_t)
                  + head.n_arenas * sizeof(jpp_arenas_arena_t)
                  + head.n_bins * sizeof(jpp_arenas_bin_t)
                  + head.n_larges * sizeof(jpp_arenas_large_t))
    {
        return jpp_err_set(err, JPP_ERR_INPUT,
                           "what it sent is no list of arenas, or one of "
                           "another version of this module");
    }

    arenas->n_arenas = head.n_arenas;
    arenas->n_bins = head.n_bins;
    arenas->n_larges = head.n_larges;

    data += sizeof(jpp_arenas_head_t);
    arenas->arenas = (const jpp_arenas_arena_t *) (const void *) data;
    arenas->bins = (const jpp_arenas_bin_t *) (const void *)
                   (arenas->arenas + head.n_arenas);
    arenas->larges = (const jpp_arenas_large_t *) (const void *)
                     (arenas->bins + head.n_bins);

    return JPP_OK;
}

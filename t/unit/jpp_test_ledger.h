
/*
 * For tests of the ledger: one of this program's own, with ranges and mappings
 * that it makes up.
 */


#ifndef _JPP_TEST_LEDGER_H_INCLUDED_
#define _JPP_TEST_LEDGER_H_INCLUDED_


#include "jpp_ledger.h"
#include "jpp_test_golden.h"
#include "jpp_test_pools.h"


#define JPP_PAGE  4096
#define JPP_MIB   ((uint64_t) 1024 * 1024)


/* All of the ledger, once it is finished, as the next in the golden file. */
#define jpp_ledger_shows(...)                                                 \
    do {                                                                      \
        jpp_is_u64(jpp_ledger_sum(), ledger.sums.pss, "the rows are all");    \
        jpp_ledger_note();                                                    \
        jpp_shows_notes(__VA_ARGS__);                                         \
    } while (0)


static jpp_vec_t         *ranges;
static jpp_ledger_t       ledger;
static jpp_pools_t        pools;
static jpp_stats_t        stats;
static jpp_ledger_heap_t  heap;


/* What the test before it had goes. */

static inline void
jpp_ledger_ready(void)
{
    (void) jpp_ledger_init(&ledger, &arena, JPP_PAGE, ranges);
}


void
jpp_before_each(void)
{
    memset(&heap, 0, sizeof(jpp_ledger_heap_t));
    memset(&stats, 0, sizeof(jpp_stats_t));

    ranges = jpp_vec_create(&arena);

    (void) jpp_pools_init(&pools, &arena, JPP_POOLS_NO_UNITS, 0);

    heap.pools = &pools;
    heap.stats = &stats;
    heap.is_marked = true;

    jpp_ledger_ready();
}


static inline void
jpp_ledger_range(jpp_ledger_kind_t kind, uint64_t start, uint64_t end,
    const char *name)
{
    jpp_ledger_range_t  *range;

    range = jpp_vec_push(ranges, sizeof(jpp_ledger_range_t));

    range->kind = kind;
    range->start = start;
    range->end = end;
    range->name = name;
    range->name_len = name != NULL ? strlen(name) : 0;
}


/* all of it private and anonymous, if it has no name */

static inline const jpp_smaps_t *
jpp_ledger_mapping(uint64_t start, uint64_t end, const char *name,
    uint64_t pss)
{
    static jpp_smaps_t  mapping;

    memset(&mapping, 0, sizeof(jpp_smaps_t));

    mapping.start = start;
    mapping.end = end;
    mapping.is_readable = true;
    mapping.inode = name[0] == '/';
    mapping.name_len = strlen(name);
    memcpy(mapping.name, name, mapping.name_len);
    mapping.rss = pss;
    mapping.pss = pss;
    mapping.private_clean = 0;
    mapping.private_dirty = pss;
    mapping.lazy_free = 0;
    mapping.swap_pss = JPP_NONE;

    return &mapping;
}


/* takes that mapping into the ledger, without its pages */

static inline bool
jpp_ledger_take(uint64_t start, uint64_t end, const char *name, uint64_t pss,
    bool is_heap)
{
    return jpp_ledger_map(&ledger, jpp_ledger_mapping(start, end, name, pss),
                          NULL, is_heap);
}


/* Requests hold HELD bytes; in all there are TOTAL, of them INHERITED.  The
   largest row is the first then, and each within its bounds. */

static inline bool
jpp_ledger_heap(uint64_t held, uint64_t total, uint64_t inherited)
{
    size_t                   i, wrong;
    const jpp_ledger_row_t  *rows;

    pools.facts.has_total = 1;
    pools.facts.total = total;
    pools.facts.outside_inherited = inherited;

    if (!jpp_pools_add(&pools, jpp_test_owner(&pools, JPP_POOLS_REQUEST,
                                              "a.example", "/", NULL),
                       JPP_POOLS_BLOCKS, 0, 1, held, 0)
        || !jpp_ledger_finish(&ledger, &heap))
    {
        return false;
    }

    rows = jpp_vec_items(ledger.rows, jpp_ledger_row_t);

    for (i = wrong = 0; i < jpp_vec_count(ledger.rows, jpp_ledger_row_t); i++) {
        wrong += i != 0 && rows[i].bytes > rows[i - 1].bytes;
        wrong += rows[i].bytes < rows[i].least || rows[i].bytes > rows[i].most;
    }

    return jpp_ok(wrong == 0, "%zu rows, %zu of which are wrong", i, wrong);
}


static inline const jpp_ledger_row_t *
jpp_ledger_find(jpp_ledger_kind_t kind, const char *name)
{
    size_t                   i, n;
    const jpp_ledger_row_t  *rows;

    rows = jpp_vec_items(ledger.rows, jpp_ledger_row_t);
    n = jpp_vec_count(ledger.rows, jpp_ledger_row_t);

    for (i = 0; i < n; i++) {
        if (rows[i].kind == (uint32_t) kind && rows[i].name_len == strlen(name)
            && memcmp(rows[i].name, name, rows[i].name_len) == 0)
        {
            return &rows[i];
        }
    }

    return NULL;
}


static inline uint64_t
jpp_ledger_bytes(jpp_ledger_kind_t kind, const char *name)
{
    const jpp_ledger_row_t  *row;

    row = jpp_ledger_find(kind, name);

    return row != NULL ? row->bytes : 0;
}


static inline uint64_t
jpp_ledger_sum(void)
{
    size_t                   i, n;
    uint64_t                 sum;
    const jpp_ledger_row_t  *rows;

    rows = jpp_vec_items(ledger.rows, jpp_ledger_row_t);
    n = jpp_vec_count(ledger.rows, jpp_ledger_row_t);

    for (i = 0, sum = 0; i < n; i++) {
        sum += rows[i].bytes;
    }

    return sum;
}


static inline void
jpp_ledger_note(void)
{
    size_t                   i;
    const jpp_ledger_row_t  *row;

    jpp_note_of("sums", ledger.sums, pss, rss, swap, anonymous, n_mappings,
                n_unpaged, n_unnamed);
    jpp_note_of("rest", ledger.rest, pss, shared_rss, shared_pss, slack,
                lazy_free, size);

    for (i = 0; i < jpp_vec_count(ledger.rows, jpp_ledger_row_t); i++) {
        row = &jpp_vec_items(ledger.rows, jpp_ledger_row_t)[i];
        jpp_note_of(jpp_ledger_kinds[row->kind], *row, name, bytes, how, least,
                    most, held);
    }
}


#endif /* _JPP_TEST_LEDGER_H_INCLUDED_ */

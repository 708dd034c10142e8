
#include "jpp_ledger.h"


const char *const  jpp_ledger_kinds[JPP_LEDGER_KINDS] = {
    JPP_LEDGER_LIST(JPP_LIST_TEXT)
};


const char *const  jpp_ledger_hows[JPP_LEDGER_HOWS] = {
    [JPP_LEDGER_EXACT] = "exact",
    [JPP_LEDGER_BOUND] = "bound",
    [JPP_LEDGER_ESTIMATE] = "estimate"
};


const jpp_ledger_kind_t  jpp_ledger_owners[JPP_POOLS_KINDS] = {
    [JPP_POOLS_CLIENT_CONNECTION] = JPP_LEDGER_CONNECTIONS,
    [JPP_POOLS_CLOSING] = JPP_LEDGER_CONNECTIONS,
    [JPP_POOLS_HTTP2] = JPP_LEDGER_HTTP2,
    [JPP_POOLS_HTTP2_HEADERS] = JPP_LEDGER_HTTP2,
    [JPP_POOLS_HTTP3] = JPP_LEDGER_HTTP2,
    [JPP_POOLS_REQUEST] = JPP_LEDGER_REQUESTS,
    [JPP_POOLS_UPSTREAM] = JPP_LEDGER_UPSTREAMS,
    [JPP_POOLS_KEEPALIVE] = JPP_LEDGER_UPSTREAMS,
    [JPP_POOLS_STREAM] = JPP_LEDGER_SESSIONS,
    [JPP_POOLS_MAIL] = JPP_LEDGER_SESSIONS,
    [JPP_POOLS_MODULE_CONNECTION] = JPP_LEDGER_MODULES,
    [JPP_POOLS_CONFIGURATION] = JPP_LEDGER_CONFIGURATION,
    [JPP_POOLS_SLOTS_USED] = JPP_LEDGER_SLOTS,
    [JPP_POOLS_SLOTS_FREE] = JPP_LEDGER_SLOTS,
    [JPP_POOLS_OPEN_FILES] = JPP_LEDGER_CACHES,
    [JPP_POOLS_RESOLVER] = JPP_LEDGER_CACHES
};


bool
jpp_ledger_kind_is_anonymous(jpp_ledger_kind_t kind)
{
    return kind <= JPP_LEDGER_STACKS || kind == JPP_LEDGER_UNKNOWN;
}


/* what a mapping has of its own and of others' pages */
typedef struct {
    uint64_t                  own;
    uint64_t                  shared_rss;
    uint64_t                  shared_pss;
    uint64_t                  least;   /* of shared_pss */
    uint64_t                  most;
} jpp_ledger_share_t;


typedef struct {
    jpp_ledger_t             *ledger;
    const jpp_smaps_t        *mapping;
    const uint8_t            *pages;
    uint64_t                  sharers; /* 0: any number */
    jpp_ledger_share_t        whole;
    jpp_ledger_share_t        left;    /* what no range has taken */
    uint64_t                  foreign; /* bytes that are not malloc's */
} jpp_ledger_mapping_t;


static int
jpp_ledger_compare(const void *a, const void *b, void *ctx)
{
    const jpp_ledger_range_t *one = a;
    const jpp_ledger_range_t *other = b;

    (void) ctx;

    return jpp_sort_order(one->start, other->start);
}


bool
jpp_ledger_init(jpp_ledger_t *ledger, jpp_arena_t *arena, uint64_t page,
    jpp_vec_t *ranges)
{
    uint64_t             end;
    jpp_ledger_range_t  *range;

    memset(ledger, 0, sizeof(jpp_ledger_t));

    ledger->arena = arena;
    ledger->page = page;
    ledger->rows = jpp_vec_create(arena);

    ledger->ranges = jpp_vec_items(ranges, jpp_ledger_range_t);
    ledger->n_ranges = jpp_vec_count(ranges, jpp_ledger_range_t);

    jpp_sort(ranges->data, ledger->n_ranges, sizeof(jpp_ledger_range_t),
             jpp_ledger_compare, NULL);

    end = 0;

    jpp_vec_each(range, ranges) {
        range->start = jpp_larger(range->start, end);
        range->end = end = jpp_larger(range->end, range->start);
        ledger->ranged[range->kind] += end - range->start;
    }

    return ledger->rows != NULL;
}


/* the kernel's order is that of addresses, but a forged one need not be */

static void
jpp_ledger_seek(jpp_ledger_t *ledger, uint64_t start)
{
    size_t  i;

    i = ledger->next_range;

    while (i > 0 && ledger->ranges[i - 1].end > start) {
        i--;
    }

    while (i < ledger->n_ranges && ledger->ranges[i].end <= start) {
        i++;
    }

    ledger->next_range = i;
}


bool
jpp_ledger_needs_pages(jpp_ledger_t *ledger, const jpp_smaps_t *mapping)
{
    const jpp_ledger_range_t  *range;

    jpp_ledger_seek(ledger, mapping->start);

    if (mapping->rss == 0 || ledger->next_range == ledger->n_ranges) {
        return false;
    }

    range = &ledger->ranges[ledger->next_range];

    return range->start < mapping->end
           && (range->start > mapping->start || range->end < mapping->end);
}


static bool
jpp_ledger_starts(const jpp_smaps_t *mapping, const char *text)
{
    return strncmp(mapping->name, text, strlen(text)) == 0;
}


bool
jpp_ledger_is_anonymous(const jpp_ledger_t *ledger, const jpp_smaps_t *mapping)
{
    return mapping->is_readable && !mapping->is_executable
           && !mapping->is_shared && mapping->inode == 0 && !mapping->is_own
           && mapping->start != ledger->guard
           && (mapping->name_len == 0 || jpp_ledger_starts(mapping, "[heap]")
               || jpp_ledger_starts(mapping, "[anon:"));
}


static jpp_ledger_kind_t
jpp_ledger_class(const jpp_ledger_t *ledger, const jpp_smaps_t *mapping,
    bool is_malloc)
{
    if (mapping->is_own || jpp_ledger_starts(mapping, "/memfd:jemalloc-pprof"))
    {
        return JPP_LEDGER_OWN;
    }

    if (mapping->is_shared) {
        return JPP_LEDGER_SHARED;
    }

    if (mapping->inode != 0) {
        return JPP_LEDGER_FILE;
    }

    if (jpp_ledger_is_anonymous(ledger, mapping)) {
        return is_malloc ? JPP_LEDGER_MALLOC : JPP_LEDGER_MAPS;
    }

    if (jpp_ledger_starts(mapping, "[stack")
        || (mapping->name_len == 0 && mapping->start == ledger->guard))
    {
        return JPP_LEDGER_STACKS;
    }

    return mapping->name_len == 0 ? JPP_LEDGER_CODE : JPP_LEDGER_KERNEL;
}


/* Without pages every byte of a mapping has the same share. */

static void
jpp_ledger_measure(const jpp_ledger_mapping_t *m, uint64_t start, uint64_t end,
    jpp_ledger_share_t *share)
{
    size_t               i;
    uint64_t             size, page, first, last, len;
    const jpp_smaps_t   *mapping;

    mapping = m->mapping;
    page = m->ledger->page;

    if (m->pages == NULL) {
        size = mapping->end - mapping->start;
        len = end - start;

        share->own = jpp_ledger_scale(len, m->whole.own, size);
        share->shared_rss = jpp_ledger_scale(len, m->whole.shared_rss, size);
        share->shared_pss = jpp_ledger_scale(len, m->whole.shared_pss, size);

        return;
    }

    memset(share, 0, sizeof(jpp_ledger_share_t));

    for (i = (size_t) ((start - mapping->start) / page);
         mapping->start + i * page < end;
         i++)
    {
        first = mapping->start + i * page;
        last = jpp_smaller(first + page, end);
        len = last - (first > start ? first : start);

        share->own += m->pages[i] == JPP_PAGE_OWN ? len : 0;
        share->shared_rss += m->pages[i] == JPP_PAGE_SHARED ? len : 0;
    }

    share->shared_pss = jpp_ledger_scale(share->shared_rss, m->whole.shared_pss,
                                        m->whole.shared_rss);
}


/*
 * Two processes at least have a page that is shared, and all of them at most;
 * and the others in this mapping have the rest of what all of these come to.
 */

static void
jpp_ledger_bound(const jpp_ledger_mapping_t *m, jpp_ledger_share_t *share)
{
    uint64_t  pss, others, low, high;

    pss = m->whole.shared_pss;
    others = jpp_less(m->whole.shared_rss, share->shared_rss);

    low = m->sharers != 0 ? share->shared_rss / m->sharers : 0;
    high = jpp_less(pss, others / 2);
    share->least = jpp_larger(low, high);

    low = share->shared_rss / 2;
    high = jpp_less(pss, m->sharers != 0 ? others / m->sharers : 0);
    share->most = jpp_smaller(low, high);

    /* pages were read later than sums, and processes come and go */

    share->least = jpp_smaller(share->least, share->shared_pss);
    share->most = jpp_larger(share->most, share->shared_pss);
}


static void
jpp_ledger_add(jpp_ledger_row_t *row, const jpp_ledger_share_t *share,
    bool is_estimate)
{
    row->bytes += share->own + share->shared_pss;
    row->least += share->own + share->least;
    row->most += share->own + share->most;

    if (is_estimate && share->own + share->shared_pss != 0) {
        row->how = JPP_LEDGER_ESTIMATE;
    }
}


/* No range gets more than the mapping has: its pages were read later. */

static void
jpp_ledger_take(jpp_ledger_mapping_t *m, const jpp_ledger_range_t *range)
{
    uint64_t              start, end;
    jpp_ledger_t         *ledger;
    jpp_ledger_row_t     *row;
    jpp_ledger_share_t    share;
    const jpp_smaps_t    *mapping;

    ledger = m->ledger;
    mapping = m->mapping;

    start = jpp_larger(range->start, mapping->start);
    end = jpp_smaller(range->end, mapping->end);

    if (start >= end) {
        return;
    }

    if (range->kind > JPP_LEDGER_MALLOC) {
        m->foreign += end - start;
    }

    jpp_ledger_measure(m, start, end, &share);
    jpp_ledger_bound(m, &share);

    share.own = jpp_smaller(share.own, m->left.own);
    share.shared_rss = jpp_smaller(share.shared_rss, m->left.shared_rss);
    share.shared_pss = jpp_smaller(share.shared_pss, m->left.shared_pss);
    share.most = jpp_smaller(share.most, m->left.most);
    share.least = jpp_smaller(share.least, share.most);

    m->left.own -= share.own;
    m->left.shared_rss -= share.shared_rss;
    m->left.shared_pss -= share.shared_pss;
    m->left.least = jpp_less(m->left.least, share.most);
    m->left.most = jpp_less(m->left.most, share.least);

    if (range->name == NULL && range->kind == JPP_LEDGER_FILE
        && ledger->file_row != 0)
    {
        row = &jpp_vec_items(ledger->rows,
                             jpp_ledger_row_t)[ledger->file_row - 1];

    } else {
        row = jpp_ledger_row(ledger, range->kind,
                             range->name != NULL ? range->name : "",
                             range->name != NULL ? range->name_len : 0);
    }

    jpp_ledger_add(row, &share, m->pages == NULL
                                && end - start < mapping->end - mapping->start);
}


bool
jpp_ledger_map(jpp_ledger_t *ledger, const jpp_smaps_t *mapping,
    const uint8_t *pages, bool is_malloc)
{
    size_t                 i;
    uint64_t               own;
    jpp_ledger_row_t      *row;
    jpp_ledger_kind_t      kind;
    jpp_ledger_sums_t     *sums;
    jpp_ledger_mapping_t   m;

    kind = jpp_ledger_class(ledger, mapping, is_malloc);

    if (!mapping->is_readable && mapping->inode == 0) {
        ledger->guard = mapping->end;
    }

    sums = &ledger->sums;

    sums->n_mappings++;
    sums->pss += mapping->pss;
    sums->rss += mapping->rss;
    sums->swap += jpp_known(mapping->swap_pss);
    sums->n_unpaged += pages == NULL && jpp_ledger_needs_pages(ledger, mapping);

    jpp_ledger_seek(ledger, mapping->start);

    m.ledger = ledger;
    m.mapping = mapping;
    m.pages = pages;

    /* more than there is would be a garbled file */

    own = mapping->private_clean != JPP_NONE
          && mapping->private_dirty != JPP_NONE
          ? mapping->private_clean + mapping->private_dirty : mapping->pss;

    m.whole.own = jpp_smaller(own, mapping->pss);
    m.whole.shared_pss = mapping->pss - m.whole.own;
    m.whole.shared_rss = jpp_less(mapping->rss, m.whole.own);
    m.whole.least = m.whole.shared_pss;
    m.whole.most = m.whole.shared_pss;

    m.left = m.whole;
    m.foreign = 0;

    /* anybody may have a page of a file */

    m.sharers = kind != JPP_LEDGER_FILE ? ledger->sharers : 0;

    if (kind == JPP_LEDGER_FILE) {
        row = jpp_ledger_row(ledger, kind, mapping->name, mapping->name_len);
        ledger->file_row = ledger->failed ? 0
            : (size_t) (row - jpp_vec_items(ledger->rows, jpp_ledger_row_t))
              + 1;
    }

    for (i = ledger->next_range;
         i < ledger->n_ranges && ledger->ranges[i].start < mapping->end;
         i++)
    {
        jpp_ledger_take(&m, &ledger->ranges[i]);
    }

    if (kind == JPP_LEDGER_MALLOC) {
        ledger->rest.pss += m.left.own + m.left.shared_pss;
        ledger->rest.shared_rss += m.left.shared_rss;
        ledger->rest.shared_pss += m.left.shared_pss;
        ledger->rest.slack += m.left.most - m.left.least;
        ledger->rest.lazy_free += jpp_known(mapping->lazy_free);
        ledger->rest.size += mapping->end - mapping->start - m.foreign;

    } else if (m.left.own + m.left.shared_pss != 0) {

        /* "[anon:...]" is a name that a program gave to its memory */

        row = kind == JPP_LEDGER_FILE || kind == JPP_LEDGER_MAPS
              ? jpp_ledger_row(ledger, kind, mapping->name, mapping->name_len)
              : jpp_ledger_row(ledger, kind, "", 0);

        jpp_ledger_add(row, &m.left, false);
    }

    return !ledger->failed;
}


jpp_ledger_row_t *
jpp_ledger_row(jpp_ledger_t *ledger, jpp_ledger_kind_t kind, const char *name,
    size_t len)
{
    size_t             i, n;
    jpp_ledger_row_t  *row;

    name += jpp_less(len, JPP_LEDGER_NAME);
    len = jpp_smaller(len, JPP_LEDGER_NAME);

    row = jpp_vec_items(ledger->rows, jpp_ledger_row_t);
    n = jpp_vec_count(ledger->rows, jpp_ledger_row_t);

    /* the last one is the most likely */

    for (i = n; i > 0; i--) {

        if (row[i - 1].kind == (uint32_t) kind && row[i - 1].name_len == len
            && memcmp(row[i - 1].name, name, len) == 0)
        {
            return &row[i - 1];
        }
    }

    if (n >= JPP_LEDGER_ROWS && len != 0) {
        ledger->sums.n_unnamed++;

        return jpp_ledger_row(ledger, kind, "", 0);
    }

    row = jpp_vec_push(ledger->rows, sizeof(jpp_ledger_row_t));

    if (row == NULL) {
        ledger->failed = true;
        row = &ledger->spare;
    }

    row->kind = kind;
    row->held = JPP_NONE;
    row->name_len = (uint32_t) len;
    memcpy(row->name, name, len);

    return row;
}


/*
 * What is left of the allocator's mappings, R, is the sum of parts b[i], each
 * between low[i] and high[i].  As the others cannot be more than their highs or
 * less than their lows,
 *
 *     least[i] = max(low[i], R - sum of the others' high)
 *     most[i] = min(high[i], R - sum of the others' low)
 *
 * and all parts at the same fraction of the way from low to high add up to R,
 * each between its least and its most.
 */


typedef struct {
    jpp_ledger_kind_t          kind;
    uint64_t                   low;
    uint64_t                   high;
} jpp_ledger_part_t;


typedef struct {
    jpp_ledger_t              *ledger;
    const jpp_ledger_heap_t   *heap;
    uint64_t                   held[JPP_LEDGER_KINDS];
    jpp_ledger_part_t          parts[JPP_LEDGER_KINDS];
    size_t                     n;
    uint64_t                   low;    /* of all */
    uint64_t                   high;
    uint64_t                   before; /* what was shared out, by weight */
} jpp_ledger_parts_t;


static void
jpp_ledger_part(jpp_ledger_parts_t *parts, jpp_ledger_kind_t kind,
    uint64_t low, uint64_t high)
{
    if (high != 0) {
        parts->parts[parts->n++] = (jpp_ledger_part_t) { kind, low, high };
        parts->low += low;
        parts->high += high;
    }
}


/* What owners hold, and, as a part, what of it was in no range. */

static void
jpp_ledger_owned(jpp_ledger_parts_t *parts)
{
    size_t                  i;
    uint64_t                small;
    jpp_ledger_kind_t       kind;
    jpp_ledger_row_t       *row;
    const jpp_pools_t      *pools;
    const jpp_pools_row_t  *held;

    pools = parts->heap->pools;

    jpp_vec_each(held, pools->rows) {
        kind = jpp_ledger_owners[jpp_pools_owner_at(pools, held->owner)->kind];
        parts->held[kind] += held->is_inherited ? 0 : held->bytes;
    }

    for (i = 0; i <= JPP_LEDGER_CACHES; i++) {

        if (parts->held[i] == 0) {
            continue;
        }

        kind = (jpp_ledger_kind_t) i;
        row = jpp_ledger_row(parts->ledger, kind, "", 0);

        row->held = parts->held[i];
        small = jpp_less(row->held, parts->ledger->ranged[i]);

        jpp_ledger_part(parts, kind, small, small);
    }
}


/*
 * stats.allocated has what the program holds, what waits in thread caches,
 * jemalloc's own, and the larger places of sampled objects.
 */

static void
jpp_ledger_jemalloc(jpp_ledger_parts_t *parts)
{
    uint64_t                 tcache, known;
    const jpp_stats_t       *stats;
    const jpp_ledger_rest_t *rest;

    stats = parts->heap->stats;

    if (stats == NULL) {
        return;
    }

    rest = &parts->ledger->rest;
    tcache = jpp_known(stats->tcache);
    known = parts->heap->pools->facts.total + tcache + parts->heap->internal;

    jpp_ledger_part(parts, JPP_LEDGER_TCACHE, 0, tcache);
    jpp_ledger_part(parts, JPP_LEDGER_SAMPLED, 0,
                    parts->heap->is_sampled
                    ? jpp_less(stats->allocated, known) : 0);
    jpp_ledger_part(parts, JPP_LEDGER_FRAGMENTATION, 0,
                    jpp_less(stats->active, stats->allocated));
    jpp_ledger_part(parts, JPP_LEDGER_INTERNAL, 0, parts->heap->internal);

    if (parts->ledger->ranged[JPP_LEDGER_METADATA] == 0) {
        jpp_ledger_part(parts, JPP_LEDGER_METADATA, 0,
                        jpp_less(stats->metadata,
                                 parts->heap->internal));
    }

    jpp_ledger_part(parts, JPP_LEDGER_DIRTY, 0, jpp_known(stats->dirty));
    jpp_ledger_part(parts, JPP_LEDGER_MUZZY, 0, rest->lazy_free);

    if (!parts->heap->is_marked) {
        jpp_ledger_part(parts, JPP_LEDGER_MAPS, 0,
                        jpp_less(rest->size,
                                 stats->mapped + stats->retained));
    }
}


/* The share of WEIGHT in BYTES, so that all shares add up to them. */

static uint64_t
jpp_ledger_next(jpp_ledger_parts_t *parts, uint64_t weight, uint64_t bytes,
    uint64_t weights)
{
    uint64_t  before;

    before = jpp_ledger_scale(parts->before, bytes, weights);
    parts->before += weight;

    return jpp_ledger_scale(parts->before, bytes, weights) - before;
}


static bool
jpp_ledger_is_exact(const jpp_ledger_t *ledger, const jpp_ledger_row_t *row)
{
    return row->most - row->least <= ledger->page
           || row->most - row->least <= row->bytes / 50;
}


/*
 * Less than the sum of the lows means that not all of it was touched, more than
 * that of the highs that somebody else has it: both make estimates.
 */

static void
jpp_ledger_set(jpp_ledger_parts_t *parts, const jpp_ledger_part_t *part,
    uint64_t rest)
{
    uint64_t            bytes, least, most, slack;
    jpp_ledger_row_t   *row;

    row = jpp_ledger_row(parts->ledger, part->kind, "", 0);

    if (rest <= parts->low) {
        bytes = jpp_ledger_next(parts, part->low, rest, parts->low);
        least = 0;
        most = jpp_smaller(part->high, rest);

    } else if (rest >= parts->high) {
        bytes = part->high;
        least = part->low;
        most = part->high;

    } else {
        bytes = part->low + jpp_ledger_next(parts, part->high - part->low,
                                            rest - parts->low,
                                            parts->high - parts->low);
        slack = parts->ledger->rest.slack;

        least = jpp_less(rest, parts->high - part->high + slack);
        least = jpp_larger(least, part->low);
        most = jpp_less(rest + slack, parts->low - part->low);
        most = jpp_smaller(most, part->high);
    }

    row->bytes += bytes;
    row->least += least;
    row->most += most;

    if (row->held == JPP_NONE && parts->held[part->kind] != 0) {
        row->held = parts->held[part->kind];
    }

    if (!jpp_ledger_is_exact(parts->ledger, row)
        && (rest <= parts->low || rest >= parts->high))
    {
        row->how = JPP_LEDGER_ESTIMATE;
    }
}


static void
jpp_ledger_share_out(jpp_ledger_parts_t *parts)
{
    uint64_t                  rest, bytes;
    jpp_ledger_row_t         *row;
    const jpp_ledger_part_t  *part;

    rest = parts->ledger->rest.pss;

    jpp_each(part, parts->parts, parts->n) {
        jpp_ledger_set(parts, part, rest);
    }

    bytes = jpp_less(rest, parts->high);

    if (bytes != 0) {
        row = jpp_ledger_row(parts->ledger,
                             parts->heap->stats != NULL ? JPP_LEDGER_UNKNOWN
                             : JPP_LEDGER_MALLOC, "", 0);

        row->bytes += bytes;
        row->least = row->bytes;
        row->most = row->bytes;
        row->how = JPP_LEDGER_ESTIMATE;
    }
}


static int
jpp_ledger_by_bytes(const void *a, const void *b, void *ctx)
{
    const jpp_ledger_row_t *one = a;
    const jpp_ledger_row_t *other = b;

    (void) ctx;

    return jpp_sort_order(other->bytes, one->bytes);
}


void
jpp_ledger_sort(jpp_ledger_t *ledger)
{
    jpp_sort(ledger->rows->data, jpp_vec_count(ledger->rows, jpp_ledger_row_t),
             sizeof(jpp_ledger_row_t), jpp_ledger_by_bytes, NULL);
}


bool
jpp_ledger_finish(jpp_ledger_t *ledger, const jpp_ledger_heap_t *heap)
{
    bool                      is_short;
    uint64_t                  outside, inherited, shared;
    jpp_ledger_row_t         *row;
    jpp_ledger_parts_t        parts;
    const jpp_pools_facts_t  *facts;
    const jpp_ledger_rest_t  *rest;

    memset(&parts, 0, sizeof(jpp_ledger_parts_t));

    parts.ledger = ledger;
    parts.heap = heap;

    jpp_ledger_owned(&parts);

    /*
     * Pages that were inherited count less as long as nobody has written there.
     */

    facts = &heap->pools->facts;

    if (facts->has_total) {
        rest = &ledger->rest;
        outside = jpp_pools_outside(heap->pools, &is_short);
        inherited = jpp_smaller(outside, facts->outside_inherited);
        shared = jpp_smaller(inherited, rest->shared_rss);

        parts.held[JPP_LEDGER_INHERITED] = inherited;
        parts.held[JPP_LEDGER_SINCE] = outside - inherited;

        jpp_ledger_part(&parts, JPP_LEDGER_INHERITED,
                        jpp_ledger_scale(shared, rest->shared_pss,
                                         rest->shared_rss)
                        + inherited - shared,
                        inherited);
        jpp_ledger_part(&parts, JPP_LEDGER_SINCE, outside - inherited,
                        outside - inherited);
    }

    jpp_ledger_jemalloc(&parts);
    jpp_ledger_share_out(&parts);

    jpp_vec_each(row, ledger->rows) {
        if (row->how == JPP_LEDGER_EXACT && !jpp_ledger_is_exact(ledger, row)) {
            row->how = JPP_LEDGER_BOUND;
        }

        if (jpp_ledger_kind_is_anonymous((jpp_ledger_kind_t) row->kind)) {
            ledger->sums.anonymous += row->bytes;
        }
    }

    jpp_ledger_sort(ledger);

    return !ledger->failed;
}


const char *
jpp_ledger_hint(const jpp_ledger_facts_t *facts, const jpp_ledger_row_t *row,
    char text[JPP_LEDGER_HINT])
{
    if (row->kind != JPP_LEDGER_MAPS || row->name_len != 0) {
        return NULL;
    }

    if (facts->lua == 0) {
        return facts->has_luajit != 0 ? "LuaJIT is loaded" : NULL;
    }

    (void) snprintf(text, JPP_LEDGER_HINT, "LuaJIT's VMs have %s",
                    jpp_bytes(facts->lua));

    return text;
}


/*
 * Packs a ledger into bytes, and unpacks it.  The grammar:
 *
 *     file := magic:8 facts row*
 *
 * The facts and rows are as in memory: nothing but numbers of 4 and 8 bytes,
 * and texts.
 */


/* to be changed with the structures */
#define JPP_LEDGER_MAGIC  "jppLdgr3"

#define JPP_LEDGER_BUFFER  512


_Static_assert(sizeof(jpp_ledger_facts_t) % 8 == 0
               && sizeof(jpp_ledger_row_t) % 8 == 0,
               "what follows is aligned");


jpp_code_t
jpp_ledger_save(const jpp_ledger_t *ledger, const jpp_ledger_facts_t *facts,
    int fd, jpp_err_t *err)
{
    uint8_t     buffer[JPP_LEDGER_BUFFER];
    jpp_sink_t  sink;

    jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_write, &fd);

    jpp_sink_write(&sink, JPP_LEDGER_MAGIC, 8);
    jpp_sink_write(&sink, facts, sizeof(jpp_ledger_facts_t));
    jpp_sink_write(&sink, ledger->rows->data, ledger->rows->len);

    return jpp_sink_flush(&sink) == 0
           ? JPP_OK : jpp_write_failed(err, sink.error, "its ledger");
}


jpp_code_t
jpp_ledger_load(jpp_ledger_read_t *ledger, const char *data, size_t len,
    jpp_err_t *err)
{
    size_t                   head;
    const jpp_ledger_row_t  *row;

    head = 8 + sizeof(jpp_ledger_facts_t);

    memset(ledger, 0, sizeof(jpp_ledger_read_t));

    if (len < head || memcmp(data, JPP_LEDGER_MAGIC, 8) != 0
        || (len - head) % sizeof(jpp_ledger_row_t) != 0)
    {
        return jpp_err_set(err, JPP_ERR_INPUT,
                           "what it sent is no ledger, or one of another "
                           "version of this module");
    }

    memcpy(&ledger->facts, data + 8, sizeof(jpp_ledger_facts_t));

    ledger->facts.why[JPP_LEDGER_WHY - 1] = '\0';
    jpp_ascii_clean(ledger->facts.why);

    ledger->rows = (const jpp_ledger_row_t *) (const void *) (data + head);
    ledger->n = (len - head) / sizeof(jpp_ledger_row_t);

    jpp_each(row, ledger->rows, ledger->n) {
        if (row->kind >= JPP_LEDGER_KINDS || row->how >= JPP_LEDGER_HOWS
            || row->name_len > JPP_LEDGER_NAME)
        {
            ledger->n = 0;

            return jpp_err_set(err, JPP_ERR_INPUT,
                               "its ledger has a row that cannot be");
        }
    }

    return JPP_OK;
}

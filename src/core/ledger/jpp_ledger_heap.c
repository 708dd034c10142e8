
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


#include <string.h>

#include "jpp_ledger_heap.h"
#include "jpp_pools.h"
#include "jpp_sort.h"


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
        parts->parts[parts->n].kind = kind;
        parts->parts[parts->n].low = low;
        parts->parts[parts->n++].high = high;
        parts->low += low;
        parts->high += high;
    }
}


/* What owners hold, and, as a part, what of it was in no range. */

static bool
jpp_ledger_owned(jpp_ledger_parts_t *parts)
{
    size_t                  i, n;
    uint64_t                small;
    jpp_ledger_kind_t       kind;
    jpp_ledger_row_t       *row;
    const jpp_pools_t      *pools;
    const jpp_pools_row_t  *held;

    pools = parts->heap->pools;
    held = jpp_vec_items(pools->rows, jpp_pools_row_t);
    n = jpp_vec_count(pools->rows, jpp_pools_row_t);

    for (i = 0; i < n; i++) {

        if (!held[i].is_inherited) {
            kind = jpp_ledger_of((jpp_pools_kind_t)
                                 jpp_pools_owner_at(pools,
                                                    held[i].owner)->kind);
            parts->held[kind] += held[i].bytes;
        }
    }

    for (i = 0; i <= JPP_LEDGER_CACHES; i++) {

        if (parts->held[i] == 0) {
            continue;
        }

        kind = (jpp_ledger_kind_t) i;
        row = jpp_ledger_row(parts->ledger, kind, "", 0);

        if (row == NULL) {
            return false;
        }

        row->held = parts->held[i];
        small = jpp_less(row->held, parts->ledger->ranged[i]);

        jpp_ledger_part(parts, kind, small, small);
    }

    return true;
}


/* Pages that were inherited count less as long as nobody has written there. */

static void
jpp_ledger_outside(jpp_ledger_parts_t *parts)
{
    bool                       is_short;
    uint64_t                   outside, inherited, shared;
    const jpp_pools_facts_t   *facts;
    const jpp_ledger_rest_t   *rest;

    facts = &parts->heap->pools->facts;

    if (!facts->has_total) {
        return;
    }

    rest = &parts->ledger->rest;
    outside = jpp_pools_outside(parts->heap->pools, &is_short);
    inherited = outside < facts->outside_inherited
                ? outside : facts->outside_inherited;
    shared = inherited < rest->shared_rss ? inherited : rest->shared_rss;

    parts->held[JPP_LEDGER_INHERITED] = inherited;
    parts->held[JPP_LEDGER_SINCE] = outside - inherited;

    jpp_ledger_part(parts, JPP_LEDGER_INHERITED,
                    jpp_ledger_scale(shared, rest->shared_pss,
                                      rest->shared_rss) + inherited - shared,
                    inherited);
    jpp_ledger_part(parts, JPP_LEDGER_SINCE, outside - inherited,
                    outside - inherited);
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
    tcache = stats->tcache != JPP_NONE ? stats->tcache : 0;
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

    jpp_ledger_part(parts, JPP_LEDGER_DIRTY, 0,
                    stats->dirty != JPP_NONE ? stats->dirty : 0);
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

static bool
jpp_ledger_set(jpp_ledger_parts_t *parts, const jpp_ledger_part_t *part,
    uint64_t rest)
{
    uint64_t            bytes, least, most, slack;
    jpp_ledger_row_t   *row;

    row = jpp_ledger_row(parts->ledger, part->kind, "", 0);

    if (row == NULL) {
        return false;
    }

    if (rest <= parts->low) {
        bytes = jpp_ledger_next(parts, part->low, rest, parts->low);
        least = 0;
        most = part->high < rest ? part->high : rest;

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
        least = least > part->low ? least : part->low;
        most = jpp_less(rest + slack, parts->low - part->low);
        most = most < part->high ? most : part->high;
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

    return true;
}


static bool
jpp_ledger_left(jpp_ledger_t *ledger, jpp_ledger_kind_t kind, uint64_t bytes)
{
    jpp_ledger_row_t  *row;

    if (bytes == 0) {
        return true;
    }

    row = jpp_ledger_row(ledger, kind, "", 0);

    if (row == NULL) {
        return false;
    }

    row->bytes += bytes;
    row->least = row->bytes;
    row->most = row->bytes;
    row->how = JPP_LEDGER_ESTIMATE;

    return true;
}


static bool
jpp_ledger_share_out(jpp_ledger_parts_t *parts)
{
    size_t    i;
    uint64_t  rest;

    rest = parts->ledger->rest.pss;

    for (i = 0; i < parts->n; i++) {
        if (!jpp_ledger_set(parts, &parts->parts[i], rest)) {
            return false;
        }
    }

    return jpp_ledger_left(parts->ledger,
                           parts->heap->stats != NULL ? JPP_LEDGER_UNKNOWN
                                                      : JPP_LEDGER_MALLOC,
                           jpp_less(rest, parts->high));
}


static int
jpp_ledger_by_bytes(const void *a, const void *b, void *ctx)
{
    const jpp_ledger_row_t *one = a;
    const jpp_ledger_row_t *other = b;

    (void) ctx;

    return jpp_sort_order(other->bytes, one->bytes);
}


bool
jpp_ledger_finish(jpp_ledger_t *ledger, const jpp_ledger_heap_t *heap)
{
    size_t              i, n;
    jpp_ledger_row_t   *row;
    jpp_ledger_parts_t  parts;

    memset(&parts, 0, sizeof(jpp_ledger_parts_t));

    parts.ledger = ledger;
    parts.heap = heap;

    if (!jpp_ledger_owned(&parts)) {
        return false;
    }

    jpp_ledger_outside(&parts);
    jpp_ledger_jemalloc(&parts);

    if (!jpp_ledger_share_out(&parts)) {
        return false;
    }

    row = jpp_vec_items(ledger->rows, jpp_ledger_row_t);
    n = jpp_vec_count(ledger->rows, jpp_ledger_row_t);

    for (i = 0; i < n; i++) {
        if (row[i].how == JPP_LEDGER_EXACT
            && !jpp_ledger_is_exact(ledger, &row[i]))
        {
            row[i].how = JPP_LEDGER_BOUND;
        }

        if (jpp_ledger_kind_is_anonymous((jpp_ledger_kind_t) row[i].kind)) {
            ledger->sums.anonymous += row[i].bytes;
        }
    }

    jpp_sort(row, n, sizeof(jpp_ledger_row_t), jpp_ledger_by_bytes, NULL);

    return true;
}

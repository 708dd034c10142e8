
#include "jpp_dump.h"
#include "jpp_heap.h"
#include "jpp_profile.h"

#include <math.h>


/*
 * The stacks of jemalloc's heap dumps (heap_v2, 5.2.1 to 5.3.1) into a profile.
 *
 * Counts are scaled to what they stand for, per stack and per pair (see
 * jpp_heap.h), unless the parser of the profile does that.  The allocator's
 * own frames, at the leaf of every stack, are left out; a stack of nothing
 * else keeps its outermost frame.  Every stack must have its totals.
 *
 * Memory from the profile's arena.
 *
 * The grammar (jemalloc's prof_data.c); the rest is in jpp_heap_file.c:
 *
 *     stack  := "@" ( " 0x" hex )* NL total tctx*
 *     tctx   := "  t" uid ": " counts NL
 *
 * Stacks are leaf first and hold return addresses, the leaf's too.  The lines
 * of single threads repeat what the totals say: their form alone is checked.
 */


/* about the text of a stack, and the bytes of its location ids */
#define JPP_HEAP_STACK       512
#define JPP_HEAP_IDS         64

/* bytes of " 0x" */
#define JPP_HEAP_0X          3
#define JPP_HEAP_FRAME       (JPP_HEAP_0X + JPP_ADDRESS_DIGITS)

#define JPP_HEAP_STRING(n)   JPP_HEAP_STRING_(n)
#define JPP_HEAP_STRING_(n)  #n


typedef struct {
    jpp_profile_t             *profile;
    const jpp_dump_t          *dump;
    const jpp_read_options_t  *options;
    jpp_err_t                 *err;

    const char                *end;       /* of the stacks */
    jpp_addresses_t            addresses;

    const char                *lead;      /* the allocator's frames of a */
    size_t                     lead_len;  /*   stack before, as text */
    uint32_t                   lead_depth;

    jpp_owner_labels_t        *owners;    /* NULL: none */
    uint32_t                   owner;     /* of the stack */

    jpp_scales_t               scales;
} jpp_heap_t;


static const char  jpp_heap_no_address[] =
    "a stack contains something that is not an address";


static const char *
jpp_heap_error(jpp_heap_t *heap, const char *p, jpp_code_t code,
    const char *sentence)
{
    (void) jpp_err_line(heap->err, code, jpp_dump_line(heap->dump, p), "%s",
                        sentence);

    return NULL;
}


/* Has the frame at P twelve digits, if digits they are? */

static inline bool
jpp_heap_is_frame(const char *p)
{
    return (p[JPP_HEAP_FRAME] == ' ' || p[JPP_HEAP_FRAME] == '\n')
           && memcmp(p + 1, "0x", 2) == 0;
}


/*
 * The varint of the frame at P, which begins with a blank, if it is known and
 * has no flags; else 0.
 */

static inline uint32_t
jpp_heap_known(const jpp_addresses_t *addresses, const char *p)
{
    jpp_address_key_t     key;
    const jpp_address_t  *slot;

    /* "MAPPED_LIBRARIES:" leaves room for the digits of any frame */

    key = jpp_address_key(p + JPP_HEAP_0X);
    slot = jpp_addresses_first(addresses, &key);

    if (__builtin_expect(slot->low != key.low || slot->high != key.high, 0)
        && ((++slot)->low != key.low || slot->high != key.high))
    {
        return 0;
    }

    return slot->varint < JPP_ADDRESS_VALUE && jpp_heap_is_frame(p)
           ? slot->varint : 0;
}


/* The frame at P, in any form, known or new. */

static const char *
jpp_heap_frame(jpp_heap_t *heap, const char *p, bool is_wanted,
    uint32_t *varint)
{
    uint64_t            address = 0;
    const char         *digits, *next;
    jpp_address_t      *slot;
    jpp_address_key_t   key;

    digits = p + JPP_HEAP_0X;
    key = jpp_address_key(digits);
    slot = jpp_addresses_slot(&heap->addresses, &key);

    *varint = slot->varint;

    if (*varint != 0 && (*varint & JPP_ADDRESS_VALUE) == 0
        && jpp_heap_is_frame(p)
        && (!is_wanted || (*varint & ~JPP_ADDRESS_FLAGS) != 0))
    {
        return p + JPP_HEAP_FRAME;
    }

    next = memcmp(p, " 0x", JPP_HEAP_0X) == 0
           ? jpp_scan_hex(digits, &address) : NULL;

    if (next == NULL) {
        return jpp_heap_error(heap, p, JPP_ERR_INPUT, jpp_heap_no_address);
    }

    if (next - digits != JPP_ADDRESS_DIGITS) {
        key = jpp_address_value(address);
        slot = jpp_addresses_slot(&heap->addresses, &key);
    }

    if (!jpp_addresses_add(&heap->addresses, slot, &key, address, is_wanted,
                           varint))
    {
        (void) jpp_err_memory(heap->err);
        return NULL;
    }

    return next;
}


/* The allocator's frames, from P on.  Returns where they end. */

static const char *
jpp_heap_lead(jpp_heap_t *heap, const char *p, uint32_t *depth, uint8_t **pos)
{
    uint32_t     varint, owner;
    const char  *frame, *next;

    frame = p;
    next = p;

    for (heap->lead = p; *next == ' '; *depth += 1) {

        if (jpp_heap_owner_is(next, &owner)) {
            next += JPP_HEAP_OWNER_LEN;
            break;
        }

        frame = next;
        next = jpp_heap_frame(heap, frame, false, &varint);

        if (next == NULL) {
            return NULL;
        }

        if ((varint & JPP_ADDRESS_ALLOCATOR) == 0) {
            heap->lead_len = (size_t) (frame - heap->lead);
            heap->lead_depth = *depth;

            return frame;
        }
    }

    heap->lead_len = 0;
    heap->lead_depth = 0;

    /* a stack of nothing but the allocator keeps its outermost frame */

    if (*depth != 0) {

        if (jpp_heap_frame(heap, frame, true, &varint) == NULL) {
            return NULL;
        }

        *pos = jpp_address_push(*pos, varint);
    }

    return next;
}


/*
 * The frames further out, from P on.  Most of the time is spent here: a known
 * address costs the loads of its digits and one probe.
 */

static const char *
jpp_heap_callers(jpp_heap_t *heap, const char *p, uint32_t depth,
    uint8_t *pos, uint8_t **stack)
{
    uint32_t         varint, owner;
    jpp_addresses_t  addresses;

    /* a copy, because no store through POS can change it */

    addresses = heap->addresses;

    for ( /* void */ ; *p == ' '; depth++) {

        /* so many may be the allocator's already */

        if (depth >= JPP_MAX_FRAMES) {
            return jpp_heap_error(heap, p, JPP_ERR_LIMIT,
                                  "a stack has more frames than "
                                  JPP_HEAP_STRING(JPP_MAX_FRAMES));
        }

        varint = jpp_heap_known(&addresses, p);

        if (__builtin_expect(varint != 0, 1)) {
            p += JPP_HEAP_FRAME;

        } else if (jpp_heap_owner_is(p, &owner)) {
            p += JPP_HEAP_OWNER_LEN;
            break;

        } else {
            p = jpp_heap_frame(heap, p, true, &varint);

            if (p == NULL) {
                return NULL;
            }

            addresses = heap->addresses;
        }

        pos = jpp_address_push(pos, varint);
    }

    if (*p != '\n') {
        return jpp_heap_error(heap, p, JPP_ERR_INPUT, jpp_heap_no_address);
    }

    *stack = pos;

    return p + 1;
}


static const char *
jpp_heap_frames(jpp_heap_t *heap, const char *p, uint8_t **stack)
{
    uint8_t     *pos;
    uint32_t     depth, labels;

    labels = jpp_owner_labels(heap->options->has_owners ? heap->owners : NULL,
                              heap->profile, heap->owner,
                              heap->options->labels);

    pos = labels != JPP_OWNER_NO_LABELS
          ? jpp_profile_begin(heap->profile, labels, JPP_MAX_FRAMES)
          : NULL;

    if (pos == NULL) {
        (void) jpp_err_memory(heap->err);
        return NULL;
    }

    p++;
    depth = 0;

    /* most stacks pass through the allocator as the one before */

    if ((size_t) (heap->end - p) > heap->lead_len
        && p[heap->lead_len] == ' '
        && memcmp(p, heap->lead, heap->lead_len) == 0
        && jpp_heap_known(&heap->addresses, p + heap->lead_len) != 0)
    {
        p += heap->lead_len;
        depth = heap->lead_depth;

    } else {
        p = jpp_heap_lead(heap, p, &depth, &pos);

        if (p == NULL) {
            return NULL;
        }
    }

    return jpp_heap_callers(heap, p, depth, pos, stack);
}


static inline int64_t
jpp_heap_samples(uint64_t count)
{
    return count < INT64_MAX ? (int64_t) count : INT64_MAX;
}


/* Add the stack with the estimates from its COUNTS. */

static bool
jpp_heap_commit(jpp_heap_t *heap, const uint64_t counts[4])
{
    int                i;
    int64_t            values[JPP_HEAP_COLUMNS];
    jpp_profile_t     *profile;
    jpp_heap_facts_t  *facts;

    profile = heap->profile;
    facts = profile->facts;

    values[JPP_HEAP_INUSE_DOUBT] =
                          jpp_scale_known(&heap->scales, counts,
                                          &values[JPP_HEAP_INUSE_OBJECTS]);
    values[JPP_HEAP_ALLOC_DOUBT] =
                          jpp_scale_known(&heap->scales, counts + 2,
                                          &values[JPP_HEAP_ALLOC_OBJECTS]);

    values[JPP_HEAP_ALLOC_SAMPLES] = jpp_heap_samples(counts[2]);
    values[JPP_HEAP_INUSE_SAMPLES] = jpp_heap_samples(counts[0]);

    if (heap->options->is_base) {
        for (i = 0; i < JPP_HEAP_COLUMNS; i++) {
            values[i] = -values[i];
        }
    }

    if (heap->options->columns == NULL) {
        profile->n_seen[0] += counts[2];
        profile->n_seen[1] += counts[0];
        facts->is_asked |= heap->options->has_owners;

        if (heap->owner != JPP_OWNER_NONE) {
            facts->live += counts[0];
            facts->allocated += counts[2];
        }
    }

    return heap->options->is_raw
           ? jpp_profile_append(profile, values)
           : jpp_profile_commit_to(profile, heap->options->columns,
                                   values);
}


static const char *
jpp_heap_stack(jpp_heap_t *heap, const char *p)
{
    uint8_t     *stack = NULL;
    uint64_t     counts[4];
    const char  *line, *bad;

    if (*p != '@') {
        return jpp_heap_error(heap, p, JPP_ERR_INPUT,
                              jpp_scan_text(p + (*p == '\n'), heap->end,
                                            JPP_HEAP_MAPS)
                              ? "a second MAPPED_LIBRARIES section: two dumps "
                                "in one file"
                              : "neither a stack nor the maps section");
    }

    heap->owner = jpp_heap_owner(heap->owners, p, heap->end);

    line = jpp_heap_frames(heap, p, &stack);
    if (line == NULL) {
        return NULL;
    }

    jpp_profile_end(heap->profile, stack);

    p = jpp_heap_totals(line, heap->end, counts);

    if (p == NULL || *p != '\n') {
        return jpp_heap_error(heap, line, JPP_ERR_INPUT,
                              "a stack is not followed by its totals");
    }

    p = jpp_heap_threads(p + 1, heap->end, line, &bad);
    if (p == NULL) {
        return jpp_heap_error(heap, bad, JPP_ERR_INPUT,
                              "not the totals of a thread");
    }

    if (!jpp_heap_commit(heap, counts)) {
        (void) jpp_err_memory(heap->err);
        return NULL;
    }

    return p;
}


jpp_code_t
jpp_heap_read(jpp_profile_t *profile, const jpp_dump_t *dump,
    const jpp_read_options_t *options, jpp_err_t *err)
{
    size_t       stacks;
    jpp_err_t    ignored = { 0 };
    jpp_heap_t   heap;
    const char  *p;

    memset(&heap, 0, sizeof(jpp_heap_t));

    heap.profile = profile;
    heap.dump = dump;
    heap.options = options;
    heap.err = err != NULL ? err : &ignored;
    heap.scales.period = options->is_raw ? 1 : dump->period;
    heap.end = dump->end;
    heap.lead = dump->data;
    heap.owners = (options->is_baseline ? options->baseline_of : dump)->opened;


    stacks = (size_t) (dump->end - dump->data) / JPP_HEAP_STACK;

    if (!jpp_addresses_init(&heap.addresses, profile, dump, options)
        || !jpp_profile_expect(profile, stacks, stacks * JPP_HEAP_IDS))
    {
        return jpp_err_memory(heap.err);
    }

    for (p = dump->samples; p != NULL && p < dump->end; /* void */ ) {

        /* the blank line in front of the maps */

        if (*p == '\n' && p + 1 == dump->end) {
            break;
        }

        p = jpp_heap_stack(&heap, p);
    }

    if (p == NULL) {
        return heap.err->code;
    }

    if (profile->period == 0) {
        profile->period = (int64_t) dump->period;

    } else if (profile->period != (int64_t) dump->period) {
        profile->has_periods = true;
    }

    profile->is_difference |= options->is_base;

    jpp_addresses_destroy(&heap.addresses);

    return JPP_OK;
}


static int64_t
jpp_scale_round(double value)
{
    /* the smallest double above INT64_MAX; q may also be 0 */

    return value < 9223372036854775808.0 ? (int64_t) (value + 0.5) : INT64_MAX;
}


/*
 * jemalloc samples bytes: an allocation of m bytes is sampled with the
 * probability q = 1 - exp(-m / period), so one that was seen stands for 1/q.
 * A stack's allocations differ in size, but only their mean m = bytes/objects
 * is known; from 5.3.0 on jemalloc stores counts that it distorted such that
 * exactly this formula gives the estimate it means.
 *
 * 1 - exp(-x) is -expm1(-x), which stays exact where x is small.
 */

int64_t
jpp_scale(uint64_t period, uint64_t objects, uint64_t bytes,
    int64_t values[2])
{
    double  q;

    if (objects == 0 || bytes == 0) {
        values[0] = 0;
        values[1] = 0;
        return 0;
    }

    if (period > 1) {
        q = -expm1(-((double) bytes / (double) objects) / (double) period);

        if (q < 1) {
            values[0] = jpp_scale_round((double) objects / q);
            values[1] = jpp_scale_round((double) bytes / q);
            return jpp_scale_round((double) objects * (1 - q) * JPP_DOUBT_ONE);
        }
    }

    values[0] = objects < INT64_MAX ? (int64_t) objects : INT64_MAX;
    values[1] = bytes < INT64_MAX ? (int64_t) bytes : INT64_MAX;

    return 0;
}


const jpp_value_type_t  jpp_heap_types[JPP_HEAP_TYPES] = {
    { "alloc_objects", "count", true,  0, JPP_HEAP_ALLOC_OBJECTS },
    { "alloc_space",   "bytes", true,  0, JPP_HEAP_ALLOC_OBJECTS },
    { "inuse_objects", "count", false, 1, JPP_HEAP_INUSE_OBJECTS },
    { "inuse_space",   "bytes", false, 1, JPP_HEAP_INUSE_OBJECTS }
};


void
jpp_heap_describe(jpp_profile_t *profile)
{
    const jpp_heap_facts_t  *facts;

    facts = profile->facts;

    if (profile->has_periods) {
        jpp_profile_comment(profile, "dumps of different sampling periods: "
                            "each was scaled by its own");
    } else {
        jpp_profile_comment(profile, "lg_sample %d",
                            __builtin_ctzll((uint64_t) profile->period));
    }

    if (profile->columns[JPP_HEAP_ALLOC_OBJECTS]->len != 0) {
        jpp_profile_comment(profile, "prof_accum true");
    }

    if (!facts->is_asked) {
        return;
    }

    if (facts->allocated == 0 && facts->live == 0) {
        jpp_profile_comment(profile, "no sample has an owner: those of "
                            "workers do, unless owners are off (POST "
                            "owners=on to control), inherited ones never");

    } else if (profile->n_seen[0] == 0) {
        /* without prof_accum, nobody knows of those that were freed */
        jpp_profile_comment(profile, "samples with an owner: %" PRIu64
                            " of %" PRIu64 " live ones", facts->live,
                            profile->n_seen[1]);

    } else {
        jpp_profile_comment(profile, "samples with an owner: %" PRIu64
                            " of %" PRIu64 " live ones, %" PRIu64 " of %" PRIu64
                            " in all", facts->live, profile->n_seen[1],
                            facts->allocated, profile->n_seen[0]);
    }
}

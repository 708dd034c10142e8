
/*
 * The grammar (jemalloc's prof_data.c and prof_sys.c):
 *
 *     dump   := "heap_v2/" period NL total thread* stack*
 *               [ NL "MAPPED_LIBRARIES:" NL maps ]
 *     total  := "  t*: " counts NL
 *     thread := "  t" uid ": " counts [ " " name ] NL
 *     stack  := "@" ( " 0x" hex )* NL total tctx*
 *     tctx   := "  t" uid ": " counts NL
 *     counts := objects ": " bytes " [" objects ": " bytes "]"
 *
 * Stacks are leaf first and hold return addresses, the leaf's too.  The first
 * pair counts what is live; the second what was ever allocated, all zeros
 * without prof_accum.  The header's totals are not the sum of the stacks, and
 * the lines of single threads repeat what the totals say: both are checked
 * for their form only.
 *
 * No reader here looks for the end of the text at each byte: the stacks are
 * followed by "MAPPED_LIBRARIES:", which ends every number and every line.
 */


/* memrchr() */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <string.h>

#include "jpp_addresses.h"
#include "jpp_heap.h"
#include "jpp_unreadable.h"
#include "jpp_scale.h"
#include "jpp_scan.h"


#define JPP_MAPS_SECTION     "MAPPED_LIBRARIES:\n"
#define JPP_HEAP_TOTALS      "  t*: "

/* about the text of a stack, and the bytes of its location ids */
#define JPP_HEAP_STACK       512
#define JPP_HEAP_IDS         64

/* pairs of counts to be remembered */
#define JPP_HEAP_SCALED_BITS 10
#define JPP_HEAP_SCALED      (1 << JPP_HEAP_SCALED_BITS)

/* bytes of " 0x" */
#define JPP_HEAP_0X          3
#define JPP_HEAP_FRAME       (JPP_HEAP_0X + JPP_ADDRESS_DIGITS)

#define JPP_HEAP_STRING(n)   JPP_HEAP_STRING_(n)
#define JPP_HEAP_STRING_(n)  #n


/* What a pair of counts was scaled to; stacks have many pairs in common. */
typedef struct {
    uint64_t                   objects;
    uint64_t                   bytes;
    int64_t                    values[2];
} jpp_heap_scaled_t;


typedef struct {
    jpp_profile_t             *profile;
    const jpp_heap_options_t  *options;
    jpp_err_t                 *err;

    const char                *data;      /* the dump */
    const char                *end;       /* of its stacks */
    uint64_t                   period;

    jpp_vec_t                 *maps;      /* jpp_map_t */
    jpp_addresses_t            addresses;

    const char                *lead;      /* the allocator's frames of a */
    size_t                     lead_len;  /*   stack before, as text */
    uint32_t                   lead_depth;

    jpp_heap_scaled_t          scaled[JPP_HEAP_SCALED];
} jpp_heap_t;


static const char *jpp_heap_word(const void *ctx, uint32_t i);
static jpp_code_t jpp_heap_sections(jpp_heap_t *heap, size_t len);
static const char *jpp_heap_header(jpp_heap_t *heap);
static const char *jpp_heap_stack(jpp_heap_t *heap, const char *p);
static const char *jpp_heap_frames(jpp_heap_t *heap, const char *p,
    uint8_t **stack);
static const char *jpp_heap_lead(jpp_heap_t *heap, const char *p,
    uint32_t *depth, uint8_t **pos);
static const char *jpp_heap_callers(jpp_heap_t *heap, const char *p,
    uint32_t depth, uint8_t *pos, uint8_t **stack);
static const char *jpp_heap_frame(jpp_heap_t *heap, const char *p,
    bool is_wanted, uint32_t *varint);
static inline uint32_t jpp_heap_known(const jpp_addresses_t *addresses,
    const char *p);
static inline bool jpp_heap_is_frame(const char *p);
static inline void jpp_heap_scale(jpp_heap_t *heap, const uint64_t counts[2],
    int64_t values[2]);
static inline int64_t jpp_heap_samples(uint64_t count);
static const char *jpp_heap_totals(const char *p, const char *end,
    uint64_t counts[4]);
static const char *jpp_heap_threads(jpp_heap_t *heap, const char *p,
    const char *totals);
static const char *jpp_heap_thread(const char *p, const char *end);
static const char *jpp_heap_counts(const char *p, uint64_t counts[4]);
static const char *jpp_heap_error(jpp_heap_t *heap, const char *p,
    jpp_code_t code, const char *sentence);
static uint64_t jpp_heap_line(const jpp_heap_t *heap, const char *p);


static const char  jpp_heap_no_address[] =
    "a stack with something that is no address";


const jpp_value_type_t  jpp_heap_types[JPP_HEAP_TYPES] = {
    { "alloc_objects", "count", true },
    { "alloc_space",   "bytes", true },
    { "inuse_objects", "count", false },
    { "inuse_space",   "bytes", false }
};


const jpp_words_t  jpp_heap_words = {
    jpp_heap_word, NULL, JPP_HEAP_INUSE_SPACE
};


static const char *
jpp_heap_word(const void *ctx, uint32_t i)
{
    (void) ctx;

    return i < JPP_HEAP_TYPES ? jpp_heap_types[i].type : NULL;
}


bool
jpp_heap_init(jpp_profile_t *profile, jpp_arena_t *arena)
{
    if (!jpp_profile_init(profile, arena, jpp_heap_types, JPP_HEAP_TYPES)) {
        return false;
    }

    profile->default_type = JPP_HEAP_INUSE_SPACE;
    profile->period_type = "space";
    profile->period_unit = "bytes";

    return true;
}


jpp_code_t
jpp_heap_read(jpp_profile_t *profile, const jpp_heap_options_t *options,
    const char *data, size_t len, jpp_err_t *err)
{
    size_t       stacks;
    jpp_err_t    ignored = { 0 };
    jpp_code_t   rc;
    jpp_heap_t   heap;
    const char  *p;

    memset(&heap, 0, sizeof(jpp_heap_t));

    profile->is_raw = options->is_raw;
    profile->is_baseline = options->is_baseline;

    heap.profile = profile;
    heap.options = options;
    heap.err = err != NULL ? err : &ignored;
    heap.data = data;
    heap.lead = data;
    heap.maps = jpp_vec_create(profile->arena);

    heap.addresses.profile = profile;
    heap.addresses.maps = heap.maps;
    heap.addresses.allocator = options->allocator;
    heap.addresses.n_allocator = options->n_allocator;

    if (heap.maps == NULL || !jpp_addresses_init(&heap.addresses)) {
        return jpp_err_memory(heap.err);
    }

    rc = jpp_heap_sections(&heap, len);
    if (rc != JPP_OK) {
        return rc;
    }

    stacks = (size_t) (heap.end - data) / JPP_HEAP_STACK;

    if (!jpp_profile_expect(profile, stacks, stacks * JPP_HEAP_IDS)) {
        return jpp_err_memory(heap.err);
    }

    /* a new period comes by a reset, which forgets what was inherited */

    if (options->is_baseline
        && profile->last_period != (int64_t) heap.period)
    {
        return jpp_err_line(heap.err, JPP_ERR_INPUT, 1,
                            "its sampling period is not the dump's: profiling "
                            "was reset in between");
    }

    profile->last_period = (int64_t) heap.period;

    p = jpp_heap_header(&heap);

    while (p != NULL && p < heap.end) {

        /* the blank line in front of the maps */

        if (*p == '\n' && p + 1 == heap.end) {
            break;
        }

        p = jpp_heap_stack(&heap, p);
    }

    if (p == NULL) {
        return heap.err->code;
    }

    if (profile->period == 0) {
        profile->period = (int64_t) heap.period;

    } else if (profile->period != (int64_t) heap.period) {
        profile->has_periods = true;
    }

    profile->is_difference |= options->is_base;

    jpp_addresses_destroy(&heap.addresses);
    jpp_vec_release(heap.maps);

    return JPP_OK;
}


const char *
jpp_heap_maps(const char *data, size_t len)
{
    const char  *p, *maps;

    /* from the end, where it is */

    for (p = data + len; p > data; /* void */ ) {

        p = memrchr(data, '\n', (size_t) (p - data));

        if (p == NULL) {
            return NULL;
        }

        maps = jpp_scan_text(p + 1, data + len, JPP_MAPS_SECTION);

        if (maps != NULL) {
            return maps;
        }
    }

    return NULL;
}


/* Finds the parts of the dump, and reads the maps. */

static jpp_code_t
jpp_heap_sections(jpp_heap_t *heap, size_t len)
{
    jpp_code_t   rc;
    const char  *p, *maps, *end;

    end = heap->data + len;

    p = jpp_scan_text(heap->data, end, "heap_v2/");
    if (p == NULL) {
        return jpp_err_line(heap->err,
                            len < 8 ? JPP_ERR_CUT : JPP_ERR_INPUT, 1, "%s",
                            jpp_unreadable_sentence(heap->data, len));
    }

    if (end[-1] != '\n') {
        return jpp_err_line(heap->err, JPP_ERR_CUT, jpp_heap_line(heap, end),
                            "the dump was cut: its last line has no end");
    }

    p = jpp_scan_dec(p, &heap->period);

    if (p != NULL && *p == '\r') {
        return jpp_err_line(heap->err, JPP_ERR_INPUT, 1,
                            "the lines end in CR LF: the dump was moved as "
                            "text, which it is not");
    }

    /* 1 << lg_prof_sample, in every jemalloc */

    if (p == NULL || *p != '\n' || heap->period == 0
        || heap->period > INT64_MAX
        || (heap->period & (heap->period - 1)) != 0)
    {
        return jpp_err_line(heap->err, JPP_ERR_INPUT, 1,
                            "heap_v2/ is not followed by a sampling period, "
                            "which is a power of two");
    }

    maps = jpp_heap_maps(heap->data, len);
    if (maps == NULL) {
        return jpp_err_line(heap->err, JPP_ERR_CUT,
                            jpp_heap_line(heap, end - 1),
                            "the dump was cut: it has no MAPPED_LIBRARIES "
                            "section at its end");
    }

    heap->end = maps - (sizeof(JPP_MAPS_SECTION) - 1);

    rc = jpp_maps_read(heap->profile, maps, (size_t) (end - maps),
                       heap->options->tail, heap->maps, heap->err);

    if (rc != JPP_OK && heap->err->line != 0) {
        heap->err->line += jpp_heap_line(heap, maps) - 1;
    }

    return rc;
}


static const char *
jpp_heap_header(jpp_heap_t *heap)
{
    uint64_t     counts[4];
    const char  *p, *totals;

    p = memchr(heap->data, '\n', (size_t) (heap->end - heap->data));

    totals = jpp_heap_totals(++p, heap->end, counts);

    if (totals == NULL || *totals != '\n') {
        return jpp_heap_error(heap, p, JPP_ERR_INPUT,
                              "the header has no totals");
    }

    for (p = totals + 1; *p == ' '; p++) {

        totals = jpp_heap_thread(p, heap->end);
        totals = totals != NULL ? jpp_heap_counts(totals, counts) : NULL;

        if (totals == NULL || (*totals != '\n' && *totals != ' ')) {
            return jpp_heap_error(heap, p, JPP_ERR_INPUT,
                                  "not the totals of a thread");
        }

        /* a thread's name may hold anything but a newline */

        p = memchr(totals, '\n', (size_t) (heap->end - totals));
    }

    return p;
}


static const char *
jpp_heap_stack(jpp_heap_t *heap, const char *p)
{
    int          i;
    int64_t      values[JPP_HEAP_COLUMNS];
    uint8_t     *stack = NULL;
    uint64_t     counts[4];
    const char  *line;

    if (*p != '@') {
        return jpp_heap_error(heap, p, JPP_ERR_INPUT,
                              jpp_scan_text(p + (*p == '\n'), heap->end,
                                            JPP_MAPS_SECTION)
                              ? "a second MAPPED_LIBRARIES section: two dumps "
                                "in one file"
                              : "neither a stack nor the maps section");
    }

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

    p = jpp_heap_threads(heap, p + 1, line);
    if (p == NULL) {
        return NULL;
    }

    jpp_heap_scale(heap, counts, &values[JPP_HEAP_INUSE_OBJECTS]);
    jpp_heap_scale(heap, counts + 2, &values[JPP_HEAP_ALLOC_OBJECTS]);

    values[JPP_HEAP_ALLOC_SAMPLES] = jpp_heap_samples(counts[2]);
    values[JPP_HEAP_INUSE_SAMPLES] = jpp_heap_samples(counts[0]);

    heap->profile->n_inuse += counts[0];
    heap->profile->n_alloc += counts[2];

    if (heap->options->is_base) {
        for (i = 0; i < JPP_HEAP_TYPES; i++) {
            values[i] = -values[i];
        }
    }

    if (!jpp_profile_commit(heap->profile, values)) {
        (void) jpp_err_memory(heap->err);
        return NULL;
    }

    return p;
}


static const char *
jpp_heap_frames(jpp_heap_t *heap, const char *p, uint8_t **stack)
{
    uint8_t     *pos;
    uint32_t     depth;

    pos = jpp_profile_begin(heap->profile, heap->options->labels,
                            JPP_MAX_FRAMES);
    if (pos == NULL) {
        (void) jpp_err_memory(heap->err);
        return NULL;
    }

    p++;
    depth = 0;

    /* mostly the allocator was passed as it was the last time */

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


/* The allocator's frames, from P on.  Returns where they end. */

static const char *
jpp_heap_lead(jpp_heap_t *heap, const char *p, uint32_t *depth, uint8_t **pos)
{
    uint32_t     varint;
    const char  *frame, *next;

    frame = p;
    next = p;

    for (heap->lead = p; *next == ' '; *depth += 1) {
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
 * The frames further out, from P on.  This is where the time goes: an address
 * that was met before costs the loads of its digits and one probe.
 */

static const char *
jpp_heap_callers(jpp_heap_t *heap, const char *p, uint32_t depth,
    uint8_t *pos, uint8_t **stack)
{
    uint32_t         varint;
    jpp_addresses_t  addresses;

    /* a copy, because no store through POS can change it */

    addresses = heap->addresses;

    for ( /* void */ ; *p == ' '; depth++) {

        if (depth == JPP_MAX_FRAMES) {
            return jpp_heap_error(heap, p, JPP_ERR_LIMIT,
                                  "a stack of more frames than "
                                  JPP_HEAP_STRING(JPP_MAX_FRAMES));
        }

        varint = jpp_heap_known(&addresses, p);

        if (__builtin_expect(varint != 0, 1)) {
            p += JPP_HEAP_FRAME;

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


/*
 * The varint of the frame at P, which begins with a blank, where it is known
 * and has no flags; else 0.
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


/* The frame at P, however it is written and whether it is known or new. */

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


/* Has the frame at P twelve digits, if digits they are? */

static inline bool
jpp_heap_is_frame(const char *p)
{
    return (p[JPP_HEAP_FRAME] == ' ' || p[JPP_HEAP_FRAME] == '\n')
           && memcmp(p + 1, "0x", 2) == 0;
}


static inline void
jpp_heap_scale(jpp_heap_t *heap, const uint64_t counts[2], int64_t values[2])
{
    uint64_t            hash;
    jpp_heap_scaled_t  *scaled;

    hash = (counts[0] ^ counts[1] << 16) * 0x9e3779b97f4a7c15ULL;
    scaled = &heap->scaled[hash >> (64 - JPP_HEAP_SCALED_BITS)];

    /* the table starts with zeros, and so does the scale */

    if (scaled->objects != counts[0] || scaled->bytes != counts[1]) {
        jpp_scale(heap->options->is_raw ? 1 : heap->period, counts[0],
                  counts[1], scaled->values);

        scaled->objects = counts[0];
        scaled->bytes = counts[1];
    }

    values[0] = scaled->values[0];
    values[1] = scaled->values[1];
}


static inline int64_t
jpp_heap_samples(uint64_t count)
{
    return count < INT64_MAX ? (int64_t) count : INT64_MAX;
}


static const char *
jpp_heap_totals(const char *p, const char *end, uint64_t counts[4])
{
    p = jpp_scan_text(p, end, JPP_HEAP_TOTALS);

    return p != NULL ? jpp_heap_counts(p, counts) : NULL;
}


/* The lines of threads at P, behind the line of TOTALS. */

static const char *
jpp_heap_threads(jpp_heap_t *heap, const char *p, const char *totals)
{
    size_t       len;
    uint64_t     counts[4];
    const char  *line;

    totals += sizeof(JPP_HEAP_TOTALS) - 1;
    len = (size_t) (p - totals);

    for (line = p; *line == ' '; line = p) {

        p = jpp_heap_thread(line, heap->end);

        /* mostly one thread has it all */

        if (p != NULL && (size_t) (heap->end - p) >= len
            && memcmp(p, totals, len) == 0)
        {
            p += len;
            continue;
        }

        p = p != NULL ? jpp_heap_counts(p, counts) : NULL;

        if (p == NULL || *p++ != '\n') {
            return jpp_heap_error(heap, line, JPP_ERR_INPUT,
                                  "not the totals of a thread");
        }
    }

    return line;
}


/* Where the counts of the thread at P begin. */

static const char *
jpp_heap_thread(const char *p, const char *end)
{
    uint64_t  uid;

    p = jpp_scan_text(p, end, "  t");

    if (p == NULL) {
        return NULL;
    }

    p = jpp_scan_dec(p, &uid);

    return p != NULL && *p++ == ':' && *p++ == ' ' ? p : NULL;
}


static const char *
jpp_heap_counts(const char *p, uint64_t counts[4])
{
    p = jpp_scan_dec(p, &counts[0]);

    if (p == NULL || *p++ != ':' || *p++ != ' ') {
        return NULL;
    }

    p = jpp_scan_dec(p, &counts[1]);

    if (p == NULL || *p++ != ' ' || *p++ != '[') {
        return NULL;
    }

    p = jpp_scan_dec(p, &counts[2]);

    if (p == NULL || *p++ != ':' || *p++ != ' ') {
        return NULL;
    }

    p = jpp_scan_dec(p, &counts[3]);

    return p != NULL && *p++ == ']' ? p : NULL;
}


static const char *
jpp_heap_error(jpp_heap_t *heap, const char *p, jpp_code_t code,
    const char *sentence)
{
    (void) jpp_err_line(heap->err, code, jpp_heap_line(heap, p), "%s",
                        sentence);

    return NULL;
}


/* Counted only when somebody is to read it. */

static uint64_t
jpp_heap_line(const jpp_heap_t *heap, const char *p)
{
    uint64_t     n;
    const char  *from;

    n = 1;

    for (from = heap->data; from < p; from++, n++) {

        from = memchr(from, '\n', (size_t) (p - from));

        if (from == NULL) {
            break;
        }
    }

    return n;
}

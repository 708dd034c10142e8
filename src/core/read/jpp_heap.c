
#include "jpp_heap.h"
#include "jpp_ages.h"

#include <math.h>


/*
 * jemalloc's heap dumps (heap_v2, 5.2.1 to 5.3.1) into a profile.
 *
 * Counts are scaled to what they stand for, per stack and per pair (see
 * jpp_heap.h), unless the parser of the profile does that.  The allocator's
 * own frames, at the leaf of every stack, are left out; a stack of nothing
 * else keeps its outermost frame.  Every stack must have its totals.
 *
 * Memory from the profile's arena.
 *
 * The grammar (jemalloc's prof_data.c and prof_sys.c):
 *
 *     dump   := "heap_v2/" period NL total thread* stack*
 *               [ NL "MAPPED_LIBRARIES:" NL maps ]
 *     total  := "  t*: " counts NL
 *     thread := "  t" uid ": " counts [ " " name ] NL
 *     counts := objects ": " bytes " [" objects ": " bytes "]"
 *     stack  := "@" ( " 0x" hex )* NL total tctx*
 *     tctx   := "  t" uid ": " counts NL
 *
 * The first pair counts what is live; the second what was ever allocated, all
 * zeros without prof_accum.  The header's totals are not the sum of the
 * stacks: their form alone is checked.
 *
 * Stacks are leaf first and hold return addresses, the leaf's too.  The lines
 * of single threads repeat what the totals say: their form alone is checked.
 */


/* numbers for jpp_scan_numbers() */
#define JPP_HEAP_COUNTS      "d: d [d: d]"
#define JPP_HEAP_TOTALS      "  t*: " JPP_HEAP_COUNTS
#define JPP_HEAP_THREAD      "  td: " JPP_HEAP_COUNTS
#define JPP_HEAP_NUMBERS     5


/* about the text of a stack, and the bytes of its location ids */
#define JPP_HEAP_STACK       512
#define JPP_HEAP_IDS         64

/* bytes of " 0x" */
#define JPP_HEAP_0X          3
#define JPP_HEAP_FRAME       (JPP_HEAP_0X + JPP_ADDRESS_DIGITS)

/* bytes of " 0x2001" */
#define JPP_HEAP_OWNER_LEN   7

/* bytes of a file to examine, to say what it is */
#define JPP_HEAP_LINE        256

#define JPP_HEAP_MAPS        "MAPPED_LIBRARIES:\n"


typedef struct {
    jpp_reading_t              reading;

    const char                *lead;      /* the allocator's frames of a */
    size_t                     lead_len;  /*   stack before, as text */
    uint32_t                   lead_depth;

    const jpp_dump_t          *named;     /* the one whose owners it has */
    uint32_t                   owner;     /* of the stack */
    bool                       has_ages;  /* and is asked for them */
    uint64_t                   age;       /* of the stack: jpp_ages_read() */

    jpp_scales_t               scales;
} jpp_heap_t;


/* Samples that have an owner: the facts of a heap profile. */
typedef struct {
    uint64_t   live;
    uint64_t   allocated;          /* ever */
    bool       is_asked;           /* for owners */
    bool       is_ageless;         /* a dump, of which ages are asked for */
} jpp_heap_facts_t;


/*
 * Is the last frame of a line at P an owner's?  Then *OWNER is its number.
 * Sixteen bytes are there to be read.
 */

static inline bool
jpp_heap_owner_is(const char *p, uint32_t *owner)
{
    uint64_t  address;

    if (memcmp(p, " 0x2", 4) != 0 || p[JPP_HEAP_OWNER_LEN] != '\n'
        || jpp_scan_hex(p + 3, &address) != p + JPP_HEAP_OWNER_LEN
        || address < JPP_OWNER_FRAME)
    {
        return false;
    }

    *owner = (uint32_t) address - JPP_OWNER_FRAME;

    return true;
}


/*
 * The last frame says it in a dump by jemalloc; in one of the sampler, the line
 * behind that of the totals, which is the next.
 */

static uint32_t
jpp_heap_owner(const jpp_dump_t *named, const char *p, const char *end)
{
    bool         is_owned;
    uint32_t     owner = 0;
    uint64_t     uid = 0;
    const char  *line;

    line = named->opened != NULL ? memchr(p, '\n', (size_t) (end - p)) : NULL;

    if (line == NULL) {
        return JPP_OWNER_NONE;
    }

    if (named->has_frames) {
        is_owned = line - p > JPP_HEAP_OWNER_LEN
                   && jpp_heap_owner_is(line - JPP_HEAP_OWNER_LEN, &owner);
        uid = owner;

    } else {
        line = memchr(line + 1, '\n', (size_t) (end - line - 1));
        is_owned = line != NULL
                   && jpp_scan_numbers(line + 1, "  td", &uid) != NULL;
    }

    return is_owned && uid < jpp_owner_labels_count(named->opened)
           ? (uint32_t) uid : (uint32_t) JPP_OWNER_NONE;
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
    slot = jpp_addresses_slot(&heap->reading.addresses, &key);

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
        return jpp_reading_error(&heap->reading, p, JPP_READING_NO_ADDRESS);
    }

    if (next - digits != JPP_ADDRESS_DIGITS) {
        key = jpp_address_value(address);
        slot = jpp_addresses_slot(&heap->reading.addresses, &key);
    }

    return jpp_addresses_add(&heap->reading.addresses, slot, &key, address,
                             is_wanted, varint)
           ? next : jpp_reading_memory(&heap->reading);
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

    addresses = heap->reading.addresses;

    for ( /* void */ ; *p == ' '; depth++) {

        /* so many may be the allocator's already */

        if (depth >= JPP_MAX_FRAMES) {
            (void) jpp_err_line(heap->reading.err, JPP_ERR_LIMIT,
                                jpp_dump_line(heap->reading.dump, p),
                                "a stack has more frames than %d",
                                JPP_MAX_FRAMES);
            return NULL;
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

            addresses = heap->reading.addresses;
        }

        pos = jpp_address_push(pos, varint);
    }

    if (*p != '\n') {
        return jpp_reading_error(&heap->reading, p, JPP_READING_NO_ADDRESS);
    }

    *stack = pos;

    return p + 1;
}


static const char *
jpp_heap_frames(jpp_heap_t *heap, const char *p, uint8_t **stack)
{
    uint8_t                   *pos;
    uint32_t                   depth, labels;
    const jpp_read_options_t  *options;

    options = heap->reading.options;

    labels = jpp_owner_labels(options->has_owners ? heap->named->opened : NULL,
                              heap->reading.profile, heap->owner,
                              options->labels);

    pos = labels != JPP_OWNER_NO_LABELS
          && jpp_ages_label(heap->reading.profile, labels, heap->age, &labels)
          ? jpp_profile_begin(heap->reading.profile, labels, JPP_MAX_FRAMES)
          : NULL;

    if (pos == NULL) {
        return jpp_reading_memory(&heap->reading);
    }

    p++;
    depth = 0;

    /* most stacks pass through the allocator as the one before */

    if ((size_t) (heap->reading.dump->end - p) > heap->lead_len
        && p[heap->lead_len] == ' '
        && memcmp(p, heap->lead, heap->lead_len) == 0
        && jpp_heap_known(&heap->reading.addresses, p + heap->lead_len) != 0)
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
jpp_heap_i64(uint64_t count)
{
    return (int64_t) jpp_smaller(count, INT64_MAX);
}


/* Add the stack with the estimates from its COUNTS. */

static bool
jpp_heap_commit(jpp_heap_t *heap, const uint64_t counts[4])
{
    int                        i;
    int64_t                    values[JPP_HEAP_COLUMNS];
    jpp_profile_t             *profile;
    jpp_heap_facts_t          *facts;
    const jpp_read_options_t  *options;

    options = heap->reading.options;
    profile = heap->reading.profile;
    facts = profile->facts;

    values[JPP_HEAP_INUSE_DOUBT] =
                          jpp_scale_known(&heap->scales, counts,
                                          &values[JPP_HEAP_INUSE_OBJECTS]);
    values[JPP_HEAP_ALLOC_DOUBT] =
                          jpp_scale_known(&heap->scales, counts + 2,
                                          &values[JPP_HEAP_ALLOC_OBJECTS]);

    values[JPP_HEAP_ALLOC_SAMPLES] = jpp_heap_i64(counts[2]);
    values[JPP_HEAP_INUSE_SAMPLES] = jpp_heap_i64(counts[0]);

    if (options->is_base) {
        for (i = 0; i < JPP_HEAP_COLUMNS; i++) {
            values[i] = -values[i];
        }
    }

    if (options->columns == NULL) {
        profile->n_seen[0] += counts[2];
        profile->n_seen[1] += counts[0];
        facts->is_asked |= options->says_owners;

        if (heap->owner != JPP_OWNER_NONE) {
            facts->live += counts[0];
            facts->allocated += counts[2];
        }
    }

    return options->is_raw
           ? jpp_profile_append(profile, values)
           : jpp_profile_commit(profile, options->columns, values);
}


/* A line's counts up to its end: without a format, as there are very many. */

static const char *
jpp_heap_counts(const char *p, uint64_t counts[4])
{
    int  i;

    static const char  marks[4][2] = {
        { ':', ' ' }, { ' ', '[' }, { ':', ' ' }, { ']', '\n' }
    };

    for (i = 0; i < 4; i++) {
        p = jpp_scan_dec(p, &counts[i]);

        if (p == NULL || p[0] != marks[i][0] || p[1] != marks[i][1]) {
            return NULL;
        }

        p += 2;
    }

    return p;
}


static const char *
jpp_heap_stack(jpp_heap_t *heap, const char *p)
{
    uint8_t     *stack = NULL;
    size_t       len;
    uint64_t     counts[4], ignored[4];
    const char  *line, *end, *repeated;

    end = heap->reading.dump->end;

    if (*p != '@') {
        return jpp_reading_error(&heap->reading, p,
                                 jpp_scan_text(p + (*p == '\n'), end,
                                               JPP_HEAP_MAPS)
                                 ? "a second MAPPED_LIBRARIES section: two "
                                   "dumps in one file"
                                 : "neither a stack nor the maps section");
    }

    heap->owner = jpp_heap_owner(heap->named, p, end);
    heap->age = heap->has_ages ? jpp_ages_read(p, end) : 0;

    line = jpp_heap_frames(heap, p, &stack);
    if (line == NULL) {
        return NULL;
    }

    jpp_profile_end(heap->reading.profile, stack);

    repeated = jpp_scan_text(line, end, "  t*: ");
    p = repeated != NULL ? jpp_heap_counts(repeated, counts) : NULL;

    if (p == NULL) {
        return jpp_reading_error(&heap->reading, line,
                                 "a stack is not followed by its totals");
    }

    len = (size_t) (p - repeated);

    for (line = p; *line == ' '; line = p) {
        p = jpp_scan_numbers(line, "  td: ", ignored);

        /* usually one thread has all of it */

        if (p != NULL && (size_t) (end - p) >= len
            && memcmp(p, repeated, len) == 0)
        {
            p += len;
            continue;
        }

        p = p != NULL ? jpp_heap_counts(p, ignored) : NULL;

        if (p == NULL) {
            return jpp_reading_error(&heap->reading, line,
                                     "not the totals of a thread");
        }
    }

    return jpp_heap_commit(heap, counts) ? line
                                         : jpp_reading_memory(&heap->reading);
}


static jpp_code_t
jpp_heap_read(jpp_profile_t *profile, const jpp_dump_t *dump,
    const jpp_read_options_t *options, jpp_err_t *err)
{
    size_t       stacks;
    jpp_heap_t   heap;
    const char  *p;

    memset(&heap, 0, sizeof(jpp_heap_t));

    heap.scales.period = options->is_raw ? 1 : dump->period;
    heap.lead = dump->data;
    heap.has_ages = options->has_ages && dump->has_ages;
    heap.named = options->baseline_of != NULL ? options->baseline_of : dump;

    stacks = (size_t) (dump->end - dump->data) / JPP_HEAP_STACK;

    if (!jpp_reading_init(&heap.reading, profile, dump, options, err)
        || !jpp_profile_expect(profile, stacks, stacks * JPP_HEAP_IDS))
    {
        return jpp_err_memory(err);
    }

    for (p = dump->samples; p != NULL && p < dump->end; /* void */ ) {

        /* the blank line in front of the maps */

        if (*p == '\n' && p + 1 == dump->end) {
            break;
        }

        p = jpp_heap_stack(&heap, p);
    }

    if (p == NULL) {
        return heap.reading.err->code;
    }

    if (profile->period == 0) {
        profile->period = (int64_t) dump->period;

    } else if (profile->period != (int64_t) dump->period) {
        profile->has_periods = true;
    }

    profile->is_difference |= options->is_base;
    ((jpp_heap_facts_t *) profile->facts)->is_ageless |= options->has_ages
                                                         && !dump->has_ages;

    jpp_addresses_destroy(&heap.reading.addresses);

    return JPP_OK;
}


/*
 * What a file is if it is not a heap_v2 dump: a sentence for its owner.
 */


typedef struct {
    const char  *start;
    const char  *inside;       /* of the first line too, where not NULL */
    const char  *sentence;
} jpp_unreadable_t;


/* the first row that fits counts */

static const jpp_unreadable_t  jpp_unreadables[] = {

    { "heap_v1/", NULL,
      "a heap_v1 dump of jemalloc 3, whose counts cannot be scaled correctly" },

    { "heap profile: ", "@ heap/",
      "a heap profile of Go or of gperftools, not jemalloc's heap_v2: go tool "
      "pprof reads it as it is" },

    { "heap profile: ", "@ heap_v2/",
      "a heap profile in the legacy text form, not jemalloc's own dump: go "
      "tool pprof and jeprof read it as it is" },

    { "heap profile: ", NULL,
      "a heap profile of gperftools, not jemalloc's heap_v2: go tool pprof "
      "reads it as it is" },

    { "--- symbol", NULL,
      "a profile with symbols made by jeprof, not jemalloc's own dump" },

    { "\177ELF", NULL,
      "an ELF file, not a heap dump" }
};


/* A sentence about the LEN bytes at DATA; static memory, never NULL. */

static const char *
jpp_unreadable_sentence(const char *data, size_t len)
{
    char                     line[JPP_HEAP_LINE];
    const jpp_unreadable_t  *row;

    if (len == 0) {
        return "the dump is empty";
    }

    len = jpp_smaller(len, JPP_HEAP_LINE - 1);

    memcpy(line, data, len);
    line[len] = '\0';

    if (strncmp("heap_v2/", line, len) == 0) {
        return "the dump was cut in its first line";
    }

    jpp_each(row, jpp_unreadables,
             sizeof(jpp_unreadables) / sizeof(jpp_unreadables[0]))
    {
        if (strncmp(line, row->start, strlen(row->start)) != 0) {
            continue;
        }

        line[strcspn(line, "\n")] = '\0';

        if (row->inside == NULL || strstr(line, row->inside) != NULL) {
            return row->sentence;
        }
    }

    return "not a heap dump of jemalloc: it does not start with heap_v2/";
}


/* The sampling period; if there is none, what kind of file this is. */

static jpp_code_t
jpp_heap_first_line(jpp_dump_t *dump, jpp_err_t *err)
{
    const char  *p, *end;

    end = dump->data + dump->len;

    p = jpp_scan_text(dump->data, end, "heap_v2/");
    if (p == NULL) {
        return jpp_err_line(err, dump->len < 8 ? JPP_ERR_CUT : JPP_ERR_INPUT,
                            1, "%s",
                            jpp_unreadable_sentence(dump->data, dump->len));
    }

    if (end[-1] != '\n') {
        return jpp_err_line(err, JPP_ERR_CUT, jpp_dump_line(dump, end),
                            "the dump was cut: its last line has no newline");
    }

    p = jpp_scan_dec(p, &dump->period);

    if (p != NULL && *p == '\r') {
        return jpp_err_line(err, JPP_ERR_INPUT, 1,
                            "the lines end in CR LF: the dump was copied in "
                            "text mode, copy it in binary mode");
    }

    /* 1 << lg_prof_sample, in every jemalloc */

    if (p == NULL || *p != '\n' || dump->period == 0
        || dump->period > INT64_MAX
        || (dump->period & (dump->period - 1)) != 0)
    {
        return jpp_err_line(err, JPP_ERR_INPUT, 1,
                            "heap_v2/ is not followed by a sampling period, "
                            "which is a power of two");
    }

    return JPP_OK;
}


static const char *
jpp_heap_maps(const char *data, size_t len)
{
    const char  *p, *maps;

    /* search from the end: it is there */

    for (p = data + len; p > data; /* void */ ) {

        p = memrchr(data, '\n', (size_t) (p - data));

        if (p == NULL) {
            return NULL;
        }

        maps = jpp_scan_text(p + 1, data + len, JPP_HEAP_MAPS);

        if (maps != NULL) {
            return maps;
        }
    }

    return NULL;
}


/*
 * Without a libjemalloc among the mappings the allocator is in the main
 * program, which has the lowest addresses.
 */

static uint32_t
jpp_heap_program(const jpp_profile_t *profile, const jpp_vec_t *maps)
{
    uint32_t          program;
    const jpp_map_t  *map;

    program = 0;

    jpp_vec_each(map, maps) {

        if (map->is_allocator) {
            return 0;
        }

        if (program == 0
            && jpp_profile_mapping_at(profile, map->mapping)->path[0] == '/')
        {
            program = map->mapping;
        }
    }

    return program;
}


static jpp_code_t
jpp_heap_header(jpp_dump_t *dump, jpp_arena_t *arena, const char *names,
    jpp_err_t *err)
{
    uint64_t             numbers[JPP_HEAP_NUMBERS];
    const char          *p, *line, *end;
    jpp_owner_labels_t  *owners;

    owners = NULL;
    line = memchr(dump->data, '\n', (size_t) (dump->end - dump->data));
    p = jpp_scan_numbers(++line, JPP_HEAP_TOTALS "\n", numbers);

    if (p == NULL) {
        return jpp_err_line(err, JPP_ERR_INPUT, jpp_dump_line(dump, line),
                            "the header has no totals");
    }

    for (line = p; *line == ' '; line = end + 1) {

        p = jpp_scan_numbers(line, JPP_HEAP_THREAD, numbers);

        if (p == NULL || (*p != '\n' && *p != ' ')) {
            return jpp_err_line(err, JPP_ERR_INPUT, jpp_dump_line(dump, line),
                                "not the totals of a thread");
        }

        /* a thread's name may hold anything but a newline */

        end = memchr(p, '\n', (size_t) (dump->end - p));

        dump->has_ages |= numbers[0] == JPP_AGES
                          && jpp_scan_text(p, end, " " JPP_AGES_NAME) == end;

        p = jpp_scan_text(p, end, " owner\t");

        if (p != NULL && numbers[0] == jpp_owner_labels_count(owners)
            && !jpp_owner_labels_add(&owners, arena, p, end))
        {
            return jpp_err_memory(err);
        }
    }

    dump->samples = line;

    /* the names of a dump by jemalloc, whose owners are frames */

    end = dump->data + dump->len;

    for (p = owners == NULL ? jpp_scan_text(names, end, JPP_HEAP_OWNERS) : NULL;
         p != NULL && p < end;
         p = line + 1)
    {
        line = memchr(p, '\n', (size_t) (end - p));

        if (!jpp_owner_labels_add(&owners, arena, p, line)) {
            return jpp_err_memory(err);
        }

        dump->has_frames = true;
    }

    dump->opened = owners;

    return JPP_OK;
}


static jpp_code_t
jpp_heap_open(jpp_dump_t *dump, jpp_profile_t *profile, const char *data,
    size_t len, const char *tail, jpp_err_t *err)
{
    jpp_code_t   rc;
    const char  *maps, *owners;

    jpp_dump_init(dump, data, len);

    rc = jpp_heap_first_line(dump, err);
    if (rc != JPP_OK) {
        return rc;
    }

    maps = jpp_heap_maps(data, len);
    if (maps == NULL) {
        return jpp_err_line(err, JPP_ERR_CUT,
                            jpp_dump_line(dump, data + len - 1),
                            "the dump was cut: it has no MAPPED_LIBRARIES "
                            "section at its end");
    }

    dump->end = maps - (sizeof(JPP_HEAP_MAPS) - 1);

    /* a line ends in front of the mappings */

    owners = memmem(maps - 1, (size_t) (data + len - maps) + 1,
                    "\n" JPP_HEAP_OWNERS, sizeof(JPP_HEAP_OWNERS));
    owners = owners != NULL ? owners + 1 : data + len;

    rc = jpp_dump_maps(dump, profile, maps, owners, tail, err);

    if (rc != JPP_OK) {
        return rc;
    }

    dump->program = jpp_heap_program(profile, dump->maps);

    return jpp_heap_header(dump, profile->arena, owners, err);
}


bool
jpp_heap_is_whole(const char *data, size_t len)
{
    return len != 0 && data[len - 1] == '\n'
           && jpp_scan_text(data, data + len, "heap_v2/") != NULL
           && jpp_heap_maps(data, len) != NULL;
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

    values[0] = jpp_heap_i64(objects);
    values[1] = jpp_heap_i64(bytes);

    return 0;
}


static const jpp_value_type_t  jpp_heap_types[JPP_HEAP_TYPES] = {
    { "alloc_objects", "count", true,  0, JPP_HEAP_ALLOC_OBJECTS },
    { "alloc_space",   "bytes", true,  0, JPP_HEAP_ALLOC_OBJECTS },
    { "inuse_objects", "count", false, 1, JPP_HEAP_INUSE_OBJECTS },
    { "inuse_space",   "bytes", false, 1, JPP_HEAP_INUSE_OBJECTS }
};


static void
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

    if (facts->is_ageless) {
        jpp_profile_comment(profile, "samples without an age: only the "
                            "module's sampler knows ages, and its dumps have "
                            "them if taken with ages=1 (format=jemalloc)");
    }

    if (!facts->is_asked) {
        return;
    }

    if (facts->allocated == 0 && facts->live == 0) {
        jpp_profile_comment(profile, "no sample has an owner; workers' "
                            "samples have one unless owners are off (POST "
                            "owners=on to control), inherited samples never");

    } else if (profile->n_seen[0] == 0) {
        /* without prof_accum, nobody knows of those that were freed */
        jpp_profile_comment(profile, "samples with an owner: %" PRIu64
                            " of %" PRIu64 " live samples", facts->live,
                            profile->n_seen[1]);

    } else {
        jpp_profile_comment(profile, "samples with an owner: %" PRIu64
                            " of %" PRIu64 " live samples, %" PRIu64 " of %"
                            PRIu64 " in all", facts->live, profile->n_seen[1],
                            facts->allocated, profile->n_seen[0]);
    }
}


const jpp_parser_t  jpp_parser_heap = {
    .name = "heap",
    .values = jpp_heap_types,
    .types = JPP_PARSER_WORDS(jpp_heap_types, JPP_HEAP_TYPES,
                              JPP_HEAP_INUSE_SPACE),
    .absent = "jemalloc counts freed memory only with prof_accum:true; the "
              "module's sampler always counts it: POST sampler=on to control",
    .period_type = "space",
    .period_unit = "bytes",
    .facts_size = sizeof(jpp_heap_facts_t),
    .has_origins = true,
    .open = jpp_heap_open,
    .read = jpp_heap_read,
    .describe = jpp_heap_describe
};

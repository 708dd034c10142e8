
/*
 * Converts a table of pools to a profile: a stack for each row, and two for
 * memory outside pools.
 *
 *     http;server NAME;location NAME;request;large;request body
 *
 * Frames are names (jpp_profile_frame()) in one mapping; what cannot be seen of
 * a name is escaped.
 *
 * Memory from the profile's arena.
 */


#include "jpp_parsers.h"


#define JPP_POOLS_FRAMES  4

#define JPP_POOLS_DEPTH   (JPP_POOLS_FRAMES + 2)

/* the longest text before a name */
#define JPP_POOLS_PREFIX  32

#define JPP_POOLS_START   4096


/* A frame of an owner: a text, and which name of the owner follows. */
typedef struct {
    const char          *text;
    size_t               name;         /* an offset; 0: none */
} jpp_pools_part_t;


/* a frame that was made, by its text and the id of its name */
typedef struct {
    const char          *text;
    uint32_t             name;
    uint32_t             location;
} jpp_pools_made_t;

#define JPP_POOLS_MADE_KEY  offsetof(jpp_pools_made_t, location)


typedef struct {
    jpp_profile_t              *profile;
    const jpp_pools_t          *table;
    const jpp_read_options_t   *options;
    uint32_t                    mapping;
    jpp_vec_t                  *made;          /* jpp_pools_made_t */
    jpp_index_t                 index;
} jpp_pools_reading_t;


/* What the tables of a profile say of themselves, added up: its facts. */
typedef struct {
    uint32_t             n;            /* tables */
    uint32_t             n_totals;     /* with a total */
    uint32_t             n_partial;
    uint32_t             n_short;      /* whose total is below their sum */
    uint64_t             outside;      /* of the totals, in no pool */
    uint64_t             since_start;
    jpp_pools_facts_t    facts;        /* sums; allocator of the last */
} jpp_pools_sums_t;


static const jpp_value_type_t  jpp_pools_types[JPP_POOLS_TYPES] = {
    { "inuse_objects", "count", false, 0, JPP_POOLS_INUSE_OBJECTS },
    { "inuse_space",   "bytes", false, 0, JPP_POOLS_INUSE_OBJECTS },
    { "unused_space",  "bytes", false, 0, JPP_POOLS_INUSE_OBJECTS }
};


#define JPP_POOLS_NAMED(name)  offsetof(jpp_pools_owner_t, name)
#define JPP_POOLS_HTTP         { "http", 0 },                                 \
                               { "server ", JPP_POOLS_NAMED(server) }

/* root first */

static const jpp_pools_part_t
    jpp_pools_owners[JPP_POOLS_KINDS][JPP_POOLS_FRAMES] =
{
    [JPP_POOLS_CLIENT_CONNECTION] = {
        JPP_POOLS_HTTP, { "client connection", 0 } },

    [JPP_POOLS_CLOSING] = { JPP_POOLS_HTTP, { "closing connection", 0 } },

    [JPP_POOLS_HTTP2] = { JPP_POOLS_HTTP, { "http2 connection", 0 } },

    [JPP_POOLS_HTTP2_HEADERS] = {
        JPP_POOLS_HTTP, { "http2 stream headers", 0 } },

    [JPP_POOLS_HTTP3] = { JPP_POOLS_HTTP, { "http3 connection", 0 } },

    [JPP_POOLS_REQUEST] = {
        JPP_POOLS_HTTP,
        { "location ", JPP_POOLS_NAMED(location) }, { "request", 0 } },

    [JPP_POOLS_UPSTREAM] = {
        JPP_POOLS_HTTP,
        { "location ", JPP_POOLS_NAMED(location) },
        { "upstream ", JPP_POOLS_NAMED(third) } },

    [JPP_POOLS_KEEPALIVE] = {
        { "upstream ", JPP_POOLS_NAMED(third) }, { "keepalive", 0 } },

    [JPP_POOLS_STREAM] = {
        { "stream", 0 }, { "server ", JPP_POOLS_NAMED(third) },
        { "session", 0 } },

    [JPP_POOLS_MAIL] = {
        { "mail", 0 }, { "server ", JPP_POOLS_NAMED(third) },
        { "session", 0 } },

    [JPP_POOLS_MODULE_CONNECTION] = {
        { "connection of ", JPP_POOLS_NAMED(third) } },

    [JPP_POOLS_CONFIGURATION] = { { "configuration", 0 } },
    [JPP_POOLS_SLOTS_USED] = { { "connection slots", 0 }, { "in use", 0 } },
    [JPP_POOLS_SLOTS_FREE] = { { "connection slots", 0 }, { "free", 0 } },
    [JPP_POOLS_OPEN_FILES] = { { "open file cache", 0 } },
    [JPP_POOLS_RESOLVER] = { { "resolver", 0 } }
};


const char *const  jpp_pools_classes[JPP_POOLS_CLASSES] = {
    JPP_POOLS_CLASS_LIST(JPP_LIST_TEXT)
};


/* the first frame of what memory is held for; those before it say by whom */

static const char *const  jpp_pools_parts[] = { "pool blocks", "large", NULL };


/* The last frame that is no name. */

const char *
jpp_pools_kind_name(jpp_pools_kind_t kind)
{
    size_t                   i;
    const char              *name;
    const jpp_pools_part_t  *parts;

    parts = jpp_pools_owners[kind];
    name = parts[0].text;

    for (i = 0; i < JPP_POOLS_FRAMES && parts[i].text != NULL; i++) {
        name = parts[i].text;
    }

    return name;
}


static jpp_code_t
jpp_pools_open(jpp_dump_t *dump, jpp_profile_t *profile, const char *data,
    size_t len, const char *tail, jpp_err_t *err)
{
    (void) tail;

    jpp_dump_init(dump, data, len);
    dump->opened = jpp_arena_alloc(profile->arena, sizeof(jpp_pools_t));

    if (dump->opened == NULL) {
        return jpp_err_memory(err);
    }

    return jpp_pools_load(dump->opened, profile->arena, data, len, err);
}


/* The frame of TEXT and the name with the id NAME; 0: no memory. */

static uint32_t
jpp_pools_frame(jpp_pools_reading_t *reading, const char *text, uint32_t name)
{
    char               buffer[JPP_POOLS_PREFIX
                              + JPP_UTF8_ESCAPED(JPP_POOLS_NAME)];
    size_t             len;
    uint32_t           id;
    jpp_str_t          str;
    jpp_pools_made_t   made = { text, name, 0 };

    id = jpp_index_find(&reading->index, reading->made, &made,
                        sizeof(jpp_pools_made_t), JPP_POOLS_MADE_KEY);
    if (id != 0) {
        return jpp_vec_items(reading->made, jpp_pools_made_t)[id - 1].location;
    }

    str = jpp_pools_str(reading->table, name);
    len = strlen(text);

    memcpy(buffer, text, len);

    if (len != 0 && text[len - 1] == ' ' && str.len == 0) {
        str.data = "(none)";
        str.len = sizeof("(none)") - 1;
    }

    len += jpp_utf8_escape(buffer + len, str.data, str.len);

    /* a profile without a frame has no mapping, either */

    if (reading->mapping == 0) {
        reading->mapping = jpp_profile_frames(reading->profile,
                                              JPP_POOLS_START,
                                              JPP_POOLS_MAPPING);
    }

    if (reading->mapping != 0) {
        made.location = jpp_profile_frame(reading->profile, reading->mapping,
                                          buffer, len);
    }

    return jpp_index_intern(&reading->index, reading->made, &made,
                            sizeof(jpp_pools_made_t), JPP_POOLS_MADE_KEY) != 0
           ? made.location : 0;
}


/* *SET has the place of OWNER, too, if that is known; false: no memory. */

static bool
jpp_pools_labels(jpp_pools_reading_t *reading, const jpp_pools_owner_t *owner,
    uint32_t *set)
{
    char         text[JPP_POOLS_PLACE];
    jpp_label_t  label;

    *set = reading->options->labels;

    if (owner == NULL || owner->line == 0) {
        return true;
    }

    memset(&label, 0, sizeof(jpp_label_t));

    label.key = JPP_POOLS_PLACE_KEY;
    label.str = jpp_pools_place_text(reading->table, owner, text);

    if (text[0] == '\0') {
        label.str = "several blocks";
    }

    return jpp_profile_labels(reading->profile, *set, 0, &label, 1, set);
}


/* The N frames of IDS, leaf first, and what HELD has of them, for OWNER. */

static bool
jpp_pools_commit(jpp_pools_reading_t *reading, const uint32_t *ids,
    uint32_t n, const jpp_pools_row_t *held, const jpp_pools_owner_t *owner)
{
    int64_t         sign, values[JPP_MAX_COLUMNS] = { 0 };
    uint32_t        labels;
    jpp_profile_t  *profile;

    profile = reading->profile;

    if (held->bytes == 0) {
        return true;
    }

    if (!jpp_pools_labels(reading, owner, &labels)
        || !jpp_profile_stack(profile, labels, ids, n))
    {
        return false;
    }

    sign = reading->options->is_base ? -1 : 1;

    values[JPP_POOLS_INUSE_OBJECTS] = sign * (int64_t) held->objects;
    values[JPP_POOLS_INUSE_SPACE] = sign * (int64_t) held->bytes;
    values[JPP_POOLS_UNUSED_SPACE] = sign * (int64_t) held->unused;

    return jpp_profile_commit(profile, reading->options->columns, values);
}


/* Large allocations of connections and requests have classes. */

static bool
jpp_pools_read_row(jpp_pools_reading_t *reading, const jpp_pools_row_t *row)
{
    uint32_t                  i, n, name, ids[JPP_POOLS_DEPTH];
    const jpp_pools_part_t   *part;
    const jpp_pools_owner_t  *owner;

    owner = jpp_pools_owner_at(reading->table, row->owner);
    n = 0;

    if (row->class > JPP_POOLS_BLOCKS
        && owner->kind < JPP_POOLS_CONFIGURATION)
    {
        ids[n++] = jpp_pools_frame(reading, jpp_pools_classes[row->class],
                                   row->class == JPP_POOLS_MODULE
                                   ? row->module : 0);
    }

    if (row->class != JPP_POOLS_ITSELF) {
        ids[n++] = jpp_pools_frame(reading,
                       jpp_pools_parts[row->class != JPP_POOLS_BLOCKS], 0);
    }

    for (i = JPP_POOLS_FRAMES; i-- > 0; /* void */ ) {
        part = &jpp_pools_owners[owner->kind][i];

        if (part->text != NULL) {
            name = part->name == 0 ? 0 : *(const uint32_t *) (const void *)
                                       ((const char *) owner + part->name);

            ids[n++] = jpp_pools_frame(reading, part->text, name);
        }
    }

    return jpp_pools_commit(reading, ids, n, row, owner);
}


/*
 * Memory that is in no pool: what the event loop's thread holds, less all rows.
 * The process inherited at most what it had when it started.
 */

static bool
jpp_pools_read_outside(jpp_pools_reading_t *reading)
{
    bool               is_short;
    uint64_t           outside;
    uint32_t           ids[2];
    jpp_pools_row_t    held;
    const jpp_pools_facts_t  *facts;

    facts = &reading->table->facts;

    memset(&held, 0, sizeof(jpp_pools_row_t));

    ids[0] = jpp_pools_frame(reading, "inherited", 0);
    ids[1] = jpp_pools_frame(reading, "outside pools", 0);

    if (reading->options->baseline_of != NULL) {
        held.bytes = facts->outside_inherited;
        return jpp_pools_commit(reading, ids, 2, &held, NULL);
    }

    outside = jpp_pools_outside(reading->table, &is_short);

    held.bytes = jpp_smaller(outside, facts->outside_inherited);

    if (!jpp_pools_commit(reading, ids, 2, &held, NULL)) {
        return false;
    }

    ids[0] = jpp_pools_frame(reading, facts->is_partial
                                      ? "not seen, or since start"
                                      : "since start", 0);
    held.bytes = outside - held.bytes;

    return jpp_pools_commit(reading, ids, 2, &held, NULL);
}


/* Add what TABLE says of itself to SUMS. */

static void
jpp_pools_add_up(jpp_pools_sums_t *sums, const jpp_pools_t *table)
{
    bool                      is_short;
    uint64_t                  outside;
    jpp_pools_facts_t        *sum;
    const jpp_pools_facts_t  *facts;

    facts = &table->facts;
    sum = &sums->facts;

    sums->n++;
    sum->is_estimate |= facts->is_estimate;
    sum->has_scripts |= facts->has_scripts;
    sum->n_connections += facts->n_connections;
    sum->n_unproven += facts->n_unproven;
    sum->n_slices += facts->n_slices;
    sum->nanos += facts->nanos;
    sum->longest_nanos = jpp_larger(sum->longest_nanos, facts->longest_nanos);

    memcpy(sum->allocator, facts->allocator, JPP_POOLS_ALLOCATOR);

    if (facts->is_partial) {
        sums->n_partial++;
        sum->n_missed += facts->n_missed;
    }

    if (!facts->has_total) {
        return;
    }

    outside = jpp_pools_outside(table, &is_short);

    sums->n_totals++;
    sums->n_short += is_short;
    sum->total += facts->total;
    sums->outside += outside;

    /* what was not seen is there, too */

    if (!facts->is_partial && outside > facts->outside_inherited) {
        sum->n_tls += facts->n_tls;
        sums->since_start += outside - facts->outside_inherited;
    }
}


static jpp_code_t
jpp_pools_read(jpp_profile_t *profile, const jpp_dump_t *dump,
    const jpp_read_options_t *options, jpp_err_t *err)
{
    bool                    is_baseline;
    jpp_pools_reading_t     reading;
    const jpp_pools_row_t  *row;

    memset(&reading, 0, sizeof(jpp_pools_reading_t));

    reading.profile = profile;
    reading.table = dump->opened;
    reading.options = options;

    profile->is_difference |= options->is_base;
    is_baseline = options->baseline_of != NULL;

    reading.made = jpp_vec_create(profile->arena);
    jpp_index_init(&reading.index, profile->arena);

    if (reading.made == NULL) {
        return jpp_err_memory(err);
    }

    jpp_vec_each(row, reading.table->rows) {
        if (row->is_inherited == is_baseline
            && !jpp_pools_read_row(&reading, row))
        {
            return jpp_err_memory(err);
        }
    }

    if (reading.table->facts.has_total && !jpp_pools_read_outside(&reading)) {
        return jpp_err_memory(err);
    }

    if (options->columns == NULL && !options->is_base) {
        jpp_pools_add_up(profile->facts, reading.table);
    }

    return JPP_OK;
}


static void
jpp_pools_describe(jpp_profile_t *profile)
{
    const jpp_pools_sums_t   *sums;
    const jpp_pools_facts_t  *facts;

    sums = profile->facts;
    facts = &sums->facts;

    jpp_profile_comment(profile, "counted, not sampled");

    if (sums->n_totals < sums->n) {
        jpp_profile_comment(profile, "memory outside pools is unknown in "
                            "%" PRIu32 " of %" PRIu32 " workers: their "
                            "allocator does not count memory by thread",
                            sums->n - sums->n_totals, sums->n);
    }

    if (sums->n_short != 0) {
        jpp_profile_comment(profile, "in %" PRIu32 " of %" PRIu32 " workers "
                            "the pools exceed the total: another thread "
                            "allocated there, or the scan took time",
                            sums->n_short, sums->n);
    }

    if (facts->total != 0) {
        jpp_profile_comment(profile, "total %" PRIu64 " bytes in %" PRIu32
                            " worker%s; inherited memory counts in each; "
                            "%.1f %% are in pools, exactly, and %" PRIu64
                            " bytes outside pools%s, by difference",
                            facts->total, sums->n_totals,
                            sums->n_totals == 1 ? "" : "s",
                            100 * (double) (facts->total - sums->outside)
                            / (double) facts->total,
                            sums->outside,
                            sums->n_partial != 0 ? " or not seen" : "");
    }

    jpp_profile_comment(profile, "allocator %s%s", facts->allocator,
                        facts->is_estimate
                        ? ": sizes are what it lets nginx use, without its "
                          "own headers" : "");

    if (facts->n_tls != 0) {
        jpp_profile_comment(profile, "TLS (OpenSSL)%s: about %s a connection: "
                            "the average of %" PRIu64 " bytes outside pools "
                            "since start over %" PRIu64 " connections",
                            facts->has_scripts
                            ? ", with the memory of scripts" : "",
                            jpp_bytes(sums->since_start / facts->n_tls),
                            sums->since_start, facts->n_tls);
    }

    if (sums->n_partial != 0) {
        jpp_profile_comment(profile, "partial: %" PRIu32 " of %" PRIu32
                            " scans ended early, " JPP_POOLS_CUT_TEXT,
                            sums->n_partial, sums->n, facts->n_missed);
    }

    if (facts->n_unproven != 0) {
        jpp_profile_comment(profile, JPP_POOLS_UNPROVEN, facts->n_unproven);
    }

    jpp_profile_comment(profile, "%" PRIu64 " connections, seen in %" PRIu64
                        " slices of %.1f ms in all, the longest of %.1f ms",
                        facts->n_connections, facts->n_slices,
                        (double) facts->nanos / 1e6,
                        (double) facts->longest_nanos / 1e6);
}


const jpp_parser_t  jpp_parser_pools = {
    .name = "pools",
    .values = jpp_pools_types,
    .types = JPP_PARSER_WORDS(jpp_pools_types, JPP_POOLS_TYPES,
                              JPP_POOLS_INUSE_SPACE),
    .absent = "it contains only memory in use",
    .period_type = "space",
    .period_unit = "bytes",
    .period = 1,
    .facts_size = sizeof(jpp_pools_sums_t),
    .parts = jpp_pools_parts,
    .has_origins = true,
    .is_own_baseline = true,
    .open = jpp_pools_open,
    .read = jpp_pools_read,
    .describe = jpp_pools_describe
};

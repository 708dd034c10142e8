
/* Parses stacks with CPU or wall-clock time into a profile. */


#include "jpp_parsers.h"


/* of a reason */
#define JPP_TIMES_TEXT  160


/* What a capture says of itself; times are nanoseconds. */
typedef struct {
    uint64_t          frequency;      /* asked for */
    uint64_t          highest;        /* that it was sampled at */
    uint64_t          duration;
    uint64_t          dropped;        /* samples */
    uint64_t          dropped_nanos;
    uint64_t          idle;           /* of event loops */
    uint64_t          waits;          /* of other threads, for work */
    uint64_t          threads;
    uint64_t          deaf;           /* of these: no signal reaches them */
    uint64_t          beyond;         /* of these: there was no room */
    uint64_t          owned;          /* samples that have an owner */
    bool              is_asked;       /* for owners */
} jpp_times_facts_t;


/* The facts of all captures of a profile, which are its facts: sums, but for
   the highest three. */
typedef struct {
    jpp_times_facts_t  facts;
    uint64_t           lasted;        /* durations, added up */
    uint64_t           shortest;      /* that ended early */
    uint32_t           n;
    uint32_t           n_early;
    char               early[JPP_TIMES_TEXT];     /* why the last did */
} jpp_times_sums_t;


static const jpp_value_type_t  jpp_times_types[JPP_MODES][JPP_TIMES_TYPES] = {

    [JPP_MODE_CPU] = {
        { "samples", "count",       false, 0, JPP_TIMES_SAMPLES },
        { "cpu",     "nanoseconds", false, 0, JPP_TIMES_SAMPLES },
        { "wall",    "nanoseconds", true,  0, JPP_TIMES_SAMPLES }
    },

    [JPP_MODE_WALL] = {
        { "samples", "count",       false, 0, JPP_TIMES_SAMPLES },
        { "wall",    "nanoseconds", false, 0, JPP_TIMES_SAMPLES },
        { "cpu",     "nanoseconds", true,  0, JPP_TIMES_SAMPLES }
    }
};


/* A capture of times while it is read, and what comes before its stacks. */
typedef struct {
    jpp_reading_t               reading;
    jpp_vec_t                  *sets;          /* uint32_t, of the profile */
    jpp_owner_labels_t         *owners;        /* NULL: none */
    bool                        is_owned;      /* the stack */
    jpp_times_facts_t           facts;
    char                        early[JPP_TIMES_TEXT];
} jpp_times_t;


/* of the copy of a label that has to end with a NUL */
#define JPP_TIMES_LABEL  256


/* The numbers of the facts, and how those of several captures are one. */

static const struct {
    const char                 *key;           /* and its blank */
    size_t                      offset;
    bool                        is_highest;    /* else they are added up */
} jpp_times_keys[] = {
    { "frequency ",     offsetof(jpp_times_facts_t, frequency),     true },
    { "highest ",       offsetof(jpp_times_facts_t, highest),       true },
    { "duration ",      offsetof(jpp_times_facts_t, duration),      true },
    { "dropped ",       offsetof(jpp_times_facts_t, dropped),       false },
    { "dropped_nanos ", offsetof(jpp_times_facts_t, dropped_nanos), false },
    { "idle ",          offsetof(jpp_times_facts_t, idle),          false },
    { "waits ",         offsetof(jpp_times_facts_t, waits),         false },
    { "threads ",       offsetof(jpp_times_facts_t, threads),       false },
    { "deaf ",          offsetof(jpp_times_facts_t, deaf),          false },
    { "beyond ",        offsetof(jpp_times_facts_t, beyond),        false }
};

#define JPP_TIMES_KEYS  (sizeof(jpp_times_keys) / sizeof(jpp_times_keys[0]))


static uint64_t *
jpp_times_number(jpp_times_facts_t *facts, size_t i)
{
    return (uint64_t *) (void *) ((char *) facts + jpp_times_keys[i].offset);
}


/* The line at P, in TEXT: "key=value".  Returns where it ends, or NULL. */

static const char *
jpp_times_label(const char *p, const char *end, char text[JPP_TIMES_LABEL],
    jpp_label_t *label)
{
    char    *value;
    size_t   len;

    end = memchr(p, '\n', (size_t) (end - p));
    len = end != NULL ? (size_t) (end - p) : 0;
    value = len < JPP_TIMES_LABEL ? memchr(p, '=', len) : NULL;

    if (value == NULL || value == p) {
        return NULL;
    }

    memcpy(text, p, len);
    text[len] = '\0';

    value = text + (value - p);
    *value = '\0';

    memset(label, 0, sizeof(jpp_label_t));

    label->key = text;
    label->str = value + 1;

    return end + 1;
}


/* A set of N labels, besides those that all samples of the capture have. */

static const char *
jpp_times_labels(jpp_times_t *times, const char *p)
{
    char            texts[JPP_MAX_LABELS][JPP_TIMES_LABEL];
    uint32_t       *set;
    uint64_t        i, n;
    const char     *q;
    jpp_label_t     labels[JPP_MAX_LABELS];
    jpp_reading_t  *reading;

    reading = &times->reading;
    q = jpp_scan_numbers(p, "d\n", &n);

    if (q == NULL || n > JPP_MAX_LABELS) {
        return jpp_reading_error(reading, p, "not a number of labels");
    }

    if (jpp_vec_count(times->sets, uint32_t) >= JPP_MAX_LABEL_SETS) {
        return jpp_reading_error(reading, p, "too many sets of labels");
    }

    for (i = 0, p = q; i < n; i++, p = q) {

        q = jpp_times_label(p, reading->dump->end, texts[i], &labels[i]);

        if (q == NULL) {
            return jpp_reading_error(reading, p, "not a label");
        }
    }

    set = jpp_vec_push(times->sets, sizeof(uint32_t));

    return set != NULL
           && jpp_profile_labels(reading->profile, reading->options->labels,
                                 0, labels, n, set)
           ? p : jpp_reading_memory(reading);
}


static const char *
jpp_times_fact(jpp_times_t *times, const char *p)
{
    size_t       i, len;
    uint64_t     value = 0;
    const char  *q, *end;

    end = memchr(p, '\n', (size_t) (times->reading.dump->end - p));
    q = jpp_scan_text(p, end, "early ");

    if (q != NULL) {
        len = jpp_smaller((size_t) (end - q), JPP_TIMES_TEXT - 1);

        memcpy(times->early, q, len);
        times->early[len] = '\0';

        return end + 1;
    }

    for (i = 0; i < JPP_TIMES_KEYS; i++) {

        q = jpp_scan_text(p, end, jpp_times_keys[i].key);

        if (q != NULL && jpp_scan_dec(q, &value) == end && value <= INT64_MAX) {
            *jpp_times_number(&times->facts, i) = value;

            return end + 1;
        }
    }

    return jpp_reading_error(&times->reading, p,
                             "not a fact about the capture");
}


/* Read kind, facts, labels and owners, from P on.  Returns where the stacks
   begin, or NULL. */

static const char *
jpp_times_head(jpp_times_t *times, const char *p)
{
    const char     *q, *end;
    jpp_reading_t  *reading;

    reading = &times->reading;
    end = reading->dump->end;
    q = jpp_scan_text(p, end, reading->profile->types[JPP_TIMES_NANOS].type);

    if (q == NULL || *q != '\n') {
        return jpp_reading_error(reading, p, "a capture of another kind of "
                                 "time");
    }

    for (p = q + 1; p != NULL && p < end && *p != '@'; /* void */ ) {

        q = jpp_scan_text(p, end, "labels ");

        if (q != NULL) {
            p = jpp_times_labels(times, q);
            continue;
        }

        q = jpp_scan_text(p, end, "owner ");

        if (q == NULL) {
            p = jpp_times_fact(times, p);
            continue;
        }

        p = memchr(q, '\n', (size_t) (end - q));

        p = jpp_owner_labels_add(&times->owners, reading->profile->arena, q, p)
            ? p + 1 : jpp_reading_memory(reading);
    }

    return p;
}


/*
 * The grammar, which jpp_cpu.c writes:
 *
 *     capture := "jpp_times/1 " kind NL fact* labels* owner* stack*
 *                "MAPPED_LIBRARIES:" NL maps
 *     kind    := "cpu" | "wall"
 *     fact    := key " " number NL | "early " text NL
 *     labels  := "labels " n NL ( key "=" text NL )*
 *     owner   := "owner " names NL
 *     stack   := "@ " set [ "." owner ] " " count " " nanos ( " 0x" hex )* NL
 *
 * After n come n labels; a set is one of these lists, counted from 0, and so is
 * an owner of theirs, whose names are those of jpp_owner_labels.h.  Stacks
 * are leaf first and hold return addresses; the leaf lies one behind what was
 * interrupted.
 */


static jpp_code_t
jpp_times_open(jpp_dump_t *dump, jpp_profile_t *profile, const char *data,
    size_t len, const char *tail, jpp_err_t *err)
{
    const char  *maps;

    jpp_dump_init(dump, data, len);

    dump->samples = jpp_scan_text(data, data + len, JPP_TIMES_HEAD);

    if (dump->samples == NULL) {
        return jpp_err_line(err, JPP_ERR_INPUT, 1,
                            "this is no capture of stacks with times: it does "
                            "not begin with " JPP_TIMES_HEAD);
    }

    maps = memmem(data, len, "\n" JPP_TIMES_MAPS, sizeof(JPP_TIMES_MAPS));

    if (maps == NULL || data[len - 1] != '\n') {
        return jpp_err_set(err, JPP_ERR_CUT, "the capture was cut: it has no "
                           "MAPPED_LIBRARIES section at its end");
    }

    dump->end = maps + 1;

    return jpp_dump_maps(dump, profile, maps + sizeof(JPP_TIMES_MAPS),
                         data + len, tail, err);
}


/* The labels of a stack: a set, and perhaps an owner. */

static const char *
jpp_times_set(jpp_times_t *times, const char *start, uint32_t *set)
{
    uint64_t        number, owner = 0;
    const char     *p;
    jpp_reading_t  *reading;

    reading = &times->reading;
    p = jpp_scan_numbers(start, " d", &number);

    if (p == NULL) {
        return jpp_reading_error(reading, start, "a stack without its numbers");
    }

    times->is_owned = *p == '.';

    if (times->is_owned) {
        p = jpp_scan_dec(p + 1, &owner);
    }

    if (p == NULL || p >= reading->dump->end
        || number >= jpp_vec_count(times->sets, uint32_t)
        || (times->is_owned && owner >= jpp_owner_labels_count(times->owners)))
    {
        return jpp_reading_error(reading, start, "a stack with labels that are "
                                 "not there");
    }

    *set = jpp_vec_items(times->sets, uint32_t)[number];

    if (times->is_owned && reading->options->has_owners) {
        *set = jpp_owner_labels(times->owners, reading->profile,
                                (uint32_t) owner, *set);
    }

    return *set != JPP_OWNER_NO_LABELS ? p : jpp_reading_memory(reading);
}


static const char *
jpp_times_frames(jpp_reading_t *reading, const char *start, uint32_t set)
{
    uint8_t            *pos;
    uint32_t            n, varint;
    uint64_t            address = 0;
    const char         *p;
    jpp_address_t      *slot;
    jpp_address_key_t   key;

    p = start;
    pos = jpp_profile_begin(reading->profile, set, JPP_MAX_FRAMES);

    if (pos == NULL) {
        return jpp_reading_memory(reading);
    }

    for (n = 0; *p == ' '; n++) {

        if (n == JPP_MAX_FRAMES) {
            return jpp_reading_error(reading, start,
                                     "a stack has too many frames");
        }

        p = jpp_scan_text(p, reading->dump->end, " 0x");
        p = p != NULL ? jpp_scan_hex(p, &address) : NULL;

        if (p == NULL) {
            break;
        }

        key = jpp_address_value(address);
        slot = jpp_addresses_slot(&reading->addresses, &key);
        varint = slot->varint;

        if (varint == 0
            && !jpp_addresses_add(&reading->addresses, slot, &key, address,
                                  true, &varint))
        {
            return jpp_reading_memory(reading);
        }

        pos = jpp_address_push(pos, varint);
    }

    if (p == NULL || n == 0 || *p != '\n') {
        return jpp_reading_error(reading, start, JPP_READING_NO_ADDRESS);
    }

    jpp_profile_end(reading->profile, pos);

    return p + 1;
}


static const char *
jpp_times_stack(jpp_times_t *times, const char *start)
{
    int64_t                    sign, values[JPP_MAX_COLUMNS] = { 0 };
    uint64_t                   numbers[2];
    uint32_t                   seen, set = 0;
    const char                *p;
    jpp_profile_t             *profile;
    const jpp_read_options_t  *options;

    profile = times->reading.profile;
    options = times->reading.options;

    p = jpp_times_set(times, start + 1, &set);

    if (p == NULL) {
        return NULL;
    }

    p = jpp_scan_numbers(p, " d d", numbers);

    if (p == NULL || numbers[0] > INT64_MAX / JPP_DOUBT_ONE
        || numbers[1] > INT64_MAX / JPP_DOUBT_ONE)
    {
        return jpp_reading_error(&times->reading, start,
                                 "a stack without its numbers");
    }

    p = jpp_times_frames(&times->reading, p, set);

    if (p == NULL) {
        return NULL;
    }

    sign = options->is_base ? -1 : 1;
    seen = jpp_profile_seen(profile, 0);

    values[JPP_TIMES_SAMPLES] = sign * (int64_t) numbers[0];
    values[JPP_TIMES_NANOS] = sign * (int64_t) numbers[1];
    values[seen] = values[JPP_TIMES_SAMPLES];
    values[seen + 1] = values[seen] * JPP_DOUBT_ONE;

    if (options->columns == NULL) {
        profile->n_seen[0] += numbers[0];
        times->facts.owned += times->is_owned ? numbers[0] : 0;
    }

    return jpp_profile_commit(profile, options->columns, values)
           ? p : jpp_reading_memory(&times->reading);
}


/* Add the facts of TIMES to SUMS. */

static void
jpp_times_add_up(jpp_times_sums_t *sums, jpp_times_t *times)
{
    size_t     i;
    uint64_t  *all, one;

    for (i = 0; i < JPP_TIMES_KEYS; i++) {
        all = jpp_times_number(&sums->facts, i);
        one = *jpp_times_number(&times->facts, i);

        *all = jpp_times_keys[i].is_highest ? jpp_larger(*all, one)
                                            : *all + one;
    }

    sums->n++;
    sums->lasted += times->facts.duration;
    sums->facts.owned += times->facts.owned;
    sums->facts.is_asked |= times->reading.options->says_owners;

    if (times->early[0] == '\0') {
        return;
    }

    if (sums->n_early++ == 0 || sums->shortest > times->facts.duration) {
        sums->shortest = times->facts.duration;
    }

    memcpy(sums->early, times->early, JPP_TIMES_TEXT);
}


static jpp_code_t
jpp_times_read(jpp_profile_t *profile, const jpp_dump_t *dump,
    const jpp_read_options_t *options, jpp_err_t *err)
{
    const char   *p;
    jpp_times_t   times;

    memset(&times, 0, sizeof(jpp_times_t));

    times.sets = jpp_vec_create(profile->arena);

    if (times.sets == NULL
        || !jpp_reading_init(&times.reading, profile, dump, options, err))
    {
        return jpp_err_memory(err);
    }

    p = jpp_times_head(&times, dump->samples);

    while (p != NULL && p < dump->end) {
        p = *p == '@' ? jpp_times_stack(&times, p)
                      : jpp_reading_error(&times.reading, p, "a line that is "
                                          "neither a stack nor the end of "
                                          "the stacks");
    }

    jpp_addresses_destroy(&times.reading.addresses);

    if (p == NULL) {
        return times.reading.err->code;
    }

    profile->is_difference |= options->is_base;

    if (options->columns == NULL && !options->is_base) {
        jpp_times_add_up(profile->facts, &times);
    }

    return JPP_OK;
}


#define JPP_TIMES_SECOND  1e9


static void
jpp_times_describe(jpp_profile_t *profile)
{
    double                    seconds;
    const jpp_times_sums_t   *sums;
    const jpp_times_facts_t  *facts;

    sums = profile->facts;
    facts = &sums->facts;

    profile->duration_nanos = (int64_t) facts->duration;
    profile->period = facts->frequency != 0
                      ? 1000000000 / (int64_t) facts->frequency : 0;

    seconds = (double) facts->duration / JPP_TIMES_SECOND;

    if (facts->highest <= facts->frequency) {
        jpp_profile_comment(profile, "%" PRIu64 " samples a second of each "
                            "thread, for %.1f s", facts->frequency, seconds);
    } else {
        jpp_profile_comment(profile, "%" PRIu64 " samples a second of each "
                            "thread were requested, for %.1f s; other profiles "
                            "needed up to %" PRIu64 ", and each sample counts "
                            "its true time",
                            facts->frequency, seconds, facts->highest);
    }

    if (profile->types == jpp_times_types[JPP_MODE_WALL] && sums->lasted != 0) {
        jpp_profile_comment(profile, "idle %.1f %%: event loops that waited "
                            "for events, which is not in the profile",
                            100 * (double) facts->idle
                            / (double) sums->lasted);

        if (facts->waits != 0) {
            jpp_profile_comment(profile, "other threads waited %.1f s for work "
                                "or for each other, which is not in the "
                                "profile",
                                (double) facts->waits / JPP_TIMES_SECOND);
        }
    }

    if (sums->n_early != 0) {
        jpp_profile_comment(profile, "%" PRIu32 " of %" PRIu32 " workers "
                            "ended early, the first after %.1f s: %s",
                            sums->n_early, sums->n,
                            (double) sums->shortest / JPP_TIMES_SECOND,
                            sums->early);
    }

    if (facts->deaf != 0) {
        jpp_profile_comment(profile, "%" PRIu64 " of %" PRIu64 " threads take "
                            "no signal (they block SIGPROF, as the threads of "
                            "aio do): their time has no stack",
                            facts->deaf, facts->threads);
    }

    if (facts->beyond != 0) {
        jpp_profile_comment(profile, "%" PRIu64 " of %" PRIu64 " threads are "
                            "missing: the profile of a worker has no room for "
                            "more", facts->beyond, facts->threads);
    }

    if (facts->dropped != 0) {
        jpp_profile_comment(profile, "%" PRIu64 " samples of %.1f s were "
                            "dropped: more different stacks than there is "
                            "room for; ask for fewer seconds or a lower "
                            "frequency", facts->dropped,
                            (double) facts->dropped_nanos / JPP_TIMES_SECOND);
    }

    if (facts->is_asked && facts->owned == 0) {
        jpp_profile_comment(profile, "no sample has an owner; workers' samples "
                            "have one unless owners are off (POST owners=on "
                            "to control)");

    } else if (facts->is_asked) {
        jpp_profile_comment(profile, "samples with an owner: %" PRIu64
                            " of %" PRIu64, facts->owned, profile->n_seen[0]);
    }
}


#define JPP_TIMES_PARSER(mode, word, other)  {                                \
    .name = word,                                                             \
    .values = jpp_times_types[mode],                                          \
    .types = JPP_PARSER_WORDS(jpp_times_types[mode], JPP_TIMES_TYPES,         \
                              JPP_TIMES_NANOS),                               \
    .absent = "ask for mode=" other,                                          \
    .period_type = word,                                                      \
    .period_unit = "nanoseconds",                                             \
    .facts_size = sizeof(jpp_times_sums_t),                                   \
    .open = jpp_times_open,                                                   \
    .read = jpp_times_read,                                                   \
    .describe = jpp_times_describe                                            \
}

const jpp_parser_t  jpp_parser_cpu =
    JPP_TIMES_PARSER(JPP_MODE_CPU, "cpu", "wall");
const jpp_parser_t  jpp_parser_wall =
    JPP_TIMES_PARSER(JPP_MODE_WALL, "wall", "cpu");

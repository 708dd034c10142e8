
#include "jpp_dump.h"
#include "jpp_owner_labels.h"
#include "jpp_profile.h"
#include "jpp_times.h"


/* A capture of times while it is read, and what comes before its stacks. */
typedef struct {
    jpp_profile_t              *profile;
    const jpp_dump_t           *dump;
    const jpp_read_options_t   *options;
    jpp_err_t                  *err;
    jpp_addresses_t             addresses;
    jpp_vec_t                  *sets;          /* uint32_t, of the profile */
    jpp_owner_labels_t         *owners;        /* NULL: none */
    bool                        is_owned;      /* the stack */
    jpp_times_facts_t           facts;
    char                        early[JPP_TIMES_TEXT];
} jpp_times_reading_t;


/* of the copy of a label that has to end with a NUL */
#define JPP_TIMES_LABEL  256


typedef struct {
    const char                 *key;
    size_t                      offset;
} jpp_times_key_t;


static const jpp_times_key_t  jpp_times_keys[] = {
    { "frequency ",     offsetof(jpp_times_facts_t, frequency) },
    { "highest ",       offsetof(jpp_times_facts_t, highest) },
    { "duration ",      offsetof(jpp_times_facts_t, duration) },
    { "dropped ",       offsetof(jpp_times_facts_t, dropped) },
    { "dropped_nanos ", offsetof(jpp_times_facts_t, dropped_nanos) },
    { "idle ",          offsetof(jpp_times_facts_t, idle) },
    { "waits ",         offsetof(jpp_times_facts_t, waits) },
    { "threads ",       offsetof(jpp_times_facts_t, threads) },
    { "deaf ",          offsetof(jpp_times_facts_t, deaf) },
    { "beyond ",        offsetof(jpp_times_facts_t, beyond) }
};


/* The line at P, in TEXT: "key=value".  Returns where it ends, or NULL. */

static const char *
jpp_times_label(const char *p, const char *end, char text[JPP_TIMES_LABEL],
    jpp_label_t *label)
{
    char    *value;
    size_t   len;

    end = memchr(p, '\n', (size_t) (end - p));

    if (end == NULL || end - p >= JPP_TIMES_LABEL) {
        return NULL;
    }

    len = (size_t) (end - p);

    memcpy(text, p, len);
    text[len] = '\0';

    value = memchr(text, '=', len);

    if (value == NULL || value == text) {
        return NULL;
    }

    *value = '\0';

    memset(label, 0, sizeof(jpp_label_t));

    label->key = text;
    label->str = value + 1;

    return end + 1;
}


/* P is somewhere in a line that SENTENCE is about; returns NULL. */

static const char *
jpp_times_error(jpp_times_reading_t *reading, const char *p,
    const char *sentence)
{
    (void) jpp_err_line(reading->err, JPP_ERR_INPUT,
                        jpp_dump_line(reading->dump, p), "%s", sentence);

    return NULL;
}


/* There is no memory; returns NULL. */

static const char *
jpp_times_memory(jpp_times_reading_t *reading)
{
    (void) jpp_err_memory(reading->err);

    return NULL;
}


/* A set of N labels, besides those that all samples of the capture have. */

static const char *
jpp_times_labels(jpp_times_reading_t *reading, const char *p)
{
    char         texts[JPP_MAX_LABELS][JPP_TIMES_LABEL];
    uint32_t    *set;
    uint64_t     i, n;
    const char  *q, *end;
    jpp_label_t  labels[JPP_MAX_LABELS];

    end = reading->dump->end;
    q = jpp_scan_dec(p, &n);

    if (q == NULL || *q != '\n' || n > JPP_MAX_LABELS) {
        return jpp_times_error(reading, p, "not a number of labels");
    }

    if (jpp_vec_count(reading->sets, uint32_t) >= JPP_MAX_LABEL_SETS) {
        return jpp_times_error(reading, p, "too many sets of labels");
    }

    for (i = 0, p = q + 1; i < n; i++, p = q) {

        q = jpp_times_label(p, end, texts[i], &labels[i]);

        if (q == NULL) {
            return jpp_times_error(reading, p, "not a label");
        }
    }

    set = jpp_vec_push(reading->sets, sizeof(uint32_t));

    return set != NULL
           && jpp_profile_labels_more(reading->profile,
                                      reading->options->labels, labels, n,
                                      set)
           ? p : jpp_times_memory(reading);
}


static const char *
jpp_times_owner(jpp_times_reading_t *reading, const char *p)
{
    const char  *end;

    end = memchr(p, '\n', (size_t) (reading->dump->end - p));

    return jpp_owner_labels_add(&reading->owners, reading->profile->arena, p,
                                end)
           ? end + 1 : jpp_times_memory(reading);
}


static const char *
jpp_times_fact(jpp_times_reading_t *reading, const char *p)
{
    size_t       i, len;
    uint64_t     value;
    const char  *q, *end;

    value = 0;
    end = memchr(p, '\n', (size_t) (reading->dump->end - p));
    q = jpp_scan_text(p, end, "early ");

    if (q != NULL) {
        len = (size_t) (end - q);
        len = len < JPP_TIMES_TEXT - 1 ? len : JPP_TIMES_TEXT - 1;

        memcpy(reading->early, q, len);
        reading->early[len] = '\0';

        return end + 1;
    }

    for (i = 0; i < sizeof(jpp_times_keys) / sizeof(jpp_times_keys[0]); i++) {

        q = jpp_scan_text(p, end, jpp_times_keys[i].key);

        if (q == NULL) {
            continue;
        }

        if (jpp_scan_dec(q, &value) != end || value > INT64_MAX) {
            break;
        }

        memcpy((char *) &reading->facts + jpp_times_keys[i].offset, &value,
               sizeof(uint64_t));

        return end + 1;
    }

    return jpp_times_error(reading, p, "not a fact about the capture");
}


/* Read kind, facts, labels and owners, from P on.  Returns where the stacks
   begin, or NULL. */

static const char *
jpp_times_head(jpp_times_reading_t *reading, const char *p)
{
    const char  *q, *end;

    end = reading->dump->end;
    q = jpp_scan_text(p, end, reading->profile->types[JPP_TIMES_NANOS].type);

    if (q == NULL || *q != '\n') {
        return jpp_times_error(reading, p, "a capture of another kind of "
                               "time");
    }

    for (p = q + 1; p != NULL && p < end && *p != '@'; /* void */ ) {

        q = jpp_scan_text(p, end, "labels ");

        if (q != NULL) {
            p = jpp_times_labels(reading, q);
            continue;
        }

        q = jpp_scan_text(p, end, "owner ");

        p = q != NULL ? jpp_times_owner(reading, q)
                      : jpp_times_fact(reading, p);
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


jpp_code_t
jpp_times_open(jpp_dump_t *dump, jpp_profile_t *profile, const char *data,
    size_t len, const char *tail, jpp_err_t *err)
{
    jpp_code_t   rc;
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
    dump->maps = jpp_vec_create(profile->arena);

    if (dump->maps == NULL) {
        return jpp_err_memory(err);
    }

    maps += sizeof(JPP_TIMES_MAPS);

    rc = jpp_maps_read(profile, maps, (size_t) (data + len - maps), tail,
                       dump->maps, err);

    if (rc != JPP_OK && err != NULL && err->line != 0) {
        err->line += jpp_dump_line(dump, maps) - 1;
    }

    return rc;
}


/* The labels of a stack: a set, and perhaps an owner. */

static const char *
jpp_times_set(jpp_times_reading_t *reading, const char *p, uint32_t *set)
{
    uint64_t     number, owner;
    const char  *start, *end;

    start = p;
    end = reading->dump->end;
    number = 0;
    owner = 0;

    p = *p == ' ' ? jpp_scan_dec(p + 1, &number) : NULL;

    if (p == NULL) {
        return jpp_times_error(reading, start, "a stack without its numbers");
    }

    reading->is_owned = *p == '.';

    if (reading->is_owned) {
        p = jpp_scan_dec(p + 1, &owner);
    }

    if (p == NULL || p >= end
        || number >= jpp_vec_count(reading->sets, uint32_t)
        || (reading->is_owned
            && owner >= jpp_owner_labels_count(reading->owners)))
    {
        return jpp_times_error(reading, start, "a stack with labels that are "
                               "not there");
    }

    *set = jpp_vec_items(reading->sets, uint32_t)[number];

    if (reading->is_owned && reading->options->has_owners) {
        *set = jpp_owner_labels(reading->owners, reading->profile,
                                (uint32_t) owner, *set);
    }

    return *set != JPP_OWNER_NO_LABELS ? p : jpp_times_memory(reading);
}


static const char *
jpp_times_frames(jpp_times_reading_t *reading, const char *p, uint32_t set)
{
    uint8_t            *pos;
    uint32_t            n, varint;
    uint64_t            address;
    const char         *start;
    jpp_address_t      *slot;
    jpp_address_key_t   key;

    start = p;
    address = 0;
    pos = jpp_profile_begin(reading->profile, set, JPP_MAX_FRAMES);

    if (pos == NULL) {
        return jpp_times_memory(reading);
    }

    for (n = 0; *p == ' '; n++) {

        if (n == JPP_MAX_FRAMES) {
            return jpp_times_error(reading, start,
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
            return jpp_times_memory(reading);
        }

        pos = jpp_address_push(pos, varint);
    }

    if (p == NULL || n == 0 || *p != '\n') {
        return jpp_times_error(reading, start, "a stack contains something "
                               "that is not an address");
    }

    jpp_profile_end(reading->profile, pos);

    return p + 1;
}


static const char *
jpp_times_stack(jpp_times_reading_t *reading, const char *p)
{
    int              i;
    int64_t          sign, values[JPP_MAX_COLUMNS] = { 0 };
    uint64_t         numbers[2];
    uint32_t         seen, set = 0;
    const char      *q;
    jpp_profile_t   *profile;

    profile = reading->profile;

    q = jpp_times_set(reading, p + 1, &set);

    for (i = 0; i < 2 && q != NULL; i++) {

        q = *q == ' ' ? jpp_scan_dec(q + 1, &numbers[i]) : NULL;

        if (q == NULL || numbers[i] > INT64_MAX / JPP_DOUBT_ONE) {
            return jpp_times_error(reading, p, "a stack without its numbers");
        }
    }

    p = q != NULL ? jpp_times_frames(reading, q, set) : NULL;

    if (p == NULL) {
        return NULL;
    }

    sign = reading->options->is_base ? -1 : 1;
    seen = jpp_profile_seen(profile, 0);

    values[JPP_TIMES_SAMPLES] = sign * (int64_t) numbers[0];
    values[JPP_TIMES_NANOS] = sign * (int64_t) numbers[1];
    values[seen] = values[JPP_TIMES_SAMPLES];
    values[seen + 1] = values[seen] * JPP_DOUBT_ONE;

    if (reading->options->columns == NULL) {
        profile->n_seen[0] += numbers[0];
        reading->facts.owned += reading->is_owned ? numbers[0] : 0;
    }

    return jpp_profile_commit_to(profile, reading->options->columns, values)
           ? p : jpp_times_memory(reading);
}


/* Add FACTS to SUMS; EARLY: why the capture ended early, or "". */

static void
jpp_times_add_up(jpp_times_sums_t *sums, const jpp_times_facts_t *facts,
    const char *early)
{
    jpp_times_facts_t  *all;

    all = &sums->facts;

    all->frequency = jpp_larger(all->frequency, facts->frequency);

    all->highest = jpp_larger(all->highest, facts->highest);

    all->duration = jpp_larger(all->duration, facts->duration);

    sums->n++;
    sums->lasted += facts->duration;

    all->dropped += facts->dropped;
    all->dropped_nanos += facts->dropped_nanos;
    all->idle += facts->idle;
    all->waits += facts->waits;
    all->threads += facts->threads;
    all->deaf += facts->deaf;
    all->beyond += facts->beyond;
    all->owned += facts->owned;
    all->is_asked |= facts->is_asked;

    if (early[0] == '\0') {
        return;
    }

    if (sums->n_early == 0 || sums->shortest > facts->duration) {
        sums->shortest = facts->duration;
    }

    sums->n_early++;
    (void) memcpy(sums->early, early, JPP_TIMES_TEXT);
}


jpp_code_t
jpp_times_read(jpp_profile_t *profile, const jpp_dump_t *dump,
    const jpp_read_options_t *options, jpp_err_t *err)
{
    jpp_err_t             ignored = { 0 };
    const char           *p;
    jpp_times_reading_t   reading;

    memset(&reading, 0, sizeof(jpp_times_reading_t));

    reading.profile = profile;
    reading.dump = dump;
    reading.options = options;
    reading.err = err != NULL ? err : &ignored;
    reading.sets = jpp_vec_create(profile->arena);


    if (reading.sets == NULL
        || !jpp_addresses_init(&reading.addresses, profile, dump, options))
    {
        return jpp_err_memory(reading.err);
    }

    p = jpp_times_head(&reading, dump->samples);

    while (p != NULL && p < dump->end) {
        p = *p == '@' ? jpp_times_stack(&reading, p)
                      : jpp_times_error(&reading, p, "a line that is neither "
                                        "a stack nor the end of the stacks");
    }

    jpp_addresses_destroy(&reading.addresses);

    if (p == NULL) {
        return reading.err->code;
    }

    profile->is_difference |= options->is_base;

    if (options->columns == NULL && !options->is_base) {
        reading.facts.is_asked = options->has_owners;
        jpp_times_add_up(profile->facts, &reading.facts, reading.early);
    }

    return JPP_OK;
}


#define JPP_TIMES_SECOND  1e9


const jpp_value_type_t  jpp_times_types[JPP_MODES][JPP_TIMES_TYPES] = {

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


static void
jpp_times_describe_rate(jpp_profile_t *profile, const jpp_times_facts_t *facts)
{
    double  seconds;

    seconds = (double) facts->duration / JPP_TIMES_SECOND;

    if (facts->highest <= facts->frequency) {
        jpp_profile_comment(profile, "%" PRIu64 " samples a second of each "
                            "thread, for %.1f s", facts->frequency, seconds);
    } else {
        jpp_profile_comment(profile, "%" PRIu64 " samples a second of each "
                            "thread were asked for, for %.1f s; up to "
                            "%" PRIu64 " were taken for other profiles: each "
                            "sample has its true time",
                            facts->frequency, seconds, facts->highest);
    }
}


static void
jpp_times_describe_idle(jpp_profile_t *profile, const jpp_times_sums_t *sums)
{
    if (profile->types != jpp_times_types[JPP_MODE_WALL]
        || sums->lasted == 0)
    {
        return;
    }

    jpp_profile_comment(profile, "idle %.1f %%: event loops that waited for "
                        "events, which is not in the profile",
                        100 * (double) sums->facts.idle
                        / (double) sums->lasted);

    if (sums->facts.waits != 0) {
        jpp_profile_comment(profile, "other threads waited %.1f s for work or "
                            "for each other, which is not in the profile",
                            (double) sums->facts.waits / JPP_TIMES_SECOND);
    }
}


static void
jpp_times_describe_losses(jpp_profile_t *profile,
    const jpp_times_sums_t *sums)
{
    const jpp_times_facts_t  *facts;

    facts = &sums->facts;

    if (sums->n_early != 0) {
        jpp_profile_comment(profile, "%" PRIu32 " of %" PRIu32 " workers "
                            "ended early, the first after %.1f s: %s",
                            sums->n_early, sums->n,
                            (double) sums->shortest / JPP_TIMES_SECOND,
                            sums->early);
    }

    if (facts->deaf != 0) {
        jpp_profile_comment(profile, "%" PRIu64 " of %" PRIu64 " threads take "
                            "no signal (they block SIGPROF, as those of aio "
                            "threads do): their time is here without a stack",
                            facts->deaf, facts->threads);
    }

    if (facts->beyond != 0) {
        jpp_profile_comment(profile, "%" PRIu64 " of %" PRIu64 " threads are "
                            "not in the profile: it has no room for more of "
                            "one worker", facts->beyond, facts->threads);
    }

    if (facts->dropped != 0) {
        jpp_profile_comment(profile, "%" PRIu64 " samples of %.1f s were "
                            "dropped: more different stacks than there is "
                            "room for; ask for fewer seconds or a lower "
                            "frequency", facts->dropped,
                            (double) facts->dropped_nanos / JPP_TIMES_SECOND);
    }
}


void
jpp_times_describe(jpp_profile_t *profile)
{
    const jpp_times_sums_t   *sums;
    const jpp_times_facts_t  *facts;

    sums = profile->facts;
    facts = &sums->facts;

    profile->duration_nanos = (int64_t) facts->duration;
    profile->period = facts->frequency != 0
                      ? 1000000000 / (int64_t) facts->frequency : 0;

    jpp_times_describe_rate(profile, facts);
    jpp_times_describe_idle(profile, sums);
    jpp_times_describe_losses(profile, sums);

    if (facts->is_asked && facts->owned == 0) {
        jpp_profile_comment(profile, "no sample has an owner: those of workers "
                            "do, unless owners are off (POST owners=on to "
                            "control)");

    } else if (facts->is_asked) {
        jpp_profile_comment(profile, "samples with an owner: %" PRIu64
                            " of %" PRIu64, facts->owned, profile->n_seen[0]);
    }
}

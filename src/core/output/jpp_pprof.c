
/*
 * Writes a profile as profile.proto.  Only this file of src/ uses protobuf-c.
 *
 * The fields of a Profile, one after the other, are a Profile.  So each is
 * written by itself, and only one at a time has the form that protobuf-c needs.
 */


#include "jpp_view.h"
#include "profile.pb-c.h"


/* fields of a Profile, and the stack of a Sample */
#define JPP_PPROF_TYPE       1
#define JPP_PPROF_SAMPLE     2
#define JPP_PPROF_MAPPING    3
#define JPP_PPROF_LOCATION   4
#define JPP_PPROF_FUNCTION   5
#define JPP_PPROF_TEXT       6
#define JPP_PPROF_STACK      1

/* tag and length of a field */
#define JPP_PPROF_PREFIX     (1 + JPP_VARINT_MAX)

/*
 * What a message takes at most, but for the stack of a sample, which is the
 * largest: every field with its tag.  A varint of 64 bits has ten bytes; ids
 * and string numbers have 32 bits, so five.
 */
#define JPP_PPROF_LABEL      (6 + 6 + 6 + 11 + 6)
#define JPP_PPROF_BOUND      (JPP_PPROF_PREFIX + 6 + 10 * JPP_MAX_TYPES        \
                              + JPP_PPROF_PREFIX                               \
                              + JPP_MAX_LABELS * JPP_PPROF_LABEL)

_Static_assert(JPP_PPROF_BOUND + JPP_MAX_FRAMES * JPP_VARINT_MAX
               <= JPP_SINK_BUFFER, "the deepest stack fits into the buffer");


typedef struct {
    jpp_profile_t       *profile;
    jpp_sink_t          *sink;
    bool                 failed;
    uint32_t             shown[JPP_MAX_TYPES];
    uint32_t             n_shown;
    Jpp__Pprof__Label  **labels;       /* JPP_MAX_LABELS for each set */
} jpp_pprof_t;


static int64_t
jpp_pprof_string(jpp_pprof_t *pp, const char *s)
{
    uint32_t  id;

    id = jpp_profile_string(pp->profile, s, strlen(s));

    if (id == 0) {
        pp->failed = true;
    }

    return id;
}


/* Room for SIZE bytes in the sink; NULL: it, or the profile, has failed. */

static uint8_t *
jpp_pprof_reserve(jpp_pprof_t *pp, size_t size)
{
    uint8_t  *p;

    if (pp->failed) {
        return NULL;
    }

    p = jpp_sink_reserve(pp->sink, size);

    if (p == NULL) {
        jpp_sink_fail(pp->sink, EMSGSIZE);
    }

    return p;
}


static uint8_t *
jpp_pprof_prefix(uint8_t *p, uint8_t field, size_t len)
{
    *p++ = (uint8_t) (field << 3 | PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED);

    return jpp_profile_push(p, (uint32_t) len);
}


/*
 * Append MESSAGE as FIELD of the Profile, with the LEN bytes of STACK behind
 * its own fields: the profile has a stack as packed varints, the wire form of
 * location_id, so that protobuf-c need not encode the numbers again.  How long
 * the prefix is depends on what follows it, which is moved then.
 */

static void
jpp_pprof_append(jpp_pprof_t *pp, uint8_t field,
    const ProtobufCMessage *message, const uint8_t *stack, size_t len)
{
    size_t    size;
    uint8_t  *p, *body, *pos;

    p = jpp_pprof_reserve(pp, JPP_PPROF_BOUND + len);

    if (p == NULL) {
        return;
    }

    body = p + JPP_PPROF_PREFIX;
    pos = body + protobuf_c_message_pack(message, body);

    if (len != 0) {
        pos = jpp_pprof_prefix(pos, JPP_PPROF_STACK, len);
        memcpy(pos, stack, len);
        pos += len;
    }

    size = (size_t) (pos - body);
    p = jpp_pprof_prefix(p, field, size);
    memmove(p, body, size);

    pp->sink->pos = p + size;
}


static void
jpp_pprof_types(jpp_pprof_t *pp)
{
    const uint32_t          *id;
    Jpp__Pprof__ValueType    message = JPP__PPROF__VALUE_TYPE__INIT;
    const jpp_value_type_t  *type;

    jpp_each(id, pp->shown, pp->n_shown) {
        type = &pp->profile->types[*id];

        message.type = jpp_pprof_string(pp, type->type);
        message.unit = jpp_pprof_string(pp, type->unit);

        jpp_pprof_append(pp, JPP_PPROF_TYPE, &message.base, NULL, 0);
    }
}


/* The labels of each set, once; the samples of the set point to them. */

static void
jpp_pprof_labels(jpp_pprof_t *pp)
{
    size_t                      i, k, n;
    Jpp__Pprof__Label          *label;
    const jpp_label_set_t      *sets;
    const jpp_profile_label_t  *from;

    sets = jpp_vec_items(pp->profile->label_sets, jpp_label_set_t);
    n = jpp_vec_count(pp->profile->label_sets, jpp_label_set_t);

    pp->labels = jpp_arena_alloc(pp->profile->arena,
                                 n * JPP_MAX_LABELS
                                 * sizeof(Jpp__Pprof__Label *));
    label = jpp_arena_alloc(pp->profile->arena,
                            n * JPP_MAX_LABELS * sizeof(Jpp__Pprof__Label));

    if (pp->labels == NULL || label == NULL) {
        pp->failed = true;
        return;
    }

    for (i = 0; i < n; i++) {
        for (k = 0; k < sets[i].n; k++, label++) {
            from = &sets[i].labels[k];

            jpp__pprof__label__init(label);
            label->key = from->key;
            label->str = from->str;
            label->num = from->num;
            label->num_unit = from->unit;

            pp->labels[i * JPP_MAX_LABELS + k] = label;
        }
    }
}


static void
jpp_pprof_samples(jpp_pprof_t *pp)
{
    size_t                  set;
    int64_t                 values[JPP_MAX_TYPES];
    uint32_t                i, t;
    jpp_sample_t            sample;
    Jpp__Pprof__Sample      message = JPP__PPROF__SAMPLE__INIT;
    const jpp_label_set_t  *sets;

    sets = jpp_vec_items(pp->profile->label_sets, jpp_label_set_t);

    message.n_value = pp->n_shown;
    message.value = values;

    for (i = 0; i < pp->profile->n_samples && !pp->failed; i++) {

        jpp_profile_sample(pp->profile, i, &sample);

        if (jpp_sample_is_zero(&sample)) {
            continue;
        }

        for (t = 0; t < pp->n_shown; t++) {
            values[t] = sample.values[pp->shown[t]];
        }

        set = (size_t) (sample.labels - sets);
        message.n_label = sample.labels->n;
        message.label = &pp->labels[set * JPP_MAX_LABELS];

        jpp_pprof_append(pp, JPP_PPROF_SAMPLE, &message.base, sample.stack,
                         sample.stack_len);
    }
}


static void
jpp_pprof_mappings(jpp_pprof_t *pp)
{
    const jpp_mapping_t   *from;
    Jpp__Pprof__Mapping    message = JPP__PPROF__MAPPING__INIT;

    jpp_vec_each(from, pp->profile->mappings) {
        message.id++;
        message.memory_start = from->start;
        message.memory_limit = from->limit;
        message.file_offset = from->offset;
        message.filename = from->file;
        message.build_id = from->build_id;
        message.has_functions = from->has_functions;

        jpp_pprof_append(pp, JPP_PPROF_MAPPING, &message.base, NULL, 0);
    }
}


static void
jpp_pprof_locations(jpp_pprof_t *pp)
{
    Jpp__Pprof__Line        line = JPP__PPROF__LINE__INIT, *lines;
    Jpp__Pprof__Location    message = JPP__PPROF__LOCATION__INIT;
    const jpp_location_t   *from;

    lines = &line;
    message.line = &lines;

    jpp_vec_each(from, pp->profile->locations) {
        line.function_id = from->function;

        message.id++;
        message.mapping_id = from->mapping;
        message.address = from->address;
        message.n_line = (from->function != 0);

        jpp_pprof_append(pp, JPP_PPROF_LOCATION, &message.base, NULL, 0);
    }
}


static void
jpp_pprof_functions(jpp_pprof_t *pp)
{
    Jpp__Pprof__Function    message = JPP__PPROF__FUNCTION__INIT;
    const jpp_function_t   *from;

    jpp_vec_each(from, pp->profile->functions) {
        message.id++;
        message.name = from->name;
        message.system_name = from->system_name;
        message.filename = from->file;

        jpp_pprof_append(pp, JPP_PPROF_FUNCTION, &message.base, NULL, 0);
    }
}


/* Append the numbers of MESSAGE. */

static void
jpp_pprof_numbers(jpp_pprof_t *pp, const Jpp__Pprof__Profile *message)
{
    uint8_t  *p;

    p = jpp_pprof_reserve(pp, JPP_PPROF_BOUND);

    if (p != NULL) {
        pp->sink->pos += jpp__pprof__profile__pack(message, p);
    }
}


static void
jpp_pprof_rest(jpp_pprof_t *pp)
{
    int64_t                  comment;
    const uint32_t          *id;
    const jpp_profile_t     *profile;
    Jpp__Pprof__Profile      message = JPP__PPROF__PROFILE__INIT;
    Jpp__Pprof__Profile      comments = JPP__PPROF__PROFILE__INIT;
    Jpp__Pprof__ValueType    type = JPP__PPROF__VALUE_TYPE__INIT;

    profile = pp->profile;

    type.type = jpp_pprof_string(pp, profile->period_type);
    type.unit = jpp_pprof_string(pp, profile->period_unit);

    message.time_nanos = profile->time_nanos;
    message.duration_nanos = profile->duration_nanos;
    message.period_type = &type;
    message.period = profile->period;
    message.default_sample_type =
              jpp_pprof_string(pp, profile->types[profile->default_type].type);

    jpp_pprof_numbers(pp, &message);

    comments.n_comment = 1;
    comments.comment = &comment;

    jpp_vec_each(id, profile->comments) {
        comment = *id;
        jpp_pprof_numbers(pp, &comments);
    }
}


static void
jpp_pprof_strings(jpp_pprof_t *pp)
{
    uint8_t          *p;
    const jpp_str_t  *string;

    jpp_vec_each(string, pp->profile->strings) {
        p = jpp_pprof_reserve(pp, JPP_PPROF_PREFIX);

        if (p != NULL) {
            pp->sink->pos = jpp_pprof_prefix(p, JPP_PPROF_TEXT, string->len);
            jpp_sink_write(pp->sink, string->data, string->len);
        }
    }
}


bool
jpp_pprof_pack(jpp_profile_t *profile, jpp_sink_t *sink)
{
    jpp_pprof_t  pp;

    pp.profile = profile;
    pp.sink = sink;
    pp.n_shown = jpp_profile_types(profile, pp.shown);
    pp.failed = !jpp_wrappers_mark(profile);

    jpp_pprof_types(&pp);
    jpp_pprof_labels(&pp);
    jpp_pprof_samples(&pp);
    jpp_pprof_mappings(&pp);
    jpp_pprof_locations(&pp);
    jpp_pprof_functions(&pp);
    jpp_pprof_rest(&pp);

    jpp_pprof_strings(&pp);     /* the last, because the others intern */

    return !pp.failed;
}


bool
jpp_pprof_write(const jpp_view_t *view, jpp_sink_t *sink)
{
    bool        is_written;
    jpp_gzip_t  gz;

    if (!jpp_gzip_open(&gz, view->profile->arena, view->level, sink)) {
        return false;
    }

    is_written = jpp_pprof_pack(view->profile, &gz.sink);

    if (jpp_gzip_close(&gz) != 0) {
        jpp_sink_fail(sink, gz.sink.error);
    }

    return is_written;
}


/*
 * A profile as profile.proto; the owner of protobuf-c.
 *
 * The message is written in pieces: several Profiles, each with some of the
 * samples or strings, are a valid Profile when concatenated.  So only one
 * batch at a time has the form that protobuf-c needs.
 */


#include <errno.h>
#include <string.h>

#include "jpp_gzip.h"
#include "jpp_intern.h"
#include "jpp_passing.h"
#include "jpp_view.h"
#include "profile.pb-c.h"


/*
 * Bounds of what a message takes in the buffer: tag and length of the message
 * (6), then every field with its tag; the ids of a stack come on top.  A
 * varint of 64 bits has ten bytes; ids and string numbers have 32 bits, so
 * five.
 */
#define JPP_PPROF_LABEL      (6 + 6 + 6 + 11 + 6)
#define JPP_PPROF_SAMPLE     (6 + 6 + 6 + 10 * JPP_MAX_TYPES)
#define JPP_PPROF_MAPPING    (6 + 6 + 3 * 11 + 2 * 6 + 2)
#define JPP_PPROF_LOCATION   (6 + 6 + 6 + 11 + 2 + 6)
#define JPP_PPROF_FUNCTION   (6 + 4 * 6)
#define JPP_PPROF_STRING     6
#define JPP_PPROF_TYPE       (6 + 2 * 6)
#define JPP_PPROF_REST       (4 * 11 + JPP_PPROF_TYPE)

#define JPP_PPROF_BATCH      64

/* bytes of location ids in a batch; the deepest stack has to fit */
#define JPP_PPROF_IDS        (2 * JPP_MAX_FRAMES * JPP_VARINT_MAX)

_Static_assert(JPP_PPROF_IDS
               + JPP_PPROF_BATCH * (JPP_PPROF_SAMPLE
                                    + JPP_MAX_LABELS * JPP_PPROF_LABEL)
               <= JPP_SINK_BUFFER, "a batch of samples fits into the buffer");

/* Sample.location_id, and the wire type of packed varints */
#define JPP_PPROF_STACK      1


typedef struct {
    jpp_profile_t          *profile;
    jpp_sink_t             *sink;
    bool                    failed;
    uint32_t                shown[JPP_MAX_TYPES];
    uint32_t                n_shown;

    Jpp__Pprof__Label     **labels;     /* JPP_MAX_LABELS for each set */
    Jpp__Pprof__Sample      samples[JPP_PPROF_BATCH];
    Jpp__Pprof__Sample     *sample_ptrs[JPP_PPROF_BATCH];
    int64_t                 values[JPP_PPROF_BATCH * JPP_MAX_TYPES];

    /* the stacks of a batch, and each as a field: length and ids */

    ProtobufCMessageUnknownField   stacks[JPP_PPROF_BATCH];
    uint8_t                        bytes[JPP_PPROF_IDS
                                         + JPP_PPROF_BATCH * JPP_VARINT_MAX];
} jpp_pprof_t;


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


static void
jpp_pprof_append(jpp_pprof_t *pp, Jpp__Pprof__Profile *message, size_t bound)
{
    uint8_t  *p;

    if (pp->failed) {
        return;
    }

    p = jpp_sink_reserve(pp->sink, bound);

    if (p == NULL) {
        jpp_sink_fail(pp->sink, EMSGSIZE);
        return;
    }

    pp->sink->pos += jpp__pprof__profile__pack(message, p);
}


static void
jpp_pprof_types(jpp_pprof_t *pp)
{
    uint32_t                 i;
    Jpp__Pprof__Profile      message = JPP__PPROF__PROFILE__INIT;
    Jpp__Pprof__ValueType    types[JPP_MAX_TYPES], *ptrs[JPP_MAX_TYPES];
    const jpp_value_type_t  *type;

    for (i = 0; i < pp->n_shown; i++) {
        type = &pp->profile->types[pp->shown[i]];

        jpp__pprof__value_type__init(&types[i]);
        types[i].type = jpp_pprof_string(pp, type->type);
        types[i].unit = jpp_pprof_string(pp, type->unit);
        ptrs[i] = &types[i];
    }

    message.n_sample_type = pp->n_shown;
    message.sample_type = ptrs;
    jpp_pprof_append(pp, &message, pp->n_shown * JPP_PPROF_TYPE);
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


/* Sample N of the batch; its stack goes to POS.  Returns where that ends. */

static uint8_t *
jpp_pprof_sample(jpp_pprof_t *pp, uint32_t n, const jpp_sample_t *sample,
    uint8_t *pos)
{
    size_t                          set;
    uint32_t                        t;
    Jpp__Pprof__Sample             *to;
    ProtobufCMessageUnknownField   *stack;

    to = &pp->samples[n];
    pp->sample_ptrs[n] = to;

    jpp__pprof__sample__init(to);

    if (sample->stack_len != 0) {
        stack = &pp->stacks[n];

        stack->tag = JPP_PPROF_STACK;
        stack->wire_type = PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED;
        stack->data = pos;

        pos = jpp_profile_push(pos, (uint32_t) sample->stack_len);
        memcpy(pos, sample->stack, sample->stack_len);
        pos += sample->stack_len;

        stack->len = (size_t) (pos - stack->data);

        to->base.n_unknown_fields = 1;
        to->base.unknown_fields = stack;
    }

    to->n_value = pp->n_shown;
    to->value = &pp->values[n * JPP_MAX_TYPES];

    for (t = 0; t < pp->n_shown; t++) {
        to->value[t] = sample->values[pp->shown[t]];
    }

    set = (size_t) (sample->labels - jpp_vec_items(pp->profile->label_sets,
                                                   jpp_label_set_t));
    to->n_label = sample->labels->n;
    to->label = &pp->labels[set * JPP_MAX_LABELS];

    return pos;
}


/*
 * The profile stores a stack as packed varints, the wire form of location_id.
 * So protobuf-c gets the field encoded, in the form that it keeps unknown
 * fields in, and need not encode the numbers again.
 */

static void
jpp_pprof_samples(jpp_pprof_t *pp)
{
    size_t                ids, bound;
    uint8_t              *pos;
    uint32_t              i, n;
    jpp_sample_t          sample;
    Jpp__Pprof__Profile   message = JPP__PPROF__PROFILE__INIT;

    message.sample = pp->sample_ptrs;
    pos = pp->bytes;
    ids = 0;
    bound = 0;
    n = 0;

    for (i = 0; i < pp->profile->n_samples && !pp->failed; i++) {

        jpp_profile_sample(pp->profile, i, &sample);

        if (jpp_sample_is_zero(&sample)) {
            continue;
        }

        if (n == JPP_PPROF_BATCH || ids + sample.stack_len > JPP_PPROF_IDS) {
            message.n_sample = n;
            jpp_pprof_append(pp, &message, bound + ids);

            pos = pp->bytes;
            ids = 0;
            bound = 0;
            n = 0;
        }

        pos = jpp_pprof_sample(pp, n++, &sample, pos);

        ids += sample.stack_len;
        bound += JPP_PPROF_SAMPLE + sample.labels->n * JPP_PPROF_LABEL;
    }

    message.n_sample = n;
    jpp_pprof_append(pp, &message, bound + ids);
}


static void
jpp_pprof_mappings(jpp_pprof_t *pp)
{
    uint32_t                i, n, k;
    const jpp_mapping_t    *from;
    Jpp__Pprof__Mapping     batch[JPP_PPROF_BATCH], *ptrs[JPP_PPROF_BATCH];
    Jpp__Pprof__Profile     message = JPP__PPROF__PROFILE__INIT;

    n = (uint32_t) jpp_vec_count(pp->profile->mappings, jpp_mapping_t);
    message.mapping = ptrs;

    for (i = 1, k = 0; i <= n; i++) {
        from = jpp_profile_mapping_at(pp->profile, i);

        jpp__pprof__mapping__init(&batch[k]);
        batch[k].id = i;
        batch[k].memory_start = from->start;
        batch[k].memory_limit = from->limit;
        batch[k].file_offset = from->offset;
        batch[k].filename = from->file;
        batch[k].build_id = from->build_id;
        batch[k].has_functions = from->has_functions;
        ptrs[k] = &batch[k];
        k++;

        if (k == JPP_PPROF_BATCH || i == n) {
            message.n_mapping = k;
            jpp_pprof_append(pp, &message, k * JPP_PPROF_MAPPING);
            k = 0;
        }
    }
}


static void
jpp_pprof_locations(jpp_pprof_t *pp)
{
    uint32_t                i, n, k;
    Jpp__Pprof__Line        lines[JPP_PPROF_BATCH];
    Jpp__Pprof__Line       *line_ptrs[JPP_PPROF_BATCH];
    Jpp__Pprof__Profile     message = JPP__PPROF__PROFILE__INIT;
    Jpp__Pprof__Location    batch[JPP_PPROF_BATCH], *ptrs[JPP_PPROF_BATCH];
    const jpp_location_t   *from;

    n = (uint32_t) jpp_vec_count(pp->profile->locations, jpp_location_t);
    message.location = ptrs;

    for (i = 1, k = 0; i <= n; i++) {
        from = jpp_profile_location_at(pp->profile, i);

        jpp__pprof__line__init(&lines[k]);
        lines[k].function_id = from->function;
        line_ptrs[k] = &lines[k];

        jpp__pprof__location__init(&batch[k]);
        batch[k].id = i;
        batch[k].mapping_id = from->mapping;
        batch[k].address = from->address;
        batch[k].n_line = (from->function != 0);
        batch[k].line = &line_ptrs[k];
        ptrs[k] = &batch[k];
        k++;

        if (k == JPP_PPROF_BATCH || i == n) {
            message.n_location = k;
            jpp_pprof_append(pp, &message, k * JPP_PPROF_LOCATION);
            k = 0;
        }
    }
}


static void
jpp_pprof_functions(jpp_pprof_t *pp)
{
    uint32_t                i, n, k;
    Jpp__Pprof__Profile     message = JPP__PPROF__PROFILE__INIT;
    Jpp__Pprof__Function    batch[JPP_PPROF_BATCH], *ptrs[JPP_PPROF_BATCH];
    const jpp_function_t   *from;

    n = (uint32_t) jpp_vec_count(pp->profile->functions, jpp_function_t);
    message.function = ptrs;

    for (i = 1, k = 0; i <= n; i++) {
        from = jpp_profile_function_at(pp->profile, i);

        jpp__pprof__function__init(&batch[k]);
        batch[k].id = i;
        batch[k].name = from->name;
        batch[k].system_name = from->system_name;
        batch[k].filename = from->file;
        ptrs[k] = &batch[k];
        k++;

        if (k == JPP_PPROF_BATCH || i == n) {
            message.n_function = k;
            jpp_pprof_append(pp, &message, k * JPP_PPROF_FUNCTION);
            k = 0;
        }
    }
}


static void
jpp_pprof_rest(jpp_pprof_t *pp)
{
    const jpp_profile_t     *profile;
    Jpp__Pprof__Profile      message = JPP__PPROF__PROFILE__INIT;
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

    jpp_pprof_append(pp, &message, JPP_PPROF_REST);
}


static void
jpp_pprof_comments(jpp_pprof_t *pp)
{
    size_t                i, n;
    int64_t               comment;
    Jpp__Pprof__Profile   message = JPP__PPROF__PROFILE__INIT;

    n = jpp_vec_count(pp->profile->comments, uint32_t);

    message.n_comment = 1;
    message.comment = &comment;

    for (i = 0; i < n; i++) {
        comment = jpp_vec_items(pp->profile->comments, uint32_t)[i];
        jpp_pprof_append(pp, &message, 6 + 6);
    }
}


static void
jpp_pprof_strings(jpp_pprof_t *pp)
{
    char                  *ptrs[JPP_PPROF_BATCH];
    size_t                 i, n, k, len, bound;
    const jpp_str_t       *strings;
    Jpp__Pprof__Profile    message = JPP__PPROF__PROFILE__INIT;

    strings = jpp_vec_items(pp->profile->strings, jpp_str_t);
    n = jpp_vec_count(pp->profile->strings, jpp_str_t);

    message.string_table = ptrs;
    bound = 0;
    k = 0;

    for (i = 0; i < n; i++) {
        len = JPP_PPROF_STRING + strings[i].len;

        if (k == JPP_PPROF_BATCH || bound + len > JPP_SINK_BUFFER) {
            message.n_string_table = k;
            jpp_pprof_append(pp, &message, bound);
            bound = 0;
            k = 0;
        }

        ptrs[k++] = (char *) (uintptr_t) strings[i].data;
        bound += len;
    }

    message.n_string_table = k;
    jpp_pprof_append(pp, &message, bound);
}


bool
jpp_pprof_pack(jpp_profile_t *profile, jpp_sink_t *sink)
{
    jpp_pprof_t  *pp;

    pp = jpp_arena_alloc(profile->arena, sizeof(jpp_pprof_t));
    if (pp == NULL) {
        return false;
    }

    pp->profile = profile;
    pp->sink = sink;
    pp->n_shown = jpp_profile_types(profile, pp->shown);
    pp->failed = !jpp_passing_mark(profile);

    jpp_pprof_types(pp);
    jpp_pprof_labels(pp);
    jpp_pprof_samples(pp);
    jpp_pprof_mappings(pp);
    jpp_pprof_locations(pp);
    jpp_pprof_functions(pp);
    jpp_pprof_rest(pp);
    jpp_pprof_comments(pp);

    jpp_pprof_strings(pp);      /* the last, because the others intern */

    return !pp->failed;
}

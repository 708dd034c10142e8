
/*
 * Writes a profile as profile.proto.
 *
 * The fields of a Profile, one after the other, are a Profile, so each is
 * written by itself.  A field is a tag, which is its number and its type, and a
 * varint; or a tag, a length and so many bytes: of a string, of a message, or
 * of packed varints (https://protobuf.dev/programming-guides/encoding/).
 */


#include "jpp_profile.h"
#include "jpp_view.h"


/* fields of a Profile */
#define JPP_PPROF_TYPE       1
#define JPP_PPROF_SAMPLE     2
#define JPP_PPROF_MAPPING    3
#define JPP_PPROF_LOCATION   4
#define JPP_PPROF_FUNCTION   5
#define JPP_PPROF_TEXT       6
#define JPP_PPROF_TIME       9
#define JPP_PPROF_PERIOD     11
#define JPP_PPROF_COMMENT    13
#define JPP_PPROF_DEFAULT    14

/* fields of a Sample, and of a Location */
#define JPP_PPROF_STACK      1
#define JPP_PPROF_VALUES     2
#define JPP_PPROF_LABEL      3
#define JPP_PPROF_LINE       4

/* the most that they take: a tag, and a length of 32 bits or a number of 64 */
#define JPP_PPROF_PREFIX     (1 + JPP_VARINT_MAX)
#define JPP_PPROF_NUMBER     (1 + 10)

/* a message but for the stack of a sample, which has the most labels */
#define JPP_PPROF_BOUND      (2 * JPP_PPROF_PREFIX                            \
                              + (1 + JPP_MAX_TYPES + 5 * JPP_MAX_LABELS)      \
                                * JPP_PPROF_NUMBER)

_Static_assert(JPP_PPROF_BOUND + JPP_MAX_FRAMES * JPP_VARINT_MAX
               <= JPP_SINK_BUFFER, "the deepest stack fits into the buffer");


typedef struct {
    jpp_profile_t       *profile;
    jpp_sink_t          *sink;
    bool                 failed;
    uint32_t             shown[JPP_MAX_TYPES];
    uint32_t             n_shown;
} jpp_pprof_t;


static uint64_t
jpp_pprof_string(jpp_pprof_t *pp, const char *s)
{
    uint32_t  id;

    id = jpp_profile_string(pp->profile, s, strlen(s));

    pp->failed |= id == 0;

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
jpp_pprof_varint(uint8_t *p, uint64_t n)
{
    for ( /* void */ ; n >= 0x80; n >>= 7) {
        *p++ = (uint8_t) (n | 0x80);
    }

    *p++ = (uint8_t) n;

    return p;
}


/* The tag and the length of a field that has one. */

static uint8_t *
jpp_pprof_prefix(uint8_t *p, uint32_t field, size_t len)
{
    *p++ = (uint8_t) (field << 3 | 2);

    return jpp_profile_push(p, (uint32_t) len);
}


/* The N NUMBERS are the fields from FIELD on; a 0 is left out. */

static uint8_t *
jpp_pprof_fields(uint8_t *p, uint32_t field, const uint64_t *numbers, size_t n)
{
    for ( /* void */ ; n != 0; n--, numbers++, field++) {

        if (*numbers != 0) {
            *p++ = (uint8_t) (field << 3);
            p = jpp_pprof_varint(p, *numbers);
        }
    }

    return p;
}


/* Less than 128 bytes, from P + 2 to END, become FIELD; returns END. */

static uint8_t *
jpp_pprof_close(uint8_t *p, uint32_t field, uint8_t *end)
{
    p[0] = (uint8_t) (field << 3 | 2);
    p[1] = (uint8_t) (end - p - 2);

    return end;
}


/* A message within another: the N NUMBERS are its fields from 1 on. */

static uint8_t *
jpp_pprof_inner(uint8_t *p, uint32_t field, const uint64_t *numbers, size_t n)
{
    return jpp_pprof_close(p, field, jpp_pprof_fields(p + 2, 1, numbers, n));
}


/*
 * Append FIELD of the Profile, whose bytes up to END stand JPP_PPROF_PREFIX
 * behind what was reserved.  How long the prefix is depends on what follows it,
 * which is moved then.
 */

static void
jpp_pprof_append(jpp_pprof_t *pp, uint32_t field, const uint8_t *end)
{
    size_t    size;
    uint8_t  *p, *body;

    body = pp->sink->pos + JPP_PPROF_PREFIX;
    size = (size_t) (end - body);

    p = jpp_pprof_prefix(pp->sink->pos, field, size);
    memmove(p, body, size);

    pp->sink->pos = p + size;
}


/* A message of numbers, which are its fields from 1 on. */

#define jpp_pprof_message(pp, field, ...)                                     \
    jpp_pprof_numbers(pp, field, (const uint64_t[]) { __VA_ARGS__ },          \
        sizeof((const uint64_t[]) { __VA_ARGS__ }) / sizeof(uint64_t))

static void
jpp_pprof_numbers(jpp_pprof_t *pp, uint32_t field, const uint64_t *numbers,
    size_t n)
{
    uint8_t  *p;

    p = jpp_pprof_reserve(pp, JPP_PPROF_BOUND);

    if (p != NULL) {
        jpp_pprof_append(pp, field, jpp_pprof_fields(p + JPP_PPROF_PREFIX, 1,
                                                     numbers, n));
    }
}


/* Append FIELD of the Profile, the LEN bytes of DATA. */

static void
jpp_pprof_bytes(jpp_pprof_t *pp, uint32_t field, const void *data, size_t len)
{
    uint8_t  *p;

    p = jpp_pprof_reserve(pp, JPP_PPROF_PREFIX);

    if (p != NULL) {
        pp->sink->pos = jpp_pprof_prefix(p, field, len);
        jpp_sink_write(pp->sink, data, len);
    }
}


static void
jpp_pprof_types(jpp_pprof_t *pp)
{
    uint32_t                 i;
    uint64_t                 name, unit;
    const jpp_value_type_t  *type;

    for (i = 0; i < pp->n_shown; i++) {
        type = &pp->profile->types[pp->shown[i]];
        name = jpp_pprof_string(pp, type->type);
        unit = jpp_pprof_string(pp, type->unit);

        jpp_pprof_message(pp, JPP_PPROF_TYPE, name, unit);
    }
}


/* The profile has a stack as packed varints, the wire form of location_id. */

static void
jpp_pprof_samples(jpp_pprof_t *pp)
{
    uint8_t                    *p, *values;
    uint32_t                    i, k;
    jpp_sample_t                sample;
    const jpp_profile_label_t  *label;

    for (i = 0; i < pp->profile->n_samples; i++) {

        jpp_profile_sample(pp->profile, i, &sample);

        if (jpp_sample_is_zero(&sample)) {
            continue;
        }

        p = jpp_pprof_reserve(pp, JPP_PPROF_BOUND + sample.stack_len);

        if (p == NULL) {
            return;
        }

        values = p + JPP_PPROF_PREFIX;
        p = values + 2;

        for (k = 0; k < pp->n_shown; k++) {
            p = jpp_pprof_varint(p, (uint64_t) sample.values[pp->shown[k]]);
        }

        (void) jpp_pprof_close(values, JPP_PPROF_VALUES, p);

        for (k = 0; k < sample.labels->n; k++) {
            label = &sample.labels->labels[k];

            p = jpp_pprof_inner(p, JPP_PPROF_LABEL, (const uint64_t[]) {
                                label->key, label->str, (uint64_t) label->num,
                                label->unit }, 4);
        }

        if (sample.stack_len != 0) {
            p = jpp_pprof_prefix(p, JPP_PPROF_STACK, sample.stack_len);
            memcpy(p, sample.stack, sample.stack_len);
            p += sample.stack_len;
        }

        jpp_pprof_append(pp, JPP_PPROF_SAMPLE, p);
    }
}


static void
jpp_pprof_mappings(jpp_pprof_t *pp)
{
    uint32_t               i, n;
    const jpp_mapping_t   *m;

    n = (uint32_t) jpp_vec_count(pp->profile->mappings, jpp_mapping_t);

    for (i = 1; i <= n; i++) {
        m = jpp_profile_mapping_at(pp->profile, i);

        jpp_pprof_message(pp, JPP_PPROF_MAPPING, i, m->start, m->limit,
                          m->offset, m->file, m->build_id, m->has_functions);
    }
}


static void
jpp_pprof_locations(jpp_pprof_t *pp)
{
    uint8_t                *p;
    uint32_t                i, n;
    uint64_t                function;
    const jpp_location_t   *from;

    n = (uint32_t) jpp_vec_count(pp->profile->locations, jpp_location_t);

    for (i = 1; i <= n; i++) {
        from = jpp_profile_location_at(pp->profile, i);
        p = jpp_pprof_reserve(pp, JPP_PPROF_BOUND);

        if (p == NULL) {
            return;
        }

        p = jpp_pprof_fields(p + JPP_PPROF_PREFIX, 1, (const uint64_t[]) {
                             i, from->mapping, from->address }, 3);
        function = from->function;

        if (function != 0) {
            p = jpp_pprof_inner(p, JPP_PPROF_LINE, &function, 1);
        }

        jpp_pprof_append(pp, JPP_PPROF_LOCATION, p);
    }
}


static void
jpp_pprof_functions(jpp_pprof_t *pp)
{
    uint32_t                i, n;
    const jpp_function_t   *f;

    n = (uint32_t) jpp_vec_count(pp->profile->functions, jpp_function_t);

    for (i = 1; i <= n; i++) {
        f = jpp_profile_function_at(pp->profile, i);

        jpp_pprof_message(pp, JPP_PPROF_FUNCTION, i, f->name, f->system_name,
                          f->file);
    }
}


/* Numbers of the Profile itself, and its comments. */

static void
jpp_pprof_rest(jpp_pprof_t *pp)
{
    size_t                i, n;
    uint8_t              *p, comment[JPP_VARINT_MAX];
    uint64_t              type[2], shown;
    const jpp_profile_t  *profile;

    profile = pp->profile;

    type[0] = jpp_pprof_string(pp, profile->period_type);
    type[1] = jpp_pprof_string(pp, profile->period_unit);
    shown = jpp_pprof_string(pp, profile->types[profile->default_type].type);

    p = jpp_pprof_reserve(pp, JPP_PPROF_BOUND);

    if (p == NULL) {
        return;
    }

    p = jpp_pprof_fields(p, JPP_PPROF_TIME, (const uint64_t[]) {
                         (uint64_t) profile->time_nanos,
                         (uint64_t) profile->duration_nanos }, 2);
    p = jpp_pprof_inner(p, JPP_PPROF_PERIOD, type, 2);
    p = jpp_pprof_fields(p, JPP_PPROF_PERIOD + 1,
                         (const uint64_t[]) { (uint64_t) profile->period }, 1);

    pp->sink->pos = jpp_pprof_fields(p, JPP_PPROF_DEFAULT, &shown, 1);

    n = jpp_vec_count(profile->comments, uint32_t);

    for (i = 0; i < n; i++) {
        p = jpp_pprof_varint(comment,
                             jpp_vec_items(profile->comments, uint32_t)[i]);
        jpp_pprof_bytes(pp, JPP_PPROF_COMMENT, comment,
                        (size_t) (p - comment));
    }
}


static void
jpp_pprof_strings(jpp_pprof_t *pp)
{
    size_t            i, n;
    const jpp_str_t  *strings;

    strings = jpp_vec_items(pp->profile->strings, jpp_str_t);
    n = jpp_vec_count(pp->profile->strings, jpp_str_t);

    for (i = 0; i < n; i++) {
        jpp_pprof_bytes(pp, JPP_PPROF_TEXT, strings[i].data, strings[i].len);
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

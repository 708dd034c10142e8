
/*
 * profile := message          message := ( tag value )*
 * tag     := varint(field number << 3 | wire type)
 * value   := varint                            wire type 0
 *          | varint(length) bytes              wire type 2
 *
 * The bytes of type 2 are a message, a string or a packed list of varints.
 * No field of a profile has another wire type.  Reference: the encoding page
 * of protobuf.dev, and proto/profile.proto of google/pprof for the tables.
 */

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "jpp_contract_wire.h"


#define JPP_CONTRACT_SHOWN  100


typedef enum {
    JPP_KIND_NONE = 0,
    JPP_KIND_INT,
    JPP_KIND_INTS,
    JPP_KIND_TEXTS,
    JPP_KIND_MESSAGE,
    JPP_KIND_MESSAGES
} jpp_kind_t;

typedef enum {
    JPP_MESSAGE_PROFILE = 0,
    JPP_MESSAGE_VALUE_TYPE,
    JPP_MESSAGE_SAMPLE,
    JPP_MESSAGE_LABEL,
    JPP_MESSAGE_MAPPING,
    JPP_MESSAGE_LOCATION,
    JPP_MESSAGE_LINE,
    JPP_MESSAGE_FUNCTION
} jpp_message_t;

typedef struct {
    const char      *name;
    jpp_kind_t       kind;
    unsigned         target;       /* of a reference: a list of the profile */
    jpp_message_t    message;
} jpp_field_t;

/* memory in one list; calloc() aligns what follows */
struct jpp_chunk_s {
    jpp_chunk_t            *next;
    jpp_num_t               padding;
};


static bool jpp_contract_decode(jpp_contract_t *c, jpp_message_t type,
    jpp_value_t *message, const uint8_t *pos, const uint8_t *end);


static const char *const  jpp_contract_names[] = {
    "profile", "value type", "sample", "label", "mapping", "location", "line",
    "function"
};


static const jpp_field_t  jpp_contract_fields[][JPP_PROFILE_FIELDS] = {
    [JPP_MESSAGE_PROFILE] = {
        [JPP_PROFILE_TYPE] =
            { "sample_type", JPP_KIND_MESSAGES, 0, JPP_MESSAGE_VALUE_TYPE },
        [JPP_PROFILE_SAMPLE] =
            { "sample", JPP_KIND_MESSAGES, 0, JPP_MESSAGE_SAMPLE },
        [JPP_PROFILE_MAPPING] =
            { "mapping", JPP_KIND_MESSAGES, 0, JPP_MESSAGE_MAPPING },
        [JPP_PROFILE_LOCATION] =
            { "location", JPP_KIND_MESSAGES, 0, JPP_MESSAGE_LOCATION },
        [JPP_PROFILE_FUNCTION] =
            { "function", JPP_KIND_MESSAGES, 0, JPP_MESSAGE_FUNCTION },
        [JPP_PROFILE_STRING] = { "string_table", JPP_KIND_TEXTS, 0, 0 },
        [JPP_PROFILE_TIME] = { "time_nanos", JPP_KIND_INT, 0, 0 },
        [JPP_PROFILE_DURATION] = { "duration_nanos", JPP_KIND_INT, 0, 0 },
        [JPP_PROFILE_PERIOD_TYPE] =
            { "period_type", JPP_KIND_MESSAGE, 0, JPP_MESSAGE_VALUE_TYPE },
        [JPP_PROFILE_PERIOD] = { "period", JPP_KIND_INT, 0, 0 },
        [JPP_PROFILE_COMMENT] =
            { "comment", JPP_KIND_INTS, JPP_PROFILE_STRING, 0 },
        [JPP_PROFILE_DEFAULT] =
            { "default_sample_type", JPP_KIND_INT, JPP_PROFILE_STRING, 0 }
    },
    [JPP_MESSAGE_VALUE_TYPE] = {
        [JPP_VALUE_TYPE_TYPE] =
            { "type", JPP_KIND_INT, JPP_PROFILE_STRING, 0 },
        [JPP_VALUE_TYPE_UNIT] =
            { "unit", JPP_KIND_INT, JPP_PROFILE_STRING, 0 }
    },
    [JPP_MESSAGE_SAMPLE] = {
        [JPP_SAMPLE_LOCATION] =
            { "location_id", JPP_KIND_INTS, JPP_PROFILE_LOCATION, 0 },
        [JPP_SAMPLE_VALUE] = { "value", JPP_KIND_INTS, 0, 0 },
        [JPP_SAMPLE_LABEL] =
            { "label", JPP_KIND_MESSAGES, 0, JPP_MESSAGE_LABEL }
    },
    [JPP_MESSAGE_LABEL] = {
        [JPP_LABEL_KEY] = { "key", JPP_KIND_INT, JPP_PROFILE_STRING, 0 },
        [JPP_LABEL_STR] = { "str", JPP_KIND_INT, JPP_PROFILE_STRING, 0 },
        [JPP_LABEL_NUM] = { "num", JPP_KIND_INT, 0, 0 },
        [JPP_LABEL_UNIT] = { "num_unit", JPP_KIND_INT, JPP_PROFILE_STRING, 0 }
    },
    [JPP_MESSAGE_MAPPING] = {
        [JPP_ID] = { "id", JPP_KIND_INT, 0, 0 },
        [JPP_MAPPING_START] = { "memory_start", JPP_KIND_INT, 0, 0 },
        [JPP_MAPPING_LIMIT] = { "memory_limit", JPP_KIND_INT, 0, 0 },
        [JPP_MAPPING_OFFSET] = { "file_offset", JPP_KIND_INT, 0, 0 },
        [JPP_MAPPING_FILENAME] =
            { "filename", JPP_KIND_INT, JPP_PROFILE_STRING, 0 },
        [JPP_MAPPING_BUILD_ID] =
            { "build_id", JPP_KIND_INT, JPP_PROFILE_STRING, 0 },
        [JPP_MAPPING_HAS_FUNCTIONS] = { "has_functions", JPP_KIND_INT, 0, 0 }
    },
    [JPP_MESSAGE_LOCATION] = {
        [JPP_ID] = { "id", JPP_KIND_INT, 0, 0 },
        [JPP_LOCATION_MAPPING] =
            { "mapping_id", JPP_KIND_INT, JPP_PROFILE_MAPPING, 0 },
        [JPP_LOCATION_ADDRESS] = { "address", JPP_KIND_INT, 0, 0 },
        [JPP_LOCATION_LINE] =
            { "line", JPP_KIND_MESSAGES, 0, JPP_MESSAGE_LINE }
    },
    [JPP_MESSAGE_LINE] = {
        [JPP_LINE_FUNCTION] =
            { "function_id", JPP_KIND_INT, JPP_PROFILE_FUNCTION, 0 }
    },
    [JPP_MESSAGE_FUNCTION] = {
        [JPP_ID] = { "id", JPP_KIND_INT, 0, 0 },
        [JPP_FUNCTION_NAME] = { "name", JPP_KIND_INT, JPP_PROFILE_STRING, 0 },
        [JPP_FUNCTION_SYSTEM_NAME] =
            { "system_name", JPP_KIND_INT, JPP_PROFILE_STRING, 0 },
        [JPP_FUNCTION_FILENAME] =
            { "filename", JPP_KIND_INT, JPP_PROFILE_STRING, 0 }
    }
};


bool
jpp_contract_no(jpp_contract_t *c, const char *fmt, ...)
{
    va_list  args;

    if (c->n++ >= JPP_CONTRACT_SHOWN || c->complaints == NULL) {
        return false;
    }

    if (c->what != NULL) {
        fprintf(c->complaints, "%s %llu: ", c->what, c->ordinal);
    }

    va_start(args, fmt);
    vfprintf(c->complaints, fmt, args);
    va_end(args);

    fputc('\n', c->complaints);

    return false;
}


void *
jpp_contract_alloc(jpp_contract_t *c, size_t size)
{
    jpp_chunk_t  *chunk;

    chunk = calloc(1, sizeof(jpp_chunk_t) + size);

    if (chunk == NULL) {
        perror("jpp_contract");
        exit(2);
    }

    chunk->next = c->chunks;
    c->chunks = chunk;

    return chunk + 1;
}


/*
 * What does not start as gzip does is taken for raw protobuf.  The last four
 * bytes of a member are its size unpacked, so one call does; no deflate
 * stream unpacks to more than 1032 times its size.
 */

static bool
jpp_contract_gunzip(jpp_contract_t *c, const uint8_t **data, size_t *len)
{
    int             rc;
    size_t          size;
    z_stream        zs = { 0 };
    const uint8_t  *end;

    if (*len < 2 || (*data)[0] != 0x1f || (*data)[1] != 0x8b) {
        return true;
    }

    if (*len < 18 || inflateInit2(&zs, 15 + 16) != Z_OK) {
        return jpp_contract_no(c, "gzip: the data is cut");
    }

    end = *data + *len;
    size = end[-4] | end[-3] << 8 | end[-2] << 16 | (size_t) end[-1] << 24;
    size = size < *len * 1032 ? size : *len * 1032;

    zs.next_in = (Bytef *) (uintptr_t) *data;
    zs.avail_in = (uInt) *len;
    zs.next_out = jpp_contract_alloc(c, size + 1);
    zs.avail_out = (uInt) size + 1;

    *data = zs.next_out;

    rc = inflate(&zs, Z_FINISH);
    *len = zs.total_out;

    (void) inflateEnd(&zs);

    if (rc != Z_STREAM_END || zs.avail_in != 0) {
        return jpp_contract_no(c, "gzip: the data is not one whole member");
    }

    return true;
}


static jpp_value_t *
jpp_contract_message(jpp_contract_t *c, jpp_message_t type, jpp_num_t ordinal)
{
    size_t        n;
    jpp_value_t  *message;

    /* no larger than it must be: there are millions of labels */

    for (n = JPP_PROFILE_FIELDS;
         jpp_contract_fields[type][n - 1].kind == JPP_KIND_NONE;
         n--)
    { /* void */ }

    message = jpp_contract_alloc(c, n * sizeof(jpp_value_t));
    message[0].num = ordinal;

    return message;
}


static bool
jpp_contract_varint(const uint8_t **pos, const uint8_t *end, jpp_num_t *value)
{
    unsigned  shift;

    *value = 0;

    for (shift = 0; *pos < end && shift < 64; shift += 7) {

        if (shift == 63 && **pos > 1) {
            return false;
        }

        *value |= (jpp_num_t) (**pos & 0x7f) << shift;

        if (*(*pos)++ < 0x80) {
            return true;
        }
    }

    return false;
}


/* A list is full at 0, 1, 2, 4, 8 ... items. */

static void *
jpp_contract_push(jpp_contract_t *c, jpp_value_t *list, size_t size)
{
    void  *items;

    if ((list->num & (list->num - 1)) == 0) {
        items = jpp_contract_alloc(c, size * (list->num + 1) * 2);

        if (list->num != 0) {
            memcpy(items, list->items, size * list->num);
        }

        list->items = items;
    }

    return (char *) list->items + size * list->num++;
}


static bool
jpp_contract_number(jpp_contract_t *c, jpp_message_t type,
    const jpp_field_t *field, jpp_value_t *value, jpp_num_t n)
{
    if (field->kind == JPP_KIND_INTS) {
        *(jpp_num_t *) jpp_contract_push(c, value, sizeof(jpp_num_t)) = n;
        return true;
    }

    if (field->kind != JPP_KIND_INT || value->seen) {
        return jpp_contract_no(c, "wire: %s of a %s is %s", field->name,
                               jpp_contract_names[type],
                               value->seen ? "there twice" : "a number");
    }

    value->seen = true;
    value->num = n;

    return true;
}


static bool
jpp_contract_bytes(jpp_contract_t *c, jpp_message_t type,
    const jpp_field_t *field, jpp_value_t *value, const uint8_t *data,
    size_t len)
{
    jpp_num_t        n;
    jpp_text_t      *text;
    jpp_value_t     *message;
    const uint8_t   *end;

    end = data + len;

    switch (field->kind) {

    case JPP_KIND_INTS:

        while (data < end) {

            if (!jpp_contract_varint(&data, end, &n)) {
                return jpp_contract_no(c, "wire: %s of a %s is cut",
                                       field->name, jpp_contract_names[type]);
            }

            *(jpp_num_t *) jpp_contract_push(c, value, sizeof(jpp_num_t)) = n;
        }

        return true;

    case JPP_KIND_TEXTS:
        text = jpp_contract_push(c, value, sizeof(jpp_text_t));
        text->data = memcpy(jpp_contract_alloc(c, len + 1), data, len);
        text->len = len;

        return true;

    case JPP_KIND_MESSAGE:
    case JPP_KIND_MESSAGES:

        if (field->kind == JPP_KIND_MESSAGE && value->num != 0) {
            return jpp_contract_no(c, "wire: %s of a %s is there twice",
                                   field->name, jpp_contract_names[type]);
        }

        message = jpp_contract_message(c, field->message, value->num + 1);

        *(jpp_value_t **) jpp_contract_push(c, value, sizeof(jpp_value_t *))
            = message;

        return jpp_contract_decode(c, field->message, message, data, end);

    case JPP_KIND_INT:
    case JPP_KIND_NONE:
        break;
    }

    return jpp_contract_no(c, "wire: %s of a %s is not a number",
                           field->name, jpp_contract_names[type]);
}


static bool
jpp_contract_decode(jpp_contract_t *c, jpp_message_t type,
    jpp_value_t *message, const uint8_t *pos, const uint8_t *end)
{
    bool                ok;
    jpp_num_t           tag, number, n;
    const jpp_field_t  *field;

    while (pos < end) {

        if (!jpp_contract_varint(&pos, end, &tag)
            || ((tag & 7) != 0 && (tag & 7) != 2)
            || !jpp_contract_varint(&pos, end, &n)
            || ((tag & 7) == 2 && n > (size_t) (end - pos)))
        {
            return jpp_contract_no(c, "wire: a %s is cut, or has a wire type "
                                   "that no field has",
                                   jpp_contract_names[type]);
        }

        number = tag >> 3;
        field = &jpp_contract_fields[type][number < JPP_PROFILE_FIELDS ? number
                                                                       : 0];
        if (field->kind == JPP_KIND_NONE) {
            ok = jpp_contract_no(c, "wire: a %s has the unknown field %llu",
                                 jpp_contract_names[type], number);

        } else if ((tag & 7) == 0) {
            ok = jpp_contract_number(c, type, field, &message[number], n);

        } else {
            ok = jpp_contract_bytes(c, type, field, &message[number], pos, n);
            pos += n;
        }

        if (!ok) {
            return false;
        }
    }

    return true;
}


/* RFC 3629: no overlong form, no surrogate, nothing above U+10FFFF. */

static bool
jpp_contract_is_clean(const uint8_t *p, size_t len)
{
    size_t           i, more;
    uint32_t         u;
    const uint8_t   *end;

    static const uint32_t  lowest[] = { 0x20, 0x80, 0x800, 0x10000 };

    for (end = p + len; p < end; p += more + 1) {

        more = *p < 0x80 ? 0 : *p < 0xe0 ? 1 : *p < 0xf0 ? 2 : 3;

        if ((*p >= 0x80 && *p < 0xc0) || *p >= 0xf8
            || more >= (size_t) (end - p))
        {
            return false;
        }

        u = more == 0 ? *p : *p & (0x3fu >> more);

        for (i = 1; i <= more; i++) {

            if ((p[i] & 0xc0) != 0x80) {
                return false;
            }

            u = u << 6 | (p[i] & 0x3f);
        }

        if (u < lowest[more] || u == 0x7f || u > 0x10ffff
            || (u >= 0xd800 && u < 0xe000))
        {
            return false;
        }
    }

    return true;
}


static void
jpp_contract_strings(jpp_contract_t *c)
{
    jpp_num_t    i, n;
    jpp_text_t  *texts;

    n = c->profile[JPP_PROFILE_STRING].num;
    texts = c->profile[JPP_PROFILE_STRING].items;

    if (n == 0 || texts[0].len != 0) {
        jpp_contract_no(c, "string_table[0] is not \"\"");
    }

    for (i = 0; i < n; i++) {
        if (!jpp_contract_is_clean((const uint8_t *) texts[i].data,
                                   texts[i].len))
        {
            jpp_contract_no(c, "string_table[%llu] is not UTF-8, or has "
                            "control bytes", i);
        }
    }
}


static void
jpp_contract_ids(jpp_contract_t *c)
{
    unsigned      field;
    jpp_num_t     i;
    jpp_value_t  *message;

    for (field = JPP_PROFILE_MAPPING; field <= JPP_PROFILE_FUNCTION; field++) {

        for (i = 0; i < c->profile[field].num; i++) {
            message = jpp_contract_item(c->profile, field, i);

            if (message[JPP_ID].num != i + 1) {
                jpp_contract_no(c, "%s %llu: its id is %llu",
                                jpp_contract_fields[0][field].name, i + 1,
                                message[JPP_ID].num);
            }
        }
    }
}


/* 0 is the first string, may say "no mapping", and is nothing else. */

static void
jpp_contract_ref(jpp_contract_t *c, jpp_message_t type,
    const jpp_field_t *field, jpp_value_t *message, jpp_value_t *value)
{
    jpp_num_t     from, to;
    jpp_value_t  *list;

    list = &c->profile[field->target];

    from = field->target == JPP_PROFILE_LOCATION
           || field->target == JPP_PROFILE_FUNCTION;
    to = list->num - (field->target == JPP_PROFILE_STRING);

    if (value->num < from || value->num > to) {
        jpp_contract_no(c, "%s %llu: %s is %lld, and there are %llu..%llu",
                        jpp_contract_names[type], message[0].num, field->name,
                        (long long) value->num, from, to);

    } else if (field->target == JPP_PROFILE_STRING) {
        value->str = ((jpp_text_t *) list->items)[value->num].data;

    } else if (value->num != 0) {
        value->items = jpp_contract_item(c->profile, field->target,
                                         value->num - 1);
    }
}


/* Look up all that MESSAGE, and what is below it, refers to. */

static void
jpp_contract_refs(jpp_contract_t *c, jpp_message_t type, jpp_value_t *message)
{
    size_t              k;
    jpp_num_t           i;
    jpp_value_t         one;
    const jpp_field_t  *field;

    for (k = 1; k < JPP_PROFILE_FIELDS; k++) {

        field = &jpp_contract_fields[type][k];

        if (field->kind == JPP_KIND_INT && field->target != 0) {
            jpp_contract_ref(c, type, field, message, &message[k]);
            continue;
        }

        if (field->message == 0 && field->target == 0) {
            continue;
        }

        for (i = 0; i < message[k].num; i++) {

            if (field->message != 0) {
                jpp_contract_refs(c, field->message,
                                  jpp_contract_item(message, k, i));
                continue;
            }

            one.num = jpp_contract_num(message, k, i);
            jpp_contract_ref(c, type, field, message, &one);
        }
    }
}


void
jpp_contract_read(jpp_contract_t *c, const uint8_t *data, size_t len)
{
    c->profile = jpp_contract_message(c, JPP_MESSAGE_PROFILE, 1);

    if (jpp_contract_gunzip(c, &data, &len)) {
        (void) jpp_contract_decode(c, JPP_MESSAGE_PROFILE, c->profile,
                                   data, data + len);
    }

    /* what refers is only worth a look where what is referred to is right */

    if (c->n == 0) {
        jpp_contract_strings(c);
        jpp_contract_ids(c);
    }

    if (c->n == 0) {
        jpp_contract_refs(c, JPP_MESSAGE_PROFILE, c->profile);
    }
}


void
jpp_contract_free(jpp_contract_t *c)
{
    jpp_chunk_t  *chunk;

    while (c->chunks != NULL) {
        chunk = c->chunks;
        c->chunks = chunk->next;
        free(chunk);
    }
}


/*
 * The objects that a profile's samples refer to, each stored once: strings,
 * comments, mappings, locations, functions and label sets.
 */


#include "jpp_profile.h"


#define JPP_COMMENT      1280

/* more than a profile can have functions */
#define JPP_FRAMES_SIZE  ((uint64_t) 1 << 32)


static void
jpp_utf8_clean(uint8_t *p, size_t len)
{
    size_t  n;

    while (len != 0) {
        n = jpp_utf8_len(p, len);

        if (n == 0) {
            *p = '?';
            n = 1;
        }

        p += n;
        len -= n;
    }
}


uint32_t
jpp_profile_string(jpp_profile_t *profile, const char *data, size_t len)
{
    char       *copy;
    uint32_t    id, hash, pos;
    jpp_str_t  *str;

    if (len == 0) {
        return 0;
    }

    /*
     * The search is for the cleaned string, and cleaning needs a copy, which
     * is wasted if the string is known.  That is rare, because callers intern
     * a thing once.
     */

    copy = jpp_arena_strndup(profile->arena, data, len);
    if (copy == NULL) {
        return 0;
    }

    jpp_utf8_clean((uint8_t *) copy, len);

    hash = jpp_hash_bytes(copy, len);
    pos = hash;

    while ((id = jpp_index_next(&profile->string_index, hash, &pos)) != 0) {

        str = &jpp_vec_items(profile->strings, jpp_str_t)[id];

        if (str->len == len && memcmp(str->data, copy, len) == 0) {
            return id;
        }
    }

    id = (uint32_t) jpp_vec_count(profile->strings, jpp_str_t);

    str = jpp_vec_push(profile->strings, sizeof(jpp_str_t));

    if (str == NULL || !jpp_index_add(&profile->string_index, hash, id)) {
        return 0;
    }

    str->data = copy;
    str->len = len;

    return id;
}


jpp_str_t
jpp_profile_str(const jpp_profile_t *profile, uint32_t id)
{
    return jpp_vec_items(profile->strings, jpp_str_t)[id];
}


jpp_str_t
jpp_profile_function_name(const jpp_profile_t *profile, uint32_t id)
{
    return jpp_profile_str(profile, jpp_profile_function_at(profile, id)->name);
}


jpp_str_t
jpp_profile_location_name(const jpp_profile_t *profile, uint32_t id)
{
    return jpp_profile_function_name(profile,
                              jpp_profile_location_at(profile, id)->function);
}


void
jpp_profile_comment(jpp_profile_t *profile, const char *fmt, ...)
{
    int        len;
    char       text[JPP_COMMENT];
    va_list    args;
    uint32_t   id, *comment;

    va_start(args, fmt);
    len = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);

    if (len <= 0) {
        return;
    }

    id = jpp_profile_string(profile, text, strlen(text));

    jpp_vec_each(comment, profile->comments) {
        if (*comment == id) {
            return;
        }
    }

    comment = jpp_vec_push(profile->comments, sizeof(uint32_t));

    if (comment != NULL) {
        *comment = id;
    }

    profile->is_mute |= comment == NULL || id == 0;
}


const char *
jpp_profile_comment_at(const jpp_profile_t *profile, size_t i)
{
    return i < jpp_vec_count(profile->comments, uint32_t)
           ? jpp_profile_str(profile, jpp_vec_items(profile->comments,
                                                    uint32_t)[i]).data
           : NULL;
}


static bool
jpp_profile_mapping_equal(const jpp_mapping_t *a, const jpp_mapping_t *b)
{
    /* mappings without a file differ only by their address */

    if (a->inode == 0 && a->start != b->start) {
        return false;
    }

    return a->offset == b->offset
           && a->limit - a->start == b->limit - b->start
           && a->inode == b->inode
           && a->device == b->device
           && a->build_id == b->build_id
           && strcmp(a->path, b->path) == 0;
}


uint32_t
jpp_profile_mapping(jpp_profile_t *profile, const jpp_mapping_t *mapping,
    const char *shown)
{
    uint32_t        id, hash, pos, file;
    jpp_mapping_t  *m;

    file = jpp_profile_string(profile, shown, strlen(shown));

    if (file == 0 && shown[0] != '\0') {
        return 0;
    }

    hash = (uint32_t) jpp_hash_u64(mapping->offset + mapping->inode
                                   + ((uint64_t) file << 32));
    pos = hash;

    while ((id = jpp_index_next(&profile->mapping_index, hash, &pos)) != 0) {

        m = jpp_profile_mapping_at(profile, id);

        /* its file may have been deleted between two dumps */

        if (jpp_profile_mapping_equal(m, mapping)) {
            m->deleted |= mapping->deleted;
            return id;
        }
    }

    m = jpp_vec_push(profile->mappings, sizeof(jpp_mapping_t));
    if (m == NULL) {
        return 0;
    }

    id = (uint32_t) jpp_vec_count(profile->mappings, jpp_mapping_t);

    *m = *mapping;
    m->file = file;

    return jpp_index_add(&profile->mapping_index, hash, id) ? id : 0;
}


uint32_t
jpp_profile_frames(jpp_profile_t *profile, uint64_t start, const char *name)
{
    jpp_mapping_t  mapping;

    memset(&mapping, 0, sizeof(jpp_mapping_t));

    mapping.start = start;
    mapping.limit = start + JPP_FRAMES_SIZE;
    mapping.path = name;
    mapping.has_functions = true;

    return jpp_profile_mapping(profile, &mapping, name);
}


uint32_t
jpp_profile_location(jpp_profile_t *profile, uint32_t mapping,
    uint64_t address)
{
    const jpp_location_t  location = { address, mapping, 0 };

    return jpp_index_intern(&profile->location_index, profile->locations,
                            &location, sizeof(jpp_location_t),
                            offsetof(jpp_location_t, function));
}


/* What tells such locations apart stands where others have their address. */

uint32_t
jpp_profile_frame(jpp_profile_t *profile, uint32_t mapping, const char *name,
    size_t len)
{
    uint32_t  id, string, function;
    uint64_t  start;

    start = mapping != 0 ? jpp_profile_mapping_at(profile, mapping)->start : 0;
    string = jpp_profile_string(profile, name, len);

    function = string != 0
               ? jpp_profile_function(profile, mapping, string, string) : 0;

    id = function != 0
         ? jpp_profile_location(profile, mapping, start + function) : 0;

    if (id != 0) {
        jpp_profile_location_at(profile, id)->function = function;
    }

    return id;
}


uint32_t
jpp_profile_function(jpp_profile_t *profile, uint32_t mapping, uint32_t name,
    uint32_t system_name)
{
    const jpp_function_t  function = { name, mapping, system_name, 0 };

    return jpp_index_intern(&profile->function_index, profile->functions,
                            &function, sizeof(jpp_function_t),
                            offsetof(jpp_function_t, system_name));
}


static bool
jpp_profile_label(jpp_profile_t *profile, const jpp_label_t *from,
    jpp_profile_label_t *label)
{
    label->key = jpp_profile_string(profile, from->key, strlen(from->key));

    if (label->key == 0) {
        return false;
    }

    if (from->str != NULL) {
        label->str = jpp_profile_string(profile, from->str, strlen(from->str));

        return label->str != 0;
    }

    label->num = from->num;

    if (from->unit != NULL) {
        label->unit = jpp_profile_string(profile, from->unit,
                                         strlen(from->unit));

        return label->unit != 0;
    }

    return true;
}


bool
jpp_profile_labels(jpp_profile_t *profile, uint32_t from, uint64_t part,
    const jpp_label_t *labels, size_t n, uint32_t *set)
{
    size_t           i;
    uint32_t         id;
    jpp_label_set_t  wanted;

    wanted = jpp_vec_items(profile->label_sets, jpp_label_set_t)[from];
    wanted.part |= part;

    for (i = 0; i < n && wanted.n < JPP_MAX_LABELS; i++) {

        if (labels[i].str != NULL && labels[i].str[0] == '\0') {
            continue;
        }

        if (!jpp_profile_label(profile, &labels[i],
                               &wanted.labels[wanted.n++]))
        {
            return false;
        }
    }

    id = jpp_index_intern(&profile->label_index, profile->label_sets, &wanted,
                          sizeof(jpp_label_set_t), sizeof(jpp_label_set_t));

    *set = id - 1;

    return id != 0;
}


uint32_t
jpp_profile_labelled(const jpp_profile_t *profile, const jpp_label_set_t *set,
    const char *key)
{
    const jpp_profile_label_t  *label;

    jpp_each(label, set->labels, set->n) {
        if (strcmp(jpp_profile_str(profile, label->key).data, key) == 0) {
            return label->str;
        }
    }

    return 0;
}

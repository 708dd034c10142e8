
#include "jpp_profile.h"


#define JPP_EXPECT_LOCATIONS  8192


bool
jpp_profile_columns(const jpp_profile_t *profile, jpp_vec_t **columns,
    uint32_t from)
{
    uint32_t  i;

    for (i = from; i < profile->n_columns; i++) {
        columns[i] = jpp_vec_create(profile->arena);

        if (columns[i] == NULL) {
            return false;
        }
    }

    return true;
}


bool
jpp_profile_init(jpp_profile_t *profile, jpp_arena_t *arena,
    const jpp_value_type_t *types, uint32_t n_types)
{
    uint32_t     i;
    jpp_str_t   *empty;
    jpp_vec_t  **vecs[] = {
        &profile->mappings, &profile->locations, &profile->functions,
        &profile->label_sets, &profile->comments, &profile->strings,
        &profile->stacks, &profile->offsets, NULL
    };

    static const jpp_label_set_t  none;

    memset(profile, 0, sizeof(jpp_profile_t));

    profile->arena = arena;
    profile->types = types;
    profile->n_types = n_types;
    profile->n_columns = n_types;
    profile->n_expected = 1;

    for (i = 0; vecs[i] != NULL; i++) {
        *vecs[i] = jpp_vec_create(arena);
        if (*vecs[i] == NULL) {
            return false;
        }
    }

    for (i = 0; i < n_types; i++) {
        profile->n_counts = (uint32_t) jpp_larger(profile->n_counts,
                                                  types[i].count + 1);
    }

    jpp_index_init(&profile->mapping_index, arena);
    jpp_index_init(&profile->location_index, arena);
    jpp_index_init(&profile->function_index, arena);
    jpp_index_init(&profile->string_index, arena);
    jpp_index_init(&profile->label_index, arena);
    jpp_index_init(&profile->stack_index, arena);

    if (!jpp_profile_columns(profile, profile->columns, 0)) {
        return false;
    }

    empty = jpp_vec_push(profile->strings, sizeof(jpp_str_t));
    if (empty == NULL) {
        return false;
    }

    empty->data = "";

    return jpp_index_intern(&profile->label_index, profile->label_sets, &none,
                            sizeof(jpp_label_set_t), sizeof(jpp_label_set_t))
           != 0
           && jpp_vec_push(profile->offsets, sizeof(uint32_t)) != NULL;
}


bool
jpp_profile_count(jpp_profile_t *profile)
{
    profile->n_columns = jpp_profile_seen(profile, profile->n_counts);

    return jpp_profile_columns(profile, profile->columns, profile->n_types);
}


bool
jpp_profile_expect(jpp_profile_t *profile, size_t n_samples, size_t bytes)
{
    size_t  n_locations;

    /* a column that is a little too short would be copied, so reserve more */

    profile->n_expected = profile->n_samples + n_samples + n_samples / 4 + 1;

    /* many stacks share few locations */

    n_locations = jpp_smaller(n_samples / 2, JPP_EXPECT_LOCATIONS);

    return jpp_index_expect(&profile->stack_index,
                            profile->n_samples + n_samples)
           && jpp_index_expect(&profile->location_index,
                               profile->location_index.n + n_locations)
           && jpp_vec_reserve(profile->locations,
                              (n_locations + 1) * sizeof(jpp_location_t))
              != NULL
           && jpp_vec_reserve(profile->offsets,
                              profile->n_expected * sizeof(uint32_t)) != NULL
           && jpp_vec_reserve(profile->stacks, bytes + 1) != NULL;
}


uint8_t *
jpp_profile_begin(jpp_profile_t *profile, uint32_t set, uint32_t depth)
{
    uint8_t  *pos;

    if (profile->stacks->len >= JPP_MAX_STACK_BYTES) {
        return NULL;
    }

    pos = jpp_vec_reserve(profile->stacks,
                          ((size_t) depth + 1) * JPP_VARINT_MAX);

    return pos == NULL ? NULL : jpp_profile_push(pos, set);
}


void
jpp_profile_end(jpp_profile_t *profile, const uint8_t *pos)
{
    uint8_t  *stack;

    stack = profile->stacks->data + profile->stacks->len;

    profile->stack_len = (size_t) (pos - stack);
    profile->stack_hash = jpp_hash_bytes(stack, profile->stack_len);

    jpp_index_prefetch(&profile->stack_index, profile->stack_hash);
}


bool
jpp_profile_stack(jpp_profile_t *profile, uint32_t set, const uint32_t *ids,
    uint32_t n)
{
    uint8_t   *pos;
    uint32_t   i;

    pos = jpp_profile_begin(profile, set, n);

    for (i = 0; pos != NULL && i < n; i++) {
        pos = ids[i] != 0 ? jpp_profile_push(pos, ids[i]) : NULL;
    }

    if (pos != NULL) {
        jpp_profile_end(profile, pos);
    }

    return pos != NULL;
}


uint32_t
jpp_profile_find(const jpp_profile_t *profile)
{
    uint32_t         id, hash, pos;
    const uint8_t   *stack;
    const uint32_t  *offsets;

    stack = profile->stacks->data + profile->stacks->len;
    offsets = jpp_vec_items(profile->offsets, uint32_t);
    hash = profile->stack_hash;
    pos = hash;

    while ((id = jpp_index_next(&profile->stack_index, hash, &pos)) != 0) {

        if (offsets[id] - offsets[id - 1] == profile->stack_len
            && memcmp(profile->stacks->data + offsets[id - 1], stack,
                      profile->stack_len)
               == 0)
        {
            break;
        }
    }

    return id;
}


/* The stack becomes a sample: its id, from 1 on; 0: no memory. */

static uint32_t
jpp_profile_new(jpp_profile_t *profile)
{
    uint32_t  *offset;

    offset = jpp_vec_push(profile->offsets, sizeof(uint32_t));
    if (offset == NULL) {
        return 0;
    }

    profile->stacks->len += profile->stack_len;
    *offset = (uint32_t) profile->stacks->len;

    profile->n_samples++;

    return jpp_index_add(&profile->stack_index, profile->stack_hash,
                         profile->n_samples) ? profile->n_samples : 0;
}


static bool
jpp_profile_add_values(jpp_profile_t *profile, jpp_vec_t *const *columns,
    uint32_t i, const int64_t *values)
{
    size_t      size;
    int64_t    *value;
    uint32_t    t;
    jpp_vec_t  *column;

    size = ((size_t) i + 1) * sizeof(int64_t);

    for (t = 0; t < profile->n_columns; t++) {

        if (values[t] == 0) {
            continue;
        }

        column = columns[t];

        if (column->size == 0
            && jpp_vec_reserve(column, profile->n_expected * sizeof(int64_t))
               == NULL)
        {
            return false;
        }

        /* what is skipped here is zero already */

        if (column->len < size
            && jpp_vec_push(column, size - column->len) == NULL)
        {
            return false;
        }

        value = &jpp_vec_items(column, int64_t)[i];
        *value = jpp_add_i64(*value, values[t]);
    }

    return true;
}


bool
jpp_profile_commit(jpp_profile_t *profile, jpp_vec_t *const *columns,
    const int64_t *values)
{
    uint32_t  id;

    id = jpp_profile_find(profile);

    if (id == 0) {
        id = jpp_profile_new(profile);
    }

    return id != 0
           && jpp_profile_add_values(profile, columns != NULL
                                              ? columns : profile->columns,
                                     id - 1, values);
}


bool
jpp_profile_append(jpp_profile_t *profile, const int64_t *values)
{
    uint32_t  id;

    id = jpp_profile_new(profile);

    return id != 0 && jpp_profile_add_values(profile, profile->columns, id - 1,
                                             values);
}


void
jpp_profile_sample(const jpp_profile_t *profile, uint32_t i,
    jpp_sample_t *sample)
{
    uint32_t         t, set;
    const uint32_t  *offsets;
    const uint8_t   *stack;

    offsets = jpp_vec_items(profile->offsets, uint32_t);

    stack = jpp_stack_next(profile->stacks->data + offsets[i], &set);

    sample->labels = &jpp_vec_items(profile->label_sets, jpp_label_set_t)[set];
    sample->stack = stack;
    sample->stack_len = (size_t) (profile->stacks->data + offsets[i + 1]
                                  - stack);

    for (t = 0; t < JPP_MAX_TYPES; t++) {
        sample->values[t] = t < profile->n_types
                            ? jpp_profile_value(profile->columns[t], i) : 0;
    }
}


bool
jpp_sample_is_zero(const jpp_sample_t *sample)
{
    int64_t   any;
    uint32_t  t;

    any = 0;

    for (t = 0; t < JPP_MAX_TYPES; t++) {
        any |= sample->values[t];
    }

    return any == 0;
}


uint32_t
jpp_profile_types(const jpp_profile_t *profile, uint32_t shown[JPP_MAX_TYPES])
{
    uint32_t  t, n;

    n = 0;

    for (t = 0; t < profile->n_types; t++) {
        if (!profile->types[t].optional || profile->columns[t]->len != 0) {
            shown[n++] = t;
        }
    }

    return n;
}

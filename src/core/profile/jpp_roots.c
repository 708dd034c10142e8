
/* Finds the owners of a profile's samples, by their labels. */


#include "jpp_profile.h"


/* the frames are those of a mapping that nobody has loaded */
#define JPP_ROOTS_START    ((uint64_t) 0xfff << 44)
#define JPP_ROOTS_MAPPING  "[owners]"


/* the frames of a label set, as they are stored: innermost first */
typedef struct {
    uint8_t    frames[JPP_ROOTS * JPP_VARINT_MAX];
    size_t     len;
} jpp_roots_set_t;


const char *const  jpp_root_keys[JPP_ROOTS] = {
    [JPP_ROOT_SERVER] = "server",
    [JPP_ROOT_LOCATION] = "location",
    [JPP_ROOT_UPSTREAM] = "upstream"
};


/*
 * A location may have no upstream, but what has no server is not known; unless
 * it is the master's, which serves nobody.
 */

const jpp_str_t  jpp_roots_none[JPP_ROOTS] = {
    [JPP_ROOT_SERVER] = { "(unknown)", 9 },
    [JPP_ROOT_LOCATION] = { "(unknown)", 9 },
    [JPP_ROOT_UPSTREAM] = { "(none)", 6 }
};

static const jpp_str_t  jpp_roots_inherited[JPP_ROOTS] = {
    [JPP_ROOT_SERVER] = { "(inherited)", 11 },
    [JPP_ROOT_LOCATION] = { "(inherited)", 11 },
    [JPP_ROOT_UPSTREAM] = { "(none)", 6 }
};


/* by BY; an upstream is the same for all locations, as in requests */

const bool  jpp_roots_by[JPP_BY_UPSTREAM + 1][JPP_ROOTS] = {
    [JPP_BY_SERVER] = { [JPP_ROOT_SERVER] = true },
    [JPP_BY_LOCATION] = { [JPP_ROOT_SERVER] = true,
                          [JPP_ROOT_LOCATION] = true },
    [JPP_BY_UPSTREAM] = { [JPP_ROOT_UPSTREAM] = true }
};


bool
jpp_roots_allow(jpp_by_t by)
{
    return jpp_roots_by[by][JPP_ROOT_SERVER]
           || jpp_roots_by[by][JPP_ROOT_UPSTREAM];
}


jpp_str_t
jpp_roots_name(const jpp_profile_t *profile, uint32_t set, jpp_root_t root)
{
    uint32_t                name, origin;
    const jpp_label_set_t  *labels;

    labels = &jpp_vec_items(profile->label_sets, jpp_label_set_t)[set];

    name = jpp_profile_labelled(profile, labels, jpp_root_keys[root]);
    origin = jpp_profile_labelled(profile, labels, "origin");

    if (name != 0) {
        return jpp_profile_str(profile, name);
    }

    return strcmp(jpp_profile_str(profile, origin).data, "master") == 0
           ? jpp_roots_inherited[root] : jpp_roots_none[root];
}


static bool
jpp_roots_set(jpp_profile_t *profile, uint32_t set, jpp_by_t by,
    jpp_roots_set_t *roots)
{
    uint8_t     *pos;
    uint32_t     root, id, mapping;
    const char  *text;

    pos = roots->frames;
    mapping = jpp_profile_frames(profile, JPP_ROOTS_START, JPP_ROOTS_MAPPING);

    if (mapping == 0) {
        return false;
    }

    for (root = JPP_ROOTS; root-- > 0; /* void */ ) {

        if (!jpp_roots_by[by][root]) {
            continue;
        }

        text = jpp_arena_printf(profile->arena, "%s %s", jpp_root_keys[root],
                                jpp_roots_name(profile, set,
                                               (jpp_root_t) root).data);

        id = text != NULL ? jpp_profile_frame(profile, mapping, text,
                                              strlen(text)) : 0;

        if (id == 0) {
            return false;
        }

        pos = jpp_profile_push(pos, id);
    }

    roots->len = (size_t) (pos - roots->frames);

    return true;
}


static bool
jpp_roots_stack(jpp_vec_t *stacks, const uint8_t *stack, size_t len,
    const jpp_roots_set_t *roots)
{
    uint8_t  *pos;

    if (stacks->len + len + roots->len > JPP_MAX_STACK_BYTES) {
        return false;
    }

    pos = jpp_vec_push(stacks, len + roots->len);

    if (pos == NULL) {
        return false;
    }

    memcpy(pos, stack, len);
    memcpy(pos + len, roots->frames, roots->len);

    return true;
}


/* Stacks of other names were other samples before: none become the same. */

bool
jpp_roots_add(jpp_profile_t *profile, jpp_by_t by)
{
    uint32_t          i, set, from, len, *offsets;
    jpp_vec_t        *stacks;
    jpp_roots_set_t  *sets;

    offsets = jpp_vec_items(profile->offsets, uint32_t);
    stacks = jpp_vec_create(profile->arena);
    sets = jpp_arena_alloc(profile->arena,
                           jpp_vec_count(profile->label_sets, jpp_label_set_t)
                           * sizeof(jpp_roots_set_t));

    if (stacks == NULL || sets == NULL
        || jpp_vec_reserve(stacks, profile->stacks->len + 1) == NULL)
    {
        return false;
    }

    from = 0;

    jpp_profile_each(i, profile) {

        (void) jpp_stack_next(profile->stacks->data + from, &set);

        len = offsets[i + 1] - from;

        if ((sets[set].len == 0
             && !jpp_roots_set(profile, set, by, &sets[set]))
            || !jpp_roots_stack(stacks, profile->stacks->data + from, len,
                                &sets[set]))
        {
            return false;
        }

        from += len;
        offsets[i + 1] = (uint32_t) stacks->len;
    }

    jpp_vec_release(profile->stacks);
    profile->stacks = stacks;

    return true;
}

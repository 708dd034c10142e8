
#include "jpp_owner_labels.h"
#include "jpp_pools_table.h"


/* and the place of its block */
#define JPP_OWNER_KEYS  (JPP_ROOTS + 1)


typedef struct {
    jpp_str_t             names[JPP_OWNER_KEYS];

    uint32_t              from;          /* the set, and the one that it led */
    uint32_t              set;           /*   to; 0: none so far */
} jpp_owner_entry_t;


struct jpp_owner_labels_s {
    uint32_t              n;
    jpp_owner_entry_t     owners[JPP_OWNERS_MAX];
};


bool
jpp_owner_labels_add(jpp_owner_labels_t **owners, jpp_arena_t *arena,
    const char *names, const char *last)
{
    uint32_t            i;
    const char         *tab;
    jpp_owner_entry_t   entry;

    memset(&entry, 0, sizeof(jpp_owner_entry_t));

    for (i = 0; i < JPP_OWNER_KEYS && names <= last; i++) {
        tab = memchr(names, '\t', (size_t) (last - names));
        tab = tab != NULL ? tab : last;

        entry.names[i].data = names;
        entry.names[i].len = (size_t) (tab - names);

        names = tab + 1;
    }

    if (i <= JPP_ROOT_LOCATION || names <= last
        || jpp_owner_labels_count(*owners) == JPP_OWNERS_MAX)
    {
        return true;
    }

    if (*owners == NULL) {
        *owners = jpp_arena_alloc(arena, sizeof(jpp_owner_labels_t));

        if (*owners == NULL) {
            return false;
        }
    }

    (*owners)->owners[(*owners)->n++] = entry;

    return true;
}


uint32_t
jpp_owner_labels_count(const jpp_owner_labels_t *owners)
{
    return owners != NULL ? owners->n : 0;
}


uint32_t
jpp_owner_labels(jpp_owner_labels_t *owners, jpp_profile_t *profile,
    uint32_t owner, uint32_t from)
{
    uint32_t            i;
    jpp_label_t         labels[JPP_OWNER_KEYS];
    jpp_owner_entry_t  *entry;

    if (owner >= jpp_owner_labels_count(owners)) {
        return from;
    }

    entry = &owners->owners[owner];

    if (entry->set != 0 && entry->from == from) {
        return entry->set;
    }

    memset(labels, 0, sizeof(labels));

    for (i = 0; i < JPP_OWNER_KEYS; i++) {
        labels[i].key = i < JPP_ROOTS ? jpp_root_keys[i] : JPP_POOLS_PLACE_KEY;
        labels[i].str = jpp_arena_strndup(profile->arena, entry->names[i].data,
                                          entry->names[i].len);

        if (labels[i].str == NULL) {
            return JPP_OWNER_NO_LABELS;
        }
    }

    if (!jpp_profile_labels(profile, from, 0, labels, JPP_OWNER_KEYS,
                            &entry->set))
    {
        return JPP_OWNER_NO_LABELS;
    }

    entry->from = from;

    return entry->set;
}

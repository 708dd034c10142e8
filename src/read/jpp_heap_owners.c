
#include <string.h>

#include "jpp_heap_counts.h"
#include "jpp_heap_owners.h"
#include "jpp_intern.h"
#include "jpp_scan.h"


typedef struct {
    jpp_str_t             server;
    jpp_str_t             location;

    uint32_t              from;          /* the set, and the one that it led */
    uint32_t              set;           /*   to; 0: none so far */
} jpp_heap_owner_t;


struct jpp_heap_owners_s {
    uint32_t              n;
    jpp_heap_owner_t      owners[JPP_HEAP_OWNERS_MAX];
};


static bool jpp_heap_owner_line(jpp_heap_owner_t *owner, const char *p,
    const char *end);


jpp_code_t
jpp_heap_owners(jpp_heap_owners_t **owners, jpp_arena_t *arena, const char *p,
    const char *end)
{
    const char         *line;
    jpp_heap_owner_t    owner;

    *owners = NULL;

    for (line = memchr(p, '\n', (size_t) (end - p));
         line != NULL && ++line < end && *line == ' ';
         line = memchr(line, '\n', (size_t) (end - line)))
    {
        memset(&owner, 0, sizeof(jpp_heap_owner_t));

        if (!jpp_heap_owner_line(&owner, line, end)
            || owner.from != (*owners != NULL ? (*owners)->n : 0)
            || owner.from == JPP_HEAP_OWNERS_MAX)
        {
            continue;
        }

        if (*owners == NULL) {
            *owners = jpp_arena_alloc(arena, sizeof(jpp_heap_owners_t));

            if (*owners == NULL) {
                return JPP_ERR_MEMORY;
            }
        }

        owner.from = 0;
        (*owners)->owners[(*owners)->n++] = owner;
    }

    return JPP_OK;
}


/* OWNER's number is left in its field "from". */

static bool
jpp_heap_owner_line(jpp_heap_owner_t *owner, const char *p, const char *end)
{
    uint64_t     counts[4], uid;
    const char  *last, *tab;

    last = memchr(p, '\n', (size_t) (end - p));
    tab = jpp_scan_text(p, end, "  t");
    p = jpp_heap_thread(p, end);

    if (last == NULL || tab == NULL || p == NULL
        || jpp_scan_dec(tab, &uid) == NULL || uid > UINT16_MAX)
    {
        return false;
    }

    p = jpp_heap_counts(p, counts);
    p = p != NULL ? jpp_scan_text(p, last, " owner\t") : NULL;
    tab = p != NULL ? memchr(p, '\t', (size_t) (last - p)) : NULL;

    if (tab == NULL) {
        return false;
    }

    owner->from = (uint32_t) uid;
    owner->server.data = p;
    owner->server.len = (size_t) (tab - p);
    owner->location.data = tab + 1;
    owner->location.len = (size_t) (last - tab - 1);

    return true;
}


/* The line of totals is the next, and that of the owner the one behind it. */

uint32_t
jpp_heap_owner(const jpp_heap_owners_t *owners, const char *p,
    const char *end)
{
    unsigned  i;
    uint64_t  uid;

    if (owners == NULL) {
        return JPP_OWNER_NONE;
    }

    for (i = 0; i < 2; i++) {
        p = memchr(p, '\n', (size_t) (end - p));

        if (p == NULL || ++p == end) {
            return JPP_OWNER_NONE;
        }
    }

    p = jpp_scan_text(p, end, "  t");

    return p != NULL && jpp_scan_dec(p, &uid) != NULL && uid < owners->n
           ? (uint32_t) uid : (uint32_t) JPP_OWNER_NONE;
}


uint32_t
jpp_heap_owner_labels(jpp_heap_owners_t *owners, jpp_profile_t *profile,
    uint32_t owner, uint32_t from)
{
    uint32_t           i;
    jpp_label_t        labels[JPP_MAX_LABELS];
    jpp_label_set_t    known;
    jpp_heap_owner_t  *at;

    if (owners == NULL) {
        return from;
    }

    at = &owners->owners[owner];

    if (at->set != 0 && at->from == from) {
        return at->set;
    }

    known = jpp_vec_items(profile->label_sets, jpp_label_set_t)[from];

    for (i = 0; i < known.n && i < JPP_MAX_LABELS - 2; i++) {
        labels[i].key = jpp_profile_str(profile, known.labels[i].key).data;
        labels[i].str = known.labels[i].str != 0
                        ? jpp_profile_str(profile, known.labels[i].str).data
                        : NULL;
        labels[i].num = known.labels[i].num;
        labels[i].unit = known.labels[i].unit != 0
                         ? jpp_profile_str(profile, known.labels[i].unit).data
                         : NULL;
    }

    labels[i].key = "server";
    labels[i].str = jpp_arena_strndup(profile->arena, at->server.data,
                                      at->server.len);
    labels[i].num = 0;
    labels[i].unit = NULL;

    labels[i + 1] = labels[i];
    labels[i + 1].key = "location";
    labels[i + 1].str = jpp_arena_strndup(profile->arena, at->location.data,
                                          at->location.len);

    if (labels[i].str == NULL || labels[i + 1].str == NULL
        || !jpp_profile_part(profile, labels, i + 2, known.part, &at->set))
    {
        return JPP_HEAP_NO_LABELS;
    }

    at->from = from;

    return at->set;
}

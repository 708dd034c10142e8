
/* memmem() */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "jpp_heap_counts.h"
#include "jpp_heap_owners.h"


/* The names of the owner that the line at P is about, or NULL. */

static const char *
jpp_heap_owner_line(const char *p, const char *end, uint64_t *uid)
{
    uint64_t     counts[4];
    const char  *last, *number;

    last = memchr(p, '\n', (size_t) (end - p));
    number = jpp_scan_text(p, end, "  t");
    p = jpp_heap_thread(p, end);

    if (last == NULL || number == NULL || p == NULL
        || jpp_scan_dec(number, uid) == NULL)
    {
        return NULL;
    }

    p = jpp_heap_counts(p, counts);

    return p != NULL ? jpp_scan_text(p, last, " owner\t") : NULL;
}


jpp_code_t
jpp_heap_owners(jpp_owner_labels_t **owners, jpp_arena_t *arena, const char *p,
    const char *end)
{
    uint64_t     uid;
    const char  *line, *names;

    *owners = NULL;

    for (line = memchr(p, '\n', (size_t) (end - p));
         line != NULL && ++line < end && *line == ' ';
         line = memchr(line, '\n', (size_t) (end - line)))
    {
        names = jpp_heap_owner_line(line, end, &uid);

        if (names == NULL || uid != jpp_owner_labels_count(*owners)) {
            continue;
        }

        if (!jpp_owner_labels_add(owners, arena, names,
                                  memchr(names, '\n', (size_t) (end - names))))
        {
            return JPP_ERR_MEMORY;
        }
    }

    return JPP_OK;
}


const char *
jpp_heap_owners_find(const char *p, const char *end)
{
    const char  *owners;

    /* a line ends in front of the mappings */

    p--;
    owners = memmem(p, (size_t) (end - p), "\n" JPP_HEAP_OWNERS,
                    sizeof(JPP_HEAP_OWNERS));

    return owners != NULL ? owners + 1 : end;
}


jpp_code_t
jpp_heap_owners_read(jpp_owner_labels_t **owners, jpp_arena_t *arena,
    const char *p, const char *end)
{
    const char  *last;

    p = jpp_scan_text(p, end, JPP_HEAP_OWNERS);

    while (p != NULL && p < end) {
        last = memchr(p, '\n', (size_t) (end - p));

        if (last == NULL) {
            break;
        }

        if (!jpp_owner_labels_add(owners, arena, p, last)) {
            return JPP_ERR_MEMORY;
        }

        p = last + 1;
    }

    jpp_owner_labels_as_frames(*owners);

    return JPP_OK;
}


/*
 * The last frame says it; or, in a dump of the sampler, the line behind that of
 * the totals, which is the next.
 */

uint32_t
jpp_heap_owner(const jpp_owner_labels_t *owners, const char *p,
    const char *end)
{
    uint32_t     owner;
    uint64_t     uid;
    const char  *line;

    if (owners == NULL) {
        return JPP_OWNER_NONE;
    }

    line = memchr(p, '\n', (size_t) (end - p));

    if (line != NULL && line - p > JPP_HEAP_OWNER_LEN
        && jpp_heap_owner_is(line - JPP_HEAP_OWNER_LEN, &owner))
    {
        return owner < jpp_owner_labels_count(owners)
               ? owner : (uint32_t) JPP_OWNER_NONE;
    }

    /* there the next lines are threads of jemalloc's */

    if (jpp_owner_labels_are_frames(owners)) {
        return JPP_OWNER_NONE;
    }

    line = line != NULL && ++line != end
           ? memchr(line, '\n', (size_t) (end - line)) : NULL;

    line = line != NULL && ++line != end ? jpp_scan_text(line, end, "  t")
                                         : NULL;

    return line != NULL && jpp_scan_dec(line, &uid) != NULL
           && uid < jpp_owner_labels_count(owners)
           ? (uint32_t) uid : (uint32_t) JPP_OWNER_NONE;
}

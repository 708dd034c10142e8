
#include <string.h>

#include "jpp_extents.h"
#include "jpp_limits.h"
#include "jpp_sort.h"


/* the fields of a rank, most important first; the length takes the rest */
#define JPP_RANK_LOCAL             (1u << 31)
#define JPP_RANK_UNDERSCORE        (1u << 15)
#define JPP_RANK_WEAK              (1u << 14)
#define JPP_RANK_MAX_UNDERSCORES   255
#define JPP_RANK_MAX_LEN           (JPP_RANK_WEAK - 1)

/*
 * Names of the same rank are compared up to this length, and then by their
 * place in the string table: comparing long names to their end is quadratic in
 * a hostile file.
 */
#define JPP_EXTENT_COMPARED        64


uint32_t
jpp_extent_rank(const char *name, size_t len, bool is_local, bool is_weak)
{
    uint32_t  n, rank;

    for (n = 0; n < JPP_RANK_MAX_UNDERSCORES && name[n] == '_'; n++) {
        /* void */
    }

    rank = n * JPP_RANK_UNDERSCORE;
    rank += len < JPP_RANK_MAX_LEN ? (uint32_t) len : JPP_RANK_MAX_LEN;

    if (is_local) {
        rank += JPP_RANK_LOCAL;
    }

    if (is_weak) {
        rank += JPP_RANK_WEAK;
    }

    return rank;
}


size_t
jpp_extent_name_len(const char *name)
{
    size_t       len;
    const char  *at;

    len = strnlen(name, JPP_MAX_SYMBOL_NAME);
    at = memchr(name, '@', len);

    return at == NULL ? len : (size_t) (at - name);
}


static int
jpp_extents_compare(const void *first, const void *second, void *ctx)
{
    int                  rc;
    const char          *strings;
    const jpp_extent_t  *a, *b;

    a = first;
    b = second;

    rc = jpp_sort_order(a->start, b->start);
    rc = rc != 0 ? rc : jpp_sort_order(a->rank, b->rank);

    if (rc != 0 || a->name == b->name) {
        return rc;
    }

    strings = ctx;

    rc = strncmp(strings + a->name, strings + b->name, JPP_EXTENT_COMPARED);

    return rc != 0 ? rc : jpp_sort_order(a->name, b->name);
}


static void
jpp_extents_sort(jpp_vec_t *extents, const char *strings)
{
    size_t         i, n;
    jpp_extent_t  *extent;

    extent = jpp_vec_items(extents, jpp_extent_t);
    n = jpp_vec_count(extents, jpp_extent_t);

    /* linkers write .eh_frame in order, mostly */

    for (i = 1; i < n; i++) {
        if (jpp_extents_compare(&extent[i - 1], &extent[i],
                                (void *) (uintptr_t) strings)
            > 0)
        {
            jpp_sort(extent, n, sizeof(jpp_extent_t), jpp_extents_compare,
                     (void *) (uintptr_t) strings);
            return;
        }
    }
}


/*
 * Of the extents with one start, keeps the first, which has the best name,
 * with the largest of their ends.  Returns how many remain.
 */

static size_t
jpp_extents_unalias(jpp_extent_t *extents, size_t n)
{
    size_t  i, kept;

    kept = 0;

    for (i = 0; i < n; i++) {

        if (kept != 0 && extents[kept - 1].start == extents[i].start) {

            if (extents[kept - 1].end < extents[i].end) {
                extents[kept - 1].end = extents[i].end;
            }

            continue;
        }

        extents[kept++] = extents[i];
    }

    return kept;
}


static bool
jpp_extents_push(jpp_vec_t *pieces, const jpp_extent_t *extent, uint64_t start,
    uint64_t end)
{
    jpp_extent_t  *piece;

    if (start >= end) {
        return true;
    }

    piece = jpp_vec_push(pieces, sizeof(jpp_extent_t));
    if (piece == NULL) {
        return false;
    }

    *piece = *extent;
    piece->start = start;
    piece->end = end;

    return true;
}


/* The code between FROM and TO goes to what is OPEN there. */

static bool
jpp_extents_leave(jpp_vec_t *open, uint64_t from, uint64_t to,
    jpp_vec_t *pieces)
{
    uint64_t             end;
    const jpp_extent_t  *top;

    while (open->len != 0 && from < to) {

        top = (jpp_extent_t *) (void *) (open->data + open->len) - 1;

        if (top->end > from) {
            end = top->end < to ? top->end : to;

            if (!jpp_extents_push(pieces, top, from, end)) {
                return false;
            }

            from = end;
        }

        if (top->end > to) {
            break;
        }

        open->len -= sizeof(jpp_extent_t);
    }

    return true;
}


bool
jpp_extents_resolve(jpp_vec_t *extents, const char *strings,
    jpp_vec_t *pieces)
{
    bool           done;
    size_t         i, n;
    uint64_t       pos;
    jpp_vec_t     *open;
    jpp_extent_t  *extent, *inner;

    jpp_extents_sort(extents, strings);

    extent = jpp_vec_items(extents, jpp_extent_t);
    n = jpp_extents_unalias(extent, jpp_vec_count(extents, jpp_extent_t));

    /*
     * One walk over the starts.  Open extents are on a stack; the top, which
     * started last, owns the code.  Every extent is pushed and popped once, so
     * the depth of nesting does not matter.
     */

    open = jpp_vec_create(pieces->arena);
    if (open == NULL) {
        return false;
    }

    done = true;
    pos = 0;

    for (i = 0; i < n && done; i++) {
        done = jpp_extents_leave(open, pos, extent[i].start, pieces);
        pos = extent[i].start;

        inner = jpp_vec_push(open, sizeof(jpp_extent_t));

        if (inner == NULL) {
            done = false;
            break;
        }

        *inner = extent[i];
    }

    done = done && jpp_extents_leave(open, pos, UINT64_MAX, pieces);

    jpp_vec_release(open);

    return done;
}


bool
jpp_extents_fill(const jpp_vec_t *named, const jpp_vec_t *nameless,
    jpp_vec_t *table)
{
    size_t               i, k, n, n_nameless;
    uint64_t             pos, covered;
    const jpp_extent_t  *name, *extent;

    name = jpp_vec_items(named, jpp_extent_t);
    n = jpp_vec_count(named, jpp_extent_t);
    extent = jpp_vec_items(nameless, jpp_extent_t);
    n_nameless = jpp_vec_count(nameless, jpp_extent_t);

    i = 0;
    covered = 0;

    for (k = 0; k < n_nameless; k++, extent++) {

        pos = extent->start > covered ? extent->start : covered;

        for ( /* void */ ; i < n && name[i].start < extent->end; i++) {

            if (!jpp_extents_push(table, extent, pos, name[i].start)
                || !jpp_extents_push(table, &name[i], name[i].start,
                                     name[i].end))
            {
                return false;
            }

            covered = name[i].end;
            pos = extent->start > covered ? extent->start : covered;
        }

        if (!jpp_extents_push(table, extent, pos, extent->end)) {
            return false;
        }
    }

    for ( /* void */ ; i < n; i++) {
        if (!jpp_extents_push(table, &name[i], name[i].start, name[i].end)) {
            return false;
        }
    }

    return true;
}


bool
jpp_extents_store(const jpp_vec_t *table, const char *strings, jpp_elf_t *elf,
    jpp_arena_t *arena)
{
    char                *names;
    size_t               i, n, len, size;
    const char          *name;
    const jpp_extent_t  *piece;
    jpp_elf_function_t  *functions;

    piece = jpp_vec_items(table, jpp_extent_t);
    n = jpp_vec_count(table, jpp_extent_t);
    size = 1;

    for (i = 0; i < n; i++) {
        if (piece[i].name != 0) {
            size += jpp_extent_name_len(strings + piece[i].name) + 1;
        }
    }

    if (n > UINT32_MAX || size > UINT32_MAX) {
        return false;
    }

    functions = jpp_arena_alloc(arena, n * sizeof(jpp_elf_function_t));
    names = jpp_arena_alloc(arena, size);

    if (functions == NULL || names == NULL) {
        return false;
    }

    elf->functions = functions;
    elf->n_functions = (uint32_t) n;
    elf->names = names;
    elf->names_len = size;
    elf->hinted = size;

    size = 1;

    for (i = 0; i < n; i++) {
        functions[i].start = piece[i].start;
        functions[i].entry = piece[i].entry;
        functions[i].size = (uint32_t) (piece[i].end - piece[i].start);

        if (piece[i].name != 0) {
            name = strings + piece[i].name;
            len = jpp_extent_name_len(name);

            memcpy(names + size, name, len);

            functions[i].name = (uint32_t) size;
            size += len + 1;
        }
    }

    return true;
}

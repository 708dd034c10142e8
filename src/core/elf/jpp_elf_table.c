
/*
 * The table of functions of jpp_elf.h: the search, and the construction from a
 * loaded symbol table and .eh_frame.
 */


#include "jpp_elf.h"


/* the fields of a rank, most important first; the length takes the rest */
#define JPP_RANK_LOCAL             (1u << 31)
#define JPP_RANK_UNDERSCORE        (1u << 15)
#define JPP_RANK_WEAK              (1u << 14)
#define JPP_RANK_MAX_UNDERSCORES   255
#define JPP_RANK_MAX_LEN           (JPP_RANK_WEAK - 1)

/*
 * Names of the same rank are compared up to this length: comparing long names
 * to their end is quadratic in a hostile file.
 */
#define JPP_EXTENT_COMPARED        64


const jpp_elf_function_t *
jpp_elf_function(const jpp_elf_t *elf, uint64_t vaddr)
{
    uint32_t                   low, high, middle;
    const jpp_elf_function_t  *function;

    low = 0;
    high = elf->n_functions;

    while (low < high) {
        middle = low + (high - low) / 2;
        function = &elf->functions[middle];

        if (vaddr < function->start) {
            high = middle;

        } else if (vaddr - function->start >= function->size) {
            low = middle + 1;

        } else {
            return function;
        }
    }

    return NULL;
}


bool
jpp_elf_vaddr(const jpp_elf_t *elf, uint64_t offset, uint64_t *vaddr)
{
    const jpp_elf_segment_t  *segment;

    jpp_each(segment, elf->segments, elf->n_segments) {
        if (offset - segment->offset < segment->size) {
            *vaddr = offset - segment->offset + segment->vaddr;
            return true;
        }
    }

    return false;
}


static const jpp_elf_segment_t *
jpp_elf_segment(const jpp_elf_t *elf, uint64_t vaddr)
{
    const jpp_elf_segment_t  *segment;

    jpp_each(segment, elf->segments, elf->n_segments) {
        if (vaddr - segment->vaddr < segment->size) {
            return segment;
        }
    }

    return NULL;
}


bool
jpp_elf_offset(const jpp_elf_t *elf, uint64_t vaddr, uint64_t *offset)
{
    const jpp_elf_segment_t  *segment;

    segment = jpp_elf_segment(elf, vaddr);

    if (segment != NULL) {
        *offset = vaddr - segment->vaddr + segment->offset;
    }

    return segment != NULL;
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


/* Append EXTENT, cut where its segment of ELF ends, to EXTENTS; if it starts in
   one.  False: no memory. */

static bool
jpp_extents_clip(jpp_vec_t *extents, const jpp_elf_t *elf,
    const jpp_extent_t *extent)
{
    uint64_t                  len;
    const jpp_elf_segment_t  *segment;

    segment = jpp_elf_segment(elf, extent->start);

    if (segment == NULL) {
        return true;
    }

    len = jpp_smaller(extent->end - extent->start,
                      segment->vaddr + segment->size - extent->start);

    return jpp_extents_push(extents, extent, extent->start,
                            extent->start + jpp_smaller(len, UINT32_MAX));
}


/*
 * The rank of a symbol's NAME of LEN bytes.  Lower is better.  The order
 * yields the name in the source code, and the same name with and without debug
 * symbols (which add __libc_malloc to malloc, and __GI___write to write): not
 * local, fewer leading underscores, not weak, shorter.
 */

static uint32_t
jpp_extent_rank(const char *name, size_t len, bool is_local, bool is_weak)
{
    uint32_t  n;

    for (n = 0; n < JPP_RANK_MAX_UNDERSCORES && name[n] == '_'; n++) {
        /* void */
    }

    return (is_local ? JPP_RANK_LOCAL : 0)
           | n * JPP_RANK_UNDERSCORE
           | (is_weak ? JPP_RANK_WEAK : 0)
           | (uint32_t) jpp_smaller(len, JPP_RANK_MAX_LEN);
}


/* The length of the symbol NAME without its version ("@@GLIBC_2.2.5"). */

static size_t
jpp_extent_name_len(const char *name)
{
    size_t       len;
    const char  *at;

    len = strnlen(name, JPP_MAX_SYMBOL_NAME);
    at = memchr(name, '@', len);

    return at == NULL ? len : (size_t) (at - name);
}


bool
jpp_extents_symbol(jpp_vec_t *extents, const jpp_elf_t *elf, uint64_t start,
    uint64_t size, uint32_t name, const char *strings, bool is_local,
    bool is_weak)
{
    size_t        len;
    jpp_extent_t  extent;

    len = jpp_extent_name_len(strings + name);

    extent.start = start;
    extent.end = start + size;
    extent.entry = start;
    extent.name = name;
    extent.rank = jpp_extent_rank(strings + name, len, is_local, is_weak);

    /* without a size it covers nothing, whatever follows it */

    return len == 0 || jpp_extents_clip(extents, elf, &extent);
}


static int
jpp_extents_compare(const void *first, const void *second, void *ctx)
{
    int                  rc;
    const char          *strings = ctx;
    const jpp_extent_t  *a = first, *b = second;

    rc = jpp_sort_order(a->start, b->start);
    rc = rc != 0 ? rc : jpp_sort_order(a->rank, b->rank);

    return rc != 0 ? rc : strncmp(strings + a->name, strings + b->name,
                                  JPP_EXTENT_COMPARED);
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

            extents[kept - 1].end = jpp_larger(extents[kept - 1].end,
                                               extents[i].end);

            continue;
        }

        extents[kept++] = extents[i];
    }

    return kept;
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
            end = jpp_smaller(top->end, to);

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
    jpp_extent_t  *extent;

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
        done = jpp_extents_leave(open, pos, extent[i].start, pieces)
               && jpp_extents_push(open, &extent[i], extent[i].start,
                                   extent[i].end);
        pos = extent[i].start;
    }

    done = done && jpp_extents_leave(open, pos, UINT64_MAX, pieces);

    jpp_vec_release(open);

    return done;
}


bool
jpp_extents_fill(const jpp_vec_t *named, const jpp_vec_t *nameless,
    jpp_vec_t *table)
{
    size_t               i, n;
    uint64_t             pos, covered;
    const jpp_extent_t  *name, *extent;

    name = jpp_vec_items(named, jpp_extent_t);
    n = jpp_vec_count(named, jpp_extent_t);

    i = 0;
    covered = 0;

    jpp_vec_each(extent, nameless) {

        pos = jpp_larger(extent->start, covered);

        for ( /* void */ ; i < n && name[i].start < extent->end; i++) {

            if (!jpp_extents_push(table, extent, pos, name[i].start)
                || !jpp_extents_push(table, &name[i], name[i].start,
                                     name[i].end))
            {
                return false;
            }

            covered = name[i].end;
            pos = jpp_larger(extent->start, covered);
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


/* Make ELF's functions and names from TABLE, in memory from ARENA. */

static bool
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

    if (size > UINT32_MAX) {
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


/*
 * Append the nameless extent of every function that SOURCE's .eh_frame
 * describes to EXTENTS, within the segments of ELF.
 *
 * Leaves out what it cannot read: entries in an encoding that code does not
 * use, and everything from the first damaged entry on.  False: no memory.
 */

static bool
jpp_eh_frame_read(jpp_vec_t *extents, const jpp_elf_t *elf,
    const jpp_elf_source_t *source)
{
    bool              is_usable;
    size_t            back;
    uint32_t          n;
    uintptr_t         bias;
    jpp_extent_t      extent = { 0 };
    const uint8_t    *id, *last;
    jpp_cfi_bytes_t   section, body, cie;
    jpp_cfi_entry_t   entry;

    memset(&section, 0, sizeof(jpp_cfi_bytes_t));

    section.pos = source->eh_frame;
    section.end = source->eh_frame + source->eh_frame_len;
    section.is_short = source->address_size == 4;

    cie = section;
    last = NULL;
    is_usable = false;
    n = 0;

    while (jpp_cfi_read_body(&section, &body)) {

        id = body.pos;
        back = (size_t) jpp_cfi_uint(&body, 4);

        if (body.is_damaged || back > (size_t) (id - source->eh_frame)) {
            break;
        }

        if (back == 0) {
            continue;
        }

        /* an object file's FDEs share a CIE and follow it; what follows a
           function's size does not matter here */

        if (last != id - back) {
            last = id - back;
            cie.pos = last;
            is_usable = jpp_cfi_read_cie(&cie, &entry);
            entry.is_augmented = false;
        }

        if (is_usable && n++ == JPP_MAX_ELF_SYMBOLS) {
            return false;
        }

        if (!is_usable || !jpp_cfi_read_fde(&body, &entry)) {
            continue;
        }

        /* where it lies in the file's memory, and not in ours */

        bias = (entry.encoding & JPP_CFI_PCREL) == 0
               ? 0 : source->eh_frame_address - (uintptr_t) source->eh_frame;

        extent.start = section.is_short ? (uint32_t) (entry.start + bias)
                                        : entry.start + bias;
        extent.end = extent.start + (entry.end - entry.start);
        extent.entry = extent.start;

        if (!jpp_extents_clip(extents, elf, &extent)) {
            return false;
        }
    }

    return true;
}


bool
jpp_elf_table(jpp_elf_t *elf, jpp_arena_t *arena,
    const jpp_elf_source_t *source)
{
    bool        done;
    jpp_vec_t  *named, *frames, *nameless, *table;

    named = jpp_vec_create(arena);
    frames = jpp_vec_create(arena);
    nameless = jpp_vec_create(arena);
    table = jpp_vec_create(arena);

    done = named != NULL && frames != NULL && nameless != NULL && table != NULL
           && (source->eh_frame_len == 0
               || jpp_eh_frame_read(frames, elf, source))
           && jpp_extents_resolve(source->symbols, source->strings, named)
           && jpp_extents_resolve(frames, "", nameless)
           && jpp_extents_fill(named, nameless, table)
           && jpp_extents_store(table, source->strings, elf, arena);

    jpp_vec_release(table);
    jpp_vec_release(nameless);
    jpp_vec_release(frames);
    jpp_vec_release(named);

    return done;
}


#include "jpp_eh_frame.h"
#include "jpp_elf_image.h"
#include "jpp_elf_table.h"
#include "jpp_extents.h"


/*
 * Clip EXTENT to the segment where it starts; false if it starts in none, or
 * nothing is left.
 */

static bool
jpp_elf_clip(const jpp_elf_t *elf, jpp_extent_t *extent)
{
    uint32_t                  i;
    uint64_t                  len, room;
    const jpp_elf_segment_t  *segment;

    for (i = 0; i < elf->n_segments; i++) {
        segment = &elf->segments[i];

        if (extent->start - segment->vaddr >= segment->size) {
            continue;
        }

        len = extent->end - extent->start;
        room = segment->vaddr + segment->size - extent->start;

        if (len > room) {
            len = room;
        }

        extent->end = extent->start + (len < UINT32_MAX ? len : UINT32_MAX);

        return len != 0;
    }

    return false;
}


static bool
jpp_elf_named(jpp_vec_t *extents, const jpp_elf_t *elf,
    const jpp_elf_source_t *source)
{
    int            type, bind;
    size_t         len;
    uint32_t       i;
    Elf64_Sym      sym;
    const char    *name;
    jpp_extent_t   wanted, *extent;

    /* the first one is empty by definition */

    for (i = 1; i < source->n_symbols; i++) {

        if (!jpp_elf_image_symbol(source->symbols, i, &sym)) {
            break;
        }

        type = ELF64_ST_TYPE(sym.st_info);
        bind = ELF64_ST_BIND(sym.st_info);

        if ((type != STT_FUNC && type != STT_GNU_IFUNC)
            || sym.st_shndx == SHN_UNDEF
            || sym.st_name >= source->strings_len)
        {
            continue;
        }

        name = source->strings + sym.st_name;
        len = jpp_extent_name_len(name);

        wanted.start = sym.st_value;
        wanted.end = sym.st_value + sym.st_size;
        wanted.entry = sym.st_value;
        wanted.name = sym.st_name;
        wanted.rank = jpp_extent_rank(name, len, bind == STB_LOCAL,
                                      bind == STB_WEAK);

        /* without a size it covers nothing, whatever follows it */

        if (len == 0 || !jpp_elf_clip(elf, &wanted)) {
            continue;
        }

        extent = jpp_vec_push(extents, sizeof(jpp_extent_t));
        if (extent == NULL) {
            return false;
        }

        *extent = wanted;
    }

    return true;
}


static bool
jpp_elf_nameless(jpp_vec_t *extents, const jpp_elf_t *elf,
    const jpp_elf_source_t *source)
{
    size_t         i, n, kept;
    jpp_extent_t  *extent;

    if (source->eh_frame_len == 0) {
        return true;
    }

    if (!jpp_eh_frame_read(extents, source->eh_frame, source->eh_frame_len,
                           source->eh_frame_address, source->address_size))
    {
        return false;
    }

    extent = jpp_vec_items(extents, jpp_extent_t);
    n = jpp_vec_count(extents, jpp_extent_t);
    kept = 0;

    for (i = 0; i < n; i++) {
        if (jpp_elf_clip(elf, &extent[i])) {
            extent[kept++] = extent[i];
        }
    }

    extents->len = kept * sizeof(jpp_extent_t);

    return true;
}


jpp_code_t
jpp_elf_table(jpp_elf_t *elf, jpp_arena_t *arena,
    const jpp_elf_source_t *source, jpp_err_t *err)
{
    bool        done;
    jpp_vec_t  *symbols, *named, *frames, *nameless, *table;

    symbols = jpp_vec_create(arena);
    named = jpp_vec_create(arena);
    frames = jpp_vec_create(arena);
    nameless = jpp_vec_create(arena);
    table = jpp_vec_create(arena);

    done = symbols != NULL && named != NULL && frames != NULL
           && nameless != NULL && table != NULL
           && jpp_elf_named(symbols, elf, source)
           && jpp_elf_nameless(frames, elf, source)
           && jpp_extents_resolve(symbols, source->strings, named)
           && jpp_extents_resolve(frames, NULL, nameless)
           && jpp_extents_fill(named, nameless, table)
           && jpp_extents_store(table, source->strings, elf, arena);

    jpp_vec_release(table);
    jpp_vec_release(nameless);
    jpp_vec_release(frames);
    jpp_vec_release(named);
    jpp_vec_release(symbols);

    return done ? JPP_OK : jpp_err_memory(err);
}

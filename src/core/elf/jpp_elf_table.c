
#include <string.h>

#include "jpp_elf_image.h"
#include "jpp_elf_table.h"
#include "jpp_extents.h"
#include "jpp_limits.h"


/*
 * Where functions start and end, from the section .eh_frame.  Stripped files
 * have it too, because the unwinder needs it.
 *
 * Pure; memory from the vector's arena.
 */


/*
 * The grammar (Linux Standard Base, "Exception Frames"; DWARF 5, 6.4.1):
 *
 *     section  := entry* [ u32 zero ]
 *     entry    := u32 length, body of so many bytes
 *     body     := u32 id, ( cie where id is 0 | fde else )
 *     cie      := u8 version, augmentation NUL,
 *                 [ u8 address size, u8 segment size  where version is 4 ]
 *                 uleb code_align, sleb data_align,
 *                 return register (u8 where version is 1, else uleb),
 *                 [ uleb length, item*  where augmentation starts with "z" ],
 *                 instructions
 *     item     := one per letter after the "z":
 *                 "R": u8 encoding (of the addresses in FDEs)
 *                 "L": u8 encoding (of a pointer to the LSDA)
 *                 "P": u8 encoding, pointer so encoded (personality routine)
 *                 "S", "B", "G": nothing
 *     fde      := start so encoded, size in the same format, ...
 *
 * The id of an FDE is the distance from the id itself back to its CIE.  Length
 * 0xffffffff would announce a length of 64 bits; nobody writes that here.
 */


#define JPP_EH_EXTENDED      0xffffffffu

/* encodings: the format in the low nibble, what is added to it above */
#define JPP_EH_ABSPTR        0x00
#define JPP_EH_PCREL         0x10
#define JPP_EH_SIGNED        0x08
#define JPP_EH_OMIT          0xff

/* "zPLRSBG" and then some */
#define JPP_EH_AUGMENTATION  16


/*
 * A position in the section.  Reading past the end sets is_damaged and returns
 * zeros, so one check at the end of an entry is enough.
 */
typedef struct {
    const uint8_t   *data;
    const uint8_t   *pos;
    const uint8_t   *end;
    uint64_t         vaddr;
    uint32_t         address_size;
    bool             is_damaged;
} jpp_eh_reader_t;


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


/* SIZE is at most 8; the byte order is ours, see jpp_elf_image.c */

static uint64_t
jpp_eh_uint(jpp_eh_reader_t *r, uint32_t size, bool is_signed)
{
    int8_t    s8;
    int16_t   s16;
    int32_t   s32;
    uint64_t  u64;

    if ((size_t) (r->end - r->pos) < size) {
        r->is_damaged = true;
        r->pos = r->end;
        return 0;
    }

    switch (size) {

    case 1:
        memcpy(&s8, r->pos, 1);
        u64 = is_signed ? (uint64_t) s8 : (uint8_t) s8;
        break;

    case 2:
        memcpy(&s16, r->pos, 2);
        u64 = is_signed ? (uint64_t) s16 : (uint16_t) s16;
        break;

    case 4:
        memcpy(&s32, r->pos, 4);
        u64 = is_signed ? (uint64_t) s32 : (uint32_t) s32;
        break;

    default:
        memcpy(&u64, r->pos, 8);
        break;
    }

    r->pos += size;

    return u64;
}


/* ENTRY becomes a reader of the body of the entry at OFFSET. */

static bool
jpp_eh_entry(const jpp_eh_reader_t *section, size_t offset,
    jpp_eh_reader_t *entry)
{
    uint64_t  len;

    *entry = *section;
    entry->pos = section->data + offset;

    len = jpp_eh_uint(entry, 4, false);

    if (entry->is_damaged
        || len == 0
        || len == JPP_EH_EXTENDED
        || len > (size_t) (entry->end - entry->pos))
    {
        return false;
    }

    entry->end = entry->pos + len;

    return true;
}


static uint64_t
jpp_eh_leb(jpp_eh_reader_t *r, bool is_signed)
{
    uint8_t   byte;
    uint32_t  shift;
    uint64_t  value;

    value = 0;

    for (shift = 0; shift < 64; shift += 7) {

        byte = (uint8_t) jpp_eh_uint(r, 1, false);
        value |= (uint64_t) (byte & 0x7f) << shift;

        if ((byte & 0x80) == 0) {

            if (is_signed && (byte & 0x40) != 0 && shift < 57) {
                value |= UINT64_MAX << (shift + 7);
            }

            return value;
        }
    }

    r->is_damaged = true;

    return 0;
}


static uint64_t
jpp_eh_pointer(jpp_eh_reader_t *r, uint8_t encoding)
{
    bool      is_signed;
    uint64_t  base, value;

    /* sizes by the low bits of the format: pointer, LEB128, 2, 4, 8 */
    static const uint8_t  sizes[] = { 0, 0, 2, 4, 8, 0, 0, 0 };

    base = r->vaddr + (uint64_t) (r->pos - r->data);
    is_signed = (encoding & JPP_EH_SIGNED) != 0;

    switch (encoding & 7) {

    case 0:
        value = jpp_eh_uint(r, r->address_size, false);
        break;

    case 1:
        value = jpp_eh_leb(r, is_signed);
        break;

    case 2:
    case 3:
    case 4:
        value = jpp_eh_uint(r, sizes[encoding & 7], is_signed);
        break;

    default:
        r->is_damaged = true;
        return 0;
    }

    if ((encoding & 0xf0) == JPP_EH_PCREL) {
        value += base;
    }

    return r->address_size == 4 ? (uint32_t) value : value;
}


static void
jpp_eh_cie_item(jpp_eh_reader_t *r, char letter, uint8_t *encoding)
{
    uint8_t  skipped;

    switch (letter) {

    case 'R':
        *encoding = (uint8_t) jpp_eh_uint(r, 1, false);
        break;

    case 'L':
        (void) jpp_eh_uint(r, 1, false);
        break;

    case 'P':
        skipped = (uint8_t) jpp_eh_uint(r, 1, false);
        (void) jpp_eh_pointer(r, skipped & 0x0f);
        break;

    case 'S':
    case 'B':
    case 'G':
        break;

    default:
        r->is_damaged = true;
        break;
    }
}


/* Is the entry at OFFSET a CIE that has the encoding of addresses? */

static bool
jpp_eh_cie(const jpp_eh_reader_t *section, size_t offset, uint8_t *encoding)
{
    uint8_t          version;
    uint32_t         i;
    const char      *letter;
    jpp_eh_reader_t  r;

    *encoding = JPP_EH_ABSPTR;

    if (!jpp_eh_entry(section, offset, &r) || jpp_eh_uint(&r, 4, false) != 0) {
        return false;
    }

    version = (uint8_t) jpp_eh_uint(&r, 1, false);

    if (version != 1 && version != 3 && version != 4) {
        return false;
    }

    letter = (const char *) r.pos;

    for (i = 0; jpp_eh_uint(&r, 1, false) != 0; i++) {
        if (i == JPP_EH_AUGMENTATION) {
            return false;
        }
    }

    if (version == 4) {
        (void) jpp_eh_uint(&r, 2, false);
    }

    (void) jpp_eh_leb(&r, false);
    (void) jpp_eh_leb(&r, true);
    (void) (version == 1 ? jpp_eh_uint(&r, 1, false) : jpp_eh_leb(&r, false));

    if (r.is_damaged || *letter == '\0') {
        return !r.is_damaged;
    }

    if (*letter++ != 'z') {
        return false;
    }

    (void) jpp_eh_leb(&r, false);

    while (*letter != '\0') {
        jpp_eh_cie_item(&r, *letter++, encoding);
    }

    return !r.is_damaged
           && ((*encoding & 0xf0) == JPP_EH_ABSPTR
               || (*encoding & 0xf0) == JPP_EH_PCREL);
}


static bool
jpp_eh_fde(jpp_vec_t *extents, jpp_eh_reader_t *r, uint8_t encoding)
{
    uint64_t       start, end;
    jpp_extent_t  *extent;

    start = jpp_eh_pointer(r, encoding);

    /* the size has the format of the start, and nothing is added to it */

    end = start + jpp_eh_pointer(r, encoding & 0x0f & ~JPP_EH_SIGNED);

    if (r->is_damaged || end <= start) {
        return true;
    }

    extent = jpp_vec_push(extents, sizeof(jpp_extent_t));
    if (extent == NULL) {
        return false;
    }

    extent->start = start;
    extent->end = end;
    extent->entry = start;

    return true;
}


/*
 * Append the nameless extent of every function that the LEN bytes at DATA
 * describe to EXTENTS.  The section lies at virtual address VADDR, and
 * addresses of the file are ADDRESS_SIZE (4 or 8) bytes wide.
 *
 * Leaves out what it cannot read: entries in an encoding that code does not
 * use, and everything from the first damaged entry on.  False: no memory.
 */

static bool
jpp_eh_frame_read(jpp_vec_t *extents, const uint8_t *data, size_t len,
    uint64_t vaddr, uint32_t address_size)
{
    bool             is_usable;
    size_t           offset, at, back, cie;
    uint8_t          encoding;
    uint32_t         n;
    jpp_eh_reader_t  section, entry;

    memset(&section, 0, sizeof(jpp_eh_reader_t));

    section.data = data;
    section.end = data + len;
    section.vaddr = vaddr;
    section.address_size = address_size;

    cie = len;
    encoding = JPP_EH_OMIT;
    is_usable = false;
    n = 0;

    for (offset = 0; jpp_eh_entry(&section, offset, &entry);
         offset = (size_t) (entry.end - data))
    {
        at = (size_t) (entry.pos - data);
        back = (size_t) jpp_eh_uint(&entry, 4, false);

        if (entry.is_damaged || back > at) {
            break;
        }

        if (back == 0) {
            continue;
        }

        /* an object file's FDEs share a CIE and follow it */

        if (cie != at - back) {
            cie = at - back;
            is_usable = jpp_eh_cie(&section, cie, &encoding);
        }

        if (is_usable
            && (n++ == JPP_MAX_ELF_SYMBOLS
                || !jpp_eh_fde(extents, &entry, encoding)))
        {
            return false;
        }
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

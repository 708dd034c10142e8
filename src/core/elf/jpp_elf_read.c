
#include <string.h>

#include "jpp_elf_image.h"
#include "jpp_elf_read.h"
#include "jpp_elf_table.h"
#include "jpp_limits.h"
#include "jpp_units.h"


/* notes that are larger hold no build id */
#define JPP_ELF_MAX_NOTE       65536

/* executable ones; linkers make one or two */
#define JPP_ELF_MAX_SEGMENTS   64


/* Section numbers; 0: no such section. */
typedef struct {
    uint32_t          symtab;
    uint32_t          dynsym;
    uint32_t          eh_frame;
} jpp_elf_sections_t;


/* What ARENA may still map, beside LOADED bytes of images. */

static size_t
jpp_elf_room(const jpp_arena_t *arena, size_t loaded)
{
    size_t  room;

    room = arena->cap - arena->mapped;

    return jpp_less(room, loaded);
}


static jpp_code_t
jpp_elf_segments(jpp_elf_t *elf, jpp_arena_t *arena,
    const jpp_elf_image_t *image, jpp_err_t *err)
{
    uint32_t            i;
    Elf64_Phdr          phdr;
    jpp_elf_segment_t  *segment;

    segment = jpp_arena_alloc(arena, JPP_ELF_MAX_SEGMENTS
                                     * sizeof(jpp_elf_segment_t));
    if (segment == NULL) {
        return jpp_err_memory(err);
    }

    elf->segments = segment;

    for (i = 0; i < image->header.e_phnum; i++) {

        if (!jpp_elf_image_segment(image, i, &phdr)) {
            return jpp_err_set(err, JPP_ERR_INPUT,
                               "its program headers are damaged");
        }

        if (phdr.p_type != PT_LOAD
            || (phdr.p_flags & PF_X) == 0
            || phdr.p_filesz == 0)
        {
            continue;
        }

        if (phdr.p_offset > image->size
            || phdr.p_filesz > image->size - phdr.p_offset)
        {
            return jpp_err_set(err, JPP_ERR_CUT, "it is truncated");
        }

        if (phdr.p_vaddr > UINT64_MAX - phdr.p_filesz
            || elf->n_segments == JPP_ELF_MAX_SEGMENTS)
        {
            return jpp_err_set(err, JPP_ERR_INPUT,
                               "its program headers are damaged");
        }

        segment->vaddr = phdr.p_vaddr;
        segment->offset = phdr.p_offset;
        segment->size = phdr.p_filesz;

        segment++;
        elf->n_segments++;
    }

    return JPP_OK;
}


static jpp_code_t
jpp_elf_notes(jpp_build_id_t *id, jpp_elf_image_t *image, uint64_t offset,
    uint64_t size, uint64_t alignment, jpp_err_t *err)
{
    jpp_code_t  rc;

    if (size > JPP_ELF_MAX_NOTE) {
        return JPP_OK;
    }

    rc = jpp_elf_image_load(image, offset, size, err);

    if (rc == JPP_OK) {
        jpp_elf_image_build_id(image, offset, (size_t) size, alignment, id);
    }

    return rc;
}


static jpp_code_t
jpp_elf_identity(jpp_build_id_t *id, jpp_elf_image_t *image, jpp_err_t *err)
{
    uint32_t    i;
    jpp_code_t  rc;
    Elf64_Phdr  phdr;

    for (i = 0; jpp_elf_image_segment(image, i, &phdr); i++) {

        if (phdr.p_type != PT_NOTE) {
            continue;
        }

        rc = jpp_elf_notes(id, image, phdr.p_offset, phdr.p_filesz,
                           phdr.p_align, err);

        if (rc != JPP_OK || id->len != 0) {
            return rc;
        }
    }

    return JPP_OK;
}


static jpp_code_t
jpp_elf_sections(jpp_elf_sections_t *sections, jpp_elf_image_t *image,
    jpp_err_t *err)
{
    uint32_t      i, strings;
    jpp_code_t    rc;
    Elf64_Shdr    shdr;
    const char   *name;

    memset(sections, 0, sizeof(jpp_elf_sections_t));

    strings = image->header.e_shstrndx;

    if (!jpp_elf_image_section(image, strings, &shdr)
        || shdr.sh_type != SHT_STRTAB)
    {
        return JPP_OK;
    }

    rc = jpp_elf_image_load(image, shdr.sh_offset, shdr.sh_size, err);

    if (rc != JPP_OK) {
        return rc;
    }

    /* a NUL at the end keeps the search for a name's end short */

    if (shdr.sh_size == 0
        || image->data[shdr.sh_offset + shdr.sh_size - 1] != '\0')
    {
        return jpp_err_set(err, JPP_ERR_INPUT, "its section names are damaged");
    }

    for (i = 1; jpp_elf_image_section(image, i, &shdr); i++) {

        /* NOBITS: in a debug file, for what is in the other one */

        if (shdr.sh_type == SHT_NOBITS
            || (shdr.sh_flags & SHF_COMPRESSED) != 0)
        {
            continue;
        }

        if (shdr.sh_type == SHT_SYMTAB) {
            sections->symtab = i;
            continue;
        }

        if (shdr.sh_type == SHT_DYNSYM) {
            sections->dynsym = i;
            continue;
        }

        name = jpp_elf_image_string(image, strings, shdr.sh_name);

        if (name != NULL && strcmp(name, ".eh_frame") == 0) {
            sections->eh_frame = i;
        }
    }

    return JPP_OK;
}


static jpp_code_t
jpp_elf_eh_frame(jpp_elf_source_t *source, jpp_elf_image_t *image,
    uint32_t section, jpp_err_t *err)
{
    jpp_code_t  rc;
    Elf64_Shdr  shdr;

    if (!jpp_elf_image_section(image, section, &shdr)) {
        return JPP_OK;
    }

    rc = jpp_elf_image_load(image, shdr.sh_offset, shdr.sh_size, err);

    if (rc != JPP_OK) {
        return rc;
    }

    source->eh_frame = image->data + shdr.sh_offset;
    source->eh_frame_len = (size_t) shdr.sh_size;
    source->eh_frame_address = shdr.sh_addr;
    source->address_size = image->address_size;

    return JPP_OK;
}


static jpp_code_t
jpp_elf_symbols(jpp_elf_source_t *source, jpp_elf_image_t *image,
    uint32_t section, jpp_err_t *err)
{
    uint64_t     n, size;
    jpp_code_t   rc;
    Elf64_Shdr   table, strings;
    const char  *p;

    size = image->address_size == 8 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);

    /* libelf would copy a table that is not aligned */

    if (!jpp_elf_image_section(image, section, &table)
        || !jpp_elf_image_section(image, table.sh_link, &strings)
        || table.sh_entsize != size
        || table.sh_offset % image->address_size != 0
        || strings.sh_type != SHT_STRTAB
        || strings.sh_size == 0)
    {
        return jpp_err_set(err, JPP_ERR_INPUT, "its symbol table is damaged");
    }

    n = table.sh_size / size;

    if (n > JPP_MAX_ELF_SYMBOLS) {
        return jpp_err_set(err, JPP_ERR_LIMIT, "it has more than %d symbols",
                           JPP_MAX_ELF_SYMBOLS);
    }

    rc = jpp_elf_image_load(image, table.sh_offset, table.sh_size, err);

    if (rc == JPP_OK) {
        rc = jpp_elf_image_load(image, strings.sh_offset, strings.sh_size,
                                err);
    }

    if (rc != JPP_OK) {
        return rc;
    }

    p = (const char *) image->data + strings.sh_offset;

    source->symbols = jpp_elf_image_symbols(image, section);

    if (source->symbols == NULL || p[strings.sh_size - 1] != '\0') {
        return jpp_err_set(err, JPP_ERR_INPUT, "its symbol table is damaged");
    }

    source->n_symbols = (uint32_t) n;
    source->strings = p;
    source->strings_len = (size_t) strings.sh_size;

    return JPP_OK;
}


/*
 * The same for a debug file, by section: some strippers copy the program
 * headers from the stripped file, which are wrong here.
 */

static jpp_code_t
jpp_elf_debug_identity(jpp_build_id_t *id, jpp_elf_image_t *image)
{
    uint32_t    i;
    jpp_code_t  rc;
    Elf64_Shdr  shdr;

    for (i = 1; jpp_elf_image_section(image, i, &shdr); i++) {

        if (shdr.sh_type != SHT_NOTE) {
            continue;
        }

        rc = jpp_elf_notes(id, image, shdr.sh_offset, shdr.sh_size,
                           shdr.sh_addralign, NULL);

        if (rc != JPP_OK || id->len != 0) {
            return rc;
        }
    }

    return JPP_OK;
}


/* Does the debug file at FD have the symbols of this very build? */

static bool
jpp_elf_debug(jpp_elf_source_t *source, jpp_elf_image_t *image,
    const jpp_elf_t *elf, int fd, size_t room)
{
    jpp_build_id_t      id;
    jpp_elf_sections_t  sections;

    memset(&id, 0, sizeof(jpp_build_id_t));

    return fd != -1
           && elf->build_id.len != 0
           && jpp_elf_image_open(image, fd, room, JPP_ELF_ALL, NULL) == JPP_OK
           && jpp_elf_debug_identity(&id, image) == JPP_OK
           && id.len == elf->build_id.len
           && memcmp(id.data, elf->build_id.data, id.len) == 0
           && jpp_elf_sections(&sections, image, NULL) == JPP_OK
           && sections.symtab != 0
           && jpp_elf_symbols(source, image, sections.symtab, NULL) == JPP_OK;
}


static jpp_code_t
jpp_elf_functions(jpp_elf_t *elf, jpp_arena_t *arena, jpp_elf_image_t *image,
    int debug_fd, jpp_err_t *err)
{
    size_t              cap;
    jpp_code_t          rc;
    jpp_elf_image_t     debug;
    jpp_elf_source_t    source;
    jpp_elf_sections_t  sections;

    memset(&debug, 0, sizeof(jpp_elf_image_t));
    memset(&source, 0, sizeof(jpp_elf_source_t));

    rc = jpp_elf_sections(&sections, image, err);

    if (rc == JPP_OK && sections.eh_frame != 0) {
        rc = jpp_elf_eh_frame(&source, image, sections.eh_frame, err);
    }

    if (rc != JPP_OK) {
        return rc;
    }

    if (sections.symtab != 0) {
        elf->has_symtab = true;
        rc = jpp_elf_symbols(&source, image, sections.symtab, err);

    } else if (jpp_elf_debug(&source, &debug, elf, debug_fd,
                             jpp_elf_room(arena, image->loaded)))
    {
        elf->has_symtab = true;

    } else if (sections.dynsym != 0) {
        rc = jpp_elf_symbols(&source, image, sections.dynsym, err);
    }

    if (rc == JPP_OK) {
        cap = arena->cap;
        arena->cap = arena->mapped
                     + jpp_elf_room(arena, image->loaded + debug.loaded);

        rc = jpp_elf_table(elf, arena, &source, err);

        arena->cap = cap;
    }

    jpp_elf_image_close(&debug);

    return rc;
}


jpp_code_t
jpp_elf_read(jpp_elf_t *elf, jpp_arena_t *arena, int fd, int debug_fd,
    jpp_elf_parts_t parts, jpp_err_t *err)
{
    jpp_code_t       rc;
    jpp_elf_image_t  image;

    memset(elf, 0, sizeof(jpp_elf_t));

    elf->names = "";
    elf->names_len = 1;
    elf->hinted = 1;

    rc = jpp_elf_image_open(&image, fd, jpp_elf_room(arena, 0), parts, err);

    if (rc == JPP_OK) {
        rc = jpp_elf_segments(elf, arena, &image, err);
    }

    if (rc == JPP_OK) {
        rc = jpp_elf_identity(&elf->build_id, &image, err);
    }

    if (rc == JPP_OK && parts == JPP_ELF_ALL) {
        rc = jpp_elf_functions(elf, arena, &image, debug_fd, err);
    }

    jpp_elf_image_close(&image);

    return rc;
}

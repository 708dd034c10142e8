
/*
 * Reads an ELF file into the table of jpp_elf.h; the owner of libelf.
 *
 * The parts that are needed are in an image as large as the file, of which only
 * those are filled in: the rest is zeros and takes no memory.  The file is read
 * and never mapped, so truncating it in place is an error here and not a
 * SIGBUS.  Headers and symbols have their 64-bit form, whatever the file's
 * class.  Loading checks offsets and sizes.
 *
 * libelf follows offsets inside the image only, so it cannot fault, and it
 * finds zeros where nothing was loaded.  On opening it reads all section
 * headers, so an image is opened twice: for the ELF header, which says where
 * the others are, and again once these are loaded.
 *
 * libelf takes its handle from malloc, about 200 bytes a section, and copies
 * nothing as long as the byte order is ours and tables are aligned.
 */


#include "jpp_elf.h"

#include <elf.h>
#include <gelf.h>
#include <libelf.h>


/* one read covers what identifies most files */
#define JPP_ELF_HEAD        4096

/* the kernel loads no file with more program headers */
#define JPP_ELF_MAX_PHDRS   65536

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define JPP_ELF_DATA        ELFDATA2LSB
#else
#define JPP_ELF_DATA        ELFDATA2MSB
#endif

/* notes that are larger hold no build id */
#define JPP_ELF_MAX_NOTE       65536

/* executable ones; linkers make one or two */
#define JPP_ELF_MAX_SEGMENTS   64


/* The machines whose files this process could have loaded. */
static const struct {
    uint16_t  machine;
    uint8_t   class;
} jpp_elf_machines[] = {
#if defined(__x86_64__) || defined(__i386__)
    { EM_X86_64,  ELFCLASS64 },
    { EM_X86_64,  ELFCLASS32 },
    { EM_386,     ELFCLASS32 },
#elif defined(__aarch64__) || defined(__arm__)
    { EM_AARCH64, ELFCLASS64 },
    { EM_ARM,     ELFCLASS32 },
#elif defined(__riscv)
    { EM_RISCV,   ELFCLASS64 },
    { EM_RISCV,   ELFCLASS32 },
#elif defined(__powerpc64__)
    { EM_PPC64,   ELFCLASS64 },
#elif defined(__s390x__)
    { EM_S390,    ELFCLASS64 },
#endif
    { EM_NONE,    ELFCLASSNONE }
};


typedef struct {
    int            fd;
    jpp_arena_t   *arena;          /* whose cap is less what is loaded */
    uint8_t       *data;
    size_t         size;
    size_t         head;           /* bytes loaded from the start on */
    void          *elf;            /* libelf's handle */
    Elf64_Ehdr     header;
    uint32_t       address_size;   /* 4 or 8 */
} jpp_elf_image_t;


/* Section numbers; 0: no such section. */
typedef struct {
    uint32_t          symtab;
    uint32_t          dynsym;
    uint32_t          eh_frame;
} jpp_elf_sections_t;


/* A symbol table and its strings, loaded; zeros where a file has none. */
typedef struct {
    void             *data;        /* libelf's */
    uint32_t          n;
    const char       *strings;     /* the last byte is NUL */
    size_t            strings_len;
} jpp_elf_symbols_t;


/* Load the LEN bytes at OFFSET of the file to the same place of the image. */

static jpp_code_t
jpp_elf_image_load(jpp_elf_image_t *image, uint64_t offset, uint64_t len,
    jpp_err_t *err)
{
    ssize_t  n;

    if (offset > image->size || len > image->size - offset) {
        return jpp_err_set(err, JPP_ERR_CUT, "it is truncated");
    }

    if (offset + len <= image->head) {
        return JPP_OK;
    }

    if (len > JPP_MAX_ELF_SECTION) {
        return jpp_err_set(err, JPP_ERR_LIMIT,
                           "a section of it is larger than %zu MiB",
                           JPP_MAX_ELF_SECTION >> 20);
    }

    if (len > image->arena->cap - image->arena->mapped) {
        return jpp_err_memory(err);
    }

    image->arena->cap -= (size_t) len;

    n = jpp_read_at(image->fd, image->data + offset, (size_t) len, offset);

    if (n == -1) {
        return jpp_err_sys(err, errno, "it cannot be read");
    }

    return (uint64_t) n == len
           ? JPP_OK : jpp_err_set(err, JPP_ERR_CUT, "it is truncated");
}


/* Give the first SIZE bytes of the image to libelf. */

static jpp_code_t
jpp_elf_image_begin(jpp_elf_image_t *image, size_t size, jpp_err_t *err)
{
    (void) elf_end(image->elf);
    image->elf = NULL;

    (void) elf_version(EV_CURRENT);

    /* libelf knows archives, too */

    if (memcmp(image->data, ELFMAG, SELFMAG) == 0) {
        image->elf = elf_memory((char *) image->data, size);
    }

    if (gelf_getehdr(image->elf, &image->header) == NULL) {
        return jpp_err_set(err, JPP_ERR_INPUT, "it is not an ELF file");
    }

    image->address_size = (uint32_t) gelf_fsize(image->elf, ELF_T_ADDR, 1,
                                                EV_CURRENT);

    return JPP_OK;
}


static bool
jpp_elf_image_is_foreign(const Elf64_Ehdr *header)
{
    size_t  i;

    for (i = 0; jpp_elf_machines[i].machine != EM_NONE; i++) {

        if (jpp_elf_machines[i].machine == header->e_machine
            && jpp_elf_machines[i].class == header->e_ident[EI_CLASS])
        {
            return header->e_ident[EI_DATA] != JPP_ELF_DATA;
        }
    }

    return true;
}


static jpp_code_t
jpp_elf_image_check(const jpp_elf_image_t *image, jpp_err_t *err)
{
    size_t             phdr, shdr;
    const Elf64_Ehdr  *h;

    h = &image->header;

    if (jpp_elf_image_is_foreign(h)) {
        return jpp_err_set(err, JPP_ERR_INPUT,
                           "it is for another machine (ELF machine %d)",
                           h->e_machine);
    }

    if (h->e_type != ET_EXEC && h->e_type != ET_DYN) {
        return jpp_err_set(err, JPP_ERR_INPUT,
                           "it is neither a program nor a shared object");
    }

    phdr = gelf_fsize(image->elf, ELF_T_PHDR, 1, EV_CURRENT);
    shdr = gelf_fsize(image->elf, ELF_T_SHDR, 1, EV_CURRENT);

    /*
     * e_shnum is 0 without sections, and with more than 65279: then the first
     * section header has the number, which libelf would not check.
     */

    if (h->e_phnum == 0
        || h->e_phentsize != phdr
        || h->e_phnum > JPP_ELF_MAX_PHDRS / phdr
        || (h->e_shnum != 0 && h->e_shentsize != shdr)
        || (h->e_shnum == 0 && h->e_shoff != 0))
    {
        return jpp_err_set(err, JPP_ERR_INPUT, "its ELF header is damaged");
    }

    return JPP_OK;
}


static jpp_code_t
jpp_elf_image_headers(jpp_elf_image_t *image, jpp_elf_parts_t parts,
    jpp_err_t *err)
{
    size_t       head;
    jpp_code_t   rc;
    Elf64_Ehdr  *h;

    h = &image->header;
    head = image->size < JPP_ELF_HEAD ? image->size : JPP_ELF_HEAD;

    rc = jpp_elf_image_load(image, 0, head, err);

    if (rc == JPP_OK) {
        image->head = head;
        rc = jpp_elf_image_begin(image, head, err);
    }

    if (rc == JPP_OK) {
        rc = jpp_elf_image_check(image, err);
    }

    if (rc == JPP_OK) {
        rc = jpp_elf_image_load(image, h->e_phoff,
                                (uint64_t) h->e_phnum * h->e_phentsize, err);
    }

    if (rc == JPP_OK && parts == JPP_ELF_ALL) {
        rc = jpp_elf_image_load(image, h->e_shoff,
                                (uint64_t) h->e_shnum * h->e_shentsize, err);
    }

    return rc == JPP_OK ? jpp_elf_image_begin(image, image->size, err) : rc;
}


/*
 * Open the caller's IMAGE of the file at FD and load its headers; it may load
 * what ARENA has left.  Close it after an error, too.
 */

static jpp_code_t
jpp_elf_image_open(jpp_elf_image_t *image, int fd, jpp_arena_t *arena,
    jpp_elf_parts_t parts, jpp_err_t *err)
{
    void         *p;
    struct stat   st;

    memset(image, 0, sizeof(jpp_elf_image_t));

    image->fd = fd;
    image->arena = arena;

    if (fstat(fd, &st) == -1) {
        return jpp_err_sys(err, errno, "it cannot be examined");
    }

    if (st.st_size < EI_NIDENT) {
        return jpp_err_set(err, JPP_ERR_INPUT, "it is not an ELF file");
    }

    if ((uint64_t) st.st_size > JPP_MAX_ELF_FILE) {
        return jpp_err_set(err, JPP_ERR_LIMIT, "it is larger than %zu MiB",
                           JPP_MAX_ELF_FILE >> 20);
    }

    p = jpp_own_pages((size_t) st.st_size);

    if (p == NULL) {
        return jpp_err_sys(err, errno, "no address space for it");
    }

    image->data = p;
    image->size = (size_t) st.st_size;

    /* otherwise touching one byte may take 2 MiB */
    (void) madvise(p, image->size, MADV_NOHUGEPAGE);

    return jpp_elf_image_headers(image, parts, err);
}


/* A zeroed IMAGE may be closed. */

static void
jpp_elf_image_close(jpp_elf_image_t *image)
{
    (void) elf_end(image->elf);

    (void) munmap(image->data, image->size);
}


/* Section header I, from 0; false: no such header. */

static bool
jpp_elf_image_section(const jpp_elf_image_t *image, uint32_t i,
    Elf64_Shdr *shdr)
{
    Elf_Scn  *scn;

    scn = elf_getscn(image->elf, i);

    return scn != NULL && gelf_getshdr(scn, shdr) != NULL;
}


static size_t
jpp_elf_round(size_t size, size_t alignment)
{
    return (size + alignment - 1) & ~(alignment - 1);
}


bool
jpp_build_id_note(const uint8_t *data, size_t len, size_t alignment,
    jpp_build_id_t *id)
{
    size_t      name, desc;
    Elf64_Nhdr  note;

    if (alignment != 8) {
        alignment = 4;
    }

    while (len >= sizeof(Elf64_Nhdr)) {

        memcpy(&note, data, sizeof(Elf64_Nhdr));

        name = sizeof(Elf64_Nhdr);
        desc = jpp_elf_round(name + note.n_namesz, alignment);

        if (desc > len || note.n_descsz > len - desc) {
            return false;
        }

        if (note.n_type == NT_GNU_BUILD_ID
            && note.n_namesz == sizeof(ELF_NOTE_GNU)
            && memcmp(data + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0
            && note.n_descsz != 0
            && note.n_descsz <= JPP_BUILD_ID_MAX)
        {
            id->len = note.n_descsz;
            memcpy(id->data, data + desc, id->len);

            return true;
        }

        desc += jpp_elf_round(note.n_descsz, alignment);

        data += jpp_smaller(desc, len);
        len = jpp_less(len, desc);
    }

    return false;
}


static jpp_code_t
jpp_elf_segments(jpp_elf_t *elf, jpp_arena_t *arena,
    const jpp_elf_image_t *image, jpp_err_t *err)
{
    int                 i;
    Elf64_Phdr          phdr;
    jpp_elf_segment_t  *segment;

    segment = jpp_arena_alloc(arena, JPP_ELF_MAX_SEGMENTS
                                     * sizeof(jpp_elf_segment_t));
    if (segment == NULL) {
        return jpp_err_memory(err);
    }

    elf->segments = segment;

    for (i = 0; i < image->header.e_phnum; i++) {

        if (gelf_getphdr(image->elf, i, &phdr) == NULL) {
            return jpp_err_set(err, JPP_ERR_INPUT,
                               "its program headers are damaged");
        }

        if (phdr.p_type != PT_LOAD
            || (phdr.p_flags & PF_X) == 0
            || phdr.p_filesz == 0)
        {
            continue;
        }

        if (phdr.p_filesz > jpp_less(image->size, phdr.p_offset)) {
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


/*
 * The build id of IMAGE.  That of a debug file is found by section: some
 * strippers copy the program headers from the stripped file, which are wrong
 * here.
 */

static jpp_code_t
jpp_elf_identity(jpp_build_id_t *id, jpp_elf_image_t *image, bool is_debug,
    jpp_err_t *err)
{
    int         i;
    jpp_code_t  rc;
    Elf64_Phdr  note;
    Elf64_Shdr  shdr;

    for (i = 0; id->len == 0; i++) {

        if (is_debug) {

            /* the first one is empty by definition */

            if (!jpp_elf_image_section(image, (uint32_t) i + 1, &shdr)) {
                break;
            }

            note.p_type = shdr.sh_type == SHT_NOTE ? PT_NOTE : PT_NULL;
            note.p_offset = shdr.sh_offset;
            note.p_filesz = shdr.sh_size;
            note.p_align = shdr.sh_addralign;

        } else if (gelf_getphdr(image->elf, i, &note) == NULL) {
            break;
        }

        if (note.p_type != PT_NOTE || note.p_filesz > JPP_ELF_MAX_NOTE) {
            continue;
        }

        rc = jpp_elf_image_load(image, note.p_offset, note.p_filesz, err);

        if (rc != JPP_OK) {
            return rc;
        }

        (void) jpp_build_id_note(image->data + note.p_offset,
                                 (size_t) note.p_filesz,
                                 (size_t) note.p_align, id);
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

        name = elf_strptr(image->elf, strings, shdr.sh_name);

        if (shdr.sh_type == SHT_SYMTAB) {
            sections->symtab = i;

        } else if (shdr.sh_type == SHT_DYNSYM) {
            sections->dynsym = i;

        } else if (name != NULL && strcmp(name, ".eh_frame") == 0) {
            sections->eh_frame = i;
        }
    }

    return JPP_OK;
}


static jpp_code_t
jpp_elf_symbols(jpp_elf_symbols_t *symbols, jpp_elf_image_t *image,
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
        rc = jpp_elf_image_load(image, strings.sh_offset, strings.sh_size, err);
    }

    if (rc != JPP_OK) {
        return rc;
    }

    p = (const char *) image->data + strings.sh_offset;

    symbols->data = elf_getdata(elf_getscn(image->elf, section), NULL);

    if (symbols->data == NULL || p[strings.sh_size - 1] != '\0') {
        return jpp_err_set(err, JPP_ERR_INPUT, "its symbol table is damaged");
    }

    symbols->n = (uint32_t) n;
    symbols->strings = p;
    symbols->strings_len = (size_t) strings.sh_size;

    return JPP_OK;
}


/* Does the debug file at FD have the symbols of this very build? */

static bool
jpp_elf_debug(jpp_elf_symbols_t *symbols, jpp_elf_image_t *image,
    const jpp_elf_t *elf, int fd, jpp_arena_t *arena)
{
    jpp_build_id_t      id;
    jpp_elf_sections_t  sections;

    memset(&id, 0, sizeof(jpp_build_id_t));

    return fd != -1
           && elf->build_id.len != 0
           && jpp_elf_image_open(image, fd, arena, JPP_ELF_ALL, NULL) == JPP_OK
           && jpp_elf_identity(&id, image, true, NULL) == JPP_OK
           && id.len == elf->build_id.len
           && memcmp(id.data, elf->build_id.data, id.len) == 0
           && jpp_elf_sections(&sections, image, NULL) == JPP_OK
           && sections.symtab != 0
           && jpp_elf_symbols(symbols, image, sections.symtab, NULL) == JPP_OK;
}


/* The functions of TABLE become symbols of SOURCE; false: no memory. */

static bool
jpp_elf_named(jpp_elf_source_t *source, const jpp_elf_t *elf,
    const jpp_elf_symbols_t *table, jpp_arena_t *arena)
{
    int        type, bind;
    uint32_t   i;
    Elf64_Sym  sym;

    source->strings = table->strings;
    source->symbols = jpp_vec_create(arena);

    if (source->symbols == NULL) {
        return false;
    }

    /* the first one is empty by definition */

    for (i = 1; i < table->n; i++) {

        if (gelf_getsym(table->data, (int) i, &sym) == NULL) {
            break;
        }

        type = ELF64_ST_TYPE(sym.st_info);
        bind = ELF64_ST_BIND(sym.st_info);

        if ((type != STT_FUNC && type != STT_GNU_IFUNC)
            || sym.st_shndx == SHN_UNDEF
            || sym.st_name >= table->strings_len)
        {
            continue;
        }

        if (!jpp_extents_symbol(source->symbols, elf, sym.st_value, sym.st_size,
                                sym.st_name, table->strings,
                                bind == STB_LOCAL, bind == STB_WEAK))
        {
            return false;
        }
    }

    return true;
}


static jpp_code_t
jpp_elf_functions(jpp_elf_t *elf, jpp_arena_t *arena, jpp_elf_image_t *image,
    int debug_fd, jpp_err_t *err)
{
    jpp_code_t          rc;
    Elf64_Shdr          shdr;
    jpp_elf_image_t     debug;
    jpp_elf_source_t    source;
    jpp_elf_symbols_t   symbols;
    jpp_elf_sections_t  sections;

    memset(&debug, 0, sizeof(jpp_elf_image_t));
    memset(&symbols, 0, sizeof(jpp_elf_symbols_t));
    memset(&source, 0, sizeof(jpp_elf_source_t));

    rc = jpp_elf_sections(&sections, image, err);

    if (rc == JPP_OK && sections.eh_frame != 0) {
        (void) jpp_elf_image_section(image, sections.eh_frame, &shdr);
        rc = jpp_elf_image_load(image, shdr.sh_offset, shdr.sh_size, err);
    }

    if (rc != JPP_OK) {
        return rc;
    }

    if (sections.eh_frame != 0) {
        source.eh_frame = image->data + shdr.sh_offset;
        source.eh_frame_len = (size_t) shdr.sh_size;
        source.eh_frame_address = shdr.sh_addr;
        source.address_size = image->address_size;
    }

    if (sections.symtab != 0) {
        elf->has_symtab = true;
        rc = jpp_elf_symbols(&symbols, image, sections.symtab, err);

    } else if (jpp_elf_debug(&symbols, &debug, elf, debug_fd, arena)) {
        elf->has_symtab = true;

    } else if (sections.dynsym != 0) {
        rc = jpp_elf_symbols(&symbols, image, sections.dynsym, err);
    }

    if (rc == JPP_OK) {
        rc = jpp_elf_named(&source, elf, &symbols, arena)
             && jpp_elf_table(elf, arena, &source)
             ? JPP_OK : jpp_err_memory(err);

        jpp_vec_release(source.symbols);
    }

    jpp_elf_image_close(&debug);

    return rc;
}


jpp_code_t
jpp_elf_read(jpp_elf_t *elf, jpp_arena_t *arena, int fd, int debug_fd,
    jpp_elf_parts_t parts, jpp_err_t *err)
{
    size_t           cap;
    jpp_code_t       rc;
    jpp_elf_image_t  image;

    cap = arena->cap;

    memset(elf, 0, sizeof(jpp_elf_t));

    elf->names = "";
    elf->names_len = 1;
    elf->hinted = 1;

    rc = jpp_elf_image_open(&image, fd, arena, parts, err);

    if (rc == JPP_OK) {
        rc = jpp_elf_segments(elf, arena, &image, err);
    }

    if (rc == JPP_OK) {
        rc = jpp_elf_identity(&elf->build_id, &image, false, err);
    }

    if (rc == JPP_OK && parts == JPP_ELF_ALL) {
        rc = jpp_elf_functions(elf, arena, &image, debug_fd, err);
    }

    jpp_elf_image_close(&image);
    arena->cap = cap;

    return rc;
}

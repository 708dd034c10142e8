
/*
 * libelf follows offsets inside the image only, so it cannot fault, and it
 * finds zeros where nothing was loaded.  On opening it reads all section
 * headers, so an image is opened twice: for the ELF header, which says where
 * the others are, and again once these are loaded.
 *
 * libelf takes its handle from malloc, about 200 bytes a section, and copies
 * nothing as long as the byte order is ours and tables are aligned.
 */


/* pread(), MAP_ANONYMOUS */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jpp_elf_image.h"
#include "jpp_limits.h"


/* one read covers what identifies most files */
#define JPP_ELF_HEAD        4096

/* the kernel loads no file with more program headers */
#define JPP_ELF_MAX_PHDRS   65536

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define JPP_ELF_DATA        ELFDATA2LSB
#else
#define JPP_ELF_DATA        ELFDATA2MSB
#endif


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


/* Give the first SIZE bytes of the image to libelf. */

static jpp_code_t
jpp_elf_image_begin(jpp_elf_image_t *image, size_t size, jpp_err_t *err)
{
    if (image->elf != NULL) {
        (void) elf_end(image->elf);
        image->elf = NULL;
    }

    (void) elf_version(EV_CURRENT);

    /* libelf knows archives, too */

    if (memcmp(image->data, ELFMAG, SELFMAG) == 0) {
        image->elf = elf_memory((char *) image->data, size);
    }

    if (image->elf == NULL
        || elf_kind(image->elf) != ELF_K_ELF
        || gelf_getehdr(image->elf, &image->header) == NULL)
    {
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


jpp_code_t
jpp_elf_image_open(jpp_elf_image_t *image, int fd, size_t room,
    jpp_elf_parts_t parts, jpp_err_t *err)
{
    void         *p;
    struct stat   st;

    memset(image, 0, sizeof(jpp_elf_image_t));

    image->fd = fd;
    image->room = room;

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

    p = mmap(NULL, (size_t) st.st_size, PROT_READ|PROT_WRITE,
             MAP_PRIVATE|MAP_ANONYMOUS|MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED) {
        return jpp_err_sys(err, errno, "no address space for it");
    }

    image->data = p;
    image->size = (size_t) st.st_size;

    /* otherwise touching one byte may take 2 MiB */
    (void) madvise(p, image->size, MADV_NOHUGEPAGE);

    return jpp_elf_image_headers(image, parts, err);
}


void
jpp_elf_image_close(jpp_elf_image_t *image)
{
    if (image->elf != NULL) {
        (void) elf_end(image->elf);
    }

    if (image->data != NULL) {
        (void) munmap(image->data, image->size);
    }
}


jpp_code_t
jpp_elf_image_load(jpp_elf_image_t *image, uint64_t offset, uint64_t len,
    jpp_err_t *err)
{
    size_t   done;
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

    if (len > image->room) {
        return jpp_err_memory(err);
    }

    image->room -= (size_t) len;
    image->loaded += (size_t) len;

    for (done = 0; done < len; done += (size_t) n) {

        n = pread(image->fd, image->data + offset + done, (size_t) len - done,
                  (off_t) (offset + done));

        if (n == -1 && errno == EINTR) {
            n = 0;
            continue;
        }

        if (n == -1) {
            return jpp_err_sys(err, errno, "it cannot be read");
        }

        if (n == 0) {
            return jpp_err_set(err, JPP_ERR_CUT, "it is truncated");
        }
    }

    return JPP_OK;
}


bool
jpp_elf_image_segment(const jpp_elf_image_t *image, uint32_t i,
    Elf64_Phdr *phdr)
{
    return i < image->header.e_phnum
           && gelf_getphdr(image->elf, (int) i, phdr) != NULL;
}


bool
jpp_elf_image_section(const jpp_elf_image_t *image, uint32_t i,
    Elf64_Shdr *shdr)
{
    Elf_Scn  *scn;

    scn = elf_getscn(image->elf, i);

    return scn != NULL && gelf_getshdr(scn, shdr) != NULL;
}


const char *
jpp_elf_image_string(const jpp_elf_image_t *image, uint32_t section,
    uint32_t offset)
{
    return elf_strptr(image->elf, section, offset);
}


void
jpp_elf_image_build_id(const jpp_elf_image_t *image, uint64_t offset,
    size_t len, uint64_t alignment, jpp_build_id_t *id)
{
    size_t       pos, name, desc;
    Elf_Data    *data;
    GElf_Nhdr    note;
    const char  *p;

    data = elf_getdata_rawchunk(image->elf, (int64_t) offset, len,
                                alignment == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
    if (data == NULL) {
        return;
    }

    pos = 0;
    p = data->d_buf;

    while ((pos = gelf_getnote(data, pos, &note, &name, &desc)) != 0) {

        if (note.n_type == NT_GNU_BUILD_ID
            && note.n_namesz == sizeof(ELF_NOTE_GNU)
            && memcmp(p + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0
            && note.n_descsz != 0
            && note.n_descsz <= JPP_BUILD_ID_MAX)
        {
            id->len = note.n_descsz;
            memcpy(id->data, p + desc, id->len);
            return;
        }
    }
}


void *
jpp_elf_image_symbols(const jpp_elf_image_t *image, uint32_t section)
{
    return elf_getdata(elf_getscn(image->elf, section), NULL);
}


bool
jpp_elf_image_symbol(void *symbols, uint32_t i, Elf64_Sym *sym)
{
    return gelf_getsym(symbols, (int) i, sym) != NULL;
}


/*
 * The parts of an ELF file that were requested, in memory; the owner of
 * libelf.
 *
 * An image is as large as the file, but only what was loaded is filled in: the
 * rest is zeros and takes no memory.  The file is read and never mapped, so
 * truncating it in place is an error here and not a SIGBUS.
 *
 * Headers and symbols are given in their 64-bit form, whatever the file's
 * class.  Only the ELF header is checked here; the rest is as the file has it.
 * Loading checks offsets and sizes.  An image has pages of its own, and some
 * memory that libelf takes from malloc, until it is closed.
 */


#ifndef _JPP_ELF_IMAGE_H_INCLUDED_
#define _JPP_ELF_IMAGE_H_INCLUDED_


#include <elf.h>

#include "jpp_elf.h"
#include "jpp_err.h"


typedef struct {
    int            fd;
    uint8_t       *data;
    size_t         size;
    size_t         head;           /* bytes loaded from the start on */
    size_t         room;           /* bytes that may still be loaded */
    size_t         loaded;         /* bytes that were */
    void          *elf;            /* libelf's handle */
    Elf64_Ehdr     header;
    uint32_t       address_size;   /* 4 or 8 */
} jpp_elf_image_t;


/*
 * Open the caller's IMAGE of the file at FD and load its headers; at most ROOM
 * bytes may be loaded in all.  Close it after an error, too.
 */
jpp_code_t jpp_elf_image_open(jpp_elf_image_t *image, int fd, size_t room,
    jpp_elf_parts_t parts, jpp_err_t *err);

/* A zeroed IMAGE may be closed. */
void jpp_elf_image_close(jpp_elf_image_t *image);

/* Load the LEN bytes at OFFSET of the file to the same place of the image. */
jpp_code_t jpp_elf_image_load(jpp_elf_image_t *image, uint64_t offset,
    uint64_t len, jpp_err_t *err);

/* Program header I and section header I, from 0; false: no such header. */
bool jpp_elf_image_segment(const jpp_elf_image_t *image, uint32_t i,
    Elf64_Phdr *phdr);
bool jpp_elf_image_section(const jpp_elf_image_t *image, uint32_t i,
    Elf64_Shdr *shdr);

/* The string at OFFSET of string table SECTION, loaded; NULL: no string. */
const char *jpp_elf_image_string(const jpp_elf_image_t *image,
    uint32_t section, uint32_t offset);

/*
 * The build id among the notes, loaded, in the LEN bytes at OFFSET; ID stays
 * as it is if they have none.  ALIGNMENT is the notes', from the header.
 */
void jpp_elf_image_build_id(const jpp_elf_image_t *image, uint64_t offset,
    size_t len, uint64_t alignment, jpp_build_id_t *id);

/* The symbols of symbol table SECTION, loaded; NULL: it is damaged. */
void *jpp_elf_image_symbols(const jpp_elf_image_t *image, uint32_t section);

/* Symbol I, from 0, of SYMBOLS; false: no such symbol. */
bool jpp_elf_image_symbol(void *symbols, uint32_t i, Elf64_Sym *sym);


#endif /* _JPP_ELF_IMAGE_H_INCLUDED_ */

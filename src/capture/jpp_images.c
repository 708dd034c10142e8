
/* dl_iterate_phdr() */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <link.h>
#include <string.h>

#include "jpp_images.h"


static int jpp_images_add(struct dl_phdr_info *info, size_t size, void *data);
static const ElfW(Phdr) *jpp_images_code(const struct dl_phdr_info *info);
static bool jpp_images_id(const struct dl_phdr_info *info,
    jpp_build_id_t *id);
static bool jpp_images_is_loaded(const struct dl_phdr_info *info,
    const ElfW(Phdr) *note);
static size_t jpp_images_round(size_t size, size_t alignment);


bool
jpp_images_read(jpp_vec_t *images)
{
    return dl_iterate_phdr(jpp_images_add, images) == 0;
}


static int
jpp_images_add(struct dl_phdr_info *info, size_t size, void *data)
{
    jpp_vec_t *images = data;

    jpp_image_t         *image;
    jpp_build_id_t       id;
    const ElfW(Phdr)    *code;

    (void) size;

    code = jpp_images_code(info);

    if (code == NULL || !jpp_images_id(info, &id)) {
        return 0;
    }

    image = jpp_vec_push(images, sizeof(jpp_image_t));
    if (image == NULL) {
        return 1;
    }

    image->address = info->dlpi_addr + code->p_vaddr;
    image->build_id = id;

    return 0;
}


static const ElfW(Phdr) *
jpp_images_code(const struct dl_phdr_info *info)
{
    size_t             i;
    const ElfW(Phdr)  *phdr;

    for (i = 0; i < info->dlpi_phnum; i++) {
        phdr = &info->dlpi_phdr[i];

        if (phdr->p_type == PT_LOAD && (phdr->p_flags & PF_X) != 0) {
            return phdr;
        }
    }

    return NULL;
}


static bool
jpp_images_id(const struct dl_phdr_info *info, jpp_build_id_t *id)
{
    size_t             i;
    const ElfW(Phdr)  *phdr;

    for (i = 0; i < info->dlpi_phnum; i++) {
        phdr = &info->dlpi_phdr[i];

        if (phdr->p_type == PT_NOTE
            && jpp_images_is_loaded(info, phdr)
            && jpp_images_note((const uint8_t *) (info->dlpi_addr
                                                  + phdr->p_vaddr),
                               phdr->p_memsz, phdr->p_align, id))
        {
            return true;
        }
    }

    return false;
}


/* Some strippers leave headers of notes that no segment holds. */

static bool
jpp_images_is_loaded(const struct dl_phdr_info *info, const ElfW(Phdr) *note)
{
    size_t             i;
    const ElfW(Phdr)  *phdr;

    for (i = 0; i < info->dlpi_phnum; i++) {
        phdr = &info->dlpi_phdr[i];

        if (phdr->p_type == PT_LOAD
            && (phdr->p_flags & PF_R) != 0
            && note->p_vaddr >= phdr->p_vaddr
            && note->p_vaddr - phdr->p_vaddr <= phdr->p_filesz
            && note->p_memsz <= phdr->p_filesz
                                - (note->p_vaddr - phdr->p_vaddr))
        {
            return true;
        }
    }

    return false;
}


bool
jpp_images_note(const uint8_t *data, size_t len, size_t alignment,
    jpp_build_id_t *id)
{
    size_t       name, desc;
    ElfW(Nhdr)   note;

    if (alignment != 8) {
        alignment = 4;
    }

    while (len >= sizeof(ElfW(Nhdr))) {

        memcpy(&note, data, sizeof(ElfW(Nhdr)));

        if (note.n_namesz > len || note.n_descsz > len) {
            return false;
        }

        name = sizeof(ElfW(Nhdr));
        desc = jpp_images_round(name + note.n_namesz, alignment);

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

        desc += jpp_images_round(note.n_descsz, alignment);

        if (desc > len) {
            return false;
        }

        data += desc;
        len -= desc;
    }

    return false;
}


static size_t
jpp_images_round(size_t size, size_t alignment)
{
    return (size + alignment - 1) & ~(alignment - 1);
}

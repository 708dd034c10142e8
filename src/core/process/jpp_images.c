
#include "jpp_images.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>


/* the longest name of an object that is looked at */
#define JPP_IMAGES_NAME  4096


/*
 * Whether an object that is loaded defines a global symbol, by the tables that
 * the linker itself would search.
 *
 * dlsym() says the same, but for a symbol that is missing it takes memory from
 * malloc, for the text of its error.  No state; any thread.
 */


typedef struct {
    const ElfW(Sym)   *symbols;
    const char        *strings;
    const uint32_t    *hashes;     /* DT_GNU_HASH */
} jpp_image_tables_t;


/*
 * The table: numbers of buckets and of the first symbol, size of a filter in
 * addresses, its shift, the filter, the buckets, and the hashes of the symbols.
 * The last of a bucket has an odd hash.
 */

static bool
jpp_image_defines(const jpp_image_tables_t *tables, const char *name)
{
    uint32_t          i, hash, n_buckets, first;
    const char       *p;
    const uint32_t   *buckets, *hashes;
    const ElfW(Sym)  *found;

    n_buckets = tables->hashes[0];
    first = tables->hashes[1];

    if (n_buckets == 0) {
        return false;
    }

    buckets = tables->hashes + 4
              + tables->hashes[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    hashes = buckets + n_buckets;


    for (hash = 5381, p = name; *p != '\0'; p++) {
        hash = hash * 33 + (uint8_t) *p;
    }

    for (i = buckets[hash % n_buckets]; i >= first; i++) {

        found = &tables->symbols[i];

        if ((hashes[i - first] | 1) == (hash | 1)
            && found->st_shndx != SHN_UNDEF
            && strcmp(tables->strings + found->st_name, name) == 0)
        {
            return true;
        }

        if ((hashes[i - first] & 1) != 0) {
            break;
        }
    }

    return false;
}


/*
 * Does the object at BASE, whose dynamic section is DYNAMIC, define NAME?  One
 * without DT_GNU_HASH defines nothing.
 *
 * The linker has added the base to addresses, but not for all objects.
 */

static bool
jpp_image_symbol(uintptr_t base, const ElfW(Dyn) *dynamic, const char *name)
{
    uintptr_t           address;
    jpp_image_tables_t  tables = { NULL, NULL, NULL };

    for ( /* void */ ; dynamic->d_tag != DT_NULL; dynamic++) {

        address = dynamic->d_un.d_ptr;

        if (address < base) {
            address += base;
        }

        if (dynamic->d_tag == DT_SYMTAB) {
            tables.symbols = (const ElfW(Sym) *) address;

        } else if (dynamic->d_tag == DT_STRTAB) {
            tables.strings = (const char *) address;

        } else if (dynamic->d_tag == DT_GNU_HASH) {
            tables.hashes = (const uint32_t *) address;
        }
    }

    return tables.symbols != NULL && tables.strings != NULL
           && tables.hashes != NULL && jpp_image_defines(&tables, name);
}


/* the next object that is not among those that are known */
typedef struct {
    const jpp_mapped_t    *known;      /* NULL: all are new */
    size_t                 first;      /* objects before it are passed over */
    size_t                 n;
    bool                   is_pinned;
    jpp_images_object_t    object;
    char                   name[JPP_IMAGES_NAME];
} jpp_images_new_t;


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


static bool
jpp_images_id(const struct dl_phdr_info *info, jpp_build_id_t *id)
{
    size_t             i;
    const ElfW(Phdr)  *phdr;

    for (i = 0; i < info->dlpi_phnum; i++) {
        phdr = &info->dlpi_phdr[i];

        if (phdr->p_type == PT_NOTE
            && jpp_images_is_loaded(info, phdr)
            && jpp_build_id_note((const uint8_t *) (info->dlpi_addr
                                                  + phdr->p_vaddr),
                               phdr->p_memsz, phdr->p_align, id))
        {
            return true;
        }
    }

    return false;
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


bool
jpp_images_read(jpp_vec_t *images)
{
    return dl_iterate_phdr(jpp_images_add, images) == 0;
}


static void
jpp_images_segments(const struct dl_phdr_info *info,
    jpp_images_object_t *object)
{
    size_t                i;
    jpp_segment_t        *segment;
    const ElfW(Phdr)     *phdr;
    jpp_mapped_object_t  *mapped;

    mapped = &object->mapped;
    mapped->n = 0;
    mapped->frames = 0;
    object->dynamic = 0;

    for (i = 0; i < info->dlpi_phnum; i++) {
        phdr = &info->dlpi_phdr[i];

        if (phdr->p_type == PT_GNU_EH_FRAME) {
            mapped->frames = info->dlpi_addr + phdr->p_vaddr;
        }

        if (phdr->p_type == PT_DYNAMIC) {
            object->dynamic = info->dlpi_addr + phdr->p_vaddr;
        }

        if (phdr->p_type != PT_LOAD || mapped->n == JPP_MAPPED_SEGMENTS) {
            continue;
        }

        segment = &mapped->segments[mapped->n++];
        segment->start = info->dlpi_addr + phdr->p_vaddr;
        segment->end = segment->start + phdr->p_memsz;
        segment->is_readable = (phdr->p_flags & PF_R) != 0;
        segment->is_executable = (phdr->p_flags & PF_X) != 0;
    }
}


static int
jpp_images_find_new(struct dl_phdr_info *info, size_t size, void *data)
{
    jpp_images_new_t *found = data;

    const ElfW(Phdr)  *code;

    (void) size;

    code = jpp_images_code(info);

    if (found->n++ < found->first
        || code == NULL
        || strlen(info->dlpi_name) >= JPP_IMAGES_NAME
        || (found->known != NULL
            && jpp_mapped_find(found->known, info->dlpi_addr + code->p_vaddr)
               != NULL))
    {
        return 0;
    }

    /* the main program and the kernel's own object are never unmapped */

    found->is_pinned = info->dlpi_name[0] == '\0'
                       || (uintptr_t) info->dlpi_phdr == getauxval(AT_PHDR)
                       || info->dlpi_addr == getauxval(AT_SYSINFO_EHDR);

    memcpy(found->name, info->dlpi_name, strlen(info->dlpi_name) + 1);
    found->object.name = found->name;
    found->object.base = info->dlpi_addr;
    jpp_images_segments(info, &found->object);

    return 1;
}


/* It may have been unloaded meanwhile, and loaded again elsewhere. */

static bool
jpp_images_pin(const char *name, uintptr_t base)
{
    bool              is_there;
    void             *handle;
    struct link_map  *map;

    handle = dlopen(name, RTLD_LAZY|RTLD_NOLOAD|RTLD_NODELETE);
    if (handle == NULL) {
        return false;
    }

    is_there = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0
               && map->l_addr == base;

    (void) dlclose(handle);

    return is_there;
}


/*
 * One at a time: the linker's list is locked while it is walked, and dlopen()
 * takes the locks in another order.
 */

static bool
jpp_images_next(jpp_images_new_t *found)
{
    do {
        found->n = 0;

        if (dl_iterate_phdr(jpp_images_find_new, found) == 0) {
            return false;
        }

        found->first = found->n;

    } while (!found->is_pinned
             && !jpp_images_pin(found->name, found->object.base));

    return true;
}


bool
jpp_images_unwind(jpp_mapped_t *objects)
{
    jpp_images_new_t  found;

    found.known = objects;
    found.first = 0;

    while (jpp_images_next(&found)) {
        if (!jpp_mapped_add(objects, &found.object.mapped)) {
            return false;
        }
    }

    return true;
}


void
jpp_images_pinned(jpp_images_visit_pt visit, void *data)
{
    jpp_images_new_t  found;

    found.known = NULL;
    found.first = 0;

    while (jpp_images_next(&found)) {
        if (!visit(&found.object, data)) {
            return;
        }
    }
}


static int
jpp_images_zeroes(struct dl_phdr_info *info, size_t size, void *data)
{
    size_t             i;
    uint64_t           page, start, end, *pair;
    const ElfW(Phdr)  *phdr;

    (void) size;

    page = (uint64_t) sysconf(_SC_PAGESIZE);

    for (i = 0; i < info->dlpi_phnum; i++) {
        phdr = &info->dlpi_phdr[i];

        start = info->dlpi_addr + phdr->p_vaddr + phdr->p_filesz + page - 1;
        end = info->dlpi_addr + phdr->p_vaddr + phdr->p_memsz + page - 1;

        start -= start % page;
        end -= end % page;

        if (phdr->p_type != PT_LOAD || start >= end) {
            continue;
        }

        pair = jpp_vec_push(data, 2 * sizeof(uint64_t));

        if (pair == NULL) {
            return 1;
        }

        pair[0] = start;
        pair[1] = end;
    }

    return 0;
}


bool
jpp_images_zeroed(jpp_vec_t *pairs)
{
    return dl_iterate_phdr(jpp_images_zeroes, pairs) == 0;
}


static int
jpp_images_look(struct dl_phdr_info *info, size_t size, void *data)
{
    const char *const *name = data;

    size_t            i;
    const ElfW(Dyn)  *dynamic;

    (void) size;

    for (i = 0; i < info->dlpi_phnum; i++) {

        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
            dynamic = (const ElfW(Dyn) *) (info->dlpi_addr
                                           + info->dlpi_phdr[i].p_vaddr);

            return jpp_image_symbol(info->dlpi_addr, dynamic, *name);
        }
    }

    return 0;
}


bool
jpp_images_has(const char *name)
{
    return dl_iterate_phdr(jpp_images_look, &name) != 0;
}


/* Every object has the same number: the first will do. */

static int
jpp_images_count(struct dl_phdr_info *info, size_t size, void *data)
{
    uint64_t *loads = data;

    (void) size;

    *loads = info->dlpi_adds;

    return 1;
}


uint64_t
jpp_images_loads(void)
{
    uint64_t  loads;

    loads = 0;

    (void) dl_iterate_phdr(jpp_images_count, &loads);

    return loads;
}

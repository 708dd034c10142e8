
/*
 * The objects loaded into this process: their build ids, and their segments for
 * the unwinder.
 */


#include "jpp_proc.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>


/* the longest name of an object that is looked at */
#define JPP_IMAGES_NAME  4096


bool
jpp_images_holds(const jpp_images_object_t *object, uintptr_t address,
    size_t len)
{
    const jpp_segment_t  *segment;

    segment = jpp_mapped_segment(&object->mapped, address);

    return len != 0
           && segment != NULL
           && segment->is_readable
           && len <= segment->end - address;
}


uintptr_t
jpp_images_dynamic(const jpp_images_object_t *object, int64_t tag)
{
    const ElfW(Dyn)  *entry;

    entry = (const ElfW(Dyn) *) object->dynamic;

    while (jpp_images_holds(object, (uintptr_t) entry, sizeof(ElfW(Dyn)))
           && entry->d_tag != DT_NULL)
    {
        if (entry->d_tag == tag) {
            return entry->d_un.d_val;
        }

        entry++;
    }

    return 0;
}


/* The linker has added the base to addresses, but not for all objects. */

uintptr_t
jpp_images_table(const jpp_images_object_t *object, int64_t tag, size_t len)
{
    uintptr_t  address;

    address = jpp_images_dynamic(object, tag);

    if (address != 0 && !jpp_images_holds(object, address, len)) {
        address += object->base;
    }

    return jpp_images_holds(object, address, len) ? address : 0;
}


/*
 * Does OBJECT define the global symbol NAME, by the tables that the linker
 * itself would search?  One without DT_GNU_HASH defines nothing.
 *
 * dlsym() says the same, but for a symbol that is missing it takes memory from
 * malloc, for the text of its error.
 *
 * The table: numbers of buckets and of the first symbol, size of a filter in
 * addresses, its shift, the filter, the buckets, and the hashes of the symbols.
 * The last of a bucket has an odd hash.
 */

static bool
jpp_images_defines(const jpp_images_object_t *object, const char *name)
{
    uint32_t          i, hash, first;
    const char       *p, *strings;
    const uint32_t   *table, *buckets, *hashes;
    const ElfW(Sym)  *symbols;

    symbols = (const ElfW(Sym) *) jpp_images_table(object, DT_SYMTAB,
                                                   sizeof(ElfW(Sym)));
    strings = (const char *) jpp_images_table(object, DT_STRTAB, 1);
    table = (const uint32_t *) jpp_images_table(object, DT_GNU_HASH,
                                                4 * sizeof(uint32_t));

    if (symbols == NULL || strings == NULL || table == NULL || table[0] == 0) {
        return false;
    }

    first = table[1];
    buckets = table + 4 + table[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    hashes = buckets + table[0];

    for (hash = 5381, p = name; *p != '\0'; p++) {
        hash = hash * 33 + (uint8_t) *p;
    }

    for (i = buckets[hash % table[0]]; i >= first; i++) {

        if ((hashes[i - first] | 1) == (hash | 1)
            && symbols[i].st_shndx != SHN_UNDEF
            && strcmp(strings + symbols[i].st_name, name) == 0)
        {
            return true;
        }

        if ((hashes[i - first] & 1) != 0) {
            break;
        }
    }

    return false;
}


/* OBJECT becomes what the linker says in INFO; but it has no name. */

static void
jpp_images_fill(const struct dl_phdr_info *info, jpp_images_object_t *object)
{
    jpp_segment_t        *segment;
    const ElfW(Phdr)     *phdr;
    jpp_mapped_object_t  *mapped;

    mapped = &object->mapped;
    mapped->n = 0;
    mapped->frames = 0;
    object->base = info->dlpi_addr;
    object->dynamic = 0;
    object->code = 0;

    jpp_each(phdr, info->dlpi_phdr, info->dlpi_phnum) {

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

        if (segment->is_executable && object->code == 0) {
            object->code = segment->start;
        }
    }
}


/* Some strippers leave headers of notes that no segment holds. */

static int
jpp_images_add(struct dl_phdr_info *info, size_t size, void *data)
{
    jpp_vec_t *images = data;

    uintptr_t             note;
    jpp_image_t          *image;
    jpp_build_id_t        id;
    const ElfW(Phdr)     *phdr;
    jpp_images_object_t   object;

    (void) size;

    jpp_images_fill(info, &object);

    jpp_each(phdr, info->dlpi_phdr, info->dlpi_phnum) {
        note = info->dlpi_addr + phdr->p_vaddr;

        if (object.code == 0
            || phdr->p_type != PT_NOTE
            || !jpp_images_holds(&object, note, phdr->p_memsz)
            || !jpp_build_id_note((const uint8_t *) note, phdr->p_memsz,
                                  phdr->p_align, &id))
        {
            continue;
        }

        image = jpp_vec_push(images, sizeof(jpp_image_t));
        if (image == NULL) {
            return 1;
        }

        image->address = object.code;
        image->build_id = id;

        return 0;
    }

    return 0;
}


bool
jpp_images_read(jpp_vec_t *images)
{
    return dl_iterate_phdr(jpp_images_add, images) == 0;
}


/* the next object */
typedef struct {
    size_t                 first;      /* objects before it are passed over */
    size_t                 n;
    bool                   is_pinned;
    jpp_images_object_t    object;
    char                   name[JPP_IMAGES_NAME];
} jpp_images_next_t;


static int
jpp_images_find_next(struct dl_phdr_info *info, size_t size, void *data)
{
    jpp_images_next_t *found = data;

    (void) size;

    jpp_images_fill(info, &found->object);

    if (found->n++ < found->first
        || found->object.code == 0
        || strlen(info->dlpi_name) >= JPP_IMAGES_NAME)
    {
        return 0;
    }

    /* the main program and the kernel's own object are never unmapped */

    found->is_pinned = info->dlpi_name[0] == '\0'
                       || (uintptr_t) info->dlpi_phdr == getauxval(AT_PHDR)
                       || info->dlpi_addr == getauxval(AT_SYSINFO_EHDR);

    memcpy(found->name, info->dlpi_name, strlen(info->dlpi_name) + 1);
    found->object.name = found->name;

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

void
jpp_images_pinned(jpp_images_visit_pt visit, void *data)
{
    jpp_images_next_t  found;

    found.first = 0;

    do {
        found.n = 0;

        if (dl_iterate_phdr(jpp_images_find_next, &found) == 0) {
            return;
        }

        found.first = found.n;

    } while ((!found.is_pinned
              && !jpp_images_pin(found.name, found.object.base))
             || visit(&found.object, data));
}


static bool
jpp_images_map(const jpp_images_object_t *object, void *data)
{
    return jpp_mapped_add(data, &object->mapped);
}


void
jpp_images_unwind(jpp_mapped_t *objects)
{
    jpp_images_pinned(jpp_images_map, objects);
}


static int
jpp_images_zeroes(struct dl_phdr_info *info, size_t size, void *data)
{
    uint64_t           page, start, end, *pair;
    const ElfW(Phdr)  *phdr;

    (void) size;

    page = (uint64_t) sysconf(_SC_PAGESIZE);

    jpp_each(phdr, info->dlpi_phdr, info->dlpi_phnum) {
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

    jpp_images_object_t  object;

    (void) size;

    jpp_images_fill(info, &object);

    return jpp_images_defines(&object, *name);
}


bool
jpp_images_has(const char *name)
{
    return dl_iterate_phdr(jpp_images_look, &name) != 0;
}


bool
jpp_images_is_beside(uintptr_t one, uintptr_t other)
{
    Dl_info  ones, others;

    return dladdr((void *) one, &ones) != 0
           && dladdr((void *) other, &others) != 0
           && ones.dli_fbase == others.dli_fbase;
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


bool
jpp_images_is_new(uint64_t *loads)
{
    uint64_t  before;

    before = *loads;

    (void) dl_iterate_phdr(jpp_images_count, loads);

    return *loads != before;
}

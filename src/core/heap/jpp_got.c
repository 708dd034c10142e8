
/* Replaces functions in the global offset tables (GOT) of loaded objects. */


#include "jpp_sampler.h"

#include <dlfcn.h>
#include <link.h>


typedef struct {
    const char   *name;
    uintptr_t     address;
} jpp_got_search_t;


/*
 * A program at a fixed address that takes a function's address has it stand
 * for an entry of its own, which calls by the slot that is to be patched.
 */

static bool
jpp_got_is_entry(uintptr_t address)
{
#ifdef __GLIBC__

    void      *symbol;
    Dl_info    info;

    return dladdr1((void *) address, &info, &symbol, RTLD_DL_SYMENT) != 0
           && symbol != NULL
           && ((const ElfW(Sym) *) symbol)->st_shndx == SHN_UNDEF;

#else

    (void) address;

    return false;

#endif
}


/* Objects come in the order in which the linker looks into them. */

static bool
jpp_got_defined(const jpp_images_object_t *object, void *data)
{
    jpp_got_search_t *search = data;

    void  *handle, *symbol;

    handle = object->name[0] != '\0'
             ? dlopen(object->name, RTLD_LAZY|RTLD_NOLOAD) : NULL;

    if (handle == NULL) {
        return true;
    }

    symbol = dlsym(handle, search->name);
    (void) dlclose(handle);

    if (symbol == NULL
        || jpp_mapped_segment(&object->mapped, (uintptr_t) symbol) == NULL
        || jpp_got_is_entry((uintptr_t) symbol))
    {
        return true;
    }

    search->address = (uintptr_t) symbol;

    return false;
}


uintptr_t
jpp_got_find(const char *name)
{
    void              *symbol;
    jpp_got_search_t   search;

    symbol = dlsym(RTLD_DEFAULT, name);

    if (symbol == NULL || !jpp_got_is_entry((uintptr_t) symbol)) {
        return (uintptr_t) symbol;
    }

    search.name = name;
    search.address = 0;

    jpp_images_pinned(jpp_got_defined, &search);

    return search.address;
}


/*
 * The dynamic section (ELF gABI, chapter 5, and the psABI of amd64) has pairs
 * of tag and value.  Two tables matter: RELA, with pointers in data and in the
 * table of addresses, and JMPREL, with slots for calls.  A relocation names its
 * symbol by number.
 */


/* bytes of an entry that are looked at, and the instruction in it */
#define JPP_GOT_ENTRY    9
#define JPP_GOT_PUSH     0x68


/* the tables as places in memory, 0: absent or damaged */
typedef struct {
    const jpp_images_object_t  *object;
    uintptr_t                   symbols;
    uintptr_t                   strings;
    size_t                      strings_len;
    uintptr_t                   tables[2];
    size_t                      lens[2];
} jpp_got_dynamic_t;


/* JMPREL may lie inside of RELA: a place that comes twice does no harm. */

static bool
jpp_got_dynamic(jpp_got_dynamic_t *dynamic, const jpp_images_object_t *object)
{
    dynamic->object = object;

    dynamic->lens[0] = jpp_images_dynamic(object, DT_RELASZ);
    dynamic->tables[0] = jpp_images_table(object, DT_RELA, dynamic->lens[0]);

    dynamic->lens[1] = jpp_images_dynamic(object, DT_PLTREL) == DT_RELA
                       ? jpp_images_dynamic(object, DT_PLTRELSZ) : 0;
    dynamic->tables[1] = jpp_images_table(object, DT_JMPREL, dynamic->lens[1]);

    dynamic->symbols = jpp_images_table(object, DT_SYMTAB, sizeof(ElfW(Sym)));

    dynamic->strings_len = jpp_images_dynamic(object, DT_STRSZ);
    dynamic->strings = jpp_images_table(object, DT_STRTAB,
                                        dynamic->strings_len);

    return dynamic->symbols != 0
           && dynamic->strings != 0
           && jpp_images_dynamic(object, DT_SYMENT) == sizeof(ElfW(Sym))
           && ((const char *) dynamic->strings)[dynamic->strings_len - 1]
              == '\0';
}


/*
 * A slot that was not called by yet holds the address of code that pushes its
 * number for the linker (psABI of amd64, "Procedure Linkage Table"), behind a
 * landing pad where the processor demands one.
 */

static bool
jpp_got_is_unbound(const jpp_images_object_t *object, uintptr_t value,
    size_t number)
{
    uint32_t  pushed;

    static const uint8_t  landing[] = { 0xf3, 0x0f, 0x1e, 0xfa };

    if (!jpp_images_holds(object, value, JPP_GOT_ENTRY)) {
        return false;
    }

    if (memcmp((const void *) value, landing, sizeof(landing)) == 0) {
        value += sizeof(landing);
    }

    memcpy(&pushed, (const uint8_t *) value + 1, sizeof(pushed));

    return *(const uint8_t *) value == JPP_GOT_PUSH && pushed == number;
}


/* False: none of ours. */

static bool
jpp_got_reloc(const jpp_got_dynamic_t *dynamic, const ElfW(Rela) *rela,
    jpp_got_reloc_t *reloc)
{
    uint64_t          info;
    uintptr_t         at, symbol;
    ElfW(Rela)        r;
    ElfW(Sym)         s;

    memcpy(&r, rela, sizeof(r));

    info = r.r_info;
    reloc->is_call = ELF64_R_TYPE(info) == R_X86_64_JUMP_SLOT;

    if (!reloc->is_call
        && ELF64_R_TYPE(info) != R_X86_64_GLOB_DAT
        && ELF64_R_TYPE(info) != R_X86_64_64)
    {
        return false;
    }

    at = dynamic->object->base + r.r_offset;
    symbol = dynamic->symbols + ELF64_R_SYM(info) * sizeof(s);

    if (r.r_addend != 0
        || at % sizeof(uintptr_t) != 0
        || !jpp_images_holds(dynamic->object, at, sizeof(uintptr_t))
        || !jpp_images_holds(dynamic->object, symbol, sizeof(s)))
    {
        return false;
    }

    memcpy(&s, (const void *) symbol, sizeof(s));

    reloc->at = (uintptr_t *) at;
    reloc->name = (const char *) dynamic->strings + s.st_name;
    reloc->is_own = s.st_shndx != SHN_UNDEF;

    return s.st_name < dynamic->strings_len;
}


void
jpp_got_read(const jpp_images_object_t *object, jpp_got_visit_pt visit,
    void *data)
{
    size_t               i, n;
    unsigned             table;
    jpp_got_reloc_t      reloc;
    jpp_got_dynamic_t    dynamic;
    const ElfW(Rela)    *rela;

    if (!JPP_UNWIND_IS_HERE || !jpp_got_dynamic(&dynamic, object)) {
        return;
    }

    for (table = 0; table < 2; table++) {
        rela = (const ElfW(Rela) *) dynamic.tables[table];
        n = rela != NULL ? dynamic.lens[table] / sizeof(ElfW(Rela)) : 0;

        for (i = 0; i < n; i++) {
            if (!jpp_got_reloc(&dynamic, &rela[i], &reloc)) {
                continue;
            }

            reloc.is_unbound = table == 1
                               && jpp_got_is_unbound(object, *reloc.at, i);

            if (!visit(&reloc, data)) {
                return;
            }
        }
    }
}


/* what a slot holds */
typedef enum {
    JPP_GOT_NO = 0,           /* none of the functions */
    JPP_GOT_OURS,             /* the real one, or the hook already */
    JPP_GOT_UNBOUND,          /* nothing yet */
    JPP_GOT_FOREIGN           /* something that was put in its place */
} jpp_got_whose_t;


typedef void (*jpp_got_call_pt)(uintptr_t a, uintptr_t b, uintptr_t c);


/* an object that is patched */
typedef struct {
    jpp_got_t                   *got;
    const jpp_images_object_t   *object;
    uintptr_t                    libc;
    uint32_t                     n_ours;
    uint32_t                     n_foreign;
    bool                         is_full;
} jpp_got_patch_t;


static jpp_got_whose_t
jpp_got_whose(const jpp_got_patch_t *patch, const jpp_got_reloc_t *reloc,
    const jpp_got_function_t **named)
{
    uintptr_t                   value;
    const jpp_got_function_t   *function;

    jpp_each(function, patch->got->functions, patch->got->n_functions) {
        if (strcmp(function->name, reloc->name) == 0) {
            break;
        }
    }

    if (function == patch->got->functions + patch->got->n_functions
        || function->real == 0)
    {
        return JPP_GOT_NO;
    }

    *named = function;
    value = jpp_atomic_get(reloc->at);

    if (value == function->real || value == function->hook) {
        return JPP_GOT_OURS;
    }

    /* an object that has such a function, too: libc, and private allocators */

    if (!reloc->is_call
        || value == 0
        || (reloc->is_own
            && jpp_mapped_segment(&patch->object->mapped, function->real)
               == NULL
            && jpp_mapped_segment(&patch->object->mapped, patch->libc) == NULL))
    {
        return JPP_GOT_NO;
    }

    return reloc->is_unbound ? JPP_GOT_UNBOUND : JPP_GOT_FOREIGN;
}


/* What is not bound yet is bound by a call, as the object itself would have the
   linker do it. */

static bool
jpp_got_count(const jpp_got_reloc_t *reloc, void *data)
{
    jpp_got_patch_t *patch = data;

    uintptr_t                  stub;
    jpp_got_reloc_t            bound;
    jpp_got_whose_t            whose;
    const jpp_got_function_t  *function;

    whose = jpp_got_whose(patch, reloc, &function);

    if (whose == JPP_GOT_UNBOUND && function->is_idle) {
        stub = jpp_atomic_get(reloc->at);

        ((jpp_got_call_pt) stub)(0, 0, 0);

        bound = *reloc;
        bound.is_unbound = jpp_atomic_get(reloc->at) == stub;

        whose = jpp_got_whose(patch, &bound, &function);
    }

    patch->n_foreign += whose == JPP_GOT_FOREIGN;
    patch->n_ours += whose == JPP_GOT_OURS;

    return true;
}


/*
 * A slot may be in the list already: the linker has bound it since then, or it
 * comes twice.  One that holds the hook, and is not in the list, was taken over
 * by somebody, who has given it back.
 */

static bool
jpp_got_add(jpp_got_t *got, uintptr_t *at, const jpp_got_function_t *function)
{
    uintptr_t        value;
    jpp_got_slot_t  *slot;

    value = jpp_atomic_get(at);

    jpp_each(slot, got->slots, got->n_slots) {
        if (slot->at == at) {
            break;
        }
    }

    if (slot == got->slots + JPP_GOT_SLOTS) {
        return false;
    }

    if (slot == got->slots + got->n_slots) {
        got->n_slots++;
        slot->at = at;
        slot->was = function->real;
    }

    if (value != function->hook) {
        slot->was = value;
    }

    slot->function = function;

    return true;
}


static bool
jpp_got_take(const jpp_got_reloc_t *reloc, void *data)
{
    jpp_got_patch_t *patch = data;

    jpp_got_whose_t            whose;
    const jpp_got_function_t  *function;

    whose = jpp_got_whose(patch, reloc, &function);

    if (whose == JPP_GOT_OURS
        || (whose == JPP_GOT_UNBOUND && patch->n_foreign == 0))
    {
        patch->is_full = !jpp_got_add(patch->got, reloc->at, function);
    }

    return !patch->is_full;
}


static bool
jpp_got_object(const jpp_images_object_t *object, void *data)
{
    jpp_got_patch_t *patch = data;

    if (patch->got->except != 0
        && jpp_mapped_segment(&object->mapped, patch->got->except) != NULL)
    {
        return true;
    }

    patch->object = object;
    patch->n_foreign = 0;
    patch->n_ours = 0;

    jpp_got_read(object, jpp_got_count, patch);

    if (patch->n_ours != 0) {
        jpp_got_read(object, jpp_got_take, patch);
        patch->got->n_objects++;
    }

    patch->got->n_foreign += patch->n_foreign;

    return !patch->is_full;
}


static bool
jpp_got_is_due(const jpp_got_slot_t *slot, bool is_hook)
{
    return jpp_atomic_get(slot->at) == (is_hook ? slot->was
                                                : slot->function->hook);
}


static void
jpp_got_page(jpp_got_t *got, uintptr_t address, const jpp_vec_t *maps)
{
    int              protection;
    uintptr_t        start;
    jpp_got_page_t  *page;

    start = address & ~((uintptr_t) sysconf(_SC_PAGESIZE) - 1);

    jpp_each(page, got->pages, got->n_pages) {
        if (page->start == start) {
            return;
        }
    }

    protection = jpp_proc_protection((const char *) maps->data, maps->len,
                                     address);

    if ((protection & PROT_WRITE) == 0) {
        page->start = start;
        page->protection = protection;
        got->n_pages++;
    }
}


/* The pages to be made writable, and what they are now. */

static jpp_code_t
jpp_got_pages(jpp_got_t *got, bool is_hook, jpp_err_t *err)
{
    jpp_vec_t             *maps;
    jpp_code_t             rc;
    jpp_arena_t            arena;
    const jpp_got_slot_t  *slot;

    got->n_pages = 0;

    jpp_arena_init(&arena, JPP_PROC_ARENA);

    maps = jpp_vec_create(&arena);
    rc = maps != NULL ? jpp_proc_maps(maps, err) : jpp_err_memory(err);

    jpp_each(slot, got->slots, got->n_slots) {
        if (rc == JPP_OK && jpp_got_is_due(slot, is_hook)) {
            jpp_got_page(got, (uintptr_t) slot->at, maps);
        }
    }

    jpp_arena_destroy(&arena);

    return rc;
}


/* The pages get the protection that they had, and MORE; returns 0, or an
   errno. */

static int
jpp_got_protect(const jpp_got_t *got, int more)
{
    int                     error;
    const jpp_got_page_t   *page;

    error = 0;

    jpp_each(page, got->pages, got->n_pages) {
        if (mprotect((void *) page->start, (size_t) sysconf(_SC_PAGESIZE),
                     page->protection|more)
            == -1)
        {
            error = errno;
        }
    }

    return error;
}


static jpp_code_t
jpp_got_close(const jpp_got_t *got, jpp_err_t *err)
{
    int  error;

    error = jpp_got_protect(got, 0);

    return error == 0
           ? JPP_OK
           : jpp_err_sys(err, error,
                         "a table of addresses stays writable, because "
                         "mprotect is refused for it (by seccomp, "
                         "SELinux or the like)");
}


/* All of them are writable, or none is. */

static jpp_code_t
jpp_got_open(jpp_got_t *got, bool is_hook, jpp_err_t *err)
{
    int         error;
    jpp_code_t  rc;

    rc = jpp_got_pages(got, is_hook, err);
    if (rc != JPP_OK) {
        return rc;
    }

    error = jpp_got_protect(got, PROT_WRITE);
    if (error == 0) {
        return JPP_OK;
    }

    (void) jpp_got_protect(got, 0);

    return jpp_err_sys(err, error,
                       "cannot change where loaded objects call "
                       "malloc, because mprotect is refused for "
                       "their tables (by seccomp, SELinux or the "
                       "like): allow it, or use jemalloc's profiler");
}


/* Hooks into slots that have what they had, or the reverse. */

static void
jpp_got_write(jpp_got_t *got, bool is_hook)
{
    const jpp_got_slot_t  *slot;

    jpp_each(slot, got->slots, got->n_slots) {
        if (jpp_got_is_due(slot, is_hook)) {
            jpp_atomic_set(slot->at, is_hook ? slot->function->hook
                                             : slot->was);
        }
    }
}


jpp_code_t
jpp_got_patch(jpp_got_t *got, jpp_err_t *err)
{
    uint32_t          n, n_objects;
    jpp_code_t        rc;
    jpp_got_patch_t   patch;

    n = got->n_slots;
    n_objects = got->n_objects;

    got->n_objects = 0;
    got->n_foreign = 0;

    patch.got = got;
    patch.libc = jpp_got_find("strdup");
    patch.is_full = false;

    jpp_images_pinned(jpp_got_object, &patch);

    rc = patch.is_full
         ? jpp_err_set(err, JPP_ERR_LIMIT,
                       "the loaded objects have more than %u pointers to "
                       "malloc and its relatives", JPP_GOT_SLOTS)
         : jpp_got_open(got, true, err);

    if (rc != JPP_OK) {
        got->n_slots = n;
        got->n_objects = n_objects;

        return rc;
    }

    jpp_got_write(got, true);

    return jpp_got_close(got, err);
}


jpp_code_t
jpp_got_restore(jpp_got_t *got, jpp_err_t *err)
{
    jpp_code_t  rc;

    rc = jpp_got_open(got, false, err);
    if (rc != JPP_OK) {
        return rc;
    }

    jpp_got_write(got, false);

    got->n_slots = 0;
    got->n_objects = 0;
    got->n_foreign = 0;

    return jpp_got_close(got, err);
}


uint32_t
jpp_got_lost(const jpp_got_t *got)
{
    uint32_t               n;
    const jpp_got_slot_t  *slot;

    n = 0;

    jpp_each(slot, got->slots, got->n_slots) {
        n += !jpp_got_is_due(slot, false);
    }

    return n;
}

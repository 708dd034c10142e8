
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jpp_got.h"
#include "jpp_got_find.h"
#include "jpp_got_read.h"
#include "jpp_images.h"
#include "jpp_proc.h"


/* memory for the list of mappings */
#define JPP_GOT_ARENA  ((size_t) 64 << 20)


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
    uint32_t *number)
{
    uint32_t                    i;
    uintptr_t                   value;
    const jpp_got_function_t   *function;

    for (i = 0; i < patch->got->n_functions; i++) {
        if (strcmp(patch->got->functions[i].name, reloc->name) == 0) {
            break;
        }
    }

    if (i == patch->got->n_functions || patch->got->functions[i].real == 0) {
        return JPP_GOT_NO;
    }

    *number = i;
    function = &patch->got->functions[i];
    value = __atomic_load_n(reloc->at, __ATOMIC_RELAXED);

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


/* By a call, as the object itself would have the linker do it. */

static bool
jpp_got_bind(const jpp_got_reloc_t *reloc, void *data)
{
    jpp_got_patch_t *patch = data;

    uint32_t   function;
    uintptr_t  stub;

    if (jpp_got_whose(patch, reloc, &function) == JPP_GOT_UNBOUND
        && patch->got->functions[function].is_idle)
    {
        stub = __atomic_load_n(reloc->at, __ATOMIC_RELAXED);

        ((jpp_got_call_pt) stub)(0, 0, 0);
    }

    return true;
}


static bool
jpp_got_count(const jpp_got_reloc_t *reloc, void *data)
{
    jpp_got_patch_t *patch = data;

    uint32_t  function;

    switch (jpp_got_whose(patch, reloc, &function)) {

    case JPP_GOT_FOREIGN:
        patch->n_foreign++;
        break;

    case JPP_GOT_OURS:
        patch->n_ours++;
        break;

    case JPP_GOT_UNBOUND:
    case JPP_GOT_NO:
        break;
    }

    return true;
}


/*
 * A slot may be in the list already: the linker has bound it since then, or it
 * comes twice.  One that holds the hook, and is not in the list, was taken over
 * by somebody, who has given it back.
 */

static bool
jpp_got_add(jpp_got_t *got, uintptr_t *at, uint32_t function)
{
    uint32_t         i;
    uintptr_t        value;
    jpp_got_slot_t  *slot;

    value = __atomic_load_n(at, __ATOMIC_RELAXED);

    for (i = 0; i < got->n_slots && got->slots[i].at != at; i++) {
        /* void */
    }

    if (i == JPP_GOT_SLOTS) {
        return false;
    }

    slot = &got->slots[i];

    if (value != got->functions[function].hook) {
        slot->was = value;

    } else if (i == got->n_slots) {
        slot->was = got->functions[function].real;
    }

    slot->at = at;
    slot->function = function;

    if (i == got->n_slots) {
        got->n_slots++;
    }

    return true;
}


static bool
jpp_got_take(const jpp_got_reloc_t *reloc, void *data)
{
    jpp_got_patch_t *patch = data;

    uint32_t          function;
    jpp_got_whose_t   whose;

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

    jpp_got_read(object, jpp_got_bind, patch);
    jpp_got_read(object, jpp_got_count, patch);

    if (patch->n_ours != 0) {
        jpp_got_read(object, jpp_got_take, patch);
    }

    patch->got->n_objects += patch->n_ours != 0;
    patch->got->n_foreign += patch->n_foreign;

    return !patch->is_full;
}


static bool
jpp_got_is_due(const jpp_got_t *got, const jpp_got_slot_t *slot, bool is_hook)
{
    uintptr_t  value;

    value = __atomic_load_n(slot->at, __ATOMIC_RELAXED);

    return value == (is_hook ? slot->was
                             : got->functions[slot->function].hook);
}


static void
jpp_got_page(jpp_got_t *got, uintptr_t address, const jpp_vec_t *maps)
{
    int        protection;
    uint32_t   i;
    uintptr_t  start;

    start = address & ~((uintptr_t) sysconf(_SC_PAGESIZE) - 1);

    for (i = 0; i < got->n_pages; i++) {
        if (got->pages[i].start == start) {
            return;
        }
    }

    protection = jpp_proc_protection((const char *) maps->data, maps->len,
                                     address);

    if ((protection & PROT_WRITE) == 0) {
        got->pages[i].start = start;
        got->pages[i].protection = protection;
        got->n_pages++;
    }
}


/* The pages to be made writable, and what they are now. */

static jpp_code_t
jpp_got_pages(jpp_got_t *got, bool is_hook, jpp_err_t *err)
{
    uint32_t      i;
    jpp_vec_t    *maps;
    jpp_code_t    rc;
    jpp_arena_t   arena;

    got->n_pages = 0;

    jpp_arena_init(&arena, JPP_GOT_ARENA);

    maps = jpp_vec_create(&arena);
    rc = maps != NULL ? jpp_proc_maps(maps, err) : jpp_err_memory(err);

    for (i = 0; rc == JPP_OK && i < got->n_slots; i++) {
        if (jpp_got_is_due(got, &got->slots[i], is_hook)) {
            jpp_got_page(got, (uintptr_t) got->slots[i].at, maps);
        }
    }

    jpp_arena_destroy(&arena);

    return rc;
}


static jpp_code_t
jpp_got_close(const jpp_got_t *got, uint32_t n, jpp_err_t *err)
{
    uint32_t                i;
    jpp_code_t              rc;
    const jpp_got_page_t   *page;

    rc = JPP_OK;

    for (i = 0; i < n; i++) {
        page = &got->pages[i];

        if (mprotect((void *) page->start, (size_t) sysconf(_SC_PAGESIZE),
                     page->protection)
            == -1)
        {
            rc = jpp_err_sys(err, errno,
                             "a table of addresses stays writable, because "
                             "mprotect is refused for it (by seccomp, "
                             "SELinux or the like)");
        }
    }

    return rc;
}


/* All of them are writable, or none is. */

static jpp_code_t
jpp_got_open(jpp_got_t *got, bool is_hook, jpp_err_t *err)
{
    int                     sys_errno;
    uint32_t                i;
    jpp_code_t              rc;
    const jpp_got_page_t   *page;

    rc = jpp_got_pages(got, is_hook, err);
    if (rc != JPP_OK) {
        return rc;
    }

    for (i = 0; i < got->n_pages; i++) {
        page = &got->pages[i];

        if (mprotect((void *) page->start, (size_t) sysconf(_SC_PAGESIZE),
                     page->protection|PROT_WRITE)
            == -1)
        {
            sys_errno = errno;
            (void) jpp_got_close(got, i, NULL);

            return jpp_err_sys(err, sys_errno,
                               "cannot change where loaded objects call "
                               "malloc, because mprotect is refused for "
                               "their tables (by seccomp, SELinux or the "
                               "like): allow it, or use jemalloc's profiler");
        }
    }

    return JPP_OK;
}


/* Hooks into slots that have what they had, or the reverse. */

static void
jpp_got_write(jpp_got_t *got, bool is_hook)
{
    uint32_t               i;
    const jpp_got_slot_t  *slot;

    for (i = 0; i < got->n_slots; i++) {
        slot = &got->slots[i];

        if (jpp_got_is_due(got, slot, is_hook)) {
            __atomic_store_n(slot->at, is_hook
                                       ? got->functions[slot->function].hook
                                       : slot->was, __ATOMIC_RELEASE);
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
                       "the loaded objects have more than %u places that "
                       "call malloc and its like", JPP_GOT_SLOTS)
         : jpp_got_open(got, true, err);

    if (rc != JPP_OK) {
        got->n_slots = n;
        got->n_objects = n_objects;

        return rc;
    }

    jpp_got_write(got, true);

    return jpp_got_close(got, got->n_pages, err);
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

    return jpp_got_close(got, got->n_pages, err);
}


uint32_t
jpp_got_lost(const jpp_got_t *got)
{
    uint32_t  i, n;

    n = 0;

    for (i = 0; i < got->n_slots; i++) {
        n += !jpp_got_is_due(got, &got->slots[i], false);
    }

    return n;
}


#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "jpp_elf.h"
#include "jpp_object.h"


/*
 * What reading a file may take, in units of the cap.  250,000 functions in C
 * are 11 MiB when they are kept, and 65 MiB while they are read.
 */
#define JPP_OBJECT_READING   8

#define JPP_OBJECT_HEAD      16

#define JPP_DEBUG_ROOT       "/usr/lib/debug"


void
jpp_symbols_init(jpp_symbols_t *symbols, size_t cap)
{
    memset(symbols, 0, sizeof(jpp_symbols_t));

    symbols->cap = cap;
    symbols->room = cap < SIZE_MAX / JPP_OBJECT_READING
                    ? cap * JPP_OBJECT_READING : SIZE_MAX;
    symbols->debug_root = JPP_DEBUG_ROOT;
}


void
jpp_symbols_destroy(jpp_symbols_t *symbols)
{
    jpp_object_t  *object, *next;

    for (object = symbols->objects; object != NULL; object = next) {
        next = object->next;
        jpp_arena_object_destroy(object);
    }

    symbols->objects = NULL;
    symbols->bytes = 0;
    symbols->known.n = 0;
    symbols->refused.n = 0;

    jpp_loaded_destroy(&symbols->loaded);
}


static bool
jpp_object_is(const jpp_object_t *object, const jpp_build_id_t *key)
{
    return object->key.len == key->len
           && memcmp(object->key.data, key->data, key->len) == 0;
}


bool
jpp_object_has(const jpp_symbols_t *symbols, const jpp_file_t *file)
{
    const jpp_object_t  *object;

    for (object = symbols->objects; object != NULL; object = object->next) {
        if (jpp_object_is(object, &file->key)) {
            return true;
        }
    }

    return jpp_refused_find(&symbols->refused, file, NULL);
}


static jpp_object_t *
jpp_object_find(jpp_symbols_t *symbols, const jpp_build_id_t *key)
{
    jpp_object_t  *object, **link;

    for (link = &symbols->objects; *link != NULL; link = &(*link)->next) {
        object = *link;

        if (jpp_object_is(object, key)) {
            *link = object->next;
            return object;
        }
    }

    return NULL;
}


static size_t
jpp_object_size(const jpp_elf_t *elf)
{
    return sizeof(jpp_object_t)
           + elf->n_segments * sizeof(jpp_elf_segment_t)
           + elf->n_functions * sizeof(jpp_elf_function_t)
           + elf->names_len;
}


/* The pages that it takes, with jpp_arena_object()'s head. */

static size_t
jpp_object_bytes(const jpp_elf_t *elf)
{
    size_t  page;

    page = (size_t) sysconf(_SC_PAGESIZE);

    return (jpp_object_size(elf) + JPP_OBJECT_HEAD + page - 1) & ~(page - 1);
}


static jpp_code_t
jpp_object_fits(const jpp_elf_t *elf, size_t cap, jpp_err_t *err)
{
    size_t  size;

    size = jpp_object_bytes(elf);

    if (size <= cap) {
        return JPP_OK;
    }

    return jpp_err_set(err, JPP_ERR_LIMIT, "its %" PRIu32 " functions take "
                       "%zu MiB, more than the %zu MiB kept for the names of "
                       "all files (the tool jemalloc-pprof has no such limit)",
                       elf->n_functions, (size >> 20) + 1, cap >> 20);
}


static uint8_t *
jpp_object_append(uint8_t *p, const void *data, size_t size)
{
    if (size != 0) {
        memcpy(p, data, size);
    }

    return p + size;
}


/* A copy of ELF that takes as little memory as possible. */

static jpp_object_t *
jpp_object_store(const jpp_elf_t *elf, const jpp_build_id_t *key,
    jpp_err_t *err)
{
    size_t         segments, functions;
    uint8_t       *p;
    jpp_object_t  *object;

    segments = elf->n_segments * sizeof(jpp_elf_segment_t);
    functions = elf->n_functions * sizeof(jpp_elf_function_t);

    object = jpp_arena_object(jpp_object_size(elf));
    if (object == NULL) {
        (void) jpp_err_memory(err);
        return NULL;
    }

    p = (uint8_t *) object + sizeof(jpp_object_t);

    object->bytes = jpp_object_bytes(elf);
    object->key = *key;
    object->elf = *elf;

    object->elf.segments = (jpp_elf_segment_t *) (void *) p;
    p = jpp_object_append(p, elf->segments, segments);

    object->elf.functions = (jpp_elf_function_t *) (void *) p;
    p = jpp_object_append(p, elf->functions, functions);

    object->elf.names = (char *) p;
    (void) jpp_object_append(p, elf->names, elf->names_len);

    return object;
}


/*
 * Reading FILE into ARENA failed with ERR: add the cure to it, and remember
 * it.
 */

static void
jpp_object_refuse(jpp_symbols_t *symbols, const jpp_file_t *file,
    const jpp_arena_t *arena, jpp_err_t *err)
{
    if (err->code == JPP_ERR_MEMORY) {

        if (arena->cap < symbols->room) {
            (void) jpp_err_set(err, JPP_ERR_MEMORY, "this report has %zu MiB "
                               "left to read its functions, which is too "
                               "little (raise the memory of a report)",
                               arena->cap >> 20);
            return;
        }

        (void) jpp_err_set(err, JPP_ERR_LIMIT, "reading its functions takes "
                           "more than %zu MiB (the tool jemalloc-pprof has no "
                           "such limit)", arena->cap >> 20);
    }

    jpp_refused_add(&symbols->refused, file, err);
}


static jpp_object_t *
jpp_object_read(jpp_symbols_t *symbols, const jpp_file_t *file, size_t room,
    jpp_err_t *err)
{
    int            debug_fd;
    jpp_elf_t      elf;
    jpp_err_t      why;
    jpp_code_t     rc;
    jpp_arena_t    arena;
    jpp_object_t  *object;

    jpp_arena_init(&arena, room < symbols->room ? room : symbols->room);

    debug_fd = jpp_file_open_debug(&file->build_id, symbols->debug_root);

    rc = jpp_elf_read(&elf, &arena, file->fd, debug_fd, JPP_ELF_ALL, &why);

    if (debug_fd != -1) {
        (void) close(debug_fd);
    }

    if (rc == JPP_OK
        && !jpp_hints_apply(&symbols->loaded.hints, file->device, file->inode,
                            &elf, &arena))
    {
        rc = jpp_err_memory(&why);
    }

    if (rc == JPP_OK) {
        rc = jpp_object_fits(&elf, symbols->cap, &why);
    }

    object = rc == JPP_OK ? jpp_object_store(&elf, &file->key, &why) : NULL;

    if (object != NULL) {

        /* the next report may have room for the debug file */

        object->is_partial = debug_fd != -1
                             && !elf.has_symtab
                             && arena.cap < symbols->room;

    } else {
        jpp_object_refuse(symbols, file, &arena, &why);

        if (err != NULL) {
            *err = why;
        }
    }

    jpp_arena_destroy(&arena);

    return object;
}


jpp_object_t *
jpp_object_get(jpp_symbols_t *symbols, const jpp_file_t *file, size_t room,
    jpp_err_t *err)
{
    jpp_object_t  *object;

    object = jpp_object_find(symbols, &file->key);

    if (object != NULL) {
        symbols->n_hits++;
        symbols->bytes -= object->bytes;
        return object;
    }

    if (jpp_refused_find(&symbols->refused, file, err)) {
        return NULL;
    }

    symbols->n_misses++;

    return jpp_object_read(symbols, file, room, err);
}


/* While in use an object is in no list. */

void
jpp_object_put(jpp_symbols_t *symbols, jpp_object_t *object)
{
    jpp_object_t  *last, **link;

    /* or if the cap was lowered since the object was read */

    if (object->is_partial || object->bytes > symbols->cap) {
        jpp_arena_object_destroy(object);
        return;
    }

    while (symbols->bytes > symbols->cap - object->bytes) {

        for (link = &symbols->objects; (*link)->next != NULL;
             link = &(*link)->next)
        {
            /* void */
        }

        last = *link;
        *link = NULL;

        symbols->bytes -= last->bytes;
        jpp_arena_object_destroy(last);
    }

    object->next = symbols->objects;
    symbols->objects = object;
    symbols->bytes += object->bytes;
}

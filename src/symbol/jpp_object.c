
#include <string.h>
#include <unistd.h>

#include "jpp_elf_read.h"
#include "jpp_object.h"


/*
 * The most that reading one file may take; all of it is given back.  250,000
 * functions need 65 MiB.
 */
#define JPP_OBJECT_ARENA     (256 * 1024 * 1024)

/* to whole pages, and the head of a block */
#define JPP_OBJECT_ROUNDING  8192

#define JPP_DEBUG_ROOT       "/usr/lib/debug"


static jpp_object_t *jpp_object_find(jpp_symbols_t *symbols,
    const jpp_build_id_t *key);
static bool jpp_object_is(const jpp_object_t *object,
    const jpp_build_id_t *key);
static jpp_object_t *jpp_object_read(const jpp_symbols_t *symbols,
    const jpp_file_t *file, jpp_err_t *err);
static jpp_object_t *jpp_object_store(const jpp_elf_t *elf,
    const jpp_build_id_t *key, jpp_err_t *err);
static uint8_t *jpp_object_append(uint8_t *p, const void *data, size_t size);
static void jpp_object_free(jpp_object_t *object);


void
jpp_symbols_init(jpp_symbols_t *symbols, size_t cap)
{
    memset(symbols, 0, sizeof(jpp_symbols_t));

    symbols->cap = cap;
    symbols->debug_root = JPP_DEBUG_ROOT;
}


void
jpp_symbols_destroy(jpp_symbols_t *symbols)
{
    jpp_object_t  *object, *next;

    for (object = symbols->objects; object != NULL; object = next) {
        next = object->next;
        jpp_object_free(object);
    }

    symbols->objects = NULL;
    symbols->bytes = 0;
    symbols->known.n = 0;

    jpp_loaded_destroy(&symbols->loaded);
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

    return false;
}


jpp_object_t *
jpp_object_get(jpp_symbols_t *symbols, const jpp_file_t *file, jpp_err_t *err)
{
    jpp_object_t  *object;

    object = jpp_object_find(symbols, &file->key);

    if (object != NULL) {
        symbols->n_hits++;
        symbols->bytes -= object->arena.mapped;
        return object;
    }

    symbols->n_misses++;

    return jpp_object_read(symbols, file, err);
}


/* While in use an object is in no list. */

void
jpp_object_put(jpp_symbols_t *symbols, jpp_object_t *object)
{
    jpp_object_t  *last, **link;

    if (object->arena.mapped > symbols->cap) {
        jpp_object_free(object);
        return;
    }

    while (symbols->bytes > symbols->cap - object->arena.mapped) {

        for (link = &symbols->objects; (*link)->next != NULL;
             link = &(*link)->next)
        {
            /* void */
        }

        last = *link;
        *link = NULL;

        symbols->bytes -= last->arena.mapped;
        jpp_object_free(last);
    }

    object->next = symbols->objects;
    symbols->objects = object;
    symbols->bytes += object->arena.mapped;
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


static bool
jpp_object_is(const jpp_object_t *object, const jpp_build_id_t *key)
{
    return object->key.len == key->len
           && memcmp(object->key.data, key->data, key->len) == 0;
}


static jpp_object_t *
jpp_object_read(const jpp_symbols_t *symbols, const jpp_file_t *file,
    jpp_err_t *err)
{
    int            debug_fd;
    jpp_elf_t      elf;
    jpp_code_t     rc;
    jpp_arena_t    arena;
    jpp_object_t  *object;

    jpp_arena_init(&arena, JPP_OBJECT_ARENA);

    debug_fd = jpp_file_open_debug(&file->build_id, symbols->debug_root);

    rc = jpp_elf_read(&elf, &arena, file->fd, debug_fd, JPP_ELF_ALL, err);

    if (debug_fd != -1) {
        (void) close(debug_fd);
    }

    object = rc == JPP_OK ? jpp_object_store(&elf, &file->key, err) : NULL;

    jpp_arena_destroy(&arena);

    return object;
}


/* A copy of ELF that takes no more memory than it must. */

static jpp_object_t *
jpp_object_store(const jpp_elf_t *elf, const jpp_build_id_t *key,
    jpp_err_t *err)
{
    size_t         segments, functions, size;
    uint8_t       *p;
    jpp_arena_t    arena;
    jpp_object_t  *object;

    segments = elf->n_segments * sizeof(jpp_elf_segment_t);
    functions = elf->n_functions * sizeof(jpp_elf_function_t);
    size = sizeof(jpp_object_t) + segments + functions + elf->names_len;

    /* all at once: near its cap an arena maps just what is asked for */

    jpp_arena_init(&arena, size + JPP_OBJECT_ROUNDING);

    p = jpp_arena_alloc(&arena, size);
    if (p == NULL) {
        (void) jpp_err_memory(err);
        return NULL;
    }

    object = (jpp_object_t *) (void *) p;
    p += sizeof(jpp_object_t);

    object->arena = arena;
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


static uint8_t *
jpp_object_append(uint8_t *p, const void *data, size_t size)
{
    if (size != 0) {
        memcpy(p, data, size);
    }

    return p + size;
}


static void
jpp_object_free(jpp_object_t *object)
{
    jpp_arena_t  arena;

    arena = object->arena;

    jpp_arena_destroy(&arena);
}

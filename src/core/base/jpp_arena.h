
/*
 * The memory of a report: pages from mmap() under one limit in bytes.
 *
 * Nothing here comes from malloc, so the profiler adds nothing to the heap
 * that it measures, and one call gives everything back.  Small things are cut
 * from blocks and live as long as the arena.  What grows is a jpp_vec_t: it
 * begins in a block, and once it is large it has a mapping of its own, which
 * grows by mremap() (no copy, no moment at which old and new exist side by
 * side) and may be given back early.
 *
 * Blocks and large vectors are multiples of 2 MiB, aligned to that.  Once an
 * arena has a few of them, the others consist of huge pages where the kernel
 * has them: getting a page of 4 KiB costs more than what a report does with
 * it, but a small report must not make the process 2 MiB larger.  Near the cap,
 * where less than such a multiple is left, a block or a vector maps just the
 * size requested, rounded up to pages.
 *
 * An arena belongs to one thread at a time.  All memory is handed out zeroed.
 * In units AddressSanitizer reports what touches more of it than was asked for,
 * or a vector where it lay before it grew.
 */


#ifndef _JPP_ARENA_H_INCLUDED_
#define _JPP_ARENA_H_INCLUDED_


#include "jpp_config.h"

#ifndef __has_feature
#define __has_feature(feature)  0
#endif

/* not where memory is measured: the sanitizer's own grows with it */

#if !defined(JPP_ARENA_UNPOISONED)                                            \
    && (defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer))
#include <sanitizer/asan_interface.h>
#define JPP_RED_ZONE  16
#else
#define ASAN_POISON_MEMORY_REGION(p, size)
#define ASAN_UNPOISON_MEMORY_REGION(p, size)
#define JPP_RED_ZONE  0
#endif


/*
 * SIZE bytes of zeroed pages that smaps tells from those of others: they are
 * marked as read in no order (MADV_RANDOM, "rr" in VmFlags).  Without a file
 * this has no effect, but the kernel never joins a marked mapping with another
 * one.  NULL: errno says why.  munmap() gives them back.  Any thread.
 */
void *jpp_own_pages(size_t size);


typedef struct jpp_arena_s  jpp_arena_t;
typedef struct jpp_block_s  jpp_block_t;
typedef struct jpp_vec_s    jpp_vec_t;


struct jpp_arena_s {
    jpp_block_t   *blocks;
    uint8_t       *pos;            /* free space of the block in use */
    uint8_t       *end;
    jpp_vec_t     *vecs;

    size_t         mapped;         /* bytes mapped now */
    size_t         peak;           /* the highest so far */
    size_t         cap;
    size_t         page;           /* the kernel's page size */

    uint64_t       n_calls;        /* requests so far, and for the tests: */
    uint64_t       fail_at;        /* the one that fails (0: none) */
};


struct jpp_vec_s {
    uint8_t       *data;
    size_t         len;            /* bytes in use */
    size_t         size;           /* bytes allocated */
    bool           is_mapped;      /* in a mapping of its own */
    jpp_arena_t   *arena;
    jpp_vec_t     *next;
};


/* Initialize the caller's ARENA, which may map CAP bytes.  Maps nothing. */
void jpp_arena_init(jpp_arena_t *arena, size_t cap);

/* Unmap everything.  ARENA may be used again after another init. */
void jpp_arena_destroy(jpp_arena_t *arena);

/*
 * SIZE bytes, aligned to 16; NULL when the cap is reached or the kernel
 * refuses.  The memory lives until the arena is destroyed.
 */
void *jpp_arena_alloc(jpp_arena_t *arena, size_t size);

/* A NUL-terminated copy of the LEN bytes at DATA, or NULL. */
char *jpp_arena_strndup(jpp_arena_t *arena, const char *data, size_t len);

/* Formatted text of any length, or NULL. */
char *jpp_arena_printf(jpp_arena_t *arena, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
char *jpp_arena_vprintf(jpp_arena_t *arena, const char *fmt, va_list args)
    __attribute__((format(printf, 2, 0)));


/*
 * SIZE zeroed bytes in pages of their own, for an object that outlives what it
 * was made for; NULL: no memory.
 */
void *jpp_arena_object(size_t size);

/* Unmap OBJECT.  NULL is allowed. */
void jpp_arena_object_destroy(void *object);


/* An empty vector, or NULL. */
jpp_vec_t *jpp_vec_create(jpp_arena_t *arena);

/*
 * Empty the vector and unmap its own mapping, before the arena's end.  NULL is
 * allowed.
 */
void jpp_vec_release(jpp_vec_t *vec);

/*
 * The vector that was created last, or NULL; and release all that were created
 * after BEFORE, which was the last one then.
 */
static inline const jpp_vec_t *
jpp_vec_last(const jpp_arena_t *arena)
{
    return arena->vecs;
}

void jpp_vec_release_after(jpp_arena_t *arena, const jpp_vec_t *before);

/* Make room for SIZE > 0 bytes after len; false: no memory. */
bool jpp_vec_grow(jpp_vec_t *vec, size_t size);


/*
 * Room for SIZE > 0 more bytes at VEC's end, len unchanged: the caller writes
 * and then advances len.  NULL: no memory.
 */
static inline uint8_t *
jpp_vec_reserve(jpp_vec_t *vec, size_t size)
{
    if (vec->size - vec->len < size && !jpp_vec_grow(vec, size)) {
        return NULL;
    }

    ASAN_UNPOISON_MEMORY_REGION(vec->data + vec->len, size);

    return vec->data + vec->len;
}


/* SIZE > 0 more zeroed bytes at VEC's end, or NULL.  Moves earlier elements. */
static inline void *
jpp_vec_push(jpp_vec_t *vec, size_t size)
{
    uint8_t  *p;

    p = jpp_vec_reserve(vec, size);

    if (p != NULL) {
        vec->len += size;
    }

    return p;
}


#define jpp_vec_items(vec, type)  ((type *) (void *) (vec)->data)
#define jpp_vec_count(vec, type)  ((vec)->len / sizeof(type))

/* A loop over the items of VEC, which does not grow meanwhile. */
#define jpp_vec_each(item, vec)                                               \
    for (item = (void *) (vec)->data;                                         \
         (size_t) ((const uint8_t *) item - (vec)->data) < (vec)->len;        \
         item++)


#endif /* _JPP_ARENA_H_INCLUDED_ */

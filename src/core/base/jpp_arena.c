
#include "jpp_arena.h"
#include "jpp_units.h"


#define JPP_HUGE_PAGE   (2 * 1024 * 1024)
#define JPP_ALIGNMENT   16

/* an arena of so much has use for huge pages */
#define JPP_HUGE_FROM   (4 * 1024 * 1024)

/* a vector that grows past this gets a mapping of its own */
#define JPP_VEC_SMALL   (640 * 1024)
#define JPP_VEC_FIRST   1024


struct jpp_block_s {
    jpp_block_t  *next;
    size_t        size;
};


void
jpp_arena_init(jpp_arena_t *arena, size_t cap)
{
    memset(arena, 0, sizeof(jpp_arena_t));
    arena->page = (size_t) sysconf(_SC_PAGESIZE);

    /* so that no sum of two sizes wraps */

    arena->cap = jpp_smaller(cap, PTRDIFF_MAX);
}


void *
jpp_own_pages(size_t size)
{
    void  *p;

    p = mmap(NULL, size, PROT_READ|PROT_WRITE,
             MAP_PRIVATE|MAP_ANONYMOUS|MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED) {
        return NULL;
    }

    /* without the mark the ledger counts them as somebody's */

    (void) madvise(p, size, MADV_RANDOM);

    return p;
}


static void
jpp_unmap(void *p, size_t size)
{
    ASAN_UNPOISON_MEMORY_REGION(p, size);

    (void) munmap(p, size);
}


void
jpp_arena_destroy(jpp_arena_t *arena)
{
    jpp_vec_t    *vec;
    jpp_block_t  *block, *next;

    /* the vectors' heads lie in the blocks */

    for (vec = arena->vecs; vec != NULL; vec = vec->next) {
        if (vec->is_mapped) {
            jpp_unmap(vec->data, vec->size);
        }
    }

    for (block = arena->blocks; block != NULL; block = next) {
        next = block->next;
        jpp_unmap(block, block->size);
    }

    arena->vecs = NULL;
    arena->blocks = NULL;
    arena->pos = NULL;
    arena->end = NULL;
    arena->mapped = 0;
}


static size_t
jpp_round_up(size_t size, size_t unit)
{
    return (size + unit - 1) & ~(unit - 1);
}


/* Huge pages for the SIZE bytes at P, if ARENA is large; otherwise none. */

static void
jpp_arena_advise(const jpp_arena_t *arena, void *p, size_t size)
{
    if (size >= JPP_HUGE_PAGE) {
        (void) madvise(p, size, arena->mapped >= JPP_HUGE_FROM
                                ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    }
}


/*
 * SIZE bytes, whole pages, poisoned.  From the size of a huge page on they are
 * aligned to one, even if they end with small ones: otherwise mremap() would
 * have to split them all.
 */

static void *
jpp_map(const jpp_arena_t *arena, size_t size)
{
    size_t    spare, before;
    uint8_t  *p;

    spare = size >= JPP_HUGE_PAGE ? JPP_HUGE_PAGE : 0;

    p = jpp_own_pages(size + spare);

    if (p == NULL) {
        return NULL;
    }

    before = spare == 0 ? 0 : -(uintptr_t) p % JPP_HUGE_PAGE;

    /* a part that cannot be unmapped costs addresses, no memory */

    if (before != 0) {
        (void) munmap(p, before);
    }

    p += before;

    if (before != spare) {
        (void) munmap(p + size, spare - before);
    }

    jpp_arena_advise(arena, p, size);
    ASAN_POISON_MEMORY_REGION(p, size);

    return p;
}


/* Cuts SIZE bytes from a new block. */

static void *
jpp_arena_block(jpp_arena_t *arena, size_t size)
{
    size_t        head, need, want, left;
    uint8_t      *p;
    jpp_block_t  *block;

    head = jpp_round_up(sizeof(jpp_block_t), JPP_ALIGNMENT);
    left = arena->cap - arena->mapped;

    need = jpp_round_up(head + size, arena->page);
    want = jpp_round_up(need, JPP_HUGE_PAGE);

    /* near the cap a block is as small as possible */

    if (want > left) {
        want = need;
    }

    block = want <= left ? jpp_map(arena, want) : NULL;

    if (block == NULL) {
        return NULL;
    }

    arena->mapped += want;

    arena->peak = jpp_larger(arena->peak, arena->mapped);

    ASAN_UNPOISON_MEMORY_REGION(block, sizeof(jpp_block_t));

    block->next = arena->blocks;
    block->size = want;
    arena->blocks = block;

    p = (uint8_t *) block + head;

    /* keep the block with more room; the rest of the other is lost */

    if (arena->pos == NULL
        || (size_t) (arena->end - arena->pos) < want - head - size)
    {
        arena->pos = p + size;
        arena->end = (uint8_t *) block + want;
    }

    return p;
}


static void *
jpp_arena_cut(jpp_arena_t *arena, size_t size)
{
    void  *p;

    if (size > arena->cap) {
        return NULL;
    }

    size = jpp_round_up(size, JPP_ALIGNMENT) + JPP_RED_ZONE;

    if (arena->pos == NULL || (size_t) (arena->end - arena->pos) < size) {
        return jpp_arena_block(arena, size);
    }

    p = arena->pos;
    arena->pos += size;

    return p;
}


void *
jpp_arena_alloc(jpp_arena_t *arena, size_t size)
{
    void  *p;

    arena->n_calls++;

    p = arena->n_calls == arena->fail_at ? NULL : jpp_arena_cut(arena, size);

    if (p != NULL) {
        ASAN_UNPOISON_MEMORY_REGION(p, size);
    }

    return p;
}


char *
jpp_arena_strndup(jpp_arena_t *arena, const char *data, size_t len)
{
    char  *p;

    p = len < arena->cap ? jpp_arena_alloc(arena, len + 1) : NULL;

    if (p != NULL && len != 0) {
        memcpy(p, data, len);
    }

    return p;
}


char *
jpp_arena_printf(jpp_arena_t *arena, const char *fmt, ...)
{
    char     *text;
    va_list   args;

    va_start(args, fmt);
    text = jpp_arena_vprintf(arena, fmt, args);
    va_end(args);

    return text;
}


char *
jpp_arena_vprintf(jpp_arena_t *arena, const char *fmt, va_list args)
{
    char     *text;
    size_t    size;
    va_list   copy;

    va_copy(copy, args);
    size = (size_t) vsnprintf(NULL, 0, fmt, copy) + 1;
    va_end(copy);

    text = jpp_arena_alloc(arena, size);

    if (text != NULL) {
        (void) vsnprintf(text, size, fmt, args);
    }

    return text;
}


void *
jpp_arena_object(size_t size)
{
    size_t     page, mapped;
    uint8_t   *p;

    page = (size_t) sysconf(_SC_PAGESIZE);

    if (size > PTRDIFF_MAX - page) {
        return NULL;
    }

    mapped = jpp_round_up(JPP_ALIGNMENT + size, page);

    p = jpp_own_pages(mapped);

    if (p == NULL) {
        return NULL;
    }

    ASAN_POISON_MEMORY_REGION(p, mapped);
    ASAN_UNPOISON_MEMORY_REGION(p, JPP_ALIGNMENT + size);

    *(size_t *) (void *) p = mapped;

    return p + JPP_ALIGNMENT;
}


void
jpp_arena_object_destroy(void *object)
{
    uint8_t  *p;

    if (object != NULL) {
        p = (uint8_t *) object - JPP_ALIGNMENT;

        jpp_unmap(p, *(size_t *) (void *) p);
    }
}


jpp_vec_t *
jpp_vec_create(jpp_arena_t *arena)
{
    jpp_vec_t  *vec;

    vec = jpp_arena_alloc(arena, sizeof(jpp_vec_t));
    if (vec == NULL) {
        return NULL;
    }

    vec->arena = arena;
    vec->next = arena->vecs;
    arena->vecs = vec;

    return vec;
}


void
jpp_vec_release(jpp_vec_t *vec)
{
    if (vec == NULL) {
        return;
    }

    if (vec->is_mapped) {
        jpp_unmap(vec->data, vec->size);
        vec->arena->mapped -= vec->size;

    } else {
        ASAN_POISON_MEMORY_REGION(vec->data, vec->size);
    }

    vec->data = NULL;
    vec->len = 0;
    vec->size = 0;
    vec->is_mapped = false;
}


void
jpp_vec_release_after(jpp_arena_t *arena, const jpp_vec_t *before)
{
    jpp_vec_t  *vec;

    for (vec = arena->vecs; vec != before; vec = vec->next) {
        jpp_vec_release(vec);
    }
}


static void
jpp_vec_move(jpp_vec_t *vec, void *p, size_t size)
{
    ASAN_UNPOISON_MEMORY_REGION(p, vec->len);

    if (vec->len != 0) {
        memcpy(p, vec->data, vec->len);
    }

    ASAN_POISON_MEMORY_REGION(vec->data, vec->size);

    vec->data = p;
    vec->size = size;
}


static bool
jpp_vec_copy(jpp_vec_t *vec, size_t need)
{
    void         *p;
    size_t        want;
    jpp_arena_t  *arena;

    want = vec->size == 0 ? JPP_VEC_FIRST : vec->size * 4;

    want = jpp_smaller(want, JPP_VEC_SMALL);

    want = jpp_larger(want, need);

    /* the last piece of the block grows in place */

    arena = vec->arena;

    if (vec->size != 0 && arena->pos == vec->data + vec->size + JPP_RED_ZONE
        && (size_t) (arena->end - vec->data) >= want + JPP_RED_ZONE)
    {
        vec->size = jpp_round_up(want, JPP_ALIGNMENT);
        arena->pos = vec->data + vec->size + JPP_RED_ZONE;
        return true;
    }

    p = jpp_arena_cut(vec->arena, want);

    if (p == NULL && want > need) {
        want = need;
        p = jpp_arena_cut(vec->arena, want);
    }

    if (p == NULL) {
        return false;
    }

    jpp_vec_move(vec, p, want);

    return true;
}


static bool
jpp_vec_map(jpp_vec_t *vec, size_t need)
{
    void         *p;
    size_t        want, left, had;
    jpp_arena_t  *arena;

    arena = vec->arena;
    had = vec->is_mapped ? vec->size : 0;
    left = arena->cap - arena->mapped + had;

    want = jpp_round_up(need + had / 4, JPP_HUGE_PAGE);

    if (want > left) {
        want = jpp_round_up(need, arena->page);
    }

    p = want <= left ? jpp_map(arena, want) : NULL;

    if (p == NULL) {
        return false;
    }

    if (vec->is_mapped) {

        /*
         * The pages move over the new mapping, which the kernel unmaps first.
         * Before that it checks what it may refuse, a mapping too many
         * (mremap_to() in mm/mremap.c); both mappings remain then.
         */

        if (mremap(vec->data, had, want, MREMAP_MAYMOVE|MREMAP_FIXED, p)
            == MAP_FAILED)
        {
            jpp_unmap(p, want);
            return false;
        }

        /* the pages bring what was advised for them */

        jpp_arena_advise(arena, p, want);

        ASAN_UNPOISON_MEMORY_REGION(vec->data, had);
        ASAN_UNPOISON_MEMORY_REGION(p, vec->len);

        vec->data = p;
        vec->size = want;

    } else {
        jpp_vec_move(vec, p, want);
        vec->is_mapped = true;
    }

    arena->mapped += want - had;

    arena->peak = jpp_larger(arena->peak, arena->mapped);

    return true;
}


bool
jpp_vec_grow(jpp_vec_t *vec, size_t size)
{
    size_t  need;

    vec->arena->n_calls++;

    if (vec->arena->n_calls == vec->arena->fail_at
        || size > vec->arena->cap - vec->len)
    {
        return false;
    }

    need = vec->len + size;

    return need <= JPP_VEC_SMALL ? jpp_vec_copy(vec, need)
                                 : jpp_vec_map(vec, need);
}

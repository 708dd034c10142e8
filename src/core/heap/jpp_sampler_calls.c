
#include <errno.h>

#include "jpp_got_find.h"
#include "jpp_sampler_calls.h"
#include "jpp_samples.h"


#define JPP_CALLS_CALLER  __builtin_return_address(0)
#define JPP_CALLS_FRAME   __builtin_frame_address(0)

/* what is called as the last thing, so that its caller is that of the call */
#define JPP_CALLS_SLOW    __attribute__((noinline))


/* any of the functions, and any of ours: they have three arguments at most */
typedef void *(*jpp_calls_pt)(uintptr_t a, uintptr_t b, uintptr_t c);


/*
 * The functions: those that allocate as many bytes as an argument says, that
 * free their first argument, and the others, which are written below.
 */

#define JPP_CALLS_TABLE(ALLOCATES, FREES, OTHER)                              \
    ALLOCATES(malloc, "malloc", a)                                            \
    ALLOCATES(aligned_alloc, "aligned_alloc", b)                              \
    ALLOCATES(memalign, "memalign", b)                                        \
    ALLOCATES(new, "_Znwm", a)                                                \
    ALLOCATES(new_array, "_Znam", a)                                          \
    ALLOCATES(new_nothrow, "_ZnwmRKSt9nothrow_t", a)                          \
    ALLOCATES(new_array_nothrow, "_ZnamRKSt9nothrow_t", a)                    \
    ALLOCATES(new_aligned, "_ZnwmSt11align_val_t", a)                         \
    ALLOCATES(new_array_aligned, "_ZnamSt11align_val_t", a)                   \
    ALLOCATES(new_aligned_nothrow, "_ZnwmSt11align_val_tRKSt9nothrow_t", a)   \
    ALLOCATES(new_array_aligned_nothrow,                                      \
              "_ZnamSt11align_val_tRKSt9nothrow_t", a)                        \
    FREES(free, "free")                                                       \
    FREES(delete, "_ZdlPv")                                                   \
    FREES(delete_array, "_ZdaPv")                                             \
    FREES(delete_nothrow, "_ZdlPvRKSt9nothrow_t")                             \
    FREES(delete_array_nothrow, "_ZdaPvRKSt9nothrow_t")                       \
    FREES(delete_sized, "_ZdlPvm")                                            \
    FREES(delete_array_sized, "_ZdaPvm")                                      \
    FREES(delete_aligned, "_ZdlPvSt11align_val_t")                            \
    FREES(delete_array_aligned, "_ZdaPvSt11align_val_t")                      \
    FREES(delete_aligned_nothrow, "_ZdlPvSt11align_val_tRKSt9nothrow_t")      \
    FREES(delete_array_aligned_nothrow,                                       \
          "_ZdaPvSt11align_val_tRKSt9nothrow_t")                              \
    FREES(delete_sized_aligned, "_ZdlPvmSt11align_val_t")                     \
    FREES(delete_array_sized_aligned, "_ZdaPvmSt11align_val_t")               \
    OTHER(calloc, "calloc")                                                   \
    OTHER(realloc, "realloc")                                                 \
    OTHER(reallocarray, "reallocarray")                                       \
    OTHER(posix_memalign, "posix_memalign")

#define JPP_CALLS_ID(name, ...)  JPP_CALLS_##name,

typedef enum {
    JPP_CALLS_TABLE(JPP_CALLS_ID, JPP_CALLS_ID, JPP_CALLS_ID)
    JPP_CALLS
} jpp_calls_function_t;


static void *jpp_calls_slow(uint32_t function, uintptr_t a, uintptr_t b,
    uintptr_t c, uintptr_t size, const void *caller) JPP_CALLS_SLOW;
static void *jpp_calls_slow_free(uint32_t function, uintptr_t a, uintptr_t b,
    uintptr_t c) JPP_CALLS_SLOW;


#define JPP_CALLS_DECLARE(name, ...)                                          \
    static void *jpp_calls_##name(uintptr_t a, uintptr_t b, uintptr_t c);

JPP_CALLS_TABLE(JPP_CALLS_DECLARE, JPP_CALLS_DECLARE, JPP_CALLS_DECLARE)


#define JPP_CALLS_ROW(name, symbol, ...)                                      \
    [JPP_CALLS_##name] = { symbol, 0, (uintptr_t) jpp_calls_##name, false },

#define JPP_CALLS_IDLE(name, symbol)                                          \
    [JPP_CALLS_##name] = { symbol, 0, (uintptr_t) jpp_calls_##name, true },

static jpp_got_function_t  jpp_calls_table[JPP_CALLS] = {
    JPP_CALLS_TABLE(JPP_CALLS_ROW, JPP_CALLS_IDLE, JPP_CALLS_ROW)
};

#define jpp_calls_real(function)                                              \
    ((jpp_calls_pt) jpp_calls_table[function].real)


uintptr_t
jpp_calls_prepare(void)
{
    uint32_t             i;
    uintptr_t            allocator;
    jpp_got_function_t  *function;

    allocator = jpp_calls_table[JPP_CALLS_malloc].real;

    if (allocator != 0) {
        return allocator;
    }

    allocator = jpp_got_find("malloc");

    for (i = 0; i < JPP_CALLS; i++) {
        function = &jpp_calls_table[i];
        function->real = jpp_got_find(function->name);

        /* mangled: another's operator calls malloc() itself */

        if (function->name[0] == '_'
            && !jpp_got_is_beside(allocator, function->real))
        {
            function->real = 0;
        }
    }

    return allocator;
}


const jpp_got_function_t *
jpp_calls_functions(uint32_t *n)
{
    *n = JPP_CALLS;

    return jpp_calls_table;
}


#define JPP_CALLS_ALLOCATES(name, symbol, size)                               \
                                                                              \
static void *                                                                 \
jpp_calls_##name(uintptr_t a, uintptr_t b, uintptr_t c)                       \
{                                                                             \
    if (jpp_samples_is_due(size)) {                                           \
        return jpp_calls_slow(JPP_CALLS_##name, a, b, c, size,                \
                              JPP_CALLS_CALLER);                              \
    }                                                                         \
                                                                              \
    return jpp_calls_real(JPP_CALLS_##name)(a, b, c);                         \
}

#define JPP_CALLS_FREES(name, symbol)                                         \
                                                                              \
static void *                                                                 \
jpp_calls_##name(uintptr_t a, uintptr_t b, uintptr_t c)                       \
{                                                                             \
    if (jpp_samples_may_have(a)) {                                            \
        return jpp_calls_slow_free(JPP_CALLS_##name, a, b, c);                \
    }                                                                         \
                                                                              \
    return jpp_calls_real(JPP_CALLS_##name)(a, b, c);                         \
}

#define JPP_CALLS_OTHER(name, symbol)

JPP_CALLS_TABLE(JPP_CALLS_ALLOCATES, JPP_CALLS_FREES, JPP_CALLS_OTHER)


static void *
jpp_calls_slow(uint32_t function, uintptr_t a, uintptr_t b, uintptr_t c,
    uintptr_t size, const void *caller)
{
    void  *p;

    p = jpp_calls_real(function)(a, b, c);

    jpp_samples_take(p, size, caller, JPP_CALLS_FRAME);

    return p;
}


/* Before it is free: another thread may get the same address at once. */

static void *
jpp_calls_slow_free(uint32_t function, uintptr_t a, uintptr_t b, uintptr_t c)
{
    uint64_t  object;

    (void) jpp_live_take(&jpp_samples.live, a, &object);

    return jpp_calls_real(function)(a, b, c);
}


/* A product that is too large makes calloc() fail; what it counted for is
   forgotten with the next draw. */

static void *
jpp_calls_calloc(uintptr_t n, uintptr_t size, uintptr_t c)
{
    if (jpp_samples_is_due(n * size)) {
        return jpp_calls_slow(JPP_CALLS_calloc, n, size, c, n * size,
                              JPP_CALLS_CALLER);
    }

    return jpp_calls_real(JPP_CALLS_calloc)(n, size, c);
}


static void *
jpp_calls_slow_memalign(uintptr_t at, uintptr_t alignment, uintptr_t size,
    const void *caller)
{
    void  *result;

    result = jpp_calls_real(JPP_CALLS_posix_memalign)(at, alignment, size);

    jpp_samples_take((int) (uintptr_t) result == 0 ? *(void **) at : NULL,
                     size, caller, JPP_CALLS_FRAME);

    return result;
}


static void *
jpp_calls_posix_memalign(uintptr_t at, uintptr_t alignment, uintptr_t size)
{
    if (jpp_samples_is_due(size)) {
        return jpp_calls_slow_memalign(at, alignment, size, JPP_CALLS_CALLER);
    }

    return jpp_calls_real(JPP_CALLS_posix_memalign)(at, alignment, size);
}


/* What it was is taken out before it may be freed, and put back where it was
   not.  With a size of 0 there is no failure. */

static void *
jpp_calls_slow_resize(uintptr_t p, uintptr_t size, bool is_due,
    const void *caller)
{
    bool       was_live;
    void      *result;
    uint64_t   object;

    was_live = jpp_samples_freed(p, &object);

    result = jpp_calls_real(JPP_CALLS_realloc)(p, size, 0);

    if (result == NULL && size != 0 && was_live) {
        (void) jpp_live_add(&jpp_samples.live, p, object);
    }

    if (is_due) {
        jpp_samples_take(result, size, caller, JPP_CALLS_FRAME);
    }

    return result;
}


static inline void *
jpp_calls_resize(uintptr_t p, uintptr_t size, const void *caller)
{
    bool  is_due;

    is_due = jpp_samples_is_due(size);

    if (is_due || jpp_samples_may_have(p)) {
        return jpp_calls_slow_resize(p, size, is_due, caller);
    }

    return jpp_calls_real(JPP_CALLS_realloc)(p, size, 0);
}


static void *
jpp_calls_realloc(uintptr_t p, uintptr_t size, uintptr_t c)
{
    (void) c;

    return jpp_calls_resize(p, size, JPP_CALLS_CALLER);
}


/* Not the real one, which may call realloc() in the way that is patched. */

static void *
jpp_calls_reallocarray(uintptr_t p, uintptr_t n, uintptr_t size)
{
    uintptr_t  product;

    if (__builtin_mul_overflow(n, size, &product)) {
        errno = ENOMEM;
        return NULL;
    }

    return jpp_calls_resize(p, product, JPP_CALLS_CALLER);
}

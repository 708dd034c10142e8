
/*
 * Every function that the sampler stands for, in C and in C++.
 */


#include "jpp_test_sampler.h"

#include <malloc.h>


#if defined(__x86_64__) && defined(__LP64__)


typedef void *(*jpp_new_pt)(unsigned i, size_t size);
typedef void (*jpp_delete_pt)(unsigned i, void *p, size_t size);


/* of all addresses; compilers know what cannot be */
static volatile size_t  jpp_half = SIZE_MAX / 2;

static void
jpp_play_functions(void)
{
    char    text[JPP_BLOCK];
    void   *p, *q;
    int     rc;

    void *(*volatile address)(size_t size) = malloc;

    p = jpp_use(malloc(JPP_BLOCK));
    jpp_allocated("malloc()", p, JPP_BLOCK);
    free(p);
    jpp_freed("free()", p);

    /* a program at a fixed address has one of its own */

    p = address(JPP_BLOCK);
    jpp_allocated("malloc() by its address", p, JPP_BLOCK);
    free(p);

    p = jpp_use(calloc(16, JPP_BLOCK / 16));
    jpp_allocated("calloc()", p, JPP_BLOCK);
    jpp_check(*(char *) p == 0, "of zeros");

    q = jpp_use(realloc(p, 16 * JPP_BLOCK));
    jpp_allocated("realloc()", q, 16 * JPP_BLOCK);
    jpp_check(q == p || jpp_sample(p) == 0, "what it was is gone");

    p = jpp_use(realloc(q, JPP_BLOCK));
    jpp_allocated("a realloc() to less", p, JPP_BLOCK);

    q = realloc(p, (size_t) PTRDIFF_MAX - JPP_BLOCK);
    jpp_check(q == NULL, "a realloc() that fails");
    jpp_allocated("what it was", p, JPP_BLOCK);

    q = jpp_use(reallocarray(p, 4, JPP_BLOCK));
    jpp_allocated("reallocarray()", q, 4 * JPP_BLOCK);

    errno = 0;
    p = reallocarray(q, jpp_half, 4);
    jpp_check(p == NULL && errno == ENOMEM, "a reallocarray() that fails");
    jpp_allocated("what it was", q, 4 * JPP_BLOCK);

    p = realloc(q, 0);
    jpp_freed("a realloc() to nothing", q);
    free(p);

    p = jpp_use(realloc(NULL, JPP_BLOCK));
    jpp_allocated("a realloc() of nothing", p, JPP_BLOCK);
    free(p);

    rc = posix_memalign(&p, 4096, JPP_BLOCK);
    jpp_check(rc == 0 && (uintptr_t) jpp_use(p) % 4096 == 0, "aligned");
    jpp_allocated("posix_memalign()", p, JPP_BLOCK);
    free(p);

    jpp_check(posix_memalign(&p, 3, JPP_BLOCK) == EINVAL,
              "a posix_memalign() that fails");

    p = jpp_use(aligned_alloc(4096, JPP_BLOCK));
    jpp_allocated("aligned_alloc()", p, JPP_BLOCK);
    free(p);

    p = jpp_use(memalign(4096, JPP_BLOCK));
    jpp_allocated("memalign()", p, JPP_BLOCK);
    free(p);
    jpp_freed("free()", p);

    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';

    p = jpp_use(strdup(text));
    jpp_allocated("strdup(), which is libc's call,", p, JPP_BLOCK);
    free(p);

    jpp_check(jpp_use(malloc((size_t) PTRDIFF_MAX - JPP_BLOCK)) == NULL
              && errno == ENOMEM, "a malloc() that fails");
    jpp_check(jpp_use(calloc(jpp_half, 4)) == NULL, "a calloc() that fails");
    free(NULL);

    p = jpp_use(malloc(0));
    jpp_check(jpp_sample(p) == 0, "nothing is not sampled");
    free(p);

    (void) jpp_sampler_sample_thread(false);
    p = jpp_use(malloc(JPP_BLOCK));
    q = jpp_use(malloc(JPP_BLOCK));
    jpp_check(jpp_sample(p) == 0 && jpp_sample(q) == 0,
              "a thread that is not sampled");
    jpp_check(!jpp_sampler_sample_thread(true), "until it is again");
    free(p);
    free(q);

    p = jpp_use(malloc(JPP_BLOCK));
    jpp_allocated("malloc() again", p, JPP_BLOCK);
    jpp_off();
    free(p);
}


/* What nobody can have takes nothing from what is sampled after it. */

static void
jpp_play_sizes(void)
{
    void      *p, *q, *none;
    unsigned   i;

    /* all bits of a size may be set: some are less than 0, as it were */
    static volatile size_t  sizes[] = {
        (size_t) PTRDIFF_MAX - JPP_BLOCK, (size_t) PTRDIFF_MAX + 1,
        SIZE_MAX / 4 * 3, SIZE_MAX - JPP_BLOCK, SIZE_MAX
    };

    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        p = jpp_use(malloc(sizes[i]));
        q = jpp_use(malloc(JPP_BLOCK));
        jpp_check(p == NULL && jpp_sample(q) == JPP_BLOCK,
                  "malloc(%#zx), and one that is sampled", sizes[i]);

        p = realloc(q, sizes[i]);
        jpp_check(p == NULL && jpp_sample(q) == JPP_BLOCK,
                  "realloc(%#zx), and what it was", sizes[i]);
        free(q);

        q = jpp_use(malloc(JPP_BLOCK));
        jpp_check(jpp_sample(q) == JPP_BLOCK, "one that is sampled");
        free(q);

        none = NULL;
        jpp_check(posix_memalign(&none, 4096, sizes[i]) == ENOMEM,
                  "posix_memalign(%#zx)", sizes[i]);
        q = jpp_use(malloc(JPP_BLOCK));
        jpp_check(jpp_sample(q) == JPP_BLOCK, "one that is sampled");
        free(q);
    }

    jpp_off();
}


static void
jpp_play_operators(void)
{
    void           *p, *handle;
    unsigned        i;
    jpp_new_pt      new;
    jpp_delete_pt   delete;

    handle = jpp_library("jpp_operators.so");
    *(void **) &new = dlsym(handle, "jpp_operator_new");
    *(void **) &delete = dlsym(handle, "jpp_operator_delete");

    if (!jpp_on(JPP_FINE)) {
        return;
    }

    for (i = 0; i < 12; i++) {
        p = new(i < 8 ? i : 4 + i % 4, JPP_BLOCK);

        if (i < 4) {
            jpp_allocated("operator new", p, JPP_BLOCK);
            delete(i, p, JPP_BLOCK);

        } else if (i < 8) {

            /* libstdc++ rounds such a size up to its alignment */

            jpp_allocated("operator new, aligned,", p, JPP_BLOCK);
            delete(i + 2, p, JPP_BLOCK);

        } else {
            delete(i, p, JPP_BLOCK);
        }

        jpp_check(jpp_sample(p) == 0, "operator delete %u", i);
    }

    for (i = 4; i < 6; i++) {
        p = new(i - 4, JPP_BLOCK);
        delete(i, p, JPP_BLOCK);
        jpp_check(jpp_sample(p) == 0, "operator delete %u", i);
    }

    jpp_off();
}


static const jpp_part_t  jpp_parts[] = {
    { "functions", jpp_play_functions, false, JPP_FINE },
    { "sizes", jpp_play_sizes, false, JPP_FINE },
    { "operators", jpp_play_operators, false, 0 }
};


JPP_PLAYS(jpp_parts, NULL)


#endif

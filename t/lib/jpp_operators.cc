
/*
 * For jpp_sampler_calls_test: every operator new and delete, in a library that
 * is loaded late, and that allocates as it comes and goes.
 */


#include <new>
#include <stdlib.h>


#define JPP_ALIGNED  std::align_val_t(64)


extern "C" void *jpp_operator_new(unsigned i, size_t size);
extern "C" void jpp_operator_delete(unsigned i, void *p, size_t size);
extern "C" void *jpp_operator_malloc(size_t size);
extern "C" void jpp_operator_free(void *p);


static void *
jpp_operator_keep(void *p)
{
    __asm__ volatile ("" : "+r" (p) : : "memory");

    return p;
}


/* A way to allocate: 8 of them; NULL behind the last. */

extern "C" void *
jpp_operator_new(unsigned i, size_t size)
{
    switch (i) {
    case 0: return operator new(size);
    case 1: return operator new[](size);
    case 2: return operator new(size, std::nothrow);
    case 3: return operator new[](size, std::nothrow);
    case 4: return operator new(size, JPP_ALIGNED);
    case 5: return operator new[](size, JPP_ALIGNED);
    case 6: return operator new(size, JPP_ALIGNED, std::nothrow);
    case 7: return operator new[](size, JPP_ALIGNED, std::nothrow);
    default: return NULL;
    }
}


/* And to free: 12; those from 6 on are for what is aligned. */

extern "C" void
jpp_operator_delete(unsigned i, void *p, size_t size)
{
    switch (i) {
    case 0: operator delete(p); break;
    case 1: operator delete[](p); break;
    case 2: operator delete(p, std::nothrow); break;
    case 3: operator delete[](p, std::nothrow); break;
    case 4: operator delete(p, size); break;
    case 5: operator delete[](p, size); break;
    case 6: operator delete(p, JPP_ALIGNED); break;
    case 7: operator delete[](p, JPP_ALIGNED); break;
    case 8: operator delete(p, JPP_ALIGNED, std::nothrow); break;
    case 9: operator delete[](p, JPP_ALIGNED, std::nothrow); break;
    case 10: operator delete(p, size, JPP_ALIGNED); break;
    case 11: operator delete[](p, size, JPP_ALIGNED); break;
    }
}


extern "C" void *
jpp_operator_malloc(size_t size)
{
    return jpp_operator_keep(malloc(size));
}


extern "C" void
jpp_operator_free(void *p)
{
    free(p);
}


static char *jpp_operator_held;

static void __attribute__((constructor))
jpp_operator_come()
{
    jpp_operator_held = (char *) jpp_operator_keep(malloc(100000));
}


static void __attribute__((destructor))
jpp_operator_go()
{
    free(jpp_operator_held);
    free(jpp_operator_keep(malloc(100000)));
}

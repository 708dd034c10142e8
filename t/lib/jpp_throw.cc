
/*
 * For jpp_hook_test: what throws and catches, and allocates in between.  It is
 * opened as late as a library can be.
 */


#include <stdexcept>
#include <stdlib.h>


extern "C" void *jpp_throw_alloc(size_t size, void **caller);
extern "C" long jpp_throw(unsigned n);


static void
jpp_throw_deep(unsigned depth)
{
    if (depth == 0) {
        throw std::runtime_error("thrown, with a copy of this sentence");
    }

    /* destroyed on the way out */

    struct held {
        char  *p = new char[200];

        ~held() { delete[] p; }
    } held;

    jpp_throw_deep(depth - 1);
}


/* N exceptions; returns how many were caught. */

extern "C" long
jpp_throw(unsigned n)
{
    long  caught = 0;

    for (unsigned i = 0; i < n; i++) {
        try {
            jpp_throw_deep(i % 20);

        } catch (const std::exception &) {
            caught++;
        }
    }

    return caught;
}


extern "C" void *
jpp_throw_alloc(size_t size, void **caller)
{
    *caller = __builtin_return_address(0);

    return malloc(size);
}

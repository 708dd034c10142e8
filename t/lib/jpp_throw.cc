
/*
 * For jpp_hook_test and jpp_unwind_threads_test: what throws and catches, and
 * allocates or calls back in between.  It is opened as late as a library can
 * be.
 */


#include <alloca.h>
#include <stdexcept>
#include <stdlib.h>


extern "C" void *jpp_throw_alloc(size_t size, void **caller);
extern "C" long jpp_throw(unsigned n);

/* CALL is called from DEPTH frames with alloca(), in their destructors as an
   exception passes, and where that is caught; returns what was thrown. */

typedef void (*jpp_throw_pt)(void *data);

extern "C" int jpp_throw_calls(int depth, jpp_throw_pt call, void *data);


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


static int
jpp_throw_calls_deep(int depth, jpp_throw_pt call, void *data)
{
    volatile char  *bytes;

    struct held {
        jpp_throw_pt   call;
        void          *data;

        ~held() { call(data); }
    } held = { call, data };

    bytes = static_cast<volatile char *>(alloca(depth * 37 + 1));
    bytes[0] = 1;
    held.call(data);

    if (depth == 0) {
        throw 4711;
    }

    return jpp_throw_calls_deep(depth - 1, call, data) + bytes[0];
}


extern "C" int
jpp_throw_calls(int depth, jpp_throw_pt call, void *data)
{
    try {
        return jpp_throw_calls_deep(depth, call, data);

    } catch (int thrown) {
        call(data);
        return thrown;
    }
}

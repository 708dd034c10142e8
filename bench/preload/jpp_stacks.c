
/*
 * Live stacks in an nginx worker, as many as asked for: preloaded, behind
 * jemalloc.
 *
 *     gcc -O1 -g -fPIC -shared -o jpp_stacks.so jpp_stacks.c -ldl
 *     LD_PRELOAD="libjemalloc.so.2 jpp_stacks.so" JPP_STACKS=1000 nginx ...
 *
 * Each stack is a way of its own through sixteen levels of sixteen functions,
 * which share their outer frames as stacks of a server do; with nginx's own
 * frames below that is a depth of about 28.  A stack holds one block, too large
 * to be missed by the sampling but never touched, so that it costs addresses
 * and no memory.
 *
 * The place for it is a worker's first epoll_wait(): before, in the master and
 * in the fork, the blocks would be inherited ones.
 */


#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>


#define JPP_STACKS_LEVELS  16
#define JPP_STACKS_WAYS    16

/* the ways of 14 bits */
#define JPP_STACKS_BITS    14
#define JPP_STACKS_MAX     (1 << JPP_STACKS_BITS)

/* bytes: eight times the gap of lg_prof_sample:19; 1 of 3000 is missed */
#define JPP_STACKS_BLOCK   ((size_t) 8 << 19)

/* Inner levels follow higher bits: outer frames are those that are shared. */

#define jpp_stacks_way(level, n)                                              \
    (((n) >> (JPP_STACKS_BITS - 1                                             \
              - (level) * (JPP_STACKS_BITS - 1) / (JPP_STACKS_LEVELS - 1)))   \
     % JPP_STACKS_WAYS)

/* a function would be a frame more */
#define jpp_stacks_next(level, n)                                             \
    ((level) + 1 < JPP_STACKS_LEVELS                                          \
     ? jpp_stacks_functions[((level) + 1) * JPP_STACKS_WAYS                   \
                            + jpp_stacks_way((level) + 1, n)](n)              \
     : malloc(JPP_STACKS_BLOCK))

/*
 * A function for each level and way.  What follows the call keeps it from being
 * a tail call, which would take the frame away, and makes no two alike.
 */
#define JPP_STACKS_FUNCTION(level, way)                                       \
                                                                              \
    static __attribute__((noinline)) void *                                   \
    jpp_stacks_##level##_##way(unsigned n)                                    \
    {                                                                         \
        void  *p;                                                             \
                                                                              \
        p = jpp_stacks_next(level, n);                                        \
        __asm__ volatile ("" : "+r" (p) : "i" (level * 16 + way));            \
        return p;                                                             \
    }

#define JPP_STACKS_LEVEL(one, level)                                          \
    one(level, 0) one(level, 1) one(level, 2) one(level, 3)                   \
    one(level, 4) one(level, 5) one(level, 6) one(level, 7)                   \
    one(level, 8) one(level, 9) one(level, 10) one(level, 11)                 \
    one(level, 12) one(level, 13) one(level, 14) one(level, 15)

#define JPP_STACKS_ALL(one)                                                   \
    JPP_STACKS_LEVEL(one, 0) JPP_STACKS_LEVEL(one, 1)                         \
    JPP_STACKS_LEVEL(one, 2) JPP_STACKS_LEVEL(one, 3)                         \
    JPP_STACKS_LEVEL(one, 4) JPP_STACKS_LEVEL(one, 5)                         \
    JPP_STACKS_LEVEL(one, 6) JPP_STACKS_LEVEL(one, 7)                         \
    JPP_STACKS_LEVEL(one, 8) JPP_STACKS_LEVEL(one, 9)                         \
    JPP_STACKS_LEVEL(one, 10) JPP_STACKS_LEVEL(one, 11)                       \
    JPP_STACKS_LEVEL(one, 12) JPP_STACKS_LEVEL(one, 13)                       \
    JPP_STACKS_LEVEL(one, 14) JPP_STACKS_LEVEL(one, 15)

#define JPP_STACKS_NAME(level, way)  jpp_stacks_##level##_##way,


typedef void *(*jpp_stacks_pt)(unsigned n);

typedef int (*jpp_stacks_wait_pt)(int epfd, struct epoll_event *events,
    int maxevents, int timeout);


static void jpp_stacks_make(void);
static void jpp_stacks_die(const char *what);


static const jpp_stacks_pt
    jpp_stacks_functions[JPP_STACKS_LEVELS * JPP_STACKS_WAYS];

static unsigned  jpp_stacks_wanted;
static void     *jpp_stacks_blocks[JPP_STACKS_MAX];


JPP_STACKS_ALL(JPP_STACKS_FUNCTION)


static const jpp_stacks_pt
    jpp_stacks_functions[JPP_STACKS_LEVELS * JPP_STACKS_WAYS] = {
    JPP_STACKS_ALL(JPP_STACKS_NAME)
};


/* Early, because nginx empties the environment of its workers. */

static __attribute__((constructor)) void
jpp_stacks_init(void)
{
    const char  *value;

    value = getenv("JPP_STACKS");
    jpp_stacks_wanted = value ? (unsigned) strtoul(value, NULL, 10) : 0;

    if (jpp_stacks_wanted > JPP_STACKS_MAX) {
        jpp_stacks_die("JPP_STACKS is too large");
    }
}


int
epoll_wait(int epfd, struct epoll_event *events, int maxevents, int timeout)
{
    static jpp_stacks_wait_pt  next;

    if (next == NULL) {
        *(void **) &next = dlsym(RTLD_NEXT, "epoll_wait");

        if (next == NULL) {
            jpp_stacks_die("no epoll_wait() behind this one");
        }

        jpp_stacks_make();
    }

    return next(epfd, events, maxevents, timeout);
}


static void
jpp_stacks_make(void)
{
    unsigned  n;

    for (n = 0; n < jpp_stacks_wanted; n++) {
        jpp_stacks_blocks[n] =
                     jpp_stacks_functions[jpp_stacks_way(0, n)](n);

        if (jpp_stacks_blocks[n] == NULL) {
            jpp_stacks_die("out of memory: 4 MiB of addresses for each stack"
                           " must be allowed");
        }
    }
}


static void
jpp_stacks_die(const char *what)
{
    fprintf(stderr, "jpp_stacks: %s\n", what);
    exit(1);
}


/*
 * The headers of libc that nearly every file of the core needs, with the
 * extensions of Linux: the counterpart of ngx_config.h.
 *
 * For the headers of this room; all others include jpp_core.h.
 */


#ifndef _JPP_CONFIG_H_INCLUDED_
#define _JPP_CONFIG_H_INCLUDED_


#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>


/*
 * What threads and handlers of signals share: as nginx's ngx_atomic_*().  What
 * was stored before a value was set is seen by who gets that.  Where one order
 * of all has to be seen by all, the compiler's own functions say so.
 */

#define jpp_atomic_get(at)         __atomic_load_n(at, __ATOMIC_ACQUIRE)
#define jpp_atomic_set(at, value)  __atomic_store_n(at, value, __ATOMIC_RELEASE)
#define jpp_atomic_add(at, n)                                                 \
    ((void) __atomic_fetch_add(at, n, __ATOMIC_ACQ_REL))

/* If AT has *WAS, it gets NOW; else false, and *WAS is what it has. */
#define jpp_atomic_cmp_set(at, was, now)                                      \
    __atomic_compare_exchange_n(at, was, now, false, __ATOMIC_ACQ_REL,        \
                                __ATOMIC_ACQUIRE)


/* A loop over the N items at ITEMS: the pointer ITEM has each in turn. */
#define jpp_each(item, items, n)                                              \
    for (item = (items); (size_t) (item - (items)) < (n); item++)

/* The same over all of an array of C. */
#define jpp_each_of(item, array)                                              \
    jpp_each(item, array, sizeof(array) / sizeof((array)[0]))


/*
 * The time in nanoseconds.
 *
 * [signal] Any thread.
 */

static inline uint64_t
jpp_clock_nanos(clockid_t clock)
{
    struct timespec  now;

    (void) clock_gettime(clock, &now);

    return (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec;
}


/* For durations. */

static inline uint64_t
jpp_clock(void)
{
    return jpp_clock_nanos(CLOCK_MONOTONIC);
}


/* Since the epoch. */

static inline int64_t
jpp_clock_wall(void)
{
    return (int64_t) jpp_clock_nanos(CLOCK_REALTIME);
}


/*
 * Of a list of X(id, text): the members of an enum, and of a table of texts by
 * these.
 */
#define JPP_LIST_ID(id, text)    id,
#define JPP_LIST_TEXT(id, text)  [id] = text,


/* Write formatted text to TEXT, an array of chars, and cut what is too long. */
#define jpp_print(text, ...)                                                  \
    ((void) snprintf(text, sizeof(text)                                       \
                     / !__builtin_types_compatible_p(__typeof__(text),        \
                                                     char *), __VA_ARGS__))


#endif /* _JPP_CONFIG_H_INCLUDED_ */


/*
 * Functions of the C library that are to fail or to wait, and malloc(), by
 * which the module sees whose it is.
 */


/* RTLD_NEXT, memfd_create(), accept4() */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "jpp_fake.h"


/*
 * malloc() lies in this library, as it does in a jemalloc; with a program that
 * brings its own (one under a sanitizer) that one is used.
 */

void *
malloc(size_t size)
{
    void  *symbol;

    static void *(*next)(size_t size);

    if (next == NULL) {
        symbol = dlsym(RTLD_NEXT, "malloc");
        memcpy(&next, &symbol, sizeof(next));
    }

    return next(size);
}


/* Is what KEY stands for to fail?  With the number in errno. */

static bool
jpp_fake_fails(const char *key)
{
    int         number;
    jpp_fake_t  fake;

    jpp_fake_read(&fake);

    number = (int) jpp_fake_number(&fake, key, 0);

    if (number == 0) {
        return false;
    }

    errno = number;

    return true;
}


int
memfd_create(const char *name, unsigned flags)
{
    void  *symbol;

    static int (*next)(const char *name, unsigned flags);

    if (jpp_fake_fails("memfd")) {
        return -1;
    }

    if (next == NULL) {
        symbol = dlsym(RTLD_NEXT, "memfd_create");
        memcpy(&next, &symbol, sizeof(next));
    }

    return next(name, flags);
}


int
eventfd(unsigned count, int flags)
{
    void  *symbol;

    static int (*next)(unsigned count, int flags);

    /* nginx's own has no flags, and it does not start without it */

    if (flags != 0 && jpp_fake_fails("eventfd")) {
        return -1;
    }

    if (next == NULL) {
        symbol = dlsym(RTLD_NEXT, "eventfd");
        memcpy(&next, &symbol, sizeof(next));
    }

    return next(count, flags);
}


int
socket(int domain, int type, int protocol)
{
    void  *symbol;

    static int (*next)(int domain, int type, int protocol);

    if (domain == AF_UNIX && (type & 0xf) == SOCK_SEQPACKET
        && jpp_fake_fails("socket"))
    {
        return -1;
    }

    if (next == NULL) {
        symbol = dlsym(RTLD_NEXT, "socket");
        memcpy(&next, &symbol, sizeof(next));
    }

    return next(domain, type, protocol);
}


int
connect(int fd, const struct sockaddr *addr, socklen_t len)
{
    void  *symbol;

    static int (*next)(int fd, const struct sockaddr *addr, socklen_t len);

    if (addr->sa_family == AF_UNIX && len > sizeof(sa_family_t)
        && addr->sa_data[0] == '\0' && jpp_fake_fails("connect"))
    {
        return -1;
    }

    if (next == NULL) {
        symbol = dlsym(RTLD_NEXT, "connect");
        memcpy(&next, &symbol, sizeof(next));
    }

    return next(fd, addr, len);
}


int
accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
    int         domain;
    void       *symbol;
    socklen_t   size;

    static int (*next)(int fd, struct sockaddr *addr, socklen_t *len,
        int flags);

    size = sizeof(int);

    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0
        && domain == AF_UNIX && jpp_fake_fails("accept"))
    {
        return -1;
    }

    if (next == NULL) {
        symbol = dlsym(RTLD_NEXT, "accept4");
        memcpy(&next, &symbol, sizeof(next));
    }

    return next(fd, addr, len, flags);
}


/* what is read to know that is in neither */

static bool
jpp_fake_waits(const char *path)
{
    char         value[JPP_FAKE_SIZE];
    jpp_fake_t   fake;
    const char  *waiting;

    if (strncmp(path, "/proc/", 6) != 0 && strncmp(path, "/sys/", 5) != 0) {
        return false;
    }

    jpp_fake_read(&fake);

    waiting = jpp_fake_get(&fake, "wait", value);

    return waiting != NULL && strcmp(path, waiting) == 0;
}


int
open(const char *path, int flags, ...)
{
    void     *symbol;
    va_list   args;
    mode_t    mode;

    static int (*next)(const char *path, int flags, ...);

    va_start(args, flags);
    mode = ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE)
           ? va_arg(args, mode_t) : 0;
    va_end(args);

    if (next == NULL) {
        symbol = dlsym(RTLD_NEXT, "open");
        memcpy(&next, &symbol, sizeof(next));
    }

    while (jpp_fake_waits(path)) {
        (void) usleep(1000);
    }

    return next(path, flags, mode);
}

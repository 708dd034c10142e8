
/*
 * What may happen in the middle of a walk through the pools of a worker.  In an
 * nginx nobody but a walk asks how large an allocation is, so this is where it
 * is caught: preloaded before the allocator.
 *
 * JPP_WALK is a file.  While it is there, it says what happens to the process
 * PID when it has asked N times, by all walks together:
 *
 *     kill PID N      it is killed
 *     stop PID N      it is stopped, once
 *     memory PID N    from then on the kernel gives it no large mapping
 */


/* RTLD_NEXT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>


#define JPP_WALK_LARGE  (1024 * 1024)


size_t malloc_usable_size(void *p);


static long  jpp_walk_n;
static int   jpp_walk_is_done;
static int   jpp_walk_has_none;


static int
jpp_walk_read(char *what, long *n)
{
    int          fd;
    char         text[64];
    long         pid;
    ssize_t      len;
    const char  *path;

    path = getenv("JPP_WALK");
    fd = path != NULL ? open(path, O_RDONLY|O_CLOEXEC) : -1;

    if (fd == -1) {
        return 0;
    }

    len = read(fd, text, sizeof(text) - 1);
    (void) close(fd);

    text[len > 0 ? len : 0] = '\0';

    return sscanf(text, "%15s %ld %ld", what, &pid, n) == 3
           && pid == (long) getpid();
}


static void
jpp_walk_look(void)
{
    char  what[16] = "";
    long  n;

    if (!jpp_walk_read(what, &n)) {
        jpp_walk_n = 0;
        jpp_walk_is_done = 0;

    } else if (jpp_walk_n >= n && !jpp_walk_is_done) {
        jpp_walk_is_done = 1;

        if (strcmp(what, "memory") != 0) {
            (void) kill(getpid(), what[0] == 'k' ? SIGKILL : SIGSTOP);
        }
    }

    jpp_walk_has_none = jpp_walk_is_done && strcmp(what, "memory") == 0;
}


/* looked up now and then: a walk asks very often */

static void
jpp_walk_count(void)
{
    if (jpp_walk_n++ % 16 == 0) {
        jpp_walk_look();
    }
}


size_t
malloc_usable_size(void *p)
{
    void  *symbol;

    static size_t (*next)(void *p);

    if (next == NULL) {
        symbol = dlsym(RTLD_NEXT, "malloc_usable_size");
        memcpy(&next, &symbol, sizeof(next));
    }

    jpp_walk_count();

    return next(p);
}


void *
mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
    void  *symbol;

    static void *(*next)(void *addr, size_t len, int prot, int flags, int fd,
        off_t offset);

    if (jpp_walk_has_none) {
        jpp_walk_look();
    }

    if (jpp_walk_has_none && len >= JPP_WALK_LARGE) {
        errno = ENOMEM;
        return MAP_FAILED;
    }

    if (next == NULL) {
        symbol = dlsym(RTLD_NEXT, "mmap");
        memcpy(&next, &symbol, sizeof(next));
    }

    return next(addr, len, prot, flags, fd, offset);
}


/*
 * Reads memory that may not be mapped, without a fault: write() to a pipe fails
 * if its source is not mapped.
 */


#include "jpp_proc.h"

#include <sys/syscall.h>


bool
jpp_peek_open(jpp_peek_t *peek)
{
    if (pipe2(peek->fds, O_CLOEXEC|O_NONBLOCK) == 0) {
        return true;
    }

    peek->fds[0] = -1;
    peek->fds[1] = -1;

    return false;
}


void
jpp_peek_close(jpp_peek_t *peek)
{
    if (peek->fds[0] != -1) {
        (void) close(peek->fds[0]);
        (void) close(peek->fds[1]);
    }

    peek->fds[0] = -1;
    peek->fds[1] = -1;
}


/*
 * What is not mapped to its end is written in part.  The write() of a sanitizer
 * ends the process where memory is there, but nobody's.
 */

bool
jpp_peek(const jpp_peek_t *peek, uintptr_t address, void *to, size_t size)
{
    int      was_errno;
    ssize_t  written, taken;

    if (size > JPP_PEEK_MAX) {
        return false;
    }

    was_errno = errno;

    written = syscall(SYS_write, peek->fds[1], address, size);
    taken = written > 0 ? read(peek->fds[0], to, size) : -1;

    errno = was_errno;

    return written == (ssize_t) size && taken == written;
}


#include "jpp_proc.h"

#include <sys/syscall.h>


/* bytes: a read hands out about a page, whatever it is offered */
#define JPP_PROC_READ    (64 * 1024)

/* how often it is read until it is in order */
#define JPP_PROC_TRIES   10

/* bytes of a listing: a line has 50 without its path */
#define JPP_PROC_MAX     ((size_t) JPP_MAX_MAPS * 256)


static jpp_code_t
jpp_proc_read(int fd, jpp_vec_t *maps, jpp_err_t *err)
{
    ssize_t   n;
    uint8_t  *p;

    maps->len = 0;

    for ( ;; ) {

        p = jpp_vec_reserve(maps, JPP_PROC_READ);

        if (p == NULL) {
            return jpp_err_memory(err);
        }

        n = pread(fd, p, JPP_PROC_READ, (off_t) maps->len);

        if (n <= 0) {
            return n == 0 ? JPP_OK
                   : jpp_err_sys(err, errno, "/proc/self/maps cannot be read");
        }

        maps->len += (size_t) n;

        if (maps->len > JPP_PROC_MAX) {
            return jpp_err_set(err, JPP_ERR_LIMIT,
                               "/proc/self/maps has more than %zu bytes",
                               JPP_PROC_MAX);
        }
    }
}


const char *
jpp_proc_line(const char *p, const char *end, jpp_scan_mapping_t *m)
{
    const char  *nl;

    nl = memchr(p, '\n', (size_t) (end - p));

    if (nl == NULL) {
        return NULL;
    }

    if (jpp_scan_mapping(p, m) == NULL) {
        memset(m, 0, sizeof(jpp_scan_mapping_t));
    }

    return nl + 1;
}


/*
 * The kernel lists a page at a time, and other threads map and unmap meanwhile:
 * what has grown since may be listed again.
 */

static bool
jpp_proc_is_ordered(const char *text, size_t len)
{
    uint64_t             last;
    const char          *p, *end;
    jpp_scan_mapping_t   m;

    end = text + len;
    last = 0;

    for (p = text; p != end; last = m.limit) {
        p = jpp_proc_line(p, end, &m);

        if (p == NULL || m.start < last) {
            return false;
        }
    }

    return true;
}


jpp_code_t
jpp_proc_maps(jpp_vec_t *maps, jpp_err_t *err)
{
    int         fd;
    unsigned    tries;
    jpp_code_t  rc;

    fd = open("/proc/self/maps", O_RDONLY|O_CLOEXEC);

    if (fd == -1) {
        return jpp_err_sys(err, errno,
                           "/proc/self/maps cannot be opened%s",
                           errno == EMFILE
                           ? ", because the process has no free descriptor "
                             "(raise RLIMIT_NOFILE)"
                           : "");
    }

    tries = JPP_PROC_TRIES;

    do {
        rc = jpp_proc_read(fd, maps, err);

    } while (rc == JPP_OK
             && --tries != 0
             && !jpp_proc_is_ordered((const char *) maps->data, maps->len));

    (void) close(fd);

    return rc;
}


int
jpp_proc_protection(const char *text, size_t len, uintptr_t address)
{
    const char          *end;
    jpp_scan_mapping_t   m;

    end = text + len;

    while ((text = jpp_proc_line(text, end, &m)) != NULL) {
        if (address >= m.start && address < m.limit) {
            return (m.is_readable ? PROT_READ : 0)
                   | (m.is_writable ? PROT_WRITE : 0)
                   | (m.is_executable ? PROT_EXEC : 0);
        }
    }

    return 0;
}


/*
 * A path does not count: one thread may map the file while another writes the
 * dump.
 */

const char *
jpp_proc_tail(const char *text, size_t len, jpp_arena_t *arena)
{
    const char          *p, *end;
    jpp_scan_mapping_t   m;

    if (len == 0 || text[len - 1] != '\n') {
        return NULL;
    }

    end = text + len - 1;
    p = memrchr(text, '\n', len - 1);
    p = jpp_scan_mapping(p != NULL ? p + 1 : text, &m);

    if (p == NULL || *p != '[' || end[-1] != ']') {
        return NULL;
    }

    return jpp_arena_strndup(arena, p, (size_t) (end - p));
}


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
    taken = read(peek->fds[0], to, size);

    errno = was_errno;

    return written == (ssize_t) size && taken == written;
}

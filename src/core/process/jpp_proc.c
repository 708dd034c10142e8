
#include "jpp_proc.h"


/* bytes: a read hands out about a page, whatever it is offered */
#define JPP_PROC_READ    (64 * 1024)

/* how often it is read until it is in order */
#define JPP_PROC_TRIES   10

/* bytes of a listing: a line has 50 without its path */
#define JPP_PROC_MAX     ((size_t) JPP_MAX_MAPS * 256)

/* of a line before its name */
#define JPP_PROC_FIELDS  5


static jpp_code_t
jpp_proc_read(int fd, jpp_vec_t *maps, jpp_err_t *err)
{
    size_t    start;
    ssize_t   n;
    uint8_t  *p;

    start = maps->len;

    for ( ;; ) {

        p = jpp_vec_reserve(maps, JPP_PROC_READ);

        if (p == NULL) {
            return jpp_err_memory(err);
        }

        n = read(fd, p, JPP_PROC_READ);

        if (n == 0) {
            return JPP_OK;
        }

        if (n > 0) {
            maps->len += (size_t) n;

        } else if (errno != EINTR) {
            return jpp_err_sys(err, errno, "/proc/self/maps cannot be read");
        }

        if (maps->len - start > JPP_PROC_MAX) {
            return jpp_err_set(err, JPP_ERR_LIMIT,
                               "/proc/self/maps has more than %zu bytes",
                               JPP_PROC_MAX);
        }
    }
}


const char *
jpp_proc_line(const char *p, const char *end, uint64_t *start, uint64_t *stop,
    const char **next)
{
    *next = memchr(p, '\n', (size_t) (end - p));

    if (*next == NULL) {
        return NULL;
    }

    (*next)++;

    p = jpp_scan_hex(p, start);

    return p != NULL && *p == '-' ? jpp_scan_hex(p + 1, stop) : NULL;
}


/*
 * The kernel lists a page at a time, and other threads map and unmap meanwhile:
 * what has grown since may be listed again.
 */

static bool
jpp_proc_is_ordered(const char *text, size_t len)
{
    uint64_t     start, last, stop;
    const char  *p, *next, *end;

    end = text + len;
    last = 0;

    for (p = text; p != end; p = next) {

        if (jpp_proc_line(p, end, &start, &stop, &next) == NULL
            || start < last)
        {
            return false;
        }

        last = stop;
    }

    return true;
}


jpp_code_t
jpp_proc_maps(jpp_vec_t *maps, jpp_err_t *err)
{
    int         fd;
    size_t      start;
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

    start = maps->len;
    tries = JPP_PROC_TRIES;

    do {
        maps->len = start;

        if (lseek(fd, 0, SEEK_SET) == -1) {
            rc = jpp_err_sys(err, errno, "/proc/self/maps cannot be read");

        } else {
            rc = jpp_proc_read(fd, maps, err);
        }

    } while (rc == JPP_OK
             && --tries != 0
             && !jpp_proc_is_ordered((const char *) maps->data + start,
                                     maps->len - start));

    (void) close(fd);

    return rc;
}


int
jpp_proc_protection(const char *text, size_t len, uintptr_t address)
{
    uint64_t     start, stop;
    const char  *p, *line, *next, *end;

    end = text + len;

    for (line = text; line != NULL && line < end; line = next) {

        p = jpp_proc_line(line, end, &start, &stop, &next);

        if (p != NULL && next - p > 4 && address >= start && address < stop) {
            return (p[1] == 'r' ? PROT_READ : 0)
                   | (p[2] == 'w' ? PROT_WRITE : 0)
                   | (p[3] == 'x' ? PROT_EXEC : 0);
        }
    }

    return 0;
}


/*
 * A path does not count: one thread may map the file while another writes the
 * dump.  Paths may hold blanks, so the fields are counted.
 */

const char *
jpp_proc_tail(const char *text, size_t len, jpp_arena_t *arena)
{
    unsigned     i;
    const char  *p, *end;

    if (len == 0 || text[len - 1] != '\n') {
        return NULL;
    }

    end = text + len - 1;
    p = memrchr(text, '\n', len - 1);
    p = p != NULL ? p + 1 : text;

    /* addresses, permissions, offset, device, inode */

    for (i = 0; i < JPP_PROC_FIELDS; i++) {
        p = memchr(p, ' ', (size_t) (end - p));

        if (p == NULL) {
            return NULL;
        }

        while (*p == ' ') {
            p++;
        }
    }

    if (*p != '[' || end[-1] != ']') {
        return NULL;
    }

    return jpp_arena_strndup(arena, p, (size_t) (end - p));
}

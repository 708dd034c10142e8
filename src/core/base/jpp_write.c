
/*
 * Writes files, and reports the file size limit (RLIMIT_FSIZE) as an error like
 * others.
 */


#include "jpp_sink.h"

#include <sys/resource.h>
#include <sys/syscall.h>


ssize_t
jpp_read_file(const char *path, char *data, size_t size)
{
    int      fd, error;
    ssize_t  n;

    fd = open(path, O_RDONLY|O_CLOEXEC);
    if (fd == -1) {
        return -1;
    }

    do {
        n = read(fd, data, size);
    } while (n == -1 && errno == EINTR);

    error = errno;
    (void) close(fd);
    errno = error;

    return n;
}


size_t
jpp_read_text(const char *path, char *text, size_t size)
{
    ssize_t  n;

    n = jpp_read_file(path, text, size - 1);
    n = n > 0 ? n : 0;

    text[n] = '\0';

    return (size_t) n;
}


ssize_t
jpp_read_at(int fd, void *data, size_t len, uint64_t offset)
{
    size_t   done;
    ssize_t  n;

    for (done = 0; done < len; done += (size_t) n) {

        n = pread(fd, (char *) data + done, len - done,
                  (off_t) (offset + done));

        if (n == -1 && errno == EINTR) {
            n = 0;
            continue;
        }

        if (n <= 0) {
            return n == 0 ? (ssize_t) done : -1;
        }
    }

    return (ssize_t) len;
}


static int
jpp_write_some(int fd, const uint8_t *data, size_t len)
{
    ssize_t  n;

    while (len != 0) {
        n = write(fd, data, len);

        if (n == -1 && errno == EINTR) {
            continue;
        }

        if (n <= 0) {
            return n == 0 ? EIO : errno;
        }

        data += n;
        len -= (size_t) n;
    }

    return 0;
}


int
jpp_write(void *fd, const uint8_t *data, size_t len)
{
    int       rc;
    sigset_t  was;

    jpp_write_hold(&was);

    rc = jpp_write_some(*(const int *) fd, data, len);

    jpp_write_release(&was);

    return rc;
}


static void
jpp_write_signal(sigset_t *set)
{
    (void) sigemptyset(set);
    (void) sigaddset(set, SIGXFSZ);
}


void
jpp_write_hold(sigset_t *was)
{
    sigset_t  set;

    jpp_write_signal(&set);

    (void) pthread_sigmask(SIG_BLOCK, &set, was);
}


/* The kernel sends it to the thread that writes: one is taken back at most. */

void
jpp_write_release(const sigset_t *was)
{
    int              saved;
    sigset_t         set;
    struct timespec  now;

    saved = errno;

    jpp_write_signal(&set);

    now.tv_sec = 0;
    now.tv_nsec = 0;

    while (sigtimedwait(&set, NULL, &now) == -1 && errno == EINTR) {
        /* void */
    }

    (void) pthread_sigmask(SIG_SETMASK, was, NULL);

    errno = saved;
}


static rlim_t
jpp_write_limit(void)
{
    struct rlimit  limit;

    return getrlimit(RLIMIT_FSIZE, &limit) == 0 ? limit.rlim_cur
                                                : RLIM_INFINITY;
}


bool
jpp_write_is_full(int fd)
{
    struct stat  st;

    return fstat(fd, &st) == 0 && (rlim_t) st.st_size >= jpp_write_limit();
}


jpp_code_t
jpp_write_failed(jpp_err_t *err, int sys_errno, const char *what)
{
    rlim_t  limit;

    limit = jpp_write_limit();

    if (sys_errno != EFBIG || limit == RLIM_INFINITY) {
        return jpp_err_sys(err, sys_errno, "cannot write %s", what);
    }

    return jpp_err_sys(err, sys_errno,
                       "cannot write %s, because a file of this process may "
                       "have %" PRIu64 " bytes at most (raise RLIMIT_FSIZE: "
                       "LimitFSIZE= in the unit of systemd, or ulimit -f)",
                       what, (uint64_t) limit);
}


/* of getdents64(), as the kernel has it; readdir() would allocate */

typedef struct {
    uint64_t        inode;
    int64_t         offset;
    uint16_t        len;
    uint8_t         type;
    char            name[];
} jpp_directory_entry_t;


void
jpp_directory_init(jpp_directory_t *directory, int fd)
{
    directory->fd = fd;
    directory->error = 0;
    directory->len = 0;
    directory->pos = 0;
}


const char *
jpp_directory_next(jpp_directory_t *directory)
{
    const jpp_directory_entry_t  *entry;

    if (directory->pos == directory->len) {
        directory->pos = 0;
        directory->len = syscall(SYS_getdents64, directory->fd,
                                 directory->buffer, sizeof(directory->buffer));

        if (directory->len <= 0) {
            directory->error = directory->len == 0 ? 0 : errno;
            directory->len = 0;
            return NULL;
        }
    }

    entry = (const void *) (directory->buffer + directory->pos);
    directory->pos += entry->len;

    return entry->name;
}

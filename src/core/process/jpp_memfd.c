
/* The file of a dump: in memory, or if that is forbidden, in a directory. */

#include "jpp_proc.h"


#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL  0x0008U
#endif

#define JPP_MEMFD_NO_TMPFILE                                                  \
    ", because its file system does not support O_TMPFILE (name a directory " \
    "on another one)"

#define JPP_MEMFD_READ_ONLY                                                   \
    ", because this process may not write there"


void
jpp_memfd_init(jpp_memfd_t *memfd)
{
    memfd->fd = -1;
    memfd->data = NULL;
    memfd->len = 0;
}


static jpp_code_t
jpp_memfd_failed(jpp_err_t *err, int sys_errno, const char *where)
{
    size_t  i;

    static const struct {
        int          sys_errno;
        const char  *fix;
    } fixes[] = {
        { EMFILE, ", because the process has no free descriptor (raise "
                  "RLIMIT_NOFILE)" },
        { ENFILE, ", because the system has no free descriptor (raise "
                  "fs.file-max)" },
        { EOPNOTSUPP, JPP_MEMFD_NO_TMPFILE },
        { EISDIR, JPP_MEMFD_NO_TMPFILE },
        { EACCES, JPP_MEMFD_READ_ONLY },
        { EROFS, JPP_MEMFD_READ_ONLY },
        { 0, "" }
    };

    for (i = 0; fixes[i].sys_errno != sys_errno && fixes[i].sys_errno != 0; i++)
    {
        /* void */
    }

    return jpp_err_sys(err, sys_errno, "cannot put the dump into %.200s%s",
                       where, fixes[i].fix);
}


jpp_code_t
jpp_memfd_open(jpp_memfd_t *memfd, const char *directory, jpp_err_t *err)
{
    int       sys_errno;
    unsigned  flags;

    jpp_memfd_init(memfd);

    flags = MFD_CLOEXEC|MFD_ALLOW_SEALING;

    memfd->fd = memfd_create("jemalloc-pprof", flags|MFD_NOEXEC_SEAL);

    if (memfd->fd == -1 && errno == EINVAL) {

        /* Linux before 6.3 */

        memfd->fd = memfd_create("jemalloc-pprof", flags);
    }

    if (memfd->fd != -1) {
        return JPP_OK;
    }

    sys_errno = errno;

    /* a seccomp filter or a security module forbids it, or the kernel lacks
       it */

    if (sys_errno != EPERM && sys_errno != EACCES && sys_errno != ENOSYS) {
        return jpp_memfd_failed(err, sys_errno, "anonymous memory");
    }

    if (directory == NULL) {
        return jpp_err_set(err, JPP_ERR_DENIED,
                           "memfd_create is forbidden to this process, and no "
                           "directory is set to hold the dump instead: %s",
                           strerror(sys_errno));
    }

    /* O_EXCL: nobody can give it a name */

    memfd->fd = open(directory, O_TMPFILE|O_RDWR|O_EXCL|O_CLOEXEC, 0600);

    return memfd->fd != -1 ? JPP_OK : jpp_memfd_failed(err, errno, directory);
}


static jpp_code_t
jpp_memfd_copy(const jpp_memfd_t *memfd, char *data, jpp_err_t *err)
{
    ssize_t  n;

    n = jpp_read_at(memfd->fd, data, memfd->len, 0);

    if (n == -1) {
        return jpp_err_sys(err, errno, "the dump cannot be read");
    }

    return (size_t) n == memfd->len
           ? JPP_OK : jpp_err_set(err, JPP_ERR_CUT, "the dump became shorter "
                                  "while it was read");
}


jpp_code_t
jpp_memfd_map(jpp_memfd_t *memfd, size_t max, jpp_err_t *err)
{
    int           seals;
    bool          is_sealed;
    void         *data;
    struct stat   st;

    /*
     * A file in a directory has no seals.  While a writable mapping exists, the
     * kernel refuses the seal on writing, and all seals requested with it.
     * Then only the size is sealed: reading past it would be a SIGBUS.
     */

    if (fcntl(memfd->fd, F_ADD_SEALS,
              F_SEAL_SHRINK|F_SEAL_GROW|F_SEAL_WRITE)
        == -1
        && errno == EBUSY)
    {
        (void) fcntl(memfd->fd, F_ADD_SEALS, F_SEAL_SHRINK|F_SEAL_GROW);
    }

    if (fstat(memfd->fd, &st) == -1) {
        return jpp_err_sys(err, errno, "the dump cannot be examined");
    }

    if ((uint64_t) st.st_size > max) {
        return jpp_err_set(err, JPP_ERR_LIMIT,
                           "the dump has %" PRIu64 " bytes and %zu are "
                           "allowed: sample less often (a larger lg_sample) "
                           "or allow more",
                           (uint64_t) st.st_size, max);
    }

    if (st.st_size == 0) {
        memfd->data = "";
        return JPP_OK;
    }

    /* another process could truncate the file, a SIGBUS here: copy it */

    seals = fcntl(memfd->fd, F_GET_SEALS);
    is_sealed = seals != -1 && (seals & F_SEAL_SHRINK) != 0;

    data = is_sealed
           ? mmap(NULL, (size_t) st.st_size, PROT_READ, MAP_PRIVATE,
                  memfd->fd, 0)
           : mmap(NULL, (size_t) st.st_size, PROT_READ|PROT_WRITE,
                  MAP_PRIVATE|MAP_ANONYMOUS, -1, 0);

    if (data == MAP_FAILED) {
        return jpp_err_sys(err, errno,
                           "the dump of %" PRIu64 " bytes cannot be mapped",
                           (uint64_t) st.st_size);
    }

    memfd->data = data;
    memfd->len = (size_t) st.st_size;

    return is_sealed ? JPP_OK : jpp_memfd_copy(memfd, data, err);
}


void
jpp_memfd_close(jpp_memfd_t *memfd)
{
    if (memfd->len != 0) {
        (void) munmap((void *) (uintptr_t) memfd->data, memfd->len);
    }

    if (memfd->fd != -1) {
        (void) close(memfd->fd);
    }

    jpp_memfd_init(memfd);
}


#include "jpp_proc.h"
#include "jpp_test_golden.h"
#include "jpp_test_threads.h"


#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL  0x0008U
#endif

#define JPP_MEMFD_SIZES  (F_SEAL_SHRINK|F_SEAL_GROW)


/* What memfd_create() is to say: 0 is what the kernel says. */

static int       jpp_memfd_errno;
static bool      jpp_memfd_is_old;
static unsigned  jpp_memfd_calls;
static unsigned  jpp_memfd_flags;


int
memfd_create(const char *name, unsigned flags)
{
    jpp_memfd_calls++;
    jpp_memfd_flags = flags;

    if (jpp_memfd_errno != 0) {
        errno = jpp_memfd_errno;
        return -1;
    }

    if (jpp_memfd_is_old && (flags & MFD_NOEXEC_SEAL) != 0) {
        errno = EINVAL;
        return -1;
    }

    return (int) syscall(SYS_memfd_create, name, flags);
}


static jpp_err_t    err;
static jpp_memfd_t  memfd;


/* Notes why none is opened, with DIRECTORY; nothing is. */

static void
jpp_memfd_fails(const char *directory, const char *what)
{
    jpp_code_t  rc;

    rc = jpp_memfd_open(&memfd, directory, &err);
    jpp_ok(rc != JPP_OK && rc == err.code && memfd.fd == -1, "%s", what);
    jpp_note_of(what, err, code, sys_errno, text);
}


JPP_TEST(jpp_memfd_test_open)
{
    struct stat  st;

    jpp_memfd_init(&memfd);
    jpp_memfd_close(&memfd);
    jpp_is_i64(memfd.fd, -1, "one that was never open can be closed");

    jpp_memfd_calls = 0;
    jpp_is_u64(jpp_memfd_open(&memfd, NULL, &err), JPP_OK, "open");
    jpp_ok(memfd.fd != -1 && memfd.data == NULL && memfd.len == 0,
           "it is open and not mapped");
    jpp_ok((fcntl(memfd.fd, F_GETFD) & FD_CLOEXEC) != 0, "closed on exec");
    jpp_ok(fstat(memfd.fd, &st) == 0 && S_ISREG(st.st_mode)
           && st.st_size == 0 && st.st_nlink == 0,
           "it is empty, and has no name");
    jpp_ok((st.st_mode & 0111) == 0 || jpp_memfd_calls == 2,
           "where the kernel knows how, it is not executable");

    jpp_is_u64(jpp_memfd_map(&memfd, 0, &err), JPP_OK, "map nothing");
    jpp_ok(memfd.data != NULL && memfd.len == 0, "no bytes, but not NULL");

    jpp_memfd_close(&memfd);
    jpp_ok(memfd.fd == -1 && memfd.data == NULL, "it is closed");
    jpp_memfd_close(&memfd);
    jpp_ok(memfd.fd == -1, "and may be closed again");

    jpp_is_u64(jpp_memfd_map(&memfd, 1, &err), JPP_ERR_SYS,
               "one that is closed is not mapped");
    jpp_is_i64(err.sys_errno, EBADF, "%s", err.text);
}


JPP_TEST(jpp_memfd_test_old_kernel)
{
    jpp_memfd_calls = 0;
    jpp_memfd_is_old = true;

    jpp_is_u64(jpp_memfd_open(&memfd, NULL, &err), JPP_OK, "Linux before 6.3");
    jpp_is_u64(jpp_memfd_calls, 2, "is asked twice");
    jpp_is_u64(jpp_memfd_flags, MFD_CLOEXEC|MFD_ALLOW_SEALING, "for less");

    jpp_memfd_close(&memfd);
    jpp_memfd_is_old = false;
}


static bool
jpp_memfd_is_mapped(void)
{
    char   line[8192];
    bool   is_mapped;
    FILE  *maps;

    is_mapped = false;
    maps = fopen("/proc/self/maps", "r");

    while (fgets(line, sizeof(line), maps) != NULL) {
        is_mapped |= (strstr(line, "memfd:jemalloc-pprof") != NULL);
    }

    fclose(maps);

    return is_mapped;
}


/* Written by the path below /proc/self/fd, as jemalloc does. */

JPP_TEST(jpp_memfd_test_map)
{
    int   fd;
    char  path[64];

    jpp_memfd_open(&memfd, NULL, &err);

    jpp_print(path, "/proc/self/fd/%d", memfd.fd);
    fd = creat(path, 0600);
    jpp_is_i64(write(fd, "dump", 4), 4, "written");
    close(fd);

    jpp_is_u64(jpp_memfd_map(&memfd, 4, &err), JPP_OK, "mapped");
    jpp_is_u64(memfd.len, 4, "its length");
    jpp_is_mem(memfd.data, "dump", 4, "its bytes");
    jpp_ok(jpp_memfd_is_mapped(), "the listing of mappings shows it");

    jpp_memfd_close(&memfd);
}


JPP_TEST(jpp_memfd_test_seals)
{
    jpp_memfd_open(&memfd, NULL, &err);
    jpp_is_i64(ftruncate(memfd.fd, 8192), 0, "two pages");
    jpp_memfd_map(&memfd, 8192, &err);

    jpp_is_i64(fcntl(memfd.fd, F_GET_SEALS) & (JPP_MEMFD_SIZES|F_SEAL_WRITE),
               JPP_MEMFD_SIZES|F_SEAL_WRITE, "everything is sealed");
    jpp_is_i64(ftruncate(memfd.fd, 0), -1, "it cannot be cut any more");
    jpp_is_i64(errno, EPERM, "which is forbidden");
    jpp_is_i64(pwrite(memfd.fd, "x", 1, 0), -1, "or written");
    jpp_is_u64((uint64_t) memfd.data[8191], 0, "its last byte can be read");

    jpp_memfd_close(&memfd);
}


JPP_TEST(jpp_memfd_test_writable)
{
    char  *p;

    jpp_memfd_open(&memfd, NULL, &err);
    jpp_is_i64(ftruncate(memfd.fd, 4096), 0, "a page");

    p = mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_SHARED, memfd.fd, 0);
    jpp_ok(p != MAP_FAILED, "it is mapped for writing");

    jpp_is_u64(jpp_memfd_map(&memfd, 4096, &err), JPP_OK, "is mapped");
    jpp_is_i64(fcntl(memfd.fd, F_GET_SEALS) & (JPP_MEMFD_SIZES|F_SEAL_WRITE),
               JPP_MEMFD_SIZES, "and its size is sealed");

    munmap(p, 4096);
    jpp_memfd_close(&memfd);
}


JPP_TEST(jpp_memfd_test_max)
{
    jpp_memfd_open(&memfd, NULL, &err);
    jpp_is_i64(ftruncate(memfd.fd, 1000), 0, "1000 bytes");

    jpp_is_u64(jpp_memfd_map(&memfd, 999, &err), JPP_ERR_LIMIT, "999 allowed");
    jpp_has(err.text, "1000 bytes and 999 are allowed", "%s", err.text);
    jpp_ok(memfd.data == NULL, "nothing is mapped");

    jpp_is_u64(jpp_memfd_map(&memfd, 1000, &err), JPP_OK, "1000 allowed");

    jpp_memfd_close(&memfd);
}


JPP_TEST(jpp_memfd_test_address_space)
{
    rlim_t      limit;
    jpp_code_t  rc;

    jpp_memfd_open(&memfd, NULL, &err);
    jpp_is_i64(ftruncate(memfd.fd, 1 << 20), 0, "a megabyte");

    limit = jpp_test_rlimit(RLIMIT_AS, 4096);
    rc = jpp_memfd_map(&memfd, 1 << 20, &err);
    (void) jpp_test_rlimit(RLIMIT_AS, limit);

    jpp_is_u64(rc, JPP_ERR_SYS, "without room in the address space");
    jpp_is_i64(err.sys_errno, ENOMEM, "%s", err.text);
    jpp_ok(memfd.data == NULL && memfd.len == 0, "nothing is mapped");

    jpp_memfd_close(&memfd);
}


JPP_TEST(jpp_memfd_test_forbidden)
{
    size_t  i;

    static const int  numbers[] = { EPERM, ENOSYS, EACCES };

    for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        jpp_memfd_errno = numbers[i];

        jpp_memfd_fails(NULL, "no directory is set");
        jpp_is_u64(jpp_memfd_open(&memfd, NULL, NULL), JPP_ERR_DENIED,
                   "whether or not somebody reads it");
        jpp_memfd_close(&memfd);

        jpp_is_u64(jpp_memfd_open(&memfd, "/tmp", &err), JPP_OK,
                   "with a directory it is no error");
        jpp_memfd_close(&memfd);
    }

    jpp_memfd_errno = 0;
    jpp_shows_notes("memfd_create() is forbidden");
}


JPP_TEST(jpp_memfd_test_directory)
{
    char         directory[] = "/tmp/jpp_memfd_XXXXXX";
    char         from[64], to[64];
    struct stat  st;

    jpp_ok(mkdtemp(directory) != NULL, "a directory");

    jpp_memfd_errno = EPERM;
    jpp_is_u64(jpp_memfd_open(&memfd, directory, &err), JPP_OK, "a file in it");
    jpp_memfd_errno = 0;

    jpp_is_i64(jpp_test_entries(directory), 0, "has no name");
    jpp_ok(fstat(memfd.fd, &st) == 0 && S_ISREG(st.st_mode)
           && (st.st_mode & 0777) == 0600,
           "and is its owner's alone");
    jpp_ok((fcntl(memfd.fd, F_GETFD) & FD_CLOEXEC) != 0, "closed on exec");

    jpp_print(from, "/proc/self/fd/%d", memfd.fd);
    jpp_print(to, "%s/name", directory);
    jpp_is_i64(linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW), -1,
               "it cannot be given a name");

    jpp_is_i64(write(memfd.fd, "dump", 4), 4, "written");
    jpp_is_u64(jpp_memfd_map(&memfd, 4, &err), JPP_OK, "mapped without seals");
    jpp_is_mem(memfd.data, "dump", 4, "its bytes");

    jpp_is_i64(ftruncate(memfd.fd, 0), 0, "cut by another process");
    jpp_is_mem(memfd.data, "dump", 4, "the parser still has them");

    jpp_memfd_close(&memfd);
    jpp_is_i64(rmdir(directory), 0, "the directory is empty");
}


JPP_TEST(jpp_memfd_test_no_directory)
{
    jpp_memfd_errno = EPERM;

    jpp_memfd_fails("/no/such/directory", "a directory that does not exist");
    jpp_shows_notes("it is named");

    jpp_is_u64(jpp_memfd_open(&memfd, "/proc", &err), JPP_ERR_SYS,
               "a file system without such files");
    jpp_is_i64(memfd.fd, -1, "nothing is open");

    /* others are refused before the file system is asked */

    jpp_has(err.text, geteuid() == 0 ? "does not support O_TMPFILE"
            : "may not write there", "%s", err.text);

    jpp_memfd_errno = 0;
}


JPP_TEST(jpp_memfd_test_not_writable)
{
    char  directory[] = "/tmp/jpp_memfd_XXXXXX";

    jpp_ok(mkdtemp(directory) != NULL && chmod(directory, 0500) == 0,
           "a directory");

    if (geteuid() == 0 && seteuid(65534) == -1) {
        jpp_ok(true, "another's # SKIP no other user to be");
        rmdir(directory);
        return;
    }

    jpp_memfd_errno = EPERM;
    jpp_is_u64(jpp_memfd_open(&memfd, directory, &err), JPP_ERR_SYS,
               "a directory that is not writable");
    jpp_memfd_errno = 0;

    if (getuid() == 0 && seteuid(0) == -1) {
        jpp_ok(false, "root again");
    }

    jpp_is_i64(err.sys_errno, EACCES, "%s", err.text);
    jpp_has(err.text, "may not write there", "the cause");

    rmdir(directory);
}


JPP_TEST(jpp_memfd_test_descriptors)
{
    rlim_t      limit;
    jpp_err_t   other;
    jpp_code_t  rc, other_rc;

    limit = jpp_test_rlimit(RLIMIT_NOFILE, 0);

    rc = jpp_memfd_open(&memfd, NULL, &err);
    jpp_memfd_errno = EPERM;
    other_rc = jpp_memfd_open(&memfd, "/tmp", &other);
    jpp_memfd_errno = 0;

    (void) jpp_test_rlimit(RLIMIT_NOFILE, limit);

    jpp_is_u64(rc, JPP_ERR_SYS, "without a free descriptor");
    jpp_is_i64(err.sys_errno, EMFILE, "%s", err.text);
    jpp_has(err.text, "RLIMIT_NOFILE", "the fix");
    jpp_is_u64(other_rc, JPP_ERR_SYS, "the same in a directory");
    jpp_ok(strstr(other.text, "/tmp") != NULL
           && strstr(other.text, "RLIMIT_NOFILE") != NULL,
           "%s", other.text);
    jpp_is_i64(memfd.fd, -1, "nothing is open");
}


/* What is no ban does not send the dump to a disk. */

JPP_TEST(jpp_memfd_test_other)
{
    size_t  i;

    static const int  numbers[] = { ENFILE, ENOMEM, EINVAL };

    for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        jpp_memfd_errno = numbers[i];

        jpp_memfd_fails("/tmp", "another failure");
    }

    jpp_memfd_errno = 0;
    jpp_shows_notes("failures of memfd_create()");

    jpp_is_u64(jpp_memfd_open(&memfd, NULL, NULL), JPP_OK, "err may be NULL");
    jpp_memfd_close(&memfd);
    jpp_is_u64(jpp_memfd_map(&memfd, 1, NULL), JPP_ERR_SYS, "here too");
}


int
main(void)
{
    int  before;

    before = jpp_test_entries("/proc/self/fd");

    jpp_tests_all();

    jpp_is_i64(jpp_test_entries("/proc/self/fd"), before,
               "no descriptor is left");
    jpp_ok(!jpp_memfd_is_mapped(), "no mapping is left");

    return jpp_done();
}


/*
 * Files at the largest size that a process may give them: nothing ends it, and
 * what was there of SIGXFSZ before is there afterwards.
 */


#include "jpp_test_golden.h"


#define JPP_BYTES  10000


static uint8_t  jpp_bytes[JPP_BYTES];


static bool
jpp_is(int signal, int (*call)(sigset_t *set))
{
    sigset_t  set;

    (void) sigemptyset(&set);
    (void) call(&set);

    return sigismember(&set, signal) == 1;
}


static int
jpp_mask(sigset_t *set)
{
    return pthread_sigmask(SIG_BLOCK, NULL, set);
}


JPP_TEST(jpp_sizes)
{
    int          fd, rc;
    off_t        size;
    size_t       i;
    jpp_err_t    err;

    static const rlim_t  limits[] = { 0, 1, 4096, JPP_BYTES - 1 };

    for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        fd = memfd_create("jpp-write", MFD_CLOEXEC);

        (void) jpp_test_rlimit(RLIMIT_FSIZE, limits[i]);

        rc = jpp_write(&fd, jpp_bytes, JPP_BYTES);
        size = lseek(fd, 0, SEEK_END);

        jpp_is_i64(rc, EFBIG, "%u bytes at most", (unsigned) limits[i]);
        jpp_is_i64(size, (int64_t) limits[i], "which are written");
        jpp_ok(jpp_write_is_full(fd), "and no more can be");

        jpp_is_i64(jpp_write_failed(&err, rc, "it"), JPP_ERR_SYS, "an error");
        jpp_note("%s", err.text);

        (void) jpp_test_rlimit(RLIMIT_FSIZE, RLIM_INFINITY);
        jpp_ok(!jpp_write_is_full(fd), "without a limit more can be");
        jpp_is_i64(jpp_write(&fd, jpp_bytes, JPP_BYTES), 0, "and is");
        jpp_is_i64(lseek(fd, 0, SEEK_END), (int64_t) limits[i] + JPP_BYTES,
                   "all of it");

        close(fd);
    }

    jpp_shows_notes("sizes, and what may be done about them");
    (void) jpp_test_rlimit(RLIMIT_FSIZE, JPP_BYTES);

    fd = memfd_create("jpp-write", MFD_CLOEXEC);
    jpp_is_i64(jpp_write(&fd, jpp_bytes, JPP_BYTES), 0, "just as many");
    close(fd);

    (void) jpp_test_rlimit(RLIMIT_FSIZE, RLIM_INFINITY);
}


JPP_TEST(jpp_others)
{
    int        fd;
    char       data[1];
    jpp_err_t  err;

    jpp_is_i64(jpp_read_file("t/nothing", data, 1), -1, "no file");
    jpp_is_u64(jpp_read_text("t/nothing", data, 1), 0, "nothing of it");

    fd = -1;
    jpp_is_i64(jpp_write(&fd, jpp_bytes, 1), EBADF, "no descriptor");
    jpp_is_i64(jpp_write(&fd, jpp_bytes, 0), 0, "nothing to be written");
    jpp_ok(!jpp_write_is_full(fd), "no file is not full");

    jpp_is_i64(jpp_write_failed(&err, EBADF, "it"), JPP_ERR_SYS, "an error");
    jpp_note_of("the cause", err, text);
    (void) jpp_write_failed(&err, EFBIG, "it");
    jpp_note_of("too large for the file system", err, text);
    jpp_shows_notes("other errors");
    jpp_is_i64(jpp_write_failed(NULL, EFBIG, "it"), JPP_ERR_SYS, "no place");
}


/* Blocked or not, it is afterwards as it was before, and nobody has got one. */

JPP_TEST(jpp_signals)
{
    int       fd;
    sigset_t  set, was;

    fd = memfd_create("jpp-write", MFD_CLOEXEC);
    (void) jpp_test_rlimit(RLIMIT_FSIZE, 0);

    jpp_write_hold(&was);
    jpp_ok(jpp_is(SIGXFSZ, jpp_mask), "it is held back");
    jpp_is_i64(write(fd, "", 1), -1, "another's write()");
    jpp_ok(jpp_is(SIGXFSZ, sigpending), "has it sent");
    errno = ERANGE;
    jpp_write_release(&was);

    jpp_is_i64(errno, ERANGE, "errno stays");
    jpp_ok(!jpp_is(SIGXFSZ, sigpending), "it is taken back");
    jpp_ok(!jpp_is(SIGXFSZ, jpp_mask), "and not blocked, as before");

    (void) sigemptyset(&set);
    (void) sigaddset(&set, SIGXFSZ);
    (void) sigaddset(&set, SIGUSR1);
    (void) sigprocmask(SIG_BLOCK, &set, NULL);

    jpp_is_i64(jpp_write(&fd, jpp_bytes, 1), EFBIG, "where it is blocked");
    jpp_ok(!jpp_is(SIGXFSZ, sigpending), "it is taken back, too");
    jpp_ok(jpp_is(SIGXFSZ, jpp_mask) && jpp_is(SIGUSR1, jpp_mask),
           "and blocked, as before");

    (void) sigprocmask(SIG_UNBLOCK, &set, NULL);

    (void) jpp_test_rlimit(RLIMIT_FSIZE, RLIM_INFINITY);
    close(fd);
}


int
main(void)
{
    struct sigaction  action;

    jpp_tests_all();
    jpp_ok(sigaction(SIGXFSZ, NULL, &action) == 0
           && action.sa_handler == SIG_DFL, "its handler is what it was");

    return jpp_done();
}

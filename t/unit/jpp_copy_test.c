
/* Copies of this process: what they see, and what ends them. */

#include "jpp_test_main.h"
#include "jpp_proc.h"

#include <poll.h>


/* ms: a machine may be busy */
#define TEST_WAIT  60000


/* LeakSanitizer starts a process at the end, when none may be started */

int __lsan_is_turned_off(void);

int
__lsan_is_turned_off(void)
{
    return 1;
}


static uint64_t  test_value;
static int       test_pipe[2];


static jpp_code_t
test_see(void *data, jpp_copy_page_t *page)
{
    char  byte;

    /* until the parent has changed it */

    while (read(test_pipe[0], &byte, 1) == -1 && errno == EINTR) {
        /* void */
    }

    page->result[0] = *(uint64_t *) data;
    test_value = 3;

    return JPP_OK;
}


static jpp_code_t
test_fail(void *data, jpp_copy_page_t *page)
{
    (void) data;

    return jpp_err_set(&page->err, JPP_ERR_LIMIT, "it is too large");
}


static jpp_code_t
test_fault(void *data, jpp_copy_page_t *page)
{
    jpp_print(page->where, "table \"%c\"", 7);
    data = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0);

    return *(volatile jpp_code_t *) data;
}


static jpp_code_t
test_hang(void *data, jpp_copy_page_t *page)
{
    (void) page;

    for ( ;; ) {
        if (data != NULL) {
            (void) pause();
        }
    }

    return JPP_OK;
}


JPP_TEST(test_copy)
{
    jpp_err_t        err = { 0 };
    jpp_copy_t       copy;

    test_value = 1;
    jpp_ok(pipe(test_pipe) == 0, "a pipe");

    jpp_is_u64(jpp_copy_open(&copy, test_see, &test_value, 10, &err),
               JPP_OK, "a copy: %s", err.text);
    jpp_ok(copy.stop != 0, "takes a time");
    jpp_is_u64(jpp_copy_wait(&copy, 0, &err), JPP_ERR_LATE, "it works");
    jpp_is_u64((uint64_t) waitpid(-1, NULL, WNOHANG), (uint64_t) -1,
               "it is no child for anybody else");

    test_value = 2;
    jpp_ok(write(test_pipe[1], "", 1) == 1, "its turn");

    jpp_is_u64(jpp_copy_wait(&copy, TEST_WAIT, &err), JPP_OK,
               "its end: %s", err.text);
    jpp_is_u64(copy.page->result[0], 1, "it saw what there was");
    jpp_is_u64(test_value, 2, "and has changed nothing here");

    jpp_copy_close(&copy);
    jpp_copy_close(&copy);
    jpp_ok(copy.page == NULL, "nothing is left");
}


JPP_TEST(test_errors)
{
    size_t           i;
    jpp_err_t        err = { 0 };
    jpp_copy_t       copy;

    static const struct {
        jpp_copy_pt  work;
        unsigned         seconds;
        jpp_code_t       code;
        const char      *text;
    } rows[] = {
        { test_fail, 10, JPP_ERR_LIMIT, "it is too large" },
        { test_fault, 10, JPP_ERR_GONE, "the child process failed at table "
          "\"?\": it met an address without memory (signal 11)" },
        { test_hang, 1, JPP_ERR_GONE, "the child process failed at its start: "
          "it was killed: the machine or the cgroup has too little memory, or "
          "it took too long (signal 9)" }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_is_u64(jpp_copy_open(&copy, rows[i].work, NULL,
                                     rows[i].seconds, &err),
                   JPP_OK, "open");
        jpp_is_u64(jpp_copy_wait(&copy, TEST_WAIT, &err), rows[i].code,
                   "row %zu", i);
        jpp_is_str(err.text, rows[i].text, "its sentence");
        jpp_copy_close(&copy);
    }
}


/* A child of the test has one, and is killed: its copy ends, too. */

JPP_TEST(test_parent)
{
    int              status, fds[2];
    char             byte;
    pid_t            pid;
    struct pollfd    pfd;
    jpp_err_t        err = { 0 };
    jpp_copy_t       copy;

    jpp_ok(pipe(fds) == 0, "a pipe");

    pid = fork();

    if (pid == 0) {
        (void) close(fds[0]);
        (void) jpp_copy_open(&copy, test_hang, &err, 60, &err);
        (void) !write(fds[1], copy.pid != 0 ? "y" : "n", 1);
        (void) pause();
        _exit(0);
    }

    (void) close(fds[1]);

    jpp_ok(read(fds[0], &byte, 1) == 1 && byte == 'y', "it has a copy");
    (void) kill(pid, SIGKILL);
    (void) waitpid(pid, &status, 0);

    /* the copy had the last end of the pipe */

    pfd.fd = fds[0];
    pfd.events = POLLIN;

    jpp_ok(poll(&pfd, 1, TEST_WAIT) == 1 && read(fds[0], &byte, 1) == 0,
           "which has ended");
    (void) close(fds[0]);
}


JPP_TEST(test_close)
{
    pid_t            pid;
    jpp_err_t        err = { 0 };
    jpp_copy_t       copy;

    jpp_is_u64(jpp_copy_open(&copy, test_hang, &err, 60, &err), JPP_OK,
               "open");
    pid = copy.pid;
    jpp_copy_close(&copy);
    jpp_ok(kill(pid, 0) == -1 && errno == ESRCH, "it was ended");
}


/* Last: nobody may start another process afterwards. */

JPP_TEST(test_limit)
{
    jpp_err_t        err = { 0 };
    struct rlimit    limit = { 0, 0 };
    jpp_copy_t       copy;

    if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) {
        jpp_ok(true, "no more processes # SKIP no other user to be");
        return;
    }

    (void) setrlimit(RLIMIT_NPROC, &limit);

    jpp_is_u64(jpp_copy_open(&copy, test_fail, NULL, 1, &err),
               JPP_ERR_SYS, "no process may be started");
    jpp_has(err.text, "cannot copy this process, because it may have no more "
            "processes (raise pids.max, TasksMax= or RLIMIT_NPROC): ",
            "its sentence");
    jpp_ok(copy.page == NULL, "nothing is left");
}


/*
 * Threads of our own: what they take from the process, and what they leave to
 * it.
 */


#include "jpp_cpu.h"
#include "jpp_source.h"
#include "jpp_test_threads.h"

#include <semaphore.h>


static sem_t                  jpp_left, jpp_go;
static volatile sig_atomic_t  jpp_interruptions;


static void *
jpp_leaves(void *data)
{
    jpp_thread_name();
    jpp_thread_leave_files();

    (void) sem_post(&jpp_left);

    while (sem_wait(&jpp_go) == -1) { /* void */ }

    return data;
}


static void
jpp_interrupted(int signo)
{
    (void) signo;

    jpp_interruptions++;
}


int
main(void)
{
    int                fds[2];
    char               byte;
    sigset_t           profiling;
    jpp_err_t          err = { 0 };
    jpp_cpu_window_t  *window;

    (void) sem_init(&jpp_left, 0, 0);
    (void) sem_init(&jpp_go, 0, 0);

    if (pipe(fds) == -1) {
        return 1;
    }

    (void) signal(SIGPROF, jpp_interrupted);
    (void) sigemptyset(&profiling);
    (void) sigaddset(&profiling, SIGPROF);
    (void) pthread_sigmask(SIG_BLOCK, &profiling, NULL);
    (void) raise(SIGPROF);

    jpp_is_i64(jpp_thread_start(1024 * 1024, jpp_leaves, NULL, NULL), 0,
               "a thread");
    jpp_is_i64(jpp_interruptions, 0,
               "no signal that the caller blocks reaches it meanwhile");

    (void) pthread_sigmask(SIG_UNBLOCK, &profiling, NULL);
    jpp_is_i64(jpp_interruptions, 1, "but when it blocks it no longer");
    (void) signal(SIGPROF, SIG_DFL);

    jpp_is_i64(jpp_thread_start((size_t) 1 << 60, jpp_leaves, NULL, NULL),
               EAGAIN, "no room for a stack: no thread");

    while (sem_wait(&jpp_left) == -1) { /* void */ }

    jpp_test_files(1, 0, "it has no descriptor");

    jpp_is_i64(write(fds[1], "x", 1), 1, "what the process has open stays");
    (void) close(fds[1]);
    jpp_is_i64(read(fds[0], &byte, 1), 1, "the pipe is read");
    jpp_is_i64(read(fds[0], &byte, 1), 0, "and closed, for all");
    (void) close(fds[0]);

    (void) sem_post(&jpp_go);

    jpp_test_files(0, 0, "it is gone");

    if (jpp_cpu_check(&err) == JPP_ERR_ABSENT) {
        jpp_ok(true, "no sampler: %s", err.text);
        return jpp_done();
    }

    window = jpp_cpu_open(JPP_MODE_CPU, 99, &err);

    jpp_ok(window != NULL, "a window: %s", err.text);
    jpp_test_files(1, 0, "the sampler has no descriptor");
    jpp_cpu_close(window);
    jpp_test_files(0, 0, "it is gone");

    return jpp_done();
}


/* Copies this process, and has the copy work (jpp_proc.h). */

#include "jpp_proc.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>


/* of the scheduler: the child does not keep anybody waiting */
#define JPP_COPY_NICE  10

/* how often somebody looks whether it has ended, in ns */
#define JPP_COPY_LOOK  1000000


static void
jpp_copy_limit(__rlimit_resource_t resource, rlim_t most)
{
    struct rlimit  limit = { most, most };

    (void) setrlimit(resource, &limit);
}


/* Where memory is short, the kernel kills this one, which costs no request. */

static void
jpp_copy_offer(void)
{
    int  fd;

    fd = open("/proc/self/oom_score_adj", O_WRONLY|O_CLOEXEC);

    if (fd != -1) {
        (void) !write(fd, "1000", sizeof("1000") - 1);
        (void) close(fd);
    }
}


static _Noreturn void
jpp_copy_child(jpp_copy_page_t *page, pid_t parent,
    jpp_copy_pt work, void *data, unsigned seconds)
{
    (void) prctl(PR_SET_PDEATHSIG, SIGKILL);

    if (getppid() != parent) {
        _exit(0);
    }

    jpp_copy_offer();

    (void) prctl(PR_SET_NAME, "jpp copy");
    (void) prctl(PR_SET_DUMPABLE, 0);
    (void) setpriority(PRIO_PROCESS, 0, JPP_COPY_NICE);

    jpp_copy_limit(RLIMIT_CPU, seconds);
    jpp_copy_limit(RLIMIT_CORE, 0);

    page->err.code = work(data, page);
    jpp_atomic_set(&page->is_done, true);

    _exit(0);
}


jpp_code_t
jpp_copy_open(jpp_copy_t *copy, jpp_copy_pt work, void *data,
    unsigned seconds, jpp_err_t *err)
{
    int       sys_errno;
    pid_t     pid, parent;
    sigset_t  all, was;
    uint64_t  start;

    memset(copy, 0, sizeof(jpp_copy_t));

    copy->page = mmap(NULL, sizeof(jpp_copy_page_t),
                          PROT_READ|PROT_WRITE, MAP_SHARED|MAP_ANONYMOUS, -1,
                          0);

    if (copy->page == MAP_FAILED) {
        copy->page = NULL;
        return jpp_err_memory(err);
    }

    parent = getpid();

    /* a fault that is blocked ends a process, whatever handler there is */

    (void) sigfillset(&all);
    (void) pthread_sigmask(SIG_SETMASK, &all, &was);

    start = jpp_clock();

    /* no signal at its end, and no handlers of fork(): they may lock */

    pid = (pid_t) syscall(SYS_clone, CLONE_FILES, NULL, NULL, NULL, NULL);

    if (pid == 0) {
        jpp_copy_child(copy->page, parent, work, data, seconds);
    }

    sys_errno = errno;
    copy->stop = jpp_clock() - start;

    (void) pthread_sigmask(SIG_SETMASK, &was, NULL);

    if (pid == -1) {
        jpp_copy_close(copy);

        return jpp_err_sys(err, sys_errno, "cannot copy this process%s",
                           sys_errno == EAGAIN
                           ? ", because it may have no more processes (raise "
                             "pids.max, TasksMax= or RLIMIT_NPROC)"
                           : sys_errno == ENOMEM
                             ? ", because the kernel has no memory for it "
                               "(vm.overcommit_memory)" : "");
    }

    copy->pid = pid;

    return JPP_OK;
}


/* What the child of COPY died of, by its STATUS. */

static jpp_code_t
jpp_copy_died(const jpp_copy_t *copy, int status, jpp_err_t *err)
{
    int          signo;
    char         where[JPP_COPY_WHERE];
    const char  *why;

    signo = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

    why = signo == SIGSEGV || signo == SIGBUS
          ? "it met an address without memory"
          : signo == SIGKILL
            ? "it was killed: the machine or the cgroup has too little memory, "
              "or it took too long"
            : "it ended early";

    memcpy(where, copy->page->where, sizeof(where));
    where[sizeof(where) - 1] = '\0';
    jpp_ascii_clean(where);

    return jpp_err_set(err, JPP_ERR_GONE, "the child process failed at %s: %s "
                       "(signal %d)", where[0] != '\0' ? where : "its start",
                       why, signo);
}


jpp_code_t
jpp_copy_wait(jpp_copy_t *copy, unsigned ms, jpp_err_t *err)
{
    int              status;
    pid_t            pid;
    uint64_t         end;
    struct timespec  pause = { 0, JPP_COPY_LOOK };

    end = jpp_clock() + (uint64_t) ms * 1000000;

    for ( ;; ) {
        pid = waitpid(copy->pid, &status, __WALL|WNOHANG);

        if (pid != 0 && !(pid == -1 && errno == EINTR)) {
            break;
        }

        if (jpp_clock() >= end) {
            return JPP_ERR_LATE;
        }

        (void) nanosleep(&pause, NULL);
    }

    copy->pid = 0;

    if (!jpp_atomic_get(&copy->page->is_done)) {
        return jpp_copy_died(copy, pid == -1 ? 0 : status, err);
    }

    *err = copy->page->err;

    return err->code;
}


void
jpp_copy_close(jpp_copy_t *copy)
{
    if (copy->pid != 0) {
        (void) kill(copy->pid, SIGKILL);

        while (waitpid(copy->pid, NULL, __WALL) == -1 && errno == EINTR) {
            /* void */
        }
    }

    if (copy->page != NULL) {
        (void) munmap(copy->page, sizeof(jpp_copy_page_t));
    }

    memset(copy, 0, sizeof(jpp_copy_t));
}

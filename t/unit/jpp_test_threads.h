
/*
 * What the kernel says of the threads of a test.
 */


#ifndef _JPP_TEST_THREADS_H_INCLUDED_
#define _JPP_TEST_THREADS_H_INCLUDED_


#include "jpp_test.h"

#include <dirent.h>


static inline int
jpp_test_entries(const char *path)
{
    int             n;
    DIR            *dir;
    struct dirent  *entry;

    dir = opendir(path);

    if (dir == NULL) {
        return -1;
    }

    n = 0;

    while ((entry = readdir(dir)) != NULL) {
        n += entry->d_name[0] != '.';
    }

    (void) closedir(dir);

    return n;
}


/* Has this process N threads beside its first, each with FILES of its own? */

static inline bool
jpp_test_has_files(int n, int files)
{
    DIR            *dir;
    pid_t           tid;
    char            path[64];
    struct dirent  *entry;

    dir = opendir("/proc/self/task");

    if (dir == NULL) {
        return false;
    }

    while ((entry = readdir(dir)) != NULL) {
        tid = (pid_t) atoi(entry->d_name);

        if (tid > 0 && tid != getpid()) {
            jpp_print(path, "/proc/self/task/%d/fd", (int) tid);

            n -= jpp_test_entries(path) == files ? 1 : 1000;
        }
    }

    (void) closedir(dir);

    return n == 0;
}


/* Soon, at least; and where this kernel has the call. */

static inline void
jpp_test_files(int n, int files, const char *what)
{
    int   tries;
    bool  has;

    has = false;

#ifdef SYS_close_range
    has = syscall(SYS_close_range, ~0U, ~0U, 0) == 0;
#endif

    for (tries = 10000; has && tries != 0; tries--) {
        if (jpp_test_has_files(n, files)) {
            break;
        }

        (void) usleep(1000);
    }

    jpp_ok(!has || tries != 0, "%s%s", what,
           has ? "" : ", where the kernel has close_range()");
}


#endif /* _JPP_TEST_THREADS_H_INCLUDED_ */


#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "jpp_bench.h"


static int jpp_bench_cmp(const void *a, const void *b);


bool
jpp_bench_child(jpp_bench_child_pt measure, void *result, size_t size,
    const char *data, size_t len, const void *ctx)
{
    int     status;
    void   *shared;
    pid_t   pid;

    shared = mmap(NULL, size, PROT_READ|PROT_WRITE, MAP_SHARED|MAP_ANONYMOUS,
                  -1, 0);

    if (shared == MAP_FAILED) {
        return false;
    }

    (void) fflush(stdout);

    pid = fork();

    if (pid == 0) {
        measure(shared, data, len, ctx);
        _exit(0);
    }

    status = -1;

    if (pid > 0) {
        (void) waitpid(pid, &status, 0);
    }

    memcpy(result, shared, size);
    (void) munmap(shared, size);

    return status == 0;
}


size_t
jpp_bench_resident(const char *field)
{
    int      fd;
    char    *p, text[8192];
    ssize_t  n;

    /* no stdio: it would allocate */

    fd = open("/proc/self/status", O_RDONLY|O_CLOEXEC);
    if (fd == -1) {
        return 0;
    }

    n = read(fd, text, sizeof(text) - 1);
    (void) close(fd);

    if (n <= 0) {
        return 0;
    }

    text[n] = '\0';
    p = strstr(text, field);

    return p != NULL ? strtoull(p + strlen(field), NULL, 10) * 1024 : 0;
}


double
jpp_bench_now(void)
{
    struct timespec  ts;

    (void) clock_gettime(CLOCK_MONOTONIC, &ts);

    return (double) ts.tv_sec * 1e3 + (double) ts.tv_nsec / 1e6;
}


void
jpp_bench_add(jpp_bench_times_t *times, double ms)
{
    if (times->n < JPP_BENCH_RUNS) {
        times->ms[times->n++] = ms;
    }
}


double
jpp_bench_median(jpp_bench_times_t *times)
{
    qsort(times->ms, times->n, sizeof(double), jpp_bench_cmp);

    return times->ms[times->n / 2];
}


static int
jpp_bench_cmp(const void *a, const void *b)
{
    double  x, y;

    x = *(const double *) a;
    y = *(const double *) b;

    return (x > y) - (x < y);
}

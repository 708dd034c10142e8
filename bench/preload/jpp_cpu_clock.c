
/*
 * A clock for measuring the module on a busy machine: what it reads as the
 * monotonic time is the CPU time of the thread, so that nobody else's time is
 * in its slices.  nginx itself has the real one, which its timers need.
 */


/* dl_iterate_phdr() */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>


static int jpp_cpu_clock_find(struct dl_phdr_info *info, size_t size,
    void *data);


static uintptr_t  jpp_cpu_clock_start;
static uintptr_t  jpp_cpu_clock_end;


int
clock_gettime(clockid_t id, struct timespec *now)
{
    uintptr_t  caller;

    caller = (uintptr_t) __builtin_return_address(0);

    if (id == CLOCK_MONOTONIC) {

        if (jpp_cpu_clock_end == 0) {
            (void) dl_iterate_phdr(jpp_cpu_clock_find, NULL);
        }

        if (caller >= jpp_cpu_clock_start && caller < jpp_cpu_clock_end) {
            id = CLOCK_THREAD_CPUTIME_ID;
        }
    }

    return (int) syscall(SYS_clock_gettime, id, now);
}


static int
jpp_cpu_clock_find(struct dl_phdr_info *info, size_t size, void *data)
{
    int                 i;
    uintptr_t           end;
    const ElfW(Phdr)   *phdr;

    (void) size;
    (void) data;

    if (strstr(info->dlpi_name, "ngx_http_jemalloc_pprof_module") == NULL) {
        return 0;
    }

    for (i = 0; i < info->dlpi_phnum; i++) {
        phdr = &info->dlpi_phdr[i];
        end = info->dlpi_addr + phdr->p_vaddr + phdr->p_memsz;

        if (phdr->p_type == PT_LOAD && end > jpp_cpu_clock_end) {
            jpp_cpu_clock_start = info->dlpi_addr;
            jpp_cpu_clock_end = end;
        }
    }

    return 1;
}

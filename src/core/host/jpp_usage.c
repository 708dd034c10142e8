
/*
 * This process's use of the machine: memory as the kernel counts it, CPU time,
 * page faults, descriptors.
 */


#include "jpp_host.h"

#include <linux/sock_diag.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>


#define JPP_USAGE_US(time)                                                    \
    ((uint64_t) (time).tv_sec * 1000000 + (uint64_t) (time).tv_usec)


#define JPP_USAGE_ROW(name, key)  { key, offsetof(jpp_usage_t, name) },

static const jpp_keys_row_t  jpp_usage_rows[] = {
    JPP_USAGE_STATUS(JPP_USAGE_ROW)
    { NULL, 0 }
};


/* bytes of oom_score_adj */
#define JPP_USAGE_ADJ    16

/* beyond it nobody has descriptors: the kernel's default for fs.nr_open */
#define JPP_SOCKETS_FDS  1048576


/* of what SO_MEMINFO says: the memory that is not queued for sending */

static const uint8_t  jpp_sockets_parts[] = {
    SK_MEMINFO_RMEM_ALLOC, SK_MEMINFO_FWD_ALLOC, SK_MEMINFO_OPTMEM,
    SK_MEMINFO_BACKLOG
};


uint64_t
jpp_sockets_bytes(uint64_t n_fds, uint64_t *n)
{
    int             fd;
    uint32_t        info[SK_MEMINFO_VARS] = { 0 };
    uint64_t        n_seen, bytes;
    socklen_t       len;
    const uint8_t  *part;

    *n = 0;
    bytes = 0;

    for (fd = 0, n_seen = 0; fd < JPP_SOCKETS_FDS && n_seen < n_fds; fd++) {
        len = sizeof(info);

        if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &len) == 0) {

            /* what is queued for sending is counted there, or as packets */

            bytes += jpp_larger(info[SK_MEMINFO_WMEM_QUEUED],
                                info[SK_MEMINFO_WMEM_ALLOC]);

            jpp_each_of(part, jpp_sockets_parts) {
                bytes += info[*part];
            }

            n_seen++;
            ++*n;

        } else {
            n_seen += errno != EBADF;
        }
    }

    return bytes;
}


/* since Linux 6.2 the size of the directory is their number */

uint64_t
jpp_usage_fds(const char *path)
{
    int               fd;
    uint64_t          n;
    const char       *name;
    struct stat       st;
    jpp_directory_t   directory;

    fd = open(path, O_RDONLY|O_DIRECTORY|O_CLOEXEC);
    if (fd == -1) {
        return JPP_NONE;
    }

    st.st_size = 0;

    (void) fstat(fd, &st);
    n = (uint64_t) st.st_size;

    jpp_directory_init(&directory, fd);

    while (st.st_size == 0
           && (name = jpp_directory_next(&directory)) != NULL)
    {
        n += name[0] != '.';
    }

    (void) close(fd);

    /* without this one */

    return directory.error == 0 ? n - 1 : JPP_NONE;
}


void
jpp_usage_read(jpp_usage_t *usage)
{
    char           adj[JPP_USAGE_ADJ];
    struct rlimit  rlimit;
    struct rusage  rusage;

    jpp_usage_memory(usage, "/proc/self/status");

    (void) getrusage(RUSAGE_SELF, &rusage);

    usage->minor_faults = (uint64_t) rusage.ru_minflt;
    usage->major_faults = (uint64_t) rusage.ru_majflt;
    usage->user_us = JPP_USAGE_US(rusage.ru_utime);
    usage->system_us = JPP_USAGE_US(rusage.ru_stime);

    usage->fds = jpp_usage_fds("/proc/self/fd");
    usage->oom_score = jpp_keys_file("/proc/self/oom_score");

    (void) jpp_read_text("/proc/self/oom_score_adj", adj, sizeof(adj));
    usage->oom_score_adj = strtol(adj, NULL, 10);

    if (getrlimit(RLIMIT_NOFILE, &rlimit) == 0) {
        usage->max_fds = rlimit.rlim_cur;
    }
}


void
jpp_usage_memory(jpp_usage_t *usage, const char *path)
{
    memset(usage, 0xff, sizeof(jpp_usage_t));

    (void) jpp_keys_read(jpp_usage_rows, path, usage);

    usage->oom_score_adj = 0;
}


uint64_t
jpp_usage_private(int64_t pid)
{
    char      path[48];
    uint64_t  bytes, pages[2];

    static const jpp_keys_row_t  rows[] = {
        { "Private_Clean", 0 }, { "Private_Dirty", sizeof(uint64_t) },
        { NULL, 0 }
    };

    jpp_print(path, "/proc/%" PRId64 "/smaps_rollup", pid);

    (void) jpp_keys_read(rows, pid != 0 ? path : "/proc/self/smaps_rollup",
                         pages);

    bytes = pages[0];
    jpp_add_known(&bytes, pages[1]);

    return bytes;
}

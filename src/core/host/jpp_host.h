
/*
 * The kernel's numbers about this process, other processes, its cgroup and the
 * machine, read from files of /proc, /sys and cgroups.
 */


#ifndef _JPP_HOST_H_INCLUDED_
#define _JPP_HOST_H_INCLUDED_


#include "jpp_core.h"


/*
 * Parses files of the kernel, such as those below /proc or of a cgroup, into
 * numbers by name.  They are read by lines through a buffer of fixed size,
 * since mountinfo and smaps have no bound:
 *
 *     VmRSS:      1740 kB        /proc/PID/status, meminfo
 *     oom_kill 0                 memory.stat, memory.events of a cgroup
 *     total=123456               pressure, by word
 *     1572864                    memory.current (jpp_keys_files())
 *
 * A table says which names are wanted, and where in a structure their values
 * go.  What a file does not have stays JPP_NONE: kernels differ.
 *
 * The caller's structure holds all there is: no allocation; any thread.
 */

/* a path of 4,096 bytes, and as much around it: it lies on stacks */
#define JPP_LINES_BUFFER  8192


typedef struct {
    int          fd;                    /* -1: closed */
    int          error;                 /* errno; 0: none */
    bool         is_end;                /* everything has been read */
    bool         is_skipping;           /* the rest of a line too long */
    uint64_t     n_skipped;             /* lines left out for that */
    char        *pos;
    char        *end;
    char         buffer[JPP_LINES_BUFFER];
} jpp_lines_t;


/* Start with the file PATH; false with its errno in LINES->error. */
bool jpp_lines_open(jpp_lines_t *lines, const char *path);

/*
 * The next line, which ends with a NUL byte in place of its newline; NULL at
 * the end, or if reading failed: LINES->error.  It is valid until the next
 * call.  A line that does not fit into the buffer is left out.
 */
char *jpp_lines_next(jpp_lines_t *lines);

void jpp_lines_close(jpp_lines_t *lines);


typedef struct {
    const char  *key;
    size_t       offset;                /* of a uint64_t */
} jpp_keys_row_t;


/* A value of a list of X(name, key), as a member of a structure. */
#define JPP_KEYS_FIELD(name, ...)  uint64_t  name;

/*
 * A table of them ends with a key of NULL.
 */

/* Set the values of ROWS in the structure at TO to JPP_NONE. */
void jpp_keys_clear(const jpp_keys_row_t *rows, void *to);

/*
 * Set the one that LINE has.  *NEXT, 0 before the first line, is the row that
 * is looked at first, so rows in the order of the file are found fastest.  "kB"
 * becomes bytes.  The first of several lines of one name counts.
 */
void jpp_keys_line(const jpp_keys_row_t *rows, size_t *next, const char *line,
    void *to);

/* Clear, then set, from the file PATH; its errno, or 0. */
int jpp_keys_read(const jpp_keys_row_t *rows, const char *path, void *to);

/* Set each value from the file that is its key, in the folder PATH. */
void jpp_keys_files(const jpp_keys_row_t *rows, const char *path, void *to);

/*
 * The number that LINE has, and a hundredfold one that has two digits behind a
 * point; JPP_NONE for anything else, such as "max".
 */
uint64_t jpp_keys_number(const char *line);

/* The number that the file PATH consists of, or JPP_NONE. */
uint64_t jpp_keys_file(const char *path);


/*
 * Parses /proc/PID/smaps: the mappings of a process, one after the other, and
 * their resident memory.
 *
 *     55d0a3c4e000-55d0a3c50000 rw-p 001a2000 fe:00 1234      /usr/sbin/nginx
 *     Size:                  8 kB
 *     Rss:                   8 kB
 *     ...
 *
 * The kernel walks the page tables of a mapping for its lines, and the process
 * waits for that if it maps or unmaps meanwhile: some 5 ms for each GiB.
 *
 * And /proc/self/pagemap: which pages of this process are in memory, and which
 * of them no other process has.  The owner of that file.
 *
 * No allocation; any thread.
 */

/* what a byte of the result says of a page */
#define JPP_PAGE_ABSENT  0
#define JPP_PAGE_SHARED  1         /* in memory, another process may have it */
#define JPP_PAGE_OWN     2         /* in memory, and of this process alone */


/* The descriptor to read it with, to be closed; -1: ERR says why not. */
int jpp_pagemap_open(jpp_err_t *err);

/*
 * Set the N bytes at PAGES to the states of the pages from START on; false: ERR
 * says why that cannot be read.
 */
bool jpp_pagemap_read(int fd, uint64_t start, uint8_t *pages, size_t n,
    jpp_err_t *err);


/* bytes of a name that are kept: the last ones */
#define JPP_SMAPS_NAME  256


/* X(name, key): in bytes */

#define JPP_SMAPS_VALUES(X)                                                   \
    X(rss, "Rss")                                                             \
    X(pss, "Pss")                                                             \
    X(private_clean, "Private_Clean")                                         \
    X(private_dirty, "Private_Dirty")                                         \
    X(anonymous, "Anonymous")                                                 \
    X(lazy_free, "LazyFree")                                                  \
    X(swap_pss, "SwapPss")


/* A mapping.  What the kernel does not say is JPP_NONE, but for rss and pss. */
typedef struct {
    uint64_t   start;
    uint64_t   end;                /* above start */
    bool       is_readable;
    bool       is_executable;
    bool       is_shared;
    bool       is_unreserved;      /* MAP_NORESERVE */
    bool       is_own;             /* of this module: see jpp_own_pages() */
    uint64_t   inode;              /* 0: of no file */
    size_t     name_len;
    char       name[JPP_SMAPS_NAME];    /* as the kernel writes it: a path, */
                                        /*   "[stack]"; "": anonymous */
    JPP_SMAPS_VALUES(JPP_KEYS_FIELD)
} jpp_smaps_t;


typedef struct {
    jpp_lines_t   lines;
    jpp_smaps_t   next;            /* whose first line was read already */
    bool          has_next;
    uint64_t      n_bad;           /* mappings that could not be read */
} jpp_smaps_parser_t;


/*
 * Start with the file PATH; false with its errno in PARSER->lines.error.  Close
 * PARSER->lines at the end.
 */
bool jpp_smaps_open(jpp_smaps_parser_t *parser, const char *path);

/*
 * Fill MAPPING with the next one that can be read; false: there is none, or
 * reading failed: PARSER->lines.error.
 */
bool jpp_smaps_next(jpp_smaps_parser_t *parser, jpp_smaps_t *mapping);


/*
 * The memory of this process's cgroup and its parents: usage, limit, and
 * headroom.
 *
 * A cgroup's own limit says little: a parent may have a lower one, and other
 * children that fill it.  So usage and limit are compared at each level up to
 * the root, and the headroom is the least that any of them leaves.  Both
 * versions of cgroups are read, also where they are mounted side by side, and
 * from inside a container, where only the levels that it can see count.
 *
 * What a kernel does not have is JPP_NONE; so is a limit that is not set.
 * Reads files only.  No allocation; any thread.
 */

/*
 * The memory of the machine: what is left of it, whether tasks wait for it,
 * and how the kernel hands it out.  Pressure stall information is the share of
 * time in which some, or all, tasks waited for memory
 * (Documentation/accounting/psi.rst of the kernel); a cgroup has its own.
 *
 * Bytes; what a kernel does not have is JPP_NONE.  No allocation; any
 * thread.
 */

/* per cent of the last 10, 60 and 300 seconds times 100; microseconds so far */

#define JPP_PRESSURE(X)                                                       \
    X(avg10)                                                                  \
    X(avg60)                                                                  \
    X(avg300)                                                                 \
    X(total)

typedef struct {
    JPP_PRESSURE(JPP_KEYS_FIELD)
} jpp_pressure_line_t;


typedef struct {
    jpp_pressure_line_t  some;
    jpp_pressure_line_t  full;
} jpp_pressure_t;


/* Fill PRESSURE from the file PATH; what is not there is JPP_NONE. */
void jpp_pressure_read(jpp_pressure_t *pressure, const char *path);


#define JPP_SYSTEM_THP  16


#define JPP_SYSTEM_MEMINFO(X)                                                 \
    X(total, "MemTotal")                                                      \
    X(available, "MemAvailable")                                              \
    X(swap_total, "SwapTotal")                                                \
    X(swap_free, "SwapFree")                                                  \
    X(commit_limit, "CommitLimit")                                            \
    X(committed, "Committed_AS")

typedef struct {
    JPP_SYSTEM_MEMINFO(JPP_KEYS_FIELD)
    uint64_t        overcommit;                /* vm.overcommit_memory */
    char            thp[JPP_SYSTEM_THP];       /* always, madvise, never; "" */
    jpp_pressure_t  pressure;
} jpp_system_t;


/* Fill SYSTEM.  ROOT is what comes before /proc and /sys: "" but for tests. */
void jpp_system_read(jpp_system_t *system, const char *root);

/* Of these only what meminfo has. */
void jpp_system_memory(jpp_system_t *system, const char *root);


#define JPP_CGROUP_PATH  4096


/* levels from the cgroup to the root */
#define JPP_CGROUP_LEVELS  32


/* The path of a level is the first LEN bytes of the cgroup's. */
typedef struct {
    size_t                 len;
    uint64_t               usage;
    uint64_t               limit;
    uint64_t               high;       /* version 2: reclaim begins there */
} jpp_cgroup_level_t;


/* memory.stat, in bytes */

#define JPP_CGROUP_STAT(X)                                                    \
    X(anon)                                                                   \
    X(file)                                                                   \
    X(kernel)                                                                 \
    X(kernel_stack)                                                           \
    X(pagetables)                                                             \
    X(percpu)                                                                 \
    X(sock)                                                                   \
    X(shmem)                                                                  \
    X(file_dirty)                                                             \
    X(anon_thp)                                                               \
    X(inactive_file)                                                          \
    X(slab_reclaimable)                                                       \
    X(slab_unreclaimable)

typedef struct {
    JPP_CGROUP_STAT(JPP_KEYS_FIELD)
} jpp_cgroup_stat_t;


/* memory.events: how often */

#define JPP_CGROUP_EVENTS(X)                                                  \
    X(low)                                                                    \
    X(high)                                                                   \
    X(max)                                                                    \
    X(oom)                                                                    \
    X(oom_kill)                                                               \
    X(oom_group_kill)

typedef struct {
    JPP_CGROUP_EVENTS(JPP_KEYS_FIELD)
} jpp_cgroup_events_t;


typedef struct {
    uint32_t               version;    /* 1, 2 */
    char                   path[JPP_CGROUP_PATH];      /* below the mount; */
                                                       /*   "/" is its root */
    jpp_cgroup_level_t     levels[JPP_CGROUP_LEVELS];  /* its own first, */
                                                       /*   if readable */
    size_t                 n_levels;
    size_t                 binding;    /* the level that leaves least; */
                                       /*   n_levels: none has a limit */
    uint64_t               headroom;   /* what it leaves */

    uint64_t               usage;      /* of the first level, as the rest */
    uint64_t               working_set;    /* without the file pages that go */
                                           /*   first */
    uint64_t               low;
    uint64_t               peak;
    uint64_t               swap_usage;
    uint64_t               swap_limit;
    jpp_cgroup_stat_t      stat;
    jpp_cgroup_events_t    events;
    jpp_pressure_t         pressure;
} jpp_cgroup_t;


/*
 * Set version and path of CGROUP, and MOUNT, from /proc/self/cgroup and
 * /proc/self/mountinfo.  Fails with JPP_ERR_DENIED where they show no cgroup
 * with a memory controller, and says why.
 */
jpp_code_t jpp_cgroup_place_find(jpp_cgroup_t *cgroup,
    char mount[JPP_CGROUP_PATH], jpp_lines_t *own, jpp_lines_t *mounts,
    jpp_err_t *err);


/* names and places of the values above, for those who write them */
extern const jpp_keys_row_t  jpp_cgroup_stat_rows[];
extern const jpp_keys_row_t  jpp_cgroup_events_rows[];


/*
 * Fill CGROUP for this process.  ROOT is what comes before /proc and the mounts
 * of cgroups: "" but for tests.  Fails with JPP_ERR_DENIED where there is no
 * cgroup with a memory controller to be seen, and says why.
 */
jpp_code_t jpp_cgroup_read(jpp_cgroup_t *cgroup, const char *root,
    jpp_err_t *err);


/* Two of its numbers, for who reads them every second. */
typedef struct {
    uint64_t               limit;  /* of the level with the least headroom; */
                                   /*   JPP_NONE: none has one */
    char                   usage[JPP_CGROUP_PATH];     /* files of that one */
    char                   stat[JPP_CGROUP_PATH];
    const jpp_keys_row_t  *stat_rows;
    char                   events[JPP_CGROUP_PATH];    /* its own */
    const jpp_keys_row_t  *rows;   /* of events; NULL: there is no cgroup */
} jpp_cgroup_watch_t;


/* Find them, as jpp_cgroup_read() does. */
void jpp_cgroup_watch(jpp_cgroup_watch_t *watch, const char *root);

/*
 * Read them: the usage of what is limited, and how many processes the kernel
 * has killed; JPP_NONE: that is not known.  Above half of the limit, usage is
 * without files that nobody uses, which the kernel drops first.
 */
void jpp_cgroup_look(const jpp_cgroup_watch_t *watch, uint64_t *usage,
    uint64_t *kills);


/*
 * What is left below the limit of CGROUP, or NULL, for memory that is not the
 * kernel's to drop: pages of files that go first leave room.  JPP_NONE: there
 * is no limit, or it is not known.
 */
static inline uint64_t
jpp_cgroup_left(const jpp_cgroup_t *cgroup)
{
    uint64_t  left;

    if (cgroup == NULL || cgroup->binding == cgroup->n_levels) {
        return JPP_NONE;
    }

    left = cgroup->headroom;
    jpp_add_known(&left, cgroup->stat.inactive_file);

    return left;
}


/*
 * This process's use of the machine: memory as the kernel counts it, CPU time,
 * page faults, descriptors.  A function of its own reads the sums of the page
 * tables (smaps_rollup), because the kernel stops the process meanwhile, 5 ms
 * for each GiB.
 *
 * Bytes; what a kernel does not have is JPP_NONE.  No allocation; any
 * thread.
 */

/*
 * The names of the values, in the order of their output: X(name), one uint64_t
 * each.
 */

#define JPP_USAGE_STATUS(X)                                                   \
    X(peak_size, "VmPeak")                                                    \
    X(size, "VmSize")                                                         \
    X(locked, "VmLck")                                                        \
    X(peak, "VmHWM")                                                          \
    X(rss, "VmRSS")                                                           \
    X(rss_anon, "RssAnon")                                                    \
    X(rss_file, "RssFile")                                                    \
    X(rss_shmem, "RssShmem")                                                  \
    X(page_tables, "VmPTE")                                                   \
    X(swap, "VmSwap")                                                         \
    X(threads, "Threads")                                                     \
    X(voluntary_switches, "voluntary_ctxt_switches")                          \
    X(involuntary_switches, "nonvoluntary_ctxt_switches")

#define JPP_USAGE_OTHER(X)                                                    \
    X(minor_faults)                                                           \
    X(major_faults)                                                           \
    X(user_us)                                                                \
    X(system_us)                                                              \
    X(private)                                                                \
    X(fds)                                                                    \
    X(max_fds)                                                                \
    X(oom_score)


typedef struct {
    JPP_USAGE_STATUS(JPP_KEYS_FIELD)
    JPP_USAGE_OTHER(JPP_KEYS_FIELD)
    int64_t  oom_score_adj;            /* -1000 .. 1000; 0 if unreadable */
} jpp_usage_t;


/* the text of smaps_rollup, some 800 bytes */
#define JPP_USAGE_SMAPS  4096


/* Fill USAGE for this process. */
void jpp_usage_read(jpp_usage_t *usage);

/* The same with nothing but what PATH, /proc/self/status, has: its memory. */
void jpp_usage_memory(jpp_usage_t *usage, const char *path);

/* The entries of the directory PATH but one, or JPP_NONE. */
uint64_t jpp_usage_fds(const char *path);

/*
 * The bytes of pages that no other process has, as the page tables of PID say,
 * or with 0 of this process; JPP_NONE: unreadable.  The kernel needs 5 ms for
 * each GiB, and a process that maps memory meanwhile waits.
 */
uint64_t jpp_usage_private(int64_t pid);

/*
 * The bytes that the kernel holds for the sockets among N_FDS open descriptors,
 * and *N of how many: they count for the cgroup, and in no process.  A
 * descriptor that is closed meanwhile is left out.
 */
uint64_t jpp_sockets_bytes(uint64_t n_fds, uint64_t *n);


/*
 * What the kernel says about another process: whether it runs, waits or is
 * stopped, where, and how much CPU time it has used.  This explains why a
 * worker does not answer, and distinguishes a process from a later one with
 * the same pid.
 *
 * Reads small files of /proc/PID, which takes some microseconds and never waits
 * for the process.  No allocation; any thread.
 */

/* the longest sentence of jpp_process_say() */
#define JPP_PROCESS_TEXT   192

/* a function of the kernel */
#define JPP_PROCESS_WCHAN  48


typedef struct {
    char        state;         /* R, S, D, T, t, Z, X ... as in proc(5) */
    uint64_t    cpu_ms;        /* user and system time of all threads */
    uint64_t    started;       /* clock ticks from boot to its start */
    char        wchan[JPP_PROCESS_WCHAN];      /* "" if it is secret */
} jpp_process_t;


/* Fill PROCESS; false if PID is not a process, or /proc does not show it. */
bool jpp_process_read(int64_t pid, jpp_process_t *process);

/* The bytes of anonymous memory that PID has in RAM; JPP_NONE: unreadable. */
uint64_t jpp_process_anon(int64_t pid);

/*
 * Fill PROCESS, but for wchan, from the LEN bytes of /proc/PID/stat at TEXT;
 * false if they are not such a line.
 */
bool jpp_process_parse(const char *text, size_t len, jpp_process_t *process);

/*
 * Write to TEXT, which is the result, what keeps a process from answering: "it
 * is stopped, by a signal or a debugger".  It was BEFORE, and is NOW, MS
 * milliseconds later.
 */
const char *jpp_process_say(const jpp_process_t *before,
    const jpp_process_t *now, uint64_t ms, char text[JPP_PROCESS_TEXT]);


#endif /* _JPP_HOST_H_INCLUDED_ */


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


#ifndef _JPP_KEYS_H_INCLUDED_
#define _JPP_KEYS_H_INCLUDED_


#include "jpp_core.h"


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


#endif /* _JPP_KEYS_H_INCLUDED_ */

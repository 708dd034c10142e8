
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


#ifndef _JPP_SMAPS_H_INCLUDED_
#define _JPP_SMAPS_H_INCLUDED_


#include "jpp_keys.h"


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


#endif /* _JPP_SMAPS_H_INCLUDED_ */

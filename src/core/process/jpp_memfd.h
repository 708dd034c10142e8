
/*
 * Creates an unnamed file for a dump: anonymous memory by memfd_create(), or
 * where that is forbidden, an O_TMPFILE in a directory of the caller.  The
 * writer uses the descriptor, or its path below /proc/self/fd; the parser maps
 * it.
 *
 * No state; any thread.
 */


#ifndef _JPP_MEMFD_H_INCLUDED_
#define _JPP_MEMFD_H_INCLUDED_


#include "jpp_core.h"


typedef struct {
    int            fd;             /* -1: closed */
    const char    *data;           /* NULL: not mapped */
    size_t         len;
} jpp_memfd_t;


/* Initialize MEMFD as closed, so that closing it is safe. */
void jpp_memfd_init(jpp_memfd_t *memfd);

/*
 * Open the caller's MEMFD: empty, and closed on exec.  If anonymous memory is
 * forbidden, the file goes to DIRECTORY; if that is NULL, the error is
 * JPP_ERR_DENIED.
 */
jpp_code_t jpp_memfd_open(jpp_memfd_t *memfd, const char *directory,
    jpp_err_t *err);

/*
 * Map what was written, MAX bytes at most (JPP_ERR_LIMIT above that).  The
 * file is sealed first, or copied if it cannot be, so that nobody else who
 * holds the descriptor can truncate it while it is read.  For an empty file
 * data is not NULL, and len is 0.
 */
jpp_code_t jpp_memfd_map(jpp_memfd_t *memfd, size_t max, jpp_err_t *err);

/* Unmap and close.  Allowed at any time after init. */
void jpp_memfd_close(jpp_memfd_t *memfd);


#endif /* _JPP_MEMFD_H_INCLUDED_ */

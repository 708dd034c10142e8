
/*
 * This process's mappings; the owner of /proc/self/maps.
 *
 * No state; any thread.
 */


#ifndef _JPP_PROC_H_INCLUDED_
#define _JPP_PROC_H_INCLUDED_


#include "jpp_core.h"


/* of an arena: enough for the text of all mappings, and a little more */
#define JPP_PROC_ARENA  ((size_t) 64 << 20)

/* Read the text of /proc/self/maps to MAPS, once more if it changed while that
   was done. */
jpp_code_t jpp_proc_maps(jpp_vec_t *maps, jpp_err_t *err);

/*
 * Read M from the line of maps at P; from 0 to 0: it is not such a line.
 * Returns the line behind it, or END; NULL: it has no end.
 */
const char *jpp_proc_line(const char *p, const char *end,
    jpp_scan_mapping_t *m);

/*
 * How the page at ADDRESS is protected, as mprotect() has it (PROT_READ ...),
 * by the LEN bytes of maps TEXT; 0: nothing is mapped there.
 */
int jpp_proc_protection(const char *text, size_t len, uintptr_t address);

/*
 * The name of the last mapping in the LEN bytes of maps TEXT ("[vsyscall]"),
 * copied to ARENA: with it jpp_maps_read() sees that a listing is complete.
 * NULL if the last mapping is not one of the kernel's own, whose names are in
 * brackets, and without memory.
 */
const char *jpp_proc_tail(const char *text, size_t len, jpp_arena_t *arena);


/*
 * Memory that may not be there, read without a fault: a pipe takes it, and a
 * write() of what is not mapped fails.
 *
 * For those who follow pointers that they cannot trust, at a moment when nobody
 * keeps the memory from changing: the kernel copies what is there, or says that
 * it is not.  A read takes two system calls, and JPP_PEEK_MAX bytes at most,
 * which are less than a pipe holds and are taken out at once.  A page of a
 * stack is proven by one call and without a descriptor (jpp_stack.c), but that
 * reads nothing.
 *
 * One parser at a time.  Everything marked [signal] is safe in a handler: no
 * lock, no memory, errno untouched.
 */

/* the most that can be read at once */
#define JPP_PEEK_MAX  4096


/* fd -1: closed */
typedef struct {
    int               fds[2];
} jpp_peek_t;


/* False: there are no descriptors. */
bool jpp_peek_open(jpp_peek_t *peek);
void jpp_peek_close(jpp_peek_t *peek);

/* [signal] Copy the SIZE bytes at ADDRESS to TO; false: they are not there. */
bool jpp_peek(const jpp_peek_t *peek, uintptr_t address, void *to, size_t size);


/*
 * Creates an unnamed file for a dump: anonymous memory by memfd_create(), or
 * where that is forbidden, an O_TMPFILE in a directory of the caller.  The
 * writer uses the descriptor, or its path below /proc/self/fd; the parser maps
 * it.
 *
 * No state; any thread.
 */

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


#endif /* _JPP_PROC_H_INCLUDED_ */

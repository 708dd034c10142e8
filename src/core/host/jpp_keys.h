
/*
 * Files of lines that have a name and a number each, as the kernel writes them
 * in several places:
 *
 *     VmRSS:      1740 kB        /proc/PID/status, meminfo
 *     oom_kill 0                 memory.stat, memory.events of a cgroup
 *     1572864                    memory.current (jpp_keys_number())
 *
 * A table says which names are wanted, and where in a structure their values
 * go.  What a file does not have stays JPP_NONE: kernels differ.
 *
 * No allocation; any thread.
 */


#ifndef _JPP_KEYS_H_INCLUDED_
#define _JPP_KEYS_H_INCLUDED_


#include "jpp_lines.h"
#include "jpp_units.h"


typedef struct {
    const char  *key;
    size_t       offset;                /* of a uint64_t */
} jpp_keys_row_t;


/* Set the values of the N ROWS in the structure at TO to JPP_NONE. */
void jpp_keys_clear(const jpp_keys_row_t *rows, size_t n, void *to);

/*
 * Set those that LINES has.  "kB" becomes bytes.  Rows in the order of the file
 * are found fastest.  The first of several lines of one name counts.
 */
void jpp_keys_lines(const jpp_keys_row_t *rows, size_t n, jpp_lines_t *lines,
    void *to);

/*
 * Set the one that LINE has.  *NEXT, 0 before the first line, is the row that
 * is looked at first.
 */
void jpp_keys_line(const jpp_keys_row_t *rows, size_t n, size_t *next,
    const char *line, void *to);

/* Clear, then set, from the file PATH; its errno, or 0. */
int jpp_keys_read(const jpp_keys_row_t *rows, size_t n, const char *path,
    void *to);

/* The number that LINE has; JPP_NONE for anything else, such as "max". */
uint64_t jpp_keys_number(const char *line);

/* The number that the file PATH consists of, or JPP_NONE. */
uint64_t jpp_keys_file(const char *path);


#endif /* _JPP_KEYS_H_INCLUDED_ */


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


#endif /* _JPP_KEYS_H_INCLUDED_ */

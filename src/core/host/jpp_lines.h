
/*
 * The lines of a file of the kernel, such as one below /proc or of a cgroup,
 * through a buffer of a fixed size: mountinfo and smaps have no bound.
 *
 * The caller's structure holds all there is: no allocation; any thread.
 */


#ifndef _JPP_LINES_H_INCLUDED_
#define _JPP_LINES_H_INCLUDED_


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>


/* a path of 4,096 bytes, and as much around it: it lies on stacks */
#define JPP_LINES_BUFFER  8192


typedef struct {
    int          fd;                    /* -1: of a text, or closed */
    int          error;                 /* errno; 0: none */
    bool         is_end;                /* everything has been read */
    bool         is_skipping;           /* the rest of a line too long */
    uint64_t     n_skipped;             /* lines left out for that */
    const char  *text;                  /* what is left of a text */
    size_t       text_len;
    char        *pos;
    char        *end;
    char         buffer[JPP_LINES_BUFFER];
} jpp_lines_t;


/* Start with the file PATH; false with its errno in LINES->error. */
bool jpp_lines_open(jpp_lines_t *lines, const char *path);

/* Start with LEN bytes of TEXT, which must stay. */
void jpp_lines_text(jpp_lines_t *lines, const char *text, size_t len);

/*
 * The next line, which ends with a NUL byte in place of its newline; NULL at
 * the end, or if reading failed: LINES->error.  It is valid until the next
 * call.  A line that does not fit into the buffer is left out.
 */
char *jpp_lines_next(jpp_lines_t *lines);

void jpp_lines_close(jpp_lines_t *lines);


#endif /* _JPP_LINES_H_INCLUDED_ */

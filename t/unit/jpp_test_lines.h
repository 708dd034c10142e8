
/* Bytes as a file whose lines are read, or the mappings of a smaps. */


#ifndef _JPP_TEST_LINES_H_INCLUDED_
#define _JPP_TEST_LINES_H_INCLUDED_


#include "jpp_host.h"


/* The name of a file with LEN bytes of TEXT, which is open as *FD. */
static inline const char *
jpp_test_lines(const char *text, size_t len, char path[64], int *fd)
{
    *fd = memfd_create("lines", 0);

    if (*fd == -1 || write(*fd, text, len) != (ssize_t) len) {
        abort();
    }

    (void) snprintf(path, 64, "/proc/self/fd/%d", *fd);

    return path;
}


static inline void
jpp_lines_text(jpp_lines_t *lines, const char *text, size_t len)
{
    int   fd;
    char  path[64];

    (void) jpp_lines_open(lines, jpp_test_lines(text, len, path, &fd));
    (void) close(fd);
}


static inline void
jpp_smaps_text(jpp_smaps_parser_t *parser, const char *text, size_t len)
{
    int   fd;
    char  path[64];

    (void) jpp_smaps_open(parser, jpp_test_lines(text, len, path, &fd));
    (void) close(fd);
}


#endif /* _JPP_TEST_LINES_H_INCLUDED_ */

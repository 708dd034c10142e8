
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "jpp_lines.h"


/* not the buffer, which is larger than most files */

static void
jpp_lines_init(jpp_lines_t *lines)
{
    memset(lines, 0, offsetof(jpp_lines_t, buffer));

    lines->fd = -1;
    lines->pos = lines->buffer;
    lines->end = lines->buffer;
}


bool
jpp_lines_open(jpp_lines_t *lines, const char *path)
{
    jpp_lines_init(lines);

    lines->fd = open(path, O_RDONLY|O_CLOEXEC|O_NONBLOCK|O_NOCTTY);

    if (lines->fd == -1) {
        lines->error = errno;
        lines->is_end = true;
        return false;
    }

    return true;
}


void
jpp_lines_text(jpp_lines_t *lines, const char *text, size_t len)
{
    jpp_lines_init(lines);

    lines->text = text;
    lines->text_len = len;
}


static ssize_t
jpp_lines_read(jpp_lines_t *lines, char *to, size_t size)
{
    ssize_t  n;

    if (lines->fd == -1) {
        size = size < lines->text_len ? size : lines->text_len;
        memcpy(to, lines->text, size);
        lines->text += size;
        lines->text_len -= size;

        return (ssize_t) size;
    }

    do {
        n = read(lines->fd, to, size);
    } while (n == -1 && errno == EINTR);

    return n;
}


static void
jpp_lines_fill(jpp_lines_t *lines)
{
    size_t   len;
    ssize_t  n;

    len = (size_t) (lines->end - lines->pos);

    if (len == JPP_LINES_BUFFER) {
        lines->n_skipped += !lines->is_skipping;
        lines->is_skipping = true;
        len = 0;
    }

    memmove(lines->buffer, lines->pos, len);
    lines->pos = lines->buffer;
    lines->end = lines->buffer + len;

    n = jpp_lines_read(lines, lines->end, JPP_LINES_BUFFER - len);

    if (n <= 0) {
        lines->error = n < 0 ? errno : 0;
        lines->is_end = true;
        return;
    }

    lines->end += n;
}


char *
jpp_lines_next(jpp_lines_t *lines)
{
    char  *line, *newline;

    for ( ;; ) {
        newline = memchr(lines->pos, '\n', (size_t) (lines->end - lines->pos));

        if (newline == NULL && !lines->is_end) {
            jpp_lines_fill(lines);
            continue;
        }

        if (newline == NULL) {

            /* what has no newline at the end was cut, or is nothing */

            return NULL;
        }

        line = lines->pos;
        *newline = '\0';
        lines->pos = newline + 1;

        if (!lines->is_skipping) {
            return line;
        }

        lines->is_skipping = false;
    }
}


void
jpp_lines_close(jpp_lines_t *lines)
{
    if (lines->fd != -1) {
        (void) close(lines->fd);
        lines->fd = -1;
    }

    lines->is_end = true;
    lines->pos = lines->end;
}

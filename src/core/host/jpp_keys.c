
#include "jpp_keys.h"


bool
jpp_lines_open(jpp_lines_t *lines, const char *path)
{
    /* not the buffer, which is larger than most files */

    memset(lines, 0, offsetof(jpp_lines_t, buffer));

    lines->pos = lines->buffer;
    lines->end = lines->buffer;

    lines->fd = open(path, O_RDONLY|O_CLOEXEC|O_NONBLOCK|O_NOCTTY);

    if (lines->fd == -1) {
        lines->error = errno;
        lines->is_end = true;
        return false;
    }

    return true;
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

    do {
        n = read(lines->fd, lines->end, JPP_LINES_BUFFER - len);
    } while (n == -1 && errno == EINTR);

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


static uint64_t *
jpp_keys_value(const jpp_keys_row_t *row, void *to)
{
    return (uint64_t *) (void *) ((char *) to + row->offset);
}


void
jpp_keys_clear(const jpp_keys_row_t *rows, size_t n, void *to)
{
    size_t  i;

    for (i = 0; i < n; i++) {
        *jpp_keys_value(&rows[i], to) = JPP_NONE;
    }
}


void
jpp_keys_lines(const jpp_keys_row_t *rows, size_t n, jpp_lines_t *lines,
    void *to)
{
    char    *line;
    size_t   next;

    next = 0;

    while ((line = jpp_lines_next(lines)) != NULL) {
        jpp_keys_line(rows, n, &next, line, to);
    }
}


/* the row after the last one that was found is the next one, as a rule */

static size_t
jpp_keys_find(const jpp_keys_row_t *rows, size_t n, size_t from,
    const char *line, size_t len)
{
    size_t  i, k;

    for (i = 0; i < n; i++) {
        k = from + i < n ? from + i : from + i - n;

        if (strncmp(rows[k].key, line, len) == 0 && rows[k].key[len] == '\0') {
            return k;
        }
    }

    return n;
}


void
jpp_keys_line(const jpp_keys_row_t *rows, size_t n, size_t *next,
    const char *line, void *to)
{
    size_t     i, len;
    uint64_t  *value;

    len = strcspn(line, ": \t");
    i = jpp_keys_find(rows, n, *next, line, len);

    if (i == n || line[len] == '\0') {
        return;
    }

    *next = i + 1;
    value = jpp_keys_value(&rows[i], to);

    if (*value == JPP_NONE) {
        *value = jpp_keys_number(line + len + 1);
    }
}


int
jpp_keys_read(const jpp_keys_row_t *rows, size_t n, const char *path, void *to)
{
    jpp_lines_t  lines;

    jpp_keys_clear(rows, n, to);

    if (jpp_lines_open(&lines, path)) {
        jpp_keys_lines(rows, n, &lines, to);
        jpp_lines_close(&lines);
    }

    return lines.error;
}


uint64_t
jpp_keys_number(const char *line)
{
    uint64_t     number;
    const char  *end;

    line += strspn(line, " \t");
    end = jpp_scan_dec(line, &number);

    if (end == NULL) {
        return JPP_NONE;
    }

    if (strcmp(end, " kB") == 0) {
        return number <= UINT64_MAX / 1024 ? number * 1024 : JPP_NONE;
    }

    return *end == '\0' ? number : JPP_NONE;
}


uint64_t
jpp_keys_file(const char *path)
{
    char         *line;
    uint64_t      number;
    jpp_lines_t   lines;

    number = JPP_NONE;

    if (jpp_lines_open(&lines, path)) {
        line = jpp_lines_next(&lines);
        number = line != NULL ? jpp_keys_number(line) : JPP_NONE;
        jpp_lines_close(&lines);
    }

    return number;
}


/* Parses files of the kernel into numbers by name. */


#include "jpp_host.h"


/* of a file of a cgroup, and of one that consists of a number */
#define JPP_KEYS_PATH    (3 * 4096)
#define JPP_KEYS_NUMBER  64


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

        /* what has no newline at the end was cut, or is nothing */

        if (newline == NULL && lines->is_end) {
            return NULL;
        }

        if (newline == NULL) {
            jpp_lines_fill(lines);
            continue;
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
jpp_keys_clear(const jpp_keys_row_t *rows, void *to)
{
    for ( /* void */ ; rows->key != NULL; rows++) {
        *jpp_keys_value(rows, to) = JPP_NONE;
    }
}


static const jpp_keys_row_t *
jpp_keys_find(const jpp_keys_row_t *row, const char *line, size_t len)
{
    for ( /* void */ ; row->key != NULL; row++) {
        if (strncmp(row->key, line, len) == 0 && row->key[len] == '\0') {
            return row;
        }
    }

    return NULL;
}


void
jpp_keys_line(const jpp_keys_row_t *rows, size_t *next, const char *line,
    void *to)
{
    size_t                 len;
    uint64_t              *value;
    const jpp_keys_row_t  *row;

    len = strcspn(line, ": \t=");

    /* the row after the last one that was found is the next one, as a rule */

    row = jpp_keys_find(rows + *next, line, len);

    if (row == NULL) {
        row = jpp_keys_find(rows, line, len);
    }

    if (row == NULL || line[len] == '\0') {
        return;
    }

    *next = (size_t) (row - rows);
    value = jpp_keys_value(row, to);

    if (*value == JPP_NONE) {
        *value = jpp_keys_number(line + len + 1);
    }
}


int
jpp_keys_read(const jpp_keys_row_t *rows, const char *path, void *to)
{
    char         *line;
    size_t        next = 0;
    jpp_lines_t   lines;

    jpp_keys_clear(rows, to);

    (void) jpp_lines_open(&lines, path);

    while ((line = jpp_lines_next(&lines)) != NULL) {
        jpp_keys_line(rows, &next, line, to);
    }

    jpp_lines_close(&lines);

    return lines.error;
}


void
jpp_keys_files(const jpp_keys_row_t *rows, const char *path, void *to)
{
    int   n;
    char  file[JPP_KEYS_PATH];

    for ( /* void */ ; rows->key != NULL; rows++) {
        n = snprintf(file, sizeof(file), "%s/%s", path, rows->key);

        *jpp_keys_value(rows, to) = n < JPP_KEYS_PATH ? jpp_keys_file(file)
                                                      : JPP_NONE;
    }
}


uint64_t
jpp_keys_number(const char *line)
{
    uint64_t     number, hundredths;
    const char  *end, *fraction;

    line += strspn(line, " \t");
    end = jpp_scan_dec(line, &number);

    if (end == NULL) {
        return JPP_NONE;
    }

    if (*end == '.') {
        fraction = end + 1;
        end = jpp_scan_dec(fraction, &hundredths);

        return end != NULL && end - fraction == 2 && *end == '\0'
               && number <= UINT64_MAX / 200 ? number * 100 + hundredths
                                             : JPP_NONE;
    }

    if (strcmp(end, " kB") == 0) {
        return number <= UINT64_MAX / 1024 ? number * 1024 : JPP_NONE;
    }

    return *end == '\0' ? number : JPP_NONE;
}


uint64_t
jpp_keys_file(const char *path)
{
    char    text[JPP_KEYS_NUMBER];
    size_t  n;

    n = jpp_read_text(path, text, sizeof(text));

    if (n == 0 || text[n - 1] != '\n') {
        return JPP_NONE;
    }

    text[n - 1] = '\0';

    return jpp_keys_number(text);
}

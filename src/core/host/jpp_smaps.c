
#include <string.h>

#include "jpp_scan.h"
#include "jpp_smaps.h"


#define JPP_SMAPS_ROW(name, key)  { key, offsetof(jpp_smaps_t, name) },

static const jpp_keys_row_t  jpp_smaps_rows[] = {
    JPP_SMAPS_VALUES(JPP_SMAPS_ROW)
};

#define JPP_SMAPS_ROWS  (sizeof(jpp_smaps_rows) / sizeof(jpp_smaps_rows[0]))


static void
jpp_smaps_init(jpp_smaps_reader_t *reader)
{
    reader->has_next = false;
    reader->n_bad = 0;
}


bool
jpp_smaps_open(jpp_smaps_reader_t *reader, const char *path)
{
    jpp_smaps_init(reader);

    return jpp_lines_open(&reader->lines, path);
}


void
jpp_smaps_text(jpp_smaps_reader_t *reader, const char *text, size_t len)
{
    jpp_smaps_init(reader);

    jpp_lines_text(&reader->lines, text, len);
}


void
jpp_smaps_close(jpp_smaps_reader_t *reader)
{
    jpp_lines_close(&reader->lines);
}


/* keys begin with a capital letter */

static bool
jpp_smaps_is_head(const char *line)
{
    return line[0] < 'A' || line[0] > 'Z';
}


static bool
jpp_smaps_flags(jpp_smaps_t *mapping, const char *p)
{
    if (strnlen(p, 5) < 5 || p[4] != ' '
        || (p[0] != 'r' && p[0] != '-') || (p[1] != 'w' && p[1] != '-')
        || (p[2] != 'x' && p[2] != '-') || (p[3] != 'p' && p[3] != 's'))
    {
        return false;
    }

    mapping->is_readable = p[0] == 'r';
    mapping->is_executable = p[2] == 'x';
    mapping->is_shared = p[3] == 's';
    mapping->is_unreserved = false;

    return true;
}


static void
jpp_smaps_name(jpp_smaps_t *mapping, const char *name)
{
    size_t  len;

    len = strlen(name);

    if (len >= JPP_SMAPS_NAME) {
        name += len - (JPP_SMAPS_NAME - 1);
        len = JPP_SMAPS_NAME - 1;
    }

    memset(mapping->name, 0, JPP_SMAPS_NAME);
    memcpy(mapping->name, name, len);
    mapping->name_len = len;
}


static bool
jpp_smaps_head(jpp_smaps_t *mapping, const char *line)
{
    uint64_t     number;
    const char  *p;

    jpp_keys_clear(jpp_smaps_rows, JPP_SMAPS_ROWS, mapping);

    p = jpp_scan_hex(line, &mapping->start);

    if (p == NULL || *p++ != '-') {
        return false;
    }

    p = jpp_scan_hex(p, &mapping->end);

    if (p == NULL || *p++ != ' ' || mapping->end <= mapping->start
        || !jpp_smaps_flags(mapping, p))
    {
        return false;
    }

    /* offset, device */

    p = jpp_scan_hex(p + sizeof("rwxp ") - 1, &number);

    if (p == NULL || *p++ != ' ' || (p = jpp_scan_hex(p, &number)) == NULL
        || *p++ != ':' || (p = jpp_scan_hex(p, &number)) == NULL
        || *p++ != ' ' || (p = jpp_scan_dec(p, &mapping->inode)) == NULL)
    {
        return false;
    }

    p += strspn(p, " ");

    jpp_smaps_name(mapping, p);

    return true;
}


/* a mapping ends where the next one begins, or the file does */

bool
jpp_smaps_next(jpp_smaps_reader_t *reader, jpp_smaps_t *mapping)
{
    bool    had;
    char   *line;
    size_t  row;

    for ( ;; ) {
        had = reader->has_next;
        reader->has_next = false;

        if (had) {
            *mapping = reader->next;
        }

        row = 0;

        while ((line = jpp_lines_next(&reader->lines)) != NULL) {

            if (jpp_smaps_is_head(line)) {
                reader->has_next = jpp_smaps_head(&reader->next, line);
                reader->n_bad += !reader->has_next;
                break;
            }

            if (had && strncmp(line, "VmFlags:", 8) == 0) {
                mapping->is_unreserved = strstr(line, " nr") != NULL;

            } else if (had) {
                jpp_keys_line(jpp_smaps_rows, JPP_SMAPS_ROWS, &row, line,
                              mapping);
            }
        }

        if (had && mapping->rss != JPP_NONE && mapping->pss != JPP_NONE) {
            return true;
        }

        reader->n_bad += had;

        if (line == NULL) {
            return false;
        }
    }
}


/* Parses smaps and pagemap: the mappings of a process, and their pages. */

#include "jpp_host.h"


#define JPP_SMAPS_ROW(name, key)  { key, offsetof(jpp_smaps_t, name) },

static const jpp_keys_row_t  jpp_smaps_rows[] = {
    JPP_SMAPS_VALUES(JPP_SMAPS_ROW)
    { NULL, 0 }
};


/*
 * An entry has 64 bits: 63 is set if the page is in memory, 56 if it is mapped
 * once (Documentation/admin-guide/mm/pagemap.rst).
 */


#define JPP_PAGEMAP_PRESENT    ((uint64_t) 1 << 63)
#define JPP_PAGEMAP_EXCLUSIVE  ((uint64_t) 1 << 56)

/* at once */
#define JPP_PAGEMAP_ENTRIES    2048


int
jpp_pagemap_open(jpp_err_t *err)
{
    int  fd;

    fd = open("/proc/self/pagemap", O_RDONLY|O_CLOEXEC);

    if (fd == -1) {
        (void) jpp_err_sys(err, errno, "/proc/self/pagemap cannot be opened");
    }

    return fd;
}


bool
jpp_pagemap_read(int fd, uint64_t start, uint8_t *pages, size_t n,
    jpp_err_t *err)
{
    size_t    i, got, want;
    ssize_t   len;
    uint64_t  first, entries[JPP_PAGEMAP_ENTRIES];

    first = start / (uint64_t) sysconf(_SC_PAGESIZE);

    while (n > 0) {
        want = n < JPP_PAGEMAP_ENTRIES ? n : JPP_PAGEMAP_ENTRIES;

        len = jpp_read_at(fd, entries, want * sizeof(uint64_t),
                          first * sizeof(uint64_t));
        got = len != -1 ? (size_t) len / sizeof(uint64_t) : 0;

        if (got == 0) {
            (void) jpp_err_sys(err, len == 0 ? EIO : errno,
                               "/proc/self/pagemap cannot be read");
            return false;
        }

        for (i = 0; i < got; i++) {
            *pages++ = (entries[i] & JPP_PAGEMAP_PRESENT) == 0 ? JPP_PAGE_ABSENT
                       : entries[i] & JPP_PAGEMAP_EXCLUSIVE ? JPP_PAGE_OWN
                                                            : JPP_PAGE_SHARED;
        }

        first += got;
        n -= got;
    }

    return true;
}


bool
jpp_smaps_open(jpp_smaps_parser_t *parser, const char *path)
{
    parser->has_next = false;
    parser->n_bad = 0;

    return jpp_lines_open(&parser->lines, path);
}


static bool
jpp_smaps_head(jpp_smaps_t *mapping, const char *line)
{
    const char          *name;
    jpp_scan_mapping_t   m;

    jpp_keys_clear(jpp_smaps_rows, mapping);

    name = jpp_scan_mapping(line, &m);

    if (name == NULL) {
        return false;
    }

    mapping->start = m.start;
    mapping->end = m.limit;
    mapping->is_readable = m.is_readable;
    mapping->is_executable = m.is_executable;
    mapping->is_shared = m.is_shared;
    mapping->is_unreserved = false;
    mapping->is_own = false;
    mapping->inode = m.inode;

    name += jpp_less(strlen(name), JPP_SMAPS_NAME - 1);

    mapping->name_len = strlen(name);
    memset(mapping->name, 0, JPP_SMAPS_NAME);
    memcpy(mapping->name, name, mapping->name_len);

    return true;
}


/* a mapping ends where the next one begins, or the file does */

bool
jpp_smaps_next(jpp_smaps_parser_t *parser, jpp_smaps_t *mapping)
{
    bool    had;
    char   *line;
    size_t  row;

    for ( ;; ) {
        had = parser->has_next;
        parser->has_next = false;

        if (had) {
            *mapping = parser->next;
        }

        row = 0;

        while ((line = jpp_lines_next(&parser->lines)) != NULL) {

            /* keys begin with a capital letter */

            if (line[0] < 'A' || line[0] > 'Z') {
                parser->has_next = jpp_smaps_head(&parser->next, line);
                parser->n_bad += !parser->has_next;
                break;
            }

            if (had && strncmp(line, "VmFlags:", 8) == 0) {
                mapping->is_unreserved = strstr(line, " nr") != NULL;
                mapping->is_own = strstr(line, " rr") != NULL
                                  && mapping->inode == 0;

            } else if (had) {
                jpp_keys_line(jpp_smaps_rows, &row, line, mapping);
            }
        }

        if (had && mapping->rss != JPP_NONE && mapping->pss != JPP_NONE) {
            return true;
        }

        parser->n_bad += had;

        if (line == NULL) {
            return false;
        }
    }
}

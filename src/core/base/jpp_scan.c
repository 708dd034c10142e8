
/*
 * The grammar (proc(5), and fs/proc/task_mmu.c of the kernel):
 *
 *     line  := start "-" limit " " perms " " offset " " major ":" minor
 *              " " inode [ blanks path [ " (deleted)" ] ] NL
 *     perms := [r-] [w-] [x-] [ps]
 *
 * Numbers are hexadecimal, the inode is decimal.  A newline in a path is
 * written as \012, nothing else is escaped.
 */


#include "jpp_scan.h"


const char *
jpp_scan_mapping(const char *p, jpp_scan_mapping_t *m)
{
    uint64_t  major, minor;

    p = jpp_scan_hex(p, &m->start);
    if (p == NULL || *p++ != '-') {
        return NULL;
    }

    p = jpp_scan_hex(p, &m->limit);
    if (p == NULL || *p++ != ' ' || m->start >= m->limit) {
        return NULL;
    }

    if ((p[0] != 'r' && p[0] != '-')
        || (p[1] != 'w' && p[1] != '-')
        || (p[2] != 'x' && p[2] != '-')
        || (p[3] != 'p' && p[3] != 's')
        || p[4] != ' ')
    {
        return NULL;
    }

    m->is_readable = p[0] == 'r';
    m->is_writable = p[1] == 'w';
    m->is_executable = p[2] == 'x';
    m->is_shared = p[3] == 's';

    p = jpp_scan_hex(p + 5, &m->offset);
    if (p == NULL || *p++ != ' ') {
        return NULL;
    }

    p = jpp_scan_hex(p, &major);
    if (p == NULL || *p++ != ':' || major > UINT32_MAX) {
        return NULL;
    }

    p = jpp_scan_hex(p, &minor);
    if (p == NULL || *p++ != ' ' || minor > UINT32_MAX) {
        return NULL;
    }

    m->device = major << 32 | minor;

    p = jpp_scan_dec(p, &m->inode);
    if (p == NULL || (*p != ' ' && *p != '\n' && *p != '\0')) {
        return NULL;
    }

    while (*p == ' ') {
        p++;
    }

    return p;
}

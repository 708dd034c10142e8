
/*
 * Reads words, and the lines of maps, from text.
 *
 * The grammar (proc(5), and fs/proc/task_mmu.c of the kernel):
 *
 *     line  := start "-" limit " " perms " " offset " " major ":" minor
 *              " " inode [ blanks path [ " (deleted)" ] ] NL
 *     perms := [r-] [w-] [x-] [ps]
 *
 * Numbers are hexadecimal, the inode is decimal.  A newline in a path is
 * written as \012, nothing else is escaped.
 */


#include "jpp_units.h"


bool
jpp_scan_has_word(const char *p, size_t len, const char *commas,
    const char *word)
{
    const char  *part, *end, *next;

    end = p + len;

    for (part = p; part <= end; part = next + 1) {

        for (next = part; next < end && strchr(commas, *next) == NULL; next++) {
            /* void */
        }

        if (jpp_scan_text(part, next, word) == next) {
            return true;
        }
    }

    return false;
}


const char *
jpp_scan_numbers(const char *p, const char *format, uint64_t *numbers)
{
    for ( /* void */ ; p != NULL && *format != '\0'; format++) {

        if (*format == 'd') {
            p = jpp_scan_dec(p, numbers++);

        } else if (*format == 'x') {
            p = jpp_scan_hex(p, numbers++);

        } else {
            p = *p == *format ? p + 1 : NULL;
        }
    }

    return p;
}


uint64_t
jpp_scan_member(const void *p, size_t size)
{
    uint16_t  u16;
    uint32_t  u32;
    uint64_t  u64;

    switch (size) {

    case sizeof(uint64_t):
        memcpy(&u64, p, size);
        return u64;

    case sizeof(uint32_t):
        memcpy(&u32, p, size);
        return u32;

    case sizeof(uint16_t):
        memcpy(&u16, p, size);
        return u16;
    }

    return *(const uint8_t *) p;
}


const char *
jpp_scan_mapping(const char *p, jpp_scan_mapping_t *m)
{
    uint64_t  range[2], rest[4];

    p = jpp_scan_numbers(p, "x-x ", range);

    if (p == NULL || range[0] >= range[1]
        || (p[0] != 'r' && p[0] != '-')
        || (p[1] != 'w' && p[1] != '-')
        || (p[2] != 'x' && p[2] != '-')
        || (p[3] != 'p' && p[3] != 's')
        || p[4] != ' ')
    {
        return NULL;
    }

    m->start = range[0];
    m->limit = range[1];
    m->is_readable = p[0] == 'r';
    m->is_writable = p[1] == 'w';
    m->is_executable = p[2] == 'x';
    m->is_shared = p[3] == 's';

    p = jpp_scan_numbers(p + 5, "x x:x d", rest);

    if (p == NULL || rest[1] > UINT32_MAX || rest[2] > UINT32_MAX
        || (*p != ' ' && *p != '\n' && *p != '\0'))
    {
        return NULL;
    }

    m->offset = rest[0];
    m->device = rest[1] << 32 | rest[2];
    m->inode = rest[3];

    while (*p == ' ') {
        p++;
    }

    return p;
}

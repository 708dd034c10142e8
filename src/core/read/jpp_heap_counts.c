
#include <string.h>

#include "jpp_heap_counts.h"
#include "jpp_scan.h"


const char *
jpp_heap_totals(const char *p, const char *end, uint64_t counts[4])
{
    p = jpp_scan_text(p, end, JPP_HEAP_TOTALS);

    return p != NULL ? jpp_heap_counts(p, counts) : NULL;
}


const char *
jpp_heap_threads(const char *p, const char *end, const char *totals,
    const char **bad)
{
    size_t       len;
    uint64_t     counts[4];
    const char  *line;

    totals += sizeof(JPP_HEAP_TOTALS) - 1;
    len = (size_t) (p - totals);

    for (line = p; *line == ' '; line = p) {

        p = jpp_heap_thread(line, end);

        /* usually one thread has all of it */

        if (p != NULL && (size_t) (end - p) >= len
            && memcmp(p, totals, len) == 0)
        {
            p += len;
            continue;
        }

        p = p != NULL ? jpp_heap_counts(p, counts) : NULL;

        if (p == NULL || *p++ != '\n') {
            *bad = line;
            return NULL;
        }
    }

    return line;
}


const char *
jpp_heap_thread(const char *p, const char *end)
{
    uint64_t  uid;

    p = jpp_scan_text(p, end, "  t");

    if (p == NULL) {
        return NULL;
    }

    p = jpp_scan_dec(p, &uid);

    return p != NULL && *p++ == ':' && *p++ == ' ' ? p : NULL;
}


const char *
jpp_heap_counts(const char *p, uint64_t counts[4])
{
    p = jpp_scan_dec(p, &counts[0]);

    if (p == NULL || *p++ != ':' || *p++ != ' ') {
        return NULL;
    }

    p = jpp_scan_dec(p, &counts[1]);

    if (p == NULL || *p++ != ' ' || *p++ != '[') {
        return NULL;
    }

    p = jpp_scan_dec(p, &counts[2]);

    if (p == NULL || *p++ != ':' || *p++ != ' ') {
        return NULL;
    }

    p = jpp_scan_dec(p, &counts[3]);

    return p != NULL && *p++ == ']' ? p : NULL;
}

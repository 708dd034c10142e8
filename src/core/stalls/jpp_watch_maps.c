
#include <string.h>

#include "jpp_cut.h"
#include "jpp_proc.h"
#include "jpp_scan.h"
#include "jpp_watch_maps.h"


#define JPP_WATCH_MAPS_CAP  ((size_t) 64 << 20)


static bool
jpp_watch_maps_has(const jpp_stall_t *stall, uint64_t start, uint64_t limit)
{
    uint32_t  i;

    for (i = 0; i < stall->depth; i++) {
        if (stall->pcs[i] - 1 >= start && stall->pcs[i] - 1 < limit
            && jpp_cut_name(stall->pcs[i]) == NULL)
        {
            return true;
        }
    }

    return false;
}


static const char *
jpp_watch_maps_line(const char *p, const char *end, jpp_stall_t *stall)
{
    size_t       len;
    uint64_t     start, limit;
    const char  *next, *q;

    next = memchr(p, '\n', (size_t) (end - p));

    if (next == NULL) {
        return NULL;
    }

    next++;
    limit = 0;

    q = jpp_scan_hex(p, &start);
    q = q != NULL && *q == '-' ? jpp_scan_hex(q + 1, &limit) : NULL;

    len = (size_t) (next - p);

    if (q != NULL && jpp_watch_maps_has(stall, start, limit)
        && len <= JPP_STALL_MAPS - stall->maps_len)
    {
        memcpy(stall->maps + stall->maps_len, p, len);
        stall->maps_len += (uint32_t) len;
    }

    return next;
}


void
jpp_watch_maps(jpp_stall_t *stall)
{
    jpp_vec_t    *maps;
    const char   *p, *end;
    jpp_arena_t   arena;

    stall->maps_len = 0;

    jpp_arena_init(&arena, JPP_WATCH_MAPS_CAP);

    maps = jpp_vec_create(&arena);

    if (maps != NULL && jpp_proc_maps(maps, NULL) == JPP_OK) {
        p = (const char *) maps->data;
        end = p + maps->len;

        while (p != NULL && p < end) {
            p = jpp_watch_maps_line(p, end, stall);
        }
    }

    jpp_arena_destroy(&arena);
}

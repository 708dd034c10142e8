
/* Parses the mappings of a dump.  The grammar: see src/core/base/jpp_scan.c. */


#include "jpp_dump.h"


#define JPP_DELETED  " (deleted)"


typedef struct {
    jpp_mapping_t   mapping;       /* path and file not set */
    jpp_str_t       path;          /* as written */
    bool            is_executable;
} jpp_maps_line_t;


static const char *
jpp_maps_parse(const char *p, const char *end, jpp_maps_line_t *line)
{
    size_t               len;
    const char          *nl;
    jpp_scan_mapping_t   m;

    p = jpp_scan_mapping(p, &m);
    if (p == NULL) {
        return NULL;
    }

    line->mapping.start = m.start;
    line->mapping.limit = m.limit;
    line->mapping.offset = m.offset;
    line->mapping.device = m.device;
    line->mapping.inode = m.inode;
    line->is_executable = m.is_executable;

    /* what follows is a path, usually */

    nl = memchr(p, '\n', (size_t) (end - p));
    len = (size_t) (nl - p);

    if (len > JPP_MAX_PATH || memchr(p, '\0', len) != NULL) {
        return NULL;
    }

    if (len > sizeof(JPP_DELETED) - 1
        && memcmp(nl - (sizeof(JPP_DELETED) - 1), JPP_DELETED,
                  sizeof(JPP_DELETED) - 1)
           == 0)
    {
        len -= sizeof(JPP_DELETED) - 1;
        line->mapping.deleted = true;
    }

    line->path.data = p;
    line->path.len = len;

    return nl + 1;
}


/* Every line of TEXT, and the check for missing ones. */

static jpp_code_t
jpp_maps_lines(const char *text, size_t len, const char *tail,
    jpp_vec_t *lines, jpp_err_t *err)
{
    bool              is_listing;
    size_t            n;
    uint64_t          limit;
    const char       *p, *end;
    jpp_maps_line_t  *line;

    is_listing = false;
    limit = 0;
    line = NULL;
    p = text;
    end = text + len;

    for (n = 0; p < end; n++) {

        if (n == JPP_MAX_MAPS) {
            return jpp_err_line(err, JPP_ERR_LIMIT, n + 1,
                                "more than %d mappings", JPP_MAX_MAPS);
        }

        line = jpp_vec_push(lines, sizeof(jpp_maps_line_t));
        if (line == NULL) {
            return jpp_err_memory(err);
        }

        p = jpp_maps_parse(p, end, line);
        if (p == NULL) {
            return jpp_err_line(err, JPP_ERR_INPUT, n + 1,
                                "not a line of a maps section");
        }

        if (line->mapping.start < limit) {
            return jpp_err_line(err, JPP_ERR_INPUT, n + 1,
                                "this mapping overlaps the previous one, or is "
                                "out of order");
        }

        limit = line->mapping.limit;
        is_listing |= !line->is_executable;
    }

    if (line == NULL) {
        return jpp_err_line(err, JPP_ERR_CUT, 1,
                            "the maps section is empty: the dump was cut");
    }

    if (tail != NULL && is_listing
        && !jpp_str_equal(line->path, (jpp_str_t) { tail, strlen(tail) }))
    {
        return jpp_err_line(err, JPP_ERR_TAIL, n,
                            "the maps section does not end with \"%s\", as it "
                            "does on this kernel: the dump was cut, or comes "
                            "from another kernel", tail);
    }

    return JPP_OK;
}


/* The path as it is opened: a newline is written as \012. */

static char *
jpp_maps_unescape(jpp_arena_t *arena, jpp_str_t path)
{
    char        *copy, *to;
    const char  *from, *end;

    copy = jpp_arena_strndup(arena, path.data, path.len);
    to = copy;

    from = path.data;
    end = from + path.len;

    while (to != NULL && from < end) {

        if (jpp_scan_text(from, end, "\\012") != NULL) {
            *to++ = '\n';
            from += 4;

        } else {
            *to++ = *from++;
        }
    }

    if (to != NULL) {
        *to = '\0';
    }

    return copy;
}


static uint32_t
jpp_maps_add(jpp_profile_t *profile, const jpp_maps_line_t *line)
{
    const char     *shown;
    jpp_mapping_t   mapping;

    mapping = line->mapping;
    mapping.path = jpp_maps_unescape(profile->arena, line->path);

    shown = line->path.len == 0
            ? "[anon]"
            : jpp_arena_strndup(profile->arena, line->path.data,
                                line->path.len);

    return shown != NULL && mapping.path != NULL
           ? jpp_profile_mapping(profile, &mapping, shown) : 0;
}


jpp_code_t
jpp_maps_read(jpp_profile_t *profile, const char *text, size_t len,
    const char *tail, jpp_vec_t *maps, jpp_err_t *err)
{
    uint32_t          id;
    jpp_map_t        *map;
    jpp_vec_t        *lines;
    jpp_code_t        rc;
    jpp_mapping_t    *mapping;
    jpp_maps_line_t  *line, *first;

    lines = jpp_vec_create(profile->arena);
    if (lines == NULL) {
        return jpp_err_memory(err);
    }

    rc = jpp_maps_lines(text, len, tail, lines, err);
    if (rc != JPP_OK) {
        return rc;
    }

    /*
     * The main program is the file with the lowest addresses.  Adding its
     * mappings before all others gives them the first ids.
     */

    jpp_vec_each(first, lines) {
        if (first->path.len != 0) {
            break;
        }
    }

    jpp_vec_each(line, lines) {
        if (line->is_executable && line->path.len != 0
            && jpp_str_equal(line->path, first->path)
            && jpp_maps_add(profile, line) == 0)
        {
            return jpp_err_memory(err);
        }
    }

    jpp_vec_each(line, lines) {

        if (!line->is_executable) {
            continue;
        }

        id = jpp_maps_add(profile, line);
        map = jpp_vec_push(maps, sizeof(jpp_map_t));

        if (id == 0 || map == NULL) {
            return jpp_err_memory(err);
        }

        mapping = jpp_profile_mapping_at(profile, id);

        map->start = line->mapping.start;
        map->limit = line->mapping.limit;
        map->shift = mapping->start - map->start;
        map->mapping = id;
        map->is_allocator = jpp_allocator_is_library(mapping->path);
    }

    jpp_vec_release(lines);

    return JPP_OK;
}


const jpp_map_t *
jpp_maps_find(const jpp_vec_t *maps, uint64_t address)
{
    size_t            low, high, middle;
    const jpp_map_t  *map;

    map = jpp_vec_items(maps, jpp_map_t);
    low = 0;
    high = jpp_vec_count(maps, jpp_map_t);

    while (low < high) {
        middle = (low + high) / 2;

        if (address < map[middle].start) {
            high = middle;

        } else if (address >= map[middle].limit) {
            low = middle + 1;

        } else {
            return &map[middle];
        }
    }

    return NULL;
}

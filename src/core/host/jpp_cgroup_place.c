
/*
 * proc(5), cgroups(7):
 *
 *     /proc/self/cgroup     id ":" controllers ":" path
 *     /proc/self/mountinfo  id parent device root mount options tag* "-" type
 *                           source options
 *
 * The memory controller is one of version 1 if a line names it; else it is
 * that of version 2, whose line names none.  A mount may show a part of the
 * hierarchy only: its root is then the path of that part, and the process's
 * path begins with it.  A process outside of that part is taken to be at its
 * root, which is what a container without a namespace of its own shows.
 */


#include <string.h>

#include "jpp_cgroup_place.h"


/* of a line of mountinfo: where its root and its mount point stand */
#define JPP_CGROUP_ROOT    3
#define JPP_CGROUP_MOUNT   4
#define JPP_CGROUP_FIELDS  6


/* whether WORD is one of a list with commas */

static bool
jpp_cgroup_place_has(const char *list, const char *word)
{
    size_t  len, n;

    for (len = strlen(word); *list != '\0'; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");

        if (n == len && memcmp(list, word, n) == 0) {
            return true;
        }
    }

    return false;
}


static void
jpp_cgroup_place_own(jpp_cgroup_place_t *place, jpp_lines_t *lines)
{
    char  *line, *list, *path;

    place->version = 0;

    while (place->version != 1 && (line = jpp_lines_next(lines)) != NULL) {

        list = strchr(line, ':');
        path = list != NULL ? strchr(++list, ':') : NULL;

        if (path == NULL || path[1] != '/'
            || strlen(path + 1) >= JPP_CGROUP_PATH)
        {
            continue;
        }

        *path++ = '\0';

        if (jpp_cgroup_place_has(list, "memory")) {
            place->version = 1;

        } else if (*list == '\0') {
            place->version = 2;

        } else {
            continue;
        }

        memcpy(place->path, path, strlen(path) + 1);
    }
}


/* LINE is the rest from the tags on: "shared:9 - cgroup cgroup rw,memory" */

static bool
jpp_cgroup_place_is(uint32_t version, const char *line)
{
    const char  *type, *options;

    type = strncmp(line, "- ", 2) == 0 ? line : strstr(line, " - ");
    if (type == NULL) {
        return false;
    }

    type += 2 + (*type == ' ');

    if (version == 2) {
        return strncmp(type, "cgroup2 ", 8) == 0;
    }

    options = strrchr(type, ' ');

    return strncmp(type, "cgroup ", 7) == 0
           && jpp_cgroup_place_has(options + 1, "memory");
}


/* blank, tab, newline and backslash are written as "\ooo" */

static bool
jpp_cgroup_place_unescape(const char *from, char *to)
{
    size_t  n;

    for (n = 0; *from != '\0' && n < JPP_CGROUP_PATH - 1; n++) {

        if (from[0] == '\\' && strspn(from + 1, "01234567") >= 3) {
            to[n] = (char) ((from[1] - '0') << 6 | (from[2] - '0') << 3
                            | (from[3] - '0'));
            from += 4;

        } else {
            to[n] = *from++;
        }
    }

    to[n] = '\0';

    return *from == '\0' && to[0] == '/';
}


static bool
jpp_cgroup_place_mount(jpp_cgroup_place_t *place, jpp_lines_t *lines,
    char root[JPP_CGROUP_PATH])
{
    char    *line, *p, *field[JPP_CGROUP_FIELDS];
    size_t   n;

    while ((line = jpp_lines_next(lines)) != NULL) {

        for (n = 0, p = line; n < JPP_CGROUP_FIELDS && *p != '\0'; n++) {
            field[n] = p;
            p += strcspn(p, " ");

            if (*p == ' ') {
                *p++ = '\0';
            }
        }

        if (n == JPP_CGROUP_FIELDS
            && jpp_cgroup_place_is(place->version, p)
            && jpp_cgroup_place_unescape(field[JPP_CGROUP_ROOT], root)
            && jpp_cgroup_place_unescape(field[JPP_CGROUP_MOUNT],
                                         place->mount))
        {
            return true;
        }
    }

    return false;
}


static const char *
jpp_cgroup_place_below(const char *path, const char *root)
{
    size_t  len;

    len = strlen(root);
    len -= root[len - 1] == '/';

    if (strncmp(path, root, len) != 0
        || (path[len] != '/' && path[len] != '\0')
        || strstr(path, "/..") != NULL)
    {
        return "/";
    }

    return path[len] != '\0' ? path + len : "/";
}


jpp_code_t
jpp_cgroup_place_find(jpp_cgroup_place_t *place, jpp_lines_t *own,
    jpp_lines_t *mounts, jpp_err_t *err)
{
    char         root[JPP_CGROUP_PATH];
    const char  *path;

    jpp_cgroup_place_own(place, own);

    if (own->error != 0) {
        return jpp_err_set(err, JPP_ERR_DENIED, "/proc/self/cgroup cannot be "
                           "read: %s", strerror(own->error));
    }

    if (place->version == 0) {
        return jpp_err_set(err, JPP_ERR_DENIED, "/proc/self/cgroup names no "
                           "cgroup that could limit memory");
    }

    if (!jpp_cgroup_place_mount(place, mounts, root)) {
        return jpp_err_set(err, JPP_ERR_DENIED, "the memory controller of "
                           "cgroups (version %u) is not mounted here",
                           (unsigned) place->version);
    }

    path = jpp_cgroup_place_below(place->path, root);
    memmove(place->path, path, strlen(path) + 1);

    return JPP_OK;
}


#include "jpp_cgroup.h"


/* version 1 has no way to say that there is no limit but a large one */
#define JPP_CGROUP_UNLIMITED  ((uint64_t) 1 << 62)


#define JPP_CGROUP_STAT(name)                                                 \
    { #name, offsetof(jpp_cgroup_stat_t, name) }

const jpp_keys_row_t  jpp_cgroup_stat_rows[] = {
    JPP_CGROUP_STAT(anon),
    JPP_CGROUP_STAT(file),
    JPP_CGROUP_STAT(kernel),
    JPP_CGROUP_STAT(kernel_stack),
    JPP_CGROUP_STAT(pagetables),
    JPP_CGROUP_STAT(percpu),
    JPP_CGROUP_STAT(sock),
    JPP_CGROUP_STAT(shmem),
    JPP_CGROUP_STAT(file_dirty),
    JPP_CGROUP_STAT(anon_thp),
    JPP_CGROUP_STAT(inactive_file),
    JPP_CGROUP_STAT(slab_reclaimable),
    JPP_CGROUP_STAT(slab_unreclaimable),
};

const size_t  jpp_cgroup_n_stat_rows = sizeof(jpp_cgroup_stat_rows)
                                       / sizeof(jpp_cgroup_stat_rows[0]);


#define JPP_CGROUP_EVENT(name)                                                \
    { #name, offsetof(jpp_cgroup_events_t, name) }

const jpp_keys_row_t  jpp_cgroup_events_rows[] = {
    JPP_CGROUP_EVENT(low),
    JPP_CGROUP_EVENT(high),
    JPP_CGROUP_EVENT(max),
    JPP_CGROUP_EVENT(oom),
    JPP_CGROUP_EVENT(oom_kill),
    JPP_CGROUP_EVENT(oom_group_kill),
};

const size_t  jpp_cgroup_n_events_rows = sizeof(jpp_cgroup_events_rows)
                                         / sizeof(jpp_cgroup_events_rows[0]);


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


/* how the versions call their files; NULL: it has none */

typedef struct {
    const char  *usage;
    const char  *limit;
    const char  *high;
    const char  *low;
    const char  *peak;
    const char  *swap_usage;           /* of version 1: memory and swap */
    const char  *swap_limit;
} jpp_cgroup_names_t;


/* where its files are, and the one that is read: off the stack of parsers */

typedef struct {
    char         mount[JPP_CGROUP_PATH * 2];
    char         file[JPP_CGROUP_PATH * 3];
} jpp_cgroup_files_t;


static const jpp_cgroup_names_t  jpp_cgroup_names[] = {
    { "memory.usage_in_bytes", "memory.limit_in_bytes", NULL, NULL,
      "memory.max_usage_in_bytes", "memory.memsw.usage_in_bytes",
      "memory.memsw.limit_in_bytes" },
    { "memory.current", "memory.max", "memory.high", "memory.low",
      "memory.peak", "memory.swap.current", "memory.swap.max" },
};


/* the same of version 1, whose total_* include the cgroups below */

static const jpp_keys_row_t  jpp_cgroup_stat_rows_1[] = {
    { "total_cache", offsetof(jpp_cgroup_stat_t, file) },
    { "total_rss", offsetof(jpp_cgroup_stat_t, anon) },
    { "total_rss_huge", offsetof(jpp_cgroup_stat_t, anon_thp) },
    { "total_shmem", offsetof(jpp_cgroup_stat_t, shmem) },
    { "total_dirty", offsetof(jpp_cgroup_stat_t, file_dirty) },
    { "total_inactive_file", offsetof(jpp_cgroup_stat_t, inactive_file) },
};


/* apart, so that its buffers are off the stack before files are read */

static __attribute__((noinline)) jpp_code_t
jpp_cgroup_where(jpp_cgroup_t *cgroup, jpp_cgroup_files_t *files,
    const char *root, jpp_err_t *err)
{
    jpp_code_t           code;
    jpp_lines_t          own, mounts;
    jpp_cgroup_place_t   place;

    (void) snprintf(files->file, sizeof(files->file), "%s/proc/self/cgroup",
                    root);
    (void) jpp_lines_open(&own, files->file);

    (void) snprintf(files->file, sizeof(files->file),
                    "%s/proc/self/mountinfo", root);
    (void) jpp_lines_open(&mounts, files->file);

    code = jpp_cgroup_place_find(&place, &own, &mounts, err);

    jpp_lines_close(&own);
    jpp_lines_close(&mounts);

    if (code == JPP_OK) {
        cgroup->version = place.version;
        memcpy(cgroup->path, place.path, sizeof(cgroup->path));
        (void) snprintf(files->mount, sizeof(files->mount), "%s%s", root,
                        place.mount);
    }

    return code;
}


static bool
jpp_cgroup_file(const jpp_cgroup_t *cgroup, jpp_cgroup_files_t *files,
    size_t len, const char *name)
{
    int  n;

    n = snprintf(files->file, sizeof(files->file), "%s%.*s/%s", files->mount,
                 (int) len, cgroup->path, name);

    return n > 0 && (size_t) n < sizeof(files->file);
}


static uint64_t
jpp_cgroup_number(const jpp_cgroup_t *cgroup, jpp_cgroup_files_t *files,
    size_t len, const char *name)
{
    if (name == NULL || !jpp_cgroup_file(cgroup, files, len, name)) {
        return JPP_NONE;
    }

    return jpp_keys_file(files->file);
}


/*
 * A level that cannot be read is passed over: the root of version 2 has no
 * usage, and a container may not see the path that the kernel reports.
 */

static void
jpp_cgroup_levels(jpp_cgroup_t *cgroup, jpp_cgroup_files_t *files)
{
    size_t                     len;
    jpp_cgroup_level_t        *level;
    const jpp_cgroup_names_t  *names;

    names = &jpp_cgroup_names[cgroup->version - 1];
    len = strlen(cgroup->path);
    len -= cgroup->path[len - 1] == '/';

    for ( ;; ) {
        level = &cgroup->levels[cgroup->n_levels];

        level->len = len;
        level->usage = jpp_cgroup_number(cgroup, files, len, names->usage);
        level->limit = jpp_cgroup_number(cgroup, files, len, names->limit);
        level->high = jpp_cgroup_number(cgroup, files, len, names->high);

        if (level->limit >= JPP_CGROUP_UNLIMITED) {
            level->limit = JPP_NONE;
        }

        cgroup->n_levels += level->usage != JPP_NONE;

        if (len == 0) {
            break;
        }

        if (cgroup->n_levels == JPP_CGROUP_LEVELS) {
            cgroup->is_deeper = true;
            break;
        }

        do {
            len--;
        } while (cgroup->path[len] != '/');
    }
}


/* what version 1 has elsewhere; and of swap alone, as version 2 has it */

static void
jpp_cgroup_itself_1(jpp_cgroup_t *cgroup, jpp_cgroup_files_t *files)
{
    size_t                len;
    const jpp_keys_row_t  row = { "oom_kill", 0 };

    len = cgroup->levels[0].len;

    if (cgroup->swap_usage != JPP_NONE) {
        cgroup->swap_usage -= cgroup->swap_usage > cgroup->usage
                              ? cgroup->usage : cgroup->swap_usage;
    }

    if (cgroup->swap_limit >= JPP_CGROUP_UNLIMITED
        || cgroup->levels[0].limit == JPP_NONE)
    {
        cgroup->swap_limit = JPP_NONE;

    } else {
        cgroup->swap_limit -= cgroup->levels[0].limit;
    }

    cgroup->stat.kernel = jpp_cgroup_number(cgroup, files, len,
                                            "memory.kmem.usage_in_bytes");
    cgroup->stat.sock = jpp_cgroup_number(cgroup, files, len,
                                          "memory.kmem.tcp.usage_in_bytes");
    cgroup->events.max = jpp_cgroup_number(cgroup, files, len,
                                           "memory.failcnt");

    (void) jpp_cgroup_file(cgroup, files, len, "memory.oom_control");
    (void) jpp_keys_read(&row, 1, files->file, &cgroup->events.oom_kill);
}


static void
jpp_cgroup_itself(jpp_cgroup_t *cgroup, jpp_cgroup_files_t *files)
{
    size_t                     len;
    const jpp_cgroup_names_t  *names;

    names = &jpp_cgroup_names[cgroup->version - 1];
    len = cgroup->levels[0].len;

    cgroup->usage = cgroup->levels[0].usage;
    cgroup->low = jpp_cgroup_number(cgroup, files, len, names->low);
    cgroup->peak = jpp_cgroup_number(cgroup, files, len, names->peak);
    cgroup->swap_usage = jpp_cgroup_number(cgroup, files, len,
                                           names->swap_usage);
    cgroup->swap_limit = jpp_cgroup_number(cgroup, files, len,
                                           names->swap_limit);

    (void) jpp_cgroup_file(cgroup, files, len, "memory.stat");

    if (cgroup->version == 2) {
        (void) jpp_keys_read(jpp_cgroup_stat_rows, jpp_cgroup_n_stat_rows,
                             files->file, &cgroup->stat);

        (void) jpp_cgroup_file(cgroup, files, len, "memory.events");
        (void) jpp_keys_read(jpp_cgroup_events_rows, jpp_cgroup_n_events_rows,
                             files->file, &cgroup->events);

        (void) jpp_cgroup_file(cgroup, files, len, "memory.pressure");
        (void) jpp_pressure_read(&cgroup->pressure, files->file);

    } else {
        (void) jpp_keys_read(jpp_cgroup_stat_rows_1,
                             sizeof(jpp_cgroup_stat_rows_1)
                             / sizeof(jpp_cgroup_stat_rows_1[0]),
                             files->file, &cgroup->stat);

        jpp_cgroup_itself_1(cgroup, files);
    }

    if (cgroup->stat.inactive_file != JPP_NONE) {
        cgroup->working_set = jpp_less(cgroup->usage,
                                       cgroup->stat.inactive_file);
    }
}


jpp_code_t
jpp_cgroup_read(jpp_cgroup_t *cgroup, const char *root, jpp_err_t *err)
{
    size_t                     i;
    uint64_t                   room;
    jpp_code_t                 code;
    jpp_cgroup_files_t         files;
    const jpp_cgroup_level_t  *level;

    /* numbers that are not there, until they are */

    memset(cgroup, 0xff, sizeof(jpp_cgroup_t));
    cgroup->version = 0;
    cgroup->path[0] = '\0';
    cgroup->n_levels = 0;
    cgroup->binding = 0;
    cgroup->is_deeper = false;

    files.mount[0] = '\0';
    files.file[0] = '\0';

    code = jpp_cgroup_where(cgroup, &files, root, err);

    if (code != JPP_OK) {
        return code;
    }

    jpp_cgroup_levels(cgroup, &files);

    if (cgroup->n_levels == 0) {
        return jpp_err_set(err, JPP_ERR_DENIED, "the kernel shows no memory "
                           "usage of cgroup %s below %s", cgroup->path,
                           files.mount + strlen(root));
    }

    cgroup->binding = cgroup->n_levels;

    for (i = 0; i < cgroup->n_levels; i++) {
        level = &cgroup->levels[i];

        if (level->limit == JPP_NONE) {
            continue;
        }

        room = jpp_less(level->limit, level->usage);

        if (room < cgroup->headroom) {
            cgroup->headroom = room;
            cgroup->binding = i;
        }
    }

    jpp_cgroup_itself(cgroup, &files);

    return JPP_OK;
}

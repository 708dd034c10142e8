
/*
 * The memory of this process's cgroup and its parents: usage, limit, and
 * headroom.
 */


#include "jpp_host.h"


/* version 1 has no way to say that there is no limit but a large one */
#define JPP_CGROUP_UNLIMITED  ((uint64_t) 1 << 62)


#define JPP_CGROUP_STAT_ROW(name)                                             \
    { #name, offsetof(jpp_cgroup_stat_t, name) },

const jpp_keys_row_t  jpp_cgroup_stat_rows[] = {
    JPP_CGROUP_STAT(JPP_CGROUP_STAT_ROW)
    { NULL, 0 }
};


#define JPP_CGROUP_EVENT_ROW(name)                                            \
    { #name, offsetof(jpp_cgroup_events_t, name) },

const jpp_keys_row_t  jpp_cgroup_events_rows[] = {
    JPP_CGROUP_EVENTS(JPP_CGROUP_EVENT_ROW)
    { NULL, 0 }
};


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


static void
jpp_cgroup_place_own(jpp_cgroup_t *cgroup, jpp_lines_t *lines)
{
    char  *line, *list, *path;

    cgroup->version = 0;

    while (cgroup->version != 1 && (line = jpp_lines_next(lines)) != NULL) {

        list = strchr(line, ':');
        path = list != NULL ? strchr(++list, ':') : NULL;

        if (path == NULL || path[1] != '/' || strlen(path) > JPP_CGROUP_PATH) {
            continue;
        }

        *path++ = '\0';

        if (jpp_scan_has_word(list, strlen(list), ",", "memory")) {
            cgroup->version = 1;

        } else if (*list == '\0') {
            cgroup->version = 2;

        } else {
            continue;
        }

        memcpy(cgroup->path, path, strlen(path) + 1);
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
           && jpp_scan_has_word(options, strlen(options), " ,", "memory");
}


/* blank, tab, newline and backslash are written as "\ooo" */

static bool
jpp_cgroup_place_unescape(const char *from, char *to)
{
    size_t  n;

    for (n = 0; *from != '\0' && n < JPP_CGROUP_PATH - 1; n++) {

        if (from[0] == '\\' && strspn(from + 1, "01234567") >= 3) {
            to[n] = (char) (from[1] << 6 | (from[2] & 7) << 3 | (from[3] & 7));
            from += 4;

        } else {
            to[n] = *from++;
        }
    }

    to[n] = '\0';

    return *from == '\0' && to[0] == '/';
}


static bool
jpp_cgroup_place_mount(uint32_t version, jpp_lines_t *lines,
    char root[JPP_CGROUP_PATH], char mount[JPP_CGROUP_PATH])
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
            && jpp_cgroup_place_is(version, p)
            && jpp_cgroup_place_unescape(field[JPP_CGROUP_ROOT], root)
            && jpp_cgroup_place_unescape(field[JPP_CGROUP_MOUNT], mount))
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
jpp_cgroup_place_find(jpp_cgroup_t *cgroup, char mount[JPP_CGROUP_PATH],
    jpp_lines_t *own, jpp_lines_t *mounts, jpp_err_t *err)
{
    char         root[JPP_CGROUP_PATH];
    const char  *path;

    jpp_cgroup_place_own(cgroup, own);

    if (own->error != 0) {
        return jpp_err_set(err, JPP_ERR_DENIED, "/proc/self/cgroup cannot be "
                           "read: %s", strerror(own->error));
    }

    if (cgroup->version == 0) {
        return jpp_err_set(err, JPP_ERR_DENIED, "/proc/self/cgroup names no "
                           "cgroup that could limit memory");
    }

    if (!jpp_cgroup_place_mount(cgroup->version, mounts, root, mount)) {
        return jpp_err_set(err, JPP_ERR_DENIED, "the memory controller of "
                           "cgroups (version %u) is not mounted here",
                           (unsigned) cgroup->version);
    }

    path = jpp_cgroup_place_below(cgroup->path, root);
    memmove(cgroup->path, path, strlen(path) + 1);

    return JPP_OK;
}


/* the files of one number: of each level, and of the cgroup itself */

#define JPP_CGROUP_LEVEL(name)  offsetof(jpp_cgroup_level_t, name)
#define JPP_CGROUP_ITSELF(name)  offsetof(jpp_cgroup_t, name)

static const jpp_keys_row_t  jpp_cgroup_level_1[] = {
    { "memory.usage_in_bytes", JPP_CGROUP_LEVEL(usage) },
    { "memory.limit_in_bytes", JPP_CGROUP_LEVEL(limit) },
    { NULL, 0 }
};

static const jpp_keys_row_t  jpp_cgroup_level_2[] = {
    { "memory.current", JPP_CGROUP_LEVEL(usage) },
    { "memory.max", JPP_CGROUP_LEVEL(limit) },
    { "memory.high", JPP_CGROUP_LEVEL(high) },
    { NULL, 0 }
};

static const jpp_keys_row_t  jpp_cgroup_itself_1[] = {
    { "memory.max_usage_in_bytes", JPP_CGROUP_ITSELF(peak) },
    { "memory.memsw.usage_in_bytes", JPP_CGROUP_ITSELF(swap_usage) },
    { "memory.memsw.limit_in_bytes", JPP_CGROUP_ITSELF(swap_limit) },
    { "memory.kmem.usage_in_bytes", JPP_CGROUP_ITSELF(stat.kernel) },
    { "memory.kmem.tcp.usage_in_bytes", JPP_CGROUP_ITSELF(stat.sock) },
    { "memory.failcnt", JPP_CGROUP_ITSELF(events.max) },
    { NULL, 0 }
};

static const jpp_keys_row_t  jpp_cgroup_itself_2[] = {
    { "memory.low", JPP_CGROUP_ITSELF(low) },
    { "memory.peak", JPP_CGROUP_ITSELF(peak) },
    { "memory.swap.current", JPP_CGROUP_ITSELF(swap_usage) },
    { "memory.swap.max", JPP_CGROUP_ITSELF(swap_limit) },
    { NULL, 0 }
};


/* of version 1, whose total_* include the cgroups below */

static const jpp_keys_row_t  jpp_cgroup_stat_rows_1[] = {
    { "total_cache", offsetof(jpp_cgroup_stat_t, file) },
    { "total_rss", offsetof(jpp_cgroup_stat_t, anon) },
    { "total_rss_huge", offsetof(jpp_cgroup_stat_t, anon_thp) },
    { "total_shmem", offsetof(jpp_cgroup_stat_t, shmem) },
    { "total_dirty", offsetof(jpp_cgroup_stat_t, file_dirty) },
    { "total_inactive_file", offsetof(jpp_cgroup_stat_t, inactive_file) },
    { NULL, 0 }
};

static const jpp_keys_row_t  jpp_cgroup_events_rows_1[] = {
    JPP_CGROUP_EVENT_ROW(oom_kill)
    { NULL, 0 }
};


/* by version, from 1 */

static const struct {
    const jpp_keys_row_t  *level;
    const jpp_keys_row_t  *itself;
    const jpp_keys_row_t  *stat;
    const char            *events;
    const jpp_keys_row_t  *events_rows;
} jpp_cgroup_versions[] = {
    { jpp_cgroup_level_1, jpp_cgroup_itself_1, jpp_cgroup_stat_rows_1,
      "memory.oom_control", jpp_cgroup_events_rows_1 },
    { jpp_cgroup_level_2, jpp_cgroup_itself_2, jpp_cgroup_stat_rows,
      "memory.events", jpp_cgroup_events_rows },
};


/* where its files are, and the one that is read: off the stack of parsers */

typedef struct {
    char         mount[JPP_CGROUP_PATH * 2];
    char         file[JPP_CGROUP_PATH * 3];
} jpp_cgroup_files_t;


/* apart, so that its buffers are off the stack before files are read */

static __attribute__((noinline)) jpp_code_t
jpp_cgroup_where(jpp_cgroup_t *cgroup, jpp_cgroup_files_t *files,
    const char *root, jpp_err_t *err)
{
    char         mount[JPP_CGROUP_PATH] = "";
    jpp_code_t   code;
    jpp_lines_t  own, mounts;

    jpp_print(files->file, "%s/proc/self/cgroup", root);
    (void) jpp_lines_open(&own, files->file);

    jpp_print(files->file, "%s/proc/self/mountinfo", root);
    (void) jpp_lines_open(&mounts, files->file);

    code = jpp_cgroup_place_find(cgroup, mount, &own, &mounts, err);

    jpp_lines_close(&own);
    jpp_lines_close(&mounts);

    jpp_print(files->mount, "%s%s", root, mount);

    return code;
}


/* The file NAME, or with "" the folder, of the cgroup whose path has LEN. */

static const char *
jpp_cgroup_file(const jpp_cgroup_t *cgroup, jpp_cgroup_files_t *files,
    size_t len, const char *name)
{
    jpp_print(files->file, "%s%.*s/%s", files->mount, (int) len, cgroup->path,
              name);

    return files->file;
}


/*
 * A level that cannot be read is passed over: the root of version 2 has no
 * usage, and a container may not see the path that the kernel reports.
 */

static void
jpp_cgroup_levels(jpp_cgroup_t *cgroup, jpp_cgroup_files_t *files)
{
    size_t               len;
    jpp_cgroup_level_t  *level;

    len = strlen(cgroup->path);
    len -= cgroup->path[len - 1] == '/';

    for ( ;; ) {
        level = &cgroup->levels[cgroup->n_levels];

        level->len = len;
        jpp_keys_files(jpp_cgroup_versions[cgroup->version - 1].level,
                       jpp_cgroup_file(cgroup, files, len, ""), level);

        if (level->limit >= JPP_CGROUP_UNLIMITED) {
            level->limit = JPP_NONE;
        }

        cgroup->n_levels += level->usage != JPP_NONE;

        if (len == 0 || cgroup->n_levels == JPP_CGROUP_LEVELS) {
            break;
        }

        do {
            len--;
        } while (cgroup->path[len] != '/');
    }
}


/* Version 1 counts memory and swap together: of swap alone, as version 2. */

static void
jpp_cgroup_swap_1(jpp_cgroup_t *cgroup)
{
    if (cgroup->swap_usage != JPP_NONE) {
        cgroup->swap_usage -= jpp_smaller(cgroup->swap_usage, cgroup->usage);
    }

    if (cgroup->swap_limit >= JPP_CGROUP_UNLIMITED
        || cgroup->levels[0].limit == JPP_NONE)
    {
        cgroup->swap_limit = JPP_NONE;

    } else {
        cgroup->swap_limit -= cgroup->levels[0].limit;
    }
}


static void
jpp_cgroup_itself(jpp_cgroup_t *cgroup, jpp_cgroup_files_t *files)
{
    size_t    len;
    uint32_t  i;

    i = cgroup->version - 1;
    len = cgroup->levels[0].len;
    cgroup->usage = cgroup->levels[0].usage;

    jpp_keys_files(jpp_cgroup_versions[i].itself,
                   jpp_cgroup_file(cgroup, files, len, ""), cgroup);
    (void) jpp_keys_read(jpp_cgroup_versions[i].stat,
                         jpp_cgroup_file(cgroup, files, len, "memory.stat"),
                         &cgroup->stat);
    (void) jpp_keys_read(jpp_cgroup_versions[i].events_rows,
                         jpp_cgroup_file(cgroup, files, len,
                                         jpp_cgroup_versions[i].events),
                         &cgroup->events);
    jpp_pressure_read(&cgroup->pressure,
                      jpp_cgroup_file(cgroup, files, len, "memory.pressure"));

    if (cgroup->version == 1) {
        jpp_cgroup_swap_1(cgroup);
    }

    if (cgroup->stat.inactive_file != JPP_NONE) {
        cgroup->working_set = jpp_less(cgroup->usage,
                                       cgroup->stat.inactive_file);
    }
}


static jpp_code_t
jpp_cgroup_find(jpp_cgroup_t *cgroup, jpp_cgroup_files_t *files,
    const char *root, jpp_err_t *err)
{
    uint64_t                   room;
    jpp_code_t                 code;
    const jpp_cgroup_level_t  *level;

    /* numbers that are not there, until they are */

    memset(cgroup, 0xff, sizeof(jpp_cgroup_t));
    cgroup->version = 0;
    cgroup->path[0] = '\0';
    cgroup->n_levels = 0;
    cgroup->binding = 0;

    code = jpp_cgroup_where(cgroup, files, root, err);

    if (code != JPP_OK) {
        return code;
    }

    jpp_cgroup_levels(cgroup, files);

    if (cgroup->n_levels == 0) {
        return jpp_err_set(err, JPP_ERR_DENIED, "the kernel shows no memory "
                           "usage of cgroup %s below %s", cgroup->path,
                           files->mount + strlen(root));
    }

    cgroup->binding = cgroup->n_levels;

    jpp_each(level, cgroup->levels, cgroup->n_levels) {
        room = jpp_less(level->limit, level->usage);

        if (level->limit != JPP_NONE && room < cgroup->headroom) {
            cgroup->headroom = room;
            cgroup->binding = (size_t) (level - cgroup->levels);
        }
    }

    return JPP_OK;
}


jpp_code_t
jpp_cgroup_read(jpp_cgroup_t *cgroup, const char *root, jpp_err_t *err)
{
    jpp_code_t          code;
    jpp_cgroup_files_t  files;

    code = jpp_cgroup_find(cgroup, &files, root, err);

    if (code == JPP_OK) {
        jpp_cgroup_itself(cgroup, &files);
    }

    return code;
}


/* A longer path cannot be opened. */

static void
jpp_cgroup_copy(char to[JPP_CGROUP_PATH], const char *path)
{
    size_t  len;

    len = strlen(path);
    memcpy(to, path, jpp_smaller(len + 1, JPP_CGROUP_PATH));
    to[JPP_CGROUP_PATH - 1] = '\0';
}


void
jpp_cgroup_watch(jpp_cgroup_watch_t *watch, const char *root)
{
    uint32_t                   i;
    jpp_cgroup_t               cgroup;
    jpp_cgroup_files_t         files;
    const jpp_cgroup_level_t  *level;

    watch->limit = JPP_NONE;
    watch->rows = NULL;

    if (jpp_cgroup_find(&cgroup, &files, root, NULL) != JPP_OK) {
        return;
    }

    i = cgroup.version - 1;

    watch->rows = jpp_cgroup_versions[i].events_rows;
    jpp_cgroup_copy(watch->events,
                    jpp_cgroup_file(&cgroup, &files, cgroup.levels[0].len,
                                    jpp_cgroup_versions[i].events));

    if (cgroup.binding < cgroup.n_levels) {
        level = &cgroup.levels[cgroup.binding];

        watch->limit = level->limit;
        jpp_cgroup_copy(watch->usage,
                        jpp_cgroup_file(&cgroup, &files, level->len,
                                        jpp_cgroup_versions[i].level[0].key));

        watch->stat_rows = jpp_cgroup_versions[i].stat;
        jpp_cgroup_copy(watch->stat,
                        jpp_cgroup_file(&cgroup, &files, level->len,
                                        "memory.stat"));
    }
}


void
jpp_cgroup_look(const jpp_cgroup_watch_t *watch, uint64_t *usage,
    uint64_t *kills)
{
    jpp_cgroup_stat_t    stat;
    jpp_cgroup_events_t  events;

    *usage = watch->limit != JPP_NONE ? jpp_keys_file(watch->usage) : JPP_NONE;
    *kills = JPP_NONE;

    if (*usage != JPP_NONE && *usage > watch->limit / 2
        && jpp_keys_read(watch->stat_rows, watch->stat, &stat) == 0)
    {
        *usage = jpp_less(*usage, jpp_known(stat.inactive_file));
    }

    if (watch->rows != NULL
        && jpp_keys_read(watch->rows, watch->events, &events) == 0)
    {
        *kills = events.oom_kill;
    }
}

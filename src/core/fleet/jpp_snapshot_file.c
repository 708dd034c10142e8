
/*
 * Files of snapshots: nginx-snapshot-HOST-20261123T100005Z-7-limit.tar.gz.
 *
 * A file gets its name when it is whole (O_TMPFILE, linkat()), and never that
 * of another.  The directory must be what the configuration names, no link, and
 * nobody else may write there: files are removed by name.
 */


#include "jpp_snapshots.h"

#include <sys/stat.h>


#define JPP_SNAPSHOT_FILE    160
#define JPP_SNAPSHOT_PREFIX  "nginx-snapshot-"
#define JPP_SNAPSHOT_SUFFIX  ".tar.gz"

/* of a name of a machine */
#define JPP_SNAPSHOT_HOST    64

/* removed at once: as many more as were kept before */
#define JPP_SNAPSHOT_GONE    256


static void
jpp_snapshot_prefix(char prefix[JPP_SNAPSHOT_FILE], const char *host)
{
    char  *p;

    (void) snprintf(prefix, JPP_SNAPSHOT_FILE, JPP_SNAPSHOT_PREFIX "%.*s-",
                    JPP_SNAPSHOT_HOST, host);

    for (p = prefix; *p != '\0'; p++) {
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                   "0123456789.-", *p)
            == NULL)
        {
            *p = '_';
        }
    }
}


static jpp_code_t
jpp_snapshot_directory(const char *path, int *fd, jpp_err_t *err)
{
    struct stat  st;

    *fd = open(path, O_RDONLY|O_DIRECTORY|O_NOFOLLOW|O_CLOEXEC);

    if (*fd == -1) {
        return jpp_err_sys(err, errno, "cannot open the directory %.200s of "
                           "jemalloc_pprof_snapshots%s", path,
                           errno == ENOENT
                           ? " (create it, for the user of the workers)"
                           : errno == ENOTDIR || errno == ELOOP
                           ? " (it must be a directory, and no link)"
                           : errno == EACCES
                           ? " (let the user of the workers write there)"
                           : "");
    }

    if (fstat(*fd, &st) == 0
        && (st.st_uid == geteuid() || st.st_uid == 0)
        && (st.st_mode & S_IWOTH) == 0)
    {
        return JPP_OK;
    }

    (void) close(*fd);

    return jpp_err_set(err, JPP_ERR_DENIED, "nothing is written to the "
                       "directory %.200s of jemalloc_pprof_snapshots, because "
                       "others may write there: it must belong to the user of "
                       "the workers or to root, without o+w", path);
}


static jpp_code_t
jpp_snapshot_create(int directory, const char *path, const char *name,
    const uint8_t *data, size_t len, jpp_err_t *err)
{
    int   fd, error;
    char  link[sizeof("/proc/self/fd/") + 12];

    fd = openat(directory, ".", O_TMPFILE|O_WRONLY|O_CLOEXEC, 0600);

    if (fd == -1) {
        return jpp_err_sys(err, errno, "cannot create a file in %.200s%s", path,
                           errno == EOPNOTSUPP || errno == EISDIR
                           ? " (its file system has no O_TMPFILE: name a "
                             "directory on another one)"
                           : errno == EACCES
                           ? " (it must be writable for the user of the "
                             "workers)" : "");
    }

    error = jpp_write(&fd, data, len);

    if (error == 0 && fsync(fd) == -1) {
        error = errno;
    }

    jpp_print(link, "/proc/self/fd/%d", fd);

    if (error == 0
        && linkat(AT_FDCWD, link, directory, name, AT_SYMLINK_FOLLOW) == -1)
    {
        error = errno;
    }

    (void) close(fd);

    return error != 0 ? jpp_write_failed(err, error, "the file of a snapshot")
                      : JPP_OK;
}


static bool
jpp_snapshot_is_file(const char *name, const char *prefix)
{
    size_t  len, rest;

    len = strlen(name);
    rest = sizeof(JPP_SNAPSHOT_SUFFIX) - 1;

    return strncmp(name, prefix, strlen(prefix)) == 0 && len > rest
           && strcmp(name + len - rest, JPP_SNAPSHOT_SUFFIX) == 0;
}


/* Remove the oldest file, if they are too many; names sort by time. */

static bool
jpp_snapshot_remove(int directory, const char *prefix, const char *kept,
    size_t keep, uint64_t size)
{
    char              oldest[JPP_SNAPSHOT_FILE];
    size_t            n;
    uint64_t          bytes;
    const char       *name;
    struct stat       st;
    jpp_directory_t   files;

    if (lseek(directory, 0, SEEK_SET) == -1) {
        return false;
    }

    jpp_directory_init(&files, directory);
    oldest[0] = '\0';
    n = 0;
    bytes = 0;

    while ((name = jpp_directory_next(&files)) != NULL) {

        if (!jpp_snapshot_is_file(name, prefix)
            || fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) == -1
            || !S_ISREG(st.st_mode))
        {
            continue;
        }

        n++;
        bytes += (uint64_t) st.st_size;

        if (strcmp(name, kept) != 0 && strlen(name) < sizeof(oldest)
            && (oldest[0] == '\0' || strcmp(name, oldest) < 0))
        {
            jpp_print(oldest, "%s", name);
        }
    }

    return (n > keep || bytes > size) && oldest[0] != '\0'
           && unlinkat(directory, oldest, 0) == 0;
}


jpp_code_t
jpp_snapshot_file(const char *path, const char *host,
    const jpp_snapshot_t *about, const uint8_t *data, size_t len, size_t keep,
    uint64_t size, jpp_err_t *err)
{
    int          directory;
    char         prefix[JPP_SNAPSHOT_FILE], name[JPP_SNAPSHOT_FILE];
    char         time[JPP_UNITS_DATE];
    size_t       i, n;
    jpp_code_t   rc;

    rc = jpp_snapshot_directory(path, &directory, err);

    if (rc != JPP_OK) {
        return rc;
    }

    /* without what shells and other systems take amiss */

    (void) jpp_units_date(about->time, time);

    for (i = 0, n = 0; time[i] != '\0'; i++) {
        if (time[i] != '-' && time[i] != ':') {
            time[n++] = time[i];
        }
    }

    time[n] = '\0';

    jpp_snapshot_prefix(prefix, host);
    jpp_print(name, "%.90s%s-%" PRIu64 "-%s" JPP_SNAPSHOT_SUFFIX, prefix, time,
              about->id, jpp_snapshot_reasons[about->reason]);

    rc = jpp_snapshot_create(directory, path, name, data, len, err);

    for (i = 0; rc == JPP_OK && i < JPP_SNAPSHOT_GONE
                && jpp_snapshot_remove(directory, prefix, name, keep, size);
         i++)
    {
        /* void */
    }

    (void) close(directory);

    return rc;
}

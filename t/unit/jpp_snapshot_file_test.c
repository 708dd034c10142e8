
/* Files of snapshots: names, what is removed, and every directory that will
   not do. */


#include "jpp_snapshots.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>


static const char  jpp_path[] = "build/t/snapshot-files";


static jpp_code_t
jpp_file_put(const char *path, uint64_t id, size_t len, size_t keep,
    uint64_t size)
{
    jpp_err_t       err;
    jpp_code_t      rc;
    jpp_snapshot_t  about;

    static uint8_t  data[10000];

    memset(&about, 0, sizeof(jpp_snapshot_t));
    about.id = id;
    about.time = (int64_t) (1000000000 + id * 60);
    about.reason = JPP_SNAPSHOT_SOON;

    rc = jpp_snapshot_file(path, "web 1/x", &about, data, len, keep, size,
                           &err);

    if (rc != JPP_OK) {
        jpp_note("%s", err.text);
    }

    return rc;
}


static int
jpp_file_order(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}


static void
jpp_file_show(const char *what)
{
    int              i, n;
    char             path[512];
    struct stat      st;
    struct dirent  **names;

    n = scandir(jpp_path, &names, NULL, jpp_file_order);

    for (i = 0; i < n; i++) {
        if (names[i]->d_name[0] != '.') {
            jpp_print(path, "%s/%s", jpp_path, names[i]->d_name);
            (void) lstat(path, &st);
            jpp_note("%s: %ld bytes, %o", names[i]->d_name, (long) st.st_size,
                     (unsigned) st.st_mode & 0777);
        }

        free(names[i]);
    }

    free(names);
    jpp_shows_notes("%s", what);
}


static void
jpp_file_other(const char *name)
{
    int   fd;
    char  path[512];

    jpp_print(path, "%s/%s", jpp_path, name);
    fd = open(path, O_CREAT|O_WRONLY, 0644);
    (void) close(fd);
}


JPP_TEST(jpp_file_test_kept)
{
    uint64_t  id;

    (void) system("rm -rf build/t/snapshot-files");
    jpp_is_u64((uint64_t) mkdir(jpp_path, 0700), 0, "a directory");

    jpp_file_other("nginx-snapshot-other-20010909T014641Z-1-soon.tar.gz");
    jpp_file_other("nginx-snapshot-web_1_x-notes");
    jpp_file_other("report.tar.gz");

    for (id = 1; id <= 6; id++) {
        (void) jpp_file_put(jpp_path, id, 100, 3, 1000000);
    }

    jpp_file_show("three are kept, and what others have written");

    (void) jpp_file_put(jpp_path, 7, 500, 3, 650);
    jpp_file_show("650 bytes are kept");

    (void) jpp_file_put(jpp_path, 8, 9000, 3, 650);
    jpp_file_show("the new one stays, whatever it has");

    jpp_is_u64(jpp_file_put(jpp_path, 8, 1, 3, 650), JPP_ERR_SYS,
               "a name is never used twice");
    jpp_file_show("and replaces nothing");
}


JPP_TEST(jpp_file_test_directories)
{
    char           path[512];
    struct rlimit  was, limit;

    jpp_is_u64(jpp_file_put("/nowhere/at/all", 1, 1, 3, 1000), JPP_ERR_SYS,
               "gone");
    jpp_is_u64(jpp_file_put("/etc/passwd", 1, 1, 3, 1000), JPP_ERR_SYS,
               "no directory");
    jpp_is_u64(jpp_file_put("/proc", 1, 1, 3, 1000), JPP_ERR_SYS,
               "one that takes no files");

    jpp_print(path, "%s", "build/t/snapshot-link");
    (void) symlink("snapshot-files", path);
    jpp_is_u64(jpp_file_put(path, 1, 1, 3, 1000), JPP_ERR_SYS, "a link");
    (void) unlink(path);

    (void) chmod(jpp_path, 0777);
    jpp_is_u64(jpp_file_put(jpp_path, 20, 1, 3, 1000), JPP_ERR_DENIED,
               "where others may write");
    (void) chmod(jpp_path, 0700);

    (void) getrlimit(RLIMIT_FSIZE, &was);
    limit = was;
    limit.rlim_cur = 10;
    (void) setrlimit(RLIMIT_FSIZE, &limit);
    jpp_is_u64(jpp_file_put(jpp_path, 21, 100, 3, 1000), JPP_ERR_SYS,
               "files may not be so large");
    (void) setrlimit(RLIMIT_FSIZE, &was);

    jpp_file_show("nothing is left of these");
    (void) jpp_notes();
}


#include <string.h>
#include <time.h>

#include "jpp_known.h"


/* the times of a file are those of the kernel's last tick, or worse, seconds */
#define JPP_KNOWN_SETTLED  2


static bool jpp_known_is_same(const struct stat *a, const struct stat *b);


bool
jpp_known_find(const jpp_known_t *known, const jpp_mapping_t *mapping,
    const char *build_id, jpp_file_t *file)
{
    uint32_t     i, n;
    struct stat  st;

    n = known->n < JPP_KNOWN_FILES ? known->n : JPP_KNOWN_FILES;

    if (n == 0 || lstat(mapping->path, &st) == -1) {
        return false;
    }

    for (i = 0; i < n; i++) {

        if (jpp_known_is_same(&known->files[i].st, &st)
            && jpp_file_is_of(&known->files[i], mapping, build_id))
        {
            *file = known->files[i];
            return true;
        }
    }

    return false;
}


/* A change of who owns the file, or may write to it, changes its ctime. */

static bool
jpp_known_is_same(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino
           && a->st_dev == b->st_dev
           && a->st_size == b->st_size
           && a->st_mtim.tv_sec == b->st_mtim.tv_sec
           && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec
           && a->st_ctim.tv_sec == b->st_ctim.tv_sec
           && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}


void
jpp_known_add(jpp_known_t *known, const jpp_file_t *file)
{
    time_t       now;
    uint32_t     i;
    jpp_file_t  *kept;

    now = time(NULL);

    if (!file->is_proven
        || !file->is_at_path
        || file->st.st_ctim.tv_sec > now - JPP_KNOWN_SETTLED
        || file->st.st_mtim.tv_sec > now - JPP_KNOWN_SETTLED)
    {
        return;
    }

    for (i = 0; i < known->n && i < JPP_KNOWN_FILES; i++) {
        kept = &known->files[i];

        if (kept->st.st_ino == file->st.st_ino
            && kept->st.st_dev == file->st.st_dev)
        {
            break;
        }
    }

    if (i == known->n || i == JPP_KNOWN_FILES) {
        i = known->n++ % JPP_KNOWN_FILES;
    }

    kept = &known->files[i];

    *kept = *file;
    kept->fd = -1;
}

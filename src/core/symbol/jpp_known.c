
#include <string.h>

#include "jpp_known.h"


bool
jpp_refused_find(const jpp_refused_t *refused, const jpp_file_t *file,
    jpp_err_t *err)
{
    uint32_t                   i;
    const jpp_refused_file_t  *row;

    for (i = 0; i < refused->n && i < JPP_REFUSED_FILES; i++) {
        row = &refused->files[i];

        if (jpp_file_is_same(&row->st, &file->st)) {
            (void) jpp_err_set(err, row->code, "%s", row->text);
            return true;
        }
    }

    return false;
}


void
jpp_refused_add(jpp_refused_t *refused, const jpp_file_t *file,
    const jpp_err_t *err)
{
    size_t               len;
    jpp_refused_file_t  *row;

    if (err->code == JPP_ERR_SYS || !jpp_file_is_settled(&file->st)) {
        return;
    }

    row = &refused->files[refused->n++ % JPP_REFUSED_FILES];

    len = strnlen(err->text, JPP_REFUSED_TEXT - 1);

    row->st = file->st;
    row->code = err->code;

    memcpy(row->text, err->text, len);
    row->text[len] = '\0';
}


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

        if (jpp_file_is_same(&known->files[i].st, &st)
            && jpp_file_is_of(&known->files[i], mapping, build_id))
        {
            *file = known->files[i];
            file->device = mapping->device;
            file->inode = mapping->inode;

            return true;
        }
    }

    return false;
}


void
jpp_known_add(jpp_known_t *known, const jpp_file_t *file)
{
    uint32_t     i;
    jpp_file_t  *kept;

    if (!file->is_proven
        || !file->is_at_path
        || !jpp_file_is_settled(&file->st))
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

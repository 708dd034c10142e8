
#include <string.h>

#include "jpp_refused.h"


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


#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "jpp_intern.h"
#include "jpp_unnamed.h"


/* bytes of a file's name: up to 255 are possible, 20 usual */
#define JPP_UNNAMED_NAME  64


void
jpp_unnamed_add(jpp_unnamed_t *unnamed, uint32_t file, uint32_t n)
{
    uint32_t             i;
    jpp_unnamed_file_t  *row;

    unnamed->n += n;

    for (i = 0; i < unnamed->n_files && unnamed->files[i].file != file; i++) {
        /* void */
    }

    if (i < unnamed->n_files) {
        n += unnamed->files[i].n;

    } else if (i < JPP_UNNAMED_FILES) {
        unnamed->n_files++;

    } else if (unnamed->files[--i].n >= n) {
        return;
    }

    row = unnamed->files;

    for ( /* void */ ; i > 0 && row[i - 1].n < n; i--) {
        row[i] = row[i - 1];
    }

    row[i].file = file;
    row[i].n = n;
}


bool
jpp_unnamed_comment(const jpp_unnamed_t *unnamed, jpp_profile_t *profile,
    const jpp_host_t *host, char text[JPP_UNNAMED_TEXT])
{
    int          len;
    char         cure[JPP_PACKAGES_TEXT];
    char         list[JPP_UNNAMED_FILES * (JPP_UNNAMED_NAME + 16)];
    uint32_t     i;
    const char  *path, *slash, *files[JPP_UNNAMED_FILES];

    text[0] = '\0';

    if (unnamed->n == 0) {
        return true;
    }

    for (i = 0, len = 0; i < unnamed->n_files; i++) {
        path = jpp_profile_str(profile, unnamed->files[i].file).data;
        slash = strrchr(path, '/');
        files[i] = slash != NULL ? slash + 1 : path;

        len += snprintf(list + len, sizeof(list) - (size_t) len,
                        "%s%.*s %" PRIu32, i == 0 ? "" : ", ",
                        JPP_UNNAMED_NAME, files[i], unnamed->files[i].n);
    }

    jpp_packages_cure(host, files, unnamed->n_files, cure);

    (void) snprintf(text, JPP_UNNAMED_TEXT, "%" PRIu64 " of %zu addresses have "
                    "no name (%s): %s", unnamed->n,
                    jpp_vec_count(profile->locations, jpp_location_t), list,
                    cure);

    return jpp_profile_comment(profile, "%s", text);
}

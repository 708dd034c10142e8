
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "jpp_file.h"
#include "jpp_intern.h"
#include "jpp_unnamed.h"


/* bytes of a file's name: up to 255 are possible, 20 usual */
#define JPP_UNNAMED_NAME  64


void
jpp_unnamed_add(jpp_unnamed_t *unnamed, const jpp_mapping_t *mapping,
    uint32_t n)
{
    uint32_t             i;
    jpp_unnamed_file_t  *row;

    unnamed->n += n;

    for (i = 0; i < unnamed->n_files; i++) {
        if (unnamed->files[i].file == mapping->file
            && unnamed->files[i].build_id == mapping->build_id)
        {
            break;
        }
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

    row[i].file = mapping->file;
    row[i].build_id = mapping->build_id;
    row[i].n = n;
}


bool
jpp_unnamed_comment(const jpp_unnamed_t *unnamed, jpp_profile_t *profile,
    char text[JPP_UNNAMED_TEXT])
{
    int          len;
    char         list[JPP_UNNAMED_FILES
                      * (JPP_UNNAMED_NAME + JPP_BUILD_ID_TEXT + 32)];
    uint32_t     i;
    const char  *path, *slash, *id;

    text[0] = '\0';

    if (unnamed->n == 0) {
        return true;
    }

    for (i = 0, len = 0; i < unnamed->n_files; i++) {
        path = jpp_profile_str(profile, unnamed->files[i].file).data;
        slash = strrchr(path, '/');
        id = jpp_profile_str(profile, unnamed->files[i].build_id).data;

        len += snprintf(list + len, sizeof(list) - (size_t) len,
                        "%s%.*s %" PRIu32 "%s%.*s", i == 0 ? "" : "; ",
                        JPP_UNNAMED_NAME, slash != NULL ? slash + 1 : path,
                        unnamed->files[i].n, id[0] == '\0' ? "" : ", build id ",
                        JPP_BUILD_ID_TEXT - 1, id);
    }

    (void) snprintf(text, JPP_UNNAMED_TEXT, "%" PRIu64 " of %zu addresses have "
                    "no name (%s): install their debug symbols, then reload. "
                    "For nginx: nginx-dbgsym on Debian and Ubuntu, nginx-dbg "
                    "from nginx.org. From debuginfod: "
                    "$DEBUGINFOD_URLS/buildid/ID/debuginfo", unnamed->n,
                    jpp_vec_count(profile->locations, jpp_location_t), list);

    return jpp_profile_comment(profile, "%s", text);
}

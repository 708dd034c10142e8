
#include <stdio.h>
#include <string.h>

#include "jpp_system.h"


/* a path below a test's root */
#define JPP_SYSTEM_PATH  4096


static const jpp_keys_row_t  jpp_system_rows[] = {
    { "MemTotal", offsetof(jpp_system_t, total) },
    { "MemAvailable", offsetof(jpp_system_t, available) },
    { "SwapTotal", offsetof(jpp_system_t, swap_total) },
    { "SwapFree", offsetof(jpp_system_t, swap_free) },
    { "CommitLimit", offsetof(jpp_system_t, commit_limit) },
    { "Committed_AS", offsetof(jpp_system_t, committed) },
};


/* always [madvise] never */

static void
jpp_system_thp(jpp_system_t *system, const char *path)
{
    char         *line, *word;
    size_t        len;
    jpp_lines_t   lines;

    system->thp[0] = '\0';

    if (!jpp_lines_open(&lines, path)) {
        return;
    }

    line = jpp_lines_next(&lines);
    word = line != NULL ? strchr(line, '[') : NULL;
    len = word != NULL ? strspn(word + 1, "abcdefghijklmnopqrstuvwxyz") : 0;

    if (len > 0 && len < JPP_SYSTEM_THP && word[1 + len] == ']') {
        memcpy(system->thp, word + 1, len);
        system->thp[len] = '\0';
    }

    jpp_lines_close(&lines);
}


void
jpp_system_read(jpp_system_t *system, const char *root)
{
    char  path[JPP_SYSTEM_PATH];

    (void) snprintf(path, sizeof(path), "%s/proc/meminfo", root);
    (void) jpp_keys_read(jpp_system_rows,
                         sizeof(jpp_system_rows) / sizeof(jpp_system_rows[0]),
                         path, system);

    (void) snprintf(path, sizeof(path), "%s/proc/sys/vm/overcommit_memory",
                    root);
    system->overcommit = jpp_keys_file(path);

    (void) snprintf(path, sizeof(path), "%s/proc/pressure/memory", root);
    (void) jpp_pressure_read(&system->pressure, path);

    (void) snprintf(path, sizeof(path),
                    "%s/sys/kernel/mm/transparent_hugepage/enabled", root);
    jpp_system_thp(system, path);
}

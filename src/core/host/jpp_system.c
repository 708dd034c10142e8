
/*
 * The machine's memory: available memory, memory pressure, and the overcommit
 * policy.
 */


#include "jpp_host.h"


/* a path below a test's root */
#define JPP_SYSTEM_PATH  4096


/*
 * some avg10=0.00 avg60=0.15 avg300=0.06 total=123456
 * full avg10=0.00 avg60=0.15 avg300=0.06 total=123456
 */


#define JPP_PRESSURE_ROW(name)                                                \
    { #name, offsetof(jpp_pressure_line_t, name) },

static const jpp_keys_row_t  jpp_pressure_rows[] = {
    JPP_PRESSURE(JPP_PRESSURE_ROW)
    { NULL, 0 }
};


void
jpp_pressure_read(jpp_pressure_t *pressure, const char *path)
{
    char                 *line, *word;
    size_t                next;
    jpp_lines_t           lines;
    jpp_pressure_line_t  *to;

    /* all of it consists of numbers that are not there */

    memset(pressure, 0xff, sizeof(jpp_pressure_t));

    (void) jpp_lines_open(&lines, path);

    while ((line = jpp_lines_next(&lines)) != NULL) {
        word = strsep(&line, " ");
        to = strcmp(word, "some") == 0 ? &pressure->some
             : strcmp(word, "full") == 0 ? &pressure->full : NULL;
        next = 0;

        while (to != NULL && (word = strsep(&line, " ")) != NULL) {
            jpp_keys_line(jpp_pressure_rows, &next, word, to);
        }
    }

    jpp_lines_close(&lines);
}


#define JPP_SYSTEM_ROW(name, key)  { key, offsetof(jpp_system_t, name) },

static const jpp_keys_row_t  jpp_system_rows[] = {
    JPP_SYSTEM_MEMINFO(JPP_SYSTEM_ROW)
    { NULL, 0 }
};


void
jpp_system_memory(jpp_system_t *system, const char *root)
{
    char  path[JPP_SYSTEM_PATH];

    jpp_print(path, "%s/proc/meminfo", root);
    (void) jpp_keys_read(jpp_system_rows, path, system);
}


void
jpp_system_read(jpp_system_t *system, const char *root)
{
    char         path[JPP_SYSTEM_PATH], *line, *word;
    size_t       len;
    jpp_lines_t  lines;

    jpp_system_memory(system, root);

    jpp_print(path, "%s/proc/sys/vm/overcommit_memory", root);
    system->overcommit = jpp_keys_file(path);

    jpp_print(path, "%s/proc/pressure/memory", root);
    jpp_pressure_read(&system->pressure, path);

    jpp_print(path, "%s/sys/kernel/mm/transparent_hugepage/enabled", root);

    /* always [madvise] never */

    system->thp[0] = '\0';

    (void) jpp_lines_open(&lines, path);

    line = jpp_lines_next(&lines);
    word = line != NULL ? strchr(line, '[') : NULL;
    len = word != NULL ? strspn(word + 1, "abcdefghijklmnopqrstuvwxyz") : 0;

    if (len > 0 && len < JPP_SYSTEM_THP && word[1 + len] == ']') {
        memcpy(system->thp, word + 1, len);
        system->thp[len] = '\0';
    }

    jpp_lines_close(&lines);
}


/*
 * The machine's memory: what is available, the pressure on it, and the kernel's
 * policy of handing it out.
 */


#include "jpp_cgroup.h"


/* a path below a test's root */
#define JPP_SYSTEM_PATH  4096


/*
 * some avg10=0.00 avg60=0.15 avg300=0.06 total=123456
 * full avg10=0.00 avg60=0.15 avg300=0.06 total=123456
 */


static const jpp_keys_row_t  jpp_pressure_rows[] = {
    { "avg10", offsetof(jpp_pressure_line_t, avg10) },
    { "avg60", offsetof(jpp_pressure_line_t, avg60) },
    { "avg300", offsetof(jpp_pressure_line_t, avg300) },
    { "total", offsetof(jpp_pressure_line_t, total) },
};

#define JPP_PRESSURE_ROWS                                                     \
    (sizeof(jpp_pressure_rows) / sizeof(jpp_pressure_rows[0]))


/* "total" has no fraction, and an average always has two digits of it */

static uint64_t
jpp_pressure_value(const char *text)
{
    uint64_t     value, hundredths;
    const char  *end, *fraction;

    end = jpp_scan_dec(text, &value);

    if (end == NULL || *end != '.') {
        return end != NULL ? value : JPP_NONE;
    }

    fraction = end + 1;
    end = jpp_scan_dec(fraction, &hundredths);

    if (end == NULL || end - fraction != 2 || value > UINT64_MAX / 200) {
        return JPP_NONE;
    }

    return value * 100 + hundredths;
}


static void
jpp_pressure_line(jpp_pressure_line_t *pressure, const char *line)
{
    size_t                 len;
    const jpp_keys_row_t  *row, *end;

    end = jpp_pressure_rows + JPP_PRESSURE_ROWS;

    while (*line != '\0') {
        len = strcspn(line, "= ");

        for (row = jpp_pressure_rows; row < end; row++) {

            if (line[len] == '=' && strlen(row->key) == len
                && memcmp(row->key, line, len) == 0)
            {
                *(uint64_t *) (void *) ((char *) pressure + row->offset) =
                                         jpp_pressure_value(line + len + 1);
            }
        }

        line += strcspn(line, " ");
        line += strspn(line, " ");
    }
}


void
jpp_pressure_lines(jpp_pressure_t *pressure, jpp_lines_t *lines)
{
    char  *line;

    /* all of it consists of numbers that are not there */

    memset(pressure, 0xff, sizeof(jpp_pressure_t));

    while ((line = jpp_lines_next(lines)) != NULL) {

        if (strncmp(line, "some ", 5) == 0) {
            jpp_pressure_line(&pressure->some, line + 5);

        } else if (strncmp(line, "full ", 5) == 0) {
            jpp_pressure_line(&pressure->full, line + 5);
        }
    }
}


int
jpp_pressure_read(jpp_pressure_t *pressure, const char *path)
{
    jpp_lines_t  lines;

    (void) jpp_lines_open(&lines, path);
    jpp_pressure_lines(pressure, &lines);
    jpp_lines_close(&lines);

    return lines.error;
}


static const jpp_keys_row_t  jpp_system_rows[] = {
    { "MemTotal", offsetof(jpp_system_t, total) },
    { "MemAvailable", offsetof(jpp_system_t, available) },
    { "SwapTotal", offsetof(jpp_system_t, swap_total) },
    { "SwapFree", offsetof(jpp_system_t, swap_free) },
    { "CommitLimit", offsetof(jpp_system_t, commit_limit) },
    { "Committed_AS", offsetof(jpp_system_t, committed) },
};


void
jpp_system_read(jpp_system_t *system, const char *root)
{
    char         path[JPP_SYSTEM_PATH], *line, *word;
    size_t       len;
    jpp_lines_t  lines;

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

    /* always [madvise] never */

    system->thp[0] = '\0';

    if (jpp_lines_open(&lines, path)) {
        line = jpp_lines_next(&lines);
        word = line != NULL ? strchr(line, '[') : NULL;
        len = word != NULL ? strspn(word + 1, "abcdefghijklmnopqrstuvwxyz") : 0;

        if (len > 0 && len < JPP_SYSTEM_THP && word[1 + len] == ']') {
            memcpy(system->thp, word + 1, len);
            system->thp[len] = '\0';
        }

        jpp_lines_close(&lines);
    }
}

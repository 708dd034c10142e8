
/*
 * Any bytes as /proc/self/cgroup and, after a NUL, /proc/self/mountinfo; and as
 * the files of numbers.
 */

#include "jpp_fuzz.h"
#include "jpp_host.h"
#include "jpp_test_lines.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int                        fd;
    char                       path[64];
    size_t                     len;
    jpp_usage_t                usage;
    jpp_pressure_t             pressure;
    static jpp_lines_t         own, mounts;
    static jpp_cgroup_t        cgroup;
    static char                mount[JPP_CGROUP_PATH];

    len = strnlen((const char *) data, size);

    jpp_lines_text(&own, (const char *) data, len);
    jpp_lines_text(&mounts, (const char *) data + len, size - len);
    (void) jpp_cgroup_place_find(&cgroup, mount, &own, &mounts, NULL);
    jpp_lines_close(&own);
    jpp_lines_close(&mounts);

    (void) jpp_test_lines((const char *) data, size, path, &fd);
    jpp_usage_memory(&usage, path);
    jpp_pressure_read(&pressure, path);
    (void) close(fd);

    return 0;
}

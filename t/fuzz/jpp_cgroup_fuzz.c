
/*
 * Any bytes as /proc/self/cgroup and, after a NUL, /proc/self/mountinfo; and as
 * the files of numbers.
 */

#include "jpp_cgroup.h"
#include "jpp_fuzz.h"
#include "jpp_test_lines.h"
#include "jpp_usage.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t                     len;
    jpp_usage_t                usage;
    jpp_pressure_t             pressure;
    static jpp_lines_t         own, mounts;
    static jpp_cgroup_place_t  place;

    len = strnlen((const char *) data, size);

    jpp_lines_text(&own, (const char *) data, len);
    jpp_lines_text(&mounts, (const char *) data + len, size - len);
    (void) jpp_cgroup_place_find(&place, &own, &mounts, NULL);
    jpp_lines_close(&own);
    jpp_lines_close(&mounts);

    jpp_lines_text(&own, (const char *) data, size);
    jpp_usage_status(&usage, &own);
    jpp_lines_close(&own);

    jpp_lines_text(&own, (const char *) data, size);
    jpp_pressure_lines(&pressure, &own);
    jpp_lines_close(&own);

    return 0;
}

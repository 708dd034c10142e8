
#include <stdarg.h>
#include <stdio.h>

#include "jpp_finding.h"


bool
jpp_finding_because(jpp_finding_t *finding, const char *fmt, ...)
{
    va_list  args;

    va_start(args, fmt);
    (void) vsnprintf(finding->because, sizeof(finding->because), fmt, args);
    va_end(args);

    return true;
}

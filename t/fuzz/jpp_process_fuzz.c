
/* Any bytes as the line of /proc/PID/stat. */

#include "jpp_fuzz.h"
#include "jpp_host.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char           text[JPP_PROCESS_TEXT];
    jpp_process_t  process = { 0 };

    if (jpp_process_parse((const char *) data, size, &process)) {
        (void) jpp_process_say(&process, &process, 1, text);
    }

    return 0;
}

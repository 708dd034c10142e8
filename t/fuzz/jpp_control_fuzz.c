
#include "jpp_control.h"
#include "jpp_fuzz.h"
#include "jpp_report.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jpp_args_t     args;
    jpp_control_t  control;

    jpp_args_init(&args, &jpp_format_words, jpp_parser_heap.types);
    jpp_control_init(&control);

    if (jpp_control_query(&control, &args, (const char *) data, size, NULL)
        == JPP_OK
        && (control.active < -1 || control.active > 1
            || (control.lg_sample != -1
                && (control.lg_sample < JPP_JEMALLOC_LG_MIN
                    || control.lg_sample > JPP_JEMALLOC_LG_MAX))))
    {
        abort();
    }

    return 0;
}


#include "jpp_args.h"
#include "jpp_fuzz.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jpp_args_t  args;

    jpp_args_init(&args);

    if (jpp_args_query(&args, (const char *) data, size, NULL) == JPP_OK
        && (jpp_args_format(&args) > JPP_FORMAT_JEMALLOC
            || args.values[JPP_ARG_TYPE] > 3
            || args.values[JPP_ARG_SECONDS] > args.max_seconds
            || args.values[JPP_ARG_WORKER] > JPP_WORKER_PID))
    {
        abort();
    }

    return 0;
}

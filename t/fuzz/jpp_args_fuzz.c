
#include "jpp_fuzz.h"
#include "jpp_report.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jpp_args_t  args;

    jpp_args_init(&args, &jpp_format_words, jpp_parser_heap.types);

    if (jpp_args_query(&args, (const char *) data, size, NULL) == JPP_OK
        && (args.values[JPP_ARG_FORMAT] >= jpp_format_words.n
            || args.values[JPP_ARG_TYPE] > 3
            || args.values[JPP_ARG_SECONDS] > args.max_seconds
            || args.values[JPP_ARG_WORKER] > JPP_WORKER_PID))
    {
        abort();
    }

    return 0;
}

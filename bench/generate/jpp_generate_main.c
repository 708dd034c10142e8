
/*
 * The command line of the generator:
 *
 *     jpp_generate -n 100000 -d 28 -o big.heap
 */


#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "jpp_generate.h"


static bool jpp_generate_options(jpp_generate_t *options, const char **file,
    int argc, char **argv);
static int jpp_generate_to_file(void *ctx, const uint8_t *data, size_t len);


static const char  jpp_generate_usage[] =
    "usage: jpp_generate [options] > dump\n"
    "  -n stacks     100 to 4000000 (10000)\n"
    "  -d depth      mean frames of a stack, 8 to 100 (28)\n"
    "  -a addresses  distinct ones (grows with the stacks)\n"
    "  -t threads    thread lines of a stack are 1 to so many (4)\n"
    "  -m mappings   lines of the maps section, at least (100)\n"
    "  -p period     of the sampling (524288)\n"
    "  -s seed       another seed makes another dump (1)\n"
    "  -A            as with prof_accum:true\n"
    "  -x            a program that is not position independent\n"
    "  -u            stacks not in jemalloc's order\n"
    "  -o file       instead of standard output\n";


int
main(int argc, char **argv)
{
    FILE            *out;
    const char      *file;
    jpp_sink_t       sink;
    jpp_generate_t   options;

    static uint8_t  buffer[JPP_SINK_BUFFER];

    file = NULL;
    out = stdout;

    jpp_generate_init(&options);

    if (!jpp_generate_options(&options, &file, argc, argv)) {
        (void) fputs(jpp_generate_usage, stderr);
        return 2;
    }

    if (file != NULL) {
        out = fopen(file, "w");
    }

    if (out == NULL) {
        perror(file);
        return 1;
    }

    jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_generate_to_file, out);

    if (!jpp_generate(&options, &sink)) {
        (void) fputs("jpp_generate: no memory\n", stderr);
        return 1;
    }

    if (jpp_sink_flush(&sink) != 0 || fclose(out) != 0) {
        (void) fputs("jpp_generate: the dump cannot be written\n", stderr);
        return 1;
    }

    return 0;
}


static bool
jpp_generate_options(jpp_generate_t *options, const char **file, int argc,
    char **argv)
{
    int       c;
    char     *end;
    size_t    i;
    uint64_t  n;

    const struct {
        char       key;
        uint32_t   min;
        uint32_t   max;
        uint32_t  *value;
    } numbers[] = {
        { 'n', JPP_GENERATE_STACKS_MIN, JPP_GENERATE_STACKS_MAX,
          &options->stacks },
        { 'd', JPP_GENERATE_DEPTH_MIN, JPP_GENERATE_DEPTH_MAX,
          &options->depth },
        { 'a', JPP_GENERATE_ADDRESSES_MIN, JPP_GENERATE_ADDRESSES_MAX,
          &options->addresses },
        { 't', 1, JPP_GENERATE_THREADS_MAX, &options->threads },
        { 'm', 0, JPP_GENERATE_MAPPINGS_MAX, &options->mappings },
        { 'p', 1, UINT32_MAX, &options->period },
        { 's', 0, UINT32_MAX, &options->seed }
    };

    while ((c = getopt(argc, argv, "n:d:a:t:m:p:s:o:Axu")) != -1) {

        options->has_accum |= (c == 'A');
        options->is_non_pie |= (c == 'x');
        options->is_unsorted |= (c == 'u');

        if (c == '?') {
            return false;
        }

        if (c == 'o') {
            *file = optarg;
        }

        for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {

            if (c != numbers[i].key) {
                continue;
            }

            n = strtoull(optarg, &end, 10);

            if (end == optarg || *end != '\0' || n < numbers[i].min
                || n > numbers[i].max)
            {
                return false;
            }

            *numbers[i].value = (uint32_t) n;
        }
    }

    return optind == argc;
}


static int
jpp_generate_to_file(void *ctx, const uint8_t *data, size_t len)
{
    return fwrite(data, 1, len, ctx) == len ? 0 : EIO;
}

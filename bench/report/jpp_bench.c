
/*
 * What a report costs, against a floor measured in the same run.
 *
 *     jpp_bench [-n most] [-s seconds] [dump]
 *
 * The floor is what no converter of this kind can do without: turning the
 * text's hexadecimal digits into addresses and hashing each stack, and zlib on
 * exactly the bytes that the report gave to zlib, at the same level.  It has
 * no table, no validation, no allocation and no protobuf.  Report and floor
 * take turns, so that a machine that changes its speed does so for both.
 *
 * Every row is measured in a process of its own, whose memory before the
 * report is the generated dump; the rest of its peak is the report's.
 *
 * The second part measures the naming of a real dump's addresses, with an
 * empty cache of symbols and with a full one.
 */


#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "jpp_bench.h"


#define JPP_BENCH_DUMP  "t/data/nginx-530.heap"


static bool jpp_bench_options(int argc, char **argv);
static void jpp_bench_machine(void);


static uint32_t     jpp_bench_most = 1000000;
static double       jpp_bench_seconds = 1.5;
static const char  *jpp_bench_dump = JPP_BENCH_DUMP;


int
main(int argc, char **argv)
{
    bool  done;

    if (!jpp_bench_options(argc, argv)) {
        (void) fputs("usage: jpp_bench [options] [dump]\n"
                     "  -n stacks   leave out larger rows (1000000)\n"
                     "  -s seconds  to measure a row for (1.5)\n"
                     "  dump        to name the addresses of ("
                     JPP_BENCH_DUMP ")\n", stderr);
        return 2;
    }

    jpp_bench_machine();

    done = jpp_bench_reports(jpp_bench_most, jpp_bench_seconds);
    done = jpp_bench_symbols(jpp_bench_dump) && done;

    return done ? 0 : 1;
}


static bool
jpp_bench_options(int argc, char **argv)
{
    int       c;
    char     *end;
    uint64_t  n;

    while ((c = getopt(argc, argv, "n:s:")) != -1) {

        switch (c) {

        case 'n':
            n = strtoull(optarg, &end, 10);
            jpp_bench_most = (uint32_t) n;

            if (*end != '\0' || n < 100 || n > UINT32_MAX) {
                return false;
            }

            break;

        case 's':
            jpp_bench_seconds = strtod(optarg, &end);

            if (*end != '\0' || !(jpp_bench_seconds > 0)) {
                return false;
            }

            break;

        default:
            return false;
        }
    }

    if (optind < argc) {
        jpp_bench_dump = argv[optind++];
    }

    return optind == argc;
}


static void
jpp_bench_machine(void)
{
    printf("%ld processors, zlib %s, compiled by "
#ifdef __clang__
           "clang " __clang_version__
#else
           "gcc " __VERSION__
#endif
           "\n", sysconf(_SC_NPROCESSORS_ONLN), zlibVersion());
}

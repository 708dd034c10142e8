
/*
 * The parts of jpp_bench: reports (jpp_bench_reports.c) beside their floor
 * (jpp_bench_floor.c), the naming of addresses (jpp_bench_names.c), and what
 * both need: processes, memory, times (jpp_bench_measure.c).
 */


#ifndef _JPP_BENCH_H_INCLUDED_
#define _JPP_BENCH_H_INCLUDED_


#include "jpp_sink.h"


#define JPP_BENCH_RUNS  1001
#define JPP_BENCH_CAP   ((size_t) 16 << 30)

#define JPP_MEGABYTE    (1024 * 1024)


typedef struct {
    uint32_t      n;
    double        ms[JPP_BENCH_RUNS];
} jpp_bench_times_t;


typedef void (*jpp_bench_child_pt)(void *result, const char *data, size_t len,
    const void *ctx);


/* Print the rows of up to MOST stacks, each measured for SECONDS. */
bool jpp_bench_reports(uint32_t most, double seconds);

/* Print what naming the addresses of the dump PATH costs. */
bool jpp_bench_symbols(const char *path);

/* Addresses and hashes of all stacks, and no more: a sum, for the compiler. */
uint64_t jpp_bench_parse(const char *p, const char *end);

/*
 * Calls MEASURE in a child, whose SIZE bytes of RESULT come back.  The peak of
 * a child's memory begins with what it has when it is born.
 */
bool jpp_bench_child(jpp_bench_child_pt measure, void *result, size_t size,
    const char *data, size_t len, const void *ctx);

/* A FIELD of /proc/self/status, in bytes. */
size_t jpp_bench_resident(const char *field);

/* CLOCK_MONOTONIC, in milliseconds. */
double jpp_bench_now(void);

/* Beyond JPP_BENCH_RUNS a time is not kept. */
void jpp_bench_add(jpp_bench_times_t *times, double ms);

/* Sorts them, so that the first is the smallest. */
double jpp_bench_median(jpp_bench_times_t *times);


#endif /* _JPP_BENCH_H_INCLUDED_ */

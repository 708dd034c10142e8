
/*
 * What the unwinder costs, beside libgcc's, and what it makes of garbage.
 *
 *     jpp_unwind_bench [-g walks] [-f unwinder]
 *
 * The first part walks from 8, 25 and 100 frames deep: warm (rules cached),
 * cold (an empty cache for each walk), the complete walk, and libgcc.
 *
 * The second part walks WALKS (a million) stacks of random words between guard
 * pages: half of them return addresses of functions that are loaded, the rest
 * anything.  A fault ends the program; what is printed is how they ended.
 *
 * -f own or -f libgcc only repeats 100,000 walks of 25 frames, one right after
 * the other; for instructions, divide what
 * `valgrind --tool=callgrind --toggle-collect=jpp_unwind_here` counts.
 */


#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "jpp_test_complete.h"
#include "jpp_test_unwind.h"
#include "jpp_unwind.h"

#include "../jpp_bench_clock.h"


#define JPP_BENCH_ROUNDS   2001
#define JPP_BENCH_COUNTED  100000
#define JPP_BENCH_PAGE     4096


typedef uint32_t (*jpp_bench_pt)(void);


typedef struct {
    const char     *name;
    jpp_bench_pt    walk;
    bool            is_cold;
} jpp_bench_row_t;


static jpp_unwind_stack_t  jpp_bench_bounds;
static jpp_test_stack_t    jpp_bench_stack;
static volatile int        jpp_bench_more = 1;


static uint32_t
jpp_bench_own(void)
{
    jpp_unwind_end_t  end;

    return jpp_unwind_here(&jpp_test_unwinder, NULL,
                           jpp_bench_stack.pcs, JPP_TEST_DEPTH, &end);
}


static uint32_t
jpp_bench_complete(void)
{
    ucontext_t            here;
    jpp_unwind_end_t      end;
    jpp_unwind_context_t  at;

    getcontext(&here);
    jpp_unwind_interrupted(&at, &here);

    return jpp_test_complete(&jpp_test_unwinder, &at, &jpp_bench_bounds,
                             jpp_bench_stack.pcs, JPP_TEST_DEPTH, &end);
}


static uint32_t
jpp_bench_libgcc(void)
{
    jpp_test_libgcc(&jpp_bench_stack);

    return jpp_bench_stack.n;
}


static const jpp_bench_row_t  jpp_bench_rows[] = {
    { "own, warm", jpp_bench_own, false },
    { "own, cold", jpp_bench_own, true },
    { "own, complete", jpp_bench_complete, false },
    { "libgcc", jpp_bench_libgcc, false },
};


static void
jpp_bench_measure(const jpp_bench_row_t *row)
{
    uint32_t  i, n;
    uint64_t  start;

    static uint64_t  times[JPP_BENCH_ROUNDS];

    n = row->walk();

    for (i = 0; i < JPP_BENCH_ROUNDS; i++) {

        if (row->is_cold) {
            memset(&jpp_test_unwinder.rules, 0, sizeof(jpp_rules_t));
        }

        start = jpp_bench_now();
        n = row->walk();
        times[i] = jpp_bench_now() - start;
    }

    start = jpp_bench_median(times, JPP_BENCH_ROUNDS);

    printf("%-16s %6u %10llu %10.1f\n", row->name, n,
           (unsigned long long) start, (double) start / n);
}


static void
jpp_bench_repeat(jpp_bench_pt walk, uint32_t rounds)
{
    uint32_t  i, n;
    uint64_t  start;

    n = walk();
    start = jpp_bench_now();

    for (i = 0; i < rounds; i++) {
        n = walk();
    }

    printf("%u walks of %u frames, %.1f ns each\n", rounds, n,
           (double) (jpp_bench_now() - start) / rounds);
}


static __attribute__((noinline)) int
jpp_bench_deep(int depth, jpp_bench_pt walk, uint32_t rounds)
{
    size_t  i;

    if (depth > 0) {
        return jpp_bench_deep(depth - 1, walk, rounds) + jpp_bench_more;
    }

    if (walk != NULL) {
        jpp_bench_repeat(walk, rounds);
        return 0;
    }

    for (i = 0; i < sizeof(jpp_bench_rows) / sizeof(jpp_bench_row_t); i++) {
        jpp_bench_measure(&jpp_bench_rows[i]);
    }

    return 0;
}


static uint64_t
jpp_bench_random(void)
{
    static uint64_t  state = 88172645463325252u;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;

    return state;
}


/* an address in a random function of a random object, a place of the stack, a
   small number, or anything */

static uintptr_t
jpp_bench_word(uintptr_t low)
{
    uint64_t                  r;
    jpp_cfi_entry_t           entry;
    const jpp_mapped_code_t  *code;

    r = jpp_bench_random();

    switch (r % 32) {

    case 0:
        return low + (r >> 8) % (JPP_BENCH_PAGE + 256) - 128;

    case 1:
        return r >> 52;

    case 2:
        return (uintptr_t) r;

    default:
        code = &jpp_test_unwinder.mapped.objects[(r >> 8)
                                         % jpp_test_unwinder.mapped.n];

        if (code->count == 0
            || !jpp_cfi_entry_row(code, (r >> 20) % code->count, &entry))
        {
            return code->start;
        }

        return entry.start + (r >> 40) % (entry.end - entry.start);
    }
}


static void
jpp_bench_garbage(uint64_t walks)
{
    size_t                 i;
    uint64_t               n, frames, ends[JPP_UNWIND_ENDS];
    uintptr_t             *words, pcs[64];
    jpp_unwind_end_t       end;
    jpp_unwind_stack_t     stack;
    jpp_unwind_context_t   at;

    words = mmap(NULL, 3 * JPP_BENCH_PAGE, PROT_NONE,
                 MAP_PRIVATE|MAP_ANONYMOUS, -1, 0);
    words += JPP_BENCH_PAGE / sizeof(uintptr_t);

    if (mprotect(words, JPP_BENCH_PAGE, PROT_READ|PROT_WRITE) == -1) {
        return;
    }

    memset(ends, 0, sizeof(ends));
    stack.low = (uintptr_t) words;
    stack.high = stack.low + JPP_BENCH_PAGE;
    frames = 0;

    for (n = 0; n < walks; n++) {

        /* a new stack now and then, and a few new words each time */

        for (i = 0; i < (n % 64 == 0 ? 512 : 16); i++) {
            words[jpp_bench_random() % 512] = jpp_bench_word(stack.low);
        }

        for (i = 0; i < JPP_FRAME_REGISTERS; i++) {
            at.registers[i] = jpp_bench_word(stack.low);
        }

        at.registers[JPP_CFI_RSP] = stack.low + jpp_bench_random() % 4600;
        at.pc = jpp_bench_word(stack.low);
        at.known = 0xffff;
        at.is_exact = n % 2 != 0;

        frames += jpp_unwind_walk(&jpp_test_unwinder, &at, &stack, pcs, 64,
                                  &end);
        ends[end]++;

        if (jpp_frame_holds(stack.low, stack.high,
                            at.registers[JPP_CFI_RSP]))
        {
            frames += jpp_test_complete(&jpp_test_unwinder, &at, &stack, pcs,
                                        64, &end);
        }
    }

    printf("\n%llu stacks of garbage walked twice, %llu frames, no fault\n",
           (unsigned long long) walks, (unsigned long long) frames);

    for (i = 0; i < JPP_UNWIND_ENDS; i++) {
        printf("%-32s %llu\n", jpp_unwind_end_name((jpp_unwind_end_t) i),
               (unsigned long long) ends[i]);
    }
}


int
main(int argc, char **argv)
{
    int           option;
    size_t        i;
    uint64_t      walks;
    jpp_bench_pt  counted;

    static const int  depths[] = { 2, 19, 94 };

    walks = 1000000;
    counted = NULL;

    while ((option = getopt(argc, argv, "g:f:")) != -1) {

        switch (option) {

        case 'g':
            walks = strtoull(optarg, NULL, 10);
            break;

        case 'f':
            counted = *optarg == 'o' ? jpp_bench_own : jpp_bench_libgcc;
            break;

        default:
            return 2;
        }
    }

    jpp_images_unwind(&jpp_test_unwinder.mapped);
    jpp_bench_bounds = jpp_test_bounds();

    if (counted != NULL) {
        (void) jpp_bench_deep(19, counted, JPP_BENCH_COUNTED);
        return 0;
    }

    printf("%-16s %6s %10s %10s\n", "walk", "frames", "ns", "ns/frame");

    for (i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
        (void) jpp_bench_deep(depths[i], NULL, 0);
    }

    jpp_bench_garbage(walks);

    return 0;
}


/*
 * What a signal of a profile costs the thread that gets it.
 *
 *     jpp_cpu_bench [SIGNALS]
 *
 * SIGNALS (20,000) are sent to this thread 20 frames deep, one after the other,
 * while there is a window of CPU time; as many to a handler that does nothing,
 * which is what the kernel takes for one; and the receiver is called as often
 * without a signal.  The rows are medians, in nanoseconds.
 *
 * Then the receiver has to look for owners, too: of a connection that is told,
 * of one that a word of the stack names, and of none, in all words.
 *
 * All signals come from the same place, so that the rules of the unwinder are
 * cached; and of them all one stack is kept.
 */


/* gettid() by syscall() */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "jpp_cpu.h"
#include "jpp_owner_names.h"
#include "jpp_owners.h"

#include "../jpp_bench_clock.h"


#define JPP_BENCH_SIGNALS  20000
#define JPP_BENCH_DEPTH    20

/* after so many looks the sampler takes this thread as it is for a while: it
   blocks the signal in handlers, and is in one for much of the time */
#define JPP_BENCH_SCANS    4


#define JPP_BENCH_SLOTS    512


typedef void (*jpp_bench_pt)(void);


typedef struct {
    const char     *name;
    jpp_bench_pt    once;
} jpp_bench_row_t;


typedef struct {
    uint64_t        words[28];
    uint64_t        number;
    int             is_open;
} jpp_bench_connection_t;


static void jpp_bench_deep(unsigned depth, const jpp_bench_row_t *rows,
    size_t n);


static ucontext_t           jpp_bench_here;
static uint32_t             jpp_bench_number;
static pid_t                jpp_bench_tid;
static unsigned             jpp_bench_rounds = JPP_BENCH_SIGNALS;
static volatile sig_atomic_t   jpp_bench_seen;
static jpp_bench_connection_t  jpp_bench_connections[JPP_BENCH_SLOTS];


static void
jpp_bench_empty(int signo)
{
    (void) signo;

    jpp_bench_seen++;
}


static void
jpp_bench_plain(void)
{
    siginfo_t  info;

    memset(&info, 0, sizeof(info));
    info.si_code = SI_QUEUE;

    (void) syscall(SYS_rt_tgsigqueueinfo, getpid(), jpp_bench_tid, SIGUSR1,
                   &info);
}


static void
jpp_bench_signal(void)
{
    (void) jpp_signal_send(getpid(), jpp_bench_tid, JPP_SIGNAL_CPU,
                           jpp_bench_number);
}


static void
jpp_bench_call(void)
{
    jpp_signal_t  signal;

    signal.ucontext = &jpp_bench_here;
    signal.number = jpp_bench_number;
    signal.missed = 0;

    jpp_cpu_sampler_receive(&signal);
}


static const jpp_bench_row_t  jpp_bench_rows[] = {
    { "a signal to a handler that is empty", jpp_bench_plain },
    { "a signal of a profile", jpp_bench_signal },
    { "its receiver alone", jpp_bench_call },
};

static const jpp_bench_row_t  jpp_bench_of_told = {
    "its receiver, of a connection", jpp_bench_call
};

static const jpp_bench_row_t  jpp_bench_of_one = {
    "its receiver, of one that is named", jpp_bench_call
};

static const jpp_bench_row_t  jpp_bench_of_nobody = {
    "its receiver, of nobody", jpp_bench_call
};


static void
jpp_bench_measure(const jpp_bench_row_t *rows, size_t n_rows)
{
    size_t     i;
    unsigned   n;
    uint64_t   start, *times;

    times = calloc(jpp_bench_rounds, sizeof(uint64_t));
    if (times == NULL) {
        exit(1);
    }

    getcontext(&jpp_bench_here);

    for (i = 0; i < n_rows; i++) {

        for (n = 0; n < jpp_bench_rounds; n++) {
            start = jpp_bench_now();
            rows[i].once();
            times[n] = jpp_bench_now() - start;
        }

        printf("%-40s %8llu ns\n", rows[i].name,
               (unsigned long long) jpp_bench_median(times, jpp_bench_rounds));
    }

    free(times);
}


static __attribute__((noinline)) void
jpp_bench_deep(unsigned depth, const jpp_bench_row_t *rows, size_t n)
{
    if (depth > 0) {
        jpp_bench_deep(depth - 1, rows, n);

    } else {
        jpp_bench_measure(rows, n);
    }

    __asm__ volatile ("" : : : "memory");
}


static uint64_t
jpp_bench_connection_number(uint32_t index)
{
    return jpp_bench_connections[index].number;
}


static uint32_t
jpp_bench_served(uint32_t index, const uintptr_t *words, uint32_t n,
    uintptr_t *waits)
{
    (void) index;
    (void) words;
    (void) n;
    (void) waits;

    return JPP_OWNER_OTHERS;
}


static uint32_t
jpp_bench_meanwhile(uint32_t index)
{
    (void) index;

    return JPP_OWNER_NONE;
}


static void
jpp_bench_due(void)
{
}


static bool
jpp_bench_own(void)
{
    unsigned             i;
    jpp_serving_t        serving;
    jpp_owners_server_t  server = { jpp_bench_served, jpp_bench_meanwhile,
                                    jpp_bench_due };

    for (i = 0; i < JPP_BENCH_SLOTS; i++) {
        jpp_bench_connections[i].number = i + 1;
    }

    memset(&serving, 0, sizeof(serving));
    serving.ranges[0].start = (uintptr_t) jpp_bench_connections;
    serving.ranges[0].size = sizeof(jpp_bench_connection_t);
    serving.n = JPP_BENCH_SLOTS;
    serving.number = jpp_bench_connection_number;

    jpp_serving_init(&serving);

    return jpp_owners_start(&serving, &server);
}


/* WORD is the outermost of all that may be looked at. */

static __attribute__((noinline)) void
jpp_bench_serve(const void *word, unsigned depth, const jpp_bench_row_t *row)
{
    const void *volatile  words[JPP_SERVING_WORDS];
    unsigned              i;

    for (i = 0; i < JPP_SERVING_WORDS; i++) {
        words[i] = NULL;
    }

    words[JPP_SERVING_WORDS - 1] = word;

    jpp_bench_deep(depth, row, 1);

    (void) words[0];
}


/* Its number in signals, once it has one. */

static uint32_t
jpp_bench_main_thread(void)
{
    uint32_t            i;
    jpp_cpu_thread_t   *thread;
    jpp_cpu_threads_t  *threads;

    threads = &jpp_cpu_sampler.threads;

    for (i = 0; ; i = (i + 1) % JPP_CPU_THREADS) {

        thread = &threads->threads[i];

        if (__atomic_load_n(&thread->interval, __ATOMIC_ACQUIRE) != 0
            && thread->tid == jpp_bench_tid
            && __atomic_load_n(&threads->scan, __ATOMIC_ACQUIRE)
               >= JPP_BENCH_SCANS)
        {
            return jpp_cpu_timers_number(threads, thread, JPP_MODE_CPU);
        }
    }
}


/* The stack that most of WINDOW's samples have. */

static void
jpp_bench_most(jpp_site_t *site, void *data)
{
    jpp_site_t **most = data;

    if (*most == NULL || site->allocated > (*most)->allocated) {
        *most = site;
    }
}


int
main(int argc, char **argv)
{
    uint64_t               count;
    unsigned               depth;
    jpp_err_t              err;
    struct sigaction       action;
    jpp_site_t            *most;
    jpp_cpu_window_t      *window;

    if (argc > 1) {
        jpp_bench_rounds = (unsigned) strtoul(argv[1], NULL, 10);
    }

    if (jpp_bench_rounds == 0) {
        return 2;
    }

    memset(&action, 0, sizeof(action));
    action.sa_handler = jpp_bench_empty;
    (void) sigaction(SIGUSR1, &action, NULL);

    window = jpp_cpu_open(JPP_MODE_CPU, 1, &err);

    if (window == NULL) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }

    jpp_bench_tid = (pid_t) syscall(SYS_gettid);
    jpp_bench_number = jpp_bench_main_thread();

    /* the others are of main(), its callers, and what sends */

    depth = JPP_BENCH_DEPTH - 8;
    jpp_bench_deep(depth, jpp_bench_rows,
                   sizeof(jpp_bench_rows) / sizeof(jpp_bench_row_t));

    if (!jpp_bench_own()) {
        return 1;
    }

    jpp_owners_base((uintptr_t) __builtin_frame_address(0));

    (void) jpp_owners_tell(7);
    jpp_bench_serve(NULL, depth, &jpp_bench_of_told);
    (void) jpp_owners_tell(JPP_OWNERS_ELSE);
    jpp_bench_serve(&jpp_bench_connections[7], depth, &jpp_bench_of_one);
    jpp_bench_serve(NULL, depth, &jpp_bench_of_nobody);

    most = NULL;
    jpp_sites_walk(&window->sites, jpp_bench_most, &most);
    count = most->allocated;

    printf("%u frames deep, %llu of %u signals in one stack\n", most->n,
           (unsigned long long) count, jpp_bench_rounds);

    if (jpp_bench_seen != (sig_atomic_t) jpp_bench_rounds
        || count < jpp_bench_rounds || window->dropped != 0)
    {
        fprintf(stderr, "signals are missing\n");
        return 1;
    }

    jpp_cpu_close(window);
    jpp_cpu_exit();

    return 0;
}


/*
 * The same stacks as libgcc's unwinder sees, with all that a process may do at
 * the same time: threads that come and go, coroutines on memory of malloc(),
 * alloca(), callbacks of qsort(), exceptions; libraries that are loaded and
 * unloaded, while the unwinder learns what is loaded, and meets their
 * addresses; and signals.
 *
 * JPP_SOAK=N goes on until N stacks were compared.
 */


#include "jpp_test.h"

#include <alloca.h>
#include <sys/sendfile.h>

#include "jpp_test_unwind.h"


#if defined(__x86_64__)


#define JPP_THREADS    8
#define JPP_STACKS     60000          /* compared in a short run */
#define JPP_COROUTINE  (128 * 1024)
#define JPP_LIBRARIES  8              /* copies, each unloaded many times */


/* exceptions on a stack that it does not know confuse the sanitizer */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define JPP_THROWS_ANYWHERE  0
#endif
#endif

#ifndef JPP_THROWS_ANYWHERE
#define JPP_THROWS_ANYWHERE  1
#endif


typedef int  (*jpp_throws_pt)(int depth, void (*call)(void *), void *data);


/* one thread's */
typedef struct {
    ucontext_t      caller;
    ucontext_t      callee;
    uint32_t        random;
    jpp_throws_pt   throws;
    void           *code;             /* of a library that may be unknown */
} jpp_actor_t;


static void jpp_compare(void *data);


static uint64_t             jpp_same, jpp_wrong, jpp_unknown, jpp_loads;
static uint64_t             jpp_signals, jpp_signals_cut, jpp_walks;
static uintptr_t            jpp_latest;
static uint32_t             jpp_shown;
static bool                 jpp_is_over;
static char                 jpp_build[PATH_MAX];
static char                 jpp_directory[] = "/tmp/jpp-unwind-XXXXXX";
static jpp_throws_pt        jpp_throws;
static __thread jpp_actor_t  jpp_actor;


static uint32_t
jpp_random(jpp_actor_t *actor, uint32_t n)
{
    actor->random = actor->random * 1103515245 + 12345;

    return (actor->random >> 16) % n;
}


static void
jpp_show(const uintptr_t *pcs, uint32_t n, const uintptr_t *others, uint32_t m,
    jpp_unwind_end_t end)
{
    uint32_t  i;

    if (__atomic_fetch_add(&jpp_shown, 1, __ATOMIC_RELAXED) > 2) {
        return;
    }

    jpp_diag("%u and %u frames, %s", n, m, jpp_unwind_end_name(end));

    for (i = 0; i < n || i < m; i++) {
        jpp_diag("%#" PRIxPTR "  %#" PRIxPTR, i < n ? pcs[i] : 0,
                 i < m ? others[i] : 0);
    }
}


/*
 * From here with both.  A walk may stop at code that was loaded a moment ago,
 * and nowhere else.
 */

static void __attribute__((noinline))
jpp_compare(void *data)
{
    uint32_t          i, n;
    uintptr_t         pcs[JPP_TEST_DEPTH];
    jpp_unwind_end_t  end;
    jpp_test_stack_t  witness;

    (void) data;

    n = jpp_unwind_here(&jpp_test_unwinder, NULL, pcs, JPP_TEST_DEPTH, &end);
    jpp_test_libgcc(&witness);

    for (i = 1; i < 3 && n > 1 && i < witness.n; i++) {
        if (witness.pcs[i] == pcs[1]) {
            break;
        }
    }

    /* both without the frame of this function */

    witness.n -= i;

    if (n - 1 == witness.n
        && memcmp(pcs + 1, witness.pcs + i, witness.n * sizeof(uintptr_t))
           == 0)
    {
        jpp_atomic_add(&jpp_same, 1);

    } else if (end == JPP_UNWIND_OBJECT
               && jpp_actor.code != NULL
               && n - 1 < witness.n
               && memcmp(pcs + 1, witness.pcs + i,
                         (n - 1) * sizeof(uintptr_t)) == 0)
    {
        jpp_atomic_add(&jpp_unknown, 1);

    } else {
        jpp_atomic_add(&jpp_wrong, 1);
        jpp_show(pcs + 1, n - 1, witness.pcs + i, witness.n, end);
    }
}


static __attribute__((noinline)) int
jpp_deep(jpp_actor_t *actor, uint32_t n)
{
    volatile char  *bytes;

    bytes = alloca(1 + jpp_random(actor, 300));
    bytes[0] = 1;

    if (n == 0) {
        jpp_compare(NULL);
        return 1;
    }

    return jpp_deep(actor, n - 1) + bytes[0];
}


static int
jpp_order(const void *one, const void *two)
{
    if (jpp_random(&jpp_actor, 8) == 0) {
        jpp_compare(NULL);
    }

    return *(const int *) one - *(const int *) two;
}


static void
jpp_actor_sort(jpp_actor_t *actor)
{
    int  i, numbers[40];

    for (i = 0; i < 40; i++) {
        numbers[i] = (int) jpp_random(actor, 1000);
    }

    qsort(numbers, 40, sizeof(int), jpp_order);
}


/* A coroutine: it stops deep inside, and goes on from there. */

static __attribute__((noinline)) int
jpp_coroutine_deep(jpp_actor_t *actor, uint32_t n)
{
    volatile int  more = 1;

    if (n == 0) {
        jpp_compare(NULL);
        swapcontext(&actor->callee, &actor->caller);
        jpp_compare(NULL);
        return JPP_THROWS_ANYWHERE ? jpp_throws(3, jpp_compare, NULL) : 0;
    }

    return jpp_coroutine_deep(actor, n - 1) + more;
}


static void
jpp_coroutine_main(void)
{
    jpp_actor_t *actor = &jpp_actor;


    (void) jpp_coroutine_deep(actor, jpp_random(actor, 60));
    (void) jpp_deep(actor, 5);
    jpp_actor_sort(actor);
}


static void
jpp_coroutine(jpp_actor_t *actor)
{
    void  *stack;

    stack = malloc(JPP_COROUTINE);
    jpp_test_switch(&actor->callee, &actor->caller, stack, JPP_COROUTINE,
                    jpp_coroutine_main);
    jpp_compare(NULL);
    swapcontext(&actor->caller, &actor->callee);
    free(stack);
}


static void *
jpp_act(void *data)
{
    jpp_actor_t *actor = &jpp_actor;

    int       i;
    uint32_t  n;

    actor->random = (uint32_t) (uintptr_t) data;

    for (i = 0; i < 4; i++) {
        n = jpp_random(actor, 40);
        (void) jpp_deep(actor, n);
        jpp_actor_sort(actor);
        (void) jpp_throws((int) n / 4, jpp_compare, NULL);
        jpp_coroutine(actor);
    }

    return NULL;
}


/* Threads that end, and others that take their stacks, of other sizes. */

static void *
jpp_start_threads(void *data)
{
    uint64_t         i;
    pthread_t        thread;
    pthread_attr_t   attr;

    for (i = (uintptr_t) data; !jpp_atomic_get(&jpp_is_over); i += 99) {
        pthread_attr_init(&attr);
        pthread_attr_setstacksize(&attr, (size_t) (256 + i % 7 * 64) * 1024);

        if (pthread_create(&thread, &attr, jpp_act, (void *) i) == 0) {
            pthread_join(thread, NULL);
        }

        pthread_attr_destroy(&attr);
    }

    return NULL;
}


/* A library that nobody else has: the Nth copy of one. */

static bool
jpp_copy(uint32_t n, char *name)
{
    int      in, out;
    ssize_t  size;

    snprintf(name, PATH_MAX, "%s/%u.so", jpp_directory, n);
    in = open(jpp_build, O_RDONLY|O_CLOEXEC);
    out = open(name, O_WRONLY|O_CREAT|O_CLOEXEC, 0700);

    do {
        size = sendfile(out, in, NULL, 1 << 20);
    } while (size > 0);

    (void) close(in);
    (void) close(out);

    return size == 0;
}


/* Each is loaded and unloaded until the unwinder has met it, which pins it. */

static void *
jpp_load(void *data)
{
    jpp_actor_t *actor = &jpp_actor;

    char       name[PATH_MAX];
    void      *handle;
    uint32_t   n;

    for (n = 0; n < JPP_LIBRARIES && jpp_copy(n, name); n++) {

        do {
            handle = dlopen(name, RTLD_LAZY);
            if (handle == NULL) {
                return NULL;
            }

            actor->code = dlsym(handle, "jpp_throw_calls");
            actor->throws = (jpp_throws_pt) actor->code;
            jpp_atomic_set(&jpp_latest, (uintptr_t) actor->code);
            (void) actor->throws(3, jpp_compare, NULL);
            (void) dlclose(handle);

            jpp_atomic_add(&jpp_loads, 1);

        } while (jpp_mapped_find(&jpp_test_unwinder.mapped,
                                 (uintptr_t) actor->code) == NULL
                 && !jpp_atomic_get(&jpp_is_over));

        (void) unlink(name);
        actor->code = NULL;
    }

    return data;
}


/* Stacks of addresses in the library that comes and goes: what the unwinder
   does not know it does not read, and what it knows stays. */

static void *
jpp_garbage(void *data)
{
    uint32_t               i;
    uintptr_t              words[64], pcs[64], code;
    jpp_unwind_end_t       end;
    jpp_unwind_stack_t     stack;
    jpp_unwind_context_t   at;

    memset(words, 0, sizeof(words));
    stack.low = (uintptr_t) words;
    stack.high = (uintptr_t) (words + 64);

    while (!jpp_atomic_get(&jpp_is_over)) {
        code = jpp_atomic_get(&jpp_latest);

        for (i = 0; i < 64; i++) {
            words[i] = code + jpp_random(&jpp_actor, 256);
        }

        for (i = 0; i < JPP_FRAME_REGISTERS; i++) {
            at.registers[i] = stack.low + 8 * jpp_random(&jpp_actor, 64);
        }

        at.pc = code;
        at.known = (1u << JPP_FRAME_REGISTERS) - 1;
        at.is_exact = jpp_random(&jpp_actor, 2) == 0;

        (void) jpp_unwind_walk(&jpp_test_unwinder, &at, &stack, pcs, 64, &end);
        jpp_atomic_add(&jpp_walks, 1);
    }

    return data;
}


/* At any instruction; libgcc's unwinder is not asked there. */

static void
jpp_signal(int signo, siginfo_t *info, void *ucontext)
{
    uintptr_t              pcs[JPP_TEST_DEPTH];
    jpp_unwind_end_t       end;
    jpp_unwind_context_t   at;

    (void) signo;
    (void) info;

    jpp_unwind_interrupted(&at, ucontext);
    (void) jpp_unwind_walk(&jpp_test_unwinder, &at, NULL, pcs, JPP_TEST_DEPTH,
                           &end);

    jpp_atomic_add(&jpp_signals, 1);

    if (end == JPP_UNWIND_STACK || end == JPP_UNWIND_ODD) {
        jpp_atomic_add(&jpp_signals_cut, 1);
    }
}


static void
jpp_prepare(void)
{
    void              *handle;
    struct sigaction   sa = { .sa_sigaction = jpp_signal,
                              .sa_flags = SA_SIGINFO|SA_RESTART };
    jpp_test_stack_t   warm;

    handle = dlopen(jpp_beside("jpp_throw.so", jpp_build), RTLD_NOW);
    jpp_throws = handle == NULL
                 ? NULL : (jpp_throws_pt) dlsym(handle, "jpp_throw_calls");
    jpp_ok(jpp_throws != NULL, "%s throws", jpp_build);
    jpp_ok(mkdtemp(jpp_directory) != NULL, "a place for its copies");
    jpp_images_unwind(&jpp_test_unwinder.mapped);
    jpp_test_libgcc(&warm);

    sigaction(SIGUSR1, &sa, NULL);
}


/* Until COUNT stacks were compared: the unwinder learns what was loaded, and
   the process is interrupted, in whatever thread the kernel takes. */

static void
jpp_run(uint64_t count)
{
    uintptr_t  i;
    pthread_t  starters[JPP_THREADS], loader, garbage;

    for (i = 0; i < JPP_THREADS; i++) {
        pthread_create(&starters[i], NULL, jpp_start_threads, (void *) i);
    }

    pthread_create(&loader, NULL, jpp_load, NULL);
    pthread_create(&garbage, NULL, jpp_garbage, NULL);

    while (jpp_atomic_get(&jpp_same) < count
           && jpp_atomic_get(&jpp_wrong) == 0)
    {
        for (i = 0; i < 100; i++) {
            (void) usleep(50);
            (void) pthread_kill(starters[i % JPP_THREADS], SIGUSR1);
            (void) kill(getpid(), SIGUSR1);
        }

        jpp_images_unwind(&jpp_test_unwinder.mapped);
    }

    jpp_atomic_set(&jpp_is_over, true);

    for (i = 0; i < JPP_THREADS; i++) {
        pthread_join(starters[i], NULL);
    }

    pthread_join(loader, NULL);
    pthread_join(garbage, NULL);
}


int
main(void)
{
    uint64_t     count;
    const char  *soak;

    jpp_prepare();

    if (jpp_throws != NULL) {
        soak = getenv("JPP_SOAK");
        count = soak == NULL ? 0 : strtoull(soak, NULL, 10);
        jpp_run(count < JPP_STACKS ? JPP_STACKS : count);
    }

    (void) rmdir(jpp_directory);

    jpp_ok(jpp_same >= JPP_STACKS, "%" PRIu64 " stacks are as libgcc sees them",
           jpp_same);
    jpp_is_u64(jpp_wrong, 0, "and none is not");
    jpp_ok(jpp_loads >= JPP_LIBRARIES,
           "libraries were loaded and unloaded %" PRIu64 " times; %" PRIu64
           " stacks ended there", jpp_loads, jpp_unknown);
    jpp_ok(jpp_walks > 0, "%" PRIu64 " stacks of addresses in them", jpp_walks);
    jpp_ok(jpp_signals > 0 && jpp_signals_cut * 10000 <= jpp_signals,
           "%" PRIu64 " signals, %" PRIu64 " stacks were cut", jpp_signals,
           jpp_signals_cut);

    return jpp_done();
}


#else


JPP_TEST_ONLY(!JPP_UNWIND_IS_HERE, "there is no unwinder for this machine")


#endif

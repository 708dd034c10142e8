
/*
 * The hook in a real jemalloc: whose frames are in its dumps, in threads and
 * coroutines, in code of nobody and in libraries that come later, while others
 * throw.  See jpp_test_jemalloc.h.
 */

#define JPP_PROGRAM  "jpp_hook_test"

#include "jpp_test_jemalloc.h"


#define JPP_HOOK_THREADS     8
#define JPP_HOOK_ROUNDS      300
#define JPP_HOOK_COROUTINE   (64 * 1024)

/* each is sampled */
#define JPP_HOOK_CONF        "prof:true,lg_prof_sample:0,prof_prefix:"
#define JPP_HOOK_BLOCK       200


typedef void *(*jpp_hook_alloc_pt)(size_t size, void **caller);


static long (*jpp_hook_throw)(unsigned n);


static void
jpp_part_hook(void)
{
    jpp_hook_t  before, set, again;

    before = jpp_hook_read();
    set = jpp_hook_set();
    again = jpp_hook_set();
    jpp_hook_reset();

    printf("before %d, set %d, again %d, after %d\n", before, set, again,
           jpp_hook_read());
}


static void __attribute__((noinline))
jpp_part_start(void)
{
    if (jpp_hook_set() != JPP_HOOK_ON) {
        printf("no hook ");
    }
}


static void * __attribute__((noinline))
jpp_part_alloc(size_t size, void **caller)
{
    void  *p;

    *caller = __builtin_return_address(0);
    p = malloc(size);

    __asm__ volatile ("" : : "r" (p) : "memory");

    return p;
}


/*
 * Is there a stack in a dump with FRAME and, where BEHIND is not NULL, with
 * that behind it in the same line?
 */

static unsigned
jpp_part_dump_has(const void *frame, const char *behind)
{
    char         text[32], *found, *end;
    jpp_err_t    err;
    jpp_memfd_t  memfd;

    jpp_print(text, " 0x%zx", (size_t) frame);

    if (jpp_memfd_open(&memfd, NULL, &err) != JPP_OK
        || jpp_jemalloc_dump(memfd.fd, &err) != JPP_OK
        || jpp_memfd_map(&memfd, 16 << 20, &err) != JPP_OK)
    {
        printf("no dump: %s ", err.text);
        return 0;
    }

    found = strndup(memfd.data, memfd.len);

    for ( ;; ) {
        found = strstr(found, text);

        if (found == NULL) {
            return 0;
        }

        found += strlen(text);
        end = strchr(found, '\n');

        if ((*found == ' ' || *found == '\n')
            && (behind == NULL
                || memmem(found, (size_t) (end + 1 - found), behind,
                          strlen(behind))
                   != NULL))
        {
            return 1;
        }
    }
}


/* The function NAME of the library beside this program. */

static void *
jpp_part_library(const char *name)
{
    char   path[4096];
    void  *library;

    library = dlopen(jpp_beside("jpp_throw.so", path), RTLD_NOW);

    if (library == NULL) {
        printf("%s\n", dlerror());
        fflush(stdout);
        _exit(1);
    }

    return dlsym(library, name);
}


/* The stack from malloc() to the start of the program. */

static void
jpp_part_frames(void)
{
    void       *caller;
    uintptr_t   pcs[64];
    uint32_t    n;
    char        outermost[32];

    jpp_part_start();
    (void) jpp_part_alloc(JPP_HOOK_BLOCK, &caller);

    n = jpp_backtrace(pcs, 64);
    jpp_print(outermost, " 0x%zx\n", pcs[n - 1]);

    jpp_jemalloc_read(&jemalloc);

    printf("caller %u, outermost %u, cut %" PRIu64 "\n",
           jpp_part_dump_has(caller, NULL),
           jpp_part_dump_has(caller, outermost), jemalloc.stacks.n_cut);
}


static void
jpp_part_given_back(void)
{
    void                    *caller;
    uint64_t                 ours, theirs;
    jpp_backtrace_counts_t   counts;

    jpp_part_start();

    (void) jpp_part_alloc(JPP_HOOK_BLOCK, &caller);
    jpp_backtrace_count(&counts);
    ours = counts.n;

    jpp_hook_reset();

    (void) jpp_part_alloc(JPP_HOOK_BLOCK, &caller);
    jpp_backtrace_count(&counts);
    theirs = counts.n - ours;

    (void) jpp_hook_set();

    (void) jpp_part_alloc(JPP_HOOK_BLOCK, &caller);
    jpp_backtrace_count(&counts);

    printf("ours %d, then %" PRIu64 ", ours again %d\n", ours != 0, theirs,
           counts.n != 0);
}


static void
jpp_part_coroutine(void)
{
    void  *caller;

    free(jpp_part_alloc(JPP_HOOK_BLOCK, &caller));
}


static void
jpp_part_switch(void)
{
    void        *stack;
    ucontext_t   coroutine, here;

    stack = mmap(NULL, JPP_HOOK_COROUTINE, PROT_READ|PROT_WRITE,
                 MAP_PRIVATE|MAP_ANONYMOUS, -1, 0);

    jpp_test_switch(&coroutine, &here, stack, JPP_HOOK_COROUTINE,
                    jpp_part_coroutine);

    munmap(stack, JPP_HOOK_COROUTINE);
}


static void *
jpp_part_thread(void *data)
{
    int    i;
    long   caught;
    void  *caller;

    (void) data;

    caught = 0;

    for (i = 0; i < JPP_HOOK_ROUNDS; i++) {
        free(jpp_part_alloc(JPP_HOOK_BLOCK, &caller));
        caught += jpp_hook_throw(10);
        jpp_part_switch();
    }

    /* libgcc unwinds the frames of this thread */

    pthread_exit((void *) caught);
}


/* Threads, coroutines in them, exceptions, and threads that end by force. */

static void
jpp_part_threads(void)
{
    int         i;
    long        caught;
    void       *value;
    pthread_t   threads[JPP_HOOK_THREADS];

    jpp_hook_throw = jpp_part_library("jpp_throw");
    jpp_part_start();

    caught = 0;

    for (i = 0; i < JPP_HOOK_THREADS; i++) {
        (void) pthread_create(&threads[i], NULL, jpp_part_thread, NULL);
    }

    for (i = 0; i < JPP_HOOK_THREADS; i++) {
        (void) pthread_join(threads[i], &value);
        caught += (long) value;
    }

    jpp_jemalloc_read(&jemalloc);

    printf("caught %s, cut %" PRIu64 "\n",
           caught == JPP_HOOK_THREADS * JPP_HOOK_ROUNDS * 10 ? "all" : "some",
           jemalloc.stacks.n_cut);
}


/* malloc() from code that nobody knows. */

static void
jpp_part_jit(void)
{
    void                    *(*code)(size_t size, void *(*alloc)(size_t size));
    uint8_t                  *page;
    jpp_backtrace_counts_t    counts;

    /* sub $8, %rsp; call *%rsi; add $8, %rsp; ret */

    static const uint8_t  bytes[] = {
        0x48, 0x83, 0xec, 0x08, 0xff, 0xd6, 0x48, 0x83, 0xc4, 0x08, 0xc3
    };

    page = mmap(NULL, 4096, PROT_READ|PROT_WRITE|PROT_EXEC,
                MAP_PRIVATE|MAP_ANONYMOUS, -1, 0);
    memcpy(page, bytes, sizeof(bytes));
    memcpy(&code, &page, sizeof(page));

    jpp_part_start();
    (void) code(JPP_HOOK_BLOCK, malloc);
    jpp_backtrace_count(&counts);

    printf("cut %" PRIu64 ", frame %u\n", counts.n_cut,
           jpp_part_dump_has((void *) 0x101, "\n"));
}


/* A library that is opened once the hook is set. */

static void
jpp_part_late(void)
{
    void                    *caller;
    uint64_t                 cut;
    jpp_hook_alloc_pt        alloc;
    jpp_backtrace_counts_t   counts;

    jpp_part_start();

    alloc = jpp_part_library("jpp_throw_alloc");

    jpp_backtrace_count(&counts);
    cut = counts.n_cut;

    (void) alloc(JPP_HOOK_BLOCK, &caller);
    jpp_backtrace_count(&counts);
    printf("cut at first %" PRIu64, counts.n_cut - cut);

    jpp_backtrace_refresh();
    cut = counts.n_cut;

    (void) alloc(JPP_HOOK_BLOCK, &caller);
    jpp_backtrace_count(&counts);
    printf(", then %" PRIu64 ", caller %u\n", counts.n_cut - cut,
           jpp_part_dump_has(caller, NULL));
}


static const jpp_part_t  jpp_parts[] = {
    { "state",       jpp_part_state },
    { "hook",        jpp_part_hook },
    { "frames",      jpp_part_frames },
    { "given back",  jpp_part_given_back },
    { "threads",     jpp_part_threads },
    { "jit",         jpp_part_jit },
    { "late",        jpp_part_late }
};


/* What a jemalloc without the hook says, and one that does not profile. */

static void
jpp_tests(void)
{
    static const jpp_run_t  runs[] = {
        { jpp_fake_so, NULL, "", "hook", "" }, { NULL, NULL, "", "hook", "" },
        { JPP_REAL, "prof:false", NULL, "hook", "" }
    };

    jpp_shows_runs(runs, 2, "without the hook");

    if (!JPP_IS_SANITIZED) {
        jpp_shows_runs(&runs[2], 1, "a profiler that is off for good");
    }
}


static void
jpp_tests_real(void)
{
    size_t     i;
    jpp_run_t  run = { JPP_REAL, JPP_HOOK_CONF, NULL, NULL, "" };

    for (i = 1; i < sizeof(jpp_parts) / sizeof(jpp_parts[0]); i++) {
        run.part = jpp_parts[i].name;
        jpp_note_run(&run);
    }

    jpp_shows_notes("with the hook");
}


JPP_TESTS_OF(jpp_parts, jpp_tests, jpp_tests_real)

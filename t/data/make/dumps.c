
/*
 * The C programs behind the corpus of heap dumps, one mode each:
 *
 *     dumps MODE PATH
 *
 * Every mode allocates in a way that gives its dump a shape nginx's own do
 * not have, then writes jemalloc's dump to PATH and leaves without freeing.
 * The table at the head of main() lists the modes; make.sh says with which
 * MALLOC_CONF each is run, and links the mode "plain" statically as well.
 * The sites are exported, not inlined, and none ends in a tail call, so that
 * each is a frame.
 */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>


#define DUMPS_SITE      __attribute__((noinline))

#define DUMPS_THREADS   6
#define DUMPS_DEPTH     300

#define dumps_nelts(a)  (sizeof(a) / sizeof((a)[0]))


typedef int (*dumps_mallctl_pt)(const char *name, void *oldp,
    size_t *oldlenp, void *newp, size_t newlen);

typedef struct {
    const char  *name;
    void       (*run)(void);
} dumps_mode_t;

typedef struct {
    void      *(*alloc)(size_t size);
    size_t       size;
    size_t       count;
} dumps_live_t;


void *dumps_recurse(size_t depth, size_t size);
void *dumps_route(void *(*alloc)(size_t size), size_t depth, size_t size);


/* The first is left as pthread_create() made it: no name in the dump. */

static const char  *dumps_names[DUMPS_THREADS] = {
    NULL, "pool", "pool worker 2", "a: b [c: d]", "ends in 4 ", "gone 5"
};

static dumps_mallctl_pt   dumps_mallctl;
static pthread_barrier_t  dumps_ready;
static pthread_barrier_t  dumps_done;


static void
dumps_die(const char *what)
{
    fprintf(stderr, "dumps: %s\n", what);
    exit(1);
}


static void *
dumps_check(void *p)
{
    if (p == NULL) {
        dumps_die("out of memory");
    }

    return p;
}


DUMPS_SITE void *
dumps_recurse(size_t depth, size_t size)
{
    if (depth == 0) {
        return dumps_check(malloc(size));
    }

    return dumps_check(dumps_recurse(depth - 1, size));
}


/* A site by the name, which calls ALLOC for SIZE. */
#define DUMPS_DEFINE(name, alloc)                                             \
    void *name(size_t size);                                                  \
                                                                              \
    DUMPS_SITE void *                                                         \
    name(size_t size)                                                         \
    {                                                                         \
        return dumps_check(alloc);                                            \
    }


DUMPS_DEFINE(site_lg0_a, malloc(size))
DUMPS_DEFINE(site_lg0_b, malloc(size))
DUMPS_DEFINE(site_lg0_c, calloc(1, size))
DUMPS_DEFINE(site_lg0_deep, dumps_recurse(DUMPS_DEPTH, size))
DUMPS_DEFINE(site_accum_kept, malloc(size))
DUMPS_DEFINE(site_accum_freed, malloc(size))
DUMPS_DEFINE(site_accum_half, malloc(size))
DUMPS_DEFINE(site_thread_small, malloc(size))
DUMPS_DEFINE(site_thread_large, malloc(size))


/*
 * The known live set.  With lg_prof_sample:0 the dump shows exactly these
 * counts, in usable sizes (100 is 112, 5000 is 5120, 70000 is 81920), and
 * besides them only what the loader and libstdc++ took before main().  The
 * stack of site_lg0_deep is cut at jemalloc's limit of frames: 128, or what
 * prof_bt_max says in 5.3.1.
 */

static const dumps_live_t  dumps_live[] = {
    { site_lg0_a,      16,   1000 },
    { site_lg0_a,     100,    500 },
    { site_lg0_b,    5000,     40 },
    { site_lg0_c,   70000,      7 },
    { site_lg0_deep, 1024,      3 },
};


static void
dumps_lg0(void)
{
    size_t  i, n;

    for (i = 0; i < dumps_nelts(dumps_live); i++) {
        for (n = 0; n < dumps_live[i].count; n++) {
            (void) dumps_live[i].alloc(dumps_live[i].size);
        }
    }
}


/* Every depth is a stack of its own. */

DUMPS_SITE void *
dumps_route(void *(*alloc)(size_t size), size_t depth, size_t size)
{
    if (depth == 0) {
        return dumps_check(alloc(size));
    }

    return dumps_check(dumps_route(alloc, depth - 1, size));
}


/*
 * Three sites, each reached by eight stacks and in eight sizes: one keeps
 * all, one frees all, one every other object.  With prof_accum the second
 * prints `0: 0 [n: b]` stacks; without it they are not in the dump.
 */

static void
dumps_accum(void)
{
    void    *p;
    size_t   i, size, depth;

    for (i = 0; i < 64000; i++) {
        size = (size_t) 32 << (i % 8);
        depth = i / 8 % 8;

        (void) dumps_route(site_accum_kept, depth, size);

        p = dumps_route(site_accum_freed, depth, size);
        free(p);

        p = dumps_route(site_accum_half, depth, size);
        if (i & 64) {
            free(p);
        }
    }
}


static void *
dumps_thread(void *data)
{
    size_t        i;
    const char  **name;

    name = data;

    if (*name != NULL) {
        (void) pthread_setname_np(pthread_self(), *name);

        if (dumps_mallctl("thread.prof.name", NULL, NULL, (void *) name,
                          sizeof(*name))
            != 0)
        {
            dumps_die("thread.prof.name refused the name");
        }
    }

    for (i = 0; i < 400; i++) {
        (void) site_thread_small(200);
        (void) site_thread_large(9000);
    }

    if (name == &dumps_names[DUMPS_THREADS - 1]) {
        return NULL;
    }

    /* the main thread passes the first one and dumps; nobody the second */

    (void) pthread_barrier_wait(&dumps_ready);
    (void) pthread_barrier_wait(&dumps_done);

    return NULL;
}


/*
 * All threads share their stacks, so that each stack has one line a thread.
 * The last has exited by the time of the dump and what it allocated lives.
 */

static void
dumps_threads(void)
{
    size_t     i;
    pthread_t  tids[DUMPS_THREADS];

    if (pthread_barrier_init(&dumps_ready, NULL, DUMPS_THREADS) != 0
        || pthread_barrier_init(&dumps_done, NULL, DUMPS_THREADS) != 0)
    {
        dumps_die("pthread_barrier_init() failed");
    }

    for (i = 0; i < DUMPS_THREADS; i++) {
        if (pthread_create(&tids[i], NULL, dumps_thread,
                           (void *) &dumps_names[i])
            != 0)
        {
            dumps_die("pthread_create() failed");
        }
    }

    if (pthread_join(tids[DUMPS_THREADS - 1], NULL) != 0) {
        dumps_die("pthread_join() failed");
    }

    (void) pthread_barrier_wait(&dumps_ready);
}


int
main(int argc, char *const *argv)
{
    size_t        i;
    const char   *path;
    static const dumps_mode_t  modes[] = {
        { "lg0",     dumps_lg0     },
        { "accum",   dumps_accum   },
        { "threads", dumps_threads },
        { "plain",   dumps_accum   },
    };

    if (argc != 3) {
        dumps_die("usage: dumps lg0|accum|threads|plain PATH");
    }

    path = argv[2];

    *(void **) &dumps_mallctl = dlsym(RTLD_DEFAULT, "mallctl");
    if (dumps_mallctl == NULL) {
        dumps_die("no mallctl: is libjemalloc preloaded?");
    }

    for (i = 0; i < dumps_nelts(modes); i++) {
        if (strcmp(argv[1], modes[i].name) == 0) {
            break;
        }
    }

    if (i == dumps_nelts(modes)) {
        dumps_die("no such mode");
    }

    modes[i].run();

    if (dumps_mallctl("prof.dump", NULL, NULL, &path, sizeof(path)) != 0) {
        dumps_die("prof.dump failed: MALLOC_CONF=prof:true set?");
    }

    return 0;
}

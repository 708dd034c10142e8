
/*
 * A program with a known live set, for the accuracy test of the heap scaling.
 *
 *     liveset SEED PATH [PERCENT]
 *
 * SEED chooses how many objects each site makes, in which order the sites
 * take turns, and which objects die; PATH receives the jemalloc dump; PERCENT
 * scales the counts (100, the default, leaves 200 to 400 MB alive; take 1 for
 * lg_prof_sample:0, where every small object costs a page run of its own).
 *
 * stdout is the truth, one line a site and the sum at the end:
 *
 *     site_name objects bytes
 *     total objects bytes
 *
 * Bytes are usable sizes, because those are what jemalloc counts.  A site is
 * a function of its own, found in .symtab; whatever a dump shows outside of
 * the sites (libstdc++'s emergency pool, the loader) is not in the truth.
 *
 * Run it with LD_PRELOAD=libjemalloc.so.2 and, for example,
 * MALLOC_CONF=prof:true,prof_active:true,lg_prof_sample:19.  jemalloc draws
 * its sampling gaps from a generator seeded with the address of the thread's
 * data, so address space randomisation alone makes two runs of one SEED
 * sample different objects; under "setarch -R" they sample the same ones.
 */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>


#define LIVESET_NOINLINE  __attribute__((noinline))

#define liveset_nelts(a)  (sizeof(a) / sizeof((a)[0]))


typedef int (*liveset_mallctl_pt)(const char *name, void *oldp,
    size_t *oldlenp, void *newp, size_t newlen);

typedef struct {
    const char   *name;
    void       *(*alloc)(void);
    size_t        count;
} liveset_site_t;

typedef struct {
    size_t        objects;
    size_t        bytes;
} liveset_sum_t;

typedef struct {
    void         *p;
    size_t        site;
} liveset_object_t;


void *liveset_route_even(const liveset_site_t *site);
void *liveset_route_odd(const liveset_site_t *site);

static uint64_t  liveset_seed;


static void
liveset_die(const char *what)
{
    fprintf(stderr, "liveset: %s\n", what);
    exit(1);
}


static void *
liveset_check(void *p)
{
    if (p == NULL) {
        liveset_die("out of memory");
    }

    return p;
}


/*
 * The sites: X(name, count, what it allocates).  Counts are those before the
 * seed moves them by up to a quarter either way.  Nearly every site holds
 * 40 MB, so that none of them decides the total alone.
 */
#define LIVESET_SITES(X)                                                      \
    X(site_malloc_24,      800000, malloc(24))                                \
    X(site_malloc_64,      600000, malloc(64))                                \
    X(site_calloc_200,     180000, calloc(4, 50))                             \
    X(site_malloc_1000,     40000, malloc(1000))                              \
    X(site_aligned_4096,    10000, aligned_alloc(4096, 4096))                 \
    X(site_realloc_12000,    3400, realloc(malloc(600), 12000))               \
    X(site_malloc_40000,     1000, malloc(40000))                             \
    X(site_calloc_300000,     128, calloc(1, 300000))                         \
    X(site_malloc_1048576,     40, malloc(1048576))

/*
 * The check after each allocation keeps the compiler from turning it into a
 * tail call, which would take the site out of the stack.
 */
#define LIVESET_DEFINE(name, count, call)                                     \
    void *name(void);                                                         \
                                                                              \
    LIVESET_NOINLINE void *                                                   \
    name(void)                                                                \
    {                                                                         \
        return liveset_check(call);                                           \
    }

#define LIVESET_ROW(name, count, call)  { #name, name, count },


LIVESET_SITES(LIVESET_DEFINE)


static const liveset_site_t  liveset_sites[] = {
    LIVESET_SITES(LIVESET_ROW)
};


/* splitmix64: the same sequence for a seed with every libc */

static uint64_t
liveset_random(void)
{
    uint64_t  z;

    liveset_seed += 0x9e3779b97f4a7c15;

    z = liveset_seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;

    return z ^ (z >> 31);
}


static size_t
liveset_plan(size_t *left, size_t percent)
{
    size_t  i, n, total;

    total = 0;

    for (i = 0; i < liveset_nelts(liveset_sites); i++) {
        n = liveset_sites[i].count;
        n = n * 3 / 4 + liveset_random() % (n / 2);
        n = n * percent / 100;

        left[i] = n ? n : 1;
        total += left[i];
    }

    return total;
}


/* The sites take turns in proportion to what each still has to allocate. */

static size_t
liveset_turn(const size_t *left, size_t total)
{
    size_t  i, n;

    n = liveset_random() % total;

    for (i = 0; n >= left[i]; i++) {
        n -= left[i];
    }

    return i;
}


/* Two routes: a site is then the sum of two stacks, as in a real program. */

LIVESET_NOINLINE void *
liveset_route_even(const liveset_site_t *site)
{
    return liveset_check(site->alloc());
}


LIVESET_NOINLINE void *
liveset_route_odd(const liveset_site_t *site)
{
    return liveset_check(site->alloc());
}


int
main(int argc, char *const *argv)
{
    size_t              i, n, s, total, percent;
    size_t              left[liveset_nelts(liveset_sites)];
    uint64_t            r;
    const char         *path;
    liveset_sum_t       all, sums[liveset_nelts(liveset_sites)];
    liveset_object_t   *objects;
    liveset_mallctl_pt  ctl;
    static char         out[4096];

    if (argc != 3 && argc != 4) {
        liveset_die("usage: liveset SEED PATH [PERCENT]");
    }

    /* stdio's own buffer would be one more live object */
    (void) setvbuf(stdout, out, _IOFBF, sizeof(out));

    liveset_seed = strtoull(argv[1], NULL, 10);
    path = argv[2];
    percent = (argc == 4) ? strtoul(argv[3], NULL, 10) : 100;

    if (percent == 0 || percent > 1000) {
        liveset_die("PERCENT is 1 to 1000");
    }

    *(void **) &ctl = dlsym(RTLD_DEFAULT, "mallctl");
    if (ctl == NULL) {
        liveset_die("no mallctl: is libjemalloc preloaded?");
    }

    total = liveset_plan(left, percent);

    /* mapped, because the list of the live objects is not one of them */
    objects = mmap(NULL, total * sizeof(liveset_object_t),
                   PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0);
    if (objects == MAP_FAILED) {
        liveset_die("mmap() failed");
    }

    for (n = 0; n < total; n++) {
        s = liveset_turn(left, total - n);
        left[s]--;

        objects[n].site = s;
        objects[n].p = (liveset_random() & 1)
                       ? liveset_route_odd(&liveset_sites[s])
                       : liveset_route_even(&liveset_sites[s]);
    }

    memset(&all, 0, sizeof(all));
    memset(sums, 0, sizeof(sums));

    for (n = 0; n < total; n++) {
        r = liveset_random();

        if (r % 5 == 0) {
            free(objects[n].p);
            continue;
        }

        s = objects[n].site;
        sums[s].objects++;
        sums[s].bytes += malloc_usable_size(objects[n].p);
    }

    if (ctl("prof.dump", NULL, NULL, &path, sizeof(path)) != 0) {
        liveset_die("prof.dump failed: MALLOC_CONF=prof:true set?");
    }

    for (i = 0; i < liveset_nelts(liveset_sites); i++) {
        printf("%s %zu %zu\n", liveset_sites[i].name, sums[i].objects,
               sums[i].bytes);

        all.objects += sums[i].objects;
        all.bytes += sums[i].bytes;
    }

    printf("total %zu %zu\n", all.objects, all.bytes);

    return fflush(stdout) == 0 ? 0 : 1;
}

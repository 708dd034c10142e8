
#include "jpp_samples.h"
#include "jpp_cut.h"
#include "jpp_owner_names.h"

#include <pthread.h>


/* frames of the profiler that a stack may begin with, and some more */
#define JPP_SAMPLES_OWN  6


/*
 * The draw is -ln(u) * 2^lg for a random u in (0, 1), which is
 * -log2(u) * ln(2) * 2^lg.  Random bits with the first one at place k are
 * 2^k * m with m in [1, 2), so -log2(u) is 64 - k - log2(m): the logarithm is
 * read from a table of 1024 steps, and interpolated.
 */


#define JPP_DRAW_STEPS_LG  10
#define JPP_DRAW_STEPS     (1 << JPP_DRAW_STEPS_LG)

/* bits of a logarithm behind the point, and those of ln(2) */
#define JPP_DRAW_BITS      31
#define JPP_DRAW_LN2       11629080            /* ln(2) * 2^24 */
#define JPP_DRAW_LN2_BITS  24


/* log2(1 + i / 1024) */
static uint32_t  jpp_draw_logs[JPP_DRAW_STEPS + 1];


/* Bit by bit: squaring a number doubles its logarithm. */

static uint32_t
jpp_draw_log2(uint32_t step)
{
    uint32_t  i, log;
    uint64_t  x;

    /* 1 + step / 1024, with 31 bits behind the point */

    x = (uint64_t) (JPP_DRAW_STEPS + step)
        << (JPP_DRAW_BITS - JPP_DRAW_STEPS_LG);
    log = 0;

    for (i = 0; i < JPP_DRAW_BITS; i++) {
        x = x * x >> JPP_DRAW_BITS;
        log <<= 1;

        if (x >> (JPP_DRAW_BITS + 1) != 0) {
            x >>= 1;
            log |= 1;
        }
    }

    return log;
}


void
jpp_draw_init(void)
{
    uint32_t  i;

    for (i = 0; i < JPP_DRAW_STEPS; i++) {
        jpp_draw_logs[i] = jpp_draw_log2(i);
    }

    jpp_draw_logs[JPP_DRAW_STEPS] = (uint32_t) 1 << JPP_DRAW_BITS;
}


int64_t
jpp_draw(uint64_t *state, uint32_t lg)
{
    uint32_t  i, zeros;
    uint64_t  random, fraction, log;

    /* splitmix64 (Steele, Lea, Flood, 2014) */

    *state += 0x9e3779b97f4a7c15u;

    random = *state;
    random = (random ^ random >> 30) * 0xbf58476d1ce4e5b9u;
    random = (random ^ random >> 27) * 0x94d049bb133111ebu;
    random = (random ^ random >> 31) | 1;

    zeros = (uint32_t) __builtin_clzll(random);
    random <<= zeros;

    /* behind the first bit: ten for the step, and 32 to interpolate */

    i = random >> (63 - JPP_DRAW_STEPS_LG) & (JPP_DRAW_STEPS - 1);
    fraction = random >> (31 - JPP_DRAW_STEPS_LG) & UINT32_MAX;

    log = jpp_draw_logs[i];
    log += ((jpp_draw_logs[i + 1] - log) * fraction) >> 32;
    log = ((uint64_t) (zeros + 1) << JPP_DRAW_BITS) - log;

    /* 38 bits, and 24: no more than 62 */

    return (int64_t) (log * JPP_DRAW_LN2
                      >> (JPP_DRAW_BITS + JPP_DRAW_LN2_BITS - lg));
}


/*
 * An allocation of m bytes is sampled with the probability 1 - exp(-m / 2^lg),
 * which jpp_heap.h undoes: each thread counts down the bytes that it allocates
 * from a number that is drawn anew after each sample.
 *
 * A thread that has drawn for an earlier start, or never, draws when it has
 * counted down, and the allocation that it is at counts for the new number.  So
 * after a change of the rate a thread other than the one that made it takes its
 * first sample as late as the earlier rate had it.
 */


JPP_SAMPLES_THREAD jpp_samples_thread_t  jpp_samples_thread;
jpp_samples_t                            jpp_samples;


/* The child has what its parent had, but goes on by numbers of its own. */

static void
jpp_samples_forked(void)
{
    jpp_samples.seed = jpp_hash_u64(jpp_samples.seed ^ (uint64_t) getpid());
    jpp_samples.generation += 2;
}


/* Of huge pages a few objects would touch all. */

bool
jpp_samples_prepare(void)
{
    size_t    size;
    uint8_t  *p;

    if (jpp_samples.live.addresses != NULL) {
        return true;
    }

    size = JPP_LIVE_MEMORY + JPP_SITES_MEMORY;
    p = jpp_own_pages(size);

    if (p == NULL) {
        return false;
    }

    (void) madvise(p, size, MADV_NOHUGEPAGE);

    jpp_sites_init(&jpp_samples.sites, p + JPP_LIVE_MEMORY, JPP_SITES_WORDS);
    jpp_live_init(&jpp_samples.live, p);
    jpp_draw_init();

    (void) pthread_atfork(NULL, NULL, jpp_samples_forked);

    return true;
}


void
jpp_samples_start(uint32_t lg, uint64_t seed)
{
    jpp_live_clear(&jpp_samples.live);
    jpp_sites_clear(&jpp_samples.sites);

    jpp_atomic_set(&jpp_samples.n_cut, 0);
    jpp_atomic_set(&jpp_samples.lg, lg);
    jpp_atomic_set(&jpp_samples.started, jpp_samples.live.now);
    jpp_atomic_set(&jpp_samples.seed, seed);
    jpp_atomic_set(&jpp_samples.generation, (jpp_samples.generation + 1) | 1);

    jpp_samples_thread.left = 0;
}


void
jpp_samples_stop(void)
{
    jpp_atomic_set(&jpp_samples.generation, (jpp_samples.generation | 1) + 1);

    jpp_live_clear(&jpp_samples.live);
}


/*
 * Repeat sites: a stack that was walked before is compared, not walked.
 *
 * The problem: a walk, and the search for its site, was half of what a sample
 * costs, and most samples come from a stack that has been seen.
 *
 * The method: where a call returns to says how far above rsp the return address
 * of its caller lies, in nearly all code.  So a site keeps, beside its
 * addresses, the word of the stack where each lay, seen from the first frame's
 * rsp.  A sample whose first frame is that of a site compares these words: if
 * each holds its address, the stack is the same, by induction from the first
 * frame, since each address is where its frame has it.
 *
 * Why it is safe: no word is read beyond the stack that rsp lies in, whose end
 * is proven (jpp_backtrace_holds()); and what is remembered is a number of a
 * site, which is never given up.
 *
 * What bounds it: one comparison for each frame, JPP_SITES_DEPTH at most; 2^10
 * sites, of which two that share a place take turns.  Stacks that were cut, and
 * those with a frame whose size depends on more than its code, are walked each
 * time (JPP_SITES_VARIES).
 *
 * Measured: 115 instructions for eleven frames, a quarter of a walk.  Requests
 * for static files, sampled at every 4 KiB, took 6.2 % more instructions than
 * without samples, in place of 14.4 %.
 *
 * [signal] No lock, no memory; any thread.
 */


static inline uint32_t
jpp_repeat_place(const jpp_backtrace_frame_t *frame, const jpp_site_key_t *key)
{
    return (uint32_t) ((frame->pc + frame->rsp * 5 + key->kind * 1021u)
                       * 0x9e3779b97f4a7c15u >> (64 - JPP_REPEAT_LG));
}


/* The site of KEY whose stack begins with FRAME; 0: it has to be walked. */

static uint32_t
jpp_repeat_find(const jpp_backtrace_frame_t *frame, const jpp_site_key_t *key)
{
    uint32_t         i, site;
    uint64_t         reach;
    jpp_site_t      *at;
    const uint32_t  *words;

    site = jpp_atomic_get(&jpp_samples.again[jpp_repeat_place(frame, key)]);

    if (site == 0) {
        return 0;
    }

    at = jpp_sites_at(&jpp_samples.sites, site);
    reach = jpp_atomic_get(&at->reach);

    if (at->pcs[0] != frame->pc
        || at->key.kind != key->kind
        || !jpp_backtrace_holds(frame->rsp, reach))
    {
        return 0;
    }

    words = jpp_sites_words(at);

    for (i = 1; i < at->n; i++) {
        if (jpp_frame_word(frame->rsp + words[i] * sizeof(uintptr_t))
            != at->pcs[i])
        {
            return 0;
        }
    }

    return site;
}


/* The bytes of stack that SITE's addresses lie in, which become known.  Two
   threads that are here at once find the same. */

static uint64_t
jpp_repeat_reach(jpp_site_t *site)
{
    uint32_t   i, *words;
    uintptr_t  distance, rsp;

    words = jpp_sites_words(site);
    words[0] = 0;
    rsp = 0;

    for (i = 0; /* void */ ; i++) {
        distance = jpp_backtrace_distance(site->pcs[i]);

        /* a last frame that says why the walk has ended, and one whose caller
           may be another the next time, are not the last of a stack */

        if (i + 1 == site->n) {
            return distance == JPP_BACKTRACE_LAST ? rsp : JPP_SITES_VARIES;
        }

        if (distance == 0 || distance == JPP_BACKTRACE_LAST) {
            return JPP_SITES_VARIES;
        }

        rsp += distance;
        words[i + 1] = (uint32_t) (rsp / sizeof(uintptr_t)) - 1;
    }
}


/* SITE is what a walk from FRAME has led to. */

static void
jpp_repeat_learn(const jpp_backtrace_frame_t *frame, uint32_t site)
{
    jpp_site_t  *at;

    at = jpp_sites_at(&jpp_samples.sites, site);

    if (jpp_atomic_get(&at->reach) == JPP_SITES_UNKNOWN) {
        jpp_atomic_set(&at->reach, jpp_repeat_reach(at));
    }

    if (at->reach != JPP_SITES_VARIES) {
        jpp_atomic_set(&jpp_samples.again[jpp_repeat_place(frame, &at->key)],
                       site);
    }
}


static uint32_t
jpp_samples_add(const uintptr_t *pcs, uint32_t n, const jpp_site_key_t *key)
{
    if (jpp_cut_name(pcs[n - 1]) != NULL) {
        jpp_atomic_add(&jpp_samples.n_cut, 1);
    }

    return jpp_sites_add(&jpp_samples.sites, pcs, n, key);
}


/*
 * The stack begins with CALLER.  Where the walk does not reach him, he is all
 * that is known, but for the last frame, which says why.
 */

static uint32_t
jpp_samples_walk(const jpp_site_key_t *key, const void *caller)
{
    uint32_t   i, n;
    uintptr_t  pcs[JPP_SITES_DEPTH + JPP_SAMPLES_OWN];

    n = jpp_backtrace(pcs, sizeof(pcs) / sizeof(pcs[0]));

    for (i = 0; i < n && pcs[i] != (uintptr_t) caller; i++) {
        /* void */
    }

    if (i == n) {
        pcs[1] = pcs[n - 1];
        pcs[0] = (uintptr_t) caller;
        i = 0;
        n = 2;
    }

    return jpp_samples_add(pcs + i, n - i, key);
}


static uint32_t
jpp_samples_walk_from(const jpp_site_key_t *key,
    const jpp_backtrace_frame_t *from)
{
    uint32_t   n, site;
    uintptr_t  pcs[JPP_SITES_DEPTH];

    n = jpp_backtrace_from(from, pcs, JPP_SITES_DEPTH);

    if (n == 0) {
        return jpp_samples_walk(key, (const void *) from->pc);
    }

    site = jpp_samples_add(pcs, n, key);

    if (site != 0) {
        jpp_repeat_learn(from, site);
    }

    return site;
}


/*
 * A function that was called from CALLER directly has pushed rbp below that
 * address.  Otherwise the compiler has left another one between them, and the
 * frames of the profiler are walked, too.
 */

static uint32_t
jpp_samples_site(const jpp_site_key_t *key, const void *caller,
    const void *frame)
{
    uint32_t                site;
    const uintptr_t        *pushed;
    jpp_backtrace_frame_t   from;

    pushed = frame;

    if (pushed == NULL || pushed[1] != (uintptr_t) caller) {
        return jpp_samples_walk(key, caller);
    }

    from.pc = (uintptr_t) caller;
    from.rsp = (uintptr_t) (pushed + 2);
    from.rbp = pushed[0];

    site = jpp_repeat_find(&from, key);

    return site != 0 ? site : jpp_samples_walk_from(key, &from);
}


static void
jpp_samples_record(void *p, size_t size, uint32_t generation,
    const void *caller, const void *frame)
{
    uint32_t              site, owned, place;
    uint64_t              object;
    jpp_site_t           *at;
    jpp_site_key_t        key = { 0, 0 };
    jpp_samples_found_t   found = { NULL, 0 };

    key.kind = jpp_sites_class(size);

    site = jpp_samples_site(&key, caller, frame);

    if (site == 0) {
        return;
    }

    if (jpp_samples.owners != NULL) {
        at = jpp_sites_at(&jpp_samples.sites, site);
        found = jpp_samples.owners(&at->is_next);

        /* the owner's, but where there is no room */

        owned = found.owner != 0
                ? jpp_sites_give(&jpp_samples.sites, at, (uint16_t) found.owner)
                : 0;
        site = owned != 0 ? owned : site;
    }

    jpp_sites_count(&jpp_samples.sites, site, 1, size);

    object = jpp_live_object(site, size);
    place = jpp_live_add(&jpp_samples.live, (uintptr_t) p, object);

    if (found.waits != NULL) {
        found.waits->address = (uintptr_t) p;
        found.waits->object = object;
        found.waits->place = place;
    }

    /* it was switched off meanwhile, and forgot the others */

    if (jpp_atomic_get(&jpp_samples.generation) != generation) {
        (void) jpp_live_take(&jpp_samples.live, (uintptr_t) p, &object);
    }
}


void
jpp_samples_take(void *p, size_t size, const void *caller, const void *frame)
{
    uint32_t               generation, lg;
    uint64_t               seed;
    jpp_samples_thread_t  *thread;

    thread = &jpp_samples_thread;
    generation = jpp_atomic_get(&jpp_samples.generation);
    lg = jpp_atomic_get(&jpp_samples.lg);

    if (thread->generation != generation) {
        thread->generation = generation;

        seed = __atomic_fetch_add(&jpp_samples.seed, 1, __ATOMIC_RELAXED);
        thread->random = jpp_hash_u64(seed);
        thread->left = (uint64_t) jpp_draw(&thread->random, lg);

        if (!jpp_samples_is_due(size)) {
            return;
        }
    }

    thread->left = (uint64_t) jpp_draw(&thread->random, lg);

    if (p != NULL && !thread->is_unsampled && (generation & 1) != 0) {
        jpp_samples_record(p, size, generation, caller, frame);
    }
}


void
jpp_samples_give(jpp_sample_at_t *sample, uint32_t owner)
{
    uint32_t      site, given;
    uint64_t      size, now;
    jpp_site_t   *at;

    site = jpp_live_site(sample->object);
    size = jpp_live_size(sample->object);
    at = jpp_sites_at(&jpp_samples.sites, site);

    if (at->key.owner == owner) {
        return;
    }

    given = jpp_sites_give(&jpp_samples.sites, at, (uint16_t) owner);

    /* no room, or all was forgotten meanwhile */

    if (given == 0 || !jpp_sites_uncount(&jpp_samples.sites, site, size)) {
        return;
    }

    jpp_sites_count(&jpp_samples.sites, given, 1, size);

    now = jpp_live_object(given, size);
    jpp_live_replace(&jpp_samples.live, sample->place, sample->address,
                     sample->object, now);
    sample->object = now;
}


/*
 * What was sampled, as a dump that the parser of jemalloc's can read.
 *
 * A line of counts is for a stack and a class of sizes (jpp_samples_sites.c):
 * what was sampled, as it was sampled.  So a stack comes once for each class,
 * and its mean, which jpp_heap.h scales by, is that of objects alike.  And it
 * comes once for each owner (jpp_owners.h), who takes the place of a thread
 * (jpp_heap.c).  With ages, a stack comes once for what it has allocated, and
 * once for each age of its live objects.
 *
 * One thread at a time; samples may be taken meanwhile.
 */


/* a live object, where ages are told */
typedef struct {
    uint64_t               key;        /* site and age; the site is above */
    uint64_t               bytes;
} jpp_samples_aged_t;

#define JPP_SAMPLES_AGE    8


typedef struct {
    const jpp_samples_t   *samples;
    const jpp_ages_t      *ages;
    uint32_t               now;
    jpp_samples_aged_t    *aged;       /* NULL: no ages are told */
    size_t                 n_aged;
    jpp_sink_t             sink;
    uint32_t               n_owners;
    jpp_site_t            *owners;     /* the counts of the sites of each */
    jpp_site_t             total;      /* and of all; the last, for it might */
                                       /*   have frames */
} jpp_samples_dump_t;


static void
jpp_dump_live(uint64_t object, uint32_t birth, void *data)
{
    jpp_samples_dump_t *dump = data;

    uint32_t             site, age;
    jpp_site_t          *at;
    jpp_samples_aged_t  *aged;

    /* one of a moment ago may be born after this dump began */

    age = (uint32_t) jpp_less(dump->now, birth);

    if (age < dump->ages->least) {
        return;
    }

    site = jpp_live_site(object);

    if (dump->aged != NULL) {

        if (dump->n_aged == JPP_LIVE_MAX) {
            return;
        }

        aged = &dump->aged[dump->n_aged++];

        aged->key = (uint64_t) site << JPP_SAMPLES_AGE
                    | jpp_age(age, jpp_less(birth, dump->samples->started),
                              dump->now - dump->samples->started);
        aged->bytes = jpp_live_size(object);
    }

    at = jpp_sites_at(&dump->samples->sites, site);

    at->live++;
    at->live_bytes += jpp_live_size(object);
}


static void
jpp_dump_add(jpp_site_t *sum, const jpp_site_t *site)
{
    sum->live += site->live;
    sum->live_bytes += site->live_bytes;
    sum->allocated += jpp_atomic_get(&site->allocated);
    sum->allocated_bytes += jpp_atomic_get(&site->allocated_bytes);
}


static inline uint32_t
jpp_dump_owner(const jpp_samples_dump_t *dump, const jpp_site_t *site)
{
    return site->key.owner < dump->n_owners ? site->key.owner : JPP_OWNER_NONE;
}


static void
jpp_dump_total(jpp_site_t *site, void *data)
{
    jpp_samples_dump_t *dump = data;

    jpp_dump_add(&dump->total, site);
    jpp_dump_add(&dump->owners[jpp_dump_owner(dump, site)], site);
}


static void
jpp_dump_counts(jpp_sink_t *sink, const jpp_site_t *site)
{
    jpp_sink_u64(sink, site->live);
    jpp_sink_str(sink, ": ");
    jpp_sink_u64(sink, site->live_bytes);
    jpp_sink_str(sink, " [");
    jpp_sink_u64(sink, site->allocated);
    jpp_sink_str(sink, ": ");
    jpp_sink_u64(sink, site->allocated_bytes);
    jpp_sink_char(sink, ']');
}


/*
 * An owner takes the place of a thread, which has a number and a name: parsers
 * that want neither sum them up.
 */

static void
jpp_dump_owners(jpp_samples_dump_t *dump)
{
    uint32_t      i;
    jpp_owner_t   names;

    for (i = 0; i < dump->n_owners || i == 0; i++) {
        jpp_sink_printf(&dump->sink, "  t%" PRIu32 ": ", i);
        jpp_dump_counts(&dump->sink, &dump->owners[i]);

        if (dump->n_owners != 0) {
            names = jpp_owner_names(i);

            jpp_sink_str(&dump->sink, " owner\t");
            jpp_owner_write(&names, &dump->sink);
        }

        jpp_sink_char(&dump->sink, '\n');
    }

    if (dump->aged != NULL) {
        jpp_sink_printf(&dump->sink, "  t%d: 0: 0 [0: 0] " JPP_AGES_NAME "\n",
                        JPP_AGES);
    }
}


/* The stack of SITE with COUNTS, up to the newline of its owner's line. */

static void
jpp_dump_stack(jpp_samples_dump_t *dump, const jpp_site_t *site,
    const jpp_site_t *counts)
{
    uint32_t  i;

    jpp_sink_char(&dump->sink, '@');

    for (i = 0; i < site->n; i++) {
        jpp_sink_str(&dump->sink, " 0x");
        jpp_sink_hex(&dump->sink, site->pcs[i]);
    }

    jpp_sink_str(&dump->sink, "\n  t*: ");
    jpp_dump_counts(&dump->sink, counts);
    jpp_sink_printf(&dump->sink, "\n  t%" PRIu32 ": ",
                    jpp_dump_owner(dump, site));
    jpp_dump_counts(&dump->sink, counts);
    jpp_sink_char(&dump->sink, '\n');
}


static void
jpp_dump_site(jpp_site_t *site, void *data)
{
    jpp_samples_dump_t *dump = data;

    jpp_site_t  counts;

    counts = *site;

    /* for the next dump */

    site->live = 0;
    site->live_bytes = 0;

    if (dump->aged != NULL) {
        counts.live = 0;
        counts.live_bytes = 0;
    }

    if (counts.live != 0 || counts.allocated != 0) {
        jpp_dump_stack(dump, site, &counts);
    }
}


static int
jpp_dump_compare(const void *a, const void *b, void *ctx)
{
    const jpp_samples_aged_t  *x = a, *y = b;

    (void) ctx;

    return jpp_sort_order(x->key, y->key);
}


/* What is live, by site and age. */

static void
jpp_dump_aged(jpp_samples_dump_t *dump)
{
    size_t               i;
    jpp_site_t           counts;
    jpp_samples_aged_t  *aged;

    memset(&counts, 0, sizeof(counts));
    aged = dump->aged;

    jpp_sort(aged, dump->n_aged, sizeof(jpp_samples_aged_t), jpp_dump_compare,
             NULL);

    for (i = 0; i < dump->n_aged; i++) {
        counts.live++;
        counts.live_bytes += aged[i].bytes;

        if (i + 1 < dump->n_aged && aged[i + 1].key == aged[i].key) {
            continue;
        }

        jpp_dump_stack(dump, jpp_sites_at(&dump->samples->sites,
                                          (uint32_t) (aged[i].key
                                                      >> JPP_SAMPLES_AGE)),
                       &counts);

        jpp_sink_printf(&dump->sink, "  t%" PRIu64 ": ", JPP_AGES
                        + (aged[i].key & ((1u << JPP_SAMPLES_AGE) - 1)));
        jpp_dump_counts(&dump->sink, &counts);
        jpp_sink_char(&dump->sink, '\n');

        counts.live = 0;
        counts.live_bytes = 0;
    }
}


jpp_code_t
jpp_samples_dump(jpp_samples_t *samples, int fd, const jpp_ages_t *ages,
    jpp_err_t *err)
{
    uint8_t             *buffer;
    jpp_vec_t           *maps;
    jpp_code_t           rc;
    jpp_arena_t          arena;
    jpp_samples_dump_t   dump;

    jpp_arena_init(&arena, JPP_PROC_ARENA);

    /* one that is added meanwhile waits for the next dump */

    dump.n_owners = jpp_owner_names_count();
    dump.owners = jpp_arena_alloc(&arena, (dump.n_owners + 1)
                                          * sizeof(jpp_site_t));
    buffer = jpp_arena_alloc(&arena, JPP_SINK_BUFFER);
    maps = jpp_vec_create(&arena);

    dump.aged = ages->are_told
                ? jpp_arena_alloc(&arena, JPP_LIVE_MAX
                                          * sizeof(jpp_samples_aged_t))
                : NULL;

    rc = buffer != NULL && maps != NULL && dump.owners != NULL
         && (dump.aged != NULL || !ages->are_told)
         ? jpp_proc_maps(maps, err) : jpp_err_memory(err);

    if (rc != JPP_OK) {
        jpp_arena_destroy(&arena);
        return rc;
    }

    memset(&dump.total, 0, sizeof(dump.total));
    dump.samples = samples;
    dump.ages = ages;
    dump.now = jpp_atomic_get(&samples->live.now);
    dump.n_aged = 0;
    jpp_sink_init(&dump.sink, buffer, JPP_SINK_BUFFER, jpp_write, &fd);

    jpp_live_walk(&samples->live, jpp_dump_live, &dump);
    jpp_sites_walk(&samples->sites, jpp_dump_total, &dump);

    jpp_sink_printf(&dump.sink, "heap_v2/%" PRIu64 "\n",
                    (uint64_t) 1 << samples->lg);
    jpp_sink_str(&dump.sink, "  t*: ");
    jpp_dump_counts(&dump.sink, &dump.total);
    jpp_sink_char(&dump.sink, '\n');
    jpp_dump_owners(&dump);

    jpp_sites_walk(&samples->sites, jpp_dump_site, &dump);
    jpp_dump_aged(&dump);

    jpp_sink_str(&dump.sink, "\nMAPPED_LIBRARIES:\n");
    jpp_sink_write(&dump.sink, maps->data, maps->len);

    if (jpp_sink_flush(&dump.sink) != 0) {
        rc = jpp_write_failed(err, dump.sink.error, "the dump");
    }

    jpp_arena_destroy(&arena);

    return rc;
}

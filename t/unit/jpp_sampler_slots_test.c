
/*
 * The places that the sampler takes over: of libraries that come late, of
 * others who want them too, and what is there when it is off again.
 */


#include "jpp_proc.h"
#include "jpp_test_sampler.h"
#include "jpp_test_seccomp.h"


#if defined(__x86_64__) && defined(__LP64__)


#define JPP_SWITCHES  1000


/* Loaded after the sampler was switched on. */

static void
jpp_play_late(void)
{
    void                 *p, *handle;
    jpp_err_t             err = { 0 };
    jpp_malloc_pt         late;
    jpp_sampler_state_t   before, after;

    void                (*late_free)(void *p);

    jpp_check(jpp_sampler_rescan(&err) == JPP_OK, "nothing new");
    jpp_sampler_state(&before);

    handle = jpp_library("jpp_operators.so");
    *(void **) &late = dlsym(handle, "jpp_operator_malloc");
    *(void **) &late_free = dlsym(handle, "jpp_operator_free");

    p = late(JPP_BLOCK);
    jpp_check(jpp_sample(p) == 0, "a library that is new is not seen yet");
    late_free(p);

    p = jpp_use(malloc(JPP_BLOCK));
    late_free(p);
    jpp_check(jpp_sample(p) == JPP_BLOCK, "nor what it frees");
    p = jpp_use(malloc(JPP_BLOCK));
    free(p);
    jpp_check(jpp_sample(p) == 0, "until the address is freed again");

    jpp_check(jpp_sampler_rescan(&err) == JPP_OK, "rescan %s", err.text);
    jpp_sampler_state(&after);
    jpp_check(after.slots > before.slots && after.objects > before.objects,
              "it has slots: %u, then %u", before.slots, after.slots);

    p = late(JPP_BLOCK);
    jpp_allocated("its malloc()", p, JPP_BLOCK);
    late_free(p);
    jpp_freed("its free()", p);

    dlclose(handle);
    p = late(JPP_BLOCK);
    jpp_allocated("what stays loaded", p, JPP_BLOCK);
    free(p);

    jpp_off();
    late_free(late(100));

    /* destructors, with the sampler on */

    jpp_on(JPP_FINE);
}


/* The places of what is patched, and how their pages are protected. */

typedef struct {
    uintptr_t   *at;
    uintptr_t    value;
    int          protection;
} jpp_place_t;

static jpp_place_t  jpp_places[4096];
static size_t       jpp_places_n;
static jpp_vec_t   *jpp_maps;

static bool
jpp_place(const jpp_got_reloc_t *reloc, void *data)
{
    uint32_t                    i, n;
    jpp_place_t                *place;
    const jpp_got_function_t   *functions;

    (void) data;

    functions = jpp_calls_functions(&n);

    for (i = 0; i < n; i++) {
        if (strcmp(reloc->name, functions[i].name) == 0) {
            place = &jpp_places[jpp_places_n++ % 4096];
            place->at = reloc->at;
            place->value = *reloc->at;
            place->protection = jpp_proc_protection((char *) jpp_maps->data,
                                                    jpp_maps->len,
                                                    (uintptr_t) reloc->at);
        }
    }

    return true;
}


static bool
jpp_object(const jpp_images_object_t *object, void *data)
{
    jpp_got_read(object, jpp_place, data);

    return true;
}


/* They now, in the same order as always; returns a number for them all. */

static uint64_t
jpp_look(void)
{
    size_t       i;
    uint64_t     hash;
    jpp_arena_t  arena;

    jpp_arena_init(&arena, 64 << 20);
    jpp_maps = jpp_vec_create(&arena);
    (void) jpp_proc_maps(jpp_maps, NULL);

    jpp_places_n = 0;
    jpp_images_pinned(jpp_object, NULL);
    jpp_arena_destroy(&arena);

    for (i = 0, hash = jpp_places_n; i < jpp_places_n; i++) {
        hash = jpp_hash_u64(hash ^ (uintptr_t) jpp_places[i].at
                            ^ jpp_hash_u64(jpp_places[i].value)
                            ^ (uint64_t) jpp_places[i].protection << 56);
    }

    return hash;
}


static void
jpp_play_switches(void)
{
    int                   i, bad;
    uint64_t              before, on;
    pthread_t             threads[JPP_THREADS];
    jpp_sampler_state_t   state;

    /* whatever is bound late is bound by then */

    jpp_on(JPP_FINE);
    jpp_off();
    free(jpp_use(realloc(jpp_use(malloc(1)), 2)));

    before = jpp_look();
    jpp_threads_start(threads);

    for (i = 0, bad = 0; i < JPP_SWITCHES; i++) {
        bad += jpp_sampler_on(i % 2 == 0 ? JPP_FINE : 10, NULL) != JPP_OK;
        free(jpp_use(malloc(JPP_BLOCK)));
        bad += jpp_sampler_off(NULL) != JPP_OK;
    }

    jpp_check(bad == 0, "%d times on and off while %d threads allocate",
              JPP_SWITCHES, JPP_THREADS);
    jpp_check(jpp_places_n > 4 && jpp_look() == before,
              "%zu slots and their pages are what they were", jpp_places_n);

    jpp_on(JPP_FINE);
    on = jpp_look();
    jpp_check(on != before, "which they are not while it is on");
    jpp_threads_end(threads);

    jpp_sampler_state(&state);
    jpp_check(state.live == 0, "%u live when everything is freed",
              (unsigned) state.live);
    jpp_off();
    jpp_check(jpp_look() == before, "nor after that");
}


/* Whoever else has an address of ours may call it at any time. */

static jpp_malloc_pt  jpp_ours;
static unsigned  jpp_calls_of_another;

static void *
jpp_another(size_t size)
{
    jpp_calls_of_another++;

    return jpp_ours(size);
}


static uintptr_t  *jpp_slot;

static bool
jpp_find_slot(const jpp_got_reloc_t *reloc, void *data)
{
    (void) data;

    if (reloc->is_call && strcmp(reloc->name, "malloc") == 0) {
        jpp_slot = reloc->at;
    }

    return jpp_slot == NULL;
}


static bool
jpp_find_program(const jpp_images_object_t *object, void *data)
{
    jpp_got_read(object, jpp_find_slot, data);

    return jpp_slot == NULL;
}


static void
jpp_play_another(void)
{
    void                 *p;
    jpp_sampler_state_t   state;

    free(jpp_use(malloc(1)));
    jpp_images_pinned(jpp_find_program, NULL);
    jpp_check(jpp_slot != NULL, "the program's slot");

    jpp_ours = (jpp_malloc_pt) *jpp_slot;
    *jpp_slot = (uintptr_t) jpp_another;

    p = jpp_use(malloc(JPP_BLOCK));
    jpp_check(jpp_calls_of_another == 1, "another takes it over");
    jpp_allocated("what it passes on", p, JPP_BLOCK);
    free(p);

    jpp_sampler_state(&state);
    jpp_check(state.lost == 1, "the state knows of it");

    jpp_off();
    jpp_sampler_state(&state);
    jpp_check(state.lost == 1 && *jpp_slot == (uintptr_t) jpp_another,
              "it keeps it");

    p = jpp_use(malloc(JPP_BLOCK));
    jpp_check(jpp_calls_of_another == 2 && p != NULL && jpp_sample(p) == 0,
              "what it passes on is passed on");
    free(p);

    jpp_on(JPP_FINE);
    jpp_sampler_state(&state);
    jpp_check(state.foreign == 1 && *jpp_slot == (uintptr_t) jpp_another,
              "also the next time");

    /* it ends before us */

    *jpp_slot = (uintptr_t) jpp_ours;
    jpp_off();
    jpp_on(JPP_FINE);
    jpp_off();
    p = jpp_use(malloc(JPP_BLOCK));
    jpp_check(*jpp_slot != (uintptr_t) jpp_ours && jpp_sample(p) == 0,
              "what it leaves is restored the next time");
    free(p);
}


/*
 * The kernel refuses to have tables written by the time that it is switched
 * off: they stay ours, and what calls us is passed on, without a sample.
 */

static void
jpp_play_off_refused(void)
{
    void                 *p;
    uint32_t              slots;
    jpp_err_t             err = { 0 };
    jpp_sampler_state_t   state;

    /* what a refusal calls is bound by then */

    (void) jpp_err_sys(&err, EPERM, "refused");

    if (!jpp_on(JPP_FINE)) {
        return;
    }

    p = jpp_use(malloc(JPP_BLOCK));
    jpp_sampler_state(&state);
    slots = state.slots;

    if (!jpp_check(jpp_refuse_writable(), "a filter of system calls")) {
        return;
    }

    jpp_check(jpp_sampler_off(&err) == JPP_ERR_SYS
              && strstr(err.text, "mprotect is refused") != NULL
              && strstr(err.text, "seccomp") != NULL, "off: %s", err.text);

    jpp_sampler_state(&state);
    jpp_check(!state.is_on && state.live == 0 && state.slots == slots,
              "it is off, %u of %u slots are kept", state.slots, slots);

    free(p);
    p = jpp_use(malloc(JPP_BLOCK));
    jpp_check(p != NULL && jpp_sample(p) == 0, "nothing is sampled any more");
    p = jpp_use(realloc(p, 2 * JPP_BLOCK));
    free(p);

    jpp_check(jpp_sampler_off(&err) == JPP_ERR_SYS, "off once more");
    jpp_sampler_state(&state);
    jpp_check(state.slots == slots, "and still kept");
}


/* A malloc() that is in the program itself, and is nobody's. */

static void
jpp_play_refused(void)
{
    jpp_err_t  err = { 0 };

    jpp_check(jpp_sampler_on(JPP_FINE, &err) == JPP_ERR_SYS
              && strstr(err.text, "malloc is linked into the program") != NULL,
              "on: %s", err.text);
    jpp_check(jpp_sampler_off(&err) == JPP_OK, "off %s", err.text);
}


static const jpp_part_t  jpp_parts[] = {
    { "late",     jpp_play_late,        true, JPP_FINE },
    { "switches", jpp_play_switches,    true, 0 },
    { "another",  jpp_play_another,     true, JPP_FINE },
    { "kept",     jpp_play_off_refused, true, 0 },
    { "refused",  jpp_play_refused,     false, 0 }
};


JPP_PLAYS(jpp_parts, "refused")


#endif

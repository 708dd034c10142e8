
#include <math.h>
#include <string.h>

#include "jpp_maker.h"


static bool jpp_make(jpp_maker_t *maker);


void
jpp_generate_init(jpp_generate_t *options)
{
    memset(options, 0, sizeof(jpp_generate_t));

    options->seed = 1;
    options->stacks = 10000;
    options->depth = 28;
    options->threads = 4;
    options->mappings = 100;
    options->period = 524288;
}


bool
jpp_generate(const jpp_generate_t *options, jpp_sink_t *sink)
{
    bool         made;
    jpp_maker_t  maker;

    memset(&maker, 0, sizeof(jpp_maker_t));

    maker.options = *options;
    maker.sink = sink;
    maker.random = options->seed;

    if (options->addresses == 0) {

        /* 800 at 388 stacks of a real nginx, 60,000 at a million */

        maker.options.addresses =
                              (uint32_t) (30 * pow(options->stacks, 0.55));
    }

    jpp_arena_init(&maker.arena, (size_t) 8 << 30);

    made = jpp_make(&maker);

    jpp_arena_destroy(&maker.arena);

    return made;
}


static bool
jpp_make(jpp_maker_t *maker)
{
    maker->libs = jpp_vec_create(&maker->arena);
    maker->sites = jpp_vec_create(&maker->arena);
    maker->frames = jpp_vec_create(&maker->arena);
    maker->made = jpp_vec_create(&maker->arena);

    if (maker->made == NULL) {
        return false;
    }

    jpp_make_sites(maker);
    jpp_make_tree(maker);

    if (maker->failed) {
        return false;
    }

    if (!maker->options.is_unsorted) {
        jpp_make_order(maker);
    }

    jpp_make_text(maker);

    return !maker->failed;
}


void *
jpp_make_push(jpp_maker_t *maker, jpp_vec_t *vec, size_t size)
{
    void  *p;

    p = jpp_vec_push(vec, size);

    if (p == NULL) {
        maker->failed = true;
    }

    return p;
}


uint64_t
jpp_make_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ x >> 27) * 0x94d049bb133111ebULL;

    return x ^ x >> 31;
}


uint32_t
jpp_make_random(jpp_maker_t *maker, uint32_t n)
{
    maker->random += 0x9e3779b97f4a7c15ULL;

    return (uint32_t) ((jpp_make_mix(maker->random) >> 32) * n >> 32);
}


/*
 * For the tests of jpp_sampler.h: five functions that allocate, and what the
 * parser of dumps makes of a dump of the sampler by them.
 *
 * To be included once, behind jpp_test_sampler.h.
 */


#ifndef _JPP_TEST_ESTIMATES_H_INCLUDED_
#define _JPP_TEST_ESTIMATES_H_INCLUDED_


#include "jpp_proc.h"
#include "jpp_parsers.h"


#define JPP_SITES  5


/* What a site is estimated to have, by the parser of dumps. */
typedef struct {
    int64_t   inuse[2];            /* objects, bytes */
    int64_t   allocated[2];
} jpp_estimate_t;


/* apart from each other, so that an address tells which it is */

#define JPP_SITE(name)                                                        \
                                                                              \
__attribute__((noinline, aligned(64))) static void *                          \
name(size_t size)                                                             \
{                                                                             \
    return jpp_use(malloc(size));                                             \
}

JPP_SITE(jpp_site_one)
JPP_SITE(jpp_site_two)
JPP_SITE(jpp_site_three)
JPP_SITE(jpp_site_four)
JPP_SITE(jpp_site_any)


static const jpp_malloc_pt  jpp_sites[JPP_SITES] = {
    jpp_site_one, jpp_site_two, jpp_site_three, jpp_site_four, jpp_site_any
};


/* The site that SAMPLE's stack passes through, JPP_SITES: none. */

static unsigned
jpp_site_of(const jpp_profile_t *profile, const jpp_sample_t *sample)
{
    uint32_t        id;
    unsigned        i;
    uint64_t        address;
    const uint8_t  *pos;

    for (pos = sample->stack; pos < sample->stack + sample->stack_len; /**/) {
        pos = jpp_stack_next(pos, &id);
        address = jpp_profile_location_at(profile, id)->address;

        for (i = 0; i < JPP_SITES; i++) {
            if (address - (uintptr_t) jpp_sites[i] < 64) {
                return i;
            }
        }
    }

    return JPP_SITES;
}


static void
jpp_sum(const jpp_profile_t *profile, jpp_estimate_t *estimates)
{
    uint32_t         i;
    jpp_sample_t     sample;
    jpp_estimate_t  *estimate;

    memset(estimates, 0, (JPP_SITES + 1) * sizeof(jpp_estimate_t));

    for (i = 0; i < profile->n_samples; i++) {
        jpp_profile_sample(profile, i, &sample);
        estimate = &estimates[jpp_site_of(profile, &sample)];

        estimate->inuse[0] += sample.values[JPP_HEAP_INUSE_OBJECTS];
        estimate->inuse[1] += sample.values[JPP_HEAP_INUSE_SPACE];
        estimate->allocated[0] += sample.values[JPP_HEAP_ALLOC_OBJECTS];
        estimate->allocated[1] += sample.values[JPP_HEAP_ALLOC_SPACE];
    }
}


/* Dump, and read that: as every parser of dumps does. */

static bool
jpp_read(jpp_estimate_t *estimates, jpp_sampler_state_t *state)
{
    bool                 is_read;
    jpp_err_t            err = { 0 };
    jpp_dump_t           dump;
    jpp_vec_t           *maps;
    const char          *tail;
    jpp_memfd_t          memfd;
    jpp_arena_t          arena;
    jpp_profile_t        profile;
    jpp_read_options_t   options = { 0 };

    jpp_arena_init(&arena, 256 << 20);
    maps = jpp_vec_create(&arena);
    jpp_parser_init(&jpp_parser_heap, &profile, &arena);

    is_read = jpp_memfd_open(&memfd, NULL, &err) == JPP_OK
              && jpp_sampler_dump(memfd.fd, NULL, state, &err) == JPP_OK
              && jpp_memfd_map(&memfd, 64 << 20, &err) == JPP_OK
              && jpp_proc_maps(maps, &err) == JPP_OK;

    tail = is_read ? jpp_proc_tail((char *) maps->data, maps->len, &arena)
                   : NULL;

    is_read = is_read
              && jpp_parser_heap.open(&dump, &profile, memfd.data, memfd.len,
                                      tail, &err) == JPP_OK
              && jpp_parser_heap.read(&profile, &dump, &options,
                                      &err) == JPP_OK;

    if (is_read) {
        jpp_sum(&profile, estimates);
    }

    jpp_memfd_close(&memfd);
    jpp_arena_destroy(&arena);

    return is_read || !jpp_check(false, "the dump: %s", err.text);
}


#endif /* _JPP_TEST_ESTIMATES_H_INCLUDED_ */

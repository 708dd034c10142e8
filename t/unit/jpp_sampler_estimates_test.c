
/*
 * What the sampler makes of known heaps: estimates, leaks, a table that is
 * full.
 */


#include "jpp_test_sampler.h"
#include "jpp_test_estimates.h"

#include <math.h>


#if defined(__x86_64__) && defined(__LP64__)


#ifndef JPP_SEEDS
#define JPP_SEEDS       60
#endif
#define JPP_SITE_BYTES  (1024 * 1024)
#define JPP_LEAKED      2000


/* Nothing else allocates meanwhile: a seed always draws the same. */

static void
jpp_hold(uint64_t seed, void **held, jpp_estimate_t *truth)
{
    size_t    size;
    unsigned  i, j, n;
    uint64_t  random;

    static const size_t  sizes[JPP_SITES - 1] = { 64, 700, 8192, 65536 };

    memset(truth, 0, JPP_SITES * sizeof(jpp_estimate_t));
    jpp_samples_start(JPP_SAMPLER_LG_DEFAULT, seed * 1000033);
    random = seed;

    for (i = 0, n = 0; i < JPP_SITES; i++) {
        for (j = 0; truth[i].inuse[1] < JPP_SITE_BYTES; j++) {

            /* the last has sizes from 64 to 65,536, small ones more often */

            size = i < JPP_SITES - 1 ? sizes[i]
                   : (size_t) (64 * exp2((double) (jpp_hash_u64(random + j)
                                                   >> 11) * 0x1p-53 * 10));

            held[n] = jpp_sites[i](size);

            /* a part of it is freed again */

            truth[i].allocated[0]++;
            truth[i].allocated[1] += (int64_t) size;

            if (j % 4 == 3) {
                free(held[n]);

            } else {
                truth[i].inuse[0]++;
                truth[i].inuse[1] += (int64_t) size;
                n++;
            }
        }
    }

    held[n] = NULL;
}


/* How many standard errors the mean of N ratios is from 1. */

static double
jpp_off_by(const double *ratios, unsigned n, double *mean)
{
    double    sum, squares;
    unsigned  i;

    for (i = 0, sum = 0; i < n; i++) {
        sum += ratios[i];
    }

    *mean = sum / n;

    for (i = 0, squares = 0; i < n; i++) {
        squares += (ratios[i] - *mean) * (ratios[i] - *mean);
    }

    return fabs(*mean - 1) / sqrt(squares / (n - 1) / n + 1e-9);
}


static void
jpp_play_estimates(void)
{
    double          mean, errors;
    unsigned        seed, i, j, k;
    jpp_estimate_t  estimates[JPP_SITES + 1], truth[JPP_SITES];

    static void         *held[40000];
    static double        ratios[JPP_SITES][4][JPP_SEEDS];
    static const char *const  values[4] = {
        "live objects", "live bytes", "allocated objects", "allocated bytes"
    };

    for (seed = 0; seed < JPP_SEEDS; seed++) {
        jpp_hold(seed, held, truth);

        if (!jpp_read(estimates, NULL)) {
            return;
        }

        for (i = 0; i < JPP_SITES; i++) {
            for (j = 0; j < 2; j++) {
                ratios[i][j][seed] = (double) estimates[i].inuse[j]
                                     / (double) truth[i].inuse[j];
                ratios[i][2 + j][seed] = (double) estimates[i].allocated[j]
                                         / (double) truth[i].allocated[j];
            }
        }

        for (k = 0; held[k] != NULL; k++) {
            free(held[k]);
        }
    }

    for (i = 0; i < JPP_SITES; i++) {
        for (j = 0; j < 4; j++) {
            errors = jpp_off_by(ratios[i][j], JPP_SEEDS, &mean);

            jpp_check(errors < 2, "site %u, %s: %.4f of the truth, %.1f "
                      "standard errors off", i, values[j], mean, errors);
        }
    }

    jpp_off();
}


/* What was there before is not seen, and what leaks from now on is. */

static void
jpp_play_leak(void)
{
    int                   i;
    int64_t               bytes;
    jpp_err_t             err = { 0 };
    jpp_estimate_t        estimates[JPP_SITES + 1];
    jpp_sampler_state_t   state;

    static void  *before[JPP_LEAKED], *held[JPP_LEAKED];

    for (i = 0; i < JPP_LEAKED; i++) {
        before[i] = jpp_site_one(3000);
    }

    if (!jpp_on(JPP_SAMPLER_LG_DEFAULT)) {
        return;
    }

    for (i = 0; i < JPP_LEAKED; i++) {
        held[i] = jpp_site_two(3000);
        free(jpp_site_three(3000));
        free(before[i]);
    }

    if (!jpp_read(estimates, &state)) {
        return;
    }

    bytes = JPP_LEAKED * 3000;

    jpp_check(estimates[0].inuse[1] == 0 && estimates[0].allocated[1] == 0,
              "what was allocated before is not there");
    jpp_check(llabs(estimates[1].inuse[1] - bytes) < bytes / 5,
              "%lld of %lld bytes of the leak, with its stack",
              (long long) estimates[1].inuse[1], (long long) bytes);
    jpp_check(estimates[2].inuse[1] == 0, "what was freed is not there");
    jpp_check(llabs(estimates[2].allocated[1] - bytes) < bytes / 5,
              "but was allocated");
    jpp_check(estimates[1].inuse[1] == estimates[1].allocated[1],
              "what leaks was allocated");

    jpp_check(state.is_on && state.lg_sample == JPP_SAMPLER_LG_DEFAULT
              && state.since != 0, "the state goes with the dump");

    /* 2,080 and 1,040 are to be expected, give or take 31 and 22 */

    jpp_check(state.samples > 1900 && state.live > 900
              && state.samples > state.live && state.sites >= 2,
              "%u samples, %u live, %u sites", (unsigned) state.samples,
              (unsigned) state.live, (unsigned) state.sites);
    jpp_check(state.bytes > 0 && state.bytes < 1 << 20
              && state.bytes < state.bytes_max && state.cut == 0
              && state.dropped_live == 0 && state.dropped_sites == 0,
              "%u bytes, nothing cut or dropped", (unsigned) state.bytes);

    jpp_check(jpp_sampler_on(JPP_SAMPLER_LG_DEFAULT, &err) == JPP_OK
              && jpp_samples.live.n == (int64_t) state.live,
              "on, when it is on already, changes nothing");
    jpp_on(16);
    (void) jpp_read(estimates, &state);
    jpp_check(state.lg_sample == 16 && state.live == 0
              && estimates[1].inuse[1] == 0,
              "another rate begins anew");

    jpp_check(jpp_sampler_on(JPP_SAMPLER_LG_MIN - 1, &err) == JPP_ERR_ARG
              && strstr(err.text, "8 to 24 are allowed") != NULL,
              "a rate that is too fine: %s", err.text);
    jpp_check(jpp_sampler_on(JPP_SAMPLER_LG_MAX + 1, &err) == JPP_ERR_ARG,
              "a rate that is too coarse");

    jpp_off();
    jpp_check(jpp_sampler_off(&err) == JPP_OK, "off once more");
    jpp_check(jpp_sampler_dump(1, NULL, NULL, &err) == JPP_ERR_STATE
              && strstr(err.text, "is off") != NULL, "a dump: %s", err.text);
    jpp_check(jpp_sampler_rescan(&err) == JPP_OK, "a rescan");

    for (i = 0; i < JPP_LEAKED; i++) {
        free(held[i]);
    }

    jpp_on(JPP_SAMPLER_LG_DEFAULT);
    jpp_check(jpp_sampler_dump(-1, NULL, NULL, &err) == JPP_ERR_SYS
              && strstr(err.text, "cannot write the dump") != NULL,
              "a dump that nobody takes: %s", err.text);
    jpp_off();
}


/* The table is full of what will never be freed. */

static void
jpp_play_full(void)
{
    void                 *p, *q;
    uintptr_t             i;
    jpp_sampler_state_t   state;

    p = jpp_use(malloc(JPP_BLOCK));

    for (i = 0; jpp_live_add(&jpp_samples.live, 0x1000 + i * 16,
                             jpp_live_object(1, 1)); i++)
    {
        /* void */
    }

    q = jpp_use(malloc(JPP_BLOCK));
    jpp_check(jpp_sample(q) == 0, "no room for another sample");

    jpp_sampler_state(&state);
    jpp_check(state.live == state.live_max && state.dropped_live == 2,
              "%u live, %u dropped", (unsigned) state.live,
              (unsigned) state.dropped_live);

    free(q);
    free(p);
    q = jpp_use(malloc(JPP_BLOCK));
    jpp_allocated("malloc(), when one has gone,", q, JPP_BLOCK);

    /* what was put there by hand belongs to no site */

    jpp_off();
    jpp_on(JPP_FINE);
    jpp_sampler_state(&state);
    jpp_check(state.live == 0 && state.dropped_live == 0,
              "the next time it is empty");
    jpp_off();
    free(q);
}


static const jpp_part_t  jpp_parts[] = {
    { "estimates", jpp_play_estimates, false, JPP_SAMPLER_LG_DEFAULT },
    { "leak",      jpp_play_leak,      false, 0 },
    { "full",      jpp_play_full,      false, JPP_FINE }
};


JPP_PLAYS(jpp_parts, NULL)


#endif

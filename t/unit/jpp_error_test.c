
#include "jpp_test_arena.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"
#include "jpp_view.h"

#include <math.h>


#define JPP_PERIOD  16384
#define JPP_TRIALS  2000


/* sizes from far below the period to far above, and how many there are */

static const struct {
    uint64_t  size;
    uint64_t  n;
} stacks[] = {
    { 200, 6000 }, { 3000, 500 }, { 16384, 80 }, { 40000, 30 }, { 1 << 20, 3 }
};


/* A number from 0 to 1 (xorshift64*). */

static double
jpp_error_draw(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;

    return (double) (*state * 0x2545f4914f6cdd1dULL >> 11) / 0x1p53;
}


static void
jpp_error_commit(jpp_profile_t *profile, uint32_t stack, uint64_t objects,
    uint64_t bytes, uint64_t period, bool is_base)
{
    int       i;
    int64_t   values[JPP_HEAP_COLUMNS] = { 0 };
    uint8_t  *pos;

    values[JPP_HEAP_INUSE_DOUBT] = jpp_scale(period, objects, bytes,
                                             &values[JPP_HEAP_INUSE_OBJECTS]);
    values[JPP_HEAP_INUSE_SAMPLES] = (int64_t) objects;

    for (i = 0; is_base && i < JPP_HEAP_COLUMNS; i++) {
        values[i] = -values[i];
    }

    pos = jpp_profile_begin(profile, 0, 1);
    jpp_profile_end(profile, jpp_profile_push(pos, stack));
    (void) jpp_profile_commit(profile, NULL, values);
}


static double
jpp_error_sum(const jpp_profile_t *profile, uint32_t type, int64_t *sum)
{
    double        variance;
    uint32_t      i;
    jpp_sample_t  sample;

    variance = 0;
    *sum = 0;

    for (i = 0; i < profile->n_samples; i++) {
        jpp_profile_sample(profile, i, &sample);
        *sum += sample.values[type];
        variance += jpp_error_variance(profile, type, i);
    }

    return variance;
}


/*
 * Heaps that are known, sampled again and again: estimates are as far off as
 * is said, so that the squares of (estimate - truth) / error have the mean 1.
 */

JPP_TEST(jpp_error_test_draws)
{
    double         variance[2], z[2] = { 0, 0 }, bias[2] = { 0, 0 };
    size_t         i, k;
    int64_t        sum[2];
    uint64_t       seen, state, truth[2] = { 0, 0 };
    uint32_t       trial;
    jpp_profile_t  profile;

    state = 42;

    for (i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
        truth[0] += stacks[i].n;
        truth[1] += stacks[i].n * stacks[i].size;
    }

    for (trial = 0; trial < JPP_TRIALS; trial++) {

        jpp_test_anew();
        jpp_parser_init(&jpp_parser_heap, &profile, &arena);
        jpp_profile_count(&profile);

        for (i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {

            for (k = 0, seen = 0; k < stacks[i].n; k++) {
                seen += jpp_error_draw(&state)
                        < -expm1(-(double) stacks[i].size / JPP_PERIOD);
            }

            jpp_error_commit(&profile, (uint32_t) i + 1, seen,
                             seen * stacks[i].size, JPP_PERIOD, false);
        }

        for (k = 0; k < 2; k++) {
            variance[k] = jpp_error_sum(&profile,
                                        JPP_HEAP_INUSE_OBJECTS + (uint32_t) k,
                                        &sum[k]);

            z[k] += pow((double) sum[k] - (double) truth[k], 2) / variance[k];
            bias[k] += ((double) sum[k] - (double) truth[k])
                       / (double) truth[k];
        }
    }

    for (k = 0; k < 2; k++) {
        z[k] /= JPP_TRIALS;
        bias[k] /= JPP_TRIALS;

        jpp_ok(z[k] > 0.9 && z[k] < 1.1, "type %zu: the mean square is %.3f",
               k, z[k]);
        jpp_ok(fabs(bias[k]) < 0.01, "no bias: %.4f", bias[k]);
    }
}


/* The error of what is in use, in per cent, is between two numbers. */

JPP_TEST(jpp_error_test_few)
{
    double         percent, variance;
    size_t         i, k;
    int64_t        sum;
    jpp_profile_t  profile;

    static const struct {
        const char  *what;
        uint64_t     period;
        uint64_t     commits[2][2];    /* objects, bytes; of two dumps */
        double       least;
        double       most;
    } rows[] = {
        { "three of sixteen periods are seen by all means", JPP_PERIOD,
          { { 3, 3 * 16 * JPP_PERIOD } }, -1, JPP_ERROR_EXACT },
        { "one of 1.6 periods stands for 1.25, rounded to 1", JPP_PERIOD,
          { { 1, JPP_PERIOD * 8 / 5 } }, 44, 46 },
        { "n small ones have the error of a Poisson process", JPP_PERIOD,
          { { 100, 100 } }, 9.9, 10.1 },
        { "all that is there was seen", 1, { { 5, 50 } }, -1, 1e-300 },
        { "what is in both dumps cancels out", JPP_PERIOD,
          { { 104, 10400 }, { 100, 10000 } }, 49, 51 },
        { "as many, of another size, are worth nothing", JPP_PERIOD,
          { { 10, 2000 }, { 10, 1000 } }, -1, 1e300 }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_parser_init(&jpp_parser_heap, &profile, &arena);
        jpp_profile_count(&profile);

        for (k = 0; k < 2 && rows[i].commits[k][0] != 0; k++) {
            jpp_error_commit(&profile, 1, rows[i].commits[k][0],
                             rows[i].commits[k][1], rows[i].period, k == 1);
        }

        variance = jpp_error_sum(&profile, JPP_HEAP_INUSE_SPACE, &sum);
        percent = jpp_error_percent(variance, sum);

        jpp_ok(isfinite(variance) && percent > rows[i].least
               && percent < rows[i].most, "%s: %.2f %%", rows[i].what,
               percent);
    }

    jpp_ok(jpp_error_percent(4, 0) == 0, "nothing has no error");
}


JPP_TEST(jpp_error_test)
{
    char    text[JPP_ERROR_TEXT];
    size_t  i;

    static const double  percents[] = { 0, 0.0499, 0.05, 0.5, 9.94, 9.95, 24.4,
                                        1e300 };

    for (i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
        jpp_note("%g: %s", percents[i], jpp_error_text(percents[i], text));
    }

    jpp_shows_notes("errors in per cent");
}

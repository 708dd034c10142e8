
/*
 * The draw is -ln(u) * 2^lg for a random u in (0, 1), which is
 * -log2(u) * ln(2) * 2^lg.  Random bits with the first one at place k are
 * 2^k * m with m in [1, 2), so -log2(u) is 64 - k - log2(m): the logarithm is
 * read from a table of 1024 steps, and interpolated.
 */


#include "jpp_samples_draw.h"


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


#include "jpp_loop.h"


const uint64_t  jpp_loop_bounds[JPP_LOOP_BOUNDS] = {
    1, 5, 10, 25, 50, 100, 250, 500, 1000, 5000
};


void
jpp_loop_add(jpp_loop_t *loop, uint64_t ms)
{
    unsigned  i;

    /* nearly always the first */

    for (i = 0; i < JPP_LOOP_BOUNDS && ms > jpp_loop_bounds[i]; i++) {
        /* void */
    }

    loop->counts[i]++;
    loop->sum += ms;
    loop->max = ms > loop->max ? ms : loop->max;
}


uint64_t
jpp_loop_count(const jpp_loop_t *loop)
{
    unsigned  i;
    uint64_t  count;

    for (i = 0, count = 0; i <= JPP_LOOP_BOUNDS; i++) {
        count += loop->counts[i];
    }

    return count;
}


uint64_t
jpp_loop_quantile(const jpp_loop_t *loop, uint64_t per_mille)
{
    unsigned  i;
    uint64_t  count, so_far;

    count = jpp_loop_count(loop);

    for (i = 0, so_far = 0; i < JPP_LOOP_BOUNDS; i++) {
        so_far += loop->counts[i];

        if (so_far >= count - count * (1000 - per_mille) / 1000) {
            return jpp_loop_bounds[i] < loop->max ? jpp_loop_bounds[i]
                                                  : loop->max;
        }
    }

    return loop->max;
}

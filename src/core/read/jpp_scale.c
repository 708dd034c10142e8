
#include <math.h>

#include "jpp_profile.h"
#include "jpp_scale.h"


static int64_t
jpp_scale_round(double value)
{
    /* the smallest double above INT64_MAX; q may also be 0 */

    return value < 9223372036854775808.0 ? (int64_t) (value + 0.5)
                                         : INT64_MAX;
}


/*
 * jemalloc samples bytes: an allocation of m bytes is sampled with the
 * probability q = 1 - exp(-m / period), so one that was seen stands for 1/q.
 * A stack's allocations differ in size, but only their mean m = bytes/objects
 * is known; from 5.3.0 on jemalloc stores counts that it distorted such that
 * exactly this formula gives the estimate it means.
 *
 * 1 - exp(-x) is -expm1(-x), which stays exact where x is small.
 */

int64_t
jpp_scale(uint64_t period, uint64_t objects, uint64_t bytes,
    int64_t values[2])
{
    double  q;

    if (objects == 0 || bytes == 0) {
        values[0] = 0;
        values[1] = 0;
        return 0;
    }

    if (period > 1) {
        q = -expm1(-((double) bytes / (double) objects) / (double) period);

        if (q < 1) {
            values[0] = jpp_scale_round((double) objects / q);
            values[1] = jpp_scale_round((double) bytes / q);
            return jpp_scale_round((double) objects * (1 - q) * JPP_DOUBT_ONE);
        }
    }

    values[0] = objects < INT64_MAX ? (int64_t) objects : INT64_MAX;
    values[1] = bytes < INT64_MAX ? (int64_t) bytes : INT64_MAX;

    return 0;
}


#include <string.h>

#include "jpp_recent.h"


static uint64_t
jpp_recent_number(uint64_t now)
{
    return now / JPP_RECENT_STEP + 1;
}


void
jpp_recent_add(jpp_recent_t *recent, uint64_t now, uint64_t ms)
{
    uint64_t            number;
    jpp_recent_step_t  *step;

    number = jpp_recent_number(now);
    step = &recent->steps[number % JPP_RECENT_STEPS];

    if (step->number != number) {
        memset(step, 0, sizeof(jpp_recent_step_t));
        step->number = number;
    }

    step->took.longest = ms > step->took.longest ? ms : step->took.longest;
    step->took.slow += ms > JPP_RECENT_SLOW ? ms : 0;
}


void
jpp_recent_read(const jpp_recent_t *recent, uint64_t now, jpp_minute_t *minute)
{
    unsigned                  i;
    uint64_t                  number;
    const jpp_recent_step_t  *step;

    memset(minute, 0, sizeof(jpp_minute_t));

    number = jpp_recent_number(now);

    for (i = 0; i < JPP_RECENT_STEPS; i++) {
        step = &recent->steps[i];

        /* what was not overwritten may be of long ago */

        if (step->number > number
            || step->number + JPP_RECENT_STEPS <= number)
        {
            continue;
        }

        minute->longest = step->took.longest > minute->longest
                          ? step->took.longest : minute->longest;
        minute->slow += step->took.slow;
    }
}


/* Finds the connection that the server is serving, by the words on a stack. */


#include "jpp_owners.h"


void
jpp_serving_init(jpp_serving_t *serving)
{
    uintptr_t                   high, end;
    const jpp_serving_range_t  *range;

    serving->low = UINTPTR_MAX;
    high = 0;

    jpp_each(range, serving->ranges, JPP_SERVING_RANGES) {
        end = range->start + (uintptr_t) range->size * serving->n;

        if (end != range->start) {
            serving->low = jpp_smaller(serving->low, range->start);
            high = jpp_larger(high, end);
        }
    }

    serving->span = jpp_less(high, serving->low);
}


bool
jpp_serving_is(const jpp_serving_t *serving, uintptr_t word,
    jpp_serving_one_t *one)
{
    uintptr_t                   offset;
    const jpp_serving_range_t  *range;

    jpp_each(range, serving->ranges, JPP_SERVING_RANGES) {
        offset = word - range->start;

        if (offset < (uintptr_t) range->size * serving->n
            && offset % range->size == 0)
        {
            one->index = (uint32_t) (offset / range->size);
            one->number = serving->number(one->index);

            return one->number != 0;
        }
    }

    return false;
}


uint32_t
jpp_serving_find(const jpp_serving_t *serving, uintptr_t address, uint32_t n,
    jpp_serving_one_t *one)
{
    uint32_t   i, end;
    uintptr_t  word, low, span;

    low = serving->low;
    span = serving->span;
    end = n < JPP_SERVING_WORDS ? 0 : n - JPP_SERVING_WORDS;

    for (i = n; i > end; i--) {
        word = jpp_frame_word(address + (i - 1) * sizeof(uintptr_t));

        if (word - low < span && jpp_serving_is(serving, word, one)) {
            return i;
        }
    }

    return 0;
}

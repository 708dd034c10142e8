
#include "jpp_heap.h"
#include "jpp_test_main.h"


typedef struct {
    uint64_t    period;
    uint64_t    objects;
    uint64_t    bytes;
    int64_t     values[2];
} jpp_scale_case_t;


/* by hand: k = 1 / (1 - exp(-(bytes / objects) / period)) */

static const jpp_scale_case_t  cases[] = {
    { 524288, 0, 0, { 0, 0 } },
    { 524288, 0, 5, { 0, 0 } },
    { 524288, 5, 0, { 0, 0 } },
    { 1, 3, 24, { 3, 24 } },
    { 524288, 1, 24, { 21846, 524300 } },
    { 524288, 1, 524288, { 2, 829411 } },
    { 524288, 10, 10 * 524288, { 16, 8294114 } },
    { 524288, 1, 1 << 30, { 1, 1 << 30 } },
    { 1024, 100, 6400, { 1651, 105633 } },
    { 1024, 3, 9007199254740993, { 3, 9007199254740993 } },
    { 524288, UINT64_MAX, UINT64_MAX, { INT64_MAX, INT64_MAX } },
    { 524288, UINT64_MAX, 1, { INT64_MAX, INT64_MAX } },
    { 1, UINT64_MAX, UINT64_MAX, { INT64_MAX, INT64_MAX } },
    { INT64_MAX, 1, 1, { INT64_MAX, INT64_MAX } },
};


JPP_TEST(jpp_scale_test)
{
    int64_t                  values[2];
    const jpp_scale_case_t  *c;

    for (c = cases; c < cases + sizeof(cases) / sizeof(cases[0]); c++) {

        jpp_scale(c->period, c->objects, c->bytes, values);

        jpp_is_i64(values[0], c->values[0], "objects");
        jpp_is_i64(values[1], c->values[1], "bytes");
    }
}


#include "jpp_worker.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"


JPP_TEST(jpp_loop_test)
{
    size_t      i;
    uint64_t    ms;
    jpp_loop_t  loop = { 0 };

    static const uint64_t  lasted[] = { 0, 1, 2, 5, 5000, 5001 };

    jpp_is_u64(jpp_loop_quantile(&loop, 999), 0, "no iteration");

    for (i = 0; i < sizeof(lasted) / sizeof(lasted[0]); i++) {
        jpp_loop_add(&loop, lasted[i]);
    }

    jpp_note_of("a bound belongs to what is below it", loop, counts[0],
                counts[1], counts[9], counts[10], sum, max);
    jpp_shows_notes("iterations");
    jpp_is_u64(jpp_loop_count(&loop), 6, "all");

    jpp_is_u64(jpp_loop_quantile(&loop, 500), 5, "half of them");
    jpp_is_u64(jpp_loop_quantile(&loop, 1000), 5001, "all of them");

    memset(&loop, 0, sizeof(jpp_loop_t));

    for (ms = 0; ms < 1000; ms++) {
        jpp_loop_add(&loop, ms < 990 ? 0 : 40);
    }

    jpp_is_u64(jpp_loop_quantile(&loop, 990), 1, "99 per cent");
    jpp_is_u64(jpp_loop_quantile(&loop, 999), 40, "99.9: no more than the "
               "longest");
}

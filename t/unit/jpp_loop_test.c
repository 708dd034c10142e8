
#include "jpp_worker.h"
#include "jpp_test_main.h"


JPP_TEST(jpp_loop_test)
{
    uint64_t    ms;
    jpp_loop_t  loop;

    memset(&loop, 0, sizeof(jpp_loop_t));

    jpp_is_u64(jpp_loop_quantile(&loop, 999), 0, "no iteration");

    jpp_loop_add(&loop, 0);
    jpp_loop_add(&loop, 1);
    jpp_loop_add(&loop, 2);
    jpp_loop_add(&loop, 5);
    jpp_loop_add(&loop, 5000);
    jpp_loop_add(&loop, 5001);

    jpp_is_u64(loop.counts[0], 2, "a bound belongs to what is below it");
    jpp_is_u64(loop.counts[1], 2, "the next one");
    jpp_is_u64(loop.counts[9], 1, "the last one");
    jpp_is_u64(loop.counts[10], 1, "beyond");
    jpp_is_u64(jpp_loop_count(&loop), 6, "all");
    jpp_is_u64(loop.sum, 10009, "their sum");
    jpp_is_u64(loop.max, 5001, "the longest");

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

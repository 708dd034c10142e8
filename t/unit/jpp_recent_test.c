
#include "jpp_worker.h"
#include "jpp_test_main.h"


static jpp_recent_t  jpp_recent;


static void
jpp_recent_test_at(uint64_t now, uint64_t longest, uint64_t slow,
    const char *what)
{
    jpp_minute_t  minute;

    jpp_recent_read(&jpp_recent, now, &minute);

    jpp_is_u64(minute.longest, longest, "%s: the longest", what);
    jpp_is_u64(minute.slow, slow, "and all of the slow ones");
}


JPP_TEST(jpp_recent_test)
{
    jpp_recent_test_at(0, 0, 0, "nothing, at the zero of the clock");
    jpp_recent_test_at(1000000, 0, 0, "nothing, later");

    jpp_recent_add(&jpp_recent, 1000000, 100);
    jpp_recent_test_at(1000000, 100, 0, "100 ms are not slow");

    jpp_recent_add(&jpp_recent, 1005000, 101);
    jpp_recent_add(&jpp_recent, 1005000, 300);
    jpp_recent_add(&jpp_recent, 1006000, 2);
    jpp_recent_test_at(1006000, 300, 401, "101 are");

    jpp_recent_add(&jpp_recent, 1030000, 200);
    jpp_recent_test_at(1030000, 300, 601, "half a minute later");
    jpp_recent_test_at(1066000, 300, 601, "a minute after the longest");
    jpp_recent_test_at(1070000, 200, 200, "then it is over");
    jpp_recent_test_at(1099000, 200, 200, "the other is not");
    jpp_recent_test_at(1100000, 0, 0, "and then it is");

    jpp_recent_add(&jpp_recent, 5000000, 1);
    jpp_recent_test_at(5000000, 1, 0, "a step that is used again");

    jpp_recent_test_at(4000000, 0, 0, "a clock that went back");
}

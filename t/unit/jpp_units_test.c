
#include "jpp_test_golden.h"
#include "jpp_units.h"
#include "jpp_test_main.h"


static const uint64_t  sizes[] = {
    0, 1, 1023, 1024, 1024 + 51, 1024 + 52, 1536, 16384, 1048576 - 52,
    1048576 - 51, 1048575, 1048576, 1073741824ULL * 3 / 2, 1ULL << 40,
    (1ULL << 50) - 1, (1ULL << 60) - 1, 1ULL << 63, UINT64_MAX - 1
};


static const uint64_t  times[] = {
    0, 999, 1000, 1049, 1050, 999949, 999950, 83000000, 999949999, 999950000,
    3600ULL * 1000000000, UINT64_MAX
};


static const uint64_t  spans[] = {
    0, 59, 60, 61, 3599, 3600, 86399, 86400, UINT64_MAX
};


static const int64_t  changes[] = {
    1536, -1536, 0, -1, -1048525, INT64_MIN, INT64_MAX
};


JPP_TEST(jpp_units_test)
{
    int     c, n_wrong;
    char    text[JPP_UNITS_TEXT], line[257];
    size_t  i;

    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        jpp_note("%" PRIu64 ": %s", sizes[i], jpp_units_bytes(sizes[i], text));
    }

    jpp_shows_notes("bytes");

    for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        jpp_note("%" PRIu64 ": %s", times[i], jpp_units_time(times[i], text));
    }

    jpp_shows_notes("nanoseconds");

    for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        jpp_note("%" PRId64 ": %s", changes[i],
                 jpp_units_change(changes[i], text));
    }

    jpp_shows_notes("what has grown, and what has shrunk");

    for (i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
        jpp_note("%" PRIu64 " s: %s", spans[i], jpp_span(spans[i]));
    }

    jpp_shows_notes("spans");

    jpp_is_str(jpp_units_time_change(-1500, text), "-1.5 us", "less time");
    jpp_is_str(jpp_units_time_change(INT64_MIN, text), "-4294967295.9 s",
               "the least time");
    jpp_is_str(jpp_bytes(1536), "1.5 KiB", "for one use");
    jpp_is_str(jpp_bytes(JPP_NONE), "-", "no number");
    jpp_is_str(jpp_change(-1536), "-1.5 KiB", "a change");

    for (c = 1; c < 256; c++) {
        line[c - 1] = (char) c;
    }

    line[255] = '\0';
    jpp_ascii_clean(line);

    for (c = 1, n_wrong = 0; c < 256; c++) {
        n_wrong += line[c - 1] != (c >= ' ' && c <= '~' ? (char) c : '?');
    }

    jpp_is_u64((uint64_t) n_wrong, 0, "all that is not printable ASCII is ?");
    jpp_ok(strlen(line) == 255, "in place");
}


#include "jpp_test.h"
#include "jpp_units.h"
#include "jpp_utf8.h"


static const struct {
    uint64_t      bytes;
    const char   *text;
} rows[] = {
    { 0, "0 B" },
    { 1, "1 B" },
    { 1023, "1023 B" },
    { 1024, "1.0 KiB" },
    { 1024 + 51, "1.0 KiB" },
    { 1024 + 52, "1.1 KiB" },
    { 1536, "1.5 KiB" },
    { 16384, "16.0 KiB" },
    { 1048576 - 52, "1023.9 KiB" },
    { 1048576 - 51, "1.0 MiB" },
    { 1048575, "1.0 MiB" },
    { 1048576, "1.0 MiB" },
    { 1073741824ULL * 3 / 2, "1.5 GiB" },
    { 1ULL << 40, "1.0 TiB" },
    { (1ULL << 50) - 1, "1.0 PiB" },
    { (1ULL << 60) - 1, "1.0 EiB" },
    { 1ULL << 63, "8.0 EiB" },
    { UINT64_MAX, "16.0 EiB" }
};


static const struct {
    uint64_t      ns;
    const char   *text;
} times[] = {
    { 0, "0 ns" },
    { 999, "999 ns" },
    { 1000, "1.0 us" },
    { 1049, "1.0 us" },
    { 1050, "1.1 us" },
    { 999949, "999.9 us" },
    { 999950, "1.0 ms" },
    { 83000000, "83.0 ms" },
    { 999949999, "999.9 ms" },
    { 999950000, "1.0 s" },
    { 3600ULL * 1000000000, "3600.0 s" },
    { UINT64_MAX, "4294967295.7 s" }
};


int
main(void)
{
    int     c, n_wrong;
    char    text[JPP_UNITS_TEXT], line[257];
    size_t  i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_is_str(jpp_units_bytes(rows[i].bytes, text), rows[i].text,
                   "%s", rows[i].text);
    }

    for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        jpp_is_str(jpp_units_time(times[i].ns, text), times[i].text,
                   "%s", times[i].text);
    }

    jpp_is_str(jpp_units_time_change(-1500, text), "-1.5 us", "less time");
    jpp_is_str(jpp_units_time_change(INT64_MIN, text), "-4294967295.9 s",
               "the least time");

    jpp_is_str(jpp_units_change(1536, text), "1.5 KiB", "what has grown");
    jpp_is_str(jpp_units_change(-1536, text), "-1.5 KiB", "what has shrunk");
    jpp_is_str(jpp_units_change(0, text), "0 B", "what has not changed");
    jpp_is_str(jpp_units_change(-1, text), "-1 B", "one byte less");
    jpp_is_str(jpp_units_change(-1048525, text), "-1.0 MiB", "about a MiB");
    jpp_is_str(jpp_units_change(INT64_MIN, text), "-8.0 EiB", "the least");
    jpp_is_str(jpp_units_change(INT64_MAX, text), "8.0 EiB", "the most");

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

    return jpp_done();
}


#include "jpp_units.h"


/* 9999-12-31T23:59:59Z: ISO 8601 knows no later year */
#define JPP_UNITS_LAST  253402300799


const char *
jpp_units_bytes(uint64_t bytes, char text[JPP_UNITS_TEXT])
{
    unsigned  unit, shift;
    uint64_t  tenths;

    static const char  *units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };

    if (bytes == JPP_NONE) {
        return "-";
    }

    if (bytes < 1024) {
        (void) snprintf(text, JPP_UNITS_TEXT, "%u B", (unsigned) bytes);
        return text;
    }

    /*
     * The part below the unit is cut to 10 bits, so that no product wraps;
     * 1023.95 rounds to 1.0 of the next unit.
     */

    for (unit = 0, shift = 10; /* void */ ; unit++, shift += 10) {

        tenths = (bytes >> shift) * 10
                 + ((bytes >> (shift - 10) & 1023) * 10 + 512) / 1024;

        if (tenths < 10240) {
            break;
        }
    }

    (void) snprintf(text, JPP_UNITS_TEXT, "%u.%u %s", (unsigned) (tenths / 10),
                    (unsigned) (tenths % 10), units[unit]);

    return text;
}


const char *
jpp_units_time(uint64_t ns, char text[JPP_UNITS_TEXT])
{
    unsigned  unit;
    uint64_t  tenth, tenths, whole;

    static const char  *units[] = { "us", "ms", "s" };

    if (ns < 1000) {
        (void) snprintf(text, JPP_UNITS_TEXT, "%u ns", (unsigned) ns);
        return text;
    }

    /* 999.95 rounds to 1.0 of the next unit */

    for (unit = 0, tenth = 100; /* void */ ; unit++, tenth *= 1000) {

        tenths = ns / tenth + (ns % tenth >= tenth / 2);

        if (tenths < 10000 || unit == 2) {
            break;
        }
    }

    /* 136 years at most, which fit into the text */

    whole = jpp_smaller(tenths / 10, UINT32_MAX);

    (void) snprintf(text, JPP_UNITS_TEXT, "%u.%u %s", (unsigned) whole,
                    (unsigned) (tenths % 10), units[unit]);

    return text;
}


const char *
jpp_units_span(uint64_t seconds, char text[JPP_UNITS_TEXT])
{
    uint64_t  rest;
    unsigned  i;

    static const struct {
        uint32_t     seconds;
        const char  *name;
    } units[] = {
        { 86400, "d" }, { 3600, "h" }, { 60, "min" }, { 1, "s" }, { 1, "" }
    };

    for (i = 0; i < 3 && seconds < units[i].seconds; i++) { /* void */ }

    rest = seconds % units[i].seconds / units[i + 1].seconds;

    (void) snprintf(text, JPP_UNITS_TEXT, "%" PRIu64 " %s",
                    seconds / units[i].seconds % 1000000, units[i].name);

    if (rest != 0) {
        jpp_text_add(text, JPP_UNITS_TEXT, " %" PRIu64 " %s", rest,
                     units[i + 1].name);
    }

    return text;
}


static const char *
jpp_units_signed(int64_t value, char text[JPP_UNITS_TEXT],
    const char *(*write)(uint64_t value, char text[JPP_UNITS_TEXT]))
{
    char  size[JPP_UNITS_TEXT];

    if (value >= 0) {
        return write((uint64_t) value, text);
    }

    (void) write(0 - (uint64_t) value, size);
    (void) snprintf(text, JPP_UNITS_TEXT, "-%.14s", size);

    return text;
}


const char *
jpp_units_change(int64_t bytes, char text[JPP_UNITS_TEXT])
{
    return jpp_units_signed(bytes, text, jpp_units_bytes);
}


const char *
jpp_units_time_change(int64_t ns, char text[JPP_UNITS_TEXT])
{
    return jpp_units_signed(ns, text, jpp_units_time);
}


const char *
jpp_units_date(int64_t seconds, char text[JPP_UNITS_DATE])
{
    time_t     t;
    struct tm  tm;

    t = (time_t) (seconds < 0 ? 0 : seconds);

    if (t > JPP_UNITS_LAST) {
        t = JPP_UNITS_LAST;
    }

    (void) gmtime_r(&t, &tm);

    (void) strftime(text, JPP_UNITS_DATE, "%Y-%m-%dT%H:%M:%SZ", &tm);

    return text;
}


void
jpp_text_add(char *text, size_t size, const char *fmt, ...)
{
    size_t   len;
    va_list  args;

    len = strlen(text);

    va_start(args, fmt);
    (void) vsnprintf(text + len, size - len, fmt, args);
    va_end(args);
}


#include <inttypes.h>
#include <stdio.h>

#include "jpp_units.h"


const char *
jpp_units_bytes(uint64_t bytes, char text[JPP_UNITS_TEXT])
{
    unsigned  unit, shift;
    uint64_t  tenths, whole;

    static const char  *units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };

    if (bytes < 1024) {
        (void) snprintf(text, JPP_UNITS_TEXT, "%u B", (unsigned) bytes);
        return text;
    }

    for (unit = 0, shift = 10; bytes >> shift >= 1024; unit++) {
        shift += 10;
    }

    /* the part below the unit is cut to 10 bits, so that no product wraps */

    whole = bytes >> shift;
    tenths = whole * 10 + ((bytes >> (shift - 10) & 1023) * 10 + 512) / 1024;

    /* 1023.95 rounds to 1.0 of the next unit */

    if (tenths >= 10240) {
        tenths = 10;
        unit++;
    }

    (void) snprintf(text, JPP_UNITS_TEXT, "%u.%u %s", (unsigned) (tenths / 10),
                    (unsigned) (tenths % 10), units[unit]);

    return text;
}


const char *
jpp_units_change(int64_t bytes, char text[JPP_UNITS_TEXT])
{
    char  size[JPP_UNITS_TEXT];

    if (bytes >= 0) {
        return jpp_units_bytes((uint64_t) bytes, text);
    }

    (void) jpp_units_bytes(0 - (uint64_t) bytes, size);
    (void) snprintf(text, JPP_UNITS_TEXT, "-%.14s", size);

    return text;
}


#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "jpp_ascii.h"
#include "jpp_console_parts.h"
#include "jpp_markup.h"
#include "jpp_utf8.h"


/* of a name; what is longer is cut */
#define JPP_CONSOLE_NAME  256


typedef struct {
    int64_t        seconds;
    const char    *unit;
    int64_t        small;          /* seconds of the unit below */
    const char    *small_unit;
} jpp_console_unit_t;


static const jpp_console_unit_t  jpp_console_units[] = {
    { 86400, "d", 3600, "h" },
    { 3600, "h", 60, "min" },
    { 60, "min", 1, "s" }
};


void
jpp_console_text(jpp_sink_t *sink, const char *s)
{
    for ( /* void */ ; *s != '\0'; s++) {

        if (!jpp_markup_escape(sink, *s)) {
            jpp_sink_char(sink, *s == '\n' ? '\n' : jpp_ascii(*s));
        }
    }
}


void
jpp_console_name(jpp_sink_t *sink, const char *data, size_t len)
{
    char    text[JPP_UTF8_ESCAPED(JPP_CONSOLE_NAME)];
    size_t  n;

    n = jpp_utf8_escape(text, data,
                        len < JPP_CONSOLE_NAME ? len : JPP_CONSOLE_NAME);

    jpp_markup_text(sink, text, n);

    if (len > JPP_CONSOLE_NAME) {
        jpp_sink_str(sink, "...");
    }
}


void
jpp_console_bytes(jpp_sink_t *sink, uint64_t bytes)
{
    char  text[JPP_UNITS_TEXT];

    jpp_sink_str(sink, bytes != JPP_NONE ? jpp_units_bytes(bytes, text) : "-");
}


const char *
jpp_console_age(int64_t from, int64_t to, char text[JPP_CONSOLE_AGE])
{
    size_t                     i;
    int64_t                    whole, seconds;
    const jpp_console_unit_t  *unit;

    /* clocks are set back, and a worker may say anything */

    if (__builtin_sub_overflow(to, from, &seconds) || seconds < 0) {
        seconds = 0;
    }

    for (i = 0; i < sizeof(jpp_console_units) / sizeof(*unit); i++) {
        unit = &jpp_console_units[i];

        if (seconds < unit->seconds) {
            continue;
        }

        whole = seconds / unit->seconds % 1000000;

        (void) snprintf(text, JPP_CONSOLE_AGE, "%" PRId64 " %s %" PRId64 " %s",
                        whole, unit->unit,
                        seconds % unit->seconds / unit->small,
                        unit->small_unit);

        return text;
    }

    (void) snprintf(text, JPP_CONSOLE_AGE, "%d s", (int) seconds);

    return text;
}


uint64_t
jpp_console_sum(const jpp_console_part_t *parts)
{
    uint64_t  sum;

    for (sum = 0; parts->what != NULL; parts++) {

        if (parts->bytes != JPP_NONE
            && __builtin_add_overflow(sum, parts->bytes, &sum))
        {
            return JPP_NONE;
        }
    }

    return sum;
}


void
jpp_console_words(jpp_sink_t *sink, const jpp_console_part_t *parts)
{
    bool  is_first;

    for (is_first = true; parts->what != NULL; parts++) {

        if (parts->bytes == JPP_NONE) {
            continue;
        }

        if (!is_first) {
            jpp_sink_str(sink, ", ");
        }

        jpp_console_bytes(sink, parts->bytes);
        jpp_sink_char(sink, ' ');
        jpp_console_text(sink, parts->what);

        is_first = false;
    }
}


/* what a worker says of itself may be anything */

static unsigned
jpp_console_permille(double bytes, double scale)
{
    return bytes < scale ? (unsigned) (bytes * 1000 / scale) : 1000;
}


void
jpp_console_bar(jpp_sink_t *sink, const jpp_console_part_t *parts,
    uint64_t scale)
{
    double                     sum;
    unsigned                   x, end;
    const jpp_console_part_t  *part;

    jpp_sink_str(sink, "<svg class=\"bar\" role=\"img\" aria-label=\"");
    jpp_console_words(sink, parts);
    jpp_sink_str(sink, "\">");

    sum = 0;
    x = 0;

    for (part = parts; part->what != NULL; part++) {

        if (part->bytes == JPP_NONE || part->bytes == 0) {
            continue;
        }

        sum += (double) part->bytes;
        end = jpp_console_permille(sum, (double) scale);

        jpp_sink_printf(sink, "<rect class=\"%s\" x=\"%u.%u%%\" "
                        "width=\"%u.%u%%\" height=\"100%%\"/>", part->css,
                        x / 10, x % 10, (end - x) / 10, (end - x) % 10);

        x = end;
    }

    jpp_sink_str(sink, "</svg>");
}


void
jpp_console_meter(jpp_sink_t *sink, uint64_t used, uint64_t all,
    const char *label)
{
    jpp_sink_printf(sink, "<meter max=\"%" PRIu64 "\" value=\"%" PRIu64
                    "\" low=\"%" PRIu64 "\" high=\"%" PRIu64
                    "\" optimum=\"0\" aria-label=\"%s\"></meter>", all, used,
                    all / 10 * 8, all / 10 * 9, label);
}


bool
jpp_console_serves(const jpp_console_link_t *links, const char *name)
{
    size_t  len;

    len = strlen(name);

    for ( /* void */ ; links->address != NULL; links++) {

        if (strncmp(links->address, name, len) == 0
            && (links->address[len] == '\0' || links->address[len] == '?'))
        {
            return true;
        }
    }

    return false;
}


#include <inttypes.h>

#include "jpp_console_shared.h"


static void
jpp_console_zone(const jpp_zone_t *zone, jpp_sink_t *sink)
{
    uint64_t            used;
    jpp_console_part_t  parts[] = {
        { "a", "in use, in whole pages", JPP_NONE }, { NULL, NULL, JPP_NONE }
    };

    used = zone->size > zone->free ? zone->size - zone->free : 0;
    parts[0].bytes = used;

    jpp_sink_str(sink, "<tr><th scope=\"row\">zone ");
    jpp_console_name(sink, zone->name, zone->name_len);
    jpp_sink_str(sink, "</th><td class=\"m\">");
    jpp_console_bar(sink, parts, zone->size);
    jpp_sink_str(sink, "</td><td class=\"n\" data-l=\"used\">");
    jpp_console_bytes(sink, used);
    jpp_sink_str(sink, "</td><td class=\"n\" data-l=\"of\">");
    jpp_console_bytes(sink, zone->size);
    jpp_sink_printf(sink, "</td><td class=\"n%s\" data-l=\"refused\">%" PRIu64
                    "</td></tr>\n", zone->failures != 0 ? " bad" : "",
                    zone->failures);
}


void
jpp_console_shared(const jpp_console_t *console, jpp_sink_t *sink)
{
    char                    age[JPP_CONSOLE_AGE];
    size_t                  i;
    const jpp_telemetry_t  *telemetry;

    telemetry = console->telemetry;

    jpp_sink_printf(sink,
        "<table class=\"shared\">\n"
        "<thead><tr><th>shared by all</th><th>in use</th>"
        "<th class=\"n\">used</th><th class=\"n\">of</th>"
        "<th class=\"n\">refused</th></tr></thead>\n"
        "<tbody>\n<tr><th scope=\"row\">configuration</th>"
        "<td colspan=\"4\">generation %" PRIu64 ", loaded %s ago",
        telemetry->generation,
        jpp_console_age(telemetry->loaded, console->now, age));

    if (jpp_console_serves(console->links, "heap")) {
        jpp_sink_str(sink, "; <a href=\"heap?format=top&amp;origin=master\">"
                     "what workers inherited</a> counts once");
    }

    jpp_sink_str(sink, "</td></tr>\n");

    for (i = 0; i < telemetry->n_zones; i++) {
        jpp_console_zone(&telemetry->zones[i], sink);
    }

    jpp_sink_str(sink, "</tbody>\n</table>\n");
}

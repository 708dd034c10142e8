
#include <inttypes.h>
#include <stdio.h>

#include "jpp_memory_zones.h"
#include "jpp_table.h"
#include "jpp_utf8.h"


/* bytes of the name of a zone that is busy */
#define JPP_MEMORY_ZONE   64

#define JPP_MEMORY_SLOTS  240


static const char  jpp_memory_busy[] =
    "somebody used this zone as it was read: its numbers are of several "
    "moments";


static void
jpp_memory_zone_json(jpp_json_t *json, const jpp_zone_t *zone)
{
    size_t                  i;
    const jpp_zone_slot_t  *slot;

    jpp_json_open(json, NULL, '{');

    jpp_json_name(json, "name", zone->name, zone->name_len);
    jpp_json_u64(json, "size", zone->size);
    jpp_json_u64(json, "free", zone->free);
    jpp_json_u64(json, "used_in_slots", zone->used);
    jpp_json_u64(json, "allocations", zone->allocations);
    jpp_json_u64(json, "failures", zone->failures);

    jpp_json_open(json, "slots", '[');

    for (i = 0; i < zone->n_slots; i++) {
        slot = &zone->slots[i];

        jpp_json_open(json, NULL, '{');

        jpp_json_u64(json, "size", slot->size);
        jpp_json_u64(json, "total", slot->total);
        jpp_json_u64(json, "used", slot->used);
        jpp_json_u64(json, "allocations", slot->allocations);
        jpp_json_u64(json, "failures", slot->failures);

        jpp_json_close(json, '}');
    }

    jpp_json_close(json, ']');
    jpp_json_close(json, '}');
}


void
jpp_memory_zones_json(jpp_json_t *json, const jpp_telemetry_t *telemetry)
{
    size_t  i;

    jpp_json_open(json, "zones", '[');

    for (i = 0; i < telemetry->n_zones; i++) {
        jpp_memory_zone_json(json, &telemetry->zones[i]);
    }

    jpp_json_close(json, ']');
}


void
jpp_memory_zones_why(jpp_json_t *json, const jpp_telemetry_t *telemetry)
{
    int                len;
    char               name[JPP_UTF8_ESCAPED(JPP_MEMORY_ZONE)];
    char               key[sizeof("zones.") + sizeof(name)];
    size_t             i;
    const jpp_zone_t  *zone;

    for (i = 0; i < telemetry->n_zones; i++) {
        zone = &telemetry->zones[i];

        if (zone->was_busy) {
            len = (int) jpp_utf8_escape(name, zone->name,
                                        zone->name_len < JPP_MEMORY_ZONE
                                        ? zone->name_len : JPP_MEMORY_ZONE);

            (void) snprintf(key, sizeof(key), "zones.%.*s", len, name);

            jpp_json_str(json, key, jpp_memory_busy);
        }
    }
}


/* sizes that no page is divided into are left out */

static void
jpp_memory_zone_text(jpp_table_t *table, const jpp_zone_t *zone)
{
    int                     n;
    char                    text[JPP_MEMORY_SLOTS], size[JPP_UNITS_TEXT];
    size_t                  i, len;
    const jpp_zone_slot_t  *slot;

    jpp_table_cell(table, "%s", jpp_units_bytes(zone->size, size));
    jpp_table_cell(table, "%s", jpp_units_bytes(jpp_less(zone->size,
                                                         zone->free),
                                                size));
    jpp_table_cell(table, "%" PRIu64, zone->failures);
    jpp_table_name(table, zone->name, zone->name_len);

    text[0] = '\0';

    for (i = 0, len = 0; i < zone->n_slots; i++) {
        slot = &zone->slots[i];

        if (slot->total == 0 && slot->failures == 0) {
            continue;
        }

        n = snprintf(text + len, sizeof(text) - len, "%s%" PRIu64 " of %"
                     PRIu64 " x %s", len == 0 ? "" : ", ", slot->used,
                     slot->total, jpp_units_bytes(slot->size, size));

        if (n < 0 || len + (size_t) n >= sizeof(text)) {
            text[len] = '\0';
            break;
        }

        len += (size_t) n;
    }

    jpp_table_cell(table, "%s", len != 0 ? text : "-");
}


bool
jpp_memory_zones_text(const jpp_memory_t *memory, jpp_sink_t *sink)
{
    size_t                  i;
    jpp_table_t             table;
    const jpp_telemetry_t  *telemetry;

    telemetry = memory->telemetry;

    if (telemetry->n_zones == 0) {
        return true;
    }

    jpp_table_init(&table, memory->arena, 5, 0x7);

    jpp_table_cell(&table, "size");
    jpp_table_cell(&table, "in use");
    jpp_table_cell(&table, "refused");
    jpp_table_cell(&table, "zone");
    jpp_table_cell(&table, "places in use, by their size");

    for (i = 0; i < telemetry->n_zones; i++) {
        jpp_memory_zone_text(&table, &telemetry->zones[i]);
    }

    jpp_sink_str(sink, "\nzones of shared memory, in whole pages\n\n");

    return jpp_table_write(&table, sink);
}

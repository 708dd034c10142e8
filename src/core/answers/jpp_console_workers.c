
/*
 * The workers on the console: a table with a row for each that was asked, those
 * of former configurations in a group of their own, and what all of them share.
 *
 * Bars are SVG with attributes, since the policy of the page forbids a style
 * attribute.  A bar says in words what it shows.
 */


#include "jpp_console.h"
#include "jpp_problems.h"
#include "jpp_status.h"


/* of a name; what is longer is cut */
#define JPP_CONSOLE_NAME  256

/* A part of a bar; JPP_NONE bytes are left out. */
typedef struct {
    const char    *css;            /* class */
    const char    *what;           /* "allocated"; NULL ends the list */
    uint64_t       bytes;
} jpp_console_part_t;


/* The parts of a bar, and the end of their list. */
typedef enum {
    JPP_CONSOLE_ALLOCATED = 0,
    JPP_CONSOLE_FRAGMENTS,
    JPP_CONSOLE_KEPT,
    JPP_CONSOLE_OUTSIDE,
    JPP_CONSOLE_SHARED,
    JPP_CONSOLE_PARTS
} jpp_console_part_id_t;


/* Workers of one kind, and their sums; what is not known adds nothing. */
typedef struct {
    size_t                n;
    jpp_console_part_t    parts[JPP_CONSOLE_PARTS + 1];
    jpp_activity_t        activity;        /* anonymous memory, connections, */
                                           /*   and the longest iterations */
} jpp_console_group_t;


/* What is as wide, or as high, as its place. */
typedef struct {
    uint64_t              bar;
    uint64_t              trend;
} jpp_console_scale_t;


/* What to ask of one worker. */
typedef struct {
    const char           *resource;
    const char           *query;
    const char           *text;
    const char           *title;
} jpp_console_ask_t;


static const jpp_console_part_t  jpp_console_part_words[] = {
    [JPP_CONSOLE_ALLOCATED] = { "a", "allocated", JPP_NONE },
    [JPP_CONSOLE_FRAGMENTS] = { "f", "unused parts of pages", JPP_NONE },
    [JPP_CONSOLE_KEPT] = { "k", "freed and kept by jemalloc", JPP_NONE },
    [JPP_CONSOLE_OUTSIDE] = { "o", "not jemalloc's", JPP_NONE },
    [JPP_CONSOLE_SHARED] = { "s", "files and shared memory", JPP_NONE },
    [JPP_CONSOLE_PARTS] = { NULL, NULL, JPP_NONE }
};


static const jpp_console_ask_t  jpp_console_ask_rows[] = {
    { "heap", "?format=html&amp;worker=", "flame", "its heap as a page" },
    { "heap", "?format=top&amp;worker=", "top", "its heap as a table" },
    { "heap", "?worker=", "pb.gz", "its heap, for pprof" },
    { "heap", "?seconds=30&amp;format=html&amp;worker=", "30 s",
      "what its heap gains and loses in 30 seconds" },
    { "pools", "?format=top&amp;worker=", "pools", "its memory by location" },
    { "memory", "?format=top&amp;worker=", "ledger",
      "every byte of it in a row" },
    { "profile", "?seconds=10&amp;format=html&amp;worker=", "cpu",
      "what its CPU works on in the next 10 seconds" },
    { "stalls", "?format=html&amp;worker=", "stalls",
      "what has kept its event loop" }
};


static void
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


static uint64_t
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


static void
jpp_console_words(jpp_sink_t *sink, const jpp_console_part_t *parts)
{
    bool  is_first;

    for (is_first = true; parts->what != NULL; parts++) {

        if (parts->bytes == JPP_NONE) {
            continue;
        }

        jpp_console_bytes(sink, is_first ? "" : ", ", parts->bytes);
        jpp_console_text(sink, " ", parts->what);

        is_first = false;
    }
}


/* what a worker says of itself may be anything */

static unsigned
jpp_console_permille(double bytes, double scale)
{
    return bytes < scale ? (unsigned) (bytes * 1000 / scale) : 1000;
}


static void
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


/* those that did not answer */

static void
jpp_console_missing(const jpp_fleet_t *fleet, jpp_sink_t *sink)
{
    size_t                i;
    const jpp_missing_t  *missing;

    if (fleet->n_missing == 0) {
        return;
    }

    jpp_sink_str(sink, "<tbody>\n");

    for (i = 0; i < fleet->n_missing; i++) {
        missing = &fleet->missing[i];

        jpp_sink_printf(sink, "<tr><th scope=\"row\">%" PRIu32 " <small>pid %"
                        PRId64 "</small></th><td class=\"bad\" colspan=\"8\">"
                        "did not answer: ", missing->who.index,
                        missing->who.pid);
        jpp_console_text(sink, "", missing->why);
        jpp_sink_str(sink, ".</td></tr>\n");
    }

    jpp_sink_str(sink, "</tbody>\n");
}


static uint64_t
jpp_console_beyond(uint64_t all, uint64_t part)
{
    return all == JPP_NONE || part == JPP_NONE || all < part ? JPP_NONE
                                                             : all - part;
}


/*
 * jemalloc's resident is an upper bound: what of it was never touched is in no
 * RSS.  So a part is what its number has beyond the one before.
 */

static void
jpp_console_parts(const jpp_worker_t *worker,
    jpp_console_part_t parts[JPP_CONSOLE_PARTS + 1])
{
    const jpp_stats_t  *stats;
    const jpp_usage_t  *usage;

    stats = &worker->stats;
    usage = &worker->activity.usage;

    memcpy(parts, jpp_console_part_words, sizeof(jpp_console_part_words));

    parts[JPP_CONSOLE_SHARED].bytes = jpp_stats_add(usage->rss_file,
                                                    usage->rss_shmem);

    if (!worker->has_stats) {
        parts[JPP_CONSOLE_OUTSIDE].bytes = usage->rss_anon;
        return;
    }

    parts[JPP_CONSOLE_ALLOCATED].bytes = stats->allocated;
    parts[JPP_CONSOLE_FRAGMENTS].bytes = jpp_console_beyond(stats->active,
                                                            stats->allocated);
    parts[JPP_CONSOLE_KEPT].bytes = jpp_console_beyond(stats->resident,
                                                       stats->active);
    parts[JPP_CONSOLE_OUTSIDE].bytes = jpp_console_beyond(usage->rss_anon,
                                                          stats->resident);
}


/* All bars have one scale: that of the largest. */

static uint64_t
jpp_console_scale(const jpp_fleet_t *fleet)
{
    size_t              i;
    uint64_t            scale;
    jpp_console_part_t  parts[JPP_CONSOLE_PARTS + 1];

    for (i = 0, scale = 1; i < fleet->n; i++) {
        jpp_console_parts(&fleet->workers[i], parts);

        scale = jpp_larger(scale, jpp_console_sum(parts));
    }

    return scale;
}


static void
jpp_console_add(jpp_console_group_t *group, const jpp_worker_t *worker)
{
    size_t                 i;
    uint64_t              *most, shared;
    jpp_activity_t        *sum;
    jpp_console_part_t     parts[JPP_CONSOLE_PARTS + 1];
    const jpp_activity_t  *activity;

    activity = &worker->activity;
    sum = &group->activity;

    jpp_console_parts(worker, parts);

    if (group->n++ == 0) {
        memcpy(group->parts, jpp_console_part_words, sizeof(group->parts));
        sum->usage.rss_anon = JPP_NONE;
    }

    for (i = 0; i < JPP_CONSOLE_SHARED; i++) {
        jpp_add_known(&group->parts[i].bytes, parts[i].bytes);
    }

    jpp_add_known(&sum->usage.rss_anon, activity->usage.rss_anon);

    /* what workers share is the most that one of them has */

    most = &group->parts[JPP_CONSOLE_SHARED].bytes;
    shared = parts[JPP_CONSOLE_SHARED].bytes;

    if (shared != JPP_NONE && (*most == JPP_NONE || *most < shared)) {
        *most = shared;
    }

    sum->connections += activity->connections;
    sum->connections_free += activity->connections
                             - jpp_activity_used(activity);
    sum->loop.max = jpp_larger(sum->loop.max, activity->loop.max);
    sum->minute.longest = jpp_larger(sum->minute.longest,
                                     activity->minute.longest);
}


static void
jpp_console_memory(const jpp_console_part_t *parts,
    const jpp_worker_t *worker, const jpp_console_scale_t *scale,
    uint64_t rss, jpp_sink_t *sink)
{
    jpp_sink_str(sink, "<td class=\"m\" title=\"");
    jpp_console_words(sink, parts);
    jpp_sink_str(sink, "\">");
    jpp_console_bar(sink, parts, scale->bar);

    if (worker != NULL) {
        jpp_console_trend(worker, scale->trend, sink);
    }

    jpp_console_bytes(sink, "</td>\n<td class=\"n\" data-l=\"allocated\">",
                      parts[JPP_CONSOLE_ALLOCATED].bytes);
    jpp_console_bytes(sink, "</td><td class=\"n\" data-l=\"RSS\">", rss);
    jpp_sink_str(sink, "</td>\n");
}


static void
jpp_console_busy(const jpp_activity_t *activity, jpp_sink_t *sink)
{
    uint64_t  used;

    used = jpp_activity_used(activity);

    jpp_sink_printf(sink, "<td class=\"n\" data-l=\"connections\">%" PRIu64
                    " of %" PRIu64 " ", used, activity->connections);

    if (activity->connections != 0) {
        jpp_console_meter(sink, used, activity->connections,
                          "connections in use");
    }

    jpp_sink_printf(sink, "</td>\n<td class=\"n\" data-l=\"worst stall\" "
                    "title=\"in the last minute; since the start it was %"
                    PRIu64 " ms\">%" PRIu64 " ms</td>", activity->loop.max,
                    activity->minute.longest);
}


static void
jpp_console_worker(const jpp_console_t *console, const jpp_worker_t *worker,
    const jpp_console_scale_t *scale, jpp_sink_t *sink)
{
    char                      age[JPP_CONSOLE_AGE], started[JPP_STATUS_TIME];
    char                      rate[JPP_UNITS_TEXT], time[JPP_STATUS_TIME];
    size_t                    i;
    int64_t                   since;
    jpp_console_part_t        parts[JPP_CONSOLE_PARTS + 1];
    const jpp_console_ask_t  *row;

    jpp_console_parts(worker, parts);

    jpp_sink_printf(sink, "<tr><th scope=\"row\">%" PRIu32 " <small>pid %"
                    PRId64 "</small></th>", worker->who.index,
                    worker->who.pid);

    jpp_sink_printf(sink, "<td data-l=\"state\">%s <small title=\"started "
                    "%s\">generation %" PRIu64 ", %s</small></td>\n",
                    worker->is_exiting ? "exiting" : "running",
                    jpp_status_time(worker->started, started),
                    worker->who.generation,
                    jpp_console_age(worker->started, console->now, age));

    jpp_console_memory(parts, worker, scale, worker->activity.usage.rss, sink);
    jpp_console_busy(&worker->activity, sink);

    jpp_sink_printf(sink, "<td data-l=\"samples\"><span class=\"%s\">%s"
                    "</span>",
                    jpp_worker_is_sampled(worker) ? "good" : "bad",
                    worker->sampler.is_on
                    ? "sampler" : jpp_status_word(worker->jemalloc.state));

    if (jpp_source(&worker->jemalloc, &worker->sampler) != JPP_SOURCE_NONE) {
        jpp_sink_printf(sink, " <small>one every %s</small>",
                        jpp_problems_rate(jpp_worker_lg_sample(worker), rate));
    }

    since = jpp_worker_complete_since(worker);

    if (jpp_worker_is_sampled(worker) && since != 0) {
        jpp_sink_printf(sink, " <small>complete since %s</small>",
                        jpp_status_time(since, time));
    }

    jpp_sink_str(sink, "</td>\n");

    /* an index is of a running worker, and stays when that is replaced */

    jpp_sink_str(sink, "<td class=\"asks\">");

    for (i = 0; i < sizeof(jpp_console_ask_rows) / sizeof(*row); i++) {
        row = &jpp_console_ask_rows[i];

        if (!jpp_console_serves(console->links, row->resource)) {
            continue;
        }

        jpp_sink_printf(sink, "<a href=\"%s%s", row->resource, row->query);

        if (worker->is_exiting) {
            jpp_sink_printf(sink, "pid-%" PRId64, worker->who.pid);

        } else {
            jpp_sink_printf(sink, "%" PRIu32, worker->who.index);
        }

        jpp_sink_printf(sink, "\" title=\"%s\">%s</a> ", row->title,
                        row->text);
    }

    jpp_sink_str(sink, "</td>");

    jpp_sink_str(sink, "</tr>\n");
}


static void
jpp_console_group(const jpp_console_t *console, bool is_exiting,
    const jpp_console_scale_t *scale, jpp_sink_t *sink)
{
    size_t                i;
    const jpp_fleet_t    *fleet;
    jpp_console_group_t   group = { 0 };
    jpp_console_scale_t   own = { 0 };

    fleet = console->telemetry->fleet;

    for (i = 0; i < fleet->n; i++) {
        if (fleet->workers[i].is_exiting == is_exiting) {
            jpp_console_add(&group, &fleet->workers[i]);
        }
    }

    if (group.n == 0) {
        return;
    }

    own.bar = jpp_console_sum(group.parts);

    jpp_sink_str(sink, "<tbody>\n");

    if (group.n > 1 || is_exiting) {
        jpp_sink_printf(sink, "<tr class=\"sum\"><th scope=\"row\">%zu %s</th>"
                        "<td><small>%s</small></td>", group.n,
                        is_exiting ? "exiting" : "running",
                        is_exiting ? "former configurations" : "");
        jpp_console_memory(group.parts, NULL, &own,
                           jpp_stats_add(group.activity.usage.rss_anon,
                               group.parts[JPP_CONSOLE_SHARED].bytes), sink);
        jpp_console_busy(&group.activity, sink);
        jpp_sink_str(sink, "<td></td><td></td></tr>\n");
    }

    for (i = 0; i < fleet->n; i++) {
        if (fleet->workers[i].is_exiting == is_exiting) {
            jpp_console_worker(console, &fleet->workers[i], scale, sink);
        }
    }

    jpp_sink_str(sink, "</tbody>\n");
}


/*
 * What exists once, whatever the number of workers: the configuration, and each
 * zone of shared memory.
 */

static void
jpp_console_zone(const jpp_zone_t *zone, jpp_sink_t *sink)
{
    uint64_t            used;
    jpp_console_part_t  parts[] = {
        { "a", "in use, in whole pages", JPP_NONE }, { NULL, NULL, JPP_NONE }
    };

    used = jpp_less(zone->size, zone->free);
    parts[0].bytes = used;

    jpp_sink_str(sink, "<tr><th scope=\"row\">zone ");
    jpp_console_name(sink, zone->name, zone->name_len);
    jpp_sink_str(sink, "</th><td class=\"m\">");
    jpp_console_bar(sink, parts, zone->size);
    jpp_console_bytes(sink, "</td><td class=\"n\" data-l=\"used\">", used);
    jpp_console_bytes(sink, "</td><td class=\"n\" data-l=\"of\">", zone->size);
    jpp_sink_printf(sink, "</td><td class=\"n%s\" data-l=\"refused\">%" PRIu64
                    "</td></tr>\n", zone->failures != 0 ? " bad" : "",
                    zone->failures);
}


void
jpp_console_workers(const jpp_console_t *console, jpp_sink_t *sink)
{
    char                       age[JPP_CONSOLE_AGE];
    size_t                     i;
    const jpp_fleet_t         *fleet;
    jpp_console_scale_t        scale;
    const jpp_telemetry_t     *telemetry;
    const jpp_console_part_t  *part;

    fleet = console->telemetry->fleet;

    jpp_sink_str(sink, "\n<section id=\"workers\" aria-labelledby=\"h-workers\""
                 ">\n<h2 id=\"h-workers\">Workers</h2>\n");

    if (fleet->n + fleet->n_missing == 0) {
        jpp_sink_str(sink, "<p class=\"bad\">No worker answered.</p>\n"
                     "</section>\n");
        return;
    }

    jpp_sink_str(sink, "<ul class=\"legend\">\n");

    for (part = jpp_console_part_words; part->what != NULL; part++) {
        jpp_sink_printf(sink, "<li><svg class=\"swatch\" aria-hidden=\"true\">"
                        "<rect class=\"%s\" width=\"100%%\" height=\"100%%\"/>"
                        "</svg>%s</li>\n", part->css, part->what);
    }

    jpp_sink_str(sink, "</ul>\n<p>A sum adds up what each has, and counts "
                 "files and shared memory once.</p>\n");

    jpp_sink_str(sink,
        "<table class=\"workers\">\n"
        "<thead><tr><th>worker</th><th>state</th><th>memory</th>"
        "<th class=\"n\">allocated</th><th class=\"n\">RSS</th>\n"
        "<th class=\"n\">connections</th><th class=\"n\">worst stall of the "
        "last minute</th>"
        "<th>samples</th><th>look at</th></tr></thead>\n");

    jpp_console_missing(fleet, sink);

    scale.bar = jpp_console_scale(fleet);
    scale.trend = jpp_console_most(fleet);

    jpp_console_group(console, false, &scale, sink);
    jpp_console_group(console, true, &scale, sink);

    jpp_sink_str(sink, "</table>\n");

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

    jpp_sink_str(sink, "</section>\n");
}


/*
 * The console's table of workers, and the resources that all workers share.  In
 * a long table the style folds ordinary workers behind a <details>, which needs
 * no script.
 *
 * Bars are SVG with attributes, since the policy of the page forbids a style
 * attribute.  A bar says in words what it shows.
 */


#include "jpp_answers.h"

#include <math.h>


/* columns of a name; what is wider is cut in the middle */
#define JPP_CONSOLE_NAME  64

/* workers that are never folded */
#define JPP_CONSOLE_FEW   8

/* bytes: a worker with so much more than the others stands out */
#define JPP_CONSOLE_ODD   (16 * JPP_FINDING_MIB)

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


/* What a worker is compared with. */
typedef struct {
    double                bar;             /* as wide, and as high, as its */
    uint64_t              trend;           /*   place */
    uint64_t              anon;            /* of all workers */
    bool                  is_sampled;      /* one of them */
    size_t                n;
} jpp_console_scale_t;


static const jpp_console_part_t  jpp_console_part_words[] = {
    [JPP_CONSOLE_ALLOCATED] = { "a", "allocated", JPP_NONE },
    [JPP_CONSOLE_FRAGMENTS] = { "f", "unused parts of pages", JPP_NONE },
    [JPP_CONSOLE_KEPT] = { "k", "freed and kept by jemalloc", JPP_NONE },
    [JPP_CONSOLE_OUTSIDE] = { "o", "not jemalloc's", JPP_NONE },
    [JPP_CONSOLE_SHARED] = { "s", "files and shared memory", JPP_NONE },
    [JPP_CONSOLE_PARTS] = { NULL, NULL, JPP_NONE }
};


/* What to ask of one worker, which comes behind the address. */

static const struct {
    const char           *address;
    const char           *text;
} jpp_console_asks[] = {
    { "heap?format=html&worker=", "heap, as a flame graph" },
    { "heap?format=top&worker=", "heap, as a table" },
    { "heap?worker=", "heap, for pprof" },
    { "heap?seconds=30&format=html&worker=", "heap: the next 30 seconds" },
    { "pools?format=top&worker=", "pools, by location" },
    { "memory?format=top&worker=", "a table of every byte" },
    { "profile?seconds=10&format=html&worker=", "CPU: the next 10 seconds" },
    { "stalls?format=html&worker=", "stalls" }
};


static void
jpp_console_bar(jpp_sink_t *sink, const jpp_console_part_t *parts,
    double scale)
{
    double                     sum;
    unsigned                   x, end;
    const char                *before;
    const jpp_console_part_t  *part;

    jpp_sink_str(sink, "<svg class=\"bar\" role=\"img\"><title>");

    for (part = parts, before = ""; part->what != NULL; part++) {

        if (part->bytes != JPP_NONE) {
            jpp_markup_printf(sink, "%s%s %s", before, jpp_bytes(part->bytes),
                              part->what);
            before = ", ";
        }
    }

    jpp_sink_str(sink, "</title>");

    sum = 0;
    x = 0;

    for (part = parts; part->what != NULL; part++) {

        if (part->bytes == JPP_NONE || part->bytes == 0) {
            continue;
        }

        /* what a worker says of itself may be anything */

        sum += (double) part->bytes;
        end = (unsigned) fmin(sum * 1000 / scale, 1000);

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
    const jpp_missing_t  *missing;

    jpp_each(missing, fleet->missing, fleet->n_missing) {
        jpp_markup_printf(sink, "<tr><th scope=\"row\">%" PRIu32 " <small>pid %"
                          PRId64 "</small></th><td class=\"bad\" colspan=\"8\">"
                          "did not answer: %s.</td></tr>\n",
                          missing->who.index, missing->who.pid, missing->why);
    }
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

static void
jpp_console_scale(const jpp_fleet_t *fleet, jpp_console_scale_t *scale)
{
    double               sum;
    const jpp_worker_t  *worker;
    jpp_console_part_t  *part, parts[JPP_CONSOLE_PARTS + 1];

    scale->bar = 1;
    scale->trend = jpp_console_most(fleet);
    scale->anon = 0;
    scale->is_sampled = false;
    scale->n = fleet->n;

    jpp_each(worker, fleet->workers, fleet->n) {
        jpp_console_parts(worker, parts);

        for (part = parts, sum = 0; part->what != NULL; part++) {
            sum += (double) jpp_known(part->bytes);
        }

        scale->bar = fmax(scale->bar, sum);
        jpp_add_known(&scale->anon, worker->activity.usage.rss_anon);
        scale->is_sampled |= jpp_worker_is_sampled(worker);
    }
}


/* What stands out in a line. */

typedef enum {
    JPP_CONSOLE_PRIVATE = 0,
    JPP_CONSOLE_CONNECTIONS,
    JPP_CONSOLE_STALL,
    JPP_CONSOLE_SAMPLES,
    JPP_CONSOLE_MARKS
} jpp_console_mark_t;


/* Fill MARKS; false: WORKER does not stand out. */

static bool
jpp_console_marks(const jpp_worker_t *worker, const jpp_console_scale_t *scale,
    jpp_severity_t marks[JPP_CONSOLE_MARKS])
{
    size_t                 i, n;
    uint64_t               anon, others, used;
    jpp_severity_t         most;
    const jpp_activity_t  *activity;

    activity = &worker->activity;
    anon = activity->usage.rss_anon;
    used = jpp_activity_used(activity);

    memset(marks, 0, JPP_CONSOLE_MARKS * sizeof(jpp_severity_t));

    /* twice as much as the others have on average */

    others = scale->n < 2 || anon == JPP_NONE
             ? JPP_NONE : jpp_less(scale->anon, anon) / (scale->n - 1);

    if (others != JPP_NONE
        && jpp_less(anon, others) > jpp_larger(others, JPP_CONSOLE_ODD))
    {
        marks[JPP_CONSOLE_PRIVATE] = JPP_VERDICT_WARNING;
    }

    marks[JPP_CONSOLE_CONNECTIONS] =
        (used > activity->connections / 10 * 8)
        + (used > activity->connections / 10 * 9);

    marks[JPP_CONSOLE_STALL] = jpp_console_slow(activity->minute.longest);

    if (!jpp_worker_is_sampled(worker)) {
        marks[JPP_CONSOLE_SAMPLES] = JPP_VERDICT_WARNING;
    }

    /* if no worker is sampled, a problem says so, once */

    n = scale->is_sampled ? JPP_CONSOLE_MARKS : JPP_CONSOLE_SAMPLES;

    for (i = 0, most = worker->is_exiting; i < n; i++) {
        most |= marks[i];
    }

    return most != JPP_VERDICT_HEALTHY || worker->last_error.text[0] != '\0';
}


/* Open the cell of a number. */

static void
jpp_console_cell(jpp_severity_t mark, const char *name, jpp_sink_t *sink)
{
    jpp_sink_printf(sink, "</td>\n<td class=\"n%s%s\" data-l=\"%s\">",
                    mark != JPP_VERDICT_HEALTHY ? " " : "",
                    mark != JPP_VERDICT_HEALTHY ? jpp_console_classes[mark]
                                                : "", name);
}


/*
 * What has no room in the line, and a menu of links: an index is of a running
 * worker, and stays.
 */

static void
jpp_console_menu(const jpp_console_link_t *links, const jpp_worker_t *worker,
    jpp_sink_t *sink)
{
    size_t   i;
    int64_t  since;

    since = jpp_worker_complete_since(worker);

    jpp_sink_printf(sink, "</td>\n<td class=\"menu\"><details>"
                    "<summary aria-label=\"look at worker %" PRIu32 "\">look "
                    "at</summary><ul>\n<li>started %s</li>\n<li>generation "
                    "%" PRIu64 "</li>\n", worker->who.index,
                    jpp_date(worker->started), worker->who.generation);

    if (jpp_worker_is_sampled(worker) && since != 0) {
        jpp_sink_printf(sink, "<li>samples complete since %s</li>\n",
                        jpp_date(since));
    }

    for (i = 0; i < sizeof(jpp_console_asks) / sizeof(*jpp_console_asks); i++) {

        if (jpp_console_serves(links, jpp_console_asks[i].address)) {
            jpp_markup_printf(sink, "<li><a href=\"%s%s%" PRId64 "\">%s</a>"
                              "</li>\n", jpp_console_asks[i].address,
                              worker->is_exiting ? "pid-" : "",
                              worker->is_exiting ? worker->who.pid
                                                 : worker->who.index,
                              jpp_console_asks[i].text);
        }
    }

    jpp_sink_str(sink, "</ul></details></td></tr>\n");
}


static void
jpp_console_worker(const jpp_console_t *console, const jpp_worker_t *worker,
    const jpp_console_scale_t *scale, jpp_sink_t *sink)
{
    bool                   is_marked;
    jpp_severity_t         marks[JPP_CONSOLE_MARKS];
    jpp_console_part_t     parts[JPP_CONSOLE_PARTS + 1];
    const jpp_activity_t  *activity;

    activity = &worker->activity;

    jpp_console_parts(worker, parts);
    is_marked = jpp_console_marks(worker, scale, marks);

    jpp_sink_printf(sink, "<tr%s><th scope=\"row\">%" PRIu32 " <small>pid %"
                    PRId64 "</small></th><td data-l=\"for\">%s%s",
                    is_marked ? "" : " class=\"calm\"", worker->who.index,
                    worker->who.pid, worker->is_exiting ? "exiting, " : "",
                    jpp_span(jpp_less((uint64_t) console->telemetry->now,
                                      (uint64_t) worker->started)));

    jpp_sink_str(sink, "</td>\n<td class=\"m\">");
    jpp_console_bar(sink, parts, scale->bar);
    jpp_console_trend(worker, scale->trend, sink);

    jpp_console_cell(marks[JPP_CONSOLE_PRIVATE], "private", sink);
    jpp_sink_str(sink, jpp_bytes(activity->usage.rss_anon));
    jpp_console_cell(JPP_VERDICT_HEALTHY, "allocated", sink);
    jpp_sink_str(sink, jpp_bytes(parts[JPP_CONSOLE_ALLOCATED].bytes));

    jpp_console_cell(marks[JPP_CONSOLE_CONNECTIONS], "connections", sink);
    jpp_sink_printf(sink, "%s of %s",
                    jpp_console_digits(jpp_activity_used(activity)),
                    jpp_console_digits(activity->connections));

    jpp_console_cell(marks[JPP_CONSOLE_STALL], "worst stall", sink);
    jpp_sink_str(sink, jpp_console_took(activity->minute.longest));

    if (activity->loop.max > activity->minute.longest) {
        jpp_sink_printf(sink, "<small>, ever %s</small>",
                        jpp_console_took(activity->loop.max));
    }

    jpp_sink_printf(sink, "</td>\n<td class=\"%s\" data-l=\"samples\">%s",
                    jpp_console_classes[marks[JPP_CONSOLE_SAMPLES]],
                    worker->sampler.is_on
                    ? "sampler" : jpp_status_words[worker->jemalloc.state]);

    if (jpp_source(&worker->jemalloc, &worker->sampler) != JPP_SOURCE_NONE) {
        jpp_sink_printf(sink, "<small>, one in %s</small>",
                        jpp_rate(jpp_worker_lg_sample(worker)));
    }

    jpp_console_menu(console->links, worker, sink);
}


/*
 * What exists once, whatever the number of workers: the configuration, and each
 * zone of shared memory.
 */

static void
jpp_console_zone(const jpp_zone_t *zone, jpp_sink_t *sink)
{
    char                name[JPP_UTF8_SHORT(JPP_CONSOLE_NAME)];
    uint64_t            used;
    jpp_console_part_t  parts[] = {
        { "a", "in use, in whole pages", JPP_NONE }, { NULL, NULL, JPP_NONE }
    };

    used = jpp_less(zone->size, zone->free);
    parts[0].bytes = used;

    jpp_sink_str(sink, "<tr><th scope=\"row\">zone ");
    jpp_markup_text(sink, name, jpp_utf8_short(name, zone->name, zone->name_len,
                                               JPP_CONSOLE_NAME));
    jpp_sink_str(sink, "</th><td class=\"m\">");
    jpp_console_bar(sink, parts, (double) zone->size);
    jpp_console_cell((used > zone->size / 10 * 8)
                     + (used > zone->size / 10 * 9), "used", sink);
    jpp_sink_str(sink, jpp_bytes(used));
    jpp_console_cell(JPP_VERDICT_HEALTHY, "of", sink);
    jpp_sink_str(sink, jpp_bytes(zone->size));
    jpp_console_cell(zone->failures != 0 ? JPP_VERDICT_CRITICAL
                                         : JPP_VERDICT_HEALTHY, "refused",
                     sink);
    jpp_sink_printf(sink, "%s</td></tr>\n", jpp_console_digits(zone->failures));
}


void
jpp_console_workers(const jpp_console_t *console, jpp_sink_t *sink)
{
    size_t                     i, n;
    const jpp_zone_t          *zone;
    jpp_severity_t             marks[JPP_CONSOLE_MARKS];
    const jpp_fleet_t         *fleet;
    const jpp_worker_t        *worker;
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

    jpp_sink_str(sink, "</ul>\n");

    jpp_console_scale(fleet, &scale);

    n = 0;

    jpp_each(worker, fleet->workers, fleet->n) {
        n += !jpp_console_marks(worker, &scale, marks);
    }

    if (fleet->n > JPP_CONSOLE_FEW) {
        jpp_sink_printf(sink, "<details class=\"fold\"><summary>%zu of %zu "
                        "workers do not stand out</summary></details>\n", n,
                        fleet->n);
    }

    jpp_sink_str(sink,
        "<table class=\"workers\">\n"
        "<thead><tr><th>worker</th><th>running for</th>"
        "<th>memory, and over time</th>"
        "<th class=\"n\">private</th><th class=\"n\">allocated</th>\n"
        "<th class=\"n\">connections</th><th class=\"n\">worst stall of the "
        "minute</th><th>samples</th><td></td></tr></thead>\n<tbody>\n");

    jpp_console_missing(fleet, sink);

    /* those of former configurations come last */

    for (i = 0; i < 2; i++) {
        jpp_each(worker, fleet->workers, fleet->n) {
            if (worker->is_exiting == (i == 1)) {
                jpp_console_worker(console, worker, &scale, sink);
            }
        }
    }

    jpp_sink_str(sink, "</tbody>\n</table>\n");

    telemetry = console->telemetry;

    jpp_sink_printf(sink,
        "<table class=\"shared\">\n"
        "<thead><tr><th>shared by all</th><th>in use</th>"
        "<th class=\"n\">used</th><th class=\"n\">of</th>"
        "<th class=\"n\">refused</th></tr></thead>\n"
        "<tbody>\n<tr><th scope=\"row\">configuration</th>"
        "<td colspan=\"4\">generation %" PRIu64 ", loaded %s ago",
        telemetry->generation,
        jpp_span(jpp_less((uint64_t) telemetry->now,
                          (uint64_t) telemetry->loaded)));

    if (jpp_console_serves(console->links, "heap")) {
        jpp_sink_str(sink, "; <a href=\"heap?format=top&amp;origin=master\">"
                     "what workers inherited</a> counts once");
    }

    jpp_sink_str(sink, "</td></tr>\n");

    jpp_each(zone, telemetry->zones, telemetry->n_zones) {
        jpp_console_zone(zone, sink);
    }

    jpp_sink_str(sink, "</tbody>\n</table>\n</section>\n");
}

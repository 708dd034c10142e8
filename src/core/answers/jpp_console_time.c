
/*
 * The console's charts of memory over time: a small one for each worker, and a
 * large one of all of nginx, with its events.
 *
 * The script reads values for the pointer back from the heights of the paths,
 * so data-top and data-seconds say what the large picture's edges are.
 */


#include "jpp_answers.h"


/* the heights of a picture, and of a small one */
#define JPP_CONSOLE_HIGH   200
#define JPP_CONSOLE_LOW    24

/* snapshots that are listed */
#define JPP_CONSOLE_SHOTS  8

/* owners that have an area of their own */
#define JPP_CONSOLE_LAYERS 4

/* bytes: more is not believed */
#define JPP_CONSOLE_MUCH   ((int64_t) 1 << 60)


/* The most of N VALUES that are known; 1: none. */

static uint64_t
jpp_console_largest(const uint64_t *values, size_t n)
{
    size_t    i;
    uint64_t  most;

    for (i = 0, most = 1; i < n; i++) {
        most = values[i] != JPP_NONE ? jpp_larger(most, values[i]) : most;
    }

    return most;
}


uint64_t
jpp_console_most(const jpp_fleet_t *fleet)
{
    size_t                i;
    uint64_t              most;
    const jpp_history_t  *history;

    for (i = 0, most = 1; i < fleet->n; i++) {
        history = fleet->workers[i].history;

        if (history != NULL) {
            most = jpp_larger(most, jpp_console_largest(history->rss,
                                                        history->n));
        }
    }

    return most;
}


static unsigned
jpp_console_height(uint64_t value, unsigned height, uint64_t scale)
{
    if (value == JPP_NONE) {
        return 0;
    }

    return (unsigned) ((double) jpp_smaller(value, scale) * height
                       / (double) scale);
}


/* Steps of equal width; those of equal height are one. */

static void
jpp_console_area(const uint64_t *values, size_t n, unsigned height,
    uint64_t scale, const char *css, jpp_sink_t *sink)
{
    size_t    i, run;
    unsigned  y, last;

    jpp_sink_printf(sink, "<path class=\"%s\" d=\"M0 %u", css, height);

    last = height;
    run = 0;

    for (i = 0; i < n; i++) {
        y = height - jpp_console_height(values[i], height, scale);

        if (y != last) {

            if (run != 0) {
                jpp_sink_printf(sink, "h%zu", run);
            }

            jpp_sink_printf(sink, "V%u", y);
            last = y;
            run = 0;
        }

        run++;
    }

    jpp_sink_printf(sink, "h%zuV%uz\"/>", run, height);
}


/* Opens the picture of HISTORY, and draws it up to SCALE. */

static void
jpp_console_svg(const char *css, const char *label,
    const jpp_history_t *history, unsigned height, uint64_t scale,
    jpp_sink_t *sink)
{
    size_t  last;

    last = history->n - 1;

    jpp_sink_printf(sink, "<svg class=\"%s\" role=\"img\" aria-label=\"%s: "
                    "allocated %s to %s, RSS %s to %s\"%s viewBox=\"0 0 %zu "
                    "%u\" preserveAspectRatio=\"none\">", css, label,
                    jpp_bytes(history->allocated[0]),
                    jpp_bytes(history->allocated[last]),
                    jpp_bytes(history->rss[0]), jpp_bytes(history->rss[last]),
                    height == JPP_CONSOLE_HIGH ? " tabindex=\"0\"" : "",
                    last + 1, height);

    jpp_console_area(history->rss, last + 1, height, scale, "t", sink);
    jpp_console_area(history->allocated, last + 1, height, scale, "a", sink);
}


void
jpp_console_trend(const jpp_worker_t *worker, uint64_t scale, jpp_sink_t *sink)
{
    char                  over[JPP_UNITS_TEXT + 8];
    const jpp_history_t  *history;

    history = worker->history;

    if (history == NULL || history->n == 0) {
        return;
    }

    jpp_print(over, "over %s", jpp_span(history->n * history->interval));

    jpp_console_svg("trend", over, history, JPP_CONSOLE_LOW, scale, sink);
    jpp_sink_str(sink, "</svg>");
}


/* A limit that is far above would leave nothing to be seen of the rest. */

static uint64_t
jpp_console_line(const jpp_telemetry_t *telemetry, uint64_t most)
{
    uint64_t             limit;
    const jpp_cgroup_t  *cgroup;

    cgroup = telemetry->cgroup;

    if (jpp_cgroup_left(cgroup) == JPP_NONE) {
        return JPP_NONE;
    }

    limit = cgroup->levels[cgroup->binding].limit;

    return limit / 4 <= most ? limit : JPP_NONE;
}


static void
jpp_console_level(const char *css, uint64_t value, uint64_t top, uint64_t n,
    jpp_sink_t *sink)
{
    jpp_sink_printf(sink, "<path class=\"%s\" d=\"M0 %uh%" PRIu64 "\"/>", css,
                    JPP_CONSOLE_HIGH
                    - jpp_console_height(value, JPP_CONSOLE_HIGH, top), n);
}


void
jpp_console_spark(const jpp_history_t *history, jpp_sink_t *sink)
{
    if (history->n != 0) {
        jpp_sink_printf(sink, "<svg class=\"spark\" aria-hidden=\"true\" "
                        "viewBox=\"0 0 %" PRIu64 " %d\" "
                        "preserveAspectRatio=\"none\">", history->n,
                        JPP_CONSOLE_HIGH);
        jpp_console_area(history->rss, history->n, JPP_CONSOLE_HIGH,
                         jpp_console_largest(history->rss, history->n), "t",
                         sink);
        jpp_sink_str(sink, "</svg>");
    }
}


/* The step of HISTORY that TIME is in; its number of steps: in none. */

static size_t
jpp_console_step(const jpp_console_t *console, const jpp_history_t *history,
    int64_t time)
{
    int64_t  age;

    age = (console->telemetry->now - time) / (int64_t) history->interval;

    return age < 0 || age >= (int64_t) history->n
           ? history->n : history->n - 1 - (size_t) age;
}


/* Is there a heap to be compared with a snapshot's? */

static bool
jpp_console_is_sampled(const jpp_fleet_t *fleet)
{
    size_t  i;

    for (i = 0; i < fleet->n && !jpp_worker_is_sampled(&fleet->workers[i]);
         i++)
    {
        /* void */
    }

    return i < fleet->n;
}


/*
 * A line for each snapshot, to be pointed at: those for keys are below.  They
 * lie above the picture, which is one thing to a reader of screens.
 */

static void
jpp_console_shots(const jpp_console_t *console, const jpp_history_t *history,
    jpp_sink_t *sink)
{
    size_t                  step;
    const char             *resource;
    const jpp_snapshot_t   *one;
    const jpp_telemetry_t  *telemetry;

    telemetry = console->telemetry;
    resource = jpp_console_is_sampled(telemetry->fleet) ? "heap" : "pools";

    if (telemetry->n_snapshots == 0) {
        return;
    }

    jpp_sink_printf(sink, "<svg class=\"over\" aria-hidden=\"true\" "
                    "viewBox=\"0 0 %" PRIu64 " %d\" "
                    "preserveAspectRatio=\"none\">", history->n,
                    JPP_CONSOLE_HIGH);

    jpp_each(one, telemetry->snapshots, telemetry->n_snapshots) {
        step = jpp_console_step(console, history, one->time);

        if (step != history->n) {
            jpp_markup_printf(sink, "<a href=\"%s?at=%" PRIu64
                              "&amp;format=html\" tabindex=\"-1\">"
                              "<path class=\"shot\" d=\"M%zu 0v%d\"><title>"
                              "snapshot, %s: %s</title></path></a>", resource,
                              one->id, step, JPP_CONSOLE_HIGH,
                              jpp_date(one->time), one->text);
        }
    }

    jpp_sink_str(sink, "</svg>\n");
}


static void
jpp_console_shot(jpp_sink_t *sink, const char *resource, const char *whose,
    uint64_t id)
{
    jpp_sink_printf(sink, "<a href=\"%s?at=%" PRIu64 "&amp;format=html\">%s"
                    "</a>, <a href=\"%s?base=%" PRIu64 "&amp;format=html\">%s "
                    "growth</a>", resource, id, resource, resource, id, whose);
}


/* The newest snapshots: what was held, whose it was, and what has grown. */

static void
jpp_console_snapshots(const jpp_telemetry_t *telemetry, jpp_sink_t *sink)
{
    size_t                 i, n;
    const jpp_snapshot_t  *one;

    if (telemetry->n_snapshots == 0) {
        return;
    }

    jpp_sink_printf(sink, "<table class=\"shots\">\n<thead><tr>"
                    "<th><a href=\"snapshots?top=%d\">snapshots</a>, %" PRIu64
                    "</th><th>why</th><th class=\"n\">held</th>"
                    "<th>most of it, whose</th><th>compare with now</th></tr>"
                    "</thead>\n<tbody>\n", JPP_SNAPSHOTS,
                    telemetry->n_snapshots);

    n = jpp_smaller(telemetry->n_snapshots, JPP_CONSOLE_SHOTS);

    for (i = 1; i <= n; i++) {
        one = &telemetry->snapshots[telemetry->n_snapshots - i];

        jpp_markup_printf(sink, "<tr><th scope=\"row\">%s</th><td>%s: %s</td>"
                          "<td class=\"n\">%s</td><td>%s %s "
                          "<small>%s</small></td><td>", jpp_date(one->time),
                          jpp_snapshot_reasons[one->reason], one->text,
                          jpp_bytes(one->held), one->owner[0] != '\0'
                          ? jpp_bytes(one->owner_bytes) : "", one->owner,
                          one->place);

        if (jpp_console_is_sampled(telemetry->fleet)) {
            jpp_console_shot(sink, "heap", "its", one->id);
            jpp_sink_str(sink, "; ");
        }

        jpp_console_shot(sink, "pools", "their", one->id);
        jpp_sink_str(sink, "</td></tr>\n");
    }

    jpp_sink_str(sink, "</tbody>\n</table>\n");
}


/* Owners with areas on top of each other, that of the largest the lowest. */
typedef struct {
    const jpp_held_owner_t  *owners[JPP_CONSOLE_LAYERS];
    uint64_t                 most[JPP_CONSOLE_LAYERS];
    size_t                   n;
} jpp_console_layers_t;


static const char  jpp_console_colours[JPP_CONSOLE_LAYERS][2] = {
    "f", "s", "o", "k"
};


/* Those that held most at any time. */

static void
jpp_console_layers(const jpp_held_t *held, jpp_console_layers_t *layers)
{
    size_t                   i, k;
    uint64_t                 most;
    const jpp_held_owner_t  *owner;

    layers->n = 0;

    for (i = 0; i < JPP_HELD_OWNERS; i++) {
        owner = &held->owners[i];
        most = jpp_console_largest(owner->bytes, held->all.n);

        if (owner->who[0] == '\0' || most == 1) {
            continue;
        }

        for (k = layers->n; k != 0 && layers->most[k - 1] < most; k--) {
            if (k < JPP_CONSOLE_LAYERS) {
                layers->owners[k] = layers->owners[k - 1];
                layers->most[k] = layers->most[k - 1];
            }
        }

        if (k < JPP_CONSOLE_LAYERS) {
            layers->owners[k] = owner;
            layers->most[k] = most;
            layers->n += layers->n < JPP_CONSOLE_LAYERS;
        }
    }
}


static void
jpp_console_stack(const jpp_console_layers_t *layers, uint64_t n, uint64_t top,
    jpp_sink_t *sink)
{
    size_t    i, k, layer;
    uint64_t  sums[JPP_HISTORY_POINTS];

    /* the highest is drawn first, so that the others cover it */

    for (layer = layers->n; layer-- != 0; /* void */ ) {
        memset(sums, 0, sizeof(sums));

        for (k = 0; k <= layer; k++) {
            for (i = 0; i < n; i++) {
                sums[i] += jpp_known(layers->owners[k]->bytes[i]);
            }
        }

        jpp_console_area(sums, n, JPP_CONSOLE_HIGH, top,
                         jpp_console_colours[layer], sink);
    }
}


static void
jpp_console_legend(const jpp_console_layers_t *layers, jpp_sink_t *sink)
{
    size_t  i;

    if (layers->n == 0) {
        return;
    }

    jpp_sink_str(sink, "<ul class=\"legend\">\n");

    for (i = 0; i < layers->n; i++) {
        jpp_markup_printf(sink, "<li><svg class=\"swatch\" "
                          "aria-hidden=\"true\"><rect class=\"%s\" "
                          "width=\"100%%\" height=\"100%%\"/></svg>%s, at "
                          "most %s</li>\n", jpp_console_colours[i],
                          layers->owners[i]->who, jpp_bytes(layers->most[i]));
    }

    jpp_sink_str(sink, "</ul>\n");
}


/* a line for the newest event of each step */

static void
jpp_console_marks(const jpp_console_t *console, const jpp_history_t *history,
    jpp_sink_t *sink)
{
    size_t                  step, last;
    const jpp_event_t      *event;
    const jpp_telemetry_t  *telemetry;

    telemetry = console->telemetry;
    last = history->n;

    jpp_each(event, telemetry->marks, telemetry->n_marks) {
        step = jpp_console_step(console, history, event->time);

        if (step != history->n && step != last
            && event->type != JPP_EVENT_SNAPSHOT)
        {
            jpp_sink_printf(sink, "<path class=\"start\" d=\"M%zu 0v%d\">"
                            "<title>%s, %s: ", step, JPP_CONSOLE_HIGH,
                            jpp_date(event->time),
                            jpp_event_types[event->type]);
            jpp_markup_text(sink, event->text, strlen(event->text));
            jpp_sink_str(sink, "</title></path>");
            last = step;
        }
    }
}


void
jpp_console_time(const jpp_console_t *console, jpp_sink_t *sink)
{
    uint64_t              limit, step, top, y, seconds;
    const jpp_history_t  *history;
    jpp_console_layers_t  layers;

    history = &console->telemetry->held.all;

    jpp_sink_str(sink, "\n<section id=\"time\" aria-labelledby=\"h-time\">\n"
                 "<h2 id=\"h-time\">Over time</h2>\n");

    if (history->n < 2) {
        jpp_sink_str(sink, "<p>There is no history yet.</p>\n</section>\n");
        return;
    }

    top = jpp_console_largest(history->rss, history->n);
    limit = jpp_console_line(console->telemetry, top);
    top = limit != JPP_NONE ? jpp_larger(limit, top) : top;
    top = top < JPP_CONSOLE_MUCH ? top : JPP_CONSOLE_MUCH;

    /* three or four steps, each a power of two */

    for (step = 1; step * 4 < top; step *= 2) {
        /* void */
    }

    top = (top / step + (top % step != 0)) * step;

    jpp_sink_str(sink, "<div class=\"plot\">\n<p class=\"y\">");

    for (y = top; /* void */ ; y -= step) {
        jpp_sink_printf(sink, "<span>%s</span>", jpp_bytes(y));

        if (y == 0) {
            break;
        }
    }

    jpp_sink_str(sink, "</p>\n");

    jpp_console_svg("span", "all of nginx", history, JPP_CONSOLE_HIGH, top,
                    sink);

    jpp_console_layers(&console->telemetry->held, &layers);
    jpp_console_stack(&layers, history->n, top, sink);

    for (y = step; y < top; y += step) {
        jpp_console_level("grid", y, top, history->n, sink);
    }

    if (limit != JPP_NONE) {
        jpp_console_level("limit", limit, top, history->n, sink);
    }

    jpp_console_marks(console, history, sink);
    jpp_sink_str(sink, "</svg>\n");
    jpp_console_shots(console, history, sink);

    seconds = history->n * history->interval;

    jpp_sink_printf(sink, "<p class=\"x\"><span>%s ago</span>"
                    "<span>%s ago</span><span>now</span></p>\n</div>\n"
                    "<p id=\"readout\" data-top=\"%" PRIu64 "\" "
                    "data-seconds=\"%" PRIu64 "\">Blue is allocated, grey is "
                    "anonymous memory%s%s; a dashed line is an "
                    "<a href=\"events?format=top\">event</a>%s.</p>\n",
                    jpp_span(seconds), jpp_span(seconds / 2), top, seconds,
                    layers.n != 0 ? ", other colours are owners" : "",
                    limit != JPP_NONE ? "; the red line is the limit" : "",
                    console->telemetry->n_snapshots != 0
                    ? ", a solid one a snapshot" : "");

    jpp_console_legend(&layers, sink);
    jpp_console_snapshots(console->telemetry, sink);
    jpp_sink_str(sink, "</section>\n");
}

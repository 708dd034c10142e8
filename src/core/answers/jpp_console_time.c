
/*
 * The console's charts of memory over time: a small one for each worker, and a
 * large one of all workers over the life of the oldest.
 *
 * The script reads values for the pointer back from the heights of the paths,
 * so data-top and data-seconds say what the large picture's edges are.
 */


#include "jpp_console.h"
#include "jpp_findings.h"


/* the heights of a picture, and of a small one */
#define JPP_CONSOLE_HIGH   200
#define JPP_CONSOLE_LOW    24

/* bytes: more is not believed */
#define JPP_CONSOLE_MUCH   ((int64_t) 1 << 60)


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


const char *
jpp_console_age(int64_t from, int64_t to, char text[JPP_CONSOLE_AGE])
{
    size_t                     i;
    int64_t                    whole, rest, seconds;
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
        rest = seconds % unit->seconds / unit->small;

        if (rest == 0) {
            (void) snprintf(text, JPP_CONSOLE_AGE, "%" PRId64 " %s", whole,
                            unit->unit);
        } else {
            (void) snprintf(text, JPP_CONSOLE_AGE, "%" PRId64 " %s %" PRId64
                            " %s", whole, unit->unit, rest, unit->small_unit);
        }

        return text;
    }

    (void) snprintf(text, JPP_CONSOLE_AGE, "%d s", (int) seconds);

    return text;
}


uint64_t
jpp_console_most(const jpp_fleet_t *fleet)
{
    size_t                i, k;
    uint64_t              rss, most;
    const jpp_history_t  *history;

    for (i = 0, most = 1; i < fleet->n; i++) {
        history = fleet->workers[i].history;

        for (k = 0; history != NULL && k < history->n; k++) {
            rss = history->points[k].rss;

            most = rss != JPP_NONE ? jpp_larger(most, rss) : most;
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

    return value < scale ? (unsigned) ((double) value * height
                                       / (double) scale)
                         : height;
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


static void
jpp_console_svg(const char *css, const char *label, const uint64_t *allocated,
    const uint64_t *rss, size_t n, int height, jpp_sink_t *sink)
{
    jpp_sink_printf(sink, "<svg class=\"%s\" role=\"img\" aria-label=\"%s: "
                    "allocated %s to %s, RSS %s to %s\"%s viewBox=\"0 0 %zu "
                    "%d\" preserveAspectRatio=\"none\">", css, label,
                    jpp_bytes(allocated[0]), jpp_bytes(allocated[n - 1]),
                    jpp_bytes(rss[0]), jpp_bytes(rss[n - 1]),
                    height == JPP_CONSOLE_HIGH ? " tabindex=\"0\"" : "", n,
                    height);
}


void
jpp_console_trend(const jpp_worker_t *worker, uint64_t scale, jpp_sink_t *sink)
{
    char                  over[JPP_CONSOLE_AGE + 8];
    size_t                i;
    uint64_t              allocated[JPP_HISTORY_POINTS];
    uint64_t              rss[JPP_HISTORY_POINTS];
    const jpp_history_t  *history;

    history = worker->history;

    if (history == NULL || history->n == 0) {
        return;
    }

    for (i = 0; i < history->n; i++) {
        allocated[i] = history->points[i].allocated;
        rss[i] = history->points[i].rss;
    }

    (void) snprintf(over, sizeof(over), "over %s",
                    jpp_console_for(0, (int64_t) (history->n
                                                  * history->interval)));

    jpp_console_svg("trend", over, allocated, rss, history->n, JPP_CONSOLE_LOW,
                    sink);
    jpp_console_area(rss, history->n, JPP_CONSOLE_LOW, scale, "t", sink);
    jpp_console_area(allocated, history->n, JPP_CONSOLE_LOW, scale, "a", sink);

    jpp_sink_str(sink, "</svg>");
}


static void
jpp_console_span_add(jpp_console_span_t *span, const jpp_worker_t *worker)
{
    size_t                i;
    int64_t               age;
    uint64_t              point;
    const jpp_history_t  *history;

    history = worker->history;

    if (history == NULL || history->n == 0 || worker->started < span->begins) {
        return;
    }

    for (i = 0; i < span->n; i++) {

        /* the middle of the step */

        age = span->begins - worker->started
              + (int64_t) (2 * i + 1) * span->seconds / (2 * (int64_t) span->n);

        if (age < 0) {
            continue;
        }

        point = (uint64_t) age / history->interval;

        if (point >= history->n) {
            point = history->n - 1;
        }

        jpp_add_known(&span->allocated[i],
                      history->points[point].allocated);
        jpp_add_known(&span->rss[i], history->points[point].rss);
    }
}


void
jpp_console_span(const jpp_console_t *console, jpp_console_span_t *span)
{
    size_t               i;
    int64_t              now;
    const jpp_fleet_t   *fleet;
    const jpp_worker_t  *worker;

    fleet = console->telemetry->fleet;
    now = console->telemetry->now;

    memset(span, 0xff, sizeof(jpp_console_span_t));
    span->begins = now;
    span->most = 1;

    for (i = 0; i < fleet->n; i++) {
        worker = &fleet->workers[i];

        if (worker->history != NULL && worker->started < span->begins
            && worker->started > 0)
        {
            span->begins = worker->started;
        }
    }

    span->seconds = now - span->begins;
    span->n = span->seconds < 2 ? 0
              : span->seconds < JPP_CONSOLE_STEPS ? (size_t) span->seconds
                                                  : JPP_CONSOLE_STEPS;

    for (i = 0; i < fleet->n && span->n != 0; i++) {
        jpp_console_span_add(span, &fleet->workers[i]);
    }

    for (i = 0; i < span->n; i++) {
        if (span->rss[i] != JPP_NONE) {
            span->most = jpp_larger(span->most, span->rss[i]);
        }
    }

    span->per_hour = jpp_finding_rate(fleet, now, &span->window);
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


void
jpp_console_spark(const jpp_console_span_t *span, jpp_sink_t *sink)
{
    if (span->n != 0) {
        jpp_sink_printf(sink, "<svg class=\"spark\" aria-hidden=\"true\" "
                        "viewBox=\"0 0 %zu %d\" preserveAspectRatio=\"none\">",
                        span->n, JPP_CONSOLE_HIGH);
        jpp_console_area(span->rss, span->n, JPP_CONSOLE_HIGH, span->most, "t",
                         sink);
        jpp_sink_str(sink, "</svg>");
    }
}


/* one line for all that started within a step */

static void
jpp_console_starts(const jpp_fleet_t *fleet, const jpp_console_span_t *span,
    jpp_sink_t *sink)
{
    bool      is_marked[JPP_CONSOLE_STEPS];
    size_t    i, step;
    int64_t   since;

    memset(is_marked, 0, sizeof(is_marked));

    for (i = 0; i < fleet->n; i++) {
        if (fleet->workers[i].started < span->begins) {
            continue;
        }

        since = fleet->workers[i].started - span->begins;

        if (since >= span->seconds) {
            continue;
        }

        step = (size_t) (since * (int64_t) span->n / span->seconds);

        if (step != 0 && !is_marked[step]) {
            jpp_sink_printf(sink, "<path class=\"start\" d=\"M%zu 0v%d\"/>",
                            step, JPP_CONSOLE_HIGH);
            is_marked[step] = true;
        }
    }
}


void
jpp_console_time(const jpp_console_t *console, const jpp_console_span_t *span,
    jpp_sink_t *sink)
{
    uint64_t  limit, step, top, y;

    jpp_sink_str(sink, "\n<section id=\"time\" aria-labelledby=\"h-time\">\n"
                 "<h2 id=\"h-time\">Over time</h2>\n");

    if (span->n == 0) {
        jpp_sink_str(sink, "<p>There is no history yet.</p>\n</section>\n");
        return;
    }

    limit = jpp_console_line(console->telemetry, span->most);
    top = limit != JPP_NONE ? jpp_larger(limit, span->most) : span->most;
    top = top < JPP_CONSOLE_MUCH ? top : JPP_CONSOLE_MUCH;

    /* three or four steps, each a power of two */

    for (step = 1; step < top / 4 + (top % 4 != 0); step *= 2) {
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

    jpp_console_svg("span", "all workers", span->allocated, span->rss, span->n,
                    JPP_CONSOLE_HIGH, sink);
    jpp_sink_char(sink, '\n');

    jpp_console_area(span->rss, span->n, JPP_CONSOLE_HIGH, top, "t", sink);
    jpp_console_area(span->allocated, span->n, JPP_CONSOLE_HIGH, top, "a",
                     sink);

    for (y = step; y < top; y += step) {
        jpp_sink_printf(sink, "<path class=\"grid\" d=\"M0 %uh%zu\"/>",
                        JPP_CONSOLE_HIGH
                        - jpp_console_height(y, JPP_CONSOLE_HIGH, top),
                        span->n);
    }

    if (limit != JPP_NONE) {
        jpp_sink_printf(sink, "<path class=\"limit\" d=\"M0 %uh%zu\"/>",
                        JPP_CONSOLE_HIGH
                        - jpp_console_height(limit, JPP_CONSOLE_HIGH, top),
                        span->n);
    }

    jpp_console_starts(console->telemetry->fleet, span, sink);

    jpp_sink_printf(sink, "</svg>\n<p class=\"x\"><span>%s ago</span>"
                    "<span>%s ago</span><span>now</span></p>\n</div>\n"
                    "<p id=\"readout\" data-top=\"%" PRIu64 "\" "
                    "data-seconds=\"%" PRId64 "\">Blue is allocated, grey is "
                    "RSS, added up, so that shared memory counts in each "
                    "worker%s; a dashed line is where a worker started.</p>\n"
                    "</section>\n", jpp_console_for(0, span->seconds),
                    jpp_console_for(0, span->seconds / 2), top, span->seconds,
                    limit != JPP_NONE ? "; the red line is the limit" : "");
}

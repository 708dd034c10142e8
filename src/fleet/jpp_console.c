
#include <inttypes.h>
#include <string.h>

#include "jpp_ascii.h"
#include "jpp_console.h"
#include "jpp_findings.h"
#include "jpp_markup.h"
#include "jpp_version.h"


#define JPP_CONSOLE_STYLE                                                     \
    "\n"                                                                      \
    ":root { color-scheme: light dark; --good: #1a7f37; --bad: #c62828; }\n"  \
    "@media (prefers-color-scheme: dark) {\n"                                 \
    "  :root { --good: #57c46f; --bad: #ff8a80; }\n"                          \
    "}\n"                                                                     \
    "body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem;\n"        \
    "  margin: 0 auto; padding: 1rem; }\n"                                    \
    "h1 { font-size: 1.5rem; line-height: 1.2; }\n"                           \
    "h2 { font-size: 1.15rem; margin-top: 2rem; }\n"                          \
    "h3 { font-size: 1rem; margin: 1.2rem 0 0; }\n"                           \
    "p { margin: .3rem 0; }\n"                                                \
    ".scroll { overflow-x: auto; }\n"                                         \
    "pre { font: 14px/1.5 ui-monospace, monospace; white-space: pre-wrap;\n"  \
    "  overflow-wrap: anywhere; margin: .3rem 0; padding: .5rem .75rem;\n"    \
    "  border-radius: 6px; background: rgba(127, 127, 127, .15); }\n"         \
    "table { border-collapse: collapse; width: 100%; }\n"                     \
    "th, td { padding: .3rem .75rem .3rem 0; text-align: left;\n"             \
    "  white-space: nowrap;\n"                                                \
    "  border-bottom: 1px solid rgba(127, 127, 127, .35); }\n"                \
    ".n { text-align: right; font-variant-numeric: tabular-nums; }\n"         \
    ".good { color: var(--good); }\n"                                         \
    ".bad { color: var(--bad); }\n"                                           \
    "dt { margin-top: 1rem; font-weight: 600; }\n"                            \
    "dd { margin: 0; }\n"


static void jpp_console_head(const jpp_fleet_t *fleet, jpp_sink_t *sink);
static void jpp_console_verdict(const jpp_telemetry_t *telemetry,
    jpp_sink_t *sink);
static void jpp_console_healthy(const jpp_telemetry_t *telemetry,
    jpp_sink_t *sink);
static void jpp_console_workers(const jpp_fleet_t *fleet, jpp_sink_t *sink);
static void jpp_console_worker(const jpp_worker_t *worker, jpp_sink_t *sink);
static const char *jpp_console_rate(const jpp_worker_t *worker,
    char text[JPP_UNITS_TEXT]);
static void jpp_console_stat(const jpp_worker_t *worker, uint64_t bytes,
    jpp_sink_t *sink);
static void jpp_console_unnamed(const jpp_fleet_t *fleet,
    jpp_sink_t *sink);
static void jpp_console_failures(const jpp_fleet_t *fleet, jpp_sink_t *sink);
static void jpp_console_problems(const jpp_fleet_t *fleet, jpp_sink_t *sink);
static void jpp_console_problem(const jpp_fleet_t *fleet, size_t first,
    const jpp_problem_t *problem, jpp_sink_t *sink);
static bool jpp_console_has(const jpp_worker_t *worker,
    const jpp_problem_t *problem);
static void jpp_console_links(const jpp_console_link_t *link,
    jpp_sink_t *sink);
static void jpp_console_address(const jpp_console_link_t *link,
    jpp_sink_t *sink);
static void jpp_console_text(jpp_sink_t *sink, const char *s);


/* the hash of JPP_CONSOLE_STYLE: no other style is applied */

const char  jpp_console_policy[] =
    "default-src 'none'; "
    "style-src 'sha256-b0kS8IZVyhLpmj4q4H6qGfIx9n2u/VWJGxs1J83mFDI='; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";


void
jpp_console_html(const jpp_telemetry_t *telemetry,
    const jpp_console_link_t *links, jpp_sink_t *sink)
{
    const jpp_fleet_t  *fleet;

    fleet = telemetry->fleet;

    jpp_console_head(fleet, sink);
    jpp_console_verdict(telemetry, sink);
    jpp_console_workers(fleet, sink);
    jpp_console_unnamed(fleet, sink);
    jpp_console_problems(fleet, sink);
    jpp_console_links(links, sink);

    jpp_sink_str(sink, "</body>\n</html>\n");
}


static void
jpp_console_head(const jpp_fleet_t *fleet, jpp_sink_t *sink)
{
    jpp_sink_str(sink,
        "<!DOCTYPE html>\n"
        "<html lang=\"en\">\n"
        "<head>\n"
        "<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" "
        "content=\"width=device-width, initial-scale=1\">\n"
        "<title>The heap of nginx on ");

    jpp_console_text(sink, fleet->host);

    jpp_sink_str(sink,
        "</title>\n"
        "<style>" JPP_CONSOLE_STYLE "</style>\n"
        "</head>\n"
        "<body>\n\n"
        "<h1>The heap of nginx on ");

    jpp_console_text(sink, fleet->host);

    jpp_sink_str(sink, "</h1>\n<p>nginx ");
    jpp_console_text(sink, fleet->nginx);

    jpp_sink_printf(sink, ", jemalloc_pprof module " JPP_VERSION
                    ", %zu of %" PRIu32 " workers answered.</p>\n",
                    fleet->n, fleet->n_asked);
}


static void
jpp_console_verdict(const jpp_telemetry_t *telemetry, jpp_sink_t *sink)
{
    size_t         i, n;
    jpp_finding_t  findings[JPP_FINDINGS];

    n = jpp_findings(telemetry, findings);

    if (n == 0) {

        if (telemetry->fleet->n != 0) {
            jpp_console_healthy(telemetry, sink);
        }

        return;
    }

    jpp_sink_str(sink, "\n<h2>Memory</h2>\n");

    for (i = 0; i < n; i++) {
        jpp_sink_str(sink, findings[i].is_critical
                           ? "\n<h3 class=\"bad\">Critical: " : "\n<h3>");
        jpp_console_text(sink, findings[i].what);
        jpp_sink_str(sink, "</h3>\n<p>");
        jpp_console_text(sink, findings[i].because);
        jpp_sink_str(sink, ".</p>\n<p>");
        jpp_console_text(sink, findings[i].cure);
        jpp_sink_str(sink, "</p>\n");
    }
}


static void
jpp_console_healthy(const jpp_telemetry_t *telemetry, jpp_sink_t *sink)
{
    char                 anon[JPP_UNITS_TEXT], room[JPP_UNITS_TEXT];
    size_t               i;
    uint64_t             bytes;
    const jpp_fleet_t   *fleet;
    const jpp_usage_t   *usage;

    fleet = telemetry->fleet;

    for (i = 0, bytes = 0; i < fleet->n; i++) {
        usage = &fleet->workers[i].activity.usage;
        bytes += usage->rss_anon != JPP_NONE ? usage->rss_anon : 0;
    }

    jpp_sink_printf(sink, "\n<p class=\"good\">The memory looks healthy: %zu "
                    "worker%s %s of memory that is not shared", fleet->n,
                    fleet->n == 1 ? " has" : "s have",
                    jpp_units_bytes(bytes, anon));

    if (telemetry->cgroup != NULL && telemetry->cgroup->headroom != JPP_NONE) {
        jpp_sink_printf(sink, ", and %s are left below the limit",
                        jpp_units_bytes(telemetry->cgroup->headroom, room));
    }

    jpp_sink_str(sink, ". <a href=\"memory\">memory</a> has the numbers."
                       "</p>\n");
}


static void
jpp_console_workers(const jpp_fleet_t *fleet, jpp_sink_t *sink)
{
    size_t  i;

    jpp_sink_str(sink, "\n<h2>Workers</h2>\n");

    for (i = 0; i < fleet->n_missing; i++) {
        jpp_sink_printf(sink, "<p class=\"bad\">Worker %" PRIu32 ", pid %"
                        PRId64 ", did not answer: ",
                        fleet->missing[i].who.index, fleet->missing[i].who.pid);
        jpp_console_text(sink, fleet->missing[i].why);
        jpp_sink_str(sink, ".</p>\n");
    }

    if (fleet->n == 0) {
        jpp_sink_str(sink, "<p class=\"bad\">No worker answered.</p>\n");
        return;
    }

    jpp_sink_str(sink,
        "<div class=\"scroll\">\n"
        "<table>\n"
        "<tr><th>worker</th><th>pid</th><th>state</th>\n"
        "<th class=\"n\">one sample every</th><th class=\"n\">allocated</th>"
        "<th class=\"n\">resident at most</th>\n"
        "<th>jemalloc</th><th>generation</th><th>since</th></tr>\n");

    for (i = 0; i < fleet->n; i++) {
        jpp_console_worker(&fleet->workers[i], sink);
    }

    jpp_sink_str(sink, "</table>\n</div>\n");

    jpp_console_failures(fleet, sink);
}


static void
jpp_console_worker(const jpp_worker_t *worker, jpp_sink_t *sink)
{
    char                   since[JPP_STATUS_TIME], rate[JPP_UNITS_TEXT];
    const jpp_jemalloc_t  *jemalloc;

    jemalloc = &worker->jemalloc;

    jpp_sink_printf(sink, "<tr><td>%" PRIu32 "</td><td>%" PRId64 "</td>"
                    "<td class=\"%s\">%s</td>\n<td class=\"n\">%s</td>",
                    worker->who.index, worker->who.pid,
                    worker->sampler.is_on
                    || jemalloc->state == JPP_JEMALLOC_READY ? "good" : "bad",
                    worker->sampler.is_on ? "sampler"
                                          : jpp_status_word(jemalloc->state),
                    jpp_console_rate(worker, rate));

    jpp_console_stat(worker, worker->stats.allocated, sink);
    jpp_console_stat(worker, worker->stats.resident, sink);

    jpp_sink_str(sink, "\n<td>");
    jpp_console_text(sink, jemalloc->state != JPP_JEMALLOC_ABSENT
                           ? jemalloc->version : "-");

    jpp_sink_printf(sink, "</td><td>%" PRIu64 "%s</td><td>%s</td></tr>\n",
                    worker->who.generation,
                    worker->is_exiting ? " (exiting)" : "",
                    jpp_status_time(worker->started, since));
}


static const char *
jpp_console_rate(const jpp_worker_t *worker, char text[JPP_UNITS_TEXT])
{
    switch (jpp_source(&worker->jemalloc, &worker->sampler)) {

    case JPP_SOURCE_SAMPLER:
        return jpp_problems_rate(worker->sampler.lg_sample, text);

    case JPP_SOURCE_JEMALLOC:
        return jpp_problems_rate(worker->jemalloc.lg_sample, text);

    case JPP_SOURCE_NONE:
    case JPP_SOURCES:
        break;
    }

    return "-";
}


static void
jpp_console_stat(const jpp_worker_t *worker, uint64_t bytes, jpp_sink_t *sink)
{
    char  text[JPP_UNITS_TEXT];

    jpp_sink_printf(sink, "<td class=\"n\">%s</td>",
                    worker->has_stats ? jpp_units_bytes(bytes, text) : "-");
}


static void
jpp_console_unnamed(const jpp_fleet_t *fleet, jpp_sink_t *sink)
{
    if (fleet->unnamed != NULL) {
        jpp_sink_str(sink, "<p>In the last profile, ");
        jpp_console_text(sink, fleet->unnamed);
        jpp_sink_str(sink, "</p>\n");
    }
}


static void
jpp_console_failures(const jpp_fleet_t *fleet, jpp_sink_t *sink)
{
    char                  time[JPP_STATUS_TIME];
    size_t                i;
    const jpp_worker_t   *worker;
    const jpp_failure_t  *failure;

    for (i = 0; i < fleet->n; i++) {
        worker = &fleet->workers[i];
        failure = &worker->last_error;

        if (failure->text[0] == '\0') {
            continue;
        }

        jpp_sink_printf(sink, "<p>Last error in worker %" PRIu32
                        ", pid %" PRId64 ", at %s: ", worker->who.index,
                        worker->who.pid, jpp_status_time(failure->time, time));
        jpp_console_text(sink, failure->text);
        jpp_sink_str(sink, ".</p>\n");
    }
}


/* A problem of several workers is shown once, with the first of them. */

static void
jpp_console_problems(const jpp_fleet_t *fleet, jpp_sink_t *sink)
{
    bool            is_first;
    size_t          i, k, p, n;
    jpp_problem_t   problems[JPP_MAX_PROBLEMS];

    is_first = true;

    for (i = 0; i < fleet->n; i++) {
        n = jpp_problems(&fleet->workers[i], problems);

        for (p = 0; p < n; p++) {

            for (k = 0; k < i; k++) {
                if (jpp_console_has(&fleet->workers[k], &problems[p])) {
                    break;
                }
            }

            if (k < i) {
                continue;
            }

            if (is_first) {
                jpp_sink_str(sink, "\n<h2>Problems</h2>\n");
                is_first = false;
            }

            jpp_console_problem(fleet, i, &problems[p], sink);
        }
    }
}


static void
jpp_console_problem(const jpp_fleet_t *fleet, size_t first,
    const jpp_problem_t *problem, jpp_sink_t *sink)
{
    size_t  i;

    jpp_sink_str(sink, problem->is_fatal
                       ? "\n<h3 class=\"bad\">No profile: "
                       : "\n<h3>Warning: ");
    jpp_console_text(sink, problem->what);

    jpp_sink_str(sink, "</h3>\n<p>Because ");
    jpp_console_text(sink, problem->why);

    jpp_sink_str(sink, ".</p>\n<pre>");
    jpp_console_text(sink, problem->cure);

    jpp_sink_str(sink, "</pre>\n<p>Seen in pid");

    for (i = first; i < fleet->n; i++) {
        if (jpp_console_has(&fleet->workers[i], problem)) {
            jpp_sink_printf(sink, " %" PRId64, fleet->workers[i].who.pid);
        }
    }

    jpp_sink_str(sink, ".</p>\n");
}


/* The same row, with the same words filled in. */

static bool
jpp_console_has(const jpp_worker_t *worker, const jpp_problem_t *problem)
{
    size_t          i, n;
    jpp_problem_t   problems[JPP_MAX_PROBLEMS];

    n = jpp_problems(worker, problems);

    for (i = 0; i < n; i++) {
        if (problems[i].id == problem->id
            && strcmp(problems[i].what, problem->what) == 0
            && strcmp(problems[i].why, problem->why) == 0
            && strcmp(problems[i].cure, problem->cure) == 0)
        {
            return true;
        }
    }

    return false;
}


static void
jpp_console_links(const jpp_console_link_t *link, jpp_sink_t *sink)
{
    jpp_sink_str(sink,
        "\n<h2>Resources</h2>\n"
        "<p>The commands take the address of this page, with the slash at "
        "its end, from a variable of the shell:</p>\n"
        "<pre>URL=http://...</pre>\n"
        "<p>To choose workers, add worker=0 (an index), worker=pid-1234, "
        "worker=self or worker=exiting, as in heap?worker=0.</p>\n"
        "<p>What workers inherited from their master counts once, with the "
        "label origin=master; to see one part only, add origin=worker or "
        "origin=master.</p>\n"
        "<dl>\n");

    for ( /* void */ ; link->address != NULL; link++) {
        jpp_sink_str(sink, "<dt>");
        jpp_console_address(link, sink);
        jpp_sink_str(sink, "</dt>\n<dd>");
        jpp_console_text(sink, link->text);
        jpp_sink_str(sink, "\n<pre>");
        jpp_console_text(sink, link->command);
        jpp_sink_str(sink, "</pre></dd>\n");
    }

    jpp_sink_str(sink, "</dl>\n");
}


static void
jpp_console_address(const jpp_console_link_t *link, jpp_sink_t *sink)
{
    if (link->is_post) {
        jpp_console_text(sink, link->address);
        jpp_sink_str(sink, " (POST)");

        return;
    }

    jpp_sink_str(sink, "<a href=\"");
    jpp_console_text(sink, link->address);
    jpp_sink_str(sink, "\">");
    jpp_console_text(sink, link->address);
    jpp_sink_str(sink, "</a>");
}


static void
jpp_console_text(jpp_sink_t *sink, const char *s)
{
    for ( /* void */ ; *s != '\0'; s++) {

        if (!jpp_markup_escape(sink, *s)) {
            jpp_sink_char(sink, *s == '\n' ? '\n' : jpp_ascii(*s));
        }
    }
}


#include <inttypes.h>
#include <string.h>

#include "jpp_console.h"
#include "jpp_console_acts.h"
#include "jpp_console_problems.h"
#include "jpp_console_time.h"
#include "jpp_console_workers.h"
#include "jpp_findings.h"
#include "jpp_page.h"
#include "jpp_version.h"


#define JPP_CONSOLE_POLICY(forms)                                             \
    "default-src 'none'; script-src '" JPP_CONSOLE_SCRIPT_HASH "'; "          \
    "style-src '" JPP_CONSOLE_STYLE_HASH "'; img-src blob:; "                 \
    "connect-src 'self'; base-uri 'none'; form-action '" forms "'; "          \
    "frame-ancestors 'none'; trusted-types 'none'; "                          \
    "require-trusted-types-for 'script'"


/* What a finding has as a link. */
typedef struct {
    const char    *id;
    const char    *resource;       /* where it is served; NULL: and control */
    const char    *address;
    const char    *text;
} jpp_console_remedy_t;


static const jpp_console_remedy_t  jpp_console_remedies[] = {
    { "limit-near", "memory", "memory?format=top", "Every byte in a row" },
    { "grows", "heap", "heap?seconds=30&amp;format=html",
      "What the heap gains in 30 seconds" },
    { "reload-leak", "heap", "heap?format=top&amp;origin=master",
      "What workers inherit" },
    { "outside", "memory", "memory?format=top", "Every byte in a row" },
    { "retained", NULL, "#act-purge", "Return it now" },
    { "stalls", "stalls", "stalls?format=top", "What kept it" }
};


const char  jpp_console_policy[] = JPP_CONSOLE_POLICY("none");
const char  jpp_console_policy_control[] = JPP_CONSOLE_POLICY("self");


static void
jpp_console_head(const jpp_console_t *console, jpp_sink_t *sink)
{
    const jpp_fleet_t  *fleet;

    fleet = console->telemetry->fleet;

    jpp_sink_str(sink,
        "<!DOCTYPE html>\n"
        "<html lang=\"en\">\n"
        "<head>\n"
        "<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" "
        "content=\"width=device-width, initial-scale=1\">\n"
        "<title>The memory of nginx on ");

    jpp_console_text(sink, fleet->host);

    jpp_sink_str(sink,
        "</title>\n"
        "<style>" JPP_CONSOLE_STYLE "</style>\n"
        "</head>\n"
        "<body>\n\n"
        "<header>\n<h1>The memory of nginx on ");

    jpp_console_text(sink, fleet->host);

    jpp_sink_str(sink, "</h1>\n<p>nginx ");
    jpp_console_text(sink, fleet->nginx);

    jpp_sink_printf(sink, ", jemalloc_pprof module " JPP_VERSION
                    ", %zu of %" PRIu32 " workers answered.</p>\n"
                    "<p id=\"live\"></p>\n</header>\n",
                    fleet->n, fleet->n_asked);
}


/* What is not shared. */

static uint64_t
jpp_console_own(const jpp_fleet_t *fleet)
{
    size_t    i;
    uint64_t  bytes, sum;

    for (i = 0, sum = 0; i < fleet->n; i++) {
        bytes = fleet->workers[i].activity.usage.rss_anon;
        sum += bytes != JPP_NONE ? bytes : 0;
    }

    return sum;
}


static void
jpp_console_healthy(const jpp_telemetry_t *telemetry, jpp_sink_t *sink)
{
    const jpp_fleet_t   *fleet;
    const jpp_cgroup_t  *cgroup;

    fleet = telemetry->fleet;
    cgroup = telemetry->cgroup;

    jpp_sink_printf(sink, "%zu worker%s ", fleet->n,
                    fleet->n == 1 ? " holds" : "s hold");
    jpp_console_bytes(sink, jpp_console_own(fleet));

    if (cgroup != NULL && cgroup->headroom != JPP_NONE) {
        jpp_sink_str(sink, ", and ");
        jpp_console_bytes(sink, cgroup->headroom);
        jpp_sink_str(sink, " are left below the limit of ");
        jpp_console_bytes(sink, cgroup->levels[cgroup->binding].limit);
    }
}


/* The first sentence of the page. */

static void
jpp_console_verdict(const jpp_console_t *console,
    const jpp_finding_t *findings, size_t n, jpp_sink_t *sink)
{
    const jpp_fleet_t  *fleet;

    fleet = console->telemetry->fleet;

    jpp_sink_str(sink, "<p id=\"verdict\" role=\"status\" class=\"");

    if (n != 0) {
        jpp_sink_str(sink, findings[0].is_critical ? "bad\">Critical: "
                                                   : "fair\">Look at this: ");
        jpp_console_text(sink, findings[0].what);

        if (n > 1) {
            jpp_sink_printf(sink, ", and %zu more below", n - 1);
        }

    } else if (fleet->n == 0) {
        jpp_sink_str(sink, "bad\">No worker answered");

    } else if (fleet->n_missing != 0) {
        jpp_sink_printf(sink, "fair\">Look at this: %zu of %" PRIu32 " workers "
                        "did not answer", fleet->n_missing, fleet->n_asked);

    } else {
        jpp_sink_str(sink, "good\">Healthy: ");
        jpp_console_healthy(console->telemetry, sink);
    }

    jpp_sink_str(sink, "</p>\n");
}


static void
jpp_console_limit(const jpp_cgroup_t *cgroup, jpp_sink_t *sink)
{
    uint64_t                   used;
    const jpp_cgroup_level_t  *level;

    level = &cgroup->levels[cgroup->binding];

    used = jpp_less(level->limit, cgroup->headroom);

    jpp_sink_str(sink, "<div><dt>left below the limit</dt><dd>");
    jpp_console_bytes(sink, cgroup->headroom);
    jpp_sink_str(sink, " <small>of ");
    jpp_console_bytes(sink, level->limit);
    jpp_sink_str(sink, "</small> ");
    jpp_console_meter(sink, used, level->limit, "used of the limit");
    jpp_sink_str(sink, "</dd></div>\n");
}


static void
jpp_console_facts(const jpp_telemetry_t *telemetry, jpp_sink_t *sink)
{
    const jpp_cgroup_t  *cgroup;
    const jpp_system_t  *system;

    cgroup = telemetry->cgroup;
    system = telemetry->system;

    jpp_sink_str(sink, "<dl id=\"facts\">\n"
                 "<div><dt>anonymous memory of the workers, added up</dt><dd>");
    jpp_console_bytes(sink, jpp_console_own(telemetry->fleet));
    jpp_sink_str(sink, "</dd></div>\n");

    if (cgroup != NULL && cgroup->headroom != JPP_NONE) {
        jpp_console_limit(cgroup, sink);

    } else {
        jpp_sink_str(sink, "<div><dt>left below the limit</dt><dd>");
        jpp_sink_str(sink, cgroup != NULL ? "no limit" : "unknown");
        jpp_sink_str(sink, "</dd></div>\n");
    }

    jpp_sink_str(sink, "<div><dt>free on this machine</dt><dd>");
    jpp_console_bytes(sink, system->available);
    jpp_sink_str(sink, " <small>of ");
    jpp_console_bytes(sink, system->total);
    jpp_sink_printf(sink, "</small></dd></div>\n"
                    "<div><dt>workers that ended without saying so</dt>"
                    "<dd>%" PRIu64 "</dd></div>\n</dl>\n",
                    telemetry->unclean_exits);
}


static void
jpp_console_remedy(const jpp_console_t *console, const jpp_finding_t *finding,
    jpp_sink_t *sink)
{
    size_t                       i;
    const jpp_console_remedy_t  *row;

    for (i = 0; i < sizeof(jpp_console_remedies) / sizeof(*row); i++) {
        row = &jpp_console_remedies[i];

        if (strcmp(row->id, finding->id) != 0
            || (row->resource == NULL
                ? !console->has_control
                : !jpp_console_serves(console->links, row->resource)))
        {
            continue;
        }

        jpp_sink_printf(sink, " <a href=\"%s\">%s</a>", row->address,
                        row->text);
    }
}


static void
jpp_console_findings(const jpp_console_t *console,
    const jpp_finding_t *findings, size_t n, jpp_sink_t *sink)
{
    size_t  i;

    if (n == 0) {
        return;
    }

    jpp_sink_str(sink, "\n<h2>Memory</h2>\n");

    for (i = 0; i < n; i++) {
        jpp_sink_printf(sink, "\n<div class=\"card%s\" id=\"%s\">\n",
                        findings[i].is_critical ? " critical" : "",
                        findings[i].id);
        jpp_sink_str(sink, findings[i].is_critical
                           ? "<h3 class=\"bad\">Critical: " : "<h3>");
        jpp_console_text(sink, findings[i].what);
        jpp_sink_str(sink, "</h3>\n<p>Because ");
        jpp_console_text(sink, findings[i].because);
        jpp_sink_str(sink, ".</p>\n<p class=\"cure\">");
        jpp_console_text(sink, findings[i].cure);

        jpp_console_remedy(console, &findings[i], sink);
        jpp_sink_str(sink, "</p>\n</div>\n");
    }
}


/* May there be a worker that a heap profile comes from? */

static bool
jpp_console_samples(const jpp_fleet_t *fleet)
{
    size_t  i;

    for (i = 0; i < fleet->n; i++) {
        if (jpp_source(&fleet->workers[i].jemalloc, &fleet->workers[i].sampler)
            != JPP_SOURCE_NONE)
        {
            return true;
        }
    }

    return fleet->n == 0;
}


/*
 * It costs a walk and a profile: the script fetches them when the page is
 * there, and without it they are links.
 */

static void
jpp_console_where(const jpp_console_t *console, jpp_sink_t *sink)
{
    jpp_sink_str(sink, "\n<section id=\"where\" aria-labelledby=\"h-where\""
                 ">\n<h2 id=\"h-where\">Where it is</h2>\n");

    if (jpp_console_serves(console->links, "memory")) {
        jpp_sink_str(sink, "<p><a href=\"memory?format=top\">Every byte of the "
                     "workers in a row</a>: whose it is. The rows add up to "
                     "Pss, in which a page that four processes have counts a "
                     "quarter in each: the sum to compare with a limit.</p>"
                     "\n");
    }

    if (jpp_console_serves(console->links, "pools")) {
        jpp_sink_str(sink,
            "<h3>By server, location and connection: to the byte</h3>\n"
            "<p><a id=\"pools\" href=\"pools?format=top&amp;n=10\">The ten "
            "that hold most</a> or <a href=\"pools?format=html\">all of them"
            "</a></p>\n<div id=\"owners\"></div>\n");
    }

    if (jpp_console_serves(console->links, "heap")) {
        jpp_sink_str(sink, "<h3>By function: sampled</h3>\n");
        jpp_sink_str(sink, jpp_console_samples(console->telemetry->fleet)
            ? "<p><a id=\"heap\" href=\"heap?format=svg&amp;width=960\">A "
              "picture</a> or <a href=\"heap?format=html\">flame graphs, "
              "tables and differences</a></p>\n"
              "<div id=\"picture\"></div>\n"
            : "<p>No worker takes samples, so there is no picture: Problems, "
              "above, says why. Load this page again once that is mended.</p>"
              "\n");
    }

    if (console->telemetry->fleet->unnamed != NULL) {
        jpp_sink_str(sink, "<p>In the last profile, ");
        jpp_console_text(sink, console->telemetry->fleet->unnamed);
        jpp_sink_str(sink, "</p>\n");
    }

    jpp_sink_str(sink, "</section>\n");
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
jpp_console_links(const jpp_console_link_t *link, jpp_sink_t *sink)
{
    jpp_sink_str(sink,
        "\n<section id=\"resources\" aria-labelledby=\"h-resources\">\n"
        "<h2 id=\"h-resources\">Resources</h2>\n"
        "<p id=\"variable\">The commands take the address of this page, with "
        "the slash at its end, from a variable of the shell: "
        "<code>URL=http://...</code></p>\n"
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

    jpp_sink_str(sink, "</dl>\n</section>\n");
}


void
jpp_console_html(const jpp_console_t *console, jpp_sink_t *sink)
{
    size_t               n;
    jpp_finding_t        findings[JPP_FINDINGS];
    const jpp_fleet_t   *fleet;

    fleet = console->telemetry->fleet;

    n = jpp_findings(console->telemetry, findings);

    jpp_console_head(console, sink);

    jpp_sink_str(sink, "<main>\n");

    jpp_console_verdict(console, findings, n, sink);
    jpp_console_facts(console->telemetry, sink);

    jpp_sink_str(sink, "<div id=\"findings\">\n");
    jpp_console_findings(console, findings, n, sink);
    jpp_console_problems(fleet, sink);
    jpp_sink_str(sink, "</div>\n");

    jpp_console_workers(console, sink);

    jpp_sink_str(sink, "<div id=\"failures\">\n");
    jpp_console_failures(fleet, sink);
    jpp_sink_str(sink, "</div>\n");

    jpp_console_where(console, sink);
    jpp_console_time(console, sink);

    if (console->has_control) {
        jpp_console_acts(console, sink);
    }

    jpp_console_links(console->links, sink);

    jpp_sink_str(sink, "</main>\n<script>" JPP_CONSOLE_SCRIPT "</script>\n"
                 "</body>\n</html>\n");
}

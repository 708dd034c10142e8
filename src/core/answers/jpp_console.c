
/*
 * The console: one HTML page with the verdict, the findings and their fixes,
 * the workers, and links to the resources.
 */


#include "jpp_answers.h"
#include "jpp_page.h"


#define JPP_CONSOLE_POLICY(forms)                                             \
    "default-src 'none'; script-src '" JPP_CONSOLE_SCRIPT_HASH "'; "          \
    "style-src '" JPP_CONSOLE_STYLE_HASH "'; img-src blob:; "                 \
    "connect-src 'self'; base-uri 'none'; form-action '" forms "'; "          \
    "frame-ancestors 'none'; trusted-types 'none'; "                          \
    "require-trusted-types-for 'script'"


/* What a finding has as a link, where that is served. */
typedef struct {
    const char    *address;        /* "#..." is a form */
    const char    *text;
} jpp_console_remedy_t;


static const jpp_console_remedy_t  jpp_console_remedies[JPP_FINDINGS] = {
    [JPP_FINDING_LIMIT_NEAR] = { "memory?format=top", "A table of every byte" },
    [JPP_FINDING_GROWS] = { "heap?seconds=30&format=html",
                            "Growth of the heap in 30 seconds" },
    [JPP_FINDING_RELOAD_LEAK] = { "heap?format=top&origin=master",
                                  "Memory that workers inherit" },
    [JPP_FINDING_OUTSIDE] = { "memory?format=top", "A table of every byte" },
    [JPP_FINDING_RETAINED] = { "#act-purge", "Return this memory now" },
    [JPP_FINDING_STALLS] = { "stalls?format=top", "Show the blocking code" }
};


/* by severity */
const char *const  jpp_console_classes[] = { "good", "fair", "bad" };

const char  jpp_console_policy[] = JPP_CONSOLE_POLICY("none");
const char  jpp_console_policy_control[] = JPP_CONSOLE_POLICY("self");


const char *
jpp_console_number(uint64_t n, char text[JPP_CONSOLE_NUMBER])
{
    size_t    len;
    uint64_t  unit;

    for (unit = 1; n / unit >= 1000; unit *= 1000) {
        /* void */
    }

    len = (size_t) snprintf(text, JPP_CONSOLE_NUMBER, "%" PRIu64, n / unit);

    for (unit /= 1000; unit != 0; unit /= 1000) {
        len += (size_t) snprintf(text + len, JPP_CONSOLE_NUMBER - len, ",%03u",
                                 (unsigned) (n / unit % 1000));
    }

    return text;
}


const char *
jpp_console_ms(uint64_t ms, char text[JPP_UNITS_TEXT])
{
    return ms == 0 ? "0 ms"
                   : jpp_units_time(jpp_smaller(ms, JPP_NONE / 1000000)
                                    * 1000000, text);
}


jpp_severity_t
jpp_console_slow(uint64_t ms)
{
    return ms >= 1000 ? JPP_VERDICT_CRITICAL
           : ms >= JPP_RECENT_SLOW ? JPP_VERDICT_WARNING : JPP_VERDICT_HEALTHY;
}


/* How much USED is of ALL: red from nine tenths on, yellow from eight. */

static void
jpp_console_meter(jpp_sink_t *sink, uint64_t used, uint64_t all,
    const char *label)
{
    jpp_sink_printf(sink, "<meter max=\"%" PRIu64 "\" value=\"%" PRIu64
                    "\" low=\"%" PRIu64 "\" high=\"%" PRIu64
                    "\" optimum=\"0\" aria-label=\"%s\"></meter>", all, used,
                    all / 10 * 8, all / 10 * 9, label);
}


bool
jpp_console_serves(const jpp_console_link_t *links, const char *address)
{
    size_t  len;

    len = strcspn(address, "?");

    for ( /* void */ ; links->address != NULL; links++) {

        if (strncmp(links->address, address, len) == 0
            && (links->address[len] == '\0' || links->address[len] == '?'))
        {
            return true;
        }
    }

    return false;
}


static void
jpp_console_tile_memory(const jpp_console_t *console, jpp_sink_t *sink)
{
    int64_t            per_hour, window;
    const jpp_held_t  *held;

    held = &console->telemetry->held;
    per_hour = jpp_finding_rate(held, &window);

    jpp_sink_printf(sink, "<div><dt>private memory and zones</dt><dd>%s",
                    jpp_bytes(jpp_verdict_total(console->telemetry)));
    jpp_console_spark(&held->all, sink);

    if (window == 0) {
        jpp_sink_str(sink, "</dd><dd class=\"note\">no rate before a minute "
                     "has passed</dd></div>\n");
        return;
    }

    jpp_sink_printf(sink, "</dd><dd class=\"note\"><a href=\"grown\">%s%s an "
                    "hour</a>, in the last %s</dd></div>\n",
                    per_hour > 0 ? "+" : "", jpp_change(per_hour),
                    jpp_span((uint64_t) window));
}


static void
jpp_console_tile_left(const jpp_console_t *console, jpp_sink_t *sink)
{
    double               seconds;
    int64_t              per_hour, window;
    uint64_t             left, limit;
    const jpp_cgroup_t  *cgroup;
    const jpp_system_t  *system;

    cgroup = console->telemetry->cgroup;
    system = console->telemetry->system;
    left = jpp_cgroup_left(cgroup);

    if (left == JPP_NONE) {
        jpp_sink_printf(sink, "<div><dt>left below the limit</dt><dd>%s</dd>"
                        "<dd class=\"note\">%s of %s are free on this machine"
                        "</dd></div>\n",
                        cgroup != NULL ? "no limit" : "unknown",
                        jpp_bytes(system->available),
                        jpp_bytes(system->total));
        return;
    }

    limit = cgroup->levels[cgroup->binding].limit;

    jpp_sink_printf(sink, "<div class=\"%s\"><dt>left below the limit</dt>"
                    "<dd>%s <small>of %s</small> ",
                    jpp_console_classes[(left < limit / 5)
                                        + (left < limit / 10)],
                    jpp_bytes(left), jpp_bytes(limit));
    jpp_console_meter(sink, jpp_less(limit, left), limit, "used of the limit");

    per_hour = jpp_finding_rate(&console->telemetry->held, &window);
    seconds = per_hour > 0 ? (double) left * 3600 / (double) per_hour : 1e9;

    jpp_sink_printf(sink, "</dd><dd class=\"note\">%s%s</dd></div>\n",
                    seconds < 1e8 ? "full in " : "not used up at this rate",
                    seconds < 1e8 ? jpp_span((uint64_t) seconds) : "");
}


static void
jpp_console_tile_workers(const jpp_console_t *console, jpp_sink_t *sink)
{
    size_t                  i;
    uint64_t                stall;
    const jpp_fleet_t      *fleet;
    const jpp_telemetry_t  *telemetry;

    telemetry = console->telemetry;
    fleet = telemetry->fleet;

    for (i = 0, stall = 0; i < fleet->n; i++) {
        stall = jpp_larger(stall, fleet->workers[i].activity.minute.longest);
    }

    jpp_sink_printf(sink, "<div class=\"%s\"><dt>workers that answer</dt><dd>"
                    "%zu of %" PRIu32 "</dd><dd class=\"note\">worst stall of "
                    "the minute %s",
                    jpp_console_classes[fleet->n < fleet->n_asked
                                        ? JPP_VERDICT_CRITICAL
                                        : jpp_console_slow(stall)],
                    fleet->n, fleet->n_asked, jpp_console_took(stall));

    if (telemetry->noted.unclean_exits != 0) {
        jpp_sink_printf(sink, "; <span class=\"bad\">%" PRIu64 " crashed or "
                        "killed</span>", telemetry->noted.unclean_exits);
    }

    jpp_sink_str(sink, "</dd></div>\n");
}


static void
jpp_console_tile_requests(const jpp_console_t *console, jpp_sink_t *sink)
{
    size_t              i;
    uint64_t            used, all, rate;
    const jpp_fleet_t  *fleet;

    fleet = console->telemetry->fleet;
    rate = console->telemetry->noted.requests;

    for (i = 0, used = 0, all = 0; i < fleet->n; i++) {
        used += jpp_activity_used(&fleet->workers[i].activity);
        all += fleet->workers[i].activity.connections;
    }

    jpp_sink_str(sink, "<div><dt>requests a second</dt><dd>");

    if (rate == JPP_NONE) {
        jpp_sink_char(sink, '-');

    } else {
        jpp_sink_printf(sink, "%s.%" PRIu64, jpp_console_digits(rate / 10),
                        rate % 10);
    }

    jpp_sink_printf(sink, "</dd><dd class=\"note\">%s of %s connections ",
                    jpp_console_digits(used), jpp_console_digits(all));
    jpp_console_meter(sink, used, all, "connections in use");
    jpp_sink_str(sink, "</dd></div>\n");
}


static void
jpp_console_owners(const jpp_console_t *console, jpp_sink_t *sink)
{
    size_t                  n;
    uint64_t                all, tenths;
    const jpp_holder_t     *holder;
    const jpp_telemetry_t  *telemetry;

    telemetry = console->telemetry;
    all = jpp_verdict_total(telemetry);

    jpp_sink_str(sink, "\n<section id=\"largest\" aria-labelledby=\"h-largest"
                 "\">\n<h2 id=\"h-largest\">Largest owners");

    if (jpp_console_serves(console->links, "pools")) {
        jpp_sink_str(sink, " <small><a href=\"pools?format=html\">all of "
                     "them</a></small>");
    }

    jpp_sink_str(sink, "</h2>\n<table class=\"owners\">\n<thead><tr>"
                 "<th class=\"n\">bytes</th><th class=\"n\">share</th><td>"
                 "</td><th>where</th><th>what, and what bounds it</th></tr>"
                 "</thead>\n<tbody>\n");

    n = jpp_smaller(telemetry->n_holders, JPP_VERDICT_OWNERS);

    jpp_each(holder, telemetry->holders, n) {
        tenths = (uint64_t) ((double) holder->bytes * 1000
                             / (double) jpp_larger(all, holder->bytes));

        jpp_markup_printf(sink, "<tr><td class=\"n\">%s</td><td class=\"n\">"
                          "%" PRIu64 ".%" PRIu64 " %%</td><td class=\"m\"><svg "
                          "class=\"bar\" aria-hidden=\"true\"><rect "
                          "class=\"a\" width=\"%" PRIu64 "%%\" "
                          "height=\"100%%\"/></svg></td><th scope=\"row\">%s"
                          "</th><td>%s <small>%s</small> "
                          "<small>%s</small></td></tr>\n",
                          jpp_bytes(holder->bytes), tenths / 10, tenths % 10,
                          tenths / 10, holder->where, holder->what,
                          holder->bound, holder->place);
    }

    if (n == 0) {
        jpp_sink_str(sink, "<tr><td colspan=\"5\">No worker has reported its "
                     "pools.</td></tr>\n");
    }

    jpp_sink_str(sink, "</tbody>\n</table>\n</section>\n");
}


/* A snapshot answers at once. */

static jpp_console_remedy_t
jpp_console_remedy(const jpp_finding_t *finding)
{
    bool  is_past;

    is_past = strstr(finding->link, "?at=") != NULL;

    if (is_past || strstr(finding->link, "?base=") != NULL) {
        return (jpp_console_remedy_t) { finding->link,
                   is_past ? "Whose memory it was" : "What holds more" };
    }

    return jpp_console_remedies[finding->number];
}


static void
jpp_console_findings(const jpp_console_t *console,
    const jpp_finding_t *finding, size_t n, jpp_sink_t *sink)
{
    char                  known[JPP_FINDING_LINK];
    jpp_console_remedy_t  remedy;

    if (n != 0) {
        jpp_sink_str(sink, "\n<h2>Findings</h2>\n");
    }

    for ( /* void */ ; n != 0; n--, finding++) {
        remedy = jpp_console_remedy(finding);

        jpp_sink_str(sink, finding->is_critical
                           ? "\n<div class=\"card critical\""
                           : "\n<div class=\"card\"");
        jpp_sink_printf(sink, " id=\"%s\">\n%s", finding->id,
                        finding->is_critical ? "<h3 class=\"bad\">Critical: "
                                             : "<h3>");
        jpp_markup_printf(sink, "%s</h3>\n<p>Because %s.</p>\n"
                          "<p class=\"fix\">%s", finding->what,
                          finding->because, finding->fix);

        if (remedy.address != NULL
            && (remedy.address[0] == '#'
                ? console->has_control
                : jpp_console_serves(console->links, remedy.address)))
        {
            jpp_markup_printf(sink, " <a href=\"%s\">%s</a>", remedy.address,
                              remedy.text);
        }

        jpp_sink_printf(sink, "</p>\n<p>Since %s%s.</p>\n",
                        jpp_date(finding->since),
                        jpp_finding_acknowledged(finding, known));

        if (console->has_control && finding->acknowledged == 0) {
            jpp_sink_printf(sink, "<form method=\"post\" action=\"control\">"
                            "<input type=\"hidden\" name=\"acknowledge\" "
                            "value=\"%s\"><button>Acknowledge</button></form>"
                            "\n", finding->id);
        }

        jpp_sink_str(sink, "</div>\n");
    }
}


/* What a worker is or has. */
typedef enum {
    JPP_CONSOLE_READY = 0,                 /* jemalloc samples */
    JPP_CONSOLE_INACTIVE,
    JPP_CONSOLE_SAMPLED,                   /* there is a source of profiles */
    JPP_CONSOLE_SAMPLER,
    JPP_CONSOLE_STALLS,
    JPP_CONSOLE_OWNERS,
    JPP_CONSOLE_STATS
} jpp_console_fact_t;


static bool
jpp_console_is(const jpp_worker_t *worker, jpp_console_fact_t fact)
{
    const bool  facts[] = {
        [JPP_CONSOLE_READY] = worker->jemalloc.state == JPP_JEMALLOC_READY,
        [JPP_CONSOLE_INACTIVE] =
            worker->jemalloc.state == JPP_JEMALLOC_INACTIVE,
        [JPP_CONSOLE_SAMPLED] =
            jpp_source(&worker->jemalloc, &worker->sampler) != JPP_SOURCE_NONE,
        [JPP_CONSOLE_SAMPLER] = worker->sampler.is_on,
        [JPP_CONSOLE_STALLS] = worker->stalling.threshold != 0,
        [JPP_CONSOLE_OWNERS] = worker->has_owners,
        [JPP_CONSOLE_STATS] = worker->has_stats
    };

    return facts[fact];
}


/* Is there a worker for which that is so, or with IS_NOT, is not? */

static bool
jpp_console_any(const jpp_fleet_t *fleet, jpp_console_fact_t fact, bool is_not)
{
    const jpp_worker_t  *worker;

    jpp_each(worker, fleet->workers, fleet->n) {
        if (jpp_console_is(worker, fact) != is_not) {
            return true;
        }
    }

    return false;
}


/*
 * They cost a walk and a profile: the script fetches them when they are looked
 * at, and without it they are links.
 */

static void
jpp_console_where(const jpp_console_t *console, jpp_sink_t *sink)
{
    const jpp_fleet_t  *fleet;

    fleet = console->telemetry->fleet;

    jpp_sink_str(sink, "\n<section id=\"where\" aria-labelledby=\"h-where\""
                 ">\n<h2 id=\"h-where\">Every byte</h2>\n");

    if (jpp_console_serves(console->links, "memory")) {
        jpp_sink_str(sink, "<p><a id=\"ledger\" href=\"memory?format=top\">"
                     "A table of every byte of workers</a>. The rows add up "
                     "to Pss, which counts a page shared by four processes as "
                     "a quarter in each.</p>\n<div id=\"rows\"></div>\n");
    }

    if (jpp_console_serves(console->links, "heap")) {
        jpp_sink_str(sink, "<h3>The heap, by function: sampled</h3>\n");
        jpp_sink_str(sink, fleet->n == 0
                           || jpp_console_any(fleet, JPP_CONSOLE_SAMPLED, false)
            ? "<p><a id=\"heap\" href=\"heap?format=svg&amp;invert=1&amp;"
              "width=960\">A picture</a> by caller, or <a href=\""
              "heap?format=html\">flame graphs, tables and differences</a></p>"
              "\n<div id=\"picture\"></div>\n"
            : "<p>No worker takes samples, so there is no picture: see "
              "Problems above. Fix them, then reload this page.</p>\n");
    }

    if (fleet->unnamed != NULL) {
        jpp_markup_printf(sink, "<p>In the last profile, %s</p>\n",
                          fleet->unnamed);
    }

    jpp_sink_str(sink, "</section>\n");
}


/*
 * What is wrong with the profiling: each problem once, with the workers that
 * have it; and what failed last in each worker.
 */


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
            && strcmp(problems[i].fix, problem->fix) == 0)
        {
            return true;
        }
    }

    return false;
}


/* A problem of several workers is shown once, with the first of them. */

static void
jpp_console_problems(const jpp_fleet_t *fleet, jpp_sink_t *sink)
{
    bool           is_first;
    size_t         i, k, p, n;
    jpp_problem_t  problems[JPP_MAX_PROBLEMS];

    is_first = true;

    for (i = 0; i < fleet->n; i++) {
        n = jpp_problems(&fleet->workers[i], problems);

        for (p = 0; p < n; p++) {

            k = 0;

            while (!jpp_console_has(&fleet->workers[k], &problems[p])) {
                k++;
            }

            if (k < i) {
                continue;
            }

            if (is_first) {
                jpp_sink_str(sink, "\n<h2>Problems</h2>\n");
                is_first = false;
            }

            jpp_sink_str(sink, problems[p].is_fatal
                               ? "\n<div class=\"card critical\">\n"
                                 "<h3 class=\"bad\">No profile: "
                               : "\n<div class=\"card\">\n<h3>Warning: ");
            jpp_markup_printf(sink, "%s</h3>\n<p>Because %s.</p>\n<pre>%s"
                              "</pre>\n<p>Seen in pid", problems[p].what,
                              problems[p].why, problems[p].fix);

            for ( /* void */ ; k < fleet->n; k++) {
                if (jpp_console_has(&fleet->workers[k], &problems[p])) {
                    jpp_sink_printf(sink, " %" PRId64,
                                    fleet->workers[k].who.pid);
                }
            }

            jpp_sink_str(sink, ".</p>\n</div>\n");
        }
    }
}


/*
 * What can be done, where control is on: a form for each change that makes
 * sense now, and the outcome of the last one.
 *
 * The forms need no script.  One that loses something is folded: the first
 * press opens it and says what, the second one does it.
 */


typedef struct {
    const char            *id;             /* of the element */
    const char            *key;
    const char            *value;          /* NULL: a rate to be chosen */
    const char            *title;
    const char            *text;           /* what it does, or loses */
    const char            *confirm;        /* the second press; NULL: no need */

    /* does it make sense where that is so, or where it is not? */
    jpp_console_fact_t     fact;
    bool                   is_not;
} jpp_console_act_t;


static const jpp_console_act_t  jpp_console_act_rows[] = {
    { "act-stop", "active", "off", "Stop jemalloc's sampling",
      "Memory allocated while sampling is off never appears in these workers' "
      "jemalloc profiles, even after sampling is on again. Profiles with "
      "seconds=N that span this time are refused. To have complete samples "
      "later, forget all samples or reload. Save a profile first, if you need "
      "it.", "Stop sampling; later allocations will be missing in profiles",
      JPP_CONSOLE_READY, false },

    { "act-start", "active", "on", "Start jemalloc's sampling",
      "Profiles show allocations from now on, and earlier samples whose "
      "memory is still in use.", NULL, JPP_CONSOLE_INACTIVE, false },

    { "act-sampler", "sampler", "on", "Start the module's sampler",
      "Profiles then come from the sampler, and show allocations from now on.",
      NULL, JPP_CONSOLE_SAMPLER, true },

    { "act-no-sampler", "sampler", "off", "Stop the module's sampler",
      "All samples of the sampler are lost. Profiles then come from jemalloc "
      "again, if it has a profiler. Save a profile first, if you need it.",
      "Stop the sampler, and lose its samples", JPP_CONSOLE_SAMPLER, false },

    { "act-rate", "lg_sample", NULL, "Change the sampling rate",
      "All samples so far are lost, and profiles no longer separate inherited "
      "memory. Save a profile first, if you need it. A finer rate shows more "
      "and costs more: set it for an hour, then go back.",
      "Change the rate, and lose all samples", JPP_CONSOLE_SAMPLED, false },

    { "act-stalls", "stall", "100ms", "Record stalls",
      "Iterations of the event loop that take 100 ms or longer are recorded "
      "from now on, with their stack and location.", NULL,
      JPP_CONSOLE_STALLS, true },

    { "act-no-stalls", "stall", "off", "Stop recording stalls",
      "Nothing is lost: stalls recorded so far stay.", NULL,
      JPP_CONSOLE_STALLS, false },

    { "act-owners", "owners", "on", "Attribute samples",
      "Samples taken from now on have a server and a location.", NULL,
      JPP_CONSOLE_OWNERS, true },

    { "act-no-owners", "owners", "off", "Stop attributing samples",
      "Samples taken from now on have no server and no location; those taken "
      "so far keep theirs.", NULL, JPP_CONSOLE_OWNERS, false },

    { "act-reset", "reset", "1", "Forget all samples",
      "All samples so far are lost: profiles show only allocations from now "
      "on. Save a profile first, if you need it.",
      "Forget them", JPP_CONSOLE_SAMPLED, false },

    { "act-purge", "purge", "1", "Return unused memory to the kernel",
      "Nothing is lost. The next allocations cost page faults.", NULL,
      JPP_CONSOLE_STATS, false }
};


/* It is about nginx, and no worker. */

static const jpp_console_act_t  jpp_console_act_snapshot = {
    "act-snapshot", "snapshot", "1", "Take a snapshot",
    "Records what all workers hold now, for a comparison later. Nothing is "
    "lost but, if there is no room left, an older snapshot.", NULL,
    JPP_CONSOLE_READY, false
};


static void
jpp_console_form(const jpp_fleet_t *fleet, const jpp_console_act_t *act,
    jpp_sink_t *sink)
{
    unsigned  lg;
    uint32_t  now;

    jpp_sink_str(sink, "<form method=\"post\" action=\"control\">");

    if (act->value != NULL) {
        jpp_sink_printf(sink, "<input type=\"hidden\" name=\"%s\" "
                        "value=\"%s\">", act->key, act->value);

    } else {
        jpp_sink_printf(sink, "<label>One sample every <select name=\"%s\">\n",
                        act->key);

        /* the one that is in effect is chosen already */

        now = jpp_worker_lg_sample(&fleet->workers[0]);

        for (lg = JPP_JEMALLOC_LG_MIN; lg <= JPP_JEMALLOC_LG_MAX; lg++) {
            jpp_sink_printf(sink, "<option value=\"%u\"%s>%s</option>\n", lg,
                            lg == now ? " selected" : "",
                            jpp_rate(lg));
        }

        jpp_sink_str(sink, "</select></label> ");
    }

    jpp_sink_str(sink, act->confirm != NULL ? "<button class=\"danger\">"
                                            : "<button>");
    jpp_markup_printf(sink, "%s</button></form>\n",
                      act->confirm != NULL ? act->confirm : act->title);
}


static void
jpp_console_act(const jpp_fleet_t *fleet, const jpp_console_act_t *act,
    jpp_sink_t *sink)
{
    uint64_t             sum, freed;
    const jpp_worker_t  *worker;

    if (act->confirm == NULL) {
        jpp_sink_printf(sink, "<div class=\"act\" id=\"%s\">\n", act->id);
        jpp_console_form(fleet, act, sink);
        jpp_markup_printf(sink, "<p>%s", act->text);

        if (act->fact == JPP_CONSOLE_STATS) {
            /*
             * dirty and muzzy pages were touched: the same estimate as the
             * finding's
             */

            sum = 0;

            jpp_each(worker, fleet->workers, fleet->n) {
                freed = jpp_stats_add(worker->stats.dirty, worker->stats.muzzy);
                sum += worker->has_stats ? jpp_known(freed) : 0;
            }

            jpp_sink_printf(sink, " It is about %s.", jpp_bytes(sum));
        }

        jpp_sink_str(sink, "</p>\n</div>\n");

        return;
    }

    jpp_markup_printf(sink, "<details class=\"act\" id=\"%s\">\n<summary>%s "
                      "...</summary>\n<p>%s</p>\n", act->id, act->title,
                      act->text);
    jpp_console_form(fleet, act, sink);
    jpp_sink_str(sink, "</details>\n");
}


static void
jpp_console_acts(const jpp_console_t *console, jpp_sink_t *sink)
{
    const jpp_outcome_t      *outcome;
    const jpp_console_act_t  *act;

    jpp_sink_str(sink, "\n<section id=\"acts\" aria-labelledby=\"h-acts\">\n"
                 "<h2 id=\"h-acts\">Act</h2>\n");

    outcome = console->outcome;

    if (outcome == NULL) {
        jpp_sink_str(sink, "<p id=\"outcome\" role=\"status\"></p>\n");

    } else {
        jpp_sink_printf(sink, "<p id=\"outcome\" role=\"status\" class=\"%s\">",
                        outcome->done == outcome->asked ? "good" : "bad");
        jpp_outcome_text(outcome, sink);

        if (outcome->done != outcome->asked) {
            jpp_sink_str(sink,
                         " Last errors below the workers say why the others "
                               "did not.");
        }

        jpp_sink_str(sink, "</p>\n");
    }

    jpp_sink_str(sink, "<div id=\"forms\">\n");

    jpp_each_of(act, jpp_console_act_rows) {
        if (jpp_console_any(console->telemetry->fleet, act->fact, act->is_not))
        {
            jpp_console_act(console->telemetry->fleet, act, sink);
        }
    }

    if (console->telemetry->snapshots != NULL) {
        jpp_console_act(console->telemetry->fleet, &jpp_console_act_snapshot,
                        sink);
    }

    jpp_sink_str(sink, "</div>\n<p>A button applies to all workers, and "
                 "to workers that start later; control also accepts single "
                 "workers.</p>\n"
                 "</section>\n");
}


static bool
jpp_console_has_lua(const jpp_fleet_t *fleet)
{
    const jpp_worker_t  *worker;

    jpp_each(worker, fleet->workers, fleet->n) {
        if (worker->lua.why[0] == '\0') {
            return true;
        }
    }

    return false;
}


static void
jpp_console_links(const jpp_console_link_t *link, bool has_lua,
    jpp_sink_t *sink)
{
    jpp_sink_str(sink,
        "\n<details id=\"resources\">\n<summary>All resources, with "
        "commands</summary>\n"
        "<p id=\"variable\">The commands take the address of this page, with "
        "the slash at its end, from a variable of the shell: "
        "<code>URL=http://...</code></p>\n"
        "<p>To choose workers, add worker=0 (an index), worker=pid-1234, "
        "worker=self or worker=exiting, as in heap?worker=0.</p>\n"
        "<p>Memory that workers inherited from their master counts once, with "
        "the label origin=master; to see one part only, add origin=worker or "
        "origin=master.</p>\n"
        "<dl>\n");

    for ( /* void */ ; link->address != NULL; link++) {

        if (link->is_of_lua && !has_lua) {
            continue;
        }

        if (link->is_post) {
            jpp_markup_printf(sink, "<dt>%s (POST)", link->address);

        } else {
            jpp_markup_printf(sink, "<dt><a href=\"%s\">%s</a>", link->address,
                              link->address);
        }

        jpp_markup_printf(sink, "</dt>\n<dd>%s\n<pre>", link->text);

        if (link->command != NULL) {
            jpp_markup_printf(sink, "%s", link->command);

        } else {
            jpp_markup_printf(sink, "curl &quot;${URL}%s&quot;", link->address);
        }

        jpp_sink_str(sink, "</pre></dd>\n");
    }

    jpp_sink_str(sink, "</dl>\n</details>\n");
}


static void
jpp_console_failures(const jpp_fleet_t *fleet, jpp_sink_t *sink)
{
    const jpp_worker_t   *worker;
    const jpp_failure_t  *failure;

    jpp_sink_str(sink, "<div id=\"failures\">\n");

    jpp_each(worker, fleet->workers, fleet->n) {
        failure = &worker->last_error;

        if (failure->text[0] == '\0') {
            continue;
        }

        jpp_markup_printf(sink, "<p>Last error in worker %" PRIu32 ", pid %"
                          PRId64 ", at %s: %s.</p>\n", worker->who.index,
                          worker->who.pid, jpp_date(failure->time),
                          failure->text);
    }

    jpp_sink_str(sink, "</div>\n");
}


void
jpp_console_html(const jpp_console_t *console, jpp_sink_t *sink)
{
    size_t               n;
    jpp_finding_t        findings[JPP_FINDINGS];
    jpp_verdict_t        verdict;
    const jpp_fleet_t   *fleet;

    fleet = console->telemetry->fleet;

    jpp_markup_printf(sink,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
        "<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" "
        "content=\"width=device-width, initial-scale=1\">\n"
        "<title>nginx on %s</title>\n<style>", fleet->host);
    jpp_sink_str(sink, JPP_CONSOLE_STYLE);
    jpp_markup_printf(sink,
        "</style>\n</head>\n<body>\n\n<header>\n<h1>nginx on %s</h1>\n"
        "<p id=\"about\">nginx %s, jemalloc_pprof module " JPP_VERSION ", %zu "
        "of %" PRIu32 " workers answered</p>\n<p id=\"live\"></p>\n</header>\n"
        "<main>\n", fleet->host, fleet->nginx, fleet->n, fleet->n_asked);

    n = jpp_findings(console->telemetry, findings);
    jpp_verdict(console->telemetry, findings, n, &verdict);

    jpp_markup_printf(sink, "<p id=\"verdict\" role=\"status\" class=\"%s\">"
                      "%s: %s", jpp_console_classes[verdict.severity],
                      jpp_severities[verdict.severity], verdict.text);

    if (verdict.n_more != 0) {
        jpp_sink_printf(sink, ". <a href=\"#findings\">%zu more</a>",
                        verdict.n_more);
    }

    jpp_sink_str(sink, "</p>\n");

    jpp_sink_str(sink, "<dl id=\"tiles\">\n");
    jpp_console_tile_memory(console, sink);
    jpp_console_tile_left(console, sink);
    jpp_console_tile_workers(console, sink);
    jpp_console_tile_requests(console, sink);
    jpp_sink_str(sink, "</dl>\n");

    jpp_console_owners(console, sink);
    jpp_console_time(console, sink);

    jpp_sink_str(sink, "<div id=\"findings\">\n");
    jpp_console_findings(console, findings, n, sink);
    jpp_console_problems(fleet, sink);
    jpp_sink_str(sink, "</div>\n");

    jpp_console_workers(console, sink);
    jpp_console_failures(fleet, sink);
    jpp_console_where(console, sink);

    if (console->has_control) {
        jpp_console_acts(console, sink);
    }

    jpp_console_links(console->links, jpp_console_has_lua(fleet), sink);

    jpp_sink_str(sink, "</main>\n<script>" JPP_CONSOLE_SCRIPT "</script>\n"
                 "</body>\n</html>\n");
}

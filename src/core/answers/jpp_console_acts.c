
#include "jpp_console_acts.h"
#include "jpp_problems.h"


typedef bool (*jpp_console_due_pt)(const jpp_worker_t *worker);


typedef struct {
    const char            *id;             /* of the element */
    const char            *key;
    const char            *value;          /* NULL: a rate to be chosen */
    const char            *title;
    const char            *text;           /* what it does, or loses */
    const char            *confirm;        /* the second press; NULL: no need */
    jpp_console_due_pt     is_due;         /* does it make sense there? */
} jpp_console_act_t;


static bool jpp_console_is_ready(const jpp_worker_t *worker);
static bool jpp_console_is_inactive(const jpp_worker_t *worker);
static bool jpp_console_is_sampled(const jpp_worker_t *worker);
static bool jpp_console_has_sampler(const jpp_worker_t *worker);
static bool jpp_console_has_none(const jpp_worker_t *worker);
static bool jpp_console_has_stats(const jpp_worker_t *worker);


static const jpp_console_act_t  jpp_console_act_rows[] = {
    { "act-stop", "active", "off", "Stop jemalloc's sampling",
      "jemalloc's profiles of these workers will never show what is allocated "
      "while it is off, not even after it is on again, and differences over "
      "that time are refused. To have complete samples later, forget all "
      "samples or reload. Save a profile first, if you need it.",
      "Stop it, and lose what is allocated meanwhile", jpp_console_is_ready },

    { "act-start", "active", "on", "Start jemalloc's sampling",
      "Profiles show what is allocated from now on, and what was sampled "
      "before and is not freed.", NULL, jpp_console_is_inactive },

    { "act-sampler", "sampler", "on", "Start the module's sampler",
      "It becomes the source of profiles, which then show what is allocated "
      "from now on.", NULL, jpp_console_has_none },

    { "act-no-sampler", "sampler", "off", "Stop the module's sampler",
      "All of its samples are lost. Profiles come from jemalloc again, where "
      "that has a profiler. Save a profile first, if you need it.",
      "Stop it, and lose its samples", jpp_console_has_sampler },

    { "act-rate", "lg_sample", NULL, "Change the sampling rate",
      "All samples so far are lost, and so is what tells inherited memory from "
      "a worker's own. Save a profile first, if you need it. A finer rate "
      "shows more and costs more: set it for an hour, then go back.",
      "Change it, and lose all samples", jpp_console_is_sampled },

    { "act-reset", "reset", "1", "Forget all samples",
      "All samples so far are lost: profiles show only what is allocated from "
      "now on. Save a profile first, if you need it.",
      "Forget them", jpp_console_is_sampled },

    { "act-purge", "purge", "1", "Return unused memory to the kernel",
      "Nothing is lost. What is allocated next costs page faults.", NULL,
      jpp_console_has_stats }
};


static void
jpp_console_outcome(const jpp_console_t *console, jpp_sink_t *sink)
{
    const jpp_outcome_t  *outcome;

    outcome = console->outcome;

    if (outcome == NULL) {
        jpp_sink_str(sink, "<p id=\"outcome\" role=\"status\"></p>\n");
        return;
    }

    jpp_sink_printf(sink, "<p id=\"outcome\" role=\"status\" class=\"%s\">",
                    outcome->done == outcome->asked ? "good" : "bad");
    jpp_outcome_text(outcome, sink);

    if (outcome->done != outcome->asked) {
        jpp_sink_str(sink, " Last errors below the workers say why the others "
                           "have not.");
    }

    jpp_sink_str(sink, "</p>\n");
}


static bool
jpp_console_is_due(const jpp_fleet_t *fleet, const jpp_console_act_t *act)
{
    size_t  i;

    for (i = 0; i < fleet->n; i++) {
        if (act->is_due(&fleet->workers[i])) {
            return true;
        }
    }

    return false;
}


/* the one that is in effect is chosen already */

static void
jpp_console_rates(const jpp_fleet_t *fleet, jpp_sink_t *sink)
{
    char                 text[JPP_UNITS_TEXT];
    unsigned             lg;
    uint32_t             now;
    const jpp_worker_t  *worker;

    worker = &fleet->workers[0];

    now = worker->sampler.is_on ? worker->sampler.lg_sample
                                : worker->jemalloc.lg_sample;

    for (lg = JPP_JEMALLOC_LG_MIN; lg <= JPP_JEMALLOC_LG_MAX; lg++) {
        jpp_sink_printf(sink, "<option value=\"%u\"%s>%s</option>\n", lg,
                        lg == now ? " selected" : "",
                        jpp_problems_rate(lg, text));
    }
}


static void
jpp_console_form(const jpp_fleet_t *fleet, const jpp_console_act_t *act,
    jpp_sink_t *sink)
{
    jpp_sink_str(sink, "<form method=\"post\" action=\"control\">");

    if (act->value != NULL) {
        jpp_sink_printf(sink, "<input type=\"hidden\" name=\"%s\" "
                        "value=\"%s\">", act->key, act->value);

    } else {
        jpp_sink_printf(sink, "<label>One sample every <select name=\"%s\">\n",
                        act->key);
        jpp_console_rates(fleet, sink);
        jpp_sink_str(sink, "</select></label> ");
    }

    jpp_sink_printf(sink, "<button%s>",
                    act->confirm != NULL ? " class=\"danger\"" : "");
    jpp_console_text(sink, act->confirm != NULL ? act->confirm : act->title);
    jpp_sink_str(sink, "</button></form>\n");
}


static bool
jpp_console_has_stats(const jpp_worker_t *worker)
{
    return worker->has_stats;
}


/* dirty and muzzy pages were touched: the same estimate as the finding's */

static void
jpp_console_freed(const jpp_fleet_t *fleet, jpp_sink_t *sink)
{
    size_t              i;
    uint64_t            sum, freed;
    const jpp_stats_t  *stats;

    for (i = 0, sum = 0; i < fleet->n; i++) {
        stats = &fleet->workers[i].stats;
        freed = jpp_stats_add(stats->dirty, stats->muzzy);

        if (fleet->workers[i].has_stats && freed != JPP_NONE) {
            sum += freed;
        }
    }

    jpp_sink_str(sink, " It is about ");
    jpp_console_bytes(sink, sum);
    jpp_sink_char(sink, '.');
}


static void
jpp_console_act(const jpp_fleet_t *fleet, const jpp_console_act_t *act,
    jpp_sink_t *sink)
{
    if (act->confirm == NULL) {
        jpp_sink_printf(sink, "<div class=\"act\" id=\"%s\">\n", act->id);
        jpp_console_form(fleet, act, sink);
        jpp_sink_str(sink, "<p>");
        jpp_console_text(sink, act->text);

        if (act->is_due == jpp_console_has_stats) {
            jpp_console_freed(fleet, sink);
        }

        jpp_sink_str(sink, "</p>\n</div>\n");

        return;
    }

    jpp_sink_printf(sink, "<details class=\"act\" id=\"%s\">\n<summary>",
                    act->id);
    jpp_console_text(sink, act->title);
    jpp_sink_str(sink, " ...</summary>\n<p>");
    jpp_console_text(sink, act->text);
    jpp_sink_str(sink, "</p>\n");
    jpp_console_form(fleet, act, sink);
    jpp_sink_str(sink, "</details>\n");
}


void
jpp_console_acts(const jpp_console_t *console, jpp_sink_t *sink)
{
    size_t  i;

    jpp_sink_str(sink, "\n<section id=\"acts\" aria-labelledby=\"h-acts\">\n"
                 "<h2 id=\"h-acts\">Act</h2>\n");

    jpp_console_outcome(console, sink);

    jpp_sink_str(sink, "<div id=\"forms\">\n");

    for (i = 0;
         i < sizeof(jpp_console_act_rows) / sizeof(jpp_console_act_t);
         i++)
    {
        if (jpp_console_is_due(console->telemetry->fleet,
                               &jpp_console_act_rows[i]))
        {
            jpp_console_act(console->telemetry->fleet,
                            &jpp_console_act_rows[i], sink);
        }
    }

    jpp_sink_str(sink, "</div>\n<p>These go to all workers, and to those that "
                 "start later; control also takes single ones.</p>\n"
                 "</section>\n");
}


static bool
jpp_console_is_ready(const jpp_worker_t *worker)
{
    return worker->jemalloc.state == JPP_JEMALLOC_READY;
}


static bool
jpp_console_is_inactive(const jpp_worker_t *worker)
{
    return worker->jemalloc.state == JPP_JEMALLOC_INACTIVE;
}


static bool
jpp_console_is_sampled(const jpp_worker_t *worker)
{
    return jpp_source(&worker->jemalloc, &worker->sampler) != JPP_SOURCE_NONE;
}


static bool
jpp_console_has_sampler(const jpp_worker_t *worker)
{
    return worker->sampler.is_on;
}


static bool
jpp_console_has_none(const jpp_worker_t *worker)
{
    return !worker->sampler.is_on;
}

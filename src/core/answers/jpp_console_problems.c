
#include <inttypes.h>
#include <string.h>

#include "jpp_console_problems.h"
#include "jpp_problems.h"
#include "jpp_worker.h"


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
jpp_console_problem(const jpp_fleet_t *fleet, size_t first,
    const jpp_problem_t *problem, jpp_sink_t *sink)
{
    size_t  i;

    jpp_sink_str(sink, problem->is_fatal
                       ? "\n<div class=\"card critical\">\n"
                         "<h3 class=\"bad\">No profile: "
                       : "\n<div class=\"card\">\n<h3>Warning: ");
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

    jpp_sink_str(sink, ".</p>\n</div>\n");
}


/* A problem of several workers is shown once, with the first of them. */

void
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


void
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


void
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
        jpp_console_text(sink, missing->why);
        jpp_sink_str(sink, ".</td></tr>\n");
    }

    jpp_sink_str(sink, "</tbody>\n");
}

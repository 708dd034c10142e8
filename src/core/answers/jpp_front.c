
/*
 * The console as text, for a terminal: the verdict, who holds most, and what to
 * ask next.
 */


#include "jpp_console.h"
#include "jpp_verdict.h"


#define JPP_FRONT_WIDTH   80

/* bytes of a sentence, and what is around it */
#define JPP_FRONT_TEXT    (JPP_VERDICT_TEXT + 32)


/* What to ask for, and why, where the resource is served. */
typedef struct {
    const char   *resource;
    const char   *address;
    const char   *text;
} jpp_front_row_t;


static const jpp_front_row_t  jpp_front_rows[] = {
    { "memory", "memory?format=top", "every byte by kind; findings, fixes" },
    { "requests", "requests", "the requests that hold most" },
    { "locations", "locations", "memory and CPU time by location" },
    { "pools", "pools?format=top", "what servers, locations, modules hold" },
    { "heap", "heap?format=top", "allocations by function" },
    { "stalls", "stalls?format=top", "what kept an event loop from serving" },
    { "profile", "profile?format=top&seconds=10", "CPU time by function" }
};


/* Append TEXT in lines of WIDTH; those after the first begin with INDENT. */

static void
jpp_front_wrap(jpp_sink_t *sink, const char *text, const char *indent)
{
    size_t       len, width;
    const char  *end;

    width = JPP_FRONT_WIDTH;

    for ( ;; ) {
        len = strlen(text);

        if (len <= width) {
            break;
        }

        for (end = text + width; end != text && *end != ' '; end--) {
            /* void */
        }

        /* a word that has no room is not divided */

        if (end == text) {
            end = strchr(text, ' ');
        }

        if (end == NULL) {
            break;
        }

        jpp_sink_write(sink, text, (size_t) (end - text));
        jpp_sink_printf(sink, "\n%s", indent);

        text = end + 1;
        width = JPP_FRONT_WIDTH - strlen(indent);
    }

    jpp_sink_str(sink, text);
    jpp_sink_str(sink, "\n");
}


static void
jpp_front_holders(const jpp_telemetry_t *telemetry, jpp_sink_t *sink)
{
    char                 bytes[JPP_UNITS_TEXT], text[JPP_FRONT_TEXT];
    char                 share[JPP_UNITS_TEXT];
    size_t               i;
    uint64_t             all;
    const jpp_holder_t  *holder;

    if (telemetry->n_holders == 0) {
        return;
    }

    all = jpp_verdict_total(telemetry);

    jpp_sink_str(sink, "\nlargest owners\n");

    for (i = 0; i < telemetry->n_holders && i < JPP_VERDICT_OWNERS; i++) {
        holder = &telemetry->holders[i];

        /* what was set aside and not touched is no share of the memory */

        if (holder->bytes <= all) {
            (void) snprintf(share, sizeof(share), "%3" PRIu64 " %%",
                            all == 0 ? 0 : holder->bytes * 100 / all);
        }

        (void) snprintf(text, sizeof(text), "%11s %5s  %s%s%s",
                        jpp_units_bytes(holder->bytes, bytes),
                        holder->bytes <= all ? share : "aside", holder->who,
                        holder->bound[0] != '\0' ? ": " : "", holder->bound);

        jpp_front_wrap(sink, text, "                   ");
    }
}


void
jpp_front_text(const jpp_console_t *console, jpp_sink_t *sink)
{
    char                    text[JPP_FRONT_TEXT], time[JPP_STATUS_TIME];
    char                    known[JPP_FINDING_LINK];
    size_t                  i, n;
    jpp_finding_t           findings[JPP_FINDINGS];
    jpp_verdict_t           verdict;
    const jpp_fleet_t      *fleet;
    const jpp_front_row_t  *row;

    fleet = console->telemetry->fleet;

    n = jpp_findings(console->telemetry, findings);
    jpp_verdict(console->telemetry, findings, n, &verdict);

    (void) snprintf(text, sizeof(text), "%s: %s.",
                    jpp_severities[verdict.severity], verdict.text);

    jpp_front_wrap(sink, text, "");

    for (i = 0; i < n; i++) {
        if (strcmp(findings[i].id, verdict.id) == 0) {
            jpp_front_wrap(sink, findings[i].fix, "");
            jpp_sink_printf(sink, "Since %s%s%s\n",
                            jpp_status_time(findings[i].since, time),
                            findings[i].link[0] != '\0' ? "; ask for " : "",
                            findings[i].link);

        } else {
            (void) snprintf(text, sizeof(text), "%s: %s: %s%s.",
                            jpp_finding_severity(&findings[i]),
                            findings[i].what, findings[i].because,
                            jpp_finding_acknowledged(&findings[i], known));

            jpp_front_wrap(sink, text, "  ");
        }
    }

    jpp_front_holders(console->telemetry, sink);

    jpp_sink_str(sink, "\nask below this address\n");

    for (i = 0; i < sizeof(jpp_front_rows) / sizeof(*row); i++) {
        row = &jpp_front_rows[i];

        if (jpp_console_serves(console->links, row->resource)) {
            jpp_sink_printf(sink, "  %-31s %s\n", row->address, row->text);
        }
    }

    jpp_sink_printf(sink, "\n%zu of %" PRIu32 " workers answered; nginx %s, "
                    "jemalloc_pprof module " JPP_VERSION "\n", fleet->n,
                    fleet->n_asked, fleet->nginx);
}

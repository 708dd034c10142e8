
/*
 * The console as text for a terminal: the verdict, the largest owners, and the
 * next commands.
 */


#include "jpp_answers.h"


/* What to ask for, and why, where the resource is served. */

static const struct {
    const char   *address;
    const char   *text;
} jpp_front_rows[] = {
    { "memory?format=top", "every byte by kind; findings, fixes" },
    { "requests", "the largest requests" },
    { "locations", "memory by location; seconds=5 adds CPU" },
    { "pools?format=top", "memory by server, location, module" },
    { "heap?format=top", "allocations by function" },
    { "stalls?format=top", "code that blocked an event loop" },
    { "grown", "whose memory grows, and how fast" },
    { "events", "reloads, crashes, findings, changes" },
    { "profile?format=top&seconds=10", "CPU time by function" }
};


static void
jpp_front_holders(const jpp_console_t *console, jpp_arena_t *arena,
    uint32_t cols, jpp_sink_t *sink)
{
    size_t                  i;
    uint64_t                all;
    jpp_table_t             table;
    const jpp_holder_t     *holder;
    const jpp_telemetry_t  *telemetry;

    telemetry = console->telemetry;

    if (telemetry->n_holders == 0) {
        return;
    }

    all = jpp_verdict_total(telemetry);

    jpp_table_init(&table, arena, cols);
    jpp_table_column(&table, "bytes", 0, 0);
    jpp_table_column(&table, "%", 1, 0);
    jpp_table_column(&table, "largest owners", 0, 3 * JPP_TABLE_NAME);
    jpp_table_column(&table, "bounded by; in", 2, JPP_TABLE_NAME);

    for (i = 0; i < telemetry->n_holders && i < JPP_VERDICT_OWNERS; i++) {
        holder = &telemetry->holders[i];

        jpp_table_bytes(&table, holder->bytes);

        /* what was set aside and not touched is no share of the memory */

        if (holder->bytes <= all) {
            jpp_table_cell(&table, "%" PRIu64,
                           all == 0 ? 0 : holder->bytes * 100 / all);

        } else {
            jpp_table_cell(&table, "aside");
        }

        jpp_table_cell(&table, "%s", holder->who);
        jpp_table_cell(&table, "%s%s%s", holder->bound,
                       holder->bound[0] != '\0' && holder->place[0] != '\0'
                       ? "; " : "", holder->place);
    }

    jpp_sink_char(sink, '\n');

    jpp_table_write(&table, sink);
}


bool
jpp_front_text(const jpp_console_t *console, jpp_arena_t *arena, uint32_t cols,
    jpp_sink_t *out)
{
    char                    known[JPP_FINDING_LINK];
    size_t                  i, n;
    jpp_sink_t             *sink;
    jpp_wrap_t              wrap;
    jpp_finding_t           findings[JPP_FINDINGS];
    jpp_verdict_t           verdict;
    const jpp_fleet_t      *fleet;

    jpp_wrap_open(&wrap, cols, out);

    sink = &wrap.sink;
    fleet = console->telemetry->fleet;

    n = jpp_findings(console->telemetry, findings);
    jpp_verdict(console->telemetry, findings, n, &verdict);

    jpp_sink_printf(sink, "%s: %s.\n", jpp_severities[verdict.severity],
                    verdict.text);

    for (i = 0; i < n; i++) {
        if (strcmp(findings[i].id, verdict.id) == 0) {
            jpp_sink_printf(sink, "%s\nSince %s%s%s\n", findings[i].fix,
                            jpp_date(findings[i].since),
                            findings[i].link[0] != '\0' ? "; ask for " : "",
                            findings[i].link);

        } else {
            jpp_sink_printf(sink, "%s: %s: %s%s.\n",
                            jpp_finding_severity(&findings[i]),
                            findings[i].what, findings[i].because,
                            jpp_finding_acknowledged(&findings[i], known));
        }
    }

    jpp_front_holders(console, arena, cols, sink);

    jpp_sink_str(sink, "\nfor more, append to this address\n");

    for (i = 0; i < sizeof(jpp_front_rows) / sizeof(*jpp_front_rows); i++) {

        if (jpp_console_serves(console->links, jpp_front_rows[i].address)) {
            jpp_sink_printf(sink, "  %-31s %s\n", jpp_front_rows[i].address,
                            jpp_front_rows[i].text);
        }
    }

    jpp_sink_printf(sink, "\n%zu of %" PRIu32 " workers answered; nginx %s, "
                    "jemalloc_pprof module " JPP_VERSION "\n", fleet->n,
                    fleet->n_asked, fleet->nginx);

    return jpp_wrap_close(&wrap);
}

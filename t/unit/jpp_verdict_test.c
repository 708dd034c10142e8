
/*
 * The sentence for planted faults: a fleet, its tables of pools and its zones,
 * and who is named.
 */


#include "jpp_answers.h"
#include "jpp_diagnosis.h"
#include "jpp_test_findings.h"
#include "jpp_test_main.h"
#include "jpp_test_pools.h"


typedef struct {
    jpp_test_nginx_t   nginx;
    jpp_pools_t        tables[JPP_TEST_WORKERS];
    jpp_verdict_t      verdict;
} jpp_verdict_test_t;


static jpp_verdict_test_t  jpp_test;


/* Three workers with 8 MiB each, and nothing in their pools. */

void
jpp_before_each(void)
{
    size_t         i;
    jpp_worker_t  *worker;

    jpp_test_nginx_init(&jpp_test.nginx);

    for (i = 0; i < JPP_TEST_WORKERS; i++) {
        worker = &jpp_test.nginx.workers[i];

        worker->has_stats = true;
        worker->stats.allocated = 7 * JPP_TEST_MIB;
        worker->stats.active = 7 * JPP_TEST_MIB;
        worker->stats.resident = 8 * JPP_TEST_MIB;
        worker->activity.usage.rss = 12 * JPP_TEST_MIB;
        worker->activity.usage.peak = 12 * JPP_TEST_MIB;
        worker->activity.usage.rss_anon = 8 * JPP_TEST_MIB;

        (void) jpp_pools_init(&jpp_test.tables[i], &arena,
                              JPP_POOLS_REQUESTS, 4);
    }
}


/* WORKER holds BYTES in N requests of a location, for an upstream's buffers. */

static void
jpp_verdict_test_buffers(size_t worker, uint64_t bytes, unsigned n)
{
    uint32_t           request, upstream;
    unsigned           i;
    jpp_pools_t       *table;
    jpp_pools_unit_t  *unit;

    table = &jpp_test.tables[worker];

    request = jpp_test_owner(table, JPP_POOLS_REQUEST, "www", "/export/", NULL);
    upstream = jpp_test_owner(table, JPP_POOLS_UPSTREAM, "www", "/export/",
                              "backend");

    for (i = 0; i < n; i++) {
        jpp_pools_begin(table, request);
        (void) jpp_pools_add(table, request, JPP_POOLS_BLOCKS, 0, 1, 4096, 0);
        (void) jpp_pools_add(table, upstream, JPP_POOLS_UPSTREAM_BUFFERS, 0,
                             64, bytes / n, 0);
        unit = jpp_pools_end(table);

        if (unit != NULL) {
            unit->bound_module = jpp_test_name(table, JPP_POOLS_WORD, "proxy");
            unit->bound_number = 64;
            unit->bound_size = 65536;
        }
    }

    jpp_test.nginx.workers[worker].stats.allocated += bytes;
    jpp_test.nginx.workers[worker].stats.active += bytes;
    jpp_test.nginx.workers[worker].stats.resident += bytes;
    jpp_test.nginx.workers[worker].activity.usage.rss_anon += bytes;
}


/* The sentence; NULL: no memory for the owners. */

static const char *
jpp_verdict_test_end(void)
{
    size_t            i, n;
    jpp_finding_t     findings[JPP_FINDINGS];
    jpp_holders_t     holders;
    jpp_telemetry_t  *telemetry;

    telemetry = &jpp_test.nginx.telemetry;

    jpp_holders_init(&holders, &arena);

    for (i = 0; i < telemetry->fleet->n; i++) {
        jpp_holders_worker(&holders, &jpp_test.nginx.workers[i]);
        jpp_holders_pools(&holders, &jpp_test.nginx.workers[i],
                          &jpp_test.tables[i]);
    }

    for (i = 0; i < telemetry->n_zones; i++) {
        jpp_holders_zone(&holders, &telemetry->zones[i]);
    }

    telemetry->n_holders = jpp_holders_close(&holders, &telemetry->holders);

    n = jpp_findings(telemetry, findings);
    jpp_verdict(telemetry, findings, n, &jpp_test.verdict);

    return holders.failed ? NULL : jpp_test.verdict.text;
}


static void
jpp_verdict_test_shows(const char *what)
{
    jpp_ok(jpp_verdict_test_end() != NULL, "%s", what);
    jpp_note_of(what, jpp_test.verdict, id, severity, n_more, owner, text);
    jpp_shows_notes("%s", what);
}


JPP_TEST(jpp_verdict_test_worker)
{
    jpp_verdict_test_buffers(1, 120 * JPP_TEST_MIB, 30);

    jpp_verdict_test_shows("worker");
}


/* An owner of another worker explains nothing; it is named as the largest. */

JPP_TEST(jpp_verdict_test_other)
{
    jpp_verdict_test_buffers(0, 6 * JPP_TEST_MIB, 1);

    jpp_test.nginx.workers[1].stats.allocated = 80 * JPP_TEST_MIB;
    jpp_test.nginx.workers[1].stats.active = 80 * JPP_TEST_MIB;

    jpp_verdict_test_shows("other");
}


JPP_TEST(jpp_verdict_test_limit)
{
    jpp_cgroup_t  *cgroup;

    jpp_verdict_test_buffers(0, 40 * JPP_TEST_MIB, 10);
    jpp_verdict_test_buffers(1, 40 * JPP_TEST_MIB, 10);
    jpp_verdict_test_buffers(2, 40 * JPP_TEST_MIB, 10);

    cgroup = &jpp_test.nginx.cgroup;
    cgroup->binding = 0;
    cgroup->levels[0].limit = 153 * JPP_TEST_MIB;
    cgroup->levels[0].usage = 152 * JPP_TEST_MIB;
    cgroup->headroom = JPP_TEST_MIB;

    jpp_verdict_test_shows("a limit is critical");
}


/* What a finding says about the kernel has no owner. */

JPP_TEST(jpp_verdict_test_swap)
{
    jpp_verdict_test_buffers(0, 20 * JPP_TEST_MIB, 10);
    jpp_test.nginx.workers[0].activity.usage.swap = 20 * JPP_TEST_MIB;

    jpp_verdict_test_shows("swap, for which nobody is named");
}


JPP_TEST(jpp_verdict_test_zone)
{
    jpp_zone_t  *zone;

    zone = jpp_test.nginx.zones;
    zone->name = "perclient\n";
    zone->name_len = 10;
    zone->size = 128 * JPP_TEST_MIB;
    zone->free = 91 * JPP_TEST_MIB;
    jpp_test.nginx.telemetry.zones = zone;
    jpp_test.nginx.telemetry.n_zones = 1;

    jpp_verdict_test_shows("zone");
}


JPP_TEST(jpp_verdict_test_luajit)
{
    jpp_test.nginx.workers[2].activity.usage.rss_anon = 74 * JPP_TEST_MIB;
    jpp_test.nginx.workers[2].jemalloc.mappers = 1 << JPP_MAPPER_LUAJIT;

    jpp_verdict_test_shows("luajit");
}


/* What all have inherited counts once; what they have in addition, each. */

JPP_TEST(jpp_verdict_test_configuration)
{
    size_t    i;
    uint32_t  owner;

    for (i = 0; i < JPP_TEST_WORKERS; i++) {
        owner = jpp_test_holds(&jpp_test.tables[i], JPP_POOLS_CONFIGURATION,
                               NULL, NULL, NULL, (6 + i) * JPP_TEST_MIB);
        (void) jpp_pools_add_inherited(&jpp_test.tables[i], owner,
                                       JPP_POOLS_BLOCKS, 1, 6 * JPP_TEST_MIB,
                                       0);
    }

    jpp_verdict_test_shows("configuration");
}


/* Those of two generations are two owners. */

JPP_TEST(jpp_verdict_test_generations)
{
    size_t               i;
    const jpp_holder_t  *holders;

    for (i = 0; i < JPP_TEST_WORKERS; i++) {
        jpp_test.nginx.workers[i].who.generation = 1 + i;

        (void) jpp_test_holds(&jpp_test.tables[i], JPP_POOLS_CONFIGURATION,
                              NULL, NULL, NULL, (4 + i) * JPP_TEST_MIB);
    }

    (void) jpp_verdict_test_end();

    holders = jpp_test.nginx.telemetry.holders;

    for (i = 0; i < jpp_test.nginx.telemetry.n_holders; i++) {
        jpp_note_of("a configuration", holders[i], who, bytes);
    }

    jpp_shows_notes("three of them");
}


static void
jpp_verdict_test_write(const jpp_fleet_t *fleet, jpp_sink_t *sink)
{
    jpp_console_t  console = { 0 };

    static const jpp_console_link_t  links[] = {
        { "pools", "What pools hold.", "curl \"${URL}pools\"", false, false },
        { NULL, NULL, NULL, false, false }
    };

    (void) fleet;

    console.telemetry = &jpp_test.nginx.telemetry;
    console.links = links;

    (void) jpp_front_text(&console, &arena, 80, sink);
}


/* The text in OUTPUT, up to the versions. */

static const char *
jpp_verdict_test_text(jpp_output_t *output)
{
    char  *end;

    jpp_ok(jpp_output_fill(output, jpp_verdict_test_write,
                           &jpp_test.nginx.fleet, 0) == 0, "written");

    end = strstr(output->text, "; nginx ");

    if (jpp_ok(end != NULL, "with versions at its end")) {
        *end = '\0';
    }

    return output->text;
}


/* A terminal's answer: the sentence, its fix, five owners, what to ask. */

JPP_TEST(jpp_verdict_test_front)
{
    size_t               i;
    static jpp_output_t  output;

    jpp_verdict_test_buffers(1, 120 * JPP_TEST_MIB, 30);
    jpp_test.nginx.telemetry.now = 1795236015;
    (void) jpp_verdict_test_end();

    jpp_note_of("it is new, and what shows more", jpp_test.verdict, since,
                link);
    jpp_shows_notes("a verdict");
    jpp_shows(jpp_verdict_test_text(&output), "a worker that is odd");

    for (i = 0; i < JPP_TEST_WORKERS; i++) {
        jpp_test.nginx.workers[i].activity.usage.rss_anon = JPP_TEST_MIB;
    }

    jpp_shows(jpp_verdict_test_text(&output),
              "what was set aside, and not touched");

    jpp_test.nginx.telemetry.n_holders = 0;
    jpp_shows(jpp_verdict_test_text(&output), "nobody holds anything");
}


/* Acknowledged, it yields first place; alone, it is still said. */

JPP_TEST(jpp_verdict_test_acknowledged)
{
    static jpp_output_t  output;

    jpp_standing_t *standing = jpp_test.nginx.telemetry.noted.standing;

    jpp_verdict_test_buffers(1, 120 * JPP_TEST_MIB, 30);
    jpp_test.nginx.telemetry.now = 1795236015;
    jpp_test.nginx.workers[0].activity.usage.swap = 20 * JPP_TEST_MIB;

    jpp_verdict_test_shows("two findings");

    standing[JPP_FINDING_SWAP].since = 1795236000;
    standing[JPP_FINDING_SWAP].acknowledged = 1795236010;

    jpp_verdict_test_shows("the other one, and one more");
    jpp_shows(jpp_verdict_test_text(&output), "one is acknowledged");

    standing[JPP_FINDING_ODD_WORKER].acknowledged = 1795236012;

    jpp_verdict_test_shows("all are known: healthy");

    jpp_test.nginx.workers[0].activity.usage.swap = 0;
    jpp_verdict_test_shows("acknowledged");
}


static void
jpp_verdict_test_page(const jpp_fleet_t *fleet, jpp_sink_t *sink)
{
    jpp_console_t  console = { 0 };

    static const jpp_console_link_t  links[] = {
        { "memory", "Every byte.", "curl \"${URL}memory\"", false, false },
        { "heap", "What is allocated.", "curl \"${URL}heap\"", false, false },
        { NULL, NULL, NULL, false, false }
    };

    (void) fleet;

    console.telemetry = &jpp_test.nginx.telemetry;
    console.links = links;

    jpp_console_html(&console, sink);
}


/* The rows of owners of the page in OUTPUT. */

static const char *
jpp_verdict_test_rows(jpp_output_t *output)
{
    char  *rows, *end;

    jpp_ok(jpp_output_fill(output, jpp_verdict_test_page,
                           &jpp_test.nginx.fleet, 0) == 0, "written as a page");

    rows = strstr(output->text, "<tbody>\n");
    end = rows != NULL ? strstr(rows, "</tbody>") : NULL;

    if (!jpp_ok(end != NULL, "with owners")) {
        return NULL;
    }

    *end = '\0';

    return rows;
}


/* Five owners are named, for a terminal and on a page; a name that has no room
   is cut, and what else was found is said. */

JPP_TEST(jpp_verdict_test_owners)
{
    size_t               i;
    jpp_holder_t         holders[JPP_VERDICT_OWNERS + 1];

    static char          longest[2][120];
    static jpp_output_t  output;

    memset(holders, 0, sizeof(holders));
    memset(longest, 'x', sizeof(longest));
    strcpy(longest[0] + 100, " has no room");
    longest[1][100] = '\0';

    for (i = 0; i <= JPP_VERDICT_OWNERS; i++) {
        holders[i].who = i < 2 ? longest[i] : "zone <a>";
        holders[i].where = "a place";
        holders[i].what = holders[i].who;
        holders[i].bound = i == 2 ? "a & b" : "";
        holders[i].place = i == 2 ? "<a>.conf:41" : "";
        holders[i].bytes = (10 - i) * JPP_TEST_MIB;
    }

    jpp_test_begin();
    jpp_test.nginx.workers[0].activity.usage.swap = 20 * JPP_TEST_MIB;
    jpp_test.nginx.workers[1].stats.allocated = 80 * JPP_TEST_MIB;
    jpp_test.nginx.workers[1].stats.active = 80 * JPP_TEST_MIB;

    jpp_test.nginx.telemetry.holders = holders;
    jpp_test.nginx.telemetry.n_holders = JPP_VERDICT_OWNERS + 1;

    jpp_shows(jpp_verdict_test_text(&output), "five of six owners");
    jpp_shows(jpp_verdict_test_rows(&output), "five of six on a page");

    jpp_test.nginx.telemetry.n_holders = 0;
    jpp_shows(jpp_verdict_test_rows(&output), "none on a page");
}


/* A finding has links to what explains it, and no others. */

JPP_TEST(jpp_verdict_test_remedies)
{
    static jpp_output_t  output;

    jpp_test.nginx.workers[2].activity.usage.rss_anon = 74 * JPP_TEST_MIB;
    jpp_test.nginx.workers[2].jemalloc.mappers = 1 << JPP_MAPPER_LUAJIT;

    (void) jpp_verdict_test_end();
    (void) jpp_output_fill(&output, jpp_verdict_test_page,
                           &jpp_test.nginx.fleet, 0);

    jpp_has(output.text, " <a href=\"memory?format=top\">A table of every "
            "byte</a></p>\n", "its own");
    jpp_lacks(output.text, "Growth of the heap", "another's");
    jpp_lacks(output.text, "Return this memory now", "nor what is not served");
}


/* A thousand owners of one size: in the order of their names. */

JPP_TEST(jpp_verdict_test_thousand)
{
    size_t               i;
    const jpp_holder_t  *holders;

    static char  names[1000][8];

    (void) jpp_pools_init(&jpp_test.tables[0], &arena,
                          JPP_POOLS_NO_UNITS, 0);

    for (i = 0; i < 1000; i++) {
        (void) snprintf(names[i], sizeof(names[i]), "/%03zu", (i * 7) % 1000);

        (void) jpp_test_holds(&jpp_test.tables[0], JPP_POOLS_REQUEST, "www",
                              names[i], NULL, 4096);
    }

    jpp_verdict_test_shows("a thousand, none of which is worth a name");

    holders = jpp_test.nginx.telemetry.holders;

    jpp_is_u64(jpp_test.nginx.telemetry.n_holders, 1000, "all are there");
    jpp_has(holders[0].who, "location /000 of www", "the first");
    jpp_has(holders[jpp_test.nginx.telemetry.n_holders - 1].who,
            "location /999 of www", "and the last");
}


/* Of two of one size the first is the example. */

JPP_TEST(jpp_verdict_test_equal)
{
    jpp_pools_t  *table;

    jpp_verdict_test_buffers(1, 60 * JPP_TEST_MIB, 1);
    jpp_verdict_test_buffers(1, 60 * JPP_TEST_MIB, 1);

    table = &jpp_test.tables[1];
    jpp_vec_items(table->units, jpp_pools_unit_t)[1].bound_number = 32;

    jpp_verdict_test_shows("two requests");
}


JPP_TEST(jpp_verdict_test_missing)
{
    jpp_missing_t  missing[2] = {
        { { 2, 2280, 1 }, "it is stopped by a signal" },
        { { 3, 2281, 1 }, "it is stopped by a signal" }
    };

    static jpp_stall_t  stalls[3];

    jpp_verdict_test_buffers(1, 120 * JPP_TEST_MIB, 30);

    jpp_test.nginx.fleet.missing = missing;
    jpp_test.nginx.fleet.n_missing = 1;

    jpp_verdict_test_shows("one is missing, and there is more");

    /* what keeps it is known while it lasts */

    stalls[0].pid = 2280;
    stalls[0].state = JPP_STALL_DIED;
    stalls[1].pid = 2281;
    stalls[2].pid = 2280;
    stalls[2].nanos = 12000000000;
    strcpy(stalls[2].location, "/slow");
    strcpy(stalls[2].server, "www");
    strcpy(stalls[2].where, "blocked in f");

    jpp_test.nginx.telemetry.stalls = stalls;
    jpp_test.nginx.telemetry.n_stalls = 3;

    jpp_verdict_test_shows("by whom");

    jpp_test.nginx.telemetry.n_stalls = 1;
    jpp_test.nginx.fleet.n_missing = 2;

    jpp_verdict_test_shows("missing");

    jpp_test_begin();
    jpp_test.nginx.fleet.n = 0;

    jpp_verdict_test_shows("missing");
}


JPP_TEST(jpp_verdict_test_stalls)
{
    static jpp_stall_t  stall;

    jpp_test.nginx.workers[0].activity.minute.slow = 1200;
    stall.pid = jpp_test.nginx.workers[0].who.pid;
    stall.state = JPP_STALL_OVER;
    stall.nanos = 1200000000;
    strcpy(stall.location, "/slow");
    strcpy(stall.server, "www");
    strcpy(stall.where, "blocked in f");

    jpp_verdict_test_shows("nobody knows what blocks a loop");

    jpp_test_begin();
    jpp_verdict_test_buffers(1, 120 * JPP_TEST_MIB, 30);
    jpp_test.nginx.workers[0].activity.minute.slow = 1200;
    jpp_verdict_test_shows("which then stands back, but is there");

    jpp_test.nginx.telemetry.stalls = &stall;
    jpp_test.nginx.telemetry.n_stalls = 1;

    jpp_verdict_test_shows("stalls");
}


JPP_TEST(jpp_verdict_test_healthy)
{
    jpp_cgroup_t  *cgroup;

    jpp_verdict_test_shows("healthy");

    jpp_test_begin();

    cgroup = &jpp_test.nginx.cgroup;
    cgroup->binding = 0;
    cgroup->levels[0].limit = 1024 * JPP_TEST_MIB;
    cgroup->levels[0].usage = 100 * JPP_TEST_MIB;
    cgroup->headroom = 924 * JPP_TEST_MIB;

    jpp_verdict_test_shows("healthy");
}


/* Who holds more than a tenth is named. */

JPP_TEST(jpp_verdict_test_share)
{
    unsigned          more;
    jpp_holder_t      holder = { 0 };
    jpp_verdict_t     verdict;
    jpp_telemetry_t  *telemetry;

    holder.who = "zone one";
    holder.bound = "";
    holder.place = "";
    holder.bytes = 24 * JPP_TEST_MIB / 100 * 10;

    telemetry = &jpp_test.nginx.telemetry;
    telemetry->holders = &holder;
    telemetry->n_holders = 1;

    jpp_verdict(telemetry, NULL, 0, &verdict);
    jpp_is_str(verdict.text, "3 workers hold 24.0 MiB", "a tenth");

    holder.bytes++;
    jpp_verdict(telemetry, NULL, 0, &verdict);
    jpp_is_str(verdict.text, "3 workers hold 24.0 MiB, 2.4 MiB of it zone one",
               "more");

    for (more = 0; more < 2; more++) {
        holder.bytes = 24 * JPP_TEST_MIB + more;
        jpp_verdict(telemetry, NULL, 0, &verdict);
        jpp_has(verdict.text, more ? "set aside" : "24.0 MiB of it",
                "all of it, and %u more", more);
    }

    telemetry->n_holders = 0;
}


/* Names of 4 KB: their beginnings are the same, their ends are not. */

JPP_TEST(jpp_verdict_test_long)
{
    char  one[JPP_POOLS_NAME], other[JPP_POOLS_NAME];

    memset(one, 'x', sizeof(one));
    memcpy(one, "/begins/", 8);
    one[sizeof(one) - 1] = '\0';
    memcpy(other, one, sizeof(one));
    memcpy(other + 2000, "y", 1);

    (void) jpp_test_holds(&jpp_test.tables[0], JPP_POOLS_REQUEST, "www", one,
                          NULL, 4 * JPP_TEST_MIB);
    (void) jpp_test_holds(&jpp_test.tables[0], JPP_POOLS_REQUEST, "www", other,
                          NULL, 3 * JPP_TEST_MIB);

    jpp_verdict_test_shows("long");
}


/* Without memory there are no owners; nothing else is missing. */

JPP_TEST(jpp_verdict_test_memory)
{
    uint64_t  n, denied;

    for (n = 1; /* void */ ; n++) {
        jpp_test_begin();
        jpp_verdict_test_buffers(1, 120 * JPP_TEST_MIB, 30);

        denied = arena.n_calls + n;
        arena.fail_at = denied;
        (void) jpp_verdict_test_end();

        if (arena.n_calls < denied) {
            break;
        }

        jpp_has(jpp_test.verdict.text, "one worker holds much more than the "
                "others: worker 1", "allocation %" PRIu64, n);
        jpp_test.nginx.telemetry.n_holders = 0;
    }

    jpp_ok(n > 10, "all were tried");
}

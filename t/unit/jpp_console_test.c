
#include "jpp_test_main.h"
#include "jpp_answers.h"
#include "jpp_report.h"
#include "jpp_test_arena.h"
#include "jpp_test_fleet.h"
#include "jpp_test_golden.h"


static jpp_output_t     jpp_output, jpp_evil;
static jpp_zone_t       jpp_zone;
static jpp_system_t     jpp_system;
static jpp_console_t    jpp_console;
static jpp_telemetry_t  jpp_telemetry;


static jpp_fleet_t  fleet;


void
jpp_before_each(void)
{
    static const jpp_console_link_t  links[] = {
        { "heap", "What is allocated.", "go tool pprof \"${URL}heap\"",
          false, false },
        { "heap?format=jemalloc&worker=self", "One <worker>.", NULL, false,
          false },
        { "lua", "Where a worker has a VM.", NULL, false, true },
        { "control", "Changes.", "curl -d lg_sample=14 \"${URL}control\"",
          true, false },
        { NULL, NULL, NULL, false, false }
    };

    memset(&jpp_zone, 0, sizeof(jpp_zone_t));
    memset(&jpp_system, 0xff, sizeof(jpp_system_t));
    memset(&jpp_console, 0, sizeof(jpp_console_t));
    memset(&jpp_telemetry, 0, sizeof(jpp_telemetry_t));

    jpp_telemetry.system = &jpp_system;
    jpp_telemetry.zones = &jpp_zone;
    jpp_telemetry.now = 1795233720 + 2 * 3600 + 13 * 60 + 5;

    jpp_console.telemetry = &jpp_telemetry;
    jpp_console.links = links;
}


static jpp_cgroup_t
jpp_console_cgroup(uint64_t limit, uint64_t headroom)
{
    jpp_cgroup_t  cgroup;

    memset(&cgroup, 0xff, sizeof(jpp_cgroup_t));
    cgroup.n_levels = 1;
    cgroup.binding = 0;
    cgroup.levels[0].limit = limit;
    cgroup.headroom = headroom;

    return cgroup;
}


/* the shape that the helpers of jpp_test_fleet.h call */

static void
jpp_console_write(const jpp_fleet_t *of, jpp_sink_t *sink)
{
    jpp_telemetry.fleet = of;
    jpp_console_html(&jpp_console, sink);
}


/* The page of FLEET. */

static const char *
jpp_console_page(void)
{
    jpp_is_i64(jpp_output_fill(&jpp_output, jpp_console_write, &fleet, 0), 0,
               "written");

    return jpp_output.text;
}


/* What the page of FLEET has from FIRST on, up to BEHIND. */

static const char *
jpp_console_part(const char *first, const char *behind)
{
    char  *part, *end;

    part = strstr(jpp_console_page(), first);
    end = part != NULL ? strstr(part, behind) : NULL;

    if (!jpp_ok(end != NULL, "%s", first)) {
        return "";
    }

    *end = '\0';

    return part;
}


/* What the page runs is the module's own, and is not HTML. */

static void
jpp_console_drop_script(jpp_output_t *output)
{
    char  *script, *end;

    script = strstr(output->text, "<script>");
    end = strstr(output->text, "</script>");

    if (jpp_ok(script != NULL && end != NULL, "there is a script")) {
        script += strlen("<script>");
        memmove(script, end, strlen(end) + 1);
    }
}


static unsigned
jpp_console_count(const char *text)
{
    unsigned     n;
    const char  *p;

    n = 0;

    for (p = jpp_output.text; (p = strstr(p, text)) != NULL; p++) {
        n++;
    }

    return n;
}


JPP_TEST(jpp_test_page)
{
    jpp_worker_t   workers[2];
    jpp_missing_t  missing;

    workers[0] = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    workers[1] = jpp_fleet_worker(1, JPP_JEMALLOC_ABSENT);
    workers[1].is_exiting = true;
    workers[0].activity.connections = 512;
    workers[0].activity.connections_free = 499;
    workers[0].activity.loop.max = 42;
    workers[0].activity.minute.longest = 7;
    jpp_status_failed(&workers[0].last_error, 1795233781, "the <dump> failed");

    missing = (jpp_missing_t) {
        .who = { .index = 7, .pid = 4718, .generation = 1 }, .why = "it <ended>"
    };

    fleet = jpp_fleet_of(3, workers, 2);
    fleet.unnamed = "5 of 9 addresses have no name (a<b 5): do";
    fleet.missing = &missing;
    fleet.n_missing = 1;

    jpp_has(jpp_console_page(), "<!DOCTYPE html>\n<html lang=\"en\">\n"
            "<head>\n<meta charset=\"utf-8\">\n", "its type");
    jpp_has(jpp_output.text, "<p id=\"about\">nginx 1.22.1, jemalloc_pprof "
            "module " JPP_VERSION ", 2 of 3 workers answered</p>\n", "whose");
    jpp_shows(jpp_console_part("<title>", "<style>"), "its title");
    jpp_shows(jpp_console_part("<p id=\"live\">", "<script>"), "the page");
    jpp_ok(strstr(jpp_console_page(), "</body>\n</html>\n") != NULL, "its end");
}


JPP_TEST(jpp_test_verdict)
{
    size_t         i;
    jpp_cgroup_t   cgroup;
    jpp_worker_t   workers[2] = {
        jpp_fleet_worker(0, JPP_JEMALLOC_READY),
        jpp_fleet_worker(1, JPP_JEMALLOC_READY)
    };

    static const char  *said[] = {
        "nothing to say, and no cgroup", "room is left, and of what",
        "the most severe is first, and how many follow; cards, and the zone"
    };

    fleet = jpp_fleet_of(2, workers, 2);

    workers[0].activity.usage.rss_anon = 3 * 1024 * 1024;
    workers[1].activity.usage.rss_anon = JPP_NONE;
    cgroup = jpp_console_cgroup(1024 * 1024 * 1024, 512 * 1024 * 1024);

    for (i = 0; i < 3; i++) {
        if (i == 1) {
            jpp_telemetry.cgroup = &cgroup;
            fleet.n = 1;
        }

        if (i == 2) {
            jpp_telemetry.noted.unclean_exits = 1;
            jpp_telemetry.noted.vanished.at = jpp_telemetry.now;
            jpp_telemetry.n_zones = 1;
            jpp_zone.name = "a<b";
            jpp_zone.name_len = 3;
            jpp_zone.failures = 1;
        }

        jpp_shows(jpp_console_part("<p id=\"verdict\"",
                                   "<section id=\"workers\""), "%s", said[i]);
    }

    jpp_has(jpp_console_page(), "<th scope=\"row\">zone a&lt;b</th>",
            "and the zone");
}


/* What the first screen says of an RSS that grows from 33 MiB to 45. */

JPP_TEST(jpp_test_tiles)
{
    size_t         i;
    jpp_cgroup_t   cgroup;
    jpp_held_t    *held;
    jpp_worker_t   worker;

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    worker.activity.usage.rss_anon = 30 * JPP_FINDING_MIB;
    worker.activity.connections = 16384;
    worker.activity.connections_free = 16384 - 14004;
    worker.activity.minute.longest = 1300;

    held = &jpp_telemetry.held;

    for (i = 0; i <= 60; i += 5) {
        jpp_held_add(held, 1 + i * 1000, 20 * JPP_FINDING_MIB,
                     (33 + i / 5) * JPP_FINDING_MIB);
    }

    cgroup = jpp_console_cgroup(100 * JPP_FINDING_MIB, 10 * JPP_FINDING_MIB);
    cgroup.stat.inactive_file = 2 * JPP_FINDING_MIB;
    jpp_telemetry.cgroup = &cgroup;
    jpp_telemetry.noted.requests = 10006785;

    fleet = jpp_fleet_of(1, &worker, 1);
    jpp_shows(jpp_console_part("<dl id=\"tiles\"", "<div id=\"findings\""),
              "what the workers hold, and how that went; the limit, with pages "
              "of files that go first; a stall of a second; and axes");

    held->all.rss[0] = held->all.rss[12];
    jpp_has(jpp_console_part("<dl id=\"tiles\"", "<div id=\"findings\""),
            "\"grown\">0 B an hour<", "it is what it was");

    for (i = 5; i <= 20; i += i) {
        cgroup.headroom = (i - 2) * JPP_FINDING_MIB;
        jpp_has(jpp_console_part("<dl id=\"tiles\"", "<div id=\"findings\""),
                i == 5 ? "\"bad\"><dt>left below"
                : i == 10 ? "\"fair\"><dt>left below"
                          : "\"good\"><dt>left below", "%zu %% are left", i);
    }

    /* less than a minute, no limit, and nobody counts requests */

    held->all.n = 12;
    jpp_telemetry.cgroup = NULL;
    jpp_telemetry.noted.requests = JPP_NONE;
    worker.activity.minute.longest = 99;

    jpp_shows(jpp_console_part("<dl id=\"tiles\"", "<section id=\"largest\""),
              "less than a minute, no limit, no requests, and 99 ms");
}


/* The owners that held most at any time, the largest as the lowest area. */

JPP_TEST(jpp_test_layers)
{
    uint64_t      i, k;
    char          who[16];
    jpp_held_t   *held;
    jpp_worker_t  worker;

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    held = &jpp_telemetry.held;
    memset(held, 0, sizeof(jpp_held_t));

    for (i = 0; i <= 60; i += 5) {
        jpp_held_begin(held);

        for (k = 1; k <= 6; k++) {
            jpp_print(who, "owner <%" PRIu64 ">", k);
            jpp_held_see(held, who, "", k * (1 + i / 30) * JPP_FINDING_MIB);
        }

        jpp_held_add(held, 1 + i * 1000, 20 * JPP_FINDING_MIB,
                     60 * JPP_FINDING_MIB);
    }

    fleet = jpp_fleet_of(1, &worker, 1);
    jpp_shows(jpp_console_part("<section id=\"time\"", "</section>"),
              "four of six owners, as layers");

    memset(held, 0, sizeof(jpp_held_t));
}


/* The largest owners, and no more than five. */

JPP_TEST(jpp_test_owners)
{
    size_t        i;
    jpp_worker_t  worker;
    jpp_holder_t  holders[7];

    memset(holders, 0, sizeof(holders));

    for (i = 0; i < 7; i++) {
        holders[i].what = i == 0 ? "upstream <buffers>" : "";
        holders[i].where = i == 0 ? "location /a&b/ of www" : "zone z";
        holders[i].bound = i == 0 ? "proxy_buffers 64 64k" : "";
        holders[i].place = i == 0 ? "a.conf:1" : "";
        holders[i].bytes = (10 - i) * JPP_FINDING_MIB;
        holders[i].who = "";
    }

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    worker.activity.usage.rss_anon = 40 * JPP_FINDING_MIB;
    fleet = jpp_fleet_of(1, &worker, 1);

    jpp_telemetry.holders = holders;
    jpp_telemetry.n_holders = 7;

    jpp_shows(jpp_console_part("<section id=\"largest\"",
                               "<section id=\"time\""), "the five largest");
}


/* A worker that stands out is not folded; its cell says why. */

JPP_TEST(jpp_test_folded)
{
    size_t        i;
    jpp_worker_t  workers[12];

    for (i = 0; i < 12; i++) {
        workers[i] = jpp_fleet_worker((uint32_t) i, JPP_JEMALLOC_READY);
        workers[i].activity.usage.rss_anon = 10 * JPP_FINDING_MIB;
        workers[i].activity.connections = 100;
        workers[i].activity.connections_free = 20;
        workers[i].activity.minute.longest = 99;
    }

    fleet = jpp_fleet_of(12, workers, 8);
    (void) jpp_console_page();
    jpp_is_u64(jpp_console_count("class=\"fold\""), 0, "eight are not folded");
    jpp_is_u64(jpp_console_count("<tr class=\"calm\">"), 8, "none stands out");

    workers[0].activity.usage.rss_anon = 26 * JPP_FINDING_MIB;
    (void) jpp_console_page();
    jpp_is_u64(jpp_console_count("<tr class=\"calm\">"), 8,
               "nor one with 16 MiB more");

    workers[0].activity.usage.rss_anon = 27 * JPP_FINDING_MIB;
    workers[1].activity.connections_free = 19;
    workers[2].activity.connections_free = 9;
    workers[3].activity.minute.longest = 100;
    workers[4].activity.minute.longest = 1000;
    workers[5].jemalloc.state = JPP_JEMALLOC_INACTIVE;
    workers[6].is_exiting = true;
    jpp_status_failed(&workers[7].last_error, 1795233781, "it failed");

    fleet = jpp_fleet_of(12, workers, 12);
    jpp_shows(jpp_console_part("<details class=\"fold\"",
                               "<table class=\"shared\""),
              "four are folded; memory, connections and stalls that stand out");
}


JPP_TEST(jpp_test_no_worker)
{
    fleet = jpp_fleet_of(4, NULL, 0);
    jpp_has(jpp_console_page(), "0 of 4 workers answered<",
            "how many there are");
    jpp_shows(jpp_console_part("<p id=\"verdict\"",
                               "<details id=\"resources\""), "no worker");
}


/* a problem of several workers is shown once, with the pids of all */

JPP_TEST(jpp_test_problems)
{
    unsigned      i;
    jpp_worker_t  workers[5];

    for (i = 0; i < 5; i++) {
        workers[i] = jpp_fleet_worker(i, JPP_JEMALLOC_READY);
        workers[i].jemalloc.accum = i != 0 && i != 3;
    }

    workers[2].jemalloc.state = JPP_JEMALLOC_INACTIVE;
    workers[1].jemalloc.lg_sample = 21;
    workers[4].jemalloc.lg_sample = 22;

    fleet = jpp_fleet_of(5, workers, 5);
    jpp_shows(jpp_console_part("<div id=\"findings\"",
                               "<section id=\"workers\""),
              "one of three workers, one row in two words, and a fatal one");

    for (i = 0; i < 5; i++) {
        workers[i] = jpp_fleet_worker(i, JPP_JEMALLOC_OFF);
    }

    strcpy(workers[2].jemalloc.version, "5.3.1");
    workers[4].jemalloc.variable = "_RJEM_MALLOC_CONF";

    jpp_shows(jpp_console_part("<div id=\"findings\"",
                               "<section id=\"workers\""),
              "the same, another version, and another variable");

    for (i = 0; i < 5; i++) {
        workers[i] = jpp_fleet_worker(i, JPP_JEMALLOC_READY);
    }

    jpp_lacks(jpp_console_page(), "Problems", "nothing is wrong");
}


/* The name of the tag at or behind P, and what follows it; NULL: no more. */

static const char *
jpp_console_tag(const char *p, char name[16])
{
    size_t  len;

    p = strchr(p, '<');
    if (p == NULL) {
        return NULL;
    }

    len = strcspn(++p, " >");
    len = len < 15 ? len : 15;

    memcpy(name, p, len);
    name[len] = '\0';

    return p;
}


/* Every element is closed, in order; none runs or fetches anything. */

JPP_TEST(jpp_test_tags)
{
    char           name[16], open[32][16];
    unsigned       i, n, depth, wrong;
    const char    *p;
    jpp_worker_t   workers[6];

    static const char  *bad[] = {
        "<img", "<link", "<iframe", "<object", "<base",
        " on", " src=", " style=", "url(", "@import", "javascript:", "data:"
    };

    for (i = 0; i < 6; i++) {
        workers[i] = jpp_fleet_worker(i, (jpp_jemalloc_state_t) i);
    }

    fleet = jpp_fleet_of(6, workers, 6);
    jpp_console.has_control = true;
    (void) jpp_console_page();
    jpp_console_drop_script(&jpp_output);

    n = 0;
    depth = 0;
    wrong = 0;

    for (p = jpp_output.text; (p = jpp_console_tag(p, name)) != NULL; n++) {
        if (strcmp(name, "!DOCTYPE") == 0 || strcmp(name, "meta") == 0
            || strcmp(name, "input") == 0 || strcmp(name, "rect") == 0)
        {
            continue;
        }

        if (name[0] != '/') {
            memcpy(open[depth < 31 ? depth : 31], name, 16);
            depth++;
            continue;
        }

        if (depth == 0 || depth > 31 || strcmp(open[--depth], name + 1) != 0) {
            jpp_diag("%s closes nothing", name);
            wrong++;
            break;
        }
    }

    jpp_is_u64(wrong, 0, "each of %u tags has its other", n);
    jpp_is_u64(depth, 0, "to the last");
    jpp_ok(n > 200, "and there were many");

    /* in attributes and style, not in sentences */

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        wrong = 0;

        for (p = jpp_output.text; (p = strstr(p, bad[i])) != NULL; p++) {
            wrong += bad[i][0] != ' ' || strcspn(p, ">") < strcspn(p, "<");
        }

        jpp_is_u64(wrong, 0, "nothing like \"%s\"", bad[i]);
    }
}


/*
 * The table of workers, to the letter, where no two numbers are the same: two
 * that run, two that end, of which one says little, and one more that does not
 * count.
 */

JPP_TEST(jpp_test_table)
{
    size_t          i, k;
    jpp_cgroup_t    cgroup;
    jpp_worker_t    workers[5];
    jpp_history_t   history;

    static const struct {
        uint64_t     free;
        const char  *cell;
    } zones[] = {
        { 200000, "<td class=\"n\" data-l=\"used\">781.3 KiB" },
        { 199999, "<td class=\"n fair\" data-l=\"used\">781.3 KiB" },
        { 100000, "<td class=\"n fair\" data-l=\"used\">878.9 KiB" },
        { 99999, "<td class=\"n bad\" data-l=\"used\">878.9 KiB" }
    };

    for (i = 0; i < 5; i++) {
        workers[i] = jpp_fleet_worker((uint32_t) i, JPP_JEMALLOC_READY);
        workers[i].is_exiting = i >= 2;
        workers[i].started += (int64_t) i * 1000;
        workers[i].stats.allocated = (i + 1) * 11000000;
        workers[i].stats.active = (i + 1) * 12000000;
        workers[i].stats.resident = (i + 1) * (i == 1 ? 12000000 : 13500000);
        workers[i].activity.usage.rss_anon = (i + 1) * 14100000;
        workers[i].activity.usage.rss_file = 3000000 - i * 100000;
        workers[i].activity.usage.rss_shmem = 400000;
        workers[i].activity.usage.rss = (i + 1) * 15000000;
        workers[i].activity.connections = 512 + i;
        workers[i].activity.connections_free = 400 - i * 100;
        workers[i].activity.loop.max = i == 2 ? 90 : 40 + i;
        workers[i].activity.minute.longest = i == 2 ? 30 : 7 + i;
    }

    workers[3].activity.usage.rss_file = JPP_NONE;
    workers[3].activity.usage.rss_anon = JPP_NONE;

    jpp_history_init(&history);
    history.n = 3;

    for (k = 0; k < 3; k++) {
        history.allocated[k] = (2 * k * 7919 % 13 + 1) * 3000000;
        history.rss[k] = ((2 * k + 1) * 7919 % 13 + 1) * 3000000;
    }

    workers[0].history = &history;

    cgroup = jpp_console_cgroup(1024 * 1024 * 1024, 300 * 1024 * 1024);
    jpp_telemetry.cgroup = &cgroup;
    jpp_telemetry.n_zones = 1;

    jpp_zone.name = "a<b";
    jpp_zone.name_len = 3;
    jpp_zone.size = 1000000;
    jpp_zone.free = 300000;

    fleet = jpp_fleet_of(4, workers, 4);
    jpp_shows(jpp_console_part("<table class=\"workers\">",
                               "</section>"), "two tables");

    for (i = 0; i < jpp_nelts(zones); i++) {
        jpp_zone.free = zones[i].free;
        jpp_has(jpp_console_page(), zones[i].cell, "%" PRIu64 " bytes free",
                jpp_zone.free);
    }
}


/* Strings from outside cannot open or close a tag or an attribute. */

JPP_TEST(jpp_test_evil)
{
    char           host[20000], tame_name[16], evil_name[16];
    unsigned       i, wrong;
    const char    *tame, *evil;
    jpp_worker_t   workers[6];
    jpp_missing_t  missing = { .who = { .pid = INT64_MIN },
                               .why = JPP_FLEET_EVIL };

    memset(host, '<', sizeof(host));
    host[sizeof(host) - 1] = '\0';

    for (i = 0; i < 6; i++) {
        workers[i] = jpp_fleet_evil(i, (jpp_jemalloc_state_t) i);
    }

    fleet = jpp_fleet_of(6, workers, 6);
    fleet.nginx = JPP_FLEET_EVIL;
    fleet.host = host;
    fleet.missing = &missing;
    fleet.n_missing = 1;
    jpp_is_i64(jpp_output_fill(&jpp_evil, jpp_console_write, &fleet, 0), 0,
               "written");

    for (i = 0; i < 6; i++) {
        strcpy(workers[i].jemalloc.allocator, "libc.so.6");
        strcpy(workers[i].jemalloc.version, "5.3.0");
        workers[i].jemalloc.variable = "MALLOC_CONF";
        jpp_status_failed(&workers[i].last_error, 0, "the dump failed");
    }

    missing.why = "it ended";

    fleet = jpp_fleet_of(6, workers, 6);
    fleet.missing = &missing;
    fleet.n_missing = 1;

    tame = jpp_console_page();
    evil = jpp_evil.text;

    for (wrong = 0; wrong == 0; /* void */ ) {
        tame = jpp_console_tag(tame, tame_name);
        evil = jpp_console_tag(evil, evil_name);

        if (tame == NULL || evil == NULL) {
            wrong += tame != evil;
            break;
        }

        wrong += strcmp(tame_name, evil_name) != 0;
    }

    jpp_is_u64(wrong, 0, "the same tags as of tame strings");

    for (i = 0, wrong = 0; i < jpp_evil.len; i++) {
        wrong += (unsigned char) jpp_evil.text[i] >= 0x7f
                 || (jpp_evil.text[i] < 0x20 && jpp_evil.text[i] != '\n');
    }

    jpp_is_u64(wrong, 0, "it is printable ASCII");

    jpp_ok(strstr(jpp_evil.text, "\">nginx &quot;&#39;\\&lt;/pre&gt;&lt;"
                  "script&gt;&amp;amp;?\n?????????%s%n, ") != NULL,
           "all is there, escaped");
}


/* Links are to what is served, and to nothing else. */

JPP_TEST(jpp_test_links)
{
    jpp_worker_t  worker;

    static const jpp_console_link_t  none[] = {
        { "status", "The state.", "curl", false, false },
        { NULL, NULL, NULL, false, false }
    };

    static const jpp_console_link_t  all[] = {
        { "profile?format=top", "CPU.", "curl", false, false },
        { "stalls", "What kept it.", "curl", false, false },
        { "pools", "Who has it.", "curl", false, false },
        { NULL, NULL, NULL, false, false }
    };

    worker = jpp_fleet_worker(3, JPP_JEMALLOC_READY);
    fleet = jpp_fleet_of(1, &worker, 1);

    jpp_console.links = none;
    (void) jpp_console_page();
    jpp_console_drop_script(&jpp_output);
    jpp_is_u64(jpp_console_count(" href="), 1, "nothing else is served");

    jpp_console.links = all;

    jpp_has(jpp_console_page(),
            "<a href=\"profile?seconds=10&amp;format=html&amp;worker=3\">"
            "CPU: the next 10 seconds</a>",
            "the CPU of a worker");
    jpp_has(jpp_output.text, "<a href=\"stalls?format=html&amp;worker=3",
            "what has kept it");
    jpp_has(jpp_output.text, "<a href=\"pools?format=html\">all of them</a>",
            "who has it");
    jpp_lacks(jpp_output.text, "<a id=\"heap\"", "but no heap");
}


static void
jpp_test_outcome(void)
{
    jpp_outcome_t  outcome;

    static const char  query[] = "ok=1&of=2&bytes=2097152&purge=1";

    jpp_ok(jpp_outcome_read(&outcome, query, strlen(query)), "an outcome");

    jpp_has(jpp_console_page(), "<p id=\"outcome\" role=\"status\"></p>",
            "nothing was done");

    jpp_console.outcome = &outcome;
    (void) jpp_console_page();
    jpp_console.outcome = NULL;

    jpp_has(jpp_output.text, "<p id=\"outcome\" role=\"status\" "
            "class=\"bad\">1 of 2 workers applied the change; 2.0 MiB went "
            "back to the kernel. Last errors below the workers say why ",
            "what was done, and what was not");
}


/* A form for each change that makes sense, where control is on. */

JPP_TEST(jpp_test_acts)
{
    size_t        i;
    const char   *p;
    jpp_worker_t  worker;

    static const jpp_snapshot_t  none;

    static const struct {
        jpp_jemalloc_state_t   state;
        bool                   has_sampler;
        bool                   is_watched;     /* for stalls, and owners */
    } rows[] = {
        { JPP_JEMALLOC_READY, false, false },
        { JPP_JEMALLOC_INACTIVE, false, true },
        { JPP_JEMALLOC_ABSENT, false, false },
        { JPP_JEMALLOC_ABSENT, true, true },
        { JPP_JEMALLOC_READY, true, false }
    };

    jpp_console.has_control = true;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        worker = jpp_fleet_worker(0, rows[i].state);
        worker.sampler.is_on = rows[i].has_sampler;
        worker.sampler.lg_sample = 12;
        worker.stalling.threshold = rows[i].is_watched ? 100 : 0;
        worker.has_owners = rows[i].is_watched;
        worker.stats.dirty = 3 * 1024 * 1024;
        worker.stats.muzzy = 1024 * 1024;
        fleet = jpp_fleet_of(1, &worker, 1);

        p = jpp_console_page();

        for ( /* void */ ; (p = strstr(p, "id=\"act-")) != NULL; p++) {
            jpp_note("%s, sampler %d, watched %d: %.*s",
                     jpp_status_words[rows[i].state], rows[i].has_sampler,
                     rows[i].is_watched, (int) strcspn(p + 8, "\""), p + 8);
        }
    }

    jpp_shows_notes("a form for each change that makes sense");
    jpp_shows(jpp_console_part("<section id=\"acts\"", "</section>"),
              "what a purge returns, the rates, and what is lost");
    jpp_test_outcome();

    jpp_is_u64(jpp_console_count("id=\"act-snapshot\""), 0,
               "none are taken");
    jpp_telemetry.snapshots = &none;
    (void) jpp_console_page();
    jpp_is_u64(jpp_console_count("id=\"act-snapshot\""), 1, "or they are");

    jpp_console.has_control = false;
    (void) jpp_console_page();
    jpp_is_u64(jpp_console_count("<form"), 0, "no control, no form");
    jpp_is_u64(jpp_console_count("id=\"acts\""), 0, "and nothing of it");
}


/* A finding leads to what helps, where that is served. */

JPP_TEST(jpp_test_remedies)
{
    jpp_worker_t  worker;

    static const jpp_console_link_t  links[] = {
        { "memory?format=top", "All of it.", "curl", false, false },
        { NULL, NULL, NULL, false, false }
    };

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    worker.stats.dirty = worker.stats.resident = 200 * 1024 * 1024;
    worker.stats.muzzy = 0;
    worker.activity.usage.rss_anon = 390 * 1024 * 1024;
    fleet = jpp_fleet_of(1, &worker, 1);

    jpp_shows(jpp_console_part("<div id=\"findings\"",
                               "<section id=\"workers\""),
              "no control, no form; no memory, no ledger");

    jpp_console.links = links;
    jpp_console.has_control = true;

    jpp_shows(jpp_console_part("<div id=\"findings\"",
                               "<section id=\"workers\""),
              "the form below, and the ledger");
    jpp_has(jpp_console_page(),
            "<a href=\"memory?format=top&amp;worker=0\">"
            "a table of every byte</a>", "and that of the worker");
}


/* What would be refused is not fetched. */

JPP_TEST(jpp_test_samples)
{
    jpp_worker_t  workers[2];

    workers[0] = jpp_fleet_worker(0, JPP_JEMALLOC_OFF);
    workers[1] = jpp_fleet_worker(1, JPP_JEMALLOC_ABSENT);
    fleet = jpp_fleet_of(2, workers, 2);

    jpp_shows(jpp_console_part("<div id=\"findings\"",
                               "<details id=\"resources\""),
              "no worker takes samples: a sentence, and no picture");

    workers[1].sampler.is_on = true;
    workers[1].sampler.since = 1795233720;
    jpp_shows(jpp_console_part("<section id=\"workers\"",
                               "<details id=\"resources\""),
              "one does, and since when");

    workers[0] = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    workers[0].coverage = (jpp_coverage_t) { 1795233781, 1795233780, 1 };
    fleet = jpp_fleet_of(1, workers, 1);
    jpp_shows(jpp_console_part("<div id=\"findings\"",
                               "<details id=\"resources\""),
              "by jemalloc, too, and a card for a gap");

    workers[0].jemalloc.state = JPP_JEMALLOC_INACTIVE;
    jpp_lacks(jpp_console_page(), "complete since", "not while it is off");
}


/* What ELEMENT of the page holds, as perl hashes it. */

static const char *
jpp_console_hash(const char *element)
{
    char         first[16], behind[16];
    const char  *text, *end;

    static jpp_output_t  hash;

    jpp_print(first, "<%s>", element);
    jpp_print(behind, "</%s>", element);

    text = strstr(jpp_output.text, first);
    end = strstr(jpp_output.text, behind);

    if (jpp_ok(text != NULL && end != NULL, "there is a %s", element)) {
        text += strlen(first);
        jpp_output_filter("perl -MDigest::SHA=sha256_base64 -0777 -ne 'print "
                          "sha256_base64($_)'", text, (size_t) (end - text),
                          &hash);
    }

    return hash.text;
}


/* the browser takes style and script only if their hashes are the policy's */

JPP_TEST(jpp_test_policy)
{
    char  expected[600];

    fleet = jpp_fleet_of(0, NULL, 0);
    (void) jpp_console_page();

    jpp_print(expected, "; style-src 'sha256-%s='; img-src blob:; connect-src "
              "'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
              "'none'; trusted-types 'none'; require-trusted-types-for "
              "'script'", jpp_console_hash("style"));

    jpp_has(jpp_console_policy, expected,
            "its style, and no more than it needs");

    jpp_print(expected, "default-src 'none'; script-src 'sha256-%s='; ",
              jpp_console_hash("script"));

    jpp_ok(strstr(jpp_console_policy, expected) == jpp_console_policy,
           "its script");
    jpp_ok(strstr(jpp_console_policy_control, expected)
           == jpp_console_policy_control, "with control, too");
    jpp_has(jpp_console_policy_control, "; form-action 'self'; ",
            "which has forms");
}


static void
jpp_console_live(jpp_worker_t *worker, jpp_history_t *history, uint32_t index)
{
    uint64_t         i;

    static uint64_t  random = 88172645463325252ULL;

    *worker = jpp_fleet_worker(index, JPP_JEMALLOC_READY);
    worker->history = history;
    worker->activity.connections = 16384;

    history->interval = 640;
    history->n = JPP_HISTORY_POINTS;

    for (i = 0; i < JPP_HISTORY_POINTS; i++) {
        /* xorshift64 */

        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;

        history->rss[i] = random % (1 << 30);
        history->allocated[i] = random % (1 << 29);
    }

    worker->activity.usage.rss = random % (1 << 30);
    worker->activity.usage.rss_anon = random % (1 << 29);
    worker->stats.allocated = random % (1 << 28);
    worker->activity.connections_free = random % 16384;
    worker->activity.loop.max = random % 1000;
}


/* The bytes of the page of N workers, compressed; 0: it was not written. */

static size_t
jpp_console_size(size_t n)
{
    size_t          i, len;
    uint8_t        *buffer;
    jpp_vec_t      *out;
    jpp_gzip_t      gz;
    jpp_sink_t      sink;
    jpp_worker_t   *workers;
    jpp_history_t  *histories;

    jpp_test_anew();

    out = jpp_vec_create(&arena);
    buffer = jpp_arena_alloc(&arena, JPP_SINK_BUFFER);
    workers = jpp_arena_alloc(&arena, n * sizeof(jpp_worker_t));
    histories = jpp_arena_alloc(&arena, n * sizeof(jpp_history_t));

    for (i = 0; i < n; i++) {
        jpp_console_live(&workers[i], &histories[i], (uint32_t) i);
    }

    fleet = jpp_fleet_of((uint32_t) n, workers, n);
    len = 0;

    jpp_sink_init(&sink, buffer, JPP_SINK_BUFFER, jpp_sink_to_vec, out);

    if (jpp_gzip_open(&gz, &arena, 9, &sink)) {
        jpp_console_write(&fleet, &gz.sink);

        if (jpp_gzip_close(&gz) == 0 && jpp_sink_flush(&sink) == 0) {
            len = out->len;
        }
    }

    return len;
}


JPP_TEST(jpp_test_shown)
{
    jpp_worker_t  workers[1];

    static const jpp_snapshot_t      snapshot = { .id = 7, .time = 1795233720 };
    static const jpp_console_link_t  links[] = {
        { "pools", "Pools.", NULL, false, false },
        { NULL, NULL, NULL, false, false }
    };

    workers[0] = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    fleet = jpp_fleet_of(1, workers, 1);

    jpp_console.links = links;
    jpp_telemetry.noted.vanished.at = 1795233721;
    jpp_telemetry.now = 1795233725;
    jpp_telemetry.snapshots = &snapshot;
    jpp_telemetry.n_snapshots = 1;

    jpp_has(jpp_console_page(), "<a href=\"pools?at=7&amp;format=top\">Whose "
            "memory it was</a>", "a finding leads to its snapshot");
}


/* Workers with 120 points that have nothing to do with each other. */

JPP_TEST(jpp_test_size)
{
    size_t  i, eight, many;

    static jpp_snapshot_t  list[24];

    for (i = 0; i < 24; i++) {
        list[i].id = 100 + i * i;
        list[i].time = 1795233720 + (int64_t) (i * i * 97);
        list[i].reason = JPP_SNAPSHOT_LIMIT;
        list[i].held = list[i].id * 7919 * 1024;
        jpp_print(list[i].text, "usage is %zu %% of 512.0 MiB", 70 + i);
        jpp_print(list[i].owner, "upstream buffers of location /%zu of www",
                  i % 7);
    }

    jpp_telemetry.snapshots = list;
    jpp_telemetry.n_snapshots = 24;
    jpp_console.has_control = true;

    eight = jpp_console_size(8);
    many = jpp_console_size(64);

    jpp_diag("8 workers: %zu bytes with gzip, 64: %zu", eight, many);
    jpp_ok(eight != 0 && eight <= 20 * 1024, "8 workers: 20 KiB at most");
    jpp_ok(many != 0 && many <= 90 * 1024, "64 workers: 90 KiB at most");
}


JPP_TEST(jpp_test_fails)
{
    jpp_worker_t  worker;

    worker = jpp_fleet_evil(0, JPP_JEMALLOC_INACTIVE);
    fleet = jpp_fleet_of(1, &worker, 1);

    jpp_output_fails(&jpp_output, jpp_console_write, &fleet);
}

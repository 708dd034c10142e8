
/* popen() */
#define _GNU_SOURCE

#include <stdlib.h>
#include <unistd.h>

#include "jpp_console.h"
#include "jpp_report.h"
#include "jpp_test_fleet.h"


static void jpp_test_page(void);
static void jpp_test_no_worker(void);
static void jpp_test_verdict(void);
static void jpp_test_problems(void);
static void jpp_test_tags(void);
static void jpp_test_evil(void);
static void jpp_test_links(void);
static void jpp_test_policy(void);
static void jpp_test_fails(void);
static const char *jpp_console_tag(const char *p, char name[16]);
static unsigned jpp_console_count(const char *text);
static void jpp_console_write(const jpp_fleet_t *fleet, jpp_sink_t *sink);


static jpp_output_t         jpp_output, jpp_evil;
static jpp_zone_t           jpp_console_zone;
static uint64_t             jpp_console_unclean;
static const jpp_cgroup_t  *jpp_console_cgroup;


int
main(void)
{
    jpp_test_page();
    jpp_test_no_worker();
    jpp_test_verdict();
    jpp_test_problems();
    jpp_test_tags();
    jpp_test_evil();
    jpp_test_links();
    jpp_test_policy();
    jpp_test_fails();

    return jpp_done();
}


static void
jpp_test_page(void)
{
    size_t         i;
    jpp_fleet_t    fleet;
    jpp_worker_t   workers[2];
    jpp_missing_t  missing;

    static const char  *parts[] = {
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
        "<meta charset=\"utf-8\">\n",
        "<title>The heap of nginx on web1</title>",
        "nginx 1.22.1, jemalloc_pprof module 0.1.0, 2 of 3 workers answered.",
        "<p class=\"bad\">Worker 7, pid 4718, did not answer: it &lt;ended"
        "&gt;.</p>\n<div",
        "<tr><td>0</td><td>4711</td><td class=\"good\">ready</td>\n"
        "<td class=\"n\">512.0 KiB</td><td class=\"n\">12.3 MiB</td>"
        "<td class=\"n\">20.1 MiB</td>\n"
        "<td>5.3.0</td><td>2</td><td>2026-11-21T04:02:00Z</td></tr>\n",
        "<tr><td>1</td><td>4712</td><td class=\"bad\">no-jemalloc</td>\n"
        "<td class=\"n\">-</td><td class=\"n\">-</td><td class=\"n\">-</td>\n"
        "<td>-</td><td>2 (exiting)</td><td>2026-11-21T04:02:00Z</td></tr>\n",
        "</table>\n</div>\n"
        "<p>Last error in worker 0, pid 4711, at 2026-11-21T04:03:01Z: "
        "the &lt;dump&gt; failed.</p>\n",
        "<p>In the last profile, 5 of 9 addresses have no name (a&lt;b 5): "
        "do</p>\n",
        "<h3 class=\"bad\">No profile: the malloc of this nginx is not "
        "jemalloc&#39;s</h3>\n<p>Because it comes from libc.so.6, ",
        "    jemalloc_pprof_source sampler;\nOr run apt-get install "
        "libjemalloc2 and systemctl edit "
        "nginx, and add:\n    [Service]\n    Environment=LD_PRELOAD=",
        "<p>Seen in pid 4712.</p>\n",
        "<a href=\"heap\">heap</a>",
        "<pre>go tool pprof &quot;${URL}heap&quot;</pre>",
        "<p>To choose workers, add worker=0 (an index), worker=pid-1234, "
        "worker=self or worker=exiting, as in heap?worker=0.</p>\n",
        "<p>What workers inherited from their master counts once, with the "
        "label origin=master; to see one part only, add origin=worker or "
        "origin=master.</p>\n",
        "<dt><a href=\"heap?format=jemalloc&amp;worker=self\">heap?format="
        "jemalloc&amp;worker=self</a></dt>\n<dd>One &lt;worker&gt;.\n",
        "<dt>control (POST)</dt>\n<dd>Changes.\n"
        "<pre>curl -d lg_sample=14 &quot;${URL}control&quot;</pre></dd>\n"
        "</dl>\n",
        "</body>\n</html>\n"
    };

    workers[0] = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    workers[1] = jpp_fleet_worker(1, JPP_JEMALLOC_ABSENT);
    workers[1].is_exiting = true;
    jpp_status_failed(&workers[0].last_error, 1795233781,
                      "the <dump> failed");

    missing = (jpp_missing_t) {
        .who = { .index = 7, .pid = 4718, .generation = 1 }, .why = "it <ended>"
    };

    fleet = jpp_fleet_of(3, workers, 2);
    fleet.unnamed = "5 of 9 addresses have no name (a<b 5): do";
    fleet.missing = &missing;
    fleet.n_missing = 1;

    jpp_is_i64(jpp_output_fill(&jpp_output, jpp_console_write, &fleet, 0), 0,
               "written");

    for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        jpp_ok(strstr(jpp_output.text, parts[i]) != NULL, "part %zu", i);
    }

    jpp_is_u64(jpp_console_count("Last error"), 1,
               "nothing failed in the other");
}


static void
jpp_test_verdict(void)
{
    jpp_cgroup_t  cgroup;
    jpp_worker_t  workers[2];
    jpp_fleet_t   fleet = jpp_fleet_of(2, workers, 2);

    workers[0] = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    workers[1] = jpp_fleet_worker(1, JPP_JEMALLOC_READY);
    workers[0].activity.usage.rss_anon = 3 * 1024 * 1024;
    workers[1].activity.usage.rss_anon = JPP_NONE;

    (void) jpp_output_fill(&jpp_output, jpp_console_write, &fleet, 0);
    jpp_ok(strstr(jpp_output.text, "</p>\n\n<p class=\"good\">The memory looks "
                  "healthy: 2 workers have 3.0 MiB of memory that is not "
                  "shared. <a href=\"memory\">memory</a> has the numbers.</p>\n"
                  "\n<h2>Workers</h2>") != NULL, "nothing to say");

    memset(&cgroup, 0xff, sizeof(jpp_cgroup_t));
    cgroup.n_levels = 1;
    cgroup.binding = 0;
    cgroup.levels[0].limit = 1024 * 1024 * 1024;
    cgroup.headroom = 512 * 1024 * 1024;
    jpp_console_cgroup = &cgroup;
    fleet.n = 1;

    (void) jpp_output_fill(&jpp_output, jpp_console_write, &fleet, 0);
    jpp_ok(strstr(jpp_output.text, ": 1 worker has 3.0 MiB of memory that is "
                  "not shared, and 512.0 MiB are left below the limit. ")
           != NULL, "room is left");

    jpp_console_unclean = 1;
    jpp_console_zone.name = "a<b";
    jpp_console_zone.name_len = 3;
    jpp_console_zone.failures = 1;

    (void) jpp_output_fill(&jpp_output, jpp_console_write, &fleet, 0);
    jpp_ok(strstr(jpp_output.text, "\n<h2>Memory</h2>\n\n<h3 class=\"bad\">"
                  "Critical: processes were killed, or crashed</h3>\n<p>since "
                  "nginx started, 1 of its") != NULL, "the gravest first");
    jpp_ok(strstr(jpp_output.text, "\n<h3>a zone of shared memory is full</h3>"
                  "\n<p>zone a&lt;b has") != NULL, "then the other");

    jpp_console_unclean = 0;
    jpp_console_zone.name = NULL;
    jpp_console_cgroup = NULL;
}


static void
jpp_test_no_worker(void)
{
    jpp_fleet_t  fleet = jpp_fleet_of(4, NULL, 0);

    jpp_is_i64(jpp_output_fill(&jpp_output, jpp_console_write, &fleet, 0), 0,
               "written");
    jpp_ok(strstr(jpp_output.text, "No worker answered.") != NULL,
           "the page says that no worker answered");
    jpp_is_u64(jpp_console_count("did not answer"), 0, "and names none");
    jpp_is_u64(jpp_console_count("<table>"), 0, "no table");
    jpp_is_u64(jpp_console_count("Problems"), 0, "no problem");
    jpp_ok(strstr(jpp_output.text, "0 of 4 workers answered.") != NULL,
           "and how many there are");
}


/* a problem of several workers is shown once, with the pids of all */

static void
jpp_test_problems(void)
{
    unsigned       i;
    jpp_fleet_t    fleet;
    jpp_worker_t   workers[5];

    for (i = 0; i < 5; i++) {
        workers[i] = jpp_fleet_worker(i, JPP_JEMALLOC_READY);
        workers[i].jemalloc.accum = i != 0 && i != 3;
    }

    workers[2].jemalloc.state = JPP_JEMALLOC_INACTIVE;
    workers[1].jemalloc.lg_sample = 21;
    workers[4].jemalloc.lg_sample = 22;

    fleet = jpp_fleet_of(5, workers, 5);
    (void) jpp_output_fill(&jpp_output, jpp_console_write, &fleet, 0);

    jpp_is_u64(jpp_console_count("<h2>Problems</h2>"), 1, "one heading");
    jpp_is_u64(jpp_console_count("<h3"), 4, "four problems");
    jpp_is_u64(jpp_console_count("Warning: prof_accum keeps"), 1, "one once");
    jpp_is_u64(jpp_console_count("Seen in pid 4712 4713 4715."), 1,
               "of three workers");
    jpp_is_u64(jpp_console_count("Warning: one sample every 2.0 MiB"), 1,
               "the same row in other words");
    jpp_is_u64(jpp_console_count("Warning: one sample every 4.0 MiB"), 1,
               "is another problem");
    jpp_is_u64(jpp_console_count("No profile: profiling is not active"), 1,
               "a fatal one");
    jpp_is_u64(jpp_console_count("Seen in pid 4713."), 1, "of one worker");

    for (i = 0; i < 5; i++) {
        workers[i] = jpp_fleet_worker(i, JPP_JEMALLOC_OFF);
    }

    strcpy(workers[2].jemalloc.version, "5.3.1");
    workers[4].jemalloc.variable = "_RJEM_MALLOC_CONF";

    (void) jpp_output_fill(&jpp_output, jpp_console_write, &fleet, 0);
    jpp_is_u64(jpp_console_count("Seen in pid 4711 4712 4714."), 1, "the same");
    jpp_is_u64(jpp_console_count("Seen in pid 4713."), 1, "another version");
    jpp_is_u64(jpp_console_count("Seen in pid 4715."), 1, "another variable");

    for (i = 0; i < 5; i++) {
        workers[i] = jpp_fleet_worker(i, JPP_JEMALLOC_READY);
    }

    (void) jpp_output_fill(&jpp_output, jpp_console_write, &fleet, 0);
    jpp_is_u64(jpp_console_count("Problems"), 0, "nothing is wrong");
}


/* Every element is closed, in order; none runs or fetches anything. */

static void
jpp_test_tags(void)
{
    char           name[16], open[32][16];
    unsigned       i, n, depth, wrong;
    const char    *p;
    jpp_fleet_t    fleet;
    jpp_worker_t   workers[6];

    static const char  *bad[] = {
        "<script", "<img", "<link", "<iframe", "<form", "<object", "<base",
        " on", " src=", " style=", "url(", "@import", "javascript:", "data:"
    };

    for (i = 0; i < 6; i++) {
        workers[i] = jpp_fleet_worker(i, (jpp_jemalloc_state_t) i);
    }

    fleet = jpp_fleet_of(6, workers, 6);
    (void) jpp_output_fill(&jpp_output, jpp_console_write, &fleet, 0);

    n = 0;
    depth = 0;
    wrong = 0;

    for (p = jpp_output.text; (p = jpp_console_tag(p, name)) != NULL; n++) {

        if (strcmp(name, "!DOCTYPE") == 0 || strcmp(name, "meta") == 0) {
            continue;
        }

        if (name[0] != '/') {
            memcpy(open[depth < 31 ? depth : 31], name, 16);
            depth++;
            continue;
        }

        if (depth == 0 || depth > 31
            || strcmp(open[--depth], name + 1) != 0)
        {
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


/* Strings from outside cannot open or close a tag or an attribute. */

static void
jpp_test_evil(void)
{
    char           host[20000], tame_name[16], evil_name[16];
    unsigned       i, wrong;
    const char    *tame, *evil;
    jpp_fleet_t    fleet;
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
    (void) jpp_output_fill(&jpp_output, jpp_console_write, &fleet, 0);

    tame = jpp_output.text;
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

    jpp_ok(strstr(jpp_evil.text, "<p>nginx &quot;&#39;\\&lt;/pre&gt;&lt;"
                  "script&gt;&amp;amp;?\n?????????%s%n, ") != NULL,
           "all is there, escaped");
}


/* Links stay below the page, and ask for what there is. */

/* The links of the caller, and no others. */

static void
jpp_test_links(void)
{
    unsigned      n;
    const char   *p;
    jpp_fleet_t   fleet = jpp_fleet_of(0, NULL, 0);

    (void) jpp_output_fill(&jpp_output, jpp_console_write, &fleet, 0);

    n = 0;

    for (p = jpp_output.text; (p = strstr(p, " href=\"")) != NULL; n++) {
        p += strlen(" href=\"");
    }

    jpp_is_u64(n, 2, "as many links as were given");
}


/* the shape that the helpers of jpp_test_fleet.h call */

static void
jpp_console_write(const jpp_fleet_t *fleet, jpp_sink_t *sink)
{
    static const jpp_console_link_t  links[] = {
        { "heap", "What is allocated.", "go tool pprof \"${URL}heap\"",
          false },
        { "heap?format=jemalloc&worker=self", "One <worker>.",
          "curl \"${URL}heap?format=jemalloc&worker=self\"", false },
        { "control", "Changes.", "curl -d lg_sample=14 \"${URL}control\"",
          true },
        { NULL, NULL, NULL, false }
    };

    jpp_telemetry_t                  telemetry = { 0 };
    jpp_system_t                     system;

    memset(&system, 0xff, sizeof(jpp_system_t));

    telemetry.fleet = fleet;
    telemetry.system = &system;
    telemetry.zones = &jpp_console_zone;
    telemetry.n_zones = jpp_console_zone.name != NULL;
    telemetry.unclean_exits = jpp_console_unclean;
    telemetry.cgroup = jpp_console_cgroup;

    jpp_console_html(&telemetry, links, sink);
}


/* the browser applies the style only if its hash is the policy's */

static void
jpp_test_policy(void)
{
    int           fd;
    char          path[] = "/tmp/jpp_console.XXXXXX";
    char          command[256], hash[64], expected[128];
    FILE         *perl;
    const char   *style, *end;
    jpp_fleet_t   fleet = jpp_fleet_of(0, NULL, 0);

    (void) jpp_output_fill(&jpp_output, jpp_console_write, &fleet, 0);

    style = strstr(jpp_output.text, "<style>");
    end = strstr(jpp_output.text, "</style>");

    if (!jpp_ok(style != NULL && end != NULL, "there is a style")) {
        return;
    }

    style += strlen("<style>");

    fd = mkstemp(path);
    jpp_ok(fd != -1 && write(fd, style, (size_t) (end - style))
                       == end - style, "%s", path);
    close(fd);

    (void) snprintf(command, sizeof(command), "perl -MDigest::SHA=sha256_base64"
                    " -0777 -ne 'print sha256_base64($_)' %s", path);

    memset(hash, 0, sizeof(hash));

    perl = popen(command, "r");
    if (perl != NULL) {
        (void) fread(hash, 1, sizeof(hash) - 1, perl);
    }

    jpp_ok(perl != NULL && pclose(perl) == 0, "perl has hashed it");
    unlink(path);

    (void) snprintf(expected, sizeof(expected), "; style-src 'sha256-%s='; ",
                    hash);

    jpp_diag("the hash is %s=", hash);
    jpp_ok(strstr(jpp_console_policy, expected) != NULL, "its hash");
    jpp_ok(strstr(jpp_console_policy, "default-src 'none'; ")
           == jpp_console_policy, "nothing else is loaded");
    jpp_ok(strstr(jpp_console_policy, "base-uri 'none'; form-action 'none'; "
                  "frame-ancestors 'none'") != NULL,
           "nothing is sent or framed");
}


static void
jpp_test_fails(void)
{
    jpp_fleet_t   fleet;
    jpp_worker_t  worker;

    worker = jpp_fleet_evil(0, JPP_JEMALLOC_INACTIVE);
    fleet = jpp_fleet_of(1, &worker, 1);

    jpp_output_fails(&jpp_output, jpp_console_write, &fleet);
}

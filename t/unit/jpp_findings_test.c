
/* Each rule, by numbers that fulfil it and by numbers that just do not. */


#include "jpp_test_main.h"
#include "jpp_answers.h"
#include "jpp_test_findings.h"


static jpp_test_nginx_t  jpp_test;
static jpp_output_t      jpp_test_output;
static jpp_memory_t      jpp_test_memory;


/* Four idle workers, without limits and zones. */

void
jpp_before_each(void)
{
    size_t         i;
    jpp_worker_t  *worker;

    jpp_test_nginx_init(&jpp_test);

    for (i = 0; i < 4; i++) {
        worker = &jpp_test.workers[i];

        worker->stats.allocated = 12 * JPP_TEST_MIB;
        worker->stats.active = 13 * JPP_TEST_MIB;
        worker->stats.resident = 20 * JPP_TEST_MIB;
        worker->activity.usage.rss = 24 * JPP_TEST_MIB;
        worker->activity.usage.peak = 25 * JPP_TEST_MIB;
        worker->activity.usage.rss_anon = 21 * JPP_TEST_MIB;
    }

    jpp_test.fleet.n = 4;
    jpp_test.telemetry.cgroup = NULL;
    jpp_test.telemetry.zones = jpp_test.zones;
}


/* What the finding ID says, and what to do. */

static void
jpp_tells(const char *id, const char *what)
{
    const jpp_finding_t  *finding;

    jpp_says(id, what);
    finding = jpp_test_find(&jpp_test.telemetry, id);
    jpp_note_of(what, *finding, is_critical, owner, place, fix, link);
}


JPP_TEST(jpp_findings_test_limit)
{
    jpp_cgroup_t   *cgroup;
    jpp_finding_t   findings[JPP_FINDINGS];

    cgroup = &jpp_test.cgroup;

    jpp_is_u64(jpp_findings(&jpp_test.telemetry, findings), 0,
               "an idle nginx: nothing to say");

    jpp_test.telemetry.cgroup = cgroup;

    memset(cgroup, 0xff, sizeof(jpp_cgroup_t));
    cgroup->n_levels = 2;
    cgroup->binding = 2;

    jpp_says("limit-near", "no limit");

    cgroup->binding = 0;
    cgroup->levels[0].limit = 1000 * JPP_TEST_MIB;
    cgroup->headroom = 100 * JPP_TEST_MIB;
    jpp_says("limit-near", "a tenth is left");

    cgroup->headroom--;
    jpp_says("limit-near", "a byte less");

    cgroup->stat.inactive_file = 1;
    jpp_says("limit-near", "pages of files that would go");

    cgroup->binding = 1;
    cgroup->levels[1].limit = 512 * JPP_TEST_MIB;
    cgroup->headroom = 64 * JPP_TEST_MIB - 2;
    jpp_tells("limit-near", "less than 64 MiB of another's limit");

    cgroup->levels[1].limit--;
    jpp_says("limit-near", "of a small one that is enough");

    jpp_shows_notes("limit");
}


JPP_TEST(jpp_findings_test_kernel)
{
    memset(&jpp_test.cgroup, 0xff, sizeof(jpp_cgroup_t));
    jpp_test.cgroup.n_levels = 0;
    jpp_test.cgroup.binding = 0;
    jpp_test.telemetry.cgroup = &jpp_test.cgroup;

    jpp_test.cgroup.events.oom_kill = 3;
    jpp_says("oom-kill", "kills of nobody knows when");

    jpp_test.telemetry.oom_kills = 3;
    jpp_says("oom-kill", "before nginx");

    jpp_test.telemetry.oom_kills = 1;
    jpp_test.telemetry.now = 1795236010;
    jpp_says("oom-kill", "two since");

    jpp_test.telemetry.noted.killed.n = 2;
    jpp_test.telemetry.noted.killed.at = 1795232411;
    jpp_says("oom-kill", "it was seen before");

    jpp_test.telemetry.noted.killed.at--;
    jpp_says("oom-kill", "an hour ago");

    jpp_test.cgroup.events.oom_kill = JPP_NONE;

    jpp_test.cgroup.pressure.some.avg60 = 1000;
    jpp_says("pressure", "10 % of the time");

    jpp_test.cgroup.pressure.some.avg60 = 1001;
    jpp_says("pressure", "a hundredth more");

    jpp_test.telemetry.cgroup = NULL;
    jpp_test.system.pressure.some.avg60 = 2500;
    jpp_says("pressure", "without a cgroup");

    jpp_test.workers[0].activity.usage.swap = 16 * JPP_TEST_MIB;
    jpp_test.workers[1].activity.usage.swap = JPP_NONE;
    jpp_says("swap", "16 MiB in swap");

    jpp_test.workers[2].activity.usage.swap = 1;
    jpp_says("swap", "a byte more");

    jpp_shows_notes("kernel");
}


JPP_TEST(jpp_findings_test_zones)
{
    jpp_test.telemetry.n_zones = 2;

    jpp_test.zones[0].name = "one";
    jpp_test.zones[0].name_len = 3;
    jpp_test.zones[0].size = 100 * 4096;
    jpp_test.zones[0].free = 5 * 4096;
    jpp_test.zones[1].name = "a\nb\xff";
    jpp_test.zones[1].name_len = 4;

    jpp_says("zone-full", "a twentieth is free");

    jpp_test.zones[0].free--;
    jpp_says("zone-full", "a byte less");

    jpp_test.zones[1].failures = 7;
    jpp_says("zone-full", "one that refused counts first");

    jpp_test.zones[0].failures = 7;
    jpp_says("zone-full", "and of two the first");

    jpp_shows_notes("zones");
}


JPP_TEST(jpp_findings_test_old)
{
    size_t  i;

    jpp_test.workers[3].is_exiting = true;
    jpp_test.workers[3].activity.usage.rss_anon = 64 * JPP_TEST_MIB;
    jpp_says("old-workers", "64 MiB, half");

    jpp_test.workers[3].activity.usage.rss_anon++;
    jpp_tells("old-workers", "a byte more, and how to bound them");

    jpp_test.telemetry.shutdown_timeout = 600;
    jpp_tells("old-workers", "what is set is not advised");

    jpp_test.workers[0].activity.usage.rss_anon = 1000 * JPP_TEST_MIB;
    jpp_says("old-workers", "little of a large nginx");

    jpp_test.workers[0].activity.usage.rss_anon = JPP_NONE;
    jpp_test.workers[0].activity.usage.private = JPP_TEST_MIB;
    jpp_is_u64(jpp_fleet_anon(&jpp_test.fleet), 106 * JPP_TEST_MIB + 1,
               "a worker without memory information adds nothing");

    /* pages that all of them have from the master count once */

    jpp_test_begin();

    for (i = 0; i < 4; i++) {
        jpp_test.workers[i].activity.usage.rss_anon = 100 * JPP_TEST_MIB;
        jpp_test.workers[i].activity.usage.private = 10 * JPP_TEST_MIB;
        jpp_test.workers[i].is_exiting = i != 0;
    }

    jpp_is_u64(jpp_fleet_anon(&jpp_test.fleet), 130 * JPP_TEST_MIB, "once");
    jpp_says("old-workers", "30 MiB of 130");

    jpp_test.workers[3].activity.usage.private = 60 * JPP_TEST_MIB;
    jpp_says("old-workers", "80 of 180");

    jpp_shows_notes("old");
}


JPP_TEST(jpp_findings_test_odd)
{
    size_t        i;
    jpp_holder_t  holder = { .who = "zone one", .place = "nginx.conf:1" };

    jpp_test.workers[1].stats.allocated = 65 * JPP_TEST_MIB;
    jpp_says("odd-worker", "five times the others");

    jpp_test.workers[1].stats.allocated = 64 * JPP_TEST_MIB;
    jpp_says("odd-worker", "but 64 MiB only");

    jpp_test.workers[1].stats.allocated = 75 * JPP_TEST_MIB;
    jpp_test.workers[0].stats.allocated = 25 * JPP_TEST_MIB;
    jpp_test.workers[2].stats.allocated = 25 * JPP_TEST_MIB;
    jpp_says("odd-worker", "three times");

    jpp_test.workers[1].stats.allocated += 3;
    jpp_says("odd-worker", "and a little more");

    /* who has half of it is behind it */

    holder.worker = jpp_test.workers[1].who;
    jpp_test.telemetry.holders = &holder;
    jpp_test.telemetry.n_holders = 1;

    for (i = 0; i < 2; i++) {
        holder.worker_bytes = 75 * JPP_TEST_MIB / 2 + 1 - i;
        jpp_tells("odd-worker", i == 0 ? "half of it" : "less than half");
    }

    jpp_test.telemetry.n_holders = 0;

    jpp_test.workers[3].stats.allocated = jpp_test.workers[1].stats.allocated;
    jpp_says("odd-worker", "of two that are alike the first");

    jpp_test.fleet.n = 2;
    jpp_test.workers[0].has_stats = false;
    jpp_says("odd-worker", "a single one");

    /* without jemalloc, by anonymous memory */

    jpp_test_begin();

    for (i = 0; i < 4; i++) {
        jpp_test.workers[i] = jpp_fleet_worker((uint32_t) i,
                                               JPP_JEMALLOC_ABSENT);
        jpp_test.workers[i].activity.usage.rss_anon = 30 * JPP_TEST_MIB;
    }

    jpp_test.workers[2].activity.usage.rss_anon = 90 * JPP_TEST_MIB;
    jpp_says("odd-worker", "another malloc, and three times the others");

    jpp_test.workers[2].activity.usage.rss_anon++;
    jpp_says("odd-worker", "a byte more");

    jpp_test.workers[0].activity.usage.rss_anon = 60 * JPP_TEST_MIB;
    jpp_test.workers[1].activity.usage.rss_anon = 20 * JPP_TEST_MIB;
    jpp_says("odd-worker", "half of three others");

    jpp_test.workers[2].activity.usage.rss_anon = JPP_NONE;
    jpp_says("odd-worker", "what is unknown");

    jpp_shows_notes("odd");
}


JPP_TEST(jpp_findings_test_outside)
{
    /* one of each of the others */

    jpp_test.workers[2].activity.usage.rss_anon = 81 * JPP_TEST_MIB;
    jpp_says("outside", "64 MiB");

    jpp_test.workers[2].activity.usage.rss_anon++;
    jpp_says("outside", "a byte more");

    jpp_test.workers[1].activity.usage.rss_anon =
                                jpp_test.workers[2].activity.usage.rss_anon;
    jpp_says("outside", "of two that are alike the first");
    jpp_test.workers[1].activity.usage.rss_anon =
                                jpp_test.workers[0].activity.usage.rss_anon;

    jpp_test.workers[2].sampler.bytes = 2;
    jpp_says("outside", "what the sampler has is its own");
    jpp_test.workers[2].sampler.bytes = 0;

    jpp_test.workers[2].jemalloc.mappers = 1 << JPP_MAPPER_LUAJIT;
    jpp_tells("outside", "with Lua, and where to look");

    jpp_test.workers[2].jemalloc.mappers |= 2;
    jpp_says("outside", "with two");

    jpp_test.workers[2].stats.resident = 222 * JPP_TEST_MIB;
    jpp_test.workers[2].activity.usage.rss_anon = 313 * JPP_TEST_MIB;
    jpp_says("outside", "a quarter of it");

    jpp_test.workers[2].activity.usage.rss_anon = JPP_NONE;
    jpp_says("outside", "nobody knows");

    jpp_shows_notes("outside");
}


JPP_TEST(jpp_findings_test_allocator)
{
    jpp_test.workers[0].activity.usage.rss_anon = 50 * JPP_TEST_MIB;
    jpp_test.workers[1].activity.usage.rss_anon = 30 * JPP_TEST_MIB;
    jpp_test.workers[0].stats.dirty = 40 * JPP_TEST_MIB;
    jpp_test.workers[1].stats.muzzy = 24 * JPP_TEST_MIB;
    jpp_test.workers[2].stats.dirty = JPP_NONE;
    jpp_says("retained", "64 MiB of 122");

    jpp_test.workers[1].stats.muzzy++;
    jpp_tells("retained", "a byte more, nothing purges");

    jpp_test.workers[0].stats.threads = 0;
    jpp_test.workers[1].stats.threads = JPP_NONE;
    jpp_tells("retained", "nor here");

    jpp_test.workers[1].stats.threads = 1;
    jpp_tells("retained", "a thread does");

    jpp_test.workers[2].activity.usage.rss_anon = 28 * JPP_TEST_MIB;
    jpp_says("retained", "less than half");

    jpp_test_begin();

    jpp_test.workers[0].stats.allocated = 1000 * JPP_TEST_MIB;
    jpp_test.workers[0].stats.active = 1411 * JPP_TEST_MIB;
    jpp_says("fragmented", "1.4 times");

    jpp_test.workers[0].stats.active = 1412 * JPP_TEST_MIB;
    jpp_says("fragmented", "and more");

    jpp_test.workers[0].stats.allocated = 10 * JPP_TEST_MIB;
    jpp_test.workers[0].stats.active = 60 * JPP_TEST_MIB;
    jpp_says("fragmented", "little of both");

    jpp_shows_notes("allocator");
}


JPP_TEST(jpp_findings_test_time)
{
    jpp_minute_t  *minute;

    jpp_test.workers[0].activity.usage.peak = 88 * JPP_TEST_MIB;
    jpp_says("peak", "64 MiB above");

    jpp_test.workers[0].activity.usage.peak++;
    jpp_tells("peak", "a byte more");

    jpp_test.workers[1].activity.usage.peak = 88 * JPP_TEST_MIB + 1;
    jpp_says("peak", "of two that are alike the first");
    jpp_test.workers[1].activity.usage.peak = 100 * JPP_TEST_MIB;
    jpp_says("peak", "the next one had more");

    jpp_test.workers[1].activity.usage.peak = 25 * JPP_TEST_MIB;
    jpp_test.workers[0].activity.usage.rss = 200 * JPP_TEST_MIB;
    jpp_test.workers[0].activity.usage.peak = 300 * JPP_TEST_MIB;
    jpp_says("peak", "1.5 times");

    minute = &jpp_test.workers[1].activity.minute;
    minute->longest = 700;
    minute->slow = 1000;
    jpp_says("stalls", "a second of a minute");

    minute->slow++;
    jpp_says("stalls", "a millisecond more");

    jpp_test.workers[0].activity.minute.longest = 900;
    jpp_test.workers[0].activity.minute.slow = 900;
    minute->slow = 101;
    jpp_says("stalls", "of two workers");
    jpp_test.workers[0].activity.minute.slow = 0;

    jpp_test.workers[1].activity.loop.max = 5000;
    jpp_test.workers[1].activity.loop.counts[10] = 1000;
    minute->slow = 0;
    jpp_says("stalls", "what is long ago");

    jpp_shows_notes("time");
}


static void
jpp_findings_test_stall(jpp_stall_t *stall, uint64_t ms, const char *location,
    const char *where)
{
    stall->pid = 4712;
    stall->index = 1;
    stall->state = JPP_STALL_OVER;
    stall->nanos = ms * 1000000;
    strcpy(stall->server, location[0] != '\0' ? "www" : "");
    strcpy(stall->location, location);
    strcpy(stall->where, where);
}


JPP_TEST(jpp_findings_test_culprit)
{
    static jpp_stall_t  stalls[4];

    jpp_test.workers[1].activity.minute.slow = 2400;
    jpp_test.workers[1].activity.minute.longest = 800;

    jpp_findings_test_stall(&stalls[0], 500, "/api/", "computing in g");
    jpp_findings_test_stall(&stalls[1], 700, "/slow", "blocked in h");
    jpp_findings_test_stall(&stalls[2], 800, "/api/", "blocked in f");
    jpp_findings_test_stall(&stalls[3], 200, "", "computing in g");

    jpp_test.telemetry.stalls = stalls;
    jpp_test.telemetry.n_stalls = 4;

    jpp_tells("stalls", "two of one location, of a worker that does not look");

    jpp_test.workers[1].stalling.threshold = 100;
    jpp_tells("stalls", "one that does has their stacks");

    /* one of them was another worker's */

    stalls[0].pid = 4711;
    jpp_says("stalls", "two workers, and the longest of both");

    /* the rest of the time was spent on nobody knows what */

    jpp_test.workers[1].activity.minute.slow = 2602;
    jpp_tells("stalls", "less than half of it");

    jpp_test.workers[1].activity.minute.slow = 2400;
    jpp_findings_test_stall(&stalls[0], 1500, "", "computing in g");
    jpp_says("stalls", "outside of requests, by what it did");

    strcpy(stalls[1].place, "a.conf:41");
    jpp_findings_test_stall(&stalls[3], 200, "/slow", "computing in g");
    jpp_says("stalls", "a single one");

    jpp_findings_test_stall(&stalls[0], 10, "", "computing in g");
    jpp_test.workers[1].activity.minute.slow = 1700;
    strcpy(stalls[1].server, "b");
    stalls[1].nanos = 850000000;
    jpp_tells("stalls", "the same location of another server is another one");

    stalls[1].nanos = stalls[2].nanos = 900000000;
    jpp_says("stalls", "the first of two that held the loop for as long");

    jpp_findings_test_stall(&stalls[3], 900, "/api/", "computing in g");
    jpp_says("stalls", "and of its two stalls");

    jpp_shows_notes("culprit");
}


static void
jpp_findings_test_write(const jpp_fleet_t *fleet, jpp_sink_t *sink)
{
    (void) fleet;
    (void) jpp_memory_write(&jpp_test_memory, sink);
}


/* each write of the answer fails once; t/nginx/memory.t reads it */

JPP_TEST(jpp_findings_test_memory)
{
    jpp_args_t  args;

    jpp_args_init(&args, &jpp_memory_words, &jpp_memory_words);

    jpp_test_memory.telemetry = &jpp_test.telemetry;
    jpp_test_memory.args = &args;
    jpp_test_memory.detail = JPP_DETAIL_NONE;

    jpp_test.telemetry.n_zones = 1;
    jpp_test.zones[0].name = JPP_FLEET_EVIL;
    jpp_test.zones[0].name_len = strlen(JPP_FLEET_EVIL);
    jpp_test.telemetry.cgroup_why = "there is none";

    jpp_output_fails(&jpp_test_output, jpp_findings_test_write, NULL);
    (void) jpp_output_fill(&jpp_test_output, jpp_findings_test_write, NULL, 0);

    jpp_ok(jpp_test_output.n_writes > 50
           && strstr(jpp_test_output.text, "\"cgroup\": null") != NULL
           && strstr(jpp_test_output.text, "\"cgroup\": \"there is none\"")
              != NULL, "what is not available, and why");
}

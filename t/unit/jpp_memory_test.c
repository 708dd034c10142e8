
/*
 * memory with details: what workers answered, or why they did not, as JSON and
 * as tables; answers that are none; writes that fail.
 */


#include "jpp_test_main.h"
#include "jpp_answers.h"
#include "jpp_proc.h"
#include "jpp_test_arena.h"
#include "jpp_test_fleet.h"
#include "jpp_test_golden.h"


/* workers that there may be */
#define JPP_MEMORY_MANY  1024


static jpp_args_t           args;
static jpp_fleet_t          fleet;
static jpp_worker_t         workers[2];
static jpp_system_t         machine;
static jpp_zone_t           zones[2];
static jpp_telemetry_t      telemetry;
static jpp_memory_answer_t  answers[2];
static jpp_memory_t         memory;
static jpp_output_t         output;
static uint64_t             bytes[2][1024];


static void
jpp_memory_test_start(const char *query)
{
    size_t  i;

    static const jpp_zone_slot_t  slots[] = {
        { 8, 0, 0, 0, 0 }, { 64, 128, 100, 1000, 12 }, { 128, 0, 0, 5, 5 }
    };

    memset(&telemetry, 0, sizeof(jpp_telemetry_t));
    memset(&memory, 0, sizeof(jpp_memory_t));
    memset(answers, 0, sizeof(answers));
    memset(&machine, 0, sizeof(jpp_system_t));

    jpp_args_init(&args, &jpp_memory_words, &jpp_memory_words);
    args.values[JPP_ARG_COLS] = JPP_MAX_COLS;
    (void) jpp_args_query(&args, query, strlen(query), NULL);

    for (i = 0; i < 2; i++) {
        workers[i] = jpp_fleet_worker((uint32_t) i, JPP_JEMALLOC_READY);
        answers[i].who = workers[i].who;
    }

    fleet = jpp_fleet_of(2, workers, 2);

    telemetry.fleet = &fleet;
    telemetry.system = &machine;
    telemetry.cgroup_why = "there is none";

    memset(zones, 0, sizeof(zones));
    zones[0].name = JPP_FLEET_EVIL;
    zones[0].name_len = strlen(JPP_FLEET_EVIL);
    zones[0].size = 32768;
    zones[0].free = 4096;
    zones[0].failures = 17;
    zones[0].slots = slots;
    zones[0].n_slots = 3;
    zones[1].name = "quiet";
    zones[1].name_len = 5;
    zones[1].size = 32768;
    zones[1].free = 32768;

    telemetry.zones = zones;
    telemetry.n_zones = 2;

    /* what the test before it had goes */

    jpp_test_anew();

    memory.telemetry = &telemetry;
    memory.args = &args;
    memory.arena = &arena;
    memory.detail = jpp_memory_detail(&args);
    memory.answers = answers;
    memory.n_answers = 2;
}


/* LEDGER as ANSWER, whose bytes are at TO */

static void
jpp_memory_test_save(jpp_memory_answer_t *answer, uint64_t *to,
    const jpp_ledger_t *ledger, const jpp_ledger_facts_t *facts)
{
    jpp_memfd_t  file;

    jpp_memfd_init(&file);
    (void) jpp_memfd_open(&file, NULL, NULL);
    (void) jpp_ledger_save(ledger, facts, file.fd, NULL);

    answer->data = (const char *) to;
    answer->len = (size_t) pread(file.fd, to, sizeof(bytes[0]), 0);
    jpp_memfd_close(&file);
}


/* A row of LEDGER, exactly of N bytes. */

static jpp_ledger_row_t *
jpp_memory_test_row(jpp_ledger_t *ledger, jpp_ledger_kind_t kind,
    const char *name, uint64_t n)
{
    jpp_ledger_row_t  *row;

    row = jpp_ledger_row(ledger, kind, name, strlen(name));
    row->bytes = row->least = row->most = n;

    return row;
}


/* a ledger of two rows, one of them with a name of anything */

static void
jpp_memory_test_ledger(jpp_memory_answer_t *answer, const char *why)
{
    jpp_vec_t           *ranges;
    jpp_ledger_t         ledger;
    jpp_ledger_row_t    *row;
    jpp_ledger_facts_t   facts = { 0 };

    ranges = jpp_vec_create(&arena);
    (void) jpp_ledger_init(&ledger, &arena, 4096, ranges);

    row = jpp_ledger_row(&ledger, JPP_LEDGER_DIRTY, "", 0);
    row->bytes = 700;
    row->least = 600;
    row->most = 800;
    row->how = JPP_LEDGER_BOUND;

    (void) jpp_memory_test_row(&ledger, JPP_LEDGER_ZONE, JPP_FLEET_EVIL, 300);

    facts.sums.pss = 1000;
    facts.n_sockets = 3;
    facts.sockets = 5000;
    strcpy(facts.why, why);

    jpp_memory_test_save(answer, bytes[answer - answers], &ledger, &facts);
}


static const char *
jpp_memory_test_text(unsigned fail_at)
{
    uint8_t     buffer[64];
    jpp_sink_t  sink;

    output.len = 0;
    output.text[0] = '\0';
    output.n_writes = 0;
    output.fail_at = fail_at;

    jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_output_write, &output);

    return jpp_memory_write(&memory, &sink) && jpp_sink_flush(&sink) == 0
           ? output.text : NULL;
}


/* It is shown, whatever it is, without a byte of a name as it came. */

static void
jpp_memory_test_shows(const char *what)
{
    jpp_shows(jpp_memory_test_text(0), "%s", what);
    jpp_ok(strpbrk(output.text, "\x01\x1b\x7f") == NULL, "no such byte");
}


JPP_TEST(jpp_memory_test_ledgers)
{
    jpp_memory_test_start("detail=ledger&fields=total,unavailable");
    jpp_memory_test_ledger(&answers[0], "");
    jpp_memory_test_ledger(&answers[1], "no pages here");
    jpp_memory_test_shows("the sum of two ledgers, and why one is less exact");

    jpp_memory_test_start("detail=ledger&fields=workers");
    jpp_memory_test_ledger(&answers[0], "");
    jpp_memory_test_shows("each for itself");
}


JPP_TEST(jpp_memory_test_table)
{
    jpp_memory_test_start("format=top");
    jpp_memory_test_ledger(&answers[0], "no pages\x1bhere");
    answers[1].why = "it hangs";

    jpp_memory_test_shows("the table of one ledger, and why there is no other");
}


JPP_TEST(jpp_memory_test_refused)
{
    jpp_memory_test_start("format=top");
    memory.n_answers = 0;
    memory.refused = "it is large";

    jpp_memory_test_shows("a table without a ledger");
}


/* no answer, one that is none, of another worker */

JPP_TEST(jpp_memory_test_none)
{
    jpp_memory_test_start("detail=ledger&fields=total,unavailable");
    answers[0].data = "nonsense";
    answers[0].len = 8;
    jpp_memory_test_shows("no ledgers, and why");

    jpp_memory_test_start("detail=ledger&fields=workers");
    answers[0].who.generation = 1;
    jpp_memory_test_ledger(&answers[0], "");
    jpp_memory_test_shows("one of a process that has ended is nobody's");
}


/* more free connections than there are: as many as none in use */

JPP_TEST(jpp_memory_test_connections)
{
    static const char *const  queries[] = { "", "format=top" };
    static const char *const  shown[] = {
        "\"connections_used\": 13", "  13/512\n",
        "\"connections_used\": 0", "   0/512\n"
    };

    size_t  i;

    for (i = 0; i < 4; i++) {
        jpp_memory_test_start(queries[i % 2]);
        workers[0].activity.connections = 512;
        workers[0].activity.connections_free = i < 2 ? 499 : 600;

        jpp_has(jpp_memory_test_text(0), shown[i], "%s", shown[i]);
    }
}


JPP_TEST(jpp_memory_test_others)
{
    static const char  smaps[] = "1-2 [rollup]\nRss:    4 kB\n";
    static const char  arenas[] = "{\"a\":\t\"\\\xff\0\"}";

    jpp_memory_test_start("detail=smaps&fields=workers,unavailable");
    answers[0].data = smaps;
    answers[0].len = sizeof(smaps) - 1;
    jpp_memory_test_shows("smaps_rollup, and none");

    /* whatever it is, the answer is JSON */

    jpp_memory_test_start("detail=arenas&fields=workers");
    answers[0].data = arenas;
    answers[0].len = sizeof(arenas) - 1;
    jpp_memory_test_shows("arenas");
}


/* How full each is, and which sizes fill it; names that would be markup. */

JPP_TEST(jpp_memory_test_zones)
{
    jpp_memory_test_start("fields=zones,unavailable");
    memory.n_answers = 0;
    jpp_memory_test_shows("the slots of zones, of one moment");

    zones[0].was_busy = true;
    jpp_memory_test_shows("or not, which is said");

    jpp_memory_test_start("format=top");
    memory.n_answers = 0;
    jpp_memory_test_shows("a table, without sizes that nobody uses");

    telemetry.n_zones = 0;
    jpp_memory_test_shows("none, and no table");
}


static int
jpp_memory_count(void *ctx, const uint8_t *data, size_t len)
{
    uint64_t  *sum = ctx;

    (void) data;

    *sum += len;

    return 0;
}


/* As many workers as there may be, each with a whole history. */

JPP_TEST(jpp_memory_test_many)
{
    size_t                i, n;
    uint8_t               buffer[4096];
    uint64_t              len;
    jpp_sink_t            sink;
    jpp_worker_t         *many;
    jpp_history_t         history;

    static const char *const  queries[] = { "", "format=top" };

    many = calloc(JPP_MEMORY_MANY, sizeof(jpp_worker_t));

    jpp_history_init(&history);
    history.n = JPP_HISTORY_POINTS;

    for (n = 0; n < 2; n++) {
        jpp_memory_test_start(queries[n]);
        memory.n_answers = 0;

        for (i = 0; i < JPP_MEMORY_MANY; i++) {
            many[i] = jpp_fleet_evil((uint32_t) i, JPP_JEMALLOC_READY);
            many[i].history = &history;
            many[i].who.pid = (int64_t) i + 1;
        }

        fleet = jpp_fleet_of(JPP_MEMORY_MANY, many, JPP_MEMORY_MANY);

        len = 0;
        jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_memory_count, &len);

        jpp_ok(jpp_memory_write(&memory, &sink) && jpp_sink_flush(&sink) == 0,
               "'%s': written", queries[n]);
        jpp_ok(len > (uint64_t) JPP_MEMORY_MANY * 100,
               "all of %d workers: %zu bytes", JPP_MEMORY_MANY, (size_t) len);
    }

    free(many);
}


/* N numbers, each of its own, in SIZE bytes. */

static void
jpp_memory_test_number(void *numbers, size_t size, uint64_t first)
{
    size_t     i;
    uint64_t  *number;

    number = numbers;

    for (i = 0; i < size / sizeof(uint64_t); i++) {
        number[i] = first + i * 1013;
    }
}


/*
 * A fleet where no two numbers are the same, with one more of everything than
 * counts: workers, answers, zones, missing ones.
 */

static void
jpp_memory_test_fleet(const char *query)
{
    size_t  i;

    static jpp_zone_t           some_zones[4];
    static jpp_worker_t         some[4];
    static jpp_cgroup_t         cgroup;
    static jpp_missing_t        missing[2];
    static jpp_memory_answer_t  some_answers[4];

    jpp_memory_test_start(query);

    jpp_system_read(&machine, "t/data/system");
    (void) jpp_cgroup_read(&cgroup, "t/data/cgroup/v2", NULL);
    telemetry.cgroup = &cgroup;
    telemetry.generation = 7;
    telemetry.loaded = 1795233720;
    telemetry.noted.unclean_exits = 2;
    telemetry.now = 1795234000;
    telemetry.noted.vanished.at = 1795230401;

    memset(some, 0, sizeof(some));
    memset(some_answers, 0, sizeof(some_answers));
    memset(missing, 0, sizeof(missing));

    for (i = 0; i < 4; i++) {
        some[i] = jpp_fleet_worker((uint32_t) i, JPP_JEMALLOC_READY);
        some[i].is_exiting = i == 1;
        some[i].has_stats = i != 1;

        jpp_memory_test_number(&some[i].stats, sizeof(jpp_stats_t),
                               (i + 1) * 100000007);
        jpp_memory_test_number(&some[i].activity, sizeof(jpp_activity_t),
                               (i + 1) * 70000001);

        some[i].activity.usage.oom_score_adj = 500;
        some[i].activity.connections = 512;
        some[i].activity.connections_free = 400 + i;
        some_answers[i].who = some[i].who;
    }

    some[0].stats.muzzy = JPP_NONE;
    some[0].activity.usage.swap = JPP_NONE;
    some[1].activity.usage.rss_anon = JPP_NONE;
    some[1].activity.usage.page_tables = JPP_NONE;
    some[2].activity.usage.rss_file = JPP_NONE;
    some[2].activity.usage.rss_shmem = JPP_NONE;

    for (i = 0; i < 2; i++) {
        missing[i].who.index = 8 + (uint32_t) i;
        missing[i].who.pid = 5000 + (int64_t) i;
        missing[i].who.generation = 6;
        missing[i].why = "it hangs";
    }

    fleet = jpp_fleet_of(5, some, 3);
    fleet.missing = missing;
    fleet.n_missing = 1;

    memcpy(some_zones, zones, sizeof(zones));
    some_zones[2] = zones[1];
    some_zones[2].name = "busy";
    some_zones[2].name_len = 4;
    some_zones[2].was_busy = true;
    some_zones[2].used = 99;
    some_zones[2].allocations = 98;
    some_zones[3] = some_zones[2];
    some_zones[3].name = "more";
    telemetry.zones = some_zones;
    telemetry.n_zones = 3;

    memory.answers = some_answers;
    memory.n_answers = 3;
}


/* ledgers of two, of which one has more rows and is less exact */

static void
jpp_memory_test_two(jpp_memory_answer_t *answer, bool is_first)
{
    jpp_vec_t           *ranges;
    jpp_ledger_t         ledger;
    jpp_ledger_row_t    *row;
    jpp_ledger_facts_t   facts = { 0 };

    ranges = jpp_vec_create(&arena);
    (void) jpp_ledger_init(&ledger, &arena, 4096, ranges);

    row = jpp_ledger_row(&ledger, JPP_LEDGER_DIRTY, "", 0);
    row->bytes = is_first ? 70000 : 60000;
    row->least = row->bytes - 5000;
    row->most = row->bytes + 6000;
    row->how = is_first ? JPP_LEDGER_BOUND : JPP_LEDGER_EXACT;

    row = jpp_memory_test_row(&ledger, JPP_LEDGER_REQUESTS, "",
                              is_first ? 3000 : 4000);
    row->held = is_first ? 123456 : 3210;
    row->how = is_first ? JPP_LEDGER_EXACT : JPP_LEDGER_ESTIMATE;

    (void) jpp_memory_test_row(&ledger, JPP_LEDGER_FILE, "/usr/sbin/nginx",
                               20000);

    if (is_first) {
        jpp_memory_test_row(&ledger, JPP_LEDGER_CONFIGURATION, "",
                            10000)->held = 10001;
        jpp_ledger_row(&ledger, JPP_LEDGER_SLOTS, "", 0)->held = 77;
        (void) jpp_memory_test_row(&ledger, JPP_LEDGER_MAPS, "", 500);
        (void) jpp_memory_test_row(&ledger, JPP_LEDGER_MAPS, "named", 400);
    }

    jpp_memory_test_number(&facts.sums, sizeof(facts.sums),
                           is_first ? 100000 : 90000);
    facts.n_sockets = is_first ? 3 : 4;
    facts.sockets = is_first ? 5000 : 6000;
    facts.nanos = is_first ? 8000000 : 9000000;
    facts.has_luajit = is_first;
    facts.lua = is_first ? 61 << 20 : 0;
    strcpy(facts.why, is_first ? "" : "no pages here");

    jpp_memory_test_save(answer, bytes[!is_first], &ledger, &facts);
}


/* All of it, to the letter. */

JPP_TEST(jpp_memory_test_golden)
{
    size_t                i;
    jpp_memory_answer_t  *some;

    static const struct {
        const char  *query;
        const char  *name;
    } rows[] = {
        { "detail=ledger&fields=total,workers,missing,cgroup,system,zones,"
          "unavailable", "memory-ledger.json" },
        { "format=top&cols=80", "memory-ledger.top" }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_memory_test_fleet(rows[i].query);
        some = (jpp_memory_answer_t *) (uintptr_t) memory.answers;

        jpp_memory_test_two(&some[2], true);
        jpp_memory_test_two(&some[0], false);
        some[1].why = "it is busy";

        jpp_ok(jpp_memory_test_text(0) != NULL, "%s", rows[i].query);
        jpp_is_golden(output.text, rows[i].name);
    }
}


/* which details a format has */

JPP_TEST(jpp_memory_test_check)
{
    size_t  i;

    static const char  *rows[] = {
        "", "detail=ledger", "detail=smaps", "format=top",
        "format=top&detail=ledger", "format=top&detail=smaps",
        "format=top&detail=arenas"
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_args_init(&args, &jpp_memory_words, &jpp_memory_words);
        (void) jpp_args_query(&args, rows[i], strlen(rows[i]), NULL);

        jpp_note("\"%s\": code %d, detail %d, %s", rows[i],
                 (int) jpp_memory_check(&args, &err),
                 (int) jpp_memory_detail(&args),
                 jpp_args_is_top(&args) ? "text/plain" : "application/json");
    }

    jpp_shows_notes("details of formats");

    for (i = 0; jpp_word(&jpp_memory_words, (uint32_t) i) != NULL; i++) {
        /* void */
    }

    jpp_is_u64(i, 2, "formats");
}


/* as many sizes as a line has room for: 239 bytes, of which seven have 201 */

JPP_TEST(jpp_memory_test_slots)
{
    size_t           i, n;
    const char      *p;

    static const struct {
        uint64_t     used;
        uint64_t     total;
        size_t       n;
        const char  *what;
    } rows[] = {
        { 1, 2, 8, "a short one more" },
        { 10000000000, 1000000000000, 8, "as long as can be" },
        { 10000000000, 10000000000000, 8, "however long they are" }
    };

    jpp_zone_slot_t  slots[9] = { { 512, 10000000, 1000000, 0, 0 } };

    jpp_memory_test_start("format=top");
    memory.n_answers = 0;
    telemetry.n_zones = 1;
    zones[0] = zones[1];
    zones[0].free = zones[0].size + 1;
    zones[0].slots = slots;
    zones[0].n_slots = 9;

    for (i = 1; i < 7; i++) {
        slots[i] = slots[0];
    }

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        slots[7] = slots[0];
        slots[7].used = rows[i].used;
        slots[7].total = rows[i].total;

        (void) jpp_memory_test_text(0);
        p = strstr(output.text, "32.0 KiB     0 B        0  quiet  1000000");

        for (n = 0; p != NULL && (p = strstr(p, " x 512 B")) != NULL; n++) {
            p++;
        }

        jpp_is_u64(n, rows[i].n, "%s", rows[i].what);
    }
}


JPP_TEST(jpp_memory_test_fails)
{
    unsigned                  i, n, wrong;

    static const char *const  queries[] = { "detail=ledger", "format=top" };

    for (i = 0; i < 2; i++) {
        jpp_memory_test_start(queries[i]);
        jpp_memory_test_ledger(&answers[0], "");

        (void) jpp_memory_test_text(0);

        for (n = output.n_writes, wrong = 0; n > 0; n--) {
            wrong += jpp_memory_test_text(n) != NULL;
        }

        jpp_is_u64(wrong, 0, "%s: each write failed once", queries[i]);

        jpp_denies(&arena, (void) 0, 2,
                   jpp_done_code(jpp_memory_test_text(0) != NULL));
    }
}

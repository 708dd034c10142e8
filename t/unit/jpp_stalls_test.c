
/*
 * The table that workers share, what is said of stalls, and a profile of them.
 */


#include "jpp_test_main.h"
#include "jpp_cut.h"
#include "jpp_events.h"
#include "jpp_test_dump.h"
#include "jpp_test_golden.h"


#define MAPS  "55d000000000-55d000001000 r-xp 00000000 08:01 7   /bin/nginx\n" \
              "7f0000000000-7f0000001000 r-xp 00000000 08:01 9   /lib/libc.so\n"


static jpp_vec_t         *out;
static jpp_stall_table_t  table;
static jpp_stall_t        stalls[JPP_STALLS + 1];

static const jpp_stall_t  one = {
    .time_nanos = 1700000000000000000, .nanos = 312000000,
    .pid = 4711, .generation = 2, .index = 1,
    .kind = JPP_STALL_WAITED, .state = JPP_STALL_OVER,
    .depth = 3, .pcs = { 0x7f0000000011, 0x55d000001000, 0x101 },
    .connection = 12, .server = "a.example", .location = "/x\n",
    .maps_len = sizeof(MAPS) - 1, .maps = MAPS
};


JPP_TEST(test_table)
{
    size_t       i, n;
    int64_t      end;
    uint64_t     id, other, ids[JPP_STALLS + 8];
    jpp_stall_t  stall;

    jpp_is_u64(jpp_stall_table_list(&table, 0, stalls), 0, "an empty table");

    stall = one;
    stall.state = JPP_STALL_LASTS;
    id = 0;

    jpp_stall_table_put(&table, &stall, &id);
    stall.state = JPP_STALL_OVER;
    jpp_stall_table_put(&table, &stall, &id);

    n = jpp_stall_table_list(&table, 0, stalls);
    jpp_is_u64(n, 1, "a stall is stored");
    jpp_is_u64(stalls[0].state, JPP_STALL_OVER, "and replaced by its end");

    end = one.time_nanos + (int64_t) one.nanos;
    jpp_is_u64(jpp_stall_table_list(&table, end, stalls), 1, "at its end");
    jpp_is_u64(jpp_stall_table_list(&table, end + 1, stalls), 0, "and after");

    /* while that one lasts, as many others as there are slots */

    for (i = 0; i < JPP_STALLS; i++) {
        stall.index = (uint32_t) i;
        ids[i] = 0;
        jpp_stall_table_put(&table, &stall, &ids[i]);
    }

    n = jpp_stall_table_list(&table, 0, stalls);
    jpp_is_u64(n, JPP_STALLS, "a full table");
    jpp_is_u64(stalls[0].index, JPP_STALLS - 1, "the newest first");
    jpp_is_u64(stalls[n - 1].index, 0, "the oldest last");

    other = id;
    stall.index = 4000;
    jpp_stall_table_put(&table, &stall, &id);
    (void) jpp_stall_table_list(&table, 0, stalls);
    jpp_ok(id != other && stalls[0].index == 4000,
           "one whose slot was taken gets another");

    /* a worker that is killed, or two that write at once */

    table.slots[id % JPP_STALLS].stall.nanos++;
    jpp_is_u64(jpp_stall_table_list(&table, 0, stalls), JPP_STALLS - 1,
               "what is half written is left out");

    table.slots[id % JPP_STALLS].stall.nanos--;
    table.slots[id % JPP_STALLS].id = 0;
    jpp_is_u64(jpp_stall_table_list(&table, 0, stalls), JPP_STALLS - 1,
               "so is what is being written");
}


JPP_TEST(test_lines)
{
    int       i, n;
    uint64_t  silent;

    for (i = 0, n = 0; i < 12; i++) {
        n += jpp_stall_table_may_log(&table, 1000, &silent);
    }

    jpp_is_u64((uint64_t) n, JPP_STALL_LINES, "lines in a minute");
    jpp_ok(jpp_stall_table_may_log(&table, 1001, &silent), "the next minute");
    jpp_is_u64(silent, 7, "counts the others");
    jpp_ok(jpp_stall_table_may_log(&table, 1001, &silent) && silent == 0,
           "once");
}


JPP_TEST(test_words)
{
    char         text[JPP_STALL_TEXT], owner[JPP_STALL_OWNER];
    jpp_stall_t  stall;

    jpp_shows(jpp_stall_served(&one, text),
              "what was served, without control bytes");

    stall = one;
    stall.location[0] = '\0';
    jpp_shows(jpp_stall_served(&stall, text), "no location");

    strcpy(stall.place, "a\x1b.conf:41");
    jpp_shows(jpp_stall_served(&stall, text), "its line");

    stall.server[0] = '\0';
    stall.place[0] = '\0';
    stall.connection = 0;
    jpp_is_str(jpp_stall_served(&stall, text), "", "nothing is known");

    strcpy(stall.location, JPP_STALL_CHOOSING);
    strcpy(stall.server, "b.example");
    jpp_shows(jpp_stall_served(&stall, text), "no location yet");
    jpp_shows(jpp_stall_owner(&stall, owner), "in a sentence");
}


static void
comments(void *data, jpp_profile_t *profile)
{
    const jpp_capture_t *capture = data;

    jpp_stall_comments((const void *) capture->data,
                       capture->len / sizeof(jpp_stall_t), 100, profile);
}


static jpp_code_t
report(const jpp_stall_t *from, size_t n, const char *format)
{
    jpp_capture_t          capture;
    jpp_report_options_t   options;

    capture = jpp_test_capture((const char *) from, n * sizeof(jpp_stall_t));

    jpp_report_options_init(&options);
    options.parser = &jpp_parser_stalls;
    jpp_args_init(&options.args, &jpp_format_words, jpp_parser_stalls.types);
    options.args.values[JPP_ARG_COLS] = JPP_MAX_COLS;
    (void) jpp_args_set(&options.args, "format", 6, format, strlen(format),
                        &err);

    options.time_nanos = one.time_nanos;
    options.comments = comments;
    options.data = &capture;

    return jpp_test_report_into(&out, &capture, 1, &options);
}


JPP_TEST(test_report)
{
    stalls[0] = one;
    stalls[1] = one;
    stalls[1].state = JPP_STALL_DIED;
    stalls[1].kind = JPP_STALL_FOREIGN;
    stalls[1].depth = 0;
    stalls[1].maps_len = 0;
    stalls[1].nanos = 1000000;
    stalls[1].server[0] = '\0';
    stalls[1].location[0] = '\0';

    jpp_ok(report(stalls, 2, "pprof") == JPP_OK, "a report");

    jpp_has(jpp_test_contract(out, 0),
            "samples:\n    1 312000000: 1 2 3 generation=2 "
            "location=\"/x?\" pid=4711 server=\"a.example\" worker=\"1\"\n"
            "    1 1000000: 4 generation=2 pid=4711 worker=\"1\"\n", "labels");

    jpp_ok(report(stalls, 2, "folded") == JPP_OK, "folded");
    jpp_shows((char *) out->data, "stacks, and why there is none");

    jpp_ok(report(stalls, 2, "top") == JPP_OK, "top");
    jpp_shows(strstr((char *) out->data, "stalls are recorded"),
              "a comment for each, behind the threshold");

    jpp_ok(report(stalls, 0, "pprof") == JPP_OK, "none");
    (void) jpp_test_contract(out, 0);

    jpp_ok(report(stalls, 1, "text") == JPP_ERR_ARG,
           "format=text is for heaps: %s", err.text);
}


JPP_TEST(test_no_memory)
{
    stalls[0] = one;
    stalls[1] = one;
    stalls[1].depth = 0;
    stalls[1].maps_len = 0;

    jpp_denies(&arena, jpp_test_begin(), 20,
               jpp_written_code(report(stalls, 2, "pprof"), &err));
}


/* Shared memory may hold anything. */

JPP_TEST(test_unsound)
{
    int         i;
    jpp_dump_t  dump;

    for (i = 0; i < 12; i++) {
        stalls[0] = one;

        switch (i) {
        case 0: stalls[0].depth = JPP_STALL_DEPTH + 1; break;
        case 1: stalls[0].kind = JPP_STALL_KINDS; break;
        case 2: stalls[0].state = JPP_STALL_STATES; break;
        case 3: stalls[0].maps_len = JPP_STALL_MAPS + 1; break;
        case 4: stalls[0].maps_len--; break;
        case 5: memset(stalls[0].server, 'x', JPP_STALL_NAME); break;
        case 6: memset(stalls[0].where, 'x', JPP_STALL_WHERE); break;
        case 7: stalls[0].nanos = UINT64_MAX; break;
        case 8: stalls[0].generation = UINT64_MAX; break;
        case 9: memset(stalls[0].location, 'x', JPP_STALL_NAME); break;
        case 10: memset(stalls[0].place, 'x', JPP_STALL_NAME); break;

        case 11:
            stalls[0].depth = JPP_STALL_DEPTH;
            stalls[0].nanos = INT64_MAX;
            stalls[0].generation = INT64_MAX;
            stalls[0].maps_len = JPP_STALL_MAPS;
            memset(stalls[0].maps + sizeof(MAPS) - 2, 'x',
                   JPP_STALL_MAPS - sizeof(MAPS) + 1);
            stalls[0].maps[JPP_STALL_MAPS - 1] = '\n';
            break;
        }

        jpp_test_begin();
        jpp_ok(report(stalls, 1, "pprof") == (i < 11 ? JPP_ERR_INPUT : JPP_OK)
               && (i >= 11 || strstr(err.text, "stall 1 of") != NULL),
               "unsound stall %d: %s", i, err.text);
    }

    for (i = 0; i < JPP_STALLS + 1; i++) {
        stalls[i] = one;
    }

    jpp_ok(report(stalls, JPP_STALLS, "pprof") == JPP_OK
           && report(stalls, JPP_STALLS + 1, "pprof") == JPP_ERR_LIMIT,
           "one too many: %s", err.text);
    jpp_is_u64(jpp_parser_stalls.open(&dump, NULL, (char *) stalls, 9, NULL,
                                      &err),
               JPP_ERR_CUT, "and a part of one: %s", err.text);
}

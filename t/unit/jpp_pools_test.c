
/*
 * Tables of pools as a report: frames, types, comments, what is shared between
 * workers, differences, hostile names, and captures that are no tables.
 */


#include "jpp_test_main.h"
#include "jpp_test_dump.h"
#include "jpp_test_golden.h"
#include "jpp_test_pools.h"


static jpp_pools_t    table;
static jpp_capture_t  captures[4];
static size_t         n_captures;
static bool           leaves_out;
static jpp_vec_t     *out;


void
jpp_before_each(void)
{
    memset(captures, 0, sizeof(captures));
    n_captures = 0;

    (void) jpp_pools_init(&table, &arena, JPP_POOLS_NO_UNITS, 0);
}


static void
jpp_pools_capture(void)
{
    jpp_vec_t  *bytes;

    bytes = jpp_test_bytes(&table);

    captures[n_captures].data = (char *) bytes->data;
    captures[n_captures].len = bytes->len;
    n_captures++;
}


/* A small worker. */

static void
jpp_pools_filled(void)
{
    (void) jpp_test_fill(&table);
    jpp_pools_capture();
}


static jpp_code_t
jpp_pools_report(const char *args)
{
    jpp_report_options_t  options;

    if (jpp_test_query(&options, &jpp_parser_pools, args) != JPP_OK) {
        return err.code;
    }

    options.leaves_out = leaves_out;

    return jpp_test_report_into(&out, captures, n_captures, &options);
}


static const char *
jpp_pools_text(const char *args)
{
    jpp_is_u64(jpp_pools_report(args), JPP_OK, "%s: %s", args, err.text);

    return (char *) out->data;
}


JPP_TEST(jpp_pools_test_folded)
{
    jpp_pools_filled();

    jpp_shows(jpp_pools_text("format=folded"),
              "every row is a stack, and the sum is the total");

    jpp_shows(jpp_pools_text("format=folded&type=unused_space"),
              "what was never used");

    jpp_shows(jpp_pools_text("format=folded&type=inuse_objects&worker=0"),
              "how many allocations");
}


/* Blocks have their lines: a label, which a table shows. */

JPP_TEST(jpp_pools_test_places)
{
    uint32_t  id;

    id = jpp_test_holds(&table, JPP_POOLS_REQUEST, "a", "/api", NULL, 4096);
    jpp_test_place(&table, id, "nginx.conf", 41);

    id = jpp_test_holds(&table, JPP_POOLS_UPSTREAM, "a", "/", "backend", 2048);
    jpp_test_place(&table, id, "sites/a;\x1b", 4);

    id = jpp_test_holds(&table, JPP_POOLS_REQUEST, "b", "/", NULL, 1024);
    jpp_test_place(&table, id, "sites/b", 4);

    id = jpp_test_holds(&table, JPP_POOLS_CLIENT_CONNECTION, "b", NULL, NULL,
                        512);
    jpp_test_place(&table, id, "sites/b", 1);

    id = jpp_test_holds(&table, JPP_POOLS_CLIENT_CONNECTION, "c", NULL, NULL,
                        256);
    jpp_test_place(&table, id, "sites/c", 1);
    jpp_test_place(&table, id, "sites/c", 5);
    (void) jpp_pools_add(&table, id, JPP_POOLS_HEADERS, 0, 1, 256, 0);

    id = jpp_test_owner(&table, JPP_POOLS_SLOTS_USED, NULL, NULL, NULL);
    (void) jpp_pools_add(&table, id, JPP_POOLS_ITSELF, 0, 1, 128, 0);

    strcpy(table.facts.allocator, "malloc");
    jpp_pools_capture();

    jpp_shows(jpp_pools_text("format=top&n=100"), "blocks, and several");
    jpp_shows(jpp_pools_text("format=folded"), "stacks have names alone");

    jpp_is_u64(jpp_pools_report(""), JPP_OK, "pprof: %s", err.text);
    (void) jpp_test_contract(out, JPP_CONTRACT_POOLS);

    /* after a reload the same block is in another line */

    (void) jpp_pools_init(&table, &arena, JPP_POOLS_NO_UNITS, 0);

    id = jpp_test_holds(&table, JPP_POOLS_REQUEST, "a", "/api", NULL, 4096);
    jpp_test_place(&table, id, "nginx.conf", 42);
    strcpy(table.facts.allocator, "malloc");
    jpp_pools_capture();

    jpp_shows(jpp_pools_text("format=top&n=100"), "a block in two lines");
}


/* The stacks of all kinds and classes. */

JPP_TEST(jpp_pools_test_kinds)
{
    uint32_t  i, owner;

    for (i = 0; i < JPP_POOLS_KINDS; i++) {
        owner = jpp_test_owner(&table, (jpp_pools_kind_t) i, "s", "/l", "t");

        (void) jpp_pools_add(&table, owner,
                             i >= JPP_POOLS_SLOTS_USED ? JPP_POOLS_ITSELF
                                                       : JPP_POOLS_BLOCKS,
                             0, 1, i + 1, 0);
    }

    owner = jpp_test_owner(&table, JPP_POOLS_REQUEST, "s", "/l", NULL);

    for (i = JPP_POOLS_HEADERS; i < JPP_POOLS_CLASSES; i++) {
        (void) jpp_pools_add(&table, owner, (jpp_pools_class_t) i,
                             i == JPP_POOLS_MODULE
                             ? jpp_test_name(&table, JPP_POOLS_MODULE_NAME,
                                             "m") : 0,
                             1, i, 0);
    }

    jpp_pools_capture();

    jpp_shows(jpp_pools_text("format=folded"),
              "without a total nothing is said of what is outside");
}


JPP_TEST(jpp_pools_test_contract)
{
    size_t       i;
    const char  *text;

    static const char  *args[] = { "", "symbolize=0" };

    jpp_pools_filled();

    for (i = 0; i < 2; i++) {
        jpp_is_u64(jpp_pools_report(args[i]), JPP_OK, "pprof, \"%s\": %s",
                   args[i], err.text);

        text = jpp_test_contract(out, JPP_CONTRACT_POOLS);
        jpp_has(text, "2 8192 1000: ", "values");
        jpp_has(text, "\"location /big\" M=1", "a name");
    }
}


/*
 * What two workers inherited exists once, and what they added is their own;
 * the total of both is twice what is not shared, and once what is.
 */

JPP_TEST(jpp_pools_test_origin)
{
    size_t              i;
    static jpp_label_t  labels[2] = {
        { "worker", "0", 0, NULL }, { "worker", "1", 0, NULL }
    };
    static jpp_label_t  master = { "origin", "master", 0, NULL };

    jpp_pools_filled();

    /* the other gave some of it back */

    for (i = 0; i < jpp_vec_count(table.rows, jpp_pools_row_t); i++) {
        if (jpp_vec_items(table.rows, jpp_pools_row_t)[i].bytes == 163840) {
            jpp_vec_items(table.rows, jpp_pools_row_t)[i].bytes = 100000;
        }
    }

    jpp_pools_capture();

    for (i = 0; i < 2; i++) {
        captures[i].labels = &labels[i];
        captures[i].n_labels = 1;
        captures[i].inherited_labels = &master;
        captures[i].n_inherited_labels = 1;
        captures[i].group = 1;
        captures[i].baseline = captures[i].data;
        captures[i].baseline_len = captures[i].len;
    }

    jpp_shows(jpp_pools_text("format=folded&origin=master"),
              "what is shared is there once, the most that any has");

    jpp_shows(jpp_pools_text("format=folded&origin=worker&type=inuse_space"),
              "the rest is each one's own");

    jpp_shows(jpp_pools_text("format=folded"), "both together");
}


JPP_TEST(jpp_pools_test_difference)
{
    jpp_pools_filled();
    captures[0].is_base = true;
    captures[0].source = 1;

    (void) jpp_pools_add(&table, 1, JPP_POOLS_BODY, 0, 1, 100000, 0);
    table.facts.total += 90000;
    jpp_pools_capture();
    captures[1].source = 1;

    jpp_shows(jpp_pools_text("format=folded"), "what changed");

    jpp_is_u64(jpp_pools_report(""), JPP_OK, "pprof: %s", err.text);
    (void) jpp_test_contract(out, JPP_CONTRACT_POOLS);
}


/* Names of any bytes, of 4 KB, none at all, and two that only look alike. */

JPP_TEST(jpp_pools_test_names)
{
    char         name[JPP_POOLS_NAME + 1];
    size_t       i;
    const char  *text;

    static const char  *names[] = {
        "a;b\x1b[2J\n", "\xff", "\xe2\x80\xae", "", "\\xff"
    };

    for (i = 0; i < 5; i++) {
        (void) jpp_test_holds(&table, JPP_POOLS_CLIENT_CONNECTION, names[i],
                              NULL, NULL, 512);
    }

    jpp_pools_capture();

    jpp_shows(jpp_pools_text("format=folded"),
              "nothing of a name reaches a terminal");

    jpp_test_begin();

    memset(name, 0x01, JPP_POOLS_NAME);
    name[JPP_POOLS_NAME] = '\0';

    (void) jpp_test_holds(&table, JPP_POOLS_REQUEST, name, name, NULL, 512);
    jpp_pools_capture();

    text = jpp_pools_text("format=folded");
    jpp_is_u64(strlen(text), sizeof("http;server ;location ;request;pool blocks"
                                    " 512\n") - 1 + 2 * 4 * JPP_POOLS_NAME,
               "the longest names");

    jpp_is_u64(jpp_pools_report(""), JPP_OK, "pprof: %s", err.text);
    jpp_is_u64(jpp_contract_check(out->data, out->len, JPP_CONTRACT_POOLS,
                                  stdout, NULL), 0, "the contract holds");
}


/* A row for each place, by the type that is shown. */

JPP_TEST(jpp_pools_test_top)
{
    size_t  i;

    static const char  *args[] = {
        "format=top&n=6&cols=80", "format=top&n=1&type=unused_space&cols=1000"
    };

    jpp_pools_filled();

    for (i = 0; i < 2; i++) {
        jpp_shows(jpp_pools_text(args[i]), "%s", args[i]);
    }

    /* by two workers, one of them before */

    jpp_pools_capture();
    captures[1].is_base = true;

    (void) jpp_pools_add(&table, 1, JPP_POOLS_BODY, 0, 1, 100, 0);
    table.facts.total -= 900;
    jpp_pools_capture();

    captures[0] = captures[2];
    n_captures = 2;

    jpp_shows(jpp_pools_text("format=top"),
              "a difference, what changed most first");
}


JPP_TEST(jpp_pools_test_comments)
{
    jpp_pools_filled();

    jpp_shows(jpp_pools_text("format=top"),
              "the total, the allocator, TLS, the walk, which saw all of it");

    /* glibc, scripts, a walk that ended early, a heap smaller than its pools */

    table.facts.has_scripts = 1;
    table.facts.total = 1000;
    table.facts.is_partial = 1;
    table.facts.n_missed = 7;
    table.facts.n_unproven = 2;
    jpp_pools_capture();

    table.facts.has_total = 0;
    table.facts.is_estimate = 1;
    strcpy(table.facts.allocator, "glibc 2.36");
    jpp_pools_capture();

    jpp_shows(jpp_pools_text("format=top"), "no total, a total below the sum, "
              "an estimate, scripts, partial, unproven");
}


/* Nothing is outside of pools; or what has been since the start. */

JPP_TEST(jpp_pools_test_total)
{
    uint64_t                i, sum;
    const jpp_pools_row_t  *row;

    (void) jpp_test_fill(&table);
    sum = 0;

    jpp_vec_each(row, table.rows) {
        sum += row->is_inherited ? 0 : row->bytes;
    }

    for (i = 0; i < 2; i++) {
        n_captures = 0;
        table.facts.total = sum + i * table.facts.outside_inherited;
        jpp_pools_capture();

        jpp_shows(jpp_pools_text("format=top"), i == 0
                  ? "pools are all" : "all of the rest is inherited");
    }
}


/* How much of the rest a walk has missed, nobody knows. */

JPP_TEST(jpp_pools_test_partial)
{
    jpp_pools_filled();

    table.facts.is_partial = 1;
    jpp_pools_capture();

    jpp_shows(jpp_pools_text("format=top"), "the total says so, and so does "
              "the frame of that walk, of which no average is taken");
}


/* One of two workers was killed as it wrote. */

JPP_TEST(jpp_pools_test_cut)
{
    const char  *text;

    jpp_pools_filled();
    jpp_pools_capture();
    captures[1].len -= 1;

    jpp_is_u64(jpp_pools_report(""), JPP_ERR_CUT, "%s", err.text);
    jpp_is_u64(err.capture, 1, "which one");

    leaves_out = true;
    text = jpp_pools_text("format=folded");
    jpp_has(text, "pool blocks 8192\n", "the other remains");
    jpp_is_u64(captures[1].err.code, JPP_ERR_CUT, "%s", captures[1].err.text);

    leaves_out = false;
}


JPP_TEST(jpp_pools_test_formats)
{
    jpp_pools_capture();

    jpp_is_u64(jpp_pools_report("format=text"), JPP_ERR_ARG, "text");
    jpp_shows(err.text, "a format of heaps");

    jpp_is_u64(jpp_pools_report("type=alloc_space"), JPP_ERR_ARG, "a type");
    jpp_shows(err.text, "says which types there are");

    jpp_is_u64(jpp_pools_report(""), JPP_OK, "an empty worker: %s", err.text);
    jpp_is_u64(jpp_contract_check(out->data, out->len, JPP_CONTRACT_POOLS,
                                  stdout, NULL), 0, "the contract holds");
}


JPP_TEST(jpp_pools_test_memory)
{
    char    data[3][4096];
    size_t  i;

    static const char  *args[] = { "origin=worker", "format=top" };

    jpp_pools_filled();

    /* and what may be said of others */

    table.facts.is_partial = 1;
    jpp_pools_capture();

    table.facts.has_total = 0;
    jpp_pools_capture();

    for (i = 0; i < 3; i++) {
        memcpy(data[i], captures[i].data, captures[i].len);
        captures[i].data = data[i];
    }

    captures[0].baseline = data[0];
    captures[0].baseline_len = captures[0].len;
    captures[0].group = 1;

    for (i = 0; i < 2; i++) {
        jpp_denies(&arena, jpp_test_anew(), 50,
                   jpp_written_code(jpp_pools_report(args[i]), &err));
    }
}


/*
 * What locations cost: three measures in one list, its order and both forms.
 */


#include "jpp_answers.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"
#include "jpp_test_owned.h"
#include "jpp_test_pools.h"


#define JPP_MORE                                                              \
    "\nsingle requests:  requests?top=5\n"                                    \
    "every pool:       pools?format=top\n"                                    \
    "by function:      heap?by=location&format=html\n"                        \
    "CPU by function:  profile?seconds=10&by=location&format=html\n"


static const jpp_owned_stack_t  heap[] = {
    { "a.example", "/", "backend", "ngx_palloc handler main", 300000, 30 },
    { "a.example", "/big", NULL, "pipe main", 1000000, 4 },
    { "a.example", "/big", NULL, "header main", 100000, 4 },
    { "a.example", "/cpu", NULL, "header main", 10, 1 },
    { NULL, NULL, NULL, "main", 4000, 1 },
    { NULL, NULL, NULL, NULL, 0, 0 }
};


static jpp_args_t       args;
static jpp_pools_t      table;
static jpp_locations_t  locations;


static void
jpp_locations_start(const char *query)
{
    jpp_test_anew();
    jpp_args_init(&args, &jpp_words_top, jpp_parser_heap.types);
    args.values[JPP_ARG_COLS] = JPP_MAX_COLS;

    args.values[JPP_ARG_BY] = JPP_BY_LOCATION;

    jpp_is_u64(jpp_args_query(&args, query, strlen(query), &err), JPP_OK,
               "\"%s\"", query);
    jpp_ok(jpp_args_is_top(&args) == (strstr(query, "json") == NULL),
           "its form");

    jpp_locations_init(&locations, &arena, &args);
}


/* Two workers with the same pools. */

static void
jpp_locations_hold(void)
{
    uint32_t        i;
    jpp_vec_t      *bytes;
    jpp_identity_t  who = { 0, 4711, 1 };

    (void) jpp_pools_init(&table, &arena, JPP_POOLS_NO_UNITS, 0);
    (void) jpp_test_fill(&table);
    bytes = jpp_test_bytes(&table);

    for (i = 0; i < 2; i++, who.index++, who.pid++) {
        jpp_locations_pools(&locations, &who, (char *) bytes->data,
                            bytes->len, "unused");
    }
}


static void
jpp_locations_sample(jpp_locations_measure_t measure,
    const jpp_owned_stack_t *stacks)
{
    jpp_view_t             view = { 0 };
    jpp_arena_t            other = { 0 };
    jpp_profile_t          profile;
    jpp_report_options_t   options;

    jpp_owned_fill(&profile, &other, stacks);
    jpp_profile_comment(&profile, "lg_sample 14");
    jpp_profile_comment(&profile, "workers 1/2");
    jpp_profile_comment(&profile, "source: the sampler");
    jpp_profile_comment(&profile, "samples complete since then");
    jpp_profile_comment(&profile, "samples with an owner: 9 of 10");

    options = jpp_test_options("");
    options.args = args;

    view.profile = &profile;
    view.args = &options.args;
    options.args.is_set[JPP_ARG_BY] = true;

    jpp_locations_take(&locations, measure, &view);

    /* everything was copied */

    jpp_arena_destroy(&other);
}


static const char *
jpp_locations_result(void)
{
    jpp_sink_t  sink;

    jpp_test_sink(&sink, &arena);

    return jpp_locations_close(&locations)
           && jpp_locations_write(&locations, &sink) ? jpp_test_text(&sink)
                                                     : NULL;
}


/* Of equal ones the names say which is the first: of rows, and of parts. */

JPP_TEST(jpp_locations_test_ties)
{
    size_t       i;
    const char  *text;

    static const jpp_owned_stack_t  equal[] = {
        { "b.example", "/a", NULL, "one main", 100, 1 },
        { "a.example", "/b", NULL, "empty main", 0, 0 },
        { "a.example", "/b", NULL, "six main", 20, 1 },
        { "a.example", "/b", NULL, "five main", 20, 1 },
        { "a.example", "/b", NULL, "four main", 20, 1 },
        { "a.example", "/b", NULL, "three main", 20, 1 },
        { "a.example", "/b", NULL, "two main", 20, 1 },
        { "a.example", "/a", "10.0.0.1:80", "one main", 100, 1 },
        { "a.example", "/c", NULL, "small main", 10, 1 },
        { "a.example", "/c", NULL, "large main", 90, 1 },
        { "c.example", "/", NULL, "one main", 101, 1 },
        { NULL, NULL, NULL, "nobody main", 500, 1 },
        { NULL, NULL, NULL, NULL, 0, 0 }
    };

    static const struct {
        const char  *query;
        const char  *name;
    } rows[] = {
        { "", "locations-order.top" },
        { "format=json", "locations-order.json" },
        { "format=json&top=2", "locations-two.json" }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_locations_start(rows[i].query);
        jpp_locations_sample(JPP_LOCATIONS_SAMPLED, equal);

        text = jpp_locations_result();
        text = text != NULL && i != 0 ? strstr(text, "\"count\"") : text;

        jpp_is_golden(text != NULL ? text : "", rows[i].name);
    }
}


/*
 * By their greatest share: /big holds 80 % and has 78 % of the samples, /cpu
 * nothing but 90 % of the time.
 */

JPP_TEST(jpp_locations_test_text)
{
    static const jpp_owned_stack_t  times[] = {
        { "a.example", "/cpu", NULL, "deflate main", 9000000, 90 },
        { "a.example", "/big", NULL, "write main", 1000000, 10 },
        { NULL, NULL, NULL, NULL, 0, 0 }
    };

    jpp_locations_start("cols=80");
    jpp_locations_hold();
    jpp_locations_sample(JPP_LOCATIONS_SAMPLED, heap);
    jpp_locations_sample(JPP_LOCATIONS_CPU, times);

    jpp_is_golden(jpp_locations_result(), "locations-table.top");
}


/* Pools that hold next to nothing for requests do not decide. */

JPP_TEST(jpp_locations_test_order)
{
    const char  *text;

    static const jpp_owned_stack_t  busy[] = {
        { "b.example", "/", NULL, "sign main", 7000, 70 },
        { "c.example", "/", NULL, "other main", 3000, 30 },
        { NULL, NULL, NULL, NULL, 0, 0 }
    };

    jpp_locations_start("by=server");
    jpp_locations_hold();
    jpp_locations_sample(JPP_LOCATIONS_CPU, busy);

    /* a.example holds 60 % of that, and all that has a server */

    locations.about[JPP_LOCATIONS_HELD].nobody *= 2;
    text = jpp_locations_result();

    jpp_ok(strstr(text, "b.example") < strstr(text, "a.example")
           && strstr(text, "a.example") < strstr(text, "c.example"),
           "by the share of all that is held");
}


JPP_TEST(jpp_locations_test_parts)
{
    jpp_identity_t  who = { 3, 99, 1 };

    jpp_locations_start("by=upstream&top=1");
    jpp_locations_hold();
    jpp_locations_pools(&locations, &who, NULL, 0, "it was killed");
    jpp_locations_pools(&locations, &who, "no table", 8, "unused");
    jpp_locations_absent(&locations, JPP_LOCATIONS_SAMPLED,
                         "it is off: nobody switched it on",
                         "Add to http:\n    some_directive on;");
    jpp_locations_absent(&locations, JPP_LOCATIONS_CPU, "not asked", "");

    jpp_is_golden(jpp_locations_result(), "locations-absent.top");
}


JPP_TEST(jpp_locations_test_json)
{
    jpp_locations_start("by=server&format=json");
    jpp_locations_hold();
    jpp_locations_sample(JPP_LOCATIONS_SAMPLED, heap);
    jpp_locations_absent(&locations, JPP_LOCATIONS_CPU, "not \"asked\"", "do");

    jpp_is_golden(jpp_locations_result(), "locations-server.json");
}


/* Names are any text; those of the configuration are escaped already. */

JPP_TEST(jpp_locations_test_names)
{
    const char  *text;

    static const jpp_owned_stack_t  stacks[] = {
        { "a.example", "/\xc3\xa9", NULL, "f\xc3\xa9 main", 1000, 4 },
        { "a.example", "/\xc3\xa8\\x1b", NULL, "main", 1000, 4 },
        { NULL, NULL, NULL, NULL, 0, 0 }
    };

    jpp_locations_start("format=json");
    jpp_locations_sample(JPP_LOCATIONS_SAMPLED, stacks);
    text = jpp_locations_result();

    jpp_has(text, "\"location\": \"/\\u00e9\"", "a location");
    jpp_has(text, "\"location\": \"/\\u00e8\\\\x1b\"", "another");
    jpp_has(text, "\"name\": \"f\\u00e9\"", "a function");
}


JPP_TEST(jpp_locations_test_none)
{
    jpp_locations_start("");

    jpp_is_str(jpp_locations_result(),
      "0 rows\n"
      "requests  server  location\n"
      "\n"
      JPP_MORE, "nothing at all");
}


JPP_TEST(jpp_locations_test_check)
{
    size_t  i;

    static const struct {
        const char  *query;
        jpp_code_t   rc;
    } rows[] = {
        { "", JPP_OK }, { "by=location", JPP_OK }, { "by=server", JPP_OK },
        { "by=upstream", JPP_OK }, { "by=request", JPP_ERR_ARG },
        { "by=connection", JPP_ERR_ARG }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_locations_start(rows[i].query);
        jpp_is_u64(jpp_locations_check(&args, &err), rows[i].rc, "%s",
                   rows[i].query);
    }

    jpp_is_str(err.text, "the resource locations accepts by=location, "
               "by=server or by=upstream; use by=request and by=connection "
               "with the resource requests", "the sentence");
}


/* No memory, at every call. */

static const char *
jpp_locations_whole(void)
{
    jpp_locations_sample(JPP_LOCATIONS_SAMPLED, heap);
    jpp_locations_absent(&locations, JPP_LOCATIONS_CPU, "why", "fix");
    jpp_locations_note(&locations, JPP_LOCATIONS_CPU, "note");

    return jpp_locations_result();
}


JPP_TEST(jpp_locations_test_memory)
{
    jpp_denies(&arena, jpp_locations_start(""), 20,
               jpp_done_code(jpp_locations_whole() != NULL));
}

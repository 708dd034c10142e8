
/*
 * The largest requests of several workers: merged, sorted, cut, in both forms.
 */


#include "jpp_test_main.h"
#include "jpp_answers.h"
#include "jpp_test_golden.h"
#include "jpp_test_pools.h"


static jpp_args_t      args;
static jpp_pools_t     table;
static jpp_requests_t  requests;


JPP_TEST(jpp_requests_test_directives)
{
    char                text[JPP_DIRECTIVE_TEXT];
    size_t              i;
    jpp_directive_of_t  of;

    static const struct {
        jpp_pools_kind_t    kind;
        jpp_pools_class_t   class;
        const char         *module, *prefix;
    } names[] = {
        { JPP_POOLS_REQUEST, JPP_POOLS_BLOCKS, "", "" },
        { JPP_POOLS_CLIENT_CONNECTION, JPP_POOLS_BLOCKS, "", "" },
        { JPP_POOLS_UPSTREAM, JPP_POOLS_BLOCKS, "", "" },
        { JPP_POOLS_UPSTREAM, JPP_POOLS_UPSTREAM_BUFFERS, "", "fastcgi" },
        { JPP_POOLS_UPSTREAM, JPP_POOLS_UPSTREAM_HEADER, "", "proxy" },
        { JPP_POOLS_UPSTREAM, JPP_POOLS_UPSTREAM_BUFFERS, "", "" },
        { JPP_POOLS_CLIENT_CONNECTION, JPP_POOLS_TLS, "", "" },
        { JPP_POOLS_REQUEST, JPP_POOLS_MODULE, "ngx_http_gzip_filter_module",
          "" },
        { JPP_POOLS_REQUEST, JPP_POOLS_MODULE, "gunzip filter", "" },
        { JPP_POOLS_REQUEST, JPP_POOLS_MODULE, "mygzip", "" },
        { JPP_POOLS_STREAM, JPP_POOLS_SESSION, "", "" },
        { JPP_POOLS_MAIL, JPP_POOLS_SESSION, "", "" },
        { JPP_POOLS_REQUEST, JPP_POOLS_OTHER, "", "" }
    };

    static const uint64_t  values[][2] = {
        { 0, 0 }, { 4, 0 }, { 0, 512 }, { 0, 4096 }, { 16, 65536 },
        { 2, 3 * 1024 * 1024 }, { 0, 1000 }, { UINT64_MAX, 1 }
    };

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        of.kind = names[i].kind;
        of.class = names[i].class;
        of.module.data = names[i].module;
        of.module.len = strlen(names[i].module);
        of.prefix.data = names[i].prefix;
        of.prefix.len = strlen(names[i].prefix);

        jpp_note("directive %zu: \"%s\"", i, jpp_directive(&of, text));
    }

    jpp_shows_notes("directives");

    of.kind = JPP_POOLS_REQUEST;
    of.class = JPP_POOLS_MODULE;
    of.module.data = "gunzipped";
    of.module.len = 6;
    jpp_is_str(jpp_directive(&of, text), "gunzip_buffers", "the end of a name");
    of.module.len = 7;
    jpp_is_str(jpp_directive(&of, text), "", "which is behind the word");

    for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        jpp_note("%" PRIu64 ", %" PRIu64 ": \"%s\"", values[i][0], values[i][1],
                 jpp_directive_value(values[i][0], values[i][1], text));
    }

    jpp_shows_notes("values of directives");
}


static void
jpp_requests_start(const char *query)
{
    jpp_words_t  none = jpp_words_top;

    jpp_test_anew();
    jpp_args_init(&args, &jpp_words_top, &none);
    args.values[JPP_ARG_COLS] = JPP_MAX_COLS;

    if (jpp_args_query(&args, query, strlen(query), &err) != JPP_OK) {
        printf("Bail out!  %s: %s\n", query, err.text);
    }

    jpp_ok(jpp_args_is_top(&args) == (strstr(query, "json") == NULL),
           "its form");

    if (!jpp_requests_init(&requests, &arena, &args)) {
        jpp_ok(false, "no requests");
    }

    (void) jpp_pools_init(&table, &arena,
                          args.values[JPP_ARG_BY] == JPP_BY_CONNECTION
                          ? JPP_POOLS_CONNECTIONS : JPP_POOLS_REQUESTS, 20);
}


static void
jpp_requests_filled(const char *query)
{
    jpp_requests_start(query);
    (void) jpp_test_fill(&table);
}


static void
jpp_requests_worker(uint32_t index, const jpp_pools_t *from)
{
    jpp_vec_t       *bytes;
    jpp_identity_t   who;

    bytes = jpp_test_bytes(from);

    who.index = index;
    who.pid = 1000 + index;
    who.generation = 1;

    (void) jpp_requests_add(&requests, &who, (char *) bytes->data, bytes->len);
}


static const char *
jpp_requests_result(void)
{
    jpp_sink_t  sink;

    jpp_test_sink(&sink, &arena);
    jpp_ok(jpp_requests_write(&requests, &sink), "written");

    return jpp_test_text(&sink);
}


/* JSON behind the version of the module. */

static const char *
jpp_requests_asked(void)
{
    return strstr(jpp_requests_result(), "\"asked\"");
}


JPP_TEST(jpp_requests_test_text)
{
    jpp_identity_t  other = { 1, 4712, 1 };

    jpp_requests_filled("top=3");

    jpp_requests_worker(0, &table);
    jpp_requests_worker(2, &table);
    (void) jpp_requests_missing(&requests, &other, "it has exited");

    jpp_shows(jpp_requests_result(), "the largest of two workers");
}


/* Sums are elsewhere; single ones are the default. */

JPP_TEST(jpp_requests_test_by)
{
    unsigned    i;
    jpp_code_t  rc;

    static const char  *queries[] = {
        "", "by=request", "by=connection", "by=location", "by=server",
        "by=upstream"
    };

    for (i = 0; i < jpp_nelts(queries); i++) {
        jpp_requests_start(queries[i]);
        rc = jpp_requests_check(&args, &err);
        jpp_note("\"%s\": %d %s", queries[i], rc,
                 rc == JPP_OK ? "is taken" : err.text);
    }

    jpp_shows_notes("what it takes");
}


/* A worker that did not see everything says how much, in both forms. */

JPP_TEST(jpp_requests_test_partial)
{
    unsigned  i;

    static const char  *queries[] = { "", "format=json" };

    for (i = 0; i < 2; i++) {
        jpp_requests_filled(queries[i]);
        jpp_requests_worker(0, &table);
        table.facts.is_partial = 1;
        table.facts.n_missed = 5;
        jpp_requests_worker(1, &table);

        jpp_shows(i == 0 ? jpp_requests_result() : jpp_requests_asked(),
                  "partial, with \"%s\"", queries[i]);
    }
}


JPP_TEST(jpp_requests_test_connections)
{
    unsigned  i;

    static const char  *queries[] = {
        "by=connection", "format=json", "by=request"
    };
    static const char  *said[] = {
        "\nconnections left out: 3.  They have no descriptor, and no timer "
        "proves that their memory is still there (init_worker_by_lua leaves "
        "one behind in each worker)\n", "\"unproven\": 3,", "left out"
    };

    jpp_requests_filled("by=connection");
    jpp_requests_worker(0, &table);

    jpp_shows(jpp_requests_result(), "a connection");

    /* said where connections are shown, and where a program reads */

    for (i = 0; i < 3; i++) {
        jpp_requests_filled(queries[i]);
        table.facts.n_unproven = 2;
        jpp_requests_worker(0, &table);
        table.facts.n_unproven = 1;
        jpp_requests_worker(1, &table);

        jpp_ok((strstr(jpp_requests_result(), said[i]) != NULL) == (i != 2),
               "left out, with %s", queries[i]);
    }
}


JPP_TEST(jpp_requests_test_json)
{
    jpp_requests_filled("format=json&top=1");
    jpp_requests_worker(3, &table);

    jpp_shows(jpp_requests_asked(), "a request");
}


/* A unit of KIND in the table, with BYTES of blocks. */

static void
jpp_requests_unit(jpp_pools_kind_t kind, const char *server,
    const char *location, const char *third, uint64_t bytes,
    uint64_t age_msec)
{
    uint32_t           owner;
    jpp_pools_unit_t  *unit;

    owner = jpp_test_owner(&table, kind, server, location, third);

    jpp_pools_begin(&table, owner);
    (void) jpp_pools_add(&table, owner, JPP_POOLS_BLOCKS, 0, 1, bytes, 0);

    unit = jpp_pools_end(&table);

    if (unit != NULL) {
        unit->age_msec = age_msec;
        unit->sending = 3000;
        unit->receiving = 500;
    }
}


/*
 * By bytes, then by age, by worker and by the names; ages in the unit that they
 * have come to.
 */

JPP_TEST(jpp_requests_test_order)
{
    size_t  i;

    static const struct {
        const char  *server;
        const char  *location;
        uint64_t     bytes;
        uint64_t     age_msec;
    } rows[] = {
        { "b", "/", 4096, 99999 }, { "a", "/younger", 4096, 10 },
        { "a", "/large", 8192, 0 }, { "a", "/hours", 4096, 6000000 },
        { "a", "/ab", 4096, 5 }, { "a", "/a", 4096, 5 },
        { "a", "/minutes", 4096, 5999999 }, { "b", "/a", 4096, 5 },
        { "aa", "/", 4096, 5 }, { "a", "/minute", 4096, 100000 }
    };

    jpp_requests_start("top=30&cols=80");

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_requests_unit(JPP_POOLS_REQUEST, rows[i].server, rows[i].location,
                          NULL, rows[i].bytes, rows[i].age_msec);
    }

    jpp_requests_worker(0, &table);
    jpp_requests_worker(1, &table);

    jpp_shows(jpp_requests_result(), "what order and ages they have");
}


/* What is the third name, by the kind of a connection; and who is missing. */

JPP_TEST(jpp_requests_test_kinds)
{
    jpp_identity_t  other = { 1, 4712, 1 };

    jpp_requests_start("by=connection&format=json");

    jpp_requests_unit(JPP_POOLS_KEEPALIVE, NULL, NULL, "backend", 600, 1);
    jpp_requests_unit(JPP_POOLS_STREAM, NULL, NULL, "127.0.0.1:1", 500, 2);
    jpp_requests_unit(JPP_POOLS_MAIL, NULL, NULL, "127.0.0.1:25", 400, 3);
    jpp_requests_unit(JPP_POOLS_MODULE_CONNECTION, NULL, NULL, "some module",
                      300, 4);

    jpp_requests_worker(0, &table);
    (void) jpp_requests_missing(&requests, &other, "it has exited");

    jpp_shows(jpp_requests_asked(), "connections of all kinds");
}


/* 8 workers with 1,000 requests each: the largest of all, in order. */

JPP_TEST(jpp_requests_test_many)
{
    char              *end;
    uint32_t           i, k, owner, seed, n;
    const char        *line;
    unsigned long      pid;
    jpp_pools_t        many;

    jpp_requests_start("top=1000");

    seed = 1;

    for (i = 0; i < 8; i++) {
        (void) jpp_pools_init(&many, &arena, JPP_POOLS_REQUESTS, 1000);
        owner = jpp_test_owner(&many, JPP_POOLS_REQUEST, "s", "/", NULL);

        for (k = 0; k < 2000; k++) {
            seed = seed * 1103515245 + 12345;

            jpp_pools_begin(&many, owner);
            (void) jpp_pools_add(&many, owner, JPP_POOLS_BODY, 0, 1,
                                 1 + (seed >> 8) % 100, 0);
            (void) jpp_pools_end(&many);
        }

        jpp_requests_worker(i, &many);
    }

    line = jpp_requests_result();

    jpp_ok(strncmp(line, "the 1000 largest of 16000 requests: ", 36) == 0,
           "all are counted");

    seed = 100;

    for (n = 0; (line = strchr(line, '\n')) != NULL; /* void */ ) {
        pid = strtoul(++line, &end, 10);
        k = 1;

        /* those of one size are alike */

        if (strncmp(end, " x ", 3) == 0) {
            k = (uint32_t) pid;
            pid = strtoul(end + 3, &end, 10);
        }

        if (strncmp(end, " B ", 3) == 0 && pid <= seed) {
            seed = (uint32_t) pid;
            n += k;
        }
    }

    jpp_is_u64(n, 1000, "each at most as large as the one before");
    jpp_ok(seed > 90, "and all of the largest: %u", seed);
}


/* What a client sent is shown only if asked for, and never as it came. */

JPP_TEST(jpp_requests_test_clients)
{
    unsigned           i;
    uint32_t           owner;
    const char        *text;
    jpp_pools_unit_t  *unit;

    static const char  *queries[] = {
        "", "clients=on", "format=json", "format=json&clients=on"
    };

    for (i = 0; i < 4; i++) {
        jpp_requests_start(queries[i]);
        owner = jpp_test_owner(&table, JPP_POOLS_REQUEST,
                               "a\x1b[2J\n\"\xe2\x80\xae\xff\xd0\xbf", "/",
                               NULL);

        jpp_pools_begin(&table, owner);
        (void) jpp_pools_add(&table, owner, JPP_POOLS_BODY, 0, 1, 10, 0);
        unit = jpp_pools_end(&table);

        memcpy(unit->client, "192.0.2.7", 9);
        unit->client_len = 9;
        memcpy(unit->uri, "/secret\r\n\x9b", 10);
        unit->uri_len = 10;

        jpp_requests_worker(0, &table);
        text = jpp_requests_result();

        jpp_ok((strstr(text, "192.0.2.7") != NULL) == (i % 2 == 1),
               "\"%s\": the client", queries[i]);
        jpp_ok((strstr(text, "/secret") != NULL) == (i % 2 == 1), "the URI");
        jpp_has(text, i < 2 ? "a\\x1b[2J\\x0a\"\\xe2\\x80\\xae\\xff\xd0\xbf"
                : "a\\\\x1b[2J\\\\x0a\\\"\\\\xe2\\\\x80\\\\xae\\\\xff\\u043f",
                "the name: %s", text);
        jpp_ok(strpbrk(text, "\x1b\r\x9b\xff") == NULL, "no such byte");
    }
}


/* Captures that are none, and no worker at all. */

JPP_TEST(jpp_requests_test_bad)
{
    jpp_vec_t       *bytes;
    jpp_identity_t   who = { 0, 4711, 1 };

    jpp_requests_filled("");
    bytes = jpp_test_bytes(&table);

    jpp_ok(jpp_requests_add(&requests, &who, (char *) bytes->data,
                            bytes->len - 1), "half a table");
    jpp_ok(jpp_requests_add(&requests, &who, "heap_v2/1\n", 10),
           "another file");

    jpp_shows(jpp_requests_result(), "no request, and why");
}


static void
jpp_requests_bytes(const char *query, jpp_vec_t **bytes, jpp_sink_t *sink)
{
    jpp_requests_filled(query);
    *bytes = jpp_test_bytes(&table);
    jpp_test_sink(sink, &arena);
}


JPP_TEST(jpp_requests_test_memory)
{
    unsigned         i;
    jpp_vec_t       *bytes;
    jpp_sink_t       sink;
    jpp_identity_t   who = { 0, 4711, 1 };

    static const char  *queries[] = { "", "by=connection" };

    for (i = 0; i < 2; i++) {
        jpp_denies(&arena, jpp_requests_bytes(queries[i], &bytes, &sink), 10,
                   jpp_done_code(jpp_requests_add(&requests, &who,
                                                  (char *) bytes->data,
                                                  bytes->len)
                                 && jpp_requests_missing(&requests, &who, "why")
                                 && jpp_requests_write(&requests, &sink)));

        jpp_denies(&arena, jpp_requests_start(queries[i]), 2,
                   jpp_done_code(jpp_requests_init(&requests, &arena, &args)));
    }
}


/*
 * The heap of a real LuaJIT, where there is one: its layout is learned, and the
 * walk finds what was planted, to the byte of what LuaJIT itself counts.
 */

#include "jpp_lua.h"
#include "jpp_report.h"
#include "jpp_test_arena.h"


/* ms: a machine may be busy */
#define TEST_WAIT   60000

#define TEST_COUNT  3
#define TEST_COUNTB 4
#define TEST_GLOBALS (-10002)


typedef struct {
    void         *(*newstate)(void);
    void          (*openlibs)(void *);
    int           (*loadstring)(void *, const char *);
    int           (*pcall)(void *, int, int, int);
    int           (*gc)(void *, int, int);
    const char   *(*tolstring)(void *, int, size_t *);
    const void   *(*topointer)(void *, int);
    void          (*pushcclosure)(void *, int (*)(void *), int);
    void          (*settop)(void *, int);
    void          (*getfield)(void *, int, const char *);
} test_lua_t;


static test_lua_t         lua;
static void              *state;
static jpp_lua_layout_t   layout;
static jpp_arena_t        arena;
static jpp_err_t          err;
static char              *folded;
static bool               was_idle;


static bool
test_load(void)
{
    size_t   i;
    void    *handle, **to;

    static const char *const  names[] = {
        "luaL_newstate", "luaL_openlibs", "luaL_loadstring", "lua_pcall",
        "lua_gc", "lua_tolstring", "lua_topointer", "lua_pushcclosure",
        "lua_settop", "lua_getfield"
    };

    handle = dlopen("libluajit-5.1.so.2", RTLD_NOW|RTLD_GLOBAL);
    to = (void **) &lua;

    for (i = 0; handle != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
        to[i] = dlsym(handle, names[i]);
    }

    return handle != NULL;
}


static void
test_run(const char *code)
{
    jpp_ok(lua.loadstring(state, code) == 0
           && lua.pcall(state, 0, 0, 0) == 0,
           "%.40s: %s", code, lua.tolstring(state, -1, NULL));
    lua.settop(state, 0);
}


static uint64_t
test_counted(void)
{
    return (uint64_t) lua.gc(state, TEST_COUNT, 0) * 1024
           + (uint64_t) lua.gc(state, TEST_COUNTB, 0);
}


/* Walk; the result is the capture, which lies in the arena. */

static jpp_vec_t *
test_walk(jpp_copy_page_t *page)
{
    jpp_sink_t   sink;
    jpp_vec_t   *out;

    memset(page, 0, sizeof(jpp_copy_page_t));
    jpp_arena_fresh(&arena, JPP_TEST_CAP);

    jpp_test_sink(&sink, &arena);
    out = sink.ctx;

    jpp_sink_str(&sink, JPP_LUA_HEAD);
    jpp_is_u64(jpp_lua_walk(&layout, (uintptr_t) state, "http", &sink, page),
               JPP_OK, "a walk: %s", page->err.text);
    jpp_sink_str(&sink, "end 2000000 3000000\n");
    (void) jpp_sink_flush(&sink);

    return out;
}


/* The same as folded stacks of TYPE. */

static void
test_fold(const char *query)
{
    jpp_sink_t             sink;
    jpp_vec_t             *out;
    jpp_capture_t          capture = { 0 };
    jpp_symbols_t          symbols;
    jpp_copy_page_t    page;
    jpp_report_options_t   options;

    out = test_walk(&page);

    capture.data = (const char *) out->data;
    capture.len = out->len;

    jpp_symbols_init(&symbols, JPP_SYMBOLS_CAP);
    jpp_report_options_init(&options);

    options.parser = &jpp_parser_lua;
    jpp_args_init(&options.args, &jpp_format_words, jpp_parser_lua.types);
    (void) jpp_args_query(&options.args, query, strlen(query), &err);

    jpp_test_sink(&sink, &arena);
    jpp_is_u64(jpp_report(&arena, &symbols, &capture, 1, &options, &sink, &err),
               JPP_OK, "%s: %s", query, err.text);
    (void) jpp_test_text(&sink);
    folded = (char *) ((jpp_vec_t *) sink.ctx)->data;
    jpp_symbols_destroy(&symbols);
}


/* The value of the stack that is STACK; 0: there is none. */

static uint64_t
test_value(const char *stack)
{
    char         line[512];
    const char  *at;

    jpp_print(line, "\n%s ", stack);
    at = strstr(folded, line);

    return at != NULL ? strtoull(at + strlen(line), NULL, 10) : 0;
}


/* The sum of all. */

static uint64_t
test_sum(void)
{
    char      *line, *end;
    uint64_t   sum;

    sum = 0;

    for (line = folded; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        sum += strtoull(strrchr(line, ' '), NULL, 10);
        *end = '\n';
    }

    return sum;
}


static int
test_probe(void *L)
{
    was_idle = jpp_lua_is_idle((uintptr_t) L);

    return 0;
}


JPP_TEST(test_layout)
{
    uintptr_t    vm, object;
    jpp_peek_t   peek;

    vm = (uintptr_t) state;

    jpp_is_u64(jpp_lua_learn(&layout, &err), JPP_OK, "learned: %s", err.text);
    jpp_is_u64(jpp_lua_total(&layout, vm), test_counted(), "the bytes");

    jpp_ok(jpp_lua_is_idle(vm), "it is idle");
    was_idle = true;
    lua.pushcclosure(state, test_probe, 0);
    jpp_ok(lua.pcall(state, 0, 0, 0) == 0 && !was_idle, "and is not in a call");

    jpp_ok(jpp_peek_open(&peek), "a pipe");
    jpp_ok(jpp_lua_is_vm(&layout, &peek, vm), "it is a VM");

    test_run("thread = coroutine.create(print)");
    lua.getfield(state, TEST_GLOBALS, "thread");
    object = (uintptr_t) lua.topointer(state, -1);
    lua.settop(state, 0);

    jpp_ok(!jpp_lua_is_vm(&layout, &peek, object), "another thread is none");
    jpp_ok(!jpp_lua_is_vm(&layout, &peek, vm + 8)
           && !jpp_lua_is_vm(&layout, &peek, vm + 1)
           && !jpp_lua_is_vm(&layout, &peek, 0)
           && !jpp_lua_is_vm(&layout, &peek, UINTPTR_MAX - 7)
           && !jpp_lua_is_vm(&layout, &peek, 4096), "nor is anything else");
    jpp_peek_close(&peek);
}


static bool
test_size(void *data, uintptr_t object)
{
    jpp_lua_vm_t  vm;

    jpp_lua_open(&vm, &layout, (uintptr_t) state);
    *(uint64_t *) data += jpp_lua_size(&vm, object);

    return true;
}


/* What has no object is the same before and after: a garbage collection runs,
   too. */

JPP_TEST(test_sizes)
{
    size_t         i;
    uint64_t       bytes, rest, before;
    jpp_lua_vm_t   vm;

    static const char  code[] =
        "kept = kept or {} local t = {} kept[#kept + 1] = t\n"
        "for i = 1, 300 do\n"
        "  t[i] = { i, k = ('s'):rep(i) .. #kept, f = function () return i end,"
        "           u = newproxy(true), c = coroutine.wrap(print) }\n"
        "end\n"
        "kept[1] = nil collectgarbage()";

    test_run(code);
    before = 0;

    for (i = 0; i < 3; i++) {
        test_run(code);

        bytes = 0;
        jpp_lua_open(&vm, &layout, (uintptr_t) state);
        bytes += jpp_lua_objects(&vm, test_size, &bytes);
        rest = jpp_lua_total(&layout, (uintptr_t) state) - bytes;

        jpp_ok(i == 0 || rest == before, "%" PRIu64 " of %" PRIu64,
               rest, jpp_lua_total(&layout, (uintptr_t) state));
        before = rest;
    }

    layout.is_rounded = !layout.is_rounded;
    bytes = 0;
    bytes += jpp_lua_objects(&vm, test_size, &bytes);
    layout.is_rounded = !layout.is_rounded;

    jpp_ok(bytes != jpp_lua_total(&layout, (uintptr_t) state) - before,
           "a wrong size shows");
    test_run("kept = nil collectgarbage()");
}


JPP_TEST(test_planted)
{
    size_t    i;
    uint64_t  total;

    static const struct {
        const char  *stack;
        uint64_t     least;
        uint64_t     most;
    } rows[] = {
        { "http;package.loaded;[\"session.cache\"];.strings;strings",
          20000 * 225, 20000 * 240 },
        { "http;package.loaded;.app;.get;^seen;tables", 32768, 65536 },
        { "http;package.loaded;.app;.get;^seen;[*];tables", 2000 * 64,
          2000 * 160 },
        { "http;package.loaded;.app;.fns;[*];functions", 1000 * 48,
          1000 * 64 },
        { "http;package.loaded;.app;.fns;[*];upvalues", 2000 * 48, 3001 * 48 },
        { "http;package.loaded;.app;.fns;[*];^u;tables", 1000 * 64,
          1000 * 64 },
        { "http;package.loaded;.app;.big;strings", 100025, 100040 },
        { "http;package.loaded;.app;.co;(stack);[*];tables", 5000 * 64,
          5000 * 100 },
        { "http;package.loaded;.app;.cdata;cdata", 1000 * 500, 1000 * 540 },
        { "http;package.loaded;.app;.list;.next;tables", 500 * 64,
          999 * 160 },
        { "http;package.loaded;.app;[\"a\\x0ab\"];[3];[1];strings", 5024,
          5030 },
        { "http;_G;.global;.deep;tables", 2048, 4096 },
        { "http;(garbage, weak, traces);tables", 1000 * 64, 1500 * 100 }
    };

    test_run(
        "package.loaded['session.cache'] = { strings = {} }\n"
        "local s = package.loaded['session.cache'].strings\n"
        "for i = 1, 20000 do s[i] = ('%06d'):format(i) .. ('x'):rep(200) end\n"
        "local seen, app = {}, {}\n"
        "package.loaded.app = app\n"
        "app.get = function () return seen end\n"
        "app.big = ('b'):rep(100000)\n"
        "for i = 1, 2000 do seen['k' .. i] = { i, name = 'n' .. i } end\n"
        "app.fns = {}\n"
        "for i = 1, 1000 do\n"
        "  local u = {} app.fns[i] = function () return u, i end\n"
        "end\n"
        "app.co = coroutine.create(function ()\n"
        "  local held = {}\n"
        "  for i = 1, 5000 do held[i] = { i } end\n"
        "  coroutine.yield()\n"
        "  return held\n"
        "end)\n"
        "coroutine.resume(app.co)\n"
        "local ffi = require 'ffi'\n"
        "app.cdata = {}\n"
        "for i = 1, 1000 do app.cdata[i] = ffi.new('char[?]', 500) end\n"
        "local list\n"
        "for i = 1, 1000 do list = { next = list } end\n"
        "app.list = list\n"
        "app['a\\nb'] = { 1, 2, { ('n'):rep(5000) } }\n"
        "global = { deep = {} }\n"
        "for i = 1, 250 do global.deep[i] = i end\n"
        "weak = setmetatable({}, { __mode = 'v' })\n"
        "for i = 1, 1000 do weak[i] = {} end\n"
        "seen.app = app  global.app = app");

    total = jpp_lua_total(&layout, (uintptr_t) state);
    test_fold("format=folded&type=inuse_space");

    jpp_is_u64(test_sum(), total, "all of it is somewhere");

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_ok(test_value(rows[i].stack) >= rows[i].least
               && test_value(rows[i].stack) <= rows[i].most,
               "%s: %" PRIu64, rows[i].stack, test_value(rows[i].stack));
    }

    jpp_lacks(folded, "package.loaded;._G", "_G is itself");
    jpp_ok(test_value("http;(VM);state") < 500000, "little is not found");

    test_fold("format=folded&type=inuse_objects");
    jpp_is_u64(test_value(rows[0].stack), 20000, "so many strings");

    test_fold("format=top&cols=120");
    jpp_has(folded, "strings     http; package.loaded; [\"session.cache\"]; "
            ".strings", "a table of places");
    jpp_has(folded, "in 1 VM, 99.8", "what was found");
    jpp_has(folded, "walked in a copy of the worker within 3.0 ms; the worker "
            "stood still for 2.0 ms to be copied", "and how");
}


/* Names and paths are bounded, whatever a heap has. */

JPP_TEST(test_bounds)
{
    jpp_vec_t            *out;
    jpp_copy_page_t   page;

    test_run(
        "local t = {} wild = t\n"
        "for i = 1, 100 do t['k' .. i] = {} t = t['k' .. i] end\n"
        "t.last = ('z'):rep(100000)\n"
        "for i = 1, 300 do\n"
        "  local a = {}  wild[i] = a\n"
        "  for k = 1, 300 do a['x' .. i .. '_' .. k] = { {} } end\n"
        "end\n"
        "wild[('long'):rep(1000)] = { 1 } wild['\\27[2J\\0'] = { 1 }\n"
        "wild[0.5] = {} wild[1e300] = {} wild[true] = {} wild[print] = {}\n"
        "wild[{}] = {} wild[-7] = {} wild[''] = {}");

    out = test_walk(&page);
    jpp_ok(out->len < 16 << 20, "%zu bytes", out->len);

    test_fold("format=folded&type=inuse_space");
    jpp_is_u64(test_sum(), jpp_lua_total(&layout, (uintptr_t) state),
               "the sum is what it was");
    test_run("wild = nil collectgarbage()");
}


static jpp_code_t
test_child(void *data, jpp_copy_page_t *page)
{
    int             file;
    jpp_sink_t      sink;
    struct rlimit   limit = { 16 << 20, 16 << 20 };

    static uint8_t  buffer[JPP_SINK_BUFFER];

    if (data == NULL) {
        (void) setrlimit(RLIMIT_AS, &limit);
    }

    file = open("/dev/null", O_WRONLY);
    jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_write, &file);

    return jpp_lua_walk(&layout, (uintptr_t) state, "http", &sink, page);
}


static void
test_fails(void *data, jpp_code_t code, const char *text)
{
    jpp_copy_t  copy;

    jpp_is_u64(jpp_copy_open(&copy, test_child, data, 60, &err), JPP_OK,
               "a copy");
    jpp_is_u64(jpp_copy_wait(&copy, TEST_WAIT, &err), code, "%s",
               err.text);
    jpp_has(err.text, text, "its sentence");
    jpp_copy_close(&copy);
}


/* A heap that contradicts itself ends a walk, and nothing else. */

JPP_TEST(test_damaged)
{
    uint64_t    saved, *array;
    uintptr_t   table;

    test_run("damaged = { here = { 1, 2, {}, {}, {}, {}, {}, {}, {}, {}, {}, "
             "{}, {}, {}, {}, {}, {}, {}, {}, {} } }");
    lua.getfield(state, TEST_GLOBALS, "damaged");
    lua.getfield(state, -1, "here");
    table = (uintptr_t) lua.topointer(state, -1);
    lua.settop(state, 0);

    array = (uint64_t *) jpp_lua_word(table + JPP_LUA_TABLE_ARRAY);
    saved = array[3];

    array[3] = jpp_lua_value(jpp_lua_object(array[4]), JPP_LUA_STRING);
    test_fails(&err, JPP_ERR_INPUT, "the heap of LuaJIT contradicts itself at "
               "_G .here");

    array[3] = jpp_lua_value(4096, JPP_LUA_TABLE);
    test_fails(&err, JPP_ERR_GONE, "the child process failed at _G .here: it "
               "met an address without memory");
    array[3] = saved;

#if JPP_RED_ZONE == 0
    test_fails(NULL, JPP_ERR_LIMIT, "the walk through the heap of LuaJIT needs "
               "more than 6");
#endif
}


int
main(void)
{
    jpp_is_u64(jpp_lua_learn(&layout, &err), JPP_ERR_ABSENT, "no LuaJIT");
    jpp_is_str(err.text, "no function luaL_newstate is to be found: link nginx "
               "with -Wl,-E, or with a shared LuaJIT", "says what is missing");

    if (!test_load()) {
        jpp_ok(true, "LuaJIT # SKIP no libluajit-5.1.so.2");
        return jpp_done();
    }

    state = lua.newstate();
    lua.openlibs(state);

    jpp_tests_all();
    jpp_arena_destroy(&arena);

    return jpp_done();
}

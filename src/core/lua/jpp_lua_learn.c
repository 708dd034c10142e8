
/*
 * The layout of a VM, learned from one that is made for it: known objects are
 * made through the public functions, and members are found by their values.
 *
 * What is learned is tested on the same VM.  Its bytes are those of all its
 * objects and a rest that no object has: its state, and buffers.  While objects
 * of all types are added, the rest stays what it is, or a size is wrong.
 *
 * All of it happens in a child process, which a wrong guess may end.
 */


#include "jpp_lua.h"

#include <dlfcn.h>


/* CPU seconds, and the longest that a busy machine may take, ms */
#define JPP_LUA_LEARN_CPU     2
#define JPP_LUA_LEARN_MS      5000

/* how much of the global state is searched: there is more behind it */
#define JPP_LUA_STATE         1536

/* between its size and the VM's, without objects */
#define JPP_LUA_REST_MIN      2048
#define JPP_LUA_REST_MAX      65536

/* rounds of the test, and the most nodes of the hash of strings in it */
#define JPP_LUA_ROUNDS        8
#define JPP_LUA_STRINGS       65536

#define JPP_LUA_ROOTS         64

/* numbers of lua.h */
#define JPP_LUA_REGISTRY      (-10000)
#define JPP_LUA_GC_STOP       0
#define JPP_LUA_GC_COUNT      3
#define JPP_LUA_GC_COUNTB     4

/* a string is the fourth of the types that have a metatable in roots */
#define JPP_LUA_ROOT_STRING   4


typedef void  jpp_lua_thread_t;


/* The functions, by their names behind "lua". */

#define JPP_LUA_FUNCTIONS(X)                                                  \
    X(jpp_lua_thread_t *, L_newstate, (void))                                 \
    X(void, L_openlibs, (jpp_lua_thread_t *))                                 \
    X(int, L_loadstring, (jpp_lua_thread_t *, const char *))                  \
    X(int, _gc, (jpp_lua_thread_t *, int, int))                               \
    X(void, _createtable, (jpp_lua_thread_t *, int, int))                     \
    X(void, _pushlstring, (jpp_lua_thread_t *, const char *, size_t))         \
    X(void, _pushcclosure, (jpp_lua_thread_t *, int (*)(jpp_lua_thread_t *),  \
                            int))                                             \
    X(int, _getmetatable, (jpp_lua_thread_t *, int))                          \
    X(const void *, _topointer, (jpp_lua_thread_t *, int))                    \
    X(int, _pcall, (jpp_lua_thread_t *, int, int, int))

#define JPP_LUA_MEMBER(type, name, arguments)  type (*name) arguments;
#define JPP_LUA_NAME(type, name, arguments)    "lua" #name,


typedef struct {
    JPP_LUA_FUNCTIONS(JPP_LUA_MEMBER)
} jpp_lua_functions_t;


typedef struct {
    jpp_lua_functions_t   lua;
    jpp_lua_thread_t     *state;
    uintptr_t             global;
    jpp_peek_t            peek;
    jpp_lua_layout_t     *layout;
    uint64_t              bytes;       /* of objects */
    const char           *missing;     /* what was not found */
} jpp_lua_learner_t;


static const char *const  jpp_lua_names[] = {
    JPP_LUA_FUNCTIONS(JPP_LUA_NAME) NULL
};


/*
 * Objects of all types, more of each in every round, which stay: strings,
 * tables with an array, with nodes, with both; closures with upvalues that are
 * open and closed; threads, userdata, code.  No traces: for machine code LuaJIT
 * registers frames, which calls malloc(), and an allocator that samples would
 * wait for itself.
 */

static const char  jpp_lua_zoo[] =
    "local n = (zoo_n or 12) + 5  zoo_n = n\n"
    "zoo = zoo or {}\n"
    "local keep = {}  zoo[#zoo + 1] = keep\n"
    "local function add(v) keep[#keep + 1] = v end\n"
    "for i = 1, n do\n"
    "  add(('x'):rep(i) .. n)\n"
    "  local a, h = {}, {}\n"
    "  for k = 1, i do a[k] = k  h['k' .. k] = a end\n"
    "  add(a) add(h) add({ 1, 2, 3, i, x = 1 }) add({ i })\n"
    "  local up = i\n"
    "  add(function () up = up + 1 return up, h end)\n"
    "  add(function () return up end)\n"
    "  local co = coroutine.create(function (...)\n"
    "    local mine = {}\n"
    "    add(function () return mine end)\n"
    "    coroutine.yield(...)\n"
    "  end)\n"
    "  coroutine.resume(co, unpack(a))  add(co)\n"
    "  add(newproxy(true))\n"
    "  add(loadstring('local a, b = ' .. i .. ', {}  return a, b, '\n"
    "                 .. 'function () return a end'))\n"
    "end\n";

static const char  jpp_lua_zoo_ffi[] =
    "local ffi = require 'ffi'\n"
    "local keep = {}  zoo[#zoo + 1] = keep\n"
    "for i = 1, zoo_n do\n"
    "  keep[#keep + 1] = ffi.new('char[?]', i)\n"
    "  keep[#keep + 1] = ffi.new('struct { double d; char c[100]; }')\n"
    "  keep[#keep + 1] = ffi.new('int64_t', i)\n"
    "  keep[#keep + 1] = ffi.gc(ffi.new('int[3]'), function () end)\n"
    "end\n";


static bool
jpp_lua_run(jpp_lua_learner_t *learner, const char *code, int n_results)
{
    return learner->lua.L_loadstring(learner->state, code) == 0
           && learner->lua._pcall(learner->state, 0, n_results, 0) == 0;
}


static uint64_t
jpp_lua_count(const jpp_lua_learner_t *learner)
{
    return (uint64_t) learner->lua._gc(learner->state, JPP_LUA_GC_COUNT, 0)
           * 1024
           + (uint64_t) learner->lua._gc(learner->state, JPP_LUA_GC_COUNTB, 0);
}


/* The offset from FROM on of the first word that is VALUE; 0: there is none. */

static uint32_t
jpp_lua_find(jpp_lua_learner_t *learner, uint32_t from, uint64_t value,
    const char *what)
{
    uint32_t  offset;

    for (offset = from; offset < JPP_LUA_STATE; offset += 8) {
        if (jpp_lua_word(learner->global + offset) == value) {
            return offset;
        }
    }

    if (learner->missing == NULL) {
        learner->missing = what;
    }

    return 0;
}


/* The address of what is on top of the stack. */

static uintptr_t
jpp_lua_top(const jpp_lua_learner_t *learner)
{
    return (uintptr_t) learner->lua._topointer(learner->state, -1);
}


static bool
jpp_lua_count_string(void *data, uintptr_t object)
{
    (void) object;

    return ++*(uint32_t *) data < JPP_LUA_STRINGS;
}


/* Does the hash of strings, if that is one at OFFSET, have STRING? */

static bool
jpp_lua_has_string(const jpp_lua_learner_t *learner, uint32_t offset,
    uintptr_t string)
{
    uint32_t   i, mask, n;
    uint64_t   words[2], chain;
    uintptr_t  strings;

    strings = jpp_lua_word(learner->global + offset);
    mask = jpp_lua_half(learner->global + offset + 8);

    if (strings % 8 != 0 || mask < 63 || mask >= JPP_LUA_STRINGS
        || (mask & (mask + 1)) != 0)
    {
        return false;
    }

    for (i = 0, n = 0; i <= mask; i++) {

        if (!jpp_peek(&learner->peek, strings + 8 * i, &chain, 8)) {
            return false;
        }

        for (chain &= ~(uint64_t) 1; chain != 0; chain = words[0]) {

            if (chain == string) {
                return true;
            }

            if (!jpp_peek(&learner->peek, chain, words, sizeof(words))
                || (words[1] >> 8 & 0xff) != JPP_LUA_STRING
                || !jpp_lua_count_string(&n, chain))
            {
                return false;
            }
        }
    }

    return false;
}


/*
 * The length of a string, and how it adds to its size: the hash of strings may
 * grow meanwhile, but not each time.
 */

static bool
jpp_lua_learn_strings(jpp_lua_learner_t *learner)
{
    char       text[128];
    uint32_t   i, len, exact, rounded;
    uint64_t   before, took;
    uintptr_t  string;

    memset(text, 'j', sizeof(text));
    exact = rounded = 0;
    string = 0;

    for (i = 0; i < 16; i++) {
        len = 61 + i;
        before = jpp_lua_count(learner);

        learner->lua._pushlstring(learner->state, text, len);

        string = jpp_lua_top(learner);
        took = jpp_lua_count(learner) - before;

        exact += took == JPP_LUA_STRING_DATA + len + 1;
        rounded += took == ((JPP_LUA_STRING_DATA + len + 4) & ~(uint64_t) 3);

        if (i == 0) {
            learner->layout->length = jpp_lua_half(string + 20) == len ? 20
                                                                       : 16;
        }

        if (jpp_lua_half(string + learner->layout->length) != len
            || memcmp((const char *) string + JPP_LUA_STRING_DATA, text, len)
               != 0)
        {
            learner->missing = "the length of strings";
            return false;
        }
    }

    learner->layout->is_rounded = rounded > exact;

    for (i = 0; i < JPP_LUA_STATE; i += 8) {
        if (jpp_lua_has_string(learner, i, string)) {
            learner->layout->strings = i;
            return true;
        }
    }

    learner->missing = "the hash of strings";

    return false;
}


/*
 * The buffer for strings is in the shape of one: three pointers, and a thread
 * with flags in its lowest bits.  It has room for the largest string made.
 */

static void
jpp_lua_learn_buffer(jpp_lua_learner_t *learner)
{
    uint32_t  offset;
    uint64_t  words[4];

    if (!jpp_lua_run(learner, "return ('x'):rep(70001)", 1)) {
        learner->missing = "its buffer";
        return;
    }

    for (offset = 0; offset < JPP_LUA_STATE; offset += 8) {
        memcpy(words, (const void *) (learner->global + offset), sizeof(words));

        if (words[2] != 0 && words[0] >= words[2] && words[0] <= words[1]
            && words[1] - words[2] >= 70001 && words[1] - words[2] <= 1 << 20
            && (words[3] & ~(uint64_t) 7) == (uintptr_t) learner->state)
        {
            learner->layout->buffer = offset;
            return;
        }
    }

    learner->missing = "its buffer";
}


/* Roots that are no object of the registry lie between two that are known. */

static void
jpp_lua_learn_roots(jpp_lua_learner_t *learner)
{
    uint32_t           first, last;
    uint64_t           words[4];
    jpp_lua_layout_t  *layout;

    layout = learner->layout;

    learner->lua._pushlstring(learner->state, "", 0);
    (void) learner->lua._getmetatable(learner->state, -1);

    first = jpp_lua_find(learner, layout->main, jpp_lua_top(learner),
                         "the metatable of strings")
            - JPP_LUA_ROOT_STRING * 8;

    if (!jpp_lua_run(learner, "return io.output()", 1)) {
        learner->missing = "io.output()";
        return;
    }

    last = jpp_lua_find(learner, first,
                        jpp_lua_top(learner) - JPP_LUA_USERDATA_SIZE,
                        "the standard output");

    layout->roots = first;
    layout->n_roots = (last - first) / 8 + 1;

    if (learner->missing == NULL
        && (last <= first || layout->n_roots > JPP_LUA_ROOTS))
    {
        learner->missing = "the roots";
    }

    /* a pointer to what has a pointer to the global state */

    if (learner->missing != NULL
        || !jpp_lua_run(learner, "require 'ffi'", 0))
    {
        return;
    }

    for (first = layout->main; first < layout->roots; first += 8) {

        if (jpp_peek(&learner->peek, jpp_lua_word(learner->global + first),
                     words, sizeof(words))
            && words[3] == learner->global && words[2] >> 47 == 0)
        {
            layout->ctypes = first;
            return;
        }
    }

    learner->missing = "the types of FFI";
}


/* A function of C: is the VM at work while it is called? */

static bool  jpp_lua_was_busy;

static int
jpp_lua_probe(jpp_lua_thread_t *state)
{
    jpp_lua_was_busy = !jpp_lua_is_idle((uintptr_t) state);

    return 0;
}


static bool
jpp_lua_is_busy_while_called(const jpp_lua_learner_t *learner)
{
    bool  was_idle;

    was_idle = jpp_lua_is_idle((uintptr_t) learner->state);

    learner->lua._pushcclosure(learner->state, jpp_lua_probe, 0);

    return was_idle
           && learner->lua._pcall(learner->state, 0, 0, 0) == 0
           && jpp_lua_was_busy
           && jpp_lua_is_idle((uintptr_t) learner->state);
}


static bool
jpp_lua_add_size(void *data, uintptr_t object)
{
    jpp_lua_vm_t       state;
    jpp_lua_learner_t *learner = data;

    jpp_lua_open(&state, learner->layout, (uintptr_t) learner->state);
    learner->bytes += jpp_lua_size(&state, object);

    return true;
}


/* The bytes that no object has. */

static uint64_t
jpp_lua_rest(jpp_lua_learner_t *learner)
{
    uint64_t      others;
    jpp_lua_vm_t  state;

    learner->bytes = 0;

    jpp_lua_open(&state, learner->layout, (uintptr_t) learner->state);
    others = jpp_lua_objects(&state, jpp_lua_add_size, learner);

    return jpp_lua_total(learner->layout, (uintptr_t) learner->state)
           - learner->bytes - others;
}


/* Buffers grow at first; a wrong size makes the rest another in each round. */

static jpp_code_t
jpp_lua_test(jpp_lua_learner_t *learner, jpp_err_t *err)
{
    uint32_t  i;
    uint64_t  rest, before;

    before = JPP_NONE;
    rest = 0;

    for (i = 0; i < JPP_LUA_ROUNDS; i++) {

        if (!jpp_lua_run(learner, jpp_lua_zoo, 0)
            || (learner->layout->ctypes != 0
                && !jpp_lua_run(learner, jpp_lua_zoo_ffi, 0)))
        {
            return jpp_err_set(err, JPP_ERR_ABSENT, "the layout of this LuaJIT "
                               "cannot be tested: it does not run the code of "
                               "the test");
        }

        rest = jpp_lua_rest(learner);

        if (rest == before && rest >= JPP_LUA_REST_MIN
            && rest <= JPP_LUA_REST_MAX)
        {
            return JPP_OK;
        }

        before = rest;
    }

    return jpp_err_set(err, JPP_ERR_ABSENT, "the layout of this LuaJIT is "
                       "unknown: of %" PRIu64 " bytes of a test, %" PRId64
                       " belong to no object",
                       jpp_lua_total(learner->layout,
                                     (uintptr_t) learner->state),
                       (int64_t) rest);
}


static jpp_code_t
jpp_lua_learn_state(jpp_lua_learner_t *learner, jpp_err_t *err)
{
    uint64_t           registry;
    uintptr_t          vm;
    jpp_lua_layout_t  *layout;

    layout = learner->layout;
    vm = (uintptr_t) learner->state;

    (void) learner->lua._gc(learner->state, JPP_LUA_GC_STOP, 0);
    (void) jpp_lua_run(learner, "jit.off()", 0);

    layout->total = jpp_lua_find(learner, 0, jpp_lua_count(learner),
                                 "the number of bytes");

    learner->lua._createtable(learner->state, 0, 0);
    layout->root = jpp_lua_find(learner, 0, jpp_lua_top(learner),
                                "the list of objects");
    layout->main = jpp_lua_find(learner, layout->root, vm, "the main thread");

    registry = (uintptr_t) learner->lua._topointer(learner->state,
                                                   JPP_LUA_REGISTRY);
    layout->registry = jpp_lua_find(learner, layout->main,
                                    jpp_lua_value(registry, JPP_LUA_TABLE),
                                    "the registry");

    if (learner->missing == NULL && jpp_lua_learn_strings(learner)) {
        jpp_lua_learn_buffer(learner);
        jpp_lua_learn_roots(learner);
    }

    if (learner->missing == NULL && !jpp_lua_is_busy_while_called(learner)) {
        learner->missing = "whether it is at work";
    }

    if (learner->missing != NULL) {
        return jpp_err_set(err, JPP_ERR_ABSENT, "the layout of this LuaJIT is "
                           "unknown: its state does not show %s",
                           learner->missing);
    }

    return jpp_lua_test(learner, err);
}


/* In the child. */

static jpp_code_t
jpp_lua_learn_work(void *data, jpp_copy_page_t *page)
{
    uintptr_t          vm;
    jpp_lua_learner_t *learner = data;

    jpp_print(page->where, "a VM made for the test of its layout");

    learner->state = learner->lua.L_newstate();

    if (learner->state == NULL) {
        return jpp_err_set(&page->err, JPP_ERR_ABSENT, "LuaJIT cannot make "
                           "another VM");
    }

    learner->lua.L_openlibs(learner->state);

    vm = (uintptr_t) learner->state;
    learner->global = jpp_lua_word(vm + JPP_LUA_THREAD_GLOBAL);
    learner->layout = (void *) page->result;
    learner->layout->global = (uint32_t) (learner->global - vm);

    /* with references of 32 bits something else is there */

    if (jpp_lua_byte(vm + JPP_LUA_TYPE) != JPP_LUA_THREAD
        || learner->global - vm < 96 || learner->global - vm > 256)
    {
        return jpp_err_set(&page->err, JPP_ERR_ABSENT, "this LuaJIT was built "
                           "without GC64, so that its objects have references "
                           "of 32 bits");
    }

    return jpp_lua_learn_state(learner, &page->err);
}


jpp_code_t
jpp_lua_learn(jpp_lua_layout_t *layout, jpp_err_t *err)
{
    size_t             i;
    void             **function;
    jpp_code_t         rc;
    jpp_copy_t     copy;
    jpp_lua_learner_t  learner;

    _Static_assert(sizeof(jpp_lua_layout_t) <= JPP_COPY_RESULT, "a layout");

    memset(&learner, 0, sizeof(jpp_lua_learner_t));
    function = (void **) &learner.lua;

    for (i = 0; jpp_lua_names[i] != NULL; i++) {
        function[i] = dlsym(RTLD_DEFAULT, jpp_lua_names[i]);

        if (function[i] == NULL) {
            return jpp_err_set(err, JPP_ERR_ABSENT, "no function %s is to be "
                               "found: link nginx with -Wl,-E, or with a "
                               "shared LuaJIT", jpp_lua_names[i]);
        }
    }

    if (dlsym(RTLD_DEFAULT, "luaJIT_setmode") == NULL) {
        return jpp_err_set(err, JPP_ERR_ABSENT, "this Lua is not LuaJIT");
    }

    /* descriptors are shared, and a child that dies closes none */

    if (!jpp_peek_open(&learner.peek)) {
        return jpp_err_sys(err, errno, "no pipe to look at LuaJIT's memory");
    }

    rc = jpp_copy_open(&copy, jpp_lua_learn_work, &learner,
                           JPP_LUA_LEARN_CPU, err);

    if (rc == JPP_OK) {
        rc = jpp_copy_wait(&copy, JPP_LUA_LEARN_MS, err);
    }

    jpp_peek_close(&learner.peek);

    if (rc == JPP_ERR_LATE) {
        rc = jpp_err_set(err, JPP_ERR_LATE, "the layout of LuaJIT was not "
                         "learned within %d s", JPP_LUA_LEARN_MS / 1000);
    }

    if (rc == JPP_OK) {
        memcpy(layout, copy.page->result, sizeof(jpp_lua_layout_t));
    }

    jpp_copy_close(&copy);

    return rc;
}

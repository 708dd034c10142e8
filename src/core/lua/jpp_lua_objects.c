
/*
 * Sizes, as lj_*_free() of LuaJIT computes them.  A table has an array beside
 * it unless that lies in the same block, and nodes unless it has none; a thread
 * has a stack; a buffer has its bytes, unless they are a string's.
 */


#include "jpp_lua.h"


/* bits of the byte marked */
#define JPP_LUA_IS_VARIABLE  0x80          /* of cdata: it has a header */

/* of cdata */
#define JPP_LUA_CDATA_ID     10
#define JPP_LUA_CDATA_SIZE   16

/* of FFI: its table of types, with a size in each */
#define JPP_LUA_CTYPES_TOP   12
#define JPP_LUA_CTYPE        24

/* the last kind with a size; the first that stands for another type */
#define JPP_LUA_CTYPE_SIZED  5
#define JPP_LUA_CTYPE_NAMES  7
#define JPP_LUA_CTYPE_HOPS   16

#define JPP_LUA_UPVALUE_SIZE 48

/* of userdata: a buffer, and flags of one that is not its own */
#define JPP_LUA_BUFFER       3
#define JPP_LUA_BUFFER_COW   6

/* of traces */
#define JPP_LUA_TRACE_SNAP   48
#define JPP_LUA_TRACE_MAP    56
#define JPP_LUA_SNAP         12


void
jpp_lua_open(jpp_lua_vm_t *state, const jpp_lua_layout_t *layout, uintptr_t vm)
{
    uintptr_t  ctypes;

    memset(state, 0, sizeof(jpp_lua_vm_t));

    state->layout = layout;
    state->vm = vm;
    state->global = vm + layout->global;

    ctypes = layout->ctypes != 0
             ? jpp_lua_word(state->global + layout->ctypes) : 0;

    if (ctypes != 0) {
        state->ctypes = jpp_lua_word(ctypes);
        state->n_ctypes = jpp_lua_half(ctypes + JPP_LUA_CTYPES_TOP);
    }
}


bool
jpp_lua_is_vm(const jpp_lua_layout_t *layout, const jpp_peek_t *peek,
    uintptr_t address)
{
    uint8_t   head[JPP_LUA_THREAD_GLOBAL + 8];
    uint64_t  word;

    if (address % 8 != 0 || address >> 47 != 0
        || !jpp_peek(peek, address, head, sizeof(head))
        || head[JPP_LUA_TYPE] != JPP_LUA_THREAD)
    {
        return false;
    }

    memcpy(&word, head + JPP_LUA_THREAD_GLOBAL, sizeof(word));

    return word == address + layout->global
           && jpp_peek(peek, word + layout->main, &word, sizeof(word))
           && word == address;
}


uint64_t
jpp_lua_total(const jpp_lua_layout_t *layout, uintptr_t vm)
{
    return jpp_lua_word(vm + layout->global + layout->total);
}


bool
jpp_lua_is_idle(uintptr_t vm)
{
    return jpp_lua_word(vm + JPP_LUA_THREAD_CFRAME) == 0;
}


static uint64_t
jpp_lua_size_string(const jpp_lua_vm_t *state, uintptr_t object)
{
    uint64_t  size;

    size = JPP_LUA_STRING_DATA
           + (uint64_t) jpp_lua_half(object + state->layout->length) + 1;

    return state->layout->is_rounded ? (size + 3) & ~(uint64_t) 3 : size;
}


static uint64_t
jpp_lua_size_table(uintptr_t object)
{
    int8_t    colo;
    uint64_t  size;

    size = JPP_LUA_TABLE_SIZE;
    colo = (int8_t) jpp_lua_byte(object + JPP_LUA_TABLE_COLO);

    /* room in its own block, which is negative where an array has replaced
       it */

    size += (uint64_t) (colo & 0x7f) * 8;

    if (colo <= 0) {
        size += (uint64_t) jpp_lua_half(object + JPP_LUA_TABLE_ASIZE) * 8;
    }

    if (jpp_lua_half(object + JPP_LUA_TABLE_HMASK) != 0) {
        size += ((uint64_t) jpp_lua_half(object + JPP_LUA_TABLE_HMASK) + 1)
                * JPP_LUA_NODE;
    }

    return size;
}


static uint64_t
jpp_lua_size_cdata(const jpp_lua_vm_t *state, uintptr_t object)
{
    uint32_t   id, info, hops;
    uintptr_t  type;

    if (jpp_lua_byte(object + JPP_LUA_MARKED) & JPP_LUA_IS_VARIABLE) {
        return (uint64_t) jpp_lua_half(object - 4) + jpp_lua_short(object - 6);
    }

    id = jpp_lua_short(object + JPP_LUA_CDATA_ID);

    for (hops = 0; id < state->n_ctypes && hops < JPP_LUA_CTYPE_HOPS; hops++) {
        type = state->ctypes + (uint64_t) id * JPP_LUA_CTYPE;
        info = jpp_lua_half(type);

        if (info >> 28 <= JPP_LUA_CTYPE_SIZED) {
            return JPP_LUA_CDATA_SIZE + (uint64_t) jpp_lua_half(type + 4);
        }

        if (info >> 28 < JPP_LUA_CTYPE_NAMES) {
            break;
        }

        id = info & 0xffff;
    }

    /* what has no size, such as a function, is referred to */

    return JPP_LUA_CDATA_SIZE + 8;
}


static uint64_t
jpp_lua_size_userdata(uintptr_t object)
{
    uint64_t   size;
    uintptr_t  buffer;

    size = JPP_LUA_USERDATA_SIZE
           + (uint64_t) jpp_lua_half(object + JPP_LUA_USERDATA_LEN);

    if (jpp_lua_byte(object + 10) == JPP_LUA_BUFFER) {
        buffer = object + JPP_LUA_USERDATA_SIZE;

        /* write, end, begin, and a thread with flags */

        if ((jpp_lua_word(buffer + 24) & JPP_LUA_BUFFER_COW) == 0) {
            size += jpp_lua_word(buffer + 8) - jpp_lua_word(buffer + 16);
        }
    }

    return size;
}


/*
 * A trace ends with its snapshots and their map, whose length has 32 bits, or
 * in builds before 2020 16; the number of snapshots, which is known from where
 * the map begins, says which.
 */

static uint64_t
jpp_lua_size_trace(uintptr_t object)
{
    uint64_t  n, map;

    map = jpp_lua_word(object + JPP_LUA_TRACE_MAP);
    n = (map - jpp_lua_word(object + JPP_LUA_TRACE_SNAP)) / JPP_LUA_SNAP;

    return map - object
           + 4 * (uint64_t) (jpp_lua_short(object + 10) == n
                             ? jpp_lua_half(object + 44)
                             : jpp_lua_short(object + 46));
}


uint64_t
jpp_lua_size(const jpp_lua_vm_t *state, uintptr_t object)
{
    uint8_t  n;

    n = jpp_lua_byte(object + JPP_LUA_FUNCTION_NUV);

    switch (jpp_lua_byte(object + JPP_LUA_TYPE)) {

    case JPP_LUA_STRING:
        return jpp_lua_size_string(state, object);

    case JPP_LUA_UPVALUE:
        return JPP_LUA_UPVALUE_SIZE;

    case JPP_LUA_THREAD:

        /* the main one lies in the VM's state */

        return (object == state->vm ? 0 : state->layout->global)
               + (uint64_t) jpp_lua_half(object + JPP_LUA_THREAD_SLOTS) * 8;

    case JPP_LUA_PROTOTYPE:
        return jpp_lua_half(object + JPP_LUA_PROTO_SIZE);

    case JPP_LUA_FUNCTION:
        return (jpp_lua_byte(object + JPP_LUA_FUNCTION_ID) == 0
                ? JPP_LUA_FUNCTION_LUA : JPP_LUA_FUNCTION_C)
               + (uint64_t) n * 8;

    case JPP_LUA_TRACE:
        return jpp_lua_size_trace(object);

    case JPP_LUA_CDATA:
        return jpp_lua_size_cdata(state, object);

    case JPP_LUA_TABLE:
        return jpp_lua_size_table(object);

    case JPP_LUA_USERDATA:
        return jpp_lua_size_userdata(object);

    default:
        return 0;
    }
}


/* Of a chain of objects; false: enough. */

static bool
jpp_lua_chain(uintptr_t object, jpp_lua_visit_pt visit, void *data)
{
    for ( /* void */ ; object != 0; object = jpp_lua_word(object)) {

        if (!visit(data, object)) {
            return false;
        }

        /* upvalues that are open lie in no other list */

        if (jpp_lua_byte(object + JPP_LUA_TYPE) == JPP_LUA_THREAD
            && !jpp_lua_chain(jpp_lua_word(object + JPP_LUA_THREAD_OPEN),
                              visit, data))
        {
            return false;
        }
    }

    return true;
}


uint64_t
jpp_lua_objects(const jpp_lua_vm_t *state, jpp_lua_visit_pt visit, void *data)
{
    uint64_t   i, n;
    uintptr_t  at, strings;

    at = state->global + state->layout->strings;
    strings = jpp_lua_word(at);
    n = (uint64_t) jpp_lua_half(at + 8) + 1;

    if (!jpp_lua_chain(jpp_lua_word(state->global + state->layout->root),
                       visit, data))
    {
        return 0;
    }

    /* the lowest bit says which hash a chain has */

    for (i = 0; i < n; i++) {
        if (!jpp_lua_chain(jpp_lua_word(strings + 8 * i) & ~(uintptr_t) 1,
                           visit, data))
        {
            return 0;
        }
    }

    at = state->global + state->layout->buffer;

    return 8 * n + (uint64_t) state->n_ctypes * JPP_LUA_CTYPE
           + jpp_lua_word(at + 8) - jpp_lua_word(at + 16);
}


/*
 * The heap of a LuaJIT in this process, read from its memory: the layout, which
 * is learned, and the walk from the roots.
 *
 * LuaJIT's allocator maps its own memory, so no malloc() sees its objects.  The
 * layout of objects is the same in all builds with GC64 since 2017; the layout
 * of the VM's state is not, and is learned from a VM made for that, through the
 * functions lua_*, found by name.  No header of LuaJIT is used.
 *
 * A VM is named by the address of its main thread, a lua_State.  Whoever reads
 * a VM is on the event loop while no Lua runs, or in a copy of such a process
 * (jpp_copy_open()).
 */


#ifndef _JPP_LUA_H_INCLUDED_
#define _JPP_LUA_H_INCLUDED_


#include "jpp_proc.h"


/* Objects: numbers as VMs have them, in their headers and in values. */
typedef enum {
    JPP_LUA_STRING = 4,
    JPP_LUA_UPVALUE,
    JPP_LUA_THREAD,
    JPP_LUA_PROTOTYPE,
    JPP_LUA_FUNCTION,
    JPP_LUA_TRACE,
    JPP_LUA_CDATA,
    JPP_LUA_TABLE,
    JPP_LUA_USERDATA,
    JPP_LUA_TYPES
} jpp_lua_type_t;


/*
 * Offsets of members, in bytes: of the global state, which follows the main
 * thread, and at the end of strings.
 */
typedef struct {
    uint32_t   global;         /* of the global state in the main thread */
    uint32_t   total;          /* bytes allocated */
    uint32_t   root;           /* the list of all objects but strings */
    uint32_t   strings;        /* the hash of strings, and behind it its mask */
    uint32_t   main;           /* the main thread */
    uint32_t   buffer;         /* for strings: where it is, ends, begins */
    uint32_t   registry;
    uint32_t   ctypes;         /* the types of FFI; 0: there is no FFI */
    uint32_t   roots;          /* metatables of types, open files ... */
    uint32_t   n_roots;
    uint32_t   length;         /* of a string, in its header */
    bool       is_rounded;     /* the size of a string, to 4 bytes */
} jpp_lua_layout_t;


/*
 * Fill LAYOUT from a VM that is made, and tested, in a child process.
 * JPP_ERR_ABSENT: this process has no LuaJIT, or one whose layout is unknown;
 * ERR says which, and what differs.  Outside signals.
 */
jpp_code_t jpp_lua_learn(jpp_lua_layout_t *layout, jpp_err_t *err);

/* Is ADDRESS, any number, the main thread of a VM? */
bool jpp_lua_is_vm(const jpp_lua_layout_t *layout, const jpp_peek_t *peek,
    uintptr_t address);

/* The bytes that VM has allocated. */
uint64_t jpp_lua_total(const jpp_lua_layout_t *layout, uintptr_t vm);

/* Is no Lua running in VM? */
bool jpp_lua_is_idle(uintptr_t vm);


/* A VM that is walked. */
typedef struct {
    const jpp_lua_layout_t  *layout;
    uintptr_t                vm;
    uintptr_t                global;
    uintptr_t                ctypes;       /* their table; 0: none */
    uint32_t                 n_ctypes;
} jpp_lua_vm_t;


/* False: enough. */
typedef bool (*jpp_lua_visit_pt)(void *data, uintptr_t object);


/* Initialize the caller's STATE for VM. */
void jpp_lua_open(jpp_lua_vm_t *state, const jpp_lua_layout_t *layout,
    uintptr_t vm);

/* The size of OBJECT with all that only it refers to. */
uint64_t jpp_lua_size(const jpp_lua_vm_t *state, uintptr_t object);

/*
 * Call VISIT with each object of the VM, until it returns false; and return the
 * size of what is no object: the tables of strings and of FFI's types, and the
 * buffer.
 */
uint64_t jpp_lua_objects(const jpp_lua_vm_t *state, jpp_lua_visit_pt visit,
    void *data);


/*
 * Which objects were seen: a bit for every 8 bytes, in a hash of pages.
 * Nothing is written to the VM's memory, which the kernel would have to copy.
 */
typedef struct {
    jpp_vec_t               *pages;
    jpp_index_t              index;
    uint32_t                 last;         /* page that was looked at; 0 */
} jpp_lua_seen_t;


/* Initialize the caller's SEEN, in ARENA; false: no memory. */
bool jpp_lua_seen_init(jpp_lua_seen_t *seen, jpp_arena_t *arena);

bool jpp_lua_is_seen(jpp_lua_seen_t *seen, uintptr_t object);

/* OBJECT is seen from now on; false: no memory. */
bool jpp_lua_see(jpp_lua_seen_t *seen, uintptr_t object);


/*
 * Walk VM, which is idle and has NAME, and write what each path of it holds to
 * SINK (jpp_parsers.h), in a copy that says in PAGE how far it is, and what
 * went wrong.  It takes no lock, and no memory but an arena's: 64 MiB and a
 * quarter of the VM's bytes at most.
 */
jpp_code_t jpp_lua_walk(const jpp_lua_layout_t *layout, uintptr_t vm,
    const char *name, jpp_sink_t *sink, jpp_copy_page_t *page);


/* of objects: where members lie, in all builds */

#define JPP_LUA_MARKED         8       /* of any object */
#define JPP_LUA_TYPE           9

#define JPP_LUA_STRING_DATA    24

#define JPP_LUA_THREAD_GLOBAL  16
#define JPP_LUA_THREAD_TOP     40
#define JPP_LUA_THREAD_STACK   56
#define JPP_LUA_THREAD_OPEN    64
#define JPP_LUA_THREAD_ENV     72
#define JPP_LUA_THREAD_CFRAME  80
#define JPP_LUA_THREAD_SLOTS   88

#define JPP_LUA_PROTO_K        32
#define JPP_LUA_PROTO_NKGC     48
#define JPP_LUA_PROTO_SIZE     56
#define JPP_LUA_PROTO_NUV      60
#define JPP_LUA_PROTO_CHUNK    64
#define JPP_LUA_PROTO_UVINFO   88
#define JPP_LUA_PROTO_HEAD     104     /* its size; its code follows */

#define JPP_LUA_UPVALUE_VALUE  32

#define JPP_LUA_FUNCTION_ID    10      /* 0: of Lua */
#define JPP_LUA_FUNCTION_NUV   11
#define JPP_LUA_FUNCTION_ENV   16
#define JPP_LUA_FUNCTION_PC    32
#define JPP_LUA_FUNCTION_LUA   40      /* its upvalues */
#define JPP_LUA_FUNCTION_C     48

#define JPP_LUA_TABLE_NOMM     10
#define JPP_LUA_TABLE_COLO     11
#define JPP_LUA_TABLE_ARRAY    16
#define JPP_LUA_TABLE_META     32      /* of userdata, too */
#define JPP_LUA_TABLE_NODE     40
#define JPP_LUA_TABLE_ASIZE    48
#define JPP_LUA_TABLE_HMASK    52
#define JPP_LUA_TABLE_SIZE     64
#define JPP_LUA_NODE           24      /* value, key, next */

#define JPP_LUA_USERDATA_ENV   16
#define JPP_LUA_USERDATA_LEN   24
#define JPP_LUA_USERDATA_SIZE  48

/* the kind of what is held, by its type */
#define JPP_LUA_KIND(type)     ((uint32_t) (type) - JPP_LUA_STRING + 1)

#define jpp_lua_word(address)  (*(const uint64_t *) (address))
#define jpp_lua_half(address)  (*(const uint32_t *) (address))
#define jpp_lua_short(address) (*(const uint16_t *) (address))
#define jpp_lua_byte(address)  (*(const uint8_t *) (address))


/* The tag of a value, as of its type; 13: a number; 0..3: nothing to follow. */
static inline uint32_t
jpp_lua_tag(uint64_t value)
{
    uint32_t  tag;

    tag = ~(uint32_t) ((int64_t) value >> 47);

    return tag < 13 ? tag : 13;
}


/* The object that a value refers to. */
static inline uintptr_t
jpp_lua_object(uint64_t value)
{
    return value & (((uint64_t) 1 << 47) - 1);
}


/* A value that refers to OBJECT. */
static inline uint64_t
jpp_lua_value(uintptr_t object, jpp_lua_type_t type)
{
    return object | (uint64_t) ~(uint64_t) type << 47;
}


/* May VALUE refer to an object? */
static inline bool
jpp_lua_is_object(uint64_t value)
{
    uint32_t  tag;

    tag = jpp_lua_tag(value);

    return tag >= JPP_LUA_STRING && tag < JPP_LUA_TYPES;
}


#endif /* _JPP_LUA_H_INCLUDED_ */


/*
 * The walk: breadth first, so that what is shared goes to the shortest path; by
 * package.loaded first, then by _G, by the rest of the registry, and by what is
 * in neither.  The garbage collector's rules say what an object refers to
 * (lj_gc.c), weak references included.
 *
 * A path has a node for each name.  What an object's own keys and constants
 * are, and small values that refer to nothing, count as the object's.  Of large
 * tables all values have one name; so have chains of one name, such as .next.
 */


#include "jpp_lua.h"
#include "jpp_parsers.h"


/* slots of a table whose values have names of their own */
#define JPP_LUA_NAMED       512

/* bytes from which on a string or cdata has one */
#define JPP_LUA_LARGE       4096

/* a node of less than this part of a VM is its parent's */
#define JPP_LUA_SMALL       20000

/* nodes, and columns of a name; and the memory of a walk, in bytes, and beyond
   that as a part of the VM's */
#define JPP_LUA_NODES       65536
#define JPP_LUA_COLUMNS     60
#define JPP_LUA_CAP         ((size_t) 64 << 20)
#define JPP_LUA_CAP_PART    4

#define JPP_LUA_CHUNK       4096

/* of MARKED: an object that is never collected */
#define JPP_LUA_FIXED       0x60

/* a bit of NOMM: there is no __mode */
#define JPP_LUA_NO_MODE     8

#define JPP_LUA_WEAK_KEYS   1
#define JPP_LUA_WEAK_VALUES 2

#define JPP_LUA_STACK_SKIP  2
#define JPP_LUA_FINALIZER   32


typedef struct {
    uint32_t                parent;        /* id; 0: none */
    uint32_t                name;          /* where it begins in names */
    uint32_t                depth;
    bool                    is_small;      /* it is its parent's */
    uint64_t                objects[JPP_LUA_KINDS];
    uint64_t                bytes[JPP_LUA_KINDS];
} jpp_lua_node_t;


/* An object that is known, and whose references are not yet. */
typedef struct {
    uintptr_t               object;
    uint32_t                node;
} jpp_lua_item_t;

typedef struct jpp_lua_chunk_s  jpp_lua_chunk_t;

struct jpp_lua_chunk_s {
    jpp_lua_chunk_t        *next;
    uint32_t                n;
    jpp_lua_item_t          items[JPP_LUA_CHUNK];
};


typedef struct {
    jpp_lua_vm_t            vm;
    jpp_arena_t             arena;
    jpp_copy_page_t    *page;

    jpp_lua_seen_t          seen;

    jpp_vec_t              *nodes;         /* jpp_lua_node_t */
    jpp_index_t             names_index;
    jpp_vec_t              *names;

    jpp_lua_chunk_t        *first;         /* of the queue, and what of it is */
    uint32_t                n_taken;       /*   done */
    jpp_lua_chunk_t        *tail;
    jpp_lua_chunk_t        *unused;

    uintptr_t               meta;          /* the last metatable, and what it */
    uint32_t                weak;          /*   says is weak */

    const char             *root;          /* what is walked, for errors */
    uint32_t                at;            /* node */
    uint32_t                garbage;       /* nodes */
    uint32_t                own;
    uint64_t                found;         /* bytes */
    uint64_t                n_objects;
    bool                    failed;        /* no memory */
    bool                    is_odd;        /* a value is not what it says */
} jpp_lua_walk_t;


/* How a reference is named: a text behind a prefix, or by a key. */
typedef struct {
    const char             *prefix;
    const char             *text;
    uint64_t                key;           /* a value, without a text */
} jpp_lua_step_t;


#define jpp_lua_node_at(walk, id)                                             \
    (&jpp_vec_items((walk)->nodes, jpp_lua_node_t)[(id) - 1])

#define jpp_lua_name_at(walk, id)                                             \
    ((const char *) (walk)->names->data + jpp_lua_node_at(walk, id)->name)


/* The node NAME below PARENT; where there may be no more, that is PARENT. */

static uint32_t
jpp_lua_node(jpp_lua_walk_t *walk, uint32_t parent, const char *name,
    size_t len)
{
    char             *to;
    uint32_t          id, hash, pos, depth;
    jpp_lua_node_t   *node;

    if (parent != 0 && strcmp(jpp_lua_name_at(walk, parent), name) == 0) {
        return parent;
    }

    hash = jpp_hash_bytes(name, len) ^ parent * 0x9e3779b1u;
    pos = hash;

    while ((id = jpp_index_next(&walk->names_index, hash, &pos)) != 0) {
        if (jpp_lua_node_at(walk, id)->parent == parent
            && strcmp(jpp_lua_name_at(walk, id), name) == 0)
        {
            return id;
        }
    }

    id = (uint32_t) jpp_vec_count(walk->nodes, jpp_lua_node_t) + 1;

    depth = parent != 0 ? jpp_lua_node_at(walk, parent)->depth + 1 : 1;

    if (depth > JPP_LUA_DEPTH || (depth > 2 && id > JPP_LUA_NODES)) {
        return parent;
    }

    to = jpp_vec_push(walk->names, len + 1);
    node = jpp_vec_push(walk->nodes, sizeof(jpp_lua_node_t));

    if (to == NULL || node == NULL
        || !jpp_index_add(&walk->names_index, hash, id))
    {
        walk->failed = true;
        return parent;
    }

    memcpy(to, name, len);
    node->name = (uint32_t) (walk->names->len - len - 1);
    node->parent = parent;
    node->depth = depth;

    return id;
}


static bool
jpp_lua_is_identifier(const char *text, size_t len)
{
    size_t  i;

    for (i = 0; i < len; i++) {
        if (!((text[i] >= 'a' && text[i] <= 'z')
              || (text[i] >= 'A' && text[i] <= 'Z') || text[i] == '_'
              || (i != 0 && text[i] >= '0' && text[i] <= '9')))
        {
            return false;
        }
    }

    return len != 0;
}


/* ".name", ["any text"], [3], [table]; returns the length. */

static size_t
jpp_lua_name(const jpp_lua_walk_t *walk, const jpp_lua_step_t *step,
    char name[JPP_UTF8_SHORT(JPP_LUA_COLUMNS) + 8])
{
    double       number;
    size_t       len, n;
    uint32_t     tag;
    uintptr_t    object;
    const char  *text;

    static const char *const  others[] = {
        "[nil]", "[false]", "[true]", "[lightuserdata]", "", "[upvalue]",
        "[thread]", "[prototype]", "[function]", "[trace]", "[cdata]",
        "[table]", "[userdata]"
    };

    if (step->text != NULL) {
        len = strlen(step->prefix);
        memcpy(name, step->prefix, len);

        len += jpp_utf8_short(name + len, step->text, strlen(step->text),
                              JPP_LUA_COLUMNS);
        name[len] = '\0';

        return len;
    }

    tag = jpp_lua_tag(step->key);

    if (tag == JPP_LUA_STRING) {
        object = jpp_lua_object(step->key);
        text = (const char *) object + JPP_LUA_STRING_DATA;
        n = jpp_lua_half(object + walk->vm.layout->length);

        if (jpp_lua_is_identifier(text, jpp_smaller(n, JPP_LUA_COLUMNS))) {
            name[0] = '.';
            len = 1 + jpp_utf8_short(name + 1, text, n, JPP_LUA_COLUMNS);

        } else {
            memcpy(name, "[\"", 2);
            len = 2 + jpp_utf8_short(name + 2, text, n, JPP_LUA_COLUMNS);
            memcpy(name + len, "\"]", 2);
            len += 2;
        }

        name[len] = '\0';

        return len;
    }

    if (tag < JPP_LUA_TYPES) {
        return (size_t) snprintf(name, JPP_LUA_COLUMNS, "%s", others[tag]);
    }

    /* builds with integers mark them with a tag of their own */

    if ((int64_t) step->key >> 47 == ~(int64_t) 13) {
        number = (int32_t) (uint32_t) step->key;

    } else {
        memcpy(&number, &step->key, sizeof(number));
    }

    return number >= -1e15 && number <= 1e15
           ? (size_t) snprintf(name, JPP_LUA_COLUMNS, "[%" PRId64 "]",
                               (int64_t) number)
           : (size_t) snprintf(name, JPP_LUA_COLUMNS, "[number]");
}


static void
jpp_lua_push(jpp_lua_walk_t *walk, uintptr_t object, uint32_t node)
{
    jpp_lua_chunk_t  *chunk;

    chunk = walk->tail;

    if (chunk == NULL || chunk->n == JPP_LUA_CHUNK) {
        chunk = walk->unused;

        if (chunk != NULL) {
            walk->unused = chunk->next;

        } else {
            chunk = jpp_arena_alloc(&walk->arena, sizeof(jpp_lua_chunk_t));

            if (chunk == NULL) {
                walk->failed = true;
                return;
            }
        }

        chunk->next = NULL;
        chunk->n = 0;

        *(walk->tail != NULL ? &walk->tail->next : &walk->first) = chunk;
        walk->tail = chunk;
    }

    chunk->items[chunk->n].object = object;
    chunk->items[chunk->n++].node = node;
}


static bool
jpp_lua_pop(jpp_lua_walk_t *walk, jpp_lua_item_t *item)
{
    jpp_lua_chunk_t  *chunk;

    chunk = walk->first;

    if (chunk != NULL && walk->n_taken == chunk->n) {

        walk->first = chunk->next;
        walk->tail = chunk->next != NULL ? walk->tail : NULL;
        walk->n_taken = 0;

        chunk->next = walk->unused;
        walk->unused = chunk;
        chunk = walk->first;
    }

    if (chunk == NULL || walk->failed || walk->is_odd) {
        return false;
    }

    *item = chunk->items[walk->n_taken++];

    return true;
}


/* The bytes of OBJECT are NODE's. */

static void
jpp_lua_take(jpp_lua_walk_t *walk, uintptr_t object, uint32_t node)
{
    uint32_t         kind;
    uint64_t         size;
    jpp_lua_node_t  *holder;

    size = jpp_lua_size(&walk->vm, object);
    kind = JPP_LUA_KIND(jpp_lua_byte(object + JPP_LUA_TYPE));
    holder = jpp_lua_node_at(walk, node);

    holder->objects[kind]++;
    holder->bytes[kind] += size;
    walk->found += size;
    walk->n_objects++;
}


/* OBJECT, which is one, belongs to NODE unless it is somebody's already. */

static void
jpp_lua_reach(jpp_lua_walk_t *walk, uintptr_t object, uint32_t node)
{
    uint8_t  type;

    if (object == 0 || jpp_lua_is_seen(&walk->seen, object)) {
        return;
    }

    type = jpp_lua_byte(object + JPP_LUA_TYPE);

    if (type < JPP_LUA_STRING || type >= JPP_LUA_TYPES || object % 8 != 0) {
        walk->is_odd = true;
        return;
    }

    walk->failed |= !jpp_lua_see(&walk->seen, object);
    jpp_lua_take(walk, object, node);

    if (type != JPP_LUA_STRING && type != JPP_LUA_CDATA) {
        jpp_lua_push(walk, object, node);
    }
}


/* What VALUE refers to belongs to the node STEP below NODE, or to NODE. */

static void
jpp_lua_reach_value(jpp_lua_walk_t *walk, uint64_t value, uint32_t node,
    const jpp_lua_step_t *step)
{
    char       name[JPP_UTF8_SHORT(JPP_LUA_COLUMNS) + 8];
    size_t     len;
    uint32_t   tag;
    uintptr_t  object;

    tag = jpp_lua_tag(value);
    object = jpp_lua_object(value);

    if (!jpp_lua_is_object(value) || jpp_lua_is_seen(&walk->seen, object)) {
        return;
    }

    if (jpp_lua_byte(object + JPP_LUA_TYPE) != tag) {
        walk->is_odd = true;
        return;
    }

    if (step != NULL
        && ((tag != JPP_LUA_STRING && tag != JPP_LUA_CDATA)
            || jpp_lua_size(&walk->vm, object) >= JPP_LUA_LARGE))
    {
        len = jpp_lua_name(walk, step, name);
        node = jpp_lua_node(walk, node, name, len);
    }

    jpp_lua_reach(walk, object, node);
}


static void
jpp_lua_reach_named(jpp_lua_walk_t *walk, uintptr_t object, uint32_t node,
    const char *name)
{
    if (object != 0 && !jpp_lua_is_seen(&walk->seen, object)) {
        jpp_lua_reach(walk, object,
                      jpp_lua_node(walk, node, name, strlen(name)));
    }
}


/* Is the string that VALUE refers to, if it does, TEXT? */

static bool
jpp_lua_is_text(const jpp_lua_walk_t *walk, uint64_t value, const char *text)
{
    uintptr_t  object;

    object = jpp_lua_object(value);

    return jpp_lua_tag(value) == JPP_LUA_STRING
           && jpp_lua_half(object + walk->vm.layout->length) == strlen(text)
           && memcmp((const char *) object + JPP_LUA_STRING_DATA, text,
                     strlen(text))
              == 0;
}


/* The value that TABLE has under the key TEXT; 0: none (or the number 0). */

static uint64_t
jpp_lua_get(const jpp_lua_walk_t *walk, uintptr_t table, const char *text)
{
    uint32_t   n;
    uintptr_t  node;

    node = jpp_lua_word(table + JPP_LUA_TABLE_NODE);

    for (n = jpp_lua_half(table + JPP_LUA_TABLE_HMASK) + 1; n != 0; n--) {

        if (jpp_lua_tag(jpp_lua_word(node)) != 0
            && jpp_lua_is_text(walk, jpp_lua_word(node + 8), text))
        {
            return jpp_lua_word(node);
        }

        node += JPP_LUA_NODE;
    }

    return 0;
}


static uint32_t
jpp_lua_weak(jpp_lua_walk_t *walk, uintptr_t meta)
{
    uint64_t     mode;
    const char  *text;

    if (meta == 0
        || (jpp_lua_byte(meta + JPP_LUA_TABLE_NOMM) & JPP_LUA_NO_MODE) != 0)
    {
        return 0;
    }

    if (meta == walk->meta) {
        return walk->weak;
    }

    walk->meta = meta;
    walk->weak = 0;

    mode = jpp_lua_get(walk, meta, "__mode");

    if (jpp_lua_tag(mode) == JPP_LUA_STRING) {
        text = (const char *) jpp_lua_object(mode) + JPP_LUA_STRING_DATA;

        walk->weak = (strchr(text, 'k') != NULL ? JPP_LUA_WEAK_KEYS : 0)
                     | (strchr(text, 'v') != NULL ? JPP_LUA_WEAK_VALUES : 0);
    }

    return walk->weak;
}


/* A node without a value keeps its key, which may be gone. */

static void
jpp_lua_table(jpp_lua_walk_t *walk, uintptr_t table, uint32_t node)
{
    uint32_t         i, n, n_nodes, weak;
    uint64_t         value;
    uintptr_t        at, meta;
    jpp_lua_step_t   step = { "", NULL, 0 };

    meta = jpp_lua_word(table + JPP_LUA_TABLE_META);
    weak = jpp_lua_weak(walk, meta);

    jpp_lua_reach_named(walk, meta, node, "(metatable)");

    n = jpp_lua_half(table + JPP_LUA_TABLE_ASIZE);
    n_nodes = jpp_lua_half(table + JPP_LUA_TABLE_HMASK);
    n_nodes += n_nodes != 0;

    if ((uint64_t) n + n_nodes > JPP_LUA_NAMED) {
        step.text = "[*]";
    }

    if ((weak & JPP_LUA_WEAK_VALUES) == 0) {
        at = jpp_lua_word(table + JPP_LUA_TABLE_ARRAY);

        for (i = 0; i < n; i++) {
            step.key = ~(uint64_t) 13 << 47 | i;
            jpp_lua_reach_value(walk, jpp_lua_word(at + 8 * (uint64_t) i),
                                node, &step);
        }
    }

    at = jpp_lua_word(table + JPP_LUA_TABLE_NODE);

    for (i = 0; i < n_nodes; i++, at += JPP_LUA_NODE) {
        value = jpp_lua_word(at);

        if (jpp_lua_tag(value) == 0) {
            continue;
        }

        step.key = jpp_lua_word(at + 8);

        if ((weak & JPP_LUA_WEAK_KEYS) == 0) {
            jpp_lua_reach_value(walk, step.key, node, NULL);
        }

        if ((weak & JPP_LUA_WEAK_VALUES) == 0) {
            jpp_lua_reach_value(walk, value, node, &step);
        }
    }
}


/* The names of upvalues follow each other; code may have been stripped. */

static void
jpp_lua_function(jpp_lua_walk_t *walk, uintptr_t function, uint32_t node)
{
    uint8_t         i, n;
    uintptr_t       proto, upvalue;
    const char     *name;
    jpp_lua_step_t  step = { "^", "", 0 };

    n = jpp_lua_byte(function + JPP_LUA_FUNCTION_NUV);

    jpp_lua_reach_named(walk, jpp_lua_word(function + JPP_LUA_FUNCTION_ENV),
                        node, "(env)");

    if (jpp_lua_byte(function + JPP_LUA_FUNCTION_ID) != 0) {

        for (i = 0; i < n; i++) {
            jpp_lua_reach_value(walk, jpp_lua_word(function + JPP_LUA_FUNCTION_C
                                                   + 8 * (uint64_t) i),
                                node, &step);
        }

        return;
    }

    proto = jpp_lua_word(function + JPP_LUA_FUNCTION_PC) - JPP_LUA_PROTO_HEAD;
    name = (const char *) jpp_lua_word(proto + JPP_LUA_PROTO_UVINFO);

    jpp_lua_reach(walk, proto, node);

    for (i = 0; i < n; i++) {
        upvalue = jpp_lua_word(function + JPP_LUA_FUNCTION_LUA
                               + 8 * (uint64_t) i);

        if (name != NULL) {
            step.text = name;
            name += strlen(name) + 1;
        }

        if (!jpp_lua_is_seen(&walk->seen, upvalue)) {
            walk->failed |= !jpp_lua_see(&walk->seen, upvalue);
            jpp_lua_take(walk, upvalue, node);
        }

        jpp_lua_reach_value(walk,
                            jpp_lua_word(jpp_lua_word(upvalue
                                         + JPP_LUA_UPVALUE_VALUE)),
                            node, &step);
    }
}


static void
jpp_lua_prototype(jpp_lua_walk_t *walk, uintptr_t proto, uint32_t node)
{
    uint64_t   i, n;
    uintptr_t  constants;

    n = jpp_lua_half(proto + JPP_LUA_PROTO_NKGC);
    constants = jpp_lua_word(proto + JPP_LUA_PROTO_K);

    jpp_lua_reach(walk, jpp_lua_word(proto + JPP_LUA_PROTO_CHUNK), node);

    for (i = 1; i <= n; i++) {
        jpp_lua_reach(walk, jpp_lua_word(constants - 8 * i), node);
    }
}


/* What is above the top is old.  The first slots are no values. */

static void
jpp_lua_thread(jpp_lua_walk_t *walk, uintptr_t thread, uint32_t node)
{
    uintptr_t       at, top;
    jpp_lua_step_t  step = { "(stack)", "", 0 };

    at = jpp_lua_word(thread + JPP_LUA_THREAD_STACK) + 8 * JPP_LUA_STACK_SKIP;
    top = jpp_lua_word(thread + JPP_LUA_THREAD_TOP);

    for ( /* void */ ; at < top; at += 8) {
        jpp_lua_reach_value(walk, jpp_lua_word(at), node, &step);
    }

    jpp_lua_reach_named(walk, jpp_lua_word(thread + JPP_LUA_THREAD_ENV), node,
                        "(env)");

    for (at = jpp_lua_word(thread + JPP_LUA_THREAD_OPEN);
         at != 0;
         at = jpp_lua_word(at))
    {
        jpp_lua_reach(walk, at, node);
    }
}


static void
jpp_lua_userdata(jpp_lua_walk_t *walk, uintptr_t userdata, uint32_t node)
{
    jpp_lua_reach_named(walk, jpp_lua_word(userdata + JPP_LUA_TABLE_META), node,
                        "(metatable)");
    jpp_lua_reach_named(walk, jpp_lua_word(userdata + JPP_LUA_USERDATA_ENV),
                        node, "(env)");
}


/* For the sentence of whoever finds that the child has died. */

static void
jpp_lua_mark(jpp_lua_walk_t *walk, uint32_t node)
{
    size_t       len;
    char        *where;
    const char  *name;

    walk->at = node;
    where = walk->page->where;
    name = jpp_lua_name_at(walk, node);

    len = strlen(walk->root);
    memcpy(where, walk->root, len);
    where[len++] = ' ';

    (void) memccpy(where + len, name, '\0', JPP_COPY_WHERE - 1 - len);
}


static void
jpp_lua_run_queue(jpp_lua_walk_t *walk)
{
    jpp_lua_item_t  item;

    while (jpp_lua_pop(walk, &item)) {

        if (item.node != walk->at) {
            jpp_lua_mark(walk, item.node);
        }

        switch (jpp_lua_byte(item.object + JPP_LUA_TYPE)) {

        case JPP_LUA_TABLE:
            jpp_lua_table(walk, item.object, item.node);
            break;

        case JPP_LUA_FUNCTION:
            jpp_lua_function(walk, item.object, item.node);
            break;

        case JPP_LUA_PROTOTYPE:
            jpp_lua_prototype(walk, item.object, item.node);
            break;

        case JPP_LUA_THREAD:
            jpp_lua_thread(walk, item.object, item.node);
            break;

        case JPP_LUA_USERDATA:
            jpp_lua_userdata(walk, item.object, item.node);
            break;

        case JPP_LUA_UPVALUE:
            jpp_lua_reach_value(walk,
                                jpp_lua_word(jpp_lua_word(item.object
                                             + JPP_LUA_UPVALUE_VALUE)),
                                item.node, NULL);
            break;

        default:
            break;
        }
    }
}


/* What nobody has reached, but the words of the language itself. */

static bool
jpp_lua_unreached(void *data, uintptr_t object)
{
    jpp_lua_walk_t *walk = data;

    if (!jpp_lua_is_seen(&walk->seen, object)) {
        jpp_lua_take(walk, object,
                     jpp_lua_byte(object + JPP_LUA_MARKED) & JPP_LUA_FIXED
                     ? walk->own : walk->garbage);
    }

    return !walk->failed;
}


/* The tables that begin the walk are known before what refers to them. */

static void
jpp_lua_walk_roots(jpp_lua_walk_t *walk, uint32_t top)
{
    size_t      i;
    uint32_t    node, n;
    uint64_t    others, ctypes;
    uintptr_t   registry, global;

    const struct {
        const char  *name;
        uintptr_t    table;
    } roots[] = {
        { "package.loaded",
          jpp_lua_object(jpp_lua_get(walk, jpp_lua_object(jpp_lua_word(
              walk->vm.global + walk->vm.layout->registry)), "_LOADED")) },
        { "_G", jpp_lua_word(walk->vm.vm + JPP_LUA_THREAD_ENV) },
        { "registry", jpp_lua_object(jpp_lua_word(
              walk->vm.global + walk->vm.layout->registry)) }
    };

    for (i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
        registry = roots[i].table;

        if (registry != 0 && !jpp_lua_is_seen(&walk->seen, registry)) {
            node = jpp_lua_node(walk, top, roots[i].name,
                                strlen(roots[i].name));
            walk->failed |= !jpp_lua_see(&walk->seen, registry);
            jpp_lua_take(walk, registry, node);
        }
    }

    for (i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {

        if (roots[i].table != 0) {
            walk->root = roots[i].name;
            jpp_lua_push(walk, roots[i].table,
                         jpp_lua_node(walk, top, roots[i].name,
                                      strlen(roots[i].name)));
            jpp_lua_run_queue(walk);
        }
    }

    walk->root = "the roots";
    node = walk->own;

    jpp_lua_reach_named(walk, walk->vm.vm, top, "main thread");

    global = walk->vm.global + walk->vm.layout->roots;

    for (n = 0; n < walk->vm.layout->n_roots; n++) {
        jpp_lua_reach(walk, jpp_lua_word(global + 8 * (uint64_t) n), node);
    }

    ctypes = walk->vm.layout->ctypes != 0
             ? jpp_lua_word(walk->vm.global + walk->vm.layout->ctypes) : 0;

    if (ctypes != 0) {
        jpp_lua_reach_named(walk, jpp_lua_word(ctypes + JPP_LUA_FINALIZER),
                            top, "(ffi)");
    }

    jpp_lua_run_queue(walk);

    if (walk->failed || walk->is_odd) {
        return;
    }

    walk->root = "the list of all objects";
    jpp_lua_mark(walk, top);

    others = jpp_lua_objects(&walk->vm, jpp_lua_unreached, walk);

    jpp_lua_node_at(walk, walk->own)->bytes[0] += others;
    jpp_lua_node_at(walk, walk->own)->objects[0]++;
    walk->found += others;
}


/* Nodes that are small go to their parents, which come before them. */

static void
jpp_lua_fold(jpp_lua_walk_t *walk, uint64_t total)
{
    uint32_t         id, kind;
    uint64_t         bytes;
    jpp_lua_node_t  *node, *parent;

    for (id = (uint32_t) jpp_vec_count(walk->nodes, jpp_lua_node_t);
         id != 0;
         id--)
    {
        node = jpp_lua_node_at(walk, id);

        for (kind = 0, bytes = 0; kind < JPP_LUA_KINDS; kind++) {
            bytes += node->bytes[kind];
        }

        node->is_small = node->depth > 2 && bytes <= total / JPP_LUA_SMALL;

        if (!node->is_small) {
            continue;
        }

        parent = jpp_lua_node_at(walk, node->parent);

        for (kind = 0; kind < JPP_LUA_KINDS; kind++) {
            parent->bytes[kind] += node->bytes[kind];
            parent->objects[kind] += node->objects[kind];
            node->bytes[kind] = 0;
        }
    }
}


static void
jpp_lua_write(jpp_lua_walk_t *walk, const char *name, uint64_t total,
    jpp_sink_t *sink)
{
    uint32_t               id, n, kind;
    const jpp_lua_node_t  *node;

    jpp_sink_printf(sink, "vm %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n", total,
                    walk->found, walk->n_objects, name);

    n = (uint32_t) jpp_vec_count(walk->nodes, jpp_lua_node_t);

    for (id = 2; id <= n; id++) {
        node = jpp_lua_node_at(walk, id);

        jpp_sink_str(sink, "node ");
        jpp_sink_u64(sink, node->parent);
        jpp_sink_char(sink, ' ');
        jpp_sink_str(sink, jpp_lua_name_at(walk, id));
        jpp_sink_char(sink, '\n');

        for (kind = 0; kind < JPP_LUA_KINDS; kind++) {

            if (node->bytes[kind] != 0) {
                jpp_sink_str(sink, jpp_lua_kinds[kind]);
                jpp_sink_char(sink, ' ');
                jpp_sink_u64(sink, node->objects[kind]);
                jpp_sink_char(sink, ' ');
                jpp_sink_u64(sink, node->bytes[kind]);
                jpp_sink_char(sink, '\n');
            }
        }
    }
}


jpp_code_t
jpp_lua_walk(const jpp_lua_layout_t *layout, uintptr_t vm, const char *name,
    jpp_sink_t *sink, jpp_copy_page_t *page)
{
    uint32_t          top;
    uint64_t          total;
    jpp_lua_walk_t   *walk, begin;

    walk = &begin;
    memset(walk, 0, sizeof(jpp_lua_walk_t));

    jpp_lua_open(&walk->vm, layout, vm);
    total = jpp_lua_total(layout, vm);

    walk->page = page;
    walk->root = "the beginning";

    jpp_arena_init(&walk->arena, JPP_LUA_CAP + total / JPP_LUA_CAP_PART);
    jpp_index_init(&walk->names_index, &walk->arena);

    walk->nodes = jpp_vec_create(&walk->arena);
    walk->names = jpp_vec_create(&walk->arena);

    walk->failed = !jpp_lua_seen_init(&walk->seen, &walk->arena)
                   || walk->nodes == NULL || walk->names == NULL;

    top = walk->failed ? 0 : jpp_lua_node(walk, 0, name, strlen(name));

    if (!walk->failed) {
        walk->own = jpp_lua_node(walk, top, "(VM)", 4);
        walk->garbage = jpp_lua_node(walk, top, JPP_LUA_GARBAGE,
                                     sizeof(JPP_LUA_GARBAGE) - 1);
    }

    if (!walk->failed) {
        jpp_lua_walk_roots(walk, top);
    }

    if (walk->is_odd) {
        (void) jpp_err_set(&page->err, JPP_ERR_INPUT, "the heap of LuaJIT "
                           "contradicts itself at %s", page->where);

    } else if (walk->failed) {
        (void) jpp_err_set(&page->err, JPP_ERR_LIMIT, "the walk through the "
                           "heap of LuaJIT needs more than %zu MiB",
                           walk->arena.cap >> 20);

    } else {

        /* its state and its buffers, which no list has */

        jpp_lua_node_at(walk, walk->own)->bytes[0]
            += jpp_less(total, walk->found);

        jpp_lua_fold(walk, total);
        jpp_lua_write(walk, name, total, sink);
    }

    jpp_arena_destroy(&walk->arena);

    return page->err.code;
}

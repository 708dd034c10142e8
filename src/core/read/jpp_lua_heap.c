
/*
 * Parses the heap of LuaJIT into a profile.
 *
 *     capture := "jpp_lua/1" NL *vm "end " stop " " walk NL
 *     vm      := "vm " total " " found " " objects " " name NL *( node *held )
 *     node    := "node " parent " " name NL
 *     held    := kind " " objects " " bytes NL
 *
 * Times are nanoseconds.  The nodes of a VM have numbers from 2, in their
 * order; 1 is the VM itself.  A name is all of the rest of its line.
 *
 *     http;package.loaded;["session"];.cache;strings
 */


#include "jpp_parsers.h"


#define JPP_LUA_MAPPING  "[LuaJIT]"
#define JPP_LUA_START    4096


/* What captures say of themselves, added up. */
typedef struct {
    uint32_t                   n_vms;
    uint64_t                   total;
    uint64_t                   found;          /* in objects */
    uint64_t                   objects;
    uint64_t                   stop;           /* the longest */
    uint64_t                   walk;           /* the same */
} jpp_lua_sums_t;


typedef struct {
    uint32_t                   parent;         /* number; 0: none */
    uint32_t                   depth;
    uint32_t                   location;
} jpp_lua_place_t;


typedef struct {
    jpp_profile_t             *profile;
    const jpp_read_options_t  *options;
    const char                *p;
    const char                *end;
    jpp_vec_t                 *places;         /* jpp_lua_place_t */
    uint32_t                   mapping;
    uint32_t                   kinds[JPP_LUA_KINDS];   /* locations */
    uint32_t                   sets[JPP_LUA_KINDS];    /* label sets */
    jpp_lua_sums_t             sums;
} jpp_lua_reading_t;


static const jpp_value_type_t  jpp_lua_types[JPP_LUA_VALUES] = {
    { "inuse_objects", "count", false, 0, JPP_LUA_OBJECTS },
    { "inuse_space",   "bytes", false, 0, JPP_LUA_OBJECTS }
};


const char *const  jpp_lua_kinds[JPP_LUA_KINDS + 1] = {
    "state", "strings", "upvalues", "threads", "prototypes", "functions",
    "traces", "cdata", "tables", "userdata", NULL
};


static jpp_code_t
jpp_lua_heap_open(jpp_dump_t *dump, jpp_profile_t *profile, const char *data,
    size_t len, const char *tail, jpp_err_t *err)
{
    (void) profile;
    (void) tail;

    jpp_dump_init(dump, data, len);

    if (jpp_scan_text(data, data + len, JPP_LUA_HEAD) == NULL) {
        return jpp_err_set(err, JPP_ERR_INPUT, "the heap of LuaJIT does not "
                           "begin as one");
    }

    /* every scan ends at a newline at the latest */

    if (data[len - 1] != '\n') {
        return jpp_err_set(err, JPP_ERR_CUT, "the heap of LuaJIT was cut");
    }

    return JPP_OK;
}


/* N numbers with a blank behind each, or NL behind the last; false: no. */

static bool
jpp_lua_heap_numbers(jpp_lua_reading_t *reading, uint64_t *numbers, unsigned n,
    char last)
{
    unsigned     i;
    const char  *p;

    for (i = 0, p = reading->p; i < n; i++) {
        p = jpp_scan_dec(p, &numbers[i]);

        if (p == NULL || numbers[i] > INT64_MAX
            || *p++ != (i + 1 < n ? ' ' : last))
        {
            return false;
        }
    }

    reading->p = p;

    return true;
}


static bool
jpp_lua_heap_is(jpp_lua_reading_t *reading, const char *word)
{
    const char  *p;

    p = jpp_scan_text(reading->p, reading->end, word);

    if (p == NULL || p == reading->end || *p != ' ') {
        return false;
    }

    reading->p = p + 1;

    return true;
}


/* The rest of the line is the name of a place below PARENT. */

static jpp_code_t
jpp_lua_heap_place(jpp_lua_reading_t *reading, uint64_t parent)
{
    const char       *name;
    jpp_lua_place_t  *place, *above;

    name = reading->p;
    reading->p = (const char *) memchr(name, '\n',
                                       (size_t) (reading->end - name)) + 1;

    if (parent > jpp_vec_count(reading->places, jpp_lua_place_t)
        || reading->p - name > JPP_LUA_NAME)
    {
        return JPP_ERR_INPUT;
    }

    place = jpp_vec_push(reading->places, sizeof(jpp_lua_place_t));
    if (place == NULL) {
        return JPP_ERR_MEMORY;
    }

    above = jpp_vec_items(reading->places, jpp_lua_place_t) + parent - 1;

    place->parent = (uint32_t) parent;
    place->depth = parent == 0 ? 1 : above->depth + 1;
    place->location = jpp_profile_frame(reading->profile, reading->mapping,
                                        name, (size_t) (reading->p - name) - 1);

    if (place->location == 0) {
        return JPP_ERR_MEMORY;
    }

    return place->depth <= JPP_LUA_DEPTH ? JPP_OK : JPP_ERR_INPUT;
}


/* The last place holds objects of KIND, which are a leaf and a label. */

static jpp_code_t
jpp_lua_heap_held(jpp_lua_reading_t *reading, uint32_t kind)
{
    int64_t                 sign, values[JPP_MAX_COLUMNS] = { 0 };
    uint32_t                n, at, ids[JPP_LUA_DEPTH + 1];
    uint64_t                held[JPP_LUA_VALUES];
    jpp_label_t             label;
    const jpp_lua_place_t  *places;

    at = (uint32_t) jpp_vec_count(reading->places, jpp_lua_place_t);

    if (at == 0
        || !jpp_lua_heap_numbers(reading, held, JPP_LUA_VALUES, '\n'))
    {
        return JPP_ERR_INPUT;
    }

    if (reading->kinds[kind] == 0) {
        memset(&label, 0, sizeof(jpp_label_t));

        label.key = "type";
        label.str = jpp_lua_kinds[kind];

        reading->kinds[kind] = jpp_profile_frame(reading->profile,
                                                 reading->mapping, label.str,
                                                 strlen(label.str));

        if (!jpp_profile_labels(reading->profile, reading->options->labels, 0,
                                &label, 1, &reading->sets[kind]))
        {
            return JPP_ERR_MEMORY;
        }
    }

    places = jpp_vec_items(reading->places, jpp_lua_place_t);
    ids[0] = reading->kinds[kind];

    for (n = 1; at != 0; at = places[at - 1].parent) {
        ids[n++] = places[at - 1].location;
    }

    sign = reading->options->is_base ? -1 : 1;

    values[JPP_LUA_OBJECTS] = sign * (int64_t) held[JPP_LUA_OBJECTS];
    values[JPP_LUA_SPACE] = sign * (int64_t) held[JPP_LUA_SPACE];

    return jpp_profile_stack(reading->profile, reading->sets[kind], ids, n)
           && jpp_profile_commit(reading->profile, reading->options->columns,
                                 values)
           ? JPP_OK : JPP_ERR_MEMORY;
}


/* One line; JPP_ERR_CUT: the last one. */

static jpp_code_t
jpp_lua_heap_line(jpp_lua_reading_t *reading)
{
    uint32_t         kind;
    uint64_t         numbers[3];
    jpp_lua_sums_t  *sums;

    sums = &reading->sums;

    if (jpp_lua_heap_is(reading, "node")) {
        return jpp_lua_heap_numbers(reading, numbers, 1, ' ')
               && numbers[0] != 0
               ? jpp_lua_heap_place(reading, numbers[0]) : JPP_ERR_INPUT;
    }

    if (jpp_lua_heap_is(reading, "vm")) {

        if (!jpp_lua_heap_numbers(reading, numbers, 3, ' ')) {
            return JPP_ERR_INPUT;
        }

        sums->n_vms++;
        sums->total += numbers[0];
        sums->found += numbers[1];
        sums->objects += numbers[2];

        reading->places->len = 0;

        return jpp_lua_heap_place(reading, 0);
    }

    if (jpp_lua_heap_is(reading, "end")) {

        if (!jpp_lua_heap_numbers(reading, numbers, 2, '\n')) {
            return JPP_ERR_INPUT;
        }

        sums->stop = numbers[0];
        sums->walk = numbers[1];

        return reading->p == reading->end ? JPP_ERR_CUT : JPP_ERR_INPUT;
    }

    for (kind = 0; kind < JPP_LUA_KINDS; kind++) {
        if (jpp_lua_heap_is(reading, jpp_lua_kinds[kind])) {
            return jpp_lua_heap_held(reading, kind);
        }
    }

    return JPP_ERR_INPUT;
}


static jpp_code_t
jpp_lua_heap_read(jpp_profile_t *profile, const jpp_dump_t *dump,
    const jpp_read_options_t *options, jpp_err_t *err)
{
    jpp_code_t          rc;
    jpp_lua_sums_t     *sums;
    jpp_lua_reading_t   reading;

    memset(&reading, 0, sizeof(jpp_lua_reading_t));

    reading.profile = profile;
    reading.options = options;
    reading.p = dump->data + sizeof(JPP_LUA_HEAD) - 1;
    reading.end = dump->data + dump->len;
    reading.places = jpp_vec_create(profile->arena);
    reading.mapping = jpp_profile_frames(profile, JPP_LUA_START,
                                         JPP_LUA_MAPPING);

    profile->is_difference |= options->is_base;

    rc = reading.places != NULL && reading.mapping != 0 ? JPP_OK
                                                        : JPP_ERR_MEMORY;

    while (rc == JPP_OK && reading.p < reading.end) {
        rc = jpp_lua_heap_line(&reading);
    }

    if (rc == JPP_ERR_MEMORY) {
        return jpp_err_memory(err);
    }

    if (rc == JPP_ERR_INPUT) {
        return jpp_err_line(err, JPP_ERR_INPUT,
                            jpp_dump_line(dump, reading.p),
                            "the heap of LuaJIT has a line that is not of it");
    }

    if (rc == JPP_OK) {
        return jpp_err_set(err, JPP_ERR_CUT, "the heap of LuaJIT has no end");
    }

    if (!options->is_base) {
        sums = profile->facts;

        sums->n_vms += reading.sums.n_vms;
        sums->total += reading.sums.total;
        sums->found += reading.sums.found;
        sums->objects += reading.sums.objects;
        sums->stop = jpp_larger(sums->stop, reading.sums.stop);
        sums->walk = jpp_larger(sums->walk, reading.sums.walk);
    }

    return JPP_OK;
}


static void
jpp_lua_heap_describe(jpp_profile_t *profile)
{
    const jpp_lua_sums_t  *sums;

    sums = profile->facts;

    jpp_profile_comment(profile, "the heap of LuaJIT: %" PRIu64 " bytes in "
                        "%" PRIu32 " VM%s, %.2f %% of them in %" PRIu64
                        " objects that were found",
                        sums->total, sums->n_vms, sums->n_vms == 1 ? "" : "s",
                        sums->total != 0 ? 100 * (double) sums->found
                                           / (double) sums->total : 0,
                        sums->objects);

    jpp_profile_comment(profile, "walked in a copy of the worker within %s; "
                        "the worker stood still for %s to be copied%s",
                        jpp_duration(sums->walk), jpp_duration(sums->stop),
                        sums->n_vms > 1 ? ", at most" : "");
}


const jpp_parser_t  jpp_parser_lua = {
    .name = "lua",
    .values = jpp_lua_types,
    .types = JPP_PARSER_WORDS(jpp_lua_types, JPP_LUA_VALUES, JPP_LUA_SPACE),
    .absent = "it contains only memory in use",
    .period_type = "space",
    .period_unit = "bytes",
    .period = 1,
    .facts_size = sizeof(jpp_lua_sums_t),
    .parts = jpp_lua_kinds,
    .open = jpp_lua_heap_open,
    .read = jpp_lua_heap_read,
    .describe = jpp_lua_heap_describe
};

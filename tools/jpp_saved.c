
#include "jpp_saved.h"
#include "profile.pb-c.h"

#include <math.h>


/* enough of a packed file for one byte of it */
#define JPP_SAVED_PEEK  1024


typedef struct {
    jpp_profile_t              *profile;
    const jpp_read_options_t   *options;
    Jpp__Pprof__Profile        *message;
    uint32_t                    columns[JPP_MAX_TYPES];   /* of its types */
    jpp_mapping_t              *mappings;     /* where the file has them, */
    uint32_t                   *mapping_ids;  /*   and where the profile */
    uint32_t                   *frames;       /* of all locations, leaf first */
    size_t                     *first;        /* of each, and the end */
    jpp_err_t                  *err;
    jpp_code_t                  rc;           /* the first fault */
} jpp_saved_t;


typedef struct {
    jpp_arena_t                *arena;
    bool                        has_failed;
} jpp_saved_memory_t;


static void *
jpp_saved_alloc(void *data, size_t size)
{
    void                *p;
    jpp_saved_memory_t  *memory = data;

    p = jpp_arena_alloc(memory->arena, size);
    memory->has_failed |= p == NULL;

    return p;
}


static void
jpp_saved_free(void *data, void *p)
{
    (void) data;
    (void) p;
}


/* A fault of the file: WHAT number I, which has only N. */

static void
jpp_saved_fault(jpp_saved_t *saved, const char *what, uint64_t i, size_t n)
{
    if (saved->rc == JPP_OK) {
        saved->rc = jpp_err_set(saved->err, JPP_ERR_INPUT, "the profile is "
                                "damaged: it refers to %s %" PRIu64 " of %zu",
                                what, i, n);
    }
}


static bool
jpp_saved_memory(jpp_saved_t *saved, bool is_there)
{
    if (saved->rc == JPP_OK && !is_there) {
        saved->rc = jpp_err_memory(saved->err);
    }

    return saved->rc == JPP_OK;
}


static const char *
jpp_saved_string(jpp_saved_t *saved, int64_t i)
{
    if ((uint64_t) i < saved->message->n_string_table) {
        return saved->message->string_table[i];
    }

    if (i != 0) {
        jpp_saved_fault(saved, "string", (uint64_t) i,
                        saved->message->n_string_table);
    }

    return "";
}


/* The index of ID of N things, which their file numbers from 1 in order. */

static size_t
jpp_saved_index(jpp_saved_t *saved, const char *what, uint64_t id, size_t n)
{
    if (id - 1 < n) {
        return (size_t) id - 1;
    }

    jpp_saved_fault(saved, what, id, n);

    return SIZE_MAX;
}


/* Is everything numbered by its place, as all writers do it? */

static void
jpp_saved_numbers(jpp_saved_t *saved)
{
    size_t                       i;
    const Jpp__Pprof__Profile   *message = saved->message;

    for (i = 0; i < message->n_mapping; i++) {
        if (message->mapping[i]->id != i + 1) {
            jpp_saved_fault(saved, "mapping", message->mapping[i]->id, i);
        }
    }

    for (i = 0; i < message->n_function; i++) {
        if (message->function[i]->id != i + 1) {
            jpp_saved_fault(saved, "function", message->function[i]->id, i);
        }
    }

    for (i = 0; i < message->n_location; i++) {
        if (message->location[i]->id != i + 1) {
            jpp_saved_fault(saved, "location", message->location[i]->id, i);
        }
    }
}


static jpp_code_t
jpp_saved_types(jpp_saved_t *saved)
{
    size_t                        i, k;
    const char                   *type, *unit;
    const jpp_value_type_t       *known = saved->profile->types;
    const Jpp__Pprof__Profile    *message = saved->message;

    for (i = 0; i < message->n_sample_type; i++) {
        type = jpp_saved_string(saved, message->sample_type[i]->type);
        unit = jpp_saved_string(saved, message->sample_type[i]->unit);

        for (k = 0; k < JPP_HEAP_TYPES; k++) {
            if (strcmp(known[k].type, type) == 0
                && strcmp(known[k].unit, unit) == 0)
            {
                break;
            }
        }

        if (saved->rc == JPP_OK
            && (k == JPP_HEAP_TYPES || i == JPP_MAX_TYPES))
        {
            saved->rc = jpp_err_set(saved->err, JPP_ERR_INPUT, "a profile of "
                                    "%.64s (%.64s), and not of a heap: go tool "
                                    "pprof reads it as it is", type, unit);
        }

        if (saved->rc != JPP_OK) {
            return saved->rc;
        }

        saved->columns[i] = (uint32_t) k;
    }

    return JPP_OK;
}


static void
jpp_saved_mappings(jpp_saved_t *saved)
{
    size_t                        i, n;
    const char                   *build_id;
    jpp_mapping_t                *to;
    const Jpp__Pprof__Mapping    *from;

    n = saved->message->n_mapping;

    saved->mappings = jpp_arena_alloc(saved->profile->arena,
                                      (n + 1) * sizeof(jpp_mapping_t));
    saved->mapping_ids = jpp_arena_alloc(saved->profile->arena,
                                         (n + 1) * sizeof(uint32_t));

    if (!jpp_saved_memory(saved, saved->mappings != NULL
                                 && saved->mapping_ids != NULL))
    {
        return;
    }

    for (i = 0; i < n; i++) {
        from = saved->message->mapping[i];
        to = &saved->mappings[i];

        to->start = from->memory_start;
        to->limit = from->memory_limit;
        to->offset = from->file_offset;
        to->path = jpp_saved_string(saved, from->filename);
        to->has_functions = from->has_functions;

        /* a file is known by its name and build, wherever it was loaded */

        to->inode = to->path[0] == '/';

        build_id = jpp_saved_string(saved, from->build_id);
        to->build_id = jpp_profile_string(saved->profile, build_id,
                                          strlen(build_id));

        saved->mapping_ids[i] = jpp_profile_mapping(saved->profile, to,
                                                    to->path);

        if (!jpp_saved_memory(saved, saved->mapping_ids[i] != 0)) {
            return;
        }
    }
}


/* A location without a function, at its ADDRESS, or with LINE alone. */

static uint32_t
jpp_saved_frame(jpp_saved_t *saved, const Jpp__Pprof__Location *location,
    const Jpp__Pprof__Line *line)
{
    size_t                         i, m;
    uint32_t                       id, mapping, function, file;
    uint64_t                       address;
    const char                    *name, *system_name, *path;
    const jpp_mapping_t           *at;
    const Jpp__Pprof__Function    *from;

    mapping = 0;
    address = location->address;

    m = location->mapping_id == 0
        ? SIZE_MAX : jpp_saved_index(saved, "mapping", location->mapping_id,
                                     saved->message->n_mapping);
    i = line == NULL
        ? SIZE_MAX : jpp_saved_index(saved, "function", line->function_id,
                                     saved->message->n_function);

    if (m != SIZE_MAX) {
        at = &saved->mappings[m];

        if (address >= at->start && address < at->limit) {
            mapping = saved->mapping_ids[m];
            address += jpp_profile_mapping_at(saved->profile, mapping)->start
                       - at->start;
        }
    }

    if (i == SIZE_MAX) {
        return jpp_profile_location(saved->profile, mapping, address);
    }

    from = saved->message->function[i];
    name = jpp_saved_string(saved, from->name);
    system_name = jpp_saved_string(saved, from->system_name);
    path = jpp_saved_string(saved, from->filename);

    if (name[0] == '\0') {
        name = system_name[0] != '\0' ? system_name : "(no name)";
    }

    /* a call that was inlined, or that nothing was loaded for, is a name */

    if (mapping == 0 || location->n_line != 1) {
        id = jpp_profile_frame(saved->profile, 0, name, strlen(name));
        function = id == 0 ? 0 : jpp_profile_location_at(saved->profile,
                                                         id)->function;

    } else {
        id = jpp_profile_location(saved->profile, mapping, address);
        function = jpp_profile_function(saved->profile, mapping,
                           jpp_profile_string(saved->profile, name,
                                              strlen(name)),
                           jpp_profile_string(saved->profile, system_name,
                                              strlen(system_name)));
    }

    file = jpp_profile_string(saved->profile, path, strlen(path));

    if (id == 0 || function == 0) {
        return 0;
    }

    jpp_profile_location_at(saved->profile, id)->function = function;
    jpp_profile_function_at(saved->profile, function)->file = file;

    return id;
}


static void
jpp_saved_locations(jpp_saved_t *saved)
{
    size_t                         i, k, n, n_frames;
    const Jpp__Pprof__Line        *line;
    const Jpp__Pprof__Location    *location;

    n = saved->message->n_location;
    n_frames = n;

    for (i = 0; i < n; i++) {
        n_frames += saved->message->location[i]->n_line;
    }

    saved->first = jpp_arena_alloc(saved->profile->arena,
                                   (n + 1) * sizeof(size_t));
    saved->frames = jpp_arena_alloc(saved->profile->arena,
                                    (n_frames + 1) * sizeof(uint32_t));

    if (!jpp_saved_memory(saved, saved->first != NULL
                                 && saved->frames != NULL))
    {
        return;
    }

    for (i = 0, n_frames = 0; i < n && saved->rc == JPP_OK; i++) {
        location = saved->message->location[i];
        saved->first[i] = n_frames;

        for (k = 0; k == 0 || k < location->n_line; k++) {
            line = k < location->n_line ? location->line[k] : NULL;

            saved->frames[n_frames] = jpp_saved_frame(saved, location, line);
            (void) jpp_saved_memory(saved, saved->frames[n_frames++] != 0);
        }
    }

    saved->first[i] = n_frames;
}


/* The stack of SAMPLE, with its labels behind those of the caller. */

static bool
jpp_saved_stack(jpp_saved_t *saved, const Jpp__Pprof__Sample *sample)
{
    size_t                       i, k, n;
    uint32_t                     set, ids[JPP_MAX_FRAMES];
    jpp_label_t                  labels[JPP_MAX_LABELS];
    const Jpp__Pprof__Label     *label;

    static const char  none[] = "(no stack)";

    n = 0;

    for (i = 0; i < sample->n_label && n < JPP_MAX_LABELS; i++) {
        label = sample->label[i];

        labels[n].key = jpp_saved_string(saved, label->key);
        labels[n].str = label->str != 0 ? jpp_saved_string(saved, label->str)
                                        : NULL;
        labels[n].num = label->num;
        labels[n].unit = label->num_unit != 0
                         ? jpp_saved_string(saved, label->num_unit) : NULL;

        n += labels[n].key[0] != '\0';
    }

    if (!jpp_saved_memory(saved, jpp_profile_labels(saved->profile,
                                                    saved->options->labels, 0,
                                                    labels, n, &set)))
    {
        return false;
    }

    for (i = 0, n = 0; i < sample->n_location_id; i++) {
        k = jpp_saved_index(saved, "location", sample->location_id[i],
                            saved->message->n_location);

        if (k == SIZE_MAX) {
            return false;
        }

        if (n + saved->first[k + 1] - saved->first[k] > JPP_MAX_FRAMES) {
            saved->rc = jpp_err_set(saved->err, JPP_ERR_LIMIT,
                                    "a stack has more than %d frames",
                                    JPP_MAX_FRAMES);
            return false;
        }

        memcpy(&ids[n], &saved->frames[saved->first[k]],
               (saved->first[k + 1] - saved->first[k]) * sizeof(uint32_t));
        n += saved->first[k + 1] - saved->first[k];
    }

    if (n == 0) {
        ids[n++] = jpp_profile_frame(saved->profile, 0, none, sizeof(none) - 1);
    }

    return jpp_saved_memory(saved, jpp_profile_stack(saved->profile, set, ids,
                                                     (uint32_t) n));
}


/* VALUE, which may be out of range, as a number without the lowest. */

static int64_t
jpp_saved_i64(double value)
{
    return fabs(value) < (double) INT64_MAX ? (int64_t) value
           : value > 0 ? INT64_MAX : -INT64_MAX;
}


/*
 * Objects of a mean size m were sampled with q = 1 - exp(-m / period), as
 * jpp_scale() has it, so what was SEEN, and its doubt, follow from the VALUES.
 */

static void
jpp_saved_seen(const jpp_saved_t *saved, const int64_t values[2],
    int64_t seen[2])
{
    double  q, mean, n;

    if (values[0] == 0) {
        return;
    }

    mean = fabs((double) values[1] / (double) values[0]);
    q = saved->message->period > 1
        ? -expm1(-mean / (double) saved->message->period) : 1;
    n = (double) values[0] * q;
    n = fabs(n) < 1 ? copysign(1, n) : round(n);

    seen[0] = jpp_saved_i64(n);
    seen[1] = jpp_saved_i64(n * (1 - q) * JPP_DOUBT_ONE);
}


static bool
jpp_saved_sample(jpp_saved_t *saved, const Jpp__Pprof__Sample *sample)
{
    int        i;
    size_t     k;
    int64_t    values[JPP_HEAP_COLUMNS] = { 0 };
    uint64_t  *n_seen = saved->profile->n_seen;

    if (sample->n_value != saved->message->n_sample_type) {
        saved->rc = jpp_err_set(saved->err, JPP_ERR_INPUT, "the profile is "
                                "damaged: a sample has %zu values of %zu",
                                sample->n_value,
                                saved->message->n_sample_type);
        return false;
    }

    if (!jpp_saved_stack(saved, sample)) {
        return false;
    }

    for (k = 0; k < sample->n_value; k++) {
        values[saved->columns[k]] = sample->value[k] != INT64_MIN
                                    ? sample->value[k] : -INT64_MAX;
    }

    jpp_saved_seen(saved, &values[JPP_HEAP_INUSE_OBJECTS],
                   &values[JPP_HEAP_INUSE_SAMPLES]);
    jpp_saved_seen(saved, &values[JPP_HEAP_ALLOC_OBJECTS],
                   &values[JPP_HEAP_ALLOC_SAMPLES]);

    if (saved->options->columns == NULL) {
        n_seen[0] += (uint64_t) llabs(values[JPP_HEAP_ALLOC_SAMPLES]);
        n_seen[1] += (uint64_t) llabs(values[JPP_HEAP_INUSE_SAMPLES]);
    }

    for (i = 0; i < JPP_HEAP_COLUMNS && saved->options->is_base; i++) {
        values[i] = -values[i];
    }

    return jpp_saved_memory(saved, jpp_profile_commit(saved->profile,
                                                      saved->options->columns,
                                                      values));
}


static jpp_code_t
jpp_saved_read(jpp_profile_t *profile, const jpp_dump_t *dump,
    const jpp_read_options_t *options, jpp_err_t *err)
{
    size_t                       i;
    jpp_saved_t                  saved = { 0 };
    const Jpp__Pprof__Profile   *message;

    message = dump->opened;

    saved.profile = profile;
    saved.options = options;
    saved.message = dump->opened;
    saved.err = err;

    jpp_saved_numbers(&saved);

    if (jpp_saved_types(&saved) == JPP_OK) {
        jpp_saved_mappings(&saved);
    }

    if (saved.rc == JPP_OK) {
        jpp_saved_locations(&saved);
    }

    for (i = 0; saved.rc == JPP_OK && i < message->n_sample; i++) {
        (void) jpp_saved_sample(&saved, message->sample[i]);
    }

    for (i = 0; saved.rc == JPP_OK && i < message->n_comment; i++) {
        jpp_profile_comment(profile, "%s",
                            jpp_saved_string(&saved, message->comment[i]));
    }

    profile->has_periods |= profile->period != 0
                            && profile->period != message->period;
    profile->period = message->period;
    profile->is_difference |= options->is_base || message->duration_nanos != 0;

    return saved.rc;
}


static jpp_code_t
jpp_saved_open(jpp_dump_t *dump, jpp_profile_t *profile, const char *data,
    size_t len, const char *tail, jpp_err_t *err)
{
    ProtobufCAllocator     allocator;
    jpp_saved_memory_t     memory;
    Jpp__Pprof__Profile   *message;

    (void) tail;

    if (len > JPP_SAVED_MAX) {
        return jpp_err_set(err, JPP_ERR_LIMIT, "a profile of more than %zu MiB",
                           JPP_SAVED_MAX >> 20);
    }

    memory.arena = profile->arena;
    memory.has_failed = false;

    allocator.alloc = jpp_saved_alloc;
    allocator.free = jpp_saved_free;
    allocator.allocator_data = &memory;

    message = jpp__pprof__profile__unpack(&allocator, len,
                                          (const uint8_t *) data);

    if (message == NULL) {
        return memory.has_failed
               ? jpp_err_memory(err)
               : jpp_err_set(err, JPP_ERR_CUT, "the profile was cut, or is "
                             "none: a field does not end where it should");
    }

    if (message->n_sample_type == 0 || message->period <= 0
        || (message->period & (message->period - 1)) != 0)
    {
        return jpp_err_set(err, JPP_ERR_INPUT, "not a profile of jemalloc's or "
                           "nginx's heap, whose sampling period is a power of "
                           "two: go tool pprof reads it as it is");
    }

    jpp_dump_init(dump, data, len);
    dump->opened = message;

    return JPP_OK;
}


bool
jpp_saved_is(const char *data, size_t len, jpp_arena_t *arena)
{
    bool        is_saved;
    jpp_vec_t  *unpacked;

    /* the first field is that of the types, whose first is a name */

    if (!jpp_gzip_is((const uint8_t *) data, len)) {
        return len > 2 && data[0] == '\n' && data[2] == '\010';
    }

    unpacked = jpp_vec_create(arena);

    if (unpacked == NULL) {
        return false;
    }

    (void) jpp_gunzip((const uint8_t *) data,
                      jpp_smaller(len, JPP_SAVED_PEEK), JPP_SAVED_MAX,
                      unpacked, NULL);

    is_saved = !jpp_gzip_is(unpacked->data, unpacked->len)
               && jpp_saved_is((const char *) unpacked->data, unpacked->len,
                               arena);

    jpp_vec_release(unpacked);

    return is_saved;
}


const jpp_parser_t *
jpp_saved_parser(void)
{
    static jpp_parser_t  parser;

    parser = jpp_parser_heap;
    parser.open = jpp_saved_open;
    parser.read = jpp_saved_read;

    return &parser;
}

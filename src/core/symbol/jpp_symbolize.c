
#include "jpp_symbolize.h"


/* files without names that get a comment each */
#define JPP_SYMBOLIZE_COMMENTS  32


/*
 * What reading a file may take, in units of the cap.  250,000 functions in C
 * are 11 MiB when they are kept, and 65 MiB while they are read.
 */
#define JPP_OBJECT_READING   8

#define JPP_OBJECT_HEAD      16

#define JPP_DEBUG_ROOT       "/usr/lib/debug"

/* bytes of a file's name: up to 255 are possible, 20 usual */
#define JPP_UNNAMED_NAME  64


void
jpp_symbols_init(jpp_symbols_t *symbols, size_t cap)
{
    memset(symbols, 0, sizeof(jpp_symbols_t));

    symbols->cap = cap;
    symbols->room = jpp_smaller(cap, SIZE_MAX / JPP_OBJECT_READING)
                    * JPP_OBJECT_READING;
    symbols->debug_root = JPP_DEBUG_ROOT;
}


void
jpp_symbols_destroy(jpp_symbols_t *symbols)
{
    jpp_object_t  *object, *next;

    for (object = symbols->objects; object != NULL; object = next) {
        next = object->next;
        jpp_arena_object_destroy(object);
    }

    symbols->objects = NULL;
    symbols->bytes = 0;

    jpp_loaded_destroy(&symbols->loaded);
}


/* The object of KEY, which is taken out of the cache; NULL: there is none. */

static jpp_object_t *
jpp_object_find(jpp_symbols_t *symbols, const char *key)
{
    jpp_object_t  *object, **link;

    for (link = &symbols->objects; *link != NULL; link = &(*link)->next) {
        object = *link;

        if (key[0] != '\0' && strcmp(object->key, key) == 0) {
            *link = object->next;
            symbols->bytes -= object->bytes;

            return object;
        }
    }

    return NULL;
}


/* The pages that it takes, with jpp_arena_object()'s head. */

static size_t
jpp_object_bytes(const jpp_elf_t *elf)
{
    size_t  page, size;

    page = (size_t) sysconf(_SC_PAGESIZE);
    size = JPP_OBJECT_HEAD + sizeof(jpp_object_t)
           + elf->n_segments * sizeof(jpp_elf_segment_t)
           + elf->n_functions * sizeof(jpp_elf_function_t)
           + elf->names_len;

    return (size + page - 1) & ~(page - 1);
}


static jpp_code_t
jpp_object_fits(const jpp_elf_t *elf, size_t cap, jpp_err_t *err)
{
    size_t  size;

    size = jpp_object_bytes(elf);

    if (size <= cap) {
        return JPP_OK;
    }

    return jpp_err_set(err, JPP_ERR_LIMIT, "its %" PRIu32 " functions take "
                       "%zu MiB, more than the %zu MiB kept for the names of "
                       "all files (the tool jemalloc-pprof has no such limit)",
                       elf->n_functions, (size >> 20) + 1, cap >> 20);
}


/* The SIZE bytes at DATA, copied to *AT, which moves on. */

static void *
jpp_object_copy(uint8_t **at, const void *data, size_t size)
{
    uint8_t  *p;

    p = *at;
    *at += size;

    return size != 0 ? memcpy(p, data, size) : p;
}


/*
 * A copy of ELF that takes as little memory as possible, or of nothing and WHY.
 * NULL: the kernel has no memory.
 */

static jpp_object_t *
jpp_object_store(const jpp_elf_t *elf, const char *key, const char *why)
{
    size_t         bytes;
    uint8_t       *p;
    jpp_object_t  *object;

    bytes = jpp_object_bytes(elf);
    object = jpp_arena_object(bytes - JPP_OBJECT_HEAD);

    if (object == NULL) {
        return NULL;
    }

    p = (uint8_t *) object + sizeof(jpp_object_t);

    object->bytes = bytes;
    object->elf = *elf;

    jpp_print(object->key, "%s", key);
    jpp_print(object->why, "%s", why);

    object->elf.segments = jpp_object_copy(&p, elf->segments, elf->n_segments
                                               * sizeof(jpp_elf_segment_t));
    object->elf.functions = jpp_object_copy(&p, elf->functions,
                                            elf->n_functions
                                            * sizeof(jpp_elf_function_t));
    object->elf.names = jpp_object_copy(&p, elf->names, elf->names_len);

    return object;
}


/*
 * Reading FILE into ARENA failed with ERR: an object without functions, with
 * the fix added to it.  It is not kept if the reason may pass, such as a failed
 * system call.
 */

static jpp_object_t *
jpp_object_refuse(const jpp_symbols_t *symbols, const jpp_file_t *file,
    const jpp_arena_t *arena, jpp_err_t *err)
{
    jpp_object_t  *object;

    static const jpp_elf_t  nothing;

    if (err->code == JPP_ERR_MEMORY && arena->cap < symbols->room) {
        (void) jpp_err_set(err, JPP_ERR_MEMORY, "this report has %zu MiB "
                           "left to read its functions, which is too "
                           "little (raise the memory of a report)",
                           arena->cap >> 20);

    } else if (err->code == JPP_ERR_MEMORY) {
        (void) jpp_err_set(err, JPP_ERR_LIMIT, "reading its functions takes "
                           "more than %zu MiB (the tool jemalloc-pprof has no "
                           "such limit)", arena->cap >> 20);
    }

    object = jpp_object_store(&nothing, file->identity, err->text);

    if (object != NULL) {
        object->is_passing = err->code == JPP_ERR_SYS
                             || err->code == JPP_ERR_MEMORY;
    }

    return object;
}


static jpp_object_t *
jpp_object_read(jpp_symbols_t *symbols, const jpp_mapping_t *mapping,
    const jpp_file_t *file, size_t room)
{
    int            debug_fd;
    jpp_elf_t      elf;
    jpp_err_t      err;
    jpp_code_t     rc;
    jpp_arena_t    arena;
    jpp_object_t  *object;

    jpp_arena_init(&arena, room < symbols->room ? room : symbols->room);

    debug_fd = jpp_file_open_debug(file->build_id, symbols->debug_root);

    rc = jpp_elf_read(&elf, &arena, file->fd, debug_fd, JPP_ELF_ALL, &err);

    if (debug_fd != -1) {
        (void) close(debug_fd);
    }

    if (rc == JPP_OK
        && !jpp_hints_apply(&symbols->loaded.hints, mapping->device,
                            mapping->inode, &elf, &arena))
    {
        rc = jpp_err_memory(&err);
    }

    if (rc == JPP_OK) {
        rc = jpp_object_fits(&elf, symbols->cap, &err);
    }

    object = rc == JPP_OK
             ? jpp_object_store(&elf, file->build_id[0] != '\0'
                                      ? file->build_id : file->identity, "")
             : jpp_object_refuse(symbols, file, &arena, &err);

    if (rc == JPP_OK && object != NULL) {

        /* the next report may have room for the debug file */

        object->is_passing = debug_fd != -1
                             && !elf.has_symtab
                             && arena.cap < symbols->room;
    }

    jpp_arena_destroy(&arena);

    return object;
}


/*
 * The object of FILE, which is MAPPING's; give it back by jpp_object_put()
 * before the next call.  NULL: the kernel has no memory.  Reading takes what
 * REPORT has left at most, and gives it back.
 */

static jpp_object_t *
jpp_object_get(jpp_symbols_t *symbols, const jpp_mapping_t *mapping,
    const jpp_file_t *file, const jpp_arena_t *report)
{
    jpp_object_t  *object;

    object = jpp_object_find(symbols, file->build_id);

    if (object == NULL) {
        object = jpp_object_find(symbols, file->identity);
    }

    if (object == NULL) {
        symbols->n_misses++;
        object = jpp_object_read(symbols, mapping, file,
                                 report->cap - report->mapped);
    }

    return object;
}


/* While in use an object is in no list. */

static void
jpp_object_put(jpp_symbols_t *symbols, jpp_object_t *object)
{
    jpp_object_t  *last, **link;

    /* or if the cap was lowered since the object was read */

    if (object->is_passing || object->bytes > symbols->cap) {
        jpp_arena_object_destroy(object);
        return;
    }

    while (symbols->bytes > symbols->cap - object->bytes) {

        for (link = &symbols->objects; (*link)->next != NULL;
             link = &(*link)->next)
        {
            /* void */
        }

        last = *link;
        *link = NULL;

        symbols->bytes -= last->bytes;
        jpp_arena_object_destroy(last);
    }

    object->next = symbols->objects;
    symbols->objects = object;
    symbols->bytes += object->bytes;
}


void
jpp_unnamed_add(jpp_unnamed_t *unnamed, const jpp_mapping_t *mapping,
    uint32_t n)
{
    uint32_t             i;
    jpp_unnamed_file_t  *row;

    unnamed->n += n;

    for (i = 0; i < unnamed->n_files; i++) {
        if (unnamed->files[i].file == mapping->file
            && unnamed->files[i].build_id == mapping->build_id)
        {
            break;
        }
    }

    if (i < unnamed->n_files) {
        n += unnamed->files[i].n;

    } else if (i < JPP_UNNAMED_FILES) {
        unnamed->n_files++;

    } else if (unnamed->files[--i].n >= n) {
        return;
    }

    row = unnamed->files;

    for ( /* void */ ; i > 0 && row[i - 1].n < n; i--) {
        row[i] = row[i - 1];
    }

    row[i].file = mapping->file;
    row[i].build_id = mapping->build_id;
    row[i].n = n;
}


void
jpp_unnamed_comment(const jpp_unnamed_t *unnamed, jpp_profile_t *profile,
    char text[JPP_UNNAMED_TEXT])
{
    int          len;
    char         list[JPP_UNNAMED_FILES
                      * (JPP_UNNAMED_NAME + JPP_BUILD_ID_TEXT + 32)];
    uint32_t     i;
    const char  *path, *id;

    text[0] = '\0';

    if (unnamed->n == 0) {
        return;
    }

    for (i = 0, len = 0; i < unnamed->n_files; i++) {
        path = jpp_profile_str(profile, unnamed->files[i].file).data;
        id = jpp_profile_str(profile, unnamed->files[i].build_id).data;

        len += snprintf(list + len, sizeof(list) - (size_t) len,
                        "%s%.*s %" PRIu32 "%s%.*s", i == 0 ? "" : "; ",
                        JPP_UNNAMED_NAME, jpp_path_name(path),
                        unnamed->files[i].n, id[0] == '\0' ? "" : ", build id ",
                        JPP_BUILD_ID_TEXT - 1, id);
    }

    (void) snprintf(text, JPP_UNNAMED_TEXT, "%" PRIu64 " of %zu addresses have "
                    "no name (%s): install their debug symbols, then reload. "
                    "For nginx: nginx-dbgsym on Debian and Ubuntu, nginx-dbg "
                    "from nginx.org. From debuginfod: "
                    "$DEBUGINFOD_URLS/buildid/ID/debuginfo", unnamed->n,
                    jpp_vec_count(profile->locations, jpp_location_t), list);

    jpp_profile_comment(profile, "%s", text);
}


/* Set the build id of MAPPING of PROFILE to ID, unless it has one, or ID is "";
   false: no memory. */

static bool
jpp_identify(jpp_profile_t *profile, jpp_mapping_t *mapping, const char *id)
{
    if (mapping->build_id == 0 && id[0] != '\0') {
        mapping->build_id = jpp_profile_string(profile, id, strlen(id));

        return mapping->build_id != 0;
    }

    return true;
}


typedef struct {
    jpp_symbols_t      *symbols;
    jpp_profile_t      *profile;
    jpp_symbolize_what_t
                        what;
    jpp_names_t         names;
    jpp_unnamed_t       unnamed;
    uint32_t            n_comments;

    const uint32_t     *next;           /* location in the same mapping, */
                                        /*   from 1; 0: none is left */
    uint32_t            id;             /* the mapping at work, or 0 */
    uint32_t            first;          /* location in it, 0: it has none */
} jpp_symbolizer_t;


/* FIRSTS becomes the first location of each mapping, by its id, and NEXTS that
   which follows each. */

static bool
jpp_symbolize_group(const jpp_profile_t *profile, jpp_vec_t *firsts,
    jpp_vec_t *nexts)
{
    size_t                 n;
    uint32_t              *first, *next;
    const jpp_location_t  *location;

    n = jpp_vec_count(profile->locations, jpp_location_t);
    location = jpp_vec_items(profile->locations, jpp_location_t);

    first = jpp_vec_push(firsts, (jpp_vec_count(profile->mappings,
                                                jpp_mapping_t) + 1)
                                 * sizeof(uint32_t));
    next = jpp_vec_push(nexts, (n + 1) * sizeof(uint32_t));

    if (first == NULL || next == NULL) {
        return false;
    }

    for ( /* void */ ; n != 0; n--) {
        next[n] = first[location[n - 1].mapping];
        first[location[n - 1].mapping] = (uint32_t) n;
    }

    return true;
}


static bool
jpp_symbolize_locations(jpp_symbolizer_t *s, const jpp_elf_t *elf)
{
    uint32_t         i, unnamed;
    jpp_location_t  *location;

    unnamed = 0;

    if (!jpp_names_enter(&s->names, s->id, elf)) {
        return false;
    }

    for (i = s->first; i != 0; i = s->next[i]) {
        location = jpp_profile_location_at(s->profile, i);

        if (location->function != 0) {
            continue;
        }

        location->function = jpp_names_function(&s->names, location->address);

        if (location->function == 0) {
            return false;
        }

        unnamed += !s->names.is_named;
    }

    if (elf != NULL && !elf->has_symtab && unnamed != 0) {
        jpp_unnamed_add(&s->unnamed, s->names.mapping, unnamed);
    }

    return true;
}


/* One comment for all mappings of a file; none if nothing needs names. */

static void
jpp_symbolize_comment(jpp_symbolizer_t *s, const char *what, const char *why)
{
    size_t    n;
    uint32_t  file;

    if (s->first == 0 || s->n_comments > JPP_SYMBOLIZE_COMMENTS) {
        return;
    }

    if (s->n_comments == JPP_SYMBOLIZE_COMMENTS) {
        s->n_comments++;
        jpp_profile_comment(s->profile, "more files have no names, or names "
                            "that may be wrong");
        return;
    }

    file = jpp_profile_mapping_at(s->profile, s->id)->file;
    n = s->profile->comments->len;

    jpp_profile_comment(s->profile, "%s %.512s: %s", what,
                        jpp_profile_str(s->profile, file).data, why);

    s->n_comments += s->profile->comments->len != n;
}


static bool
jpp_symbolize_object(jpp_symbolizer_t *s, jpp_object_t *object, bool is_proven)
{
    bool  done;

    if (object->why[0] != '\0') {
        jpp_symbolize_comment(s, "no names for", object->why);
        done = jpp_symbolize_locations(s, NULL);

    } else {
        done = jpp_symbolize_locations(s, &object->elf);

        if (done && !is_proven) {
            jpp_symbolize_comment(s, "names may be wrong for",
                                  "the file on disk is laid out as the one "
                                  "that was loaded, but its device or inode "
                                  "is another");
        }
    }

    jpp_object_put(s->symbols, object);

    return done;
}


static bool
jpp_symbolize_mapping(jpp_symbolizer_t *s)
{
    bool            done;
    jpp_err_t       err;
    jpp_file_t      file;
    const char     *build_id;
    jpp_object_t   *object;
    jpp_mapping_t  *mapping;

    mapping = s->id != 0 ? jpp_profile_mapping_at(s->profile, s->id) : NULL;

    if (s->what == JPP_SYMBOLIZE_ADDRESSES
        || mapping == NULL
        || !jpp_file_is_expected(mapping))
    {
        return jpp_symbolize_locations(s, NULL);
    }

    if (!jpp_identify(s->profile, mapping,
                      jpp_loaded_build_id(&s->symbols->loaded, mapping)))
    {
        return false;
    }

    if (s->first == 0 && mapping->build_id != 0) {
        return true;
    }

    build_id = jpp_profile_str(s->profile, mapping->build_id).data;
    object = jpp_object_find(s->symbols, build_id);

    if (object != NULL) {
        return jpp_symbolize_object(s, object, true);
    }

    s->symbols->n_opened++;

    if (jpp_file_open(&file, mapping, build_id, &err) != JPP_OK) {
        jpp_symbolize_comment(s, "no names for", err.text);
        return jpp_symbolize_locations(s, NULL);
    }

    done = jpp_identify(s->profile, mapping, file.build_id);

    if (done && s->first != 0) {
        object = jpp_object_get(s->symbols, mapping, &file, s->profile->arena);
        done = object != NULL
               && jpp_symbolize_object(s, object, file.is_proven);
    }

    jpp_file_close(&file);

    return done;
}


jpp_code_t
jpp_symbolize(jpp_symbols_t *symbols, jpp_profile_t *profile,
    jpp_symbolize_what_t what, jpp_err_t *err)
{
    bool               done;
    uint32_t           n;
    jpp_vec_t         *firsts, *nexts;
    jpp_symbolizer_t   s;

    memset(&s, 0, sizeof(jpp_symbolizer_t));

    s.symbols = symbols;
    s.profile = profile;
    s.what = what;

    firsts = jpp_vec_create(profile->arena);
    nexts = jpp_vec_create(profile->arena);

    done = jpp_names_init(&s.names, profile)
           && firsts != NULL
           && nexts != NULL
           && jpp_symbolize_group(profile, firsts, nexts);

    s.names.table = symbols->loaded.table;

    n = (uint32_t) jpp_vec_count(profile->mappings, jpp_mapping_t);

    for ( /* void */ ; done && s.id <= n; s.id++) {
        s.first = what != JPP_SYMBOLIZE_BUILD_IDS
                  ? jpp_vec_items(firsts, uint32_t)[s.id] : 0;
        s.next = jpp_vec_items(nexts, uint32_t);

        done = jpp_symbolize_mapping(&s);
    }

    /* the tool may run on another machine, and reloads nothing */

    if (done && what == JPP_SYMBOLIZE_NAMES && symbols->loaded.files != NULL) {
        jpp_unnamed_comment(&s.unnamed, profile, symbols->unnamed);
    }

    jpp_vec_release(nexts);
    jpp_vec_release(firsts);
    jpp_vec_release(s.names.functions);

    return done && !profile->is_mute ? JPP_OK : jpp_err_memory(err);
}


static bool
jpp_symbolize_range(jpp_vec_t *ranges, const jpp_mapping_t *mapping,
    const jpp_elf_t *elf, const jpp_elf_function_t *function)
{
    size_t        n;
    uint64_t      offset, start, end;
    jpp_range_t  *range;

    if (!jpp_elf_offset(elf, function->start, &offset)) {
        return true;
    }

    /* in the file */

    start = jpp_larger(offset, mapping->offset);
    end = jpp_smaller(offset + function->size,
                      mapping->offset + (mapping->limit - mapping->start));

    if (start >= end) {
        return true;
    }

    start += mapping->start - mapping->offset;
    end += mapping->start - mapping->offset;

    n = jpp_vec_count(ranges, jpp_range_t);

    if (n != 0) {
        range = &jpp_vec_items(ranges, jpp_range_t)[n - 1];

        if (range->end == start) {
            range->end = end;
            return true;
        }
    }

    range = jpp_vec_push(ranges, sizeof(jpp_range_t));
    if (range == NULL) {
        return false;
    }

    range->start = start;
    range->end = end;

    return true;
}


jpp_code_t
jpp_symbolize_ranges(jpp_symbols_t *symbols, const jpp_profile_t *profile,
    uint32_t mapping, jpp_symbol_filter_pt filter, jpp_vec_t *ranges,
    jpp_err_t *err)
{
    bool                       done;
    jpp_file_t                 file;
    const char                *build_id;
    jpp_object_t              *object;
    const jpp_elf_t           *elf;
    const jpp_mapping_t       *m;
    const jpp_elf_function_t  *function;

    m = jpp_profile_mapping_at(profile, mapping);

    build_id = jpp_profile_str(profile, m->build_id).data;
    object = jpp_object_find(symbols, build_id);

    if (object == NULL) {

        if (!jpp_file_is_expected(m)
            || jpp_file_open(&file, m, build_id, NULL) != JPP_OK)
        {
            return JPP_OK;
        }

        object = jpp_object_get(symbols, m, &file, profile->arena);

        jpp_file_close(&file);
    }

    if (object == NULL) {
        return jpp_err_memory(err);
    }

    elf = &object->elf;
    done = true;

    jpp_each(function, elf->functions, elf->n_functions) {
        if (function->name != 0 && filter(elf->names + function->name)) {
            done = done && jpp_symbolize_range(ranges, m, elf, function);
        }
    }

    jpp_object_put(symbols, object);

    return done ? JPP_OK : jpp_err_memory(err);
}

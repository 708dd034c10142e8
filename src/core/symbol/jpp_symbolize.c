
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
    symbols->room = cap < SIZE_MAX / JPP_OBJECT_READING
                    ? cap * JPP_OBJECT_READING : SIZE_MAX;
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
    symbols->known.n = 0;

    jpp_loaded_destroy(&symbols->loaded);
}


/* The link to the object of KEY; what it leads to is NULL: there is none. */

static jpp_object_t **
jpp_object_link(jpp_symbols_t *symbols, const jpp_build_id_t *key)
{
    jpp_object_t  **link;

    for (link = &symbols->objects; *link != NULL; link = &(*link)->next) {

        if ((*link)->key.len == key->len
            && memcmp((*link)->key.data, key->data, key->len) == 0)
        {
            break;
        }
    }

    return link;
}


static size_t
jpp_object_size(const jpp_elf_t *elf)
{
    return sizeof(jpp_object_t)
           + elf->n_segments * sizeof(jpp_elf_segment_t)
           + elf->n_functions * sizeof(jpp_elf_function_t)
           + elf->names_len;
}


/* The pages that it takes, with jpp_arena_object()'s head. */

static size_t
jpp_object_bytes(const jpp_elf_t *elf)
{
    size_t  page;

    page = (size_t) sysconf(_SC_PAGESIZE);

    return (jpp_object_size(elf) + JPP_OBJECT_HEAD + page - 1) & ~(page - 1);
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


/* A copy of ELF that takes as little memory as possible. */

static jpp_object_t *
jpp_object_store(const jpp_elf_t *elf, const jpp_build_id_t *key,
    jpp_err_t *err)
{
    uint8_t       *p;
    jpp_object_t  *object;

    object = jpp_arena_object(jpp_object_size(elf));
    if (object == NULL) {
        (void) jpp_err_memory(err);
        return NULL;
    }

    p = (uint8_t *) object + sizeof(jpp_object_t);

    object->bytes = jpp_object_bytes(elf);
    object->key = *key;
    object->elf = *elf;

    object->elf.segments = jpp_object_copy(&p, elf->segments, elf->n_segments
                                               * sizeof(jpp_elf_segment_t));
    object->elf.functions = jpp_object_copy(&p, elf->functions,
                                            elf->n_functions
                                            * sizeof(jpp_elf_function_t));
    object->elf.names = jpp_object_copy(&p, elf->names, elf->names_len);

    return object;
}


/*
 * Reading FILE into ARENA failed with ERR: add the fix to it, and remember
 * it.
 */

static void
jpp_object_refuse(jpp_symbols_t *symbols, const jpp_file_t *file,
    const jpp_arena_t *arena, jpp_err_t *err)
{
    if (err->code == JPP_ERR_MEMORY) {

        if (arena->cap < symbols->room) {
            (void) jpp_err_set(err, JPP_ERR_MEMORY, "this report has %zu MiB "
                               "left to read its functions, which is too "
                               "little (raise the memory of a report)",
                               arena->cap >> 20);
            return;
        }

        (void) jpp_err_set(err, JPP_ERR_LIMIT, "reading its functions takes "
                           "more than %zu MiB (the tool jemalloc-pprof has no "
                           "such limit)", arena->cap >> 20);
    }

    jpp_known_add(&symbols->known, file, err);
}


static jpp_object_t *
jpp_object_read(jpp_symbols_t *symbols, const jpp_file_t *file, size_t room,
    jpp_err_t *err)
{
    int            debug_fd;
    jpp_elf_t      elf;
    jpp_err_t      why;
    jpp_code_t     rc;
    jpp_arena_t    arena;
    jpp_object_t  *object;

    jpp_arena_init(&arena, room < symbols->room ? room : symbols->room);

    debug_fd = jpp_file_open_debug(&file->build_id, symbols->debug_root);

    rc = jpp_elf_read(&elf, &arena, file->fd, debug_fd, JPP_ELF_ALL, &why);

    if (debug_fd != -1) {
        (void) close(debug_fd);
    }

    if (rc == JPP_OK
        && !jpp_hints_apply(&symbols->loaded.hints, file->device, file->inode,
                            &elf, &arena))
    {
        rc = jpp_err_memory(&why);
    }

    if (rc == JPP_OK) {
        rc = jpp_object_fits(&elf, symbols->cap, &why);
    }

    object = rc == JPP_OK ? jpp_object_store(&elf, &file->key, &why) : NULL;

    if (object != NULL) {

        /* the next report may have room for the debug file */

        object->is_partial = debug_fd != -1
                             && !elf.has_symtab
                             && arena.cap < symbols->room;

    } else {
        jpp_object_refuse(symbols, file, &arena, &why);

        if (err != NULL) {
            *err = why;
        }
    }

    jpp_arena_destroy(&arena);

    return object;
}


/*
 * The object of FILE; give it back by jpp_object_put() before the next call.
 * NULL: no object, and ERR says why.  Reading takes at most ROOM bytes, all of
 * which are given back.
 */

static jpp_object_t *
jpp_object_get(jpp_symbols_t *symbols, const jpp_file_t *file, size_t room,
    jpp_err_t *err)
{
    jpp_object_t  *object, **link;

    link = jpp_object_link(symbols, &file->key);
    object = *link;

    if (object != NULL) {
        *link = object->next;
        symbols->n_hits++;
        symbols->bytes -= object->bytes;
        return object;
    }

    if (jpp_known_refused(&symbols->known, file, err)) {
        return NULL;
    }

    symbols->n_misses++;

    return jpp_object_read(symbols, file, room, err);
}


/* While in use an object is in no list. */

static void
jpp_object_put(jpp_symbols_t *symbols, jpp_object_t *object)
{
    jpp_object_t  *last, **link;

    /* or if the cap was lowered since the object was read */

    if (object->is_partial || object->bytes > symbols->cap) {
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
    const char  *path, *slash, *id;

    text[0] = '\0';

    if (unnamed->n == 0) {
        return;
    }

    for (i = 0, len = 0; i < unnamed->n_files; i++) {
        path = jpp_profile_str(profile, unnamed->files[i].file).data;
        slash = strrchr(path, '/');
        id = jpp_profile_str(profile, unnamed->files[i].build_id).data;

        len += snprintf(list + len, sizeof(list) - (size_t) len,
                        "%s%.*s %" PRIu32 "%s%.*s", i == 0 ? "" : "; ",
                        JPP_UNNAMED_NAME, slash != NULL ? slash + 1 : path,
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


/*
 * From a mapping to its file, proven before or opened now, and to its build
 * id.
 *
 * One thread at a time per cache and profile.
 */


/*
 * Fill FILE for MAPPING of PROFILE; with IS_IDENTITY only its build id.  The
 * caller closes it.  A file that is known is not opened, unless its object is
 * needed and is not in the cache.
 */

static jpp_code_t
jpp_identify_open(jpp_symbols_t *symbols, const jpp_profile_t *profile,
    const jpp_mapping_t *mapping, bool is_identity, jpp_file_t *file,
    jpp_err_t *err)
{
    jpp_code_t   rc;
    const char  *build_id;

    build_id = jpp_profile_str(profile, mapping->build_id).data;

    if (jpp_known_find(&symbols->known, mapping, build_id, file)
        && (is_identity
            || *jpp_object_link(symbols, &file->key) != NULL
            || jpp_known_refused(&symbols->known, file, NULL)))
    {
        return JPP_OK;
    }

    symbols->n_opened++;

    rc = jpp_file_open(file, mapping, build_id, err);

    if (rc == JPP_OK) {
        jpp_known_add(&symbols->known, file, NULL);
    }

    return rc;
}


/*
 * Set the build id of MAPPING of PROFILE to ID, unless it has one, or ID is
 * NULL; false: no memory.
 */

static bool
jpp_identify(jpp_profile_t *profile, jpp_mapping_t *mapping,
    const jpp_build_id_t *id)
{
    char  text[JPP_BUILD_ID_TEXT];

    if (mapping->build_id != 0 || id == NULL || id->len == 0) {
        return true;
    }

    jpp_build_id_text(id, text);

    mapping->build_id = jpp_profile_string(profile, text, strlen(text));

    return mapping->build_id != 0;
}


typedef struct {
    jpp_symbols_t      *symbols;
    jpp_profile_t      *profile;
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
    size_t       i, last;
    uint32_t    *comments, file;
    jpp_vec_t   *vec;

    if (s->first == 0 || s->n_comments > JPP_SYMBOLIZE_COMMENTS) {
        return;
    }

    if (s->n_comments++ == JPP_SYMBOLIZE_COMMENTS) {
        jpp_profile_comment(s->profile, "more files have no names, or names "
                            "that may be wrong");
        return;
    }

    file = jpp_profile_mapping_at(s->profile, s->id)->file;

    jpp_profile_comment(s->profile, "%s %.512s: %s", what,
                        jpp_profile_str(s->profile, file).data, why);

    vec = s->profile->comments;
    comments = jpp_vec_items(vec, uint32_t);
    last = jpp_vec_count(vec, uint32_t) - 1;

    for (i = 0; !s->profile->is_mute && i < last; i++) {
        if (comments[i] == comments[last]) {
            vec->len -= sizeof(uint32_t);
            s->n_comments--;
            break;
        }
    }
}


/* Reading a file counts towards the memory of the report. */

static size_t
jpp_symbolize_room(const jpp_profile_t *profile)
{
    return profile->arena->cap - profile->arena->mapped;
}


static bool
jpp_symbolize_file(jpp_symbolizer_t *s, const jpp_file_t *file)
{
    bool           done;
    jpp_err_t      err;
    jpp_object_t  *object;

    if (s->first == 0) {
        return true;
    }

    object = jpp_object_get(s->symbols, file,
                            jpp_symbolize_room(s->profile), &err);

    if (object == NULL) {
        jpp_symbolize_comment(s, "no names for", err.text);
        return jpp_symbolize_locations(s, NULL);
    }

    done = jpp_symbolize_locations(s, &object->elf);

    jpp_object_put(s->symbols, object);

    if (done && !file->is_proven) {
        jpp_symbolize_comment(s, "names may be wrong for",
                              "the file on disk is laid out as the one that "
                              "was loaded, but its device or inode is another");
    }

    return done;
}


static bool
jpp_symbolize_mapping(jpp_symbolizer_t *s)
{
    bool            done;
    jpp_err_t       err;
    jpp_file_t      file;
    jpp_mapping_t  *mapping;

    mapping = s->id != 0 ? jpp_profile_mapping_at(s->profile, s->id) : NULL;

    if (mapping == NULL || !jpp_file_is_expected(mapping)) {
        return jpp_symbolize_locations(s, NULL);
    }

    if (!jpp_identify(s->profile, mapping,
                      jpp_loaded_build_id(&s->symbols->loaded, mapping)))
    {
        return false;
    }

    if (jpp_identify_open(s->symbols, s->profile, mapping, s->first == 0,
                          &file, &err)
        != JPP_OK)
    {
        jpp_symbolize_comment(s, "no names for", err.text);
        return jpp_symbolize_locations(s, NULL);
    }

    done = jpp_identify(s->profile, mapping, &file.build_id)
           && jpp_symbolize_file(s, &file);

    jpp_file_close(&file);

    return done;
}


jpp_code_t
jpp_symbolize(jpp_symbols_t *symbols, jpp_profile_t *profile, jpp_err_t *err)
{
    bool               done;
    uint32_t           n;
    jpp_vec_t         *firsts, *nexts;
    jpp_symbolizer_t   s;

    memset(&s, 0, sizeof(jpp_symbolizer_t));

    s.symbols = symbols;
    s.profile = profile;

    firsts = jpp_vec_create(profile->arena);
    nexts = jpp_vec_create(profile->arena);

    done = jpp_names_init(&s.names, profile)
           && firsts != NULL
           && nexts != NULL
           && jpp_symbolize_group(profile, firsts, nexts);

    s.names.table = symbols->loaded.table;

    n = (uint32_t) jpp_vec_count(profile->mappings, jpp_mapping_t);

    for ( /* void */ ; done && s.id <= n; s.id++) {
        s.first = jpp_vec_items(firsts, uint32_t)[s.id];
        s.next = jpp_vec_items(nexts, uint32_t);

        done = jpp_symbolize_mapping(&s);
    }

    /* the tool may run on another machine, and reloads nothing */

    if (done && symbols->loaded.files != NULL) {
        jpp_unnamed_comment(&s.unnamed, profile, symbols->unnamed);
    }

    jpp_vec_release(nexts);
    jpp_vec_release(firsts);
    jpp_names_destroy(&s.names);

    return done && !profile->is_mute ? JPP_OK : jpp_err_memory(err);
}


jpp_code_t
jpp_symbolize_build_ids(jpp_symbols_t *symbols, jpp_profile_t *profile,
    jpp_err_t *err)
{
    bool            done;
    uint32_t        i, n;
    jpp_file_t      file;
    jpp_mapping_t  *mapping;

    n = (uint32_t) jpp_vec_count(profile->mappings, jpp_mapping_t);

    for (i = 1; i <= n; i++) {
        mapping = jpp_profile_mapping_at(profile, i);

        if (!jpp_file_is_expected(mapping)) {
            continue;
        }

        done = jpp_identify(profile, mapping,
                                      jpp_loaded_build_id(&symbols->loaded,
                                                          mapping));

        if (mapping->build_id == 0
            && jpp_identify_open(symbols, profile, mapping, true, &file, NULL)
               == JPP_OK)
        {
            done = jpp_identify(profile, mapping, &file.build_id);

            jpp_file_close(&file);
        }

        if (!done) {
            return jpp_err_memory(err);
        }
    }

    return JPP_OK;
}


jpp_code_t
jpp_symbolize_addresses(jpp_profile_t *profile, jpp_err_t *err)
{
    bool             done;
    uint32_t         i, n;
    jpp_names_t      names;
    jpp_location_t  *location;

    n = (uint32_t) jpp_vec_count(profile->locations, jpp_location_t);
    done = jpp_names_init(&names, profile);

    for (i = 1; i <= n && done; i++) {
        location = jpp_profile_location_at(profile, i);

        if (location->function != 0) {
            continue;
        }

        done = jpp_names_enter(&names, location->mapping, NULL);

        location->function = jpp_names_function(&names, location->address);

        done = done && location->function != 0;
    }

    jpp_names_destroy(&names);

    return done ? JPP_OK : jpp_err_memory(err);
}


static bool
jpp_symbolize_range(jpp_vec_t *ranges, const jpp_mapping_t *mapping,
    const jpp_elf_t *elf, const jpp_elf_function_t *function)
{
    size_t        n;
    uint64_t      start, end, len;
    jpp_range_t  *range;

    if (!jpp_elf_offset(elf, function->start, &start)) {
        return true;
    }

    len = mapping->limit - mapping->start;
    end = start + function->size;

    start = jpp_larger(start, mapping->offset);

    end = jpp_smaller(end, mapping->offset + len);

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
    uint32_t                   i;
    jpp_file_t                 file;
    jpp_object_t              *object;
    const jpp_elf_t           *elf;
    const jpp_mapping_t       *m;
    const jpp_elf_function_t  *function;

    m = jpp_profile_mapping_at(profile, mapping);

    if (!jpp_file_is_expected(m)
        || jpp_identify_open(symbols, profile, m, false, &file, NULL)
           != JPP_OK)
    {
        return JPP_OK;
    }

    object = jpp_object_get(symbols, &file, jpp_symbolize_room(profile), NULL);

    jpp_file_close(&file);

    if (object == NULL) {
        return JPP_OK;
    }

    elf = &object->elf;
    done = true;

    for (i = 0; i < elf->n_functions && done; i++) {
        function = &elf->functions[i];

        if (function->name != 0 && filter(elf->names + function->name)) {
            done = jpp_symbolize_range(ranges, m, elf, function);
        }
    }

    jpp_object_put(symbols, object);

    return done ? JPP_OK : jpp_err_memory(err);
}

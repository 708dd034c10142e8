
/*
 * The files that this process has loaded: their build ids, and the purpose of
 * some of their functions (hints).
 */


#include "jpp_symbolize.h"


/*
 * For files and hints, less than an arena maps at once; and for the mappings,
 * while it is made.
 */
#define JPP_LOADED_CAP       (2 * 1024 * 1024 - 4096)
#define JPP_LOADED_MAPS_CAP  (64 * 1024 * 1024)


/* "name, ... (owner, file+0x1)" and the NUL */
#define JPP_HINT_TEXT  (3 * JPP_HINT_NAME + 48)


/* A hint at work. */
typedef struct {
    const jpp_hint_t  *given;
    jpp_hint_row_t     row;
    const char        *owner;
    const char        *path;            /* of the file */
    bool               is_shared;       /* stands in other tables, too */
    bool               has_namesake;    /* another function has its name */
} jpp_hint_work_t;


/* The mapping of a file that ADDRESS lies in, and *AT of MAPS; or NULL. */

static const jpp_mapping_t *
jpp_loaded_mapping(const jpp_profile_t *profile, const jpp_vec_t *maps,
    uint64_t address, const jpp_map_t **at)
{
    const jpp_mapping_t  *mapping;

    *at = jpp_maps_find(maps, address);

    if (*at == NULL) {
        return NULL;
    }

    mapping = jpp_profile_mapping_at(profile, (*at)->mapping);

    /* the kernel's own code has no file */

    return mapping->inode != 0 ? mapping : NULL;
}


static bool
jpp_hints_place(jpp_vec_t *work, const jpp_profile_t *profile,
    const jpp_vec_t *maps, const jpp_hint_t *given, size_t n)
{
    const jpp_map_t      *map;
    jpp_hint_work_t      *hint;
    const jpp_hint_t     *one;
    const jpp_mapping_t  *mapping;

    jpp_each(one, given, n) {
        mapping = jpp_loaded_mapping(profile, maps, one->address, &map);

        if (mapping == NULL) {
            continue;
        }

        hint = jpp_vec_push(work, sizeof(jpp_hint_work_t));
        if (hint == NULL) {
            return false;
        }

        hint->given = one;
        hint->owner = one->owner;
        hint->path = mapping->path;
        hint->row.device = mapping->device;
        hint->row.inode = mapping->inode;
        hint->row.offset = one->address + map->shift - mapping->start
                           + mapping->offset;
    }

    return true;
}


static int
jpp_hints_compare(const jpp_hint_row_t *a, const jpp_hint_row_t *b)
{
    int  rc;

    rc = jpp_sort_order(a->device, b->device);
    rc = rc != 0 ? rc : jpp_sort_order(a->inode, b->inode);

    return rc != 0 ? rc : jpp_sort_order(a->offset, b->offset);
}


static int
jpp_hints_by_place(const void *first, const void *second, void *ctx)
{
    int                     rc;
    const jpp_hint_work_t  *a = first, *b = second;

    (void) ctx;

    rc = jpp_hints_compare(&a->row, &b->row);

    return rc != 0 ? rc : jpp_sort_order((uintptr_t) a->given,
                                         (uintptr_t) b->given);
}


/* Keep one hint for each function: the first given. */

static size_t
jpp_hints_unalias(jpp_hint_work_t *work, size_t n)
{
    size_t            i, kept;
    jpp_hint_work_t  *last;

    kept = 0;

    for (i = 0; i < n; i++) {
        last = kept != 0 ? &work[kept - 1] : NULL;

        if (last == NULL || jpp_hints_compare(&last->row, &work[i].row) != 0) {
            work[kept++] = work[i];
            continue;
        }

        if (strcmp(last->given->name, work[i].given->name) != 0) {
            last->is_shared = true;
        }

        /* a function that several owners have has no owner */

        if (last->owner != NULL
            && work[i].owner != NULL
            && strcmp(last->owner, work[i].owner) != 0)
        {
            last->owner = NULL;
        }
    }

    return kept;
}


/* A function between two of one owner is that owner's, too. */

static void
jpp_hints_own(jpp_hint_work_t *work, size_t n)
{
    size_t            i, k;
    jpp_hint_work_t  *before;

    before = NULL;

    for (i = 0; i < n; i++) {

        if (work[i].owner == NULL) {
            continue;
        }

        if (before != NULL
            && before->row.device == work[i].row.device
            && before->row.inode == work[i].row.inode
            && strcmp(before->owner, work[i].owner) == 0)
        {
            for (k = (size_t) (before - work) + 1; k < i; k++) {
                work[k].owner = before->owner;
            }
        }

        before = &work[i];
    }
}


static int
jpp_hints_by_name(const void *first, const void *second, void *ctx)
{
    const jpp_hint_work_t  *a = first, *b = second;

    (void) ctx;

    return strcmp(a->given->name, b->given->name);
}


static void
jpp_hints_distinguish(jpp_hint_work_t *work, size_t n)
{
    size_t  i;

    jpp_sort(work, n, sizeof(jpp_hint_work_t), jpp_hints_by_name, NULL);

    for (i = 1; i < n; i++) {

        if (strcmp(work[i - 1].given->name, work[i].given->name) == 0) {
            work[i - 1].has_namesake = true;
            work[i].has_namesake = true;
        }
    }

    jpp_sort(work, n, sizeof(jpp_hint_work_t), jpp_hints_by_place, NULL);
}


/*
 * Names with a file are those of loadable modules, and those that nothing else
 * says an owner of.  A given owner is in the name already.
 */

static void
jpp_hints_text(const jpp_hint_work_t *work, char text[JPP_HINT_TEXT])
{
    char         offset[24];
    bool         has_file;
    size_t       len;
    const char  *owner, *file;

    owner = work->has_namesake || work->given->owner == NULL ? work->owner
                                                             : NULL;
    file = jpp_path_name(work->path);
    len = strlen(file);

    offset[0] = '\0';

    if (work->has_namesake && owner == NULL) {
        jpp_print(offset, "+0x%" PRIx64, work->row.offset);
    }

    has_file = offset[0] != '\0'
               || (owner == NULL && work->given->owner == NULL)
               || (len > 3 && strcmp(file + len - 3, ".so") == 0);

    (void) snprintf(text, JPP_HINT_TEXT, "%.*s%s%s%.*s%s%.*s%s%s",
                    JPP_HINT_NAME, work->given->name,
                    work->is_shared ? ", ..." : "",
                    owner != NULL || has_file ? " (" : "",
                    JPP_HINT_NAME, owner != NULL ? owner : "",
                    owner != NULL && has_file ? ", " : "",
                    has_file ? JPP_HINT_NAME : 0, file, offset,
                    owner != NULL || has_file ? ")" : "");
}


static bool
jpp_hints_keep(jpp_hints_t *hints, const jpp_hint_work_t *work, size_t n)
{
    char                    text[JPP_HINT_TEXT];
    size_t                  len;
    uint8_t                *p;
    jpp_hint_row_t         *row;
    const jpp_hint_work_t  *hint;

    jpp_each(hint, work, n) {
        jpp_hints_text(hint, text);

        len = strlen(text);
        row = jpp_vec_push(hints->rows, sizeof(jpp_hint_row_t));
        p = jpp_vec_push(hints->names, len + 1);

        if (row == NULL || p == NULL) {
            return false;
        }

        memcpy(p, text, len);

        *row = hint->row;
        row->name = (uint32_t) (p - hints->names->data);
        row->len = (uint32_t) len;
    }

    return true;
}


bool
jpp_hints_init(jpp_hints_t *hints, jpp_arena_t *arena,
    const jpp_profile_t *profile, const jpp_vec_t *maps,
    const jpp_hint_t *given, size_t n)
{
    bool              done;
    jpp_vec_t        *work;
    jpp_hint_work_t  *first;

    hints->rows = jpp_vec_create(arena);
    hints->names = jpp_vec_create(arena);

    /* working memory is in the arena that is given back soon */

    work = jpp_vec_create(profile->arena);

    done = hints->rows != NULL && hints->names != NULL && work != NULL
           && jpp_hints_place(work, profile, maps, given,
                              n < JPP_MAX_HINTS ? n : JPP_MAX_HINTS);

    if (done) {
        first = jpp_vec_items(work, jpp_hint_work_t);
        n = jpp_vec_count(work, jpp_hint_work_t);

        jpp_sort(first, n, sizeof(jpp_hint_work_t), jpp_hints_by_place, NULL);

        n = jpp_hints_unalias(first, n);

        jpp_hints_own(first, n);
        jpp_hints_distinguish(first, n);

        done = jpp_hints_keep(hints, first, n);
    }

    if (!done) {
        hints->rows = NULL;
        hints->names = NULL;
    }

    return done;
}


/* The pieces of ELF's function at file offset OFFSET get NAME; false: it has
   none that is nameless. */

static bool
jpp_hints_name(jpp_elf_t *elf, uint64_t offset, size_t name)
{
    uint64_t                   start;
    jpp_elf_function_t        *functions;
    const jpp_elf_function_t  *found, *end;

    if (!jpp_elf_vaddr(elf, offset, &start)) {
        return false;
    }

    found = jpp_elf_function(elf, start);

    if (found == NULL || found->name != 0 || found->entry != start) {
        return false;
    }

    /* symbols inside it may have split it into pieces */

    functions = (jpp_elf_function_t *) (uintptr_t) elf->functions;
    end = elf->functions + elf->n_functions;

    for ( /* void */ ; found < end && found->entry == start; found++) {
        functions[found - elf->functions].name = (uint32_t) name;
    }

    return true;
}


bool
jpp_hints_apply(const jpp_hints_t *hints, uint64_t device, uint64_t inode,
    jpp_elf_t *elf, jpp_arena_t *arena)
{
    char                  *names;
    size_t                 len;
    const jpp_hint_row_t  *row;

    if (hints->rows == NULL) {
        return true;
    }

    len = elf->names_len;

    jpp_vec_each(row, hints->rows) {
        if (row->device == device && row->inode == inode) {
            len += row->len + 1;
        }
    }

    if (len == elf->names_len || len > UINT32_MAX) {
        return true;
    }

    names = jpp_arena_alloc(arena, len);
    if (names == NULL) {
        return false;
    }

    memcpy(names, elf->names, elf->names_len);
    len = elf->names_len;

    jpp_vec_each(row, hints->rows) {
        if (row->device == device && row->inode == inode
            && jpp_hints_name(elf, row->offset, len))
        {
            memcpy(names + len, jpp_vec_items(hints->names, char) + row->name,
                   row->len + 1);
            len += row->len + 1;
        }
    }

    elf->names = names;
    elf->names_len = len;

    return true;
}


static bool
jpp_loaded_fill(jpp_loaded_t *loaded, jpp_profile_t *profile,
    const jpp_vec_t *maps, const jpp_vec_t *images)
{
    const jpp_map_t      *map;
    const jpp_image_t    *image;
    jpp_loaded_file_t    *file;
    const jpp_mapping_t  *mapping;

    jpp_vec_each(image, images) {
        mapping = jpp_loaded_mapping(profile, maps, image->address, &map);

        if (mapping == NULL) {
            continue;
        }

        file = jpp_vec_push(loaded->files, sizeof(jpp_loaded_file_t));
        if (file == NULL) {
            return false;
        }

        file->device = mapping->device;
        file->inode = mapping->inode;

        jpp_build_id_text(&image->build_id, file->build_id);
    }

    return true;
}


void
jpp_loaded_init(jpp_loaded_t *loaded, const jpp_vec_t *maps,
    const jpp_vec_t *images, const jpp_vec_t *hints, const char *table)
{
    jpp_vec_t      *places;
    jpp_arena_t     arena;
    jpp_profile_t   profile;

    jpp_arena_init(&loaded->arena, JPP_LOADED_CAP);
    jpp_arena_init(&arena, JPP_LOADED_MAPS_CAP);

    loaded->files = jpp_vec_create(&loaded->arena);
    places = jpp_vec_create(&arena);

    if (loaded->files == NULL
        || places == NULL
        || !jpp_profile_init(&profile, &arena, NULL, 0)
        || jpp_maps_read(&profile, (const char *) maps->data, maps->len, NULL,
                         places, NULL)
           != JPP_OK
        || !jpp_loaded_fill(loaded, &profile, places, images)
        || !jpp_hints_init(&loaded->hints, &loaded->arena, &profile, places,
                           jpp_vec_items(hints, jpp_hint_t),
                           jpp_vec_count(hints, jpp_hint_t)))
    {
        jpp_loaded_destroy(loaded);
    }

    loaded->table = table;

    jpp_arena_destroy(&arena);
}


void
jpp_loaded_destroy(jpp_loaded_t *loaded)
{
    jpp_arena_destroy(&loaded->arena);

    loaded->files = NULL;
    loaded->hints.rows = NULL;
    loaded->hints.names = NULL;
}


const char *
jpp_loaded_build_id(const jpp_loaded_t *loaded, const jpp_mapping_t *mapping)
{
    const jpp_loaded_file_t  *file;

    if (loaded->files == NULL) {
        return "";
    }

    jpp_vec_each(file, loaded->files) {
        if (file->inode == mapping->inode && file->device == mapping->device) {
            return file->build_id;
        }
    }

    return "";
}


#include <string.h>

#include "jpp_loaded.h"
#include "jpp_maps.h"


/*
 * For files and hints, less than an arena maps at once; and for the mappings,
 * while it is made.
 */
#define JPP_LOADED_CAP       (2 * 1024 * 1024 - 4096)
#define JPP_LOADED_MAPS_CAP  (64 * 1024 * 1024)


static bool
jpp_loaded_fill(jpp_loaded_t *loaded, jpp_profile_t *profile,
    const jpp_vec_t *maps, const jpp_image_t *images, size_t n)
{
    size_t                i;
    const jpp_map_t      *map;
    jpp_loaded_file_t    *file;
    const jpp_mapping_t  *mapping;

    for (i = 0; i < n; i++) {

        map = jpp_maps_find(maps, images[i].address);

        if (map == NULL) {
            continue;
        }

        mapping = jpp_profile_mapping_at(profile, map->mapping);

        /* the kernel's own code has no file */

        if (mapping->inode == 0) {
            continue;
        }

        file = jpp_vec_push(loaded->files, sizeof(jpp_loaded_file_t));
        if (file == NULL) {
            return false;
        }

        file->device = mapping->device;
        file->inode = mapping->inode;
        file->build_id = images[i].build_id;
    }

    return true;
}


void
jpp_loaded_init(jpp_loaded_t *loaded, const jpp_loaded_source_t *source)
{
    jpp_vec_t      *table;
    jpp_arena_t     arena;
    jpp_profile_t   profile;

    jpp_arena_init(&loaded->arena, JPP_LOADED_CAP);
    jpp_arena_init(&arena, JPP_LOADED_MAPS_CAP);

    loaded->files = jpp_vec_create(&loaded->arena);
    table = jpp_vec_create(&arena);

    if (loaded->files == NULL
        || table == NULL
        || !jpp_profile_init(&profile, &arena, NULL, 0)
        || jpp_maps_read(&profile, source->maps, source->maps_len, NULL, table,
                         NULL)
           != JPP_OK
        || !jpp_loaded_fill(loaded, &profile, table, source->images,
                            source->n_images)
        || !jpp_hints_init(&loaded->hints, &loaded->arena, &profile, table,
                           source->hints, source->n_hints))
    {
        jpp_loaded_destroy(loaded);
    }

    loaded->table = source->table;

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


const jpp_build_id_t *
jpp_loaded_build_id(const jpp_loaded_t *loaded, const jpp_mapping_t *mapping)
{
    size_t                    i, n;
    const jpp_loaded_file_t  *file;

    n = loaded->files != NULL
        ? jpp_vec_count(loaded->files, jpp_loaded_file_t) : 0;

    for (i = 0; i < n; i++) {
        file = &jpp_vec_items(loaded->files, jpp_loaded_file_t)[i];

        if (file->inode == mapping->inode && file->device == mapping->device) {
            return &file->build_id;
        }
    }

    return NULL;
}

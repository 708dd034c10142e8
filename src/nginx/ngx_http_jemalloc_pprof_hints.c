
/*
 * The builds of what is loaded.
 */


#include "ngx_http_jemalloc_pprof_hints.h"

#include "jpp_proc.h"


/* the mappings of this process; given back before a request comes */
#define NGX_HTTP_JEMALLOC_PPROF_HINTS_CAP  (64 * 1024 * 1024)


void
ngx_http_jemalloc_pprof_hints(jpp_symbols_t *symbols)
{
    jpp_vec_t    *maps, *images;
    jpp_arena_t   arena;

    jpp_arena_init(&arena, NGX_HTTP_JEMALLOC_PPROF_HINTS_CAP);

    maps = jpp_vec_create(&arena);
    images = jpp_vec_create(&arena);

    if (maps != NULL
        && images != NULL
        && jpp_images_read(images)
        && jpp_proc_maps(maps, NULL) == JPP_OK)
    {
        jpp_loaded_init(&symbols->loaded, (char *) maps->data, maps->len,
                        jpp_vec_items(images, jpp_image_t),
                        jpp_vec_count(images, jpp_image_t));
    }

    jpp_arena_destroy(&arena);
}


/* The set of objects that a walk has seen. */

#include "jpp_lua.h"


typedef struct {
    uint64_t  key;                 /* the page's number */
    uint64_t  bits[8];
} jpp_lua_page_t;


bool
jpp_lua_seen_init(jpp_lua_seen_t *seen, jpp_arena_t *arena)
{
    seen->pages = jpp_vec_create(arena);
    seen->last = 0;

    jpp_index_init(&seen->index, arena);

    return seen->pages != NULL;
}


/* The id of the page of OBJECT; 0: nothing in it was seen. */

static uint32_t
jpp_lua_page(jpp_lua_seen_t *seen, uintptr_t object)
{
    uint32_t               id, hash, pos;
    uint64_t               key;
    const jpp_lua_page_t  *pages;

    key = object >> 12;
    pages = jpp_vec_items(seen->pages, jpp_lua_page_t);

    if (seen->last != 0 && pages[seen->last - 1].key == key) {
        return seen->last;
    }

    hash = (uint32_t) jpp_hash_u64(key);
    pos = hash;

    while ((id = jpp_index_next(&seen->index, hash, &pos)) != 0) {
        if (pages[id - 1].key == key) {
            seen->last = id;
            break;
        }
    }

    return id;
}


bool
jpp_lua_is_seen(jpp_lua_seen_t *seen, uintptr_t object)
{
    uint32_t  id, bit;

    id = jpp_lua_page(seen, object);
    bit = object >> 3 & 511;

    return id != 0
           && (jpp_vec_items(seen->pages, jpp_lua_page_t)[id - 1].bits[bit / 64]
               >> bit % 64 & 1) != 0;
}


bool
jpp_lua_see(jpp_lua_seen_t *seen, uintptr_t object)
{
    uint32_t         id, bit;
    jpp_lua_page_t  *page;

    id = jpp_lua_page(seen, object);
    bit = object >> 3 & 511;

    if (id == 0) {
        page = jpp_vec_push(seen->pages, sizeof(jpp_lua_page_t));
        id = (uint32_t) jpp_vec_count(seen->pages, jpp_lua_page_t);

        if (page == NULL
            || !jpp_index_add(&seen->index,
                              (uint32_t) jpp_hash_u64(object >> 12), id))
        {
            return false;
        }

        page->key = object >> 12;
    }

    jpp_vec_items(seen->pages, jpp_lua_page_t)[id - 1].bits[bit / 64]
        |= (uint64_t) 1 << bit % 64;

    return true;
}

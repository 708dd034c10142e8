
#include <string.h>

#include "jpp_arena.h"
#include "jpp_owner_names.h"


#define JPP_OWNER_ARENA  ((size_t) 4 << 20)


typedef struct {
    uint32_t        n;
    jpp_owner_t     names[JPP_OWNER_NAMES];
    jpp_arena_t     arena;
} jpp_owner_table_t;


static void jpp_owner_text(char text[JPP_OWNER_NAME], const char *name,
    size_t len);


static const jpp_owner_t  jpp_owner_fixed[JPP_OWNERS_FIXED] = {
    [JPP_OWNER_NONE]    = { "(unknown)", "(unknown)" },
    [JPP_OWNER_OTHERS]  = { "(other servers)", "(other locations)" },
    [JPP_OWNER_LOOP]    = { "(event loop)", "(event loop)" },
    [JPP_OWNER_THREADS] = { "(other threads)", "(other threads)" }
};


static jpp_owner_table_t  jpp_owner;


/* Names are read by other threads: an owner is there once it counts. */

uint32_t
jpp_owner_name(const char *server, size_t server_len, const char *location,
    size_t location_len)
{
    uint32_t      i;
    char          names[2][JPP_OWNER_NAME];
    jpp_owner_t   owner;

    if (jpp_owner.n == 0) {
        memcpy(jpp_owner.names, jpp_owner_fixed, sizeof(jpp_owner_fixed));
        jpp_arena_init(&jpp_owner.arena, JPP_OWNER_ARENA);
        __atomic_store_n(&jpp_owner.n, JPP_OWNERS_FIXED, __ATOMIC_RELEASE);
    }

    jpp_owner_text(names[0], server, server_len);
    jpp_owner_text(names[1], location, location_len);

    for (i = JPP_OWNERS_FIXED; i < jpp_owner.n; i++) {
        if (strcmp(jpp_owner.names[i].location, names[1]) == 0
            && strcmp(jpp_owner.names[i].server, names[0]) == 0)
        {
            return i;
        }
    }

    owner.server = i < JPP_OWNER_NAMES
                   ? jpp_arena_strndup(&jpp_owner.arena, names[0],
                                       strlen(names[0])) : NULL;
    owner.location = owner.server != NULL
                     ? jpp_arena_strndup(&jpp_owner.arena, names[1],
                                         strlen(names[1])) : NULL;

    if (owner.location == NULL) {
        return JPP_OWNER_OTHERS;
    }

    jpp_owner.names[i] = owner;
    __atomic_store_n(&jpp_owner.n, i + 1, __ATOMIC_RELEASE);

    return i;
}


static void
jpp_owner_text(char text[JPP_OWNER_NAME], const char *name, size_t len)
{
    size_t  i;

    len = len < JPP_OWNER_NAME ? len : JPP_OWNER_NAME - 1;

    for (i = 0; i < len; i++) {
        text[i] = (unsigned char) name[i] < ' ' || name[i] == 0x7f ? '?'
                                                                   : name[i];
    }

    text[len] = '\0';
}


uint32_t
jpp_owner_names_count(void)
{
    return __atomic_load_n(&jpp_owner.n, __ATOMIC_ACQUIRE);
}


jpp_owner_t
jpp_owner_names(uint32_t owner)
{
    return owner < jpp_owner_names_count() ? jpp_owner.names[owner]
                                      : jpp_owner_fixed[JPP_OWNER_NONE];
}

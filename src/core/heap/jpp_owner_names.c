
#include "jpp_heap.h"
#include "jpp_owner_names.h"
#include "jpp_pools_table.h"


#define JPP_OWNER_ARENA   ((size_t) 4 << 20)

#define JPP_OWNER_BUFFER  4096

/* a power of two, more than twice as many as there are names */
#define JPP_OWNER_HASHED  4096


typedef struct {
    uint32_t        n;
    bool            is_busy;
    jpp_owner_t     owners[JPP_OWNER_NAMES];
    uint16_t        hashed[JPP_OWNER_HASHED];    /* 0: free */
    jpp_arena_t     arena;
} jpp_owner_table_t;


static const jpp_owner_t  jpp_owner_fixed[JPP_OWNERS_FIXED] = {
    [JPP_OWNER_NONE] =
        { .names = { "(unknown)", "(unknown)", "" } },
    [JPP_OWNER_OTHERS] =
        { .names = { "(other servers)", "(other locations)", "" } },
    [JPP_OWNER_LOOP] =
        { .names = { "(event loop)", "(event loop)", "" } },
    [JPP_OWNER_THREADS] =
        { .names = { "(other threads)", "(other threads)", "" } },
    [JPP_OWNER_ACCEPT] =
        { .names = { "(accept)", "(accept)", "" } }
};


static jpp_owner_table_t  jpp_owner;


static uint32_t
jpp_owner_hash(char names[JPP_ROOTS][JPP_OWNER_NAME])
{
    uint32_t     i, hash;
    const char  *p;

    hash = 2166136261u;

    for (i = 0; i < JPP_ROOTS; i++) {
        for (p = names[i]; *p != '\0'; p++) {
            hash = (hash ^ (unsigned char) *p) * 16777619u;
        }

        hash = (hash ^ i) * 16777619u;
    }

    return hash ^ hash >> 15;
}


static uint32_t
jpp_owner_add(char names[JPP_ROOTS][JPP_OWNER_NAME], uint16_t *slot)
{
    uint32_t      i;
    jpp_owner_t  *owner;

    if (jpp_owner.n == JPP_OWNER_NAMES) {
        return JPP_OWNER_OTHERS;
    }

    owner = &jpp_owner.owners[jpp_owner.n];

    for (i = 0; i < JPP_ROOTS; i++) {
        owner->names[i] = jpp_arena_strndup(&jpp_owner.arena, names[i],
                                            strlen(names[i]));

        if (owner->names[i] == NULL) {
            return JPP_OWNER_OTHERS;
        }
    }

    *slot = (uint16_t) jpp_owner.n;
    jpp_atomic_set(&jpp_owner.n, jpp_owner.n + 1);

    return *slot;
}


static uint32_t
jpp_owner_find(char names[JPP_ROOTS][JPP_OWNER_NAME])
{
    uint16_t           *slot;
    uint32_t            i, hash;
    const jpp_owner_t  *owner;

    for (hash = jpp_owner_hash(names); /* void */ ; hash++) {
        slot = &jpp_owner.hashed[hash % JPP_OWNER_HASHED];

        if (*slot == 0) {
            return jpp_owner_add(names, slot);
        }

        owner = &jpp_owner.owners[*slot];

        for (i = 0; strcmp(owner->names[i], names[i]) == 0; i++) {
            if (i == JPP_ROOTS - 1) {
                return *slot;
            }
        }
    }
}


/* Names are read by other threads: an owner is there once it counts. */

uint32_t
jpp_owner_name(const jpp_owner_raw_t raw[JPP_ROOTS])
{
    uint32_t  i, owner;
    char      names[JPP_ROOTS][JPP_OWNER_NAME];

    if (jpp_owner.is_busy) {
        return JPP_OWNER_NONE;
    }

    jpp_owner.is_busy = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);

    if (jpp_owner.n == 0) {
        memcpy(jpp_owner.owners, jpp_owner_fixed, sizeof(jpp_owner_fixed));
        jpp_arena_init(&jpp_owner.arena, JPP_OWNER_ARENA);
        jpp_atomic_set(&jpp_owner.n, JPP_OWNERS_FIXED);
    }

    for (i = 0; i < JPP_ROOTS; i++) {
        (void) jpp_owner_text(names[i], raw[i].data, raw[i].len);
    }

    owner = jpp_owner_find(names);

    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    jpp_owner.is_busy = false;

    return owner;
}


void
jpp_owner_place(uint32_t owner, jpp_owner_raw_t file, uint32_t line)
{
    jpp_owner_t  *of;

    of = &jpp_owner.owners[owner];

    if (owner < JPP_OWNERS_FIXED
        || (of->line == line && of->file.data == file.data))
    {
        return;
    }

    of->file = file;
    of->file.len = of->line == 0 ? file.len : 0;

    jpp_atomic_set(&of->line, line);
}


/* No byte is lost in front of a cut, so only as many are escaped. */

size_t
jpp_owner_text(char text[JPP_OWNER_NAME], const char *name, size_t len)
{
    char    escaped[JPP_UTF8_ESCAPED(JPP_OWNER_NAME) + 1];
    size_t  n, step, cut;

    n = jpp_utf8_escape(escaped, name,
                        len < JPP_OWNER_NAME ? len : JPP_OWNER_NAME);
    escaped[n] = '\0';

    /* whole escapes and whole characters of at most 4 bytes */

    for (cut = 0; escaped[cut] != '\0'; cut += step) {
        step = strncmp(escaped + cut, "\\x", 2) == 0
               ? 4 : jpp_utf8_len((const uint8_t *) escaped + cut, 4);

        if (cut + step >= JPP_OWNER_NAME) {
            break;
        }
    }

    memcpy(text, escaped, cut);
    text[cut] = '\0';

    return cut;
}


void
jpp_owner_write(const jpp_owner_t *owner, jpp_sink_t *sink)
{
    char       text[JPP_POOLS_PLACE];
    uint32_t   i, n;

    n = owner->names[JPP_ROOT_UPSTREAM][0] != '\0' || owner->file.len != 0
        ? JPP_ROOTS : JPP_ROOT_UPSTREAM;

    for (i = 0; i < n; i++) {

        if (i != 0) {
            jpp_sink_char(sink, '\t');
        }

        jpp_sink_str(sink, owner->names[i]);
    }

    if (owner->file.len != 0) {
        jpp_sink_printf(sink, "\t%s", jpp_place_text(owner->file.data,
                                                     owner->file.len,
                                                     owner->line, text));
    }
}


jpp_code_t
jpp_owner_append(int fd, jpp_err_t *err)
{
    uint8_t      buffer[JPP_OWNER_BUFFER];
    uint32_t     i, n;
    jpp_sink_t   sink;
    jpp_owner_t  owner;

    n = jpp_owner_names_count();

    if (n == 0) {
        return JPP_OK;
    }

    /* jemalloc has opened the file by itself */

    if (lseek(fd, 0, SEEK_END) == -1) {
        return jpp_write_failed(err, errno, "the owners of the dump");
    }

    jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_write, &fd);
    jpp_sink_str(&sink, JPP_HEAP_OWNERS);

    for (i = 0; i < n; i++) {
        owner = jpp_owner_names(i);

        jpp_owner_write(&owner, &sink);
        jpp_sink_char(&sink, '\n');
    }

    return jpp_sink_flush(&sink) == 0
           ? JPP_OK
           : jpp_write_failed(err, sink.error, "the owners of the dump");
}


uint32_t
jpp_owner_names_count(void)
{
    return jpp_atomic_get(&jpp_owner.n);
}


jpp_owner_t
jpp_owner_names(uint32_t owner)
{
    return owner < jpp_owner_names_count() ? jpp_owner.owners[owner]
                                           : jpp_owner_fixed[JPP_OWNER_NONE];
}

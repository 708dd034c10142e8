
/*
 * The cache of what was read from ELF files, by build id.  Each object has
 * pages of its own outside malloc; at a byte cap the least recently used goes
 * first.
 *
 * A file whose functions would not fit under the cap is refused, and so is one
 * that takes too much to read or is damaged: otherwise a file of a million
 * functions would cost every report half a second.  Refusals are remembered
 * until the file changes.
 *
 * One object is in use at a time.  One thread at a time per cache.
 */


#ifndef _JPP_OBJECT_H_INCLUDED_
#define _JPP_OBJECT_H_INCLUDED_


#include "jpp_known.h"
#include "jpp_loaded.h"
#include "jpp_unnamed.h"


/* nginx, libc with debug symbols, libssl, libcrypto, libjemalloc: 1 MiB */
#define JPP_SYMBOLS_CAP  (16 * 1024 * 1024)


typedef struct jpp_object_s  jpp_object_t;


struct jpp_object_s {
    jpp_object_t     *next;
    size_t            bytes;            /* of whole pages */
    jpp_build_id_t    key;
    jpp_elf_t         elf;
    bool              is_partial;       /* do not keep */
};


typedef struct {
    jpp_object_t     *objects;          /* most recently used first */
    size_t            bytes;
    size_t            cap;
    size_t            room;             /* the most that reading may take */
    const char       *debug_root;       /* "/usr/lib/debug" */
    jpp_known_t       known;
    jpp_refused_t     refused;
    jpp_loaded_t      loaded;           /* what the caller knows, or zeros */
    char              unnamed[JPP_UNNAMED_TEXT];  /* of the last profile */
    uint64_t          n_hits;
    uint64_t          n_misses;
    uint64_t          n_opened;         /* files */
} jpp_symbols_t;


/*
 * Initialize the caller's SYMBOLS: an empty cache of at most CAP bytes, and
 * nothing known about this process.
 */
void jpp_symbols_init(jpp_symbols_t *symbols, size_t cap);

/* Give everything back, including what is known about this process. */
void jpp_symbols_destroy(jpp_symbols_t *symbols);

/*
 * Is the object of FILE in the cache, or FILE refused?  Then it need not be
 * open.
 */
bool jpp_object_has(const jpp_symbols_t *symbols, const jpp_file_t *file);

/*
 * The object of FILE; give it back by jpp_object_put() before the next call.
 * NULL: no object, and ERR says why.  Reading takes at most ROOM bytes, all of
 * which are given back.
 */
jpp_object_t *jpp_object_get(jpp_symbols_t *symbols, const jpp_file_t *file,
    size_t room, jpp_err_t *err);

void jpp_object_put(jpp_symbols_t *symbols, jpp_object_t *object);


#endif /* _JPP_OBJECT_H_INCLUDED_ */

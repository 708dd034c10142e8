
/*
 * What a process knows about the files it has loaded itself: which build each
 * of them is, and what some of their functions are for (hints).
 *
 * It is gathered once, when the process starts, and passed to the symbolizer
 * as data: a report is a pure function of its inputs, and the tool knows
 * nothing about the machines whose dumps it reads.
 *
 * A file is known by device and inode, as the mappings have them: all
 * processes of a server that loaded a file have the same code, wherever it
 * lies in their memory.
 *
 * Never changes after it is made; any thread may read it then.  Memory of its
 * own.
 */


#ifndef _JPP_LOADED_H_INCLUDED_
#define _JPP_LOADED_H_INCLUDED_


#include "jpp_dump.h"
#include "jpp_images.h"


/*
 * Names for functions without a symbol, from what a process knows about its
 * own code.  A stripped program still has tables that point to its static
 * functions, and the table says what a function is for ("directive http").
 *
 * A hint is the address of a function in a process.  It is kept as a place in
 * a file, so it holds for every process that loaded the file, at any address.
 * It counts only where .eh_frame has the start of a function that no symbol
 * covers.
 *
 * A function in several tables gets the name of the first, and ", ...".
 * Functions with the same name get their owner, or their offset, appended.
 * The owner of a function that none of its tables names is its neighbours':
 * functions of one source file are adjacent.
 */

/* of one process; a server with all its modules has some 1500 */
#define JPP_MAX_HINTS   8192

/* a name, and an owner; what is longer is cut */
#define JPP_HINT_NAME   96


typedef struct {
    uint64_t          address;     /* where the function starts */
    const char       *name;
    const char       *owner;       /* its module; NULL: unknown */
} jpp_hint_t;


/* A hint, as stored. */
typedef struct {
    uint64_t          device;
    uint64_t          inode;
    uint64_t          offset;      /* in the file */
    uint32_t          name;        /* into names */
    uint32_t          len;
} jpp_hint_row_t;


/* Zeros are no hints. */
typedef struct {
    jpp_vec_t        *rows;        /* jpp_hint_row_t, by place */
    jpp_vec_t        *names;       /* NUL-terminated */
} jpp_hints_t;


/*
 * Make the caller's HINTS, in ARENA, from the N hints at GIVEN; the process's
 * mappings are PROFILE's and MAPS.  False: no memory.
 */
bool jpp_hints_init(jpp_hints_t *hints, jpp_arena_t *arena,
    const jpp_profile_t *profile, const jpp_vec_t *maps,
    const jpp_hint_t *given, size_t n);

/*
 * Give the nameless functions of ELF, the file DEVICE and INODE, the names
 * that are known, behind all others in ELF's names, from elf->hinted on.
 * Memory from ARENA; false: no memory.
 */
bool jpp_hints_apply(const jpp_hints_t *hints, uint64_t device,
    uint64_t inode, jpp_elf_t *elf, jpp_arena_t *arena);


/* What a process says about itself. */
typedef struct {
    const char         *maps;      /* the text of its mappings */
    size_t              maps_len;
    const jpp_image_t  *images;
    size_t              n_images;
    const jpp_hint_t   *hints;
    size_t              n_hints;
    const char         *table;     /* where hints are from: "nginx table", */
                                   /*   static memory */
} jpp_loaded_source_t;


typedef struct {
    uint64_t          device;
    uint64_t          inode;
    jpp_build_id_t    build_id;
} jpp_loaded_file_t;


/* Zeros are a process that knows nothing. */
typedef struct {
    jpp_arena_t       arena;
    jpp_vec_t        *files;       /* jpp_loaded_file_t */
    jpp_hints_t       hints;
    const char       *table;
} jpp_loaded_t;


/*
 * Make the caller's LOADED from SOURCE, of which only the table is needed
 * afterwards.  Without memory, or if the mappings cannot be read, it knows
 * nothing.
 */
void jpp_loaded_init(jpp_loaded_t *loaded, const jpp_loaded_source_t *source);

/* Give everything back. */
void jpp_loaded_destroy(jpp_loaded_t *loaded);

/* The build id of what was loaded from MAPPING's file, or NULL. */
const jpp_build_id_t *jpp_loaded_build_id(const jpp_loaded_t *loaded,
    const jpp_mapping_t *mapping);


#endif /* _JPP_LOADED_H_INCLUDED_ */

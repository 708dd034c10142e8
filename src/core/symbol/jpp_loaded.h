
/*
 * What a process knows about the files it has loaded itself: which build each
 * of them is, and what some of their functions are for (jpp_hints.h).
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


#include "jpp_hints.h"
#include "jpp_images.h"


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

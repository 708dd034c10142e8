
/*
 * Names for the locations of a profile.
 *
 * For each mapping that has locations: find its file, prove as far as possible
 * that it is the one that was loaded (jpp_file.h), read it (jpp_elf.h) or take
 * it from the cache, and give every location a function:
 *
 *     name                 the extent of a symbol covers the address
 *     directive http       else what the process knows about the function
 *                          that starts here by .eh_frame (jpp_loaded.h), and
 *                          where it knows it from as the function's file
 *     nginx+0x3f2a0        else the start of that function, so that one
 *                          function is one frame (virtual address); its file
 *                          is "between a and b", the functions next to it
 *     nginx+0x3f2c4        else the address itself (file offset where the
 *                          file could not be read)
 *     0x7f1200001000       no mapping
 *
 * A debug file under /usr/lib/debug/.build-id with the same build id is used:
 * it has the .symtab that a stripped file lost.  No network and no DWARF.
 *
 * One thread at a time per cache and profile.  Memory from the profile's
 * arena; working memory is given back.
 */


#ifndef _JPP_SYMBOLIZE_H_INCLUDED_
#define _JPP_SYMBOLIZE_H_INCLUDED_


#include "jpp_file.h"
#include "jpp_loaded.h"
#include "jpp_maps.h"


/*
 * The comment that says how many addresses of a profile have no name, in which
 * builds of which files, and where their debug symbols are.
 *
 * Only stripped files count.  If a symbol table is complete, nothing else has
 * more names; and files that could not be read have a comment of their own.
 */

/* files listed by name */
#define JPP_UNNAMED_FILES  4

/* the files and build ids, and the words around them */
#define JPP_UNNAMED_TEXT   1280


typedef struct {
    uint32_t          file;        /* string id */
    uint32_t          build_id;    /* string id; 0: the file has none */
    uint32_t          n;           /* its addresses without a name */
} jpp_unnamed_file_t;


/* Zeros: everything has a name. */
typedef struct {
    jpp_unnamed_file_t   files[JPP_UNNAMED_FILES];   /* by n, falling */
    uint32_t             n_files;
    uint64_t             n;
} jpp_unnamed_t;


/* N > 0 addresses of MAPPING's file have no name. */
void jpp_unnamed_add(jpp_unnamed_t *unnamed, const jpp_mapping_t *mapping,
    uint32_t n);

/*
 * Write the sentence to TEXT, "" if all have names, and append it to PROFILE as
 * a comment.
 */
void jpp_unnamed_comment(const jpp_unnamed_t *unnamed,
    jpp_profile_t *profile, char text[JPP_UNNAMED_TEXT]);


/* nginx, libc with debug symbols, libssl, libcrypto, libjemalloc: 1 MiB */
#define JPP_SYMBOLS_CAP  (16 * 1024 * 1024)


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

/* Should the function with the symbol NAME, as the file has it, be kept? */
typedef bool (*jpp_symbol_filter_pt)(const char *name);


/*
 * Give every location of PROFILE that has none a function, every mapping
 * has_functions and its build id: its own, else the one that SYMBOLS knows was
 * loaded, else the file's.  A file with another build id than was known before
 * is not used.  If a mapping's file cannot be used, its locations become
 * module+0xoffset and a comment in the profile says why.  The only error is
 * JPP_ERR_MEMORY.
 */
jpp_code_t jpp_symbolize(jpp_symbols_t *symbols, jpp_profile_t *profile,
    jpp_err_t *err);

/*
 * Set the build ids of PROFILE's mappings and nothing else: for profiles that
 * their readers symbolize.
 */
jpp_code_t jpp_symbolize_build_ids(jpp_symbols_t *symbols,
    jpp_profile_t *profile, jpp_err_t *err);

/*
 * Give every location a function without looking at any file: module+0xoffset,
 * the offset in the file.  For formats that need names.
 */
jpp_code_t jpp_symbolize_addresses(jpp_profile_t *profile, jpp_err_t *err);

/*
 * Append the run-time addresses of the functions that FILTER keeps, in mapping
 * MAPPING (an id) of PROFILE, to RANGES (jpp_range_t), by address and without
 * gaps between neighbours.  For the code of an allocator that is linked into
 * the program.  A file that cannot be used has no functions.  The only error
 * is JPP_ERR_MEMORY.
 */
jpp_code_t jpp_symbolize_ranges(jpp_symbols_t *symbols,
    const jpp_profile_t *profile, uint32_t mapping,
    jpp_symbol_filter_pt filter, jpp_vec_t *ranges, jpp_err_t *err);


#endif /* _JPP_SYMBOLIZE_H_INCLUDED_ */


/*
 * Finds the names of a profile's locations.
 *
 * For each mapping that has locations: find its file, prove as far as possible
 * that it is the one that was loaded (jpp_file.c), read it (jpp_elf.h) or take
 * it from the cache, and give every location a function:
 *
 *     name                 the extent of a symbol covers the address
 *     directive http       else what the process knows about the function
 *                          that starts here by .eh_frame (jpp_loaded.c), and
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


#include "jpp_dump.h"
#include "jpp_proc.h"


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
 * Functions with the same name get their owner, or their file and offset,
 * appended; functions of loadable modules, and of nobody known, their file:
 * "phase access handler 1 (ngx_http_x_module.so)".
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


/* lower-case hexadecimal and the NUL */
#define JPP_BUILD_ID_TEXT  (2 * JPP_BUILD_ID_MAX + 1)


typedef struct {
    uint64_t          device;
    uint64_t          inode;
    char              build_id[JPP_BUILD_ID_TEXT];
} jpp_loaded_file_t;


/* Zeros are a process that knows nothing. */
typedef struct {
    jpp_arena_t       arena;
    jpp_vec_t        *files;       /* jpp_loaded_file_t */
    jpp_hints_t       hints;
    const char       *table;
} jpp_loaded_t;


/*
 * Make the caller's LOADED from what a process says about itself: the text of
 * its mappings, IMAGES (jpp_image_t) and HINTS (jpp_hint_t).  TABLE is where
 * hints are from: "nginx table", static memory.  Without memory, or if the
 * mappings cannot be read, it knows nothing.
 */
void jpp_loaded_init(jpp_loaded_t *loaded, const jpp_vec_t *maps,
    const jpp_vec_t *images, const jpp_vec_t *hints, const char *table);

/* Give everything back. */
void jpp_loaded_destroy(jpp_loaded_t *loaded);

/* The build id of what was loaded from MAPPING's file; "": it is not known. */
const char *jpp_loaded_build_id(const jpp_loaded_t *loaded,
    const jpp_mapping_t *mapping);


/* The file behind a mapping: jpp_file.c. */


typedef struct {
    int               fd;          /* -1: it is not open */
    bool              is_proven;   /* not just likely */
    char              build_id[JPP_BUILD_ID_TEXT];   /* "": it has none */
    char              identity[JPP_BUILD_ID_TEXT];   /* another once it is */
                                                     /*   changed */
} jpp_file_t;


/*
 * Open the caller's FILE for MAPPING, whose build id is the text BUILD_ID
 * ("": not known).  The sentence of an error is about the file at the
 * mapping's path.
 */
jpp_code_t jpp_file_open(jpp_file_t *file, const jpp_mapping_t *mapping,
    const char *build_id, jpp_err_t *err);

/* Close what was opened. */
void jpp_file_close(jpp_file_t *file);

/* Could MAPPING have a file? "[vdso]" and anonymous memory could not. */
bool jpp_file_is_expected(const jpp_mapping_t *mapping);

/*
 * A descriptor of the debug file for the build id BUILD_ID below ROOT, or -1.
 * Links are followed, because some distributions install them; the build id
 * inside proves the file (jpp_elf.h).
 */
int jpp_file_open_debug(const char *build_id, const char *root);

/* Write ID as text. */
void jpp_build_id_text(const jpp_build_id_t *id, char text[JPP_BUILD_ID_TEXT]);


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
 * first.  While an object with the build id of a mapping is in the cache, no
 * file is opened for it.
 *
 * A file whose functions would not fit under the cap is refused, and so is one
 * that takes too much to read or is damaged: otherwise a file of a million
 * functions would cost every report half a second.  The reason is kept like
 * functions, but only for the file as it is: under its inode and times.
 *
 * One object is in use at a time.  One thread at a time per cache.
 */

/* bytes of a reason */
#define JPP_OBJECT_WHY  160


typedef struct jpp_object_s  jpp_object_t;


struct jpp_object_s {
    jpp_object_t     *next;
    size_t            bytes;            /* of whole pages */
    char              key[JPP_BUILD_ID_TEXT];
    char              why[JPP_OBJECT_WHY];   /* it has no functions; or "" */
    jpp_elf_t         elf;
    bool              is_passing;       /* do not keep */
};


typedef struct {
    jpp_object_t     *objects;          /* most recently used first */
    size_t            bytes;
    size_t            cap;
    size_t            room;             /* the most that reading may take */
    const char       *debug_root;       /* "/usr/lib/debug" */
    jpp_loaded_t      loaded;           /* what the caller knows, or zeros */
    char              unnamed[JPP_UNNAMED_TEXT];  /* of the last profile */
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


/* what a profile gets */
typedef enum {
    JPP_SYMBOLIZE_NAMES = 0,
    JPP_SYMBOLIZE_BUILD_IDS,       /* and nothing else: its parser has names */
    JPP_SYMBOLIZE_ADDRESSES        /* no file is looked at: every function is */
                                   /*   module+0xoffset, in the file */
} jpp_symbolize_what_t;


/*
 * Give every location of PROFILE that has none a function, every mapping
 * has_functions and its build id: its own, else the one that SYMBOLS knows was
 * loaded, else the file's; as far as WHAT says.  A file with another build id
 * than was known before is not used.  If a mapping's file cannot be used, its
 * locations become module+0xoffset and a comment in the profile says why.  The
 * only error is JPP_ERR_MEMORY.
 */
jpp_code_t jpp_symbolize(jpp_symbols_t *symbols, jpp_profile_t *profile,
    jpp_symbolize_what_t what, jpp_err_t *err);

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


/* The names of locations: jpp_names.c. */


typedef char *(*jpp_demangle_pt)(const char *name, char *buf, size_t *len,
    int *status);


/* The demangler, or NULL if the process has none.  Slow: call it once. */
jpp_demangle_pt jpp_demangle_find(void);

/*
 * Write the demangled NAME to the SIZE bytes at BUF; false if DEMANGLE is
 * NULL, NAME is not mangled, or the result exceeds the bounds or BUF.
 */
bool jpp_demangle(jpp_demangle_pt demangle, const char *name, char *buf,
    size_t size);


typedef struct {
    jpp_profile_t      *profile;
    jpp_demangle_pt     demangle;
    jpp_vec_t          *functions;      /* uint32_t: ids, by index in elf */
    const char         *table;          /* what hinted names are from */

    uint32_t            id;             /* the mapping at work */
    jpp_mapping_t      *mapping;        /* NULL for id 0 */
    const char         *module;         /* what is shown of its path */
    const jpp_elf_t    *elf;            /* NULL: could not be read */
    bool                is_named;       /* of the last function */
} jpp_names_t;


/*
 * Initialize the caller's NAMES for PROFILE; false: no memory.  Once all is
 * named, NAMES->functions may be released.
 */
bool jpp_names_init(jpp_names_t *names, jpp_profile_t *profile);

/* What follows is about mapping ID (or 0) and ELF (or NULL) behind it. */
bool jpp_names_enter(jpp_names_t *names, uint32_t id, const jpp_elf_t *elf);

/*
 * The id of the function at ADDRESS; 0: no memory.  Sets has_functions of the
 * mapping when the name is from a symbol table.
 */
uint32_t jpp_names_function(jpp_names_t *names, uint64_t address);


#endif /* _JPP_SYMBOLIZE_H_INCLUDED_ */

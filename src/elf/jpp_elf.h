
/*
 * What one ELF file says about functions.
 *
 * The file is read (never mapped: a file truncated in place would be a SIGBUS)
 * into pages outside malloc, and only the parts that are needed: headers,
 * notes, symbol table, its strings, .eh_frame.  From them one table of
 * functions is made, sorted by address: names from .symtab or, where there is
 * none, from .dynsym, with the extents the table gives; and nameless function
 * starts from .eh_frame for the code that no symbol covers.
 *
 * Addresses here are the file's own virtual addresses, as nm and addr2line
 * use them.  libelf is behind jpp_elf_image.h; what file to open for a mapping
 * is jpp_file.h, and what a name looks like to the reader jpp_symbolize.h.
 *
 * The file is hostile input: every offset, count and string is checked.  Any
 * thread, one at a time per arena.
 */


#ifndef _JPP_ELF_H_INCLUDED_
#define _JPP_ELF_H_INCLUDED_


#include "jpp_arena.h"
#include "jpp_err.h"


#define JPP_BUILD_ID_MAX  64            /* bytes; 20 are usual */


typedef struct {
    uint8_t            data[JPP_BUILD_ID_MAX];
    uint32_t           len;             /* 0: the file has none */
} jpp_build_id_t;


/* A loaded segment that is executable. */
typedef struct {
    uint64_t           vaddr;
    uint64_t           offset;
    uint64_t           size;            /* in the file */
} jpp_elf_segment_t;


/*
 * Code of one function.  A function with another one inside of it, or one
 * that only .eh_frame knows and symbols cover in part, has several of these.
 */
typedef struct {
    uint64_t           start;
    uint64_t           entry;           /* where the function starts */
    uint32_t           size;            /* from start */
    uint32_t           name;            /* offset into names; 0: nameless */
} jpp_elf_function_t;


typedef struct {
    jpp_build_id_t              build_id;
    const jpp_elf_segment_t    *segments;
    uint32_t                    n_segments;
    bool                        has_symtab;   /* names are from .symtab */
    const jpp_elf_function_t   *functions;    /* by start, not overlapping */
    uint32_t                    n_functions;
    const char                 *names;        /* NUL-terminated, names[0] 0 */
    size_t                      names_len;
} jpp_elf_t;


/* Which parts of a file are wanted. */
typedef enum {
    JPP_ELF_IDENTITY,       /* build id and segments */
    JPP_ELF_ALL             /* functions too */
} jpp_elf_parts_t;


/*
 * Read PARTS of the file at FD (any position) into the caller's ELF.  What
 * ELF points to is in ARENA, with what was needed on the way, and no more is
 * read than ARENA could hold.  Where the file has no .symtab, the one of the
 * debug file at DEBUG_FD (-1: none) is taken, if that file is sound and has
 * the same build id; else DEBUG_FD is ignored.
 *
 * A file without a symbol table or .eh_frame is no error: it has no functions.
 * JPP_ERR_INPUT: not an ELF file of this machine, or damaged; JPP_ERR_CUT: it
 * ends before its end.  The sentences speak of the file as "it".
 */
jpp_code_t jpp_elf_read(jpp_elf_t *elf, jpp_arena_t *arena, int fd,
    int debug_fd, jpp_elf_parts_t parts, jpp_err_t *err);

/* The function that covers virtual address VADDR, or NULL. */
const jpp_elf_function_t *jpp_elf_function(const jpp_elf_t *elf,
    uint64_t vaddr);

/*
 * The virtual address of file offset OFFSET, through the executable segments;
 * false where none holds it.
 */
bool jpp_elf_vaddr(const jpp_elf_t *elf, uint64_t offset, uint64_t *vaddr);

/* The other way: the file offset of VADDR. */
bool jpp_elf_offset(const jpp_elf_t *elf, uint64_t vaddr, uint64_t *offset);


#endif /* _JPP_ELF_H_INCLUDED_ */

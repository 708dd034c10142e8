
/*
 * What one ELF file says about functions: its build id, its executable
 * segments, and one table of functions by address.
 *
 * Addresses here are the file's own virtual addresses, as nm and addr2line use
 * them.  jpp_elf_read.h fills the table from a file; jpp_file.h decides which
 * file belongs to a mapping, and jpp_symbolize.h how a name is shown.
 *
 * Pure functions of a table that does not change; any thread.
 */


#ifndef _JPP_ELF_H_INCLUDED_
#define _JPP_ELF_H_INCLUDED_


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>


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
 * A piece of a function's code.  A function with another inside it has several
 * pieces, and so has one that only .eh_frame knows and symbols cover in part.
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
    size_t                      hinted;       /* names from here on are not */
                                              /*   from a symbol table */
} jpp_elf_t;


/* Which parts of a file to read. */
typedef enum {
    JPP_ELF_IDENTITY,       /* build id and segments */
    JPP_ELF_ALL             /* functions too */
} jpp_elf_parts_t;


/* The function that covers virtual address VADDR, or NULL. */
const jpp_elf_function_t *jpp_elf_function(const jpp_elf_t *elf,
    uint64_t vaddr);

/*
 * The virtual address of file offset OFFSET, through the executable segments;
 * false if none holds it.
 */
bool jpp_elf_vaddr(const jpp_elf_t *elf, uint64_t offset, uint64_t *vaddr);

/* The other way: the file offset of VADDR. */
bool jpp_elf_offset(const jpp_elf_t *elf, uint64_t vaddr, uint64_t *offset);


#endif /* _JPP_ELF_H_INCLUDED_ */

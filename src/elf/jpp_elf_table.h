
/*
 * The table of functions of jpp_elf.h, made of a symbol table and .eh_frame
 * that were loaded before.  Which of them wins is decided in jpp_extents.h.
 */


#ifndef _JPP_ELF_TABLE_H_INCLUDED_
#define _JPP_ELF_TABLE_H_INCLUDED_


#include "jpp_arena.h"
#include "jpp_elf.h"
#include "jpp_err.h"


/* What functions are made of; loaded, or empty where a file has none. */
typedef struct {
    void             *symbols;
    uint32_t          n_symbols;
    const char       *strings;     /* the last byte is NUL */
    size_t            strings_len;
    const uint8_t    *eh_frame;
    size_t            eh_frame_len;
    uint64_t          eh_frame_address;
    uint32_t          address_size;
} jpp_elf_source_t;


/*
 * Make ELF's functions of SOURCE, within the segments of ELF.  The memory is
 * ARENA's, and SOURCE is needed no longer.  JPP_ERR_MEMORY: no memory.
 */
jpp_code_t jpp_elf_table(jpp_elf_t *elf, jpp_arena_t *arena,
    const jpp_elf_source_t *source, jpp_err_t *err);


#endif /* _JPP_ELF_TABLE_H_INCLUDED_ */

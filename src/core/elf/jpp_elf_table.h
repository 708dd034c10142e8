
/*
 * Makes the table of functions of jpp_elf.h from a symbol table and .eh_frame
 * that are loaded.  jpp_extents.h decides which of them wins.
 */


#ifndef _JPP_ELF_TABLE_H_INCLUDED_
#define _JPP_ELF_TABLE_H_INCLUDED_


#include "jpp_arena.h"
#include "jpp_elf.h"
#include "jpp_err.h"


/* What the table is made from: loaded, or empty where a file has none. */
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
 * Make ELF's functions from SOURCE, within the segments of ELF.  Memory from
 * ARENA; SOURCE is not needed afterwards.  JPP_ERR_MEMORY: no memory.
 */
jpp_code_t jpp_elf_table(jpp_elf_t *elf, jpp_arena_t *arena,
    const jpp_elf_source_t *source, jpp_err_t *err);


#endif /* _JPP_ELF_TABLE_H_INCLUDED_ */

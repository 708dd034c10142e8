
/*
 * Reading an ELF file into the table of jpp_elf.h.
 *
 * The file is read (never mapped: a file truncated in place would be a SIGBUS)
 * into pages outside malloc, and only the parts needed: headers, notes, symbol
 * table, its strings, .eh_frame.  Names come from .symtab or, where there is
 * none, from .dynsym, with the extents the table gives; the code that no
 * symbol covers gets nameless functions from .eh_frame.
 *
 * The file is hostile input: every offset, count and string is checked.  One
 * thread at a time per arena.
 */


#ifndef _JPP_ELF_READ_H_INCLUDED_
#define _JPP_ELF_READ_H_INCLUDED_


#include "jpp_arena.h"
#include "jpp_elf.h"
#include "jpp_err.h"


/*
 * Read PARTS of the file at FD (any position) into the caller's ELF.  What ELF
 * points to is in ARENA, together with working memory.  The parts loaded from
 * files count towards ARENA's cap, although they lie outside it.  If the file
 * has no .symtab, that of the debug file at DEBUG_FD (-1: none) is used,
 * provided that file is sound and has the same build id.
 *
 * A file with neither symbol table nor .eh_frame is not an error: it has no
 * functions.  JPP_ERR_MEMORY: ARENA cannot hold it, or the kernel has no
 * memory.  JPP_ERR_INPUT: not an ELF file of this machine, or damaged;
 * JPP_ERR_CUT: it is truncated.  The sentences call the file "it".
 */
jpp_code_t jpp_elf_read(jpp_elf_t *elf, jpp_arena_t *arena, int fd,
    int debug_fd, jpp_elf_parts_t parts, jpp_err_t *err);


#endif /* _JPP_ELF_READ_H_INCLUDED_ */

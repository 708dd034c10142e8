
/*
 * Reading an ELF file into the table of jpp_elf.h.
 *
 * The file is read (never mapped: a file truncated in place would be a SIGBUS)
 * into pages outside malloc, and only the parts that are needed: headers,
 * notes, symbol table, its strings, .eh_frame.  Names come from .symtab or,
 * where there is none, from .dynsym, with the extents the table gives; the
 * code that no symbol covers gets nameless functions from .eh_frame.
 *
 * The file is hostile input: every offset, count and string is checked.  Any
 * thread, one at a time per arena.
 */


#ifndef _JPP_ELF_READ_H_INCLUDED_
#define _JPP_ELF_READ_H_INCLUDED_


#include "jpp_arena.h"
#include "jpp_elf.h"
#include "jpp_err.h"


/*
 * Read PARTS of the file at FD (any position) into the caller's ELF.  What
 * ELF points to is in ARENA, with what was needed on the way.  What is loaded
 * of the files counts as if it lay in ARENA: all of it together takes no more
 * than ARENA may still map.  Where the file has no .symtab, the one of the
 * debug file at DEBUG_FD (-1: none) is taken, if that file is sound and has
 * the same build id; else DEBUG_FD is ignored.
 *
 * A file without a symbol table or .eh_frame is no error: it has no functions.
 * JPP_ERR_MEMORY: ARENA cannot hold it, or the kernel has no memory.
 * JPP_ERR_INPUT: not an ELF file of this machine, or damaged; JPP_ERR_CUT: it
 * ends before its end.  The sentences speak of the file as "it".
 */
jpp_code_t jpp_elf_read(jpp_elf_t *elf, jpp_arena_t *arena, int fd,
    int debug_fd, jpp_elf_parts_t parts, jpp_err_t *err);


#endif /* _JPP_ELF_READ_H_INCLUDED_ */
